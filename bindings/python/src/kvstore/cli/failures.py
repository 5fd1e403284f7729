"""Exit codes, and errors as one line in plain English."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import click

from .. import errors


class Exit(IntEnum):
    """The exit codes of the tool; the manual lists them."""

    DONE = 0
    #: The operation failed for a reason that no other code names.
    FAILED = 1
    #: The command line is not valid.
    USAGE = 2
    #: No such store, collection, entity, index or pending write.
    NOT_FOUND = 3
    #: A conflict, or writes that were refused or are still waiting.
    UNSETTLED = 4
    #: No user is logged in, or the user may not do this.
    NOT_ALLOWED = 5
    #: The backend did not answer, or not in time.
    NO_ANSWER = 6
    #: The file is damaged.
    DAMAGED = 7
    #: The data is encrypted with another key, or no key was named.
    WRONG_KEY = 8
    #: Ctrl-C ended the command.
    INTERRUPTED = 130
    #: The reader has closed the output.
    BROKEN_PIPE = 141


#: The meaning of each code, for the manual.
MEANINGS = {
    Exit.DONE: "Done.",
    Exit.FAILED: "The operation failed for a reason that no other code names.",
    Exit.USAGE: "The command line, a filter or a value is not valid.",
    Exit.NOT_FOUND: "There is no such store, entity, index or pending write.",
    Exit.UNSETTLED: "A conflict, or writes that were refused or are still waiting.",
    Exit.NOT_ALLOWED: "No user is logged in, or the user may not do this.",
    Exit.NO_ANSWER: "The backend did not answer, or not in time.",
    Exit.DAMAGED: "The file is damaged.",
    Exit.WRONG_KEY: "The data is encrypted with another key, or no key was named.",
    Exit.INTERRUPTED: "Ended by Ctrl-C.",
    Exit.BROKEN_PIPE: "The reader has closed the output.",
}

_CODES: list[tuple[type[errors.KVError], Exit]] = [
    (errors.InvalidError, Exit.USAGE),
    (errors.NotFoundError, Exit.NOT_FOUND),
    (errors.ConflictError, Exit.UNSETTLED),
    (errors.PendingError, Exit.UNSETTLED),
    (errors.NoUserError, Exit.NOT_ALLOWED),
    (errors.UnauthorizedError, Exit.NOT_ALLOWED),
    (errors.ForbiddenError, Exit.NOT_ALLOWED),
    (errors.NetworkError, Exit.NO_ANSWER),
    (errors.TimeoutError, Exit.NO_ANSWER),
    (errors.CorruptError, Exit.DAMAGED),
    (errors.WrongKeyError, Exit.WRONG_KEY),
]


#: The error that newer versions of click raise instead of printing the help.
_NO_COMMAND: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())


class Failure(click.ClickException):
    """A failure that is reported to the user, with an exit code of :class:`Exit`."""

    def __init__(self, message: str, code: Exit = Exit.FAILED) -> None:
        super().__init__(message)
        self.code = code


def code_of(error: errors.KVError) -> Exit:
    """Return the exit code of an error of the library."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), Exit.FAILED)


def report(error: Exception, *, as_json: bool = False) -> int:
    """Print an error to standard error, as one line; return the exit code.

    For a group that was called without a command, the help is printed.
    """
    if isinstance(error, _NO_COMMAND):
        print(error.format_message(), file=sys.stderr)
        return int(Exit.USAGE)
    if isinstance(error, errors.KVError):
        code, text, details = int(code_of(error)), str(error), error.details
    elif isinstance(error, Failure):
        code, text, details = int(error.code), error.message, {}
    elif isinstance(error, click.ClickException):
        code, text, details = error.exit_code, error.format_message(), {}
    else:
        code, text, details = int(Exit.FAILED), _described(error), {}
    say(" ".join(text.split()), details, as_json=as_json, code=code, hint=_hint(error))
    return code


def say(
    text: str,
    details: Mapping[str, Any],
    *,
    as_json: bool,
    code: int | None = None,
    hint: str = "",
) -> None:
    """Write a problem to standard error: a line for people, or an object for programs."""
    if as_json:
        problem: dict[str, Any] = {"error": {"message": text, **details}}
        line = json.dumps(problem if code is None else {**problem, "exitCode": code})
    else:
        line = f"kvstore: {text}{hint}"
    print(line, file=sys.stderr)


def _described(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _hint(error: Exception) -> str:
    """Return a hint at the help, for a command line that is not valid."""
    context: Any = getattr(error, "ctx", None)
    if isinstance(error, click.UsageError) and context is not None:
        return f" Try: {context.command_path} --help"
    return ""
