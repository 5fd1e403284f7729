"""Ports for servers that start later, or again on the same port."""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
import threading
from functools import cache
from pathlib import Path

#: How many ports there are to choose from.
COUNT = 10_000

_guard = threading.Lock()
_held: set[int] = set()


def hold_port() -> int:
    """Give a port of the loopback that no other test gets until this process ends.

    It is none of those that the kernel gives to whoever asks for any port. While nobody listens
    there, other processes that call this are kept away by a lock on one byte of a file: the kernel
    ends it with the process.
    """
    with _guard:
        for port in _candidates():
            if port not in _held and _lock(port) and _is_free(port):
                _held.add(port)
                return port
    raise RuntimeError("no port is free")


def _candidates() -> list[int]:
    """Give the ports below those of the kernel, in any order; all, if it has the lowest."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    below = range(max(1024, first - COUNT), first) or range(1024, 65536)
    return random.sample(below, len(below))


@cache
def _file() -> int:
    """Open the file of the locks, once: closing any descriptor of it would end them all."""
    path = Path(tempfile.gettempdir()) / f"kvstore-ports-{os.getuid()}"
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _lock(port: int) -> bool:
    try:
        fcntl.lockf(_file(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    return True


def _is_free(port: int) -> bool:
    """Tell whether one can listen there: programs that know nothing of the locks may do so."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
