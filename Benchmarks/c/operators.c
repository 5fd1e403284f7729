/* What an update by an operator costs beside a save, offline, of entities that the backend has.
 *
 *   operators HOST DIRECTORY COUNT
 *
 * Prints the seconds for COUNT saves and for COUNT updates, of different entities: in turns of a hundred. */
#include "data.h"
#include "ours.h"
#include "raw.h"

#include <kvstore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURN = 100 };

/* Saves an entity with another value of one member. */
static void save(kv_store *store, const entity *one) {
  kv_error *error = NULL;
  char body[1024];
  snprintf(body, sizeof body, "%.*s,\"visits\":1}", one->length - 1, one->json);
  must(kv_store_save(store, body, KV_NUL_TERMINATED, NULL, NULL, NULL, &error), error);
}

static void increase(kv_store *store, const entity *one) {
  kv_error *error = NULL;
  kv_query *query;
  char filter[64];
  snprintf(filter, sizeof filter, "{\"_id\":\"%s\"}", one->id);
  must(kv_query_create(filter, KV_NUL_TERMINATED, NULL, 0, &query, &error), error);
  must(kv_store_update(store, query, "{\"$inc\":{\"visits\":1}}", KV_NUL_TERMINATED, NULL, NULL,
                       NULL, &error),
       error);
  kv_query_free(query);
}

int main(int count, char **arguments) {
  if (count != 4) raw_fail(arguments[0], "HOST DIRECTORY COUNT");
  const int number = atoi(arguments[3]);
  char options[512];
  kv_client *client;
  kv_store *store;
  kv_error *error = NULL;
  data made;
  double seconds[2] = {0, 0};
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid_bench\",\"appSecret\":\"secret\",\"host\":\"%s\",\"dataDirectory\":"
           "\"%s\",\"durability\":\"normal\"}",
           arguments[1], arguments[2]);
  must(kv_client_open(options, KV_NUL_TERMINATED, &client, &error), error);
  must(kv_user_login(client, "{\"username\":\"bench\",\"password\":\"bench\"}", KV_NUL_TERMINATED,
                     NULL, NULL, NULL, &error),
       error);
  must(kv_store_open(client, "operators", "sync", NULL, &store, &error), error);
  data_make(&made, 2 * number, 7);
  save_batches(store, &made);
  must(kv_store_push(store, NULL, NULL, NULL, &error), error);

  for (int first = 0; first < made.count; first += TURN) {
    const int which = first / TURN % 2;
    const double start = data_now();
    for (int i = first; i < first + TURN; i++)
      (which ? increase : save)(store, &made.entities[i]);
    seconds[which] += data_now() - start;
  }
  printf("%.6f %.6f\n", seconds[0], seconds[1]);
  data_free(&made);
  must(kv_store_close(store), NULL);
  must(kv_client_close(client), NULL);
  return 0;
}
