#!/usr/bin/env python3
"""What other machines cost and bring, measured on loopback, and what that foretells for many of them.

    make bench-dask                                  # everything, about ten minutes on two cores
    docs/benchmarks/scale.py measure --out measured.json
    docs/benchmarks/scale.py model measured.json     # the simulated cluster, in a moment
    docs/benchmarks/scale.py memory --nodes 10000000 --row-blocks 8   # what one graph asks of one machine

`measure` starts a scheduler, workers of one core each and an object storage (moto) on this machine. `model` is a
discrete-event simulation that is fed with what was measured.
"""

import argparse
import heapq
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/dask"))

#: Tiny networks: what is left of a task is what it costs beside itself.
TINY = """
name = "tiny"
references = []
trials = {trials}

[ingest]
dataset = "synthetic"

[ingest.synthetic]
nodes = 60

[privatize.links]
epsilon = 4.0

[estimate]
method = "published"

[construct]
variant = "hard"

[train]
epochs = 1

[evaluate]
metrics = ["accuracy"]
"""
#: Networks of more than a second each.
LONG = """
name = "long"
references = []
trials = {trials}

[ingest]
dataset = "synthetic"

[ingest.synthetic]
nodes = 2000

[privatize.links]
epsilon = 8.0

[estimate]
method = "published"

[construct]
variant = "hybrid"

[train]
epochs = 3000
"""


#: One graph, from ingest to a hybrid graph.
LARGE = """
name = "large"
references = []

[ingest.synthetic]
nodes = {nodes}
mean_degree = 15.0
classes = 10
features = 0

[privatize.links]
epsilon = 12.0
degree_fraction = {degree_fraction}
row_blocks = {row_blocks}

[estimate]
method = "published"

[construct]
variant = "hybrid"

[evaluate]
metrics = []
"""


def processor_seconds(process: int) -> float:
    """Processor time of a process and its threads so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Told:
    """One run: its wall time, the processor time of the program, and the seconds of its tasks."""

    def __init__(self, folder, config, trials, *words, env=None):
        from cluster import command, surroundings

        folder.mkdir(parents=True, exist_ok=True)
        path, answer = folder / "config.toml", folder / "answer.json"
        path.write_text(config.format(trials=trials))
        start = time.monotonic()
        with answer.open("w") as out, (folder / "log").open("w") as log:
            run = subprocess.Popen(command(folder / "store", "run", path, "--json", *words), stdout=out, stderr=log,
                                   env=env or surroundings())
            # Until it ends: its own processor time, without that of the Python process beside it.
            self.program = 0.0
            while run.poll() is None:
                self.program = max(self.program, processor_seconds(run.pid))
                time.sleep(0.02)
        self.wall = time.monotonic() - start
        if run.returncode:
            sys.exit((folder / "log").read_text()[-3000:])
        stages = json.loads(answer.read_text())["stages"]
        of_server = [stage for stage in stages if stage["stage"] in {"estimate", "construct", "train"}]
        self.seconds = [stage["seconds"] for stage in of_server if stage["status"] == "ran"]
        self.trainings = [stage["seconds"] for stage in of_server
                          if stage["stage"] == "train" and stage["status"] == "ran"]
        self.lost = "is gone" in (folder / "log").read_text()


def measure(arguments):
    from cluster import Cluster, ObjectStorage, surroundings

    found = {"cores": os.cpu_count()}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        here = Told(folder / "here", TINY, 250, "--jobs", "1", env=surroundings(RAYON_NUM_THREADS="1"))
        found["tiny task here (s)"] = statistics.median(here.seconds)
        with Cluster(folder / "one", workers=1) as cluster:
            # The first run loads the program into memory.
            Told(folder / "warm", TINY, 20, *cluster.arguments())
            before = processor_seconds(cluster.scheduler.pid)
            one = Told(folder / "one-run", TINY, 250, *cluster.arguments())
            tasks = len(one.seconds)
            found["scheduler per task (s)"] = (processor_seconds(cluster.scheduler.pid) - before) / tasks
            # All that the program does, its own tasks included: an upper bound of what one task costs it.
            found["program per task (s)"] = one.program / tasks
            # The whole wall time, start and the program's own tasks included.
            found["overhead per task (s)"] = (one.wall - sum(one.seconds)) / tasks
            long_one = Told(folder / "long-one", LONG, 30, *cluster.arguments())
        with Cluster(folder / "two", workers=2) as cluster:
            long_two = Told(folder / "long-two", LONG, 30, *cluster.arguments())
            found["training (s)"] = statistics.median(long_one.trainings)
            logarithms = [math.log(seconds) for seconds in long_one.trainings]
            found["spread of trainings (log)"] = statistics.stdev(logarithms)
            found["30 trainings, one worker (s)"] = long_one.wall
            found["30 trainings, two workers (s)"] = long_two.wall
            found["throughput of two workers"] = long_one.wall / long_two.wall
            many = Told(folder / "many", TINY, arguments.many // 4, *cluster.arguments())
            found["many: tasks"] = len(many.seconds)
            found["many: wall (s)"] = many.wall
            found["many: a worker was lost"] = many.lost
        storage = ObjectStorage(folder / "storage")
        env = surroundings(**storage.variables)
        with Cluster(folder / "remote", workers=1, env=env) as cluster:
            words = ["--cache", "s3://graphs/bench", "--simulation", "--worker-store", str(folder / "scratch"), *cluster.arguments()]
            remote = Told(folder / "remote-run", TINY, 100, *words, env=env)
            found["overhead per task, object storage (s)"] = (remote.wall - sum(remote.seconds)) / len(remote.seconds)
        storage.close()
    if arguments.out:
        Path(arguments.out).write_text(json.dumps(found, indent=1) + "\n")
    for name, value in found.items():
        print(f"| {name} | {value if isinstance(value, (bool, int)) else f'{value:.4f}'} |")


def memory(arguments):
    """Peak memory and time of each stage, a process each."""
    from cluster import command, surroundings

    print("| nodes | stage | s | peak MiB | on disk, MiB |\n|---:|---|---:|---:|---:|")
    for nodes in arguments.nodes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large.toml"
            settings = {"row_blocks": arguments.row_blocks, "degree_fraction": arguments.degree_fraction}
            path.write_text(LARGE.format(nodes=nodes, **settings))
            for stage in ("ingest", "privatize", "estimate", "construct"):
                start = time.monotonic()
                run = subprocess.Popen(command(Path(folder) / "store", "-q", "run", path, "--until", stage,
                                               "--jobs", str(arguments.jobs), "--memory-limit", arguments.memory_limit),
                                       env=surroundings(), stdout=subprocess.DEVNULL)
                _, status, used = os.wait4(run.pid, 0)
                if status:
                    sys.exit(f"{stage} failed")
                took = time.monotonic() - start
                on_disk = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file() and not file.is_symlink())
                print(f"| {nodes:,} | {stage} | {took:.0f} | {used.ru_maxrss / 1024:,.0f} | {on_disk / 2**20:,.0f} |", flush=True)


def simulate(workers, tasks, seconds, found, *, megabytes=0.0, bandwidth=125.0, generator=None):
    """Seconds until all tasks are done, and who was busy.

    A task waits for the program, for the scheduler, for the line to the storage (`bandwidth` in MB/s, an assumption; first
    come, first served) and for a worker. Workers neither die nor start late, and no task waits for another one.
    """
    generator = generator or random.Random(1)
    ordering = found["program per task (s)"]
    placing = found["scheduler per task (s)"]
    overhead = found["overhead per task, object storage (s)" if megabytes else "overhead per task (s)"]
    beside = max(0.0, overhead - placing - ordering)
    program = scheduler = line = 0.0
    free = [0.0] * workers
    heapq.heapify(free)
    end, busy = 0.0, 0.0
    for _ in range(tasks):
        program += ordering
        scheduler = max(scheduler, program) + placing
        begin = max(heapq.heappop(free), scheduler)
        line = max(line, begin) + megabytes / bandwidth
        length = seconds * generator.lognormvariate(0.0, found["spread of trainings (log)"])
        done = line + beside + length
        busy += length
        heapq.heappush(free, done)
        end = max(end, done)
    shares = {"the program": program / end, "the scheduler": tasks * placing / end,
              "the line": tasks * megabytes / bandwidth / end, "the workers": busy / (workers * end)}
    return end, max(shares, key=shares.get), shares


def model(arguments):
    found = json.loads(Path(arguments.measured).read_text())
    short = found["training (s)"]
    foretold = simulate(1, 1000, short, found)[0] / simulate(2, 1000, short, found)[0]
    print(f"Two workers: {foretold:.2f} times one in the model, {found['throughput of two workers']:.2f} measured.\n")
    cases = [
        ("trainings as measured", short, 0.0),
        ("the same, 2 MB each through one line of 1 Gbit/s", short, 2.0),
        ("trainings of 30 s, 2 MB each", 30.0, 2.0),
        ("trainings of 30 s, 100 MB each", 30.0, 100.0),
    ]
    print("| 10,000 tasks | " + " | ".join(f"{count} workers" for count in arguments.workers) + " |")
    print("|---|" + "---|" * len(arguments.workers))
    for name, seconds, megabytes in cases:
        alone, _, _ = simulate(1, 10_000, seconds, found, megabytes=megabytes)
        cells = []
        for count in arguments.workers:
            end, busiest, _ = simulate(count, 10_000, seconds, found, megabytes=megabytes)
            cells.append(f"{alone / end:.0f} times ({end / 60:.0f} min; {busiest})")
        print(f"| {name} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--out", help="file for the figures that `model` reads")
    measuring.add_argument("--many", type=int, default=10_000, help="tasks of the longest run")
    measuring.set_defaults(run=measure)
    modelling = commands.add_parser("model")
    modelling.add_argument("measured", help="file that `measure --out` wrote")
    modelling.add_argument("--workers", type=int, nargs="+", default=[1, 10, 30, 100, 300, 1000])
    modelling.set_defaults(run=model)
    remembering = commands.add_parser("memory")
    remembering.add_argument("--nodes", type=int, nargs="+", default=[1_000_000, 3_000_000])
    remembering.add_argument("--row-blocks", type=int, default=1, help="into how many tasks a graph is divided")
    remembering.add_argument("--degree-fraction", type=float, default=0.05, help="share of the budget for degrees")
    remembering.add_argument("--jobs", type=int, default=os.cpu_count(), help="tasks at a time")
    remembering.add_argument("--memory-limit", default="8GiB", help="what one artifact may take")
    remembering.set_defaults(run=memory)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
