/* From rows of a picture to its place in a batch: see feed.h. */

#include "feed/feed.h"
#include "media/half.h"

/* One division at a time, as torchvision does it: sub_, div_. */
static float value_of(const smp_feed_format *format, float v, int channel)
{
    return format->norms ? (v - format->mean[channel]) / format->std[channel] : v;
}

void smp_feed_tables(smp_feed_format *format)
{
    for (int c = 0; c < SMP_FEED_CHANNELS; c++) {
        if (format->norms == 1) {
            format->mean[c] = format->mean[0];
            format->std[c] = format->std[0];
        }
        for (int i = 0; i < 256; i++) {
            format->values[c][i] = value_of(format, (float)i / 255.f, c);
            format->halves[c][i] = smp_half_of(format->values[c][i]);
        }
    }
}

smp_code smp_feed_shape(const smp_feed_format *format, const smp_shape *shape, smp_shape *out, smp_error *err)
{
    *out = *shape;
    if (format->type == SMP_FEED_U8 && shape->format != SMP_U8)
        return smp_fail(err, SMP_E_PIPE, "its samples are %s after the pipeline, and the batch's are bytes",
                        shape->format == SMP_U16 ? "of 16 bits" : "floats"),
               smp_hint(err, "end the pipeline with `depth 8bit`, or ask for float32 or float16");
    if (format->channels && shape->kind == SMP_IMAGE) {
        const int colours = shape->channels - shape->alpha;
        if (colours != 1 && colours != format->channels)
            return smp_fail(err, SMP_E_PIPE, "it has %d channels after the pipeline, and the batch has %d", colours,
                            format->channels),
                   smp_hint(err, format->channels == 1 ? "write `gray` into the pipeline"
                                                       : "write channels=None to take them as they are");
        out->channels = format->channels;
        out->alpha = false;
    }
    if (format->norms > 1 && format->norms != out->channels) {
        smp_fail(err, SMP_E_PIPE, "it has %d channels, and mean and std have %d numbers", out->channels, format->norms);
        return smp_hint(err, "give one number, or one a channel");
    }
    return SMP_OK;
}

int smp_feed_sample_size(const smp_feed_format *format)
{
    static const int sizes[] = {[SMP_FEED_U8] = 1, [SMP_FEED_F16] = 2, [SMP_FEED_F32] = 4};
    return sizes[format->type];
}

size_t smp_feed_bytes(const smp_feed_format *format, const smp_shape *shape)
{
    return (size_t)shape->width * (size_t)shape->height * (size_t)shape->channels *
           (size_t)smp_feed_sample_size(format);
}

/* `width` samples of one channel, `apart` samples apart in the picture and `step` in the batch. */
typedef struct line {
    const void *from;
    void *to;
    int64_t width, apart, step;
} line;

static void put_bytes(const line *l)
{
    const uint8_t *from = l->from;
    uint8_t *to = l->to;
    for (int64_t x = 0; x < l->width; x++)
        to[x * l->step] = from[x * l->apart];
}

static void put_floats_of_bytes(const smp_feed_format *format, int channel, const line *l)
{
    const uint8_t *from = l->from;
    const float *values = format->values[channel];
    const uint16_t *halves = format->halves[channel];
    for (int64_t x = 0; format->type == SMP_FEED_F32 && x < l->width; x++)
        ((float *)l->to)[x * l->step] = values[from[x * l->apart]];
    for (int64_t x = 0; format->type == SMP_FEED_F16 && x < l->width; x++)
        ((uint16_t *)l->to)[x * l->step] = halves[from[x * l->apart]];
}

static void put_floats(const smp_feed_format *format, smp_format is, int channel, const line *l)
{
    for (int64_t x = 0; x < l->width; x++) {
        const int64_t at = x * l->apart;
        const float v = value_of(
            format, is == SMP_U16 ? ((const uint16_t *)l->from)[at] / 65535.f : ((const float *)l->from)[at], channel);
        if (format->type == SMP_FEED_F32)
            ((float *)l->to)[x * l->step] = v;
        else
            ((uint16_t *)l->to)[x * l->step] = smp_half_of(v);
    }
}

void smp_feed_put(const smp_feed_format *format, const smp_shape *shape, const void *from, int64_t stride, int64_t y,
                  int64_t rows, void *place)
{
    smp_shape out;
    if (smp_feed_shape(format, shape, &out, NULL))
        return;
    const size_t size = (size_t)smp_feed_sample_size(format);
    const size_t sample = (size_t)smp_sample_size((int)shape->format);
    for (int64_t i = 0; i < rows; i++)
        for (int c = 0; c < out.channels; c++) {
            const int source = shape->channels - shape->alpha == 1 && format->channels ? 0 : c;
            const int64_t at =
                format->planar ? (c * out.height + y + i) * out.width : (y + i) * out.width * out.channels + c;
            const line l = {.from = (const char *)from + i * stride + (size_t)source * sample,
                            .to = (char *)place + (size_t)at * size,
                            .width = out.width,
                            .apart = shape->channels,
                            .step = format->planar ? 1 : out.channels};
            if (format->type == SMP_FEED_U8)
                put_bytes(&l);
            else if (shape->format == SMP_U8)
                put_floats_of_bytes(format, c, &l);
            else
                put_floats(format, shape->format, c, &l);
        }
}
