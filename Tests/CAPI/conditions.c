/* Saves and removals that happen only if the stored entity is what the caller says. */
#define _GNU_SOURCE
#include "check.h"
#include "fixture.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 4, ROUNDS = 100 };

static kv_client *client;
static kv_store *notes;

static void open_notes(void) {
  client = local_client(NULL, "");
  notes = opened_store(client, "notes", "sync");
}

static void close_notes(void) { OK(kv_client_close(client)); }

static kv_status save(const char *entity, const char *options, kv_error **error_out) {
  return kv_store_save(notes, entity, KV_NUL_TERMINATED, options, NULL, NULL, error_out);
}

static void note_is(const char *id, const char *wanted) {
  char *json = NULL;
  OK(kv_store_find_by_id(notes, id, NULL, &json, NULL, &error));
  TEXT(wanted, json);
  kv_free(json);
}

static void inserts(void) {
  open_notes();
  OK(save("{\"_id\":\"a\",\"n\":1}", "{\"if\":null}", &error));
  FAILS(KV_CONFLICT, "\"a\"", save("{\"_id\":\"a\",\"n\":2}", "{\"if\":null}", &error));
  OK(save("{\"n\":3}", "{\"if\":null}", &error));
  note_is("a", "{\"_id\":\"a\",\"n\":1}");
  NUMBER(2, counted(notes));
  close_notes();
}

static void meets_a_version(void) {
  char options[64];
  int64_t version = 0, count = -1;
  open_notes();
  saved(notes, "{\"_id\":\"a\",\"n\":1}");
  OK(kv_store_version(notes, "a", &version, &error));
  snprintf(options, sizeof options, "{\"if\":%" PRId64 "}", version);
  OK(save("{\"_id\":\"a\",\"n\":2}", options, &error));
  FAILS(KV_CONFLICT, "\"a\"", save("{\"_id\":\"a\",\"n\":3}", options, &error));
  FAILS(KV_CONFLICT, "version", kv_store_remove_by_id(notes, "a", options, &count, &error));
  FAILS(KV_CONFLICT, "does not exist", kv_store_remove_by_id(notes, "b", options, &count, &error));
  note_is("a", "{\"_id\":\"a\",\"n\":2}");
  snprintf(options, sizeof options, "{\"if\":%" PRId64 "}", version + 1);
  OK(kv_store_remove_by_id(notes, "a", options, &count, &error));
  NUMBER(1, count);
  close_notes();
}

static void meets_a_filter(void) {
  open_notes();
  saved(notes, "{\"_id\":\"a\",\"state\":\"open\"}");
  OK(save("{\"_id\":\"a\",\"state\":\"taken\"}", "{\"if\":{\"state\":\"open\"}}", &error));
  FAILS(KV_CONFLICT, "\"a\"",
        save("{\"_id\":\"a\",\"state\":\"mine\"}", "{\"if\":{\"state\":\"open\"}}", &error));
  note_is("a", "{\"_id\":\"a\",\"state\":\"taken\"}");
  close_notes();
}

static void saves_all_or_none(void) {
  open_notes();
  saved(notes, "{\"_id\":\"b\"}");
  FAILS(KV_CONFLICT, "\"b\"",
        kv_store_save_many(notes, "[{\"_id\":\"a\"},{\"_id\":\"b\"}]", KV_NUL_TERMINATED,
                           "{\"if\":null}", NULL, NULL, &error));
  NUMBER(1, counted(notes));
  close_notes();
}

static void within_a_transaction(void) {
  kv_transaction *transaction = NULL;
  int64_t count = -1;
  open_notes();
  saved(notes, "{\"_id\":\"a\",\"n\":1}");
  OK(kv_transaction_begin(client, NULL, &transaction, &error));
  FAILS(KV_CONFLICT, "\"a\"",
        kv_transaction_save_if(transaction, notes, "{\"_id\":\"a\"}", KV_NUL_TERMINATED,
                               "{\"if\":null}", NULL, NULL, &error));
  OK(kv_transaction_save_if(transaction, notes, "{\"_id\":\"b\"}", KV_NUL_TERMINATED,
                            "{\"if\":null}", NULL, NULL, &error));
  OK(kv_transaction_remove_by_id_if(transaction, notes, "a", "{\"if\":{\"n\":1}}", &count, &error));
  NUMBER(1, count);
  FAILS(KV_INVALID, "ttl",
        kv_transaction_save_if(transaction, notes, "{}", 2, "{\"ttl\":1}", NULL, NULL, &error));
  /* Somebody else inserts what this one is about to. */
  saved(notes, "{\"_id\":\"b\"}");
  FAILS(KV_CONFLICT, "\"b\"", kv_transaction_commit(transaction, &error));
  kv_transaction_close(transaction);
  note_is("a", "{\"_id\":\"a\",\"n\":1}");
  close_notes();
}

static void refused(void) {
  int64_t count = 0;
  char *json = NULL;
  open_notes();
  const char *wrong[] = {"{\"if\":0}", "{\"if\":1.5}", "{\"if\":\"a\"}", "{\"if\":[]}", "{\"if\":true}"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    FAILS(KV_INVALID, "\"if\"", save("{\"_id\":\"a\"}", wrong[i], &error));
  FAILS(KV_INVALID, "", save("{\"_id\":\"a\"}", "{\"if\":{\"$gt\":1}}", &error));
  FAILS(KV_INVALID, "_id", save("{\"n\":1}", "{\"if\":1}", &error));
  FAILS(KV_INVALID, "removal", kv_store_remove_by_id(notes, "a", "{\"if\":null}", &count, &error));
  /* Where a query says which ones it is about, it says this too. */
  FAILS(KV_INVALID, "if", kv_store_remove(notes, NULL, "{\"if\":1}", &count, &error));
  FAILS(KV_INVALID, "if",
        kv_store_update(notes, NULL, "{\"$set\":{\"n\":1}}", KV_NUL_TERMINATED, "{\"if\":1}", &json,
                        NULL, &error));
  kv_store *store = NULL;
  FAILS(KV_INVALID, "if", kv_store_open(client, "c", "sync", "{\"if\":null}", &store, &error));
  NUMBER(0, counted(notes));
  close_notes();
}

/* Inserts the entities of all rounds; gives how many were not there. */
static int wins(kv_store *store) {
  int won = 0;
  for (int i = 0; i < ROUNDS; i++) {
    char entity[64];
    snprintf(entity, sizeof entity, "{\"_id\":\"%d\"}", i);
    kv_status status =
        kv_store_save(store, entity, KV_NUL_TERMINATED, "{\"if\":null}", NULL, NULL, NULL);
    if (status == KV_OK) won++;
    else if (status != KV_CONFLICT) return -1;
  }
  return won;
}

static void *thread(void *context) {
  (void)context;
  return (void *)(intptr_t)wins(notes);
}

static void four_threads(void) {
  pthread_t threads[WORKERS];
  intptr_t won = 0;
  open_notes();
  for (int i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, thread, NULL);
  for (int i = 0; i < WORKERS; i++) {
    void *some = NULL;
    pthread_join(threads[i], &some);
    CHECK((intptr_t)some >= 0);
    won += (intptr_t)some;
  }
  NUMBER(ROUNDS, won);
  NUMBER(ROUNDS, counted(notes));
  close_notes();
}

static void four_processes(void) {
  const char *directory = fresh_directory();
  pid_t children[WORKERS];
  int won = 0;
  fflush(stdout);
  for (int i = 0; i < WORKERS; i++) {
    children[i] = fork();
    if (children[i] != 0) continue;
    alarm(120);
    kv_client *own = local_client(directory, ",\"durability\":\"normal\"");
    int some = wins(opened_store(own, "notes", "sync"));
    _exit(some < 0 ? 255 : some);
  }
  for (int i = 0; i < WORKERS; i++) {
    int status = -1;
    waitpid(children[i], &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= ROUNDS);
    won += WEXITSTATUS(status);
  }
  NUMBER(ROUNDS, won);
}

int main(void) {
  RUN("an insert never replaces what is there", inserts);
  RUN("a version is met once", meets_a_version);
  RUN("a filter is asked of what is stored", meets_a_filter);
  RUN("of many all are saved or none", saves_all_or_none);
  RUN("a transaction's conditions hold when it commits", within_a_transaction);
  RUN("what is no condition, or out of place, is refused", refused);
  RUN("of four threads that insert the same entities one wins each", four_threads);
  RUN("of four processes, too", four_processes);
  return finish();
}
