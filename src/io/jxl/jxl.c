/* JPEG XL through libjxl, read and written whole: 8 and 16 bits and float, with alpha. A JPEG that nothing changes is
 * packed as it is coded, without loss. Of a profile libjxl gets numbers, in bounds, since some profiles end it. Source:
 * jxl/encode.h and jxl/decode.h; ISO/IEC 18181-2 (boxes). */
#include "io/format.h"

#include <math.h>
#include <stdio.h>

#ifdef SMP_HAVE_JXL
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/thread_parallel_runner.h>
#include <jxl/version.h>

#include "base/checked.h"
#include "base/pool.h"
#include "media/icc.h"

#define DECODER_FUNCTIONS(M, with)                                                                                     \
    SMP_EACH(M, with, JxlDecoderCreate, JxlDecoderReset, JxlDecoderDestroy, JxlDecoderSubscribeEvents,                 \
             JxlDecoderSetUnpremultiplyAlpha, JxlDecoderSetDecompressBoxes, JxlDecoderSetInput, JxlDecoderCloseInput)  \
    SMP_EACH(M, with, JxlDecoderProcessInput, JxlDecoderGetBasicInfo, JxlDecoderGetExtraChannelInfo,                   \
             JxlDecoderGetColorAsEncodedProfile, JxlDecoderGetICCProfileSize, JxlDecoderGetColorAsICCProfile,          \
             JxlDecoderGetBoxType, JxlDecoderSetBoxBuffer, JxlDecoderReleaseBoxBuffer, JxlDecoderSetImageOutBuffer)
#define ENCODER_FUNCTIONS(M, with)                                                                                     \
    SMP_EACH(M, with, JxlEncoderCreate, JxlEncoderDestroy, JxlEncoderSetParallelRunner, JxlEncoderInitBasicInfo,       \
             JxlEncoderSetBasicInfo, JxlColorEncodingSetToSRGB, JxlColorEncodingSetToLinearSRGB,                       \
             JxlEncoderSetColorEncoding, JxlEncoderFrameSettingsCreate, JxlEncoderSetFrameLossless)                    \
    SMP_EACH(M, with, JxlEncoderSetFrameDistance, JxlEncoderFrameSettingsSetOption,                                    \
             JxlEncoderFrameSettingsSetFloatOption, JxlEncoderUseBoxes, JxlEncoderAddBox, JxlEncoderAddImageFrame,     \
             JxlEncoderStoreJPEGMetadata, JxlEncoderAddJPEGFrame, JxlEncoderCloseInput, JxlEncoderProcessOutput)
#define THREAD_FUNCTIONS(M, with)                                                                                      \
    SMP_EACH(M, with, JxlThreadParallelRunner, JxlThreadParallelRunnerCreate, JxlThreadParallelRunnerDestroy)

static struct {
    DECODER_FUNCTIONS(SMP_LIBRARY_FIELD, )
    ENCODER_FUNCTIONS(SMP_LIBRARY_FIELD, )
    THREAD_FUNCTIONS(SMP_LIBRARY_FIELD, )
} jxl;

#if JPEGXL_MAJOR_VERSION || JPEGXL_MINOR_VERSION >= 9 /* where a parameter that was to be null is gone */
#define NO_FORMAT(decoder) decoder
#else
#define NO_FORMAT(decoder) decoder, NULL
#endif

#define FILE_OF(name, major, minor)  name ".so." #major "." #minor
#define FILE_NOW(name, major, minor) FILE_OF(name, major, minor)

bool smp_jxl_load(void)
{
    void *library = smp_library_open(FILE_NOW("libjxl", JPEGXL_MAJOR_VERSION, JPEGXL_MINOR_VERSION)),
         *threads = smp_library_open(FILE_NOW("libjxl_threads", JPEGXL_MAJOR_VERSION, JPEGXL_MINOR_VERSION));
    bool all = library && threads;
#define TAKE(from, function) all = all && smp_library_function(from, #function, &jxl.function);
    DECODER_FUNCTIONS(TAKE, library)
    ENCODER_FUNCTIONS(TAKE, library)
    THREAD_FUNCTIONS(TAKE, threads)
    return all;
}

static bool says_cicp(const uint8_t cicp[4])
{
    return memchr("\1\x9\xB\xC", cicp[0], 4) && memchr("\1\x8\xD\x10\x11\x12", cicp[1], 6) && !cicp[2] && cicp[3] == 1;
}

static JxlPixelFormat format_of(const smp_shape *shape)
{
    static const JxlDataType types[] = {
        [SMP_U8] = JXL_TYPE_UINT8, [SMP_U16] = JXL_TYPE_UINT16, [SMP_F32] = JXL_TYPE_FLOAT};
    return (JxlPixelFormat){(uint32_t)shape->channels, types[shape->format], JXL_NATIVE_ENDIAN, 0};
}

/* ------------------------------------------------------------------------------------------------ reading */

typedef struct jxl_reader {
    JxlDecoder *decoder;
    uint8_t *data, *samples, *box;
    size_t size, box_size, box_room;
    char kind[5];  /* of the box that comes; "": none that is kept */
    uint64_t held; /* bytes a pixel that the library holds beside the samples */
    bool has_exif, has_xmp;
} jxl_reader;

static smp_code begin(jxl_reader *s, int events, smp_error *err)
{
    jxl.JxlDecoderReset(s->decoder);
    const bool ready = !jxl.JxlDecoderSubscribeEvents(s->decoder, events) &&
                       !jxl.JxlDecoderSetUnpremultiplyAlpha(s->decoder, true) &&
                       !jxl.JxlDecoderSetInput(s->decoder, s->data, s->size);
    (void)jxl.JxlDecoderSetDecompressBoxes(s->decoder, true); /* not every libjxl has Brotli */
    jxl.JxlDecoderCloseInput(s->decoder);
    SMP_NEED(ready, "a JPEG XL", s->size, err);
    return SMP_OK;
}

static smp_code fail_damaged(smp_error *err)
{
    smp_fail(err, SMP_E_DECODE, "the JPEG XL is damaged or truncated");
    return smp_hint_damaged(err);
}

static smp_code describe(smp_reader *reader, jxl_reader *s, smp_error *err)
{
    smp_media *media = &reader->media;
    smp_shape *shape = &media->shape;
    JxlBasicInfo info;
    if (jxl.JxlDecoderGetBasicInfo(s->decoder, &info))
        return fail_damaged(err);
    enum { HELD = 16 /* measured, of colours and alpha */, EXTRA = 4 };
    int others = 0, alphas = 0;
    s->held = HELD + EXTRA * (uint64_t)info.num_extra_channels;
    for (uint32_t i = 0; i < info.num_extra_channels; i++) {
        JxlExtraChannelInfo extra = {.type = JXL_CHANNEL_UNKNOWN};
        (void)jxl.JxlDecoderGetExtraChannelInfo(s->decoder, i, &extra);
        others += extra.type != JXL_CHANNEL_ALPHA || alphas++;
        if (extra.type == JXL_CHANNEL_BLACK)
            return smp_fail(err, SMP_E_DECODE, "the JPEG XL is CMYK, which is not read");
    }
    shape->width = info.xsize;
    shape->height = info.ysize;
    shape->alpha = info.alpha_bits > 0;
    shape->channels = (int)info.num_color_channels + shape->alpha;
    const bool real = info.exponent_bits_per_sample || info.bits_per_sample > 16;
    shape->format = real ? SMP_F32 : info.bits_per_sample > 8 ? SMP_U16 : SMP_U8;
    media->bits = (int)info.bits_per_sample;
    snprintf(media->detail, sizeof media->detail, "%s%s", info.num_color_channels > 1 ? "RGB" : "gray",
             real ? ", float" : "");
    if (others)
        smp_note(&reader->notes, "%d channels are left out that are neither colour nor the first alpha", others);
    if (info.have_animation)
        smp_note(&reader->notes, "the file is an animation; " SMP_FIRST_ALONE);
    return SMP_OK;
}

/* Of P3 with the white of cinemas (11) and with that of displays (12). */
enum { P3_CINEMA = JXL_PRIMARIES_P3, P3_DISPLAY = 12 };

/* The numbers of ITU-T H.273, which are JPEG XL's but for P3. False: colours that have none. */
static bool number_colours(const JxlColorEncoding *colours, uint8_t cicp[4])
{
    const bool cinema = colours->white_point == JXL_WHITE_POINT_DCI && colours->primaries == JXL_PRIMARIES_P3;
    cicp[0] = colours->primaries == JXL_PRIMARIES_P3 && !cinema ? P3_DISPLAY : (uint8_t)colours->primaries;
    cicp[1] = (uint8_t)colours->transfer_function;
    cicp[2] = 0;
    cicp[3] = 1;
    return colours->color_space == JXL_COLOR_SPACE_RGB && (cinema || colours->white_point == JXL_WHITE_POINT_D65) &&
           says_cicp(cicp);
}

/* sRGB needs no words. Of colours by a profile, coded with loss, libjxl gives light, also beyond sRGB's: floats. */
static smp_code keep_colours(smp_reader *reader, const jxl_reader *s, smp_error *err)
{
    const JxlColorProfileTarget target = JXL_COLOR_PROFILE_TARGET_DATA;
    smp_shape *shape = &reader->media.shape;
    smp_meta *meta = &reader->media.meta;
    JxlColorEncoding colours;
    size_t size = 0;
    const bool encoded = !jxl.JxlDecoderGetColorAsEncodedProfile(NO_FORMAT(s->decoder), target, &colours);
    const bool named = encoded && colours.white_point == JXL_WHITE_POINT_D65 &&
                       (colours.color_space == JXL_COLOR_SPACE_GRAY || colours.primaries == JXL_PRIMARIES_SRGB);
    if (named && colours.transfer_function == JXL_TRANSFER_FUNCTION_LINEAR) {
        shape->format = SMP_F32;
        meta->gamma = 1;
    } else if (named && colours.transfer_function == JXL_TRANSFER_FUNCTION_SRGB) {
        size = 0;
    } else if (jxl.JxlDecoderGetICCProfileSize(NO_FORMAT(s->decoder), target, &size)) {
        smp_note(&reader->notes, "its colours are taken for sRGB's: libjxl cannot tell them");
    } else {
        SMP_NEED(meta->icc.data = smp_alloc(size), "a profile", size, err);
        meta->icc.size = size;
        meta->has_cicp = encoded && number_colours(&colours, meta->cicp);
        if (jxl.JxlDecoderGetColorAsICCProfile(NO_FORMAT(s->decoder), target, meta->icc.data, size))
            return fail_damaged(err);
    }
    const uint64_t bytes = (uint64_t)shape->channels * (uint64_t)smp_sample_size((int)shape->format) + s->held;
    return smp_check_picture(&reader->options.limits, shape->width, shape->height,
                             (uint64_t)shape->width * (uint64_t)shape->height * bytes + s->size, err);
}

/* More room for the box that comes. */
static smp_code grow_box(jxl_reader *s, smp_error *err)
{
    enum { FIRST = 1 << 16, MOST = 16 << 20 };
    s->box_size = s->box_room - (s->box ? jxl.JxlDecoderReleaseBoxBuffer(s->decoder) : 0);
    if (s->box_room >= MOST)
        return smp_fail(err, SMP_E_LIMIT, "its box '%s' has more than %d MB", s->kind, MOST >> 20);
    SMP_NEED(smp_grow(&s->box, &s->box_room, smp_max_u64(2 * s->box_room, FIRST), 1), "metadata", s->box_room, err);
    (void)jxl.JxlDecoderSetBoxBuffer(s->decoder, s->box + s->box_size, s->box_room - s->box_size);
    return SMP_OK;
}

static bool keep_box(smp_meta *meta, jxl_reader *s)
{
    bool kept = true;
    if (!s->kind[0])
        return true;
    s->box_size = s->box_room - jxl.JxlDecoderReleaseBoxBuffer(s->decoder);
    s->has_exif |= s->kind[0] == 'E';
    if (s->kind[0] == 'E')
        kept = smp_meta_keep_exif_box(meta, s->box, s->box_size);
    else
        kept = s->has_xmp = smp_meta_add_text(meta, SMP_XMP_KEY, (const char *)s->box, s->box_size);
    smp_exif_reset_orientation(meta->exif.data, meta->exif.size); /* the picture is upright */
    smp_free(s->box);
    s->box = NULL;
    s->box_room = 0;
    s->kind[0] = '\0';
    return kept;
}

static smp_code begin_box(smp_reader *reader, jxl_reader *s, smp_error *err)
{
    static const char *const known[] = {"JXL ", "ftyp", "jxlc", "jxlp", "jxll", "jxli", "jbrd"};
    SMP_NEED(keep_box(&reader->media.meta, s), "metadata", s->box_size, err);
    if (jxl.JxlDecoderGetBoxType(s->decoder, s->kind, true))
        return fail_damaged(err);
    if ((!strcmp(s->kind, "Exif") && !s->has_exif) || (!strcmp(s->kind, "xml ") && !s->has_xmp))
        return grow_box(s, err);
    size_t i = 0;
    while (i < sizeof known / sizeof *known && strcmp(known[i], s->kind) != 0)
        i++;
    if (i == sizeof known / sizeof *known)
        smp_note(&reader->notes, "left out: a box '%s' of another program, or one more", s->kind);
    s->kind[0] = '\0';
    return SMP_OK;
}

/* All of the file but its pictures, which the decoder passes over. */
static smp_code read_open(smp_reader *reader, smp_error *err)
{
    jxl_reader *s = reader->state;
    SMP_TRY(smp_library_need(SMP_LIBRARY_JXL, SMP_E_READ, err));
    SMP_TRY(smp_read_whole(reader, 0, &s->data, &s->size, err));
    SMP_NEED(s->decoder = jxl.JxlDecoderCreate(NULL), "a JPEG XL", 0, err);
    SMP_TRY(begin(s, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_BOX, err));
    JxlDecoderStatus event;
    while ((event = jxl.JxlDecoderProcessInput(s->decoder)) != JXL_DEC_SUCCESS) {
        if (event == JXL_DEC_BASIC_INFO)
            SMP_TRY(describe(reader, s, err));
        else if (event == JXL_DEC_COLOR_ENCODING)
            SMP_TRY(keep_colours(reader, s, err));
        else if (event == JXL_DEC_BOX)
            SMP_TRY(begin_box(reader, s, err));
        else if (event == JXL_DEC_BOX_NEED_MORE_OUTPUT)
            SMP_TRY(grow_box(s, err));
        else
            return fail_damaged(err);
    }
    SMP_NEED(keep_box(&reader->media.meta, s), "metadata", s->box_size, err);
    return reader->media.shape.width ? SMP_OK : fail_damaged(err);
}

static smp_code decode(smp_reader *reader, jxl_reader *s, smp_error *err)
{
    const smp_shape *shape = &reader->media.shape;
    const JxlPixelFormat pixels = format_of(shape);
    const size_t bytes = (size_t)(smp_row_bytes(shape) * shape->height);
    SMP_NEED(s->samples = smp_alloc_raw(bytes), "a picture", bytes, err);
    SMP_TRY(begin(s, JXL_DEC_FULL_IMAGE, err));
    JxlDecoderStatus event = jxl.JxlDecoderProcessInput(s->decoder);
    if (event == JXL_DEC_NEED_IMAGE_OUT_BUFFER &&
        !jxl.JxlDecoderSetImageOutBuffer(s->decoder, &pixels, s->samples, bytes))
        event = jxl.JxlDecoderProcessInput(s->decoder);
    return event == JXL_DEC_FULL_IMAGE ? SMP_OK : fail_damaged(err);
}

static smp_code read_row(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    jxl_reader *s = reader->state;
    const size_t bytes = (size_t)smp_row_bytes(&reader->media.shape);
    if (!s->samples)
        SMP_TRY(decode(reader, s, err));
    memcpy(to, s->samples + (size_t)y * bytes, bytes);
    return SMP_OK;
}

static void read_close(smp_reader *reader)
{
    jxl_reader *s = reader->state;
    if (s->decoder)
        jxl.JxlDecoderDestroy(s->decoder);
    smp_free_all(s->data, s->samples, s->box, s);
}

static bool sniff(const uint8_t *head, size_t size)
{
    return (size >= 2 && !memcmp(head, "\xFF\x0A", 2)) || (size >= 12 && !memcmp(head, "\0\0\0\x0CJXL \r\n\x87\n", 12));
}

/* ------------------------------------------------------------------------------------------------ writing */

enum {
    DEFAULT_QUALITY = 90,
    LOSSLESS = 100,
    MOST_LIGHT = 1 << 20,
    MOST_CODE = 4,
    WRITER_HELD = 90 /* bytes a pixel that the library holds, measured */
};

typedef struct jxl_writer {
    JxlEncoder *encoder;
    JxlEncoderFrameSettings *settings;
    void *runner;
    uint8_t *samples; /* or a JPEG */
    size_t size;
    bool lossless, coded;
    uint64_t borrowed, bent;
} jxl_writer;

static smp_code write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    enum { MOST_SIDE = 1 << 30 };
    SMP_TRY(smp_library_need(SMP_LIBRARY_JXL, SMP_E_WRITE, err));
    if (shape->width <= MOST_SIDE && shape->height <= MOST_SIDE)
        return smp_check_colour("JPEG XL", shape, err);
    return smp_fail(err, SMP_E_WRITE, "%lld x %lld pixels are too many for a JPEG XL", (long long)shape->width,
                    (long long)shape->height);
}

static smp_code check(JxlEncoderStatus status, const char *what, smp_error *err)
{
    return status == JXL_ENC_SUCCESS
               ? SMP_OK
               : smp_fail(err, SMP_E_WRITE, "the JPEG XL cannot be written (libjxl refuses its %s)", what);
}

/* Butteraugli's distance, as cjxl has it. */
static float distance_of(int quality)
{
    return (float)(quality >= 30 ? 0.1 + (100 - quality) * 0.09
                                 : 53. / 3000 * quality * quality - 23. / 20 * quality + 25);
}

static smp_code set_picture(smp_writer *writer, jxl_writer *s, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    const int asked = smp_write_value(&writer->options.values, &smp_write_quality),
              quality = asked ? asked : DEFAULT_QUALITY, turned = s->coded ? writer->options.coded.orientation : 1;
    s->lossless = smp_write_value(&writer->options.values, &smp_write_lossless) || quality == LOSSLESS;
    JxlBasicInfo info;
    jxl.JxlEncoderInitBasicInfo(&info);
    info.xsize = (uint32_t)(turned > 4 ? shape->height : shape->width);
    info.ysize = (uint32_t)(turned > 4 ? shape->width : shape->height);
    info.orientation = (JxlOrientation)turned;
    info.bits_per_sample = 8 * (uint32_t)smp_sample_size((int)shape->format);
    info.exponent_bits_per_sample = shape->format == SMP_F32 ? 8 : 0;
    info.num_color_channels = (uint32_t)(shape->channels - shape->alpha);
    info.num_extra_channels = shape->alpha;
    info.alpha_bits = shape->alpha ? info.bits_per_sample : 0;
    info.alpha_exponent_bits = shape->alpha ? info.exponent_bits_per_sample : 0;
    info.uses_original_profile = s->lossless || s->coded;
    SMP_TRY(check(jxl.JxlEncoderSetBasicInfo(s->encoder, &info), "size", err));
    SMP_NEED(s->settings = jxl.JxlEncoderFrameSettingsCreate(s->encoder, NULL), "a JPEG XL", 0, err);
    /* Tables of few colours, and differences, spoil floats: cjxl 0.7 -d 0 does of one in twelve of small pictures. */
    static const JxlEncoderFrameSettingId shares[] = {JXL_ENC_FRAME_SETTING_CHANNEL_COLORS_GLOBAL_PERCENT,
                                                      JXL_ENC_FRAME_SETTING_CHANNEL_COLORS_GROUP_PERCENT},
                                          numbers[] = {JXL_ENC_FRAME_SETTING_PALETTE_COLORS,
                                                       JXL_ENC_FRAME_SETTING_MODULAR_PREDICTOR};
    for (int i = 0; i < 2 && shape->format == SMP_F32 && s->lossless; i++) {
        SMP_TRY(check(jxl.JxlEncoderFrameSettingsSetFloatOption(s->settings, shares[i], 0), "floats", err));
        SMP_TRY(check(jxl.JxlEncoderFrameSettingsSetOption(s->settings, numbers[i], 0), "floats", err));
    }
    if (s->coded)
        return SMP_OK;
    if (s->lossless)
        return check(jxl.JxlEncoderSetFrameLossless(s->settings, true), "want of loss", err);
    return check(jxl.JxlEncoderSetFrameDistance(s->settings, distance_of(quality)), "quality", err);
}

/* Whether the curve is sRGB's (gamma 0) or that of a power, as far as 8 bits show. */
static bool is_curve(const smp_icc_curve *curve, double gamma)
{
    enum { STEPS = 255 };
    for (int i = 0; i <= STEPS; i++) {
        const double v = (double)i / STEPS, light = smp_icc_light(curve, v);
        if (!(fabs((gamma > 0 ? pow(light, 1 / gamma) : smp_icc_encoded(light)) - v) < .5 / STEPS))
            return false;
    }
    return true;
}

/* The colours of a profile in numbers, relative to its white, D50. False: it has tables, or other curves, or colours
 * that no light has: such numbers make libjxl end the program. */
static bool name_colours(const smp_blob *profile, bool gray, JxlColorEncoding *to)
{
    smp_icc icc;
    const smp_icc_curve *curve = icc.curves;
    const int colours = gray ? 1 : 3;
    if (smp_icc_read(profile->data, profile->size, &icc) || icc.gray != gray || icc.tables[0].data)
        return false;
    const double gamma = is_curve(curve, 0) ? 0 : log(smp_icc_light(curve, .5)) / log(.5);
    for (int c = 0; c < colours; c++)
        if (!((gamma == 0 || (gamma >= 1 && gamma < 4)) && is_curve(&icc.curves[c], gamma)))
            return false;
    const double *m = icc.colorants;
    for (int i = 0; i < 3 && !gray; i++)
        if (!(fabs(m[3 * i] + m[3 * i + 1] + m[3 * i + 2] - smp_icc_d50[i]) < .01))
            return false;
    if (!gray &&
        !(m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]) >
          .03 /* sRGB has .2 */))
        return false;
    jxl.JxlColorEncodingSetToSRGB(to, gray);
    if (gamma > 0) {
        to->transfer_function = JXL_TRANSFER_FUNCTION_GAMMA;
        to->gamma = 1 / gamma;
    }
    double *const ends[] = {to->primaries_red_xy, to->primaries_green_xy, to->primaries_blue_xy};
    for (int c = 0; c < 3 && !gray; c++) {
        const double sum = m[c] + m[c + 3] + m[c + 6];
        ends[c][0] = m[c] / sum;
        ends[c][1] = m[c + 3] / sum;
        if (!(fabs(ends[c][0]) <= 1.5 && fabs(ends[c][1]) <= 1.5)) /* nor is it a number */
            return false;
    }
    const double white = smp_icc_d50[0] + smp_icc_d50[1] + smp_icc_d50[2];
    to->primaries = gray ? to->primaries : JXL_PRIMARIES_CUSTOM;
    to->white_point = JXL_WHITE_POINT_CUSTOM;
    to->white_point_xy[0] = smp_icc_d50[0] / white;
    to->white_point_xy[1] = smp_icc_d50[1] / white;
    return true;
}

static smp_code set_colours(smp_writer *writer, jxl_writer *s, const smp_meta *meta, smp_error *err)
{
    const bool gray = writer->shape.channels <= 2,
               fits = meta && meta->icc.size && smp_icc_fits(&meta->icc, gray ? 1 : 3);
    const bool numbered = meta && meta->has_cicp && says_cicp(meta->cicp);
    JxlColorEncoding colours;
    const bool named = !numbered && fits && name_colours(&meta->icc, gray, &colours);
    if (fits && !named && !numbered)
        smp_note(&writer->notes, "the ICC profile is left out, which primaries and a power do not say: the colours are "
                                 "taken for sRGB's, and the stage 'profile' makes them so");
    if (!named && writer->shape.format == SMP_F32 && writer->shape.curve == 1)
        jxl.JxlColorEncodingSetToLinearSRGB(&colours, gray);
    else if (!named)
        jxl.JxlColorEncodingSetToSRGB(&colours, gray);
    if (numbered) {
        colours.primaries = meta->cicp[0] == P3_DISPLAY ? JXL_PRIMARIES_P3 : (JxlPrimaries)meta->cicp[0];
        colours.white_point = meta->cicp[0] == P3_CINEMA ? JXL_WHITE_POINT_DCI : JXL_WHITE_POINT_D65;
        if (colours.transfer_function != JXL_TRANSFER_FUNCTION_LINEAR)
            colours.transfer_function = (JxlTransferFunction)meta->cicp[1];
    }
    return check(jxl.JxlEncoderSetColorEncoding(s->encoder, &colours), "colours", err);
}

/* skip: zeros in front, which say where in the box EXIF begins. */
static smp_code add_box(jxl_writer *s, const char *type, size_t skip, const smp_blob *blob, smp_error *err)
{
    if (!blob->size)
        return SMP_OK;
    uint8_t *data = smp_alloc(skip + blob->size);
    SMP_NEED(data, "metadata", blob->size, err);
    memcpy(data + skip, blob->data, blob->size);
    const JxlEncoderStatus status = jxl.JxlEncoderAddBox(s->encoder, type, data, skip + blob->size, false);
    smp_free(data);
    return check(status, "metadata", err);
}

static smp_code keep_meta(smp_writer *writer, jxl_writer *s, const smp_meta *meta, smp_error *err)
{
    smp_blob exif = {0}, xmp = {0};
    smp_code code = smp_meta_keep_blocks(meta, "a JPEG XL", &exif, &xmp, &writer->notes)
                        ? SMP_OK
                        : smp_fail_memory(err, "metadata", 0);
    if (!code && (exif.size || xmp.size))
        code = check(jxl.JxlEncoderUseBoxes(s->encoder), "metadata", err);
    code = code ? code : add_box(s, "Exif", 4, &exif, err);
    code = code ? code : add_box(s, "xml ", 0, &xmp, err);
    smp_free_all(exif.data, xmp.data);
    return code;
}

static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    const smp_blob *coded = writer->options.coded.picture;
    jxl_writer *s = writer->state;
    const int threads = writer->options.threads > 0 ? writer->options.threads : smp_pool_cores();
    const uint64_t held = (uint64_t)writer->shape.width * (uint64_t)writer->shape.height * WRITER_HELD;
    s->coded = coded != NULL;
    s->size = coded ? 2 + coded->size : (size_t)(smp_row_bytes(&writer->shape) * writer->shape.height);
    SMP_NEED((s->samples = smp_alloc_raw(s->size)) && smp_alloc_borrow(held), "a JPEG XL", s->size + held, err);
    s->borrowed = held;
    if (coded) {
        memcpy(s->samples, "\xFF\xD8", 2); /* the mark of the beginning, which such data lack */
        memcpy(s->samples + 2, coded->data, coded->size);
    }
    SMP_NEED((s->encoder = jxl.JxlEncoderCreate(NULL)) &&
                 (s->runner = jxl.JxlThreadParallelRunnerCreate(NULL, (size_t)threads)) &&
                 !jxl.JxlEncoderSetParallelRunner(s->encoder, jxl.JxlThreadParallelRunner, s->runner),
             "a JPEG XL", 0, err);
    SMP_TRY(set_picture(writer, s, err));
    SMP_TRY(set_colours(writer, s, meta, err));
    return meta ? keep_meta(writer, s, meta, err) : SMP_OK;
}

/* Of what is no number, or too much, libjxl's lossy coder ends the program; codes above 4 come back as other ones. */
static int most_of(const smp_writer *writer)
{
    return writer->shape.curve == 1 ? MOST_LIGHT : MOST_CODE;
}

static smp_code write_row(smp_writer *writer, int64_t y, const void *from, smp_error *)
{
    jxl_writer *s = writer->state;
    const size_t bytes = (size_t)smp_row_bytes(&writer->shape);
    const float most = (float)most_of(writer);
    uint8_t *to = s->samples + (size_t)y * bytes;
    memcpy(to, from, bytes);
    for (size_t i = 0; writer->shape.format == SMP_F32 && !s->lossless && i < bytes; i += sizeof(float)) {
        float v;
        memcpy(&v, to + i, sizeof v);
        if (fabsf(v) <= most)
            continue;
        v = isnan(v) ? 0 : copysignf(most, v);
        memcpy(to + i, &v, sizeof v);
        s->bent++;
    }
    return SMP_OK;
}

static smp_code write_end(smp_writer *writer, smp_error *err)
{
    enum { BATCH = 1 << 16 };
    jxl_writer *s = writer->state;
    const JxlPixelFormat pixels = format_of(&writer->shape);
    uint8_t batch[BATCH];
    JxlEncoderStatus status = JXL_ENC_NEED_MORE_OUTPUT;
    if (s->bent)
        smp_note(&writer->notes,
                 "made 0 or %d, since they are no number or beyond: %llu of its samples (--lossless keeps them)",
                 most_of(writer), (unsigned long long)s->bent);
    if (s->coded && (jxl.JxlEncoderStoreJPEGMetadata(s->encoder, true) ||
                     jxl.JxlEncoderAddJPEGFrame(s->settings, s->samples, s->size)))
        return smp_fail(err, SMP_E_DECODE, "libjxl cannot pack this JPEG as it is coded");
    if (!s->coded)
        SMP_TRY(check(jxl.JxlEncoderAddImageFrame(s->settings, &pixels, s->samples, s->size), "samples", err));
    jxl.JxlEncoderCloseInput(s->encoder);
    while (status == JXL_ENC_NEED_MORE_OUTPUT) {
        uint8_t *next = batch;
        size_t room = BATCH;
        status = jxl.JxlEncoderProcessOutput(s->encoder, &next, &room);
        SMP_TRY(smp_output_write(writer->output, batch, BATCH - room, err));
    }
    return check(status, "picture", err);
}

static void write_close(smp_writer *writer)
{
    jxl_writer *s = writer->state;
    smp_alloc_elsewhere(s->borrowed, 0, 0, 0);
    if (s->encoder)
        jxl.JxlEncoderDestroy(s->encoder);
    if (s->runner)
        jxl.JxlThreadParallelRunnerDestroy(s->runner);
    smp_free_all(s->samples, s);
}

static bool keeps_coded(const smp_write_options *options, const smp_media *media)
{
    return !strcmp(media->file_format, smp_format_jpeg.name) && !smp_coding_jpeg(&media->meta.coding)->inks &&
           !smp_write_value(&options->values, &smp_write_quality);
}

#else

bool smp_jxl_load(void)
{
    return false;
}

#endif

const smp_file_format smp_format_jxl = {
    .name = "JPEG XL",
    .extensions = (const char *const[]){"jxl", NULL},
    .kind = SMP_IMAGE,
    .texts = true,
    .library = SMP_LIBRARY_JXL,
    .confined = true,
    .takes = (const smp_write_takes[]){{&smp_write_quality}, {&smp_write_lossless}, {0}},
#ifdef SMP_HAVE_JXL
    .sniff = sniff,
    .read_state = sizeof(jxl_reader),
    SMP_READS(row),
    .read_close = read_close,
    .says_cicp = says_cicp,
    SMP_WRITES(row),
    .write_state = sizeof(jxl_writer),
    .write_end = write_end,
    .write_close = write_close,
    .keeps_coded = keeps_coded,
    .turns = true,
#endif
};
