"""Steps with a context and its store, in this process or in another one.

As a program, it takes the address of a server, a data directory, a collection and a merge policy,
and then steps as lines of JSON: the name of a method and its arguments. It ends with its input,
which ends with the process that started it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import kvstore
from kvstore.context import MergePolicy

Members = dict[str, Any]
#: The versions that were read and that is stored, and the three states.
Report = tuple[str, int | None, int | None, Members | None, Members | None, Members | None]
Decisions = dict[str, str | Members]


def plain(members: Any) -> Members | None:
    """Return members without what the backend makes."""
    if members is None:
        return None
    return {name: value for name, value in members.items() if name not in {"_acl", "_kmd"}}


class Near:
    """A context of this process. Steps return "ok", or the name of the error that they raise."""

    def __init__(self, client: kvstore.Client, collection: str, policy: MergePolicy) -> None:
        self._collection = collection
        self._store = client.collection(collection)
        self._context = client.context(merge_policy=policy)

    def values(self, id: str) -> Members | None:
        """Return what the context shows of an object."""
        try:
            return plain(self._context.object(self._collection, id).values())
        except kvstore.NotFoundError:
            return None

    def update(self, id: str, members: Members) -> str:
        """Change an object."""
        return self._try(lambda: self._context.object(self._collection, id).update(**members))

    def delete(self, id: str) -> str:
        """Delete an object."""
        return self._try(lambda: self._context.object(self._collection, id).delete())

    def insert(self, members: Members) -> str:
        """Insert an object."""
        return self._try(lambda: self._context.insert(self._collection, members))

    def refresh(self) -> str:
        """Forget everything that was read and changed."""
        return self._try(lambda: self._context.refresh(keep_changes=False))

    def save(self, decisions: Decisions | None) -> tuple[str, list[Report]]:
        """Save, and decide conflicts; return those that there were."""
        reports: list[Report] = []

        def decide(conflict: kvstore.MergeConflict) -> Any:
            reports.append(self._report(conflict))
            return (decisions or {}).get(conflict.id)

        if decisions is not None:
            return self._try(lambda: self._context.save(decide)), reports
        outcome = self._try(self._context.save)
        return outcome, [self._report(conflict) for conflict in self._context.conflicts()]

    def store_save(self, members: Members) -> str:
        """Save past the context."""
        return self._try(lambda: self._store.save(members))

    def store_remove(self, id: str) -> str:
        """Remove past the context."""
        return self._try(lambda: self._store.remove_by_id(id))

    def push(self) -> str:
        """Send what waits."""
        return self._try(self._store.push)

    def pull(self) -> str:
        """Fetch what the backend has."""
        return self._try(self._store.pull)

    def close(self) -> None:
        """Close what was opened."""
        self._context.close()
        self._store.close()

    @staticmethod
    def _report(conflict: kvstore.MergeConflict) -> Report:
        states = plain(conflict.read), plain(conflict.object), plain(conflict.stored)
        return conflict.id, conflict.read_version, conflict.stored_version, *states

    @staticmethod
    def _try(step: Any) -> str:
        try:
            step()
        except kvstore.KVError as error:
            return type(error).__name__
        return "ok"


class Far:
    """A context of another process, which has the same data directory."""

    def __init__(self, host: str, directory: Path, collection: str, policy: MergePolicy) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, host, str(directory), collection, policy],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()
        assert self._process.returncode == 0

    def __getattr__(self, name: str) -> Any:
        def step(*arguments: Any) -> Any:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps([name, *arguments]) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())

        return step


def main(host: str, directory: str, collection: str, policy: str) -> None:
    """Take steps from the input."""
    from conftest import open_client

    with open_client(host, Path(directory)) as client:
        near = Near(client, collection, cast(MergePolicy, policy))
        for line in sys.stdin:
            name, *arguments = json.loads(line)
            print(json.dumps(getattr(near, name)(*arguments)), flush=True)
        near.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
