#!/usr/bin/env python3
"""Yardstick: the published dense estimate in PyTorch, on the reports of a run.

usage: dense.py NOISY_LINKS.parquet NOISY_DEGREES.parquet [--repeat N]

Needs torch and polars (PyPI). Single precision, all cores: 200 undamped iterations of Blink's equation 10 from
zero, then the posterior as the quotient of likelihoods, each over n x n matrices.
"""

import argparse
import json
import statistics
import time

import polars
import torch


def fit_prior(degrees):
    """Parameters of the beta model after 200 iterations, and the prior."""
    beta = torch.zeros_like(degrees)
    log_degrees = torch.log(degrees)
    for _ in range(200):
        terms = 1.0 / (torch.exp(-beta)[None, :] + torch.exp(beta)[:, None])
        terms.fill_diagonal_(0.0)
        beta = log_degrees - torch.log(terms.sum(dim=1))
    prior = torch.sigmoid(beta[:, None] + beta[None, :])
    prior.fill_diagonal_(0.0)
    return prior


def posterior(prior, bits, epsilon_links):
    """Probability of every link given the bits of both ends."""
    keep = torch.sigmoid(torch.tensor(epsilon_links, dtype=torch.float32))
    claims = bits + bits.T
    with_link = keep ** claims * (1 - keep) ** (2 - claims) * prior
    without = (1 - keep) ** claims * keep ** (2 - claims) * (1 - prior)
    return with_link / (with_link + without)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("links")
    parser.add_argument("degrees")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    rows = polars.read_parquet(options.links)
    facts = polars.read_parquet_metadata(options.links)
    n = int(facts["n_nodes"])
    bits = torch.zeros((n, n))
    bits[rows["source"].to_numpy(), rows["target"].to_numpy()] = 1.0
    degrees = torch.tensor(polars.read_parquet(options.degrees)["degree"].to_numpy(), dtype=torch.float32).clamp(1, n - 2)
    prior_seconds, posterior_seconds = [], []
    for _ in range(options.repeat):
        start = time.monotonic()
        prior = fit_prior(degrees)
        middle = time.monotonic()
        links = posterior(prior, bits, float(facts["epsilon_links"]))
        posterior_seconds.append(time.monotonic() - middle)
        prior_seconds.append(middle - start)
    print(json.dumps({
        "n_nodes": n, "threads": torch.get_num_threads(), "torch": torch.__version__,
        "prior_seconds": statistics.median(prior_seconds), "posterior_seconds": statistics.median(posterior_seconds),
        "least": min(prior_seconds) + min(posterior_seconds), "most": max(prior_seconds) + max(posterior_seconds),
        "sum_of_p": float(links.sum()),
    }))


if __name__ == "__main__":
    main()
