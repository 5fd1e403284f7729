"""The command line tool ``kvstore``: the extra ``libkvstore[cli]`` installs its packages."""

from __future__ import annotations

import sys

#: The packages that only the tool needs.
_EXTRA = {"click", "rich"}


def main() -> int:
    """Run the command line of this process; return its exit status."""
    try:
        from .program import run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _EXTRA:
            raise
        print(
            "kvstore: the command line tool is not installed; run: pip install 'libkvstore[cli]'",
            file=sys.stderr,
        )
        return 1
    return run(sys.argv[1:])
