"""Learning on graphs whose links, features and labels stay private.

The module drives the program `veilgraph`: it plans and runs experiments, reads their artifacts with Polars, and
offers mechanisms and estimators for edge arrays. `docs/python.md` is a short guide.

Example:
    >>> import veilgraph
    >>> reports = veilgraph.randomize([(0, 1), (1, 2), (2, 0)], n=4, epsilon=4.0)
    >>> veilgraph.link_probabilities(reports).pairs(at_least=0.5)

"""

from importlib.metadata import PackageNotFoundError, version

from veilgraph.artifacts import artifact, facts, scores
from veilgraph.errors import VeilgraphError
from veilgraph.experiments import Plan, Run, plan, run
from veilgraph.files import from_dgl, from_networkx, from_pyg, write_files
from veilgraph.graphs import Graph, graph
from veilgraph.links import LinkProbabilities, link_probabilities
from veilgraph.mechanisms import randomize
from veilgraph.prediction import predict
from veilgraph.program import program
from veilgraph.reports import Reports
from veilgraph.summaries import report, table

try:
    __version__ = version("veilgraph")
except PackageNotFoundError:
    # The module is used from the repository without being installed.
    __version__ = "0+repository"

__all__ = [
    "Graph",
    "LinkProbabilities",
    "Plan",
    "Reports",
    "Run",
    "VeilgraphError",
    "__version__",
    "artifact",
    "facts",
    "from_dgl",
    "from_networkx",
    "from_pyg",
    "graph",
    "link_probabilities",
    "plan",
    "predict",
    "program",
    "randomize",
    "report",
    "run",
    "scores",
    "table",
    "write_files",
]
