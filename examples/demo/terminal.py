"""The picture of the demo as text: lanes and columns of characters."""

from __future__ import annotations

from operator import itemgetter

from chart import FEW, chapter_of, marks
from record import Chapter, Event, Kind, Record

SYMBOLS = {
    Kind.RUNS: "━",
    Kind.PULLED: "▼",
    Kind.SAVED: "○",
    Kind.PUSHED: "▲",
    Kind.MERGED: "◆",
    Kind.REFUSED: "✗",
    Kind.LEFT: "→",
}
#: The same where characters are ASCII.
PLAIN = {
    Kind.RUNS: "=",
    Kind.PULLED: "v",
    Kind.SAVED: "o",
    Kind.PUSHED: "^",
    Kind.MERGED: "*",
    Kind.REFUSED: "x",
    Kind.LEFT: ">",
}
_WORDS = {
    Kind.PULLED: "pulled",
    Kind.SAVED: "saved",
    Kind.PUSHED: "pushed",
    Kind.MERGED: "merged",
    Kind.REFUSED: "refused",
    Kind.LEFT: "logged out",
}


def text_of(record: Record, width: int = 80, encoding: str | None = "utf-8") -> str:
    """Draw the story in characters that the encoding has, no line longer than `width`."""
    symbols = SYMBOLS if _has(encoding, "".join(SYMBOLS.values())) else PLAIN
    label = max(map(len, record.lanes), default=0) + 2
    column = min(max((width - label) // max(len(record.chapters), 1), 9), 18)
    heads = "".join(chapter.title[: column - 1].ljust(column) for chapter in record.chapters)
    lines = [" " * label + heads]
    for lane in record.lanes:
        cells = "".join(_cell(record, lane, each, column, symbols) for each in record.chapters)
        lines.append(f"{lane:<{label}}{cells}")
    legend = "  ".join(f"{symbols[kind]} {words}" for kind, words in _WORDS.items())
    return "\n".join(line.rstrip() for line in [*lines, "", legend]) + "\n"


def _has(encoding: str | None, characters: str) -> bool:
    try:
        characters.encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def _cell(record: Record, lane: str, chapter: Chapter, width: int, symbols: dict[Kind, str]) -> str:
    """Draw the events of a program in a chapter."""
    cell = [" "] * width
    words: list[tuple[float, str]] = []
    for event in record.events:
        if event.lane != lane:
            continue
        if event.kind is Kind.RUNS:
            _run(cell, event, chapter, symbols[Kind.RUNS])
        elif event.count > FEW and chapter_of(record.chapters, event) == chapter:
            words.append((event.begin, symbols[event.kind] + _short(event.count)))
    for where, who, events in marks(record):
        if (where, who) == (chapter, lane):
            row = "".join(symbols[event.kind] * event.count for event in events)
            words.append((events[0].begin, row))
    for column, word in _placed(sorted(words, key=itemgetter(0)), chapter, width - 1):
        cell[column : column + len(word)] = word
    return "".join(cell[:width])


def _run(cell: list[str], event: Event, chapter: Chapter, symbol: str) -> None:
    for column in range(len(cell)):
        moment = chapter.begin + (chapter.end - chapter.begin) * (column + 0.5) / len(cell)
        if event.begin <= moment <= event.end:
            cell[column] = symbol


def _placed(words: list[tuple[float, str]], chapter: Chapter, room: int) -> list[tuple[int, str]]:
    """Place each word at its time, after the previous word, and without cutting it."""
    columns: list[int] = []
    end = 0
    for moment, word in words:
        part = (moment - chapter.begin) / max(chapter.end - chapter.begin, 1e-6)
        columns.append(max(round(part * room), end))
        end = columns[-1] + len(word)
    limit = room
    for number in reversed(range(len(words))):
        limit = max(min(columns[number], limit - len(words[number][1])), 0)
        columns[number] = limit
    return [(column, word) for column, (_, word) in zip(columns, words, strict=True)]


def _short(count: int) -> str:
    return f"{count // 1000}k" if count >= 10_000 else str(count)
