"""Models of a GraphQL schema as the collections of a local database."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import kvstore
from kvstore import aio

SCHEMA = """
type Post @model {
  id: ID!
  title: String!
  rating: Int! @default(value: "3")
  tags: [String!]
}
type Comment @model {
  id: ID!
  postID: ID! @index(name: "byPost")
  content: String
}
type Line @model {
  order: ID! @primaryKey(sortKeyFields: ["number"])
  number: Int!
}
"""


def _open(directory: Path, schema: str = SCHEMA) -> kvstore.Client:
    return kvstore.Client(app_key="kid", schema=schema, data_directory=directory)


def test_records_are_of_their_models(tmp_path: Path) -> None:
    with _open(tmp_path) as client:
        posts = client.collection("Post")
        saved = posts.save({"title": "a"})
        assert (saved["title"], saved["rating"]) == ("a", 3)
        assert posts[saved["id"]] == saved
        with pytest.raises(kvstore.InvalidError, match=r"Post\.title is required"):
            posts.save({"rating": 1})
        with pytest.raises(kvstore.InvalidError, match=r"Post\.tags") as raised:
            posts.save_many([{"title": "b"}, {"title": "c", "tags": [7]}])
        assert raised.value.index == 1
        posts.update({}, {"$inc": {"rating": 1}})
        with pytest.raises(kvstore.InvalidError, match=r"Post\.rating"):
            posts.update({}, {"$set": {"rating": "many"}})
        assert [post["rating"] for post in posts.find()] == [4]
        with pytest.raises(kvstore.InvalidError, match="no model"):
            client.collection("posts")


def test_relations_are_indexed_keys(tmp_path: Path) -> None:
    with _open(tmp_path) as client:
        comments = client.collection("Comment")
        comments.save_many({"postID": f"p{n % 7}", "content": str(n)} for n in range(70))
        assert comments.count({"postID": "p3"}) == 10
        explained = comments.explain({"postID": "p3"})
        assert (explained.access, explained.indexes) == ("index", ["byPost"])


def test_composite_keys_are_known_by_their_values(tmp_path: Path) -> None:
    with _open(tmp_path) as client:
        lines = client.collection("Line")
        lines.save({"order": "o", "number": 2})
        lines.save({"order": "o", "number": 2})
        assert list(lines.find()) == [{"order": "o", "number": 2}]
        assert lines['["o",2]'] == {"order": "o", "number": 2}
        with pytest.raises(kvstore.InvalidError, match="number"):
            lines.save({"order": "o"})


def test_a_bad_schema_tells_where(tmp_path: Path) -> None:
    with pytest.raises(kvstore.InvalidError, match="line 2, column 10"):
        _open(tmp_path, "type Post @model {\n  title: Strin\n}")


def test_a_schema_grows_in_place_and_nothing_is_ever_deleted(tmp_path: Path) -> None:
    with _open(tmp_path) as client:
        saved = client.collection("Post").save({"title": "a"})
    with pytest.raises(kvstore.ConflictError, match="Post was removed"):
        _open(tmp_path, "type Comment @model { id: ID! }")
    grown = SCHEMA.replace("tags: [String!]", "tags: [String!] day: AWSDate")
    with _open(tmp_path, grown) as client:
        posts = client.collection("Post")
        assert list(posts.find()) == [saved]
        assert posts.save({"title": "b", "day": "2026-11-22"})["day"] == "2026-11-22"
    with pytest.raises(kvstore.ConflictError, match=r"Post\.day was removed"):
        _open(tmp_path)


BLOG = """
type Post @model { id: ID!  title: String  comments: [Comment] @hasMany }
type Comment @model { id: ID!  rank: Int  post: Post @belongsTo }
"""


def test_relations_lead_to_records(tmp_path: Path) -> None:
    with _open(tmp_path, BLOG) as client:
        posts, comments = client.collection("Post"), client.collection("Comment")
        posts.save({"id": "p"})
        comments.save_many({"id": id, "rank": 1, "postCommentsId": "p"} for id in "ab")
        comments.save({"id": "c", "rank": 2, "postCommentsId": "q"})
        query = posts.related("p", "comments")
        assert sorted(found["id"] for found in comments.find(query)) == ["a", "b"]
        ranked = kvstore.Query(query & kvstore.Query({"rank": 1}), sort={"id": -1}, limit=1)
        assert [found["id"] for found in comments.find(ranked)] == ["b"]
        assert [found["id"] for found in posts.find(comments.related("a", "post"))] == ["p"]
        with pytest.raises(kvstore.InvalidError, match='no relation "author"'):
            posts.related("p", "author")
        assert posts.remove_by_id("p") == 1
        assert comments.count() == 1


def test_relations_of_the_asynchronous_client(tmp_path: Path) -> None:
    async def main() -> None:
        async with aio.Client(app_key="kid", schema=BLOG, data_directory=tmp_path) as client:
            comments = client.collection("Comment")
            await comments.save({"id": "a", "postCommentsId": "p"})
            query = await client.collection("Post").related("p", "comments")
            assert await comments.count(query) == 1

    asyncio.run(main())
