"""Fills the tables of the screen."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.widgets import DataTable

from ...results import Entity
from ..commands.reading import columns_of
from ..output import cell, printable
from .source import PAGE

#: The number of columns of entities; the pane below shows all members.
_COLUMNS = 10
#: The number of characters in a cell.
_WIDTH = 60


def fill(table: DataTable[Text], names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Replace columns and rows, and keep the cursor's position."""
    row = table.cursor_row
    table.clear(columns=True)
    shown = [[Text(text[:_WIDTH], no_wrap=True) for text in cells] for cells in rows]
    for column, name in enumerate(names):
        label = Text(printable(name))
        # A table that finds the width itself may keep a header of the width without rows.
        width = max(text.cell_len for text in [label, *(cells[column] for cells in shown)])
        table.add_column(label, width=width)
    for cells in shown:
        table.add_row(*cells)
    table.move_cursor(row=row)


def fill_with_entities(table: DataTable[Text], entities: list[Entity]) -> None:
    """Show entities, a column for each member, and keep the cursor's position."""
    names = columns_of(entities)[:_COLUMNS]
    fill(
        table,
        names,
        [[cell(each.get(name)) if name in each else "" for name in names] for each in entities],
    )
    table.border_subtitle = f"the first {PAGE}" if len(entities) == PAGE else ""
