#!/usr/bin/env python3
"""Writes small valid inputs for every fuzz target into seeds/. Standard library only."""

import base64
import io
import json
import os
import struct
import zipfile
import zlib

MARKER = b"\xf0\x9f\xa6\x86"
HERE = os.path.dirname(os.path.abspath(__file__))


def array(kind, shape, values):
    """A NumPy array as Python 2 pickles it under protocol 2 (opcodes only)."""
    code = {"f8": "d", "f4": "f", "i4": "i"}[kind]
    data = struct.pack(f"<{len(values)}{code}", *values)
    dims = b"".join(b"K" + bytes([size]) for size in shape)
    return (b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01(" + dims
            + b"tcnumpy\ndtype\nU\x02" + kind.encode() + b"K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
            + b"\x89T" + struct.pack("<I", len(data)) + data + b"tb")


def rows(n_rows, n_columns):
    """A SciPy matrix of compressed rows, one entry in each row."""
    return (b"cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shapeK" + bytes([n_rows]) + b"K" + bytes([n_columns]) + b"\x86"
            + b"U\x06indptr" + array("i4", [n_rows + 1], range(n_rows + 1))
            + b"U\x07indices" + array("i4", [n_rows], [row % n_columns for row in range(n_rows)])
            + b"U\x04data" + array("f4", [n_rows], [1.0] * n_rows) + b"ub")


def one_hot(n_rows, n_classes):
    values = [float(row % n_classes == column) for row in range(n_rows) for column in range(n_classes)]
    return array("f8", [n_rows, n_classes], values)


def planetoid():
    graph = b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R("
    for node in range(12):
        graph += b"K" + bytes([node]) + b"](K" + bytes([(node + 1) % 12]) + b"K" + bytes([(node + 5) % 12]) + b"e"
    parts = [rows(8, 5), one_hot(8, 3), rows(4, 5), one_hot(4, 3), graph + b"u"]
    return MARKER.join([b"\x80\x02" + part + b"." for part in parts] + [b"8\n10\n9\n11\n"])


def npy(kind, values, shape=None):
    code = {"<f4": "f", "<i4": "i", "<i8": "q", "<f8": "d"}[kind]
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape or [len(values)]))},), }}"
    header = header.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values)


def npz(prefixes=("adj_", "attr_")):
    n = 12
    members = {"labels": npy("<i8", [node % 3 for node in range(n)])}
    for prefix in prefixes:
        members[prefix + "shape"] = npy("<i8", [n, n])
        members[prefix + "indptr"] = npy("<i4", range(n + 1))
        members[prefix + "indices"] = npy("<i4", [(node + 1) % n for node in range(n)])
        members[prefix + "data"] = npy("<f4", [1.0] * n)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name + ".npy", data)
    return buffer.getvalue()


def edges():
    links = b"".join(b"%d,%d\n" % (node, (node + 1) % 12) for node in range(12))
    labels = b"id,class\n" + b"".join(b"%d,%d\n" % (node, node % 3) for node in range(12))
    dense = b"".join(b"%d,1,0,0.5\n" % node for node in range(12))
    long = b"node,feature,value\n" + b"".join(b"%d,%d,1\n" % (node, node % 4) for node in range(12))
    # A frame of Zstandard with one block that is not compressed.
    frame = b"\x28\xb5\x2f\xfd\x20" + bytes([len(dense)]) + struct.pack("<I", len(dense) << 3 | 1)[:3] + dense
    text = json.dumps({str(node): [node % 4, 7] for node in range(12)}).encode()
    return {
        "dense": b"\x00" + MARKER.join([links, dense, labels]), "long": b"\x00" + MARKER.join([b"a b\n" + links, long, labels]),
        "json": b"\x01" + MARKER.join([links, text, labels]), "links": b"\x07" + links,
        "zst": b"\x42" + MARKER.join([links, frame, labels]),
        "nodes": b"\x27" + MARKER.join([links, b"", b"", b"node\n" + b"".join(b"%d\n" % node for node in range(12))]),
    }


# Six links of text in the columns `source` and `target`, as Polars 2.1 writes them, compressed by zlib.
PARQUET = (
    "eNqNUrtO40AUnbFDhISLFNxRjCzkBiuICOyBKDEyxfBGZCGOEAgKJBPbASlgZIfXH2y1xdZbbrniG6j4Bgo6foBPYGZsVhRIcIv7OPfOOXc002FdB0rg"
    "gdcGDRBCkxXMvY1HkINHPCqKeeEWhGsAAgITdT5agTKUERqrKRzXsKr+fFRA0xuoXNGr5Sy5SnsRKEQjvzD5ja1jaxR9osM1EOU6HySk/Hd1hkHaj4Yf"
    "dO4V6wkj3SDH4BF+gmf3Sp6ConubpTRJhlBCoE0p72tOobYh+hLKGQuIaLqh161XbHxxNfJPhXFkPajGl7uRBxUIIn84bo2Sv8q4WLKqsW5392Ax651G"
    "50H1Gc8Ja2SM25pwrWte3/pFLaFtxjK2IqPPZjq8f3Mj8C3G+sXclogSXBbuxx4fah3+J83nltdZYXl/Q6ThxvrdEd23GVvNxCptAa7IKXmedX1Jutbn"
    "VCL6udhqQTUn9/FFS/L1qOv0zncGjC0toepOJxkEaWbWLu+Gp8nFtHkdpdlZcmHSWWfWNmsnV2eD0GzGrk1Pwvk4Dmkzjls0dBZosxXYbkDdRhzTuBlE"
    "oUun9Tp/LPFeL/zzdPiPfgPUh5HA"
)
ARROW = (
    "eNpzDAryDzdkYGBhYGD49P//fxEGEJsRSHIxcDNwAEkWhh9AcR6gCAcQgmSZgKQBA0TPEaCcBJAWAMszMDCCDICKswHpksSi9NQSBoY3QL4OkK8AxBJQ"
    "dQIMQkAzBBgEwTp5wPr+ANWxAEVBeovzS4uSUyHmAYX/X4DaCTIL7EQggLiXGahbGGweD5D3Cmo3CNRA3QbyjwhQjgfIg8lhAxZQ2gFKw9Q2oKlrQFN/"
    "AE09CDCh8Rmw8GGAEUkPCDBDaRYozYpDv4GhkbGJKQPFgFz7wdYbkG8vKF4ZkOLVARqmIlAxHmCcCgBZHEAWyI0roPpuoDscCgY4rR4HMh3BWQoAkdBZ"
    "lQ=="
)
GRAPHML = b"""<graphml><key id="d" for="node" attr.name="class"/><graph>%s%s</graph></graphml>"""


def unpacked(text):
    return zlib.decompress(base64.b64decode(text))


def formats():
    """The first byte is the kind, as `formats` of src/lib.rs reads it."""
    nodes = b"".join(b'<node id="%d"><data key="d">%d</data></node>' % (node, node % 2) for node in range(6))
    links = b"".join(b'<edge source="%d" target="%d"/>' % (node, (node + 1) % 6) for node in range(6))
    graphml = GRAPHML % (nodes, links)
    pairs = npy("<i8", [end for node in range(6) for end in (node, (node + 1) % 6)], [6, 2])
    members = {"shape": [6, 6], "indptr": range(7), "indices": [(node + 1) % 6 for node in range(6)], "data": [1] * 6}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, values in members.items():
            archive.writestr(name + ".npy", npy("<i8", list(values)))
    ogb = [b"4\n", b"0,1\n1,2\n2,3\n", b"1,0\n0,1\n1,1\n0,0\n", b"0\n1\n0\n1\n", b"0\n", b"1\n", b"2\n"]
    return {
        "arrow": b"\x00" + unpacked(ARROW), "graphml": b"\x83" + MARKER.join([graphml, b"", graphml]),
        "npy": b"\x02" + pairs, "npz": b"\x03" + buffer.getvalue(), "ogb": b"\x04" + MARKER.join(ogb),
    }


def artifacts():
    report = "mechanism=blink\nepsilon={0}\ndegree_fraction=0.1\nepsilon_links={1}\nepsilon_degree={2}\n" \
             "degree_noise=discrete-laplace\nrandomness=seeded\nn_nodes=4\n\n"
    u32 = lambda *values: struct.pack(f"<{len(values)}I", *values)
    f64 = lambda *values: struct.pack(f"<{len(values)}d", *values)
    dense, sparse = report.format(1.0, 0.9, 0.1).encode(), report.format(10.0, 9.0, 1.0).encode()
    return {
        "noisy_links_dense": b"\x00" + dense + u32(0, 1, 1, 0), "noisy_links_sparse": b"\x00" + sparse + u32(0, 1, 1, 0),
        "noisy_degrees": b"\x01" + dense + u32(0, 1, 2, 3) + f64(1, 2, 3, -4),
        "link_evidence": b"\x02n_nodes=4\nn_pairs=2\n\n" + u32(0, 1, 1, 2) + b"\x01\x02",
        "link_model": b"\x03epsilon_links=0.9\nresidual=0\niterations=3\n\n" + u32(0, 1) + f64(1, 2) + f64(-3, -2),
        "links": b"\x04n_nodes=4\n\n" + u32(0, 1, 2, 3),
        "features": b"\x05n_nodes=2\nn_rows=2\nn_features=3\nn_columns=3\n\n" + u32(0, 1, 0, 2) + struct.pack("<2f", 1, 2),
        "labels": b"\x06n_classes=3\nn_nodes=4\n\n" + u32(0, 1) + struct.pack("<2H", 1, 2),
        "nodes": b"\x07dataset=x\nn_classes=3\n\n" + u32(0, 1) + b"\x00\x01",
        "graph": b"\x09variant=hard\nconstruction=hard\nn_nodes=4\n\n" + u32(0, 1, 2, 3) + struct.pack("<2f", 1, 1),
    }


def main():
    seeds = {
        "planetoid": {"tiny": planetoid()},
        "npz": {"benchmark": npz(), "scipy": npz(("adj_matrix.", "attr_matrix."))},
        "edges": edges(),
        "formats": formats(),
        # Two bits of the first byte say that features and labels come with the links.
        "parquet": {"links": b"\x00" + unpacked(PARQUET), "all": b"\xc0" + MARKER.join([unpacked(PARQUET)] * 3)},
        "split": {"letters": b"T\nV\nE\nT\nN\nE\n", "rows": b"node,split\na,train\nb,validation\nc,test\nd,train\ne,none\n"},
        "params": {
            "ingest": b'edges = "e.csv"\nlabels = "l.csv"\nsplit = { train = 0.5, validation = 0.25, test = 0.25 }\n',
            "privatize": b'epsilon = 4.0\ndegree_fraction = 0.1\ndegree_noise = "laplace"\n',
        },
        "parameters": {
            "blink": b'population = "a"\nmechanism = "blink"\nn_nodes = 9\nepsilon_links = 1.8\nepsilon_degree = 0.2\nrelease = 1\n'
            b'numbering = "' + b"0f" * 32 + b'"\n',
        },
        "artifact": artifacts(),
        # The body of a report: the number of ones, their gaps in a Golomb code, the degree.
        "report": {"empty": b"\x00\x02", "ones": b"\x03\xa5\x5a\xa5\x00", "many": bytes(range(40))},
    }
    for target, inputs in seeds.items():
        folder = os.path.join(HERE, "seeds", target)
        os.makedirs(folder, exist_ok=True)
        for name, data in inputs.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)


if __name__ == "__main__":
    main()
