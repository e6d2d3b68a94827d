"""Files of graphs, as the program reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

import veilgraph

if TYPE_CHECKING:
    from pathlib import Path

#: Five nodes; the last has no link, no feature and no label.
LINKS = [(0, 1), (1, 2), (2, 0), (2, 3)]
FEATURES = np.array([[0.5, 0, 0], [0, 2.25, 0], [-1, 0, 0], [0.1, 3, 0], [0, 0, 0]], np.float32)
LABELS = [0, 1, 0, 1, -1]
SPLITS = ["train", "train", "validation", "test", "none"]


def ingest(table: dict[str, object], tmp_path: Path) -> veilgraph.Run:
    """Let the program read files."""
    config = {"name": "own", "ingest": {**table, "normalize": "none"}, "privatize": {"links": {"epsilon": 1.0}}}
    return veilgraph.run(config, store=tmp_path / "store", until="ingest")


def links(run: veilgraph.Run) -> list[tuple[str, str]]:
    """Return the links that the program read, by the names of their ends."""
    name = dict(run.artifact("ingest/all/node_map").collect().iter_rows())
    rows = run.artifact("ingest/all/links").collect().iter_rows()
    return sorted((min(name[i], name[j]), max(name[i], name[j])) for i, j in rows)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_program_reads_what_was_written(data_folder: Path, tmp_path: Path, *, is_sparse: bool) -> None:
    features = scipy.sparse.csr_array(FEATURES) if is_sparse else FEATURES
    table = veilgraph.write_files(data_folder, LINKS, n=5, features=features, labels=LABELS, splits=SPLITS)
    run = ingest(table, tmp_path)
    assert links(run) == [("0", "1"), ("0", "2"), ("1", "2"), ("2", "3")]
    read = np.zeros((5, 3), np.float32)
    rows = run.artifact("ingest/all/features").collect()
    read[rows["node"], rows["feature"]] = rows["value"]
    np.testing.assert_array_equal(read, FEATURES)
    assert run.facts("ingest/all/features")["n_features"] == "3"
    assert run.artifact("ingest/all/labels").collect().rows() == [(0, 0), (1, 1), (2, 0)]
    assert run.artifact("ingest/all/held_out_labels").collect().rows() == [(3, 1)]
    assert run.artifact("ingest/all/nodes").collect()["split"].to_list() == [0, 0, 1, 2, 3]


def test_nodes_have_names(data_folder: Path, tmp_path: Path) -> None:
    names = ["zoë", "source", "b c", "10", "9"]
    run = ingest(veilgraph.write_files(data_folder, LINKS, n=5, names=names), tmp_path)
    assert links(run) == sorted((min(names[i], names[j]), max(names[i], names[j])) for i, j in LINKS)


@pytest.mark.parametrize("unknown", [None, "", float("nan")])
def test_classes_may_be_texts(data_folder: Path, tmp_path: Path, unknown: Any) -> None:
    labels = ["nurse", "baker", "nurse", "baker", unknown]
    run = ingest(veilgraph.write_files(data_folder, LINKS, n=5, labels=labels, splits=SPLITS), tmp_path)
    assert json.loads(run.facts("ingest/all/nodes")["class_names"]) == ["baker", "nurse"]
    assert run.artifact("ingest/all/labels").collect().rows() == [(0, 1), (1, 0), (2, 1)]
    assert run.artifact("ingest/all/held_out_labels").collect().rows() == [(3, 0)]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"features": FEATURES[:4]}, r"shape \[4, 3\]; give one row for each of 5"),
        ({"features": np.full((5, 1), np.nan)}, "not finite"),
        ({"labels": [0, 1]}, "give 5 whole numbers"),
        ({"labels": [0.5] * 5}, "whole numbers"),
        ({"labels": ["a", " a", "b", "b", None]}, "the class ' a' cannot stand"),
        ({"splits": ["train"] * 4 + ["valid"]}, r"\['valid'\] among them"),
        ({"names": ["a"] * 5}, "1 different texts; give 5"),
        ({"names": ["a,b", "c", "d", "e", "f"]}, "'a,b' cannot stand"),
        ({"names": ["#a", "c", "d", "e", "f"]}, "'#a' cannot stand"),
    ],
)
def test_wrong_nodes_are_refused_with_a_remedy(data_folder: Path, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        veilgraph.write_files(data_folder, LINKS, n=5, **wrong)


def test_networkx_there_and_back(data_folder: Path, tmp_path: Path) -> None:
    club = nx.karate_club_graph()
    for node, data in club.nodes(data=True):
        data["side"] = int(data["club"] == "Officer")
        data["numbers"] = [float(node), 1.0]
    table = veilgraph.from_networkx(data_folder, club, label="side", feature="numbers")
    config = {"name": "club", "ingest": table, "privatize": {"links": {"mechanism": "non-private"}}}
    run = veilgraph.run({**config, "evaluate": {"metrics": ["density"]}}, store=tmp_path / "store")
    (label,) = run.stages.filter(stage="construct")["label"]
    back = veilgraph.Graph.read(f"club/construct/{label}/graph", store=run.store)
    assert nx.utils.edges_equal(back.to_networkx().edges, club.edges)
    assert back.features is not None
    assert back.labels is not None
    assert back.features.shape == (34, 2)
    assert back.labels.tolist() == [data["side"] for _, data in club.nodes(data=True)]


def test_a_graph_knows_the_names_of_nodes_and_classes(data_folder: Path, tmp_path: Path) -> None:
    club = nx.karate_club_graph()
    table = veilgraph.from_networkx(data_folder, club, label="club")
    config = {
        "name": "clubs",
        "ingest": {**table, "split": {"train": 0.5, "validation": 0.25, "test": 0.25, "seed": [1, 2]}},
        "privatize": {"links": {"mechanism": "non-private"}},
        "evaluate": {"metrics": ["density"]},
    }
    run = veilgraph.run(config, store=tmp_path / "store", until="construct")
    splits = []
    for label in run.stages.filter(stage="construct")["label"]:
        graph = veilgraph.Graph.read(f"clubs/construct/{label}/graph", store=run.store)
        assert graph.class_names == ["Mr. Hi", "Officer"]
        assert graph.names == [str(node) for node in range(34)]
        assert graph.to_networkx().nodes[33]["name"] == "33"
        assert graph.splits is not None
        splits.append(graph.splits.tolist())
    # The split is swept, so every graph has nodes of its own.
    assert len(splits) == 2
    assert splits[0] != splits[1]


class Tensor:
    """What `from_dgl` asks of a tensor."""

    def __init__(self, values: object) -> None:
        """Hold these numbers."""
        self.values = np.asarray(values)

    def cpu(self) -> Tensor:
        """Return the tensor, which is on the CPU."""
        return self

    def numpy(self) -> object:
        """Return the array."""
        return self.values


class DglGraph:
    """What `from_dgl` asks of a graph of DGL."""

    def __init__(self, **known: object) -> None:
        """Know these numbers of nodes."""
        self.ndata = {name: Tensor(values) for name, values in known.items()}

    def num_nodes(self) -> int:
        """Return the number of nodes."""
        return 5

    def edges(self) -> tuple[Tensor, Tensor]:
        """Return sources and targets."""
        source, target = zip(*LINKS, strict=True)
        return Tensor(source), Tensor(target)


def test_from_dgl(data_folder: Path, tmp_path: Path) -> None:
    words = {"train_mask": "train", "val_mask": "validation", "test_mask": "test"}
    masks = {mask: [split == word for split in SPLITS] for mask, word in words.items()}
    run = ingest(veilgraph.from_dgl(data_folder, DglGraph(feat=FEATURES, label=LABELS, **masks)), tmp_path)
    assert links(run) == [("0", "1"), ("0", "2"), ("1", "2"), ("2", "3")]
    assert run.artifact("ingest/all/labels").collect().rows() == [(0, 0), (1, 1), (2, 0)]
    assert run.artifact("ingest/all/held_out_labels").collect().rows() == [(3, 1)]
    bare = veilgraph.from_dgl(data_folder / "bare", DglGraph())
    assert {"features", "labels", "split"}.isdisjoint(bare)
