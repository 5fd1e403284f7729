"""Lists of contexts that follow their query."""

from __future__ import annotations

import queue
from typing import Any

import pytest

import kvstore
from kvstore import Query


class Follower:
    """Applies the changes of a list of objects to a copy of what it showed."""

    def __init__(self, found: kvstore.Results[kvstore.Object]) -> None:
        self.found = found
        self.shown = [one.title for one in found]
        self.told: list[kvstore.ListChanges] = []
        self._news: queue.Queue[None] = queue.Queue()

    def apply(self, changes: Any) -> None:
        """Take what has changed from the list."""
        taken = sorted([*changes.deletions, *(move.origin for move in changes.moves)], reverse=True)
        for position in taken:
            del self.shown[position]
        put = sorted([*changes.insertions, *(move.index for move in changes.moves)])
        for position in put:
            self.shown.insert(position, self.found[position].title)
        for position in changes.modifications:
            self.shown[position] = self.found[position].title
        assert len(self.shown) == changes.count == len(self.found)
        self.told.append(changes)
        self._news.put(None)

    def wait(self, titles: str) -> None:
        """Wait until the list shows this."""
        while "".join(self.shown) != titles:
            self._news.get(timeout=30)


def test_a_list_follows_what_its_context_and_others_change(local: kvstore.Client) -> None:
    notes = local.collection("notes")
    notes.save_many([{"_id": str(n), "title": title} for n, title in enumerate("bdf")])
    with (
        local.context() as ctx,
        ctx.fetch("notes", Query(sort={"title": 1})) as found,
    ):
        follower = Follower(found)
        with found.observe(follower.apply):
            new = ctx.insert("notes", {"_id": "new", "title": "c"})
            follower.wait("bcdf")
            new.title = "g"
            follower.wait("bdfg")
            # What others save is seen in objects that are not changed here.
            notes.save({"_id": "0", "title": "e"})
            follower.wait("defg")
            notes.save({"_id": "new too", "title": "a"})
            follower.wait("adefg")
            ctx.object("notes", "1").delete()
            follower.wait("aefg")
            ctx.undo()
            follower.wait("adefg")
            notes.remove_by_id("2")
            follower.wait("adeg")
            ctx.rollback()
            follower.wait("ade")
        ctx.insert("notes", {"_id": "late", "title": "z"})
        assert [one.title for one in found] == ["a", "d", "e"]
        ctx.rollback()


def test_a_save_of_the_context_itself_changes_nothing_in_its_list(local: kvstore.Client) -> None:
    notes = local.collection("notes")
    notes.save_many([{"_id": str(n), "title": title} for n, title in enumerate("ab")])
    with local.context() as ctx, ctx.fetch("notes", Query(sort={"title": 1})) as found:
        follower = Follower(found)
        with found.observe(follower.apply):
            ctx.object("notes", "0").title = "A"
            follower.wait("Ab")
            ctx.save()
            notes.save({"_id": "1", "title": "B"})
            follower.wait("AB")
    assert [each.modifications for each in follower.told] == [[0], [1]]


def test_what_a_followed_list_shows_is_still_checked_by_a_save(local: kvstore.Client) -> None:
    notes = local.collection("notes")
    notes.save({"_id": "n", "title": "a"})
    with local.context() as ctx, ctx.fetch("notes") as found:
        told: queue.Queue[Any] = queue.Queue()
        one = found[0]
        assert one.title == "a"
        with found.observe(told.put):
            notes.save({"_id": "n", "title": "b"})
            told.get(timeout=30)
            # Nobody has looked at it since: the change is one of what was seen.
            one.title = "c"
            with pytest.raises(kvstore.ConflictError):
                ctx.save()
        ctx.rollback()


def test_a_closed_context_ends_what_its_lists_tell(local: kvstore.Client) -> None:
    notes = local.collection("notes")
    told: queue.Queue[Any] = queue.Queue()
    ctx = local.context()
    found = ctx.fetch("notes")
    with found, found.observe(told.put):
        ctx.close()
        notes.save({"_id": "n"})
    assert told.empty()
