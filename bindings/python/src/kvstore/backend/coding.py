"""Decodes requests for the methods of a backend, and encodes their answers as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from .base import Backend
from .custom import REQUESTS, RESPONSES
from .requests import (
    ChangedPage,
    Conflicting,
    Delete,
    Deleted,
    Fetch,
    Later,
    LivePage,
    Page,
    Record,
    Refused,
    Result,
    Stored,
    Unconditional,
    Upsert,
    Write,
)


def _fetch(backend: Backend, asked: dict[str, Any]) -> Any:
    return backend.fetch(
        Fetch(
            collection=asked["collection"],
            page_size=asked["pageSize"],
            after=asked.get("after"),
            filter=asked.get("filter"),
            sort=asked.get("sort"),
            skip=asked.get("skip", 0),
            limit=asked.get("limit"),
        )
    )


def _fetch_ids(backend: Backend, asked: dict[str, Any]) -> Any:
    return backend.fetch_ids(asked["collection"], asked["ids"])


def _changes(backend: Backend, asked: dict[str, Any]) -> Any:
    return backend.changes(asked["collection"], asked["since"])


def _live(backend: Backend, asked: dict[str, Any]) -> Any:
    return backend.live(asked["collections"], asked.get("after"))


def _write(backend: Backend, asked: dict[str, Any]) -> Any:
    writes = [
        Write(
            operation=write["op"],
            id=write["id"],
            record=write.get("record"),
            condition=write.get("if", Unconditional.ALWAYS),
        )
        for write in asked["writes"]
    ]
    return backend.write(asked["collection"], writes)


#: What a request asks of a backend, or of a custom store.
OPERATIONS: Final[dict[str, Callable[[Any, dict[str, Any]], Any]]] = {
    "fetch": _fetch,
    "fetch_ids": _fetch_ids,
    "changes": _changes,
    "live": _live,
    "write": _write,
    **REQUESTS,
}


def _page(given: Page) -> dict[str, Any]:
    return {"records": list(given.records), "next": given.next, "token": given.token}


def _records(given: Iterable[Record]) -> dict[str, Any]:
    return {"records": list(given)}


def _changed(given: ChangedPage | None) -> dict[str, Any]:
    if given is None:
        return {"unknown": True}
    changes = [_change(change) for change in given.changes]
    return {"changes": changes, "token": given.token, "more": given.more}


def _change(change: Upsert | Delete) -> dict[str, Any]:
    if isinstance(change, Upsert):
        return {"upsert": change.record}
    gone = {"delete": change.id}
    return gone if change.version is None else gone | {"version": change.version}


def _lived(given: LivePage) -> dict[str, Any]:
    changes = [{"collection": name} | _change(change) for name, change in given.changes]
    return {"changes": changes, "next": given.next, "incomplete": given.incomplete}


def _results(given: Iterable[Result]) -> dict[str, Any]:
    return {"results": [_result(result) for result in given]}


def _result(result: Result) -> dict[str, Any]:
    match result:
        case Stored(record):
            return {"stored": record}
        case Deleted(existed):
            return {"deleted": existed}
        case Conflicting(record):
            return {"conflict": record}
        case Refused(message, status):
            return {"refused": {"message": message, "status": status}}
        case Later(message, after):
            later: dict[str, Any] = {"message": message}
            return {"later": later if after is None else later | {"after": after}}
    raise TypeError(f"a {type(result).__name__} is not a result of a write")


ANSWERS: Final[dict[str, Callable[[Any], dict[str, Any]]]] = {
    "fetch": _page,
    "fetch_ids": _records,
    "changes": _changed,
    "live": _lived,
    "write": _results,
    **RESPONSES,
}
