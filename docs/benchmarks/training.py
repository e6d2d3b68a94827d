#!/usr/bin/env python3
"""Seconds per model and epoch: `veilgraph` against PyTorch + PyTorch Geometric, on the same graph and machine.

    make bench DATA_DIR=DIR                          # runs this, with PyTorch where it is installed
    pip install torch torch_geometric pyarrow       # torch from PyPI runs on the CPU
    python3 docs/benchmarks/training.py --veilgraph target/release/veilgraph --data-dir DIR

The yardstick is the loop of the published code: one step, one evaluation, models one after the other on all
cores. Hard graphs use the sparse layers of PyTorch Geometric (normalised once), hybrid and soft graphs its
dense ones, as the published code does. It runs for a few epochs and is scaled; ours runs its whole grid.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import pyarrow.parquet as pq
    import torch
    import torch.nn.functional as F
    from torch_geometric.nn import DenseGCNConv, DenseGraphConv, GATConv, GCNConv, SAGEConv
except ImportError:
    torch = None

RATES, DECAYS, DROPOUTS = [0.1, 0.01, 0.001], [1e-3, 1e-4, 1e-5, 0.0], [0.1, 0.01, 0.001, 0.0]
HIDDEN = 16
#: Only the networks on the graph are timed, over the estimate that is quickly made.
PINNED = {"estimate.method": "published", "references": []}


def veilgraph(options, store, sets):
    """Runs the stages; seconds of every train task, and where its inputs lie."""
    command = [options.veilgraph, "--store", store, "run", "configs/cora.toml", "--device", options.device]
    # Several trainings would wait for one GPU, and count their waiting.
    command += ["--jobs", "1"] if options.device != "cpu" else []
    command += ["--data-dir", options.data_dir] if options.data_dir else []
    command += [part for name, value in sets.items() for part in ("--set", f"{name}={json.dumps(value)}")]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    runs = pathlib.Path(store) / "simulation/runs/cora"
    records = [json.loads(line) for line in (runs / "log.jsonl").read_text().splitlines()]
    return [task["seconds"] for record in records for task in record["ran"] if task["stage"] == "train"], runs


def repeated(options, sets, then=lambda runs: None):
    """Seconds of several trainings, and what `then` makes of the last run.

    On the processor each has a process and an empty store of its own. On a GPU all are trials of one process, each on a
    release of its own, and the first one, which waits until the kernels are compiled, is left out.
    """
    sets = {"train.epochs": options.epochs, "train.search": "full"} | sets
    on_gpu = options.device != "cpu"
    took = []
    for repetition in range(1 if on_gpu else options.repeat):
        with tempfile.TemporaryDirectory() as store:
            seconds, runs = veilgraph(options, store, sets | ({"trials": options.repeat + 1} if on_gpu else {}))
            took += seconds[1:] if on_gpu else seconds
            result = then(runs) if len(took) == options.repeat else None
    assert len(took) == options.repeat, f"{len(took)} trainings in place of {options.repeat}: {took}"
    return took, result


def spread(took):
    return f"{statistics.median(took):.2f} ({min(took):.2f} to {max(took):.2f})"


def column(runs, stage, artifact, *names):
    files = sorted((runs / stage).glob(f"*/{artifact}.parquet"))
    table = pq.read_table(files[0], columns=list(names))
    columns = [torch.from_numpy(table[name].to_numpy().copy()) for name in names]
    return [values.float() if values.is_floating_point() else values.long() for values in columns]


def dense_gat(inputs, outputs):
    """Attention over all pairs with the weight entering twice, as the published code computes it."""

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(inputs, outputs, bias=False)
            self.source, self.target = (torch.nn.Linear(outputs, 1, bias=False) for _ in range(2))
            self.bias = torch.nn.Parameter(torch.zeros(outputs))

        def forward(self, x, weights):
            h = self.linear(x)
            terms = weights * torch.exp(F.leaky_relu(self.source(h) + self.target(h).T, 0.2))
            return (weights * terms / terms.sum(0)).T @ h + self.bias

    return Layer()


def network(model, dense, inputs, classes):
    kinds = {
        ("gcn", False): lambda i, o: GCNConv(i, o, cached=True),
        ("graphsage", False): lambda i, o: SAGEConv(i, o),
        ("gat", False): lambda i, o: GATConv(i, o),
        ("gcn", True): lambda i, o: DenseGCNConv(i, o),
        ("graphsage", True): lambda i, o: DenseGraphConv(i, o, aggr="mean"),
        ("gat", True): dense_gat,
    }
    layer = kinds[model, dense]
    return torch.nn.ModuleList([layer(inputs, HIDDEN), layer(HIDDEN, classes)])


def pytorch(runs, epsilon, variant, model, epochs, device):
    """Seconds per epoch of each of `epochs` epochs on this device of PyTorch's."""
    node, feature, value = column(runs, "ingest", "features", "node", "feature", "value")
    (split,) = column(runs, "ingest", "nodes", "split")
    labelled, label = column(runs, "ingest", "labels", "node", "class")
    n = len(split)
    x = torch.zeros(n, int(feature.max()) + 1)
    x[node.long(), feature.long()] = value
    classes = torch.zeros(n, dtype=torch.long)
    classes[labelled.long()] = label.long()
    train, validation = split == 0, split == 1
    dense = variant != "hard"
    if variant == "soft":
        (beta,) = column(runs, "estimate", "link_model", "beta")
        i, j, claims = column(runs, "estimate", "link_evidence", "i", "j", "claims")
        epsilon_links = 0.9 * epsilon  # degree_fraction of the config
        evidence = torch.zeros(n, n)
        evidence[i.long(), j.long()] = evidence[j.long(), i.long()] = claims.float()
        graph = torch.sigmoid(beta[:, None] + beta + 2 * (evidence - 1) * epsilon_links).float().fill_diagonal_(0)
    else:
        source, target, weight = column(runs, "construct", "graph", "source", "target", "weight")
        source, target = torch.cat([source, target]).long(), torch.cat([target, source]).long()
        graph = torch.stack([source, target])
        if dense:
            graph = torch.zeros(n, n)
            graph[source, target] = torch.cat([weight, weight])
    layers = network(model, dense, x.shape[1], int(classes.max()) + 1).to(device)
    x, graph, classes, train, validation = [tensor.to(device) for tensor in (x, graph, classes, train, validation)]

    def forward():
        hidden = F.dropout(layers[0](x, graph).squeeze(0).relu(), 0.1, layers.training)
        return layers[1](hidden, graph).squeeze(0)

    optimizer = torch.optim.Adam(layers.parameters(), lr=0.01, weight_decay=1e-3)
    took = []
    for _ in range(epochs + 2):
        start = time.perf_counter()
        layers.train()
        optimizer.zero_grad()
        F.cross_entropy(forward()[train], classes[train]).backward()
        optimizer.step()
        layers.eval()
        with torch.no_grad():
            logits = forward()
            float(F.cross_entropy(logits[validation], classes[validation]))
            float((logits.argmax(1) == classes).float().mean())
        took.append(time.perf_counter() - start)
    return took[2:]


GRID = {"train.learning_rate": RATES, "train.weight_decay": DECAYS, "train.dropout": DROPOUTS}


def per_epoch(options):
    return "ms per model and epoch" + (", all cores" if options.device == "cpu" else "")


def against_pytorch(options):
    print(f"| dataset | graph | model | grid of 48, s: median (least to most) | {per_epoch(options)} | PyTorch ms | times |")
    print("|---|---|---|---:|---:|---:|---:|")
    for dataset in options.datasets:
        for variant in options.variants:
            for model in options.models:
                if (variant, model) == ("soft", "gat") and not options.all_pairs:
                    continue

                def yardstick(runs):
                    if torch is None:
                        return None
                    few = 30 if variant == "hard" or options.device != "cpu" else 5
                    return statistics.median(pytorch(runs, options.epsilon, variant, model, few, options.device))

                sets = {"ingest.dataset": dataset, "privatize.links.epsilon": options.epsilon} | PINNED
                sets |= {"construct.variant": variant, "train.model": model} | GRID
                took, theirs = repeated(options, sets, yardstick)
                ours = statistics.median(took) / 48 / options.epochs
                beside = f"{1e3 * theirs:.1f} | {theirs / ours:.0f}" if theirs else "- | -"
                print(f"| {dataset} | {variant} | {model} | {spread(took)} | {1e3 * ours:.3f} | {beside} |", flush=True)


def growth(options):
    print(f"\n| hard GCN on a synthetic graph | s: median (least to most) | {per_epoch(options)} |")
    print("|---|---:|---:|")
    synthetic = {"ingest.dataset": "synthetic", "privatize.links.epsilon": 8.0, "construct.variant": "hard"} | PINNED
    settings = [0.1 / 2**step for step in range(64)]
    cases = [(f"{models} models", models, {}) for models in (1, 2, 8, 32)]
    cases += [(f"{nodes} nodes", 8, {"nodes": nodes}) for nodes in (2000, 8000, 32000)]
    cases += [(f"mean degree {degree}", 8, {"mean_degree": degree}) for degree in (4, 16, 64)]
    for name, models, shape in cases:
        sets = synthetic | {f"ingest.synthetic.{key}": value for key, value in shape.items()}
        took, _ = repeated(options, sets | {"train.learning_rate": settings[:models]})
        each = statistics.median(took) / models / options.epochs
        print(f"| {name} | {spread(took)} | {1e3 * each:.3f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--veilgraph", required=True)
    parser.add_argument("--data-dir", help="without it, only the synthetic graphs")
    parser.add_argument("--datasets", nargs="*", default=["cora"])
    parser.add_argument("--models", nargs="*", default=["gcn", "graphsage", "gat"])
    parser.add_argument("--variants", nargs="*", default=["hard", "hybrid", "soft"])
    parser.add_argument("--all-pairs", action="store_true", help="GAT on soft graphs too (an hour on two cores)")
    parser.add_argument("--epsilon", type=float, default=4.0)
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--device", default="cpu", help="cpu or cuda, for our program and for PyTorch")
    options = parser.parse_args()
    if torch is None:
        print("torch, torch_geometric or pyarrow is not installed: no yardstick\n")
    else:
        where = f"{torch.get_num_threads()} threads" if options.device == "cpu" else torch.cuda.get_device_name()
        print(f"{where}, torch {torch.__version__}\n")
    if options.data_dir:
        against_pytorch(options)
    growth(options)


if __name__ == "__main__":
    main()
