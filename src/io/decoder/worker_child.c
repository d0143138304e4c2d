/* The spawner is forked while the program has one thread, holds nothing but its socket, and forks decoders when the
 * program has many. A decoder confines itself and reads what it is told to read: descriptors come with the asks, rows
 * go to memory that the program shares. */
#include "io/decoder/worker_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "io/decoder/worker_message.h"
#include "io/drawn/draw_library.h"
#include "io/format.h"
#include "io/library.h"

void (*smp_decoder_hook)(int input);

static void call_hook(int input)
{
    if (smp_decoder_hook)
        smp_decoder_hook(input);
}

/* ------------------------------------------------------------------------------------------------ descriptors */

/* Makes descriptor 0 nothing, and `count` given ones SMP_FD_CHANNEL and on. All others are closed. */
static void keep_only(const int *descriptors, int count)
{
    enum { ASIDE = 32 };
    int aside[4];
    for (int i = 0; i < count; i++)
        aside[i] = fcntl(descriptors[i], F_DUPFD_CLOEXEC, ASIDE);
    for (int i = 0; i < count; i++)
        if (aside[i] < 0 || dup2(aside[i], SMP_FD_CHANNEL + i) < 0)
            _exit(1);
    int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0)
        nothing = SMP_FD_CHANNEL; /* keeps the numbers taken */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
#if SMP_SANITIZED
        if (fd != STDERR_FILENO)
#endif
            (void)dup2(nothing, fd);
    const int first = SMP_FD_CHANNEL + count;
    if (syscall(SYS_close_range, first, ~0U, 0) == 0)
        return;
    const long most = sysconf(_SC_OPEN_MAX);
    for (int fd = first; fd < (most > 0 && most < 65536 ? most : 65536); fd++)
        close(fd);
}

/* A signal to the whole group is for the program to act on: its end is theirs. A crash is a crash, whoever wants to
 * handle it in the program. */
static void leave_signals_to_the_program(void)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGXCPU};
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        signal(numbers[i], SIG_IGN);
#if !SMP_SANITIZED /* which reports them */
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        signal(crashes[i], SIG_DFL);
#else
    (void)crashes;
#endif
}

/* Threads of libraries have stacks of `ulimit -s`, and addresses are bounded. */
static void bound_stacks(void)
{
    enum { STACK = 8 << 20 };
    pthread_attr_t usual;
    size_t size;
    if (pthread_getattr_default_np(&usual) != 0)
        return;
    if (pthread_attr_getstacksize(&usual, &size) == 0 && size > STACK && pthread_attr_setstacksize(&usual, STACK) == 0)
        (void)pthread_setattr_default_np(&usual);
    pthread_attr_destroy(&usual);
}

/* Dies with its parent, which may be gone already. */
static void end_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
}

/* ------------------------------------------------------------------------------------------------ a decoder */

typedef struct decoder {
    smp_reader *reader;
    unsigned char *arena;
    uint64_t arena_size;
    bool ahead, again;  /* as in smp_answer, of the file that is open */
    int64_t some;       /* rows that SMP_ASK_SOME gave */
    uint64_t born;      /* bytes of smp_alloc that the program had */
    smp_writer *writer; /* of one that encodes */
} decoder;

/* Secrets that a program got this way are none of a decoder's business. */
static void forget_environment(void)
{
    for (char **at = environ; at && *at; at++)
        memset(*at, 0, strlen(*at));
    environ = NULL;
}

static void close_file(decoder *d)
{
    smp_reader_close(d->reader);
    smp_writer_abort(d->writer);
    d->reader = NULL;
    d->writer = NULL;
}

static bool map_arena(decoder *d, uint64_t size)
{
    if (size != d->arena_size) {
        if (d->arena)
            munmap(d->arena, (size_t)d->arena_size);
        void *at = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, SMP_FD_ARENA, 0);
        d->arena = at == MAP_FAILED ? NULL : at;
        d->arena_size = d->arena ? size : 0;
    }
    return d->arena != NULL;
}

/* Reads all rows of a picture that fits the shared memory. What goes wrong, or is noted, shall be told when rows are
 * asked for, by a reader that stands where it would. */
static void read_ahead(decoder *d, const smp_ask *ask)
{
    const smp_media *media = smp_reader_media(d->reader);
    const smp_shape *shape = smp_media_rows(media);
    const int64_t stride = smp_ahead_stride(shape);
    int64_t bytes;
    smp_error ignored;
    if (ask->options.frames || ask->options.want.coded || ask->options.want.shrink ||
        !smp_mul_i64(stride, shape->height, &bytes) || (uint64_t)bytes > ask->arena || !map_arena(d, ask->arena))
        return;
    const smp_notes *notes = smp_reader_notes(d->reader);
    const int before = notes->count + notes->more;
    d->ahead = smp_reader_rows(d->reader, d->arena, stride, shape->height, &ignored) == SMP_OK &&
               notes->count + notes->more == before;
    d->again = !d->ahead;
}

static smp_code open_file(decoder *d, const smp_ask *ask, int descriptors, smp_error *err)
{
    close_file(d);
    d->ahead = d->again = false;
    if (descriptors != (ask->spool ? 2 : 1))
        return smp_fail(err, SMP_E_PROCESS, "the file did not reach the process that decodes");
    smp_source source = {
        .fd = SMP_FD_INPUT,
        .owned = true,
        .seekable = ask->seekable,
        .size = ask->size,
        .limit = ask->options.limits.max_file ? ask->options.limits.max_file : UINT64_MAX,
        .spool_file = ask->spool ? SMP_FD_SPOOL : 0,
    };
    call_hook(SMP_FD_INPUT);
    SMP_TRY(smp_source_buffer(&source, err));
    SMP_TRY(smp_reader_open_source(&source, "", &ask->options, &d->reader, err));
    if (ask->arena)
        read_ahead(d, ask);
    return SMP_OK;
}

static smp_code read_rows(decoder *d, unsigned char *to, const smp_ask *ask, smp_error *err)
{
    return ask->kind == SMP_ASK_SOME ? smp_reader_some(d->reader, to, ask->stride, ask->rows, &d->some, err)
                                     : smp_reader_rows(d->reader, to, ask->stride, ask->rows, err);
}

/* Rows that follow the answer. */
static smp_code gather_rows(decoder *d, const smp_ask *ask, smp_blob *rows, smp_error *err)
{
    rows->size = (size_t)(ask->rows * ask->stride);
    rows->data = smp_alloc_raw(rows->size);
    return rows->data ? read_rows(d, rows->data, ask, err) : smp_fail_memory(err, "rows", rows->size);
}

static smp_code put_rows(decoder *d, const smp_ask *ask, smp_error *err)
{
    SMP_NEED(map_arena(d, ask->arena), "rows", ask->arena, err);
    return read_rows(d, d->arena + ask->at, ask, err);
}

/* ------------------------------------------------------------------------------------------------ an encoder */

/* Bytes of the file, in parts: the program has memory for each. */
static void send_output(const void *data, size_t size, int64_t at)
{
    enum { PART = 1 << 20 };
    for (size_t done = 0, n; done < size; done += n) {
        n = size - done < PART ? size - done : PART;
        const smp_answer answer = {.output = true, .bytes = (uint32_t)n, .at = at < 0 ? at : at + (int64_t)done};
        if (!smp_message_send(SMP_FD_CHANNEL, &answer, sizeof answer, (const char *)data + done, n, NULL, 0))
            _exit(0);
    }
}

/* Bytes that follow an ask. Null, and they are gone: there is no memory. */
static unsigned char *receive_bytes(uint64_t size)
{
    unsigned char gone[4096], *data = smp_alloc_raw((size_t)size);
    for (uint64_t at = 0, n; at < size; at += n) {
        n = data || size - at < sizeof gone ? size - at : sizeof gone;
        if (smp_message_receive(SMP_FD_CHANNEL, data ? data : gone, (size_t)n, NULL, NULL) != SMP_RECEIVED)
            _exit(1);
    }
    return data;
}

static smp_code take_writing(smp_writer **out, const smp_ask *ask, smp_writing *also, smp_error *err)
{
    smp_wire wire = {.data = receive_bytes(ask->bytes), .size = ask->bytes, .reading = true};
    SMP_NEED(wire.data, "metadata", ask->bytes, err);
    if (!*out && (*out = smp_alloc(sizeof **out)))
        (*out)->name = smp_strdup("");
    if (*out)
        smp_writing_wire(&wire, *out, also);
    smp_free(wire.data);
    SMP_NEED(*out && (*out)->name && !wire.failed, "metadata", ask->bytes, err);
    smp_writer *w = *out;
    w->by = w->format;
    w->shape.icc = NULL;
    w->options.output.take = send_output;
    return w->output ? SMP_OK : smp_output_open_as(also->seekable ? "" : "-", &w->options.output, &w->output, err);
}

static smp_code begin_writing(decoder *d, const smp_ask *ask, smp_error *err)
{
    smp_writing also = {.meta.srgb_intent = -1};
    smp_code code = take_writing(&d->writer, ask, &also, err);
    smp_blob coded = {.data = ask->coded ? receive_bytes(ask->coded) : NULL, .size = ask->coded};
    if (!code && coded.size && !coded.data)
        code = smp_fail_memory(err, "what is coded", coded.size);
    call_hook(SMP_FD_INPUT);
    if (!code) {
        d->writer->options.coded.picture = coded.size ? &coded : NULL;
        code = smp_writer_begin(d->writer, also.tagged ? &also.meta : NULL, err);
        d->writer->options.coded.picture = NULL;
    }
    smp_meta_free(&also.meta);
    smp_free(coded.data);
    return code;
}

static smp_code write_rows(decoder *d, const smp_ask *ask, smp_error *err)
{
    SMP_NEED(map_arena(d, ask->arena), "rows", ask->arena, err);
    d->writer->delay = ask->delay;
    return smp_writer_rows(d->writer, d->arena, ask->stride, ask->rows, err);
}

static smp_code finish_writing(decoder *d, smp_error *err)
{
    SMP_TRY(smp_writer_finish(d->writer, err));
    return smp_outputs_sync(&d->writer->output, 1, err);
}

/* ------------------------------------------------------------------------------------------------ answers */

/* Whether all rows of a file that has one picture were given: nothing more can be asked of it. */
static bool is_done(const decoder *d, smp_code code)
{
    const smp_reader *reader = d->reader;
    return !code && reader && !reader->options.frames && reader->next_row == smp_media_rows(&reader->media)->height;
}

static void reply(decoder *d, smp_code code, smp_error *err, bool opened, bool more, smp_blob *rows)
{
    smp_notes none = {.count = 0};
    smp_wire wire = {.data = NULL};
    smp_notes *notes = d->writer   ? &d->writer->notes
                       : d->reader ? (smp_notes *)(uintptr_t)smp_reader_notes(d->reader)
                                   : &none;
    smp_media *media = !code && opened ? (smp_media *)(uintptr_t)smp_reader_media(d->reader) : NULL;
    smp_alloc_limit(0); /* the message is no part of what the file may take; the next ask sets the limit again */
    smp_answer_wire(&wire, code ? err : NULL, notes, media, !code && rows->data ? rows : NULL);
    smp_free(rows->data);
    if (!code && (wire.failed || wire.size > SMP_MOST_ANSWER)) {
        code = wire.failed ? smp_fail_memory(err, "what the file says", wire.size)
                           : smp_fail(err, SMP_E_LIMIT, "it holds %zu bytes beside its samples, more than %d",
                                      wire.size, SMP_MOST_ANSWER);
        smp_free(wire.data);
        wire = (smp_wire){.data = NULL};
        smp_answer_wire(&wire, err, notes, NULL, NULL);
    }
    if (media) {
        smp_free(media->coded.data); /* it is in the message */
        media->coded = (smp_blob){0};
    }
    const uint64_t held = smp_alloc_live() - wire.capacity, live = held > d->born ? held - d->born : 0;
    smp_answer answer = {
        .code = (int)code,
        .more = more,
        .closed = is_done(d, code),
        .ahead = opened && !code && d->ahead,
        .again = opened && !code && d->again,
        .bytes = (uint32_t)wire.size,
        .delay = d->reader ? d->reader->delay : 0,
        .rows = d->some,
        .leftover = d->reader ? smp_reader_media(d->reader)->leftover : 0,
        .live = live,
        .peak = smp_alloc_peak() > d->born ? smp_alloc_peak() - d->born : 0,
        .refused = smp_alloc_refused(),
        .picture = smp_checked_bytes(),
        .clipped = d->writer ? d->writer->clipped : 0,
        .seconds = d->reader ? smp_reader_input_seconds(d->reader) : 0,
    };
    if (wire.failed || !smp_message_send(SMP_FD_CHANNEL, &answer, sizeof answer, wire.data, wire.size, NULL, 0))
        _exit(1);
    smp_free(wire.data);
    if (answer.closed)
        close_file(d);
}

enum { KEPT = 32 << 20 }; /* bytes of freed memory that wait for the next file */

/* Does what is asked. rows: those that are to follow the answer. */
static smp_code act(decoder *d, const smp_ask *ask, int descriptors, bool *more, smp_blob *rows, smp_error *err)
{
    switch (ask->kind) {
    case SMP_ASK_OPEN:
        return open_file(d, ask, descriptors, err);
    case SMP_ASK_SETTLE:
        return smp_reader_settle(&d->reader, err);
    case SMP_ASK_NEXT:
        return smp_reader_next(d->reader, more, err);
    case SMP_ASK_BEGIN:
        return begin_writing(d, ask, err);
    case SMP_ASK_PUT:
        return write_rows(d, ask, err);
    case SMP_ASK_FINISH:
        return finish_writing(d, err);
    default:
        return ask->arena ? put_rows(d, ask, err) : gather_rows(d, ask, rows, err);
    }
}

_Noreturn void smp_decoder(int parent, int channel, int arena, uint64_t memory, unsigned libraries)
{
    const bool encodes = libraries & SMP_LIBRARY_ENCODERS;
    decoder d = {.born = smp_alloc_live()};
    smp_hello hello = {.pid = getpid()};
    const int kept[] = {channel, arena};
    end_with(parent);
    leave_signals_to_the_program();
    bound_stacks();
    keep_only(kept, 2);
    prctl(PR_SET_NAME, encodes ? "smp-encoder" : "smp-decoder");
    forget_environment();
    smp_libraries_close();
    smp_alloc_keep(KEPT);
    /* The program bounds the addresses of one that encodes: its library may want a stack and a heap a thread. */
    smp_sandbox_decoder(SMP_FD_CHANNEL, SMP_FD_SPOOL, encodes ? 0 : memory, encodes ? NULL : smp_draw_folders(),
                        encodes, &hello.confinement);
    call_hook(-1);
    if (!smp_message_send(SMP_FD_CHANNEL, &hello, sizeof hello, NULL, 0, NULL, 0))
        _exit(1);
    for (smp_ask ask;;) {
        smp_error err = {.code = SMP_OK};
        int descriptors;
        if (smp_message_receive(SMP_FD_CHANNEL, &ask, sizeof ask, NULL, &descriptors) != SMP_RECEIVED)
            _exit(0);
        smp_alloc_limit(ask.memory ? ask.memory + d.born : 0);
        smp_alloc_restart_peak();
        if (ask.kind == SMP_ASK_CLOSE) {
            close_file(&d);
            continue;
        }
        bool more = false;
        smp_blob rows = {.data = NULL};
        d.some = 0;
        const smp_code code = act(&d, &ask, descriptors, &more, &rows, &err);
        reply(&d, code, &err, ask.kind == SMP_ASK_OPEN || ask.kind == SMP_ASK_SETTLE, more, &rows);
    }
}

/* ------------------------------------------------------------------------------------------------ the spawner */

typedef struct spawner {
    int *pids;
    size_t count, capacity;
    uint64_t memory;
} spawner;

static int begin(spawner *n, int channel, int arena, unsigned libraries)
{
    const pid_t self = getpid();
    smp_libraries_open(libraries);
    if (!smp_grow(&n->pids, &n->capacity, n->count + 1, sizeof *n->pids))
        return -ENOMEM;
    const pid_t pid = fork();
    if (pid == 0)
        smp_decoder(self, channel, arena, n->memory, libraries);
    if (pid < 0)
        return -errno;
    n->pids[n->count++] = pid;
    return pid;
}

/* A decoder that ended by itself is waited for here too, so that its id is nobody else's until now. */
static int end(spawner *n, int pid)
{
    int status = 0;
    for (size_t i = 0; i < n->count; i++) {
        if (n->pids[i] != pid)
            continue;
        n->pids[i] = n->pids[--n->count];
        kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0)
            if (errno != EINTR)
                return -errno;
        return status;
    }
    return -ESRCH;
}

_Noreturn static void serve(pid_t keeper, int asks, uint64_t memory)
{
    spawner n = {.memory = memory};
    end_with(keeper);
    prctl(PR_SET_NAME, "smp-spawner");
    if (dup2(asks, SMP_FD_CHANNEL) < 0)
        _exit(0);
    close(asks);
    for (;;) {
        smp_spawner_ask ask;
        int descriptors;
        if (smp_message_receive(SMP_FD_CHANNEL, &ask, sizeof ask, NULL, &descriptors) != SMP_RECEIVED)
            break;
        smp_spawner_answer answer = {.value = -EBADF};
        if (ask.end)
            answer.value = end(&n, ask.end);
        else if (descriptors == 2)
            answer.value = begin(&n, SMP_FD_CHANNEL + 1, SMP_FD_CHANNEL + 2, ask.libraries);
        for (int i = 0; i < descriptors; i++)
            close(SMP_FD_CHANNEL + 1 + i);
        if (!smp_message_send(SMP_FD_CHANNEL, &answer, sizeof answer, NULL, 0, NULL, 0))
            break;
    }
    for (size_t i = 0; i < n.count; i++) /* all at once, then one after another */
        kill(n.pids[i], SIGKILL);
    while (n.count)
        end(&n, n.pids[0]);
    _exit(0);
}

/* Waits for the spawner, and for decoders that it left. True: it was killed. */
static bool outlives(pid_t child)
{
    for (int status;;) {
        const pid_t ended = waitpid(-1, &status, 0);
        if (ended == child)
            return WIFSIGNALED(status);
        if (ended < 0 && errno != EINTR)
            return false;
    }
}

_Noreturn void smp_spawner(int parent, int sockets, uint64_t memory)
{
    const pid_t self = getpid();
    end_with(parent);
    leave_signals_to_the_program();
    keep_only(&sockets, 1);
    prctl(PR_SET_NAME, "smp-keeper");
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    for (;;) {
        const double begun = smp_now();
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
            !smp_message_send(SMP_FD_CHANNEL, "", 1, NULL, 0, &pair[0], 1))
            _exit(0);
        close(pair[0]);
        const pid_t pid = fork();
        if (pid == 0)
            serve(self, pair[1], memory);
        close(pair[1]);
        if (pid < 0 || !outlives(pid))
            _exit(0);
        struct pollfd gone = {.fd = SMP_FD_CHANNEL}; /* the program's end */
        for (double left; (left = begun + 1 - smp_now()) > 0 && poll(&gone, 1, (int)(left * 1000) + 1) == 0;)
            ;
    }
}
