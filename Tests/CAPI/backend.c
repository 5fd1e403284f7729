/* A backend of functions, which two clients share. */
#define _GNU_SOURCE
#include "shelf.h"

#include <sys/wait.h>
#include <unistd.h>

static void pushed(kv_store *store, const char *wanted) {
  char *json = NULL;
  kv_error *error = NULL;
  kv_status status = kv_store_push(store, NULL, &json, NULL, &error);
  if (status != KV_OK && status != KV_PARTIAL) CHECK(!kv_error_json(error));
  CHECK(json && strstr(json, wanted));
  if (json && !strstr(json, wanted)) printf("    %s\n", json);
  kv_free(json);
  kv_error_free(error);
}

static void pulled(kv_store *store) {
  STATUS(KV_OK, kv_store_pull(store, NULL, "{\"deltaSet\":true}", NULL, NULL, &error));
}

static void is_stored(kv_store *store, const char *id, const char *wanted) {
  char *json = NULL;
  STATUS(KV_OK, kv_store_find_by_id(store, id, NULL, &json, NULL, &error));
  CHECK(json && strstr(json, wanted));
  if (json && !strstr(json, wanted)) printf("    %s\n", json);
  kv_free(json);
}

/* Two clients with a store each. */
typedef struct {
  shelf shelf;
  kv_client *clients[2];
  kv_store *stores[2];
} pair;

static void set_up_pair(pair *pair) {
  set_up(&pair->shelf);
  for (int i = 0; i < 2; i++) {
    pair->clients[i] = shelf_client(fresh_directory(), "");
    pair->stores[i] = opened_store(pair->clients[i], "things", "sync");
  }
}

static void tear_down_pair(pair *pair) {
  for (int i = 0; i < 2; i++) OK(kv_client_close(pair->clients[i]));
  tear_down(&pair->shelf);
}

static void two_clients_share(void) {
  pair pair;
  set_up_pair(&pair);
  saved(pair.stores[0], "{\"id\":1,\"n\":1}");
  pushed(pair.stores[0], "\"pushed\":1");
  is_stored(pair.stores[0], "1", "\"rev\":1");
  pulled(pair.stores[1]);
  is_stored(pair.stores[1], "1", "\"n\":1");
  saved(pair.stores[1], "{\"id\":2,\"n\":2}");
  STATUS(KV_OK, kv_store_remove_by_id(pair.stores[1], "1", NULL, NULL, &error));
  pushed(pair.stores[1], "\"pushed\":2");
  pulled(pair.stores[0]);
  NUMBER(1, counted(pair.stores[0]));
  is_stored(pair.stores[0], "2", "\"n\":2");
  tear_down_pair(&pair);
}

/* Both have changed what both have. */
static void set_up_conflict(pair *pair) {
  set_up_pair(pair);
  saved(pair->stores[0], "{\"id\":1,\"n\":1}");
  pushed(pair->stores[0], "\"pushed\":1");
  pulled(pair->stores[1]);
  saved(pair->stores[0], "{\"id\":1,\"n\":2,\"rev\":1}");
  pushed(pair->stores[0], "\"pushed\":1");
  saved(pair->stores[1], "{\"id\":1,\"n\":1,\"m\":3,\"rev\":1}");
}

static void pushed_as(kv_store *store, const char *options, const char *wanted) {
  char *json = NULL;
  kv_error *error = NULL;
  kv_store_push(store, options, &json, NULL, &error);
  CHECK(json && strstr(json, wanted));
  if (json && !strstr(json, wanted)) printf("    %s\n", json);
  kv_free(json);
  kv_error_free(error);
}

static void decides_conflicts(void) {
  pair pair;
  char *pending = NULL;
  set_up_conflict(&pair);
  pushed_as(pair.stores[1], "{\"conflicts\":\"merge\"}", "\"pushed\":1");
  is_stored(pair.stores[1], "1", "\"n\":2");
  is_stored(pair.stores[1], "1", "\"m\":3");
  is_stored(pair.stores[1], "1", "\"rev\":3");
  tear_down_pair(&pair);

  set_up_conflict(&pair);
  pushed_as(pair.stores[1], "{\"conflicts\":\"optimistic\"}", "KV_CONFLICT");
  OK(kv_store_pending(pair.stores[1], NULL, 0, &pending, NULL, &error));
  CHECK(strstr(pending, "\"state\":\"conflict\""));
  kv_free(pending);
  pushed_as(pair.stores[0], "{\"conflicts\":\"optimistic\"}", "\"pushed\":0");
  OK(kv_store_pending_revert(pair.stores[1], "1", &error));
  is_stored(pair.stores[1], "1", "\"n\":2");
  tear_down_pair(&pair);

  set_up_conflict(&pair);
  pushed_as(pair.stores[1], "{\"conflicts\":\"serverWins\"}", "\"errors\":[]");
  is_stored(pair.stores[1], "1", "\"n\":2");
  tear_down_pair(&pair);
}

/* Options of a call that shall be over while a function of the backend has it. If it is over before, the function is not
 * called: the next attempt has twice the time. */
static const char *limited(int attempt) {
  static char options[40];
  snprintf(options, sizeof options, "{\"timeout\":%g}", 0.05 * (1 << attempt));
  return options;
}

static void passes_over_mischief(void) {
  pair pair;
  int attempts = 0;
  set_up_pair(&pair);
  saved(pair.stores[0], "{\"id\":1,\"n\":1}");
  pair.shelf.store = pair.stores[0];
  enum mischief harmless[] = {TWICE, FROM_THREAD, CALLS_BACK};
  for (int i = 0; i < 3; i++) {
    pair.shelf.mischief = harmless[i];
    pushed(pair.stores[0], i == 0 ? "\"pushed\":1" : "\"pushed\":0");
    pulled(pair.stores[0]);
    NUMBER(1, counted(pair.stores[0]));
  }
  pair.shelf.mischief = GARBAGE;
  STATUS(KV_PROTOCOL, kv_store_pull(pair.stores[0], NULL, NULL, NULL, NULL, &error));
  pair.shelf.mischief = NEVER;
  uint64_t before = pair.shelf.last_request;
  while (pair.shelf.last_request == before)
    STATUS(KV_TIMEOUT,
           kv_store_pull(pair.stores[0], NULL, limited(attempts++), NULL, NULL, &error));
  STATUS(KV_NOT_FOUND, kv_backend_complete(pair.shelf.last_request, KV_OK, "{}", 2, &error));
  STATUS(KV_NOT_FOUND, kv_backend_complete(0, KV_OK, NULL, 0, &error));
  STATUS(KV_NOT_FOUND, kv_backend_complete(UINT64_MAX, KV_NETWORK, NULL, 0, &error));
  NUMBER(1, counted(pair.stores[0]));
  tear_down_pair(&pair);
  CHECK(pair.shelf.cancels >= 1 && pair.shelf.cancels <= attempts);
  STATUS(KV_NOT_FOUND, kv_backend_complete(pair.shelf.last_request, KV_OK, "{}", 2, &error));
}

static void says_who_waits(void) {
  shelf shelf;
  set_up(&shelf);
  kv_client *client = shelf_client(fresh_directory(), "");
  kv_store *store = opened_store(client, "things", "sync");
  shelf.mischief = NEVER;
  kv_request *request = NULL;
  STATUS(KV_OK, kv_store_pull_async(store, NULL, NULL, NULL, NULL, NULL, &request, &error));
  double end = seconds() + 60;
  while (shelf.last_request == 0 && seconds() < end) usleep(1000);
  NUMBER(1, kv_backend_is_waiting(shelf.last_request));
  STATUS(KV_OK, kv_request_cancel(request));
  STATUS(KV_CANCELLED, kv_request_wait(request, -1, NULL, NULL, &error));
  NUMBER(0, kv_backend_is_waiting(shelf.last_request));
  NUMBER(0, kv_backend_is_waiting(0));
  kv_request_free(request);
  kv_store_close(store);
  kv_client_close(client);
  tear_down(&shelf);
}

static void closes_from_within(void) {
  shelf shelf;
  set_up(&shelf);
  kv_client *client = shelf_client(fresh_directory(), "");
  kv_store *store = opened_store(client, "things", "sync");
  shelf.closes = client;
  shelf.mischief = CLOSES;
  STATUS(KV_CANCELLED, kv_store_pull(store, NULL, NULL, NULL, NULL, &error));
  tear_down(&shelf);
}

/* A function that never returns keeps a thread, and nothing else. */
static void blocks_nobody(void) {
  pair pair;
  int attempts = 0;
  set_up_pair(&pair);
  saved(pair.stores[0], "{\"id\":1}");
  pair.shelf.mischief = BLOCKS;
  while (pair.shelf.blocked == 0)
    STATUS(KV_TIMEOUT, kv_store_push(pair.stores[0], limited(attempts++), NULL, NULL, &error));
  pair.shelf.mischief = NONE;
  pushed(pair.stores[0], "\"pushed\":1");
  CHECK(pair.shelf.blocked >= 1 && pair.shelf.blocked <= attempts);
  pair.shelf.released = true;
  tear_down_pair(&pair);
}

/* What was saved before the process was killed in the middle of a push is still to be pushed, and is stored once. */
static void survives_kill(void) {
  shelf shelf;
  const char *directory = fresh_directory();
  pid_t child = fork();
  if (child == 0) {
    set_up(&shelf);
    kv_store *store = opened_store(shelf_client(directory, ""), "things", "sync");
    saved(store, "{\"id\":1,\"n\":1}");
    shelf.mischief = DIES;
    pushed(store, "");
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  set_up(&shelf);
  kv_client *client = shelf_client(directory, "");
  kv_store *store = opened_store(client, "things", "sync");
  pushed(store, "\"pushed\":1");
  NUMBER(1, json_object_size(shelf.records));
  OK(kv_client_close(client));
  tear_down(&shelf);
}

static void has_no_users(void) {
  pair pair;
  set_up_pair(&pair);
  STATUS(KV_UNSUPPORTED, kv_user_signup(pair.clients[0], NULL, 0, NULL, NULL, NULL, &error));
  tear_down_pair(&pair);
}

typedef struct {
  atomic_int ready, saved, removed;
} listener;

static void receive_ready(void *context, const kv_event *event) {
  (void)event;
  ((listener *)context)->ready++;
}

static void receive(void *context, const kv_event *event) {
  listener *listener = context;
  if (strstr(event->json, "\"deleted\"") || strstr(event->json, "\"delete\"")) {
    listener->removed++;
  } else if (strstr(event->json, "\"n\":5")) {
    listener->saved++;
  } else {
    printf("    %s\n", event->json);
  }
}

static void wait_for(atomic_int *count) {
  double end = seconds() + 60;
  while (*count == 0 && seconds() < end) usleep(1000);
  NUMBER(1, *count);
}

static void tells_what_happens(void) {
  pair pair;
  listener listener = {0};
  kv_subscription *subscription = NULL;
  set_up_pair(&pair);
  OK(kv_live_register(pair.clients[1], NULL, &error));
  OK(kv_store_subscribe(pair.stores[1], NULL, receive_ready, receive, NULL, NULL, &listener, NULL,
                        &subscription, &error));
  wait_for(&listener.ready);
  saved(pair.stores[0], "{\"id\":1,\"n\":5}");
  pushed(pair.stores[0], "\"pushed\":1");
  wait_for(&listener.saved);
  OK(kv_store_remove_by_id(pair.stores[0], "1", NULL, NULL, &error));
  pushed(pair.stores[0], "\"pushed\":1");
  wait_for(&listener.removed);
  tear_down_pair(&pair);
}

/* Tables of other versions of the header, and arguments that are none. */
static void checks_what_it_is_given(void) {
  shelf shelf;
  memset(&shelf, 0, sizeof shelf);
  kv_backend table = functions();
  STATUS(KV_MISUSE, kv_backend_register(NULL, NULL, 0, &table, &shelf, freed, &error));
  STATUS(KV_INVALID, kv_backend_register("", NULL, 0, &table, &shelf, freed, &error));
  STATUS(KV_MISUSE, kv_backend_register("x", NULL, 0, NULL, &shelf, freed, &error));
  STATUS(KV_INVALID, kv_backend_register("x", "{", 1, &table, &shelf, freed, &error));
  STATUS(KV_INVALID, kv_backend_register("x", "{\"page\":1}", 10, &table, &shelf, freed, &error));
  STATUS(KV_INVALID, kv_backend_register("x", "{\"pageSize\":0}", 14, &table, &shelf, freed, &error));
  table.write = NULL;
  STATUS(KV_INVALID, kv_backend_register("x", NULL, 0, &table, &shelf, freed, &error));
  NUMBER(7, shelf.frees);
  table = functions();
  table.size = offsetof(kv_backend, live);
  STATUS(KV_OK, kv_backend_register("x", NULL, 0, &table, &shelf, freed, &error));
  STATUS(KV_CONFLICT, kv_backend_register("x", NULL, 0, &table, &shelf, freed, &error));
  NUMBER(8, shelf.frees);
  STATUS(KV_OK, kv_backend_unregister("x", &error));
  NUMBER(9, shelf.frees);
  STATUS(KV_NOT_FOUND, kv_backend_unregister("x", &error));
  kv_client *client = NULL;
  STATUS(KV_INVALID, kv_client_open("{\"appKey\":\"kid\",\"backend\":\"x\"}", KV_NUL_TERMINATED, &client, &error));
}

int main(void) {
  RUN("two clients share a backend of functions", two_clients_share);
  RUN("conflicts are noticed by integer versions, and decided", decides_conflicts);
  RUN("what its functions do wrong is an error, and loses nothing", passes_over_mischief);
  RUN("a host can ask whether anybody waits for a request", says_who_waits);
  RUN("a function may close the client that waits for it", closes_from_within);
  RUN("a function that does not return blocks nobody", blocks_nobody);
  RUN("a killed process has lost no write", survives_kill);
  RUN("there are no users", has_no_users);
  RUN("who listens is told what others do", tells_what_happens);
  RUN("registering checks what it is given, and frees the context once", checks_what_it_is_given);
  return finish();
}
