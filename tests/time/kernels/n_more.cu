#include "launches.h"
// Questions that m_micro and j_cal leave open: wide products, byte accesses, atomics by pattern, partly written
// sectors, local memory, launches.
#define WIDE(NAME, C)                                                                                                  \
    K NAME(u64 *o, int n)                                                                                              \
    {                                                                                                                  \
        u64 a[C];                                                                                                      \
        u32 b = threadIdx.x | 1;                                                                                       \
        _Pragma("unroll") for (int i = 0; i < C; i++) a[i] = threadIdx.x + i;                                          \
        for (int k = 0; k < n; k++) {                                                                                  \
            _Pragma("unroll") for (int u = 0; u < 8; u++) _Pragma("unroll") for (int i = 0; i < C; i++) asm volatile(  \
                "{ .reg .u32 l, h; mov.b64 {l, h}, %0; mad.wide.u32 %0, l, %1, %0; }" : "+l"(a[i]) : "r"(b));          \
        }                                                                                                              \
        u64 s = 0;                                                                                                     \
        for (int i = 0; i < C; i++)                                                                                    \
            s += a[i];                                                                                                 \
        o[blockIdx.x * blockDim.x + threadIdx.x] = s;                                                                  \
    }
WIDE(n_wide4, 4) WIDE(n_wide1, 1) K n_wide_addr(float *o, const float *p, int n)
{
    float s = 0;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 8; u++)
        {
            u64 a;
            asm volatile("mad.wide.u32 %0, %1, 4, %2;" : "=l"(a) : "r"((threadIdx.x + k * 8 + u) & 1023), "l"(p));
            s += *(const volatile float *)a;
        }
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
#define SFU(NAME, S)                                                                                                   \
    K NAME(float *o, int n)                                                                                            \
    {                                                                                                                  \
        float a[4];                                                                                                    \
        for (int i = 0; i < 4; i++)                                                                                    \
            a[i] = threadIdx.x * 0.01f + i + 1;                                                                        \
        for (int k = 0; k < n; k++) {                                                                                  \
            _Pragma("unroll") for (int u = 0; u < 8; u++)                                                              \
                _Pragma("unroll") for (int i = 0; i < 4; i++) asm volatile(S : "+f"(a[i]));                            \
        }                                                                                                              \
        o[blockIdx.x * blockDim.x + threadIdx.x] = a[0] + a[1] + a[2] + a[3];                                          \
    }
SFU(n_rcp, "rcp.approx.ftz.f32 %0, %0;")
SFU(n_rsq, "rsqrt.approx.ftz.f32 %0, %0;") SFU(n_sin, "sin.approx.ftz.f32 %0, %0;")
    SFU(n_lg2, "lg2.approx.ftz.f32 %0, %0;") SFU(n_tanh, "tanh.approx.f32 %0, %0;") K n_expf(float *o, int n)
{
    float a = threadIdx.x * 0.001f, s = 0;
    for (int k = 0; k < n; k++) {
        s += expf(a + s * 1e-9f);
        a += 0.001f;
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K n_sqrt(float *o, int n)
{
    float s = threadIdx.x;
    for (int k = 0; k < n; k++)
        s = sqrtf(s + 1.5f) + s * 0.5f;
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K n_div(float *o, int n)
{
    float s = threadIdx.x + 1;
    for (int k = 0; k < n; k++)
        s = 3.f / (s + 1.5f) + k;
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K n_mix_xu(float *o, int n)
{
    float a = threadIdx.x * .01f, s = 0, q = 1;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 8; u++)
        {
            float e;
            asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(a));
            s += e;
            q = q * 1.0001f + s;
            q = q * .999f + a;
            a += .001f;
        }
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = s + q;
}
// bytes
K n_chain_u8(u32 *o, const u8 *p, int n)
{
    u32 x = threadIdx.x;
    for (int k = 0; k < n; k++)
        x = p[(x + threadIdx.x) & 1023];
    o[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
K n_chain_u32(u32 *o, const u32 *p, int n)
{
    u32 x = threadIdx.x;
    for (int k = 0; k < n; k++)
        x = p[(x + threadIdx.x) & 1023];
    o[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
K n_chain_s8(u32 *o, int n)
{
    __shared__ u8 s[1024];
    s[threadIdx.x & 1023] = threadIdx.x * 7;
    __syncthreads();
    u32 x = threadIdx.x;
    for (int k = 0; k < n; k++)
        x = s[(x + threadIdx.x) & 255];
    o[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
K n_chain_s32(u32 *o, int n)
{
    __shared__ u32 s[1024];
    s[threadIdx.x & 1023] = threadIdx.x * 7;
    __syncthreads();
    u32 x = threadIdx.x;
    for (int k = 0; k < n; k++)
        x = s[(x + threadIdx.x) & 255];
    o[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
K n_rate_u8(u32 *o, const u8 *p, int n)
{
    u32 x = 0;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 16; u++) x += *(volatile const u8 *)(p + ((threadIdx.x + u * 64) & 4095));
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
K n_copy_u8(u8 *o, const u8 *i, int n)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        o[k] = i[k];
}
K n_sum_u8(u32 *o, const u8 *i, int n)
{
    u32 s = 0;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        s += i[k];
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K n_fill_u8(u8 *o, int n)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        o[k] = k;
}
// atomics: the address of a lane by pattern
template <int P> __device__ inline u32 place(u32 k, u32 mask)
{
    u32 t = threadIdx.x, w = (blockIdx.x * blockDim.x + t) >> 5, l = t & 31;
    if (P == 0)
        return 0;
    if (P == 1)
        return w & mask;
    if (P == 2)
        return l;
    if (P == 3)
        return ((w << 5) + l) & mask;
    u32 x = (blockIdx.x * blockDim.x + t + k * 977) * 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return x & mask;
}
#define ATOM(NAME, P)                                                                                                  \
    K NAME##_i(u32 *o, int n, u32 mask)                                                                                \
    {                                                                                                                  \
        for (int k = 0; k < n; k++)                                                                                    \
            atomicAdd(o + place<P>(k, mask), threadIdx.x + k);                                                         \
    }                                                                                                                  \
    K NAME##_f(float *o, int n, u32 mask)                                                                              \
    {                                                                                                                  \
        for (int k = 0; k < n; k++)                                                                                    \
            atomicAdd(o + place<P>(k, mask), (float)k);                                                                \
    }                                                                                                                  \
    K NAME##_r(u32 *o, int n, u32 mask)                                                                                \
    {                                                                                                                  \
        u32 s = 0;                                                                                                     \
        for (int k = 0; k < n; k++)                                                                                    \
            s += atomicAdd(o + place<P>(k, mask), threadIdx.x + s);                                                    \
        if (s == 12345)                                                                                                \
            o[0] = s;                                                                                                  \
    }
ATOM(n_at_one, 0)
ATOM(n_at_warp, 1) ATOM(n_at_line, 2) ATOM(n_at_lines, 3) ATOM(n_at_rand, 4) K n_cas(u32 *o, int n, u32 mask)
{
    for (int k = 0; k < n; k++) {
        u32 *p = o + place<4>(k, mask), old = *p, was;
        do {
            was = old;
            old = atomicCAS(p, was, was + 1);
        } while (old != was);
    }
}
K n_max_one(u32 *o, int n)
{
    for (int k = 0; k < n; k++)
        atomicMax(o, threadIdx.x + k);
}
// partly written sectors
K n_st_stride(float *o, int n, int stride)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        o[(size_t)k * stride] = k;
}
K n_st_rand(float *o, int n, u32 mask)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
        u32 x = k * 2654435761u;
        x ^= x >> 15;
        x *= 2246822519u;
        x ^= x >> 13;
        o[x & mask] = k;
    }
}
K n_ld_rand(float *o, const float *i, int n, u32 mask)
{
    float s = 0;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
        u32 x = k * 2654435761u;
        x ^= x >> 15;
        x *= 2246822519u;
        x ^= x >> 13;
        s += i[x & mask];
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K n_rmw_rand(float *o, int n, u32 mask)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
        u32 x = k * 2654435761u;
        x ^= x >> 15;
        x *= 2246822519u;
        x ^= x >> 13;
        o[x & mask] += 1;
    }
}
// local memory
template <int N> __device__ inline void loc(float *o, int n)
{
    float a[N];
    u32 x = threadIdx.x;
    for (int i = 0; i < N; i++)
        a[i] = i;
    for (int k = 0; k < n; k++) {
        x = x * 1664525u + 1013904223u;
        a[(x >> 16) % N] += 1;
    }
    float s = 0;
    for (int i = 0; i < N; i++)
        s += a[i];
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K n_local16(float *o, int n)
{
    loc<16>(o, n);
}
K n_local64(float *o, int n)
{
    loc<64>(o, n);
}
K n_local256(float *o, int n)
{
    loc<256>(o, n);
}
template <int N> __device__ inline void locu(float *o, int n)
{
    float a[N];
    for (int i = 0; i < N; i++)
        a[i] = i;
    for (int k = 0; k < n; k++)
        a[(k * 7) % N] += 1;
    float s = 0;
    for (int i = 0; i < N; i++)
        s += a[i];
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K n_locu64(float *o, int n)
{
    locu<64>(o, n);
}
K n_locu256(float *o, int n)
{
    locu<256>(o, n);
}
// launches
K n_empty() {}
K n_empty_args(float *o, float *a, float *b, int n)
{
    if (n == -1)
        o[0] = a[0] + b[0];
}
K n_one(float *o, const float *i)
{
    o[threadIdx.x] = i[threadIdx.x];
}
K n_one_cold(float *o, const float *i, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        o[k] = i[k] * 2;
}
int main()
{
    float *o = buf<float>(64 << 20, ZERO), *i = buf<float>(64 << 20);
    u32 *ou = (u32 *)o;
    const u32 *iu = (const u32 *)i;
    const u8 *ib = (const u8 *)i;
    u8 *ob = (u8 *)o;
    RUN(n_wide4, (528), (256), 0, n_wide4, (u64 *)o, 40);
    RUN(n_wide1, (1), (32), 0, n_wide1, (u64 *)o, 40);
    RUN(n_wide_addr, (528), (256), 0, n_wide_addr, o, i, 20);
    RUN(n_rcp, (528), (256), 0, n_rcp, o, 40);
    RUN(n_rsq, (528), (256), 0, n_rsq, o, 40);
    RUN(n_sin, (528), (256), 0, n_sin, o, 40);
    RUN(n_lg2, (528), (256), 0, n_lg2, o, 40);
    RUN(n_tanh, (528), (256), 0, n_tanh, o, 40);
    RUN(n_expf, (1056), (256), 0, n_expf, o, 200);
    RUN(n_sqrt, (1056), (256), 0, n_sqrt, o, 100);
    RUN(n_div, (1056), (256), 0, n_div, o, 100);
    RUN(n_mix_xu, (528), (256), 0, n_mix_xu, o, 40);
    RUN(n_chain_u8, (132), (32), 0, n_chain_u8, ou, ib, 400);
    RUN(n_chain_u32, (132), (32), 0, n_chain_u32, ou, iu, 400);
    RUN(n_chain_s8, (132), (1024), 0, n_chain_s8, ou, 200);
    RUN(n_chain_s8_1, (132), (32), 0, n_chain_s8, ou, 400);
    RUN(n_chain_s32_1, (132), (32), 0, n_chain_s32, ou, 400);
    RUN(n_rate_u8, (528), (256), 0, n_rate_u8, ou, ib, 20);
    RUN(n_copy_u8, (1056), (256), 0, n_copy_u8, ob, ib, 16 << 20);
    RUN(n_sum_u8, (1056), (256), 0, n_sum_u8, ou, ib, 32 << 20);
    RUN(n_fill_u8, (1056), (256), 0, n_fill_u8, ob, 16 << 20);
#define ATOMS(P, M, B, N)                                                                                              \
    RUN(n_at_##P##_i_##B##_##N, (B), (256), 0, n_at_##P##_i, ou, N, M);                                                \
    RUN(n_at_##P##_f_##B##_##N, (B), (256), 0, n_at_##P##_f, o, N, M);                                                 \
    RUN(n_at_##P##_r_##B##_##N, (B), (256), 0, n_at_##P##_r, ou, N, M);
    ATOMS(one, 0, 1, 16)
    ATOMS(one, 0, 132, 4) ATOMS(one, 0, 1056, 4) ATOMS(warp, 255, 528, 8) ATOMS(warp, 65535, 528, 8)
        ATOMS(line, 31, 132, 8) ATOMS(line, 31, 1056, 4) ATOMS(lines, 0xfffff, 1056, 8)
#define RAND(M, T)                                                                                                     \
    RUN(n_at_rand_i_##T, (1056), (256), 0, n_at_rand_i, ou, 8, M);                                                     \
    RUN(n_at_rand_f_##T, (1056), (256), 0, n_at_rand_f, o, 8, M);                                                      \
    RUN(n_at_rand_r_##T, (1056), (256), 0, n_at_rand_r, ou, 8, M);
            RAND(255, 256) RAND(4095, 4k) RAND(65535, 64k) RAND(0xfffff, 1m) RAND(0xffffff, 16m)
                RUN(n_cas_64k, (528), (256), 0, n_cas, ou, 4, 65535);
    RUN(n_max_one, (528), (256), 0, n_max_one, ou, 4);
    RUN(n_st_stride8, (1056), (256), 0, n_st_stride, o, 8 << 20, 8);
    RUN(n_st_stride16, (1056), (256), 0, n_st_stride, o, 4 << 20, 16);
    RUN(n_st_stride32, (1056), (256), 0, n_st_stride, o, 2 << 20, 32);
    RUN(n_st_stride2, (1056), (256), 0, n_st_stride, o, 16 << 20, 2);
    RUN(n_st_stride8s, (1056), (256), 0, n_st_stride, o, 1 << 20, 8);
    RUN(n_st_rand_16, (1056), (256), 0, n_st_rand, o, 4 << 20, (4 << 20) - 1);
    RUN(n_st_rand_64, (1056), (256), 0, n_st_rand, o, 4 << 20, (16 << 20) - 1);
    RUN(n_st_rand_256, (1056), (256), 0, n_st_rand, o, 4 << 20, (64 << 20) - 1);
    RUN(n_ld_rand_16, (1056), (256), 0, n_ld_rand, o, i, 4 << 20, (4 << 20) - 1);
    RUN(n_ld_rand_256, (1056), (256), 0, n_ld_rand, o, i, 4 << 20, (64 << 20) - 1);
    RUN(n_rmw_rand_256, (1056), (256), 0, n_rmw_rand, o, 2 << 20, (64 << 20) - 1);
    RUN(n_local16, (1056), (256), 0, n_local16, o, 64);
    RUN(n_local64, (1056), (256), 0, n_local64, o, 64);
    RUN(n_local256, (528), (256), 0, n_local256, o, 64);
    RUN(n_locu64, (1056), (256), 0, n_locu64, o, 64);
    RUN(n_locu256, (528), (256), 0, n_locu256, o, 256);
    RUN(n_empty_1, (1), (32), 0, n_empty);
    RUN(n_empty_132, (132), (256), 0, n_empty);
    RUN(n_empty_1320, (1320), (256), 0, n_empty);
    RUN(n_empty_13200, (13200), (256), 0, n_empty);
    RUN(n_empty_1320_1024, (1320), (1024), 0, n_empty);
    RUN(n_empty_args, (132), (256), 0, n_empty_args, o, o, o, 0);
    RUN(n_one, (1), (32), 0, n_one, o, i);
    RUN(n_one_cold_64k, (256), (256), 0, n_one_cold, o, i, 65536);
    RUN(n_one_cold_256k, (1024), (256), 0, n_one_cold, o, i, 262144);
    RUN(n_one_cold_1m, (4096), (256), 0, n_one_cold, o, i, 1 << 20);
    return 0;
}
