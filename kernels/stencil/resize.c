/* resize on CPUs.
 *   naive  two launches with an f32 picture between them, sample by sample.
 *   tiled  one walk. Eight rows are turned so that their samples lie side by side: a row pass then makes eight results
 *          with each operation, whatever the ratio and the channels, without a gather. Results of the row pass wait in
 * a ring of rows, a block of columns at a time; the column pass is plain vector rows. Rows that no output row wants are
 * not touched. Where there are two taps of bytes, rows are not turned: no columns are touched in vain either. */
#include "lib/constants.h"
#include "lib/pixel_size.h"
#include "stencil/resize.h"
#include "stencil/resize_lanes.h"

#include "lib/elementwise.h"

/* ---------------------------------------------------------------------------------------------- naive */

SMP_CPU_KERNEL(resize_rows)
{
    const smp_resize *p = params;
    const int channels = io->in.channels;
    const int64_t size = smp_sample_size(io->in.format);
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->out.width; x++)
            for (int c = 0; c < channels; c++)
                ((float *)smp_row(&io->out, y))[x * channels + c] =
                    smp_resize_sample(&p->across, p->kind, io->table, x, (const char *)smp_row(&io->in, y) + c * size,
                                      0, channels * size, io->in.format);
}

SMP_CPU_KERNEL(resize_columns)
{
    const smp_resize *p = params;
    const int64_t n = io->out.width * io->out.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t i = 0; i < n; i++) {
            const float v = smp_resize_sample(&p->down, p->kind, io->table, y, (const float *)io->in.data + i,
                                              io->in.y0, io->in.stride, SMP_F32);
            smp_put(io, smp_row(&io->out, y), i, smp_resize_last(p->kind, v));
        }
}

/* ---------------------------------------------------------------------------------------------- tiled: a move */

/* n pixels of `size` bytes from where `start` says. */
SMP_INLINE void resize_pick_as(char *restrict to, const char *restrict from, const int32_t *start, int64_t n,
                               size_t size)
{
    for (int64_t x = 0; x < n; x++)
        memcpy(to + (size_t)x * size, from + (size_t)start[2 * x] * size, size);
}

static void resize_pick(char *to, const char *from, const int32_t *start, int64_t n, size_t size)
{
    SMP_BY_PIXEL_SIZE(size, resize_pick_as(to, from, start, n, N))
}

static void resize_move_row(const smp_io *io, const smp_resize *p, char *to, const char *from)
{
    const int64_t channels = io->in.channels, in = channels * smp_sample_size(io->in.format);
    const int64_t out = channels * smp_sample_size(io->out.format), block = SMP_BLOCK / channels;
    const int32_t *start = (const int32_t *)io->table + p->across.starts;
    char picked[SMP_BLOCK * sizeof(float)] __attribute__((aligned(64)));
    float loaded[SMP_BLOCK] __attribute__((aligned(64)));
    if (io->in.format == io->out.format && !p->across.taps)
        memcpy(to, from, (size_t)(io->out.width * out));
    else if (io->in.format == io->out.format)
        resize_pick(to, from, start, io->out.width, (size_t)out);
    else
        for (int64_t x = 0; x < io->out.width; x += block) {
            const int64_t n = io->out.width - x < block ? io->out.width - x : block;
            const char *pixels = from + x * in;
            if (p->across.taps) {
                resize_pick(picked, from, start + 2 * x, n, (size_t)in);
                pixels = picked;
            }
            smp_load_row(loaded, pixels, io->in.format, n * channels);
            smp_store_row(to + x * out, io->out.format, loaded, n * channels, io->clipped);
        }
}

static void resize_move(const smp_io *io, const smp_resize *p, int64_t y0, int64_t y1)
{
    const size_t bytes = (size_t)(io->out.width * io->out.channels * smp_sample_size(io->out.format));
    const int same = io->in.format == io->out.format;
    int64_t last = -1;
    for (int64_t y = y0; y < y1; y++) {
        const int64_t from = p->down.taps ? smp_resize_taps_of(&p->down, io->table, y).first : y;
        if (from == last && same)
            memcpy(smp_row(&io->out, y), smp_row(&io->out, y - 1), bytes);
        else
            resize_move_row(io, p, smp_row(&io->out, y), smp_row(&io->in, from));
        last = from;
    }
}

/* ---------------------------------------------------------------------------------------------- tiled: picked */

/* Two taps of bytes: the pixels of a block are picked from their row, all first ones and all second ones, and meet
 * weights that are written out for every sample. */
typedef struct resize_picked {
    float *weights[2];
    uint8_t *pixels[2];       /* with RESIZE_BEHIND bytes of room behind them */
    uint8_t places[2][2][16]; /* of the first, second ones of four pixels: bytes of two pairs, of the next two */
} resize_picked;

enum { RESIZE_BEHIND = 16 };

static int resize_picks(const smp_io *io, const smp_resize *p)
{
    return p->kind == SMP_RESIZE_FLOAT && io->in.format == SMP_U8 && io->in.channels <= 4 && p->across.taps > 0 &&
           p->across.taps <= 2;
}

/* Lies where else samples are turned, and results of them: two floats and two bytes a sample. */
_Static_assert((SMP_RESIZE_TURNED + SMP_RESIZE_MADE) * SMP_RESIZE_LANES * 4 >=
                   SMP_RESIZE_RING_WORDS / (SMP_RESIZE_LANES + 1) * 10 + 2 * RESIZE_BEHIND,
               "a block of the ring's samples has room");
static resize_picked resize_pick_begin(const smp_io *io, const smp_resize *p, int32_t *words, int64_t x, int64_t pixels)
{
    const int channels = io->in.channels;
    const int64_t n = pixels * channels;
    resize_picked picked;
    for (int k = 0; k < 2; k++) {
        picked.weights[k] = (float *)(void *)words + k * n;
        picked.pixels[k] = (uint8_t *)(words + 2 * n) + k * (n + RESIZE_BEHIND);
    }
    memset(picked.places, 0x80, sizeof picked.places); /* none: 0 */
    for (int i = 0; i < 4 * channels; i++)
        for (int k = 0; k < 2; k++)
            picked.places[k][i / channels / 2][i] =
                (uint8_t)(i / channels % 2 * (int)sizeof(uint64_t) + i % channels + k * channels);
    for (int64_t i = 0; i < n; i++) {
        const smp_resize_taps taps = smp_resize_taps_of(&p->across, io->table, x + i / channels);
        for (int k = 0; k < 2; k++)
            picked.weights[k][i] = k < taps.count ? smp_resize_weight(taps.weight + k) : 0.f;
    }
    return picked;
}

SMP_INLINE void resize_pick_pairs(const smp_io *io, const resize_picked *to, const uint8_t *row, const int32_t *starts,
                                  int64_t n, int channels)
{
    uint8_t *restrict first = to->pixels[0], *restrict second = to->pixels[1];
    const int64_t whole = io->in.width - ((int64_t)sizeof(uint64_t) + channels - 1) / channels;
    int64_t i = 0;
#ifdef __AVX2__
    const __m128i *places = (const __m128i *)(const void *)to->places;
    const __m128i a0 = _mm_loadu_si128(places), a1 = _mm_loadu_si128(places + 1);
    const __m128i b0 = _mm_loadu_si128(places + 2), b1 = _mm_loadu_si128(places + 3);
    for (; i + 4 <= n && starts[2 * i + 6] <= whole; i += 4, first += 4 * channels, second += 4 * channels) {
        int64_t pair[4];
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++)
            memcpy(&pair[k], row + (int64_t)starts[2 * (i + k)] * channels, sizeof pair[k]);
        const __m128i two = _mm_set_epi64x(pair[1], pair[0]), more = _mm_set_epi64x(pair[3], pair[2]);
        _mm_storeu_si128((__m128i_u *)(void *)first,
                         _mm_or_si128(_mm_shuffle_epi8(two, a0), _mm_shuffle_epi8(more, a1)));
        _mm_storeu_si128((__m128i_u *)(void *)second,
                         _mm_or_si128(_mm_shuffle_epi8(two, b0), _mm_shuffle_epi8(more, b1)));
    }
#endif
    for (; i < n; i++, first += channels, second += channels) {
        uint64_t pair = 0;
        if (starts[2 * i] <= whole)
            memcpy(&pair, row + starts[2 * i] * channels, sizeof pair);
        else
            memcpy(&pair, row + starts[2 * i] * channels, (size_t)((io->in.width - starts[2 * i]) * channels));
        const uint32_t one = (uint32_t)pair, two = (uint32_t)(pair >> 8 * channels);
        memcpy(first, &one, sizeof one);
        memcpy(second, &two, sizeof two);
    }
}

/* The row pass of n pixels of a row, from x on. */
static void resize_pick_across(const smp_io *io, const smp_resize *p, const resize_picked *picked, float *restrict to,
                               const uint8_t *row, int64_t x, int64_t n)
{
    const int32_t *starts = (const int32_t *)io->table + p->across.starts + 2 * x;
    const int channels = io->in.channels;
    SMP_BY_CHANNELS(channels, resize_pick_pairs(io, picked, row, starts, n, N))
    const float *restrict w0 = picked->weights[0], *restrict w1 = picked->weights[1];
    const uint8_t *restrict one = picked->pixels[0], *restrict two = picked->pixels[1];
    for (int64_t i = 0; i < n * channels; i++)
        to[i] = fmaf(w1[i], (float)two[i], fmaf(w0[i], (float)one[i], 0.f));
}

/* ---------------------------------------------------------------------------------------------- tiled: rows */

/* Pixels from .. to-1 of eight rows, turned. */
typedef struct resize_turned {
    int32_t *words;
    int64_t from, to;
    const char *rows[SMP_RESIZE_LANES]; /* the first pixel of each */
} resize_turned;

/* Makes pixels from `at` on present, as many as fit. */
static void resize_bring(const smp_io *io, resize_turned *t, int64_t at, int fixed)
{
    const int64_t channels = io->in.channels, size = smp_sample_size(io->in.format);
    const int64_t most = SMP_RESIZE_TURNED / channels, end = at + most < io->in.width ? at + most : io->in.width;
    const int64_t kept = at >= t->from && at < t->to ? t->to - at : 0, words = channels * SMP_RESIZE_LANES;
    const char *rows[SMP_RESIZE_LANES];
    if (kept)
        memmove(t->words, t->words + (at - t->from) * words, (size_t)(kept * words) * sizeof *t->words);
    for (int r = 0; r < SMP_RESIZE_LANES; r++)
        rows[r] = t->rows[r] + (at + kept) * channels * size;
    resize_turn_in(t->words + kept * words, rows, (end - at - kept) * channels, io->in.format, fixed);
    t->from = at;
    t->to = end;
}

/* The row pass of pixels x .. x+n-1 of eight rows. */
SMP_INLINE void resize_pixels(const smp_io *io, const smp_resize *p, resize_turned *t, int32_t *made, int64_t x,
                              int64_t n, int channels, int fixed)
{
    for (int64_t i = 0; i < n; i++, made += channels * SMP_RESIZE_LANES) {
        const smp_resize_taps taps = smp_resize_taps_of(&p->across, io->table, x + i);
        resize_lanes sum[SMP_MAX_CHANNELS];
        for (int c = 0; c < channels; c++)
            sum[c] = resize_zero(fixed);
        for (int64_t k = 0; k < taps.count;) {
            const int64_t at = taps.first + k, end = taps.first + taps.count;
            if (at < t->from || at >= t->to || (end > t->to && at > t->from))
                resize_bring(io, t, at, fixed);
            const int64_t here = (t->to < end ? t->to : end) - at;
            const int32_t *from = t->words + (at - t->from) * channels * SMP_RESIZE_LANES;
            for (int64_t j = 0; j < here; j++)
                for (int c = 0; c < channels; c++, from += SMP_RESIZE_LANES)
                    sum[c] = resize_tap(sum[c], taps.weight + k + j, resize_load(from), fixed);
            k += here;
        }
        for (int c = 0; c < channels; c++)
            resize_keep(made + c * SMP_RESIZE_LANES, fixed ? resize_bytes(sum[c]) : sum[c]);
    }
}

SMP_INLINE void resize_pixels_as(const smp_io *io, const smp_resize *p, resize_turned *t, int32_t *made, int64_t x,
                                 int64_t n, int fixed)
{
    switch (io->in.channels) {
    case 1:
        resize_pixels(io, p, t, made, x, n, 1, fixed);
        break;
    case 2:
        resize_pixels(io, p, t, made, x, n, 2, fixed);
        break;
    case 3:
        resize_pixels(io, p, t, made, x, n, 3, fixed);
        break;
    case 4:
        resize_pixels(io, p, t, made, x, n, 4, fixed);
        break;
    default:
        resize_pixels(io, p, t, made, x, n, io->in.channels, fixed);
    }
}

/* One block of columns, as it walks down. */
typedef struct resize_walk {
    const smp_io *io;
    const smp_resize *p;
    smp_resize_layout layout;
    int32_t *words;     /* the scratch memory; begins with the ring */
    int64_t x, pixels;  /* the block */
    int64_t next;       /* the input row that is to be made next */
    int64_t wanted, y1; /* the output row that wants it; the end of the output rows */
    int64_t made;       /* input rows made so far: their places in the ring */
    int picks;          /* by resize_pick_across() */
    resize_picked picked;
} resize_walk;

static int32_t *resize_ring(const resize_walk *walk, int64_t place)
{
    return walk->words + place % walk->layout.rows * walk->layout.stride;
}

/* The input rows of output row y. */
static smp_resize_taps resize_rows_of(const resize_walk *walk, int64_t y)
{
    const smp_resize_taps same = {(int32_t)y, 1, NULL};
    return walk->p->down.taps ? smp_resize_taps_of(&walk->p->down, walk->io->table, y) : same;
}

/* The next input rows that output rows want, up to eight. Returns how many. */
static int resize_next_rows(resize_walk *walk, int64_t rows[SMP_RESIZE_LANES])
{
    int count = 0;
    while (count < SMP_RESIZE_LANES && walk->wanted < walk->y1) {
        const smp_resize_taps taps = resize_rows_of(walk, walk->wanted);
        const int64_t end = taps.first + taps.count;
        walk->next = walk->next > taps.first ? walk->next : taps.first;
        while (walk->next < end && count < SMP_RESIZE_LANES)
            rows[count++] = walk->next++;
        walk->wanted += walk->next >= end;
    }
    return count;
}

/* The row pass of the next rows, into the ring. */
static void resize_across(resize_walk *walk, int fixed)
{
    const smp_io *io = walk->io;
    const int64_t channels = io->in.channels, block = SMP_RESIZE_MADE / channels;
    int32_t *made = walk->words + walk->layout.made, *to[SMP_RESIZE_LANES];
    int64_t rows[SMP_RESIZE_LANES];
    const int count = resize_next_rows(walk, rows);
    const int64_t place = walk->made;
    walk->made += count;
    if (!walk->p->across.taps) {
        const int64_t skip = walk->x * channels * smp_sample_size(io->in.format);
        for (int r = 0; r < count; r++)
            resize_words(resize_ring(walk, place + r), (const char *)smp_row(&io->in, rows[r]) + skip,
                         walk->pixels * channels, io->in.format, fixed);
        return;
    }
    if (walk->picks) {
        for (int r = 0; r < count; r++)
            resize_pick_across(io, walk->p, &walk->picked, (float *)(void *)resize_ring(walk, place + r),
                               smp_row(&io->in, rows[r]), walk->x, walk->pixels);
        return;
    }
    resize_turned turned = {.words = walk->words + walk->layout.turned};
    for (int r = 0; r < SMP_RESIZE_LANES; r++)
        turned.rows[r] = smp_row(&io->in, rows[r < count ? r : count - 1]);
    for (int64_t x = 0; x < walk->pixels; x += block) {
        const int64_t n = walk->pixels - x < block ? walk->pixels - x : block;
        if (fixed)
            resize_pixels_as(io, walk->p, &turned, made, walk->x + x, n, 1);
        else
            resize_pixels_as(io, walk->p, &turned, made, walk->x + x, n, 0);
        for (int r = 0; r < count; r++)
            to[r] = resize_ring(walk, place + r) + x * channels;
        resize_turn_out(to, count, made, n * channels);
    }
}

/* ---------------------------------------------------------------------------------------------- tiled: columns */

/* `count` groups of eight sums, from sample i on, of the rows of `taps`, which begin at place `begin`. */
SMP_INLINE void resize_down_groups(const resize_walk *walk, const smp_resize_taps *taps, int64_t begin, int64_t i,
                                   int32_t *to, int count, int fixed)
{
    const int64_t rows = walk->layout.rows, stride = walk->layout.stride;
    const int64_t before = rows - begin < taps->count ? rows - begin : taps->count; /* rows before the ring's end */
    resize_lanes sum[8];
    const int32_t *from = walk->words + begin * stride + i;
#pragma GCC unroll 8
    for (int g = 0; g < count; g++)
        sum[g] = resize_zero(fixed);
    for (int64_t k = 0; k < taps->count; k++, from += stride) {
        if (k == before)
            from = walk->words + i;
#pragma GCC unroll 8
        for (int g = 0; g < count; g++)
            sum[g] = resize_tap(sum[g], taps->weight + k, resize_load(from + 8 * g), fixed);
    }
#pragma GCC unroll 8
    for (int g = 0; g < count; g++)
        resize_keep(to + 8 * g, fixed ? resize_bytes(sum[g]) : sum[g]);
}

SMP_INLINE void resize_down_as(const resize_walk *walk, const smp_resize_taps *taps, int64_t place, int64_t i,
                               int64_t n, int32_t *to, int fixed)
{
    const int64_t begin = place % walk->layout.rows;
    int64_t j = 0;
    for (; j + 64 <= n; j += 64)
        resize_down_groups(walk, taps, begin, i + j, to + j, 8, fixed);
    for (; j < n; j += 8)
        resize_down_groups(walk, taps, begin, i + j, to + j, 1, fixed);
}

/* Output row y of the block, of the rows from `place` on. */
static void resize_down(const resize_walk *walk, int64_t y, int64_t place, int fixed)
{
    const smp_io *io = walk->io;
    const int64_t n = walk->pixels * io->out.channels, first = walk->x * io->out.channels;
    const int64_t size = smp_sample_size(io->out.format);
    char *out = (char *)smp_row(&io->out, y) + first * size;
    union {
        int32_t word[SMP_BLOCK + 8];
        float value[SMP_BLOCK + 8];
    } made __attribute__((aligned(64)));
    for (int64_t i = 0; i < n; i += SMP_BLOCK) {
        const int64_t some = n - i < SMP_BLOCK ? n - i : SMP_BLOCK;
        if (walk->p->down.taps) {
            const smp_resize_taps taps = resize_rows_of(walk, y);
            if (fixed)
                resize_down_as(walk, &taps, place, i, some, made.word, 1);
            else
                resize_down_as(walk, &taps, place, i, some, made.word, 0);
        } else {
            memcpy(made.word, resize_ring(walk, place) + i, (size_t)some * sizeof made.word[0]);
        }
        if (fixed)
            for (int64_t j = 0; j < some; j++)
                made.value[j] = (float)made.word[j];
        else if (io->out.format == SMP_F32)
            for (int64_t j = 0; j < some; j++)
                made.value[j] = smp_one_nan(made.value[j]);
        smp_store_row(out + i * size, io->out.format, made.value, some, io->clipped);
    }
}

SMP_CPU_KERNEL(resize_tiled)
{
    const smp_resize *p = params;
    const int fixed = p->kind == SMP_RESIZE_FIXED;
    if (p->kind == SMP_RESIZE_MOVE) {
        resize_move(io, p, y0, y1);
        return;
    }
    resize_walk walk = {.io = io, .p = p, .words = scratch, .y1 = y1, .picks = resize_picks(io, p)};
    walk.layout = smp_resize_layout_of(p, io->out.width, io->out.channels);
    for (walk.x = 0; walk.x < io->out.width; walk.x += walk.layout.pixels) {
        const int64_t left = io->out.width - walk.x;
        walk.pixels = left < walk.layout.pixels ? left : walk.layout.pixels;
        if (walk.picks)
            walk.picked = resize_pick_begin(io, p, walk.words + walk.layout.turned, walk.x, walk.pixels);
        walk.next = walk.made = 0;
        walk.wanted = y0;
        smp_resize_taps last = resize_rows_of(&walk, y0);
        for (int64_t y = y0, place = 0; y < y1; y++) {
            const smp_resize_taps taps = resize_rows_of(&walk, y);
            /* rows that only output rows before this one need; those between two rows' were not made */
            place += (taps.first < last.first + last.count ? taps.first : last.first + last.count) - last.first;
            while (walk.next < taps.first + taps.count)
                resize_across(&walk, fixed);
            resize_down(&walk, y, place, fixed);
            last = taps;
        }
    }
}
