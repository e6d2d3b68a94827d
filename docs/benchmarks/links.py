#!/usr/bin/env python3
"""Scaling study: seconds and memory of privatize, estimate and construct over graph size and budget.

usage: links.py [--veilgraph PROGRAM] [--repeat N] [--plot FILE.svg] > table.md

Synthetic graphs with power-law degrees (exponent 2.6, mean degree 15), from ten thousand to a million nodes. Every
stage runs in a process of its own, Parquet files included; the ingest is not part of the figures. A plot needs
matplotlib (PyPI).
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile

SIZES = [10_000, 31_623, 100_000, 316_228, 1_000_000]
# Nats on links; a budget is left out where n squared times the flip probability exceeds this many ones.
BUDGETS = [0.9, 3.6, 7.2, 10.0]
MOST_ONES = 1.6e8
STAGES = ["privatize", "estimate", "construct"]
CONFIG = """
references = []
[ingest.synthetic]
nodes = {nodes}
mean_degree = 15.0
features = 0
[privatize.links]
epsilon = {epsilon}
degree_fraction = 0.1
[estimate]
method = "published"
[construct]
variant = "hybrid"
"""


def flip_probability(epsilon):
    return 1 / (1 + 2.718281828459045 ** epsilon)


def run(options, folder, stage):
    """Seconds of the stage itself, and peak MiB of its process."""
    command = [options.veilgraph, "--quiet", "--store", os.path.join(folder, "store"), "run",
               os.path.join(folder, "config.toml"), "--until", stage, "--json"]
    output = open(os.path.join(folder, "out.json"), "w+")
    child = subprocess.Popen(command, stdout=output)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    output.seek(0)
    rows = json.load(output)["stages"]
    seconds = sum(row["seconds"] or 0 for row in rows if row["stage"] == stage)
    return seconds, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--veilgraph", default="target/release/veilgraph")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--plot")
    options = parser.parse_args()
    print("| nodes | nats on links | reported ones | " + " | ".join(f"{stage}, s" for stage in STAGES)
          + " | all three, s (least to most) | peak MiB |")
    print("|---:|---:|---:|" + "---:|" * (len(STAGES) + 2))
    points = {}
    for nodes in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            for budget in BUDGETS:
                noise = flip_probability(budget) * nodes * nodes
                if noise > MOST_ONES:
                    continue
                with open(os.path.join(folder, "config.toml"), "w") as file:
                    file.write(CONFIG.format(nodes=nodes, epsilon=budget / 0.9))
                run(options, folder, "ingest")
                samples, peak = {stage: [] for stage in STAGES}, 0
                for _ in range(options.repeat):
                    for stage in STAGES:
                        subprocess.run(["rm", "-rf", *(os.path.join(folder, "store", zone, stage) for zone in ["", "owner"])])
                    for stage in STAGES:
                        seconds, memory = run(options, folder, stage)
                        samples[stage].append(seconds)
                        peak = max(peak, memory)
                totals = [sum(stages) for stages in zip(*samples.values())]
                medians = " | ".join(f"{statistics.median(samples[stage]):.2f}" for stage in STAGES)
                print(f"| {nodes:,} | {budget} | {noise + 15 * nodes:.1e} | {medians} | {statistics.median(totals):.2f} "
                      f"({min(totals):.2f} to {max(totals):.2f}) | {peak:.0f} |", flush=True)
                points.setdefault(budget, []).append((nodes, statistics.median(totals), peak))
    if options.plot:
        plot(points, options.plot)


def plot(points, path):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "veilgraph"
    import matplotlib.pyplot as pyplot
    figure, (time, memory) = pyplot.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    for axis, column, title in [(time, 1, "privatize + estimate + construct, seconds"), (memory, 2, "peak memory, MiB")]:
        for budget, rows in points.items():
            axis.loglog([row[0] for row in rows], [row[column] for row in rows], "o-", label=f"{budget} nats on links")
        axis.set_xlabel("nodes")
        axis.set_title(title, fontsize=10)
        axis.grid(alpha=0.3)
    time.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
