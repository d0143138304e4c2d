#include "launches.h"
// Instructions: warps that are in different places of long code, lanes that part, calls of functions.
template <int N> __device__ __forceinline__ void some(float &a, float b)
{
    _Pragma("unroll") for (int u = 0; u < N; u++) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(a) : "f"(b));
}
// Each warp of a block has code of its own, of N instructions.
template <int N> __global__ void o_apart_code(float *o, float b, int n)
{
    float a = threadIdx.x;
    for (int k = 0; k < n; k++)
        switch (threadIdx.x / 32) {
        case 0: some<N>(a, b); break;
        case 1: some<N>(a, b + 1); break;
        case 2: some<N>(a, b + 2); break;
        case 3: some<N>(a, b + 3); break;
        case 4: some<N>(a, b + 4); break;
        case 5: some<N>(a, b + 5); break;
        case 6: some<N>(a, b + 6); break;
        default: some<N>(a, b + 7); break;
        }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
// Lanes part in W ways, each of N instructions.
template <int N, int W> __global__ void o_part(float *o, float b, int n)
{
    float a = threadIdx.x;
    for (int k = 0; k < n; k++)
        switch (threadIdx.x & (W - 1)) {
        case 0: some<N>(a, b); break;
        case 1: some<N>(a, b + 1); break;
        case 2: some<N>(a, b + 2); break;
        case 3: some<N>(a, b + 3); break;
        case 4: some<N>(a, b + 4); break;
        case 5: some<N>(a, b + 5); break;
        case 6: some<N>(a, b + 6); break;
        default: some<N>(a, b + 7); break;
        }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
// Loops of which each lane goes another number of rounds.
__global__ void o_rounds(float *o, float b, int n)
{
    float a = threadIdx.x;
    for (int r = 0; r < n; r++)
        for (int k = 0; k <= (threadIdx.x & 31); k++)
            some<8>(a, b);
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__device__ __noinline__ float called(float a, float b)
{
    some<16>(a, b);
    return a;
}
__device__ __noinline__ float calls(float a, float b)
{
    return called(a, b) + called(b, a);
}
__global__ void o_call(float *o, float b, int n)
{
    float a = threadIdx.x;
    for (int k = 0; k < n; k++)
        a = called(a, b);
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void o_call_twice(float *o, float b, int n)
{
    float a = threadIdx.x;
    for (int k = 0; k < n; k++)
        a = calls(a, b);
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
// A loop over N instructions that come one a cycle: 8 warps of a part, or one.
template <int N> __global__ void o_loop(float *o, float b, int n)
{
    float a = threadIdx.x, c = a + 1, d = a + 2, e = a + 3;
    for (int k = 0; k < n; k++) {
        _Pragma("unroll") for (int u = 0; u < N / 4; u++)
        {
            asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(a) : "f"(b));
            asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(c) : "f"(b));
            asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(d) : "f"(b));
            asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(e) : "f"(b));
        }
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a + c + d + e;
}
int main()
{
    float *o = buf<float>(1 << 20, ZERO);
#define APART(N, R) RUN(o_apart_code_##N, (132), (256), 0, o_apart_code<N>, o, 1.f, R);
    APART(64, 64) APART(256, 16) APART(1024, 8) APART(2048, 4)
#define PART(N, W, R)                                                                                                  \
    RUN(o_part_##N##_##W, (1), (32), 0, (o_part<N, W>), o, 1.f, R);                                                    \
    RUN(o_part_##N##_##W##_all, (528), (256), 0, (o_part<N, W>), o, 1.f, R);
    PART(8, 1, 64) PART(8, 2, 64) PART(8, 8, 64) PART(64, 2, 32) PART(64, 8, 32) PART(512, 8, 4)
    RUN(o_rounds_1, (1), (32), 0, o_rounds, o, 1.f, 8);
    RUN(o_rounds_all, (528), (256), 0, o_rounds, o, 1.f, 8);
    RUN(o_call_1, (1), (32), 0, o_call, o, 1.f, 64);
    RUN(o_call_all, (528), (256), 0, o_call, o, 1.f, 64);
    RUN(o_call_twice_1, (1), (32), 0, o_call_twice, o, 1.f, 64);
#define LOOP(N, R)                                                                                                     \
    RUN(o_loop_##N##_1, (1), (32), 0, o_loop<N>, o, 1.f, R);                                                           \
    RUN(o_loop_##N##_4, (132), (128), 0, o_loop<N>, o, 1.f, R);                                                        \
    RUN(o_loop_##N##_32, (528), (256), 0, o_loop<N>, o, 1.f, R);
    LOOP(96, 64) LOOP(192, 32) LOOP(512, 16) LOOP(1024, 8) LOOP(2048, 8) LOOP(4096, 6) LOOP(6144, 4) LOOP(8192, 4)
    LOOP(12288, 4)
}
