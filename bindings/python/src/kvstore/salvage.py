"""Copying everything readable out of a damaged file."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any, Unpack

from . import _native
from ._json import from_json
from ._option_types import ClientOptions
from ._options import encode_options, to_text
from .migration import naming_handler

_salvage = _native.function("kv_salvage")


def salvage(directory: str | PathLike[str], **options: Unpack[ClientOptions]) -> dict[str, Any]:
    """Copy everything readable of a client's data file into a new directory, as lines of JSON.

    `options` are those with which a client would be opened. Pending writes are copied first, to
    ``pending.ndjson``. Each collection has a file of its own. The report says how many lines each
    file has, how many parts could not be read, and which entities were damaged. The damaged file
    stays as it is.
    """
    path = to_text(fspath(directory), "directory")
    with naming_handler(options) as named:
        text = encode_options(named) or b"{}"
        report: dict[str, Any] = from_json(_native.call_for_text(_salvage, text, len(text), path))
    return report
