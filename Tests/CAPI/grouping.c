/* Groups, distinct values, and combined queries. */
#include "check.h"
#include "fixture.h"

static kv_store *cities(kv_client *client) {
  kv_store *store = opened_store(client, "cities", "sync");
  OK(kv_store_save_many(store,
                        "[{\"_id\":\"b\",\"state\":\"MA\",\"people\":650,\"tags\":[1,2]},"
                        "{\"_id\":\"s\",\"state\":\"MA\",\"people\":44,\"tags\":2},"
                        "{\"_id\":\"r\",\"state\":\"NV\",\"people\":264}]",
                        KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  return store;
}

static void groups_have_the_numbers_asked_for(void) {
  kv_client *client = local_client(NULL, "");
  kv_store *store = cities(client);
  char *json = NULL;
  size_t length = 0;
  OK(kv_store_group(store, "{\"keys\":[\"state\"],\"aggregates\":{\"n\":\"count\",\"m\":{\"avg\":\"people\"}}}",
                    KV_NUL_TERMINATED, NULL, NULL, &json, &length, &error));
  TEXT("[{\"state\":\"MA\",\"n\":2,\"m\":347},{\"state\":\"NV\",\"n\":1,\"m\":264}]", json);
  NUMBER(json ? (int64_t)strlen(json) : 0, (int64_t)length);
  kv_free(json);
  OK(kv_store_distinct(store, "tags", NULL, NULL, &json, &length, &error));
  TEXT("[1,2]", json);
  kv_free(json);
  FAILS(KV_INVALID, "aggregates",
        kv_store_group(store, "{}", 2, NULL, NULL, &json, &length, &error));
  CHECK(json == NULL && length == 0);
  FAILS(KV_MISUSE, "group_json", kv_store_group(store, NULL, 0, NULL, NULL, &json, NULL, &error));
  FAILS(KV_MISUSE, "json_out", kv_store_distinct(store, "a", NULL, NULL, NULL, NULL, &error));
  OK(kv_client_close(client));
}

struct people {
  int64_t sums[2];
  kv_client *closed;
};

static int32_t add(void *context, size_t group, const char *entity, size_t length) {
  struct people *people = context;
  CHECK(group < 2 && strlen(entity) == length);
  const char *member = strstr(entity, "\"people\":");
  if (group < 2 && member) people->sums[group] += atoi(member + 9);
  if (people->closed) OK(kv_client_close(people->closed));
  return people->sums[group] > 5000;
}

static void a_function_of_the_callers_reduces(void) {
  kv_client *client = local_client(NULL, "");
  kv_store *store = cities(client);
  struct people people = {{0, 0}, NULL};
  char *json = NULL;
  OK(kv_store_reduce(store, "[\"state\"]", KV_NUL_TERMINATED, NULL, NULL, add, &people, &json, NULL,
                     &error));
  TEXT("[{\"state\":\"MA\"},{\"state\":\"NV\"}]", json);
  NUMBER(694, people.sums[0]);
  NUMBER(264, people.sums[1]);
  kv_free(json);
  people.sums[0] = 5000;
  FAILS(KV_CANCELLED, "stop",
        kv_store_reduce(store, NULL, 0, NULL, NULL, add, &people, &json, NULL, &error));
  FAILS(KV_INVALID, "keys_json",
        kv_store_reduce(store, "[1]", 3, NULL, NULL, add, &people, &json, NULL, &error));
  FAILS(KV_MISUSE, "reduce",
        kv_store_reduce(store, NULL, 0, NULL, NULL, NULL, NULL, &json, NULL, &error));
  people = (struct people){{0, 0}, client};
  FAILS(KV_MISUSE, "closed",
        kv_store_reduce(store, NULL, 0, NULL, NULL, add, &people, &json, NULL, &error));
  CHECK(json == NULL);
}

static void queries_are_combined(void) {
  kv_client *client = local_client(NULL, "");
  kv_store *store = cities(client);
  kv_query *big = NULL, *both = NULL, *none = NULL;
  int64_t count = -1;
  OK(kv_query_create("{\"people\":{\"$gt\":200}}", KV_NUL_TERMINATED, NULL, 0, &big, &error));
  OK(kv_query_combine("not", &big, 1, NULL, 0, &none, &error));
  kv_query *parts[] = {big, none, NULL};
  OK(kv_query_combine("or", parts, 2, "{\"limit\":2}", KV_NUL_TERMINATED, &both, &error));
  OK(kv_store_count(store, none, NULL, &count, &error));
  NUMBER(1, count);
  OK(kv_store_count(store, both, NULL, &count, &error));
  NUMBER(2, count);
  kv_query_free(both);
  OK(kv_query_combine("and", parts, 3, NULL, 0, &both, &error));
  OK(kv_store_count(store, both, NULL, &count, &error));
  NUMBER(0, count);
  kv_query_free(both);
  FAILS(KV_INVALID, "combination", kv_query_combine("xor", parts, 2, NULL, 0, &both, &error));
  FAILS(KV_INVALID, "combine", kv_query_combine("or", parts, 0, NULL, 0, &both, &error));
  FAILS(KV_INVALID, "one", kv_query_combine("not", parts, 2, NULL, 0, &both, &error));
  FAILS(KV_MISUSE, "queries", kv_query_combine("or", NULL, 2, NULL, 0, &both, &error));
  CHECK(both == NULL);
  kv_query_free(big);
  kv_query_free(none);
  OK(kv_client_close(client));
}

int main(void) {
  RUN("groups have the numbers asked for", groups_have_the_numbers_asked_for);
  RUN("a function of the caller's reduces, and may stop or close the client", a_function_of_the_callers_reduces);
  RUN("queries are combined", queries_are_combined);
  return finish();
}
