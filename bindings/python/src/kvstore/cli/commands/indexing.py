"""The indexes of a collection."""

from __future__ import annotations

from typing import Any

import click

from ..failures import Exit, Failure
from ..parameters import Group, collection_argument, value_of
from ..settings import Settings, pass_settings

_KINDS: dict[str, int | str] = {
    "1": 1,
    "-1": -1,
    "text": "text",
    "2dsphere": "2dsphere",
}


@click.group("indexes", cls=Group)
def indexes() -> None:
    """List, create and drop the indexes of a collection."""


@indexes.command("list")
@collection_argument
@pass_settings
def list_(settings: Settings, collection: str) -> None:
    """List the indexes."""
    with settings.collection(collection) as store:
        rows = [
            {
                "name": index.name,
                "keys": index.keys,
                "state": index.state,
                "arrays": index.arrays,
                "totals": index.totals,
                "collation": index.collation,
            }
            for index in store.indexes()
        ]
    columns = ["name", "keys", "state", "arrays", "totals", "collation"]
    settings.out.rows(rows, columns, empty="No indexes.")


@indexes.command("create")
@collection_argument
@click.argument("keys", nargs=-1, required=True, metavar="MEMBER[:KIND]...")
@click.option("--name", help="The index's name. [default: made of the keys]")
@click.option("--totals", is_flag=True, help="Keep count and sum of the last key for each group.")
@click.option(
    "--collation",
    metavar="LOCALE",
    help="Keep texts in the order of a language: a locale such as de, or JSON.",
)
@pass_settings
def create(
    settings: Settings,
    collection: str,
    keys: tuple[str, ...],
    name: str | None,
    totals: bool,
    collation: str | None,
) -> None:
    """Create an index over members. It covers the stored entities, too.

    KIND is 1 (ascending, the default), -1, text (for words) or 2dsphere (for places).
    """
    spec = dict(map(_key, keys))
    order = None if collation is None else value_of(collation)
    with settings.collection(collection, new=True) as store:
        store.create_index(spec, name=name, totals=totals, collation=order)
        made = name or next(
            index.name
            for index in store.indexes()
            if index.keys == spec and index.collation == _whole(order)
        )
    settings.out.done(f"The index {made} is ready.", created=made)


def _whole(collation: str | dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a collation as an index lists it."""
    if isinstance(collation, str):
        return {"locale": collation}
    return collation and {name: value for name, value in collation.items() if value is not False}


def _key(text: str) -> tuple[str, int | str]:
    member, colon, kind = text.rpartition(":")
    if not colon:
        return text, 1
    if kind not in _KINDS:
        raise Failure(f"{text}: the kind of a key is one of {', '.join(_KINDS)}.", Exit.USAGE)
    return member, _KINDS[kind]


@indexes.command("drop")
@collection_argument
@click.argument("name")
@pass_settings
def drop(settings: Settings, collection: str, name: str) -> None:
    """Drop an index."""
    with settings.collection(collection) as store:
        store.drop_index(name)
    settings.out.done(f"The index {name} was dropped.", dropped=name)
