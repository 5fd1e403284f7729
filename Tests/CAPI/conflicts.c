/* Conflict handlers against a real server: what they see and say, where they run, what they may call. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "fixture.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

static int port;

/* Two clients of one user: what one changes, the other does not know. */
static kv_client *mine, *theirs;
static kv_store *store, *other;
static const char *collection;

typedef struct {
  int32_t answer;
  const char *merged;
  atomic_int calls, returns, frees;
  pthread_t thread;
  char seen[400];
  int closes;  /* The client, from inside. */
  int logs_out;
  int pushes;  /* The same store, from inside: 1 blocking, 2 as a request that is waited for. */
  int32_t inner; /* What that gave. */
} decider;

static int32_t decide(void *context, const kv_conflict *conflict, char **merged_out) {
  decider *what = context;
  atomic_fetch_add(&what->calls, 1);
  what->thread = pthread_self();
  snprintf(what->seen, sizeof what->seen, "%s %d %d %d", conflict->id, conflict->base != NULL,
           conflict->local != NULL, conflict->remote != NULL);
  if (conflict->local && conflict->local_length != strlen(conflict->local)) what->seen[0] = '?';
  if (what->pushes == 1) what->inner = kv_store_push(store, NULL, NULL, NULL, NULL);
  if (what->pushes == 2) {
    kv_request *request = NULL;
    kv_store_push_async(store, NULL, NULL, NULL, NULL, &request, NULL);
    what->inner = kv_request_wait(request, 20, NULL, NULL, NULL);
    kv_request_free(request);
  }
  if (what->logs_out) what->inner = kv_user_logout(mine, "{\"discardPending\":true}", NULL);
  if (what->closes) what->inner = kv_client_close(mine);
  if (what->merged) *merged_out = strdup(what->merged);
  atomic_fetch_add(&what->returns, 1);
  return what->answer;
}

static void freed(void *context) { atomic_fetch_add(&((decider *)context)->frees, 1); }

/* `a` is changed on both sides, so that the next push of `store` meets a conflict. */
static void change_both(void) {
  OK(kv_store_pull(store, NULL, NULL, NULL, NULL, &error));
  saved(other, "{\"_id\":\"a\",\"n\":3}");
  saved(store, "{\"_id\":\"a\",\"n\":2}");
}

static void open_scene(const char *more, decider *what) {
  static char name[32];
  static int count;
  snprintf(name, sizeof name, "conflicts%d", count++);
  collection = name;
  mine = server_client(port, NULL, more);
  theirs = server_client(port, NULL, ",\"masterSecret\":\"master\"");
  OK(kv_user_signup(mine, NULL, 0, NULL, NULL, NULL, &error));
  store = opened_store(mine, collection, "sync");
  other = opened_store(theirs, collection, "network");
  saved(other, "{\"_id\":\"a\",\"n\":1,\"_acl\":{\"gw\":true}}");
  OK(kv_store_set_conflict_handler(store, decide, what, freed, &error));
  change_both();
}

static void close_scene(decider *what) {
  OK(kv_client_close(mine));
  OK(kv_client_close(theirs));
  NUMBER(1, what->frees);
}

static void holds(kv_store *where, const char *words) {
  char *json = NULL;
  kv_status status = kv_store_find_by_id(where, "a", NULL, &json, NULL, NULL);
  if (words == NULL) {
    NUMBER(KV_NOT_FOUND, status);
  } else {
    CHECK(json && strstr(json, words));
  }
  kv_free(json);
}

static int64_t waiting(void) {
  int64_t count = -1;
  OK(kv_store_sync_count(store, &count, &error));
  return count;
}

static void it_decides(void) {
  static const struct {
    int32_t answer;
    const char *merged, *result;
  } cases[] = {
      {KV_CONFLICT_KEEP, NULL, "\"n\":2"},
      {KV_CONFLICT_TAKE, "{\"_id\":\"ignored\"}", "\"n\":3"},
      {KV_CONFLICT_MERGED, "{\"n\":5}", "\"n\":5"},
      {KV_CONFLICT_DELETE, NULL, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    decider what = {.answer = cases[i].answer, .merged = cases[i].merged};
    open_scene("", &what);
    OK(kv_store_push(store, NULL, NULL, NULL, &error));
    NUMBER(1, what.calls);
    TEXT("a 1 1 1", what.seen);
    CHECK(!pthread_equal(what.thread, pthread_self()));
    holds(store, cases[i].result);
    holds(other, cases[i].result);
    NUMBER(0, waiting());
    close_scene(&what);
  }
}

static void it_may_say_nothing(void) {
  decider what = {.answer = KV_CONFLICT_LEAVE};
  char *json = NULL;
  open_scene("", &what);
  STATUS(KV_PARTIAL, kv_store_push(store, NULL, &json, NULL, &error));
  CHECK(json && strstr(json, "KV_CONFLICT"));
  kv_free(json);
  OK(kv_store_pending_get(store, "a", &json, NULL, &error));
  CHECK(json && strstr(json, "\"state\":\"conflict\"") && strstr(json, "\"remote\":{"));
  kv_free(json);
  OK(kv_store_pull(store, NULL, NULL, NULL, NULL, &error));
  holds(store, "\"n\":2");
  OK(kv_store_pending_revert(store, "a", &error));
  holds(store, "\"n\":3");
  close_scene(&what);
}

static void nonsense_is_an_error(void) {
  static const struct {
    int32_t answer;
    const char *merged;
  } cases[] = {{99, NULL}, {KV_CONFLICT_MERGED, NULL}, {KV_CONFLICT_MERGED, "{"},
               {KV_CONFLICT_MERGED, "{\"_id\":\"b\"}"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    decider what = {.answer = cases[i].answer, .merged = cases[i].merged};
    open_scene("", &what);
    STATUS(KV_INVALID, kv_store_push(store, NULL, NULL, NULL, &error));
    NUMBER(1, waiting());
    close_scene(&what);
  }
}

static void it_may_push_itself(void) {
  for (int how = 1; how <= 2; how++) {
    decider what = {.answer = KV_CONFLICT_KEEP, .pushes = how};
    open_scene("", &what);
    saved(store, "{\"_id\":\"b\"}");
    OK(kv_store_push(store, "{\"timeout\":20}", NULL, NULL, &error));
    NUMBER(KV_OK, what.inner);
    holds(other, "\"n\":2");
    close_scene(&what);
  }
}

static void it_may_close_the_client(void) {
  for (int pumped = 0; pumped <= 1; pumped++) {
    decider what = {.answer = KV_CONFLICT_KEEP, .closes = 1};
    open_scene(pumped ? ",\"callbacks\":\"pump\"" : "", &what);
    STATUS(KV_CANCELLED, kv_store_push(store, NULL, NULL, NULL, &error));
    /* The push did not wait for the function: closing had to go on. */
    while (!atomic_load(&what.frees)) poll(NULL, 0, 1);
    NUMBER(KV_OK, what.inner);
    STATUS(KV_MISUSE, kv_client_close(mine));
    holds(other, "\"n\":3");
    OK(kv_client_close(theirs));
  }
}

static void it_may_end_the_session(void) {
  for (int pumped = 0; pumped <= 1; pumped++) {
    decider what = {.answer = KV_CONFLICT_KEEP, .logs_out = 1};
    open_scene(pumped ? ",\"callbacks\":\"pump\"" : "", &what);
    STATUS(KV_CANCELLED, kv_store_sync(store, NULL, NULL, NULL, NULL, &error));
    while (!atomic_load(&what.returns)) poll(NULL, 0, 1);
    NUMBER(KV_OK, what.inner);
    NUMBER(0, counted(store));
    close_scene(&what);
  }
}

/* A push inside a callback, of whatever form, while the conflict has to be asked on that very thread. */
static kv_status pushed_inside;
static atomic_int is_done;

static void push_inside(void *context, const kv_answer *answer) {
  (void)answer;
  if (context) {
    kv_request *request = NULL;
    kv_store_push_async(store, NULL, NULL, NULL, NULL, &request, NULL);
    pushed_inside = kv_request_wait(request, 20, NULL, NULL, NULL);
    kv_request_free(request);
  } else {
    pushed_inside = kv_store_push(store, "{\"timeout\":20}", NULL, NULL, NULL);
  }
  atomic_store(&is_done, 1);
}

static void a_callback_may_push(void) {
  for (int how = 0; how <= 1; how++) {
    decider what = {.answer = KV_CONFLICT_KEEP};
    open_scene("", &what);
    atomic_store(&is_done, 0);
    OK(kv_store_count_async(store, NULL, NULL, push_inside, how ? &what : NULL, NULL, NULL, &error));
    while (!atomic_load(&is_done)) poll(NULL, 0, 1);
    NUMBER(KV_OK, pushed_inside);
    NUMBER(1, what.calls);
    holds(other, "\"n\":2");
    close_scene(&what);
  }
}

static void a_pumped_client_asks_where_one_waits(void) {
  kv_request *request = NULL;
  decider what = {.answer = KV_CONFLICT_KEEP};
  open_scene(",\"callbacks\":\"pump\"", &what);
  OK(kv_store_push(store, "{\"timeout\":20}", NULL, NULL, &error));
  CHECK(pthread_equal(what.thread, pthread_self()));
  holds(other, "\"n\":2");
  change_both();
  OK(kv_store_push_async(store, NULL, NULL, NULL, NULL, &request, &error));
  OK(kv_request_wait(request, 20, NULL, NULL, &error));
  NUMBER(2, what.calls);
  kv_request_free(request);
  change_both();
  OK(kv_store_push_async(store, NULL, NULL, NULL, NULL, &request, &error));
  while (!kv_request_is_done(request)) {
    kv_client_dispatch(mine, 0, NULL, NULL);
    poll(NULL, 0, 1);
  }
  NUMBER(3, what.calls);
  kv_request_free(request);
  close_scene(&what);
}

static void it_is_replaced(void) {
  decider first = {.answer = KV_CONFLICT_TAKE}, second = {.answer = KV_CONFLICT_KEEP};
  kv_store *network = NULL;
  open_scene("", &first);
  OK(kv_store_set_conflict_handler(store, decide, &second, freed, &error));
  OK(kv_store_push(store, NULL, NULL, NULL, &error));
  NUMBER(0, first.calls);
  NUMBER(1, second.calls);
  OK(kv_store_set_conflict_handler(store, NULL, NULL, NULL, &error));
  change_both();
  OK(kv_store_push(store, NULL, NULL, NULL, &error));
  NUMBER(1, second.calls);
  holds(other, "\"n\":2");
  network = opened_store(mine, collection, "network");
  STATUS(KV_UNSUPPORTED, kv_store_set_conflict_handler(network, decide, &second, freed, &error));
  NUMBER(2, second.frees);
  close_scene(&first);
  NUMBER(2, second.frees);
}

static void options_choose(void) {
  decider what = {.answer = KV_CONFLICT_KEEP};
  open_scene("", &what);
  OK(kv_store_push(store, "{\"conflicts\":\"serverWins\"}", NULL, NULL, &error));
  NUMBER(0, what.calls);
  holds(store, "\"n\":3");
  FAILS(KV_INVALID, "conflicts", kv_store_push(store, "{\"conflicts\":\"?\"}", NULL, NULL, &error));
  close_scene(&what);
}

int main(void) {
  port = start_server();
  RUN("a handler keeps, takes, merges or deletes", it_decides);
  RUN("a handler that says nothing leaves the conflict in the queue, to be reverted", it_may_say_nothing);
  RUN("an answer that is none is an error, and the conflict stays open", nonsense_is_an_error);
  RUN("a handler may push the same store", it_may_push_itself);
  RUN("a handler may close the client that pushes", it_may_close_the_client);
  RUN("a handler may end the session that pushes", it_may_end_the_session);
  RUN("a push inside a callback asks inside of that callback", a_callback_may_push);
  RUN("a pumped client asks on the thread that waits, or in a dispatch", a_pumped_client_asks_where_one_waits);
  RUN("a handler is replaced, taken away, and freed once", it_is_replaced);
  RUN("an option chooses another strategy for a call", options_choose);
  stop_server();
  return finish();
}
