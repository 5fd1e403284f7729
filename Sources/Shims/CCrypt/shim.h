/* libcrypt: password hashes (yescrypt). */
#pragma once
#include <crypt.h>
