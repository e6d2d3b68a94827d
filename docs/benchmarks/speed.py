#!/usr/bin/env python3
"""What a user waits for, with the goal of each figure beside it: speed.md.

usage: speed.py [--data-dir DIR] [--veilgraph PROGRAM] [--repeat N] [--rows NAME...] [--million] > table.md
       speed.py --estimators [GRAPH...] --data-dir DIR [--repeat N] > table.md      "Time and memory" of estimators.md

Every repetition starts with an empty store. Without --data-dir the rows on Cora are left out; with --million the rows of a
million nodes are run too (ten minutes and 4 GiB). Only the standard library is needed.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

PHYSICS = """
references = []
[ingest.synthetic]
nodes = {nodes}
mean_degree = 14.4
classes = 5
features = 8415
words = 33.0
[privatize.links]
epsilon = {epsilon}
[estimate]
method = "best"
[construct]
variant = "hybrid"
[evaluate]
metrics = ["link-error"]
"""

SOLITUDE = """
references = []
[ingest]
dataset = "cora"
[privatize.links]
mechanism = "solitude"
epsilon = 4
[train]
model = "gcn"
"""

SOFT = """
references = []
[ingest]
dataset = "cora"
[privatize.links]
epsilon = {epsilon}
[estimate]
method = "published"
[construct]
variant = "soft"
[train]
model = "gcn"
"""

MILLION = """
references = []
[ingest.synthetic]
nodes = 1000000
mean_degree = 15.0
classes = 10
features = 100
words = 10.0
[privatize.links]
epsilon = 11.1
[estimate]
method = "published"
[construct]
variant = "hybrid"
[train]
model = "gcn"
epochs = 100
"""

ESTIMATORS = """
references = []
[ingest]
dataset = "{graph}"
[privatize.links]
epsilon = [1, 2, 4]
degree_fraction = "auto-with-bits"
[estimate]
method = "best"
[evaluate]
metrics = ["link-error"]
"""

# Nodes, and the seconds that are asked of `best` at every budget.
GRAPHS = {"cora": (2_708, 1), "facebook": (22_470, 10), "ms_academic_cs": (18_333, 15)}

RELEASES = """
references = []
trials = {trials}
[ingest.synthetic]
nodes = 20
mean_degree = 4.0
features = 0
[privatize.links]
epsilon = {budgets}

[estimate]
method = "published"
"""


class Runs:
    """Repeated runs of one config, each in an empty store. Where `then` is not None, another run with
    these arguments follows each in its store, and `after` holds what these runs took."""

    def __init__(self, options, config, arguments=(), repeat=None, threads=None, then=None, verb="run"):
        self.seconds, self.walls, self.peak, self.after = [], [], 0.0, None
        for _ in range(options.repeat if repeat is None else repeat):
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "config.toml").write_text(config)
                environment = os.environ | ({"RAYON_NUM_THREADS": str(threads)} if threads else {})
                self.call(options, folder, verb, arguments, environment)
                if then is not None:
                    self.after = self.after or Runs(options, config, repeat=0)
                    self.after.call(options, folder, verb, then, environment)

    def call(self, options, folder, verb, arguments, environment):
        """Runs the folder's config once, in the folder's store."""
        config, store = pathlib.Path(folder, "config.toml"), os.path.join(folder, "store")
        command = [options.veilgraph, "--quiet", "--store", store, verb, str(config), "--json", *arguments]
        command += ["--data-dir", options.data_dir] if options.data_dir and "dataset" in config.read_text() else []
        start = time.monotonic()
        with open(os.path.join(folder, "out.json"), "w+") as output:
            child = subprocess.Popen(command, stdout=output, env=environment)
            _, status, usage = os.wait4(child.pid, 0)
            if status != 0:
                raise SystemExit(f"{' '.join(command)} failed")
            self.walls.append(time.monotonic() - start)
            output.seek(0)
            self.seconds.append(json.load(output)["stages"])
        self.peak = max(self.peak, usage.ru_maxrss / 1024)

    def stage(self, name):
        """Median, least and most seconds of a stage, all its tasks together."""
        return self.took(lambda task: task["stage"] == name)

    def took(self, is_meant):
        """Median, least and most seconds of the tasks that are meant, all together; the median alone of one run."""
        took = [sum(task["seconds"] or 0 for task in stages if is_meant(task)) for stages in self.seconds]
        between = f" ({min(took):.2f} to {max(took):.2f})" if len(took) > 1 else ""
        return f"{statistics.median(took):.2f}{between}"


def row(what, found, goal):
    print(f"| {what} | {found} | {goal} |", flush=True)


def pairs(options):
    alone = PHYSICS.format(nodes=34_493, epsilon=3).replace('method = "best"', 'prior = "beta-model+features"')
    for classes in ["false", "true"]:
        runs = Runs(options, alone, ["--until", "similarity", "--set", f"similarity.classes={classes}"])
        row(f"similar pairs, 34,493 nodes, 8,415 features, classes = {classes}, s", runs.stage("similarity"), 3)


def best(options):
    config = PHYSICS.format(nodes=34_493, epsilon=3)
    what = "`best`, 34,493 nodes, 248,000 links, 8,415 features, epsilon 3"
    alone = Runs(options, config, ["--until", "similarity", "--jobs", "1"])
    row(f"{what}: similarity, one task after the other, s", alone.stage("similarity"), 3)
    runs = Runs(options, config)
    row(f"{what}: similarity, both tasks side by side, added up, s", runs.stage("similarity"), "")
    for stage, goal in [("estimate", 15), ("construct", 3), ("evaluate", 4)]:
        row(f"{what}: {stage}, s", runs.stage(stage), goal)
    row(f"{what}: peak MiB", f"{runs.peak:.0f}", 1024)


def solitude(options):
    runs = Runs(options, SOLITUDE, ["--until", "train"], threads=1)
    row("one Solitude model on Cora, 300 epochs, one core, s", runs.stage("train"), 8)


def soft(options):
    for epsilon in [1, 2, 3, 4]:
        runs = Runs(options, SOFT.format(epsilon=epsilon), ["--until", "train"])
        row(f"soft GCN on Cora, epsilon {epsilon}, one model, 300 epochs, s", runs.stage("train"), 1)


def releases(options):
    for trials in [10, 100]:
        budgets = [round(0.1 * step, 1) for step in range(1, 101)]
        config = RELEASES.format(trials=trials, budgets=budgets)
        plan = Runs(options, config, repeat=1, verb="plan")
        row(f"{100 * trials:,} releases: plan, s on the clock", f"{plan.walls[0]:.2f}", "linear")
        runs = Runs(options, config, ["--until", "privatize"], repeat=1)
        row(f"{100 * trials:,} releases: privatize, s", runs.stage("privatize"), "linear")


def million(options):
    runs = Runs(options, MILLION, ["--until", "train"], repeat=1)
    row("a million nodes: ingest, s", runs.stage("ingest"), 3)
    row("a million nodes, hybrid GCN, 100 epochs: train, s", runs.stage("train"), 300)
    row("a million nodes: peak MiB", f"{runs.peak:.0f}", 12_288)
    runs = Runs(options, PHYSICS.format(nodes=1_000_000, epsilon=11.1), ["--until", "construct"], repeat=1, then=[])
    what = "`best`, a million nodes, 8,415 features, 10 nats per bit"
    for stage in ["ingest", "similarity", "estimate", "construct"]:
        row(f"{what}: {stage}, s", runs.stage(stage), "")
    row(f"{what}: whole run to the hybrid graph, s", f"{runs.walls[0]:.0f}", 180)
    row(f"{what}: peak MiB", f"{runs.peak:.0f}", 8_192)
    row(f"{what}: scores of links, alone, s", runs.after.stage("evaluate"), "")
    row(f"{what}: scores of links, peak MiB", f"{runs.after.peak:.0f}", 8_192)


def estimators(options):
    """A row for each graph: one process, one task at a time, all three budgets one after the other."""
    print("| graph | nodes | `similarity`, s | `class-beliefs`, s | `estimate` at 1 nat, s | at 2 nats, s "
          "| at 4 nats, s | goal, s | whole process, MiB | goal, MiB |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for graph in options.estimators or GRAPHS:
        runs = Runs(options, ESTIMATORS.format(graph=graph), ["--jobs", "1"])
        nodes, goal = GRAPHS[graph]
        cells = [runs.took(lambda task: task["function"] == name) for name in ("similarity", "class-beliefs")]
        cells += [runs.took(lambda task: task["stage"] == "estimate" and f"epsilon-{epsilon}," in task["label"])
                  for epsilon in (1, 2, 4)]
        print(f"| {graph} | {nodes:,} | {' | '.join(cells)} | {goal} | {runs.peak:.0f} | 1,024 |", flush=True)


ROWS = {"pairs": pairs, "best": best, "solitude": solitude, "soft": soft, "releases": releases}
ON_CORA = {"solitude", "soft"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir")
    parser.add_argument("--veilgraph", default="target/release/veilgraph")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rows", nargs="*", choices=ROWS)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--estimators", nargs="*", choices=GRAPHS)
    options = parser.parse_args()
    if options.estimators is not None:
        if not options.data_dir:
            parser.error("--estimators reads public graphs: name their folder with --data-dir")
        estimators(options)
        return
    if not options.data_dir and ON_CORA.intersection(options.rows or []):
        parser.error("rows on Cora read a public graph: name its folder with --data-dir")
    print("| what | median (least to most) | goal |")
    print("|---|---:|---:|")
    for name in ROWS if options.rows is None else options.rows:
        if options.data_dir or name not in ON_CORA:
            ROWS[name](options)
    if options.million:
        million(options)


if __name__ == "__main__":
    main()
