"""Writing graphs as the files that `[ingest]` reads."""

from __future__ import annotations

from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from veilgraph.edges import Edges, edge_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    import networkx as nx
    import numpy.typing as npt

    from veilgraph.artifacts import PathLike

#: What a node with a label is used for, by its code in the artifact `nodes`.
SPLITS = ("train", "validation", "test", "none")

#: Names of the masks in PyG and DGL, in the order of `SPLITS`.
_MASKS = ("train_mask", "val_mask", "test_mask")


def write_files(
    folder: PathLike,
    edges: Edges,
    *,
    n: int | None = None,
    features: npt.ArrayLike | Any = None,
    labels: npt.ArrayLike | Sequence[str | None] | None = None,
    splits: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
) -> dict[str, object]:
    """Write a graph as CSV files and return the table `[ingest]` that reads them.

    The files hold the true links: keep the folder as private as these.

    Args:
        folder: Folder of the files, which is made if it does not exist; files of the same names are overwritten.
        edges: The links, between nodes 0 to n - 1.
        n: Number of nodes; a sparse matrix and a networkx graph know theirs.
        features: Array or sparse matrix of shape [n, d], finite.
        labels: The class of each of the n nodes: whole numbers, with -1 where it is not known, or texts, with `None`
            or `""` there. The program numbers classes by ascending name, and keeps the names.
        splits: n words `train`, `validation`, `test` or `none`; by default the program splits the labelled nodes.
        names: n different names of the nodes; by default their numbers. The program numbers nodes by ascending name,
            and its artifact `node_map` says which node has which name.

    Returns:
        The table `[ingest]`, for a config that is a dict.

    Raises:
        ValueError: A shape, a label, a split or a name is wrong.

    Example:
        >>> table = veilgraph.write_files("graph", [(0, 1), (1, 2)], n=4)
        >>> veilgraph.run({"ingest": table, "privatize": {"links": {"epsilon": 2.0}}})

    """
    pairs, n = edge_array(edges, n)
    folder = Path(folder)
    # The files hold true links.
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    column = _name_column(names, n)
    pl.DataFrame({"source": column[pairs[:, 0]], "target": column[pairs[:, 1]]}).write_csv(folder / "edges.csv")
    column.to_frame().write_csv(folder / "nodes.csv")
    table: dict[str, object] = {
        "folder": str(folder.resolve()),
        "edges": "edges.csv",
        "nodes": "nodes.csv",
        "header": True,
    }
    if features is not None:
        _feature_frame(features, column).write_csv(folder / "features.csv")
        table["features"] = "features.csv"
    if labels is not None:
        _label_frame(labels, column).write_csv(folder / "labels.csv")
        table["labels"] = "labels.csv"
    if splits is not None:
        wrong = {*map(str, splits)}.difference(SPLITS)
        if wrong or len(splits) != n:
            raise ValueError(f"splits are {len(splits)} words with {sorted(wrong)} among them; give {n} of {SPLITS}")
        pl.DataFrame([column, pl.Series("split", list(splits), pl.String)]).write_csv(folder / "splits.csv")
        table["split"] = "splits.csv"
    return table


def from_networkx(
    folder: PathLike, graph: nx.Graph[Any], *, label: str | None = None, feature: str | None = None
) -> dict[str, object]:
    """Write a networkx graph as files and return the table `[ingest]` that reads them.

    Directions and weights are not kept. The names of the nodes are the texts of the nodes.

    Args:
        folder: As for `write_files`.
        graph: The graph.
        label: Node attribute that holds the class, a whole number or a text; a node without it, or with `None`, `""` or
            -1, has an unknown class.
        feature: Node attribute that holds the features, d numbers at every node.

    Raises:
        ValueError: As for `write_files`.

    Example:
        >>> table = veilgraph.from_networkx("karate", networkx.karate_club_graph())

    """
    labels = None if label is None else [data.get(label) for _, data in graph.nodes(data=True)]
    features = None if feature is None else [data[feature] for _, data in graph.nodes(data=True)]
    names = [str(node) for node in graph.nodes]
    return write_files(folder, graph, features=features, labels=labels, names=names)


def from_pyg(folder: PathLike, data: Any) -> dict[str, object]:
    """Write a `torch_geometric.data.Data` as files and return the table `[ingest]` that reads them.

    It reads `edge_index`, `num_nodes`, and where they are there `x`, `y`, and the masks `train_mask`, `val_mask` and
    `test_mask`, of which a node may be in one. Directions and weights are not kept.

    Args:
        folder: As for `write_files`.
        data: The graph, on the CPU or not.

    Raises:
        ValueError: As for `write_files`.

    Example:
        >>> table = veilgraph.from_pyg("cora", torch_geometric.datasets.Planetoid("data", "Cora")[0])

    """
    features, labels = (None if tensor is None else tensor.cpu().numpy() for tensor in (data.x, data.y))
    splits = _splits_of([getattr(data, name, None) for name in _MASKS], data.num_nodes)
    pairs = data.edge_index.cpu().numpy().T
    return write_files(folder, pairs, n=data.num_nodes, features=features, labels=labels, splits=splits)


def from_dgl(folder: PathLike, graph: Any) -> dict[str, object]:
    """Write a DGL graph as files and return the table `[ingest]` that reads them.

    It reads the links, and where they are there the `ndata` of the names `feat`, `label`, and the masks `train_mask`,
    `val_mask` and `test_mask`, of which a node may be in one. Directions and weights are not kept.

    Args:
        folder: As for `write_files`.
        graph: The graph with one type of nodes and one of links, on the CPU or not.

    Raises:
        ValueError: As for `write_files`.

    Example:
        >>> table = veilgraph.from_dgl("cora", dgl.data.CoraGraphDataset()[0])

    """
    known, n = graph.ndata, int(graph.num_nodes())
    tensors = (known.get(name) for name in ("feat", "label"))
    features, labels = (None if tensor is None else tensor.cpu().numpy() for tensor in tensors)
    splits = _splits_of([known.get(name) for name in _MASKS], n)
    source, target = (ends.cpu().numpy() for ends in graph.edges())
    pairs = np.stack([source, target], axis=1)
    return write_files(folder, pairs, n=n, features=features, labels=labels, splits=splits)


def _splits_of(masks: Sequence[Any], n: int) -> list[str] | None:
    """Return the word for the split of each node, or nothing where no mask is given."""
    splits = np.full(n, SPLITS[-1], dtype=object)
    for split, mask in zip(SPLITS, masks, strict=False):
        if mask is not None:
            splits[mask.cpu().numpy().astype(bool)] = split
    return None if all(mask is None for mask in masks) else list(splits)


def _label_frame(labels: Any, column: pl.Series) -> pl.DataFrame:
    """Return a row for each node whose class is known."""
    classes, n = np.asarray(labels), len(column)
    is_text = classes.dtype.kind in "OU"
    if classes.shape != (n,) or not (is_text or np.issubdtype(classes.dtype, np.integer)):
        raise ValueError(
            f"labels have the shape {list(classes.shape)}; give {n} whole numbers (-1 if unknown) or texts (None if so)"
        )
    if not is_text:
        known = np.flatnonzero(classes >= 0)
        return pl.DataFrame({"node": column[known], "label": classes[known]})
    # An array of texts would hold the text of what is missing.
    given = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    texts = ["" if _is_unknown(label) else str(label) for label in given]
    # Text files are read without the spaces around a field, which would make one class of two.
    unfit = next((text for text in texts if text != text.strip()), None)
    if unfit is not None:
        raise ValueError(f"the class {unfit!r} cannot stand in a CSV file; leave out outer spaces")
    known = np.flatnonzero([text != "" for text in texts])
    return pl.DataFrame({"node": column[known], "label": pl.Series([texts[at] for at in known], dtype=pl.String)})


def _is_unknown(label: Any) -> bool:
    """Return whether a label among texts stands for no class."""
    # A number that is not equal to itself is not a number, which data frames write for what is missing.
    return label is None or label != label or (isinstance(label, Integral) and label < 0)  # noqa: PLR0124


def _name_column(names: Sequence[str] | None, n: int) -> pl.Series:
    if names is None:
        return pl.Series("node", np.arange(n))
    column = pl.Series("node", list(names), pl.String)
    if len(column) != n or column.n_unique() != n:
        raise ValueError(f"names are {column.n_unique()} different texts; give {n}, one for each node")
    # Text files are read without the spaces around a field, and a line that begins with `#` is a comment.
    unfit = column.filter(column.str.contains(r'^#|^\s|\s$|^$|[,"\n\r]'))
    if len(unfit):
        raise ValueError(f"the name {unfit[0]!r} cannot stand in a CSV file; leave out commas, quotes and outer spaces")
    return column


def _feature_frame(features: Any, column: pl.Series) -> pl.DataFrame:
    """Return one row for each node, or for a sparse matrix one row for each entry."""
    is_sparse = hasattr(features, "tocoo")
    values: Any = features.tocoo() if is_sparse else np.asarray(features, np.float32)
    if len(values.shape) != 2 or values.shape[0] != len(column):  # noqa: PLR2004 (nodes by features)
        raise ValueError(f"features have the shape {list(values.shape)}; give one row for each of {len(column)} nodes")
    if not np.isfinite(values.data if is_sparse else values).all():
        raise ValueError("features hold values that are not finite; replace them by numbers")
    if not is_sparse:
        return column.to_frame().hstack(pl.DataFrame(values, schema=[f"x{at}" for at in range(values.shape[1])]))
    entries = pl.DataFrame({"node": column[values.row], "feature": values.col, "value": values.data.astype(np.float32)})
    # The program counts the features that it finds, so one that no node has needs a row too.
    empty = np.setdiff1d(np.arange(values.shape[1]), values.col)
    zeros = {"node": column[np.zeros_like(empty)], "feature": empty, "value": np.zeros(len(empty), np.float32)}
    return pl.concat([entries, pl.DataFrame(zeros)], how="vertical_relaxed")
