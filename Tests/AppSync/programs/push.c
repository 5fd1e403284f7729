// Saves a task, pushes it, and prints it as the backend has stored it. The argument: the options of the client.
#include <kvstore.h>
#include <stdio.h>
#include <stdlib.h>

static kv_error *error;

static void check(kv_status status) {
  if (!error) return;
  fprintf(stderr, "%s: %s\n", kv_status_name(status), kv_error_message(error));
  exit(1);
}

int main(int count, char **arguments) {
  kv_client *client;
  kv_store *tasks;
  char *found;
  if (count != 2) return 2;
  check(kv_client_open(arguments[1], KV_NUL_TERMINATED, &client, &error));
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
