/* The host's locale is its own: it may write numbers with a comma, and change while the library works. */
#define _GNU_SOURCE
#include "check.h"
#include "fixture.h"

#include <locale.h>
#include <pthread.h>
#include <unistd.h>

/* Makes a locale with German numbers, which need not be installed; ends the program if there is no localedef. */
static void make_german(void) {
  const char *directory = fresh_directory();
  char path[500], command[1500];
  snprintf(path, sizeof path, "%s/numbers", directory);
  FILE *numbers = fopen(path, "w");
  fputs("LC_NUMERIC\ndecimal_point \"<U002C>\"\nthousands_sep \"<U002E>\"\ngrouping 3;3\nEND LC_NUMERIC\n", numbers);
  fclose(numbers);
  snprintf(path, sizeof path, "%s/characters", directory);
  FILE *characters = fopen(path, "w");
  fputs("<code_set_name> ANSI_X3.4-1968\n<comment_char> %\n<escape_char> /\nCHARMAP\n", characters);
  for (int letter = ' '; letter < 127; letter++) fprintf(characters, "<U%04X> /x%02x x\n", letter, letter);
  fputs("END CHARMAP\n", characters);
  fclose(characters);
  /* It warns of all categories that are not defined. */
  snprintf(command, sizeof command, "localedef -c -i %s/numbers -f %s/characters %s/de_DE >/dev/null 2>&1", directory,
           directory, directory);
  if (system(command) < 0) exit(2);
  setenv("LOCPATH", directory, 1);
  if (!setlocale(LC_NUMERIC, "de_DE") || strcmp(localeconv()->decimal_point, ",") != 0) {
    printf("not ok: localedef has made no German locale\n1 failed, 0 passed\n");
    exit(1);
  }
}

static const char wanted[] = "{\"filter\":{\"a\":{\"$gt\":1234.5}}}";

/* Parses a number, and writes it. */
static int is_read(void) {
  kv_query *query = NULL;
  char *json = NULL;
  int is_same = 0;
  if (kv_query_create("{\"a\":{\"$gt\":1234.5}}", KV_NUL_TERMINATED, NULL, 0, &query, NULL) == KV_OK &&
      kv_query_json(query, &json, NULL, NULL) == KV_OK)
    is_same = strstr(json, "1234.5") != NULL && strstr(json, "1234,5") == NULL;
  if (!is_same) printf("    %s instead of %s\n", json ? json : "an error", wanted);
  kv_free(json);
  kv_query_free(query);
  return is_same;
}

static void reads_numbers_with_a_comma_around(void) {
  CHECK(setlocale(LC_NUMERIC, "de_DE") != NULL);
  CHECK(is_read());
  kv_client *client = local_client(NULL, "");
  kv_store *store = opened_store(client, "things", "sync");
  saved(store, "{\"_id\":\"x\",\"n\":1.5}");
  char *json = NULL;
  OK(kv_store_find_by_id(store, "x", NULL, &json, NULL, &error));
  CHECK(json && strstr(json, "\"n\":1.5"));
  kv_free(json);
  OK(kv_client_close(client));
  /* The locale is still the host's. */
  TEXT(",", localeconv()->decimal_point);
  CHECK(setlocale(LC_NUMERIC, "C") != NULL);
}

static volatile int stop_changing;
static void *change_on(void *unused) {
  (void)unused;
  while (!stop_changing) {
    setlocale(LC_NUMERIC, "de_DE");
    setlocale(LC_NUMERIC, "C");
  }
  return NULL;
}

static void reads_numbers_while_it_changes(void) {
  pthread_t changer;
  int failures = 0;
  stop_changing = 0;
  pthread_create(&changer, NULL, change_on, NULL);
  for (int i = 0; i < 20000 && failures == 0; i++) failures += !is_read();
  stop_changing = 1;
  pthread_join(changer, NULL);
  NUMBER(0, failures);
}

int main(void) {
  make_german();
  RUN("numbers are read and written with a point, whatever the locale", reads_numbers_with_a_comma_around);
  RUN("the locale may change on another thread at any moment", reads_numbers_while_it_changes);
  return finish();
}
