"""Which of the longer sections a run of `.ci/run` has time for."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from testing.records import Record
from testing.sections import Section

#: How much longer than measured a section may take before the run gets too long.
MARGIN = 1.25


@dataclass(frozen=True)
class Choice:
    """The sections that fit, in the order in which they run, and those that are left out."""

    runs: list[Section]
    left_out: list[Section]


def choose(
    sections: list[Section],
    known: dict[str, Record],
    *,
    commit: str,
    seconds: float,
    slowness: float,
) -> Choice:
    """Choose sections that two jobs finish in so many seconds.

    `slowness`: how many times as long as measured this machine takes. The first section that is
    considered depends on the commit, so that each comes first as often as any other.
    """
    first = int(hashlib.sha256(commit.encode()).hexdigest(), 16) % max(len(sections), 1)
    turned = sections[first:] + sections[:first]
    left = seconds * (os.cpu_count() or 2)
    runs = []
    for section in turned:
        record = known.get(section.name)
        # One that was never measured is taken for one that may use up all of its time.
        cost = (record.build + record.run) if record else section.limit
        cost *= slowness * MARGIN
        longest = (record.wall if record else section.limit) * slowness * MARGIN
        if cost <= left and longest <= seconds:
            runs.append(section)
            left -= cost
    return Choice(runs, [section for section in sections if section not in runs])
