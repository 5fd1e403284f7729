"""Runs everything that tries to lose, double, wedge or divide data; writes build/torture.json.

    run.py WORLDS SECONDS KILLS

So many simulated worlds of each backend, so many seconds of bad network with real processes, first
with one server, then with one that goes back to copies of its data, then with a GraphQL API, then
with a cluster that fails, so many kills of one that saves. The report has how many schedules, kills
and faults there were, what was lost, doubled, wedged and divergent, and for each failure the seed,
and the command that repeats it.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "build" / "torture.json"
WORLDS = "scripts/play-worlds"
KINDS = ("lost", "doubled", "wedged", "divergent", "other")


def worlds(count: int, directory: Path) -> dict[str, Any]:
    """Run simulated worlds."""
    file = directory / "worlds.json"
    environment = os.environ | {
        "KV_WORLDS": str(count),
        "KV_WORLDS_START": str(secrets.randbits(48)),
        "KV_WORLDS_REPORT": str(file),
    }
    run(WORLDS.split(), environment)
    return read(file)


def program(name: str, amount: int, directory: Path) -> dict[str, Any]:
    """Run one of the programs beside this one."""
    file = directory / f"{name}.json"
    path = Path(__file__).with_name(f"{name}.py")
    run([sys.executable, str(path), str(amount), str(file)], os.environ)
    return read(file)


def run(command: list[str], environment: Any) -> None:
    """Run a command; whether it fails is in its report."""
    print(f"$ {' '.join(command)}", flush=True)
    subprocess.run(command, cwd=ROOT, env=environment, check=False)


def read(file: Path) -> dict[str, Any]:
    """Give a report; without one the run itself has failed."""
    if not file.exists():
        return {"other": ["it ended without a report"]}
    report: dict[str, Any] = json.loads(file.read_text())
    return report


def summary(world: dict[str, Any], programs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Put the reports of the worlds and, by their names, of the programs together."""
    found: dict[str, list[str]] = {
        kind: [text for report in (*programs.values(), world) for text in report.get(kind, [])]
        for kind in KINDS
    }
    seeds = []
    for failure in world.get("failures", []):
        seeds.append(f"KV_TEST_SEED={failure['seed']} {WORLDS}")
        for text in failure["findings"]:
            kind = re.match(r"(\w+):", text)
            found[kind[1] if kind and kind[1] in KINDS else "other"].append(text)
    for name, report in programs.items():
        if any(report.get(kind) for kind in KINDS):
            seeds.append(f"TORTURE_SEED={report.get('seed')} Tests/Torture/{name}.py")
    fault, kill = programs["faults"], programs["torture"]
    return {
        "schedules": world.get("schedules", 0),
        "seconds": fault.get("seconds", 0),
        "kills": {**fault.get("kills", {}), "saver": kill.get("kills", 0)},
        "faults": fault.get("faults", {}),
        **{name: parts(programs[name]) for name in ("restores", "appsync", "cluster")},
        "failedCalls": fault.get("weather", 0),
        "acknowledged": fault.get("acknowledged", 0),
        **{kind: len(texts) for kind, texts in found.items()},
        "findings": [text for texts in found.values() for text in texts][:100],
        "seeds": seeds,
    }


def parts(report: dict[str, Any]) -> dict[str, Any]:
    """Give what a run was like."""
    keys = ("seconds", "kills", "faults", "weather", "acknowledged", "entities")
    return {key: report.get(key, 0) for key in keys}


def main(arguments: list[str]) -> int:
    """Gives 0 if nothing is wrong."""
    count, seconds, kills = (int(argument) for argument in arguments)
    with tempfile.TemporaryDirectory(prefix="kvstore-torture-") as name:
        directory = Path(name)
        amounts = dict.fromkeys(("faults", "restores", "appsync", "cluster"), seconds)
        amounts["torture"] = kills
        result = summary(
            worlds(count, directory),
            {name: program(name, amount, directory) for name, amount in amounts.items()},
        )
    REPORT.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))
    return 1 if result["findings"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
