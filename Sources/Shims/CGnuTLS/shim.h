/* GnuTLS: digests, seals, and signatures of others. What TLS needs of it comes with libmicrohttpd. */
#pragma once
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

/* Frees what the library has made: its own function for that is a variable, which Swift does not take. */
static inline void kv_gnutls_free(void *memory) { gnutls_free(memory); }
