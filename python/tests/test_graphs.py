"""Graphs for other libraries."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import polars as pl
import pytest

import veilgraph

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

EDGES = pl.DataFrame(
    {"source": [0, 1], "target": [2, 3], "weight": [0.5, 0.25]},
    schema={"source": pl.UInt32, "target": pl.UInt32, "weight": pl.Float32},
)
FEATURES = np.arange(10, dtype=np.float32).reshape(5, 2)
GRAPH = veilgraph.Graph(
    EDGES,
    5,
    features=FEATURES,
    labels=np.array([0, 1, 0, 1, -1]),
    splits=np.array([0, 1, 2, 0, 3], np.uint8),
)
DIRECTED = veilgraph.Graph(EDGES, 5, directed=True)


def test_networkx() -> None:
    graph = GRAPH.to_networkx()
    assert list(graph.edges(data="weight")) == [(0, 2, 0.5), (1, 3, 0.25)]
    assert list(graph) == [0, 1, 2, 3, 4]
    assert nx.get_node_attributes(graph, "label") == {0: 0, 1: 1, 2: 0, 3: 1}
    assert graph.nodes[4]["features"] == [8.0, 9.0]
    assert json.loads(json.dumps(nx.node_link_data(graph)))["nodes"][4]["features"] == [8.0, 9.0]
    for node in graph:
        del graph.nodes[node]["features"]
    nx.write_graphml(graph, io.BytesIO())
    assert DIRECTED.to_networkx().is_directed()


def test_scipy() -> None:
    expected = np.zeros((5, 5))
    expected[0, 2], expected[1, 3] = 0.5, 0.25
    np.testing.assert_array_equal(DIRECTED.to_scipy().toarray(), expected)
    np.testing.assert_array_equal(GRAPH.to_scipy().toarray(), expected + expected.T)


def test_pyg() -> None:
    pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed: pip install 'veilgraph[pyg]'")
    data = GRAPH.to_pyg()
    data.validate()
    assert data.num_nodes == 5
    assert data.is_undirected()
    assert data.edge_index.tolist() == [[0, 1, 2, 3], [2, 3, 0, 1]]
    assert data.edge_weight.tolist() == [0.5, 0.25, 0.5, 0.25]
    np.testing.assert_array_equal(data.x.numpy(), FEATURES)
    assert data.y.tolist() == [0, 1, 0, 1, -1]
    masks = (data.train_mask, data.val_mask, data.test_mask)
    assert [mask.nonzero().ravel().tolist() for mask in masks] == [[0, 3], [1], [2]]
    assert DIRECTED.to_pyg().edge_index.tolist() == [[0, 1], [2, 3]]


def test_from_pyg(tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed: pip install 'veilgraph[pyg]'")
    folder = tmp_path_factory.mktemp("pyg")
    table = veilgraph.from_pyg(folder / "data", GRAPH.to_pyg())
    config = {"name": "pyg", "ingest": {**table, "normalize": "none"}, "privatize": {"links": {"epsilon": 1.0}}}
    run = veilgraph.run(config, store=folder / "store", until="ingest")
    assert run.artifact("ingest/all/links").collect().rows() == [(0, 2), (1, 3)]
    assert run.artifact("ingest/all/nodes").collect()["split"].to_list() == [0, 1, 2, 0, 3]
    assert run.artifact("ingest/all/held_out_labels").collect().rows() == [(2, 0)]


def test_dgl() -> None:
    pytest.importorskip("dgl", reason="DGL is not installed: pip install 'veilgraph[dgl]'")
    graph = GRAPH.to_dgl()
    assert graph.num_nodes() == 5
    assert [ends.tolist() for ends in graph.edges()] == [[0, 1, 2, 3], [2, 3, 0, 1]]
    assert graph.edata["weight"].tolist() == [0.5, 0.25, 0.5, 0.25]
    assert graph.ndata["train_mask"].tolist() == [True, False, False, True, False]


def test_dgl_there_and_back(tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("dgl", reason="DGL is not installed: pip install 'veilgraph[dgl]'")
    folder = tmp_path_factory.mktemp("dgl")
    table = veilgraph.from_dgl(folder / "data", GRAPH.to_dgl())
    config = {"name": "dgl", "ingest": {**table, "normalize": "none"}, "privatize": {"links": {"epsilon": 1.0}}}
    run = veilgraph.run(config, store=folder / "store", until="ingest")
    assert run.artifact("ingest/all/links").collect().rows() == [(0, 2), (1, 3)]
    assert run.artifact("ingest/all/nodes").collect()["split"].to_list() == [0, 1, 2, 0, 3]


@pytest.mark.parametrize(
    ("method", "package", "extra"),
    [
        ("to_networkx", "networkx", "networkx"),
        ("to_scipy", "scipy.sparse", "scipy"),
        ("to_pyg", "torch", "pyg"),
        ("to_dgl", "dgl", "dgl"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    method: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf'pip install "veilgraph\[{extra}\]"'):
        getattr(GRAPH, method)()


def test_a_graph_knows_features_labels_and_splits_of_its_reports(ring_reports: veilgraph.Reports) -> None:
    graph = veilgraph.graph(ring_reports, "hybrid", edge_multiple=2)
    assert (graph.n_nodes, graph.directed) == (12, False)
    assert graph.features is not None
    assert graph.labels is not None
    assert graph.splits is not None
    np.testing.assert_array_equal(graph.features, np.eye(12))
    assert graph.labels.tolist() == [node // 6 for node in range(12)]
    assert graph.splits.tolist() == [0, 1, 2] * 4


def test_private_labels_and_features_of_reports_are_not_the_true_ones(ring: list[tuple[int, int]]) -> None:
    private = {
        "privatize.labels.mechanism": "randomized-response",
        "privatize.labels.epsilon": 0.01,
        "privatize.features.mechanism": "multi-bit",
        "privatize.features.epsilon": 1.0,
    }
    truth, words = np.arange(12) // 6, ["train", "validation", "test"] * 4
    features = np.eye(12)
    with veilgraph.randomize(
        ring, 12, epsilon=8.0, seed=1, features=features, labels=truth, splits=words, settings=private
    ) as reports:
        graph = veilgraph.graph(reports)
        noisy = reports.artifact("noisy_labels")
    assert graph.features is None
    assert graph.labels is not None
    assert graph.held_out_labels is not None
    assert graph.labels[noisy["node"]].tolist() == noisy["class"].to_list()
    assert graph.labels[2::3].tolist() == [-1] * 4
    assert graph.labels.tolist() != [-1 if word == "test" else label for word, label in zip(words, truth, strict=True)]
    assert graph.held_out_labels[2::3].tolist() == truth[2::3].tolist()


def test_other_mechanisms_build_graphs_too(ring: list[tuple[int, int]]) -> None:
    with veilgraph.randomize(ring, 12, epsilon=float("inf"), mechanism="rr", seed=1) as reports:
        graph = veilgraph.graph(reports)
        assert graph.directed
        assert sorted(graph.to_networkx().to_undirected().edges) == sorted(tuple(sorted(pair)) for pair in ring)
        with pytest.raises(veilgraph.VeilgraphError, match="construct"):
            veilgraph.graph(reports, "hybrid")


def test_a_soft_graph_lists_no_links() -> None:
    with (
        veilgraph.randomize([(0, 1), (1, 2)], 8, epsilon=4.0, seed=1) as reports,
        pytest.raises(ValueError, match="a soft graph links all pairs"),
    ):
        veilgraph.graph(reports, settings={"construct.variant": "soft"})


def test_what_an_earlier_run_made_has_its_name(config: dict[str, object], tmp_path: Path) -> None:
    store = tmp_path / "store"
    for epsilon in (4.0, 6.0):
        veilgraph.run(config, store=store, set={"privatize.links.epsilon": epsilon, "trials": 1}, until="construct")
    last, earlier = (
        veilgraph.Graph.read(f"small{run}/construct/trial-0/graph", store=store).edges for run in ("", "@2")
    )
    assert not last.equals(earlier)
    assert earlier.equals(veilgraph.artifact("small@2/construct/trial-0/graph", store=store).collect())
    for name, words in (("small@3/construct", "has 2 runs"), ("small@2/construct", "small@2/construct/trial-0/graph")):
        with pytest.raises(FileNotFoundError, match=words):
            veilgraph.artifact(name, store=store)


def test_private_labels_are_those_that_nodes_reported(config: dict[str, object], tmp_path: Path) -> None:
    private = {"privatize.labels.mechanism": "randomized-response", "privatize.labels.epsilon": 1.0}
    more = {**private, "references": ["no-links"], "privatize.links.epsilon": [4.0, 6.0], "trials": 2}
    run = veilgraph.run(config, store=tmp_path / "store", set=more, until="construct")
    graph = veilgraph.Graph.read("small/construct/epsilon-4,trial-1/graph", store=run.store)
    assert graph.labels is not None
    assert graph.held_out_labels is not None
    assert graph.splits is not None
    is_of_server = graph.splits < 2
    noisy = run.artifact("privatize/trial-1/noisy_labels").collect()
    assert graph.labels[noisy["node"]].tolist() == noisy["class"].to_list()
    # Every node that trains has a class, which PyG and PyTorch ask for, and no test node has one.
    assert (graph.labels[is_of_server] >= 0).all()
    assert (graph.labels[~is_of_server] == -1).all()
    held_out = run.artifact("ingest/all/held_out_labels").collect()
    assert graph.held_out_labels[held_out["node"]].tolist() == held_out["class"].to_list()
    assert (graph.held_out_labels[is_of_server] == -1).all()
    # One graph without links serves both trials, in which nodes reported different labels.
    floor = veilgraph.Graph.read("small/construct/no-links/graph", store=run.store)
    assert floor.labels is None
    assert floor.held_out_labels is not None


def test_a_floor_of_one_trial_has_its_reported_labels(config: dict[str, object], tmp_path: Path) -> None:
    private = {"privatize.labels.mechanism": "randomized-response", "privatize.labels.epsilon": 1.0}
    more = {**private, "references": ["no-links"]}
    run = veilgraph.run(config, store=tmp_path / "store", set=more, until="construct")
    graph = veilgraph.Graph.read("small/construct/no-links/graph", store=run.store)
    noisy = run.artifact("privatize/no-links,trial-0/noisy_labels").collect()
    assert graph.labels is not None
    assert graph.labels[noisy["node"]].tolist() == noisy["class"].to_list()


def of_a_curator(
    folder: Path, labels: list[int], splits: list[str], features: npt.NDArray[np.float64]
) -> dict[str, object]:
    """Return the config of a ring that a curator releases, so that one graph is all that a server gets."""
    links = [(node, (node + 1) % 12) for node in range(12)]
    table = veilgraph.write_files(folder, links, n=12, labels=labels, splits=splits, features=features)
    return {
        "name": "club",
        "references": [],
        "ingest": {**table, "normalize": "none"},
        "privatize": {"links": {"mechanism": "edgerand", "epsilon": 4.0}},
        "train": {"epochs": 1},
    }


@pytest.mark.parametrize("turn", [0, 1])
def test_a_deployment_is_not_joined_with_a_simulation(tmp_path: Path, turn: int) -> None:
    words, labels = ["train", "validation", "test"] * 4, [0] * 6 + [1] * 6
    real = of_a_curator(tmp_path / "real", labels, words, np.eye(12))
    privacy = {"randomness": "os", "population": "club", "budget": 8.0}
    store = veilgraph.run({**real, "privacy": privacy}, store=tmp_path / "store", until="train").store
    drawn, path = (store / part / "runs/club/privatize/trial-0/graph.parquet" for part in ("owner", "server"))
    for place in (drawn, path):
        graph = veilgraph.Graph.read(place)
        assert graph.labels is not None
        assert graph.labels.tolist() == labels
    # A simulation of the same name has other labels, and the same nodes for the same purposes, or others.
    other = of_a_curator(tmp_path / "other", labels[::-1], words[turn:] + words[:turn], 1 - np.eye(12))
    veilgraph.run(other, store=store, until="train")
    graph = veilgraph.Graph.read(path)
    assert graph.labels is not None
    assert graph.splits is not None
    assert graph.labels.tolist() == [-1 if word == "test" else label for word, label in zip(words, labels, strict=True)]
    assert graph.splits.tolist() == [0, 1, 2] * 4
    np.testing.assert_array_equal(graph.features, np.eye(12))
    simulated = veilgraph.Graph.read(store / "simulation/runs/club/privatize/trial-0/graph.parquet")
    assert simulated.labels is not None
    assert simulated.labels.tolist() == labels[::-1]


def test_public_labels_are_true(small: veilgraph.Run) -> None:
    graph = veilgraph.Graph.read("small/construct/trial-0/graph", store=small.store)
    assert graph.held_out_labels is None
    assert graph.labels is not None
    assert (graph.labels >= 0).all()


def test_a_graph_is_read_by_its_path_too(small: veilgraph.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    named = veilgraph.Graph.read("small/construct/trial-0/graph", store=small.store)
    assert named.features is not None
    path = small.store / "simulation/runs/small/construct/trial-0/graph.parquet"
    monkeypatch.chdir(path.parent)
    for place in (path, path.name):
        graph = veilgraph.Graph.read(place)
        assert graph.features is not None
        np.testing.assert_array_equal(graph.features, named.features)
        np.testing.assert_array_equal(graph.labels, named.labels)
        np.testing.assert_array_equal(graph.splits, named.splits)
        assert graph.names == named.names
    # Beside readable names, nothing says which nodes these are.
    assert veilgraph.Graph.read(path.resolve()).features is None


def test_what_is_no_graph_is_named(small: veilgraph.Run, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the artifact `noisy_links` and no graph; graphs are called `graph`"):
        veilgraph.Graph.read("small/privatize/trial-0/noisy_links", store=small.store)
    with pytest.raises(ValueError, match=r"model\.safetensors: not a readable Parquet file"):
        veilgraph.Graph.read("small/train/trial-0/model.safetensors", store=small.store)
    EDGES.write_parquet(tmp_path / "edges.parquet")
    with pytest.raises(ValueError, match="no artifact of Veilgraph"):
        veilgraph.Graph.read(tmp_path / "edges.parquet")
    with pytest.raises(FileNotFoundError, match=r"add the name of one: graph$"):
        veilgraph.Graph.read("small/construct/trial-0", store=small.store)
