/* libsodium: XChaCha20-Poly1305, Argon2id, and memory that is locked and wiped.
 *
 * The archive is linked, not the shared library: what libkvstore.so needs at run time stays what it is. */
#pragma once
#include <sodium.h>
