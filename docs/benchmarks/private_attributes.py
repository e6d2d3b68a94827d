#!/usr/bin/env python3
"""Prints the scores of private features and labels beside the published ones, and their gain over the floor.

usage: private_attributes.py pgc|lpgnn|joint [--published DIR] [--store DIR] > table.md

It reads what `veilgraph run configs/pgc/*.toml` (or configs/lpgnn/*.toml, configs/joint.toml) left in the store:
auditor/runs/<name>/scores.csv. DIR of --published holds published_pgc.csv, published_lpgnn.csv and
published_feature_free.csv; without it, the columns of published figures are empty. Only the standard library is needed.
"""

import argparse
import csv
import os
import statistics
import sys

# Quantiles 0.975 of Student's t by degrees of freedom, 1 to 30.
T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
     2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


def is_there(options, name):
    return os.path.exists(os.path.join(options.store, "auditor", "runs", name, "scores.csv"))


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def cells(options, name, metric):
    """Values by repetition, of every cell of a run: {(alternative, swept values ...): {repetition: value}}."""
    path = os.path.join(options.store, "auditor", "runs", name, "scores.csv")
    if not os.path.exists(path):
        sys.exit(f"{path}: there are no scores; run the configs first (see `make help`)")
    found = {}
    for row in rows(path):
        if row["metric"] == metric:
            get = lambda field: row.get(field) or ""
            cell = (get("alternative"), row["dataset"], get("privatize.features.mechanism"),
                    get("privatize.features.epsilon"), get("privatize.labels.epsilon"), f"{float(row['epsilon']):g}",
                    get("estimate.features.substitute"), get("train.labels"), get("estimate.features.hops"))
            # Where splits are swept, every split is a repetition.
            repetition = (get("ingest.split.seed"), int(row["trial"]))
            found.setdefault(cell, {})[repetition] = float(row["value"])
    return found


FIELDS = ("alternative", "dataset", "mechanism", "features", "labels", "links", "substitute", "use", "hops")


def chosen(found, **wanted):
    """The cells with these values, in the order of the run."""
    at = [(FIELDS.index(field), value) for field, value in wanted.items()]
    return {cell: values for cell, values in found.items() if all(cell[place] == value for place, value in at)}


def only(found, **wanted):
    some = list(chosen(found, **wanted).values())
    if len(some) != 1:
        sys.exit(f"{len(some)} cells are {wanted}")
    return some[0]


def summary(values, factor=100):
    values = [factor * value for value in values]
    if len(values) < 2:
        return f"{values[0]:.1f}"
    half = T[min(len(values), 31) - 2] * statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.mean(values):.1f} ± {half:.1f}"


def gain(ours, floor):
    """Paired difference over the trials that both have, with its 95 % interval."""
    both = sorted(set(ours) & set(floor))
    differences = [100 * (ours[trial] - floor[trial]) for trial in both]
    half = T[min(len(both), 31) - 2] * statistics.stdev(differences) / len(both) ** 0.5
    mean = statistics.mean(differences)
    verdict = "gain" if mean > half else "loss" if -mean > half else "none shown"
    return f"{mean:+.1f} ± {half:.1f} ({verdict})"


def head(*columns):
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))


def line(*values):
    print("| " + " | ".join(str(value) for value in values) + " |")


def published(options, name):
    path = os.path.join(options.published or "", name)
    return rows(path) if options.published and os.path.exists(path) else []


def best_floor(found, **wanted):
    """The row without information about features that has the highest mean over the test nodes, and its name."""
    floors = chosen(found, alternative="feature-free", **wanted) | chosen(found, alternative="random-message", **wanted)
    cell = max(floors, key=lambda cell: statistics.mean(floors[cell].values()))
    return cell[FIELDS.index("substitute")], floors[cell]


def pgc(options):
    theirs = {(row["dataset"], row["task"], row["mechanism"], row["eps_per_feature"]): float(row["value"])
              for row in published(options, "published_pgc.csv")}
    names = {"laplace": "lm", "piecewise": "pm", "one-bit": "pgc", "non-private": "raw"}
    dimension = {"cora": 1433, "citeseer": 3703}
    for task, metric in (("classification", "accuracy"), ("link-prediction", "link_prediction_auc")):
        title = "Node classification, accuracy in %" if task == "classification" else "Link prediction, ROC AUC in %"
        print(f"## {title}\n")
        head("dataset", "mechanism", "epsilon per feature", "per node's features", "ours", "published", "difference",
             "gain over feature-free")
        for dataset in ("cora", "citeseer"):
            if not is_there(options, f"pgc-{dataset}-{task}"):
                line(dataset, "was not run", "", "", "", "", "", "")
                continue
            found = cells(options, f"pgc-{dataset}-{task}", metric)
            name, floor = best_floor(found)
            for cell, values in chosen(found, alternative="private").items():
                mechanism, epsilon = cell[FIELDS.index("mechanism")], cell[FIELDS.index("features")]
                key = (dataset, task, names[mechanism], epsilon or "inf")
                mean = 100 * statistics.mean(values.values())
                line(dataset, mechanism, epsilon or "∞", int(epsilon) * dimension[dataset] if epsilon else "∞",
                     summary(values.values()), theirs.get(key, ""),
                     f"{mean - theirs[key]:+.1f}" if key in theirs else "", gain(values, floor))
            for cell, values in found.items():
                if cell[0] != "private":
                    what = " ".join(part for part in (cell[0], cell[2], cell[6]) if part)
                    note = "the floor" if values is floor else gain(values, floor)
                    line(dataset, what, cell[3], "", summary(values.values()), "", "", note)
        print()
    print("## Error of the first layer's aggregate\n")
    head("dataset", "mechanism", "epsilon per feature", "mean absolute error of the convolution")
    for dataset in ("cora", "citeseer"):
        found = cells(options, f"pgc-{dataset}-classification", "convolution_mae")
        for cell, values in chosen(found, alternative="private").items():
            if cell[3]:
                line(dataset, cell[2], cell[3], f"{statistics.mean(values.values()):.4f}")


def lpgnn(options):
    theirs = published(options, "published_lpgnn.csv")

    def find(**wanted):
        some = [row["accuracy"] for row in theirs if all(row[field] == value for field, value in wanted.items())]
        return float(some[0]) if some else None

    def difference(values, value):
        return "" if value is None else f"{100 * statistics.mean(values.values()) - value:+.1f}"

    print("## Private features, public labels: accuracy in %\n")
    found = cells(options, "lpgnn-features", "accuracy")
    alone = cells(options, "lpgnn-no-links", "accuracy")
    found.update({("no-links", *cell[1:]): values for cell, values in alone.items()})
    name, floor = best_floor(found)
    head("row", "mechanism", "epsilon per node", "ours", "published", "difference", "gain over feature-free")
    for cell, values in found.items():
        mechanism, epsilon = cell[2] or ("multi-bit" if cell[3] else ""), cell[3]
        is_row = cell[0].startswith(("as-published", "other-mechanisms"))
        value = find(experiment="mechanisms", mechanism=mechanism, eps_features=epsilon) if is_row else None
        note = "the floor" if values is floor else gain(values, floor)
        name = f"{cell[0]}, {cell[8]} hops" if cell[8] else cell[0]
        line(name, mechanism or cell[6], epsilon, summary(values.values()), "" if value is None else value,
             difference(values, value), note)
    print("\n## Private labels: accuracy in %\n")
    found = cells(options, "lpgnn-labels", "accuracy")
    name, floor = best_floor(found)
    head("row", "features", "epsilon of features", "epsilon of labels", "labels", "ours", "published", "difference",
         "gain over feature-free at epsilon_labels = 1")
    for cell, values in found.items():
        alternative, use = cell[0], cell[7] or "drop"
        if alternative == "private":
            value = find(experiment="label denoising", eps_features="1", eps_labels=cell[4], labels=use)
        elif alternative == "small-budgets":
            value = find(experiment="both", eps_features=cell[3], eps_labels="1")
        elif alternative == "non-private-features":
            value = find(experiment="both", mechanism="raw")
        else:
            # The published random features were not propagated, so they are no row of ours.
            names = {"constant": "constant", "one-hot-degree": "one-hot degree"}
            value = find(experiment="ad-hoc features", mechanism=names.get(cell[6], "none"))
        epsilon = cell[4] or "1"
        note = "" if epsilon != "1" else "the floor" if values is floor else gain(values, floor)
        features = cell[6] or ("raw" if alternative == "non-private-features" else "multi-bit")
        line(alternative, features, cell[3] or ("1" if alternative == "private" else ""), epsilon, use,
             summary(values.values()), "" if value is None else value, difference(values, value), note)
    print("\n## What Drop is worth: paired differences in points\n")
    head("epsilon of labels", "Drop − forward", "forward − plain")
    for epsilon in ("0.5", "1", "2"):
        drop, forward, plain = (only(found, alternative="private", labels=epsilon, use=use)
                                for use in ("drop", "forward", "plain"))
        line(epsilon, gain(drop, forward), gain(forward, plain))
    print("\n## What features add, on ten splits (Facebook: three trials on one split): accuracy in %\n")
    free = {(row["dataset"], row["method"]): row["accuracy"] for row in published(options, "published_feature_free.csv")}
    methods = {"propagation-profile": "propagation profile", "random": "random features + KProp"}
    head("dataset", "row", "epsilon per node", "ours", "published", "gain over feature-free")
    for study in ("lpgnn-feature-free", "lpgnn-facebook"):
        if not is_there(options, study):
            line(study, "was not run", "", "", "", "")
            continue
        other = cells(options, study, "accuracy")
        for dataset in sorted({cell[1] for cell in other}, reverse=True):
            name, floor = best_floor(other, dataset=dataset)
            for cell, values in chosen(other, dataset=dataset).items():
                note = "the floor" if values is floor else gain(values, floor)
                theirs = free.get((dataset, methods.get(cell[6]))) or ""
                line(dataset, cell[6] or cell[0], cell[3], summary(values.values()), theirs, note)


def joint(options):
    found = cells(options, "joint", "accuracy")
    found = {cell: values for cell, values in found.items() if cell[0] != "no-links"}
    found.update(cells(options, "joint-references", "accuracy"))
    for dataset in sorted({cell[1] for cell in found}, reverse=True):
        of = lambda **wanted: only(found, dataset=dataset, **wanted)
        print(f"## {dataset}: accuracy in %, everything private\n")
        for labels in ("0.5", "1", "3", "inf"):
            head(f"epsilon of labels {labels}: epsilon of links", "features 0.1", "features 1", "features 3",
                 "features ∞", "random message", "no features", "features 3 against the better of both",
                 "features 3 against no links")
            for links in ("1", "2", "4", "8"):
                values = {epsilon: of(alternative="everything-private", links=links, features=epsilon, labels=labels)
                          for epsilon in ("0.1", "1", "3", "inf")}
                without = of(alternative="no-features", links=links, labels=labels)
                message = of(alternative="random-message", links=links, labels=labels)
                floor = max(without, message, key=lambda row: statistics.mean(row.values()))
                alone = of(alternative="no-links", features="3", labels=labels)
                line(links, *(summary(value.values()) for value in values.values()), summary(message.values()),
                     summary(without.values()), gain(values["3"], floor), gain(values["3"], alone))
            for name in ("no-links", "public-links"):
                line(name, *(summary(of(alternative=name, features=epsilon, labels=labels).values())
                             for epsilon in ("0.1", "1", "3", "inf")), "", "", "", "")
            print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=("pgc", "lpgnn", "joint"))
    parser.add_argument("--published")
    parser.add_argument("--store", default="artifacts")
    options = parser.parse_args()
    {"pgc": pgc, "lpgnn": lpgnn, "joint": joint}[options.study](options)


if __name__ == "__main__":
    main()
