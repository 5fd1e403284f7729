"""Commands that encrypt a store, and change its keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ...encryption import Key
from ...encryption import encrypt as encrypt_data
from ..failures import Exit, Failure
from ..keys import key_from
from ..output import human_bytes
from ..parameters import Command
from ..settings import Settings, pass_settings

F = TypeVar("F", bound=Callable[..., Any])


def _new_key_options(function: F) -> F:
    """Add the options that name a new key."""
    path = click.Path(path_type=Path)
    decorators = [
        click.option("--new-key-file", type=path, metavar="FILE", help="A file with the new key."),
        click.option("--new-key-command", metavar="COMMAND", help="What prints the new key."),
        click.option("--new-passphrase", is_flag=True, help="Ask for a passphrase as the new key."),
    ]
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


@click.command("encrypt", cls=Command)
@_new_key_options
@pass_settings
def encrypt(
    settings: Settings,
    new_key_file: Path | None,
    new_key_command: str | None,
    new_passphrase: bool,
) -> None:
    """Encrypt the data of an application, or encrypt it anew with another key.

    No program may have the data open. The key of data that is encrypted already is named by
    --key-file, --key-command or --passphrase. All tags are encrypted. A command that was
    interrupted can be repeated.
    """
    key = _new_key(new_key_file, new_key_command, new_passphrase)
    _change(settings, key, "encrypted")


@click.command("decrypt", cls=Command)
@pass_settings
def decrypt(settings: Settings) -> None:
    """Store the data of an application without encryption again.

    No program may have the data open. A command that was interrupted can be repeated.
    """
    _change(settings, None, "decrypted")


@click.command("change-key", cls=Command)
@_new_key_options
@click.option("--name", default="main", show_default=True, help="The name of the key.")
@click.option("--remove", is_flag=True, help="Remove the key of that name instead.")
@pass_settings
def change_key(
    settings: Settings,
    new_key_file: Path | None,
    new_key_command: str | None,
    new_passphrase: bool,
    name: str,
    remove: bool,
) -> None:
    """Change, add or remove a key that opens the data of an application.

    The data stays as it is, so this takes no longer for more of it; programs can go on. Up to 8
    keys open the data, such as one of the program and one for recovery.
    """
    key = None if remove else _new_key(new_key_file, new_key_command, new_passphrase)
    with settings.local() as client:
        names = client.change_key(key, name=name)
    settings.out.done(f"Keys that open the data: {', '.join(names)}.", keys=names)


def _new_key(file: Path | None, command: str | None, prompts: bool) -> Key:
    key = key_from(file, command, prompts=prompts, what="New passphrase")
    if key is None:
        raise Failure(
            "The new key is missing: use --new-key-file, --new-key-command or --new-passphrase.",
            Exit.USAGE,
        )
    return key


def _change(settings: Settings, key: Key | None, verb: str) -> None:
    location = settings.location()
    report = encrypt_data(
        key,
        app_key=location.app_key,
        tag=location.tag,
        data_directory=location.directory,
        host=None,
        **settings.encryption(),
    )
    settings.out.done(
        f"{human_bytes(report['bytes'])} in {report['files']} files {verb}.",
        files=report["files"],
        bytes=report["bytes"],
    )
