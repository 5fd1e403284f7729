/* Large allocations fail, one after the other: the process lives, each call ends with a status, and what was
 * acknowledged is there afterwards.
 *
 *   large [--once | --from] [--every] [NUMBER...]     all by default, in both ways
 *
 * The program's own malloc stands before that of the C library, for libkvstore and all libraries that it uses. The work is
 * done by a child for each number: in it the allocation of this number and of LARGE bytes or more fails; with --from,
 * those after it as well. What fits into the block that the same thread has just given back is no new memory, and
 * has it: the library asks for large buffers in this way before Swift makes them. SQLite allocates the same in a thousand
 * calls: of each site in the code, which is a stack of ten frames, the first three allocations fail; with --every, all.
 * With numbers, stacks of what failed are printed. */
#define _GNU_SOURCE
#include "../CAPI/fixture.h"

#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE (64 << 10)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

/* Whether allocations are counted, how many there have been, and which one fails. */
static atomic_int is_armed, allocations;
static int failing = -1, fails_on, prints_stacks;

/* What the child of a run tells: how many allocations there were, how many calls failed, and where the allocations were. */
enum { MAX_ALLOCATIONS = 100000, FRAMES = 10 };
static struct {
  int allocations, failures;
  size_t sites[MAX_ALLOCATIONS];
} *told;

static void tell_place(int number) {
  void *frames[FRAMES];
  size_t site = 0;
  atomic_store(&is_armed, 0);
  int count = backtrace(frames, FRAMES);
  for (int i = 0; i < count; i++) site = site * 31 + (size_t)frames[i];
  atomic_store(&is_armed, 1);
  if (number < MAX_ALLOCATIONS) told->sites[number] = site;
}

/* Whether three allocations of the same site came before. */
static int is_known(int number) {
  int same = 0;
  for (int i = 0; i < number; i++) same += told->sites[i] == told->sites[number];
  return same >= 3;
}

/* The size of the large block that this thread has given back last. */
static _Thread_local size_t given_back;

static int fails(size_t size) {
  if (size < LARGE || !atomic_load(&is_armed)) return 0;
  size_t spare = given_back;
  given_back = 0;
  if (size <= spare) return 0;
  int number = atomic_fetch_add(&allocations, 1);
  if (failing < 0) tell_place(number);
  if (failing < 0 || (fails_on ? number < failing : number != failing)) return 0;
  if (prints_stacks) {
    void *frames[40];
    atomic_store(&is_armed, 0);
    dprintf(2, "-- allocation %d of %zu bytes\n", number, size);
    backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
    atomic_store(&is_armed, 1);
  }
  errno = ENOMEM;
  return 1;
}

void free(void *memory) {
  size_t size = memory ? malloc_usable_size(memory) : 0;
  if (size >= LARGE) given_back = size;
  __libc_free(memory);
}

void *malloc(size_t size) { return fails(size) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) {
  return fails(count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) { return fails(size) ? NULL : __libc_realloc(memory, size); }

void *memalign(size_t alignment, size_t size) {
  return fails(size) ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **out, size_t alignment, size_t size) {
  *out = memalign(alignment, size);
  return *out ? 0 : ENOMEM;
}

/* What each call may say when memory is missing: nothing of it blames the data. */
static int failures, faults;

static kv_error *error;

/* Whether a call was done; takes its error. */
static int check(kv_status status, const char *what) {
  kv_error *found = error;
  if (status == KV_OK || status == KV_DONE) return 1;
  failures++;
  /* In the middle of an answer's head libcurl says the same of a buffer that it does not get and of a head too long. */
  int is_head = status == KV_TOO_LARGE && error && strstr(kv_error_message(error), "A header of the answer");
  if (status != KV_STORAGE && status != KV_PARTIAL && !is_head) {
    printf("  %s: %s %s\n", what, kv_status_name(status), found ? kv_error_json(found) : "");
    faults++;
  }
  kv_error_free(found);
  return 0;
}

#define TRY(call) check(call, #call)

static const char *directory;
static int port;
static char *large, *small, *texts;
static atomic_int events;

static void receive(void *context, const kv_event *event) {
  (void)context;
  (void)event;
  atomic_fetch_add(&events, 1);
}

static void read_all(kv_store *store, kv_query *query, const char *options, int by_pages) {
  kv_cursor *cursor = NULL;
  const char *json;
  kv_status status = kv_store_find(store, query, options, &cursor, &error);
  while (check(status, "a find") && status == KV_OK) {
    status = by_pages ? kv_cursor_next_page(cursor, 100, &json, NULL, NULL, &error)
                      : kv_cursor_next(cursor, &json, NULL, &error);
  }
  kv_cursor_close(cursor);
}

static void read_sorted(kv_store *store, const char *filter, const char *modifiers) {
  kv_query *query = NULL;
  if (TRY(kv_query_create(filter, KV_NUL_TERMINATED, modifiers, KV_NUL_TERMINATED, &query, &error)))
    read_all(store, query, NULL, 1);
  kv_query_free(query);
}

static void give_json(kv_status status, const char *what, char *json) {
  check(status, what);
  kv_free(json);
}

static void use_queries(kv_store *store) {
  char *json = NULL;
  read_all(store, NULL, NULL, 0);
  read_all(store, NULL, NULL, 1);
  read_sorted(store, "{\"n\":{\"$gte\":0}}", "{\"sort\":{\"n\":-1}}");
  kv_status status = kv_store_group(store, "{\"keys\":[\"n\"],\"aggregates\":{\"c\":\"count\"}}",
                                    KV_NUL_TERMINATED, NULL, NULL, &json, NULL, &error);
  give_json(status, "a group", json);
  json = NULL;
  status = kv_store_distinct(store, "n", NULL, NULL, &json, NULL, &error);
  give_json(status, "distinct", json);
  json = NULL;
  status = kv_store_find_by_id(store, "large", NULL, &json, NULL, &error);
  if (status == KV_NOT_FOUND) kv_error_free(error), error = NULL, status = KV_OK;
  give_json(status, "find_by_id", json);
}

/* What was acknowledged. */
static int large_saved, small_saved;

static void use_writes(kv_client *client, kv_store *store) {
  kv_transaction *transaction = NULL;
  large_saved = TRY(kv_store_save(store, large, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  small_saved = TRY(kv_store_save_many(store, small, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  TRY(kv_store_create_index(store, "{\"keys\":{\"n\":1}}", KV_NUL_TERMINATED, &error));
  if (TRY(kv_transaction_begin(client, NULL, &transaction, &error))) {
    TRY(kv_transaction_save(transaction, store, large, KV_NUL_TERMINATED, NULL, NULL, &error));
    TRY(kv_transaction_commit(transaction, &error));
  }
  kv_transaction_close(transaction);
}

static void use_backend(kv_client *client, kv_store *store) {
  char *json = NULL;
  kv_store *there = NULL, *network = NULL;
  kv_status status;
  status = kv_store_push(store, NULL, &json, NULL, &error);
  give_json(status, "a push", json);
  if (TRY(kv_store_open(client, "shared", "sync", NULL, &there, &error))) {
    TRY(kv_store_pull(there, NULL, NULL, NULL, NULL, &error));
    TRY(kv_store_pull(there, NULL, "{\"deltaSetCaching\":true}", NULL, NULL, &error));
    kv_store_close(there);
  }
  if (TRY(kv_store_open(client, "shared", "network", NULL, &network, &error))) {
    read_all(network, NULL, NULL, 1);
    json = NULL;
    status = kv_store_find_by_id(network, "large", NULL, &json, NULL, &error);
    give_json(status, "a fetch by id", json);
    TRY(kv_store_save(network, large, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
    kv_store_close(network);
  }
}

static char *options_of(const char *directory) {
  char *options = NULL;
  if (asprintf(&options,
               "{\"appKey\":\"kid\",\"appSecret\":\"secret\",\"masterSecret\":\"master\","
               "\"host\":\"http://127.0.0.1:%d\",\"dataDirectory\":\"%s\",\"timeout\":20,"
               "\"durability\":\"normal\"}",
               port, directory) < 0)
    exit(3);
  return options;
}

/* All that an application does, while allocations fail. */
static void work(const char *collection) {
  kv_client *client = NULL;
  kv_store *store = NULL;
  kv_subscription *subscription = NULL;
  char *options = options_of(directory);
  atomic_store(&is_armed, 1);
  if (TRY(kv_client_open(options, KV_NUL_TERMINATED, &client, &error)) &&
      TRY(kv_store_open(client, collection, "sync", NULL, &store, &error))) {
    TRY(kv_store_observe(store, NULL, receive, NULL, NULL, &subscription, &error));
    use_writes(client, store);
    use_queries(store);
    use_backend(client, store);
    kv_subscription_close(subscription);
  }
  atomic_store(&is_armed, 0);
  kv_client_close(client);
  free(options);
}

/* Everything that was acknowledged is there, and nothing is damaged. */
static void check_data(const char *collection) {
  kv_client *client = NULL;
  kv_store *store = NULL;
  char *json = NULL, *options = options_of(directory);
  int64_t count = -1;
  if (TRY(kv_client_open(options, KV_NUL_TERMINATED, &client, &error)) &&
      TRY(kv_store_open(client, collection, "sync", NULL, &store, &error))) {
    if (kv_client_repair(client, &json, NULL, NULL) != KV_OK || !strstr(json, "\"damaged\":0")) faults++;
    kv_free(json);
    json = NULL;
    if (large_saved && kv_store_find_by_id(store, "large", NULL, &json, NULL, NULL) != KV_OK) faults++;
    kv_free(json);
    if (kv_store_count(store, NULL, NULL, &count, NULL) != KV_OK) faults++;
    if (count < large_saved + 200 * small_saved) faults++;
    read_all(store, NULL, NULL, 0);
  }
  kv_client_close(client);
  free(options);
}

static void make_texts(void) {
  large = repeated("{\"_id\":\"large\",\"n\":1,\"t\":\"", "the quick brown fox ", 20000, "\"}");
  small = repeated("[{\"n\":0}", ",{\"n\":1,\"t\":\"lazy dog\",\"more\":[1,2,3,4,5,6,7,8]}", 199, "]");
  texts = repeated("[", "{\"n\":2,\"t\":\"a quick fox, and other words that are many in this text, "
                        "which is so long that a page of them is large: it has more than a "
                        "hundred and fifty bytes, and there are hundreds of them\"},", 500, "{\"n\":3}]");
}

/* What the backend has before. */
static void fill_backend(void) {
  kv_client *client = server_client(port, NULL, ",\"masterSecret\":\"master\"");
  kv_store *store = opened_store(client, "shared", "sync");
  saved(store, large);
  if (kv_store_save_many(store, texts, KV_NUL_TERMINATED, NULL, NULL, NULL, NULL) != KV_OK ||
      kv_store_push(store, NULL, NULL, NULL, NULL) != KV_OK)
    exit(3);
  kv_client_close(client);
}

/* Runs `body` in a child; gives its exit code, or minus the signal that ended it. */
static int run(void (*body)(void)) {
  int status = 0;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    body();
    fflush(stdout);
    _exit(faults ? 1 : 0);
  }
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void sweep_one(void) {
  char collection[40];
  snprintf(collection, sizeof collection, "c%d-%d", fails_on, failing + 1);
  work(collection);
  told->allocations = atomic_load(&allocations);
  told->failures = failures;
  check_data(collection);
}

static int one(int number) {
  static const char *parent;
  char *path = NULL;
  if (parent == NULL) parent = fresh_directory();
  if (asprintf(&path, "%s/%d-%d", parent, fails_on, number + 1) < 0) return 1;
  failing = number;
  directory = path;
  int code = run(sweep_one);
  if (code != 0)
    printf("not ok: allocation %d%s: %s %d\n", number, fails_on ? " and all others" : "",
           code < 0 ? "signal" : "faults", code < 0 ? -code : code);
  free(path);
  return code != 0;
}

static int tries_all;

static int sweep(void) {
  int bad = 0, tried = 0;
  if (one(-1)) return 1;
  int count = told->allocations < MAX_ALLOCATIONS ? told->allocations : MAX_ALLOCATIONS;
  if (told->failures > 0) printf("not ok: a failure without a reason\n"), bad++;
  for (int number = 0; number < count; number++) {
    if (!tries_all && is_known(number)) continue;
    tried++;
    bad += one(number);
  }
  printf("%s %d of %d large allocations%s fail, %d of these runs end badly\n",
         bad ? "not ok:" : "ok:", tried, count, fails_on ? " and those after them" : "", bad);
  return bad;
}

int main(int count, char **arguments) {
  int bad = 0, ways = 3, numbers = 0;
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  port = start_server();
  make_texts();
  if (run(fill_backend) != 0) return 3;
  for (int i = 1; i < count; i++) {
    if (strcmp(arguments[i], "--once") == 0) ways = 1;
    else if (strcmp(arguments[i], "--from") == 0) ways = 2;
    else if (strcmp(arguments[i], "--every") == 0) tries_all = 1;
    else arguments[1 + numbers++] = arguments[i];
  }
  prints_stacks = numbers > 0;
  for (fails_on = 0; fails_on < 2; fails_on++) {
    if (!(ways & 1 << fails_on)) continue;
    for (int i = 0; i < numbers; i++) bad += one(atoi(arguments[1 + i]));
    if (numbers == 0) bad += sweep();
  }
  stop_server();
  return bad != 0;
}
