"""Tables and pages of experiments that have run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from veilgraph.config import Config, config_file
from veilgraph.experiments import run_options
from veilgraph.program import call, wrong_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from veilgraph import artifacts

#: The first column of a table that says which scores a row is about; all before it say what its method is.
_FIRST = "experiment"

#: Columns of text behind the first one.
_TEXTS = {_FIRST, "dataset", "score", "column", "against", "verdict"}

#: Columns that count trials.
_COUNTS = {"trials", "shared_trials"}


def table(
    config: Config | Sequence[Config],
    *,
    score: str | None = None,
    against: str | None = None,
    columns: str | None = None,
    over: str | None = None,
    partial: bool = False,
    store: artifacts.PathLike | None = None,
    data_dir: artifacts.PathLike | None = None,
    published: artifacts.PathLike | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002 (the word of the command line)
) -> pl.DataFrame:
    """Return the table of a score of experiments that have run: means, intervals, differences and corrected tests.

    The numbers are those of `veilgraph table --format csv`; `docs/statistics.md` says how they come about.

    Args:
        config: An experiment that has run, or several, as for `run`.
        score: The score; by default the accuracy, else one of link prediction, links or features.
        against: What the cells are compared with, an alternative, a mechanism or a model; by default the best floor.
        columns: The swept field whose values are the columns, or `per-link` for what all reports about an undirected
            link cost; by default a budget.
        over: The swept field whose values count as trials, such as the seeds of splits.
        partial: Return what has run; without it, everything has to have run.
        store: As for `run`.
        data_dir: As for `run`.
        published: As for `run`.
        set: As for `run`.

    Returns:
        One row for each method, dataset and column of the table. The first columns tell methods apart: those of
        `alternative`, `mechanism`, `features` and `label` (their budgets), `epsilon_of_links`, `degree_fraction`,
        `variant`, `model` and the swept fields in which the rows of an experiment differ, or one of them where none do.
        Behind them stand

        - `experiment`, `dataset`, `score`, `column` (a budget, or a value of `columns`; null where one column has all),
          `epsilon` and `epsilon_edge` (nats),
        - `trials`, `mean`, `standard_deviation`, `half_width` (of the 95 % interval of the mean), `bootstrap_low` and
          `bootstrap_high`,
        - `against`, `shared_trials`, `difference` with its half width and bootstrap interval, `p_value`,
          `p_value_holm`, and `verdict` (`better`, `worse` or `not separable`; `one trial` where there is no interval;
          `missing` or `failed` where a cell has no scores),
        - `cost.edge`, `dp_delta.edge` and `claimed.edge` and the like for each relation (nats), and `sound`.

        What does not apply is null.

    Raises:
        VeilgraphError: Something has not run, the config is wrong, or there is no such score.

    Example:
        >>> veilgraph.table("configs/demo.toml", against="published").select("alternative", "column", "mean", "verdict")

    """
    options = run_options(store, data_dir, published, set, score=score, against=against, columns=columns, over=over)
    text = _summary(["table", "--format=csv", *options], config, partial=partial)
    names = text.split("\n", 1)[0].split(",")
    if _FIRST not in names:
        raise wrong_program()
    texts = {*names[: names.index(_FIRST)], *_TEXTS}

    def type_of(name: str) -> Any:
        if name == "sound":
            return pl.Boolean
        return pl.String if name in texts else pl.Int64 if name in _COUNTS else pl.Float64

    return pl.read_csv(BytesIO(text.encode()), schema={name: type_of(name) for name in names})


def report(
    config: Config | Sequence[Config],
    *,
    name: str | None = None,
    partial: bool = False,
    store: artifacts.PathLike | None = None,
    data_dir: artifacts.PathLike | None = None,
    published: artifacts.PathLike | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002 (the word of the command line)
) -> Path:
    """Write the page of experiments that have run, with its figures, and return the path of the page.

    Args:
        config: An experiment that has run, or several, as for `run`.
        name: Name of the page; by default that of the first experiment.
        partial: Show what has run; without it, everything has to have run.
        store: As for `run`.
        data_dir: As for `run`.
        published: As for `run`.
        set: As for `run`.

    Returns:
        The page, an HTML file in the folder `auditor/reports` of the store. The folder beside it that has the name of
        the page holds each figure as SVG, PNG, CSV and Parquet.

    Raises:
        VeilgraphError: Something has not run, or the config is wrong.

    Example:
        >>> veilgraph.report("configs/demo.toml", name="for-the-board")

    """
    options = run_options(store, data_dir, published, set, name=name)
    text = _summary(["report", *options], config, partial=partial)
    page = Path(text.split("\n", 1)[0]).absolute()
    if page.suffix != ".html":
        raise wrong_program()
    return page


def _summary(command: list[str], config: Config | Sequence[Config], *, partial: bool) -> str:
    """Return what `table` or `report` with these options prints about experiments."""
    configs = [config] if isinstance(config, (str, PathLike, Mapping)) else config
    with ExitStack() as stack:
        files = [str(stack.enter_context(config_file(one))) for one in configs]
        return call([*command, *files, *(["--partial"] if partial else [])], warnings_only=True)
