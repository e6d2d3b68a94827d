#!/usr/bin/env python3
"""Makes one archive of the program for machines that do not build it: `make dist`. Standard library only.

The archive holds the program, the program of a node, manual pages, completions, licences (those of the dependencies too) and the
README. Equal files give equal bytes: members are sorted, belong to nobody, and have one time.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import pathlib
import platform
import subprocess
import tarfile
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
# Where shells of Linux look below a prefix such as /usr/local.
COMPLETIONS = {
    "bash": "share/bash-completion/completions/veilgraph",
    "fish": "share/fish/vendor_completions.d/veilgraph.fish",
    "zsh": "share/zsh/site-functions/_veilgraph",
}
PROGRAMS = ("veilgraph", "veilgraph-client")
TEXTS = ("README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE-APACHE", "LICENSE-MIT")
# The beginnings of the names of files that hold terms.
TERMS = ("licen", "copying", "notice", "unlicense")


def of_dependencies(metadata: dict) -> str:
    """The terms of every crate that the programs are linked with, each text once, from what `cargo metadata` says."""
    packages = {package["id"]: package for package in metadata["packages"]}
    programs = [
        package["id"]
        for package in metadata["packages"]
        if any("bin" in target["kind"] and target["name"] in PROGRAMS for target in package["targets"])
    ]
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    linked, waiting = set(programs), list(programs)
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_linked and dependency["pkg"] not in linked:
                linked.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    texts: dict[str, list[str]] = {}
    lines = []
    foreign = (package for package in (packages[id] for id in linked) if package["source"])
    for package in sorted(foreign, key=lambda package: (package["name"], package["version"])):
        name = f"{package['name']} {package['version']}"
        lines.append(f"{name}: {package['license'] or 'see its file'}")
        folder = pathlib.Path(package["manifest_path"]).parent
        for file in sorted(folder.iterdir()):
            if file.is_file() and file.name.lower().startswith(TERMS):
                texts.setdefault(file.read_text(encoding="utf-8", errors="replace").strip(), []).append(name)
    if not lines:
        raise SystemExit("cargo metadata names no crate that a program is linked with; see its [[bin]]")
    parts = ["The programs are linked with these crates:\n\n" + "\n".join(lines)]
    parts += [f"These terms are those of {', '.join(dict.fromkeys(names))}:\n\n{text}" for text, names in texts.items()]
    return ("\n\n" + "-" * 80 + "\n\n").join(parts) + "\n"


def members(
    program: pathlib.Path, client: pathlib.Path, scratch: pathlib.Path, terms: str
) -> dict[str, tuple[bytes, bool]]:
    """The files of the archive by name, each with whether it is a program."""
    found = {"LICENSES-OF-DEPENDENCIES": (terms.encode(), False)}
    for name, built in zip(PROGRAMS, (program, client), strict=True):
        # Symbols are most of the file, and nobody debugs an archive.
        subprocess.run(["strip", "-o", scratch / name, built], check=True)
        found[f"bin/{name}"] = ((scratch / name).read_bytes(), True)
    subprocess.run([program, "-q", "man", "--to", scratch / "man"], check=True, stdout=subprocess.DEVNULL)
    for page in (scratch / "man").iterdir():
        found[f"share/man/man1/{page.name}"] = (page.read_bytes(), False)
    for shell, place in COMPLETIONS.items():
        answer = subprocess.run([program, "completions", shell], check=True, stdout=subprocess.PIPE)
        found[place] = (answer.stdout, False)
    for text in TEXTS:
        found[text] = ((REPOSITORY / text).read_bytes(), False)
    return found


def archive(folder: str, files: dict[str, tuple[bytes, bool]], seconds: int) -> bytes:
    """A compressed archive in which all files lie in `folder` and have the time `seconds`."""
    packed = io.BytesIO()
    # Neither the name of the archive nor the time of its making is written into it.
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=seconds, compresslevel=9) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name, (data, is_program) in sorted(files.items()):
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size, member.mtime, member.mode = len(data), seconds, 0o755 if is_program else 0o644
            tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def said(*command: str) -> str:
    """What a command says, run in the repository."""
    return subprocess.run(command, check=True, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the program that was built")
    parser.add_argument("--client", type=pathlib.Path, required=True, help="the program of a node that was built")
    parser.add_argument("--to", type=pathlib.Path, required=True, help="the folder for the archive and its checksum")
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    version = said(str(program), "--version").split()[-1]
    host = next(line for line in said("rustc", "-vV").splitlines() if line.startswith("host: ")).removeprefix("host: ")
    metadata = said("cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", host)
    seconds = int(said("git", "log", "-1", "--format=%ct"))
    with tempfile.TemporaryDirectory() as scratch:
        files = members(program, arguments.client, pathlib.Path(scratch), of_dependencies(json.loads(metadata)))
    folder = f"veilgraph-{version}-{host}"
    data = archive(folder, files, seconds)
    arguments.to.mkdir(parents=True, exist_ok=True)
    (arguments.to / f"{folder}.tar.gz").write_bytes(data)
    line = f"{hashlib.sha256(data).hexdigest()}  {folder}.tar.gz\n"
    (arguments.to / f"{folder}.tar.gz.sha256").write_text(line, encoding="utf-8")
    libc = " ".join(platform.libc_ver())
    print(f"{arguments.to / folder}.tar.gz: {len(files)} files, {len(data) >> 20} MiB; it runs with {libc} or later")


if __name__ == "__main__":
    main()
