#define _GNU_SOURCE
#include "fixture.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *directories[512];
static int directory_count;
static pthread_mutex_t directories_lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t owner;
static pid_t server;

static void die(const char *what, kv_error *error) {
  printf("not ok: %s: %s\n1 failed, 0 passed\n", what, error ? kv_error_json(error) : "");
  exit(1);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  (void)info;
  (void)kind;
  (void)walk;
  return remove(path);
}

static void clean_up(void) {
  if (getpid() != owner) return;
  stop_server();
  for (int i = 0; i < directory_count; i++) {
    nftw(directories[i], remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(directories[i]);
  }
}

const char *fresh_directory(void) {
  const char *base = getenv("TMPDIR");
  char *path = NULL;
  if (asprintf(&path, "%s/kvstore-capi-XXXXXX", base ? base : "/tmp") < 0 || !mkdtemp(path))
    die("no temporary directory", NULL);
  pthread_mutex_lock(&directories_lock);
  if (directory_count == 512) die("too many temporary directories", NULL);
  if (directory_count == 0) {
    owner = getpid();
    atexit(clean_up);
  }
  directories[directory_count++] = path;
  pthread_mutex_unlock(&directories_lock);
  return path;
}

static kv_client *opened_client(char *options) {
  kv_client *client = NULL;
  kv_error *error = NULL;
  if (kv_client_open(options, KV_NUL_TERMINATED, &client, &error) != KV_OK) die("client", error);
  free(options);
  return client;
}

kv_client *local_client(const char *directory, const char *more) {
  char *options = NULL;
  if (directory == NULL) directory = fresh_directory();
  if (asprintf(&options, "{\"appKey\":\"kid\",\"host\":null,\"dataDirectory\":\"%s\"%s}", directory,
               more) < 0)
    die("no memory", NULL);
  return opened_client(options);
}

kv_client *server_client(int port, const char *directory, const char *more) {
  char *options = NULL;
  if (directory == NULL) directory = fresh_directory();
  if (asprintf(&options,
               "{\"appKey\":\"kid\",\"appSecret\":\"secret\",\"host\":\"http://127.0.0.1:%d\","
               "\"dataDirectory\":\"%s\"%s}",
               port, directory, more) < 0)
    die("no memory", NULL);
  return opened_client(options);
}

kv_store *opened_store(kv_client *client, const char *collection, const char *type) {
  kv_store *store = NULL;
  kv_error *error = NULL;
  if (kv_store_open(client, collection, type, NULL, &store, &error) != KV_OK) die("store", error);
  return store;
}

void saved(kv_store *store, const char *json) {
  kv_error *error = NULL;
  if (kv_store_save(store, json, KV_NUL_TERMINATED, NULL, NULL, NULL, &error) != KV_OK)
    die("save", error);
}

int64_t counted(kv_store *store) {
  int64_t count = -1;
  return kv_store_count(store, NULL, NULL, &count, NULL) == KV_OK ? count : -1;
}

/* The port that the server writes down once it listens; 0 if it does not within 60 seconds. */
static int read_port(const char *path) {
  for (double end = seconds() + 60; seconds() < end; usleep(2000)) {
    char text[20] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL) continue;
    if (fgets(text, sizeof text, file) == NULL) text[0] = 0;
    fclose(file);
    if (strchr(text, '\n') != NULL) return atoi(text);
  }
  return 0;
}

int start_server(void) {
  const char *program = getenv("KVSTORED");
  char *data = NULL, *port_file = NULL;
  const char *directory = fresh_directory();
  if (program == NULL) die("KVSTORED does not name the server", NULL);
  if (asprintf(&data, "%s/data", directory) < 0 || asprintf(&port_file, "%s/port", directory) < 0)
    die("no memory", NULL);
  server = fork();
  if (server == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl(program, program, "--data", data, "--listen", "127.0.0.1:0", "--app",
          "kid:secret:master", "--port-file", port_file, "--access-log", "off", "--log-level",
          "error", "--password-cost", "1", "--password-length", "1",
          "--change-password-by-session", (char *)NULL);
    _exit(127);
  }
  int port = read_port(port_file);
  free(data);
  free(port_file);
  if (port == 0) die("the server did not start", NULL);
  return port;
}

void stop_server(void) {
  if (server <= 0) return;
  kill(server, SIGTERM);
  waitpid(server, NULL, 0);
  server = 0;
}

int silent_socket(int *port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int socket_of_it = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(socket_of_it, (struct sockaddr *)&address, size) != 0 || listen(socket_of_it, 64) != 0 ||
      getsockname(socket_of_it, (struct sockaddr *)&address, &size) != 0)
    die("no port", NULL);
  *port = ntohs(address.sin_port);
  return socket_of_it;
}

int silent_port(void) {
  int port;
  /* The kernel accepts into the backlog; nobody ever reads. */
  silent_socket(&port);
  return port;
}

void dispatch_until_written(kv_client *client, char *text) {
  kv_error *error = NULL;
  int fd = -1;
  text[0] = 0;
  if (kv_client_event_fd(client, &fd, &error)) die("no descriptor", error);
  while (text[0] == 0) {
    if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 60000) != 1) die("nothing to dispatch", NULL);
    if (kv_client_dispatch(client, 0, NULL, &error)) die("dispatch", error);
  }
}

double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

char *uri_of(const char *described) {
  const char *start = strstr(described, "\"uri\":\"");
  if (start == NULL) abort();
  start += strlen("\"uri\":\"");
  return strndup(start, strcspn(start, "\""));
}

char *repeated(const char *head, const char *part, size_t count, const char *tail) {
  size_t size = strlen(head) + strlen(part) * count + strlen(tail) + 1;
  char *text = malloc(size), *end = text;
  if (text == NULL) die("no memory", NULL);
  end = stpcpy(end, head);
  for (size_t i = 0; i < count; i++) end = stpcpy(end, part);
  strcpy(end, tail);
  return text;
}
