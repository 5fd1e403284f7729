#!/usr/bin/env python3
"""Writes a CycloneDX bill of materials beside a package: what is inside it, and what it needs.

    scripts/sbom.py VERSION PACKAGE [--processor arm64] [--inside NAME...]

PACKAGE is the file that the bill is of; the bill is PACKAGE.cdx.json. NAME is a package of this
machine's Debian, `swift` or `wslay`. What a Debian package needs stands in its fields Pre-Depends
and Depends: a package that is not installed is described by what apt knows of it, and one of the
same build by its version. What cannot be described is an error, so no bill leaves anything out.

With --processor the packages are those of build/sdk, and `swift` is the standard library there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: The licences of what is inside, in SPDX's words.
LICENCES = {
    "libcurl4-openssl-dev": "curl",
    "libjansson-dev": "MIT",
    "libmd-dev": "BSD-3-Clause AND BSD-2-Clause AND ISC",
    "libnghttp2-dev": "MIT",
    "libpcre2-dev": "BSD-3-Clause",
    "libsodium-dev": "ISC",
    "libsqlite3-dev": "blessing",
    "libssl-dev": "Apache-2.0",
    "libxxhash-dev": "BSD-2-Clause",
    "swift": "Apache-2.0 WITH Swift-exception",
    "wslay": "MIT",
    "zlib1g-dev": "Zlib",
}


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def attempt(*command: str) -> str:
    """Give what a command prints; nothing, if it fails or is missing."""
    try:
        return output(*command)
    except (subprocess.CalledProcessError, FileNotFoundError):
        return ""


def installed(name: str, processor: str) -> tuple[str, str] | None:
    """Give the source and its version of an installed package."""
    form = "${db:Status-Status} ${source:Package} ${source:Version}"
    where = ["--admindir", f"{sdk(processor)}/root/var/lib/dpkg"] if processor else []
    words = attempt("dpkg-query", *where, "-W", "-f", form + "\n", name).splitlines()
    state, source, version = (words or ["none - -"])[0].split()
    return (source, version) if state == "installed" else None


def sdk(processor: str) -> Path:
    return ROOT / "build" / "sdk" / processor


def offered(name: str) -> tuple[str, str] | None:
    """Give the source and its version of a package that apt would install."""
    shown = attempt("apt-cache", "show", "--no-all-versions", name)
    fields = dict(re.findall(r"^(Package|Source|Version): (.+)$", shown, re.MULTILINE))
    if fields.get("Package") != name or "Version" not in fields:
        return None
    source, _, version = fields.get("Source", name).partition(" ")
    # A package that was built again for other libraries has the source's version, and a number.
    return source, version.strip("()") or re.sub(r"\+b\d+$", "", fields["Version"])


def debian(name: str, origin: tuple[str, str]) -> dict[str, object]:
    """Describe a package of Debian by the source that it was made from."""
    source, version = origin
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


def inside(name: str, processor: str) -> dict[str, object]:
    if name == "swift" and processor:
        version = (sdk(processor) / "swiftlang-version").read_text().strip()
        return debian("swift", ("swiftlang", re.sub(r"\+b\d+$", "", version)))
    if name == "swift":
        (version,) = re.findall(r"Swift version (\S+)", output("swift", "--version"))
        purl = f"pkg:github/swiftlang/swift@swift-{version}-RELEASE"
        return component("swift", version, purl, LICENCES[name])
    if name == "wslay":
        return component(name, "1.1.1", "pkg:github/tatsuhiro-t/wslay@1.1.1", LICENCES[name])
    origin = installed(name, processor)
    if not origin:
        sys.exit(f"sbom.py: {name} is inside, and is not installed: its version is not known")
    return debian(name, origin)


def needed(package: Path, version: str, processor: str) -> list[dict[str, object]]:
    """Describe the packages that a Debian package depends on."""
    fields = [output("dpkg-deb", "--field", str(package), f"{pre}Depends") for pre in ("Pre-", "")]
    entries = [entry.strip() for field in fields for entry in field.split(",")]
    return [required(entry, package, version, processor) for entry in entries if entry]


def required(entry: str, package: Path, version: str, processor: str) -> dict[str, object]:
    """Describe the first of the alternatives of a dependency that can be described."""
    names = [re.split(r"[ (:]", choice.strip())[0] for choice in entry.split("|")]
    for name in names:
        if any(package.parent.glob(f"{name}_*.deb")):
            return component(name, version, f"pkg:generic/{name}@{version}", "MIT")
        if origin := installed(name, processor) or offered(name):
            return debian(name, origin)
    sys.exit(
        f"sbom.py: {package.name} needs {' or '.join(names)}, which is not installed, and apt does"
        " not know it: install it, or run apt-get update"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("version")
    parser.add_argument("package", type=Path)
    parser.add_argument("--processor", default="")
    parser.add_argument("--inside", nargs="*", default=[])
    choice = parser.parse_args()
    package: Path = choice.package
    needs = needed(package, choice.version, choice.processor) if package.suffix == ".deb" else []
    content = package.read_bytes()
    itself = f"pkg:generic/{package.name.split('_')[0].split('-')[0]}@{choice.version}"
    contained = [inside(name, choice.processor) for name in choice.inside]
    parts = {
        str(part["bom-ref"]): part
        for part in [need | {"scope": "required"} for need in needs] + contained
    }
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
