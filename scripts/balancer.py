"""haproxy in front of several kvstored, as an operator would run it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Self

from kvstored import Server
from ports import hold_port

#: A replica gets requests as long as it answers, and says in /healthz that it should serve.
CONFIGURATION = """
global
  maxconn 4096
defaults
  mode http
  timeout connect 1s
  # Longer than a long poll of live data.
  timeout client 6m
  timeout server 6m
  # Without it a check that takes longer than `inter` has failed.
  timeout check 5s
  # Only what has not reached a replica is given to another one: it cannot happen twice.
  option redispatch 1
  retries 3
  retry-on conn-failure
frontend clients
  bind 127.0.0.1:{port}
  # haproxy's own answer, when there is no replica.
  http-after-response set-header Retry-After 1 if {{ status 503 }}
  default_backend replicas
backend replicas
  balance roundrobin
  option httpchk GET /healthz
  default-server check inter 200ms fall 2 rise 1 on-marked-down shutdown-sessions
{servers}
"""


class Balancer:
    """A balancer of replicas, which may be killed and started while it runs."""

    def __init__(self, directory: Path, *replicas: Server) -> None:
        """Start a balancer; `directory` is for its configuration."""
        self.port = hold_port()
        self.replicas = replicas
        self._file = directory / "haproxy.cfg"
        servers = [
            f"  server replica{number} {replica.host.partition('//')[2]}"
            for number, replica in enumerate(replicas)
        ]
        text = CONFIGURATION.format(port=self.port, servers="\n".join(servers))
        self._file.write_text(text)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def host(self) -> str:
        """Give the address for a client."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        program = shutil.which("haproxy", path=path)
        if program is None:
            raise RuntimeError("haproxy is not installed: scripts/setup test")
        with self._file.with_suffix(".log").open("ab") as log:
            command = [program, "-q", "-db", "-f", str(self._file)]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"haproxy:\n{self._file.with_suffix('.log').read_text()}")
            time.sleep(0.01)

    def stop(self) -> None:
        """Stop it: from now on connections are refused."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
