"""The commands of the tool, in the order of the manual."""

from __future__ import annotations

import click

from .accounts import login, logout, signup, users
from .conflicts import conflicts
from .copying import backup, restore
from .encryption import change_key, decrypt, encrypt
from .health import compact, completion, decrypt_file, doctor, repair, salvage, verify
from .indexing import indexes
from .inspecting import inspect, open_
from .queue import pending
from .reading import collections, count, explain, find, get
from .sharing import groups, share, unshare
from .syncing import pull, push, sync
from .transfer import export, import_
from .watching import follow, live, watch

COMMANDS: list[click.Command] = [
    inspect,
    open_,
    collections,
    find,
    get,
    count,
    explain,
    indexes,
    export,
    import_,
    pending,
    conflicts,
    login,
    signup,
    logout,
    users,
    groups,
    share,
    unshare,
    pull,
    push,
    sync,
    follow,
    live,
    watch,
    verify,
    repair,
    compact,
    salvage,
    decrypt_file,
    backup,
    restore,
    encrypt,
    decrypt,
    change_key,
    doctor,
    completion,
]
