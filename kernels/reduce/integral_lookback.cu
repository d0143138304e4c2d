/* integral of 8 and 16 bits on GPUs in one pass along the rows: decoupled look-back (Merrill and Garland 2016, "Single-
 * pass Parallel Prefix Scan with Decoupled Look-back").
 *
 *   lookback  a warp takes a tile of SMP_INTEGRAL_ROWS rows and SMP_INTEGRAL_LOOK pixels, four a lane, and makes its
 *             running sums through registers as the rung shuffle does. What lies to the left is not walked along but
 *             asked for: every tile tells its own sum of each row as soon as it has it, and the sum of all up to its
 *             end once it knows that. A tile goes back over its neighbours' own sums until one knows all before itself.
 *
 * The other rungs have a warp for 16 whole rows: too few to fill a GPU. Here there are as many as tiles, each sample is
 * still read once, and tiles wait for their neighbours' sums alone, not for each other's turn.
 *
 * A tile takes its number from a counter when it begins, so that whoever waits, waits for tiles that have begun: this
 * ends in any order of blocks, however few run at a time. Numbers go down a column of tiles first: most tiles find that
 * their left neighbour is done.
 *
 * Sum and state are one word of 64 bits, stored and read whole, so that no fence must order them. Words and the counter
 * lie in the rows of the scratch picture. Sums are whole numbers below 2^53: these rungs have the same bytes. */
#include "reduce/integral.h"

#include "lib/words.cuh"

enum { LANES = 32, EACH = SMP_INTEGRAL_LOOK / LANES };
/* The low bits of a word: nothing is known; the sum of this tile; the sum of all tiles up to this one. */
enum { TOLD_NOTHING, TOLD_OWN, TOLD_ALL, TOLD_BITS = 2, TOLD_MASK = 3 };

typedef unsigned long long integral_word;
typedef uint32_t integral_four[EACH];

/* The words of row y: a tile's of a channel at channel * tiles + tile; in the first row the counter behind them. */
SMP_DEVICE integral_word *integral_words(const smp_view &scratch, int64_t y)
{
    const uintptr_t row = reinterpret_cast<uintptr_t>(smp_row(&scratch, y)), unit = sizeof(integral_word);
    return reinterpret_cast<integral_word *>((row + unit - 1) / unit * unit);
}

/* Clears the words of the rows to come. io.second: the output. */
template <typename, typename> SMP_DEVICE void integral_words_clear(const smp_io &io, const smp_integral &)
{
    const int64_t words = smp_integral_tiles(io.in.width) * io.in.channels + 1, end = io.second.y0 + io.second.rows;
    for (int64_t y = io.second.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
            integral_words(io.out, y)[i] = TOLD_NOTHING;
}
SMP_KERNEL_INTO_F32(integral_words_clear, smp_integral)

/* Tells this tile's own sum, goes back over the tiles before, and tells the sum of all. Returns that of all before.
 * mine: this tile's word; those of tiles before lie before it. */
SMP_DEVICE integral_word integral_look_back(integral_word *mine, int64_t tile, uint32_t own)
{
    integral_word before = 0;
    if (tile) {
        smp_word_tell(mine, (integral_word)own << TOLD_BITS | TOLD_OWN);
        for (int64_t back = 1;;) {
            const integral_word told = smp_word_ask(mine - back);
            if ((told & TOLD_MASK) == TOLD_NOTHING)
                continue;
            before += told >> TOLD_BITS;
            if ((told & TOLD_MASK) == TOLD_ALL)
                break;
            back++;
        }
    }
    smp_word_tell(mine, (before + own) << TOLD_BITS | TOLD_ALL);
    return before;
}

/* A tile: rows top .. top+rows-1, of channel c the pixels from x on that are this lane's. */
struct integral_tile_place {
    int64_t tile, top, x, word;
    int c, rows;
};

/* The next tile that no block has taken; false: there is none. io.in: the scratch picture, io.second: the input. */
SMP_DEVICE bool integral_take(const smp_io &io, integral_tile_place &place)
{
    const int64_t tiles = smp_integral_tiles(io.second.width), channels = io.second.channels;
    const int64_t down = (io.out.rows + SMP_INTEGRAL_ROWS - 1) / SMP_INTEGRAL_ROWS * channels;
    unsigned number = 0;
    if (threadIdx.x == 0)
        number = atomicAdd(reinterpret_cast<unsigned *>(integral_words(io.in, io.out.y0) + tiles * channels), 1u);
    number = __shfl_sync(0xffffffffu, number, 0);
    place.tile = number / down;
    place.c = (int)(number % down % channels);
    place.top = io.out.y0 + number % down / channels * SMP_INTEGRAL_ROWS;
    place.x = place.tile * SMP_INTEGRAL_LOOK + threadIdx.x * EACH;
    place.word = place.c * tiles + place.tile;
    const int64_t rows = io.out.y0 + io.out.rows - place.top;
    place.rows = rows < SMP_INTEGRAL_ROWS ? (int)rows : SMP_INTEGRAL_ROWS;
    return place.tile < tiles;
}

/* This lane's pixels of a row as whole numbers; 0 outside. Kept in few registers. packed: they are one access. */
template <typename T> struct integral_kept {
    typedef T number;
};
template <> struct integral_kept<float> {
    typedef uint16_t number;
};
template <typename T> using integral_pixels = smp_pack<typename integral_kept<T>::number, EACH>;

template <typename T>
SMP_DEVICE integral_pixels<T> integral_load(const smp_view &in, int64_t y, int64_t x, int c, bool packed)
{
    const T *const row = smp_in<T>(in, y);
    smp_pack<T, EACH> some;
    integral_pixels<T> kept;
    if (packed)
        some = *reinterpret_cast<const smp_pack<T, EACH> *>(row + x);
    else
        for (int k = 0; k < EACH; k++)
            some.v[k] = x + k < in.width ? row[(x + k) * in.channels + c] : (T)0;
    for (int k = 0; k < EACH; k++)
        if (smp_sample<T>::format == SMP_F32)
            kept.v[k] = (typename integral_kept<T>::number)smp_round_to((float)some.v[k], in.white);
        else
            kept.v[k] = (typename integral_kept<T>::number)some.v[k];
    return kept;
}

template <typename T> SMP_DEVICE void integral_numbers(integral_four &v, const integral_pixels<T> &some)
{
    for (int k = 0; k < EACH; k++)
        v[k] = some.v[k];
}

/* Running sums of a lane's four. */
SMP_DEVICE void integral_run_four(integral_four &v)
{
    for (int k = 1; k < EACH; k++)
        v[k] += v[k - 1];
}

/* What the lanes before have together; *all: all lanes. */
SMP_DEVICE uint32_t integral_lanes_before(uint32_t mine, uint32_t *all)
{
    uint32_t sum = mine;
    for (unsigned d = 1; d < LANES; d *= 2) {
        const uint32_t below = __shfl_up_sync(0xffffffffu, sum, d);
        sum += threadIdx.x >= d ? below : 0u;
    }
    *all = __shfl_sync(0xffffffffu, sum, LANES - 1);
    return sum - mine;
}

/* The sums of a block's rows: columns first, so that one word a tile is enough. */
template <typename T> SMP_DEVICE void integral_blocks_look(const smp_io &io, const smp_integral &p)
{
    const smp_view &in = io.second;
    const bool vectors = in.channels == 1 && smp_view_aligned(&in);
    for (integral_tile_place at; integral_take(io, at);) {
        integral_four sum = {0}, v;
        uint32_t all;
        for (int r = 0; r < SMP_INTEGRAL_ROWS; r++)
            if (r < at.rows) {
                integral_numbers<T>(v,
                                    integral_load<T>(in, at.top + r, at.x, at.c, vectors && at.x + EACH <= in.width));
                for (int k = 0; k < EACH; k++)
                    sum[k] += v[k];
            }
        integral_run_four(sum);
        const uint32_t before = integral_lanes_before(sum[EACH - 1], &all);
        integral_word left = 0;
        if (threadIdx.x == 0)
            left = integral_look_back(integral_words(io.in, at.top) + at.word, at.tile, all);
        left = __shfl_sync(0xffffffffu, left, 0) + before;
        double *const to = static_cast<double *>(io.result) + at.top / SMP_INTEGRAL_ROWS * in.width * in.channels;
        for (int k = 0; k < EACH; k++)
            if (at.x + k < in.width)
                to[(at.x + k) * in.channels + at.c] = (double)(left + sum[k]);
    }
    (void)p;
}

/* sum / white, rounded to double once and then to f32, as smp_integral_result() does: the remainder of a quotient by
 * the rounded reciprocal corrects it to the nearest (Markstein 1990), of whole sums and a divisor whose 53 bits are not
 * all ones. A division takes as long as all else. */
SMP_DEVICE float integral_divided(double sum, double white, double inverse)
{
    const double near = sum * inverse;
    return (float)fma(fma(-near, white, sum), inverse, near);
}

/* The picture: rows have sums of their own to the left, which lanes 0 .. 15 ask for together. */
template <typename T> SMP_DEVICE void integral_look(const smp_io &io, const smp_integral &p)
{
    const smp_view &in = io.second;
    const bool down = p.along != SMP_ALONG_ROWS;
    const bool vectors = in.channels == 1 && smp_view_aligned(&in) && smp_view_aligned(&io.out);
    const double white = p.white, inverse = 1. / white;
    for (integral_tile_place at; integral_take(io, at);) {
        const bool packed = vectors && at.x + EACH <= in.width;
        integral_pixels<T> some[SMP_INTEGRAL_ROWS];
        uint32_t before[SMP_INTEGRAL_ROWS], own = 0, all;
        integral_four v, sum = {0};
        for (int r = 0; r < SMP_INTEGRAL_ROWS; r++) /* all loads are under way before the first is used */
            some[r] = integral_load<T>(in, at.top + (r < at.rows ? r : 0), at.x, at.c, packed);
        for (int r = 0; r < SMP_INTEGRAL_ROWS; r++) {
            integral_numbers<T>(v, some[r]);
            integral_run_four(v);
            before[r] = integral_lanes_before(v[EACH - 1], &all);
            own = (int)threadIdx.x == r ? all : own;
        }
        integral_word left = 0, rows_left = 0;
        if ((int)threadIdx.x < at.rows)
            left = integral_look_back(integral_words(io.in, at.top + threadIdx.x) + at.word, at.tile, own);
        double above[EACH];
        for (int k = 0; k < EACH; k++)
            above[k] = down && at.x + k < in.width
                           ? static_cast<const double *>(
                                 io.table)[(at.top / SMP_INTEGRAL_ROWS * in.width + at.x + k) * in.channels + at.c]
                           : 0.;
        for (int r = 0; r < SMP_INTEGRAL_ROWS; r++) {
            const integral_word row_left = __shfl_sync(0xffffffffu, left, r);
            rows_left = (down ? rows_left : 0) + row_left;
            integral_numbers<T>(v, some[r]);
            integral_run_four(v);
            smp_pack<float, EACH> out;
            for (int k = 0; k < EACH; k++) {
                sum[k] = (down ? sum[k] : 0u) + before[r] + v[k];
                out.v[k] = integral_divided(above[k] + (double)(rows_left + sum[k]), white, inverse);
            }
            if (r >= at.rows)
                continue;
            float *const to = smp_out<float>(io.out, at.top + r);
            if (packed)
                *reinterpret_cast<smp_pack<float, EACH> *>(to + at.x) = out;
            else
                for (int k = 0; k < EACH; k++)
                    if (at.x + k < in.width)
                        to[(at.x + k) * in.channels + at.c] = out.v[k];
        }
    }
}

/* The input's format is that of io.second: the launch reads the scratch picture. */
#define INTEGRAL_LOOK(name)                                                                                            \
    template <typename, typename> SMP_DEVICE void name##_lookback(const smp_io &io, const smp_integral &p)             \
    {                                                                                                                  \
        if (io.second.format == SMP_U8)                                                                                \
            name##_look<uint8_t>(io, p);                                                                               \
        else if (io.second.format == SMP_U16)                                                                          \
            name##_look<uint16_t>(io, p);                                                                              \
        else                                                                                                           \
            name##_look<float>(io, p);                                                                                 \
    }
INTEGRAL_LOOK(integral_blocks)
INTEGRAL_LOOK(integral)
SMP_KERNEL_FROM_F32(integral_blocks_lookback, smp_integral)
SMP_KERNEL_PAIR_(integral_lookback, f32, float, f32, float, smp_integral)
