/* Queries made from predicate formats. */
#include "check.h"
#include "fixture.h"

#include <pthread.h>

static kv_query *made(const char *format, const char *arguments) {
  kv_query *query = NULL;
  OK(kv_query_from_format(format, arguments, KV_NUL_TERMINATED, NULL, 0, &query, &error));
  return query;
}

static void formats_select(void) {
  kv_client *client = local_client(NULL, "");
  kv_store *store = opened_store(client, "cities", "sync");
  int64_t count = -1;
  char *json = NULL;
  size_t length = 0;
  OK(kv_store_save_many(store,
                        "[{\"name\":\"Bonn\",\"people\":313},{\"name\":\"Ulm\",\"people\":117},"
                        "{\"name\":\"Jena\",\"people\":108}]",
                        KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  kv_query *query = made("people > %d AND name BEGINSWITH %@", "[110,\"B\"]");
  OK(kv_store_count(store, query, NULL, &count, &error));
  NUMBER(1, count);
  OK(kv_query_format(query, &json, &length, &error));
  CHECK(json && strlen(json) == length && strstr(json, "\"format\":"));
  kv_free(json);
  kv_query_free(query);
  OK(kv_client_close(client));
}

static void arguments_are_values(void) {
  char *json = NULL;
  kv_query *query = made("name == %@", "[\"x' OR 1 == 1\"]");
  OK(kv_query_json(query, &json, NULL, &error));
  TEXT("{\"filter\":{\"name\":\"x' OR 1 == 1\"}}", json);
  kv_free(json);
  kv_query_free(query);
}

static kv_query *none;

static void refuses(const char *format, const char *arguments) {
  kv_status status = kv_query_from_format(format, arguments, KV_NUL_TERMINATED, NULL, 0, &none, NULL);
  if (status != KV_INVALID) printf("    %.60s\n", format);
  NUMBER(KV_INVALID, status);
  CHECK(none == NULL);
}

static void bad_formats(void) {
  FAILS(KV_MISUSE, "format", kv_query_from_format(NULL, NULL, 0, NULL, 0, &none, &error));
  refuses("", NULL);
  refuses("a ==", NULL);
  refuses("a == 1 AND", NULL);
  refuses("(a == 1", NULL);
  refuses("a == 1)", NULL);
  refuses("a == 'open", NULL);
  refuses("a == \xFF", NULL);
  refuses("a == %@", NULL);
  refuses("a == %@", "[]");
  refuses("a == %@", "[1,2]");
  refuses("a == %@", "[");
  refuses("a == %@", "7");
  refuses("a == $v", "{\"variables\":{}}");
  refuses("a == 1", "{\"colour\":1}");
  refuses("a MATCHES '('", NULL);
}

/* What nests without an end must end before the stack of a small thread does. */
static void *nest(void *unused) {
  static const char *const parts[][3] = {
      {"(", "a == 1", ")"},          {"NOT ", "a == 1", ""},         {"NOT (", "a == 1", ")"},
      {"{", "1", "}"},               {"-", "1 == a", ""},            {"abs(", "a", ")"},
      {"a == 1 AND (", "b == 1", ")"}, {"ANY a.", "b == 1", ""},       {"a IN {", "1", "}"},
      {"SUBQUERY(a, $x, ", "a == 1", ").@count > 0"}, {"a[", "0", "]"}, {"a == (1 + ", "1", ")"},
      {"TERNARY(a == 1, ", "1", ", 2)"}, {"a == 1 + ", "1", ""}, {"a ** ", "1 == 1", ""},
      {"a == 1 OR ", "b == 1", ""}, {"a == b.", "c", ""},
  };
  (void)unused;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    char *open = repeated("", parts[i][0], 100000, parts[i][1]);
    char *format = repeated(open, parts[i][2], 100000, "");
    kv_query *query = NULL;
    kv_status status = kv_query_from_format(format, NULL, 0, NULL, 0, &query, NULL);
    if (status == KV_OK) {
      char *json = NULL;
      kv_query_json(query, &json, NULL, NULL);
      kv_free(json);
      kv_query_format(query, &json, NULL, NULL);
      kv_free(json);
    } else if (status != KV_UNSUPPORTED) {
      NUMBER(KV_INVALID, status);
    }
    kv_query_free(query);
    free(open);
    free(format);
  }
  return NULL;
}

static void on_small_stack(void *(*work)(void *)) {
  pthread_attr_t small;
  pthread_t thread;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 512 << 10);
  NUMBER(0, pthread_create(&thread, &small, work, NULL));
  pthread_join(thread, NULL);
  pthread_attr_destroy(&small);
}

static void endless_formats(void) { on_small_stack(nest); }

/* docs/limits.md: to read, print and evaluate what nests as deep as it may, a small stack is enough. */
static void *nest_a_hundred(void *unused) {
  static const char *const parts[][5] = {
      {"", "(", "a == 1", ")", ""},
      {"", "a == 1 AND NOT (", "b == 1", ")", ""},
      {"a IN ", "{", "1", "}", ""},
      {"", "abs(1 + a * ", "a", ")", " > 0"},
      {"", "TERNARY(a == 1, ", "1", ", 2)", " == 1"},
      {"", "SUBQUERY(a, $x, ", "a == 1", ").@count > 0", ""},
  };
  kv_client *client = local_client(NULL, "");
  kv_store *store = opened_store(client, "things", "sync");
  (void)unused;
  OK(kv_store_save(store, "{\"a\":1}", KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    for (int levels = 100; levels <= 101; levels++) {
      char *open = repeated(parts[i][0], parts[i][1], levels, parts[i][2]);
      char *closed = repeated(open, parts[i][3], levels, parts[i][4]);
      char *json = NULL;
      kv_query *query = NULL;
      int64_t count = -1;
      kv_error *why = NULL;
      kv_status status = kv_query_from_format(closed, NULL, 0, NULL, 0, &query, &why);
      NUMBER(levels <= 100 ? KV_OK : KV_INVALID, status);
      if (status == KV_OK) {
        OK(kv_store_count(store, query, NULL, &count, &error));
        kv_query_json(query, &json, NULL, NULL);
        kv_free(json);
        OK(kv_query_format(query, &json, NULL, &error));
        kv_free(json);
      } else {
        CHECK(strstr(kv_error_message(why), "the limit is 100 levels") != NULL);
      }
      kv_error_free(why);
      kv_query_free(query);
      free(open);
      free(closed);
    }
  }
  OK(kv_client_close(client));
  return NULL;
}

static void hundred_levels(void) { on_small_stack(nest_a_hundred); }

int main(void) {
  RUN("a format selects, and comes back as a format", formats_select);
  RUN("arguments are values, whatever they look like", arguments_are_values);
  RUN("what is no format, or lacks its arguments, is refused", bad_formats);
  RUN("a hundred levels are the limit, with a small stack", hundred_levels);
  RUN("100,000 levels end before a small stack does", endless_formats);
  return finish();
}
