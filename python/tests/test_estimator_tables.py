"""Tables of docs/benchmarks/estimators.py from scores whose means and intervals are worked out by hand."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Scores = Iterable[dict[str, Any]]

SCRIPT = Path(__file__).parents[2] / "docs" / "benchmarks" / "estimators.py"


@pytest.fixture
def printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str, Scores], str]:
    """Return a function that prints the table of this name from these scores."""
    spec = importlib.util.spec_from_file_location("estimators", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    def print_table(name: str, scores: Scores) -> str:
        folder = tmp_path / "auditor" / "runs" / "mine"
        folder.mkdir(parents=True, exist_ok=True)
        pl.DataFrame([{"dataset": "g", **score} for score in scores]).write_parquet(folder / "scores.parquet")
        script.TABLES[name](argparse.Namespace(store=tmp_path, name="mine"))
        return capsys.readouterr().out

    return print_table


def scores(alternative: str, epsilon: float, metric: str, values: Iterable[float], **more: object) -> Scores:
    """Return the scores of one cell, one for each trial."""
    cell = {"alternative": alternative, "epsilon": float(epsilon), "metric": metric, **more}
    return [{**cell, "trial": trial, "value": float(value)} for trial, value in enumerate(values)]


def test_cells_in_which_best_is_not_better_are_named(printed: Callable[[str, Scores], str]) -> None:
    better: list[tuple[str, list[float], list[float]]] = [
        ("average_precision", [0.125, 0.375], [0.25, 0.75]),
        ("log_loss_per_link", [2, 4], [1, 2]),
        ("mae", [0.25, 0.25], [0.125, 0.125]),
        ("calibration_error", [0.5, 0.5], [0.25, 0.25]),
        ("expected_calibration_error", [0.0002, 0.0002], [0.0001, 0.0001]),
    ]
    rows = [
        row
        for epsilon in (8, 1)
        for metric, published, best in better
        for name, values in (("published", published), ("best", best))
        for row in scores(name, epsilon, metric, values)
    ]
    # At 1 nat the ratio of `best` is nearer to 1 although it is larger, and at 8 nats it is as far off.
    ratio = "expected_link_ratio"
    rows += [*scores("published", 1, ratio, [0.5, 0.5]), *scores("best", 1, ratio, [1.25, 1.25])]
    rows += [*scores("published", 8, ratio, [1.25, 1.25]), *scores("best", 8, ratio, [0.75, 0.75])]
    text = printed("large", rows)
    # With one degree of freedom, half the interval of two values is 12.706 times half of what they differ by.
    cells = (
        "0.2500 ± 1.5882 → 0.5000 ± 3.1765 | 3 ± 12.7 → 1.5 ± 6.35 | 2.50e-01 ± 0.00e+00 → 1.25e-01 ± 0.00e+00"
        " | 0.5 ± 0 → 0.25 ± 0 | 2.00 ± 0.00 → 1.00 ± 0.00"
    )
    ratios = ["0.500 ± 0.000 → 1.250 ± 0.000", "1.250 ± 0.000 → 0.750 ± 0.000"]
    assert f"| 1 | {cells} | {ratios[0]} |\n| 8 | {cells} | {ratios[1]} |" in text
    assert "means of 2 trials ± half the 95 % interval" in text
    where = f"expected links per true link at ε = 8 ({ratios[1]})"
    assert f"`best` is not better than `published` in 1 of the 12 cells of g: {where}.\n" in text
    at_one = printed("large", [row for row in rows if row["epsilon"] == 1 and row["trial"] == 0])
    assert "one trial" in at_one
    one = "0.1250 → 0.2500 | 2 → 1 | 2.50e-01 → 1.25e-01 | 0.5 → 0.25 | 2.00 → 1.00 | 0.500 → 1.250"
    assert f"| 1 | {one} |\n" in at_one
    assert "`best` is better than `published` in all 6 cells of g.\n" in at_one


def test_a_step_is_paired_by_trial_and_named_where_it_loses(printed: Callable[[str, Scores], str]) -> None:
    trials = [0.5, 0.6, 0.7]

    def step(metric: str, name: str, changes: Iterable[float]) -> Scores:
        after = [value + change for value, change in zip(trials, changes, strict=True)]
        return [*scores(name, 2, metric, after), *scores(name, 1.5, metric, trials)]

    rows = [
        *step("average_precision", "best", [0.1, 0.1, 0.1]),
        *step("accuracy", "beliefs", [0.01, 0, -0.01]),
        *step("accuracy", "best", [-0.02, -0.03, -0.04]),
    ]
    text = printed("monotone", rows)
    # 4.303 · 1 / √3 = 2.48 with two degrees of freedom; unpaired differences would have a width of 20 points.
    assert "| g | 1.5 → 2 | +0.100 ± 0.000 | +0.0 ± 2.5 | -3.0 ± 2.5 |\n" in text.replace("-0.0 ±", "+0.0 ±")
    found = "accuracy of `best`, points from 1.5 → 2 on g (-3.0 ± 2.5)"
    assert f"Differences whose whole interval lies below 0, of 3 over 3 trials: {found}. " in text
    one = printed("monotone", [row for row in rows if row["trial"] == 0])
    assert "| g | 1.5 → 2 | +0.100 | +1.0 | -2.0 |\n" in one
    assert "One trial has no interval" in one


def test_a_split_counts_once_and_is_paired_with_its_own_floor(printed: Callable[[str, Scores], str]) -> None:
    rows: list[dict[str, Any]] = []
    for seed, floor, best in ((0, [0.8, 0.8], [0.9, 0.8]), (1, [0.7, 0.7], [0.8, 0.7])):
        for name, epsilon, values in (("features-only", 0, floor), ("best", 4, best)):
            split = {"ingest.split.seed": str(seed)}
            rows += scores(name, epsilon, "accuracy", values, **split)
            rows += scores(name, epsilon, "test_nodes", [100, 100], **split)
    lines = printed("splits", rows).splitlines()
    # Splits: 12.706 · 7.07 / √2 = 63.5 with one degree of freedom. Test nodes: 1.96 √(0.75 · 0.25 / 100) = 8.5 %.
    assert lines[2] == "| g | features-only | 0 | 2 | 75.0 ± 63.5 |  | 100 | 8.5 |"
    assert lines[3] == "| g | best | 4 | 2 | 80.0 ± 63.5 | +5.0 ± 0.0 | 100 | 7.8 |"


def test_validation_chooses_the_network_and_both_floors_are_paired(printed: Callable[[str, Scores], str]) -> None:
    none: dict[str, object] = {"train.blend": None, "construct.similarity": None}
    by_score: dict[str, object] = {"train.blend": "true", "construct.similarity": "score"}
    cells: list[tuple[str, float, str, dict[str, object], float, list[float]]] = [
        ("features-only", 0, "beliefs", none, 1.0, [0.5, 0.7]),
        ("similar-blended", 0, "gcn", by_score, 0.8, [0.6, 0.6]),
        ("similar-blended", 0, "gcn", {**by_score, "construct.similarity": "cosine"}, 0.9, [0.9, 0.9]),
        ("best", 1, "gcn", {**none, "train.blend": "true"}, 0.6, [0.75, 0.75]),
        ("best", 1, "gcn", {**none, "train.blend": "false"}, 0.7, [0.9, 0.9]),
        ("best", 1, "graphsage", {**none, "train.blend": "true"}, 0.7, [0.9, 0.9]),
    ]
    rows = [
        row
        for name, epsilon, model, choice, loss, accuracies in cells
        for metric, values in (("validation_loss", [loss, loss]), ("accuracy", accuracies))
        for row in scores(name, epsilon, metric, values, model=model, **choice)
    ]
    lines = printed("accuracy", rows).splitlines()
    # Differences of 25 and 5 points, and of -10 and 10: 12.706 · 10 = 127.1 with one degree of freedom.
    assert lines[2] == "| g | features-only | 0 | 60.0 ± 127.1 |  | +0.0 ± 127.1 | beliefs |"
    assert lines[3] == "| g | similar-blended | 0 | 60.0 ± 0.0 | +0.0 ± 127.1 |  | gcn by score, blended |"
    assert lines[4] == "| g | best | 1 | 75.0 ± 0.0 | +15.0 ± 127.1 | +15.0 ± 0.0 | gcn, blended |"
    assert len(lines) == 5


@pytest.mark.parametrize(
    ("table", "experiment", "absent"),
    [
        ("links", "compare", "of g, 1.0, best"),
        ("accuracy", "compare-accuracy", "of g, features-only"),
        ("large", "compare-large", "of g, 1.0, best, average_precision"),
        ("monotone", "monotone", "of g, 1 → 2, best, average_precision"),
        ("splits", "splits", "of g, features-only"),
    ],
)
def test_missing_scores_are_one_line_with_the_remedy(tmp_path: Path, table: str, experiment: str, absent: str) -> None:
    command = [sys.executable, str(SCRIPT), table, "--store", str(tmp_path), "--name", "mine"]
    remedy = f"run configs/{experiment}.toml as docs/benchmarks/estimators.md says"

    def error() -> str:
        done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.count("\n") == 1
        assert remedy in done.stderr
        return done.stderr

    assert f"{tmp_path} has no scores" in error()
    # There are scores of `published` alone, at two budgets.
    rows = [
        {**row, "dataset": "g", "estimate": "published", "model": "gcn", "ingest.split.seed": "0"}
        for metric in ("average_precision", "accuracy", "validation_loss")
        for epsilon in (1, 2)
        for row in scores("published", epsilon, metric, [0.5, 0.5])
    ]
    runs = tmp_path / "auditor" / "runs" / "mine"
    (runs / "evaluate" / "links").mkdir(parents=True)
    for file in (runs / "scores.parquet", runs / "evaluate" / "links" / "metrics.parquet"):
        pl.DataFrame(rows).write_parquet(file)
    assert absent in error()
