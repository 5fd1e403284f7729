/*
 * What our code and the libraries linked into it use of a glibc newer than 2.28, from what 2.28 has. Nothing of it is
 * exported. <sys/stat.h> would declare the functions as this machine's glibc has them, which is the same for the
 * 64-bit ABIs: struct stat and struct stat64 are one, and the old functions take the number of its layout.
 */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <sys/types.h>

#if !defined(__LP64__) || __GLIBC__ != 2
#error "the layouts of struct stat are those of glibc on 64-bit machines"
#endif

#ifdef __x86_64__
enum { stat_layout = 1, mknod_layout = 0 };
#else
enum { stat_layout = 0, mknod_layout = 0 };
#endif

int __xstat(int layout, const char *path, struct stat *result);
int __fxstat(int layout, int fd, struct stat *result);
int __lxstat(int layout, const char *path, struct stat *result);
int __fxstatat(int layout, int directory, const char *path, struct stat *result, int flags);
int __xmknod(int layout, const char *path, mode_t mode, dev_t *device);

int stat(const char *path, struct stat *result) { return __xstat(stat_layout, path, result); }
int fstat(int fd, struct stat *result) { return __fxstat(stat_layout, fd, result); }
int lstat(const char *path, struct stat *result) { return __lxstat(stat_layout, path, result); }
int fstatat(int directory, const char *path, struct stat *result, int flags) {
  return __fxstatat(stat_layout, directory, path, result, flags);
}
int mknod(const char *path, mode_t mode, dev_t device) { return __xmknod(mknod_layout, path, mode, &device); }

int stat64(const char *path, struct stat64 *result) { return stat(path, (struct stat *)result); }
int fstat64(int fd, struct stat64 *result) { return fstat(fd, (struct stat *)result); }
int lstat64(const char *path, struct stat64 *result) { return lstat(path, (struct stat *)result); }

/* libstdc++ uses atomic operations only if it is false. A program that has loaded this library has threads. */
char __libc_single_threaded = 0;

/*
 * Debian's static libjansson and libnghttp2 read these variables of libc directly, which a shared library must not. Only
 * functions do that which nobody calls: json_loadf and a diagnosis. The build renames the variables there.
 */
void *kvstore_no_stdin = 0;
void *kvstore_no_stderr = 0;
