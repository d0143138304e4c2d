#include "launches.h"
K scan_hillis(float *o, const float *i)
{
    __shared__ float s[2][512];
    int t = threadIdx.x, p = 0;
    s[0][t] = i[blockIdx.x * 512 + t];
    __syncthreads();
    for (int k = 1; k < 512; k *= 2) {
        float v = s[p][t];
        if (t >= k)
            v += s[p][t - k];
        p ^= 1;
        s[p][t] = v;
        __syncthreads();
    }
    o[blockIdx.x * 512 + t] = s[p][t];
}
template <int PAD> __device__ inline void blelloch(float *o, const float *i)
{
    __shared__ float s[1024 + 64];
    auto A = [](int k) { return PAD ? k + k / 32 : k; };
    int t = threadIdx.x;
    const float *p = i + blockIdx.x * 1024;
    s[A(t)] = p[t];
    s[A(t + 512)] = p[t + 512];
    int off = 1;
    for (int d = 512; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = off * (2 * t + 1) - 1, b = off * (2 * t + 2) - 1;
            s[A(b)] += s[A(a)];
        }
        off *= 2;
    }
    if (!t)
        s[A(1023)] = 0;
    for (int d = 1; d < 1024; d *= 2) {
        off >>= 1;
        __syncthreads();
        if (t < d) {
            int a = off * (2 * t + 1) - 1, b = off * (2 * t + 2) - 1;
            float v = s[A(a)];
            s[A(a)] = s[A(b)];
            s[A(b)] += v;
        }
    }
    __syncthreads();
    o[blockIdx.x * 1024 + t] = s[A(t)];
    o[blockIdx.x * 1024 + t + 512] = s[A(t + 512)];
}
K scan_blelloch(float *o, const float *i)
{
    blelloch<0>(o, i);
}
K scan_blelloch_pad(float *o, const float *i)
{
    blelloch<1>(o, i);
}
K scan_shfl(float *o, const float *i)
{
    __shared__ float s[32];
    int t = threadIdx.x, l = t & 31, w = t >> 5;
    float v = i[blockIdx.x * 1024 + t];
    for (int k = 1; k < 32; k *= 2) {
        float q = __shfl_up_sync(~0u, v, k);
        if (l >= k)
            v += q;
    }
    if (l == 31)
        s[w] = v;
    __syncthreads();
    if (!w) {
        float q = s[l];
        for (int k = 1; k < 32; k *= 2) {
            float z = __shfl_up_sync(~0u, q, k);
            if (l >= k)
                q += z;
        }
        s[l] = q;
    }
    __syncthreads();
    o[blockIdx.x * 1024 + t] = v + (w ? s[w - 1] : 0);
}
K bitonic(u32 *a)
{
    __shared__ u32 s[1024];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 1024 + t];
    s[t + 512] = a[blockIdx.x * 1024 + t + 512];
    for (int k = 2; k <= 1024; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (j - 1));
            u32 x = s[i], y = s[i + j];
            if ((x > y) == !(i & k)) {
                s[i] = y;
                s[i + j] = x;
            }
        }
    __syncthreads();
    a[blockIdx.x * 1024 + t] = s[t];
    a[blockIdx.x * 1024 + t + 512] = s[t + 512];
}
K bitonic_global(u32 *a, int k, int j)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (j - 1));
    u32 x = a[i], y = a[i + j];
    if ((x > y) == !(i & k)) {
        a[i] = y;
        a[i + j] = x;
    }
}
K fft1024(float2 *a)
{
    __shared__ float2 s[1024];
    int t = threadIdx.x;
    float2 *p = a + blockIdx.x * 1024;
    s[__brev(t) >> 22] = p[t];
    s[__brev(t + 512) >> 22] = p[t + 512];
    for (int h = 1; h < 1024; h *= 2) {
        __syncthreads();
        int j = t & (h - 1), i = 2 * t - j;
        float sn, cs;
        __sincosf(-3.14159265f * j / h, &sn, &cs);
        float2 u = s[i], v = s[i + h];
        float2 w = make_float2(v.x * cs - v.y * sn, v.x * sn + v.y * cs);
        s[i] = make_float2(u.x + w.x, u.y + w.y);
        s[i + h] = make_float2(u.x - w.x, u.y - w.y);
    }
    __syncthreads();
    p[t] = s[t];
    p[t + 512] = s[t + 512];
}
K oddeven(u32 *a)
{
    __shared__ u32 s[256];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 256 + t];
    for (int r = 0; r < 256; r++) {
        __syncthreads();
        int i = 2 * t + (r & 1);
        if (i + 1 < 256) {
            u32 x = s[i], y = s[i + 1];
            if (x > y) {
                s[i] = y;
                s[i + 1] = x;
            }
        }
    }
    __syncthreads();
    a[blockIdx.x * 256 + t] = s[t];
}
int main()
{
    const int N = 4 << 20;
    float *a = buf<float>(N), *o = buf<float>(N, ZERO);
    u32 *x = buf<u32>(N, RANDU);
    RUN(scan_hillis, (N / 512), (512), 0, scan_hillis, o, a);
    RUN(scan_blelloch, (N / 1024), (512), 0, scan_blelloch, o, a);
    RUN(scan_blelloch_pad, (N / 1024), (512), 0, scan_blelloch_pad, o, a);
    RUN(scan_shfl, (N / 1024), (1024), 0, scan_shfl, o, a);
    RUN(bitonic, (N / 4 / 1024), (512), 0, bitonic, x);
    RUN(bitonic_global, (N / 2 / 256), (256), 0, bitonic_global, x, 2048, 1024);
    RUN(fft1024, (N / 2 / 1024), (512), 0, fft1024, (float2 *)a);
    RUN(oddeven, (1024), (256), 0, oddeven, x);
}
