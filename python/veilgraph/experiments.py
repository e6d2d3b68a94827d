"""Planning and running experiments."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from veilgraph.artifacts import PathLike, facts_of, scan, scores_of
from veilgraph.config import Config, config_file, set_arguments
from veilgraph.program import call_for_json

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A stage of the pipeline.
Stage: TypeAlias = Literal["ingest", "privatize", "similarity", "estimate", "construct", "train", "audit", "evaluate"]

_STAGE_COLUMNS = {
    "stage": pl.String,
    "function": pl.String,
    "label": pl.String,
    "also": pl.List(pl.String),
    "trial": pl.Int64,
    "status": pl.String,
    "why": pl.String,
    "seconds": pl.Float64,
    "host": pl.String,
    "key": pl.String,
    "artifacts": pl.List(pl.String),
}
_SPENT_COLUMNS = {
    "label": pl.String,
    "target": pl.String,
    "relation": pl.String,
    "epsilon": pl.Float64,
    "dp_delta": pl.Float64,
    "sound": pl.Boolean,
    "claimed_epsilon": pl.Float64,
    "noise": pl.String,
}
_CHECK_COLUMNS = {
    "name": pl.String,
    "passed": pl.Boolean,
    "is_fatal": pl.Boolean,
    "cells": pl.Int64,
    "counted": pl.String,
    "problems": pl.List(pl.String),
}

#: The most artifacts that an error names.
MOST_NAMES = 20

#: Columns that `scores.parquet` has in common with the artifacts `metrics` that it was made of.
_SCORE_COLUMNS = ["experiment", "alternative", "mechanism", "variant", "model", "epsilon", "trial", "metric", "value"]


@dataclass(frozen=True)
class Plan:
    """What a run would do, and what it would spend.

    Attributes:
        name: Name of the experiment.
        stages: One row for each task: `stage`, `function` (which function of the stage it is), `label` (its swept
            values and trial), `also` (a list of its further labels), `trial`, `status` (`fresh`, `fetched`,
            `elsewhere`, `would run`, `may run`, `queued`, `ran`, `failed`, `skipped`), `why`, `seconds`, `host` (which
            machine ran it), `key` (of its entry in the store, as `veilgraph show` takes it; null where there is none
            yet), `artifacts` (a list with one name of each table that it wrote, as `Run.artifact` takes them).
        spent: One row for each release that is not fresh, and relation: `label`, `target` (link, degree, feature,
            label or model), `relation` (what the cost protects), `epsilon` in nats, `dp_delta` (0 for pure privacy),
            `sound` (whether the guarantee holds as executed), `claimed_epsilon` (what the source of the method states
            for the same noise, in nats; null where it equals `epsilon`), `noise` (what protects the data, in words).

    """

    name: str
    stages: pl.DataFrame
    spent: pl.DataFrame


@dataclass(frozen=True)
class Run(Plan):
    """What a run did, and where its results are.

    Its frames, `scores`, `artifact` and `facts` answer about this run, also after a later run has taken over its name.
    From then on, the command `veilgraph gc` may remove its artifacts.

    Attributes:
        store: Folder of the store.
        checks: One row for each `[[check]]` of the config, empty if `until` stopped the run before its scores:
            `name`, `passed`, `is_fatal` (whether the run fails where the check does not pass), `cells` (how many things
            were looked at), `counted` (what these are: `cells` or `artifacts`), `problems` (a list of texts).

    """

    store: Path
    checks: pl.DataFrame
    _files: dict[str, Path] = field(repr=False)
    _scores: pl.DataFrame | None = field(repr=False)

    @property
    def scores(self) -> pl.DataFrame:
        """All scores of this run, as `veilgraph.scores` describes them.

        Of two runs of one name at the same time, one may be left without scores.

        Raises:
            LookupError: The run has no scores.

        """
        if "evaluate" not in self.stages["stage"]:
            raise LookupError(
                f"`{self.name}` has no scores: `until` stopped it before them, or `[evaluate] metrics` names none"
            )
        if self._scores is None:
            raise LookupError(
                f"`{self.name}` has no finite score, or another run of this name ended at the same time; where several "
                "run at once, give each a name of its own"
            )
        return self._scores

    def artifact(self, name: str) -> pl.LazyFrame:
        """Return an artifact of this run by its name `<stage>/<run>/<artifact>`, as `veilgraph.artifact` does.

        The column `artifacts` of `stages` has one name of each, and `also` has further labels.

        Raises:
            FileNotFoundError: The run has no such artifact.

        Example:
            >>> run.artifact("construct/trial-0/graph").collect()

        """
        return scan(self._file(name))

    def facts(self, name: str) -> dict[str, str]:
        """Return what an artifact of this run says beside its rows, as `veilgraph.facts` does.

        Raises:
            FileNotFoundError: The run has no such artifact.

        """
        return facts_of(self._file(name))

    def _file(self, name: str) -> Path:
        file = self._files.get(name.removesuffix(".parquet"))
        if file is None:
            of_stage = [known for known in self._files if known.split("/", 1)[0] == name.split("/", 1)[0]]
            there = ", ".join(sorted(of_stage or self._files)[:MOST_NAMES]) or "nothing"
            raise FileNotFoundError(
                f"{name}: `{self.name}` has no such artifact; it has {there} (more: the column `artifacts` of `stages`)"
            )
        return file


def plan(
    config: Config,
    *,
    store: PathLike | None = None,
    data_dir: PathLike | None = None,
    published: PathLike | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002 (the word of the command line)
    until: Stage | None = None,
) -> Plan:
    """Say what `run` would do and why, and what it would spend; nothing is run.

    The arguments are those of `run`.

    Raises:
        VeilgraphError: The config is wrong, or a file is missing.

    Example:
        >>> veilgraph.plan({"privatize": {"links": {"epsilon": 4.0}}}).spent["relation"].unique()

    """
    with config_file(config) as path:
        options = run_options(store, data_dir, published, set, until=until)
        document = call_for_json(["plan", str(path), "--json", *options], warnings_only=True)
    return Plan(document["name"], _stages(document, _files(document)), spent_of(document))


def run(
    config: Config,
    *,
    store: PathLike | None = None,
    data_dir: PathLike | None = None,
    published: PathLike | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002 (the word of the command line)
    until: Stage | None = None,
    device: Literal["auto", "cpu", "cuda", "vulkan"] = "cpu",
    jobs: int | None = None,
    scheduler: str | None = None,
    quiet: bool = False,
) -> Run:
    """Run an experiment; what is fresh is not run again. Progress goes to standard error.

    A simulation draws its noise from the config's seed, so it protects nobody. `[privacy] randomness = "os"` makes a
    deployment, which spends budget for ever: read `docs/deploy.md` before.

    Args:
        config: Path of a TOML file, or its tables as nested dicts (`docs/config.md` describes every field). A dict is
            read like a file in the current folder, and is called `experiment` if it has no `name`.
        store: Folder of the store; by default that of the config, else the environment variable `VEILGRAPH_STORE`,
            else `artifacts`.
        data_dir: Folder of the data files; by default that of the config.
        published: Folder of published figures.
        set: Values by dotted field, laid over the config, such as `{"privatize.links.epsilon": 2.0}`.
        until: Stop after this stage.
        device: Where to train.
        jobs: Tasks at a time, at least 1; by default one for each core.
        scheduler: Address of a Dask scheduler, such as `cluster.scheduler_address`: its workers run the server's tasks
            (`docs/scale.md`). This Python needs `dask` and `distributed` then (the extra `dask`).
        quiet: Say nothing on standard error but warnings.

    Returns:
        The finished run.

    Raises:
        VeilgraphError: The config is wrong (status 2), or the run or one of its checks failed (status 1).

    Example:
        >>> import veilgraph
        >>> run = veilgraph.run({"privatize": {"links": {"epsilon": [1.0, 4.0]}}}, store="artifacts")
        >>> run.scores

    """
    with config_file(config) as path:
        options = run_options(store, data_dir, published, set, until=until, device=device, jobs=jobs)
        if scheduler is not None:
            options += ["--executor=dask", f"--scheduler={scheduler}", f"--python={sys.executable}"]
        document = call_for_json(["run", str(path), "--json", *options], warnings_only=quiet)
    files, store = _files(document), Path(document["store"]).absolute()
    return Run(
        document["name"],
        _stages(document, files),
        spent_of(document),
        store,
        _frame(document["checks"], _CHECK_COLUMNS),
        files,
        _scores(document, store),
    )


def run_options(
    store: PathLike | None,
    data_dir: PathLike | None,
    published: PathLike | None,
    overlay: Mapping[str, object] | None,
    **others: str | int | None,
) -> list[str]:
    """Return the options that `run`, `plan` and `predict` of the program have in common."""
    # A store that is not given is left to the program, since a config may name its own.
    named = {"store": store, "data-dir": data_dir, "published": published, **others}
    options = [f"--{name}={value}" for name, value in named.items() if value is not None]
    return options + set_arguments(overlay)


def _files(document: dict[str, Any]) -> dict[str, Path]:
    """Return the file of each table of a run, under each of its readable names."""
    # Two functions of a stage may write artifacts of one name under one label. As in the store, the later one counts.
    return {
        f"{task['stage']}/{label}/{name}": Path(output["path"]).absolute()
        for task in document["stages"]
        for label in (task["label"], *task["also"])
        for name, output in task["outputs"].items()
        if output["path"].endswith(".parquet")
    }


def _stages(document: dict[str, Any], files: dict[str, Path]) -> pl.DataFrame:
    rows = []
    for task in document["stages"]:
        names = {f"{task['stage']}/{task['label']}/{name}": output for name, output in task["outputs"].items()}
        own = [name for name, output in names.items() if files.get(name) == Path(output["path"]).absolute()]
        rows.append({**task, "why": ", ".join(task["why"]), "artifacts": own})
    return _frame(rows, _STAGE_COLUMNS)


def spent_of(document: dict[str, Any]) -> pl.DataFrame:
    """Return what a plan would release, or a run has released, as `Plan.spent` describes it."""
    rows = []
    for row in document["spent"]:
        release = row["release"]
        # An infinite cost is the word `inf`, since JSON has no infinity.
        nats = {name: float(release[name]) for name in ("epsilon", "claimed_epsilon") if name in release}
        rows.append({**release, **nats, "label": row["label"], "noise": release["mechanism"]})
    return _frame(rows, _SPENT_COLUMNS)


def _frame(rows: list[dict[str, Any]], columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return these columns of rows, which may have others, and may lack some."""
    return pl.DataFrame([[row.get(name) for name in columns] for row in rows], schema=columns, orient="row")


def _scores(document: dict[str, Any], store: Path) -> pl.DataFrame | None:
    """Return the scores of a run that has just ended; nothing where it has none, or they are another run's already."""
    if not document["metrics"]:
        return None
    scores = scores_of(document["name"], store)
    # The table has its name from the experiment, and another run of the experiment may have ended since.
    parts = [task["outputs"]["metrics"]["path"] for task in document["stages"] if "metrics" in task["outputs"]]
    own = pl.concat([scan(Path(part)).select(_SCORE_COLUMNS) for part in parts]).collect()
    return scores if scores.select(_SCORE_COLUMNS).equals(own) else None
