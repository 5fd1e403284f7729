"""The main screen: collections and entities, the queue, events and the status."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import Screen
from textual.widgets import (
    DataTable,
    Footer,
    Header,
    Input,
    RichLog,
    Static,
    TabbedContent,
    TabPane,
)

from ...errors import CorruptError, KVError
from ...results import Entity, SyncEvent
from ...subscription import Subscription
from ..commands.watching import change_events, live_event
from ..failures import Failure
from ..output import cell, printable
from .dialogs import Confirm, Edit
from .messages import EntitiesChanged, Happened
from .source import Overview, Source, words_about
from .tables import fill, fill_with_entities

#: The number of columns of entities; the pane below shows all members.
_COLUMNS = 10
#: The number of lines of the log.
_LINES = 1000


class StoreScreen(Screen[None]):
    """Shows a store. Callbacks of the library only post messages, so they never wait."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "app.quit", "Quit"),
        Binding("slash", "search", "Search"),
        Binding("1", "show('data')", "Data", show=False),
        Binding("2", "show('queue')", "Queue", show=False),
        Binding("3", "show('events')", "Events", show=False),
        Binding("4", "show('status')", "Status", show=False),
        Binding("p", "pull", "Pull"),
        Binding("u", "push", "Push"),
        Binding("s", "sync", "Sync"),
        Binding("l", "live", "Live"),
        Binding("r", "retry", "Retry"),
        Binding("e", "edit", "Edit"),
        Binding("v", "revert", "Revert"),
        Binding("d", "drop", "Drop"),
    ]
    _ON_THE_QUEUE = ("retry", "edit", "revert", "drop")
    _WITH_A_BACKEND = ("pull", "push", "sync", "live", "retry")

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source
        self.collection: str | None = None
        #: The displayed entities, and the observed result, which differs if some are damaged.
        self.entities: list[Entity] = []
        self._followed: list[Entity] = []
        self.overview = Overview([], [], {})
        #: The last lines of the log.
        self.told: deque[str] = deque(maxlen=_LINES)
        self._looking = threading.Lock()
        self._view = 0
        self._has_damage = False
        self._damage_reads = 0
        self._search = ""
        self._following: Subscription | None = None
        self._subscriptions: list[Subscription] = []

    def compose(self) -> ComposeResult:
        """Create the widgets."""
        yield Header()
        with TabbedContent(initial="data"):
            with TabPane("Data (1)", id="data"), Horizontal():
                yield DataTable(id="collections", cursor_type="row")
                with Vertical():
                    yield Input(
                        placeholder='A filter {"price": 3} or a format: price > 3', id="search"
                    )
                    yield Static("", id="problem", markup=False)
                    yield DataTable(id="entities", cursor_type="row", zebra_stripes=True)
                    with VerticalScroll(id="detail"):
                        yield Static("", id="entity", markup=False)
            with TabPane("Queue (2)", id="queue"):
                yield DataTable(id="pending", cursor_type="row", zebra_stripes=True)
                with VerticalScroll(id="write-detail"):
                    yield Static("", id="write", markup=False)
            with TabPane("Events (3)", id="events"):
                yield RichLog(id="log", wrap=True, max_lines=_LINES)
            with TabPane("Status (4)", id="status"):
                yield Static("", id="facts", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Start the updates."""
        self._fill_overview()
        self._subscriptions.append(self.source.client.observe_sync(self._on_sync))
        self._look()
        self.set_interval(1, self._look)
        self.query_one("#collections").focus()

    def on_unmount(self) -> None:
        """Stop listening."""
        for subscription in [*self._subscriptions, self._following]:
            if subscription is not None:
                subscription.close()

    # Display

    def _look(self) -> None:
        """Read everything again, unless a read is running."""
        if not self._looking.locked():
            self.run_worker(self._read, thread=True)

    def _read(self) -> None:
        with self._looking:
            try:
                overview = self.source.overview()
            except (KVError, OSError) as error:
                self.post_message(Happened(f"the store cannot be read: {error}"))
                return
        self.app.call_from_thread(self._show, overview)

    def _show(self, overview: Overview) -> None:
        if overview == self.overview:
            return
        self.overview = overview
        self._fill_overview()
        self._show_write()
        width = max(map(len, overview.facts), default=0)
        lines = [f"{name:<{width}}  {printable(text)}" for name, text in overview.facts.items()]
        self.query_one("#facts", Static).update("\n".join(lines))
        if self.collection is None and overview.collections:
            self._choose(overview.collections[0][0])

    def _fill_overview(self) -> None:
        collections = [[name, str(count), str(n)] for name, count, n in self.overview.collections]
        table = self.query_one("#collections", DataTable)
        fill(table, ("collection", "entities", "pending"), collections)
        members = ("collection", "id", "operation", "state", "attempts", "changedAt", "error")
        names = ["changed" if name == "changedAt" else name for name in members]
        pending = [[cell(row[name]) for name in members] for row in self.overview.pending]
        fill(self.query_one("#pending", DataTable), names, pending)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Show the collection or the entity at the cursor."""
        if event.data_table.id == "collections":
            names = [name for name, _, _ in self.overview.collections]
            if event.cursor_row < len(names) and names[event.cursor_row] != self.collection:
                self._choose(names[event.cursor_row])
        elif event.data_table.id == "entities":
            self._show_entity(event.cursor_row)
        elif event.data_table.id == "pending":
            self._show_write()

    def _show_entity(self, row: int) -> None:
        found = self.entities[row] if row < len(self.entities) else None
        text = "" if found is None else json.dumps(found, indent=2, ensure_ascii=False)
        self.query_one("#entity", Static).update(printable(text, keep="\n"))

    def _show_write(self) -> None:
        """Show the pending write at the cursor, with its error and its versions."""
        chosen = self._chosen_write()
        found = None if chosen is None else self.source.pending_detail(*chosen)
        text = "" if found is None else words_about(found)
        self.query_one("#write", Static).update(printable(text, keep="\n"))

    def _choose(self, name: str) -> None:
        self.collection = name
        self._follow("")
        self.query_one("#search", Input).value = ""

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search."""
        self._follow(event.value)
        self.query_one("#entities").focus()

    def _follow(self, search: str) -> None:
        """Observe the entities that match, in place of the previous query."""
        if self.collection is None:
            return
        self._search = search
        self._view += 1
        self._has_damage = False
        view = self._view
        problem = self.query_one("#problem", Static)
        try:
            following = self.source.observe(
                self.collection, search, lambda got: self.post_message(EntitiesChanged(view, got))
            )
        except (KVError, Failure) as error:
            problem.update(printable(error.message))
            return
        if self._following is not None:
            self._following.close()
        self._following = following
        problem.update("")

    def on_entities_changed(self, message: EntitiesChanged) -> None:
        """Show the current entities, and report the changes."""
        if message.view != self._view:
            return
        if isinstance(message.changes, CorruptError):
            self._show_around_damage()
        elif isinstance(message.changes, KVError):
            self._show_problem(str(message.changes))
        else:
            message.changes.apply(self._followed)
            self.entities = list(self._followed)
            if not message.changes.initial:
                for _, words in change_events(message.changes):
                    self._tell(f"{self.collection}: {words}")
            if self._has_damage:
                # The observer reports damage once; only another read tells whether it is gone.
                self._show_around_damage()
            else:
                self._show_problem("")
                self._show_entities()

    def _show_problem(self, words: str) -> None:
        self.query_one("#problem", Static).update(printable(words))

    def _show_around_damage(self) -> None:
        """Show the readable entities, and report the damaged ones as long as there are any."""
        name, search = self.collection, self._search
        if name is None:
            return
        self._has_damage = True
        self._damage_reads += 1
        view, number = self._view, self._damage_reads

        def read() -> None:
            try:
                entities, damaged = self.source.read_around_damage(name, search)
            except KVError as other:
                self.app.call_from_thread(self._show_problem, str(other))
                return
            self.app.call_from_thread(show, entities, damaged)

        def show(entities: list[Entity], damaged: list[str]) -> None:
            if (view, number) != (self._view, self._damage_reads):
                return
            self.entities = entities
            self._has_damage = bool(damaged)
            names = ", ".join(damaged)
            self._show_problem(
                f"Damaged and left out: {names}. kvstore repair removes them." if damaged else ""
            )
            self._show_entities()

        self.run_worker(read, thread=True)

    def _show_entities(self) -> None:
        table = self.query_one("#entities", DataTable)
        fill_with_entities(table, self.entities)
        self._show_entity(table.cursor_row)

    # Events

    def _on_sync(self, event: SyncEvent) -> None:
        if event.event == "progress":
            return
        words = [event.event, event.operation, event.collection, event.id]
        text = " ".join(word for word in words if word is not None)
        if event.result is not None:
            text += f" {json.dumps(event.result, ensure_ascii=False)}"
        if event.error is not None:
            text += f": {event.error}"
        self.post_message(Happened(text))

    def on_happened(self, message: Happened) -> None:
        """Add the event to the log."""
        self._tell(message.words)

    def _tell(self, words: str) -> None:
        line = f"{datetime.now():%H:%M:%S}  {printable(words)}"
        self.told.append(line)
        self.query_one("#log", RichLog).write(Text(line))

    # Actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only the actions that are possible here."""
        if action in self._WITH_A_BACKEND and not self.source.has_backend:
            return False
        if action in self._ON_THE_QUEUE:
            return any(tabs.active == "queue" for tabs in self.query(TabbedContent))
        return True

    def on_tabbed_content_tab_activated(self) -> None:
        """Update the keys for the tab, and focus its table."""
        self.refresh_bindings()
        tables = {"data": "#collections", "queue": "#pending", "events": "#log"}
        if (focus := tables.get(self.query_one(TabbedContent).active)) is not None:
            self.query_one(focus).focus()

    def action_show(self, tab: str) -> None:
        """Switch to a tab."""
        self.query_one(TabbedContent).active = tab

    def action_search(self) -> None:
        """Focus the search."""
        self.action_show("data")
        self.query_one("#search").focus()

    def action_pull(self) -> None:
        """Pull the collection."""
        self._on_collection(lambda name: self.source.store(name).pull())

    def action_push(self) -> None:
        """Push the collection."""
        self._on_collection(lambda name: self.source.store(name).push())

    def action_sync(self) -> None:
        """Push and pull the collection."""
        self._on_collection(lambda name: self.source.store(name).sync())

    def action_live(self) -> None:
        """Show live data of the collection, in the log and among the entities."""
        self._on_collection(self._listen)

    def _listen(self, name: str) -> None:
        self.source.client.register_live()

        def hear(event: object) -> None:
            self.post_message(Happened(f"live {name}: {live_event(event)[1]}"))  # type: ignore[arg-type]

        subscription = self.source.store(name).subscribe(
            hear,
            on_ready=hear,
            on_status=hear,
            on_error=lambda error: self._say(str(error)),
            live_to_local=True,
        )
        self._subscriptions.append(subscription)

    def _on_collection(self, action: Callable[[str], object]) -> None:
        name = self.collection
        if name is not None:
            self._attempt(lambda: action(name))

    def _attempt(self, action: Callable[[], object]) -> None:
        """Run an action in the background, then read everything again."""

        def attempt() -> None:
            try:
                action()
            except KVError as error:
                self._say(str(error))
            self.app.call_from_thread(self._look)

        self.run_worker(attempt, thread=True)

    def _say(self, words: str) -> None:
        self.post_message(Happened(words))
        self.app.call_from_thread(self.notify, printable(words), severity="error", markup=False)

    def _chosen_write(self) -> tuple[str, str] | None:
        row = self.query_one("#pending", DataTable).cursor_row
        if row >= len(self.overview.pending):
            return None
        return self.overview.pending[row]["collection"], self.overview.pending[row]["id"]

    def action_retry(self) -> None:
        """Send the write now."""
        if (chosen := self._chosen_write()) is not None:
            name, id = chosen
            self._attempt(lambda: self.source.store(name).pending.retry(id))

    def action_edit(self) -> None:
        """Edit the entity that the write would send."""
        if (chosen := self._chosen_write()) is None:
            return
        name, id = chosen

        def edited(entity: Entity | None) -> None:
            if entity is not None:
                self._attempt(lambda: self.source.store(name).pending.edit(id, entity))

        found = self.source.pending_detail(name, id)
        self.app.push_screen(Edit(None if found is None else found.entity), edited)

    def action_revert(self) -> None:
        """Drop the write, and restore the backend's version of the entity."""
        self._ask("Undo", lambda name, id: self.source.store(name).pending.revert(id))

    def action_drop(self) -> None:
        """Drop the write. The entity stays as it is."""
        self._ask("Forget", lambda name, id: self.source.store(name).pending.drop(id))

    def _ask(self, verb: str, action: Callable[[str, str], object]) -> None:
        if (chosen := self._chosen_write()) is None:
            return
        name, id = chosen

        def answered(yes: bool | None) -> None:
            if yes:
                self._attempt(lambda: action(name, id))

        self.app.push_screen(Confirm(f"{verb} the pending write {id} of {name}?"), answered)
