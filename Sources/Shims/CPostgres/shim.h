/* libpq: PostgreSQL's client library, for kvstored alone. */
#pragma once
#include <libpq-fe.h>
