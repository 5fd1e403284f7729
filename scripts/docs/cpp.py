"""Makes the reference of the C++ wrappers: Markdown from the comments of include/kvstore*.hpp."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from abi import header

from docs import c

INCLUDE = header.HEADER.parent
#: The headers in the order of the page: the client first, and what it is made of behind it.
HEADERS = [
    "kvstore.hpp",
    "kvstore/store.hpp",
    "kvstore/transaction.hpp",
    "kvstore/handle.hpp",
    "kvstore/callback.hpp",
    "kvstore/backend.hpp",
    "kvstore/custom_store.hpp",
    "kvstore/migration.hpp",
    "kvstore/result.hpp",
    "kvstore/text.hpp",
]
DETAIL = re.compile(r"^namespace detail \{.*?^\}  // namespace detail$", re.MULTILINE | re.DOTALL)
PRIVATE = re.compile(r"^ private:.*?(?=^\};)", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"/\*\*(.*?)\*/", re.DOTALL)
TYPE = re.compile(r"(?:class|struct) (?:\[\[\w+\]\] )?(\w+(?:<\w+>)?)")
FUNCTION = re.compile(r"(operator[^(]+|~?\w+)\(")


@dataclass
class Declaration:
    """Declarations that share a comment, such as a function and its asynchronous form."""

    text: str
    name: str
    codes: list[str]
    members: list[Declaration] = field(default_factory=list)


def page() -> str:
    """Give the page of the reference."""
    comment = COMMENT.search((INCLUDE / HEADERS[0]).read_text())
    head = re.sub(r"^\s*@file \S+\n", "", c.plain(comment[1] if comment else ""))
    parts = ["# C++ reference\n", "`#include <kvstore.hpp>`\n", "Guide: [C++](../cpp.md)\n"]
    parts.append(markdown(head))
    for name in HEADERS:
        for one in declarations(name):
            parts += lines_of(one, level=2)
            for member in one.members:
                parts += lines_of(member, level=3, owner=one.name)
    return "\n".join(parts)


def undocumented() -> Iterator[str]:
    """Name what is declared without a comment."""
    for name in HEADERS:
        for one in declarations(name):
            for member in [one, *one.members]:
                if not member.text:
                    yield f"{name}: {' '.join(member.codes[0].split())}"


def lines_of(one: Declaration, *, level: int, owner: str = "") -> Iterator[str]:
    """Give the heading, the declarations and the text of one."""
    title = re.sub(r"[<>*]", r"\\\g<0>", one.name)
    anchor = re.sub(r"\W+", "-", f"{owner}-{one.name}" if owner else one.name).strip("-")
    yield f"{'#' * level} {title} {{ #{anchor} }}\n"
    for name in sorted({called(code) for code in one.codes[1:]}):
        if owner and name.endswith("_async"):
            yield f'<span id="{owner}-{name}"></span>\n'
    yield "```cpp\n" + "\n".join(one.codes) + "\n```\n"
    yield markdown(one.text)


def markdown(text: str) -> str:
    """Turn a comment into Markdown; functions of C lead to their reference."""
    known = {function.name for function in header.read().functions}
    text = c.markdown(text, known).replace("](#kv_", "](c.md#kv_")
    parts = re.split(r"(`[^`]*`|^    .*$)", text, flags=re.MULTILINE)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r"\b([A-Z]\w+)::(\w+)\(\)", r"[`\g<0>`](#\1-\2)", parts[at])
        parts[at] = re.sub(r"\bResult<(\w+)>", r"`\g<0>`", parts[at])
    return "".join(parts)


def declarations(name: str) -> list[Declaration]:
    """Read what a header declares, but for its private parts."""
    text = PRIVATE.sub("", DETAIL.sub("", (INCLUDE / name).read_text()))
    body = text[text.index("namespace kvstore {") + len("namespace kvstore {") :]
    found: list[Declaration] = []
    for piece in pieces(body):
        if (kind := TYPE.search(piece.code)) and piece.body and "(" not in piece.code:
            one = Declaration(piece.comment, kind[1], [tidy(piece.code)])
            add_members(one, piece.body)
            found.append(one)
        elif piece.code.startswith("template") and "::" in piece.code:
            continue  # The definition of a member that is declared in its class.
        elif re.fullmatch(r"class \w+;?", piece.code.strip()):
            continue  # Its definition follows.
        else:
            add(found, piece)
    return found


def add_members(owner: Declaration, body: str) -> None:
    """Read the public members of a type; constructors that say nothing are listed with it."""
    for piece in pieces(body):
        if re.match(r"using |virtual ~", piece.code) or re.search("= delete|override$", piece.code):
            continue
        plain_name = re.sub(r"<.*", "", owner.name)
        if not piece.comment and re.match(rf"(?:explicit )?~?{plain_name}\(", piece.code):
            owner.codes.append(tidy(piece.code))
        else:
            add(owner.members, piece)


def add(found: list[Declaration], piece: Piece) -> None:
    """Add a declaration; without a comment, overloads and other forms join the one before."""
    name = called(piece.code)
    joins = "operator" in name or (found and name.removesuffix("_async") == found[-1].name)
    if found and not piece.comment and joins:
        found[-1].codes.append(tidy(piece.code))
    else:
        found.append(Declaration(piece.comment, name, [tidy(piece.code)]))


def called(code: str) -> str:
    """Give the name of a function or a member."""
    code = re.sub(r"template <[^>]*>|decltype\([^)]*\)|std::function<.*>", "", code)
    match = FUNCTION.search(code) or re.search(r"(\w+)\s*(?:=.*)?$", code)
    return match[1] if match else ""


@dataclass
class Piece:
    """One declaration as it stands in a header: its comment, its code and what is in its braces."""

    comment: str
    code: str
    body: str


def pieces(body: str) -> Iterator[Piece]:
    """Take the declarations of a block apart."""
    at = 0
    while True:
        space = re.match(r"(?:\s|//[^\n]*|^#[^\n]*\n|public:)*", body[at:], re.MULTILINE)
        at += space.end() if space else 0
        comment = ""
        if match := COMMENT.match(body, at):
            comment = c.plain(match[1]).strip()
            at = match.end()
            at += len(body[at:]) - len(body[at:].lstrip())
        if at >= len(body) or body[at] == "}":
            return
        end, inner = declared_until(body, at)
        yield Piece(comment, body[at:end].strip(), body[end + 1 : inner - 1])
        at = inner
        at += body[at : at + 1] == ";"


def declared_until(body: str, at: int) -> tuple[int, int]:
    """Give where a declaration ends, and where its braces end, if it has any."""
    depth = 0
    for index in range(at, len(body)):
        sign = body[index]
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and sign == ";":
            return index, index + 1
        if depth == 0 and sign == "{":
            return index, closed(body, index)
    return len(body), len(body)


def closed(body: str, opening: int) -> int:
    """Give what follows the brace that closes the one at an index, and initialisers behind it."""
    depth = 0
    for index in range(opening, len(body)):
        depth += (body[index] == "{") - (body[index] == "}")
        if depth == 0:
            return index + 1
    return len(body)


def tidy(code: str) -> str:
    """Give a declaration on lines of at most 80 characters, without its initialisers."""
    code = re.sub(r"\)\s*(noexcept)?\s*:\s.*", lambda tail: f") {tail[1] or ''}".rstrip(), code)
    template, code = re.match(r"(template <[^>]*>\s*)?(.*)", " ".join(code.split())).groups()  # type: ignore[union-attr]
    code = re.sub(r"^(inline|static inline) ", "", code)
    return (template.strip() + "\n" if template else "") + c.wrapped(code + ";")
