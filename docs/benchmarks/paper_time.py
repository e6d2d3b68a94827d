#!/usr/bin/env python3
"""How long `make paper` takes, foretold from one trial of each of its configs: paper.md.

usage: paper_time.py --data-dir DIR --published DIR [--veilgraph PROGRAM] [CONFIG...] > table.md

Every config runs with one trial, in the order of `make paper` and in one store, so that what two configs share is made once. Where
a config searches settings, one setting is trained. Every task of the whole plan is then taken to last as long as the task of the
sample that differs from it in the trial alone. A search by halving trains 48, 12, 6, 3 and 2 networks in its trials, and of the 48 a
race trains half of the epochs (training.md). The sum is divided by how many tasks ran at a time in the sample. Networks that the
whole run would find in the store count as in the sample.

It takes 22 minutes on two cores of a Zen 3, 4 GB for temporary files, and nothing may run beside it. Only the standard library is
needed. What an evaluation over all trials takes is counted as of one trial; these are fractions of a second.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import time

HALVING = [48, 12, 6, 3, 2]
# A race trains this share of the epochs; with learned links, nothing races.
RACED = 0.5
SAMPLE = ["--set", "trials=1"]
ONE_SETTING = ["--set", "search_trials=1", "--set", "train.search=full", "--set", "train.learning_rate=0.01",
               "--set", "train.weight_decay=1e-4", "--set", "train.dropout=0.1"]
GOAL = 8


def without_trial(task):
    return task["stage"], task["function"], re.sub(r",?trial-\d+", "", task["label"])


def call(options, store, words):
    """The answer of a command as JSON, and the seconds that it took."""
    command = [options.veilgraph, "--quiet", "--store", store, *words, "--json"]
    command += ["--data-dir", options.data_dir, "--published", options.published]
    start = time.monotonic()
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(answer.stdout), time.monotonic() - start


def n_networks(task, n_searched):
    """How many networks a task of the whole plan trains, in networks of the sample's task; `n_searched` tasks of its search are
    done before it."""
    if task["function"] != "search-grid":
        return 1
    n = HALVING[min(n_searched, len(HALVING) - 1)]
    return n * RACED if n_searched == 0 and "solitude" not in task["label"] else n


def foretell(options, store, config):
    """Seconds of the sample and of the whole config on the clock, and its number of networks."""
    is_halving = 'search = "halving"' in pathlib.Path(config).read_text()
    plan, _ = call(options, store, ["plan", config])
    sample, clock = call(options, store, ["run", config, *SAMPLE, *(ONE_SETTING if is_halving else [])])
    took = {without_trial(task): task["seconds"] or 0.0 for task in sample["stages"]}
    whole, searched = 0.0, {}
    for task in plan["stages"]:
        stage, function, label = without_trial(task)
        alike = (stage, "classify" if function == "search-grid" else function, label)
        networks = n_networks(task, searched.get(label, 0))
        if function == "search-grid":
            searched[label] = searched.get(label, 0) + 1
        # To choose among settings reads curves alone.
        whole += networks * took.get(alike, 0.0)
    at_a_time = sum(took.values()) / clock
    return clock, whole / max(at_a_time, 1.0), plan["totals"]["models"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configs", nargs="*", default=sorted(map(str, pathlib.Path("configs/paper").glob("*.toml"))))
    parser.add_argument("--veilgraph", default="target/release/veilgraph")
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--published", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as store:
        print("| config | networks | one trial, s | foretold, hours |")
        print("|---|---:|---:|---:|")
        total = 0.0
        for config in options.configs:
            clock, whole, networks = foretell(options, store, config)
            total += whole
            print(f"| `{pathlib.Path(config).stem}` | {networks:,} | {clock:.0f} | {whole / 3600:.2f} |", flush=True)
    print("\n| what | foretold | goal |")
    print("|---|---:|---:|")
    print(f"| `make paper`, hours | {total / 3600:.1f} | {GOAL} |")


if __name__ == "__main__":
    main()
