// Saves a task, pushes it, and prints it as the backend has stored it. The arguments: the options of the client, and the token
// that the backend takes.
#define _POSIX_C_SOURCE 200809L
#include <kvstore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kv_error *error;

static void check(kv_status status) {
  if (!error) return;
  fprintf(stderr, "%s: %s\n", kv_status_name(status), kv_error_message(error));
  exit(1);
}

static kv_status give(void *token, const char *provider, const char *former, int32_t is_refused, char **token_out) {
  if (strcmp(provider, "userPools") || former || is_refused) return KV_UNAUTHORIZED;
  *token_out = strdup(token);
  return KV_OK;
}

int main(int count, char **arguments) {
  kv_client *client;
  kv_store *tasks;
  char *found;
  if (count != 3) return 2;
  check(kv_client_open(arguments[1], KV_NUL_TERMINATED, &client, &error));
  check(kv_client_set_token_provider(client, give, arguments[2], NULL, &error));
  check(kv_store_open(client, "Task", "sync", NULL, &tasks, &error));
  check(kv_store_save(tasks, "{\"id\":\"c\",\"title\":\"C\"}", KV_NUL_TERMINATED, NULL, NULL, NULL,
                      &error));
  check(kv_store_push(tasks, NULL, NULL, NULL, &error));
  check(kv_store_find_by_id(tasks, "c", NULL, &found, NULL, &error));
  puts(found);
  kv_free(found);
  kv_client_close(client);
  return 0;
}
