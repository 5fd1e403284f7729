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

/* What a handler is to do, and what it has seen. */
struct migration {
  int calls, freed;
  const char *answer;
  kv_status status, reopened;
  const char *directory;
  char seen[256];
};

static kv_status migrate(void *context, const kv_migration *record, char **text_out) {
  struct migration *migration = context;
  kv_client *client = NULL;
  migration->calls += 1;
  NUMBER((int64_t)sizeof *record, record->size);
  NUMBER((int64_t)strlen(record->former), (int64_t)record->former_length);
  NUMBER((int64_t)strlen(record->record), (int64_t)record->record_length);
  snprintf(migration->seen, sizeof migration->seen, "%s %s %s %s %s", record->former_model, record->model,
           record->id, record->former, record->record);
  migration->reopened = opens(migration->directory, POST, &client, NULL);
  if (migration->answer != NULL) *text_out = strdup(migration->answer);
  return migration->status;
}

static void forget_migration(void *context) { ((struct migration *)context)->freed += 1; }

static kv_status migrates(const char *directory, kv_client **client, kv_error **error_out) {
  char options[4096];
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid\",\"dataDirectory\":\"%s\",\"schema\":\"type Article @model { title: String! words: Int! }\","
           "\"onSchemaChange\":{\"migrate\":{\"Article\":{\"from\":\"Post\",\"drop\":[\"rating\"]}},\"handler\":\"m\"}}",
           directory);
  return kv_client_open(options, KV_NUL_TERMINATED, client, error_out);
}

static void a_handler_migrates_records(void) {
  kv_client *client = NULL;
  char *json = NULL;
  struct migration migration = {.status = KV_OK, .directory = fresh_directory()};
  OK(opens(migration.directory, POST, &client, &error));
  saved(opened_store(client, "Post", "sync"), "{\"id\":\"1\",\"title\":\"a b\"}");
  OK(kv_client_close(client));
  FAILS(KV_INVALID, "no migration handler is registered as \"m\"", migrates(migration.directory, &client, &error));
  OK(kv_migration_register("m", migrate, &migration, forget_migration, &error));
  FAILS(KV_CONFLICT, "\"1\" of Post cannot become one of the new schema: Article.words is required",
        migrates(migration.directory, &client, &error));
  TEXT("Post Article 1 {\"id\":\"1\",\"title\":\"a b\",\"rating\":3} {\"id\":\"1\",\"title\":\"a b\"}", migration.seen);
  NUMBER(KV_MISUSE, migration.reopened);
  migration.answer = "Nobody counts them";
  migration.status = KV_NOT_FOUND;
  FAILS(KV_CONFLICT, "the migration handler failed: Nobody counts them", migrates(migration.directory, &client, &error));
  migration.answer = NULL;
  FAILS(KV_CONFLICT, "the migration handler failed: KV_NOT_FOUND", migrates(migration.directory, &client, &error));
  migration.answer = "{\"title\":\"a b\",\"words\":2}";
  migration.status = KV_OK;
  OK(migrates(migration.directory, &client, &error));
  OK(kv_store_find_by_id(opened_store(client, "Article", "sync"), "1", NULL, &json, NULL, &error));
  TEXT("{\"title\":\"a b\",\"words\":2,\"id\":\"1\"}", json);
  kv_free(json);
  NUMBER(4, migration.calls);
  OK(kv_migration_unregister("m", &error));
  NUMBER(0, migration.freed);
  OK(kv_client_close(client));
  NUMBER(1, migration.freed);
}

static void migration_handlers_have_one_name_each(void) {
  struct migration migration = {.freed = 0};
  OK(kv_migration_register("m", migrate, &migration, forget_migration, &error));
  FAILS(KV_CONFLICT, "exists already", kv_migration_register("m", migrate, &migration, forget_migration, &error));
  NUMBER(1, migration.freed);
  OK(kv_migration_unregister("m", &error));
  NUMBER(2, migration.freed);
  FAILS(KV_NOT_FOUND, "\"m\"", kv_migration_unregister("m", &error));
  FAILS(KV_INVALID, "empty", kv_migration_register("", migrate, &migration, forget_migration, &error));
  FAILS(KV_MISUSE, "migrate", kv_migration_register("m", NULL, &migration, forget_migration, &error));
  NUMBER(4, migration.freed);
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
  RUN("a handler migrates records, or ends the migration", a_handler_migrates_records);
  RUN("handlers have one name each, and are freed once", migration_handlers_have_one_name_each);
  RUN("a schema that the data does not follow changes nothing", other_schemas_wipe_nothing);
  return finish();
}
