/* Every function with every kind of handle that it must refuse. */
#include "check.h"
#include "fixture.h"

#include <time.h>

typedef enum { CLIENT, STORE, QUERY, CURSOR, RESULTS, REQUEST, TRANSACTION, CONTEXT, SUBSCRIPTION, KINDS } kind;

static int freed;
static void count_free(void *context) {
  CHECK(context == &freed);
  freed++;
}

/* Filled with what nobody may leave there. */
static char *json;
static size_t length;
static int64_t count;
static int32_t flag;
static uint32_t number;
static int fd;
static kv_client *made_client;
static kv_store *made_store;
static kv_query *made_query;
static kv_cursor *made_cursor;
static kv_results *made_results;
static kv_request *made_request;
static kv_transaction *made_transaction;
static kv_context *made_context;
static kv_subscription *made_subscription;

/* One open handle of each kind. */
static kv_client *good_client;
static kv_store *good_store;
static kv_query *good_query;
static kv_cursor *good_cursor;
static kv_results *good_results;
static kv_request *good_request;
static kv_transaction *good_transaction;
static kv_context *good_context;
static kv_subscription *good_subscription;

static void no_request(void *context, uint64_t request, const char *body, size_t size) {
  (void)context, (void)request, (void)body, (void)size;
}
static const kv_backend good_kv_backend = {
    .size = sizeof(kv_backend), .fetch = no_request, .fetch_ids = no_request, .write = no_request};
static const kv_store_type good_kv_store_type = {.size = sizeof(kv_store_type),
                                                 .load = no_request,
                                                 .fetch = no_request,
                                                 .values = no_request,
                                                 .save = no_request};

#include "functions.h"

#define FUNCTIONS (sizeof handle_calls / sizeof *handle_calls)

/* Functions that only give something back: nothing may happen, or the number of nothing. */
static void harmless(void *handle) {
  NUMBER(KV_MISUSE, kv_error_status(handle));
  TEXT("", kv_error_message(handle));
  TEXT("{}", kv_error_json(handle));
  NUMBER(1, kv_request_is_done(handle));
  free_nothing(handle);
}

static void check_refused(const misused_call *call, void *argument, kv_status status) {
  if (status == KV_MISUSE && freed == call->has_context) return;
  char text[200];
  snprintf(text, sizeof text, "%s(%s: %p) gave %s and freed the context %d times", call->function,
           call->argument, argument, kv_status_name(status), freed);
  check_report(__LINE__, __FILE__, text);
}

/* One function with one argument that is not good. */
static void refuses(const misused_call *call, void *argument) {
  char *unset = (char *)(intptr_t)0x5A5A;
  kv_error *misuse = (kv_error *)unset;
  json = unset;
  length = 77;
  made_request = (kv_request *)unset;
  freed = 0;
  check_refused(call, argument, call->call(argument, &misuse));
  CHECK(json == NULL || json == unset);
  CHECK(made_request == NULL || made_request == (kv_request *)unset);
  if (!call->has_error) return;
  NUMBER(KV_MISUSE, kv_error_status(misuse));
  CHECK(strlen(kv_error_message(misuse)) > 5);
  /* Which pointer was missing; of a handle its kind. */
  if (call->wants == KINDS) CHECK(strstr(kv_error_message(misuse), call->argument) != NULL);
  kv_error_free(misuse);
}

static void foreign_handles(void) {
  int on_stack = 42;
  void *on_heap = malloc(64);
  void *foreign[] = {(void *)1,
                     (void *)3,
                     (void *)8,
                     (void *)(intptr_t)-1,
                     (void *)(intptr_t)-2,
                     &on_stack,
                     (char *)&on_stack + 1,
                     on_heap,
                     (char *)on_heap + 1,
                     (void *)(uintptr_t)0x5DEECE66D5DEECE6,
                     (void *)(uintptr_t)0x9E3779B97F4A7C15,
                     (void *)(intptr_t)&refuses,
                     (void *)"text"};
  for (size_t f = 0; f < FUNCTIONS; f++) {
    if (!handle_calls[f].takes_null) refuses(&handle_calls[f], NULL);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
      refuses(&handle_calls[f], foreign[i]);
  }
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) harmless(foreign[i]);
  NUMBER(42, on_stack);
  free(on_heap);
}

static void *handles[KINDS];

static void ignore_event(void *context, const kv_event *event) { (void)context, (void)event; }

static void open_all(void) {
  good_client = local_client(NULL, "");
  good_store = opened_store(good_client, "things", "sync");
  saved(good_store, "{\"_id\":\"a\"}");
  OK(kv_query_create(NULL, 0, NULL, 0, &good_query, &error));
  OK(kv_store_find(good_store, NULL, NULL, &good_cursor, &error));
  OK(kv_store_results(good_store, NULL, 0, NULL, NULL, &good_results, &error));
  OK(kv_store_count_async(good_store, NULL, NULL, NULL, NULL, NULL, &good_request, &error));
  OK(kv_transaction_begin(good_client, NULL, &good_transaction, &error));
  OK(kv_context_open(good_client, NULL, &good_context, &error));
  OK(kv_store_observe(good_store, NULL, ignore_event, NULL, NULL, &good_subscription, &error));
  handles[CLIENT] = good_client;
  handles[STORE] = good_store;
  handles[QUERY] = good_query;
  handles[CURSOR] = good_cursor;
  handles[RESULTS] = good_results;
  handles[REQUEST] = good_request;
  handles[TRANSACTION] = good_transaction;
  handles[CONTEXT] = good_context;
  handles[SUBSCRIPTION] = good_subscription;
}

static void close_all(void) {
  kv_query_free(good_query);
  OK(kv_client_close(good_client));
}

static void random_handles(void) {
  uint64_t seed = (uint64_t)time(NULL);
  const char *given = getenv("KV_SEED");
  if (given != NULL) seed = strtoull(given, NULL, 0);
  open_all();
  for (int i = 0; i < 20000; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t noise = seed >> 7;
    /* Half of them: a good handle with one bit wrong. */
    uint64_t bits = (i & 1) ? noise : (uint64_t)(uintptr_t)handles[i / 2 % KINDS] ^ 1ull << noise % 64;
    refuses(&handle_calls[(size_t)(noise >> 8) % FUNCTIONS], (void *)(uintptr_t)bits);
  }
  if (check_failures_of_test) printf("    KV_SEED=%" PRIu64 "\n", seed);
  close_all();
}

static void wrong_kinds(void) {
  kv_error *misuse = NULL;
  open_all();
  NUMBER(KV_MISUSE, kv_query_json(NULL, &json, NULL, &misuse));
  for (size_t f = 0; f < FUNCTIONS; f++) {
    for (int k = 0; k < KINDS; k++)
      if (k != (int)handle_calls[f].wants) refuses(&handle_calls[f], handles[k]);
    refuses(&handle_calls[f], misuse);
  }
  kv_error_free(misuse);
  NUMBER(1, counted(good_store));
  close_all();
}

static void refuses_all(kind kind) {
  for (size_t f = 0; f < FUNCTIONS; f++)
    if (handle_calls[f].wants == kind) refuses(&handle_calls[f], handles[kind]);
}

static void closed_handles(void) {
  open_all();
  OK(kv_subscription_close(good_subscription));
  refuses_all(SUBSCRIPTION);
  kv_cursor_close(good_cursor);
  refuses_all(CURSOR);
  kv_results_close(good_results);
  refuses_all(RESULTS);
  kv_request_free(good_request);
  refuses_all(REQUEST);
  kv_query_free(good_query);
  refuses_all(QUERY);
  kv_transaction_close(good_transaction);
  refuses_all(TRANSACTION);
  kv_context_close(good_context);
  refuses_all(CONTEXT);
  OK(kv_store_close(good_store));
  refuses_all(STORE);
  OK(kv_client_close(good_client));
  for (kind k = 0; k < KINDS; k++) {
    refuses_all(k);
    harmless(handles[k]);
  }
}

static void children_of_a_closed_client(void) {
  open_all();
  OK(kv_client_close(good_client));
  NUMBER(0, kv_live_objects("store"));
  NUMBER(0, kv_live_objects("cursor"));
  NUMBER(0, kv_live_objects("results"));
  NUMBER(0, kv_live_objects("request"));
  NUMBER(0, kv_live_objects("transaction"));
  NUMBER(0, kv_live_objects("context"));
  NUMBER(0, kv_live_objects("subscription"));
  for (kind k = 0; k < KINDS; k++)
    if (k != QUERY) refuses_all(k);
  kv_query_free(good_query);
}

/* What the header does not mark as optional. */
static void missing_pointers(void) {
  open_all();
  for (size_t f = 0; f < sizeof pointer_calls / sizeof *pointer_calls; f++)
    refuses(&pointer_calls[f], NULL);
  close_all();
}

static void optional_outputs(void) {
  char *text = NULL;
  kv_progress small = {.size = 8};
  open_all();
  NUMBER(KV_MISUSE, kv_request_progress(good_request, &small));
  OK(kv_store_find_by_id(good_store, "a", NULL, &text, NULL, &error));
  kv_free(text);
  OK(kv_store_save(good_store, "{}", 2, NULL, NULL, NULL, &error));
  OK(kv_store_save_many(good_store, "[{}]", 4, NULL, NULL, NULL, &error));
  OK(kv_store_remove_by_id(good_store, "a", NULL, NULL, &error));
  OK(kv_store_remove(good_store, NULL, NULL, NULL, &error));
  OK(kv_store_purge(good_store, NULL, NULL, &error));
  OK(kv_store_clear(good_store, NULL, NULL, &error));
  OK(kv_request_wait(good_request, -1, NULL, NULL, &error));
  close_all();
}

int main(void) {
  RUN("NULL and pointers that are no handles are refused by every function", foreign_handles);
  RUN("a handle of another kind is refused by every function", wrong_kinds);
  RUN("a closed handle is refused by every function", closed_handles);
  RUN("closing a client closes its stores, cursors, results and requests", children_of_a_closed_client);
  RUN("random bits and handles with one bit wrong are refused", random_handles);
  RUN("a pointer that must be there is missed by name, in every function", missing_pointers);
  RUN("a result that need not be returned needs no pointer", optional_outputs);
  return finish();
}
