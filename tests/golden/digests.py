#!/usr/bin/env python3
"""Records the digest (its first 16 digits) of every server artifact of a set of experiments, or compares a build with such a record.

    tests/golden/digests.py --veilgraph target/release/veilgraph --data-dir data --published published --record FILE
    tests/golden/digests.py --veilgraph target/release/veilgraph --data-dir data --published published --against FILE

A change of the runner, of names or of folders must leave the bytes of reports, posteriors, graphs and models as they
are. Owner and auditor files are left out: their digests are keyed with a secret of the store. Trained artifacts depend
on the processor's vector units, so a record is compared on a machine like the one that made it.
"""

import argparse
import csv
import glob
import json
import subprocess
import sys
import tempfile

TINY = """
name = "{name}"
trials = 2
references = []
[ingest.synthetic]
nodes = 120
classes = 3
mean_degree = 4
features = 40
words = 6
[privatize.links]
epsilon = {epsilon}
mechanism = {mechanism}
{more}
[train]
epochs = 20
"""

ALL = '["rr", "symrr", "l-dpgcn", "dprr", "ldpgen", "solitude", "non-private", "no-links"]'
# Few trials and epochs: every kind of artifact is made, and none takes long.
FEWER = {
    "configs/compare.toml": ["--set", "trials=1", "--set", 'ingest.dataset=["cora", "lastfm"]',
                             "--set", "privatize.links.epsilon=[1, 3, 8]"],
    "configs/paper-quick/accuracy.toml": ["--set", "trials=2", "--set", "train.epochs=6",
                                          "--set", "privatize.links.epsilon=[1.0, 4.0, 8.0]"],
    "configs/paper-quick/fraction.toml": ["--set", "trials=2", "--set", "train.epochs=6"],
    "configs/paper-quick/solitude.toml": ["--set", "train.epochs=3", "--set", "privatize.links.epsilon=[4.0]"],
}


def experiments(folder):
    """Name, config and arguments of every experiment."""
    published = '[estimate]\nmethod = "published"'
    tiny = {
        "tiny-mechanisms": dict(epsilon=6.0, mechanism=ALL, more=""),
        "tiny-low-budget": dict(epsilon=1.0, mechanism=ALL, more=""),
        "tiny-blink": dict(epsilon="[1.0, 6.0]", mechanism='"blink"',
                           more='[construct]\nvariant = ["hard", "soft", "hybrid"]\n[estimate]\nmethod = "published"\nridge = 0.1'),
        "tiny-best": dict(epsilon="[2.0, 4.0]", mechanism='"blink"',
                          more='[construct]\nvariant = ["hard", "soft", "hybrid"]\n[estimate]\nmethod = "best"'),
        "tiny-missing": dict(epsilon=3.0, mechanism='"blink"',
                             more='missing_share = 0.2\n[estimate]\nmethod = "published"\nridge = 0.1\nmissing_nodes = "one-sided"'),
        "tiny-chung-lu": dict(epsilon=6.0, mechanism='"ldpgen"', more='[construct]\nedge_model = "chung-lu"'),
        "tiny-triangle": dict(epsilon=6.0, mechanism='"symrr"', more='triangle = "published-code"'),
        "tiny-gat": dict(epsilon=6.0, mechanism='["blink", "rr"]', more=published),
        "tiny-search": dict(epsilon=6.0, mechanism='"blink"', more=published),
    }
    more = {
        "tiny-gat": ["--set", 'train.model=["gat", "graphsage", "mlp"]'],
        "tiny-search": ["--set", "search_trials=2", "--set", "train.learning_rate=[1e-3, 0.05]"],
    }
    for name, fields in tiny.items():
        path = f"{folder}/{name}.toml"
        with open(path, "w") as file:
            file.write(TINY.format(name=name, **fields))
        yield name, path, more.get(name, [])
    for path in ["configs/compare.toml"] + sorted(glob.glob("configs/paper-quick/*.toml")):
        yield path, path, FEWER.get(path, [])


def digests(options):
    """Rows (experiment, stage, label, artifact, digest)."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, path, sets in experiments(folder):
            command = [options.veilgraph, "--quiet", "--store", f"{folder}/store", "run", path, "--json", *sets]
            if name.startswith("configs/"):
                if not options.data_dir:
                    print(f"skipped {name}: no --data-dir", file=sys.stderr)
                    continue
                command += ["--data-dir", options.data_dir]
                command += ["--published", options.published] if options.published else []
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{' '.join(command)}\n{done.stderr}")
            before = len(rows)
            for stage in json.loads(done.stdout)["stages"]:
                if stage["stage"] in ("ingest", "evaluate"):
                    continue
                for artifact, output in stage["outputs"].items():
                    rows.append((name, stage["stage"], stage["label"], artifact, output["digest"][:16]))
            print(f"{name}: {len(rows) - before} artifacts", file=sys.stderr, flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--veilgraph", default="target/release/veilgraph")
    parser.add_argument("--data-dir")
    parser.add_argument("--published")
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--record", metavar="FILE")
    group.add_argument("--against", metavar="FILE")
    options = parser.parse_args()
    found = digests(options)
    if options.record:
        with open(options.record, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["experiment", "stage", "artifact", "digest"])
            writer.writerows(sorted({(name, stage, artifact, digest) for name, stage, _, artifact, digest in found}))
        print(f"{options.record}: {len(found)} digests")
        return
    with open(options.against, newline="") as file:
        recorded = list(csv.DictReader(file))
    # Labels may change; an artifact of an experiment must still be made with the same bytes.
    made = {(name, stage, artifact, digest) for name, stage, _, artifact, digest in found}
    run = {name for name, *_ in found}
    compared = [row for row in recorded if row["experiment"] in run]
    lost = [row for row in compared if (row["experiment"], row["stage"], row["artifact"], row["digest"]) not in made]
    for row in lost:
        print(f"not made any more: {row['experiment']} {row['stage']} {row['artifact']} {row['digest']}")
    print(f"{len(compared) - len(lost)} of {len(compared)} recorded artifacts are made with the same bytes")
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
