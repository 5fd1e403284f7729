/* A harness as small as it can be: sentences, checks, a count at the end.
 *
 *   static void greets(void) { CHECK(strlen("hello") == 5); }
 *   int main(void) { RUN("a greeting has five letters", greets); return finish(); }
 *
 * After each test no handle may be open: a leak is a failure of the test that left it. */
#ifndef CHECK_H
#define CHECK_H

#include <kvstore.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures_of_test;
static int check_passed;
static int check_failed;

static void check_report(int line, const char *file, const char *what) {
  printf("    %s:%d: %s\n", file, line, what);
  check_failures_of_test++;
}

/* The condition holds; the test goes on if not. */
#define CHECK(condition)                                     \
  do {                                                       \
    if (!(condition)) check_report(__LINE__, __FILE__, #condition); \
  } while (0)

/* The condition holds; the test ends if not. */
#define REQUIRE(condition)                        \
  do {                                            \
    if (!(condition)) {                           \
      check_report(__LINE__, __FILE__, #condition); \
      return;                                     \
    }                                             \
  } while (0)

static inline void check_equal_number(long long wanted, long long got, const char *what, int line,
                                      const char *file) {
  char text[400];
  if (wanted == got) return;
  snprintf(text, sizeof text, "%s is %lld, not %lld", what, got, wanted);
  check_report(line, file, text);
}

static inline void check_equal_text(const char *wanted, const char *got, const char *what, int line,
                                    const char *file) {
  char text[2000];
  if (got != NULL && strcmp(wanted, got) == 0) return;
  snprintf(text, sizeof text, "%s is %s, not %s", what, got ? got : "NULL", wanted);
  check_report(line, file, text);
}

static inline void check_status(kv_status wanted, kv_status got, kv_error *error, const char *what,
                                int line, const char *file) {
  char text[2000];
  if (wanted == got) return;
  snprintf(text, sizeof text, "%s gave %s, not %s: %s", what, kv_status_name(got),
           kv_status_name(wanted), error ? kv_error_json(error) : "(no error)");
  check_report(line, file, text);
}

#define NUMBER(wanted, expression) \
  check_equal_number((long long)(wanted), (long long)(expression), #expression, __LINE__, __FILE__)

#define TEXT(wanted, expression) \
  check_equal_text(wanted, expression, #expression, __LINE__, __FILE__)

/* A call gives this status. The call may use `&error` as its last argument. */
#define STATUS(wanted, call)                                                    \
  do {                                                                          \
    kv_error *error = NULL;                                                     \
    kv_status status_ = (call);                                                 \
    check_status(wanted, status_, error, #call, __LINE__, __FILE__);            \
    CHECK(status_ < 10 ? error == NULL : 1);                                    \
    kv_error_free(error);                                                       \
  } while (0)

/* The same; the error's message has these words in it. */
#define FAILS(wanted, words, call)                                              \
  do {                                                                          \
    kv_error *error = NULL;                                                     \
    kv_status status_ = (call);                                                 \
    check_status(wanted, status_, error, #call, __LINE__, __FILE__);            \
    NUMBER(wanted, kv_error_status(error));                                     \
    if (strstr(kv_error_message(error), words) == NULL) TEXT(words, kv_error_message(error)); \
    kv_error_free(error);                                                       \
  } while (0)

#define OK(call) STATUS(KV_OK, call)

static inline void check_run(const char *sentence, void (*test)(void)) {
  check_failures_of_test = 0;
  test();
  NUMBER(0, kv_live_objects(NULL));
  printf("%s %s\n", check_failures_of_test ? "not ok:" : "ok:", sentence);
  fflush(stdout);
  if (check_failures_of_test) check_failed++;
  else check_passed++;
}

#define RUN(sentence, test) check_run(sentence, test)

static inline int finish(void) {
  if (check_failed) printf("%d failed, ", check_failed);
  printf("%d passed\n", check_passed);
  return check_failed != 0;
}

#endif
