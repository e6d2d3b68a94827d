"""Classifying the nodes of graphs with a trained model."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

from veilgraph.artifacts import PathLike, find, is_of_earlier_run, name_and_store
from veilgraph.config import Config, config_file
from veilgraph.experiments import run_options
from veilgraph.program import call

if TYPE_CHECKING:
    from collections.abc import Mapping


def predict(
    model: PathLike,
    config: Config,
    *,
    number: int | None = None,
    store: PathLike | None = None,
    data_dir: PathLike | None = None,
    published: PathLike | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002 (the word of the command line)
) -> dict[str, pl.DataFrame]:
    """Classify the nodes of the graphs of an experiment with a model that was trained before.

    The graphs are made up to the stage `construct`, so their links are released like those of any run, and the
    ledger gets rows for them.

    Args:
        model: Path of a `model.safetensors`, or its readable name, such as `demo/train/trial-0`, for the last
            run of this name.
        config: The experiment whose graphs are classified; its features must be those of the training.
        number: Position of the model in its grid, from 0 on; by default the one with the lowest validation loss.
        store: As for `run`.
        data_dir: As for `run`.
        published: As for `run`.
        set: As for `run`.

    Returns:
        For the label of each graph, such as `epsilon-4,trial-0`, a frame with one row for each node: `node`, `name`,
        `class` (its name, or its number as text), and `probability_` with the name of each class.

    Raises:
        FileNotFoundError: There is no such model.
        VeilgraphError: The config is wrong, the model does not fit its graphs, or an earlier run (`demo@2/…`) has no
            such model.

    Example:
        >>> answers = veilgraph.predict("demo/train/trial-0", "configs/demo.toml")
        >>> {label: frame["class"].mode() for label, frame in answers.items()}

    """
    with config_file(config) as path, TemporaryDirectory(prefix="veilgraph-") as folder:
        to = Path(folder) / "predictions"
        options = run_options(store, data_dir, published, set, number=number, to=str(to))
        file_of_model = _file_of(model, name_and_store(path, store, set)[1])
        call(["predict", str(file_of_model), str(path), *options])
        # Names of nodes and classes may look like numbers and still be names.
        names = {"name": pl.String, "class": pl.String}
        files = sorted(to.glob("*.csv"))
        return {file.stem: pl.read_csv(file, schema_overrides=names) for file in files}


def _file_of(model: PathLike, store: PathLike | None) -> Path:
    """Return the file of a model that is named by its run, by itself, or by its path."""
    # The program finds what an earlier run made.
    if is_of_earlier_run(model):
        return Path(model)
    try:
        return find(model, store, ".safetensors")
    except FileNotFoundError:
        return find(Path(model) / "model", store, ".safetensors")
