"""Makes calls of every function with one argument that it must refuse, for Tests/CAPI/misuse.c."""

from __future__ import annotations

from collections.abc import Callable

from .header import KINDS, Function, Header, Parameter

#: Arguments that are good by the name of the parameter, where "a" and {} are not.
SAMPLES = {
    "entities_json": '"[{}]"',
    "update_json": r'"{\"$set\":{\"a\":1}}"',
    "group_json": r'"{\"keys\":[\"a\"]}"',
    "keys_json": r'"[\"a\"]"',
    "credentials_json": r'"{\"username\":\"a\",\"password\":\"b\"}"',
    "index_json": r'"{\"keys\":{\"a\":1}}"',
    "arguments_json": '"[]"',
    "type": '"sync"',
    "format": '"a == 1"',
    "combination": '"not"',
    "options": "NULL",
    "level": "4",
    "count": "1",
    "context": "&freed",
    "free_context": "count_free",
    "error_out": "e",
    "progress": "&(kv_progress){.size = sizeof(kv_progress)}",
    "queries": "(kv_query *[]){good_query}",
}

#: Where results of each type go.
PLACES = {
    "char **": "&json",
    "const char **": "(const char **)&json",
    "size_t *": "&length",
    "int64_t *": "&count",
    "int32_t *": "&flag",
    "uint32_t *": "&number",
    "int *": "&fd",
}

#: Functions that come back at once only if they are refused, or that end what the others need.
LEFT_OUT = {"kv_free"}


def make(header: Header) -> str:
    """Make functions.h."""
    tested = [one for one in header.functions if one.gives_status and one.name not in LEFT_OUT]
    wrappers: list[str] = []
    handles = _table("handle_calls", "handle", tested, _takes_handle, wrappers)
    missing = _table("pointer_calls", "pointer", tested, _must_be_there, wrappers)
    freeing = [
        f"  {one.name}(handle);"
        for one in header.functions
        if one.result == "void" and one.parameters[0].handle
    ]
    return "\n".join(
        [
            "/* Calls with one argument that is to be refused, and otherwise good ones. Made by",
            " * scripts/generate_abi.py from kvstore.h: do not edit. */",
            *[_stub(one) for one in header.callbacks if one.name in _used_types(tested)],
            "",
            *wrappers,
            "",
            "typedef struct {",
            "  const char *function, *argument;",
            "  kind wants; /* of a handle; KINDS for another pointer */",
            "  kv_status (*call)(void *argument, kv_error **error);",
            "  int takes_null;  /* NULL is no misuse */",
            "  int has_error;   /* gives an error object */",
            "  int has_context; /* frees the context when it fails */",
            "} misused_call;",
            "",
            *handles,
            "",
            *missing,
            "",
            "/* Frees what is no handle. */",
            "static void free_nothing(void *handle) {",
            *freeing,
            "}",
            "",
        ]
    )


def _used_types(functions: list[Function]) -> set[str]:
    """The types of arguments that need a function which is never called."""
    parameters = [one for function in functions for one in function.parameters]
    return {one.type for one in parameters if one.name not in SAMPLES}


def _takes_handle(_: Function, parameter: Parameter) -> bool:
    return (parameter.handle or "error") != "error" or parameter.name == "queries"


def _must_be_there(function: Function, parameter: Parameter) -> bool:
    return function.is_required(parameter) and parameter.handle is None


def _table(
    name: str,
    prefix: str,
    functions: list[Function],
    selects: Callable[[Function, Parameter], bool],
    wrappers: list[str],
) -> list[str]:
    """Make a wrapper for each argument that is selected, and the table of them."""
    lines = [f"static const misused_call {name}[] = {{"]
    for function in functions:
        for parameter in function.parameters:
            if not selects(function, parameter):
                continue
            wrapper = f"{prefix}_{function.name}_{parameter.name}"
            wrappers.append(_wrapper(wrapper, function, parameter, prefix == "handle"))
            lines.append(_entry(wrapper, function, parameter))
    return [*lines, "};"]


def _wrapper(name: str, function: Function, chosen: Parameter, is_handle: bool) -> str:
    value = "a" if is_handle else "NULL"
    arguments = [
        _chosen(one, value) if one == chosen else _good(function, one)
        for one in function.parameters
    ]
    unused = [f"(void){word};" for word in ("a", "e") if word not in arguments]
    if chosen.name == "queries" and is_handle:
        unused = []
    body = " ".join([*unused, f"return {function.name}({', '.join(arguments)});"])
    return f"static kv_status {name}(void *a, kv_error **e) {{ {body} }}"


def _chosen(parameter: Parameter, value: str) -> str:
    is_array = parameter.name == "queries" and value == "a"
    return "(kv_query *[]){a}" if is_array else value


def _good(function: Function, parameter: Parameter) -> str:
    """An argument that is not refused."""
    if parameter.name in SAMPLES:
        return SAMPLES[parameter.name]
    if parameter.name == "functions":
        return "&good_" + parameter.type.removeprefix("const ").removesuffix(" *")
    if parameter.is_text:
        return '"{}"' if function.is_json(parameter) else '"a"'
    if parameter.type == "size_t":
        return "KV_NUL_TERMINATED"
    return _good_pointer(parameter) if parameter.is_pointer else "0"


def _good_pointer(parameter: Parameter) -> str:
    if parameter.handle:
        return f"good_{parameter.handle}"
    if parameter.handle_out:
        return f"&made_{parameter.handle_out}"
    return f"no_{parameter.type}" if parameter.is_callback else PLACES[parameter.type]


def _entry(wrapper: str, function: Function, parameter: Parameter) -> str:
    kind = parameter.handle if parameter.handle in KINDS else None
    kind = "query" if parameter.name == "queries" else kind
    takes_null = parameter.name == "queries" or not function.is_required(parameter)
    has_context = any(one.name == "free_context" for one in function.parameters)
    flags = ", ".join(str(int(one)) for one in (takes_null, function.has_error, has_context))
    wants = kind.upper() if kind else "KINDS"
    return f'    {{"{function.name}", "{parameter.name}", {wants}, {wrapper}, {flags}}},'


def _stub(callback: Function) -> str:
    """A function of this type that is never to be called."""
    parameters = ", ".join(
        f"{one.type}{'' if one.type.endswith('*') else ' '}{one.name}"
        for one in callback.parameters
    )
    unused = ", ".join(f"(void){one.name}" for one in callback.parameters)
    result = "" if callback.result == "void" else "\n  return 0;"
    return (
        f"static {callback.result} no_{callback.name}({parameters}) {{\n  {unused};\n"
        f'  check_report(__LINE__, __FILE__, "a callback came for a call that failed");{result}\n}}'
    )
