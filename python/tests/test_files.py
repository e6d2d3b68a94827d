"""Files of graphs, as the program reads them."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"features": FEATURES[:4]}, r"shape \[4, 3\]; give one row for each of 5"),
        ({"features": np.full((5, 1), np.nan)}, "not finite"),
        ({"labels": [0, 1]}, "give 5 whole numbers"),
        ({"labels": [0.5] * 5}, "whole numbers"),
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
