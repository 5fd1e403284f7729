"""Types that ``python -m kvstore.codegen`` makes from a schema."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import kvstore
from kvstore.codegen import python
from kvstore.codegen.schema import Field, Relation, read

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
SCHEMA = EXAMPLES / "models" / "schema.graphql"

SEVERAL = '''
"""A text with type Lost @model { id: ID! } in it."""
type Order @model @key(fields: ["shop", "number"]) {
  shop: ID!
  number: Int! # the second part
  lines(limit: Int = 3): [Line!]! @hasMany
  class: String
  place: Place
  at: [AWSDateTime]
}
type Line @model { id: ID!, text: String @default(value: "a \\"b\\""), order: Order @belongsTo }
type Place { city: String!, zips: [Int!] }
input Passed { over: Int = 1 }
'''


def load(text: str) -> ModuleType:
    module = ModuleType("made_models")
    sys.modules[module.__name__] = module
    exec(compile(text, "made_models.py", "exec"), module.__dict__)
    return module


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kvstore.codegen", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("output", "arguments"),
    [
        ("models/models.py", []),
        ("go/models/models.go", ["--language", "go", "--package", "main"]),
        ("models/Models.swift", ["--language", "swift"]),
    ],
)
def test_the_types_of_the_examples_are_what_their_schema_gives(
    output: str, arguments: list[str]
) -> None:
    result = run(str(SCHEMA), *arguments, "--output", str(EXAMPLES / output), "--check")
    assert result.returncode == 0, result.stderr


def test_a_mistake_has_its_line_and_column(tmp_path: Path) -> None:
    schema = tmp_path / "bad.graphql"
    schema.write_text("type Post @model {\n  title: Unknown\n}")
    result = run(str(schema))
    assert result.returncode == 1
    assert "Unknown" in result.stderr
    assert "2:" in result.stderr or "line 2" in result.stderr


def test_keys_of_relations_that_no_field_names_are_added() -> None:
    order, line = read(SEVERAL).models
    assert order.key == ["shop", "number"]
    keys = ["orderLinesShop", "orderLinesNumber"]
    assert order.relations == [Relation("lines", "Line", keys, many=True, held_there=True)]
    assert line.relations == [Relation("order", "Order", keys, many=False, held_there=False)]
    added = [Field(keys[0], "ID", required=False), Field(keys[1], "Int", required=False)]
    assert line.fields[-2:] == added


def test_made_classes_save_copy_find_and_follow_relations(tmp_path: Path) -> None:
    made: Any = load(python.write(read(SEVERAL), "several"))
    with kvstore.Client(app_key="shop", schema=SEVERAL, data_directory=tmp_path) as client:
        orders, lines = made.Order.store(client), made.Line.store(client)
        order = made.Order(
            shop="a",
            number=7,
            class_="x",
            place=made.Place(city="Reno"),
            at=["2024-05-21T12:00:00Z"],
        )
        assert orders.save(order) == order
        assert orders.save(order.copy(class_="y")).class_ == "y"
        line = lines.save(made.Line(orderLinesShop="a", orderLinesNumber=7))
        lines.save(made.Line(orderLinesShop="a", orderLinesNumber=8))
        assert line.text == 'a "b"'
        assert orders.find((made.Order.keys.number > 4) & (made.Order.keys.class_ == "y"))
        assert list(order.lines(client)) == [line]
        assert line.order(client) == order.copy(class_="y")
        assert lines.save(made.Line()).order(client) is None
        with pytest.raises(AttributeError):
            order.number = 8
