"""Makes the reference of the C interface: Markdown from the comments of include/kvstore.h."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

from abi.header import HEADER

#: The page of `docs` that explains what a group of functions is for.
GUIDES = {
    "library": "abi",
    "error": "errors",
    "client": "offline-first",
    "request": "abi",
    "subscription": "abi",
    "user": "users",
    "user_group": "sharing",
    "query": "queries",
    "store": "sync",
    "index": "queries",
    "follow": "follow",
    "observer": "observers",
    "pending": "sync",
    "conflict": "conflicts",
    "live": "live",
    "stream": "live",
    "transaction": "transactions",
    "cursor": "storage",
    "results": "results",
    "context": "contexts",
    "backend": "backends",
    "store_types": "stores",
    "migration": "models",
}

COMMENT = re.compile(r"/\*\*(?P<text>.*?)\*/(?P<code>[^/]*?)(?=/\*\*|\Z)", re.DOTALL)
INLINE = re.compile(r"\s*/\*\*<.*?\*/", re.DOTALL)
GROUP = re.compile(r"@defgroup (\w+) (.*?)\n(.*?)@\{", re.DOTALL)
FUNCTION = re.compile(r"\b(kv_\w+)\(")


@dataclass
class Item:
    """A comment and what it stands at."""

    text: str
    code: str

    @property
    def names(self) -> list[str]:
        """The functions that are declared, or the type or macro."""
        code = INLINE.sub("", self.code)
        declared = [
            found[1]
            for statement in code.split(";")
            if "typedef" not in statement and (found := FUNCTION.search(statement))
        ]
        other = re.findall(r"\(\*(kv_\w+)\)\(|^} (kv_\w+);|#define (KV_\w+)", code, re.MULTILINE)
        return declared or [name for names in other for name in names if name]


@dataclass
class Group:
    """A group of functions around one noun."""

    name: str
    title: str
    text: str
    items: list[Item] = field(default_factory=list)


def groups(source: str | None = None) -> list[Group]:
    """Read the groups of the header, with all that has a comment."""
    text = HEADER.read_text() if source is None else source
    found: list[Group] = []
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        # Comments of members stay with their declaration: they are put back below.
        kept.append(match[0])
        return f"\x00{len(kept) - 1}\x00"

    for match in COMMENT.finditer(INLINE.sub(keep, text)):
        comment = plain(match["text"])
        if begin := GROUP.search(comment + "\n"):
            found.append(Group(begin[1], begin[2].strip(), begin[3].strip()))
        elif found and comment.strip() not in {"@}", ""} and (code := match["code"].strip()):
            code = re.sub("\x00(\\d+)\x00", lambda number: kept[int(number[1])], code)
            found[-1].items.append(Item(comment, code))
    return found


def plain(comment: str) -> str:
    """Take the stars from the lines of a comment."""
    lines = [re.sub(r"^\s*\* ?", "", line) for line in comment.strip("\n").splitlines()]
    first = lines[0].strip() if lines else ""
    return first + "\n" + textwrap.dedent("\n".join(lines[1:]))


def page() -> str:
    """Give the page of the reference."""
    known = set(re.findall(r"\bkv_\w+(?=\()", HEADER.read_text()))
    head = plain(re.search(r"/\*\*(.*?)\*/", HEADER.read_text(), re.DOTALL)[1])  # type: ignore[index]
    head = re.sub(r"^\s*@file \S+\n", "", head)
    parts = ["# C reference\n", "`#include <kvstore.h>`\n", markdown(head, known)]
    for group in groups():
        guide = GUIDES[group.name]
        parts.append(f"## {group.title}\n\nGuide: [{title(guide)}](../{guide}.md)\n")
        parts.append(markdown(group.text, known))
        for item in group.items:
            parts += item_lines(item, known)
    return "\n".join(parts)


def title(guide: str) -> str:
    """Give the heading of a page of `docs`."""
    return (HEADER.parents[1] / "docs" / f"{guide}.md").read_text().splitlines()[0].lstrip("# ")


def item_lines(item: Item, known: set[str]) -> Iterator[str]:
    """Give the lines of one item: a heading, the declaration, the text."""
    names = item.names
    if names:
        title = names[0] + ("()" if names[0] in known else "")
        yield f"### {title} {{ #{names[0]} }}\n"
    for name in names[1:]:
        yield f'<span id="{name}"></span>\n'
    yield f"```c\n{declared(item.code)}\n```\n"
    yield markdown(item.text, known)


def declared(code: str) -> str:
    """Give declarations without their marks, a line for each parameter of a long one."""
    if "KV_API" not in code:
        return code
    statements = (" ".join(one.split()) for one in code.split(";"))
    return "\n".join(wrapped(one.removeprefix("KV_API ") + ";") for one in statements if one)


def wrapped(statement: str) -> str:
    """Break a declaration of more than 80 characters behind each comma."""
    if len(statement) <= 80:
        return statement
    head, _, parameters = statement.partition("(")
    return f"{head}(\n    " + parameters.replace(", ", ",\n    ")


def markdown(text: str, known: set[str]) -> str:
    """Turn the commands of a comment into Markdown."""
    text = re.sub(r"\b(CONSTRUCTOR|DESTRUCTOR)\b\s*", "", text)
    text = re.sub(r"(?<!\n)[ \t]*@return ", "\n@return ", text)
    result: list[str] = []
    # Lines behind a parameter, or what is returned, go on with it; elsewhere indented is code.
    goes_on = False
    for line in text.splitlines():
        if found := re.match(r"\s*@param\s+(\w+)\s+(.*)", line):
            result += (
                [f"* `{found[1]}`: {found[2]}"] if goes_on else ["", f"* `{found[1]}`: {found[2]}"]
            )
            goes_on = True
        elif found := re.match(r"\s*@return\s+(.*)", line):
            result += ["", f"**Returns** {found[1]}"]
            goes_on = True
        else:
            result.append(re.sub(r"^\s+", "  ", line) if goes_on else line)
    return linked("\n".join(result), known) + "\n"


def linked(text: str, known: set[str]) -> str:
    """Link functions, and set constants and types apart, outside of code."""

    def function(match: re.Match[str]) -> str:
        return f"[`{match[0]}`](#{match[1]})" if match[1] in known else f"`{match[0]}`"

    parts = re.split(r"(`[^`]*`|^    .*$)", text, flags=re.MULTILINE)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r"(?:#|::)?\b(KV_[A-Z_]+|kv_\w+)\b(?!\(\))", r"`\1`", parts[at])
        parts[at] = re.sub(r"\b(kv_\w+)\(\)", function, parts[at])
        parts[at] = re.sub(r"docs/([\w-]+)\.md", r"[\1](../\1.md)", parts[at])
    return "".join(parts)
