#!/usr/bin/env python3
"""Would several networks, blended with the beliefs about classes, predict better than the one that validation chooses?

usage: ensembles.py [--store DIR] [--name EXPERIMENT] > table.md

Needs NumPy and Polars (PyPI), and in the store a run of configs/compare-accuracy.toml on one graph, such as
`--set ingest.dataset=cora --set trials=30`. Everything is worked out from predictions that this run left there: those of every
setting of GCN and GraphSAGE on the graph of `best`, and what belief propagation says. Predictions are put together as the
program blends them, by weighted means of their logarithms, with the weights that make the labels of validation nodes likeliest
in each trial. Columns of the table (accuracy in %, a difference with half of its 95 % interval, paired by trial):

  one       as `best`: one network and the beliefs. Network and setting have the lowest mean loss of validation nodes,
  three     GCN and GraphSAGE, each with its setting, and the beliefs; weights are multiples of a quarter,
  greedy    those of all networks and the beliefs that lower the loss of validation nodes most, one after the other and
            with repetition, at most 12 (Caruana et al. 2004, Ensemble selection from libraries of models).
"""

import argparse
import os
import pathlib
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
try:
    import numpy as np
    import polars
except ImportError:
    sys.exit("ensembles.py needs NumPy and Polars: python3 -m pip install numpy polars")

from estimators import with_half

QUARTERS = [0.0, 0.25, 0.5, 0.75, 1.0]
MOST_CHOSEN = 12
EPSILONS = [1, 2, 3, 4]


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
    """The logarithms of the predictions of each model in a file, by its number, each `[n_nodes, n_classes]`."""
    frame = polars.read_parquet(path)
    if "model" not in frame.columns:
        frame = frame.with_columns(model=0)
    logs = {}
    for (model,), rows in frame.sort("model", "node").partition_by("model", as_dict=True, maintain_order=True).items():
        logs[model] = np.log(np.maximum(np.array(rows["probabilities"].to_list()), 1e-12))
        if len(logs[model]) != n_nodes:
            sys.exit(f"{path} speaks of {len(logs[model])} nodes, and the graph has {n_nodes}")
    return logs


class Trial:
    """What one trial predicted: by GCN and by GraphSAGE with every setting, and by beliefs alone."""

    def __init__(self, graph, runs, epsilon, trial):
        n_nodes = len(graph.classes)
        self.graph = graph
        self.networks = {}
        for model in ("gcn", "graphsage"):
            folder = runs / "train" / f"best,epsilon-{epsilon},model-{model},blend-false,trial-{trial}"
            of_model = logs_of(folder / "predictions.parquet", n_nodes)
            self.networks.update({(model, setting): logs for setting, logs in of_model.items()})
        beliefs = runs / "estimate" / f"best,epsilon-{epsilon},trial-{trial}" / "class_beliefs.parquet"
        self.beliefs = logs_of(beliefs, n_nodes)[0]
        self.blends = {network: self.blend(logs) for network, logs in self.networks.items()}

    def likeliest(self, candidates):
        return min(candidates, key=self.graph.loss)

    def blend(self, network):
        return self.likeliest([(1 - weight) * network + weight * self.beliefs for weight in QUARTERS])

    def three(self, gcn, sage):
        gcn, sage = self.networks[gcn], self.networks[sage]
        return self.likeliest(
            [a * gcn + b * sage + (1 - a - b) * self.beliefs for a in QUARTERS for b in QUARTERS if a + b <= 1])

    def greedy(self):
        library, total, found = [*self.networks.values(), self.beliefs], 0.0, []
        for size in range(1, MOST_CHOSEN + 1):
            total = total + min(library, key=lambda logs: self.graph.loss((total + logs) / size))
            found.append(total / size)
        return self.likeliest(found)


def row(graph, runs, epsilon):
    """The line of one budget."""
    folders = (runs / "estimate").glob(f"best,epsilon-{epsilon},trial-*")
    numbers = sorted(int(folder.name.rsplit("-", 1)[1]) for folder in folders)
    if len(numbers) < 2:
        sys.exit(f"{runs} has fewer than two trials of `best` at epsilon {epsilon}")
    trials = [Trial(graph, runs, epsilon, number) for number in numbers]
    common = set.intersection(*(set(trial.blends) for trial in trials))
    losses = {network: np.mean([graph.loss(trial.blends[network]) for trial in trials]) for network in common}
    best_of = lambda model: min((network for network in common if network[0] == model), key=losses.get)
    gcn, sage = best_of("gcn"), best_of("graphsage")
    one = min(gcn, sage, key=losses.get)
    found = [(trial.blends[one], trial.three(gcn, sage), trial.greedy()) for trial in trials]
    accuracies = np.array([[graph.accuracy(logs) for logs in of_trial] for of_trial in found])
    means = [f"{mean:.2f}" for mean in accuracies.mean(axis=0)]
    gains = [with_half(polars.Series(accuracies[:, other] - accuracies[:, 0]), "{:+.2f}") for other in (1, 2)]
    return " | ".join([f"| {epsilon}", str(len(trials)), *means, *gains]) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=pathlib.Path, default="artifacts")
    parser.add_argument("--name", default="compare-accuracy")
    options = parser.parse_args()
    runs = options.store / "simulation" / "runs" / options.name
    if not (runs / "ingest" / "all" / "nodes.parquet").exists():
        sys.exit(f"{runs} is no run on one graph; run configs/compare-accuracy.toml with --set ingest.dataset=cora")
    graph = Graph(options.store, options.name)
    if not len(graph.validation) or not len(graph.test):
        sys.exit(f"{runs} has no validation nodes or no test nodes to judge by")
    print("| ε | trials | one | three | greedy | three less one | greedy less one |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for epsilon in EPSILONS:
        print(row(graph, runs, epsilon), flush=True)


if __name__ == "__main__":
    main()
