/* Writes TIFF without a library: little-endian, one pixel after another, in strips of about 512 KB, or in tiles, which
 * several threads pack. BigTIFF where the samples alone pass 4 GB. The directory comes last, when the strips' sizes are
 * known; no time is written, so that the same picture gives the same bytes. */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/pool.h"
#include "base/tasks.h"
#include "io/bytes.h"
#include "io/tiff/tiff_glue.h"

enum { STRIP = 512 << 10 /* bytes */, SPARE_STRIPS = 2, LARGEST_SIDE = INT32_MAX };

typedef struct strip { /* or a tile */
    uint8_t *rows;
    size_t size;
    smp_tiff_packer *packer;
    const uint8_t *packed;
    size_t packed_size;
} strip;

typedef struct tiff_writer {
    smp_shape shape;
    smp_shape part; /* of a strip or tile: its width */
    bool big;
    int64_t tile;              /* a tile's sides; 0: strips */
    int64_t across;            /* tiles side by side; 1: strips */
    int64_t strip_rows, total; /* rows of a strip; strips */
    int64_t filled, written;   /* strips */
    int64_t rows;              /* in the strips that are being filled */
    int room;
    strip *strips; /* room of them */
    smp_tasks *tasks;
    uint64_t *places, *sizes; /* of each strip in the file */
    uint64_t position;
    uint64_t link; /* where the place of the next directory goes */
    smp_tiff_tags folders[TIFF_FOLDERS];
} tiff_writer;

/* Channels that are no colours: gray, and further samples whose meaning is not said. */
static bool is_of_channels(const smp_shape *shape)
{
    return !shape->alpha && shape->channels != 1 && shape->channels != 3;
}

smp_code smp_tiff_write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    if (shape->width <= LARGEST_SIDE / 64 && shape->height <= LARGEST_SIDE)
        return is_of_channels(shape) ? SMP_OK : smp_check_colour("TIFF", shape, err);
    return smp_fail(err, SMP_E_WRITE, "%lld x %lld pixels are too many for a TIFF", (long long)shape->width,
                    (long long)shape->height);
}

/* ------------------------------------------------------------------------------------------------ opening */

static void pack(void *context, int, int64_t task)
{
    tiff_writer *state = context;
    strip *s = &state->strips[task % state->room];
    s->packed = smp_tiff_packer_strip(s->packer, s->rows, s->size, &s->packed_size);
    smp_tasks_release(state->tasks);
}

static smp_tiff_compression compression_of(const smp_write_options *options)
{
    return (smp_tiff_compression)smp_write_value(&options->values, &smp_tiff_packing);
}

static smp_code open_strips(tiff_writer *state, const smp_write_options *options, smp_error *err)
{
    const uint64_t row = (uint64_t)smp_row_bytes(&state->part), most = row * (uint64_t)state->strip_rows;
    const int asked = options->threads > 0 ? options->threads : smp_pool_cores();
    const int threads = (int)smp_clamp_i64(asked, 1, state->total);
    state->room = (int)smp_min_i64(state->across + (threads > 1 ? threads + SPARE_STRIPS - 1 : 0), state->total);
    state->strips = smp_alloc_array((size_t)state->room, sizeof *state->strips);
    state->places = smp_alloc_array((size_t)state->total, sizeof *state->places);
    state->sizes = smp_alloc_array((size_t)state->total, sizeof *state->sizes);
    bool done = state->strips && state->places && state->sizes;
    for (int i = 0; i < state->room && done; i++) {
        strip *s = &state->strips[i];
        s->rows = smp_alloc_raw((size_t)most);
        s->packer = smp_tiff_packer_open(&state->part, compression_of(options), (size_t)most);
        done = s->rows && s->packer;
    }
    return done ? smp_tasks_open(threads, state->room, pack, state, &state->tasks, err)
                : smp_fail_memory(err, "a TIFF", most * 2 * (uint64_t)state->room);
}

static bool put_number(tiff_writer *state, uint32_t tag, uint32_t type, uint64_t value)
{
    return smp_tiff_tags_numbers(state->folders, tag, type, 1, &value);
}

/* Writes the directory's tags except the offsets of strips. */
static bool put_picture(tiff_writer *state, const smp_write_options *options)
{
    static const uint64_t codes[] = {
        [SMP_TIFF_DEFLATE] = 8, [SMP_TIFF_LZW] = 5, [SMP_TIFF_NONE] = 1, [SMP_TIFF_ZSTD] = 50000};
    const smp_shape *shape = &state->shape;
    static const uint64_t floats[SMP_MAX_CHANNELS] = {3, 3, 3, 3, 3, 3, 3, 3}, unsaid[SMP_MAX_CHANNELS] = {0};
    const bool channels = is_of_channels(shape);
    const uint64_t samples = (uint64_t)shape->channels;
    uint64_t each[SMP_MAX_CHANNELS];
    for (int c = 0; c < SMP_MAX_CHANNELS; c++)
        each[c] = 8 * (uint64_t)smp_sample_size((int)shape->format);
    return put_number(state, TIFF_WIDTH, TYPE_LONG, (uint64_t)shape->width) &&
           put_number(state, TIFF_HEIGHT, TYPE_LONG, (uint64_t)shape->height) &&
           smp_tiff_tags_numbers(state->folders, TIFF_BITS, TYPE_SHORT, samples, each) &&
           put_number(state, TIFF_COMPRESSION, TYPE_SHORT, codes[compression_of(options)]) &&
           put_number(state, TIFF_PHOTOMETRIC, TYPE_SHORT, samples >= 3 && !channels ? TIFF_RGB : TIFF_BLACK_IS_ZERO) &&
           put_number(state, TIFF_SAMPLES, TYPE_SHORT, samples) &&
           (state->tile ? put_number(state, TIFF_TILE_WIDTH, TYPE_LONG, (uint64_t)state->tile) &&
                              put_number(state, TIFF_TILE_HEIGHT, TYPE_LONG, (uint64_t)state->tile)
                        : put_number(state, TIFF_ROWS_PER_STRIP, TYPE_LONG, (uint64_t)state->strip_rows)) &&
           put_number(state, TIFF_PLANAR, TYPE_SHORT, 1) &&
           (compression_of(options) == SMP_TIFF_NONE ||
            put_number(state, TIFF_PREDICTOR, TYPE_SHORT, shape->format == SMP_F32 ? 3 : 2)) &&
           (!shape->alpha || put_number(state, TIFF_EXTRA, TYPE_SHORT, 2)) &&
           (!channels || smp_tiff_tags_numbers(state->folders, TIFF_EXTRA, TYPE_SHORT, samples - 1, unsaid)) &&
           (shape->format != SMP_F32 ||
            smp_tiff_tags_numbers(state->folders, TIFF_SAMPLE_FORMAT, TYPE_SHORT, samples, floats));
}

static smp_code put_header(tiff_writer *state, smp_writer *writer, smp_error *err)
{
    uint8_t head[16] = {'I', 'I', 42};
    state->position = 8;
    state->link = state->big ? 8 : 4;
    if (state->big) { /* the size of a place; where the directory is comes later */
        head[2] = 43;
        head[4] = 8;
        state->position = 16;
    }
    return smp_output_write(writer->output, head, (size_t)state->position, err);
}

static smp_code begin_page(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    tiff_writer *state = writer->state;
    state->shape = writer->shape;
    const uint64_t row = (uint64_t)smp_row_bytes(&state->shape);
    state->filled = state->written = state->rows = state->tile = 0;
    state->part = state->shape;
    state->across = 1;
    state->strip_rows = smp_clamp_i64((int64_t)(STRIP / row), 1, state->shape.height);
    const int tile = smp_write_value(&writer->options.values, &smp_tiff_tile);
    if (tile) {
        state->tile = state->strip_rows = state->part.width = tile;
        state->across = (state->shape.width + state->tile - 1) / state->tile;
    }
    state->total = (state->shape.height + state->strip_rows - 1) / state->strip_rows * state->across;
    if (tile % 16) { /* TIFF 6.0, section 15 */
        smp_fail(err, SMP_E_USAGE, "%d is not a valid size for tiles", tile);
        return smp_hint(err, "a multiple of 16, as in --tiff-tile 256");
    }
    if (!smp_tiff_packs(compression_of(&writer->options)))
        return smp_fail(err, SMP_E_USAGE, "this build writes no TIFF with Zstandard: it was made without libzstd"),
               smp_hint(err, "--tiff-compression deflate");
    if (!put_picture(state, &writer->options) ||
        (meta && !smp_tiff_put_meta(meta, state->shape.channels - (state->shape.alpha ? 1 : 0), state->folders,
                                    &writer->notes)))
        return smp_fail_memory(err, "a TIFF", 0);
    return open_strips(state, &writer->options, err);
}

smp_code smp_tiff_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    const uint64_t most = UINT32_MAX - (64u << 20); /* bytes of samples: directories come to them */
    tiff_writer *state = writer->state = smp_alloc(sizeof *state);
    uint64_t bytes;
    SMP_NEED(state, "a TIFF", sizeof *state, err);
    if (!smp_output_seekable(writer->output))
        return smp_fail(err, SMP_E_WRITE, "a TIFF cannot be written to a pipe: its header says where its end is"),
               smp_hint(err, "write it to a file, or another format to the pipe");
    state->big =
        __builtin_mul_overflow((uint64_t)smp_row_bytes(&writer->shape), (uint64_t)writer->shape.height, &bytes) ||
        bytes > most;
    SMP_TRY(begin_page(writer, meta, err));
    return put_header(state, writer, err);
}

/* ------------------------------------------------------------------------------------------------ strips */

/* Waits for the oldest strip and writes it. */
static smp_code write_strip(tiff_writer *state, smp_writer *writer, smp_error *err)
{
    smp_tasks_await(state->tasks);
    const strip *s = &state->strips[state->written % state->room];
    if (!s->packed)
        return smp_fail(err, SMP_E_WRITE, "libzstd cannot pack a strip");
    if (!state->big && s->packed_size > UINT32_MAX - state->position)
        return smp_fail(err, SMP_E_WRITE, "the TIFF becomes larger than 4 GB");
    state->places[state->written] = state->position;
    state->sizes[state->written++] = s->packed_size;
    state->position += s->packed_size;
    return smp_output_write(writer->output, s->packed, s->packed_size, err);
}

/* Shares a row out among the strip, or the tiles side by side, that are being filled. */
static void take_row(tiff_writer *state, const uint8_t *from)
{
    const size_t whole = (size_t)smp_row_bytes(&state->shape), part = (size_t)smp_row_bytes(&state->part);
    for (int64_t k = 0; k < state->across; k++) {
        strip *s = &state->strips[(state->filled + k) % state->room];
        const size_t at = (size_t)k * part, size = whole - at < part ? whole - at : part;
        uint8_t *to = s->rows + (size_t)state->rows * part;
        memcpy(to, from + at, size);
        memset(to + size, 0, part - size);
    }
    state->rows++;
}

static void begin_strips(tiff_writer *state)
{
    const size_t part = (size_t)smp_row_bytes(&state->part);
    for (int64_t k = 0; k < state->across; k++) {
        strip *s = &state->strips[state->filled % state->room];
        s->size = (size_t)state->rows * part;
        if (state->tile) { /* tiles are complete, also at the lower edge */
            memset(s->rows + s->size, 0, (size_t)(state->tile - state->rows) * part);
            s->size = (size_t)state->tile * part;
        }
        state->filled++;
        smp_tasks_begin(state->tasks);
    }
    state->rows = 0;
}

smp_code smp_tiff_write_row(smp_writer *writer, int64_t y, const void *from, smp_error *err)
{
    tiff_writer *state = writer->state;
    while (!state->rows && state->filled + state->across - state->written > state->room)
        SMP_TRY(write_strip(state, writer, err));
    take_row(state, from);
    if (state->rows == state->strip_rows || y + 1 == state->shape.height)
        begin_strips(state);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ the end */

static smp_code put_directories(tiff_writer *state, smp_writer *writer, smp_error *err)
{
    const uint64_t pad = state->position & 1, at = state->position + pad;
    const uint64_t size = smp_tiff_folders_link(state->folders, state->big), end = at + size;
    uint8_t place[8], *bytes = size ? smp_alloc((size_t)(pad + size)) : NULL;
    SMP_NEED(bytes, "the directory of a TIFF", pad + size, err);
    smp_tiff_folders_put(state->folders, state->big, at, size, bytes + pad);
    smp_put_le(place, at, sizeof place);
    smp_code code = SMP_OK;
    if (!state->big && end > UINT32_MAX)
        code = smp_fail(err, SMP_E_WRITE, "the TIFF becomes larger than 4 GB");
    code = code ? code : smp_output_write(writer->output, bytes, (size_t)(end - state->position), err);
    if (!code)
        code = smp_output_patch(writer->output, state->link, place, state->big ? 8 : 4, err);
    const size_t count = state->folders[TIFF_FIRST].count;
    state->link = at + (state->big ? 8 + 20 * (uint64_t)count : 2 + 12 * (uint64_t)count);
    state->position = end;
    smp_free(bytes);
    return code;
}

smp_code smp_tiff_write_end(smp_writer *writer, smp_error *err)
{
    tiff_writer *state = writer->state;
    const uint32_t type = state->big ? TYPE_LONG8 : TYPE_LONG;
    const uint64_t total = (uint64_t)state->total;
    while (state->written < state->total)
        SMP_TRY(write_strip(state, writer, err));
    const uint32_t offsets = state->tile ? TIFF_TILE_OFFSETS : TIFF_STRIP_OFFSETS,
                   bytes = state->tile ? TIFF_TILE_BYTES : TIFF_STRIP_BYTES;
    if (!smp_tiff_tags_numbers(state->folders, offsets, type, total, state->places) ||
        !smp_tiff_tags_numbers(state->folders, bytes, type, total, state->sizes))
        return smp_fail_memory(err, "the directory of a TIFF", 16 * total);
    return put_directories(state, writer, err);
}

static void end_page(tiff_writer *state)
{
    smp_tasks_close(state->tasks);
    for (int i = 0; state->strips && i < state->room; i++) {
        smp_free(state->strips[i].rows);
        smp_tiff_packer_close(state->strips[i].packer);
    }
    smp_free_all(state->strips, state->places, state->sizes);
    smp_tiff_folders_free(state->folders);
    state->tasks = NULL;
    state->strips = NULL;
    state->places = state->sizes = NULL;
}

smp_code smp_tiff_write_next(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    SMP_TRY(smp_tiff_write_end(writer, err));
    end_page(writer->state);
    return begin_page(writer, meta, err);
}

void smp_tiff_write_close(smp_writer *writer)
{
    end_page(writer->state);
    smp_free(writer->state);
}
