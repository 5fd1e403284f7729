"""The statements that kvstored sends to PostgreSQL, for a program that sends them again."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from postgres import Postgres

#: What PostgreSQL needs to log them, so that they can be read again.
SETTINGS = {"logging_collector": "on", "log_destination": "jsonlog", "log_directory": "log"}
PARAMETER = re.compile(r"\$\d+ = (NULL|'((?:[^']|'')*)')", re.DOTALL)
#: The first statement that changes an entity: what it writes depends on what was read before it.
CHANGE = re.compile(r"\b(INSERT INTO|UPDATE) entity\b")


@dataclass(frozen=True)
class Statement:
    """One statement with its parameters; None: NULL."""

    text: str
    parameters: list[str | None]

    def __str__(self) -> str:
        lines = [f"{len(self.text.encode())} {len(self.parameters)}\n{self.text}\n"]
        for value in self.parameters:
            lines.append("-1\n" if value is None else f"{len(value.encode())}\n{value}\n")
        return "".join(lines)


def captured(database: Postgres, requests: Callable[[], None]) -> list[list[Statement]]:
    """Gives the statements of each of several requests of the same kind, which one client sends."""
    set_logging(database, "all")
    start = len(logged(database))
    requests()
    set_logging(database, "none")
    feeds = {line["pid"] for line in logged(database) if "epoch FROM kvstored" in line["message"]}
    statements = [
        read(line)
        for line in logged(database)[start:]
        if line["pid"] not in feeds and line["message"].startswith("execute ")
    ]
    # Each request begins alike.
    first = statements[0].text
    begins = [n for n, statement in enumerate(statements) if statement.text == first]
    return [
        statements[begin:end]
        for begin, end in zip(begins, [*begins[1:], len(statements)], strict=True)
    ]


def set_logging(database: Postgres, what: str) -> None:
    """Sets what is logged, and waits until it is in force and in the file."""
    database.sql(f"ALTER SYSTEM SET log_statement = '{what}'")
    database.sql("SELECT pg_reload_conf()")
    time.sleep(0.5)


def logged(database: Postgres) -> list[dict[str, str]]:
    """Gives the lines of the log."""
    files = sorted(Path(database.data / "log").glob("*.json"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def read(line: dict[str, str]) -> Statement:
    """Reads a line of the log."""
    text = line["message"].partition(": ")[2]
    found = PARAMETER.findall(line.get("detail", "").partition("arameters: ")[2])
    values = [None if whole == "NULL" else value.replace("''", "'") for whole, value in found]
    return Statement(text, values)


def script(requests: list[list[Statement]]) -> str:
    """Writes requests as cluster.c reads them, in as few round trips as their statements allow."""
    lines = []
    for request in requests:
        lines.append("R\n")
        for number, statement in enumerate(request):
            if number > 0 and begins_trip(statement):
                lines.append("S\n")
            lines.append(str(statement))
        lines.append("S\n")
    return "".join(lines)


def begins_trip(statement: Statement) -> bool:
    """Whether a statement cannot go along with those before it."""
    return statement.text.startswith("BEGIN") or CHANGE.search(statement.text) is not None
