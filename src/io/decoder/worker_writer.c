/* The program's side of encoding elsewhere: a format's functions that have a process do the work. See worker.h. */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/pool.h"
#include "io/decoder/worker.h"
#include "io/decoder/worker_asked.h"
#include "io/format.h"

enum {
    COPIED = 4 << 20,        /* bytes of rows a time */
    SLOWEST = 50000,         /* bytes of rows a second of the processor: no encoder is slower, on any machine */
    LARGER = 4,              /* times that a file may have the bytes that went in, */
    SPARE_OUTPUT = 64 << 20, /* besides these */
    MOST_MORE = 1000         /* notes that it says are not shown */
};

#define THREAD_ADDRESSES (UINT64_C(160) << 20) /* bytes of a thread's stack and heap, hardly any of which it uses */

typedef struct encoder { /* the state of a writer */
    smp_asked a;
    uint64_t put;            /* bytes of rows and metadata that went there */
    double before;           /* seconds of the processor that other files took */
    uint64_t got;            /* bytes of the file that came, */
    uint8_t head[SMP_SNIFF]; /* the first of which it begins with */
} encoder;

/* Writes bytes that came, where a format may want them. */
static smp_code take_output(smp_writer *writer, const smp_answer *answer, const smp_wire *bytes, smp_error *err)
{
    encoder *e = writer->state;
    const bool behind = answer->at < 0;
    const uint64_t size = smp_output_size(writer->output), at = behind ? size : (uint64_t)answer->at;
    const bool inside = smp_output_seekable(writer->output) && at <= size && bytes->size <= size - at;
    e->got += bytes->size;
    if (!bytes->size || (!behind && !inside) || e->got > SPARE_OUTPUT + LARGER * e->put)
        return smp_asked_fail_answer(&e->a, err);
    if (at < sizeof e->head)
        memcpy(e->head + at, bytes->data, smp_min_u64(bytes->size, sizeof e->head - at));
    const double begun = smp_now();
    const smp_code code = behind ? smp_output_write(writer->output, bytes->data, bytes->size, err)
                                 : smp_output_patch(writer->output, at, bytes->data, bytes->size, err);
    e->a.worker->watch.looked += smp_now() - begun; /* it waited for this */
    if (code)                                       /* it goes on sending */
        (void)smp_asked_lose(&e->a);
    return code;
}

/* What is coded goes there from where it lies. */
static smp_code send_coded(smp_writer *writer, const smp_patience *patience, smp_error *err)
{
    encoder *e = writer->state;
    const smp_blob *coded = writer->options.coded.picture;
    const smp_received sent =
        smp_message_send_within(e->a.worker->channel, coded->data, coded->size, NULL, 0, NULL, 0, patience);
    return sent == SMP_RECEIVED ? SMP_OK : smp_asked_fail_dead(&e->a, sent == SMP_RECEIVED_LATE, err);
}

/* Takes in what it says beside the bytes. */
static void take_notes(smp_writer *writer, const smp_notes *said, uint64_t clipped)
{
    const encoder *e = writer->state;
    for (int i = 0; i < said->count; i++)
        smp_note(&writer->notes, "%s", said->items[i]);
    writer->notes.more = (int)smp_max_i64(writer->notes.more, smp_min_i64(said->more, MOST_MORE));
    writer->clipped = smp_min_u64(clipped, e->put); /* samples have at least a byte */
}

/* Waits for the answer, and writes what comes in front of it. */
static smp_code ask_encoder(smp_writer *writer, smp_ask *ask, const smp_wire *rest, smp_error *err)
{
    encoder *e = writer->state;
    smp_watch *watch = &e->a.worker->watch;
    smp_answer answer = {.output = true};
    smp_error told = {.code = SMP_OK};
    smp_asked_bound_time(&e->a, e->before, smp_worker_patience + (double)e->put / SLOWEST);
    smp_watch_expect(watch, e->put);
    SMP_TRY(smp_asked_send(&e->a, ask, smp_alloc_limited(), rest, NULL, 0, err));
    const smp_patience patience = smp_watch_patience(watch);
    if (ask->coded)
        SMP_TRY(send_coded(writer, &patience, err));
    smp_code code = SMP_OK;
    while (!code && answer.output) {
        smp_wire wire = {.reading = true};
        code = smp_asked_receive(&e->a, &patience, &answer, &wire, err);
        if (!code && answer.output)
            code = take_output(writer, &answer, &wire, err);
        else if (!code) {
            smp_asked_charge(&e->a, &answer, ask->memory);
            smp_notes said = {.count = 0};
            smp_answer_wire(&wire, answer.code ? &told : NULL, &said, NULL, NULL);
            take_notes(writer, &said, answer.clipped);
            code = wire.failed   ? smp_asked_fail_answer(&e->a, err)
                   : answer.code ? smp_asked_error(&e->a, &answer, &told, err)
                                 : SMP_OK;
        }
        smp_free(wire.data);
    }
    return code;
}

/* The first picture, or the next one. */
static smp_code write_next(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    encoder *e = writer->state;
    const smp_blob *coded = writer->options.coded.picture;
    smp_writing also = {.seekable = smp_output_seekable(writer->output), .tagged = meta};
    smp_wire wire = {.data = NULL};
    if (meta)
        also.meta = *meta;
    smp_writing_wire(&wire, writer, &also);
    smp_ask ask = {.kind = SMP_ASK_BEGIN, .bytes = wire.size, .coded = coded ? coded->size : 0};
    e->put += wire.size + ask.coded;
    const smp_code code =
        wire.failed ? smp_fail_memory(err, "metadata", wire.size) : ask_encoder(writer, &ask, &wire, err);
    smp_free(wire.data);
    return code;
}

static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    encoder *e = writer->state;
    int *threads = &writer->options.threads;
    *threads = *threads > 0 ? *threads : smp_pool_cores();
    SMP_TRY(smp_worker_take(writer->format->library | SMP_LIBRARY_ENCODERS, 0, &e->a.worker, err));
    e->before = e->a.worker->watch.used;
    smp_watch_begin(&e->a.worker->watch, 0, 0);
    e->a.worker->watch.most_threads += 2 * *threads;
    smp_asked_bound_memory(&e->a, false, (uint64_t)(*threads + 2) * THREAD_ADDRESSES);
    return write_next(writer, meta, err);
}

static smp_code write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    encoder *e = writer->state;
    smp_worker *w = e->a.worker;
    const int64_t row = smp_row_bytes(&writer->shape);
    int64_t most = smp_min_i64(rows, smp_max_i64(1, COPIED / row));
    while (!smp_worker_map_arena(w, (size_t)(most * row))) {
        SMP_NEED(most > 1, "rows", (uint64_t)row, err);
        most /= 2; /* a limit of file sizes holds for shared memory too */
    }
    for (int64_t y = 0, n; y < rows; y += n) {
        n = smp_min_i64(most, rows - y);
        for (int64_t i = 0; i < n; i++)
            memcpy(w->map + i * row, (const char *)from + (y + i) * stride, (size_t)row);
        smp_ask ask = {.kind = SMP_ASK_PUT, .arena = w->mapped, .stride = row, .rows = n, .delay = writer->delay};
        e->put += (uint64_t)(n * row);
        SMP_TRY(ask_encoder(writer, &ask, NULL, err));
    }
    return SMP_OK;
}

static smp_code write_end(smp_writer *writer, smp_error *err)
{
    encoder *e = writer->state;
    const smp_file_format *f = writer->format;
    smp_ask ask = {.kind = SMP_ASK_FINISH};
    SMP_TRY(ask_encoder(writer, &ask, NULL, err));
    const size_t size = (size_t)smp_min_u64(smp_output_size(writer->output), sizeof e->head);
    if (size && (!f->sniff || f->sniff(e->head, size) || (f->id3 && memcmp(e->head, "ID3", 3) == 0)))
        return SMP_OK;
    (void)smp_asked_lose(&e->a);
    return smp_fail(err, SMP_E_ENCODE, "the process that encodes the file gave bytes that are no %s", f->name);
}

static void write_close(smp_writer *writer)
{
    encoder *e = writer->state;
    smp_alloc_elsewhere(e->a.charged, 0, 0, 0);
    smp_asked_end(&e->a, false);
    smp_free(e);
}

const smp_file_format smp_writer_elsewhere = {.name = "",
                                              .write_state = sizeof(encoder),
                                              .write_open = write_open,
                                              .write_rows = write_rows,
                                              .write_next = write_next,
                                              .write_end = write_end,
                                              .write_close = write_close};
