"""What the differential tests share: their stores, their seed, and how answers are compared."""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bindings" / "python" / "src"), str(ROOT / "scripts")]

import kvstore  # noqa: E402
from kvstored import Server  # noqa: E402

Entity = dict[str, Any]


def shown(entities: Iterable[Entity]) -> list[str]:
    """Print entities so that 1, 1.0 and true differ, without what the server adds."""
    return [
        json.dumps({k: v for k, v in one.items() if k not in ("_acl", "_kmd")}, ensure_ascii=False)
        for one in entities
    ]


def main(
    arguments: list[str], usual: int, run: Callable[[kvstore.Client, kvstore.Client, int, str], int]
) -> int:
    """Give 0 if all cases agree.

    `run` gets a client without a backend, one of a real server, how many cases (`usual` unless the
    first argument says so) and the seed; it gives how many disagree.
    """
    count = int(arguments[0]) if arguments else usual
    seed = os.environ.get("KV_TEST_SEED") or str(random.randrange(10**9))
    print(f"KV_TEST_SEED={seed}", flush=True)
    with (
        tempfile.TemporaryDirectory() as directory,
        Server(Path(directory) / "server", "app:secret") as server,
        kvstore.Client(app_key="app", host=None, data_directory=f"{directory}/local") as local,
        kvstore.Client(
            app_key="app",
            app_secret="secret",
            host=server.host,
            data_directory=f"{directory}/online",
        ) as online,
    ):
        online.signup("differ", "a password")
        failed = run(local, online, count, seed)
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed else 0
