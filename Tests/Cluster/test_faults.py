"""Parts of a cluster fail while clients write and listen: nothing is lost, nothing is doubled."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest
from balancer import Balancer
from conftest import Cluster
from kvstored import Server
from load import APP, KEY, MASTER, SECONDS, Caller, Load, basic
from postgres import Postgres, addresses, sql


def healthy(host: str) -> bool:
    """Tell what a server says of itself."""
    caller = Caller(host)
    answer = caller.call("GET", "/healthz")
    caller.close()
    if answer.status == 503:
        assert answer.headers["retry-after"] == "1"
        return False
    assert answer.status == 200
    return True


def wait_for_health(host: str, wanted: bool) -> None:
    """Wait until a server says that it is well, or is not."""
    begin = time.monotonic()
    while healthy(host) is not wanted:
        assert time.monotonic() - begin < SECONDS
        time.sleep(0.02)


def test_a_replica_is_killed_under_load(cluster: Cluster) -> None:
    with Load(cluster.host) as load:
        for replica in (cluster.a, cluster.b):
            load.wait_for_writes()
            replica.kill()
            load.wait_for_writes()
            replica.start()
            wait_for_health(replica.host, True)
    load.check(*cluster.hosts)


def test_postgresql_is_killed_under_load(cluster: Cluster) -> None:
    with Load(cluster.host) as load:
        load.wait_for_writes()
        cluster.database.kill()
        load.wait_for_refusals()
        cluster.database.start()
        load.wait_for_writes()
    load.check(*cluster.hosts)


def test_a_replica_without_the_database_leaves_the_balancer_and_comes_back(
    cluster: Cluster,
) -> None:
    with Load(cluster.host) as load:
        load.wait_for_writes()
        cluster.link.cut()
        wait_for_health(cluster.a.host, False)
        load.wait_for_writes()
        assert healthy(cluster.b.host)
        cluster.link.heal()
        wait_for_health(cluster.a.host, True)
        load.wait_for_writes()
    load.check(*cluster.hosts)


def test_a_partition_that_nobody_is_told_of(cluster: Cluster) -> None:
    """Packets of one replica vanish; those who asked it are answered in time, and others go on."""
    with Load(cluster.host) as load:
        load.wait_for_writes()
        cluster.link.silence()
        caller = load.user.caller(cluster.a.host)
        # The first one waits for the database; the second one finds that the feed stands still.
        for _ in range(2):
            answer = caller.call("GET", f"/appdata/{KEY}/notes/none")
            assert answer.status == 503
            assert answer.headers["retry-after"] == "1"
        load.wait_for_writes(200)
        cluster.link.heal()
        wait_for_health(cluster.a.host, True)
        load.wait_for_writes()
        caller.close()
    load.check(*cluster.hosts)


def test_the_synchronous_standby_takes_over(tmp_path: Path) -> None:
    with Postgres() as primary, primary.standby() as standby:
        address = addresses(primary, standby)
        with (
            Server(tmp_path / "a", APP, storage=address) as a,
            Server(tmp_path / "b", APP, storage=address) as b,
            Balancer(tmp_path, a, b) as balancer,
        ):
            with Load(balancer.host) as load:
                load.wait_for_writes()
                primary.kill()
                load.wait_for_refusals()
                standby.promote()
                load.wait_for_writes()
            load.check(a.host, b.host)


def test_a_commit_whose_answer_is_lost_happens_once(cluster: Cluster) -> None:
    with Load(cluster.a.host) as load:
        load.wait_for_writes()
        cluster.link.lose_answers(b"COMMIT")
        load.wait(lambda: cluster.link.lost > 20)
        cluster.link.lose_answers(b"")
        load.wait_for_writes()
    load.check(*cluster.hosts)


FAILING = """
CREATE SEQUENCE tries;
CREATE FUNCTION fail() RETURNS trigger AS $$ BEGIN
  IF nextval('tries') % 3 <> 0 THEN
    RAISE EXCEPTION 'in the way' USING ERRCODE = '{state}';
  END IF;
  RETURN NEW;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER fail BEFORE INSERT ON entity FOR EACH ROW EXECUTE FUNCTION fail()
"""


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_transactions_that_are_in_each_others_way_are_repeated(
    cluster: Cluster, state: str
) -> None:
    load = Load(cluster.b.host, writers=1)
    cluster.database.sql(FAILING.format(state=state))
    with load:
        load.wait_for_writes(10)
    load.check()
    assert set(load.statuses) == {201}


def test_a_transaction_that_is_always_in_the_way_is_refused_for_now(cluster: Cluster) -> None:
    load = Load(cluster.b.host, writers=1)
    cluster.database.sql(FAILING.format(state="40001").replace("% 3", "* 3"))
    with load:
        load.wait_for_refusals()
        cluster.database.sql("DROP TRIGGER fail ON entity")
        load.wait_for_writes()
    load.check()


def feed_age(host: str) -> float:
    """Give how long ago a server has heard of what was committed."""
    caller = Caller(host, basic(MASTER))
    text = caller.call("GET", "/metrics").body.decode()
    caller.close()
    found = re.search(r"^kvstored_feed_age_seconds (\S+)", text, re.MULTILINE)
    assert found, text
    return float(found[1])


FEEDS = """
    SELECT pid FROM pg_stat_activity
    WHERE query LIKE '%(SELECT epoch FROM kvstored)%' AND pid <> pg_backend_pid()
"""


def feed_backend(cluster: Cluster) -> int:
    """Give a process of the database that a feed asks, known by its last statement."""
    end = time.monotonic() + SECONDS
    while not (backends := cluster.database.sql(FEEDS).split()):
        # Between two of these statements a feed reads messages.
        assert time.monotonic() < end, "no feed asks the database"
    return int(backends[0])


def test_a_feed_that_stands_still_is_told_and_catches_up(cluster: Cluster) -> None:
    """The process of the database that tells one of the replicas of commits is stopped."""
    with Load(cluster.host) as load:
        load.wait_for_writes()
        backend = feed_backend(cluster)
        os.kill(backend, signal.SIGSTOP)
        try:
            begin = time.monotonic()
            while all(healthy(host) for host in cluster.hosts):
                assert time.monotonic() - begin < SECONDS
            fresh, stale = sorted(feed_age(host) for host in cluster.hosts)
            # After 5 seconds a server is not well any more.
            assert fresh < 5 < stale
            load.wait_for_writes()
            assert any(healthy(host) for host in cluster.hosts)
        finally:
            os.kill(backend, signal.SIGCONT)
        for host in cluster.hosts:
            wait_for_health(host, True)
        load.wait_for_writes()
    load.check(*cluster.hosts)


def test_the_disk_of_postgresql_is_full(tmp_path: Path) -> None:
    """Writes are refused until there is room again; reads, deletions and live data go on."""
    with Postgres(disk="32m") as database:
        directory = database.directory / "disk" / "small"
        database.sql(f"CREATE TABLESPACE small LOCATION '{directory}'")
        database.sql("CREATE DATABASE small TABLESPACE small")
        address = database.address.replace("/postgres", "/small")
        with Server(tmp_path / "a", APP, storage=address) as server:
            with Load(server.host) as load:
                load.wait_for_writes()
                # It takes all the room that there is.
                sql(address, "CREATE TABLE room (text text)")
                with pytest.raises(RuntimeError, match="No space left"):
                    filler = "repeat(md5(number::text), 40)"
                    while True:
                        insert = f"SELECT {filler} FROM generate_series(1, 1000) AS number"
                        sql(address, f"INSERT INTO room {insert}")
                load.wait_for_refusals()
                assert healthy(server.host)
                sql(address, "DROP TABLE room")
                load.wait_for_writes()
            load.check()
