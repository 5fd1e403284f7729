"""Contexts: faults, unsaved changes, undo, merge policies."""

from __future__ import annotations

import asyncio
import gc
import random
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from conftest import APP_KEY

import kvstore
from kvstore import Context, MergePolicy, Query, aio

RELATIONSHIPS: dict[str, dict[str, dict[str, Any]]] = {
    "comments": {"post": {"to": "posts", "key": "postId"}},
    "posts": {"comments": {"to": "comments", "inverseKey": "postId"}},
}
POLICIES: tuple[MergePolicy, ...] = get_args(MergePolicy)


@pytest.fixture
def ctx(local: kvstore.Client) -> Iterator[Context]:
    context = local.context(relationships=RELATIONSHIPS)
    yield context
    context.close()


def blog(local: kvstore.Client, posts: int = 20, comments: int = 3) -> None:
    """Save some posts, each with comments."""
    local.collection("posts").save_many({"_id": f"p{n}", "n": n} for n in range(posts))
    if not comments:
        return
    local.collection("comments").save_many(
        {"_id": f"c{n}.{k}", "postId": f"p{n}", "k": k}
        for n in range(posts)
        for k in range(comments)
    )


def test_a_with_saves_everything_at_its_end(local: kvstore.Client) -> None:
    with local.context(relationships=RELATIONSHIPS) as ctx:
        post = ctx.insert("posts", {"title": "one"})
        comment = ctx.insert("comments", {"postId": post.id, "text": "well"})
        post.title = "two"
        assert comment.post == post
        assert [one.text for one in post.comments] == ["well"]
        assert ctx.statistics()["changes"] == 2
        ids = post.id, comment.id
    assert local.collection("posts").find_by_id(ids[0])["title"] == "two"
    assert local.collection("comments").find_by_id(ids[1])["postId"] == ids[0]

    def fail() -> None:
        with local.context() as ctx:
            ctx.object("posts", ids[0]).delete()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert local.collection("posts").count() == 1
    with pytest.raises(kvstore.MisuseError):
        ctx.save()


def test_faults_are_read_in_batches_and_once(local: kvstore.Client) -> None:
    blog(local, posts=1000, comments=0)
    with local.context(fetch_batch_size=64) as ctx:
        found = ctx.fetch("posts", Query(sort={"n": 1}))
        assert len(found) == 1000
        assert ctx.statistics()["reads"] == 0
        assert found[500].is_fault
        assert [post.n for post in found] == list(range(1000))
        assert ctx.statistics()["reads"] == -(-1000 // 64)
        assert [post.n for post in found[100:200]] == list(range(100, 200))
        assert not found[500].is_fault
        assert ctx.statistics()["reads"] == -(-1000 // 64)
        # By its id, a fault of an open list is read with its batch as well.
        ctx.refresh()
        assert ctx.object("posts", "p130").n == 130
        assert [ctx.object("posts", f"p{n}").n for n in range(128, 192)] == list(range(128, 192))
        assert ctx.statistics()["reads"] == -(-1000 // 64) + 1
        found.close()


def test_10000_faults_in_order_take_a_read_for_each_batch(local: kvstore.Client) -> None:
    blog(local, posts=10_000, comments=0)
    for batch, cached in [(100, 4 << 20), (37, 1 << 20), (1000, 64 << 20)]:
        with local.context(fetch_batch_size=batch, cache_bytes=cached) as ctx:
            found = ctx.fetch("posts", Query(sort={"n": 1}))
            assert [post.n for post in found] == list(range(10_000))
            assert ctx.statistics()["reads"] == -(-10_000 // batch)
            kept = ctx.statistics()
            assert kept["cachedBytes"] <= cached
            # What is in the cache is not read again: here, the last batches.
            assert [post.n for post in found[-10:]] == list(range(9_990, 10_000))
            assert ctx.statistics() == kept


def test_a_small_cache_evicts(local: kvstore.Client) -> None:
    local.collection("posts").save_many({"_id": f"p{n}", "text": "x" * 1000} for n in range(500))
    with local.context(cache_bytes=100_000, fetch_batch_size=10) as ctx:
        assert sum(len(post.text) for post in ctx.fetch("posts")) == 500_000
        statistics = ctx.statistics()
        assert statistics["cachedBytes"] <= 100_000
        assert statistics["reads"] == 50


def test_relationships_are_followed_by_batch(local: kvstore.Client) -> None:
    blog(local, posts=300, comments=3)
    with local.context(relationships=RELATIONSHIPS) as ctx:
        comments = ctx.fetch("comments")
        assert [one.post.n for one in comments] == [n // 3 for n in range(900)]
        statistics = ctx.statistics()
        assert (statistics["reads"], statistics["relationshipReads"]) == (9, 9)
    with local.context(relationships=RELATIONSHIPS) as ctx:
        posts = ctx.fetch("posts")
        for post in posts:
            assert [one.k for one in post.comments] == [0, 1, 2]
        statistics = ctx.statistics()
        # The comments came along with their ids.
        assert (statistics["reads"], statistics["relationshipReads"]) == (3, 3)


def test_prefetching_makes_one_query_for_each_relationship(local: kvstore.Client) -> None:
    blog(local, posts=300, comments=3)
    with local.context(relationships=RELATIONSHIPS) as ctx:
        posts = ctx.fetch("posts", prefetch=["comments.post"])
        before = ctx.statistics()
        assert before["relationshipReads"] == 2
        for post in posts:
            for comment in post.comments:
                assert comment.post == post
                assert comment.post.n == post.n
        after = ctx.statistics()
        assert (after["reads"], after["relationshipReads"]) == (before["reads"], 2)
        with pytest.raises(kvstore.InvalidError):
            ctx.fetch("posts", prefetch=["authors"])


def test_a_fetch_sees_unsaved_changes_in_their_places(local: kvstore.Client, ctx: Context) -> None:
    blog(local, posts=10, comments=0)
    ctx.get("posts", "p3").n = 7.5
    ctx.get("posts", "p5").delete()
    ctx.insert("posts", {"n": 0.5})
    ctx.get("posts", "p9").n = -1
    ordered = Query({"n": {"$lt": 8}}, sort={"n": 1})
    assert [one.n for one in ctx.fetch("posts", ordered)] == [-1, 0, 0.5, 1, 2, 4, 6, 7, 7.5]
    page = Query({"n": {"$lt": 8}}, sort={"n": 1}, skip=2, limit=3)
    assert [one.n for one in ctx.fetch("posts", page)] == [0.5, 1, 2]
    assert ctx.count("posts", ordered) == 9
    stored = ctx.fetch("posts", ordered, includes_pending_changes=False)
    assert len(stored) == 8
    assert {one.id for one in ctx.fetch("posts")} == {
        one.id for one in ctx.fetch("posts", ordered)
    } | {"p8"}


def test_an_object_deleted_meanwhile_is_gone(local: kvstore.Client, ctx: Context) -> None:
    blog(local, posts=5, comments=0)
    found = ctx.fetch("posts")
    local.collection("posts").remove_by_id("p2")
    gone = found[2]
    with pytest.raises(kvstore.NotFoundError):
        gone.values()
    with pytest.raises(kvstore.ObjectGoneError):
        _ = gone.n
    assert getattr(gone, "n", "gone") == "gone"
    assert [post.n for post in found if getattr(post, "n", None) is not None] == [0, 1, 3, 4]
    with pytest.raises(kvstore.NotFoundError):
        gone["n"] = 1
    assert ctx.object("posts", "p0").absent is None


def test_groups_are_undone_and_made_again(local: kvstore.Client, ctx: Context) -> None:
    blog(local, posts=2, comments=0)
    post = ctx.get("posts", "p0")
    with ctx.undo_group():
        post.n = 10
        new = ctx.insert("posts", {"n": 11})
        ctx.get("posts", "p1").delete()
    post.n = 20
    assert ctx.undo()
    assert post.n == 10
    assert ctx.undo()
    assert post.n == 0
    assert ctx.changes() == {"inserted": [], "updated": [], "deleted": []}
    assert not ctx.undo()
    assert ctx.redo()
    assert (post.n, new.n) == (10, 11)
    with pytest.raises(kvstore.NotFoundError):
        ctx.get("posts", "p1")
    ctx.save()
    # What was saved can be undone, too; what others have changed since stays.
    local.collection("posts").update({"_id": "p0"}, {"$set": {"other": True}})
    ctx.refresh()
    assert ctx.undo()
    ctx.save()
    stored = local.collection("posts").find_by_id("p0")
    assert (stored["n"], stored["other"]) == (0, True)
    assert {one["_id"] for one in local.collection("posts").find()} == {"p0", "p1"}


def test_a_rollback_inside_a_group_leaves_the_group_to_its_end(ctx: Context) -> None:
    with ctx.undo_group():
        ctx.insert("notes", {"n": 1})
        ctx.rollback()
        kept = ctx.insert("notes", {"n": 2})
        kept.n = 3
    assert ctx.undo()
    assert ctx.changes() == {"inserted": [], "updated": [], "deleted": []}
    assert not ctx.undo()


def test_too_many_relationships_to_prefetch_are_refused(
    local: kvstore.Client, ctx: Context
) -> None:
    blog(local, posts=2)
    path = ".".join(["comments", "post"] * 50)
    assert len(ctx.fetch("posts", prefetch=[path])) == 2
    with pytest.raises(kvstore.InvalidError, match="prefetch"):
        ctx.fetch("posts", prefetch=[path, "comments"])


def test_a_conflict_is_reported_with_both_sides(local: kvstore.Client, ctx: Context) -> None:
    store = local.collection("posts")
    store.save({"_id": "a", "title": "one", "n": 1})
    mine = ctx.get("posts", "a")
    mine.title = "mine"
    ctx.insert("posts", {"title": "new"})
    store.save({"_id": "a", "title": "theirs", "n": 2})
    with pytest.raises(kvstore.ConflictError):
        ctx.save()
    assert store.count() == 1
    (conflict,) = ctx.conflicts()
    assert (conflict.collection, conflict.id) == ("posts", "a")
    assert conflict.read == {"_id": "a", "title": "one", "n": 1}
    assert conflict.object == {"_id": "a", "title": "mine", "n": 1}
    assert conflict.stored == {"_id": "a", "title": "theirs", "n": 2}
    assert conflict.read_version is not None
    assert conflict.stored_version == conflict.read_version + 1
    ctx.resolve(conflict, {"_id": "a", "title": "both"})
    assert ctx.save().updated == [("posts", "a")]
    assert store.find_by_id("a") == {"_id": "a", "title": "both"}
    assert store.count() == 2
    mine.title = "again"
    store.remove_by_id("a")
    assert ctx.save(lambda conflict: "object").inserted == [("posts", "a")]
    mine.title = "more"
    store.save({"_id": "a", "title": "other"})
    ctx.save(lambda conflict: "stored")
    assert mine.title == "other"
    with pytest.raises(kvstore.NotFoundError):
        ctx.resolve(conflict, "stored")


def test_the_version_that_the_application_has_seen_counts(local: kvstore.Client) -> None:
    store = local.collection("posts")
    store.save({"_id": "a", "n": 1})
    with local.context(cache_bytes=0) as ctx:
        held = ctx.get("posts", "a")
        assert held.n == 1
        # It leaves the cache, and is changed.
        store.save_many({"_id": f"x{n}"} for n in range(5))
        for n in range(5):
            ctx.get("posts", f"x{n}")
        store.save({"_id": "a", "n": 2, "m": 1})
        held["k"] = 3
        with pytest.raises(kvstore.ConflictError):
            ctx.save()
        ctx.save(lambda conflict: {**conflict.stored, "k": 3} if conflict.stored else None)
    assert store.find_by_id("a") == {"_id": "a", "n": 2, "m": 1, "k": 3}


def test_uris_name_objects_after_a_relaunch(tmp_path: Path) -> None:
    def opened() -> kvstore.Client:
        return kvstore.Client(app_key=APP_KEY, host=None, data_directory=tmp_path / "data")

    with opened() as client, client.context() as ctx:
        note = ctx.insert("notes", {"_id": "ä/%", "n": 1})
        uri = note.uri
        assert note.reference == "ä/%"
    with opened() as client, client.context() as ctx:
        assert ctx.at_uri(uri).n == 1
        with pytest.raises(kvstore.NotFoundError):
            ctx.at_uri("kvstore://other/notes/pa")
        for wrong in ("notes", "kvstore://", "kvstore:///notes/pa", uri + "/x", uri + "%4"):
            with pytest.raises((kvstore.InvalidError, kvstore.NotFoundError)):
                ctx.at_uri(wrong)


def test_bad_options_and_objects_are_refused(local: kvstore.Client, ctx: Context) -> None:
    for options in (
        {"merge_policy": "best"},
        {"type": "memory"},
        {"store": "nothing"},
        {"fetch_batch_size": 0},
        {"relationships": {"posts": {"comments": {"to": "comments"}}}},
        {"relationships": {"posts": {"comments": {"inverseKey": "a"}}}},
    ):
        with pytest.raises(kvstore.InvalidError):
            local.context(**options)
    ctx.insert("posts", {"_id": "a"})
    with pytest.raises(kvstore.ConflictError):
        ctx.insert("posts", {"_id": "a"})
    with pytest.raises(kvstore.InvalidError):
        ctx.object("posts", "a")["_id"] = "b"
    with pytest.raises(kvstore.InvalidError):
        ctx.insert("posts/x", {})


def test_two_threads_use_one_context(local: kvstore.Client) -> None:
    blog(local, posts=50, comments=0)
    with local.context(merge_policy="objectTrumps") as ctx:
        failures: list[BaseException] = []

        def work(seed: int) -> None:
            chance = random.Random(seed)
            try:
                for _ in range(300):
                    post = ctx.object("posts", f"p{chance.randrange(50)}")
                    match chance.randrange(4):
                        case 0:
                            post[f"t{seed}"] = chance.random()
                        case 1:
                            post.values()
                        case 2:
                            assert len(ctx.fetch("posts")) == 50
                        case 3:
                            ctx.save()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
    assert local.collection("posts").count() == 50


def test_a_context_may_close_with_a_million_open_faults(local: kvstore.Client) -> None:
    blog(local, posts=20_000, comments=0)
    ctx = local.context(fetch_batch_size=1000)
    before = resident()
    lists = [ctx.fetch("posts") for _ in range(50)]
    assert sum(map(len, lists)) == 1_000_000
    kept = list(lists[0][:5000])
    # Their ids are shared between the lists, and no object was read.
    assert ctx.statistics()["reads"] == 0
    assert resident() - before < 200 << 20
    assert lists[49][19_999].n is not None
    ctx.close()
    for fault in (kept[3], kept[4999]):
        with pytest.raises(kvstore.MisuseError):
            fault.values()
    for found in lists:
        with pytest.raises(kvstore.MisuseError):
            found[0]
        found.close()
    del kept, found, lists
    gc.collect()


def resident() -> int:
    """Return how many bytes of memory this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


# Several writers


WRITER = """
import sys, kvstore
directory, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with kvstore.Client(app_key="kid_test", host=None, data_directory=directory) as client:
    for n in range(count):
        with client.context(merge_policy="error") as ctx:
            def again(conflict):
                counts = dict(conflict.stored)
                counts[name] = counts.get(name, 0) + 1
                counts["sum"] = counts.get("sum", 0) + 1
                return counts
            note = ctx.get("notes", "shared")
            note.update(**{name: (note[name] or 0) + 1, "sum": (note["sum"] or 0) + 1})
            ctx.save(again)
"""


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    directory = tmp_path / "shared"
    with kvstore.Client(app_key=APP_KEY, host=None, data_directory=directory) as client:
        client.collection("notes").save({"_id": "shared"})
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, str(directory), name, "150"])
            for name in ("x", "y")
        ]
        assert [writer.wait() for writer in writers] == [0, 0]
        stored = client.collection("notes").find_by_id("shared")
        assert (stored["x"], stored["y"], stored["sum"]) == (150, 150, 300)


def test_a_deletion_takes_along_what_belongs_to_the_object(tmp_path: Path) -> None:
    schema = """
    type Post @model { id: ID! title: String comments: [Comment] @hasMany }
    type Comment @model { id: ID! text: String post: Post @belongsTo }
    """
    with kvstore.Client(
        app_key=APP_KEY, host=None, data_directory=tmp_path / "data", schema=schema
    ) as client:
        with client.context() as ctx:
            post = ctx.insert("Post", {"title": "one"})
            key = "postCommentsId"
            comments = [ctx.insert("Comment", {"text": str(n), key: post.id}) for n in range(3)]
        with client.context() as ctx:
            post = ctx.get("Post", post._id)
            assert {one.text for one in post.comments} == {"0", "1", "2"}
            post.delete()
            ctx.get("Comment", comments[0]._id).delete()
        assert client.collection("Comment").count() == 0


def test_a_task_works_with_a_context(tmp_path: Path) -> None:
    async def run() -> None:
        options: dict[str, Any] = {"app_key": APP_KEY, "host": None, "data_directory": tmp_path}
        async with aio.Client(**options) as client:
            async with await client.context(relationships=RELATIONSHIPS) as ctx:
                post = await ctx.insert("posts", {"_id": "p", "title": "Herons"})
                await ctx.insert("comments", {"_id": "c", "postId": post.id})
                await ctx.update(post, seen=True)
            async with await client.context(relationships=RELATIONSHIPS) as ctx:
                found = await ctx.fetch("posts", {"seen": True}, prefetch=["comments"])
                assert [(await ctx.values(post))["title"] async for post in found] == ["Herons"]
                comments = await ctx.related(await ctx.get("posts", "p"), "comments")
                assert isinstance(comments, aio.Results)
                assert [comment.id for comment in await comments.between(0, 1)] == ["c"]
                owner = await ctx.related(await ctx.get("comments", "c"), "post")
                assert isinstance(owner, kvstore.Object)
                await ctx.delete(owner)
                assert await ctx.count("posts") == 0
                assert await ctx.undo()
                await ctx.perform(lambda blocking: blocking.get("posts", "p").delete())
                assert await ctx.redo() is False
                saved = await ctx.save()
                assert saved.deleted == [("posts", "p")]

    asyncio.run(run())


def test_what_a_push_adds_to_a_new_object_is_no_conflict(online: kvstore.Client) -> None:
    notes = online.collection("pushed")
    with online.context(merge_policy="error") as ctx:
        for members in ({"n": 1}, {"n": 1, "m": 2}):
            one = ctx.insert("pushed", members)
            ctx.save()
            notes.push()
            assert "_acl" in notes.find_by_id(one.id)
            if "m" in members:
                one.m = 3
            else:
                one.delete()
            ctx.save()
    assert [(note["m"], "_acl" in note) for note in notes.find()] == [(3, True)]


def test_an_overwritten_record_keeps_its_permissions(online: kvstore.Client) -> None:
    notes = online.collection("overwritten")
    notes.save({"_id": "n", "a": 1})
    with online.context(merge_policy="overwrite") as ctx:
        ctx.get("overwritten", "n").b = 2
        notes.remove_by_id("n")
        notes.save({"_id": "n", "a": 3})
        notes.push()
        stored = notes.find_by_id("n")
        ctx.save()
        assert notes.find_by_id("n") == {**stored, "a": 1, "b": 2}


def test_an_object_deleted_and_inserted_again_keeps_its_permissions(
    online: kvstore.Client,
) -> None:
    notes = online.collection("inserted")
    notes.save({"_id": "n", "a": 1})
    notes.push()
    stored = notes.find_by_id("n")
    with online.context() as ctx:
        ctx.get("inserted", "n").delete()
        ctx.insert("inserted", {"_id": "n", "b": 2})
        ctx.save()
    assert notes.find_by_id("n") == {"_id": "n", "b": 2, **{k: stored[k] for k in ("_acl", "_kmd")}}


def test_what_a_function_decides_keeps_the_permissions(online: kvstore.Client) -> None:
    notes = online.collection("decided")
    notes.save({"_id": "n", "a": 1})
    with online.context() as ctx:
        ctx.get("decided", "n").a = 2
        notes.save({"_id": "n", "a": 3})
        notes.push()
        stored = notes.find_by_id("n")
        ctx.save(lambda _: {"_id": "n", "a": 5})
        assert notes.find_by_id("n") == {**stored, "a": 5}


def test_equal_results_of_two_computations_are_a_conflict(local: kvstore.Client) -> None:
    posts = local.collection("posts")
    posts.save({"_id": "a", "n": 1, "tags": ["x"], "done": False, "title": "t"})
    with local.context() as one, local.context() as other:
        for ctx in (one, other):
            ctx.get("posts", "a").n += 1
        one.save()
        with pytest.raises(kvstore.ConflictError):
            other.save()
        other.rollback()
        other.refresh(other.get("posts", "a"))
        other.get("posts", "a").n += 1
        other.save()
        assert posts["a"]["n"] == 3
        # What was set to the same is no conflict.
        one.refresh(one.get("posts", "a"))
        for ctx in (one, other):
            ctx.get("posts", "a").done = True
            ctx.get("posts", "a").title = "u"
        one.save()
        assert other.save().merged == []
        for ctx in (one, other):
            post = ctx.get("posts", "a")
            post.tags = [*post.tags, "y"]
        one.save()
        with pytest.raises(kvstore.ConflictError):
            other.save()
        other.rollback()


def test_a_merge_to_what_is_stored_writes_nothing(local: kvstore.Client) -> None:
    notes = local.collection("notes")
    notes.save({"_id": "n", "a": 1})
    with local.context(merge_policy="objectTrumps") as ctx:
        ctx.get("notes", "n").c = 2
        # The same members, in another order than a merge writes them.
        notes.save({"c": 2, "b": 3, "a": 1, "_id": "n"})
        with local.context() as other:
            version = other.get("notes", "n").version
            assert ctx.save().updated == []
            other.refresh()
            assert other.get("notes", "n").version == version


def test_lists_that_cannot_be_followed_say_so(local: kvstore.Client, ctx: Context) -> None:
    blog(local, posts=1)
    for found in (
        ctx.rows("posts", groupBy=["title"], aggregates={"n": "count"}),
        ctx.object("posts", "p0").comments,
    ):
        with found, pytest.raises(kvstore.UnsupportedError):
            found.observe(print)
