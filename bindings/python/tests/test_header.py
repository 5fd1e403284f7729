"""The declarations agree with the header."""

from __future__ import annotations

import re
from pathlib import Path

from kvstore import _native

HEADER = Path(__file__).resolve().parents[3] / "include" / "kvstore.h"


def _declared() -> dict[str, list[str]]:
    """Read the functions of the header with the types of their parameters."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    functions = {}
    for name, parameters in re.findall(r"KV_API [\w\s*]*?\b(kv_\w+)\(([^;]*)\);", text):
        split = [" ".join(one.split()) for one in parameters.split(",")]
        functions[name] = [one for one in split if one != "void"]
    return functions


def _kind(parameter: str) -> str:
    if "*" not in parameter and "_fn " not in parameter:
        kinds = {"size_t": "n", "uint64_t": "q", "uint32_t": "u", "double": "d", "int32_t": "i"}
        for word, kind in kinds.items():
            if parameter.startswith(word):
                return kind
        assert parameter.startswith("kv_status"), parameter
        return "i"
    return "s" if re.fullmatch(r"const char \*\w+", parameter) else "p"


def test_every_function_is_declared_as_in_the_header() -> None:
    # Two letters may be one type, such as those of size_t and uint64_t.
    kinds = _native._KINDS
    functions = _declared()
    assert len(functions) > 60
    unused = {"kv_error_status", "kv_error_message"}
    for name, parameters in functions.items():
        if name in unused:
            continue
        expected = [kinds[_kind(parameter)] for parameter in parameters]
        assert _native.function(name).argtypes == expected, name
