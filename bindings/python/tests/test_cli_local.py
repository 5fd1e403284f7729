"""The command line tool on a store without a backend."""

from __future__ import annotations

import csv
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import PROGRAM, Tool

import kvstore
from kvstore.cli.program import run

KEY = "kid_test"
NOTES = [
    {"_id": "a", "text": "milk", "price": 3, "tags": ["food"]},
    {"_id": "b", "text": "wine", "price": 12.5, "done": None},
    {"_id": "c", "text": "42", "price": -1, "empty": "", "more": {"x": [1, "ä\n"]}},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Give a directory with a store that has three notes."""
    with kvstore.Client(app_key=KEY, host=None, data_directory=tmp_path / "data") as client:
        client.collection("notes").save_many(NOTES)
    return tmp_path / "data"


@pytest.fixture
def tool(data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tool:
    """Give the tool on that directory."""
    for name in [name for name in os.environ if name.startswith("KVSTORE_")]:
        if name not in ("KVSTORE_LIBRARY", "KVSTORE_TEST_KEY"):
            monkeypatch.delenv(name)
    return Tool(data, capsys, monkeypatch)


def test_collections_have_counts_and_sizes(tool: Tool) -> None:
    (row,) = tool("collections", "--json").json
    assert row["collection"] == "notes"
    assert (row["entities"], row["pending"], row["waiting"], row["quarantined"]) == (3, 3, 3, 0)
    assert row["bytes"] == sum(
        len(json.dumps(note, ensure_ascii=False, separators=(",", ":")).encode()) for note in NOTES
    )
    assert "bytes" not in tool("--json", "collections", "--no-sizes").json[0]
    assert tool("collections").lines[1].split()[:3] == ["notes", "3", "170"]


def test_find_takes_a_filter_or_a_format(tool: Tool) -> None:
    for words in (
        ['{"price": {"$gt": 1}}', "--sort", "-price"],
        ["--where", "price > %@", "--arg", "1", "--sort", "-price"],
    ):
        found = tool("find", "notes", *words, "--json").json
        assert [note["_id"] for note in found] == ["b", "a"]
    assert tool(
        "find", "notes", "-s", "price", "-n", "1", "--skip", "1", "-f", "text", "--json"
    ).json == [{"_id": "a", "text": "milk"}]
    assert tool("count", "notes", "--where", "text == 'milk'").out == "1\n"
    assert tool("count", "notes", "--where", "text == %@", "--arg", "milk").out == "1\n"


def test_find_prints_a_table_json_lines_and_csv(tool: Tool) -> None:
    table = tool("find", "notes").lines
    assert table[0].split() == ["_id", "text", "price", "tags", "done", "empty", "more"]
    assert table[1].split() == ["a", "milk", "3", '["food"]']
    assert tool("find", "notes", "--json").json == NOTES
    lines = tool("find", "notes", "-o", "ndjson").lines
    assert [json.loads(line) for line in lines] == NOTES
    rows = tool("find", "notes", "-o", "csv", "-f", "text,price").lines
    assert rows == ["_id,text,price", "a,milk,3", "b,wine,12.5", 'c,"""42""",-1']


@pytest.mark.parametrize("words", [[], ["indexes"]])
def test_where_a_command_is_missing_the_help_is_shown(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("Usage: kvstore")
    assert "\nCommands:\n" in shown


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ver"], "plain,verify"),
        (["find", "no"], "plain,notes"),
        (["find", "notes", "--lim"], "plain,--limit"),
        (["pending", "edit", "n"], "plain,notes"),
    ],
)
def test_the_shell_completes_commands_collections_and_options(
    data: Path, words: list[str], found: str
) -> None:
    typed = ["kvstore", "--dir", str(data), *words]
    variables = {"_KVSTORE_COMPLETE": "bash_complete", "COMP_WORDS": shlex.join(typed)}
    done = subprocess.run(
        PROGRAM,
        env=os.environ | variables | {"COMP_CWORD": str(len(typed) - 1)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found in done.stdout.splitlines(), done


def test_compact_gives_disk_space_back(tool: Tool, data: Path) -> None:
    with kvstore.Client(app_key=KEY, host=None, data_directory=data) as client:
        many = client.collection("many")
        many.save_many([{"text": "x" * 1000} for _ in range(2000)])
        many.clear()
    sizes = tool("compact", "--json").json
    assert sizes["after"] < sizes["before"] / 4
    assert tool("compact").out.endswith("KiB now.\n")
    assert tool("count", "notes").out == "3\n"


def test_compact_waits_for_who_reads_only_so_long(tool: Tool, data: Path) -> None:
    with kvstore.Client(app_key=KEY, host=None, data_directory=data) as client:
        many = client.collection("many")
        many.save_many([{"text": "x" * 1000} for _ in range(2000)])
        with many.find() as found:
            next(found)
            many.save({"text": "one more"})
            # Writing the file anew has to be over before that.
            late = tool("compact", "--timeout", "2")
    assert (late.code, late.err.count("\n")) == (1, 1)


def test_a_long_table_says_that_it_was_cut(tool: Tool, data: Path) -> None:
    with kvstore.Client(app_key=KEY, host=None, data_directory=data) as client:
        client.collection("many").save_many([{"n": n} for n in range(150)])
    cut = tool("find", "many")
    assert len(cut.lines) == 101
    assert "--limit 0" in cut.err
    assert len(tool("find", "many", "--limit", "0").lines) == 151
    assert len(tool("find", "many", "--json").json) == 150


def test_get_gives_entities_and_tells_which_are_missing(tool: Tool) -> None:
    assert tool("get", "notes", "a", "--json").json == NOTES[0]
    assert tool("get", "notes", "a", "b", "--json").json == NOTES[:2]
    missing = tool("get", "notes", "a", "nowhere")
    assert missing.code == 3
    assert json.loads(missing.out) == NOTES[0]
    assert 'there is no "nowhere" in notes' in missing.err


def test_indexes_are_made_used_listed_and_dropped(tool: Tool) -> None:
    assert tool("explain", "notes", '{"price": 3}', "--json").json["access"] == "scan"
    assert tool("indexes", "create", "notes", "price", "text:-1", "--name", "cheap").code == 0
    (index,) = tool("indexes", "list", "notes", "--json").json
    assert index["name"] == "cheap"
    assert index["keys"] == {"price": 1, "text": -1}
    explained = tool("explain", "notes", '{"price": 3}', "--json").json
    assert explained["indexes"] == ["cheap"]
    assert tool("indexes", "drop", "notes", "cheap").code == 0
    assert tool("indexes", "drop", "notes", "cheap").code == 3
    assert tool("indexes", "create", "notes", "price:up").code == 2
    made = tool("indexes", "create", "notes", "text", "--collation", "de")
    assert made.out == "The index text_1_de is ready.\n"
    (index,) = tool("indexes", "list", "notes", "--json").json
    assert index["collation"] == {"locale": "de"}
    explained = tool("explain", "notes", "--sort", "text", "--collation", "de", "--json").json
    assert explained["indexes"] == ["text_1_de"]


@pytest.mark.parametrize("kind", ["ndjson", "csv"])
def test_an_export_is_imported_as_it_was(tool: Tool, tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"notes.{kind}"
    assert tool("export", "notes", "--to", str(file)).out == f"3 entities exported to {file}.\n"
    assert tool("import", "copy", str(file)).out == "3 entities imported.\n"
    assert tool("find", "copy", "--json").json == NOTES


def test_an_export_writes_to_what_is_no_file_and_leaves_links_alone(
    tool: Tool, tmp_path: Path
) -> None:
    file, link, pipe = (tmp_path / name for name in ("file", "link", "pipe"))
    (tmp_path / "file.part").write_text("somebody's")
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    assert tool("export", "notes", "--to", str(link)).code == 0
    assert link.is_symlink()
    assert len(file.read_text().splitlines()) == 3
    assert file.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "file.part").read_text() == "somebody's"

    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        assert tool("export", "notes", "--to", str(pipe)).code == 0
        assert len(reader.communicate()[0].splitlines()) == 3
    assert pipe.is_fifo()
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith(".f")) == []


def test_an_export_is_for_its_user_only(tool: Tool, tmp_path: Path) -> None:
    """The data directory is, too. A file that was there keeps the mode that the user has set."""
    for kind in ("ndjson", "csv"):
        file = tmp_path / f"notes.{kind}"
        assert tool("export", "notes", "--to", str(file)).code == 0
        assert file.stat().st_mode & 0o777 == 0o600
    theirs = tmp_path / "theirs"
    theirs.write_text("old")
    theirs.chmod(0o666)
    if os.geteuid() == 0:
        os.chown(theirs, 65534, 65534)
        assert tool("export", "notes", "--to", str(theirs)).code == 0
        status = theirs.stat()
        assert (status.st_uid, status.st_mode & 0o777) == (0, 0o600)


def test_no_cell_of_csv_begins_as_a_formula_does(tool: Tool, tmp_path: Path) -> None:
    texts = ["=1+1", "+1 2", "-x", "@SUM(A1)", "\t=1", "'=1", '"=1', "=", "-5", "plain"]
    notes: list[dict[str, object]] = [
        {"_id": f"n{n}", "text": text} for n, text in enumerate(texts)
    ]
    notes[0] |= {"=cmd": 1, '"quoted': -5}
    file, again = tmp_path / "in.ndjson", tmp_path / "out.csv"
    file.write_text("\n".join(json.dumps(note) for note in notes))
    assert tool("import", "formulas", str(file)).code == 0
    assert tool("export", "formulas", "--to", str(again)).code == 0
    with again.open(newline="") as opened:
        header, *rows = csv.reader(opened)
    for cell in [*header, *(cell for row in rows for cell in row)]:
        assert cell[:1] not in tuple("=+@\t\r"), cell
        assert not cell.startswith("-") or cell == "-5", "a number"
    assert tool("import", "copy", str(again)).code == 0
    copied = sorted(tool("find", "copy", "--json").json, key=lambda note: str(note["_id"]))
    assert copied == notes


def test_an_import_of_csv_goes_on_behind_a_row_that_is_none(tool: Tool, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    long = "x" * 200_000
    file.write_bytes(b"_id,text\na,%s\nb,\xff\nc,tea\n" % long.encode())
    result = tool("import", "rows", str(file), "--json")
    assert (result.code, json.loads(result.out)) == (1, {"imported": 2, "failed": 1})
    assert json.loads(result.err)["error"]["line"] == 3
    assert tool("get", "rows", "a", "--json").json["text"] == long


def test_with_json_every_problem_is_json(tool: Tool) -> None:
    for words in (["get", "notes", "nope"], ["pending", "drop", "notes", "nope", "--yes"]):
        result = tool(*words, "--json")
        assert result.code == 3
        assert all(json.loads(line)["error"]["message"] for line in result.err.splitlines())


def test_an_import_from_a_pipe_names_the_lines_that_are_not_valid(tool: Tool) -> None:
    lines = ['{"_id": "x"}', "", '{"_id": ""}', '{"y": 1', '{"z": 1}, {"z": 2}', '{"_id": "w"}']
    result = tool("import", "new", stdin="\n".join(lines))
    assert result.code == 1
    assert result.out == "2 entities imported.\n"
    assert [line.split(":")[1] for line in result.err.splitlines()] == [
        " line 3",
        " line 4",
        " line 5",
    ]
    assert [note["_id"] for note in tool("find", "new", "--json").json] == ["x", "w"]


def test_an_import_of_new_entities_replaces_none(tool: Tool) -> None:
    result = tool("import", "notes", "--new", stdin='{"_id":"a","text":"tea"}\n{"_id":"n"}\n')
    assert result.code == 1
    assert "line 1" in result.err
    assert tool("get", "notes", "a", "--json").json == NOTES[0]
    assert tool("count", "notes").out == "4\n"


def test_pending_writes_are_listed_shown_edited_and_dropped(tool: Tool) -> None:
    rows = tool("pending", "--json").json
    assert [(row["collection"], row["id"], row["operation"]) for row in rows] == [
        ("notes", "a", "create"),
        ("notes", "b", "create"),
        ("notes", "c", "create"),
    ]
    assert tool("pending", "list", "notes", "--state", "refused").out == "No pending writes.\n"
    assert tool("pending", "edit", "notes", "a", '{"_id": "a", "text": "tea"}').code == 0
    assert tool("pending", "show", "notes", "a").json["entity"]["text"] == "tea"
    assert tool("pending", "drop", "notes", "a").out == "1 write dropped.\n"
    assert tool("pending", "revert", "notes", "b").out == "1 write reverted.\n"
    assert tool("count", "notes").out == "2\n"
    some = tool("pending", "drop", "notes", "a", "c")
    assert (some.code, some.out) == (3, "1 write dropped.\n")


def test_what_concerns_all_writes_is_asked_for(tool: Tool) -> None:
    refused = tool("pending", "drop", "notes", "--all")
    assert refused.code == 2
    assert refused.err == "kvstore: Forget 3 pending writes of notes? Use --yes to confirm.\n"
    assert tool("pending", "drop", "notes", "--all", "--yes").out == "3 writes dropped.\n"
    assert tool("pending", "drop", "notes").code == 2


def test_errors_are_one_line_and_an_exit_code(tool: Tool) -> None:
    for code, words in [
        (2, ["find"]),
        (2, ["nonsense"]),
        (2, ["find", "notes", "{bad"]),
        (2, ["find", "notes", "[1]"]),
        (2, ["find", "notes", '{"a": {"$nonsense": 1}}']),
        (2, ["find", "notes", "--where", "a ==="]),
        (2, ["find", "notes", "{}", "--where", "a == 1"]),
        (3, ["find", "nowhere"]),
        (3, ["--app", "another", "collections"]),
        (3, ["--tag", "another", "collections"]),
    ]:
        failed = tool(*words)
        assert (failed.code, failed.out) == (code, ""), words
        assert failed.err.startswith("kvstore: ")
        assert failed.err.count("\n") == 1, failed.err
    failed = tool("find", "nowhere", "--json")
    told = json.loads(failed.err)
    assert told == {"error": {"message": "There is no collection nowhere."}, "exitCode": 3}


def test_the_tool_makes_no_store(tool: Tool, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert tool("--dir", str(tmp_path / "nowhere"), "collections").code == 3
    assert (
        tool("--dir", str(tmp_path), "collections").err
        == f"kvstore: There is no store in {tmp_path}.\n"
    )
    assert sorted(tmp_path.rglob("*")) == before


def test_the_file_itself_names_the_store_as_well(tool: Tool, data: Path) -> None:
    assert tool("--dir", str(data / "kid%5Ftest" / "kinvey.kvs"), "count", "notes").out == "3\n"
    with kvstore.Client(app_key="ü", host=None, data_directory=data, tag="t") as client:
        client.collection("x").save({"_id": "1"})
    several = tool("collections")
    assert several.code == 2
    assert f"{KEY}, ü" in several.err
    assert tool("-a", "ü", "find", "x", "--json").json == [{"_id": "1"}]


def test_a_file_under_a_name_that_no_client_gives_is_refused(tool: Tool, tmp_path: Path) -> None:
    copy = tmp_path / "of may" / "kinvey.kvs"
    copy.parent.mkdir()
    copy.write_bytes((tool.directory / "kid%5Ftest" / "kinvey.kvs").read_bytes())
    refused = tool("--dir", str(copy), "collections")
    assert refused.code == 2
    assert "of%20may/kinvey.kvs would be its name" in refused.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "of may"]


def test_a_store_that_a_program_uses_is_read_and_written(tool: Tool, data: Path) -> None:
    with kvstore.Client(app_key=KEY, host=None, data_directory=data) as client:
        notes = client.collection("notes")
        with notes.changes() as changes:
            next(changes)
            assert tool("import", "notes", stdin='{"_id":"d"}').code == 0
            assert [placed.entity for placed in next(changes).insertions] == [{"_id": "d"}]
        notes.save({"_id": "e"})
        assert tool("count", "notes").out == "5\n"


def test_control_characters_give_no_orders_to_a_terminal(tool: Tool) -> None:
    assert tool("import", "odd", stdin='{"_id":"x","text":"\\u001b[31mred\\u009b"}').code == 0
    for words in (["find", "odd"], ["get", "odd", "x"], ["find", "odd", "-o", "csv"]):
        printed = tool(*words).out
        assert "\x1b" not in printed or words[-1] == "csv"


def start(data: Path, *words: str, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
    """Start the tool as a process of its own."""
    return subprocess.Popen(
        [*PROGRAM, "--dir", str(data), *words],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_reader_that_leaves_is_no_error(data: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with start(data, "find", "notes", "-o", "ndjson", stdout=writing) as process:
        os.close(writing)
        assert process.communicate()[1] == ""
    assert process.returncode == 141


def test_ctrl_c_ends_it_in_one_line(data: Path) -> None:
    with start(data, "import", "slow") as process:
        assert process.stdin is not None
        # More than a pipe holds: when all has been taken, the tool reads.
        process.stdin.write("{}\n" * 100_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.read() == "kvstore: interrupted\n"
    assert process.returncode == 130


def test_without_its_libraries_the_tool_says_what_to_install(data: Path) -> None:
    code = "import sys; sys.modules['click'] = None\nfrom kvstore.cli import main; sys.exit(main())"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert (
        result.stderr
        == "kvstore: the command line tool is not installed; run: pip install 'libkvstore[cli]'\n"
    )
