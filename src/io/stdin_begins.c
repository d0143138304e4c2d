/* What standard input begins with, without reading it: for decisions that come before the process that will read. */
#include <unistd.h>

#include "io/source.h"

#ifdef __linux__

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

/* tee(2) copies what lies in a pipe to another, and takes nothing out. */
static size_t copy_of_pipe(uint8_t *head, size_t size, double seconds)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int ends[2];
    ssize_t got = 0;
    if (poll(&input, 1, (int)(seconds * 1000)) <= 0 || pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    if (tee(STDIN_FILENO, ends[1], size, SPLICE_F_NONBLOCK) > 0)
        got = read(ends[0], head, size);
    close(ends[0]);
    close(ends[1]);
    return got > 0 ? (size_t)got : 0;
}

size_t smp_stdin_begins(uint8_t *head, size_t size, double seconds)
{
    struct stat status;
    if (fstat(STDIN_FILENO, &status) != 0)
        return 0;
    if (S_ISFIFO(status.st_mode))
        return copy_of_pipe(head, size, seconds);
    const off_t at = S_ISREG(status.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
    const ssize_t got = at >= 0 ? pread(STDIN_FILENO, head, size, at) : 0;
    return got > 0 ? (size_t)got : 0;
}

#else

size_t smp_stdin_begins(uint8_t *head, size_t size, double seconds)
{
    (void)head, (void)size, (void)seconds;
    return 0;
}

#endif
