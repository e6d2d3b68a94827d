"""Reports of the nodes of an edge array."""

from __future__ import annotations

import gc
import warnings
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import polars as pl
import pytest
import scipy.sparse

import veilgraph
from veilgraph.edges import edge_array

if TYPE_CHECKING:
    import numpy.typing as npt

    from veilgraph.edges import Edges


def matrix(frame: pl.DataFrame, n: int) -> npt.NDArray[np.bool_]:
    """Return links as a matrix of bits."""
    bits = np.zeros((n, n), bool)
    bits[frame["source"], frame["target"]] = True
    return bits


def test_as_many_bits_are_flipped_as_the_budget_says(edges: npt.NDArray[np.int64], n: int) -> None:
    """Each of the n (n - 1) bits flips with probability 1 / (1 + e^epsilon).

    The count is binomial and lies within 5 standard deviations but for one seed of 1.7 million.
    """
    epsilon = 2.0
    with veilgraph.randomize(edges, n, epsilon=epsilon, degree_fraction=0.0, seed=11) as reports:
        noisy = matrix(reports.noisy_links, n)
    truth = matrix(pl.DataFrame(edges, schema=["source", "target"]), n)
    flips = (noisy != (truth | truth.T)).sum()
    bits, probability = n * (n - 1), 1 / (1 + np.exp(epsilon))
    assert abs(flips - bits * probability) < 5 * np.sqrt(bits * probability * (1 - probability))
    assert not noisy.diagonal().any()


def test_degrees_have_the_noise_of_their_share(edges: npt.NDArray[np.int64], n: int) -> None:
    """Discrete Laplace noise at b nats has variance 1 / (2 sinh²(b / 2)) and mean 0.

    The mean of n of them lies within 5 standard deviations but for about one seed of a million.
    """
    with veilgraph.randomize(edges, n, epsilon=4.0, degree_fraction=0.25, seed=12) as reports:
        assert reports.facts["epsilon_degree"] == "1"
        degrees = reports.noisy_degrees.sort("node")["degree"].to_numpy()
    noise = degrees - np.bincount(edges.ravel(), minlength=n)
    deviation = 1 / (np.sqrt(2) * np.sinh(0.5))
    assert abs(noise.mean()) < 5 * deviation / np.sqrt(n)
    assert np.unique(noise).size > 1


def test_one_seed_gives_the_same_bytes(edges: npt.NDArray[np.int64], n: int) -> None:
    def draw(seed: int | None) -> list[bytes]:
        with veilgraph.randomize(edges, n, epsilon=1.0, seed=seed) as reports:
            return [table.to_numpy().tobytes() for table in (reports.noisy_links, reports.noisy_degrees)]

    first = draw(5)
    assert draw(5) == first
    assert draw(6) != first
    assert draw(None) != draw(None)


def test_every_form_of_the_links_gives_the_same_reports(edges: npt.NDArray[np.int64], n: int) -> None:
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges.tolist())
    ones = np.ones(len(edges))
    forms: list[tuple[Edges, int | None]] = [
        (edges, n),
        ([(int(j), int(i)) for i, j in edges], n),
        (pl.DataFrame(edges, schema=["u", "v"]), n),
        (scipy.sparse.coo_array((ones, edges.T), shape=(n, n)), None),
        (scipy.sparse.csr_matrix((ones, edges.T), shape=(n, n)), None),
        (graph, None),
        (graph.to_directed(), None),
    ]
    reports = []
    for form, number in forms:
        with veilgraph.randomize(form, number, epsilon=1.0, seed=3) as drawn:
            reports.append(drawn.noisy_links)
    assert all(report.equals(reports[0]) for report in reports)


def test_a_zero_that_a_sparse_matrix_keeps_is_no_link() -> None:
    matrix = scipy.sparse.coo_array(([1.0, 0.0], ([0, 1], [1, 2])), shape=(3, 3))
    pairs, n = edge_array(matrix)
    assert (pairs.tolist(), n) == ([[0, 1]], 3)


@pytest.mark.parametrize(
    ("form", "number", "message"),
    [
        ([(0, 1)], None, "pass n"),
        ([(0, 4)], 4, "outside 0 to 3"),
        ([(-1, 2)], 4, "outside 0 to 3"),
        ([(0.0, 1.0)], 4, "whole numbers"),
        ([(0, 1, 2)], 4, r"shape \[1, 3\]"),
        (nx.path_graph(3), 5, "has 3 nodes"),
        (scipy.sparse.coo_array(np.ones((2, 3))), None, "square"),
    ],
)
def test_wrong_links_are_refused_with_a_remedy(form: Any, number: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        veilgraph.randomize(form, number, epsilon=1.0)


@pytest.mark.parametrize(
    ("labels", "wrong"),
    [
        (["a", "b", None], "'a'"),
        ([0, 1.5, 2], "1.5"),
        ([0, None, 1], "None"),
        ([0.0, 1.0, 2.0], "0.0"),
        ([0, 1, -2], "-2"),
        ([True, False, True], "True"),
        (pl.Series([0, None, 1]), "None"),
        ([0, 2**70, 1], str(2**70)),
    ],
)
def test_labels_that_are_no_classes_are_refused_first(labels: Any, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veilgraph.mechanisms.Reports", None)
    with pytest.raises(
        ValueError, match=rf"^labels hold {wrong}, which is no class; give whole numbers 0, 1, .* and -1"
    ):
        veilgraph.randomize([(0, 1)], 3, epsilon=1.0, labels=labels)


def test_classes_may_stand_in_an_array_of_objects() -> None:
    # Such an array is what NumPy makes of columns of pandas that may hold missing values.
    labels, words = np.array([0, np.int64(1), -1, 0], dtype=object), ["train", "validation", "none", "test"]
    with veilgraph.randomize([(0, 1)], 4, epsilon=1.0, labels=labels, splits=words) as reports:
        assert reports.artifact("labels").rows() == [(0, 0), (1, 1)]


@pytest.mark.parametrize("seed", [1.7, -1, 2**63, "1", True])
def test_a_seed_that_is_no_whole_number_in_range_is_refused_first(seed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veilgraph.mechanisms.Reports", None)
    with pytest.raises(ValueError, match=r"^seed is .*; give a whole number from 0 to 2\^63 - 1"):
        veilgraph.randomize([(0, 1)], 3, epsilon=1.0, seed=seed)


def test_a_series_is_a_sweep_like_a_list() -> None:
    with pytest.raises(ValueError, match="epsilon: a list is a sweep"):
        veilgraph.randomize([(0, 1)], 5, epsilon=pl.Series([1.0, 2.0]))  # type: ignore[arg-type]


def test_costs_and_facts_say_what_a_release_costs() -> None:
    with veilgraph.randomize([(0, 1), (1, 2)], 5, epsilon=2.0, seed=1) as reports:
        assert reports.costs == pytest.approx({"list-bit": 2.0, "edge": 4.0})
        assert (reports.facts["deployable"], reports.facts["randomness"]) == ("false", "seeded")
    with veilgraph.randomize([(0, 1), (1, 2)], 5, epsilon=2.0, mechanism="symrr", seed=1) as reports:
        # One end alone reports a pair.
        assert reports.costs == pytest.approx({"list-bit": 2.0, "edge": 2.0})


def test_what_a_release_cost_has_its_delta() -> None:
    settings = {
        "privatize.features.mechanism": "gaussian",
        "privatize.features.epsilon": 0.5,
        "privatize.features.dp_delta": 1e-6,
    }
    with veilgraph.randomize([(0, 1)], 5, epsilon=2.0, features=np.eye(5), seed=1, settings=settings) as reports:
        spent = reports.spent
        assert spent.filter(relation="node-features").select("target", "dp_delta").rows() == [("feature", 1e-6)]
        for relation, cost in reports.costs.items():
            assert spent.filter(relation=relation)["epsilon"].sum() == pytest.approx(cost)


def test_settings_reach_the_mechanism() -> None:
    settings = {"privatize.links.degree_noise": "laplace"}
    with veilgraph.randomize([(0, 1)], 5, epsilon=1.0, seed=1, settings=settings) as reports:
        assert reports.facts["degree_noise"] == "laplace"
    with pytest.raises(veilgraph.VeilgraphError, match="degree_noise"):
        veilgraph.randomize([(0, 1)], 5, epsilon=1.0, settings={"privatize.links.degree_noise": "none"})
    with pytest.raises(ValueError, match="epsilon: a list is a sweep"):
        veilgraph.randomize([(0, 1)], 5, epsilon=[1.0, 2.0])  # type: ignore[arg-type]


def test_mechanisms_send_tables_of_their_own() -> None:
    ring = [(node, (node + 1) % 12) for node in range(12)]
    with veilgraph.randomize(ring, 12, epsilon=4.0, mechanism="l-dpgcn", seed=1) as reports:
        assert reports.artifact("noisy_entries").columns == ["i", "j", "from_i", "from_j"]
        with pytest.raises(LookupError, match="l-dpgcn sends no links; it sends noisy_entries"):
            reports.artifact("links")
        with pytest.raises(LookupError, match="l-dpgcn sends no noisy_degrees; it sends noisy_entries"):
            _ = reports.noisy_degrees


def test_the_true_links_lie_in_a_private_folder_until_reports_close() -> None:
    with veilgraph.randomize([(0, 1)], 4, epsilon=1.0, seed=987654321) as reports:
        folder = reports._folder  # noqa: SLF001
        assert folder.stat().st_mode & 0o777 == 0o700
        assert (folder / "edges.csv").is_file()
        assert repr(reports) == "Reports('blink', epsilon=1, n_nodes=4)"
    assert not folder.exists()
    with pytest.raises(ValueError, match="closed; randomize the links again"):
        _ = reports.noisy_links
    with pytest.raises(ValueError, match="closed; randomize the links again"):
        veilgraph.graph(reports)


def test_reports_that_nobody_uses_are_removed() -> None:
    folder = veilgraph.randomize([(0, 1)], 4, epsilon=1.0)._folder  # noqa: SLF001
    gc.collect()
    assert not folder.exists()


def test_a_draw_that_fails_leaves_no_folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with warnings.catch_warnings(), pytest.raises(veilgraph.VeilgraphError, match="epsilon"):
        veilgraph.randomize([(0, 1)], 4, epsilon=-1.0)
    assert not list(tmp_path.iterdir())
