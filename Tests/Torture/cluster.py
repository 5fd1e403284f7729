"""What faults.py does, on a cluster of which parts fail in turn.

    cluster.py [SECONDS] [REPORT]

The clients work on two replicas of kvstored behind haproxy, over PostgreSQL with a synchronous
standby. Replicas and the primary are killed, one replica loses its way to the database, and the
standby takes over, after which a new one follows it.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

# First: it finds the binding and the server.
from torture import APP_KEY, APP_SECRET

# isort: split
from balancer import Balancer
from faults import Service, main
from kvstored import Server
from link import Link
from postgres import Postgres, addresses

KINDS = ["replica a", "replica b", "primary", "failover", "cut", "silence"]


class FailingCluster:
    """A cluster: `kill` lets a part of it fail, and `start` mends that."""

    def __init__(self, directory: Path, chance: random.Random, stack: ExitStack) -> None:
        """Start everything; it ends with the stack."""
        self._chance = chance
        self._stack = stack
        self.faults: Counter[str] = Counter()
        self._fault = ""
        #: Each kind comes once before any comes again.
        self._coming: list[str] = []
        self._primary = stack.enter_context(Postgres())
        self._standby = stack.enter_context(self._primary.standby())
        ports = [self._primary.port, self._standby.port]
        self._links = [stack.enter_context(Link(port)) for port in ports]
        app = f"{APP_KEY}:{APP_SECRET}"
        self._replicas = [
            stack.enter_context(Server(directory / name, app, storage=addresses(*there)))
            for name, there in (("a", [link.port for link in self._links]), ("b", ports))
        ]
        self._balancer = stack.enter_context(Balancer(directory, *self._replicas))

    @property
    def host(self) -> str:
        """The address for a client."""
        return self._balancer.host

    def kill(self) -> None:
        """Let a part fail."""
        if not self._coming:
            self._coming = self._chance.sample(KINDS, len(KINDS))
        self._fault = self._coming.pop()
        self.faults[self._fault] += 1
        print(f"  {self._fault}", flush=True)
        match self._fault:
            case "replica a":
                self._replicas[0].kill()
            case "replica b":
                self._replicas[1].kill()
            case "primary" | "failover":
                self._primary.kill()
            case "cut":
                for link in self._links:
                    link.cut()
            case "silence":
                for link in self._links:
                    link.silence()

    def start(self) -> None:
        """Mend what has failed last."""
        match self._fault:
            case "replica a":
                self._replicas[0].start()
            case "replica b":
                self._replicas[1].start()
            case "primary":
                self._primary.start()
            case "failover":
                self._fail_over()
            case "cut" | "silence":
                for link in self._links:
                    link.heal()

    def _fail_over(self) -> None:
        """Let the standby take over, and make a new one where the primary was."""
        port = self._primary.port
        self._primary.close()
        self._primary = self._standby
        self._primary.promote()
        self._standby = self._stack.enter_context(self._primary.standby(port))


@contextmanager
def cluster(directory: Path, chance: random.Random) -> Iterator[Service]:
    """Give a cluster that can fail."""
    with ExitStack() as stack:
        failing = FailingCluster(directory, chance, stack)
        yield failing
        print(f"faults of the cluster: {dict(failing.faults)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], cluster))
