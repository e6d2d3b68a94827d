#!/usr/bin/env python3
"""Prints what attackers find beside the accuracy that the same nats buy.

usage: audit.py [--store DIR] > table.md

It reads what `veilgraph run configs/audit{,-canaries,-attributes,-shadow,-million,-models}.toml` left in the store:
auditor/runs/<name>/scores.csv. Only the standard library is needed.
"""

import argparse
import csv
import os
import statistics
import sys

from private_attributes import head, line


def rows(options, name):
    path = os.path.join(options.store, "auditor", "runs", name, "scores.csv")
    if not os.path.exists(path):
        sys.exit(f"{path}: there are no scores; run `make audit` first")
    with open(path, newline="") as file:
        found = list(csv.DictReader(file))
    for row in found:
        for field in ("epsilon", "epsilon_edge"):
            row[field] = f"{float(row[field]):g}"
    return found


def gathered(found, metric, fields):
    """Values of a metric over trials, by the values of these columns."""
    cells = {}
    for row in found:
        if row["metric"] == metric:
            cells.setdefault(tuple(row.get(field) or "" for field in fields), []).append(float(row["value"]))
    return cells


def written(values, digits=3, factor=1):
    if not values:
        return ""
    mean = factor * statistics.mean(values)
    if len(values) < 2:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ± {factor * statistics.stdev(values):.{digits}f}"


NETWORK = ("mechanism", "epsilon", "variant", "model")


def networks(found):
    accuracy = gathered(found, "accuracy", NETWORK)
    per_link = {tuple(row[field] for field in NETWORK): row["epsilon_edge"] for row in found}
    area = gathered(found, "attack_auc", (*NETWORK, "audit.attack", "audit.pool"))
    rate = gathered(found, "attack_tpr_at_fpr_0.001", (*NETWORK, "audit.attack", "audit.pool"))
    precision = gathered(found, "attack_precision", (*NETWORK, "audit.attack", "audit.pool", "audit.belief"))
    of_graph = lambda table, cell, pool: next(
        (values for key, values in table.items() if key[:2] == cell[:2] and key[2] in (cell[2], "") and key[3] == ""
         and key[4:6] == ("reports", pool)), [])
    for model in ("gcn", "graphsage", "gat"):
        print(f"## {model}: accuracy, and what an attacker finds (all nodes)\n")
        head("mechanism", "epsilon", "nats per link", "graph", "accuracy %", "linkteller AUC", "its TPR at FPR 0.1 %",
             "its precision at the true density", "likeness AUC", "server's own AUC")
        for cell, values in accuracy.items():
            if cell[3] not in (model, "mlp"):
                continue
            line(cell[0], cell[1], per_link[cell], cell[2], written(values, 1, 100),
                 written(area.get((*cell, "linkteller", "all"))), written(rate.get((*cell, "linkteller", "all"))),
                 written(precision.get((*cell, "linkteller", "all", "1"))),
                 written(area.get((*cell, "posterior-similarity", "all"))), written(of_graph(area, cell, "all")))
        print()
    print("## By number of links: linkteller AUC on gcn\n")
    head("mechanism", "epsilon", "graph", "all nodes", "nodes of few links", "nodes of many links")
    for cell in accuracy:
        if cell[3] == "gcn":
            line(*cell[:3], *(written(area.get((*cell, "linkteller", pool))) for pool in ("all", "low", "high")))
    print("\n## Precision of linkteller on gcn by what the attacker believes (all nodes)\n")
    beliefs = ("0.25", "0.5", "1", "2", "4")
    head("mechanism", "epsilon", "graph", *(f"{belief} times the links" for belief in beliefs))
    for cell in accuracy:
        if cell[3] == "gcn":
            line(*cell[:3], *(written(precision.get((*cell, "linkteller", "all", belief))) for belief in beliefs))


def canaries(found):
    fields = ("mechanism", "epsilon_edge", "audit.attack")
    bound = gathered(found, "epsilon_lower_bound", fields)
    ceiling = gathered(found, "epsilon_lower_bound_ceiling", fields)
    print("\n## Lower bounds of a link's cost, at 99 %, from 1,000 canaries\n")
    head("mechanism", "ledger, nats per link", "from reports", "ceiling", "from degrees", "from the graph",
         "from a network")
    for mechanism, cost in dict.fromkeys(key[:2] for key in bound):
        at = lambda table, attack: written(table.get((mechanism, cost, attack)))
        line(mechanism, cost, at(bound, "canary-reports"), at(ceiling, "canary-reports"),
             at(bound, "canary-degrees"), at(bound, "canary-graph"), at(bound, "canary-network"))


ATTRIBUTES = ("alternative", "mechanism of features", "epsilon of features", "epsilon of labels")


def attributes(found):
    """Cells by the alternative of the config and the costs of features and labels."""
    for row in found:
        mechanism = row.get("privatize.features.mechanism") or ""
        row["mechanism of features"] = mechanism or NAMES.get(row["alternative"], "")
        row["epsilon of features"] = row.get("privatize.features.epsilon") or ""
        row["epsilon of labels"] = row.get("privatize.labels.epsilon") or ""
    area = gathered(found, "attack_auc", (*ATTRIBUTES, "audit.attack", "audit.attribute"))
    accuracy = gathered(found, "accuracy", ATTRIBUTES)
    print("\n## What attackers find about features, labels and members: AUC\n")
    head("private", "epsilon", "from reports", "labels from the network", "members", "accuracy %")
    for cell, values in accuracy.items():
        alternative, _, of_features, of_labels = cell
        if alternative in ("features", "labels"):
            some = lambda attack, attribute="": next(
                (found for key, found in area.items() if key[0] == alternative and key[4:] == (attack, attribute)
                 and all(own in ("", wanted) for own, wanted in zip(key[1:4], cell[1:]))), [])
            line(alternative, of_features or of_labels, written(some("attributes", alternative)),
                 written(some("attributes", "labels-by-network")), written(some("membership")),
                 written(values, 1, 100))
    fields = (*ATTRIBUTES, "audit.attack")
    bound = gathered(found, "epsilon_lower_bound", fields)
    ceiling = gathered(found, "epsilon_lower_bound_ceiling", fields)
    print("\n## Lower bounds of what features or a label of a node cost, at 99 %, from 1,000 canaries\n")
    head("coins decide", "mechanism", "ledger, nats", "from reports", "ceiling", "from a network")
    for key in bound:
        if key[4] == "canary-reports":
            alternative, mechanism, of_features, of_labels = key[:4]
            network = next((found for other, found in bound.items() if other[0] == alternative
                            and other[4] == "canary-network"
                            and all(own in ("", wanted) for own, wanted in zip(key[1:4], other[1:4]))), [])
            what = "labels" if alternative == "canaries-labels" else "features"
            line(what, mechanism, of_features or of_labels or "inf", written(bound[key]), written(ceiling[key]),
                 written(network))


# What a config sets once for a whole alternative is no column of its scores.
NAMES = {"canaries-open": "non-private", "canaries-multi-bit": "multi-bit", "canaries-gaussian": "gaussian",
         "canaries-labels": "randomized-response"}


def shadows(found):
    fields = ("mechanism", "epsilon", "audit.attack", "audit.described_by", "audit.hops")
    area = gathered(found, "attack_auc", fields)
    precision = gathered(found, "attack_precision", fields)
    print("\n## Attackers with a shadow, on test nodes whose links training has not seen: AUC (precision at the true density)\n")
    asked = [("shadow-model", by, "") for by in ("answers", "answers-and-features")]
    asked += [("inductive", by, hops) for by in ("answers", "answers-and-features") for hops in ("0", "1", "2")]
    asked += [("linkteller", "", ""), ("posterior-similarity", "", ""), ("reports", "", "")]
    settings = list(dict.fromkeys(key[:2] for key in area))
    head("attack", "pairs by", "hops", *(" ".join(setting).replace(" 0", "") for setting in settings))
    for attack in asked:
        cells = [(area.get((*setting, *attack)), precision.get((*setting, *attack))) for setting in settings]
        line(*attack, *(f"{written(found)} ({written(exact)})" for found, exact in cells))


def million(found):
    bound, ceiling = (gathered(found, metric, ("privatize.labels.epsilon",))
                      for metric in ("epsilon_lower_bound", "epsilon_lower_bound_ceiling"))
    print("\n## 100,000 canaries: lower bounds of a label's cost at 99 %, on a synthetic graph of a million nodes\n")
    head("ledger, nats", "from reports", "ceiling")
    for cell, values in bound.items():
        line(*cell, written(values), written(ceiling[cell]))


def models(found):
    fields = ("model", "train.epsilon")
    bound, right, accuracy = (gathered(found, metric, fields)
                              for metric in ("epsilon_lower_bound", "canary_right_guesses", "accuracy"))
    print("\n## Models of a curator: lower bounds of what a node costs, at 99 %, from 1,000 canaries of training labels\n")
    head("model", "ledger, nats", "from the model", "right guesses", "accuracy %")
    for cell, values in bound.items():
        line(*cell, written(values), written(right[cell], 0), written(accuracy[cell], 1, 100))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", default="artifacts")
    options = parser.parse_args()
    networks(rows(options, "audit"))
    canaries(rows(options, "audit-canaries"))
    attributes(rows(options, "audit-attributes"))
    shadows(rows(options, "audit-shadow"))
    million(rows(options, "audit-million"))
    models(rows(options, "audit-models"))


if __name__ == "__main__":
    main()
