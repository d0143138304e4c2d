/* The tiles of a matrix product in registers (variant register of matmul): loads, and the sums of a thread. A kernel
 * provides the operands and stores the sums. matmul_register.cu describes the whole. */
#pragma once

#include "lib/gpu_kernel.h"
#include "matmul/matmul.h"

enum {
    MATMUL_BLOCK = SMP_MATMUL_BLOCK,
    MATMUL_DEPTH = SMP_MATMUL_DEPTH,
    MATMUL_WARPS = SMP_MATMUL_THREADS / 32,
    MATMUL_SQUARE = 4, /* a thread has 2 x 2 squares of 4 x 4 samples */
    MATMUL_DOWN = 32,  /* rows from a square to the next below: those of 8 lanes lie between */
    MATMUL_ACROSS = 16 /* columns to the next: those of 4 lanes */
};

struct matmul_tiles {
    float l[MATMUL_DEPTH][SMP_MATMUL_PITCH]; /* [k][y] */
    float r[MATMUL_DEPTH][MATMUL_BLOCK];     /* [k][x] */
};
struct matmul_buffers {
    matmul_tiles tiles[SMP_MATMUL_STAGES];
};

/* A thread's first sample in its block: warps 2 down and 4 across, lanes 8 down and 4 across. The lowest bit of a
 * lane's number goes across and the next one down, so that in both operands' loads two lanes of every four read the
 * same 16 bytes: a warp's load takes 2 wavefronts instead of 4. */
SMP_DEVICE int matmul_y()
{
    const int lane = (int)threadIdx.x % 32;
    return (int)threadIdx.x / 128 * 64 + (lane / 2 % 2 + lane / 8 * 2) * MATMUL_SQUARE;
}
SMP_DEVICE int matmul_x()
{
    const int lane = (int)threadIdx.x % 32;
    return (int)threadIdx.x / 32 % 4 * 32 + (lane % 2 + lane / 4 % 2 * 2) * MATMUL_SQUARE;
}
/* Row i and column j of a thread's 8 x 8 samples, relative to its first. */
SMP_DEVICE int matmul_down(int i)
{
    return i / MATMUL_SQUARE * MATMUL_DOWN + i % MATMUL_SQUARE;
}
SMP_DEVICE int matmul_across(int j)
{
    return j / MATMUL_SQUARE * MATMUL_ACROSS + j % MATMUL_SQUARE;
}

/* A thread's samples of both operands for one k. */
struct matmul_factors {
    smp_pack<float, MATMUL_SQUARE> l[2], r[2];
};
SMP_DEVICE void matmul_fetch(matmul_factors &to, const matmul_tiles &s, int k, int y, int x)
{
    typedef smp_pack<float, MATMUL_SQUARE> four;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        to.l[i] = *reinterpret_cast<const four *>(&s.l[k][y + i * MATMUL_DOWN]);
        to.r[i] = *reinterpret_cast<const four *>(&s.r[k][x + i * MATMUL_ACROSS]);
    }
}

/* Adds one k to the sums, along a row and back along the next: an operation shares a factor with the one before, which
 * the GPU still holds. Registers are in two banks, and an operation that reads three new ones waits. */
SMP_DEVICE void matmul_multiply(const matmul_factors &p, float (&sum)[8][8])
{
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int n = 0; n < 8; n++) {
            const int j = i % 2 ? 7 - n : n;
            sum[i][j] = fmaf(p.l[i / 4].v[i % 4], p.r[j / 4].v[j % 4], sum[i][j]);
        }
}

/* Adds k .. end - 1 to the sums of a thread. operands.load(tiles, k) puts samples k .. k + DEPTH - 1 of both into the
 * tiles, zeros for k outside, by asynchronous copies or at once; it is called for ascending k. While a thread
 * multiplies, the samples of the next k come from shared memory, those of the next tiles too. */
template <typename OPERANDS>
SMP_DEVICE void matmul_sums(matmul_buffers &s, OPERANDS &operands, int64_t k, int64_t end, float (&sum)[8][8])
{
    const int y = matmul_y(), x = matmul_x();
    int steps = (int)((end - k + MATMUL_DEPTH - 1) / MATMUL_DEPTH), use = 0, next = SMP_MATMUL_STAGES - 1;
    if (steps <= 0)
        return;
#pragma unroll
    for (int i = 0; i < SMP_MATMUL_STAGES - 1; i++, k += MATMUL_DEPTH) {
        if (k < end)
            operands.load(s.tiles[i], k);
        smp_copy_commit();
    }
    matmul_factors factors[2];
    smp_copy_wait<SMP_MATMUL_STAGES - 2>();
    __syncthreads();
    matmul_fetch(factors[0], s.tiles[0], 0, y, x);
#pragma unroll 1
    for (; steps > 0; steps--, k += MATMUL_DEPTH) {
        if (steps >= SMP_MATMUL_STAGES)
            operands.load(s.tiles[next], k);
        smp_copy_commit();
        next = next + 1 < SMP_MATMUL_STAGES ? next + 1 : 0;
#pragma unroll
        for (int i = 0; i < MATMUL_DEPTH; i++) {
            if (i + 1 < MATMUL_DEPTH)
                matmul_fetch(factors[(i + 1) % 2], s.tiles[use], i + 1, y, x);
            else if (steps > 1) {
                smp_copy_wait<SMP_MATMUL_STAGES - 2>();
                __syncthreads(); /* all threads have the next tiles and are done with the present ones */
                use = use + 1 < SMP_MATMUL_STAGES ? use + 1 : 0;
                matmul_fetch(factors[(i + 1) % 2], s.tiles[use], 0, y, x);
            }
            if (i % 2)
                smp_load_fence();
            matmul_multiply(factors[i % 2], sum);
        }
    }
}

/* A plane of a view as L or R. f32 samples are copied, others converted on the way. */
struct matmul_plane {
    const char *at; /* sample (0, 0) of the plane */
    int64_t stride, width, height;
    int step;      /* bytes from a column to the next */
    int format;    /* smp_format */
    bool adjacent; /* adjacent f32 samples */
};
SMP_DEVICE matmul_plane matmul_plane_of(const smp_view &v, int plane)
{
    const char *at = static_cast<const char *>(smp_row(&v, 0)) + plane * smp_sample_size(v.format);
    const int step = v.channels * (int)smp_sample_size(v.format);
    const bool adjacent = v.format == SMP_F32 && v.channels == 1;
    return matmul_plane{at, v.stride, v.width, v.height, step, v.format, adjacent};
}

template <typename T> SMP_DEVICE float matmul_value_at(const char *at)
{
    return smp_value(*reinterpret_cast<const T *>(at));
}
SMP_DEVICE float matmul_integer(const char *at, int format)
{
    return format == SMP_U8 ? matmul_value_at<uint8_t>(at) : matmul_value_at<uint16_t>(at);
}

/* The planes of both operands, for the block whose first output sample is (y, x). */
struct matmul_planes {
    matmul_plane l, r;
    int64_t y, x;

    /* Whether matmul_inside applies: all 128 x 128 samples are inside, adjacent f32. */
    SMP_DEVICE_MEMBER bool inside() const
    {
        return l.adjacent && r.adjacent && y + MATMUL_BLOCK <= l.height && x + MATMUL_BLOCK <= r.width;
    }

    SMP_DEVICE_MEMBER void load(matmul_tiles &to, int64_t k) const
    {
        load_l(to, k);
        load_r(to, k);
    }

    /* A warp takes 8 k of 4 rows, whole sectors of 32 bytes; stores to columns of the tile use 32 banks. */
    SMP_DEVICE_MEMBER void load_l(matmul_tiles &to, int64_t k) const
    {
        const int column = (int)threadIdx.x % 8, row = (int)threadIdx.x / 8;
        const char *from = l.at + (y + row) * l.stride + (k + column) * l.step;
#pragma unroll
        for (int i = 0; i < MATMUL_BLOCK / 32; i++)
#pragma unroll
            for (int j = 0; j < MATMUL_DEPTH / 8; j++) {
                const bool present = y + row + i * 32 < l.height && k + column + j * 8 < l.width;
                const char *at = present ? from + i * 32 * l.stride + j * 8 * l.step : l.at;
                float *place = &to.l[column + j * 8][row + i * 32];
                if (l.format == SMP_F32)
                    smp_copy_async<4>(place, at, present);
                else
                    *place = present ? matmul_integer(at, l.format) : 0.f;
            }
    }

    /* A warp takes 32 samples of a row. */
    SMP_DEVICE_MEMBER void load_r(matmul_tiles &to, int64_t k) const
    {
        const int row = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
        const char *from = r.at + (k + row) * r.stride + (x + lane) * r.step;
#pragma unroll
        for (int i = 0; i < MATMUL_DEPTH / MATMUL_WARPS; i++)
#pragma unroll
            for (int j = 0; j < MATMUL_BLOCK / 32; j++) {
                const bool present = k + row + i * MATMUL_WARPS < r.height && x + lane + j * 32 < r.width;
                const char *at = present ? from + i * MATMUL_WARPS * r.stride + j * 32 * r.step : r.at;
                float *place = &to.r[row + i * MATMUL_WARPS][lane + j * 32];
                if (r.format == SMP_F32)
                    smp_copy_async<4>(place, at, present);
                else
                    *place = present ? matmul_integer(at, r.format) : 0.f;
            }
    }
};

/* The same where only the last k are outside: a thread advances the addresses of its copies step by step. The rare
 * paths stay loops: unrolled, they would take registers from the sums, and one operation in two would have a register
 * bank conflict. */
struct matmul_inside {
    const char *l, *r; /* this thread's next copy */
    int64_t l_stride, r_stride, depth;
    bool aligned; /* the tile's part of R's rows, to 16 bytes */

    SMP_DEVICE_MEMBER matmul_inside(const matmul_planes &p)
        : l(p.l.at + (p.y + threadIdx.x / 8) * p.l.stride + threadIdx.x % 8 * sizeof(float)),
          r(p.r.at + threadIdx.x / 32 * p.r.stride + p.x * (int64_t)sizeof(float)), l_stride(p.l.stride),
          r_stride(p.r.stride), depth(p.l.width), aligned(((uintptr_t)r | (uintptr_t)p.r.stride) % 16 == 0)
    {
        r += threadIdx.x % 32 * (aligned ? 4 : 1) * sizeof(float);
    }

    SMP_DEVICE_MEMBER void load(matmul_tiles &to, int64_t k)
    {
        const int column = (int)threadIdx.x % 8, row = (int)threadIdx.x / 8, warp = (int)threadIdx.x / 32,
                  lane = (int)threadIdx.x % 32;
        if (k + MATMUL_DEPTH > depth) {
            load_last(to, (int)(depth - k));
            return;
        }
        const char *from = l;
#pragma unroll
        for (int i = 0; i < MATMUL_BLOCK; i += 32, from += l_stride * 32)
#pragma unroll
            for (int j = 0; j < MATMUL_DEPTH; j += 8)
                smp_copy_async<4>(&to.l[column + j][row + i], from + j * sizeof(float));
        if (aligned) {
#pragma unroll
            for (int i = 0; i < MATMUL_DEPTH; i += MATMUL_WARPS)
                smp_copy_async<16>(&to.r[warp + i][lane * 4], r + i * r_stride);
        } else {
#pragma unroll 1
            for (int j = 0; j < MATMUL_BLOCK; j += 32)
#pragma unroll
                for (int i = 0; i < MATMUL_DEPTH; i += MATMUL_WARPS)
                    smp_copy_async<4>(&to.r[warp + i][lane + j], r + i * r_stride + j * (int64_t)sizeof(float));
        }
        l += MATMUL_DEPTH * sizeof(float);
        r += MATMUL_DEPTH * r_stride;
    }

    /* Copies the first `left` k by 4 bytes each, and zeros after them. Padding would not do for L: NaN times a zero of
     * R is NaN. */
    SMP_DEVICE_MEMBER void load_last(matmul_tiles &to, int left)
    {
        const int column = (int)threadIdx.x % 8, row = (int)threadIdx.x / 8, warp = (int)threadIdx.x / 32,
                  lane = (int)threadIdx.x % 32;
        const char *from = l;
#pragma unroll 1
        for (int i = row; i < MATMUL_BLOCK; i += 32, from += l_stride * 32)
#pragma unroll
            for (int j = 0; j < MATMUL_DEPTH; j += 8) {
                const bool present = column + j < left;
                smp_copy_async<4>(&to.l[column + j][i], present ? from + j * sizeof(float) : l, present);
            }
        from = r - (aligned ? lane * 3 * sizeof(float) : 0);
#pragma unroll 1
        for (int j = lane; j < MATMUL_BLOCK; j += 32, from += 32 * sizeof(float))
#pragma unroll
            for (int i = 0; i < MATMUL_DEPTH; i += MATMUL_WARPS) {
                const bool present = warp + i < left;
                smp_copy_async<4>(&to.r[warp + i][j], present ? from + i * r_stride : r, present);
            }
        l += MATMUL_DEPTH * sizeof(float);
        r += MATMUL_DEPTH * r_stride;
    }
};
