"""The messages that callbacks of the library post to the screen."""

from __future__ import annotations

from textual.message import Message

from ...changes import Changes
from ...errors import KVError
from ...results import Entity


class EntitiesChanged(Message):
    """The displayed entities have changed."""

    def __init__(self, view: int, changes: Changes[Entity] | KVError) -> None:
        super().__init__()
        self.view = view
        self.changes = changes


class Happened(Message):
    """An event, in words."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words
