/* Layers of outlines: see layers.h. */
#include "stages/shared/drawing/layers.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/launch_shapes.h"

enum { UNIT = SMP_OUTLINE_UNIT, BLOCK = SMP_DRAWN_BLOCK, BLUR_PASSES = 3, BAND = 1 << 20 /* pixels at a time */ };

static int64_t floor_px(int64_t v)
{
    return (v - (v < 0 ? UNIT - 1 : 0)) / UNIT;
}

smp_box smp_layers_box(const smp_layer *layers, int count)
{
    int64_t x0 = INT64_MAX, y0 = INT64_MAX, x1 = INT64_MIN, y1 = INT64_MIN;
    for (const smp_layer *layer = layers; layer < layers + count; layer++)
        for (size_t i = 0; i < layer->outline->count; i++) {
            const smp_vertex p = layer->outline->points[i];
            const int64_t x = floor_px(p.x + layer->by.x), y = floor_px(p.y + layer->by.y);
            const int64_t more = layer->blur * BLUR_PASSES;
            x0 = smp_min_i64(x0, x - more);
            y0 = smp_min_i64(y0, y - more);
            x1 = smp_max_i64(x1, x + 1 + more);
            y1 = smp_max_i64(y1, y + 1 + more);
        }
    return x0 < x1 ? (smp_box){x0, y0, x1 - x0, y1 - y0} : (smp_box){0, 0, 0, 0};
}

smp_code smp_check_ink(const smp_matrix *fill, const char *name, const smp_shape *in, smp_error *err)
{
    const int colours = in->channels - in->alpha;
    if (!fill->values || (fill->rows == 1 && (fill->cols == 1 || fill->cols == colours || fill->cols == colours + 1)))
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "'%s' has %d values, and the picture %d colour%s", name, fill->rows * fill->cols, colours,
             colours == 1 ? "" : "s");
    return colours == 1
               ? smp_hint(err, "give one value, or write `color rgb` before it")
               : smp_hint(err, "give one value for all colours, or one for each of three, and behind them its opacity");
}

bool smp_is_ink(const smp_matrix *fill)
{
    return fill->values && (fill->cols > 1 || fill->values[0] != 0);
}

void smp_tell_idle(bool idle, const char *name, const char *where, smp_node_plan *work)
{
    smp_effect *effect = &work->effect;
    if (idle && !effect->none && !effect->remark[0])
        snprintf(effect->remark, sizeof effect->remark, "'%s' has no effect %s", name, where);
}

/* ------------------------------------------------------------------------------------------------ coverage */

/* Each byte becomes the mean of 2 r + 1 in its row and, of rows of `to`, then in its column; what is outside counts
 * as 0. sums: a row of zeros. */
static void blur_once(uint8_t *bytes, uint8_t *to, uint32_t *sums, const smp_box *of, int64_t r)
{
    const uint64_t share = (UINT64_C(1) << 32) / (uint64_t)(2 * r + 1) + 1;
    const int64_t width = of->width, height = of->height;
    for (int64_t y = 0; y < height; y++) {
        const uint8_t *from = bytes + y * width;
        uint64_t sum = (uint64_t)r;
        for (int64_t x = -r; x < width; x++) {
            sum += x + r < width ? from[x + r] : 0u;
            if (x >= 0)
                to[y * width + x] = (uint8_t)(sum * share >> 32);
            sum -= x >= r ? from[x - r] : 0u;
        }
    }
    for (int64_t y = -r; y < height; y++) {
        const uint8_t *in = y + r < height ? to + (y + r) * width : NULL,
                      *out = y > r ? to + (y - r - 1) * width : NULL;
        for (int64_t x = 0; x < width; x++)
            sums[x] += (in ? in[x] : 0u) - (out ? out[x] : 0u);
        for (int64_t x = 0; y >= 0 && x < width; x++)
            bytes[y * width + x] = (uint8_t)((sums[x] + (uint64_t)r) * share >> 32);
    }
}

/* A layer's coverage of a band of the box; of a blurred one, of all of it and what shines in from round it. */
typedef struct coverage {
    const smp_layer *layer;
    uint32_t strength; /* of full coverage, in 255ths */
    uint8_t *bytes;
    smp_box of;
} coverage;

static bool blur(coverage *c, int64_t r)
{
    uint8_t *rows = smp_alloc_raw((size_t)c->of.width * (size_t)c->of.height);
    uint32_t *sums = smp_alloc_array((size_t)c->of.width, sizeof *sums);
    const bool made = rows && sums;
    for (int pass = 0; made && pass < BLUR_PASSES; pass++) {
        memset(sums, 0, (size_t)c->of.width * sizeof *sums);
        blur_once(c->bytes, rows, sums, &c->of, r);
    }
    smp_free_all(rows, sums);
    return made;
}

static bool fill(coverage *c, const smp_outline *outline, smp_vertex by)
{
    if (!c->bytes)
        c->bytes = smp_alloc((size_t)c->of.width * (size_t)c->of.height);
    return c->bytes && smp_outline_cover(outline, by, c->of.x, c->of.y, c->of.width, c->of.height, c->bytes);
}

/* Makes the coverage k times as large, for the box: between the middles of four pixels it changes evenly. */
static bool enlarge(coverage *c, const smp_box *box, int64_t k)
{
    uint8_t *out = smp_alloc_raw((size_t)box->width * (size_t)box->height), *to = out;
    const int64_t unit = 2 * k, half = unit * unit / 2;
    for (int64_t y = 0; out && y < box->height; y++) {
        const int64_t v = 2 * (box->y + y) + 1 - k - unit * c->of.y, down = v % unit;
        const uint8_t *row = c->bytes + v / unit * c->of.width, *below = row + c->of.width;
        for (int64_t x = 0; x < box->width; x++) {
            const int64_t u = 2 * (box->x + x) + 1 - k - unit * c->of.x, i = u / unit, right = u % unit;
            const int64_t above = row[i] * (unit - right) + row[i + 1] * right;
            const int64_t under = below[i] * (unit - right) + below[i + 1] * right;
            *to++ = (uint8_t)((above * (unit - down) + under * down + half) / (unit * unit));
        }
    }
    smp_free(c->bytes);
    c->bytes = out;
    c->of = *box;
    return out != NULL;
}

/* A wider blur than WIDEST is made of a picture that is k times smaller: its work is bounded by the box's. */
static bool cover_blurred(coverage *c, const smp_box *box)
{
    enum { WIDEST = 128 /* px */ };
    const smp_layer *layer = c->layer;
    const int64_t k = (layer->blur + WIDEST - 1) / WIDEST, r = (2 * layer->blur + 1) / (2 * k);
    const int64_t more = r * BLUR_PASSES + (k > 1);
    smp_outline small = *layer->outline;
    if (!(small.points = smp_alloc_array(small.count + 1, sizeof *small.points)))
        return false;
    for (size_t i = 0; i < small.count; i++) {
        const smp_vertex p = layer->outline->points[i];
        small.points[i] = (smp_vertex){(p.x + layer->by.x) / k, (p.y + layer->by.y) / k};
    }
    const int64_t x = box->x / k, y = box->y / k;
    c->of = (smp_box){x - more, y - more, (box->x + box->width - 1) / k - x + 1 + 2 * more,
                      (box->y + box->height - 1) / k - y + 1 + 2 * more};
    const bool made = fill(c, &small, (smp_vertex){0, 0}) && blur(c, r) && (k == 1 || enlarge(c, box, k));
    smp_free(small.points);
    return made;
}

static bool cover(coverage *c, const smp_box *box, int64_t first, int64_t rows)
{
    if (c->layer->blur)
        return c->bytes || cover_blurred(c, box);
    c->of = (smp_box){box->x, box->y + first, box->width, rows};
    return fill(c, c->layer->outline, c->layer->by);
}

/* ------------------------------------------------------------------------------------------------ the table */

typedef struct builder {
    uint32_t *words; /* the blocks' numbers, then the blocks */
    size_t count, capacity, blocks_at;
    uint32_t last; /* block */
} builder;

/* How much each layer covers of a pixel of row y of the box. */
static uint32_t shares(const coverage *layers, int count, const smp_box *box, int64_t x, int64_t y)
{
    uint32_t left = UINT8_MAX, all = 0;
    for (int i = 0; i < count; i++) {
        const coverage *c = &layers[i];
        const uint32_t part = c->bytes[(y + box->y - c->of.y) * c->of.width + x + box->x - c->of.x];
        const uint32_t covered = c->layer->outside ? UINT8_MAX - part : part, whole = UINT8_MAX * UINT8_MAX;
        const uint32_t taken = (left * covered * c->strength + whole / 2) / whole;
        all |= taken << 8 * i;
        left -= taken;
    }
    return all;
}

/* Numbers a block: that of an equal one before it or above it, where it is. */
static bool add_block(builder *b, size_t at, size_t columns, const uint32_t pixels[BLOCK])
{
    const uint32_t above = at >= columns ? b->words[at - columns] : 0, tried[] = {0, b->last, above};
    for (int i = 0; i < 3; i++)
        if (!memcmp(b->words + b->blocks_at + (size_t)tried[i] * BLOCK, pixels, BLOCK * sizeof *pixels)) {
            b->words[at] = b->last = tried[i];
            return true;
        }
    if (!smp_grow(&b->words, &b->capacity, b->count + BLOCK, sizeof *b->words))
        return false;
    memcpy(b->words + b->count, pixels, BLOCK * sizeof *pixels);
    b->words[at] = b->last = (uint32_t)((b->count - b->blocks_at) / BLOCK);
    b->count += BLOCK;
    return true;
}

static bool add_rows(builder *b, coverage *layers, int count, const smp_box *box, int64_t first, int64_t rows)
{
    const int64_t columns = (box->width + BLOCK - 1) / BLOCK;
    for (int i = 0; i < count; i++)
        if (!cover(&layers[i], box, first, rows))
            return false;
    for (int64_t y = first; y < first + rows; y++)
        for (int64_t column = 0; column < columns; column++) {
            uint32_t pixels[BLOCK] = {0};
            for (int64_t x = column * BLOCK; x < smp_min_i64((column + 1) * BLOCK, box->width); x++)
                pixels[x % BLOCK] = shares(layers, count, box, x, y);
            if (!add_block(b, (size_t)(y * columns + column), (size_t)columns, pixels))
                return false;
        }
    return true;
}

/* colours: of the picture; a fill with one value more has its opacity there. */
static bool make_table(const smp_layer *layers, int count, int colours, const smp_box *box, smp_table *table)
{
    coverage covers[SMP_DRAWN_LAYERS] = {0};
    const int64_t columns = (box->width + BLOCK - 1) / BLOCK, rows = smp_max_i64(1, BAND / box->width);
    builder b = {.blocks_at = (size_t)(columns * box->height)};
    bool made = smp_grow(&b.words, &b.capacity, b.blocks_at + BLOCK, sizeof *b.words);
    if (made)
        memset(b.words, 0, (b.blocks_at + BLOCK) * sizeof *b.words);
    b.count = b.blocks_at + BLOCK;
    for (int i = 0; i < count; i++) {
        const smp_matrix *ink = layers[i].fill;
        const bool clear = ink->values && ink->cols == colours + 1;
        covers[i].layer = &layers[i];
        covers[i].strength = clear ? (uint32_t)(ink->values[colours] * UINT8_MAX + 0.5) : UINT8_MAX;
    }
    for (int64_t y = 0; made && y < box->height; y += rows)
        made = add_rows(&b, covers, count, box, y, smp_min_i64(rows, box->height - y));
    for (int i = 0; i < count; i++)
        smp_free(covers[i].bytes);
    table->data = b.words;
    table->size = b.count * sizeof *b.words;
    return made;
}

smp_code smp_layers_plan(const smp_layer *layers, int count, smp_box box, double opacity, const smp_shape *in,
                         smp_node_plan *work, smp_error *err)
{
    smp_drawn *k = SMP_PLAN_KERNEL(work, smp_drawn);
    const int64_t x = smp_max_i64(box.x, 0), y = smp_max_i64(box.y, 0);
    const smp_box part = {x, y, smp_min_i64(box.x + box.width, in->width) - x,
                          smp_min_i64(box.y + box.height, in->height) - y};
    *k = (smp_drawn){.x = x, .y = y, .width = part.width, .height = part.height, .opacity = (float)opacity};
    k->columns = (part.width + BLOCK - 1) / BLOCK;
    for (int i = 0; i < count; i++)
        for (int c = 0; c < in->channels && layers[i].fill->values; c++)
            k->colour[i][c] =
                (float)(layers[i].fill->values[c < layers[i].fill->cols ? c : 0] * (double)smp_white(in->format));
    work->effect.none = opacity == 0 || part.width <= 0 || part.height <= 0;
    work->ops = in->alpha ? 8 : 4;
    for (int i = 0; i < count; i++)
        if (layers[i].outline->failed)
            return smp_fail(err, SMP_E_LIMIT, "what is drawn has more than %d points", SMP_OUTLINE_MOST);
    if (work->effect.none || work->probing)
        return SMP_OK;
    return make_table(layers, count, in->channels - in->alpha, &part, &work->table)
               ? SMP_OK
               : smp_fail_memory(err, "a drawing", BAND);
}

const smp_variant smp_drawn_variants[] = {
    {SMP_RUNG("naive", "sample by sample", SMP_LAUNCH_SAMPLES(drawn_naive))},
    {SMP_RUNG("tiled", "CPU: what nothing is drawn on is copied; GPU: 16 bytes a thread",
              SMP_LAUNCH(drawn_tiled, .geometry = smp_geometry_packs))},
    {0},
};
