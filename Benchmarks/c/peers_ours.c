/* The work of peers_raw.c with libkvstore, in a store that queues its writes for a backend.
 *
 *   peers_ours BOOKS DIRECTORY
 *   peers_ours BOOKS DIRECTORY automatic    only scans, until they have indexes that nobody asked for
 *
 * Prints "WORK RATE" for each: operations a second. Queries are made anew each time. */
#include "books.h"
#include "data.h"
#include "ours.h"
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kv_client *client;
static kv_store *store;
static kv_error *error;

static kv_query *query(const char *filter, const char *modifiers) {
  kv_query *made = NULL;
  must(kv_query_create(filter, KV_NUL_TERMINATED, modifiers, KV_NUL_TERMINATED, &made, &error),
       error);
  return made;
}

/* Reads at most `limit` entities; gives how many. */
static long find(const char *filter, const char *modifiers, long limit) {
  kv_query *made = query(filter, modifiers);
  kv_cursor *cursor = NULL;
  const char *json;
  size_t length;
  long rows = 0;
  kv_status status = KV_OK;
  must(kv_store_find(store, made, NULL, &cursor, &error), error);
  while (rows < limit && (status = kv_cursor_next(cursor, &json, &length, &error)) == KV_OK) rows++;
  if (status != KV_OK && status != KV_DONE) must(status, error);
  kv_cursor_close(cursor);
  kv_query_free(made);
  return rows;
}

static void find_times(const char *work, const char *filter, const char *modifiers, int times) {
  double start = data_now();
  for (int i = 0; i < times; i++)
    if (find(filter, modifiers, 1000000) == 0) raw_fail(work, "no rows");
  books_rate(work, times, data_now() - start);
}

static void open_store(const char *directory, const char *automatic) {
  char options[1024];
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid_bench\",\"host\":null,\"dataDirectory\":\"%s\",\"durability\":\"normal\",\"autoIndex\":%s}",
           directory, automatic);
  must(kv_client_open(options, KV_NUL_TERMINATED, &client, &error), error);
  must(kv_store_open(client, "books", "sync", NULL, &store, &error), error);
}

static void save_all(const lines *from) {
  size_t room = 2;
  for (int i = 0; i < from->count; i++) room += from->length[i] + 1;
  char *batch = malloc(room);
  if (!batch) raw_fail("W1", "no memory");
  double seconds = 0;
  for (int first = 0; first < from->count; first += BOOKS_EACH) {
    char *end = batch;
    for (int i = first; i < first + BOOKS_EACH && i < from->count; i++) {
      *end++ = i == first ? '[' : ',';
      end = mempcpy(end, from->text[i], from->length[i]);
    }
    *end++ = ']';
    double start = data_now();
    must(kv_store_save_many(store, batch, (size_t)(end - batch), NULL, NULL, NULL, &error), error);
    seconds += data_now() - start;
  }
  free(batch);
  books_rate("W1", from->count, seconds);
}

static void save_each(const lines *from) {
  double start = data_now();
  for (int i = 0; i < from->count; i++)
    must(kv_store_save(store, from->text[i], from->length[i], NULL, NULL, NULL, &error), error);
  books_rate("W2", from->count, data_now() - start);
}

static void find_each(const lines *ids) {
  double start = data_now();
  for (int i = 0; i < ids->count; i++) {
    char *json;
    size_t length;
    must(kv_store_find_by_id(store, ids->text[i], NULL, &json, &length, &error), error);
    kv_free(json);
  }
  books_rate("W3", ids->count, data_now() - start);
}

/* The same in lists of 1,000 ids. */
static void find_lists(const lines *ids) {
  char *list = malloc((size_t)BOOKS_EACH * (BOOK_ID_LENGTH + 3) + 2);
  if (!list) raw_fail("W3 lists", "no memory");
  double start = data_now();
  for (int first = 0; first < ids->count; first += BOOKS_EACH) {
    char *end = list, *json;
    for (int i = first; i < first + BOOKS_EACH && i < ids->count; i++) {
      *end++ = i == first ? '[' : ',';
      *end++ = '"';
      end = mempcpy(end, ids->text[i], BOOK_ID_LENGTH);
      *end++ = '"';
    }
    *end++ = ']';
    must(kv_store_find_by_ids(store, list, (size_t)(end - list), NULL, &json, NULL, &error), error);
    kv_free(json);
  }
  books_rate("W3 lists", ids->count, data_now() - start);
  free(list);
}

static void count_times(const char *work, int times) {
  double start = data_now();
  for (int i = 0; i < times; i++) {
    int64_t found = 0;
    kv_query *made = query("{\"pages\":{\"$gt\":500},\"author.country\":\"US\"}", NULL);
    must(kv_store_count(store, made, NULL, &found, &error), error);
    kv_query_free(made);
    if (found == 0) raw_fail("count", "no rows");
  }
  if (work) books_rate(work, times, data_now() - start);
}

static void group_times(const char *work, int times) {
  static const char request[] =
      "{\"keys\":[\"author.country\"],\"aggregates\":{\"mean\":{\"avg\":\"price\"}}}";
  double start = data_now();
  for (int i = 0; i < times; i++) {
    char *json;
    must(kv_store_group(store, request, sizeof request - 1, NULL, NULL, &json, NULL, &error), error);
    kv_free(json);
  }
  if (work) books_rate(work, times, data_now() - start);
}

static void make_index(const char *description) {
  must(kv_store_create_index(store, description, KV_NUL_TERMINATED, &error), error);
}

static void read_ranges(const lines *lows) {
  char filter[128];
  double start = data_now();
  for (int i = 0; i < lows->count; i++) {
    double low = strtod(lows->text[i], NULL);
    snprintf(filter, sizeof filter, "{\"price\":{\"$gte\":%.17g,\"$lt\":%.17g}}", low, low + 10);
    find(filter, "{\"sort\":{\"price\":1},\"limit\":20}", 20);
  }
  books_rate("W6", lows->count, data_now() - start);
}

static void read_first(void) {
  double start = data_now();
  for (int i = 0; i < 100; i++) find("{}", "{\"sort\":{\"price\":1}}", 1);
  books_rate("first", 100, data_now() - start);
}

static void change_prices(const books *all) {
  char filter[64], change[64];
  kv_transaction *transaction = NULL;
  double start = data_now();
  for (int i = 0; i < all->updates.count; i++) {
    new_price update = books_update(all, i);
    if (i % BOOKS_EACH == 0)
      must(kv_transaction_begin(client, NULL, &transaction, &error), error);
    snprintf(filter, sizeof filter, "{\"_id\":\"%s\"}", update.id);
    snprintf(change, sizeof change, "{\"$set\":{\"price\":%s}}", update.price);
    kv_query *made = query(filter, NULL);
    must(kv_transaction_update(transaction, store, made, change, KV_NUL_TERMINATED, NULL, NULL,
                               &error),
         error);
    kv_query_free(made);
    if ((i + 1) % BOOKS_EACH != 0 && i + 1 != all->updates.count) continue;
    must(kv_transaction_commit(transaction, &error), error);
    kv_transaction_close(transaction);
  }
  books_rate("W9", all->updates.count, data_now() - start);
}

static void remove_some(void) {
  int64_t removed = 0;
  kv_query *made = query("{\"author.country\":\"FR\"}", NULL);
  double start = data_now();
  must(kv_store_remove(store, made, NULL, &removed, &error), error);
  books_rate("W10", (double)removed, data_now() - start);
  kv_query_free(made);
}

/* How many indexes are complete. */
static int ready_indexes(void) {
  char *json;
  int ready = 0;
  must(kv_store_indexes(store, &json, NULL, &error), error);
  for (const char *at = json; (at = strstr(at, "\"ready\"")); at++) ready++;
  kv_free(json);
  return ready;
}

static const char author[] = "{\"author.name\":\"Author 043 Novak\"}";

/* Asks until each question has its index, then measures. */
static void ask_automatically(void) {
  for (int index = 1; index <= 3; index++)
    for (int times = 0; ready_indexes() < index; times++) {
      if (times > 200) raw_fail("automatic", "no index was made");
      if (index == 1) find(author, NULL, 1000000);
      if (index == 2) count_times(NULL, 1);
      if (index == 3) group_times(NULL, 1);
    }
  find_times("W4 automatic", author, NULL, 50);
  count_times("W7 automatic", 200);
  group_times("W8 automatic", 200);
}

int main(int count, char **arguments) {
  if (count < 3) raw_fail(arguments[0], "BOOKS DIRECTORY [automatic]");
  static const char by_price[] = "{\"sort\":{\"price\":1},\"limit\":100}",
                    deep[] = "{\"sort\":{\"price\":1},\"skip\":199900,\"limit\":100}";
  books all;
  books_read(&all, arguments[1]);
  long before = data_peak_kib();
  open_store(arguments[2], count > 3 ? "true" : "false");
  save_all(&all.entities);
  if (count > 3) {
    ask_automatically();
    must(kv_store_close(store), NULL);
    must(kv_client_close(client), NULL);
    return 0;
  }
  save_each(&all.extra);
  find_each(&all.ids);
  find_lists(&all.ids);
  find_times("W4", author, NULL, 3);
  count_times("W7", 3);
  group_times("W8", 3);
  make_index("{\"keys\":{\"author.name\":1}}");
  make_index("{\"keys\":{\"price\":1}}");
  find_times("W5", author, NULL, 50);
  read_ranges(&all.lows);
  find_times("page", "{}", by_price, 100);
  find_times("deep page", "{}", deep, 3);
  read_first();
  change_prices(&all);
  remove_some();
  /* What no peer has by hand: indexes that cover a count and an average. */
  make_index("{\"keys\":{\"author.country\":1,\"pages\":1}}");
  make_index("{\"keys\":{\"author.country\":1,\"price\":1},\"totals\":true}");
  count_times("W7 indexed", 200);
  group_times("W8 indexed", 200);
  printf("peak %ld\n", data_peak_kib() - before);
  must(kv_store_close(store), NULL);
  must(kv_client_close(client), NULL);
  return 0;
}
