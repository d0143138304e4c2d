/* Looks at the first bytes of a pipe or socket without reading them: for decisions that come before the process that
 * will read. */
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/files/source.h"

enum {
    WAIT = 3000, /* milliseconds that a pipe may take to begin */
    STEP = 2     /* and between two looks at one that has begun, but holds less than is asked for */
};

/* tee(2) copies what lies in a pipe to another, and takes nothing out. */
static ssize_t look_into_pipe(int fd, uint8_t *head, size_t size)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    ssize_t got = tee(fd, ends[1], size, SPLICE_F_NONBLOCK);
    if (got > 0)
        got = read(ends[0], head, size);
    close(ends[0]);
    close(ends[1]);
    return got;
}

/* A writer may begin late and with a few bytes. Whoever has closed the other end writes no more. */
static size_t wait_for(int fd, bool pipe, uint8_t *head, size_t size, bool *all)
{
    const double end = smp_now() + 1e-3 * WAIT;
    size_t had = 0;
    for (double left; (left = end - smp_now()) > 0;) {
        struct pollfd input = {.fd = fd, .events = POLLIN | POLLRDHUP};
        if (poll(&input, 1, (int)(1e3 * left) + 1) <= 0)
            return had;
        const ssize_t got = pipe ? look_into_pipe(fd, head, size) : recv(fd, head, size, MSG_PEEK | MSG_DONTWAIT);
        had = got > 0 ? (size_t)got : had;
        *all = had == size || (got >= 0 && input.revents & (POLLHUP | POLLRDHUP));
        if (*all || poll(NULL, 0, STEP) < 0)
            return had;
    }
    return had;
}

size_t smp_source_begins(int fd, uint8_t *head, size_t size, bool *all)
{
    struct stat status;
    *all = false;
    if (fstat(fd, &status) != 0 || (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)))
        return 0;
    return wait_for(fd, S_ISFIFO(status.st_mode), head, size, all);
}
