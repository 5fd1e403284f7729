// Carla, who writes C: one of the three programs of the demo. README.md describes the steps.
#include <jansson.h>
#include <kvstore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "carla"
#define COUNTRY "CL"
// The id of Reykjavik, whose guest book everybody signs.
#define MEETING "{\"geonameid\":3413829}"

static void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", NAME, what);
  exit(1);
}

// The error of the last call, if it failed.
static kv_error *error;

// Ends the program unless a call succeeded. KV_PARTIAL is a success with errors in its result.
static void check(kv_status status) {
  if (error) fail(kv_error_json(error));
  if (status != KV_OK && status != KV_PARTIAL) fail(kv_status_name(status));
}

static kv_client *open_client(const char *host, const char *directory) {
  kv_client *client;
  json_t *options = json_pack("{ss ss ss ss}", "appKey", "kid_demo", "appSecret", "secret", "host",
                              host, "dataDirectory", directory);
  char *text = json_dumps(options, JSON_COMPACT);
  check(kv_client_open(text, KV_NUL_TERMINATED, &client, &error));
  free(text);
  json_decref(options);
  return client;
}

// Prints one number of a result, such as "pulled".
static void print_member(const char *result, const char *member) {
  json_t *members = json_loads(result, 0, NULL);
  printf("%s: %lld\n", member, json_integer_value(json_object_get(members, member)));
  json_decref(members);
}

static int64_t count(kv_store *cities, const char *filter) {
  kv_query *query = NULL;
  int64_t found;
  if (filter) check(kv_query_create(filter, KV_NUL_TERMINATED, NULL, 0, &query, &error));
  check(kv_store_count(cities, query, NULL, &found, &error));
  kv_query_free(query);
  return found;
}

static void pull(kv_store *cities) {
  char *result;
  check(kv_store_pull(cities, NULL, NULL, &result, NULL, &error));
  print_member(result, "pulled");
  kv_free(result);
}

static void save(kv_store *cities, json_t *city) {
  char *text = json_dumps(city, JSON_COMPACT);
  check(kv_store_save(cities, text, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  free(text);
  json_decref(city);
}

// Marks the three largest cities of a country as visited.
static void visit(kv_store *cities) {
  kv_query *query;
  kv_cursor *cursor;
  const char *text;
  size_t length;
  check(kv_query_create("{\"countrycode\":\"" COUNTRY "\"}", KV_NUL_TERMINATED,
                        "{\"sort\":{\"population\":-1},\"limit\":3}", KV_NUL_TERMINATED, &query, &error));
  check(kv_store_find(cities, query, NULL, &cursor, &error));
  while (kv_cursor_next(cursor, &text, &length, NULL) == KV_OK) {
    json_t *city = json_loadb(text, length, 0, NULL);
    json_object_set_new(city, "visitedBy", json_string(NAME));
    save(cities, city);
  }
  kv_cursor_close(cursor);
  kv_query_free(query);
}

// Returns the city with the guest book.
static json_t *meeting(kv_store *cities) {
  kv_query *query;
  kv_cursor *cursor;
  const char *text;
  size_t length;
  check(kv_query_create(MEETING, KV_NUL_TERMINATED, NULL, 0, &query, &error));
  check(kv_store_find(cities, query, NULL, &cursor, &error));
  check(kv_cursor_next(cursor, &text, &length, &error));
  json_t *city = json_loadb(text, length, 0, NULL);
  kv_cursor_close(cursor);
  kv_query_free(query);
  return city;
}

// Counts the pending writes.
static void print_pending(kv_store *cities) {
  char *text;
  size_t index;
  json_t *write;
  int creates = 0, updates = 0;
  check(kv_store_pending(cities, NULL, 0, &text, NULL, &error));
  json_t *writes = json_loads(text, 0, NULL);
  json_array_foreach(writes, index, write) {
    const char *operation = json_string_value(json_object_get(write, "operation"));
    if (strcmp(operation, "create") == 0) creates++;
    if (strcmp(operation, "update") == 0) updates++;
  }
  printf("pending: %d create, %d update\n", creates, updates);
  json_decref(writes);
  kv_free(text);
}

static void work_offline(kv_store *cities) {
  printf("cities: %lld\n", (long long)count(cities, NULL));
  printf("large: %lld\n", (long long)count(cities, "{\"population\":{\"$gte\":1000000}}"));
  visit(cities);
  save(cities, json_pack("{ss ss}", "name", "Camp of Carla", "visitedBy", NAME));
  json_t *signed_city = meeting(cities);
  json_object_set_new(signed_city, "guests", json_pack("[s]", NAME));
  save(cities, signed_city);
  save(cities, json_pack("{ss s[ii]}", "name", "An impossible place", "_geoloc", 0, 200));
  print_pending(cities);
  kv_status status = kv_store_push(cities, NULL, NULL, NULL, &error);
  printf("push: %s\n", kv_status_name(status));
  kv_error_free(error);
}

// Signs the guest book after those who have signed it in the meantime.
static int32_t merge(void *context, const kv_conflict *conflict, char **merged_out) {
  ++*(int *)context;
  if (!conflict->remote) return KV_CONFLICT_KEEP;
  json_t *city = json_loadb(conflict->remote, conflict->remote_length, 0, NULL);
  json_array_append_new(json_object_get(city, "guests"), json_string(NAME));
  *merged_out = json_dumps(city, JSON_COMPACT);
  json_decref(city);
  return KV_CONFLICT_MERGED;
}

// Pushes. A refused write is printed and dropped.
static void push(kv_store *cities) {
  char *result;
  size_t index;
  json_t *refused;
  int conflicts = 0;
  check(kv_store_set_conflict_handler(cities, merge, &conflicts, NULL, &error));
  check(kv_store_push(cities, NULL, &result, NULL, &error));
  print_member(result, "pushed");
  printf("conflicts: %d\n", conflicts);
  json_t *members = json_loads(result, 0, NULL);
  json_array_foreach(json_object_get(members, "errors"), index, refused) {
    printf("refused: %s\n", json_string_value(json_object_get(refused, "error")));
    const char *id = json_string_value(json_object_get(refused, "id"));
    check(kv_store_pending_drop(cities, id, &error));
  }
  json_decref(members);
  kv_free(result);
  print_pending(cities);
}

static void look(kv_store *cities) {
  pull(cities);
  printf("visited: %lld\n", (long long)count(cities, "{\"visitedBy\":{\"$exists\":true}}"));
  printf("mine: %lld\n", (long long)count(cities, "{\"visitedBy\":\"" NAME "\"}"));
  json_t *city = meeting(cities);
  printf("guests: %zu\n", json_array_size(json_object_get(city, "guests")));
  json_decref(city);
}

static void logout(kv_client *client, kv_store *cities) {
  check(kv_user_logout(client, NULL, &error));
  printf("left: %lld\n", (long long)count(cities, NULL));
}

int main(int argument_count, char **arguments) {
  kv_store *cities;
  if (argument_count != 4) fail("usage: traveller STEP HOST DIRECTORY");
  const char *step = arguments[1];
  kv_client *client = open_client(arguments[2], arguments[3]);
  // A backend returns at most 10,000 entities at once, and there are more cities.
  check(kv_store_open(client, "cities", "sync", "{\"autoPagination\":true}", &cities, &error));
  if (strcmp(step, "pull") == 0) {
    const char *user = "{\"username\":\"" NAME "\",\"password\":\"a password\"}";
    check(kv_user_signup(client, user, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
    pull(cities);
  }
  if (strcmp(step, "offline") == 0) work_offline(cities);
  if (strcmp(step, "push") == 0) push(cities);
  if (strcmp(step, "look") == 0) look(cities);
  if (strcmp(step, "logout") == 0) logout(client, cities);
  kv_client_close(client);
  printf("open: %lld\n", (long long)kv_live_objects(NULL));
  return 0;
}
