"""The format of encrypted files, read without the library, as docs/storage.md describes it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

import kvstore

KEY = bytes(range(32))
HEADER, PAGE, OVERHEAD = 4096, 4096, 40


def h_chacha20(key: bytes, nonce: bytes) -> bytes:
    """Derive a key from one and 16 bytes of a nonce: draft-irtf-cfrg-xchacha-03, section 2.2."""
    words = list(struct.unpack("<16I", b"expand 32-byte k" + key + nonce))

    def quarter(a: int, b: int, c: int, d: int) -> None:
        for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            words[x] = (words[x] + words[y]) & 0xFFFFFFFF
            mixed = words[z] ^ words[x]
            words[z] = (mixed << bits | mixed >> (32 - bits)) & 0xFFFFFFFF

    for _ in range(10):
        quarter(0, 4, 8, 12)
        quarter(1, 5, 9, 13)
        quarter(2, 6, 10, 14)
        quarter(3, 7, 11, 15)
        quarter(0, 5, 10, 15)
        quarter(1, 6, 11, 12)
        quarter(2, 7, 8, 13)
        quarter(3, 4, 9, 14)
    return struct.pack("<8I", *words[:4], *words[12:])


def open_sealed(key: bytes, nonce: bytes, tag: bytes, sealed: bytes, additional: bytes) -> bytes:
    cipher = ChaCha20Poly1305(h_chacha20(key, nonce[:16]))
    return cipher.decrypt(bytes(4) + nonce[16:], sealed + tag, additional)


def derived(key: bytes, number: int) -> bytes:
    salt = number.to_bytes(8, "little").ljust(16, b"\0")
    return hashlib.blake2b(
        b"", digest_size=32, key=key, salt=salt, person=b"kvstore ".ljust(16, b"\0")
    ).digest()


def header_of(file: bytes) -> bytes:
    copies = [file[:HEADER], file[HEADER : 2 * HEADER]]
    for copy in copies:
        assert copy[:16] == b"kvstore sealed\r\n"
        assert hashlib.blake2b(copy[:4064], digest_size=32).digest() == copy[4064:]
    return max(copies, key=lambda copy: struct.unpack_from(">Q", copy, 24))


def master_key(header: bytes, key: bytes) -> bytes:
    slot = header[88 : 88 + 192]
    assert slot[0] == 1
    additional = header[16:24] + bytes([0]) + slot[:32] + slot[104:136]
    return open_sealed(derived(key, 4), slot[32:56], slot[56:72], slot[72:104], additional)


def opened_page(key: bytes, id: bytes, number: int, page: bytes) -> bytes:
    body, tail = page[:-OVERHEAD], page[-OVERHEAD:]
    additional = id + number.to_bytes(8, "big")
    return open_sealed(key, tail[:24], tail[24:], body, additional) + bytes(OVERHEAD)


def test_a_file_is_read_by_its_description(tmp_path: Path) -> None:
    with kvstore.Client(
        app_key="app", host=None, data_directory=str(tmp_path), encryption_key=KEY
    ) as client:
        notes = client.collection("notes")
        notes.save_many([{"_id": str(n), "text": f"note {n}"} for n in range(300)])
    file = next(tmp_path.rglob("kinvey.kvs")).read_bytes()
    header = header_of(file)
    id, identity = header[32:48], header[16:24] + header[32:48]
    master = master_key(header, KEY)
    check = header[48:88]
    assert open_sealed(derived(master, 4), check[:24], check[24:], b"", identity) == b""
    data_key = hashlib.blake2b(identity, digest_size=32, key=master).digest()
    pages = derived(data_key, 1)
    plain = b"".join(
        opened_page(pages, id, number, file[start : start + PAGE])
        for number, start in enumerate(range(2 * HEADER, len(file), PAGE), start=1)
    )
    copy = tmp_path / "plain.db"
    copy.write_bytes(plain)
    with sqlite3.connect(f"file:{copy}?immutable=1", uri=True) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert plain[20] == OVERHEAD
        rows = database.execute("SELECT body FROM e1 ORDER BY n").fetchall()
    texts = [json.loads(row[0]).get("text") for row in rows if row[0]]
    assert "note 7" in texts


def test_a_salvaged_file_is_read_by_its_description(tmp_path: Path) -> None:
    options = {"app_key": "app", "host": None, "data_directory": str(tmp_path)}
    with kvstore.Client(**options, encryption_key=KEY) as client:  # type: ignore[arg-type]
        client.collection("notes").save_many([{"text": f"note {n}"} for n in range(300)])
    report = kvstore.salvage(tmp_path / "saved", **options, encryption_key=KEY)  # type: ignore[arg-type]
    file = (tmp_path / "saved" / report["collections"]["notes"]["file"]).read_bytes()
    header = header_of(file)
    identity = header[16:24] + header[32:48]
    data_key = hashlib.blake2b(identity, digest_size=32, key=master_key(header, KEY)).digest()
    blocks = derived(data_key, 6)
    text = b""
    for number, start in enumerate(range(2 * HEADER, len(file), OVERHEAD + 4096)):
        block = file[start : start + OVERHEAD + 4096]
        additional = header[32:48] + number.to_bytes(8, "big")
        text += open_sealed(blocks, block[:24], block[24:40], block[40:], additional)
    assert (len(file) - 2 * HEADER) % (OVERHEAD + 4096) > 0
    assert len(text.splitlines()) == 300
