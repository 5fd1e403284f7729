// Two terminals: one watches a collection, the other writes to it. Runs against `kvstored` (see README.md):
//   cc live.c $(pkg-config --cflags --libs kvstore) -o live
//   ./live watch http://127.0.0.1:8080
//   ./live write http://127.0.0.1:8080 milk
#include <kvstore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static kv_error *error;

static void check(kv_status status) {
  if (!error) return;
  fprintf(stderr, "%s: %s\n", kv_status_name(status), kv_error_message(error));
  exit(1);
}

// The handlers run on a thread of the library, one at a time. The event is valid until they return.
static void show(void *context, const kv_event *event) {
  printf("%s %s\n", (const char *)context, event->json);
  fflush(stdout);
}

static void fail(void *context, const kv_event *event) {
  fprintf(stderr, "%s %s\n", (const char *)context, kv_error_json(event->error));
}

static void watch(kv_client *client, kv_store *notes) {
  check(kv_live_register(client, NULL, &error));  // after each login
  check(kv_store_subscribe(notes, NULL, show, show, show, fail, "live:", NULL, NULL, &error));
  for (;;) pause();
}

static void write_note(kv_store *notes, const char *text) {
  char note[512], *saved;
  snprintf(note, sizeof note, "{\"text\":\"%s\"}", text);  // a real program would escape the text
  check(kv_store_save(notes, note, KV_NUL_TERMINATED, NULL, &saved, NULL, &error));
  printf("saved %s\n", saved);
  kv_free(saved);
}

int main(int count, char **arguments) {
  kv_client *client;
  kv_store *notes;
  char options[512];
  int watches = count == 3 && strcmp(arguments[1], "watch") == 0;
  if (!watches && (count != 4 || strcmp(arguments[1], "write") != 0)) {
    fprintf(stderr, "usage: live watch HOST | live write HOST TEXT\n");
    return 2;
  }
  snprintf(options, sizeof options, "{\"appKey\":\"kid_demo\",\"appSecret\":\"secret\","
           "\"host\":\"%s\",\"dataDirectory\":\"%s-c.data\"}", arguments[2], arguments[1]);
  check(kv_client_open(options, KV_NUL_TERMINATED, &client, &error));
  check(kv_user_signup(client, NULL, 0, NULL, NULL, NULL, &error));  // a user without a name
  check(kv_store_open(client, "notes", "network", NULL, &notes, &error));
  if (watches) watch(client, notes);
  else write_note(notes, arguments[3]);
  kv_client_close(client);
  return 0;
}
