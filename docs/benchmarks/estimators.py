#!/usr/bin/env python3
"""Tables of docs/benchmarks/estimators.md from the scores of experiments that have run. It needs Polars (PyPI).

usage: estimators.py [links] > tables.md   configs/compare.toml (`make compare`): the scores of links
       estimators.py accuracy              configs/compare-accuracy.toml: accuracies beside floors and ceiling
       estimators.py large                 configs/compare-large.toml: `published` and `best` at all budgets
       estimators.py monotone              configs/monotone.toml: what each larger budget adds
       estimators.py splits                configs/splits.toml: accuracies over several splits
Each takes [--store DIR] and [--name EXPERIMENT], where the experiment ran under another name.

"±" is half the width of the 95 % interval of the mean (Student's t), over trials, or over splits where the table says so.
Differences are paired: by trial, which has the same seed in both, or by split. The table of accuracies pairs every row with
the floors `features-only` and `similar-blended`; of several networks, blended or not, and of graphs by cosine and by score, it
takes the one with the lowest mean validation loss.

Where scores are missing, it prints no table but one line that says which, and ends with exit status 1.
"""

import argparse
import contextlib
import io
import pathlib
import sys

import polars

METRICS = [
    ("average_precision", "Average precision", "{:.3f}"),
    ("log_loss_per_link", "Log loss per link, nats", "{:.2f}"),
    ("mae", "Mean absolute error", "{:.2e}"),
    ("calibration_error", "Calibration error", "{:.3f}"),
]
# The columns of the table of large graphs: a score, its name, a factor for its unit, its form, and what is less where it is
# better.
LARGE = [
    ("average_precision", "average precision", 1, "{:.4f}", lambda value: -value),
    ("log_loss_per_link", "log loss per link", 1, "{:.3g}", lambda value: value),
    ("mae", "MAE", 1, "{:.2e}", lambda value: value),
    ("calibration_error", "calibration error", 1, "{:.3g}", lambda value: value),
    ("expected_calibration_error", "expected calibration error, 10⁻⁴", 1e4, "{:.2f}", lambda value: value),
    ("expected_link_ratio", "expected links per true link", 1, "{:.3f}", lambda value: abs(value - 1)),
]
# The columns of the table of steps: a row of the experiment, a score, its name, and a factor for its unit.
STEPS = [
    ("best", "average_precision", "average precision", 1, "{:+.3f}"),
    ("beliefs", "accuracy", "accuracy of `beliefs`, points", 100, "{:+.1f}"),
    ("best", "accuracy", "accuracy of `best`, points", 100, "{:+.1f}"),
]
NAMES = {"links": "compare", "accuracy": "compare-accuracy", "large": "compare-large"}
# 97.5 % quantiles of Student's t for 1 to 29 degrees of freedom. With more, the last one is a little too large.
QUANTILES = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
]


class Missing(Exception):
    """Says which scores are missing."""


def missing(*names):
    """The error that a cell with these names has no scores."""
    return Missing(f"there are no scores of {', '.join(str(name) for name in names)}")


class Cells(dict):
    """What is known of each cell, by its names."""

    def __missing__(self, key):
        raise missing(*key)


def half(values):
    """Half the width of the 95 % interval of the mean; none for one value, which has no interval."""
    if len(values) < 2:
        return None
    return QUANTILES[min(len(values), 30) - 2] * values.std() / len(values) ** 0.5


def with_half(values, form):
    """Mean ± half the width of its interval in one form, without a second sign."""
    width = half(values)
    return form.format(values.mean()) + ("" if width is None else f" ± {form.replace('+', '').format(width)}")


def scores(options):
    files = pathlib.Path(options.store, "auditor/runs", options.name, "evaluate").glob("links*/metrics.parquet")
    frames = [polars.read_parquet(file) for file in files]
    if not frames:
        raise Missing(f"{options.store} has no scores of links by the name {options.name}")
    return polars.concat(frames)


def all_scores(options):
    """A row for each score of each trial, with what tells it from others."""
    file = pathlib.Path(options.store, "auditor/runs", options.name, "scores.parquet")
    if not file.exists():
        raise Missing(f"{options.store} has no scores by the name {options.name}")
    return polars.read_parquet(file)


def floor_of(rows, dataset, name="features-only"):
    """The scores of a floor on a dataset."""
    for key, row in rows.items():
        if key[:2] == (dataset, name):
            return row
    raise missing(dataset, name)


def table(frame, metric, form, names):
    print("| graph | ε | " + " | ".join(names) + " |")
    print("|---|---:|" + "---:|" * len(names))
    means = frame.filter(polars.col("metric") == metric).group_by("dataset", "epsilon", "estimate")
    means = means.agg(polars.col("value").mean())
    cells = Cells({(row["dataset"], row["epsilon"], row["estimate"]): row["value"] for row in means.to_dicts()})
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
    cells = Cells(both.partition_by("dataset", "epsilon", "metric", as_dict=True))
    for dataset, epsilon in sorted({key[:2] for key in cells}):
        texts = []
        for metric, form, unit in (("mae", "{:+.0f}", " %"), ("average_precision", "{:+.3f}", ""),
                                   ("log_loss_per_link", "{:+.3f}", "")):
            texts.append(with_half(cells[dataset, epsilon, metric]["difference"], form) + unit)
        print(f"| {dataset} | {epsilon:g} | " + " | ".join(texts) + " |")


def links(options):
    frame = scores(options)
    names = sorted({*frame["estimate"], "published", "best"}, key=lambda name: (name == "best", name != "published", name))
    for metric, title, form in METRICS:
        print(f"### {title}\n")
        table(frame, metric, form, names)
        print()
    print("### `best` minus `published`, paired by seed\n")
    paired(frame)


def accuracy(options):
    frame = all_scores(options)
    for name, field in (("blend", "train.blend"), ("similarity", "construct.similarity")):
        value = polars.col(field).cast(str) if field in frame.columns else polars.lit(None, dtype=str)
        frame = frame.with_columns(value.alias(name))
    keys, choices = ["dataset", "alternative", "epsilon"], ["model", "blend", "similarity"]
    means = frame.filter(polars.col("metric") == "validation_loss").group_by(*keys, *choices)
    means = means.agg(polars.col("value").mean().alias("loss")).sort(*keys, "loss", *choices)
    chosen = means.group_by(*keys, maintain_order=True).first()
    found = frame.filter(polars.col("metric") == "accuracy").join(chosen, on=[*keys, *choices], nulls_equal=True)
    if found.is_empty():
        raise missing("accuracy")
    print("| graph | row | ε | accuracy, % | less `features-only` | less `similar-blended` | chosen |")
    print("|---|---|---:|---:|---:|---:|---|")
    floors = ["features-only", "similar-blended"]
    order = ["majority", "no-links", "similar", *floors, "beliefs", "best", "non-private"]
    rows = found.partition_by(*keys, as_dict=True)
    sorted_keys = sorted(rows, key=lambda key: (key[0], order.index(key[1]) if key[1] in order else 99, key[2]))
    for dataset, alternative, epsilon in sorted_keys:
        mine = rows[dataset, alternative, epsilon]
        gains = []
        for name in floors:
            both = mine.join(floor_of(rows, dataset, name), on="trial", suffix="_floor")
            gain = with_half(100 * (both["value"] - both["value_floor"]), "{:+.1f}")
            gains.append("" if alternative == name else gain)
        how = mine["model"][0] + (f" by {mine['similarity'][0]}" if mine["similarity"][0] else "")
        how += ", blended" if mine["blend"][0] == "true" else ""
        print(f"| {dataset} | {alternative} | {epsilon:g} | {with_half(100 * mine['value'], '{:.1f}')} | "
              f"{' | '.join(gains)} | {how} |")


def large(options):
    frame = all_scores(options)
    rows = frame.partition_by("dataset", "epsilon", "alternative", "metric", as_dict=True)
    cells = Cells({key: row["value"] for key, row in rows.items()})
    trials = frame["trial"].n_unique()
    of_trials = "one trial" if trials == 1 else f"means of {trials} trials ± half the 95 % interval"
    for dataset in sorted(set(frame["dataset"])):
        print(f"### {dataset}\n\nEach cell: `published` → `best`, {of_trials}.\n")
        print("| ε | " + " | ".join(title for _, title, *_ in LARGE) + " |")
        print("|---:|" + "---:|" * len(LARGE))
        not_better = []
        epsilons = sorted({key[1] for key in cells if key[0] == dataset})
        for epsilon in epsilons:
            texts = []
            for metric, title, factor, form, badness in LARGE:
                published, best = (cells[dataset, epsilon, name, metric] for name in ("published", "best"))
                texts.append(f"{with_half(factor * published, form)} → {with_half(factor * best, form)}")
                if badness(best.mean()) >= badness(published.mean()):
                    not_better.append(f"{title} at ε = {epsilon:g} ({texts[-1]})")
            print(f"| {epsilon:g} | " + " | ".join(texts) + " |")
        n_cells = len(epsilons) * len(LARGE)
        if not_better:
            print(f"\n`best` is not better than `published` in {len(not_better)} of the {n_cells} cells of {dataset}: "
                  f"{'; '.join(not_better)}.\n")
        else:
            print(f"\n`best` is better than `published` in all {n_cells} cells of {dataset}.\n")


def monotone(options):
    frame = all_scores(options)
    print("| graph | ε | " + " | ".join(title for _, _, title, _, _ in STEPS) + " |")
    print("|---|---|" + "---:|" * len(STEPS))
    below, n_differences, trials = [], 0, frame["trial"].n_unique()
    for dataset in sorted(set(frame["dataset"])):
        epsilons = sorted(set(frame.filter(polars.col("dataset") == dataset)["epsilon"]))
        for smaller, larger in zip(epsilons, epsilons[1:]):
            step = f"{smaller:g} → {larger:g}"
            texts = []
            for alternative, metric, title, factor, form in STEPS:
                mine = frame.filter(dataset=dataset, alternative=alternative, metric=metric)
                ends = (mine.filter(epsilon=epsilon).select("trial", "value") for epsilon in (larger, smaller))
                both = next(ends).join(next(ends), on="trial", suffix="_smaller")
                if both.is_empty():
                    raise missing(dataset, step, alternative, metric)
                difference = factor * (both["value"] - both["value_smaller"])
                texts.append(with_half(difference, form))
                n_differences += 1
                if trials > 1 and difference.mean() + half(difference) < 0:
                    below.append(f"{title} from {step} on {dataset} ({texts[-1]})")
            print(f"| {dataset} | {step} | " + " | ".join(texts) + " |")
    if trials == 1:
        print("\nOne trial has no interval, so nothing can be said about differences below 0.")
        return
    print(f"\nDifferences whose whole interval lies below 0, of {n_differences} over {trials} trials: "
          f"{'; '.join(below) or 'none'}. If no step changed anything, {n_differences / 40:.1f} would be expected by accident.")


def splits(options):
    field = "ingest.split.seed"
    frame = all_scores(options)
    if field not in frame.columns:
        raise missing(field)
    keys = ["dataset", "alternative", "epsilon"]
    # A split counts once: its score is the mean over the trials in it.
    means = frame.group_by(*keys, field, "metric").agg(polars.col("value").mean()).sort(field)
    rows = means.filter(metric="accuracy").partition_by(*keys, as_dict=True)
    if not rows:
        raise missing("accuracy")
    print("| graph | row | ε | splits | accuracy, % | less `features-only` | test nodes | ± of one test set |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    tested = Cells({key: row["value"].min()
                    for key, row in means.filter(metric="test_nodes").partition_by(*keys, as_dict=True).items()})
    for dataset, alternative, epsilon in sorted(rows, key=lambda key: (key[0], key[1] != "features-only", *key[1:])):
        mine = rows[dataset, alternative, epsilon]
        floor = floor_of(rows, dataset)
        both = mine.join(floor, on=field, suffix="_floor")
        gain = with_half(100 * (both["value"] - both["value_floor"]), "{:+.1f}")
        gain = "" if alternative == "features-only" else gain
        share, n = mine["value"].mean(), tested[dataset, alternative, epsilon]
        of_test_set = 1.96 * (share * (1 - share) / n) ** 0.5
        print(f"| {dataset} | {alternative} | {epsilon:g} | {len(mine)} | {with_half(100 * mine['value'], '{:.1f}')} | "
              f"{gain} | {n:.0f} | {100 * of_test_set:.1f} |")


TABLES = {"links": links, "accuracy": accuracy, "large": large, "monotone": monotone, "splits": splits}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", choices=TABLES, default="links")
    parser.add_argument("--store", default="artifacts", help="the store of the experiment (default: %(default)s)")
    parser.add_argument("--name", help="the name of the experiment, where it is not that of the config")
    options = parser.parse_args()
    experiment = NAMES.get(options.table, options.table)
    options.name = options.name or experiment
    try:
        with contextlib.redirect_stdout(io.StringIO()) as text:
            TABLES[options.table](options)
    except Missing as error:
        sys.exit(f"{error}: run configs/{experiment}.toml as docs/benchmarks/estimators.md says, or name the store by "
                 "--store and the experiment by --name")
    print(text.getvalue(), end="")


if __name__ == "__main__":
    main()
