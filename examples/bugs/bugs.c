// A tracker of bugs, whose list loads little by little. Where the bugs are kept is only a name.
//   cc bugs.c bugs_file.c $(pkg-config --cflags --libs kvstore jansson) -o bugs
//   ./bugs local DIRECTORY add "It crashes" 3
//   ./bugs bugs-file DIRECTORY list
// Commands: add TITLE SEVERITY, retitle ID TITLE, fix ID, remove ID, refresh COUNT, list, show POSITION.
#include "bugs_file.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kv_error *error;

static void check(kv_status status) {
  if (status == KV_OK || status == KV_DONE) return;
  fprintf(stderr, "%s: %s\n", kv_status_name(status), kv_error_message(error));
  exit(1);
}

// Saves a bug, and returns it as it is stored.
static json_t *saved(kv_store *bugs, json_t *bug) {
  char *text = json_dumps(bug, 0), *stored;
  check(kv_store_save(bugs, text, KV_NUL_TERMINATED, NULL, &stored, NULL, &error));
  json_decref(bug);
  bug = json_loads(stored, 0, NULL);
  kv_free(stored);
  free(text);
  return bug;
}

static void add(kv_store *bugs, const char *title, int severity) {
  json_t *bug = saved(bugs, json_pack("{s:s,s:i,s:b}", "title", title, "severity", severity, "fixed", 0));
  printf("added %s\n", json_string_value(json_object_get(bug, "_id")));
  json_decref(bug);
}

static void refresh(kv_store *bugs, int count) {
  json_t *many = json_array();
  for (int number = 0; number < count; number++) {
    char title[40];
    snprintf(title, sizeof title, "Terrible bug %d", number);
    json_array_append_new(many, json_pack("{s:s,s:i,s:b}", "title", title, "severity", 9, "fixed", 0));
  }
  char *text = json_dumps(many, 0);
  check(kv_store_save_many(bugs, text, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  printf("added %d\n", count);
  json_decref(many);
  free(text);
}

// Changes a member of a bug.
static void change(kv_store *bugs, const char *id, const char *member, json_t *value) {
  char *text;
  check(kv_store_find_by_id(bugs, id, NULL, &text, NULL, &error));
  json_t *bug = json_loads(text, 0, NULL);
  json_object_set_new(bug, member, value);
  json_decref(saved(bugs, bug));
  kv_free(text);
}

// The worst bugs first; a batch of them is in memory at a time.
static kv_results *ordered(kv_store *bugs) {
  kv_query *query;
  kv_results *found;
  check(kv_query_create(NULL, 0, "{\"sort\":{\"severity\":-1,\"title\":1}}", KV_NUL_TERMINATED, &query, &error));
  check(kv_store_results(bugs, "{\"fetchBatchSize\":20}", KV_NUL_TERMINATED, query, NULL, &found, &error));
  kv_query_free(query);
  return found;
}

static void list(kv_store *bugs) {
  kv_results *found = ordered(bugs);
  int64_t count;
  const char *text;
  check(kv_results_count(found, &count, &error));
  printf("%lld bugs\n", (long long)count);
  for (int64_t position = 0; position < count; position++) {
    check(kv_results_get(found, (uint64_t)position, &text, NULL, NULL, &error));
    json_t *bug = json_loads(text, 0, NULL);
    printf("%s %lld %s %s\n", json_string_value(json_object_get(bug, "_id")),
           (long long)json_integer_value(json_object_get(bug, "severity")),
           json_is_true(json_object_get(bug, "fixed")) ? "fixed" : "open",
           json_string_value(json_object_get(bug, "title")));
    json_decref(bug);
  }
  kv_results_close(found);
}

static void show(kv_store *bugs, int position) {
  kv_results *found = ordered(bugs);
  const char *text;
  check(kv_results_get(found, (uint64_t)position, &text, NULL, NULL, &error));
  json_t *bug = json_loads(text, 0, NULL);
  printf("%s\n", json_string_value(json_object_get(bug, "title")));
  json_decref(bug);
  kv_results_close(found);
}

static int carry_out(kv_store *bugs, const char *command, int count, char **arguments) {
  if (strcmp(command, "add") == 0 && count == 2) {
    add(bugs, arguments[0], atoi(arguments[1]));
  } else if (strcmp(command, "refresh") == 0 && count == 1) {
    refresh(bugs, atoi(arguments[0]));
  } else if (strcmp(command, "retitle") == 0 && count == 2) {
    change(bugs, arguments[0], "title", json_string(arguments[1]));
    printf("retitled %s\n", arguments[0]);
  } else if (strcmp(command, "fix") == 0 && count == 1) {
    change(bugs, arguments[0], "fixed", json_true());
    printf("fixed %s\n", arguments[0]);
  } else if (strcmp(command, "remove") == 0 && count == 1) {
    int64_t removed;
    check(kv_store_remove_by_id(bugs, arguments[0], NULL, &removed, &error));
    printf("removed %lld\n", (long long)removed);
  } else if (strcmp(command, "list") == 0 && count == 0) {
    list(bugs);
  } else if (strcmp(command, "show") == 0 && count == 1) {
    show(bugs, atoi(arguments[0]));
  } else {
    fprintf(stderr, "unknown command %s\n", command);
    return 2;
  }
  return 0;
}

int main(int count, char **arguments) {
  if (count < 4) return fprintf(stderr, "usage: bugs STORE DIRECTORY COMMAND [ARGUMENT…]\n"), 2;
  check(bugs_file_register(&error));
  kv_client *client;
  kv_store *bugs;
  json_t *object = json_pack("{s:s,s:s,s:s}", "appKey", "bugs", "store", arguments[1], "dataDirectory", arguments[2]);
  char *options = json_dumps(object, 0);
  check(kv_client_open(options, KV_NUL_TERMINATED, &client, &error));
  check(kv_store_open(client, "bugs", "sync", NULL, &bugs, &error));
  int status = carry_out(bugs, arguments[3], count - 4, arguments + 4);
  check(kv_store_close(bugs));
  check(kv_client_close(client));
  check(kv_store_type_unregister("bugs-file", &error));
  json_decref(object);
  free(options);
  return status;
}
