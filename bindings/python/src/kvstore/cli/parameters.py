"""Options that several commands have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..query import Query
from .failures import Exit, Failure
from .output import FORMATS
from .settings import entity_from, settings_of

F = TypeVar("F", bound=Callable[..., Any])


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Keep a common option: the last one applies, after whichever command it stands."""
    if value is not None and value is not False and parameter.name is not None:
        setattr(settings_of(context), parameter.name, value)


def _keep_json(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        settings_of(context).output = "json"


def _option(
    *names: str, hidden: bool, envvar: str | None = None, **attributes: Any
) -> click.Option:
    """Make a common option. After a command's name it is hidden, without the environment."""
    return click.Option(
        names,
        expose_value=False,
        callback=_keep,
        hidden=hidden,
        envvar=None if hidden else envvar,
        **attributes,
    )


def common_options(*, hidden: bool) -> list[click.Parameter]:
    """Make the options that every command takes, before its name or after it."""
    path = click.Path(path_type=Path)
    return [
        _option(
            *("-d", "--dir", "directory"),
            type=path,
            metavar="DIR",
            envvar="KVSTORE_DIR",
            hidden=hidden,
            help="The data directory of a client, or its data file. [default: the library's]",
        ),
        _option(
            *("-a", "--app", "app_key"),
            metavar="KEY",
            envvar="KVSTORE_APP_KEY",
            hidden=hidden,
            help="The application key; needed if the directory has several.",
        ),
        _option(
            *("-t", "--tag"),
            metavar="TAG",
            envvar="KVSTORE_TAG",
            hidden=hidden,
            help="The client's tag. [default: kinvey, or the only one]",
        ),
        _option(
            *("-H", "--host"),
            metavar="URL",
            envvar="KVSTORE_HOST",
            hidden=hidden,
            help="The backend, for commands that need one.",
        ),
        _option(
            "--app-secret",
            metavar="SECRET",
            envvar="KVSTORE_APP_SECRET",
            hidden=hidden,
            help="The application's secret; safer in KVSTORE_APP_SECRET.",
        ),
        _option(
            "--master-secret",
            metavar="SECRET",
            envvar="KVSTORE_MASTER_SECRET",
            hidden=hidden,
            help="Act with the application's master secret; safer in KVSTORE_MASTER_SECRET.",
        ),
        _option(
            "--ca-file",
            type=path,
            metavar="FILE",
            envvar="KVSTORE_CA_FILE",
            hidden=hidden,
            help="Certificates to trust, as PEM. [default: the system's]",
        ),
        _option(
            "--key-file",
            type=path,
            metavar="FILE",
            envvar="KVSTORE_KEY_FILE",
            hidden=hidden,
            help="The key of encrypted data: 32 bytes, 64 hex digits, or Base64.",
        ),
        _option(
            "--key-command",
            metavar="COMMAND",
            envvar="KVSTORE_KEY_COMMAND",
            hidden=hidden,
            help="A command that prints the key of encrypted data.",
        ),
        _option(
            "--passphrase",
            is_flag=True,
            hidden=hidden,
            help="Ask for the passphrase of encrypted data.",
        ),
        _option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            hidden=hidden,
            help="The timeout of a call to the backend. [default: 60]",
        ),
        _option(
            *("-o", "--output"),
            type=click.Choice(FORMATS),
            hidden=hidden,
            help="The format of results. [default: table]",
        ),
        click.Option(
            ("--json", "as_json"),
            is_flag=True,
            expose_value=False,
            callback=_keep_json,
            hidden=hidden,
            help="The same as --output json.",
        ),
    ]


class Command(click.Command):
    """A command that also has the common options, which only the program's help shows."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        attributes["params"] = [*attributes.get("params", []), *common_options(hidden=True)]
        super().__init__(*arguments, **attributes)


class Group(click.Group):
    """A group of such commands, in the order in which they were added."""

    command_class = Command
    group_class = type
    #: Whether the help leaves the common options out.
    hides_common_options = True

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        common = common_options(hidden=self.hides_common_options)
        attributes["params"] = [*common, *attributes.get("params", [])]
        super().__init__(*arguments, **attributes)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the manual."""
        return list(self.commands)


def query_options(function: F) -> F:
    """Add the argument and the options of a query."""
    decorators = [
        click.argument("filter", required=False, metavar="[FILTER]"),
        click.option(
            *("-w", "--where"),
            metavar="FORMAT",
            help="A predicate format in place of a filter: 'price > 3 AND name LIKE \"b*\"'.",
        ),
        click.option(
            "--arg",
            "arguments",
            multiple=True,
            metavar="JSON",
            help="A value for a %@ in the format; may be repeated.",
        ),
        click.option(
            *("-s", "--sort"), metavar="NAMES", help="Members to sort by, such as -price,name."
        ),
        click.option(
            "--collation",
            metavar="LOCALE",
            help="Compare and sort texts as a language does: a locale such as de, or JSON.",
        ),
        click.option("-f", "--fields", metavar="NAMES", help="Only these members, and _id."),
        click.option("-n", "--limit", type=click.IntRange(min=0), help="At most this many."),
        click.option("--skip", type=click.IntRange(min=0), help="Skip this many at the start."),
    ]
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def query_of(
    filter: str | None,
    where: str | None,
    arguments: tuple[str, ...],
    sort: str | None = None,
    collation: str | None = None,
    fields: str | None = None,
    limit: int | None = None,
    skip: int | None = None,
) -> Query:
    """Make the query that the options describe."""
    if filter is not None and where is not None:
        raise Failure("A filter and --where exclude each other.", Exit.USAGE)
    if arguments and where is None:
        raise Failure("--arg needs --where.", Exit.USAGE)
    modifiers: dict[str, Any] = {
        "sort": _order(sort),
        "collation": None if collation is None else value_of(collation),
        "fields": names_of(fields),
        "limit": limit,
        "skip": skip,
    }
    if where is not None:
        return Query.from_format(where, *map(value_of, arguments), **modifiers)
    members = None if filter is None else entity_from(filter, "a filter")
    return Query(members, **modifiers)


def value_of(text: str) -> Any:
    """Read an argument: JSON, or else a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def names_of(text: str | None) -> list[str] | None:
    """Return the names in a list with commas, or None for none."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _order(text: str | None) -> dict[str, int] | None:
    names = names_of(text)
    if names is None:
        return None
    return {name.removeprefix("-"): -1 if name.startswith("-") else 1 for name in names}


def complete_collection(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return the collections that begin with a text, for completion in the shell."""
    from .settings import names_of_collections

    try:
        with settings_of(context).local() as client:
            names = names_of_collections(client)
    except Exception:  # Completion in a shell shows no errors.
        return []
    return [name for name in names if name.startswith(incomplete)]


#: The collection that a command is about.
collection_argument = click.argument("collection", shell_complete=complete_collection)
#: Skips the confirmation.
yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
