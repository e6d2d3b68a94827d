"""What `to_pyg` and `to_dgl` hand over, checked by stand-ins for PyTorch, PyG and DGL.

The libraries themselves take gigabytes, so CI has none; `test_graphs.py` runs with them where they are installed.
A stand-in refuses what the library would refuse: that is all it knows of it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import veilgraph

if TYPE_CHECKING:
    from collections.abc import Callable

#: Types of arrays that `torch.from_numpy` takes and that both libraries compute with.
TYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
GRAPH = veilgraph.Graph(
    pl.DataFrame(
        {"source": [0, 1], "target": [2, 3], "weight": [0.5, 0.25]},
        schema={"source": pl.UInt32, "target": pl.UInt32, "weight": pl.Float32},
    ),
    5,
    features=np.arange(10, dtype=np.float32).reshape(5, 2),
    labels=np.array([0, 1, 0, 1, -1]),
    splits=np.array([0, 1, 2, 0, 3], np.uint8),
)


class Tensor:
    """A tensor, as far as shape, type and values go."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        """Take over an array as `torch.from_numpy` does."""
        assert isinstance(array, np.ndarray), "torch.from_numpy takes nothing else"
        assert array.dtype.name in TYPES, f"torch has no type for {array.dtype}"
        assert array.flags.writeable, "torch warns of arrays that must not be written to"
        assert all(stride >= 0 for stride in array.strides), "torch has no negative strides"
        self.array = array

    @property
    def shape_and_type(self) -> tuple[tuple[int, ...], str]:
        """Return both."""
        return self.array.shape, self.array.dtype.name


class Data:
    """What PyG calls a graph."""

    def __init__(self, edge_index: Tensor, edge_weight: Tensor) -> None:
        """Refuse what `torch_geometric.data.Data.validate` refuses about links."""
        (two, n_edges), name = edge_index.shape_and_type
        assert (two, name) == (2, "int64"), "edge_index is [2, e], of type torch.long"
        assert edge_weight.shape_and_type == ((n_edges,), "float32")
        self.known = {"edge_index": edge_index, "edge_weight": edge_weight}
        self.num_nodes = 0

    def __setitem__(self, name: str, tensor: Tensor) -> None:
        """Refuse what does not have a row for each node."""
        assert tensor.array.shape[0] == self.num_nodes, name
        self.known[name] = tensor


class Frame(dict[str, Tensor]):
    """Columns of DGL, which have a row for each node or link."""

    def __init__(self, n_rows: int) -> None:
        """Expect this many rows."""
        self.n_rows = n_rows

    def __setitem__(self, name: str, tensor: Tensor) -> None:
        """Refuse other numbers of rows, as DGL does."""
        assert tensor.array.shape[0] == self.n_rows, name
        super().__setitem__(name, tensor)


class DglGraph:
    """What DGL calls a graph."""

    def __init__(self, ends: tuple[Tensor, Tensor], *, num_nodes: int) -> None:
        """Refuse ends that DGL refuses."""
        source, target = ends
        assert source.shape_and_type == target.shape_and_type
        assert source.shape_and_type[1] in {"int32", "int64"}
        assert max(end.array.max(initial=-1) for end in ends) < num_nodes
        self.ends = ends
        self.edata, self.ndata = Frame(len(source.array)), Frame(num_nodes)


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the stand-ins be imported in the place of the libraries."""
    known: dict[str, dict[str, type | Callable[..., object] | ModuleType]] = {
        "torch": {"from_numpy": Tensor},
        "torch_geometric": {},
        "torch_geometric.data": {"Data": Data},
        "dgl": {"graph": DglGraph},
    }
    for name, attributes in known.items():
        module = ModuleType(name)
        for attribute, value in attributes.items():
            setattr(module, attribute, value)
        monkeypatch.setitem(sys.modules, name, module)


def test_pyg_gets_shapes_and_types_that_it_takes() -> None:
    data = GRAPH.to_pyg()
    assert isinstance(data, Data)
    assert data.num_nodes == 5
    assert {name: tensor.shape_and_type for name, tensor in data.known.items()} == {
        "edge_index": ((2, 4), "int64"),
        "edge_weight": ((4,), "float32"),
        "x": ((5, 2), "float32"),
        "y": ((5,), "int64"),
        "train_mask": ((5,), "bool"),
        "val_mask": ((5,), "bool"),
        "test_mask": ((5,), "bool"),
    }
    assert data.known["edge_index"].array.tolist() == [[0, 1, 2, 3], [2, 3, 0, 1]]
    assert data.known["y"].array.tolist() == [0, 1, 0, 1, -1]
    assert data.known["val_mask"].array.tolist() == [False, True, False, False, False]


def test_dgl_gets_shapes_and_types_that_it_takes() -> None:
    graph = GRAPH.to_dgl()
    assert isinstance(graph, DglGraph)
    assert [end.array.tolist() for end in graph.ends] == [[0, 1, 2, 3], [2, 3, 0, 1]]
    assert graph.edata["weight"].shape_and_type == ((4,), "float32")
    assert {name: tensor.shape_and_type for name, tensor in graph.ndata.items()} == {
        "feat": ((5, 2), "float32"),
        "label": ((5,), "int64"),
        "train_mask": ((5,), "bool"),
        "val_mask": ((5,), "bool"),
        "test_mask": ((5,), "bool"),
    }


def test_what_is_handed_over_belongs_to_the_library() -> None:
    """Training writes into tensors, and must not change the graph."""
    assert GRAPH.features is not None
    assert GRAPH.labels is not None
    data = GRAPH.to_pyg()
    data.known["x"].array[:] = -1
    data.known["y"].array[:] = -1
    assert GRAPH.features[4].tolist() == [8.0, 9.0]
    assert GRAPH.labels.tolist() == [0, 1, 0, 1, -1]


def test_graphs_of_reports_are_taken_too(ring_reports: veilgraph.Reports) -> None:
    graph = veilgraph.graph(ring_reports)
    data, other = graph.to_pyg(), graph.to_dgl()
    assert {name: tensor.shape_and_type[1] for name, tensor in data.known.items()} == {
        "edge_index": "int64",
        "edge_weight": "float32",
        "x": "float32",
        "y": "int64",
        "train_mask": "bool",
        "val_mask": "bool",
        "test_mask": "bool",
    }
    assert other.ndata["label"].array.tolist() == [node // 6 for node in range(12)]


def test_a_graph_of_which_nothing_is_known_has_links_alone() -> None:
    bare = veilgraph.Graph(GRAPH.edges, 5)
    assert sorted(bare.to_pyg().known) == ["edge_index", "edge_weight"]
    assert dict(bare.to_dgl().ndata) == {}
