"""The books of the comparison with other stores: about 394 bytes each, the same in every run."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

SURNAMES = (
    *("Okafor", "Lindqvist", "Marchetti", "Tanaka", "Novak"),
    *("Fernandez", "Haddad", "Kowalski", "Dubois", "Nguyen"),
)
COUNTRIES = ("US", "FR", "DE", "JP", "BR", "IN", "GB", "SE", "NG", "VN")
WORDS = (
    *("winter", "river", "falling", "glass", "paper", "harbour", "silent", "northern", "engine"),
    *("garden", "letter", "copper", "island", "memory", "distant", "market", "shadow", "orchard"),
    *("signal", "winding", "thousand", "broken", "lantern", "amber", "velvet"),
)
TAGS = (
    *("history", "fiction", "science", "travel", "poetry", "cooking", "biography", "mystery"),
    *("children", "economics", "philosophy", "art", "music", "nature", "sport", "technology"),
)

FILES = ("entities.jsonl", "extra.jsonl", "find_ids.txt", "price_lows.txt", "update_ids.txt")
RANGES = 10_000


def write(directory: Path, count: int, extra: int = 2_000) -> None:
    """Writes FILES: the entities, some more for single saves, and what is asked for and changed."""
    source = random.Random(20240229)
    directory.mkdir(parents=True, exist_ok=True)
    ids = write_entities(directory / FILES[0], source, range(count))
    write_entities(directory / FILES[1], source, range(count, count + extra))
    write_lines(directory / FILES[2], (source.choice(ids) for _ in range(count)))
    write_lines(directory / FILES[3], (f"{source.uniform(4, 190):.2f}" for _ in range(RANGES)))
    changed = source.sample(ids, count // 10)
    write_lines(directory / FILES[4], (f"{id_} {source.uniform(4, 204):.2f}" for id_ in changed))


def write_entities(file: Path, source: random.Random, numbers: range) -> list[str]:
    """A line of compact JSON for each number; gives their ids."""
    entities = (entity(source, number) for number in numbers)
    ids = []
    with file.open("w") as out:
        for each in entities:
            ids.append(str(each["_id"]))
            out.write(json.dumps(each, separators=(",", ":"), ensure_ascii=False) + "\n")
    return ids


def write_lines(file: Path, lines: Iterable[str]) -> None:
    with file.open("w") as out:
        out.writelines(line + "\n" for line in lines)


def entity(source: random.Random, number: int) -> dict[str, object]:
    """One book: 1 % share an author, 10 % a country; a few need more than ASCII, or escapes."""
    author = source.randrange(100)
    kind = source.randrange(100)
    title = " ".join(source.choice(WORDS) for _ in range(source.randint(4, 9))).title()
    if kind < 2:
        title += " \u2013 édition spéciale"
    elif kind == 2:
        title += ' "Annotated"\n'
    created = time_of(source, 2019, 2022)
    surname = SURNAMES[1 if author == 42 else (author * 3 + 5) % 10]
    return {
        "_id": f"{0x5F000000 + number // 7:08x}{source.getrandbits(64):016x}",
        "title": title,
        "author": {
            "name": f"Author {author:03d} {surname}",
            "country": COUNTRIES[(author * 7 + 3) % 10],
        },
        "pages": source.randint(40, 1200),
        "price": round(source.uniform(4, 204), 2) + 0.005 * source.randrange(2),
        "tags": source.sample(TAGS, 3),
        "published": time_of(source, 1990, 2019),
        "_acl": {"creator": f"{source.getrandbits(96):024x}", "gr": True, "gw": False},
        "_kmd": {"ect": created, "lmt": time_of(source, 2023, 2024)},
    }


def time_of(source: random.Random, first_year: int, last_year: int) -> str:
    year = source.randint(first_year, last_year)
    month, day = source.randint(1, 12), source.randint(1, 28)
    hour, minute, second = (source.randrange(end) for end in (24, 60, 60))
    clock = f"{hour:02d}:{minute:02d}:{second:02d}.{source.randrange(1000):03d}"
    return f"{year:04d}-{month:02d}-{day:02d}T{clock}Z"
