#include "launches.h"
// Rates: 8 warps a sub-partition, 4 independent chains. Latencies: 1 warp, 1 chain (micro_lat_*).
#define OP1(NAME, ...)                                                                                                 \
    template <int C> __device__ inline void NAME##_(u32 *o, int n)                                                     \
    {                                                                                                                  \
        u32 a[C];                                                                                                      \
        u32 b = threadIdx.x | 1, c = b * 3 + 5;                                                                        \
        _Pragma("unroll") for (int i = 0; i < C; i++) a[i] = threadIdx.x * 7 + i;                                      \
        for (int k = 0; k < n; k++) {                                                                                  \
            _Pragma("unroll") for (int u = 0; u < 8; u++) _Pragma("unroll") for (int i = 0; i < C; i++)                \
            {                                                                                                          \
                __VA_ARGS__;                                                                                           \
            }                                                                                                          \
        }                                                                                                              \
        u32 s = 0;                                                                                                     \
        for (int i = 0; i < C; i++)                                                                                    \
            s += a[i];                                                                                                 \
        o[blockIdx.x * blockDim.x + threadIdx.x] = s;                                                                  \
    }                                                                                                                  \
    K NAME(u32 *o, int n)                                                                                              \
    {                                                                                                                  \
        NAME##_<4>(o, n);                                                                                              \
    }                                                                                                                  \
    K NAME##_lat(u32 *o, int n)                                                                                        \
    {                                                                                                                  \
        NAME##_<1>(o, n);                                                                                              \
    }
OP1(m_fadd, asm volatile("{ .reg .f32 x, y; mov.b32 x, %0; mov.b32 y, %1; add.f32 x, x, y; mov.b32 %0, x; }"
                         : "+r"(a[i])
                         : "r"(b)))
OP1(m_ffma,
    asm volatile(
        "{ .reg .f32 x, y, z; mov.b32 x, %0; mov.b32 y, %1; mov.b32 z, %2; fma.rn.f32 x, x, y, z; mov.b32 %0, x; }"
        : "+r"(a[i])
        : "r"(b), "r"(c)))
OP1(m_fmul, asm volatile("{ .reg .f32 x, y; mov.b32 x, %0; mov.b32 y, %1; mul.f32 x, x, y; mov.b32 %0, x; }"
                         : "+r"(a[i])
                         : "r"(b)))
OP1(m_fmnmx, asm volatile("{ .reg .f32 x, y; mov.b32 x, %0; mov.b32 y, %1; min.f32 x, x, y; mov.b32 %0, x; }"
                          : "+r"(a[i])
                          : "r"(b));
    b += 1)
OP1(m_iadd3, asm volatile("add.u32 %0, %0, %1;" : "+r"(a[i]) : "r"(b)))
OP1(m_imad, asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(a[i]) : "r"(b), "r"(c)))
OP1(m_lop3, asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(a[i]) : "r"(b), "r"(c)))
OP1(m_shf, asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(a[i]) : "r"(b), "r"(c)))
OP1(m_prmt, asm volatile("prmt.b32 %0, %0, %1, %2;" : "+r"(a[i]) : "r"(b), "r"(c)))
OP1(m_setsel, asm volatile("{ .reg .pred p; setp.lt.u32 p, %0, %1; selp.b32 %0, %1, %2, p; }"
                           : "+r"(a[i])
                           : "r"(b), "r"(c)))
OP1(m_ex2, asm volatile("{ .reg .f32 x; mov.b32 x, %0; ex2.approx.ftz.f32 x, x; mov.b32 %0, x; }" : "+r"(a[i])))
OP1(m_i2f, asm volatile("{ .reg .f32 x; cvt.rn.f32.s32 x, %0; mov.b32 %0, x; }" : "+r"(a[i])))
OP1(m_f2i, asm volatile("{ .reg .f32 x; mov.b32 x, %0; cvt.rzi.s32.f32 %0, x; }" : "+r"(a[i])))
OP1(m_popc, asm volatile("popc.b32 %0, %0;" : "+r"(a[i])))
OP1(m_brev, asm volatile("brev.b32 %0, %0;" : "+r"(a[i])))
OP1(m_flo, asm volatile("clz.b32 %0, %0;" : "+r"(a[i])))
OP1(m_hfma2, asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(a[i]) : "r"(b), "r"(c)))
OP1(m_dp4a, asm volatile("dp4a.u32.u32 %0, %0, %1, %2;" : "+r"(a[i]) : "r"(b), "r"(c)))
OP1(m_mulhi, asm volatile("mad.hi.u32 %0, %0, %1, %2;" : "+r"(a[i]) : "r"(b), "r"(c)))
OP1(m_shfl, asm volatile("shfl.sync.bfly.b32 %0, %0, 5, 31, 0xffffffff;" : "+r"(a[i])))
OP1(m_vote, asm volatile("{ .reg .pred p; setp.lt.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                         : "+r"(a[i])
                         : "r"(b)))
OP1(m_redux, asm volatile("redux.sync.add.u32 %0, %0, 0xffffffff;" : "+r"(a[i])))
#define OPD(NAME, S)                                                                                                   \
    template <int C> __device__ inline void NAME##_(double *o, int n)                                                  \
    {                                                                                                                  \
        double a[C], b = threadIdx.x + 1., c = .5;                                                                     \
        _Pragma("unroll") for (int i = 0; i < C; i++) a[i] = threadIdx.x + i;                                          \
        for (int k = 0; k < n; k++) {                                                                                  \
            _Pragma("unroll") for (int u = 0; u < 8; u++)                                                              \
                _Pragma("unroll") for (int i = 0; i < C; i++) asm volatile(S : "+d"(a[i]) : "d"(b), "d"(c));           \
        }                                                                                                              \
        double s = 0;                                                                                                  \
        for (int i = 0; i < C; i++)                                                                                    \
            s += a[i];                                                                                                 \
        o[blockIdx.x * blockDim.x + threadIdx.x] = s;                                                                  \
    }                                                                                                                  \
    K NAME(double *o, int n)                                                                                           \
    {                                                                                                                  \
        NAME##_<4>(o, n);                                                                                              \
    }                                                                                                                  \
    K NAME##_lat(double *o, int n)                                                                                     \
    {                                                                                                                  \
        NAME##_<1>(o, n);                                                                                              \
    }
OPD(m_dfma, "fma.rn.f64 %0, %0, %1, %2;")
OPD(m_dadd, "add.f64 %0, %0, %1;")
#define OPS(NAME, T, SUM)                                                                                              \
    K NAME(float *o, int n)                                                                                            \
    {                                                                                                                  \
        __shared__ T s[256];                                                                                           \
        int t = threadIdx.x;                                                                                           \
        s[t & 255] = T();                                                                                              \
        __syncthreads();                                                                                               \
        float a = 0;                                                                                                   \
        for (int k = 0; k < n; k++) {                                                                                  \
            _Pragma("unroll") for (int u = 0; u < 16; u++)                                                             \
            {                                                                                                          \
                volatile const T *p = s;                                                                               \
                T v = *(T *)&s[(t + u) & 255];                                                                         \
                a += SUM;                                                                                              \
                asm volatile("" ::: "memory");                                                                         \
            }                                                                                                          \
        }                                                                                                              \
        o[blockIdx.x * blockDim.x + t] = a;                                                                            \
    }
OPS(m_lds4, float, v)
OPS(m_lds8, float2, v.x + v.y)
OPS(m_lds16, float4, v.x + v.y + v.z + v.w)
K m_sts4(float *o, int n)
{
    __shared__ float s[1024];
    volatile float *p = s;
    int t = threadIdx.x;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 16; u++) p[(t + u * 32) & 1023] = k;
    }
    o[blockIdx.x * blockDim.x + t] = s[t];
}
K m_atoms(u32 *o, int n)
{
    __shared__ u32 s[1024];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 8; u++) atomicAdd(&s[(t + u * 32) & 1023], 1);
    }
    __syncthreads();
    o[blockIdx.x * blockDim.x + t] = s[t];
}
template <class T> __device__ inline float ldg_(const T *p, int n)
{
    float a = 0;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 8; u++)
        {
            const float *q = (const float *)(p + u * 32);
            T v;
            if (sizeof(T) == 4)
                asm volatile("ld.global.f32 %0, [%1];" : "=f"(*(float *)&v) : "l"(q));
            else if (sizeof(T) == 8) {
                float2 w;
                asm volatile("ld.global.v2.f32 {%0,%1}, [%2];" : "=f"(w.x), "=f"(w.y) : "l"(q));
                *(float2 *)&v = w;
            } else {
                float4 w;
                asm volatile("ld.global.v4.f32 {%0,%1,%2,%3}, [%4];"
                             : "=f"(w.x), "=f"(w.y), "=f"(w.z), "=f"(w.w)
                             : "l"(q));
                *(float4 *)&v = w;
            }
            a += *(float *)&v;
        }
    }
    return a;
}
K m_ldg4(float *o, const float *i, int n)
{
    o[blockIdx.x * blockDim.x + threadIdx.x] = ldg_(i + threadIdx.x, n);
}
K m_ldg8(float *o, const float2 *i, int n)
{
    o[blockIdx.x * blockDim.x + threadIdx.x] = ldg_(i + threadIdx.x, n);
}
K m_ldg16(float *o, const float4 *i, int n)
{
    o[blockIdx.x * blockDim.x + threadIdx.x] = ldg_(i + threadIdx.x, n);
}
K m_ldgs8(float *o, const float *i, int n)
{
    o[blockIdx.x * blockDim.x + threadIdx.x] = ldg_((const float *)i + (threadIdx.x & 31) * 8, n);
}
K m_ldgs32(float *o, const float *i, int n)
{
    o[blockIdx.x * blockDim.x + threadIdx.x] = ldg_((const float *)i + (threadIdx.x & 31) * 32, n);
}
K m_stg4(float *o, int n)
{
    volatile float *p = o + blockIdx.x * 1024 + threadIdx.x;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < 4; u++) p[u * 256 - 0] = k;
    }
}
K m_bar(u32 *o, int n)
{
    u32 a = threadIdx.x;
    for (int k = 0; k < n; k++) {
        __syncthreads();
        __syncthreads();
        __syncthreads();
        __syncthreads();
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
K m_empty() {}
int main()
{
    u32 *o = buf<u32>(8 << 20, ZERO);
    float *i = buf<float>(1 << 20);
#define BOTH(k, n)                                                                                                     \
    RUN(k, (132 * 4), (256), 0, k, (u32 *)o, n);                                                                       \
    RUN(k##_lat, (1), (32), 0, k##_lat, (u32 *)o, n);
    BOTH(m_fadd, 60)
    BOTH(m_ffma, 60) BOTH(m_fmul, 60) BOTH(m_fmnmx, 60) BOTH(m_iadd3, 60) BOTH(m_imad, 60) BOTH(m_lop3, 60)
        BOTH(m_shf, 60) BOTH(m_prmt, 60) BOTH(m_setsel, 40) BOTH(m_ex2, 30) BOTH(m_i2f, 30) BOTH(m_f2i, 30)
            BOTH(m_popc, 30) BOTH(m_brev, 30) BOTH(m_flo, 30) BOTH(m_hfma2, 60) BOTH(m_dp4a, 60) BOTH(m_mulhi, 40)
                BOTH(m_shfl, 40) BOTH(m_vote, 40) BOTH(m_redux, 30)
#define BOTHD(k, n)                                                                                                    \
    RUN(k, (132 * 4), (256), 0, k, (double *)o, n);                                                                    \
    RUN(k##_lat, (1), (32), 0, k##_lat, (double *)o, n);
                    BOTHD(m_dfma, 40) BOTHD(m_dadd, 40) RUN(m_lds4, (132 * 4), (256), 0, m_lds4, (float *)o, 40);
    RUN(m_lds8, (132 * 4), (256), 0, m_lds8, (float *)o, 30);
    RUN(m_lds16, (132 * 4), (256), 0, m_lds16, (float *)o, 20);
    RUN(m_sts4, (132 * 4), (256), 0, m_sts4, (float *)o, 40);
    RUN(m_atoms, (132 * 2), (1024), 0, m_atoms, o, 20);
    RUN(m_ldg4, (132 * 4), (256), 0, m_ldg4, (float *)o, i, 40);
    RUN(m_ldg8, (132 * 4), (256), 0, m_ldg8, (float *)o, (float2 *)i, 30);
    RUN(m_ldg16, (132 * 4), (256), 0, m_ldg16, (float *)o, (float4 *)i, 20);
    RUN(m_ldgs8, (132 * 4), (256), 0, m_ldgs8, (float *)o, i, 20);
    RUN(m_ldgs32, (132 * 4), (256), 0, m_ldgs32, (float *)o, i, 20);
    RUN(m_stg4, (132 * 4), (256), 0, m_stg4, (float *)o, 40);
    RUN(m_bar256, (132 * 8), (256), 0, m_bar, o, 50);
    RUN(m_bar1024, (132 * 2), (1024), 0, m_bar, o, 50);
    RUN(m_bar32, (132), (32), 0, m_bar, o, 50);
    RUN(m_bar256_1, (132), (256), 0, m_bar, o, 50);
    RUN(m_empty132, (132), (32), 0, m_empty);
    RUN(m_empty1320, (1320), (1024), 0, m_empty);
    RUN(m_empty13200, (13200), (1024), 0, m_empty);
    RUN(m_empty13200_32, (13200), (32), 0, m_empty);
}
