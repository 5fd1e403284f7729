"""Makes the numbers and names of statuses that errors in JSON have, from the header."""

from __future__ import annotations

from .header import Header

#: Cases of StoreError.Kind that cannot have the status's own name.
NAMES = {"KV_PROTOCOL": "proto"}

_HEAD = """// Made by scripts/generate_abi.py from include/kvstore.h: do not edit.

extension StoreError.Kind {
"""


def make(header: Header) -> str:
    """Make StoreError.Kind+Status.swift."""
    statuses = {
        name: value
        for name, value in header.constants.items()
        if value >= header.constants["KV_MISUSE"]
    }
    codes = [f"    case .{_case(name)}: {value}" for name, value in statuses.items()]
    names = [f'    case .{_case(name)}: "{name}"' for name in statuses]
    return _HEAD + "\n".join(
        [
            "  /// The value of the `kv_status` of the same meaning.",
            "  package var code: Int32 {",
            "    switch self {",
            *codes,
            "    }\n  }\n",
            "  /// The name of that status.",
            "  package var name: String {",
            "    switch self {",
            *names,
            "    }\n  }\n}\n",
        ]
    )


def _case(name: str) -> str:
    first, *others = name.removeprefix("KV_").lower().split("_")
    return NAMES.get(name, first + "".join(word.capitalize() for word in others))
