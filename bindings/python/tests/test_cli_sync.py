"""The command line tool with a real kvstored."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import PROGRAM, Terminal, Tool
from conftest import APP_KEY, APP_SECRET, Silence, open_client
from kvstored import Server
from test_server_tls import Authority

import kvstore

NewTool = Callable[[str], Tool]


@pytest.fixture
def new_tool(
    server: Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> NewTool:
    """Give the tool on directories of its own, with the shared server."""
    monkeypatch.setenv("KVSTORE_APP_SECRET", APP_SECRET)
    monkeypatch.setenv("KVSTORE_PASSWORD", "a password")
    common = ["--app", APP_KEY, "--host", server.host]
    return lambda name: Tool(tmp_path / name, capsys, monkeypatch, *common)


@pytest.fixture
def ana(new_tool: NewTool, unique: str) -> Tool:
    """Give the tool with a user of its own, who is logged in."""
    tool = new_tool("ana")
    assert tool("signup", unique).code == 0
    return tool


@pytest.fixture
def other(new_tool: NewTool, ana: Tool, unique: str) -> Tool:
    """Give a second directory of the same user."""
    tool = new_tool("other")
    assert tool("login", unique).code == 0
    return tool


def note(id: str, number: int) -> str:
    """Give a line of JSON."""
    return json.dumps({"_id": id, "number": number}) + "\n"


def refused(id: str) -> str:
    """Give an entity that the server refuses for good."""
    return json.dumps({"_id": id, "_geoloc": [500, 500]}) + "\n"


def test_a_user_logs_in_and_out(ana: Tool, unique: str) -> None:
    assert ana("users", "me").json["username"] == unique
    assert ana("users", "me", "--stored").json["username"] == unique
    assert ana("users", "update", '{"colour": "red"}').json["colour"] == "red"
    assert ana("users", "exists", unique).out == "taken\n"
    assert ana("users", "exists", f"{unique}-no").code == 3
    assert ana("logout").code == 2
    assert ana("logout", "--keep-data").out == "Logged out.\n"
    assert ana("users", "me", "--stored").code == 5
    assert ana("login", unique, "--json").json["user"]["username"] == unique
    assert ana("users", "delete", "--hard", "--yes").code == 0
    assert ana("login", unique).code == 5


def test_a_password_is_read_from_the_standard_input(
    ana: Tool, unique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KVSTORE_PASSWORD")
    assert ana("login", unique, stdin="wrong\n").code == 5
    assert ana("login", unique, stdin="a password\n").code == 0
    assert ana("login", unique).code == 2


def test_what_one_pushes_another_one_pulls(ana: Tool, other: Tool, unique: str) -> None:
    ana("import", unique, stdin=note("a", 1) + note("b", 2))
    (pushed,) = ana("push", "--json").json
    assert pushed == {
        "collection": unique,
        "pushed": 2,
        "quarantined": 0,
        "discarded": 0,
        "errors": 0,
    }
    (pulled,) = other("pull", unique, "--filter", '{"number": 2}', "--json").json
    assert pulled == {"collection": unique, "pulled": 1, "removed": 0, "errors": 0}
    other("import", unique, stdin=note("c", 3))
    (synced,) = other("sync", "--changes", "--json").json
    assert (synced["pushed"], synced["pulled"]) == (1, 3)
    assert other("count", unique).out == "3\n"
    assert ana("collections", "--json").json[0]["lastSynced"] is None
    assert ana("pull", "--where", "number > 2").code == 0
    assert ana("collections", "--json").json[0]["lastSynced"] is not None


def test_what_is_refused_is_named_and_can_be_mended(ana: Tool, unique: str) -> None:
    ana("import", unique, stdin=refused("x") + note("y", 1) + refused("z"))
    pushed = ana("push", unique)
    assert pushed.code == 4
    assert pushed.out.splitlines()[1].split() == [unique, "1", "2", "0", "2"]
    assert pushed.err.count("_geoloc must be") == 2
    rows = ana("pending", "list", unique, "--state", "refused", "--json").json
    assert [row["id"] for row in rows] == ["x", "z"]
    assert rows[0]["error"]["name"] == "KV_INVALID"
    assert ana("pending", "edit", unique, "x", note("x", 5)).code == 0
    assert ana("pending", "retry", unique, "x").out == "1 write sent.\n"
    retried = ana("pending", "retry", unique, "--all")
    assert (retried.code, retried.out) == (2, "0 writes sent.\n")
    assert ana("push", "--retry-quarantined").code == 4
    assert ana("pending", "revert", unique, "z").code == 0
    assert ana("pending", "--json").json == []


@pytest.mark.parametrize(
    ("decision", "result"), [("--ours", 2), ("--theirs", 1), ("--with", 3)], ids=lambda x: str(x)
)
def test_a_conflict_is_shown_and_decided(
    ana: Tool, other: Tool, unique: str, decision: str, result: int
) -> None:
    for tool in (ana, other):
        tool("import", unique, stdin=note("a", 0))
        assert tool("sync").code == 0
    ana("import", unique, stdin=note("a", 1))
    assert ana("push").code == 0
    other("import", unique, stdin=note("a", 2))
    assert other("push", "--conflicts", "optimistic").code == 4
    (row,) = other("conflicts", "--json").json
    assert (row["collection"], row["id"], row["state"]) == (unique, "a", "conflict")
    shown = other("conflicts", "show", unique, "a").json
    assert [shown[which]["number"] for which in ("base", "ours", "theirs")] == [0, 2, 1]
    assert other("conflicts", "resolve", unique, "a").code == 2
    words = [decision] if decision != "--with" else [decision, note("a", 3)]
    assert other("conflicts", "resolve", unique, "a", *words).out == "1 conflict decided.\n"
    assert other("conflicts").out == "No conflicts.\n"
    assert other("push").code == 0
    assert ana("pull").code == 0
    assert ana("get", unique, "a").json["number"] == result


def test_an_entity_is_shared_with_users_and_groups(
    ana: Tool, new_tool: NewTool, unique: str
) -> None:
    ben = new_tool("ben")
    friend = ben("signup", f"{unique}-ben", "--json").json["user"]["_id"]
    (found,) = ana("users", "find", "--username", f"{unique}-ben", "--json").json
    assert found["_id"] == friend
    assert ana("users", "find", "--username", f"{unique}-no").out == "No users.\n"
    group = ana("groups", "create", "friends", "--json").json["id"]
    assert ana("groups", "update", group, "--add", friend, "--json").json["members"] == [friend]
    assert [row["id"] for row in ana("groups", "list", "--json").json] == [group]
    ana("import", unique, stdin=note("a", 1))
    ana("push")
    assert ana("share", unique, "a").code == 2
    assert ana("share", unique, "a", "--writer", friend, "--reader-group", group).code == 0
    ana("push")
    shared = ana("get", unique, "a").json["_acl"]
    assert shared["w"] == [friend]
    assert shared["groups"] == {"r": [group]}
    assert ana("unshare", unique, "a", "--writer", friend).code == 0
    assert not ana("get", unique, "a").json["_acl"].get("w")
    assert ana("groups", "delete", group).code == 2
    assert ana("groups", "delete", group, "--yes").code == 0


def test_follow_brings_what_is_there_and_tells_what_comes(
    ana: Tool, other: Tool, unique: str
) -> None:
    ana("import", unique, stdin=note("a", 1))
    ana("push")
    lines = other("follow", unique, "--until-current").lines
    assert lines[0].startswith("0 here") or lines[0].startswith("starting")
    assert lines[-1].startswith("current")
    assert other("count", unique).out == "1\n"
    events = [json.loads(line) for line in other("follow", unique, "-n", "2", "--json").lines]
    assert {event["event"] for event in events} == {"initial", "status"}


def test_live_tells_what_others_do(ana: Tool, server: Server, unique: str, tmp_path: Path) -> None:
    command = [*PROGRAM, "--dir", str(ana.directory), "--app", APP_KEY, "--host", server.host]
    listening = subprocess.Popen(
        [*command, "live", unique, "--output", "ndjson", "--count", "3", "--local"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert listening.stdout is not None
    with listening, open_client(server.host, tmp_path / "third") as client:
        client.login(unique, "a password")
        seen = []
        for line in listening.stdout:
            event = json.loads(line)
            seen.append(event["event"])
            if event["event"] == "ready":
                notes = client.collection(unique, "network")
                notes.save({"_id": "new"})
    assert seen[-1] == "change"
    assert event["entity"]["_id"] == "new"
    assert ana("get", unique, "new").code == 0


def test_watch_tells_what_changes_here(ana: Tool, server: Server) -> None:
    ana("import", "notes", stdin=note("a", 1))
    command = [*PROGRAM, "--dir", str(ana.directory), "--app", APP_KEY, "--host", server.host]
    watching = subprocess.Popen(
        [*command, "watch", "notes", "--filter", '{"number": {"$gt": 0}}', "-n", "2"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    with (
        watching,
        kvstore.Client(app_key=APP_KEY, host=None, data_directory=ana.directory) as client,
    ):
        lines = []
        for line in watching.stdout:
            lines.append(line)
            # What changes before that, or changes back, is not told.
            if len(lines) == 1:
                client.collection("notes").save({"_id": "b", "number": 2})
    assert watching.returncode == 0
    assert lines[0] == "1 here\n"
    assert lines[1].startswith("+ b")


def test_a_backend_that_cannot_be_reached_is_an_exit_code(ana: Tool, silence: Silence) -> None:
    ana("import", "notes", stdin=note("a", 1))
    assert ana("--host", "http://127.0.0.1:1", "push").code == 6
    late = ana("--host", silence.host, "--timeout", "0.3", "push")
    assert late.code == 6
    assert late.err.count("\n") == 1


def test_ctrl_c_cancels_what_is_under_way(ana: Tool, silence: Silence) -> None:
    ana("import", "notes", stdin=note("a", 1))
    command = [*PROGRAM, "--dir", str(ana.directory), "--host", silence.host, "push"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert silence.asked.wait(30)
        process.send_signal(2)
        assert process.communicate()[1] == "kvstore: interrupted\n"
    assert process.returncode == 130
    assert len(ana("pending", "--json").json) == 1


def test_a_terminal_shows_a_bar_until_ctrl_c(ana: Tool, silence: Silence, tmp_path: Path) -> None:
    ana("import", "notes", stdin=note("a", 1))
    command = [*PROGRAM, "--dir", str(ana.directory), "--host", silence.host, "push"]
    terminal = Terminal(tmp_path, f"{shlex.join(command)}; echo ended with $?; cat")
    try:
        terminal.wait_for("push notes")
        terminal("send-keys", "C-c")
        shown = terminal.wait_for("ended with 130")
        assert "kvstore: interrupted" in shown
        assert "push notes" not in shown
    finally:
        terminal("kill-server")


def test_find_prints_only_the_columns_that_fields_names(ana: Tool, unique: str) -> None:
    milk, wine = {"_id": "milk", "text": "milk"}, {"_id": "wine", "text": "wine"}
    lines = [json.dumps({**milk, "price": 1.5}), json.dumps({**wine, "price": 12})]
    assert ana("import", unique, stdin="\n".join(lines)).code == 0
    assert ana("push", unique).code == 0
    table = ana("find", unique, "--fields", "price,text").lines
    assert [line.split() for line in table] == [
        ["_id", "price", "text"],
        ["milk", "1.5", "milk"],
        ["wine", "12", "wine"],
    ]
    rows = ana("find", unique, "-f", "price", "-o", "csv").lines
    assert rows == ["_id,price", "milk,1.5", "wine,12"]


def test_the_doctor_tells_what_a_report_needs(ana: Tool, unique: str) -> None:
    ana("import", unique, stdin=refused("x"))
    checks = {row["check"]: row for row in ana("doctor", "--json").json}
    assert {name: row["result"] for name, row in checks.items()} == dict.fromkeys(
        ["tool", "library", "system", "file", "disk", "store", "entities", "backend", "clock"], "ok"
    )
    assert f"{unique} logged in" in checks["backend"]["detail"]
    ana("push")
    checks = {row["check"]: row for row in ana("doctor", "--json").json}
    assert checks["store"]["result"] == "warning"
    assert ana("--host", "http://127.0.0.1:1", "doctor").code == 1
    assert ana("--dir", str(ana.directory / "nowhere"), "doctor").code == 1


def test_the_doctor_looks_at_certificates(ana: Tool, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server")
    options = ["--tls-cert", str(certificate), "--tls-key", str(key)]
    with Server(tmp_path / "tls", f"{APP_KEY}:{APP_SECRET}", *options) as server:
        trusted = ["--host", server.host, "--ca-file", str(authority.certificate)]
        ana("import", "notes", stdin=note("a", 1))
        rows = {row["check"]: row for row in ana(*trusted, "doctor", "--json").json}
        # The certificates of the test are valid for two days.
        assert rows["certificate"]["result"] == "warning"
        assert rows["clock"]["result"] == "ok"
        untrusted = ana("--host", server.host, "doctor", "--json")
        assert untrusted.code == 1
        rows = {row["check"]: row for row in json.loads(untrusted.out)}
        assert rows["certificate"]["result"] == rows["backend"]["result"] == "failed"
        assert "signed by an authority that is not trusted" in rows["certificate"]["detail"]
        named = server.host.replace("127.0.0.1", "localhost")
        other = ana("--host", named, "--ca-file", trusted[-1], "doctor", "--json")
        rows = {row["check"]: row for row in json.loads(other.out)}
        assert "is of another host" in rows["certificate"]["detail"]
        missing = str(tmp_path / "missing.pem")
        other = ana("--host", server.host, "--ca-file", missing, "doctor", "--json")
        rows = {row["check"]: row for row in json.loads(other.out)}
        assert rows["certificate"]["detail"].startswith(f"{missing} cannot be read: No such file")


@pytest.mark.plain_file
def test_a_damaged_file_is_found_and_what_can_be_read_is_copied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = Tool(tmp_path / "data", capsys, monkeypatch, "--app", APP_KEY)
    lines = "".join(json.dumps({"_id": str(n), "text": "x" * 200}) + "\n" for n in range(5000))
    assert tool("import", "notes", stdin=lines).code == 0
    assert tool("verify", "--json").json["sound"] is True
    (file,) = tool.directory.rglob("kinvey.kvs")
    content = bytearray(file.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096 * 8] = b"\xa5" * 4096 * 8
    file.write_bytes(content)
    damaged = tool("verify", "--json")
    assert damaged.code == 7
    assert json.loads(damaged.out)["sound"] is False
    assert "salvage" in tool("verify").err
    assert tool("salvage", str(tmp_path / "data")).code == 2
    report = tool("salvage", str(tmp_path / "saved"), "--json").json["collections"]["notes"]
    assert 4000 < report["lines"] < 5000
    copied = str(tmp_path / "saved" / report["file"])
    again = Tool(tmp_path / "again", capsys, monkeypatch, "--app", APP_KEY)
    assert again("import", "notes", copied).out == f"{report['lines']} entities imported.\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_is_told_how_to_complete(ana: Tool, shell: str) -> None:
    printed = ana("completion", shell).out
    assert "_KVSTORE_COMPLETE" in printed
