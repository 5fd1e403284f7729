// The guide's second program over models of a schema: users, posts, and who edits what, in a local database.
//   cc editors.c $(pkg-config --cflags --libs kvstore) -o editors && ./editors ../models/schema.graphql DIRECTORY
#define _GNU_SOURCE
#include <kvstore.h>
#include <stdio.h>
#include <stdlib.h>

static kv_error *error;
static kv_client *client;

static void check(kv_status status) {
  if (!error) return;
  fprintf(stderr, "%s: %s\n", kv_status_name(status), kv_error_message(error));
  exit(1);
}

// The text of a file, as a JSON text: the option "schema".
static char *quoted(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!file || !out) exit(2);
  fputc('"', out);
  for (int c; (c = fgetc(file)) != EOF;)
    if (c == '\n') fputs("\\n", out);
    else if (c == '"' || c == '\\') fprintf(out, "\\%c", c);
    else fputc(c, out);
  fputc('"', out);
  fclose(file);
  fclose(out);
  return text;
}

static kv_store *store_of(const char *model) {
  kv_store *store;
  check(kv_store_open(client, model, "sync", NULL, &store, &error));
  return store;
}

static void save(kv_store *store, const char *record) {
  check(kv_store_save(store, record, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
}

// Prints what a relation of a record leads to, in the store of the model that it leads to.
static void show(kv_store *store, const char *id, const char *relation, kv_store *other) {
  char *filter;
  const char *record;
  kv_query *query;
  kv_cursor *cursor;
  check(kv_store_related(store, id, relation, &filter, NULL, &error));
  check(kv_query_create(filter, KV_NUL_TERMINATED, NULL, 0, &query, &error));
  check(kv_store_find(other, query, NULL, &cursor, &error));
  printf("%s of %s:\n", relation, id);
  while (kv_cursor_next(cursor, &record, NULL, &error) == KV_OK) printf("  %s\n", record);
  kv_cursor_close(cursor);
  kv_query_free(query);
  kv_free(filter);
}

int main(int count, char **arguments) {
  char *schema = count == 3 ? quoted(arguments[1]) : NULL, *options;
  if (!schema || asprintf(&options, "{\"appKey\":\"blog\",\"dataDirectory\":\"%s\",\"schema\":%s}", arguments[2], schema) < 0)
    return 2;
  check(kv_client_open(options, KV_NUL_TERMINATED, &client, &error));
  kv_store *users = store_of("User"), *posts = store_of("Post"), *editors = store_of("PostEditor");
  save(users, "{\"id\":\"ann\",\"username\":\"Ann\"}");
  save(users, "{\"id\":\"ben\",\"username\":\"Ben\"}");
  save(posts, "{\"id\":\"p\",\"title\":\"Many to many\",\"status\":\"ACTIVE\"}");
  save(editors, "{\"id\":\"1\",\"postID\":\"p\",\"editorID\":\"ann\"}");
  save(editors, "{\"id\":\"2\",\"postID\":\"p\",\"editorID\":\"ben\"}");

  show(posts, "p", "editors", editors);
  show(editors, "2", "editor", users);

  // What belongs to a record goes with it; the post that Ben edited stays.
  check(kv_store_remove_by_id(users, "ben", NULL, NULL, &error));
  show(posts, "p", "editors", editors);
  kv_client_close(client);  // also closes the stores
  free(options);
  free(schema);
  return 0;
}
