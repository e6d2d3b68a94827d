"""What all nodes sent, and the private folder in which a server's stages run on it."""

from __future__ import annotations

import shutil
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from veilgraph.artifacts import facts_of, scan
from veilgraph.config import config_file, plain, set_arguments
from veilgraph.experiments import spent_of
from veilgraph.program import call_for_json

if TYPE_CHECKING:
    from collections.abc import Mapping


#: Tables of what a server does with reports.
_SERVER_TABLES = ("similarity", "estimate", "construct")


class Reports:
    """What all nodes sent: a simulation on one machine, and no deployment.

    Whoever knows the seed can remove the noise, and until `close` a temporary folder of mode 0700 holds the true
    links. Reports are a context manager; they also close when they are no longer used. `docs/deploy.md` shows how
    real nodes report.

    Attributes:
        n_nodes: Number of nodes.
        mechanism: Name of the mechanism.
        epsilon: Budget of each node, in nats per list bit.
        spent: What each part of the release cost, as in `Plan.spent`.
        costs: The sum of `epsilon` in `spent` by relation, in nats: `list-bit` is one bit of one list, and `edge` an
            undirected link, which mostly stands in two lists.

    """

    def __init__(
        self, folder: Path, tables: Mapping[str, object], settings: Mapping[str, object] | None, n_nodes: int
    ) -> None:
        """Draw the reports; call `randomize` instead."""
        self._close = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._folder = folder
        self._tables = dict(tables)
        self._settings = dict(settings or {})
        self.n_nodes = n_nodes
        document = self.bring("privatize")
        self._files = files_of(document)
        self._sent = list(files_of(document, "privatize"))
        self.spent = spent_of(document)
        by_relation = self.spent.group_by("relation", maintain_order=True)
        self.costs: dict[str, float] = dict(by_relation.agg(pl.col("epsilon").sum()).iter_rows())
        links: Any = tables["privatize"]
        self.mechanism: str = links["links"]["mechanism"]
        self.epsilon: float = links["links"].get("epsilon", float("inf"))

    @property
    def noisy_links(self) -> pl.DataFrame:
        """The ones of every node's noisy list: `source` (who reports), `target` (whom it claims as a neighbour)."""
        return self.artifact("noisy_links")

    @property
    def noisy_degrees(self) -> pl.DataFrame:
        """The noisy degree of every node: `node`, `degree` in links, which may be negative."""
        return self.artifact("noisy_degrees")

    @property
    def facts(self) -> dict[str, str]:
        """What the reports say about themselves, such as `epsilon_links`, `epsilon_degree` and `deployable`."""
        return facts_of(self._path(self._sent[0] if self._sent else "report"))

    def artifact(self, name: str) -> pl.DataFrame:
        """Return a table that this mechanism sends, such as `noisy_entries` or `noisy_counts`.

        Raises:
            LookupError: The mechanism sends no such table.
            ValueError: The reports are closed.

        """
        return scan(self._path(name)).collect()

    def close(self) -> None:
        """Remove the temporary folder with the true links; the reports cannot be read afterwards."""
        self._close()

    def __enter__(self) -> Reports:
        """Return the reports, which close when the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the reports."""
        self.close()

    def __repr__(self) -> str:
        """Name the mechanism, the budget and the number of nodes, and never the seed."""
        state = "" if self._close.alive else ", closed"
        return f"Reports({self.mechanism!r}, epsilon={self.epsilon:g}, n_nodes={self.n_nodes}{state})"

    def bring(
        self, until: str, tables: Mapping[str, object] | None = None, settings: Mapping[str, object] | None = None
    ) -> dict[str, Any]:
        """Run the stages up to one on these reports, with further tables and settings; return the program's answer.

        Raises:
            ValueError: The reports are closed, or a setting is a list, which would be a sweep, or would draw others.
            VeilgraphError: The program refuses a setting, or failed.

        """
        self._ensure_open()
        for field, value in (settings or {}).items():
            if field.split(".")[0] not in _SERVER_TABLES:
                raise ValueError(f"{field}: the reports are drawn already; set it in `randomize`")
            ensure_no_sweep(field, value)
        with config_file({**self._tables, **(tables or {})}, self._folder) as path:
            places = [f"--store={self._folder / 'store'}", f"--data-dir={self._folder}"]
            overlay = set_arguments({**self._settings, **(settings or {})})
            return call_for_json(
                ["run", str(path), "--json", f"--until={until}", *places, *overlay], warnings_only=True
            )

    def _path(self, name: str) -> Path:
        self._ensure_open()
        if name not in self._files:
            raise LookupError(f"{self.mechanism} sends no {name}; it sends {', '.join(self._sent) or 'nothing'}")
        return self._files[name]

    def _ensure_open(self) -> None:
        if not self._close.alive:
            raise ValueError("these reports are closed; randomize the links again")


def ensure_no_sweep(field: str, value: object) -> None:
    """Refuse a list, of which the program would run every value.

    Raises:
        ValueError: The value is a list, or what becomes one in TOML.

    """
    if isinstance(plain(value, field), list):
        raise ValueError(f"{field}: a list is a sweep; call this function once for each value")  # noqa: TRY004


def files_of(document: dict[str, Any], stage: str | None = None) -> dict[str, Path]:
    """Return the file of each artifact that is not the owner's alone, and that a run or one stage of it made."""
    # Of two tasks that write artifacts of one name, the later one has read the earlier one's.
    return {
        name: Path(output["path"])
        for task in document["stages"]
        if stage in (None, task["stage"])
        for name, output in task["outputs"].items()
        if not output["owner"]
    }
