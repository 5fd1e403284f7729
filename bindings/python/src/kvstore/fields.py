"""Members of entities, compared with Python's operators: ``F.population > 50_000``.

>>> from kvstore import F
>>> query = (F.population > 50_000) & (F.address.city == "Boston")
>>> query.to_dict()["filter"]
{'population': {'$gt': 50000}, 'address.city': 'Boston'}
>>> query.sort("-population", "name").limit(20).to_dict()["sort"]
{'population': -1, 'name': 1}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NoReturn

from .errors import invalid
from .query import Query, search_filter

#: A place on the earth: longitude and latitude in degrees.
Place = tuple[float, float]
#: In metres, as in the library: a circle's radius is sent as an angle.
_EARTH_RADIUS: Final = 6_371_000


class Field:
    """A member of an entity. A comparison with it returns a :class:`kvstore.Query`.

    Its own members are ``F.address.city`` or ``F.address["odd name"]``; elements are ``F.tags[0]``.
    Brackets are also for a member that has the name of a method. An array matches if one of its
    elements does. Values that JSON does not have, such as a ``datetime``, are compared in the form
    in which entities store them: see :mod:`kvstore.values`.
    """

    __slots__ = ("__path",)

    def __init__(self, path: str) -> None:
        if not path:
            raise invalid("the name of a member is empty")
        self.__path = path

    def __getattr__(self, name: str) -> Field:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str | int) -> Field:
        if isinstance(name, int) and name < 0:
            raise invalid("the index of an element must not be negative")
        return Field(f"{self.__path}.{_key(name)}")

    # Comparisons

    def __eq__(self, value: object) -> Query:  # type: ignore[override]
        return self.__compared("=", "$eq", value)

    def __ne__(self, value: object) -> Query:  # type: ignore[override]
        return self.__compared("!=", "$ne", value)

    def __lt__(self, value: object) -> Query:
        return self.__compared("<", "$lt", value)

    def __le__(self, value: object) -> Query:
        return self.__compared("<=", "$lte", value)

    def __gt__(self, value: object) -> Query:
        return self.__compared(">", "$gt", value)

    def __ge__(self, value: object) -> Query:
        return self.__compared(">=", "$gte", value)

    __hash__ = None  # type: ignore[assignment]

    def between(self, low: object, high: object) -> Query:
        """Match values from `low` to `high`, both included."""
        return (self >= low) & (self <= high)

    def in_(self, values: Iterable[object]) -> Query:
        """Select what is one of the values."""
        return self.__filter({"$in": _values(values)})

    def not_in(self, values: Iterable[object]) -> Query:
        """Select what is not one of the values, or missing."""
        return self.__filter({"$nin": _values(values)})

    def exists(self, exists: bool = True) -> Query:
        """Select what has this member, be it null; or has it not."""
        return self.__filter({"$exists": exists})

    # Text

    def startswith(self, text: str, *, ignore_case: bool = False) -> Query:
        """Match text that begins with another text."""
        return self.__format("BEGINSWITH", text, ignore_case)

    def endswith(self, text: str, *, ignore_case: bool = False) -> Query:
        """Match text that ends with another text."""
        return self.__format("ENDSWITH", text, ignore_case)

    def has_text(self, text: str, *, ignore_case: bool = False) -> Query:
        """Match text that contains another text."""
        return self.__format("CONTAINS", text, ignore_case)

    def like(self, pattern: str, *, ignore_case: bool = False) -> Query:
        """Match text by a pattern: ``*`` stands for any text, ``?`` for any one character."""
        return self.__format("LIKE", pattern, ignore_case)

    def matches(self, pattern: str, *, ignore_case: bool = False) -> Query:
        """Match text that a regular expression matches from beginning to end."""
        return self.__format("MATCHES", pattern, ignore_case)

    def search(
        self,
        text: str,
        *,
        all_words: bool = False,
        language: Literal["none", "english"] = "none",
        case_sensitive: bool = False,
        diacritic_sensitive: bool = False,
    ) -> Query:
        """Match text by its words: ``fox*``, ``"a phrase"``, ``-not``; see :func:`text_search`.

        >>> F.title.search("fox dog", all_words=True).to_dict()["filter"]
        {'title': {'$text': {'$search': 'fox dog', '$matchCriteria': 'all'}}}
        """
        return self.__filter(
            search_filter(text, all_words, language, case_sensitive, diacritic_sensitive)
        )

    # Arrays

    def contains(self, *values: object) -> Query:
        """Match arrays that have all of the values as elements."""
        return self.__filter({"$all": _values(values)})

    def any(self, condition: Query | Mapping[str, Any]) -> Query:
        """Match arrays that have an object for which the whole condition holds.

        >>> F.addresses.any((F.city == "Boston") & (F.zip > 2100)).to_dict()["filter"]
        {'addresses': {'$elemMatch': {'city': 'Boston', 'zip': {'$gt': 2100}}}}
        """
        filter = Query(condition).to_dict()["filter"]
        return self.__filter({"$elemMatch": filter})

    def size(self, count: int) -> Query:
        """Match arrays with this number of elements."""
        return self.__filter({"$size": count})

    # Places

    def near(
        self,
        longitude: float,
        latitude: float,
        *,
        max_distance: float | None = None,
        min_distance: float | None = None,
    ) -> Query:
        """Match places, nearest first; distances are in metres."""
        near: dict[str, Any] = {
            "$geometry": {"type": "Point", "coordinates": [longitude, latitude]}
        }
        if max_distance is not None:
            near["$maxDistance"] = max_distance
        if min_distance is not None:
            near["$minDistance"] = min_distance
        return self.__filter({"$nearSphere": near})

    def within_circle(self, longitude: float, latitude: float, radius: float) -> Query:
        """Match places that are at most `radius` metres away."""
        return self.__within("$centerSphere", [[longitude, latitude], radius / _EARTH_RADIUS])

    def within_box(self, south_west: Place, north_east: Place) -> Query:
        """Match places in a box, which may cross the date line."""
        return self.__within("$box", [south_west, north_east])

    def within_polygon(self, *corners: Place) -> Query:
        """Match places in a polygon, which may cross the date line or go around a pole."""
        return self.__within("$polygon", corners)

    # What Python would do otherwise

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self} has no truth value: compare it, or use {self}.exists()")

    def __contains__(self, value: object) -> NoReturn:
        raise TypeError(f"instead of `value in {self}` write {self}.contains(value)")

    def __iter__(self) -> Iterator[NoReturn]:
        raise TypeError(f"{self} cannot be iterated over")

    def __repr__(self) -> str:
        return f"F[{self.__path!r}]"

    def __compared(self, word: str, operator: str, value: object) -> Query:
        if isinstance(value, Field):
            return Query.from_format(f"%K {word} %K", self.__path, value.__path)
        if isinstance(value, Query):
            raise TypeError(
                f"{self} cannot be compared with a query: put comparisons in parentheses"
            )
        return self.__filter({operator: _value(value)})

    def __filter(self, condition: Mapping[str, Any]) -> Query:
        return Query({self.__path: condition})

    def __format(self, word: str, text: str, ignore_case: bool) -> Query:
        if not isinstance(text, str):
            raise TypeError(f"{word} needs text, not {type(text).__name__}")
        option = "[c]" if ignore_case else ""
        # A format would read "acl" as "_acl", so that only the condition is taken from it.
        written = Query.from_format(f"x {word}{option} %@", text)
        return self.__filter(written.to_dict()["filter"]["x"])

    def __within(self, shape: str, numbers: object) -> Query:
        return self.__filter({"$geoWithin": {shape: numbers}})


class Fields:
    """The members of an entity: ``F.name``, or ``F["odd name"]``."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Field:
        if name.startswith("__"):
            raise AttributeError(name)
        return Field(name)

    def __getitem__(self, name: str) -> Field:
        return Field(_key(name))

    def __iter__(self) -> Iterator[NoReturn]:
        raise TypeError("F cannot be iterated over")

    def __repr__(self) -> str:
        return "F"


#: The beginning of an expression, such as ``F.population > 50_000``.
F: Final = Fields()


def _key(name: str | int) -> str:
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise TypeError(f"the name of a member must be a str, not {name!r}")
    if name == "":
        raise invalid("the name of a member is empty")
    return str(name)


def _values(values: Iterable[object]) -> list[object]:
    if isinstance(values, (str, bytes, Mapping)):
        raise TypeError("the values must be a list")
    return [_value(value) for value in values]


def _value(value: object) -> object:
    if isinstance(value, Field):
        raise TypeError(
            "a member can be compared with another member by a comparison operator only"
        )
    return value
