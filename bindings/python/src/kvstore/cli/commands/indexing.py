"""The indexes of a collection."""

from __future__ import annotations

import click

from ..failures import Exit, Failure
from ..parameters import Group, collection_argument
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
            }
            for index in store.indexes()
        ]
    columns = ["name", "keys", "state", "arrays", "totals"]
    settings.out.rows(rows, columns, empty="No indexes.")


@indexes.command("create")
@collection_argument
@click.argument("keys", nargs=-1, required=True, metavar="MEMBER[:KIND]...")
@click.option("--name", help="The index's name. [default: made of the keys]")
@click.option("--totals", is_flag=True, help="Keep count and sum of the last key for each group.")
@pass_settings
def create(
    settings: Settings, collection: str, keys: tuple[str, ...], name: str | None, totals: bool
) -> None:
    """Create an index over members. It covers the stored entities, too.

    KIND is 1 (ascending, the default), -1, text (for words) or 2dsphere (for places).
    """
    spec = dict(map(_key, keys))
    with settings.collection(collection, new=True) as store:
        store.create_index(spec, name=name, totals=totals)
        made = next(
            index.name
            for index in store.indexes()
            if index.keys == spec and (name is None or index.name == name)
        )
    settings.out.done(f"The index {made} is ready.", created=made)


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
