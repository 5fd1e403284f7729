"""Makes kvstored(1) and kvstored-admin(1) from what the program says of itself.

scripts/generate_server_manual.py            writes it, after `make lib`
scripts/generate_server_manual.py --check    fails if it is something else
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from roff import listed, marked, roff, verbatim

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "man" / "kvstored.1"
ADMIN_PAGE = ROOT / "docs" / "man" / "kvstored-admin.1"
SERVER = ROOT / "build" / "bin" / "kvstored"


def main(arguments: list[str]) -> int:
    """Write or compare; give the exit status."""
    pages = {
        PAGE: server_page(output_of_server("--help")),
        ADMIN_PAGE: admin_page(json.loads(output_of_server("admin", "commands"))),
    }
    stale = [path for path, text in pages.items() if not path.exists() or path.read_text() != text]
    if "--check" not in arguments:
        for path in stale:
            path.write_text(pages[path])
        return 0
    for path in stale:
        name = path.relative_to(ROOT)
        print(f"{name} is not what scripts/generate_server_manual.py makes: run it")
    return 1 if stale else 0


def output_of_server(*arguments: str) -> str:
    """Give what the server says of itself."""
    done = subprocess.run([SERVER, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def admin_page(table: dict[str, Any]) -> str:
    """Write the page of `kvstored admin`, from its table of commands."""
    lines = [
        '.TH KVSTORED\\-ADMIN 1 "" "libkvstore" "User Commands"',
        ".SH NAME",
        r"kvstored\-admin \- users, collections and data of a kvstored",
        ".SH SYNOPSIS",
        ".B " + roff("kvstored admin COMMAND [operands] [options]"),
        ".SH DESCRIPTION",
        *_paragraphs(_ABOUT_ADMIN),
        ".SH OPTIONS",
        *listed([(option["usage"], option["help"]) for option in table["options"]]),
        ".SH COMMANDS",
    ]
    for command in table["commands"]:
        lines += [".SS " + roff(command["usage"]), roff(command["summary"])]
        lines += listed([(option["usage"], option["help"]) for option in command["options"]])
    lines += [
        ".SH EXIT STATUS",
        *listed([(status["status"], status["meaning"]) for status in table["statuses"]]),
        ".SH SEE ALSO",
        ".BR kvstored (1)",
    ]
    return "\n".join(lines) + "\n"


def server_page(text: str) -> str:
    """Write the page of the server."""
    usages = re.findall(r"^(?:usage:|      ) (kvstored .*)$", text, re.MULTILINE)
    options = re.findall(r"^  (--.*?) {2,}(\S.*)$", text, re.MULTILINE)
    rest = text[text.rindex("  --help") :].partition("\n")[2]
    paragraphs = [" ".join(part.split()) for part in rest.split("\nSignals: ")]
    first, signals = (part.strip() for part in paragraphs)
    lines = [
        '.TH KVSTORED 1 "" "libkvstore" "User Commands"',
        ".SH NAME",
        r"kvstored \- server for data, users and live events",
        ".SH SYNOPSIS",
        *_synopsis(usages),
        ".SH DESCRIPTION",
        *_paragraphs(_ABOUT_SERVER),
        ".PP",
        roff(first),
        ".SH OPTIONS",
        *listed(options),
        ".SH SIGNALS",
        roff(signals),
        ".SH FILES",
        *listed(_FILES),
        ".SH EXAMPLES",
        roff("A server for one application, which keeps deletions for a month:"),
        *verbatim("kvstored --data /var/lib/kvstored --app kid_shop:secret --delta-days 30"),
        ".PP",
        roff("A copy of the data while the server runs:"),
        *verbatim("kvstored backup --data /var/lib/kvstored --to /backup/monday"),
        ".SH SEE ALSO",
        ".BR kvstored\\-admin (1),",
        ".BR kvstore (1),",
        ".BR libkvstore (3)",
    ]
    return "\n".join(lines) + "\n"


_ABOUT_ADMIN = [
    "Does an administrator's work: on a running server, with --url; on the PostgreSQL database of"
    " servers, with --storage; or on the data directory of a server that is stopped, with --data.",
    "Results are on standard output, progress and problems on standard error.",
]
_ABOUT_SERVER = [
    "Serves collections, users, groups of users and live events over HTTP, in the protocol of"
    " Kinvey. Programs with libkvstore synchronise with it.",
    "Options are read from the file that --config names first, and then from the command line.",
]
_FILES = [
    ("DIR", "The directory of --data: databases, which nothing else may write to."),
    ("DIR/app.json", "The application that the server made because none was given."),
]


def _synopsis(usages: list[str]) -> Iterator[str]:
    for number, usage in enumerate(usages):
        if number:
            yield ".br"
        yield f".B {roff(re.split(r' {2,}', usage)[0])}"


def _paragraphs(texts: list[str]) -> Iterator[str]:
    for text in texts:
        yield from (".PP", marked(text))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
