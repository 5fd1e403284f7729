/* Many threads on the same handles, opening, using and closing at the same time. */
#include "check.h"
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 8

static kv_client *client;
static kv_store *store;
static atomic_int wrong;

/* A status that a racing call may get: what it wanted, or a handle that was just closed. */
static void fair(kv_status status, kv_error *error) {
  if (status != KV_OK && status != KV_MISUSE && status != KV_CANCELLED && status != KV_NOT_FOUND &&
      status != KV_DONE) {
    printf("    %s\n", kv_error_json(error));
    wrong++;
  }
  kv_error_free(error);
}

static void on_all_threads(void *(*body)(void *)) {
  pthread_t threads[THREADS];
  wrong = 0;
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, body, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  NUMBER(0, wrong);
}

static void *save_and_find(void *number) {
  for (int i = 0; i < 200; i++) {
    char entity[80], *json = NULL;
    kv_error *error = NULL;
    snprintf(entity, sizeof entity, "{\"_id\":\"%ld-%d\",\"n\":%d}", (long)(intptr_t)number, i, i);
    fair(kv_store_save(store, entity, KV_NUL_TERMINATED, NULL, NULL, NULL, &error), error);
    char id[40];
    snprintf(id, sizeof id, "%ld-%d", (long)(intptr_t)number, i);
    if (kv_store_find_by_id(store, id, NULL, &json, NULL, NULL) != KV_OK || strcmp(json, entity) != 0)
      wrong++;
    kv_free(json);
  }
  return NULL;
}

static void share_a_store(void) {
  client = local_client(NULL, ",\"durability\":\"normal\"");
  store = opened_store(client, "things", "sync");
  on_all_threads(save_and_find);
  NUMBER(THREADS * 200, counted(store));
  OK(kv_client_close(client));
}

static void *share_handles(void *number) {
  (void)number;
  for (int i = 0; i < 300; i++) {
    kv_query *query = NULL;
    kv_error *error = NULL;
    kv_query_create("{\"n\":{\"$gt\":3}}", KV_NUL_TERMINATED, NULL, 0, &query, &error);
    fair(KV_OK, error);
    char *json = NULL;
    if (kv_query_json(query, &json, NULL, NULL) != KV_OK) wrong++;
    kv_free(json);
    kv_query_free(query);
    if (kv_query_json(query, &json, NULL, NULL) != KV_MISUSE) wrong++;
  }
  return NULL;
}

static void open_and_close_queries(void) { on_all_threads(share_handles); }

/* One cursor for all: each entity goes to exactly one. */
static kv_cursor *shared_cursor;
static atomic_int taken;
static void *walk(void *number) {
  (void)number;
  const char *json = NULL;
  kv_error *error = NULL;
  kv_status status;
  while ((status = kv_cursor_next(shared_cursor, &json, NULL, &error)) == KV_OK) taken++;
  fair(status, error);
  return NULL;
}

static void share_a_cursor(void) {
  client = local_client(NULL, ",\"durability\":\"normal\"");
  store = opened_store(client, "things", "sync");
  char *many = repeated("[{}", ",{}", 999, "]");
  OK(kv_store_save_many(store, many, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  free(many);
  OK(kv_store_find(store, NULL, NULL, &shared_cursor, &error));
  taken = 0;
  on_all_threads(walk);
  NUMBER(1000, taken);
  OK(kv_client_close(client));
}

static atomic_int calls, frees, starts;
static void on_answer(void *context, const kv_answer *answer) {
  (void)context;
  (void)answer;
  calls++;
}
static void on_free(void *context) {
  (void)context;
  frees++;
}

/* Everything at once on a client that somebody closes in the middle. */
static void *use_until_closed(void *number) {
  kv_status status = KV_OK;
  while (status != KV_MISUSE) {
    kv_error *error = NULL;
    kv_cursor *cursor = NULL;
    kv_request *request = NULL;
    const char *lent = NULL;
    int64_t count;
    switch ((intptr_t)number % 4) {
      case 0: status = kv_store_save(store, "{}", 2, NULL, NULL, NULL, &error); break;
      case 1: status = kv_store_count(store, NULL, NULL, &count, &error); break;
      case 2:
        status = kv_store_find(store, NULL, NULL, &cursor, &error);
        while (kv_cursor_next(cursor, &lent, NULL, NULL) == KV_OK) continue;
        kv_cursor_close(cursor);
        break;
      default:
        starts++;
        status = kv_store_save_async(store, "{}", 2, NULL, on_answer, &calls, on_free, &request, &error);
        if (starts % 2) kv_request_wait(request, -1, NULL, NULL, NULL);
        kv_request_free(request);
    }
    fair(status, error);
  }
  return NULL;
}

static void close_in_the_middle(void) {
  for (int round = 0; round < 20; round++) {
    pthread_t threads[THREADS];
    wrong = 0;
    calls = frees = starts = 0;
    client = local_client(NULL, ",\"durability\":\"normal\"");
    store = opened_store(client, "things", "sync");
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, use_until_closed, (void *)i);
    for (double end = seconds() + 0.01; seconds() < end;) continue;
    OK(kv_client_close(client));
    int calls_then = calls;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    NUMBER(calls_then, calls);
    NUMBER(starts, frees);
    NUMBER(0, wrong);
  }
}

static void *come_and_go(void *number) {
  (void)number;
  for (int i = 0; i < 5; i++) {
    kv_client *mine = local_client(NULL, i % 2 ? ",\"callbacks\":\"pump\"" : "");
    kv_store *things = opened_store(mine, "things", "sync");
    kv_error *error = NULL;
    fair(kv_store_save_async(things, "{}", 2, NULL, on_answer, &calls, on_free, NULL, &error), error);
    if (kv_client_close(mine) != KV_OK) wrong++;
  }
  return NULL;
}

static void clients_come_and_go(void) {
  calls = frees = 0;
  on_all_threads(come_and_go);
  NUMBER(THREADS * 5, frees);
  NUMBER(THREADS * 5, calls);
}

/* The same files through several clients, as several processes would. */
static const char *common;
static void *save_through_its_own(void *number) {
  (void)number;
  kv_client *mine = local_client(common, ",\"durability\":\"normal\"");
  kv_store *things = opened_store(mine, "things", "sync");
  for (int i = 0; i < 50; i++) {
    kv_error *error = NULL;
    kv_status status = kv_store_save(things, "{}", 2, NULL, NULL, NULL, &error);
    if (status != KV_OK) wrong++;
    fair(status, error);
  }
  if (kv_client_close(mine) != KV_OK) wrong++;
  return NULL;
}

static void share_files(void) {
  common = fresh_directory();
  on_all_threads(save_through_its_own);
  client = local_client(common, "");
  store = opened_store(client, "things", "sync");
  NUMBER(THREADS * 50, counted(store));
  OK(kv_client_close(client));
}

int main(void) {
  RUN("threads save and find on the same store", share_a_store);
  RUN("threads open, use and close handles of their own", open_and_close_queries);
  RUN("threads share a cursor, and each entity goes to one", share_a_cursor);
  RUN("a client is closed while all its functions are in use", close_in_the_middle);
  RUN("clients come and go", clients_come_and_go);
  RUN("clients share their files", share_files);
  return finish();
}
