"""Writing manual pages."""

from __future__ import annotations

import re
from collections.abc import Iterable


def roff(text: str) -> str:
    """Write a text so that roff takes it as it is.

    >>> print(roff("'--dir' \\\\n"))
    \\&'\\-\\-dir' \\en
    """
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped


def listed(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Write words with their meanings."""
    return [line for words, text in rows for line in (".TP", f".B {roff(words)}", roff(text))]


def verbatim(text: str) -> list[str]:
    """Write lines as they are, indented."""
    return [".PP", ".RS 4", ".nf", *map(roff, text.splitlines()), ".fi", ".RE"]


def marked(text: str) -> str:
    """Write a text with the marks of Doxygen as roff: code is bold, emphasis italic.

    >>> print(marked("*Entities* come from kv_cursor_next(): #KV_OK"))
    \\fIEntities\\fR come from \\fBkv_cursor_next()\\fR: KV_OK
    """
    plain = roff(re.sub(r"(?:::|#)(?=[kK][vV]_)", "", text))
    plain = re.sub(r"`([^`]+)`|\*\*([^*]+)\*\*|\b(kv_\w+\(\))", _bold, plain)
    return re.sub(r"(?<!\*)\*([^*\s][^*]*)\*", r"\\fI\1\\fR", plain)


def _bold(found: re.Match[str]) -> str:
    return rf"\fB{found[found.lastindex or 0]}\fR"
