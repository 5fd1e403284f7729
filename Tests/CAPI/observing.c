/* Observers: what a program may do inside of them, and when the last call has come; with a thread of the
 * client's, and pumped by the host. Every test runs in both ways. */
#define _GNU_SOURCE
#include "check.h"
#include "fixture.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_pumped;
static const char *directory;
static kv_client *client;
static kv_store *store;

static void open_things(void) {
  directory = fresh_directory();
  client = local_client(directory, is_pumped ? ",\"callbacks\":\"pump\"" : "");
  store = opened_store(client, "things", "sync");
}

/* What an observer saw. Atomic, since it may be called on another thread. */
typedef struct {
  atomic_int events, count, frees, is_inside;
  pthread_t thread;
  int is_on_several;
  kv_subscription *subscription;
  void (*inside)(void);
} seen;

static void on_event(void *context, const kv_event *event) {
  seen *here = context;
  const char *count = event->json ? strstr(event->json, "\"count\":") : NULL;
  CHECK(event->size == sizeof(kv_event) && event->status == KV_OK && count != NULL);
  CHECK(here->frees == 0 && !atomic_exchange(&here->is_inside, 1));
  if (here->events > 0 && !pthread_equal(here->thread, pthread_self())) here->is_on_several = 1;
  here->thread = pthread_self();
  here->events++;
  if (count) here->count = atoi(count + strlen("\"count\":"));
  if (here->inside) here->inside();
  here->is_inside = 0;
}

static void on_free(void *context) {
  seen *here = context;
  CHECK(!here->is_inside);
  here->frees++;
}

static void observe(seen *what) {
  OK(kv_store_observe(store, NULL, on_event, what, on_free, &what->subscription, &error));
}

static void breathe(void) {
  int fd = -1;
  if (is_pumped && kv_client_event_fd(client, &fd, NULL) == KV_OK) {
    poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 20);
    kv_client_dispatch(client, 0, NULL, NULL);
  } else {
    poll(NULL, 0, 1);
  }
}

/* Waits, pumping if that is the host's work, until the expression is true. */
#define UNTIL(condition)                                                    \
  do {                                                                      \
    for (double end_ = seconds() + 60; !(condition) && seconds() < end_;) breathe(); \
    CHECK(condition);                                                       \
  } while (0)

static void close_it(seen *what) {
  OK(kv_subscription_close(what->subscription));
  NUMBER(1, what->frees);
  NUMBER(0, what->is_inside);
}

static void each_change_is_told(void) {
  seen all = {0}, one = {0};
  open_things();
  saved(store, "{\"_id\":\"a\"}");
  observe(&all);
  STATUS(KV_INVALID, kv_store_observe_by_id(store, "", on_event, &one, NULL, &one.subscription, &error));
  OK(kv_store_observe_by_id(store, "b", on_event, &one, on_free, &one.subscription, &error));
  UNTIL(all.events == 1 && one.events == 1);
  NUMBER(1, all.count);
  NUMBER(0, one.count);
  saved(store, "{\"_id\":\"b\"}");
  UNTIL(all.count == 2 && one.count == 1);
  OK(kv_store_clear(store, NULL, NULL, &error));
  UNTIL(all.count == 0 && one.count == 0);
  CHECK(!all.is_on_several && !one.is_on_several);
  close_it(&all);
  int events = one.events;
  OK(kv_client_close(client));
  NUMBER(1, one.frees);
  NUMBER(events, one.events);
}

/* A second process that saves to the same file. */
static char *own_path;

static int save_for_ever(const char *path) {
  kv_client *mine = local_client(path, "");
  kv_store *things = opened_store(mine, "things", "sync");
  while (getppid() != 1) saved(things, "{\"n\":1}");
  return 0;
}

static void another_process_is_heard(void) {
  seen what = {0};
  pid_t child = 0;
  open_things();
  observe(&what);
  UNTIL(what.events == 1);
  char *arguments[] = {own_path, "save", (char *)(uintptr_t)directory, NULL};
  NUMBER(0, posix_spawn(&child, own_path, NULL, NULL, arguments, environ));
  UNTIL(what.count >= 20);
  kill(child, SIGKILL);
  NUMBER(child, waitpid(child, NULL, 0));
  UNTIL(what.count == counted(store));
  close_it(&what);
  OK(kv_client_close(client));
}

/* One observer that acts; what it does is said by the tests. */
static seen actor;

static void use_everything(void) {
  char *json = NULL;
  kv_cursor *cursor = NULL;
  if (actor.events > 5) return;
  OK(kv_store_save(store, "{\"n\":1}", KV_NUL_TERMINATED, NULL, &json, NULL, &error));
  kv_free(json);
  CHECK(counted(store) == actor.events);
  OK(kv_store_find(store, NULL, NULL, &cursor, &error));
  kv_cursor_close(cursor);
  if (is_pumped) OK(kv_client_dispatch(client, 0, NULL, &error));
}

static void calls_may_be_made_inside(void) {
  actor = (seen){.inside = use_everything};
  open_things();
  observe(&actor);
  UNTIL(actor.count == 5);
  close_it(&actor);
  NUMBER(6, actor.events);
  OK(kv_client_close(client));
}

static seen inner;

static void observe_and_unobserve(void) {
  if (actor.events == 1) observe(&inner);
  if (actor.events == 2) close_it(&inner);
}

static void another_one_begins_and_ends_inside(void) {
  actor = (seen){.inside = observe_and_unobserve};
  inner = (seen){0};
  open_things();
  observe(&actor);
  UNTIL(inner.events == 1);
  saved(store, "{}");
  UNTIL(inner.frees == 1 && !actor.is_inside);
  OK(kv_client_close(client));
  NUMBER(1, actor.frees);
  /* The second event may have been its turn first. */
  CHECK(inner.events <= 2);
}

static void close_itself(void) {
  if (actor.events < 2) return;
  OK(kv_subscription_close(actor.subscription));
  NUMBER(0, actor.frees);
  saved(store, "{}");
}

static void one_closes_itself(void) {
  seen other = {0};
  actor = (seen){.inside = close_itself};
  open_things();
  observe(&actor);
  observe(&other);
  UNTIL(actor.events == 1);
  saved(store, "{}");
  UNTIL(actor.frees == 1);
  UNTIL(other.count == 2);
  NUMBER(2, actor.events);
  STATUS(KV_MISUSE, kv_subscription_close(actor.subscription));
  OK(kv_client_close(client));
  NUMBER(1, other.frees);
}

static void close_the_client(void) {
  if (actor.events == 2) OK(kv_client_close(client));
}

static void one_closes_the_client(void) {
  seen other = {0};
  actor = (seen){.inside = close_the_client};
  open_things();
  observe(&actor);
  observe(&other);
  UNTIL(actor.events == 1 && other.events == 1);
  saved(store, "{}");
  UNTIL(actor.frees == 1 && other.frees == 1);
  NUMBER(2, actor.events);
  CHECK(other.events <= 2);
  STATUS(KV_MISUSE, kv_client_close(client));
}

static atomic_int may_end;

static void block(void) {
  while (actor.events == 1 && !may_end) poll(NULL, 0, 1);
}

static void *save_hundred(void *unused) {
  (void)unused;
  while (!actor.is_inside) poll(NULL, 0, 1);
  for (int i = 0; i < 100; i++) saved(store, "{}");
  may_end = 1;
  return NULL;
}

static void a_blocked_one_is_told_at_once_what_it_missed(void) {
  pthread_t saver;
  actor = (seen){.inside = block};
  may_end = 0;
  open_things();
  pthread_create(&saver, NULL, save_hundred, NULL);
  observe(&actor);
  UNTIL(actor.count == 100);
  pthread_join(saver, NULL);
  /* One look waited for its turn, and another one may have been asked for as it began. */
  CHECK(actor.events <= 3);
  close_it(&actor);
  OK(kv_client_close(client));
}

static atomic_int is_over;

static void *save_until_over(void *unused) {
  (void)unused;
  while (!is_over) saved(store, "{\"_id\":\"a\"}");
  return NULL;
}

static void *pump_until_over(void *unused) {
  (void)unused;
  while (!is_over) breathe();
  return NULL;
}

static void nothing_comes_after_the_end(void) {
  pthread_t saver, pump;
  open_things();
  is_over = 0;
  pthread_create(&saver, NULL, save_until_over, NULL);
  pthread_create(&pump, NULL, pump_until_over, NULL);
  for (int i = 0; i < 200; i++) {
    seen what = {0};
    observe(&what);
    while (what.events == 0 && i % 4 == 0) poll(NULL, 0, 0);
    /* What it writes to is gone when the next round begins. */
    close_it(&what);
  }
  is_over = 1;
  pthread_join(saver, NULL);
  pthread_join(pump, NULL);
  OK(kv_client_close(client));
}

static void a_start_that_fails_frees_the_context(void) {
  seen what = {0};
  kv_subscription *none = (kv_subscription *)(uintptr_t)1;
  open_things();
  STATUS(KV_MISUSE, kv_store_observe(NULL, NULL, on_event, &what, on_free, &none, &error));
  CHECK(none == NULL);
  NUMBER(1, what.frees);
  OK(kv_client_close(client));
  STATUS(KV_MISUSE, kv_store_observe(store, NULL, on_event, &what, on_free, &none, &error));
  NUMBER(2, what.frees);
  NUMBER(0, what.events);
}

#define EACH_WAY(sentence, test)                     \
  for (is_pumped = 0; is_pumped < 2; is_pumped++) \
  RUN(is_pumped ? "pumped: " sentence : sentence, test)

int main(int count, char **arguments) {
  if (count == 3) return save_for_ever(arguments[2]);
  own_path = arguments[0];
  EACH_WAY("each change is told, on one thread, until the end", each_change_is_told);
  EACH_WAY("another process is heard, until it is killed", another_process_is_heard);
  EACH_WAY("an observer may call anything", calls_may_be_made_inside);
  EACH_WAY("an observer may begin and end another one", another_one_begins_and_ends_inside);
  EACH_WAY("an observer may close itself: that call is the last", one_closes_itself);
  EACH_WAY("an observer may close its client", one_closes_the_client);
  EACH_WAY("one that blocks is told at once what it missed", a_blocked_one_is_told_at_once_what_it_missed);
  EACH_WAY("nothing comes after the end, while others write", nothing_comes_after_the_end);
  EACH_WAY("a start that fails frees the context", a_start_that_fails_frees_the_context);
  return finish();
}
