"""Keys of a keyring and of systemd: the samples of docs/encryption.md."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from command_line import PROGRAM

import kvstore

PAGE = Path(__file__).resolve().parents[3] / "docs" / "encryption.md"
SAMPLES = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
#: An unlocked keyring on a bus of its own, which ends with the script.
KEYRING = """
gnome-keyring-daemon --foreground --components=secrets --unlock <<<'' >/dev/null 2>&1 &
trap "kill $!" EXIT
for _ in $(seq 100); do
  secret-tool search --all none none >/dev/null 2>&1 && break
  sleep 0.1
done
"""


def sample(word: str) -> str:
    [found] = [each for each in SAMPLES if word in each]
    return str(found)


def run(script: str, directory: Path, *before: str) -> str:
    """Run a sample beside data that is not encrypted yet; give what it prints."""
    with kvstore.Client(app_key="app", host=None, data_directory=directory / "data") as client:
        client.collection("notes").save_many([{"_id": "a"}, {"_id": "b"}])
    tool = f'kvstore() {{ {shlex.join(PROGRAM)} "$@"; }}\n'
    names = {
        "HOME": str(directory),
        "XDG_RUNTIME_DIR": str(directory),
        "XDG_DATA_HOME": str(directory / "share"),
        "SYSTEMD_CREDENTIAL_SECRET": str(directory / "credential.secret"),
    }
    # The tests that run on encrypted data begin with data that is not.
    kept = {name: value for name, value in os.environ.items() if name != "KVSTORE_TEST_KEY"}
    done = subprocess.run(
        [*before, "bash", "-euo", "pipefail", "-c", tool + script],
        cwd=directory,
        env=kept | names,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_key_of_the_keyring_opens_the_data(tmp_path: Path) -> None:
    printed = run(KEYRING + sample("secret-tool store"), tmp_path, "dbus-run-session", "--")
    assert printed.split()[-1] == "2"
    check_encrypted(tmp_path)


def test_a_credential_of_systemd_opens_the_data(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    text = sample("systemd-creds").replace("/etc/credstore.encrypted", str(tmp_path / "store"))
    assert run(text, tmp_path).split()[-1] == "2"
    check_encrypted(tmp_path)


def check_encrypted(directory: Path) -> None:
    options = {"app_key": "app", "host": None, "data_directory": directory / "data"}
    with pytest.raises(kvstore.WrongKeyError), kvstore.Client(**options) as client:  # type: ignore[arg-type]
        client.collection("notes").count()
