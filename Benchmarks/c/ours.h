/* What the programs that use our library share. */
#ifndef OURS_H
#define OURS_H

#include "data.h"

#include <kvstore.h>

/* Ends the program with the error, unless the call has succeeded. */
void must(kv_status status, kv_error *error);

/* Saves all entities, a batch with each call. */
void save_batches(kv_store *store, const data *work);

#endif
