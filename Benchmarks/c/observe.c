/* What a change costs whoever follows a query over local data.
 *
 *   observe DIRECTORY COUNT CHANGES OBSERVED
 *
 * Prints for each of CHANGES single saves among COUNT entities the microseconds of the save, and until the observer was
 * told (0 without one). Each change moves an entity in the order of the query. */
#include "data.h"
#include "ours.h"
#include "raw.h"

#include <kvstore.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct watcher {
  sem_t received;
  double at;
} watcher;

static void on_event(void *context, const kv_event *event) {
  watcher *watch = context;
  if (event->status != KV_OK) raw_fail("observer", kv_error_message(event->error));
  watch->at = data_now();
  sem_post(&watch->received);
}

static void fill(kv_store *store, int count) {
  data work;
  data_make(&work, count, 1);
  save_batches(store, &work);
  data_free(&work);
}

int main(int count, char **arguments) {
  if (count != 5) raw_fail(arguments[0], "DIRECTORY COUNT CHANGES OBSERVED");
  char text[512];
  kv_client *client;
  kv_store *store;
  kv_query *query;
  kv_error *error = NULL;
  watcher watch = {.at = 0};
  unsigned state = 3;
  const int is_observed = atoi(arguments[4]);
  snprintf(text, sizeof text,
           "{\"appKey\":\"kid_bench\",\"host\":null,\"dataDirectory\":\"%s\",\"durability\":\"normal\",\"autoIndex\":false}",
           arguments[1]);
  must(kv_client_open(text, KV_NUL_TERMINATED, &client, &error), error);
  must(kv_store_open(client, "cities", "sync", NULL, &store, &error), error);
  fill(store, atoi(arguments[2]));
  must(kv_query_create(NULL, 0, "{\"sort\":{\"population\":1},\"fields\":[\"population\"]}",
                       KV_NUL_TERMINATED, &query, &error),
       error);
  sem_init(&watch.received, 0, 0);
  if (is_observed) {
    must(kv_store_observe(store, query, on_event, &watch, NULL, NULL, &error), error);
    sem_wait(&watch.received);
  }
  for (int i = 0; i < atoi(arguments[3]); i++) {
    snprintf(text, sizeof text, "{\"_id\":\"moving\",\"population\":%u}", data_random(&state) % 1000000);
    double start = data_now();
    must(kv_store_save(store, text, KV_NUL_TERMINATED, NULL, NULL, NULL, &error), error);
    double saved = data_now();
    if (is_observed) sem_wait(&watch.received);
    printf("%.1f %.1f\n", (saved - start) * 1e6, is_observed ? (watch.at - start) * 1e6 : 0);
  }
  kv_query_free(query);
  must(kv_store_close(store), NULL);
  must(kv_client_close(client), NULL);
  return 0;
}
