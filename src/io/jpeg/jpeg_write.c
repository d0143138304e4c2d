/* Writes JPEG by rows through libjpeg-turbo: 8-bit gray or RGB, with the ICC profile, EXIF, comments and resolution
 * that were kept. Rows are coded as they come. There is no second pass over the picture, so memory does not grow with
 * its height, unless a progressive file is asked for. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "io/bytes.h"
#include "io/jpeg/jpeg_by_device.h"
#include "io/jpeg/jpeg_glue.h"

#include <jerror.h>

enum {
    OUT_SIZE = 1 << 16,   /* bytes of a write to the output */
    MARKER_BYTES = 65533, /* the most that a marker holds */
    ICC_PREFIX = 14,      /* "ICC_PROFILE\0", number, count */
    ICC_PART = MARKER_BYTES - ICC_PREFIX,
    ICC_PARTS = 255
};

typedef struct jpeg_writer {
    smp_jpeg base;
    struct jpeg_compress_struct jpeg;
    struct jpeg_destination_mgr destination;
    smp_writer *writer;
    const smp_meta *meta; /* during write_open only */
    bool created, copied;
    smp_jpeg_scan_rows scan; /* where rows hold a scan */
    uint8_t *marker;         /* a marker under construction */
    /* of the call in progress */
    const uint8_t *from;
    int64_t stride, rows;
    JOCTET out[OUT_SIZE];
} jpeg_writer;

smp_code smp_jpeg_write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    if (shape->width > JPEG_MAX_DIMENSION || shape->height > JPEG_MAX_DIMENSION)
        return smp_fail(err, SMP_E_WRITE, "a JPEG holds at most %ld x %ld pixels; this has %lld x %lld",
                        JPEG_MAX_DIMENSION, JPEG_MAX_DIMENSION, (long long)shape->width, (long long)shape->height),
               smp_hint(err, "write a .png, which may be larger");
    SMP_TRY(smp_check_colour("JPEG", shape, err));
    shape->channels -= shape->alpha ? 1 : 0;
    shape->alpha = false;
    shape->format = SMP_U8;
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ bytes */

static void destination_start(j_compress_ptr jpeg)
{
    jpeg_writer *state = jpeg->client_data;
    state->destination.next_output_byte = state->out;
    state->destination.free_in_buffer = OUT_SIZE;
}

static void send(jpeg_writer *state, size_t size)
{
    smp_code code = smp_output_write(state->writer->output, state->out, size, state->base.err);
    if (code != SMP_OK)
        smp_jpeg_stop(&state->base, code);
}

static boolean destination_empty(j_compress_ptr jpeg)
{
    send(jpeg->client_data, OUT_SIZE);
    destination_start(jpeg);
    return TRUE;
}

static void destination_end(j_compress_ptr jpeg)
{
    jpeg_writer *state = jpeg->client_data;
    send(state, OUT_SIZE - state->destination.free_in_buffer);
}

/* ------------------------------------------------------------------------------------------------ metadata */

/* JFIF stores whole dots an inch or a centimetre: uses whichever is closer. */
static void put_density(struct jpeg_compress_struct *jpeg, const smp_meta *meta, smp_notes *notes)
{
    double x = meta->x_density, y = meta->y_density;
    if (!(x > 0) || !(y > 0))
        return;
    if (meta->density_is_aspect) {
        if (x > UINT16_MAX || y > UINT16_MAX)
            return;
        jpeg->density_unit = 0;
    } else {
        double inch = 0.0254, cm = 0.01, i = x * inch, c = x * cm;
        bool inches = fabs(rint(i) - i) / i <= fabs(rint(c) - c) / c;
        x *= inches ? inch : cm;
        y *= inches ? inch : cm;
        if (rint(x) < 1 || rint(y) < 1 || x > UINT16_MAX || y > UINT16_MAX) {
            if (!smp_exif_says_resolution(&meta->exif))
                smp_note(notes, "the resolution is left out: a JPEG holds 1 to %d pixels an inch or cm", UINT16_MAX);
            return;
        }
        jpeg->density_unit = inches ? 1 : 2;
    }
    jpeg->X_density = (UINT16)rint(x);
    jpeg->Y_density = (UINT16)rint(y);
}

static void put_icc(jpeg_writer *state)
{
    const smp_blob *icc = &state->meta->icc;
    size_t parts = (icc->size + ICC_PART - 1) / ICC_PART;
    if (!icc->size || !smp_icc_fits(icc, state->writer->shape.channels))
        return;
    if (parts > ICC_PARTS) {
        smp_note(&state->writer->notes, "the ICC profile is left out: %zu bytes are more than a JPEG holds", icc->size);
        return;
    }
    for (size_t i = 0; i < parts; i++) {
        size_t size = icc->size - i * ICC_PART < ICC_PART ? icc->size - i * ICC_PART : ICC_PART;
        memcpy(state->marker, "ICC_PROFILE", 12);
        state->marker[12] = (uint8_t)(i + 1);
        state->marker[13] = (uint8_t)parts;
        memcpy(state->marker + ICC_PREFIX, icc->data + i * ICC_PART, size);
        jpeg_write_marker(&state->jpeg, JPEG_APP0 + 2, state->marker, (unsigned)(size + ICC_PREFIX));
    }
}

static void put_xmp(jpeg_writer *state, const char *packet)
{
    const size_t prefix = sizeof SMP_JPEG_XMP, size = strlen(packet);
    if (prefix + size > MARKER_BYTES) {
        smp_note(&state->writer->notes, "the XMP packet is left out: %zu bytes are more than a marker of a JPEG holds",
                 size);
        return;
    }
    memcpy(state->marker, SMP_JPEG_XMP, prefix);
    memcpy(state->marker + prefix, packet, size);
    jpeg_write_marker(&state->jpeg, JPEG_APP0 + 1, state->marker, (unsigned)(prefix + size));
}

/* As a resource of Photoshop, with an empty name, which is where others look for it. */
static void put_iptc(jpeg_writer *state)
{
    const smp_blob *iptc = &state->meta->iptc;
    const size_t prefix = sizeof SMP_JPEG_IRB, head = prefix + 12;
    if (!iptc->size)
        return;
    if (iptc->size > MARKER_BYTES - head - 1) {
        smp_note(&state->writer->notes, "IPTC records are left out: %zu bytes are more than a marker of a JPEG holds",
                 iptc->size);
        return;
    }
    memset(state->marker, 0, head);
    memcpy(state->marker, SMP_JPEG_IRB, prefix);
    memcpy(state->marker + prefix, "8BIM", 4);
    smp_put_be(state->marker + prefix + 4, SMP_JPEG_IPTC, 2);
    smp_put_be(state->marker + prefix + 8, iptc->size, 4);
    memcpy(state->marker + head, iptc->data, iptc->size);
    state->marker[head + iptc->size] = 0;
    jpeg_write_marker(&state->jpeg, JPEG_APP0 + 13, state->marker, (unsigned)(head + iptc->size + iptc->size % 2));
}

/* EXIF, XMP and texts that do not fit a marker are left out, with a note. */
static void put_metadata(jpeg_writer *state)
{
    const smp_meta *meta = state->meta;
    state->marker = smp_alloc_raw(MARKER_BYTES + 1); /* and the end of a text */
    if (!state->marker)
        smp_jpeg_stop(&state->base, smp_fail_memory(state->base.err, "JPEG", MARKER_BYTES));
    if (meta->exif.size >= 8 && meta->exif.size + 6 <= MARKER_BYTES) {
        memcpy(state->marker, "Exif\0", 6);
        memcpy(state->marker + 6, meta->exif.data, meta->exif.size);
        smp_exif_reset_orientation(state->marker + 6, meta->exif.size);
        jpeg_write_marker(&state->jpeg, JPEG_APP0 + 1, state->marker, (unsigned)meta->exif.size + 6);
    } else if (meta->exif.size >= 8) {
        smp_note(&state->writer->notes, "EXIF is left out: %zu bytes are more than a marker of a JPEG holds",
                 meta->exif.size);
    }
    put_icc(state);
    put_iptc(state);
    for (size_t i = 0; i < meta->text_count; i++) {
        const char *key = meta->texts[i].key, *value = meta->texts[i].value;
        if (strcmp(key, SMP_XMP_KEY) == 0) {
            put_xmp(state, value);
            continue;
        }
        if (meta->exif.size + 6 <= MARKER_BYTES && smp_exif_says(&meta->exif, key, value))
            continue;
        char other[SMP_TAG_KEY];
        const bool plain = strcmp(key, "Comment") == 0 && !smp_jpeg_comment_key(value, strlen(value), other);
        int size =
            snprintf((char *)state->marker, MARKER_BYTES + 1, "%s%s%s", plain ? "" : key, plain ? "" : ": ", value);
        if (size >= 0 && size <= MARKER_BYTES)
            jpeg_write_marker(&state->jpeg, JPEG_COM, state->marker, (unsigned)size);
        else
            smp_note(&state->writer->notes, "the text '%.80s' is left out: it is longer than a marker of a JPEG", key);
    }
}

/* ------------------------------------------------------------------------------------------------ rows */

static void write_header(void *context)
{
    jpeg_writer *state = context;
    struct jpeg_compress_struct *jpeg = &state->jpeg;
    const smp_shape *shape = &state->writer->shape;
    jpeg->err = smp_jpeg_errors(&state->base, SMP_E_WRITE);
    jpeg_create_compress(jpeg);
    state->created = true;
    smp_jpeg_adopt_memory(&state->base, (j_common_ptr)jpeg, UINT64_MAX);
    jpeg->client_data = state;
    state->destination = (struct jpeg_destination_mgr){
        .init_destination = destination_start,
        .empty_output_buffer = destination_empty,
        .term_destination = destination_end,
    };
    jpeg->dest = &state->destination;
    jpeg->image_width = (JDIMENSION)shape->width;
    jpeg->image_height = (JDIMENSION)shape->height;
    jpeg->input_components = shape->channels;
    jpeg->in_color_space = shape->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(jpeg);
    smp_jpeg_set_coding(jpeg, &state->writer->options, smp_coding_jpeg(&state->writer->coding));
    jpeg->dct_method = JDCT_ISLOW;
    const smp_blob *coded = state->writer->options.coded.picture;
    const bool inks = smp_coding_jpeg(&state->writer->coding)->inks, dense = state->meta && state->meta->x_density > 0;
    if (coded && smp_jpeg_is_adobe(coded) && !(inks && dense)) { /* of inks programs read no more of JFIF than that */
        jpeg->write_JFIF_header = FALSE;
        if (dense && !smp_exif_says_resolution(&state->meta->exif))
            smp_note(&state->writer->notes, "the resolution is left out: a JPEG coded as RGB has no place for it");
    } else if (state->meta)
        put_density(jpeg, state->meta, &state->writer->notes);
    jpeg_start_compress(jpeg, TRUE);
    if (state->meta)
        put_metadata(state);
    if (!coded && !state->writer->options.coded.scan.width)
        return;
    if (!coded)
        jpeg_write_scanlines(jpeg, NULL, 0); /* writes the headers of frame and scan */
    destination_end(jpeg);                   /* what libjpeg has written by now: of coded pictures, JFIF and metadata */
    destination_start(jpeg);
    if (!coded)
        return;
    smp_code code = smp_output_write(state->writer->output, coded->data, coded->size, state->base.err);
    if (code != SMP_OK)
        smp_jpeg_stop(&state->base, code);
    state->copied = true;
}

smp_code smp_jpeg_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    jpeg_writer *state = smp_alloc(sizeof *state);
    SMP_NEED(state, "JPEG", sizeof *state, err);
    writer->state = state;
    if (smp_write_value(&writer->options.values, &smp_write_lossless))
        return smp_fail(err, SMP_E_WRITE, "a JPEG always loses some: --lossless cannot be had"),
               smp_hint(err, "write a .png, .tif or .webp, or leave --lossless out");
    state->writer = writer;
    state->meta = meta;
    smp_code code = smp_jpeg_guard(&state->base, write_header, state, err);
    state->meta = NULL;
    return code;
}

static void write_rows(void *context)
{
    jpeg_writer *state = context;
    for (int64_t i = 0; i < state->rows; i++) {
        /* libjpeg's type lacks const; it does not write to rows that it is given */
        JSAMPROW row = (JSAMPROW)(uintptr_t)(state->from + i * state->stride);
        jpeg_write_scanlines(&state->jpeg, &row, 1);
    }
}

smp_code smp_jpeg_write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    jpeg_writer *state = writer->state;
    if (writer->options.coded.scan.width)
        return smp_jpeg_scan_write(&state->scan, writer, from, stride, rows, err);
    state->from = from;
    state->stride = stride;
    state->rows = rows;
    return smp_jpeg_guard(&state->base, write_rows, state, err);
}

static void write_end(void *context)
{
    jpeg_writer *state = context;
    jpeg_finish_compress(&state->jpeg);
}

smp_code smp_jpeg_write_end(smp_writer *writer, smp_error *err)
{
    jpeg_writer *state = writer->state;
    if (writer->options.coded.scan.width)
        return smp_jpeg_scan_end(&state->scan, writer, err);
    return state->copied ? SMP_OK : smp_jpeg_guard(&state->base, write_end, state, err);
}

void smp_jpeg_write_close(smp_writer *writer)
{
    jpeg_writer *state = writer->state;
    if (state->created)
        jpeg_destroy_compress(&state->jpeg);
    smp_free_all(state->marker, state);
}
