"""Commands for export and import: lines of JSON and CSV, streamed."""

from __future__ import annotations

import contextlib
import csv
import itertools
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

import click

from ..._json import from_json
from ...errors import InvalidError, KVError
from ...query import Query
from ...results import EntityLike
from ...store import Store
from ..failures import Exit
from ..output import counted, from_csv_cell, from_csv_name, progress_bar
from ..parameters import Command, collection_argument, query_of, query_options
from ..settings import Settings, pass_settings
from .reading import csv_of, one_line

#: The number of entities that are saved in one transaction.
_BATCH = 1000

format_option = click.option(
    "--format",
    "kind",
    type=click.Choice(["ndjson", "csv"]),
    help="The format of the file. [default: by its name, or else ndjson]",
)


@click.command("export", cls=Command)
@collection_argument
@query_options
@click.option("-O", "--to", type=click.Path(path_type=Path), help="A file. [default: the output]")
@format_option
@pass_settings
def export(
    settings: Settings, /, collection: str, to: Path | None, kind: str | None, **options: Any
) -> None:
    """Write entities to a file, as lines of JSON or as CSV.

    A cell of CSV is a text as it is, or JSON for any other value. The command import restores the
    values.
    """
    query = query_of(**options)
    with settings.collection(collection) as store:
        lines = _csv(store, query) if _kind(kind, to) == "csv" else _ndjson(store, query)
        if to is None:
            for line in lines:
                sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            return
        count = _write(to, lines, lambda: store.count(query))
    if _kind(kind, to) == "csv":
        count -= 1
    settings.out.done(f"{_entities(count)} exported to {to}.", exported=count, file=str(to))


def _kind(kind: str | None, file: Path | None) -> str:
    if kind is not None:
        return kind
    return "csv" if file is not None and file.suffix.lower() == ".csv" else "ndjson"


def _ndjson(store: Store, query: Query) -> Iterator[bytes]:
    with store.find(query) as found:
        for text in found.raw():
            yield one_line(text) + b"\n"


def _csv(store: Store, query: Query) -> Iterator[bytes]:
    with store.find(query) as found:
        for line in csv_of(found):
            yield line.encode(errors="surrogatepass")


def _write(to: Path, lines: Iterable[bytes], count_all: Callable[[], int]) -> int:
    """Write a whole file or none at all; return the number of its lines.

    The entities are counted in advance only if a progress bar is visible.
    """
    count = 0
    with _replacing(to) as file, progress_bar() as bar:
        total = None if bar.disable else count_all()
        for line in bar.track(lines, total=total, description="export"):
            file.write(line)
            count += 1
    return count


@contextlib.contextmanager
def _replacing(to: Path) -> Iterator[IO[bytes]]:
    """Open a file that replaces another one when everything is written.

    A link stays a link. Devices and pipes are not replaced, but written to.
    """
    if to.exists() and not to.is_file():
        with to.open("wb") as file:
            yield file
        return
    target = to.resolve()
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            os.fchmod(descriptor, _mode(target))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _mode(target: Path) -> int:
    """Return the mode of a file that is written anew: for its user alone, or as it was."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return 0o600
    return status.st_mode & 0o777 if status.st_uid == os.geteuid() else 0o600


def _entities(count: int) -> str:
    return counted(count, "entity", "entities")


@click.command("import", cls=Command)
@collection_argument
@click.argument("file", type=click.File("rb"), default="-")
@format_option
@click.option("--new", is_flag=True, help="Save only entities whose _id does not exist yet.")
@pass_settings
def import_(
    settings: Settings, collection: str, file: BinaryIO, kind: str | None, new: bool
) -> int:
    """Save the entities of a FILE, or of the standard input: lines of JSON, or CSV.

    An entity with an _id replaces the stored one; an entity without an _id gets one. The writes are
    pending, and the next push sends them. Entities that are not valid are named and left out.
    """
    named = _path_of(file)
    entities = _csv_rows(file) if _kind(kind, named) == "csv" else _lines(file)
    with settings.collection(collection, new=True) as store, progress_bar() as bar:
        task = bar.add_task("import", total=named.stat().st_size if named else None)

        def progress() -> None:
            bar.update(task, completed=file.tell() if named else None)

        counts = _Counts()
        try:
            _save(store, entities, new, counts, settings, progress)
        finally:
            settings.out.done(
                f"{_entities(counts.saved)} imported.", imported=counts.saved, failed=counts.failed
            )
    return int(Exit.FAILED if counts.failed else Exit.DONE)


@dataclass
class _Counts:
    """The numbers of saved and refused entities."""

    saved: int = 0
    failed: int = 0


def _path_of(file: BinaryIO) -> Path | None:
    """Return the path of a file; None for a pipe."""
    path = Path(str(getattr(file, "name", "")))
    return path if path.is_file() else None


def _save(
    store: Store,
    entities: Iterator[tuple[int, EntityLike | KVError]],
    new: bool,
    counts: _Counts,
    settings: Settings,
    progress: Callable[[], object],
) -> None:
    """Save entities in batches, and count them."""
    while batch := list(itertools.islice(entities, _BATCH)):
        errors = _save_batch(store, batch, new)
        for line, error in errors[:10]:
            settings.out.problem(f"line {line}: {error}", line=line)
        if len(errors) > 10:
            settings.out.problem(f"and {counted(len(errors) - 10, 'more line')}")
        counts.saved += len(batch) - len(errors)
        counts.failed += len(errors)
        progress()


def _save_batch(
    store: Store, lines: list[tuple[int, EntityLike | KVError]], new: bool
) -> list[tuple[int, KVError]]:
    errors = [(line, each) for line, each in lines if isinstance(each, KVError)]
    batch = [(line, each) for line, each in lines if not isinstance(each, KVError)]
    if not new:
        try:
            result = store.save_many([entity for _, entity in batch])
            return errors + [(batch[error.index or 0][0], error) for error in result.errors]
        except InvalidError:
            # One of them failed. Saving them one by one shows which one.
            pass
    save = store.insert if new else store.save
    for line, entity in batch:
        try:
            save(entity)
        except KVError as error:
            errors.append((line, error))
    return errors


def _lines(file: IO[bytes]) -> Iterator[tuple[int, EntityLike]]:
    """Yield the entities of lines of JSON, unchanged, with their line numbers."""
    for number, line in enumerate(file, 1):
        text = line.strip().removeprefix(b"\xef\xbb\xbf")
        if text:
            yield number, text if _is_object(text) else b""


def _is_object(text: bytes) -> bool:
    """Return whether this is exactly one JSON object, and not a part of one or several."""
    try:
        return isinstance(from_json(text), dict)
    except ValueError:
        return False


def _csv_rows(file: IO[bytes]) -> Iterator[tuple[int, EntityLike | KVError]]:
    """Yield the entities of CSV, or the error of a row; an empty cell is a missing member."""
    # Bytes that are not UTF-8 make one row unreadable, but not the rows after it.
    texts = (
        line.decode("utf-8-sig" if number == 0 else "utf-8", "surrogateescape")
        for number, line in enumerate(file)
    )
    # The limit is that of the process; a cell may be as long as an entity.
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(texts, strict=True)
    header = [from_csv_name(name) for name in next(reader, [])]
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield reader.line_num, _invalid(f"not valid CSV: {error}")
            continue
        pairs = zip(header, cells, strict=False)
        entity = {name: from_csv_cell(text) for name, text in pairs if text != ""}
        if any(0xDC80 <= ord(letter) <= 0xDCFF for letter in "".join(cells)):
            yield reader.line_num, _invalid("not valid UTF-8")
        else:
            yield reader.line_num, entity


def _invalid(message: str) -> KVError:
    return InvalidError({"message": message, "name": "KV_INVALID"})
