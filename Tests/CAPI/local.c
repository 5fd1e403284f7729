#define _GNU_SOURCE
/* A client without a backend: every function that needs none, as it is meant to be used. */
#include "check.h"
#include "fixture.h"

static kv_client *client;
static kv_store *store;

static void open_things(void) {
  client = local_client(NULL, "");
  store = opened_store(client, "things", "sync");
}

static void close_things(void) {
  OK(kv_store_close(store));
  OK(kv_client_close(client));
}

/* Whether the next entity has these words in it. */
static void next_has(kv_cursor *cursor, const char *words) {
  const char *json = NULL;
  size_t length = 0;
  OK(kv_cursor_next(cursor, &json, &length, &error));
  CHECK(json != NULL && strlen(json) == length);
  if (json == NULL || strstr(json, words) == NULL) TEXT(words, json);
}

static void at_end(kv_cursor *cursor) {
  const char *json = "";
  size_t length = 9;
  STATUS(KV_DONE, kv_cursor_next(cursor, &json, &length, &error));
  CHECK(json == NULL);
  NUMBER(0, length);
}

static void saves_and_finds(void) {
  char *json = NULL;
  size_t length = 0;
  open_things();
  OK(kv_store_save(store, "{\"_id\":\"a\",\"n\":1}", KV_NUL_TERMINATED, NULL, &json, &length, &error));
  TEXT("{\"_id\":\"a\",\"n\":1}", json);
  NUMBER(strlen("{\"_id\":\"a\",\"n\":1}"), length);
  kv_free(json);
  OK(kv_store_find_by_id(store, "a", NULL, &json, &length, &error));
  TEXT("{\"_id\":\"a\",\"n\":1}", json);
  kv_free(json);
  OK(kv_store_save(store, "{\"_id\":\"a\",\"n\":2} trailing", 17, NULL, NULL, NULL, &error));
  OK(kv_store_find_by_id(store, "a", NULL, &json, NULL, &error));
  TEXT("{\"_id\":\"a\",\"n\":2}", json);
  kv_free(json);
  FAILS(KV_NOT_FOUND, "", kv_store_find_by_id(store, "b", NULL, &json, &length, &error));
  CHECK(json == NULL);
  NUMBER(0, length);
  close_things();
}

static void finds_by_ids(void) {
  char *json = NULL;
  size_t length = 7;
  open_things();
  OK(kv_store_find_by_ids(store, "[\"a\"]", KV_NUL_TERMINATED, NULL, &json, &length, &error));
  TEXT("[null]", json);
  NUMBER(6, length);
  kv_free(json);
  saved(store, "{\"_id\":\"a\",\"n\":1}");
  saved(store, "{\"_id\":\"\303\251\",\"n\":1.50}");
  OK(kv_store_find_by_ids(store, "[\"\\u00e9\",\"b\",\"a\",\"a\"] trailing", 22, NULL, &json, NULL, &error));
  TEXT("[{\"_id\":\"\303\251\",\"n\":1.50},null,{\"_id\":\"a\",\"n\":1},{\"_id\":\"a\",\"n\":1}]", json);
  kv_free(json);
  OK(kv_store_find_by_ids(store, "[]", 2, "{}", &json, NULL, &error));
  TEXT("[]", json);
  kv_free(json);
  FAILS(KV_INVALID, "not a JSON array", kv_store_find_by_ids(store, "{}", 2, NULL, &json, NULL, &error));
  CHECK(json == NULL);
  FAILS(KV_INVALID, "not a text", kv_store_find_by_ids(store, "[1]", 3, NULL, &json, NULL, &error));
  FAILS(KV_INVALID, "must not be empty", kv_store_find_by_ids(store, "[\"\"]", 4, NULL, &json, NULL, &error));
  FAILS(KV_INVALID, "not valid JSON", kv_store_find_by_ids(store, "[", 1, NULL, &json, NULL, &error));
  close_things();
}

static void makes_ids(void) {
  char *first = NULL, *second = NULL;
  open_things();
  OK(kv_store_save(store, "{\"n\":1}", KV_NUL_TERMINATED, NULL, &first, NULL, &error));
  OK(kv_store_save(store, "{}", KV_NUL_TERMINATED, NULL, &second, NULL, &error));
  REQUIRE(first != NULL && second != NULL);
  CHECK(strstr(first, "\"_id\":\"") != NULL && strstr(first, "\"n\":1") != NULL);
  CHECK(strcmp(strstr(first, "\"_id\""), strstr(second, "\"_id\"")) != 0);
  kv_free(first);
  kv_free(second);
  NUMBER(2, counted(store));
  close_things();
}

static void saves_many(void) {
  char *json = NULL;
  open_things();
  OK(kv_store_save_many(store, "[{\"_id\":\"a\"},{\"_id\":\"b\"}, {\"_id\":\"c\"}]", KV_NUL_TERMINATED,
                        NULL, &json, NULL, &error));
  TEXT("{\"entities\":[{\"_id\":\"a\"},{\"_id\":\"b\"},{\"_id\":\"c\"}],\"errors\":[]}", json);
  kv_free(json);
  NUMBER(3, counted(store));
  STATUS(KV_INVALID, kv_store_save_many(store, "[]", 2, NULL, NULL, NULL, &error));
  STATUS(KV_INVALID, kv_store_save_many(store, "{}", 2, NULL, NULL, NULL, &error));
  STATUS(KV_INVALID, kv_store_save_many(store, "[{\"_id\":\"d\"},{\"_id\":7}]", KV_NUL_TERMINATED, NULL,
                                        NULL, NULL, &error));
  NUMBER(3, counted(store));
  close_things();
}

static void walks(void) {
  kv_cursor *cursor = NULL;
  kv_query *query = NULL;
  open_things();
  for (int i = 0; i < 10; i++) {
    char json[100];
    snprintf(json, sizeof json, "{\"_id\":\"id%d\",\"n\":%d}", i, i);
    saved(store, json);
  }
  OK(kv_query_create("{\"n\":{\"$gte\":5}}", KV_NUL_TERMINATED, "{\"sort\":{\"n\":-1},\"limit\":3}",
                     KV_NUL_TERMINATED, &query, &error));
  OK(kv_store_find(store, query, NULL, &cursor, &error));
  kv_query_free(query);
  /* The cursor keeps what it started with. */
  OK(kv_store_clear(store, NULL, NULL, &error));
  next_has(cursor, "\"n\":9");
  next_has(cursor, "\"n\":8");
  next_has(cursor, "\"n\":7");
  at_end(cursor);
  at_end(cursor);
  kv_cursor_close(cursor);
  OK(kv_store_find(store, NULL, NULL, &cursor, &error));
  at_end(cursor);
  kv_cursor_close(cursor);
  close_things();
}

static void pages(void) {
  kv_cursor *cursor = NULL;
  kv_query *query = NULL;
  const char *json = NULL;
  uint32_t count = 77;
  size_t length = 0;
  open_things();
  OK(kv_store_save_many(store, "[{\"_id\":\"a\"},{\"_id\":\"b\"},{\"_id\":\"c\"},{\"_id\":\"d\"},{\"_id\":\"e\"}]",
                        KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  OK(kv_query_create(NULL, 0, "{\"sort\":{\"_id\":1}}", KV_NUL_TERMINATED, &query, &error));
  OK(kv_store_find(store, query, NULL, &cursor, &error));
  kv_query_free(query);
  OK(kv_cursor_next_page(cursor, 2, &json, &length, &count, &error));
  TEXT("[{\"_id\":\"a\"},{\"_id\":\"b\"}]", json);
  NUMBER(strlen(json), length);
  NUMBER(2, count);
  next_has(cursor, "\"c\"");
  OK(kv_cursor_next_page(cursor, 0, &json, NULL, NULL, &error));
  TEXT("[{\"_id\":\"d\"},{\"_id\":\"e\"}]", json);
  STATUS(KV_DONE, kv_cursor_next_page(cursor, 5, &json, &length, &count, &error));
  TEXT("[]", json);
  NUMBER(0, count);
  kv_cursor_close(cursor);
  close_things();
}

static void removes(void) {
  int64_t count = -1;
  kv_query *query = NULL;
  open_things();
  OK(kv_store_save_many(store, "[{\"_id\":\"a\",\"n\":1},{\"_id\":\"b\",\"n\":2},{\"_id\":\"c\",\"n\":3}]",
                        KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  OK(kv_store_remove_by_id(store, "a", NULL, &count, &error));
  NUMBER(1, count);
  OK(kv_store_remove_by_id(store, "a", NULL, &count, &error));
  NUMBER(0, count);
  OK(kv_query_create("{\"n\":{\"$lt\":3}}", KV_NUL_TERMINATED, NULL, 0, &query, &error));
  OK(kv_store_count(store, query, NULL, &count, &error));
  NUMBER(1, count);
  OK(kv_store_remove(store, query, NULL, &count, &error));
  NUMBER(1, count);
  kv_query_free(query);
  NUMBER(1, counted(store));
  close_things();
}

static void has_a_queue(void) {
  char *json = NULL;
  size_t length = 0;
  int64_t count = -1;
  open_things();
  saved(store, "{\"_id\":\"a\",\"n\":1}");
  saved(store, "{\"_id\":\"b\",\"n\":1}");
  saved(store, "{\"n\":1}");
  OK(kv_store_sync_count(store, &count, &error));
  NUMBER(3, count);
  OK(kv_store_pending(store, NULL, 2, &json, &length, &error));
  CHECK(json && strstr(json, "\"id\":\"a\"") && strstr(json, "\"id\":\"b\"") && length == strlen(json));
  CHECK(json && strstr(json, "\"operation\":\"create\"") && strstr(json, "\"attempts\":0"));
  kv_free(json);
  OK(kv_store_pending(store, "b", 0, &json, NULL, &error));
  CHECK(json && strstr(json, "\"operation\":\"create\"") && !strstr(json, "\"id\":\"b\""));
  kv_free(json);
  OK(kv_store_pending_edit(store, "a", "{\"_id\":\"a\",\"n\":7}", KV_NUL_TERMINATED, &error));
  OK(kv_store_pending_get(store, "a", &json, &length, &error));
  CHECK(json && strstr(json, "\"entity\":{\"_id\":\"a\",\"n\":7}") && strstr(json, "\"base\":null"));
  kv_free(json);
  STATUS(KV_NOT_FOUND, kv_store_pending_get(store, "x", &json, &length, &error));
  STATUS(KV_INVALID, kv_store_pending_edit(store, "a", "{\"_id\":\"b\"}", KV_NUL_TERMINATED, &error));
  STATUS(KV_UNSUPPORTED, kv_store_pending_retry(store, "a", NULL, &error));
  OK(kv_store_pending_drop(store, "a", &error));
  STATUS(KV_NOT_FOUND, kv_store_pending_drop(store, "a", &error));
  STATUS(KV_NOT_FOUND, kv_store_pending_revert(store, "a", &error));
  OK(kv_store_purge(store, NULL, &count, &error));
  NUMBER(2, count);
  NUMBER(3, counted(store));
  OK(kv_store_sync_count(store, &count, &error));
  NUMBER(0, count);
  saved(store, "{\"_id\":\"z\"}");
  OK(kv_store_clear(store, NULL, &count, &error));
  NUMBER(4, count);
  OK(kv_store_sync_count(store, &count, &error));
  NUMBER(0, count);
  close_things();
}

/* Writes over the first such text in the client's file. */
static void damage(const char *directory, const char *text, char byte) {
  char path[512];
  char *bytes = NULL;
  FILE *file = NULL;
  snprintf(path, sizeof path, "%s/kid/kinvey.kvs", directory);
  file = fopen(path, "r+");
  CHECK(file != NULL);
  if (file == NULL) return;
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  bytes = malloc(size);
  rewind(file);
  NUMBER(size, fread(bytes, 1, size, file));
  char *found = memmem(bytes, size, text, strlen(text));
  CHECK(found != NULL);
  if (found != NULL) {
    fseek(file, found - bytes, SEEK_SET);
    fputc(byte, file);
  }
  fclose(file);
  free(bytes);
}

static void tells_damage(void) {
  const char *directory = fresh_directory();
  const char *text = NULL;
  char *json = NULL;
  size_t length = 0;
  kv_cursor *cursor = NULL;
  client = local_client(directory, "");
  store = opened_store(client, "things", "sync");
  saved(store, "{\"_id\":\"a\",\"n\":1}");
  saved(store, "{\"_id\":\"b\",\"n\":\"damage me\"}");
  saved(store, "{\"_id\":\"c\",\"n\":3}");
  close_things();
  damage(directory, "damage me", 'D');
  client = local_client(directory, "");
  store = opened_store(client, "things", "sync");
  FAILS(KV_CORRUPT, "\"b\" of \"things\"", kv_store_find_by_id(store, "b", NULL, &json, &length, &error));
  OK(kv_store_find(store, NULL, NULL, &cursor, &error));
  next_has(cursor, "\"a\"");
  FAILS(KV_CORRUPT, "\"b\" of \"things\"", kv_cursor_next(cursor, &text, &length, &error));
  next_has(cursor, "\"c\"");
  at_end(cursor);
  kv_cursor_close(cursor);
  OK(kv_store_find(store, NULL, NULL, &cursor, &error));
  OK(kv_cursor_next_page(cursor, 10, &text, &length, NULL, &error));
  TEXT("[{\"_id\":\"a\",\"n\":1}]", text);
  FAILS(KV_CORRUPT, "\"b\" of", kv_cursor_next_page(cursor, 10, &text, &length, NULL, &error));
  OK(kv_cursor_next_page(cursor, 10, &text, &length, NULL, &error));
  TEXT("[{\"_id\":\"c\",\"n\":3}]", text);
  kv_cursor_close(cursor);
  OK(kv_client_repair(client, &json, &length, &error));
  TEXT("{\"entities\":3,\"damaged\":1,\"removed\":[],\"quarantined\":"
       "[{\"collection\":\"things\",\"_id\":\"b\",\"tag\":\"kinvey\"}]}",
       json);
  kv_free(json);
  saved(store, "{\"_id\":\"b\",\"n\":2}");
  OK(kv_client_repair(client, &json, &length, &error));
  CHECK(strstr(json, "\"damaged\":0") != NULL);
  kv_free(json);
  close_things();
}

static void gives_space_back(void) {
  kv_cursor *cursor = NULL;
  kv_request *request = NULL;
  char body[2100] = "";
  char *json = NULL;
  const char *text = NULL;
  size_t length = 0;
  long before = 0, after = 0;
  client = local_client(fresh_directory(), "");
  store = opened_store(client, "things", "sync");
  for (int number = 0; number < 200; number++) {
    snprintf(body, sizeof body, "{\"_id\":\"%03d\",\"text\":\"%02000d\"}", number, number);
    saved(store, body);
  }
  OK(kv_store_find(store, NULL, NULL, &cursor, &error));
  next_has(cursor, "\"000\"");
  OK(kv_store_clear(store, NULL, NULL, &error));
  saved(store, "{\"_id\":\"last\"}");
  FAILS(KV_BUSY, "older state", kv_client_compact(client, "{\"timeout\":2}", NULL, &length, &error));
  FAILS(KV_INVALID, "nothing", kv_client_compact(client, "{\"nothing\":1}", NULL, &length, &error));
  for (int number = 1; number < 200; number++) {
    OK(kv_cursor_next(cursor, &text, &length, &error));
  }
  OK(kv_client_compact_async(client, NULL, NULL, NULL, NULL, &request, &error));
  kv_cursor_close(cursor);
  OK(kv_request_wait(request, -1, &json, &length, &error));
  kv_request_free(request);
  CHECK(sscanf(json, "{\"before\":%ld,\"after\":%ld}", &before, &after) == 2);
  kv_free(json);
  CHECK(after > 0 && after < 200000);
  OK(kv_client_compact(client, NULL, &json, &length, &error));
  kv_free(json);
  OK(kv_store_find(store, NULL, NULL, &cursor, &error));
  next_has(cursor, "\"last\"");
  at_end(cursor);
  kv_cursor_close(cursor);
  close_things();
}

static void copies_its_data(void) {
  const char *directory = fresh_directory(), *copies = fresh_directory();
  char *json = NULL, path[500];
  size_t length = 0;
  kv_request *request = NULL;
  client = local_client(directory, "");
  store = opened_store(client, "things", "sync");
  saved(store, "{\"_id\":\"a\"}");
  snprintf(path, sizeof path, "%s/new/copy", copies);
  OK(kv_client_backup(client, path, NULL, &json, &length, &error));
  CHECK(strstr(json, "{\"tags\":[\"kinvey\"],\"bytes\":") == json);
  kv_free(json);
  saved(store, "{\"_id\":\"b\"}");
  FAILS(KV_CONFLICT, "replaces nothing", kv_client_backup(client, path, NULL, NULL, NULL, &error));
  FAILS(KV_CONFLICT, "replaces nothing", kv_client_backup(client, directory, NULL, NULL, NULL, &error));
  FAILS(KV_INVALID, "nothing", kv_client_backup(client, path, "{\"nothing\":1}", NULL, NULL, &error));
  FAILS(KV_INVALID, "directory", kv_client_backup(client, "", NULL, NULL, NULL, &error));
  FAILS(KV_STORAGE, "", kv_client_backup(client, "/proc/copy", NULL, NULL, NULL, &error));
  char other[510];
  snprintf(other, sizeof other, "%s/2", path);
  OK(kv_client_backup_async(client, other, NULL, NULL, NULL, NULL, &request, &error));
  OK(kv_request_wait(request, -1, NULL, NULL, &error));
  kv_request_free(request);
  close_things();
  client = local_client(path, "");
  store = opened_store(client, "things", "sync");
  NUMBER(1, counted(store));
  close_things();
}

static void survives_a_restart(void) {
  const char *directory = fresh_directory();
  char *json = NULL;
  int64_t count = 0;
  client = local_client(directory, "");
  store = opened_store(client, "things", "sync");
  saved(store, "{\"_id\":\"a\",\"n\":1}");
  close_things();
  client = local_client(directory, "");
  store = opened_store(client, "things", "sync");
  OK(kv_store_find_by_id(store, "a", NULL, &json, NULL, &error));
  TEXT("{\"_id\":\"a\",\"n\":1}", json);
  kv_free(json);
  OK(kv_store_sync_count(store, &count, &error));
  NUMBER(1, count);
  close_things();
}

static void keeps_tags_and_collections_apart(void) {
  kv_store *tagged = NULL, *other = NULL;
  open_things();
  saved(store, "{\"_id\":\"a\"}");
  OK(kv_store_open(client, "things", "sync", "{\"tag\":\"other-tag\"}", &tagged, &error));
  other = opened_store(client, "others", "sync");
  NUMBER(0, counted(tagged));
  NUMBER(0, counted(other));
  saved(tagged, "{\"_id\":\"b\"}");
  NUMBER(1, counted(store));
  NUMBER(1, counted(tagged));
  OK(kv_store_close(tagged));
  OK(kv_store_close(other));
  close_things();
}

static void says_what_it_cannot(void) {
  char *json = NULL;
  int32_t exists;
  kv_store *network = NULL;
  open_things();
  STATUS(KV_UNSUPPORTED, kv_store_push(store, NULL, NULL, NULL, &error));
  STATUS(KV_UNSUPPORTED, kv_store_pull(store, NULL, NULL, NULL, NULL, &error));
  STATUS(KV_UNSUPPORTED, kv_store_sync(store, NULL, NULL, NULL, NULL, &error));
  STATUS(KV_UNSUPPORTED, kv_ping(client, NULL, &json, NULL, &error));
  STATUS(KV_UNSUPPORTED, kv_user_signup(client, NULL, 0, NULL, NULL, NULL, &error));
  STATUS(KV_UNSUPPORTED, kv_user_login(client, "{\"username\":\"a\",\"password\":\"b\"}",
                                       KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  STATUS(KV_UNSUPPORTED, kv_user_exists(client, "a", NULL, &exists, &error));
  STATUS(KV_UNSUPPORTED, kv_user_active(client, &json, NULL, &error));
  STATUS(KV_UNSUPPORTED, kv_user_logout(client, NULL, &error));
  if (kv_store_open(client, "things", "network", NULL, &network, NULL) == KV_OK) {
    STATUS(KV_UNSUPPORTED, kv_store_save(network, "{}", 2, NULL, NULL, NULL, &error));
    OK(kv_store_close(network));
  }
  close_things();
}

static void chooses_durability(void) {
  client = local_client(NULL, ",\"durability\":\"normal\"");
  store = opened_store(client, "things", "sync");
  saved(store, "{\"_id\":\"a\"}");
  NUMBER(1, counted(store));
  close_things();
}

static void opens_many(void) {
  kv_client *clients[20];
  for (int i = 0; i < 20; i++) clients[i] = local_client(NULL, "");
  for (int i = 0; i < 20; i++) {
    kv_store *mine = opened_store(clients[i], "things", "sync");
    for (int k = 0; k <= i; k++) saved(mine, "{}");
    NUMBER(i + 1, counted(mine));
  }
  NUMBER(20, kv_live_objects("client"));
  for (int i = 0; i < 20; i++) OK(kv_client_close(clients[i]));
}

int main(void) {
  RUN("what is saved is found by its id, what is not there is not", saves_and_finds);
  RUN("entities of some ids come in their order, null where there is none", finds_by_ids);
  RUN("an entity without an id gets one", makes_ids);
  RUN("many are saved at once or not at all", saves_many);
  RUN("a cursor gives the entities of its moment, in order, then says it is done", walks);
  RUN("pages come as arrays", pages);
  RUN("what is removed is counted and gone", removes);
  RUN("the queue is listed, looked into, edited, dropped, purged and cleared", has_a_queue);
  RUN("the data is copied while it is used", copies_its_data);
  RUN("entities and their queue are there after a restart", survives_a_restart);
  RUN("space that is not needed is given back when nobody reads an older state", gives_space_back);
  /* It changes the plain bytes of the file: see Tests/Encrypted. */
  if (!getenv("KVSTORE_TEST_KEY"))
    RUN("a damaged entity is told by its id, passed by, and repaired", tells_damage);
  RUN("tags and collections are apart", keeps_tags_and_collections_apart);
  RUN("without a backend, what needs one says so", says_what_it_cannot);
  RUN("durability can be chosen", chooses_durability);
  RUN("many clients live side by side", opens_many);
  return finish();
}
