#!/usr/bin/env python3
"""Prints the figures of a report as Markdown tables, ours beside the published ones: paper.py FOLDER > tables.md

FOLDER is artifacts/auditor/reports/NAME, written by `veilgraph report`. Only the standard library is needed.
"""

import csv
import glob
import os
import sys


def number(metric, value):
    if metric in ("graph_entries", "graph_true_positives"):
        return f"{value:.0f}"
    return f"{value:.1f}" if metric == "accuracy" else f"{value:.3g}"


def spread(metric, value):
    return f"{value:.1g}" if metric.endswith("mae") or metric == "average_precision" else number(metric, value)


def cell(row):
    metric = row["metric"]
    ours = number(metric, float(row["mean"]))
    # A bound does not vary; what is left of it is rounding.
    if row["trials"] != "1" and metric != "mae_bound":
        ours += f" ± {spread(metric, float(row['standard_deviation']))}"
    if not row["published_mean"]:
        return ours
    theirs, deviation = float(row["published_mean"]), float(row["published_standard_deviation"])
    return f"{ours} ({number(metric, theirs)} ± {spread(metric, deviation)})"


def main():
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.csv"))):
        name = os.path.basename(path)[:-4]
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        if name.endswith("-per-link") or not rows:
            continue
        places = sorted({float(row["x"]) for row in rows if row["mechanism"] not in ("non-private", "no-links")})
        trials = "/".join(sorted({row["trials"] for row in rows}, key=int))
        print(f"### {name}\n\n{trials} trial(s).\n")
        print("| | " + " | ".join(f"{place:g}" for place in places) + " |\n|---|" + "---:|" * len(places))
        for line in dict.fromkeys(row["line"] for row in rows):
            mine = [row for row in rows if row["line"] == line]
            if mine[0]["mechanism"] in ("non-private", "no-links"):
                found = [cell(mine[0])] + [""] * (len(places) - 1)
            else:
                found = [next((cell(row) for row in mine if float(row["x"]) == place), "") for place in places]
            print(f"| {line} | " + " | ".join(found) + " |")
        print()


if __name__ == "__main__":
    main()
