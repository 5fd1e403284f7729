/* What of libc is a GNU or Linux extension, and therefore not in Swift's Glibc module. */
#pragma once
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

/* Declared here because the headers hide it without _GNU_SOURCE. */
extern int pthread_setname_np(pthread_t thread, const char *name);
