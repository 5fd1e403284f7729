/* Live data from a real server: the four handlers, what they are given, and when they end. */
#include "check.h"
#include "fixture.h"

#include <poll.h>

static int port;

/* What the handlers were told, one line for each call. */
typedef struct diary {
  kv_client *client;
  char text[1000];
  int closes; /* Whether on_ready closes the client. */
  int freed;
} diary;

static void note(diary *told, const char *kind, const char *what) {
  size_t used = strlen(told->text);
  snprintf(told->text + used, sizeof told->text - used, "%s %s\n", kind, what);
}

static void on_ready(void *context, const kv_event *event) {
  diary *told = context;
  note(told, "ready", event->json);
  if (told->closes) OK(kv_client_close(told->client));
}

static void on_next(void *context, const kv_event *event) {
  NUMBER(sizeof *event, event->size);
  CHECK(strlen(event->json) == event->length);
  /* The revision and the times of the entity are the server's. */
  char text[300];
  snprintf(text, sizeof text, "%.*s", (int)strcspn(event->json, "}"), event->json);
  char *meta = strstr(text, ",\"_acl\"");
  if (meta) *meta = '\0';
  note(context, "next", text);
}

static void on_status(void *context, const kv_event *event) { note(context, "status", event->json); }

static void on_error(void *context, const kv_event *event) {
  CHECK(event->json == NULL && strstr(kv_error_json(event->error), "\"status\":") != NULL);
  note(context, "error", kv_status_name(event->status));
}

static void on_free(void *context) { ((diary *)context)->freed++; }

#define ALL on_ready, on_next, on_status, on_error
#define CONNECTED                                              \
  "status {\"event\":\"status\",\"status\":\"connected\"}\n" \
  "ready {\"event\":\"ready\"}\n"

/* A client with a new user who may listen, and whose callbacks run in dispatch(). */
static kv_client *listener(void) {
  kv_client *client = server_client(port, NULL, ",\"callbacks\":\"pump\"");
  OK(kv_user_signup(client, NULL, 0, NULL, NULL, NULL, &error));
  OK(kv_live_register(client, NULL, &error));
  return client;
}

/* Runs callbacks until a diary ends with these words. */
static void until(diary *told, const char *words) {
  int fd = -1;
  double end = seconds() + 20;
  OK(kv_client_event_fd(told->client, &fd, &error));
  while (seconds() < end) {
    size_t length = strlen(told->text), wanted = strlen(words);
    if (length >= wanted && strcmp(told->text + length - wanted, words) == 0) return;
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    poll(&waiting, 1, 100);
    OK(kv_client_dispatch(told->client, 0, NULL, &error));
  }
  TEXT(words, told->text);
}

static void handlers_are_told(void) {
  diary told = {.client = listener()}, other = {.client = told.client};
  kv_store *store = opened_store(told.client, "told", "network");
  kv_subscription *subscription = NULL;
  OK(kv_store_subscribe(store, NULL, ALL, &told, on_free, NULL, &error));
  OK(kv_store_subscribe(store, NULL, NULL, on_next, NULL, NULL, &other, on_free, &subscription,
                        &error));
  until(&told, CONNECTED);
  saved(store, "{\"_id\":\"a\",\"n\":7}");
  until(&other, "next {\"event\":\"change\",\"change\":\"create\",\"id\":\"a\","
                "\"entity\":{\"_id\":\"a\",\"n\":7\n");
  OK(kv_subscription_close(subscription));
  NUMBER(1, other.freed);
  size_t length = strlen(other.text);
  OK(kv_store_remove_by_id(store, "a", NULL, NULL, &error));
  until(&told, "next {\"event\":\"change\",\"change\":\"delete\",\"id\":\"a\"\n");
  NUMBER(length, strlen(other.text));
  OK(kv_user_logout(told.client, NULL, &error));
  until(&told, "status {\"event\":\"status\",\"status\":\"disconnected\"}\n");
  NUMBER(0, told.freed);
  OK(kv_client_close(told.client));
  NUMBER(1, told.freed);
}

static void a_handler_closes_the_client(void) {
  diary told = {.client = listener(), .closes = 1};
  kv_store *store = opened_store(told.client, "closed", "network");
  OK(kv_store_subscribe(store, NULL, ALL, &told, on_free, NULL, &error));
  int fd = -1;
  OK(kv_client_event_fd(told.client, &fd, &error));
  for (double end = seconds() + 20; seconds() < end && told.freed == 0;) {
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    poll(&waiting, 1, 100);
    kv_client_dispatch(told.client, 0, NULL, NULL);
  }
  TEXT(CONNECTED, told.text);
  NUMBER(1, told.freed);
}

static void what_is_refused(void) {
  diary told = {.client = listener()};
  kv_store *store = opened_store(told.client, "refused", "network");
  kv_subscription *subscription = NULL;
  FAILS(KV_MISUSE, "NULL", kv_store_subscribe(store, NULL, NULL, NULL, NULL, NULL, &told, on_free,
                                              &subscription, &error));
  FAILS(KV_UNSUPPORTED, "liveToLocal", kv_store_subscribe(store, "{\"liveToLocal\":true}", ALL,
                                                          &told, on_free, NULL, &error));
  OK(kv_live_unregister(told.client, NULL, &error));
  STATUS(KV_MISUSE, kv_store_subscribe(store, NULL, ALL, &told, on_free, NULL, &error));
  NUMBER(3, told.freed);
  CHECK(subscription == NULL);
  OK(kv_client_close(told.client));
}

int main(void) {
  port = start_server();
  RUN("handlers are told what happens, each its own; closing one leaves the other", handlers_are_told);
  RUN("a handler may close the client", a_handler_closes_the_client);
  RUN("wrong handlers are refused, and the context is given back", what_is_refused);
  return finish();
}
