/* Serves batches: see feed.h. A thread receives what is asked; those of a batch run (batch/batch.h) take the files of
 * one asked batch after another, and the one that ends the last file of a batch answers it. */
#include "feed/feed.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/files/tar.h"
#include "io/files/source.h"

enum {
    MOST_MESSAGE = 256 << 20, /* bytes */
    MOST_SAMPLES = 1 << 20,   /* of a batch */
    MOST_TRIES = 10,
    END_SECONDS = 2, /* that files under way may take when nobody waits for them any more */
    NAME = 48,       /* bytes of an output's name: where its batch is, "ADDRESS-SLOT.npy" */
    PATH = 32        /* of a member's: "/proc/self/fd/9" */
};

typedef struct buffer {
    int64_t id;
    unsigned char *at;
    size_t size;
} buffer;

/* A batch. Its files whose decoder somebody killed are handed out again: that is no fault of theirs. */
typedef struct asked {
    struct asked *next; /* in the queue, or under way */
    smp_feed_ask ask;
    char *bytes; /* of the message: samples, then paths */
    const smp_feed_sample *samples;
    smp_batch_file *files;
    char (*names)[NAME];
    char (*paths)[PATH]; /* of tars' members */
    int *opened;         /* descriptors of members, 0: none */
    const char **from;   /* the files, or tars, of all slots */
    char **wrong;        /* lines of pictures that are not there; null */
    unsigned char *at;   /* the memory; null: none */
    size_t room;
    size_t count, left; /* files handed out, and not ended */
    bool *killed;       /* of all slots */
    int tries;
    atomic_bool cancelled;
} asked;

typedef struct feed {
    int socket;
    const smp_feed_format *format;
    pthread_mutex_t lock, sending;
    pthread_cond_t changed;
    asked *queue, **queue_end; /* not begun */
    asked *under_way;
    buffer *buffers;
    size_t buffer_count, buffer_capacity;
    smp_shape shape; /* of all pictures; kind none: not known yet */
    bool ended, done;
    volatile sig_atomic_t stop;
} feed;

/* ------------------------------------------------------------------------------------------------ batches */

static void free_asked(asked *a)
{
    for (size_t i = 0; a && a->wrong && i < a->ask.count; i++)
        smp_free(a->wrong[i]);
    if (a)
        smp_free_all(a->bytes, a->files, a->names, a->paths, a->opened, a->from, a->wrong, a->killed, a);
}

static bool make_room(asked *a)
{
    const size_t count = a->ask.count;
    return (a->files = smp_alloc_array(count, sizeof *a->files)) &&
           (a->names = smp_alloc_array(count, sizeof *a->names)) &&
           (a->paths = smp_alloc_array(count, sizeof *a->paths)) &&
           (a->opened = smp_alloc_array(count, sizeof *a->opened)) &&
           (a->from = smp_alloc_array(count, sizeof *a->from)) &&
           (a->wrong = smp_alloc_array(count, sizeof *a->wrong)) &&
           (a->killed = smp_alloc_array(count, sizeof *a->killed));
}

/* Finds samples and paths in the message. False: it is none, or there is no memory. */
static bool read_batch(asked *a)
{
    const size_t count = a->ask.count, head = count * sizeof(smp_feed_sample), size = (size_t)a->ask.bytes;
    if (!count || count > MOST_SAMPLES || head >= size || a->bytes[size - 1] || !make_room(a))
        return false;
    a->samples = (const smp_feed_sample *)(const void *)a->bytes;
    const char *path = a->bytes + head, *end = a->bytes + size;
    for (size_t i = 0; i < count; i++, path += strlen(path) + 1) {
        if (path == end)
            return false;
        a->from[i] = path;
    }
    return path == end;
}

/* Adds the file of a slot to those that are handed out. */
static void add_file(asked *a, size_t slot)
{
    const bool member = a->samples[slot].offset >= 0;
    snprintf(a->names[slot], NAME, "%" PRIxPTR "-%zu.npy", (uintptr_t)a, slot);
    snprintf(a->paths[slot], PATH, "member");
    a->files[a->count++] = (smp_batch_file){.input = member ? a->paths[slot] : a->from[slot],
                                            .output = a->names[slot],
                                            .number = slot,
                                            .index = a->samples[slot].index,
                                            .epoch = a->ask.epoch,
                                            .own = a};
    a->left = a->count;
}

static void enqueue(feed *f, asked *a)
{
    a->next = NULL;
    *f->queue_end = a;
    f->queue_end = &a->next;
    pthread_cond_broadcast(&f->changed);
}

static smp_code more(void *context, const smp_batch_file **files, size_t *count, smp_error *)
{
    feed *f = context;
    pthread_mutex_lock(&f->lock);
    while (!f->queue && !f->ended)
        pthread_cond_wait(&f->changed, &f->lock);
    asked *a = f->ended ? NULL : f->queue;
    *count = a ? a->count : 0;
    *files = a ? a->files : NULL;
    if (a) {
        f->queue = a->next;
        if (!f->queue)
            f->queue_end = &f->queue;
        a->next = f->under_way;
        f->under_way = a;
    }
    pthread_mutex_unlock(&f->lock);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ files */

/* A member becomes a file without a name, which the process that decodes gets alone. */
static smp_code open_member(asked *a, size_t slot, smp_error *err)
{
    const smp_feed_sample *sample = &a->samples[slot];
    SMP_TRY(smp_tar_open(a->from[slot], (uint64_t)sample->offset, sample->size, &a->opened[slot], err));
    snprintf(a->paths[slot], PATH, "/proc/self/fd/%d", a->opened[slot]);
    return SMP_OK;
}

/* A pipe would be waited for, for ever; "-" would be the socket. */
static smp_code check_file(const char *path, smp_error *err)
{
    char text[128];
    struct stat status;
    if (stat(path, &status) != 0)
        return smp_fail(err, SMP_E_READ, "cannot open: %s", smp_os_error(errno, text, sizeof text));
    return S_ISREG(status.st_mode) ? SMP_OK : smp_fail(err, SMP_E_READ, "it is no regular file");
}

static smp_code begin(void *, const smp_batch_file *file, smp_error *err)
{
    asked *a = file->own;
    if (a->cancelled)
        return smp_fail(err, SMP_E_INTERRUPTED, "cancelled");
    return a->samples[file->number].offset >= 0 ? open_member(a, file->number, err)
                                                : check_file(a->from[file->number], err);
}

/* The shape of the first picture is that of all. */
static smp_code settle_shape(feed *f, const smp_shape *shape, smp_error *err)
{
    smp_shape out;
    SMP_TRY(smp_feed_shape(f->format, shape, &out, err));
    pthread_mutex_lock(&f->lock);
    if (!f->shape.kind)
        f->shape = out;
    const smp_shape all = f->shape;
    pthread_mutex_unlock(&f->lock);
    if (all.width == out.width && all.height == out.height && all.channels == out.channels)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "it is %lldx%lld with %d channels after the pipeline, others are %lldx%lld with %d",
             (long long)out.width, (long long)out.height, out.channels, (long long)all.width, (long long)all.height,
             all.channels);
    return smp_hint(err, "let the pipeline make one size of all, as `resize 256x256^` does");
}

static smp_code take(void *context, const char *name, const smp_shape *shape, int64_t y, int64_t rows, const void *from,
                     int64_t stride, smp_error *err)
{
    feed *f = context;
    char *end;
    const asked *a = (const asked *)(uintptr_t)strtoumax(name, &end, 16);
    const size_t slot = strtoull(end + 1, NULL, 10);
    if (shape->kind != SMP_IMAGE)
        return smp_fail(err, SMP_E_PIPE, "it is a sound, and batches are of pictures");
    SMP_TRY(settle_shape(f, shape, err));
    if (!a->at)
        return SMP_OK;
    const size_t bytes = smp_feed_bytes(f->format, &f->shape);
    if (bytes > a->room / a->ask.count)
        return smp_fail(err, SMP_E_PROCESS, "the memory for the batch is too small");
    smp_feed_put(f->format, shape, from, stride, y, rows, a->at + slot * bytes);
    return SMP_OK;
}

static char code_of(const asked *a, smp_code code)
{
    if (a->cancelled)
        return SMP_FEED_CANCELLED;
    if (code == SMP_E_READ || code == SMP_E_DECODE || code == SMP_E_KILLED || code == SMP_E_LIMIT)
        return SMP_FEED_BROKEN;
    return code == SMP_E_USAGE || code == SMP_E_PIPE ? SMP_FEED_MISTAKE : SMP_FEED_FAILED;
}

/* A line of its own: what a library says of a stranger's file may have several. */
static void one_line(char *text)
{
    for (char *end = text + strlen(text) - 1; text < end; text++)
        *text = iscntrl((unsigned char)*text) ? ' ' : *text;
}

static void finished(void *, const smp_batch_file *file, smp_run_report *report, const smp_error *err)
{
    asked *a = file->own;
    char **wrong = &a->wrong[file->number];
    const char *hint = strstr(err->hint, "--") ? "" : err->hint; /* Python has none of the command's options */
    smp_free(*wrong);
    a->killed[file->number] = report->status && (err->code == SMP_E_KILLED || err->code == SMP_E_PROCESS);
    *wrong = report->status ? smp_asprintf("%llu %c %s%s%s\n", (unsigned long long)file->number, code_of(a, err->code),
                                           err->message, hint[0] ? "; " : "", hint)
                            : NULL;
    if (*wrong)
        one_line(*wrong);
    else if (report->status) /* no memory for a word: not taken for a picture that was read */
        abort();
}

/* ------------------------------------------------------------------------------------------------ answers */

static void send_answer(feed *f, smp_feed_answer *answer, const void *bytes)
{
    pthread_mutex_lock(&f->lock);
    answer->width = f->shape.width;
    answer->height = f->shape.height;
    answer->channels = f->shape.channels;
    pthread_mutex_unlock(&f->lock);
    pthread_mutex_lock(&f->sending);
    (void)smp_feed_send(f->socket, answer, bytes); /* nobody is there: the receiving thread ends the work */
    pthread_mutex_unlock(&f->sending);
}

static void answer_batch(feed *f, const asked *a)
{
    smp_feed_answer answer = {.kind = SMP_FEED_DONE, .number = a->ask.number};
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    for (size_t i = 0; to && i < a->ask.count; i++)
        if (a->wrong[i])
            fputs(a->wrong[i], to);
    if (!to || fclose(to) != 0)
        abort();
    answer.bytes = size;
    send_answer(f, &answer, text);
    free(text);
}

/* Whether files are handed out once more; the lock is held. */
static bool try_again(feed *f, asked *a)
{
    if (++a->tries == MOST_TRIES || a->cancelled)
        return false;
    a->count = 0;
    for (size_t i = 0; i < a->ask.count; i++)
        if (a->killed[i])
            add_file(a, i);
    if (a->count)
        enqueue(f, a);
    return a->count > 0;
}

static void ended(void *context, const smp_batch_file *file)
{
    feed *f = context;
    asked *a = file->own;
    int *opened = &a->opened[file->number];
    if (*opened > 0)
        close(*opened);
    *opened = 0;
    pthread_mutex_lock(&f->lock);
    if (--a->left) {
        pthread_mutex_unlock(&f->lock);
        return;
    }
    asked **at = &f->under_way;
    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    const bool again = try_again(f, a);
    pthread_mutex_unlock(&f->lock);
    if (again)
        return;
    answer_batch(f, a);
    free_asked(a);
}

/* ------------------------------------------------------------------------------------------------ asks */

static buffer *find_buffer(feed *f, int64_t id)
{
    for (size_t i = 0; i < f->buffer_count; i++)
        if (f->buffers[i].id == id)
            return &f->buffers[i];
    return NULL;
}

static bool take_buffer(feed *f, int64_t id, int fd)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size <= 0 || find_buffer(f, id) ||
        !smp_grow(&f->buffers, &f->buffer_capacity, f->buffer_count + 1, sizeof *f->buffers))
        return false;
    void *at = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return false;
    f->buffers[f->buffer_count++] = (buffer){id, at, (size_t)status.st_size};
    return true;
}

/* Whether a batch of it is queued or under way. */
static bool is_used(feed *f, const buffer *b)
{
    bool used = false;
    pthread_mutex_lock(&f->lock);
    for (int i = 0; i < 2; i++)
        for (const asked *a = i ? f->under_way : f->queue; a && !used; a = a->next)
            used = a->at == b->at;
    pthread_mutex_unlock(&f->lock);
    return used;
}

static void forget_buffer(feed *f, int64_t id)
{
    buffer *b = find_buffer(f, id);
    if (!b || is_used(f, b))
        return;
    munmap(b->at, b->size);
    *b = f->buffers[--f->buffer_count];
}

/* Takes over bytes. */
static bool take_batch(feed *f, const smp_feed_ask *ask, char *bytes)
{
    const buffer *b = ask->buffer < 0 ? NULL : find_buffer(f, ask->buffer);
    asked *a = smp_alloc(sizeof *a);
    if (!a) {
        smp_free(bytes);
        return false;
    }
    *a = (asked){.ask = *ask, .bytes = bytes, .at = b ? b->at : NULL, .room = b ? b->size : 0};
    if ((ask->buffer >= 0 && !b) || !read_batch(a)) {
        free_asked(a);
        return false;
    }
    for (size_t i = 0; i < ask->count; i++)
        add_file(a, i);
    pthread_mutex_lock(&f->lock);
    enqueue(f, a);
    pthread_mutex_unlock(&f->lock);
    return true;
}

static void cancel(feed *f)
{
    pthread_mutex_lock(&f->lock);
    for (asked *a = f->queue; a; a = a->next)
        a->cancelled = true;
    for (asked *a = f->under_way; a; a = a->next)
        a->cancelled = true;
    pthread_mutex_unlock(&f->lock);
}

static void answer_index(feed *f, const smp_feed_ask *ask, const char *path)
{
    smp_feed_answer answer = {.kind = SMP_FEED_MEMBERS, .number = ask->number};
    smp_error err = {.code = SMP_OK};
    char *text = NULL;
    size_t size = 0;
    if (smp_tar_index(path, &text, &size, &err)) {
        answer.kind = SMP_FEED_REFUSED;
        answer.bytes = strlen(err.message);
        send_answer(f, &answer, err.message);
        return;
    }
    answer.bytes = size;
    send_answer(f, &answer, text);
    free(text);
}

/* One ask; false: the socket has ended, or who asks has lost its mind. */
static bool take_ask(feed *f)
{
    smp_feed_ask ask;
    int fd;
    if (!smp_feed_receive(f->socket, &ask, sizeof ask, &fd))
        return false;
    char *bytes = ask.bytes <= MOST_MESSAGE ? smp_alloc_raw((size_t)ask.bytes + 1) : NULL;
    bool good = bytes && smp_feed_receive(f->socket, bytes, (size_t)ask.bytes, NULL);
    if (good)
        bytes[ask.bytes] = '\0';
    if (good && ask.kind == SMP_FEED_BATCH)
        good = take_batch(f, &ask, bytes);
    else {
        if (good && ask.kind == SMP_FEED_BUFFER)
            good = take_buffer(f, ask.buffer, fd);
        else if (good && ask.kind == SMP_FEED_FORGET)
            forget_buffer(f, ask.buffer);
        else if (good && ask.kind == SMP_FEED_CANCEL)
            cancel(f);
        else if (good && ask.kind == SMP_FEED_INDEX)
            answer_index(f, &ask, bytes);
        smp_free(bytes);
    }
    if (fd >= 0)
        close(fd);
    return good;
}

static void *receive(void *context)
{
    feed *f = context;
    struct timespec until;
    while (take_ask(f))
        ;
    pthread_mutex_lock(&f->lock);
    f->stop = SIGTERM;
    f->ended = true;
    pthread_cond_broadcast(&f->changed);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += END_SECONDS;
    while (!f->done && pthread_cond_timedwait(&f->changed, &f->lock, &until) != ETIMEDOUT)
        ;
    if (!f->done)
        _exit(0); /* a decoder hangs, and ends with its parent */
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ the whole */

static void close_feed(feed *f)
{
    while (f->queue) {
        asked *a = f->queue;
        f->queue = a->next;
        free_asked(a);
    }
    while (f->under_way) { /* files that were never begun */
        asked *a = f->under_way;
        f->under_way = a->next;
        free_asked(a);
    }
    while (f->buffer_count)
        forget_buffer(f, f->buffers[0].id);
    smp_free(f->buffers);
    pthread_mutex_destroy(&f->lock);
    pthread_mutex_destroy(&f->sending);
    pthread_cond_destroy(&f->changed);
}

smp_code smp_feed_serve(int socket, const smp_batch_request *request, const smp_feed_format *format, smp_error *err)
{
    feed f = {.socket = socket, .format = format, .queue_end = NULL};
    const smp_row_taker taker = {take, &f};
    smp_batch_request r = *request;
    smp_batch_count count;
    pthread_t receiver;
    f.queue_end = &f.queue;
    pthread_mutex_init(&f.lock, NULL);
    pthread_mutex_init(&f.sending, NULL);
    pthread_cond_init(&f.changed, NULL);
    send_answer(&f, &(smp_feed_answer){.kind = SMP_FEED_READY}, "");
    if (pthread_create(&receiver, NULL, receive, &f) != 0) {
        close_feed(&f);
        return smp_fail(err, SMP_E_PROCESS, "cannot start a thread");
    }
    r.write.taker = &taker;
    r.more = more;
    r.begin = begin;
    r.finished = finished;
    r.ended = ended;
    r.context = &f;
    r.stop = &f.stop;
    r.expected = SIZE_MAX / 2;
    smp_code code = more(&f, &r.files, &r.count, err);
    if (!code && r.count)
        code = smp_batch_run(&r, &count, NULL, 0, err);
    if (code == SMP_E_TERMINATED) { /* who asked is gone */
        code = SMP_OK;
        *err = (smp_error){.code = SMP_OK};
    }
    pthread_mutex_lock(&f.lock);
    f.done = true;
    pthread_cond_broadcast(&f.changed);
    pthread_mutex_unlock(&f.lock);
    (void)shutdown(socket, SHUT_RDWR);
    pthread_join(receiver, NULL);
    close_feed(&f);
    return code;
}
