/* transpose and its family on the CPU.
 *   naive  pixel by pixel in output order: the definition. Where rows and columns swap, every read touches another
 *          cache line, which is evicted before its neighbour is read.
 *   tiled  tiles whose rows fill cache lines on both sides. Pixels of 1, 2, 4 and 8 bytes go through blocks of vectors:
 *          log2(n) passes of "rows 2i, 2i+1 = interleave(row i, row i+n/2)" transpose n x n elements in registers.
 *          Pixels of 3 bytes move as 4; the next pixel overwrites the fourth. Mirrors are negative strides and cost
 *          nothing. Where input and output are stored differently, a tile is transposed first and then converted row by
 *          row. */
#include <stdbool.h>
#include <string.h>

#include "geometry/transpose.h"
#include "lib/elementwise.h"
#include "lib/pixel_size.h"
#include "lib/streaming_store.h"

SMP_CPU_KERNEL(transpose_naive)
{
    const smp_orientation *p = params;
    int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->out.width; x++) {
            int64_t sx, sy;
            smp_transpose_source(p->orientation, io->in.width, io->in.height, x, y, &sx, &sy);
            for (int c = 0; c < channels; c++)
                smp_put(io, smp_row(&io->out, y), x * channels + c,
                        smp_load(smp_row(&io->in, sy), sx * channels + c, io->in.format));
        }
}

/* ---------------------------------------------------------------------------------------------- blocks of vectors */

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(mask, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(mask, a, b, ...) __builtin_shuffle(a, b, (mask){__VA_ARGS__})
#endif

#define LOW_2   0, 2
#define HIGH_2  1, 3
#define LOW_4   0, 4, 1, 5
#define HIGH_4  2, 6, 3, 7
#define LOW_8   0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_8  4, 12, 5, 13, 6, 14, 7, 15
#define LOW_16  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31

/* NAME(to, to_stride, from, from_stride) transposes N x N elements; strides in bytes, of any sign. */
#define TRANSPOSE_BLOCK(NAME, ELEMENT, N, LOW, HIGH)                                                                   \
    typedef ELEMENT NAME##_vector __attribute__((vector_size(N * sizeof(ELEMENT))));                                   \
    SMP_INLINE void NAME(char *restrict to, ptrdiff_t to_stride, const char *restrict from, ptrdiff_t from_stride)     \
    {                                                                                                                  \
        NAME##_vector a[N], b[N];                                                                                      \
        for (int i = 0; i < N; i++)                                                                                    \
            memcpy(&a[i], from + i * from_stride, sizeof a[i]);                                                        \
        _Pragma("GCC unroll 4") for (int round = 1; round < N; round *= 2)                                             \
        {                                                                                                              \
            _Pragma("GCC unroll 8") for (int i = 0; i < N / 2; i++)                                                    \
            {                                                                                                          \
                b[2 * i] = SHUFFLE(NAME##_vector, a[i], a[i + N / 2], LOW);                                            \
                b[2 * i + 1] = SHUFFLE(NAME##_vector, a[i], a[i + N / 2], HIGH);                                       \
            }                                                                                                          \
            _Pragma("GCC unroll 16") for (int i = 0; i < N; i++) a[i] = b[i];                                          \
        }                                                                                                              \
        for (int i = 0; i < N; i++)                                                                                    \
            memcpy(to + i * to_stride, &a[i], sizeof a[i]);                                                            \
    }

/* The same where a vector is two lanes of 16 bytes that shuffles do not cross: rows i and i + N/2 share a vector, half
 * of each, so that passes stay within lanes: a third of the shuffles. */
#define TRANSPOSE_LANES(NAME, ELEMENT, N, LOW, HIGH, BOTH)                                                             \
    typedef ELEMENT NAME##_half __attribute__((vector_size(16)));                                                      \
    typedef ELEMENT NAME##_vector __attribute__((vector_size(32)));                                                    \
    SMP_INLINE void NAME(char *restrict to, ptrdiff_t to_stride, const char *restrict from, ptrdiff_t from_stride)     \
    {                                                                                                                  \
        _Pragma("GCC unroll 2") for (int half = 0; half < 2; half++)                                                   \
        {                                                                                                              \
            NAME##_vector a[N / 2], b[N / 2];                                                                          \
            for (int i = 0; i < N / 2; i++) {                                                                          \
                NAME##_half low, high;                                                                                 \
                memcpy(&low, from + i * from_stride + 16 * half, sizeof low);                                          \
                memcpy(&high, from + (i + N / 2) * from_stride + 16 * half, sizeof high);                              \
                a[i] = __builtin_shufflevector(low, high, BOTH);                                                       \
            }                                                                                                          \
            _Pragma("GCC unroll 2") for (int round = 1; round < N / 2; round *= 2)                                     \
            {                                                                                                          \
                _Pragma("GCC unroll 2") for (int i = 0; i < N / 4; i++)                                                \
                {                                                                                                      \
                    b[2 * i] = __builtin_shufflevector(a[i], a[i + N / 4], LOW);                                       \
                    b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + N / 4], HIGH);                                  \
                }                                                                                                      \
                _Pragma("GCC unroll 4") for (int i = 0; i < N / 2; i++) a[i] = b[i];                                   \
            }                                                                                                          \
            for (int i = 0; i < N / 2; i++)                                                                            \
                memcpy(to + (i + half * N / 2) * to_stride, &a[i], sizeof a[i]);                                       \
        }                                                                                                              \
    }

/* Elements of a vector: as wide as registers for 4 and 8 bytes; 16 bytes for the small ones, whose interleaving does
 * not cross the 16-byte lanes of x86 shuffles. */
#if defined(__AVX512F__)
#define WORDS 16
#define LONGS 8
#elif defined(__AVX2__)
#define WORDS 8
#define LONGS 4
#else
#define WORDS 4
#define LONGS 2
#endif
#define LOW(n)  SMP_PASTE(LOW, n)
#define HIGH(n) SMP_PASTE(HIGH, n)

TRANSPOSE_BLOCK(block_1, uint8_t, 16, LOW_16, HIGH_16)
TRANSPOSE_BLOCK(block_2, uint16_t, 8, LOW_8, HIGH_8)
#if defined(__AVX2__) && !defined(__AVX512F__) && (defined(__clang__) || __GNUC__ >= 12)
#define IN_LANES_LOW_8  0, 8, 1, 9, 4, 12, 5, 13
#define IN_LANES_HIGH_8 2, 10, 3, 11, 6, 14, 7, 15
#define IN_LANES_LOW_4  0, 4, 2, 6
#define IN_LANES_HIGH_4 1, 5, 3, 7
#define ALL_8           0, 1, 2, 3, 4, 5, 6, 7
#define ALL_4           0, 1, 2, 3
TRANSPOSE_LANES(block_4, uint32_t, 8, IN_LANES_LOW_8, IN_LANES_HIGH_8, ALL_8)
TRANSPOSE_LANES(block_8, uint64_t, 4, IN_LANES_LOW_4, IN_LANES_HIGH_4, ALL_4)
#else
TRANSPOSE_BLOCK(block_4, uint32_t, WORDS, LOW(WORDS), HIGH(WORDS))
TRANSPOSE_BLOCK(block_8, uint64_t, LONGS, LOW(LONGS), HIGH(LONGS))
#endif

/* ---------------------------------------------------------------------------------------------- tiles */

/* A tile: pixel j of output row i is pixel i of input row j. Strides in bytes, of any sign. */
typedef struct tile {
    char *to;
    const char *from;
    ptrdiff_t to_stride, from_stride;
    int rows, columns; /* of the output */
    int spare;         /* output rows whose input pixel is not the last of its row */
} tile;

/* Rows i0.. and columns j0.. of the tile, one pixel at a time; px is a constant. */
SMP_INLINE void transpose_pixels(const tile *t, int i0, int j0, const int px)
{
    for (int i = i0; i < t->rows; i++) {
        char *to = t->to + i * t->to_stride + (ptrdiff_t)j0 * px;
        const char *from = t->from + j0 * t->from_stride + (ptrdiff_t)i * px;
        int j = j0;
        if (px == 3 && i < t->spare)
            for (; j < t->columns - 1; j++, to += px, from += t->from_stride)
                memcpy(to, from, 4);
        for (; j < t->columns; j++, to += px, from += t->from_stride)
            memcpy(to, from, (size_t)px);
    }
}

typedef void block_fn(char *restrict to, ptrdiff_t to_stride, const char *restrict from, ptrdiff_t from_stride);

/* The same through blocks of n x n pixels; the rest pixel by pixel. */
SMP_INLINE void transpose_blocks(const tile *t, const int px, const int n, block_fn *block)
{
    int rows = t->rows / n * n, columns = t->columns / n * n;
    for (int i = 0; i < rows; i += n)
        for (int j = 0; j < columns; j += n)
            block(t->to + i * t->to_stride + (ptrdiff_t)j * px, t->to_stride,
                  t->from + j * t->from_stride + (ptrdiff_t)i * px, t->from_stride);
    transpose_pixels(t, rows, 0, px);
    tile top = *t;
    top.rows = rows;
    transpose_pixels(&top, 0, columns, px);
}

static void transpose_tile(const tile *t, int px)
{
    if (px == 1)
        transpose_blocks(t, 1, 16, block_1);
    else if (px == 2)
        transpose_blocks(t, 2, 8, block_2);
    else if (px == 4)
        transpose_blocks(t, 4, WORDS, block_4);
    else if (px == 8)
        transpose_blocks(t, 8, LONGS, block_8);
    else
        SMP_BY_PIXEL_SIZE((size_t)px, transpose_pixels(t, 0, 0, (int)N))
}

/* Rows and columns of a tile, of the output: it should stay in the first-level cache. A streamed tile reads whole lines
 * of the input, one of each row, and few of them: the next tile's lines and the buffer between must stay in that cache
 * too. */
typedef struct tile_size {
    int rows, columns;
} tile_size;

static tile_size tile_size_of(int px, bool streams)
{
    const int side = px <= 4 ? SMP_TRANSPOSE_TILE : px <= 8 ? SMP_TRANSPOSE_TILE / 2 : SMP_TRANSPOSE_TILE / 4;
    if (!streams || STREAM_BYTES % px)
        return (tile_size){side, side};
    const int rows = STREAM_BYTES / px;
    return (tile_size){rows, rows >= 8 ? 4 * rows : 32};
}

enum { TILE_BYTES = 64 * 64 * 4, TILE_ROW = 64 * 4 }; /* the largest transposed tile; samples of its rows */

/* Converts n samples from one storage to another. */
static void convert_samples(const smp_io *io, char *to, const char *from, int64_t n)
{
    float values[TILE_ROW] __attribute__((aligned(64)));
    int64_t in_size = smp_sample_size(io->in.format), out_size = smp_sample_size(io->out.format);
    for (int64_t i = 0; i < n; i += TILE_ROW) {
        int64_t some = n - i < TILE_ROW ? n - i : TILE_ROW;
        smp_load_row(values, from + i * in_size, io->in.format, some);
        smp_store_row(to + i * out_size, io->out.format, values, some, io->clipped);
    }
}

/* Prefetches n bytes of each of `rows` rows: tiles jump from row to row, which the hardware does not predict. */
SMP_INLINE void prefetch_rows(const char *p, ptrdiff_t stride, int64_t rows, int64_t n)
{
    for (int64_t i = 0; i < rows; i++, p += stride)
        for (int64_t k = 0; k < n; k += STREAM_BYTES)
            __builtin_prefetch(p + k);
}

/* Large results of whole words are streamed; smaller pixels take more time than memory does. */
SMP_INLINE bool streams_rows(int64_t rows, int64_t width, int64_t px)
{
    return px % 4 == 0 && smp_streams(rows * width * px);
}

/* Output rows y0 .. y1-1 where rows and columns swap. */
static void swap_rows(const smp_io *io, int32_t orientation, int64_t y0, int64_t y1)
{
    const smp_view *in = &io->in, *out = &io->out;
    bool converts = in->format != out->format;
    int px = (int)smp_sample_size(in->format) * in->channels;
    int64_t out_px = smp_sample_size(out->format) * out->channels;
    const bool streams = !converts && streams_rows(out->rows, out->width, px);
    const tile_size size = tile_size_of(px, streams);
    char turned[TILE_BYTES] __attribute__((aligned(64)));
    for (int64_t y = y0; y < y1; y += size.rows)
        for (int64_t x = 0; x < out->width; x += size.columns) {
            const int64_t left = out->width - x - size.columns; /* columns of the tiles after this one */
            tile t = {.rows = (int)(y1 - y < size.rows ? y1 - y : size.rows),
                      .columns = (int)(left < 0 ? out->width - x : size.columns)};
            bool mirror_x = orientation & SMP_ORIENT_MIRROR_X, mirror_y = orientation & SMP_ORIENT_MIRROR_Y;
            int64_t sx = mirror_x ? in->width - y - t.rows : y; /* the tile's first input column */
            t.from = (const char *)smp_row(in, mirror_y ? in->height - 1 - x : x) + sx * px;
            t.from_stride = (ptrdiff_t)(mirror_y ? -in->stride : in->stride);
            t.spare = (int)(in->width - 1 - sx < t.rows ? in->width - 1 - sx : t.rows);
            char *first = (char *)smp_row(out, y) + x * out_px;
            ptrdiff_t stride = (ptrdiff_t)out->stride;
            t.to = converts || streams ? turned : first;
            t.to_stride = converts || streams ? (ptrdiff_t)t.columns * px : stride;
            if (mirror_x) { /* the tile's columns become rows from the last to the first */
                t.to += (t.rows - 1) * t.to_stride;
                t.to_stride = -t.to_stride;
            }
            if (streams && left > 0)
                prefetch_rows(t.from + size.columns * t.from_stride, t.from_stride,
                              left < size.columns ? left : size.columns, (int64_t)t.rows * px);
            transpose_tile(&t, px);
            for (int i = 0; converts && i < t.rows; i++)
                convert_samples(io, first + i * stride, turned + (ptrdiff_t)i * t.columns * px,
                                (int64_t)t.columns * in->channels);
            for (int i = 0; streams && i < t.rows; i++)
                smp_stream(first + i * stride, turned + (ptrdiff_t)i * t.columns * px, (int64_t)t.columns * px);
        }
    if (streams)
        smp_stream_end();
}

/* ---------------------------------------------------------------------------------------------- rows that stay rows */

typedef uint16_t any_u16 __attribute__((aligned(1), may_alias));
typedef uint32_t any_u32 __attribute__((aligned(1), may_alias));
typedef uint64_t any_u64 __attribute__((aligned(1), may_alias));

#define REVERSE_AS(type)                                                                                               \
    do {                                                                                                               \
        type *restrict out = (type *)(void *)to;                                                                       \
        const type *restrict in = (const type *)(const void *)from;                                                    \
        for (int64_t i = 0; i < pixels; i++)                                                                           \
            out[i] = in[pixels - 1 - i];                                                                               \
    } while (0)

SMP_INLINE void reverse_pixels(char *restrict to, const char *restrict from, int64_t pixels, const int px)
{
    for (int64_t i = 0; i < pixels; i++)
        memcpy(to + i * px, from + (pixels - 1 - i) * px, (size_t)px);
}

/* Copies `pixels` pixels of px bytes, the last first. */
static void reverse_row(char *restrict to, const char *restrict from, int64_t pixels, int px)
{
    switch (px) {
    case 1:
        REVERSE_AS(uint8_t);
        break;
    case 2:
        REVERSE_AS(any_u16);
        break;
    case 3: /* the first pixel has no byte after it in the input, the last none in the output */
        if (pixels > 0)
            memcpy(to, from + (pixels - 1) * 3, 3);
        for (int64_t i = 1; i < pixels - 1; i++)
            memcpy(to + i * 3, from + (pixels - 1 - i) * 3, 4);
        if (pixels > 1)
            memcpy(to + (pixels - 1) * 3, from, 3);
        break;
    case 4:
        REVERSE_AS(any_u32);
        break;
    case 6:
        reverse_pixels(to, from, pixels, 6);
        break;
    case 8:
        REVERSE_AS(any_u64);
        break;
    case 12:
        reverse_pixels(to, from, pixels, 12);
        break;
    case 16:
        reverse_pixels(to, from, pixels, 16);
        break;
    default:
        reverse_pixels(to, from, pixels, px);
    }
}

/* Output rows y0 .. y1-1 where rows stay rows: copied or reversed, in the same or the opposite order. */
static void keep_rows(const smp_io *io, int32_t orientation, int64_t y0, int64_t y1)
{
    const smp_view *in = &io->in, *out = &io->out;
    bool mirror_x = orientation & SMP_ORIENT_MIRROR_X, mirror_y = orientation & SMP_ORIENT_MIRROR_Y;
    int px = (int)smp_sample_size(in->format) * in->channels;
    int64_t out_px = smp_sample_size(out->format) * out->channels, width = in->width;
    char reversed[TILE_BYTES] __attribute__((aligned(64)));
    const bool streams = in->format == out->format && mirror_x && streams_rows(out->rows, width, px);
    /* Streamed pixels are whole words, 16 of them whole lines. */
    const int64_t some = STREAM_PART / (16 * px), part = !streams ? TILE_BYTES / px : some > 0 ? 16 * some : 16;
    for (int64_t y = y0; y < y1; y++) {
        char *to = (char *)smp_row(out, y);
        const char *from = (const char *)smp_row(in, mirror_y ? in->height - 1 - y : y);
        if (in->format == out->format && !streams) {
            if (mirror_x)
                reverse_row(to, from, width, px);
            else
                memcpy(to, from, (size_t)(width * px));
        } else if (!mirror_x) {
            convert_samples(io, to, from, width * in->channels);
        } else {
            /* From the input's first pixel to its last, which memory delivers sooner than the reverse. */
            int64_t n = (width - 1) % part + 1;
            for (int64_t at = 0; at < width; at += n, n = part) {
                char *const place = to + (width - at - n) * out_px;
                if (streams && at + n + 2 * part <= width)
                    prefetch_rows(from + (at + n + part) * px, 0, 1, part * px);
                reverse_row(reversed, from + at * px, n, px);
                if (streams)
                    smp_stream(place, reversed, n * px);
                else
                    convert_samples(io, place, reversed, n * in->channels);
            }
        }
    }
    if (streams)
        smp_stream_end();
}

SMP_CPU_KERNEL(transpose_tiled)
{
    const smp_orientation *p = params;
    if (p->orientation & SMP_ORIENT_SWAP)
        swap_rows(io, p->orientation, y0, y1);
    else
        keep_rows(io, p->orientation, y0, y1);
}
