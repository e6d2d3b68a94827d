"""What the tests beyond one machine need: the program, a Dask cluster on loopback, object storage, a Slurm."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SWEEP = HERE / "sweep.toml"
PROGRAM = Path(os.environ.get("VEILGRAPH", HERE.parents[1] / "target/release/veilgraph")).resolve()
DASK = Path(sys.executable).parent / "dask"
#: The variables that could lead a test to somebody else's store.
FOREIGN = ("VEILGRAPH_STORE", "VEILGRAPH_CACHE", "VEILGRAPH_SCHEDULER", "DATA_DIR", "PUBLISHED")


def surroundings(**more: str) -> dict[str, str]:
    """The environment of a program under test."""
    return {name: value for name, value in os.environ.items() if name not in FOREIGN} | more


def command(store: Path, *words: str | Path) -> list[str]:
    return [str(PROGRAM), "--store", str(store), *map(str, words)]


def run(store: Path, *words: str | Path, config: Path = SWEEP, env: dict[str, str] | None = None, check: bool = True):
    """Runs a config to its end."""
    told = subprocess.run(command(store, "run", config, *words), env=env or surroundings(), capture_output=True,
                          text=True, timeout=300)
    if check and told.returncode:
        raise AssertionError(f"the run failed:\n{told.stdout}\n{told.stderr}")
    return told


def digests(store: Path, *words: str) -> dict[str, str]:
    """The digest of every file that the server has of a run that is there already, by the name of the run."""
    listed = subprocess.run(command(store, "run", SWEEP, "--json", *words), env=surroundings(), check=True,
                            capture_output=True, text=True)
    stages = json.loads(listed.stdout)["stages"]
    return {
        f"{stage['stage']} {stage['function']} {stage['label']} {name}": output["digest"]
        for stage in stages
        for name, output in stage["outputs"].items()
        # Digests of private files are keyed by a secret of their store.
        if "/owner/" not in output["path"] and "/auditor/" not in output["path"]
    }


class Cluster:
    """A scheduler and workers of one thread each on this machine."""

    def __init__(self, folder: Path, workers: int = 2, env: dict[str, str] | None = None) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.env = env or surroundings()
        # Its port is chosen by the system, and written into a file.
        place = folder / "scheduler.json"
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                                    "--scheduler-file", str(place))
        self.address = self.wait_for_address(place)
        self.workers = [self.add_worker(core) for core in range(workers)]
        self.wait_for_workers(workers)

    def start(self, *words: str, core: int | None = None) -> subprocess.Popen[bytes]:
        pin = ["taskset", "-c", str(core % (os.cpu_count() or 1))] if core is not None and shutil.which("taskset") else []
        log = (self.folder / f"{words[0]}-{time.monotonic_ns()}.log").open("wb")
        with log:
            return subprocess.Popen([*pin, str(DASK), *words], env=self.env, stdout=log, stderr=log,
                                    cwd=self.folder)

    def add_worker(self, core: int) -> subprocess.Popen[bytes]:
        return self.start("worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit",
                          "0", core=core)

    @staticmethod
    def wait_for_address(place: Path) -> str:
        for _ in range(300):
            if place.is_file() and place.read_text().endswith("}"):
                return json.loads(place.read_text())["address"]
            time.sleep(0.1)
        raise AssertionError("the scheduler did not start")

    def wait_for_workers(self, count: int) -> None:
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=60)

    def arguments(self) -> list[str]:
        return ["--executor", "dask", "--scheduler", self.address, "--python", sys.executable]

    def kill_worker(self, number: int) -> None:
        self.workers[number].send_signal(signal.SIGKILL)

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ObjectStorage:
    """A server on loopback that speaks S3 (moto), with one bucket."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        import socket

        if not port:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
        folder.mkdir(parents=True, exist_ok=True)
        self.endpoint = f"http://127.0.0.1:{port}"
        with (folder / "moto.log").open("wb") as log:
            self.server = subprocess.Popen([str(DASK.parent / "moto_server"), "-p", str(port)], stdout=log, stderr=log)
        self.variables = {
            "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint, "AWS_ALLOW_HTTP": "true",
        }
        self.make_bucket()

    def make_bucket(self) -> None:
        import urllib.error
        import urllib.request

        for _ in range(300):
            try:
                with urllib.request.urlopen(urllib.request.Request(f"{self.endpoint}/graphs", method="PUT")):
                    return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise AssertionError("the object storage did not start")

    def names(self, prefix: str) -> list[str]:
        """Names of the objects that begin so."""
        import re
        import urllib.request

        found, marker = [], ""
        while True:
            url = f"{self.endpoint}/graphs?list-type=2&prefix={prefix}{marker}"
            with urllib.request.urlopen(url) as answer:
                text = answer.read().decode()
            found += re.findall(r"<Key>([^<]*)</Key>", text)
            more = re.search(r"<NextContinuationToken>([^<]*)<", text)
            if not more:
                return found
            marker = f"&continuation-token={more.group(1)}"

    def close(self) -> None:
        self.server.kill()
        self.server.wait()


def fake_slurm(folder: Path) -> dict[str, str]:
    """An environment whose `sbatch` runs jobs at once, as Slurm would one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    sbatch = folder / "sbatch"
    sbatch.write_text(f"#!/bin/sh\nexec {sys.executable} {HERE / 'sbatch.py'} \"$@\"\n")
    sbatch.chmod(0o755)
    return surroundings(PATH=f"{folder}:{os.environ['PATH']}", SBATCH_LOG=str(folder / "jobs.log"))
