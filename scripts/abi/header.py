"""Reads include/kvstore.h: the one description of the ABI."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HEADER = Path(__file__).resolve().parents[2] / "include" / "kvstore.h"

#: What may always be NULL, as the head of the header says. All else says KV_OPTIONAL.
ALWAYS_OPTIONAL = {
    "options",
    "length_out",
    "error_out",
    "done",
    "context",
    "free_context",
    "request_out",
    "subscription_out",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function, or a member of a struct."""

    #: The C type without `const` at its end: "const char *", "size_t", "kv_store *".
    type: str
    name: str
    #: Whether KV_OPTIONAL stands before it.
    is_marked: bool = False

    @property
    def handle(self) -> str | None:
        """The kind of a handle that goes in, such as "store"."""
        match = re.fullmatch(r"(?:const )?kv_(\w+) \*", self.type)
        return match[1] if match and match[1] in KINDS else None

    @property
    def handle_out(self) -> str | None:
        """The kind of a handle that comes out."""
        match = re.fullmatch(r"kv_(\w+) \*\*", self.type)
        return match[1] if match else None

    @property
    def is_callback(self) -> bool:
        return self.type.endswith("_fn")

    @property
    def is_pointer(self) -> bool:
        return "*" in self.type or self.is_callback

    @property
    def is_text(self) -> bool:
        return self.type == "const char *"


#: The kinds of handles, in the order of the header.
KINDS = (
    "client",
    "store",
    "query",
    "cursor",
    "results",
    "request",
    "transaction",
    "context",
    "subscription",
    "error",
)


@dataclass(frozen=True)
class Function:
    """A function of the header, or the type of a callback."""

    name: str
    result: str
    parameters: tuple[Parameter, ...]

    @property
    def gives_status(self) -> bool:
        return self.result == "kv_status"

    @property
    def has_error(self) -> bool:
        return any(one.name == "error_out" for one in self.parameters)

    def is_required(self, parameter: Parameter) -> bool:
        """Whether NULL is a misuse."""
        if not parameter.is_pointer or parameter.is_marked or parameter.name in ALWAYS_OPTIONAL:
            return False
        return parameter.handle != "query" or parameter == self.parameters[0]

    def is_json(self, parameter: Parameter) -> bool:
        """Whether it is a text whose length is the next parameter."""
        following = self.parameters[self.parameters.index(parameter) + 1 :][:1]
        return parameter.is_text and bool(following) and following[0].type == "size_t"


@dataclass(frozen=True)
class Struct:
    """A struct whose members are known."""

    name: str
    members: tuple[Parameter, ...]


@dataclass(frozen=True)
class Header:
    """All of the header that others are made from."""

    #: The values of the enumerations, in their order.
    constants: dict[str, int]
    callbacks: tuple[Function, ...]
    structs: tuple[Struct, ...]
    functions: tuple[Function, ...]

    def pairs(self) -> list[tuple[Function, Function]]:
        """The blocking and the asynchronous form of what may wait for the network."""
        by_name = {one.name: one for one in self.functions}
        return [
            (one, by_name[f"{one.name}_async"])
            for one in self.functions
            if f"{one.name}_async" in by_name
        ]


def read(path: Path = HEADER) -> Header:
    """Read the header."""
    code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    code = re.sub(r"^\s*#.*$", "", code, flags=re.MULTILINE)
    constants = {
        name: int(value) for name, value in re.findall(r"^\s+(KV_\w+) = (\d+)", code, re.MULTILINE)
    }
    callbacks = [
        Function(name, _type(result), _parameters(parameters))
        for result, name, parameters in re.findall(
            r"typedef ([\w ]+?) ?\(\*(kv_\w+_fn)\)\(([^;]*)\);", code
        )
    ]
    structs = [
        Struct(name, tuple(_parameter(one) for one in body.split(";") if one.strip()))
        for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", code, re.DOTALL)
    ]
    functions = [
        Function(name, _type(result), _parameters(parameters))
        for result, name, parameters in re.findall(
            r"KV_API ([\w\s*]*?)\b(kv_\w+)\(([^;]*)\);", code
        )
    ]
    return Header(constants, tuple(callbacks), tuple(structs), tuple(functions))


def _parameters(text: str) -> tuple[Parameter, ...]:
    return tuple(_parameter(one) for one in text.split(",") if one.strip() != "void")


def _parameter(text: str) -> Parameter:
    words = " ".join(text.split())
    is_marked = words.startswith("KV_OPTIONAL ")
    match = re.fullmatch(r"(.*?)(\w+)", words.removeprefix("KV_OPTIONAL "))
    if match is None:
        raise ValueError(f"not a parameter: {words}")
    return Parameter(_type(match[1]), match[2], is_marked)


def _type(text: str) -> str:
    return " ".join(text.split())
