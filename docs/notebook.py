"""From true links to noisy reports, and back to a graph: a marimo notebook.

`marimo edit docs/notebook.py` opens it, and `python docs/notebook.py` runs it and prints its tables.
"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")


@app.cell
def _():
    import tempfile

    import marimo as mo
    import numpy as np
    import polars as pl

    import veilgraph

    def show(title, frame):
        """Show a table in the notebook, or print it where this file runs as a script."""
        if not mo.running_in_notebook():
            print(title, frame, sep="\n")
        return mo.vstack([mo.md(f"**{title}**"), frame])

    return mo, np, pl, show, tempfile, veilgraph


@app.cell
def _(mo):
    mo.md("""
    # What do nats about links buy?

    Every node of a graph holds its own list of neighbours. It randomizes the list, and a server that nobody trusts
    gets the noisy list alone. How much of the graph can the server find again, and is that worth anything for
    classifying the nodes? The answer depends on the budget *epsilon*, in nats: a report may be at most e^epsilon
    times as likely with a link as without it.

    Everything here is a simulation: one machine holds the true links, and the noise comes from a seed.

    ## A graph

    The program makes synthetic graphs with classes, features, and hubs. This one has 600 nodes.
    """)
    return


@app.cell
def _(np, pl, tempfile, veilgraph):
    # The folder goes away with the process.
    folder = tempfile.TemporaryDirectory(prefix="veilgraph-notebook-")
    ingest = {"synthetic": {"nodes": 600, "mean_degree": 6, "classes": 4, "features": 300}}
    source = veilgraph.run(
        {"name": "source", "ingest": ingest, "privatize": {"links": {"epsilon": 1.0}}},
        store=folder.name,
        until="ingest",
    )
    links = source.artifact("ingest/all/links").collect()
    n = source.artifact("ingest/all/nodes").select(pl.len()).collect().item()
    truth = np.zeros((n, n), bool)
    truth[links["source"], links["target"]] = True
    truth |= truth.T

    def share_of_true(pairs):
        """Return the share of these pairs that are linked in truth."""
        return truth[pairs["source"], pairs["target"]].mean()

    return folder, ingest, links, n, share_of_true


@app.cell
def _(links, mo, n):
    mo.md(f"It has {len(links)} links, so {len(links) / (n * (n - 1) / 2):.2%} of all pairs are linked.")
    return


@app.cell
def _(mo):
    mo.md("""
    ## Noisy reports

    Every node spends a tenth of 4 nats on a noisy number of neighbours, and the rest on its list. Each bit of the
    list is flipped with probability 1 / (1 + e^3.6) = 2.7 %. That is little, but there are far more pairs without
    a link than with one, so most of the claimed links are false.
    """)
    return


@app.cell
def _(links, n, pl, share_of_true, show, veilgraph):
    reports = veilgraph.randomize(links, n, epsilon=4.0, degree_fraction=0.1, seed=42)
    noisy = reports.noisy_links
    both = noisy.join(noisy, left_on=["source", "target"], right_on=["target", "source"], how="semi")
    counted = [("at least one end", noisy), ("both ends", both)]
    claims = pl.DataFrame(
        {
            "claimed by": [name for name, _ in counted],
            "claims": [len(frame) for _, frame in counted],
            "share that is true": [round(share_of_true(frame), 3) for _, frame in counted],
        }
    )
    show("What the nodes claim", claims)
    return (reports,)


@app.cell
def _(mo):
    mo.md("""
    ## Link probabilities

    The server turns reports into a probability for every pair. It has to know how likely a link is before any
    claim, which it reads off the noisy degrees. A claim by both ends then makes a link likely, and more so between
    hubs. If the probabilities are right, then the share of true links among pairs of about equal probability is near
    that probability. It need not be exactly so: the published estimator knows degrees alone, and this graph has
    classes too.
    """)
    return


@app.cell
def _(pl, reports, share_of_true, show, veilgraph):
    probabilities = veilgraph.link_probabilities(reports, method="published")
    pairs = probabilities.pairs(at_least=0.05)
    intervals = ["0.05 to 0.25", "0.25 to 0.5", "0.5 to 0.75", "0.75 to 1"]
    interval = pl.col("probability").cut([0.25, 0.5, 0.75], labels=intervals)
    groups = pairs.with_columns(interval.alias("interval"))
    beliefs = [
        {
            "pairs with probability": str(name),
            "pairs": len(group),
            "expected share of links": round(group["probability"].mean(), 3),
            "true share": round(share_of_true(group), 3),
        }
        for (name,), group in groups.sort("probability").group_by("interval", maintain_order=True)
    ]
    show("What the server believes", pl.DataFrame(beliefs))
    return


@app.cell
def _(mo):
    mo.md("""
    ## A graph to train on, and how it gets better with epsilon

    The hybrid graph keeps the likeliest pairs, as many as the server expects there to be links. Its precision is the
    share of its links that are true. A link costs twice epsilon, because both of its ends report it.
    """)
    return


@app.cell
def _(links, n, pl, share_of_true, show, veilgraph):
    def precision(epsilon):
        """Return the precision and size of the hybrid graph at a budget."""
        with veilgraph.randomize(links, n, epsilon=epsilon, degree_fraction=0.1, seed=42) as drawn:
            edges = veilgraph.graph(drawn, "hybrid").edges
            return {
                "epsilon": epsilon,
                "cost of a link": drawn.costs["edge"],
                "links kept": len(edges),
                "precision": round(share_of_true(edges), 3),
            }

    precisions = [precision(epsilon) for epsilon in (1.0, 2.0, 4.0, 6.0, 8.0)]
    show("Precision of the hybrid graph", pl.DataFrame(precisions))
    return


@app.cell
def _(mo):
    mo.md("""
    ## What it is worth

    A network on this graph has to beat what needs no link at all: a perceptron on features costs no budget, so it
    is a floor. The network on the true links is the ceiling. Both stand in the same table as the private links, and
    the scores are means over three trials.
    """)
    return


@app.cell
def _(folder, ingest, pl, show, veilgraph):
    experiment = veilgraph.run(
        {
            "name": "worth",
            "trials": 3,
            "references": ["no-links", "non-private"],
            "ingest": ingest,
            "privatize": {"links": {"epsilon": [2.0, 4.0, 8.0]}},
            "train": {"learning_rate": 0.01, "epochs": 150},
        },
        store=folder.name,
    )
    worth = (
        experiment.scores.filter(pl.col("metric") == "accuracy")
        .group_by("mechanism", "epsilon")
        .agg(
            pl.col("value").mean().round(3).alias("accuracy"),
            pl.col("value").std().round(3).alias("standard deviation"),
        )
        .sort("accuracy")
    )
    show("Accuracy of test nodes", worth)
    return


@app.cell
def _(mo):
    mo.md("""
    A budget whose accuracy does not lie above the floor is spent for nothing. `docs/choosing-epsilon.md` helps to
    choose one without a look at private data.
    """)
    return


if __name__ == "__main__":
    app.run()
