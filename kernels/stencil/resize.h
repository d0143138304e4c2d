/* resize: a picture made larger or smaller. Each output sample of an axis is a sum over neighbouring input samples,
 * whose weights the stage computes for every output sample (src/stages/shared/geometry/resize_weights.h). Rows first,
 * then columns.
 *   SMP_RESIZE_FLOAT  v = fmaf(w[k], p[k], v), k ascending from v = 0; f32 between the passes
 *   SMP_RESIZE_FIXED  v = clamp((2^21 + sum of K[k] * p[k]) >> 22, 0, 255), K = w * 2^22 rounded; bytes between the
 *                     passes. The bytes of Pillow's Image.resize: Resample.c of Pillow 9
 *   SMP_RESIZE_MOVE   v = p[0]: the nearest sample */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"
#include "lib/tuning.h"
#include "stencil/resize_weight.h"

typedef enum smp_resize_kind { SMP_RESIZE_FLOAT, SMP_RESIZE_FIXED, SMP_RESIZE_MOVE } smp_resize_kind;

enum { SMP_RESIZE_PHASES = 32, SMP_RESIZE_BANKS = 32 /* of shared memory, of a word */ };

/* One axis. Offsets count words of 32 bits from the start of the table. */
typedef struct smp_resize_axis {
    int64_t starts;  /* a pair for each output sample: the first input sample, and how many there are: at least 1 */
    int64_t weights; /* `taps` words for each output sample: f32, of SMP_RESIZE_FIXED int32 */
    int32_t taps;    /* the most input samples of an output sample; 0: the axis stays as it is */
    int32_t unused;
} smp_resize_axis;

/* Both axes become a whole `ratio` times smaller by filters of `lobes` steps: taps of all outputs lie alike, but those
 * cut off at borders. */
typedef struct smp_resize_fused {
    int32_t ratio; /* 2 or 4; 0: it is not so */
    int32_t lobes;
    /* Offset in the table of the column pass's weights by input rows: word (i * ratio + r) * lobes + f is output i -
     * lobes + 1 + f's for row r of the `ratio` rows that output i's filter begins with; 0 where it is cut off. */
    int64_t weights;
    float weight[24]; /* of outputs that are not cut off, both ways: ratio * lobes of them */
} smp_resize_fused;

typedef struct smp_resize {
    smp_resize_axis across, down;
    int32_t kind;
    int32_t window; /* the most pixels that SMP_RESIZE_ACROSS samples of a row, from a multiple of it on, are made of */
    int32_t phases; /* the step between output pixels of a row, where it is nearly a whole number; else 1 */
    int32_t spread; /* words: planes begin so far apart in the banks, that pixels stored side by side meet all of them.
                       0 where the step is no whole number: lanes then read of two planes, and as if they were one */
    smp_resize_fused fused;
} smp_resize;

/* The input samples of one output sample. */
typedef struct smp_resize_taps {
    int32_t first, count;
    const int32_t *weight; /* bits of a float, or an integer */
} smp_resize_taps;

SMP_HOST_DEVICE smp_resize_taps smp_resize_taps_of(const smp_resize_axis *axis, const void *table, int64_t to)
{
    const int32_t *words = (const int32_t *)table, *start = words + axis->starts + 2 * to;
    const smp_resize_taps taps = {start[0], start[1], words + axis->weights + to * axis->taps};
    return taps;
}

/* Output sample `to` of a line of input samples, `step` bytes apart: what every device computes. line: input sample
 * `begin`. */
SMP_HOST_DEVICE float smp_resize_sample(const smp_resize_axis *axis, int kind, const void *table, int64_t to,
                                        const void *line, int64_t begin, int64_t step, int format)
{
    const char *at = (const char *)line;
    if (!axis->taps || kind == SMP_RESIZE_MOVE) {
        const int64_t from = axis->taps ? smp_resize_taps_of(axis, table, to).first : to;
        const float v = smp_load(at + (from - begin) * step, 0, format);
        return kind == SMP_RESIZE_FIXED ? (float)smp_to_u8(v) : v;
    }
    const smp_resize_taps taps = smp_resize_taps_of(axis, table, to);
    at += (taps.first - begin) * step;
    if (kind == SMP_RESIZE_FIXED) {
        int32_t sum = SMP_RESIZE_HALF;
        for (int32_t k = 0; k < taps.count; k++, at += step)
            sum += taps.weight[k] * (int32_t)smp_to_u8(smp_load(at, 0, format));
        return (float)smp_resize_byte(sum);
    }
    float v = 0.f;
    for (int32_t k = 0; k < taps.count; k++, at += step)
        v = fmaf(smp_resize_weight(taps.weight + k), smp_load(at, 0, format), v);
    return v;
}

/* A sample to store. */
SMP_HOST_DEVICE float smp_resize_last(int kind, float v)
{
    return kind == SMP_RESIZE_MOVE ? v : smp_one_nan(v);
}

/* GPU: a row of n pixels in shared memory, in planes: pixel p lies in plane p % phases, p / phases pixels from its
 * beginning. Neighbouring outputs, `phases` pixels apart, then lie side by side. Words of a plane, with unused ones
 * behind that make it `spread` past a multiple of all banks. */
SMP_HOST_DEVICE int64_t smp_resize_plane(int64_t n, int channels, int phases, int spread)
{
    const int64_t words = (n + phases - 1) / phases * channels;
    return phases == 1 ? words : words + ((spread - words) & (SMP_RESIZE_BANKS - 1));
}

/* GPU, fused: how two rows of a block lie in shared memory, a plane a channel. A unit is four pixels of a channel, 16
 * bytes; a piece is how many units a lane's outputs are from the next lane's; an unused unit follows each piece. */
typedef struct smp_resize_planes {
    int lead;  /* pixels before those that the first output stands for */
    int from;  /* where in its first unit a lane's first tap is */
    int piece; /* units */
    int reads; /* units that a lane reads */
    int units; /* of a row */
    int pitch; /* units from a plane to the next */
} smp_resize_planes;

enum {
    SMP_RESIZE_FUSED_PIXELS = 2 * SMP_RESIZE_FUSED_ACROSS, /* of a row of the input that a block has: outputs at 2:1 */
    SMP_RESIZE_FUSED_WARPS_U8 = 15, /* that an SM should have of bytes, whose next rows wait in fewer registers */
    SMP_RESIZE_FUSED_ROWS = 2       /* of the input that arrive together */
};

/* Constants: in C++ they are parameters of templates. */
#ifdef __cplusplus
#define SMP_RESIZE_CONSTANT SMP_HOST_DEVICE constexpr
#else
#define SMP_RESIZE_CONSTANT SMP_HOST_DEVICE
#endif
SMP_RESIZE_CONSTANT smp_resize_planes smp_resize_planes_of(int ratio, int lobes)
{
    const int before = ratio * (lobes - 1) / 2, lead = (before + 3) / 4 * 4;
    const int pixels = SMP_RESIZE_FUSED_PIXELS / 32, piece = pixels / 4; /* of a lane */
    const int reads = (lead - before + pixels - ratio + ratio * lobes + 3) / 4;
    const int units = 31 * piece + reads;
    const smp_resize_planes planes = {lead, lead - before, piece, reads, units, units + (units - 1) / piece};
    return planes;
}

/* A CPU thread's scratch memory. Results of the row pass wait in a ring of rows, a block of columns at a time, so that
 * they stay in the second-level cache. */
typedef struct smp_resize_layout {
    int64_t pixels;             /* of a block */
    int64_t rows, stride;       /* of the ring; words from a row to the next */
    int64_t turned, made, size; /* words: where samples of several rows lie side by side; results of them; all */
} smp_resize_layout;

enum {
    SMP_RESIZE_LANES = 8,              /* rows that a row pass makes at a time */
    SMP_RESIZE_RING_WORDS = 64 * 1024, /* of a ring, where a block of 16 pixels leaves a choice */
    SMP_RESIZE_TURNED = 2048,          /* samples of a row that lie turned at a time */
    SMP_RESIZE_MADE = 512              /* results of a row before they are turned back */
};

static inline smp_resize_layout smp_resize_layout_of(const smp_resize *p, int64_t width, int channels)
{
    smp_resize_layout layout;
    layout.rows = (p->down.taps ? p->down.taps : 1) + SMP_RESIZE_LANES;
    int64_t pixels = SMP_RESIZE_RING_WORDS / layout.rows / channels;
    pixels = pixels < 16 ? 16 : pixels;
    const int64_t blocks = (width + pixels - 1) / pixels;
    layout.pixels = (width + blocks - 1) / blocks;
    /* an odd number of cache lines: rows do not meet in one set of a cache */
    layout.stride = ((layout.pixels * channels + SMP_RESIZE_LANES + 15) / 16 | 1) * 16;
    layout.turned = layout.rows * layout.stride;
    layout.made = layout.turned + (SMP_RESIZE_TURNED + SMP_RESIZE_LANES) * SMP_RESIZE_LANES;
    layout.size = layout.made + (SMP_RESIZE_MADE + SMP_RESIZE_LANES) * SMP_RESIZE_LANES;
    return layout;
}

SMP_CPU_DECLARE(resize_rows);    /* naive, first launch: to an f32 picture */
SMP_CPU_DECLARE(resize_columns); /* naive, second launch */
SMP_CPU_DECLARE(resize_tiled);
