/* PCRE2: regular expressions over UTF-8.
 *
 * The archive is linked, not the shared library: what libkvstore.so needs at run time stays what it is. */
#pragma once
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
