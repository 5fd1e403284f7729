"""Reads docs/options.md, the one description of the options, and makes what only repeats it.

A row is `| key | value | default | meaning |`; the words of the second column say the type.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from .header import Header

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Kind:
    """What a value is in each language: Swift's type and reader, Python's type, Go's type."""

    words: str
    python: str
    go: str
    swift: str = ""
    reader: str = ""


#: By the words of the second column, the first that match.
KINDS = (
    Kind("true or false", "bool", "", "Bool", "bool"),
    Kind("seconds above 0", "float", "time.Duration", "Double", "seconds"),
    Kind(r"([\d,]+) to ([\d,]+)", "int", "int", "Int", "integer"),
    Kind("5 or 6", "int", "int"),
    Kind("URL or null", "str | None", "string"),
    Kind("path", "str | os.PathLike[str]", "string"),
    Kind("a filter", "Mapping[str, Any]", "any"),
    Kind("object of names to names", "Mapping[str, str]", "map[string]string"),
    Kind("object of names to true", "Mapping[str, Any]", "M", "KnownMembers", "knownMembers"),
    Kind(
        "object of members to",
        'Mapping[str, Literal["union", "append"]]',
        "map[string]string",
        "MergeRules",
        "mergeRules",
    ),
    Kind(
        "object, under 2,000 bytes",
        "Mapping[str, Any]",
        "map[string]any",
        "String",
        "requestProperties",
    ),
    Kind("a key", "bytes | str | Mapping[str, str]", "any"),
    Kind("object or text", "Mapping[str, Any] | str", "any"),
    Kind("object", "Mapping[str, Any]", "map[string]any"),
    Kind("text|URL|letters|as above", "str", "string", "String", "string"),
)

#: The types of choices that have a name.
CHOICES = {
    "readPolicy": "ReadPolicy",
    "writePolicy": "WritePolicy",
    "conflicts": "ConflictStrategy",
}

#: Words that Go writes in capitals.
INITIALISMS = {"ttl": "TTL"}


@dataclass(frozen=True)
class Option:
    """A row of a table."""

    key: str
    value: str
    default: str
    meaning: str

    @property
    def kind(self) -> Kind:
        if self.value.startswith("`"):
            name = CHOICES.get(self.key, "")
            choices = f"Literal[{self.value.replace('`', '')}]"
            return Kind("", name or choices, name or "string", name, "choice")
        return next(one for one in KINDS if re.match(one.words, self.value))

    @property
    def snake(self) -> str:
        return re.sub("[A-Z]", lambda match: "_" + match[0].lower(), self.key)

    @property
    def text(self) -> str:
        """The first sentence of the meaning and the default, without Markdown."""
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", self.meaning)
        plain = re.split(r"(?<=[a-z)])\. ", plain)[0]
        plain = re.sub(r": [\w-]+\.md$", "", plain)
        plain = f"in seconds: {plain}" if self.value.startswith("seconds") else plain
        is_plain = self.default in ("none", "required", "false", "")
        default = "" if is_plain else f"; default: {self.default}"
        return plain[0].upper() + plain[1:] + default + "."


def tables(heading: str) -> list[list[Option]]:
    """The tables below a heading of docs/options.md, as rows."""
    text = (ROOT / "docs" / "options.md").read_text()
    section = text.partition(f"\n## {heading}")[2].partition("\n## ")[0]
    found: list[list[Option]] = []
    for block in re.findall(r"^\| key .*?(?=\n\n|\Z)", section, re.MULTILINE | re.DOTALL):
        rows = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in block.splitlines()[2:]
        ]
        found.append([Option(row[0].strip("`"), *row[1:]) for row in rows])
    return found


def _comment(option: Option, prefix: str, width: int = 100) -> str:
    return textwrap.fill(
        option.text, width, initial_indent=prefix, subsequent_indent=prefix, break_on_hyphens=False
    )


# MARK: Python

_PYTHON = '''"""Types of options, made by scripts/generate_abi.py from docs/options.md."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, Required, TypedDict

ReadPolicy = {read}
WritePolicy = {write}
ConflictStrategy = {conflicts}
'''


def python(_: Header) -> str:
    """Make _option_types.py."""
    network, store, _writes = tables("Of a call")
    named = {one.key: f"Literal[{one.value.replace('`', '')}]" for one in store}
    head = _PYTHON.format(
        read=named["readPolicy"], write=named["writePolicy"], conflicts=named["conflicts"]
    )
    leaving = [one for one in tables("Of a logout")[0] if one.key != "hard"]
    return "\n".join(
        [
            head,
            _typed("NetworkOptions", "TypedDict", "Of a call that goes to the backend.", network),
            _typed("CallOptions", "NetworkOptions", "Of a call of a store.", store),
            _typed("ClientOptions", "CallOptions", "Of a client.", tables("Of a client")[0]),
            _typed("StoreOptions", "CallOptions", "Of a store.", tables("Of a store")[0]),
            _typed(
                "LoginOptions",
                "NetworkOptions",
                "Of a login.",
                tables("Of a login and a sign-up")[0],
            ),
            _typed("LogoutOptions", "NetworkOptions", "Of a logout.", leaving),
        ]
    )


def _typed(name: str, base: str, document: str, options: list[Option]) -> str:
    lines = [f"class {name}({base}, total=False):", f'    """{document}"""', ""]
    for option in options:
        kind = option.kind.python
        kind = f"Required[{kind}]" if option.default == "required" else kind
        lines += [_comment(option, "    #: "), f"    {option.snake}: {kind}"]
    return "\n".join([*lines, "", ""])


# MARK: Go


def go(_: Header) -> str:
    """Make options_made.go: an option for each row that options.go has not."""
    by_hand = (ROOT / "bindings" / "go" / "options.go").read_text()
    rows = [option for table in tables("Of a call")[:2] for option in table]
    functions = [_go_option(one) for one in rows if f'"{one.key}"' not in by_hand]
    head = (
        "// Code generated by scripts/generate_abi.py from docs/options.md; DO NOT EDIT.\n\n"
        "package kvstore\n"
    )
    uses_time = any("time." in function for function in functions)
    return "\n".join([head, *(['import "time"\n'] if uses_time else []), *functions])


def _go_option(option: Option) -> str:
    name = "With" + INITIALISMS.get(option.key, option.key[0].upper() + option.key[1:])
    kind = option.kind.go
    parameter = f"value {kind}" if kind else ""
    value = "value.Seconds()" if kind == "time.Duration" else "value" if kind else "true"
    value = f"string({value})" if option.key in CHOICES else value
    comment = _comment(option, "// ", 110).removeprefix("// ").removeprefix("In seconds: ")
    return (
        f"// {name}: {comment[0].lower()}{comment[1:]}\n"
        f'func {name}({parameter}) Option {{ return with("{option.key}", {value}) }}\n'
    )


# MARK: Swift

_SWIFT = """// Made by scripts/generate_abi.py from docs/options.md: do not edit.

package import KVJSON
package import KVSync

/// What a call may choose. Each may be set for the client, for a store and for one call; the most
/// specific one counts.
package struct Options: Sendable, Equatable {
"""


def swift(_: Header) -> str:
    """Make Options.swift."""
    rows = [option for table in tables("Of a call")[:2] for option in table]
    members = [
        f"{_comment(one, '  /// ')}\n  package var {one.key}: {one.kind.swift}?" for one in rows
    ]
    reads = [f"    {one.key} = try reader.{_read(one)}" for one in rows]
    merges = [f"    merged.{one.key} = {one.key} ?? base.{one.key}" for one in rows]
    return "\n".join(
        [
            _SWIFT + "\n".join(members),
            "\n  package init() {}\n",
            "  init(from reader: inout OptionReader) throws(StoreError) {",
            *reads,
            "  }\n",
            "  /// Returns these options, with the missing ones from `base`.",
            "  package func over(_ base: Options) -> Options {",
            "    var merged = base",
            *merges,
            "    return merged",
            "  }",
            "}",
            "",
        ]
    )


def _read(option: Option) -> str:
    kind = option.kind
    if kind.reader == "choice":
        return f'choice("{option.key}", {kind.swift}.self)'
    if kind.reader == "integer":
        low, high = re.findall(r"[\d,]+", option.value)[:2]
        return f'integer("{option.key}", {low}...{high.replace(",", "_")})'
    return f'{kind.reader}("{option.key}")'
