"""The examples in the comments of the Swift package, as a program that a compiler can look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: What the examples speak of without saying what it is.
PRELUDE = """\
import KVStore

struct Home: Codable, Sendable {
  var city: String
}

struct Person: Codable, Sendable {
  var id: String?
  var name: String
  var age: Int
  var city: String?
  var email: String?
  var tags: [String] = []
  var home = Home(city: "")
  var visits = 0
  var note: String?
  enum CodingKeys: String, CodingKey {
    case id = "_id"
    case name, age, city, email, tags, home, visits, note
  }
}

"""
PARAMETERS = "\n".join(
    [
        "  _ client: KVStoreClient, _ people: DataStore<Person>, _ archive: DataStore<Person>,",
        "  _ notes: DataStore<Person>, _ user: User, _ ann: Person, _ many: [Person],",
        "  _ context: Context, _ everybody: Results<Person>",
    ]
)
COMMENT = re.compile(r"^ *///(.*)$")
CODE = re.compile(r"^ {5}(.*)$")
TYPE = re.compile(r"^public (?:final )?(?:struct|class|enum|protocol|actor) (\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Sample:
    """An example and where it stands."""

    file: str
    line: int
    text: str

    def swift(self, number: int) -> str:
        """Give what a compiler can look at: a function, or what has to stand outside of one."""
        where = f'#sourceLocation(file: "{self.file}", line: {self.line})\n'
        if self.text.startswith("extension "):
            return f"{where}{self.text}\n"
        return f"func sample{number}(\n{PARAMETERS}\n) async throws {{\n{where}{self.text}\n}}\n"


def program(folder: Path) -> str:
    """Give all examples of a folder's files as one file."""
    samples = [sample for file in sorted(folder.rglob("*.swift")) for sample in samples_of(file)]
    functions = (sample.swift(number) for number, sample in enumerate(samples))
    return PRELUDE + "\n".join(functions)


def samples_of(file: Path) -> Iterator[Sample]:
    """Find the indented blocks in the comments of a file."""
    block: list[str] = []
    start = 0
    for number, line in enumerate([*file.read_text().splitlines(), ""], 1):
        comment = COMMENT.match(line)
        code = CODE.match(comment[1]) if comment else None
        if code:
            start = start if block else number
            block.append(code[1])
        elif block and comment and not comment[1].strip():
            block.append("")
        elif block:
            yield Sample(str(file), start, "\n".join(block).strip())
            block = []


def types_without_example(folder: Path) -> list[str]:
    """Name the public types whose comment shows no example."""
    lacking = []
    for file in sorted(folder.rglob("*.swift")):
        text = file.read_text()
        for found in TYPE.finditer(text):
            comment: list[str] = []
            for line in reversed(text[: found.start()].splitlines()):
                if not line.startswith("///"):
                    break
                comment.append(line)
            if not any(line.startswith("///     ") for line in comment):
                lacking.append(found[1])
    return lacking
