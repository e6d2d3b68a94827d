"""The table of time and memory that docs/benchmarks/speed.py prints, from a program that says how long it took."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "docs" / "benchmarks" / "speed.py"
TASKS = [
    ("similarity", "similarity", "all", 1),
    ("similarity", "class-beliefs", "trial-0", 2),
    ("estimate", "pair", "epsilon-1,trial-0", 3),
    ("estimate", "posterior-with-classes", "epsilon-1,trial-0", 4),
    ("estimate", "pair", "epsilon-2,trial-0", 5),
    ("estimate", "pair", "epsilon-4,trial-0", 6),
    ("evaluate", "links", "links,epsilon-4,trial-0", 100),
]


def test_tasks_of_one_budget_are_added_up(tmp_path: Path) -> None:
    names = ("stage", "function", "label", "seconds")
    said = json.dumps({"stages": [dict(zip(names, task, strict=True)) for task in TASKS]})
    program = tmp_path / "veilgraph"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\n")
    program.chmod(0o700)
    options = ["--estimators", "facebook", "--data-dir", str(tmp_path), "--veilgraph", str(program), "--repeat", "1"]
    script = [sys.executable, str(SCRIPT), *options]
    lines = subprocess.run(script, check=True, capture_output=True, text=True).stdout.splitlines()
    cells = [cell.strip() for cell in lines[2].strip("|").split("|")]
    assert cells[:8] == ["facebook", "22,470", "1.00", "2.00", "7.00", "5.00", "6.00", "10"]
    assert float(cells[8]) > 0
    assert cells[9] == "1,024"
    assert len(lines) == 3
