"""A step of DP-SGD of kernels/dp-sgd beside Opacus, on one network and one batch.

    python3 -m venv venv && venv/bin/pip install torch opacus
    venv/bin/python docs/benchmarks/dp_sgd.py

Sizes are those of Cora and of Coauthor CS; rows have as many random words as theirs. Opacus reads dense rows, and is given
two threads; both take the same expected batch, clip each gradient to 1, add noise and take a step of Adam.
"""

import statistics
import subprocess
import time

import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer

# nodes, features, entries of a row, hidden units, classes, rate
SIZES = {"Cora": (2031, 1433, 18, 32, 7), "Coauthor CS": (13750, 6805, 59, 32, 15)}
BATCHES = (64, 512)
RUNS = 5


def ours(size, rate, steps):
    command = ["cargo", "run", "--release", "--quiet", "-p", "veilgraph-dp-sgd", "--example", "steps"]
    words = [str(number) for number in (*size, rate, steps)]
    return float(subprocess.run(command + words, capture_output=True, text=True, check=True).stdout)


def opacus(size, batch, steps):
    nodes, features, entries, hidden, classes = size
    torch.manual_seed(0)
    rows = torch.zeros(nodes, features)
    rows.scatter_(1, torch.randint(features, (nodes, entries)), 1.0)
    labels = torch.arange(nodes) % classes
    network = torch.nn.Sequential(torch.nn.Linear(features, hidden), torch.nn.SELU(), torch.nn.Linear(hidden, classes))
    network = GradSampleModule(network)
    optimizer = DPOptimizer(torch.optim.Adam(network.parameters(), lr=1e-3), noise_multiplier=1.0, max_grad_norm=1.0,
                            expected_batch_size=batch)
    loss = torch.nn.CrossEntropyLoss()

    def step():
        chosen = torch.rand(nodes) < batch / nodes
        optimizer.zero_grad()
        loss(network(rows[chosen]), labels[chosen]).backward()
        optimizer.step()

    step()
    start = time.perf_counter()
    for _ in range(steps):
        step()
    return 1e3 * (time.perf_counter() - start) / steps


def main():
    torch.set_num_threads(2)
    print("| graph | batch | ours, ms: median (least to most) | Opacus, ms: median (least to most) | times |")
    print("|---|---:|---:|---:|---:|")
    for graph, size in SIZES.items():
        for batch in BATCHES:
            mine = [ours(size, batch / size[0], 300) for _ in range(RUNS)]
            other = [opacus(size, batch, 10) for _ in range(RUNS)]
            text = [f"{statistics.median(some):.2f} ({min(some):.2f} to {max(some):.2f})" for some in (mine, other)]
            print(f"| {graph} | {batch} | {text[0]} | {text[1]} | {statistics.median(other) / statistics.median(mine):.0f} |", flush=True)


if __name__ == "__main__":
    main()
