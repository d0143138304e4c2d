/* The colours of a picture that becomes a GIF: its own where they are few enough, else the best by smp_color_cut. */
#include <math.h>

#include "base/alloc.h"
#include "elementwise/palette.h"
#include "io/gif/gif_glue.h"
#include "stages/shared/samples/color_cut.h"

enum { KEPT_BITS = 14 }; /* log2 of how many colours are remembered with their nearest one */

/* A pixel to be painted; 0: none is. */
static uint32_t painted(const smp_gif_part *part, bool all, int64_t x, int64_t y)
{
    const int64_t at = (part->y + y) * part->stride + part->x + x;
    const uint32_t v = part->pixels[at];
    return !all && part->before && part->before[at] == v ? 0 : v;
}

/* False: there are too many colours. */
static bool collect(const smp_gif_part *part, smp_gif_colours *colours)
{
    uint32_t last = 0;
    smp_colour_table_clear(&colours->table);
    colours->holes = false;
    bool fits = true;
    for (int64_t y = 0; fits && y < part->height; y++)
        for (int64_t x = 0; x < part->width; x++) {
            const uint32_t v = painted(part, colours->all, x, y);
            colours->holes |= !v;
            if (v && v != last)
                fits &= smp_colour_index(&colours->table, (const uint8_t *)&v, true) != SMP_NO_COLOUR;
            last = v ? v : last;
        }
    return fits && colours->table.count + colours->holes <= SMP_COLOURS;
}

static void count_pixels(const smp_gif_part *part, const smp_palette *k, uint64_t *counts, bool *holes)
{
    enum { WIDE = 257 /* from bytes to 65535ths */ };
    *holes = false;
    for (int64_t y = 0; y < part->height; y++)
        for (int64_t x = 0; x < part->width; x++) {
            const uint32_t v = painted(part, false, x, y);
            const uint8_t *c = (const uint8_t *)&v;
            *holes |= !v;
            if (!v)
                continue;
            const int bin = k->colours == 1 ? c[0] : (c[0] >> 3) << 10 | (c[1] >> 3) << 5 | c[2] >> 3;
            uint64_t *to = counts + (size_t)bin * SMP_PALETTE_PARTS;
            to[0]++;
            for (int i = 0; i < k->colours; i++)
                to[1 + i] += (uint64_t)c[i] * WIDE;
        }
}

static smp_code cut(const smp_gif_part *part, bool gray, smp_gif_colours *colours, smp_error *err)
{
    double values[3 * SMP_PALETTE_MOST];
    const smp_palette k = {.colours = gray ? 1 : 3};
    const size_t parts = (size_t)SMP_PALETTE_BINS * SMP_PALETTE_PARTS;
    uint64_t *counts = smp_alloc_array(parts, sizeof *counts);
    SMP_NEED(counts, "colours", parts * sizeof *counts, err);
    colours->nearest = true;
    colours->all = false;
    count_pixels(part, &k, counts, &colours->holes);
    const int count = SMP_COLOURS - colours->holes;
    const smp_code code = smp_color_cut(counts, k.colours, count, values, err);
    smp_colour_table_clear(&colours->table);
    for (int i = 0; !code && i < count; i++) {
        uint8_t one[4] = {[3] = 255};
        for (int c = 0; c < 3; c++)
            one[c] = (uint8_t)lrint(values[i * k.colours + (gray ? 0 : c)] * 255);
        smp_colour_index(&colours->table, one, true);
    }
    smp_free(counts);
    return code;
}

smp_code smp_gif_find_colours(const smp_gif_part *part, bool gray, smp_gif_colours *colours, smp_error *err)
{
    colours->nearest = colours->all = false;
    if (collect(part, colours))
        return SMP_OK;
    colours->all = true;
    return collect(part, colours) ? SMP_OK : cut(part, gray, colours, err);
}

typedef struct kept { /* a colour, and its index */
    uint32_t colour;
    int32_t index;
} kept;

static int32_t nearest(const smp_colour_table *table, uint32_t v)
{
    const uint8_t *c = (const uint8_t *)&v;
    int32_t best = 0, least = INT32_MAX;
    for (int32_t i = 0; i < table->count; i++) {
        const uint8_t *t = table->colours[i];
        const int32_t r = c[0] - t[0], g = c[1] - t[1], b = c[2] - t[2], far = r * r + g * g + b * b;
        best = far < least ? i : best;
        least = far < least ? far : least;
    }
    return best;
}

smp_code smp_gif_paint(const smp_gif_part *part, smp_gif_colours *colours, uint8_t hole, uint8_t *indices,
                       smp_error *err)
{
    kept *seen = smp_alloc_array((size_t)1 << KEPT_BITS, sizeof *seen);
    SMP_NEED(seen, "colours", sizeof *seen << KEPT_BITS, err);
    for (int64_t y = 0; y < part->height; y++)
        for (int64_t x = 0; x < part->width; x++) {
            const uint32_t v = painted(part, colours->all, x, y);
            kept *one = &seen[v * 2654435761u >> (32 - KEPT_BITS)];
            if (v && one->colour != v) {
                const int index = colours->nearest ? nearest(&colours->table, v)
                                                   : smp_colour_index(&colours->table, (const uint8_t *)&v, false);
                *one = (kept){v, index};
            }
            *indices++ = v ? (uint8_t)one->index : hole;
        }
    smp_free(seen);
    return SMP_OK;
}
