/* libcurl's easy and multi interfaces. Swift can not call variadic functions: each kind of argument
 * gets a setter of its own name here. */
#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* Switches, numbers and enumerations. */
static inline CURLcode kvcurl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

/* Sizes that may exceed a long on other machines. */
static inline CURLcode kvcurl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

/* Texts, which libcurl copies. */
static inline CURLcode kvcurl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

/* Memory that has to live as long as the option is in force, or, for CURLOPT_COPYPOSTFIELDS, is copied. */
static inline CURLcode kvcurl_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return curl_easy_setopt(easy, option, value);
}

/* CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION, CURLOPT_READFUNCTION: they share one type. */
static inline CURLcode kvcurl_set_callback(CURL *easy, CURLoption option,
                                           curl_write_callback value) {
  return curl_easy_setopt(easy, option, value);
}

/* CURLOPT_SEEKFUNCTION. */
static inline CURLcode kvcurl_set_seek(CURL *easy, curl_seek_callback value) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}

/* CURLOPT_OPENSOCKETFUNCTION. */
static inline CURLcode kvcurl_set_open_socket(CURL *easy, curl_opensocket_callback value) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

/* CURLOPT_PREREQFUNCTION. */
static inline CURLcode kvcurl_set_prereq(CURL *easy, curl_prereq_callback value) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

/* Where this libcurl looks for certificate authorities when it is told nothing; NULL: nowhere. */
static inline const char *kvcurl_built_in_ca_file(void) { return curl_version_info(CURLVERSION_NOW)->cainfo; }
static inline const char *kvcurl_built_in_ca_directory(void) {
  return curl_version_info(CURLVERSION_NOW)->capath;
}

/* How many bytes of the request have been sent, over all connections that were tried. */
static inline long kvcurl_sent_bytes(CURL *easy) {
  long count = 0;
  curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &count);
  return count;
}

/* CURLOPT_XFERINFOFUNCTION. */
static inline CURLcode kvcurl_set_progress(CURL *easy, curl_xferinfo_callback value) {
  return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, value);
}

/* What libcurl 8.6 and later say of an answer that exceeds one of their limits: CURLE_TOO_LARGE. Earlier versions say
 * CURLE_OUT_OF_MEMORY. */
static const CURLcode kvcurl_too_large = (CURLcode)100;

/* Whether CURLE_OUT_OF_MEMORY may also mean that an answer exceeds a limit. */
static inline int kvcurl_hides_limits(void) {
  return curl_version_info(CURLVERSION_NOW)->version_num < 0x080600;
}

/* Whether a first byte of the answer has come. */
static inline int kvcurl_has_answer(CURL *easy) {
  curl_off_t microseconds = 0;
  curl_easy_getinfo(easy, CURLINFO_STARTTRANSFER_TIME_T, &microseconds);
  return microseconds > 0;
}

/* The socket of a handle with CURLOPT_CONNECT_ONLY; CURL_SOCKET_BAD: it is not connected any more. */
static inline curl_socket_t kvcurl_active_socket(CURL *easy) {
  curl_socket_t value = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &value);
  return value;
}

/* What CURLOPT_PRIVATE remembers. */
static inline void *kvcurl_private(CURL *easy) {
  void *value = NULL;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&value);
  return value;
}

static inline CURLMcode kvcurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

/* The next transfer that has ended, with its result; NULL: none. The message itself is a union,
 * which is better read here. */
static inline CURL *kvcurl_multi_next_done(CURLM *multi, CURLcode *result) {
  int left = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}
