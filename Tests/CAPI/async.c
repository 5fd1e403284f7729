/* Requests and callbacks: started, waited for, cancelled, closed around; with a thread of the client's,
 * and pumped by the host. Every test runs in both ways. */
#include "check.h"
#include "fixture.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

static int is_pumped;
static kv_client *client;
static kv_store *store;

static const char *mode(void) { return is_pumped ? ",\"callbacks\":\"pump\"" : ""; }

static void open_things(void) {
  client = local_client(NULL, mode());
  store = opened_store(client, "things", "sync");
  saved(store, "{\"_id\":\"a\"}");
  saved(store, "{\"_id\":\"b\"}");
}

/* What a callback saw. Atomic, since it may come on another thread. */
typedef struct {
  atomic_int answers, finals, frees, status;
  char json[200];
  int entities;
  void (*inside)(void);
} seen;

static void on_answer(void *context, const kv_answer *answer) {
  seen *seen_here = context;
  const char *json = NULL;
  CHECK(answer->size == sizeof(kv_answer));
  CHECK(seen_here->finals == 0 && seen_here->frees == 0);
  snprintf(seen_here->json, sizeof seen_here->json, "%s", answer->json ? answer->json : "NULL");
  CHECK(answer->json == NULL || strlen(answer->json) == answer->length);
  while (answer->cursor && kv_cursor_next(answer->cursor, &json, NULL, NULL) == KV_OK)
    seen_here->entities++;
  CHECK((answer->status >= 10) == (answer->error != NULL));
  if (answer->error) NUMBER(answer->status, kv_error_status(answer->error));
  if (seen_here->inside) seen_here->inside();
  seen_here->status = answer->status;
  seen_here->answers++;
  if (answer->is_final) seen_here->finals++;
}

static void on_free(void *context) {
  seen *seen_here = context;
  seen_here->frees++;
}

/* Waits until the context was freed, pumping if that is the host's work. */
static void settle(seen *what) {
  double end = seconds() + 60;
  while (what->frees == 0 && seconds() < end) {
    int fd = -1;
    if (is_pumped && kv_client_event_fd(client, &fd, NULL) == KV_OK) {
      poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 100);
      kv_client_dispatch(client, 0, NULL, NULL);
    } else {
      poll(NULL, 0, 1);
    }
  }
  NUMBER(1, what->frees);
}

#define WITH(what) on_answer, &(what), on_free

static void answers_come_back(void) {
  seen find = {0}, by_id = {0}, save = {0}, many = {0}, remove = {0}, all = {0}, count = {0}, lost = {0};
  open_things();
  OK(kv_store_find_async(store, NULL, NULL, WITH(find), NULL, &error));
  settle(&find);
  NUMBER(2, find.entities);
  TEXT("NULL", find.json);
  OK(kv_store_find_by_id_async(store, "a", NULL, WITH(by_id), NULL, &error));
  settle(&by_id);
  TEXT("{\"_id\":\"a\"}", by_id.json);
  OK(kv_store_find_by_id_async(store, "x", NULL, WITH(lost), NULL, &error));
  settle(&lost);
  NUMBER(KV_NOT_FOUND, lost.status);
  OK(kv_store_save_async(store, "{\"_id\":\"c\"}", KV_NUL_TERMINATED, NULL, WITH(save), NULL, &error));
  settle(&save);
  TEXT("{\"_id\":\"c\"}", save.json);
  OK(kv_store_save_many_async(store, "[{\"_id\":\"d\"}]", KV_NUL_TERMINATED, NULL, WITH(many), NULL,
                              &error));
  settle(&many);
  TEXT("{\"entities\":[{\"_id\":\"d\"}],\"errors\":[]}", many.json);
  OK(kv_store_count_async(store, NULL, NULL, WITH(count), NULL, &error));
  settle(&count);
  TEXT("4", count.json);
  OK(kv_store_remove_by_id_async(store, "a", NULL, WITH(remove), NULL, &error));
  settle(&remove);
  TEXT("1", remove.json);
  OK(kv_store_remove_async(store, NULL, NULL, WITH(all), NULL, &error));
  settle(&all);
  TEXT("3", all.json);
  NUMBER(1, find.answers);
  NUMBER(1, lost.answers);
  OK(kv_client_close(client));
}

static void requests_are_waited_for(void) {
  kv_request *request = NULL, *failing = NULL;
  char *json = NULL;
  size_t length = 0;
  open_things();
  OK(kv_store_find_async(store, NULL, NULL, NULL, NULL, NULL, &request, &error));
  for (int i = 0; i < 2; i++) {
    OK(kv_request_wait(request, -1, &json, &length, &error));
    TEXT("[{\"_id\":\"a\"},{\"_id\":\"b\"}]", json);
    NUMBER(strlen(json), length);
    kv_free(json);
  }
  NUMBER(1, kv_request_is_done(request));
  OK(kv_request_cancel(request));
  OK(kv_request_wait(request, 0, NULL, NULL, &error));
  STATUS(KV_MISUSE, kv_request_cursor(request, &(kv_cursor *){NULL}, &error));
  kv_request_free(request);
  OK(kv_store_find_by_id_async(store, "x", NULL, NULL, NULL, NULL, &failing, &error));
  STATUS(KV_NOT_FOUND, kv_request_wait(failing, -1, &json, &length, &error));
  STATUS(KV_NOT_FOUND, kv_request_wait(failing, -1, &json, &length, &error));
  CHECK(json == NULL);
  kv_request_free(failing);
  OK(kv_client_close(client));
}

static void a_find_hands_over_its_cursor(void) {
  kv_request *request = NULL;
  kv_cursor *cursor = NULL;
  const char *json = NULL;
  open_things();
  OK(kv_store_find_async(store, NULL, NULL, NULL, NULL, NULL, &request, &error));
  while (!kv_request_is_done(request)) poll(NULL, 0, 1);
  OK(kv_request_cursor(request, &cursor, &error));
  STATUS(KV_MISUSE, kv_request_cursor(request, &(kv_cursor *){NULL}, &error));
  kv_request_free(request);
  OK(kv_cursor_next(cursor, &json, NULL, &error));
  TEXT("{\"_id\":\"a\"}", json);
  kv_cursor_close(cursor);
  OK(kv_store_count_async(store, NULL, NULL, NULL, NULL, NULL, &request, &error));
  OK(kv_request_wait(request, -1, NULL, NULL, &error));
  STATUS(KV_MISUSE, kv_request_cursor(request, &cursor, &error));
  kv_request_free(request);
  OK(kv_client_close(client));
}

static void nobody_needs_to_listen(void) {
  seen only_free = {0}, freed_early = {0};
  kv_request *request = NULL;
  open_things();
  OK(kv_store_count_async(store, NULL, NULL, NULL, &only_free, on_free, NULL, &error));
  settle(&only_free);
  NUMBER(0, only_free.answers);
  OK(kv_store_save_async(store, "{}", 2, NULL, NULL, NULL, NULL, NULL, &error));
  OK(kv_store_count_async(store, NULL, NULL, WITH(freed_early), &request, &error));
  kv_request_free(request);
  settle(&freed_early);
  NUMBER(1, freed_early.finals);
  OK(kv_client_close(client));
}

/* What runs inside a callback. */
static kv_request *own_request;
static int inside_count;

static void use_everything(void) {
  char *json = NULL;
  kv_store *other = opened_store(client, "others", "sync");
  saved(other, "{\"_id\":\"x\"}");
  OK(kv_store_find_by_id(other, "x", NULL, &json, NULL, &error));
  kv_free(json);
  OK(kv_store_close(other));
  kv_request *more = NULL;
  OK(kv_store_count_async(store, NULL, NULL, NULL, NULL, NULL, &more, &error));
  OK(kv_request_wait(more, 20, &json, NULL, &error));
  kv_free(json);
  kv_request_free(more);
  inside_count++;
}

static void wait_for_itself(void) {
  OK(kv_request_wait(own_request, 20, NULL, NULL, &error));
  kv_request_free(own_request);
  inside_count++;
}

static void close_client(void) {
  OK(kv_client_close(client));
  inside_count++;
}

static void any_call_may_be_made_inside(void) {
  seen first = {.inside = use_everything}, second = {.inside = wait_for_itself};
  open_things();
  inside_count = 0;
  OK(kv_store_count_async(store, NULL, NULL, WITH(first), NULL, &error));
  settle(&first);
  OK(kv_store_count_async(store, NULL, NULL, WITH(second), &own_request, &error));
  settle(&second);
  NUMBER(2, inside_count);
  OK(kv_client_close(client));
}

static void closing_inside(void) {
  seen first = {.inside = close_client}, later[5] = {{0}};
  kv_request *requests[5];
  open_things();
  inside_count = 0;
  OK(kv_store_count_async(store, NULL, NULL, WITH(first), NULL, &error));
  for (int i = 0; i < 5; i++)
    if (kv_store_count_async(store, NULL, NULL, WITH(later[i]), &requests[i], NULL) != KV_OK)
      CHECK(later[i].frees == 1);
  settle(&first);
  for (int i = 0; i < 5; i++) settle(&later[i]);
  NUMBER(1, inside_count);
  STATUS(KV_MISUSE, kv_client_close(client));
}

static void closing_delivers_first(void) {
  seen what[100] = {{0}};
  open_things();
  for (int i = 0; i < 100; i++)
    OK(kv_store_save_async(store, "{}", 2, NULL, WITH(what[i]), NULL, &error));
  OK(kv_client_close(client));
  for (int i = 0; i < 100; i++) {
    NUMBER(1, what[i].answers);
    NUMBER(1, what[i].frees);
    CHECK(what[i].status == KV_OK || what[i].status == KV_CANCELLED);
  }
}

static void a_failing_start_frees_the_context(void) {
  seen what = {0};
  kv_request *request = NULL;
  open_things();
  STATUS(KV_INVALID, kv_store_find_by_id_async(store, "a", "{\"x\":1}", WITH(what), &request, &error));
  NUMBER(1, what.frees);
  OK(kv_client_close(client));
  what.frees = 0;
  STATUS(KV_MISUSE, kv_store_count_async(store, NULL, NULL, WITH(what), &request, &error));
  CHECK(request == NULL);
  NUMBER(1, what.frees);
  NUMBER(0, what.answers);
}

/* Closes the client once two requests have come to a socket that listens. */
static void *close_it(void *listener) {
  int connections[2];
  for (int i = 0; i < 2; i++) {
    connections[i] = accept(*(int *)listener, NULL, NULL);
    NUMBER(1, recv(connections[i], &(char){0}, 1, 0));
  }
  NUMBER(KV_OK, kv_client_close(client));
  for (int i = 0; i < 2; i++) close(connections[i]);
  return NULL;
}

static void what_hangs_is_cancelled(void) {
  seen cancelled = {0}, closed = {0};
  kv_request *request = NULL, *other = NULL;
  kv_progress progress = {.size = sizeof progress, .reserved = 0};
  pthread_t closer;
  int port, listener = silent_socket(&port);
  double begin = seconds();
  client = server_client(silent_port(), NULL, mode());
  OK(kv_ping_async(client, NULL, WITH(cancelled), &request, &error));
  NUMBER(0, kv_request_is_done(request));
  STATUS(KV_TIMEOUT, kv_request_wait(request, 0, NULL, NULL, &error));
  STATUS(KV_TIMEOUT, kv_request_wait(request, 0.05, NULL, NULL, &error));
  FAILS(KV_INVALID, "timeout_seconds", kv_request_wait(request, NAN, NULL, NULL, &error));
  OK(kv_request_progress(request, &progress));
  OK(kv_request_cancel(request));
  STATUS(KV_CANCELLED, kv_request_wait(request, 20, NULL, NULL, &error));
  settle(&cancelled);
  NUMBER(KV_CANCELLED, cancelled.status);
  kv_request_free(request);
  /* Its own timeout is an answer, not a wait that was too short. */
  OK(kv_ping_async(client, "{\"timeout\":0.1}", NULL, NULL, NULL, &other, &error));
  STATUS(KV_TIMEOUT, kv_request_wait(other, 20, NULL, NULL, &error));
  NUMBER(1, kv_request_is_done(other));
  OK(kv_client_close(client));
  /* Closing from another thread ends a blocking call and a request that runs. */
  client = server_client(port, NULL, mode());
  OK(kv_ping_async(client, NULL, WITH(closed), NULL, &error));
  pthread_create(&closer, NULL, close_it, &listener);
  STATUS(KV_CANCELLED, kv_ping(client, NULL, &(char *){NULL}, NULL, &error));
  pthread_join(closer, NULL);
  close(listener);
  NUMBER(1, closed.frees);
  NUMBER(KV_CANCELLED, closed.status);
  CHECK(seconds() - begin < 60);
}

/* The log. */
static atomic_int log_frees;
static void on_log(void *context, int32_t level, const char *text) {
  CHECK(context == &log_frees);
  CHECK(level >= 1 && level <= 4);
  CHECK(strlen(text) > 0);
  CHECK(strstr(text, "secret") == NULL);
}
static void on_log_free(void *context) {
  (void)context;
  log_frees++;
}

static void a_log_is_replaced_and_freed(void) {
  open_things();
  log_frees = 0;
  OK(kv_client_set_log(client, 4, on_log, &log_frees, on_log_free, &error));
  OK(kv_client_set_log(client, 2, on_log, &log_frees, on_log_free, &error));
  STATUS(KV_INVALID, kv_client_set_log(client, 0, on_log, &log_frees, on_log_free, &error));
  STATUS(KV_INVALID, kv_client_set_log(client, 5, on_log, &log_frees, on_log_free, &error));
  OK(kv_client_set_log(client, 0, NULL, &log_frees, on_log_free, &error));
  OK(kv_client_set_log(client, 4, on_log, &log_frees, on_log_free, &error));
  OK(kv_client_close(client));
  NUMBER(6, log_frees);
}

/* A context whose freeing closes the client. */
static void close_when_freed(void *context) {
  CHECK(context == &log_frees);
  NUMBER(KV_OK, kv_client_close(client));
  log_frees++;
}

static void a_context_may_close_its_client(void) {
  open_things();
  log_frees = 0;
  OK(kv_client_set_log(client, 1, NULL, &log_frees, close_when_freed, &error));
  NUMBER(1, log_frees);
  STATUS(KV_MISUSE, kv_client_close(client));
  open_things();
  STATUS(KV_INVALID, kv_store_count_async(store, NULL, "{\"x\":1}", NULL, &log_frees, close_when_freed,
                                          NULL, &error));
  NUMBER(2, log_frees);
  STATUS(KV_MISUSE, kv_client_close(client));
}

static void only_pumped_clients_pump(void) {
  int fd = -1;
  uint32_t ran = 77;
  open_things();
  if (is_pumped) {
    seen what[3] = {{0}};
    for (int i = 0; i < 3; i++) {
      kv_request *request = NULL;
      OK(kv_store_count_async(store, NULL, NULL, WITH(what[i]), &request, &error));
      /* The result needs no pump, the callback does. */
      OK(kv_request_wait(request, 20, NULL, NULL, &error));
      kv_request_free(request);
    }
    OK(kv_client_event_fd(client, &fd, &error));
    while (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 1000) != 1) continue;
    uint32_t total = 0;
    OK(kv_client_dispatch(client, 1, &ran, &error));
    NUMBER(1, ran);
    for (total = ran; total < 3; total += ran) {
      poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 1000);
      OK(kv_client_dispatch(client, 0, &ran, &error));
    }
    NUMBER(0, poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0));
    OK(kv_client_dispatch(client, 0, &ran, &error));
    NUMBER(0, ran);
    for (int i = 0; i < 3; i++) NUMBER(1, what[i].frees);
  } else {
    STATUS(KV_UNSUPPORTED, kv_client_event_fd(client, &fd, &error));
    NUMBER(-1, fd);
    STATUS(KV_UNSUPPORTED, kv_client_dispatch(client, 0, &ran, &error));
    NUMBER(0, ran);
  }
  OK(kv_client_close(client));
}

#define EACH_WAY(sentence, test)                     \
  for (is_pumped = 0; is_pumped < 2; is_pumped++) \
  RUN(is_pumped ? "pumped: " sentence : sentence, test)

int main(void) {
  EACH_WAY("each operation answers once, then its context is freed", answers_come_back);
  EACH_WAY("a request is waited for as often as wanted", requests_are_waited_for);
  EACH_WAY("a find hands its cursor over, once", a_find_hands_over_its_cursor);
  EACH_WAY("nobody needs to listen or to keep the request", nobody_needs_to_listen);
  EACH_WAY("any call may be made from inside a callback", any_call_may_be_made_inside);
  EACH_WAY("a client may be closed from inside a callback", closing_inside);
  EACH_WAY("closing delivers what runs, and nothing after", closing_delivers_first);
  EACH_WAY("a start that fails frees the context", a_failing_start_frees_the_context);
  EACH_WAY("what hangs is cancelled, times out, and ends with the client", what_hangs_is_cancelled);
  EACH_WAY("the context of a log is freed once in every case", a_log_is_replaced_and_freed);
  EACH_WAY("a client may be closed by what frees a context", a_context_may_close_its_client);
  EACH_WAY("a descriptor and a dispatch are for pumped clients", only_pumped_clients_pump);
  return finish();
}
