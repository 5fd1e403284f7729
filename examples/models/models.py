"""The models of schema.graphql. Made by `python -m kvstore.codegen`: change the schema."""

# The names are those of the schema.
# ruff: noqa: N815

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar
from uuid import uuid4

from kvstore import Client, F, Store


class PostStatus(StrEnum):
    """A value of the schema."""

    ACTIVE = "ACTIVE"
    INACTIVE = "INACTIVE"


class PostKeys:
    """The fields of Post, to compare."""

    id = F["id"]
    title = F["title"]
    rating = F["rating"]
    status = F["status"]
    tags = F["tags"]


@dataclass(frozen=True, kw_only=True)
class Post:
    """A record of Post, without what the backend adds to it."""

    keys: ClassVar[PostKeys] = PostKeys()

    id: str = field(default_factory=lambda: str(uuid4()), metadata={"alias": "id"})
    title: str
    rating: int = 3
    status: PostStatus
    tags: list[str] | None = None

    @classmethod
    def store(cls, client: Client) -> Store[Post]:
        """Open the collection."""
        return client.collection("Post", model=cls)

    def copy(self, **changes: Any) -> Post:
        """Return the same record with other values."""
        return replace(self, **changes)

    def comments(self, client: Client) -> Sequence[Comment]:
        """Return the records that lead here, which are read as they are used."""
        return Comment.store(client).results(Comment.keys.postID == self.id)

    def editors(self, client: Client) -> Sequence[PostEditor]:
        """Return the records that lead here, which are read as they are used."""
        return PostEditor.store(client).results(PostEditor.keys.postID == self.id)


class CommentKeys:
    """The fields of Comment, to compare."""

    id = F["id"]
    postID = F["postID"]
    content = F["content"]


@dataclass(frozen=True, kw_only=True)
class Comment:
    """A record of Comment, without what the backend adds to it."""

    keys: ClassVar[CommentKeys] = CommentKeys()

    id: str = field(default_factory=lambda: str(uuid4()), metadata={"alias": "id"})
    postID: str
    content: str

    @classmethod
    def store(cls, client: Client) -> Store[Comment]:
        """Open the collection."""
        return client.collection("Comment", model=cls)

    def copy(self, **changes: Any) -> Comment:
        """Return the same record with other values."""
        return replace(self, **changes)

    def post(self, client: Client) -> Post | None:
        """Return the record that this leads to."""
        return next(iter(Post.store(client).results(Post.keys.id == self.postID)), None)


class UserKeys:
    """The fields of User, to compare."""

    id = F["id"]
    username = F["username"]


@dataclass(frozen=True, kw_only=True)
class User:
    """A record of User, without what the backend adds to it."""

    keys: ClassVar[UserKeys] = UserKeys()

    id: str = field(default_factory=lambda: str(uuid4()), metadata={"alias": "id"})
    username: str

    @classmethod
    def store(cls, client: Client) -> Store[User]:
        """Open the collection."""
        return client.collection("User", model=cls)

    def copy(self, **changes: Any) -> User:
        """Return the same record with other values."""
        return replace(self, **changes)

    def posts(self, client: Client) -> Sequence[PostEditor]:
        """Return the records that lead here, which are read as they are used."""
        return PostEditor.store(client).results(PostEditor.keys.editorID == self.id)


class PostEditorKeys:
    """The fields of PostEditor, to compare."""

    id = F["id"]
    postID = F["postID"]
    editorID = F["editorID"]


@dataclass(frozen=True, kw_only=True)
class PostEditor:
    """A record of PostEditor, without what the backend adds to it."""

    keys: ClassVar[PostEditorKeys] = PostEditorKeys()

    id: str = field(default_factory=lambda: str(uuid4()), metadata={"alias": "id"})
    postID: str
    editorID: str

    @classmethod
    def store(cls, client: Client) -> Store[PostEditor]:
        """Open the collection."""
        return client.collection("PostEditor", model=cls)

    def copy(self, **changes: Any) -> PostEditor:
        """Return the same record with other values."""
        return replace(self, **changes)

    def post(self, client: Client) -> Post | None:
        """Return the record that this leads to."""
        return next(iter(Post.store(client).results(Post.keys.id == self.postID)), None)

    def editor(self, client: Client) -> User | None:
        """Return the record that this leads to."""
        return next(iter(User.store(client).results(User.keys.id == self.editorID)), None)
