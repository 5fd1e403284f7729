"""kvstored under wrk, against nginx that serves the same bytes from files."""

from __future__ import annotations

import base64
import json
import re
import urllib.request
from dataclasses import dataclass, replace
from pathlib import Path

from tools import BUILD, SOURCES, Row, free_port, nginx, output_of, ratio_row, scratch, serving

ROUNDS = 5
SECONDS = 3
ENTITIES = 1_000
MILLION = 1_000_000
PREFIX = "city"
PAGE_LENGTH = 100
PAGE = f"/appdata/kid_bench/cities?limit={PAGE_LENGTH}"
SCRIPT = SOURCES.parent / "requests.lua"


@dataclass(frozen=True)
class Session:
    """Where kvstored answers, and who asks."""

    address: str
    token: str

    def request(self, method: str, path: str, body: object = None) -> bytes:
        """Asks once, and gives the answer's body."""
        request = urllib.request.Request(
            f"{self.address}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": self.token,
                "Content-Type": "application/json",
                "X-Kinvey-API-Version": "5",
            },
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            data: bytes = answer.read()
            return data


@dataclass(frozen=True)
class Load:
    """What wrk asks for."""

    token: str
    prefix: str
    page: str

    def run(self, address: str, kind: str, seconds: int = SECONDS) -> tuple[int, float]:
        """Gives how many requests were answered, and how many a second; a failure is an error."""
        output = output_of(
            *("wrk", "--threads", 1, "--connections", 8, "--duration", f"{seconds}s"),
            *("--script", SCRIPT, address, "--"),
            *(kind, self.token, self.prefix, ENTITIES, self.page),
        )
        count = re.search(r"(\d+) requests in", output)
        rate = re.search(r"Requests/sec:\s*([\d.]+)", output)
        if not count or not rate or re.search(r"Non-2xx|Socket errors", output):
            raise RuntimeError(f"wrk {kind}: {output}")
        return int(count[1]), float(rate[1])


def rows() -> list[Row]:
    """All rows of this file."""
    with scratch("server") as directory:
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
            fill(session, directory)
            load = Load(session.token, PREFIX, PAGE)
            with nginx(directory, "location = /page { try_files /page.json =404; }") as static:
                result = [
                    compare("kvstored: get an entity", "get", load, session.address, static),
                    compare("kvstored: put an entity", "put", load, session.address, static),
                    compare("kvstored: a page of 100", "page", load, session.address, static),
                ]
            return [*result, memory_row(server.pid, load, session.address)]


def sign_up(address: str) -> Session:
    """A user of its own: its session is what the requests carry."""
    return sign_up_as(address, "bench")[0]


def sign_up_as(address: str, name: str) -> tuple[Session, str]:
    """The session of a new user, and its id."""
    basic = base64.b64encode(b"kid_bench:secret").decode()
    user = {"username": name, "password": name}
    answer = json.loads(Session(address, f"Basic {basic}").request("POST", "/user/kid_bench", user))
    return Session(address, f"Kinvey {answer['_kmd']['authtoken']}"), answer["_id"]


def fill(session: Session, directory: Path) -> None:
    """Puts entities into kvstored, and its answers into files for nginx."""
    files = directory / "appdata" / "kid_bench" / "cities"
    files.mkdir(parents=True)
    for number in range(ENTITIES):
        id_ = f"{PREFIX}{number:08d}"
        entity = {"_id": id_, "name": f"City {number}", "population": number, "text": "x" * 280}
        path = f"/appdata/kid_bench/cities/{id_}"
        (files / id_).write_bytes(session.request("PUT", path, entity))
    page = session.request("GET", PAGE)
    if len(json.loads(page)) != PAGE_LENGTH:
        raise RuntimeError(f"a page of {len(json.loads(page))} entities")
    (directory / "page.json").write_bytes(page)


def compare(title: str, kind: str, load: Load, address: str, static: str) -> Row:
    """Runs wrk against both in turns. nginx answers a put with the bytes that kvstored answers."""
    static_load = replace(load, page="/page")
    static_kind = "get" if kind == "put" else kind
    ours: list[float] = []
    theirs: list[float] = []
    for round_ in range(ROUNDS):
        # Each begins every other round.
        for is_ours in (round_ % 2 == 0, round_ % 2 == 1):
            if is_ours:
                ours.append(load.run(address, kind)[1])
            else:
                theirs.append(static_load.run(static, static_kind)[1])
    return ratio_row(title, "requests/s", ours, theirs, "nginx, the same bytes from a file", None)


def memory_row(process: int, load: Load, address: str) -> Row:
    """What kvstored holds after a million requests, nine gets to a put."""
    load.run(address, "mixed", seconds=1)
    early = resident_mib(process)
    answered = 0
    while answered < MILLION:
        answered += load.run(address, "mixed", seconds=10)[0]
    late = resident_mib(process)
    title = "kvstored: memory after a million requests"
    return ratio_row(title, "MiB", [late], [early], "the same process after one second", None)


def resident_mib(process: int) -> float:
    """The memory that a process has at this moment."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmRSS:\s*(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0
