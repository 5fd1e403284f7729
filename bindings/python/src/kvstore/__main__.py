"""``python -m kvstore salvage``: copies everything readable of a damaged data file."""

from __future__ import annotations

import argparse
import json
import sys

from .errors import KVError
from .salvage import salvage


def main() -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m kvstore")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("salvage", help="copy everything readable of a damaged data file")
    command.add_argument("data_directory", help="the client's data directory")
    command.add_argument("destination", help="a new directory, for files of JSON lines")
    command.add_argument("--app-key", required=True)
    command.add_argument("--tag", default="kinvey")
    chosen = parser.parse_args()
    try:
        report = salvage(
            chosen.destination,
            app_key=chosen.app_key,
            data_directory=chosen.data_directory,
            host=None,
            tag=chosen.tag,
        )
    except KVError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(report, indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
