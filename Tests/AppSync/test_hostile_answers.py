"""Answers of the API that are damaged at random: nothing crashes, and what was saved is kept.

`KV_APPSYNC_SEED` repeats a run.
"""

from __future__ import annotations

import json
import os
import random
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import kvstore
from conftest import TASKS
from devices import fill
from standin import StandIn

ROUNDS = 150
#: What a value of an answer may be replaced by.
VALUES: list[Any] = [
    None,
    True,
    -1,
    1 << 62,
    1e308,
    "",
    "\u0000",
    "x" * 5000,
    "\ud800",
    [],
    {},
    [None],
    {"id": "t0"},
    [[[[[]]]]],
]


def damaged(answer: bytes, chance: random.Random) -> bytes:
    """The answer with values replaced, dropped or doubled, or with other bytes."""
    if chance.random() < 0.3:
        at = chance.randrange(len(answer) + 1)
        noise = chance.randbytes(chance.randrange(4))
        return answer[:at] + noise + answer[at + chance.randrange(20) :]
    tree = json.loads(answer)
    for _ in range(chance.randint(1, 3)):
        _damage(tree, chance)
    return json.dumps(tree).encode()


def _damage(tree: Any, chance: random.Random) -> None:
    node = tree
    while True:
        keys: list[Any] = list(node if isinstance(node, dict) else range(len(node)))
        if not keys:
            return
        key = chance.choice(keys)
        child = node[key]
        if isinstance(child, (dict, list)) and child and chance.random() < 0.8:
            node = child
        elif chance.random() < 0.2:
            del node[key]
            return
        elif isinstance(node, list) and chance.random() < 0.3:
            node.append(child)
            return
        else:
            node[key] = chance.choice(VALUES)
            return


class Damager:
    """Passes requests on to the stand-in, and damages some of the answers."""

    def __init__(self, server: StandIn, chance: random.Random) -> None:
        self.is_hostile = True
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {
                    name: value
                    for name, value in self.headers.items()
                    if name.lower() in ("content-type", "x-api-key")
                }
                request = urllib.request.Request(server.endpoint, data=body, headers=headers)
                try:
                    with urllib.request.urlopen(request) as given:
                        answer = given.read()
                except urllib.error.HTTPError as error:
                    with error:
                        answer = error.read()
                if outer.is_hostile and chance.random() < 0.7:
                    answer = damaged(answer, chance)
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._http.server_address[1]}/graphql"

    @contextmanager
    def serving(self) -> Iterator[None]:
        thread = threading.Thread(target=self._http.serve_forever)
        thread.start()
        try:
            yield
        finally:
            self._http.shutdown()
            thread.join()
            self._http.server_close()


def test_damaged_answers_crash_nothing_and_what_was_saved_arrives(
    server: StandIn, tmp_path: Path
) -> None:
    seed = int(os.environ.get("KV_APPSYNC_SEED", random.randrange(1 << 32)))
    chance = random.Random(seed)
    fill(server, "Task", [{"id": f"t{n}", "title": "T", "tags": ["a"]} for n in range(8)])
    damager = Damager(server, chance)
    with (
        damager.serving(),
        kvstore.Client(
            app_key="tasks",
            backend="appsync",
            endpoint=damager.endpoint,
            auth={"apiKey": "da2-standin"},
            schema=TASKS,
            data_directory=tmp_path,
            retries=0,
        ) as client,
    ):
        tasks = client.collection("Task")
        mine = [tasks.save({"title": "mine", "note": "0"})["id"]]
        for number in range(ROUNDS):
            if chance.random() < 0.3:
                mine.append(tasks.save({"title": "mine", "note": str(number)})["id"])
            with suppress(kvstore.KVError):
                tasks.sync()
        damager.is_hostile = False
        # What the API seemed to refuse was set aside, and is sent again when it is asked for.
        for id in [write.id for write in tasks.pending if write.state != "waiting"]:
            tasks.pending.retry(id)
        assert tasks.sync().errors == [], f"seed {seed}"
        stored = server.control("tables/Task", "GET")["rows"]
        live = {row["id"]: row["title"] for row in stored if not row.get("_deleted")}
        assert set(mine) <= live.keys(), f"seed {seed}"
        # What the API is said to have may be wrong in any digit; but each record was made once.
        made = {row["id"] for row in stored} - {f"t{n}" for n in range(8)}
        assert made == set(mine), f"doubled: seed {seed}"
        tasks.clear()
        tasks.pull()
        assert {task["id"]: task["title"] for task in tasks.find()} == live, f"seed {seed}"
