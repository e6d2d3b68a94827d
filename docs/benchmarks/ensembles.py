#!/usr/bin/env python3
"""Would several networks, blended with the beliefs about classes, predict better than the one that validation chooses?

usage: ensembles.py [--store DIR] [--name EXPERIMENT] > table.md

Needs NumPy and Polars (PyPI), and a run of configs/compare-accuracy.toml on one graph in the store. Everything is
worked out from predictions that this run left there: those of every setting of GCN and GraphSAGE on the graph of `best`,
and what belief propagation says. Predictions are put together as the program blends them, by weighted means of their
logarithms. The labels of validation nodes choose networks and weights in each trial. Rows of the table:

  one       the better of the settings that `best` chooses for GCN and for GraphSAGE, with the beliefs,
  three     both of them, and the beliefs; weights are multiples of a quarter,
  greedy    those of all networks and the beliefs that lower the loss of validation nodes most, one after the other and
            with repetition, at most 12 (Caruana et al. 2004, Ensemble selection from libraries of models).
"""

import argparse
import os
import pathlib

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
import polars

QUARTERS = [0.0, 0.25, 0.5, 0.75, 1.0]
MOST_CHOSEN = 12
# Twice the standard error and a little more: Student's t at 95 % with 29 degrees of freedom.
HALF_WIDTH = 2.05


class Graph:
    """The classes of all nodes, and who is for validation and for the test."""

    def __init__(self, store, name):
        nodes = store / "simulation" / "runs" / name / "ingest" / "all" / "nodes.parquet"
        held_out = store / "auditor" / "ingest" / nodes.resolve().parent.name / "held_out_labels.parquet"
        split = polars.read_parquet(nodes).sort("node")["split"].to_numpy()
        self.classes = np.full(len(split), -1)
        for labels in (nodes.parent / "labels.parquet", held_out):
            known = polars.read_parquet(labels).drop_nulls()
            self.classes[known["node"].to_numpy()] = known["class"].to_numpy()
        self.validation, self.test = (np.flatnonzero((split == code) & (self.classes >= 0)) for code in (1, 2))

    def loss(self, logs):
        """The mean negative log likelihood of the classes of validation nodes."""
        rows = logs[self.validation]
        most = rows.max(axis=1)
        totals = most + np.log(np.exp(rows - most[:, None]).sum(axis=1))
        return (totals - rows[np.arange(len(rows)), self.classes[self.validation]]).mean()

    def accuracy(self, logs):
        return 100 * (logs[self.test].argmax(axis=1) == self.classes[self.test]).mean()


def logs_of(path, n_nodes):
    """The logarithms of the predictions of all models in a file, `[models, n_nodes, n_classes]`."""
    frame = polars.read_parquet(path)
    frame = frame.sort("model", "node") if "model" in frame.columns else frame.sort("node")
    probabilities = np.array(frame["probabilities"].to_list())
    return np.log(np.maximum(probabilities, 1e-12)).reshape(-1, n_nodes, probabilities.shape[1])


def likeliest(graph, candidates):
    return min(candidates, key=graph.loss)


def greedy(graph, library):
    total, best = 0.0, None
    for size in range(1, MOST_CHOSEN + 1):
        total = total + min(library, key=lambda logs: graph.loss((total + logs) / size))
        best = likeliest(graph, [total / size] if best is None else [best, total / size])
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=pathlib.Path, default="artifacts")
    parser.add_argument("--name", default="compare-accuracy")
    options = parser.parse_args()
    graph = Graph(options.store, options.name)
    runs = options.store / "simulation" / "runs" / options.name
    print("| ε | trials | one | three | greedy | three less one | greedy less one |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for epsilon in (1, 2, 3, 4):
        n_trials = len(list((runs / "estimate").glob(f"best,epsilon-{epsilon},trial-*")))
        if n_trials < 2:
            raise SystemExit(f"no run of {options.name} with at least two trials at epsilon {epsilon} in {options.store}")
        networks = {"gcn": [], "graphsage": []}
        for model, of_model in networks.items():
            for trial in range(n_trials):
                folder = runs / "train" / f"best,epsilon-{epsilon},model-{model},blend-false,trial-{trial}"
                of_model.append(logs_of(folder / "predictions.parquet", len(graph.classes)))
        chosen = {}
        for model, of_model in networks.items():
            losses = [[graph.loss(logs) for logs in trial] for trial in of_model]
            chosen[model] = int(np.argmin(np.mean(losses, axis=0)))
        accuracies = []
        for trial in range(n_trials):
            beliefs = runs / "estimate" / f"best,epsilon-{epsilon},trial-{trial}" / "class_beliefs.parquet"
            beliefs = logs_of(beliefs, len(graph.classes))[0]
            gcn, sage = (networks[model][trial][chosen[model]] for model in ("gcn", "graphsage"))
            pairs = [(1 - w) * network + w * beliefs for network in (gcn, sage) for w in QUARTERS]
            threes = [a * gcn + b * sage + (1 - a - b) * beliefs for a in QUARTERS for b in QUARTERS if a + b <= 1]
            library = [*networks["gcn"][trial], *networks["graphsage"][trial], beliefs]
            found = likeliest(graph, pairs), likeliest(graph, threes), greedy(graph, library)
            accuracies.append([graph.accuracy(logs) for logs in found])
        accuracies = np.array(accuracies)
        gains = accuracies[:, 1:] - accuracies[:, :1]
        halves = HALF_WIDTH * gains.std(axis=0, ddof=1) / np.sqrt(n_trials)
        means = " | ".join(f"{mean:.2f}" for mean in accuracies.mean(axis=0))
        differences = " | ".join(f"{gain:+.2f} ± {half:.2f}" for gain, half in zip(gains.mean(axis=0), halves))
        print(f"| {epsilon} | {n_trials} | {means} | {differences} |", flush=True)


if __name__ == "__main__":
    main()
