"""The demo on a cluster, parts of which are killed while the programs work.

    cluster.py [--svg FILE] [--people N] [CITIES.json]

`make demo-cluster` calls it. The same programs in C, Python and Go do the same steps as in run.py,
and each number is checked in the same way. But the service is PostgreSQL with a synchronous
standby, two kvstored that share it, and haproxy in front of them. While the cities arrive, one
kvstored is killed; while the travellers push, the primary is killed, and the standby takes over.
At the end both kvstored and the database must have each entity once. `--people`: only cities of at
least this population.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Imported first, because it finds the binding and the server.
from run import (
    BUILD,
    Story,
    WrongError,
    build_travellers,
    expect,
    interrupt,
    load,
    packaged_cities,
    population,
    read_cities,
    show,
)

# isort: split
import kvstore
from balancer import Balancer
from kvstored import Server
from postgres import Postgres, addresses
from record import Record

APP = "kid_demo:secret"
#: The seconds that a part of the story may wait for another one.
SECONDS = 60
COUNT = """
SELECT count(*) FROM entity JOIN collection ON collection.number = entity.collection
WHERE collection.name = 'cities'
"""


class Cluster:
    """PostgreSQL with a standby, two replicas of kvstored and a balancer."""

    def __init__(self, record: Record, directory: Path, stack: ExitStack) -> None:
        """Start everything; it ends with the stack."""
        self.record = record
        self.primary = stack.enter_context(Postgres())
        self.standby = stack.enter_context(self.primary.standby())
        self.database = self.primary
        address = addresses(self.primary, self.standby)
        self.replicas = [
            stack.enter_context(Server(directory / f"replica{number}", APP, storage=address))
            for number in range(2)
        ]
        self.balancer = stack.enter_context(Balancer(directory, *self.replicas))
        for name in ("primary", "standby", "replica 0", "replica 1", "haproxy"):
            record.starts(name)
        record.note("PostgreSQL", "a primary, and a standby that has each commit")
        record.note("kvstored", "two replicas of it")
        record.note("haproxy", f"listens on {self.balancer.host}")

    def entities(self) -> int:
        """Count the cities in the database."""
        return int(self.database.sql(COUNT))

    def wait_for_entities(self, count: int) -> None:
        """Wait until the database has more than this number of cities."""
        end = time.monotonic() + SECONDS
        while self.entities() <= count:
            if time.monotonic() > end:
                raise WrongError(f"there are not more than {count} entities")
            time.sleep(0.02)

    def lose_a_replica(self, count: int) -> None:
        """Kill a replica when more than this number of entities have arrived."""
        self.wait_for_entities(count)
        self.replicas[0].kill()
        self.record.stops("replica 0")
        self.record.note("replica 0", f"KILLED, when {self.entities():,} entities had arrived")

    def restart_the_replica(self) -> None:
        """Start the replica that was killed."""
        self.replicas[0].start()
        self.record.starts("replica 0")
        self.record.note("replica 0", "started again")

    def lose_the_primary(self, count: int) -> None:
        """Kill the primary at more than this number of entities; the standby takes over."""
        self.wait_for_entities(count)
        self.primary.kill()
        self.record.stops("primary")
        self.record.note("primary", "KILLED, while they push")
        self.standby.promote()
        self.database = self.standby
        self.record.note("standby", "promoted: it is the primary now")

    def stop(self) -> None:
        """Note the end of everything."""
        for name in ("standby", "replica 0", "replica 1", "haproxy"):
            self.record.stops(name)


@dataclass(frozen=True)
class ClusterStory(Story):
    """The same steps; the primary is lost during the pushes."""

    cluster: Cluster | None = None

    def push(self) -> None:
        """Everybody pushes; behind the first one the primary is killed."""
        cluster = self.cluster
        if cluster is None:
            raise WrongError("there is no cluster")
        with meanwhile(lambda: cluster.lose_the_primary(self.total)):
            super().push()


@contextmanager
def meanwhile(action: Callable[[], None]) -> Iterator[None]:
    """Run an action in parallel with the block; its error is raised at the end."""
    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(action)
        yield
        future.result(timeout=SECONDS)


def run(record: Record, cities: list[dict[str, Any]], directory: Path) -> None:
    """Run the whole story in a temporary directory."""
    record.heading("Before the journey")
    travellers = build_travellers(record, directory)
    with ExitStack() as stack:
        record.heading("The cluster is started, and the cities are loaded", "Load")
        cluster = Cluster(record, directory, stack)
        with meanwhile(lambda: cluster.lose_a_replica(len(cities) // 2)):
            load(record, cluster.balancer, cities, directory)
        large = sum(population(city) >= 1_000_000 for city in cities)
        story = ClusterStory(
            *(record, travellers, cluster.balancer, directory, len(cities), large, "haproxy"),
            cluster,
        )
        story.pull()
        story.work_offline()
        cluster.restart_the_replica()
        story.push()
        story.look()
        compare(cluster, len(cities) + len(travellers), directory)
        story.logout()
        cluster.stop()


def compare(cluster: Cluster, wanted: int, directory: Path) -> None:
    """Compare the number of entities in each replica and in the database."""
    cluster.record.heading("Nothing is lost, and nothing is there twice", "Compare")
    for number, replica in enumerate(cluster.replicas):
        with kvstore.Client(
            app_key="kid_demo",
            app_secret="secret",
            host=replica.host,
            data_directory=directory / f"auditor{number}",
        ) as client:
            client.signup()
            cities = client.collection("cities", type="sync", auto_pagination=True)
            expect(f"replica {number} gives", cities.pull().pulled, wanted)
            # The camps of the travellers have no number.
            times = Counter(city["geonameid"] for city in cities.find() if "geonameid" in city)
            expect(f"replica {number} has twice", [one for one in times if times[one] > 1], [])
            client.logout()
        cluster.record.note(f"replica {number}", f"has {wanted:,} entities, each once")
    expect("the database has", cluster.entities(), wanted)
    cluster.record.note("PostgreSQL", f"has {wanted:,} entities")


def main(arguments: list[str]) -> int:
    """Run the demo."""
    signal.signal(signal.SIGTERM, interrupt)
    parser = argparse.ArgumentParser(description="Run the demo on a cluster.")
    parser.add_argument("--svg", type=Path, default=BUILD / "demo-cluster.svg", metavar="FILE")
    parser.add_argument("--people", type=int, default=0, metavar="N")
    parser.add_argument("cities", type=Path, nargs="?", metavar="CITIES.json")
    chosen = parser.parse_args(arguments)
    every = read_cities(chosen.cities or packaged_cities())
    cities = [city for city in every if population(city) >= chosen.people]
    record = Record()
    try:
        with tempfile.TemporaryDirectory(prefix="kvstore-demo-") as directory:
            run(record, cities, Path(directory))
        show(record, chosen.svg)
    except WrongError as wrong:
        print(f"\nFAILED: {wrong}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; everything was cleaned up.", file=sys.stderr)
        return 130
    print("\nPASSED: a replica and the primary were killed, and every number is right.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
