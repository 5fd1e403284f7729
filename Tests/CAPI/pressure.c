/* What a process may do to the library: run out of descriptors, cancel its threads, give impossible lengths. */
#define _GNU_SOURCE
#include "check.h"
#include "fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

/* Lets the process have `spare` more descriptors than it has now; all it may have if that is negative. */
static void leave_descriptors(int spare) {
  struct rlimit limit;
  int lowest = dup(0);
  close(lowest);
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = spare < 0 ? limit.rlim_max : (rlim_t)(lowest + spare);
  setrlimit(RLIMIT_NOFILE, &limit);
}

static void opens_or_fails(void) {
  int port = start_server();
  char options[200];
  int opened = 0, refused = 0;
  for (int spare = 0; spare < 40; spare++) {
    snprintf(options, sizeof options,
             "{\"appKey\":\"kid\",\"appSecret\":\"secret\",\"host\":\"http://127.0.0.1:%d\","
             "\"dataDirectory\":\"%s\"}",
             port, fresh_directory());
    kv_client *client = NULL;
    double begin = seconds();
    leave_descriptors(spare);
    kv_status status = kv_client_open(options, KV_NUL_TERMINATED, &client, NULL);
    leave_descriptors(-1);
    if (status != KV_OK) {
      refused++;
      CHECK(client == NULL);
      continue;
    }
    opened++;
    char *json = NULL;
    OK(kv_ping(client, NULL, &json, NULL, &error));
    kv_free(json);
    OK(kv_client_close(client));
    CHECK(seconds() - begin < 60);
  }
  CHECK(opened > 0 && refused > 0);
  stop_server();
}

static kv_store *store;

static void *saves_for_ever(void *unused) {
  (void)unused;
  for (;;) {
    kv_store_save(store, "{\"_id\":\"one\"}", KV_NUL_TERMINATED, NULL, NULL, NULL, NULL);
    pthread_testcancel();
  }
  return NULL;
}

static void survives_cancelled_threads(void) {
  kv_client *client = local_client(NULL, "");
  store = opened_store(client, "things", "sync");
  for (int round = 0; round < 50; round++) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, saves_for_ever, NULL);
    /* At another moment of a save each time. */
    for (int i = 0; i <= round % 7; i++) saved(store, "{\"_id\":\"other\"}");
    for (int i = 0; i < 4; i++) pthread_cancel(threads[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    saved(store, "{\"_id\":\"after\"}");
  }
  NUMBER(3, counted(store));
  OK(kv_store_close(store));
  OK(kv_client_close(client));
}

static void refuses_lengths(void) {
  kv_client *client = local_client(NULL, "");
  store = opened_store(client, "things", "sync");
  size_t lengths[] = {((size_t)1 << 40) + 1, (size_t)1 << 62, (size_t)1 << 63, (size_t)-2};
  for (int i = 0; i < 4; i++)
    STATUS(KV_INVALID, kv_store_save(store, "{}", lengths[i], NULL, NULL, NULL, &error));
  OK(kv_store_close(store));
  OK(kv_client_close(client));
}

int main(void) {
  RUN("with few descriptors a client works, or is not opened", opens_or_fails);
  RUN("a thread that is cancelled inside a call holds up nobody", survives_cancelled_threads);
  RUN("lengths that no text has are refused", refuses_lengths);
  return finish();
}
