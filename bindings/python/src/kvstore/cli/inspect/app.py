"""The full-screen application."""

from __future__ import annotations

from textual.app import App
from textual.screen import Screen

from .screen import StoreScreen
from .source import Source

_STYLE = """
#collections { width: 38; border-right: solid $panel; }
#entities { height: 2fr; }
#pending { height: 1fr; }
#write-detail { height: 1fr; border-top: solid $panel; padding: 0 1; }
#detail { height: 1fr; border-top: solid $panel; padding: 0 1; }
#problem { color: $error; height: auto; padding: 0 1; }
#facts { padding: 1 2; }
.dialog { width: 60; height: auto; padding: 1 2; border: round $accent; background: $surface; }
.dialog.wide { width: 80%; height: 80%; }
.dialog Horizontal { height: auto; margin-top: 1; }
Confirm, Edit { align: center middle; }
"""


class Inspector(App[None]):
    """The application."""

    TITLE = "kvstore"
    CSS = _STYLE

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source
        self.sub_title = f"{source.location.app_key} in {source.location.directory}"

    def get_default_screen(self) -> Screen[None]:
        """Return the main screen, which dialogs cover."""
        return StoreScreen(self.source)
