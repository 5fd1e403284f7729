"""How many checks a command ran, how long each took, and what to show of its output."""

from __future__ import annotations

import re
from dataclasses import dataclass

# How the tools tell what ran: "passed" or "all", and "failed" where the tool counts them apart.
COUNTS = [
    re.compile(r"Test run with (?P<all>\d+) tests? .*?passed"),  # swift test
    re.compile(r"Test run with (?P<all>\d+) tests? .*?failed .*?with (?P<failed>\d+) issue"),
    re.compile(
        r"^(?:=+ )?(?:(?P<failed>\d+) failed, )?(?P<passed>\d+) passed", re.MULTILINE
    ),  # pytest, ours
]
GO_PASSED = re.compile(r"^--- PASS: ", re.MULTILINE)
GO_FAILED = re.compile(r"^--- FAIL: ", re.MULTILINE)
# What the tools put into a line about something that failed.
FAILURE = re.compile(
    r"✘|\brecorded an issue\b|^\s*(--- FAIL|FAILED|E  )|\b(error|warning|ERROR):|Sanitizer:"
)
# How the tools tell how long one test took: its name, and seconds.
DURATIONS = {
    "Swift": re.compile(
        r"^. Test (?P<name>.+?) (?:with \d+ test cases? )?passed after (?P<seconds>[\d.]+) seconds",
        re.MULTILINE,
    ),
    "Python": re.compile(
        r"^(?P<seconds>[\d.]+)s (?:call|setup|teardown) +(?P<name>\S+)", re.MULTILINE
    ),
    "Go": re.compile(r"^--- PASS: (?P<name>\S+) \((?P<seconds>[\d.]+)s\)", re.MULTILINE),
}
# How many lines of each kind are shown of a failed command, and how much of each line.
TAIL, LINE_LIMIT = 200, 600


@dataclass
class Tally:
    """How many checks passed and failed."""

    passed: int = 0
    failed: int = 0

    def __iadd__(self, other: Tally) -> Tally:
        return Tally(self.passed + other.passed, self.failed + other.failed)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed"


def count(output: str, *, succeeded: bool) -> Tally:
    """Read the tools' own counts. A command without any is one check; one that counts 0 failed."""
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


def excerpt(output: str) -> str:
    """Give the lines that name failures, wherever they stand, and the last ones; long ones cut."""
    every = [line[:LINE_LIMIT] for line in output.splitlines()]
    tail = every[-TAIL:]
    named = [line for line in every[:-TAIL] if FAILURE.search(line)][-TAIL:]
    return "\n".join([*named, "...", *tail] if named else tail)


def slowest(output: str, most: int) -> dict[str, list[tuple[float, str]]]:
    """Give the tests of each language that took longest, in seconds, slowest first."""
    return {
        language: sorted(
            ((float(match["seconds"]), match["name"]) for match in pattern.finditer(output)),
            reverse=True,
        )[:most]
        for language, pattern in DURATIONS.items()
    }
