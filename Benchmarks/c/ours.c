#include "ours.h"
#include "raw.h"

#include <stddef.h>

void must(kv_status status, kv_error *error) {
  if (status != KV_OK) raw_fail(kv_status_name(status), kv_error_json(error));
}

void save_batches(kv_store *store, const data *work) {
  kv_error *error = NULL;
  for (int i = 0; i < work->batch_count; i++)
    must(kv_store_save_many(store, work->batches[i], work->batch_lengths[i], NULL, NULL, NULL, &error),
         error);
}
