/* NumPy's .npy files: arrays of two (rows, columns) or three (rows, columns, channels) dimensions. uint8, uint16 and
 * float32 are read as they are, and written. bool, other integers and other floats are converted exactly (npy_types.c),
 * or refused where that is impossible. Reading is strict: unknown content is refused. Source: numpy.lib.format, "NPY
 * format", versions 1.0 to 3.0. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/format.h"
#include "io/images/npy_types.h"
#include "media/half.h"

enum {
    MAGIC = 6,            /* bytes: \x93NUMPY */
    MAX_HEADER = 1 << 16, /* bytes of the dictionary; NumPy itself stops at 10000 */
    ALIGN = 64,           /* bytes: NumPy aligns the data to this */
    GROWTH_DIGITS = 21    /* NumPy leaves room for so many digits of the first dimension */
};

typedef struct npy {
    char descr[32];
    const smp_npy_type *type;
    bool fortran, swap;
    bool rounded; /* which was told */
    int64_t dims[3];
    int dim_count;
    uint8_t *whole; /* Fortran order: the whole array, as in the file */
    uint8_t *line;  /* a row as in the file, when it must be converted */
} npy;

static bool sniff(const uint8_t *head, size_t size)
{
    return size >= MAGIC && memcmp(head, "\x93NUMPY", MAGIC) == 0;
}

/* ------------------------------------------------------------------------------------------------ header */

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n'))
        c->at++;
}

static bool accept(cursor *c, const char *word)
{
    skip_space(c);
    size_t n = strlen(word);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool parse_string(cursor *c, char *text, size_t size)
{
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    char quote = *c->at++;
    size_t n = 0;
    while (c->at < c->end && *c->at != quote) {
        if (*c->at == '\\' || n + 1 >= size || !isprint((unsigned char)*c->at))
            return false;
        text[n++] = *c->at++;
    }
    text[n] = '\0';
    return c->at++ < c->end;
}

static bool parse_dimension(cursor *c, int64_t *value)
{
    skip_space(c);
    if (c->at == c->end || !isdigit((unsigned char)*c->at))
        return false;
    *value = 0;
    for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++)
        if (!smp_mul_i64(*value, 10, value) || !smp_add_i64(*value, *c->at - '0', value))
            return false;
    if (c->at < c->end && *c->at == 'L') /* Python 2 */
        c->at++;
    return true;
}

/* "(3, 4)". Dimensions after the third are counted, not kept. */
static bool parse_shape(cursor *c, npy *array)
{
    array->dim_count = 0;
    if (!accept(c, "("))
        return false;
    while (!accept(c, ")")) {
        int64_t value;
        if (!parse_dimension(c, &value))
            return false;
        if (array->dim_count < 3)
            array->dims[array->dim_count] = value;
        array->dim_count++;
        if (!accept(c, ",")) {
            if (array->dim_count == 1 || !accept(c, ")")) /* (3) is a number and not a tuple */
                return false;
            break;
        }
    }
    return true;
}

static bool parse_header(const char *text, size_t length, npy *array)
{
    cursor c = {text, text + length};
    enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
    int seen = 0;
    if (!accept(&c, "{"))
        return false;
    while (!accept(&c, "}")) {
        char key[32];
        if (!parse_string(&c, key, sizeof key) || !accept(&c, ":"))
            return false;
        int which = strcmp(key, "descr") == 0           ? DESCR
                    : strcmp(key, "fortran_order") == 0 ? ORDER
                    : strcmp(key, "shape") == 0         ? SHAPE
                                                        : 0;
        if (!which || seen & which)
            return false;
        seen |= which;
        if (which == DESCR && accept(&c, "[")) {
            snprintf(array->descr, sizeof array->descr, "[");
            return true; /* structured types: the caller refuses them */
        }
        if (which == DESCR && !parse_string(&c, array->descr, sizeof array->descr))
            return false;
        if (which == ORDER && !(array->fortran = accept(&c, "True")) && !accept(&c, "False"))
            return false;
        if (which == SHAPE && !parse_shape(&c, array))
            return false;
        if (!accept(&c, ",")) {
            if (!accept(&c, "}"))
                return false;
            break;
        }
    }
    skip_space(&c);
    return c.at == c.end && seen == (DESCR | ORDER | SHAPE);
}

static smp_code take_shape(const npy *array, smp_media *media, smp_error *err)
{
    smp_shape *shape = &media->shape;
    if (array->dim_count != 2 && array->dim_count != 3) {
        smp_fail(err, SMP_E_DECODE, "the array has %d dimension%s", array->dim_count, array->dim_count == 1 ? "" : "s");
        return smp_hint(err, "pictures have two (rows, columns) or three (rows, columns, channels): reshape it first");
    }
    shape->kind = SMP_IMAGE;
    shape->height = array->dims[0];
    shape->width = array->dims[1];
    if (array->dim_count == 3 && (array->dims[2] < 1 || array->dims[2] > SMP_MAX_CHANNELS)) {
        smp_fail(err, SMP_E_DECODE, "the array has %lld channels, its last dimension; 1 to %d can be read",
                 (long long)array->dims[2], SMP_MAX_CHANNELS);
        const bool first = array->dims[0] >= 1 && array->dims[0] <= SMP_MAX_CHANNELS;
        return smp_hint(err, "channels come last: numpy.moveaxis(a, 0, -1) puts a first dimension there%s",
                        first ? " (--layout chw is for outputs)" : "");
    }
    shape->channels = array->dim_count == 3 ? (int)array->dims[2] : 1;
    shape->alpha = false;
    shape->format = array->type->format;
    media->bits = 8 * array->type->bytes;
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ reading */

/* Reads the dictionary's text, from smp_alloc. */
static smp_code read_dictionary(smp_source *source, char **text, size_t *length, smp_error *err)
{
    uint8_t head[MAGIC + 2], size[4] = {0};
    *text = NULL;
    SMP_TRY(smp_source_fill(source, head, sizeof head, err));
    int major = head[MAGIC], minor = head[MAGIC + 1];
    if (major < 1 || major > 3 || minor != 0)
        return smp_fail(err, SMP_E_DECODE, "the array file has version %d.%d; 1.0, 2.0 and 3.0 can be read", major,
                        minor);
    size_t bytes = major == 1 ? 2 : 4;
    SMP_TRY(smp_source_fill(source, size, bytes, err));
    *length = (size_t)size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
    if (*length > MAX_HEADER)
        return smp_fail(err, SMP_E_LIMIT, "the array's header has %zu bytes; at most %d are accepted", *length,
                        MAX_HEADER);
    *text = smp_alloc(*length + 1);
    SMP_NEED(*text, "an array's header", *length, err);
    return smp_source_read(source, *text, *length) == *length ? SMP_OK : smp_source_ended(source, err);
}

/* Bytes of a row in the file. check_data() has checked it. */
static size_t file_row(const npy *array, const smp_shape *shape)
{
    return (size_t)shape->width * (size_t)shape->channels * (size_t)array->type->bytes;
}

static smp_code check_data(smp_reader *reader, const npy *array, smp_error *err)
{
    const smp_shape *shape = &reader->media.shape;
    int64_t row, total;
    SMP_TRY(smp_check_picture(&reader->options.limits, shape->width, shape->height, 0, err));
    if (!smp_mul_i64(shape->width, (int64_t)shape->channels * array->type->bytes, &row) ||
        !smp_mul_i64(row, shape->height, &total))
        return smp_fail(err, SMP_E_LIMIT, "the array's size is past what can be counted");
    SMP_TRY(smp_check_picture(&reader->options.limits, shape->width, shape->height,
                              (uint64_t)(array->fortran ? total : row), err));
    const uint64_t size = reader->source.size, end = reader->source.position + (uint64_t)total;
    SMP_TRY(smp_check_size(&reader->source, end, err));
    if (size == UINT64_MAX || size <= end)
        return SMP_OK;
    smp_fail(err, SMP_E_DECODE, "%llu bytes follow the array that the header describes",
             (unsigned long long)(size - end));
    return smp_hint(err, "a file must hold one array");
}

/* An array of many rows and few columns may be a sound that was written so; it has lost its rate. */
static void describe(smp_reader *reader, const npy *array)
{
    enum { MOST_CHANNELS = 8, LEAST_FRAMES = 1000 };
    const smp_shape *shape = &reader->media.shape;
    snprintf(reader->media.detail, sizeof reader->media.detail, "%s%s", array->descr,
             array->fortran ? ", Fortran order" : "");
    if (array->dim_count == 2 && shape->format == SMP_F32 && !array->type->convert && !array->swap && !array->fortran &&
        shape->width <= MOST_CHANNELS && shape->height >= LEAST_FRAMES)
        smp_note(&reader->notes,
                 "an array of %lld rows and %lld columns is read as a picture; as a sound by --raw "
                 "f32lex%lld:RATE@%llu",
                 (long long)shape->height, (long long)shape->width, (long long)shape->width,
                 (unsigned long long)reader->source.position);
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    char *text = NULL;
    size_t length = 0;
    npy *array = reader->state;
    smp_code code = read_dictionary(&reader->source, &text, &length, err);
    if (code == SMP_OK && !parse_header(text, length, array))
        code = smp_fail(err, SMP_E_DECODE, "the array's header cannot be understood: %.200s", text);
    smp_free(text);
    SMP_TRY(code);
    if (!(array->type = smp_npy_find_type(array->descr, &array->swap, err)))
        return SMP_E_DECODE;
    SMP_TRY(take_shape(array, &reader->media, err));
    SMP_TRY(check_data(reader, array, err));
    describe(reader, array);
    const size_t row = file_row(array, &reader->media.shape), size = row * (size_t)reader->media.shape.height;
    if (array->type->convert && !(array->line = smp_alloc_raw(row)))
        return smp_fail_memory(err, "a row of an array", row);
    if (array->fortran) {
        array->whole = smp_alloc_raw(size);
        SMP_NEED(array->whole, "an array in Fortran order", size, err);
        SMP_TRY(smp_source_fill(&reader->source, array->whole, size, err));
    }
    return code;
}

/* In Fortran order the first index is contiguous: sample (y, x, c) is number y + height * (x + width * c). */
static void gather_row(const npy *array, const smp_shape *shape, int64_t y, uint8_t *to)
{
    const size_t size = (size_t)array->type->bytes;
    for (int64_t x = 0; x < shape->width; x++)
        for (int64_t c = 0; c < shape->channels; c++, to += size)
            memcpy(to, array->whole + (size_t)(y + shape->height * (x + shape->width * c)) * size, size);
}

static smp_code fail_sample(const smp_reader *reader, int64_t y, size_t index, smp_error *err)
{
    const npy *array = reader->state;
    const size_t channels = (size_t)reader->media.shape.channels;
    char text[64];
    smp_npy_print(array->type, array->line + index * (size_t)array->type->bytes, text, sizeof text);
    smp_fail(err, SMP_E_DECODE, "the %s at row %lld, column %zu, channel %zu is %s, which no float32 holds%s",
             array->type->name, (long long)y, index / channels, index % channels, text,
             array->type->code[0] == 'f' ? "" : " exactly");
    return smp_hint(err, "%s", array->type->advice);
}

static smp_code read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    npy *array = reader->state;
    const smp_shape *shape = &reader->media.shape;
    const size_t row = file_row(array, shape), count = (size_t)shape->width * (size_t)shape->channels;
    if (!array->fortran && !array->swap && !array->line && stride == (int64_t)row) /* as it is: in one call */
        return smp_source_read(&reader->source, to, row * (size_t)rows) == row * (size_t)rows
                   ? SMP_OK
                   : smp_source_ended(&reader->source, err);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t y = reader->next_row + i;
        void *out = (uint8_t *)to + i * stride;
        uint8_t *at = array->line ? array->line : out;
        if (array->fortran)
            gather_row(array, shape, y, at);
        else if (smp_source_read(&reader->source, at, row) != row)
            return smp_source_ended(&reader->source, err);
        if (array->swap)
            smp_npy_swap(at, count, array->type->bytes);
        if (!array->line)
            continue;
        size_t done = array->type->convert(at, out, count);
        if (done < count)
            return fail_sample(reader, y, done, err);
        if (!array->rounded && (array->rounded = smp_npy_rounded(array->type, at, out, count)))
            smp_note(&reader->notes, "numbers of %s are rounded to float32", array->type->name);
    }
    return SMP_OK;
}

/* Only here is the end of a pipe known. */
static smp_code read_end(smp_reader *reader, smp_error *err)
{
    const uint8_t *at;
    if (smp_source_peek(&reader->source, &at, 1))
        return smp_fail(err, SMP_E_DECODE, "more bytes follow the array that the header describes");
    return reader->source.failed || reader->source.over_limit ? smp_source_ended(&reader->source, err) : SMP_OK;
}

static void read_close(smp_reader *reader)
{
    npy *array = reader->state;
    smp_free_all(array->whole, array->line, array);
}

/* ------------------------------------------------------------------------------------------------ writing */

static smp_code write_shape(const smp_file_format *, const char *, smp_shape *, smp_error *)
{
    /* any number of channels fits; alpha is not recorded */
    return SMP_OK;
}

/* Writes an array in another layout than samples come in: planes, or floats of 16 bits. */
typedef struct npy_writer {
    uint64_t data; /* where samples begin in the file */
    size_t size;   /* bytes of a sample in the file */
    void *line;    /* a row of one channel, or of all */
} npy_writer;

/* n samples from `from` on, `step` samples apart, side by side. */
static void take(const npy_writer *state, const uint8_t *from, int format, int64_t n, int64_t step)
{
    const int64_t size = smp_sample_size(format);
    if ((int64_t)state->size == size) {
        for (int64_t i = 0; i < n; i++)
            memcpy((uint8_t *)state->line + i * size, from + i * step * size, (size_t)size);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        float v;
        memcpy(&v, from + i * step * size, sizeof v);
        ((uint16_t *)state->line)[i] = smp_half_of(v);
    }
}

static const char *const layout_words[] = {"hwc", "chw", NULL};

/* chw: channels first, a plane after the other. */
static const smp_write_option layout = {
    .name = "layout",
    .type = SMP_WRITE_CHOICE,
    .choices = layout_words,
    .argument = "ORDER",
    .help = "order of NPY arrays: hwc is rows, columns, channels; chw channels, rows, columns, as PyTorch wants it",
    .flags = SMP_WRITE_RARE | SMP_WRITE_SAID,
    .must = 2,
};

static const smp_write_takes takes[] = {{&smp_write_samples, 1u << SMP_SAMPLES_HALF}, {&layout, 0}, {0}};

static bool is_half(const smp_write_options *options)
{
    return smp_write_value(&options->values, &smp_write_samples) == SMP_SAMPLES_HALF;
}

static bool is_planar(const smp_write_options *options)
{
    return smp_write_value(&options->values, &layout) != 0;
}

static smp_code check_kind(const smp_writer *writer, smp_error *err)
{
    const smp_write_options *options = &writer->options;
    if (is_half(options) && writer->shape.format != SMP_F32)
        return smp_fail(err, SMP_E_WRITE, "--samples f16 is for floats, and these are integers"),
               smp_hint(err, "`depth float` makes floats of 0 to 1, `standardize` those of a network");
    if (is_planar(options) && writer->shape.kind == SMP_AUDIO)
        return smp_fail(err, SMP_E_WRITE, "--layout chw is for pictures, and this is a sound");
    if (is_planar(options) && !smp_output_seekable(writer->output))
        return smp_fail(err, SMP_E_WRITE, "--layout chw writes planes in turns, which a pipe cannot take"),
               smp_hint(err, "write to a file");
    return SMP_OK;
}

/* The same bytes as numpy.save (1.23 and newer). */
static smp_code write_open(smp_writer *writer, const smp_meta *, smp_error *err)
{
    static const char *const types[] = {"u1", "u2", "f4"};
    const bool half = is_half(&writer->options), planes = is_planar(&writer->options);
    SMP_TRY(check_kind(writer, err));
    const smp_shape *shape = &writer->shape;
    char text[256], head[MAGIC + 4 + sizeof text + ALIGN], order = smp_little_endian() ? '<' : '>';
    const bool sound = shape->kind == SMP_AUDIO;
    const long long sides[3] = {planes ? shape->channels : shape->height,
                                planes  ? shape->height
                                : sound ? shape->channels
                                        : shape->width,
                                planes ? shape->width : shape->channels};
    int n = snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%lld, %lld",
                     shape->format == SMP_U8 ? '|' : order, half ? "f2" : types[shape->format], sides[0], sides[1]);
    if (planes || (shape->channels > 1 && !sound))
        n += snprintf(text + n, sizeof text - (size_t)n, ", %lld", sides[2]);
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");
    char digits[24];
    for (int i = snprintf(digits, sizeof digits, "%lld", sides[0]); i < GROWTH_DIGITS; i++)
        text[n++] = ' ';
    size_t used = MAGIC + 4 + (size_t)n + 1, total = used + ALIGN - used % ALIGN, length = total - MAGIC - 4;
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\1\0", MAGIC + 2);
    head[MAGIC + 2] = (char)(length & 0xFF);
    head[MAGIC + 3] = (char)(length >> 8);
    memcpy(head + MAGIC + 4, text, (size_t)n);
    head[total - 1] = '\n';
    smp_code code = smp_output_write(writer->output, head, total, err);
    if (code || !(half || planes))
        return code;
    npy_writer *state = writer->state = smp_alloc(sizeof *state);
    const size_t line = (size_t)smp_row_bytes(shape);
    SMP_NEED(state && (state->line = smp_alloc_raw(line)), "a row of an array", line, err);
    state->data = total;
    state->size = half ? sizeof(uint16_t) : (size_t)smp_sample_size((int)shape->format);
    return SMP_OK;
}

/* A row: into every plane, or as one. */
static smp_code write_changed(smp_writer *writer, const uint8_t *row, int64_t y, smp_error *err)
{
    const npy_writer *state = writer->state;
    const smp_shape *shape = &writer->shape;
    const size_t line = (size_t)shape->width * state->size;
    const int64_t size = smp_sample_size((int)shape->format);
    if (!is_planar(&writer->options)) {
        take(state, row, (int)shape->format, shape->width * shape->channels, 1);
        return smp_output_write(writer->output, state->line, line * (size_t)shape->channels, err);
    }
    for (int c = 0; c < shape->channels; c++) {
        take(state, row + c * size, (int)shape->format, shape->width, shape->channels);
        SMP_TRY(smp_output_patch(writer->output, state->data + (uint64_t)(c * shape->height + y) * line, state->line,
                                 line, err));
    }
    return SMP_OK;
}

static smp_code write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    const size_t row = (size_t)smp_row_bytes(&writer->shape);
    if (!writer->state && stride == (int64_t)row)
        return smp_output_write(writer->output, from, row * (size_t)rows, err);
    for (int64_t i = 0; i < rows; i++) {
        const uint8_t *at = (const uint8_t *)from + i * stride;
        SMP_TRY(writer->state ? write_changed(writer, at, writer->next_row + i, err)
                              : smp_output_write(writer->output, at, row, err));
    }
    return SMP_OK;
}

static void write_close(smp_writer *writer)
{
    npy_writer *state = writer->state;
    if (state)
        smp_free(state->line);
    smp_free(state);
}

const smp_file_format smp_format_npy = {
    .name = "NPY",
    .extensions = (const char *const[]){"npy", NULL},
    .bare = true,
    .dpi = true,
    .gamma = true,
    .kind = SMP_BOTH, /* writes sound too, as frames x channels; reads only pictures */
    .sniff = sniff,
    .read_state = sizeof(npy),
    SMP_READS(rows),
    .read_end = read_end,
    .read_close = read_close,
    SMP_WRITES(rows),
    .write_close = write_close,
    .takes = takes,
};
