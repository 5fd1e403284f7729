"""Writes Sources/kvstore/startup.order: the functions that a program uses first, for the linker.

    scripts/startup_order.py          writes the list anew; takes a minute, and needs valgrind
    scripts/startup_order.py --check  fails if the library has lost many functions of the list

`make lib` must have run. The kernel maps whole pieces of a file around what is used: functions that
are used together take less memory when they stand together. One that is missing in the list, or in
the library, costs a page and nothing else, so the list may be older than the code.
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
ORDER = ROOT / "Sources" / "kvstore" / "startup.order"
#: The part of the list that must be in the library.
LEAST = 0.7

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


def symbols() -> set[str]:
    """Give the symbols of the library, which are in the file that was split off."""
    file = next(LIBRARY.glob("libkvstore.so.*.debug"))
    told = subprocess.run(
        ["nm", "--defined-only", str(file)], capture_output=True, text=True, check=True
    )
    return {line.split()[-1] for line in told.stdout.splitlines()}


def main(arguments: list[str]) -> int:
    if "--check" in arguments:
        listed = set(ORDER.read_text().split())
        part = len(listed & symbols()) / len(listed)
        if part < LEAST:
            print(f"{part:.0%} of the functions in {ORDER.name} are in the library: write it anew")
        return 0 if part >= LEAST else 1
    with tempfile.TemporaryDirectory() as scratch:
        used = used_functions(Path(scratch)) & symbols()
    ORDER.write_text("".join(f"{name}\n" for name in sorted(used)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
