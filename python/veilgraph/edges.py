"""Links in any of the forms that people hold them in, as an array of pairs of node numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    import networkx as nx
    import scipy.sparse

#: Links: an array of shape [m, 2], a list of pairs, a frame whose first two columns are the ends, a sparse matrix of
#: SciPy, or a graph of networkx.
Edges: TypeAlias = (
    "npt.ArrayLike | Sequence[tuple[int, int]] | pl.DataFrame | scipy.sparse.sparray | scipy.sparse.spmatrix"
    " | nx.Graph[Any]"
)


def edge_array(edges: Edges, n: int | None = None) -> tuple[npt.NDArray[np.int64], int]:
    """Return the two ends of each link as numbers from 0 to n - 1, and the number n of nodes.

    Directions, weights, repeated links and self-loops are left as they are; the program drops them. The nodes of a
    networkx graph are numbered in the order of `graph.nodes`.

    Args:
        edges: The links.
        n: Number of nodes. A sparse matrix and a networkx graph know theirs.

    Returns:
        Array of shape [m, 2], and n.

    Raises:
        ValueError: n is unknown or another than that of the graph, or the pairs are no node numbers below n.

    Example:
        >>> pairs, n = edge_array([(0, 1), (1, 2)], 4)
        >>> pairs.shape, n
        ((2, 2), 4)

    """
    pairs, own_n = _pairs(edges)
    n = own_n if n is None else n
    if n is None:
        # The set of nodes is public, so it must not be read off the links, which are private.
        raise ValueError("the number of nodes is not known; pass n, since nodes without a link count too")
    if own_n not in (None, n):
        raise ValueError(f"n is {n}, but the graph has {own_n} nodes; leave n out")
    if pairs.size == 0:
        pairs = np.empty((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:  # noqa: PLR2004 (a link has two ends)
        raise ValueError(f"edges have the shape {list(pairs.shape)}; give an array of shape [m, 2]")
    if not np.issubdtype(pairs.dtype, np.integer):
        raise ValueError(f"edges hold values of the type {pairs.dtype}; give whole numbers from 0 to n - 1")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
        raise ValueError(f"edges name nodes outside 0 to {n - 1}; number the nodes from 0 on, or pass a larger n")
    return pairs.astype(np.int64), n


def _pairs(edges: Any) -> tuple[npt.NDArray[Any], int | None]:
    if isinstance(edges, pl.DataFrame):
        return edges[:, :2].to_numpy(), None
    if hasattr(edges, "tocoo"):
        matrix = edges.tocoo()
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"the matrix has the shape {list(matrix.shape)}; an adjacency matrix is square")
        kept = matrix.data != 0
        return np.column_stack([matrix.row[kept], matrix.col[kept]]), matrix.shape[0]
    if hasattr(edges, "edges") and hasattr(edges, "nodes"):
        number = {node: at for at, node in enumerate(edges.nodes)}
        pairs = [(number[source], number[target]) for source, target in edges.edges()]
        return np.array(pairs, np.int64), len(number)
    return np.asarray(edges), None
