"""Everything that one server has, but its sockets."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..api.build import build
from ..api.context import Event
from ..api.database import Database
from ..api.engine import Engine
from ..auth.authenticate import Settings
from ..clock import Clock
from ..schema.read import read
from .faults import Faults
from .log import Log
from .subscriptions import Hub


@dataclass
class Options:
    """How a server is started."""

    sdl: str
    #: The file that keeps the records, if any.
    data: Path | None = None
    clock: Clock = field(default_factory=Clock)
    auth: Settings = field(default_factory=Settings)
    #: What the acknowledgement of a connection says, milliseconds.
    connection_timeout: int = 300_000
    #: Seconds between two `ka`.
    keep_alive: float = 60
    max_subscriptions: int = 100
    max_connections: int = 1000
    host: str = "127.0.0.1"
    port: int = 0


class Service:
    """The schema, the tables, the subscriptions, the faults and the log."""

    def __init__(self, options: Options) -> None:
        """Throws SchemaError for an SDL that cannot be served."""
        source = read(options.sdl)
        self.options = options
        self.clock = options.clock
        self.auth = options.auth
        self.database = Database(source.models, self.clock, options.data)
        self.hub = Hub(source.models)
        self.engine = Engine(build(source, self.database), self.publish)
        self.faults = Faults()
        self.log = Log(self.clock)

    def publish(self, event: Event) -> None:
        self.hub.expire(self.clock.now())
        self.hub.publish(self.engine, event)

    def reset(self) -> None:
        """Forgets records, faults and the log, between two tests."""
        self.database.reset()
        self.faults.clear()
        self.log.clear()
