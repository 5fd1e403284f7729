"""The command line tool ``kvstore``: the extra ``kvstore[cli]`` has what it needs."""

from __future__ import annotations

import sys

#: The packages that the tool needs, and that the library itself does without.
_EXTRA = {"click", "rich"}


def main() -> int:
    """Run the command line of this process; return its exit status."""
    try:
        from .program import run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _EXTRA:
            raise
        print("kvstore: the command line tool needs: pip install 'kvstore[cli]'", file=sys.stderr)
        return 1
    return run(sys.argv[1:])
