#!/usr/bin/env python3
"""Would nodes with fractions of their own find more links? An optimistic closed form, beside one fraction for all.

usage: node_fractions.py [--graphs NAME...] [--epsilon NATS...]      # needs numpy; 23 minutes

A node first sends a noisy degree for a part of its budget. What is left of the budget is divided between a second noisy degree and
the bits of its list, by one fraction for nodes whose first degree lies above a threshold and by another one for the others. The form is that of
kernels/exposure, with two groups of nodes. It is optimistic: the server is taken to learn the group beside both noisy degrees,
although the first of them decided it, and the best of all divisions is taken for each graph, which nobody could choose.
"""

import argparse
import math

import numpy as np

# Nodes, mean degree, and the standard deviation of the degrees over their mean.
GRAPHS = {
    "cora": (2708, 3.898, 1.341),
    "citeseer": (3327, 2.736, 1.236),
    "cora_ml": (2995, 5.448, 1.514),
    "lastfm": (7624, 7.294, 1.576),
    "facebook": (22470, 15.205, 1.737),
    "ms_academic_cs": (18333, 8.934, 1.019),
    "ego_twitter": (81306, 33.018, 1.70),
}
ERRORS = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
# Fractions of a budget for a degree.
SHARES = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4]
# Fractions for the first degree where there are two, and shares of the nodes above the threshold.
FIRST = [0.02, 0.05, 0.1, 0.15, 0.2, 0.25]
ABOVE = [0.5, 0.2, 0.05]


def degree_model(nodes, mean_degree, spread):
    """Expected degrees of 32 kinds of nodes, and their shares: log-normal, as in `DegreeModel::new`."""
    deviation = math.sqrt(math.log1p(max(spread**2 - 1 / mean_degree, 0.02)))
    low, high = -4.0, 4.0 + deviation
    step = (high - low) / 32
    z = low + step * (np.arange(32) + 0.5)
    degrees = np.minimum(mean_degree * np.exp(deviation * z - deviation**2 / 2), nodes / 2)
    shares = np.exp(-z * z / 2)
    shares /= shares.sum()
    return np.minimum(degrees * mean_degree / (degrees * shares).sum(), nodes / 2), shares


def outcomes(a, b):
    """What two noisy bits with budgets `a` and `b` may show: nats, and probabilities with and without a link."""
    flips = 1 / (1 + math.exp(a)), 1 / (1 + math.exp(b))
    seen = []
    for first in (True, False):
        for second in (True, False):
            linked = (1 - flips[0] if first else flips[0]) * (1 - flips[1] if second else flips[1])
            other = (flips[0] if first else 1 - flips[0]) * (flips[1] if second else 1 - flips[1])
            seen.append((math.log(linked / other), linked, other))
    return seen


def information(seen, share):
    """Fisher information of the share of linked pairs in what is seen of one pair."""
    return sum((linked - other) ** 2 / (share * linked + (1 - share) * other) for _, linked, other in seen)


def found(nodes, mean_degree, spread, groups, chances):
    """Share of the links that a server finds. `groups` are (nats for degrees as a list, nats for a bit), and `chances` gives for
    each group the probability that a node of each kind is in it."""
    degrees, shares = degree_model(nodes, mean_degree, spread)
    total = nodes * mean_degree
    weights = [(shares * chance).sum() for chance in chances]
    errors = np.exp(-ERRORS * ERRORS / 2)
    errors /= errors.sum()
    kinds = []
    for (reports, bit), chance in zip(groups, chances):
        # What bits tell of a degree, averaged over the groups of the others.
        tells = sum(weight * information(outcomes(bit, other[1]), degrees / nodes) for weight, other in zip(weights, groups))
        of_bits = np.maximum(nodes / tells - degrees, 0.0)
        with np.errstate(divide="ignore"):
            variance = degrees + 1 / (1 / of_bits + sum(report**2 / 2 for report in reports))
        prior = shares * chance
        for error, weight in zip(ERRORS, errors):
            estimate = degrees + error * np.sqrt(variance)
            likelihood = np.exp(-((estimate[:, None] - degrees) ** 2) / (2 * variance)) / np.sqrt(variance)
            mass = likelihood @ prior
            mean = np.where(mass > 0, (likelihood @ (prior * degrees)) / np.where(mass > 0, mass, 1.0), degrees)
            kinds.append((degrees, mean, nodes * shares * chance * weight, bit))
    logit, links, others = [], [], []
    for a, first in enumerate(kinds):
        for b, second in enumerate(kinds[a:]):
            pairs = np.outer(first[2], second[2])
            if b == 0:
                # Each pair of kinds of one group and error is counted once.
                pairs = np.triu(pairs, 1) + np.diag(np.diag(pairs) * 0.5)
            odds = np.outer(first[0], second[0]) / total
            prior = np.log(np.outer(first[1], second[1]) / total)
            for nats, linked, other in outcomes(first[3], second[3]):
                logit.append((prior + nats).ravel())
                links.append((pairs * odds / (1 + odds) * linked).ravel())
                others.append((pairs / (1 + odds) * other).ravel())
    logit, links, others = (np.concatenate(values) for values in (logit, links, others))
    order = np.argsort(-logit, kind="stable")
    links, others = links[order], others[order]
    named = np.cumsum(links + others)
    # The cell in which the number of named pairs reaches that of links is named in part.
    place = np.searchsorted(named, links.sum())
    before = named[place - 1] if place else 0.0
    part = (links.sum() - before) / (links[place] + others[place])
    return (links[:place].sum() + part * links[place]) / links.sum()


def one_fraction(graph, epsilon):
    everyone = [np.ones(32)]
    divided = lambda share: [([epsilon * share] if share else [], epsilon * (1 - share))]
    return max((found(*GRAPHS[graph], divided(share), everyone), share) for share in SHARES)


def two_fractions(graph, epsilon):
    """The best division of a budget among those with one fraction for both groups, and among those with two."""
    degrees, shares = degree_model(*GRAPHS[graph])
    equal, different = (0.0, None), (0.0, None)
    for first in FIRST:
        scale = 1 / (first * epsilon)
        for above in ABOVE:
            threshold = degrees[np.searchsorted(np.cumsum(shares), 1 - above)]
            # Laplace noise on a number of links that is nearly the expected one.
            distance = (threshold - degrees) / scale
            high = np.where(distance > 0, 0.5 * np.exp(-np.abs(distance)), 1 - 0.5 * np.exp(-np.abs(distance)))
            for low_share in SHARES:
                for high_share in SHARES:
                    groups = []
                    for share in (low_share, high_share):
                        left = epsilon * (1 - first)
                        reports = [epsilon * first] + ([left * share] if share else [])
                        groups.append((reports, left * (1 - share)))
                    reached = found(*GRAPHS[graph], groups, [1 - high, high])
                    if low_share == high_share:
                        equal = max(equal, (reached, (first, above, low_share)))
                    else:
                        different = max(different, (reached, (first, above, low_share, high_share)))
    return equal, different


def words(division):
    return ", ".join(f"{number:g}" for number in division)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="*", choices=GRAPHS, default=list(GRAPHS))
    parser.add_argument("--epsilon", nargs="*", type=float, default=[1.0, 2.0, 3.0, 4.0])
    options = parser.parse_args()
    print("| graph | ε | one fraction | % found | two degrees, equal fractions | % found | two fractions | % found | points |")
    print("|---|---:|---:|---:|---|---:|---|---:|---:|")
    for graph in options.graphs:
        for epsilon in options.epsilon:
            plain, share = one_fraction(graph, epsilon)
            (equal, how_equal), (different, how_different) = two_fractions(graph, epsilon)
            print(f"| {graph} | {epsilon:g} | {share:g} | {100 * plain:.1f} | {words(how_equal)} | {100 * equal:.1f} | "
                  f"{words(how_different)} | {100 * different:.1f} | {100 * (different - max(plain, equal)):+.1f} |", flush=True)


main()
