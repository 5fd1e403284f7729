"""Commands that copy a store, and bring a copy back."""

from __future__ import annotations

from pathlib import Path

import click

from ..._option_types import NetworkOptions
from ...client import Client
from ...errors import ConflictError
from ..failures import Exit, Failure
from ..location import default_directory, locate
from ..output import human_bytes
from ..parameters import Command
from ..settings import Settings, pass_settings


@click.command("backup", cls=Command)
@click.argument("destination", metavar="DIRECTORY", type=click.Path(path_type=Path))
@pass_settings
def backup(settings: Settings, destination: Path) -> None:
    """Copy the data of an application into DIRECTORY while programs use it.

    All tags are copied as they are at one moment, with pending writes and without sessions. The
    copy appears when it is complete; it replaces nothing. The command restore brings it back, and
    every command reads it with --dir DIRECTORY.
    """
    location = settings.location()
    _copy(settings, location.directory, location.app_key, destination)


@click.command("restore", cls=Command)
@click.argument("source", metavar="BACKUP", type=click.Path(path_type=Path))
@pass_settings
def restore(settings: Settings, source: Path) -> None:
    """Copy the backup of an application into the data directory, --dir.

    It replaces nothing: data of the application that is there must be moved away first. Then the
    user logs in, and what was pending is sent.
    """
    app_key = locate(source, settings.app_key, settings.tag).app_key
    _copy(settings, source, app_key, settings.directory or default_directory())


def _copy(settings: Settings, source: Path, app_key: str, destination: Path) -> None:
    options: NetworkOptions = {} if settings.timeout is None else {"timeout": settings.timeout}
    with Client(
        app_key=app_key, data_directory=source, host=None, **settings.encryption()
    ) as client:
        try:
            report = client.backup(destination, **options)
        except ConflictError as error:
            raise Failure(str(error), Exit.USAGE) from error
    settings.out.done(
        f"{human_bytes(report.bytes)} of {app_key} copied to {destination}.",
        tags=report.tags,
        bytes=report.bytes,
        directory=str(destination),
    )
