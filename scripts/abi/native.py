"""Makes what ctypes has to know of the header: constants, structs, callbacks and functions."""

from __future__ import annotations

import re

from .header import Function, Header, Parameter, Struct

_NUMBERS = {
    "int": "c_int",
    "int32_t": "c_int32",
    "int64_t": "c_int64",
    "kv_status": "c_int32",
    "uint32_t": "c_uint32",
    "uint64_t": "c_uint64",
    "size_t": "c_size_t",
    "double": "c_double",
}

_LETTERS = {
    "None": "v",
    "ctypes.c_void_p": "p",
    "ctypes.c_char_p": "s",
    "ctypes.c_size_t": "n",
    "ctypes.c_int": "c",
    "ctypes.c_int32": "i",
    "ctypes.c_int64": "l",
    "ctypes.c_uint32": "u",
    "ctypes.c_uint64": "q",
    "ctypes.c_double": "d",
}

_HEAD = '''"""include/kvstore.h for ctypes, made by scripts/generate_abi.py: do not edit."""

from __future__ import annotations

import ctypes
from typing import Any, Final

'''


def make(header: Header) -> str:
    """Make _abi.py."""
    parts = ["\n".join(f"{name}: Final = {value}" for name, value in header.constants.items())]
    waiting = list(header.callbacks)
    for struct in header.structs:
        # A struct may hold callbacks, and callbacks may get structs: each after what it names.
        for callback in [one for one in waiting if _is_ready(one, header, struct)]:
            parts.append(_callback(callback, header))
            waiting.remove(callback)
        parts.append(_struct(struct))
    parts += [_callback(callback, header) for callback in waiting]
    parts.append(_functions(header))
    return _HEAD + "\n\n".join(parts) + "\n"


def _is_ready(callback: Function, header: Header, struct: Struct) -> bool:
    """Whether a struct needs this callback before it."""
    return any(member.type == callback.name for member in struct.members)


def _class(name: str) -> str:
    return name.removeprefix("kv_").title().replace("_", "") + "Struct"


def _constant(name: str) -> str:
    return name.removeprefix("kv_").upper()


def _struct(struct: Struct) -> str:
    members = "\n".join(
        f'        ("{member.name}", {_member_type(member)}),' for member in struct.members
    )
    return (
        f"\nclass {_class(struct.name)}(ctypes.Structure):\n"
        f'    """The C struct ``{struct.name}``."""\n\n    _fields_ = (\n{members}\n    )\n'
    )


def _member_type(member: Parameter) -> str:
    return _constant(member.type) if member.is_callback else _type(member)


def _type(parameter: Parameter) -> str:
    if parameter.is_text:
        return "ctypes.c_char_p"
    if parameter.is_pointer:
        return "ctypes.c_void_p"
    return f"ctypes.{_NUMBERS[parameter.type]}"


def _callback(callback: Function, header: Header) -> str:
    types = [_result(callback.result)]
    for parameter in callback.parameters:
        struct = next((one for one in header.structs if _is_of(parameter, one)), None)
        if struct is not None:
            types.append(f"ctypes.POINTER({_class(struct.name)})")
        elif callback.is_json(parameter):
            # Its length counts, and not a NUL.
            types.append("ctypes.POINTER(ctypes.c_char)")
        elif parameter.type.endswith("**"):
            types.append("ctypes.POINTER(ctypes.c_void_p)")
        else:
            types.append(_type(parameter))
    lines = "".join(f"    {one},\n" for one in types)
    return f"{_constant(callback.name)}: Final = ctypes.CFUNCTYPE(\n{lines})"


def _is_of(parameter: Parameter, struct: Struct) -> bool:
    return re.fullmatch(rf"(const )?{struct.name} \*", parameter.type) is not None


def _result(type: str) -> str:
    if type == "void":
        return "None"
    return "ctypes.c_char_p" if type == "const char *" else f"ctypes.{_NUMBERS[type]}"


def _functions(header: Header) -> str:
    """A letter for each type: in a table of types, names would hide what it says."""
    types = {_type(one) for function in header.functions for one in function.parameters}
    types |= {_result(function.result) for function in header.functions}
    letters = {type: _LETTERS[type] for type in sorted(types, key=_LETTERS.__getitem__)}
    kinds = "".join(f'    "{letter}": {type},\n' for type, letter in letters.items())
    lines = [
        f'    "{function.name}": ("{letters[_result(function.result)]}", '
        f'"{"".join(letters[_type(one)] for one in function.parameters)}"),\n'
        for function in header.functions
    ]
    return (
        "#: The types that the letters of the table below stand for.\n"
        f"KINDS: Final[dict[str, Any]] = {{\n{kinds}}}\n\n"
        "#: The result and the parameters of each function.\n"
        "FUNCTIONS: Final[dict[str, tuple[str, str]]] = {\n" + "".join(lines) + "}"
    )
