/* The ring of slots between a codec thread and the computing thread: see stream.h. One producer, one consumer. */
#include "run/strips/stream.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/os/processor.h"
#include "run/strips/ring.h"
#include "run/strips/step.h"

/* A reader's slots are small and let it decode ahead; so do those that a GPU fills let it compute ahead. Slots as high
 * as strips: one is filled while the other is emptied. */
enum { SMALL_SLOTS = 3, STRIP_SLOTS = 2, SLOTS = SMP_GPU_SLOTS };

struct smp_stream {
    smp_reader *reader; /* one of the two is set */
    smp_writer *writer;
    int64_t height, slot_rows, stride;
    unsigned char *slot[SLOTS];
    bool shared;           /* the slots are the reader's */
    smp_device *pinned_by; /* null: the slots are ordinary memory */
    smp_mark *mark[SLOTS]; /* behind what the device was sent from the slot, or to it */
    smp_ring ring;         /* of the slots in use */
    int64_t filled[SLOTS]; /* rows in the slot */
    const smp_plan *plan;  /* of a stream by strips; else null */
    int step;
    int64_t strip_rows;
    smp_rows *rows;         /* of the plan's steps, for the strip that is being read */
    bool live;              /* of a sound that comes as it is made */
    smp_stream *source;     /* of a writer: what ends with it; or null */
    bool held;              /* the computing thread reads slot `used` */
    int64_t at;             /* rows of the current slot that the computing thread has taken or put */
    int64_t total;          /* rows that the computing thread has taken or put */
    double busy, processor; /* seconds; processor: of the thread and of the process that decodes for it */
    smp_error error;
    pthread_t thread;
};

/* Waits until the device has let go of a slot, or filled it. */
static smp_code reach(smp_stream *s, int slot)
{
    return s->pinned_by ? s->pinned_by->ops->reach(s->pinned_by, s->mark[slot], &s->error) : SMP_OK;
}

/* Reads the next rows on the codec thread and adds up its time. */
static smp_code read_rows(smp_stream *s, unsigned char *to, int64_t rows)
{
    double start = smp_now();
    smp_code code = smp_reader_rows(s->reader, to, s->stride, rows, &s->error);
    s->busy += smp_now() - start;
    return code;
}

static void *read_all(void *context)
{
    smp_stream *s = context;
    smp_code code = SMP_OK;
    for (int64_t y = 0; y < s->height && !code && smp_ring_wait_free(&s->ring);) {
        int slot = (int)(s->ring.made % s->ring.slots);
        int64_t rows = smp_min_i64(s->slot_rows, s->height - y);
        code = reach(s, slot);
        code = code ? code : read_rows(s, s->slot[slot], rows);
        if (code)
            break;
        s->filled[slot] = rows;
        y += rows;
        smp_ring_made(&s->ring);
    }
    s->processor = smp_processor_now();
    smp_ring_end(&s->ring, code != SMP_OK);
    return NULL;
}

static void *read_live(void *context)
{
    smp_stream *s = context;
    smp_code code = SMP_OK;
    for (int64_t y = 0, got = 1; y < s->height && got && !code && smp_ring_wait_free(&s->ring); y += got) {
        const int slot = (int)(s->ring.made % s->ring.slots);
        code = reach(s, slot);
        const double start = smp_now();
        if (!code)
            code = smp_reader_some(s->reader, s->slot[slot], s->stride, smp_min_i64(s->slot_rows, s->height - y), &got,
                                   &s->error);
        s->busy += smp_now() - start;
        s->filled[slot] = got;
        if (!code && got)
            smp_ring_made(&s->ring);
    }
    s->processor = smp_processor_now();
    smp_ring_end(&s->ring, code != SMP_OK);
    return NULL;
}

/* Reads rows that no step needs: the beginning of a trimmed sound. */
static smp_code pass_over(smp_stream *s, unsigned char *slot, int64_t rows)
{
    for (int64_t n; rows > 0; rows -= n) {
        n = smp_min_i64(rows, s->slot_rows);
        SMP_TRY(read_rows(s, slot, n));
    }
    return SMP_OK;
}

static void *read_strips(void *context)
{
    smp_stream *s = context;
    const smp_rows *need = &s->rows[s->step];
    const int phase = s->plan->steps[s->step].phase;
    const int64_t strips = smp_strip_count(s->plan, phase, s->strip_rows);
    const unsigned char *last = NULL; /* the newest slot */
    int64_t done = 0, first = 0;      /* rows read so far; the first in the newest slot */
    smp_code code = SMP_OK;
    for (int64_t k = 0; !code && k < strips; k++) {
        smp_strip_needs(s->plan, phase, s->strip_rows, k, s->rows);
        if (need->from == need->to)
            continue;
        if (!smp_ring_wait_free(&s->ring))
            break;
        unsigned char *slot = s->slot[s->ring.made % s->ring.slots];
        code = pass_over(s, slot, need->from - done);
        if (!code && need->keep < need->from)
            memcpy(slot, last + (need->keep - first) * s->stride, (size_t)((need->from - need->keep) * s->stride));
        code = code ? code : read_rows(s, slot + (need->from - need->keep) * s->stride, need->to - need->from);
        if (code)
            break;
        last = slot;
        first = need->keep;
        done = need->to;
        smp_ring_made(&s->ring);
    }
    s->processor = smp_processor_now();
    smp_ring_end(&s->ring, code != SMP_OK);
    return NULL;
}

static void *write_all(void *context)
{
    smp_stream *s = context;
    smp_code code = SMP_OK;
    while (!code && smp_ring_wait_filled(&s->ring)) {
        int slot = (int)(s->ring.used % s->ring.slots);
        if ((code = reach(s, slot)))
            break;
        double start = smp_now();
        code = smp_writer_rows(s->writer, s->slot[slot], s->stride, s->filled[slot], &s->error);
        s->busy += smp_now() - start;
        if (!code)
            smp_ring_used(&s->ring);
    }
    s->processor = smp_processor_now();
    if (code)
        smp_ring_end(&s->ring, true);
    if (code && s->source)
        smp_ring_end(&s->source->ring, true);
    return NULL;
}

static void free_stream(smp_stream *s)
{
    for (int i = 0; i < SLOTS; i++) {
        (void)reach(s, i); /* after a failure the device may be at work on it */
        if (s->mark[i])
            s->pinned_by->ops->unmark(s->pinned_by, s->mark[i]);
        if (s->shared || !s->slot[i])
            continue;
        if (s->pinned_by)
            s->pinned_by->ops->pinned_free(s->pinned_by, s->slot[i]);
        else
            smp_free(s->slot[i]);
    }
    smp_free(s->rows);
    smp_ring_close(&s->ring);
    smp_free(s);
}

static int64_t bytes_of(const smp_shape *shape, int64_t slot_rows, int slots)
{
    const int64_t most = INT64_MAX >> 16; /* more than any memory; sums of it do not overflow */
    int64_t bytes;
    bool fits =
        smp_mul_i64(smp_row_stride(shape, shape->format), smp_min_i64(slot_rows, shape->height) * slots, &bytes);
    return fits ? smp_min_i64(bytes, most) : most;
}

static int read_slots(const smp_device *device)
{
    return device && !device->host_memory ? SMP_GPU_SLOTS : SMALL_SLOTS;
}

int64_t smp_stream_read_bytes(const smp_shape *shape, int64_t slot_rows, bool by_strips, const smp_device *device)
{
    return bytes_of(shape, slot_rows, by_strips ? STRIP_SLOTS : read_slots(device));
}

/* The rows of a writer's slot, and how many slots. Where rows are computed on in slots, a strip must fit. */
static int64_t write_slot(const smp_shape *shape, int64_t strip_rows, const smp_device *device, int *slots)
{
    *slots = STRIP_SLOTS;
    if (device->host_memory)
        return strip_rows;
    const int64_t rows = smp_clamp_i64(SMP_GPU_SLOT_BYTES / smp_row_stride(shape, shape->format), 1, strip_rows);
    *slots = (int)smp_clamp_i64((shape->height + rows - 1) / rows, 1, SMP_GPU_SLOTS);
    return rows;
}

int64_t smp_stream_write_bytes(const smp_shape *shape, int64_t strip_rows, const smp_device *device)
{
    int slots;
    const int64_t rows = write_slot(shape, strip_rows, device, &slots);
    return bytes_of(shape, rows, slots);
}

/* Slots that the process which decodes fills itself, where there is one. */
static void share_slots(smp_stream *s, smp_device *gpu, size_t bytes)
{
    size_t each, all;
    if (!smp_add_size(bytes, 2 * SMP_ALIGN, &each)) /* the 64 bytes that may be read beyond a slot, and rounding */
        return;
    each &= ~(size_t)(SMP_ALIGN - 1);
    unsigned char *memory = smp_mul_size(each, (size_t)s->ring.slots, &all) ? smp_reader_shared(s->reader, all) : NULL;
    s->shared = memory != NULL;
    for (int i = 0; i < s->ring.slots && memory; i++)
        s->slot[i] = memory + (size_t)i * each;
    s->pinned_by = memory && gpu && gpu->ops->pin(gpu, memory, all) ? gpu : NULL;
}

/* Slots of the device; all or none. */
static void pin_slots(smp_stream *s, smp_device *gpu, size_t bytes)
{
    s->pinned_by = gpu;
    for (int i = 0; i < s->ring.slots && s->pinned_by; i++)
        if (!(s->slot[i] = gpu->ops->pinned_alloc(gpu, bytes)))
            s->pinned_by = NULL;
    for (int i = 0; i < s->ring.slots && !s->pinned_by; i++) {
        if (s->slot[i])
            gpu->ops->pinned_free(gpu, s->slot[i]);
        s->slot[i] = NULL;
    }
}

/* Allocates a stream's slots, pinned for a GPU, and starts its thread. Frees the stream on failure. */
static smp_code start(smp_stream *s, smp_device *device, void *(*run)(void *), smp_stream **out, smp_error *err)
{
    smp_device *gpu = device && !device->host_memory ? device : NULL;
    size_t bytes = 0;
    if (!smp_mul_size((size_t)s->stride, (size_t)s->slot_rows, &bytes)) {
        free_stream(s);
        return smp_fail_memory(err, "strips of rows", UINT64_MAX);
    }
    if (s->reader)
        share_slots(s, gpu, bytes);
    if (gpu && !s->shared)
        pin_slots(s, gpu, bytes);
    for (int i = 0; i < s->ring.slots && !s->shared && !s->pinned_by; i++)
        if (!(s->slot[i] = smp_alloc_raw(bytes))) {
            free_stream(s);
            return smp_fail_memory(err, "strips of rows", bytes);
        }
    if (pthread_create(&s->thread, NULL, run, s)) {
        free_stream(s);
        return smp_fail(err, SMP_E_PROCESS, "cannot start a thread");
    }
    *out = s;
    return SMP_OK;
}

static smp_stream *make(const smp_shape *shape, int64_t slot_rows, int slots, smp_stream **out, smp_error *err)
{
    *out = NULL;
    smp_stream *s = smp_alloc(sizeof *s);
    if (!s) {
        smp_fail_memory(err, "a stream", sizeof *s);
        return NULL;
    }
    s->height = shape->height;
    s->slot_rows = smp_min_i64(slot_rows, shape->height);
    s->stride = smp_row_stride(shape, shape->format);
    smp_ring_open(&s->ring, slots);
    return s;
}

smp_code smp_stream_read(smp_reader *reader, int64_t rows, int64_t slot_rows, smp_device *device, smp_stream **out,
                         smp_error *err)
{
    smp_stream *s = make(smp_media_rows(smp_reader_media(reader)), slot_rows, read_slots(device), out, err);
    if (!s)
        return SMP_E_MEMORY;
    s->reader = reader;
    s->height = rows;
    return start(s, device, read_all, out, err);
}

smp_code smp_stream_read_live(smp_reader *reader, int64_t rows, int64_t slot_rows, smp_device *device, smp_stream **out,
                              smp_error *err)
{
    smp_stream *s = make(smp_media_rows(smp_reader_media(reader)), slot_rows, read_slots(device), out, err);
    if (!s)
        return SMP_E_MEMORY;
    s->reader = reader;
    s->live = true;
    s->height = rows;
    return start(s, device, read_live, out, err);
}

smp_code smp_stream_read_strips(smp_reader *reader, const smp_plan *plan, int step, int64_t strip_rows,
                                smp_stream **out, smp_error *err)
{
    smp_stream *s = make(smp_media_rows(smp_reader_media(reader)), 1, STRIP_SLOTS, out, err);
    if (!s)
        return SMP_E_MEMORY;
    s->reader = reader;
    s->plan = plan;
    s->step = step;
    s->strip_rows = strip_rows;
    s->rows = smp_alloc_array(plan->step_count, sizeof *s->rows);
    smp_window *windows = smp_alloc_array(plan->step_count, sizeof *windows);
    smp_code code = s->rows && windows ? SMP_OK : smp_fail_memory(err, "a stream", plan->step_count * sizeof *windows);
    code = code ? code : smp_plan_windows(plan, strip_rows, windows, err);
    if (!code)
        s->slot_rows = smp_max_i64(1, windows[step].shown);
    smp_free(windows);
    if (!code)
        return start(s, NULL, read_strips, out, err);
    free_stream(s);
    return code;
}

smp_code smp_stream_write(smp_writer *writer, const smp_shape *shape, int64_t strip_rows, smp_device *device,
                          smp_stream *source, smp_stream **out, smp_error *err)
{
    int slots;
    const int64_t slot_rows = write_slot(shape, strip_rows, device, &slots);
    smp_stream *s = make(shape, slot_rows, slots, out, err);
    if (!s)
        return SMP_E_MEMORY;
    s->writer = writer;
    s->source = source;
    return start(s, device, write_all, out, err);
}

static smp_code no_more(const smp_stream *s, smp_error *err)
{
    if (s->error.code && err)
        *err = s->error;
    return s->error.code ? s->error.code : smp_fail(err, SMP_E_PROCESS, "rows are asked for past the picture's end");
}

smp_code smp_stream_strip(smp_stream *s, void **rows, smp_error *err)
{
    *rows = NULL;
    if (s->held)
        smp_ring_used(&s->ring);
    s->held = smp_ring_wait_filled(&s->ring);
    if (!s->held)
        return no_more(s, err);
    *rows = s->slot[s->ring.used % s->ring.slots];
    return SMP_OK;
}

smp_code smp_stream_take(smp_stream *s, int64_t want, const void **rows, int64_t *count, smp_error *err)
{
    *rows = NULL;
    *count = 0;
    if (!smp_ring_wait_filled(&s->ring))
        return s->live && !s->error.code ? SMP_OK : no_more(s, err);
    int slot = (int)(s->ring.used % s->ring.slots);
    *rows = s->slot[slot] + s->at * s->stride;
    *count = smp_min_i64(want, s->filled[slot] - s->at);
    return SMP_OK;
}

void smp_stream_took(smp_stream *s, int64_t count)
{
    s->at += count;
    s->total += count;
    if (s->at == s->filled[s->ring.used % s->ring.slots]) {
        s->at = 0;
        smp_ring_used(&s->ring);
    }
}

static void pass_on(smp_stream *s)
{
    s->filled[s->ring.made % s->ring.slots] = s->at;
    s->at = 0;
    smp_ring_made(&s->ring);
}

smp_code smp_stream_room(smp_stream *s, int64_t want, int64_t together, void **rows, int64_t *count, smp_error *err)
{
    *rows = NULL;
    *count = 0;
    if (s->at > 0 && s->slot_rows - s->at < together)
        pass_on(s);
    if (!smp_ring_wait_free(&s->ring)) {
        if (s->error.code && err)
            *err = s->error;
        return s->error.code ? s->error.code : smp_fail(err, SMP_E_PROCESS, "the writer has stopped");
    }
    *rows = s->slot[s->ring.made % s->ring.slots] + s->at * s->stride;
    *count = smp_min_i64(want, s->slot_rows - s->at);
    return SMP_OK;
}

bool smp_stream_has_rows(smp_stream *s)
{
    return smp_ring_is_filled(&s->ring);
}

void smp_stream_pass(smp_stream *s)
{
    if (s->at > 0)
        pass_on(s);
}

bool smp_stream_has_room(smp_stream *s)
{
    return smp_ring_is_free(&s->ring);
}

void smp_stream_put(smp_stream *s, int64_t count)
{
    s->at += count;
    s->total += count;
    if (s->at == s->slot_rows || s->total == s->height)
        pass_on(s);
}

smp_mark **smp_stream_mark(smp_stream *s)
{
    return s->pinned_by ? &s->mark[(s->reader ? s->ring.used : s->ring.made) % s->ring.slots] : NULL;
}

bool smp_stream_is_pinned(const smp_stream *s)
{
    return s->pinned_by != NULL;
}

int64_t smp_stream_stride(const smp_stream *s)
{
    return s->stride;
}

smp_code smp_stream_close(smp_stream *s, bool stop, double *busy_seconds, smp_error *err)
{
    if (!s)
        return SMP_OK;
    if (s->writer && !stop && s->at > 0) /* a coded scan is shorter than its room */
        pass_on(s);
    smp_ring_end(&s->ring, stop);
    if (s->live && stop) /* its thread may wait for what nobody makes */
        smp_reader_stop(s->reader);
    pthread_join(s->thread, NULL);
    smp_processor_add(s->processor);
    smp_code code = s->error.code;
    if (code && err && !err->code)
        *err = s->error;
    if (busy_seconds)
        *busy_seconds += s->busy;
    free_stream(s);
    return code;
}
