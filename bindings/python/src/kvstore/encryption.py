"""The encryption of local data: where its key comes from, and changing it."""

from __future__ import annotations

import base64
import ctypes
import os
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypedDict, Unpack

from . import _abi, _native
from ._callbacks import FREE_POINTER, look_up, refuse_coroutine, remember
from ._json import from_json
from ._option_types import ClientOptions
from ._options import encode_options, to_json, to_text
from .migration import naming_handler

_set_provider = _native.function("kv_client_set_key_provider")
_encrypt = _native.function("kv_encrypt")

#: A key: 32 bytes, their Base64, ``{"passphrase": "…"}`` or ``{"provider": "…"}``.
Key: TypeAlias = bytes | str | Mapping[str, str]

#: Gives the key of the data in a directory: 32 bytes, or a passphrase as a ``str``; None if there
#: is none.
KeyProvider: TypeAlias = Callable[[str], bytes | str | None]


class EncryptReport(TypedDict):
    """What :func:`encrypt` wrote."""

    #: How many files were written anew; those that were as they should be are not counted.
    files: int
    #: Their bytes.
    bytes: int


def key_option(key: Key) -> str | Mapping[str, str]:
    """Return a key in the form of the option ``encryptionKey``."""
    return base64.b64encode(key).decode() if isinstance(key, bytes) else key


def set_key_provider(name: str, provider: KeyProvider | None) -> None:
    """Set the function that gives keys to clients with ``encryption_key={"provider": name}``.

    It is called when the first file is opened, by the thread that opens it, and must not use the
    library. None removes the function; clients that are open keep their keys.
    """
    given = to_text(name, "name")
    if provider is None:
        _native.call(_set_provider, given, None, None, None)
        return
    refuse_coroutine(provider, "a key provider")
    token = remember(_Provider(provider))
    _native.call(_set_provider, given, ctypes.cast(_thunk, ctypes.c_void_p), token, FREE_POINTER)


def encrypt(key: Key | None, **options: Unpack[ClientOptions]) -> EncryptReport:
    """Encrypt local data that is not encrypted, encrypt it anew, or decrypt it (`key` None).

    `options` are those with which a client is opened on the data as it is. No client may have the
    data open: :class:`BusyError`. An interrupted call can be repeated. There must be room for a
    copy of the largest file.
    """
    new = None if key is None else to_json(key_option(key))
    with naming_handler(options) as named:
        text = encode_options(named) or b"{}"
        report: EncryptReport = from_json(
            _native.call_for_text(_encrypt, text, len(text), new, len(new or b""))
        )
    return report


class _Provider:
    def __init__(self, provider: KeyProvider) -> None:
        self.provider = provider

    def finish(self) -> None:
        """Nothing is left to do."""


def _on_key(token: int, directory: bytes, target: Any, capacity: int, length_out: int) -> int:
    host = look_up(token, _Provider)
    # An exception is printed by ctypes, and the caller is told that there is no key.
    key = None if host is None else host.provider(os.fsdecode(directory))
    if key is None:
        return _abi.KV_KEY_NONE
    if not isinstance(key, (bytes, bytearray, str)):
        raise TypeError(f"a key provider gives bytes or a str, not a {type(key).__name__}")
    kind = _abi.KV_KEY_PASSPHRASE if isinstance(key, str) else _abi.KV_KEY_BYTES
    secret = key.encode() if isinstance(key, str) else bytes(key)
    if len(secret) > capacity:
        return _abi.KV_KEY_NONE
    ctypes.memmove(target, secret, len(secret))
    ctypes.c_size_t.from_address(length_out).value = len(secret)
    return kind


_thunk: Final = _abi.KEY_FN(_on_key)
