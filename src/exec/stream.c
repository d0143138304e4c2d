/* The ring of slots between a codec thread and the computing thread: see stream.h. One producer, one consumer. */
#include "exec/stream.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "exec/step.h"

/* Of a reader, small and enough to decode ahead; of a writer, as high as strips: one is filled, one is emptied. */
enum { READ_SLOTS = 3, WRITE_SLOTS = 2, SLOTS = READ_SLOTS };

struct smp_stream {
    smp_reader *reader; /* one of the two */
    smp_writer *writer;
    int64_t height, slot_rows, stride;
    unsigned char *slot[SLOTS];
    int slots;             /* of which there are so many */
    int64_t filled[SLOTS]; /* rows in the slot */
    int64_t made, used;    /* slots produced and consumed so far; slot number modulo slots */
    int64_t at;            /* rows of the current slot that the computing thread has taken or put */
    int64_t total;         /* rows that the computing thread has taken or put */
    bool ended;            /* the producer makes no more */
    bool stop;             /* the other side gave up */
    double busy;
    smp_error error;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
};

static void announce(smp_stream *s, int64_t *counter)
{
    pthread_mutex_lock(&s->lock);
    ++*counter;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* Waits until the producer may fill a slot, or the consumer empty one; false when nothing more will come. */
static bool wait_free(smp_stream *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->made - s->used >= s->slots && !s->stop)
        pthread_cond_wait(&s->changed, &s->lock);
    bool go = !s->stop;
    pthread_mutex_unlock(&s->lock);
    return go;
}

static bool wait_filled(smp_stream *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->made == s->used && !s->ended && !s->stop)
        pthread_cond_wait(&s->changed, &s->lock);
    bool go = s->made > s->used && !s->stop;
    pthread_mutex_unlock(&s->lock);
    return go;
}

static void end(smp_stream *s, bool failed)
{
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    s->stop = s->stop || failed;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void *read_all(void *context)
{
    smp_stream *s = context;
    smp_code code = SMP_OK;
    for (int64_t y = 0; y < s->height && !code && wait_free(s);) {
        int slot = (int)(s->made % s->slots);
        int64_t rows = smp_min_i64(s->slot_rows, s->height - y);
        double start = smp_now();
        code = smp_reader_rows(s->reader, s->slot[slot], s->stride, rows, &s->error);
        s->busy += smp_now() - start;
        if (code)
            break;
        s->filled[slot] = rows;
        y += rows;
        announce(s, &s->made);
    }
    end(s, code != SMP_OK);
    return NULL;
}

static void *write_all(void *context)
{
    smp_stream *s = context;
    smp_code code = SMP_OK;
    while (!code && wait_filled(s)) {
        int slot = (int)(s->used % s->slots);
        double start = smp_now();
        code = smp_writer_rows(s->writer, s->slot[slot], s->stride, s->filled[slot], &s->error);
        s->busy += smp_now() - start;
        if (!code)
            announce(s, &s->used);
    }
    if (code)
        end(s, true);
    return NULL;
}

static void free_stream(smp_stream *s)
{
    for (int i = 0; i < SLOTS; i++)
        smp_free(s->slot[i]);
    smp_free(s);
}

int64_t smp_stream_bytes(const smp_shape *shape, int64_t slot_rows, bool reads)
{
    const int64_t most = INT64_MAX >> 16; /* more than any memory, and can be added to */
    int64_t rows = smp_min_i64(slot_rows, shape->height), bytes;
    bool fits = smp_mul_i64(smp_row_stride(shape, shape->format), rows * (reads ? READ_SLOTS : WRITE_SLOTS), &bytes);
    return fits ? smp_min_i64(bytes, most) : most;
}

static smp_code start(smp_reader *reader, smp_writer *writer, const smp_shape *shape, int64_t slot_rows,
                      smp_stream **out, smp_error *err)
{
    *out = NULL;
    smp_stream *s = smp_alloc(sizeof *s);
    if (!s)
        return smp_fail_memory(err, "a stream", sizeof *s);
    s->reader = reader;
    s->writer = writer;
    s->height = shape->height;
    s->slot_rows = smp_min_i64(slot_rows, shape->height);
    s->stride = smp_row_stride(shape, shape->format);
    size_t bytes = 0;
    if (!smp_mul_size((size_t)s->stride, (size_t)s->slot_rows, &bytes)) {
        free_stream(s);
        return smp_fail_memory(err, "strips of rows", UINT64_MAX);
    }
    s->slots = reader ? READ_SLOTS : WRITE_SLOTS;
    for (int i = 0; i < s->slots; i++)
        if (!(s->slot[i] = smp_alloc_raw(bytes))) {
            free_stream(s);
            return smp_fail_memory(err, "strips of rows", bytes);
        }
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    if (pthread_create(&s->thread, NULL, reader ? read_all : write_all, s)) {
        pthread_cond_destroy(&s->changed);
        pthread_mutex_destroy(&s->lock);
        free_stream(s);
        return smp_fail(err, SMP_E_PROCESS, "cannot start a thread");
    }
    *out = s;
    return SMP_OK;
}

smp_code smp_stream_read(smp_reader *reader, int64_t slot_rows, smp_stream **out, smp_error *err)
{
    return start(reader, NULL, &smp_reader_media(reader)->shape, slot_rows, out, err);
}

smp_code smp_stream_write(smp_writer *writer, const smp_shape *shape, int64_t slot_rows, smp_stream **out,
                          smp_error *err)
{
    return start(NULL, writer, shape, slot_rows, out, err);
}

smp_code smp_stream_take(smp_stream *s, int64_t want, const void **rows, int64_t *count, smp_error *err)
{
    *rows = NULL;
    *count = 0;
    if (!wait_filled(s)) {
        if (s->error.code && err)
            *err = s->error;
        return s->error.code ? s->error.code
                             : smp_fail(err, SMP_E_PROCESS, "rows are asked for past the picture's end");
    }
    int slot = (int)(s->used % s->slots);
    *rows = s->slot[slot] + s->at * s->stride;
    *count = smp_min_i64(want, s->filled[slot] - s->at);
    return SMP_OK;
}

void smp_stream_took(smp_stream *s, int64_t count)
{
    s->at += count;
    s->total += count;
    if (s->at == s->filled[s->used % s->slots]) {
        s->at = 0;
        announce(s, &s->used);
    }
}

static void pass_on(smp_stream *s)
{
    s->filled[s->made % s->slots] = s->at;
    s->at = 0;
    announce(s, &s->made);
}

smp_code smp_stream_room(smp_stream *s, int64_t want, int64_t together, void **rows, int64_t *count, smp_error *err)
{
    *rows = NULL;
    *count = 0;
    if (s->at > 0 && s->slot_rows - s->at < together)
        pass_on(s);
    if (!wait_free(s)) {
        if (s->error.code && err)
            *err = s->error;
        return s->error.code ? s->error.code : smp_fail(err, SMP_E_PROCESS, "the writer has stopped");
    }
    *rows = s->slot[s->made % s->slots] + s->at * s->stride;
    *count = smp_min_i64(want, s->slot_rows - s->at);
    return SMP_OK;
}

void smp_stream_put(smp_stream *s, int64_t count)
{
    s->at += count;
    s->total += count;
    if (s->at == s->slot_rows || s->total == s->height)
        pass_on(s);
}

int64_t smp_stream_stride(const smp_stream *s)
{
    return s->stride;
}

smp_code smp_stream_close(smp_stream *s, bool stop, double *busy_seconds, smp_error *err)
{
    if (!s)
        return SMP_OK;
    end(s, stop);
    pthread_join(s->thread, NULL);
    smp_code code = s->error.code;
    if (code && err && !err->code)
        *err = s->error;
    if (busy_seconds)
        *busy_seconds += s->busy;
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free_stream(s);
    return code;
}
