"""The settings of every command: the store, the backend, and the output format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import click

from ..client import Client
from ..encryption import Key
from ..results import Entity
from ..status import ClientStatus
from ..store import Store
from .failures import Exit, Failure
from .keys import key_from
from .location import Location, locate, locate_or_make
from .output import Output

T = TypeVar("T")

#: The name of a collection that does not exist, for a store that lists the real ones.
_ANY = "(all collections)"


@dataclass
class Settings:
    """The common options; those that were not given are None."""

    directory: Path | None = None
    app_key: str | None = None
    tag: str | None = None
    host: str | None = None
    app_secret: str | None = None
    master_secret: str | None = None
    ca_file: Path | None = None
    key_file: Path | None = None
    key_command: str | None = None
    passphrase: bool = False
    timeout: float | None = None
    output: str | None = None
    #: The key, once it was asked for.
    _key: Key | None = field(default=None, repr=False)

    @property
    def out(self) -> Output:
        """Return the printer of results."""
        return Output(self.output or "table")

    def location(self) -> Location:
        """Return the existing store that the settings name."""
        return locate(self.directory, self.app_key, self.tag)

    @contextmanager
    def local(self, *, new: bool = False) -> Iterator[Client]:
        """Open the store without its backend; with `new`, it is created if it does not exist."""
        find = locate_or_make if new else locate
        location = find(self.directory, self.app_key, self.tag)
        with Client(
            app_key=location.app_key,
            tag=location.tag,
            data_directory=location.directory,
            host=None,
            **self.encryption(),
        ) as client:
            yield client

    @contextmanager
    def online(self) -> Iterator[Client]:
        """Open the store with its backend. A store that does not exist is created."""
        location = locate_or_make(self.directory, self.app_key, self.tag)
        with Client(
            app_key=location.app_key,
            tag=location.tag,
            data_directory=location.directory,
            **self._backend(),
            **self.encryption(),
        ) as client:
            yield client

    @contextmanager
    def collection(self, name: str, *, online: bool = False, new: bool = False) -> Iterator[Store]:
        """Open a collection of the store; it must exist, unless it may be `new`."""
        with self.online() if online else self.local(new=new) as client:
            if not online and not new and name not in names_of_collections(client):
                raise Failure(f"There is no collection {name}.", Exit.NOT_FOUND)
            with client.collection(name) as store:
                yield store

    def encryption(self) -> Any:
        """Return the option that opens encrypted data, if a key was named."""
        if self._key is None:
            self._key = key_from(
                self.key_file, self.key_command, prompts=self.passphrase, what="Passphrase"
            )
        return {} if self._key is None else {"encryption_key": self._key}

    def _backend(self) -> Any:
        if self.host is None:
            raise Failure("The backend is missing: use --host URL or KVSTORE_HOST.", Exit.USAGE)
        if not self.app_secret:
            raise Failure(
                "The application's secret is missing: use KVSTORE_APP_SECRET or --app-secret.",
                Exit.USAGE,
            )
        options = {
            "host": self.host,
            "app_secret": self.app_secret,
            "master_secret": self.master_secret,
            "ca_file": self.ca_file,
            "timeout": self.timeout,
        }
        return {name: value for name, value in options.items() if value is not None}


def settings_of(context: click.Context) -> Settings:
    """Return the settings of the running command."""
    return context.ensure_object(Settings)


pass_settings = click.make_pass_decorator(Settings, ensure=True)


def status_of(client: Client) -> ClientStatus:
    """Return the status of a client, with all collections that have local data."""
    with client.collection(_ANY):
        status = client.status()
    collections = [each for each in status.collections if each.collection != _ANY]
    return replace(status, collections=collections)


def names_of_collections(client: Client) -> list[str]:
    """Return the names of all collections that have local data."""
    return [status.collection for status in status_of(client).collections]


def entity_from(text: str, what: str = "an entity") -> Entity:
    """Read a JSON object from the command line."""
    from .._json import from_json

    try:
        value = from_json(text.encode())
    except ValueError as error:
        raise Failure(f"This is not valid JSON for {what}: {error}", Exit.USAGE) from error
    if not isinstance(value, dict):
        raise Failure(f'JSON for {what} is an object, such as {{"a": 1}}.', Exit.USAGE)
    return value
