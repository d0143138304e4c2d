/* Whole messages over a stream socket: see feed.h. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "feed/feed.h"

bool smp_feed_receive(int socket, void *to, size_t size, int *fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } room;
    if (fd)
        *fd = -1;
    for (size_t got = 0; got < size;) {
        struct iovec part = {(char *)to + got, size - got};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        if (fd && *fd < 0) { /* the kernel drops what there is no room for: all but one */
            message.msg_control = room.bytes;
            message.msg_controllen = CMSG_LEN(sizeof *fd);
        }
        const ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        got += (size_t)n;
        const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        if (head && head->cmsg_type == SCM_RIGHTS)
            memcpy(fd, CMSG_DATA(head), sizeof *fd);
    }
    return true;
}

static bool send_all(int socket, const void *from, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        const ssize_t n = send(socket, (const char *)from + sent, size - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        sent += (size_t)n;
    }
    return true;
}

bool smp_feed_send(int socket, const smp_feed_answer *answer, const void *bytes)
{
    return send_all(socket, answer, sizeof *answer) && send_all(socket, bytes, (size_t)answer->bytes);
}
