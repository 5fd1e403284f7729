/* What is written is told in another process: how long that takes.
 *
 *   live HOST DIRECTORY TOKEN COUNT   prints COUNT lines: the microseconds of a plain GET and of a plain POST of the same
 *                                     entity to another collection, both on a connection that is kept, of a save, and from
 *                                     before that save until the other process was told
 *
 * Two processes of this program log in as the same user: one saves, one watches. All of it happens one after the
 * other. The clock is the machine's monotonic one, which all processes share. */
#include "data.h"
#include "ours.h"
#include "raw.h"

#include <curl/curl.h>
#include <kvstore.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct times {
  double get, post, save, received;
} times;

typedef struct watcher {
  sem_t received;
  int channel;
} watcher;

static kv_client *log_in(const char *host, const char *parent, const char *name) {
  char options[512], directory[256];
  kv_client *client;
  kv_error *error = NULL;
  snprintf(directory, sizeof directory, "%s/%s", parent, name);
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid_bench\",\"appSecret\":\"secret\",\"host\":\"%s\",\"dataDirectory\":\"%s\"}",
           host, directory);
  must(kv_client_open(options, KV_NUL_TERMINATED, &client, &error), error);
  must(kv_user_login(client, "{\"username\":\"bench\",\"password\":\"bench\"}", KV_NUL_TERMINATED,
                     NULL, NULL, NULL, &error),
       error);
  return client;
}

/* Of one process to the other: that it is ready, and then when it was told of each change. */
static void send_time(int channel, double time) {
  if (write(channel, &time, sizeof time) != sizeof time) raw_fail("watch", "nobody listens");
}

static double receive_time(int channel) {
  double time;
  if (read(channel, &time, sizeof time) != sizeof time) raw_fail("write", "the watcher ended");
  return time;
}

static void on_ready(void *context, const kv_event *event) {
  watcher *watch = context;
  (void)event;
  send_time(watch->channel, 0);
}

static void on_next(void *context, const kv_event *event) {
  double now = data_now();
  watcher *watch = context;
  (void)event;
  send_time(watch->channel, now);
  sem_post(&watch->received);
}

static void on_error(void *context, const kv_event *event) {
  (void)context;
  raw_fail("watch", kv_error_message(event->error));
}

static void watch(const char *host, const char *directory, int count, int channel) {
  watcher watch = {.channel = channel};
  kv_client *client = log_in(host, directory, "watch");
  kv_store *store;
  kv_error *error = NULL;
  sem_init(&watch.received, 0, 0);
  must(kv_store_open(client, "live", "network", NULL, &store, &error), error);
  must(kv_live_register(client, NULL, &error), error);
  must(kv_store_subscribe(store, NULL, on_ready, on_next, NULL, on_error, &watch, NULL, NULL, &error),
       error);
  for (int i = 0; i < count; i++) sem_wait(&watch.received);
  must(kv_store_close(store), NULL);
  must(kv_client_close(client), NULL);
}

static size_t ignore(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

/* A handle for a path of the app. */
static CURL *plain(const char *host, const char *token, const char *path) {
  char header[256], url[256];
  struct curl_slist *headers = NULL;
  CURL *curl = curl_easy_init();
  snprintf(url, sizeof url, "%s/appdata/kid_bench/%s", host, path);
  snprintf(header, sizeof header, "Authorization: Kinvey %s", token);
  headers = curl_slist_append(headers, header);
  headers = curl_slist_append(headers, "Content-Type: application/json");
  curl_easy_setopt(curl, CURLOPT_URL, url);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  return curl;
}

static double perform(CURL *curl) {
  double start = data_now();
  if (curl_easy_perform(curl)) raw_fail("plain request", "failed");
  return data_now() - start;
}

static void write_all(const char *host, const char *directory, const char *token, times *times,
                      int count, int channel) {
  kv_client *client = log_in(host, directory, "write");
  CURL *get = plain(host, token, "live/first"), *post = plain(host, token, "others");
  kv_store *store;
  kv_error *error = NULL;
  must(kv_store_open(client, "live", "network", NULL, &store, &error), error);
  receive_time(channel);
  for (int i = 0; i < count; i++) {
    char entity[128];
    times[i].get = perform(get);
    snprintf(entity, sizeof entity, "{\"number\":%d,\"name\":\"an entity of some bytes\"}", i);
    curl_easy_setopt(post, CURLOPT_POSTFIELDS, entity);
    times[i].post = perform(post);
    double start = data_now();
    must(kv_store_save(store, entity, KV_NUL_TERMINATED, NULL, NULL, NULL, &error), error);
    times[i].save = data_now() - start;
    times[i].received = receive_time(channel) - start;
  }
  curl_easy_cleanup(get);
  curl_easy_cleanup(post);
  must(kv_store_close(store), NULL);
  must(kv_client_close(client), NULL);
}

int main(int arguments, char **argument) {
  int channel[2];
  if (arguments != 5) raw_fail(argument[0], "HOST DIRECTORY TOKEN COUNT");
  const char *host = argument[1], *directory = argument[2];
  int count = atoi(argument[4]);
  times *times = calloc((size_t)count, sizeof *times);
  if (pipe(channel)) raw_fail(argument[0], "no pipe");
  pid_t watcher = fork();
  if (watcher == 0) {
    close(channel[0]);
    watch(host, directory, count, channel[1]);
    return 0;
  }
  close(channel[1]);
  write_all(host, directory, argument[3], times, count, channel[0]);
  int status;
  if (watcher < 0 || waitpid(watcher, &status, 0) != watcher || status)
    raw_fail(argument[0], "the watcher failed");
  for (int i = 0; i < count; i++)
    printf("%.1f %.1f %.1f %.1f\n", times[i].get * 1e6, times[i].post * 1e6, times[i].save * 1e6,
           times[i].received * 1e6);
  free(times);
  return 0;
}
