"""From a graph to the libraries that people train with; each is imported only when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from veilgraph.errors import missing_extra

if TYPE_CHECKING:
    import networkx as nx
    import numpy.typing as npt
    import scipy.sparse

    from veilgraph.graphs import Graph

#: Names of the masks in PyG and DGL, by the code of their split.
_MASKS = ("train_mask", "val_mask", "test_mask")


def to_networkx(graph: Graph) -> nx.Graph[int]:
    """Return the graph for networkx."""
    try:
        import networkx as nx  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra(error, "networkx") from error
    result: nx.Graph[int] = nx.DiGraph() if graph.directed else nx.Graph()
    result.add_nodes_from(range(graph.n_nodes))
    result.add_weighted_edges_from(graph.edges.iter_rows())
    if graph.labels is not None:
        known = {node: int(label) for node, label in enumerate(graph.labels) if label >= 0}
        nx.set_node_attributes(result, known, "label")
    if graph.features is not None:
        nx.set_node_attributes(result, dict(enumerate(graph.features.tolist())), "features")
    if graph.names is not None:
        nx.set_node_attributes(result, dict(enumerate(graph.names)), "name")
    return result


def to_scipy(graph: Graph) -> scipy.sparse.csr_array:
    """Return the graph for SciPy."""
    try:
        import scipy.sparse  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra(error, "scipy") from error
    source, target, weight = _directions(graph)
    return scipy.sparse.coo_array((weight, (source, target)), shape=(graph.n_nodes, graph.n_nodes)).tocsr()


def to_pyg(graph: Graph) -> Any:
    """Return the graph for PyTorch Geometric."""
    try:
        import torch  # noqa: PLC0415
        from torch_geometric.data import Data  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra(error, "pyg") from error
    source, target, weight = _directions(graph)
    data = Data(edge_index=torch.from_numpy(np.stack([source, target])), edge_weight=torch.from_numpy(weight))
    data.num_nodes = graph.n_nodes
    for name, values in _of_nodes(graph, features="x", labels="y").items():
        data[name] = torch.from_numpy(values)
    return data


def to_dgl(graph: Graph) -> Any:
    """Return the graph for the Deep Graph Library."""
    try:
        import dgl  # noqa: PLC0415
        import torch  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra(error, "dgl") from error
    source, target, weight = _directions(graph)
    result = dgl.graph((torch.from_numpy(source), torch.from_numpy(target)), num_nodes=graph.n_nodes)
    result.edata["weight"] = torch.from_numpy(weight)
    for name, values in _of_nodes(graph, features="feat", labels="label").items():
        result.ndata[name] = torch.from_numpy(values)
    return result


def _directions(graph: Graph) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Return source, target and weight of each message: an undirected link has two."""
    source, target = (graph.edges[end].to_numpy().astype(np.int64) for end in ("source", "target"))
    weight = graph.edges["weight"].to_numpy().astype(np.float32)
    if graph.directed:
        return source, target, weight
    return np.concatenate([source, target]), np.concatenate([target, source]), np.concatenate([weight, weight])


def _of_nodes(graph: Graph, *, features: str, labels: str) -> dict[str, npt.NDArray[Any]]:
    """Return what is known of the nodes, under these names."""
    known: dict[str, npt.NDArray[Any]] = {}
    if graph.features is not None:
        # A copy, since tensors may be written to.
        known[features] = graph.features.copy()
    if graph.labels is not None:
        known[labels] = graph.labels.copy()
        if graph.splits is not None:
            known.update({name: graph.splits == code for code, name in enumerate(_MASKS)})
    return known
