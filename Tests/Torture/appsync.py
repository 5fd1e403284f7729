"""The same as faults.py on a GraphQL API: a stand-in for AppSync that is killed, too.

    appsync.py [SECONDS] [REPORT]

The stand-in keeps its records in a file, and executes each request for real: versions, tombstones,
delta queries, Automerge.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from faults import Backend, Service, main
from ports import hold_port

# isort: split
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "AppSync"))
from standin import Process

SCHEMA = """
type Thing @model {
  id: ID!
  name: String!
  version: Int!
  text: String
}
"""


def options(host: str) -> dict[str, Any]:
    """Give the options of a client."""
    return {
        "app_key": "torture",
        "backend": "appsync",
        "endpoint": f"{host}/graphql",
        "auth": {"apiKey": "da2-standin"},
        "schema": SCHEMA,
    }


class Api:
    """The stand-in as a process that comes back at the same port, with the same records."""

    def __init__(self, directory: Path, schema: str) -> None:
        """Start it."""
        self.schema = directory / "things.graphql"
        self.schema.write_text(schema)
        self.data = directory / "things.jsonl"
        self.port = str(hold_port())
        self.start()

    @property
    def host(self) -> str:
        """The address for a client."""
        return self.process.url

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()

    def start(self) -> None:
        """Start it again."""
        self.process = Process(self.schema, "--data", str(self.data), "--port", self.port)


@contextmanager
def api(directory: Path, _: random.Random, schema: str = SCHEMA) -> Iterator[Service]:
    """Give an API of its own."""
    (directory / "api").mkdir()
    service = Api(directory / "api", schema)
    try:
        yield service
    finally:
        service.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], api, Backend(options, "Thing", "id", has_accounts=False, shared=0)))
