/* Versions, names, features, memory, errors: what needs no client. */
#include "check.h"

static void has_the_header_version(void) {
  char text[40];
  snprintf(text, sizeof text, "%d.%d.%d", KV_VERSION_MAJOR, KV_VERSION_MINOR, KV_VERSION_PATCH);
  TEXT(text, kv_version());
  NUMBER(KV_VERSION_NUMBER, kv_version_number());
}

static void names_every_status(void) {
  static const struct {
    kv_status status;
    const char *name;
  } all[] = {
      {KV_OK, "KV_OK"},
      {KV_PARTIAL, "KV_PARTIAL"},
      {KV_DONE, "KV_DONE"},
      {KV_MISUSE, "KV_MISUSE"},
      {KV_INVALID, "KV_INVALID"},
      {KV_NOT_FOUND, "KV_NOT_FOUND"},
      {KV_CONFLICT, "KV_CONFLICT"},
      {KV_NO_USER, "KV_NO_USER"},
      {KV_UNAUTHORIZED, "KV_UNAUTHORIZED"},
      {KV_FORBIDDEN, "KV_FORBIDDEN"},
      {KV_PENDING, "KV_PENDING"},
      {KV_UNSUPPORTED, "KV_UNSUPPORTED"},
      {KV_NETWORK, "KV_NETWORK"},
      {KV_TIMEOUT, "KV_TIMEOUT"},
      {KV_CANCELLED, "KV_CANCELLED"},
      {KV_SERVER, "KV_SERVER"},
      {KV_PROTOCOL, "KV_PROTOCOL"},
      {KV_TOO_LARGE, "KV_TOO_LARGE"},
      {KV_STORAGE, "KV_STORAGE"},
      {KV_CORRUPT, "KV_CORRUPT"},
      {KV_FULL, "KV_FULL"},
      {KV_BUSY, "KV_BUSY"},
      {KV_INTERNAL, "KV_INTERNAL"},
      {KV_CERTIFICATE, "KV_CERTIFICATE"},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) TEXT(all[i].name, kv_status_name(all[i].status));
  TEXT("KV_UNKNOWN", kv_status_name(-1));
  TEXT("KV_UNKNOWN", kv_status_name(3));
  TEXT("KV_UNKNOWN", kv_status_name(INT32_MAX));
}

static void lists_features(void) {
  NUMBER(1, kv_has_feature("store"));
  NUMBER(1, kv_has_feature("kinvey"));
  NUMBER(1, kv_has_feature("pump"));
  NUMBER(0, kv_has_feature("time travel"));
  NUMBER(0, kv_has_feature(""));
  NUMBER(0, kv_has_feature("\xFF\xFE"));
  NUMBER(0, kv_has_feature(NULL));
}

static void takes_null(void) {
  kv_free(NULL);
  kv_error_free(NULL);
  kv_query_free(NULL);
  kv_cursor_close(NULL);
  kv_request_free(NULL);
  STATUS(KV_OK, kv_client_close(NULL));
  STATUS(KV_OK, kv_store_close(NULL));
}

static void counts_by_kind(void) {
  kv_query *query = NULL, *none = NULL;
  kv_error *error = NULL;
  OK(kv_query_create(NULL, 0, NULL, 0, &query, &error));
  NUMBER(1, kv_live_objects("query"));
  NUMBER(1, kv_live_objects(NULL));
  NUMBER(0, kv_live_objects("store"));
  NUMBER(0, kv_live_objects("unicorn"));
  NUMBER(KV_INVALID, kv_query_create("{", KV_NUL_TERMINATED, NULL, 0, &none, &error));
  NUMBER(1, kv_live_objects("error"));
  kv_error_free(error);
  CHECK(none == NULL);
  kv_query_free(query);
}

static kv_query *made(const char *filter) {
  kv_query *query = NULL;
  OK(kv_query_create(filter, KV_NUL_TERMINATED, NULL, 0, &query, &error));
  return query;
}

static void an_error_tells_all_it_knows(void) {
  kv_query *query = NULL;
  kv_error *error = NULL;
  kv_status status =
      kv_query_create("{\"a\": nonsense}", KV_NUL_TERMINATED, NULL, 0, &query, &error);
  NUMBER(KV_INVALID, status);
  NUMBER(KV_INVALID, kv_error_status(error));
  CHECK(strlen(kv_error_message(error)) > 5);
  CHECK(strstr(kv_error_json(error), "\"name\":\"KV_INVALID\"") != NULL);
  CHECK(strstr(kv_error_json(error), "\"position\":") != NULL);
  CHECK(kv_error_message(error) == kv_error_message(error));
  kv_error_free(error);
  NUMBER(KV_MISUSE, kv_error_status(error));
  TEXT("", kv_error_message(error));
  TEXT("{}", kv_error_json(error));
  kv_error_free(error);
}

static void nobody_needs_to_take_an_error(void) {
  kv_query *query = NULL;
  NUMBER(KV_INVALID, kv_query_create("[", KV_NUL_TERMINATED, NULL, 0, &query, NULL));
}

static void a_success_clears_the_error(void) {
  kv_error *error = (kv_error *)(intptr_t)0x1234;
  kv_query *query = NULL;
  NUMBER(KV_OK, kv_query_create(NULL, 0, NULL, 0, &query, &error));
  CHECK(error == NULL);
  kv_query_free(query);
}

static void a_query_comes_back_as_json(void) {
  kv_query *query = NULL;
  char *json = NULL;
  size_t length = 0;
  OK(kv_query_create("{\"population\":{\"$gte\":50000}}", KV_NUL_TERMINATED,
                     "{\"sort\":{\"name\":1,\"population\":-1},\"limit\":20}", KV_NUL_TERMINATED,
                     &query, &error));
  OK(kv_query_json(query, &json, &length, &error));
  CHECK(json != NULL && length == strlen(json));
  CHECK(json != NULL && strstr(json, "$gte") && strstr(json, "\"limit\":20"));
  kv_free(json);
  kv_query_free(query);
}

static void lengths_bound_the_text(void) {
  kv_query *query = NULL;
  OK(kv_query_create("{\"a\":1}garbage", 7, NULL, 0, &query, &error));
  kv_query_free(query);
  STATUS(KV_INVALID, kv_query_create("{\"a\":1}garbage", 8, NULL, 0, &query, &error));
  STATUS(KV_INVALID, kv_query_create("{}", (size_t)-2, NULL, 0, &query, &error));
  STATUS(KV_INVALID, kv_query_create("{}", (size_t)1 << 63, NULL, 0, &query, &error));
}

static void handles_do_not_come_back(void) {
  kv_query *first = made("{}");
  kv_query_free(first);
  for (int i = 0; i < 10000; i++) {
    kv_query *next = made("{}");
    if (next == first) {
      CHECK(next != first);
      kv_query_free(next);
      return;
    }
    kv_query_free(next);
  }
  FAILS(KV_MISUSE, "closed", kv_query_json(first, &(char *){NULL}, NULL, &error));
}

int main(void) {
  RUN("the library is of the header's version", has_the_header_version);
  RUN("every status has its name, other numbers have one too", names_every_status);
  RUN("features are listed by name", lists_features);
  RUN("what gives something back takes NULL", takes_null);
  RUN("open handles are counted by kind", counts_by_kind);
  RUN("an error has status, message and JSON until it is freed", an_error_tells_all_it_knows);
  RUN("nobody needs to take an error", nobody_needs_to_take_an_error);
  RUN("a success clears the error", a_success_clears_the_error);
  RUN("a query comes back as JSON", a_query_comes_back_as_json);
  RUN("a length bounds the text, an impossible one is refused", lengths_bound_the_text);
  RUN("a freed handle stays dead while others come and go", handles_do_not_come_back);
  return finish();
}
