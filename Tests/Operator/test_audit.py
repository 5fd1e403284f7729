"""The audit log of a server and of commands."""

from __future__ import annotations

from pathlib import Path

from admin import MISUSE, Place, command, rows
from conftest import Start, sign_up
from kvstored import until


def test_the_audit_log_is_rotated_and_searched(start: Start, tmp_path: Path) -> None:
    log, old = tmp_path / "audit.log", tmp_path / "audit.log.1"
    server = start("--audit-log", str(log))
    sign_up(server, "ana")
    log.rename(old)
    server.hang_up()
    until(log.exists)
    at = Place(server, ("--url", server.host, "--app", "kid"))
    at.rows("users", "disable", "ana")

    def found(path: Path, *options: str) -> list[str]:
        return [
            f"{row['action']} {row['actor']}"
            for row in rows(command("audit", "--audit-log", str(path), "--json", *options))
        ]

    assert found(old) == ["server.start server", "user.create app"]
    assert "user.disable master" in found(log)
    assert found(log, "--action", "user", "--outcome", "success") == ["user.disable master"]
    table = command("audit", "--audit-log", str(old)).stdout.splitlines()
    assert table[0].split()[:3] == ["TIME", "ACTION", "ACTOR"]
    assert command("audit").returncode == MISUSE


def test_commands_on_the_data_have_lines_of_their_own(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    data = tmp_path / "data-of-commands"
    server = start("--data", str(data), "--storage", "sqlite")
    sign_up(server, "ana")
    server.stop()
    audit = ("--audit-log", str(log))
    rows(command("users", "disable", "ana", "--data", str(data), "--app", "kid", "--json", *audit))
    rows(command("export", "books", "--data", str(data), "--app", "kid", "--json", *audit))
    assert command("backup", "--data", str(data), "--to", str(data), *audit).returncode == 1
    assert command("backup", "--data", str(data), "--to", f"{data}-2", *audit).returncode == 0
    found = rows(command("audit", "--json", *audit))
    assert [(row["action"], row["outcome"]) for row in found if row["action"] != "data.read"] == [
        ("user.disable", "success"),
        ("backup.make", "failed"),
        ("backup.make", "success"),
    ]
    assert {row["subject"] for row in found if row["action"] == "data.read"} == {"user", "books"}
    assert all(row["actor"].startswith("local:") for row in found)
