/**
 * @file kvstore.h
 * libkvstore: an embeddable, offline-first data store that synchronises.
 *
 * A program opens a *client* (one application on one backend, one data directory), opens *stores*
 * on it (one collection each), and reads and writes *entities*: JSON objects with an `_id`. A write that
 * the backend has not confirmed yet is a *pending write*; it waits in a queue until it is pushed.
 *
 * Rules that hold for every function, unless its own text says otherwise:
 *
 * - **Status.** Every function that can fail returns a ::kv_status. #KV_OK is 0; #KV_PARTIAL and
 *   #KV_DONE are the other two that are not failures.
 * - **Errors.** The last parameter, `kv_error **error_out`, may be NULL. When the status is a failure
 *   and it is not NULL it receives an error owned by the caller (kv_error_free()); otherwise it
 *   receives NULL.
 * - **Handles** are opaque, checked tokens, never pointers to memory. A NULL, foreign, closed or
 *   wrongly typed handle gives #KV_MISUSE. So does a handle inherited through fork().
 * - **fork().** A child process opens its own client. Data that was open at the fork, in this process or a parent of it, cannot
 *   be opened in the child without exec(): #KV_MISUSE. Open clients after the fork, close them before it, or start the child
 *   with exec(); see docs/processes.md. Other data can be opened if no other thread was inside the library, or inside SQLite, at
 *   the moment of the fork.
 * - **Threads.** Every function may be called from any thread, at the same time, on the same
 *   handle, also from inside a callback. A thread needs 512 KiB of stack.
 * - **Text in** must be UTF-8, otherwise the call gives #KV_INVALID. Names, ids and options end with NUL. JSON
 *   comes with a length in bytes, or #KV_NUL_TERMINATED. Text is copied (or consumed) before the call returns.
 * - **Dates** are text: ISO 8601, in UTC, with milliseconds, such as `"2026-02-03T04:05:06.789Z"`. Sorting
 *   such texts sorts them by time. The bindings write and compare dates in this form and truncate them to
 *   milliseconds; see docs/dates-and-numbers.md.
 * - **Numbers** that a program gives must be in the range of 64-bit floating point, otherwise #KV_INVALID with a
 *   message that names the member. Numbers that are already stored, or that a backend sends, are read without this check.
 * - **NULL** for a text or for an out parameter is #KV_MISUSE, unless the parameter is marked #KV_OPTIONAL. Some
 *   parameters are optional everywhere and therefore not marked: `options`, `length_out`, `error_out`, `done`, `context`,
 *   `free_context`, `request_out`, `subscription_out`, and `query`, where NULL selects everything (except in the
 *   functions whose first parameter is the query).
 * - **Text out** through a `char **` is owned by the caller: kv_free(). It ends with NUL, which its
 *   length does not count. On failure it receives NULL. Text out through a `const char **` is
 *   borrowed; the function says until when.
 * - **Options** are a JSON object or NULL. An unknown key, or a value of the wrong type, is
 *   #KV_INVALID and the message names it. See docs/options.md for all keys. Options, queries and users
 *   are 16 MiB of JSON at the most (#KV_TOO_LARGE), nested up to 100 levels; entities may be as large
 *   as memory allows, nested up to 500 levels.
 * - The library installs no signal handler, raises no SIGPIPE in the host and never ends the
 *   process, except where the system has no memory left at all. Buffers of 64 KiB and more for entities, answers,
 *   requests, pages and events are asked for before they are made, and a call that cannot have one fails with
 *   #KV_STORAGE; what was acknowledged stays. Smaller allocations, the lists that a call makes of its results, the
 *   merging of conflicts, and what full text search, partial updates, indexes, sorts and groups make of a text that long
 *   come from the Swift runtime, which ends the process if one fails: docs/abi.md#memory.
 */
#ifndef KVSTORE_H
#define KVSTORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup library Library
 *  Versions, features, memory. @{ */

/** Marks what the shared library exports. */
#if defined(__GNUC__)
#define KV_API __attribute__((visibility("default")))
#else
#define KV_API
#endif

/** Marks a parameter that may be NULL. Expands to nothing; generators of bindings read it. */
#define KV_OPTIONAL

#define KV_VERSION_MAJOR 0
#define KV_VERSION_MINOR 2
#define KV_VERSION_PATCH 0
/** The version of this header as one number: major * 1,000,000 + minor * 1,000 + patch. */
#define KV_VERSION_NUMBER (KV_VERSION_MAJOR * 1000000 + KV_VERSION_MINOR * 1000 + KV_VERSION_PATCH)

/** A length that means: the text ends at its NUL. */
#define KV_NUL_TERMINATED ((size_t)-1)

/** The outcome of a call. The numbers never change their meaning. */
typedef int32_t kv_status;

/** Values of ::kv_status. A caller can react to each one in its own way; docs/errors.md says how. */
enum {
  KV_OK = 0,            /**< Done. */
  KV_PARTIAL = 1,       /**< Done, except for some entities; the result lists them with their errors. */
  KV_DONE = 2,          /**< A cursor has no more entities. */
  KV_MISUSE = 10,       /**< A NULL, closed, foreign or wrongly typed handle, or a missing pointer. */
  KV_INVALID = 11,      /**< An argument is not acceptable: malformed JSON, an unknown option, an empty id. */
  KV_NOT_FOUND = 12,    /**< No such entity, user or collection. */
  KV_CONFLICT = 13,     /**< There is another version already, or a condition does not hold. */
  KV_NO_USER = 14,      /**< No user is logged in, or another client has logged in another user. */
  KV_UNAUTHORIZED = 15, /**< Wrong credentials, or the session ended. Unsent work is kept. */
  KV_FORBIDDEN = 16,    /**< The user may not do this. */
  KV_PENDING = 17,      /**< Pending writes must be pushed or purged first. */
  KV_UNSUPPORTED = 18,  /**< This type of store, or this backend, can not do it. */
  KV_NETWORK = 20,      /**< No answer from the backend: offline, refused, cut. */
  KV_TIMEOUT = 21,      /**< The call took longer than its timeout, or a transfer made no progress for as long. */
  KV_CANCELLED = 22,    /**< Cancelled by kv_request_cancel() or by closing the client. */
  KV_SERVER = 23,       /**< The backend answered with an error that no other code names. */
  KV_PROTOCOL = 24,     /**< The backend's answer is not valid. */
  KV_TOO_LARGE = 25,    /**< A body, URL or head exceeds a limit of the client or of the backend (HTTP 413, 414, 431). */
  KV_STORAGE = 30,      /**< The local database refused, or the system has no memory, thread or descriptor left. */
  KV_CORRUPT = 31,      /**< The file is damaged or not a file of this library; it was left unchanged. If the error has
                             an entity's id, only that entity is damaged; see kv_client_repair(). */
  KV_FULL = 32,         /**< The disk is full. */
  KV_BUSY = 33,         /**< Another process has locked the local database for too long. */
  KV_KEY = 34,          /**< The local data is encrypted with another key, or is not encrypted though a key was given. It was left
                             unchanged. */
  KV_INTERNAL = 90,     /**< A defect of this library; please report it. */
  KV_CERTIFICATE = 26   /**< The backend's certificate is not trusted: it is self-signed, expired or of another host, or the
                             file of the option `caFile` cannot be read. No data was exchanged, and nothing is retried. */
};

/** The version of the loaded library, such as "0.1.0". Static; never NULL. */
KV_API const char *kv_version(void);

/** The version of the loaded library as a number; compare with #KV_VERSION_NUMBER. */
KV_API int32_t kv_version_number(void);

/** The name of a status, such as "KV_NOT_FOUND". Static; "KV_UNKNOWN" for other numbers. */
KV_API const char *kv_status_name(kv_status status);

/**
 * Tells whether the loaded library has a feature.
 *
 * @param name  such as "store", "kinvey", "pump"; docs/options.md lists them. NULL gives 0.
 * @return 1 or 0
 */
KV_API int32_t kv_has_feature(KV_OPTIONAL const char *name);

/**
 * Counts the open handles of this process; a leak test expects 0 at the end. The time it takes grows with the
 * largest number of handles that were ever open at once.
 *
 * @param kind  "client", "store", "query", "cursor", "request", "error", "subscription", "transaction", "results", "context",
 *              or NULL for all of them
 * @return the count; 0 for an unknown kind
 */
KV_API int64_t kv_live_objects(KV_OPTIONAL const char *kind);

/** Frees memory that a `char **` parameter received; it is the C library's free(). NULL is harmless. */
KV_API void kv_free(KV_OPTIONAL void *memory);

/** Frees the context of a callback, exactly once, after its last call. */
typedef void (*kv_free_fn)(void *context);

/** @} */

/** @defgroup error Errors
 *  Descriptions of failures. The caller owns them. @{ */

typedef struct kv_error kv_error;

/** Gives the status of an error; #KV_MISUSE for a bad handle. */
KV_API kv_status kv_error_status(const kv_error *error);

/** Gives the message of an error: one sentence in English, without tokens or passwords. Borrowed until
 *  kv_error_free(); "" for a bad handle. */
KV_API const char *kv_error_message(const kv_error *error);

/**
 * Gives everything that is known about an error, as a JSON object. Borrowed until kv_error_free(); "{}" for a bad handle.
 *
 * Members, each present where it applies: `status` (number), `name` ("KV_SERVER"), `message`, `http`
 * (status code of the answer), `error`, `description`, `debug` (the backend's own words), `requestId`
 * (X-Kinvey-Request-Id), `index` (position in the input), `id` (the entity), `position` (byte offset in
 * the text that could not be parsed), `code` (of SQLite or libcurl).
 */
KV_API const char *kv_error_json(const kv_error *error);

/** Frees an error. NULL is harmless. */
KV_API void kv_error_free(KV_OPTIONAL kv_error *error);

/** @} */

/** @defgroup client Client
 *  One application on one backend with one data directory. @{ */

typedef struct kv_client kv_client;

/**
 * Opens a client. No network call is made. CONSTRUCTOR
 *
 * @param options_json  a JSON object: `appKey`, and `host` with `appSecret` (`host` null: local only), or `instanceId` of
 *   the hosted service, or `backend`: "appsync", or a name given to kv_backend_register(). `schema`, a GraphQL schema,
 *   makes its models the collections, of a local database or with AppSync. docs/options.md has the others.
 * @param length        bytes, or #KV_NUL_TERMINATED
 * @param client_out    receives the client; close it with kv_client_close()
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_CONFLICT (the local data follows another schema), KV_KEY, KV_STORAGE, KV_CORRUPT,
 *   KV_FULL, KV_BUSY
 */
KV_API kv_status kv_client_open(const char *options_json, size_t length, kv_client **client_out,
                                kv_error **error_out);

/** What a ::kv_key_fn has written. */
enum {
  KV_KEY_NONE = 0,      /**< Nothing: there is no key. */
  KV_KEY_BYTES = 1,     /**< A key of 32 bytes. */
  KV_KEY_PASSPHRASE = 2 /**< A passphrase. */
};

/**
 * Gives the key of local data: from a keyring, a TPM or a HSM, for instance. It may wait for a person. It must not call
 * functions of this library.
 *
 * @param context    as given to kv_client_set_key_provider()
 * @param directory  where the data is
 * @param key_out    receives the key: locked memory of `capacity` bytes (1,024), which is wiped afterwards
 * @param length_out receives how many bytes were written
 * @return #KV_KEY_BYTES, #KV_KEY_PASSPHRASE or #KV_KEY_NONE
 */
typedef int32_t (*kv_key_fn)(void *context, const char *directory, unsigned char *key_out,
                             size_t capacity, size_t *length_out);

/**
 * Sets the function that gives their key to clients that are opened with `"encryptionKey":{"provider":name}`. It is called when
 * the first file is opened, on the thread that opens it, and again only if it gave none.
 *
 * @param name          not empty; a function that has it is replaced
 * @param provider      NULL: no function has the name any more. Clients that are open keep their keys
 * @param free_context  may be NULL, else it is called exactly once: when the function was replaced or removed and has returned, on
 *                      any thread; or before this returns when it fails
 * @return KV_OK, KV_MISUSE, KV_INVALID
 */
KV_API kv_status kv_client_set_key_provider(const char *name, KV_OPTIONAL kv_key_fn provider,
                                            void *context, kv_free_fn free_context,
                                            kv_error **error_out);

/**
 * Changes, adds or removes a key that opens the client's local data. The data stays as it is, so this takes no longer for
 * more of it; all files of the directory change. Other processes that have the data open go on.
 *
 * Up to 8 keys open the data, each under its name: the one that it was made with is `main`.
 *
 * @param name       of the key, 1 to 32 bytes; NULL: `main`. A key that has the name is replaced
 * @param key_json   as the option `encryptionKey`; NULL: the key of that name is removed, which the last one cannot be
 * @param length     bytes, or #KV_NUL_TERMINATED
 * @param json_out   receives `{"keys":["main","recovery"]}`, the names of all keys. May be NULL
 * @return KV_OK, KV_MISUSE, KV_INVALID (no key, the last key, or the data is not encrypted), KV_KEY, KV_STORAGE, KV_FULL, KV_BUSY
 */
KV_API kv_status kv_client_change_key(kv_client *client, KV_OPTIONAL const char *name,
                                      KV_OPTIONAL const char *key_json, size_t length,
                                      KV_OPTIONAL char **json_out, size_t *length_out,
                                      kv_error **error_out);

/**
 * Encrypts local data that is not encrypted, encrypts it anew with new keys of its files, or decrypts it: each file is written as a
 * whole, and then takes the place of the former one. A call that was interrupted can be repeated: files that are as they should be
 * stay.
 *
 * No client may have the data open, in this process or another one. Beside the data there must be room for the largest file.
 *
 * @param options_json  those of kv_client_open() for the data as it is: with `encryptionKey` if it is encrypted
 * @param key_json      as the option `encryptionKey`: what opens the data afterwards; NULL: it is not encrypted any more
 * @param json_out      receives `{"files":2,"bytes":81920}`: what was written. May be NULL
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_KEY, KV_BUSY (the data is open), KV_STORAGE, KV_CORRUPT, KV_FULL
 */
KV_API kv_status kv_encrypt(const char *options_json, size_t length, KV_OPTIONAL const char *key_json,
                            size_t key_length, KV_OPTIONAL char **json_out, size_t *length_out,
                            kv_error **error_out);

/**
 * Copies everything readable of a damaged data file into a new directory, and leaves the file as it is. No client needs to
 * be open: use this when opening one gives #KV_CORRUPT.
 *
 * Pending writes come first, because they exist nowhere else: `pending.ndjson` has a line `{"collection":…,"id":…,"operation":…,
 * "entity":…,"base":…}` for each pending write that can be read. Each collection then gets a file `<name>.entities.ndjson` with
 * an entity a line. To go on: move the damaged file away, open a client, and save what is to be kept.
 *
 * Of encrypted data the files are encrypted with the same keys, and their names end in `.encrypted`: kv_decrypt_file() reads them.
 *
 * @param options_json  those of kv_client_open(): the file is found by `appKey`, `dataDirectory` and `tag`
 * @param directory     is made; one that is there already must be empty
 * @param json_out      receives `{"pending":{"lines":…,"damaged":…,"damagedIds":[…],"file":…},"collections":{"<name>":{"lines":…,
 *                      "damaged":…,"damagedIds":[…],"file":…}}}`; `damaged` counts parts of the file that could not be read and
 *                      entities whose body is not what was stored. `damagedIds` names the first 1,000 of these. May be NULL
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_NOT_FOUND (no such file), KV_KEY, KV_CORRUPT (not even the list of tables can be read, or
 *         it is no database), KV_STORAGE, KV_FULL
 */
KV_API kv_status kv_salvage(const char *options_json, size_t length, const char *directory,
                            KV_OPTIONAL char **json_out, size_t *length_out, kv_error **error_out);

/**
 * Writes the plain lines of an encrypted file of kv_salvage() to a file descriptor, such as a file or a pipe.
 *
 * @param options_json  those of kv_client_open(), with `encryptionKey`; only that is used
 * @param path          the file
 * @param descriptor    is written to, and stays open
 * @return KV_OK, KV_MISUSE, KV_INVALID (no key), KV_NOT_FOUND (no such file), KV_KEY, KV_CORRUPT (a part is damaged, or the end is
 *         missing; the lines before it were written), KV_STORAGE, KV_FULL
 */
KV_API kv_status kv_decrypt_file(const char *options_json, size_t length, const char *path,
                                 int32_t descriptor, kv_error **error_out);

/**
 * Removes damaged entities (those that give #KV_CORRUPT with their id) from all collections of the client's tag, and of other
 * tags that have open stores. It makes no network call; other calls can read and write at the same time.
 *
 * The next pull fetches a removed entity again; without a backend it is lost. A damaged entity with a pending write stays, and
 * the write is quarantined, because its content is lost: save the entity again, or remove it. All other pending writes
 * stay as they are. Indexes are rebuilt. Entities that an older version stored without a checksum get one.
 *
 *     {"entities":5000,"damaged":2,"removed":[{"collection":"notes","_id":"a","tag":"kinvey"}],
 *      "quarantined":[{"collection":"notes","_id":"b","tag":"kinvey"}]}
 *
 * `entities` counts the entities that were checked. `damaged` counts damaged entities, and damaged versions that pending
 * writes started from. Each list names at most 1,000 entities of a tag. Later versions may add members.
 *
 * @param json_out   owned by the caller: kv_free(). May be NULL
 * @return KV_OK, KV_MISUSE, KV_CORRUPT (more than entities is damaged: kv_salvage() copies out what can be read), KV_STORAGE,
 *         KV_FULL, KV_BUSY
 */
KV_API kv_status kv_client_repair(kv_client *client, KV_OPTIONAL char **json_out,
                                  size_t *length_out, kv_error **error_out);

/**
 * Closes a client, its stores, cursors and requests. DESTRUCTOR
 *
 * It cancels running requests and blocking calls, and runs all callbacks that are due (also those with
 * #KV_CANCELLED) before it returns: on the callback thread or, for a pumped client, on the calling thread. When it
 * returns, no callback is running and none will come. There is one exception: if it was called inside a callback, that
 * callback is still running. Pending writes stay in the file. NULL is harmless.
 *
 * If the client is registered for live data, closing ends the registration on the backend. That takes at most 2 seconds,
 * and no time if the backend cannot be reached.
 *
 * Two threads must not close each other's client inside callbacks of these clients: both would wait forever.
 *
 * @return KV_OK, KV_MISUSE
 */
KV_API kv_status kv_client_close(KV_OPTIONAL kv_client *client);

/**
 * Gives a file descriptor that is readable (poll, epoll) while callbacks wait, for clients opened with
 * `"callbacks":"pump"`. It belongs to the client: do not read or close it.
 *
 * @param fd_out  receives the descriptor, or -1
 * @return KV_OK, KV_MISUSE, KV_UNSUPPORTED (the client has its own callback thread)
 */
KV_API kv_status kv_client_event_fd(kv_client *client, int *fd_out, kv_error **error_out);

/**
 * Runs the waiting callbacks on the calling thread, in order, and returns; it never waits. While one thread
 * dispatches, a dispatch on another thread or inside a callback runs nothing.
 *
 * @param limit      the maximum number of callbacks; 0: all that wait now
 * @param count_out  receives how many ran; may be NULL
 * @return KV_OK, KV_MISUSE, KV_UNSUPPORTED (not a pumped client)
 */
KV_API kv_status kv_client_dispatch(kv_client *client, uint32_t limit,
                                    KV_OPTIONAL uint32_t *count_out, kv_error **error_out);

/**
 * Gives a token for requests to the backend, of the user who is signed in.
 *
 * It may block, and may call any function but those that close the client or wait for its requests.
 *
 * @param provider    who makes the token: `"userPools"`, `"oidc"`, `"function"` or `"token"`, as in the option `auth`; borrowed
 * @param former      the token that was in use, borrowed; NULL: there was none
 * @param is_refused  1 if the backend has refused it; else 0: it is about to expire
 * @param token_out   receives the token, allocated by malloc() or strdup(); the library frees it
 * @return KV_OK; KV_NO_USER: no user is signed in; KV_NETWORK, KV_TIMEOUT: it cannot be had now. The calls that need the token end
 *         with that status, or with KV_UNAUTHORIZED for any other. Nothing that waits to be sent is given up for it.
 */
typedef kv_status (*kv_token_fn)(void *context, const char *provider, KV_OPTIONAL const char *former, int32_t is_refused,
                                 char **token_out);

/**
 * Sets the function that gives the tokens of a backend that takes tokens of others (AppSync: Cognito user pools, OpenID, Lambda).
 * NULL as `provide` removes it.
 *
 * It is called when there is no token, when the backend has refused the last one, and a minute before a JSON Web Token expires; once for
 * all requests that wait for a token meanwhile, for HTTP and the WebSocket alike. It runs on a thread of its own, so that no call
 * waits longer than its timeout, and not before the first request. It may still be running when kv_client_close() returns.
 *
 * @param free_context  may be NULL, else it is called exactly once: when the function was replaced or the client closed, and no call
 *                      of it runs, or before this returns when it fails
 * @return KV_OK, KV_MISUSE, KV_UNSUPPORTED (the backend takes no tokens of others)
 */
KV_API kv_status kv_client_set_token_provider(kv_client *client, KV_OPTIONAL kv_token_fn provide,
                                              KV_OPTIONAL void *context,
                                              KV_OPTIONAL kv_free_fn free_context,
                                              kv_error **error_out);

/** Receives a line of the log. `level`: 1 error, 2 warning, 3 info, 4 debug. `text` is borrowed. */
typedef void (*kv_log_fn)(void *context, int32_t level, const char *text);

/**
 * Sends the log of a client to a function, on the client's callback thread. Tokens, secrets and
 * bodies are never logged. NULL as `log` switches it off (the default).
 *
 * @param level         the most detailed level to report, 1 to 4; ignored if `log` is NULL
 * @param free_context  may be NULL, else it is called exactly once: when the function was replaced or
 *                      the client closed, or before this returns when it fails
 * @return KV_OK, KV_MISUSE, KV_INVALID (the level)
 */
KV_API kv_status kv_client_set_log(kv_client *client, int32_t level, KV_OPTIONAL kv_log_fn log,
                                   void *context, kv_free_fn free_context, kv_error **error_out);

/** @} */

/** @defgroup request Requests
 *  A running operation.
 *
 *  Every operation that may wait for the network has two forms. `kv_x(…)` blocks until it is done.
 *  `kv_x_async(…, done, context, free_context, request_out, error_out)` returns at once:
 *
 *  - `done` may be NULL, else it is called on the client's callback thread (or by
 *    kv_client_dispatch()) once for each answer: twice for a Cache store's reads and writes, else
 *    once. The last one has `is_final` set.
 *  - `free_context` may be NULL, else it is called exactly once: after the last `done`, or before
 *    the function returns when it fails.
 *  - `request_out` may be NULL, else it receives a handle for kv_request_free().
 *  @{ */

typedef struct kv_request kv_request;
typedef struct kv_cursor kv_cursor;
typedef struct kv_results kv_results;

/** One answer of an asynchronous operation. Everything in it is borrowed until `done` returns. */
typedef struct kv_answer {
  uint32_t size;      /**< Bytes of this struct in the loaded library; later members may follow. */
  kv_status status;   /**< What the blocking form would have returned. */
  int32_t is_final;   /**< 1 if no further answer follows. */
  int32_t is_local;   /**< 1 if it was answered from the local store. */
  const char *json;   /**< The result as JSON, or NULL: counts as a number, find as NULL (see cursor). */
  size_t length;      /**< Bytes of `json`, which a NUL follows. */
  kv_cursor *cursor;  /**< The entities of a find, else NULL. Closed by the library after `done`. */
  kv_error *error;    /**< Set when the status is a failure. Freed by the library after `done`. */
} kv_answer;

/** Receives an answer. */
typedef void (*kv_answer_fn)(void *context, const kv_answer *answer);

/** The progress of a request. Totals are 0 while they are unknown. */
typedef struct kv_progress {
  uint32_t size; /**< Set by the caller to sizeof(kv_progress). */
  uint32_t reserved;
  uint64_t entities_done;
  uint64_t entities_total;
  uint64_t bytes_done;
  uint64_t bytes_total;
} kv_progress;

/**
 * Waits for the final answer. It may be called again, by several threads, and inside any callback, because the
 * answer is available before its callback runs.
 *
 * @param timeout_seconds  negative: wait without a limit; 0: do not wait. When it passes the call gives
 *                         #KV_TIMEOUT and the request goes on.
 * @param json_out         receives the result of the final answer as the blocking form would give it
 *                         (find: an array, integer results: a number; NULL where it gives none, or
 *                         where `done` got the entities); may be NULL, which leaves the entities of a
 *                         find for kv_request_cursor()
 * @param length_out       may be NULL
 * @return what the blocking form returns; KV_MISUSE; KV_TIMEOUT; KV_INVALID (a time that is no number)
 */
KV_API kv_status kv_request_wait(kv_request *request, double timeout_seconds,
                                 KV_OPTIONAL char **json_out, size_t *length_out,
                                 kv_error **error_out);

/**
 * Tells whether the final answer is available, so that kv_request_wait() gives it at once. Use it to tell a wait
 * that timed out from an operation that ended with #KV_TIMEOUT.
 *
 * @return 1 or 0; 1 for a bad handle, which never gets an answer
 */
KV_API int32_t kv_request_is_done(kv_request *request);

/**
 * Takes the cursor of a find that is done. This makes a find both lazy and cancellable. It never waits.
 *
 * It works once, for finds that were started with `done` NULL. The cursor then belongs to the caller; a cursor that
 * is not taken is closed with the request.
 *
 * @param cursor_out  close it with kv_cursor_close(); it outlives the request
 * @return what the blocking form returns; KV_TIMEOUT (not done yet); KV_MISUSE (not a find, has a
 *         `done`, or was taken already)
 */
KV_API kv_status kv_request_cursor(kv_request *request, kv_cursor **cursor_out,
                                   kv_error **error_out);

/** Takes the results of a kv_store_results_async() that is done, whether it has a `done` or not. It never waits.
 *  It works once; results that are not taken are closed with the request.
 *  @param results_out  close it with kv_results_close(); it outlives the request
 *  @return what the blocking form returns; KV_TIMEOUT (not done yet); KV_MISUSE (not such a request, or taken already) */
KV_API kv_status kv_request_results(kv_request *request, kv_results **results_out,
                                    kv_error **error_out);

/** Asks a request to stop, and does not wait. The request then ends with #KV_CANCELLED, unless it was done already.
 *  If a write was cancelled after its local step, it stays queued. @return KV_OK, KV_MISUSE */
KV_API kv_status kv_request_cancel(kv_request *request);

/** Gives the progress of a request. @return KV_OK, KV_MISUSE (also for a `size` that was not set) */
KV_API kv_status kv_request_progress(kv_request *request, kv_progress *progress);

/** Frees a request handle. The operation goes on, and so does a wait on another thread. NULL is
 *  harmless. DESTRUCTOR */
KV_API void kv_request_free(KV_OPTIONAL kv_request *request);

/** @} */

/** @defgroup subscription Subscriptions
 *  Events that keep coming until the subscription is closed.
 *
 *  A function that starts a subscription takes `receive, context, free_context, subscription_out`:
 *
 *  - `receive` is called on the client's callback thread (or by kv_client_dispatch()), once for each
 *    event, in order, with no lock held. It may call any function, kv_subscription_close() and
 *    kv_client_close() included.
 *  - `free_context` may be NULL, else it is called exactly once: after the last `receive`, or before
 *    the function returns when it fails.
 *  - `subscription_out` may be NULL: the subscription then lasts as long as the client. Closing the client ends
 *    every subscription.
 *  @{ */

typedef struct kv_subscription kv_subscription;

/** One event. Everything in it is borrowed until `receive` returns. */
typedef struct kv_event {
  uint32_t size;    /**< Bytes of this struct in the loaded library; later members may follow. */
  kv_status status; /**< KV_OK, or the reason why events cannot come now; see the function that started it. */
  const char *json; /**< What happened, or NULL when the status is a failure. */
  size_t length;    /**< Bytes of `json`, which a NUL follows. */
  kv_error *error;  /**< Set when the status is a failure. Freed by the library after `receive`. */
} kv_event;

/** Receives an event. */
typedef void (*kv_event_fn)(void *context, const kv_event *event);

/**
 * Ends a subscription. When it returns, no `receive` of the subscription is running and none will run; waiting events
 * are dropped. Called inside its own `receive` it returns at once, and that call is the last one. Two callbacks
 * of *different* clients must not close each other's subscriptions at the same time, because each would wait for
 * the other. NULL is harmless. DESTRUCTOR
 *
 * @return KV_OK, KV_MISUSE (closed before, also by closing the client)
 */
KV_API kv_status kv_subscription_close(KV_OPTIONAL kv_subscription *subscription);

/**
 * Ends a subscription and waits until the backend has confirmed that. The backend takes part only for live data, and only
 * if no other subscription of this client listens to the same collection. Whatever the call returns, no `receive` is running
 * afterwards and none will run. The handle must still be closed by kv_subscription_close(). Called inside its own
 * `receive`, that call is the last one. Ending a subscription that has already ended gives KV_OK.
 *
 * @return KV_OK, KV_MISUSE, KV_NETWORK (the backend cannot be reached; it removes the subscription when this device does not come
 *         back), and other network and server codes if the backend refuses
 */
KV_API kv_status kv_subscription_end(kv_subscription *subscription, const char *options,
                                     kv_error **error_out);
KV_API kv_status kv_subscription_end_async(kv_subscription *subscription, const char *options,
                                           kv_answer_fn done, void *context,
                                           kv_free_fn free_context, kv_request **request_out,
                                           kv_error **error_out);

/**
 * Reports what happens while a client synchronises. Each event is a JSON object with a member `event`:
 *
 * - `"started"`, `"progress"`, `"finished"` of each push, pull and sync, with `operation` ("push",
 *   "pull", "sync"), `collection`, `task` (a number that identifies the operation) and `automatic` (true
 *   if the option `pushAutomatically` started it). Progress has `entitiesDone`,
 *   `entitiesTotal`, `bytesDone`, `bytesTotal` as kv_request_progress() gives them, at most ten times a
 *   second, and once at the end. `"finished"` has `result`, the JSON result of the call, or `error`, as in
 *   kv_error_json().
 * - `"offline"`, `"online"`: the backend no longer answers requests, or answers them again.
 * - `"loggedOut"`: the session has ended, with the `error` if the backend refused it. Unsent work is kept
 *   unless the application asked for a logout.
 * - `"overwritten"`: a write has replaced a version on the backend that this client had not seen, with `collection`, `id` and
 *   `remote`: that version, or null if the entity was deleted there. It comes under `clientWins`, from backends that
 *   support conditional writes: see docs/sync.md.
 * - `"discarded"`: a local change was given up for what the backend has, as a whole or in part, with `collection`, `id`,
 *   `local`: what was to be saved, and `remote`: what the backend had; each null if it was a deletion. With the option
 *   `keepDiscarded` the conflict stays open instead: see docs/conflicts.md.
 * - `"conditionFailed"`: a write that was made on a condition (the option `if`) was discarded, because the backend's entity does
 *   not meet it and the conflict strategy is `serverWins` or `automerge`: with `collection`, `id` and `local`, what was to be saved, or null if
 *   it was a deletion. The local entity is the backend's now.
 * - `"quarantined"`: a write was quarantined, with `collection`, `id` and `error`. It is not sent again until the
 *   application decides so.
 * - `"backendWentBack"`: the backend went back to an older copy of its data, and what it had confirmed of some entities is
 *   kept, with `collection`, `count`, `resent` (true: it is queued again, by the option `onBackendReset`) and `entities`:
 *   `[{"id":…,"operation":"update"|"delete","version":…,"remoteVersion":…|null}]`, where `version` is what was confirmed (of a
 *   deletion, what it removed) and `remoteVersion` what the backend has now, or null. A large number comes in several events.
 * - what kv_client_start_sync() lists, while the client synchronises in the background.
 *
 * Later versions may add events and members. For `receive`, `context`, `free_context` and `subscription_out` see the
 * group above. CONSTRUCTOR
 *
 * @return KV_OK, KV_MISUSE, KV_INTERNAL (no thread for callbacks)
 */
KV_API kv_status kv_client_observe_sync(kv_client *client, kv_event_fn receive, void *context,
                                        kv_free_fn free_context,
                                        kv_subscription **subscription_out, kv_error **error_out);

/**
 * Starts to synchronise in the background, until kv_client_stop_sync(). Opening a store of the type "synced" does this too,
 * unless the application has stopped it. With the option `schema` all models are synchronised, else the collections of
 * "synced" stores. Nothing happens if it has started. Every thread may call this, at any time; it never waits.
 *
 * Live data is subscribed to first. Then the collections are read one after the other, those first that others depend on:
 * what has changed, or everything. Writes are sent from then on, after each save and whenever the network is back. After a
 * loss of the network everything is subscribed to and read again. kv_client_observe_sync() reports it, in
 * this order:
 *
 * - `"networkStatus"` with `active`: false, and true once the backend answers; later each change.
 * - `"outboxStatus"` with `isEmpty`: now, and whenever a write is added or settled.
 * - `"subscriptionsEstablished"`: each collection is subscribed to, or was refused and is polled.
 * - `"syncQueriesStarted"` with `collections`, in the order in which they are read.
 * - `"modelSynced"` with `collection`, `isFullSync`, `isDeltaSync`, the numbers `added`, `updated` and `deleted`, `isComplete`
 *   (false: records could not be read, and are asked for again), and `isCapped` (the option `maxRecords` ended it).
 *   Or `"modelFailed"` with `collection` and `error`: it is read again after a pause, and holds up no other.
 * - `"syncQueriesReady"`: each was read, or has failed.
 * - `"syncStarted"` and `"ready"`: once for each start.
 *
 * While it runs, there are also:
 *
 * - `"outboxMutationEnqueued"`, `"outboxMutationProcessed"` (with `entity`, what the backend has now), `"outboxMutationFailed"`
 *   (with `error`; the write is quarantined), all with `collection`, `id` and `operation` ("create", "update" or "delete").
 *   A save that changes a write that still waits adds none. A write that gives way to what the backend has is told by
 *   `"discarded"`, and one whose condition the backend refuses by `"conditionFailed"` as well.
 * - `"syncReceived"` with `collection` and `changes`, `[{"id":…,"change":"create"|"update"|"delete"}]`: what came from the
 *   backend and is stored.
 *
 * @return KV_OK, KV_MISUSE, KV_UNSUPPORTED (no backend, or one without local data), KV_INTERNAL (no thread), KV_STORAGE
 */
KV_API kv_status kv_client_start_sync(kv_client *client, kv_error **error_out);

/** Stops synchronising, without waiting: running reads and pushes are cancelled. Local data and pending writes stay. Nothing
 *  happens if it has not started. Every thread may call this, at any time. @return KV_OK, KV_MISUSE */
KV_API kv_status kv_client_stop_sync(kv_client *client, kv_error **error_out);

/**
 * Stops synchronising, and deletes all local data of the client's tag, so that the next start reads everything. Running calls
 * are cancelled and waited for. The session stays.
 *
 * @param discard_pending  not 0: pending writes are lost. 0: #KV_PENDING if there are any, and nothing is stopped or deleted
 * @return KV_OK, KV_MISUSE, KV_PENDING, KV_STORAGE, KV_FULL, KV_NO_USER
 */
KV_API kv_status kv_client_clear(kv_client *client, int32_t discard_pending, kv_error **error_out);

/**
 * Sets which entities of a collection are synchronised, in place of the one in the option `sync`. What does not match any
 * more leaves the local store, except pending writes, and what matches is read, with the next read of the collection, which
 * follows at once if synchronising has started. It holds until the client is closed.
 *
 * @param filter_json  a filter in JSON; NULL: all
 * @return KV_OK, KV_MISUSE, KV_INVALID (no such model, or no filter)
 */
KV_API kv_status kv_client_set_sync_expression(kv_client *client, const char *collection,
                                               KV_OPTIONAL const char *filter_json,
                                               kv_error **error_out);

/**
 * Gives the status of a client without a network call:
 *
 *     {"online":true,"signedIn":true,"pending":2,"waiting":2,"quarantined":0,
 *      "collections":[{"collection":"notes","tag":"kinvey","pending":2,"waiting":2,"quarantined":0,"lastSynced":"2026-…"}],
 *      "activity":[{"operation":"pull","collection":"notes","automatic":false,"entitiesDone":100,
 *                   "entitiesTotal":2500,"bytesDone":20480,"bytesTotal":0}],
 *      "follows":[…]}
 *
 * `online` is null before the first request. `pending` is `waiting`, the writes that the next push sends, and `quarantined`
 * together. `collections` has those of all tags
 * with open stores; `lastSynced` says when a collection was last read from the backend, in this run or an earlier one, and is
 * missing if it never was. `activity` is empty if nothing runs. `follows` has the last event of each follow, see
 * kv_store_follow(). Later versions may add members.
 *
 * @param json_out   owned by the caller: kv_free()
 * @return KV_OK, KV_MISUSE, KV_STORAGE, KV_CORRUPT
 */
KV_API kv_status kv_client_status(kv_client *client, char **json_out, size_t *length_out,
                                  kv_error **error_out);

/**
 * Shrinks the files of the local data. Deleted entities leave free space inside a file, which does not become smaller by
 * itself. This works on the file of the client's tag and of other tags that have open stores, without a network call.
 *
 *     {"before":1048576,"after":65536}
 *
 * Both numbers are bytes of these files with their logs. Each file is rewritten. That takes some seconds for a gigabyte, and
 * needs twice the space of its data meanwhile, half of it in SQLite's directory for temporary files (`SQLITE_TMPDIR`, `TMPDIR`,
 * else `/var/tmp`). Finds and open cursors go on. Writes of this process wait until it is done; those of other processes wait for
 * ten seconds and then fail with #KV_BUSY. If the call fails or the process ends, nothing is lost.
 *
 * The call waits while another process writes, or while a cursor or transaction of any process reads an older state of the data.
 * When the option `timeout` has passed, it gives #KV_BUSY. The file may have been rewritten then; it becomes
 * smaller when that reader ends.
 *
 * @param options    `timeout` and the other options of a call
 * @param json_out   owned by the caller: kv_free(). May be NULL
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_BUSY, KV_TIMEOUT (while writing the file anew), KV_CANCELLED, KV_FULL, KV_STORAGE,
 *         KV_CORRUPT
 */
KV_API kv_status kv_client_compact(kv_client *client, const char *options,
                                   KV_OPTIONAL char **json_out, size_t *length_out,
                                   kv_error **error_out);
KV_API kv_status kv_client_compact_async(kv_client *client, const char *options,
                                         kv_answer_fn done, void *context, kv_free_fn free_context,
                                         kv_request **request_out, kv_error **error_out);

/**
 * Copies the local data into a directory, as it is at one moment, while this program and others go on to read and write it.
 *
 * The copy has the data of all tags of the application, with their pending writes. A client can be opened on it: it is a data
 * directory. It has no sessions, so it is another device's data: the user whose it is logs in there. It appears once it is complete
 * and on the disk. If the call fails, nothing of it is left; if the process ends, a directory `.<app key>.partial-…` that may
 * be removed. No network call is made.
 *
 *     {"tags":["kinvey"],"bytes":65536}
 *
 * Finds and saves go on meanwhile; the log of the data cannot be shortened, so that it grows by what is saved. See docs/backup.md.
 *
 * @param directory  is made; one that is there may have the data of other applications
 * @param options    `timeout` and the other options of a call; by default there is no time limit
 * @param json_out   owned by the caller: kv_free(). May be NULL
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_CONFLICT (the directory has data of this application: a backup replaces nothing),
 *         KV_TIMEOUT, KV_CANCELLED, KV_FULL, KV_BUSY, KV_STORAGE, KV_CORRUPT
 */
KV_API kv_status kv_client_backup(kv_client *client, const char *directory, const char *options,
                                  KV_OPTIONAL char **json_out, size_t *length_out,
                                  kv_error **error_out);
KV_API kv_status kv_client_backup_async(kv_client *client, const char *directory,
                                        const char *options, kv_answer_fn done, void *context,
                                        kv_free_fn free_context, kv_request **request_out,
                                        kv_error **error_out);

/**
 * Reports the status of a client, as kv_client_status() gives it: first the present one, then each change, at most four times
 * a second. Changes that happen while `receive` is busy become one event, and the last status is always
 * reported. For `receive`, `context`, `free_context` and `subscription_out` see the group above. CONSTRUCTOR
 *
 * @return KV_OK, KV_MISUSE, KV_INTERNAL (no thread)
 */
KV_API kv_status kv_client_observe_status(kv_client *client, kv_event_fn receive, void *context,
                                          kv_free_fn free_context,
                                          kv_subscription **subscription_out,
                                          kv_error **error_out);

/** @} */

/** @defgroup user Users
 *  The session of the user who is logged in. It is kept in the data directory, so a restarted program finds its user
 *  again. There is one session for each `tag`.
 *
 *  Local data and pending writes belong to a user. Another user cannot see them (unless the client was opened with
 *  `"sharedDevice":true`) and cannot log in while writes are pending, because they must not be sent in another user's
 *  name. Data that was saved before anybody logged in belongs to the first user who does. If another client of the
 *  same tag, in this process or another one, has logged in a different user, all functions of this client that read or
 *  write data or ask the backend give #KV_NO_USER until it logs in again.
 *
 *  User JSON never contains the session token. A client without a backend has no users: every function
 *  here gives #KV_UNSUPPORTED. @{ */

/** Asks the backend for its version: `{"version":…,"kinvey":…,"appName":…,"environmentName":…}`. With AppSync it asks whether
 *  the API has the models and fields of the schema: `{"models":[…]}`; what does not fit is #KV_INVALID.
 *  @return KV_OK, KV_UNSUPPORTED (no backend), network and server codes */
KV_API kv_status kv_ping(kv_client *client, const char *options, char **json_out,
                         size_t *length_out, kv_error **error_out);
KV_API kv_status kv_ping_async(kv_client *client, const char *options, kv_answer_fn done,
                               void *context, kv_free_fn free_context, kv_request **request_out,
                               kv_error **error_out);

/**
 * Creates a user and logs in as that user. The former user's local data is deleted; while that user has pending
 * writes, no user is created.
 *
 * @param user_json  `{"username":…,"password":…,…}`; NULL or `{}`: an implicit user, whose name and
 *                   password the backend generates
 * @param json_out   receives the user; may be NULL, here and in the functions that follow
 * @return KV_OK, KV_CONFLICT (the name is taken), KV_INVALID, KV_PENDING (push, purge or drop another user's
 *         writes first), network and server codes
 */
KV_API kv_status kv_user_signup(kv_client *client, KV_OPTIONAL const char *user_json, size_t length,
                                const char *options, KV_OPTIONAL char **json_out,
                                size_t *length_out, kv_error **error_out);
KV_API kv_status kv_user_signup_async(kv_client *client, KV_OPTIONAL const char *user_json,
                                      size_t length, const char *options, kv_answer_fn done,
                                      void *context, kv_free_fn free_context,
                                      kv_request **request_out, kv_error **error_out);

/**
 * Logs a user in. The same user finds local data and unsent work again. For another user, the local data of the
 * former one is deleted first.
 *
 * @param credentials_json  `{"username":…,"password":…}` or `{"_socialIdentity":{…}}`
 * @param options           those of a call, here and where users sign up or log in otherwise, and `{"adopt":true}`: the local
 *                          data and the pending writes of another user, whose account is gone, become this user's
 * @return KV_OK, KV_UNAUTHORIZED (wrong name or password), KV_INVALID, KV_PENDING (push, purge or drop another
 *         user's writes first; nothing has changed), network and server codes
 */
KV_API kv_status kv_user_login(kv_client *client, const char *credentials_json, size_t length,
                               const char *options, KV_OPTIONAL char **json_out, size_t *length_out,
                               kv_error **error_out);
KV_API kv_status kv_user_login_async(kv_client *client, const char *credentials_json, size_t length,
                                     const char *options, kv_answer_fn done, void *context,
                                     kv_free_fn free_context, kv_request **request_out,
                                     kv_error **error_out);

/**
 * Gives the address of the login page of the authorization server, for a browser (OAuth 2.0 with an authorization code;
 * Kinvey calls it Mobile Identity Connect). After the login the browser is sent to `redirect_uri` with a `code` in the
 * query; pass it to kv_user_login_with_code(). No network call is made.
 *
 * @param options  NULL or a JSON object: `clientId` (the app key, perhaps with a service's id after a dot;
 *                 default the app key), `state` (comes back in the query)
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_UNSUPPORTED (no backend)
 */
KV_API kv_status kv_user_login_page(kv_client *client, const char *redirect_uri, const char *options,
                                    char **url_out, size_t *length_out, kv_error **error_out);

/**
 * Logs in the user who used the login page, as kv_user_login() does. A user whom the backend does not know yet is
 * created. When the session expires, the refresh token renews it: once for all requests that wait, in all processes that
 * share the data directory; each request is then repeated once. If the renewal is refused, the session ends and the data
 * stays: see `"loggedOut"` of kv_client_observe_sync().
 *
 * @param code          can be used once
 * @param redirect_uri  the same as for the page
 * @param options       NULL or a JSON object: `clientId` as for the page, and the options of kv_user_login()
 * @return what kv_user_login() returns; KV_UNAUTHORIZED: the code is not valid
 */
KV_API kv_status kv_user_login_with_code(kv_client *client, const char *code,
                                         const char *redirect_uri, const char *options,
                                         KV_OPTIONAL char **json_out, size_t *length_out,
                                         kv_error **error_out);
KV_API kv_status kv_user_login_with_code_async(kv_client *client, const char *code,
                                               const char *redirect_uri, const char *options,
                                               kv_answer_fn done, void *context,
                                               kv_free_fn free_context, kv_request **request_out,
                                               kv_error **error_out);

/**
 * Logs the active user out. It ends the session here, deletes the local data of the session, and ends the session on the
 * backend, whose failure is ignored.
 *
 * @param options  `{"keepData":true}` keeps entities and pending writes for this user (the default on a
 *                 shared device). Without it, `{"discardPending":true}` is needed to delete unsent work; otherwise
 *                 the call gives KV_PENDING and changes nothing
 * @return KV_OK, KV_NO_USER, KV_PENDING, KV_STORAGE
 */
KV_API kv_status kv_user_logout(kv_client *client, const char *options, kv_error **error_out);
KV_API kv_status kv_user_logout_async(kv_client *client, const char *options, kv_answer_fn done,
                                      void *context, kv_free_fn free_context,
                                      kv_request **request_out, kv_error **error_out);

/** Gives the active user as last seen, without a network call. `json_out` must not be NULL.
 *  @return KV_OK, KV_NO_USER, KV_UNSUPPORTED, KV_STORAGE */
KV_API kv_status kv_user_active(kv_client *client, char **json_out, size_t *length_out,
                                kv_error **error_out);

/** Reads the active user from the backend. The stored session token is kept. `json_out` must not be
 *  NULL. @return KV_OK, KV_NO_USER, KV_UNAUTHORIZED, network and server codes */
KV_API kv_status kv_user_me(kv_client *client, const char *options, char **json_out,
                            size_t *length_out, kv_error **error_out);
KV_API kv_status kv_user_me_async(kv_client *client, const char *options, kv_answer_fn done,
                                  void *context, kv_free_fn free_context, kv_request **request_out,
                                  kv_error **error_out);

/** Replaces members of the active user on the backend (`password` included).
 *  @return KV_OK, KV_NO_USER, KV_INVALID, KV_CONFLICT, network and server codes */
KV_API kv_status kv_user_update(kv_client *client, const char *user_json, size_t length,
                                const char *options, KV_OPTIONAL char **json_out,
                                size_t *length_out, kv_error **error_out);
KV_API kv_status kv_user_update_async(kv_client *client, const char *user_json, size_t length,
                                      const char *options, kv_answer_fn done, void *context,
                                      kv_free_fn free_context, kv_request **request_out,
                                      kv_error **error_out);

/** Deletes the active user on the backend, then ends the session as a logout does.
 *  @param options  `{"hard":true}`: for good; default: disabled. And the options of kv_user_logout(). */
KV_API kv_status kv_user_delete(kv_client *client, const char *options, kv_error **error_out);
KV_API kv_status kv_user_delete_async(kv_client *client, const char *options, kv_answer_fn done,
                                      void *context, kv_free_fn free_context,
                                      kv_request **request_out, kv_error **error_out);

/** Tells whether a user name is taken. @param exists_out receives 1 or 0 */
KV_API kv_status kv_user_exists(kv_client *client, const char *username, const char *options,
                                int32_t *exists_out, kv_error **error_out);
KV_API kv_status kv_user_exists_async(kv_client *client, const char *username, const char *options,
                                      kv_answer_fn done, void *context, kv_free_fn free_context,
                                      kv_request **request_out, kv_error **error_out);

/**
 * Finds other users. The backend decides by which members users can be found and which members are shown;
 * `kvstored` has the option `--lookup` for that.
 *
 * @param members_json  `{"username":"ana"}`, `{"email":…}`, `{"_id":…}`: a user must have all these values. At
 *                      least one is required, so that all users cannot be listed
 * @param json_out      receives an array of users, empty if there is none
 * @return KV_OK, KV_INVALID (no member, or one that users are not found by), KV_NO_USER, KV_UNSUPPORTED, network and
 *         server codes
 */
KV_API kv_status kv_user_lookup(kv_client *client, const char *members_json, size_t length,
                                const char *options, char **json_out, size_t *length_out,
                                kv_error **error_out);
KV_API kv_status kv_user_lookup_async(kv_client *client, const char *members_json, size_t length,
                                      const char *options, kv_answer_fn done, void *context,
                                      kv_free_fn free_context, kv_request **request_out,
                                      kv_error **error_out);

/** @} */

/** @defgroup user_group Groups of users
 *  An access list can name groups as well as users: see kv_store_share() and docs/sharing.md. A group is
 *  `{"_id":…,"name":…,"members":[ids of users],"_acl":…,"_kmd":…}`, with any other members that were saved. It belongs to its
 *  creator: others see and change it only if its own `_acl` allows that. Groups are not kept on this machine; all
 *  functions ask the backend. Besides the statuses that they name, they return KV_NO_USER, KV_UNSUPPORTED (the backend has
 *  no groups), network and server codes. @{ */

/**
 * Creates a group. The request is sent once: after a network code the group may exist or not.
 *
 * @param group_json  `{"name":"team","members":["…"]}`; the backend chooses the `_id`
 * @param json_out    receives the group; may be NULL
 * @return KV_OK, KV_INVALID (`members` are not ids), KV_FORBIDDEN (the user may not choose the `_id`)
 */
KV_API kv_status kv_group_create(kv_client *client, const char *group_json, size_t length,
                                 const char *options, KV_OPTIONAL char **json_out,
                                 size_t *length_out, kv_error **error_out);
KV_API kv_status kv_group_create_async(kv_client *client, const char *group_json, size_t length,
                                       const char *options, kv_answer_fn done, void *context,
                                       kv_free_fn free_context, kv_request **request_out,
                                       kv_error **error_out);

/** Reads a group. @return KV_OK, KV_NOT_FOUND, KV_FORBIDDEN, KV_INVALID (an empty id) */
KV_API kv_status kv_group_read(kv_client *client, const char *id, const char *options,
                               char **json_out, size_t *length_out, kv_error **error_out);
KV_API kv_status kv_group_read_async(kv_client *client, const char *id, const char *options,
                                     kv_answer_fn done, void *context, kv_free_fn free_context,
                                     kv_request **request_out, kv_error **error_out);

/** Lists the groups that the active user may read: an array. @return KV_OK */
KV_API kv_status kv_group_list(kv_client *client, const char *options, char **json_out,
                               size_t *length_out, kv_error **error_out);
KV_API kv_status kv_group_list_async(kv_client *client, const char *options, kv_answer_fn done,
                                     void *context, kv_free_fn free_context,
                                     kv_request **request_out, kv_error **error_out);

/**
 * Changes a group. The group is read, and written on the condition that it has not changed. If it has, both are repeated,
 * up to five times, so no change is lost. A backend that ignores conditions (`kvstored` does not) may lose a change
 * that others make in between.
 *
 * @param change_json  `{"add":[ids],"remove":[ids],"set":{"name":…}}`, each optional: the users to add and to remove,
 *                     and members of the JSON to replace. A user named in both lists is removed
 * @param json_out     receives the group as it is then; may be NULL
 * @return KV_OK, KV_NOT_FOUND, KV_FORBIDDEN, KV_INVALID, KV_CONFLICT (the group was changed each time)
 */
KV_API kv_status kv_group_update(kv_client *client, const char *id, const char *change_json,
                                 size_t length, const char *options, KV_OPTIONAL char **json_out,
                                 size_t *length_out, kv_error **error_out);
KV_API kv_status kv_group_update_async(kv_client *client, const char *id, const char *change_json,
                                       size_t length, const char *options, kv_answer_fn done,
                                       void *context, kv_free_fn free_context,
                                       kv_request **request_out, kv_error **error_out);

/** Deletes a group. Its members lose the rights that they had by it.
 *  @return KV_OK, KV_NOT_FOUND, KV_FORBIDDEN, KV_INVALID (an empty id) */
KV_API kv_status kv_group_delete(kv_client *client, const char *id, const char *options,
                                 kv_error **error_out);
KV_API kv_status kv_group_delete_async(kv_client *client, const char *id, const char *options,
                                       kv_answer_fn done, void *context, kv_free_fn free_context,
                                       kv_request **request_out, kv_error **error_out);

/** @} */

/** @defgroup query Queries
 *  A query is a value: it never changes, and any thread may use it with any store. @{ */

typedef struct kv_query kv_query;

/**
 * Makes a query from a filter in the backend's language (MongoDB's). CONSTRUCTOR
 *
 * @param filter_json     such as `{"population":{"$gte":50000}}`; NULL: everything
 * @param modifiers_json  `{"sort":{"name":1,"population":-1},"skip":0,"limit":20,"fields":["name"]}`,
 *                        each optional; NULL: none. With a sort, ties are broken by `_id`. A limit of 0
 *                        means no limit. `"computed":{"score":{"$meta":"textScore"}}` adds to each result the score
 *                        of a `$text`; `"snippet"` adds the part that matches, `"geoNearDistance"` the distance in
 *                        metres. `"sort":{"score":{"$meta":"textScore"}}` puts the best first.
 *                        `"collation":{"locale":"de","ignoreCase":true,"ignoreAccents":true}` compares and
 *                        sorts texts as a language does: docs/queries.md.
 * @param query_out       free it with kv_query_free()
 * @return KV_OK, KV_INVALID (the error has a `position`), KV_MISUSE
 */
KV_API kv_status kv_query_create(KV_OPTIONAL const char *filter_json, size_t filter_length,
                                 KV_OPTIONAL const char *modifiers_json, size_t modifiers_length,
                                 kv_query **query_out, kv_error **error_out);

/**
 * Makes a query from a predicate format: Apple's predicate format string syntax. CONSTRUCTOR
 *
 * Conditions that MongoDB's language also has mean what they mean there; all others mean what Apple documents.
 * docs/queries.md has both. If a backend cannot answer a query completely, the client fetches the entities that may match
 * and selects from them.
 *
 * @param format          such as `state == %@ AND population >= %d`
 * @param arguments_json  the values of `%@`, `%K`, `%d`…, as an array, or
 *                        `{"arguments":[…],"variables":{…}}` with those of `$name` too; NULL: none. They
 *                        are values and never read as syntax.
 * @param modifiers_json  as for kv_query_create(); may be NULL
 * @param query_out       free it with kv_query_free()
 * @return KV_OK, KV_INVALID (the error has a `position` and says what was expected), KV_MISUSE
 */
KV_API kv_status kv_query_from_format(const char *format, KV_OPTIONAL const char *arguments_json,
                                      size_t arguments_length,
                                      KV_OPTIONAL const char *modifiers_json,
                                      size_t modifiers_length, kv_query **query_out,
                                      kv_error **error_out);

/**
 * Combines queries: the result selects what all of them select, what any of them selects, or what one does not.
 * With one query, "and" gives the same filter with other modifiers. CONSTRUCTOR
 *
 * @param combination     "and", "or", or "not" (of one query)
 * @param queries         an array of `count` queries, at least one; NULL in it stands for everything. Only
 *                        their filters are used, not their modifiers. They still belong to the caller.
 * @param modifiers_json  as for kv_query_create(); may be NULL
 * @param query_out       free it with kv_query_free()
 * @return KV_OK, KV_INVALID, KV_MISUSE
 */
KV_API kv_status kv_query_combine(const char *combination, kv_query *const *queries, size_t count,
                                  KV_OPTIONAL const char *modifiers_json, size_t modifiers_length,
                                  kv_query **query_out, kv_error **error_out);

/** Gives the filter of a query as a predicate format, which can be parsed again to the same filter: `{"format":…,"arguments":[…]}`. */
KV_API kv_status kv_query_format(kv_query *query, char **json_out, size_t *length_out,
                                 kv_error **error_out);

/** Gives a query as JSON: `{"filter":{…},"sort":{…},"skip":…,"limit":…,"fields":[…]}`, without members that were not
 *  given. @return KV_OK, KV_MISUSE */
KV_API kv_status kv_query_json(kv_query *query, char **json_out, size_t *length_out,
                               kv_error **error_out);

/** Frees a query. Operations that use it go on. NULL is harmless. DESTRUCTOR */
KV_API void kv_query_free(KV_OPTIONAL kv_query *query);

/** @} */

/** @defgroup store Stores
 *  One collection, seen through one of four types.
 *
 *  | type    | reads                     | writes                       | local data |
 *  |---------|---------------------------|------------------------------|------------|
 *  | sync    | local                     | local, queued                | yes        |
 *  | auto    | network, else local       | local, queued, then network  | yes        |
 *  | cache   | local, then network       | local, then network          | yes        |
 *  | network | network                   | network                      | none       |
 *
 *  docs/options.md has the options of a call. An option of a call overrides that of the store, which overrides that of
 *  the client. The blocking form of a call that answers twice gives the last answer.
 *  @{ */

typedef struct kv_store kv_store;

/**
 * Opens a store. This is cheap; stores with the same tag share the collection's local data. CONSTRUCTOR
 *
 * @param collection  its name: 1 to 128 bytes, without `/`, control characters or a leading `_`
 * @param type        "sync", "synced" (see kv_client_start_sync()), "auto", "cache" or "network"
 * @param options     `tag` (letters, digits, hyphens; not for network stores), `ttl` (seconds; local
 *                    reads ignore entities written longer ago), and defaults for the calls
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_PENDING (the data of the tag belongs to another user who has pending writes),
 *         KV_CONFLICT (another user is logged in with a client of the tag), KV_NO_USER (another client has
 *         logged in a different user), KV_STORAGE, KV_CORRUPT, KV_FULL, KV_BUSY
 */
KV_API kv_status kv_store_open(kv_client *client, const char *collection, const char *type,
                               const char *options, kv_store **store_out, kv_error **error_out);

/**
 * Tells whether the reads of a store stay on this machine. If so, a read without a `readPolicy` of its own never waits for
 * the network, and its blocking form need not be cancellable.
 *
 * @return 1 or 0; 0 for a bad handle
 */
KV_API int32_t kv_store_reads_locally(kv_store *store);

/** The same for writes and `writePolicy`. @return 1 or 0; 0 for a bad handle */
KV_API int32_t kv_store_writes_locally(kv_store *store);

/** Closes a store. Its running requests go on; its cursors stay valid. NULL is harmless. DESTRUCTOR */
KV_API kv_status kv_store_close(KV_OPTIONAL kv_store *store);

/**
 * Finds the entities that match a query.
 *
 * @param query       NULL: all
 * @param cursor_out  close it with kv_cursor_close()
 * @return KV_OK (also if none match), KV_MISUSE, KV_INVALID, KV_STORAGE; from the backend network and
 *         server codes, KV_NO_USER, KV_UNSUPPORTED (there is no backend)
 */
KV_API kv_status kv_store_find(kv_store *store, kv_query *query, const char *options,
                               kv_cursor **cursor_out, kv_error **error_out);
KV_API kv_status kv_store_find_async(kv_store *store, kv_query *query, const char *options,
                                     kv_answer_fn done, void *context, kv_free_fn free_context,
                                     kv_request **request_out, kv_error **error_out);

/**
 * Describes the models of a GraphQL schema, as the option `schema` of kv_client_open() reads it: for programs that write code
 * from it. Nothing is opened, and no network call is made.
 *
 * @param schema    in GraphQL's schema definition language
 * @param json_out  receives `{"enums":[{"name","values"}],"types":[{"name","fields"}],"models":[{"name","pluralName","key",
 *                  "fields","relations","indexes":[{"name","fields"}]}]}`. A field has `name`, `type` (a scalar, an enumeration or an embedded
 *                  type), `isRequired`, `isList`, `hasRequiredElements`, `isReadOnly` (the backend writes it), and `default`
 *                  where it has one. The keys of relations that no field names are among them. A relation has `name`, `model`, `kind`
 *                  (`belongsTo`, `hasOne`, `hasMany`, `manyToMany`) and `keys`: the fields that hold the key, of this record or, for
 *                  the last two kinds, of the others; `isSingle` of `hasMany`; `join` and `others` of `manyToMany`. Free it with
 *                  kv_free()
 * @return KV_OK, KV_INVALID (the first mistake in the schema, with line and column), KV_MISUSE
 */
KV_API kv_status kv_schema_describe(const char *schema, char **json_out, KV_OPTIONAL size_t *length_out, kv_error **error_out);

/**
 * Makes the filter that selects what a relation of a record leads to, in a store of the model that it leads to: for finds,
 * counts, observers, follows and removals there. For clients with the option `schema`. No network call is made.
 *
 * A relation to many (`@hasMany`) selects whatever belongs to the record when the filter is used, by the index on its keys, and
 * the record itself is not read. The others (`@belongsTo`, `@hasOne`, `@manyToMany`) select the records that the keys in
 * the local record, or in the local joining records, name now.
 *
 * @param relation    the name of the field that has the relation
 * @param filter_out  receives a filter for kv_query_create(); free it with kv_free()
 * @return KV_OK, KV_NOT_FOUND (there is no such record, and it had to be read), KV_MISUSE, KV_INVALID (empty id; no such
 *         relation), KV_UNSUPPORTED (the record had to be read in a network store), KV_STORAGE
 */
KV_API kv_status kv_store_related(kv_store *store, const char *id, const char *relation,
                                  char **filter_out, size_t *length_out, kv_error **error_out);

/** Finds one entity. `json_out` must not be NULL.
 *  @return KV_OK, KV_NOT_FOUND, KV_INVALID (empty id), and what kv_store_find() returns */
KV_API kv_status kv_store_find_by_id(kv_store *store, const char *id, const char *options,
                                     char **json_out, size_t *length_out, kv_error **error_out);
KV_API kv_status kv_store_find_by_id_async(kv_store *store, const char *id, const char *options,
                                           kv_answer_fn done, void *context,
                                           kv_free_fn free_context, kv_request **request_out,
                                           kv_error **error_out);

/**
 * Finds the entities of some ids. A read that stays on this machine sees one snapshot. The backend is asked in as few requests
 * as the ids fit into.
 *
 * @param ids_json  a JSON array of ids, which are not empty; an id may come more than once
 * @param json_out  receives a JSON array as long as `ids_json` and in its order: each entity, or null where there is none
 * @return KV_OK (also if there are none), KV_INVALID (no array of texts; an empty id; the error has the `index`), and what
 *         kv_store_find() returns
 */
KV_API kv_status kv_store_find_by_ids(kv_store *store, const char *ids_json, size_t length,
                                      const char *options, char **json_out, size_t *length_out,
                                      kv_error **error_out);
KV_API kv_status kv_store_find_by_ids_async(kv_store *store, const char *ids_json, size_t length,
                                            const char *options, kv_answer_fn done, void *context,
                                            kv_free_fn free_context, kv_request **request_out,
                                            kv_error **error_out);

/**
 * Saves one entity. An entity without `_id` is created; otherwise the entity with that `_id` is created or replaced.
 * With the option `knownMembers` the stored entity keeps the members that the option does not name.
 *
 * With the option `if` the entity is saved only if a condition holds: `null`, no entity with this `_id` exists (an insert);
 * a number, the entity has this local version (kv_store_version()); a filter, the entity exists and matches. Otherwise the
 * call gives #KV_CONFLICT with the `id` and changes nothing. Check and write are one transaction. The queued write stays
 * conditional: when it is pushed, the backend must have the version that the entity started from, or none. Otherwise it is a
 * conflict and is quarantined, also under `clientWins`. A backend that can (AppSync) checks the filter itself: see
 * docs/transactions.md; one that has no words for it is #KV_UNSUPPORTED at once. If only the backend is written (a network store, `forceNetwork`),
 * the condition is checked against the backend's entity, and a version is #KV_UNSUPPORTED.
 *
 * @param entity_json  a JSON object; `_id`, `_acl`, `_kmd` must have their proper types if present, and no member may occur
 *                     twice, at any depth
 * @param json_out     receives the entity as stored, `_id` included; may be NULL
 * @return KV_OK, KV_MISUSE, KV_INVALID (no entity; the error has a `position`), KV_CONFLICT, KV_STORAGE, KV_FULL;
 *         where it goes to the backend network and server codes, KV_NO_USER
 */
KV_API kv_status kv_store_save(kv_store *store, const char *entity_json, size_t length,
                               const char *options, KV_OPTIONAL char **json_out, size_t *length_out,
                               kv_error **error_out);
KV_API kv_status kv_store_save_async(kv_store *store, const char *entity_json, size_t length,
                                     const char *options, kv_answer_fn done, void *context,
                                     kv_free_fn free_context, kv_request **request_out,
                                     kv_error **error_out);

/**
 * Saves many entities: locally like kv_store_save() in one transaction, remotely in batches of at most 100. If only the
 * backend is written, they are inserted: an entity whose `_id` is taken gives #KV_CONFLICT and replaces nothing.
 *
 * The option `if` applies to each of them. Locally all are saved or none, and the error has the `index`.
 *
 * @param entities_json  a JSON array of objects, not empty
 * @param json_out       receives `{"entities":[…],"errors":[…]}`: `entities` as long as the input, with
 *                       null where it failed; each error has the `index` in the whole input. May be
 *                       NULL.
 * @return KV_OK, KV_PARTIAL (some failed), and what kv_store_save() returns
 */
KV_API kv_status kv_store_save_many(kv_store *store, const char *entities_json, size_t length,
                                    const char *options, KV_OPTIONAL char **json_out,
                                    size_t *length_out, kv_error **error_out);
KV_API kv_status kv_store_save_many_async(kv_store *store, const char *entities_json, size_t length,
                                          const char *options, kv_answer_fn done, void *context,
                                          kv_free_fn free_context, kv_request **request_out,
                                          kv_error **error_out);

/** Removes one entity. @param count_out receives 1, or 0 if there was none; may be NULL
 *  The option `if` takes a version or a filter, as in kv_store_save(); an entity that is not there meets neither.
 *  @return what kv_store_save() returns */
KV_API kv_status kv_store_remove_by_id(kv_store *store, const char *id, const char *options,
                                       KV_OPTIONAL int64_t *count_out, kv_error **error_out);
KV_API kv_status kv_store_remove_by_id_async(kv_store *store, const char *id, const char *options,
                                             kv_answer_fn done, void *context,
                                             kv_free_fn free_context, kv_request **request_out,
                                             kv_error **error_out);

/** Removes the entities that match. @param query NULL: all @param count_out may be NULL
 *  @return what kv_store_save() returns */
KV_API kv_status kv_store_remove(kv_store *store, kv_query *query, const char *options,
                                 KV_OPTIONAL int64_t *count_out, kv_error **error_out);
KV_API kv_status kv_store_remove_async(kv_store *store, kv_query *query, const char *options,
                                       kv_answer_fn done, void *context, kv_free_fn free_context,
                                       kv_request **request_out, kv_error **error_out);

/**
 * Changes members of the entities that match, and leaves their other members as they are.
 *
 * Locally the update is one atomic transaction. The backend receives each changed entity as a whole. A network store sends it
 * on the condition that the backend's entity has not changed since it was read; if it has, it is read again.
 *
 * @param query        NULL: all; for one entity a filter `{"_id":"…"}`
 * @param update_json  MongoDB's update language: an object of operators, each with an object of paths and operands:
 *                     `{"$set":{"address.city":"Ulm"},"$inc":{"visits":1}}`. The operators are `$set`, `$unset`,
 *                     `$inc`, `$mul`, `$min`, `$max`, `$rename`, `$push` (with `$each`, `$position`, `$slice`,
 *                     `$sort`), `$addToSet` (with `$each`), `$pop`, `$pull` and `$currentDate`
 * @param json_out     receives `{"matched":…,"modified":…}`: how many entities matched, and how many of them
 *                     changed; may be NULL
 * @return what kv_store_save() returns; KV_INVALID also if the update does not fit an entity (a `$inc` of a text): the
 *         error has its `id`, and nothing was changed locally
 */
KV_API kv_status kv_store_update(kv_store *store, kv_query *query, const char *update_json,
                                 size_t length, const char *options, KV_OPTIONAL char **json_out,
                                 size_t *length_out, kv_error **error_out);
KV_API kv_status kv_store_update_async(kv_store *store, kv_query *query, const char *update_json,
                                       size_t length, const char *options, kv_answer_fn done,
                                       void *context, kv_free_fn free_context,
                                       kv_request **request_out, kv_error **error_out);

/**
 * Gives others the right to read or write an entity: it adds them to the `_acl` and leaves the rest of it as it is.
 *
 * Like a save with the option `if`, the write is conditional: it does not overwrite a change that others have made on
 * the backend. If only the backend is written, the entity is read again and the change repeated. A queued write becomes a
 * conflict and is quarantined, also under `clientWins` and `merge`.
 *
 * @param acl_json  the users and groups, in the form of an `_acl`: `{"r":["<user>"],"w":["<user>"],"groups":{"r":["<group>"],"w":[…]},
 *                  "gr":true,"gw":true}`, each optional. `r` may read, `w` may write and read, `gr` and
 *                  `gw` are for everybody
 * @return KV_OK (also if they have the right already), KV_NOT_FOUND (with the `id`), KV_INVALID (no user or group is named, or a
 *         member that an `_acl` does not have), KV_UNSUPPORTED (entities of the backend have no `_acl`), and what kv_store_save() returns
 */
KV_API kv_status kv_store_share(kv_store *store, const char *id, const char *acl_json, size_t length,
                                const char *options, kv_error **error_out);
KV_API kv_status kv_store_share_async(kv_store *store, const char *id, const char *acl_json,
                                      size_t length, const char *options, kv_answer_fn done,
                                      void *context, kv_free_fn free_context,
                                      kv_request **request_out, kv_error **error_out);

/** Takes back rights that kv_store_share() gave. `"gr":true` sets `gr` to false: then only those who are named may read,
 *  even if the rule of the collection lets everybody read by default. `"gw":true` does the same with `gw`.
 *  @return what kv_store_share() returns */
KV_API kv_status kv_store_unshare(kv_store *store, const char *id, const char *acl_json,
                                  size_t length, const char *options, kv_error **error_out);
KV_API kv_status kv_store_unshare_async(kv_store *store, const char *id, const char *acl_json,
                                        size_t length, const char *options, kv_answer_fn done,
                                        void *context, kv_free_fn free_context,
                                        kv_request **request_out, kv_error **error_out);

/**
 * Gives the local version of one entity. Each local change increases it, whether it comes from a save, a pull, live
 * data or another process. If an entity is deleted and created again, its version is higher than any before. Versions
 * fit into 53 bits. No network call is made; a network store has no versions: #KV_UNSUPPORTED.
 *
 * @return KV_OK, KV_NOT_FOUND, KV_MISUSE, KV_INVALID (empty id), KV_UNSUPPORTED, KV_STORAGE
 */
KV_API kv_status kv_store_version(kv_store *store, const char *id, int64_t *version_out,
                                  kv_error **error_out);

/** Counts the entities that match. @param query NULL: all @param count_out must not be NULL
 *  @return what kv_store_find() returns */
KV_API kv_status kv_store_count(kv_store *store, kv_query *query, const char *options,
                                int64_t *count_out, kv_error **error_out);
KV_API kv_status kv_store_count_async(kv_store *store, kv_query *query, const char *options,
                                      kv_answer_fn done, void *context, kv_free_fn free_context,
                                      kv_request **request_out, kv_error **error_out);

/**
 * Groups the entities that match by the values of some members, and computes numbers for each group. Local
 * and remote answers are the same, sorted by the keys.
 *
 * @param group_json  `{"keys":["state"],"aggregates":{"n":"count","mean":{"avg":"population"}}}`: any number
 *                    of "count" and of `sum`, `avg`, `min`, `max` of a path; without keys all entities form one
 *                    group. Values that are not numbers are ignored; without any number `sum` is 0 and the others null.
 *                    With `"collation":{"locale":"de","ignoreCase":true}` texts that a language finds equal are one
 *                    group, whose key is the first of them by code point; groups come in the language's order.
 *                    Or `{"keys":[…],"initial":{…},"reduce":"function(doc,out){…}"}`: JavaScript for a
 *                    backend that runs it; the groups come in the backend's order
 * @param query       NULL: all; skip and limit are #KV_INVALID, sort and fields are ignored
 * @param json_out    receives `[{"state":"MA","n":…,"mean":…},…]`
 * @return what kv_store_find() returns; KV_INVALID (the error has a `position`); KV_UNSUPPORTED (the backend
 *         does not understand the function, or the call is local)
 */
KV_API kv_status kv_store_group(kv_store *store, const char *group_json, size_t length,
                                kv_query *query, const char *options, char **json_out,
                                size_t *length_out, kv_error **error_out);
KV_API kv_status kv_store_group_async(kv_store *store, const char *group_json, size_t length,
                                      kv_query *query, const char *options, kv_answer_fn done,
                                      void *context, kv_free_fn free_context,
                                      kv_request **request_out, kv_error **error_out);

/**
 * Receives an entity of a group: see kv_store_reduce().
 *
 * @param group        its number: groups are numbered from 0 as they appear
 * @param entity_json  borrowed until the function returns; a NUL follows
 * @return 0 to go on, anything else to stop
 */
typedef int32_t (*kv_reduce_fn)(void *context, size_t group, const char *entity_json,
                                size_t length);

/**
 * Groups the entities that match, and passes each one to a function of the caller with the number of its group. The
 * function runs on the calling thread before this call returns, with no lock held, and may call any function.
 *
 * @param keys_json  `["state"]`; NULL: one group
 * @param query      NULL: all; a sort gives the order of the calls
 * @param json_out   receives the keys of each group, `[{"state":"MA"},…]`, by the groups' numbers
 * @return what kv_store_find() returns; KV_CANCELLED (`reduce` asked to stop)
 */
KV_API kv_status kv_store_reduce(kv_store *store, KV_OPTIONAL const char *keys_json, size_t length,
                                 kv_query *query, const char *options, kv_reduce_fn reduce,
                                 void *context, char **json_out, size_t *length_out,
                                 kv_error **error_out);

/**
 * Gives the distinct values of a member among the entities that match, sorted. Elements of an array count one by
 * one. Entities without the member are ignored; null is a value.
 *
 * @param path      such as "address.city"
 * @param query     NULL: all; skip and limit are #KV_INVALID, sort and fields are ignored
 * @param json_out  receives an array
 * @return what kv_store_find() returns
 */
KV_API kv_status kv_store_distinct(kv_store *store, const char *path, kv_query *query,
                                   const char *options, char **json_out, size_t *length_out,
                                   kv_error **error_out);
KV_API kv_status kv_store_distinct_async(kv_store *store, const char *path, kv_query *query,
                                         const char *options, kv_answer_fn done, void *context,
                                         kv_free_fn free_context, kv_request **request_out,
                                         kv_error **error_out);

/**
 * Fetches the entities that match from the backend into the local store. Memory follows the page.
 *
 * To get the entities, call kv_store_find() afterwards with the same query and the option `"readPolicy":"forceLocal"`. Its
 * cursor gives all entities that match locally, including unchanged ones and those that were saved here meanwhile.
 *
 * @param query     NULL: the whole collection. Entities that match and that the backend no longer has are removed
 *                  from the local store, unless the query has a skip or a limit.
 * @param json_out  receives `{"pulled":n,"removed":m}`; may be NULL
 * @return KV_OK, KV_PENDING (push or purge the pending writes first; quarantined ones do not count),
 *         KV_UNSUPPORTED (network store, no backend), KV_NO_USER, KV_STORAGE, KV_FULL, network and server codes
 */
KV_API kv_status kv_store_pull(kv_store *store, kv_query *query, const char *options,
                               KV_OPTIONAL char **json_out, size_t *length_out,
                               kv_error **error_out);
KV_API kv_status kv_store_pull_async(kv_store *store, kv_query *query, const char *options,
                                     kv_answer_fn done, void *context, kv_free_fn free_context,
                                     kv_request **request_out, kv_error **error_out);

/**
 * Sends the pending writes of the collection to the backend. Writes that it refuses for good are quarantined. The option
 * `conflicts` says what happens to entities that were changed on the backend too. With the option
 * `"retryQuarantined":true` quarantined writes are sent again; after a conflict, over the version that they met.
 *
 * @param json_out  receives `{"pushed":n,"errors":[{"id":…,"operation":…,…}],"quarantined":n,"overwritten":n,"discarded":n}`; may be
 *                  NULL. `quarantined` counts the quarantined writes; kv_store_pending() lists them with their errors;
 *                  `discarded` counts the writes that were given up for what the backend has, as a whole or in part
 * @return KV_OK, KV_PARTIAL (some were refused; they stay pending with their error), KV_UNSUPPORTED
 *         (network store, no backend), KV_NO_USER, KV_UNAUTHORIZED (the remaining writes were not sent), network and
 *         server codes
 */
KV_API kv_status kv_store_push(kv_store *store, const char *options, KV_OPTIONAL char **json_out,
                               size_t *length_out, kv_error **error_out);
KV_API kv_status kv_store_push_async(kv_store *store, const char *options, kv_answer_fn done,
                                     void *context, kv_free_fn free_context,
                                     kv_request **request_out, kv_error **error_out);

/**
 * Pushes, then pulls the entities that match the query. Writes that the backend refuses for good do not prevent the pull; a
 * write that could not be sent and waits for the next push does. Get the entities as after kv_store_pull().
 *
 * @param json_out  receives `{"pushed":n,"errors":[…],"quarantined":n,"overwritten":n,"discarded":n,"pulled":n,"removed":m}`;
 *                  may be NULL
 * @return what kv_store_push() and kv_store_pull() return
 */
KV_API kv_status kv_store_sync(kv_store *store, kv_query *query, const char *options,
                               KV_OPTIONAL char **json_out, size_t *length_out,
                               kv_error **error_out);
KV_API kv_status kv_store_sync_async(kv_store *store, kv_query *query, const char *options,
                                     kv_answer_fn done, void *context, kv_free_fn free_context,
                                     kv_request **request_out, kv_error **error_out);

/** @} */

/** @defgroup index Indexes
 *  Indexes make queries over the local data of a collection faster and never change an answer. No network call is
 *  made; a network store has no indexes: #KV_UNSUPPORTED. @{ */

/**
 * Creates an index and fills it with the existing entities. It is filled in steps, so others can write at the same
 * time; their changes are indexed too. Queries use it when it is complete. If the process is killed before that, the next
 * call for the same index continues.
 *
 * @param index_json  `{"keys":{"country":1,"population":-1}}`, and a `"name"` if the default, made from the keys, does not fit:
 *                    up to eight members in order, nested ones (`"address.city"`) and arrays included;
 *                    `{"keys":{"name":"text"}}` for the words of texts (`"$**"`: of all of them), with
 *                    `"language":"english"` for their stems too;
 *                    `{"keys":{"_geoloc":"2dsphere"}}` for places. `"totals":true` with members in order stores count
 *                    and sum of the last one for each group of the others: kv_store_group() by these then takes
 *                    time by the number of groups, and a save writes one more row. `"collation":{"locale":"de"}` with
 *                    members in order keeps texts in the order of a language, for queries with the same collation
 * @return KV_OK (also if the same index exists already), KV_INVALID (not understood, with a `position`, or
 *         an index of that name has other keys), KV_UNSUPPORTED, KV_STORAGE, KV_FULL
 */
KV_API kv_status kv_store_create_index(kv_store *store, const char *index_json, size_t length,
                                       kv_error **error_out);

/** Drops an index. @return KV_OK, KV_NOT_FOUND, KV_UNSUPPORTED, KV_STORAGE */
KV_API kv_status kv_store_drop_index(kv_store *store, const char *name, kv_error **error_out);

/**
 * Lists the indexes: `[{"name":…,"keys":{…},"state":…,"arrays":false}]`.
 *
 * `state`: "ready"; "building", not used yet; or "unusable", because a number of an entity exceeds the range of
 * doubles. `arrays`: some entities have an array there, so the index cannot give an order. `collation`: the order of
 * its texts, if it has one. `automatic`: why an index was made
 * automatically (option `autoIndex`), `{"scans":n,"examined":n,"returned":n,"bytes":n}`: what scans had cost until then,
 * and how much of the file the index took.
 */
KV_API kv_status kv_store_indexes(kv_store *store, char **json_out, size_t *length_out,
                                  kv_error **error_out);

/**
 * Runs a find in the local data, and describes how it was carried out.
 *
 * `{"access":"index"|"ids"|"scan","indexes":[names],"exact":…,"covering":…,"sql":…,"steps":[…],"examined":n,
 * "returned":n}`: `exact`, the index alone decides which entities match; `covering`, a count needs the index
 * only; `sql` and `steps`, the statement and the query plan of SQLite; `examined`, the number of entities
 * that were read. SQL and steps are for people; they may change from version to version.
 *
 * @param query NULL: all
 */
KV_API kv_status kv_store_explain(kv_store *store, kv_query *query, char **json_out,
                                  size_t *length_out, kv_error **error_out);

/** @} */

/** @defgroup follow Following
 *  A follow keeps the result of a query in sync with the backend. @{ */

/**
 * Keeps the entities that match a query in sync with the backend until the subscription or the client is closed. It pulls
 * them, or their changes; registers for live data, or polls; fetches the changes that it missed while offline; and
 * pushes the pending writes of the collection, and new ones as they are saved. The call returns at once; without a network or
 * a login the follow tries again after growing pauses. See docs/follow.md.
 *
 * Events report its state: first the present one, then each change. Changes that happen while `receive` is busy become one
 * event, and the last state is always reported:
 * `{"collection":…,"filter":{…},"state":…,"live":…,"lastSynced":…,"error":{…}}`.
 *
 * - `state`: `"starting"`, nothing was read yet; `"current"`: the local data equals the backend's; `"behind"`: it is being
 *   read, or cannot be, as the `error` says; `"offline"`: the backend does not answer
 * - `live`: whether changes come by live data; otherwise they are polled for
 * - `lastSynced`: when the data was last read; missing before that
 * - `error`: as in kv_error_json(); missing if there is none
 *
 * Closing the subscription cancels running operations and does not wait for their end.
 *
 * @param query         NULL: all; no skip and no limit
 * @param options       NULL or a JSON object: `interval` (seconds between two reads without live data, 0.1 or more, default 60), `live`
 *                      (whether live data is used, default true), and the options of a call; `deltaSet` is true unless it
 *                      is said otherwise
 * @param receive       may be NULL; see @ref subscription, for this and what follows
 * @return KV_OK, KV_INVALID, KV_UNSUPPORTED (a network store, no backend), KV_MISUSE, KV_INTERNAL (no thread)
 */
KV_API kv_status kv_store_follow(kv_store *store, kv_query *query, const char *options,
                                 KV_OPTIONAL kv_event_fn receive, void *context,
                                 kv_free_fn free_context, kv_subscription **subscription_out,
                                 kv_error **error_out);

/** @} */

/** @defgroup observer Observers
 *  An observer receives the result of a query over local data, and then each change of it, whatever causes it: a save, a
 *  pull, the answer to a push, a clear or logout, or another process with the same data. @{ */

/**
 * Observes a query over the local data until the subscription or the client is closed.
 *
 * Events are objects; all members are always present:
 * `{"initial":…,"isSynced":…,"count":n,"deletions":[{"index":n,"id":…,"source":…}],"moves":[{"from":n,"to":n,"id":…}],
 * "insertions":[{"index":n,"source":…,"entity":{…}}],"modifications":[{"index":n,"source":…,"entity":{…}}]}`.
 *
 * The first one, `initial`, inserts the whole result, which may be empty. To get from one result to
 * the next: remove the entities at the `index` of deletions and the `from` of moves, which are positions in the old result;
 * then insert, in ascending order of `index` and `to`, which are positions in the new result, the insertions and moved
 * entities; then replace modified entities. `count` is the size of the new result. Sort, skip, limit and fields are respected.
 *
 * `source` is `"local"` for what was changed here and the backend has not accepted yet, else `"remote"`. `isSynced`: the
 * collection is synchronised in the background (kv_client_start_sync()) and was read since that has started; when that becomes
 * so, an event says it, even if nothing has changed.
 *
 * Each event leads to a state that the data really had, and no change is missed. Changes that come
 * while `receive` is busy become one event, so a slow `receive` never makes a queue grow. An event with an error
 * says that the data could not be read; a later event then includes the missed changes. The option `ttl` is
 * ignored here.
 *
 * @param query         NULL: all
 * @param receive       see @ref subscription, for this and what follows
 * @return KV_OK, KV_UNSUPPORTED (a network store), KV_STORAGE, KV_FULL, KV_INTERNAL
 */
KV_API kv_status kv_store_observe(kv_store *store, kv_query *query, kv_event_fn receive,
                                  void *context, kv_free_fn free_context,
                                  kv_subscription **subscription_out, kv_error **error_out);

/** Observes one entity, which need not exist. */
KV_API kv_status kv_store_observe_by_id(kv_store *store, const char *id, kv_event_fn receive,
                                        void *context, kv_free_fn free_context,
                                        kv_subscription **subscription_out, kv_error **error_out);

/** @} */

/** @defgroup pending Pending writes
 *  The queue of a collection has at most one pending write for each entity. Only a retry uses the network. A network store
 *  has no queue: its functions give #KV_UNSUPPORTED unless they say otherwise.
 *
 *  A pending write *waits* until a push has sent it. It is *quarantined*, with its error, if the backend refuses it for good
 *  (state `"refused"`), or if it is in a conflict that nothing decides (state `"conflict"`). What the backend had confirmed
 *  before it went back to an older copy of its data is quarantined as well (state `"backendWentBack"`, see the option
 *  `onBackendReset`): a retry sends it again, a revert takes what the backend has. A quarantined write blocks no
 *  push and no pull and is not sent again by itself; reads leave its entity as it is here. It leaves the quarantine when the
 *  application retries, edits, reverts or drops it, or saves or removes the entity again. @{ */

/** Counts the pending writes, including quarantined ones. 0 for network stores. @return KV_OK, KV_MISUSE, KV_STORAGE */
KV_API kv_status kv_store_sync_count(kv_store *store, int64_t *count_out, kv_error **error_out);

/**
 * Lists pending writes, oldest first: `[{"id":…,"operation":"create"|"update"|"delete","createdAt":…,
 * "changedAt":…,"attempts":n,"state":"waiting"|"refused"|"conflict"|"backendWentBack","lastError":{…}|null}]`; times are
 * ISO 8601 in UTC. The first save under an id of the application's own is a `create` as well, if the backend is not known to have
 * the entity. A write that was made on a filter (the option `if`) also has `if`: what the backend's entity has to match.
 *
 * @param after  lists the writes after the pending write of this id; NULL: from the start
 * @param limit  the maximum number; 0: all
 * @return KV_OK, KV_NOT_FOUND (nothing is pending for `after`), KV_UNSUPPORTED, KV_STORAGE
 */
KV_API kv_status kv_store_pending(kv_store *store, KV_OPTIONAL const char *after, uint32_t limit,
                                  char **json_out, size_t *length_out, kv_error **error_out);

/** Gives one pending write as in the list, with `entity` (the content to send) and `base` (the backend's
 *  version that it changes, or null). A quarantined write also has `remote`, if that is known: the backend's
 *  entity, or null if it has none. @return KV_OK, KV_NOT_FOUND */
KV_API kv_status kv_store_pending_get(kv_store *store, const char *id, char **json_out,
                                      size_t *length_out, kv_error **error_out);

/** Sends one pending write now, also a quarantined one. After a conflict it replaces the version that it
 *  met (`remote`). @return KV_OK, KV_NOT_FOUND (not pending), network and server codes */
KV_API kv_status kv_store_pending_retry(kv_store *store, const char *id, const char *options,
                                        kv_error **error_out);
KV_API kv_status kv_store_pending_retry_async(kv_store *store, const char *id, const char *options,
                                              kv_answer_fn done, void *context,
                                              kv_free_fn free_context, kv_request **request_out,
                                              kv_error **error_out);

/** Replaces the content of a pending create or update, and the local entity. Attempts and error are reset, and the
 *  write waits for the next push; after a conflict it will replace the version that it met.
 *  @return KV_OK, KV_NOT_FOUND, KV_INVALID (no entity, another `_id`, a pending delete) */
KV_API kv_status kv_store_pending_edit(kv_store *store, const char *id, const char *entity_json,
                                       size_t length, kv_error **error_out);

/** Deletes one pending write and restores the local entity to the backend's version: the one that the write
 *  met, else the one that it started from. If neither is known, or there was none, the entity is removed from the
 *  local store; if the backend has it, the next read fetches it.
 *  @return KV_OK, KV_NOT_FOUND, KV_UNSUPPORTED, KV_STORAGE */
KV_API kv_status kv_store_pending_revert(kv_store *store, const char *id, kv_error **error_out);

/** Deletes one pending write. The local entity stays as it is until the next read fetches the backend's version.
 *  @return KV_OK, KV_NOT_FOUND */
KV_API kv_status kv_store_pending_drop(kv_store *store, const char *id, kv_error **error_out);

/** Deletes the pending writes whose entities match. The local entities stay until the next read, as above.
 *  @param query NULL: all @param count_out receives how many; may be NULL
 *  @return KV_OK, KV_UNSUPPORTED, KV_STORAGE */
KV_API kv_status kv_store_purge(kv_store *store, kv_query *query, KV_OPTIONAL int64_t *count_out,
                                kv_error **error_out);

/** Removes matching entities from the local store only, with their pending writes. The next pull of the collection reads
 *  everything, also with `deltaSet`. @param query NULL: all of this collection
 *  @param count_out receives how many entities; may be NULL
 *  @return KV_OK, KV_UNSUPPORTED, KV_STORAGE */
KV_API kv_status kv_store_clear(kv_store *store, kv_query *query, KV_OPTIONAL int64_t *count_out,
                                kv_error **error_out);

/** @} */

/** @defgroup conflict Conflicts
 *  An entity is in conflict if it was changed or deleted here, and the backend has another version than the one that the
 *  change started from. The option `conflicts` says what happens then: docs/conflicts.md. @{ */

/** An entity that was changed on both sides. Everything in it is borrowed until the function returns;
 *  texts end with NUL, which their length does not count. */
typedef struct kv_conflict {
  uint32_t size;        /**< Bytes of this struct in the loaded library; later members may follow. */
  uint32_t reserved;
  const char *id;       /**< The entity. */
  const char *base;     /**< The version that both started from; NULL: there was none, or it is unknown. */
  size_t base_length;
  const char *local;    /**< The local version; NULL: it was deleted here. */
  size_t local_length;
  const char *remote;   /**< The backend's version; NULL: it was deleted there. */
  size_t remote_length;
} kv_conflict;

/** Results of a ::kv_conflict_fn. */
enum {
  KV_CONFLICT_LEAVE = 0,  /**< The conflict stays open: the write is quarantined. */
  KV_CONFLICT_KEEP = 1,   /**< The local version replaces the backend's. */
  KV_CONFLICT_TAKE = 2,   /**< The backend's version replaces the local one. */
  KV_CONFLICT_MERGED = 3, /**< The entity in `merged_out` replaces both. */
  KV_CONFLICT_DELETE = 4  /**< The entity is deleted, here and there. */
};

/**
 * Decides a conflict.
 *
 * @param merged_out  receives, for #KV_CONFLICT_MERGED, an entity as JSON text that ends with NUL, allocated by
 *                    malloc() or strdup(); the library frees it. It may be without `_id`; a different
 *                    `_id` is an error. Text that comes with another result is freed too.
 * @return a KV_CONFLICT_ value; any other is an error of the call that asked, and the conflict stays open
 */
typedef int32_t (*kv_conflict_fn)(void *context, const kv_conflict *conflict, char **merged_out);

/**
 * Sets the function that decides conflicts of pushes, syncs, retries and writes through this handle, unless the option
 * `conflicts` is something other than `"handler"`. NULL as `handler` removes it.
 *
 * The function runs on the client's callback thread (or inside kv_client_dispatch()), with no lock held and no request in
 * flight, and may call any function, also close the client. The call that met the conflict waits for it, but not beyond its
 * own timeout. If a push is called inside a callback, the function runs inside that callback; for a blocking call on a
 * pumped client it runs on the calling thread. If the client is closed or the user logs out meanwhile, that call ends with
 * #KV_CANCELLED, and the conflict stays open.
 *
 * @param free_context  may be NULL, else it is called exactly once: when the function was replaced or taken
 *                      away and no call asks it any more, when the store or the client was closed, or before
 *                      this returns when it fails
 * @return KV_OK, KV_MISUSE, KV_UNSUPPORTED (a network store), KV_INTERNAL (no thread for callbacks)
 */
KV_API kv_status kv_store_set_conflict_handler(kv_store *store, KV_OPTIONAL kv_conflict_fn handler,
                                               void *context, kv_free_fn free_context,
                                               kv_error **error_out);

/** @} */

/** @defgroup live Live data
 *  The backend sends changes of a collection as they happen: see docs/live.md.
 *
 *  A client holds one request open for all its subscriptions, on a thread of its own. This works with Kinvey's
 *  Live Service and with servers that speak its format. @{ */

/**
 * Registers the client for live data of the active user. Each program calls it after each login, because the
 * registration is not stored. A second call is harmless.
 *
 * @return KV_OK, KV_NO_USER, KV_UNSUPPORTED (no backend), KV_FORBIDDEN (switched off for the application),
 *         network and server codes
 */
KV_API kv_status kv_live_register(kv_client *client, const char *options, kv_error **error_out);
KV_API kv_status kv_live_register_async(kv_client *client, const char *options, kv_answer_fn done,
                                        void *context, kv_free_fn free_context,
                                        kv_request **request_out, kv_error **error_out);

/**
 * Ends all live subscriptions of the client, each with a status event `disconnected`, and the registration on the backend.
 * A logout does this too. Without a registration nothing happens.
 *
 * @return KV_OK, KV_NO_USER, KV_UNSUPPORTED (no backend), network and server codes; the subscriptions have
 *         ended in every case
 */
KV_API kv_status kv_live_unregister(kv_client *client, const char *options, kv_error **error_out);
KV_API kv_status kv_live_unregister_async(kv_client *client, const char *options, kv_answer_fn done,
                                          void *context, kv_free_fn free_context,
                                          kv_request **request_out, kv_error **error_out);

/**
 * Subscribes to changes of a store's collection on the backend. The call returns at once; four handlers receive the
 * events. They share a context and are called one at a time. Each may be NULL, but not all of them.
 *
 * Every change is reported once, also after the connection was lost and restored. Several subscriptions to one
 * collection are independent of each other.
 *
 * @param on_ready   `{"event":"ready"}`: every change from now on is reported
 * @param on_next    `{"event":"change","change":…,"id":…,"entity":{…}}`: an entity was saved, `change` being
 *                   `create`, `update` or, where the backend does not tell them apart, `save`; without `entity`:
 *                   `delete`, or `fetch` (it was saved, is too large for a message, and could not be fetched
 *                   now)
 * @param on_status  `{"event":"status","status":…}`: `connected`; `unexpectedDisconnect` (the client tries again after
 *                   pauses), `reconnected` (the missed changes follow); `disconnected` (unregistered, logged
 *                   out or refused: the last event). `{"event":"missed"}`: changes were lost, because the backend no longer
 *                   has them, or because more than 1,024 events waited for the handlers. Pull to get them.
 * @param on_error   an error with a status: `liveToLocal` failed for one entity, and events go on; or
 *                   the user may not subscribe, and `disconnected` follows
 * @param options  NULL or `{"liveToLocal":true}`: changes are written to the local store before they are reported; they
 *                 never replace a pending write or a newer version
 * @return KV_OK, KV_MISUSE (not registered), KV_INVALID, KV_UNSUPPORTED (no backend; `liveToLocal` of a network
 *         store), KV_INTERNAL (no thread for callbacks)
 */
KV_API kv_status kv_store_subscribe(kv_store *store, const char *options,
                                    KV_OPTIONAL kv_event_fn on_ready,
                                    KV_OPTIONAL kv_event_fn on_next,
                                    KV_OPTIONAL kv_event_fn on_status,
                                    KV_OPTIONAL kv_event_fn on_error, void *context,
                                    kv_free_fn free_context, kv_subscription **subscription_out,
                                    kv_error **error_out);

/** @} */

/** @defgroup stream User-to-user streams
 *  Streams carry messages from user to user, which are not stored as entities: see docs/live.md. Each user owns a part of
 *  each stream and decides who else may publish and subscribe there. In all functions `user` names the owner of the part;
 *  NULL: the active user. @{ */

/**
 * Reads the access list of a part, which does not name its owner: `{"subscribe":[ids],"publish":[ids],"groups":{…}}`.
 *
 * @return KV_OK, KV_NO_USER, KV_UNSUPPORTED (no backend), KV_FORBIDDEN (not the owner), network and server codes
 */
KV_API kv_status kv_stream_acl(kv_client *client, const char *stream, KV_OPTIONAL const char *user,
                               const char *options, char **json_out, size_t *length_out,
                               kv_error **error_out);
KV_API kv_status kv_stream_acl_async(kv_client *client, const char *stream,
                                     KV_OPTIONAL const char *user, const char *options,
                                     kv_answer_fn done, void *context, kv_free_fn free_context,
                                     kv_request **request_out, kv_error **error_out);

/** Replaces the access list of a part. Users who lose the right to subscribe receive nothing more.
 *  @return what kv_stream_acl() returns, KV_MISUSE (no `acl_json`), KV_INVALID (a member that an ACL does not have, or not of ids) */
KV_API kv_status kv_stream_set_acl(kv_client *client, const char *stream,
                                   KV_OPTIONAL const char *user, const char *acl_json,
                                   size_t length, const char *options, kv_error **error_out);
KV_API kv_status kv_stream_set_acl_async(kv_client *client, const char *stream,
                                         KV_OPTIONAL const char *user, const char *acl_json,
                                         size_t length, const char *options, kv_answer_fn done,
                                         void *context, kv_free_fn free_context,
                                         kv_request **request_out, kv_error **error_out);

/** Lists the users whose parts the active user may use: an array of ids.
 *  @return KV_OK, KV_NO_USER, KV_UNSUPPORTED (no backend), network and server codes */
KV_API kv_status kv_stream_owners(kv_client *client, const char *stream, const char *options,
                                  char **json_out, size_t *length_out, kv_error **error_out);
KV_API kv_status kv_stream_owners_async(kv_client *client, const char *stream, const char *options,
                                        kv_answer_fn done, void *context, kv_free_fn free_context,
                                        kv_request **request_out, kv_error **error_out);

/**
 * Sends a message, any JSON of up to 32 KB, to the present subscribers of a part. It is sent once: after a network code it
 * may have been delivered or not. Call kv_live_register() first.
 *
 * @return KV_OK, KV_MISUSE (not registered), KV_INVALID, KV_NO_USER, KV_UNSUPPORTED (no backend), KV_FORBIDDEN
 *         (the owner does not allow it), network and server codes
 */
KV_API kv_status kv_stream_send(kv_client *client, const char *stream, KV_OPTIONAL const char *user,
                                const char *message_json, size_t length, const char *options,
                                kv_error **error_out);
KV_API kv_status kv_stream_send_async(kv_client *client, const char *stream,
                                      KV_OPTIONAL const char *user, const char *message_json,
                                      size_t length, const char *options, kv_answer_fn done,
                                      void *context, kv_free_fn free_context,
                                      kv_request **request_out, kv_error **error_out);

/**
 * Subscribes to a part. It works as kv_store_subscribe() with two differences: `on_next` receives
 * `{"event":"message","message":…}`, and messages that the backend no longer has are not fetched, but reported as `missed`.
 *
 * @return KV_OK, KV_MISUSE (not registered), KV_NO_USER, KV_UNSUPPORTED (no backend), KV_INTERNAL (no thread for
 *         callbacks)
 */
KV_API kv_status kv_stream_subscribe(kv_client *client, const char *stream,
                                     KV_OPTIONAL const char *user, KV_OPTIONAL kv_event_fn on_ready,
                                     KV_OPTIONAL kv_event_fn on_next,
                                     KV_OPTIONAL kv_event_fn on_status,
                                     KV_OPTIONAL kv_event_fn on_error, void *context,
                                     kv_free_fn free_context, kv_subscription **subscription_out,
                                     kv_error **error_out);

/** @} */

/** @defgroup transaction Transactions
 *  A transaction reads and writes several stores of one client and tag, all at once or not at all. It is local: its writes
 *  are queued in their order when it commits, and sent like any other pending writes.
 *
 *  Reads see the data as it was when the transaction began, with its own writes on top. Nothing is locked, so the
 *  application may take its time, for instance to ask a network. If data that the transaction has read was changed before it
 *  commits, by a save, a pull, live data or another process, the commit gives #KV_CONFLICT and writes nothing. This includes
 *  queries: it is a conflict if a query would now find an entity that it did not find before.
 *  Entities that are written without being read are written as by kv_store_save().
 *  Observers receive one event. While a transaction is open, the log of the file grows: end it soon.
 *  @{ */

typedef struct kv_transaction kv_transaction;

/**
 * The body of a transaction; see kv_client_transaction().
 *
 * @return KV_OK to commit; any other status rolls back, and kv_client_transaction() returns it
 */
typedef kv_status (*kv_transaction_fn)(void *context, kv_transaction *transaction);

/**
 * Runs a function in a transaction and commits it. If data that it has read was changed meanwhile, it runs the function
 * again in a new transaction, after a short random pause.
 *
 * @param options  `tag` (by default the client's), `retries` (default 100), `timeout` (seconds; default 60). NULL:
 *                 none
 * @param body     called on this thread, with no lock held, perhaps several times; it must neither commit nor close the
 *                 transaction
 * @return KV_OK; KV_CONFLICT (the data was changed each time); KV_CANCELLED (the client was closed); KV_MISUSE; KV_INVALID;
 *         KV_STORAGE, KV_FULL, KV_BUSY; or what `body` returned
 */
KV_API kv_status kv_client_transaction(kv_client *client, const char *options,
                                       kv_transaction_fn body, void *context,
                                       kv_error **error_out);

/**
 * Begins a transaction. End it with kv_transaction_commit() or kv_transaction_close(). CONSTRUCTOR
 *
 * @param options  `tag`: by default the client's. NULL: none
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_STORAGE, KV_CORRUPT, KV_FULL, KV_BUSY
 */
KV_API kv_status kv_transaction_begin(kv_client *client, const char *options,
                                      kv_transaction **transaction_out, kv_error **error_out);

/** Finds one entity as the transaction sees it. `json_out` must not be NULL.
 *  @return KV_OK, KV_NOT_FOUND, KV_INVALID (empty id), KV_STORAGE; KV_MISUSE: the transaction has ended, or the store is of
 *          another client or tag, or a network store */
KV_API kv_status kv_transaction_find_by_id(kv_transaction *transaction, kv_store *store,
                                           const char *id, char **json_out, size_t *length_out,
                                           kv_error **error_out);

/** Finds entities as the transaction sees them. @param query NULL: all @param cursor_out its entities are read while the
 *  transaction lasts, #KV_MISUSE afterwards
 *  @return what kv_transaction_find_by_id() returns */
KV_API kv_status kv_transaction_find(kv_transaction *transaction, kv_store *store, kv_query *query,
                                     kv_cursor **cursor_out, kv_error **error_out);

/** Counts entities as the transaction sees them. @param query NULL: all @param count_out must not be NULL
 *  @return what kv_transaction_find_by_id() returns */
KV_API kv_status kv_transaction_count(kv_transaction *transaction, kv_store *store, kv_query *query,
                                      int64_t *count_out, kv_error **error_out);

/** Saves one entity with the transaction; see kv_store_save(). @param json_out receives the entity as it will be stored; may
 *  be NULL
 *  @return what kv_transaction_find_by_id() returns; KV_INVALID (no entity; the error has a `position`) */
KV_API kv_status kv_transaction_save(kv_transaction *transaction, kv_store *store,
                                     const char *entity_json, size_t length,
                                     KV_OPTIONAL char **json_out, size_t *length_out,
                                     kv_error **error_out);

/** Saves one entity on a condition, the option `if` of kv_store_save(). If the condition does not hold for the entity as the
 *  transaction sees it, the call gives #KV_CONFLICT. The entity counts as read. Entities that the transaction itself has
 *  written have no version yet.
 *  @param options `{"if":…}`, or NULL */
KV_API kv_status kv_transaction_save_if(kv_transaction *transaction, kv_store *store,
                                        const char *entity_json, size_t length, const char *options,
                                        KV_OPTIONAL char **json_out, size_t *length_out,
                                        kv_error **error_out);

/** Removes one entity with the transaction. @param count_out receives 1, or 0 if there is none; may be NULL
 *  @return what kv_transaction_find_by_id() returns */
KV_API kv_status kv_transaction_remove_by_id(kv_transaction *transaction, kv_store *store,
                                             const char *id, KV_OPTIONAL int64_t *count_out,
                                             kv_error **error_out);

/** Removes one entity on a condition; see kv_transaction_save_if(). @param options `{"if":…}`, or NULL */
KV_API kv_status kv_transaction_remove_by_id_if(kv_transaction *transaction, kv_store *store,
                                                const char *id, const char *options,
                                                KV_OPTIONAL int64_t *count_out,
                                                kv_error **error_out);

/** Removes the entities that match with the transaction. @param query NULL: all @param count_out may be NULL
 *  @return what kv_transaction_find_by_id() returns */
KV_API kv_status kv_transaction_remove(kv_transaction *transaction, kv_store *store,
                                       kv_query *query, KV_OPTIONAL int64_t *count_out,
                                       kv_error **error_out);

/** Changes members of the entities that match with the transaction; see kv_store_update(). @param json_out may be NULL
 *  @return what kv_transaction_find_by_id() returns; KV_INVALID as kv_store_update() */
KV_API kv_status kv_transaction_update(kv_transaction *transaction, kv_store *store,
                                       kv_query *query, const char *update_json, size_t length,
                                       KV_OPTIONAL char **json_out, size_t *length_out,
                                       kv_error **error_out);

/**
 * Writes all changes in one atomic step, which is on disk when this returns, and ends the transaction, even if it fails. The
 * handle must still be closed.
 *
 * @return KV_OK, KV_CONFLICT (data that was read has changed; nothing was written), KV_MISUSE (it has ended), KV_STORAGE, KV_FULL,
 *         KV_BUSY
 */
KV_API kv_status kv_transaction_commit(kv_transaction *transaction, kv_error **error_out);

/** Closes a transaction. If it was not committed, it has written nothing. NULL is harmless. DESTRUCTOR */
KV_API void kv_transaction_close(KV_OPTIONAL kv_transaction *transaction);

/** @} */

/** @defgroup cursor Cursors
 *  A cursor gives the entities of a find one after the other, as they were when the find ran. A cursor over the
 *  local store holds a snapshot of it: close it soon.
 *
 *  For a damaged entity the cursor gives #KV_CORRUPT once, with the id in the error; the next call continues after it. A
 *  damaged entity counts as matching every filter, because its content is unknown. @{ */

/**
 * Gives the next entity.
 *
 * @param json_out  borrowed until the next call on this cursor, closing it or its client included;
 *                  several threads that share a cursor must therefore take turns
 * @return KV_OK, KV_DONE (no more; json_out receives NULL), KV_MISUSE, KV_STORAGE, KV_CORRUPT (the call may be repeated)
 */
KV_API kv_status kv_cursor_next(kv_cursor *cursor, const char **json_out, size_t *length_out,
                                kv_error **error_out);

/**
 * Gives the next entities as one JSON array.
 *
 * @param limit      the maximum number; 0: all that are left
 * @param json_out   borrowed as by kv_cursor_next()
 * @param count_out  how many; may be NULL
 * @return KV_OK, KV_DONE (none left; json_out receives "[]"), KV_MISUSE, KV_STORAGE, KV_CORRUPT (the call may be repeated)
 */
KV_API kv_status kv_cursor_next_page(kv_cursor *cursor, uint32_t limit, const char **json_out,
                                     size_t *length_out, KV_OPTIONAL uint32_t *count_out,
                                     kv_error **error_out);

/** Closes a cursor. NULL is harmless. DESTRUCTOR */
KV_API void kv_cursor_close(KV_OPTIONAL kv_cursor *cursor);

/** @} */

/** @defgroup results Results that load little by little
 *  A list of what a query found. Which records it has, and in which order, is fixed by the fetch; it takes 8 bytes for each
 *  record of a local store. What the records hold is read in batches when it is asked for, each batch as the records are at
 *  that moment, and kept in a cache of limited size. No snapshot is held in between, so results may stay open for as
 *  long as they are shown. docs/results.md tells more. @{ */

/** Values of `state_out`: what became of a record between the fetch and the moment when it was read. */
enum {
  KV_RECORD_UNCHANGED = 0, /**< It is as it was, as far as is known. */
  KV_RECORD_CHANGED = 1,   /**< It was changed: what is shown is newer than the order and the filter. */
  KV_RECORD_DELETED = 2    /**< It is not there any more. */
};

/**
 * Fetches what a query finds, as a list.
 *
 * @param request_json  `{"resultType":"object","fetchBatchSize":100,"cacheBytes":4194304}`; all members are optional. NULL: {}.
 *                      `resultType`: `object`, `objectId` (each record is its id as a JSON text), `dictionary` (the
 *                      query's fields, or all but the reserved members) or `count` (one number). With `dictionary` also
 *                      `"distinct":true` (the combinations of values that the query's fields have), or
 *                      `"groupBy":["state"],"aggregates":{"n":"count"}` as in kv_store_group(), and of groups
 *                      `"having":{"n":{"$gt":5}}`, a filter of the rows. Sort, skip and limit of the query are then those
 *                      of the rows. `returnsObjectsAsFaults`: of a read of the backend, the ids come at once, and the records
 *                      of a batch when one of them is touched, with one request; by default in network stores
 * @param query         NULL: all
 * @param results_out   close it with kv_results_close()
 * @return what kv_store_find() returns
 */
KV_API kv_status kv_store_results(kv_store *store, KV_OPTIONAL const char *request_json,
                                  size_t length, kv_query *query, const char *options,
                                  kv_results **results_out, kv_error **error_out);
/** The same; kv_request_results() gives the results. A Cache store gives those of the backend only. */
KV_API kv_status kv_store_results_async(kv_store *store, KV_OPTIONAL const char *request_json,
                                        size_t length, kv_query *query, const char *options,
                                        kv_answer_fn done, void *context, kv_free_fn free_context,
                                        kv_request **request_out, kv_error **error_out);

/** Gives the number of records. It never changes. @return KV_OK, KV_MISUSE */
KV_API kv_status kv_results_count(kv_results *results, int64_t *count_out, kv_error **error_out);

/**
 * Gives the record at a position, counted from 0. Reads it, with the rest of its batch, unless it is in the cache.
 *
 * @param json_out   borrowed until the next call on these results, closing them or their client included; several threads
 *                   that share results must therefore take turns
 * @param state_out  receives a `KV_RECORD_…`; may be NULL
 * @return KV_OK, KV_DONE (there is no such position; json_out receives NULL), KV_NOT_FOUND (the record was
 *         deleted), KV_MISUSE, KV_STORAGE, KV_CORRUPT (this record is damaged)
 */
KV_API kv_status kv_results_get(kv_results *results, uint64_t position, const char **json_out,
                                size_t *length_out, KV_OPTIONAL int32_t *state_out,
                                kv_error **error_out);

/**
 * Gives several records as a JSON array, with `null` for those that were deleted.
 *
 * @param limit       the maximum number of records; the array is shorter where the list ends
 * @param json_out    borrowed as by kv_results_get()
 * @param states_out  receives a `KV_RECORD_…` for each record, so it must have room for `limit` of them; may be NULL
 * @return KV_OK, KV_DONE (the list ends before `position`; json_out receives "[]"), KV_MISUSE, KV_STORAGE,
 *         KV_CORRUPT (one of the records is damaged)
 */
KV_API kv_status kv_results_page(kv_results *results, uint64_t position, uint32_t limit,
                                 const char **json_out, size_t *length_out,
                                 KV_OPTIONAL int32_t *states_out, kv_error **error_out);

/** Forgets what was read: each record is read again when it is next asked for. The list stays as it is.
 *  @return KV_OK, KV_MISUSE */
KV_API kv_status kv_results_refresh(kv_results *results, kv_error **error_out);

/**
 * Has a list follow its query over the local data, until the subscription or the client is closed: right before each event the
 * list becomes what the query finds now. So during `receive` the positions of the event are those of the list.
 *
 * An event is `{"count":n,"deletions":[…],"moves":[{"from":n,"to":n}],"insertions":[…],"modifications":[…]}`. To get from the
 * list before to the list now: remove what is at the deletions and the `from` of moves, positions in the list before; insert, in
 * ascending order of the position in the list now, what is at the insertions and the `to` of moves; then show anew what is at
 * the modifications, positions in the list now. No event has records: the list has them.
 *
 * The first event tells what has changed since the list was fetched, if anything has. Changes that come while `receive` is busy
 * become one event. An event with an error says that the data could not be read; a later event then has what was missed. Eight
 * bytes are held for each record; when something of the collection has changed, the query runs again.
 *
 * A list of kv_context_fetch() follows the unsaved changes of its context as well. Objects that others have changed, and that have
 * no unsaved changes, become faults before the event; a save still checks the version that the application has read. Of a custom
 * store, only the context's own changes are known. No event follows the end of the context.
 *
 * @param receive  see @ref subscription, for this and what follows
 * @return KV_OK, KV_MISUSE (also if the list is followed already), KV_NO_USER, KV_UNSUPPORTED (a list of groups, a count, what a
 *         relationship leads to, a list that comes from the backend, or a page that it has chosen), KV_STORAGE, KV_FULL, KV_INTERNAL
 */
KV_API kv_status kv_results_observe(kv_results *results, kv_event_fn receive, void *context,
                                    kv_free_fn free_context, kv_subscription **subscription_out,
                                    kv_error **error_out);

/** Tells what reading has cost. @param json_out receives `{"reads":3,"cachedRecords":300,"cachedBytes":41210}`, where
 *  `reads` counts batches @return KV_OK, KV_MISUSE, KV_STORAGE */
KV_API kv_status kv_results_statistics(kv_results *results, char **json_out, size_t *length_out,
                                       kv_error **error_out);

/** Closes results. NULL is harmless. DESTRUCTOR */
KV_API void kv_results_close(KV_OPTIONAL kv_results *results);

/** @} */

/** @defgroup context Contexts
 *  A context is a working copy of objects of several collections. It collects objects that were inserted, updated and deleted,
 *  and saves them in one step, if the objects are still what the context has read. It shows an object as it first read it, with
 *  its own changes, until it is refreshed. Nothing is locked meanwhile. docs/contexts.md tells more.
 *
 *  Objects are named by their collection and their id (an integer id by its digits). Objects that were fetched are *faults*:
 *  reading one reads the rest of its batch, too. A context may be used from several threads, which wait for each other. Calls
 *  that read may ask the backend, if the context is one of `auto`, `cache` or `network` stores.
 *
 *  Each function gives KV_MISUSE for a closed context. @{ */

typedef struct kv_context kv_context;

/**
 * Opens a context. CONSTRUCTOR
 *
 * @param options  NULL, or a JSON object, all of whose members are optional. `type`: that of the stores (`sync`); `tag`: by
 *                 default the client's; `mergePolicy`: what a save does with objects that were changed since they were read:
 *                 `error` (the default: the save fails), `storeTrumps`, `objectTrumps` (property by property), `overwrite`,
 *                 `rollback`; `fetchBatchSize` (100); `cacheBytes` (4194304); `relationships`, besides those of the client's
 *                 schema: `{"comments":{"post":{"to":"posts","key":"postId"}},"posts":{"comments":{"to":"comments",
 *                 "inverseKey":"postId"}}}`; `store` and `storeOptions`: a type of stores of the application's own, by default that of
 *                 the client
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_STORAGE, KV_CORRUPT, KV_FULL, KV_BUSY, and what the store's `load` fails with
 */
KV_API kv_status kv_context_open(kv_client *client, const char *options, kv_context **context_out,
                                 kv_error **error_out);

/** Closes a context; its unsaved changes are lost. Lists that it gave stay open and give KV_MISUSE. NULL is harmless.
 *  DESTRUCTOR */
KV_API void kv_context_close(KV_OPTIONAL kv_context *objects);

/**
 * Adds a new object, which the next save writes.
 *
 * @param object_json  a JSON object. If it has no id, it gets one, which never changes; that of a store that chooses ids
 *                     itself is temporary until the save, and names the object for this context ever after
 * @param id_out       receives the id; may be NULL
 * @return KV_OK; KV_CONFLICT (the context has an object with this id); KV_INVALID (no object, or one that must have its id);
 *         KV_MISUSE
 */
KV_API kv_status kv_context_insert(kv_context *objects, const char *collection,
                                   const char *object_json, size_t length,
                                   KV_OPTIONAL char **id_out, size_t *length_out,
                                   kv_error **error_out);

/** Gives an object with its unsaved changes. A member that is absent is null. @param json_out must not be NULL
 *  @return KV_OK, KV_NOT_FOUND (there is none, or the context deletes it), KV_MISUSE, KV_INVALID, KV_STORAGE, KV_CORRUPT,
 *          and the errors of the backend */
KV_API kv_status kv_context_get(kv_context *objects, const char *collection, const char *id,
                                char **json_out, size_t *length_out, kv_error **error_out);

/** Changes some members of an object; the others stay. The id cannot be changed.
 *  @return what kv_context_get() returns */
KV_API kv_status kv_context_update(kv_context *objects, const char *collection, const char *id,
                                   const char *members_json, size_t length, kv_error **error_out);

/** Replaces an object: members that are not named are removed, except the id and those that the backend makes.
 *  @return what kv_context_get() returns */
KV_API kv_status kv_context_set(kv_context *objects, const char *collection, const char *id,
                                const char *object_json, size_t length, kv_error **error_out);

/** Deletes an object at the next save. @return what kv_context_get() returns */
KV_API kv_status kv_context_delete(kv_context *objects, const char *collection, const char *id,
                                   kv_error **error_out);

/** Tells what the context knows of an object, without reading it. @param json_out receives
 *  `{"id":"…","state":"updated","isFault":false,"isTemporary":false,"version":7}`; the states are `unchanged`, `inserted`,
 *  `updated` and `deleted`; the version is the one that was read, or null @return KV_OK, KV_MISUSE, KV_INVALID */
KV_API kv_status kv_context_status(kv_context *objects, const char *collection, const char *id,
                                   char **json_out, size_t *length_out, kv_error **error_out);

/** Lists the unsaved changes. @param json_out receives `{"inserted":[{"collection":"notes","id":"…"}],"updated":[],
 *  "deleted":[]}`, each in the order of the first change @return KV_OK, KV_MISUSE */
KV_API kv_status kv_context_changes(kv_context *objects, char **json_out, size_t *length_out,
                                    kv_error **error_out);

/**
 * Fetches what a query finds, as a list that reads through the context: see kv_results_get(). The list shows unsaved changes
 * that are made later, but its objects and their order are fixed.
 *
 * @param request_json  as in kv_store_results(), and `returnsObjectsAsFaults` (true; false: reads the objects at once, as far
 *                      as the cache has room), `includesPendingChanges` (true; groups are those of what is stored in any
 *                      case), `relationshipKeyPathsForPrefetching` (`["post","comments.author"]`: follows each relationship
 *                      with one query). NULL: {}
 * @param query         NULL: all
 * @param results_out   close it with kv_results_close()
 * @return what kv_store_find() returns
 */
KV_API kv_status kv_context_fetch(kv_context *objects, const char *collection,
                                  KV_OPTIONAL const char *request_json, size_t length,
                                  kv_query *query, kv_results **results_out, kv_error **error_out);

/** Gives the objects that a relationship leads to, those of unsaved changes included. It is followed for all objects that were
 *  read together with this one, in one query. A to-one relationship gives one object or none.
 *  @param request_json `{"resultType":"object"}`, or `objectId`. NULL: {} @param results_out close it with kv_results_close()
 *  @return what kv_context_get() returns; KV_INVALID (there is no such relationship) */
KV_API kv_status kv_context_related(kv_context *objects, const char *collection, const char *id,
                                    const char *relationship, KV_OPTIONAL const char *request_json,
                                    size_t length, kv_results **results_out, kv_error **error_out);

/** Lists the relationships of a collection. @param json_out receives `[{"name":"post","to":"posts","toMany":false}]`
 *  @return KV_OK, KV_MISUSE, KV_INVALID */
KV_API kv_status kv_context_relationships(kv_context *objects, const char *collection,
                                          char **json_out, size_t *length_out,
                                          kv_error **error_out);

/** Tells that the application holds objects: a save checks the version that the application has seen of them, even if they
 *  have left the cache meanwhile. Release them as often. @param ids_json `[{"collection":"notes","id":"…"}]`
 *  @return KV_OK, KV_MISUSE, KV_INVALID */
KV_API kv_status kv_context_hold(kv_context *objects, const char *ids_json, size_t length,
                                 kv_error **error_out);

/** Ends what kv_context_hold() began. @return KV_OK, KV_MISUSE, KV_INVALID */
KV_API kv_status kv_context_release(kv_context *objects, const char *ids_json, size_t length,
                                    kv_error **error_out);

/** Makes objects faults again, so that they are read as they are now. @param ids_json as kv_context_hold(); NULL: all
 *  @param keep_changes 1: unsaved changes of them are laid over what is stored now; 0: they are dropped
 *  @return what kv_context_get() returns */
KV_API kv_status kv_context_refresh(kv_context *objects, KV_OPTIONAL const char *ids_json,
                                    size_t length, int32_t keep_changes, kv_error **error_out);

/** Begins a group of edits that are undone together; groups may be nested, and the outermost counts. Outside of a group each
 *  edit is one. @return KV_OK, KV_MISUSE */
KV_API kv_status kv_context_undo_begin(kv_context *objects, kv_error **error_out);

/** Ends a group. @return KV_OK, KV_MISUSE (no group is open) */
KV_API kv_status kv_context_undo_end(kv_context *objects, kv_error **error_out);

/** Takes the last group of edits back, also if it was saved; what others have changed since then stays.
 *  @return KV_OK, KV_DONE (there is nothing to undo), and what kv_context_get() returns */
KV_API kv_status kv_context_undo(kv_context *objects, kv_error **error_out);

/** Makes the edits again that were undone last. @return what kv_context_undo() returns */
KV_API kv_status kv_context_redo(kv_context *objects, kv_error **error_out);

/** Drops all unsaved changes. @return KV_OK, KV_MISUSE */
KV_API kv_status kv_context_rollback(kv_context *objects, kv_error **error_out);

/**
 * Writes all changes in one transaction, which is on disk when this returns, and queues them for the backend. Each object must
 * have the version that the context has read, whatever may have changed it: another context, another process, a pull or live
 * data. If one has not, the merge policy decides. Changes of members that only the backend makes do not count.
 *
 * @param json_out  receives `{"inserted":[…],"updated":[…],"deleted":[…],"merged":[…],"permanentIds":[{"collection",
 *                  "temporary","id"}]}`, with `{"collection","id"}` for each object; `merged`: those whose conflict the policy
 *                  decided. May be NULL
 * @return KV_OK; KV_CONFLICT (the policy is `error`: nothing was written, the changes stay, kv_context_conflicts() tells more);
 *         KV_INVALID (an object does not fit its model); KV_UNSUPPORTED (a context of network stores); KV_MISUSE;
 *         KV_STORAGE, KV_FULL, KV_BUSY, KV_CORRUPT
 */
KV_API kv_status kv_context_save(kv_context *objects, KV_OPTIONAL char **json_out,
                                 size_t *length_out, kv_error **error_out);

/** Lists the conflicts of the last save. @param json_out receives `[{"collection","id","readVersion","storedVersion","read",
 *  "object","stored"}]`: both versions, the object as the context read it, as it wants it and as it is stored; null for
 *  one that is new, that the context deletes, or that was deleted @return KV_OK, KV_MISUSE */
KV_API kv_status kv_context_conflicts(kv_context *objects, char **json_out, size_t *length_out,
                                      kv_error **error_out);

/** Decides a conflict of the last save, so that the next one writes the object unless it has changed again.
 *  @param resolution_json `{"use":"stored"}` (drops the change), `{"use":"object"}` or
 *  `{"use":"merged","object":{…}}` (null: deletes it)
 *  @return KV_OK, KV_NOT_FOUND (the last save had no conflict of this object), KV_MISUSE, KV_INVALID */
KV_API kv_status kv_context_resolve(kv_context *objects, const char *collection, const char *id,
                                    const char *resolution_json, size_t length,
                                    kv_error **error_out);

/** Decides a conflict of a save: calls kv_context_resolve(), or does nothing and so lets the save fail.
 *  `conflict_json` is one of kv_context_conflicts(), borrowed until the function returns. */
typedef void (*kv_merge_fn)(void *context, kv_context *objects, const char *conflict_json);

/** Saves; calls `decide` for each conflict, on this thread and with no lock held, and tries again as long as all were decided.
 *  @return what kv_context_save() returns */
KV_API kv_status kv_context_save_deciding(kv_context *objects, kv_merge_fn decide, void *context,
                                          KV_OPTIONAL char **json_out, size_t *length_out,
                                          kv_error **error_out);

/** Asks a store that chooses ids for those of new objects, before a save does. @param json_out receives the member
 *  `permanentIds` of kv_context_save(); may be NULL @return KV_OK, KV_MISUSE, and the errors of the store */
KV_API kv_status kv_context_obtain_ids(kv_context *objects, KV_OPTIONAL char **json_out,
                                       size_t *length_out, kv_error **error_out);

/** Tells the names that an object has. @param json_out receives `{"collection","id","reference","uri","isTemporary"}`. The
 *  reference is what the store knows the object by: a text, an integer or an array. The URI names it in each context of the
 *  store, also after a relaunch @return KV_OK, KV_MISUSE, KV_INVALID */
KV_API kv_status kv_context_describe(kv_context *objects, const char *collection, const char *id,
                                     char **json_out, size_t *length_out, kv_error **error_out);

/** Tells what a URI names, as kv_context_describe() does. The object need not exist.
 *  @return KV_OK, KV_INVALID (not the URI of an object), KV_NOT_FOUND (of another store), KV_MISUSE */
KV_API kv_status kv_context_locate(kv_context *objects, const char *uri, char **json_out,
                                   size_t *length_out, kv_error **error_out);

/** Tells what the context has cost. @param json_out receives `{"reads":3,"relationshipReads":1,"fetches":1,"saves":0,
 *  "cachedObjects":300,"cachedBytes":41210,"changes":0,"held":0}` @return KV_OK, KV_MISUSE */
KV_API kv_status kv_context_statistics(kv_context *objects, char **json_out, size_t *length_out,
                                       kv_error **error_out);

/** @} */

/** @defgroup backend Backends
 *  A program can register a backend of its own: functions that read and write records of a service, file or database that
 *  the library does not know. A client opened with `"backend":"<name>"` works with it as with any other: sync, auto,
 *  cache and network stores, pending writes, quarantine, conflicts, observers, deltas, paging. docs/backends.md describes
 *  each request and answer with examples.
 *
 *  - **Requests.** The library calls a function with the number of a request and its JSON. The function, or code that it
 *    hands the number to, completes the request by kv_backend_complete(): from any thread, at any time, also before the
 *    function returns. A request that is not completed ends with #KV_TIMEOUT at the deadline of the call that it is part
 *    of (the option `timeout`, 60 seconds).
 *  - **Numbers, not pointers.** Completing a request twice, after its deadline, after the client was closed, or with an unknown
 *    number gives #KV_NOT_FOUND and is harmless.
 *  - **Threads.** Functions are called on threads of the library's that do nothing else, up to `requestsAtOnce` at the
 *    same time, with no lock held; `live` on others, and `cancel` on one more, one call at a time. They may call any function of the library,
 *    also close the client. One that never returns keeps its thread, nothing else.
 *  - **Invalid answers** – not JSON, a missing member, a record without its id, more results than writes – fail the
 *    operation with #KV_PROTOCOL. A write whose result is missing stays pending and is sent again.
 *  - There are no users: `kv_user_…` functions give #KV_UNSUPPORTED, and kv_live_register() needs no login.
 *  @{ */

/**
 * Starts a request, or carries it out at once. Exactly one kv_backend_complete() should follow, unless the
 * request is cancelled.
 *
 * @param context  as given to kv_backend_register()
 * @param request  its number, never 0, never given twice in this process
 * @param json     what is asked for; borrowed until the function returns; a NUL follows
 */
typedef void (*kv_backend_fn)(void *context, uint64_t request, const char *json, size_t length);

/** Reports that a request was cancelled or that its deadline has passed. It may be called just before the function of the
 *  request, while it runs, and at the same time as its completion. A host that has to know of every end asks
 *  kv_backend_is_waiting() once it has noted the number: what `cancel` told before is then told by that. */
typedef void (*kv_backend_cancel_fn)(void *context, uint64_t request);

/** The functions of a backend. Members may be added at the end; those that are NULL, or not within `size`, are missing. */
typedef struct kv_backend {
  uint32_t size;     /**< Set by the caller to sizeof(kv_backend). */
  uint32_t reserved; /**< 0. */
  /** A page of a collection, required. `{"collection":…,"filter":{…},"sort":{…},"skip":n,"limit":n,"pageSize":n,
   *  "after":token|null}` is answered by `{"records":[…],"next":token|null,"token":text|null}`. `filter` is there if there
   *  is one; `sort`, `skip` and `limit` only for backends that evaluate queries. `next` asks for the page after this one
   *  as `after`; any JSON value. `token`, on the first page, names the state of the collection before that page was read,
   *  for `changes`. */
  kv_backend_fn fetch;
  /** Some records, required. `{"collection":…,"ids":[…]}` is answered by `{"records":[…]}`: those that there are, in any
   *  order. */
  kv_backend_fn fetch_ids;
  /** What has changed since a token, or NULL: then everything is read each time. `{"collection":…,"since":token}` is
   *  answered by `{"changes":[{"upsert":record}|{"delete":id,"version":…},…],"token":text,"more":bool}`, in the order in which it
   *  happened, or by `{"unknown":true}` if the token is too old or of other data. */
  kv_backend_fn changes;
  /** A batch of writes, required. `{"collection":…,"writes":[{"op":"create"|"update"|"delete","id":…,"record":{…},
   *  "if":version|null},…]}` is answered by `{"results":[…]}`, one for each write in its order: `{"stored":record}`,
   *  `{"deleted":bool}`, `{"refused":{"message":…,"status":n}}` (for good: the write is quarantined), `{"conflict":record|null}`
   *  (what is there does not meet the condition, or a record to be created exists) or `{"later":{"message":…,"after":seconds}}`.
   *  `if`: carry it out only on this version; null: only if there is no such record; absent: whatever is there. An update
   *  of what does not exist creates it. */
  kv_backend_fn write;
  /** Waits for changes by others, or NULL: then live data is #KV_UNSUPPORTED. `{"collections":[…],"after":token|null}` is
   *  answered, as soon as there is something or after some time, by `{"changes":[{"collection":…,"upsert":record}|
   *  {"collection":…,"delete":id},…],"next":token,"incomplete":bool}`; with `after` null at once, by the present token.
   *  `next` is any JSON value but null. `incomplete` says that changes after `after` are no longer known: subscribers are
   *  told to read the collection. */
  kv_backend_fn live;
  /** May be NULL. */
  kv_backend_cancel_fn cancel;
} kv_backend;

/**
 * Registers a backend for this process, so that clients can be opened with it.
 *
 * A name can be used once: to replace a backend, unregister it first. Clients that were opened with it keep using it.
 *
 * @param name              not empty
 * @param description_json  a JSON object, or NULL. Its members, with their defaults: `id` ("_id": the member that is the id;
 *   `{"name":…,"kind":"integer"}`; or an array of several), `version` (none: where the version is; `"rev"`, or
 *   `{"path":"rev"|["meta","rev"],"kind":"text"|"integer","ordered":bool}`), `backendMembers` ([]: names that are no content),
 *   `permissions` and `creator` in it (none), `queries` (false: it gives all of a
 *   collection, and filter, order and page are evaluated here; a filter is still given, as a hint what may be left out),
 *   `conditions` (true: it keeps the conditions of writes), `pageSize` (1,000), `idsPerRequest` (100), `writesPerRequest`
 *   (100), `requestsAtOnce` (4), `maxAnswerBytes` (104,857,600)
 * @param length            bytes, or #KV_NUL_TERMINATED
 * @param functions         copied
 * @param free_context      may be NULL, else it is called exactly once: when the backend was unregistered, its last client
 *                          was closed and its functions have returned, on any thread; or before this returns when it fails
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_CONFLICT (the name is taken)
 */
KV_API kv_status kv_backend_register(const char *name, KV_OPTIONAL const char *description_json,
                                     size_t length, const kv_backend *functions, void *context,
                                     kv_free_fn free_context, kv_error **error_out);

/**
 * Unregisters a backend. Clients that were opened with it go on using it; no new client can be opened with it.
 *
 * @return KV_OK, KV_MISUSE, KV_NOT_FOUND
 */
KV_API kv_status kv_backend_unregister(const char *name, kv_error **error_out);

/**
 * Completes a request. It may be called from any thread and never waits.
 *
 * @param request  its number
 * @param status   #KV_OK with the answer; or how the whole request failed. It passes, and is tried again when there is a
 *   reason to: #KV_NETWORK and #KV_TIMEOUT (no answer: an auto store reads locally then), #KV_SERVER and #KV_BUSY (not now).
 *   The backend's last word: #KV_INVALID, #KV_NOT_FOUND, #KV_CONFLICT, #KV_UNAUTHORIZED, #KV_FORBIDDEN, #KV_UNSUPPORTED,
 *   #KV_TOO_LARGE. Any other is #KV_PROTOCOL.
 * @param json     the answer, copied; of a failure NULL or `{"message":…,"after":seconds}`
 * @param length   bytes, or #KV_NUL_TERMINATED
 * @return KV_OK (also if the answer is invalid, which the operation reports), KV_NOT_FOUND (it has no waiter),
 *         KV_INVALID (the length), KV_TOO_LARGE (the request has failed with that)
 */
KV_API kv_status kv_backend_complete(uint64_t request, kv_status status,
                                     KV_OPTIONAL const char *json, size_t length,
                                     kv_error **error_out);

/**
 * Tells whether anybody still waits for a request: it was neither completed nor cancelled, and its deadline has not passed.
 * A function that works for long may ask from time to time. It may be called from any thread and never waits.
 *
 * @return 1 or 0; 0 for a number that never existed
 */
KV_API int32_t kv_backend_is_waiting(uint64_t request);

/** @} */

/** @defgroup store_types Stores of your own
 *  A custom store is where the application keeps its records instead of the library's local database: a file of its own, an
 *  existing database, a service. Clients are opened with `"store":"<name>"`, and nothing else of their code changes. Of its
 *  data nothing is kept here: no cache, no queue, no synchronisation. docs/stores.md describes each request and answer.
 *
 *  Requests, answers, failures, deadlines and threads are those of backends: kv_backend_complete() completes a request.
 *  @{ */

/** The functions of a custom store. Members may be added at the end; those that are NULL, or not within `size`, are
 *  missing. */
typedef struct kv_store_type {
  uint32_t size;     /**< Set by the caller to sizeof(kv_store_type). */
  uint32_t reserved; /**< 0. */
  /** Loads the store when a client or a context is opened, required. `{"appKey":…,"dataDirectory":…,"tag":…,"options":{…},
   *  "timeout":seconds}` is answered by `{"type":name,"uuid":text}`: the name that it is registered by, and 1 to 64 letters,
   *  digits and hyphens that are the same each time that the same data is opened. */
  kv_backend_fn load;
  /** A page of a collection, required: as `fetch` of a #kv_backend. */
  kv_backend_fn fetch;
  /** Some records, required: as `fetch_ids` of a #kv_backend. */
  kv_backend_fn values;
  /** Writes changes all at once or not at all, required. `{"inserted":[{"collection":…,"id":…,"if":null,"record":{…}},…],
   *  "updated":[{"collection":…,"id":…,"if":version,"record":{…}},…],"deleted":[{"collection":…,"id":…,"if":version},…]}`
   *  is answered by `{"saved":[record|null,…],"deleted":[bool,…]}`, both of which may be left out: the records inserted and
   *  then those updated as they are now (null: as sent), and whether each record to be deleted existed. Or nothing was
   *  written: `{"conflicts":[{"collection":…,"id":…,"record":{…}|null},…]}` or `{"refused":{"message":…,"status":n}}`.
   *  `if`: as of a #kv_backend. */
  kv_backend_fn save;
  /** The ids of the objects that a relationship leads to, or NULL: then `fetch` is asked for those whose `keys` have the ids.
   *  `{"relationship":name,"collection":…,"target":…,"keys":[…],"ids":[…]}` is answered by `{"related":[[id,…],…]}`, an
   *  array for each id. */
  kv_backend_fn relationship;
  /** Chooses the ids of new records at their first save, or NULL: then the library makes them.
   *  `{"objects":[{"collection":…,"record":{…}},…]}` is answered by `{"ids":[…]}`, in the same order. */
  kv_backend_fn obtain_ids;
  /** May be NULL. */
  kv_backend_cancel_fn cancel;
} kv_store_type;

/**
 * Registers a type of stores for this process, so that clients can be opened with it by the option `"store":"<name>"`.
 *
 * A name can be used once, by a store or a backend: to replace a store, unregister it first. Clients that were opened with it
 * keep using it.
 *
 * @param name              not empty, not "local", which is the library's own database
 * @param description_json  a JSON object, or NULL: as for kv_backend_register()
 * @param length            bytes, or #KV_NUL_TERMINATED
 * @param functions         copied
 * @param free_context      may be NULL, else it is called exactly once: when the store was unregistered, its last client was
 *                          closed and its functions have returned, on any thread; or before this returns when it fails
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_CONFLICT (the name is taken)
 */
KV_API kv_status kv_store_type_register(const char *name, KV_OPTIONAL const char *description_json,
                                        size_t length, const kv_store_type *functions, void *context,
                                        kv_free_fn free_context, kv_error **error_out);

/**
 * Unregisters a type of stores. Clients that were opened with it go on using it; no new client can be opened with it.
 *
 * @return KV_OK, KV_MISUSE, KV_NOT_FOUND
 */
KV_API kv_status kv_store_type_unregister(const char *name, kv_error **error_out);

/**
 * Announces that records of a custom store were changed otherwise than by the library: by another program, for instance.
 *
 * Observed lists of contexts (kv_results_observe()) fetch again: they find what was inserted, drop what was removed, and objects
 * that have another version and no unsaved changes are read anew. The call does not wait for that. It may be made from the store's
 * own functions. Open clients keep a store whose name was unregistered; of that store nothing can be announced any more.
 *
 * @param name          the name that the store is registered by
 * @param changes_json  `[{"collection":…,"ids":[…]},…]`; without `ids` any records of the collection may have been changed. NULL:
 *                      any records
 * @param length        bytes, or #KV_NUL_TERMINATED
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_NOT_FOUND (no store is registered by this name)
 */
KV_API kv_status kv_store_type_announce(const char *name, KV_OPTIONAL const char *changes_json,
                                        size_t length, kv_error **error_out);

/** @} */

/** @defgroup migration Migrations of records
 *  A program can register a function that makes records of a former `schema` those of a new one, where the rules of the option
 *  `onSchemaChange` do not suffice. Clients are opened with its name:
 *  `"onSchemaChange":{"migrate":{…},"handler":"<name>"}`. docs/models.md describes the rules.
 *  @{ */

/** A record whose schema has changed. Everything in it is borrowed until the function returns; texts end with NUL, which their
 *  length does not count. */
typedef struct kv_migration {
  uint32_t size;            /**< Bytes of this struct in the loaded library; later members may follow. */
  uint32_t reserved;
  const char *former_model; /**< Its model in the former schema. */
  const char *model;        /**< Its model in the new schema. */
  const char *id;           /**< Its id, which stays. */
  const char *former;       /**< The record as it is stored, as JSON. */
  size_t former_length;
  const char *record;       /**< The record as the rules change it; it may lack what the new model requires. */
  size_t record_length;
} kv_migration;

/**
 * Makes a record one of the new schema.
 *
 * It is called on the thread that opens the local data (by kv_client_open(), or by kv_store_open() for another tag), once for each
 * record of each model that has changed, while that data is locked for other writers. It may be slow. On its thread nothing can be
 * opened, and no local data be written: such calls give #KV_MISUSE. It must not wait for another thread that opens or writes the
 * same data.
 *
 * @param text_out  receives, with #KV_OK, the whole record of the new model as JSON; NULL: it is as the rules change it. It may be
 *                  without its key, which stays, as do the members of the backend. With another status it may receive a sentence
 *                  that says why. Allocated by malloc() or strdup(); the library frees it
 * @return KV_OK; with any other status the local data stays as it was, and the call that opens it gives #KV_CONFLICT
 */
typedef kv_status (*kv_migration_fn)(void *context, const kv_migration *migration, char **text_out);

/**
 * Registers a function that migrates records, so that clients can be opened with its name in the option `onSchemaChange`.
 *
 * It runs when the schema that a client is opened with differs from that of the local data, in one transaction with the rules: an
 * error, an answer that is no record of the new model or has another key, and the end of the process leave everything as it was. A
 * name can be used once, until it is unregistered.
 *
 * @param name          not empty
 * @param free_context  may be NULL, else it is called exactly once: when the function was unregistered and its last client closed,
 *                      on any thread; or before this returns when it fails
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_CONFLICT (the name is taken)
 */
KV_API kv_status kv_migration_register(const char *name, kv_migration_fn migrate, void *context,
                                       kv_free_fn free_context, kv_error **error_out);

/**
 * Unregisters a function that migrates records. Clients that were opened with it keep it for other tags that they open.
 *
 * @return KV_OK, KV_MISUSE, KV_NOT_FOUND
 */
KV_API kv_status kv_migration_unregister(const char *name, kv_error **error_out);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* KVSTORE_H */
