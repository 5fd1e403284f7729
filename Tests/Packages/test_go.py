"""The Go module, as a program gets it: by its tag, with the library inside, or with a refusal."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from bills import ALWAYS, components

ROOT = Path(__file__).resolve().parents[2]
BINDING = ROOT / "bindings" / "go"
MODULE = "github.com/libkvstore/libkvstore/bindings/go"
VERSION = ".".join(
    re.findall(
        r"define KV_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (ROOT / "include/kvstore.h").read_text()
    )
)

#: Variables of the environment.
Variables = dict[str, str] | None

PROGRAM = f"""
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"{MODULE}"
)

type note struct {{
	ID   string `json:"_id"`
	Text string `json:"text"`
}}

func main() {{
	options := kvstore.Options{{AppKey: "kid", LocalOnly: true, DataDirectory: os.Args[1]}}
	client, err := kvstore.Open(options)
	if err != nil {{
		log.Fatal(err)
	}}
	defer client.Close()
	notes, err := kvstore.OpenCollection[note](client, "notes", kvstore.Sync)
	if err != nil {{
		log.Fatal(err)
	}}
	if _, err := notes.Save(context.Background(), note{{"a", "milk"}}); err != nil {{
		log.Fatal(err)
	}}
	found, err := notes.Get(context.Background(), "a")
	fmt.Println(found.Text, err)
}}
"""

#: A module with the program, before it says where ours is.
MODULE_FILES = {"main.go": PROGRAM, "go.mod": "module program\n\ngo 1.19\n"}


def go(directory: Path, *words: str, fails: bool = False, variables: Variables = None) -> str:
    """Give what the go command prints; it has to fail, or not to. No network."""
    caches = {"GOCACHE": str(ROOT / "build/go-cache"), "GOPATH": str(directory / "gopath")}
    modules = {"GOPROXY": "off", "GONOSUMDB": "*", "GONOSUMCHECK": "1", "GOFLAGS": "-modcacherw"}
    done = subprocess.run(
        ["go", *words],
        cwd=directory,
        env=os.environ | caches | modules | (variables or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) == fails, done.stdout
    return done.stdout


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Give the directory of a program that imports the module."""
    directory = tmp_path / "program"
    directory.mkdir()
    for name, text in MODULE_FILES.items():
        (directory / name).write_text(text)
    return directory


def with_checkout(program: Path, binding: Path = BINDING) -> None:
    """Let a program use the module in a checkout."""
    with (program / "go.mod").open("a") as file:
        file.write(f"\nrequire {MODULE} v{VERSION}\n\nreplace {MODULE} => {binding}\n")


def test_go_get_finds_the_version_of_a_tag(program: Path, tmp_path: Path) -> None:
    """The repository is where the path says, here a copy of it; the tag names the folder."""
    repository = tmp_path / "repository"
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(repository)]
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    shutil.copytree(BINDING, repository / "bindings/go", ignore=shutil.ignore_patterns("static"))
    shutil.copy(ROOT / "LICENSE", repository)
    subprocess.run([*git, "add", "--all"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "release"], check=True)
    subprocess.run([*git, "tag", f"bindings/go/v{VERSION}"], check=True)
    instead = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{repository}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/libkvstore/libkvstore",
    }
    go(program, "get", f"{MODULE}@v{VERSION}", variables=instead | {"GOPROXY": "direct"})
    assert f"{MODULE} v{VERSION}" in (program / "go.mod").read_text()
    go(program, "build", "-mod=mod", "-o", "program", ".")
    done = subprocess.run([program / "program", tmp_path / "data"], capture_output=True, check=True)
    assert done.stdout == b"milk <nil>\n"


def test_a_static_program_needs_no_library(program: Path, tmp_path: Path) -> None:
    """It contains ours, SQLite and libcurl; `make go-static` has left them."""
    with_checkout(program)
    go(
        program,
        "build",
        "-tags",
        "kvstore_static",
        "-o",
        "program",
        ".",
        variables={"PKG_CONFIG_PATH": ""},
    )
    environment = {"PATH": os.environ["PATH"]}
    needed = subprocess.run(
        ["ldd", program / "program"], capture_output=True, text=True, check=True, env=environment
    )
    for library in ("kvstore", "sqlite", "curl", "jansson", "ssl", "stdc++"):
        assert library not in needed.stdout
    done = subprocess.run(
        [program / "program", tmp_path / "data"], capture_output=True, check=True, env=environment
    )
    assert done.stdout == b"milk <nil>\n"


def test_a_bill_beside_the_archive_names_what_is_inside() -> None:
    processor = go(BINDING, "env", "GOARCH").strip()
    inside = components(BINDING / "static" / processor / "libkvstore.a")
    assert inside >= ALWAYS | {"curl", "sqlite3", "jansson", "openssl", "nghttp2", "zlib"}


def test_without_the_archive_the_build_says_what_to_do(program: Path, tmp_path: Path) -> None:
    """As in a module that came by go get."""
    binding = tmp_path / "binding"
    shutil.copytree(BINDING, binding, ignore=shutil.ignore_patterns("static"))
    with_checkout(program, binding)
    said = go(program, "build", "-tags", "kvstore_static", ".", fails=True)
    assert "make go-static" in said


def test_without_cgo_the_build_says_what_to_do(program: Path) -> None:
    """Nothing else is said: no list of names that are missing."""
    with_checkout(program)
    said = go(program, "build", ".", fails=True, variables={"CGO_ENABLED": "0"})
    assert "set_CGO_ENABLED_to_1_and_install_a_C_compiler" in said
    assert "undefined" not in said
