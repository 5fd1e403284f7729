"""Runs the tests of every language, two sections at a time, and stops at the first that fails.

    scripts/test.py                  what `make test` runs
    scripts/test.py --all            what `make test-all` runs
    scripts/test.py swift python     these sections only
    scripts/test.py --rest MINUTES   those of `make test-all` that `make test` lacks and that end
                                     within MINUTES since it began; others on each commit
    scripts/test.py --list           what sections there are
    scripts/test.py --times          puts what they cost here into docs/development.md
    scripts/test.py --slowest        the 30 slowest tests of each language of the last runs

`make lib` must have run. The output of each section goes to build/test-logs; it is shown when the
section fails. JOBS=1 in the environment runs one section at a time; so does V=1, which also shows
the output while it comes. A section is not run again while nothing that it depends on has changed
since it passed, unless it is named or FORCE=1 is set.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from testing import records, report, rotation
from testing.inputs import output
from testing.places import BUILD, LOGS
from testing.runner import Suite
from testing.sections import SECTIONS, Section, Tier, chosen

#: When `make test` began last, and how long it took.
LAST_TEST = BUILD / "test-records" / "last-test"


def main(arguments: list[str]) -> int:
    code = 0
    match arguments:
        case []:
            code = usual()
        case ["--all"]:
            code = run(chosen(Tier.ALL), skips_unchanged=not os.environ.get("FORCE"))
        case ["--rest", minutes]:
            code = rest(float(minutes) * 60)
        case ["--list"]:
            for section in SECTIONS:
                print(f"{section.name:16} {section.title} ({section.tier.value})")
        case ["--times"]:
            report.write_table()
        case ["--slowest"]:
            print(report.slowest_tests())
        case _:
            code = named(arguments)
    return code


def usual() -> int:
    """Run what `make test` runs, and note when it began, and how long it took."""
    begin = time.time()
    code = run(chosen(Tier.TEST), skips_unchanged=not os.environ.get("FORCE"))
    LAST_TEST.parent.mkdir(parents=True, exist_ok=True)
    LAST_TEST.write_text(f"{begin} {time.time() - begin}")
    return code


def named(names: list[str]) -> int:
    """Run some sections, also if nothing has changed since they passed."""
    known = {section.name for section in SECTIONS}
    if unknown := [name for name in names if name not in known]:
        print(f"no such section: {', '.join(unknown)} (see --list)", file=sys.stderr)
        return 2
    return run([section for section in SECTIONS if section.name in names])


def run(sections: list[Section], *, skips_unchanged: bool = False) -> int:
    """Run sections, print what came of all of them, and give the exit code."""
    # A shell has its background jobs ignore interrupts, and children inherit that. Whatever ends
    # this ends the commands too, each of which leads a group of its own.
    for end in signal.SIGINT, signal.SIGTERM:
        signal.signal(end, signal.default_int_handler)
    LOGS.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    total = Suite(sections, skips_unchanged=skips_unchanged).run()
    print(f"\n== {total} in {time.monotonic() - begin:.0f} s", flush=True)
    return 1 if total.failed else 0


def rest(seconds: float) -> int:
    """Run what else fits into so many seconds since `make test` began; say what is left out."""
    begin, took = (float(word) for word in LAST_TEST.read_text().split())
    known = records.measured()
    tested = chosen(Tier.TEST)
    costs = [known[each.name] for each in tested if each.name in known]
    cost = sum(each.build + each.run for each in costs)
    choice = rotation.choose(
        [
            section
            for section in chosen(Tier.ALL)
            if section not in tested and not section.follows_unstable
        ],
        known,
        commit=output(["git", "rev-parse", "HEAD"]).strip(),
        seconds=begin + seconds - time.time(),
        slowness=max(1.0, took * (os.cpu_count() or 2) / cost) if cost else 1.0,
    )
    print(f"\n== this commit's turn: {listed(choice.runs)}; left out: {listed(choice.left_out)}")
    return run(choice.runs)


def listed(sections: list[Section]) -> str:
    return ", ".join(section.name for section in sections) or "none"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
