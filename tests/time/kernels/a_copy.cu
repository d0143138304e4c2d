#include "launches.h"
template <class T> __device__ inline void cp(T *o, const T *i, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        o[k] = i[k];
}
K copy_u8(u8 *o, const u8 *i, int n)
{
    cp(o, i, n);
}
K copy_u16(u16 *o, const u16 *i, int n)
{
    cp(o, i, n);
}
K copy_f32(float *o, const float *i, int n)
{
    cp(o, i, n);
}
K copy_f2(float2 *o, const float2 *i, int n)
{
    cp(o, i, n);
}
K copy_f4(float4 *o, const float4 *i, int n)
{
    cp(o, i, n);
}
K copy_unroll4(float *o, const float *i, int n)
{
    int k = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    float a = i[k], b = i[k + blockDim.x], c = i[k + 2 * blockDim.x], d = i[k + 3 * blockDim.x];
    o[k] = a;
    o[k + blockDim.x] = b;
    o[k + 2 * blockDim.x] = c;
    o[k + 3 * blockDim.x] = d;
}
K saxpy_f32(float *y, const float *x, float a, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        y[k] = a * x[k] + y[k];
}
K saxpy_f4(float4 *y, const float4 *x, float a, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        float4 p = x[k], q = y[k];
        q.x += a * p.x;
        q.y += a * p.y;
        q.z += a * p.z;
        q.w += a * p.w;
        y[k] = q;
    }
}
K saxpy_gstride(float *y, const float *x, float a, int n)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        y[k] = a * x[k] + y[k];
}
K triad(float *o, const float *a, const float *b, const float *c, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        o[k] = a[k] + b[k] * c[k];
}
K stride2(float *o, const float *i, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        o[k] = i[k * 2];
}
K stride8(float *o, const float *i, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        o[k] = i[k * 8];
}
K stride32(float *o, const float *i, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        o[k] = i[k * 32];
}
K gather64m(float *o, const float *i, const u32 *x, int n, u32 mask)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        o[k] = i[x[k] & mask];
}
K gather4m(float *o, const float *i, const u32 *x, int n, u32 mask)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        o[k] = i[x[k] & mask];
}
K scatter64m(float *o, const float *i, const u32 *x, int n, u32 mask)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        o[x[k] & mask] = i[k];
}
K fill_f4(float4 *o, float v, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        o[k] = make_float4(v, v, v, v);
}
K readsum(float *o, const float4 *i, int n)
{
    float s = 0;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
        float4 v = i[k];
        s += v.x + v.y + v.z + v.w;
    }
    if (s == 12345.678f)
        o[0] = s;
}
K l2_copy(float4 *o, const float4 *i, int n, int reps)
{
    float4 s = make_float4(0, 0, 0, 0);
    for (int r = 0; r < reps; r++)
        for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
            float4 v = i[k];
            s.x += v.x;
            s.y += v.y;
            s.z += v.z;
            s.w += v.w;
        }
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
int main()
{
    const int N = 16 << 20;
    float *a = buf<float>(N), *b = buf<float>(N), *c = buf<float>(N), *big = buf<float>((size_t)N * 2),
          *o = buf<float>(N, ZERO);
    u32 *x = buf<u32>(4 << 20, RANDU);
    RUN(copy_u8, (N / 256), (256), 0, copy_u8, (u8 *)o, (u8 *)a, N);
    RUN(copy_u16, (N / 256), (256), 0, copy_u16, (u16 *)o, (u16 *)a, N);
    RUN(copy_f32, (N / 256), (256), 0, copy_f32, o, a, N);
    RUN(copy_f2, (N / 2 / 256), (256), 0, copy_f2, (float2 *)o, (float2 *)a, N / 2);
    RUN(copy_f4, (N / 4 / 256), (256), 0, copy_f4, (float4 *)o, (float4 *)a, N / 4);
    RUN(copy_unroll4, (N / 1024), (256), 0, copy_unroll4, o, a, N);
    RUN(copy_f32_b64, (N / 64), (64), 0, copy_f32, o, a, N);
    RUN(copy_f32_b1024, (N / 1024), (1024), 0, copy_f32, o, a, N);
    RUN(copy_f32_small, (1024), (256), 0, copy_f32, o, a, 262144);
    RUN(saxpy_f32, (N / 256), (256), 0, saxpy_f32, b, a, 2.f, N);
    RUN(saxpy_f4, (N / 1024), (256), 0, saxpy_f4, (float4 *)b, (float4 *)a, 2.f, N / 4);
    RUN(saxpy_gstride, (132 * 8), (256), 0, saxpy_gstride, b, a, 2.f, N);
    RUN(triad, (N / 256), (256), 0, triad, o, a, b, c, N);
    RUN(stride2, (N / 256), (256), 0, stride2, o, big, N);
    RUN(stride8, (N / 1024), (256), 0, stride8, o, big, N / 4);
    RUN(stride32, (N / 4096), (256), 0, stride32, o, big, N / 16);
    RUN(gather64m, ((4 << 20) / 256), (256), 0, gather64m, o, a, x, 4 << 20, (16u << 20) - 1);
    RUN(gather4m, ((4 << 20) / 256), (256), 0, gather4m, o, a, x, 4 << 20, (1u << 20) - 1);
    RUN(scatter64m, ((4 << 20) / 256), (256), 0, scatter64m, o, a, x, 4 << 20, (16u << 20) - 1);
    RUN(fill_f4, (N / 1024), (256), 0, fill_f4, (float4 *)o, 1.f, N / 4);
    RUN(readsum, (132 * 8), (256), 0, readsum, o, (float4 *)a, N / 4);
    RUN(l2_1m, (132 * 4), (512), 0, l2_copy, (float4 *)o, (float4 *)a, 65536, 128);
    RUN(l2_8m, (132 * 4), (512), 0, l2_copy, (float4 *)o, (float4 *)a, 524288, 16);
    RUN(l2_30m, (132 * 4), (512), 0, l2_copy, (float4 *)o, (float4 *)a, 30 * 65536, 4);
    RUN(l2_40m, (132 * 4), (512), 0, l2_copy, (float4 *)o, (float4 *)a, 40 * 65536, 4);
}
