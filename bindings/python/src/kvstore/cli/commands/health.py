"""Commands that check and repair a store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from ..._option_types import NetworkOptions
from ...errors import CorruptError
from ...salvage import decrypt_file as write_plain
from ...salvage import salvage as copy_out
from ..damage import Damage, damage_of
from ..doctor import examine
from ..failures import Exit, Failure
from ..location import Location
from ..output import counted, human_bytes, note
from ..parameters import Command
from ..settings import Settings, pass_settings

#: The number of problems that are printed one by one for people.
_FEW = 20
_QUARANTINED = (
    "kvstore: Quarantined writes need a decision: kvstore pending edit gives a write new content,"
    " kvstore pending drop and then repair remove it."
)

#: Runs in a separate process: a second copy of SQLite in this one would drop the library's locks.
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
    """Check the file: its structure, by SQLite, and the checksum of every entity.

    Damaged entities are named. The command repair removes them. If the structure is damaged,
    salvage copies everything that can be read.
    """
    location = settings.location()
    structure = _structure(location)
    damages = _damages(settings)
    problems = structure + list(map(str, damages))
    settings.out.done(
        f"{location.file} is sound." if not problems else f"{location.file} is damaged.",
        file=str(location.file),
        sound=not problems,
        problems=problems,
        damaged=[{"collection": each.collection, "_id": each.id} for each in damages if each.id],
    )
    if problems and settings.out.is_for_people:
        _tell(problems)
        is_repairable = not structure and all(each.id for each in damages)
        command = f"kvstore: kvstore --dir {location.file}"
        if not is_repairable:
            note(f"{command} salvage DIRECTORY copies what can be read.")
        elif not all(each.is_quarantined for each in damages):
            note(f"{command} repair removes them; the next pull fetches them again.")
        else:
            note(_QUARANTINED)
    return int(Exit.DAMAGED if problems else Exit.DONE)


def _tell(problems: list[str]) -> None:
    for problem in problems[:_FEW]:
        note(f"kvstore: {problem}")
    if len(problems) > _FEW:
        note(f"kvstore: and {counted(len(problems) - _FEW, 'more problem')}; --json names all.")


def _structure(location: Location) -> list[str]:
    command = [sys.executable, "-I", "-c", _CHECK, str(location.file)]
    result = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    told: list[str] = json.loads(result.stdout)
    return [] if told == ["ok"] else told


def _damages(settings: Settings) -> list[Damage]:
    try:
        with settings.local() as client:
            return list(damage_of(client))
    except CorruptError as error:
        return [Damage("the store", None, str(error))]


@click.command("repair", cls=Command)
@pass_settings
def repair(settings: Settings) -> None:
    """Remove damaged entities, so that the next pull fetches them again.

    Pending writes are kept. A damaged entity with a pending write stays, and the write is
    quarantined: pending edit gives it a new content, pending drop deletes it. Damaged entities of a
    client without a backend are lost. Indexes are rebuilt.
    """
    with settings.local() as client:
        report = client.repair()
    if not settings.out.is_for_people:
        settings.out.document(report)
        return
    entities = counted(report["entities"], "entity", "entities")
    settings.out.done(f"{entities} checked, {report['damaged']} damaged.")
    rows = [{**each, "now": "removed"} for each in report["removed"]]
    rows += [{**each, "now": "quarantined"} for each in report["quarantined"]]
    if rows:
        settings.out.rows(rows, ["collection", "_id", "now"])
    for name in sorted({each["collection"] for each in report["removed"]}):
        note(f"kvstore: kvstore pull {name} fetches the removed entities again.")
    if report["quarantined"]:
        note(_QUARANTINED)


@click.command("compact", cls=Command)
@pass_settings
def compact(settings: Settings) -> None:
    """Free the disk space that the store no longer needs.

    The files are rewritten, which needs disk space for a copy. Programs can go on reading
    meanwhile. While one of them reads an older state, the command waits, up to --timeout.
    """
    options: NetworkOptions = {} if settings.timeout is None else {"timeout": settings.timeout}
    with settings.local() as client:
        sizes = client.compact(**options)
    before, after = sizes["before"], sizes["after"]
    settings.out.done(f"{human_bytes(before)} before, {human_bytes(after)} now.", **sizes)


@click.command("salvage", cls=Command)
@click.argument("destination", metavar="DIRECTORY", type=click.Path(path_type=Path))
@click.option("--plain", is_flag=True, help="Do not encrypt the copy of encrypted data.")
@pass_settings
def salvage(settings: Settings, destination: Path, plain: bool) -> None:
    """Copy everything readable of a damaged file into a new DIRECTORY, as lines of JSON.

    Pending writes are copied first, to pending.ndjson. Each collection has a file of its own, which
    import reads. Damaged entities are left out and named. The damaged file stays as it is.

    Of encrypted data the files are encrypted with the same keys: decrypt-file reads them.
    """
    location = settings.location()
    if destination.exists():
        raise Failure(f"{destination} is there already; name a new directory.", Exit.USAGE)
    report = copy_out(
        destination,
        app_key=location.app_key,
        tag=location.tag,
        data_directory=location.directory,
        host=None,
        **settings.encryption(),
    )
    files: list[dict[str, Any]] = [report["pending"], *report["collections"].values()]
    if plain:
        for file in files:
            file["file"] = _decrypted(settings, destination / file["file"]).name
    if not settings.out.is_for_people:
        settings.out.document(report)
        return
    settings.out.rows(files, ["file", "lines", "damaged", "damagedIds"])


def _decrypted(settings: Settings, file: Path) -> Path:
    """Put a plain file in the place of an encrypted one."""
    if file.suffix != ".encrypted":
        return file
    plain = file.with_suffix("")
    descriptor = os.open(plain, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        write_plain(file, descriptor, app_key="any", host=None, **settings.encryption())
    finally:
        os.close(descriptor)
    file.unlink()
    return plain


@click.command("decrypt-file", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@pass_settings
def decrypt_file(settings: Settings, file: Path) -> None:
    """Print the lines of an encrypted FILE that salvage has made.

    The key is named by --key-file, --key-command or --passphrase. If the file is damaged, the lines
    before the damage are printed.
    """
    key = settings.encryption()
    if not key:
        raise Failure(
            "The key is missing: use --key-file, --key-command or --passphrase.", Exit.USAGE
        )
    sys.stdout.flush()
    write_plain(file, sys.stdout.fileno(), app_key="any", host=None, **key)


@click.command("doctor", cls=Command)
@pass_settings
def doctor(settings: Settings) -> int:
    """Print the facts for a bug report: versions, file, entities, backend, clock, certificates.

    Every entity is read, and damaged ones are named. The exit code is 1 if a check failed.
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
    """Print a shell script that completes commands, options and collections.

    For bash, for example: eval "$(kvstore completion bash)"
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise Failure(f"{shell} is not known.", Exit.USAGE)
    made = kind(context.find_root().command, {}, "kvstore", "_KVSTORE_COMPLETE")
    print(made.source())
