"""Runs tasks of `veilgraph run --executor dask` on the workers of a Dask cluster.

The program starts this file and speaks with it in lines of JSON: on standard input one line for each task
(`{"key": ..., "argv": [...], "threads": ...}`), on standard output one for everything that is heard of them. Nothing
else of the package is imported, so that the Python of the run needs `dask` and `distributed` alone. The workers need
the same two and the program `veilgraph`: the functions below travel to them.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client, Future

#: Workers tell steps of their tasks under this name.
TOPIC = "veilgraph-steps"
#: Tasks that the scheduler is given at a time; it loses workers over many tens of thousands.
MOST_AT_A_TIME = 5_000
#: How often a task is tried again after its process was ended from outside (for want of memory, say).
RETRIES = 2
#: Seconds to wait for the scheduler.
PATIENCE = 10
#: Letters of a program's complaints that an error quotes.
QUOTED = 4_000

_writing = threading.Lock()


def tell(event: str, **values: Any) -> None:
    """Write one line for the program."""
    with _writing:
        sys.stdout.write(json.dumps({"event": event, **values}) + "\n")
        sys.stdout.flush()


def own_versions() -> list[str]:
    """Return what must be the same on every machine."""
    import dask  # noqa: PLC0415 -- the function travels without this file
    import distributed  # noqa: PLC0415

    return [f"python {sys.version_info[0]}.{sys.version_info[1]}", f"dask {dask.__version__}", distributed.__version__]


def run_task(argv: list[str], threads: int, versions: list[str], topic: str, quoted: int) -> dict[str, Any]:
    """Run one task in a process of its own, on a worker; raise only what another try may mend."""
    from distributed import get_worker  # noqa: PLC0415 -- the function travels without this file

    worker = get_worker()
    place = f"{socket.gethostname()} ({worker.address})"
    if own_versions() != versions:
        here, there = ", ".join(own_versions()), ", ".join(versions)
        return {"error": f"{place}: it has {here}, and the run has {there}; install the same on every machine"}
    answer: dict[str, Any] | None = None
    with tempfile.TemporaryFile("w+", errors="replace") as complaints:
        try:
            child = subprocess.Popen(
                [*argv, "--die-with", str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                env=os.environ | {"RAYON_NUM_THREADS": str(threads)},
            )
        except OSError as error:
            return {"error": f"{place}: the program cannot be started there: {error}; name it with --worker-program"}
        with child:
            for line in child.stdout or ():
                try:
                    message = json.loads(line)
                except ValueError:
                    # Somebody's wrapper prints, too.
                    continue
                if "status" in message:
                    answer = message
                elif "done" in message:
                    worker.log_event(topic, message)
        complaints.seek(0)
        log = complaints.read()[-quoted:]
    # A shell around the program says 128 and the number of the signal.
    number = -child.returncode if child.returncode < 0 else child.returncode - 128
    if number in {signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU} or child.returncode < 0:
        name = signal.Signals(number).name
        raise RuntimeError(
            f"{place}: the task was ended by {name}"
            + ("; the machine may have too little memory for it" if number == signal.SIGKILL else "")
        )
    if child.returncode or answer is None:
        log = log.strip().removeprefix("error: ") or f"the program ended with status {child.returncode}"
        return {"error": f"{place}: {log}"}
    return {**answer, "log": log}


class Executor:
    """Keeps the scheduler supplied with tasks, and tells what becomes of them."""

    def __init__(self, client: Client) -> None:
        """Listen to the steps of tasks, and to workers that come and go."""
        self.client = client
        # Another run may have the same task in another store, and the scheduler takes equal names for equal tasks.
        self.run = uuid.uuid4().hex
        self.free = threading.Semaphore(MOST_AT_A_TIME)
        self.running: dict[str, Future[dict[str, Any]]] = {}
        self.workers = set(client.nthreads())
        self.versions = own_versions()
        self.lock = threading.Lock()
        client.subscribe_topic(TOPIC, self.hear_step)
        client.subscribe_topic("all", self.hear_cluster)

    def submit(self, task: dict[str, Any]) -> None:
        """Hand a task to the scheduler, as soon as it has room for it."""
        self.free.acquire()
        key = task["key"]
        future = self.client.submit(
            run_task,
            task["argv"],
            task["threads"],
            self.versions,
            TOPIC,
            QUOTED,
            key=f"veilgraph-{key}-{self.run}",
            pure=False,
            retries=RETRIES,
        )
        with self.lock:
            self.running[key] = future
        future.add_done_callback(lambda future: self.end(key, future))

    def end(self, key: str, future: Future[dict[str, Any]]) -> None:
        """Tell how a task ended, and let the scheduler forget it."""
        with self.lock:
            if self.running.pop(key, None) is None:
                return
        self.free.release()
        try:
            answer = future.result()
            future.release()
            if "error" in answer:
                tell("failed", key=key, error=answer["error"])
            else:
                tell("made", key=key, seconds=answer["seconds"], host=answer["host"], log=answer["log"])
        except Exception as error:  # noqa: BLE001 -- whatever ended it, whoever gave the command must learn of it
            tell("failed", key=key, error=explain(error))

    def hear_step(self, event: tuple[float, dict[str, Any]]) -> None:
        """Pass on how far a task is."""
        message = event[1]
        tell("step", key=message["key"], done=message["done"], total=message["total"])

    def hear_cluster(self, event: tuple[float, dict[str, Any]]) -> None:
        """Say that a worker is gone, and that its tasks go to another one."""
        message = event[1]
        action = message.get("action") if isinstance(message, dict) else None
        if action == "add-worker":
            self.workers.add(message.get("worker"))
        if action != "remove-worker":
            return
        worker = message.get("worker", "a worker")
        self.workers.discard(worker)
        lost = sum(str(key).startswith("veilgraph-") for key in message.get("processing-tasks", ()))
        text = f"{worker} is gone; {lost} tasks that it had wait for another worker"
        if not self.workers:
            text += f", and no worker is left: start one (`dask worker {self.client.scheduler.address}`)"
        tell("said", text=text)

    def leave(self) -> None:
        """Cancel what still runs."""
        with self.lock:
            running, self.running = list(self.running.values()), {}
        if running:
            self.client.cancel(running)


def explain(error: BaseException) -> str:
    """Say in words why a task was given up."""
    if type(error).__name__ == "KilledWorker":
        last = getattr(error, "last_worker", None)
        where = f", the last time {last.address}" if last is not None else ""
        return (
            f"every worker that had this task died{where}. Their memory or their time may not do; give them more, or "
            "let them leave in time (`--lifetime`)"
        )
    return str(error) or type(error).__name__


def connect(address: str) -> Client:
    """Connect to the scheduler, whose versions must be ours."""
    from distributed import Client  # noqa: PLC0415 -- a Python without it gets a clear message

    client = Client(address, timeout=PATIENCE, set_as_default=False)
    found = client.get_versions()
    theirs = found["scheduler"]
    there = [
        "python " + ".".join(dict(theirs["host"])["python"].split(".")[:2]),
        f"dask {theirs['packages']['dask']}",
        theirs["packages"]["distributed"],
    ]
    if there != own_versions():
        raise ValueError(f"it has {', '.join(there)}, and {sys.executable} has {', '.join(own_versions())}")
    return client


def serve(executor: Executor) -> None:
    """Submit tasks until the program closes its end; then cancel what still runs."""
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()

    def submit() -> None:
        while True:
            executor.submit(json.loads(waiting.get()))

    # Lines are read on while the scheduler is busy, so that the program never waits, and its end is seen at once.
    threading.Thread(target=submit, daemon=True).start()
    for line in sys.stdin:
        waiting.put(line)
    executor.leave()


def main() -> int:
    """Connect, and serve the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scheduler", required=True)
    address = parser.parse_args().scheduler
    # An interrupted run closes the pipe, which is the sign to leave.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        client = connect(address)
    except ImportError as error:
        text = "install Dask for it in the version of the scheduler (pip install dask distributed), or give --python"
        tell("broken", error=f"{sys.executable}: {error}; {text}")
        return 1
    except (OSError, TimeoutError):
        text = f"no scheduler answers at {address}; start one with `dask scheduler`, and name its address"
        tell("broken", error=text)
        return 1
    except ValueError as error:
        tell("broken", error=f"{address}: {error}; install the same versions on every machine")
        return 1
    executor = Executor(client)
    threads = sum(client.nthreads().values())
    tell("ready", threads=threads)
    if not threads:
        tell("said", text=f"{address} has no worker yet; tasks wait until one is there (`dask worker {address}`)")
    serve(executor)
    return 0


if __name__ == "__main__":
    code = main()
    # The threads of the client take their time, and nothing waits for them.
    sys.stdout.flush()
    os._exit(code)
