#include "launches.h"
K tr_naive(float *o, const float *i, int w, int h)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        o[x * h + y + k] = i[(y + k) * w + x];
}
K tr_copy(float *o, const float *i, int w, int h)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        o[(y + k) * w + x] = i[(y + k) * w + x];
}
template <int P> __device__ inline void tile(float *o, const float *i, int w, int h)
{
    __shared__ float s[32][32 + P];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        s[threadIdx.y + k][threadIdx.x] = i[(y + k) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        o[(y + k) * h + x] = s[threadIdx.x][threadIdx.y + k];
}
K tr_tiled(float *o, const float *i, int w, int h)
{
    tile<0>(o, i, w, h);
}
K tr_padded(float *o, const float *i, int w, int h)
{
    tile<1>(o, i, w, h);
}
K tr_pad4(float *o, const float *i, int w, int h)
{
    tile<4>(o, i, w, h);
}
K tr_swizzled(float *o, const float *i, int w, int h)
{
    __shared__ float s[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        s[threadIdx.y + k][threadIdx.x ^ (threadIdx.y + k)] = i[(y + k) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        o[(y + k) * h + x] = s[threadIdx.x][threadIdx.x ^ (threadIdx.y + k)];
}
K tr_naive_u8(u8 *o, const u8 *i, int w, int h)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        o[x * h + y + k] = i[(y + k) * w + x];
}
K tr_tiled_u8(u8 *o, const u8 *i, int w, int h)
{
    __shared__ u8 s[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        s[threadIdx.y + k][threadIdx.x] = i[(y + k) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        o[(y + k) * h + x] = s[threadIdx.x][threadIdx.y + k];
}
K tr_word_u8(u32 *o, const u32 *i, int w4, int h4)
{
    __shared__ u32 s[64 * 17];
    int tx = threadIdx.x, ty = threadIdx.y;
    for (int k = 0; k < 64; k += 16)
        s[(ty + k) * 17 + tx] = i[(blockIdx.y * 64 + ty + k) * w4 + blockIdx.x * 16 + tx];
    __syncthreads();
    const u8 *b = (const u8 *)s;
    for (int k = 0; k < 64; k += 16) {
        int r = ty + k;
        u32 v = 0;
        for (int q = 0; q < 4; q++)
            v |= (u32)b[(tx * 4 + q) * 68 + r] << 8 * q;
        o[(blockIdx.x * 64 + r) * h4 + blockIdx.y * 16 + tx] = v;
    }
}
int main()
{
    int n = 2048;
    float *a = buf<float>(n * n), *o = buf<float>(n * n, ZERO);
    int m = 4096;
    RUN(tr_copy, (n / 32, n / 32), (32, 8), 0, tr_copy, o, a, n, n);
    RUN(tr_naive, (n / 32, n / 32), (32, 8), 0, tr_naive, o, a, n, n);
    RUN(tr_tiled, (n / 32, n / 32), (32, 8), 0, tr_tiled, o, a, n, n);
    RUN(tr_pad4, (n / 32, n / 32), (32, 8), 0, tr_pad4, o, a, n, n);
    RUN(tr_padded, (n / 32, n / 32), (32, 8), 0, tr_padded, o, a, n, n);
    RUN(tr_swizzled, (n / 32, n / 32), (32, 8), 0, tr_swizzled, o, a, n, n);
    RUN(tr_naive_u8, (m / 32, m / 32), (32, 8), 0, tr_naive_u8, (u8 *)o, (u8 *)a, m, m);
    RUN(tr_tiled_u8, (m / 32, m / 32), (32, 8), 0, tr_tiled_u8, (u8 *)o, (u8 *)a, m, m);
    RUN(tr_word_u8, (m / 64, m / 64), (16, 16), 0, tr_word_u8, (u32 *)o, (u32 *)a, m / 4, m / 4);
}
