"""Copying everything readable out of a damaged file, and reading the copy."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any, BinaryIO, Unpack

from . import _native
from ._json import from_json
from ._option_types import ClientOptions
from ._options import encode_options, to_text
from .migration import naming_handler

_salvage = _native.function("kv_salvage")
_decrypt_file = _native.function("kv_decrypt_file")


def salvage(directory: str | PathLike[str], **options: Unpack[ClientOptions]) -> dict[str, Any]:
    """Copy everything readable of a client's data file into a new directory, as lines of JSON.

    `options` are those with which a client would be opened. Pending writes are copied first, to
    ``pending.ndjson``. Each collection has a file of its own. The report says how many lines each
    file has, how many parts could not be read, and which entities were damaged. The damaged file
    stays as it is. Of encrypted data the files are encrypted with the same keys, and their names
    end in ``.encrypted``: :func:`decrypt_file` reads them.
    """
    path = to_text(fspath(directory), "directory")
    with naming_handler(options) as named:
        text = encode_options(named) or b"{}"
        report: dict[str, Any] = from_json(_native.call_for_text(_salvage, text, len(text), path))
    return report


def decrypt_file(
    path: str | PathLike[str], target: BinaryIO | int, **options: Unpack[ClientOptions]
) -> None:
    """Write the plain lines of an encrypted file of :func:`salvage` to a file, or its descriptor.

    `options` are those of a client, with ``encryption_key``. If a part of the file is damaged or
    its end is missing, the lines before it are written: :class:`CorruptError`.
    """
    if isinstance(target, int):
        descriptor = target
    else:
        target.flush()
        descriptor = target.fileno()
    name = to_text(fspath(path), "path")
    with naming_handler(options) as named:
        text = encode_options(named) or b"{}"
        _native.call(_decrypt_file, text, len(text), name, descriptor)
