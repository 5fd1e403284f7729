/* SQLite's C interface, with a typed name for each macro that Swift cannot import. */
#pragma once
#include <sqlite3.h>
