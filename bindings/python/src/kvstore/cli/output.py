"""Prints results: as a table for people, or as JSON, lines of JSON or CSV for programs."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.progress import Progress
from rich.text import Text

from ..errors import KVError
from .failures import say

FORMATS = ("table", "json", "ndjson", "csv")
#: The limit of a table's rows: a table is held in memory, and people read it.
TABLE_LIMIT = 100

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Output:
    """Prints results in one format."""

    format: str

    @property
    def is_for_people(self) -> bool:
        """Return whether people, and not programs, read the output."""
        return self.format == "table"

    def rows(self, rows: Iterable[Row], columns: Sequence[str], *, empty: str = "None.") -> None:
        """Print rows with these members, or `empty` if there are none."""
        if self.format == "table":
            listed = list(rows)
            print_table(listed, columns) if listed else print_line(empty)
        elif self.format == "csv":
            print_csv(rows, columns)
        else:
            self.stream(map(encoded, rows))

    def one(self, row: Row) -> None:
        """Print one object, a line for each member."""
        if self.format == "table":
            width = max((cell_len(name) for name in row), default=0)
            for name, value in row.items():
                print_line(f"{name:<{width}}  {cell(value)}")
        elif self.format == "csv":
            print_csv([row], list(row))
        else:
            self.document(row)

    def document(self, value: Any) -> None:
        """Print JSON: indented, in colour in a terminal, or on one line for lines of JSON."""
        if self.format == "ndjson":
            print_line(encoded(value).decode())
            return
        text = json.dumps(value, indent=2, ensure_ascii=False, default=_plain)
        if sys.stdout.isatty():
            Console(soft_wrap=True).print(JSONHighlighter()(Text(printable(text, keep="\n"))))
        else:
            print_line(text)

    def stream(self, texts: Iterable[bytes]) -> None:
        """Print values that are JSON already, each as soon as it is available."""
        binary = self.format == "json"
        first = True
        for text in texts:
            print_line(("[" if first else ",") if binary else "", end="\n" if binary else "")
            print_line(text.decode(), end="" if binary else "\n")
            first = False
        if binary:
            print_line("[]" if first else "\n]")

    def event(self, row: Row, words: str) -> None:
        """Print an event at once, without buffering."""
        print_line(printable(words) if self.format == "table" else encoded(row).decode())
        sys.stdout.flush()

    def problem(self, words: str, **details: Any) -> None:
        """Report the failure of a part of the work on standard error, and continue."""
        say(words, details, as_json=self.format in ("json", "ndjson"))

    def done(self, words: str, **facts: Any) -> None:
        """Report the result: in words for people, or as members for programs."""
        if self.format == "table":
            print_line(printable(words))
        else:
            self.one(facts)


def print_line(text: str, end: str = "\n") -> None:
    """Write to standard output."""
    sys.stdout.write(text + end)


def note(words: str) -> None:
    """Print a note that is not part of the result to standard error."""
    print(words, file=sys.stderr)


def print_table(rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Print a table: cut to the width of a terminal, whole elsewhere."""
    lines = [list(map(printable, columns))]
    lines += [[cell(row.get(name)) for name in columns] for row in rows]
    widths = [max(cell_len(line[index]) for line in lines) for index in range(len(columns))]
    if sys.stdout.isatty():
        widths = fitted(widths, shutil.get_terminal_size().columns)
    for number, line in enumerate(lines):
        text = "  ".join(map(_cut, line, widths)).rstrip()
        print_line(f"\x1b[1m{text}\x1b[0m" if number == 0 and _has_colours() else text)


def _has_colours() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def fitted(widths: Sequence[int], room: int, gap: int = 2, least: int = 3) -> list[int]:
    """Narrow the widest columns until a line fits, if that is possible.

    >>> fitted([4, 30, 50], 60), fitted([10, 10], 80)
    ([4, 26, 26], [10, 10])
    """
    left = room - gap * (len(widths) - 1)
    width = max(widths, default=0)
    while width > least and sum(min(each, width) for each in widths) > left:
        width -= 1
    return [min(each, width) for each in widths]


def _cut(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text + " " * (width - cell_len(text))
    return set_cell_size(text, width - 1) + "…"


def print_csv(rows: Iterable[Row], columns: Sequence[str]) -> None:
    """Print CSV by RFC 4180; a cell is a text or JSON, see :func:`csv_cell`."""
    for line in csv_lines(rows, columns):
        print_line(line, end="")


def csv_lines(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[str]:
    """Write a header and rows as lines of CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([csv_name(name) for name in columns])
    for row in rows:
        yield _taken(buffer)
        writer.writerow([csv_cell(row[name]) if name in row else "" for name in columns])
    yield _taken(buffer)


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


# What a spreadsheet takes for the beginning of a formula.
_FORMULA_SIGNS = "=+-@\t\r"


def csv_cell(value: Any) -> str:
    """Write a value for a cell: a text as it is, everything else as JSON.

    A text that would be read as JSON, or is empty, is written as JSON too, so it is unambiguous; so
    is one that a spreadsheet would take for a formula.

    >>> [csv_cell(value) for value in ("milk", 12, "12", None, "", ["a"], "=1+1")]
    ['milk', '12', '"12"', 'null', '""', '["a"]', '"=1+1"']
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str) and value and from_csv_cell(value) == value:
        return encoded(value).decode() if value[0] in _FORMULA_SIGNS else value
    return encoded(value).decode()


def csv_name(name: str) -> str:
    """Write the name of a column, as JSON if it looks like a formula, or like JSON itself."""
    return encoded(name).decode() if name[:1] in tuple(_FORMULA_SIGNS + '"') else name


def from_csv_name(text: str) -> str:
    """Read the name of a column that :func:`csv_name` has written."""
    name = from_csv_cell(text) if text.startswith('"') else text
    return name if isinstance(name, str) else text


def from_csv_cell(text: str) -> Any:
    """Read a cell that :func:`csv_cell` has written; if it is not JSON, it is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def cell(value: Any) -> str:
    """Write a value for a table."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, KVError):
        return printable(value.message)
    return printable(value if isinstance(value, str) else encoded(value).decode())


def printable(text: str, keep: str = "") -> str:
    r"""Write control characters as escapes, so that data cannot control a terminal.

    >>> printable("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() or one in keep else one.encode("unicode_escape").decode()
        for one in text
    )


def encoded(value: Any) -> bytes:
    """Write a value as one line of JSON."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return text.encode(errors="surrogatepass")


def _plain(value: Any) -> Any:
    """Return a value's form in JSON."""
    if isinstance(value, datetime):
        return value.isoformat()
    return value.details if isinstance(value, KVError) else str(value)


def human_bytes(count: int) -> str:
    """Write a size for people.

    >>> [human_bytes(size) for size in (17, 2048, 5_500_000)]
    ['17 B', '2.0 KiB', '5.2 MiB']
    """
    size, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"


def counted(count: int, thing: str, things: str | None = None) -> str:
    """Count things in words.

    >>> counted(1, "pending write"), counted(2, "pending write"), counted(0, "entity", "entities")
    ('1 pending write', '2 pending writes', '0 entities')
    """
    return f"{count} {thing if count == 1 else things or thing + 's'}"


def progress_bar() -> Progress:
    """Make a progress bar on standard error, which only a terminal shows."""
    console = Console(stderr=True)
    # Older versions of rich print a line feed after an invisible bar.
    console.quiet = not console.is_terminal
    return Progress(console=console, disable=console.quiet, transient=True)
