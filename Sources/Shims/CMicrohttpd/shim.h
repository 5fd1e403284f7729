/* libmicrohttpd: the HTTP side of kvstored.
 *
 * Its functions that take options are variadic and its logger takes a va_list, neither of which Swift
 * can call; each gets a typed name here. */
#pragma once
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* What a content reader gives instead of a count; the originals are casts, which Swift does not import. */
#define MHD_CONTENT_READER_END_OF_STREAM_VALUE (-1L)
#define MHD_CONTENT_READER_END_WITH_ERROR_VALUE (-2L)

/* What a daemon is started with. `listen_socket` -1: connections are handed to it one by one. `certificate` gives each connection its certificate and key; NULL for plain HTTP. */
struct kv_mhd_options
{
  int listen_socket;
  unsigned int threads;
  unsigned int connections;
  unsigned int connections_per_address;
  unsigned int idle_seconds;
  size_t connection_memory;
  gnutls_certificate_retrieve_function2 *certificate;
  /* Which protocols and ciphers are allowed, as GnuTLS writes it. */
  const char *priority;
  /* The authorities of clients' certificates as PEM; NULL: clients have none. */
  const char *client_authorities;
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
  struct MHD_OptionItem more[8];
  int count = 0;
  unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME
                       | MHD_USE_TURBO | MHD_USE_ERROR_LOG;
  if (options->listen_socket >= 0)
    more[count++] =
      (struct MHD_OptionItem){ MHD_OPTION_LISTEN_SOCKET, options->listen_socket, NULL };
  else
    flags |= MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC;
  if (options->threads > 1)
    more[count++] = (struct MHD_OptionItem){ MHD_OPTION_THREAD_POOL_SIZE, options->threads, NULL };
  if (options->connections_per_address > 0)
    more[count++] = (struct MHD_OptionItem){
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, options->connections_per_address, NULL };
  if (options->certificate != NULL)
    {
      flags |= MHD_USE_TLS;
      more[count++] = (struct MHD_OptionItem){
        MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *) options->certificate };
      more[count++] = (struct MHD_OptionItem){
        MHD_OPTION_HTTPS_PRIORITIES, 0, (void *) options->priority };
      if (options->client_authorities != NULL)
        more[count++] = (struct MHD_OptionItem){
          MHD_OPTION_HTTPS_MEM_TRUST, 0, (void *) options->client_authorities };
    }
#if MHD_VERSION >= 0x00097700
  more[count++] = (struct MHD_OptionItem){ MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1, NULL };
#endif
  more[count] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
  return MHD_start_daemon (
    flags, 0, NULL, NULL, options->handle, options->context,
    MHD_OPTION_EXTERNAL_LOGGER, &kv_mhd_log, options,
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

/* The same of the connection that a TLS session belongs to: what libmicrohttpd makes the session's pointer. */
static inline void *
kv_mhd_peer_of_session (gnutls_session_t session)
{
  struct MHD_Connection *connection = (struct MHD_Connection *) gnutls_session_get_ptr (session);
  return connection == NULL ? NULL : kv_mhd_peer (connection);
}

/* Has the handshake of a session fail unless the client has a certificate for clients of the authorities that it was started with. To be
 * called while the server's own certificate is chosen: the client is asked for its one afterwards. libmicrohttpd by itself asks for
 * one, and leaves it to the application to look at it when the connection stands already. */
static inline void
kv_mhd_require_client_certificate (gnutls_session_t session)
{
  /* GnuTLS keeps the address. */
  static gnutls_typed_vdata_st purpose = {
    GNUTLS_DT_KEY_PURPOSE_OID, (unsigned char *) GNUTLS_KP_TLS_WWW_CLIENT, 0 };
  gnutls_certificate_server_set_request (session, GNUTLS_CERT_REQUIRE);
  gnutls_session_set_verify_cert2 (session, &purpose, 1, 0);
}

/* The address of the other side; NULL if unknown. */
static inline const struct sockaddr *
kv_mhd_address (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info == NULL ? NULL : info->client_addr;
}

/* Hides the parameters of a target that `start` was given, and has copied. The library would note each of them in
 * the memory of the connection, which some hundreds of them fill, and then fall silent. */
static inline void
kv_mhd_hide_parameters (const char *target)
{
  char *mark = strchr ((char *) target, '?');
  if (mark != NULL)
    mark[1] = 0;
}

/* Whether a head is written as RFC 9112 has it: single spaces in the first line, CR LF after each line, no line that
 * goes on in the next one, no NUL. `target_size` is of the target as it came.
 *
 * libmicrohttpd 0.9.75 tolerates all of these, has no option to refuse them, and does not tell. But it parses a head
 * where it lies: `method` leads to its first byte, and NULs replace what separates its parts:
 *
 *     GET 0 /path 0 HTTP/1.1 0 0 Host 0 _example 0 0 Accept 0 _x 0 0 0 0
 *
 * so what else separates them shows. Only that version is looked into: later ones have an option. */
static inline int
kv_mhd_is_plain_head (struct MHD_Connection *connection, const char *method, const char *version,
                      size_t target_size)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  const char *line, *end;
  if (strcmp (MHD_get_version (), "0.9.75") != 0 || info == NULL)
    return 1;
  end = method + info->header_size;
  if (version != method + strlen (method) + 1 + target_size + 1 || end - version < 12)
    return 0;
  line = version + 10;
  if (version[8] != 0 || version[9] != 0)
    return 0;
  while (end - line > 2)
    {
      const char *colon = memchr (line, 0, (size_t) (end - line));
      const char *stop =
        colon == NULL ? NULL : memchr (colon + 1, 0, (size_t) (end - colon - 1));
      if (line[0] == 0 || line[0] == ' ' || line[0] == '\t' || stop == NULL || end - stop < 4
          || stop[1] != 0)
        return 0;
      line = stop + 2;
    }
  return end - line == 2 && line[0] == 0 && line[1] == 0;
}
