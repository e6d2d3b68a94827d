"""Plans, runs, scores, artifacts and predictions of a small experiment."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import veilgraph


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
    assert plan.spent["sound"].all()
    assert plan.spent["dp_delta"].to_list() == [0.0] * len(plan.spent)
    assert plan.spent["claimed_epsilon"].null_count() == len(plan.spent)
    assert set(plan.spent["noise"]) == {"randomized response", "discrete-laplace noise"}


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
    with pytest.raises(LookupError, match="`until` stopped it before them"):
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


def test_a_run_answers_about_itself_after_a_later_run_of_its_name(config: dict[str, object], tmp_path: Path) -> None:
    runs = [
        veilgraph.run(config, store=tmp_path / "store", set={"privatize.links.epsilon": epsilon})
        for epsilon in (1.0, 3.0)
    ]
    assert [run.scores["epsilon"].unique().to_list() for run in runs] == [[1.0], [3.0]]
    name = f"{label_of(runs[0], 'privatize')}/noisy_links"
    assert [run.facts(name)["epsilon"] for run in runs] == ["1", "3"]
    assert not runs[0].artifact(name).collect().equals(runs[1].artifact(name).collect())


def test_scores_that_another_run_has_replaced_already_are_not_taken(
    config: dict[str, object], small: veilgraph.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_others = small.scores.with_columns(value=pl.col("value") + 1)
    monkeypatch.setattr("veilgraph.experiments.scores_of", lambda *_: of_others)
    run = veilgraph.run(config, store=tmp_path / "store")
    with pytest.raises(LookupError, match="give each a name of its own"):
        _ = run.scores


def test_a_config_without_metrics_is_not_told_to_run_to_its_end(
    config: dict[str, object], small: veilgraph.Run
) -> None:
    run = veilgraph.run(config, store=small.store, set={"name": "unscored", "evaluate.metrics": []})
    with pytest.raises(LookupError, match=r"or `\[evaluate\] metrics` names none$"):
        _ = run.scores


def test_a_run_may_be_called_like_a_file(config: dict[str, object], small: veilgraph.Run) -> None:
    run = veilgraph.run(config, store=small.store, set={"name": "a.toml"})
    assert run.scores["experiment"].unique().to_list() == ["a.toml"]


def test_a_run_is_read_from_another_folder_too(
    config: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = veilgraph.run(config, store="store", until="ingest")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert run.store == tmp_path / "store"
    assert run.stages["artifacts"].list.len().to_list() == [6]
    assert run.artifact("ingest/all/nodes").collect().height == 150
    assert run.facts("ingest/all/nodes")["n_classes"] == "3"


def test_the_description_of_stages_names_every_status() -> None:
    for name in ("plan", "run"):
        schema = json.loads((Path(__file__).parents[2] / "docs" / "schemas" / f"{name}.json").read_text("utf-8"))
        statuses = schema["properties"]["stages"]["items"]["properties"]["status"]["enum"]
        assert [status for status in statuses if f"`{status}`" not in (veilgraph.Plan.__doc__ or "")] == []


def test_a_run_knows_every_readable_name_of_its_store(config: dict[str, object], tmp_path: Path) -> None:
    more = {"references": ["no-links", "non-private"], "estimate.method": "best", "trials": 2}
    more |= {"privatize.labels.mechanism": "randomized-response", "privatize.labels.epsilon": 2.0}
    run = veilgraph.run(config, store=tmp_path / "store", set=more)
    files = {
        path.relative_to(folder).with_suffix("").as_posix(): path.resolve()
        for folder in run.store.glob("*/runs/small")
        for path in folder.glob("*/*/*.parquet")
    }
    assert len(files) > 40
    for name, file in files.items():
        assert run.artifact(name).collect().equals(pl.read_parquet(file, glob=False))
        assert run.facts(name) == veilgraph.facts(file)
    # A task that several references share has a label for each of them.
    also = run.stages.filter(pl.col("function") == "labels-randomized-response")["also"]
    assert "no-links,trial-0" in also[0]
    assert "privatize/no-links,trial-0/noisy_labels" in files
    # Each file belongs to one task, even where two functions of a stage have a label in common.
    listed = run.stages.explode("artifacts").drop_nulls("artifacts")
    assert listed["artifacts"].is_unique().all()
    assert set(listed["artifacts"]) <= set(files)
    for row in listed.iter_rows(named=True):
        assert files[row["artifacts"]].parent.name == row["key"]
    with pytest.raises(FileNotFoundError, match=r"it has .*privatize/trial-0/noisy_degrees, .*`artifacts` of `stages`"):
        run.artifact("privatize/trial-0/nothing")
    with pytest.raises(FileNotFoundError, match="it has construct/no-links/graph, "):
        run.facts("nothing")


def test_tasks_of_one_label_are_told_apart_by_function_and_key(small: veilgraph.Run) -> None:
    assert small.stages["key"].is_unique().all()
    assert small.stages["key"].str.contains("^[0-9a-f]{32}$").all()
    assert set(small.stages.filter(pl.col("stage") == "evaluate")["function"]) == {"links", "graph", "predictions"}


def test_costs_that_do_not_hold_as_executed_say_so(tmp_path: Path) -> None:
    model = {"task": "dpar", "accounting": "paper", "epsilon": 1.0, "dp_delta": 8e-4, "allow_weak_delta": True}
    ingest = {"synthetic": {"nodes": 300, "features": 40, "classes": 3}, "normalize": "none"}
    metrics = {"metrics": ["accuracy"]}
    spent = veilgraph.plan({"ingest": ingest, "train": model, "evaluate": metrics}, store=tmp_path).spent
    assert spent.select("target", "dp_delta", "sound", "claimed_epsilon").rows() == [("model", 8e-4, False, 1.0)]
    assert spent["epsilon"][0] > 1.0


def test_checks_are_a_frame(config: dict[str, object], small: veilgraph.Run) -> None:
    checks = [
        {"name": "passes", "score": "accuracy", "at_most": 100.0},
        {"name": "fails", "score": "accuracy", "at_least": 101.0},
    ]
    run = veilgraph.run({**config, "check": checks}, store=small.store)
    assert run.checks.select("name", "passed", "is_fatal", "cells", "counted").rows() == [
        ("passes", True, False, 1, "cells"),
        ("fails", False, False, 1, "cells"),
    ]
    assert run.checks["problems"].list.len().to_list() == [0, 1]
    assert small.checks.is_empty()
    assert small.checks.columns == run.checks.columns


def test_a_quiet_run_says_nothing(config: dict[str, object], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    veilgraph.run(config, store=tmp_path / "store", until="ingest", quiet=True)
    assert capfd.readouterr().err == ""
    veilgraph.run(config, store=tmp_path / "store", until="privatize")
    assert "privatize" in capfd.readouterr().err


def test_the_name_of_a_run_is_answered_with_its_artifacts(small: veilgraph.Run) -> None:
    name = label_of(small, "privatize")
    with pytest.raises(FileNotFoundError, match=r"add the name of one: noisy_degrees, noisy_links$"):
        veilgraph.artifact(f"small/{name}", store=small.store)
    with pytest.raises(FileNotFoundError, match=r"add the name of one: noisy_degrees, noisy_links$"):
        veilgraph.facts(small.store / "simulation" / "runs" / "small" / name)
