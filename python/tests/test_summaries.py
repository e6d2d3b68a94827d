"""Tables and pages of a small experiment."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import veilgraph


def test_a_table_has_the_means_of_the_scores(config: dict[str, object], small: veilgraph.Run) -> None:
    table = veilgraph.table(config, store=small.store)
    accuracy = small.scores.filter(pl.col("metric") == "accuracy")["value"]
    # One budget needs no column of its own.
    assert table.select("experiment", "mechanism", "column", "trials").rows() == [("small", "blink", None, 1)]
    assert table["mean"].to_list() == [accuracy.mean()]
    assert table["cost.edge"].to_list() == [12.0]
    assert table["sound"].to_list() == [True]
    # One trial has no interval, and nothing is compared where there is no floor.
    assert table["half_width"].to_list() == [None]
    assert table.schema.to_python() | {"verdict": str, "p_value": float} == table.schema.to_python()


def test_a_table_compares_experiments_and_marks_what_is_missing(config: dict[str, object], tmp_path: Path) -> None:
    whole = {**config, "name": "whole", "trials": 3, "references": ["no-links"]}
    store = tmp_path / "store"
    veilgraph.run(whole, store=store, quiet=True)
    table = veilgraph.table(whole, store=store, score="macro_f1")
    (private,) = table.filter(pl.col("mechanism") == "blink").iter_rows(named=True)
    (floor,) = table.filter(pl.col("mechanism") == "no-links").iter_rows(named=True)
    assert private["difference"] == pytest.approx(private["mean"] - floor["mean"])
    assert private["verdict"] in {"better", "worse", "not separable"}
    assert private["shared_trials"] == 3
    more = {**whole, "name": "more", "privatize": {"links": {"epsilon": [6.0, 7.0]}}}
    with pytest.raises(veilgraph.VeilgraphError, match="are not fresh; run"):
        veilgraph.table([whole, more], store=store)
    both = veilgraph.table([whole, more], store=store, partial=True)
    assert both["experiment"].unique(maintain_order=True).to_list() == ["whole", "more"]
    missing = both.filter(pl.col("verdict") == "missing")
    assert missing.select("column", "trials", "mean", "sound").rows() == [(column, 0, None, None) for column in "067"]


def test_swept_fields_have_columns_of_their_own(config: dict[str, object], tmp_path: Path) -> None:
    # Both fields are called `mechanism`, and `epsilon` is what all tables have.
    features = {"mechanism": ["one-bit", "multi-bit"], "epsilon": 2.0, "range": [0.0, 1.0]}
    labels = {"mechanism": "randomized-response", "epsilon": [1.0, 2.0]}
    links = {"mechanism": ["rr", "symrr"], "epsilon": 6.0}
    swept = {key: value for key, value in config.items() if key != "estimate"} | {
        "name": "swept",
        "privatize": {"links": links, "features": features, "labels": labels},
    }
    veilgraph.run(swept, store=tmp_path / "store", quiet=True)
    table = veilgraph.table(swept, store=tmp_path / "store", columns="privatize.links.mechanism")
    assert {"privatize.features.mechanism", "privatize.labels.epsilon", "epsilon"} <= set(table.columns)
    assert len(table) == 8
    assert table.select("privatize.features.mechanism", "privatize.labels.epsilon", "column").is_unique().all()


def test_a_score_that_is_not_there_is_named(config: dict[str, object], small: veilgraph.Run) -> None:
    with pytest.raises(veilgraph.VeilgraphError, match="accurracy"):
        veilgraph.table(config, store=small.store, score="accurracy")


def test_a_page_lies_where_it_is_said(config: dict[str, object], small: veilgraph.Run) -> None:
    page = veilgraph.report(config, store=small.store, name="page")
    assert page == Path(small.store) / "auditor" / "reports" / "page.html"
    assert "blink" in page.read_text(encoding="utf-8")
    assert list(page.with_suffix("").glob("*.csv"))
