"""What a server believes about pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import veilgraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt


@pytest.fixture(scope="module")
def reports(edges: npt.NDArray[np.int64], n: int) -> Iterator[veilgraph.Reports]:
    """Return reports of the random graph, with features that say which half a node is of, and labels of some nodes."""
    generator = np.random.default_rng(2)
    half = np.arange(n) % 2
    features = generator.random((n, 12)) < np.where(half[:, None] == np.arange(12) % 2, 0.5, 0.1)
    labels = np.where(generator.random(n) < 0.8, half, -1)
    with veilgraph.randomize(edges, n, epsilon=4.0, seed=4, features=features, labels=labels) as reports:
        yield reports


@pytest.mark.parametrize("method", ["published", "best"])
def test_probabilities_are_the_weights_of_the_hybrid_graph(reports: veilgraph.Reports, method: str) -> None:
    probabilities = veilgraph.link_probabilities(reports, method=method)
    graph = veilgraph.graph(reports, "hybrid", method=method)
    assert len(graph.edges) > 1000
    pairs = graph.edges.select("source", "target")
    np.testing.assert_allclose(probabilities.of(pairs), graph.edges["weight"], rtol=1e-6)
    # No pair that the graph leaves out is likelier than one that it keeps.
    matrix = probabilities.matrix()
    matrix[pairs["source"], pairs["target"]] = 0
    assert np.triu(matrix, 1).max() <= graph.edges["weight"].to_numpy().min() * (1 + 1e-6)


def test_all_probabilities_sum_to_what_the_program_expects(small: veilgraph.Run) -> None:
    name = small.stages.filter(pl.col("stage") == "estimate")["label"][-1]
    probabilities = veilgraph.LinkProbabilities.read(f"small/estimate/{name}", store=small.store)
    expected = small.scores.filter(pl.col("metric") == "expected_entries")["value"][0]
    assert probabilities.matrix().sum() == pytest.approx(expected, rel=1e-9)


def test_the_hard_graph_has_the_pairs_above_one_half(reports: veilgraph.Reports) -> None:
    likely = veilgraph.link_probabilities(reports).pairs(at_least=0.5)
    hard = veilgraph.graph(reports, "hard").edges
    assert set(likely.select("source", "target").iter_rows()) == set(hard.select("source", "target").iter_rows())


@pytest.mark.parametrize("method", ["published", "best"])
def test_the_matrix_is_symmetric_and_says_what_pairs_say(reports: veilgraph.Reports, method: str) -> None:
    probabilities = veilgraph.link_probabilities(reports, method=method)
    matrix = probabilities.matrix()
    np.testing.assert_array_equal(matrix, matrix.T)
    pairs = np.argwhere(~np.eye(reports.n_nodes, dtype=bool))
    np.testing.assert_array_equal(probabilities.of(pairs), matrix[pairs[:, 0], pairs[:, 1]])
    assert all(probabilities.of([(i, j)])[0] == matrix[i, j] for i, j in pairs[::97].tolist())


@pytest.mark.parametrize("method", ["published", "best"])
@pytest.mark.parametrize("at_least", [1e-5, 1e-4, 0.1, 0.5, 0.99, 1.0])
def test_pairs_are_those_of_the_matrix(reports: veilgraph.Reports, method: str, at_least: float) -> None:
    probabilities = veilgraph.link_probabilities(reports, method=method)
    matrix = np.triu(probabilities.matrix(), 1)
    found = probabilities.pairs(at_least)
    assert found.columns == ["source", "target", "probability"]
    assert found["probability"].is_sorted(descending=True)
    source, target = np.nonzero(matrix >= at_least)
    assert len(found) == len(source)
    assert set(found.select("source", "target").iter_rows()) == set(zip(source.tolist(), target.tolist(), strict=True))
    np.testing.assert_allclose(found["probability"], matrix[found["source"], found["target"]], rtol=1e-12)


def test_pairs_of_which_nothing_is_reported_are_found_too(reports: veilgraph.Reports) -> None:
    probabilities = veilgraph.link_probabilities(reports)
    claimed = {tuple(sorted(pair)) for pair in reports.noisy_links.iter_rows()}
    unclaimed = [
        pair for pair in probabilities.pairs(1e-4).select("source", "target").iter_rows() if pair not in claimed
    ]
    n = reports.n_nodes
    assert 0 < len(unclaimed) < n * (n - 1) / 2 - len(claimed)


def test_pairs_have_no_order_and_two_different_ends(reports: veilgraph.Reports, n: int) -> None:
    probabilities = veilgraph.link_probabilities(reports)
    assert probabilities.of([(3, 8)]) == probabilities.of([(8, 3)])
    assert probabilities.of([]).shape == (0,)
    with pytest.raises(ValueError, match="with itself is no pair"):
        probabilities.of([(3, 3)])
    with pytest.raises(ValueError, match=f"outside 0 to {n - 1}"):
        probabilities.of([(0, n)])
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        probabilities.pairs(0.0)


def test_without_noise_the_links_are_believed(edges: npt.NDArray[np.int64], n: int) -> None:
    with veilgraph.randomize(edges, n, epsilon=float("inf"), degree_fraction=0.0, seed=1) as reports:
        assert reports.costs["edge"] == float("inf")
        settings = {"estimate.degrees": "empirical-bayes+bits", "estimate.match": True}
        probabilities = veilgraph.link_probabilities(reports, settings=settings)
    truth = np.zeros((n, n))
    truth[edges[:, 0], edges[:, 1]] = truth[edges[:, 1], edges[:, 0]] = 1
    np.testing.assert_array_equal(probabilities.matrix(), truth)


def test_a_large_matrix_is_refused(reports: veilgraph.Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    probabilities = veilgraph.link_probabilities(reports)
    monkeypatch.setattr("veilgraph.links.MOST_NODES_OF_A_MATRIX", 100)
    with pytest.raises(ValueError, match="use `pairs` or `of`"):
        probabilities.matrix()


def test_estimating_costs_nothing_and_draws_nothing_again(reports: veilgraph.Reports) -> None:
    before = reports.noisy_links
    assert reports.bring("estimate")["spent"] == []
    assert reports.noisy_links.equals(before)
    with pytest.raises(ValueError, match="drawn already"):
        veilgraph.link_probabilities(reports, settings={"privatize.links.epsilon": 8.0})


def test_other_mechanisms_have_no_probabilities() -> None:
    with (
        veilgraph.randomize([(0, 1)], 4, epsilon=1.0, mechanism="rr", seed=1) as reports,
        pytest.raises(ValueError, match="mechanism='blink'"),
    ):
        veilgraph.link_probabilities(reports)
