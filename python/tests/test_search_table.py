"""The table of docs/benchmarks/search.py, from curves whose winners are worked out by hand."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

if TYPE_CHECKING:
    from types import ModuleType

    # The validation losses of each setting.
    Curves = dict[int, list[float]]

SCRIPT = Path(__file__).parents[2] / "docs" / "benchmarks" / "search.py"
NONE_LEFT = "no setting of the grid was trained to the end in every trial of the search; lower the learning rates"


@pytest.fixture
def script() -> ModuleType:
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("search", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def one_cell(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make one cell with one trial of a program that says what `said` writes into this folder."""
    program = tmp_path / "veilgraph"
    program.write_text(
        '#!/bin/sh\ncase "$*" in *racing*) search=racing ;; *halving*) search=halving ;; *) search=full ;; esac\n'
        f'cat "{tmp_path}/$search.json"; exit "$(cat "{tmp_path}/$search.status")"\n'
    )
    program.chmod(0o700)
    monkeypatch.setattr(script, "CELLS", [("hybrid", "gcn", [1], 1)])
    monkeypatch.setattr(sys, "argv", ["search.py", "--veilgraph", str(program)])
    return tmp_path


def said(folder: Path, search: str, curves: Curves, chosen: int | None) -> None:
    """Write what the program says of a search with these curves; without a choice, it fails."""
    rows = [(model, epoch, loss) for model, losses in curves.items() for epoch, loss in enumerate(losses)]
    curve = folder / f"{search}-curve.parquet"
    pl.DataFrame(rows, schema=["model", "epoch", "validation_loss"], orient="row").write_parquet(curve)
    choice: dict[str, Any] = {"function": "choose-setting", "error": NONE_LEFT, "outputs": {}}
    if chosen is not None:
        path = folder / f"{search}-setting.parquet"
        pl.DataFrame({"model": [chosen]}).write_parquet(path)
        choice = {"function": "choose-setting", "error": None, "outputs": {"chosen_setting": {"path": str(path)}}}
    grid = {"function": "search-grid", "trial": 0, "seconds": 2.0, "outputs": {"curve": {"path": str(curve)}}}
    (folder / f"{search}.json").write_text(json.dumps({"stages": [grid, choice]}))
    (folder / f"{search}.status").write_text("0" if chosen is not None else "1")


def test_halving_keeps_a_third_by_the_lowest_loss_so_far(script: ModuleType) -> None:
    trial = {setting: [1 + setting / 100] * 300 for setting in range(48)}
    # After 34 epochs 16 settings go on, those before setting 16. After 100 epochs six do, those before setting 6.
    trial[40] = [2.0] * 34 + [0.125] * 266
    trial[10] = [1.1] * 100 + [0.5] * 200
    trial[3] = [1.03] * 150 + [0.9] * 150
    assert script.successive_halving([trial]) == 3
    assert script.mean_loss([trial], 40, 34) == 2
    assert script.mean_loss([trial], 40) == 0.125
    # A setting that fails in one trial is not chosen; then no loss is lower than that of setting 0.
    failed = {setting: losses for setting, losses in trial.items() if setting != 3}
    assert script.successive_halving([trial, failed]) == 0


def test_each_rule_keeps_its_share_of_the_settings(script: ModuleType) -> None:
    first = {setting: [1 + setting / 100] for setting in range(48)}
    # Over two trials the mean of setting 20 is the lowest, then that of setting 14, then that of setting 10.
    second = {**first, 20: [0.0], 14: [0.2], 10: [0.4]}
    trials = [first, second]
    chosen = {name: script.halving_with(trials, kept) for name, kept in script.OTHER_RULES.items()}
    assert chosen == {
        "a first trial in full, then as the program": 10,
        "a first trial in full, then a half each time": 20,
        "a first trial in full, then a third each time": 14,
        "a first trial in full, then a quarter each time": 10,
    }
    # A trial of two settings is the last one: the third trial, in which setting 1 would win, is not asked.
    third = {**first, 1: [0.0]}
    assert script.halving_with([first, first, third], [2, 1]) == 0
    assert script.halving_with([{}, {}], script.PROGRAM_RULE) is None


def test_the_rule_of_the_program_keeps_12_6_3_and_2(script: ModuleType) -> None:
    flat = {setting: [1 + setting / 100] for setting in range(48)}
    # The last setting that goes on after a trial, and the first one that does not, win the next trial.
    for trial, kept in enumerate([12, 6, 3, 2], start=1):
        next_trial = {**flat, kept - 1: [-50.0], kept: [-99.0]}
        assert script.halving_with([flat] * trial + [next_trial], script.PROGRAM_RULE) == kept - 1


def test_a_race_drops_what_is_far_from_the_lowest_loss_and_no_longer_falls(script: ModuleType) -> None:
    first, *later = script.heats()
    assert (first, [len(heat) for heat in later]) == ([0, 32, 16, 8], [8, 16, 20])
    flat = {setting: [1.0] * 300 for setting in range(48)}
    # Settings 40 and 32 are equal, but the first heat is trained to the end. The loss of setting 7 falls fast enough,
    # and that of setting 9 falls after epoch 25 alone. Setting 12 is within the margin of 5 %.
    slow = [2.0 - 0.005 * epoch for epoch in range(300)]
    trial = {**flat, 32: [2.0] * 300, 40: [2.0] * 300, 7: slow, 9: [2.0] * 25 + [0.1] * 275, 12: [1.04] * 300}
    assert set(range(48)) - script.to_the_end(trial).keys() == {9, 40}
    # So halving chooses setting 7 where it races first, and else setting 9.
    assert script.halving_with([trial], [12], first_races=True) == 7
    assert script.halving_with([trial], [12]) == 9
    # Of losses near zero, 0.01 nats are the margin.
    low = {setting: [0.001] * 300 for setting in range(48)} | {40: [0.01] * 300, 41: [0.02] * 300}
    assert set(range(48)) - script.to_the_end(low).keys() == {41}
    assert script.to_the_end({}) == {}


@pytest.mark.parametrize(("search", "name"), [("racing", "the race"), ("halving", "halving")])
def test_another_choice_than_the_rule_says_is_an_error(
    script: ModuleType, one_cell: Path, search: str, name: str
) -> None:
    for other in ("full", "racing", "halving"):
        said(one_cell, other, {0: [0.9, 0.5], 1: [0.8, 0.7]}, int(other == search))
    with pytest.raises(SystemExit, match=f"{name} chose 1, and by its rule it is 0"):
        script.main()


def test_the_lowest_mean_is_chosen_of_what_every_trial_trained_to_the_end(script: ModuleType) -> None:
    trials = [{0: [0.5], 1: [0.2], 2: [0.4], 3: [0.4]}, {0: [0.5], 2: [0.4, 0.6], 3: [0.4]}]
    assert script.chosen_from(trials) == 2
    assert script.chosen_from([{0: [0.5]}, {1: [0.5]}]) is None


def test_a_pace_needs_four_epochs(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "EPOCHS", 24)
    # After 2, 4, 6 and 8 epochs the last third is shorter than that; after 10 the loss has fallen by enough.
    rising = [2.0] * 8 + [1.5, 1.0] + [0.9] * 14
    assert not script.is_dropped(rising, 0.9)
    assert script.is_dropped([2.0] * 24, 0.9)


def test_a_race_may_leave_no_setting_and_drop_one_that_diverges_later(
    script: ModuleType, one_cell: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Curves of four epochs are too short for the rule of the race.
    by_rule = iter([None, 1])
    monkeypatch.setattr(script, "chosen_from", lambda _: next(by_rule))
    said(one_cell, "full", {0: [0.9, 0.5, 0.5, 0.6], 1: [0.8, 0.8, 0.7, 0.7]}, 0)
    # Setting 2 diverges after two epochs, so the full search has no curve of it.
    said(one_cell, "racing", {0: [0.9, 0.5], 2: [0.9, 0.9]}, None)
    said(one_cell, "halving", {0: [0.9, 0.5, 0.5, 0.6]}, 0)
    script.main()
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines[2] == "| hybrid | gcn | 1 | 1 | 0, none, 0 | 0.5000, none, 0.5000 | 50 %, 50 % | 2.0, 2.0, 2.0 | 0.5000 |"
    )
    chosen = "in 0 by race, in 1 by halving, in 1 by halving over epochs"
    rules = ", ".join(f"in 1 by {name}" for name in script.OTHER_RULES)
    assert lines[4] == f"Of 1 cells, the setting of the full search was chosen {chosen}, {rules}."
    said(one_cell, "racing", {0: [0.9, 0.5], 1: [0.8, 0.8, 0.7, 0.7]}, 1)
    script.main()
    assert "| 0, 1, 0 | 0.5000, 0.7000, 0.5000 | 75 %, 50 % |" in capsys.readouterr().out


@pytest.mark.parametrize("other", ["racing", "halving"])
def test_a_shorter_search_with_other_losses_is_an_error(script: ModuleType, one_cell: Path, other: str) -> None:
    for search in ("full", "racing", "halving"):
        said(one_cell, search, {0: [0.9, 0.4 if search == other else 0.5]}, 0)
    with pytest.raises(SystemExit, match="setting 0 has other losses in a shorter search"):
        script.main()


def test_a_missing_program_is_one_line_with_the_remedy(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = str(tmp_path / "no-program")
    monkeypatch.setattr(sys, "argv", ["search.py", "--veilgraph", missing])
    with pytest.raises(SystemExit) as raised:
        script.main()
    said_at_the_end = str(raised.value)
    assert said_at_the_end.startswith(f"{missing}: No such file or directory; build it with `make build`")
    assert "\n" not in said_at_the_end


def test_missing_polars_is_one_line_with_the_remedy() -> None:
    # Without `site`, Python finds its standard library alone.
    done = subprocess.run([sys.executable, "-I", "-S", str(SCRIPT)], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "search.py needs Polars: python3 -m pip install polars\n"
