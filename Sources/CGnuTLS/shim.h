/* GnuTLS: digests. What TLS needs of it comes with libmicrohttpd. */
#pragma once
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
