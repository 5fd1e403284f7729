"""Relations between models: the order of what is sent, and what is removed together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import kvstore
import pytest
from standin import StandIn

BLOG = """
  type Blog @model { id: ID!, name: String, posts: [Post] @hasMany }
  type Post @model { id: ID!, title: String, comments: [Comment] @hasMany, blog: Blog @belongsTo
    editors: [User] @manyToMany(relationName: "PostEditor") }
  type Comment @model { id: ID!, content: String, post: Post @belongsTo }
  type User @model { id: ID!, name: String, posts: [Post] @manyToMany(relationName: "PostEditor") }
"""

Open = Callable[..., kvstore.Client]


@pytest.fixture
def blog(serve: Callable[..., StandIn]) -> StandIn:
    """A server of blogs."""
    return serve(BLOG)


@pytest.fixture
def device(blog: StandIn, tmp_path: Path) -> Iterator[Open]:
    """Opens clients of the blogs, each with the data of a device by name."""
    with ExitStack() as stack:

        def start(name: str = "a", **options: Any) -> kvstore.Client:
            given: Any = {
                "backend": "appsync",
                "endpoint": blog.endpoint,
                "auth": {"apiKey": "da2-standin"},
                **options,
            }
            client = kvstore.Client(
                app_key="blog", schema=BLOG, data_directory=tmp_path / name, **given
            )
            return stack.enter_context(client)

        yield start


def mutations(server: StandIn) -> list[str]:
    """The mutations that the server has had, as `createPost p`, in their order."""
    named = []
    for entry in server.log():
        query = entry.get("query", "")
        if query.startswith("mutation"):
            field = query.split("{", 1)[1].split("(", 1)[0].strip()
            named.append(f"{field} {entry['variables']['input']['id']}")
    return named


def test_a_parent_is_created_before_its_children_whichever_store_pushes(
    device: Open, blog: StandIn
) -> None:
    client = device()
    posts, comments = client.collection("Post"), client.collection("Comment")
    posts.save({"id": "p", "title": "t"})
    comments.save({"id": "c", "postCommentsId": "p"})
    posts.save({"id": "q", "title": "u"})
    comments.save({"id": "d", "postCommentsId": "q"})
    assert comments.push().pushed == 4
    assert mutations(blog) == ["createPost p", "createComment c", "createPost q", "createComment d"]
    assert len(posts.pending) == 0


def test_the_order_survives_a_restart_and_an_offline_start(device: Open, blog: StandIn) -> None:
    with device(endpoint="http://127.0.0.1:9/graphql", retries=0) as client:
        client.collection("Blog").save({"id": "b"})
        client.collection("Post").save({"id": "p", "blogPostsId": "b"})
        client.collection("Comment").save({"id": "c", "postCommentsId": "p"})
        with pytest.raises(kvstore.NetworkError):
            client.collection("Post").push()
    assert device().collection("Comment").push().pushed == 3
    assert mutations(blog) == ["createBlog b", "createPost p", "createComment c"]


def test_a_save_that_is_sent_at_once_takes_along_what_is_in_front_of_it(
    device: Open, blog: StandIn
) -> None:
    client = device()
    client.collection("Post").save({"id": "p"})
    client.collection("Post").save({"id": "q"})
    client.collection("Comment", type="auto").save({"id": "c", "postCommentsId": "q"})
    client.collection("Post").save({"id": "r"})
    assert mutations(blog) == ["createPost p", "createPost q", "createComment c"]


def test_one_refused_write_holds_up_nothing(device: Open, blog: StandIn) -> None:
    client = device()
    client.collection("Post").save({"id": "p"})
    client.collection("Comment").save({"id": "c", "postCommentsId": "p"})
    refusal = {"errorType": "Unauthorized", "message": "no"}
    blog.control("faults", at="http", on="createPost", action="error", errors=[refusal])
    result = client.collection("Comment").push()
    assert (result.pushed, [error.id for error in result.errors]) == (1, ["p"])


def fill(client: kvstore.Client) -> None:
    """A blog of two posts, one of which has two comments and an editor."""
    for model, record in (
        ("Blog", {"id": "b"}),
        ("Post", {"id": "p", "blogPostsId": "b"}),
        ("Post", {"id": "q", "blogPostsId": "b"}),
        ("Comment", {"id": "c", "postCommentsId": "p"}),
        ("Comment", {"id": "d", "postCommentsId": "p"}),
        ("User", {"id": "u"}),
        ("PostEditor", {"id": "j", "postId": "p", "userId": "u"}),
    ):
        client.collection(model).save(record)


def test_what_belongs_to_a_record_is_removed_with_it_and_sent_first(
    device: Open, blog: StandIn
) -> None:
    client = device()
    fill(client)
    client.collection("Blog").push()
    # What was queued before must not be sent too early.
    client.collection("Blog").save({"id": "b", "name": "renamed"})
    blog.control("log", "DELETE")
    assert client.collection("Blog").remove_by_id("b") == 1
    for model in ("Blog", "Post", "Comment", "PostEditor"):
        assert client.collection(model).count() == 0
    assert client.collection("User").count() == 1
    assert client.collection("User").push().pushed == 6
    sent = mutations(blog)
    assert sorted(sent) == sorted(
        [
            *("deleteBlog b", "deletePost p", "deletePost q"),
            *("deleteComment c", "deleteComment d", "deletePostEditor j"),
        ]
    )
    for first, then in (
        *(("deleteComment c", "deletePost p"), ("deleteComment d", "deletePost p")),
        *(("deletePostEditor j", "deletePost p"), ("deletePost p", "deleteBlog b")),
        ("deletePost q", "deleteBlog b"),
    ):
        assert sent.index(first) < sent.index(then)


def test_a_removal_by_query_and_one_in_a_transaction_do_the_same(
    device: Open, blog: StandIn
) -> None:
    client = device()
    fill(client)
    client.collection("Blog").push()
    with client.transaction() as transaction:
        assert transaction.remove_by_id(client.collection("Post"), "p") == 1
        assert transaction.count(client.collection("Comment")) == 0
    assert client.collection("Comment").count() == 0
    assert client.collection("Post").remove({}) == 1
    assert client.collection("Blog").count() == 1
    client.collection("Post").push()
    assert mutations(blog)[-5:-2] != []
    assert mutations(blog)[-1] == "deletePost q"
    assert mutations(blog).index("deleteComment c") < mutations(blog).index("deletePost p")
