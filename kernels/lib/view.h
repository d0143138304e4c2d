/* Arguments of kernels: views of pictures, the arguments that every kernel gets, border modes, rounding. Plain C that
 * CUDA and C++ compile too, so that every device computes the same indices and rounds alike.
 *
 * A view is a window of whole rows: rows y0 .. y0+rows-1 of `height` are in memory. Kernels compute rows out.y0 ..
 * out.y0+out.rows-1; `in` holds every existing row that their reach needs. smp_border() maps rows and columns outside
 * the picture to rows and columns inside. A sound is a picture one pixel wide whose rows are frames.
 *
 * Padding belongs to the row. Where smp_rows_aligned() holds, GPU kernels may read and write each row up to the next
 * multiple of SMP_ROW_PADDING bytes, the last row too: whoever makes a view owns that memory. What padding holds is
 * undefined. It must not influence samples or counts: borders come from the border rule, and clipped samples are
 * counted up to the width. */
#pragma once

#include <math.h>
#include <stdint.h>

/* A function for both sides. SMP_FORMULA: one that touches no memory of the device, which traces leave alone. */
#ifdef __CUDACC__
#define SMP_HOST_DEVICE static __host__ __device__ __forceinline__
#elif defined(SMP_TRACED)
#define SMP_HOST_DEVICE static __attribute__((unused))
#define SMP_FORMULA     SMP_HOST_DEVICE __attribute__((no_sanitize("thread")))
#else
#define SMP_HOST_DEVICE static inline __attribute__((always_inline, unused))
#endif
#ifndef SMP_FORMULA
#define SMP_FORMULA SMP_HOST_DEVICE
#endif

enum { SMP_MAX_CHANNELS = 8 };
enum { SMP_ROW_ALIGNMENT = 16, SMP_ROW_PADDING = 64 }; /* bytes: where aligned rows start, and end */

/* Storage of samples. Arithmetic is in code values: 0..255, 0..65535, or 0..1 for a float picture. Between stages a u8
 * picture may be stored as f32 holding code values 0..255, so a view has `white` as well as the format. */
typedef enum smp_format { SMP_U8, SMP_U16, SMP_F32, SMP_FORMATS } smp_format;

typedef struct smp_view {
    void *data;     /* sample (0, y0, 0); never null while rows > 0 */
    int64_t stride; /* bytes from a row to the next; a multiple of the sample size, at least width * channels samples */
    int64_t width;  /* pixels */
    int64_t height; /* rows of the whole picture, present or not */
    int64_t y0, rows; /* the rows that are present */
    int32_t channels; /* 1..SMP_MAX_CHANNELS, interleaved */
    int32_t format;   /* smp_format of the samples in memory */
    float white;      /* the code value of full scale: 255, 65535 or 1 */
    int32_t alpha;    /* 1 when the last channel is alpha */
} smp_view;

/* GPU: how a launch of one-warp blocks divides its output rows (warp_strip_grid.h); zeros for other launches. */
typedef struct smp_strips {
    uint32_t ends, end_rows;   /* blocks of the first and the last strip, and rows of each; 0 where strips are few */
    uint32_t across;           /* the other strips; at least one */
    uint32_t bands;            /* of these strips; from top to bottom: */
    uint32_t top;              /* rows of the first, */
    uint32_t tall, tall_bands; /* of some that follow, and how many they are, */
    uint32_t low;              /* and of the rest */
} smp_strips;

/* Arguments of every kernel besides its own parameters; passed by value on the GPU. */
typedef struct smp_io {
    smp_view out;
    smp_view in;
    smp_view
        second; /* the second picture (`by=@tap` or a file), with the rows of `in`. Without one: the stage's input
                 * for launches that read the scratch picture, its output for launches that write it, else data null
                 */
    const void *table; /* what the stage's plan() made (weights, look-up tables), or null */
    void *result;      /* a reduction's results, see smp_result_kind; null for other stages */
    uint64_t *clipped; /* counts samples that the final store clamps; may be null. A CPU has one a thread */
    smp_strips strips; /* from the launch's geometry */
} smp_io;

/* Border modes; the letters show what lies outside `abcd`. */
typedef enum smp_edge {
    SMP_CLAMP,    /* aaa|abcd|ddd */
    SMP_REFLECT,  /* cba|abcd|dcb */
    SMP_MIRROR,   /* dcb|abcd|cba */
    SMP_WRAP,     /* bcd|abcd|abc */
    SMP_ZERO,     /* 000|abcd|000 */
    SMP_CONSTANT, /* kkk|abcd|kkk */
    SMP_EDGES
} smp_edge;

/* The index in 0..n-1 that stands for index i, at any distance; -1 when the border is a value (zero, constant). n >= 1.
 * The same as scipy.ndimage's nearest, reflect, mirror, grid-wrap and grid-constant. */
SMP_FORMULA int64_t smp_border(int64_t i, int64_t n, int edge)
{
    if (i >= 0 && i < n)
        return i;
    switch (edge) {
    case SMP_CLAMP:
        return i < 0 ? 0 : n - 1;
    case SMP_REFLECT: {
        int64_t p = 2 * n, m = i % p;
        m = m < 0 ? m + p : m;
        return m < n ? m : p - 1 - m;
    }
    case SMP_MIRROR: {
        if (n == 1)
            return 0;
        int64_t p = 2 * n - 2, m = i % p;
        m = m < 0 ? m + p : m;
        return m < n ? m : p - m;
    }
    case SMP_WRAP: {
        int64_t m = i % n;
        return m < 0 ? m + n : m;
    }
    default:
        return -1;
    }
}

/* Bytes a sample takes. */
SMP_HOST_DEVICE int64_t smp_sample_size(int format)
{
    return format == SMP_U8 ? 1 : format == SMP_U16 ? 2 : 4;
}

/* The address of row y, which must be present. */
SMP_HOST_DEVICE void *smp_row(const smp_view *v, int64_t y)
{
    return (char *)v->data + (y - v->y0) * v->stride;
}

/* Rows that a kernel may access by vectors of 16 bytes, padding included: see "Padding belongs to the row". Rows of a
 * device are so, unless the picture is one pixel wide. */
SMP_HOST_DEVICE int smp_view_aligned(const smp_view *v)
{
    const int64_t bytes = v->width * v->channels * smp_sample_size(v->format);
    return ((uintptr_t)v->data | (uintptr_t)v->stride) % SMP_ROW_ALIGNMENT == 0 &&
           v->stride >= (bytes + SMP_ROW_PADDING - 1) / SMP_ROW_PADDING * SMP_ROW_PADDING;
}
SMP_HOST_DEVICE int smp_rows_aligned(const smp_io *io)
{
    return smp_view_aligned(&io->in) && smp_view_aligned(&io->out) &&
           (!io->second.data || smp_view_aligned(&io->second));
}

/* Rounding happens once, at the store: to nearest, ties to even, clamped to 0..255 or 0..65535; NaN becomes 0. Adding
 * and subtracting 2^23 rounds without a library call, vectorises, and is the same on every device. */
SMP_FORMULA float smp_round_to(float v, float white)
{
    v = v > 0.f ? v : 0.f; /* NaN goes to 0 too */
    v = v < white ? v : white;
    return (v + 8388608.f) - 8388608.f;
}
/* The integer that smp_round_to() gives. The bits of v + 2^23 order like the floats; integers have vector instructions
 * for minimum and maximum, which NaN forbids for floats. white is an integer. */
SMP_FORMULA uint32_t smp_round_bits(float v, int32_t white)
{
    union {
        float f;
        int32_t bits;
    } sum, zero;
    sum.f = v + 8388608.f;
    zero.f = 8388608.f;
    int32_t bits = sum.bits > zero.bits ? sum.bits : zero.bits;
    bits = bits < zero.bits + white ? bits : zero.bits + white;
    return v == v ? (uint32_t)bits : 0;
}
SMP_FORMULA uint8_t smp_to_u8(float v)
{
    return (uint8_t)smp_round_bits(v, 255);
}
SMP_FORMULA uint16_t smp_to_u16(float v)
{
    return (uint16_t)smp_round_bits(v, 65535);
}

/* 1 when storing v with full scale `white` changes it by more than rounding; NaN counts. */
SMP_FORMULA int smp_clips(float v, float white)
{
    return !(v >= -0.5f && v <= white + 0.5f);
}

/* One sample as its code value; one code value stored (rounded and clamped for integer formats). Index in samples. */
SMP_HOST_DEVICE float smp_load(const void *row, int64_t i, int format)
{
    return format == SMP_U8    ? (float)((const uint8_t *)row)[i]
           : format == SMP_U16 ? (float)((const uint16_t *)row)[i]
                               : ((const float *)row)[i];
}
SMP_HOST_DEVICE void smp_store(void *row, int64_t i, int format, float v)
{
    if (format == SMP_U8)
        ((uint8_t *)row)[i] = smp_to_u8(v);
    else if (format == SMP_U16)
        ((uint16_t *)row)[i] = smp_to_u16(v);
    else
        ((float *)row)[i] = v;
}

/* A sample of frame y of a sound, whose samples are floats; 0, silence, where that frame is not present. */
SMP_HOST_DEVICE float smp_frame_at(const smp_view *in, int64_t y, int channel)
{
    return y >= in->y0 && y < in->y0 + in->rows ? ((const float *)smp_row(in, y))[channel] : 0.f;
}

/* Reductions. The picture is cut into chunks whose shape depends on the picture's width only. Partial results, and the
 * order in which they are folded, are so the same for any strips, threads and launches:
 *   width >= SMP_CHUNK: a chunk is SMP_CHUNK consecutive pixels of one row (the last of a row may be shorter);
 *   narrower pictures:  a chunk is smp_chunk_rows(width) whole rows, a power of two; strips begin at multiples of it.
 * Pixel i of a chunk, in raster order, belongs to lane i % SMP_LANES. A lane adds its pixels in order; lanes are added
 * in pairs at distance 16, 8, 4, 2, 1. Chunks are folded as a binary tree over their numbers. */
enum { SMP_CHUNK = 4096, SMP_LANES = 32 };

SMP_HOST_DEVICE int64_t smp_chunk_rows(int64_t width)
{
    int64_t rows = 1;
    while (rows * 2 * width <= SMP_CHUNK)
        rows *= 2;
    return rows;
}
SMP_HOST_DEVICE int64_t smp_chunks_across(int64_t width)
{
    return width > SMP_CHUNK ? (width + SMP_CHUNK - 1) / SMP_CHUNK : 1;
}
SMP_HOST_DEVICE int64_t smp_chunk_count(int64_t width, int64_t height)
{
    int64_t rows = smp_chunk_rows(width);
    return smp_chunks_across(width) * ((height + rows - 1) / rows);
}
