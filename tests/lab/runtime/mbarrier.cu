// Barriers in shared memory: threads that wait for all, a producer's warp and its consumers, a copy by the bulk engine,
// and what goes wrong with them.
#include <cstdint>
#include <cstdio>
#include <cstring>

__device__ unsigned at(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}
__device__ void init(uint64_t *b, unsigned count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(count) : "memory");
}
__device__ uint64_t arrive(uint64_t *b)
{
    uint64_t state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at(b)) : "memory");
    return state;
}
__device__ void wait(uint64_t *b, uint64_t state)
{
    asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.test_wait.shared.b64 p, [%0], %1;\n@p bra over;\nbra again;\n"
                 "over:\n}" ::"r"(at(b)),
                 "l"(state)
                 : "memory");
}
__device__ void wait_parity(uint64_t *b, unsigned parity)
{
    asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@p bra over;\n"
                 "bra again;\nover:\n}" ::"r"(at(b)),
                 "r"(parity)
                 : "memory");
}

// Turns 64 numbers around, four times. `which` leaves the wait out, expects one thread more, or does not init.
__global__ void turn(int *out, int which)
{
    __shared__ uint64_t b;
    __shared__ int s[64];
    if (!threadIdx.x && which != 3)
        init(&b, which == 2 ? 65 : 64);
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        s[threadIdx.x] = threadIdx.x + i;
        uint64_t state = arrive(&b);
        if (which != 1)
            wait(&b, state);
        out[i * 64 + threadIdx.x] = s[63 - threadIdx.x];
        wait(&b, arrive(&b));
    }
}

// The first warp fills one of two buffers while the second sums the other.
__global__ void parts(int *out, int rounds)
{
    __shared__ uint64_t full[2], empty[2];
    __shared__ int s[2][32];
    if (!threadIdx.x)
        for (int i = 0; i < 2; i++) {
            init(&full[i], 32);
            init(&empty[i], 32);
        }
    __syncthreads();
    const int lane = threadIdx.x % 32;
    int sum = 0;
    for (int i = 0; i < rounds; i++) {
        const int which = i % 2, parity = i / 2 % 2;
        if (threadIdx.x < 32) {
            if (i >= 2)
                wait_parity(&empty[which], parity ^ 1);
            s[which][lane] = i * 32 + lane;
            arrive(&full[which]);
        } else {
            wait_parity(&full[which], parity);
            sum += s[which][31 - lane];
            arrive(&empty[which]);
        }
    }
    if (threadIdx.x >= 32)
        out[lane] = sum;
}

__global__ void bulk(int *out, const int *in, unsigned bytes)
{
    __shared__ alignas(16) int s[256];
    __shared__ uint64_t b;
    if (!threadIdx.x) {
        init(&b, 1);
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(&b)), "r"(bytes) : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(s)),
            "l"(in), "r"(bytes), "r"(at(&b))
            : "memory");
    }
    __syncthreads();
    wait_parity(&b, 0);
    const int mine = s[255 - threadIdx.x];
    __syncthreads();
    s[threadIdx.x] = mine;
    __syncthreads();
    if (!threadIdx.x) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(at(s)), "r"(1024)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}

// Each thread's copy arrives in place of nobody: cuda::memcpy_async with a cuda::barrier.
__global__ void copies(int *out, const int *in)
{
    __shared__ int s[256];
    __shared__ uint64_t b;
    if (!threadIdx.x)
        init(&b, 256);
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(s + threadIdx.x)), "l"(in + threadIdx.x)
                 : "memory");
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(at(&b)) : "memory");
    wait(&b, arrive(&b));
    out[threadIdx.x] = s[255 - threadIdx.x];
}

int main(int, char **arguments)
{
    const char *which = arguments[1];
    int *out, *in, back[256], wrong = 0;
    cudaMalloc(&out, 1024);
    cudaMalloc(&in, 1024);
    for (int i = 0; i < 256; i++)
        back[i] = i;
    cudaMemcpy(in, back, 1024, cudaMemcpyHostToDevice);
    if (!strcmp(which, "parts"))
        parts<<<1, 64>>>(out, 6);
    else if (!strcmp(which, "bulk") || !strcmp(which, "beyond"))
        bulk<<<1, 256>>>(out, in, !strcmp(which, "bulk") ? 1024 : 2048);
    else if (!strcmp(which, "copies"))
        copies<<<1, 256>>>(out, in);
    else
        turn<<<1, 64>>>(out, !strcmp(which, "nowait")   ? 1
                             : !strcmp(which, "hang")   ? 2
                             : !strcmp(which, "unmade") ? 3
                                                        : 0);
    cudaMemcpy(back, out, 1024, cudaMemcpyDeviceToHost);
    if (!strcmp(which, "turn"))
        for (int i = 0; i < 256; i++)
            wrong += back[i] != 63 - i % 64 + i / 64;
    else if (!strcmp(which, "parts"))
        for (int i = 0; i < 32; i++)
            wrong += back[i] != 15 * 32 + 6 * (31 - i);
    else if (!strcmp(which, "bulk") || !strcmp(which, "copies"))
        for (int i = 0; i < 256; i++)
            wrong += back[i] != 255 - i;
    printf("%d wrong\n", wrong);
}
