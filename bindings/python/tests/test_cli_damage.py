"""What the command line tool says of damaged entities, and what it does about them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from command_line import Tool
from conftest import APP_KEY, APP_SECRET, open_client
from damage import damage
from kvstored import Server

import kvstore

pytestmark = pytest.mark.plain_file


@pytest.fixture
def tool(
    server: Server,
    tmp_path: Path,
    unique: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Tool:
    """Give the tool on a store in which "b", and "d" with its unsent write, are damaged."""
    monkeypatch.setenv("KVSTORE_APP_SECRET", APP_SECRET)
    data = tmp_path / "data"
    with open_client(server.host, data) as client:
        client.signup(unique, "a password")
        notes = client.collection(unique)
        notes.save_many([{"_id": id, "text": f"milk {id}"} for id in "abc"])
        notes.sync()
        notes.save_many([{"_id": id, "text": f"wine {id}"} for id in "de"])
        notes.save({"_id": "c", "text": "tea"})
    for body in "milk b", "milk c", "wine d":
        damage(data, body, body.replace("i", "o"))
    return Tool(data, capsys, monkeypatch, "--app", APP_KEY)


def result_of(tool: Tool, *words: str) -> tuple[int, Any]:
    """Run a command that may fail; give its exit code, and its output as JSON."""
    result = tool(*words, "--json")
    return result.code, json.loads(result.out)


def test_verify_names_each_damaged_entity_and_what_helps(tool: Tool, unique: str) -> None:
    code, report = result_of(tool, "verify")
    assert (code, report["sound"]) == (7, False)
    assert report["damaged"] == [{"collection": unique, "_id": id} for id in ("b", "d")]
    told = tool("verify").err
    assert f'The stored body of the entity "b" of "{unique}" is damaged' in told
    assert f'The stored body of the entity "d" of "{unique}" is damaged' in told
    assert " repair removes them" in told


def test_the_doctor_names_damaged_entities(tool: Tool, unique: str) -> None:
    code, checks = result_of(tool, "doctor")
    (entities,) = (check for check in checks if check["check"] == "entities")
    assert (code, entities["result"]) == (1, "failed")
    assert entities["detail"] == f'2 entities are damaged: {unique} "b", {unique} "d"'


def test_collections_are_listed_though_one_is_damaged(tool: Tool, unique: str) -> None:
    (row,) = tool("collections", "--json").json
    assert (row["collection"], row["entities"], row["pending"]) == (unique, 5, 3)


def test_an_export_that_would_not_be_whole_is_an_error(tool: Tool, unique: str) -> None:
    file = tool.directory / "notes.ndjson"
    result = tool("export", unique, "--to", str(file))
    assert (result.code, file.exists()) == (7, False)
    assert "id 'b'" in result.err


def test_salvage_leaves_damaged_entities_out_and_names_them(
    tool: Tool, unique: str, tmp_path: Path
) -> None:
    report = tool("salvage", str(tmp_path / "saved"), "--json").json
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "saved").iterdir()} == {0o600}
    found = report["collections"][unique]
    assert (found["lines"], found["damaged"], found["damagedIds"]) == (3, 2, ["b", "d"])
    assert report["pending"]["damagedIds"] == ["d"]
    lines = (tmp_path / "saved" / "pending.ndjson").read_text().splitlines()
    writes = {write["id"]: write for write in map(json.loads, lines)}
    assert writes["e"]["entity"] == {"_id": "e", "text": "wine e"}
    # What the change of "c" started from was damaged as well.
    assert (writes["c"]["entity"]["text"], writes["c"]["base"]) == ("tea", None)
    table = tool("salvage", str(tmp_path / "again")).lines
    assert table[0].split() == ["file", "lines", "damaged", "damagedIds"]
    assert table[2].split() == [found["file"], "3", "2", '["b","d"]']


def test_repair_lets_the_next_pull_bring_entities_again_and_keeps_unsent_writes(
    tool: Tool, server: Server, unique: str
) -> None:
    report = tool("repair", "--json").json
    # The third is the version that the change of "c" started from.
    assert (report["entities"], report["damaged"]) == (5, 3)
    assert [one["_id"] for one in report["removed"]] == ["b"]
    assert [one["_id"] for one in report["quarantined"]] == ["d"]
    assert tool("pending", "edit", unique, "d", '{"_id": "d", "text": "red wine"}').code == 0
    assert tool("verify", "--json").json["sound"] is True
    assert tool("--host", server.host, "sync", unique).code == 0
    with open_client(server.host, tool.directory) as client:
        texts = {note["_id"]: note["text"] for note in client.collection(unique)}
    assert texts == {"a": "milk a", "b": "milk b", "c": "tea", "d": "red wine", "e": "wine e"}


def test_repair_says_in_words_what_it_did(tool: Tool, unique: str) -> None:
    done = tool("repair")
    assert done.lines[0] == "5 entities checked, 3 damaged."
    assert [line.split() for line in done.lines[2:]] == [
        [unique, "b", "removed"],
        [unique, "d", "quarantined"],
    ]
    assert f"kvstore pull {unique} fetches the removed entities again." in done.err
    assert "pending edit" in done.err
    told = tool("verify").err
    assert "pending edit" in told
    assert "repair removes" not in told
    assert tool("pending", "drop", unique, "d").code == 0
    assert "repair removes" in tool("verify").err
    assert tool("repair").lines[0] == "4 entities checked, 1 damaged."
    assert tool("verify").code == 0


def test_a_body_of_an_older_version_that_is_no_json_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with kvstore.Client(app_key=APP_KEY, host=None, data_directory=tmp_path) as client:
        client.collection("notes").save_many([{"_id": "a"}, {"_id": "b"}])
    (file,) = tmp_path.glob("*/kinvey.kvs")
    database = sqlite3.connect(file)
    with database:
        database.execute("UPDATE e1 SET body = '{oops}', checksum = NULL WHERE id = 'a'")
    database.close()
    tool = Tool(tmp_path, capsys, monkeypatch, "--app", APP_KEY)
    code, report = result_of(tool, "verify")
    assert (code, report["damaged"]) == (7, [])
    assert "notes: The entity is not JSON" in report["problems"][0]
    assert " salvage DIRECTORY " in tool("verify").err
