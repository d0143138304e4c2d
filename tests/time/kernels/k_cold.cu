#include "launches.h"
// What a launch pays that begins with cold caches: its first instructions, more of them in a row or behind a jump,
// constants, the first use of memory.
#define MAD asm volatile("mad.lo.s32 %0, %0, %1, %1;" : "+r"(a) : "r"(b))
template <int N> __global__ void k_chain(int *out, int b)
{
    int a = threadIdx.x;
    _Pragma("unroll") for (int i = 0; i < N; i++) MAD;
    if (a == 12345)
        *out = a;
}
template <int N> __global__ void k_fast(float *out, float b) // about an instruction a cycle
{
    float f = b, g = b + 1, h = b + 2, k = b + 3;
    _Pragma("unroll") for (int i = 0; i < N / 4; i++)
    {
        asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(f));
        asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(g));
        asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(h));
        asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(k));
    }
    if (f + g + h + k == 12345)
        *out = f;
}
template <int N, int OVER> __global__ void k_hop(int *out, int b) // N jumps over instructions that never run
{
    int a = threadIdx.x;
    _Pragma("unroll") for (int i = 0; i < N; i++)
    {
        if (b == 77 + i) {
            _Pragma("unroll") for (int j = 0; j < OVER; j++) MAD;
        }
        MAD;
    }
    if (a == 12345)
        *out = a;
}
struct many {
    int v[64];
};
K k_params(int *out, many p, int i)
{
    int a = threadIdx.x;
    for (int k = 0; k < 4; k++)
        a += p.v[k * 16];
    if (a == 12345 + i)
        *out = a;
}
K k_load1(const int *in, int *out)
{
    int a = in[threadIdx.x];
    if (a == 12345)
        *out = a;
}
K k_store1(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
K k_args(int *out, int b)
{
    if (b == 99)
        *out = b;
}
int main()
{
    int *o = buf<int>(16 << 20, ZERO);
    many p = {};
    RUN(k_args, (132), (32), 0, k_args, o, 1);
    RUN(k_chain8, (132), (32), 0, k_chain<8>, o, 3);
    RUN(k_chain248, (132), (32), 0, k_chain<248>, o, 3);
    RUN(k_chain4088, (132), (32), 0, k_chain<4088>, o, 3);
    RUN(k_fast1024, (132), (32), 0, k_fast<1024>, (float *)o, 3.f);
    RUN(k_fast2048, (132), (32), 0, k_fast<2048>, (float *)o, 3.f);
    RUN(k_hop8, (132), (32), 0, (k_hop<8, 256>), o, 3);
    RUN(k_hop16, (132), (32), 0, (k_hop<16, 256>), o, 3);
    RUN(k_params, (132), (32), 0, k_params, o, p, 0);
    RUN(k_load1, (132), (32), 0, k_load1, o, o + 4096);
    RUN(k_store1, (132), (32), 0, k_store1, o);
    return 0;
}
