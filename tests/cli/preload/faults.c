/* For LD_PRELOAD: a system that does less than usual, as SMP_FAULT says.
 *   short-writes   write(2) to a batch's journal takes half of the bytes
 *   no-seccomp     seccomp(2) is not there; no-confinement: Landlock neither
 *   no-folders     mkdtemp(3) makes none */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LANDLOCK_CREATE = 444, LANDLOCK_RESTRICT = 446 };

static char fault[40]; /* decoders forget their environment */

__attribute__((constructor)) static void read_fault(void)
{
    const char *given = getenv("SMP_FAULT");
    snprintf(fault, sizeof fault, "%s", given ? given : "");
}

static int fault_is(const char *name)
{
    return !strcmp(fault, name);
}

static int is_journal(int fd)
{
    char link[40], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return strstr(path, ".smempipe-journal") != NULL;
}

ssize_t write(int fd, const void *data, size_t size)
{
    static ssize_t (*next)(int, const void *, size_t);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "write");
    return next(fd, data, size > 1 && fault_is("short-writes") && is_journal(fd) ? size / 2 : size);
}

char *mkdtemp(char *name)
{
    static char *(*next)(char *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "mkdtemp");
    errno = EROFS;
    return fault_is("no-folders") ? NULL : next(name);
}

long syscall(long number, ...)
{
    static long (*next)(long, ...);
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    const int landlock = number >= LANDLOCK_CREATE && number <= LANDLOCK_RESTRICT;
    if ((number == SYS_seccomp && (fault_is("no-seccomp") || fault_is("no-confinement"))) ||
        (landlock && fault_is("no-confinement"))) {
        errno = ENOSYS;
        return -1;
    }
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
