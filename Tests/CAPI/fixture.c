#define _GNU_SOURCE
#include "fixture.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *directories[256];
static int directory_count;
static pid_t owner;
static pid_t server;

static void die(const char *what, kv_error *error) {
  printf("not ok: %s: %s\n1 failed, 0 passed\n", what, error ? kv_error_json(error) : "");
  exit(1);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place) {
  (void)info;
  (void)kind;
  (void)place;
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
  if (asprintf(&path, "%s/kvstore-capi-XXXXXX", base ? base : "/tmp") < 0 || !mkdtemp(path) ||
      directory_count == 256)
    die("no temporary directory", NULL);
  if (directory_count == 0) {
    owner = getpid();
    atexit(clean_up);
  }
  return directories[directory_count++] = path;
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

/* Reads what the server prints until it names its port. */
static int read_port(int from) {
  char text[4096];
  size_t length = 0;
  ssize_t got;
  while (length < sizeof text - 1 && (got = read(from, text + length, sizeof text - 1 - length)) > 0) {
    length += (size_t)got;
    text[length] = 0;
    char *address = strstr(text, "127.0.0.1:");
    if (address && strpbrk(address, "\n \",/")) return atoi(address + strlen("127.0.0.1:"));
  }
  return 0;
}

int start_server(void) {
  const char *program = getenv("KVSTORED");
  const char *data = fresh_directory();
  int ends[2];
  if (program == NULL) die("KVSTORED does not name the server", NULL);
  if (pipe(ends) != 0) die("no pipe", NULL);
  server = fork();
  if (server == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl(program, program, "--data", data, "--listen", "127.0.0.1:0", "--app",
          "kid:secret:master", (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  int port = read_port(ends[0]);
  if (port == 0) die("the server did not start", NULL);
  /* The read end stays open: the server may go on printing, up to the size of the pipe. */
  return port;
}

void stop_server(void) {
  if (server <= 0) return;
  kill(server, SIGTERM);
  waitpid(server, NULL, 0);
  server = 0;
}

int silent_port(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int socket_of_it = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(socket_of_it, (struct sockaddr *)&address, size) != 0 || listen(socket_of_it, 64) != 0 ||
      getsockname(socket_of_it, (struct sockaddr *)&address, &size) != 0)
    die("no port", NULL);
  /* The kernel accepts into the backlog; nobody ever reads. */
  return ntohs(address.sin_port);
}

double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
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
