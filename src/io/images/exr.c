/* Writes OpenEXR: light as floats of 32 or 16 bits, in chunks of 16 rows by ZIP, colours with alpha multiplied in. The
 * planner makes light of encoded values. Reading is av/picture.c's. Sources: openexr.com, "OpenEXR File Layout";
 * OpenEXR 3.1, internal_zip.c. */
#include <math.h>

#include <zlib.h>

#include "io/bytes.h"
#include "io/format.h"
#include "media/half.h"

enum { ROWS = 16, CHUNK_HEAD = 8, LEVEL = 4 /* as OpenEXR */, HEAD = 1024 /* bytes, at most */ };
enum { HALF = 1, FLOAT = 2 /* kinds of sample */, WHITE = 2 /* numbers, in front of colours here, and behind there */ };

typedef struct exr_writer {
    uint8_t *rows, *ordered, *packed; /* of a chunk */
    uint8_t *table, *kept;            /* where chunks are; all of the file, for a pipe */
    size_t table_at, table_size, kept_size, kept_room, row_bytes;
    int kind;
    uint64_t infinite; /* samples that were finite */
    uint64_t hidden;   /* colours of no alpha, which are lost */
} exr_writer;

static const smp_write_takes takes[] = {{&smp_write_samples, 1u << SMP_SAMPLES_FLOAT | 1u << SMP_SAMPLES_HALF}, {0}};

static smp_code write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    shape->format = SMP_F32;
    shape->curve = 1;
    SMP_TRY(smp_check_sides("OpenEXR", shape, err));
    return smp_check_colour("OpenEXR", shape, err);
}

/* A file, or what waits for the table that a pipe gets first. */
static smp_code put(smp_writer *writer, exr_writer *s, const void *data, size_t size, smp_error *err)
{
    if (smp_output_seekable(writer->output))
        return smp_output_write(writer->output, data, size, err);
    SMP_NEED(smp_grow(&s->kept, &s->kept_room, s->kept_size + size, 1), "an OpenEXR", s->kept_size + size, err);
    memcpy(s->kept + s->kept_size, data, size);
    s->kept_size += size;
    return SMP_OK;
}

static uint8_t *add(uint8_t *to, const char *name, const char *type, const void *value, size_t size)
{
    to = (uint8_t *)stpcpy((char *)to, name) + 1;
    to = (uint8_t *)stpcpy((char *)to, type) + 1;
    smp_put_le(to, size, 4);
    memcpy(to + 4, value, size);
    return to + 4 + size;
}

static void put_real(uint8_t bytes[4], double value)
{
    const float real = (float)value;
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    smp_put_le(bytes, bits, 4);
}

static uint8_t *add_real(uint8_t *to, const char *name, double value)
{
    uint8_t bytes[4];
    put_real(bytes, value);
    return add(to, name, "float", bytes, sizeof bytes);
}

static bool says_cicp(const uint8_t cicp[4])
{
    double chrm[8];
    return smp_chromaticities(cicp[0], chrm) &&
           smp_meta_curve(&(smp_meta){.has_cicp = true, .cicp = {0, cicp[1]}}) >= 0;
}

static uint8_t *add_colours(uint8_t *to, const smp_meta *meta)
{
    enum { NUMBERS = 8 };
    uint8_t value[4 * NUMBERS];
    double chrm[NUMBERS];
    if (!meta || (!meta->has_cicp && !meta->has_chrm))
        return to;
    memcpy(chrm, meta->chrm, sizeof chrm);
    if (meta->has_cicp && (!says_cicp(meta->cicp) || !smp_chromaticities(meta->cicp[0], chrm)))
        return to;
    for (int i = 0; i < NUMBERS; i++)
        put_real(value + 4 * i, chrm[(i + WHITE) % NUMBERS]);
    return add(to, "chromaticities", "chromaticities", value, sizeof value);
}

static smp_code write_head(smp_writer *writer, exr_writer *s, const smp_meta *meta, smp_error *err)
{
    enum { CHANNEL = 18 /* bytes, with a name of one letter */, ZIP = 3, INCH = 254 /* tenths of a millimetre */ };
    const smp_shape *shape = &writer->shape;
    const char *letters = &(shape->channels > 2 ? "ABGR" : "AY")[!shape->alpha];
    uint8_t head[HEAD] = "\x76\x2F\x31\x01\x02", list[4 * CHANNEL + 1] = "", box[16] = "", *to = head + 8;
    for (int c = 0; c < shape->channels; c++) {
        uint8_t *one = list + CHANNEL * c;
        one[0] = (uint8_t)letters[c];
        one[2] = (uint8_t)s->kind;
        one[10] = one[14] = 1; /* each pixel has a sample */
    }
    smp_put_le(box + 8, (uint64_t)shape->width - 1, 4);
    smp_put_le(box + 12, (uint64_t)shape->height - 1, 4);
    to = add(to, "channels", "chlist", list, (size_t)shape->channels * CHANNEL + 1);
    to = add_colours(to, meta);
    to = add(to, "compression", "compression", &(uint8_t){ZIP}, 1);
    to = add(to, "dataWindow", "box2i", box, sizeof box);
    to = add(to, "displayWindow", "box2i", box, sizeof box);
    to = add(to, "lineOrder", "lineOrder", "", 1);
    const bool dense = meta && meta->x_density > 0 && meta->y_density > 0;
    to = add_real(to, "pixelAspectRatio", dense ? meta->y_density / meta->x_density : 1);
    to = add(to, "screenWindowCenter", "v2f", (uint8_t[8]){0}, 8);
    to = add_real(to, "screenWindowWidth", 1);
    if (dense && !meta->density_is_aspect)
        to = add_real(to, "xDensity", meta->x_density * INCH / 1e4);
    s->table_at = (size_t)(to + 1 - head);
    SMP_TRY(put(writer, s, head, s->table_at, err));
    return put(writer, s, s->table, s->table_size, err);
}

static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    exr_writer *s = writer->state;
    const smp_shape *shape = &writer->shape;
    s->kind = smp_write_value(&writer->options.values, &smp_write_samples) == SMP_SAMPLES_HALF ? HALF : FLOAT;
    s->row_bytes = (size_t)(shape->width * shape->channels) * (s->kind == HALF ? 2 : 4);
    s->table_size = (size_t)((shape->height + ROWS - 1) / ROWS) * 8;
    const size_t chunk = s->row_bytes * ROWS;
    SMP_NEED((s->rows = smp_alloc_raw(chunk)) && (s->ordered = smp_alloc_raw(chunk)) &&
                 (s->packed = smp_alloc_raw(compressBound((uLong)chunk))) && (s->table = smp_alloc(s->table_size)),
             "an OpenEXR", chunk, err);
    return write_head(writer, s, meta, err);
}

/* All lower bytes of pairs, then all higher ones, as differences; what does not get smaller stays as it is. */
static smp_code write_chunk(smp_writer *writer, exr_writer *s, int64_t first, int64_t rows, smp_error *err)
{
    const size_t size = s->row_bytes * (size_t)rows;
    const uint64_t at = s->kept ? s->kept_size : smp_output_size(writer->output);
    uint8_t head[CHUNK_HEAD], *low = s->ordered, *high = s->ordered + (size + 1) / 2;
    for (size_t i = 0; i < size; i += 2) {
        *low++ = s->rows[i];
        *high++ = s->rows[i + 1];
    }
    for (size_t i = size - 1; i > 0; i--)
        s->ordered[i] = (uint8_t)(s->ordered[i] - s->ordered[i - 1] + 128);
    uLongf packed = compressBound((uLong)size);
    SMP_NEED(compress2(s->packed, &packed, s->ordered, (uLong)size, LEVEL) == Z_OK, "an OpenEXR", size, err);
    smp_put_le(s->table + first / ROWS * 8, at, 8);
    smp_put_le(head, (uint64_t)first, 4);
    smp_put_le(head + 4, packed < size ? packed : size, 4);
    SMP_TRY(put(writer, s, head, sizeof head, err));
    return put(writer, s, packed < size ? s->packed : s->rows, packed < size ? packed : size, err);
}

static smp_code write_row(smp_writer *writer, int64_t y, const void *from, smp_error *err)
{
    exr_writer *s = writer->state;
    const smp_shape *shape = &writer->shape;
    const int n = shape->channels;
    const float *pixels = from;
    uint8_t *to = s->rows + s->row_bytes * (size_t)(y % ROWS);
    for (int c = n - 1; c >= 0; c--) /* channels in the order of their names */
        for (int64_t x = 0; x < shape->width; x++) {
            const float alpha = shape->alpha && c < n - 1 ? pixels[x * n + n - 1] : 1;
            float v = pixels[x * n + c];
            s->hidden += alpha <= 0 && v != 0;
            v = alpha < 1 ? v * fmaxf(alpha, 0) : v;
            uint32_t bits;
            if (s->kind == HALF) {
                bits = smp_half_of(v);
                s->infinite += (bits & 0x7FFF) == 0x7C00 && !isinf(v);
            } else
                memcpy(&bits, &v, sizeof bits);
            smp_put_le(to, bits, s->kind == HALF ? 2 : 4);
            to += s->kind == HALF ? 2 : 4;
        }
    const int64_t rows = y % ROWS + 1;
    return rows == ROWS || y == shape->height - 1 ? write_chunk(writer, s, y + 1 - rows, rows, err) : SMP_OK;
}

static smp_code write_end(smp_writer *writer, smp_error *err)
{
    exr_writer *s = writer->state;
    if (s->infinite)
        smp_note(&writer->notes, "%llu samples are beyond what 16 bits hold (65504), and became infinite",
                 (unsigned long long)s->infinite);
    if (s->hidden)
        smp_note(&writer->notes,
                 "%llu samples of colour became 0, since their alpha is 0: an OpenEXR's colours are "
                 "multiplied by it",
                 (unsigned long long)s->hidden);
    if (!s->kept)
        return smp_output_patch(writer->output, s->table_at, s->table, s->table_size, err);
    memcpy(s->kept + s->table_at, s->table, s->table_size);
    return smp_output_write(writer->output, s->kept, s->kept_size, err);
}

static void write_close(smp_writer *writer)
{
    exr_writer *s = writer->state;
    smp_free_all(s->rows, s->ordered, s->packed, s->table, s->kept, s);
}

const smp_file_format smp_format_exr_written = {
    .name = "OpenEXR",
    .extensions = (const char *const[]){"exr", NULL},
    .kind = SMP_IMAGE,
    .bare = true,
    .dpi = true,
    .gamma = true,
    .says_cicp = says_cicp,
    .takes = takes,
    SMP_WRITES(row),
    .write_state = sizeof(exr_writer),
    .write_end = write_end,
    .write_close = write_close,
};
