"""Graphs that a server builds, ready for other libraries."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from veilgraph import conversions
from veilgraph.artifacts import PathLike, facts_of, find, scan
from veilgraph.reports import Reports, files_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import networkx as nx
    import numpy.typing as npt
    import polars as pl
    import scipy.sparse


@dataclass(frozen=True)
class Graph:
    """A weighted graph of nodes 0 to n - 1.

    Attributes:
        edges: `source` u32, `target` u32, `weight` f32 in (0, 1]; source < target unless the graph is directed.
        n_nodes: Number of nodes.
        directed: Whether a message goes from source to target alone.
        features: Shape [n, d]; `None` where there are none, or they are private.
        labels: Shape [n]: classes, and -1 where unknown. Where labels are public, those of test nodes are among them,
            for scores; a server does not hold them. Where labels are private, these are the classes that training and
            validation nodes reported, of which some are noise, and test nodes have -1.
        splits: Shape [n]: 0 training, 1 validation, 2 test, 3 nothing.
        class_names: What the classes are called, in their order, where they have other names than their numbers.
        names: What the nodes are called in the files that they were read from.
        held_out_labels: Shape [n]: where labels are private, the true classes of test nodes, for scores, and -1 for
            other nodes; else `None`.

    """

    edges: pl.DataFrame
    n_nodes: int
    directed: bool = False
    features: npt.NDArray[np.float32] | None = None
    labels: npt.NDArray[np.int64] | None = None
    splits: npt.NDArray[np.uint8] | None = None
    class_names: Sequence[str] | None = None
    names: Sequence[str] | None = None
    held_out_labels: npt.NDArray[np.int64] | None = None

    @classmethod
    def read(cls, name: PathLike, *, store: PathLike | None = None) -> Graph:
        """Read a graph of the last run of a name, with what the graph's part of the store holds about its nodes.

        Where labels are private, `labels` are those that the nodes reported (the artifact `noisy_labels`). They are
        `None` where several reports go with this graph: a floor such as `no-links` has one graph for all trials, and
        nodes report anew in each trial. The labels of test nodes lie in the auditor's part, which has those of the last
        run of the name. The graph of a deployment never has those of a simulation, and the other way round.

        Args:
            name: Readable name, such as `demo/construct/best,epsilon-4,variant-hybrid,trial-0/graph`, or a path. Only
                what lies below the folder `runs` of a store has features, labels, splits and names.
            store: As for `veilgraph.artifact`.

        Raises:
            FileNotFoundError: There is no such graph.
            ValueError: This is another artifact, or the graph is soft, so that its links are not stored.

        """
        file = find(name, store)
        return _graph(file, partial(_behind, file))

    def to_networkx(self) -> nx.Graph[int]:
        """Return a `networkx.Graph` (or `DiGraph`) of nodes 0 to n - 1 with the edge attribute `weight`.

        Nodes have the attributes `label`, `features` (a list of d numbers) and `name` where these are known. GraphML
        and GEXF have no lists: remove `features` from the nodes before you write such a file.

        Raises:
            ImportError: networkx is missing; the extra is `veilgraph[networkx]`.

        """
        return conversions.to_networkx(self)

    def to_pyg(self) -> Any:
        """Return a `torch_geometric.data.Data`: `edge_index` [2, e], `edge_weight` [e], and what is known of nodes.

        An undirected link stands in it in both directions. Nodes have `x` [n, d], `y` [n], `train_mask`, `val_mask`
        and `test_mask`. Where labels are private, `y` is -1 for test nodes, and they are scored by `held_out_labels`.

        Raises:
            ImportError: torch or torch_geometric is missing; the extra is `veilgraph[pyg]`.

        """
        return conversions.to_pyg(self)

    def to_dgl(self) -> Any:
        """Return a DGL graph with both directions of undirected links and `edata["weight"]`.

        Nodes have `ndata` of the names `feat`, `label`, `train_mask`, `val_mask` and `test_mask`. Where labels are
        private, `label` is -1 for test nodes, and they are scored by `held_out_labels`.

        Raises:
            ImportError: torch or DGL is missing; the extra is `veilgraph[dgl]`.

        """
        return conversions.to_dgl(self)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the weighted adjacency matrix, shape [n, n]; row `source`, column `target`.

        Raises:
            ImportError: SciPy is missing; the extra is `veilgraph[scipy]`.

        """
        return conversions.to_scipy(self)


def graph(
    reports: Reports,
    variant: Literal["hybrid", "hard"] | None = None,
    *,
    method: str | None = None,
    edge_multiple: float | None = None,
    settings: Mapping[str, object] | None = None,
) -> Graph:
    """Build the graph that a server trains on; this costs no budget.

    Args:
        reports: Reports of any mechanism.
        variant: For `blink`: `hybrid` (the likeliest pairs, weighted by their probabilities; the default) or `hard`
            (all pairs likelier than not, with weight 1).
        method: For `blink`: `best` (the default), which also reads features and labels where there are some, or
            `published` (the Blink paper).
        edge_multiple: For hybrid graphs: how many links are kept, as a multiple of the expected number; above 0.
        settings: Further fields by dotted name, such as `{"construct.edge_model": "chung-lu"}`.

    Raises:
        ValueError: The reports are closed, or the graph is soft; `link_probabilities` has the weights of that.
        VeilgraphError: The program refuses a setting.

    Example:
        >>> data = veilgraph.graph(reports, "hybrid", method="best", edge_multiple=2).to_pyg()

    """
    given: dict[str, dict[str, object]] = {
        "construct": {"variant": variant, "edge_multiple": edge_multiple},
        "estimate": {"method": method},
    }
    tables = {name: {key: value for key, value in table.items() if value is not None} for name, table in given.items()}
    document = reports.bring("construct", {name: table for name, table in tables.items() if table}, settings)
    files = files_of(document)
    # The nodes of an array have numbers and no names.
    return _graph(files["graph"], {**files, "node_map": None}.get)


def _graph(file: Path, lookup: Callable[[str], Path | None]) -> Graph:
    """Return the graph in a file, with what the tables that a lookup finds by their names say about its nodes."""
    edges, n_nodes, directed = _edges_of(file)
    features, nodes, node_map = lookup("features"), lookup("nodes"), lookup("node_map")
    splits = None if nodes is None else scan(nodes).collect()["split"].to_numpy()
    public, held_out = lookup("labels"), lookup("held_out_labels")
    if public is not None:
        labels, held_out_labels = _classes([public, held_out], n_nodes), None
    else:
        # The owner keeps the true ones, and the server has what the nodes reported.
        labels, held_out_labels = _classes([lookup("noisy_labels")], n_nodes), _classes([held_out], n_nodes)
    class_names = None if nodes is None else facts_of(nodes).get("class_names")
    return Graph(
        edges,
        n_nodes,
        directed,
        features=None if features is None else _dense(features),
        labels=labels,
        held_out_labels=held_out_labels,
        splits=splits,
        class_names=None if class_names is None else json.loads(class_names),
        names=None if node_map is None else scan(node_map).sort("node").collect()["name"].to_list(),
    )


def _edges_of(path: Path) -> tuple[pl.DataFrame, int, bool]:
    facts = facts_of(path)
    kind = facts.get("veilgraph.artifact")
    if kind != "graph":
        what = "no artifact of Veilgraph" if kind is None else f"the artifact `{kind}` and no graph"
        raise ValueError(f"{path}: this is {what}; graphs are called `graph`, and mostly lie below `construct`")
    if facts.get("variant") == "soft":
        raise ValueError(
            "a soft graph links all pairs and lists none; read `LinkProbabilities`, or build a hybrid graph"
        )
    edges = scan(path).collect()
    return edges, int(facts["n_nodes"]), facts["directed"] == "true"


def _behind(file: Path, table: str) -> Path | None:
    """Return the table that a graph rests on, or nothing where its part of the store, or that of the auditor, has none.

    Args:
        file: The graph, `<store>/<part>/runs/<experiment>/<stage>/<run>/graph.parquet`.
        table: Name of the table.

    """
    run = file.absolute().parent
    experiment = run.parent.parent
    if experiment.parent.name != "runs":
        return None
    part = experiment.parent.parent
    if part.name == "owner":
        # The owner has the true labels, and keeps a copy of a graph that it drew for the server.
        part = part.parent / "server"
    is_held_out = table == "held_out_labels"
    stage = "privatize" if table == "noisy_labels" else "ingest"
    place = (part.parent / "auditor" if is_held_out else part) / "runs" / experiment.name / stage
    files = {path.parent.name: path for path in place.glob(f"*/{table}.parquet")}
    # What the label of an earlier run says, that of the artifact says too, unless several trials share the artifact.
    choices = set(run.name.split(","))
    fitting = [label for label in files if choices.issuperset(label.split(","))]
    wider = [label for label in files if choices.issubset(label.split(","))]
    found = max(fitting, key=len, default=wider[0] if len(wider) == 1 else "all")
    path = files.get(found)
    if is_held_out and path is not None:
        # The auditor has one such table for a name, that of its last run. A simulation has its data in its own part.
        is_simulated = (part.parent / "simulation" / "ingest" / path.resolve().parent.name).is_dir()
        return path if is_simulated == (part.name == "simulation") else None
    return path


def _dense(path: Path) -> npt.NDArray[np.float32]:
    facts, rows = facts_of(path), scan(path).collect()
    array = np.zeros((int(facts["n_nodes"]), int(facts["n_features"])), np.float32)
    array[rows["node"], rows["feature"]] = rows["value"]
    return array


def _classes(paths: list[Path | None], n_nodes: int) -> npt.NDArray[np.int64] | None:
    known = [scan(path).collect() for path in paths if path is not None]
    if not known:
        return None
    classes = np.full(n_nodes, -1, np.int64)
    for rows in known:
        classes[rows["node"]] = rows["class"]
    return classes
