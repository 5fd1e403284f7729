"""PostgreSQL servers of a test's own: a primary, and standbys that follow it."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from ports import hold_port

USER = "kvstored"
#: How long a server may take to start, stop or take over.
SECONDS = 60


def tool(name: str) -> str:
    """Give the path of a program of the latest PostgreSQL on this machine."""
    versions = Path("/usr/lib/postgresql").glob(f"*/bin/{name}")
    found = sorted(versions, key=lambda path: float(path.parts[-3]))
    if not found:
        raise RuntimeError("PostgreSQL is not installed: scripts/setup test")
    return str(found[-1])


def sql(address: str, statement: str) -> str:
    """Run statements on a database, one after the other; give the rows of the last one."""
    command = ["psql", address, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{statement}:\n{done.stderr}")
    return done.stdout.strip()


def is_running(process: int) -> bool:
    """Tell whether there is such a process, and it has not ended yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Postgres:
    """A PostgreSQL server on a port of the loopback, in a directory of its own that goes with it.

    A server that was stopped or killed can be started again. Root runs it as the user postgres,
    since PostgreSQL refuses to run as root.
    """

    def __init__(
        self,
        *,
        durable: bool = True,
        disk: str | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Make a server that holds nothing, and start it.

        `durable`: commits are flushed. `disk`: the size, such as "32m", of a disk of its own, which
        nobody else sees, for a tablespace in the directory `disk/small`.
        """
        self._prepare()
        self._disk = disk
        self._call("initdb", "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        flushing = "on" if durable else "off"
        self._settings = {
            "fsync": flushing,
            "full_page_writes": flushing,
            "shared_buffers": "64MB",
            "max_connections": "300",
            **(settings or {}),
        }
        self.start()

    def _prepare(self, port: int = 0) -> None:
        self.port = port or hold_port()
        self.directory = Path(tempfile.mkdtemp(prefix="kvstore-postgres-"))
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user is not None:
            account = pwd.getpwnam(self._user)
            os.chown(self.directory, account.pw_uid, account.pw_gid)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> Path:
        """The directory of its data."""
        return self.directory / "data"

    @property
    def address(self) -> str:
        """The address of its database, for libpq."""
        return addresses(self)

    def sql(self, statement: str) -> str:
        """Run statements here; give the rows of the last one."""
        return sql(self.address, statement)

    def standby(self, port: int = 0) -> Postgres:
        """Give a new server that follows this one; from now on each commit here waits for it.

        `port`: that of a server that is gone; 0: a new one.
        """
        other = Postgres.__new__(Postgres)
        other._prepare(port)
        other._settings = dict(self._settings)
        other._disk = None
        source = f"host=127.0.0.1 port={self.port} user={USER}"
        other._call("pg_basebackup", "-R", "-d", source, "-c", "fast", "-X", "stream")
        other.start()
        self.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.sql("SELECT pg_reload_conf()")
        self._wait("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", "1")
        return other

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            **self._settings,
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self.directory / "log").open("ab") as log:
            command = [tool("postgres"), "-D", str(self.data), *options]
            self._process = (
                subprocess.Popen(
                    command, stdout=log, stderr=log, user=self._user, cwd=self.directory
                )
                if self._disk is None
                else subprocess.Popen(
                    [*self._small_disk(self._disk), *command],
                    stdout=log,
                    stderr=log,
                    cwd=self.directory,
                )
            )
        self._wait("SELECT 1", "1")

    def _small_disk(self, size: str) -> list[str]:
        """Give what stands before a command that shall find a disk of this size."""
        (self.directory / "disk").mkdir(exist_ok=True)
        mount = f"mount -t tmpfs -o size={size},mode=777 none disk; mkdir -m 700 disk/small"
        if self._user is None:
            script = f'{mount}; exec "$@"'
            unshare = ["unshare", "--mount", "--map-current-user", "--keep-caps"]
        else:
            owned = f"chown {self._user} disk/small"
            ids = f"--reuid={self._user} --regid={self._user} --clear-groups"
            script = f'{mount}; {owned}; exec setpriv {ids} "$@"'
            unshare = ["unshare", "--mount"]
        return [*unshare, "sh", "-ec", script, "sh"]

    def promote(self) -> None:
        """Make a standby the primary; give control back when it takes writes."""
        self._call("pg_ctl", "promote", "-w")

    def kill(self) -> None:
        """Kill all its processes at once, as the failure of the machine would."""
        if self._process is not None:
            every = [self._process.pid, *self._children()]
            for process in every:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            self._process.wait()
            self._process = None
            while any(is_running(process) for process in every):
                time.sleep(0.005)

    def stop(self) -> None:
        """Stop it in order; connections are cut."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(timeout=SECONDS)
            self._process = None

    def close(self) -> None:
        """Kill it and remove its data."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _children(self) -> list[int]:
        if self._process is None:
            return []
        process = self._process.pid
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{process}/task/{process}/children").read_text()
            return [int(word) for word in text.split()]
        return []

    def _call(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [tool(program), "-D", str(self.data), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
            user=self._user,
            cwd=self.directory,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed:\n{done.stdout}")

    def _wait(self, statement: str, wanted: str) -> None:
        """Wait until a statement has this result."""
        end = time.monotonic() + SECONDS
        while True:
            try:
                if self.sql(statement) == wanted:
                    return
            except RuntimeError as error:
                if self._process is None or self._process.poll() is not None:
                    log = (self.directory / "log").read_text(errors="replace")[-2000:]
                    raise RuntimeError(f"PostgreSQL ended:\n{log}") from error
            if time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL: {statement} is not {wanted}")
            time.sleep(0.05)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def addresses(*servers: Postgres | int) -> str:
    """Give the address of whichever of these servers, or ports, is the primary."""
    ports = [server if isinstance(server, int) else server.port for server in servers]
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    return f"postgresql://{USER}@{hosts}/postgres"
