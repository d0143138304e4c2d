/* Pictures through FFmpeg's decoders: JPEG 2000, OpenEXR, lossless JPEG, DDS, PCX, SGI, Sun raster, XBM; one
 * picture of a file, whole. What lies round the coded picture is read here: sizes are bounded before, profiles, EXIF
 * and XMP kept, what is left out told. Sources: ISO/IEC 15444-1, annex I (boxes); openexr.com, "OpenEXR File Layout";
 * ITU-T T.81, B.2 (JPEG's segments); rasterfile(5) of SunOS. */
#include "io/av/mp4_tags.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/av/whole.h"
#include "io/bytes.h"
#include "io/format.h"
#include "io/images/jp2_uuid.h"
#include "io/jpeg/jpeg_lossless.h"

#ifdef SMP_HAVE_AV

static const smp_av *const av = &smp_av_functions;

typedef struct picture_state {
    uint8_t *data; /* the file, and zeros behind it */
    size_t size;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    const AVPixFmtDescriptor *pixels;
    const uint8_t *code; /* JPEG 2000: where its marker segments begin; null: not found, */
    bool ycc;            /* its colours are luma and chroma, */
    bool palette, mixed; /* its samples are numbers of colours; these are in another order than red, green, blue, */
    uint8_t depth[4];    /* bits of samples, which the decoder moves up unless */
    bool low;            /* it leaves them as they are; 0: all that its kind has */
} picture_state;

static smp_code fail_damaged(const smp_reader *reader, smp_error *err)
{
    smp_fail(err, SMP_E_DECODE, "the %s is damaged, or of a kind that FFmpeg does not read", reader->format->name);
    return smp_hint(err, "what FFmpeg says: ffmpeg -i IN OUT.png");
}

static smp_code fail_truncated(const smp_reader *reader, smp_error *err)
{
    smp_fail(err, SMP_E_DECODE, "the %s is truncated", reader->format->name);
    return smp_hint_damaged(err);
}

enum { BYTES = 16 /* that a pixel may take */ };

static smp_code fail_too_large(smp_reader *reader, size_t size, smp_error *err)
{
    smp_shape *shape = &reader->media.shape;
    shape->width = smp_av_too_large[0];
    shape->height = smp_av_too_large[1];
    const uint64_t bytes = (uint64_t)shape->width * (uint64_t)shape->height * BYTES;
    SMP_TRY(smp_check_picture(&reader->options.limits, shape->width, shape->height, 0, err));
    if (smp_check_sides(reader->format->name, shape, err))
        return smp_fail(err, SMP_E_LIMIT, "the picture has %lld x %lld pixels, more than FFmpeg reads",
                        (long long)shape->width, (long long)shape->height);
    SMP_TRY(smp_check_picture(&reader->options.limits, shape->width, shape->height, bytes, err));
    SMP_TRY(smp_check_media(&reader->options, &reader->media, bytes, size, err));
    return fail_damaged(reader, err);
}

/* By the decoder of that name, or the other one. */
static smp_code decode(smp_reader *reader, picture_state *s, const char *name, const char *other, smp_error *err)
{
    const uint64_t most = reader->options.limits.max_pixels;
    const AVCodec *first = av->avcodec_find_decoder_by_name(name),
                  *codec = first ? first : av->avcodec_find_decoder_by_name(other);
    if (!codec)
        return smp_fail(err, SMP_E_READ, "this machine's FFmpeg has no decoder of %s", reader->format->name),
               smp_hint(err, "install one that has (apt-get install ffmpeg)");
    SMP_NEED(s->codec = av->avcodec_alloc_context3(codec), "a decoder", 1, err);
    s->packet = av->av_packet_alloc();
    s->frame = av->av_frame_alloc();
    SMP_NEED(s->packet && s->frame, "a decoder", 1, err);
    s->codec->thread_count = 1;
    s->codec->max_pixels = (int64_t)smp_min_u64(most ? most : INT64_MAX, smp_worth(&reader->options, s->size) / BYTES);
    s->codec->err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE;
    s->packet->data = s->data;
    s->packet->size = (int)s->size;
    smp_av_too_large[0] = 0;
    const bool got =
        av->avcodec_open2(s->codec, codec, NULL) >= 0 && av->avcodec_send_packet(s->codec, s->packet) >= 0 &&
        (av->avcodec_receive_frame(s->codec, s->frame) >= 0 ||
         (av->avcodec_send_packet(s->codec, NULL) >= 0 && av->avcodec_receive_frame(s->codec, s->frame) >= 0));
    return got ? SMP_OK : smp_av_too_large[0] ? fail_too_large(reader, s->size, err) : fail_damaged(reader, err);
}

static void end_decoding(picture_state *s)
{
    if (!s->codec) /* then the library may not be there */
        return;
    av->av_frame_free(&s->frame);
    av->av_packet_free(&s->packet);
    av->avcodec_free_context(&s->codec);
}

/* Gray or RGB of any depth, with alpha. */
static smp_code describe(smp_reader *reader, picture_state *s, smp_error *err)
{
    smp_media *media = &reader->media;
    smp_shape *shape = &media->shape;
    const AVPixFmtDescriptor *d = s->pixels = av->av_pix_fmt_desc_get(s->frame->format);
    if (!d || d->flags & AV_PIX_FMT_FLAG_HWACCEL ||
        (d->nb_components > 2 && (s->ycc || !(d->flags & AV_PIX_FMT_FLAG_RGB))))
        return smp_fail(err, SMP_E_DECODE, "the %s has samples of a kind that is not read (%s)", reader->format->name,
                        s->ycc ? "luma and chroma"
                        : d    ? d->name
                               : "unknown"),
               smp_hint(err, "convert it first: %s OUT.png",
                        s->ycc ? "opj_decompress -i IN -o" : "ffmpeg -i IN -pix_fmt rgb48");
    const bool real = d->flags & AV_PIX_FMT_FLAG_FLOAT;
    shape->width = s->frame->width;
    shape->height = s->frame->height;
    const bool palette = d->flags & AV_PIX_FMT_FLAG_PAL;
    shape->alpha = palette ? reader->format == &smp_format_dds : (d->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
    shape->channels = palette ? 3 + shape->alpha : d->nb_components;
    media->bits = s->depth[0] ? s->depth[0] : d->comp[0].depth;
    shape->format = real ? SMP_F32 : media->bits > 8 ? SMP_U16 : SMP_U8;
    const AVFrameSideData *icc = av->av_frame_get_side_data(s->frame, AV_FRAME_DATA_ICC_PROFILE);
    SMP_NEED(!icc || media->meta.icc.size || smp_blob_set(&media->meta.icc, icc->data, icc->size), "a profile", 0, err);
    snprintf(media->detail, sizeof media->detail, "%s",
             real                  ? "float"
             : palette             ? "palette"
             : shape->channels > 2 ? "RGB"
                                   : "gray");
    const uint64_t bytes =
        (uint64_t)shape->width * (uint64_t)shape->height * (uint64_t)shape->channels * (real ? 4 : 2);
    return smp_check_picture(&reader->options.limits, shape->width, shape->height, bytes + 2 * s->size, err);
}

/* ------------------------------------------------------------------------------------------------ boxes */

/* Of the box "res " the first box: pixels a metre, as numerators, denominators and powers of ten. */
static void keep_resolution(smp_meta *meta, const uint8_t *box, size_t size)
{
    enum { BOX = 18 };
    const double most = 1e7;
    if (size < BOX || !smp_get_be(box + 10, 2) || !smp_get_be(box + 14, 2))
        return;
    const double down = (double)smp_get_be(box + 8, 2) / (double)smp_get_be(box + 10, 2) * pow(10, (int8_t)box[16]);
    const double across = (double)smp_get_be(box + 12, 2) / (double)smp_get_be(box + 14, 2) * pow(10, (int8_t)box[17]);
    if (down < 1 || across < 1 || down > most || across > most)
        return;
    meta->x_density = across;
    meta->y_density = down;
}

enum { SIZE_SEGMENT = 42 /* bytes as far as the components' depths */, COMPONENT = 3 /* bytes */ };

/* Depths that no kind of samples has: OpenJPEG leaves small ones as they are, or FFmpeg moves them wrongly. */
static bool take_depths(picture_state *s)
{
    const size_t room = s->code ? s->size - (size_t)(s->code - s->data) : 0;
    bool odd = false;
    if (room < SIZE_SEGMENT + COMPONENT || s->palette)
        return false;
    const size_t count = smp_min_u64(smp_get_be(s->code + SIZE_SEGMENT - 2, 2), (room - SIZE_SEGMENT) / COMPONENT);
    for (size_t k = 0; k < count && k < sizeof s->depth; k++) {
        s->depth[k] = (uint8_t)((s->code[SIZE_SEGMENT + COMPONENT * k] & 0x7F) + 1);
        odd |= s->depth[k] != 8 && s->depth[k] != 16;
    }
    if (!odd)
        memset(s->depth, 0, sizeof s->depth);
    return odd;
}

static bool keep_box(smp_reader *reader, const char *name, const uint8_t *data, size_t size)
{
    enum { BY_NUMBER = 1, SYCC = 18, BY_PROFILE = 2, COLOUR_HEAD = 3, KIND = SMP_JP2_UUID };
    smp_meta *meta = &reader->media.meta;
    picture_state *s = reader->state;
    s->palette |= !strcmp(name, "pclr");
    for (size_t at = 2; !strcmp(name, "cdef") && at + 6 <= size; at += 6) /* number, kind, which colour */
        s->mixed |= !smp_get_be(data + at + 2, 2) && smp_get_be(data + at + 4, 2) != smp_get_be(data + at, 2) + 1;
    s->ycc |= !strcmp(name, "colr") && size >= COLOUR_HEAD + 4 && data[0] == BY_NUMBER &&
              smp_get_be(data + COLOUR_HEAD, 4) == SYCC;
    if (!strcmp(name, "colr") && size > COLOUR_HEAD && data[0] == BY_PROFILE && !meta->icc.size)
        return smp_blob_set(&meta->icc, data + COLOUR_HEAD, size - COLOUR_HEAD);
    if (!strcmp(name, "uuid") && size > KIND && !memcmp(data, SMP_JP2_XMP, KIND))
        return smp_meta_add_text(meta, SMP_XMP_KEY, (const char *)data + KIND, size - KIND);
    if (!strcmp(name, "uuid") && size > KIND && !memcmp(data, SMP_JP2_EXIF, KIND) && !meta->exif.size)
        return smp_blob_set(&meta->exif, data + KIND, size - KIND);
    if (!strcmp(name, "uuid") && size > KIND && !memcmp(data, SMP_JP2_IPTC, KIND) && !meta->iptc.size)
        return smp_blob_set(&meta->iptc, data + KIND, size - KIND);
    if (!strcmp(name, "uuid") || !strcmp(name, "xml "))
        smp_note(&reader->notes, "left out, since it is of another program: a box '%s' of %zu bytes", name, size);
    if (!strcmp(name, "res "))
        keep_resolution(meta, data, size);
    return true;
}

/* The boxes of a JPEG 2000. *whole: the last one does not reach past the end. */
static bool walk(smp_reader *reader, const smp_source *file, uint64_t at, uint64_t end, bool *whole)
{
    enum { HEAD = 8 };
    picture_state *s = reader->state;
    const bool top = !at;
    bool memory = true;
    for (smp_box box; memory && end - at >= HEAD && (*whole = smp_box_at(file, at, end, &box)); at = box.end) {
        if (top && !s->code && !strcmp(box.name, "jp2c")) /* the decoders' too: the first, and none in another box */
            s->code = s->data + box.at;
        memory = top && !strcmp(box.name, "jp2h")
                     ? walk(reader, file, box.at, box.end, whole)
                     : keep_box(reader, box.name, s->data + box.at, (size_t)(box.end - box.at));
    }
    return memory;
}

/* Each tile takes kilobytes before the first is decoded, and its marker segments at least so much of the file. */
static smp_code check_tiles(const smp_reader *reader, const picture_state *s, smp_error *err)
{
    enum { LEAST = 14, END = 8, ORIGIN = 32, SIZE = 24 /* where two numbers of 4 bytes stand */ };
    uint64_t tiles = 1;
    if (!s->code || s->size - (size_t)(s->code - s->data) <= SIZE_SEGMENT)
        return SMP_OK; /* not known: the decoder refuses it */
    for (int i = 0; i < 8; i += 4) {
        const uint64_t end = smp_get_be(s->code + END + i, 4), from = smp_get_be(s->code + ORIGIN + i, 4),
                       size = smp_max_u64(smp_get_be(s->code + SIZE + i, 4), 1);
        tiles *= end > from ? (end - from + size - 1) / size : 1;
    }
    return tiles > UINT32_MAX ? fail_damaged(reader, err) : smp_check_size(&reader->source, tiles * LEAST, err);
}

static smp_code jp2_read_open(smp_reader *reader, smp_error *err)
{
    picture_state *s = reader->state;
    bool whole = true;
    smp_source file;
    SMP_TRY(smp_library_need(SMP_LIBRARY_AV, SMP_E_READ, err));
    SMP_TRY(smp_read_whole(reader, AV_INPUT_BUFFER_PADDING_SIZE, &s->data, &s->size, err));
    smp_source_memory(&file, s->data, s->size);
    SMP_NEED(s->data[0] || walk(reader, &file, 0, s->size, &whole), "metadata", 0, err);
    smp_meta_tell_turned(&reader->media.meta, "a JPEG 2000", &reader->notes);
    if (!whole || !memmem(s->data, s->size, "\xFF\xD9", 2)) /* JPEG 2000's end: coded bits never hold it */
        return fail_truncated(reader, err);
    if (s->data[0] && s->size > SIZE_SEGMENT)
        s->code = s->data;
    SMP_TRY(check_tiles(reader, s, err));
    if (s->palette && s->mixed)
        return smp_fail(err, SMP_E_DECODE, "the JPEG 2000 has a palette whose colours are in another order"),
               smp_hint(err, "convert it first: opj_decompress -i IN -o OUT.png");
    SMP_TRY(decode(reader, s, s->palette || take_depths(s) ? "jpeg2000" : "libopenjpeg", "jpeg2000", err));
    if (s->frame->format == AV_PIX_FMT_YA16) { /* of which FFmpeg 5 gives half a row, of other values */
        end_decoding(s);
        SMP_TRY(decode(reader, s, "jpeg2000", "jpeg2000", err));
    }
    return describe(reader, s, err);
}

/* ------------------------------------------------------------------------------------------------ OpenEXR */

/* Notes the channels that are not of the picture: of layers, depth and other measures. */
static void note_channels(smp_reader *reader, const uint8_t *at, const uint8_t *end)
{
    enum { BEHIND = 16 /* bytes of a channel behind its name */ };
    smp_names others = {.count = 0};
    const uint8_t *close;
    while (at < end && *at && (close = memchr(at, 0, (size_t)(end - at))) && end - close > BEHIND) {
        if (close - at > 1 || !strchr("RGBAY", *at))
            smp_names_add(&others, (const char *)at);
        at = close + 1 + BEHIND;
    }
    if (others.count)
        smp_note(&reader->notes, "channels of other layers are left out: %s", smp_names_end(&others));
}

/* Whether chunk i of the table is whole; FFmpeg leaves rows out, and says nothing. */
static bool has_chunk(const picture_state *s, const uint8_t *table, int64_t i)
{
    enum { HEAD = 8 /* row, bytes */ };
    const uint64_t room = s->size - (uint64_t)(table - s->data);
    const uint64_t at = room / 8 > (uint64_t)i ? smp_get_bytes(table + 8 * i, 8, false) : s->size;
    return at < s->size && s->size - at >= HEAD && smp_get_le(s->data + at + 4, 4) <= s->size - at - HEAD;
}

/* The bits of a float: pixels an inch. */
static void keep_density(smp_meta *meta, uint32_t bits)
{
    float across;
    memcpy(&across, &bits, sizeof across);
    if (across >= 1 && across < 1e6f)
        meta->x_density = meta->y_density = (double)across / 0.0254;
}

/* Eight floats: red, green, blue, white. Those of sRGB need no words. */
static void keep_chromaticities(smp_meta *meta, const uint8_t *value)
{
    enum { NUMBERS = 8, WHITE = 2 };
    static const double alike = .001, most = 10;
    double usual[NUMBERS];
    bool good = smp_chromaticities(1, usual), other = false;
    for (int i = 0; i < NUMBERS; i++) {
        const uint32_t bits = smp_get_le(value + 4 * i, 4);
        const int to = (i + WHITE) % NUMBERS;
        float number;
        memcpy(&number, &bits, sizeof number);
        meta->chrm[to] = (double)number;
        good = good && fabsf(number) < (float)most;
        other |= fabs((double)number - usual[to]) > alike;
    }
    meta->has_chrm = good && other;
}

/* Its attributes: name, type, size, value. */
static smp_code exr_read_open(smp_reader *reader, smp_error *err)
{
    static const int rows_of[] = {1, 1, 1, 16, 32, 16, 32, 32, 32, 256}; /* of a chunk, by compression */
    enum { HEAD = 8, FLAGS = 5, TILED = 2, DEEP_OR_PARTS = 0x18 };
    int64_t rows = 0, each = 1;
    const uint8_t *stored = NULL, *shown = NULL; /* corners of what there is, and of what is to be seen */
    picture_state *s = reader->state;
    SMP_TRY(smp_library_need(SMP_LIBRARY_AV, SMP_E_READ, err));
    SMP_TRY(smp_read_whole(reader, AV_INPUT_BUFFER_PADDING_SIZE, &s->data, &s->size, err));
    if (s->size > HEAD && s->data[FLAGS] & DEEP_OR_PARTS)
        return smp_fail(err, SMP_E_DECODE, "the OpenEXR has several parts, or deep samples, which are not read"),
               smp_hint(err, "take a part out: exrmultipart -separate -i IN.exr -o OUT");
    const uint8_t *at = s->data + HEAD, *end = s->data + s->size;
    while (at < end && *at) {
        const uint8_t *type = memchr(at, 0, (size_t)(end - at));
        const uint8_t *close = type ? memchr(type + 1, 0, (size_t)(end - type - 1)) : NULL;
        if (!close || end - close < 5 || smp_get_le(close + 1, 4) > (size_t)(end - close - 5))
            break;
        const uint8_t *value = close + 5, *next = value + smp_get_le(close + 1, 4);
        if (!strcmp((const char *)type + 1, "chlist"))
            note_channels(reader, value, next);
        else if (!strcmp((const char *)at, "compression") && next > value)
            each = rows_of[*value < sizeof rows_of / sizeof rows_of[0] ? *value : 0];
        else if (!strcmp((const char *)at, "xDensity") && next - value == 4)
            keep_density(&reader->media.meta, smp_get_le(value, 4));
        else if (!strcmp((const char *)at, "chromaticities") && next - value == 32)
            keep_chromaticities(&reader->media.meta, value);
        else if (!strcmp((const char *)at, "displayWindow") && next - value == 16)
            shown = value;
        else if (!strcmp((const char *)at, "dataWindow") && next - value == 16 && (stored = value))
            rows = (int64_t)(int32_t)smp_get_le(value + 12, 4) - (int32_t)smp_get_le(value + 4, 4) + 1;
        at = next;
    }
    for (int64_t i = 0; at < end && !(s->data[FLAGS] & TILED) && i < (rows + each - 1) / each; i++)
        if (!has_chunk(s, at + 1, i))
            return fail_truncated(reader, err);
    bool beyond = false;
    for (int i = 0; i < 16 && stored && shown; i += 4)
        beyond |= i < 8 ? (int32_t)smp_get_le(stored + i, 4) < (int32_t)smp_get_le(shown + i, 4)
                        : (int32_t)smp_get_le(stored + i, 4) > (int32_t)smp_get_le(shown + i, 4);
    if (beyond)
        smp_note(&reader->notes, "pixels outside what is to be shown (its display window) are left out");
    SMP_TRY(decode(reader, s, "exr", "exr", err));
    reader->media.meta.gamma = 1; /* values are light */
    return describe(reader, s, err);
}

/* ------------------------------------------------------------------------------------------------ lossless JPEG */

/* Colours are taken as they are coded, also behind a JFIF header, as coders of such files mean them. */
static smp_code ljpeg_read_open(smp_reader *reader, smp_error *err)
{
    enum { FRAME = 8, RCT = 9 /* bits, by which FFmpeg takes colours for others */ };
    picture_state *s = reader->state;
    smp_jpeg_seen seen;
    smp_source whole;
    SMP_TRY(smp_library_need(SMP_LIBRARY_AV, SMP_E_READ, err));
    SMP_TRY(smp_source_spool(&reader->source, err));
    SMP_TRY(smp_jpeg_read_lossless(reader, &s->ycc, err));
    (void)smp_source_seek(&reader->source, 0);
    SMP_TRY(smp_read_whole(reader, AV_INPUT_BUFFER_PADDING_SIZE, &s->data, &s->size, err));
    smp_source_memory(&whole, s->data, s->size);
    smp_jpeg_look(&whole, 2, INT32_MAX, &seen);
    if (!seen.whole || !seen.lossless || s->size < seen.lossless + FRAME)
        return fail_truncated(reader, err);
    const int bits = s->data[seen.lossless + 2], parts = s->data[seen.lossless + FRAME - 1];
    if (parts != 1 && (parts != 3 || s->ycc || bits == RCT)) {
        smp_fail(err, SMP_E_DECODE, "the lossless JPEG has %d components of %d bits%s, which is not read", parts, bits,
                 s->ycc ? ", luma and chroma" : "");
        return smp_hint(err, "convert it first: jpeg IN OUT.ppm (apt-get install libjpeg-tools)");
    }
    if (seen.parts != (uint64_t)parts)
        return fail_damaged(reader, err);
    SMP_TRY(decode(reader, s, "mjpeg", "mjpeg", err));
    s->low = parts > 1;
    memset(s->depth, bits % 8 ? bits : 0, sizeof s->depth);
    return describe(reader, s, err);
}

/* ------------------------------------------------------------------------------------------------ others */

/* Samples lie as DXGI's number says, which FFmpeg 5 takes for another order, or for whole numbers. */
static smp_code dds_read_open(smp_reader *reader, smp_error *err)
{
    enum { FLAGS = 80, CODE = 84, ALPHA = 104, DXGI = 128, BY_CODE = 4, BIT = 0x8000 };
    static const struct {
        uint8_t first, last; /* numbers; the first row that has one holds */
        enum AVPixelFormat order;
    } kinds[] = {{11, 11, AV_PIX_FMT_RGBA64LE}, {9, 14, AV_PIX_FMT_NONE},  {27, 30, AV_PIX_FMT_RGBA},
                 {31, 32, AV_PIX_FMT_NONE},     {87, 87, AV_PIX_FMT_BGRA}, {90, 91, AV_PIX_FMT_BGRA},
                 {88, 93, AV_PIX_FMT_BGR0}};
    picture_state *s = reader->state;
    SMP_TRY(smp_library_need(SMP_LIBRARY_AV, SMP_E_READ, err));
    SMP_TRY(smp_read_whole(reader, AV_INPUT_BUFFER_PADDING_SIZE, &s->data, &s->size, err));
    SMP_TRY(decode(reader, s, "dds", "dds", err));
    const bool numbered = s->size >= DXGI + 4 && smp_get_le(s->data + FLAGS, 4) & BY_CODE &&
                          !memcmp(s->data + CODE, "DX10", 4); /* else FFmpeg does not look at the number */
    const uint32_t number = numbered ? (uint32_t)smp_get_le(s->data + DXGI, 4) : 0;
    const AVPixFmtDescriptor *was = av->av_pix_fmt_desc_get(s->frame->format);
    for (size_t i = sizeof kinds / sizeof *kinds; i-- > 0;)
        if (number >= kinds[i].first && number <= kinds[i].last) {
            const AVPixFmtDescriptor *now = av->av_pix_fmt_desc_get(kinds[i].order);
            if (now && (!was || now->comp[0].step != was->comp[0].step)) /* rows of another length */
                return fail_damaged(reader, err);
            s->frame->format = kinds[i].order;
        }
    if (s->frame->format == AV_PIX_FMT_RGB555LE && smp_get_le(s->data + ALPHA, 4) == BIT)
        smp_note(&reader->notes, "its alpha, of one bit, is left out");
    return describe(reader, s, err);
}

static smp_code read_plain(smp_reader *reader, const char *name, bool (*is_whole)(const uint8_t *data, size_t size),
                           smp_error *err)
{
    picture_state *s = reader->state;
    SMP_TRY(smp_library_need(SMP_LIBRARY_AV, SMP_E_READ, err));
    SMP_TRY(smp_read_whole(reader, AV_INPUT_BUFFER_PADDING_SIZE, &s->data, &s->size, err));
    if (is_whole && !is_whole(s->data, s->size))
        return fail_truncated(reader, err);
    SMP_TRY(decode(reader, s, name, name, err));
    if (s->frame->format == AV_PIX_FMT_0RGB || s->frame->format == AV_PIX_FMT_0BGR) /* of a Sun raster */
        smp_note(&reader->notes, "the fourth byte of each pixel, which may be its alpha, is left out");
    return describe(reader, s, err);
}

#define PLAIN(what, decoder, is_whole)                                                                                 \
    static smp_code what##_read_open(smp_reader *reader, smp_error *err)                                               \
    {                                                                                                                  \
        return read_plain(reader, decoder, is_whole, err);                                                             \
    }
PLAIN(pcx, "pcx", smp_pcx_is_whole)
PLAIN(sgi, "sgi", NULL)
PLAIN(sun, "sunrast", smp_sun_is_whole)
PLAIN(xbm, "xbm", NULL)

/* ------------------------------------------------------------------------------------------------ rows */

/* OpenEXR's colours have alpha multiplied in. */
static void put_reals(const picture_state *s, const smp_shape *shape, int64_t y, float *to)
{
    const int colours = shape->channels - shape->alpha;
    for (int64_t x = 0; x < shape->width; x++, to += shape->channels) {
        for (int k = 0; k < shape->channels; k++) {
            const AVComponentDescriptor *c = &s->pixels->comp[k];
            memcpy(&to[k], s->frame->data[c->plane] + y * s->frame->linesize[c->plane] + x * c->step + c->offset,
                   sizeof *to);
        }
        for (int k = 0; shape->alpha && k < colours; k++)
            to[k] = to[colours] > 0 && to[colours] < 1 ? to[k] / to[colours] : to[k];
    }
}

static smp_code read_row(smp_reader *reader, int64_t y, void *to, smp_error *)
{
    const picture_state *s = reader->state;
    const smp_shape *shape = &reader->media.shape;
    if (shape->format == SMP_F32) {
        put_reals(s, shape, y, to);
        return SMP_OK;
    }
    if (s->pixels->flags & AV_PIX_FMT_FLAG_PAL) {
        uint8_t *out = to;
        for (int64_t x = 0; x < shape->width; x++, out += shape->channels) {
            uint32_t argb;
            memcpy(&argb, s->frame->data[1] + 4 * s->frame->data[0][y * s->frame->linesize[0] + x], sizeof argb);
            smp_put_be(out, argb & 0xFFFFFF, 3);
            if (shape->alpha)
                out[3] = (uint8_t)(argb >> 24);
        }
        return SMP_OK;
    }
    if (s->pixels->flags & AV_PIX_FMT_FLAG_BITSTREAM) { /* a bit a pixel */
        const uint8_t *from = s->frame->data[0] + y * s->frame->linesize[0],
                      white = s->frame->format == AV_PIX_FMT_MONOWHITE ? UINT8_MAX : 0;
        for (int64_t x = 0; x < shape->width; x++)
            ((uint8_t *)to)[x] = (from[x / 8] << (x % 8) & 0x80 ? UINT8_MAX : 0) ^ white;
        return SMP_OK;
    }
    const AVComponentDescriptor *last = &s->pixels->comp[shape->channels - 1];
    if (shape->format == SMP_U8 && last->depth == 8 && !s->depth[0] && !last->plane && !s->pixels->comp[0].offset &&
        last->offset == shape->channels - 1 && last->step == shape->channels) {
        memcpy(to, s->frame->data[0] + y * s->frame->linesize[0], (size_t)smp_row_bytes(shape)); /* R, G, B, A */
        return SMP_OK;
    }
    const uint32_t full = shape->format == SMP_U16 ? UINT16_MAX : UINT8_MAX;
    for (int k = 0; k < shape->channels; k++) {
        const AVComponentDescriptor *c = &s->pixels->comp[k];
        const uint8_t *from = s->frame->data[c->plane] + y * s->frame->linesize[c->plane] + c->offset;
        const int depth = s->depth[k] && s->depth[k] < c->depth ? s->depth[k] : c->depth,
                  shift = c->shift + (s->low ? 0 : c->depth - depth);
        const bool wide = c->depth + c->shift > 8, big = s->pixels->flags & AV_PIX_FMT_FLAG_BE;
        const uint32_t most = (1u << depth) - 1;
        for (int64_t x = 0; x < shape->width; x++, from += c->step) {
            const uint32_t code = (uint32_t)smp_get_bytes(from, wide ? 2 : 1, big) >> shift & most;
            const uint32_t value = (code * full + most / 2) / most;
            if (full == UINT8_MAX)
                ((uint8_t *)to)[x * shape->channels + k] = (uint8_t)value;
            else
                ((uint16_t *)to)[x * shape->channels + k] = (uint16_t)value;
        }
    }
    return SMP_OK;
}

static void read_close(smp_reader *reader)
{
    picture_state *s = reader->state;
    end_decoding(s);
    smp_free_all(s->data, s);
}

static bool sniff_jp2(const uint8_t *head, size_t size)
{
    return size >= 12 && (!memcmp(head, "\0\0\0\x0CjP  \r\n\x87\n", 12) || !memcmp(head, "\xFF\x4F\xFF\x51", 4));
}

#define SNIFF(what, mark)                                                                                              \
    static bool sniff_##what(const uint8_t *head, size_t size)                                                         \
    {                                                                                                                  \
        return size >= sizeof mark - 1 && !memcmp(head, mark, sizeof mark - 1);                                        \
    }
SNIFF(exr, "\x76\x2F\x31\x01")
SNIFF(dds, "DDS |\0\0\0")
SNIFF(sun, "\x59\xA6\x6A\x95")

/* Versions 0 and 2 to 5, packed by runs; the corners are in order, and what is reserved is 0. */
static bool sniff_pcx(const uint8_t *head, size_t size)
{
    return size >= 128 && head[0] == 10 && head[1] <= 5 && head[2] == 1 && head[3] && head[3] <= 8 && head[65] &&
           head[65] <= 4 && smp_get_le(head + 4, 2) <= smp_get_le(head + 8, 2) &&
           smp_get_le(head + 6, 2) <= smp_get_le(head + 10, 2);
}

/* What a pipe's first bytes tell. */
static bool sniff_ljpeg(const uint8_t *head, size_t size)
{
    smp_source source;
    smp_source_memory(&source, head, size);
    return smp_format_jpeg.sniff(head, size) && smp_jpeg_is_lossless(&source);
}

static bool sniff_sgi(const uint8_t *head, size_t size)
{
    return size >= 12 && !memcmp(head, "\x01\xDA", 2) && head[2] <= 1 && (head[3] == 1 || head[3] == 2) && !head[4] &&
           head[5] >= 1 && head[5] <= 3;
}

static bool sniff_xbm(const uint8_t *head, size_t size)
{
    return size >= 8 && !memcmp(head, "#define ", 8) && memmem(head, size, "_width ", 7);
}

#define READS(what)                                                                                                    \
    .sniff = sniff_##what, .read_state = sizeof(picture_state), .read_open = what##_read_open, .read_row = read_row,   \
    .read_close = read_close
#else
#define READS(what) .bare = false
#endif

#define ROW(what, shown, ...)                                                                                          \
    const smp_file_format smp_format_##what = {.name = shown,                                                          \
                                               .extensions = (const char *const[]){__VA_ARGS__, NULL},                 \
                                               .kind = SMP_IMAGE,                                                      \
                                               .library = SMP_LIBRARY_AV,                                              \
                                               READS(what)}
ROW(jp2, "JPEG 2000", "jp2", "j2k", "jpc", "j2c", "jpx");
ROW(exr, "OpenEXR", "exr");
ROW(ljpeg, "lossless JPEG", "ljpg", "ljpeg");
ROW(dds, "DDS", "dds");
ROW(pcx, "PCX", "pcx");
ROW(sgi, "SGI", "sgi");
ROW(sun, "Sun raster", "ras", "sun");
ROW(xbm, "XBM", "xbm");
