"""The picture of the demo: who pulled, saved, pushed and was refused, and when.

Programs are lanes, and chapters are columns. Each column has its own time scale, so that seconds
and milliseconds are both visible. Each of a few entities is a mark; many are one bar with their
number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from xml.sax.saxutils import escape

from record import Chapter, Event, Kind, Record

#: The largest number of entities that get a mark each.
FEW = 9

_LEFT, _COLUMN, _HEAD, _LANE, _FOOT = 128, 152, 64, 54, 76
_STEP, _RADIUS = 12, 4.5
_PAD = 10

_STYLE = """
svg { --page:#ffffff; --band:#f5f7fa; --line:#d9dfe7; --ink:#1d2733; --soft:#667485;
  --pulled:#2f7de1; --saved:#b97a00; --pushed:#1d9a5f; --merged:#8a4fd3; --refused:#d8344a;
  --runs:#8fa1b5; --off:#fdf0f1;
  font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif }
@media (prefers-color-scheme: dark) {
  svg { --page:#11161d; --band:#171e27; --line:#2c3643; --ink:#e6ebf1; --soft:#93a1b1;
    --pulled:#5aa2f5; --saved:#e5ab3d; --pushed:#41c787; --merged:#b78af0; --refused:#ff6b7d;
    --runs:#5d6e80; --off:#2a191d }
}
text { fill: var(--ink) }
.soft { fill: var(--soft); font-size: 11px }
.title { font-size: 17px; font-weight: 600 }
.name { font-weight: 600 }
.number { font-size: 11px; font-weight: 600; text-anchor: middle; fill: var(--page) }
.lane { stroke: var(--line) }
.runs { fill: var(--runs) }
.pulled { fill: var(--pulled) }
.saved { fill: var(--page); stroke: var(--saved); stroke-width: 2 }
rect.saved { fill: var(--saved); stroke: none }
.pushed { fill: var(--pushed) }
.merged { fill: var(--merged) }
.refused { stroke: var(--refused); stroke-width: 2.4; stroke-linecap: round; fill: none }
.left { fill: none; stroke: var(--soft); stroke-width: 1.8; stroke-linecap: round }
"""

_LEGEND = [
    (Kind.PULLED, "pulled", True),
    (Kind.SAVED, "saved, not sent yet", False),
    (Kind.PUSHED, "pushed", False),
    (Kind.MERGED, "conflict, merged", False),
    (Kind.REFUSED, "refused by the server", False),
    (Kind.LEFT, "logged out", False),
    (Kind.RUNS, "server runs", True),
]


@dataclass(frozen=True)
class Layout:
    """The positions of columns and lanes."""

    chapters: list[Chapter]
    lanes: list[str]

    @property
    def width(self) -> int:
        """Return the width of the picture."""
        return _LEFT + _COLUMN * len(self.chapters) + 16

    @property
    def bottom(self) -> int:
        """Return the bottom of the lanes."""
        return _HEAD + 44 + _LANE * len(self.lanes)

    def column(self, chapter: Chapter) -> float:
        """Return the left side of a column."""
        return _LEFT + _COLUMN * self.chapters.index(chapter)

    def x(self, chapter: Chapter, moment: float) -> float:
        """Return the position of a time in a column."""
        part = (moment - chapter.begin) / max(chapter.end - chapter.begin, 1e-6)
        inner = _COLUMN - 2 * _PAD
        return self.column(chapter) + _PAD + min(max(part, 0), 1) * inner

    def y(self, lane: str) -> float:
        """Return the middle of a lane."""
        return _HEAD + 44 + _LANE * (self.lanes.index(lane) + 0.5)


def svg_of(record: Record) -> str:
    """Draw the story as SVG, for light and dark pages."""
    layout = Layout(record.chapters, record.lanes)
    height = layout.bottom + _FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {layout.width} {height}"'
        f' width="{layout.width}" height="{height}" role="img" aria-labelledby="title about">',
        f'<title id="title">{_TITLE}</title>',
        f'<desc id="about">{escape("; ".join(map(str, record.events)))}</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect width="{layout.width}" height="{height}" rx="10" fill="var(--page)"/>',
        f'<text class="title" x="20" y="34">{_TITLE}</text>',
        *_columns(layout, record),
        *_lanes(layout),
    ]
    for event in record.events:
        parts += _drawn(layout, event)
    return "\n".join([*parts, *_crosses(layout, record), *_legend(layout), "</svg>", ""])


_TITLE = "Three programs, one collection: offline, and back"


def _columns(layout: Layout, record: Record) -> Iterator[str]:
    """Return the heads of the columns, marked where no server runs."""
    for number, chapter in enumerate(layout.chapters):
        left, top = layout.column(chapter), _HEAD - 8
        fill = "var(--band)" if number % 2 == 0 else "var(--page)"
        if not _is_served(record, chapter):
            fill = "var(--off)"
        yield (
            f'<rect x="{left}" y="{top}" width="{_COLUMN}" height="{layout.bottom - top + 8}"'
            f' fill="{fill}"/>'
        )
        title, seconds = escape(chapter.title), f"{chapter.end - chapter.begin:.1f} s"
        if not _is_served(record, chapter):
            seconds += ", no server"
        yield f'<text class="name" x="{left + _PAD}" y="{_HEAD + 12}">{title}</text>'
        yield f'<text class="soft" x="{left + _PAD}" y="{_HEAD + 28}">{seconds}</text>'


def _is_served(record: Record, chapter: Chapter) -> bool:
    middle = (chapter.begin + chapter.end) / 2
    return any(
        event.kind is Kind.RUNS and event.begin <= middle <= event.end for event in record.events
    )


def _lanes(layout: Layout) -> Iterator[str]:
    for lane in layout.lanes:
        y = layout.y(lane)
        name, _, language = lane.partition(" (")
        language = language.removesuffix(")")
        yield (
            f'<g class="program"><line class="lane" x1="{_LEFT}" x2="{layout.width - 16}"'
            f' y1="{y}" y2="{y}"/>'
            f'<text class="name" x="20" y="{y if language else y + 4}">{escape(name)}</text>'
            f'<text class="soft" x="20" y="{y + 15}">{escape(language)}</text></g>'
        )


def _drawn(layout: Layout, event: Event) -> Iterator[str]:
    """Draw an event; the run of a server appears in each column that it touches."""
    y = layout.y(event.lane)
    if event.kind is Kind.RUNS:
        for chapter in layout.chapters:
            begin, end = max(event.begin, chapter.begin), min(event.end, chapter.end)
            if end - begin > 0.02 * (chapter.end - chapter.begin):
                yield _run(layout, chapter, begin, end, y)
    elif event.count > FEW:
        yield _bar(layout, event, y)


def _run(layout: Layout, chapter: Chapter, begin: float, end: float, y: float) -> str:
    """Draw a run, across the border of a column if it continues there."""
    left = layout.column(chapter) if begin == chapter.begin else layout.x(chapter, begin)
    right = layout.column(chapter) + _COLUMN if end == chapter.end else layout.x(chapter, end)
    return f'<rect class="runs" x="{left:.1f}" y="{y - 4}" width="{right - left:.1f}" height="8"/>'


def _bar(layout: Layout, event: Event, y: float) -> str:
    chapter = chapter_of(layout.chapters, event)
    left, right = layout.x(chapter, event.begin), layout.x(chapter, event.end)
    number = f"{event.count:,}"
    width = max(right - left - 2, 7.4 * len(number) + 8)
    left = min(left, layout.column(chapter) + _COLUMN - _PAD / 2 - width)
    return (
        f'<g><title>{escape(str(event))}</title><rect class="mark {event.kind.value}"'
        f' x="{left:.1f}" y="{y - 10}" width="{width:.1f}" height="20" rx="4"/>'
        f'<text class="number" x="{left + width / 2:.1f}" y="{y + 4}">{number}</text></g>'
    )


def chapter_of(chapters: list[Chapter], event: Event) -> Chapter:
    """Return the column with the largest part of an event."""
    middle = (event.begin + event.end) / 2
    return next((each for each in chapters if middle <= each.end), chapters[-1])


def marks(record: Record) -> Iterator[tuple[Chapter, str, list[Event]]]:
    """Yield the events with a mark for each entity, in rows by program and column."""
    few = [each for each in record.events if each.kind is not Kind.RUNS and each.count <= FEW]
    chapters = record.chapters
    found = [(chapters.index(chapter_of(chapters, each)), each.lane, each) for each in few]
    for (number, lane), group in groupby(found, lambda each: each[:2]):
        yield chapters[number], lane, [event for _, _, event in group]


def _crosses(layout: Layout, record: Record) -> Iterator[str]:
    """Draw the marks of a row side by side, from the start of the first event."""
    for chapter, lane, events in marks(record):
        count = sum(event.count for event in events)
        room = _STEP * (count - 1) + 2 * _RADIUS
        end = layout.column(chapter) + _COLUMN - _PAD / 2
        x = min(layout.x(chapter, events[0].begin), end - room) + _RADIUS
        for event in events:
            yield f"<g><title>{escape(str(event))}</title>"
            for _ in range(event.count):
                yield _mark(event.kind, x, layout.y(lane))
                x += _STEP
            yield "</g>"


def _mark(kind: Kind, x: float, y: float) -> str:
    if kind is Kind.MERGED:
        return f'<path class="mark merged" d="M{x:.1f} {y - 6}l6 6l-6 6l-6 -6z"/>'
    if kind is Kind.REFUSED:
        arms = f"M{x - 4:.1f} {y - 4}l8 8m0 -8l-8 8"
        return f'<path class="mark refused" d="{arms}"/>'
    if kind is Kind.LEFT:
        return f'<path class="mark left" d="M{x - 3:.1f} {y}h9m-3.5 -3.5l3.5 3.5l-3.5 3.5"/>'
    return f'<circle class="mark {kind.value}" cx="{x:.1f}" cy="{y}" r="{_RADIUS}"/>'


def _legend(layout: Layout) -> Iterator[str]:
    x, y = 24.0, layout.bottom + 34
    yield '<g class="legend">'
    for kind, words, is_bar in _LEGEND:
        if is_bar:
            box = f'x="{x - 4}" y="{y - 5}" width="16" height="10" rx="2"'
            shape = f'<rect class="{kind.value}" {box}/>'
        else:
            shape = _mark(kind, x + 4, y).replace("mark ", "")
        yield f'{shape}<text x="{x + 18}" y="{y + 4}">{words}</text>'
        x += 42 + 6.9 * len(words)
    yield "</g>"
    words = "Each column has a time scale of its own. A number counts cities; a mark is one."
    yield f'<text class="soft" x="20" y="{y + 26}">{words}</text>'
