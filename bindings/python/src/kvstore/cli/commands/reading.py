"""Commands that read collections and entities."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO, Any

import click

from ..._json import from_json
from ...client import Client
from ...cursor import Cursor
from ...query import Query
from ...results import Entity
from ...status import CollectionStatus
from ...store import Store
from ..damage import readable
from ..failures import Exit
from ..output import TABLE_LIMIT, Output, csv_lines, human_bytes, note, print_line, print_table
from ..parameters import Command, collection_argument, names_of, query_of, query_options
from ..settings import Settings, pass_settings, status_of

#: The bytes of entities that are buffered in memory before the CSV header; more go to disk.
_IN_MEMORY = 8 * 1024 * 1024


@click.command("collections", cls=Command)
@click.option("--no-sizes", is_flag=True, help="Do not read the entities for their sizes.")
@pass_settings
def collections(settings: Settings, *, no_sizes: bool) -> None:
    """List the collections: entities, bytes, unsent writes, and the time of the last read.

    The size of a collection is the size of its entities as JSON.
    """
    columns = ["collection", "entities", "bytes", "waiting", "quarantined", "lastSynced"]
    if no_sizes:
        columns.remove("bytes")
    with settings.local() as client:
        rows = [_row(client, status, no_sizes) for status in status_of(client).collections]
    out = settings.out
    if out.is_for_people and not no_sizes:
        rows = [{**row, "bytes": human_bytes(row["bytes"])} for row in rows]
    out.rows(rows, columns, empty="No collections.")


def _row(client: Client, status: CollectionStatus, no_sizes: bool) -> dict[str, Any]:
    with client.collection(status.collection) as store:
        row = {
            "collection": status.collection,
            "entities": store.count(),
            "pending": status.pending,
            "waiting": status.waiting,
            "quarantined": status.quarantined,
            "lastSynced": status.last_synced,
        }
        if not no_sizes:
            with store.find() as found:
                bodies = (each for each in readable(found) if isinstance(each, bytes))
                row["bytes"] = sum(map(len, bodies))
    return row


@click.command("find", cls=Command)
@collection_argument
@query_options
@pass_settings
def find(settings: Settings, /, collection: str, **options: Any) -> None:
    """Find entities of a collection, by a FILTER in MongoDB's language or by --where.

    A table ends after 100 entities, unless --limit says otherwise. JSON, lines of JSON and CSV are
    written while they are read, and have no limit.
    """
    with settings.collection(collection) as store:
        columns = columns_named(options["fields"])
        print_found(settings.out, store, query_of(**options), options["limit"], columns)


def columns_named(fields: str | None) -> list[str] | None:
    """Return the columns for the option ``--fields``: the id, and the members in their order.

    >>> columns_named("price, from.country,from.year"), columns_named(None)
    (['_id', 'price', 'from'], None)
    """
    names = names_of(fields)
    if names is None:
        return None
    return list(dict.fromkeys(["_id", *(name.split(".")[0] for name in names)]))


def print_found(
    out: Output, store: Store, query: Query, limit: int | None, columns: list[str] | None
) -> None:
    """Print the result of a find; `columns`: of tables and CSV, or None for all members."""
    if out.format == "csv":
        with store.find(query) as found:
            for line in csv_of(found, columns):
                print_line(line, end="")
    elif out.is_for_people:
        _print_table(store, query, limit, columns)
    else:
        with store.find(query) as found:
            out.stream(one_line(text) for text in found.raw())


def _print_table(store: Store, query: Query, limit: int | None, columns: list[str] | None) -> None:
    most = TABLE_LIMIT if limit is None else limit
    with store.find(query) as found:
        rows = list(itertools.islice(found, most) if most else found)
        is_cut = limit is None and next(found, None) is not None
    if not rows:
        note("No entities.")
        return
    print_table(rows, columns or columns_of(rows))
    if is_cut:
        note(f"The first {most}; --limit 0 shows all of them.")


def columns_of(entities: Iterable[Entity]) -> list[str]:
    """Return the members of entities: the id, the others in their order, reserved ones last."""
    names: dict[str, None] = {}
    for entity in entities:
        names.update(dict.fromkeys(entity))
    return sorted(names, key=lambda name: (name != "_id", name.startswith("_")))


def csv_of(found: Cursor, columns: list[str] | None = None) -> Iterator[str]:
    """Yield entities as lines of CSV.

    Without `columns` the header names all members, so a file buffers the entities.
    """
    if columns is not None:
        yield from csv_lines(map(from_json, found.raw()), columns)
        return
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as waiting:
        columns = columns_of(map(from_json, _written(found.raw(), waiting)))
        waiting.seek(0)
        yield from csv_lines(map(from_json, waiting), columns)


def _written(texts: Iterable[bytes], file: IO[bytes]) -> Iterator[bytes]:
    for text in texts:
        file.write(one_line(text) + b"\n")
        yield text


def one_line(text: bytes) -> bytes:
    """Return JSON as one line: line feeds can only occur between its tokens."""
    return text if b"\n" not in text and b"\r" not in text else b" ".join(text.split())


@click.command("get", cls=Command)
@collection_argument
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@pass_settings
def get(settings: Settings, collection: str, ids: tuple[str, ...]) -> int:
    """Print entities by their ids, as JSON."""
    with settings.collection(collection) as store:
        found = {id: store.get(id) for id in ids}
    entities = [entity for entity in found.values() if entity is not None]
    if settings.output == "json" and len(ids) > 1:
        settings.out.document(entities)
    else:
        for entity in entities:
            settings.out.document(entity)
    for id in found:
        if found[id] is None:
            settings.out.problem(f"there is no {json.dumps(id)} in {collection}", id=id)
    return int(Exit.DONE if len(entities) == len(found) else Exit.NOT_FOUND)


@click.command("count", cls=Command)
@collection_argument
@query_options
@pass_settings
def count(settings: Settings, /, collection: str, **options: Any) -> None:
    """Count the entities that match."""
    with settings.collection(collection) as store:
        number = store.count(query_of(**options))
    settings.out.done(str(number), count=number)


@click.command("explain", cls=Command)
@collection_argument
@query_options
@pass_settings
def explain(settings: Settings, /, collection: str, **options: Any) -> None:
    """Run a find and explain it: which index was used, how many entities were read."""
    with settings.collection(collection) as store:
        plan = store.explain(query_of(**options))
    settings.out.one(
        {
            "access": plan.access,
            "indexes": plan.indexes,
            "exact": plan.exact,
            "covering": plan.covering,
            "examined": plan.examined,
            "returned": plan.returned,
            "steps": plan.steps,
            "sql": plan.sql,
        }
    )
