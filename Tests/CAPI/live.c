/* Live data from a real server: the four handlers, what they are given, and when they end. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "fixture.h"

#include <poll.h>
#include <semaphore.h>
#include <time.h>

static int port;

/* What the handlers were told, one line for each call. */
typedef struct diary {
  kv_client *client;
  char text[1000];
  int closes; /* Whether on_ready closes the client. */
  int freed;
} diary;

static void note(diary *received, const char *kind, const char *what) {
  size_t used = strlen(received->text);
  snprintf(received->text + used, sizeof received->text - used, "%s %s\n", kind, what);
}

static void on_ready(void *context, const kv_event *event) {
  diary *received = context;
  note(received, "ready", event->json);
  if (received->closes) OK(kv_client_close(received->client));
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
static void until(diary *received, const char *words) {
  int fd = -1;
  double end = seconds() + 60;
  OK(kv_client_event_fd(received->client, &fd, &error));
  while (seconds() < end) {
    size_t length = strlen(received->text), wanted = strlen(words);
    if (length >= wanted && strcmp(received->text + length - wanted, words) == 0) return;
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    poll(&waiting, 1, 100);
    OK(kv_client_dispatch(received->client, 0, NULL, &error));
  }
  TEXT(words, received->text);
}

static void handlers_are_told(void) {
  diary received = {.client = listener()}, other = {.client = received.client};
  kv_store *store = opened_store(received.client, "told", "network");
  kv_subscription *subscription = NULL;
  OK(kv_store_subscribe(store, NULL, ALL, &received, on_free, NULL, &error));
  OK(kv_store_subscribe(store, NULL, NULL, on_next, NULL, NULL, &other, on_free, &subscription,
                        &error));
  until(&received, CONNECTED);
  saved(store, "{\"_id\":\"a\",\"n\":7}");
  until(&other, "next {\"event\":\"change\",\"change\":\"create\",\"id\":\"a\","
                "\"entity\":{\"_id\":\"a\",\"n\":7\n");
  OK(kv_subscription_close(subscription));
  NUMBER(1, other.freed);
  size_t length = strlen(other.text);
  OK(kv_store_remove_by_id(store, "a", NULL, NULL, &error));
  until(&received, "next {\"event\":\"change\",\"change\":\"delete\",\"id\":\"a\"\n");
  NUMBER(length, strlen(other.text));
  OK(kv_user_logout(received.client, NULL, &error));
  until(&received, "status {\"event\":\"status\",\"status\":\"disconnected\"}\n");
  NUMBER(0, received.freed);
  OK(kv_client_close(received.client));
  NUMBER(1, received.freed);
}

static void ends_with_an_answer(void) {
  diary told = {.client = listener()}, last = {.client = told.client};
  kv_store *store = opened_store(told.client, "ended", "network");
  kv_subscription *subscription = NULL, *other = NULL;
  OK(kv_store_subscribe(store, NULL, ALL, &told, on_free, &subscription, &error));
  until(&told, CONNECTED);
  STATUS(KV_INVALID, kv_subscription_end(subscription, "{\"tmeout\":1}", &error));
  NUMBER(0, told.freed);
  OK(kv_subscription_end(subscription, "{\"timeout\":20}", &error));
  NUMBER(1, told.freed);
  saved(store, "{\"_id\":\"a\"}");
  OK(kv_store_subscribe(store, NULL, ALL, &last, on_free, &other, &error));
  until(&last, CONNECTED);
  TEXT(CONNECTED, told.text);
  OK(kv_subscription_end(subscription, NULL, &error));
  OK(kv_subscription_close(subscription));
  STATUS(KV_MISUSE, kv_subscription_end(subscription, NULL, &error));

  stop_server();
  STATUS(KV_NETWORK, kv_subscription_end(other, NULL, &error));
  NUMBER(1, last.freed);
  OK(kv_client_close(told.client));
  port = start_server();
}

static void a_handler_closes_the_client(void) {
  diary received = {.client = listener(), .closes = 1};
  kv_store *store = opened_store(received.client, "closed", "network");
  OK(kv_store_subscribe(store, NULL, ALL, &received, on_free, NULL, &error));
  int fd = -1;
  OK(kv_client_event_fd(received.client, &fd, &error));
  for (double end = seconds() + 60; seconds() < end && received.freed == 0;) {
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    poll(&waiting, 1, 100);
    kv_client_dispatch(received.client, 0, NULL, NULL);
  }
  TEXT(CONNECTED, received.text);
  NUMBER(1, received.freed);
}

/* A subscriber on the client's own callback thread, and what its handler does there. */
typedef struct doer {
  kv_store *store;
  kv_subscription *own;
  sem_t ready, received, go_on;
  int is_busy;
  char ids[100];
} doer;

static void wait_for(sem_t *event) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 60;
  CHECK(sem_timedwait(event, &end) == 0);
}

static void doer_ready(void *context, const kv_event *event) {
  (void)event;
  sem_post(&((doer *)context)->ready);
}

static int is_of(const kv_event *event, const char *id) {
  char wanted[40];
  snprintf(wanted, sizeof wanted, "\"id\":\"%s\"", id);
  return strstr(event->json, wanted) != NULL;
}

/* Of "a" it makes "b"; with "b" it unsubscribes, and makes "c". */
static void doer_next(void *context, const kv_event *event) {
  doer *self = context;
  const char *id = is_of(event, "a") ? "a" : is_of(event, "b") ? "b" : is_of(event, "c") ? "c" : "d";
  strcat(self->ids, id);
  if (*id == 'a' && self->is_busy) {
    sem_post(&self->ready);
    wait_for(&self->go_on);
  }
  if (*id == 'a' && !self->is_busy) saved(self->store, "{\"_id\":\"b\"}");
  if (*id == 'b' && !self->is_busy) {
    OK(kv_subscription_close(self->own));
    saved(self->store, "{\"_id\":\"c\"}");
  }
  sem_post(&self->received);
}

static void subscribed(doer *self) {
  sem_init(&self->ready, 0, 0);
  sem_init(&self->received, 0, 0);
  sem_init(&self->go_on, 0, 0);
  OK(kv_store_subscribe(self->store, NULL, doer_ready, doer_next, NULL, NULL, self, NULL, &self->own,
                        &error));
  wait_for(&self->ready);
}

/* A client whose callbacks have a thread, with a collection. */
static kv_store *threaded_store(kv_client **client, const char *name) {
  *client = server_client(port, NULL, "");
  OK(kv_user_signup(*client, NULL, 0, NULL, NULL, NULL, &error));
  OK(kv_live_register(*client, NULL, &error));
  return opened_store(*client, name, "network");
}

static void a_handler_calls_back(void) {
  kv_client *client;
  doer first = {.store = threaded_store(&client, "calls")}, witness = {.store = first.store, .is_busy = 1};
  subscribed(&first);
  subscribed(&witness);
  sem_post(&witness.go_on);
  saved(first.store, "{\"_id\":\"a\"}");
  for (int i = 0; i < 2; i++) wait_for(&first.received);
  for (int i = 0; i < 3; i++) wait_for(&witness.received);
  saved(first.store, "{\"_id\":\"d\"}");
  wait_for(&witness.received);
  TEXT("ab", first.ids);
  TEXT("abcd", witness.ids);
  OK(kv_client_close(client));
}

static void a_handler_blocks(void) {
  kv_client *client;
  doer slow = {.store = threaded_store(&client, "blocks"), .is_busy = 1};
  subscribed(&slow);
  saved(slow.store, "{\"_id\":\"a\"}");
  wait_for(&slow.ready);
  /* Calls go on meanwhile, and what happens is told afterwards. */
  int64_t count = 0;
  saved(slow.store, "{\"_id\":\"b\"}");
  OK(kv_store_count(slow.store, NULL, NULL, &count, &error));
  NUMBER(2, count);
  TEXT("a", slow.ids);
  sem_post(&slow.go_on);
  for (int i = 0; i < 2; i++) wait_for(&slow.received);
  TEXT("ab", slow.ids);
  OK(kv_client_close(client));
}

static void what_is_refused(void) {
  diary received = {.client = listener()};
  kv_store *store = opened_store(received.client, "refused", "network");
  kv_subscription *subscription = NULL;
  FAILS(KV_MISUSE, "receive", kv_store_subscribe(store, NULL, NULL, NULL, NULL, NULL, &received, on_free,
                                                 &subscription, &error));
  FAILS(KV_UNSUPPORTED, "liveToLocal", kv_store_subscribe(store, "{\"liveToLocal\":true}", ALL,
                                                          &received, on_free, NULL, &error));
  OK(kv_live_unregister(received.client, NULL, &error));
  STATUS(KV_MISUSE, kv_store_subscribe(store, NULL, ALL, &received, on_free, NULL, &error));
  NUMBER(3, received.freed);
  CHECK(subscription == NULL);
  OK(kv_client_close(received.client));
}

int main(void) {
  port = start_server();
  RUN("handlers are told what happens, each its own; closing one leaves the other", handlers_are_told);
  RUN("unsubscribing has an answer, after which nothing comes", ends_with_an_answer);
  RUN("a handler may close the client", a_handler_closes_the_client);
  RUN("a handler may call the backend and end itself; it hears nothing more, others do", a_handler_calls_back);
  RUN("a handler that blocks keeps callbacks waiting, and nobody else", a_handler_blocks);
  RUN("wrong handlers are refused, and the context is given back", what_is_refused);
  return finish();
}
