/* Transactions over several stores, and updates of members. */
#define _GNU_SOURCE
#include "check.h"
#include "fixture.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 4, ROUNDS = 200 };

static kv_client *client;
static kv_store *accounts, *journal;

static void open_bank(void) {
  client = local_client(NULL, "");
  accounts = opened_store(client, "accounts", "sync");
  journal = opened_store(client, "journal", "sync");
  saved(accounts, "{\"_id\":\"a\",\"n\":10}");
  saved(accounts, "{\"_id\":\"b\",\"n\":0}");
}

static void close_bank(void) { OK(kv_client_close(client)); }

static void account_is(const char *id, const char *wanted) {
  char *json = NULL;
  OK(kv_store_find_by_id(accounts, id, NULL, &json, NULL, &error));
  TEXT(wanted, json);
  kv_free(json);
}

#define ONE(id) "{\"_id\":\"" id "\"}", KV_NUL_TERMINATED, NULL, 0

static void update_of(kv_transaction *transaction, const char *filter, const char *update) {
  kv_query *query = NULL;
  OK(kv_query_create(filter, KV_NUL_TERMINATED, NULL, 0, &query, &error));
  OK(kv_transaction_update(transaction, accounts, query, update, KV_NUL_TERMINATED, NULL, NULL,
                           &error));
  kv_query_free(query);
}

static void pay(kv_transaction *transaction) {
  update_of(transaction, "{\"_id\":\"a\"}", "{\"$inc\":{\"n\":-3}}");
  update_of(transaction, "{\"_id\":\"b\"}", "{\"$inc\":{\"n\":3}}");
  OK(kv_transaction_save(transaction, journal, "{\"_id\":\"1\",\"moved\":3}", KV_NUL_TERMINATED,
                         NULL, NULL, &error));
}

static void commits_everything(void) {
  kv_transaction *transaction = NULL;
  int64_t count = 0;
  open_bank();
  OK(kv_transaction_begin(client, NULL, &transaction, &error));
  pay(transaction);
  account_is("a", "{\"_id\":\"a\",\"n\":10}");
  NUMBER(0, counted(journal));
  OK(kv_transaction_count(transaction, journal, NULL, &count, &error));
  NUMBER(1, count);
  OK(kv_transaction_commit(transaction, &error));
  account_is("a", "{\"_id\":\"a\",\"n\":7}");
  account_is("b", "{\"_id\":\"b\",\"n\":3}");
  NUMBER(1, counted(journal));
  FAILS(KV_MISUSE, "ended", kv_transaction_commit(transaction, &error));
  FAILS(KV_MISUSE, "ended", kv_transaction_count(transaction, journal, NULL, &count, &error));
  kv_transaction_close(transaction);
  close_bank();
}

static void closed_writes_nothing(void) {
  kv_transaction *transaction = NULL;
  open_bank();
  OK(kv_transaction_begin(client, "{\"tag\":\"kinvey\"}", &transaction, &error));
  pay(transaction);
  kv_transaction_close(transaction);
  kv_transaction_close(transaction);
  kv_transaction_close(NULL);
  account_is("a", "{\"_id\":\"a\",\"n\":10}");
  NUMBER(0, counted(journal));
  FAILS(KV_INVALID, "colour", kv_transaction_begin(client, "{\"colour\":1}", &transaction, &error));
  close_bank();
}

static void reads_its_own_writes(void) {
  kv_transaction *transaction = NULL;
  kv_cursor *cursor = NULL;
  char *json = NULL;
  const char *lent = NULL;
  int64_t count = -1;
  open_bank();
  OK(kv_transaction_begin(client, NULL, &transaction, &error));
  OK(kv_transaction_save(transaction, accounts, "{\"n\":5}", KV_NUL_TERMINATED, &json, NULL, &error));
  CHECK(json != NULL && strstr(json, "\"_id\":\"") != NULL);
  kv_free(json);
  OK(kv_transaction_remove_by_id(transaction, accounts, "b", &count, &error));
  NUMBER(1, count);
  FAILS(KV_NOT_FOUND, "",
        kv_transaction_find_by_id(transaction, accounts, "b", &json, NULL, &error));
  OK(kv_transaction_find(transaction, accounts, NULL, &cursor, &error));
  OK(kv_cursor_next(cursor, &lent, NULL, &error));
  TEXT("{\"_id\":\"a\",\"n\":10}", lent);
  OK(kv_cursor_next(cursor, &lent, NULL, &error));
  STATUS(KV_DONE, kv_cursor_next(cursor, &lent, NULL, &error));
  kv_cursor_close(cursor);
  OK(kv_transaction_find(transaction, accounts, NULL, &cursor, &error));
  OK(kv_transaction_remove(transaction, accounts, NULL, &count, &error));
  NUMBER(2, count);
  OK(kv_transaction_commit(transaction, &error));
  FAILS(KV_MISUSE, "ended", kv_cursor_next(cursor, &lent, NULL, &error));
  kv_cursor_close(cursor);
  kv_transaction_close(transaction);
  NUMBER(0, counted(accounts));
  close_bank();
}

static void conflicts(void) {
  kv_transaction *transaction = NULL;
  char *json = NULL;
  open_bank();
  OK(kv_transaction_begin(client, NULL, &transaction, &error));
  OK(kv_transaction_find_by_id(transaction, accounts, "a", &json, NULL, &error));
  kv_free(json);
  OK(kv_transaction_save(transaction, journal, "{}", 2, NULL, NULL, &error));
  saved(accounts, "{\"_id\":\"a\",\"n\":11}");
  FAILS(KV_CONFLICT, "\"a\"", kv_transaction_commit(transaction, &error));
  kv_transaction_close(transaction);
  NUMBER(0, counted(journal));
  close_bank();
}

static void foreign_stores(void) {
  kv_transaction *transaction = NULL;
  int64_t count;
  open_bank();
  kv_client *other = local_client(NULL, "");
  kv_store *store = opened_store(other, "accounts", "sync");
  kv_store *network = opened_store(client, "accounts", "network");
  OK(kv_transaction_begin(client, NULL, &transaction, &error));
  FAILS(KV_MISUSE, "store", kv_transaction_count(transaction, store, NULL, &count, &error));
  FAILS(KV_MISUSE, "store", kv_transaction_count(transaction, network, NULL, &count, &error));
  OK(kv_client_close(other));
  OK(kv_client_close(client));
}

/* The body of a transaction. */
struct work {
  int runs;
  int interfere; /* in so many runs somebody else changes what was read */
  kv_status answer;
};

static kv_status pays(void *context, kv_transaction *transaction) {
  struct work *work = context;
  work->runs++;
  pay(transaction);
  if (work->interfere-- > 0) saved(accounts, "{\"_id\":\"a\",\"n\":100}");
  return work->answer;
}

static void runs_again(void) {
  struct work work = {0, 2, KV_OK};
  open_bank();
  OK(kv_client_transaction(client, NULL, pays, &work, &error));
  NUMBER(3, work.runs);
  account_is("a", "{\"_id\":\"a\",\"n\":97}");
  account_is("b", "{\"_id\":\"b\",\"n\":3}");
  work = (struct work){0, 1, KV_OK};
  FAILS(KV_CONFLICT, "", kv_client_transaction(client, "{\"retries\":0}", pays, &work, &error));
  NUMBER(1, work.runs);
  account_is("b", "{\"_id\":\"b\",\"n\":3}");
  close_bank();
}

static void given_up(void) {
  struct work work = {0, 0, KV_NOT_FOUND};
  open_bank();
  STATUS(KV_NOT_FOUND, kv_client_transaction(client, NULL, pays, &work, &error));
  NUMBER(1, work.runs);
  account_is("a", "{\"_id\":\"a\",\"n\":10}");
  close_bank();
}

static kv_status closes(void *context, kv_transaction *transaction) {
  (void)context;
  pay(transaction);
  OK(kv_client_close(client));
  return KV_OK;
}

static void closing_inside(void) {
  open_bank();
  FAILS(KV_MISUSE, "", kv_client_transaction(client, NULL, closes, NULL, &error));
}

/* Adds 1 to a member, by reading, changing and saving it. */
static kv_status adds_one(void *store, kv_transaction *transaction) {
  char *json = NULL, entity[64];
  kv_error *error = NULL;
  int n = -1;
  kv_status status = kv_transaction_find_by_id(transaction, store, "a", &json, NULL, &error);
  if (status == KV_OK && sscanf(json, "{\"_id\":\"a\",\"n\":%d}", &n) == 1) {
    snprintf(entity, sizeof entity, "{\"_id\":\"a\",\"n\":%d}", n + 1);
    status = kv_transaction_save(transaction, store, entity, KV_NUL_TERMINATED, NULL, NULL, &error);
  }
  kv_free(json);
  kv_error_free(error);
  return status;
}

/* Does it ROUNDS times; gives how often it failed. */
static int adds_often(kv_client *client, kv_store *store) {
  int failures = 0;
  for (int i = 0; i < ROUNDS; i++)
    if (kv_client_transaction(client, "{\"retries\":100000}", adds_one, store, NULL) != KV_OK)
      failures++;
  return failures;
}

static void *thread(void *context) {
  (void)context;
  return (void *)(intptr_t)adds_often(client, accounts);
}

static void four_threads(void) {
  pthread_t threads[WORKERS];
  char wanted[64];
  open_bank();
  for (int i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, thread, NULL);
  for (int i = 0; i < WORKERS; i++) {
    void *failures = NULL;
    pthread_join(threads[i], &failures);
    NUMBER(0, (intptr_t)failures);
  }
  snprintf(wanted, sizeof wanted, "{\"_id\":\"a\",\"n\":%d}", 10 + WORKERS * ROUNDS);
  account_is("a", wanted);
  close_bank();
}

static void four_processes(void) {
  const char *directory = fresh_directory();
  pid_t children[WORKERS];
  char wanted[64];
  client = local_client(directory, "");
  saved(opened_store(client, "accounts", "sync"), "{\"_id\":\"a\",\"n\":0}");
  OK(kv_client_close(client));
  fflush(stdout);
  for (int i = 0; i < WORKERS; i++) {
    children[i] = fork();
    if (children[i] != 0) continue;
    alarm(120);
    kv_client *own = local_client(directory, ",\"durability\":\"normal\"");
    _exit(adds_often(own, opened_store(own, "accounts", "sync")));
  }
  for (int i = 0; i < WORKERS; i++) {
    int status = -1;
    waitpid(children[i], &status, 0);
    CHECK(WIFEXITED(status));
    NUMBER(0, WEXITSTATUS(status));
  }
  client = local_client(directory, "");
  accounts = opened_store(client, "accounts", "sync");
  snprintf(wanted, sizeof wanted, "{\"_id\":\"a\",\"n\":%d}", WORKERS * ROUNDS);
  account_is("a", wanted);
  close_bank();
}

static int changes;

static void count_changes(void *context, const kv_event *event) {
  (void)event, (void)context;
  changes++;
}

static void observers_are_told_once(void) {
  kv_subscription *subscription = NULL;
  struct work work = {0, 0, KV_OK};
  client = local_client(NULL, ",\"callbacks\":\"pump\"");
  accounts = opened_store(client, "accounts", "sync");
  journal = opened_store(client, "journal", "sync");
  saved(accounts, "{\"_id\":\"a\",\"n\":10}");
  saved(accounts, "{\"_id\":\"b\",\"n\":0}");
  OK(kv_store_observe(accounts, NULL, count_changes, NULL, NULL, &subscription, &error));
  while (changes == 0) OK(kv_client_dispatch(client, 1000, NULL, &error));
  changes = 0;
  OK(kv_client_transaction(client, NULL, pays, &work, &error));
  while (changes == 0) OK(kv_client_dispatch(client, 1000, NULL, &error));
  saved(accounts, "{\"_id\":\"c\"}");
  while (changes == 1) OK(kv_client_dispatch(client, 1000, NULL, &error));
  NUMBER(2, changes);
  OK(kv_subscription_close(subscription));
  close_bank();
}

static void updates(void) {
  char *json = NULL;
  int64_t before = 0, after = 0;
  kv_query *query = NULL;
  open_bank();
  OK(kv_store_version(accounts, "a", &before, &error));
  OK(kv_store_update(accounts, NULL, "{\"$max\":{\"n\":5},\"$set\":{\"x.y\":true}}",
                     KV_NUL_TERMINATED, NULL, &json, NULL, &error));
  TEXT("{\"matched\":2,\"modified\":2}", json);
  kv_free(json);
  account_is("a", "{\"_id\":\"a\",\"n\":10,\"x\":{\"y\":true}}");
  account_is("b", "{\"_id\":\"b\",\"n\":5,\"x\":{\"y\":true}}");
  OK(kv_store_version(accounts, "a", &after, &error));
  NUMBER(before + 1, after);
  OK(kv_query_create(ONE("a"), &query, &error));
  OK(kv_store_update(accounts, query, "{\"$unset\":{\"q\":1}}", KV_NUL_TERMINATED, NULL, &json, NULL,
                     &error));
  TEXT("{\"matched\":1,\"modified\":0}", json);
  kv_free(json);
  kv_query_free(query);
  FAILS(KV_INVALID, "$inc",
        kv_store_update(accounts, NULL, "{\"$inc\":{\"x\":1}}", KV_NUL_TERMINATED, NULL, NULL, NULL,
                        &error));
  FAILS(KV_INVALID, "$foo",
        kv_store_update(accounts, NULL, "{\"$foo\":{\"x\":1}}", KV_NUL_TERMINATED, NULL, NULL, NULL,
                        &error));
  FAILS(KV_NOT_FOUND, "", kv_store_version(accounts, "nobody", &after, &error));
  close_bank();
}

int main(void) {
  RUN("a transaction writes everything when it commits", commits_everything);
  RUN("a transaction that is closed has written nothing", closed_writes_nothing);
  RUN("a transaction reads what it has written", reads_its_own_writes);
  RUN("a commit fails when what was read has changed", conflicts);
  RUN("stores of another client, and network stores, take part in none", foreign_stores);
  RUN("a function runs again until nobody was faster", runs_again);
  RUN("a function that gives up undoes the transaction, and its answer comes out", given_up);
  RUN("a function may close the client", closing_inside);
  RUN("four threads that each add 1 200 times make 800", four_threads);
  RUN("four processes that each add 1 200 times make 800", four_processes);
  RUN("observers are told of a transaction once", observers_are_told_once);
  RUN("an update changes members of what matches, and raises versions", updates);
  return finish();
}
