/* Order statistics of bytes on GPUs, variant private (rank.cu has naive and tiled).
 *   private  a block is a warp and a lane a column of samples: its histogram of the shape moves down with the rows, by
 *            the samples that enter at the lower end of each of the shape's columns and those that leave at the upper
 *            one (Huang 1979). The rank is found among sixteen groups of sixteen values, then in a group. Two counters
 *            of 16 bits share a word; word w of lane t is number 32 w + t, so that every lane has a bank to itself and
 *            no picture causes a conflict. 17.5 KB a warp: 12 warps share an SM. */
#include "stencil/rank.h"

#include "stencil/stencil.cuh"

struct rank_counters {
    uint16_t values[128][SMP_RANK_LANES][2], groups[8][SMP_RANK_LANES][2];
    int16_t chords[SMP_RANK_MOST + 1]; /* rows above and below the middle, of each of the shape's columns */
};

SMP_DEVICE_COLD unsigned rank_beside(const smp_view &in, int64_t x, int64_t y, int c, int edge, uint8_t outside)
{
    return (unsigned)smp_morph_at(&in, x, y, c, edge, outside);
}

/* A column of a picture, as bytes. */
struct rank_column {
    const smp_io &io;
    const smp_rank &r;
    int64_t x;
    int c;
    uint8_t outside;

    SMP_DEVICE_MEMBER unsigned at(int dx, int64_t y) const
    {
        const smp_view &in = io.in;
        if (x + dx >= 0 && x + dx < in.width && y >= in.y0 && y < in.y0 + in.rows)
            return smp_in<uint8_t>(in, y)[(x + dx) * in.channels + c];
        return rank_beside(io.in, x + dx, y, c, r.shape.edge, outside);
    }
};

SMP_DEVICE void rank_count(rank_counters &all, int lane, unsigned v, int by)
{
    uint16_t &value = all.values[v / 2][lane][v % 2], &group = all.groups[v / 32][lane][v / 16 % 2];
    value = (uint16_t)(value + by);
    group = (uint16_t)(group + by);
}

/* The value at the rank. All lanes read all counters, so that they stay together. */
SMP_DEVICE unsigned rank_found(const rank_counters &all, int lane, int rank)
{
    unsigned group = 0, place = 0;
    int sum = 0, below = 0;
    for (int k = 0; k < 16; k++) {
        sum += all.groups[k / 2][lane][k % 2];
        group += sum <= rank;
        below = sum <= rank ? sum : below;
    }
    sum = 0;
    for (unsigned k = 0; k < 16; k++) {
        sum += all.values[(16 * group + k) / 2][lane][k % 2];
        place += below + sum <= rank;
    }
    return 16 * group + place;
}

/* Geometry: blocks of 32 threads over samples (x) and SMP_RANK_ROWS rows (y). */
template <typename IN, typename OUT> SMP_DEVICE void rank_private(const smp_io &io, const smp_rank &r)
{
    SMP_SHARED(rank_counters, all);
    const int lane = (int)threadIdx.x, channels = io.in.channels, rx = r.shape.rx;
    const int64_t n = stencil_samples(io.out), end = io.out.y0 + io.out.rows;
    const uint8_t outside = smp_to_u8(smp_morph_outside(&r.shape, io.in.white));
    for (int dx = lane - rx; dx <= rx; dx += SMP_RANK_LANES) {
        smp_converge();
        all.chords[dx + rx] = (int16_t)smp_morph_chord(&r.shape, dx); /* shapes are as high as they are wide */
    }
    __syncwarp();
    for (int64_t y0 = io.out.y0 + (int64_t)blockIdx.y * SMP_RANK_ROWS; y0 < end;
         y0 += (int64_t)gridDim.y * SMP_RANK_ROWS)
        for (int64_t x0 = (int64_t)blockIdx.x * SMP_RANK_LANES; x0 < n; x0 += (int64_t)gridDim.x * SMP_RANK_LANES) {
            const int64_t i = x0 + lane < n ? x0 + lane : n - 1, x = stencil_pixel(i, channels);
            const rank_column column = {io, r, x, (int)(i - x * channels), outside};
            for (int k = 0; k < 128; k++)
                all.values[k][lane][0] = all.values[k][lane][1] = 0;
            for (int k = 0; k < 8; k++)
                all.groups[k][lane][0] = all.groups[k][lane][1] = 0;
            for (int dx = -rx; dx <= rx; dx++)
                for (int dy = -all.chords[dx + rx]; dy <= all.chords[dx + rx]; dy++)
                    rank_count(all, lane, column.at(dx, y0 + dy), 1);
            for (int64_t y = y0; y < end && y < y0 + SMP_RANK_ROWS; y++) {
                if (y > y0)
                    for (int dx = -rx; dx <= rx; dx++) {
                        const int chord = all.chords[dx + rx];
                        rank_count(all, lane, column.at(dx, y - 1 - chord), -1);
                        rank_count(all, lane, column.at(dx, y + chord), 1);
                    }
                const unsigned v = rank_found(all, lane, r.rank);
                if (x0 + lane < n)
                    smp_out<uint8_t>(io.out, y)[i] = (uint8_t)v;
            }
        }
}
SMP_KERNEL_PAIR_(rank_private, u8, uint8_t, u8, uint8_t, smp_rank)
