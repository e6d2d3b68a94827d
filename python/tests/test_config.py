"""Configs as dicts."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import veilgraph
from veilgraph.artifacts import name_and_store
from veilgraph.config import config_file, resolve, set_arguments, to_toml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def test_a_dict_says_the_same_in_toml() -> None:
    config = {
        "name": "x",
        "references": ["no-links"],
        "ingest": {"split": {"train": 0.5, "seed": 1}, "edges": 'a "quoted"\\name\n.csv'},
        "train": {"learning_rate": [0.1, 1e-5], "blend": True},
        "privatize": {"links": {"epsilon": float("inf")}},
        "compare": [{"name": "a", "estimate": {"method": "best"}}, {"name": "b"}],
    }
    assert tomllib.loads(to_toml(config)) == config


def test_numpy_and_paths_become_what_toml_has() -> None:
    config = {"a": np.float64(0.5), "b": np.array([1, 2]), "c": Path("x/y"), "d": (np.int64(3),), "e": np.bool_(1)}
    assert tomllib.loads(to_toml(config)) == {"a": 0.5, "b": [1, 2], "c": "x/y", "d": [3], "e": True}


def test_none_is_refused_by_the_name_of_its_field() -> None:
    with pytest.raises(TypeError, match=r"train\.patience: TOML has no None"):
        to_toml({"train": {"patience": None}})


def test_series_and_ranges_become_lists() -> None:
    config = {"a": pl.Series([0.5, 1.0]), "b": range(3), "c": {"d": [range(2), pl.Series([], dtype=pl.Int64)]}}
    assert tomllib.loads(to_toml(config)) == {"a": [0.5, 1.0], "b": [0, 1, 2], "c": {"d": [[0, 1], []]}}
    field, value = set_arguments({"train.epochs": range(1, 3)})[1].split("=", 1)
    assert (field, tomllib.loads(f"v = {value}")["v"]) == ("train.epochs", [1, 2])


@pytest.mark.parametrize("value", [{1.0, 2.0}, np.array([{1}]), np.longdouble(1), pl.DataFrame({"a": [1]}), 1j])
def test_what_toml_has_not_is_refused_by_the_name_of_its_field(value: object) -> None:
    with pytest.raises(TypeError, match=r"^privatize\.links\.epsilon: TOML has no \w+; write"):
        to_toml({"privatize": {"links": {"epsilon": value}}})
    with pytest.raises(TypeError, match=r"^privatize\.links\.epsilon: TOML has no \w+; write"):
        set_arguments({"privatize.links.epsilon": value})


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    with pytest.raises(veilgraph.VeilgraphError, match=f"^{folder}: a config .* pass the path of a TOML file$"):
        config_file({}, folder).__enter__()
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(veilgraph.VeilgraphError, match=r"^the current folder: .* \(`os\.chdir`\)"):
        veilgraph.plan({})


def test_the_file_of_a_dict_is_private_and_goes_away(tmp_path: Path) -> None:
    with config_file({"name": "x"}, tmp_path) as path:
        assert path.parent == tmp_path
        assert path.stat().st_mode & 0o777 == 0o600
    assert not path.exists()


def test_values_are_set_as_toml() -> None:
    overlay = {"construct.variant": "hard", "privatize.links.epsilon": np.array([1.0, 2.0]), "train.blend": True}
    fields, values = zip(*(text.split("=", 1) for text in set_arguments(overlay)[1::2]), strict=True)
    assert fields == tuple(overlay)
    assert [tomllib.loads(f"v = {value}")["v"] for value in values] == ["hard", [1.0, 2.0], True]


def test_a_table_is_not_set_at_once() -> None:
    with pytest.raises(TypeError, match=r"ingest\.split: .* set its fields"):
        set_arguments({"ingest.split": {"train": 1.0}})


def test_a_config_is_resolved_with_what_it_extends(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text("[privatize.links]\nepsilon = 1.0\n", encoding="utf-8")
    path = tmp_path / "of-file.toml"
    path.write_text("extends = 'base.toml'\nseed = 1\n", encoding="utf-8")
    assert resolve(path) == {"name": "of-file", "seed": 1, "privatize": {"links": {"epsilon": 1.0}}}
    assert resolve(path, {"name": "of-overlay", "privatize.links.epsilon": 2.0}) == {
        "name": "of-overlay",
        "seed": 1,
        "privatize": {"links": {"epsilon": 2.0}},
    }


def test_a_store_is_given_or_named_by_the_config_or_usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.toml"
    path.write_text("[privatize.links]\nepsilon = 1.0\n", encoding="utf-8")
    monkeypatch.setenv("VEILGRAPH_STORE", "usual")
    assert name_and_store(path) == ("x", Path("usual"))
    assert name_and_store(path, "given") == ("x", Path("given"))
    monkeypatch.delenv("VEILGRAPH_STORE")
    path.write_text('[privacy]\nstore = "own"\n[privatize.links]\nepsilon = 1.0\n', encoding="utf-8")
    assert name_and_store(path) == ("x", tmp_path / "own")


def test_relative_paths_of_a_dict_begin_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text("a,b\nb,c\n", encoding="utf-8")
    config = {"ingest": {"edges": "e.csv"}, "privatize": {"links": {"epsilon": 1.0}}, "privacy": {"store": "kept"}}
    run = veilgraph.run(config, until="privatize")
    assert run.store == tmp_path / "kept"
    assert run.artifact("ingest/all/node_map").collect()["name"].to_list() == ["a", "b", "c"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.csv", "kept"]


def test_an_error_about_a_dict_names_no_file_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        veilgraph.VeilgraphError, match=r"^<config>:\d+: privatize\.links\.epsilom: unknown field"
    ) as raised:
        veilgraph.plan({"privatize": {"links": {"epsilom": 1.0}}})
    assert str(tmp_path) not in str(raised.value)
