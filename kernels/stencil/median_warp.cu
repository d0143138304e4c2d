/* median of 3 of 8 and 16 bits, and of 5 of 8 bits, on GPUs, one warp a strip (column_walk.cuh).
 *
 * A minimum of two pairs of 16 bits is one instruction, of four bytes many: a word holds two samples, `HALF` apart, so
 * that a sample's neighbours in a row lie in other words at the same place, and none is shifted. A lane makes 16 bytes
 * of each row from HALF words and those beside them. A byte fills its half twice, which orders like the byte and takes
 * one permute of two words of the row.
 *
 * 3: columns are sorted once for all windows that they lie in: the smallest, the middle and the largest of three rows.
 * The median of the nine is that of the largest smallest, the middle middle and the smallest largest one. The middle of
 * three whose least and largest are known is what is left of their sum: multiplications by one, which are additions in
 * another pipe than that of minima, by which this kernel is bound.
 * 5: columns are sorted once for five windows, then what a window needs of them: see median_of_13(). Where an exchange
 * is to give both its results, the larger one comes from the sum too: of 742 operations of minima for a row of 16 bytes
 * 597 are left, and 300 in the other pipe. */
#include "stencil/rank.h"

#include "stencil/column_walk.cuh"

enum { SMP_MEDIAN_WARP_ROWS = 4 /* rows that arrive together, as sobel's */ };

/* Warps an SM by the side and channels; the last rows of words take registers. */
#define SMP_MEDIAN_WARPS(size, c) ((size) == 3 ? ((c) == 1 ? 20 : 16) : (c) == 1 ? 10 : 8)

/* The least and the largest of pairs. */
SMP_DEVICE unsigned median_less(unsigned a, unsigned b)
{
    return __vminu2(a, b);
}
SMP_DEVICE unsigned median_more(unsigned a, unsigned b)
{
    return __vmaxu2(a, b);
}
SMP_DEVICE unsigned median_least(unsigned a, unsigned b, unsigned c)
{
#ifdef __CUDACC__
    return __vimin3_u16x2(a, b, c);
#else
    return median_less(median_less(a, b), c);
#endif
}
SMP_DEVICE unsigned median_most(unsigned a, unsigned b, unsigned c)
{
#ifdef __CUDACC__
    return __vimax3_u16x2(a, b, c);
#else
    return median_more(median_more(a, b), c);
#endif
}

/* Words of a lane's row, and its results. Word k holds samples k and k + HALF. */
template <typename T, int C, int R> struct median_words {
    static constexpr int V = 16 / (int)sizeof(T), HALF = V / 2, REACH = R * C, SPAN = HALF + 2 * REACH;
    static constexpr int FIRST = (16 - REACH * (int)sizeof(T)) / 4; /* words of the window */
    static constexpr int LAST = (31 + REACH * (int)sizeof(T)) / 4;
    typedef strip_walk<T, C, 1, SMP_MEDIAN_WARP_ROWS, 0, FIRST, LAST, 2> walk;
    static_assert(REACH * (int)sizeof(T) <= 16, "a pack beside the lane's own holds all that windows reach");

    static SMP_DEVICE_MEMBER void spread(unsigned *to, const unsigned *words)
    {
#pragma unroll
        for (int k = 0; k < SPAN; k++) {
            const int low = 16 + (k - REACH) * (int)sizeof(T), high = low + 8, a = low & 3, b = (high & 3) + 4;
            const unsigned pick = sizeof(T) == 1 ? (unsigned)(a * 0x11 + b * 0x1100)
                                                 : (unsigned)(a + (a + 1) * 0x10 + b * 0x100 + (b + 1) * 0x1000);
            to[k] = __byte_perm(words[low / 4], words[high / 4], pick);
        }
    }
    static SMP_DEVICE_MEMBER strip_pack join(const unsigned *results)
    {
        unsigned twos[HALF]; /* bytes: two samples in the low half, two in the high one */
        strip_pack p;
#pragma unroll
        for (int k = 0; k < HALF / 2 && sizeof(T) == 1; k++)
            twos[k] = __byte_perm(results[2 * k], results[2 * k + 1], 0x6240);
        const unsigned *from = sizeof(T) == 1 ? twos : results;
#pragma unroll
        for (int k = 0; k < 2; k++) {
            p.v[k] = __byte_perm(from[2 * k], from[2 * k + 1], 0x5410);
            p.v[k + 2] = __byte_perm(from[2 * k], from[2 * k + 1], 0x7632);
        }
        return p;
    }
    static SMP_DEVICE_MEMBER T sample(const strip_pack &p, int i)
    {
        constexpr int EACH = 4 / (int)sizeof(T);
        return (T)(p.v[i / EACH] >> 8 * (int)sizeof(T) * (i % EACH));
    }
};

/* ---------------------------------------------------------------------------------------------- 3 */

template <typename T, int C> struct median_row3 {
    typedef median_words<T, C, 1> words_type;
    typedef typename words_type::walk walk;
    static constexpr int HALF = words_type::HALF, SPAN = words_type::SPAN;
    unsigned rows[2][SPAN]; /* the last two, in turn, so that none moves to another register */
    unsigned low[SPAN], middle[SPAN], high[SPAN];

    SMP_DEVICE_MEMBER void begin()
    {
#pragma unroll
        for (int k = 0; k < SPAN; k++)
            rows[0][k] = rows[1][k] = 0;
    }
    SMP_DEVICE_MEMBER void add(const unsigned *words, int turn)
    {
        unsigned now[SPAN];
        const unsigned one = blockDim.y; /* multiplies and adds, which nvcc cannot turn into what the full pipe does */
        words_type::spread(now, words);
#pragma unroll
        for (int k = 0; k < SPAN; k++) {
            const unsigned a = rows[0][k], b = rows[1][k], c = now[k];
            const unsigned least = median_least(a, b, c), most = median_most(a, b, c);
            const unsigned both = a * one + b, all = c * one + both, some = all * one - least;
            const unsigned between = some * one - most;
            low[k] = least;
            middle[k] = between;
            high[k] = most;
            rows[turn][k] = c;
        }
    }
    SMP_DEVICE_MEMBER strip_pack operator()() const
    {
        unsigned results[HALF];
#pragma unroll
        for (int k = 0; k < HALF; k++) {
            /* In every other run of C windows, k and k + C share the pair of columns that both have. */
            const int side = k / C % 2 ? k + 2 * C : k, pair = k / C % 2 ? k : k + C;
            const unsigned less = median_less(middle[pair], middle[pair + C]);
            const unsigned more = median_more(middle[pair], middle[pair + C]);
            const unsigned b = median_more(less, median_less(more, middle[side]));
            const unsigned a = median_most(low[k], low[k + C], low[k + 2 * C]);
            const unsigned c = median_least(high[k], high[k + C], high[k + 2 * C]);
            results[k] = median_more(median_less(a, b), median_less(median_more(a, b), c));
        }
        return words_type::join(results);
    }
    SMP_DEVICE_MEMBER void count(int) {} /* samples that are moved do not clip */
    static SMP_DEVICE_MEMBER T sample(const strip_pack &p, int i)
    {
        return words_type::sample(p, i);
    }
};

/* ---------------------------------------------------------------------------------------------- 5 */

SMP_DEVICE void median_exchange(unsigned &a, unsigned &b)
{
    const unsigned less = median_less(a, b);
    b = median_more(a, b);
    a = less;
}
/* The same where both are needed: the larger one is what the least leaves of the sum. */
SMP_DEVICE void median_exchange_both(unsigned &a, unsigned &b)
{
    const unsigned one = blockDim.y, less = median_less(a, b), both = a * one + b;
    b = both * one - less;
    a = less;
}
SMP_DEVICE void median_sort(unsigned &a, unsigned &b, unsigned &c, unsigned &d)
{
    median_exchange_both(a, b), median_exchange_both(c, d), median_exchange(a, c), median_exchange_both(b, d);
    median_exchange(b, c);
}
SMP_DEVICE void median_sort(unsigned &a, unsigned &b, unsigned &c, unsigned &d, unsigned &e)
{
    median_exchange_both(a, b), median_exchange_both(d, e), median_exchange_both(c, e), median_exchange_both(c, d);
    median_exchange_both(b, e), median_exchange_both(a, d), median_exchange_both(a, c), median_exchange_both(b, d);
    median_exchange_both(b, c);
}

/* Median of five sorted columns. Samples of one rank are sorted too, which keeps columns sorted. The sample of rank
 * r in its column and place i among those has at least (r + 1) (i + 1) - 1 that are no larger, so that only 13 can be
 * the median: the 7th of these, w[] in the order of medians_at(). nvcc leaves out halves of exchanges that nothing
 * reads. Found by a search among networks, and proved by all 252 ways in which such samples can lie above a threshold:
 * after these exchanges the median is the least of five. */
#define MEDIAN_13(S)                                                                                                   \
    S(1, 6)                                                                                                            \
    S(3, 9)                                                                                                            \
    S(1, 11)                                                                                                           \
    S(3, 11)                                                                                                           \
    S(6, 8) S(0, 11) S(2, 12) S(4, 5) S(0, 10) S(0, 12) S(1, 9) S(2, 11) S(5, 7) S(5, 6) S(3, 8) S(4, 11) S(6, 8)
SMP_DEVICE unsigned median_of_13(unsigned (&w)[13])
{
#define MEDIAN_EXCHANGE(i, j) median_exchange(w[i], w[j]);
    MEDIAN_13(MEDIAN_EXCHANGE)
#undef MEDIAN_EXCHANGE
    return median_least(median_least(w[6], w[9], w[10]), w[11], w[12]);
}

template <typename T, int C> struct median_row5 {
    typedef median_words<T, C, 2> words_type;
    typedef typename words_type::walk walk;
    static constexpr int HALF = words_type::HALF, SPAN = words_type::SPAN;
    unsigned rows[4][SPAN]; /* the last four, the newest last */
    unsigned sorted[5][SPAN];

    SMP_DEVICE_MEMBER void begin()
    {
#pragma unroll
        for (int r = 0; r < 4; r++)
#pragma unroll
            for (int k = 0; k < SPAN; k++)
                rows[r][k] = 0;
    }
    SMP_DEVICE_MEMBER void add(const unsigned *words, int)
    {
        unsigned now[SPAN];
        words_type::spread(now, words);
#pragma unroll
        for (int k = 0; k < SPAN; k++) {
#pragma unroll
            for (int r = 0; r < 4; r++)
                sorted[r][k] = rows[r][k];
            sorted[4][k] = now[k];
#pragma unroll
            for (int r = 0; r < 3; r++)
                rows[r][k] = rows[r + 1][k];
            rows[3][k] = now[k];
            median_sort(sorted[0][k], sorted[1][k], sorted[2][k], sorted[3][k], sorted[4][k]);
        }
    }
    /* Results k and k + C, where two says so, which have four columns in common: of each rank these are sorted, and the
     * fifth is put between. */
    SMP_DEVICE_MEMBER void medians_at(unsigned *results, int k, bool two) const
    {
        unsigned common[5][4];
#pragma unroll
        for (int r = 0; r < 5; r++) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                common[r][i] = sorted[r][k + (i + 1) * C];
            median_sort(common[r][0], common[r][1], common[r][2], common[r][3]);
        }
#pragma unroll
        for (int q = 0; q < (two ? 2 : 1); q++) {
            unsigned v[5][5];
#pragma unroll
            for (int r = 0; r < 5; r++) {
                const unsigned fifth = sorted[r][q ? k + 5 * C : k];
                v[r][0] = median_less(common[r][0], fifth);
                v[r][4] = median_more(common[r][3], fifth);
#pragma unroll
                for (int i = 1; i < 4; i++)
                    v[r][i] = median_more(common[r][i - 1], median_less(common[r][i], fifth));
            }
            unsigned w[] = {v[0][3], v[0][4], v[1][2], v[1][3], v[1][4], v[2][1], v[2][2],
                            v[2][3], v[3][0], v[3][1], v[3][2], v[4][0], v[4][1]};
            results[k + q * C] = median_of_13(w);
        }
    }
    SMP_DEVICE_MEMBER strip_pack operator()() const
    {
        unsigned results[HALF];
#pragma unroll
        for (int k = 0; k < HALF; k++)
            if (k / C % 2 == 0)
                medians_at(results, k, k + C < HALF);
        return words_type::join(results);
    }
    SMP_DEVICE_MEMBER void count(int) {}
    static SMP_DEVICE_MEMBER T sample(const strip_pack &p, int i)
    {
        return words_type::sample(p, i);
    }
};

template <typename ROW, int SIZE, int C> SMP_DEVICE void median_warp(const smp_io &io, const smp_rank &r)
{
    typedef typename ROW::walk walk;
    typedef typename walk::rows_type rows_type;
    SMP_SHARED(rows_type, s);
    ROW row;
    column_walk<walk, SIZE>(io, r.window.edge, SIZE / 2, SIZE / 2 * C, s, row);
}

#define MEDIAN_WARP(SIZE, C, word, T)                                                                                  \
    SMP_KERNEL_BOUNDS(32, SMP_MEDIAN_WARPS(SIZE, C), median_warp##SIZE##_##C##_##word##_##word, smp_rank, io, p)       \
    {                                                                                                                  \
        median_warp<median_row##SIZE<T, C>, SIZE, C>(io, p);                                                           \
    }
#define MEDIAN_WARP_ALL(SIZE, word, T)                                                                                 \
    MEDIAN_WARP(SIZE, 1, word, T) MEDIAN_WARP(SIZE, 3, word, T) MEDIAN_WARP(SIZE, 4, word, T)
MEDIAN_WARP_ALL(3, u8, uint8_t)
MEDIAN_WARP_ALL(3, u16, uint16_t)
MEDIAN_WARP(5, 1, u8, uint8_t)
MEDIAN_WARP(5, 3, u8, uint8_t)
