/* What is written is told in another process: how long that takes.
 *
 *   live watch HOST DIRECTORY COUNT   prints "ready", then for each of COUNT changes the microseconds since
 *                                     they began to be written
 *   live write HOST DIRECTORY TOKEN COUNT   saves COUNT entities, one at a time; prints for each the microseconds of a
 *                                     plain GET on a connection that is kept, and of the save
 *
 * Both log in as the same user. The clock is the machine's monotonic one, which all processes share. */
#include "data.h"
#include "raw.h"

#include <curl/curl.h>
#include <kvstore.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct watcher {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int left;
  double *microseconds;
} watcher;

static void must(kv_status status, kv_error *error) {
  if (status != KV_OK) raw_fail(kv_status_name(status), kv_error_json(error));
}

static kv_client *log_in(const char *host, const char *directory) {
  char options[512];
  kv_client *client;
  kv_error *error = NULL;
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid_bench\",\"appSecret\":\"secret\",\"host\":\"%s\",\"dataDirectory\":\"%s\"}",
           host, directory);
  must(kv_client_open(options, KV_NUL_TERMINATED, &client, &error), error);
  must(kv_user_login(client, "{\"username\":\"bench\",\"password\":\"bench\"}", KV_NUL_TERMINATED,
                     NULL, NULL, NULL, &error),
       error);
  return client;
}

static void on_ready(void *context, const kv_event *event) {
  (void)context, (void)event;
  puts("ready");
  fflush(stdout);
}

static void on_next(void *context, const kv_event *event) {
  double now = data_now();
  watcher *watch = context;
  const char *begun = strstr(event->json, "\"begun\":");
  if (!begun) raw_fail("watch", event->json);
  pthread_mutex_lock(&watch->lock);
  if (watch->left > 0) watch->microseconds[--watch->left] = (now - atof(begun + 8)) * 1e6;
  pthread_cond_signal(&watch->changed);
  pthread_mutex_unlock(&watch->lock);
}

static void on_error(void *context, const kv_event *event) {
  (void)context;
  raw_fail("watch", kv_error_message(event->error));
}

static void watch(const char *host, const char *directory, int count) {
  watcher watch = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, count, NULL};
  kv_client *client = log_in(host, directory);
  kv_store *store;
  kv_error *error = NULL;
  watch.microseconds = calloc((size_t)count, sizeof *watch.microseconds);
  must(kv_store_open(client, "live", "network", NULL, &store, &error), error);
  must(kv_live_register(client, NULL, &error), error);
  must(kv_store_subscribe(store, NULL, on_ready, on_next, NULL, on_error, &watch, NULL, NULL, &error),
       error);
  pthread_mutex_lock(&watch.lock);
  while (watch.left > 0) pthread_cond_wait(&watch.changed, &watch.lock);
  pthread_mutex_unlock(&watch.lock);
  for (int i = 0; i < count; i++) printf("%.1f\n", watch.microseconds[i]);
  must(kv_store_close(store), NULL);
  must(kv_client_close(client), NULL);
  free(watch.microseconds);
}

static size_t ignore(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

static CURL *plain_get(const char *host, const char *token) {
  static char header[256], url[256];
  CURL *curl = curl_easy_init();
  snprintf(url, sizeof url, "%s/appdata/kid_bench/live/first", host);
  snprintf(header, sizeof header, "Authorization: Kinvey %s", token);
  curl_easy_setopt(curl, CURLOPT_URL, url);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, curl_slist_append(NULL, header));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  return curl;
}

static void pause_for(long microseconds) {
  struct timespec time = {0, microseconds * 1000};
  nanosleep(&time, NULL);
}

static void write_all(const char *host, const char *directory, const char *token, int count) {
  kv_client *client = log_in(host, directory);
  kv_store *store;
  kv_error *error = NULL;
  CURL *curl = plain_get(host, token);
  must(kv_store_open(client, "live", "network", NULL, &store, &error), error);
  for (int i = -20; i < count; i++) {
    char entity[128];
    double start = data_now();
    if (curl_easy_perform(curl)) raw_fail("plain GET", "failed");
    double plain = data_now() - start;
    /* The watcher has its next poll under way. */
    pause_for(2000);
    start = data_now();
    snprintf(entity, sizeof entity, "{\"begun\":%.9f,\"name\":\"an entity of some bytes\"}", start);
    must(kv_store_save(store, entity, KV_NUL_TERMINATED, NULL, NULL, NULL, &error), error);
    if (i >= 0) printf("%.1f %.1f\n", plain * 1e6, (data_now() - start) * 1e6);
    pause_for(2000);
  }
  curl_easy_cleanup(curl);
  must(kv_store_close(store), NULL);
  must(kv_client_close(client), NULL);
}

int main(int count, char **arguments) {
  if (count == 5 && !strcmp(arguments[1], "watch")) {
    watch(arguments[2], arguments[3], atoi(arguments[4]));
  } else if (count == 6 && !strcmp(arguments[1], "write")) {
    write_all(arguments[2], arguments[3], arguments[4], atoi(arguments[5]));
  } else {
    raw_fail(arguments[0], "watch HOST DIRECTORY COUNT | write HOST DIRECTORY TOKEN COUNT");
  }
  return 0;
}
