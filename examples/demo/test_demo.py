"""Tests that the demo runs, and that its pictures show its events."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from chart import svg_of  # noqa: E402
from record import Event, Kind, Record  # noqa: E402
from terminal import PLAIN, SYMBOLS, text_of  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def classes(root: ET.Element) -> Counter[str]:
    """Count the marks of each kind."""
    found = [each.get("class", "").split() for each in root.iter()]
    return Counter(words[1] for words in found if words[:1] == ["mark"])


def lanes(root: ET.Element) -> list[str]:
    """Return the names and languages of the lanes."""
    groups = (each for each in root.iter(f"{SVG}g") if each.get("class") == "program")
    return [" ".join(text.text or "" for text in each.iter(f"{SVG}text")) for each in groups]


def test_the_demo_runs_and_its_pictures_show_what_happened(tmp_path: Path) -> None:
    picture = tmp_path / "demo.svg"
    done = subprocess.run(
        [sys.executable, str(HERE / "run.py"), "--svg", str(picture)],
        capture_output=True,
        check=False,
        timeout=240,
        env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
    )
    printed = done.stdout.decode()
    assert done.returncode == 0, printed + done.stderr.decode()
    story, _, chart = printed.partition("The whole story")
    root = ET.parse(picture).getroot()
    assert root.tag == f"{SVG}svg"
    programs = ["kvstored ", "loader Python", "carla C", "pia Python", "gustav Go"]
    assert lanes(root) == programs
    # What the demo has printed, and checked, is what is drawn.
    saved = sum(map(int, re.findall(r"changed (\d+)", story)))
    pushed = sum(map(int, re.findall(r"pushed (\d+) in", story)))
    refused = sum(map(int, re.findall(r"refused: (\d+)", story)))
    merged = sum(map(int, re.findall(r"conflicts merged: (\d+)", story)))
    pulled = len(re.findall(r"\) +pulled", story))
    assert (saved, pushed, merged, refused, pulled) == (18, 15, 2, 3, 6)
    wanted = {"saved": saved + 1, "pushed": pushed + 1, "refused": refused, "pulled": pulled}
    wanted["merged"] = merged
    assert classes(root) == {**wanted, "left": 3}
    numbers = [each.text for each in root.iter(f"{SVG}text") if each.get("class") == "number"]
    total = re.findall(r"saved ([\d,]+) cities locally", story)
    assert numbers[:2] == total * 2
    counted = Counter(chart.rpartition("\n\n▼")[0])
    for kind in (Kind.SAVED, Kind.PUSHED, Kind.MERGED, Kind.REFUSED, Kind.PULLED):
        assert counted[SYMBOLS[kind]] == wanted[kind.value], chart


def test_the_demo_on_a_cluster_runs_though_parts_of_it_are_killed(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, str(HERE / "cluster.py")),
            *("--svg", str(tmp_path / "demo.svg"), "--people", "100000"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("KILLED") == 2
    assert "PASSED" in done.stdout.splitlines()[-1]


def test_the_demo_of_a_restored_server_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "restore.py")],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASSED" in done.stdout.splitlines()[-1]


@pytest.fixture
def record() -> Record:
    """Return a story of one server and one program."""
    record = Record()
    record.starts("server")
    record.heading("They work", "Work")
    record.events += [
        Event("ana <C>", Kind.PULLED, record.now(), record.now() + 1, 25_000),
        Event("ana <C>", Kind.SAVED, record.now() + 1, record.now() + 2, 3),
        Event("ana <C>", Kind.REFUSED, record.now() + 1, record.now() + 2),
    ]
    record.stops("server")
    return record


def test_names_are_escaped_and_each_entity_of_a_few_is_a_mark(record: Record) -> None:
    root = ET.fromstring(svg_of(record))
    assert lanes(root)[1].startswith("ana <C>")
    assert classes(root) == {"pulled": 1, "saved": 3, "refused": 1}


def test_what_happens_at_the_same_time_is_drawn_side_by_side(record: Record) -> None:
    begin, end = record.chapters[0].begin, record.chapters[0].end
    record.events += [
        Event("bo", Kind.SAVED, end - 0.1, end, 34_000),
        Event("bo", Kind.PUSHED, end - 0.1, end, 34_000),
        Event("di", Kind.SAVED, begin, begin, 34_000),
        Event("di", Kind.PUSHED, begin, begin, 34_000),
    ]
    lines = text_of(record, 10).splitlines()
    for name in ("bo", "di"):
        (line,) = (line for line in lines if line.startswith(name))
        assert line.split()[1].replace(" ", "") == "○34k▲34k"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", None, "unknown"])
def test_where_there_are_no_other_characters_the_chart_is_ascii(
    record: Record, encoding: str | None
) -> None:
    text = text_of(record, encoding=encoding)
    assert text.isascii()
    assert f"{PLAIN[Kind.SAVED] * 3}{PLAIN[Kind.REFUSED]}" in text
    assert f"{PLAIN[Kind.PULLED]}25k" in text


@pytest.mark.parametrize("width", [10, 40, 80, 300])
def test_a_narrow_chart_still_has_everything(record: Record, width: int) -> None:
    text = text_of(record, width)
    assert text.count(SYMBOLS[Kind.SAVED]) == 3 + 1
    assert max(map(len, text.splitlines()[:3])) <= max(width, 19)
