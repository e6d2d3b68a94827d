"""What several tests need: the program, a graph, and one small experiment that has run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

import veilgraph

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt


@pytest.fixture(autouse=True, scope="session")
def _surroundings() -> Iterator[None]:
    """Let no variable of whoever runs the tests decide where stores and data lie."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("VEILGRAPH_STORE", "DATA_DIR", "PUBLISHED"):
            patch.delenv(name, raising=False)
        if "VEILGRAPH" in os.environ:
            patch.setenv("VEILGRAPH", str(veilgraph.program().resolve()))
        yield


@pytest.fixture(scope="session")
def config() -> dict[str, object]:
    """Return an experiment with every stage that runs in a second."""
    return {
        "name": "small",
        "references": [],
        "ingest": {"synthetic": {"nodes": 150, "features": 60, "classes": 3}},
        "privatize": {"links": {"epsilon": 6.0}},
        "estimate": {"method": "published"},
        "train": {"learning_rate": 0.01, "epochs": 20},
    }


@pytest.fixture(scope="session")
def small(config: dict[str, object], tmp_path_factory: pytest.TempPathFactory) -> veilgraph.Run:
    """Return that experiment after it has run."""
    return veilgraph.run(config, store=tmp_path_factory.mktemp("small") / "store")


@pytest.fixture(scope="session")
def n() -> int:
    """Return the number of nodes of `edges`."""
    return 200


@pytest.fixture(scope="session")
def edges(n: int) -> npt.NDArray[np.int64]:
    """Return a random graph with some 2,000 links, each once and with its smaller end first."""
    generator = np.random.default_rng(1)
    return np.argwhere(np.triu(generator.random((n, n)) < 0.1, k=1))


@pytest.fixture(scope="session")
def ring() -> list[tuple[int, int]]:
    """Return the links of a ring of 12 nodes."""
    return [(node, (node + 1) % 12) for node in range(12)]


@pytest.fixture
def ring_reports(ring: list[tuple[int, int]]) -> Iterator[veilgraph.Reports]:
    """Yield reports of the ring: node i has the feature i alone and the class i // 6; every third one trains."""
    words = ["train", "validation", "test"] * 4
    with veilgraph.randomize(
        ring, 12, epsilon=8.0, seed=1, features=np.eye(12), labels=np.arange(12) // 6, splits=words
    ) as reports:
        yield reports


@pytest.fixture
def data_folder(tmp_path: Path) -> Path:
    """Return an empty folder."""
    return tmp_path / "data"
