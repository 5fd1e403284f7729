/* jansson: reads and writes the small JSON (options, filters, errors). */
#pragma once
#include <jansson.h>
