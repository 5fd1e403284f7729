"""Certificate authorities for machines where the system has none."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path


def with_fallback(options: Mapping[str, object]) -> Mapping[str, object]:
    """Add the authorities of ``certifi``, if it is installed, to the options of a client.

    Only a client with a host needs them. The library trusts them where the system has none.
    """
    if "ca_fallback" in options or not (options.get("host") or options.get("instance_id")):
        return options
    file = _certifi()
    return options if file is None else {**options, "ca_fallback": file}


def _certifi() -> str | None:
    spec = importlib.util.find_spec("certifi")
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).with_name("cacert.pem")
    return str(file) if file.is_file() else None
