/* Portable float maps: gray or RGB in 32-bit floats, bottom row first. The sign of the file's scale gives the byte
 * order. Its size is a unit of light; samples are not multiplied by it and stay as they are. Source: the netpbm
 * manual's page pfm; Paul Debevec's PFM. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/format.h"
#include "io/images/stored_rows.h"

enum { MOST_HEADER = 256, SAMPLE = 4 }; /* bytes */

typedef struct pfm {
    bool swap;
    smp_stored_rows stored;
} pfm;

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool sniff(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 'P' && (head[1] == 'F' || head[1] == 'f') && is_space(head[2]);
}

/* Reads the next word of the header and the one white-space byte that ends it. */
static bool next_word(const uint8_t **at, const uint8_t *end, char *word, size_t size)
{
    while (*at < end && is_space(**at))
        ++*at;
    size_t n = 0;
    for (; *at < end && !is_space(**at) && n + 1 < size; ++*at)
        word[n++] = (char)**at;
    word[n] = '\0';
    return n && *at < end && is_space(*(*at)++);
}

static bool parse_size(const char *word, int64_t *value)
{
    char *end;
    *value = strtoll(word, &end, 10);
    return !*end && *value > 0 && *value <= INT32_MAX;
}

/* Parses "-1.000": digits with a point and an exponent, not 0. */
static bool parse_scale(const char *word, bool *negative)
{
    *negative = *word == '-';
    word += *word == '-' || *word == '+';
    size_t digits = strspn(word, "0123456789.eE+-");
    return *word && !word[digits] && strspn(word, "0.") < digits;
}

static smp_code read_header(smp_reader *reader, char *scale, size_t scale_size, smp_error *err)
{
    pfm *state = reader->state;
    smp_shape *shape = &reader->media.shape;
    const uint8_t *head, *at;
    size_t size = smp_source_peek(&reader->source, &head, MOST_HEADER);
    char width[16], height[16];
    at = head + 2;
    shape->channels = head[1] == 'F' ? 3 : 1;
    shape->format = SMP_F32;
    bool whole = next_word(&at, head + size, width, sizeof width) &&
                 next_word(&at, head + size, height, sizeof height) && next_word(&at, head + size, scale, scale_size);
    bool little = false;
    if (whole && parse_size(width, &shape->width) && parse_size(height, &shape->height) &&
        parse_scale(scale, &little)) {
        state->swap = little != smp_little_endian();
        smp_source_skip(&reader->source, (uint64_t)(at - head));
        return SMP_OK;
    }
    if (at == head + size && size < MOST_HEADER) {
        smp_source_skip(&reader->source, size);
        return smp_source_ended(&reader->source, err);
    }
    return smp_fail(err, SMP_E_DECODE, "the PFM's header is damaged: width, height and scale are expected");
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    SMP_TRY(smp_source_spool(&reader->source, err));
    pfm *state = reader->state;
    char scale[32];
    SMP_TRY(read_header(reader, scale, sizeof scale, err));
    SMP_TRY(smp_check_picture(&reader->options.limits, media->shape.width, media->shape.height, 0, err));
    smp_stored_rows_set(&state->stored, reader->source.position, (uint64_t)smp_row_bytes(&media->shape),
                        media->shape.height);
    SMP_TRY(smp_check_picture(&reader->options.limits, media->shape.width, media->shape.height,
                              smp_stored_rows_memory(&state->stored), err));
    media->bits = 8 * SAMPLE;
    snprintf(media->detail, sizeof media->detail, "scale %s", scale);
    return smp_check_size(&reader->source, smp_stored_rows_end(&state->stored), err);
}

static smp_code read_row(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    pfm *state = reader->state;
    const smp_shape *shape = &reader->media.shape;
    const size_t size = (size_t)smp_row_bytes(shape);
    const uint8_t *from;
    uint32_t *row = to;
    SMP_TRY(smp_stored_rows_get(&state->stored, &reader->source, shape->height - 1 - y, &from, err));
    memcpy(row, from, size);
    for (size_t k = 0; state->swap && k < size / SAMPLE; k++)
        row[k] = __builtin_bswap32(row[k]);
    return SMP_OK;
}

static void read_close(smp_reader *reader)
{
    pfm *state = reader->state;
    smp_stored_rows_free(&state->stored);
    smp_free(state);
}

static smp_code write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    shape->format = SMP_F32;
    SMP_TRY(smp_check_colour("PFM", shape, err));
    shape->channels -= shape->alpha ? 1 : 0;
    shape->alpha = false;
    return SMP_OK;
}

/* The state is the size of the header: rows are at fixed places after it. */
static smp_code write_open(smp_writer *writer, const smp_meta *, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    if (!smp_output_seekable(writer->output))
        return smp_fail(err, SMP_E_WRITE, "a PFM begins with its last row, so that it can only be written to a file"),
               smp_hint(err, "write a .npy, which holds the same floats");
    char text[64];
    int n = snprintf(text, sizeof text, "P%c\n%lld %lld\n%s\n", shape->channels == 3 ? 'F' : 'f',
                     (long long)shape->width, (long long)shape->height, smp_little_endian() ? "-1.0" : "1.0");
    *(uint64_t *)writer->state = (uint64_t)n;
    return smp_output_write(writer->output, text, (size_t)n, err);
}

static smp_code write_row(smp_writer *writer, int64_t y, const void *from, smp_error *err)
{
    const uint64_t begin = *(const uint64_t *)writer->state, size = (uint64_t)smp_row_bytes(&writer->shape);
    const uint64_t place = (uint64_t)(writer->shape.height - 1 - y);
    return smp_output_patch(writer->output, begin + place * size, from, (size_t)size, err);
}

const smp_file_format smp_format_pfm = {
    .name = "PFM",
    .extensions = (const char *const[]){"pfm", NULL},
    .kind = SMP_IMAGE,
    .bare = true,
    .sniff = sniff,
    .read_state = sizeof(pfm),
    SMP_READS(row),
    .read_close = read_close,
    SMP_WRITES(row),
    .write_state = sizeof(uint64_t),
};
