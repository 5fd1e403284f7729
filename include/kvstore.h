/**
 * @file kvstore.h
 * libkvstore: an embeddable, offline-first data store that synchronises.
 *
 * A program opens a *client* (one application on one backend, one data directory), opens *stores*
 * on it (one collection each), and reads and writes *entities*: JSON objects with an `_id`. What is
 * written offline waits in a queue of *pending writes* until it is pushed.
 *
 * Rules that hold for every function, unless its own text says otherwise:
 *
 * - **Status.** Every function that can fail returns a ::kv_status. #KV_OK is 0; #KV_PARTIAL and
 *   #KV_DONE are the other two that are not failures.
 * - **Errors.** The last parameter, `kv_error **error_out`, may be NULL. When the status is a failure
 *   and it is not NULL it receives an error owned by the caller (kv_error_free()); otherwise it
 *   receives NULL.
 * - **Handles** are opaque, checked tokens, never pointers to memory. A NULL, foreign, closed or
 *   wrongly typed handle gives #KV_MISUSE. So does a handle inherited through fork(): a child
 *   process opens its own client, which works if no other thread was inside the library, or inside
 *   SQLite, at the moment of the fork (SQLite's process-wide locks do not survive it).
 * - **Threads.** Every function may be called from any thread, at the same time, on the same
 *   handle, also from inside a callback. A thread needs 512 KiB of stack.
 * - **Text in** is UTF-8, otherwise #KV_INVALID. Names, ids and options end with NUL. JSON comes with
 *   a length in bytes, or #KV_NUL_TERMINATED. It is copied (or consumed) before the call returns.
 * - **Dates** are text: ISO 8601, in UTC, with milliseconds, such as `"2026-02-03T04:05:06.789Z"`. Texts of
 *   this form are in the order of their moments. The bindings write and compare dates in this form, cut
 *   to milliseconds; see docs/dates-and-numbers.md.
 * - **Numbers** that a program gives must be in the range of 64-bit floating point, otherwise #KV_INVALID with a
 *   message that names the member. Those that are stored or that a backend sends are read whatever they are.
 * - **NULL** for a text, or for a place that a result has to go to, is #KV_MISUSE, unless it is marked
 *   #KV_OPTIONAL. Not marked, because they are optional everywhere: `options`, `length_out`, `error_out`, `done`,
 *   `context`, `free_context`, `request_out`, `subscription_out`, and a `query` that is not what a function is called
 *   on, where NULL selects everything.
 * - **Text out** through a `char **` is owned by the caller: kv_free(). It ends with NUL, which its
 *   length does not count. On failure it receives NULL. Text out through a `const char **` is
 *   borrowed; the function says until when.
 * - **Options** are a JSON object or NULL. An unknown key, or a value of the wrong type, is
 *   #KV_INVALID and the message names it. See docs/options.md for all keys. Options, queries and users
 *   are 16 MiB of JSON at the most (#KV_TOO_LARGE), nested up to 100 levels; entities may be as large
 *   as memory allows, nested up to 500 levels.
 * - The library installs no signal handler, raises no SIGPIPE in the host and never ends the
 *   process.
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

/** Marks a parameter that may be NULL. Stands for nothing; programs that read this header read it too. */
#define KV_OPTIONAL

#define KV_VERSION_MAJOR 0
#define KV_VERSION_MINOR 2
#define KV_VERSION_PATCH 0
/** The version of this header as one number: major * 1,000,000 + minor * 1,000 + patch. */
#define KV_VERSION_NUMBER (KV_VERSION_MAJOR * 1000000 + KV_VERSION_MINOR * 1000 + KV_VERSION_PATCH)

/** As a length: the text ends at its NUL. */
#define KV_NUL_TERMINATED ((size_t)-1)

/** What came of a call. The numbers never change their meaning. */
typedef int32_t kv_status;

/** Values of ::kv_status. Each one is a decision that a caller can take. */
enum {
  KV_OK = 0,            /**< Done. */
  KV_PARTIAL = 1,       /**< Done, except for the entities that the result lists with their errors. */
  KV_DONE = 2,          /**< A cursor has no more entities. */
  KV_MISUSE = 10,       /**< A NULL, closed, foreign or wrongly typed handle, or a missing pointer. */
  KV_INVALID = 11,      /**< An argument is not acceptable: malformed JSON, an unknown option, an empty id. */
  KV_NOT_FOUND = 12,    /**< No such entity, user or collection. */
  KV_CONFLICT = 13,     /**< The backend has it already, or a newer version of it. */
  KV_NO_USER = 14,      /**< Nobody is logged in, or another client has logged in somebody else. */
  KV_UNAUTHORIZED = 15, /**< Wrong credentials, or the session ended. Unsent work is kept. */
  KV_FORBIDDEN = 16,    /**< The user may not do this. */
  KV_PENDING = 17,      /**< Pending writes must be pushed or purged first. */
  KV_UNSUPPORTED = 18,  /**< This type of store, or this backend, can not do it. */
  KV_NETWORK = 20,      /**< No answer from the backend: offline, refused, cut. */
  KV_TIMEOUT = 21,      /**< The time given has passed. */
  KV_CANCELLED = 22,    /**< Cancelled by kv_request_cancel() or by closing the client. */
  KV_SERVER = 23,       /**< The backend answered with an error that no other code names. */
  KV_PROTOCOL = 24,     /**< The backend answered something that is no valid answer. */
  KV_TOO_LARGE = 25,    /**< A body, URL or head exceeds a limit of the client or of the backend (HTTP 413, 414, 431). */
  KV_STORAGE = 30,      /**< The local database refused, or the system has no memory, thread or descriptor left. */
  KV_CORRUPT = 31,      /**< The file is damaged, or not ours: it was left untouched. With an entity's id in the error: this
                             one is damaged and the others can be read; see kv_client_repair(). */
  KV_FULL = 32,         /**< The disk is full. */
  KV_BUSY = 33,         /**< Another process holds the local database for too long. */
  KV_INTERNAL = 90      /**< A defect of this library; please report it. */
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
 * Counts the handles that are open in this process: a leak test expects 0 at the end. Takes time in
 * proportion to the most that were ever open.
 *
 * @param kind  "client", "store", "query", "cursor", "request", "error", "subscription", "transaction", or NULL for
 *              all of them
 * @return the count; 0 for an unknown kind
 */
KV_API int64_t kv_live_objects(KV_OPTIONAL const char *kind);

/** Frees memory that a `char **` parameter received; it is the C library's free(). NULL is harmless. */
KV_API void kv_free(KV_OPTIONAL void *memory);

/** Frees the context of a callback, exactly once, after its last call. */
typedef void (*kv_free_fn)(void *context);

/** @} */

/** @defgroup error Errors
 *  What went wrong, owned by the caller. @{ */

typedef struct kv_error kv_error;

/** The status the error came with; #KV_MISUSE for a bad handle. */
KV_API kv_status kv_error_status(const kv_error *error);

/** One sentence in English. Borrowed until kv_error_free(); "" for a bad handle. Never contains a
 *  token or a password. */
KV_API const char *kv_error_message(const kv_error *error);

/**
 * Everything known, as a JSON object. Borrowed until kv_error_free(); "{}" for a bad handle.
 *
 * Members, each present where it applies: `status` (number), `name` ("KV_SERVER"), `message`, `http`
 * (status code of the answer), `error`, `description`, `debug` (the backend's own words), `requestId`
 * (X-Kinvey-Request-Id), `index` (place in the input), `id` (the entity), `position` (byte offset in
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
 *   the hosted service, or `backend`, a name given to kv_backend_register(). docs/options.md has the others.
 * @param length        bytes, or #KV_NUL_TERMINATED
 * @param client_out    receives the client; close it with kv_client_close()
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_STORAGE, KV_CORRUPT, KV_FULL, KV_BUSY
 */
KV_API kv_status kv_client_open(const char *options_json, size_t length, kv_client **client_out,
                                kv_error **error_out);

/**
 * Copies what can be read of a data file, however damaged, into a new directory. The file itself is left as it is; no
 * client needs to be open, and none can be, where opening gives #KV_CORRUPT.
 *
 * What cannot be had anywhere else comes first: `pending.ndjson` has a line `{"collection":…,"id":…,"operation":…,
 * "entity":…,"base":…}` for each pending write that can be read. Each collection then gets a file `<name>.entities.ndjson` with
 * an entity a line. To go on: move the damaged file away, open a client, and save what is to be kept.
 *
 * @param options_json  those of kv_client_open(): the file is found by `appKey`, `dataDirectory` and `tag`
 * @param directory     is made; one that is there already must be empty
 * @param json_out      receives `{"pending":{"lines":…,"damaged":…},"collections":{"<name>":{"lines":…,"damaged":…,
 *                      "damagedIds":[…],"file":…}}}`; `damaged` counts places that could not be read and entities whose body
 *                      is not what was stored. `damagedIds` names the first 1,000 of these; `pending` has it, too. May be NULL
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_NOT_FOUND (no such file), KV_CORRUPT (not even the list of tables can be read, or
 *         it is no database), KV_STORAGE, KV_FULL
 */
KV_API kv_status kv_salvage(const char *options_json, size_t length, const char *directory,
                            KV_OPTIONAL char **json_out, size_t *length_out, kv_error **error_out);

/**
 * Finds entities that are damaged (#KV_CORRUPT, with the entity's id) and takes them out of the way: in all collections of the
 * client's tag, and of the other tags that stores were opened of. Without a network call; others read and write meanwhile.
 *
 * A damaged entity is removed, and the next pull brings it again: without a backend it is lost. One with a pending write stays,
 * and the write is set aside as quarantined, since what it would send is lost: save the entity again, or remove it. All other
 * pending writes stay as they are. Indexes are made anew, which takes as long as making them did. What a version without
 * checksums has stored gets one.
 *
 *     {"entities":5000,"damaged":2,"removed":[{"collection":"notes","_id":"a","tag":"kinvey"}],
 *      "quarantined":[{"collection":"notes","_id":"b","tag":"kinvey"}]}
 *
 * `entities` is how many were looked at. `damaged` counts these, and versions that changes started from. Each list names 1,000 of a
 * tag at the most. Other members may follow.
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
 * Running requests and blocking calls are cancelled; callbacks that are due, those with
 * #KV_CANCELLED included, come before this returns: on the callback thread or, for a pumped client, on
 * the calling one. When it returns no callback runs and none will come – except that, called from
 * inside a callback, that one callback is still running (the others came inside of it). Pending
 * writes stay in the file. NULL is harmless.
 *
 * A client that is registered for live data ends that on the backend too, which takes 2 seconds at the most, and nothing
 * where the backend cannot be reached.
 *
 * Two threads must not close two clients from inside each other's callbacks: both would wait.
 *
 * @return KV_OK, KV_MISUSE
 */
KV_API kv_status kv_client_close(KV_OPTIONAL kv_client *client);

/**
 * The descriptor that is readable (poll, epoll) while callbacks wait; for clients opened with
 * `"callbacks":"pump"`. It belongs to the client: do not read or close it.
 *
 * @param fd_out  receives the descriptor, or -1
 * @return KV_OK, KV_MISUSE, KV_UNSUPPORTED (the client has its own callback thread)
 */
KV_API kv_status kv_client_event_fd(kv_client *client, int *fd_out, kv_error **error_out);

/**
 * Runs waiting callbacks on the calling thread, in order, then returns; never waits. While one thread
 * dispatches, a dispatch on another, or inside a callback, runs nothing.
 *
 * @param limit      how many at the most; 0: all that wait now
 * @param count_out  receives how many ran; may be NULL
 * @return KV_OK, KV_MISUSE, KV_UNSUPPORTED (not a pumped client)
 */
KV_API kv_status kv_client_dispatch(kv_client *client, uint32_t limit,
                                    KV_OPTIONAL uint32_t *count_out, kv_error **error_out);

/** Receives a line of the log. `level`: 1 error, 2 warning, 3 info, 4 debug. `text` is borrowed. */
typedef void (*kv_log_fn)(void *context, int32_t level, const char *text);

/**
 * Sends the log of a client to a function, on the client's callback thread. Tokens, secrets and
 * bodies are never logged. NULL as `log` switches it off (the default).
 *
 * @param level         the most detailed level wanted, 1 to 4; any if `log` is NULL
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

/** How far a request is. Totals are 0 while they are unknown. */
typedef struct kv_progress {
  uint32_t size; /**< Set by the caller to sizeof(kv_progress). */
  uint32_t reserved;
  uint64_t entities_done;
  uint64_t entities_total;
  uint64_t bytes_done;
  uint64_t bytes_total;
} kv_progress;

/**
 * Waits for the final answer. May be called again, by several threads, and inside any callback: the
 * answer is here before its callback ran.
 *
 * @param timeout_seconds  negative: as long as it takes; 0: only look. #KV_TIMEOUT when it passes; the
 *                         request goes on.
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
 * Tells whether the final answer is there: kv_request_wait() then gives it at once. It tells a wait
 * whose time passed from an operation that ended with #KV_TIMEOUT.
 *
 * @return 1 or 0; 1 for a bad handle, for which nothing will ever come
 */
KV_API int32_t kv_request_is_done(kv_request *request);

/**
 * Takes the entities of a find that is done, as the blocking form would have given them; so that a
 * find can be both lazy and cancellable. Never waits.
 *
 * Only for finds that were started with `done` NULL, and once: the cursor is the caller's from then
 * on. What is not taken is closed with the request.
 *
 * @param cursor_out  close it with kv_cursor_close(); it outlives the request
 * @return what the blocking form returns; KV_TIMEOUT (not done yet); KV_MISUSE (not a find, has a
 *         `done`, or was taken already)
 */
KV_API kv_status kv_request_cursor(kv_request *request, kv_cursor **cursor_out,
                                   kv_error **error_out);

/** Asks a request to stop; does not wait. It then ends with #KV_CANCELLED, unless it was done already.
 *  A write that was cancelled after its local step stays queued. @return KV_OK, KV_MISUSE */
KV_API kv_status kv_request_cancel(kv_request *request);

/** Tells how far a request is. @return KV_OK, KV_MISUSE (also for a `size` that was not set) */
KV_API kv_status kv_request_progress(kv_request *request, kv_progress *progress);

/** Gives a request handle back. The operation goes on, and so does a wait on another thread. NULL is
 *  harmless. DESTRUCTOR */
KV_API void kv_request_free(KV_OPTIONAL kv_request *request);

/** @} */

/** @defgroup subscription Subscriptions
 *  What keeps calling back until it is closed.
 *
 *  A function that begins one takes `receive, context, free_context, subscription_out`:
 *
 *  - `receive` is called on the client's callback thread (or by kv_client_dispatch()), once for each
 *    event, in order, with no lock held. It may call any function, kv_subscription_close() and
 *    kv_client_close() included.
 *  - `free_context` may be NULL, else it is called exactly once: after the last `receive`, or before
 *    the function returns when it fails.
 *  - `subscription_out` may be NULL: it then lasts as long as the client. Closing the client ends every
 *    subscription.
 *  @{ */

typedef struct kv_subscription kv_subscription;

/** One event. Everything in it is borrowed until `receive` returns. */
typedef struct kv_event {
  uint32_t size;    /**< Bytes of this struct in the loaded library; later members may follow. */
  kv_status status; /**< KV_OK, or why there are no events for now: the function that began it says. */
  const char *json; /**< What happened, or NULL when the status is a failure. */
  size_t length;    /**< Bytes of `json`, which a NUL follows. */
  kv_error *error;  /**< Set when the status is a failure. Freed by the library after `receive`. */
} kv_event;

/** Receives an event. */
typedef void (*kv_event_fn)(void *context, const kv_event *event);

/**
 * Ends a subscription. When it returns, no `receive` of it is running and none will; what waited is
 * dropped. Called inside its own `receive` it returns at once: that call is the last one. Two callbacks
 * of *different* clients must not close each other's subscriptions at the same time: each would wait for
 * the other. NULL is harmless. DESTRUCTOR
 *
 * @return KV_OK, KV_MISUSE (closed before, also by closing the client)
 */
KV_API kv_status kv_subscription_close(KV_OPTIONAL kv_subscription *subscription);

/**
 * Ends a subscription, and waits for the answer of the backend if it has to be told: live data, when nobody else of this
 * client listens to the same. After it, whatever it gives, no `receive` is running and none will come, as after
 * kv_subscription_close(), which is still to be called. Called inside its own `receive`, that call is the last. A
 * subscription that has ended is KV_OK.
 *
 * @return KV_OK, KV_MISUSE, KV_NETWORK (the backend cannot be told now; it forgets who does not come back), and what the
 *         backend says if it refuses: network and server codes
 */
KV_API kv_status kv_subscription_end(kv_subscription *subscription, const char *options,
                                     kv_error **error_out);
KV_API kv_status kv_subscription_end_async(kv_subscription *subscription, const char *options,
                                           kv_answer_fn done, void *context,
                                           kv_free_fn free_context, kv_request **request_out,
                                           kv_error **error_out);

/**
 * Tells what happens while a client synchronises. Each event is a JSON object with a member `event`:
 *
 * - `"started"`, `"progress"`, `"finished"` of each push, pull and sync, with `operation` ("push",
 *   "pull", "sync"), `collection`, `task` (a number that tells one from the other) and `automatic` (true
 *   if nobody asked for it but the option `pushAutomatically`). Progress has `entitiesDone`,
 *   `entitiesTotal`, `bytesDone`, `bytesTotal` as kv_request_progress() gives them, ten times a second at
 *   the most, and once at the end. `"finished"` has `result`, what the call gives, or `error`, what
 *   kv_error_json() would show.
 * - `"offline"`, `"online"`: requests go unanswered, or are answered again.
 * - `"loggedOut"`: the session has ended, with the `error` if the backend refused it. Unsent work is kept
 *   unless the application asked for a logout.
 * - `"overwritten"`: a write has replaced a version of the backend's that was not seen here, with `collection`, `id` and
 *   `remote`, that version, or null if the entity was deleted there. Told under `clientWins`, by backends that keep
 *   conditions: see docs/sync.md.
 * - `"quarantined"`: a write will not be sent any more unless the application decides so, with
 *   `collection`, `id` and `error`.
 *
 * Other events and members may follow. For `receive`, `context`, `free_context` and `subscription_out` see the
 * group above. CONSTRUCTOR
 *
 * @return KV_OK, KV_MISUSE, KV_INTERNAL (no thread for callbacks)
 */
KV_API kv_status kv_client_observe_sync(kv_client *client, kv_event_fn receive, void *context,
                                        kv_free_fn free_context,
                                        kv_subscription **subscription_out, kv_error **error_out);

/**
 * Gives how a client stands and what it does, without a network call:
 *
 *     {"online":true,"signedIn":true,"pending":2,"quarantined":0,
 *      "collections":[{"collection":"notes","tag":"kinvey","pending":2,"quarantined":0,"lastSynced":"2026-…"}],
 *      "activity":[{"operation":"pull","collection":"notes","automatic":false,"entitiesDone":100,
 *                   "entitiesTotal":2500,"bytesDone":20480,"bytesTotal":0}],
 *      "follows":[…]}
 *
 * `online` is null before anything was asked. `pending` includes what is set aside (`quarantined`). The collections are
 * those of the tags that stores were opened of; `lastSynced` is when one was last read from the backend, also in an
 * earlier run, and missing if it was not. Nothing runs if `activity` is empty. `follows` has what
 * kv_store_follow() tells of each. Other members may follow.
 *
 * @param json_out   owned by the caller: kv_free()
 * @return KV_OK, KV_MISUSE, KV_STORAGE, KV_CORRUPT
 */
KV_API kv_status kv_client_status(kv_client *client, char **json_out, size_t *length_out,
                                  kv_error **error_out);

/**
 * Gives back the disk space that local data no longer needs: what was deleted, purged, read anew or logged makes room inside
 * of the file, which does not become smaller by itself. In the files of the client's tag and of the other tags that stores
 * were opened of; without a network call.
 *
 *     {"before":1048576,"after":65536}
 *
 * Both are bytes of these files with their logs. Each file is written anew: that takes some seconds for a gigabyte, and twice
 * the room of its data while it lasts, half of it where SQLite keeps temporary files (`SQLITE_TMPDIR`, `TMPDIR`, else
 * `/var/tmp`). Finds and open cursors go on meanwhile. Writes of this process wait for the end, those of other processes for ten
 * seconds, then they fail with #KV_BUSY. Whatever this fails with, or if the process ends, nothing is lost.
 *
 * While another process writes, or somebody reads an older state of the data (an open cursor or transaction, of another process as
 * well), it waits, until the option `timeout` has passed: then it gives #KV_BUSY. The file may have been written anew then, and
 * become smaller when that reader ends.
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
 * Tells the status of a client: what kv_client_status() gives, first as it is now, then whenever it is another one, four
 * times a second at the most. What changes while `receive` is busy becomes one event, and the last status is always
 * told. For `receive`, `context`, `free_context` and `subscription_out` see the group above. CONSTRUCTOR
 *
 * @return KV_OK, KV_MISUSE, KV_INTERNAL (no thread)
 */
KV_API kv_status kv_client_observe_status(kv_client *client, kv_event_fn receive, void *context,
                                          kv_free_fn free_context,
                                          kv_subscription **subscription_out,
                                          kv_error **error_out);

/** @} */

/** @defgroup user Users
 *  Who is logged in; kept in the data directory, so that a restarted program finds its user again: one
 *  session for each `tag`.
 *
 *  Local data and pending writes belong to a user. Another one who logs in finds nothing of them (unless the
 *  client was opened with `"sharedDevice":true`), and cannot log in while writes wait: they are never sent in
 *  another name. What was saved before anybody logged in is the first user's. If another client of the same
 *  tag, in this process or another one, has logged in somebody else, all functions of this client that read or
 *  write data or ask the backend give #KV_NO_USER until it logs in again.
 *
 *  User JSON never contains the session token. A client without a backend has no users: every function
 *  here gives #KV_UNSUPPORTED. @{ */

/** Asks the backend for its version: `{"version":…,"kinvey":…,"appName":…,"environmentName":…}`.
 *  @return KV_OK, KV_UNSUPPORTED (no backend), network and server codes */
KV_API kv_status kv_ping(kv_client *client, const char *options, char **json_out,
                         size_t *length_out, kv_error **error_out);
KV_API kv_status kv_ping_async(kv_client *client, const char *options, kv_answer_fn done,
                               void *context, kv_free_fn free_context, kv_request **request_out,
                               kv_error **error_out);

/**
 * Creates a user and logs it in. It replaces the active user, whose local data is deleted; nobody is created
 * while writes of that user wait.
 *
 * @param user_json  `{"username":…,"password":…,…}`; NULL or `{}`: an implicit user, whose name and
 *                   password the backend makes up
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
 * Logs a user in. The same user finds local data and unsent work again. Another one replaces the active user,
 * whose local data is deleted.
 *
 * @param credentials_json  `{"username":…,"password":…}` or `{"_socialIdentity":{…}}`
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
 * Gives the page of the authorization server on which somebody logs in, to be shown in a browser
 * (OAuth 2.0 with an authorization code; Kinvey calls it Mobile Identity Connect). It ends at `redirect_uri`
 * with `code` in its query, which kv_user_login_with_code() takes. No network call is made.
 *
 * @param options  NULL or a JSON object: `clientId` (the app key, perhaps with a service's id behind a dot;
 *                 default the app key), `state` (comes back in the query)
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_UNSUPPORTED (no backend)
 */
KV_API kv_status kv_user_login_page(kv_client *client, const char *redirect_uri, const char *options,
                                    char **url_out, size_t *length_out, kv_error **error_out);

/**
 * Logs the user in who was on that page, as kv_user_login() does; one that the backend does not know yet is
 * created. When the session runs out it is renewed by the refresh token that came with it: once for all
 * requests that wait, in all processes that share the data directory, and each request is repeated once. If
 * that is refused, the session ends and the data stays: see `"loggedOut"` of kv_client_observe_sync().
 *
 * @param code          good for one time
 * @param redirect_uri  the one that the page was asked for with
 * @param options       NULL or a JSON object: `clientId` as for the page, and the options of a call
 * @return what kv_user_login() returns; KV_UNAUTHORIZED: the code is not good
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
 * Logs the active user out: the session is dropped here at once and then on the backend (whose
 * failure is ignored), and the local data of the session is wiped.
 *
 * @param options  `{"keepData":true}` keeps entities and pending writes for this user (the default on a
 *                 shared device);  without it
 *                 `{"discardPending":true}` is needed to wipe a store that has unsent work,
 *                 otherwise KV_PENDING and nothing is changed
 * @return KV_OK, KV_NO_USER, KV_PENDING, KV_STORAGE
 */
KV_API kv_status kv_user_logout(kv_client *client, const char *options, kv_error **error_out);
KV_API kv_status kv_user_logout_async(kv_client *client, const char *options, kv_answer_fn done,
                                      void *context, kv_free_fn free_context,
                                      kv_request **request_out, kv_error **error_out);

/** The active user as last seen, without a network call. `json_out` must not be NULL.
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
 * Finds other users. By which members they may be found, and what is shown of them, is the backend's choice; with
 * `kvstored` it is its option `--lookup`.
 *
 * @param members_json  `{"username":"ana"}`, `{"email":…}`, `{"_id":…}`: the values that a user must all have. At
 *                      least one is needed: nobody can list all users
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
 *  What an access list can name in place of users: see kv_store_share() and docs/sharing.md. A group is
 *  `{"_id":…,"name":…,"members":[ids of users],"_acl":…,"_kmd":…}` with whatever else was put into it. It is its
 *  creator's: others see and change it only if its own `_acl` says so. Nothing of it is kept on this machine, and all
 *  functions ask the backend: besides what they name they return KV_NO_USER, KV_UNSUPPORTED (the backend has no groups),
 *  network and server codes. @{ */

/**
 * Makes a group. It is sent once: after a network code there may be one or none.
 *
 * @param group_json  `{"name":"team","members":["…"]}`; the backend chooses the `_id`
 * @param json_out    receives the group; may be NULL
 * @return KV_OK, KV_INVALID (`members` are not ids), KV_FORBIDDEN (an `_id` that one may not choose)
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
 * Changes a group. It is read and written on the condition that it is still what was read, and read again if somebody
 * else has changed it, up to five times: nobody's change is lost. A backend that ignores conditions, which `kvstored`
 * does not, may lose what somebody else changes in between.
 *
 * @param change_json  `{"add":[ids],"remove":[ids],"set":{"name":…}}`, each of which may be left out: members that come
 *                     and go, and members of the JSON that are replaced. One who is named in both is removed
 * @param json_out     receives the group as it is then; may be NULL
 * @return KV_OK, KV_NOT_FOUND, KV_FORBIDDEN, KV_INVALID, KV_CONFLICT (others were faster each time)
 */
KV_API kv_status kv_group_update(kv_client *client, const char *id, const char *change_json,
                                 size_t length, const char *options, KV_OPTIONAL char **json_out,
                                 size_t *length_out, kv_error **error_out);
KV_API kv_status kv_group_update_async(kv_client *client, const char *id, const char *change_json,
                                       size_t length, const char *options, kv_answer_fn done,
                                       void *context, kv_free_fn free_context,
                                       kv_request **request_out, kv_error **error_out);

/** Deletes a group. What its members could read or write because of it, they cannot any more.
 *  @return KV_OK, KV_NOT_FOUND, KV_FORBIDDEN, KV_INVALID (an empty id) */
KV_API kv_status kv_group_delete(kv_client *client, const char *id, const char *options,
                                 kv_error **error_out);
KV_API kv_status kv_group_delete_async(kv_client *client, const char *id, const char *options,
                                       kv_answer_fn done, void *context, kv_free_fn free_context,
                                       kv_request **request_out, kv_error **error_out);

/** @} */

/** @defgroup query Queries
 *  Values: once made, a query never changes and may be used by any thread with any store. @{ */

typedef struct kv_query kv_query;

/**
 * Makes a query from a filter in the backend's language (MongoDB's). CONSTRUCTOR
 *
 * @param filter_json     such as `{"population":{"$gte":50000}}`; NULL: everything
 * @param modifiers_json  `{"sort":{"name":1,"population":-1},"skip":0,"limit":20,"fields":["name"]}`,
 *                        each optional; NULL: none. With a sort, ties are broken by `_id`. A limit of 0
 *                        is none. `"computed":{"score":{"$meta":"textScore"}}` adds to each result how well it
 *                        fits a `$text`; `"snippet"` the part that shows why, `"geoNearDistance"` the distance in
 *                        metres. `"sort":{"score":{"$meta":"textScore"}}` puts the best first.
 * @param query_out       free it with kv_query_free()
 * @return KV_OK, KV_INVALID (the error has a `position`), KV_MISUSE
 */
KV_API kv_status kv_query_create(KV_OPTIONAL const char *filter_json, size_t filter_length,
                                 KV_OPTIONAL const char *modifiers_json, size_t modifiers_length,
                                 kv_query **query_out, kv_error **error_out);

/**
 * Makes a query from a predicate format: Apple's predicate format string syntax. CONSTRUCTOR
 *
 * What MongoDB's language has a form for means what it means there, everything else what Apple
 * documents; docs/queries.md has both. A query that no backend can answer whole works with local data;
 * from the network what may match is fetched and decided here.
 *
 * @param format          such as `state == %@ AND population >= %d`
 * @param arguments_json  the values of `%@`, `%K`, `%d`…, as an array, or
 *                        `{"arguments":[…],"variables":{…}}` with those of `$name` too; NULL: none. They
 *                        are values: nothing in them is read as syntax.
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
 * Makes a query of other queries: what all of them select, what any of them does, or what one does not.
 * With one query, "and" gives the same filter other modifiers. CONSTRUCTOR
 *
 * @param combination     "and", "or", or "not" (of one query)
 * @param queries         an array of `count` queries, at least one; NULL in it stands for everything. Their
 *                        filters count, their modifiers do not. They stay the caller's.
 * @param modifiers_json  as for kv_query_create(); may be NULL
 * @param query_out       free it with kv_query_free()
 * @return KV_OK, KV_INVALID, KV_MISUSE
 */
KV_API kv_status kv_query_combine(const char *combination, kv_query *const *queries, size_t count,
                                  KV_OPTIONAL const char *modifiers_json, size_t modifiers_length,
                                  kv_query **query_out, kv_error **error_out);

/** The query's filter as a predicate format that reads back as the same: `{"format":…,"arguments":[…]}`. */
KV_API kv_status kv_query_format(kv_query *query, char **json_out, size_t *length_out,
                                 kv_error **error_out);

/** The query as JSON: `{"filter":{…},"sort":{…},"skip":…,"limit":…,"fields":[…]}`, absent members left
 *  out. @return KV_OK, KV_MISUSE */
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
 *  docs/options.md has the options of a call; the most specific ones count: the call's, else the store's, else the
 *  client's. The blocking form of a call that answers twice gives the last
 *  answer.
 *  @{ */

typedef struct kv_store kv_store;

/**
 * Opens a store. Cheap; stores with the same tag share the collection's local data. CONSTRUCTOR
 *
 * @param collection  its name: 1 to 128 bytes, without `/`, control characters or a leading `_`
 * @param type        "sync", "auto", "cache" or "network"
 * @param options     `tag` (letters, digits, hyphens; not for network stores), `ttl` (seconds; local
 *                    reads ignore entities written longer ago), and defaults for the calls
 * @return KV_OK, KV_MISUSE, KV_INVALID, KV_PENDING (the data of the tag is another user's, and writes wait),
 *         KV_CONFLICT (of another user who is logged in with a client of the tag), KV_NO_USER (another client has
 *         logged in somebody else), KV_STORAGE, KV_CORRUPT, KV_FULL, KV_BUSY
 */
KV_API kv_status kv_store_open(kv_client *client, const char *collection, const char *type,
                               const char *options, kv_store **store_out, kv_error **error_out);

/**
 * Tells whether the reads of a store stay on this machine: then a read without a `readPolicy` of its own never waits for
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

/** Finds one entity. `json_out` must not be NULL.
 *  @return KV_OK, KV_NOT_FOUND, KV_INVALID (empty id), and what kv_store_find() returns */
KV_API kv_status kv_store_find_by_id(kv_store *store, const char *id, const char *options,
                                     char **json_out, size_t *length_out, kv_error **error_out);
KV_API kv_status kv_store_find_by_id_async(kv_store *store, const char *id, const char *options,
                                           kv_answer_fn done, void *context,
                                           kv_free_fn free_context, kv_request **request_out,
                                           kv_error **error_out);

/**
 * Saves one entity: creates it if it has no `_id`, else creates or replaces the one of that `_id`.
 * With the option `knownMembers` the stored one keeps the members that it does not name.
 *
 * With the option `if` it is saved only if the condition holds, else it is #KV_CONFLICT with the `id`, and nothing is
 * changed: `null` if there is no entity of this `_id` (an insert), a number if the entity is of this local version
 * (kv_store_version()), a filter if it is there and matches. Check and write are one transaction. The write that is queued
 * stays conditional: the backend must then have what the entity started from, or nothing; else it is a conflict and set
 * aside, also under `clientWins`. Where only the backend is written (a network store, `forceNetwork`), it is the backend's
 * entity that counts, and a version is #KV_UNSUPPORTED.
 *
 * @param entity_json  a JSON object; `_id`, `_acl`, `_kmd` must have their proper types if present, and no member may come
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
 * Saves many entities; locally each as kv_store_save() would, in one transaction, and remotely in batches of at most 100.
 * Where only the backend is written, they are inserted: one whose `_id` is taken there is #KV_CONFLICT, and changes nothing.
 *
 * The option `if` holds for each of them; locally all are saved or none, and the error has the `index`.
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
 * Changes members of the entities that match, and leaves everything else of them as it is.
 *
 * Locally it is one transaction, and atomic: nobody else's change comes in between. A backend gets each changed entity
 * whole; a network store sends it on the condition that it is still what was read, and reads it again if it is not.
 *
 * @param query        NULL: all; for one entity a filter `{"_id":"…"}`
 * @param update_json  MongoDB's update language: an object of operators, each with an object of paths and operands:
 *                     `{"$set":{"address.city":"Ulm"},"$inc":{"visits":1}}`. The operators are `$set`, `$unset`,
 *                     `$inc`, `$mul`, `$min`, `$max`, `$rename`, `$push` (with `$each`, `$position`, `$slice`,
 *                     `$sort`), `$addToSet` (with `$each`), `$pop`, `$pull` and `$currentDate`
 * @param json_out     receives `{"matched":…,"modified":…}`: how many matched, and how many of them were not as the
 *                     update wants them already; may be NULL
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
 * Lets others read or write an entity: it adds them to its `_acl`, and leaves what else is there as it is.
 *
 * It goes where a write of this store goes, and is conditional like a save with the option `if`: what somebody else has
 * changed on the backend meanwhile is not overwritten. Where only the backend is written, it is read again and the change
 * made once more; a write that was queued is set aside as a conflict, also under `clientWins` and `merge`.
 *
 * @param acl_json  who, as an `_acl` says it: `{"r":["<user>"],"w":["<user>"],"groups":{"r":["<group>"],"w":[…]},
 *                  "gr":true,"gw":true}`, each of which may be left out. `r` may read, `w` may write and read, `gr` and
 *                  `gw` are for everybody
 * @return KV_OK (also if they may already), KV_NOT_FOUND (with the `id`), KV_INVALID (nobody is named, or something that
 *         an `_acl` does not have), KV_UNSUPPORTED (entities of the backend have no `_acl`), and what kv_store_save() returns
 */
KV_API kv_status kv_store_share(kv_store *store, const char *id, const char *acl_json, size_t length,
                                const char *options, kv_error **error_out);
KV_API kv_status kv_store_share_async(kv_store *store, const char *id, const char *acl_json,
                                      size_t length, const char *options, kv_answer_fn done,
                                      void *context, kv_free_fn free_context,
                                      kv_request **request_out, kv_error **error_out);

/** Takes back what kv_store_share() gave. `"gr":true` sets `gr` to false: then only those who are named may read, also
 *  where the collection lets everybody read what does not say otherwise. `"gw":true` does the same with `gw`.
 *  @return what kv_store_share() returns */
KV_API kv_status kv_store_unshare(kv_store *store, const char *id, const char *acl_json,
                                  size_t length, const char *options, kv_error **error_out);
KV_API kv_status kv_store_unshare_async(kv_store *store, const char *id, const char *acl_json,
                                        size_t length, const char *options, kv_answer_fn done,
                                        void *context, kv_free_fn free_context,
                                        kv_request **request_out, kv_error **error_out);

/**
 * Gives the local version of one entity. It goes up with each change of the entity here, whoever makes it: a save, a
 * pull, live data, another process. An entity that is made anew under an old id has a higher one than ever before. It
 * fits into 53 bits. All local; a network store has none: #KV_UNSUPPORTED.
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
 * Groups the entities that match by the values of some members, and gives numbers about each group. Local
 * and remote answers are the same, in the same order: by the keys, as a sort has them.
 *
 * @param group_json  `{"keys":["state"],"aggregates":{"n":"count","mean":{"avg":"population"}}}`: any number
 *                    of "count" and of `sum`, `avg`, `min`, `max` of a path; without keys all make one
 *                    group. Only numbers count for these; of none the sum is 0, the others are null.
 *                    Or `{"keys":[…],"initial":{…},"reduce":"function(doc,out){…}"}`: JavaScript for a
 *                    backend that runs it; the groups are then as the backend gives them
 * @param query       NULL: all; skip and limit are #KV_INVALID, sort and fields mean nothing
 * @param json_out    receives `[{"state":"MA","n":…,"mean":…},…]`
 * @return what kv_store_find() returns; KV_INVALID (the error has a `position`); KV_UNSUPPORTED (the backend
 *         does not understand the function, or it should run locally)
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
 * Groups the entities that match, and hands each one to a function of the caller's, which keeps what it
 * makes of them by the group's number. It runs on the calling thread before this returns, with no lock
 * held, and may call any function.
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
 * Gives the different values of a member among the entities that match, in the order of a sort. Elements of
 * an array count one by one; what is missing does not count, null does.
 *
 * @param path      such as "address.city"
 * @param query     NULL: all; skip and limit are #KV_INVALID, sort and fields mean nothing
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
 * To get the entities, call kv_store_find() afterwards, with the same query and the option `"readPolicy":"forceLocal"`: its cursor
 * gives all that match here by then, those that had not changed included, and what was saved here meanwhile.
 *
 * @param query     NULL: the whole collection, and what the backend no longer has leaves the local
 *                  store. With skip or limit nothing leaves.
 * @param json_out  receives `{"pulled":n,"removed":m}`; may be NULL
 * @return KV_OK, KV_PENDING (writes wait: push or purge first; those that were set aside hold up nothing),
 *         KV_UNSUPPORTED (network store, no backend), KV_NO_USER, KV_STORAGE, KV_FULL, network and server codes
 */
KV_API kv_status kv_store_pull(kv_store *store, kv_query *query, const char *options,
                               KV_OPTIONAL char **json_out, size_t *length_out,
                               kv_error **error_out);
KV_API kv_status kv_store_pull_async(kv_store *store, kv_query *query, const char *options,
                                     kv_answer_fn done, void *context, kv_free_fn free_context,
                                     kv_request **request_out, kv_error **error_out);

/**
 * Sends all pending writes of the collection that wait to the backend. What it refuses for good is set
 * aside; the option `conflicts` says what happens to entities that were changed there as well. With the option
 * `"retryQuarantined":true` what was set aside before is sent once more; after a conflict over the version that it met.
 *
 * @param json_out  receives `{"pushed":n,"errors":[{"id":…,"operation":…,…}],"quarantined":n,"overwritten":n}`; may be NULL.
 *                  `quarantined` counts what is set aside now: kv_store_pending() lists it, with the errors
 * @return KV_OK, KV_PARTIAL (some were refused; they stay pending with their error), KV_UNSUPPORTED
 *         (network store, no backend), KV_NO_USER, KV_UNAUTHORIZED (the rest was not sent), network and
 *         server codes
 */
KV_API kv_status kv_store_push(kv_store *store, const char *options, KV_OPTIONAL char **json_out,
                               size_t *length_out, kv_error **error_out);
KV_API kv_status kv_store_push_async(kv_store *store, const char *options, kv_answer_fn done,
                                     void *context, kv_free_fn free_context,
                                     kv_request **request_out, kv_error **error_out);

/**
 * Pushes, then pulls what matches the query. What the backend refuses for good holds up nothing; no pull happens if a
 * write that could not be sent waits for the next push. The entities are to be had as after kv_store_pull().
 *
 * @param json_out  receives `{"pushed":n,"errors":[…],"quarantined":n,"overwritten":n,"pulled":n,"removed":m}`; may be NULL
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
 *  What an application wants to be found fast, for each collection of a tag, in its local data. Answers
 *  are the same with and without. All local; a network store has none: #KV_UNSUPPORTED. @{ */

/**
 * Makes an index, and puts into it what is there already. Others may write meanwhile: it is filled in
 * steps, kept up with every change of an entity from its first moment on, and used once it is whole. If
 * the process is killed on the way, the next call for the same index goes on.
 *
 * @param index_json  `{"keys":{"country":1,"population":-1}}`, and `"name"` if it shall not be made of the keys:
 *                    up to eight members in order, nested ones (`"address.city"`) and arrays included;
 *                    `{"keys":{"name":"text"}}` for the words of texts (`"$**"`: of all of them), with
 *                    `"language":"english"` for their stems too;
 *                    `{"keys":{"_geoloc":"2dsphere"}}` for places. `"totals":true` with members in order keeps count
 *                    and sum of the last one for each group of the others: kv_store_group() by these then costs
 *                    what the groups are, and a save one row more
 * @return KV_OK (also if there is the same one already), KV_INVALID (not understood, with a `position`, or
 *         there is one of that name with other keys), KV_UNSUPPORTED, KV_STORAGE, KV_FULL
 */
KV_API kv_status kv_store_create_index(kv_store *store, const char *index_json, size_t length,
                                       kv_error **error_out);

/** Drops an index. @return KV_OK, KV_NOT_FOUND, KV_UNSUPPORTED, KV_STORAGE */
KV_API kv_status kv_store_drop_index(kv_store *store, const char *name, kv_error **error_out);

/**
 * Lists the indexes: `[{"name":…,"keys":{…},"state":…,"arrays":false}]`.
 *
 * `state`: "ready"; "building", not used yet; or "unusable", because an entity has a number beyond all
 * doubles there. `arrays`: some entities have an array there, so that the index gives no order.
 */
KV_API kv_status kv_store_indexes(kv_store *store, char **json_out, size_t *length_out,
                                  kv_error **error_out);

/**
 * Runs a find in the local data, and tells how.
 *
 * `{"access":"index"|"ids"|"scan","indexes":[names],"exact":…,"covering":…,"sql":…,"steps":[…],"examined":n,
 * "returned":n}`: `exact`, no entity is looked at to know that it matches; `covering`, a count needs the index
 * only; `sql` and `steps`, what SQLite is given and what it makes of that; `examined`, how many entities
 * were read. SQL and steps are for people; they may differ from version to version.
 *
 * @param query NULL: all
 */
KV_API kv_status kv_store_explain(kv_store *store, kv_query *query, char **json_out,
                                  size_t *length_out, kv_error **error_out);

/** @} */

/** @defgroup follow Following
 *  Queries that are kept in sync with the backend, by one switch. @{ */

/**
 * Keeps what matches a query in sync with the backend until the subscription or the client is closed: pulls it, or its
 * changes; keeps it current by live data, for which it registers, or by polling; catches up after each absence; and
 * pushes what waits in the collection and what is saved. It begins at once and waits for nothing: for the network and for
 * a login it waits by itself, with growing pauses. See docs/follow.md.
 *
 * Events tell how it stands, first as it is now, then whenever that is another one; what changes while `receive` is busy
 * becomes one event, and the last state is always told:
 * `{"collection":…,"filter":{…},"state":…,"live":…,"lastSynced":…,"error":{…}}`.
 *
 * - `state`: `"starting"`, until something was read; `"current"`: here is what the backend has; `"behind"`: it is being
 *   read, or the `error` says why it cannot be; `"offline"`: nobody answers
 * - `live`: whether changes come by live data; else they are polled for
 * - `lastSynced`: when it was last read; missing before that
 * - `error`: what kv_error_json() would show; missing if there is none
 *
 * Closing the subscription cancels what runs, and does not wait for its end.
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
 *  Queries over local data that are followed: what they give at first, and then what changes it, whoever
 *  causes that: a save, a pull, the answer to a push, clear or logout, another process on the same data. @{ */

/**
 * Follows a query over the local data until the subscription or the client is closed.
 *
 * Events are objects, all members always there:
 * `{"initial":…,"count":n,"deletions":[{"index":n,"id":…}],"moves":[{"from":n,"to":n,"id":…}],
 * "insertions":[{"index":n,"entity":{…}}],"modifications":[{"index":n,"entity":{…}}]}`.
 *
 * The first one, `initial`, inserts the whole result, which may be empty. To come from one result to
 * the next: take out what is at the `index` of deletions and the `from` of moves, places in the old result;
 * put in, in ascending order of `index` and `to`, places in the new result, insertions and what was moved;
 * replace modified entities. `count` is the size of the new result. Sort, skip, limit and fields are respected.
 *
 * Each event leads to a state that the data really had, and nothing is missed in between. Changes that come
 * while `receive` is busy become one event, so a slow one never makes a queue grow. An event with an error
 * says that the data could not be read; a later one makes up for what was missed. The option `ttl` does
 * not hide anything here.
 *
 * @param query         NULL: all
 * @param receive       see @ref subscription, for this and what follows
 * @return KV_OK, KV_UNSUPPORTED (a network store), KV_STORAGE, KV_FULL, KV_INTERNAL
 */
KV_API kv_status kv_store_observe(kv_store *store, kv_query *query, kv_event_fn receive,
                                  void *context, kv_free_fn free_context,
                                  kv_subscription **subscription_out, kv_error **error_out);

/** The same for one entity, which need not be there. */
KV_API kv_status kv_store_observe_by_id(kv_store *store, const char *id, kv_event_fn receive,
                                        void *context, kv_free_fn free_context,
                                        kv_subscription **subscription_out, kv_error **error_out);

/** @} */

/** @defgroup pending Pending writes
 *  The queue of a collection: at most one row for each entity. All local, except for the retry; a
 *  network store has no queue: #KV_UNSUPPORTED, where nothing else is said.
 *
 *  A write *waits* until a push has sent it. One that the backend refuses for good, and one that has met
 *  another version there and that nothing decides, is set aside, with its error: it is *refused*, or in
 *  *conflict*. It then holds up no push and no pull, and is not sent again by itself; reads leave its
 *  entity as it is here. It ends when the application retries, edits, reverts or drops it. Saving or
 *  removing the entity again lets it wait again. @{ */

/** Counts the pending writes, those that were set aside included: all that is not sent. 0 for network
 *  stores. @return KV_OK, KV_MISUSE, KV_STORAGE */
KV_API kv_status kv_store_sync_count(kv_store *store, int64_t *count_out, kv_error **error_out);

/**
 * Lists pending writes, oldest first: `[{"id":…,"operation":"create"|"update"|"delete","createdAt":…,
 * "changedAt":…,"attempts":n,"state":"waiting"|"refused"|"conflict","lastError":{…}|null}]`; times are
 * ISO 8601 in UTC.
 *
 * @param after  list those behind the pending write of this id; NULL: from the start
 * @param limit  how many at the most; 0: all
 * @return KV_OK, KV_NOT_FOUND (nothing is pending for `after`), KV_UNSUPPORTED, KV_STORAGE
 */
KV_API kv_status kv_store_pending(kv_store *store, KV_OPTIONAL const char *after, uint32_t limit,
                                  char **json_out, size_t *length_out, kv_error **error_out);

/** One pending write, as in the list, with `entity` (what would be sent) and `base` (the backend's
 *  version that it changes, or null); if it was set aside and that is known, also with `remote`: what
 *  the backend has, or null if it has none. @return KV_OK, KV_NOT_FOUND */
KV_API kv_status kv_store_pending_get(kv_store *store, const char *id, char **json_out,
                                      size_t *length_out, kv_error **error_out);

/** Sends one pending write now, also one that was set aside; after a conflict over the version that it
 *  met (`remote`): ours is to win. @return KV_OK, KV_NOT_FOUND (not pending), network and server codes */
KV_API kv_status kv_store_pending_retry(kv_store *store, const char *id, const char *options,
                                        kv_error **error_out);
KV_API kv_status kv_store_pending_retry_async(kv_store *store, const char *id, const char *options,
                                              kv_answer_fn done, void *context,
                                              kv_free_fn free_context, kv_request **request_out,
                                              kv_error **error_out);

/** Replaces what a pending create or update would send, and the local entity; its attempts and error are
 *  reset, and it waits, after a conflict to be sent over the version that it met. @return KV_OK, KV_NOT_FOUND, KV_INVALID (no entity, another `_id`, a pending delete) */
KV_API kv_status kv_store_pending_edit(kv_store *store, const char *id, const char *entity_json,
                                       size_t length, kv_error **error_out);

/** Forgets one pending write and makes the local entity what the backend has: the version that the write
 *  met, else the one that it started from. If neither is known, or there was none, the entity leaves the
 *  local store; should the backend have it, the next read brings it.
 *  @return KV_OK, KV_NOT_FOUND, KV_UNSUPPORTED, KV_STORAGE */
KV_API kv_status kv_store_pending_revert(kv_store *store, const char *id, kv_error **error_out);

/** Forgets one pending write. The local entity stays as it is, until the next read brings what the backend has.
 *  @return KV_OK, KV_NOT_FOUND */
KV_API kv_status kv_store_pending_drop(kv_store *store, const char *id, kv_error **error_out);

/** Forgets the pending writes whose entities match; the local entities stay until the next read, as above.
 *  @param query NULL: all @param count_out receives how many; may be NULL
 *  @return KV_OK, KV_UNSUPPORTED, KV_STORAGE */
KV_API kv_status kv_store_purge(kv_store *store, kv_query *query, KV_OPTIONAL int64_t *count_out,
                                kv_error **error_out);

/** Removes matching entities from the local store only, with their pending writes; the collection's
 *  request bookkeeping is forgotten. @param query NULL: all of this collection
 *  @param count_out receives how many entities; may be NULL
 *  @return KV_OK, KV_UNSUPPORTED, KV_STORAGE */
KV_API kv_status kv_store_clear(kv_store *store, kv_query *query, KV_OPTIONAL int64_t *count_out,
                                kv_error **error_out);

/** @} */

/** @defgroup conflict Conflicts
 *  Entities that were changed or deleted here, while the backend has another version than the one that
 *  was changed. The option `conflicts` says what happens; docs/sync.md explains it. @{ */

/** An entity that was changed on both sides. Everything in it is borrowed until the function returns;
 *  texts end with NUL, which their length does not count. */
typedef struct kv_conflict {
  uint32_t size;        /**< Bytes of this struct in the loaded library; later members may follow. */
  uint32_t reserved;
  const char *id;       /**< The entity. */
  const char *base;     /**< What both started from; NULL: there was nothing, or it is unknown. */
  size_t base_length;
  const char *local;    /**< What would be sent; NULL: it was deleted here. */
  size_t local_length;
  const char *remote;   /**< What the backend has; NULL: it was deleted there. */
  size_t remote_length;
} kv_conflict;

/** What a ::kv_conflict_fn answers. */
enum {
  KV_CONFLICT_LEAVE = 0,  /**< Nothing: the write is set aside, in conflict. */
  KV_CONFLICT_KEEP = 1,   /**< Ours replaces theirs. */
  KV_CONFLICT_TAKE = 2,   /**< Theirs replaces ours. */
  KV_CONFLICT_MERGED = 3, /**< What `merged_out` received replaces both. */
  KV_CONFLICT_DELETE = 4  /**< The entity is deleted, here and there. */
};

/**
 * Decides a conflict.
 *
 * @param merged_out  receives, for #KV_CONFLICT_MERGED, an entity as JSON text that ends with NUL, in memory
 *                    of malloc() or strdup(), which the library frees. It may be without `_id`; another
 *                    `_id` makes the answer an error. What it receives with other answers is freed too.
 * @return a KV_CONFLICT_ value; any other is an error of the call that asked, and the conflict stays open
 */
typedef int32_t (*kv_conflict_fn)(void *context, const kv_conflict *conflict, char **merged_out);

/**
 * Sets the function that decides the conflicts which pushes, syncs, retries and writes through this
 * handle meet; unless the option `conflicts` says something else than `"handler"`. NULL as `handler`
 * takes it away.
 *
 * It runs on the client's callback thread (or inside kv_client_dispatch()), with no lock held and nothing
 * on its way, and may call any function, closing the client included; the call that asked waits for it, no
 * longer than its own time. Called from inside a callback, a push asks right there, inside of that
 * callback; so does a blocking call on a pumped client, on its own thread. If the client is closed or the
 * user logged out meanwhile, that call ends with #KV_CANCELLED, and the conflict stays open.
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
 *  The backend tells what happens in a collection, the moment it does: see docs/live.md.
 *
 *  A client holds one request open for all its subscriptions, on a thread of its own. Works with Kinvey's
 *  Live Service and with servers that speak its format. @{ */

/**
 * Lets the active user listen. To be called after each login, and by each program: it is not kept. A second
 * time is harmless.
 *
 * @return KV_OK, KV_NO_USER, KV_UNSUPPORTED (no backend), KV_FORBIDDEN (switched off for the application),
 *         network and server codes
 */
KV_API kv_status kv_live_register(kv_client *client, const char *options, kv_error **error_out);
KV_API kv_status kv_live_register_async(kv_client *client, const char *options, kv_answer_fn done,
                                        void *context, kv_free_fn free_context,
                                        kv_request **request_out, kv_error **error_out);

/**
 * Ends all live subscriptions of the client, which are told so (`disconnected`), then says so to the backend.
 * A logout does this too. Without a registration nothing happens.
 *
 * @return KV_OK, KV_NO_USER, KV_UNSUPPORTED (no backend), network and server codes: the subscriptions have
 *         ended in any case
 */
KV_API kv_status kv_live_unregister(kv_client *client, const char *options, kv_error **error_out);
KV_API kv_status kv_live_unregister_async(kv_client *client, const char *options, kv_answer_fn done,
                                          void *context, kv_free_fn free_context,
                                          kv_request **request_out, kv_error **error_out);

/**
 * Subscribes to what happens on the backend to the entities of a store's collection. It waits for nothing:
 * what comes of it is told to four handlers, which share a context and are called one at a time. Each may be
 * NULL, but not all of them.
 *
 * Every change is told once, also to a subscriber whose connection was away. Several subscriptions to one
 * collection are independent of each other.
 *
 * @param on_ready   `{"event":"ready"}`: every change from now on is told
 * @param on_next    `{"event":"change","change":…,"id":…,"entity":{…}}`: an entity was saved, `change` being
 *                   `create`, `update` or, where the backend does not tell them apart, `save`; without `entity`:
 *                   `delete`, or `fetch` (it was saved, and is too large to be sent, and could not be fetched
 *                   just now)
 * @param on_status  `{"event":"status","status":…}`: `connected`; `unexpectedDisconnect` (it is tried again, after
 *                   pauses), `reconnected` (what came meanwhile follows); `disconnected` (unregistered, logged
 *                   out or refused: the last event). `{"event":"missed"}`: changes were lost that nobody can tell any more,
 *                   or the handlers did not keep up: more than 1,024 waited. Whoever wants to know them pulls.
 * @param on_error   an error with a status: a failure of `liveToLocal` for one entity, after which events go on; or
 *                   the user may not listen, and `disconnected` follows
 * @param options  NULL or `{"liveToLocal":true}`: changes are written to the local store before they are
 *                 told, never over a pending write and never older over newer
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
 *  Messages from user to user, which are kept nowhere: see docs/live.md. Each user owns a part of each stream, where
 *  others may publish and listen as he allows. In all functions `user` is whose part is meant; NULL: the active
 *  user's own. @{ */

/**
 * Reads who may do what with a part, besides its owner: `{"subscribe":[ids],"publish":[ids],"groups":{…}}`.
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

/** Replaces it. Who may not listen any more is told nothing any more.
 *  @return as above, KV_MISUSE (no `acl_json`), KV_INVALID (a member that an ACL does not have, or not of ids) */
KV_API kv_status kv_stream_set_acl(kv_client *client, const char *stream,
                                   KV_OPTIONAL const char *user, const char *acl_json,
                                   size_t length, const char *options, kv_error **error_out);
KV_API kv_status kv_stream_set_acl_async(kv_client *client, const char *stream,
                                         KV_OPTIONAL const char *user, const char *acl_json,
                                         size_t length, const char *options, kv_answer_fn done,
                                         void *context, kv_free_fn free_context,
                                         kv_request **request_out, kv_error **error_out);

/** Lists the users of whose parts the active user may use something: an array of ids.
 *  @return KV_OK, KV_NO_USER, KV_UNSUPPORTED (no backend), network and server codes */
KV_API kv_status kv_stream_owners(kv_client *client, const char *stream, const char *options,
                                  char **json_out, size_t *length_out, kv_error **error_out);
KV_API kv_status kv_stream_owners_async(kv_client *client, const char *stream, const char *options,
                                        kv_answer_fn done, void *context, kv_free_fn free_context,
                                        kv_request **request_out, kv_error **error_out);

/**
 * Sends a message, any JSON of up to 32 KB, to whoever listens at this moment. It is sent once: when no answer comes
 * (a network code) it may have been told or not. kv_live_register() comes first.
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
 * Listens to a part. As kv_store_subscribe(), but that `on_next` gets `{"event":"message","message":…}`, and that
 * nothing is caught up after an absence that the backend does not remember: `missed` is told.
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
 *  Reads and writes over several stores of one client and tag that happen all at once, or not at all. All local: what is
 *  written is queued, in its order, and sent as any other write when the transaction has been committed.
 *
 *  Reads see the data as it was when the transaction began, with its own writes on top. Nothing is locked meanwhile, and
 *  the application may take its time, for instance to ask a network. If what was read is not the same any more when it
 *  commits – by whomever it was changed: a save, a pull, live data, another process –, the commit gives #KV_CONFLICT and
 *  has written nothing. Also a query is read: an entity that it would find now and did not find then is a conflict.
 *  Entities that are written without having been read are written as kv_store_save() would.
 *  Observers are told once. While a transaction is open the log of the file grows: end it soon.
 *  @{ */

typedef struct kv_transaction kv_transaction;

/**
 * The body of a transaction; see kv_client_transaction().
 *
 * @return KV_OK to commit; everything else undoes the transaction and is what kv_client_transaction() returns
 */
typedef kv_status (*kv_transaction_fn)(void *context, kv_transaction *transaction);

/**
 * Runs a function in a transaction and commits it; if something that it has read has changed meanwhile, again from its
 * beginning, in a new transaction, after a short random pause.
 *
 * @param options  `tag` (by default the client's), `retries` (how often it runs again; 100), `timeout` (seconds; 60). NULL:
 *                 none
 * @param body     called on this thread, with no lock held, perhaps several times; it must neither commit nor close the
 *                 transaction
 * @return KV_OK; KV_CONFLICT (others were faster each time); KV_CANCELLED (the client was closed); KV_MISUSE; KV_INVALID;
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

/** The same on a condition, the option `if` of kv_store_save(): #KV_CONFLICT if it does not hold for the entity as the
 *  transaction sees it, which then counts as read. What the transaction itself has written has no version yet.
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

/** The same on a condition; see kv_transaction_save_if(). @param options `{"if":…}`, or NULL */
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
 * Writes everything in one step that is on the disk when this returns, and ends the transaction, also if it fails. The
 * handle is to be closed as well.
 *
 * @return KV_OK, KV_CONFLICT (what was read has changed; nothing was written), KV_MISUSE (it has ended), KV_STORAGE, KV_FULL,
 *         KV_BUSY
 */
KV_API kv_status kv_transaction_commit(kv_transaction *transaction, kv_error **error_out);

/** Closes a transaction; one that was not committed has written nothing. NULL is harmless. DESTRUCTOR */
KV_API void kv_transaction_close(KV_OPTIONAL kv_transaction *transaction);

/** @} */

/** @defgroup cursor Cursors
 *  The entities of a find, one after the other, as they were when it ran. A cursor that reads the
 *  local store holds a snapshot of it: close it soon.
 *
 *  An entity whose stored body is damaged is answered by #KV_CORRUPT, once, with its id in the error; the next call goes on
 *  behind it. Whether a damaged entity matches a filter nobody can tell: it counts as if it did. @{ */

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
 * @param limit      how many at the most; 0: all that are left
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

/** @defgroup backend Backends
 *  A backend of the program's own: functions that read and write records, for any service, file or database that the
 *  library does not know. A client opened with `"backend":"<name>"` has with it what it has with any other: sync, auto,
 *  cache and network stores, pending writes, quarantine, conflicts, observers, delta, paging. docs/backends.md describes
 *  each request and answer with examples.
 *
 *  - **Requests.** The library calls a function with the number of a request and its JSON. The function, or whoever it
 *    hands the number to, completes the request by kv_backend_complete(): from any thread, at any time, also before the
 *    function returns. A request that is not completed ends with #KV_TIMEOUT at the deadline of the call that it is part
 *    of (the option `timeout`, 60 seconds).
 *  - **Numbers, not pointers.** Completing a request twice, after its deadline, after the client was closed, or one that
 *    never was, is #KV_NOT_FOUND and harmless.
 *  - **Threads.** Functions are called on threads of the library's that do nothing else, up to `requestsAtOnce` at the
 *    same time, with no lock held; `live` on others, and `cancel` on one more, one call at a time. They may call any function of the library,
 *    also close the client. One that never returns keeps its thread, nothing else.
 *  - **Answers that are none** – no JSON, a member missing, a record without its id, more results than writes – fail the
 *    operation with #KV_PROTOCOL. A write whose result is missing stays pending and is sent again.
 *  - There are no users: nobody logs in, and `kv_user_…` is #KV_UNSUPPORTED. kv_live_register() needs nobody.
 *  @{ */

/**
 * Carries out a request: begins it, or does it at once. Exactly one kv_backend_complete() should follow, unless the
 * request is cancelled.
 *
 * @param context  as given to kv_backend_register()
 * @param request  its number, never 0, never given twice in this process
 * @param json     what is asked for; borrowed until the function returns; a NUL follows
 */
typedef void (*kv_backend_fn)(void *context, uint64_t request, const char *json, size_t length);

/** Tells that nobody waits for a request any more: its deadline has passed, or it was cancelled. It may come while the
 *  function of the request still runs, and may cross its completion. */
typedef void (*kv_backend_cancel_fn)(void *context, uint64_t request);

/** The functions of a backend. Members may be added at the end; those that are NULL, or not within `size`, are missing. */
typedef struct kv_backend {
  uint32_t size;     /**< Set by the caller to sizeof(kv_backend). */
  uint32_t reserved; /**< 0. */
  /** A page of a collection, required. `{"collection":…,"filter":{…},"sort":{…},"skip":n,"limit":n,"pageSize":n,
   *  "after":token|null}` is answered by `{"records":[…],"next":token|null,"token":text|null}`. `filter` is there if there
   *  is one; `sort`, `skip` and `limit` only for backends that evaluate queries. `next` asks for the page behind this one
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
   *  `next` is any JSON value but null. `incomplete` says that changes behind `after` are no longer known: subscribers are
   *  told to read the collection. */
  kv_backend_fn live;
  /** May be NULL. */
  kv_backend_cancel_fn cancel;
} kv_backend;

/**
 * Registers a backend for this process, so that clients can be opened with it.
 *
 * A name is given once: to put another backend in its place, unregister the first. Clients that have that one go on with it.
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
 * Takes a backend out of the register. Clients that were opened with it go on; none is opened any more.
 *
 * @return KV_OK, KV_MISUSE, KV_NOT_FOUND
 */
KV_API kv_status kv_backend_unregister(const char *name, kv_error **error_out);

/**
 * Completes a request. Any thread; never waits.
 *
 * @param request  its number
 * @param status   #KV_OK with the answer; or how the whole request failed. It passes, and is tried again when there is a
 *   reason to: #KV_NETWORK and #KV_TIMEOUT (no answer: an auto store reads locally then), #KV_SERVER and #KV_BUSY (not now).
 *   The backend's last word: #KV_INVALID, #KV_NOT_FOUND, #KV_CONFLICT, #KV_UNAUTHORIZED, #KV_FORBIDDEN, #KV_UNSUPPORTED,
 *   #KV_TOO_LARGE. Any other is #KV_PROTOCOL.
 * @param json     the answer, copied; of a failure NULL or `{"message":…,"after":seconds}`
 * @param length   bytes, or #KV_NUL_TERMINATED
 * @return KV_OK (also if the answer turns out to be none, which the operation tells), KV_NOT_FOUND (nobody waits for it),
 *         KV_INVALID (the length), KV_TOO_LARGE (the request has failed with that)
 */
KV_API kv_status kv_backend_complete(uint64_t request, kv_status status,
                                     KV_OPTIONAL const char *json, size_t length,
                                     kv_error **error_out);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* KVSTORE_H */
