"""Makes the entry points of operations in Swift: the blocking and the asynchronous form of each.

Both call one function that is written by hand, which makes the `Operation` of its arguments:
`kv_store_pull` and `kv_store_pull_async` call `storePull`.
"""

from __future__ import annotations

from .header import Function, Header, Parameter

#: Entry points that have a shorter way and are written by hand.
BY_HAND = {"kv_store_find_by_id"}

#: Words that Swift writes in capitals.
INITIALISMS = {"acl": "ACL", "id": "ID", "json": "JSON", "uri": "URI"}

TYPES = {
    "const char *": "CString?",
    "size_t": "Int",
    "size_t *": "LengthOut?",
    "char **": "TextOut?",
    "int64_t *": "CountOut?",
    "int32_t *": "FlagOut?",
    "void *": "UnsafeMutableRawPointer?",
}

#: What wraps the pointer to a result, by its type.
OUTPUTS = {"char **": "TextOutput", "int64_t *": "CountOutput", "int32_t *": "FlagOutput"}

_HEAD = """// Made by scripts/generate_abi.py from include/kvstore.h: do not edit.

public import CKVStore
internal import KVSync
"""


#: The files, and the nouns of the functions that each has.
FILES = {
    "Operations+Client.swift": ("client",),
    "Operations+Stores.swift": ("store",),
    "Operations+Users.swift": ("ping", "user", "group"),
    "Operations+Live.swift": ("live", "stream", "subscription"),
}


def make(file: str, header: Header) -> str:
    """Make one of the files."""
    parts = [_HEAD]
    for blocking, asynchronous in header.pairs():
        if file != _file(blocking):
            continue
        if blocking.name not in BY_HAND:
            parts.append(_entry_point(blocking, _blocking(blocking, asynchronous)))
        parts.append(_entry_point(asynchronous, _asynchronous(asynchronous)))
    return "\n".join(parts)


def _file(function: Function) -> str:
    noun = function.name.split("_")[1]
    return next(file for file, nouns in FILES.items() if noun in nouns)


def _entry_point(function: Function, body: str) -> str:
    parameters = ", ".join(f"_ {_name(one.name)}: {_type(one)}" for one in function.parameters)
    return (
        f'@_cdecl("{function.name}") @implementation\n'
        f"public func {function.name}({parameters}) -> kv_status {{\n{body}}}\n"
    )


def _blocking(function: Function, asynchronous: Function) -> str:
    call = _operation(asynchronous, "call")
    out = next((one for one in function.parameters[:-1] if one.type.endswith("**")), None)
    out = out or next((one for one in function.parameters if one.type in OUTPUTS), None)
    if out is None:
        return _status(f"try {call}.run(into: TextOutput.nowhere)")
    length = ", lengthOut" if out.type == "char **" else ""
    kind = OUTPUTS.get(out.type, "HandleOutput")
    output = f'  let out = {kind}({_name(out.name)}{length}, named: "{out.name}")\n'
    if not function.is_required(out):
        return output + "  return" + _status(f"try {call}.run(into: out)")
    run = f"try out.require()\n    return try {call}.run(into: out)"
    return output + "  return" + _status(run)


def _status(body: str) -> str:
    return f"  status(errorOut) {{ () throws(StoreError) in\n    {body}\n  }}\n"


def _asynchronous(function: Function) -> str:
    return (
        "  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {\n"
        f"    () throws(StoreError) in try {_operation(function, 'operation')}\n  }}\n"
    )


def _operation(asynchronous: Function, lifetime: str) -> str:
    """The call of the function that makes the operation, with what both forms have in common."""
    names = [one.name for one in asynchronous.parameters]
    inputs = asynchronous.parameters[: names.index("done")]
    arguments = []
    for parameter in inputs:
        if asynchronous.is_json(parameter):
            arguments.append(
                f'JSONArgument({_name(parameter.name)}, length, named: "{parameter.name}", '
                f"for: .{lifetime})"
            )
        elif parameter.type != "size_t":
            arguments.append(_name(parameter.name))
    name = asynchronous.name.removeprefix("kv_").removesuffix("_async")
    return f"{_name(name)}({', '.join(arguments)})"


def _name(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(INITIALISMS.get(word, word.capitalize()) for word in others)


def _type(parameter: Parameter) -> str:
    if parameter.handle:
        return "OpaquePointer?"
    if parameter.handle_out:
        return "HandleOut?"
    return f"{parameter.type}?" if parameter.is_callback else TYPES[parameter.type]
