"""Noise multipliers of kernels/accountant beside those of dp-accounting (Google) and Opacus (Meta).

    python3 -m venv venv && venv/bin/pip install dp-accounting==0.6.0 opacus==1.6.0 --no-deps && venv/bin/pip install \
        numpy scipy attrs absl-py mpmath
    venv/bin/python docs/benchmarks/accountant.py

Opacus is read for its accountant alone: the file is loaded by its path, so that no PyTorch is needed.
"""

import importlib.util
import random
import statistics
import subprocess
import time

import dp_accounting as dp
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import RdpAccountant

SETTINGS = 50
SEED = 18


def settings():
    words = random.Random(SEED)
    for _ in range(SETTINGS):
        rate = 10 ** words.uniform(-3, -0.3)
        steps = int(10 ** words.uniform(1.5, 3.7))
        dp_delta = 10 ** words.uniform(-7, -3)
        yield rate, steps, 2 ** words.uniform(-1, 4), dp_delta


def ours(all_settings):
    lines = "\n".join(" ".join(map(repr, one)) for one in all_settings)
    command = ["cargo", "run", "--release", "--quiet", "-p", "veilgraph-accountant", "--example", "noise"]
    subprocess.run(command, input="", text=True, check=True)  # builds it
    start = time.perf_counter()
    out = subprocess.run(command, input=lines, text=True, capture_output=True, check=True).stdout
    return [tuple(map(float, line.split())) for line in out.splitlines()], (time.perf_counter() - start) / len(all_settings)


def event(rate, steps, noise):
    return dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(rate, dp.GaussianDpEvent(noise)), steps)


def bisection(epsilon_of, epsilon):
    low, high = 1e-2, 1e4
    while high / low > 1.0001:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if epsilon_of(middle) <= epsilon else (middle, high)
    return high


def google(kind):
    def noise(rate, steps, epsilon, dp_delta):
        return bisection(lambda noise: kind().compose(event(rate, steps, noise)).get_epsilon(dp_delta), epsilon)
    return noise


def opacus():
    spec = importlib.util.find_spec("opacus")
    path = spec.submodule_search_locations[0] + "/accountants/analysis/rdp.py"
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location("opacus_rdp", path))
    module.__spec__.loader.exec_module(module)
    orders = [1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))

    def noise(rate, steps, epsilon, dp_delta):
        def epsilon_of(noise):
            rdp = module.compute_rdp(q=rate, noise_multiplier=noise, steps=steps, orders=orders)
            return module.get_privacy_spent(orders=orders, rdp=rdp, delta=dp_delta)[0]
        return bisection(epsilon_of, epsilon)
    return noise


def main():
    all_settings = list(settings())
    found, seconds = ours(all_settings)
    print(f"{SETTINGS} settings, seed {SEED}: rates from .001 to .5, 30 to 5,000 steps, epsilon from .5 to 16, dp_delta from 1e-7 to 1e-3\n")
    print("| ours | beside | median of ours / theirs | smallest | largest | seconds each |")
    print("|---|---|---:|---:|---:|---:|")
    for name, noise in [("dp-accounting, RDP", google(RdpAccountant)), ("Opacus, RDP", opacus())]:
        start = time.perf_counter()
        ratios = [mine / noise(*one) for (_, mine), one in zip(found, all_settings)]
        report("noise by Rényi divergences", name, ratios, (time.perf_counter() - start) / len(all_settings))
    # What theirs costs at our noise: its epsilon over the budget. A bisection would take minutes a setting.
    start = time.perf_counter()
    ratios = []
    for (mine, _), (rate, steps, epsilon, dp_delta) in zip(found, all_settings):
        losses = privacy_loss_distribution.from_gaussian_mechanism(
            mine, sampling_prob=rate, value_discretization_interval=1e-4, use_connect_dots=True)
        ratios.append(epsilon / losses.self_compose(steps).get_epsilon_for_delta(dp_delta))
    report("budget that our noise keeps", "dp-accounting, loss distribution: epsilon at our noise", ratios, (time.perf_counter() - start) / len(ratios))
    saved = [mine / by_divergences for mine, by_divergences in found]
    report("noise by the loss distribution", "ours by Rényi divergences", saved, None)
    print(f"\nBoth of ours took {seconds:.3f} s each, the program's start included.")


def report(ours_by, name, ratios, seconds):
    took = "" if seconds is None else f"{seconds:.2f}"
    print(f"| {ours_by} | {name} | {statistics.median(ratios):.4f} | {min(ratios):.4f} | {max(ratios):.4f} | {took} |", flush=True)


if __name__ == "__main__":
    main()
