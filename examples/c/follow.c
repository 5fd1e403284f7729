// Keeps a collection in sync, also across network failures. Runs against `kvstored` (see README.md):
//   cc follow.c $(pkg-config --cflags --libs kvstore) -o follow && ./follow http://127.0.0.1:8080
#include <kvstore.h>
#include <stdio.h>
#include <unistd.h>

// Runs on a thread of the library. The event is valid until the function returns.
static void show(void *context, const kv_event *event) {
  if (event->json) printf("%s %s\n", (const char *)context, event->json);
  fflush(stdout);
}

int main(int count, char **arguments) {
  kv_client *client;
  kv_store *notes;
  char options[512];
  if (count != 2) return 2;
  snprintf(options, sizeof options, "{\"appKey\":\"kid_demo\",\"appSecret\":\"secret\","
           "\"host\":\"%s\",\"dataDirectory\":\"follow-c.data\"}", arguments[1]);
  if (kv_client_open(options, KV_NUL_TERMINATED, &client, NULL) ||
      kv_user_signup(client, NULL, 0, NULL, NULL, NULL, NULL) ||  // a user without a name
      kv_store_open(client, "notes", "sync", NULL, &notes, NULL) ||
      kv_store_follow(notes, NULL, NULL, show, "follow:", NULL, NULL, NULL) ||
      kv_client_observe_status(client, show, "client:", NULL, NULL, NULL) ||
      kv_store_save(notes, "{\"text\":\"milk\"}", KV_NUL_TERMINATED, NULL, NULL, NULL, NULL))
    return 1;
  for (;;) pause();
}
