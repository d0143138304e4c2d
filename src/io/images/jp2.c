/* Writes JPEG 2000 through OpenJPEG, whole: without loss by 5/3 wavelets, or by 9/7 to a distance (--quality). The
 * boxes round what is coded are written here: profile, alpha, resolution, EXIF, XMP. Reading is av/picture.c's.
 * Sources: openjpeg.h; ISO/IEC 15444-1, annex I. */
#include "io/format.h"

#include <math.h>

#ifdef SMP_HAVE_JP2
#include <openjpeg.h>

#include "base/checked.h"
#include "base/pool.h"
#include "io/bytes.h"
#include "io/images/jp2_uuid.h"

#define FUNCTIONS(M, with)                                                                                             \
    SMP_EACH(M, with, opj_set_default_encoder_parameters, opj_create_compress, opj_codec_set_threads,                  \
             opj_setup_encoder, opj_start_compress, opj_encode, opj_end_compress, opj_destroy_codec, opj_image_create, \
             opj_image_destroy)                                                                                        \
    SMP_EACH(M, with, opj_stream_create, opj_stream_set_write_function, opj_stream_set_user_data, opj_stream_destroy)

static struct {
    FUNCTIONS(SMP_LIBRARY_FIELD, )
} jp2;

bool smp_jp2_load(void)
{
    void *library = smp_library_open("libopenjp2.so.7");
    bool all = library != NULL;
#define TAKE(from, function) all = all && smp_library_function(from, #function, &jp2.function);
    FUNCTIONS(TAKE, library)
    return all;
}

enum { HELD = 10 /* bytes a sample that the library holds, measured */, LEAST_LINES = 1, MOST_LINES = 10000000 };
enum { XMP, EXIF, UUIDS };

static const char uuids[][SMP_JP2_UUID + 1] = {[XMP] = SMP_JP2_XMP, [EXIF] = SMP_JP2_EXIF};

typedef struct jp2_writer {
    opj_image_t *image;
    opj_codec_t *codec;
    opj_stream_t *stream;
    uint64_t borrowed;
    smp_blob icc, blocks[UUIDS];
    double density[2]; /* pixels a metre, down and across */
    uint8_t *coded;
    size_t size, room;
} jp2_writer;

static smp_code write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    SMP_TRY(smp_library_need(SMP_LIBRARY_JP2, SMP_E_WRITE, err));
    if (shape->format == SMP_F32)
        shape->format = SMP_U16;
    SMP_TRY(smp_check_sides("JPEG 2000", shape, err));
    return smp_check_colour("JPEG 2000", shape, err);
}

static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    jp2_writer *s = writer->state;
    const smp_shape *shape = &writer->shape;
    const uint64_t held = (uint64_t)shape->width * (uint64_t)shape->height * (uint64_t)shape->channels * HELD;
    opj_image_cmptparm_t parts[4];
    for (int c = 0; c < shape->channels; c++)
        parts[c] = (opj_image_cmptparm_t){.dx = 1,
                                          .dy = 1,
                                          .w = (OPJ_UINT32)shape->width,
                                          .h = (OPJ_UINT32)shape->height,
                                          .prec = 8 * (OPJ_UINT32)smp_sample_size((int)shape->format)};
    SMP_NEED(smp_alloc_borrow(held), "a JPEG 2000", held, err);
    s->borrowed = held;
    SMP_NEED(s->image = jp2.opj_image_create((OPJ_UINT32)shape->channels, parts,
                                             shape->channels > 2 ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_GRAY),
             "a JPEG 2000", held, err);
    s->image->x1 = (OPJ_UINT32)shape->width;
    s->image->y1 = (OPJ_UINT32)shape->height;
    if (!meta)
        return SMP_OK;
    const bool dense = !meta->density_is_aspect && meta->x_density > LEAST_LINES && meta->x_density < MOST_LINES &&
                       meta->y_density > LEAST_LINES && meta->y_density < MOST_LINES;
    s->density[0] = dense ? meta->y_density : 0;
    s->density[1] = dense ? meta->x_density : 0;
    const bool fits = smp_icc_fits(&meta->icc, shape->channels > 2 ? 3 : 1);
    SMP_NEED((!fits || smp_blob_set(&s->icc, meta->icc.data, meta->icc.size)) &&
                 smp_meta_keep_blocks(meta, "a JPEG 2000", &s->blocks[EXIF], &s->blocks[XMP], &writer->notes),
             "metadata", meta->icc.size, err);
    return SMP_OK;
}

static smp_code write_row(smp_writer *writer, int64_t y, const void *from, smp_error *)
{
    const smp_shape *shape = &writer->shape;
    const opj_image_t *image = ((jp2_writer *)writer->state)->image;
    for (int c = 0; c < shape->channels; c++) {
        OPJ_INT32 *to = image->comps[c].data + y * shape->width;
        for (int64_t x = 0, at = c; x < shape->width; x++, at += shape->channels)
            to[x] = shape->format == SMP_U8 ? ((const uint8_t *)from)[at] : ((const uint16_t *)from)[at];
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ what is coded */

static OPJ_SIZE_T take_bytes(void *data, OPJ_SIZE_T size, void *state)
{
    jp2_writer *s = state;
    if (!smp_grow(&s->coded, &s->room, s->size + size, 1))
        return (OPJ_SIZE_T)-1;
    memcpy(s->coded + s->size, data, size);
    s->size += size;
    return size;
}

static smp_code encode(smp_writer *writer, jp2_writer *s, smp_error *err)
{
    enum { CHUNK = 1 << 20, LEAST_DB = 22, STEPS_A_DB = 5 };
    const smp_shape *shape = &writer->shape;
    const smp_write_values *values = &writer->options.values;
    const int quality = smp_write_value(values, &smp_write_lossless) ? 0 : smp_write_value(values, &smp_write_quality),
              threads = writer->options.threads > 0 ? writer->options.threads : smp_pool_cores();
    opj_cparameters_t how;
    jp2.opj_set_default_encoder_parameters(&how);
    how.tcp_numlayers = 1;
    how.tcp_mct = shape->channels > 2;
    how.irreversible = quality > 0;
    how.cp_fixed_quality = quality > 0;
    how.cp_disto_alloc = !quality;
    how.tcp_distoratio[0] = quality ? LEAST_DB + (float)quality / STEPS_A_DB : 0;
    while (how.numresolution > 1 && smp_min_i64(shape->width, shape->height) >> (how.numresolution - 1) == 0)
        how.numresolution--;
    SMP_NEED((s->codec = jp2.opj_create_compress(OPJ_CODEC_J2K)) &&
                 (s->stream = jp2.opj_stream_create(CHUNK, OPJ_FALSE)),
             "a JPEG 2000", 0, err);
    jp2.opj_stream_set_user_data(s->stream, s, NULL);
    jp2.opj_stream_set_write_function(s->stream, take_bytes);
    const bool ready = jp2.opj_setup_encoder(s->codec, &how, s->image);
    (void)jp2.opj_codec_set_threads(s->codec, threads); /* not every OpenJPEG has them */
    const bool done = ready && jp2.opj_start_compress(s->codec, s->image, s->stream) &&
                      jp2.opj_encode(s->codec, s->stream) && jp2.opj_end_compress(s->codec, s->stream);
    return done ? SMP_OK : smp_fail(err, SMP_E_WRITE, "the JPEG 2000 cannot be written (OpenJPEG refuses it)");
}

/* ------------------------------------------------------------------------------------------------ boxes */

enum { BOX = 8 };

static uint8_t *put_box(uint8_t *to, const char *name, size_t size)
{
    smp_put_be(to, BOX + size, 4);
    memcpy(to + 4, name, 4);
    return to + BOX;
}

/* The box that says what the samples are. */
static smp_code write_header(smp_writer *writer, const jp2_writer *s, smp_error *err)
{
    enum { SIZE = 14, COLOUR = 3, NUMBER = 4, PART = 6, LINES = 10, SRGB = 16, GRAY = 17, JPEG_2000 = 7 };
    static const char begin[] = "\0\0\0\x0CjP  \r\n\x87\n\0\0\0\x14"
                                "ftypjp2 \0\0\0\0jp2 ";
    const smp_shape *shape = &writer->shape;
    const int n = shape->channels;
    const size_t colour = COLOUR + (s->icc.size ? s->icc.size : NUMBER),
                 alpha = shape->alpha ? 2 + PART * (size_t)n : 0, lines = s->density[0] > 0 ? BOX + LINES : 0,
                 size = BOX + SIZE + BOX + colour + (alpha ? BOX + alpha : 0) + (lines ? BOX + lines : 0);
    uint8_t *head = smp_alloc(BOX + size), *at = head;
    SMP_NEED(head, "metadata", size, err);
    at = put_box(put_box(at, "jp2h", size), "ihdr", SIZE);
    smp_put_be(at, (uint64_t)shape->height, 4);
    smp_put_be(at + 4, (uint64_t)shape->width, 4);
    smp_put_be(at + 8, (uint64_t)n, 2);
    at[10] = (uint8_t)(8 * smp_sample_size((int)shape->format) - 1);
    at[11] = JPEG_2000;
    at = put_box(at + SIZE, "colr", colour);
    at[0] = s->icc.size ? 2 : 1;
    if (s->icc.size)
        memcpy(at + COLOUR, s->icc.data, s->icc.size);
    else
        smp_put_be(at + COLOUR, n > 2 ? SRGB : GRAY, NUMBER);
    at += colour;
    if (alpha) {
        at = put_box(at, "cdef", alpha);
        smp_put_be(at, (uint64_t)n, 2);
        at += 2;
        for (int c = 0; c < n; c++, at += PART) {
            smp_put_be(at, (uint64_t)c, 2);
            at[3] = c == n - 1;
            at[5] = c == n - 1 ? 0 : (uint8_t)(c + 1);
        }
    }
    if (lines) {
        at = put_box(put_box(at, "res ", lines), "resc", LINES);
        for (int i = 0; i < 2; i++) {
            int tens = 0;
            double number = s->density[i];
            for (; number * 10 < UINT16_MAX; tens--)
                number *= 10;
            for (; number > UINT16_MAX; tens++)
                number /= 10;
            smp_put_be(at + 4 * i, (uint64_t)lrint(number), 2);
            smp_put_be(at + 4 * i + 2, 1, 2);
            at[8 + i] = (uint8_t)tens;
        }
    }
    smp_code code = smp_output_write(writer->output, begin, sizeof begin - 1, err);
    code = code ? code : smp_output_write(writer->output, head, BOX + size, err);
    smp_free(head);
    return code;
}

static smp_code write_end(smp_writer *writer, smp_error *err)
{
    jp2_writer *s = writer->state;
    uint8_t head[BOX];
    SMP_TRY(encode(writer, s, err));
    SMP_TRY(write_header(writer, s, err));
    for (int i = XMP; i < UUIDS; i++)
        if (s->blocks[i].size) {
            put_box(head, "uuid", SMP_JP2_UUID + s->blocks[i].size);
            SMP_TRY(smp_output_write(writer->output, head, BOX, err));
            SMP_TRY(smp_output_write(writer->output, uuids[i], SMP_JP2_UUID, err));
            SMP_TRY(smp_output_write(writer->output, s->blocks[i].data, s->blocks[i].size, err));
        }
    put_box(head, "jp2c", s->size);
    if (s->size > UINT32_MAX - BOX)
        smp_put_be(head, 0, 4); /* to the end of the file */
    SMP_TRY(smp_output_write(writer->output, head, BOX, err));
    return smp_output_write(writer->output, s->coded, s->size, err);
}

static void write_close(smp_writer *writer)
{
    jp2_writer *s = writer->state;
    smp_alloc_elsewhere(s->borrowed, 0, 0, 0);
    if (s->stream)
        jp2.opj_stream_destroy(s->stream);
    if (s->codec)
        jp2.opj_destroy_codec(s->codec);
    if (s->image)
        jp2.opj_image_destroy(s->image);
    smp_free_all(s->icc.data, s->blocks[EXIF].data, s->blocks[XMP].data, s->coded, s);
}

#else

bool smp_jp2_load(void)
{
    return false;
}

#endif

const smp_file_format smp_format_jp2_written = {
    .name = "JPEG 2000",
    .extensions = (const char *const[]){"jp2", NULL},
    .kind = SMP_IMAGE,
    .texts = true,
    .dpi = true,
    .library = SMP_LIBRARY_JP2,
    .confined = true,
    .takes = (const smp_write_takes[]){{&smp_write_quality}, {&smp_write_lossless}, {0}},
#ifdef SMP_HAVE_JP2
    SMP_WRITES(row),
    .write_state = sizeof(jp2_writer),
    .write_end = write_end,
    .write_close = write_close,
#endif
};
