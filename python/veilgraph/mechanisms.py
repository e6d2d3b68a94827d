"""Randomizing the links of an edge array, as the nodes of a graph would."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from veilgraph.files import write_files
from veilgraph.reports import Reports, ensure_no_sweep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from veilgraph.edges import Edges


def randomize(
    edges: Edges,
    n: int | None = None,
    *,
    epsilon: float,
    mechanism: str = "blink",
    degree_fraction: float | str | None = None,
    seed: int | None = None,
    features: npt.ArrayLike | None = None,
    labels: npt.ArrayLike | None = None,
    splits: Sequence[str] | None = None,
    settings: Mapping[str, object] | None = None,
) -> Reports:
    """Let every node of a graph randomize its list of neighbours, and return what all of them send.

    This is a simulation and no deployment: one machine holds all links, the noise comes from a seed, and a temporary
    folder holds the true links until the reports are closed. `docs/deploy.md` shows how real nodes report.

    Args:
        edges: The links between nodes 0 to n - 1: array of shape [m, 2], list of pairs, polars frame, sparse matrix of
            SciPy, or networkx graph, whose nodes are numbered in the order of `graph.nodes`. Directions, weights,
            repeated links and self-loops are dropped; at least one link has to be left.
        n: Number of nodes, at least 3; a sparse matrix and a networkx graph know theirs.
        epsilon: Budget of each node, in nats per list bit, above 0; `inf` for no privacy.
        mechanism: A name of `docs/config.md`, section `[privatize.links]`.
        degree_fraction: Share of epsilon in [0, 1] that a node spends on its degree, or the name of a rule; 0.1 by
            default. Read by `blink` and `dprr`.
        seed: Whole number from 0 to 2^63 - 1; drawn from the operating system by default. One seed gives the same
            reports again.
        features: Public features, shape [n, d], for estimators that read them; they are used as they are.
        labels: Shape [n]: classes 0, 1, ..., and -1 where unknown. The server learns those of training and validation
            nodes.
        splits: n words `train`, `validation`, `test` or `none`; by default half of the labelled nodes train, a quarter
            validates and a quarter is tested.
        settings: Further fields by dotted name, such as `{"privatize.links.degree_noise": "laplace"}`.

    Raises:
        ValueError: A shape, a node number, a label or the seed is wrong.
        VeilgraphError: The program refuses a value.

    Example:
        >>> with veilgraph.randomize([(0, 1), (1, 2), (2, 0)], n=4, epsilon=2.0, seed=7) as reports:
        ...     reports.noisy_links

    """
    for field in ("mechanism", "epsilon", "degree_fraction"):
        if f"privatize.links.{field}" in (settings or {}):
            raise ValueError(f"{field} is an argument of its own; leave it out of `settings`")
    links: dict[str, object] = {"mechanism": mechanism, "epsilon": epsilon}
    if degree_fraction is not None:
        links["degree_fraction"] = degree_fraction
    for field, value in {**links, **(settings or {})}.items():
        ensure_no_sweep(field, value)
    if seed is not None and not (_is_whole(seed) and 0 <= seed < 2**63):
        raise ValueError(f"seed is {seed!r}; give a whole number from 0 to 2^63 - 1")
    classes = None if labels is None else _classes(labels)
    folder = Path(tempfile.mkdtemp(prefix="veilgraph-"))
    try:
        table = write_files(folder, edges, n=n, features=features, labels=classes, splits=splits)
        # Paths inside the folder of the data, so that equal graphs are equal to the program wherever they lie.
        ingest = {**table, "folder": "."} | ({} if features is None else {"normalize": "none"})
        tables: dict[str, object] = {
            "name": "reports",
            "seed": secrets.randbits(63) if seed is None else int(seed),
            "ingest": ingest,
            "privatize": {"links": links},
            # Nothing is trained on these reports here, so the program need not plan it and warn about it.
            "evaluate": {"metrics": ["density"]},
        }
        n_nodes = pl.scan_csv(folder / "nodes.csv").select(pl.len()).collect().item()
        return Reports(folder, tables, settings, n_nodes)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _classes(labels: Any) -> npt.NDArray[np.int64]:
    """Return labels as an array of numbers.

    Raises:
        ValueError: A label is no class.

    """
    # Whole numbers of Polars and of pandas would become fractions where one is missing.
    classes = np.asarray(labels.to_list() if isinstance(labels, pl.Series) else labels, dtype=object)
    wrong = [label for label in classes.ravel() if not (_is_whole(label) and -1 <= label < 2**63)]
    if wrong:
        raise ValueError(
            f"labels hold {wrong[0]!r}, which is no class; give whole numbers 0, 1, ..., and -1 where a class is "
            "unknown, such as `np.unique(texts, return_inverse=True)[1]`"
        )
    return classes.astype(np.int64)


def _is_whole(value: Any) -> bool:
    """Return whether a value is a whole number, and no bool, which Python takes for one."""
    return isinstance(value, Integral) and not isinstance(value, bool)
