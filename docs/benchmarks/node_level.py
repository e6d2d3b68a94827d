#!/usr/bin/env python3
"""Prints models of a trusted curator: accuracy by cost, beside floors and ceiling, and costs beside what papers state.

usage: node_level.py [--published DIR] [--store DIR] > table.md

It reads what `veilgraph run configs/node-level/*.toml` left in the store: auditor/runs/<name>/scores.csv. DIR of
--published holds published_central.csv; without it, the columns of published figures are empty. Only the standard library
is needed.
"""

import argparse
import csv
import os
import statistics
import sys

from private_attributes import T

NAMES = {"dp-mlp": "no links (dp-mlp)", "gap": "GAP", "progap": "ProGAP", "dp-sage": "DP-SAGE", "dpar": "DPAR"}


def rows(options, name):
    path = os.path.join(options.store, "auditor", "runs", name, "scores.csv")
    if not os.path.exists(path):
        sys.exit(f"{path}: there are no scores; run `make node-level` first")
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def gathered(found, *fields, metric="accuracy"):
    """Scores in percent over repetitions (trials and splits), by the values of these columns."""
    cells = {}
    for row in found:
        if row["metric"] == metric:
            cells.setdefault(tuple(row.get(field) or "" for field in fields), []).append(100 * float(row["value"]))
    return cells


def written(values):
    if not values:
        return ""
    mean = statistics.mean(values)
    if len(values) == 1:
        return f"{mean:.1f}"
    half = T[len(values) - 2] * statistics.stdev(values) / len(values) ** 0.5
    return f"{mean:.1f} ± {half:.1f}"


def head(columns):
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" + "---:|" * (len(columns) - 1))


def line(cells):
    print("| " + " | ".join(cells) + " |")


def number(text):
    return float(text) if text else 0.0


def by_budget(options, name, relation, title):
    """A table of accuracy for each dataset: learners by budget."""
    found = rows(options, name)
    print(f"### {title}\n")
    for dataset in dict.fromkeys(row["dataset"] for row in found):
        mine = [row for row in found if row["dataset"] == dataset]
        majority = gathered(mine, "dataset", metric="majority_accuracy")[(dataset,)][0]
        # By the budget that was asked for: the cost, or what the source states where that was asked for.
        for row in mine:
            claims = row["alternative"].startswith("as-")
            # What protects whole nodes protects their own data, and what has no cost here is a model without noise.
            cost = row.get(f"cost.{relation}") or (row.get("cost.node") if relation == "own-data" else "") or "inf"
            row["asked"] = f"{float(row.get(f'claimed.{relation}') if claims else cost):g}"
            row["learner"] = " ".join(filter(None, [
                NAMES[row["model"]],
                {"choice": "by choice", "noisy-choice": "by noisy choice", "gaussian": "Gaussian"}.get(row.get("train.release", ""), ""),
                "own row alone" if row["alternative"] == "dpar-own-row" else "",
                "as it counts" if claims else ""]))
        cells = gathered(mine, "learner", "asked")
        budgets = sorted({cell[1] for cell in cells}, key=float)
        print(f"{dataset}; the largest class: {majority:.1f}\n")
        head(["learner"] + [f"ε = {float(budget):g}" for budget in budgets])
        for learner in dict.fromkeys(cell[0] for cell in cells):
            line([learner] + [written(cells.get((learner, budget), [])) for budget in budgets])
        print()


def stated(options, name, dataset):
    """Costs beside what the paper states, on every cut of the graph."""
    found = [row for row in rows(options, name) if row["dataset"] == dataset]
    published = {}
    if options.published:
        with open(os.path.join(options.published, "published_central.csv"), newline="") as file:
            for row in csv.DictReader(file):
                if row["dataset"] == dataset and row["source"].startswith("DPAR"):
                    published[row["method"], float(row["eps"])] = row["accuracy"]
    methods = {"choice": "dpar-em-0", "noisy-choice": "dpar-em-1", "gaussian": "dpar-gm", "": "features"}
    seeds = sorted({row["ingest.split.seed"] for row in found}, key=float)
    cells = gathered(found, "model", "train.release", "claimed.node", "cost.node", "ingest.split.seed")
    print(f"### {dataset}\n")
    head(["learner", "stated ε", "what it costs"] + [f"cut {int(float(seed))}" for seed in seeds] + ["published"])
    for model, release, claimed, cost, _ in dict.fromkeys(cell[:4] + ("",) for cell in cells):
        values = [cells.get((model, release, claimed, cost, seed), []) for seed in seeds]
        claim = float(claimed)
        method = "dpar" if model == "dpar" and claim == float("inf") else methods[release]
        name = " ".join(filter(None, [NAMES[model], release]))
        line([name, f"{claim:g}", f"{float(cost):.0f}"] + [written(some) for some in values] + [published.get((method, claim), "")])
    print()


def splits(options):
    """Cora on several splits, beside the figures of DPDGC."""
    found = rows(options, "node-level-splits")
    published = {("dp-mlp", "node", "inf"): 76.5, ("gap", "node", "inf"): 86.5, ("dp-mlp", "node", "16"): 64.3,
                 ("gap", "node", "16"): 54.4, ("dp-sage", "node", "16"): 15.9, ("dp-sage", "node", "inf"): 84.2,
                 ("gap", "edge", "1"): 77.0, ("gap", "edge", "inf"): 86.5, ("dp-mlp", "edge-no-links", "inf"): 76.5}
    cells = {}
    for row in found:
        if row["metric"] == "accuracy":
            relations = ["edge"] if row["alternative"] == "edge" else ["own-data", "node"]
            cost = next(filter(None, (row.get(f"cost.{relation}") for relation in relations)))
            cell = (row["model"], row["alternative"], f"{float(cost):g}")
            cells.setdefault(cell, []).append(100 * float(row["value"]))
    print("### Cora on five splits, beside DPDGC's table\n")
    head(["learner", "level", "ε", "accuracy", "published"])
    for (model, level, cost), values in cells.items():
        line([NAMES[model], level, cost, written(values), str(published.get((model, level, cost), ""))])
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--published")
    parser.add_argument("--store", default="artifacts")
    options = parser.parse_args()
    by_budget(options, "node-level", "own-data", "A node: accuracy in %, by nats per node (dp-mlp and DPAR: node; others: own-data)")
    by_budget(options, "node-level-edges", "edge", "A link: accuracy in %, by nats per undirected link")
    splits(options)
    stated(options, "node-level-as-published", "cora_ml")
    stated(options, "node-level-as-published-cs", "ms_academic_cs")


if __name__ == "__main__":
    main()
