"""What the server believes about each pair of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from veilgraph.artifacts import PathLike, facts_of, find, scan
from veilgraph.edges import Edges, edge_array
from veilgraph.reports import Reports, files_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy.typing as npt

#: The most nodes for which all pairs are laid out at once: 128 MiB of probabilities.
MOST_NODES_OF_A_MATRIX = 4096


class LinkProbabilities:
    """The probability of a link for every pair of nodes, kept as a formula and not as a matrix.

    `logit P(i, j) = beta[i] + beta[j] + 2 (claims - 1) epsilon_links + bin_logits[bin]`, where `claims` counts who of
    the two nodes reported the link, and `bin` is how alike they are (0: nothing is known).

    Attributes:
        beta: Parameters of the nodes, shape [n], in nats of log odds.
        degrees: Numbers of links of the nodes as the server reads them, shape [n].
        epsilon_links: Budget of one reported bit, in nats.
        bin_logits: Log odds of the bins, shape [1 + number of bins]; that of bin 0 is 0.

    """

    def __init__(self, model: Path, evidence: Path) -> None:
        """Read the artifacts `link_model` and `link_evidence`; call `link_probabilities` or `read` instead."""
        nodes = scan(model).collect().sort("node")
        facts = facts_of(model)
        self.beta: npt.NDArray[np.float64] = nodes["beta"].to_numpy()
        self.degrees: npt.NDArray[np.float64] = nodes["degree"].to_numpy()
        self.epsilon_links = float(facts["epsilon_links"])
        self.bin_logits = np.array([0.0, *map(float, facts["bin_logits"].split())])
        # One claim of two says nothing, also where epsilon is infinite.
        claims = np.array([-2.0 * self.epsilon_links, 0.0, 2.0 * self.epsilon_links])
        table = self.bin_logits[:, None] + claims
        self._unknown = float(table[0, 0])
        known = scan(evidence).collect().sort("i", "j")
        keys = known["i"].cast(pl.Int64) * self.n_nodes + known["j"].cast(pl.Int64)
        self._keys: npt.NDArray[np.int64] = keys.to_numpy()
        self._logits: npt.NDArray[np.float64] = table[known["bin"].to_numpy(), known["claims"].to_numpy()]

    @classmethod
    def read(cls, name: PathLike, *, store: PathLike | None = None) -> LinkProbabilities:
        """Read the probabilities of the last run of a name from a store.

        Args:
            name: Readable name of a run of the stage `estimate`, such as `demo/estimate/best,epsilon-4,trial-0`.
            store: As for `veilgraph.artifact`.

        Raises:
            FileNotFoundError: There is no such run.

        """
        return cls(find(f"{name}/link_model", store), find(f"{name}/link_evidence", store))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.beta)

    def of(self, pairs: Edges) -> npt.NDArray[np.float64]:
        """Return the probabilities of pairs.

        Args:
            pairs: m pairs of two different nodes, in any form of `randomize`; their order does not matter.

        Returns:
            Shape [m], in [0, 1].

        Raises:
            ValueError: A pair names a node outside 0 to n - 1, or one node twice.

        Example:
            >>> probabilities.of([(0, 1), (5, 3)])

        """
        ends, _ = edge_array(pairs, self.n_nodes)
        low, high = ends.min(axis=1), ends.max(axis=1)
        if (low == high).any():
            raise ValueError("a node with itself is no pair; leave such rows out")
        keys = low * self.n_nodes + high
        at, is_known = self._known(keys)
        logits = np.full(len(keys), self._unknown)
        logits[is_known] = self._logits[at[is_known]]
        return _sigmoid(self.beta[low] + self.beta[high] + logits)

    def pairs(self, at_least: float = 0.5) -> pl.DataFrame:
        """Return all pairs with at least this probability, the likeliest first.

        Args:
            at_least: Probability, above 0 and at most 1.

        Returns:
            `source`, `target` (source < target), `probability`. Time and memory grow with the pairs of which
            something is reported and with the rows of the result, and not with n².

        Raises:
            ValueError: `at_least` is out of range.

        Example:
            >>> likely = probabilities.pairs(at_least=0.9)

        """
        if not 0.0 < at_least <= 1.0:
            raise ValueError(f"at_least is {at_least}; give a probability above 0 and at most 1")
        unlisted = self._unlisted(np.log(at_least) - np.log1p(-at_least) if at_least < 1.0 else np.inf)
        keys = np.concatenate([self._keys, unlisted])
        ends = np.column_stack(np.divmod(keys, self.n_nodes))
        probability = self.of(ends)
        kept = probability >= at_least
        rows = {"source": ends[kept, 0], "target": ends[kept, 1], "probability": probability[kept]}
        order = ["probability", "source", "target"]
        return (
            pl.DataFrame(rows)
            .cast({"source": pl.UInt32, "target": pl.UInt32})
            .sort(order, descending=[True, False, False])
        )

    def matrix(self) -> npt.NDArray[np.float64]:
        """Return the probabilities of all pairs, shape [n, n], symmetric with zeros on the diagonal.

        Entry (i, j) is exactly what `of` returns for the pair.

        Raises:
            ValueError: There are more than 4096 nodes.

        """
        n = self.n_nodes
        if n > MOST_NODES_OF_A_MATRIX:
            raise ValueError(f"{n} nodes have {n * n:,} entries; use `pairs` or `of`, which lay out no matrix")
        logits = np.full((n, n), self._unknown)
        low, high = np.divmod(self._keys, n)
        logits[low, high] = logits[high, low] = self._logits
        # The order in which `of` adds, so that no rounding tells the two apart.
        matrix = _sigmoid(logits + (self.beta[:, None] + self.beta))
        np.fill_diagonal(matrix, 0.0)
        return matrix

    def _known(self, keys: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return where each pair stands among those with evidence, and whether it does."""
        at = np.searchsorted(self._keys, keys)
        is_inside = at < len(self._keys)
        is_inside[is_inside] = self._keys[at[is_inside]] == keys[is_inside]
        return at, is_inside

    def _unlisted(self, logit: float) -> npt.NDArray[np.int64]:
        """Return the pairs without evidence whose log odds may reach `logit`, as keys."""
        # With nodes in descending order of beta, the partners of a node are those up to a position.
        order = np.argsort(-self.beta, kind="stable")
        descending = self.beta[order]
        least = logit - self._unknown - descending - 1e-9
        ends = np.searchsorted(-descending, -least, side="right")
        starts = np.arange(1, self.n_nodes + 1)
        counts = np.maximum(ends - starts, 0)
        first = np.repeat(np.arange(self.n_nodes), counts)
        offsets = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
        one, other = order[first], order[first + 1 + offsets]
        keys: npt.NDArray[np.int64] = np.minimum(one, other) * self.n_nodes + np.maximum(one, other)
        return keys[~self._known(keys)[1]]


def link_probabilities(
    reports: Reports, method: str = "best", *, settings: Mapping[str, object] | None = None
) -> LinkProbabilities:
    """Return what the server believes about each pair after the reports; this costs no budget.

    Args:
        reports: Reports of the mechanism `blink`.
        method: `best`, which also reads features and labels where there are some, or `published` (the Blink paper).
        settings: Further fields of `[estimate]` and `[similarity]` by dotted name, such as
            `{"estimate.triangles": False}`.

    Raises:
        ValueError: The mechanism has no link probabilities, or the reports are closed.
        VeilgraphError: The program refuses a setting.

    Example:
        >>> probabilities = veilgraph.link_probabilities(reports)
        >>> probabilities.of([(0, 1)])

    """
    if reports.mechanism != "blink":
        raise ValueError(f"{reports.mechanism} has no link probabilities; randomize with mechanism='blink'")
    files = files_of(reports.bring("estimate", {"estimate": {"method": method}}, settings))
    return LinkProbabilities(files["link_model"], files["link_evidence"])


def _sigmoid(logits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    with np.errstate(over="ignore"):
        probabilities: npt.NDArray[np.float64] = 1.0 / (1.0 + np.exp(-logits))
    return probabilities
