#include "launches.h"
K chase(u32 *o, const u32 *p, int steps)
{
    u32 k = blockIdx.x * 7919 + threadIdx.x;
    k &= 1023;
    for (int s = 0; s < steps; s++)
        k = p[k];
    o[blockIdx.x * blockDim.x + threadIdx.x] = k;
}
K chase_shared(u32 *o, int steps)
{
    __shared__ u32 s[1024];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
        s[k] = (k * 37 + 11) & 1023;
    __syncthreads();
    u32 k = threadIdx.x;
    for (int q = 0; q < steps; q++)
        k = s[k];
    o[blockIdx.x * blockDim.x + threadIdx.x] = k;
}
template <int ILP> __device__ inline void fma_(float *o, int n)
{
    float a[ILP];
    for (int i = 0; i < ILP; i++)
        a[i] = threadIdx.x + i;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 8; u++) _Pragma("unroll") for (int i = 0; i < ILP; i++) a[i] =
            a[i] * 0.999f + 0.5f;
    }
    float s = 0;
    for (int i = 0; i < ILP; i++)
        s += a[i];
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K fma_ilp1(float *o, int n)
{
    fma_<1>(o, n);
}
K fma_ilp2(float *o, int n)
{
    fma_<2>(o, n);
}
K fma_ilp4(float *o, int n)
{
    fma_<4>(o, n);
}
K fma_ilp8(float *o, int n)
{
    fma_<8>(o, n);
}
K chain_imad(u32 *o, int n)
{
    u32 a = threadIdx.x;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 8; u++) a = a * 1664525u + 1013904223u;
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
K chain_int(u32 *o, int n)
{
    u32 a = threadIdx.x;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 4; u++)
        {
            a ^= a << 13;
            a ^= a >> 17;
            a ^= a << 5;
        }
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
K chain_dfma(double *o, int n)
{
    double a = threadIdx.x;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 8; u++) a = a * 0.999 + 0.5;
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
K thr_dfma(double *o, int n)
{
    double a[4];
    for (int i = 0; i < 4; i++)
        a[i] = threadIdx.x + i;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 4; u++) _Pragma("unroll") for (int i = 0; i < 4; i++) a[i] =
            a[i] * 0.999 + 0.5;
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a[0] + a[1] + a[2] + a[3];
}
K chain_mufu(float *o, int n)
{
    float a = threadIdx.x;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 8; u++) a = __sinf(a);
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
K thr_mufu(float *o, int n)
{
    float a[4];
    for (int i = 0; i < 4; i++)
        a[i] = threadIdx.x * .01f + i;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int i = 0; i < 4; i++) a[i] = __expf(a[i]) - 1.f;
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a[0] + a[1] + a[2] + a[3];
}
K thr_mix(float *o, int n)
{
    float a = threadIdx.x, b = a + 1;
    u32 c = threadIdx.x, d = c + 5;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 4; u++)
        {
            a = a * .99f + .5f;
            b = b * .98f + .25f;
            c = (c ^ d) + 7;
            d = (d << 3) ^ c;
        }
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
K shfl_chain(u32 *o, int n)
{
    u32 a = threadIdx.x;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 4; u++) a += __shfl_xor_sync(~0u, a, 1 << u);
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
K sync_loop(u32 *o, int n)
{
    u32 a = threadIdx.x;
    for (int k = 0; k < n; k++) {
        __syncthreads();
        a = a * 3 + 1;
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
K sync_shared(float *o, int n)
{
    __shared__ float s[1024];
    int t = threadIdx.x;
    s[t] = t;
    for (int k = 0; k < n; k++) {
        __syncthreads();
        float v = s[(t + 33) & (blockDim.x - 1)];
        __syncthreads();
        s[t] = v + 1;
    }
    o[blockIdx.x * blockDim.x + t] = s[t];
}
K empty() {}
K tiny(float *o)
{
    o[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}
static u32 *ring(u32 n, u32 stride)
{
    std::vector<u32> p(n);
    std::vector<u32> q(n / stride);
    for (u32 i = 0; i < q.size(); i++)
        q[i] = i;
    for (u32 i = q.size() - 1; i > 0; i--)
        std::swap(q[i], q[rnd() % (i + 1)]);
    for (u32 i = 0; i < n; i++)
        p[i] = i % stride;
    for (u32 i = 0; i < q.size(); i++)
        for (u32 l = 0; l < stride; l++)
            p[q[i] * stride + l] = q[(i + 1) % q.size()] * stride + l;
    return (u32 *)up(p.data(), (size_t)n * 4);
}
int main()
{
    u32 *o = buf<u32>(8 << 20, ZERO);
    u32 *p16k = ring(4096, 32), *p4m = ring(1 << 20, 32), *p128m = ring(32 << 20, 32);
    RUN(chase_l1, (1), (1), 0, chase, o, p16k, 2000);
    RUN(chase_l2, (1), (1), 0, chase, o, p4m, 1000);
    RUN(chase_dram, (1), (1), 0, chase, o, p128m, 500);
    RUN(chase_many_l2, (132 * 4), (128), 0, chase, o, p4m, 200);
    RUN(chase_many_dram, (132 * 8), (256), 0, chase, o, p128m, 50);
    RUN(chase_shared, (132), (32), 0, chase_shared, o, 2000);
    RUN(fma_ilp1_w1, (132), (32), 0, fma_ilp1, (float *)o, 500);
    RUN(fma_ilp2_w1, (132), (32), 0, fma_ilp2, (float *)o, 500);
    RUN(fma_ilp4_w1, (132), (32), 0, fma_ilp4, (float *)o, 500);
    RUN(fma_ilp1_w16, (132), (512), 0, fma_ilp1, (float *)o, 500);
    RUN(fma_ilp8_full, (132 * 8), (256), 0, fma_ilp8, (float *)o, 200);
    RUN(chain_imad, (132 * 2), (256), 0, chain_imad, o, 300);
    RUN(chain_int, (132 * 2), (256), 0, chain_int, o, 300);
    RUN(chain_int_full, (132 * 8), (256), 0, chain_int, o, 300);
    RUN(chain_dfma, (132), (128), 0, chain_dfma, (double *)o, 200);
    RUN(thr_dfma, (132 * 4), (256), 0, thr_dfma, (double *)o, 200);
    RUN(chain_mufu, (132), (128), 0, chain_mufu, (float *)o, 200);
    RUN(thr_mufu, (132 * 8), (256), 0, thr_mufu, (float *)o, 200);
    RUN(thr_mix, (132 * 8), (256), 0, thr_mix, (float *)o, 200);
    RUN(shfl_chain, (132 * 2), (256), 0, shfl_chain, o, 300);
    RUN(shfl_full, (132 * 8), (256), 0, shfl_chain, o, 100);
    RUN(sync_1024, (132 * 2), (1024), 0, sync_loop, o, 1000);
    RUN(sync_128, (132 * 4), (128), 0, sync_loop, o, 1000);
    RUN(sync_shared256, (132 * 8), (256), 0, sync_shared, (float *)o, 400);
    RUN(sync_shared1024, (132 * 2), (1024), 0, sync_shared, (float *)o, 400);
    RUN(empty_1, (1), (32), 0, empty);
    RUN(empty_16k, (16384), (256), 0, empty);
    RUN(empty_64k_b64, (65536), (64), 0, empty);
    RUN(tiny_1, (1), (32), 0, tiny, (float *)o);
    RUN(tiny_132, (132), (256), 0, tiny, (float *)o);
    RUN(tail_132, (132), (1024), 0, fma_ilp4, (float *)o, 400);
    RUN(tail_133, (133), (1024), 0, fma_ilp4, (float *)o, 400);
    RUN(tail_264, (264), (1024), 0, fma_ilp4, (float *)o, 400);
    RUN(tail_290, (290), (1024), 0, fma_ilp4, (float *)o, 400);
    RUN(oneblock, (1), (256), 0, fma_ilp2, (float *)o, 1000);
    RUN(waves_many, (132 * 40), (256), 0, fma_ilp2, (float *)o, 60);
}
