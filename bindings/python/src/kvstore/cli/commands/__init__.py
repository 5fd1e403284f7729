"""The commands of the tool, in the order of the manual."""

from __future__ import annotations

import click

from .indexing import indexes
from .queue import pending
from .reading import collections, count, explain, find, get
from .transfer import export, import_

COMMANDS: list[click.Command] = [
    collections,
    find,
    get,
    count,
    explain,
    indexes,
    export,
    import_,
    pending,
]
