#!/usr/bin/env python3
"""Prints what `veilgraph advise` foretells of real graphs, beside what runs on these graphs give.

usage: advise.py --veilgraph PROGRAM --data-dir DIR [--store DIR] [--links] [--accuracy] [--public] > tables.md

Without --links, --accuracy and --public, all three tables are printed. The advice is told the number of nodes and the mean degree of a
graph, which stand below; for accuracy it is also told the number of classes, the homophily and the accuracy of a network
that reads features alone. Only the standard library is needed.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Nodes, mean degree, classes and homophily. Nodes and links are those of the files; homophily is the share of links
# between nodes of one class.
GRAPHS = {
    "cora": (2708, 3.898, 7, 0.810),
    "citeseer": (3327, 2.736, 6, 0.738),
    "cora_ml": (2995, 5.448, 7, 0.789),
    "lastfm": (7624, 7.294, None, None),
    "facebook": (22470, 15.205, 4, 0.885),
    "ms_academic_cs": (18333, 8.934, 15, 0.808),
    "ego_twitter": (81306, 33.018, None, None),
}


def called(options, *arguments):
    command = [options.veilgraph, "--quiet", "--store", options.store, *map(str, arguments), "--json"]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if answer.returncode:
        sys.exit(f"{' '.join(command)}: exit status {answer.returncode}")
    return json.loads(answer.stdout)


def run(options, config, *sets):
    flags = [part for text in sets for part in ("--set", text)]
    return called(options, "run", config, "--data-dir", options.data_dir, *flags)["metrics"]


def advice(options, graph, *more):
    nodes, mean_degree, _, _ = GRAPHS[graph]
    return called(options, "advise", "--nodes", nodes, "--mean-degree", mean_degree, *more)


def line(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def percent(value):
    return f"{100 * value:.1f}"


def links(options):
    scores = run(options, "configs/advise.toml")
    # Below 4 nats, the reports of 81,306 nodes hold more than 3e8 ones.
    large = ['name="advise-twitter"', 'ingest.dataset="ego_twitter"', "privatize.links.epsilon=[4,5,6,8]"]
    scores += run(options, "configs/advise.toml", *large)
    found = {(row["dataset"], row["epsilon"], row["metric"]): row["mean"] for row in scores}
    line("graph", "ε", "links found, foretold", "least to most", "found in a run", "precision in a run", "difference")
    print("|---|" + "---:|" * 6)
    worst = 0.0
    for graph in GRAPHS:
        budgets = sorted({epsilon for dataset, epsilon, _ in found if dataset == graph})
        foretold = advice(options, graph, "--epsilon", ",".join(map(str, budgets)))
        for answer in foretold["answers"]:
            share = answer["links_found"]
            recall = found[graph, answer["epsilon"], "graph_recall"]
            precision = found[graph, answer["epsilon"], "graph_precision"]
            differences = [share["middle"] - recall, share["middle"] - precision]
            difference = max(differences, key=abs)
            worst = max(worst, abs(difference))
            span = f"{percent(share['low'])} to {percent(share['high'])}"
            line(graph, f"{answer['epsilon']:g}", percent(share["middle"]), span, percent(recall), percent(precision),
                 f"{100 * difference:+.1f}")
    print(f"\nThe largest difference is {100 * worst:.1f} points.\n")


@contextlib.contextmanager
def all_but(options, graph):
    """A folder of data without one graph: nobody has the private graph among the public ones."""
    with tempfile.TemporaryDirectory() as folder:
        for item in Path(options.data_dir).resolve().iterdir():
            if item.name != graph:
                (Path(folder) / item.name).symlink_to(item)
        yield folder


def accuracy(options, what):
    """Accuracies on surrogates that are drawn (`surrogates`), or on the nearest public graphs (`public graphs`)."""
    scores = run(options, "configs/advise-accuracy.toml")
    found = {(row["dataset"], row["alternative"], row["epsilon"]): row["mean"]
             for row in scores if row["metric"] == "accuracy"}
    line("graph", "ε", f"accuracy on {what}", "least to most", "on the graph", "difference")
    print("|---|" + "---:|" * 5)
    differences, taken = [], {}
    for graph, (_, _, classes, homophily) in GRAPHS.items():
        features = next((mean for (dataset, name, _), mean in found.items() if (dataset, name) == (graph, "no-links")), None)
        if features is None:
            continue
        budgets = sorted({epsilon for dataset, name, epsilon in found if (dataset, name) == (graph, "with-links")})
        with all_but(options, graph) as folder:
            kind = ["--surrogates", options.surrogates]
            if what == "public graphs":
                kind = ["--public-graphs", options.public_graphs, "--data-dir", folder]
            foretold = advice(options, graph, "--classes", classes, "--homophily", homophily, "--features-accuracy",
                              f"{features:.3f}", *kind, "--epsilon", ",".join(map(str, budgets)))
        [worth] = foretold["surrogates"]
        taken[graph] = worth["graphs"] if what == "public graphs" else []
        ceiling = next(mean for (dataset, name, _), mean in found.items() if (dataset, name) == (graph, "non-private"))
        cells = [("no links", worth["without_links"], features)]
        for row in worth["with_links"]:
            epsilon = foretold["answers"][row["answer"]]["epsilon"]
            cells.append((f"{epsilon:g}", row["accuracy"], found[graph, "with-links", epsilon]))
        cells.append(("true links", worth["non_private"], ceiling))
        for name, values, real in cells:
            mean = sum(values) / len(values)
            differences.append(abs(mean - real))
            span = f"{percent(min(values))} to {percent(max(values))}"
            line(graph, name, percent(mean), span, percent(real), f"{100 * (mean - real):+.1f}")
    near = sum(difference <= 0.05 for difference in differences)
    print(f"\n{near} of {len(differences)} accuracies lie within 5 points; the largest difference is "
          f"{100 * max(differences):.1f} points.\n")
    for graph, names in taken.items():
        if names:
            print(f"- For {graph}: {' and '.join(names)}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--veilgraph", required=True)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--store", default="artifacts")
    parser.add_argument("--surrogates", default=3, type=int)
    parser.add_argument("--public-graphs", default=2, type=int)
    parser.add_argument("--links", action="store_true", help="the table of links alone")
    parser.add_argument("--accuracy", action="store_true", help="the table of accuracies on surrogates alone")
    parser.add_argument("--public", action="store_true", help="the table of accuracies on public graphs alone")
    options = parser.parse_args()
    is_all = not (options.links or options.accuracy or options.public)
    if options.links or is_all:
        links(options)
    if options.accuracy or is_all:
        accuracy(options, "surrogates")
    if options.public or is_all:
        accuracy(options, "public graphs")


main()
