#include "launches.h"
// Atomic operations by the type of their words, by how many bytes of memory they fall into and by how lanes share
// sectors. o_red_*: without a result; o_cas_*: loops of compare-and-swap in shared memory.
template <class T> __device__ inline u32 row_of(u32 k, u32 rows)
{
    u32 x = ((blockIdx.x * blockDim.x + threadIdx.x) / 32 * 61 + k * 977) * 2654435761u;
    x ^= x >> 15;
    return (x * 2246822519u >> 7) & (rows - 1);
}
// All lanes side by side, on `lines` lines of 128 bytes in turn.
template <class T> __global__ void o_whole(T *o, int n, u32 lines)
{
    const u32 words = 128 / sizeof(T), l = threadIdx.x & 31;
    for (int k = 0; k < n; k++)
        atomicAdd(o + (size_t)row_of<T>(k, lines) * words + l, (T)(k + 1));
}
// Lanes at random in `words` words.
template <class T> __global__ void o_random(T *o, int n, u32 words)
{
    for (int k = 0; k < n; k++) {
        u32 x = (blockIdx.x * blockDim.x + threadIdx.x + k * 977) * 2654435761u;
        x ^= x >> 15;
        x *= 2246822519u;
        x ^= x >> 13;
        atomicAdd(o + (x & (words - 1)), (T)(k + 1));
    }
}
// All lanes of a warp at one word, that of a line of `lines` lines.
template <class T> __global__ void o_alike(T *o, int n, u32 lines)
{
    for (int k = 0; k < n; k++)
        atomicAdd(o + (size_t)row_of<T>(k, lines) * (128 / sizeof(T)) + (threadIdx.x >> 31), (T)(k + 1));
}
// One lane, at a word of its own of one line, or of `lines` lines.
template <class T> __global__ void o_single(T *o, int n, u32 lines)
{
    const u32 w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, words = 128 / sizeof(T);
    if (threadIdx.x & 31)
        return;
    for (int k = 0; k < n; k++)
        atomicAdd(o + (size_t)row_of<T>(k, lines) * words + w % words, (T)(k + 1));
}
template <class T> __global__ void o_result(T *o, int n, u32 lines)
{
    const u32 words = 128 / sizeof(T), l = threadIdx.x & 31;
    T s = 0;
    for (int k = 0; k < n; k++)
        s += atomicAdd(o + (size_t)row_of<T>(k, lines) * words + l, (T)(k + 1));
    if (s == (T)12345)
        o[0] = s;
}
// Shared memory: all lanes of all warps at one word; at 32 words.
template <class T, int WORDS> __global__ void o_cas(T *o, int n)
{
    __shared__ T s[32];
    if (threadIdx.x < 32)
        s[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < n; k++)
        atomicAdd(s + (threadIdx.x & (WORDS - 1)), (T)(k + 1));
    __syncthreads();
    if (threadIdx.x < 32)
        o[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}
template <class T> static void of(const char *type, void *out)
{
    T *o = (T *)out;
    auto run = [&](const char *what, u32 size, int blocks, void (*kernel)(T *, int, u32), int n, u32 argument) {
        char name[64];
        snprintf(name, sizeof name, "o_%s_%s_%u", what, type, size);
        run_(name, dim3(blocks), dim3(256), [&] { kernel<<<blocks, 256>>>(o, n, argument); });
    };
    for (u32 lines : {1, 2, 4, 8, 16, 32, 64, 128, 1024, 8192})
        run("whole", lines * 128, 528, o_whole<T>, 8, lines);
    for (u32 bytes : {32, 128, 512, 1024, 2048, 4096, 8192, 16384, 131072, 1048576})
        run("random", bytes, 528, o_random<T>, 8, bytes / sizeof(T));
    for (u32 lines : {1, 2, 4, 16, 32, 128, 8192})
        run("alike", lines * 128, 264, o_alike<T>, 4, lines);
    for (u32 lines : {1, 8, 16, 32, 1024})
        run("single", lines * 128, 528, o_single<T>, 16, lines);
    for (u32 lines : {1, 8, 64, 8192})
        run("result", lines * 128, 264, o_result<T>, 8, lines);
}
int main()
{
    void *o = buf<float>(1 << 20, ZERO);
    of<u32>("i", o);
    of<float>("f", o);
    of<double>("d", o);
    of<u64>("l", o);
    float *of_ = (float *)o;
    double *od = (double *)o;
    RUN(o_cas_f_1, (1), (32), 0, (o_cas<float, 1>), of_, 4);
    RUN(o_cas_f_2, (1), (64), 0, (o_cas<float, 1>), of_, 4);
    RUN(o_cas_f_4, (1), (128), 0, (o_cas<float, 1>), of_, 4);
    RUN(o_cas_f_8, (1), (256), 0, (o_cas<float, 1>), of_, 4);
    RUN(o_cas_f_32, (1), (1024), 0, (o_cas<float, 1>), of_, 4);
    RUN(o_cas_f_8x8, (1056), (256), 0, (o_cas<float, 1>), of_, 1);
    RUN(o_cas_f_8x4, (528), (256), 0, (o_cas<float, 1>), of_, 1);
    RUN(o_cas_d_1, (1), (32), 0, (o_cas<double, 1>), od, 4);
    RUN(o_cas_d_2, (1), (64), 0, (o_cas<double, 1>), od, 4);
    RUN(o_cas_d_8, (1), (256), 0, (o_cas<double, 1>), od, 4);
    RUN(o_cas_d_8x8, (1056), (256), 0, (o_cas<double, 1>), od, 1);
    RUN(o_cas32_f_1, (1), (32), 0, (o_cas<float, 32>), of_, 4);
    RUN(o_cas32_f_8, (1), (256), 0, (o_cas<float, 32>), of_, 4);
    RUN(o_cas32_f_32, (1), (1024), 0, (o_cas<float, 32>), of_, 4);
    RUN(o_cas32_d_8, (1), (256), 0, (o_cas<double, 32>), od, 4);
    RUN(o_cas_i_8, (1), (256), 0, (o_cas<u32, 1>), (u32 *)o, 4);
    RUN(o_cas32_i_8, (1), (256), 0, (o_cas<u32, 32>), (u32 *)o, 4);
}
