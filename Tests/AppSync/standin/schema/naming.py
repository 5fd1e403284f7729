"""Names that the service derives from names of the schema."""

from __future__ import annotations

IRREGULAR = {
    "child": "children",
    "datum": "data",
    "foot": "feet",
    "goose": "geese",
    "man": "men",
    "mouse": "mice",
    "news": "news",
    "person": "people",
    "series": "series",
    "tooth": "teeth",
    "woman": "women",
}


def camel(name: str) -> str:
    return name[:1].lower() + name[1:]


def pascal(name: str) -> str:
    return name[:1].upper() + name[1:]


def plural(name: str) -> str:
    """The English plural; of a compound name, that of its last word."""
    start = next((i for i in range(len(name) - 1, 0, -1) if name[i].isupper()), 0)
    head, last = name[:start], name[start:]
    if irregular := IRREGULAR.get(last.lower()):
        return head + (pascal(irregular) if last[:1].isupper() else irregular)
    if last.endswith("y") and last[-2:-1].lower() not in {"a", "e", "i", "o", "u", ""}:
        return name[:-1] + "ies"
    if last.endswith(("s", "x", "z", "ch", "sh")):
        return name + "es"
    return name + "s"


def implied_keys(model: str, field: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    """The foreign keys of a relation that names none, one for each part of the far key.

    Model `Comment`, field `post` and key `id` make `commentPostId`.
    """
    return tuple(camel(model) + pascal(field) + pascal(part) for part in parts)
