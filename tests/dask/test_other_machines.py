"""Runs with the help of other machines give what one machine gives, whatever happens to the others.

    make test-dask

Everything listens on loopback and is installed from the Python registry.
"""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from cluster import PROGRAM, SWEEP, Cluster, ObjectStorage, command, digests, fake_slurm, run, surroundings

#: Trainings of the sweep.
NETWORKS = 40


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Digests of a run on this machine alone."""
    store = tmp_path_factory.mktemp("local") / "store"
    run(store)
    found = digests(store)
    assert len(found) > 4 * NETWORKS
    return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory):
    storage = ObjectStorage(tmp_path_factory.mktemp("storage"))
    yield storage
    storage.close()


def test_the_versions_of_dask_are_those_of_the_package() -> None:
    pins = [line for line in (SWEEP.parent / "requirements.txt").read_text().splitlines() if line.startswith(("dask", "dist"))]
    project = tomllib.loads((SWEEP.parents[2] / "pyproject.toml").read_text())
    assert project["project"]["optional-dependencies"]["dask"] == pins


def wrapper(folder: Path, text: str) -> Path:
    """A program that a worker takes for `veilgraph`."""
    path = folder / "veilgraph-wrapper"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_sweep_survives_the_death_of_a_worker(tmp_path: Path, local: dict[str, str]) -> None:
    with Cluster(tmp_path / "cluster") as cluster:
        words = command(tmp_path / "store", "run", SWEEP, "--json", *cluster.arguments())
        answer = tmp_path / "answer.json"
        with answer.open("w") as out:
            going = subprocess.Popen(words, env=surroundings(), stdout=out, stderr=subprocess.PIPE, text=True)
        trained, said = 0, ""
        for line in going.stderr or ():
            said += line
            trained += line.startswith("train ")
            if trained == 5 and cluster.workers[0].poll() is None:
                cluster.kill_worker(0)
                cluster.workers[0].wait()
        assert going.wait() == 0, said
        told = json.loads(answer.read_text())
    assert "is gone" in said, "the death of the worker is named"
    assert digests(tmp_path / "store") == local
    networks = [stage for stage in told["stages"] if stage["stage"] == "train"]
    assert len(networks) == NETWORKS
    assert all(stage["status"] == "ran" and stage["host"] and stage["seconds"] > 0 for stage in networks)


def test_workers_get_what_a_server_may_see_and_nothing_that_is_charged(tmp_path: Path, cluster: Cluster) -> None:
    log = tmp_path / "keys"
    program = wrapper(tmp_path, f'echo "$2" >> {log}; exec {PROGRAM} "$@"')
    told = run(tmp_path / "store", "--json", *cluster.arguments(), "--worker-program", program)
    sent = set(log.read_text().split())
    stages = json.loads(told.stdout)["stages"]
    of_server = {stage["key"] for stage in stages if stage["stage"] in {"estimate", "construct", "train"}}
    others = {stage["key"] for stage in stages if stage["stage"] in {"ingest", "privatize", "evaluate"}}
    assert sent == of_server, "every task of the server, and no other"
    assert not sent & others
    ledger = subprocess.run(command(tmp_path / "store", "ledger", "--json"), check=True, capture_output=True, text=True)
    rows = json.loads(ledger.stdout)
    rows = rows["releases"] if isinstance(rows, dict) else rows
    # A release of Blink has four rows: the list and the degree, per list bit and per link.
    assert len({row["entry"] for row in rows}) == NETWORKS
    assert len(rows) == 4 * NETWORKS, "each release is charged once"


def test_one_graph_is_divided_over_machines(tmp_path: Path, storage: ObjectStorage) -> None:
    whole = ["--set", "privatize.links.epsilon=8", "--set", "trials=2"]
    divided = [*whole, "--set", "privatize.links.row_blocks=3"]

    def results(store: Path, words: list[str]) -> dict[str, str]:
        found = {}
        for name, digest in digests(store, *words).items():
            stage, _, label, artifact = name.split()
            if "-of-" not in label and artifact in {"link_evidence", "link_model", "graph", "predictions"}:
                found[f"{stage} {label} {artifact}"] = digest
        return found

    run(tmp_path / "whole", *whole)
    expected = results(tmp_path / "whole", whole)
    assert len(expected) == 2 * 4
    env = surroundings(**storage.variables)
    with Cluster(tmp_path / "cluster", env=env) as cluster:
        keys = tmp_path / "keys"
        program = wrapper(tmp_path, f'echo "$2" >> {keys}; exec {PROGRAM} "$@"')
        words = [*divided, "--json", *cluster.arguments(), "--worker-program", program]
        told = run(tmp_path / "shared", *words)
        # And where no folder is shared, each worker fetches what its row block is read from.
        run(tmp_path / "here", *words, "--cache", "s3://graphs/rows", "--simulation", "--worker-store", tmp_path / "there",
            env=env)
    stages = json.loads(told.stdout)["stages"]
    tasks = {stage["key"] for stage in stages if "-of-" in stage["label"]}
    assert len(tasks) == 2 * 3 * 3, "each row block is paired, counted and selected by a task, in two trials"
    assert tasks <= set(keys.read_text().split()), "the workers run them"
    assert results(tmp_path / "shared", divided) == expected
    assert results(tmp_path / "here", divided) == expected


def test_a_second_run_sends_nothing(tmp_path: Path, cluster: Cluster) -> None:
    first = run(tmp_path / "store", *cluster.arguments())
    again = run(tmp_path / "store", *cluster.arguments(), "--worker-program", "/nowhere/veilgraph")
    assert first.stdout == again.stdout


def test_no_scheduler(tmp_path: Path) -> None:
    told = run(tmp_path / "store", "--executor", "dask", "--scheduler", "tcp://127.0.0.1:9", "--python", sys.executable,
               check=False)
    assert told.returncode == 1
    assert "no scheduler answers at tcp://127.0.0.1:9" in told.stderr


def test_a_python_without_dask(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    told = run(tmp_path / "store", "--executor", "dask", "--scheduler", "tcp://127.0.0.1:9", "--python", python,
               check=False)
    assert told.returncode == 1
    assert "pip install" in told.stderr


def test_a_worker_without_the_program(tmp_path: Path, cluster: Cluster) -> None:
    told = run(tmp_path / "store", *cluster.arguments(), "--worker-program", "/nowhere/veilgraph", check=False)
    assert told.returncode == 1
    assert "/nowhere/veilgraph" in told.stderr
    assert "--worker-program" in told.stderr


def test_a_store_that_workers_cannot_reach(tmp_path: Path, cluster: Cluster, local: dict[str, str]) -> None:
    told = run(tmp_path / "store", *cluster.arguments(), "--worker-store", tmp_path / "elsewhere", check=False)
    assert told.returncode == 1
    assert "there is no order for" in told.stderr
    assert str(tmp_path / "elsewhere") in told.stderr
    # Nothing is lost: the same command goes on.
    run(tmp_path / "store", *cluster.arguments())
    assert digests(tmp_path / "store") == local


def test_the_store_of_another_run(tmp_path: Path, cluster: Cluster) -> None:
    run(tmp_path / "other", "--until", "privatize")
    told = run(tmp_path / "store", *cluster.arguments(), "--worker-store", tmp_path / "other", check=False)
    assert told.returncode == 1
    assert "there is no order for" in told.stderr


def test_a_worker_with_too_little_memory_says_what_it_needs(tmp_path: Path, cluster: Cluster) -> None:
    program = wrapper(tmp_path, f'exec {PROGRAM} "$@" --memory-limit 1KiB')
    told = run(tmp_path / "store", *cluster.arguments(), "--worker-program", program, check=False)
    assert told.returncode == 1
    assert "would take" in told.stderr
    assert "--memory-limit" in told.stderr


def test_the_memory_limit_of_the_run_holds_on_workers(tmp_path: Path, cluster: Cluster) -> None:
    run(tmp_path / "store", "--until", "privatize")
    told = run(tmp_path / "store", *cluster.arguments(), "--memory-limit", "1KiB", check=False)
    assert told.returncode == 1
    assert "--memory-limit" in told.stderr


def test_a_task_that_is_killed_everywhere_is_given_up_with_a_reason(tmp_path: Path, cluster: Cluster) -> None:
    log = tmp_path / "tries"
    program = wrapper(tmp_path, f'echo "$2" >> {log}; kill -9 $$')
    told = run(tmp_path / "store", *cluster.arguments(), "--jobs", "1", "--worker-program", program, check=False)
    assert told.returncode == 1
    assert "SIGKILL" in told.stderr
    tries = Counter(log.read_text().split())
    assert max(tries.values()) == 3, "it was tried three times"


def test_the_error_of_a_task_is_told_as_if_it_were_here(tmp_path: Path, cluster: Cluster) -> None:
    program = wrapper(tmp_path, 'echo "error: the disk of this machine is full" >&2; exit 1')
    told = run(tmp_path / "store", *cluster.arguments(), "--worker-program", program, check=False)
    assert told.returncode == 1
    assert told.stderr.count("stage estimate") == 1
    assert told.stderr.count("error:") == 1
    assert "the disk of this machine is full" in told.stderr


def test_the_program_of_another_version_is_refused(tmp_path: Path, cluster: Cluster, local: dict[str, str]) -> None:
    told = run(tmp_path / "first", "--set", "trials=1", "--json")
    path = next(stage["outputs"] for stage in json.loads(told.stdout)["stages"] if stage["stage"] == "train")
    manifest = Path(next(iter(path.values()))["path"]).parent / "manifest.json"
    code = json.loads(manifest.read_text())["recipe"]["code"].encode()
    other = tmp_path / "veilgraph"
    # The same program, whose stage `train` was made from other code.
    other.write_bytes(PROGRAM.read_bytes().replace(code, code[:-1] + (b"0" if code[-1:] != b"0" else b"1")))
    other.chmod(0o755)
    told = run(tmp_path / "store", *cluster.arguments(), "--worker-program", other, check=False)
    assert told.returncode == 1
    assert "another version of veilgraph" in told.stderr
    run(tmp_path / "store", *cluster.arguments())
    assert digests(tmp_path / "store") == local


def test_another_dask_is_refused(tmp_path: Path, cluster: Cluster) -> None:
    python = tmp_path / "python"
    # The Python of the run, with another version of Dask.
    python.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c \"import sys, dask; dask.__version__ = '1.0'; source = sys.argv[2]; "
        "sys.argv = ['-c'] + sys.argv[3:]; exec(compile(source, 'driver', 'exec'))\" \"$@\"\n"
    )
    python.chmod(0o755)
    words = ["--executor", "dask", "--scheduler", cluster.address, "--python", python]
    told = run(tmp_path / "store", *words, check=False)
    assert told.returncode == 1
    assert "dask 1.0" in told.stderr
    assert "the same versions on every machine" in told.stderr


def test_a_scheduler_that_dies_ends_the_run_and_nothing_is_lost(tmp_path: Path, local: dict[str, str]) -> None:
    with Cluster(tmp_path / "cluster") as cluster:
        words = command(tmp_path / "store", "run", SWEEP, *cluster.arguments())
        going = subprocess.Popen(words, env=surroundings(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = ""
        assert going.stderr
        for line in going.stderr:
            said += line
            if line.startswith("construct ") and cluster.scheduler.poll() is None:
                cluster.scheduler.kill()
                cluster.scheduler.wait()
        assert going.wait(timeout=60) == 1, said
    assert "error:" in said
    run(tmp_path / "store")
    assert digests(tmp_path / "store") == local


def test_an_interrupted_run_cancels_what_it_sent(tmp_path: Path, cluster: Cluster) -> None:
    log = tmp_path / "begun"
    program = wrapper(tmp_path, f'echo "$2" >> {log}; sleep 1; exec {PROGRAM} "$@"')
    words = command(tmp_path / "store", "run", SWEEP, *cluster.arguments(), "--worker-program", program)
    going = subprocess.Popen(words, env=surroundings(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not log.exists():
        time.sleep(0.02)
    going.send_signal(signal.SIGINT)
    assert going.wait(timeout=20) == 130
    # The two that had begun may go on; forty were sent.
    time.sleep(3)
    assert len(log.read_text().split()) <= 4


def test_steps_of_a_long_task_are_seen_from_another_terminal(tmp_path: Path, cluster: Cluster) -> None:
    words = command(tmp_path / "store", "run", SWEEP, "--set", "trials=1", "--set", "privatize.links.epsilon=4",
                    "--set", "train.epochs=20000", *cluster.arguments())
    going = subprocess.Popen(words, env=surroundings(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen = ""
    for _ in range(600):
        if going.poll() is not None or "/20000" in seen:
            break
        seen = subprocess.run(command(tmp_path / "store", "watch", "--once", "--json"), capture_output=True, text=True).stdout
        time.sleep(0.05)
    going.kill()
    going.wait()
    assert "train" in seen
    assert "/20000" in seen


def test_the_server_of_a_deployment_sends_its_tasks_away_and_its_owner_does_not(
    tmp_path: Path, cluster: Cluster
) -> None:
    config = tmp_path / "deployment.toml"
    text = SWEEP.read_text().replace('name = "sweep"\ntrials = 10', 'name = "deployed"\ntrials = 1')
    text = text.replace("epsilon = [1.0, 2.0, 4.0, 8.0]", "epsilon = 8.0\n\n[privacy]\nrandomness = \"os\"\npopulation = \"members\"\nbudget = 8.0")
    config.write_text(text)
    told = run(tmp_path / "owner", *cluster.arguments(), config=config, check=False)
    assert told.returncode == 1
    assert "is a deployment, and its private data are here" in told.stderr
    run(tmp_path / "owner", "--until", "privatize", config=config)
    exported = subprocess.run(command(tmp_path / "owner", "export", config, "--to", tmp_path / "server", "--yes"),
                              env=surroundings(), capture_output=True, text=True)
    assert exported.returncode == 0, exported.stderr
    told = run(tmp_path / "server", "--side", "server", "--until", "train", "--json", *cluster.arguments(), config=config)
    trained = [stage for stage in json.loads(told.stdout)["stages"] if stage["stage"] == "train"]
    assert [stage["status"] for stage in trained] == ["ran"]


def test_slurm_arrays_go_in_waves_to_the_same_end(tmp_path: Path, local: dict[str, str]) -> None:
    env = fake_slurm(tmp_path / "slurm")
    words = ["--executor", "slurm-array", "--array-folder", tmp_path / "arrays", "--array-size", "7", "--array-memory", "3GiB"]
    told = run(tmp_path / "store", *words, env=env)
    assert f"{NETWORKS} tasks wait for Slurm" in told.stdout
    assert "scores" in told.stdout
    subprocess.run(["bash", tmp_path / "arrays/submit.sh", "--partition=short"], env=env, check=True, capture_output=True)
    jobs = (tmp_path / "slurm/jobs.log").read_text()
    assert jobs.count("array.sh") == 4, "pairing, posterior, construction and training are waves"
    assert jobs.count("--partition=short") == 8, "options reach every array and every job after one"
    assert jobs.count("--mem=3072M") == 8, "and so does the memory, in every wave"
    assert "--memory-limit 3221225472" in (tmp_path / "arrays/array.sh").read_text(), "an artifact has to fit into its job"
    assert not (tmp_path / "arrays/wave").exists(), "nothing is left to submit"
    assert "accuracy" in (tmp_path / "slurm/jobs.log.out").read_text()
    assert digests(tmp_path / "store") == local


def test_a_task_that_fails_under_slurm_ends_the_chain(tmp_path: Path) -> None:
    env = fake_slurm(tmp_path / "slurm")
    program = wrapper(tmp_path, "echo 'error: no memory' >&2; exit 1")
    words = ["--executor", "slurm-array", "--array-folder", tmp_path / "arrays"]
    run(tmp_path / "store", *words, "--worker-program", program, env=env)
    subprocess.run(["bash", tmp_path / "arrays/submit.sh"], env=env, capture_output=True, timeout=60)
    assert (tmp_path / "slurm/jobs.log").read_text().count("array.sh") == 1, "no second wave"
    assert "no memory" in (tmp_path / "slurm/jobs.log.out").read_text()


def test_a_cache_in_a_folder_is_found_and_can_be_read_only(tmp_path: Path, local: dict[str, str]) -> None:
    cache = f"file://{tmp_path / 'cache'}"
    (tmp_path / "cache").mkdir()
    told = run(tmp_path / "first", "--cache", cache, check=False)
    assert told.returncode == 1
    assert "whoever reads the cache also finds the seed" in told.stderr
    run(tmp_path / "first", "--cache", cache, "--simulation")
    before = sorted(path for path in (tmp_path / "cache").rglob("*"))
    told = run(tmp_path / "second", "--cache", cache, "--cache-read-only", "--json")
    stages = json.loads(told.stdout)["stages"]
    assert {stage["status"] for stage in stages if stage["stage"] in {"estimate", "construct", "train"}} == {"fetched"}
    assert {stage["status"] for stage in stages if stage["stage"] in {"ingest", "privatize"}} == {"ran"}
    assert sorted(path for path in (tmp_path / "cache").rglob("*")) == before
    assert digests(tmp_path / "second") == local
    # What is not what its name says is not taken: the run says so, and makes it itself.
    damaged = next(path for path in (tmp_path / "cache/files").iterdir() if path.stat().st_size > 100)
    damaged.write_bytes(b"something else")
    told = run(tmp_path / "third", "--cache", cache, "--cache-read-only")
    assert "it is not what its manifest says" in told.stderr
    assert cache in told.stderr
    assert digests(tmp_path / "third") == local


def test_what_was_there_before_the_cache_gets_into_it(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    run(tmp_path / "first")
    run(tmp_path / "first", "--cache", f"file://{tmp_path / 'cache'}", "--simulation")
    told = run(tmp_path / "second", "--cache", f"file://{tmp_path / 'cache'}", "--cache-read-only", "--json")
    trained = [stage["status"] for stage in json.loads(told.stdout)["stages"] if stage["stage"] == "train"]
    assert trained == ["fetched"] * NETWORKS


def test_a_worker_keeps_out_of_a_store_with_private_data(tmp_path: Path, cluster: Cluster) -> None:
    (tmp_path / "cache").mkdir()
    run(tmp_path / "mine", "--until", "ingest")
    words = ["--cache", f"file://{tmp_path / 'cache'}", "--simulation", "--worker-store", tmp_path / "mine"]
    told = run(tmp_path / "store", *words, *cluster.arguments(), check=False)
    assert told.returncode == 1
    assert "a worker needs a folder of its own" in told.stderr


def test_object_storage_alone_joins_the_machines(tmp_path: Path, storage: ObjectStorage, local: dict[str, str]) -> None:
    env = surroundings(**storage.variables)
    with Cluster(tmp_path / "cluster", env=env) as cluster:
        words = ["--cache", "s3://graphs/alone", "--simulation", "--worker-store", tmp_path / "scratch", *cluster.arguments()]
        run(tmp_path / "store", *words, env=env)
    assert digests(tmp_path / "store") == local
    assert not storage.names("alone/orders"), "orders that were carried out are gone"
    # Neither the links nor the truth has left: the cache and the workers have no private file.
    private = [path for part in ("owner", "auditor") for path in (tmp_path / "scratch" / part).rglob("*.parquet")]
    assert not private
    # A colleague with another store finds everything.
    told = run(tmp_path / "colleague", "--cache", "s3://graphs/alone", "--simulation", "--json", env=env)
    stages = json.loads(told.stdout)["stages"]
    assert {stage["status"] for stage in stages if stage["stage"] == "train"} == {"fetched"}
    assert digests(tmp_path / "colleague") == local


def test_an_interrupted_upload_is_never_seen(tmp_path: Path, storage: ObjectStorage, local: dict[str, str]) -> None:
    env = surroundings(**storage.variables)
    words = ["run", SWEEP, "--cache", "s3://graphs/killed", "--simulation"]
    for wanted in (1, 20, 60, 100):
        going = subprocess.Popen(command(tmp_path / f"killed-{wanted}", *words), env=env, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        while going.poll() is None and len(storage.names("killed/entries")) < wanted:
            time.sleep(0.01)
        going.kill()
        going.wait()
    entries = storage.names("killed/entries")
    assert 100 <= len(entries) < 4 * NETWORKS, "the runs lived long enough to put something, and not to their end"
    told = run(tmp_path / "store", "--cache", "s3://graphs/killed", "--simulation", "--json", env=env)
    fetched = [stage for stage in json.loads(told.stdout)["stages"] if stage["status"] == "fetched"]
    assert len(fetched) >= len(entries)
    assert digests(tmp_path / "store") == local


def test_a_bucket_that_is_not_there(tmp_path: Path, storage: ObjectStorage) -> None:
    told = run(tmp_path / "store", "--cache", "s3://nobody/has/this", "--simulation",
               env=surroundings(**storage.variables), check=False)
    assert told.returncode == 1
    assert "s3://nobody/has/this" in told.stderr
    told = run(tmp_path / "store", "--cache", "ftp://somewhere", "--simulation", check=False)
    assert told.returncode == 1
    assert "file:///FOLDER or s3://BUCKET/FOLDER" in told.stderr


def test_a_key_that_nobody_ordered(tmp_path: Path) -> None:
    told = subprocess.run(command(tmp_path / "store", "exec", "0" * 32), env=surroundings(), capture_output=True, text=True)
    assert told.returncode == 1
    assert "there is no order for" in told.stderr
    assert not list((tmp_path).rglob("*.parquet"))


def test_a_worker_that_dies_takes_its_task_along(tmp_path: Path) -> None:
    with Cluster(tmp_path / "cluster", workers=1) as cluster:
        words = command(tmp_path / "store", "run", SWEEP, "--set", "trials=1", "--set", "privatize.links.epsilon=4",
                        "--set", "train.epochs=100000", *cluster.arguments())
        going = subprocess.Popen(words, env=surroundings(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        task = wait_for_task(tmp_path / "store")
        cluster.kill_worker(0)
        for _ in range(100):
            if not Path(f"/proc/{task}").exists() or "State:\tZ" in Path(f"/proc/{task}/status").read_text():
                break
            time.sleep(0.05)
        else:
            raise AssertionError("the task outlived its worker")
        going.kill()
        going.wait()


def wait_for_task(store: Path) -> int:
    """Number of the process that trains."""
    for _ in range(600):
        for place in Path("/proc").iterdir():
            if not place.name.isdigit():
                continue
            try:
                words = (place / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"veilgraph") and b"exec" in words and str(store).encode() in words:
                key = words[words.index(b"exec") + 1].decode()
                order = store / "orders" / f"{key}.json"
                if order.is_file() and '"stage": "train"' in order.read_text():
                    return int(place.name)
        time.sleep(0.02)
    raise AssertionError("no task was seen")


