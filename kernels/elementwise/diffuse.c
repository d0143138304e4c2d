/* diffuse on CPUs: a thread a channel, or one where colours choose together. What a pixel waits for is the limit: the
 * error of its left neighbour. Levels take 0.8 of the speed of Pillow, which has the same chain.
 *   naive  pixel by pixel.
 *   tiled  rows side by side, each two columns behind the one above, so that what a row hands down is there in time.
 *          Of levels four, which the processor overlaps; of palettes 16 in vectors, since the search takes longest. */
#include "elementwise/diffuse.h"

#include <string.h>

enum { LANES = SMP_DIFFUSE_LANES, STEPS = SMP_DIFFUSE_STEPS };

SMP_CPU_KERNEL(diffuse_naive)
{
    const smp_palette *p = params;
    for (int64_t part = y0; part < y1; part++)
        if (p->colours == 3)
            smp_diffuse_part(io, p, 0, 3);
        else
            smp_diffuse_part(io, p, (int)part, 1);
}

/* For one row in each lane: samples of some steps, the errors that lanes wait for, and what they chose. */
typedef struct walk {
    int32_t code[3][STEPS][LANES] __attribute__((aligned(64)));
    int32_t left[3][LANES + 16], up[3][LANES], before[3][LANES]; /* left[c][1 + lane], for the lane below [lane] */
    uint8_t chosen[STEPS][LANES] __attribute__((aligned(64)));
} walk;
_Static_assert(sizeof(walk) <= SMP_DIFFUSE_SCRATCH, "the memory that a thread has");

/* Samples of row y, whose column at step s is s - 2 lane, into a lane; those outside become 0. */
static void load_lane(walk *w, const smp_io *io, const smp_palette *p, int64_t y, int lane, int64_t s,
                      const int colours)
{
    const void *row = smp_row(&io->in, y);
    for (int64_t i = 0; i < STEPS; i++) {
        const int64_t x = s + i - 2 * lane;
        for (int c = 0; c < colours; c++)
            w->code[c][i][lane] = x >= 0 && x < io->in.width
                                      ? smp_diffuse_code(smp_load(row, x * io->in.channels + c, io->in.format), p)
                                      : 0;
    }
}

SMP_INLINE void choose(int32_t *restrict chosen, int32_t (*restrict v)[LANES], const smp_palette *p,
                       const int32_t *codes, const int colours)
{
    float best[LANES];
    for (int i = 0; i < LANES; i++)
        best[i] = INFINITY, chosen[i] = 0;
    for (int32_t k = 0; k < p->count; k++)
        for (int i = 0; i < LANES; i++) {
            float far = 0.f;
            for (int c = colours - 1; c >= 0; c--)
                far = smp_palette_far(far, (float)v[c][i], (float)codes[k * colours + c]);
            chosen[i] = far < best[i] ? k : chosen[i];
            best[i] = far < best[i] ? far : best[i];
        }
}

/* One step of all lanes. errors: what the row above hands to the first one, at its column `s`. */
SMP_INLINE void take_step(walk *w, int64_t at, int64_t s, const smp_io *io, const smp_palette *p, const int32_t *codes,
                          const int32_t *errors, int64_t step, const int colours)
{
    const int64_t width = io->in.width;
    int32_t v[3][LANES], right[3][LANES], chosen[LANES], inside[LANES];
    for (int i = 0; i < LANES; i++)
        inside[i] = s - 2 * i >= 0 && s - 2 * i < width ? -1 : 0;
    for (int c = 0; c < colours; c++) {
        w->left[c][0] = errors && s + 1 < width ? errors[(s + 1) * step + c] : 0;
        memcpy(right[c], w->left[c], sizeof right[c]);
        for (int i = 0; i < LANES; i++)
            v[c][i] = smp_diffuse_sum(w->code[c][at][i], w->left[c][1 + i], right[c][i], w->up[c][i], w->before[c][i],
                                      p->white);
    }
    choose(chosen, v, p, codes, colours);
    for (int c = 0; c < colours; c++)
        for (int i = 0; i < LANES; i++) {
            w->before[c][i] = w->up[c][i];
            w->up[c][i] = right[c][i];
            w->left[c][1 + i] = (v[c][i] - codes[chosen[i] * colours + c]) & inside[i];
        }
    for (int i = 0; i < LANES; i++)
        w->chosen[at][i] = (uint8_t)chosen[i];
}

SMP_INLINE void rows_of(walk *w, const smp_io *io, const smp_palette *p, int64_t y, const int colours)
{
    const int64_t width = io->in.width, left = io->in.height - y;
    const int rows = (int)(left < LANES ? left : LANES);
    const int32_t *codes = smp_palette_codes(p, io->table);
    const int64_t step = colours, end = width + 2 * (rows - 1);
    int32_t *errors = smp_diffuse_errors(&io->out, io->in.height);
    memset(w, 0, sizeof *w);
    for (int c = 0; c < colours; c++)
        w->up[c][0] = y ? errors[c] : 0;
    for (int64_t s = 0; s < end; s += STEPS) {
        const int64_t n = end - s < STEPS ? end - s : STEPS;
        for (int lane = 0; lane < rows; lane++)
            load_lane(w, io, p, y + lane, lane, s, colours);
        for (int64_t i = 0; i < n; i++) {
            const int64_t x = s + i - 2 * (rows - 1);
            take_step(w, i, s + i, io, p, codes, y ? errors : NULL, step, colours);
            for (int c = 0; c < colours && x >= 0; c++) /* the first lane has read beyond it */
                errors[x * step + c] = w->left[c][rows];
        }
        for (int lane = 0; lane < rows; lane++) {
            uint8_t *to = (uint8_t *)smp_row(&io->out, y + lane);
            for (int64_t i = 0; i < n; i++) {
                const int64_t x = s + i - 2 * lane;
                if (x >= 0 && x < width)
                    to[x] = w->chosen[i][lane];
            }
        }
    }
}

/* Levels: four rows of scalars, whose sums the processor works out side by side. */
enum { ROWS = 4 };

typedef struct level_rows {
    const void *from[ROWS];
    uint8_t *to[ROWS];
    int32_t left[ROWS], up[ROWS], before[ROWS];
} level_rows;

/* Column `at` of the first of `rows` rows, and of each other two columns before that of the one above. inside: all of
 * these columns, and the one that follows the first, are in the picture. */
SMP_INLINE void level_step(level_rows *r, const smp_palette *p, const int32_t *codes, int32_t *errors, int64_t at,
                           int64_t width, int rows, int64_t channels, int64_t parts, const int format, const int first,
                           const int inside)
{
    for (int i = rows - 1; i >= 0; i--) {
        const int64_t x = at - 2 * i;
        if (!inside && (x < -1 || x >= width))
            continue;
        const int32_t right = i ? (inside || x + 1 < width ? r->left[i - 1] : 0)
                                : (!first && (inside || x + 1 < width) ? errors[(x + 1) * parts] : 0);
        if (inside || x >= 0) {
            const int32_t code = format == SMP_U8    ? ((const uint8_t *)r->from[i])[x * channels]
                                 : format == SMP_U16 ? ((const uint16_t *)r->from[i])[x * channels]
                                                     : smp_diffuse_code(((const float *)r->from[i])[x * channels], p);
            const int32_t v = smp_diffuse_sum(code, r->left[i], right, r->up[i], r->before[i], p->white);
            const int32_t k = smp_diffuse_level(v, p);
            r->left[i] = v - codes[k];
            r->to[i][x * parts] = (uint8_t)k;
            if (i == rows - 1)
                errors[x * parts] = r->left[i];
        }
        r->before[i] = r->up[i];
        r->up[i] = right;
    }
}

SMP_INLINE void levels_of(const smp_io *io, const smp_palette *p, int64_t y, int part, const int format)
{
    const int64_t width = io->in.width, height = io->in.height, channels = io->in.channels;
    const int rows = (int)(height - y < ROWS ? height - y : ROWS), parts = smp_diffuse_parts(p, &io->in);
    const int32_t *codes = smp_palette_codes(p, io->table);
    int32_t *errors = smp_diffuse_errors(&io->out, height) + part;
    const int64_t size = smp_sample_size(format), end = width + 2 * (rows - 1);
    level_rows r = {.up = {y ? errors[0] : 0}};
    for (int i = 0; i < rows; i++) {
        r.from[i] = (const char *)smp_row(&io->in, y + i) + part * size;
        r.to[i] = (uint8_t *)smp_row(&io->out, y + i) + part;
    }
    int64_t at = 0;
    for (; at < end && at < 2 * ROWS; at++)
        level_step(&r, p, codes, errors, at, width, rows, channels, parts, format, y == 0, 0);
    for (; y && rows == ROWS && at < width - 1; at++)
        level_step(&r, p, codes, errors, at, width, ROWS, channels, parts, format, 0, 1);
    for (; at < end; at++)
        level_step(&r, p, codes, errors, at, width, rows, channels, parts, format, y == 0, 0);
}

SMP_CPU_KERNEL(diffuse_tiled)
{
    const smp_palette own = *(const smp_palette *)params;
    for (int64_t part = y0; part < y1; part++)
        for (int64_t y = 0; y < io->in.height; y += own.colours ? LANES : ROWS)
            if (own.colours == 3)
                rows_of(scratch, io, &own, y, 3);
            else if (own.colours)
                rows_of(scratch, io, &own, y, 1);
            else if (io->in.format == SMP_U8)
                levels_of(io, &own, y, (int)part, SMP_U8);
            else if (io->in.format == SMP_U16)
                levels_of(io, &own, y, (int)part, SMP_U16);
            else
                levels_of(io, &own, y, (int)part, SMP_F32);
}

SMP_CPU_KERNEL(diffuse_paint)
{
    const int channels = io->out.channels;
    const int64_t block = SMP_BLOCK / channels, size = channels * smp_sample_size(io->out.format);
    const float *table = io->table;
    float made[SMP_BLOCK] __attribute__((aligned(64)));
    for (int64_t y = y0; y < y1; y++) {
        const uint8_t *bytes = (const uint8_t *)smp_row(&io->in, y);
        char *to = smp_row(&io->out, y);
        for (int64_t x = 0; x < io->out.width; x += block) {
            const int64_t n = io->out.width - x < block ? io->out.width - x : block;
            if (channels == io->in.channels) /* each sample has a byte, and there is no alpha */
                for (int64_t i = 0; i < n * channels; i++)
                    made[i] = table[bytes[x * channels + i]];
            else
                for (int64_t i = 0; i < n; i++)
                    for (int c = 0; c < channels; c++)
                        made[i * channels + c] = smp_diffuse_value(io, params, bytes, y, x + i, c);
            smp_store_row(to + x * size, io->out.format, made, n * channels, NULL);
        }
    }
}
