/* libmicrohttpd: the HTTP side of kvstored.
 *
 * Its functions that take options are variadic and its logger takes a va_list, neither of which Swift
 * can call; each gets a typed name here. */
#pragma once
#include <microhttpd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* What a content reader gives instead of a count; the originals are casts, which Swift does not import. */
#define MHD_CONTENT_READER_END_OF_STREAM_VALUE (-1L)
#define MHD_CONTENT_READER_END_WITH_ERROR_VALUE (-2L)

/* What a daemon is started with. The TLS texts are PEM, NULL for plain HTTP. */
struct kv_mhd_options
{
  int listen_socket;
  unsigned int threads;
  unsigned int connections;
  unsigned int connections_per_address;
  unsigned int idle_seconds;
  size_t connection_memory;
  const char *tls_key;
  const char *tls_certificate;
  void *context;
  MHD_AccessHandlerCallback handle;
  void *(*start) (void *context, const char *target, struct MHD_Connection *connection);
  MHD_RequestCompletedCallback complete;
  MHD_NotifyConnectionCallback connection;
  void (*log) (void *context, const char *message);
};

/* Leaves targets as they came: the default would turn %2F into a slash before the path is split. */
static size_t
kv_mhd_keep_escapes (void *context, struct MHD_Connection *connection, char *text)
{
  (void) context;
  (void) connection;
  return strlen (text);
}

static void
kv_mhd_log (void *options, const char *format, va_list arguments)
{
  struct kv_mhd_options *its = (struct kv_mhd_options *) options;
  char message[512];
  vsnprintf (message, sizeof message, format, arguments);
  message[strcspn (message, "\r\n")] = 0;
  its->log (its->context, message);
}

/* Starts epoll threads. `options` must stay where it is until the daemon has stopped. */
static inline struct MHD_Daemon *
kv_mhd_start (struct kv_mhd_options *options)
{
  struct MHD_OptionItem more[6];
  int count = 0;
  unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME
                       | MHD_USE_TURBO | MHD_USE_ERROR_LOG;
  if (options->threads > 1)
    more[count++] = (struct MHD_OptionItem){ MHD_OPTION_THREAD_POOL_SIZE, options->threads, NULL };
  if (options->connections_per_address > 0)
    more[count++] = (struct MHD_OptionItem){
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, options->connections_per_address, NULL };
  if (options->tls_key != NULL && options->tls_certificate != NULL)
    {
      flags |= MHD_USE_TLS;
      more[count++] = (struct MHD_OptionItem){
        MHD_OPTION_HTTPS_MEM_KEY, 0, (void *) options->tls_key };
      more[count++] = (struct MHD_OptionItem){
        MHD_OPTION_HTTPS_MEM_CERT, 0, (void *) options->tls_certificate };
    }
  more[count] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
  return MHD_start_daemon (
    flags, 0, NULL, NULL, options->handle, options->context,
    MHD_OPTION_EXTERNAL_LOGGER, &kv_mhd_log, options,
    MHD_OPTION_LISTEN_SOCKET, options->listen_socket,
    MHD_OPTION_CONNECTION_LIMIT, options->connections,
    MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds,
    MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_memory,
    MHD_OPTION_UNESCAPE_CALLBACK, &kv_mhd_keep_escapes, NULL,
    MHD_OPTION_URI_LOG_CALLBACK, options->start, options->context,
    MHD_OPTION_NOTIFY_COMPLETED, options->complete, options->context,
    MHD_OPTION_NOTIFY_CONNECTION, options->connection, options->context,
    MHD_OPTION_ARRAY, more,
    MHD_OPTION_END);
}

/* The socket of a connection, -1 if unknown. */
static inline int
kv_mhd_socket (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

/* What the connection callback stored for a connection. */
static inline void *
kv_mhd_peer (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

/* The address of the other side; NULL if unknown. */
static inline const struct sockaddr *
kv_mhd_address (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info == NULL ? NULL : info->client_addr;
}
