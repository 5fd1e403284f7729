"""Dialogs over the screen."""

from __future__ import annotations

import json
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Label, Static, TextArea

from ...results import Entity
from ..output import printable


class Confirm(ModalScreen[bool]):
    """Asks for confirmation."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "answer(False)", "No"),
        Binding("y", "answer(True)", "Yes"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """Show the question and two buttons."""
        with Vertical(classes="dialog"):
            yield Label(printable(self._question), markup=False)
            with Horizontal():
                yield Button("Yes (y)", id="yes", variant="warning")
                yield Button("No (n)", id="no")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Return the answer of a button."""
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        """Return the answer of a key."""
        self.dismiss(answer)


class Edit(ModalScreen[Entity | None]):
    """Edits an entity as JSON."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave it"),
        Binding("ctrl+s", "save", "Save"),
    ]

    def __init__(self, entity: Entity | None) -> None:
        super().__init__()
        self._text = json.dumps(entity or {}, indent=2, ensure_ascii=False)

    def compose(self) -> ComposeResult:
        """Show the text."""
        with Vertical(classes="dialog wide"):
            yield TextArea(self._text, id="text")
            yield Static("Ctrl-S saves, Escape cancels.", id="problem", markup=False)

    def action_leave(self) -> None:
        """Close the dialog without a change."""
        self.dismiss(None)

    def action_save(self) -> None:
        """Return the edited entity, if it is valid."""
        try:
            entity = json.loads(self.query_one(TextArea).text)
        except ValueError as error:
            self.query_one("#problem", Static).update(f"This is not valid JSON: {error}")
            return
        if not isinstance(entity, dict):
            self.query_one("#problem", Static).update("An entity must be a JSON object.")
            return
        self.dismiss(entity)
