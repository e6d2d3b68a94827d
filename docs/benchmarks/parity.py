#!/usr/bin/env python3
"""Runs the published settings of Blink through veilgraph and prints our figures beside the published ones.

usage: parity.py --data-dir DIR --published DIR [--veilgraph PROGRAM] [--trials N]
                 [--link-trials N] [--store DIR] > table.md

DIR of --published holds published_accuracy.csv, published_best_hp.csv, published_mae.csv,
published_density.csv and split_<dataset>.txt. Only the standard library is needed.
"""

import argparse
import csv
import json
import os
import subprocess
import sys

CELLS = [
    (dataset, model, variant, epsilon)
    for dataset in ("cora", "citeseer")
    for model in ("gcn", "graphsage")
    for variant in ("hard", "hybrid", "soft")
    for epsilon in (1, 4, 8)
] + [("cora", "gat", "hard", epsilon) for epsilon in (1, 4, 8)]


def rows(folder, name):
    with open(os.path.join(folder, name), newline="") as file:
        return list(csv.DictReader(file))


def run(options, name, sets):
    """Scores of one run by (metric, variant)."""
    command = [options.veilgraph, "--quiet", "--store", options.store, "run", "configs/parity.toml", "--json"]
    command += ["--data-dir", options.data_dir]
    for key, value in {"name": name, "trials": options.trials, **sets}.items():
        command += ["--set", f"{key}={json.dumps(value)}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return {(score["metric"], score["variant"]): score for score in json.loads(done.stdout)["metrics"]}


def ingest(options, dataset):
    split = os.path.relpath(os.path.join(options.published, f"split_{dataset}.txt"), options.data_dir)
    return {"ingest.dataset": dataset, "ingest.split": split}


def accuracy(options):
    best = rows(options.published, "published_best_hp.csv")
    published = rows(options.published, "published_accuracy.csv")

    def find(table, dataset, model, variant, epsilon):
        return next(
            row for row in table
            if row["method"] == "blink" and row["variant_or_baseline"] == variant and row["dataset"] == dataset
            and row["model"] == model and row["eps"] == str(epsilon)
        )

    print("| dataset | model | graph | epsilon | fraction | ours, % | published, % | difference |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    differences = []
    for dataset, model, variant, epsilon in CELLS:
        setting = find(best, dataset, model, variant, epsilon)
        theirs = find(published, dataset, model, variant, epsilon)
        scores = run(options, f"parity-{dataset}-{model}-{variant}-{epsilon}", {
            **ingest(options, dataset),
            "privatize.links.epsilon": float(epsilon),
            "privatize.links.degree_fraction": float(setting["delta"]),
            "construct.variant": variant,
            "train.model": model,
            "train.learning_rate": float(setting["lr"]),
            "train.weight_decay": float(setting["weight_decay"]),
            "train.dropout": float(setting["dropout"]),
            "evaluate.metrics": ["accuracy"],
        })
        ours = scores["accuracy", variant]
        mean, spread = 100 * ours["mean"], 100 * ours["standard_deviation"]
        difference = mean - 100 * float(theirs["mean"])
        differences.append(difference)
        print(f"| {dataset} | {model} | {variant} | {epsilon} | {setting['delta']} | {mean:.1f} ± {spread:.1f} "
              f"| {100 * float(theirs['mean']):.1f} ± {100 * float(theirs['std']):.1f} | {difference:+.1f} |", flush=True)
    within = sum(abs(difference) <= 2 for difference in differences)
    print(f"\n{within} of {len(differences)} cells within 2 points; mean difference "
          f"{sum(differences) / len(differences):+.2f}, largest {max(differences, key=abs):+.1f} points.\n")


def links(options):
    mae = {(row["dataset"], row["eps"]): row for row in rows(options.published, "published_mae.csv") if row["method"] == "blink"}
    density = {(row["dataset"], row["eps"]): row for row in rows(options.published, "published_density.csv")}
    print("| dataset | epsilon | MAE, ours | MAE, published | ratio | entries / true positives, ours | published |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for dataset in ("cora", "citeseer"):
        for epsilon in range(1, 9):
            scores = run(options, f"parity-links-{dataset}-{epsilon}", {
                **ingest(options, dataset),
                "trials": options.link_trials,
                "privatize.links.epsilon": float(epsilon),
                "construct.variant": "hard",
                "evaluate.metrics": ["link-error", "density"],
            })
            ours, theirs = scores["mae", ""], mae[dataset, str(epsilon)]
            kept, hits = scores["graph_entries", "hard"]["mean"], scores["graph_true_positives", "hard"]["mean"]
            published = density[dataset, str(epsilon)]
            print(f"| {dataset} | {epsilon} | {ours['mean']:.4g} ± {ours['standard_deviation']:.1g} "
                  f"| {float(theirs['mae_mean']):.4g} ± {float(theirs['mae_std']):.1g} "
                  f"| {ours['mean'] / float(theirs['mae_mean']):.3f} | {kept:.0f} / {hits:.0f} "
                  f"| {float(published['ahat_l1_mean']):.0f} / {float(published['tp_mean']):.0f} |", flush=True)
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--published", required=True)
    parser.add_argument("--veilgraph", default="target/release/veilgraph")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--link-trials", type=int, default=30)
    parser.add_argument("--store", default="artifacts/parity")
    options = parser.parse_args()
    links(options)
    accuracy(options)


if __name__ == "__main__":
    main()
