"""The screen of the command line tool, driven by Textual's pilot and in a real terminal."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from command_line import PROGRAM, Terminal
from conftest import APP_KEY, APP_SECRET
from damage import damage
from kvstored import Server
from textual.pilot import Pilot
from textual.widgets import DataTable, Input, Static, TabbedContent, TextArea

import kvstore
from kvstore.cli.inspect.app import Inspector
from kvstore.cli.inspect.screen import StoreScreen
from kvstore.cli.inspect.source import open_source
from kvstore.cli.settings import Settings

PICTURE = Path(__file__).resolve().parents[3] / "docs" / "images" / "inspect.svg"
NOTES = [
    {"_id": "bread", "text": "bread", "price": 3, "tags": ["food"]},
    {"_id": "milk", "text": "milk", "price": 1.5, "tags": ["food", "drink"]},
    {"_id": "wine", "text": "wine", "price": 12, "from": {"country": "Portugal", "year": 2019}},
]
Steps = Callable[[Pilot[None]], Awaitable[None]]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a directory with a store of two collections, in the current one."""
    monkeypatch.chdir(tmp_path)
    data = Path("data")
    with kvstore.Client(app_key=APP_KEY, host=None, data_directory=data) as client:
        client.collection("notes").save_many(NOTES)
        client.collection("places").save({"_id": "lisbon"})
    return data


def drive(steps: Steps, settings: Settings) -> None:
    """Open the screen and go through the steps."""

    async def run() -> None:
        with open_source(settings) as source:
            app = Inspector(source)
            async with app.run_test(size=(110, 30)) as pilot:
                await steps(pilot)

    asyncio.run(run())


async def until(pilot: Pilot[None], condition: Callable[[], object], what: str) -> None:
    """Wait for something that a callback or a worker brings about."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, f"waited for {what}:\n{words(pilot)}"
        await pilot.pause(0.02)


def table(pilot: Pilot[None], name: str) -> list[list[str]]:
    """Give the cells of a table."""
    found: DataTable[object] = pilot.app.screen_stack[0].query_one(name, DataTable)
    return [[str(cell) for cell in found.get_row_at(row)] for row in range(found.row_count)]


def words(pilot: Pilot[None]) -> str:
    """Give what is in the log."""
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, StoreScreen)
    return "\n".join(screen.told)


def text(pilot: Pilot[None], name: str) -> str:
    """Give what a widget shows."""
    return str(pilot.app.screen_stack[0].query_one(name, Static).render())


def test_collections_and_entities_are_shown_and_searched(data: Path) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(table(pilot, "#entities")) == 3, "the entities")
        assert table(pilot, "#collections") == [["notes", "3", "3"], ["places", "1", "1"]]
        assert '"text": "bread"' in text(pilot, "#entity")
        for search, found in [("price > 2", 2), ('{"text": "milk"}', 1), ("", 3)]:
            pilot.app.screen.query_one(Input).value = search
            await pilot.press("slash", "enter")

            def is_found(count: int = found) -> bool:
                return len(table(pilot, "#entities")) == count

            await until(pilot, is_found, search)
        pilot.app.screen.query_one(Input).value = "price >"
        await pilot.press("slash", "enter")
        await until(pilot, lambda: text(pilot, "#problem") != "", "a problem")
        await pilot.click("#collections", offset=(3, 2))
        await until(pilot, lambda: table(pilot, "#entities") == [["lisbon"]], "the places")

    drive(steps, Settings(directory=data))


@pytest.mark.plain_file
def test_a_damaged_entity_is_left_out_and_named(data: Path) -> None:
    damage(data, '"text":"milk"', '"text":"silk"')

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(table(pilot, "#entities")) == 2, "the other entities")
        assert "Damaged and left out: milk." in text(pilot, "#problem")
        assert [row[0] for row in table(pilot, "#entities")] == ["bread", "wine"]
        # What its write would send is lost, but can be said again.
        await pilot.press("2")
        await until(pilot, lambda: len(table(pilot, "#pending")) == 4, "the queue")
        pending = pilot.app.screen.query_one("#pending")
        await until(pilot, lambda: pilot.app.focused is pending, "its cursor")
        await pilot.press("down", "e")
        await until(pilot, lambda: bool(pilot.app.screen.query(TextArea)), "the editor")
        pilot.app.screen.query_one(TextArea).text = '{"_id": "milk", "text": "oat milk"}'
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(table(pilot, "#entities")) == 3, "all entities")
        assert text(pilot, "#problem") == ""

    drive(steps, Settings(directory=data))


def test_what_another_client_does_is_shown_and_told(data: Path) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(table(pilot, "#entities")) == 3, "the entities")
        with kvstore.Client(app_key=APP_KEY, host=None, data_directory=data) as client:
            notes = client.collection("notes")
            notes.save({"_id": "\x1b[31mtea", "text": "[b]tea"})
            await until(pilot, lambda: len(table(pilot, "#entities")) == 4, "one more")
            notes.remove_by_id("milk")
            await until(pilot, lambda: "- milk" in words(pilot), "the removal")
        assert r"notes: + \x1b[31mtea" in words(pilot)
        await until(pilot, lambda: table(pilot, "#collections")[0][1] == "3", "the count")

    drive(steps, Settings(directory=data))


def test_pending_writes_are_edited_and_dropped(data: Path) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(table(pilot, "#pending")) == 4, "the queue")
        await pilot.press("2")
        tabs = pilot.app.screen.query_one(TabbedContent)
        await until(pilot, lambda: tabs.active == "queue", "the tab")
        await pilot.press("d")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 2, "the question")
        await pilot.press("n")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1, "the answer")
        await pilot.press("e")
        await until(pilot, lambda: bool(pilot.app.screen.query(TextArea)), "the editor")
        editor = pilot.app.screen.query_one(TextArea)
        editor.text = "[1]"
        await pilot.press("ctrl+s")
        problem = pilot.app.screen.query_one("#problem", Static)
        await until(pilot, lambda: "JSON object" in str(problem.render()), "the problem")
        editor.text = '{"_id": "bread", "text": "rye"}'
        await pilot.press("ctrl+s")
        notes = client.collection("notes")
        await until(pilot, lambda: notes["bread"]["text"] == "rye", "the edit")
        await pilot.press("d")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 2, "the question")
        await pilot.press("y")
        await until(pilot, lambda: len(table(pilot, "#pending")) == 3, "the drop")
        assert len(notes.pending) == 2

    with kvstore.Client(app_key=APP_KEY, host=None, data_directory=data) as client:
        drive(steps, Settings(directory=data))


def test_a_backend_is_pulled_pushed_and_listened_to(
    server: Server, data: Path, unique: str, tmp_path: Path
) -> None:
    def client(name: str) -> kvstore.Client:
        return kvstore.Client(
            app_key=APP_KEY, app_secret=APP_SECRET, host=server.host, data_directory=tmp_path / name
        )

    with client("other") as other, client("mine") as mine:
        other.signup(unique, "a password")
        mine.login(unique, "a password")
        theirs = other.collection(unique)
        mine.collection(unique).save_many([{"_id": "a"}, {"_id": "b", "_geoloc": [500, 500]}])

        async def steps(pilot: Pilot[None]) -> None:
            await until(pilot, lambda: len(table(pilot, "#entities")) == 2, "the entities")
            assert unique in text(pilot, "#facts")
            await pilot.press("u")
            await until(pilot, lambda: "refused" in str(table(pilot, "#pending")), "the push")
            await pilot.press("l")
            await until(pilot, lambda: f"live {unique}: ready" in words(pilot), "live data")
            theirs.save({"_id": "c"})
            theirs.push()
            await until(pilot, lambda: f"live {unique}: change" in words(pilot), "a change")
            await until(pilot, lambda: len(table(pilot, "#entities")) == 3, "the change itself")
            await pilot.press("p")
            await until(pilot, lambda: "pull" in words(pilot), "the pull")
            await pilot.press("2")
            tabs = pilot.app.screen.query_one(TabbedContent)
            await until(pilot, lambda: tabs.active == "queue", "the tab")
            shown = text(pilot, "#write")
            assert "_geoloc must be [longitude, latitude] within -180…180 and -90…90" in shown
            assert "ours: the version that a push would send" in shown
            await pilot.press("r")
            await until(pilot, lambda: "KV_INVALID" in words(pilot), "the refusal")
            await pilot.press("v")
            await until(pilot, lambda: len(pilot.app.screen_stack) == 2, "the question")
            await pilot.press("y")
            await until(pilot, lambda: table(pilot, "#pending") == [], "the revert")

        drive(
            steps,
            Settings(directory=tmp_path / "mine", host=server.host, app_secret=APP_SECRET),
        )


def test_a_conflict_is_shown_with_its_versions_and_decided(
    server: Server, unique: str, tmp_path: Path
) -> None:
    def client(name: str) -> kvstore.Client:
        return kvstore.Client(
            app_key=APP_KEY, app_secret=APP_SECRET, host=server.host, data_directory=tmp_path / name
        )

    with client("other") as other, client("mine") as mine:
        other.signup(unique, "a password")
        mine.login(unique, "a password")
        theirs, ours = other.collection(unique), mine.collection(unique)
        theirs.save({"_id": "a", "n": 1})
        theirs.push()
        ours.pull()
        ours.save({"_id": "a", "n": 2})
        theirs.save({"_id": "a", "n": 3})
        theirs.push()
        ours.push(conflicts="optimistic")

        async def steps(pilot: Pilot[None]) -> None:
            await until(pilot, lambda: "conflict" in str(table(pilot, "#pending")), "the conflict")
            shown = text(pilot, "#write")
            parts = ["v: theirs replaces ours", "ours:", '"n": 2', "base:", '"n": 1', "theirs:"]
            places = [shown.index(part) for part in [*parts, '"n": 3']]
            assert places == sorted(places)
            await pilot.press("2")
            tabs = pilot.app.screen.query_one(TabbedContent)
            await until(pilot, lambda: tabs.active == "queue", "the tab")
            await pilot.press("v")
            await until(pilot, lambda: len(pilot.app.screen_stack) == 2, "the question")
            await pilot.press("y")
            await until(pilot, lambda: table(pilot, "#pending") == [], "the decision")
            assert text(pilot, "#write") == ""

        drive(
            steps,
            Settings(directory=tmp_path / "mine", host=server.host, app_secret=APP_SECRET),
        )
        assert ours["a"]["n"] == 3


@pytest.fixture
def utc() -> Iterator[None]:
    """Show times as they are in UTC, wherever the test runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("utc")
def test_the_picture_of_the_manual_is_what_is_shown(data: Path) -> None:
    """Run with KVSTORE_PICTURES=1 in the environment, this makes the picture."""

    async def steps(pilot: Pilot[None]) -> None:
        def picture() -> str:
            return pilot.app.export_screenshot(title="kvstore inspect", simplify=True)

        await until(pilot, lambda: len(table(pilot, "#entities")) == 3, "the entities")
        pilot.app.screen.query_one(Input).value = "price >= 3"
        await pilot.press("slash", "enter", "down")
        await until(pilot, lambda: "Portugal" in text(pilot, "#entity"), "the last one")
        if os.environ.get("KVSTORE_PICTURES"):
            await pilot.pause(2)
            PICTURE.parent.mkdir(exist_ok=True)
            PICTURE.write_text(picture())
        stored = PICTURE.read_text()
        await until(pilot, lambda: picture() == stored, "the picture of the manual")

    drive(steps, Settings(directory=data))


@pytest.fixture
def terminal(data: Path, tmp_path: Path) -> Iterator[Terminal]:
    """Give a terminal in which the program runs; a shell follows it."""
    command = shlex.join([*PROGRAM, "open", str(data.absolute())])
    terminal = Terminal(tmp_path, f"{command}; echo ended with $?; cat")
    yield terminal
    terminal("kill-server")


def test_in_a_terminal_it_shows_the_store_and_leaves_the_terminal_as_it_was(
    terminal: Terminal,
) -> None:
    shown = terminal.wait_for("bread")
    assert "notes" in shown
    terminal.wait_for("Search")
    terminal("send-keys", "2")
    terminal.wait_for("waiting")
    terminal("send-keys", "4")
    terminal.wait_for("none; --host is needed")
    terminal("resize-window", "-x", "60", "-y", "20")
    terminal.wait_for("application")
    terminal("send-keys", "q")
    assert "notes" not in terminal.wait_for("ended with 0")


def test_without_a_terminal_it_says_so(data: Path) -> None:
    result = subprocess.run(
        [*PROGRAM, "open", str(data)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 2
    assert (
        result.stderr
        == "kvstore: The output is not a terminal; --web shows the store in a browser.\n"
    )
