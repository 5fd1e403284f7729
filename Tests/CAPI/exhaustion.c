/* The C libraries that libkvstore uses have no memory left, one allocation after the other: every call ends as it does
 * otherwise, or with KV_STORAGE. No answer, entity, option or password is blamed for it. */
#define _GNU_SOURCE
#include "check.h"
#include "fixture.h"

#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <stdatomic.h>

static int port;

/* How many allocations there are before the one that fails; negative: none does. */
static atomic_int left = -1;

static int fails(void) {
  if (atomic_load(&left) < 0 || atomic_fetch_sub(&left, 1) != 0) return 0;
  errno = ENOMEM;
  return 1;
}

static void *allocated(size_t size) { return fails() ? NULL : malloc(size); }

/* Jansson itself does not look whether the buffer for a long token could grow (it doubles), and drops a character. */
static void *allocated_for_json(size_t size) {
  int isBuffer = size >= 32 && (size & (size - 1)) == 0;
  return isBuffer ? malloc(size) : allocated(size);
}

static void *allocated_zeroed(size_t count, size_t size) {
  return fails() ? NULL : calloc(count, size);
}

static void *reallocated(void *memory, size_t size) { return fails() ? NULL : realloc(memory, size); }

static char *copied(const char *text) { return fails() ? NULL : strdup(text); }

/* What the calls work on: two clients of one user, whose stores have the same collection. */
static kv_client *client;
static kv_store *store, *merging, *network, *others;
static const char *directory;

#define TEXT_OF(json) json, KV_NUL_TERMINATED

static kv_status opens(kv_error **error) {
  char *options = NULL;
  kv_client *opened = NULL;
  if (asprintf(&options,
               "{\"appKey\":\"kid\",\"appSecret\":\"secret\",\"host\":\"http://127.0.0.1:%d\","
               "\"dataDirectory\":\"%s\",\"timeout\":20}",
               port, directory) < 0)
    return KV_INTERNAL;
  kv_status status = kv_client_open(options, KV_NUL_TERMINATED, &opened, error);
  free(options);
  if (status == KV_OK) kv_client_close(opened);
  return status;
}

static kv_status logs_in(kv_error **error) {
  return kv_user_login(client, TEXT_OF("{\"username\":\"u\",\"password\":\"p\"}"), NULL, NULL, NULL,
                       error);
}

static kv_status pings(kv_error **error) {
  char *json = NULL;
  kv_status status = kv_ping(client, NULL, &json, NULL, error);
  kv_free(json);
  return status;
}

static kv_status reads_me(kv_error **error) {
  char *json = NULL;
  kv_status status = kv_user_me(client, NULL, &json, NULL, error);
  kv_free(json);
  return status;
}

static kv_status saves(kv_error **error) {
  return kv_store_save(store, TEXT_OF("{\"_id\":\"one\",\"n\":1}"), "{\"timeout\":20}", NULL, NULL,
                       error);
}

static kv_status read_all(kv_store *from, kv_query *query, kv_error **error) {
  kv_cursor *cursor = NULL;
  kv_status status = kv_store_find(from, query, "{\"timeout\":20}", &cursor, error);
  const char *json;
  while (status == KV_OK) status = kv_cursor_next(cursor, &json, NULL, error);
  kv_cursor_close(cursor);
  return status == KV_DONE ? KV_OK : status;
}

static kv_status finds_in(kv_store *from, kv_error **error) {
  kv_query *query = NULL;
  kv_status status = kv_query_create(TEXT_OF("{\"n\":{\"$gte\":0},\"t\":{\"$regex\":\"^a|b\"}}"),
                                     TEXT_OF("{\"sort\":{\"n\":-1},\"limit\":10}"), &query, error);
  if (status == KV_OK) status = read_all(from, query, error);
  kv_query_free(query);
  return status;
}

static kv_status finds(kv_error **error) { return finds_in(store, error); }
static kv_status fetches(kv_error **error) { return finds_in(network, error); }

static kv_status finds_by_format(kv_error **error) {
  kv_query *query = NULL;
  kv_status status = kv_query_from_format("n >= %@ AND t MATCHES %@", TEXT_OF("[1,\"a.*\"]"), NULL, 0,
                                          &query, error);
  if (status == KV_OK) status = read_all(store, query, error);
  kv_query_free(query);
  return status;
}

static kv_status updates(kv_error **error) {
  return kv_store_update(store, NULL, TEXT_OF("{\"$inc\":{\"n\":1}}"), NULL, NULL, NULL, error);
}

static kv_status groups(kv_error **error) {
  char *json = NULL;
  kv_status status = kv_store_group(
      store, TEXT_OF("{\"keys\":[\"n\"],\"aggregates\":{\"s\":{\"sum\":\"n\"}}}"), NULL, NULL, &json,
      NULL, error);
  kv_free(json);
  return status;
}

static kv_status reduces(kv_error **error) {
  char *json = NULL;
  kv_status status = kv_store_group(
      network,
      TEXT_OF("{\"keys\":[\"n\"],\"initial\":{\"c\":0},"
              "\"reduce\":\"function(doc,out){ out.c++; }\"}"),
      NULL, NULL, &json, NULL, error);
  kv_free(json);
  return status;
}

static kv_status indexes(kv_error **error) {
  return kv_store_create_index(store, TEXT_OF("{\"keys\":{\"n\":1}}"), error);
}

static kv_status pulls(kv_error **error) { return kv_store_pull(store, NULL, NULL, NULL, NULL, error); }

/* A push that was not whole: what it says of each write is no memory, and none is set aside. */
static kv_status pushed(kv_store *from, kv_error **error) {
  char *json = NULL;
  kv_status status = kv_store_push(from, NULL, &json, NULL, error);
  if (status == KV_PARTIAL) {
    const char *at = json;
    for (status = KV_STORAGE; (at = strstr(at, "\"status\":")); at++)
      if (atoi(at + 9) != KV_STORAGE) status = KV_PARTIAL;
    if (strstr(json, "\"quarantined\":0") == NULL) status = KV_PARTIAL;
    if (status == KV_PARTIAL) printf("    %s\n", json);
  }
  kv_free(json);
  return status;
}

static kv_status pushes(kv_error **error) { return pushed(store, error); }
static kv_status merges(kv_error **error) { return pushed(merging, error); }

static kv_status updates_me(kv_error **error) {
  return kv_user_update(client, TEXT_OF("{\"age\":7}"), NULL, NULL, NULL, error);
}

static kv_status registers(kv_error **error) {
  kv_status status = kv_live_register(client, NULL, error);
  if (status == KV_OK) kv_live_unregister(client, NULL, NULL);
  return status;
}

/* One write waits, and another client has changed the same entity: in another member. */
static void change_both(void) {
  kv_store_clear(merging, NULL, NULL, NULL);
  saved(others, "{\"_id\":\"m\",\"_acl\":{\"gw\":true},\"mine\":1.50,\"theirs\":1}");
  OK(kv_store_pull(merging, NULL, NULL, NULL, NULL, &error));
  saved(others, "{\"_id\":\"m\",\"_acl\":{\"gw\":true},\"mine\":1.5,\"theirs\":2}");
  saved(merging, "{\"_id\":\"m\",\"_acl\":{\"gw\":true},\"mine\":2,\"theirs\":1}");
}

static void write_some(void) {
  char text[60];
  OK(kv_store_purge(store, NULL, NULL, &error));
  for (int i = 0; i < 3; i++) {
    snprintf(text, sizeof text, "{\"n\":%d,\"t\":\"abc\"}", i);
    saved(store, text);
  }
}

static void nothing(void) {}

static const struct {
  const char *name;
  void (*prepare)(void);
  kv_status (*call)(kv_error **error);
} calls[] = {
    {"opening", nothing, opens},          {"logging in", nothing, logs_in},
    {"a ping", nothing, pings},           {"reading oneself", nothing, reads_me},
    {"updating oneself", nothing, updates_me},
    {"a save", nothing, saves},           {"a find", nothing, finds},
    {"a fetch", nothing, fetches},        {"a find by a format", nothing, finds_by_format},
    {"an update", nothing, updates},      {"groups", nothing, groups},
    {"a script", nothing, reduces},       {"an index", nothing, indexes},
    {"a push", write_some, pushes},       {"a push of conflicts", change_both, merges},
    {"a pull", write_some, pulls},        {"live data", nothing, registers},
};

/* Fails each allocation of each call in turn, or every $EXHAUSTION_STRIDE-th. */
static void goes_without(void) {
  const char *text = getenv("EXHAUSTION_STRIDE");
  int stride = text == NULL ? 1 : atoi(text);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    int failing = 0, number = 0;
    for (int isOver = 0; !isOver; number += stride) {
      kv_error *error = NULL;
      if (calls[i].call == pulls) OK(kv_store_purge(store, NULL, NULL, &error));
      else calls[i].prepare();
      atomic_store(&left, number);
      kv_status status = calls[i].call(&error);
      isOver = atomic_exchange(&left, -1) >= 0;
      failing += status != KV_OK;
      if (status != KV_OK && status != KV_STORAGE) {
        printf("    allocation %d:\n", number);
        check_status(KV_STORAGE, status, error, calls[i].name, __LINE__, __FILE__);
      }
      kv_error_free(error);
    }
    printf("    %s: %d of %d allocations\n", calls[i].name, failing, number / stride - 1);
    /* What came last had all its memory. */
    CHECK(failing < number / stride);
  }
}

static void open_all(void) {
  directory = fresh_directory();
  client = server_client(port, NULL, ",\"timeout\":20");
  kv_client *theirs = server_client(port, NULL, ",\"masterSecret\":\"master\"");
  OK(kv_user_signup(client, TEXT_OF("{\"username\":\"u\",\"password\":\"p\"}"), NULL, NULL, NULL,
                    &error));
  store = opened_store(client, "things", "sync");
  network = opened_store(client, "things", "network");
  OK(kv_store_open(client, "merged", "sync", "{\"conflicts\":\"merge\"}", &merging, &error));
  others = opened_store(theirs, "merged", "network");
  goes_without();
  OK(kv_client_close(client));
  OK(kv_client_close(theirs));
}

static void use_malloc(void) { json_set_alloc_funcs(malloc, free); }

static void without_jansson(void) {
  json_set_alloc_funcs(allocated_for_json, free);
  open_all();
  use_malloc();
}

static void without_curl(void) { open_all(); }

int main(void) {
  /* Before the library does it, for which it is too late then. */
  curl_global_init_mem(CURL_GLOBAL_DEFAULT, allocated, free, reallocated, copied, allocated_zeroed);
  port = start_server();
  RUN("without memory for JSON", without_jansson);
  stop_server();
  port = start_server();
  RUN("without memory for requests", without_curl);
  curl_global_cleanup();
  return finish();
}
