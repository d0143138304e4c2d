// Kernels with bank conflicts or accesses that lie apart, of the kinds that people write. test_kernel_tips.py applies
// the tips that `smempipe kernel` gives for them, and counts again. Those in global memory have a twin, as a person who
// follows the tip would write it: NAME and NAME_mended.
#include <cuda_fp16.h>
#include <cstring>

constexpr int N = 32;
#define ROWS 24

// ------------------------------------------------------------------------------------------------ columns

__global__ void column_float(float *out, const float *in)
{
    __shared__ float tile[N][N];
    for (int j = threadIdx.y; j < N; j += blockDim.y)
        tile[j][threadIdx.x] = in[j * N + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < N; j += blockDim.y)
        out[j * N + threadIdx.x] = tile[threadIdx.x][j];
}

__global__ void column_double(double *out, const double *in)
{
    __shared__ double tile[N][N]; // of eight bytes
    for (int j = threadIdx.y; j < N; j += blockDim.y)
        tile[j][threadIdx.x] = in[j * N + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < N; j += blockDim.y)
        out[j * N + threadIdx.x] = tile[threadIdx.x][j];
}

__global__ void column_half(__half *out, const __half *in)
{
    __shared__ __half tile[64][64];
    for (int j = threadIdx.y; j < 64; j += blockDim.y)
        for (int i = threadIdx.x; i < 64; i += blockDim.x)
            tile[j][i] = in[j * 64 + i];
    __syncthreads();
    for (int j = threadIdx.y; j < 64; j += blockDim.y)
        for (int i = threadIdx.x; i < 64; i += blockDim.x)
            out[j * 64 + i] = tile[i][j];
}

__global__ void column_uchar(unsigned char *out, const unsigned char *in)
{
    __shared__ unsigned char tile[64][64];
    for (int j = threadIdx.y; j < 64; j += blockDim.y)
        for (int i = threadIdx.x; i < 64; i += blockDim.x)
            tile[j][i] = in[j * 64 + i];
    __syncthreads();
    for (int j = threadIdx.y; j < 64; j += blockDim.y)
        for (int i = threadIdx.x; i < 64; i += blockDim.x)
            out[j * 64 + i] = tile[i][j];
}

__global__ void column_vector(float4 *out, const float4 *in)
{
    __shared__ float4 tile[16][16];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 16 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// Rows of another length than columns, by macro, and a template's.
template <int LENGTH> __global__ void column_template(float *out, const float *in)
{
    __shared__ float a[2], tile[ROWS][LENGTH];
    a[threadIdx.x & 1] = 1;
    for (int j = threadIdx.y; j < ROWS; j += blockDim.y)
        tile[j][threadIdx.x] = in[j * LENGTH + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < LENGTH && threadIdx.x < ROWS; j += blockDim.y)
        out[j * ROWS + threadIdx.x] = tile[threadIdx.x][j] + a[j & 1];
}

// ------------------------------------------------------------------------------------------------ trees, scans

__global__ void tree_reduction(float *out, const float *in)
{
    __shared__ float s[512];
    const unsigned t = threadIdx.x;
    s[t] = in[t];
    s[t + 256] = in[t + 256];
    for (unsigned stride = 1; stride < 512; stride *= 2) {
        __syncthreads();
        const unsigned index = 2 * stride * t;
        if (index < 512)
            s[index] += s[index + stride];
    }
    if (t == 0)
        out[0] = s[0];
}

__global__ void scan_tree(float *out, const float *in)
{
    __shared__ float temp[512];
    const int t = threadIdx.x, n = 512;
    int offset = 1;
    temp[2 * t] = in[2 * t];
    temp[2 * t + 1] = in[2 * t + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int ai = offset * (2 * t + 1) - 1;
            int bi = offset * (2 * t + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (t == 0)
        temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int ai = offset * (2 * t + 1) - 1;
            int bi = offset * (2 * t + 2) - 1;
            float was = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += was;
        }
    }
    __syncthreads();
    out[2 * t] = temp[2 * t];
    out[2 * t + 1] = temp[2 * t + 1];
}

__global__ void scan_rows(int *out, const int *in)
{
    __shared__ int rows[64][32];
    for (int j = 0; j < 32; j++)
        rows[j * 2 + threadIdx.x / 32][threadIdx.x % 32] = in[j * 64 + threadIdx.x];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 32; k++) {
        sum += rows[threadIdx.x][k];
        rows[threadIdx.x][k] = sum;
    }
    __syncthreads();
    for (int j = 0; j < 32; j++)
        out[j * 64 + threadIdx.x] = rows[j * 2 + threadIdx.x / 32][threadIdx.x % 32];
}

// ------------------------------------------------------------------------------------------------ FFT

__global__ void fft_butterflies(float *out, const float *in)
{
    __shared__ float re[512], im[512];
    const int t = threadIdx.x;
    for (int k = t; k < 512; k += 256) {
        re[__brev(k) >> 23] = in[2 * k];
        im[__brev(k) >> 23] = in[2 * k + 1];
    }
    for (int half = 1; half < 512; half *= 2) {
        __syncthreads();
        const int k = t & (half - 1), a = 2 * (t - k) + k, b = a + half;
        const float c = 1.f / (k + 1), s = k * c;
        const float x = c * re[b] - s * im[b], y = c * im[b] + s * re[b];
        re[b] = re[a] - x;
        im[b] = im[a] - y;
        re[a] += x;
        im[a] += y;
    }
    __syncthreads();
    for (int k = t; k < 512; k += 256) {
        out[2 * k] = re[k];
        out[2 * k + 1] = im[k];
    }
}

__global__ void fft_exchange(float2 *out, const float2 *in)
{
    __shared__ float2 buffer[1024];
    float2 v[16];
    for (int k = 0; k < 16; k++)
        v[k] = in[k * 64 + threadIdx.x];
    for (int k = 0; k < 16; k++)
        buffer[threadIdx.x * 16 + k] = v[k];
    __syncthreads();
    for (int k = 0; k < 16; k++)
        out[k * 64 + threadIdx.x] = buffer[k * 64 + threadIdx.x];
}

// ------------------------------------------------------------------------------------------------ histograms

__global__ void histogram_own(unsigned *out, const unsigned char *in)
{
    __shared__ unsigned counts[64][64];
    for (int b = 0; b < 64; b++)
        counts[b][threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 16; k++)
        counts[threadIdx.x][in[k * 64 + threadIdx.x] >> 2]++;
    __syncthreads();
    unsigned sum = 0;
    for (int t = 0; t < 64; t++)
        sum += counts[t][threadIdx.x];
    out[threadIdx.x] = sum;
}

__global__ void histogram_joint(unsigned *out, const unsigned char *in)
{
    __shared__ unsigned joint[64 * 32];
    for (int i = threadIdx.x; i < 64 * 32; i += 64)
        joint[i] = 0;
    __syncthreads();
    for (int k = 0; k < 16; k++)
        atomicAdd(&joint[threadIdx.x * 32 + in[k * 64] / 8], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 64 * 32; i += 64)
        out[i] = joint[i];
}

// ------------------------------------------------------------------------------------------------ products

__global__ void gemm_column(float *c, const float *a, const float *b)
{
    __shared__ float As[16][16], Bs[16][16];
    const int x = threadIdx.x, y = threadIdx.y;
    As[y][x] = a[y * 16 + x];
    Bs[y][x] = b[y * 16 + x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 16; k++)
        sum += As[y][k] * Bs[x][k]; /* b is given by columns */
    c[y * 16 + x] = sum;
}

__global__ void gemm_store(float *c, const float *a, const float *b)
{
    __shared__ float As[8][128];
    __shared__ float Bs[8][128];
    const int t = threadIdx.x;
    for (int r = t / 8; r < 128; r += 32)
        As[t % 8][r] = a[r * 8 + t % 8];
    for (int r = t / 128; r < 8; r += 2)
        Bs[r][t % 128] = b[r * 128 + t % 128];
    __syncthreads();
    const int row = t / 16 * 8, column = t % 16 * 8;
    float sum[8][8] = {};
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++)
                sum[i][j] += As[k][row + i] * Bs[k][column + j];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            c[(row + i) * 128 + column + j] = sum[i][j];
}

// ------------------------------------------------------------------------------------------------ stencils, structures

__global__ void stencil_columns(float *out, const float *in)
{
    __shared__ float s[32][64];
    for (int j = 0; j < 32; j++)
        s[j][threadIdx.x] = in[j * 64 + threadIdx.x];
    __syncthreads();
    const int row = threadIdx.x % 32;
    for (int i = 1 + threadIdx.x / 32; i < 63; i += 2)
        out[i * 32 + row] = s[row][i - 1] + s[row][i] + s[row][i + 1];
}

__global__ void stencil_planes(float *out, const float *in)
{
    __shared__ float s[8][8][32];
    for (int z = 0; z < 8; z++)
        s[z][threadIdx.y][threadIdx.x] = in[(z * 8 + threadIdx.y) * 32 + threadIdx.x];
    __syncthreads();
    const int z = threadIdx.x % 8, y = threadIdx.x / 8;
    for (int x = threadIdx.y; x < 32; x += 8)
        out[(y * 8 + z) * 32 + x] = s[z][y][x] + s[z][y + 4][x];
}

struct Body {
    float x, y, z, mass, vx, vy, vz, pad;
};

__global__ void shared_structures(float *out, const float *in)
{
    __shared__ Body bodies[64];
    Body &b = bodies[threadIdx.x];
    b.x = in[threadIdx.x];
    b.y = in[threadIdx.x + 64];
    b.mass = 2;
    __syncthreads();
    out[threadIdx.x] = bodies[63 - threadIdx.x].x * bodies[63 - threadIdx.x].mass;
}

// ------------------------------------------------------------------------------------------------ global memory

struct Point {
    float x, y, z;
};

__global__ void structures(float *out, const Point *in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i].x + in[i].z;
}
__global__ void structures_mended(float *out, const float *x, const float *z)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i] + z[i];
}

__global__ void members(float *out, const float *in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const volatile float *from = in;
    float sum = from[4 * i];
    sum += from[4 * i + 1];
    sum += from[4 * i + 2];
    sum += from[4 * i + 3];
    out[i] = sum;
}
__global__ void members_mended(float *out, const float4 *in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 v = in[i];
    out[i] = v.x + v.y + v.z + v.w;
}

// A structure that is written, too.
__global__ void moved(Point *p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i].x += p[i].z;
}
__global__ void moved_mended(float *x, const float *z)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += z[i];
}

__global__ void pairs(float *out, const float *in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const volatile float *from = in;
    out[i] = from[2 * i] + from[2 * i + 1];
}
__global__ void pairs_mended(float *out, const float2 *in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 v = in[i];
    out[i] = v.x + v.y;
}

// Each thread reads where it goes on; all read how far it goes.
__global__ void by_data(float *out, const int *to)
{
    const int i = threadIdx.x;
    out[to[i]] = i;
}
__global__ void by_width(float *out, const int *width)
{
    out[threadIdx.x * *width] = threadIdx.x;
}

__global__ void naive_transpose(float *out, const float *in)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    for (int y = blockIdx.y * 32 + threadIdx.y; y < blockIdx.y * 32 + 32; y += 8)
        out[x * 64 + y] = in[y * 64 + x];
}
__global__ void naive_transpose_mended(float *out, const float *in)
{
    __shared__ float tile[32][33];
    for (int j = threadIdx.y; j < 32; j += 8)
        tile[j][threadIdx.x] = in[(blockIdx.y * 32 + j) * 64 + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += 8)
        out[(blockIdx.x * 32 + j) * 64 + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][j];
}

__global__ void own_chunks(float *out, const float *in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 32; k++)
        sum += in[i * 32 + k];
    out[i] = sum;
}
__global__ void own_chunks_mended(float *out, const float *in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 32; k++)
        sum += in[k * 128 + i];
    out[i] = sum;
}

int main()
{
    enum { BYTES = 1 << 17 };
    static unsigned char host[BYTES];
    for (int i = 0; i < BYTES; i += 4) {
        const float value = 1.f + i % 1009 / 64.f;
        memcpy(host + i, &value, 4);
    }
    void *in, *out;
    cudaMalloc(&in, BYTES);
    cudaMalloc(&out, BYTES);
    cudaMemcpy(in, host, BYTES, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, BYTES);
    float *f = (float *)out;
    const float *g = (const float *)in;
    column_float<<<1, dim3(32, 8)>>>(f, g);
    column_double<<<1, dim3(32, 8)>>>((double *)out, (const double *)in);
    column_half<<<1, dim3(32, 8)>>>((__half *)out, (const __half *)in);
    column_uchar<<<1, dim3(32, 8)>>>((unsigned char *)out, (const unsigned char *)in);
    column_vector<<<1, dim3(16, 16)>>>((float4 *)out, (const float4 *)in);
    column_template<32><<<1, dim3(32, 8)>>>(f, g);
    tree_reduction<<<1, 256>>>(f, g);
    scan_tree<<<1, 256>>>(f, g);
    scan_rows<<<1, 64>>>((int *)out, (const int *)in);
    fft_butterflies<<<1, 256>>>(f, g);
    fft_exchange<<<1, 64>>>((float2 *)out, (const float2 *)in);
    histogram_own<<<1, 64>>>((unsigned *)out, (const unsigned char *)in);
    histogram_joint<<<1, 64>>>((unsigned *)out, (const unsigned char *)in);
    gemm_column<<<1, dim3(16, 16)>>>(f, g, g + 256);
    gemm_store<<<1, 256>>>(f, g, g + 1024);
    stencil_columns<<<1, 64>>>(f, g);
    stencil_planes<<<1, dim3(32, 8)>>>(f, g);
    shared_structures<<<1, 64>>>(f, g);
    structures<<<2, 64>>>(f, (const Point *)in);
    structures_mended<<<2, 64>>>(f, g, g + 128);
    members<<<2, 64>>>(f, g);
    members_mended<<<2, 64>>>(f, (const float4 *)in);
    moved<<<2, 64>>>((Point *)f);
    moved_mended<<<2, 64>>>(f, g);
    pairs<<<2, 64>>>(f, g);
    pairs_mended<<<2, 64>>>(f, (const float2 *)in);
    for (int i = 0; i < BYTES; i += 4) {
        const int value = i;
        memcpy(host + i, &value, 4);
    }
    cudaMemcpy(out, host, BYTES, cudaMemcpyHostToDevice);
    by_data<<<1, 64>>>(f + 4096, (const int *)out);
    by_width<<<1, 64>>>(f + 4096, (const int *)out + 2);
    naive_transpose<<<dim3(2, 2), dim3(32, 8)>>>(f, g);
    naive_transpose_mended<<<dim3(2, 2), dim3(32, 8)>>>(f, g);
    own_chunks<<<2, 64>>>(f, g);
    own_chunks_mended<<<2, 64>>>(f, g);
    return cudaDeviceSynchronize();
}
