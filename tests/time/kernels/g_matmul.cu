#include "launches.h"
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;
K mm_naive(float *C, const float *A, const float *B, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += A[y * n + k] * B[k * n + x];
    C[y * n + x] = s;
}
K mm_naive_bad(float *C, const float *A, const float *B, int n)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += A[y * n + k] * B[k * n + x];
    C[y * n + x] = s;
}
template <int T, int CONF> __device__ inline void mmt(float *C, const float *A, const float *B, int n)
{
    __shared__ float a[T][T], b[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * T + tx, y = blockIdx.y * T + ty;
    float s = 0;
    for (int m = 0; m < n / T; m++) {
        a[ty][tx] = A[y * n + m * T + tx];
        if (CONF)
            b[tx][ty] = B[(m * T + ty) * n + x];
        else
            b[ty][tx] = B[(m * T + ty) * n + x];
        __syncthreads();
        _Pragma("unroll") for (int k = 0; k < T; k++) s += a[ty][k] * (CONF ? b[tx][k] : b[k][tx]);
        __syncthreads();
    }
    C[y * n + x] = s;
}
K mm_tiled16(float *C, const float *A, const float *B, int n)
{
    mmt<16, 0>(C, A, B, n);
}
K mm_tiled32(float *C, const float *A, const float *B, int n)
{
    mmt<32, 0>(C, A, B, n);
}
K mm_conflict32(float *C, const float *A, const float *B, int n)
{
    mmt<32, 1>(C, A, B, n);
}
K mm_reg64(float *C, const float *A, const float *B, int n)
{
    __shared__ float a[16][64 + 4], b[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, x0 = blockIdx.x * 64, y0 = blockIdx.y * 64;
    float c[4][4] = {};
    for (int m = 0; m < n; m += 16) {
        for (int k = t; k < 1024; k += 256) {
            a[k % 16][k / 16] = A[(y0 + k / 16) * n + m + k % 16];
            b[k / 64][k % 64] = B[(m + k / 64) * n + x0 + k % 64];
        }
        __syncthreads();
        _Pragma("unroll") for (int k = 0; k < 16; k++)
        {
            float p[4], q[4];
            for (int i = 0; i < 4; i++)
                p[i] = a[k][ty * 4 + i], q[i] = b[k][tx * 4 + i];
            _Pragma("unroll") for (int i = 0; i < 4; i++) _Pragma("unroll") for (int j = 0; j < 4; j++) c[i][j] +=
                p[i] * q[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            C[(y0 + ty * 4 + i) * n + x0 + tx * 4 + j] = c[i][j];
}
__global__ void __launch_bounds__(256) mm_reg128_(float *C, const float *A, const float *B, int n)
{
    __shared__ float a[8][128], b[8][128];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, x0 = blockIdx.x * 128, y0 = blockIdx.y * 128;
    float c[8][8] = {};
    int ar = t / 2, ac = t % 2 * 4, br = t / 32, bc = t % 32 * 4;
    for (int m = 0; m < n; m += 8) {
        float4 v = *(const float4 *)&A[(y0 + ar) * n + m + ac];
        a[ac][ar] = v.x;
        a[ac + 1][ar] = v.y;
        a[ac + 2][ar] = v.z;
        a[ac + 3][ar] = v.w;
        *(float4 *)&b[br][bc] = *(const float4 *)&B[(m + br) * n + x0 + bc];
        __syncthreads();
        _Pragma("unroll") for (int k = 0; k < 8; k++)
        {
            float p[8], q[8];
            *(float4 *)p = *(float4 *)&a[k][ty * 8];
            *(float4 *)(p + 4) = *(float4 *)&a[k][ty * 8 + 4];
            *(float4 *)q = *(float4 *)&b[k][tx * 4];
            *(float4 *)(q + 4) = *(float4 *)&b[k][64 + tx * 4];
            _Pragma("unroll") for (int i = 0; i < 8; i++) _Pragma("unroll") for (int j = 0; j < 8; j++) c[i][j] +=
                p[i] * q[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++) {
        *(float4 *)&C[(y0 + ty * 8 + i) * n + x0 + tx * 4] = make_float4(c[i][0], c[i][1], c[i][2], c[i][3]);
        *(float4 *)&C[(y0 + ty * 8 + i) * n + x0 + 64 + tx * 4] = make_float4(c[i][4], c[i][5], c[i][6], c[i][7]);
    }
}
K mm_fp64(double *C, const double *A, const double *B, int n)
{
    __shared__ double a[16][16], b[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    double s = 0;
    for (int m = 0; m < n; m += 16) {
        a[ty][tx] = A[y * n + m + tx];
        b[ty][tx] = B[(m + ty) * n + x];
        __syncthreads();
        _Pragma("unroll") for (int k = 0; k < 16; k++) s += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    C[y * n + x] = s;
}
K mm_half2(__half2 *C, const __half2 *A, const __half2 *B, int n2, int n)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    __half2 s = __float2half2_rn(0);
    for (int k = 0; k < n2; k++) {
        __half2 a = A[y * n2 + k];
        s = __hfma2(__low2half2(a), B[(2 * k) * n2 + x], s);
        s = __hfma2(__high2half2(a), B[(2 * k + 1) * n2 + x], s);
    }
    C[y * n2 + x] = s;
}
K wmma_naive(float *C, const half *A, const half *B, int n)
{
    int w = threadIdx.x / 32, x = (blockIdx.x * 2 + w % 2) * 16, y = (blockIdx.y * 2 + w / 2) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(a, A + y * n + k, n);
        wmma::load_matrix_sync(b, B + k * n + x, n);
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(C + y * n + x, c, n, wmma::mem_row_major);
}
template <int PAD> __device__ inline void wsh(float *C, const half *A, const half *B, int n)
{
    __shared__ __align__(16) half a[64][32 + PAD], b[32][64 + PAD];
    int t = threadIdx.x, w = t / 32, wx = w % 2 * 32, wy = w / 2 * 32, x0 = blockIdx.x * 64, y0 = blockIdx.y * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::fill_fragment(c[i][j], 0.f);
    for (int m = 0; m < n; m += 32) {
        for (int k = t; k < 256; k += 128) {
            *(uint4 *)&a[k / 4][k % 4 * 8] = *(const uint4 *)&A[(y0 + k / 4) * n + m + k % 4 * 8];
            *(uint4 *)&b[k / 8][k % 8 * 8] = *(const uint4 *)&B[(m + k / 8) * n + x0 + k % 8 * 8];
        }
        __syncthreads();
        _Pragma("unroll") for (int k = 0; k < 32; k += 16)
        {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(fa[i], &a[wy + i * 16][k], 32 + PAD);
                wmma::load_matrix_sync(fb[i], &b[k][wx + i * 16], 64 + PAD);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    wmma::mma_sync(c[i][j], fa[i], fb[j], c[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::store_matrix_sync(C + (y0 + wy + i * 16) * n + x0 + wx + j * 16, c[i][j], n, wmma::mem_row_major);
}
K wmma_shared(float *C, const half *A, const half *B, int n)
{
    wsh<0>(C, A, B, n);
}
K wmma_padded(float *C, const half *A, const half *B, int n)
{
    wsh<8>(C, A, B, n);
}
K wmma_async(float *C, const half *A, const half *B, int n)
{
    __shared__ __align__(16) half a[2][64][40], b[2][32][72];
    int t = threadIdx.x, w = t / 32, wx = w % 2 * 32, wy = w / 2 * 32, x0 = blockIdx.x * 64, y0 = blockIdx.y * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::fill_fragment(c[i][j], 0.f);
    auto get = [&](int s, int m) {
        for (int k = t; k < 256; k += 128) {
            __pipeline_memcpy_async(&a[s][k / 4][k % 4 * 8], &A[(y0 + k / 4) * n + m + k % 4 * 8], 16);
            __pipeline_memcpy_async(&b[s][k / 8][k % 8 * 8], &B[(m + k / 8) * n + x0 + k % 8 * 8], 16);
        }
        __pipeline_commit();
    };
    get(0, 0);
    for (int m = 0, s = 0; m < n; m += 32, s ^= 1) {
        if (m + 32 < n) {
            get(s ^ 1, m + 32);
            __pipeline_wait_prior(1);
        } else
            __pipeline_wait_prior(0);
        __syncthreads();
        _Pragma("unroll") for (int k = 0; k < 32; k += 16)
        {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(fa[i], &a[s][wy + i * 16][k], 40);
                wmma::load_matrix_sync(fb[i], &b[s][k][wx + i * 16], 72);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    wmma::mma_sync(c[i][j], fa[i], fb[j], c[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::store_matrix_sync(C + (y0 + wy + i * 16) * n + x0 + wx + j * 16, c[i][j], n, wmma::mem_row_major);
}
K hmma_peak(float *o, int n)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[4];
    wmma::fill_fragment(a, __float2half(1.f));
    wmma::fill_fragment(b, __float2half(1.f));
    for (int i = 0; i < 4; i++)
        wmma::fill_fragment(c[i], 0.f);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 4; i++)
            wmma::mma_sync(c[i], a, b, c[i]);
    for (int i = 1; i < 4; i++)
        for (int q = 0; q < 8; q++)
            c[0].x[q] += c[i].x[q];
    wmma::store_matrix_sync(o + (blockIdx.x * 8 + threadIdx.x / 32) * 256, c[0], 16, wmma::mem_row_major);
}
K matvec_row(float *y, const float *A, const float *x, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += A[(size_t)r * n + k] * x[k];
    y[r] = s;
}
K matvec_warp(float *y, const float *A, const float *x, int n)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, l = threadIdx.x & 31;
    float s = 0;
    for (int k = l; k < n; k += 32)
        s += A[(size_t)r * n + k] * x[k];
    for (int k = 16; k; k /= 2)
        s += __shfl_down_sync(~0u, s, k);
    if (!l)
        y[r] = s;
}
K matvec_f4(float *y, const float4 *A, const float4 *x, int n4)
{
    int r = blockIdx.x;
    float s = 0;
    for (int k = threadIdx.x; k < n4; k += blockDim.x) {
        float4 a = A[(size_t)r * n4 + k], b = x[k];
        s += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    __shared__ float q[32];
    for (int k = 16; k; k /= 2)
        s += __shfl_down_sync(~0u, s, k);
    if (threadIdx.x % 32 == 0)
        q[threadIdx.x / 32] = s;
    __syncthreads();
    if (!threadIdx.x) {
        for (int k = 1; k < blockDim.x / 32; k++)
            s += q[k];
        y[r] = s;
    }
}
int main()
{
    const int n = 1024;
    float *A = buf<float>(16 << 20), *B = buf<float>(n * n), *C = buf<float>(4 * n * n, ZERO);
    half *hA = (half *)buf<float>(2 * n * n, ZERO), *hB = (half *)buf<float>(2 * n * n, ZERO);
    RUN(mm_naive, (n / 32, n / 8), (32, 8), 0, mm_naive, C, A, B, n);
    RUN(mm_naive_bad, (16, 64), (32, 8), 0, mm_naive_bad, C, A, B, 512);
    RUN(mm_tiled16, (n / 16, n / 16), (16, 16), 0, mm_tiled16, C, A, B, n);
    RUN(mm_tiled32, (n / 32, n / 32), (32, 32), 0, mm_tiled32, C, A, B, n);
    RUN(mm_conflict32, (n / 32, n / 32), (32, 32), 0, mm_conflict32, C, A, B, n);
    RUN(mm_reg64, (n / 64, n / 64), (256), 0, mm_reg64, C, A, B, n);
    RUN(mm_reg128, (n / 128, n / 128), (256), 0, mm_reg128_, C, A, B, n);
    RUN(mm_reg128_2k, (16, 16), (256), 0, mm_reg128_, C, A, A + (4 << 20), 2048);
    RUN(mm_fp64, (512 / 16, 512 / 16), (16, 16), 0, mm_fp64, (double *)C, (double *)A, (double *)B, 512);
    RUN(mm_half2, (n / 2 / 16, n / 16), (16, 16), 0, mm_half2, (__half2 *)C, (__half2 *)hA, (__half2 *)hB, n / 2, n);
    RUN(wmma_naive, (n / 32, n / 32), (128), 0, wmma_naive, C, hA, hB, n);
    RUN(wmma_shared, (n / 64, n / 64), (128), 0, wmma_shared, C, hA, hB, n);
    RUN(wmma_padded, (n / 64, n / 64), (128), 0, wmma_padded, C, hA, hB, n);
    RUN(wmma_async, (n / 64, n / 64), (128), 0, wmma_async, C, hA, hB, n);
    RUN(hmma_peak, (132 * 4), (256), 0, hmma_peak, C, 200);
    RUN(matvec_row, (4096 / 128), (128), 0, matvec_row, C, A, B, 4096);
    RUN(matvec_warp, (4096 / 8), (256), 0, matvec_warp, C, A, B, 4096);
    RUN(matvec_f4, (4096), (256), 0, matvec_f4, C, (float4 *)A, (float4 *)B, 1024);
}
