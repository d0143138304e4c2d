#include "launches.h"
__constant__ float ctab[4096];
K softmax_naive(float *o, const float *i, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    const float *p = i + (size_t)r * n;
    float m = -1e30f, s = 0;
    for (int k = 0; k < n; k++)
        m = fmaxf(m, p[k]);
    for (int k = 0; k < n; k++)
        s += __expf(p[k] - m);
    for (int k = 0; k < n; k++)
        o[(size_t)r * n + k] = __expf(p[k] - m) / s;
}
K softmax_block(float *o, const float *i, int n)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    const float *p = i + (size_t)blockIdx.x * n;
    float m = -1e30f;
    for (int k = t; k < n; k += blockDim.x)
        m = fmaxf(m, p[k]);
    for (int k = 16; k; k /= 2)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, k));
    if (t % 32 == 0)
        s[t / 32] = m;
    __syncthreads();
    m = s[0];
    for (int k = 1; k < blockDim.x / 32; k++)
        m = fmaxf(m, s[k]);
    __syncthreads();
    float a = 0;
    for (int k = t; k < n; k += blockDim.x)
        a += __expf(p[k] - m);
    for (int k = 16; k; k /= 2)
        a += __shfl_xor_sync(~0u, a, k);
    if (t % 32 == 0)
        s[t / 32] = a;
    __syncthreads();
    a = 0;
    for (int k = 0; k < blockDim.x / 32; k++)
        a += s[k];
    for (int k = t; k < n; k += blockDim.x)
        o[(size_t)blockIdx.x * n + k] = __expf(p[k] - m) / a;
}
K softmax_warp(float *o, const float *i)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, l = threadIdx.x & 31;
    const float *p = i + (size_t)r * 1024;
    float v[32], m = -1e30f, a = 0;
    _Pragma("unroll") for (int k = 0; k < 32; k++)
    {
        v[k] = p[k * 32 + l];
        m = fmaxf(m, v[k]);
    }
    for (int k = 16; k; k /= 2)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, k));
    _Pragma("unroll") for (int k = 0; k < 32; k++)
    {
        v[k] = __expf(v[k] - m);
        a += v[k];
    }
    for (int k = 16; k; k /= 2)
        a += __shfl_xor_sync(~0u, a, k);
    float q = 1 / a;
    _Pragma("unroll") for (int k = 0; k < 32; k++) o[(size_t)r * 1024 + k * 32 + l] = v[k] * q;
}
K layernorm(float *o, const float4 *i, const float4 *g, int n4)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    float4 v = i[(size_t)blockIdx.x * n4 + t];
    float a = v.x + v.y + v.z + v.w, b = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    for (int k = 16; k; k /= 2) {
        a += __shfl_xor_sync(~0u, a, k);
        b += __shfl_xor_sync(~0u, b, k);
    }
    if (t % 32 == 0)
        s[t / 32] = a, s[32 + t / 32] = b;
    __syncthreads();
    a = b = 0;
    for (int k = 0; k < blockDim.x / 32; k++)
        a += s[k], b += s[32 + k];
    float m = a / (4 * n4), q = rsqrtf(b / (4 * n4) - m * m + 1e-5f);
    float4 w = g[t];
    ((float4 *)o)[(size_t)blockIdx.x * n4 + t] =
        make_float4((v.x - m) * q * w.x, (v.y - m) * q * w.y, (v.z - m) * q * w.z, (v.w - m) * q * w.w);
}
K spmv_scalar(float *y, const int *p, const int *c, const float *v, const float *x, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) {
        float s = 0;
        for (int k = p[r]; k < p[r + 1]; k++)
            s += v[k] * x[c[k]];
        y[r] = s;
    }
}
K spmv_vector(float *y, const int *p, const int *c, const float *v, const float *x, int n)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, l = threadIdx.x & 31;
    if (r < n) {
        float s = 0;
        for (int k = p[r] + l; k < p[r + 1]; k += 32)
            s += v[k] * x[c[k]];
        for (int k = 16; k; k /= 2)
            s += __shfl_down_sync(~0u, s, k);
        if (!l)
            y[r] = s;
    }
}
K nbody_naive(float4 *o, const float4 *p, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    float4 a = p[k];
    float x = 0, y = 0, z = 0;
    for (int j = 0; j < n; j++) {
        float4 b = p[j];
        float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z, q = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f),
              w = b.w * q * q * q;
        x += dx * w;
        y += dy * w;
        z += dz * w;
    }
    o[k] = make_float4(x, y, z, 0);
}
K nbody_tiled(float4 *o, const float4 *p, int n)
{
    __shared__ float4 s[256];
    int k = blockIdx.x * 256 + threadIdx.x;
    float4 a = p[k];
    float x = 0, y = 0, z = 0;
    for (int j = 0; j < n; j += 256) {
        s[threadIdx.x] = p[j + threadIdx.x];
        __syncthreads();
        _Pragma("unroll 16") for (int i = 0; i < 256; i++)
        {
            float4 b = s[i];
            float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z, q = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f),
                  w = b.w * q * q * q;
            x += dx * w;
            y += dy * w;
            z += dz * w;
        }
        __syncthreads();
    }
    o[k] = make_float4(x, y, z, 0);
}
K mandel(u8 *o, int w, int h, int it)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float cx = -2.2f + 3.f * x / w, cy = -1.5f + 3.f * y / h, a = 0, b = 0;
    int k = 0;
    while (k < it && a * a + b * b < 4) {
        float t = a * a - b * b + cx;
        b = 2 * a * b + cy;
        a = t;
        k++;
    }
    o[y * w + x] = k;
}
K sfu_sincos(float *o, const float *i, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        float v = i[k];
        _Pragma("unroll 1") for (int q = 0; q < 16; q++) v = sinf(v) + cosf(v * 2);
        o[k] = v;
    }
}
K sfu_exp(float *o, const float *i, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        float v = i[k];
        _Pragma("unroll 1") for (int q = 0; q < 16; q++) v = expf(v) * .3f + logf(v + 1) + sqrtf(v);
        o[k] = v;
    }
}
K pow_f64(double *o, const float *i, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        double v = i[k] + 1;
        for (int q = 0; q < 4; q++)
            v = sqrt(v) + 1 / v;
        o[k] = v;
    }
}
K div64(u64 *o, const u64 *a, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        u64 v = a[k], w = a[k ^ 1] >> 40 | 1;
        for (int q = 0; q < 4; q++)
            v = v / w + (u64)k * 0x9e3779b97f4a7c15ull;
        o[k] = v;
    }
}
K mod32(u32 *o, const u32 *a, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        u32 v = a[k], w = (a[k ^ 1] >> 20) | 1;
        for (int q = 0; q < 8; q++)
            v = v % w + v / w * 3 + q;
        o[k] = v;
    }
}
K spill(float *o, const float *i, int n)
{
    float a[64];
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    for (int q = 0; q < 64; q++)
        a[q] = i[(k + q * 1024) & (n - 1)];
    float s = 0;
    int x = k & 63;
    for (int q = 0; q < 64; q++) {
        s += a[x];
        a[x] = s;
        x = (x * 5 + 1 + (int)s) & 63;
    }
    o[k] = s;
}
K icache(float *o, int n)
{
    float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 2500; u++)
        {
            a = a * 0.999f + (float)(u % 7) * .1f;
            b = b * 0.998f + a;
            c = c * .5f + b;
            d = d * .25f + c;
        }
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
K icache_mid(float *o, int n)
{
    float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 400; u++)
        {
            a = a * 0.999f + (float)(u % 7) * .1f;
            b = b * 0.998f + a;
            c = c * .5f + b;
            d = d * .25f + c;
        }
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
K predicated(float *o, const float *i, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i[k & (n - 1)];
    for (int q = 0; q < 64; q++) {
        if (v > .5f)
            v = v * .7f + .01f;
        else
            v = v * 1.3f + .02f;
        if (v > .9f)
            v -= .3f;
    }
    o[k] = v;
}
K diverge8(float *o, const float *i, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i[k];
    for (int q = 0; q < 16; q++)
        switch ((k + q) & 7) {
        case 0:
            v = sinf(v);
            break;
        case 1:
            v = expf(-v);
            break;
        case 2:
            v = sqrtf(v + 1);
            break;
        case 3:
            v = logf(v + 2);
            break;
        case 4:
            v = v / (v + 3);
            break;
        case 5:
            v = cosf(v);
            break;
        case 6:
            v = atanf(v);
            break;
        default:
            v = tanhf(v);
        }
    o[k] = v;
}
K diverge_warp(float *o, const float *i, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, w = (k / 32 * 37) & 63;
    float v = i[k];
    for (int q = 0; q < w * 8; q++)
        v = v * .99f + .01f;
    o[k] = v;
}
K l1_reuse(float *o, const float *i, int n)
{
    float s = 0;
    for (int r = 0; r < n; r++)
        for (int k = 0; k < 4096; k += 256)
            s += i[k + ((threadIdx.x + r) & 255)];
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K l1_reuse_f4(float *o, const float4 *i, int n)
{
    float s = 0;
    for (int r = 0; r < n; r++)
        for (int k = 0; k < 4096; k += 256) {
            float4 v = i[k + ((threadIdx.x + r) & 255)];
            s += v.x + v.y + v.z + v.w;
        }
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K const_uniform(float *o, int n)
{
    float s = 0;
    for (int k = 0; k < n; k++)
        s = s * ctab[k & 4095] + .1f;
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K const_divergent(float *o, int n)
{
    float s = 0;
    for (int k = 0; k < n; k++)
        s += ctab[(k + threadIdx.x * 3) & 1023];
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
K bits(u32 *o, const u32 *i, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    u32 v = i[k], s = 0;
    for (int q = 0; q < 32; q++) {
        s += __popc(v) + __clz(v) + __ffs(v);
        v = __brev(v) * 0x9e3779b1u + q;
    }
    o[k] = s;
}
K lowocc_smem(float *o, const float *i, int n)
{
    extern __shared__ float s[];
    int t = threadIdx.x;
    for (int k = t; k < 16384; k += 128)
        s[k] = i[blockIdx.x * 16384 + k];
    __syncthreads();
    float a = 0;
    for (int r = 0; r < n; r++)
        a += s[(t * 17 + r * 129) & 16383];
    o[blockIdx.x * 128 + t] = a;
}
K regheavy(float *o, const float *i, int n)
{
    float a[96];
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    for (int q = 0; q < 96; q++)
        a[q] = i[(k + q * 4096) & (n - 1)];
    for (int r = 0; r < 8; r++) {
        _Pragma("unroll") for (int q = 0; q < 96; q++) a[q] = a[q] * a[(q + 1) % 96] + .5f;
    }
    float s = 0;
    for (int q = 0; q < 96; q++)
        s += a[q];
    o[k] = s;
}
K montecarlo(u32 *o, int n)
{
    u32 a = blockIdx.x * blockDim.x + threadIdx.x + 1, c = 0;
    for (int k = 0; k < n; k++) {
        a ^= a << 13;
        a ^= a >> 17;
        a ^= a << 5;
        float x = a * 2.3283064e-10f;
        a ^= a << 13;
        a ^= a >> 17;
        a ^= a << 5;
        float y = a * 2.3283064e-10f;
        c += x * x + y * y < 1;
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = c;
}
K smem_conf(float *o, int n, int st)
{
    __shared__ float s[4096];
    int t = threadIdx.x;
    for (int k = t; k < 4096; k += blockDim.x)
        s[k] = k;
    __syncthreads();
    float a = 0;
    int x = t * st;
    for (int k = 0; k < n; k++) {
        a += s[x & 4095];
        x += 32;
    }
    o[blockIdx.x * blockDim.x + t] = a;
}
K smem_f4(float *o, int n)
{
    __shared__ float4 s[1024];
    int t = threadIdx.x;
    for (int k = t; k < 1024; k += blockDim.x)
        s[k] = make_float4(k, 1, 2, 3);
    __syncthreads();
    float a = 0;
    int x = t;
    for (int k = 0; k < n; k++) {
        float4 v = s[x & 1023];
        a += v.x + v.y + v.z + v.w;
        x += 32;
    }
    o[blockIdx.x * blockDim.x + t] = a;
}
K lut_u8(u8 *o, const u8 *i, const u8 *l, int n)
{
    __shared__ u8 s[256];
    s[threadIdx.x] = l[threadIdx.x];
    __syncthreads();
    for (int k = blockIdx.x * 256 + threadIdx.x; k < n; k += gridDim.x * 256)
        o[k] = s[i[k]];
}
K mix_mem_alu(float *o, const float *i, int n, int q)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i[k];
    for (int r = 0; r < q; r++)
        v = v * .999f + .1f;
    o[k] = v;
}
K ld_dep(float *o, const float *i, const int *x, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int a = x[k];
    int b = x[a & (n - 1)];
    o[k] = i[b & (n - 1)];
}
int main()
{
    const int N = 4 << 20;
    float *a = buf<float>(N * 4), *o = buf<float>(N * 4, ZERO);
    u32 *x = buf<u32>(N * 2, RANDU);
    float c[4096];
    for (int k = 0; k < 4096; k++)
        c[k] = k * 1e-4f;
    cudaMemcpyToSymbol(ctab, c, sizeof c);
    const int R = 65536;
    std::vector<int> p(R + 1), ci;
    std::vector<float> va;
    for (int r = 0; r < R; r++) {
        p[r] = (int)ci.size();
        int m = 4 + rnd() % 57;
        for (int k = 0; k < m; k++) {
            ci.push_back(rnd() & (R - 1));
            va.push_back(1.f / (k + 1));
        }
    }
    p[R] = (int)ci.size();
    int *dp = (int *)up(p.data(), p.size() * 4), *dc = (int *)up(ci.data(), ci.size() * 4);
    float *dv = (float *)up(va.data(), va.size() * 4);
    RUN(softmax_naive, (2048 / 64), (64), 0, softmax_naive, o, a, 1024);
    RUN(softmax_block, (4096), (256), 0, softmax_block, o, a, 1024);
    RUN(softmax_warp, (4096 / 8), (256), 0, softmax_warp, o, a);
    RUN(layernorm, (4096), (256), 0, layernorm, o, (float4 *)a, (float4 *)a, 256);
    RUN(spmv_scalar, (R / 256), (256), 0, spmv_scalar, o, dp, dc, dv, a, R);
    RUN(spmv_vector, (R / 8), (256), 0, spmv_vector, o, dp, dc, dv, a, R);
    RUN(nbody_naive, (16384 / 256), (256), 0, nbody_naive, (float4 *)o, (float4 *)a, 4096);
    RUN(nbody_tiled, (16384 / 256), (256), 0, nbody_tiled, (float4 *)o, (float4 *)a, 4096);
    RUN(nbody_32k, (33792 / 256), (256), 0, nbody_tiled, (float4 *)o, (float4 *)a, 4096);
    RUN(mandel, (32, 128), (32, 8), 0, mandel, (u8 *)o, 1024, 1024, 200);
    RUN(sfu_sincos, (N / 4 / 256), (256), 0, sfu_sincos, o, a, N / 4);
    RUN(sfu_exp, (N / 4 / 256), (256), 0, sfu_exp, o, a, N / 4);
    RUN(pow_f64, (N / 8 / 256), (256), 0, pow_f64, (double *)o, a, N / 8);
    RUN(div64, (N / 8 / 256), (256), 0, div64, (u64 *)o, (u64 *)x, N / 8);
    RUN(mod32, (N / 4 / 256), (256), 0, mod32, (u32 *)o, x, N / 4);
    RUN(spill, (1024), (128), 0, spill, o, a, 1 << 20);
    RUN(icache, (132 * 2), (256), 0, icache, o, 4);
    RUN(icache_mid, (132 * 2), (256), 0, icache_mid, o, 20);
    RUN(predicated, (4096), (256), 0, predicated, o, a, N);
    RUN(diverge8, (2048), (256), 0, diverge8, o, a, N);
    RUN(diverge_warp, (4096), (256), 0, diverge_warp, o, a, N);
    RUN(l1_reuse, (132 * 4), (256), 0, l1_reuse, o, a, 32);
    RUN(l1_reuse_f4, (132 * 4), (256), 0, l1_reuse_f4, o, (float4 *)a, 32);
    RUN(const_uniform, (132 * 4), (256), 0, const_uniform, o, 4096);
    RUN(const_divergent, (132 * 2), (256), 0, const_divergent, o, 256);
    RUN(bits, (4096), (256), 0, bits, (u32 *)o, x, N);
    RUN(lowocc_smem, (256), (128), 65536, lowocc_smem, o, a, 512);
    RUN(regheavy, (1024), (128), 0, regheavy, o, a, 1 << 20);
    RUN(montecarlo, (132 * 8), (256), 0, montecarlo, (u32 *)o, 200);
    RUN(smem_conf1, (132 * 4), (256), 0, smem_conf, o, 500, 1);
    RUN(smem_conf2, (132 * 4), (256), 0, smem_conf, o, 500, 2);
    RUN(smem_conf8, (132 * 4), (256), 0, smem_conf, o, 500, 8);
    RUN(smem_conf32, (132 * 4), (256), 0, smem_conf, o, 200, 32);
    RUN(smem_f4, (132 * 4), (256), 0, smem_f4, o, 500);
    RUN(lut_u8, (132 * 8), (256), 0, lut_u8, (u8 *)o, (u8 *)a, (u8 *)x, N * 4);
    RUN(mix_q16, (N / 256), (256), 0, mix_mem_alu, o, a, N, 16);
    RUN(mix_q128, (N / 256), (256), 0, mix_mem_alu, o, a, N, 128);
    RUN(ld_dep, (N / 4 / 256), (256), 0, ld_dep, o, a, (int *)x, N);
}
