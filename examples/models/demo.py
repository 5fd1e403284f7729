"""``make demo-models``: typed models, offline, then on two devices with a stand-in for AppSync."""

from __future__ import annotations

import sys
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

import kvstore

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "Tests" / "AppSync")]

from blog import open_client, share_post, write_posts  # noqa: E402
from models import Comment, Post, PostEditor, PostStatus, User  # noqa: E402
from standin import Options, StandIn  # noqa: E402

KEY = "da2-standin"
SECONDS = 30.0


class Watcher:
    """Waits for what a followed collection of posts has."""

    def __init__(self, client: kvstore.Client) -> None:
        self._changed = threading.Condition()
        self._status: kvstore.FollowStatus | None = None
        self.posts = Post.store(client)
        self._observer = self.posts.observe(None, self._wake)
        self._follow = self.posts.follow(None, self._note)

    def _wake(self, _: object) -> None:
        with self._changed:
            self._changed.notify_all()

    def _note(self, status: kvstore.FollowStatus) -> None:
        self._status = status
        self._wake(status)

    def wait_for(self, title: str) -> None:
        """Wait until a post with this title has arrived."""
        found = {"title": title}
        with self._changed:
            if not self._changed.wait_for(lambda: self.posts.count(found) > 0, SECONDS):
                raise SystemExit(f"{title!r} did not arrive")

    def wait_until_live(self) -> None:
        """Wait until subscriptions tell everything."""
        with self._changed:
            live = self._changed.wait_for(
                lambda: self._status is not None and self._status.live, SECONDS
            )
        if not live:
            raise SystemExit(f"the follow is not live: {self._status}")

    def close(self) -> None:
        """End the follow."""
        self._follow.close()
        self._observer.close()


def main() -> None:
    """Show it, and fail if a step does not happen."""
    with ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        print("A local database first: the device has no backend yet.")
        offline = open_client(str(data / "laptop"))
        with offline:
            share_post(offline, write_posts(offline))
        server = stack.enter_context(StandIn(Options((HERE / "schema.graphql").read_text())))
        phone = stack.enter_context(open_client(str(data / "phone"), server.endpoint, KEY))
        watcher = Watcher(phone)
        stack.callback(watcher.close)
        watcher.wait_until_live()
        print("The phone listens. The laptop gets the backend, and sends what it wrote without.")
        laptop = stack.enter_context(open_client(str(data / "laptop"), server.endpoint, KEY))
        for model in (User, Post, Comment, PostEditor):
            print(" ", model.__name__, model.store(laptop).push().pushed)
        watcher.wait_for("My first post, updated")
        print("It arrived at the phone, by a subscription.")
        watcher.posts.save(Post(title="From the phone", status=PostStatus.ACTIVE))
        listening = Watcher(laptop)
        stack.callback(listening.close)
        listening.wait_for("From the phone")
        print("What the phone writes arrives at the laptop.")


if __name__ == "__main__":
    main()
