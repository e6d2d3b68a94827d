"""The archive that `make dist` makes: equal files give equal bytes, and the terms of what is linked are in it."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = Path(__file__).parents[2] / ".ci" / "dist.py"
FILES = {"README.md": (b"read me", False), "bin/veilgraph": (b"run me", True)}


@pytest.fixture(scope="module")
def dist() -> ModuleType:
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("dist", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_equal_files_give_equal_bytes(dist: ModuleType) -> None:
    archive = dist.archive("veilgraph", FILES, 1_700_000_000)
    assert archive == dist.archive("veilgraph", dict(reversed(FILES.items())), 1_700_000_000)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        members = tar.getmembers()
        assert [(member.name, member.mode, member.mtime) for member in members] == [
            ("veilgraph/README.md", 0o644, 1_700_000_000),
            ("veilgraph/bin/veilgraph", 0o755, 1_700_000_000),
        ]
        assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {(0, 0, "", "")}
    changed = dist.archive("veilgraph", {**FILES, "README.md": (b"Read me", False)}, 1_700_000_000)
    assert hashlib.sha256(archive).digest() != hashlib.sha256(changed).digest()


def crate(folder: Path, name: str, terms: str | None, *, is_program: bool = False) -> dict[str, Any]:
    """Return a crate as `cargo metadata` describes it, and write its terms."""
    (folder / name).mkdir()
    if terms is not None:
        (folder / name / "LICENSE-MIT").write_text(terms)
    return {
        "id": name,
        "name": name,
        "version": "1.0.0",
        "license": "MIT",
        "source": None if is_program else "registry",
        "manifest_path": str(folder / name / "Cargo.toml"),
        "targets": [{"kind": ["bin" if is_program else "lib"], "name": "veilgraph" if is_program else name}],
    }


def test_the_terms_of_what_is_linked_stand_once(dist: ModuleType, tmp_path: Path) -> None:
    packages = [
        crate(tmp_path, "program", None, is_program=True),
        crate(tmp_path, "direct", "terms of two"),
        crate(tmp_path, "indirect", "terms of two"),
        crate(tmp_path, "for-tests", "terms of none"),
    ]
    linked = [{"kind": None}]
    nodes = [
        {
            "id": "program",
            "deps": [{"pkg": "direct", "dep_kinds": linked}, {"pkg": "for-tests", "dep_kinds": [{"kind": "dev"}]}],
        },
        {"id": "direct", "deps": [{"pkg": "indirect", "dep_kinds": linked}]},
        {"id": "indirect", "deps": []},
        {"id": "for-tests", "deps": []},
    ]
    text = dist.of_dependencies({"packages": packages, "resolve": {"nodes": nodes}})
    assert "direct 1.0.0: MIT\nindirect 1.0.0: MIT\n" in text
    assert text.count("terms of two") == 1
    assert "These terms are those of direct 1.0.0, indirect 1.0.0" in text
    assert "terms of none" not in text
    with pytest.raises(SystemExit, match="names no crate"):
        dist.of_dependencies({"packages": packages[1:], "resolve": {"nodes": nodes[1:]}})
