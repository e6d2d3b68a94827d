#!/usr/bin/env python3
"""Prints what attackers find beside the accuracy that the same nats buy.

usage: audit.py [--store DIR] > table.md

It reads what `veilgraph run configs/audit.toml configs/audit-canaries.toml` left in the store:
auditor/runs/<name>/scores.csv. Only the standard library is needed.
"""

import argparse
import csv
import os
import statistics
import sys


def rows(options, name):
    path = os.path.join(options.store, "auditor", "runs", name, "scores.csv")
    if not os.path.exists(path):
        sys.exit(f"{path}: there are no scores; run `make audit` first")
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


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


def head(*columns):
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))


def line(*values):
    print("| " + " | ".join(str(value) for value in values) + " |")


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
    head("mechanism", "ledger, nats per link", "from reports", "ceiling", "from the graph", "from a network")
    for mechanism, cost in dict.fromkeys(key[:2] for key in bound):
        at = lambda table, attack: written(table.get((mechanism, cost, attack)))
        line(mechanism, cost, at(bound, "canary-reports"), at(ceiling, "canary-reports"), at(bound, "canary-graph"),
             at(bound, "canary-network"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", default="artifacts")
    options = parser.parse_args()
    networks(rows(options, "audit"))
    canaries(rows(options, "audit-canaries"))


if __name__ == "__main__":
    main()
