#!/usr/bin/env python3
"""Writes startup.order of the library: the functions that a program uses first, for the linker.

    scripts/startup_order.py          writes the list anew; needs valgrind. Then `make lib`
    scripts/startup_order.py --check  says "together" if the library has them so

`make lib` must have run. The kernel maps whole pieces of a file around what is used: functions that
are used together take less memory when they stand together. One that is missing in the list costs
such a piece, 64 KiB, and nothing else, so the list may be a little older than the code.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "build" / "lib"
ORDER = ROOT / "Sources" / "Library" / "kvstore" / "startup.order"
#: The part of the list that must be in the library, and of the rooms' functions that must be within
#: so many bytes.
LEAST, WITHIN = 0.7, 1_500_000

#: What most programs do: open, save, find, ask.
PROGRAM = r"""
#include <kvstore.h>
#include <stdio.h>

#define MUST(call) if ((call) != KV_OK) return fprintf(stderr, "%s\n", kv_error_message(error)), 1

int main(int count, char **arguments) {
  kv_client *client;
  kv_store *store;
  kv_query *query;
  kv_cursor *cursor;
  kv_error *error = NULL;
  char options[1024], *json;
  const char *each;
  size_t length;
  int64_t found;
  if (count < 2) return 2;
  snprintf(options, sizeof options, "{\"appKey\":\"kid\",\"host\":null,\"dataDirectory\":\"%s\"}",
           arguments[1]);
  MUST(kv_client_open(options, KV_NUL_TERMINATED, &client, &error));
  MUST(kv_store_open(client, "books", "sync", NULL, &store, &error));
  MUST(kv_store_save(store, "{\"_id\":\"a\",\"pages\":1}", KV_NUL_TERMINATED, NULL, NULL, NULL,
                     &error));
  MUST(kv_store_save_many(store, "[{\"pages\":2},{\"pages\":3}]", KV_NUL_TERMINATED, NULL, NULL,
                          NULL, &error));
  MUST(kv_store_find_by_id(store, "a", NULL, &json, NULL, &error));
  kv_free(json);
  MUST(kv_query_create("{\"pages\":{\"$gt\":1}}", KV_NUL_TERMINATED, "{\"sort\":{\"pages\":1}}",
                       KV_NUL_TERMINATED, &query, &error));
  MUST(kv_store_count(store, query, NULL, &found, &error));
  MUST(kv_store_find(store, query, NULL, &cursor, &error));
  while (kv_cursor_next(cursor, &each, &length, &error) == KV_OK) continue;
  kv_cursor_close(cursor);
  kv_query_free(query);
  return kv_store_close(store) != KV_OK || kv_client_close(client) != KV_OK;
}
"""


def used_functions(scratch: Path) -> set[str]:
    """Run PROGRAM and give the functions of the library that it called, by their symbols."""
    source, program, profile = (scratch / name for name in ("used.c", "used", "profile"))
    source.write_text(PROGRAM)
    flags = [f"-I{ROOT}/include", f"-L{LIBRARY}", "-lkvstore"]
    subprocess.run(["gcc", "-O2", str(source), "-o", str(program), *flags], check=True)
    tool = ["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={profile}"]
    subprocess.run(
        [*tool, str(program), str(scratch / "data")],
        env=os.environ | {"LD_LIBRARY_PATH": str(LIBRARY)},
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return functions_in(profile.read_text())


def functions_in(profile: str) -> set[str]:
    """Give the functions of the library that a profile has costs of; names are compressed in it."""
    names: dict[tuple[str, str], str] = {}
    library, used = "", set()
    for line in profile.splitlines():
        found = re.match(r"c?(ob|fn)=\((\d+)\)(?: (.*))?$", line)
        if not found:
            continue
        kind, number, name = found.groups()
        if name:
            names[kind, number] = name
        if line.startswith("ob="):
            library = names[kind, number]
        elif line.startswith("fn=") and "libkvstore" in library:
            # A function that called itself is counted apart.
            used.add(names[kind, number].split("'")[0])
    return used


def symbols() -> dict[str, int]:
    """Give the addresses of the library's functions, from the file that was split off."""
    file = next(LIBRARY.glob("libkvstore.so.*.debug"))
    told = subprocess.run(
        ["nm", "--defined-only", str(file)], capture_output=True, text=True, check=True
    )
    words = [line.split(maxsplit=2) for line in told.stdout.splitlines()]
    return {name: int(address, 16) for address, _, name in words}


def complaint(listed: list[str], addresses: dict[str, int]) -> str:
    """Say what is wrong with the list, or with where its functions are; empty: nothing."""
    known = [name for name in listed if name in addresses]
    if not known or len(known) < LEAST * len(listed):
        return f"{len(known)} of {len(listed)} functions are in the library: the list is too old"
    # The standard library is one piece, which the linker cannot put in order.
    own = sorted(addresses[name] for name in known if re.match(r"\$s\d+KV", name))
    near = sum(address < own[0] + WITHIN for address in own) if own else 0
    if near <= LEAST * len(own):
        return f"{near} of {len(own)} functions stand together: the list was not used"
    return ""


def main(arguments: list[str]) -> int:
    if "--check" in arguments:
        found = complaint(ORDER.read_text().split(), symbols())
        print(found or "together")
        return 1 if found else 0
    with tempfile.TemporaryDirectory() as scratch:
        used = used_functions(Path(scratch)) & symbols().keys()
    if not used:
        print("no function of the library was called", file=sys.stderr)
        return 1
    ORDER.write_text("".join(f"{name}\n" for name in sorted(used)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
