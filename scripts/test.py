"""Runs the tests of every language, two sections at a time, and stops at the first that fails.

    scripts/test.py                 all but what is long, as `make test` does
    scripts/test.py swift python    these sections only
    scripts/test.py --list          what sections there are

`make lib` must have run. The output of each section goes to build/test-logs; it is shown when the
section fails. JOBS=1 in the environment runs one section at a time; so does V=1, which also shows
the output while it comes.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "test-logs"

# How the tools tell what ran: "passed" or "all", and "failed" where the tool counts them apart.
COUNTS = [
    re.compile(r"Test run with (?P<all>\d+) tests? .*?passed"),  # swift test
    re.compile(r"Test run with (?P<all>\d+) tests? .*?failed .*?with (?P<failed>\d+) issue"),
    re.compile(
        r"^(?:=+ )?(?:(?P<failed>\d+) failed, )?(?P<passed>\d+) passed", re.MULTILINE
    ),  # pytest, ours
]
# What the tools put into a line about something that failed.
FAILURE = re.compile(
    r"✘|\brecorded an issue\b|^\s*(--- FAIL|FAILED|E  )|\b(error|warning|ERROR):|Sanitizer:"
)
# How many lines of each kind are shown of a failed command, and how much of each line.
TAIL, LINE_LIMIT = 200, 600
GO_PASSED = re.compile(r"^--- PASS: ", re.MULTILINE)
GO_FAILED = re.compile(r"^--- FAIL: ", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """A group of commands that stand or fall together."""

    name: str
    title: str
    commands: list[str]
    #: Seconds after which a command counts as hung.
    limit: int = 300
    env: dict[str, str] = field(default_factory=dict)
    #: What it builds in: one section at a time does.
    builds_in: str = ""
    #: Whether it runs only when it is named: `make torture` does.
    is_long: bool = False


@dataclass
class Tally:
    """How many checks passed and failed."""

    passed: int = 0
    failed: int = 0

    def __iadd__(self, other: Tally) -> Tally:
        return Tally(self.passed + other.passed, self.failed + other.failed)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed"


PYTHON = f"{BUILD}/venv/bin/python"
VERSION = ".".join(
    re.findall(
        r"define KV_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (ROOT / "include/kvstore.h").read_text()
    )
)
#: Each sanitizer has a build of its own, which no other build disturbs. A room is compiled as a
#: whole and with line numbers only, which costs a quarter less; with threads, since SwiftPM looks
#: for an object of each file.
BUILD_WHOLE = " ".join(
    f"-Xswiftc {flag}"
    for flag in ["-whole-module-optimization", "-num-threads", "2", "-gline-tables-only"]
)
ADDRESS = f"--sanitize=address --disable-xctest {BUILD_WHOLE} --scratch-path build/swift-address"
THREAD = f"--sanitize=thread --disable-xctest {BUILD_WHOLE} --scratch-path build/swift-thread"
#: What has pointers (parsers, SQLite, files, sockets), and values. `make torture` runs all tests.
WITH_POINTERS = " ".join(
    f"KV{room}Tests"
    for room in [
        "Base",
        "JSON",
        "Models",
        "Query",
        "SQLite",
        "Sync",
        "Storage",
        "Objects",
        "Transport",
        "Kinvey",
        "AppSync",
        "Callback",
    ]
)
#: Tests of values, and of what one thread does: WITH_POINTERS has the targets of all of them.
ONE_THREAD = " ".join(
    f"--skip {name}"
    for name in [
        "KVJSONTests",
        "KVModelsTests",
        "KVObjectsTests",
        "KVQueryTests",
        "KVBaseTests.TimestampTests",
        "KVStorageTests.IndexedQueriesTests",
        "KVStorageTests.LargeQueriesTests",
        "KVStorageTests.ModelTests",
        "KVStorageTests.OrderedReadingTests",
        "KVSyncTests.SimulatedWorldTests",
    ]
)

THREAD_OPTIONS = {"TSAN_OPTIONS": "halt_on_error=1"}
#: Short stacks of where memory was allocated: to note them is what costs.
ADDRESS_OPTIONS = {
    "ASAN_OPTIONS": "malloc_context_size=8",
    "LSAN_OPTIONS": f"suppressions={ROOT}/Tests/lsan.supp",
}


def rounds(worlds: int, follow_worlds: int, query_runs: int) -> dict[str, str]:
    """How many rounds the randomised tests of Swift make: what a sanitizer finds, the first show.

    The section worlds plays thousands.
    """
    return {
        "KV_WORLDS": str(worlds),
        "KV_FOLLOW_WORLDS": str(follow_worlds),
        "KV_QUERY_RUNS": str(query_runs),
    }


# The long ones stand before the many short ones, so that two sections at a time end together.
SECTIONS = [
    Section(
        "tree",
        "Nothing left for later, nothing that may trap the host",
        ["scripts/check-tree", "scripts/check-links", "pytest Tests/Tooling"],
    ),
    Section(
        "lint",
        "Format and types",
        ["scripts/check-format", f"{PYTHON} scripts/check_python.py"],
    ),
    Section(
        "headers",
        "The header stands alone, in C and C++, and the rest agrees with it",
        ["scripts/check-headers", f"{PYTHON} scripts/generate_abi.py --check"],
    ),
    Section(
        "library",
        "The shared library and its ABI",
        [
            "scripts/check-library",
            "scripts/check-scan",
            f"{PYTHON} scripts/check_abi.py",
            "scripts/check-install",
        ],
    ),
    Section(
        "swift",
        "Swift tests under the thread sanitizer, but those of values",
        [f"swift test {THREAD} {ONE_THREAD}"],
        limit=2700,
        env=THREAD_OPTIONS | rounds(worlds=1, follow_worlds=5, query_runs=1),
        builds_in="build/swift-thread",
    ),
    Section(
        "address",
        "Swift tests of what has pointers, under the address sanitizer",
        [f"swift test {ADDRESS}"],
        limit=2700,
        env=ADDRESS_OPTIONS
        | {"KVSTORE_TESTS": WITH_POINTERS}
        | rounds(worlds=20, follow_worlds=20, query_runs=4),
        builds_in="build/swift-address",
    ),
    Section(
        "address-all",
        "All Swift tests, under the address sanitizer",
        [f"swift test {ADDRESS}"],
        limit=5400,
        env=ADDRESS_OPTIONS,
        builds_in="build/swift-address",
        is_long=True,
    ),
    Section(
        "postgres",
        "The server's tests on PostgreSQL, under the thread sanitizer",
        [f"scripts/with-postgres swift test {THREAD} --filter KVServerTests"],
        limit=1500,
        env=THREAD_OPTIONS | {"KVSTORED_TEST_STORAGE": "postgres"},
        builds_in="build/swift-thread",
    ),
    Section(
        "postgres-clients",
        "The clients of a server on PostgreSQL: Python, PubNub, 2,000 queries",
        [
            "scripts/with-postgres pytest bindings/python",
            "scripts/with-postgres pytest Tests/PubNub",
            f"scripts/with-postgres {PYTHON} Tests/Differential/differential.py 2000",
        ],
        env={
            "KVSTORED_TEST_STORAGE": "postgres",
            "PYTHONPATH": f"{ROOT}/bindings/python/src:{ROOT}/scripts",
        },
    ),
    Section(
        "worlds",
        "10,000 simulated worlds of Kinvey, 10,000 of AppSync: nothing lost, doubled or divergent",
        ["scripts/play-worlds"],
        limit=2700,
        builds_in=".build",
    ),
    Section(
        "capi",
        "The C interface, from C and C++",
        ["scripts/check-capi"],
        limit=900,
        builds_in="build/capi",
    ),
    Section(
        "sanitized",
        "The C interface, from programs with the sanitizers of addresses and of behaviour",
        ["scripts/check-capi --sanitize"],
        limit=900,
    ),
    Section(
        "leaks",
        "The C interface under valgrind",
        ["scripts/check-capi --leaks"],
        limit=2700,
        builds_in="build/capi",
    ),
    Section(
        "fuzz",
        "Parsers, the evaluator, groups, updates, AppSync's answers, fuzzed: the same inputs",
        ["Tests/Fuzz/run"],
        limit=1500,
    ),
    Section("python", "The Python binding and its tool", ["pytest bindings/python"], limit=900),
    Section(
        "wheel",
        "The Python wheel, made for every Linux, in a fresh environment",
        ["scripts/build-wheel", "pytest Tests/Packages/test_wheel.py"],
        limit=600,
        builds_in="build/portable",
    ),
    Section(
        "deb",
        "The Debian packages, and the tarball",
        [
            f"scripts/build-deb {VERSION}",
            "pytest Tests/Packages/test_deb.py",
            "pytest Tests/Packages/test_dist.py",
        ],
        limit=600,
        builds_in="build/portable",
    ),
    Section(
        "swift-package",
        "A Swift package that depends on a version of this one",
        ["pytest Tests/SwiftPackage"],
        limit=900,
    ),
    Section(
        "go",
        "The Go binding, under the race detector",
        [
            "sh -c 'cd bindings/go && go vet ./...'",
            "sh -c 'cd bindings/go && go test -race -count=1 -v ./...'",
            "make --no-print-directory go-static",
            "pytest Tests/Packages/test_go.py",
        ],
        limit=600,
        builds_in="build/portable",
    ),
    Section(
        "differential",
        "20,000 queries, 5,000 updates: SQL, indexes, memory, kvstored, formats, the manual agree",
        [
            f"{PYTHON} Tests/Differential/differential.py 20000",
            f"{PYTHON} Tests/Differential/updates.py 5000",
        ],
        limit=900,
    ),
    Section(
        "pubnub",
        "PubNub's own client against kvstored",
        ["pytest Tests/PubNub"],
        env={"PYTHONPATH": f"{ROOT}/scripts"},
    ),
    Section(
        "operator",
        "What operators meet: metrics, administration, logins by a provider",
        ["pytest Tests/Operator"],
        limit=600,
        env={"PYTHONPATH": f"{ROOT}/bindings/python/src:{ROOT}/scripts"},
    ),
    Section(
        "browser",
        "The screen of the command line tool in Chromium",
        ["scripts/setup browser", "pytest Tests/Browser"],
    ),
    Section(
        "upgrade",
        "Data of former versions, and of newer ones",
        ["pytest Tests/Upgrade"],
        env={"PYTHONPATH": f"{ROOT}/bindings/python/src:{ROOT}/scripts"},
    ),
    Section("appsync", "A stand-in for AppSync, and the library with it", ["pytest Tests/AppSync"]),
    Section(
        "examples", "The first programs, in C, Python and Go", ["pytest examples/test_examples.py"]
    ),
    Section(
        "demo", "The demo, on one server and on a cluster", ["pytest examples/demo"], limit=900
    ),
    Section(
        "torture",
        "Nothing acknowledged is lost: 200 kills during saves and pushes",
        [f"{PYTHON} Tests/Torture/torture.py 200"],
        limit=600,
    ),
    Section(
        "faults",
        "Bad network and kills, with real processes, a real kvstored and an API; no memory",
        [
            f"{PYTHON} Tests/Torture/faults.py 60",
            f"{PYTHON} Tests/Torture/appsync.py 30",
            "scripts/check-memory",
        ],
        limit=900,
    ),
    Section(
        "cluster",
        "Two servers on PostgreSQL, of which parts fail: nothing acknowledged is lost",
        ["pytest Tests/Cluster", f"{PYTHON} Tests/Torture/cluster.py 20"],
        limit=900,
        env={"PYTHONPATH": f"{ROOT}/bindings/python/src:{ROOT}/scripts"},
    ),
    Section(
        "docs",
        "The documentation site: every link, and that everything that is exported is described",
        ["scripts/setup docs", f"{PYTHON} scripts/build_docs.py --check"],
    ),
    Section(
        "readme",
        "The samples of the README and the documentation",
        [f"{PYTHON} scripts/readme_samples.py"],
    ),
]


def main(arguments: list[str]) -> int:
    if "--list" in arguments:
        for section in SECTIONS:
            when = " (make torture)" if section.is_long else ""
            print(f"{section.name:16} {section.title}{when}")
        return 0
    unknown = set(arguments) - {section.name for section in SECTIONS}
    if unknown:
        print(f"no such section: {', '.join(sorted(unknown))} (see --list)", file=sys.stderr)
        return 2

    # A shell has its background jobs ignore interrupts, and children inherit that. Whatever ends
    # this ends the commands too, each of which leads a group of its own.
    for end in signal.SIGINT, signal.SIGTERM:
        signal.signal(end, signal.default_int_handler)
    LOGS.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    chosen = [
        each for each in SECTIONS if (each.name in arguments if arguments else not each.is_long)
    ]
    total = Suite(chosen).run()
    print(f"\n== {total} in {time.monotonic() - begin:.0f} s", flush=True)
    return 1 if total.failed else 0


class StoppedError(Exception):
    """Another section failed while this one ran."""


class Suite:
    """Runs sections in their order, several at a time, until one fails."""

    def __init__(self, sections: list[Section]) -> None:
        self.waiting = list(sections)
        self.verbose = bool(os.environ.get("V"))
        # Many sections wait more than they compute: two of them keep two cores busy.
        self.jobs = 1 if self.verbose else int(os.environ.get("JOBS", "2"))
        self.total = Tally()
        self.changed = threading.Condition()
        self.built_in: set[str] = set()
        self.running: set[subprocess.Popen[str]] = set()
        self.stopping = False

    def run(self) -> Tally:
        """The counts of all sections that ran to their end."""
        threads = [threading.Thread(target=self.run_sections) for _ in range(self.jobs)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            self.stop()
        return self.total

    def stop(self) -> None:
        """Ends what runs, and lets nothing begin."""
        with self.changed:
            self.stopping = True
            for process in self.running:
                kill(process)
            self.changed.notify_all()

    def run_sections(self) -> None:
        while section := self.next_section():
            try:
                self.run_section(section)
            except StoppedError:
                return
            finally:
                with self.changed:
                    self.built_in.discard(section.builds_in)
                    self.changed.notify_all()

    def next_section(self) -> Section | None:
        """Waits for one that builds where no other does now; None when there are no more."""
        with self.changed:
            while self.waiting and not self.stopping:
                for section in self.waiting:
                    if section.builds_in not in self.built_in:
                        self.waiting.remove(section)
                        self.built_in |= {section.builds_in} - {""}
                        return section
                self.changed.wait()
        return None

    def run_section(self, section: Section) -> None:
        """Runs a section, prints how it went, and counts it: at least one check a command."""
        report = [f"\n== {section.name}: {section.title}"]
        if self.verbose:
            print(report.pop(), flush=True)
        begin = time.monotonic()
        tally, computed = self.run_commands(section, report)
        took = time.monotonic() - begin
        report.append(f"   {tally} in {took:.1f} s, with {computed:.1f} s of processor time")
        with self.changed:
            if self.stopping:
                return
            print("\n".join(report), flush=True)
            self.total += tally
        if tally.failed:
            self.stop()

    def run_commands(self, section: Section, report: list[str]) -> tuple[Tally, float]:
        """The counts, and the seconds of processor time of all that the commands waited for."""
        tally, computed = Tally(), 0.0
        log = LOGS / f"{section.name}.log"
        log.write_text("")
        for command in section.commands:
            code, output, seconds = self.execute(command, section)
            computed += seconds
            with log.open("a") as file:
                file.write(f"$ {command}\n{output}\n")
            counted = count(output, succeeded=code == 0)
            tally += counted
            if counted.failed:
                if not self.verbose:
                    report.append(excerpt(output))
                reason = (
                    f"took more than {section.limit} s"
                    if code == -signal.SIGKILL
                    else f"exit code {code}"
                    if code
                    else "no test ran"
                )
                report.append(f"FAILED: {command} ({reason}; {log.relative_to(ROOT)})")
                break
        return tally, computed

    def execute(self, command: str, section: Section) -> tuple[int, str, float]:
        """Runs one command in a process group of its own: a hung one goes with its children."""
        process = self.start(command, section)
        timer = threading.Timer(section.limit, kill, [process])
        timer.start()
        output: list[str] = []
        try:
            for line in lines(process):
                output.append(line)
                if self.verbose:
                    print(line, end="", flush=True)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, "".join(output), used.ru_utime + used.ru_stime
        finally:
            timer.cancel()
            with self.changed:
                self.running.discard(process)

    def start(self, command: str, section: Section) -> subprocess.Popen[str]:
        with self.changed:
            if self.stopping:
                raise StoppedError
            process = subprocess.Popen(
                shlex.split(command),
                cwd=ROOT,
                env=environment() | section.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self.running.add(process)
            return process


def kill(process: subprocess.Popen[str]) -> None:
    """Ends a command and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def excerpt(output: str) -> str:
    """The lines that name failures, wherever they stand, and the last ones; long lines are cut."""
    every = [line[:LINE_LIMIT] for line in output.splitlines()]
    tail = every[-TAIL:]
    named = [line for line in every[:-TAIL] if FAILURE.search(line)][-TAIL:]
    return "\n".join([*named, "...", *tail] if named else tail)


def lines(process: subprocess.Popen[str]) -> Iterator[str]:
    if process.stdout is not None:
        yield from process.stdout


def environment() -> dict[str, str]:
    """What every test finds the library, the server and the tools by."""
    return os.environ | {
        "PATH": f"{BUILD}/venv/bin:{os.environ['PATH']}",
        "PKG_CONFIG_PATH": f"{BUILD}/lib/pkgconfig",
        "LD_LIBRARY_PATH": f"{BUILD}/lib",
        "KVSTORE_LIBRARY": f"{BUILD}/lib/libkvstore.so",
        "KVSTORED": f"{BUILD}/bin/kvstored",
        "PYTHONPATH": f"{ROOT}/bindings/python/src",
        # Fills memory when it is allocated and when it is freed: nothing works because memory
        # happens to be zero, or happens to be still there.
        "MALLOC_PERTURB_": "165",
        # Without it a crash takes minutes to print.
        "SWIFT_BACKTRACE": "enable=no",
    }


def count(output: str, *, succeeded: bool) -> Tally:
    """Reads the tools' own counts. A command without any is one check; one that counts 0 failed."""
    counts = False
    tally = Tally(len(GO_PASSED.findall(output)), len(GO_FAILED.findall(output)))
    for pattern in COUNTS:
        for match in pattern.finditer(output):
            found = match.groupdict()
            failed = int(found.get("failed") or 0)
            passed = (
                int(found["passed"]) if "passed" in found else max(int(found["all"]) - failed, 0)
            )
            tally += Tally(passed, failed)
            counts = True
    if succeeded and (tally.passed or not counts):
        return Tally(max(tally.passed, 1), 0)
    return Tally(tally.passed, max(tally.failed, 1))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
