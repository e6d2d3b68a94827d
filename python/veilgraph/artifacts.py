"""Reading artifacts and scores from a store by their readable names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from veilgraph.config import Config, config_file, resolve
from veilgraph.errors import VeilgraphError
from veilgraph.program import call

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A path.
PathLike: TypeAlias = "str | os.PathLike[str]"

#: Parts of a store, in the order in which a name is looked up; a server's store has none.
PARTS = ("simulation", "owner", "server", "auditor", "")


def store_path(store: PathLike | None = None) -> Path:
    """Return the folder of a store: the one given, else that of `VEILGRAPH_STORE`, else `artifacts`."""
    return Path(store if store is not None else os.environ.get("VEILGRAPH_STORE", "artifacts"))


def name_and_store(
    config: Path, store: PathLike | None = None, overlay: Mapping[str, object] | None = None
) -> tuple[str, Path]:
    """Return the name of an experiment, and the store given, else that which its config names, else the usual one."""
    table = resolve(config, overlay)
    own = table.get("privacy", {}).get("store")
    return table["name"], store_path(config.parent / own if store is None and own is not None else store)


def find(name: PathLike, store: PathLike | None = None, suffix: str = ".parquet") -> Path:
    """Return the file of an artifact: a path, or a readable name below the `runs/` of any part of a store.

    Raises:
        FileNotFoundError: Nothing has that name, or it is the name of a run, whose artifacts the message lists.

    """
    if Path(name).is_file():
        return Path(name)
    root = store_path(store)
    if is_of_earlier_run(name):
        return _found_by_the_program(name, root)
    runs = [root / part / "runs" for part in PARTS]
    for folder in runs:
        for path in (folder / name, folder / f"{os.fspath(name)}{suffix}"):
            if path.is_file():
                return path
    inside = {file.stem for folder in (Path(), *runs) for file in (folder / name).glob(f"*{suffix}")}
    if inside:
        raise FileNotFoundError(
            f"{os.fspath(name)}: this is no artifact, but has some; add the name of one: {', '.join(sorted(inside))}"
        )
    there = ", ".join(str(folder) for folder in runs if folder.is_dir()) or str(root)
    raise FileNotFoundError(f"{os.fspath(name)}: there is no such artifact; look below {there}")


def is_of_earlier_run(name: PathLike) -> bool:
    """Whether a name begins with a run of the history, such as `demo@2`."""
    return "@" in os.fspath(name).partition("/")[0]


def _found_by_the_program(name: PathLike, root: Path) -> Path:
    """Return the file of an artifact of an earlier run; the program knows the history."""
    try:
        shown = call(["--store", str(root), "show", os.fspath(name), "--head", "0"])
    except VeilgraphError as error:
        raise FileNotFoundError(str(error)) from None
    file = Path(shown.partition("\n")[0])
    if not file.is_file():
        raise FileNotFoundError(f"{os.fspath(name)}: this is no artifact, but has some; name one of them:\n{shown}")
    return file


def artifact(name: PathLike, *, store: PathLike | None = None) -> pl.LazyFrame:
    """Return an artifact as a lazy frame; nothing is read before it is collected.

    `.collect().to_arrow()` gives the same columns to PyArrow, DuckDB or pandas without a copy.

    Args:
        name: A readable name `<config>/<stage>/<run>/<artifact>`, as `veilgraph show` takes it (`<config>@2/…` for what
            the last run but one made), or the path of a Parquet file.
        store: Folder of the store; by default the environment variable `VEILGRAPH_STORE`, else `artifacts`.

    Returns:
        The rows; `ARCHITECTURE.md` lists the columns of every artifact.

    Raises:
        FileNotFoundError: Nothing has that name.

    Example:
        >>> import veilgraph
        >>> graph = veilgraph.artifact("demo/construct/best,epsilon-4,variant-hybrid,trial-0/graph")
        >>> graph.collect()

    """
    return scan(find(name, store))


def facts(name: PathLike, *, store: PathLike | None = None) -> dict[str, str]:
    """Return what an artifact says beside its rows, such as its budget, its variant or its number of nodes.

    Args:
        name: As for `artifact`.
        store: As for `artifact`.

    Returns:
        Names and values as text. Budgets are in nats: `epsilon` for one bit of a node's list, `epsilon_edge` for an
        undirected link.

    Raises:
        FileNotFoundError: Nothing has that name.
        ValueError: The file holds no table, such as a `model.safetensors`.

    Example:
        >>> veilgraph.facts("demo/privatize/best,epsilon-4,trial-0/noisy_links")["deployable"]
        'false'

    """
    return facts_of(find(name, store))


def scores(experiment: Config, *, store: PathLike | None = None) -> pl.DataFrame:
    """Return all scores of the last run of an experiment that was scored.

    Args:
        experiment: The name of the experiment, or its config as a path that ends in `.toml` or as a dict.
        store: As for `artifact`.

    Returns:
        One row for each score and trial, with the columns `metric` and `value` (accuracies are shares in [0, 1]),
        one column for each swept field, and one for the cost under each relation, such as `cost.edge`, in nats.

    Raises:
        FileNotFoundError: The experiment has no scores in this store.
        VeilgraphError: The config is wrong.

    Example:
        >>> veilgraph.scores("demo").filter(polars.col("metric") == "accuracy")

    """
    if isinstance(experiment, str) and not experiment.endswith(".toml"):
        return scores_of(experiment, store_path(store))
    with config_file(experiment) as file:
        return scores_of(*name_and_store(file, store))


def scores_of(name: str, store: Path) -> pl.DataFrame:
    """Return the scores that lie in a store under the name of an experiment.

    Raises:
        FileNotFoundError: There are none.

    """
    path = store / "auditor" / "runs" / name / "scores.parquet"
    if not path.is_file():
        raise FileNotFoundError(f"{path}: `{name}` has no scores; run it to its end, or name another store")
    return scan(path).collect()


def scan(path: Path) -> pl.LazyFrame:
    """Return the table in a file, whose path may hold what Polars would take for a pattern or a partition."""
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def facts_of(path: Path) -> dict[str, str]:
    """Return what the table in a file says beside its rows.

    Raises:
        ValueError: The file holds no table.

    """
    try:
        metadata = pl.read_parquet_metadata(path)
    except pl.exceptions.ComputeError as error:
        raise ValueError(f"{path}: not a readable Parquet file ({error})") from error
    return {key: value for key, value in metadata.items() if not key.startswith("ARROW:")}
