#!/usr/bin/env python3
"""Times whole runs of the program: wall seconds (median, least to most) and peak memory.

usage: pipeline.py [--data-dir DIR] [--veilgraph PROGRAM] [--repeat N] > table.md

Every repetition starts with an empty store. Without --data-dir only the synthetic runs are timed. Only the
standard library is needed.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time

#: The estimator of the paper, and no floors beside it.
PAPER = ["--set", "estimate.method=published", "--set", "references=[]"]
GRAPH_ONLY = "references = []\n[ingest]\ndataset = \"{dataset}\"\n[privatize.links]\nepsilon = {epsilon}\n[estimate]\nmethod = \"published\"\n[construct]\nvariant = [\"hard\", \"hybrid\"]\n"

# What it is, config (a path or text), further arguments, whether it needs real data.
RUNS = [
    ("demo: synthetic, two estimators between floors and ceiling, 3 budgets, 5 trials", "configs/demo.toml", [], False),
    ("Cora, hard, one setting, one trial, all stages", "configs/cora.toml", [*PAPER, "--set", "construct.variant=hard"], True),
    ("Cora, hybrid, likewise", "configs/cora.toml", PAPER, True),
    ("Cora, soft, likewise", "configs/cora.toml", [*PAPER, "--set", "construct.variant=soft"], True),
    ("Facebook, epsilon 8, ingest to construct (hard and hybrid)", GRAPH_ONLY.format(dataset="facebook", epsilon=8), ["--until", "construct"], True),
    ("Facebook, epsilon 4, likewise", GRAPH_ONLY.format(dataset="facebook", epsilon=4), ["--until", "construct"], True),
    ("Facebook, epsilon 1, likewise", GRAPH_ONLY.format(dataset="facebook", epsilon=1), ["--until", "construct"], True),
    ("ego_twitter (81,306 nodes), epsilon 8, all stages", GRAPH_ONLY.format(dataset="ego_twitter", epsilon=8), [], True),
]


def timed(command):
    """Wall seconds and peak MiB of a command."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir")
    parser.add_argument("--veilgraph", default="target/release/veilgraph")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    print("| run | seconds, median (least to most) | again, nothing to do | peak MiB |")
    print("|---|---:|---:|---:|")
    for name, config, arguments, needs_data in RUNS:
        if needs_data and not options.data_dir:
            continue
        seconds, again, memory = [], [], []
        for _ in range(options.repeat):
            with tempfile.TemporaryDirectory() as folder:
                path = config
                if "\n" in config:
                    path = os.path.join(folder, "config.toml")
                    with open(path, "w") as file:
                        file.write(config)
                command = [options.veilgraph, "--quiet", "--store", os.path.join(folder, "store"), "run", path, *arguments]
                command += ["--data-dir", options.data_dir] if needs_data else []
                wall, peak = timed(command)
                seconds.append(wall)
                memory.append(peak)
                again.append(timed(command)[0])
        print(f"| {name} | {statistics.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f}) "
              f"| {statistics.median(again):.3f} | {max(memory):.0f} |", flush=True)


if __name__ == "__main__":
    main()
