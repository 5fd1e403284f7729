"""Types that ``python -m kvstore.codegen`` makes from a schema."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import kvstore
from kvstore.codegen import go, python, swift
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

#: Words of the languages, names of what the made code uses, and names that become the same.
HOSTILE = """
enum class { class None True mro default name title _x_ open OPEN Open self init Type A_B AB _1 }
enum State { OPEN DONE }
enum StateOPEN { X }
type def { from: String, Type: Int, in: [Int!] }
type F @model { field: String, F: String, str: String, replace: Int, State: State, other: State
  keys: String, keys_: String, copy: Int, self: String, Self: String, init: String, class: class
  default: class @default(value: "default"), CodingKeys: String, import: def, cls: Int
  lambda: F @hasOne(fields: ["async"]), async: ID, a_b: Int, aB: Int, _id: Int, func: Boolean }
type FKeys @model { id: ID!, Store: [Store] @hasMany }
type Store @model { type: String! @primaryKey, string: String, int: Int, int64: Int }
type string @model { func: Boolean, protocol: Float, var: AWSTimestamp, nil: [String], range: Int }
type Field @model { Any: Int, Codable: String, String: String }
type type @model { id: ID!, package: String }
"""


def load(text: str) -> ModuleType:
    module = ModuleType("made_models")
    sys.modules[module.__name__] = module
    exec(compile(text, "made_models.py", "exec"), module.__dict__)
    return module


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kvstore.codegen", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_names_that_are_words_of_python_are_escaped(tmp_path: Path) -> None:
    made: Any = load(python.write(read(HOSTILE), "hostile"))
    assert made.F_.default == "default"
    with kvstore.Client(app_key="hostile", schema=HOSTILE, data_directory=tmp_path) as client:
        records = made.F_.store(client)
        record = made.F_(
            field_="a",
            F__="b",
            str_="c",
            keys__="d",
            keys_="e",
            self_="f",
            class__=made.class_.None_,
            State_=made.State.DONE,
            other=made.State.OPEN,
            import_=made.def_(from_="g", in_=[1]),
            async_="none",
        )
        saved = records.save(record)
        assert saved == record.copy(default=made.class_.default, id=saved.id)
        stored = client.collection("F")[saved.id]
        names = ("field", "F", "str", "keys", "keys_", "self")
        assert [stored[name] for name in names] == [*"abcdef"]
        assert (stored["class"], stored["State"], stored["import"]["from"]) == ("None", "DONE", "g")
        chosen = (made.F_.keys.F__ == "b") & (made.F_.keys.keys__ == "d")
        assert list(records.results(chosen)) == [saved]
        assert saved.lambda_(client) is None
        assert [value.value for value in made.class_][:3] == ["class", "None", "True"]


def compiled(command: list[str], directory: Path) -> None:
    result = subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, "MYPYPATH": str(ROOT / "bindings" / "python" / "src")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("text", [HOSTILE, SEVERAL], ids=["hostile", "several"])
def test_what_is_made_compiles_in_go(tmp_path: Path, text: str) -> None:
    (tmp_path / "go.mod").write_text("module models\n\ngo 1.19\n")
    (tmp_path / "models.go").write_text(go.write(read(text), "hostile", "models"))
    compiled(["go", "vet", "."], tmp_path)
    formatted = subprocess.run(["gofmt", "-l", "."], cwd=tmp_path, capture_output=True, check=True)
    assert formatted.stdout == b""


@pytest.mark.parametrize("text", [HOSTILE, SEVERAL], ids=["hostile", "several"])
def test_what_is_made_compiles_in_swift(tmp_path: Path, text: str) -> None:
    (tmp_path / "Models.swift").write_text(swift.write(read(text), "hostile"))
    command = ["swiftc", "-typecheck", "-swift-version", "6", "-parse-as-library", "Models.swift"]
    compiled(command, tmp_path)


@pytest.mark.parametrize("text", [HOSTILE, SEVERAL], ids=["hostile", "several"])
def test_what_is_made_passes_pythons_type_checker(tmp_path: Path, text: str) -> None:
    (tmp_path / "models.py").write_text(python.write(read(text), "hostile"))
    compiled([sys.executable, "-m", "mypy", "--strict", "models.py"], tmp_path)


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
