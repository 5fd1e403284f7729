"""Local data that is encrypted."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kvstore

KEY = bytes(range(32))
OTHER = bytes(32)
MARKER = "marker-that-must-not-be-seen"


def client(directory: Path, key: kvstore.Key | None = KEY) -> kvstore.Client:
    if key is None:
        return kvstore.Client(app_key="app", host=None, data_directory=str(directory))
    return kvstore.Client(
        app_key="app", host=None, data_directory=str(directory), encryption_key=key
    )


def fill(directory: Path, key: kvstore.Key | None = KEY, count: int = 200) -> None:
    with client(directory, key) as opened:
        notes = opened.collection("notes")
        notes.save_many([{"_id": str(n), "text": f"{MARKER} {n}"} for n in range(count)])


def files_with(text: str, directory: Path) -> list[str]:
    return [
        path.name
        for path in directory.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    ]


def test_no_file_shows_what_is_saved(tmp_path: Path) -> None:
    with client(tmp_path) as opened:
        notes = opened.collection("notes")
        for n in range(50):
            notes.save({"text": f"{MARKER} {n}"})
        notes.create_index({"text": 1})
        assert notes.count() == 50
        assert files_with(MARKER, tmp_path) == []
        opened.compact()
        assert files_with(MARKER, tmp_path) == []
    assert files_with(MARKER, tmp_path) == []
    with client(tmp_path) as opened:
        assert opened.collection("notes").count() == 50


def test_neither_the_log_nor_an_error_shows_what_is_saved_or_the_key(tmp_path: Path) -> None:
    lines: list[str] = []
    with client(tmp_path, {"passphrase": "correct horse"}) as opened:
        opened.set_log(lambda level, text: lines.append(f"{level} {text}"), level="debug")
        notes = opened.collection("notes")
        notes.save_many([{"_id": str(n), "text": f"{MARKER} {n}"} for n in range(100)])
        notes.find({"text": f"{MARKER} 7"})
        opened.change_key(KEY, name="second")
        opened.compact()
    with pytest.raises(kvstore.WrongKeyError) as failed:
        fill(tmp_path, {"passphrase": "a wrong battery"})
    assert lines
    told = "\n".join([*lines, str(failed.value), repr(failed.value)])
    secrets = (MARKER, "correct horse", "a wrong battery", base64.b64encode(KEY).decode())
    assert [secret for secret in secrets if secret in told] == []


@pytest.mark.parametrize("key", [OTHER, None, {"passphrase": "guessed"}])
def test_another_key_is_refused_and_the_data_left_as_it_is(
    tmp_path: Path, key: kvstore.Key | None
) -> None:
    fill(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.kvs")}
    with pytest.raises(kvstore.WrongKeyError), client(tmp_path, key) as opened:
        opened.collection("notes").count()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.kvs")} == before
    with client(tmp_path) as opened:
        assert opened.collection("notes").count() == 200


def test_a_key_for_data_that_is_not_encrypted_is_refused(tmp_path: Path) -> None:
    fill(tmp_path, None)
    with pytest.raises(kvstore.WrongKeyError), client(tmp_path) as opened:
        opened.collection("notes").count()


def test_a_passphrase_opens_it(tmp_path: Path) -> None:
    fill(tmp_path, {"passphrase": "correct horse"})
    with client(tmp_path, {"passphrase": "correct horse"}) as opened:
        assert opened.collection("notes").count() == 200


@pytest.mark.parametrize("key", [b"short", "not base64!", {"passphrase": ""}, {"word": "x"}, 7])
def test_what_is_no_key_is_named(tmp_path: Path, key: kvstore.Key) -> None:
    with pytest.raises(kvstore.InvalidError, match="encryptionKey"):
        client(tmp_path, key)


def test_a_provider_gives_the_key_when_it_is_needed(tmp_path: Path) -> None:
    asked: list[str] = []

    def provide(directory: str) -> bytes:
        asked.append(directory)
        return KEY

    kvstore.set_key_provider("keyring", provide)
    try:
        fill(tmp_path, {"provider": "keyring"})
        assert asked == [str(tmp_path)]
        with client(tmp_path) as opened:
            opened.change_key({"provider": "keyring"})
        assert asked == [str(tmp_path)] * 2
        with client(tmp_path) as opened:
            assert opened.collection("notes").count() == 200
    finally:
        kvstore.set_key_provider("keyring", None)
    with pytest.raises(kvstore.InvalidError, match="no provider"):
        client(tmp_path, {"provider": "keyring"})


def test_a_provider_that_fails_is_an_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path)
    kvstore.set_key_provider("none", lambda _: None)
    try:
        with (
            pytest.raises(kvstore.WrongKeyError, match="provider"),
            client(tmp_path, {"provider": "none"}) as opened,
        ):
            opened.collection("notes").count()
    finally:
        kvstore.set_key_provider("none", None)


def test_a_key_is_changed_and_another_one_added(tmp_path: Path) -> None:
    fill(tmp_path)
    with client(tmp_path) as opened:
        assert opened.change_key(OTHER) == ["main"]
        assert opened.change_key({"passphrase": "paper"}, name="recovery") == ["main", "recovery"]
        opened.collection("notes").save({"text": "after"})
    with pytest.raises(kvstore.WrongKeyError):
        fill(tmp_path)
    with client(tmp_path, {"passphrase": "paper"}) as opened:
        assert opened.collection("notes").count() == 201
        assert opened.change_key(None) == ["recovery"]
        with pytest.raises(kvstore.InvalidError, match="last"):
            opened.change_key(None, name="recovery")
    with pytest.raises(kvstore.WrongKeyError):
        fill(tmp_path, OTHER)


def test_a_new_file_has_the_keys_of_the_others(tmp_path: Path) -> None:
    fill(tmp_path)
    with client(tmp_path) as opened:
        opened.change_key({"passphrase": "paper"}, name="recovery")
    with kvstore.Client(
        app_key="app", host=None, data_directory=str(tmp_path), tag="two", encryption_key=KEY
    ) as opened:
        opened.collection("notes").save({"_id": "a"})
    with kvstore.Client(
        app_key="app",
        host=None,
        data_directory=str(tmp_path),
        tag="two",
        encryption_key={"passphrase": "paper"},
    ) as opened:
        assert opened.collection("notes").count() == 1


def test_data_is_encrypted_anew_and_decrypted(tmp_path: Path) -> None:
    fill(tmp_path, None)
    assert files_with(MARKER, tmp_path) != []
    report = kvstore.encrypt(KEY, app_key="app", host=None, data_directory=str(tmp_path))
    assert report["files"] == 1
    assert report["bytes"] > 0
    assert files_with(MARKER, tmp_path) == []
    options = {"app_key": "app", "host": None, "data_directory": str(tmp_path)}
    again = kvstore.encrypt(KEY, **options)  # type: ignore[arg-type]
    assert again["files"] == 0
    kvstore.encrypt(OTHER, **options, encryption_key=KEY)  # type: ignore[arg-type]
    with client(tmp_path, OTHER) as opened:
        assert opened.collection("notes").count() == 200
        with pytest.raises(kvstore.BusyError):
            kvstore.encrypt(None, **options, encryption_key=OTHER)  # type: ignore[arg-type]
    kvstore.encrypt(None, **options, encryption_key=OTHER)  # type: ignore[arg-type]
    with client(tmp_path, None) as opened:
        assert opened.collection("notes").count() == 200


def test_data_is_opened_or_busy_while_another_process_encrypts_it(tmp_path: Path) -> None:
    fill(tmp_path, count=300)
    program = f"""
import kvstore
options = {{"app_key": "app", "host": None, "data_directory": {str(tmp_path)!r}}}
keys = [bytes(range(32)), bytes(32), None]
at = 0
for _ in range(60):
    now, then = keys[at % 3], keys[(at + 1) % 3]
    key = {{}} if now is None else {{"encryption_key": now}}
    try:
        kvstore.encrypt(then, **options, **key)
        at += 1
    except kvstore.BusyError:
        pass
print(at)
"""
    opened = 0
    with subprocess.Popen(
        [sys.executable, "-c", program], env=os.environ, stdout=subprocess.PIPE, text=True
    ) as child:
        while child.poll() is None:
            for key in (KEY, OTHER, None):
                try:
                    with client(tmp_path, key) as found:
                        assert found.collection("notes").count() == 300
                    opened += 1
                except (kvstore.BusyError, kvstore.WrongKeyError):
                    pass
        assert child.stdout is not None
        assert int(child.stdout.read()) > 5
    assert opened > 5


def test_a_change_of_keys_that_was_interrupted_is_repeated_with_either_key(tmp_path: Path) -> None:
    options = {"app_key": "app", "host": None, "data_directory": str(tmp_path)}
    for tag in ("a", "b", "c"):
        with kvstore.Client(**options, tag=tag, encryption_key=KEY) as opened:  # type: ignore[arg-type]
            opened.collection("notes").save({"_id": tag})
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.kvs")}
    with kvstore.Client(**options, tag="a", encryption_key=KEY) as opened:  # type: ignore[arg-type]
        opened.change_key(OTHER)
    # As if only the first file had been changed.
    for path in sorted(before)[1:]:
        path.write_bytes(before[path])
    for key in (KEY, OTHER):
        for tag in ("a", "b", "c"):
            with kvstore.Client(**options, tag=tag, encryption_key=key) as opened:  # type: ignore[arg-type]
                assert opened.collection("notes").count() == 1
    with kvstore.Client(**options, tag="c", encryption_key=OTHER) as opened:  # type: ignore[arg-type]
        opened.change_key(OTHER)
    for tag in ("a", "b", "c"):
        with (
            pytest.raises(kvstore.WrongKeyError),
            kvstore.Client(**options, tag=tag, encryption_key=KEY) as opened,  # type: ignore[arg-type]
        ):
            opened.collection("notes").count()


def test_encrypting_anew_leaves_no_other_key(tmp_path: Path) -> None:
    fill(tmp_path)
    with client(tmp_path) as opened:
        opened.change_key({"passphrase": "paper"}, name="recovery")
    options = {"app_key": "app", "host": None, "data_directory": str(tmp_path)}
    report = kvstore.encrypt({"passphrase": "paper"}, **options, encryption_key=KEY)  # type: ignore[arg-type]
    assert report["files"] == 1
    with pytest.raises(kvstore.WrongKeyError):
        fill(tmp_path)
    with client(tmp_path, {"passphrase": "paper"}) as opened:
        assert opened.change_key(KEY) == ["main"]


def test_a_backup_is_encrypted_and_opens_with_the_key(tmp_path: Path) -> None:
    fill(tmp_path / "data")
    with client(tmp_path / "data") as opened:
        opened.backup(tmp_path / "copy")
    assert files_with(MARKER, tmp_path) == []
    with client(tmp_path / "copy") as opened:
        assert opened.collection("notes").count() == 200
    with pytest.raises(kvstore.WrongKeyError), client(tmp_path / "copy", OTHER) as opened:
        opened.collection("notes").count()


def test_a_damaged_page_is_found_and_the_rest_salvaged(tmp_path: Path) -> None:
    fill(tmp_path, count=5000)
    file = next(tmp_path.rglob("kinvey.kvs"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    report = kvstore.salvage(
        tmp_path / "saved",
        app_key="app",
        host=None,
        data_directory=str(tmp_path),
        encryption_key=KEY,
    )
    notes = report["collections"]["notes"]
    assert 4000 < notes["lines"] <= 5000
    assert files_with(MARKER, tmp_path) == []
    with pytest.raises(kvstore.WrongKeyError):
        kvstore.salvage(tmp_path / "none", app_key="app", host=None, data_directory=str(tmp_path))


@pytest.fixture(name="salvaged")
def salvaged_(tmp_path: Path) -> Path:
    """Give the encrypted file of entities that a salvage has made."""
    fill(tmp_path / "data", count=500)
    with client(tmp_path / "data") as opened:
        opened.change_key({"passphrase": "paper"}, name="recovery")
    report = kvstore.salvage(
        tmp_path / "saved",
        app_key="app",
        host=None,
        data_directory=str(tmp_path / "data"),
        encryption_key=KEY,
    )
    assert report["pending"]["file"] == "pending.ndjson.encrypted"
    assert files_with(MARKER, tmp_path) == []
    return tmp_path / "saved" / str(report["collections"]["notes"]["file"])


def decrypted(file: Path, key: kvstore.Key, target: Path) -> list[str]:
    with target.open("wb") as to:
        kvstore.decrypt_file(file, to, app_key="app", host=None, encryption_key=key)
    return target.read_text().splitlines()


@pytest.mark.parametrize("key", [KEY, {"passphrase": "paper"}])
def test_what_is_salvaged_is_read_with_each_key_of_the_data(
    salvaged: Path, tmp_path: Path, key: kvstore.Key
) -> None:
    lines = decrypted(salvaged, key, tmp_path / "plain")
    assert {json.loads(line)["text"] for line in lines} == {f"{MARKER} {n}" for n in range(500)}


def test_what_is_salvaged_is_not_read_with_another_key(salvaged: Path, tmp_path: Path) -> None:
    with pytest.raises(kvstore.WrongKeyError):
        decrypted(salvaged, OTHER, tmp_path / "plain")
    assert (tmp_path / "plain").read_bytes() == b""
    with pytest.raises(kvstore.InvalidError), (tmp_path / "plain").open("wb") as to:
        kvstore.decrypt_file(salvaged, to, app_key="app", host=None)
    with pytest.raises(kvstore.NotFoundError):
        decrypted(tmp_path / "none", KEY, tmp_path / "plain")


def test_a_salvaged_file_that_was_changed_or_cut_is_read_up_to_there(
    salvaged: Path, tmp_path: Path
) -> None:
    content = salvaged.read_bytes()
    whole = decrypted(salvaged, KEY, tmp_path / "plain")
    block = 4096 + 40
    # In the midst of a block, and at the end of one.
    for length in (8192 + block + 100, 8192 + 2 * block, 8192, len(content) - 1):
        salvaged.write_bytes(content[:length])
        with pytest.raises(kvstore.CorruptError):
            decrypted(salvaged, KEY, tmp_path / "plain")
        plain = (tmp_path / "plain").read_bytes()
        assert len(plain) == (length - 8192) // block * 4096
    changed = bytearray(content)
    changed[8192 + block + 1000] ^= 1
    salvaged.write_bytes(changed)
    with pytest.raises(kvstore.CorruptError):
        decrypted(salvaged, KEY, tmp_path / "plain")
    first, second = content[8192 : 8192 + block], content[8192 + block : 8192 + 2 * block]
    salvaged.write_bytes(content[:8192] + second + first + content[8192 + 2 * block :])
    with pytest.raises(kvstore.CorruptError):
        decrypted(salvaged, KEY, tmp_path / "plain")
    assert len(whole) == 500


def test_two_processes_use_the_same_data(tmp_path: Path) -> None:
    fill(tmp_path)
    program = f"""
import kvstore
with kvstore.Client(app_key="app", host=None, data_directory={str(tmp_path)!r},
                    encryption_key=bytes(range(32))) as client:
    notes = client.collection("notes")
    for n in range(100):
        notes.save({{"_id": f"other {{n}}"}})
"""
    with client(tmp_path) as opened:
        notes = opened.collection("notes")
        with subprocess.Popen([sys.executable, "-c", program], env=os.environ) as child:
            for n in range(100):
                notes.save({"_id": f"own {n}"})
            assert child.wait() == 0
        assert notes.count() == 400


def test_what_was_saved_is_there_after_a_kill(tmp_path: Path) -> None:
    program = f"""
import itertools
import kvstore
with kvstore.Client(app_key="app", host=None, data_directory={str(tmp_path)!r},
                    encryption_key=bytes(range(32))) as client:
    notes = client.collection("notes")
    first = notes.count()
    for n in itertools.count(first):
        notes.save({{"_id": str(n), "text": "{MARKER}" * 20}})
        print(n, flush=True)
"""
    saved = -1
    for round_ in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", program], env=os.environ, stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            for line in child.stdout:
                saved = int(line)
                if saved % 40 == 5 * round_:
                    child.kill()
                    break
            for line in child.stdout:
                saved = int(line)
        assert files_with(MARKER, tmp_path) == []
        with client(tmp_path) as opened:
            assert opened.collection("notes").count() >= saved + 1
