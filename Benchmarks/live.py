"""Live data, to another process and to many polls at once; observers of local data."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from server import Session, sign_up, sign_up_as
from tools import BUILD, Row, build, free_port, output_of, scratch, serving

WRITES = 500
CHANGES = 1_000
USERS = 1_000
WARMING = 5_000
#: Seconds after which the server has surely taken what was sent to it.
SETTLING = 2
#: Bytes of a page, as the kernel counts memory.
PAGE = 4096
COLLECTION = "/appdata/kid_bench/live"


def rows() -> list[Row]:
    """All rows of this file."""
    with scratch("live") as directory:
        port = free_port()
        command = [
            *(str(BUILD / "bin" / "kvstored"), "--data", str(directory / "data")),
            *("--listen", f"127.0.0.1:{port}", "--app", "kid_bench:secret:master"),
            *("--signups-per-hour", "0", "--collections-per-hour", "0"),
            *("--max-connections-per-address", "0", "--password-length", "1"),
            *("--access-log", "off", "--log-level", "error"),
        ]
        with serving(command, port) as server:
            session = sign_up(f"http://127.0.0.1:{port}")
            # Everybody may read what is written here.
            session.request("PUT", f"{COLLECTION}/first", {"_acl": {"gr": True}})
            # As in a server that has run for a while, its log has the size that it stays at.
            for number in range(WARMING):
                session.request("POST", "/appdata/kid_bench/others", {"number": number})
            delivered, saving = across_processes(session, directory)
            polls = Polls(session, port, directory)
            many = polls.run(1_000)
            ten_thousand = polls.run(10_000, server.pid)
    return [
        *delivered,
        figure("one write to 1,000 subscribers: the last is told after", many.last, "ms"),
        figure("one write to 10,000 subscribers: the last is told after", ten_thousand.last, "ms"),
        figure(
            *("a write that 10,000 subscribers hear of", ten_thousand.written, "ms"),
            *(saving, "a write that one subscriber hears of"),
        ),
        below(
            "server's memory for an idle subscriber, 10,000 of them", ten_thousand.memory, 32, "KiB"
        ),
        *observers(),
    ]


def observers() -> list[Row]:
    """What a change costs an observer of few and of many, and what the observer costs a save."""
    program = build(
        "observe", "data.c", "raw.c", "ours.c", "observe.c", libraries=("kvstore", "sqlite3")
    )
    received: dict[tuple[int, int], tuple[float, float]] = {}
    for count, observed in ((1_000, 1), (100_000, 1), (100_000, 0)):
        with scratch("observe") as directory:
            output = output_of(program, directory, count, CHANGES, observed)
        lines = [line.split() for line in output.splitlines()]
        saves, events = ([float(line[column]) for line in lines] for column in (0, 1))
        received[count, observed] = (statistics.median(saves), statistics.median(events))
    few, many = received[1_000, 1][1], received[100_000, 1][1]
    return [
        figure("a change told to an observer of 100,000 entities", many, "us", few, "of 1,000"),
        figure(
            *("a save that an observer hears of", received[100_000, 1][0], "us"),
            *(received[100_000, 0][0], "one that nobody observes"),
        ),
    ]


def figure(
    name: str, ours: float, unit: str, baseline: float | None = None, against: str = ""
) -> Row:
    """A row without a goal."""
    ratio = round(ours / baseline, 3) if baseline else None
    return Row(
        name, round(ours, 2), baseline and round(baseline, 2), ratio, unit, "", None, against
    )


def below(name: str, ours: float, maximum: float, unit: str) -> Row:
    """A row whose goal is an upper limit."""
    return Row(
        name,
        round(ours, 2),
        None,
        None,
        unit,
        f"<= {maximum:g} {unit}",
        ours <= maximum,
        "",
    )


def across_processes(session: Session, directory: Path) -> tuple[list[Row], float]:
    """Two processes with the library: one writes, one is told. Gives the median save in ms, too."""
    program = build(
        "live", "data.c", "raw.c", "ours.c", "live.c", libraries=("kvstore", "sqlite3", "curl")
    )
    for name in ("watch", "write"):
        (directory / name).mkdir()
    token = session.token.removeprefix("Kinvey ")
    output = output_of(program, session.address, directory, token, WRITES)
    columns = zip(*(map(float, line.split()) for line in output.splitlines()), strict=True)
    gets, posts, saves, received = map(sorted, columns)
    trip, post, save, median = (times[WRITES // 2] for times in (gets, posts, saves, received))
    against = "a plain GET on a kept connection"
    title = "from a write to its delivery in another process"
    rows = [
        Row(
            *(f"{title}, median", round(median), round(trip), round(median / trip, 2), "us"),
            *("ratio <= 3", median <= 3 * trip, against),
        ),
        figure(f"{title}, 99 of 100", received[WRITES * 99 // 100], "us", trip, against),
        figure("of which the save itself, median", save, "us", trip, against),
        figure(
            f"{title}, median, once more", median, "us", post, "a plain POST of the same entity"
        ),
    ]
    return rows, save / 1000


@dataclass(frozen=True)
class Received:
    """Milliseconds, and KiB for each poll."""

    written: float
    last: float
    memory: float


class Polls:
    """Long polls of many users on a collection that all may read."""

    def __init__(self, session: Session, port: int, directory: Path) -> None:
        """Signs the users up and lets them listen."""
        self.session, self.port, self.directory = session, port, directory
        self.program = build("polls", "data.c", "raw.c", "polls.c", libraries=("sqlite3",))
        with ThreadPoolExecutor(4) as pool:
            self.users = list(pool.map(self._listen, range(USERS)))

    def _listen(self, number: int) -> str:
        """The path of a user's polls, without the position from which they go on."""
        session, id_ = sign_up_as(self.session.address, f"listener {number}")
        device = {"deviceId": "bench"}
        registered = json.loads(
            session.request("POST", f"/user/kid_bench/{id_}/register-realtime", device)
        )
        session.request("POST", f"{COLLECTION}/_subscribe", device)
        token = session.token.removeprefix("Kinvey ")
        return (
            f"/v2/subscribe/{registered['subscribeKey']}/,/0?auth={token}"
            f"&channel-group={registered['userChannelGroup']}"
        )

    def run(self, count: int, server: int | None = None) -> Received:
        """Lets so many polls wait, and writes once. `server`: whose memory is looked at."""
        first = json.loads(self.session.request("GET", f"{self.users[0]}&tt=0"))["t"]
        paths, write = self.directory / "polls.paths", self.directory / "polls.request"
        since = f"&tt={first['t']}&tr={first['r']}"
        paths.write_text("".join(f"{self.users[n % USERS]}{since}\n" for n in range(count)))
        body = '{"_acl":{"gr":true},"name":"to all"}'
        write.write_text(
            f"PUT {COLLECTION}/all HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
            f"Authorization: {self.session.token}\r\nX-Kinvey-API-Version: 5\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        )
        before = resident(server) if server else 0.0
        words = [str(self.program), str(self.port), str(paths), str(write)]
        with subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as polls:
            assert polls.stdin is not None and polls.stdout is not None
            if polls.stdout.readline() != "waiting\n":
                raise RuntimeError("the polls ended")
            time.sleep(SETTLING)
            memory = (resident(server) - before) / count if server else 0.0
            written, _, last = polls.communicate("go\n")[0].split()
        return Received(float(written) / 1000, float(last) / 1000, memory)


def resident(process: int) -> float:
    """KiB of a process in memory."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE / 1024
