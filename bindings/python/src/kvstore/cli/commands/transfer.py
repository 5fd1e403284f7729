"""Export and import: lines of JSON and CSV, streamed."""

from __future__ import annotations

import csv
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

import click

from ..._json import from_json
from ...errors import InvalidError, KVError
from ...query import Query
from ...results import EntityLike
from ...store import Store
from ..failures import Exit
from ..output import counted, from_csv_cell, note, progress_bar
from ..parameters import Command, collection_argument, query_of, query_options
from ..settings import Settings, pass_settings
from .reading import csv_of, one_line

#: How many entities are saved in one transaction.
_BATCH = 1000

format_option = click.option(
    "--format",
    "kind",
    type=click.Choice(["ndjson", "csv"]),
    help="The format of the file. [default: by its name, else ndjson]",
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

    In CSV a cell is a text, or JSON if it is anything else; import reads that back as it was.
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
    """Write a file that is there as a whole or not at all; count its lines.

    How many there are is asked for a bar only that somebody sees.
    """
    part = to.with_name(to.name + ".part")
    count = 0
    try:
        with part.open("wb") as file, progress_bar() as bar:
            total = None if bar.disable else count_all()
            for line in bar.track(lines, total=total, description="export"):
                file.write(line)
                count += 1
        part.replace(to)
    finally:
        part.unlink(missing_ok=True)
    return count


def _entities(count: int) -> str:
    return counted(count, "entity", "entities")


@click.command("import", cls=Command)
@collection_argument
@click.argument("file", type=click.File("rb"), default="-")
@format_option
@click.option("--new", is_flag=True, help="Save only entities whose _id is not there yet.")
@pass_settings
def import_(
    settings: Settings, collection: str, file: BinaryIO, kind: str | None, new: bool
) -> int:
    """Save the entities of a FILE, or of the standard input: lines of JSON, or CSV.

    What has an _id replaces the entity that is there; what has none gets one. The writes are
    pending, and the next push sends them. Entities that are not valid are named and left out.
    """
    named = _path_of(file)
    entities = _csv_rows(file) if _kind(kind, named) == "csv" else _lines(file)
    with settings.collection(collection, new=True) as store, progress_bar() as bar:
        task = bar.add_task("import", total=named.stat().st_size if named else None)

        def progress() -> None:
            bar.update(task, completed=file.tell() if named else None)

        saved, failed = _save(store, entities, new, progress)
    settings.out.done(f"{_entities(saved)} imported.", imported=saved, failed=failed)
    return int(Exit.FAILED if failed else Exit.DONE)


def _path_of(file: BinaryIO) -> Path | None:
    """Give the path of a file; a pipe has none."""
    path = Path(str(getattr(file, "name", "")))
    return path if path.is_file() else None


def _save(
    store: Store,
    entities: Iterator[tuple[int, EntityLike]],
    new: bool,
    progress: Callable[[], object],
) -> tuple[int, int]:
    """Save entities in batches; count those saved and those refused."""
    saved = failed = 0
    while batch := list(itertools.islice(entities, _BATCH)):
        errors = _save_batch(store, batch, new)
        for line, error in errors[:10]:
            note(f"kvstore: line {line}: {error}")
        if len(errors) > 10:
            note(f"kvstore: and {counted(len(errors) - 10, 'more line')}")
        saved += len(batch) - len(errors)
        failed += len(errors)
        progress()
    return saved, failed


def _save_batch(
    store: Store, batch: list[tuple[int, EntityLike]], new: bool
) -> list[tuple[int, KVError]]:
    if not new:
        try:
            result = store.save_many([entity for _, entity in batch])
            return [(batch[error.index or 0][0], error) for error in result.errors]
        except InvalidError:
            # One of them: which one is seen when they are saved one by one.
            pass
    save = store.insert if new else store.save
    errors: list[tuple[int, KVError]] = []
    for line, entity in batch:
        try:
            save(entity)
        except KVError as error:
            errors.append((line, error))
    return errors


def _lines(file: IO[bytes]) -> Iterator[tuple[int, EntityLike]]:
    """Give the entities of lines of JSON, as they stand there, and their lines."""
    for number, line in enumerate(file, 1):
        text = line.strip().removeprefix(b"\xef\xbb\xbf")
        if text:
            yield number, text if _is_object(text) else b""


def _is_object(text: bytes) -> bool:
    """Tell whether this is one JSON object, and not the beginning of one or two of them."""
    try:
        return isinstance(from_json(text), dict)
    except ValueError:
        return False


def _csv_rows(file: IO[bytes]) -> Iterator[tuple[int, EntityLike]]:
    """Give the entities of CSV: an empty cell is no member."""
    texts = (
        line.decode("utf-8-sig" if number == 0 else "utf-8") for number, line in enumerate(file)
    )
    reader = csv.reader(texts, strict=True)
    header = next(reader, [])
    for cells in reader:
        pairs = zip(header, cells, strict=False)
        yield reader.line_num, {name: from_csv_cell(text) for name, text in pairs if text != ""}
