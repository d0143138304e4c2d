// Kernels without a mistake that look as if they had one. None may be told.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/atomic>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

enum { N = 128, B = 4 };
__device__ unsigned count, ticket, lock;

// ------------------------------------------------------------------ within a block

__global__ void shift_behind_a_barrier(int *x, int *y)
{
    int t = threadIdx.x, v = x[(t + 1) % N];
    __syncthreads();
    x[t] = v + 1;
}
__global__ void scan_of_two_buffers(int *x, int *y)
{
    int t = threadIdx.x, *from = x, *to = y;
    for (int d = 1; d < N; d *= 2) {
        to[t] = from[t] + (t >= d ? from[t - d] : 0);
        __syncthreads();
        int *swap = from;
        from = to;
        to = swap;
    }
}
__global__ void tree(int *x, int *y)
{
    for (int d = N / 2; d; d /= 2) {
        if (threadIdx.x < d)
            x[threadIdx.x] += x[threadIdx.x + d];
        __syncthreads();
    }
}
struct padded_first {
    char c;
    int i;
};
struct padded_last {
    float4 v;
    char c;
};
__global__ void structures_with_padding(int *x, int *y)
{
    __shared__ padded_first s[N];
    __shared__ padded_last last[N];
    const int t = threadIdx.x;
    s[t].c = 1;
    s[t].i = last[t].c = 2;
    last[t].v = make_float4(1, 2, 3, 4);
    __syncthreads();
    ((padded_first *)x)[t] = s[N - 1 - t];
    ((padded_last *)y)[t] = last[N - 1 - t];
}
__global__ void own_element(int *x, int *y)
{
    for (int k = 0; k < 4; k++)
        x[threadIdx.x] = x[threadIdx.x] * 3 + k;
}
__global__ void all_write_one_value(int *x, int *y)
{
    if (x[threadIdx.x + 1] >= 0)
        y[0] = 1;
}
__global__ void bytes_side_by_side(int *x, int *y)
{
    ((unsigned char *)x)[threadIdx.x] += 1;
}
__global__ void halves_side_by_side(int *x, int *y)
{
    ((unsigned short *)x)[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = ((unsigned char *)x)[2 * threadIdx.x];
}
struct particle {
    float x, y, z;
    char tag;
};
__global__ void members(int *x, int *y)
{
    particle *p = (particle *)x;
    if (threadIdx.x < 32)
        p[threadIdx.x].x = 1;
    else if (threadIdx.x < 64)
        p[threadIdx.x - 32].tag = 2;
}
__global__ void vectors(int *x, int *y)
{
    float4 v = ((float4 *)x)[threadIdx.x];
    v.y += 1;
    ((float4 *)x)[threadIdx.x] = v;
}
__global__ void histogram(int *x, int *y)
{
    atomicAdd(&y[x[threadIdx.x] & 7], 1);
}
__global__ void maximum_by_swaps(int *x, int *y)
{
    int old = *y, was;
    do {
        was = old;
        old = atomicCAS(y, was, max(was, x[threadIdx.x] + (int)threadIdx.x));
    } while (was != old);
}
__global__ void own_slots(int *x, int *y)
{
    int at = atomicAdd(&y[1000], 1);
    x[at & 1023] = threadIdx.x;
}
__global__ void broadcast(int *x, int *y)
{
    if (threadIdx.x == 0)
        x[0] = 17;
    __syncthreads();
    y[threadIdx.x] = x[0];
}
__global__ void some_warps_wait(int *x, int *y)
{
    int t = threadIdx.x;
    if (t < 64) {
        x[t] = t;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        y[t] = x[63 - t];
    }
}
__global__ void one_warp_makes_another_takes(int *x, int *y)
{
    int t = threadIdx.x;
    if (t < 32) {
        x[t] = t;
        asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else if (t < 64) {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        y[t] = x[63 - t];
    }
}
__global__ void group_of_sixteen(int *x, int *y)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    x[threadIdx.x] = threadIdx.x;
    tile.sync();
    y[threadIdx.x] = x[threadIdx.x ^ 15];
}
__noinline__ __device__ void put(int *x, int v)
{
    x[threadIdx.x] = v;
    __syncwarp();
}
__global__ void in_a_function(int *x, int *y)
{
    put(x, 5 + threadIdx.x);
    y[threadIdx.x] = x[threadIdx.x ^ 1];
}
__global__ void shared_then_global(int *x, int *y)
{
    __shared__ int s[N];
    s[threadIdx.x] = x[N - 1 - threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
}
__global__ void lock_of_a_block(int *x, int *y)
{
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1))
            ;
        __threadfence();
        y[0] += 1;
        __threadfence();
        atomicExch(&lock, 0);
    }
}

__global__ void atomics_of_its_block(int *x, int *y)
{
    atomicAdd_block(&x[blockIdx.x], 1);
    __syncthreads();
    y[threadIdx.x] = x[blockIdx.x];
}
__global__ void rotate_in_registers(int *x, int *y)
{
    int v = x[threadIdx.x];
    v = __shfl_sync(0xffffffff, v, (threadIdx.x + 1) % 32);
    x[threadIdx.x] = v;
}
__global__ void each_its_column(int *x, int *y)
{
    for (int k = 0; k < 8; k++)
        x[k * N + threadIdx.x] = x[(k + 1) * N + threadIdx.x] + 1;
}
__global__ void counted_barriers(int *x, int *y)
{
    int n = 0;
    for (int k = 0; k < 3; k++) {
        x[threadIdx.x] = k;
        n += __syncthreads_count(threadIdx.x & 1);
        y[threadIdx.x] = x[N - 1 - threadIdx.x] + n;
        __syncthreads();
    }
}
__global__ void warps_take_turns(int *x, int *y)
{
    for (unsigned w = 0; w < N / 32; w++) {
        if (threadIdx.x / 32 == w && threadIdx.x % 32 == 0)
            y[0] += x[w] + 1;
        __syncthreads();
    }
}

// ------------------------------------------------------------------ between blocks

__global__ void own_part(int *x, int *y)
{
    x[blockIdx.x * N + threadIdx.x] += 1;
}
__global__ void all_read(int *x, int *y)
{
    y[blockIdx.x * N + threadIdx.x] = x[threadIdx.x] + x[7];
}
__global__ void strided(int *x, int *y)
{
    for (int i = blockIdx.x * N + threadIdx.x; i < 8 * N; i += gridDim.x * N)
        y[i] = x[i] + y[i];
}
__global__ void sum_by_atomics(int *x, int *y)
{
    atomicAdd(y, x[threadIdx.x]);
}
__global__ void maximum_tested_first(int *x, int *y)
{
    int v = blockIdx.x * N + threadIdx.x;
    if (*y < v)
        atomicMax(y, v);
}
__global__ void planes(int *x, int *y) // a stencil over two arrays
{
    int i = blockIdx.x * N + threadIdx.x;
    y[i] = x[i] + (i ? x[i - 1] : 0) + x[i + 1];
}
__global__ void flags_of_one_value(int *x, int *y)
{
    volatile int *flag = y + 70;
    if (*flag < 2) // always: how many threads see 0 would be a matter of timing
        *flag = 1;
}
__global__ void blocks_write_one_value(int *x, int *y)
{
    if (threadIdx.x == 0)
        y[0] = 1;
}
__global__ void last_block(int *x, int *y)
{
    __shared__ bool last;
    x[blockIdx.x * N + threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(&count, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last)
        y[threadIdx.x] = x[threadIdx.x] + x[N + threadIdx.x];
}
__global__ void last_block_fenced_by_one(int *x, int *y)
{
    __shared__ bool last;
    x[blockIdx.x * N + threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(&ticket, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        y[threadIdx.x] = x[threadIdx.x] + x[N + threadIdx.x];
        if (threadIdx.x == 0)
            ticket = 0;
    }
}
__global__ void last_block_by_acquire(int *x, int *y)
{
    __shared__ bool last;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> n(count);
    x[blockIdx.x * N + threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        last = n.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        y[threadIdx.x] = x[threadIdx.x] + x[N + threadIdx.x];
        if (threadIdx.x == 0)
            n.store(0, cuda::memory_order_relaxed);
    }
}
__global__ void lock_of_blocks(int *x, int *y)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1))
            ;
        __threadfence();
        *y = *y + blockIdx.x + 1;
        __threadfence();
        atomicExch(&lock, 0);
    }
}
__global__ void lock_by_acquire(int *x, int *y)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> l(lock);
    if (threadIdx.x == 0) {
        while (l.exchange(1, cuda::memory_order_acquire))
            ;
        *y = *y + blockIdx.x + 1;
        l.store(0, cuda::memory_order_release);
    }
}
__global__ void chain_of_flags(int *x, int *y) // stream scan: each block waits for the one before it
{
    volatile int *flags = y + 8;
    if (threadIdx.x == 0) {
        while (blockIdx.x && !flags[blockIdx.x - 1])
            ;
        __threadfence();
        x[blockIdx.x] = blockIdx.x ? x[blockIdx.x - 1] + 1 : 5;
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}
__global__ void flags_written_plainly(int *x, int *y)
{
    int *flags = y + 16;
    x[blockIdx.x * N + threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        flags[blockIdx.x] = 1;
        while (blockIdx.x && atomicAdd(&flags[blockIdx.x - 1], 0) == 0)
            ;
        __threadfence();
    }
    __syncthreads();
    if (blockIdx.x)
        y[32 + blockIdx.x * N + threadIdx.x] = x[(blockIdx.x - 1) * N + threadIdx.x];
}
__global__ void chain_by_acquire(int *x, int *y)
{
    if (threadIdx.x == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> own(y[24 + blockIdx.x]);
        if (blockIdx.x) {
            cuda::atomic_ref<int, cuda::thread_scope_device> before(y[23 + blockIdx.x]);
            while (!before.load(cuda::memory_order_acquire))
                ;
        }
        x[0] = blockIdx.x ? x[0] + 1 : 3; // all blocks, one after another
        own.store(1, cuda::memory_order_release);
    }
}
__global__ void look_back(int *x, int *y) // status and value in one word
{
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int b = (int)blockIdx.x - 1; b >= 0; b--) {
            int word;
            while (!(word = ((volatile int *)y)[40 + b]))
                ;
            sum += word >> 1;
        }
        ((volatile int *)y)[40 + blockIdx.x] = (int)(blockIdx.x + 1) << 1 | 1;
        x[blockIdx.x] = sum;
    }
}
// Each block reads its part, tells so, and writes into the part before it.
__global__ void in_place_behind_flags(int *x, int *y)
{
    int v = x[blockIdx.x * N + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        ((volatile int *)y)[56 + blockIdx.x] = 1;
        while (blockIdx.x && !((volatile int *)y)[55 + blockIdx.x])
            ;
    }
    __syncthreads();
    if (blockIdx.x)
        x[(blockIdx.x - 1) * N + threadIdx.x] = v + 1;
}
__global__ void work_queue(int *x, int *y)
{
    __shared__ int job;
    for (;;) {
        if (threadIdx.x == 0)
            job = atomicAdd(&y[50], 1);
        __syncthreads();
        int mine = job;
        __syncthreads();
        if (mine >= 8)
            break;
        x[mine * N + threadIdx.x] = mine;
    }
}
__global__ void grid_barrier(int *x, int *y)
{
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * N + threadIdx.x, n = gridDim.x * N;
    for (int k = 0; k < 3; k++) {
        x[i] = i + k;
        grid.sync();
        y[i] = x[n - 1 - i];
        grid.sync();
    }
}
__global__ void own_grid_barrier(int *x, int *y)
{
    int i = blockIdx.x * N + threadIdx.x, n = gridDim.x * N;
    x[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&y[1500], 1);
        while (*(volatile int *)&y[1500] < (int)gridDim.x)
            ;
        __threadfence();
    }
    __syncthreads();
    y[N + i] = x[n - 1 - i];
}

// ------------------------------------------------------------------ asynchronous copies

__global__ void copy_and_wait(int *x, int *y)
{
    __shared__ int s[N];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    int own = s[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[N - 1 - threadIdx.x] + own;
}
__global__ void stages_of_copies(int *x, int *y)
{
    __shared__ int s[2][N];
    int t = threadIdx.x, sum = 0;
    __pipeline_memcpy_async(&s[0][t], &x[t], 4);
    __pipeline_commit();
    for (int k = 0; k < 4; k++) {
        if (k < 3)
            __pipeline_memcpy_async(&s[(k + 1) & 1][t], &x[(k + 1) * N + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += s[k & 1][N - 1 - t];
        __syncthreads();
    }
    y[t] = sum;
}
__global__ void wait_for_all(int *x, int *y)
{
    __shared__ int s[N];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4);
    asm volatile("cp.async.wait_all;" ::: "memory");
    y[threadIdx.x] = s[threadIdx.x];
}
__global__ void divergent_copies(int *x, int *y)
{
    __shared__ int s[N];
    if (threadIdx.x % 2) {
        __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
    } else
        s[threadIdx.x] = 3;
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x ^ 1];
}

// ------------------------------------------------------------------ what was written

__global__ void part_of_a_vector(int *x, int *some)
{
    particle p = ((particle *)some)[threadIdx.x]; // its padding was never written
    x[threadIdx.x] = (int)p.x + p.tag;
}
__global__ void make_particles(particle *p)
{
    p[threadIdx.x].x = 1;
    p[threadIdx.x].y = 2;
    p[threadIdx.x].z = 3;
    p[threadIdx.x].tag = 4;
}
__global__ void reads(int *x, const int *y)
{
    x[threadIdx.x] = y[threadIdx.x];
}
__global__ void clears(int *fresh)
{
    atomicExch(&fresh[threadIdx.x], 0);
}
__global__ void heap(int *x, int *y)
{
    int *p = (int *)malloc(4 * sizeof *p);
    for (int k = 0; k < 4; k++)
        p[k] = k;
    x[threadIdx.x] = p[threadIdx.x % 4];
    free(p);
}
__global__ void early_return_of_warps(int *x, int *y)
{
    if (threadIdx.x >= 64)
        return;
    x[threadIdx.x] = 1;
    __syncwarp();
}
__global__ void indexed(int *x, int *y)
{
    int v[8];
    for (int k = 0; k < 8; k++)
        v[(k * 3) & 7] = k;
    x[threadIdx.x] = v[threadIdx.x & 7];
}

__device__ int symbol[N];
__global__ void reads_symbol(int *x, int *y)
{
    x[threadIdx.x] = symbol[threadIdx.x];
}

int main()
{
    int *x, *y, *fresh, *copy, *managed, host[N] = {0};
    const size_t size = 16 * N * sizeof *x;
    particle *p;
    size_t pitch;
    cudaMalloc(&x, size);
    cudaMalloc(&y, size);
    cudaMalloc(&p, N * sizeof *p);
    cudaMalloc(&copy, N * sizeof *copy);
    cudaMallocPitch(&fresh, &pitch, N * sizeof *fresh, 2);
    cudaMallocManaged(&managed, N * sizeof *managed);
    cudaMemset(x, 0, size);
    void (*blocks_of_one[])(int *, int *) = {
        shift_behind_a_barrier, scan_of_two_buffers, tree, structures_with_padding, own_element, all_write_one_value,
        bytes_side_by_side, halves_side_by_side, members, vectors, histogram, maximum_by_swaps, own_slots, broadcast,
        some_warps_wait, one_warp_makes_another_takes, group_of_sixteen, in_a_function, shared_then_global,
        lock_of_a_block, atomics_of_its_block, rotate_in_registers, each_its_column,
        counted_barriers, warps_take_turns, copy_and_wait, stages_of_copies, wait_for_all, divergent_copies, heap,
        early_return_of_warps, indexed, reads_symbol};
    for (auto *kernel : blocks_of_one) {
        cudaMemset(y, 0, size);
        kernel<<<1, N>>>(x, y);
    }
    void (*of_blocks[])(int *, int *) = {own_part, all_read, strided, sum_by_atomics, maximum_tested_first,
                                         planes, flags_of_one_value,
                                         blocks_write_one_value, last_block, last_block_fenced_by_one,
                                         last_block_by_acquire, lock_of_blocks, lock_by_acquire, chain_of_flags,
                                         flags_written_plainly, chain_by_acquire, look_back, in_place_behind_flags,
                                         work_queue};
    for (auto *kernel : of_blocks) {
        cudaMemset(y, 0, size);
        kernel<<<B, N>>>(x, y);
    }
    cudaMemset(y, 0, size);
    void *arguments[] = {&x, &y};
    cudaLaunchCooperativeKernel((void *)grid_barrier, dim3(B), dim3(N), arguments, 0, 0);
    cudaLaunchCooperativeKernel((void *)own_grid_barrier, dim3(B), dim3(N), arguments, 0, 0);

    make_particles<<<1, N>>>(p);
    part_of_a_vector<<<1, N>>>(x, (int *)p);
    clears<<<1, N>>>(fresh);
    reads<<<1, N>>>(x, fresh);
    cudaMemcpy2D(fresh, pitch, host, sizeof host, sizeof host, 1, cudaMemcpyHostToDevice);
    reads<<<1, N>>>(x, fresh);
    cudaMemcpy(copy, fresh, sizeof host, cudaMemcpyDeviceToDevice);
    reads<<<1, N>>>(x, copy);
    cudaMemcpyToSymbol(symbol, host, sizeof host);
    cudaMemcpyFromSymbol(copy, symbol, sizeof host, 0, cudaMemcpyDeviceToDevice);
    reads<<<1, N>>>(x, copy);
    reads<<<1, N>>>(x, managed);
    cudaFree(x);
    cudaFree(y);
    cudaFree(p);
    cudaFree(copy);
    cudaFree(fresh);
    cudaFree(managed);
    printf("%d\n", (int)cudaDeviceSynchronize());
    return 0;
}
