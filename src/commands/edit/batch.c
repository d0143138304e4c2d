/* A batch over the folder of `smempipe edit`, as it would be typed. The program is confined and cannot begin one; a
 * process that it forked before can, and nothing else: its words are those of the command line, but for the name of a
 * folder to write, which the page may send. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/tool.h"
#include "commands/edit/session.h"

enum { MOST_NAME = 200 }; /* bytes */

/* Of a folder beside the one that is read: no path, not hidden, no option. */
static bool is_name(const char *name)
{
    const size_t length = strlen(name);
    bool good = length && length <= MOST_NAME && name[0] != '.' && name[0] != '-' && !strchr(name, '/');
    for (size_t i = 0; i < length; i++)
        good = good && (unsigned char)name[i] >= 32 && name[i] != 127;
    return good;
}

char *smp_edit_batch_output(const smp_edit_session *session, const char *name)
{
    const char *in = session->settings->in;
    size_t parent = strlen(in);
    if (session->settings->output)
        return smp_strdup(session->settings->output);
    while (parent > 1 && in[parent - 1] == '/')
        parent--;
    const size_t end = parent;
    while (parent && in[parent - 1] != '/')
        parent--;
    if (!is_name(name))
        return NULL;
    const bool by_dots = end - parent <= 2 && !strncmp(in + parent, "..", end - parent); /* it is named by no name */
    return by_dots ? smp_asprintf("%.*s/../%s", (int)end, in, name) : smp_asprintf("%.*s%s", (int)parent, in, name);
}

static void stay(int) {} /* a signal to the group is for the batch */

static void run_one(const smp_edit_session *session, const char *name)
{
    int status = smp_exit_status(SMP_E_USAGE);
    smp_error err = {.code = SMP_OK};
    char *output = smp_edit_batch_output(session, name);
    const char *const words[] = {
        "/proc/self/exe", "batch", session->save_to, session->settings->in, "-o", output, "--report", "-", NULL};
    if (!output)
        puts("write the name of a new folder, without slashes");
    else if (smp_tool_run_own((char *const *)(uintptr_t)words, NULL, -1, false, &status, &err))
        puts(err.message);
    fflush(stdout); /* the end is a packet */
    printf("{\"ended\": %d}\n", status);
    fflush(stdout);
    smp_free(output);
}

static void serve_batches(const smp_edit_session *session, int channel, pid_t parent)
{
    char name[MOST_NAME + 2];
    const int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setpgid(0, 0);
    signal(SIGINT, stay);
    if (getppid() != parent || dup2(channel, 3) < 0 || dup2(3, 1) < 0 || dup2(3, 2) < 0 || dup2(none, 0) < 0)
        _exit(1);
    for (int file = 4; file < 1024; file++) /* decoders end when nobody holds their channels */
        close(file);
    fcntl(3, F_SETFD, FD_CLOEXEC);
    for (ssize_t got; (got = recv(3, name, sizeof name - 1, 0)) > 0 || (got < 0 && errno == EINTR);) {
        name[got > 0 ? got : 0] = '\0';
        if (got > 0)
            run_one(session, name);
    }
    _exit(0);
}

smp_code smp_edit_batch_open(smp_edit_session *session, smp_error *err)
{
    int ends[2];
    const pid_t self = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return smp_fail(err, SMP_E_PROCESS, "cannot make a channel to a process: %s", strerror(errno));
    fflush(NULL);
    session->batch = fork();
    if (!session->batch)
        serve_batches(session, ends[1], self);
    close(ends[1]);
    session->batch_channel = ends[0];
    return session->batch > 0 ? SMP_OK : smp_fail(err, SMP_E_PROCESS, "cannot begin a process for batches");
}

void smp_edit_batch_run(smp_edit_session *session, const char *name)
{
    bool runs = false;
    const size_t size = strnlen(name, MOST_NAME) + 1; /* the end of the name, or a byte too many: it is refused there */
    if (atomic_compare_exchange_strong(&session->batch_runs, &runs, true))
        (void)send(session->batch_channel, name, size, MSG_NOSIGNAL);
}

bool smp_edit_batch_hear(smp_edit_session *session, char *text, size_t size, bool wait)
{
    static const char end[] = "{\"ended\":";
    ssize_t got = 1;
    for (size_t used = 0; got > 0 && used < size / 2; used += (size_t)got) { /* a packet is a write of somebody's */
        got = recv(session->batch_channel, text + used, size - used - 1, wait ? 0 : MSG_DONTWAIT);
        text[used + (size_t)(got > 0 ? got : 0)] = '\0';
        if (!got || !strncmp(text + used, end, strlen(end)))
            session->batch_runs = false;
    }
    return got != 0;
}

void smp_edit_batch_close(smp_edit_session *session, bool stopped)
{
    char text[1 << 16];
    if (session->batch <= 0)
        return;
    if (stopped)
        kill(-session->batch, SIGINT);
    shutdown(session->batch_channel, SHUT_WR);
    while (smp_edit_batch_hear(session, text, sizeof text, true)) /* it goes on to the end, or to that of files begun */
        ;
    waitpid(session->batch, NULL, 0);
}
