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
    about, rules = re.split(
        r"^Rules that hold.*\n(?:.+\n)*", first_comment(header), flags=re.MULTILINE
    )
    lines = [
        '.TH LIBKVSTORE 3 "" "libkvstore" "Library Functions Manual"',
        # Long names of functions leave gaps where lines are made equally long.
        ".ad l",
        ".SH NAME",
        r"libkvstore \- an embeddable, offline\-first data store that synchronises",
        ".SH SYNOPSIS",
        *(".nf", ".B #include <kvstore.h>", ".fi", ".PP"),
        roff("cc program.c $(pkg-config --cflags --libs kvstore)"),
        ".SH DESCRIPTION",
        marked(" ".join(about.strip().split("\n\n")[-1].split())),
        ".SH CONVENTIONS",
        *described(rules),
        ".SH FUNCTIONS",
        roff("What each does, gives and needs is told in kvstore.h, of which this is the list."),
    ]
    for group in groups(header):
        lines += [f".SS {roff(group.title)}", *described(group.about)]
        for name, text in group.functions:
            lines += [".TP", f".BR {name} ()", marked(text)]
    lines += [".SH RETURN VALUE", *_statuses(header)]
    lines += [".SH EXAMPLE", *verbatim(EXAMPLE.read_text())]
    lines += [".SH SEE ALSO", ".BR kvstore (1),", ".BR kvstored (1)"]
    return "\n".join(lines) + "\n"


def first_comment(header: str) -> str:
    """Give the text of the header's first comment."""
    return uncommented(header[header.index("/**") + 3 : header.index("*/")])


def uncommented(comment: str) -> str:
    """Give the text of a comment."""
    return re.sub(r"^ \*(?:  ?|$)", "", comment, flags=re.MULTILINE)


def described(text: str) -> Iterator[str]:
    """Write paragraphs, items and tables of Markdown."""
    for number, block in enumerate(blocks(text)):
        words = " ".join(" ".join(block).split())
        if words.startswith("- "):
            yield from (_POINT, marked(words[2:]))
        elif words.startswith("|"):
            yield from verbatim("\n".join(line for line in block if not line.startswith("|-")))
        else:
            yield from ([".PP"] if number else [])
            yield marked(words)


def blocks(text: str) -> Iterator[list[str]]:
    """Split a text into paragraphs, items and tables.

    >>> list(blocks("One\\nand two:\\n- a\\n  b\\n- c\\n\\n| d |\\n| e |"))
    [['One', 'and two:'], ['- a', '  b'], ['- c'], ['| d |', '| e |']]
    """
    block: list[str] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("- "):
            yield from ([block] if block else [])
            block = []
        if line.strip():
            block.append(line)
    yield from ([block] if block else [])


def groups(header: str) -> Iterator[Group]:
    """Give the functions of the header by its groups."""
    parts = re.split(r"/\*\* @defgroup \w+ ", header)[1:]
    for part in parts:
        title, _, rest = part.partition("\n")
        about = uncommented(rest.partition("@{")[0])
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
