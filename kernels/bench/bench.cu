/* The peak rates of a GPU.
 *   copy, read, write   16 bytes a thread and access, several in flight a thread, whole lines a warp: only memory
 *   bandwidth limits them.
 *   load, store, count  shared memory alone: every warp repeats one access at one pattern of addresses, without other
 *   work, so that its wavefronts (one a clock and SM) are the time. count is atomicAdd(p, 1) without use of the result.
 *   banks/bank.h predicts which patterns conflict; this measures it.
 *   nothing             a launch by itself.
 * Accesses are volatile assembly on the GPU: the compiler must neither join nor drop them. */
#include "bench/bench.h"
#include "lib/gpu_kernel.h"

typedef smp_pack<uint32_t, 4> bench_word;

/* 16-byte vectors of a picture. */
SMP_DEVICE int64_t bench_words(const smp_view &v)
{
    return v.rows * v.stride / 16;
}

SMP_KERNEL(bench_copy_f32_f32, smp_no_params, io, p)
{
    const bench_word *in = static_cast<const bench_word *>(io.in.data);
    bench_word *out = static_cast<bench_word *>(io.out.data);
    const int64_t n = bench_words(io.out), step = blockDim.x, round = (int64_t)gridDim.x * step * 4;
    for (int64_t i = (int64_t)blockIdx.x * step * 4 + threadIdx.x; i < n; i += round) {
        bench_word v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * step < n)
                v[k] = in[i + k * step];
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * step < n)
                out[i + k * step] = v[k];
    }
}

SMP_KERNEL(bench_read_f32_f32, smp_no_params, io, p)
{
    const bench_word *in = static_cast<const bench_word *>(io.in.data);
    const int64_t n = bench_words(io.in), step = blockDim.x, round = (int64_t)gridDim.x * step * 8;
    uint32_t sum = 0;
    for (int64_t i = (int64_t)blockIdx.x * step * 8 + threadIdx.x; i < n; i += round) {
        bench_word v[8];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            int64_t at = i + k * step;
            v[k] = in[at < n ? at : n - 1];
        }
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += v[k].v[0] ^ v[k].v[1] ^ v[k].v[2] ^ v[k].v[3];
    }
    if (sum == 0x9e3779b9u) /* nearly never, but the compiler cannot know */
        *static_cast<uint32_t *>(io.out.data) = sum;
}

SMP_KERNEL(bench_write_f32_f32, smp_no_params, io, p)
{
    bench_word *out = static_cast<bench_word *>(io.out.data);
    const int64_t n = bench_words(io.out), step = blockDim.x, round = (int64_t)gridDim.x * step * 4;
    bench_word v;
    for (int k = 0; k < 4; k++)
        v.v[k] = 0x5a5a5a5au;
    for (int64_t i = (int64_t)blockIdx.x * step * 4 + threadIdx.x; i < n; i += round)
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * step < n)
                out[i + k * step] = v;
}

SMP_KERNEL(bench_nothing_f32_f32, smp_no_params, io, p) {}

struct bench_memory {
    alignas(16) unsigned char bytes[BENCH_SHARED_BYTES];
};

SMP_DEVICE uint64_t bench_clock()
{
#ifdef __CUDACC__
    return (uint64_t)clock64();
#else
    return 0;
#endif
}

template <int WIDTH> SMP_DEVICE uint32_t bench_load(unsigned char *at)
{
#ifdef __CUDACC__
    unsigned shared = (unsigned)__cvta_generic_to_shared(at), a, b, c, d;
    if (WIDTH == 16) {
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "r"(shared));
        return a + d;
    }
    if (WIDTH == 8) {
        asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(shared));
        return a;
    }
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(shared));
    return a;
#else
    smp_pack<uint32_t, WIDTH / 4> v = *reinterpret_cast<smp_pack<uint32_t, WIDTH / 4> *>(at);
    return v.v[0];
#endif
}

template <int WIDTH> SMP_DEVICE void bench_store(unsigned char *at, uint32_t value)
{
#ifdef __CUDACC__
    unsigned shared = (unsigned)__cvta_generic_to_shared(at);
    if (WIDTH == 16)
        asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(shared), "r"(value) : "memory");
    else if (WIDTH == 8)
        asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(shared), "r"(value) : "memory");
    else
        asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(shared), "r"(value) : "memory");
#else
    smp_pack<uint32_t, WIDTH / 4> v;
    for (int i = 0; i < WIDTH / 4; i++)
        v.v[i] = value;
    *reinterpret_cast<smp_pack<uint32_t, WIDTH / 4> *>(at) = v;
#endif
}

enum { BENCH_LOAD, BENCH_STORE, BENCH_COUNT };

/* Every warp makes the same accesses. io.result[block] gets the block's cycles. */
template <int OP, int WIDTH> SMP_DEVICE void bench_shared(const smp_io &io, const bench_pattern &p)
{
    SMP_SHARED(bench_memory, s);
    unsigned char *at = s.bytes + bench_offset(&p, WIDTH, (int)(threadIdx.x % 32));
    if (OP != BENCH_STORE) { /* memory must be written before it is read; every warp writes the same zeros */
        for (int i = (int)threadIdx.x * 4; i < BENCH_SHARED_BYTES; i += (int)blockDim.x * 4)
            *reinterpret_cast<uint32_t *>(s.bytes + i) = 0;
    }
    __syncthreads();
    uint64_t begin = bench_clock();
    uint32_t sum = 0;
#pragma unroll 1
    for (int r = 0; r < p.rounds; r++)
#pragma unroll
        for (int k = 0; k < BENCH_UNROLL; k++) {
            if (OP == BENCH_LOAD)
                sum += bench_load<WIDTH>(at);
            else if (OP == BENCH_STORE)
                bench_store<WIDTH>(at, (uint32_t)r);
            else
                atomicAdd(reinterpret_cast<unsigned *>(at), 1u);
        }
    __syncthreads();
    uint64_t cycles = bench_clock() - begin;
    if (threadIdx.x == 0)
        static_cast<uint64_t *>(io.result)[blockIdx.x] = cycles + (sum == 0x9e3779b9u);
}

#define BENCH_SHARED(name, op, width)                                                                                  \
    SMP_KERNEL_BOUNDS(BENCH_MAX_WARPS * 32, 1, name##_f32_f32, bench_pattern, io, p)                                   \
    {                                                                                                                  \
        bench_shared<op, width>(io, p);                                                                                \
    }
BENCH_SHARED(bench_load4, BENCH_LOAD, 4)
BENCH_SHARED(bench_load8, BENCH_LOAD, 8)
BENCH_SHARED(bench_load16, BENCH_LOAD, 16)
BENCH_SHARED(bench_store4, BENCH_STORE, 4)
BENCH_SHARED(bench_store8, BENCH_STORE, 8)
BENCH_SHARED(bench_store16, BENCH_STORE, 16)
BENCH_SHARED(bench_count4, BENCH_COUNT, 4)
