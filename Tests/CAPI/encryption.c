/* Encrypted data: keys, providers, and misuse. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "fixture.h"
#include <unistd.h>

#define FIRST "\"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\""
#define SECOND "\"AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=\""

static kv_error *error;

/* The options of a client in a directory, with a key as JSON; "": none. */
static const char *options(const char *directory, const char *key) {
  static char text[1000];
  snprintf(text, sizeof text, "{\"appKey\":\"app\",\"host\":null,\"dataDirectory\":\"%s\"%s%s}", directory,
           *key ? ",\"encryptionKey\":" : "", key);
  return text;
}

/* Opens the data with a key and counts it: KV_OK, or why it cannot be opened. */
static kv_status opened(const char *directory, const char *key, int saves) {
  kv_client *client = NULL;
  kv_store *store = NULL;
  kv_status status = kv_client_open(options(directory, key), KV_NUL_TERMINATED, &client, NULL);
  if (status == KV_OK) status = kv_store_open(client, "notes", "sync", NULL, &store, NULL);
  if (status == KV_OK && saves) saved(store, "{\"_id\":\"a\",\"text\":\"marker\"}");
  if (status == KV_OK) CHECK(counted(store) == 1);
  kv_store_close(store);
  kv_client_close(client);
  return status;
}

static void opens_with_its_key_only(void) {
  const char *directory = fresh_directory();
  CHECK(opened(directory, FIRST, 1) == KV_OK);
  CHECK(opened(directory, FIRST, 0) == KV_OK);
  CHECK(opened(directory, SECOND, 0) == KV_KEY);
  CHECK(opened(directory, "", 0) == KV_KEY);
  CHECK(opened(directory, "{\"passphrase\":\"a guess\"}", 0) == KV_KEY);
  CHECK(strcmp(kv_status_name(KV_KEY), "KV_KEY") == 0);
}

static void names_what_is_no_key(void) {
  const char *wrong[] = {"7", "null", "\"\"", "\"AQE=\"", "{}", "{\"passphrase\":\"\"}", "{\"provider\":\"nobody\"}",
                         "{\"passphrase\":\"a\",\"more\":1}", "[]"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    kv_client *client = NULL;
    kv_status status = kv_client_open(options(fresh_directory(), wrong[i]), KV_NUL_TERMINATED, &client, &error);
    CHECK(status == KV_INVALID);
    CHECK(error && strstr(kv_error_message(error), "encryptionKey"));
    kv_error_free(error);
    error = NULL;
    kv_client_close(client);
  }
}

static int freed, asked;

static void count_freed(void *context) {
  CHECK(context == &freed);
  freed++;
}

static int32_t gives_first(void *context, const char *directory, unsigned char *key, size_t capacity, size_t *length) {
  CHECK(context == &freed && directory && capacity >= 32);
  memset(key, 1, 32);
  *length = 32;
  asked++;
  return KV_KEY_BYTES;
}

/* What a careless provider may do. */
static int32_t gives_nonsense(void *context, const char *directory, unsigned char *key, size_t capacity, size_t *length) {
  (void)context, (void)directory, (void)key;
  *length = asked % 3 == 0 ? capacity + 1 : asked % 3 == 1 ? 0 : 31;
  return asked++ % 2 ? KV_KEY_BYTES : KV_KEY_PASSPHRASE + 1;
}

static void asks_a_provider(void) {
  const char *directory = fresh_directory();
  freed = asked = 0;
  CHECK(kv_client_set_key_provider("ours", gives_first, &freed, count_freed, NULL) == KV_OK);
  CHECK(opened(directory, "{\"provider\":\"ours\"}", 1) == KV_OK);
  CHECK(asked == 1);
  CHECK(opened(directory, FIRST, 0) == KV_OK);
  CHECK(freed == 0);
  CHECK(kv_client_set_key_provider("ours", gives_nonsense, NULL, NULL, NULL) == KV_OK);
  CHECK(freed == 1);
  for (int i = 0; i < 6; i++) CHECK(opened(directory, "{\"provider\":\"ours\"}", 0) == KV_KEY);
  CHECK(kv_client_set_key_provider("ours", NULL, NULL, NULL, NULL) == KV_OK);
  CHECK(kv_client_set_key_provider(NULL, gives_first, &freed, count_freed, NULL) == KV_MISUSE);
  CHECK(kv_client_set_key_provider("", gives_first, &freed, count_freed, NULL) == KV_INVALID);
  CHECK(freed == 3);
}

static void changes_keys(void) {
  const char *directory = fresh_directory();
  CHECK(opened(directory, FIRST, 1) == KV_OK);
  kv_client *client = NULL;
  char *json = NULL;
  size_t length = 0;
  CHECK(kv_client_open(options(directory, FIRST), KV_NUL_TERMINATED, &client, NULL) == KV_OK);
  CHECK(kv_client_change_key(client, NULL, SECOND, KV_NUL_TERMINATED, &json, &length, NULL) == KV_OK);
  CHECK(json && strcmp(json, "{\"keys\":[\"main\"]}") == 0 && length == strlen(json));
  kv_free(json);
  json = NULL;
  CHECK(kv_client_change_key(client, "recovery", "{\"passphrase\":\"paper\"}", KV_NUL_TERMINATED, &json, NULL, NULL) == KV_OK);
  CHECK(json && strcmp(json, "{\"keys\":[\"main\",\"recovery\"]}") == 0);
  kv_free(json);
  CHECK(kv_client_change_key(client, "recovery", NULL, 0, NULL, NULL, NULL) == KV_OK);
  CHECK(kv_client_change_key(client, NULL, NULL, 0, NULL, NULL, NULL) == KV_INVALID);
  CHECK(kv_client_change_key(client, "nobody", NULL, 0, NULL, NULL, NULL) == KV_INVALID);
  CHECK(kv_client_change_key(client, "", FIRST, KV_NUL_TERMINATED, NULL, NULL, NULL) == KV_INVALID);
  CHECK(kv_client_change_key(client, NULL, "7", KV_NUL_TERMINATED, NULL, NULL, NULL) == KV_INVALID);
  CHECK(kv_client_change_key(NULL, NULL, FIRST, KV_NUL_TERMINATED, NULL, NULL, NULL) == KV_MISUSE);
  kv_client_close(client);
  CHECK(opened(directory, FIRST, 0) == KV_KEY);
  CHECK(opened(directory, SECOND, 0) == KV_OK);
}

static void encrypts_what_is_there(void) {
  const char *directory = fresh_directory();
  char plain[1000];
  CHECK(opened(directory, "", 1) == KV_OK);
  snprintf(plain, sizeof plain, "%s", options(directory, ""));
  CHECK(kv_encrypt(plain, KV_NUL_TERMINATED, FIRST, KV_NUL_TERMINATED, NULL, NULL, NULL) == KV_OK);
  CHECK(opened(directory, "", 0) == KV_KEY);
  CHECK(kv_encrypt(plain, KV_NUL_TERMINATED, SECOND, KV_NUL_TERMINATED, NULL, NULL, NULL) == KV_KEY);
  CHECK(opened(directory, FIRST, 0) == KV_OK);
  kv_client *client = NULL;
  kv_store *store = NULL;
  CHECK(kv_client_open(options(directory, FIRST), KV_NUL_TERMINATED, &client, NULL) == KV_OK);
  CHECK(kv_store_open(client, "notes", "sync", NULL, &store, NULL) == KV_OK);
  CHECK(kv_encrypt(options(directory, FIRST), KV_NUL_TERMINATED, SECOND, KV_NUL_TERMINATED, NULL, NULL, NULL) == KV_BUSY);
  kv_store_close(store);
  kv_client_close(client);
  CHECK(kv_encrypt(options(directory, FIRST), KV_NUL_TERMINATED, NULL, 0, NULL, NULL, NULL) == KV_OK);
  CHECK(opened(directory, "", 0) == KV_OK);
  CHECK(kv_encrypt(NULL, 0, FIRST, KV_NUL_TERMINATED, NULL, NULL, NULL) == KV_MISUSE);
  CHECK(kv_encrypt("[]", KV_NUL_TERMINATED, FIRST, KV_NUL_TERMINATED, NULL, NULL, NULL) == KV_INVALID);
}

/* Copies the lines of an encrypted file into a text: KV_OK, or why it cannot be read. */
static kv_status decrypted(const char *directory, const char *key, const char *path, char *text, size_t capacity) {
  int ends[2];
  if (pipe(ends) != 0) return KV_INTERNAL;
  kv_status status = kv_decrypt_file(options(directory, key), KV_NUL_TERMINATED, path, ends[1], NULL);
  close(ends[1]);
  ssize_t count = read(ends[0], text, capacity - 1);
  text[count > 0 ? count : 0] = 0;
  close(ends[0]);
  return status;
}

static void reads_what_was_salvaged(void) {
  const char *directory = fresh_directory();
  CHECK(opened(directory, FIRST, 1) == KV_OK);
  char saved[500], path[600], text[1000];
  snprintf(saved, sizeof saved, "%s/saved", directory);
  snprintf(path, sizeof path, "%s/pending.ndjson.encrypted", saved);
  CHECK(kv_salvage(options(directory, FIRST), KV_NUL_TERMINATED, saved, NULL, NULL, NULL) == KV_OK);
  CHECK(decrypted(directory, FIRST, path, text, sizeof text) == KV_OK);
  CHECK(strstr(text, "\"operation\":\"create\",\"entity\":{\"_id\":\"a\",\"text\":\"marker\"}"));
  CHECK(decrypted(directory, SECOND, path, text, sizeof text) == KV_KEY && !*text);
  CHECK(decrypted(directory, "", path, text, sizeof text) == KV_INVALID);
  CHECK(decrypted(directory, FIRST, saved, text, sizeof text) == KV_STORAGE);
  CHECK(decrypted(directory, FIRST, "nothing", text, sizeof text) == KV_NOT_FOUND);
  CHECK(kv_decrypt_file(options(directory, FIRST), KV_NUL_TERMINATED, path, -1, NULL) == KV_STORAGE);
  CHECK(kv_decrypt_file(options(directory, FIRST), KV_NUL_TERMINATED, NULL, 1, NULL) == KV_MISUSE);
}

int main(void) {
  RUN("encrypted data opens with its key only", opens_with_its_key_only);
  RUN("what is no key is named", names_what_is_no_key);
  RUN("a provider gives the key, and is released once", asks_a_provider);
  RUN("keys are changed, added and removed", changes_keys);
  RUN("data that is there is encrypted and decrypted", encrypts_what_is_there);
  RUN("what was salvaged is encrypted, and read with the key", reads_what_was_salvaged);
  return finish();
}
