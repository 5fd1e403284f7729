"""A tracker of bugs, whose list loads little by little. Where the bugs are kept is only a name.

    python bugs.py local DIRECTORY add "It crashes" 3
    python bugs.py bugs-file DIRECTORY list

Commands: add TITLE SEVERITY, retitle ID TITLE, fix ID, remove ID, refresh COUNT, list,
show POSITION.
"""

from __future__ import annotations

import sys

import kvstore
from bugs_file import BugsFile


def main(store: str, directory: str, command: str, *arguments: str) -> None:
    """Carry out one command."""
    with kvstore.Client(app_key="bugs", store=store, data_directory=directory) as client:
        bugs = client.collection("bugs")
        match command, arguments:
            case "add", (title, severity):
                bug = bugs.save({"title": title, "severity": int(severity), "fixed": False})
                print("added", bug["_id"])
            case "refresh", (count,):
                many = [
                    {"title": f"Terrible bug {number}", "severity": 9, "fixed": False}
                    for number in range(int(count))
                ]
                print("added", len(bugs.save_many(many).entities))
            case "retitle", (id, title):
                bugs.save({**bugs.find_by_id(id), "title": title})
                print("retitled", id)
            case "fix", (id,):
                bugs.save({**bugs.find_by_id(id), "fixed": True})
                print("fixed", id)
            case "remove", (id,):
                print("removed", bugs.remove_by_id(id))
            case "list", ():
                print_list(bugs)
            case "show", (position,):
                with bugs.results(ORDER) as found:
                    print(found[int(position)]["title"])
            case _:
                sys.exit(__doc__)


ORDER = kvstore.Query(sort={"severity": -1, "title": 1})


def print_list(bugs: kvstore.Store) -> None:
    """Print the bugs, the worst first; a batch of them is in memory at a time."""
    with bugs.results(ORDER, batch_size=20) as found:
        print(len(found), "bugs")
        for bug in found:
            state = "fixed" if bug["fixed"] else "open"
            print(bug["_id"], bug["severity"], state, bug["title"])


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    with kvstore.register_store("bugs-file", BugsFile()):
        main(*sys.argv[1:])
