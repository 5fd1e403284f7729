"""A cluster of real processes: PostgreSQL, replicas of kvstored, and haproxy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from balancer import Balancer
from kvstored import Server
from link import Link
from load import APP
from postgres import Postgres, addresses


@dataclass
class Cluster:
    """Two replicas behind a balancer; the first one has a link to the database that may fail."""

    database: Postgres
    link: Link
    a: Server
    b: Server
    balancer: Balancer

    @property
    def host(self) -> str:
        """Where clients connect."""
        return self.balancer.host

    @property
    def hosts(self) -> tuple[str, str]:
        """The addresses of the replicas themselves."""
        return self.a.host, self.b.host


@pytest.fixture
def database() -> Iterator[Postgres]:
    """Give a PostgreSQL server."""
    with Postgres() as database:
        yield database


@pytest.fixture
def cluster(database: Postgres, tmp_path: Path) -> Iterator[Cluster]:
    """Give a cluster."""
    with ExitStack() as stack:
        link = Link(database.port)
        stack.callback(link.close)
        a, b = (
            stack.enter_context(Server(tmp_path / name, APP, storage=address))
            for name, address in (("a", addresses(link.port)), ("b", database.address))
        )
        balancer = stack.enter_context(Balancer(tmp_path, a, b))
        yield Cluster(database, link, a, b, balancer)
