/* Holds many long polls open, then writes once and sees when they are answered.
 *
 *   polls PORT PATHS WRITE
 *
 * PATHS has the path of a poll in each line, WRITE a whole HTTP request. Prints "waiting" when all polls were
 * sent. A line on standard input lets it write: it prints the microseconds until the write was answered, until
 * the first poll was and until the last one. */
#include "data.h"
#include "raw.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static int reach(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  int one = 1, socket_ = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (socket_ < 0 || connect(socket_, (struct sockaddr *)&address, sizeof address))
    raw_fail("connect", "failed");
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return socket_;
}

static void send_all(int to, const char *text, size_t length) {
  if (send(to, text, length, 0) != (ssize_t)length) raw_fail("send", "failed");
}

static void watch(int epoll, int socket_) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = socket_};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket_, &event)) raw_fail("epoll", "failed");
}

/* Reads what has come; the rest of an answer is of no interest. */
static int is_answered(int socket_) {
  char bytes[16384];
  ssize_t length = recv(socket_, bytes, sizeof bytes - 1, 0);
  if (length <= 0) raw_fail("poll", "the connection was closed");
  bytes[length] = 0;
  if (strncmp(bytes, "HTTP/1.1 2", 10)) raw_fail("poll", bytes);
  return 1;
}

static int open_polls(const char *paths, int port, int epoll) {
  FILE *file = fopen(paths, "r");
  char path[1024], request[1200];
  int count = 0;
  if (!file) raw_fail(paths, "cannot be read");
  while (fgets(path, sizeof path, file)) {
    int socket_ = reach(port);
    path[strcspn(path, "\n")] = 0;
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: bench\r\n\r\n", path);
    send_all(socket_, request, (size_t)length);
    watch(epoll, socket_);
    count++;
  }
  fclose(file);
  return count;
}

int main(int count, char **arguments) {
  if (count != 4) raw_fail(arguments[0], "PORT PATHS WRITE");
  char line[16], request[4096];
  int port = atoi(arguments[1]), epoll = epoll_create1(0), writer = reach(port);
  int left = open_polls(arguments[2], port, epoll);
  FILE *file = fopen(arguments[3], "r");
  if (!file) raw_fail(arguments[3], "cannot be read");
  size_t length = fread(request, 1, sizeof request, file);
  fclose(file);
  puts("waiting");
  fflush(stdout);
  if (!fgets(line, sizeof line, stdin)) return 0;
  struct epoll_event events[256];
  if (epoll_wait(epoll, events, 1, 0) > 0) raw_fail("poll", "answered before anything was written");
  double start = data_now(), written = 0, first = 0, last = 0;
  watch(epoll, writer);
  send_all(writer, request, length);
  while (left > 0 || written == 0) {
    int ready = epoll_wait(epoll, events, 256, 20000);
    if (ready <= 0) raw_fail("poll", "not all were answered");
    for (int i = 0; i < ready; i++) {
      int from = events[i].data.fd;
      if (!is_answered(from)) continue;
      last = data_now() - start;
      epoll_ctl(epoll, EPOLL_CTL_DEL, from, NULL);
      if (from == writer) {
        written = last;
        continue;
      }
      if (first == 0) first = last;
      left--;
    }
  }
  printf("%.1f %.1f %.1f\n", written * 1e6, first * 1e6, last * 1e6);
  return 0;
}
