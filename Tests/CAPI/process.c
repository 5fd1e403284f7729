/* What the library does to its process: nothing to its signals, nothing after a fork, nothing at its end. */
#define _GNU_SOURCE
#include "check.h"
#include "fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <arpa/inet.h>
#include <unistd.h>

static kv_client *client;
static kv_store *store;

/* Runs `body` in a child and expects it to end with 0 within 60 seconds. */
static void in_child(int (*body)(void)) {
  int status = -1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body());
  }
  NUMBER(child, waitpid(child, &status, 0));
  CHECK(WIFEXITED(status));
  if (WIFSIGNALED(status)) printf("    the child ended by signal %d\n", WTERMSIG(status));
  else NUMBER(0, WEXITSTATUS(status));
}

/* Each inherited handle is refused, and nothing hangs; the number of the first that is not. */
static kv_query *inherited_query;
static kv_cursor *inherited_cursor;
static kv_request *inherited_request;
static kv_error *inherited_error;

static int use_what_is_inherited(void) {
  kv_error *error = NULL;
  char *json = NULL;
  const char *lent = NULL;
  int64_t count = 0;
  kv_store *other = NULL;
  if (kv_live_objects(NULL) != 0) return 1;
  if (kv_store_save(store, "{}", 2, NULL, NULL, NULL, &error) != KV_MISUSE) return 2;
  if (strstr(kv_error_message(error), "fork") == NULL) return 3;
  kv_error_free(error);
  if (kv_store_count(store, NULL, NULL, &count, NULL) != KV_MISUSE) return 4;
  if (kv_store_open(client, "c", "sync", NULL, &other, NULL) != KV_MISUSE) return 5;
  if (kv_query_json(inherited_query, &json, NULL, NULL) != KV_MISUSE) return 6;
  if (kv_cursor_next(inherited_cursor, &lent, NULL, NULL) != KV_MISUSE) return 7;
  if (kv_request_wait(inherited_request, -1, NULL, NULL, NULL) != KV_MISUSE) return 8;
  if (kv_error_status(inherited_error) != KV_MISUSE) return 9;
  if (strcmp(kv_error_message(inherited_error), "") != 0) return 10;
  kv_error_free(inherited_error);
  kv_query_free(inherited_query);
  kv_cursor_close(inherited_cursor);
  kv_request_free(inherited_request);
  if (kv_store_close(store) != KV_MISUSE) return 11;
  if (kv_client_close(client) != KV_MISUSE) return 12;
  return 0;
}

/* Made by the parent, which removes it. */
static const char *directory_of_child;

/* A child may open a client of its own. */
static int open_its_own(void) {
  kv_client *mine = local_client(directory_of_child, "");
  kv_store *things = opened_store(mine, "things", "sync");
  saved(things, "{}");
  if (counted(things) != 1) return 1;
  if (kv_live_objects("client") != 1) return 2;
  if (kv_client_close(mine) != KV_OK) return 3;
  return kv_live_objects(NULL) != 0;
}

static void children_use_nothing_inherited(void) {
  kv_error *misuse = NULL;
  client = local_client(NULL, "");
  store = opened_store(client, "things", "sync");
  saved(store, "{}");
  OK(kv_query_create(NULL, 0, NULL, 0, &inherited_query, &error));
  OK(kv_store_find(store, NULL, NULL, &inherited_cursor, &error));
  OK(kv_store_count_async(store, NULL, NULL, NULL, NULL, NULL, &inherited_request, &error));
  /* SQLite has locks that belong to the whole process: a child that opens a client of its own must not be
   * made while another thread holds one. */
  OK(kv_request_wait(inherited_request, -1, NULL, NULL, &error));
  NUMBER(KV_MISUSE, kv_query_json(NULL, NULL, NULL, &misuse));
  inherited_error = misuse;
  in_child(use_what_is_inherited);
  directory_of_child = fresh_directory();
  in_child(open_its_own);
  NUMBER(KV_MISUSE, kv_error_status(misuse));
  kv_error_free(misuse);
  kv_query_free(inherited_query);
  saved(store, "{}");
  NUMBER(2, counted(store));
  OK(kv_client_close(client));
}

static volatile int stop_saving;
static void *save_on(void *unused) {
  (void)unused;
  while (!stop_saving) kv_store_save(store, "{}", 2, NULL, NULL, NULL, NULL);
  return NULL;
}

static int save_into_the_inherited(void) {
  for (int i = 0; i < 100; i++)
    if (kv_store_save(store, "{}", 2, NULL, NULL, NULL, NULL) != KV_MISUSE) return 1;
  return 0;
}

/* Whoever holds a lock at the moment of the fork, the child must not wait for it. */
static void forks_in_the_middle_of_saves(void) {
  pthread_t savers[3];
  client = local_client(NULL, ",\"durability\":\"normal\"");
  store = opened_store(client, "things", "sync");
  stop_saving = 0;
  for (int i = 0; i < 3; i++) pthread_create(&savers[i], NULL, save_on, NULL);
  for (int i = 0; i < 50; i++) in_child(save_into_the_inherited);
  stop_saving = 1;
  for (int i = 0; i < 3; i++) pthread_join(savers[i], NULL);
  OK(kv_client_close(client));
}

/* The dispositions of all signals. */
static void read_signals(struct sigaction all[NSIG]) {
  memset(all, 0, sizeof(struct sigaction) * NSIG);
  for (int number = 1; number < NSIG; number++) sigaction(number, NULL, &all[number]);
}

static int same_signals(const struct sigaction *before, const struct sigaction *after) {
  for (int number = 1; number < NSIG; number++)
    if (before[number].sa_handler != after[number].sa_handler ||
        before[number].sa_flags != after[number].sa_flags) {
      printf("    signal %d was changed\n", number);
      return 0;
    }
  return 1;
}

/* A port whose connections are all closed at once, often in the middle of a request. */
static int rude_socket;
static void *be_rude(void *unused) {
  (void)unused;
  for (;;) {
    int connection = accept(rude_socket, NULL, NULL);
    if (connection < 0) return NULL;
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(connection);
  }
}

static struct sigaction signals_before[NSIG];

static void leaves_signals_alone(void) {
  struct sigaction after[NSIG];
  sigset_t mask_before = {{0}}, mask_after = {{0}};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  pthread_t rude;
  signal(SIGPIPE, SIG_DFL);
  read_signals(signals_before);
  sigprocmask(SIG_SETMASK, NULL, &mask_before);
  rude_socket = socket(AF_INET, SOCK_STREAM, 0);
  bind(rude_socket, (struct sockaddr *)&address, size);
  listen(rude_socket, 16);
  getsockname(rude_socket, (struct sockaddr *)&address, &size);
  pthread_create(&rude, NULL, be_rude, NULL);

  /* SIGPIPE has its default, which ends the process: none may come. */
  client = server_client(ntohs(address.sin_port), NULL, "");
  char *body = repeated("{\"username\":\"a\",\"password\":\"", "x", 1 << 20, "\"}");
  for (int i = 0; i < 20; i++) {
    STATUS(KV_NETWORK, kv_ping(client, NULL, &(char *){NULL}, NULL, &error));
    STATUS(KV_NETWORK, kv_user_login(client, body, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  }
  free(body);
  OK(kv_client_close(client));

  shutdown(rude_socket, SHUT_RDWR);
  close(rude_socket);
  pthread_join(rude, NULL);
  read_signals(after);
  CHECK(same_signals(signals_before, after));
  sigprocmask(SIG_SETMASK, NULL, &mask_after);
  CHECK(memcmp(&mask_before, &mask_after, sizeof mask_before) == 0);
}

/* A signal of the host's lands on the host's threads, and does not disturb a call. */
static volatile sig_atomic_t signal_count;
static volatile sig_atomic_t signals_elsewhere;
static pthread_t main_thread;
static void on_signal(int number) {
  (void)number;
  signal_count++;
  if (!pthread_equal(pthread_self(), main_thread)) signals_elsewhere++;
}

static void signals_land_on_the_host(void) {
  struct sigaction mine = {.sa_handler = on_signal}, before;
  kv_request *request = NULL;
  main_thread = pthread_self();
  sigaction(SIGUSR1, &mine, &before);
  client = server_client(silent_port(), NULL, "");
  OK(kv_ping_async(client, "{\"timeout\":0.3}", NULL, NULL, NULL, &request, &error));
  for (int i = 0; i < 100; i++) kill(getpid(), SIGUSR1);
  STATUS(KV_TIMEOUT, kv_request_wait(request, 20, NULL, NULL, &error));
  OK(kv_client_close(client));
  sigaction(SIGUSR1, &before, NULL);
  CHECK(signal_count > 0);
  NUMBER(0, signals_elsewhere);
}

static int descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < 1024; fd++)
    if (fcntl(fd, F_GETFD) != -1) count++;
  return count;
}

static int inheritable(void) {
  int count = 0;
  for (int fd = 3; fd < 1024; fd++) {
    int flags = fcntl(fd, F_GETFD);
    if (flags != -1 && !(flags & FD_CLOEXEC)) count++;
  }
  return count;
}

static void gives_descriptors_back(void) {
  int before = descriptors(), leaking = inheritable();
  for (int i = 0; i < 20; i++) {
    kv_cursor *cursor = NULL;
    client = local_client(NULL, i % 2 ? ",\"callbacks\":\"pump\"" : "");
    store = opened_store(client, "things", "sync");
    saved(store, "{}");
    OK(kv_store_find(store, NULL, NULL, &cursor, &error));
    NUMBER(leaking, inheritable());
    OK(kv_client_close(client));
  }
  NUMBER(before, descriptors());
}

/* A plug-in host loads, unloads and loads again. */
static int load_and_unload(void) {
  for (int i = 0; i < 3; i++) {
    void *library = dlopen("libkvstore.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 1;
    const char *(*version)(void) = NULL;
    *(void **)&version = dlsym(library, "kv_version");
    if (version == NULL || strcmp(version(), kv_version()) != 0) return 2;
    if (dlsym(library, "swift_retain") != NULL) return 3;
    if (dlclose(library) != 0) return 4;
  }
  return 0;
}
static void loads_and_unloads(void) { in_child(load_and_unload); }

/* A process may end at any time, with everything open and operations running. */
static int exit_with_all_open(void) {
  kv_client *local = local_client(directory_of_child, "");
  kv_client *remote = server_client(silent_port(), directory_of_child, "");
  kv_store *things = opened_store(local, "things", "sync");
  for (int i = 0; i < 100; i++) {
    kv_store_save_async(things, "{}", 2, NULL, NULL, NULL, NULL, NULL, NULL);
    kv_ping_async(remote, NULL, NULL, NULL, NULL, NULL, NULL);
  }
  exit(0);
}
static void ends_with_all_open(void) {
  directory_of_child = fresh_directory();
  in_child(exit_with_all_open);
}

int main(void) {
  RUN("a child that fork() made can use nothing inherited, but clients of its own",
      children_use_nothing_inherited);
  RUN("a fork in the middle of saves hangs nobody", forks_in_the_middle_of_saves);
  RUN("no handler, mask or disposition changes, and no SIGPIPE comes", leaves_signals_alone);
  RUN("the host's signals land on the host's threads", signals_land_on_the_host);
  RUN("closing gives all descriptors back, and none is inherited by exec()", gives_descriptors_back);
  RUN("the library may be loaded and unloaded", loads_and_unloads);
  RUN("a process may end with everything open", ends_with_all_open);
  return finish();
}
