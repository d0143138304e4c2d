/* Serves batches: see feed.h. A thread receives what is asked; those of a batch run (batch/batch.h) take the files of
 * one asked batch after another, and the one that ends the last file of a batch answers it. */
#include "feed/feed_internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/files/source.h"
#include "io/files/tar.h"

enum { MOST_TRIES = 10 };

/* ------------------------------------------------------------------------------------------------ batches */

void free_asked(asked *a)
{
    for (size_t i = 0; a && a->slots && i < a->ask.count; i++)
        smp_free_all(a->slots[i].wrong, a->slots[i].rows);
    if (a)
        smp_free_all(a->bytes, a->files, a->slots, a);
}

/* Adds the file of a slot to those that are handed out. */
static void add_file(asked *a, size_t number)
{
    slot *s = &a->slots[number];
    snprintf(s->name, NAME, "%" PRIxPTR "-%zu.npy", (uintptr_t)a, number);
    snprintf(s->path, PATH, "member");
    s->handed = false;
    a->files[a->count++] = (smp_batch_file){.input = a->samples[number].offset >= 0 ? s->path : s->from,
                                            .output = s->name,
                                            .number = number,
                                            .index = a->samples[number].index,
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

void begin_asked(feed *f, asked *a)
{
    for (size_t i = 0; i < a->ask.count; i++)
        add_file(a, i);
    pthread_mutex_lock(&f->lock);
    enqueue(f, a);
    pthread_mutex_unlock(&f->lock);
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
static smp_code open_member(slot *s, const smp_feed_sample *sample, smp_error *err)
{
    int tar;
    SMP_TRY(smp_tar_file(s->from, &tar, err));
    const smp_code code = smp_tar_open(tar, (uint64_t)sample->offset, sample->size, &s->opened, err);
    close(tar);
    SMP_TRY(code);
    snprintf(s->path, PATH, "/proc/self/fd/%d", s->opened);
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
    const smp_feed_sample *sample = &a->samples[file->number];
    slot *s = &a->slots[file->number];
    return sample->offset >= 0 ? open_member(s, sample, err) : check_file(s->from, err);
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
    if (all.kind == out.kind && all.width == out.width && all.height == out.height && all.channels == out.channels)
        return SMP_OK;
    if (out.kind == SMP_AUDIO || all.kind == SMP_AUDIO) {
        smp_fail(err, SMP_E_PIPE, "it has %lld frames and %d channels after the pipeline, others have %lld and %d",
                 (long long)out.height, out.channels, (long long)all.height, all.channels);
        return smp_hint(err,
                        "let the pipeline make one length of all, as `pad length=2s` and then `trim random 2s` do; "
                        "`remix mono` makes one channel of all, and `resample 16kHz` one rate");
    }
    smp_fail(err, SMP_E_PIPE, "it is %lldx%lld with %d channels after the pipeline, others are %lldx%lld with %d",
             (long long)out.width, (long long)out.height, out.channels, (long long)all.width, (long long)all.height,
             all.channels);
    return smp_hint(err, "let the pipeline make one size of all, as `resize 256x256^` does");
}

/* The batch that an output is of, and its slot's number. */
static asked *find(const char *name, size_t *number)
{
    char *end;
    asked *a = (asked *)(uintptr_t)strtoumax(name, &end, 16);
    *number = strtoull(end + 1, NULL, 10);
    return a;
}

#define NOWHERE SIZE_MAX

/* *at: where in the batch's memory a picture of that shape lies; NOWHERE: it has none. */
static smp_code find_place(feed *f, const asked *a, size_t number, const smp_shape *shape, size_t *at, smp_error *err)
{
    *at = NOWHERE;
    SMP_TRY(settle_shape(f, shape, err));
    if (!a->at && !a->there)
        return SMP_OK;
    const size_t bytes = smp_feed_bytes(f->format, &f->shape);
    if (bytes > a->room / a->ask.count)
        return smp_fail(err, SMP_E_PROCESS, "the memory for the batch is too small");
    *at = number * bytes;
    return SMP_OK;
}

static smp_code take(void *context, const char *name, const smp_shape *shape, int64_t y, int64_t rows, const void *from,
                     int64_t stride, smp_error *err)
{
    feed *f = context;
    size_t number, at;
    asked *a = find(name, &number);
    SMP_TRY(find_place(f, a, number, shape, &at, err));
    if (at == NOWHERE)
        return SMP_OK;
    const size_t bytes = smp_feed_bytes(f->format, &f->shape);
    slot *s = &a->slots[number];
    if (!a->at && !s->rows)
        SMP_NEED(s->rows = smp_alloc_raw(bytes), "a picture", bytes, err);
    smp_feed_put(f->format, shape, from, stride, y, rows, a->at ? a->at + at : s->rows);
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
    slot *s = &a->slots[file->number];
    if (s->handed)
        return;
    const char *hint = strstr(err->hint, "--") ? "" : err->hint; /* Python has none of the command's options */
    smp_free(s->wrong);
    s->again = report->status && (err->code == SMP_E_KILLED || err->code == SMP_E_PROCESS);
    s->wrong = report->status ? smp_asprintf("%llu %c %s%s%s\n", (unsigned long long)file->number,
                                             code_of(a, err->code), err->message, hint[0] ? "; " : "", hint)
                              : NULL;
    if (s->wrong)
        one_line(s->wrong);
    else if (report->status) /* no memory for a word: not taken for a picture that was read */
        abort();
}

/* ------------------------------------------------------------------------------------------------ answers */

void send_answer(feed *f, smp_feed_answer *answer, const void *bytes)
{
    pthread_mutex_lock(&f->lock);
    answer->width = f->shape.kind == SMP_AUDIO ? 0 : f->shape.width;
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
        if (a->slots[i].wrong)
            fputs(a->slots[i].wrong, to);
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
        if (a->slots[i].again)
            add_file(a, i);
    if (a->count)
        enqueue(f, a);
    return a->count > 0;
}

/* Gives a picture to the GPU: one thing more is to be done. */
static void give(feed *f, smp_feed_picture *p)
{
    pthread_mutex_lock(&f->lock);
    ((asked *)p->batch)->left++;
    pthread_mutex_unlock(&f->lock);
    smp_feed_gpu_take(f->gpu, p);
}

/* Of a batch, one thing less is to be done. */
static void end_one(feed *f, asked *a)
{
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

static void ended(void *context, const smp_batch_file *file)
{
    feed *f = context;
    asked *a = file->own;
    slot *s = &a->slots[file->number];
    smp_feed_picture *p = s->rows && !s->wrong ? smp_alloc(sizeof *p) : NULL;
    if (s->opened > 0)
        close(s->opened);
    s->opened = 0;
    if (p) { /* what processors made goes to the GPU */
        const size_t bytes = smp_feed_bytes(f->format, &f->shape);
        *p = (smp_feed_picture){.many = {.rows = s->rows, .place = a->there + file->number * bytes},
                                .bytes = bytes,
                                .batch = a,
                                .slot = file->number};
        s->rows = NULL;
        give(f, p);
    } else if (s->rows && !s->wrong)
        abort(); /* no memory: not taken for a picture that is there */
    smp_free(s->rows);
    s->rows = NULL;
    end_one(f, a);
}

/* ------------------------------------------------------------------------------------------------ a GPU */

static bool wants(void *context, const char *name)
{
    enum { TRIED = 64 }; /* pictures: a pipeline none of which the GPU takes is told by them */
    feed *f = context;
    size_t number;
    const asked *a = find(name, &number);
    return a->there && !a->slots[number].processors && (f->refused < TRIED || f->served > f->refused);
}

static smp_code take_coded(void *context, const char *name, smp_plan *plan, smp_reader *reader, bool *taken,
                           smp_error *err)
{
    feed *f = context;
    const smp_shape *shape = &plan->sinks[0].shape;
    smp_together_need need;
    size_t number, at, bytes;
    void *rows;
    asked *a = find(name, &number);
    *taken = smp_feed_gpu_serves(f->gpu, plan, &need);
    f->refused += !*taken;
    if (!*taken)
        return SMP_OK;
    SMP_TRY(smp_run_rows(reader, plan, &rows, &bytes, err));
    smp_code code = find_place(f, a, number, shape, &at, err);
    smp_feed_picture *p = code ? NULL : smp_alloc(sizeof *p);
    if (!p) {
        smp_free(rows);
        return code ? code : smp_fail_memory(err, "a picture", sizeof *p);
    }
    *p = (smp_feed_picture){.many = {.plan = plan,
                                     .need = need,
                                     .rows = rows,
                                     .place = a->there + at,
                                     .tensor = {.channels = f->shape.channels,
                                                .spread = shape->channels - shape->alpha == 1 && f->format->channels,
                                                .planar = f->format->planar,
                                                .size = smp_feed_sample_size(f->format)}},
                            .bytes = bytes,
                            .batch = a,
                            .slot = number};
    f->served++;
    a->slots[number].handed = true;
    give(f, p);
    return SMP_OK;
}

static void made(void *context, const smp_feed_picture *p, const smp_error *err)
{
    feed *f = context;
    asked *a = p->batch;
    slot *s = &a->slots[p->slot];
    smp_free(s->wrong);
    s->wrong = NULL;
    s->again = s->processors = !err && p->many.doubtful;
    if ((err || p->many.doubtful) && !(s->wrong = smp_asprintf("%zu %c %s\n", p->slot, code_of(a, SMP_E_DEVICE),
                                                               err ? err->message : "the GPU is in doubt")))
        abort();
    end_one(f, a);
}

/* ------------------------------------------------------------------------------------------------ the whole */

static void close_feed(feed *f)
{
    smp_feed_gpu_end(f->gpu); /* pictures that wait are of batches */
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
    smp_feed_gpu_close(f->gpu);
    pthread_mutex_destroy(&f->lock);
    pthread_mutex_destroy(&f->sending);
    pthread_cond_destroy(&f->changed);
}

smp_code smp_feed_serve(int socket, const smp_batch_request *request, const smp_feed_format *format, smp_error *err)
{
    feed f = {.socket = socket, .format = format, .queue_end = NULL};
    const smp_row_taker taker = {take, &f};
    const smp_run_elsewhere elsewhere = {wants, take_coded, &f};
    smp_batch_request r = *request;
    smp_batch_count count;
    pthread_t receiver;
    f.queue_end = &f.queue;
    pthread_mutex_init(&f.lock, NULL);
    pthread_mutex_init(&f.sending, NULL);
    pthread_cond_init(&f.changed, NULL);
    smp_code code = SMP_OK;
    if (strstr(request->device, "cuda") || strstr(request->device, "simt")) {
        code = smp_feed_gpu_open(request->device, format, made, &f, &f.gpu, err);
        r.elsewhere = &elsewhere;
        r.device = "cpu";
    }
    if (!code)
        send_answer(&f, &(smp_feed_answer){.kind = SMP_FEED_READY}, "");
    if (!code && pthread_create(&receiver, NULL, receive_asks, &f) != 0)
        code = smp_fail(err, SMP_E_PROCESS, "cannot start a thread");
    if (code) {
        close_feed(&f);
        return code;
    }
    r.write.taker = &taker;
    r.more = more;
    r.begin = begin;
    r.finished = finished;
    r.ended = ended;
    r.context = &f;
    r.stop = &f.stop;
    r.expected = SIZE_MAX / 2;
    code = more(&f, &r.files, &r.count, err);
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
    if (!code && f.failed.code) {
        *err = f.failed;
        code = err->code;
    }
    close_feed(&f);
    return code;
}
