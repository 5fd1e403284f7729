"""The table of the sections for docs/development.md, and the slowest tests."""

from __future__ import annotations

from testing import records
from testing.counting import slowest
from testing.places import LOGS, ROOT
from testing.sections import SECTIONS, Section

PAGE = ROOT / "docs" / "development.md"
BEGIN, END = "<!-- sections -->", "<!-- end of sections -->"
HEAD = [
    "| section | runs in | what it alone finds | building | running | by the clock |",
    "|---|---|---|---|---|---|",
]


def write_table() -> None:
    """Put what this checkout has measured into the tree, and into the page as a table."""
    known = records.publish([section.name for section in SECTIONS])
    rows = [row(section, known.get(section.name)) for section in SECTIONS]
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    table = "\n".join([*HEAD, *rows])
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")


def row(section: Section, record: records.Record | None) -> str:
    """Give a section's line; core-minutes and minutes, nothing where none were measured."""
    cells = [f"`{section.name}`", f"`{section.tier.value}`", section.finds]
    times = (record.build, record.run, record.wall) if record else (None, None, None)
    cells += ["" if seconds is None else f"{seconds / 60:.1f}" for seconds in times]
    return f"| {' | '.join(cells)} |"


def slowest_tests(most: int = 30) -> str:
    """Give the slowest tests of each language in the logs of the sections that ran last."""
    output = "\n".join(path.read_text() for path in sorted(LOGS.glob("*.log")))
    return "\n".join(
        line
        for language, tests in slowest(output, most).items()
        for line in [f"{language}:", *(f"  {seconds:8.2f} s  {name}" for seconds, name in tests)]
    )
