"""Whether a store is sound, and what can be done if it is not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from pathlib import Path

import click

from ...client import Client
from ...errors import CorruptError, KVError
from ...salvage import salvage as copy_out
from ..doctor import examine
from ..failures import Exit, Failure
from ..output import note
from ..parameters import Command
from ..place import Place
from ..settings import Settings, names_of_collections, pass_settings

#: Runs in a process of its own: another copy of SQLite in ours would drop the library's locks.
_CHECK = """
import json, pathlib, sqlite3, sys
uri = pathlib.Path(sys.argv[1]).absolute().as_uri() + "?mode=ro"
try:
    file = sqlite3.connect(uri, uri=True, timeout=30)
    print(json.dumps([row[0] for row in file.execute("PRAGMA integrity_check(20)")]))
except sqlite3.DatabaseError as error:
    print(json.dumps([str(error)]))
"""


@click.command("verify", cls=Command)
@pass_settings
def verify(settings: Settings) -> int:
    """Check the file: its structure as SQLite has it, and that every entity can be read."""
    place = settings.place()
    problems = _structure(place) + _entities(settings)
    settings.out.done(
        f"{place.file} is sound." if not problems else f"{place.file} is damaged.",
        file=str(place.file),
        sound=not problems,
        problems=problems,
    )
    if problems and settings.out.is_for_people:
        for problem in problems:
            note(f"kvstore: {problem}")
        note(f"kvstore: kvstore --dir {place.file} salvage DIRECTORY copies what can be read.")
    return int(Exit.DAMAGED if problems else Exit.DONE)


def _structure(place: Place) -> list[str]:
    command = [sys.executable, "-I", "-c", _CHECK, str(place.file)]
    result = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    told: list[str] = json.loads(result.stdout)
    return [] if told == ["ok"] else told


def _entities(settings: Settings) -> list[str]:
    """Read everything once."""
    problems: list[str] = []
    try:
        with settings.local() as client:
            for name in names_of_collections(client):
                problems += _collection(client, name)
    except CorruptError as error:
        problems.append(str(error))
    return problems


def _collection(client: Client, name: str) -> list[str]:
    try:
        with client.collection(name) as store:
            for each in (store.find(), iter(store.pending)):
                deque(each, maxlen=0)
    except (KVError, ValueError) as error:
        return [f"{name}: {error}"]
    return []


@click.command("salvage", cls=Command)
@click.argument("destination", metavar="DIRECTORY", type=click.Path(path_type=Path))
@pass_settings
def salvage(settings: Settings, destination: Path) -> None:
    """Copy what can be read of a damaged file into a new DIRECTORY, as lines of JSON.

    Pending writes come first, in pending.ndjson; each collection gets a file, which import reads.
    The damaged file stays as it is.
    """
    place = settings.place()
    if destination.exists():
        raise Failure(f"{destination} is there already; name a new directory.", Exit.USAGE)
    report = copy_out(
        destination,
        app_key=place.app_key,
        tag=place.tag,
        data_directory=place.directory,
        host=None,
    )
    settings.out.one(report)


@click.command("doctor", cls=Command)
@pass_settings
def doctor(settings: Settings) -> int:
    """Tell what a defect report needs: versions, file, backend, clock, certificates.

    The exit code is 1 if a check failed.
    """
    checks = list(examine(settings))
    rows = [{"check": each.name, "result": each.result, "detail": each.detail} for each in checks]
    settings.out.rows(rows, ["check", "result", "detail"])
    failed = any(each.result == "failed" for each in checks)
    return int(Exit.FAILED if failed else Exit.DONE)


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what a shell evaluates to complete commands, options and collections.

    For bash, for example: eval "$(kvstore completion bash)"
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise Failure(f"{shell} is not known.", Exit.USAGE)
    made = kind(context.find_root().command, {}, "kvstore", "_KVSTORE_COMPLETE")
    print(made.source())
