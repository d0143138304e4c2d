/* The Netpbm family, by rows. Reads PBM, PGM and PPM in text or binary (P1 to P6) and PAM (P7); writes PGM, PPM and
 * PAM; 8 and 16 bits. Values are scaled from the file's maximum to full scale. Source: the netpbm manual's pages pbm,
 * pgm, ppm and pam. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/format.h"

enum { NO_BYTE = -1 };

typedef struct pnm {
    int kind; /* the digit after P */
    uint32_t max;
    uint8_t *line; /* a packed row of the file (P4) */
} pnm;

static bool is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool sniff(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 'P' && head[1] >= '1' && head[1] <= '7' && (is_space(head[2]) || head[2] == '#');
}

/* ------------------------------------------------------------------------------------------------ header */

static int next_byte(smp_source *source)
{
    uint8_t c;
    return smp_source_read(source, &c, 1) == 1 ? c : NO_BYTE;
}

/* Reads the next byte; a comment counts as the byte that ends it. */
static int next_uncommented(smp_source *source)
{
    int c = next_byte(source);
    if (c == '#')
        while (c != '\n' && c != '\r' && c != NO_BYTE)
            c = next_byte(source);
    return c;
}

/* Reads the first byte after white space and comments. */
static int next_solid(smp_source *source)
{
    int c = next_uncommented(source);
    while (is_space(c))
        c = next_uncommented(source);
    return c;
}

static smp_code fail_header(const smp_source *source, int c, smp_error *err)
{
    return c == NO_BYTE ? smp_source_ended(source, err) : smp_fail(err, SMP_E_DECODE, "the PNM's header is damaged");
}

/* Reads a number and what follows it: one white-space byte, or a comment. */
static smp_code read_number(smp_source *source, int64_t most, int64_t *value, smp_error *err)
{
    int c = next_solid(source);
    if (c < '0' || c > '9')
        return fail_header(source, c, err);
    for (*value = 0; c >= '0' && c <= '9'; c = next_uncommented(source)) {
        *value = *value * 10 + (c - '0');
        if (*value > most)
            return smp_fail(err, SMP_E_DECODE, "the PNM is damaged: a number is larger than %lld", (long long)most);
    }
    return is_space(c) || c == NO_BYTE ? SMP_OK : fail_header(source, c, err);
}

/* Reads a line of PAM's header into text, without its end. */
static smp_code read_line(smp_source *source, char *text, size_t size, smp_error *err)
{
    size_t n = 0;
    for (;;) {
        int c = next_byte(source);
        if (c == NO_BYTE)
            return smp_source_ended(source, err);
        if (c == '\n')
            break;
        if (n + 1 >= size)
            return fail_header(source, c, err);
        if (c != '\r')
            text[n++] = (char)c;
    }
    text[n] = '\0';
    return SMP_OK;
}

static smp_code read_pam_header(smp_source *source, smp_shape *shape, int64_t *max, smp_error *err)
{
    static const char *const names[] = {"WIDTH ", "HEIGHT ", "DEPTH ", "MAXVAL "};
    int64_t values[4] = {0};
    char text[256];
    for (;;) {
        SMP_TRY(read_line(source, text, sizeof text, err));
        if (strcmp(text, "ENDHDR") == 0)
            break;
        if (!text[0] || text[0] == '#')
            continue;
        if (strncmp(text, "TUPLTYPE ", 9) == 0) {
            size_t length = strlen(text);
            shape->alpha = length > 6 && strcmp(text + length - 6, "_ALPHA") == 0;
            continue;
        }
        int field = 0;
        while (field < 4 && strncmp(text, names[field], strlen(names[field])) != 0)
            field++;
        char *end = NULL;
        if (field < 4)
            values[field] = strtoll(text + strlen(names[field]), &end, 10);
        if (field == 4 || *end || values[field] < 1 || values[field] > INT32_MAX)
            return smp_fail(err, SMP_E_DECODE, "the PAM's header has a line that is not understood: %.100s", text);
    }
    if (values[2] < 1 || values[2] > SMP_MAX_CHANNELS)
        return smp_fail(err, SMP_E_DECODE, "the PAM has %lld channels; 1 to %d can be read", (long long)values[2],
                        SMP_MAX_CHANNELS);
    shape->width = values[0];
    shape->height = values[1];
    shape->channels = (int)values[2];
    shape->alpha = shape->alpha && shape->channels > 1;
    *max = values[3];
    return SMP_OK;
}

static smp_code read_header(smp_source *source, pnm *state, smp_shape *shape, smp_error *err)
{
    int64_t max = 1;
    next_byte(source);
    state->kind = next_byte(source) - '0';
    if (state->kind == 7) {
        char text[256];
        SMP_TRY(read_line(source, text, sizeof text, err)); /* the rest of the first line */
        SMP_TRY(read_pam_header(source, shape, &max, err));
    } else {
        shape->channels = state->kind % 3 == 0 ? 3 : 1;
        SMP_TRY(read_number(source, INT32_MAX, &shape->width, err));
        SMP_TRY(read_number(source, INT32_MAX, &shape->height, err));
        if (state->kind % 3 != 1)
            SMP_TRY(read_number(source, UINT16_MAX, &max, err));
    }
    if (max < 1 || max > UINT16_MAX)
        return smp_fail(err, SMP_E_DECODE, "the PNM's largest value is %lld; 1 to 65535 can be read", (long long)max);
    state->max = (uint32_t)max;
    shape->format = max > 255 ? SMP_U16 : SMP_U8;
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ reading */

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    smp_shape *shape = &media->shape;
    pnm *state = reader->state;
    SMP_TRY(read_header(&reader->source, state, shape, err));
    SMP_TRY(smp_check_picture(&reader->options.limits, shape->width, shape->height, 0, err));
    uint64_t row = state->kind == 4 ? (uint64_t)(shape->width + 7) / 8 : (uint64_t)smp_row_bytes(shape);
    SMP_TRY(smp_check_picture(&reader->options.limits, shape->width, shape->height, row, err));
    if (state->kind < 4) /* in text a sample takes at least a digit and, except the last, white space */
        row = (uint64_t)shape->width * (uint64_t)shape->channels;
    SMP_TRY(smp_check_size(&reader->source, reader->source.position + row * (uint64_t)shape->height, err));
    if (state->kind == 4 && !(state->line = smp_alloc_raw((size_t)row)))
        return smp_fail_memory(err, "PNM", row);
    for (media->bits = 1; state->max >> media->bits; media->bits++)
        ;
    snprintf(media->detail, sizeof media->detail, "P%d, values to %u", state->kind, state->max);
    return SMP_OK;
}

static smp_code read_text_row(smp_reader *reader, void *to, smp_error *err)
{
    const pnm *state = reader->state;
    const smp_shape *shape = &reader->media.shape;
    for (int64_t i = 0; i < shape->width * shape->channels; i++) {
        int64_t value;
        if (state->kind == 1) { /* digits need no white space between them */
            int c = next_solid(&reader->source);
            if (c != '0' && c != '1')
                return c == NO_BYTE ? smp_source_ended(&reader->source, err)
                                    : smp_fail(err, SMP_E_DECODE, "the PBM has a sample that is neither 0 nor 1");
            value = '1' - c;
        } else
            SMP_TRY(read_number(&reader->source, UINT16_MAX, &value, err));
        if (shape->format == SMP_U16)
            ((uint16_t *)to)[i] = (uint16_t)value;
        else if (value <= UINT8_MAX)
            ((uint8_t *)to)[i] = (uint8_t)value;
        else
            return smp_fail(err, SMP_E_DECODE, "the PNM has a sample of %lld; its header allows %u", (long long)value,
                            state->max);
    }
    return SMP_OK;
}

static smp_code read_byte_row(smp_reader *reader, void *to, smp_error *err)
{
    const pnm *state = reader->state;
    const smp_shape *shape = &reader->media.shape;
    size_t row = state->kind == 4 ? (size_t)(shape->width + 7) / 8 : (size_t)smp_row_bytes(shape);
    SMP_TRY(smp_source_fill(&reader->source, state->line ? state->line : to, row, err));
    if (state->line)
        for (int64_t x = 0; x < shape->width; x++)
            ((uint8_t *)to)[x] = !(state->line[x / 8] >> (7 - x % 8) & 1);
    if (shape->format == SMP_U16 && smp_little_endian())
        for (int64_t i = 0; i < shape->width * shape->channels; i++)
            ((uint16_t *)to)[i] = __builtin_bswap16(((uint16_t *)to)[i]);
    return SMP_OK;
}

/* Scales 0..max to full scale, to nearest; false when a sample is above max. */
static bool gain_offset_row(const pnm *state, const smp_shape *shape, void *to)
{
    uint32_t max = state->max, full = shape->format == SMP_U16 ? UINT16_MAX : UINT8_MAX, most = 0;
    if (max == full)
        return true;
    int64_t n = shape->width * shape->channels;
    for (int64_t i = 0; i < n; i++) {
        uint32_t v = shape->format == SMP_U16 ? ((uint16_t *)to)[i] : ((uint8_t *)to)[i];
        most = v > most ? v : most;
        v = (uint32_t)(((uint64_t)v * full + max / 2) / max);
        if (shape->format == SMP_U16)
            ((uint16_t *)to)[i] = (uint16_t)v;
        else
            ((uint8_t *)to)[i] = (uint8_t)v;
    }
    return most <= max;
}

static smp_code read_row(smp_reader *reader, int64_t, void *to, smp_error *err)
{
    const pnm *state = reader->state;
    SMP_TRY(state->kind < 4 ? read_text_row(reader, to, err) : read_byte_row(reader, to, err));
    if (gain_offset_row(state, &reader->media.shape, to))
        return SMP_OK;
    return smp_fail(err, SMP_E_DECODE, "the PNM has a sample above %u, the largest that its header allows", state->max);
}

static smp_code read_end(smp_reader *reader, smp_error *err)
{
    int c = next_solid(&reader->source);
    if (c != NO_BYTE)
        return smp_fail(err, SMP_E_DECODE, "more follows the picture that the header describes"),
               smp_hint(err, "if the file holds several pictures, split it first (pamsplit)");
    return reader->source.failed || reader->source.over_limit ? smp_source_ended(&reader->source, err) : SMP_OK;
}

static void read_close(smp_reader *reader)
{
    pnm *state = reader->state;
    smp_free_all(state->line, state);
}

/* ------------------------------------------------------------------------------------------------ writing */

static smp_code write_shape(const smp_file_format *, const char *extension, smp_shape *shape, smp_error *err)
{
    if (shape->format == SMP_F32)
        shape->format = SMP_U16;
    if (strcmp(extension, "pam") == 0)
        return SMP_OK;
    SMP_TRY(smp_check_colour("PNM", shape, err));
    shape->channels -= shape->alpha ? 1 : 0;
    shape->alpha = false;
    if (strcmp(extension, "pgm") == 0 && shape->channels != 1)
        return smp_fail(err, SMP_E_WRITE, "a .pgm holds gray, and this picture has colour"),
               smp_hint(err, "write a .ppm, or turn it to gray first");
    return SMP_OK;
}

/* A gray picture in a .ppm is written to all three channels. */
static bool repeats(const smp_writer *writer)
{
    return strcmp(writer->extension, "ppm") == 0 && writer->shape.channels == 1;
}

static smp_code write_open(smp_writer *writer, const smp_meta *, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    int channels = repeats(writer) ? 3 : shape->channels, max = shape->format == SMP_U16 ? UINT16_MAX : UINT8_MAX;
    writer->state =
        smp_alloc_array((size_t)shape->width, (size_t)channels * (size_t)smp_sample_size((int)shape->format));
    SMP_NEED(writer->state, "a row", (uint64_t)shape->width, err);
    char text[256];
    int n;
    if (strcmp(writer->extension, "pam") == 0) {
        int colours = channels - (shape->alpha ? 1 : 0);
        n = snprintf(text, sizeof text, "P7\nWIDTH %lld\nHEIGHT %lld\nDEPTH %d\nMAXVAL %d\n%s%s%sENDHDR\n",
                     (long long)shape->width, (long long)shape->height, channels, max,
                     colours == 1   ? "TUPLTYPE GRAYSCALE"
                     : colours == 3 ? "TUPLTYPE RGB"
                     : shape->alpha ? "TUPLTYPE OTHER"
                                    : "",
                     shape->alpha ? "_ALPHA" : "", colours == 1 || colours == 3 || shape->alpha ? "\n" : "");
    } else {
        n = snprintf(text, sizeof text, "P%d\n%lld %lld\n%d\n", channels == 3 ? 6 : 5, (long long)shape->width,
                     (long long)shape->height, max);
    }
    return smp_output_write(writer->output, text, (size_t)n, err);
}

static smp_code write_row(smp_writer *writer, int64_t, const void *from, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    size_t samples = (size_t)shape->width * (size_t)shape->channels, times = repeats(writer) ? 3 : 1;
    uint8_t *line = writer->state, *at = line;
    if (shape->format == SMP_U8 && times == 1)
        return smp_output_write(writer->output, from, samples, err);
    for (size_t k = 0; k < samples; k++)
        for (size_t t = 0; t < times; t++)
            if (shape->format == SMP_U16) {
                uint16_t v = ((const uint16_t *)from)[k];
                *at++ = (uint8_t)(v >> 8);
                *at++ = (uint8_t)v;
            } else {
                *at++ = ((const uint8_t *)from)[k];
            }
    return smp_output_write(writer->output, line, (size_t)(at - line), err);
}

const smp_file_format smp_format_pnm = {
    .name = "PNM",
    .extensions = (const char *const[]){"ppm", "pgm", "pnm", "pam", NULL},
    .kind = SMP_IMAGE,
    .bare = true,
    .sniff = sniff,
    .read_state = sizeof(pnm),
    SMP_READS(row),
    .read_end = read_end,
    .read_close = read_close,
    SMP_WRITES(row),
};
