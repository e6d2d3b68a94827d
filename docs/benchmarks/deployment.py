#!/usr/bin/env python3
"""Times a deployment: the reports of many nodes, their collection, and one report of a large population.

usage: deployment.py [--veilgraph PROGRAM] [--client PROGRAM] [--nodes N] [--population N] [--repeat N] > tables.md
       deployment.py --scores STORE/auditor/runs/lying/scores.csv > tables.md        after a run of configs/lying.toml

Noise comes from seeds, so nothing here is a release. All files lie in a temporary folder, which --folder moves and
which is removed at the end. Only the standard library is needed.

With --scores, nothing is timed. The tables then hold means over trials, and beside them the mean difference from
honest nodes, paired by trial, with half the width of its 95 % interval (Student's t).
"""

import argparse
import collections
import concurrent.futures
import csv
import math
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

EPSILON = 4
FRACTION = 0.1
CONFIG = """name = "town"

[privacy]
randomness = "os"
population = "town"
budget = {epsilon}

[ingest]
nodes = "nodes.csv"

[privatize.links]
epsilon = {epsilon}
degree_fraction = {fraction}

[estimate]
method = "published"
"""
PARAMETERS = """population = "town"
mechanism = "blink"
n_nodes = {nodes}
epsilon_links = {links}
epsilon_degree = {degree}
release = 1
"""
# 97.5 % quantile of Student's t by degrees of freedom.
QUANTILES = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262}
# Name in the file, head of the column, factor, form of a value, form of a difference and of its half width.
METRICS = [
    ("accuracy", "accuracy, %", 100, "{:.1f}", "{:+.1f} ± {:.1f}"),
    ("mae", "MAE, 1e-3", 1000, "{:.3f}", "{:+.3f} ± {:.3f}"),
    ("average_precision", "average precision", 1, "{:.3f}", "{:+.3f} ± {:.3f}"),
    ("graph_entries", "entries kept", 1, "{:.0f}", None),
    ("graph_precision", "true among them", 1, "{:.3f}", None),
]


def timed(command):
    """Wall seconds of a command, from its start to its end, and the seconds that processors worked for it."""
    with tempfile.TemporaryFile() as messages:
        start = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=messages)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if status != 0:
            messages.seek(0)
            raise SystemExit(f"{' '.join(map(str, command))} failed:\n{messages.read().decode()}")
    return wall, usage.ru_utime + usage.ru_stime


def bound(nodes, epsilon_links):
    """Bytes that the noise of a list has as entropy."""
    p = 1 / (1 + math.exp(epsilon_links))
    return -nodes * (p * math.log2(p) + (1 - p) * math.log2(1 - p)) / 8


def budgets(epsilon):
    """The parts of a budget that lists and degrees have."""
    return round(epsilon * (1 - FRACTION), 12), round(epsilon * FRACTION, 12)


def spread(values, form):
    return f"{form} ({form} to {form})".format(statistics.median(values), min(values), max(values))


class Population:
    """Nodes with parameters, lists of neighbours and folders."""

    def __init__(self, client, folder):
        self.client = client
        self.folder = pathlib.Path(folder)
        for name in ("links", "state", "reports"):
            (self.folder / name).mkdir(parents=True)
        self.parameters = self.folder / "parameters.toml"

    def agree(self, nodes, epsilon):
        links, degree = budgets(epsilon)
        self.parameters.write_text(PARAMETERS.format(nodes=nodes, links=links, degree=degree))

    def write_links(self, node, neighbours):
        (self.folder / "links" / str(node)).write_text("".join(f"{other}\n" for other in sorted(neighbours)))

    def report(self, node, seed, number):
        """Wall seconds, processor seconds and bytes of a report of a node that never reported before."""
        report = self.folder / "reports" / f"{number}.vgr"
        times = timed([
            self.client, "report", "--parameters", self.parameters, "--node", str(node), "--links",
            self.folder / "links" / str(node), "--state", self.folder / "state" / str(number), "--to", report,
            "--simulate-seed", str(seed)])
        return *times, report.stat().st_size


def random_graph(nodes, mean_degree, seed):
    draw = random.Random(seed)
    neighbours = [set() for _ in range(nodes)]
    links = 0
    while 2 * links < nodes * mean_degree:
        a, b = draw.randrange(nodes), draw.randrange(nodes)
        if a != b and b not in neighbours[a]:
            neighbours[a].add(b)
            neighbours[b].add(a)
            links += 1
    return neighbours


def collection(options, folder):
    town = Population(options.client, folder)
    config = town.folder / "town.toml"
    config.write_text(CONFIG.format(epsilon=EPSILON, fraction=FRACTION))
    (town.folder / "nodes.csv").write_text("node\n" + "".join(f"{node}\n" for node in range(options.nodes)))
    veilgraph = [options.veilgraph, "--quiet", "--store", town.folder / "store"]
    timed([*veilgraph, "parameters", config, "--to", town.parameters])
    for node, neighbours in enumerate(random_graph(options.nodes, 10, seed=1)):
        town.write_links(node, neighbours)
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        sizes = [size for _, _, size in pool.map(lambda node: town.report(node, 7, node), range(options.nodes))]
    drawn = time.monotonic() - start
    collected = []
    for repetition in range(options.repeat):
        to = town.folder / f"server-{repetition}"
        command = [*veilgraph, "collect", town.folder / "reports", config, "--to", to, "--simulated"]
        collected.append(timed(command)[0])
    print(f"## Collection of {options.nodes:,} reports\n")
    print("| what | figure |")
    print("|---|---:|")
    print(f"| all reports drawn, one process each, two at a time, s | {drawn:.0f} |")
    print(f"| all reports together, MiB | {sum(sizes) / 2**20:.1f} |")
    print(f"| `veilgraph collect`, s | {spread(collected, '{:.2f}')} |\n", flush=True)


def one_report(options, folder):
    large = Population(options.client, folder)
    large.agree(options.population, 10)
    draw = random.Random(2)
    large.write_links(0, draw.sample(range(1, options.population), 100))
    wall, busy, sizes = zip(*(large.report(0, seed, seed) for seed in range(20)))
    allowed = bound(options.population, budgets(10)[0])
    print(f"## One report among {options.population:,} nodes, 10 nats\n")
    print("| what | figure |")
    print("|---|---:|")
    print(f"| whole process, ms | {spread([1000 * value for value in wall], '{:.1f}')} |")
    print(f"| processor time of it, ms | {spread([1000 * value for value in busy], '{:.1f}')} |")
    print(f"| report, bytes | {spread(sizes, '{:.0f}')} |")
    print(f"| n·H(flip)/8, bytes | {allowed:.0f} |")
    print(f"| report over n·H(flip)/8 | {statistics.median(sizes) / allowed:.3f} |\n", flush=True)


def sizes_by_budget(options, folder):
    print(f"## Bytes of a report among {options.nodes:,} nodes\n")
    print("| ε | report, bytes | n·H(flip)/8, bytes | ratio of the median |")
    print("|---:|---:|---:|---:|")
    neighbours = random.Random(3).sample(range(1, options.nodes), 10)
    for epsilon in (1, 2, 4, 8):
        group = Population(options.client, pathlib.Path(folder, str(epsilon)))
        group.agree(options.nodes, epsilon)
        group.write_links(0, neighbours)
        sizes = [group.report(0, seed, seed)[2] for seed in range(20)]
        allowed = bound(options.nodes, budgets(epsilon)[0])
        ratio = statistics.median(sizes) / allowed
        print(f"| {epsilon} | {spread(sizes, '{:.0f}')} | {allowed:.0f} | {ratio:.3f} |", flush=True)
    print()


def half_width(values):
    return QUANTILES[len(values) - 1] * statistics.stdev(values) / len(values) ** 0.5


def scores(path):
    found = collections.defaultdict(dict)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            cell = f"{float(row['epsilon']):g}", row["alternative"], row["metric"]
            found[cell][row["trial"]] = float(row["value"])
    heads = [f"{head} | difference" if pair else head for _, head, _, _, pair in METRICS]
    print("| ε | nodes | " + " | ".join(heads) + " |")
    print("|---:|---|" + "".join("---:|---:|" if pair else "---:|" for _, _, _, _, pair in METRICS))
    for epsilon, name in sorted(dict.fromkeys(key[:2] for key in found), key=lambda key: float(key[0])):
        cells = [epsilon, name]
        for metric, _, factor, form, pair in METRICS:
            values, honest = found.get((epsilon, name, metric)), found.get((epsilon, "honest", metric))
            cells.append(form.format(factor * statistics.mean(values.values())) if values else "")
            if pair and values and honest and name != "honest":
                differences = [factor * (values[trial] - honest[trial]) for trial in values]
                cells.append(pair.format(statistics.mean(differences), half_width(differences)))
            elif pair:
                cells.append("")
        print("| " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--veilgraph", default="target/release/veilgraph", type=os.path.abspath)
    parser.add_argument("--client", default="target/release/veilgraph-client", type=os.path.abspath)
    parser.add_argument("--nodes", type=int, default=10_000, help="whose reports are collected")
    parser.add_argument("--population", type=int, default=1_000_000, help="among which one report is timed")
    parser.add_argument("--repeat", type=int, default=3, help="how often reports are collected")
    parser.add_argument("--folder", help="where the temporary folder is made")
    parser.add_argument("--scores", help="scores.csv of configs/lying.toml")
    options = parser.parse_args()
    if options.scores:
        return scores(options.scores)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        one_report(options, os.path.join(folder, "one"))
        sizes_by_budget(options, os.path.join(folder, "sizes"))
        collection(options, os.path.join(folder, "town"))


if __name__ == "__main__":
    main()
