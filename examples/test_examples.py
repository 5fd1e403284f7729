"""Tests that the examples run, and that the first programs are short."""

from __future__ import annotations

import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent
sys.path.insert(0, str(EXAMPLES.parent / "scripts"))

import kvstore  # noqa: E402
from kvstored import Server  # noqa: E402


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a server for the app of the examples."""
    with Server(tmp_path_factory.mktemp("server"), "kid_demo:secret") as server:
        yield server


@pytest.mark.parametrize(
    "program",
    [
        *("c/first.c", "c/follow.c"),
        *("python/first.py", "python/follow.py", "python/progress.py"),
        *("go/first/first.go", "go/follow/follow.go"),
    ],
)
def test_a_small_program_has_at_most_40_lines(program: str) -> None:
    assert len((EXAMPLES / program).read_text().splitlines()) <= 40


def test_the_first_program_in_c(server: Server, tmp_path: Path) -> None:
    flags = run(tmp_path, "pkg-config", "--cflags", "--libs", "kvstore").split()
    source = str(EXAMPLES / "c" / "first.c")
    run(tmp_path, "gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", source, "-o", "first", *flags)
    output = run(tmp_path, "./first", server.host)
    assert "saved {" in output
    assert "found {" in output
    assert '"pushed":1' in output


def test_the_first_program_in_python(server: Server, tmp_path: Path) -> None:
    output = run(tmp_path, sys.executable, str(EXAMPLES / "python" / "first.py"), server.host)
    assert "found {" in output
    assert "1 to push\npushed 1 with errors []" in output


def test_the_progress_bar_reaches_its_end(server: Server, tmp_path: Path) -> None:
    with kvstore.Client(
        app_key="kid_demo",
        app_secret="secret",
        host=server.host,
        data_directory=tmp_path / "filler",
    ) as client:
        client.signup()
        many = client.collection("many", "network")
        assert not many.save_many({"n": number} for number in range(2500)).errors
    program = EXAMPLES / "python" / "progress.py"
    output = run(tmp_path, sys.executable, str(program), server.host, "many")
    assert "2500/2500" in output
    assert "pulled 2500" in output


def test_the_first_program_in_go(server: Server, tmp_path: Path) -> None:
    program = tmp_path / "first"
    run(EXAMPLES / "go", "go", "build", "-o", str(program), "./first")
    output = run(tmp_path, str(program), server.host)
    assert "found [{" in output
    assert "pushed 1" in output


def test_typed_models_in_python_offline_and_on_two_devices(tmp_path: Path) -> None:
    output = run(tmp_path, sys.executable, str(EXAMPLES / "models" / "demo.py"))
    assert "editors: ['ann', 'ben']" in output
    assert "What the phone writes arrives at the laptop." in output


def test_typed_models_in_go(tmp_path: Path) -> None:
    program = tmp_path / "models"
    run(EXAMPLES / "go", "go", "build", "-o", str(program), "./models")
    schema = EXAMPLES / "models" / "schema.graphql"
    output = run(tmp_path, str(program), str(schema), str(tmp_path / "data"))
    assert output == (
        "rating by default: 3\ncomment: Wow!\neditor: ann\neditor: ben\neditors that are left: 1\n"
    )


def test_the_guide_s_second_program_in_c(tmp_path: Path) -> None:
    program = example("c", "editors", tmp_path)
    schema = EXAMPLES / "models" / "schema.graphql"
    output = run(tmp_path, *program, str(schema), str(tmp_path / "data")).splitlines()
    ann = '  {"id":"1","postID":"p","editorID":"ann"}'
    ben = '  {"id":"2","postID":"p","editorID":"ben"}'
    assert output[:3] == ["editors of p:", ann, ben]
    assert output[3:] == ["editor of 2:", '  {"id":"ben","username":"Ben"}', "editors of p:", ann]


def example(
    language: str, name: str, directory: Path, *, c_name: str = "", needs: str = ""
) -> list[str]:
    """Build an example, if needed; return the command that starts it."""
    if language == "python":
        return [sys.executable, str(EXAMPLES / "python" / f"{name}.py")]
    program = directory / f"{name}-example"
    if language == "go":
        run(EXAMPLES / "go", "go", "build", "-o", str(program), f"./{name}")
    else:
        flags = run(
            directory, "pkg-config", "--cflags", "--libs", "kvstore", *needs.split()
        ).split()
        source = str(EXAMPLES / "c" / f"{c_name or name}.c")
        warnings = ["-Wall", "-Wextra", "-Werror"]
        run(directory, "gcc", "-std=gnu11", *warnings, source, "-o", program.name, *flags)
    return [str(program)]


@pytest.mark.parametrize("language", ["c", "python", "go"])
def test_two_programs_share_a_directory_of_files(language: str, tmp_path: Path) -> None:
    program = example(language, "files", tmp_path, c_name="backend_files", needs="jansson")
    # Without the directory a note waits.
    assert "KV_NETWORK" in run(tmp_path, *program, "shared", "mine", "milk é")
    (tmp_path / "shared").mkdir()
    output = run(tmp_path, *program, "shared", "mine", "bread")
    assert re.search('pushed"?[:=]2', output, re.IGNORECASE)
    output = run(tmp_path, *program, "shared", "yours", "tea")
    assert all(text in output for text in ("milk é", "bread", "tea"))
    assert "tea" in run(tmp_path, *program, "shared", "mine")
    assert len(list((tmp_path / "shared" / "notes").glob("*.json"))) == 3


def bug_tracker(language: str, directory: Path) -> list[str]:
    """Build the tracker of bugs, if needed; return the command that starts it."""
    sources = EXAMPLES / "bugs"
    program = directory / "bugs"
    if language == "python":
        return [sys.executable, str(sources / "bugs.py")]
    if language == "go":
        run(sources / "go", "go", "build", "-o", str(program), ".")
    else:
        flags = run(directory, "pkg-config", "--cflags", "--libs", "kvstore", "jansson").split()
        files = [str(sources / "bugs.c"), str(sources / "bugs_file.c")]
        run(
            directory,
            "gcc",
            "-std=gnu11",
            "-Wall",
            "-Wextra",
            "-Werror",
            *files,
            "-o",
            str(program),
            *flags,
        )
    return [str(program)]


@pytest.mark.parametrize("store", ["local", "bugs-file"])
@pytest.mark.parametrize("language", ["c", "python", "go"])
def test_the_tracker_of_bugs_keeps_them_in_any_store(
    language: str, store: str, tmp_path: Path
) -> None:
    program = bug_tracker(language, tmp_path)
    data = tmp_path / "data"

    def bugs(*arguments: str) -> str:
        # Each command is a launch of its own.
        return run(tmp_path, *program, store, str(data), *arguments).strip()

    id = bugs("add", "It crashes: é", "10").removeprefix("added ")
    assert bugs("refresh", "250") == "added 250"
    lines = bugs("list").splitlines()
    assert lines[0] == "251 bugs"
    assert lines[1] == f"{id} 10 open It crashes: é"
    assert len({line.split()[0] for line in lines[1:]}) == 251
    assert bugs("show", "250") == "Terrible bug 99"
    bugs("fix", id)
    bugs("retitle", id, "It crashed")
    assert bugs("list").splitlines()[1] == f"{id} 10 fixed It crashed"
    assert bugs("remove", id) == "removed 1"
    assert bugs("remove", id) == "removed 0"
    assert bugs("list").splitlines()[0] == "250 bugs"
    assert (data / "bugs.json").exists() == (store == "bugs-file")
    assert bool(list(data.rglob("kinvey.kvs"))) == (store == "local")


@pytest.mark.parametrize("language", ["c", "python", "go"])
def test_what_one_terminal_writes_the_other_one_shows(
    language: str, server: Server, tmp_path: Path
) -> None:
    program = example(language, "live", tmp_path)
    text = f"milk for {language}"
    with watching(tmp_path, [*program, "watch", server.host]) as lines:
        wait_for(lines, "live: .*connected", "live: .*ready")
        assert "saved" in run(tmp_path, *program, "write", server.host, text)
        wait_for(lines, "live: .*create", text)


@pytest.mark.parametrize("language", ["c", "python", "go"])
def test_what_is_followed_goes_both_ways(language: str, server: Server, tmp_path: Path) -> None:
    program = example(language, "follow", tmp_path)
    with kvstore.Client(
        app_key="kid_demo", app_secret="secret", host=server.host, data_directory=tmp_path / "other"
    ) as client:
        client.signup()
        client.register_live()
        notes = client.collection("notes", "network")
        before = notes.count()
        with notes.live() as events:
            assert any(event.event == "ready" for event in events)
            with watching(tmp_path, [*program, server.host]) as lines:
                if language == "c":
                    wait_for(lines, '"state":"current","live":true', '"pending":0,.*"follows":\\[{')
                else:
                    wait_for(lines, f"{before + 1} notes here, 0 to push")
                # Nothing waits either before the program has saved its note.
                assert next(e.change for e in events if e.event == "change") == "create"
                assert notes.count() == before + 1
                notes.save({"text": "bread"})
                if language != "c":
                    wait_for(lines, f"{before + 2} notes here")


@contextmanager
def watching(directory: Path, command: list[str]) -> Iterator[queue.SimpleQueue[str]]:
    """Run a program in its own terminal; yield a reader of its lines."""
    with subprocess.Popen(
        command, cwd=directory, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        lines: queue.SimpleQueue[str] = queue.SimpleQueue()

        def read() -> None:
            for line in process.stdout or ():
                lines.put(line)
            lines.put("")

        reader = threading.Thread(target=read)
        reader.start()
        try:
            yield lines
        finally:
            process.terminate()
            reader.join()


def wait_for(lines: queue.SimpleQueue[str], *patterns: str) -> None:
    """Wait until each of these texts was in a line."""
    output: list[str] = []
    while not all(any(re.search(pattern, line) for line in output) for pattern in patterns):
        output.append(lines.get(timeout=30))
        assert output[-1], f"it ended: {output}"


def environment() -> dict[str, str]:
    """Return the environment in which programs find this library."""
    return {**os.environ, "PYTHONPATH": str(EXAMPLES.parent / "bindings" / "python" / "src")}


def run(directory: Path, *command: str) -> str:
    """Run a program and return its output."""
    process = subprocess.run(
        command,
        cwd=directory,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout
