"""Commands for users."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from ...errors import NoUserError
from ..failures import Exit, Failure
from ..parameters import Command, Group, yes_option
from ..settings import Settings, entity_from, pass_settings
from .queue import confirm
from .reading import columns_of

_adopt_option = click.option(
    "--adopt",
    is_flag=True,
    help="Take over the local data and the pending writes of another user, whose account is gone.",
)


@click.command("login", cls=Command)
@click.argument("username")
@_adopt_option
@pass_settings
def login(settings: Settings, username: str, adopt: bool) -> None:
    """Log a user in. The session is kept in the store, for programs too.

    The command asks for the password. Without a terminal, it reads the password from
    KVSTORE_PASSWORD, or from the first line of the standard input.
    """
    with settings.online() as client:
        user = client.login(username, _password(), adopt=adopt)
    settings.out.done(f"{user.get('username')} is logged in.", user=user)


@click.command("signup", cls=Command)
@click.argument("username", required=False)
@_adopt_option
@pass_settings
def signup(settings: Settings, username: str | None, adopt: bool) -> None:
    """Create a user and log it in. Without a name, the backend generates one.

    The password is read as in login.
    """
    with settings.online() as client:
        password = None if username is None else _password()
        user = client.signup(username, password, adopt=adopt)
    settings.out.done(f"{user.get('username')} is signed up and logged in.", user=user)


def _password() -> str:
    """Read a password without showing it."""
    if (password := os.environ.get("KVSTORE_PASSWORD")) is not None:
        return password
    if sys.stdin.isatty():
        return str(click.prompt("Password", hide_input=True, err=True))
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise Failure("The standard input has no password.", Exit.USAGE)
    return password


@click.command("logout", cls=Command)
@click.option("--keep-data", is_flag=True, help="Keep the data, for this user.")
@click.option("--discard-pending", is_flag=True, help="Delete the data even if writes are pending.")
@yes_option
@pass_settings
def logout(settings: Settings, keep_data: bool, discard_pending: bool, yes: bool) -> None:
    """Log the user out, and delete the local data unless --keep-data is given."""
    confirm("Log out and delete the local data?", yes or keep_data)
    with settings.online() as client:
        client.logout(keep_data=keep_data, discard_pending=discard_pending)
    settings.out.done("Logged out.", loggedOut=True)


@click.group("users", cls=Group)
def users() -> None:
    """Show, change and delete the user who is logged in; find other users."""


@users.command("me")
@click.option("--stored", is_flag=True, help="Show the user as last read, without a request.")
@pass_settings
def me(settings: Settings, stored: bool) -> None:
    """Show the user who is logged in."""
    with settings.online() as client:
        user: Any = client.active_user if stored else client.me()
    if user is None:
        raise NoUserError({"status": 14, "name": "KV_NO_USER", "message": "No user is logged in."})
    settings.out.document(user)


@users.command("find")
@click.argument("members", metavar="[JSON]", required=False)
@click.option("--username", help="Users with this name.")
@click.option("--email", help="Users with this address.")
@pass_settings
def find(settings: Settings, members: str | None, username: str | None, email: str | None) -> None:
    """Find users who have all of these values. The backend decides what it shows of them."""
    wanted = {} if members is None else entity_from(members, "what users have")
    with settings.online() as client:
        found = client.users.lookup(wanted, username=username, email=email)
    settings.out.rows(found, columns_of(found), empty="No users.")


@users.command("exists")
@click.argument("username")
@pass_settings
def exists(settings: Settings, username: str) -> int:
    """Show whether a user name is taken. The exit code is 3 if it is not."""
    with settings.online() as client:
        taken = client.user_exists(username)
    settings.out.done("taken" if taken else "not taken", exists=taken)
    return int(Exit.DONE if taken else Exit.NOT_FOUND)


@users.command("update")
@click.argument("members", metavar="JSON")
@pass_settings
def update(settings: Settings, members: str) -> None:
    """Replace members of the user who is logged in."""
    with settings.online() as client:
        settings.out.document(client.update_user(entity_from(members, "a user")))


@users.command("delete")
@click.option("--hard", is_flag=True, help="Delete for good; otherwise the user is disabled.")
@yes_option
@pass_settings
def delete(settings: Settings, hard: bool, yes: bool) -> None:
    """Delete the user who is logged in, and the local data."""
    confirm("Delete the user and the local data?", yes)
    with settings.online() as client:
        client.delete_user(hard=hard)
    settings.out.done("The user was deleted.", deleted=True)
