#!/usr/bin/env python3
"""Times the first build, and the first `make test` after it: build.md.

usage: build.py [--target FOLDER] [--crates N] [--tests [--data-dir DIR]] > table.md

Builds the program as `make build` does, in a target folder of its own that must not exist yet, and prints wall and processor
time, the number of crates, the size of the folder, and the crates that took longest. With --tests it then compiles all tests and
runs them with `make test`; tests on real graphs need --data-dir. Crates are downloaded first
(`cargo fetch --locked`), so that the network is not timed. Nothing else should run beside it. Only the standard library is needed.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import time


def timed(command, target):
    """Wall and processor seconds of a command with this target folder. What it prints is shown where it fails."""
    # A `make` around this program hands down its options and variables, and one of them may be another target folder.
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES")}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, env=environment | {"CARGO_TARGET_DIR": str(target)}, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}\n{' '.join(command)} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - start, processor


def crates(target):
    """Seconds of every crate, its build script included, from the report that cargo writes."""
    text = (target / "cargo-timings/cargo-timing.html").read_text()
    units = json.loads(re.search(r"const UNIT_DATA = (\[.*?\]);", text, re.S).group(1))
    seconds = collections.Counter()
    for unit in units:
        seconds[f"{unit['name']} {unit['version']}"] += unit["duration"]
    return seconds


def size(target):
    """GB of the folder; a file with two names counts once."""
    files = {(entry.stat().st_dev, entry.stat().st_ino): entry.stat().st_blocks * 512
             for entry in target.rglob("*") if entry.is_file() and not entry.is_symlink()}
    return sum(files.values()) / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", type=pathlib.Path)
    parser.add_argument("--crates", type=int, default=25)
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--data-dir")
    options = parser.parse_args()
    if options.target and options.target.exists():
        raise SystemExit(f"{options.target} exists; name a folder that does not, so that nothing is built already")
    subprocess.run(["cargo", "fetch", "--locked"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        target = options.target or pathlib.Path(folder, "target")
        wall, processor = timed(["cargo", "build", "--release", "--locked", "--timings", "--quiet"], target)
        seconds = crates(target)
        print("| what | found | goal |\n|---|---:|---:|")
        print(f"| first build, minutes of processor time | {processor / 60:.1f} | 15 |")
        print(f"| first build, minutes on {os.cpu_count()} processors | {wall / 60:.1f} | 8 on 2 |")
        print(f"| crates that are compiled, as cargo counts them | {len(seconds)} | |")
        print(f"| target folder, GB | {size(target):.2f} | 1 |")
        print("\n| crate | seconds |\n|---|---:|")
        for name, took in seconds.most_common(options.crates):
            print(f"| {name} | {took:.1f} |", flush=True)
        if options.tests:
            compiling = timed(["cargo", "test", "--release", "--locked", "--workspace", "--no-run", "--quiet"], target)
            data = [f"DATA_DIR={pathlib.Path(options.data_dir).resolve()}"] if options.data_dir else []
            running = timed(["make", "test", *data], target)
            wall, processor = (sum(part) / 60 for part in zip(compiling, running))
            print("\n| what | found | goal |\n|---|---:|---:|")
            print(f"| `make test` after it, minutes on {os.cpu_count()} processors | {wall:.1f} | 4 on 2 |")
            print(f"| the same, minutes of processor time | {processor:.1f} | |")
            print(f"| of these compiling, but for examples in documentation | {compiling[1] / 60:.1f} | |")


if __name__ == "__main__":
    main()
