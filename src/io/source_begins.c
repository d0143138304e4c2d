/* What an input begins with, without reading it: for decisions that come before the process that will read. */
#include <unistd.h>

#include "io/source.h"

#ifdef __linux__

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

enum { WAIT = 3 /* seconds that a pipe may take to begin */ };

/* tee(2) copies what lies in a pipe to another, and takes nothing out. */
static size_t copy_of_pipe(int fd, uint8_t *head, size_t size)
{
    struct pollfd input = {.fd = fd, .events = POLLIN};
    int ends[2];
    ssize_t got = 0;
    if (poll(&input, 1, 1000 * WAIT) <= 0 || pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    if (tee(fd, ends[1], size, SPLICE_F_NONBLOCK) > 0)
        got = read(ends[0], head, size);
    close(ends[0]);
    close(ends[1]);
    return got > 0 ? (size_t)got : 0;
}

size_t smp_source_begins(int fd, uint8_t *head, size_t size)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return 0;
    if (S_ISFIFO(status.st_mode))
        return copy_of_pipe(fd, head, size);
    const off_t at = S_ISREG(status.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    const ssize_t got = at >= 0 ? pread(fd, head, size, at) : 0;
    return got > 0 ? (size_t)got : 0;
}

#else

size_t smp_source_begins(int fd, uint8_t *head, size_t size)
{
    (void)fd, (void)head, (void)size;
    return 0;
}

#endif
