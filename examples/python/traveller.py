"""Pia, who writes Python: one of the three programs of the demo. README.md has the steps."""

from __future__ import annotations

import sys
from collections import Counter

import kvstore

NAME = "pia"
COUNTRY = "PT"
#: The id of Reykjavik, whose guest book everybody signs.
MEETING = {"geonameid": 3413829}


def main(step: str, host: str, directory: str) -> None:
    """Do one step."""
    with (
        kvstore.Client(
            app_key="kid_demo", app_secret="secret", host=host, data_directory=directory
        ) as client,
        # A backend returns at most 10,000 entities at once, and there are more cities.
        client.collection("cities", type="sync", auto_pagination=True) as cities,
    ):
        match step:
            case "pull":
                client.signup(NAME, "a password")
                pull(cities)
            case "offline":
                work_offline(cities)
            case "push":
                push(cities)
            case "look":
                look(cities)
            case "logout":
                client.logout()
                print("left:", cities.count())
    print("open:", kvstore.live_objects())


def pull(cities: kvstore.Store) -> None:
    """Fetch all cities."""
    print("pulled:", cities.pull().pulled)


def work_offline(cities: kvstore.Store) -> None:
    """Count, and make changes that the backend accepts and one that it refuses."""
    print("cities:", cities.count())
    print("large:", cities.count({"population": {"$gte": 1_000_000}}))
    largest_first = {"population": -1}
    here = kvstore.Query({"countrycode": COUNTRY}, sort=largest_first, limit=3)
    for city in list(cities.find(here)):
        cities.save({**city, "visitedBy": NAME})
    cities.save({"name": "Camp of Pia", "visitedBy": NAME})
    [meeting] = cities.find(MEETING)
    cities.save({**meeting, "guests": [NAME]})
    # Only its creator may change the largest city.
    [largest] = cities.find(kvstore.Query(sort=largest_first, limit=1))
    cities.save({**largest, "visitedBy": NAME})
    print_pending(cities)
    try:
        cities.push()
    except kvstore.NetworkError as error:
        print("push:", error.name)


def push(cities: kvstore.Store) -> None:
    """Push. A refused write is printed and dropped."""
    conflicts: list[kvstore.Conflict] = []

    def merge(conflict: kvstore.Conflict) -> kvstore.Decision | kvstore.Entity:
        """Sign the guest book after those who have signed it in the meantime."""
        conflicts.append(conflict)
        if conflict.remote is None:
            return kvstore.Decision.KEEP
        return {**conflict.remote, "guests": [*conflict.remote["guests"], NAME]}

    cities.set_conflict_handler(merge)
    result = cities.push()
    print("pushed:", result.pushed)
    print("conflicts:", len(conflicts))
    for error in result.errors:
        print("refused:", error.error)
        cities.pending.drop(error.id or "")
    print_pending(cities)


def print_pending(cities: kvstore.Store) -> None:
    """Print the number of pending writes."""
    waiting = Counter(write.operation for write in cities.pending)
    print(f"pending: {waiting['create']} create, {waiting['update']} update")


def look(cities: kvstore.Store) -> None:
    """Count the visits of all travellers."""
    pull(cities)
    print("visited:", cities.count({"visitedBy": {"$exists": True}}))
    print("mine:", cities.count({"visitedBy": NAME}))
    [meeting] = cities.find(MEETING)
    print("guests:", len(meeting["guests"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
