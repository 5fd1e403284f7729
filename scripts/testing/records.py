"""What is known of each section: that it passed with these inputs, and what it cost."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass

from testing import places


@dataclass(frozen=True)
class Record:
    """A run of a section that passed."""

    #: Of its inputs: see inputs.py.
    fingerprint: str
    passed: int
    #: Seconds by the clock.
    wall: float
    #: Seconds of processor time, for building and for running.
    build: float
    run: float


def passed_last(name: str) -> Record | None:
    """Give the last run of a section that passed in this checkout."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        return Record(**json.loads((places.RECORDS / f"{name}.json").read_text()))
    return None


def keep(name: str, record: Record) -> None:
    """Remember a run that passed."""
    places.RECORDS.mkdir(parents=True, exist_ok=True)
    (places.RECORDS / f"{name}.json").write_text(json.dumps(asdict(record)) + "\n")


def measured() -> dict[str, Record]:
    """Give what each section cost on the machine that measured it for the documentation."""
    if not places.MEASURED.exists():
        return {}
    return {
        name: Record(**record) for name, record in json.loads(places.MEASURED.read_text()).items()
    }


def publish(names: list[str]) -> dict[str, Record]:
    """Put what this checkout knows of these sections into the tree; give all that is known."""
    known = {name: record for name, record in measured().items() if name in names}
    for name in names:
        if record := passed_last(name):
            rounded = {"wall": round(record.wall), "build": round(record.build)}
            rounded["run"] = round(record.run)
            # A fingerprint is of one checkout.
            known[name] = Record(**asdict(record) | rounded | {"fingerprint": ""})
    places.MEASURED.write_text(
        json.dumps({name: asdict(known[name]) for name in sorted(known)}, indent=1) + "\n"
    )
    return known
