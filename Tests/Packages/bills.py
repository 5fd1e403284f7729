"""Bills of materials beside packages, as a reader of CycloneDX's schema sees them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

#: What each binary of ours has inside.
ALWAYS = {"swift", "wslay", "pcre2", "libmd", "xxhash"}


def components(package: Path) -> set[str]:
    """Check the bill of a package, and give the names of what it contains or needs."""
    text = package.with_name(f"{package.name}.cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    (digest,) = bill["metadata"]["component"]["hashes"]
    assert digest["content"] == hashlib.sha256(package.read_bytes()).hexdigest()
    assert all(part["version"] and part["purl"] for part in bill["components"])
    return {part["name"] for part in bill["components"]}
