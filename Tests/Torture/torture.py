"""Kills a program that saves and pushes, again and again, and looks whether anything got lost.

    torture.py [KILLS] [REPORT]

After every kill the store is opened again: everything that was acknowledged is there as it was, the
queue is whole, and SQLite finds no damage. At the end the rest is pushed, and the server has each
entity exactly once, though many pushes ended without hearing their answer. Now and then the server
is killed as well.

The moments come from a seed, which is printed; TORTURE_SEED repeats them. With TORTURE_KEY, a key
as Base64, the data is encrypted; then no file of it may show what was saved.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "bindings" / "python" / "src")]
os.environ.setdefault("KVSTORE_LIBRARY", str(BUILD / "lib" / "libkvstore.so"))

import kvstore  # noqa: E402
from kvstored import Server  # noqa: E402

APP_KEY = "kid_torture"
APP_SECRET = "secret"
#: What the data is encrypted with; empty: it is not.
KEY = os.environ.get("TORTURE_KEY", "")
#: The option of clients that has it, by its name in Python.
KEY_OPTION: dict[str, Any] = {"encryption_key": KEY} if KEY else {}
#: What stands in each entity.
MARKER = b'"number":'
#: The longest that a victim lives after its first word, in seconds.
LIFE = 0.2
#: Every so many kills of the victim, the server is killed too.
SERVER_KILLS = 20
#: Every so many kills, all that was ever acknowledged is looked at, not only the last run's.
FULL_CHECKS = 25


class LostError(Exception):
    """Something that was acknowledged is not there."""


@dataclass
class Ledger:
    """What victims were told."""

    #: The version of each entity that was acknowledged, by id.
    versions: dict[str, int] = field(default_factory=dict)
    #: What a victim was about to remove: it may be there or not.
    removing: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)

    def read(self, line: str) -> str:
        """Takes a line of a victim; gives the id that it is about."""
        match line.split():
            case ["saved", _, id_]:
                self.versions[id_] = 1
            case ["changed", id_, version]:
                self.versions[id_] = int(version)
            case ["removing", id_]:
                self.removing.add(id_)
            case ["removed", id_]:
                self.removed.add(id_)
            case _:
                raise LostError(f"the victim said {line!r}")
        return id_


class Torture:
    """One victim after the other, on one data directory and one server."""

    def __init__(self, directory: Path, chance: random.Random) -> None:
        """Starts the server, compiles the victim and logs a user in."""
        self.directory = directory
        self.chance = chance
        self.ledger = Ledger()
        self.server = Server(directory / "server", f"{APP_KEY}:{APP_SECRET}")
        self.victim = build_victim(directory)
        with self.client() as client:
            client.signup("victim", "a password")

    def client(self) -> kvstore.Client:
        """Opens the victim's own client."""
        return kvstore.Client(
            app_key=APP_KEY,
            app_secret=APP_SECRET,
            host=self.server.host,
            data_directory=self.directory / "data",
            **KEY_OPTION,
        )

    def run(self, kills: int) -> None:
        """Kills so many victims, and looks after each."""
        for kill in range(1, kills + 1):
            touched = self.kill_one(kill, push=kill % 4 != 0)
            if kill % SERVER_KILLS == 0:
                self.server.kill()
                self.server.start()
            self.look(set(self.ledger.versions) if kill % FULL_CHECKS == 0 else touched)
        self.finish()

    def kill_one(self, run: int, *, push: bool) -> set[str]:
        """Starts a victim and kills it at some moment; gives the ids it spoke about."""
        options = {
            "appKey": APP_KEY,
            "appSecret": APP_SECRET,
            "host": self.server.host,
            "dataDirectory": str(self.directory / "data"),
            **({"encryptionKey": KEY} if KEY else {}),
        }
        words = [str(self.victim), json.dumps(options), str(run * 1_000_000)]
        with subprocess.Popen(
            [*words, "push" if push else "save"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            timer = threading.Timer(self.chance.uniform(0.002, LIFE), process.kill)
            timer.start()
            output, problem = process.communicate(timeout=60)
            timer.join()
        if process.returncode != -9:
            raise LostError(f"the victim ended by itself ({process.returncode}): {problem}")
        # The last line may have been cut; what it says was acknowledged all the same, but not told.
        return {self.ledger.read(line) for line in output.splitlines(True) if line.endswith("\n")}

    def look(self, ids: set[str]) -> None:
        """Opens the store as the next program would, and compares it with what was acknowledged."""
        with self.client() as client, client.collection("things") as things:
            for id_ in ids:
                found = things.get(id_)
                if id_ in self.ledger.removed:
                    require(found is None, f"{id_} was removed and is there: {found}")
                    continue
                if found is None and id_ in self.ledger.removing:
                    continue
                require(found is not None, f"{id_} was saved and is not there")
                wanted = self.ledger.versions[id_]
                version = found["version"] if found else 0
                require(version >= wanted, f"{id_} has version {version}, not {wanted}")
            waiting = len(things.pending)
            listed = sum(1 for _ in things.pending)
            require(waiting == listed, f"{waiting} writes are counted and {listed} listed")
        files = list((self.directory / "data").rglob("*.kvs"))
        require(len(files) > 1, "where are the files of the data and the session?")
        for file in files:
            check_integrity(file)
        check_hidden(self.directory / "data", MARKER)

    def finish(self) -> None:
        """Pushes what is left, and compares the server with the store and the ledger."""
        with self.client() as client, client.collection("things") as things:
            result = things.push()
            require(not result.errors, f"the last push left {result.errors[:3]}")
            require(len(things.pending) == 0, "the queue is not empty after the last push")
            local = {entity["_id"]: entity for entity in things.find()}
            remote = list(things.find(read_policy="forceNetwork"))
        numbers = [entity["number"] for entity in remote]
        require(len(numbers) == len(set(numbers)), "a create happened twice")
        require(
            {entity["_id"] for entity in remote} == set(local),
            f"the server has {len(remote)} entities, the store {len(local)}",
        )
        for entity in remote:
            mine = local[entity["_id"]]
            require(entity["version"] == mine["version"], f"{entity} is {mine} here")
        for id_ in set(self.ledger.versions) - (self.ledger.removing - self.ledger.removed):
            require((id_ in local) != (id_ in self.ledger.removed), f"{id_} is not as acknowledged")
        print(f"ok: {len(self.ledger.versions)} acknowledged entities, {len(remote)} on the server")


def build_victim(directory: Path) -> Path:
    """Compiles victim.c."""
    program = directory / "victim"
    source = Path(__file__).with_name("victim.c")
    strict = ["-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    library = [f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib", "-lkvstore", "-lpthread"]
    command = ["gcc", *strict, f"-I{ROOT}/include", str(source), "-o", str(program), *library]
    subprocess.run(command, check=True)
    return program


def check_integrity(file: Path) -> None:
    """Checks the file with SQLite's integrity check; of encrypted data, a copy that is not."""
    with tempfile.TemporaryDirectory(prefix="kvstore-torture-") as directory:
        if KEY:
            copy = Path(directory) / file.parent.name
            shutil.copytree(file.parent, copy)
            # The name of a directory is the app key with some characters escaped.
            options: dict[str, Any] = {"app_key": unquote(file.parent.name), "host": None}
            kvstore.encrypt(None, **options, data_directory=directory, **KEY_OPTION)
            file = copy / file.name
        connection = sqlite3.connect(file)
        try:
            answer = connection.execute("PRAGMA integrity_check").fetchall()
        finally:
            connection.close()
    require(answer == [("ok",)], f"{file.name}: {answer}")


def check_hidden(directory: Path, marker: bytes) -> None:
    """Looks for a text that was saved in all files of encrypted data, byte by byte."""
    if not KEY:
        return
    for file in directory.rglob("*"):
        require(
            not file.is_file() or marker not in file.read_bytes(), f"{file} shows what is saved"
        )


def require(condition: bool, otherwise: str) -> None:
    """Raises the first finding."""
    if not condition:
        raise LostError(otherwise)


def main(arguments: list[str]) -> int:
    """Gives 0 if nothing was lost."""
    kills = int(arguments[0]) if arguments else 200
    seed = int(os.environ.get("TORTURE_SEED", time.time_ns() % 1_000_000))
    print(f"TORTURE_SEED={seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="kvstore-torture-") as directory:
        torture = Torture(Path(directory), random.Random(seed))
        try:
            torture.run(kills)
        except LostError as lost:
            print(f"not ok: {lost}\n1 failed, 0 passed")
            report(arguments, kills, seed, str(lost))
            return 1
        finally:
            torture.server.kill()
    report(arguments, kills, seed, None)
    print(f"0 failed, {kills} passed")
    return 0


def report(arguments: list[str], kills: int, seed: int, lost: str | None) -> None:
    """Write what came of it to the file that the second argument names, if there is one."""
    if len(arguments) > 1:
        found = {"kills": kills, "seed": seed, "lost": [] if lost is None else [lost]}
        Path(arguments[1]).write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
