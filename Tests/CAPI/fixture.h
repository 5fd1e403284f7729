/* What several programs need: a directory of their own, clients on it, a server, time. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <kvstore.h>

#include <stdint.h>

/* A fresh empty directory; gone at the end of the program. */
const char *fresh_directory(void);

/* A client without a backend, in a directory of its own or (directory not NULL) in that one.
 * `more` are further members, such as ",\"callbacks\":\"pump\"", or "". */
kv_client *local_client(const char *directory, const char *more);

/* A store of a client; the program ends if that fails. */
kv_store *opened_store(kv_client *client, const char *collection, const char *type);

/* A client of the server at a port, with application "kid" and secret "secret". */
kv_client *server_client(int port, const char *directory, const char *more);

/* Saves one entity; the program ends if that fails. */
void saved(kv_store *store, const char *json);

/* What a count gives; -1 if it fails. */
int64_t counted(kv_store *store);

/* Starts the server of $KVSTORED on fresh data and gives its port. It ends with the program, or with
 * stop_server(). The program ends, with a message, if there is no server to start. */
int start_server(void);
void stop_server(void);

/* A port that takes connections and never answers. */
int silent_port(void);

/* The same, and the socket that listens there. */
int silent_socket(int *port);

/* Empties a text, and dispatches the callbacks of a client with "callbacks":"pump" until one has written into it; the program
 * ends if nothing comes for 60 seconds. */
void dispatch_until_written(kv_client *client, char *text);

/* Seconds on the monotonic clock. */
double seconds(void);

/* The member `uri` of what kv_context_describe() gives. Freed by the caller. */
char *uri_of(const char *described);

/* A text of `count` times `part`, between `head` and `tail`. Freed by the caller. */
char *repeated(const char *head, const char *part, size_t count, const char *tail);

#endif
