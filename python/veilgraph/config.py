"""Configs as files or as dicts, and values laid over them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import tomli_w

from veilgraph.errors import VeilgraphError
from veilgraph.program import call, wrong_program

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
        TypeError: A value of a dict has no place in TOML.
        VeilgraphError: The file cannot be written; or that of the block, in which a dict is called `<config>` and not
            by a file that is gone.

    """
    if not isinstance(config, Mapping):
        yield Path(config)
        return
    text = to_toml({"name": UNNAMED, **config})
    try:
        file = NamedTemporaryFile(  # noqa: SIM115 (the block below closes it)
            "w", encoding="utf-8", dir=folder or Path.cwd(), prefix=".veilgraph-", suffix=".toml"
        )
    except OSError as error:
        place = Path(error.filename).parent if error.filename else "the current folder"
        raise VeilgraphError(
            f"{place}: a config that is a dict cannot be written there for the program ({error.strerror}); change to a "
            "folder that you may write (`os.chdir`), or pass the path of a TOML file"
        ) from error
    with file:
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
    text = call(["config", str(config), *set_arguments(overlay)], warnings_only=True)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise wrong_program() from error
    if "name" not in table:
        raise wrong_program()
    return table


def to_toml(config: Mapping[str, object]) -> str:
    """Return a dict as TOML; arrays of NumPy, series of Polars and ranges become lists, and paths become strings.

    Raises:
        TypeError: A value has no place in TOML, such as `None` or a set.

    Example:
        >>> print(to_toml({"privatize": {"links": {"epsilon": [1.0, 2.0]}}}), end="")
        [privatize.links]
        epsilon = [
            1.0,
            2.0,
        ]

    """
    table = {key: plain(value, key) for key, value in config.items()}
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
        text = tomli_w.dumps({"value": plain(value, field)}).removeprefix("value = ").strip()
        arguments += ["--set", f"{field}={text}"]
    return arguments


def plain(value: object, field: str) -> object:
    """Return a value in the types that TOML has.

    Raises:
        TypeError: There is no such type for it.

    """
    if isinstance(value, Mapping):
        return {str(key): plain(inner, f"{field}.{key}") for key, inner in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple, range, pl.Series)):
        return [plain(inner, field) for inner in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if value is None:
        raise TypeError(f"{field}: TOML has no None; leave the field out to get its default")
    if not isinstance(value, (str, bool, int, float, Decimal, date, time)):
        raise TypeError(f"{field}: TOML has no {type(value).__name__}; write a text, a number, a list or a dict")
    return value
