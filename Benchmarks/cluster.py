"""kvstored on PostgreSQL: against libpq alone, against itself on SQLite, and across replicas."""

from __future__ import annotations

import http.client
import json
import os
import resource
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import live
from server import ENTITIES, PAGE, PREFIX, Load, Session, fill, sign_up
from tools import BUILD, ROOT, Row, build, free_port, output_of, ratio_row, scratch, serving

sys.path.insert(0, str(ROOT / "scripts"))

from postgres import Postgres
from statements import SETTINGS, captured, script

ROUNDS, SECONDS, CONNECTIONS = 3, 3, 8
#: Requests whose statements are sent again by the other programs.
CAPTURED = 50
#: Where the body is in the rows of a get.
BODY = 9
CITIES, CHANGES = 234_908, 100
GROUP = {
    "key": {"kind": True},
    "initial": {"count": 0},
    "reduce": "function(doc, out) { out.count++; }",
}
COLLECTION = "/appdata/kid_bench/cities"


@dataclass(frozen=True)
class Replica:
    """A running kvstored."""

    address: str
    process: int

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def cpu(self) -> float:
        """Seconds of processors that it has used."""
        return processor_seconds(self.process)


def processor_seconds(process: int, *, with_ended_children: bool = False) -> float:
    """Seconds of processors that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    ticks = sum(int(field) for field in fields[11 : 15 if with_ended_children else 13])
    return ticks / os.sysconf("SC_CLK_TCK")


def database_seconds(database: Postgres) -> float:
    """Seconds of processors that all processes of PostgreSQL have used; waits while one ends."""
    main = int((database.data / "postmaster.pid").read_text().splitlines()[0])
    children = Path(f"/proc/{main}/task/{main}/children")
    while True:
        before = children.read_text()
        try:
            running = sum(processor_seconds(int(child)) for child in before.split())
        except FileNotFoundError:
            continue
        seconds = running + processor_seconds(main, with_ended_children=True)
        if children.read_text() == before:
            return seconds


@contextmanager
def replica(directory: Path, storage: str) -> Iterator[Replica]:
    """Runs a kvstored."""
    port = free_port()
    command = [
        *(str(BUILD / "bin" / "kvstored"), "--data", str(directory), "--storage", storage),
        *("--listen", f"127.0.0.1:{port}", "--app", "kid_bench:secret:master"),
        *("--signups-per-hour", "0", "--collections-per-hour", "0"),
        *("--max-connections-per-address", "0", "--password-length", "1"),
        *("--access-log", "off", "--log-level", "error", "--delta-days", "10"),
    ]
    with serving(command, port) as process:
        yield Replica(f"http://127.0.0.1:{port}", process.pid)


def rows() -> list[Row]:
    """All rows of this file."""
    with scratch("cluster") as directory, ExitStack() as stack:
        database = stack.enter_context(Postgres(settings=SETTINGS))
        a = stack.enter_context(replica(directory / "a", database.address))
        b = stack.enter_context(replica(directory / "b", database.address))
        alone = stack.enter_context(replica(directory / "alone", "sqlite"))
        session = sign_up(a.address)
        own = sign_up(alone.address)
        fill(session, directory / "files")
        fill(own, directory / "own-files")
        load, own_load = (Load(one.token, PREFIX, PAGE) for one in (session, own))
        return [
            *by_hand(database, a, session, load, directory),
            *least(database, a, load, directory / "get.statements"),
            *processors(a, alone, load, own_load),
            across(session, b),
            *idle_polls(session, a, directory),
            *deltas(session),
        ]


def by_hand(
    database: Postgres, server: Replica, session: Session, load: Load, directory: Path
) -> list[Row]:
    """The same statements by libpq alone, in turns."""
    program = libpq_alone()
    result = []
    for title, kind, request in requests(session):

        def send(request: Callable[[int], object] = request) -> None:
            for number in range(CAPTURED):
                request(number)

        file = directory / f"{kind}.statements"
        file.write_text(script(captured(database, send)))
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(load.run(server.address, kind, SECONDS)[1])
            command = (program, database.address, SECONDS, CONNECTIONS, file)
            theirs.append(float(output_of(*command)))
        against = "libpq alone, the same statements"
        result.append(ratio_row(f"PostgreSQL: {title}", "requests/s", ours, theirs, against, 0.6))
    return result


def libpq_alone() -> Path:
    """The program that sends statements again."""
    sources = ("data.c", "raw.c", "statements.c", "cluster.c")
    return build("cluster", *sources, libraries=("pq", "sqlite3"))


def least(database: Postgres, server: Replica, load: Load, file: Path) -> list[Row]:
    """A get by libpq alone, with nothing but HTTP in front of it, and by a replica, in turns."""
    alone = libpq_alone()
    gateway = build("gateway", "statements.c", "gateway.c", libraries=("microhttpd", "pq"))
    port = free_port()
    command = [str(gateway), database.address, str(port), str(file), str(BODY)]
    rates: list[tuple[float, float, float]] = []
    costs: list[tuple[float, float, float]] = []
    with serving(command, port) as process:
        by_gateway = Replica(f"http://127.0.0.1:{port}", process.pid)
        for _ in range(ROUNDS):
            before = database_seconds(database) + ended_seconds()
            rate = float(output_of(alone, database.address, SECONDS, CONNECTIONS, file))
            used = database_seconds(database) + ended_seconds() - before
            theirs = used / (rate * SECONDS) * 1e6
            reached, minimum = whole_cost(database, by_gateway, load)
            own, cost = whole_cost(database, server, load)
            rates.append((own, reached, rate))
            costs.append((cost, minimum, theirs))
    against, by_hand = "libpq alone, the same statements", "HTTP and libpq by hand"
    get = "PostgreSQL: get an entity"
    ours, minima, baseline = ([one[n] for one in rates] for n in range(3))
    result = [
        ratio_row(f"{get}, {by_hand}", "requests/s", minima, baseline, against, None),
        ratio_row(f"{get}, in turns with that", "requests/s", ours, minima, by_hand, None),
    ]
    ours, minima, baseline = ([one[n] for one in costs] for n in range(3))
    what = f"{get}, processor time with PostgreSQL's"
    return [
        *result,
        ratio_row(what, "us", ours, baseline, against, None),
        ratio_row(f"{what}, {by_hand}", "us", minima, baseline, against, None),
    ]


def ended_seconds() -> float:
    """Seconds of processors that the programs have used that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def whole_cost(database: Postgres, server: Replica, load: Load) -> tuple[float, float]:
    """Gets a second, and microseconds of processors for one: the server's and PostgreSQL's."""
    before = server.cpu() + database_seconds(database)
    count, rate = load.run(server.address, "get", SECONDS)
    return rate, (server.cpu() + database_seconds(database) - before) / count * 1e6


def requests(session: Session) -> list[tuple[str, str, Callable[[int], object]]]:
    """What is measured: its title, its kind for wrk, and how to ask for it once."""

    def path(number: int) -> str:
        return f"{COLLECTION}/{PREFIX}{number * 7 % ENTITIES:08d}"

    def body(number: int) -> dict[str, object]:
        return {"name": "City", "population": number, "text": "x" * 280}

    return [
        ("get an entity", "get", lambda number: session.request("GET", path(number))),
        (
            "put an entity",
            "put",
            lambda number: session.request("PUT", path(number), body(number)),
        ),
        ("a page of 100", "page", lambda _: session.request("GET", PAGE)),
        (
            f"group {ENTITIES:,} entities",
            "group",
            lambda _: session.request("POST", f"{COLLECTION}/_group", GROUP),
        ),
    ]


def processors(a: Replica, alone: Replica, load: Load, own_load: Load) -> list[Row]:
    """What a request costs the server's processors, on PostgreSQL and on SQLite."""
    result = []
    for title, kind in (("get an entity", "get"), ("put an entity", "put")):
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(ROUNDS):
            ours.append(cost_of(a, load, kind))
            theirs.append(cost_of(alone, own_load, kind))
        name = f"PostgreSQL: processor time of the replica, {title}"
        result.append(at_most(name, ours, theirs, "us", 1.5, "the same with SQLite"))
    return result


def cost_of(server: Replica, load: Load, kind: str) -> float:
    """Microseconds of processors for a request."""
    before = server.cpu()
    count = load.run(server.address, kind, SECONDS)[0]
    return (server.cpu() - before) / count * 1e6


def at_most(
    name: str,
    ours: list[float],
    baseline: list[float],
    unit: str,
    limit: float,
    against: str,
) -> Row:
    """A row whose goal is an upper limit of the ratio."""
    row = ratio_row(name, unit, ours, baseline, against, None)
    met = row.ratio is not None and row.ratio <= limit
    return replace(row, goal=f"ratio <= {limit:g}", met=met)


def across(session: Session, other: Replica, writes: int = 200) -> Row:
    """From a write on one replica to its delivery by another one."""
    there = replace(session, address=other.address)
    user = json.loads(session.request("GET", "/user/kid_bench/_me"))["_id"]
    device = {"deviceId": "bench"}
    keys = json.loads(session.request("POST", f"/user/kid_bench/{user}/register-realtime", device))
    session.request("POST", "/appdata/kid_bench/notes/_subscribe", device)
    path = (
        f"/v2/subscribe/{keys['subscribeKey']}/,/0?auth={quote(session.token.split()[1])}"
        f"&channel-group={quote(keys['userChannelGroup'])}"
    )
    position = json.loads(there.request("GET", f"{path}&tt=0"))["t"]
    received: list[float] = []
    arrived = threading.Semaphore(0)

    def listen() -> None:
        at = position
        connection = http.client.HTTPConnection("127.0.0.1", other.port)
        while len(received) < writes:
            connection.request("GET", f"{path}&tt={at['t']}&tr={at['r']}")
            answer = json.loads(connection.getresponse().read())
            at = answer["t"]
            for _ in answer["m"]:
                received.append(time.perf_counter())
                arrived.release()

    listener = threading.Thread(target=listen)
    listener.start()
    kept = http.client.HTTPConnection(session.address.partition("//")[2])
    headers = {"Authorization": session.token, "Content-Type": "application/json"}
    begins, commits, gets = [], [], []
    for number in range(writes):
        begins.append(time.perf_counter())
        kept.request("PUT", f"/appdata/kid_bench/notes/{number}", "{}", headers)
        kept.getresponse().read()
        commits.append(time.perf_counter() - begins[-1])
        arrived.acquire()
        begin = time.perf_counter()
        kept.request("GET", f"/appdata/kid_bench/notes/{number}", None, headers)
        kept.getresponse().read()
        gets.append(time.perf_counter() - begin)
    listener.join()
    delays = [(end - begin) * 1000 for begin, end in zip(begins, received, strict=True)]
    trip = (statistics.median(commits) + statistics.median(gets)) * 1000
    title = "PostgreSQL: from a write on one replica to its delivery by another, median"
    return at_most(title, delays, [trip], "ms", 3, "the commit and a GET")


def idle_polls(session: Session, server: Replica, directory: Path) -> list[Row]:
    """What polls that wait take of a replica's memory."""
    session.request("PUT", f"{live.COLLECTION}/first", {"_acl": {"gr": True}})
    polls = live.Polls(session, server.port, directory)
    polls.run(1_000)
    memory = polls.run(10_000, server.process).memory
    title = "PostgreSQL: a replica's memory for an idle poll, 10,000 of them"
    return [live.below(title, memory, 32, "KiB")]


def deltas(session: Session) -> list[Row]:
    """A few changes in a large collection, against all of it."""
    path = "/appdata/kid_bench/many"
    for first in range(0, CITIES, 100):
        some = range(first, min(first + 100, CITIES))
        session.request("POST", path, [{"_id": f"c{n:08d}", "text": "x" * 280} for n in some])
    since = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 1))
    time.sleep(2)
    for number in range(CHANGES):
        session.request("PUT", f"{path}/c{number * 2000:08d}", {"text": "changed"})
    delta, full = [], []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        answer = json.loads(session.request("GET", f"{path}/_deltaset?since={since}"))
        delta.append((time.perf_counter() - begin) * 1000)
        if len(answer["changed"]) != CHANGES:
            raise RuntimeError(f"{len(answer['changed'])} changes")
        begin = time.perf_counter()
        # As clients read it: in pages.
        for skip in range(0, CITIES, 10_000):
            session.request("GET", f"{path}?limit=10000&skip={skip}")
        full.append((time.perf_counter() - begin) * 1000)
    title = f"PostgreSQL: a delta of {CHANGES} in {CITIES:,} entities"
    return [at_most(title, delta, full, "ms", 0.01, "all of them, in pages of 10,000")]
