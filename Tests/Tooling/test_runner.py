"""scripts/test.py runs sections side by side, and not again what has not changed."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import test as command  # noqa: E402
from testing import inputs, places, records, report, rotation, runner, sections  # noqa: E402
from testing.counting import Tally, slowest  # noqa: E402
from testing.sections import Section, Tier  # noqa: E402


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the directory in which commands run, and which has their logs and records."""
    monkeypatch.setattr(places, "ROOT", tmp_path)
    monkeypatch.setattr(places, "LOGS", tmp_path)
    monkeypatch.setattr(places, "RECORDS", tmp_path / "records")
    monkeypatch.delenv("V", raising=False)
    monkeypatch.setenv("JOBS", "2")
    return tmp_path


def section(name: str, *commands: str, limit: int = 60, builds_in: str = "") -> Section:
    return Section(name, "", "", list(commands), ("README.md",), limit=limit, builds_in=builds_in)


def test_two_sections_run_at_the_same_time() -> None:
    def meets(own: str, other: str) -> str:
        return f"sh -c 'touch {own}; until [ -e {other} ]; do sleep 0.01; done'"

    both = [section("first", meets("a", "b")), section("second", meets("b", "a"))]
    assert runner.Suite(both).run() == Tally(2, 0)


def test_sections_that_build_in_one_place_wait_for_each_other() -> None:
    first, second = (section(name, builds_in="build/here") for name in "ab")
    elsewhere = section("c")
    suite = runner.Suite([first, second, elsewhere])
    assert [suite.next_section(), suite.next_section()] == [first, elsewhere]
    assert suite.waiting == [second]


def test_a_failure_ends_what_runs_beside_it_and_all_that_waits(directory: Path) -> None:
    hung = section("hung", "sh -c 'touch begun; sleep 1000'")
    failing = section("failing", "sh -c 'until [ -e begun ]; do sleep 0.01; done; false'")
    waiting = section("waiting", "touch too-late")
    assert runner.Suite([hung, failing, waiting]).run() == Tally(0, 1)
    assert not (directory / "too-late").exists()


def test_a_command_that_hangs_is_ended_with_its_children(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert runner.Suite([section("hung", "sh -c 'sleep 1000'", limit=1)]).run() == Tally(0, 1)
    assert "took more than 1 s" in capsys.readouterr().out


def test_what_fails_to_build_fails_the_section_and_what_builds_is_no_check() -> None:
    built = replace(section("built", "true"), build=["true"])
    broken = replace(section("broken", "touch too-late"), build=["false"])
    assert runner.Suite([built]).run() == Tally(1, 0)
    assert runner.Suite([broken]).run() == Tally(0, 1)


def test_an_end_of_the_runner_ends_what_it_runs(directory: Path) -> None:
    old = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    # The command ends the runner, and would outlive it.
    ends = f"sh -c 'echo $$ >child; kill -TERM {os.getpid()}; exec sleep 1000'"
    endless = section("endless", ends)
    try:
        with pytest.raises(KeyboardInterrupt):
            command.run([endless])
    finally:
        for each, handler in old.items():
            signal.signal(each, handler)
    child = int((directory / "child").read_text())
    while Path(f"/proc/{child}").exists():
        time.sleep(0.01)


def test_what_passed_runs_again_only_if_its_inputs_have_changed(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    once = section("once", "sh -c 'echo run >>runs'")

    def runs() -> int:
        runner.Suite([once], skips_unchanged=True).run()
        return len((directory / "runs").read_text().splitlines())

    assert [runs(), runs()] == [1, 1]
    assert "not run, since nothing that they depend on has changed: once" in capsys.readouterr().out
    files = inputs.files()
    monkeypatch.setattr(inputs, "files", lambda: files | {"README.md": "other"})
    assert [runs(), runs()] == [2, 2]


def test_what_failed_runs_again(directory: Path) -> None:
    failing = section("failing", "sh -c 'echo run >>runs; false'")
    for _ in range(2):
        assert runner.Suite([failing], skips_unchanged=True).run() == Tally(0, 1)
    assert (directory / "runs").read_text() == "run\nrun\n"


def test_each_section_depends_on_files_that_there_are() -> None:
    for each in sections.SECTIONS:
        assert len(inputs.paths_below(each.inputs)) > 0, each.name
    with pytest.raises(LookupError, match="no file is tracked at Source"):
        inputs.paths_below(("Source",))


def test_a_larger_section_takes_the_place_of_a_smaller_one() -> None:
    tested = {each.name for each in sections.chosen(Tier.TEST)}
    everything = {each.name for each in sections.chosen(Tier.ALL)}
    assert "worlds" in tested
    assert {"worlds", "lint", "torture"} & everything == set()
    for each in sections.SECTIONS:
        assert set(each.covers) <= {other.name for other in sections.SECTIONS}


def test_every_section_has_a_name_of_its_own() -> None:
    names = [each.name for each in sections.SECTIONS]
    assert len(set(names)) == len(names)


def test_the_threaded_suites_exist() -> None:
    for suites in sections.THREADED_SUITES:
        target, _, names = suites.partition(".")
        assert target in sections.THREADED_TARGETS
        for name in names.removeprefix("(").removesuffix(")Tests").split("|"):
            assert not name or list((ROOT / "Tests" / target).rglob(f"{name}Tests.swift")), name


def record(seconds: float) -> records.Record:
    return records.Record("", 1, seconds / 2, 0, seconds)


def test_each_section_has_its_turn_and_none_runs_past_the_end() -> None:
    every = [section(name) for name in "abcdefgh"]
    known = {each.name: record(100) for each in every}
    seen: set[str] = set()
    for commit in range(64):
        choice = rotation.choose(every, known, commit=f"c{commit}", seconds=200, slowness=1)
        cores = os.cpu_count() or 2
        assert len(choice.runs) * 100 * rotation.MARGIN <= 200 * cores
        assert len(choice.runs) + len(choice.left_out) == len(every)
        seen |= {each.name for each in choice.runs}
    assert seen == set("abcdefgh")


def test_a_slow_machine_runs_fewer_sections_and_late_ones_none() -> None:
    every = [section(name) for name in "abcdefgh"]
    known = {each.name: record(100) for each in every}

    def count(seconds: float, slowness: float) -> int:
        choice = rotation.choose(every, known, commit="c", seconds=seconds, slowness=slowness)
        return len(choice.runs)

    assert count(300, slowness=3) < count(300, slowness=1)
    assert count(-10, slowness=1) == 0


def test_the_table_has_a_line_for_each_section() -> None:
    page = report.PAGE.read_text()
    for each in sections.SECTIONS:
        assert report.row(each, records.measured().get(each.name)) in page, each.name


def test_the_slowest_tests_of_each_language_come_first() -> None:
    output = (
        '✔ Test "fast" passed after 0.001 seconds.\n'
        '✔ Test "slow" with 3 test cases passed after 2.5 seconds.\n'
        "1.50s call     tests/test_a.py::test_b\n"
        "--- PASS: TestC (0.25s)\n"
    )
    found = slowest(output, 1)
    assert found["Swift"] == [(2.5, '"slow"')]
    assert found["Python"] == [(1.5, "tests/test_a.py::test_b")]
    assert found["Go"] == [(0.25, "TestC")]
