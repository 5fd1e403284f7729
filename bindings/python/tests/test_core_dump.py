"""What a core dump of a process with open encrypted data has."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from test_encrypted_format import derived, header_of, master_key, open_sealed

MARKER = "entity-that-is-in-the-page-cache"

#: Gives the key byte by byte, so that this process has it nowhere but where the library wants it.
PROGRAM = """
import ctypes, os, sys
import kvstore
from kvstore import _abi, _native

directory, kind, size, factor = sys.argv[1], *map(int, sys.argv[2:5])

def give(token, directory, target, capacity, length_out):
    for index in range(size):
        ctypes.c_ubyte.from_address(target + index).value = (index * factor + 65) & 127
    ctypes.c_size_t.from_address(length_out).value = size
    return kind

thunk = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t,
    ctypes.c_void_p)(give)
set_provider = _native.function("kv_client_set_key_provider")
_native.call(set_provider, b"own", ctypes.cast(thunk, ctypes.c_void_p), None, None)
client = kvstore.Client(
    app_key="app", host=None, data_directory=directory, encryption_key={"provider": "own"})
notes = client.collection("notes")
notes.save_many([{"_id": str(n), "text": sys.argv[5]} for n in range(500)])
assert notes.count() == 500
assert len(list(notes.find({"text": {"$regex": "^entity"}}))) == 500
client.change_key({"provider": "own"}, name="again")
print("open", flush=True)
sys.stdin.read()
"""


def secret(size: int, factor: int) -> bytes:
    return bytes((index * factor + 65) & 127 for index in range(size))


def dump(directory: Path, kind: int, size: int, factor: int) -> bytes:
    """Run the program, and give its memory as a core dump has it."""
    words = [str(directory / "data"), str(kind), str(size), str(factor), MARKER]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=directory,
    ) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == b"open\n"
            subprocess.run(
                ["gcore", "-o", str(directory / "core"), str(child.pid)],
                check=True,
                capture_output=True,
                timeout=120,
            )
        finally:
            child.kill()
    [core] = directory.glob("core.*")
    return core.read_bytes()


def keys_of(directory: Path, slot_key: Callable[[bytes], bytes]) -> dict[str, bytes]:
    """Give all keys that a file's content is encrypted with, by what they are."""
    file = next(directory.rglob("kinvey.kvs")).read_bytes()
    header = header_of(file)
    key = slot_key(header)
    identity = header[16:24] + header[32:48]
    master = master_key_of(header, key)
    data_key = hashlib.blake2b(identity, digest_size=32, key=master).digest()
    return {
        "the key": key,
        "the key of slots": derived(key, 4),
        "the master key": master,
        "the key of checks": derived(master, 4),
        "the data key": data_key,
        "the key of pages": derived(data_key, 1),
        "the key of the log": derived(data_key, 2),
    }


def master_key_of(header: bytes, key: bytes) -> bytes:
    slot = header[88 : 88 + 192]
    if slot[0] == 1:
        return master_key(header, key)
    additional = header[16:24] + bytes([0]) + slot[:32] + slot[104:136]
    return open_sealed(derived(key, 4), slot[32:56], slot[56:72], slot[72:104], additional)


def parts(key: bytes) -> list[bytes]:
    """Give the halves of a key: half of one must not be there either."""
    return [key[:16], key[16:32]]


def test_a_core_dump_has_entities_but_no_key(tmp_path: Path) -> None:
    given = secret(32, 7)
    core = dump(tmp_path, 1, 32, 7)
    # It is a dump of the heap, or nothing would be proved.
    assert MARKER.encode() in core
    for name, key in keys_of(tmp_path, lambda _: given).items():
        assert not [part for part in parts(key) if part in core], name


def test_a_core_dump_has_no_passphrase(tmp_path: Path) -> None:
    given = secret(40, 11)
    core = dump(tmp_path, 2, 40, 11)
    assert MARKER.encode() in core
    assert given[:16] not in core
    assert given[16:32] not in core
    assert given[24:] not in core
