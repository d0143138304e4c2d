/* matmul on GPUs, variant register (matmul.cu compares the variants). Blocks make 128 x 128 output samples. In 8 rows
 * of blocks those of one column run after each other, so that they find R's tiles in the L2. */
#include "matmul/matmul.cuh"

/* The tile of the output that a block makes. */
SMP_DEVICE void matmul_place(const smp_io &io, int64_t *y, int64_t *x)
{
    const int64_t across = (io.out.width + MATMUL_BLOCK - 1) / MATMUL_BLOCK;
    const int64_t down = (io.out.rows + MATMUL_BLOCK - 1) / MATMUL_BLOCK, block = blockIdx.x;
    const int64_t group = block / (across * SMP_MATMUL_GROUP), first = group * SMP_MATMUL_GROUP;
    const int64_t rows = down - first < SMP_MATMUL_GROUP ? down - first : (int64_t)SMP_MATMUL_GROUP;
    const int64_t within = block - first * across;
    *y = io.out.y0 + (first + within % rows) * MATMUL_BLOCK;
    *x = within / rows * MATMUL_BLOCK;
}

/* Moves tiles at the output's lower and right end up and to the left until all their samples exist. Shared samples are
 * made twice, with the same result, and no tile takes the slow path, which would delay the end of the launch: 4093 x
 * 4093 takes 1.01 times as long a sample as 4096 x 4096 instead of 1.08. */
SMP_DEVICE void matmul_move_inside(const smp_io &io, int64_t *y, int64_t *x)
{
    *y = min(*y, max(io.out.y0 + io.out.rows - MATMUL_BLOCK, io.out.y0));
    *x = min(*x, max(io.out.width - MATMUL_BLOCK, (int64_t)0));
}

template <typename OUT, typename OPERANDS>
SMP_DEVICE void matmul_make(const smp_io &io, const smp_matmul_params &p, matmul_buffers &s,
                            const matmul_planes &planes, OPERANDS operands)
{
    float sum[8][8] = {};
    matmul_sums(s, operands, 0, planes.l.width, sum);

    typedef smp_pack<float, MATMUL_SQUARE> four;
    const int c = (int)blockIdx.z;
    /* Added to `data`, it would take registers of the sums. */
    const uintptr_t x_bytes = (uintptr_t)planes.x * sizeof(float);
    const bool adjacent = sizeof(OUT) == 4 && io.out.channels == 1 &&
                          ((uintptr_t)io.out.data | (uintptr_t)io.out.stride | x_bytes) % sizeof(four) == 0;
    const int64_t y0 = planes.y + matmul_y(), x0 = planes.x + matmul_x(), end = io.out.y0 + io.out.rows;
    unsigned clipped = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int64_t y = y0 + matmul_down(i);
        if (y >= end)
            continue;
        OUT *out = smp_out<OUT>(io.out, y);
#pragma unroll
        for (int j = 0; j < 8; j += MATMUL_SQUARE) {
            const int64_t x = x0 + matmul_across(j);
            four v;
#pragma unroll
            for (int m = 0; m < MATMUL_SQUARE; m++)
                v.v[m] = smp_matmul_value(sum[i][j + m], p.divisor);
            if (adjacent && x + MATMUL_SQUARE <= io.out.width) {
                *reinterpret_cast<four *>(out + x) = v;
                continue;
            }
#pragma unroll
            for (int m = 0; m < MATMUL_SQUARE; m++)
                if (x + m < io.out.width) {
                    if (io.clipped)
                        clipped += smp_clipped<OUT>(v.v[m]);
                    out[(x + m) * io.out.channels + c] = smp_rounded<OUT>(v.v[m]);
                }
        }
    }
    smp_count_clipped<OUT>(io, clipped);
}

/* Two loops, each with registers of its own for the sums. */
template <typename IN, typename OUT> SMP_DEVICE void matmul_register(const smp_io &io, const smp_matmul_params &p)
{
    SMP_SHARED(matmul_buffers, s);
    const smp_view &l = *smp_matmul_l(&io, &p), &r = *smp_matmul_r(&io, &p);
    const int c = (int)blockIdx.z;
    matmul_planes planes = {matmul_plane_of(l, smp_matmul_plane(&l, c)), matmul_plane_of(r, smp_matmul_plane(&r, c)), 0,
                            0};
    matmul_place(io, &planes.y, &planes.x);
    if (sizeof(OUT) == sizeof(float)) /* else clipped samples would be counted twice */
        matmul_move_inside(io, &planes.y, &planes.x);
    if (sizeof(IN) == sizeof(float) && planes.inside())
        matmul_make<OUT>(io, p, s, planes, matmul_inside(planes));
    else
        matmul_make<OUT>(io, p, s, planes, planes);
}

#define MATMUL_REGISTER(in, IN, out, OUT)                                                                              \
    SMP_KERNEL_BOUNDS(SMP_MATMUL_THREADS, SMP_MATMUL_BLOCKS, matmul_register_##in##_##out, smp_matmul_params, io, p)   \
    {                                                                                                                  \
        matmul_register<IN, OUT>(io, p);                                                                               \
    }
MATMUL_REGISTER(u8, uint8_t, u8, uint8_t)
MATMUL_REGISTER(u16, uint16_t, u16, uint16_t)
MATMUL_REGISTER(f32, float, f32, float)
MATMUL_REGISTER(u8, uint8_t, f32, float)
MATMUL_REGISTER(u16, uint16_t, f32, float)
MATMUL_REGISTER(f32, float, u8, uint8_t)
MATMUL_REGISTER(f32, float, u16, uint16_t)
