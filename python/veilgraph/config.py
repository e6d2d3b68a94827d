"""Configs as files or as dicts, and values laid over them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TypeAlias

import numpy as np
import tomli_w

from veilgraph.errors import VeilgraphError
from veilgraph.program import call

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: A TOML file, or its tables as nested dicts.
Config: TypeAlias = "str | os.PathLike[str] | Mapping[str, object]"

#: Name of an experiment whose dict names none.
UNNAMED = "experiment"


@contextmanager
def config_file(config: Config, folder: Path | None = None) -> Iterator[Path]:
    """Give the path of a config, by default as if a dict were a file in the current folder.

    A dict is written to a hidden file that only its user may read and that is removed afterwards. It lies where its
    relative paths begin, so that data and a store are found, and kept, where they are expected.

    Raises:
        VeilgraphError: That of the block, in which a dict is called `<config>` and not by a file that is gone.

    """
    if not isinstance(config, Mapping):
        yield Path(config)
        return
    text = to_toml({"name": UNNAMED, **config})
    with NamedTemporaryFile(
        "w", encoding="utf-8", dir=folder or Path.cwd(), prefix=".veilgraph-", suffix=".toml"
    ) as file:
        file.write(text)
        file.flush()
        try:
            yield Path(file.name)
        except VeilgraphError as error:
            raise VeilgraphError(str(error).replace(file.name, "<config>"), error.status) from None


def resolve(config: Path, overlay: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Return what a config file says with the files that it extends and the values laid over it, its name included.

    Raises:
        VeilgraphError: The config is wrong.

    """
    return tomllib.loads(call(["config", str(config), *set_arguments(overlay)], warnings_only=True))


def to_toml(config: Mapping[str, object]) -> str:
    """Return a dict as TOML; arrays of NumPy become lists, and paths become strings.

    Raises:
        TypeError: A value has no place in TOML, such as `None`.

    Example:
        >>> print(to_toml({"privatize": {"links": {"epsilon": [1.0, 2.0]}}}), end="")
        [privatize.links]
        epsilon = [
            1.0,
            2.0,
        ]

    """
    table = {key: _plain(value, key) for key, value in config.items()}
    return tomli_w.dumps(table)


def set_arguments(overlay: Mapping[str, object] | None) -> list[str]:
    """Return `--set` with each value in TOML.

    Raises:
        TypeError: A value is a table, whose fields have to be set one by one, or has no place in TOML.

    Example:
        >>> set_arguments({"construct.variant": "hybrid"})
        ['--set', 'construct.variant="hybrid"']

    """
    arguments = []
    for field, value in (overlay or {}).items():
        if isinstance(value, Mapping):
            raise TypeError(f"{field}: a table cannot be set at once; set its fields, such as `{field}.name`, instead")
        text = tomli_w.dumps({"value": _plain(value, field)}).removeprefix("value = ").strip()
        arguments += ["--set", f"{field}={text}"]
    return arguments


def _plain(value: object, field: str) -> object:
    """Return a value in the types that TOML has."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, f"{field}.{key}") for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(inner, field) for inner in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if value is None:
        raise TypeError(f"{field}: TOML has no None; leave the field out to get its default")
    return value
