/* Models of a GraphQL schema as the collections of a local database. */
#define _GNU_SOURCE
#include "check.h"
#include "fixture.h"

#define POST "type Post @model {\\n title: String!\\n rating: Int! @default(value: \\\"3\\\")\\n}"

static kv_status opens(const char *directory, const char *schema, kv_client **client,
                       kv_error **error_out) {
  char options[4096];
  snprintf(options, sizeof options, "{\"appKey\":\"kid\",\"dataDirectory\":\"%s\",\"schema\":\"%s\"}",
           directory, schema);
  return kv_client_open(options, KV_NUL_TERMINATED, client, error_out);
}

static void records_are_checked(void) {
  kv_client *client = NULL;
  char *json = NULL;
  OK(opens(fresh_directory(), POST, &client, &error));
  kv_store *posts = opened_store(client, "Post", "sync");
  OK(kv_store_save(posts, "{\"id\":\"1\",\"title\":\"a\"}", KV_NUL_TERMINATED, NULL, &json, NULL, &error));
  TEXT("{\"id\":\"1\",\"title\":\"a\",\"rating\":3}", json);
  kv_free(json);
  FAILS(KV_INVALID, "Post.title is required",
        kv_store_save(posts, "{\"rating\":1}", KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  FAILS(KV_INVALID, "no model", kv_store_open(client, "posts", "sync", NULL, &posts, &error));
  OK(kv_client_close(client));
}

static void other_schemas_wipe_nothing(void) {
  kv_client *client = NULL;
  const char *directory = fresh_directory();
  OK(opens(directory, POST, &client, &error));
  saved(opened_store(client, "Post", "sync"), "{\"id\":\"1\",\"title\":\"a\"}");
  OK(kv_client_close(client));
  FAILS(KV_CONFLICT, "Post was removed", opens(directory, "type Note @model { id: ID! }", &client, &error));
  FAILS(KV_INVALID, "line 2, column 9", opens(directory, "type Post @model {\\n title: Strin\\n}", &client, &error));
  OK(opens(directory, POST " type Note @model { id: ID! }", &client, &error));
  NUMBER(1, counted(opened_store(client, "Post", "sync")));
  OK(kv_client_close(client));
}

static void relations_lead_to_records(void) {
  kv_client *client = NULL;
  char *filter = NULL;
  kv_query *query = NULL;
  int64_t count = 0;
  OK(opens(fresh_directory(),
           "type Post @model { id: ID! comments: [Comment] @hasMany } "
           "type Comment @model { id: ID! post: Post @belongsTo }",
           &client, &error));
  kv_store *posts = opened_store(client, "Post", "sync");
  kv_store *comments = opened_store(client, "Comment", "sync");
  saved(posts, "{\"id\":\"p\"}");
  saved(comments, "{\"id\":\"c\",\"postCommentsId\":\"p\"}");
  saved(comments, "{\"id\":\"d\",\"postCommentsId\":\"q\"}");
  OK(kv_store_related(posts, "p", "comments", &filter, NULL, &error));
  TEXT("{\"postCommentsId\":\"p\"}", filter);
  OK(kv_query_create(filter, KV_NUL_TERMINATED, NULL, 0, &query, &error));
  kv_free(filter);
  OK(kv_store_count(comments, query, NULL, &count, &error));
  NUMBER(1, count);
  kv_query_free(query);
  FAILS(KV_INVALID, "no relation \"author\"", kv_store_related(posts, "p", "author", &filter, NULL, &error));
  FAILS(KV_NOT_FOUND, "no entity", kv_store_related(comments, "e", "post", &filter, NULL, &error));
  OK(kv_store_remove_by_id(posts, "p", NULL, &count, &error));
  NUMBER(1, counted(comments));
  OK(kv_client_close(client));
}

static void schemas_are_described(void) {
  char *json = NULL;
  size_t length = 0;
  OK(kv_schema_describe("enum State { OPEN } type Post @model { state: State! }", &json, &length, &error));
  NUMBER((int64_t)strlen(json), (int64_t)length);
  const char *start = "{\"enums\":[{\"name\":\"State\",\"values\":[\"OPEN\"]}],\"types\":[],"
                      "\"models\":[{\"name\":\"Post\",\"pluralName\":\"Posts\",\"key\":[\"id\"],";
  NUMBER(0, strncmp(start, json, strlen(start)));
  kv_free(json);
  FAILS(KV_INVALID, "line 1, column 9", kv_schema_describe("type A {", &json, NULL, &error));
}

int main(void) {
  RUN("a schema is described, or its mistake is", schemas_are_described);
  RUN("relations lead to records, and are followed by removals", relations_lead_to_records);
  RUN("records are checked, and completed", records_are_checked);
  RUN("a schema that the data does not follow changes nothing", other_schemas_wipe_nothing);
  return finish();
}
