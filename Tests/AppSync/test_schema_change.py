"""Changes of the schema of a client that has synchronised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import kvstore
import pytest
from conftest import Serve
from standin import StandIn

OLD = "type Note @model { id: ID! text: String! extra: String place: String }"
RENAMED = "type Note @model { id: ID! words: String! place: String }"
GROWN = "type Note @model { id: ID! text: String! extra: String place: String stars: Int }"
RULES = {"Note": {"rename": {"text": "words"}, "drop": ["extra"]}}

Open = Callable[..., kvstore.Client]


@pytest.fixture
def open_client(tmp_path: Path) -> Iterator[Open]:
    """Opens clients, one after the other, with the data of one device."""
    with ExitStack() as stack:

        def start(server: StandIn, schema: str, **options: Any) -> kvstore.Client:
            client = kvstore.Client(
                app_key="notes",
                backend="appsync",
                endpoint=server.endpoint,
                auth={"apiKey": "da2-standin"},
                schema=schema,
                data_directory=tmp_path / "a",
                **options,
            )
            return stack.enter_context(client)

        yield start


def filled(open_client: Open, server: StandIn) -> None:
    """One record that the server has, one that is changed, one that is new."""
    with open_client(server, OLD) as client:
        notes = client.collection("Note")
        notes.save_many({"id": id, "text": id.upper(), "extra": "e"} for id in ("clean", "changed"))
        notes.push()
        notes.save({**notes["changed"], "place": "Reno"})
        notes.save({"id": "new", "text": "NEW", "extra": "e"})


def as_renamed(server: StandIn, serve: Serve) -> StandIn:
    """The server after its own change of schema."""
    rows = server.control("tables/Note", "GET")["rows"]
    other = serve(RENAMED)
    other.control("clock")
    for row in rows:
        row["words"] = row.pop("text")
        row.pop("extra")
    other.control("tables/Note", rows=rows)
    return other


def test_unsent_writes_survive_a_migration_and_are_sent(open_client: Open, serve: Serve) -> None:
    old = serve(OLD)
    old.control("clock")
    filled(open_client, old)
    server = as_renamed(old, serve)
    client = open_client(server, RENAMED, on_schema_change={"migrate": RULES})
    notes = client.collection("Note")
    assert {note["id"]: note["words"] for note in notes.find()} == {
        "clean": "CLEAN",
        "changed": "CHANGED",
        "new": "NEW",
    }
    assert [write.id for write in notes.pending] == ["changed", "new"]
    assert notes.push().errors == []
    updates = [e["variables"]["input"] for e in server.log() if "updateNote" in e["query"]]
    # Only what was changed goes: what a rename has done is no change.
    assert [sorted(update) for update in updates] == [["_version", "id", "place"]]
    assert len(server.control("tables/Note", "GET")["rows"]) == 3


def test_unsent_writes_are_of_what_a_handler_has_made(open_client: Open, serve: Serve) -> None:
    old = serve(OLD)
    old.control("clock")
    filled(open_client, old)
    server = as_renamed(old, serve)

    def placed(note: kvstore.MigratingRecord) -> dict[str, Any]:
        return {"words": note.former["text"].lower(), "place": note.former.get("place", "Rome")}

    change = {"migrate": RULES, "handler": placed}
    notes = open_client(server, RENAMED, on_schema_change=change).collection("Note")
    assert [write.id for write in notes.pending] == ["changed", "new"]
    assert notes.push().errors == []
    rows = {row["id"]: row for row in server.control("tables/Note", "GET")["rows"]}
    assert {id: (row["words"], row.get("place")) for id, row in rows.items()} == {
        "clean": ("CLEAN", None),
        "changed": ("changed", "Reno"),
        "new": ("new", "Rome"),
    }
    # What the backend has counts, where nothing waits to be sent.
    assert notes["clean"]["words"] == "clean"
    notes.pull()
    assert notes["clean"]["words"] == "CLEAN"


def test_a_resync_keeps_unsent_writes(open_client: Open, serve: Serve) -> None:
    old = serve(OLD)
    old.control("clock")
    filled(open_client, old)
    shrunk = "type Note @model { id: ID! text: String! place: String }"
    rows = old.control("tables/Note", "GET")["rows"]
    server = serve(shrunk)
    server.control("clock")
    for row in rows:
        row.pop("extra")
    server.control("tables/Note", rows=rows)
    client = open_client(server, shrunk, on_schema_change="resync")
    notes = client.collection("Note")
    assert sorted(note["id"] for note in notes.find()) == ["changed", "new"]
    assert notes["changed"]["place"] == "Reno"
    assert notes.push().errors == []
    assert notes.pull().pulled >= 1
    assert sorted(note["id"] for note in notes.find()) == ["changed", "clean", "new"]


def test_without_a_word_nothing_is_changed(open_client: Open, serve: Serve) -> None:
    server = serve(OLD)
    filled(open_client, server)
    with pytest.raises(kvstore.ConflictError, match=r"Note\.text was removed"):
        open_client(server, RENAMED).collection("Note")
    with open_client(server, OLD) as client:
        assert client.collection("Note").count() == 3
        assert len(client.collection("Note").pending) == 2


def test_what_does_not_fit_a_resync_is_not_lost(open_client: Open, serve: Serve) -> None:
    server = serve(OLD)
    filled(open_client, server)
    other = "type Other @model { id: ID! }"
    with pytest.raises(kvstore.ConflictError, match="Note that were not sent"):
        open_client(server, other, on_schema_change="resync").collection("Other")
    with open_client(server, OLD) as client:
        assert len(client.collection("Note").pending) == 2


def test_values_of_a_new_field_arrive_with_the_next_pull(open_client: Open, serve: Serve) -> None:
    """A delta would not have them: the records did not change since."""
    server = serve(GROWN)
    server.control("clock")
    at = "2024-05-21T12:00:00.000Z"
    row = {"id": "a", "text": "t", "stars": 5, "createdAt": at, "updatedAt": at}
    server.control("tables/Note", rows=[row])
    with open_client(server, OLD) as client:
        client.collection("Note").pull()
        assert "stars" not in client.collection("Note")["a"]
    notes = open_client(server, GROWN).collection("Note")
    notes.pull()
    assert notes["a"]["stars"] == 5
