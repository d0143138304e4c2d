/* Writes PDF: each picture a page, as large as its resolution or a paper says. A JPEG that nothing changes goes in as
 * it is coded; other samples deflated with PNG's filters, alpha as a mask of its own. No time is written, so that the
 * same pictures give the same bytes. Source: ISO 32000-1, sections 7.3 to 7.5, 8.9 and 14.3. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/pool.h"
#include "base/text/utf8.h"
#include "io/png/png_glue.h"

enum { CATALOG = 1, PAGES, INFO, FIRST_FREE, NO_OBJECT = 0 };
enum {
    LINE = 400,
    BATCH = 64 /* rows whose alpha is taken apart at a time */,
    LEVEL = 1,
    CHUNK_HEAD = 8,
    CHUNK_END = 4
};
enum { USUAL_DPI = 96, POINTS = 72 /* an inch */, MOST_POINTS = 14400, LEAST_POINTS = 3 };

/* In the order of smp_paper; points, upright. */
static const struct {
    double width, height;
} papers[] = {{0, 0}, {841.89, 1190.55}, {595.276, 841.89}, {419.528, 595.276}, {612, 792}, {612, 1008}};
static const char *const paper_words[] = {"picture", "a3", "a4", "a5", "letter", "legal", NULL};

static const smp_write_option paper_option = {
    .name = "paper",
    .type = SMP_WRITE_CHOICE,
    .choices = paper_words,
    .argument = "SIZE",
    .help = "pages of PDFs: as large as the picture by its resolution, or of this paper, which it fits",
    .flags = SMP_WRITE_RARE | SMP_WRITE_SAID,
};

static const smp_write_option dpi_option = {
    .name = "pdf-dpi",
    .type = SMP_WRITE_NUMBER,
    .min = 1,
    .max = 65535,
    .argument = "N",
    .help = "pixels an inch of the pictures in PDFs; unless said their own resolution, or 96",
    .flags = SMP_WRITE_RARE,
};

typedef struct pdf_writer {
    uint64_t position, from; /* bytes so far; where the stream that is written began */
    uint64_t *places;        /* of objects */
    int *pages;              /* the objects that are pages */
    size_t place_room, page_room, page_count;
    int objects;      /* in use, from 1 on */
    smp_blob profile; /* the last one, and its object */
    int profile_object;
    char *info; /* entries of the document's information */
    /* Of the picture: */
    int length, mask, packet; /* objects: its stream's length, its alpha, its XMP */
    int orientation, bits;    /* bits: of a sample */
    bool coded;               /* it is a JPEG */
    double width, height;     /* points */
    int64_t columns, rows;
    smp_png_blocks *colour, *alpha;
    uint8_t *parts[2];     /* rows of colours and of alpha, taken apart */
    unsigned char *masked; /* alpha, deflated */
    size_t masked_size, masked_room;
} pdf_writer;

static smp_code write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    if (shape->format == SMP_F32)
        shape->format = SMP_U16;
    if (shape->width <= INT32_MAX && shape->height <= INT32_MAX)
        return smp_check_colour("PDF", shape, err);
    return smp_fail(err, SMP_E_WRITE, "%lld x %lld pixels are too many for a PDF", (long long)shape->width,
                    (long long)shape->height);
}

/* ------------------------------------------------------------------------------------------------ objects */

static smp_code put(smp_writer *writer, const void *data, size_t size, smp_error *err)
{
    ((pdf_writer *)writer->state)->position += size;
    return smp_output_write(writer->output, data, size, err);
}

static smp_code say(smp_writer *writer, smp_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));
static smp_code say(smp_writer *writer, smp_error *err, const char *format, ...)
{
    char line[LINE];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    return put(writer, line, size < LINE ? (size_t)size : LINE - 1, err);
}

static smp_code begin_object(smp_writer *writer, int object, smp_error *err)
{
    static const uint64_t most = UINT64_C(9999999999); /* bytes: places have ten digits */
    pdf_writer *state = writer->state;
    if (state->position > most)
        return smp_fail(err, SMP_E_WRITE, "a PDF has at most %llu bytes: write several, or a .tif",
                        (unsigned long long)most);
    SMP_NEED(smp_grow(&state->places, &state->place_room, (size_t)state->objects + 1, sizeof *state->places), "a PDF",
             (uint64_t)state->objects * sizeof *state->places, err);
    state->places[object] = state->position;
    return say(writer, err, "%d 0 obj\n", object);
}

/* A stream that is there as a whole. keys: of its dictionary. */
static smp_code put_stream(smp_writer *writer, int object, const char *keys, const void *data, size_t size,
                           smp_error *err)
{
    SMP_TRY(begin_object(writer, object, err));
    SMP_TRY(say(writer, err, "<<%s /Length %zu>>\nstream\n", keys, size));
    SMP_TRY(put(writer, data, size, err));
    return say(writer, err, "\nendstream\nendobj\n");
}

/* A text as hexadecimal digits of UTF-16. False: out of memory. */
static bool add_text(pdf_writer *state, const char *name, const char *value)
{
    const size_t before = state->info ? strlen(state->info) : 0, most = before + strlen(name) + 4 * strlen(value) + 20;
    char *to = smp_alloc(most);
    if (!to)
        return false;
    int at = snprintf(to, most, "%s/%s <FEFF", state->info ? state->info : "", name);
    for (const char *from = value; *from;) {
        uint32_t c;
        from += smp_utf8_decode(from, strlen(from), &c);
        if (c == SMP_UTF8_INVALID)
            continue;
        at += c < 0x10000 ? snprintf(to + at, most - (size_t)at, "%04X", (unsigned)c)
                          : snprintf(to + at, most - (size_t)at, "%04X%04X", (unsigned)(0xD7C0 + (c >> 10)),
                                     (unsigned)(0xDC00 | (c & 0x3FF)));
    }
    snprintf(to + at, most - (size_t)at, ">\n");
    smp_free(state->info);
    state->info = to;
    return true;
}

/* Texts of the first picture are the document's. */
static smp_code keep_texts(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    static const char *const keys[][2] = {{"Title", "Title"},         {"Author", "Author"},   {"Artist", "Author"},
                                          {"Description", "Subject"}, {"Comment", "Subject"}, {"Keywords", "Keywords"},
                                          {"Software", "Creator"}};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    pdf_writer *state = writer->state;
    for (size_t i = 0; i < meta->text_count; i++) {
        const struct smp_text *text = &meta->texts[i];
        size_t k = 0;
        while (k < KEYS && strcmp(keys[k][0], text->key) != 0)
            k++;
        char name[16];
        snprintf(name, sizeof name, "/%s <", k < KEYS ? keys[k][1] : "");
        if (state->page_count && strcmp(text->key, SMP_XMP_KEY) != 0)
            smp_note(&writer->notes, "texts are left out: a PDF has those of its first picture");
        else if (k < KEYS && !(state->info && strstr(state->info, name)))
            SMP_NEED(add_text(state, keys[k][1], text->value), "a text", strlen(text->value), err);
        else if (strcmp(text->key, SMP_XMP_KEY) != 0)
            smp_note(&writer->notes, "the text '%.80s' is left out: a PDF has no place for it", text->key);
    }
    if (meta->exif.size)
        smp_note(&writer->notes, "left out, since the format PDF has no place for it: EXIF");
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ a page */

static smp_code find_size(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    pdf_writer *state = writer->state;
    static const double inch = 0.0254; /* metres */
    const smp_shape *shape = &writer->shape;
    const int asked = smp_write_value(&writer->options.values, &dpi_option);
    double dots[2] = {USUAL_DPI, USUAL_DPI};
    if (meta && meta->x_density > 0 && meta->y_density > 0) {
        const double across = meta->density_is_aspect ? USUAL_DPI : meta->x_density * inch;
        dots[0] = across;
        dots[1] = across * meta->y_density / meta->x_density;
    }
    if (asked)
        dots[0] = dots[1] = asked;
    for (int i = 0; i < 2; i++) /* what formats round: 11811 a metre are 300 */
        dots[i] = fabs(dots[i] - rint(dots[i])) < 0.02 && dots[i] > 0.5 ? rint(dots[i]) : dots[i];
    state->width = fmax((double)shape->width / dots[0] * POINTS, LEAST_POINTS);
    state->height = fmax((double)shape->height / dots[1] * POINTS, LEAST_POINTS);
    if (smp_write_value(&writer->options.values, &paper_option) || fmax(state->width, state->height) <= MOST_POINTS)
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "the page would be %.0f x %.0f inches, and a PDF's has at most %d",
             state->width / POINTS, state->height / POINTS, MOST_POINTS / POINTS);
    return smp_hint(err, "--pdf-dpi %.0f, or --paper a4",
                    ceil((double)smp_max_i64(shape->width, shape->height) * POINTS / MOST_POINTS));
}

static smp_code open_blocks(smp_writer *writer, int channels, smp_png_blocks **blocks, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    const int sample = (int)smp_sample_size((int)shape->format);
    const smp_png_blocks_setup setup = {
        .row_bytes = shape->width * channels * sample,
        .rows = shape->height,
        .pixel_bytes = channels * sample,
        .swap = sample == 2 && smp_little_endian(),
        .level = LEVEL,
        .threads = writer->options.threads > 0 ? writer->options.threads : smp_pool_cores(),
    };
    return smp_png_blocks_open(&setup, blocks, err);
}

static smp_code open_rows(smp_writer *writer, smp_error *err)
{
    pdf_writer *state = writer->state;
    const smp_shape *shape = &writer->shape;
    const int channels = shape->channels - (shape->alpha ? 1 : 0);
    SMP_TRY(open_blocks(writer, channels, &state->colour, err));
    if (!shape->alpha)
        return SMP_OK;
    for (int i = 0; i < 2; i++)
        SMP_NEED(state->parts[i] = smp_alloc_raw((size_t)smp_row_bytes(shape) * BATCH), "rows", 0, err);
    return open_blocks(writer, 1, &state->alpha, err);
}

/* The stream of a picture's profile, of which the next pictures may have the same. */
static smp_code put_profile(smp_writer *writer, const smp_meta *meta, int colours, smp_error *err)
{
    pdf_writer *state = writer->state;
    char keys[80];
    if (!meta || !meta->icc.size || !smp_icc_fits(&meta->icc, colours)) {
        state->profile_object = NO_OBJECT;
        state->profile.size = 0;
        return SMP_OK;
    }
    if (state->profile.size == meta->icc.size && !memcmp(state->profile.data, meta->icc.data, meta->icc.size))
        return SMP_OK;
    SMP_NEED(smp_blob_set(&state->profile, meta->icc.data, meta->icc.size), "a profile", meta->icc.size, err);
    state->profile_object = state->objects++;
    snprintf(keys, sizeof keys, "/N %d /Alternate /Device%s", colours, colours == 1 ? "Gray" : "RGB");
    return put_stream(writer, state->profile_object, keys, meta->icc.data, meta->icc.size, err);
}

static smp_code begin_picture(smp_writer *writer, int object, const char *space, int channels, smp_error *err)
{
    pdf_writer *state = writer->state;
    SMP_TRY(begin_object(writer, object, err));
    SMP_TRY(say(writer, err,
                "<</Type /XObject /Subtype /Image /Width %lld /Height %lld /ColorSpace %s /BitsPerComponent %d",
                (long long)state->columns, (long long)state->rows, space, state->bits));
    if (state->coded)
        return say(writer, err, " /Filter /DCTDecode");
    return say(writer, err,
               " /Filter /FlateDecode /DecodeParms <</Predictor 15 /Colors %d /BitsPerComponent %d /Columns %lld>>",
               channels, state->bits, (long long)state->columns);
}

static smp_code begin_page(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    pdf_writer *state = writer->state;
    const smp_shape *shape = &writer->shape;
    const smp_blob *coded = writer->options.coded.picture;
    const int colours = shape->channels - (shape->alpha ? 1 : 0), turned = writer->options.coded.orientation;
    char space[40];
    const char *xmp = NULL;
    state->coded = coded != NULL;
    state->orientation = coded && turned ? turned : 1;
    state->bits = 8 * (int)smp_sample_size((int)shape->format);
    state->columns = state->orientation > 4 ? shape->height : shape->width;
    state->rows = state->orientation > 4 ? shape->width : shape->height;
    SMP_TRY(find_size(writer, meta, err));
    for (size_t i = 0; meta && i < meta->text_count; i++)
        xmp = strcmp(meta->texts[i].key, SMP_XMP_KEY) ? xmp : meta->texts[i].value;
    if (meta)
        SMP_TRY(keep_texts(writer, meta, err));
    SMP_TRY(put_profile(writer, meta, colours, err));
    const int picture = state->objects++; /* the page names it as the one in front of its length */
    state->length = state->objects++;
    state->mask = shape->alpha ? state->objects++ : NO_OBJECT;
    state->packet = xmp ? state->objects++ : NO_OBJECT;
    if (xmp)
        SMP_TRY(put_stream(writer, state->packet, "/Type /Metadata /Subtype /XML", xmp, strlen(xmp), err));
    if (state->profile_object)
        snprintf(space, sizeof space, "[/ICCBased %d 0 R]", state->profile_object);
    else
        snprintf(space, sizeof space, "/Device%s", colours == 1 ? "Gray" : "RGB");
    SMP_TRY(begin_picture(writer, picture, space, colours, err));
    if (state->mask)
        SMP_TRY(say(writer, err, " /SMask %d 0 R", state->mask));
    if (xmp)
        SMP_TRY(say(writer, err, " /Metadata %d 0 R", state->packet));
    SMP_TRY(say(writer, err, " /Length %d 0 R>>\nstream\n", state->length));
    state->from = state->position;
    if (!coded)
        return open_rows(writer, err);
    SMP_TRY(put(writer, "\xFF\xD8", 2, err)); /* the mark of the beginning, which such data lack */
    return put(writer, coded->data, coded->size, err);
}

/* Matrices that show a picture as EXIF's orientations say, by the corners of a page of 1 x 1. */
static const signed char turns[][6] = {{1, 0, 0, 1, 0, 0},  {-1, 0, 0, 1, 1, 0},  {-1, 0, 0, -1, 1, 1},
                                       {1, 0, 0, -1, 0, 1}, {0, -1, -1, 0, 1, 1}, {0, -1, 1, 0, 0, 1},
                                       {0, 1, 1, 0, 0, 0},  {0, 1, -1, 0, 1, 0}};

/* The page itself, behind its picture. */
static smp_code put_page(smp_writer *writer, smp_error *err)
{
    pdf_writer *state = writer->state;
    const int paper = smp_write_value(&writer->options.values, &paper_option);
    const bool wide = state->width > state->height;
    double width = paper ? papers[paper].width : state->width, height = paper ? papers[paper].height : state->height;
    if (paper && wide) {
        width = papers[paper].height;
        height = papers[paper].width;
    }
    const double fit = paper ? fmin(width / state->width, height / state->height) : 1, w = state->width * fit,
                 h = state->height * fit, x = (width - w) / 2, y = (height - h) / 2;
    const signed char *m = turns[state->orientation - 1];
    char text[LINE];
    const int size = snprintf(text, sizeof text, "q %.4f %.4f %.4f %.4f %.4f %.4f cm /P Do Q", m[0] * w, m[1] * h,
                              m[2] * w, m[3] * h, x + m[4] * w, y + m[5] * h);
    const int content = state->objects++, page = state->objects++;
    SMP_TRY(put_stream(writer, content, "", text, (size_t)size, err));
    SMP_NEED(smp_grow(&state->pages, &state->page_room, state->page_count + 1, sizeof *state->pages), "a PDF", 0, err);
    state->pages[state->page_count++] = page;
    SMP_TRY(begin_object(writer, page, err));
    return say(
        writer, err,
        "<</Type /Page /Parent %d 0 R /MediaBox [0 0 %.4f %.4f] /Contents %d 0 R /Resources <</XObject <</P %d 0 "
        "R>>>>>>\nendobj\n",
        PAGES, width, height, content, state->length - 1);
}

/* ------------------------------------------------------------------------------------------------ rows */

/* alpha: the deflated data are kept until the colours' stream has ended. */
static smp_code put_rows(smp_writer *writer, bool alpha, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    pdf_writer *state = writer->state;
    smp_png_blocks *blocks = alpha ? state->alpha : state->colour;
    smp_code code = SMP_OK;
    while (rows > 0 && !code) {
        const int64_t taken = smp_png_blocks_put(blocks, from, stride, rows);
        from = (const char *)from + taken * stride;
        rows -= taken;
        while (!code && smp_png_blocks_due(blocks)) {
            size_t size;
            const uint8_t *data = smp_png_blocks_next(blocks, &size) + CHUNK_HEAD;
            size -= CHUNK_HEAD + CHUNK_END;
            if (!alpha)
                code = put(writer, data, size, err);
            else if (smp_grow(&state->masked, &state->masked_room, state->masked_size + size, 1)) {
                memcpy(state->masked + state->masked_size, data, size);
                state->masked_size += size;
            } else
                code = smp_fail_memory(err, "alpha", state->masked_size + size);
        }
    }
    smp_png_blocks_settle(blocks);
    return code;
}

static smp_code write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    pdf_writer *state = writer->state;
    const smp_shape *shape = &writer->shape;
    if (!shape->alpha)
        return put_rows(writer, false, from, stride, rows, err);
    const size_t sample = (size_t)smp_sample_size((int)shape->format), colour = sample * (size_t)(shape->channels - 1);
    const int64_t pixels = shape->width;
    for (int64_t done = 0; done < rows; done += BATCH) {
        const int64_t count = smp_min_i64(BATCH, rows - done);
        for (int64_t y = 0; y < count; y++) {
            const uint8_t *at = (const uint8_t *)from + (done + y) * stride;
            uint8_t *to = state->parts[0] + (size_t)(y * pixels) * colour,
                    *seen = state->parts[1] + (size_t)(y * pixels) * sample;
            for (int64_t x = 0; x < pixels; x++, at += colour + sample, to += colour, seen += sample) {
                memcpy(to, at, colour);
                memcpy(seen, at + colour, sample);
            }
        }
        SMP_TRY(put_rows(writer, false, state->parts[0], pixels * (int64_t)colour, count, err));
        SMP_TRY(put_rows(writer, true, state->parts[1], pixels * (int64_t)sample, count, err));
    }
    return SMP_OK;
}

static void close_picture(pdf_writer *state)
{
    smp_png_blocks_close(state->colour);
    smp_png_blocks_close(state->alpha);
    smp_free_all(state->parts[0], state->parts[1], state->masked);
    state->colour = state->alpha = NULL;
    state->parts[0] = state->parts[1] = NULL;
    state->masked = NULL;
    state->masked_size = state->masked_room = 0;
}

static smp_code end_page(smp_writer *writer, smp_error *err)
{
    pdf_writer *state = writer->state;
    const uint64_t size = state->position - state->from;
    SMP_TRY(say(writer, err, "\nendstream\nendobj\n"));
    SMP_TRY(begin_object(writer, state->length, err));
    SMP_TRY(say(writer, err, "%llu\nendobj\n", (unsigned long long)size));
    if (state->mask) {
        SMP_TRY(begin_picture(writer, state->mask, "/DeviceGray", 1, err));
        SMP_TRY(say(writer, err, " /Length %zu>>\nstream\n", state->masked_size));
        SMP_TRY(put(writer, state->masked, state->masked_size, err));
        SMP_TRY(say(writer, err, "\nendstream\nendobj\n"));
    }
    close_picture(state);
    return put_page(writer, err);
}

/* ------------------------------------------------------------------------------------------------ the file */

static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    pdf_writer *state = writer->state;
    state->objects = FIRST_FREE;
    SMP_TRY(say(writer, err, "%%PDF-1.5\n%%\xE2\xE3\xCF\xD3\n"));
    return begin_page(writer, meta, err);
}

static smp_code write_next(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    SMP_TRY(end_page(writer, err));
    return begin_page(writer, meta, err);
}

static smp_code write_end(smp_writer *writer, smp_error *err)
{
    pdf_writer *state = writer->state;
    SMP_TRY(end_page(writer, err));
    SMP_TRY(begin_object(writer, PAGES, err));
    SMP_TRY(say(writer, err, "<</Type /Pages /Count %zu /Kids [", state->page_count));
    for (size_t i = 0; i < state->page_count; i++)
        SMP_TRY(say(writer, err, "%d 0 R\n", state->pages[i]));
    SMP_TRY(say(writer, err, "]>>\nendobj\n"));
    SMP_TRY(begin_object(writer, CATALOG, err));
    SMP_TRY(say(writer, err, "<</Type /Catalog /Pages %d 0 R>>\nendobj\n", PAGES));
    SMP_TRY(begin_object(writer, INFO, err));
    SMP_TRY(say(writer, err, "<</Producer (smempipe)\n"));
    if (state->info)
        SMP_TRY(put(writer, state->info, strlen(state->info), err));
    SMP_TRY(say(writer, err, ">>\nendobj\n"));
    const uint64_t at = state->position;
    SMP_TRY(say(writer, err, "xref\n0 %d\n0000000000 65535 f \n", state->objects));
    for (int i = CATALOG; i < state->objects; i++)
        SMP_TRY(say(writer, err, "%010llu 00000 n \n", (unsigned long long)state->places[i]));
    return say(writer, err, "trailer\n<</Size %d /Root %d 0 R /Info %d 0 R>>\nstartxref\n%llu\n%%%%EOF\n",
               state->objects, CATALOG, INFO, (unsigned long long)at);
}

static void write_close(smp_writer *writer)
{
    pdf_writer *state = writer->state;
    close_picture(state);
    smp_free_all(state->places, state->pages, state->profile.data, state->info, state);
}

static bool keeps_coded(const smp_write_options *, const smp_media *media)
{
    return !strcmp(media->file_format, smp_format_jpeg.name) && !smp_coding_jpeg(&media->meta.coding)->inks;
}

/* Pages are drawn by libraries (io/drawn), which writing does without. */
const smp_file_format smp_format_pdf_written = {
    .name = "PDF",
    .extensions = (const char *const[]){"pdf", NULL},
    .kind = SMP_IMAGE,
    .texts = true,
    .takes = (const smp_write_takes[]){{&paper_option}, {&dpi_option}, {0}},
    SMP_WRITES(rows),
    .write_state = sizeof(pdf_writer),
    .dpi = true,
    .write_next = write_next,
    .shapes = true,
    .write_end = write_end,
    .write_close = write_close,
    .keeps_coded = keeps_coded,
    .turns = true,
};
