"""The sections of the tests: what each runs, what it alone finds, and what it depends on."""

from __future__ import annotations

import enum
import re
import shlex
from dataclasses import dataclass, field

from testing.places import BUILD, ROOT


class Tier(enum.Enum):
    """The command that runs a section."""

    #: `make test`, and `make test-all` unless a larger section takes its place.
    TEST = "test"
    #: `make test-all`, and now and then `.ci/run`.
    ALL = "test-all"
    #: Only when it is named.
    NAMED = "named"


@dataclass(frozen=True)
class Section:
    """A group of commands that stand or fall together."""

    name: str
    title: str
    #: What no other section would find, for the table of the documentation.
    finds: str
    commands: list[str]
    #: Files and directories that the result depends on; "." is the whole tree.
    inputs: tuple[str, ...]
    #: What has to be built first: its time is counted apart.
    build: list[str] = field(default_factory=list)
    tier: Tier = Tier.TEST
    #: Names of the sections that need not run where this one does.
    covers: tuple[str, ...] = ()
    #: Seconds after which a command counts as hung.
    limit: int = 900
    env: dict[str, str] = field(default_factory=dict)
    #: What it builds in: one section at a time does.
    builds_in: str = ""
    #: Whether it can fail because of what Debian unstable serves on that day: no check of a change.
    follows_unstable: bool = False


VENV_PYTHON = shlex.quote(f"{BUILD}/venv/bin/python")
VERSION = ".".join(
    re.findall(
        r"define KV_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (ROOT / "include/kvstore.h").read_text()
    )
)
BINDING_AND_SCRIPTS = {"PYTHONPATH": f"{ROOT}/bindings/python/src:{ROOT}/scripts"}
POSTGRES = {"KVSTORED_TEST_STORAGE": "postgres"}

#: What the library and the server are built from.
LIBRARY = ("Sources", "include", "Package.swift", "Makefile", "scripts/build-library")
SWIFT_TESTS = (
    *LIBRARY,
    *sorted(f"Tests/{path.name}" for path in (ROOT / "Tests").glob("KV*")),
    "Tests/StorageSaver",
    "Tests/SimulatedWorlds",
    "Tests/Fuzz/corpus",
    "scripts/with-postgres",
)
SERVER_SCRIPTS = ("scripts/kvstored.py", "scripts/postgres.py", "scripts/ports.py")
PYTHON = (*LIBRARY, "bindings/python", *SERVER_SCRIPTS)
#: Runs the samples of docs/cli.md, as the section readme does with those of other pages.
CLI_SAMPLES = "bindings/python/tests/test_cli_manual.py"

#: Each kind of build has a directory of its own, which no other build disturbs. A room is compiled
#: as a whole, which costs a quarter less; with threads, since SwiftPM looks for an object of each
#: file.
WHOLE = "-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2"
LINES = "-Xswiftc -gline-tables-only"
PLAIN = f"-debug-info-format none {WHOLE} --scratch-path build/swift-tests"
ADDRESS = f"--sanitize=address {WHOLE} {LINES} --scratch-path build/swift-address"
THREAD = f"--sanitize=thread {WHOLE} {LINES} --scratch-path build/swift-thread"
RUN = "--skip-build --disable-xctest"
THREAD_OPTIONS = {"TSAN_OPTIONS": "halt_on_error=1"}
#: Short stacks of where memory was allocated: to note them is what costs.
ADDRESS_OPTIONS = {
    "ASAN_OPTIONS": "malloc_context_size=8",
    "LSAN_OPTIONS": f'suppressions="{ROOT}/Tests/lsan.supp"',
}
#: The targets with the suites of what threads share; the rest is values, or one thread's work.
THREADED_TARGETS = (
    "KVBaseTests",
    "KVSQLiteTests",
    "KVStorageTests",
    "KVTransportTests",
)
#: Their suites that the thread sanitizer runs in `make test`.
THREADED_SUITES = (
    "KVBaseTests.(ConcurrentMap|FIFO|ProcessGeneration|RecentCache|Threading)Tests",
    "KVSQLiteTests.(Reader|SharedReadLock|Writer)Tests",
    "KVStorageTests.(Observing|Queue|Reading|Sending|SharedRead|Transaction)Tests",
    "KVTransportTests",
)
#: The folders of the server's tests whose suites touch the store.
STORE_FOLDERS = ("Cluster", "Data", "Live", "Service")


def suites_of(target: str, *folders: str) -> str:
    """Give the filter of `swift test` for the suites in some folders of a test target."""
    names = sorted(
        path.stem
        for folder in folders
        for path in (ROOT / "Tests" / target / folder).glob("*.swift")
    )
    return shlex.quote(f"{target}\\.({'|'.join(names)})/")


STORE_SUITES = suites_of("KVServerTests", *STORE_FOLDERS)
#: Tests of values, which no other thread sees.
ONE_THREAD = "--skip KVJSONTests --skip KVModelsTests --skip KVQueryTests"


def filters(suites: tuple[str, ...]) -> str:
    return " ".join(f"--filter {shlex.quote(suite)}" for suite in suites)


def rounds(worlds: int, follow_worlds: int, query_runs: int) -> dict[str, str]:
    """Say how many rounds the randomised tests of Swift make: sanitizers need few of them."""
    return {
        "KV_WORLDS": str(worlds),
        "KV_FOLLOW_WORLDS": str(follow_worlds),
        "KV_QUERY_RUNS": str(query_runs),
    }


FEW_ROUNDS = rounds(worlds=1, follow_worlds=5, query_runs=1)

#: What makes the library for arm64 of a fresh tree.
FOR_ARM64 = [
    "scripts/setup build emulate",
    "scripts/make-sdk arm64",
    f"scripts/build-library {VERSION} arm64",
]

# The long ones stand before the many short ones, so that two sections at a time end together.
SECTIONS = [
    Section(
        "swift",
        "Swift tests, without a sanitizer; the stored inputs of the fuzzers",
        "what a room does wrong, at the lowest place that shows it",
        [f"swift test {PLAIN} {RUN}"],
        SWIFT_TESTS,
        build=[f"swift build --build-tests {PLAIN} --quiet"],
        limit=2400,
        env=rounds(worlds=10, follow_worlds=20, query_runs=2),
        builds_in="build/swift-tests",
    ),
    Section(
        "threads",
        "Swift tests of what threads share, under the thread sanitizer",
        "data races",
        [f"swift test {THREAD} {RUN} {filters(THREADED_SUITES)}"],
        SWIFT_TESTS,
        build=[f"swift build --build-tests {THREAD} --quiet"],
        limit=1200,
        env=THREAD_OPTIONS | FEW_ROUNDS | {"KVSTORE_ONLY": " ".join(THREADED_TARGETS)},
        builds_in="build/swift-thread",
    ),
    Section(
        "threads-all",
        "All Swift tests with threads, the server's on both storages, under the thread sanitizer",
        "data races of the server, of clients and of the C interface",
        [
            f"swift test {THREAD} {RUN} {ONE_THREAD}",
            f"scripts/with-postgres swift test {THREAD} {RUN} --filter KVServerTests",
        ],
        SWIFT_TESTS,
        build=[f"swift build --build-tests {THREAD} --quiet"],
        tier=Tier.NAMED,
        covers=("threads",),
        limit=2700,
        env=THREAD_OPTIONS | FEW_ROUNDS,
        builds_in="build/swift-thread",
    ),
    Section(
        "address",
        "All Swift tests, under the address sanitizer",
        "reads and writes outside of memory, and leaks, in Swift and in the C that it calls",
        [f"swift test {ADDRESS} {RUN}"],
        SWIFT_TESTS,
        build=[f"swift build --build-tests {ADDRESS} --quiet"],
        tier=Tier.ALL,
        limit=2700,
        env=ADDRESS_OPTIONS | FEW_ROUNDS,
        builds_in="build/swift-address",
    ),
    Section(
        "python",
        "The Python binding and its tool",
        "what the binding makes of the library; the tool; a real server, killed and stopped",
        [f"pytest bindings/python --ignore {CLI_SAMPLES}"],
        PYTHON,
    ),
    Section(
        "go",
        "The Go binding, under the race detector",
        "what the binding makes of the library, and races in it",
        ["sh -c 'cd bindings/go && go test -race -count=1 -v ./...'"],
        (*LIBRARY, "bindings/go", *SERVER_SCRIPTS),
        build=["sh -c 'cd bindings/go && go vet ./... && go test -race -run=NONE ./...'"],
        limit=600,
    ),
    Section(
        "postgres",
        "The server's tests of the store, on PostgreSQL, and 200 queries",
        "statements, locks and lost connections of PostgreSQL",
        [
            f"scripts/with-postgres swift test {PLAIN} {RUN} --filter {STORE_SUITES}",
            f"scripts/with-postgres {VENV_PYTHON} Tests/Differential/differential.py 200",
        ],
        (*SWIFT_TESTS, "Tests/Differential", *SERVER_SCRIPTS),
        build=[f"swift build --build-tests {PLAIN} --quiet"],
        env=POSTGRES | FEW_ROUNDS,
        builds_in="build/swift-tests",
    ),
    Section(
        "worlds",
        "500 simulated worlds of Kinvey, 500 of AppSync: nothing lost, doubled or divergent",
        "orders of events that lose, double or divide data",
        ["scripts/play-worlds"],
        SWIFT_TESTS,
        build=["scripts/play-worlds --build"],
        env={"KV_WORLDS": "500"},
        builds_in=".build",
    ),
    Section(
        "worlds-all",
        "10,000 simulated worlds of Kinvey, 10,000 of AppSync",
        "rarer orders of events",
        ["scripts/play-worlds"],
        SWIFT_TESTS,
        build=["scripts/play-worlds --build"],
        tier=Tier.ALL,
        covers=("worlds",),
        limit=2700,
        env={"KV_WORLDS": "10000"},
        builds_in=".build",
    ),
    Section(
        "postgres-clients",
        "The clients of a server on PostgreSQL: Python, PubNub, 2,000 queries",
        "what a client sees of PostgreSQL that the server's own tests do not ask",
        [
            "scripts/with-postgres pytest bindings/python",
            "scripts/with-postgres pytest Tests/PubNub",
            f"scripts/with-postgres {VENV_PYTHON} Tests/Differential/differential.py 2000",
        ],
        (*PYTHON, "Tests/PubNub", "Tests/Differential", "scripts/with-postgres"),
        tier=Tier.ALL,
        limit=600,
        env=BINDING_AND_SCRIPTS | POSTGRES,
    ),
    Section(
        "postgres-all",
        "All of the server's tests, on PostgreSQL",
        "parts of the server that hardly touch the store and still depend on it",
        [f"scripts/with-postgres swift test {PLAIN} {RUN} --filter KVServerTests"],
        SWIFT_TESTS,
        build=[f"swift build --build-tests {PLAIN} --quiet"],
        tier=Tier.ALL,
        env=POSTGRES | FEW_ROUNDS,
        builds_in="build/swift-tests",
    ),
    Section(
        "sanitized",
        "The C interface, from programs with the sanitizers of addresses and of behaviour",
        "misuse of the ABI, and memory of C callers that the library mistreats",
        ["scripts/check-capi --sanitize"],
        (*LIBRARY, "Tests/CAPI", "scripts/check-capi", *SERVER_SCRIPTS),
    ),
    Section(
        "capi",
        "The C interface, from C and C++, without tools",
        "what sanitizers change: the stack of small threads, the order of memory",
        ["scripts/check-capi"],
        (*LIBRARY, "Tests/CAPI", "scripts/check-capi", *SERVER_SCRIPTS),
        tier=Tier.ALL,
        builds_in="build/capi",
    ),
    Section(
        "leaks",
        "The C interface under valgrind",
        "leaks and uninitialised memory inside the shipped library",
        ["scripts/check-capi --leaks"],
        (*LIBRARY, "Tests/CAPI", "scripts/check-capi", *SERVER_SCRIPTS),
        tier=Tier.ALL,
        limit=2700,
        builds_in="build/capi",
    ),
    Section(
        "encrypted",
        "A tenth of the suites of Python, C and Go on encrypted data",
        "what works on plain files only",
        ["Tests/Encrypted/run --part"],
        (
            *(*PYTHON, "bindings/go", "Tests/CAPI", "Tests/Encrypted", "Tests/Torture"),
            "scripts/check-capi",
        ),
        env=BINDING_AND_SCRIPTS,
        builds_in="build/capi",
    ),
    Section(
        "encrypted-all",
        "The suites of Python, C and Go on encrypted data",
        "rarer uses that work on plain files only",
        ["Tests/Encrypted/run"],
        (
            *(*PYTHON, "bindings/go", "Tests/CAPI", "Tests/Encrypted", "Tests/Torture"),
            "scripts/check-capi",
        ),
        tier=Tier.NAMED,
        covers=("encrypted",),
        limit=1500,
        env=BINDING_AND_SCRIPTS,
        builds_in="build/capi",
    ),
    Section(
        "power-loss",
        "Losses of power at each moment, in twenty ways",
        "orders of writes to the disk that lose or damage data",
        [f"swift test {PLAIN} {RUN} --filter KVSQLiteTests.PowerLossTests"],
        SWIFT_TESTS,
        build=[f"swift build --build-tests {PLAIN} --quiet"],
        tier=Tier.NAMED,
        limit=1500,
        env={"KV_POWER_LOSS_ROUNDS": "20"},
        builds_in="build/swift-tests",
    ),
    Section(
        "fuzz",
        "Parsers, the evaluator, groups, updates, AppSync's answers, fuzzed: the same inputs",
        "inputs that end the process, hang it or leak",
        ["Tests/Fuzz/run"],
        (*LIBRARY, "Tests/Fuzz", "Tests/KVFuzzTargets"),
        build=["Tests/Fuzz/run --build"],
        tier=Tier.ALL,
        limit=1500,
    ),
    Section(
        "lint",
        "Format and types, of what has changed since they passed last",
        "code that is not formatted, and Python that mypy or ruff refuses",
        [f"{VENV_PYTHON} scripts/lint.py --changed"],
        (".",),
    ),
    Section(
        "lint-all",
        "Format and types, of everything",
        "complaints that a change causes in a file that it leaves alone",
        [f"{VENV_PYTHON} scripts/lint.py"],
        (".",),
        tier=Tier.ALL,
        covers=("lint",),
    ),
    Section(
        "appsync",
        "A stand-in for AppSync, and the library with it",
        "the protocol of AppSync, end to end",
        ["pytest Tests/AppSync"],
        (*PYTHON, "Tests/AppSync"),
    ),
    Section(
        "operator",
        "What operators meet: metrics, administration, logins by a provider",
        "the server as a process: commands, signals, proxies, providers",
        ["pytest Tests/Operator"],
        (*PYTHON, "Tests/Operator", "packaging"),
        limit=600,
        env=BINDING_AND_SCRIPTS,
    ),
    Section(
        "tree",
        "Nothing left for later, nothing that may trap the host",
        "arrows that point the wrong way, traps, dead links; mistakes of the tools",
        ["scripts/check-tree", "scripts/check-links", "pytest Tests/Tooling"],
        (".",),
    ),
    Section(
        "headers",
        "The header stands alone, in C and C++, and the rest agrees with it",
        "a header that a strict compiler refuses, generated files that are old",
        ["scripts/check-headers", f"{VENV_PYTHON} scripts/generate_abi.py --check"],
        (".",),
    ),
    Section(
        "library",
        "The shared library and its ABI",
        "exports, size, dependencies, changes of the ABI; installation",
        [
            "scripts/check-library",
            "scripts/check-scan",
            f"{VENV_PYTHON} scripts/check_abi.py",
            "scripts/check-install",
        ],
        (*LIBRARY, "Tests", "scripts", "packaging"),
    ),
    Section(
        "differential",
        "2,000 queries, 500 updates, languages: SQL, indexes, memory, kvstored, formats, ICU agree",
        "answers that depend on where a query runs",
        [
            f"{VENV_PYTHON} Tests/Differential/differential.py 2000",
            f"{VENV_PYTHON} Tests/Differential/updates.py 500",
            f"{VENV_PYTHON} Tests/Differential/languages.py 500",
        ],
        (*PYTHON, "Tests/Differential"),
    ),
    Section(
        "differential-all",
        "20,000 queries, 5,000 updates on SQLite, and 20,000 queries on PostgreSQL",
        "rarer queries",
        [
            f"{VENV_PYTHON} Tests/Differential/differential.py 20000",
            f"{VENV_PYTHON} Tests/Differential/updates.py 5000",
            f"{VENV_PYTHON} Tests/Differential/languages.py 5000",
        ],
        (*PYTHON, "Tests/Differential"),
        tier=Tier.ALL,
        covers=("differential",),
    ),
    Section(
        "pubnub",
        "PubNub's own client against kvstored",
        "what an original client of live data expects",
        ["pytest Tests/PubNub"],
        (*LIBRARY, "Tests/PubNub", *SERVER_SCRIPTS),
        env={"PYTHONPATH": f"{ROOT}/scripts"},
    ),
    Section(
        "upgrade",
        "Data of former versions, and of newer ones",
        "files of an earlier version that are read wrongly",
        ["pytest Tests/Upgrade"],
        (*PYTHON, "Tests/Upgrade"),
        env=BINDING_AND_SCRIPTS,
    ),
    Section(
        "torture",
        "Nothing acknowledged is lost: 20 kills, 10 s of bad network",
        "losses that need a real process, a real file and a real network",
        [
            f"{VENV_PYTHON} Tests/Torture/torture.py 20",
            f"{VENV_PYTHON} Tests/Torture/faults.py 10",
        ],
        (*PYTHON, "Tests/Torture"),
    ),
    Section(
        "restores",
        "A real kvstored that goes back to copies of its data; counters on PostgreSQL",
        # Named: two losses of earlier runs were not explained, although they have not come again.
        "losses where a real server goes back",
        [
            f"{VENV_PYTHON} Tests/Torture/restores.py 60",
            f"scripts/with-postgres {VENV_PYTHON} Tests/Torture/counters.py 1000",
        ],
        (*PYTHON, "Tests/Torture", "scripts/with-postgres"),
        tier=Tier.NAMED,
        env=POSTGRES,
    ),
    Section(
        "faults",
        "Bad network and kills, with a real kvstored and an API; 200 kills; no memory",
        "rarer losses; calls that end the process where memory runs out",
        [
            f"{VENV_PYTHON} Tests/Torture/torture.py 200",
            f"{VENV_PYTHON} Tests/Torture/faults.py 60",
            f"{VENV_PYTHON} Tests/Torture/counters.py 1000",
            f"{VENV_PYTHON} Tests/Torture/counters.py 1000 appsync",
            f"{VENV_PYTHON} Tests/Torture/appsync.py 30",
            "scripts/check-memory",
        ],
        (*PYTHON, "Tests/Torture", "Tests/AppSync", "Tests/Exhaustion", "Tests/CAPI"),
        tier=Tier.ALL,
        covers=("torture",),
    ),
    Section(
        "cluster",
        "Two servers on PostgreSQL, of which parts fail: nothing acknowledged is lost",
        "failovers, partitions and full disks of a cluster",
        ["pytest Tests/Cluster", f"{VENV_PYTHON} Tests/Torture/cluster.py 20"],
        (*PYTHON, "Tests/Cluster", "Tests/Torture", "scripts"),
        tier=Tier.ALL,
        env=BINDING_AND_SCRIPTS,
    ),
    Section(
        "wheel",
        "The Python wheel, made for every Linux, in a fresh environment",
        "symbols of a newer glibc, files that the wheel lacks",
        ["pytest Tests/Packages/test_wheel.py"],
        (*PYTHON, "packaging", "Tests/Packages", "scripts"),
        build=["scripts/build-wheel"],
        tier=Tier.ALL,
        limit=600,
        builds_in="build/portable",
    ),
    Section(
        "deb",
        "The Debian packages, and the tarball",
        "dependencies, the systemd unit, what lintian says",
        ["pytest Tests/Packages/test_deb.py", "pytest Tests/Packages/test_dist.py"],
        (".",),
        build=[f"scripts/build-deb {VERSION}"],
        tier=Tier.ALL,
        limit=600,
        builds_in="build/portable",
    ),
    Section(
        "go-static",
        "A Go program that contains the library",
        "what is missing in the archive for static linking",
        ["pytest Tests/Packages/test_go.py"],
        (*LIBRARY, "bindings/go", "packaging", "Tests/Packages", "scripts"),
        build=["make --no-print-directory go-static"],
        tier=Tier.ALL,
        limit=600,
        builds_in="build/portable",
    ),
    Section(
        "arm64",
        "The library for arm64, in an emulator: the C interface, the scanner, Python",
        "what is different on another processor, except the order of memory",
        [
            "scripts/check-library arm64",
            "scripts/check-scan --emulate",
            "scripts/check-capi --emulate local library misuse contexts stores embedding",
            "scripts/check-emulated",
        ],
        (*PYTHON, "Tests/CAPI", "Tests/Emulated", "Tests/Portable", "packaging/sdk", "scripts"),
        build=FOR_ARM64,
        tier=Tier.ALL,
        limit=2700,
        builds_in="build/arm64",
        follows_unstable=True,
    ),
    Section(
        "arm64-packages",
        "The wheel, the Debian packages and the static archive for arm64; all Python tests",
        "symbols of a newer glibc, dependencies, what is missing in the archive",
        [
            "pytest Tests/Packages/test_arm64.py",
            "env KVSTORE_PROCESSOR=arm64 pytest Tests/Packages/test_deb.py",
            "scripts/check-capi --emulate",
            "scripts/check-emulated --all",
        ],
        (".",),
        build=[
            *FOR_ARM64,
            "scripts/build-wheel arm64",
            "make --no-print-directory go-static ARCH=arm64",
            f"scripts/build-deb {VERSION} arm64",
        ],
        tier=Tier.ALL,
        limit=2700,
        builds_in="build/arm64",
        follows_unstable=True,
    ),
    Section(
        "swift-package",
        "A Swift package that depends on a version of this one",
        "flags that SwiftPM refuses in a dependency, names that are not public",
        ["pytest Tests/SwiftPackage"],
        (*LIBRARY, "Tests/SwiftPackage", "examples/swift"),
        tier=Tier.ALL,
    ),
    Section(
        "browser",
        "The screen of the command line tool in Chromium",
        "what a browser makes of the tool's screen",
        ["pytest Tests/Browser"],
        (*PYTHON, "Tests/Browser"),
        build=["scripts/setup browser"],
        tier=Tier.ALL,
    ),
    Section(
        "examples",
        "The first programs, in C, Python and Go; a whole program whose server fails",
        "examples that do not run",
        ["pytest examples/test_examples.py examples/inspection"],
        (*PYTHON, "bindings/go", "examples"),
        tier=Tier.ALL,
    ),
    Section(
        "demo",
        "The demo, on one server and on a cluster",
        "what a first user tries",
        ["pytest examples/demo"],
        (*PYTHON, "bindings/go", "examples", "scripts"),
        tier=Tier.ALL,
    ),
    Section(
        "docs",
        "The documentation site: every link, and that everything that is exported is described",
        "functions and options without a description",
        [f"{VENV_PYTHON} scripts/build_docs.py --check"],
        (".",),
        build=["scripts/setup docs"],
        tier=Tier.ALL,
    ),
    Section(
        "readme",
        "The samples of the README and the documentation",
        "samples that do not run, or print something else",
        [f"{VENV_PYTHON} scripts/readme_samples.py", f"pytest {CLI_SAMPLES}"],
        (".",),
        tier=Tier.ALL,
    ),
]


def chosen(tier: Tier) -> list[Section]:
    """Give the sections of `make test` or of `make test-all`."""
    tiers = {Tier.TEST} if tier is Tier.TEST else {Tier.TEST, Tier.ALL}
    sections = [section for section in SECTIONS if section.tier in tiers]
    covered = {name for section in sections for name in section.covers}
    return [section for section in sections if section.name not in covered]
