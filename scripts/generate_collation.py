#!/usr/bin/env python3
"""Makes the table of weights that text is ordered by, from the data of CLDR.

scripts/generate_collation.py [DIRECTORY]    writes Sources/Shims/CCollation/table.c

DIRECTORY is `common` of CLDR 41; without it, that of Debian's package unicode-cldr-core. The
program also needs a Python that knows Unicode 14 (3.11), for decompositions and combining classes:
the table holds those too, so that the order does not depend on what the system knows.
Sources/Shims/CCollation/include/collation.h describes the layout of the table.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "Sources" / "Shims" / "CCollation" / "table.c"
DATA = Path("/usr/share/unicode/cldr/common")
UNICODE = "14.0.0"
CLDR = 41

# A tailoring: the name by which it is chosen, the file of CLDR and the type of its rules.
TAILORINGS = [
    ("cs", "cs", "standard"),
    ("cy", "cy", "standard"),
    ("da", "da", "standard"),
    ("de@phonebook", "de", "phonebook"),
    ("eo", "eo", "standard"),
    ("es", "es", "standard"),
    ("es@traditional", "es", "traditional"),
    ("et", "et", "standard"),
    ("fi", "fi", "standard"),
    ("fil", "fil", "standard"),
    ("fo", "fo", "standard"),
    ("hr", "hr", "standard"),
    ("hu", "hu", "standard"),
    ("is", "is", "standard"),
    ("lv", "lv", "standard"),
    ("nb", "no", "standard"),
    ("nn", "no", "standard"),
    ("no", "no", "standard"),
    ("pl", "pl", "standard"),
    ("ro", "ro", "standard"),
    ("sk", "sk", "standard"),
    ("sl", "sl", "standard"),
    ("sq", "sq", "standard"),
    ("sv", "sv", "reformed"),
    ("tr", "tr", "standard"),
]

COMMON = 32
LOWER, MIXED, UPPER = 4, 12, 30
IMPLICIT = 1
EXPANSION, DECOMPOSITION = 0, 32
# The second primary weight of a letter that a tailoring puts after another: above the weights of
# all characters except U+FFFD and U+FFFF.
AFTER = 0xFFE0

Element = tuple[int, int, int]
Elements = tuple[Element, ...]
Text = tuple[int, ...]


def packed(element: Element) -> int:
    primary, secondary, tertiary = element
    assert primary < 1 << 16 and secondary < 1 << 10 and tertiary < 1 << 6, element
    return primary << 16 | secondary << 6 | tertiary


def spread(secondary: int) -> int:
    """A secondary weight with room for those of tailorings: much of it after the usual one."""
    if secondary <= COMMON:
        return secondary
    return COMMON + 16 + (secondary - COMMON) * 3


def decomposed(text: Iterable[int]) -> Text:
    return tuple(map(ord, unicodedata.normalize("NFD", "".join(map(chr, text)))))


def root_elements(data: Path) -> dict[Text, Elements]:
    """The elements of each text that has some, in the order of the root."""
    found: dict[Text, Elements] = {}
    for line in (data / "uca" / "allkeys_CLDR.txt").read_text("utf-8").splitlines():
        if entry := re.match(r"([0-9A-F ]+?)\s*;\s*((?:\[[^\]]*\])+)", line):
            text = tuple(int(code, 16) for code in entry[1].split())
            if decomposed(text) != text:
                continue
            weights = (
                tuple(int(weight, 16) for weight in element[1:].split("."))
                for element in re.findall(r"\[([^\]]*)\]", entry[2])
            )
            found[text] = tuple((one, spread(two), three * 2) for one, two, three in weights)
    return found


class Table:
    """The weights of the file, and where they stand for each character."""

    def __init__(self) -> None:
        self.weights: list[int] = []
        self.known: dict[tuple[int, ...], int] = {}

    def stored(self, numbers: tuple[int, ...]) -> int:
        """Where these numbers stand among the weights."""
        if numbers not in self.known:
            self.known[numbers] = len(self.weights)
            self.weights += numbers
        index = self.known[numbers]
        assert index < 1 << 16
        return index

    def value(self, elements: Elements) -> int:
        """A single element, or a mark that says where several stand."""
        if len(elements) == 1:
            return packed(elements[0])
        return self.marked(EXPANSION, tuple(map(packed, elements)))

    def marked(self, kind: int, numbers: tuple[int, ...]) -> int:
        assert len(numbers) < 32
        return self.stored(numbers) << 16 | kind | len(numbers)

    def contractions(self, alone: int, rest: dict[Text, Elements]) -> int:
        """A mark that says where the texts stand that begin with a character, the longest first."""
        group = [alone, len(rest)]
        for text, elements in sorted(rest.items(), key=lambda item: (-len(item[0]), item[0])):
            group += [len(text), *text, self.value(elements)]
        assert self.weights, "the mark of no elements is that of the group at 0"
        return self.stored(tuple(group)) << 16


class Rules:
    """The rules of one language: which texts it gives other elements than the root does."""

    RELATION = re.compile(r"\s*(&|<<<|<<|<|=)\s*(\[before 1\])?\s*([^&<=\s]+)")

    def __init__(self, root: dict[Text, Elements]) -> None:
        self.root = root
        self.own: dict[Text, Elements] = {}
        self.primaries = sorted({element[0] for elements in root.values() for element in elements})
        self.after: dict[int, int] = {}

    def elements(self, text: Text) -> Elements:
        found: list[Element] = []
        while text:
            for length in range(len(text), 0, -1):
                known = self.own.get(text[:length]) or self.root.get(text[:length])
                if known:
                    found += known
                    text = text[length:]
                    break
            else:
                raise SystemExit(f"no elements: {text}")
        return tuple(found)

    def read(self, rules: str) -> dict[Text, Elements]:
        rules = re.sub(r"#.*", "", rules)
        rules = re.sub(r"\[(caseFirst|reorder) [\w ]+\]", "", rules)
        rules = re.sub(r"\\u([0-9A-F]{4})", lambda code: chr(int(code[1], 16)), rules)
        position = 0
        current: Elements = ()
        steps = 0
        is_own = False
        rules = rules.strip()
        while position < len(rules):
            relation = self.RELATION.match(rules, position)
            if not relation:
                raise SystemExit(
                    f"a rule that is not understood: {rules[position : position + 40]!r}"
                )
            position = relation.end()
            strength, before, written = relation.groups()
            written, _, extension = written.partition("/")
            text = decomposed(map(ord, written))
            if strength == "&":
                current = self.elements(text)
                if before:
                    place = self.primaries.index(current[0][0])
                    current = ((self.primaries[place - 1], COMMON, LOWER),)
                steps, is_own = 0, False
                continue
            case = self.case(written)
            if strength == "<":
                first = current[0][0]
                self.after[first] = self.after.get(first, 0) + 1
                current = ((first, COMMON, case), (AFTER + self.after[first], 0, 0))
                steps, is_own = 0, True
            elif strength != "=":
                steps = steps + 1 if strength == "<<<" else 0
                current = self.moved(current, strength, case, steps, is_own)
                is_own = is_own or strength == "<<"
            extra = self.elements(decomposed(map(ord, extension))) if extension else ()
            self.own[text] = current + extra
        return self.own

    @staticmethod
    def case(text: str) -> int:
        cases = {letter.isupper() for letter in text if letter.isalpha()}
        return MIXED if len(cases) == 2 else UPPER if True in cases else LOWER

    @staticmethod
    def moved(elements: Elements, strength: str, case: int, steps: int, is_own: bool) -> Elements:
        """These elements with a greater weight in the last that has one."""
        last = max(index for index, element in enumerate(elements) if element[1])
        moved = list(elements)
        if strength == "<<":
            usual = 4 if case == LOWER else 16
            moved = [(one, two, usual if one and two else three) for one, two, three in moved]
            one, two, _ = moved[last]
            moved[last] = (one, two + 1, case)
        else:
            one, two, three = moved[last]
            moved[last] = (one, two, case + steps if is_own else three + 1)
            if is_own and last > 0:
                usual = 4 if case == LOWER else 16
                moved[:last] = [(a, b, usual if a and b else c) for a, b, c in moved[:last]]
        return tuple(moved)


def rules_of(data: Path, language: str, kind: str) -> str:
    text = (data / "collation" / f"{language}.xml").read_text("utf-8")
    found = re.search(rf'<collation type="{kind}"[^>]*>.*?<!\[CDATA\[(.*?)\]\]>', text, re.S)
    if not found:
        raise SystemExit(f"no rules: {language}, {kind}")
    return found[1]


def grouped(elements: dict[Text, Elements]) -> dict[int, dict[Text, Elements]]:
    groups: dict[int, dict[Text, Elements]] = {}
    for text, weights in elements.items():
        if len(text) > 1:
            groups.setdefault(text[0], {})[text[1:]] = weights
    return groups


def blocks(values: dict[int, int], absent: int, size: int) -> tuple[list[int], list[int]]:
    """The two stages of a table: the number of each block, and the blocks that differ."""
    known: dict[tuple[int, ...], int] = {}
    stage = [
        known.setdefault(
            tuple(values.get(code, absent) for code in range(start, start + size)), len(known)
        )
        for start in (*range(0, 0x30000, size), *range(0xE0000, 0x110000, size))
    ]
    if any(0x30000 <= code < 0xE0000 for code in values):
        raise SystemExit("characters have values where the table has no place for them")
    while len(stage) > 1 and stage[-1] == stage[-2]:
        stage.pop()
    return stage, [value for block in known for value in block]


def array(kind: str, name: str, values: list[int]) -> str:
    lines, line = [], " "
    for value in values:
        text = f" {value}," if value < 10 else f" {value:#x},"
        if len(line) + len(text) > 118:
            lines.append(line)
            line = " "
        line += text
    lines.append(line)
    return f"const {kind} {name}[{len(values)}] = {{\n" + "\n".join(lines) + "\n};\n"


def main() -> None:
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    if unicodedata.unidata_version != UNICODE:
        raise SystemExit(f"this Python knows Unicode {unicodedata.unidata_version}, not {UNICODE}")
    root = root_elements(data)
    table = Table()
    table.stored((0,))

    values: dict[int, int] = {}
    classes: dict[int, int] = {}
    for code in range(0x110000):
        if 0xD800 <= code < 0xE000:
            continue
        parts = decomposed((code,))
        if parts != (code,) and not 0xAC00 <= code < 0xD7A4:
            values[code] = table.marked(DECOMPOSITION, parts)
        if order := unicodedata.combining(chr(code)):
            classes[code] = order
    for text, elements in root.items():
        if len(text) == 1:
            values[text[0]] = table.value(elements)
    root_groups = grouped(root)
    for code, rest in root_groups.items():
        values[code] = table.contractions(values.get(code, IMPLICIT), rest)

    tailored: list[int] = []
    entries = []
    for name, language, kind in TAILORINGS:
        own = Rules(root).read(rules_of(data, language, kind))
        start = len(tailored) // 2
        groups = grouped(own)
        for code in sorted({text[0] for text in own}):
            alone = table.value(own[(code,)]) if (code,) in own else None
            if alone is None:
                single = root.get((code,))
                alone = table.value(single) if single else IMPLICIT
            rest = root_groups.get(code, {}) | groups.get(code, {})
            tailored += [code, table.contractions(alone, rest) if rest else alone]
        entries.append((name, start, len(tailored) // 2 - start))

    stage, block = blocks(values, IMPLICIT, 64)
    class_stage, class_block = blocks(classes, 0, 64)
    lines = [
        "// Made by scripts/generate_collation.py from the data of CLDR: not to be edited.",
        "// Copyright (c) 1991-2022 Unicode, Inc. The data is under the terms of COPYING.",
        '#include "collation.h"\n',
        f"const uint32_t kvcollation_version = {CLDR * 100 + 2};\n",
        f"const uint32_t kvcollation_stage_count = {len(stage)};",
        f"const uint32_t kvcollation_class_stage_count = {len(class_stage)};\n",
        array("uint16_t", "kvcollation_stage", stage),
        array("uint32_t", "kvcollation_values", block),
        array("uint32_t", "kvcollation_weights", table.weights),
        array("uint8_t", "kvcollation_class_stage", class_stage),
        array("uint8_t", "kvcollation_classes", class_block),
        array("uint32_t", "kvcollation_tailored", tailored),
        f"const uint32_t kvcollation_tailoring_count = {len(entries)};",
        f"const struct kvcollation_tailoring kvcollation_tailorings[{len(entries)}] = {{",
        *(f'  {{"{name}", {start}, {count}}},' for name, start, count in entries),
        "};",
    ]
    TABLE.write_text("\n".join(lines) + "\n")
    size = 2 * len(stage) + 4 * (len(block) + len(table.weights) + len(tailored))
    size += len(class_stage) + len(class_block)
    print(f"{size} bytes")


if __name__ == "__main__":
    main()
