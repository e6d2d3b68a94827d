"""Plans, runs, scores, artifacts and predictions of a small experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import veilgraph

if TYPE_CHECKING:
    from pathlib import Path


def label_of(run: veilgraph.Run, stage: str) -> str:
    """Return `<stage>/<label>` of the only run of a stage."""
    labels = run.stages.filter(pl.col("stage") == stage)["label"]
    return f"{stage}/{labels[0]}"


def test_a_plan_runs_nothing_and_says_what_a_run_would_spend(config: dict[str, object], tmp_path: Path) -> None:
    plan = veilgraph.plan(config, store=tmp_path / "store")
    assert plan.name == "small"
    assert "fresh" not in plan.stages["status"]
    costs = dict(plan.spent.group_by("relation").agg(pl.col("epsilon").sum()).iter_rows())
    # Both ends report a link, and list and degree share the budget.
    assert costs == pytest.approx({"list-bit": 6.0, "edge": 12.0})
    assert not list((tmp_path / "store").glob("*/runs/*"))


def test_a_second_run_has_nothing_to_do(config: dict[str, object], small: veilgraph.Run) -> None:
    again = veilgraph.run(config, store=small.store)
    assert set(again.stages["status"]) == {"fresh"}
    assert again.spent.is_empty()
    assert again.scores.equals(small.scores)


def test_scores_are_those_of_the_run(config: dict[str, object], small: veilgraph.Run) -> None:
    accuracy = small.scores.filter(pl.col("metric") == "accuracy")
    assert accuracy["epsilon"].to_list() == [6.0]
    assert 0.0 <= accuracy["value"][0] <= 1.0
    assert veilgraph.scores("small", store=small.store).equals(small.scores)
    assert veilgraph.scores(config, store=small.store).equals(small.scores)


def test_a_part_of_a_run_has_no_scores(config: dict[str, object], small: veilgraph.Run) -> None:
    part = veilgraph.run(config, store=small.store, until="privatize", set={"name": "part"})
    assert part.name == "part"
    with pytest.raises(LookupError, match="stopped before its scores"):
        _ = part.scores
    with pytest.raises(FileNotFoundError, match="has no scores"):
        veilgraph.scores("part", store=small.store)


def test_values_are_laid_over_a_config(tmp_path: Path) -> None:
    path = tmp_path / "file.toml"
    path.write_text("[ingest.synthetic]\nnodes = 50\n[privatize.links]\nepsilon = 1.0\n", encoding="utf-8")
    run = veilgraph.run(path, store=tmp_path / "store", set={"privatize.links.epsilon": 3.0}, until="privatize")
    assert run.name == "file"
    assert run.facts(f"{label_of(run, 'privatize')}/noisy_links")["epsilon"] == "3"


def test_a_wrong_config_is_refused_with_the_message_of_the_program(tmp_path: Path) -> None:
    with pytest.raises(veilgraph.VeilgraphError, match="epsilon") as raised:
        veilgraph.plan({"privatize": {"links": {"epsilom": 4.0}}}, store=tmp_path)
    assert raised.value.status == 2


def test_artifacts_have_readable_names_and_facts(small: veilgraph.Run) -> None:
    name = f"{label_of(small, 'privatize')}/noisy_links"
    frame = small.artifact(name).collect()
    assert frame.columns == ["source", "target"]
    assert veilgraph.artifact(f"small/{name}", store=small.store).collect().equals(frame)
    facts = veilgraph.facts(f"small/{name}", store=small.store)
    assert (facts["mechanism"], facts["epsilon"], facts["epsilon_edge"], facts["deployable"]) == (
        "blink",
        "6",
        "12",
        "false",
    )
    with pytest.raises(FileNotFoundError, match="no such artifact; look below"):
        veilgraph.artifact("small/privatize/nothing", store=small.store)


def test_the_store_can_be_named_by_a_variable(small: veilgraph.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VEILGRAPH_STORE", str(small.store))
    assert veilgraph.scores("small").equals(small.scores)


def test_frames_go_to_arrow_without_a_copy(small: veilgraph.Run) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    frame = small.artifact(f"{label_of(small, 'estimate')}/link_model").collect().rechunk()
    table = frame.to_arrow()
    assert isinstance(table, pyarrow.Table)
    assert table["beta"].chunk(0).buffers()[1].address == frame["beta"].to_numpy().__array_interface__["data"][0]


def test_a_model_classifies_the_nodes_of_its_graphs(config: dict[str, object], small: veilgraph.Run) -> None:
    model = f"small/{label_of(small, 'train')}/model"
    answers = veilgraph.predict(model, config, store=small.store)
    assert list(answers) == [label_of(small, "construct").removeprefix("construct/")]
    (frame,) = answers.values()
    assert frame.columns == ["node", "name", "class", *(f"probability_{at}" for at in range(3))]
    assert frame["node"].to_list() == list(range(150))
    assert frame["name"].dtype == pl.String
    own = small.artifact(f"{label_of(small, 'train')}/predictions").collect()
    assert frame["class"].cast(pl.Int64).to_list() == own.sort("node")["class"].to_list()
    with pytest.raises(FileNotFoundError, match="no such artifact"):
        veilgraph.predict("small/train/nothing", config, store=small.store)
