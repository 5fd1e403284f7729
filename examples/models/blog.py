"""The guide's programs over typed models: posts with comments, and posts that users edit.

python examples/models/blog.py DIRECTORY [ENDPOINT API_KEY]

Without an endpoint the models are a local database.
"""

from __future__ import annotations

import sys
from pathlib import Path

import kvstore
from models import Comment, Post, PostEditor, PostStatus, User

SCHEMA = (Path(__file__).resolve().parent / "schema.graphql").read_text()


def open_client(directory: str, endpoint: str | None = None, key: str = "") -> kvstore.Client:
    """Open the models, with the backend if there is one."""
    if endpoint is None:
        return kvstore.Client(app_key="blog", schema=SCHEMA, data_directory=directory)
    return kvstore.Client(
        app_key="blog",
        schema=SCHEMA,
        data_directory=directory,
        backend="appsync",
        endpoint=endpoint,
        auth={"apiKey": key},
    )


def write_posts(client: kvstore.Client) -> Post:
    """Save posts and comments, change one, and find them by predicates and relations."""
    posts, comments = Post.store(client), Comment.store(client)
    post = posts.save(Post(title="My first post", rating=10, status=PostStatus.ACTIVE))
    posts.save(Post(title="A draft", status=PostStatus.INACTIVE))
    post = posts.save(post.copy(title="My first post, updated"))
    comments.save(Comment(postID=post.id, content="Wow!"))
    comments.save(Comment(postID=post.id, content="Really?"))
    p = Post.keys
    found = posts.find((p.rating > 4) & (p.status == PostStatus.ACTIVE))
    print("rated above 4:", [each.title for each in found])
    about = post.comments(client)
    print("comments:", len(about), sorted(each.content for each in about))
    return post


def share_post(client: kvstore.Client, post: Post) -> None:
    """Let two users edit a post, and follow the relation both ways."""
    for name in ("ann", "ben"):
        user = User.store(client).save(User(username=name))
        PostEditor.store(client).save(PostEditor(postID=post.id, editorID=user.id))
    editors = [edit.editor(client) for edit in post.editors(client)]
    print("editors:", sorted(user.username for user in editors if user is not None))


def main() -> None:
    """Run both programs, and push what they wrote."""
    directory, *backend = sys.argv[1:]
    with open_client(directory, *backend) as client:
        share_post(client, write_posts(client))
        if backend:
            for model in (User, Post, Comment, PostEditor):
                result = model.store(client).push()
                print("pushed", result.pushed, model.__name__, result.errors)


if __name__ == "__main__":
    main()
