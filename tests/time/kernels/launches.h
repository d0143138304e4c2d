// Common part of the timing kernels: buffers, RUN(name, grid, block, dynamic shared, kernel, arguments...).
// MODE unset: each launch once. MODE=time: 2 warm-ups, then the median of 20 launches by events, warm; and of 8 after
// L2 was flushed. MODE=rep: each three times. ONLY=prefix,...: launches whose names begin so.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;
enum { ZERO, RANDF, RANDU, RANDSMALL };
static u32 rng_ = 12345;
static inline u32 rnd()
{
    rng_ ^= rng_ << 13;
    rng_ ^= rng_ >> 17;
    rng_ ^= rng_ << 5;
    return rng_;
}
static void *up(const void *h, size_t n)
{
    void *d = nullptr;
    if (cudaMalloc(&d, n)) {
        printf("no memory\n");
        exit(1);
    }
    if (h)
        cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);
    else
        cudaMemset(d, 0, n);
    return d;
}
template <class T = float> static T *buf(size_t count, int kind = RANDF)
{
    size_t n = count * sizeof(T);
    if (kind == ZERO)
        return (T *)up(nullptr, n);
    static std::vector<u32> pat[4];
    std::vector<u32> &p = pat[kind];
    if (p.empty()) {
        p.resize(1 << 20);
        for (auto &v : p) {
            u32 r = rnd();
            if (kind == RANDF) {
                float f = (r >> 8) * (1.f / (1 << 24));
                memcpy(&v, &f, 4);
            } else
                v = kind == RANDSMALL ? r & 255 : r;
        }
    }
    char *d = (char *)up(nullptr, n);
    for (size_t o = 0; o < n; o += 4 << 20)
        cudaMemcpy(d + o, p.data(), std::min(n - o, (size_t)4 << 20), cudaMemcpyHostToDevice);
    return (T *)d;
}
static bool want(const char *name)
{
    const char *o = getenv("ONLY");
    for (; o && *o; o += strcspn(o, ","), o += *o == ',')
        if (!strncmp(name, o, strcspn(o, ",")))
            return true;
    return !o;
}
static bool timed()
{
    const char *m = getenv("MODE");
    return m && !strcmp(m, "time");
}
template <class F> static void run_(const char *name, dim3 g, dim3 b, F f)
{
    if (!want(name))
        return;
    if (getenv("MODE") && !strcmp(getenv("MODE"), "rep")) {
        f();
        f();
    }
    if (!timed()) {
        f();
        cudaError_t e = cudaDeviceSynchronize();
        if (e) {
            printf("%s: %s\n", name, cudaGetErrorString(e));
            exit(1);
        }
        if (getenv("SAY"))
            printf("%s\n", name);
        return;
    }
    static char *flush = nullptr;
    const size_t FL = 256 << 20;
    if (!flush)
        cudaMalloc(&flush, FL);
    cudaEvent_t a, z;
    cudaEventCreate(&a);
    cudaEventCreate(&z);
    std::vector<float> w, c;
    float ms;
    f();
    f();
    for (int i = 0; i < 20; i++) {
        cudaEventRecord(a);
        f();
        cudaEventRecord(z);
        cudaEventSynchronize(z);
        cudaEventElapsedTime(&ms, a, z);
        w.push_back(ms * 1e3f);
    }
    for (int i = 0; i < 8; i++) {
        cudaMemset(flush, i, FL);
        cudaEventRecord(a);
        f();
        cudaEventRecord(z);
        cudaEventSynchronize(z);
        cudaEventElapsedTime(&ms, a, z);
        c.push_back(ms * 1e3f);
    }
    cudaError_t e = cudaDeviceSynchronize();
    if (e) {
        printf("%s: %s\n", name, cudaGetErrorString(e));
        exit(1);
    }
    std::sort(w.begin(), w.end());
    std::sort(c.begin(), c.end());
    printf("%s,%ux%ux%u,%ux%ux%u,%.2f,%.2f,%.2f\n", name, g.x, g.y, g.z, b.x, b.y, b.z, (w[9] + w[10]) / 2, w[0],
           (c[3] + c[4]) / 2);
}
#define RUN(name, g, b, s, k, ...)                                                                                     \
    run_(#name, dim3 g, dim3 b, [&] {                                                                                  \
        if (s > 48 * 1024)                                                                                             \
            cudaFuncSetAttribute((const void *)k, cudaFuncAttributeMaxDynamicSharedMemorySize, s);                     \
        k<<<dim3 g, dim3 b, s>>>(__VA_ARGS__);                                                                         \
    })
#define K extern "C" __global__ void
