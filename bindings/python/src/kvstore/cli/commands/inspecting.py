"""Commands for the full-screen view."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ..failures import Exit, Failure
from ..parameters import Command
from ..settings import Settings, pass_settings

#: The environment of the process that serves a browser. Secrets are never arguments.
_VARIABLES = {
    "directory": "KVSTORE_DIR",
    "app_key": "KVSTORE_APP_KEY",
    "tag": "KVSTORE_TAG",
    "host": "KVSTORE_HOST",
    "app_secret": "KVSTORE_APP_SECRET",
    "master_secret": "KVSTORE_MASTER_SECRET",
    "ca_file": "KVSTORE_CA_FILE",
    "key_file": "KVSTORE_KEY_FILE",
    "key_command": "KVSTORE_KEY_COMMAND",
}


@click.command("inspect", cls=Command)
@click.option("--web", is_flag=True, help="Show it in a browser, on 127.0.0.1 with a token.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port for --web. [default: any free one]",
)
@pass_settings
def inspect(settings: Settings, web: bool, port: int) -> None:
    """Show the store in a full-screen view: entities with search, queue, events, status.

    The keys are listed at the bottom of the screen; 1 to 4 choose a tab, / searches.
    """
    _show(settings, web, port)


@click.command("open", cls=Command)
@click.argument("path", type=click.Path(exists=True, path_type=Path), metavar="DIR")
@pass_settings
def open_(settings: Settings, path: Path) -> None:
    """Show the store of DIR in a full-screen view: the same as --dir DIR inspect."""
    settings.directory = path
    _show(settings, web=False, port=0)


def _show(settings: Settings, web: bool, port: int) -> None:
    location = settings.location()
    try:
        if web:
            from ..inspect.web import serve

            settings.app_key, settings.tag = location.app_key, location.tag
            settings.directory = location.directory.absolute()
            for member, variable in _VARIABLES.items():
                if (value := getattr(settings, member)) is not None:
                    os.environ[variable] = str(value)
            serve(port)
            return
        # In a browser, textual uses another driver.
        if "TEXTUAL_DRIVER" not in os.environ and not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise Failure(
                "The output is not a terminal; --web shows the store in a browser.", Exit.USAGE
            )
        from ..inspect.app import Inspector
        from ..inspect.source import open_source
    except ModuleNotFoundError as error:
        raise Failure(
            f"This needs {error.name}: pip install 'libkvstore[cli]'", Exit.FAILED
        ) from error
    with open_source(settings) as source:
        Inspector(source).run()
