#!/usr/bin/env python3
"""Tables of docs/benchmarks/estimators.md from the scores of configs/compare.toml.

usage: estimators.py [--store DIR] [--name compare] > tables.md        after `make compare`; needs Polars (PyPI)
       estimators.py accuracy [--store DIR] [--name compare-accuracy]  after a run of configs/compare-accuracy.toml

Means over trials. The last table pairs trials by seed: mean difference of `best` and `published` with half the
width of its 95 % interval (Student's t). The table of accuracies pairs every row with the floor `features-only`; of
several networks, blended or not, it takes the one with the lowest mean validation loss.
"""

import argparse
import pathlib

import polars

METRICS = [
    ("average_precision", "Average precision", "{:.3f}"),
    ("log_loss_per_link", "Log loss per link, nats", "{:.2f}"),
    ("mae", "Mean absolute error", "{:.2e}"),
    ("calibration_error", "Calibration error", "{:.3f}"),
]
# 97.5 % quantile of Student's t by degrees of freedom.
QUANTILES = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 29: 2.045}


def scores(options):
    files = pathlib.Path(options.store, "auditor/runs", options.name, "evaluate").glob("links*/metrics.parquet")
    return polars.concat([polars.read_parquet(file) for file in files])


def table(frame, metric, form, names):
    print("| graph | ε | " + " | ".join(names) + " |")
    print("|---|---:|" + "---:|" * len(names))
    means = frame.filter(polars.col("metric") == metric).group_by("dataset", "epsilon", "estimate")
    means = means.agg(polars.col("value").mean())
    cells = {(row["dataset"], row["epsilon"], row["estimate"]): row["value"] for row in means.to_dicts()}
    for dataset, epsilon in sorted({key[:2] for key in cells}):
        values = [form.format(cells[dataset, epsilon, name]) for name in names]
        print(f"| {dataset} | {epsilon:g} | " + " | ".join(values) + " |")


def paired(frame):
    print("| graph | ε | MAE | average precision | log loss |")
    print("|---|---:|---:|---:|---:|")
    keys = ["dataset", "epsilon", "trial", "metric"]
    best, published = (frame.filter(polars.col("estimate") == name) for name in ("best", "published"))
    both = best.join(published, on=keys, suffix="_published")
    relative = polars.when(polars.col("metric") == "mae").then(100 / polars.col("value_published")).otherwise(1.0)
    both = both.with_columns(difference=(polars.col("value") - polars.col("value_published")) * relative)
    found = both.group_by("dataset", "epsilon", "metric").agg(
        polars.col("difference").mean().alias("mean"), polars.col("difference").std().alias("spread"),
        polars.len().alias("trials"))
    cells = {(row["dataset"], row["epsilon"], row["metric"]): row for row in found.to_dicts()}
    for dataset, epsilon in sorted({key[:2] for key in cells}):
        texts = []
        for metric, form in (("mae", "{:+.0f} ± {:.0f} %"), ("average_precision", "{:+.3f} ± {:.3f}"),
                             ("log_loss_per_link", "{:+.3f} ± {:.3f}")):
            row = cells[dataset, epsilon, metric]
            half = QUANTILES[row["trials"] - 1] * row["spread"] / row["trials"] ** 0.5
            texts.append(form.format(row["mean"], half))
        print(f"| {dataset} | {epsilon:g} | " + " | ".join(texts) + " |")


def accuracy(options):
    frame = polars.read_parquet(pathlib.Path(options.store, "auditor/runs", options.name, "scores.parquet"))
    blend = polars.col("train.blend").cast(str) if "train.blend" in frame.columns else polars.lit(None, dtype=str)
    frame = frame.with_columns(blend=blend)
    keys = ["dataset", "alternative", "epsilon"]
    means = frame.filter(polars.col("metric") == "validation_loss").group_by(*keys, "model", "blend")
    means = means.agg(polars.col("value").mean().alias("loss")).sort(*keys, "loss", "model")
    chosen = means.group_by(*keys, maintain_order=True).first()
    found = frame.filter(polars.col("metric") == "accuracy").join(chosen, on=[*keys, "model", "blend"], nulls_equal=True)
    print("| graph | row | ε | accuracy, % | less `features-only` | chosen |")
    print("|---|---|---:|---:|---:|---|")
    order = ["majority", "no-links", "similar", "features-only", "beliefs", "best", "non-private"]
    rows = found.partition_by(*keys, as_dict=True)
    sorted_keys = sorted(rows, key=lambda key: (key[0], order.index(key[1]) if key[1] in order else 99, key[2]))
    for dataset, alternative, epsilon in sorted_keys:
        mine = rows[dataset, alternative, epsilon]
        floor = next(row for key, row in rows.items() if key[:2] == (dataset, "features-only"))
        both = mine.join(floor, on="trial", suffix="_floor")
        difference = 100 * (both["value"] - both["value_floor"])
        half = lambda values: QUANTILES[len(values) - 1] * values.std() / len(values) ** 0.5
        value = 100 * mine["value"]
        gain = "" if alternative == "features-only" else f"{difference.mean():+.1f} ± {half(difference):.1f}"
        blended = ", blended" if mine["blend"][0] == "true" else ""
        print(f"| {dataset} | {alternative} | {epsilon:g} | {value.mean():.1f} ± {half(value):.1f} | {gain} | "
              f"{mine['model'][0]}{blended} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("table", nargs="?", choices=["links", "accuracy"], default="links")
    parser.add_argument("--store", default="artifacts")
    parser.add_argument("--name")
    options = parser.parse_args()
    options.name = options.name or ("compare" if options.table == "links" else "compare-accuracy")
    if options.table == "accuracy":
        accuracy(options)
        return
    frame = scores(options)
    names = sorted(set(frame["estimate"]), key=lambda name: (name == "best", name != "published", name))
    for metric, title, form in METRICS:
        print(f"### {title}\n")
        table(frame, metric, form, names)
        print()
    print("### `best` minus `published`, paired by seed\n")
    paired(frame)


if __name__ == "__main__":
    main()
