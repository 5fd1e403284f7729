#!/usr/bin/env python3
"""Writes a CycloneDX bill of materials beside a package: what is inside it, and what it needs.

    scripts/sbom.py VERSION PACKAGE [--inside NAME...]

PACKAGE is the file that the bill is of; the bill is PACKAGE.cdx.json. NAME is a package of this
machine's Debian, `swift` or `wslay`. What a Debian package needs stands in its field Depends.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import uuid
from pathlib import Path

#: The licences of what is inside, in SPDX's words.
LICENCES = {
    "libcurl4-openssl-dev": "curl",
    "libjansson-dev": "MIT",
    "libmd-dev": "BSD-3-Clause AND BSD-2-Clause AND ISC",
    "libnghttp2-dev": "MIT",
    "libpcre2-dev": "BSD-3-Clause",
    "libsqlite3-dev": "blessing",
    "libssl-dev": "Apache-2.0",
    "libxxhash-dev": "BSD-2-Clause",
    "swift": "Apache-2.0 WITH Swift-exception",
    "wslay": "MIT",
    "zlib1g-dev": "Zlib",
}


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def debian(name: str) -> dict[str, object]:
    """Describe an installed package of Debian by the source that it was made from."""
    source, version = output(
        "dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", name
    ).split()
    return component(
        source,
        version,
        f"pkg:deb/debian/{source}@{version.replace('+', '%2B')}?arch=source",
        # The runtime of C++ has an exception for what is linked with it.
        "GPL-3.0-or-later WITH GCC-exception-3.1"
        if name.startswith("libstdc++")
        else LICENCES.get(name),
    )


def component(name: str, version: str, purl: str, licence: str | None) -> dict[str, object]:
    found: dict[str, object] = {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
    }
    if licence:
        found["licenses"] = [{"expression": licence}]
    return found


def inside(name: str) -> dict[str, object]:
    if name == "swift":
        (version,) = re.findall(r"Swift version (\S+)", output("swift", "--version"))
        purl = f"pkg:github/swiftlang/swift@swift-{version}-RELEASE"
        return component("swift", version, purl, LICENCES[name])
    if name == "wslay":
        return component(name, "1.1.1", "pkg:github/tatsuhiro-t/wslay@1.1.1", LICENCES[name])
    return debian(name)


def needed(package: Path) -> list[str]:
    """Give the names of the packages that a Debian package depends on and that this machine has."""
    depends = output("dpkg-deb", "--field", str(package), "Depends")
    names = [re.split(r"[ (:|]", entry.strip())[0] for entry in depends.split(",") if entry.strip()]
    installed = set(output("dpkg-query", "-W", "-f", "${Package}\n").split())
    return [name for name in names if name in installed]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("version")
    parser.add_argument("package", type=Path)
    parser.add_argument("--inside", nargs="*", default=[])
    choice = parser.parse_args()
    package: Path = choice.package
    needs = needed(package) if package.suffix == ".deb" else []
    content = package.read_bytes()
    itself = f"pkg:generic/{package.name.split('_')[0].split('-')[0]}@{choice.version}"
    contained = [inside(name) for name in choice.inside]
    required = [debian(name) | {"scope": "required"} for name in needs]
    parts = {str(part["bom-ref"]): part for part in required + contained}
    digest = hashlib.sha256(content).hexdigest()
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        # The same bill for the same package.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {
            "component": component(package.name, choice.version, itself, "MIT")
            | {"type": "file", "hashes": [{"alg": "SHA-256", "content": digest}]}
        },
        "components": list(parts.values()),
        "dependencies": [
            {"ref": itself, "dependsOn": sorted(parts)},
            *({"ref": ref} for ref in sorted(parts)),
        ],
    }
    package.with_name(f"{package.name}.cdx.json").write_text(json.dumps(bill, indent=1) + "\n")


if __name__ == "__main__":
    main()
