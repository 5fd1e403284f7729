"""Keys of encrypted data, as the command line names them."""

from __future__ import annotations

import base64
import binascii
import subprocess
from pathlib import Path

import click

from ..encryption import Key
from .failures import Exit, Failure


def key_from(file: Path | None, command: str | None, *, prompts: bool, what: str) -> Key | None:
    """Return the key that a file has, that a command prints, or that a person types.

    None if none of them was asked for. `what` names the key in a prompt.
    """
    if sum((file is not None, command is not None, prompts)) > 1:
        raise Failure("Only one of the options can name a key.", Exit.USAGE)
    if file is not None:
        try:
            return _decoded(file.read_bytes(), str(file))
        except OSError as error:
            raise Failure(f"{file} cannot be read: {error.strerror}", Exit.USAGE) from error
    if command is not None:
        done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise Failure(f"The key's command ended with status {done.returncode}.", Exit.FAILED)
        return _decoded(done.stdout, "what the key's command has printed")
    if prompts:
        return {"passphrase": click.prompt(what, hide_input=True, err=True)}
    return None


def _decoded(content: bytes, what: str) -> bytes:
    """Read 32 bytes as they are, as 64 hexadecimal digits, or as Base64."""
    for key in (content, _hexadecimal(content), _base64(content)):
        if key is not None and len(key) == 32:
            return key
    raise Failure(
        f"{what} must be 32 bytes, as they are, as 64 hexadecimal digits, or as Base64.", Exit.USAGE
    )


def _hexadecimal(text: bytes) -> bytes | None:
    try:
        return bytes.fromhex(text.decode().strip())
    except ValueError:
        return None


def _base64(text: bytes) -> bytes | None:
    try:
        return base64.b64decode(text.strip(), validate=True)
    except binascii.Error:
        return None
