/* box on the CPU.
 *   naive  two launches: box_rows into an f32 picture, box_columns out of it. The definition, sample by sample.
 *   tiled  one walk over column tiles. Small windows are added in registers. From BOX_SMALL on, log2(size) passes of
 *          doubling over rows in cache make all windows at once, so that time hardly grows with the size.
 * u8 into u8: box_u8.c. */
#include "stencil/box.h"

#include "lib/constants.h"

SMP_CPU_KERNEL(box_rows)
{
    const smp_box *box = params;
    const int channels = io->in.channels;
    const float outside = smp_outside(box->edge, box->fill, io->in.white);
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++)
                stencil_put(io, y, x * channels + c,
                            smp_box_sum(&io->in, x - smp_box_before(box), y, 1, 0, c, box->size, box->edge, outside));
}

SMP_CPU_KERNEL(box_columns)
{
    const smp_box *box = params;
    const int channels = io->in.channels;
    const float outside = smp_box_flat(smp_outside(box->edge, box->fill, io->in.white), box->size);
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                float sum = smp_box_sum(&io->in, x, y - smp_box_before(box), 0, 1, c, box->size, box->edge, outside);
                stencil_put(io, y, x * channels + c, smp_box_mean(sum, box->size));
            }
}

enum { BOX_SMALL = 9 }; /* windows up to this length are added in registers */

typedef struct box_walk {
    const smp_box *box;
    float outside;
    float *doubled; /* the rows of the window */
    float *sums;    /* `step` rows */
    float *line[2];
} box_walk;

/* Adds a block of `length` samples (1, 2, 4 or 8, a constant) in pairs. */
SMP_INLINE float box_block(const float *p, int64_t step, int length)
{
    if (length == 1)
        return p[0];
    if (length == 2)
        return p[0] + p[step];
    if (length == 4)
        return (p[0] + p[step]) + (p[2 * step] + p[3 * step]);
    return ((p[0] + p[step]) + (p[2 * step] + p[3 * step])) +
           ((p[4 * step] + p[5 * step]) + (p[6 * step] + p[7 * step]));
}

/* Window sums of n samples (a constant up to BOX_SMALL) `step` apart. */
SMP_INLINE void box_windows(float *restrict to, const float *in, int64_t step, int64_t lanes, int n)
{
    for (int64_t x = 0; x < (lanes & -STENCIL_LANES); x++) {
        const float *p = in + x;
        float sum = 0;
        if (n & 1)
            sum = p[0];
        if (n & 2)
            sum = n & 1 ? sum + box_block(p + (n & 1) * step, step, 2) : box_block(p, step, 2);
        if (n & 4)
            sum = n & 3 ? sum + box_block(p + (n & 3) * step, step, 4) : box_block(p, step, 4);
        if (n & 8)
            sum = n & 7 ? sum + box_block(p + (n & 7) * step, step, 8) : box_block(p, step, 8);
        to[x] = sum;
    }
}

SMP_INLINE void box_small(float *restrict to, const float *in, int64_t step, int64_t lanes, int n)
{
    if (n == BOX_SMALL)
        box_windows(to, in, step, lanes, BOX_SMALL);
    else
        SMP_BY_COUNT(n, box_windows(to, in, step, lanes, N))
}

/* to = a + b; to may be a. */
SMP_INLINE void box_add(float *to, const float *a, const float *restrict b, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        to[x] = a[x] + b[x];
}

SMP_BOX_ACROSS(box_across, float)

/* Column sums of any size for rows y .. y+rows-1. The window stays as it is. */
static void box_down(const stencil_walk *walk, const box_walk *b, int64_t lanes, int64_t rows)
{
    const int32_t n = b->box->size;
    int64_t have = rows + n - 1, at = 0;
    const float *from = walk->window;
    for (int32_t length = 1; length <= n; length *= 2) {
        if (n & length) {
            for (int64_t i = 0; i < rows; i++) {
                float *sum = b->sums + i * STENCIL_PITCH;
                const float *block = from + (at + i) * STENCIL_PITCH;
                if (at)
                    box_add(sum, sum, block, lanes);
                else
                    memcpy(sum, block, (size_t)lanes * sizeof *sum);
            }
            at += length;
        }
        if (2 * length > n)
            break;
        have -= length;
        for (int64_t i = 0; i < have; i++)
            box_add(b->doubled + i * STENCIL_PITCH, from + i * STENCIL_PITCH, from + (i + length) * STENCIL_PITCH,
                    lanes);
        from = b->doubled;
    }
}

static void make(const stencil_walk *walk, const stencil_tile *tile, int64_t y, float *row)
{
    const box_walk *b = walk->context;
    const smp_view *in = &walk->io->in;
    stencil_prefetch_in(in, tile, y + 16);
    if (!stencil_load(b->line[0], in, y, tile, smp_box_before(b->box), smp_box_after(b->box), b->box->edge, b->outside))
        stencil_fill(row, smp_box_flat(b->outside, b->box->size), tile->lanes);
    else if (b->box->size > BOX_SMALL) {
        const float *sums = box_across(b->line[0], b->line[1], row, b->box->size, in->channels, tile->lanes);
        if (sums != row)
            memcpy(row, sums, (size_t)tile->lanes * sizeof *row);
    } else if (in->channels == 1)
        box_small(row, b->line[0], 1, tile->lanes, b->box->size);
    else
        box_small(row, b->line[0], in->channels, tile->lanes, b->box->size);
}

static void emit(const stencil_walk *walk, const stencil_tile *tile, int64_t y, int64_t rows)
{
    const box_walk *b = walk->context;
    const int inside = walk->io->in.format != SMP_F32; /* integer samples stay inside 0..white */
    if (b->box->size > BOX_SMALL)
        box_down(walk, b, tile->lanes, rows);
    for (int64_t i = 0; i < rows; i++) {
        float *sum = b->sums + i * STENCIL_PITCH;
        if (b->box->size <= BOX_SMALL)
            box_small(sum, walk->window + i * STENCIL_PITCH, STENCIL_PITCH, tile->lanes, b->box->size);
        for (int64_t x = 0; x < tile->lanes; x++)
            sum[x] = smp_box_mean(sum[x], b->box->size);
        stencil_prefetch_out(&walk->io->out, tile, y + i + 8);
        stencil_store(walk->io, tile, y + i, sum, inside);
    }
}

SMP_CPU_KERNEL(box_tiled)
{
    const smp_box *box = params;
    if (SMP_PASTE(box_bytes, SMP_ISA)(io, box, scratch, y0, y1))
        return;
    const int64_t reach = box->size - 1, step = smp_stencil_step(reach);
    const size_t window = smp_stencil_window(reach, step, STENCIL_PITCH),
                 line = smp_stencil_line(reach * io->in.channels);
    float *memory = scratch;
    box_walk context = {.box = box,
                        .outside = smp_outside(box->edge, box->fill, io->in.white),
                        .doubled = memory + window,
                        .sums = memory + 2 * window,
                        .line = {memory + 2 * window + (size_t)(step * STENCIL_PITCH)}};
    context.line[1] = context.line[0] + line;
    STENCIL_RUN(.up = smp_box_before(box), .down = smp_box_after(box), .step = step, .pitch = STENCIL_PITCH,
                .window = memory);
}
