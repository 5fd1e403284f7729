"""scripts/test.py runs sections side by side."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module; its logs go into a directory of the test."""
    specification = importlib.util.spec_from_file_location("runner", ROOT / "scripts" / "test.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "runner", module)
    specification.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "LOGS", tmp_path)
    monkeypatch.delenv("V", raising=False)
    monkeypatch.setenv("JOBS", "2")
    return module


def test_two_sections_run_at_the_same_time(runner: ModuleType) -> None:
    def meets(own: str, other: str) -> str:
        return f"sh -c 'touch {own}; until [ -e {other} ]; do sleep 0.01; done'"

    first = runner.Section("first", "", [meets("a", "b")], limit=20)
    second = runner.Section("second", "", [meets("b", "a")], limit=20)
    assert runner.Suite([first, second]).run() == runner.Tally(2, 0)


def test_sections_that_build_in_one_place_wait_for_each_other(runner: ModuleType) -> None:
    first, second = (runner.Section(name, "", [], builds_in="build/here") for name in "ab")
    elsewhere = runner.Section("c", "", [])
    suite = runner.Suite([first, second, elsewhere])
    assert [suite.next_section(), suite.next_section()] == [first, elsewhere]
    assert suite.waiting == [second]


def test_a_failure_ends_what_runs_beside_it_and_all_that_waits(runner: ModuleType) -> None:
    hung = runner.Section("hung", "", ["sh -c 'touch begun; sleep 1000'"])
    failing = runner.Section(
        "failing", "", ["sh -c 'until [ -e begun ]; do sleep 0.01; done; false'"]
    )
    waiting = runner.Section("waiting", "", ["touch too-late"])
    assert runner.Suite([hung, failing, waiting]).run() == runner.Tally(0, 1)
    assert not (runner.ROOT / "too-late").exists()


def test_a_command_that_hangs_is_ended_with_its_children(
    runner: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    hung = runner.Section("hung", "", ["sh -c 'sleep 1000'"], limit=1)
    assert runner.Suite([hung]).run() == runner.Tally(0, 1)
    assert "took more than 1 s" in capsys.readouterr().out


def test_whoever_ends_the_runner_ends_what_it_runs(
    runner: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    # The command ends the runner, and would outlive it.
    command = f"sh -c 'echo $$ >child; kill -TERM {os.getpid()}; exec sleep 1000'"
    monkeypatch.setattr(runner, "SECTIONS", [runner.Section("endless", "", [command], limit=60)])
    try:
        with pytest.raises(KeyboardInterrupt):
            runner.main([])
    finally:
        for each, handler in old.items():
            signal.signal(each, handler)
    child = int((runner.ROOT / "child").read_text())
    while Path(f"/proc/{child}").exists():
        time.sleep(0.01)


def test_the_section_address_has_all_swift_tests_that_the_section_swift_leaves_out(
    runner: ModuleType,
) -> None:
    left_out = set(runner.ONE_THREAD.replace("--skip", "").split())
    assert {name.split(".")[0] for name in left_out} <= set(runner.WITH_POINTERS.split())
    for name in left_out:
        target, _, suite = name.partition(".")
        assert (ROOT / "Tests" / target).is_dir()
        assert not suite or (ROOT / "Tests" / target / f"{suite}.swift").exists()


def test_every_section_has_a_name_of_its_own(runner: ModuleType) -> None:
    names = [section.name for section in runner.SECTIONS]
    assert len(set(names)) == len(names)
