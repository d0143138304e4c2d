/* The program's side of decoding elsewhere: see worker.h. */
#include "io/decoder/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "io/decoder/worker_asked.h"
#include "io/format.h"

enum {
    COPIED = 1 << 20, /* bytes of rows a time, where they are copied */
    SLOWEST = 1000000 /* bytes a second that any decoder takes in, on any machine */
};

static const smp_decode_time usual_time = {.spare = 60, .unknown = 600, .out = SLOWEST};

typedef struct proxy { /* the state of a reader */
    smp_asked a;
    bool more;                   /* the last answer: another picture follows */
    bool closed;                 /* the decoder gave all and closed the file by itself */
    bool said_ahead, said_again; /* the last answer */
    int64_t said_rows;           /* the same, of SMP_ASK_SOME, */
    int said_leftover;           /* and media.leftover */
    bool ahead;                  /* its rows are in the arena, which was checked to hold them */
    bool opened;                 /* by open_ahead */
    unsigned char *all;          /* ahead: a copy of all rows, where they are wanted elsewhere; or null */
    uint64_t shared;             /* bytes counted against the limit: the arena that was handed out */
    uint64_t input;              /* bytes of the file; UINT64_MAX: not known */
    const smp_decode_time *time; /* of its format */
    int pipe;                    /* the input, where it is no file: to see whether it gives anything; -1: it is one */
} proxy;

/* ------------------------------------------------------------------------------------------------ limits */

/* Seconds of the processor from now on, for so many bytes that go in and come out. */
static void bound_time(proxy *p, const smp_read_options *options, uint64_t out)
{
    double seconds = p->time->spare + (double)out / p->time->out;
    seconds += p->input == UINT64_MAX ? p->time->unknown : (double)p->input / SLOWEST;
    smp_asked_bound_time(&p->a, p->a.worker->watch.used, options->time_limit > 0 ? options->time_limit + 1 : seconds);
}

/* By the libraries that a file needs, before it is open; then by what it is. */
static const smp_decode_time *time_of(unsigned libraries, const char *name)
{
    const smp_file_format *format;
    for (size_t i = 0; (format = smp_format_at(i)); i++)
        if (format->time && (format->library & libraries || !strcmp(format->name, name)))
            return format->time;
    return &usual_time;
}

static void begin_picture(const proxy *p, const smp_read_options *options)
{
    smp_watch_begin(&p->a.worker->watch, options->time_limit, p->input);
    p->a.worker->watch.input = p->pipe;
}

/* ------------------------------------------------------------------------------------------------ asking */

/* Waits as long as the watch has patience, and somebody wants what comes. */
typedef struct wanting {
    smp_patience watch;
    const atomic_bool *stopped;
} wanting;

static double seconds_wanted(void *context)
{
    static const double LOOK = 0.05; /* from one look at `stopped` to the next */
    const wanting *want = context;
    return atomic_load(want->stopped) ? 0 : fmin(LOOK, want->watch.seconds(want->watch.context));
}

static smp_code receive(smp_reader *reader, smp_answer *answer, smp_wire *wire, smp_error *err)
{
    proxy *p = reader->state;
    smp_watch *watch = &p->a.worker->watch;
    const wanting want = {.watch = smp_watch_patience(watch), .stopped = &reader->stopped};
    const smp_patience patience = {.seconds = seconds_wanted, .context = (void *)(uintptr_t)&want};
    const smp_code code = smp_asked_receive(&p->a, &patience, answer, wire, err);
    p->more = !code && answer->more != 0;
    p->closed = !code && answer->closed != 0;
    p->said_ahead = !code && answer->ahead != 0;
    p->said_again = !code && answer->again != 0;
    p->said_rows = answer->rows;
    p->said_leftover = answer->leftover;
    reader->delay = answer->delay;
    return code;
}

uint64_t smp_worker_asks(void)
{
    return atomic_load_explicit(&smp_asked_count, memory_order_relaxed);
}

/* Sends an ask and takes in what comes back. media: of an opened file; rows: where they follow the answer; else null.
 */
static smp_code ask_worker(proxy *p, smp_reader *reader, smp_ask *ask, const int *descriptors, int count,
                           smp_media *media, smp_blob *rows, smp_error *err)
{
    smp_answer answer;
    smp_error told = {.code = SMP_OK};
    smp_wire wire = {.reading = true};
    const double begun = smp_now();
    SMP_TRY(smp_asked_send(&p->a, ask, reader->options.limits.max_memory, NULL, descriptors, count, err));
    smp_code code = receive(reader, &answer, &wire, err);
    if (!code) {
        smp_asked_charge(&p->a, &answer, ask->memory);
        const double reading = fmax(0, answer.seconds - reader->source.seconds); /* no more than was waited for it */
        reader->source.seconds += fmin(reading, smp_now() - begun);
        p->a.picture = answer.picture;
        smp_answer_wire(&wire, answer.code ? &told : NULL, &reader->notes, answer.code ? NULL : media,
                        answer.code ? NULL : rows);
        if (wire.failed)
            code =
                wire.lacks ? smp_fail_memory(err, "what the file says", wire.size) : smp_asked_fail_answer(&p->a, err);
        else if (answer.code)
            code = smp_asked_error(&p->a, &answer, &told, err);
    }
    smp_free(wire.data);
    return code;
}

/* ------------------------------------------------------------------------------------------------ the reader */

static smp_code read_into_arena(smp_reader *reader, uint64_t at, int64_t stride, int64_t rows, smp_error *err)
{
    proxy *p = reader->state;
    smp_ask ask = {.kind = SMP_ASK_ROWS, .arena = p->a.worker->mapped, .at = at, .stride = stride, .rows = rows};
    return ask_worker(p, reader, &ask, NULL, 0, NULL, NULL, err);
}

/* Rows without gaps: at the arena's beginning or, where there is none, behind the answer. */
static smp_code read_packed(smp_reader *reader, smp_blob *rows, int64_t row, int64_t count, smp_error *err)
{
    proxy *p = reader->state;
    smp_ask ask = {.kind = SMP_ASK_ROWS, .stride = row, .rows = count};
    if (rows->data == p->a.worker->map)
        return read_into_arena(reader, 0, row, count, err);
    rows->size = (size_t)(row * count);
    return ask_worker(p, reader, &ask, NULL, 0, NULL, rows, err);
}

static smp_code read_and_copy(smp_reader *reader, unsigned char *to, int64_t stride, int64_t rows, smp_error *err)
{
    proxy *p = reader->state;
    const int64_t row = smp_row_bytes(smp_media_rows(&reader->media));
    const int64_t most = smp_min_i64(rows, smp_max_i64(1, COPIED / row));
    smp_code code = SMP_OK;
    if (p->shared)
        return smp_fail(err, SMP_E_PROCESS, "rows are wanted beside the memory that was taken for them");
    const bool arena = smp_worker_map_arena(p->a.worker, (size_t)(most * row));
    smp_blob part = {.data = arena ? p->a.worker->map : smp_alloc_raw((size_t)(most * row))};
    SMP_NEED(part.data, "rows", (uint64_t)(most * row), err);
    smp_asked_bound_memory(&p->a, true, 0);
    for (int64_t y = 0, n; !code && y < rows; y += n) {
        n = smp_min_i64(most, rows - y);
        code = read_packed(reader, &part, row, n, err);
        for (int64_t i = 0; !code && i < n; i++)
            memcpy(to + (y + i) * stride, part.data + i * row, (size_t)row);
    }
    if (!arena)
        smp_free(part.data);
    return code;
}

/* Rows of a live sound. */
static smp_code read_some(smp_reader *reader, void *to, int64_t stride, int64_t rows, int64_t *got, smp_error *err)
{
    proxy *p = reader->state;
    const smp_shape *shape = &reader->media.shape;
    const int64_t row = smp_row_bytes(shape);
    const bool arena = p->shared && (uintptr_t)to >= (uintptr_t)p->a.worker->map &&
                       (uintptr_t)to + (size_t)(rows * stride) <= (uintptr_t)p->a.worker->map + p->a.worker->mapped;
    smp_ask ask = {.kind = SMP_ASK_SOME, .rows = smp_min_i64(rows, shape->height - reader->next_row)};
    smp_blob part = {.data = NULL};
    ask.stride = arena ? stride : row;
    if (arena) {
        ask.arena = p->a.worker->mapped;
        ask.at = (uintptr_t)to - (uintptr_t)p->a.worker->map;
    } else {
        ask.rows = smp_min_i64(ask.rows, smp_max_i64(1, COPIED / row));
        part.size = (size_t)(ask.rows * row);
        SMP_NEED(part.data = smp_alloc_raw(part.size), "rows", part.size, err);
    }
    begin_picture(p, &reader->options);
    bound_time(p, &reader->options, 0);
    smp_code code = ask_worker(p, reader, &ask, NULL, 0, NULL, arena ? NULL : &part, err);
    if (!code && (p->said_rows < 0 || p->said_rows > ask.rows || (!p->said_rows && !reader->media.open_end)))
        code = smp_asked_fail_answer(&p->a, err);
    for (int64_t i = 0; !code && !arena && i < p->said_rows; i++)
        memcpy((char *)to + i * stride, part.data + i * row, (size_t)row);
    smp_free(part.data);
    if (code)
        return code;
    *got = p->said_rows;
    reader->next_row += *got;
    reader->media.leftover = (int)smp_clamp_i64(p->said_leftover, 0, 1 << 16);
    if (!*got)
        reader->end = reader->next_row;
    return SMP_OK;
}

/* Checks what a decoder says of a file that it opened, and bounds it by that. */
static smp_code take_opened(smp_reader *reader, smp_error *err)
{
    proxy *p = reader->state;
    const smp_shape *shape = &reader->media.shape;
    const smp_code code = smp_check_media(&reader->options, &reader->media, p->a.picture, p->input, err);
    if (code) {
        (void)smp_asked_lose(&p->a); /* which checked the same, and goes on all the same */
        return code;
    }
    p->time = p->time == &usual_time ? time_of(0, reader->media.file_format) : p->time;
    smp_asked_bound_memory(&p->a, true, 0);
    bound_time(p, &reader->options, (uint64_t)(smp_row_bytes(shape) * shape->height));
    return SMP_OK;
}

static smp_code settle(smp_reader *reader, smp_error *err)
{
    smp_ask ask = {.kind = SMP_ASK_SETTLE};
    proxy *p = reader->state;
    smp_meta_free(&reader->media.meta);
    reader->media = (smp_media){.orientation = 1, .meta.srgb_intent = -1};
    begin_picture(p, &reader->options);
    bound_time(p, &reader->options, 0);
    smp_asked_bound_memory(&p->a, false, 0);
    smp_code code = ask_worker(p, reader, &ask, NULL, 0, &reader->media, NULL, err);
    reader->options.want.live = false;
    code = code ? code : take_opened(reader, err);
    return code ? smp_at(err, "%s", reader->name) : SMP_OK;
}

/* Rows that are in the arena already. */
static smp_code take_ahead(smp_reader *reader, unsigned char *to, int64_t stride, int64_t rows, smp_error *err)
{
    proxy *p = reader->state;
    const unsigned char *map = p->a.worker->map;
    const smp_shape *shape = smp_media_rows(&reader->media);
    const int64_t apart = smp_ahead_stride(shape);
    if (!p->all && to == map + reader->next_row * apart && stride == apart)
        return SMP_OK;
    if (!p->all) { /* where rows are wanted, others may lie */
        const size_t bytes = (size_t)(apart * shape->height);
        SMP_NEED(p->all = smp_alloc_raw(bytes), "rows", bytes, err);
        memcpy(p->all, map, bytes);
    }
    for (int64_t i = 0; i < rows; i++)
        memcpy(to + i * stride, p->all + (reader->next_row + i) * apart, (size_t)smp_row_bytes(shape));
    return SMP_OK;
}

static smp_code read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    const proxy *p = reader->state;
    const smp_worker *w = p->a.worker;
    if (p->ahead)
        return take_ahead(reader, to, stride, rows, err);
    const uintptr_t at = (uintptr_t)to, from = (uintptr_t)w->map;
    if (!p->shared || at < from || at >= from + w->mapped)
        return read_and_copy(reader, to, stride, rows, err);
    const uint64_t row = (uint64_t)smp_row_bytes(smp_media_rows(&reader->media));
    const uint64_t last = (uint64_t)(rows - 1) * (uint64_t)stride + row;
    if (last > w->mapped - (at - from))
        return smp_fail(err, SMP_E_PROCESS, "rows are wanted past the memory that was taken for them");
    return read_into_arena(reader, at - from, stride, rows, err);
}

/* Every picture of a stream may take as long as a file. */
static smp_code read_next(smp_reader *reader, bool *more, smp_error *err)
{
    proxy *p = reader->state;
    const smp_shape *shape = &reader->media.shape;
    smp_ask ask = {.kind = SMP_ASK_NEXT};
    *more = false;
    if (p->closed)
        return SMP_OK;
    if (p->ahead) /* of a file that has one picture, which is then closed */
        return smp_asked_fail_answer(&p->a, err);
    begin_picture(p, &reader->options);
    bound_time(p, &reader->options, (uint64_t)(smp_row_bytes(shape) * shape->height));
    smp_code code = ask_worker(p, reader, &ask, NULL, 0, NULL, NULL, err);
    *more = !code && p->more;
    return code;
}

static void close_proxy(smp_reader *reader)
{
    proxy *p = reader->state;
    smp_alloc_elsewhere(p->a.charged + p->shared, 0, 0, 0);
    smp_asked_end(&p->a, p->closed);
    if (p->pipe >= 0)
        close(p->pipe);
    smp_free_all(p->all, p);
}

static const smp_file_format elsewhere = {.name = "",
                                          .read_rows = read_rows,
                                          .read_some = read_some,
                                          .settle = settle,
                                          .read_next = read_next,
                                          .read_close = close_proxy};

void *smp_reader_shared(smp_reader *reader, size_t size)
{
    proxy *p = reader->format == &elsewhere ? reader->state : NULL;
    if (!p || !p->a.worker || p->shared || !size || !smp_alloc_borrow(size))
        return NULL;
    p->shared = size;
    if (!smp_worker_map_arena(p->a.worker, size)) {
        smp_alloc_elsewhere(size, 0, 0, 0);
        p->shared = 0;
        return NULL;
    }
    smp_asked_bound_memory(&p->a, true, 0);
    return p->a.worker->map;
}

/* Whether rows may come before they are asked for: those of one picture, as they are. */
static bool comes_ahead(const smp_read_options *options)
{
    return options->want.whole && !options->frames && !options->want.coded && !options->want.shrink;
}

/* Opens a file and has its rows read, by a decoder that has read one into its shared memory, within the bounds of that
 * one. p->opened is false where the file is to be opened again, as ever. */
static smp_code open_ahead(smp_reader *reader, const smp_source *source, smp_ask ask, smp_error *err)
{
    proxy *p = reader->state;
    int64_t bytes;
    ask.arena = p->a.worker->mapped;
    const smp_code code = ask_worker(p, reader, &ask, &source->fd, 1, &reader->media, NULL, err);
    if (!p->a.worker) /* the file ended it */
        return code;
    p->opened = !code && !p->said_again;
    p->ahead = p->opened && p->said_ahead;
    const smp_shape *shape = smp_media_rows(&reader->media);
    if (p->ahead &&
        ((reader->media.scan.shape.kind && !reader->options.want.scan_from) ||
         !smp_mul_i64(smp_ahead_stride(shape), shape->height, &bytes) || (uint64_t)bytes > p->a.worker->mapped)) {
        p->ahead = false;
        return smp_asked_fail_answer(&p->a, err);
    }
    if (p->opened)
        return SMP_OK;
    smp_meta_free(&reader->media.meta);
    reader->media = (smp_media){.orientation = 1, .meta.srgb_intent = -1};
    reader->notes.count = reader->notes.more = 0;
    if (err)
        *err = (smp_error){.code = SMP_OK};
    begin_picture(p, &reader->options); /* --time-limit is for one decoding */
    bound_time(p, &reader->options, 0);
    if (lseek(source->fd, 0, SEEK_SET) == 0)
        return SMP_OK;
    return smp_fail(err, SMP_E_READ, "cannot go back to the beginning");
}

static smp_code open_elsewhere(smp_reader *reader, const smp_source *source, smp_error *err)
{
    smp_ask ask = {
        .kind = SMP_ASK_OPEN, .options = reader->options, .seekable = source->seekable, .size = source->size};
    int descriptors[] = {source->fd, -1}, count = 1;
    proxy *p = reader->state = smp_alloc(sizeof *p);
    SMP_NEED(p, "a reader", sizeof *p, err);
    p->a.time_limit = reader->options.time_limit;
    p->input = source->size;
    p->pipe = -1;
    const bool headless = reader->options.raw.bytes > 0;
    const unsigned libraries = reader->options.want.letters ? SMP_LIBRARY_FONT
                               : headless                   ? 0
                                                            : smp_libraries_of_input(source->fd);
    p->time = time_of(libraries, "");
    SMP_TRY(smp_worker_take(libraries, reader->options.time_limit, &p->a.worker, err));
    smp_code code = SMP_OK;
    if (!source->seekable && (descriptors[1] = smp_spool_file()) >= 0) {
        ask.spool = true;
        count = 2;
    }
    p->pipe = source->seekable ? -1 : fcntl(source->fd, F_DUPFD_CLOEXEC, 0);
    begin_picture(p, &reader->options);
    bound_time(p, &reader->options, 0);
    if (comes_ahead(&reader->options) && source->seekable && source->owned && p->a.worker->mapped)
        code = open_ahead(reader, source, ask, err);
    if (!code && !p->opened) {
        smp_asked_bound_memory(&p->a, false, 0);
        code = ask_worker(p, reader, &ask, descriptors, count, &reader->media, NULL, err);
    }
    if (descriptors[1] >= 0)
        close(descriptors[1]);
    return code ? code : take_opened(reader, err);
}

smp_code smp_worker_reader_open(smp_source *source, const char *name, const smp_read_options *options, smp_reader **out,
                                smp_error *err)
{
    *out = NULL;
    smp_reader *reader = smp_alloc(sizeof *reader);
    if (!reader || !(reader->name = smp_strdup(name))) {
        smp_source_close(source);
        smp_free(reader);
        return smp_fail_memory(err, "a reader", sizeof *reader);
    }
    reader->format = &elsewhere;
    reader->options = *options;
    reader->end = INT64_MAX;
    reader->source.fd = -1;
    reader->media.orientation = 1;
    reader->media.meta.srgb_intent = -1;
    smp_code code = open_elsewhere(reader, source, err);
    smp_source_close(source);
    if (code) {
        smp_at(err, "%s", name);
        smp_reader_close(reader);
        return code;
    }
    *out = reader;
    return SMP_OK;
}
