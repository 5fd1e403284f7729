"""Kills clients and the server again and again, over a proxy that harms connections.

Several client processes work on a real kvstored.

    faults.py [SECONDS] [REPORT]

Some processes share a data directory, some push by themselves, some are synchronised in the
background with an expression that changes, some fork. All of them count with a network store
besides, and increase the same counters offline, by operators that are queued. Clients and the
server are killed at any moment, between a save and its push too, and started again. At the end the
network heals and everybody synchronises. Then: what was acknowledged is there (lost), each entity
was made once and each increase carried out once (doubled), no queue has anything left (wedged), and
all hold the same (divergent).

The moments come from a seed, which is printed; TORTURE_SEED repeats them as far as processes can
be made to. REPORT names a file for what came of it, as JSON. TORTURE_KEEP names a directory that
takes the data of a run that finds something, what the workers said, and the findings.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

# First: it finds the binding and the server.
from torture import APP_KEY, APP_SECRET, KEY_OPTION, check_hidden, check_integrity

# isort: split
import kvstore
from kvstored import Server
from proxy import FaultyProxy


@dataclass(frozen=True)
class Backend:
    """How clients reach what they work on, and what their entities are called."""

    #: The options of a client, by the address.
    options: Callable[[str], dict[str, Any]]
    collection: str
    #: The member that has the ids.
    key: str
    has_accounts: bool
    #: How many counters all increase; 0: repeated operators cannot be told from those of others.
    shared: int
    #: The path that says whether it works; None: it does as soon as it has started.
    health: str | None = None
    #: Whether it may go back to an older copy of its data.
    goes_back: bool = False


KINVEY = Backend(
    lambda host: {"app_key": APP_KEY, "app_secret": APP_SECRET, "host": host},
    collection="things",
    key="_id",
    has_accounts=True,
    shared=3,
    health="/healthz",
)

#: For each process the data directory that it works in, whether it pushes by itself, and the type
#: of its store.
PROCESSES = [
    ("a", False, "sync"),
    ("a", True, "sync"),
    ("b", True, "sync"),
    ("c", False, "sync"),
    ("d", True, "synced"),
]


@dataclass
class Report:
    """The result of a run."""

    seconds: float = 0
    seed: int = 0
    kills: dict[str, int] = field(default_factory=lambda: {"client": 0, "server": 0})
    faults: dict[str, int] = field(default_factory=dict)
    #: Calls that failed because of the network.
    weather: int = 0
    acknowledged: int = 0
    entities: int = 0
    #: How often the counters that all increase were increased, as far as that was acknowledged.
    increases: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wedged: list[str] = field(default_factory=list)
    divergent: list[str] = field(default_factory=list)
    #: What should not have happened at all, such as a worker that ended by itself.
    other: list[str] = field(default_factory=list)

    @property
    def findings(self) -> list[str]:
        """List the findings of all checks."""
        return [*self.lost, *self.doubled, *self.wedged, *self.divergent, *self.other]


class Ledger:
    """What workers were told. Any thread may add to it."""

    def __init__(self) -> None:
        """Begin without results."""
        self.acknowledged: dict[str, int] = {}
        #: The latest version that was tried; None: a removal was.
        self.tried: dict[str, int | None] = {}
        self.removed: set[str] = set()
        #: How often each counter was increased at least, and at the most.
        self.counted: dict[str, tuple[int, int]] = {}
        self.weather = 0
        #: What was read, each line with the time at which it came.
        self.lines: list[str] = []
        self._lock = threading.Lock()

    def read(self, line: str) -> None:
        """Take a line of a worker."""
        with self._lock:
            self.lines.append(f"{time.time():.3f} {line}")
            self._read(line)

    def _read(self, line: str) -> None:
        match line.split():
            case ["saved", id_, version]:
                self.acknowledged[id_] = int(version)
                self.tried[id_] = int(version)
            case ["trying", id_, version]:
                self.tried[id_] = int(version)
            case ["removing", id_]:
                self.tried[id_] = None
            case ["removed", id_]:
                self.removed.add(id_)
            case ["counter", id_]:
                self.counted[id_] = (0, 0)
            case ["counting", id_]:
                least, most = self.counted[id_]
                self.counted[id_] = (least, most + 1)
            case ["counted", id_, count]:
                least, most = self.counted[id_]
                self.counted[id_] = (least + int(count), most - 1 + int(count))
            case ["weather", _]:
                self.weather += 1
            case _:
                raise ValueError(f"a worker said {line!r}")

    def complaint(self, id_: str, found: dict[str, Any] | None, *, goes_back: bool) -> str | None:
        """Tell what is wrong with an entity at the end; None if nothing is."""
        if id_ in self.removed:
            return f"{id_} was removed and is there" if found and not goes_back else None
        tried, least = self.tried[id_], self.acknowledged[id_]
        if found is None:
            return f"{id_} was saved and is not there" if tried is not None else None
        if found["version"] < least:
            return f"{id_} has version {found['version']}, not {least}"
        return None

    def counting_complaint(
        self, id_: str, found: dict[str, Any] | None, *, goes_back: bool
    ) -> str | None:
        """Tell what is wrong with a counter at the end; None if nothing is."""
        least, most = self.counted[id_]
        if goes_back and (found is None or found["version"] <= most):
            # No device keeps what was done past it.
            return None
        if found is None or not least <= found["version"] <= most:
            return f"{id_} was increased {least} to {most} times and is {found}"
        return None


class Process:
    """A worker that is started again after each kill."""

    def __init__(
        self, faults: Faults, directory: str, automatic: bool, *, store_type: str, number: int
    ) -> None:
        """Prepare a worker's options; nothing runs yet."""
        self.faults = faults
        # What a synced store lets go of it cannot give back.
        self.store_type = "sync" if faults.backend.goes_back else store_type
        self.options = faults.options(directory) | {"push_automatically": automatic}
        self.number = number
        self.starts = 0
        self.process: subprocess.Popen[str] | None = None
        self.reader: threading.Thread | None = None

    def start(self) -> None:
        """Start the worker's process."""
        self.starts += 1
        name = f"{self.number}-{self.starts}"
        seed = str(self.faults.chance.randrange(1 << 30))
        worker = str(Path(__file__).with_name("worker.py"))
        self.process = subprocess.Popen(
            [
                *(sys.executable, worker, json.dumps(self.options), name, seed),
                *(self.faults.backend.collection, self.faults.backend.key, self.store_type),
                *self.faults.shared,
            ],
            # With the children that it forks.
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(sys.path)}
            | ({"TORTURE_GOES_BACK": "1"} if self.faults.backend.goes_back else {}),
        )
        self.reader = threading.Thread(target=self._read, args=(self.process,))
        self.reader.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            # The last line may have been cut by the kill.
            if line.endswith("\n"):
                self.faults.ledger.read(line)
        problem = process.stderr.read() if process.stderr else ""
        if process.wait() != -9:
            self.faults.report.other.append(f"a worker ended by itself: {problem[-2000:]}")

    def kill(self) -> None:
        """Kill it, and hear what it said last."""
        if self.process is not None and self.reader is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.reader.join()


class Service(Protocol):
    """What clients work on: one server, or a cluster."""

    @property
    def host(self) -> str:
        """The address for a client."""

    def kill(self) -> None:
        """Let it fail."""

    def start(self) -> None:
        """Mend it."""


class Faults:
    """The server, the proxy and the processes."""

    def __init__(self, directory: Path, seed: int, server: Service, backend: Backend) -> None:
        """Start everything but the workers."""
        self.directory = directory
        self.backend = backend
        self.chance = random.Random(seed)
        self.report = Report(seed=seed)
        self.ledger = Ledger()
        self.server = server
        self.proxy = FaultyProxy(int(self.server.host.rpartition(":")[2]), random.Random(seed + 1))
        for name in self.devices if backend.has_accounts else []:
            with kvstore.Client(**self.options(name) | {"host": self.server.host}) as client:
                client.signup(name, "a password")
        self.shared = self.make_shared()
        self.processes = [
            Process(self, name, automatic, store_type=store_type, number=number)
            for number, (name, automatic, store_type) in enumerate(PROCESSES)
        ]

    def make_shared(self) -> list[str]:
        """Make the counters that all increase; give their ids."""
        names = [f"shared-{number}" for number in range(self.backend.shared)]
        if names:
            options = self.options(self.devices[0]) | {"host": self.server.host}
            with kvstore.Client(**options) as client:
                for name in names:
                    client.collection(self.backend.collection, "network").save(
                        {"_id": name, "name": name, "version": 0, "_acl": {"gr": True, "gw": True}}
                    )
                    self.ledger.counted[name] = (0, 0)
        return names

    @property
    def devices(self) -> list[str]:
        """The data directories."""
        return sorted({name for name, _, _ in PROCESSES})

    def options(self, name: str) -> dict[str, Any]:
        """Give the options of a client."""
        return self.backend.options(self.proxy.host) | {
            "data_directory": str(self.directory / name),
            "retries": 2,
            "timeout": 10,
            "on_backend_reset": "keep" if name == "b" else "resend",
            **KEY_OPTION,
        }

    def run(self, seconds: float) -> None:
        """Let everybody work and die for so long; then look."""
        begin = time.monotonic()
        for process in self.processes:
            process.start()
        while time.monotonic() - begin < seconds:
            time.sleep(self.chance.uniform(0.2, 1.2))
            if self.chance.random() < 0.15:
                self.server.kill()
                self.report.kills["server"] += 1
                time.sleep(self.chance.uniform(0, 0.5))
                self.server.start()
            else:
                process = self.chance.choice(self.processes)
                process.kill()
                self.report.kills["client"] += 1
                process.start()
        for process in self.processes:
            process.kill()
        self.report.seconds = round(time.monotonic() - begin, 1)
        self.proxy.heal()
        self.wait_for_health()
        self.look()

    def wait_for_health(self) -> None:
        """Wait until clients are served again: what was mended last may still be starting."""
        if self.backend.health is None:
            return
        end = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(self.server.host + self.backend.health).close()
                return
            except OSError:
                if time.monotonic() > end:
                    raise
            time.sleep(0.05)

    def look(self) -> None:
        """Synchronise everybody, and compare."""
        (held, listed), key = self.held(), self.backend.key
        goes_back = self.backend.goes_back
        with kvstore.Client(**self.options("reader")) as client:
            if self.backend.has_accounts:
                client.signup("reader", "a password")
            reader = client.collection(self.backend.collection)
            reader.pull(auto_pagination=True)
            server = {entity[key]: entity for entity in reader.find()}
        for name, mine in held.items():
            for id_ in set(server) | set(mine):
                if server.get(id_) != mine.get(id_) and id_ not in listed[name]:
                    self.report.divergent.append(
                        f"{id_} is {mine.get(id_)} at {name}, {server.get(id_)} on the server"[:500]
                    )
        for id_ in set(self.ledger.acknowledged).difference(*listed.values()):
            found = server.get(id_)
            if complaint := self.ledger.complaint(id_, found, goes_back=goes_back):
                self.report.lost.append(complaint)
        for id_ in self.ledger.counted:
            found = server.get(id_)
            if complaint := self.ledger.counting_complaint(id_, found, goes_back=goes_back):
                self.report.doubled.append(complaint)
        names = Counter(entity["name"] for entity in server.values())
        self.report.doubled += [name for name, count in names.items() if count > 1]
        self.report.acknowledged = len(self.ledger.acknowledged)
        self.report.entities = len(server)
        self.report.increases = sum(self.ledger.counted[id_][0] for id_ in self.shared)
        self.report.weather = self.ledger.weather
        self.report.faults = dict(self.proxy.faults)
        for file in self.directory.rglob("*.kvs"):
            check_integrity(file)
        for name in self.devices:
            check_hidden(self.directory / name, b'"version":')

    def held(self) -> tuple[dict[str, dict[str, Any]], dict[str, set[str]]]:
        """Synchronise everybody twice; what one pushes last, others pull the second time.

        Give what each device has, and the ids of what it lists because the backend went back. That
        is found by a read, sent by the next push, and read by the others: it takes more rounds.
        """
        held: dict[str, dict[str, Any]] = {}
        listed: dict[str, set[str]] = {}
        for turn in range(6 if self.backend.goes_back else 2):
            for name in self.devices:
                with kvstore.Client(**self.options(name)) as client:
                    things = client.collection(self.backend.collection)
                    result = things.sync(auto_pagination=True, timeout=60)
                    pending = list(things.pending)
                    if not self.backend.goes_back:
                        if result.errors or pending:
                            self.report.wedged.append(f"{name}: {result.errors[:3]}")
                    elif turn > 3 and (
                        waiting := [write for write in pending if write.state == "waiting"]
                    ):
                        self.report.wedged.append(f"{name}: {waiting[:3]}, {result.errors[:3]}")
                    listed[name] = {write.id for write in pending}
                    held[name] = {entity[self.backend.key]: entity for entity in things.find()}
        return held, listed

    def keep(self, directory: Path) -> None:
        """Copy the data, what workers said, and the findings."""
        shutil.copytree(self.directory, directory)
        (directory / "ledger").write_text("".join(self.ledger.lines))
        (directory / "findings").write_text("\n".join(self.report.findings) + "\n")

    def close(self) -> None:
        """End the server and the workers that still run."""
        for process in self.processes:
            process.kill()
        self.proxy.close()


@contextmanager
def one_server(directory: Path, _: random.Random) -> Iterator[Service]:
    """Give a server of its own."""
    with Server(directory / "server", f"{APP_KEY}:{APP_SECRET}") as server:
        yield server


def main(
    arguments: list[str],
    serving: Callable[[Path, random.Random], AbstractContextManager[Service]] = one_server,
    backend: Backend = KINVEY,
) -> int:
    """Give 0 if nothing is wrong. `serving`: what the clients work on."""
    seconds = float(arguments[0]) if arguments else 60
    seed = int(os.environ.get("TORTURE_SEED", time.time_ns() % 1_000_000))
    print(f"TORTURE_SEED={seed}", flush=True)
    with (
        tempfile.TemporaryDirectory(prefix="kvstore-faults-") as directory,
        serving(Path(directory), random.Random(seed + 2)) as server,
    ):
        faults = Faults(Path(directory), seed, server, backend)
        try:
            faults.run(seconds)
        finally:
            faults.close()
        report = faults.report
        if report.findings and (kept := os.environ.get("TORTURE_KEEP")):
            faults.keep(Path(kept) / str(seed))
    if len(arguments) > 1:
        Path(arguments[1]).write_text(json.dumps(asdict(report), indent=2) + "\n")
    print(
        f"{report.seconds} s, kills {report.kills}, faults {report.faults}, {report.weather} calls"
        f" failed, {report.acknowledged} acknowledged, {report.increases} increases of shared"
        f" counters, {report.entities} entities on the server"
    )
    for finding in report.findings[:20]:
        print(f"not ok: {finding}")
    print(f"{len(report.findings)} failed, {report.acknowledged} passed")
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
