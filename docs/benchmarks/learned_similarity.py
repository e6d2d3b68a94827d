#!/usr/bin/env python3
"""Does a score of similarity that is learned from the reports find links better than bins of a score made by hand?

usage: learned_similarity.py [--veilgraph PROGRAM] [--data-dir DIR] [--published DIR] [--store DIR] > tables.md
       learned_similarity.py --on-best ...   learns on top of all that `[estimate] method = "best"` believes without
                                             `learned_score`
       learned_similarity.py --choose ...    compares the widths of the normal priors, on Cora and CiteSeer

Needs NumPy, SciPy and Polars (PyPI). The program draws the reports, lists similar pairs, and estimates degrees; the fits are
made here. A fifth of all pairs, by a hash, is held out: no fit reads the reports about them. (Degrees are the exception:
they are estimated from all reports, and are the same in all fits.)

A pair has the prior probability theta = w_i w_j E_ij exp(score), as in docs/link-model.md, where E_ij says how classes
attract each other, classes being believed by features and training labels alone. The score is, in the rows

  bins           today's: the log odds of its bin of cosine,
  weights        the same, and a weight for every feature that both nodes have (a diagonal bilinear form),
  bilinear       the same as `bins`, and v_i' M v_j with a symmetric M, where v_i are the leading coordinates of the features,
  class metric   the same as `bins`, and b_i' M b_j, where b_i are the beliefs about classes.

Scores maximize the marginal likelihood of the claims about pairs that are listed as similar, each claim ln(1 + theta R),
with normal priors on what they add to the bins. Cora and CiteSeer chose the widths of these priors. Coauthor CS and Facebook
are cut to the 3,000 nodes that are found first, breadth first from node 0, so that all pairs fit in memory.

With `--on-best`, scores are added to the log odds of `best` without `learned_score`, whose belief propagation and common neighbours have read all
reports; truth alone is then a fair judge.

Judges: the marginal likelihood of held-out reports, which a server can compute, and, for information, the true links.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
import polars
import scipy.optimize
import scipy.sparse
import scipy.stats

CHOSEN_ON = ["cora", "citeseer"]
GRAPHS = [*CHOSEN_ON, "cora_ml", "ms_academic_cs", "facebook"]
CUT = {"ms_academic_cs": 3000, "facebook": 3000}
SPLIT = "split = { seed = 0, train = 0.5, validation = 0.25, test = 0.25 }\n"
# Standard deviations, in nats, of what each form adds to the bins.
WIDTHS = {"weights": 0.3, "bilinear": 1.0, "class metric": 1.5}
GRID = {"weights": [0.1, 0.3, 1.0], "bilinear": [0.3, 1.0, 3.0], "class metric": [0.2, 0.5, 1.5]}
COORDINATES = 24
BIN_WIDTH = 3.0
MOST_LIKELY = 0.95
HELD_OUT_SHARE = 5


def run(options, name, ingest, estimate, until):
    """Runs one config, and returns the folder of its last runs in a part of the store."""
    config = pathlib.Path(options.store, name + ".toml")
    config.write_text(f"name = {json.dumps(name)}\ntrials = {options.trials}\n[ingest]\n{ingest}[privatize.links]\n"
                      f"epsilon = {options.epsilon}\ndegree_fraction = \"auto-with-bits\"\n[estimate]\n{estimate}")
    command = [options.veilgraph, "--quiet", "--store", os.path.join(options.store, "store"), "run", str(config),
               "--data-dir", options.data_dir, "--published", options.published, "--until", until]
    subprocess.run(command, check=True)
    return lambda part: pathlib.Path(options.store, "store", part, "runs", name)


def cut(options, name, size):
    """Writes a part of a graph as files of its own, and returns its table `[ingest]`."""
    runs = run(options, name + "-whole", f"dataset = \"{name}\"\n{SPLIT}", 'method = "published"\n', "ingest")
    links = polars.read_parquet(runs("owner") / "ingest/all/links.parquet").to_numpy()
    features = polars.read_parquet(runs("simulation") / "ingest/all/features.parquet")
    labels = polars.concat([polars.read_parquet(runs("simulation") / "ingest/all/labels.parquet"),
                            polars.read_parquet(runs("auditor") / "ingest/all/held_out_labels.parquet")])
    neighbours = collections.defaultdict(list)
    for a, b in links.tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    found, queue = {0}, collections.deque([0])
    while queue and len(found) < size:
        for node in neighbours[queue.popleft()]:
            if node not in found and len(found) < size:
                found.add(node)
                queue.append(node)
    folder = pathlib.Path(options.store, "cut", name)
    folder.mkdir(parents=True, exist_ok=True)
    kept = {node: str(position) for position, node in enumerate(sorted(found))}
    rows = [f"{kept[a]},{kept[b]}" for a, b in links.tolist() if a in kept and b in kept]
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(rows) + "\n")
    rows = [f"{kept[node]},{label}" for node, label in labels.iter_rows() if node in kept]
    (folder / "target.csv").write_text("node,class\n" + "\n".join(rows) + "\n")
    lists = {text: [] for text in kept.values()}
    for node, feature, _ in features.iter_rows():
        if node in kept:
            lists[kept[node]].append(feature)
    (folder / "features.json").write_text(json.dumps(lists))
    files = "".join(f"{field} = {json.dumps(str((folder / file).resolve()))}\n" for field, file in
                    [("edges", "edges.csv"), ("labels", "target.csv"), ("features", "features.json")])
    return f"dataset = \"{name}-part\"\n{files}{SPLIT}"


def held_out(i, j):
    """Whether a pair is held out, by a hash of its nodes."""
    mixed = (i.astype(np.uint64) << np.uint64(32) | j.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(33)) % np.uint64(HELD_OUT_SHARE) == 0


class Graph:
    """Holds what is the same in all releases about a graph."""

    def __init__(self, options, name):
        if name in CUT:
            ingest = cut(options, name, CUT[name])
        else:
            ingest = f"dataset = \"{name}\"\n" + ("" if name in CHOSEN_ON else SPLIT)
        self.epsilons = options.epsilon
        self.best = run(options, name, ingest, 'method = "best"\ntriangles = false\n[similarity]\nbins = "cosine"\n', "similarity")
        # The same reports, of which only degrees are estimated.
        self.reports = run(options, name + "-degrees", ingest,
                           'method = "published"\ndegrees = "empirical-bayes+bits"\n', "estimate")
        if options.on_best:
            self.default = run(options, name + "-best", ingest, 'method = "best"\nlearned_score = false\n', "estimate")
        public = self.best("simulation") / "ingest/all"
        self.n = n = polars.read_parquet(public / "nodes.parquet").height
        splits = polars.read_parquet(public / "nodes.parquet")["split"].to_numpy()
        labels = polars.read_parquet(public / "labels.parquet").to_numpy()
        self.known = labels[splits[labels[:, 0]] == 0].astype(np.int64)
        links = polars.read_parquet(self.best("owner") / "ingest/all/links.parquet").to_numpy().astype(np.int64)
        self.is_link = np.zeros((n, n), bool)
        self.is_link[links[:, 0], links[:, 1]] = True
        similar = polars.read_parquet(self.best("simulation") / "similarity/all/similar_pairs.parquet")
        pairs = similar.select("i", "j").to_numpy().astype(np.int64)
        is_held_out = held_out(pairs[:, 0], pairs[:, 1])
        bins = similar["bin"].to_numpy().astype(np.int64)
        self.n_bins = int(bins.max()) + 1
        features = polars.read_parquet(public / "features.parquet").to_numpy()
        has = scipy.sparse.csr_matrix((np.ones(len(features), np.float32),
                                       (features[:, 0].astype(int), features[:, 1].astype(int))), shape=(n, int(features[:, 1].max()) + 1))
        has.data[:] = 1
        idf = np.log(n / np.maximum(np.asarray(has.sum(0)).ravel(), 1)).astype(np.float32)
        directions = has @ scipy.sparse.diags(idf)
        lengths = np.sqrt(np.asarray(directions.multiply(directions).sum(1)).ravel())
        directions = scipy.sparse.diags(1 / np.maximum(lengths, 1e-9)) @ directions
        start = np.random.default_rng(0).standard_normal(min(directions.shape))
        left, values, _ = scipy.sparse.linalg.svds(directions.astype(np.float64), COORDINATES, v0=start)
        vectors = left * values
        vectors = (vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-9)[:, None]).astype(np.float32)
        listed = np.zeros((n, n), bool)
        listed[pairs[:, 0], pairs[:, 1]] = True
        self.parts = {}
        for part, mask in (("fit", ~is_held_out), ("judge", is_held_out)):
            i, j = pairs[mask].T
            self.parts[part] = Part(i, j, bins[mask], common(has, i, j), vectors[i], vectors[j])
        i, j = np.triu_indices(n, 1)
        mask = held_out(i, j) & ~listed[i, j]
        self.unlisted = Part(i[mask], j[mask], None, None, None, None)
        upper = np.triu(self.is_link | self.is_link.T, 1)
        self.listed_links = upper[listed].sum() / upper.sum()


Part = collections.namedtuple("Part", "i j bins common left right")


def common(has, i, j):
    """Returns the features that both nodes of each pair have, one row for each pair."""
    blocks = [has[i[start:start + 65536]].multiply(has[j[start:start + 65536]]) for start in range(0, len(i), 65536)]
    return scipy.sparse.vstack(blocks, format="csr").astype(np.float32)


class Release:
    """Holds the reports of one trial at one budget, and the prior that they are read with."""

    def __init__(self, graph, epsilon, trial):
        self.graph = graph
        # A run is named after what its config sweeps over.
        self.run = f"trial-{trial}" if len(graph.epsilons) == 1 else f"epsilon-{epsilon},trial-{trial}"
        beliefs = graph.best("simulation") / f"similarity/trial-{trial}/class_beliefs.parquet"
        beliefs = np.array(polars.read_parquet(beliefs)["probabilities"].to_list(), np.float32)
        beliefs[graph.known[:, 0]] = 0
        beliefs[graph.known[:, 0], graph.known[:, 1]] = 1
        self.beliefs = beliefs
        model = graph.reports("simulation") / f"estimate/{self.run}/link_model.parquet"
        self.degrees = polars.read_parquet(model)["degree"].to_numpy()
        self.epsilon = float(polars.read_parquet_metadata(model)["epsilon_links"])
        ones = polars.read_parquet(graph.reports("simulation") / f"privatize/{self.run}/noisy_links.parquet").to_numpy()
        claims = np.zeros((graph.n, graph.n), np.int8)
        claims[ones[:, 0], ones[:, 1]] = 1
        self.claims = claims + claims.T
        self.shares = np.maximum(self.degrees @ beliefs / self.degrees.sum(), 1e-4).astype(np.float32)
        self.attraction = {key: self.same(part) for key, part in [*graph.parts.items(), ("unlisted", graph.unlisted)]}

    def same(self, part):
        total = np.zeros(len(part.i), np.float32)
        for belief, share in zip(self.beliefs.T, self.shares):
            total += belief[part.i] * belief[part.j] / share
        return total - 1

    def less_one(self, part):
        """Returns the likelihood ratio of the claims about each pair, less one."""
        return np.expm1(2 * self.epsilon * np.array([-1.0, 0.0, 1.0]))[self.claims[part.i, part.j]].astype(np.float32)

    def true_less_one(self, part):
        """The same, as if the true links were reported nearly without noise."""
        links = self.graph.is_link
        return np.expm1(np.where(links[part.i, part.j] | links[part.j, part.i], 12.0, -12.0)).astype(np.float32)


class Form:
    """Is a score: parameters of the bins, followed by those of what is added to them."""

    def __init__(self, name, release, width, n_bins=None):
        self.name, self.release, self.n_bins = name, release, n_bins or release.graph.n_bins
        # The beliefs at both ends of each pair of a part.
        self.beliefs = {}
        size = {"bins": 0, "weights": release.graph.parts["fit"].common.shape[1], "bilinear": COORDINATES ** 2,
                "class metric": len(release.shares) ** 2}[name]
        self.widths = np.concatenate([np.full(self.n_bins, BIN_WIDTH), np.full(size, width)])

    def sides(self, part):
        if self.name == "bilinear":
            return part.left, part.right
        if id(part) not in self.beliefs:
            self.beliefs[id(part)] = self.release.beliefs[part.i], self.release.beliefs[part.j]
        return self.beliefs[id(part)]

    def score(self, values, part):
        bins, added = values[:self.n_bins].astype(np.float32), values[self.n_bins:].astype(np.float32)
        score = bins[part.bins]
        if self.name == "weights":
            score = score + part.common @ added
        elif self.name != "bins":
            left, right = self.sides(part)
            metric = added.reshape(left.shape[1], -1)
            score = score + np.einsum("pk,pk->p", left @ ((metric + metric.T) / 2), right)
        return score

    def slope(self, slopes, part):
        """Returns the derivative by all parameters, from that by the score of each pair."""
        by_bin = np.bincount(part.bins, slopes, self.n_bins)
        if self.name == "bins":
            return by_bin
        if self.name == "weights":
            return np.concatenate([by_bin, part.common.T @ slopes])
        left, right = self.sides(part)
        metric = left.T @ (slopes[:, None] * right)
        return np.concatenate([by_bin, ((metric + metric.T) / 2).ravel()])


class Fit:
    """Maximizes the marginal likelihood of the claims about listed pairs that are not held out."""

    def __init__(self, release, form, less_one, start=None):
        graph = release.graph
        self.release, self.form, self.part, self.less_one = release, form, graph.parts["fit"], less_one
        self.values = np.zeros(len(form.widths))
        if start is None:
            self.weights, self.homophily = release.degrees / np.sqrt(release.degrees.sum()), 0.5
        else:
            self.weights, self.homophily = start.weights, start.homophily
            self.values[:form.n_bins] = start.values[:form.n_bins]
        for _ in range(3 if start is None else 2):
            for _ in range(3):
                self.match_degrees()
            self.learn_homophily()
            self.learn_score()
        self.match_degrees()

    def theta_without_score(self, part, key):
        affinity = 1 + self.homophily * self.release.attraction[key]
        return (self.weights[part.i] * self.weights[part.j] * affinity).astype(np.float32)

    def learn_score(self):
        base, widths = self.theta_without_score(self.part, "fit"), self.form.widths

        def loss(values):
            theta = base * np.exp(np.minimum(self.form.score(values, self.part), 30))
            is_free = theta < MOST_LIKELY
            change = np.minimum(theta, MOST_LIKELY) * self.less_one
            total = np.log1p(change).sum(dtype=np.float64) - 0.5 * ((values / widths) ** 2).sum()
            slopes = self.form.slope(np.where(is_free, change / (1 + change), 0).astype(np.float32), self.part)
            return -total, -(slopes - values / widths ** 2)

        # In units of the widths, so that all parameters are of one size.
        scaled = lambda units: (lambda value, slope: (value, slope * widths))(*loss(units * widths))
        found = scipy.optimize.minimize(scaled, self.values / widths, jac=True, method="L-BFGS-B", options={"maxiter": 10})
        self.values = found.x * widths

    def learn_homophily(self):
        part, excess = self.part, self.release.attraction["fit"]
        base = (self.weights[part.i] * self.weights[part.j]).astype(np.float32)
        base *= np.exp(np.minimum(self.form.score(self.values, part), 30))
        for _ in range(4):
            theta = base * (1 + self.homophily * excess)
            slope = np.where(theta < MOST_LIKELY, base * excess * self.less_one, 0)
            slope /= 1 + np.minimum(theta, MOST_LIKELY) * self.less_one
            step = slope.sum(dtype=np.float64) / ((slope ** 2).sum(dtype=np.float64) + 1e-9)
            self.homophily = float(np.clip(self.homophily + np.clip(step, -0.2, 0.2), 0.01, 0.98))

    def match_degrees(self):
        release, h, w = self.release, self.homophily, self.weights
        by_class = w @ release.beliefs / release.shares
        own = 1 - h + h * (release.beliefs ** 2 / release.shares).sum(1)
        expected = w * ((1 - h) * w.sum() + h * release.beliefs @ by_class) - w ** 2 * own
        for key, part in release.graph.parts.items():
            base = self.theta_without_score(part, key)
            theta = base * np.exp(np.minimum(self.form.score(self.values, part), 30))
            more = np.minimum(theta, MOST_LIKELY) - np.minimum(base, MOST_LIKELY)
            expected += np.bincount(part.i, more, len(w)) + np.bincount(part.j, more, len(w))
        self.weights = w * np.clip(np.sqrt(release.degrees / np.maximum(expected, 1e-9)), 0.2, 5)

    def judged(self):
        listed, rest = self.release.graph.parts["judge"], self.release.graph.unlisted
        theta = np.concatenate([
            self.theta_without_score(listed, "judge") * np.exp(np.minimum(self.form.score(self.values, listed), 30)),
            self.theta_without_score(rest, "unlisted")]).astype(np.float64)
        return judged(self.release, np.clip(theta, 1e-12, MOST_LIKELY))


def judged(release, theta):
    """Returns the marginal likelihood of the held-out reports, and average precision and log loss of held-out pairs, which
    have these probabilities before their reports are read."""
    graph = release.graph
    listed, rest = graph.parts["judge"], graph.unlisted
    less_one = np.concatenate([release.less_one(listed), release.less_one(rest)]).astype(np.float64)
    i, j = np.concatenate([listed.i, rest.i]), np.concatenate([listed.j, rest.j])
    is_link = graph.is_link[i, j] | graph.is_link[j, i]
    odds = theta / (1 - theta) * (1 + less_one)
    n_links = is_link.sum()
    likelihood = np.log1p(theta * less_one).sum() / n_links
    log_loss = -np.where(is_link, np.log(odds / (1 + odds)), -np.log1p(odds)).sum() / n_links
    order = np.argsort(-odds, kind="stable")
    hits = is_link[order]
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return {"likelihood": likelihood, "average precision": precision[hits].mean(), "log loss": log_loss}


def fits_on_best(release, widths):
    """Returns what the judges say of `[estimate] method = "best"` without `learned_score`, and of each form on top of its log odds.

    A constant keeps the number of expected links, since degrees are not matched again.
    """
    graph = release.graph
    folder = graph.default("simulation") / "estimate" / release.run
    model = polars.read_parquet(folder / "link_model.parquet")
    beta = model["beta"].to_numpy()
    of_bins = np.array([0.0, *map(float, polars.read_parquet_metadata(folder / "link_model.parquet")["bin_logits"].split())])
    evidence = polars.read_parquet(folder / "link_evidence.parquet")
    bins = np.zeros((graph.n, graph.n), np.uint8)
    bins[evidence["i"].to_numpy(), evidence["j"].to_numpy()] = evidence["bin"].to_numpy()
    logits = lambda part: beta[part.i] + beta[part.j] + of_bins[bins[part.i, part.j]]
    fit = graph.parts["fit"]._replace(bins=np.zeros(len(graph.parts["fit"].i), np.int64))
    judge = graph.parts["judge"]._replace(bins=np.zeros(len(graph.parts["judge"].i), np.int64))
    base, less_one = logits(fit).astype(np.float32), release.less_one(fit)
    sigmoid = lambda logit: np.clip(1 / (1 + np.exp(-logit)), 1e-12, 1 - 1e-9)
    found = {"bins": judged(release, sigmoid(np.concatenate([logits(judge), logits(graph.unlisted)])))}
    for name, (width,) in widths.items():
        form = Form(name, release, width, n_bins=1)

        def loss(units):
            values = units * form.widths
            theta = 1 / (1 + np.exp(-(base + form.score(values, fit))))
            change = theta * less_one
            slopes = form.slope((change * (1 - theta) / (1 + change)).astype(np.float32), fit)
            total = np.log1p(change).sum(dtype=np.float64) - 0.5 * (units ** 2).sum()
            return -total, -(slopes - values / form.widths ** 2) * form.widths

        start = np.zeros(len(form.widths))
        units = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 30}).x
        scored = logits(judge) + form.score(units * form.widths, judge)
        found[name] = judged(release, sigmoid(np.concatenate([scored, logits(graph.unlisted)])))
    return found


def fits(release, widths, from_truth=False):
    """Returns what the judges say of each form."""
    less_one = (release.true_less_one if from_truth else release.less_one)(release.graph.parts["fit"])
    bins = Fit(release, Form("bins", release, 1), less_one)
    # As many rounds for the bins as for the others.
    found = {"bins": Fit(release, Form("bins", release, 1), less_one, bins).judged()}
    for name, several in widths.items():
        for width in several:
            label = f"{name}, {width:g}" if len(several) > 1 else name
            found[label] = Fit(release, Form(name, release, width), less_one, bins).judged()
    return found


def cell(differences, form):
    mean = np.mean(differences)
    if len(differences) < 2:
        return format(mean, form)
    half = scipy.stats.t.ppf(0.975, len(differences) - 1) * np.std(differences, ddof=1) / len(differences) ** 0.5
    return f"{mean:{form}} ± {half:{form.lstrip('+')}}"


def table(results, judge, form, start):
    names = [name for name in next(iter(results.values()))[0] if name != "bins"]
    print(f"| graph | ε | {start} | {' | '.join(names)} |\n|---|---:|---:|{'---:|' * len(names)}")
    for (graph, epsilon), trials in results.items():
        bins = np.mean([trial["bins"][judge] for trial in trials])
        cells = [cell([trial[name][judge] - trial["bins"][judge] for trial in trials], "+" + form) for name in names]
        print(f"| {graph} | {epsilon:g} | {bins:{form}} | {' | '.join(cells)} |")
    print(flush=True)


JUDGES = [("likelihood", "log marginal likelihood of held-out reports, nats per held-out link (more is better)", ".4f"),
          ("average precision", "average precision on held-out pairs (more is better)", ".4f"),
          ("log loss", "log loss on held-out pairs, nats per link (less is better)", ".4f")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--veilgraph", default="target/release/veilgraph")
    parser.add_argument("--data-dir", default="data")
    parser.add_argument("--published", default="published")
    parser.add_argument("--store", default="artifacts/learned-similarity", help="a folder for configs and artifacts")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--graphs", nargs="*", choices=GRAPHS)
    parser.add_argument("--epsilon", nargs="*", type=int, default=[1, 2, 3, 4])
    parser.add_argument("--ceiling", type=int, default=2, help="the budget at which scores are also learned from true links")
    parser.add_argument("--on-best", action="store_true")
    parser.add_argument("--choose", action="store_true")
    options = parser.parse_args()
    pathlib.Path(options.store).mkdir(parents=True, exist_ok=True)
    options.graphs = options.graphs or (CHOSEN_ON if options.choose else GRAPHS)
    if options.choose and set(options.graphs) - set(CHOSEN_ON):
        parser.error(f"a choice looks at {' and '.join(CHOSEN_ON)} alone, so that the other graphs can judge it")
    if options.choose and options.on_best:
        parser.error("widths are chosen without --on-best")
    widths = GRID if options.choose else {name: [width] for name, width in WIDTHS.items()}
    learned, ceilings, share = {}, {}, {}
    for name in options.graphs:
        graph = Graph(options, name)
        share[name] = graph.listed_links
        for epsilon in options.epsilon:
            fitted = fits_on_best if options.on_best else fits
            learned[name, epsilon] = [fitted(Release(graph, epsilon, trial), widths) for trial in range(options.trials)]
            if not options.on_best and epsilon == options.ceiling:
                ceilings[name, epsilon] = [fits(Release(graph, epsilon, 0), widths, from_truth=True)]
    start = "best" if options.on_best else "bins"
    print(f"{options.trials} trials. The column `{start}` has values; all others have differences from it, paired by trial, ± half the 95 % "
          "interval of their mean (Student's t).\n")
    print("Share of true links among the listed pairs: "
          + ", ".join(f"{name} {value:.3f}" for name, value in share.items()) + ".\n")
    for judge, title, form in JUDGES:
        print(f"Learned from the reports, {title}:\n")
        table(learned, judge, form, start)
    for judge, title, form in JUDGES if ceilings else []:
        print(f"Learned from the true links instead (one trial), {title}:\n")
        table(ceilings, judge, form, start)


if __name__ == "__main__":
    main()
