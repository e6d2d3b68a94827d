"""Finding and calling the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

import veilgraph
from veilgraph.program import call

if TYPE_CHECKING:
    from pathlib import Path


def script(path: Path, text: str) -> Path:
    """Write a program for the shell."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_variable_goes_first_and_has_to_name_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = script(tmp_path / "mine", "true")
    monkeypatch.setenv("VEILGRAPH", str(path))
    assert veilgraph.program() == path
    path.chmod(0o644)
    with pytest.raises(veilgraph.VeilgraphError, match=r"not a program; install it with .* unset, or build it"):
        veilgraph.program()


def test_the_program_beside_python_goes_before_the_search_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside, searched = tmp_path / "beside", tmp_path / "searched"
    for folder in (beside, searched):
        folder.mkdir()
        script(folder / "veilgraph", "true")
    monkeypatch.delenv("VEILGRAPH", raising=False)
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(beside))
    monkeypatch.setenv("PATH", str(searched))
    assert veilgraph.program() == beside / "veilgraph"
    (beside / "veilgraph").unlink()
    assert veilgraph.program() == searched / "veilgraph"
    (searched / "veilgraph").unlink()
    with pytest.raises(veilgraph.VeilgraphError, match="was not found; install it with"):
        veilgraph.program()


def test_a_failure_has_the_last_message_and_the_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "echo result; echo progress >&2; echo 'error: a; do b' >&2; echo '  because: c' >&2; exit 3"
    monkeypatch.setenv("VEILGRAPH", str(script(tmp_path / "fails", text)))
    with pytest.raises(veilgraph.VeilgraphError) as raised:
        call([])
    assert (str(raised.value), raised.value.status) == ("a; do b\n  because: c", 3)
    assert capsys.readouterr().err == "progress\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#!/bin/sh\necho hello\n", "does not answer like the program `veilgraph`"),
        ("#!/bin/sh\ntrue\n", "does not answer like the program `veilgraph`"),
        ("#!/bin/sh\necho '[]'\n", "does not answer like the program `veilgraph`"),
        ("#!/bin/sh\necho 3\n", "does not answer like the program `veilgraph`"),
        ("#!/bin/sh\necho '{}'\n", "does not answer like the program `veilgraph`"),
        ("no program\n", r"cannot be run \(Exec format error\); install it with"),
        ("#!/bin/sh\nexit 3\n", "ended with status 3 and said: nothing"),
    ],
)
def test_a_file_that_is_another_program_is_named(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = script(tmp_path / "other", "")
    path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("VEILGRAPH", str(path))
    monkeypatch.chdir(tmp_path)
    for ask in (veilgraph.plan, veilgraph.run, veilgraph.scores):
        with pytest.raises(veilgraph.VeilgraphError, match=f"^{path}: {message}"):
            ask({"privatize": {"links": {"epsilon": 1.0}}})
    with pytest.raises(veilgraph.VeilgraphError, match=f"^{path}: {message}"):
        veilgraph.randomize([(0, 1)], 3, epsilon=1.0)


def test_arguments_that_are_too_long_are_no_wrong_program() -> None:
    with pytest.raises(veilgraph.VeilgraphError, match=r": cannot be run \(Argument list too long\)$"):
        call(["x" * 2**20])


def test_only_warnings_are_passed_on_where_that_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "echo result; echo progress >&2; echo ' WARN x' >&2"
    monkeypatch.setenv("VEILGRAPH", str(script(tmp_path / "warns", text)))
    assert call([], warnings_only=True) == "result\n"
    assert capsys.readouterr().err == " WARN x\n"


def test_more_output_than_a_pipe_holds_does_not_stop_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo 0123456789 >&2; i=$((i + 1)); done"
    monkeypatch.setenv("VEILGRAPH", str(script(tmp_path / "talks", text)))
    assert len(call([], warnings_only=True)) == 20_000 * 11


def test_an_interrupt_ends_the_program_too(tmp_path: Path) -> None:
    number = tmp_path / "number"
    path = script(tmp_path / "sleeps", f"echo $$ > {number}.part; mv {number}.part {number}; exec sleep 60")
    # The signal goes to Python alone, as in a notebook. A shell may have told its background jobs to ignore it.
    text = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from veilgraph.program import call; call([])"
    )
    python = subprocess.Popen(
        [sys.executable, "-c", text],
        env={**os.environ, "VEILGRAPH": str(path), "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not number.exists():
        assert python.poll() is None
        time.sleep(0.01)
    # Long enough for Python to be waiting for the program.
    time.sleep(0.5)
    python.send_signal(signal.SIGINT)
    _, said = python.communicate(timeout=30)
    assert "KeyboardInterrupt" in said
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text(encoding="utf-8")), 0)


def test_the_real_program_answers() -> None:
    assert call(["--version"]).startswith("veilgraph ")
