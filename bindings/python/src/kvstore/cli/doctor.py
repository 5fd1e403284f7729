"""The checks of ``kvstore doctor``."""

from __future__ import annotations

import os
import platform
import shutil
import ssl
import stat
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from .. import __version__, _native
from ..errors import KVError
from .damage import damage_of, summary
from .failures import Failure
from .output import counted, human_bytes
from .settings import Settings, status_of

#: The seconds by which the clocks may differ.
_APART = 60
#: A certificate that is valid for fewer days than this is a warning.
_FEW_DAYS = 14
_LEAST_FREE = 64 * 1024 * 1024


@dataclass(frozen=True)
class Check:
    """One check and its result."""

    name: str
    result: Literal["ok", "warning", "failed", "unknown"]
    detail: str


def examine(settings: Settings) -> Iterator[Check]:
    """Run all checks. If something cannot be checked, only that check fails."""
    yield Check("tool", "ok", f"{__version__}, Python {platform.python_version()}")
    yield Check("library", "ok", f"{_native.version()}, {_native.path()}")
    yield Check("system", "ok", platform.platform())
    yield from _store(settings)
    if settings.host is None:
        yield Check("backend", "unknown", "no --host was given")
        return
    yield _backend(settings)
    yield from _clock_and_certificate(settings, settings.host)


def _store(settings: Settings) -> Iterator[Check]:
    try:
        location = settings.location()
    except Failure as error:
        yield Check("file", "failed", error.message)
        return
    yield _file(location.file)
    free = shutil.disk_usage(location.file.parent).free
    yield Check("disk", "ok" if free > _LEAST_FREE else "warning", f"{human_bytes(free)} free")
    try:
        with settings.local() as client:
            status = status_of(client)
            damages = list(damage_of(client))
    except KVError as error:
        yield Check("store", "failed", str(error))
        return
    count = counted(len(status.collections), "collection")
    words = f"{count}, {status.waiting} waiting, {status.quarantined} quarantined"
    yield Check("store", "warning" if status.quarantined else "ok", words)
    if damages:
        yield Check("entities", "failed", summary(damages))
    else:
        yield Check("entities", "ok", "all readable")


def _file(file: Path) -> Check:
    """Check the file before the library opens it: closing it afterwards would drop locks."""
    with file.open("rb") as opened:
        header = opened.read(72)
    facts = file.stat()
    is_encrypted = header.startswith(b"kvstore sealed\r\n")
    version = int.from_bytes(header[60:64], "big")
    what = "encrypted" if is_encrypted else f"schema {version}"
    words = f"{file}, {human_bytes(facts.st_size)}, {what}"
    log = file.with_name(file.name + "-wal")
    if log.exists():
        words += f", log {human_bytes(log.stat().st_size)}"
    if not is_encrypted and header[68:72] != b"KVS1":
        return Check("file", "failed", f"{words}: not a file of libkvstore")
    if stat.S_IMODE(facts.st_mode) & 0o077:
        return Check("file", "warning", f"{words}: users other than its owner may access it")
    if not os.access(file, os.W_OK):
        return Check("file", "warning", f"{words}: read-only")
    return Check("file", "ok", words)


def _backend(settings: Settings) -> Check:
    try:
        with settings.online() as client:
            start = time.monotonic()
            answer = client.ping()
            milliseconds = (time.monotonic() - start) * 1000
            user = client.active_user
    except (KVError, Failure) as error:
        return Check("backend", "failed", error.message)
    who = "no user logged in" if user is None else f"{user.get('username')} logged in"
    version = answer.get("version", "unknown version")
    return Check("backend", "ok", f"{settings.host}, {version}, {milliseconds:.0f} ms, {who}")


def _clock_and_certificate(settings: Settings, host: str) -> Iterator[Check]:
    """Ask the backend for the time, over a separate connection."""
    try:
        certificates = ssl.create_default_context(cafile=settings.ca_file)
    except OSError as error:
        words = f"{settings.ca_file} cannot be read: {error.strerror or error}"
        yield Check("certificate", "failed", words)
        return
    try:
        yield _clock(host, certificates)
    except OSError as error:
        yield Check("clock", "unknown", str(error))
    if urlsplit(host).scheme == "https":
        try:
            yield _certificate(host, certificates)
        except ssl.SSLCertVerificationError as error:
            yield Check("certificate", "failed", _untrusted(error))
        except OSError as error:
            yield Check("certificate", "failed", str(error))


#: What OpenSSL's codes mean for the one who runs the backend.
_REASONS = {
    10: "has expired: renew it",
    9: "is not valid yet: look at the clocks",
    18: "is self-signed: give its file by --ca-file, if you know that it is the backend's",
    19: "was signed by an authority that is not trusted: give its file by --ca-file",
    20: "was signed by an authority that is not trusted: give its file by --ca-file",
    62: "is of another host: use the name that it has",
    64: "is of another address: use the name that it has",
}


def _untrusted(error: ssl.SSLCertVerificationError) -> str:
    reason = _REASONS.get(error.verify_code, "is not trusted")
    return f"it {reason} ({error.verify_message})"


def _clock(host: str, certificates: ssl.SSLContext) -> Check:
    try:
        answer = urllib.request.urlopen(host, timeout=10, context=certificates)
    except urllib.error.HTTPError as error:
        # An error response has the time as well.
        answer = error
    with answer:
        date = answer.headers.get("Date")
    if date is None:
        return Check("clock", "unknown", "the backend does not report the time")
    apart = time.time() - parsedate_to_datetime(date).timestamp()
    words = f"{abs(apart):.0f} s {'ahead of' if apart > 0 else 'behind'} the backend's"
    return Check("clock", "ok" if abs(apart) <= _APART else "warning", words)


def _certificate(host: str, certificates: ssl.SSLContext) -> Check:
    import socket

    address = urlsplit(host)
    where = (address.hostname or "", address.port or 443)
    with (
        socket.create_connection(where, timeout=10) as plain,
        certificates.wrap_socket(plain, server_hostname=address.hostname) as secure,
    ):
        found = secure.getpeercert() or {}
    days = (ssl.cert_time_to_seconds(str(found["notAfter"])) - time.time()) / 86400
    return Check(
        "certificate", "ok" if days > _FEW_DAYS else "warning", f"valid for {days:.0f} days"
    )
