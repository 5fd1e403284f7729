/* Bad input: each gives an error with a code, and nothing else happens. */
#include "check.h"
#include "fixture.h"

#include <pthread.h>

static kv_client *client;
static kv_store *store;
static kv_store *no_store;
static kv_query *no_query;
static kv_client *no_client;
static char *json;
static int64_t count;

static void open_things(void) {
  client = local_client(NULL, "");
  store = opened_store(client, "things", "sync");
  saved(store, "{\"_id\":\"a\"}");
}

/* What is there is as it was. */
static void close_things(void) {
  NUMBER(1, counted(store));
  OK(kv_store_sync_count(store, &count, &error));
  NUMBER(1, count);
  CHECK(no_store == NULL && no_query == NULL && no_client == NULL && json == NULL);
  OK(kv_client_close(client));
}

/* Saving `text` as an entity is refused, alone and in an array. */
static void not_an_entity(const char *text) {
  char *array = repeated("[{\"_id\":\"b\"},", text, 1, "]");
  kv_status status = kv_store_save(store, text, KV_NUL_TERMINATED, NULL, NULL, NULL, NULL);
  if (status != KV_INVALID) {
    printf("    %.60s gave %s\n", text, kv_status_name(status));
    NUMBER(KV_INVALID, status);
  }
  STATUS(KV_INVALID, kv_store_save_many(store, array, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  free(array);
}

static void not_utf8(void) {
  static const char *const texts[] = {
      "\xFF",             /* never a byte of UTF-8 */
      "a\x80",            /* continues nothing */
      "\xC3",             /* ends too early */
      "\xC0\xAF",         /* longer than it need be */
      "\xED\xA0\x80",     /* half a surrogate pair */
      "\xF4\x90\x80\x80", /* above U+10FFFF */
  };
  open_things();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *text = texts[i];
    char member[64], id[64], options[64];
    snprintf(member, sizeof member, "{\"name\":\"%s\"}", text);
    snprintf(id, sizeof id, "{\"_id\":\"%s\"}", text);
    snprintf(options, sizeof options, "{\"tag\":\"%s\"}", text);
    not_an_entity(member);
    not_an_entity(id);
    STATUS(KV_INVALID, kv_query_create(member, KV_NUL_TERMINATED, NULL, 0, &no_query, &error));
    STATUS(KV_INVALID, kv_query_create(NULL, 0, member, KV_NUL_TERMINATED, &no_query, &error));
    STATUS(KV_INVALID, kv_client_open(options, KV_NUL_TERMINATED, &no_client, &error));
    FAILS(KV_INVALID, "id", kv_store_find_by_id(store, text, NULL, &json, NULL, &error));
    FAILS(KV_INVALID, "id", kv_store_remove_by_id(store, text, NULL, NULL, &error));
    FAILS(KV_INVALID, "id", kv_store_pending_get(store, text, &json, NULL, &error));
    FAILS(KV_INVALID, "after", kv_store_pending(store, text, 0, &json, NULL, &error));
    FAILS(KV_INVALID, "collection", kv_store_open(client, text, "sync", NULL, &no_store, &error));
    FAILS(KV_INVALID, "type", kv_store_open(client, "c", text, NULL, &no_store, &error));
    FAILS(KV_INVALID, "options", kv_store_open(client, "c", "sync", options, &no_store, &error));
    FAILS(KV_INVALID, "options", kv_store_find_by_id(store, "a", options, &json, NULL, &error));
  }
  close_things();
}

static void not_json(void) {
  static const char *const texts[] = {
      "",      " ",      "{",           "}",          "{]",          "nul",      "{a:1}",      "{'a':1}",
      "{\"a\"}", "{\"a\":}", "{\"a\":1,}",    "{\"a\":1}}",   "{\"a\":01}",    "{\"a\":1.}", "{\"a\":+1}",   "{\"a\":NaN}",
      "{\"a\":\"", "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{\"a\":\"\\uD800\"}", "{,}", "{\"a\":tru}", "[{}]x",
  };
  open_things();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    not_an_entity(texts[i]);
    kv_status query = kv_query_create(texts[i], KV_NUL_TERMINATED, NULL, 0, &no_query, NULL);
    if (query != KV_INVALID) printf("    as a query: %s\n", texts[i]);
    NUMBER(KV_INVALID, query);
    STATUS(KV_INVALID, kv_client_open(texts[i], KV_NUL_TERMINATED, &no_client, &error));
    STATUS(KV_INVALID, kv_store_open(client, "c", "sync", texts[i], &no_store, &error));
    STATUS(KV_INVALID, kv_store_find_by_id(store, "a", texts[i], &json, NULL, &error));
  }
  /* A byte of zero is no end of a text that came with a length. */
  STATUS(KV_INVALID, kv_store_save(store, "{}\0{}", 5, NULL, NULL, NULL, &error));
  STATUS(KV_INVALID, kv_store_save(store, "{\"a\":\"\0\"}", 9, NULL, NULL, NULL, &error));
  STATUS(KV_INVALID, kv_query_create("{}\0", 3, NULL, 0, &no_query, &error));
  close_things();
}

static void not_objects(void) {
  static const char *const texts[] = {"null", "true", "7", "\"text\"", "[]", "[[]]"};
  open_things();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    not_an_entity(texts[i]);
    STATUS(KV_INVALID, kv_query_create(texts[i], KV_NUL_TERMINATED, NULL, 0, &no_query, &error));
    STATUS(KV_INVALID, kv_client_open(texts[i], KV_NUL_TERMINATED, &no_client, &error));
    STATUS(KV_INVALID, kv_store_open(client, "c", "sync", texts[i], &no_store, &error));
  }
  close_things();
}

static void reserved_members(void) {
  static const char *const texts[] = {
      "{\"_id\":7}",        "{\"_id\":null}",     "{\"_id\":\"\"}",   "{\"_id\":{}}",
      "{\"_id\":[\"a\"]}",  "{\"_id\":true}",     "{\"_acl\":7}",     "{\"_acl\":[]}",
      "{\"_acl\":\"me\"}",  "{\"_acl\":null}",    "{\"_kmd\":7}",     "{\"_kmd\":\"now\"}",
      "{\"_kmd\":[]}",      "{\"_kmd\":null}",    "{\"_\\u0069d\":7}", "{\"_id\":\"b\",\"_id\":\"c\"}",
  };
  open_things();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) not_an_entity(texts[i]);
  close_things();
}

static void empty_names(void) {
  open_things();
  STATUS(KV_INVALID, kv_store_find_by_id(store, "", NULL, &json, NULL, &error));
  STATUS(KV_INVALID, kv_store_remove_by_id(store, "", NULL, NULL, &error));
  STATUS(KV_INVALID, kv_store_open(client, "", "sync", NULL, &no_store, &error));
  STATUS(KV_INVALID, kv_store_open(client, "a/b", "sync", NULL, &no_store, &error));
  STATUS(KV_INVALID, kv_store_open(client, "a\nb", "sync", NULL, &no_store, &error));
  STATUS(KV_INVALID, kv_store_open(client, "_c", "sync", NULL, &no_store, &error));
  STATUS(KV_INVALID, kv_store_open(client, "c", "", NULL, &no_store, &error));
  STATUS(KV_INVALID, kv_store_open(client, "c", "Sync", NULL, &no_store, &error));
  STATUS(KV_INVALID, kv_store_open(client, "c", "sync", "{\"tag\":\"\"}", &no_store, &error));
  STATUS(KV_INVALID, kv_store_open(client, "c", "sync", "{\"tag\":\"../up\"}", &no_store, &error));
  STATUS(KV_INVALID, kv_client_open("{\"appKey\":\"\",\"host\":null}", KV_NUL_TERMINATED, &no_client,
                                    &error));
  STATUS(KV_INVALID, kv_client_open("{}", KV_NUL_TERMINATED, &no_client, &error));
  /* Nobody who forgets the host sends credentials to a third party. */
  FAILS(KV_INVALID, "\"host\"", kv_client_open("{\"appKey\":\"kid\",\"appSecret\":\"s\"}",
                                             KV_NUL_TERMINATED, &no_client, &error));
  close_things();
}

static void unknown_options(void) {
  kv_request *request = NULL;
  open_things();
  FAILS(KV_INVALID, "readpolicy",
        kv_store_find_by_id(store, "a", "{\"readpolicy\":\"forceLocal\"}", &json, NULL, &error));
  FAILS(KV_INVALID, "readPolicy",
        kv_store_find_by_id(store, "a", "{\"readPolicy\":\"sometimes\"}", &json, NULL, &error));
  FAILS(KV_INVALID, "readPolicy",
        kv_store_find_by_id(store, "a", "{\"readPolicy\":7}", &json, NULL, &error));
  FAILS(KV_INVALID, "timeout", kv_store_count(store, NULL, "{\"timeout\":\"soon\"}", &count, &error));
  FAILS(KV_INVALID, "timeout", kv_store_count(store, NULL, "{\"timeout\":-1}", &count, &error));
  FAILS(KV_INVALID, "colour", kv_store_save(store, "{}", 2, "{\"colour\":1}", NULL, NULL, &error));
  FAILS(KV_INVALID, "colour",
        kv_store_save_async(store, "{}", 2, "{\"colour\":1}", NULL, NULL, NULL, &request, &error));
  CHECK(request == NULL);
  FAILS(KV_INVALID, "colour", kv_store_open(client, "c", "sync", "{\"colour\":1}", &no_store, &error));
  FAILS(KV_INVALID, "ttl", kv_store_open(client, "c", "sync", "{\"ttl\":\"x\"}", &no_store, &error));
  FAILS(KV_INVALID, "colour",
        kv_client_open("{\"appKey\":\"k\",\"host\":null,\"colour\":1}", KV_NUL_TERMINATED, &no_client,
                       &error));
  FAILS(KV_INVALID, "timeout",
        kv_client_open("{\"appKey\":\"k\",\"host\":null,\"timeout\":{}}", KV_NUL_TERMINATED, &no_client,
                       &error));
  FAILS(KV_INVALID, "callbacks",
        kv_client_open("{\"appKey\":\"k\",\"host\":null,\"callbacks\":\"later\"}", KV_NUL_TERMINATED,
                       &no_client, &error));
  FAILS(KV_INVALID, "colour",
        kv_query_create(NULL, 0, "{\"colour\":1}", KV_NUL_TERMINATED, &no_query, &error));
  FAILS(KV_INVALID, "$foo", kv_query_create("{\"a\":{\"$foo\":1}}", KV_NUL_TERMINATED, NULL, 0,
                                            &no_query, &error));
  close_things();
}

static void deep_nesting(void) {
  char *arrays = repeated("{\"a\":", "[", 100000, "");
  char *closed = repeated("{\"a\":", "[", 100000, "1");
  char *objects = repeated("", "{\"a\":", 100000, "1");
  open_things();
  char *all[] = {arrays, closed, objects};
  for (int i = 0; i < 3; i++) {
    not_an_entity(all[i]);
    STATUS(KV_INVALID, kv_query_create(all[i], KV_NUL_TERMINATED, NULL, 0, &no_query, &error));
    STATUS(KV_INVALID, kv_store_open(client, "c", "sync", all[i], &no_store, &error));
    STATUS(KV_INVALID, kv_client_open(all[i], KV_NUL_TERMINATED, &no_client, &error));
    free(all[i]);
  }
  close_things();
}

/* Levels that are properly closed again, as many as a query or an option may never have. */
static void deep_but_closed(void) {
  char *opening = repeated("{\"a\":", "[", 100000, "");
  char *nested = repeated(opening, "]", 100000, "}");
  char *nots = repeated("", "{\"$nor\":[", 100000, "{}");
  char *query = repeated(nots, "]}", 100000, "");
  open_things();
  not_an_entity(nested);
  STATUS(KV_INVALID, kv_query_create(nested, KV_NUL_TERMINATED, NULL, 0, &no_query, &error));
  STATUS(KV_INVALID, kv_query_create(query, KV_NUL_TERMINATED, NULL, 0, &no_query, &error));
  STATUS(KV_INVALID, kv_store_open(client, "c", "sync", nested, &no_store, &error));
  close_things();
  free(opening);
  free(nested);
  free(nots);
  free(query);
}

/* Up to its limit, nesting needs no large stack. */
static void *nest_on_this_thread(void *unused) {
  (void)unused;
  char *opening = repeated("", "{\"$and\":[", 49, "{\"a\":1}");
  char *query = repeated(opening, "]}", 49, "");
  char *array = repeated("{\"_id\":\"a\",\"a\":", "[", 498, "");
  char *entity = repeated(array, "]", 498, "}");
  kv_query *made = NULL;
  OK(kv_query_create(query, KV_NUL_TERMINATED, NULL, 0, &made, &error));
  OK(kv_store_count(store, made, NULL, &count, &error));
  kv_query_free(made);
  OK(kv_store_save(store, entity, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  free(opening);
  free(query);
  free(array);
  free(entity);
  return NULL;
}

static void small_stack(void) {
  pthread_attr_t small;
  pthread_t thread;
  open_things();
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 512 << 10);
  NUMBER(0, pthread_create(&thread, &small, nest_on_this_thread, NULL));
  pthread_join(thread, NULL);
  pthread_attr_destroy(&small);
  close_things();
}

static void huge(void) {
  const size_t size = 100 << 20;
  kv_cursor *cursor = NULL;
  const char *shown = NULL;
  size_t length = 0;
  char *text = malloc(size + 64);
  REQUIRE(text != NULL);
  open_things();
  /* 100 MB in one string are an entity like others. */
  strcpy(text, "{\"_id\":\"huge\",\"a\":\"");
  size_t head = strlen(text);
  memset(text + head, 'x', size);
  strcpy(text + head + size, "\"}");
  OK(kv_store_save(store, text, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  OK(kv_store_find_by_id(store, "huge", NULL, &json, &length, &error));
  NUMBER(head + size + 2, length);
  CHECK(json != NULL && memcmp(json, text, length) == 0);
  kv_free(json);
  json = NULL;
  OK(kv_store_find(store, NULL, NULL, &cursor, &error));
  OK(kv_cursor_next_page(cursor, 0, &shown, &length, NULL, &error));
  CHECK(length > size);
  kv_cursor_close(cursor);
  OK(kv_store_remove_by_id(store, "huge", NULL, &count, &error));
  NUMBER(1, count);
  OK(kv_store_pending_drop(store, "huge", &error));
  /* The same, broken at its very end. */
  text[head + size] = '\n';
  STATUS(KV_INVALID, kv_store_save(store, text, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  /* As options or a query it is too much. */
  text[head + size] = '"';
  STATUS(KV_TOO_LARGE, kv_store_open(client, "c", "sync", text, &no_store, &error));
  STATUS(KV_TOO_LARGE, kv_query_create(text, KV_NUL_TERMINATED, NULL, 0, &no_query, &error));
  free(text);
  close_things();
}

/* Numbers keep their text, also those that no integer of 64 bits holds; beyond a double there are none. */
static void keeps_odd_numbers(void) {
  static const char *entity =
      "{\"_id\":\"n\",\"a\":123456789012345678901234567890,\"b\":1e300,\"c\":-0.0,\"d\":1E+2}";
  open_things();
  saved(store, entity);
  OK(kv_store_find_by_id(store, "n", NULL, &json, NULL, &error));
  TEXT(entity, json);
  kv_free(json);
  json = NULL;
  FAILS(KV_INVALID, "a[0].b: the number is outside the range",
        kv_store_save(store, "{\"a\":[{\"b\":1e999}]}", KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  OK(kv_store_clear(store, NULL, NULL, &error));
  saved(store, "{\"_id\":\"a\"}");
  close_things();
}

int main(void) {
  RUN("what is not UTF-8 is refused wherever text comes in", not_utf8);
  RUN("what is not JSON is refused wherever JSON comes in", not_json);
  RUN("JSON that is no object is no entity, query or options", not_objects);
  RUN("reserved members must have their types", reserved_members);
  RUN("empty and impossible ids and names are refused", empty_names);
  RUN("unknown options and values of the wrong type are named", unknown_options);
  RUN("100,000 levels that never close are refused", deep_nesting);
  RUN("100,000 levels that do close are refused", deep_but_closed);
  RUN("what is nested as deep as it may be needs no large stack", small_stack);
  RUN("100 MB are saved and found, or refused without harm", huge);
  RUN("numbers beyond 64 bits come back as they went in", keeps_odd_numbers);
  return finish();
}
