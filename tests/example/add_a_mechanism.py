#!/usr/bin/env python3
"""Follows docs/add-a-mechanism.md on a copy of the repository: writes its files and lines, compiles, tests and runs.

    tests/example/add_a_mechanism.py [--target target]

The copy keeps the times of files and begins with a copy of the compiled packages, so that only what the page changes is
compiled again.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```(\w+) ([^\n]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def copied(folder):
    """A copy of the files that git knows or would take, with their times."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.splitlines()
    for name in listed:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def followed(folder):
    """Does what the page says; the number of new files below stages/ and pipeline/, and of lines."""
    files, lines = 0, 0
    for _, words, text in BLOCK.findall((ROOT / "docs/add-a-mechanism.md").read_text()):
        said = dict(word.split("=", 1) for word in shlex.split(words))
        if "file" in said:
            path = folder / said["file"]
            assert not path.exists(), f"{path} exists already"
            path.write_text(text)
            files += path.suffix == ".rs"
        elif "line-in" in said:
            path, after = folder / said["line-in"], said["after"]
            before = path.read_text()
            assert before.count(f"\n{after}\n") == 1, f"`{after}` is not one line of {path}"
            assert text.count("\n") == 1, "one line"
            path.write_text(before.replace(f"\n{after}\n", f"\n{after}\n{text}"))
            lines += 1
    return files, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default=os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target")))
    target = Path(parser.parse_args().target) / "release"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "veilgraph"
        copied(folder)
        files, lines = followed(folder)
        if (files, lines) != (2, 2):
            sys.exit(f"the page writes {files} files and {lines} lines, not two of each")
        compiled = folder / "target/release"
        for name in [".fingerprint", "build", "deps"]:
            if (target / name).exists():
                shutil.copytree(target / name, compiled / name, symlinks=True)
        environment = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target")}

        def run(*command):
            print("+", " ".join(command), file=sys.stderr, flush=True)
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
            return done.stdout

        run("cargo", "build", "--release", "--locked")
        tested = run("cargo", "test", "--release", "--locked", "-p", "veilgraph-privatize", "even_rr")
        assert "test links::even_rr::tests::it_costs_what_the_ledger_says ... ok" in tested, tested
        program = str(compiled / "veilgraph")
        table = run(program, "--quiet", "run", "even.toml")
        assert "even-rr" in table and "accuracy %" in table, table
        ledger = run(program, "ledger")
        assert ledger.count("randomized response") == 8, ledger
        refused = subprocess.run([program, "run", "even.toml", "--set", "privatize.links.mechanism=even-rr", "--set",
                                  "privatize.links.triangle=strict"], cwd=folder, capture_output=True, text=True)
        assert refused.returncode == 2 and "symrr" in refused.stderr, refused.stderr
    print("docs/add-a-mechanism.md: two new files and two lines; compiled, tested and run")


if __name__ == "__main__":
    main()
