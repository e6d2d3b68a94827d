#!/usr/bin/env python3
"""Times the way from a wheel to a first report on one's own files: first-report.md.

usage: first_report.py --wheel FILE [--at-most SECONDS]

Makes a new virtual environment in a folder that is removed afterwards, installs the wheel into it, and calls `init`, `run`
and `report` on three small files, as the README does. Prints the seconds of each step. What the wheel depends on is
downloaded before the clock starts, so that the network is not timed. With --at-most the exit status is 1 where all steps
together take longer. Only the standard library is needed.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import venv

KINDS = ("baker", "miner", "nurse")
PEOPLE = 90


def own_files(folder):
    """People of three kinds, who know mostly people of their own kind."""
    links = [f"p{person},p{(person + step) % PEOPLE}" for person in range(PEOPLE) for step in (3, 6, 9)]
    words = [[int(at == person % 3 or (person // 3 + at) % 4 == 0) for at in range(3)] for person in range(PEOPLE)]
    features = [f"p{person}," + ",".join(map(str, row)) for person, row in enumerate(words)]
    labels = [f"p{person},{KINDS[person % 3]}" for person in range(PEOPLE)]
    texts = {
        "edges.csv": ["source,target", *links],
        "features.csv": ["node,a,b,c", *features],
        "labels.csv": ["node,label", *labels],
    }
    for name, lines in texts.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return list(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=pathlib.Path, required=True)
    parser.add_argument("--at-most", type=float, help="seconds that all steps together may take")
    options = parser.parse_args()
    wheel = options.wheel.resolve()
    if not wheel.is_file():
        raise SystemExit(f"{wheel}: there is no such file; make one: pip wheel . --no-deps --wheel-dir target/wheel")
    # No store, data or program of whoever measures, and no module from the current folder.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("VEILGRAPH", "PYTHON"))}
    environment.pop("DATA_DIR", None)
    environment.pop("PUBLISHED", None)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        needed = folder / "needed"
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", needed, wheel]
        subprocess.run(download, check=True, env=environment, cwd=folder)
        files = own_files(folder)
        programs = folder / "python" / "bin"
        install = [programs / "pip", "install", "--quiet", "--no-index", "--find-links", needed, wheel]
        veilgraph = programs / "veilgraph"
        steps = {
            "virtual environment": lambda: venv.create(folder / "python", with_pip=True),
            "`pip install`": install,
            "`veilgraph init`": [veilgraph, "--quiet", "init", *files, "--to", "mygraph.toml"],
            "`veilgraph run`": [veilgraph, "--quiet", "run", "mygraph.toml"],
            "`veilgraph report`": [veilgraph, "--quiet", "report", "mygraph.toml"],
        }
        total = 0.0
        print("| step | seconds |\n|---|---:|")
        for step, action in steps.items():
            start = time.monotonic()
            if callable(action):
                action()
            else:
                subprocess.run(action, check=True, env=environment, cwd=folder, stdout=subprocess.DEVNULL)
            seconds = time.monotonic() - start
            total += seconds
            print(f"| {step} | {seconds:.1f} |", flush=True)
        print(f"| all | {total:.1f} |")
        page = folder / "artifacts" / "auditor" / "reports" / "mygraph.html"
        if "<svg" not in page.read_text(encoding="utf-8"):
            raise SystemExit(f"{page}: the page has no figure")
    if options.at_most is not None and total > options.at_most:
        raise SystemExit(f"all steps took {total:.1f} s, and at most {options.at_most:.1f} were asked for")


if __name__ == "__main__":
    main()
