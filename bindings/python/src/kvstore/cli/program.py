"""The whole program: its commands and its exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from .. import __version__
from .._native import version
from .commands import COMMANDS
from .failures import MEANINGS, Exit, report, say
from .parameters import Group
from .settings import Settings

_EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code:>3}  {MEANINGS[code]}" for code in Exit)


class Program(Group):
    """The tool itself. When the reader closes its output, it ends silently."""

    hides_common_options = False

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was named."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            return _interrupted(ctx.obj)
        except BrokenPipeError:
            # The interpreter's own flush at its end must not fail either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return int(Exit.BROKEN_PIPE)
        return result


@click.command(
    "kvstore",
    cls=Program,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(
    __version__, message=f"kvstore %(version)s, library {version()}", prog_name="kvstore"
)
def program() -> None:
    """Look into a store of libkvstore, and work with it.

    Programs may use the store at the same time. The options below may also follow a command.
    """


for command in COMMANDS:
    program.add_command(command)


def _interrupted(settings: Settings) -> int:
    code = int(Exit.INTERRUPTED)
    say("interrupted", {}, as_json=settings.output in ("json", "ndjson"), code=code)
    return code


def run(arguments: Sequence[str]) -> int:
    """Run the tool; return its exit status."""
    settings = Settings()
    try:
        result = program.main(
            list(arguments), prog_name="kvstore", standalone_mode=False, obj=settings
        )
    except (KeyboardInterrupt, click.Abort):
        return _interrupted(settings)
    except Exception as error:
        return report(error, as_json=settings.output in ("json", "ndjson"))
    return result if isinstance(result, int) else int(Exit.DONE)
