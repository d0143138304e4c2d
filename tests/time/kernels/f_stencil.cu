#include "launches.h"
__constant__ float cw[225];
K st2_naive(float *o, const float *i, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
        o[y * w + x] =
            .2f * (i[y * w + x] + i[y * w + x - 1] + i[y * w + x + 1] + i[(y - 1) * w + x] + i[(y + 1) * w + x]);
}
K st2_tiled(float *o, const float *i, int w, int h)
{
    __shared__ float s[10][34];
    int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
    for (int k = ty * 32 + tx; k < 340; k += 256) {
        int yy = min(max(y0 + k / 34 - 1, 0), h - 1), xx = min(max(x0 + k % 34 - 1, 0), w - 1);
        s[k / 34][k % 34] = i[yy * w + xx];
    }
    __syncthreads();
    o[(y0 + ty) * w + x0 + tx] =
        .2f * (s[ty + 1][tx + 1] + s[ty + 1][tx] + s[ty + 1][tx + 2] + s[ty][tx + 1] + s[ty + 2][tx + 1]);
}
K st3_naive(float *o, const float *i, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
    if (x > 0 && y > 0 && z > 0 && x < n - 1 && y < n - 1 && z < n - 1) {
        size_t k = ((size_t)z * n + y) * n + x;
        o[k] = i[k] * .4f + .1f * (i[k - 1] + i[k + 1] + i[k - n] + i[k + n] + i[k - n * n] + i[k + n * n]);
    }
}
K st3_march(float *o, const float *i, int n)
{
    __shared__ float s[10][34];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    size_t p = (size_t)n * n, k = (size_t)y * n + x;
    float b = i[k], c = i[k + p];
    for (int z = 1; z < n - 1; z++) {
        float a = b;
        b = c;
        k = ((size_t)z * n + y) * n + x;
        c = i[k + p];
        __syncthreads();
        s[ty][tx] = b;
        if (tx == 1)
            s[ty][0] = x ? i[k - 1] : 0;
        if (tx == 32)
            s[ty][33] = x < n - 1 ? i[k + 1] : 0;
        if (ty == 1)
            s[0][tx] = y ? i[k - n] : 0;
        if (ty == 8)
            s[9][tx] = y < n - 1 ? i[k + n] : 0;
        __syncthreads();
        o[k] = b * .4f + .1f * (a + c + s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
    }
}
K conv15_naive(float *o, const float *i, int w, int h)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float s = 0;
    for (int v = 0; v < 15; v++) {
        int yy = min(max(y + v - 7, 0), h - 1);
        for (int u = 0; u < 15; u++) {
            int xx = min(max(x + u - 7, 0), w - 1);
            s += cw[v * 15 + u] * i[yy * w + xx];
        }
    }
    o[y * w + x] = s;
}
K conv15_tiled(float *o, const float *i, int w, int h)
{
    __shared__ float s[22][48];
    int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * 32 - 7, y0 = blockIdx.y * 8 - 7;
    for (int k = ty * 32 + tx; k < 22 * 46; k += 256) {
        int r = k / 46, c = k % 46;
        s[r][c] = i[min(max(y0 + r, 0), h - 1) * w + min(max(x0 + c, 0), w - 1)];
    }
    __syncthreads();
    float a = 0;
    for (int v = 0; v < 15; v++)
        _Pragma("unroll") for (int u = 0; u < 15; u++) a += cw[v * 15 + u] * s[ty + v][tx + u];
    o[(blockIdx.y * 8 + ty) * w + blockIdx.x * 32 + tx] = a;
}
K conv_row(float *o, const float *i, int w)
{
    __shared__ float s[256 + 14];
    int x0 = blockIdx.x * 256 - 7;
    const float *r = i + (size_t)blockIdx.y * w;
    for (int k = threadIdx.x; k < 270; k += 256)
        s[k] = r[min(max(x0 + k, 0), w - 1)];
    __syncthreads();
    float a = 0;
    _Pragma("unroll") for (int u = 0; u < 15; u++) a += cw[u] * s[threadIdx.x + u];
    o[(size_t)blockIdx.y * w + blockIdx.x * 256 + threadIdx.x] = a;
}
K conv_col(float *o, const float *i, int w, int h)
{
    int x = blockIdx.x * 256 + threadIdx.x, y = blockIdx.y;
    float a = 0;
    _Pragma("unroll") for (int u = 0; u < 15; u++) a += cw[u] * i[min(max(y + u - 7, 0), h - 1) * w + x];
    o[y * w + x] = a;
}
#define SW(a, b)                                                                                                       \
    {                                                                                                                  \
        float t_ = fminf(a, b);                                                                                        \
        b = fmaxf(a, b);                                                                                               \
        a = t_;                                                                                                        \
    }
K median3(float *o, const float *i, int w, int h)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float v[9];
    _Pragma("unroll") for (int k = 0; k < 9; k++) v[k] =
        i[min(max(y + k / 3 - 1, 0), h - 1) * w + min(max(x + k % 3 - 1, 0), w - 1)];
    SW(v[1], v[2])
    SW(v[4], v[5]) SW(v[7], v[8]) SW(v[0], v[1]) SW(v[3], v[4]) SW(v[6], v[7]) SW(v[1], v[2]) SW(v[4], v[5])
        SW(v[7], v[8]) SW(v[0], v[3]) SW(v[5], v[8]) SW(v[4], v[7]) SW(v[3], v[6]) SW(v[1], v[4]) SW(v[2], v[5])
            SW(v[4], v[7]) SW(v[4], v[2]) SW(v[6], v[4]) SW(v[4], v[2]) o[y * w + x] = v[4];
}
K median5(u8 *o, const u8 *i, int w, int h)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    u32 v[25];
    _Pragma("unroll") for (int k = 0; k < 25; k++) v[k] =
        i[min(max(y + k / 5 - 2, 0), h - 1) * w + min(max(x + k % 5 - 2, 0), w - 1)];
    _Pragma("unroll") for (int a = 0; a < 13; a++) _Pragma("unroll") for (int b = a + 1; b < 25; b++)
    {
        u32 t = min(v[a], v[b]);
        v[b] = max(v[a], v[b]);
        v[a] = t;
    }
    o[y * w + x] = v[12];
}
K box_u8(u8 *o, const u8 *i, int w, int h)
{
    int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    u32 s = 0;
    for (int v = -1; v <= 1; v++)
        for (int u = -1; u <= 1; u++)
            s += i[min(max(y + v, 0), h - 1) * w + min(max(x + u, 0), w - 1)];
    o[y * w + x] = s / 9;
}
K bilateral(float *o, const float *i, int w, int h)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float c = i[y * w + x], s = 0, n = 0;
    for (int v = -3; v <= 3; v++)
        for (int u = -3; u <= 3; u++) {
            float q = i[min(max(y + v, 0), h - 1) * w + min(max(x + u, 0), w - 1)];
            float e = __expf(-(u * u + v * v) * .1f - (q - c) * (q - c) * 20.f);
            s += e * q;
            n += e;
        }
    o[y * w + x] = s / n;
}
K rgb2gray(u8 *o, const uchar4 *i, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        uchar4 p = i[k];
        o[k] = (u8)(.299f * p.x + .587f * p.y + .114f * p.z);
    }
}
K resize(float *o, const float *i, int w, int h, int W, int H)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float fx = (x + .5f) * w / W - .5f, fy = (y + .5f) * h / H - .5f;
    int x0 = max(0, (int)floorf(fx)), y0 = max(0, (int)floorf(fy)), x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
    float a = fx - x0, b = fy - y0;
    o[y * W + x] =
        (1 - b) * ((1 - a) * i[y0 * w + x0] + a * i[y0 * w + x1]) + b * ((1 - a) * i[y1 * w + x0] + a * i[y1 * w + x1]);
}
int main()
{
    float c[225];
    for (int k = 0; k < 225; k++)
        c[k] = 1.f / 225;
    cudaMemcpyToSymbol(cw, c, sizeof c);
    int w = 2048, h = 2048;
    float *a = buf<float>(16 << 20), *o = buf<float>(16 << 20, ZERO);
    u8 *p = buf<u8>(w * h * 4, RANDU);
    RUN(st2_naive, (w / 32, h / 8), (32, 8), 0, st2_naive, o, a, w, h);
    RUN(st2_naive_4k, (128, 512), (32, 8), 0, st2_naive, o, a, 4096, 4096);
    RUN(st2_tiled, (w / 32, h / 8), (32, 8), 0, st2_tiled, o, a, w, h);
    RUN(st3_naive, (8, 32, 256), (32, 8), 0, st3_naive, o, a, 256);
    RUN(st3_march, (8, 32), (32, 8), 0, st3_march, o, a, 256);
    RUN(conv15_naive, (w / 32, h / 8), (32, 8), 0, conv15_naive, o, a, w, h);
    RUN(conv15_tiled, (w / 32, h / 8), (32, 8), 0, conv15_tiled, o, a, w, h);
    RUN(conv_row, (w / 256, h), (256), 0, conv_row, o, a, w);
    RUN(conv_col, (w / 256, h), (256), 0, conv_col, o, a, w, h);
    RUN(median3, (w / 32, h / 8), (32, 8), 0, median3, o, a, w, h);
    RUN(median5, (w / 32, h / 8), (32, 8), 0, median5, (u8 *)o, p, w, h);
    RUN(box_u8, (w / 64, h / 4), (64, 4), 0, box_u8, (u8 *)o, p, w, h);
    RUN(bilateral, (w / 16, h / 16), (16, 16), 0, bilateral, o, a, w, h);
    RUN(rgb2gray, (w * h / 256), (256), 0, rgb2gray, (u8 *)o, (uchar4 *)p, w * h);
    RUN(resize, (w / 32, h / 8), (32, 8), 0, resize, o, a, 3000, 3000, w, h);
}
