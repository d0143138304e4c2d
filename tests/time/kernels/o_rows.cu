#include "launches.h"
// Lanes that each go along a row of their own: loads that hit L1, miss it, stores, both; rows of many KB apart.
// Hits: every warp reads the same 32 rows.
__global__ void o_hit(float *o, const float *i, int stride, int n)
{
    const float *p = i + (threadIdx.x & 31) * stride;
    float s = 0;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 8; u++) s += p[(k * 8 + u) & 31];
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
// One after another.
__global__ void o_hit_chain(u32 *o, const u32 *i, int stride, int n)
{
    u32 at = (threadIdx.x & 31) * stride;
    for (int k = 0; k < n; k++)
        at += i[at] >> 31;
    o[threadIdx.x] = at;
}
// One after another along memory, `step` words at a time, all lanes and SMs at the same place.
__global__ void o_walk(u32 *o, const u32 *i, u32 step, int n)
{
    u32 at = 0;
    for (int k = 0; k < n; k++)
        at += step + (i[at] >> 31);
    o[threadIdx.x] = at;
}
// Each warp its own rows, which then lie in L1 (few warps) or in L2.
__global__ void o_own(float *o, const float *i, int stride, int n)
{
    const float *p = i + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * stride;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += p[k];
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void o_put(float *o, int stride, int n)
{
    float *p = o + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * stride;
    for (int k = 0; k < n; k++)
        p[k & 15] = k;
}
__global__ void o_both(float *o, const float *i, int stride, int n)
{
    const size_t at = (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * stride;
    for (int r = 0; r < n; r++)
        for (int k = 0; k < 16; k++)
            o[at + k] += i[at + k];
}
// A load of 32 places that are `stride` floats apart, `step` further each time: no line is used again.
__global__ void o_apart(float *o, const float *i, int stride, int step, int n)
{
    const float *p = i + (size_t)(threadIdx.x & 31) * stride + (blockIdx.x * 8 + threadIdx.x / 32) * 32;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += p[(size_t)k * step];
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
// Sums of bytes, a byte a lane and step, as naive variants of pictures read them.
__global__ void o_bytes(u8 *o, const u8 *i, int width, int height)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const size_t at = ((size_t)y * width + x) * 3;
    for (int c = 0; c < 3; c++)
        o[at + c] = 255 - i[at + c];
}
int main()
{
    float *i = buf<float>(64 << 20, ZERO), *o = buf<float>(16 << 20, ZERO);
#define HIT(S)                                                                                                         \
    RUN(o_hit_##S, (528), (256), 0, o_hit, o, i, S, 16);                                                               \
    RUN(o_hit_chain_##S, (1), (32), 0, o_hit_chain, (u32 *)o, (const u32 *)i, S, 200);
    HIT(0) HIT(1) HIT(2) HIT(4) HIT(8) HIT(16) HIT(32) HIT(33) HIT(40) HIT(50) HIT(64) HIT(65) HIT(1025)
#define OWN(S)                                                                                                         \
    RUN(o_own_##S##_1, (132), (32), 0, o_own, o, i, S, 32);                                                            \
    RUN(o_own_##S##_8, (132), (256), 0, o_own, o, i, S, 32);                                                           \
    RUN(o_own_##S##_32, (528), (256), 0, o_own, o, i, S, 32);
    OWN(32) OWN(33) OWN(50) OWN(128) OWN(480)
#define WALK(S)                                                                                                        \
    RUN(o_walk_##S##_1, (1), (32), 0, o_walk, (u32 *)o, (const u32 *)i, S, 1024);                                      \
    RUN(o_walk_##S##_16, (16), (32), 0, o_walk, (u32 *)o, (const u32 *)i, S, 1024);                                    \
    RUN(o_walk_##S##_132, (132), (32), 0, o_walk, (u32 *)o, (const u32 *)i, S, 1024);
    WALK(4) WALK(8) WALK(16) WALK(32) WALK(64) WALK(1024)
#define PUT(S)                                                                                                         \
    RUN(o_put_##S##_1, (132), (32), 0, o_put, o, S, 64);                                                               \
    RUN(o_put_##S##_8, (132), (256), 0, o_put, o, S, 64);                                                              \
    RUN(o_put_##S##_16, (16), (256), 0, o_put, o, S, 256);
    PUT(1) PUT(16) PUT(32) PUT(50) PUT(128)
#define BOTH_(S)                                                                                                       \
    RUN(o_both_##S##_16, (16), (256), 0, o_both, o, i, S, 16);                                                         \
    RUN(o_both_##S##_132, (132), (256), 0, o_both, o, i, S, 16);
    BOTH_(16) BOTH_(32) BOTH_(50)
#define APART(S, N)                                                                                                    \
    RUN(o_apart_##N##_1, (132), (32), 0, o_apart, o, i, S, 256 * 132, 8);                                              \
    RUN(o_apart_##N##_8, (132), (256), 0, o_apart, o, i, S, 256 * 132, 8);
    APART(1 << 10, 4k) APART(1 << 14, 64k) APART(1 << 18, 1m) APART(1 << 20, 4m) APART((1 << 18) + 4096, 1m16)
    RUN(o_bytes_small, (57, 150), (32, 8), 0, o_bytes, (u8 *)o, (const u8 *)i, 1804, 1200);
    RUN(o_bytes_large, (113, 300), (32, 8), 0, o_bytes, (u8 *)o, (const u8 *)i, 3608, 2400);
}
