"""Makes the calls of kvstore.aio from those of the blocking package: the same, awaited.

A call with an asynchronous form is started by it and waited for; what has none stays on this
machine and runs on a thread. What a class of kvstore.aio defines by hand is left to it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .header import Header

PACKAGE = Path(__file__).resolve().parents[2] / "bindings" / "python" / "src" / "kvstore"

#: Calls that kvstore.aio does not have: they lend bytes, call back on a thread, or are for a pump.
BLOCKING_ONLY = {
    "dispatch",
    "fileno",
    "get_bytes",
    "observe",
    "observe_by_id",
    "observe_status",
    "observe_sync",
    "page",
    "reduce",
    "set_log",
    "subscribe",
    "transaction",
}


@dataclass(frozen=True)
class Made:
    """A class that is made, what it is made of, and which class by hand inherits from it."""

    name: str
    blocking: str
    sources: tuple[str, ...]
    by_hand: str
    is_generic: bool = True


CLASSES = (
    Made(
        "StoreCalls",
        "Store",
        tuple(
            f"store/{name}.py"
            for name in (
                "reading",
                "grouping",
                "writing",
                "sharing",
                "syncing",
                "indexing",
                "following",
            )
        ),
        "aio/store.py",
    ),
    Made("PendingCalls", "PendingQueue", ("pending.py",), "aio/pending.py"),
    Made("ClientCalls", "Client", ("client.py",), "aio/client.py", is_generic=False),
    Made("UserCalls", "Users", ("users.py",), "aio/users.py", is_generic=False),
    Made("GroupCalls", "Groups", ("groups.py",), "aio/users.py", is_generic=False),
    Made("StreamCalls", "UserStream", ("userstream.py",), "aio/userstream.py", is_generic=False),
)

_HEAD = '''"""The blocking calls, awaited. Made by scripts/generate_abi.py: do not edit."""

from __future__ import annotations

from ..client import Client
from ..groups import Groups, UserGroup
from ..pending import PendingQueue
from ..store import Store
from ..users import Users
from ..userstream import UserStream
from ._waiting import finish, in_thread
'''


def make(_: Header) -> str:
    """Make aio/_calls.py."""
    imports = sorted({line for made in CLASSES for line in _imports(made)})
    return "\n".join([_HEAD, *imports, *[_class(made) for made in CLASSES]])


def _imports(made: Made) -> Iterator[str]:
    """The imports of the sources, as they are from here; those that are not needed go later."""
    for source in made.sources:
        folders = source.count("/")
        for node in ast.parse((PACKAGE / source).read_text()).body:
            if not isinstance(node, ast.ImportFrom) or node.module == "__future__":
                continue
            if node.level == 0:
                yield ast.unparse(node)
            elif node.level > folders and node.module:
                node.level = 2
                yield ast.unparse(node)


def _class(made: Made) -> str:
    base, of = ("(Generic[E])", "[E]") if made.is_generic else ("", "")
    lines = [
        f"class {made.name}{base}:",
        f'    """The calls of :class:`kvstore.{made.blocking}`, awaited."""',
        "",
        f"    #: The {made.blocking} of the blocking calls, for what has no form here.",
        f"    blocking: {made.blocking}{of}",
        "",
    ]
    methods = [method for source in made.sources for method in _methods(source)]
    names = {method.name for method in methods}
    left_out = BLOCKING_ONLY | {method.name for method in _methods(made.by_hand)}
    for method in methods:
        is_own = method.name.startswith("_") or method.name.endswith("_async")
        if not is_own and method.name not in left_out and not _is_property(method):
            lines.append(_method(method, names, made))
    return "\n".join(lines)


def _methods(source: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The methods of the first class of a file with any."""
    tree = ast.parse((PACKAGE / source).read_text())
    for node in tree.body:
        methods = [
            one
            for one in getattr(node, "body", [])
            if isinstance(node, ast.ClassDef)
            and isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]
        if methods:
            return methods
    return []


def _is_property(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(one) == "property" for one in method.decorator_list)


def _method(method: ast.FunctionDef | ast.AsyncFunctionDef, names: set[str], made: Made) -> str:
    is_overload = any(ast.unparse(one) == "overload" for one in method.decorator_list)
    _retype_self(method, made)
    result = ast.unparse(method.returns) if method.returns else "None"
    signature = f"async def {method.name}({ast.unparse(method.args)}) -> {result}:"
    if is_overload:
        return f"    @overload\n    {signature} ...\n"
    document, body = _document(method, made), _body(method, names)
    return f'    {signature}\n        """{document}"""\n        {body}\n'


def _retype_self(method: ast.FunctionDef | ast.AsyncFunctionDef, made: Made) -> None:
    """What `self` is for an overload: `Writing[Entity]` becomes `StoreCalls[Entity]`."""
    annotation = method.args.args[0].annotation
    if isinstance(annotation, ast.Subscript):
        annotation.value = ast.Name(made.name)


def _document(method: ast.FunctionDef | ast.AsyncFunctionDef, made: Made) -> str:
    """The first sentence; the rest is where it comes from."""
    text = ast.get_docstring(method) or ""
    first, _, rest = text.partition("\n\n")
    more = f"\n\n        See :meth:`kvstore.{made.blocking}.{method.name}`.\n        "
    return first.replace("\n", "\n        ") + (more if rest else "")


def _body(method: ast.FunctionDef | ast.AsyncFunctionDef, names: set[str]) -> str:
    returns = "" if ast.unparse(method.returns or ast.Constant(None)) == "None" else "return "
    if f"{method.name}_async" in names:
        arguments = ", ".join([*_arguments(method, "on_answer=done")])
        return f"{returns}await finish(lambda done: self.blocking.{method.name}_async({arguments}))"
    last = method.body[-1]
    if isinstance(last, ast.Return) and last.value and ast.unparse(last.value).startswith("self."):
        call = ast.unparse(last.value)
        if call.removeprefix("self.").partition("(")[0] + "_async" in names:
            return f"return await {call}"
    arguments = ", ".join([f"self.blocking.{method.name}", *_arguments(method)])
    return f"{returns}await in_thread({arguments})"


def _arguments(method: ast.FunctionDef | ast.AsyncFunctionDef, *more: str) -> Iterator[str]:
    """The arguments of a call that passes on what came."""
    yield from (one.arg for one in method.args.args[1:])
    yield from (f"{one.arg}={one.arg}" for one in method.args.kwonlyargs)
    yield from more
    if method.args.kwarg:
        yield f"**{method.args.kwarg.arg}"
