/* libmicrohttpd: the HTTP side of kvstored. */
#pragma once
#include <microhttpd.h>
