"""The time of the server."""

from __future__ import annotations

import time
from datetime import datetime, timezone


class Clock:
    """Milliseconds since 1970: the machine's time, moved by an offset, or one that stands still."""

    def __init__(self, fixed: int | None = None) -> None:
        self._fixed = fixed
        self._offset = 0

    def now(self) -> int:
        return self._fixed if self._fixed is not None else self.machine() + self._offset

    def set(self, now: int) -> None:
        """Stops the clock at a time."""
        self._fixed = now

    def advance(self, milliseconds: int) -> None:
        """Moves the clock; it goes on, or stands still, as before."""
        if self._fixed is None:
            self._offset += milliseconds
        else:
            self._fixed += milliseconds

    def follow_machine(self) -> None:
        """Ends a time that was set."""
        self._fixed, self._offset = None, 0

    @staticmethod
    def machine() -> int:
        return time.time_ns() // 1_000_000


def iso(milliseconds: int) -> str:
    """An AWSDateTime in UTC with milliseconds."""
    moment = datetime.fromtimestamp(milliseconds / 1000, tz=timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
