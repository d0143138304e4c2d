/* box on GPUs for bytes and odd sizes up to SMP_BOX_WARP_SIZE, one warp a strip (column_walk.cuh). All sums are
 * integers, so any order of adding gives the definition's value, and they fit 16 bits: two share a register and an
 * instruction. A lane keeps the column sums of its 16 samples and of those that its windows reach; a row that comes
 * adds to them and the row that came `size` rows ago, still in shared memory, is taken away, whatever the size. Row
 * windows of these are made by doubling: two, four, and what they are put together of. A mean is one multiplication by
 * 2^24 / size^2, which leaves the byte at the top (smp_box_top()). Against the two launches of box.cu: no f32 picture
 * between, which alone was eight bytes a sample, and no barriers. */
#include "stencil/box.h"

#include "stencil/column_walk.cuh"

template <int SIZE, int C> struct box_row {
    static constexpr int BEFORE = SIZE / 2 * C, PACKS = (BEFORE + 15) / 16;
    /* Pairs of samples lie at even places of the window. Where the first window does not begin at one, results begin a
     * sample early and are a pair more. */
    static constexpr int START = 16 * PACKS - BEFORE, ODD = START % 2, RESULTS = 8 + ODD, FIRST = (START - ODD) / 2;
    static constexpr int SPAN = RESULTS + ((SIZE - 1) * C + 1) / 2; /* pairs of columns */
    static constexpr int TWOS = RESULTS + (SIZE - 1) * C / 2;       /* windows of two that some result may need */
    static constexpr unsigned FACTOR = smp_box_factor(SIZE);
    typedef strip_walk<uint8_t, C, PACKS, SMP_BOX_WARP_ROWS, SIZE, FIRST / 2, (FIRST + SPAN - 1) / 2> walk;
    unsigned column[SPAN];

    SMP_DEVICE_MEMBER void begin()
    {
#pragma unroll
        for (int k = 0; k < SPAN; k++)
            column[k] = 0;
    }
    static SMP_DEVICE_MEMBER unsigned pair(const unsigned *words, int k)
    {
        return __byte_perm(words[(FIRST + k) / 2], 0, (FIRST + k) & 1 ? 0x4342 : 0x4140);
    }
    SMP_DEVICE_MEMBER void add(const unsigned *words)
    {
#pragma unroll
        for (int k = 0; k < SPAN; k++)
            column[k] += pair(words, k);
    }
    SMP_DEVICE_MEMBER void change(const unsigned *words, const unsigned *outgoing)
    {
#pragma unroll
        for (int k = 0; k < SPAN; k++)
            column[k] = column[k] + pair(words, k) - pair(outgoing, k);
    }
    SMP_DEVICE_MEMBER strip_pack operator()() const
    {
        unsigned two[TWOS], four[TWOS], sums[RESULTS];
#pragma unroll
        for (int k = 0; k < TWOS; k++) { /* columns 2k and 2k + 1, and those a pixel on */
            const int next = k + C / 2;
            if (next + C % 2 < SPAN)
                two[k] = column[k] + (C % 2 ? __byte_perm(column[next], column[next + 1 < SPAN ? next + 1 : 0], 0x5432)
                                            : column[next]);
        }
#pragma unroll
        for (int k = 0; k + C < TWOS; k++)
            four[k] = two[k] + two[k + C];
#pragma unroll
        for (int k = 0; k < RESULTS; k++) {
            unsigned sum = 0;
#pragma unroll
            for (int i = 0; i < SIZE / 4; i++)
                sum += four[k + 2 * C * i];
            if (SIZE & 2)
                sum += two[k + 2 * C * (SIZE / 4)];
            sums[k] = sum + column[k + (SIZE / 2) * C];
        }
        strip_pack result;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned top[4];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const int at = 4 * i + j + ODD;
                top[j] = smp_box_top(at % 2 ? sums[at / 2] >> 16 : sums[at / 2] & 0xffff, FACTOR);
            }
            result.v[i] = __byte_perm(__byte_perm(top[0], top[1], 0x0073), __byte_perm(top[2], top[3], 0x0073), 0x5410);
        }
        return result;
    }
    SMP_DEVICE_MEMBER void count(int) {} /* means do not clip */
    static SMP_DEVICE_MEMBER uint8_t sample(const strip_pack &p, int i)
    {
        return (uint8_t)(p.v[i / 4] >> 8 * (i & 3));
    }
};

template <int SIZE, int C> SMP_DEVICE void box_warp(const smp_io &io, const smp_box &box)
{
    typedef box_row<SIZE, C> row_type;
    typedef typename row_type::walk walk;
    typedef typename walk::rows_type rows_type;
    SMP_SHARED(rows_type, s);
    row_type row;
    column_walk<walk, SIZE>(io, box.edge, SIZE / 2, row_type::BEFORE, s, row);
}

#define BOX_WARP(SIZE, C)                                                                                              \
    SMP_KERNEL_BOUNDS(32, SMP_BOX_WARPS, box_warp##SIZE##_##C##_u8_u8, smp_box, io, p)                                 \
    {                                                                                                                  \
        box_warp<SIZE, C>(io, p);                                                                                      \
    }
#define BOX_WARP_ALL(SIZE) BOX_WARP(SIZE, 1) BOX_WARP(SIZE, 3) BOX_WARP(SIZE, 4)
BOX_WARP_ALL(3)
BOX_WARP_ALL(5)
BOX_WARP_ALL(7)
BOX_WARP_ALL(9)
BOX_WARP_ALL(11)
BOX_WARP_ALL(13)
BOX_WARP_ALL(15)
