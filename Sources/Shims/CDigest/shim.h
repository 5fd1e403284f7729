/* libmd: SHA-1 and SHA-256, as the BSD systems have them.
 *
 * The archive is linked, not the shared library: what libkvstore.so needs at run time stays what it is. */
#pragma once
#include <stdint.h>
#include <sys/types.h>
#include <sha1.h>
#include <sha256.h>
