"""The guide `docs/python.md` is run from its first block of Python to its last."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "python.md"


@pytest.fixture(scope="module")
def missing(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Run every block in one namespace and an empty folder; return what blocks for absent packages said."""
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) > 5
    namespace: dict[str, object] = {}
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("guide"))
        for number, block in enumerate(blocks, 1):
            said += run(block, f"{GUIDE.name}, block {number}", namespace)
    return said


def run(block: str, name: str, namespace: dict[str, object]) -> list[str]:
    """Run a block; return what it says about an absent package, if it needs one."""
    try:
        exec(compile(block, name, "exec"), namespace)
    except ImportError as error:
        if "veilgraph[" not in str(error):
            raise
        return [f"{name}: {error}"]
    return []


def test_every_block_runs(missing: list[str]) -> None:
    # PyG and DGL are large, so the extra `test` leaves them out.
    assert len(missing) <= 2


def test_no_block_was_left_out(missing: list[str]) -> None:
    if missing:
        pytest.skip("; ".join(missing))
