"""Planning and running experiments."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from veilgraph import artifacts
from veilgraph.artifacts import PathLike, name_and_store
from veilgraph.config import Config, config_file, set_arguments
from veilgraph.program import call

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: A stage of the pipeline.
Stage: TypeAlias = Literal["ingest", "privatize", "similarity", "estimate", "construct", "train", "audit", "evaluate"]

_STAGE_COLUMNS = {
    "stage": pl.String,
    "label": pl.String,
    "trial": pl.Int64,
    "status": pl.String,
    "why": pl.String,
    "seconds": pl.Float64,
    "host": pl.String,
}
_SPENT_COLUMNS = {"label": pl.String, "target": pl.String, "relation": pl.String, "epsilon": pl.Float64}


@dataclass(frozen=True)
class Plan:
    """What a run would do, and what it would spend.

    Attributes:
        name: Name of the experiment.
        stages: One row for each task: `stage`, `label` (its swept values and trial), `trial`, `status` (`fresh`,
            `would run`, `may run`, `ran`, `failed`, `skipped`), `why`, `seconds`, `host` (which machine ran it).
        spent: One row for each release that is not fresh, and relation: `label`, `target` (link, degree, feature,
            label or model), `relation` (what the cost protects), `epsilon` in nats.

    """

    name: str
    stages: pl.DataFrame
    spent: pl.DataFrame


@dataclass(frozen=True)
class Run(Plan):
    """What a run did, and where its results are.

    Attributes:
        store: Folder of the store.

    """

    store: Path

    @property
    def scores(self) -> pl.DataFrame:
        """All scores of this run, as `veilgraph.scores` describes them.

        Raises:
            LookupError: The run stopped before its scores.

        """
        if "evaluate" not in self.stages["stage"]:
            raise LookupError(f"`{self.name}` stopped before its scores; run it without `until`")
        return artifacts.scores(self.name, store=self.store)

    def artifact(self, name: str) -> pl.LazyFrame:
        """Return an artifact of this run by its name `<stage>/<run>/<artifact>`, as `veilgraph.artifact` does.

        Example:
            >>> run.artifact("construct/trial-0/graph").collect()

        """
        return artifacts.artifact(f"{self.name}/{name}", store=self.store)

    def facts(self, name: str) -> dict[str, str]:
        """Return what an artifact of this run says beside its rows, as `veilgraph.facts` does."""
        return artifacts.facts(f"{self.name}/{name}", store=self.store)


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
        document = json.loads(call(["plan", str(path), "--json", *options], warnings_only=True))
        name, _ = name_and_store(path, store, set)
    return Plan(name, _stages(document), _spent(document))


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
        document = json.loads(call(["run", str(path), "--json", *options]))
        name, root = name_and_store(path, store, set)
    return Run(name, _stages(document), _spent(document), root)


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


def _stages(document: dict[str, Any]) -> pl.DataFrame:
    rows = [
        [
            task["stage"],
            task["label"],
            task["trial"],
            task["status"],
            ", ".join(task["why"]),
            task["seconds"],
            task["host"],
        ]
        for task in document["stages"]
    ]
    return pl.DataFrame(rows, schema=_STAGE_COLUMNS, orient="row")


def _spent(document: dict[str, Any]) -> pl.DataFrame:
    releases = [(row["label"], row["release"]) for row in document["spent"]]
    rows = [
        # An infinite cost is the word `inf`, since JSON has no infinity.
        [label, release["target"], release["relation"], float(release["epsilon"])]
        for label, release in releases
    ]
    return pl.DataFrame(rows, schema=_SPENT_COLUMNS, orient="row")
