// A first program: opens a store, saves, finds and pushes. Runs against `kvstored` (see README.md):
//   cc first.c $(pkg-config --cflags --libs kvstore) -o first && ./first http://127.0.0.1:8080
#include <kvstore.h>
#include <stdio.h>
#include <stdlib.h>

// Every function returns a status. After a failure the caller owns the error and frees it.
static kv_error *error;

static void check(kv_status status) {
  if (!error) return;
  fprintf(stderr, "%s: %s\n", kv_status_name(status), kv_error_message(error));
  exit(1);
}

int main(int count, char **arguments) {
  kv_client *client;
  kv_store *notes;
  kv_cursor *cursor;
  const char *found;
  char options[512], *saved, *result;
  snprintf(options, sizeof options, "{\"appKey\":\"kid_demo\",\"appSecret\":\"secret\","
           "\"host\":\"%s\",\"dataDirectory\":\"first-c.data\"}", count > 1 ? arguments[1] : "");
  check(kv_client_open(options, KV_NUL_TERMINATED, &client, &error));
  check(kv_user_signup(client, NULL, 0, NULL, NULL, NULL, &error));  // a user without a name
  check(kv_store_open(client, "notes", "sync", NULL, &notes, &error));

  // A sync store saves locally, online or not. The entity gets its _id at once.
  check(kv_store_save(notes, "{\"text\":\"milk\"}", KV_NUL_TERMINATED, NULL, &saved, NULL, &error));
  printf("saved %s\n", saved);
  check(kv_store_find(notes, NULL, NULL, &cursor, &error));
  while (kv_cursor_next(cursor, &found, NULL, &error) == KV_OK) printf("found %s\n", found);
  check(kv_store_push(notes, NULL, &result, NULL, &error));
  printf("pushed %s\n", result);

  kv_free(saved);
  kv_free(result);
  kv_client_close(client);  // also closes the store
  return 0;
}
