"""Finding the program `veilgraph`, and calling it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, TYPE_CHECKING, Any

from veilgraph.errors import VeilgraphError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: What to do about a program that is not the right one.
_REMEDY = (
    "install it with `pip install .` in a copy of the repository and leave the environment variable VEILGRAPH unset, "
    "or build it with `make build` and let VEILGRAPH name the file `target/release/veilgraph`"
)

#: Errors of the system about a file that is not this program.
_WRONG_FILE = (errno.ENOEXEC, errno.EACCES, errno.ENOENT)

#: What is read of the documents that commands print.
_KEYS = {
    "plan": {"name", "stages", "spent"},
    "run": {"name", "store", "stages", "spent", "metrics", "checks"},
}


def program() -> Path:
    """Return the path of the program `veilgraph`.

    It is the file that the environment variable `VEILGRAPH` names; else the program beside this Python, where pip
    puts it; else the first `veilgraph` of the search path.

    Raises:
        VeilgraphError: There is no such program.

    """
    named = os.environ.get("VEILGRAPH")
    if named:
        path = Path(named)
        if path.is_file() and os.access(path, os.X_OK):
            return path
        raise VeilgraphError(f"VEILGRAPH={named}: not a program; {_REMEDY}")
    beside = shutil.which("veilgraph", path=sysconfig.get_path("scripts"))
    found = beside or shutil.which("veilgraph")
    if found is None:
        raise VeilgraphError(f"the program `veilgraph` was not found; {_REMEDY}")
    return Path(found)


def call(arguments: Sequence[str], *, warnings_only: bool = False) -> str:
    """Run the program to its end and return what it printed to standard output.

    What it says to standard error is passed on while it runs, or with `warnings_only` those lines alone that warn. What
    it says about its failure becomes the text of the exception.
    Whatever interrupts the wait, such as Ctrl-C, ends the program too.

    Raises:
        VeilgraphError: The program is not there, cannot be run, or failed.

    """
    path = program()
    try:
        process = subprocess.Popen(
            [str(path), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        remedy = f"; {_REMEDY}" if error.errno in _WRONG_FILE else ""
        raise VeilgraphError(f"{path}: cannot be run ({error.strerror}){remedy}") from error
    with process:
        # Both pipes are emptied at once, since a full one would stop the program.
        printed: SimpleQueue[str | None] = SimpleQueue()
        reported: SimpleQueue[str | None] = SimpleQueue()
        for stream, queue in ((process.stdout, printed), (process.stderr, reported)):
            Thread(target=_collect, args=(stream, queue), daemon=True).start()
        said: list[str] = []
        is_error = False
        try:
            for line in _lines(reported):
                said.append(line)
                # The last message is that of the exception.
                is_error = is_error or line.startswith("error: ")
                if not is_error and (not warnings_only or line.lstrip().startswith("WARN")):
                    sys.stderr.write(line)
            answer = "".join(_lines(printed))
            status = process.wait()
        except BaseException:
            process.terminate()
            raise
    if status != 0:
        raise VeilgraphError(_message(said, path, status), status)
    return answer


def call_for_json(arguments: Sequence[str], *, warnings_only: bool = False) -> dict[str, Any]:
    """Run `plan` or `run` to its end and return the document that the program printed to standard output.

    Raises:
        VeilgraphError: As for `call`, or what it printed is no such document.

    """
    try:
        document = json.loads(call(arguments, warnings_only=warnings_only))
    except json.JSONDecodeError as error:
        raise wrong_program() from error
    if not isinstance(document, dict) or not _KEYS[arguments[0]].issubset(document):
        raise wrong_program()
    return document


def wrong_program() -> VeilgraphError:
    """Return the error about a program that ended well, and gave an answer that `veilgraph` never gives."""
    return VeilgraphError(f"{program()}: does not answer like the program `veilgraph`; {_REMEDY}")


def _collect(stream: IO[str] | None, into: SimpleQueue[str | None]) -> None:
    for line in stream or ():
        into.put(line)
    into.put(None)


def _lines(queue: SimpleQueue[str | None]) -> Iterator[str]:
    """Give the lines of a pipe until it ends."""
    while True:
        # Polars installs a handler of Ctrl-C after which a blocked read goes on, so nothing here may block for long.
        try:
            line = queue.get(timeout=0.1)
        except Empty:
            continue
        if line is None:
            return
        yield line


def _message(said: list[str], path: Path, status: int) -> str:
    """Return the error that the program reported last, without what it said before."""
    starts = [at for at, line in enumerate(said) if line.startswith("error: ")]
    if starts:
        return "".join(said[starts[-1] :]).removeprefix("error: ").strip()
    return f"{path}: ended with status {status} and said: {''.join(said).strip() or 'nothing'}"
