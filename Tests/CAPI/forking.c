/* A process, a child that it makes by fork(), and a third process use one directory in every order: what a save has
 * acknowledged is there in the end, and a child that cannot have the data is refused at once. */
#include "check.h"
#include "fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* The processes of a round. The driver has no client open: it tells them what to do, one after the other. */
enum { PARENT, CHILD, THIRD, PROCESSES };

/* A command down a pipe, its answer up another one. */
static struct line {
  int commands[2], answers[2];
} lines[PROCESSES];

static const char *directory;
static int round_number;

/* Of one process. */
static int me;
static kv_client *client;
static kv_store *store;
static int saves;
static pid_t child_of_mine;
static pthread_t saver;
static volatile int saving, stop_saving;

/* What the child sees of a file that its parent had open at the fork. */
static const char REFUSED = 'r';

static void *save_on(void *unused) {
  (void)unused;
  while (!stop_saving) kv_store_save(store, "{\"_id\":\"busy\"}", KV_NUL_TERMINATED, NULL, NULL, NULL, NULL);
  return NULL;
}

static char opens(void) {
  char options[512];
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid\",\"host\":null,\"dataDirectory\":\"%s\",\"durability\":\"normal\"}", directory);
  kv_error *why = NULL;
  kv_status status = kv_client_open(options, KV_NUL_TERMINATED, &client, &why);
  if (status == KV_OK) status = kv_store_open(client, "things", "sync", NULL, &store, &why);
  if (status == KV_OK) return 'o';
  if (client) kv_client_close(client);
  client = NULL;
  int explains = strstr(kv_error_message(why), "fork") && strstr(kv_error_message(why), "spawn");
  if (status != KV_MISUSE || !explains) printf("    %d: %s\n", status, kv_error_message(why));
  kv_error_free(why);
  return status == KV_MISUSE && explains ? REFUSED : 'e';
}

static char saves_one(void) {
  char json[64];
  snprintf(json, sizeof json, "{\"_id\":\"%d-%d-%d\"}", round_number, me, saves);
  if (kv_store_save(store, json, KV_NUL_TERMINATED, NULL, NULL, NULL, NULL) != KV_OK) return 'e';
  saves++;
  return 'o';
}

static char closes(void) {
  if (saving) {
    stop_saving = 1;
    pthread_join(saver, NULL);
    saving = 0;
  }
  kv_status status = kv_client_close(client);
  client = NULL;
  return status == KV_OK ? 'o' : 'e';
}

static void serve(int process);

static char forks(void) {
  child_of_mine = fork();
  if (child_of_mine == 0) {
    /* What is inherited is no use, and harms nothing. */
    if (client && (saves_one() != 'e' || kv_client_close(client) != KV_MISUSE)) _exit(7);
    client = NULL;
    saving = 0;
    saves = 0;
    serve(CHILD);
  }
  return child_of_mine > 0 ? 'o' : 'e';
}

/* Carries out commands until it is told to end. */
static void serve(int process) {
  me = process;
  alarm(120);
  for (;;) {
    char command = 0, answer = 'o';
    if (read(lines[me].commands[0], &command, 1) != 1) _exit(3);
    switch (command) {
      case 'O': answer = opens(); break;
      case 'S': answer = saves_one(); break;
      case 'C': answer = closes(); break;
      case 'F': answer = forks(); break;
      case 'T':
        stop_saving = 0;
        saving = pthread_create(&saver, NULL, save_on, NULL) == 0;
        break;
    }
    if (write(lines[me].answers[1], &answer, 1) != 1) _exit(4);
    /* Destructors and whatever the library does at the end of a process run as well. */
    if (command == 'X') exit(0);
    if (command == 'K') _exit(0);
  }
}

static char tell(int process, char command) {
  char answer = 0;
  if (write(lines[process].commands[1], &command, 1) != 1) return 'w';
  if (read(lines[process].answers[0], &answer, 1) != 1) return 'd';
  return answer;
}

/* Numbers that look random and are the same each time. */
static unsigned random_state = 1;
static unsigned below(unsigned limit) {
  random_state = random_state * 1103515245 + 12345;
  return (random_state >> 16) % limit;
}

static int acknowledged[PROCESSES];

static void save_some(int process) {
  for (unsigned i = 1 + below(3); i > 0; i--)
    if (tell(process, 'S') == 'o') acknowledged[process]++;
    else CHECK(!"a save failed");
}

/* Everything that was acknowledged, counted by a process that comes last. */
static int count_all(void) {
  kv_client *last = local_client(directory, "");
  kv_store *things = opened_store(last, "things", "sync");
  for (int process = 0; process < PROCESSES; process++)
    for (int i = 0; i < acknowledged[process]; i++) {
      char id[32], *json = NULL;
      snprintf(id, sizeof id, "%d-%d-%d", round_number, process, i);
      kv_status status = kv_store_find_by_id(things, id, NULL, &json, NULL, NULL);
      kv_free(json);
      if (status != KV_OK) {
        printf("    %s is gone: status %d\n", id, status);
        fflush(stdout);
        return 1;
      }
    }
  return kv_client_close(last) != KV_OK;
}

static pid_t start(int process) {
  fflush(stdout);
  pid_t started = fork();
  if (started == 0) serve(process);
  return started;
}

/* What each of them has still to do, in its order. The parent forks in the middle; where the child's steps fall among those of the
 * others is drawn. `isOpen`: the parent has the data open when it forks. */
static void play(int isOpen, int isBusy) {
  directory = fresh_directory();
  memset(acknowledged, 0, sizeof acknowledged);
  for (int i = 0; i < PROCESSES; i++)
    if (pipe(lines[i].commands) || pipe(lines[i].answers)) exit(2);
  pid_t parent = start(PARENT), third = start(THIRD);
  if (!isOpen && below(2)) {
    tell(PARENT, 'O');
    save_some(PARENT);
    tell(PARENT, 'C');
  }
  if (isOpen) {
    CHECK(tell(PARENT, 'O') == 'o');
    save_some(PARENT);
    if (isBusy) tell(PARENT, 'T');
  }
  CHECK(tell(PARENT, 'F') == 'o');
  const char *endings[] = {"CX", "X", "K"};
  char todo[PROCESSES][8];
  snprintf(todo[PARENT], sizeof todo[PARENT], "%s%s", isOpen ? "S" : "OS", endings[below(3)]);
  snprintf(todo[CHILD], sizeof todo[CHILD], "OSS%s", endings[below(3)]);
  snprintf(todo[THIRD], sizeof todo[THIRD], "OSCOSCX");
  int next[PROCESSES] = {0}, isRefused = 0;
  for (;;) {
    int process = (int)below(PROCESSES);
    for (int i = 0; i < PROCESSES && !todo[process][next[process]]; i++) process = (process + 1) % PROCESSES;
    char command = todo[process][next[process]];
    if (!command) break;
    next[process]++;
    int isIdle = process == CHILD && isRefused;
    if (command == 'S' && !isIdle) save_some(process);
    else if (command == 'C' && !isIdle) CHECK(tell(process, 'C') == 'o');
    else if (command == 'O') {
      char answer = tell(process, 'O');
      if (process == CHILD) {
        isRefused = answer == REFUSED;
        CHECK(isRefused == isOpen);
      }
      CHECK(answer == 'o' || isRefused);
    } else if (command == 'X' || command == 'K')
      CHECK(tell(process, command) == 'o');
  }
  int status = -1;
  waitpid(parent, &status, 0);
  NUMBER(0, status);
  waitpid(third, &status, 0);
  NUMBER(0, status);
  for (int i = 0; i < PROCESSES; i++)
    for (int end = 0; end < 2; end++) {
      close(lines[i].commands[end]);
      close(lines[i].answers[end]);
    }
  fflush(stdout);
  pid_t last = fork();
  if (last == 0) _exit(count_all());
  waitpid(last, &status, 0);
  NUMBER(0, status);
}

/* Whether a thread saves during some of the forks. Not under gcc's sanitizer: what its allocator has locked in another thread
 * stays locked in the child for ever. */
#ifdef __SANITIZE_ADDRESS__
enum { HAS_BUSY_FORKS = 0 };
#else
enum { HAS_BUSY_FORKS = 1 };
#endif

static void in_every_order(void) {
  for (round_number = 0; round_number < 100; round_number++)
    play(round_number % 2, HAS_BUSY_FORKS && round_number % 4 == 3);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  RUN("nothing acknowledged is missing after opening, forking, closing and ending in a hundred orders", in_every_order);
  return finish();
}
