"""Writes the types for the models of a schema.

``python -m kvstore.codegen schema.graphql`` prints Python; ``--language go --package blog`` and
``--language swift`` print the others; ``--output FILE`` writes a file; ``--check`` fails if the
file is another one.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import KVError
from . import go, python, swift
from .schema import read


def main() -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m kvstore.codegen")
    parser.add_argument("schema", type=Path, help="a schema in GraphQL's definition language")
    parser.add_argument("--language", choices=["python", "go", "swift"], default="python")
    parser.add_argument("--package", default="models", help="the package of the types in Go")
    parser.add_argument("--output", type=Path, help="the file to write; otherwise it is printed")
    parser.add_argument("--check", action="store_true", help="only compare with the output")
    chosen = parser.parse_args()
    if chosen.check and chosen.output is None:
        parser.error("--check needs --output")
    try:
        schema = read(chosen.schema.read_text())
    except KVError as error:
        print(f"{chosen.schema}: {error}", file=sys.stderr)
        return 1
    made = {
        "python": lambda: python.write(schema, chosen.schema.name),
        "go": lambda: go.write(schema, chosen.schema.name, chosen.package),
        "swift": lambda: swift.write(schema, chosen.schema.name),
    }[chosen.language]()
    if chosen.output is None:
        print(made, end="")
    elif not chosen.check:
        chosen.output.write_text(made)
    elif not chosen.output.exists() or chosen.output.read_text() != made:
        print(f"{chosen.output} is not what {chosen.schema} gives", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
