/* The processes that decode: see worker_process.h. */
#include "io/decoder/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/os/release_hook.h"
#include "io/decoder/worker.h"
#include "io/decoder/worker_child.h"
#include "io/files/source.h"
#include "io/library.h"

enum { SPARE_SPACE = 512 << 20 /* bytes of addresses beside what a header asks for: program, libraries, metadata */ };

static struct {
    bool runs;
    pid_t spawner;     /* its keeper; 0: none */
    int keeper_socket; /* sends sockets of spawners */
    int asks;          /* the present one's; -1: not received yet */
    uint64_t max_memory;
    atomic_int lack; /* an smp_lack, the most */
    smp_worker *idle;
    pthread_mutex_t lock; /* of idle, and of one ask to the spawner at a time */
} state = {.asks = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

bool smp_worker_runs(void)
{
    return state.runs;
}

static void close_pair(const int *pair)
{
    close(pair[0]);
    close(pair[1]);
}

/* A channel (pair[1] is the decoder's) and shared memory, which nobody can make smaller under the other's feet. */
static bool make_ends(int *pair, int *arena)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    *arena = memfd_create("rows", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*arena < 0) {
        const int number = errno;
        close_pair(pair);
        errno = number;
        return false;
    }
    (void)fcntl(*arena, F_ADD_SEALS, F_SEAL_SHRINK);
    return true;
}

const smp_worker_words *smp_worker_says(unsigned libraries)
{
    static const smp_worker_words decoder = {"decoder", "decodes", "decoding", SMP_E_DECODE},
                                  encoder = {"encoder", "encodes", "encoding", SMP_E_ENCODE};
    return libraries & SMP_LIBRARY_ENCODERS ? &encoder : &decoder;
}

static smp_code fail_start(unsigned libraries, int number, smp_error *err)
{
    const char *does = smp_worker_says(libraries)->does;
    char text[128];
    smp_fail(err, SMP_E_PROCESS, "cannot start the process that %s files: %s", does,
             smp_os_error(number, text, sizeof text));
    return smp_hint(err, "--no-sandbox %s them without one", does);
}

static smp_code fail_keeper(smp_error *err)
{
    smp_fail(err, SMP_E_PROCESS, "the process that starts those that decode files was killed");
    return smp_hint(err, "somebody ended it, or the system ran out of memory: run it again, a batch with --resume");
}

void smp_worker_unmap(void *map, size_t size)
{
    if (!map)
        return;
    smp_release_hook_call(map);
    munmap(map, size);
}

static void free_worker(smp_worker *w)
{
    smp_worker_unmap(w->map, w->mapped);
    close(w->channel);
    close(w->arena);
    smp_free(w);
}

/* Bytes of shared memory that an idle decoder keeps: writing to new pages takes longer than copying. */
static uint64_t kept_arena(void)
{
    enum { LEAST = 8 << 20, MOST = 64 << 20, SHARE = 32 };
    return smp_max_u64(LEAST, smp_min_u64(state.max_memory / SHARE, MOST));
}

uint64_t smp_worker_addresses(uint64_t held)
{
    return state.max_memory ? (held == UINT64_MAX ? state.max_memory : held) + SPARE_SPACE : 0;
}

/* The ends of a new process; *other is the decoder's channel. */
static smp_code make_worker(unsigned libraries, smp_worker **out, int *other, smp_error *err)
{
    int pair[2], arena;
    smp_worker *w = *out = smp_alloc(sizeof *w);
    SMP_NEED(w, "a decoder", sizeof *w, err);
    if (!make_ends(pair, &arena)) {
        const int number = errno;
        smp_free(w);
        return fail_start(libraries, number, err);
    }
    *w = (smp_worker){.channel = pair[0], .arena = arena};
    *other = pair[1];
    return SMP_OK;
}

/* A child of this process, which has one thread. */
static smp_code start_own(unsigned libraries, smp_error *err)
{
    int other;
    smp_worker *w;
    SMP_TRY(make_worker(libraries, &w, &other, err));
    const pid_t self = getpid(), pid = fork();
    if (pid == 0)
        smp_decoder(self, other, w->arena, smp_worker_addresses(state.max_memory), libraries);
    const int number = errno;
    close(other);
    if (pid < 0) {
        free_worker(w);
        return fail_start(libraries, number, err);
    }
    w->own = true;
    w->libraries = libraries | smp_libraries_opened();
    w->pid = pid;
    w->next = state.idle;
    state.idle = w;
    return SMP_OK;
}

smp_code smp_worker_start(uint64_t max_memory, smp_error *err)
{
    if (state.runs)
        return SMP_OK;
    state.max_memory = max_memory;
    SMP_TRY(start_own(0, err));
    state.runs = true;
    return SMP_OK;
}

smp_code smp_worker_start_encoder(smp_error *err)
{
    return state.runs ? start_own(SMP_LIBRARY_ENCODERS, err) : SMP_OK;
}

static smp_code start_spawner(smp_error *err)
{
    int pair[2];
    if (state.spawner)
        return SMP_OK;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return fail_start(0, errno, err);
    const pid_t self = getpid(), pid = fork();
    if (pid == 0)
        smp_spawner(self, pair[1], smp_worker_addresses(state.max_memory));
    const int number = errno;
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return fail_start(0, number, err);
    }
    state.keeper_socket = pair[0];
    state.asks = -1;
    state.spawner = pid;
    return SMP_OK;
}

smp_code smp_worker_more(smp_error *err)
{
    pthread_mutex_lock(&state.lock);
    smp_code code = state.runs ? start_spawner(err) : SMP_OK;
    pthread_mutex_unlock(&state.lock);
    return code;
}

/* The socket of the spawner that was begun last; -1: its keeper is gone. */
static int receive_asks(void)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } room;
    char byte;
    int fd = -1;
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
    ssize_t got;
    while ((got = recvmsg(state.keeper_socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    const struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}

/* Asks the spawner; -errno: -EAGAIN when it was killed, and there will be another, -EPIPE without its keeper. */
static int ask_spawner(const smp_spawner_ask *ask, const int *descriptors, int count)
{
    smp_spawner_answer answer = {.value = -EPIPE};
    pthread_mutex_lock(&state.lock);
    if (state.spawner && state.asks < 0)
        state.asks = receive_asks();
    if (state.asks >= 0 && (!smp_message_send(state.asks, ask, sizeof *ask, NULL, 0, descriptors, count) ||
                            smp_message_receive(state.asks, &answer, sizeof answer, NULL, NULL) != SMP_RECEIVED)) {
        close(state.asks);
        state.asks = -1;
        answer.value = -EAGAIN;
    }
    pthread_mutex_unlock(&state.lock);
    return answer.value;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return status;
}

int smp_worker_end(smp_worker *w)
{
    const smp_spawner_ask ask = {.end = w->pid};
    const bool own = w->own;
    if (own)
        kill(w->pid, SIGKILL);
    const int status = own ? wait_for(w->pid) : ask_spawner(&ask, NULL, 0);
    free_worker(w);
    return status;
}

void smp_worker_stop(void)
{
    if (!state.runs)
        return;
    for (smp_worker *w; (w = state.idle);) {
        state.idle = w->next;
        if (w->own)
            smp_worker_end(w);
        else
            free_worker(w);
    }
    if (state.spawner) {
        if (state.asks >= 0)
            close(state.asks);
        close(state.keeper_socket);
        wait_for(state.spawner);
        state.spawner = 0;
    }
    state.runs = false;
}

static bool died(const smp_worker *w)
{
    struct pollfd channel = {.fd = w->channel, .events = POLLIN};
    return poll(&channel, 1, 0) > 0; /* hung up, or says what nobody asked */
}

/* Hears the first words. */
static smp_received greet(smp_worker *w, double time_limit)
{
    if (w->hello.pid)
        return SMP_RECEIVED;
    w->watch = smp_watch_of(w->pid);
    w->watch.time_limit = time_limit > 0 ? fmin(time_limit, smp_worker_patience) : smp_worker_patience;
    const smp_patience patience = smp_watch_patience(&w->watch);
    const smp_received got = smp_message_receive(w->channel, &w->hello, sizeof w->hello, &patience, NULL);
    const smp_confinement *by = &w->hello.confinement;
    const int lack = by->seccomp ? SMP_LACKS_NOTHING : by->landlock ? SMP_LACKS_SECCOMP : SMP_LACKS_BOTH;
    if (got == SMP_RECEIVED && lack)
        atomic_store(&state.lack, lack);
    return got == SMP_RECEIVED && w->hello.pid <= 0 ? SMP_RECEIVED_END : got;
}

smp_code smp_worker_late(double time_limit, smp_error *err)
{
    smp_fail(err, SMP_E_LIMIT, "decoding takes more than the %g seconds of --time-limit", time_limit);
    return smp_hint(err, "raise it when the file is sound");
}

/* A new decoder says nothing. */
static smp_code fail_greeting(unsigned libraries, smp_received got, double time_limit, smp_error *err)
{
    const char *does = smp_worker_says(libraries)->does;
    if (got != SMP_RECEIVED_LATE)
        return fail_start(libraries, EPIPE, err);
    if (time_limit > 0 && time_limit <= smp_worker_patience)
        return smp_worker_late(time_limit, err);
    smp_fail(err, SMP_E_PROCESS, "the process that %s files does not begin within %g seconds", does,
             smp_worker_patience);
    return smp_hint(err, "--no-sandbox %s them without one", does);
}

/* Takes an idle process that has these libraries, first one without others, and one that encodes to encode alone. */
static smp_worker *take_idle(unsigned libraries)
{
    smp_worker **found = NULL;
    pthread_mutex_lock(&state.lock);
    for (smp_worker **at = &state.idle; *at && (!found || (*found)->libraries != libraries); at = &(*at)->next) {
        const unsigned more = (*at)->libraries ^ libraries;
        if (!(more & (libraries | SMP_LIBRARY_ENCODERS)) && (!found || !more))
            found = at;
    }
    smp_worker *w = found ? *found : NULL;
    if (w)
        *found = w->next;
    pthread_mutex_unlock(&state.lock);
    return w;
}

smp_code smp_worker_take(unsigned libraries, double time_limit, smp_worker **out, smp_error *err)
{
    *out = NULL;
    for (smp_worker *idle; (idle = take_idle(libraries));) {
        const smp_received heard = greet(idle, time_limit);
        if (heard == SMP_RECEIVED && !died(idle)) {
            *out = idle;
            return SMP_OK;
        }
        smp_worker_end(idle);
        if (heard == SMP_RECEIVED_LATE)
            return fail_greeting(libraries, heard, time_limit, err);
    }
    enum { TRIES = 3 }; /* each with ends of its own: a decoder of a spawner that was killed may have spoken */
    int pid = -EAGAIN;
    smp_worker *w = NULL;
    smp_code code = smp_worker_more(err);
    for (int i = 0, other; !code && pid == -EAGAIN && i < TRIES; i++) {
        if ((code = make_worker(libraries, &w, &other, err)))
            return code;
        const int ends[] = {other, w->arena};
        pid = ask_spawner(&(smp_spawner_ask){.libraries = libraries}, ends, 2);
        close(other);
        if (pid <= 0)
            free_worker(w);
    }
    if (!code && pid == -EPIPE)
        return fail_keeper(err);
    if (code || pid <= 0)
        return code ? code : fail_start(libraries, -pid, err);
    w->pid = pid;
    w->libraries = libraries | smp_libraries_opened();
    const smp_received heard = greet(w, time_limit);
    if (heard != SMP_RECEIVED) {
        smp_worker_end(w);
        return fail_greeting(libraries, heard, time_limit, err);
    }
    *out = w;
    return SMP_OK;
}

/* A limit of file sizes (ulimit -f) holds for shared memory too, and passing it would be a signal. */
static bool may_be_as_large(size_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size;
}

bool smp_worker_map_arena(smp_worker *w, size_t size)
{
    enum { PAGE = 1 << 16 }; /* a multiple of every system's */
    if (size <= w->mapped)
        return true;
    size = (size + PAGE - 1) / PAGE * PAGE;
    smp_worker_unmap(w->map, w->mapped);
    w->map = NULL;
    w->mapped = 0;
    struct stat status; /* it may have been larger, and does not shrink */
    if (fstat(w->arena, &status) != 0 ||
        (status.st_size < (off_t)size && (!may_be_as_large(size) || ftruncate(w->arena, (off_t)size) != 0)))
        return false;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, w->arena, 0);
    if (at == MAP_FAILED)
        return false;
    w->map = at;
    w->mapped = size;
    return true;
}

void smp_worker_give_back(smp_worker *w)
{
    if (w->mapped > kept_arena()) {
        smp_worker_unmap(w->map, w->mapped);
        (void)fallocate(w->arena, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)w->mapped);
        w->map = NULL;
        w->mapped = 0;
    }
    pthread_mutex_lock(&state.lock);
    w->next = state.idle;
    state.idle = w;
    pthread_mutex_unlock(&state.lock);
}

smp_code smp_worker_confinement(char *text, size_t size, smp_error *err)
{
    smp_worker *w;
    SMP_TRY(smp_worker_take(0, 0, &w, err));
    smp_confinement_text(&w->hello.confinement, text, size);
    smp_worker_give_back(w);
    return SMP_OK;
}

smp_lack smp_worker_lacks(void)
{
    return (smp_lack)atomic_load(&state.lack);
}
