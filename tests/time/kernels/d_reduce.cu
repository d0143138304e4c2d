#include "launches.h"
K red_divergent(float *o, const float *i)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = i[blockIdx.x * 256 + t];
    __syncthreads();
    for (int k = 1; k < 256; k *= 2) {
        if (t % (2 * k) == 0)
            s[t] += s[t + k];
        __syncthreads();
    }
    if (!t)
        o[blockIdx.x] = s[0];
}
K red_conflict(float *o, const float *i)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = i[blockIdx.x * 256 + t];
    __syncthreads();
    for (int k = 1; k < 256; k *= 2) {
        int x = 2 * k * t;
        if (x < 256)
            s[x] += s[x + k];
        __syncthreads();
    }
    if (!t)
        o[blockIdx.x] = s[0];
}
K red_seq(float *o, const float *i)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = i[blockIdx.x * 256 + t];
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (t < k)
            s[t] += s[t + k];
        __syncthreads();
    }
    if (!t)
        o[blockIdx.x] = s[0];
}
K red_first(float *o, const float *i)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    const float *p = i + blockIdx.x * 1024;
    s[t] = p[t] + p[t + 256] + p[t + 512] + p[t + 768];
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (t < k)
            s[t] += s[t + k];
        __syncthreads();
    }
    if (!t)
        o[blockIdx.x] = s[0];
}
__device__ inline float wsum(float v)
{
    for (int k = 16; k; k /= 2)
        v += __shfl_down_sync(~0u, v, k);
    return v;
}
__device__ inline float bsum(float v)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    v = wsum(v);
    if (t % 32 == 0)
        s[t / 32] = v;
    __syncthreads();
    v = t < blockDim.x / 32 ? s[t] : 0;
    if (t < 32)
        v = wsum(v);
    return v;
}
K red_shfl(float *o, const float *i)
{
    float v = bsum(i[blockIdx.x * 256 + threadIdx.x]);
    if (!threadIdx.x)
        o[blockIdx.x] = v;
}
K red_grid4(float *o, const float4 *i, int n)
{
    float v = 0;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
        float4 q = i[k];
        v += q.x + q.y + q.z + q.w;
    }
    v = bsum(v);
    if (!threadIdx.x)
        atomicAdd(o, v);
}
K red_atomic(float *o, const float *i)
{
    atomicAdd(o, i[blockIdx.x * blockDim.x + threadIdx.x]);
}
K red_batomic(float *o, const float *i)
{
    float v = bsum(i[blockIdx.x * 256 + threadIdx.x]);
    if (!threadIdx.x)
        atomicAdd(o, v);
}
K red_satomic(int *o, const int *i)
{
    __shared__ int s;
    if (!threadIdx.x)
        s = 0;
    __syncthreads();
    atomicAdd(&s, i[blockIdx.x * 256 + threadIdx.x]);
    __syncthreads();
    if (!threadIdx.x)
        o[blockIdx.x] = s;
}
K hist_global(u32 *o, const u32 *i, int n)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        atomicAdd(&o[i[k] & 255], 1);
}
K hist_shared(u32 *o, const u32 *i, int n)
{
    __shared__ u32 s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        atomicAdd(&s[i[k] & 255], 1);
    __syncthreads();
    atomicAdd(&o[threadIdx.x], s[threadIdx.x]);
}
K hist_warp(u32 *o, const u32 *i, int n)
{
    __shared__ u32 s[8][256];
    for (int k = threadIdx.x; k < 2048; k += 256)
        ((u32 *)s)[k] = 0;
    __syncthreads();
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        atomicAdd(&s[threadIdx.x / 32][i[k] & 255], 1);
    __syncthreads();
    u32 v = 0;
    for (int w = 0; w < 8; w++)
        v += s[w][threadIdx.x];
    atomicAdd(&o[threadIdx.x], v);
}
K hist_skew(u32 *o, const u32 *i, int n)
{
    __shared__ u32 s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
        u32 v = i[k] & 255;
        atomicAdd(&s[v < 200 ? 0 : v], 1);
    }
    __syncthreads();
    atomicAdd(&o[threadIdx.x], s[threadIdx.x]);
}
K atom_one(u32 *o)
{
    atomicAdd(o, threadIdx.x);
}
K atom_ret(u32 *o, u32 *c)
{
    u32 k = atomicAdd(c, 1);
    o[blockIdx.x * blockDim.x + threadIdx.x] = k;
}
K atom_spread(u32 *o, int m)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&o[k & m], 1);
}
K atom_random(u32 *o, const u32 *x, u32 m)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&o[x[k] & m], 1);
}
K atom_cas(u32 *o, const u32 *x, u32 m)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    atomicCAS(&o[x[k] & m], 0u, (u32)k);
}
int main()
{
    const int N = 4 << 20;
    float *a = buf<float>(N * 4), *o = buf<float>(N, ZERO);
    u32 *x = buf<u32>(N, RANDU);
    RUN(red_divergent, (N / 256), (256), 0, red_divergent, o, a);
    RUN(red_conflict, (N / 256), (256), 0, red_conflict, o, a);
    RUN(red_seq, (N / 256), (256), 0, red_seq, o, a);
    RUN(red_first, (N / 1024), (256), 0, red_first, o, a);
    RUN(red_shfl, (N / 256), (256), 0, red_shfl, o, a);
    RUN(red_grid4, (132 * 4), (256), 0, red_grid4, o, (float4 *)a, N / 4);
    RUN(red_batomic, (N / 256), (256), 0, red_batomic, o, a);
    RUN(red_satomic, (N / 256), (256), 0, red_satomic, (int *)o, (int *)x);
    RUN(red_atomic, (N / 16 / 256), (256), 0, red_atomic, o, a);
    RUN(hist_global, (132 * 8), (256), 0, hist_global, (u32 *)o, x, N);
    RUN(hist_shared, (132 * 8), (256), 0, hist_shared, (u32 *)o, x, N);
    RUN(hist_warp, (132 * 8), (256), 0, hist_warp, (u32 *)o, x, N);
    RUN(hist_skew, (132 * 8), (256), 0, hist_skew, (u32 *)o, x, N);
    RUN(atom_one, (N / 16 / 256), (256), 0, atom_one, (u32 *)o);
    RUN(atom_ret, (N / 64 / 256), (256), 0, atom_ret, (u32 *)o + 1024, (u32 *)o);
    RUN(atom_spread, (N / 256), (256), 0, atom_spread, (u32 *)o, N - 1);
    RUN(atom_random, (N / 4 / 256), (256), 0, atom_random, (u32 *)o, x, N - 1);
    RUN(atom_random4k, (N / 4 / 256), (256), 0, atom_random, (u32 *)o, x, 4095);
    RUN(atom_cas, (N / 4 / 256), (256), 0, atom_cas, (u32 *)o, x, N - 1);
}
