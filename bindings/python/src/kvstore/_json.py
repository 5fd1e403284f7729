"""Reading JSON."""

from __future__ import annotations

import json
from typing import Any


def from_json(text: bytes | str) -> Any:
    """Read JSON of the library.

    A number beyond the range of ``float`` becomes infinite. So does an integer with more digits
    than ``int`` reads (4,300, see ``sys.set_int_max_str_digits``), so such a number is no error.
    """
    try:
        return json.loads(text)
    except ValueError:
        # Only in this case, because a hook for integers makes reading slower.
        return json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        return float(digits)
