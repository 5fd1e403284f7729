"""libkvstore(3): the rules, functions and statuses of the header, and the first program in C."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from roff import marked, roff, verbatim

from .header import HEADER, Header

EXAMPLE = HEADER.parent.parent / "examples" / "c" / "first.c"
#: Begins an item of a list.
_POINT = r".IP \(bu 2"


@dataclass(frozen=True)
class Group:
    """Functions that belong together, and what the header says of them."""

    title: str
    about: str
    functions: list[tuple[str, str]]


def make(_: Header) -> str:
    """Write the page: it has the words of the header, and not only what the header declares."""
    header = HEADER.read_text()
    about = re.split(r"^Rules that hold", uncommented(header), flags=re.MULTILINE)[0]
    lines = [
        '.TH LIBKVSTORE 3 "" "libkvstore" "Library Functions Manual"',
        ".SH NAME",
        r"libkvstore \- an embeddable, offline\-first data store that synchronises",
        ".SH SYNOPSIS",
        *(".nf", ".B #include <kvstore.h>", ".fi", ".PP"),
        roff("cc program.c $(pkg-config --cflags --libs kvstore)"),
        ".SH DESCRIPTION",
        marked(" ".join(about.strip().split("\n\n")[-1].split())),
        ".SH CONVENTIONS",
        *_rules(uncommented(header)),
        ".SH FUNCTIONS",
        roff("What each does, gives and needs is told in kvstore.h, of which this is the list."),
    ]
    for group in groups(header):
        about, *points = re.split(r" - (?=`)", group.about)
        lines += [f".SS {roff(group.title)}", marked(about)]
        lines += [line for point in points for line in (_POINT, marked(point))]
        for name, text in group.functions:
            lines += [".TP", f".BR {name} ()", marked(text)]
    lines += [".SH RETURN VALUE", *_statuses(header)]
    lines += [".SH EXAMPLE", *verbatim(EXAMPLE.read_text())]
    lines += [".SH SEE ALSO", ".BR kvstore (1),", ".BR kvstored (1)"]
    return "\n".join(lines) + "\n"


def uncommented(header: str) -> str:
    """Give the text of the header's first comment."""
    comment = header[header.index("/**") + 3 : header.index("*/")]
    return re.sub(r"^ \* ?", "", comment, flags=re.MULTILINE)


def _rules(text: str) -> Iterator[str]:
    for rule in re.findall(r"^- ((?:.*\n)(?:  .*\n)*)", text, re.MULTILINE):
        yield from (_POINT, marked(" ".join(rule.split())))


def groups(header: str) -> Iterator[Group]:
    """Give the functions of the header by its groups."""
    parts = re.split(r"/\*\* @defgroup \w+ ", header)[1:]
    for part in parts:
        title, _, rest = part.partition("\n")
        about = " ".join(rest.partition("@{")[0].replace("*", " ").split())
        found = re.findall(
            r"(?:/\*\*((?:(?!\*/).)*)\*/\s*)?KV_API [^;(]*?\b(kv_\w+)\(", part, re.DOTALL
        )
        yield Group(title, about, [(name, summary(name, text)) for text, name in found])


def summary(name: str, comment: str) -> str:
    """Give the first sentence of a function's comment."""
    text = " ".join(re.sub(r"^\s*\* ?", "", comment, flags=re.MULTILINE).split())
    if not text and name.endswith("_async"):
        return f"Starts {name.removesuffix('_async')}()."
    return re.split(r"(?<=[.])\s(?=[A-Z`#@])|(?<=:)\s+\{| @\w+ ", text)[0].rstrip(":")


def _statuses(header: str) -> Iterator[str]:
    yield roff(
        "Functions that can fail give a kv_status. Each is a decision that a caller can take:"
    )
    pattern = r"^  (KV_\w+) = \d+,?\s*/\*\*<((?:(?!\*/).)*)\*/"
    for name, text in re.findall(pattern, header, re.MULTILINE | re.DOTALL):
        yield from (".TP", f".B {name}", marked(" ".join(text.split())))
