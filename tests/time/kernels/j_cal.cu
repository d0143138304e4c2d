#include "launches.h"
// Calibration: L2 and DRAM rates by kind of request, instruction caches, mixes. Part of the training set.
__device__ inline float4 cg4(const float4 *p)
{
    float4 v;
    asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
    return v;
}
__device__ inline float cg1(const float *p)
{
    float v;
    asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
}
K c_l2_line(float *o, const float4 *i, int n, int reps, int own)
{
    const float4 *p = i + (own ? blockIdx.x * n : 0);
    float s = 0;
    for (int r = 0; r < reps; r++) {
        _Pragma("unroll 4") for (int k = threadIdx.x; k < n; k += 256)
        {
            float4 v = cg4(p + k);
            s += v.x + v.w;
        }
    }
    o[blockIdx.x * 256 + threadIdx.x] = s;
}
K c_l2_sect(float *o, const float *i, int n, int reps, int own)
{
    const float *p = i + (own ? blockIdx.x * n : 0);
    float s = 0;
    for (int r = 0; r < reps; r++) {
        _Pragma("unroll 4") for (int k = threadIdx.x * 8; k < n; k += 2048) s += cg1(p + k);
    }
    o[blockIdx.x * 256 + threadIdx.x] = s;
}
K c_l2_hot(float *o, const float *i, int reps)
{
    float s = 0;
    _Pragma("unroll 4") for (int r = 0; r < reps; r++) s += cg1(i + (threadIdx.x & 31));
    o[blockIdx.x * 256 + threadIdx.x] = s;
}
K c_st_line(float4 *o, int n, int reps)
{
    float4 *p = o + blockIdx.x * n;
    for (int r = 0; r < reps; r++)
        for (int k = threadIdx.x; k < n; k += 256)
            p[k] = make_float4(r, k, 0, 1);
}
K c_st_part(float *o, int n, int reps)
{
    float *p = o + blockIdx.x * n;
    for (int r = 0; r < reps; r++)
        for (int k = threadIdx.x * 8; k < n; k += 2048)
            p[k] = r;
}
K c_dram_rand(float *o, const float4 *i, u32 mask, int reps)
{
    u32 x = (blockIdx.x * 256 + threadIdx.x) * 2654435761u;
    float s = 0;
    for (int r = 0; r < reps; r++) {
        x = x * 1664525u + 1013904223u;
        s += cg1((const float *)(i + (x >> 4 & mask)));
    }
    o[blockIdx.x * 256 + threadIdx.x] = s;
}
K c_dram_r(float *o, const float4 *i, int n)
{
    float s = 0;
    _Pragma("unroll 4") for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
    {
        float4 v = i[k];
        s += v.x + v.y + v.z + v.w;
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K c_dram_w(float4 *o, int n)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        o[k] = make_float4(k, 1, 2, 3);
}
K c_dram_rw(float4 *o, const float4 *i, int n)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        o[k] = i[k];
}
template <int N> __device__ inline void body(float *o, int n)
{
    float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < N / 4; u++)
        {
            asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(a) : "f"(b), "f"(c));
            asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(b) : "f"(c), "f"(d));
            asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(c) : "f"(d), "f"(a));
            asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(d) : "f"(a), "f"(b));
        }
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
K c_ic256(float *o, int n)
{
    body<256>(o, n);
}
K c_ic1k(float *o, int n)
{
    body<1024>(o, n);
}
K c_ic2k(float *o, int n)
{
    body<2048>(o, n);
}
K c_ic4k(float *o, int n)
{
    body<4096>(o, n);
}
K c_ic8k(float *o, int n)
{
    body<8192>(o, n);
}
K c_ic16k(float *o, int n)
{
    body<16384>(o, n);
}
K c_lds_fadd(float *o, int n)
{
    __shared__ float s[1024];
    int t = threadIdx.x;
    for (int k = t; k < 1024; k += 256)
        s[k] = k;
    __syncthreads();
    float a = 0, b = 0, c = 0, d = 0;
    const volatile float *p = s + (t & 31);
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 8; u++)
        {
            float v = p[u * 32];
            a += v;
            b += v * 2;
            c += v * 3;
            d += v * 4;
        }
    }
    o[blockIdx.x * 256 + t] = a + b + c + d;
}
K c_loop(float *o, int n)
{
    float a = threadIdx.x;
    _Pragma("unroll 1") for (int k = 0; k < n; k++) a = a * .99f + 1;
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
K c_loop_div(float *o, int n)
{
    float a = threadIdx.x;
    int m = n - (threadIdx.x & 31) * 4;
    _Pragma("unroll 1") for (int k = 0; k < m; k++) a = a * .99f + 1;
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
K c_if(float *o, int n)
{
    float a = threadIdx.x;
    _Pragma("unroll 1") for (int k = 0; k < n; k++)
    {
        if ((threadIdx.x ^ k) & 1) {
            a = __sinf(a);
            a = a * a + .1f;
            a = __expf(a);
        } else {
            a = __cosf(a);
            a = a * a - .1f;
            a = __logf(a * a + 1);
        }
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
K c_red_same(u32 *o, int n)
{
    for (int k = 0; k < n; k++)
        atomicAdd(&o[(threadIdx.x & 31) + (k & 3) * 32], threadIdx.x);
}
K c_red_own(u32 *o, int n)
{
    u32 *p = o + (blockIdx.x * 8 + threadIdx.x / 32) * 32 + (threadIdx.x & 31);
    for (int k = 0; k < n; k++)
        atomicAdd(p, k);
}
K c_atom_own(u32 *o, int n)
{
    u32 *p = o + (blockIdx.x * 8 + threadIdx.x / 32) * 32 + (threadIdx.x & 31);
    u32 s = 0;
    for (int k = 0; k < n; k++)
        s = atomicAdd(p, s + k);
    o[(1 << 20) + blockIdx.x * 256 + threadIdx.x] = s;
}
K c_atoms_same(u32 *o, int n)
{
    __shared__ u32 s[32];
    if (threadIdx.x < 32)
        s[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < n; k++)
        atomicAdd(&s[(k + threadIdx.x) >> 5 & 3], threadIdx.x);
    __syncthreads();
    if (threadIdx.x < 32)
        o[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}
K c_l1_lat4(float *o, const float4 *i, int n)
{
    int k = threadIdx.x;
    float s = 0;
    for (int r = 0; r < n; r++) {
        float4 v = i[k];
        k = (int)v.x * 0 + ((k + 32) & 255);
        s += v.y;
        k += __float_as_int(v.w) & 0;
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K c_stl(float *o, int n)
{
    float a[32];
    int t = threadIdx.x;
    for (int k = 0; k < 32; k++)
        a[k] = t + k;
    for (int r = 0; r < n; r++) {
        int x = (r * 7) & 31;
        a[x] = a[(x + 5) & 31] + 1;
    }
    float s = 0;
    for (int k = 0; k < 32; k++)
        s += a[k];
    o[blockIdx.x * blockDim.x + t] = s;
}
int main()
{
    float *a = buf<float>((size_t)64 << 20), *o = buf<float>((size_t)64 << 20, ZERO);
    RUN(c_l2_line, (264), (256), 0, c_l2_line, o, (float4 *)a, 4096, 8, 1);
    RUN(c_l2_line_same, (264), (256), 0, c_l2_line, o, (float4 *)a, 4096, 8, 0);
    RUN(c_l2_line8, (1056), (256), 0, c_l2_line, o, (float4 *)a, 1024, 8, 1);
    RUN(c_l2_sect, (264), (256), 0, c_l2_sect, o, a, 16384, 16, 1);
    RUN(c_l2_sect8, (1056), (256), 0, c_l2_sect, o, a, 8192, 16, 1);
    RUN(c_l2_hot, (264), (256), 0, c_l2_hot, o, a, 256);
    RUN(c_l2_line_66, (66), (256), 0, c_l2_line, o, (float4 *)a, 4096, 8, 1);
    RUN(c_l2_line_8sm, (8), (1024), 0, c_l2_line, o, (float4 *)a, 8192, 8, 1);
    RUN(c_st_line, (264), (256), 0, c_st_line, (float4 *)o, 4096, 8);
    RUN(c_st_part, (264), (256), 0, c_st_part, o, 16384, 8);
    RUN(c_dram_rand, (1056), (256), 0, c_dram_rand, o, (float4 *)a, (16u << 20) - 1, 16);
    RUN(c_dram_r, (1056), (256), 0, c_dram_r, o, (float4 *)a, 16 << 20);
    RUN(c_dram_w, (1056), (256), 0, c_dram_w, (float4 *)o, 16 << 20);
    RUN(c_dram_rw, (1056), (256), 0, c_dram_rw, (float4 *)o, (float4 *)a, 8 << 20);
    RUN(c_dram_r_66, (66), (1024), 0, c_dram_r, o, (float4 *)a, 8 << 20);
    RUN(c_dram_r_8, (8), (1024), 0, c_dram_r, o, (float4 *)a, 1 << 20);
    RUN(c_ic256, (264), (256), 0, c_ic256, o, 160);
    RUN(c_ic1k, (264), (256), 0, c_ic1k, o, 40);
    RUN(c_ic2k, (264), (256), 0, c_ic2k, o, 20);
    RUN(c_ic4k, (264), (256), 0, c_ic4k, o, 10);
    RUN(c_ic8k, (264), (256), 0, c_ic8k, o, 5);
    RUN(c_ic16k, (264), (256), 0, c_ic16k, o, 3);
    RUN(c_ic1k_w1, (132), (128), 0, c_ic1k, o, 20);
    RUN(c_ic8k_w1, (132), (128), 0, c_ic8k, o, 3);
    RUN(c_lds_fadd, (528), (256), 0, c_lds_fadd, o, 100);
    RUN(c_loop_w1, (132), (128), 0, c_loop, o, 2000);
    RUN(c_loop_w8, (528), (256), 0, c_loop, o, 2000);
    RUN(c_loop_div, (528), (256), 0, c_loop_div, o, 1000);
    RUN(c_if, (528), (256), 0, c_if, o, 200);
    RUN(c_red_same, (132), (256), 0, c_red_same, (u32 *)o, 32);
    RUN(c_red_own, (264), (256), 0, c_red_own, (u32 *)o, 64);
    RUN(c_atom_own, (264), (256), 0, c_atom_own, (u32 *)o, 32);
    RUN(c_atoms_same, (264), (256), 0, c_atoms_same, (u32 *)o, 100);
    RUN(c_stl, (528), (256), 0, c_stl, o, 64);
}
