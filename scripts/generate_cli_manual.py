"""Makes the commands in docs/cli.md, and kvstore(1), from the tool's own description.

scripts/generate_cli_manual.py            writes them
scripts/generate_cli_manual.py --check    fails if they are something else
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from kvstore.cli.failures import MEANINGS, Exit
from kvstore.cli.program import program
from roff import listed, roff

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "cli.md"
MAN = ROOT / "docs" / "man" / "kvstore.1"
BEGIN, END = "<!-- made by scripts/generate_cli_manual.py -->", "<!-- end of what is made -->"


@dataclass(frozen=True)
class Entry:
    """A command as the manual has it."""

    context: click.Context
    command: click.Command

    @property
    def usage(self) -> str:
        """Give how it is called, without the options that all commands have."""
        words = self.command.collect_usage_pieces(self.context)
        return " ".join([self.context.command_path, *words])

    @property
    def paragraphs(self) -> list[str]:
        """Give its help, one line a paragraph."""
        text = inspect.cleandoc(self.command.help or "")
        return [" ".join(part.split()) for part in text.split("\n\n")]

    @property
    def options(self) -> list[tuple[str, str]]:
        """Give its own options and what they mean."""
        options = [each for each in self.command.params if isinstance(each, click.Option)]
        records = (each.get_help_record(self.context) for each in options)
        return [record for record in records if record is not None]


def main(arguments: list[str]) -> int:
    """Write or compare; give the exit status."""
    made = {PAGE: page(PAGE.read_text()), MAN: man()}
    if "--check" not in arguments:
        for path, text in made.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return 0
    stale = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)} is not what scripts/generate_cli_manual.py makes")
    return 1 if stale else 0


def root() -> Entry:
    """Give the tool itself."""
    return Entry(click.Context(program, info_name="kvstore"), program)


def entries(parent: Entry) -> Iterator[Entry]:
    """Give the commands of a group, those of groups in it included."""
    if not isinstance(parent.command, click.Group):
        return
    for name, command in parent.command.commands.items():
        entry = Entry(click.Context(command, info_name=name, parent=parent.context), command)
        yield entry
        yield from entries(entry)


def page(text: str) -> str:
    """Put the commands between their marks in the page."""
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    parts = [BEGIN, "## Common options", table(root().options), "## Commands"]
    for entry in entries(root()):
        parts += [f"### {entry.context.command_path}", f"```text\n{entry.usage}\n```"]
        parts += entry.paragraphs
        if entry.options:
            parts.append(table(entry.options))
    codes = [(str(int(code)), MEANINGS[code]) for code in Exit]
    parts += ["## Exit codes", table(codes, "code"), END]
    return before + "\n\n".join(parts) + after


def table(rows: list[tuple[str, str]], name: str = "option") -> str:
    """Write a table of Markdown."""
    lines = [f"| {name} | meaning |", "|---|---|"]
    for words, meaning in rows:
        cells = [f"`{words}`", meaning]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def man() -> str:
    """Write the manual page in roff."""
    tool = root()
    lines = [
        '.TH KVSTORE 1 "" "libkvstore" "User Commands"',
        ".SH NAME",
        r"kvstore \- look into a store of libkvstore, and work with it",
        ".SH SYNOPSIS",
        f".B {roff(tool.usage)}",
        ".SH DESCRIPTION",
        *described(tool),
        ".SH OPTIONS",
        *listed(tool.options),
        ".SH COMMANDS",
    ]
    for entry in entries(tool):
        lines += [f".SS {roff(entry.usage)}", *described(entry), *listed(entry.options)]
    lines += [".SH EXIT STATUS", *listed([(str(int(code)), MEANINGS[code]) for code in Exit])]
    lines += [".SH ENVIRONMENT", *listed(environment())]
    lines += [".SH SEE ALSO", ".BR kvstored (1),", ".BR libkvstore (3)"]
    return "\n".join(lines) + "\n"


def environment() -> list[tuple[str, str]]:
    """Give the variables that options are read from."""
    options = [each for each in program.params if isinstance(each, click.Option)]
    named = [(str(each.envvar), f"As {each.opts[-1]}.") for each in options if each.envvar]
    return [*named, ("KVSTORE_PASSWORD", "The password for login and signup.")]


def described(entry: Entry) -> list[str]:
    """Write paragraphs."""
    return [line for text in entry.paragraphs for line in (".PP", roff(text))]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
