/* The option "durability" reaches the disk: this program counts what asks the system to flush a file. */
#define _GNU_SOURCE
#include "check.h"
#include "fixture.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int flushes;

/* The library's calls come here, since the program's symbols are found first. */
int fsync(int descriptor) {
  atomic_fetch_add(&flushes, 1);
  return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
  atomic_fetch_add(&flushes, 1);
  return (int)syscall(SYS_fdatasync, descriptor);
}

enum { SAVES = 20 };

/* How many flushes 20 saves ask for, one after the other. */
static int flushes_of_saves(const char *option) {
  kv_client *client = local_client(NULL, option);
  kv_store *store = opened_store(client, "things", "sync");
  saved(store, "{\"_id\":\"first\"}");
  int before = atomic_load(&flushes);
  for (int i = 0; i < SAVES; i++) saved(store, "{\"n\":1}");
  int count = atomic_load(&flushes) - before;
  NUMBER(SAVES + 1, counted(store));
  OK(kv_store_close(store));
  OK(kv_client_close(client));
  return count;
}

static void flushes_each_save(void) {
  CHECK(flushes_of_saves("") >= SAVES);
  CHECK(flushes_of_saves(",\"durability\":\"full\"") >= SAVES);
}

static void flushes_no_save(void) { NUMBER(0, flushes_of_saves(",\"durability\":\"normal\"")); }

int main(void) {
  RUN("a save is on the disk when it returns, unless the client asks for less", flushes_each_save);
  RUN("with durability \"normal\" a save flushes nothing", flushes_no_save);
  return finish();
}
