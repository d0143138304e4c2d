// A mistake a kernel. Its lines are marked by a comment of ! and the kind of finding; where two lines belong together
// both are marked, a pair on one line has "twice". What a GPU would stop at has a number of its own for main.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

enum { N = 128 };
__device__ unsigned count, ticket, flag, lock;
__device__ int total;

// ------------------------------------------------------------------ races of a block in global memory

__global__ void shift_in_place(int *x)
{
    int t = threadIdx.x;
    if (t + 1 < N)
        x[t] = x[t + 1] + 1; //! race twice
}
__global__ void reverse_in_place(int *x)
{
    int t = threadIdx.x, v = x[N - 1 - t]; //! race
    x[t] = v; //! race
}
__global__ void neighbour_without_barrier(int *x, int *y)
{
    int t = threadIdx.x;
    x[t] = t; //! race
    y[t] = x[(t + 40) % N]; //! race
}
__global__ void syncwarp_between_warps(int *x, int *y)
{
    int t = threadIdx.x;
    x[t] = t; //! race
    __syncwarp();
    y[t] = x[N - 1 - t]; //! race
}
__global__ void fence_is_no_barrier(int *x, int *y)
{
    int t = threadIdx.x;
    x[t] = t; //! race
    __threadfence();
    y[t] = x[N - 1 - t]; //! race
}
__global__ void sum_without_atomic(int *sum, const int *x)
{
    *sum += x[threadIdx.x] + 1; //! race twice
}
__global__ void last_one_wins(int *x)
{
    x[0] = threadIdx.x; //! race twice
}
__global__ void histogram_without_atomic(int *bins, const int *x)
{
    bins[x[threadIdx.x] & 7]++; //! race twice
}
__global__ void scan_with_one_barrier(int *x)
{
    int t = threadIdx.x;
    for (int d = 1; d < N; d *= 2) {
        int v = t >= d ? x[t - d] : 0; //! race
        x[t] += v; //! race
        __syncthreads();
    }
}
__global__ void tree_without_barrier(int *x)
{
    int t = threadIdx.x;
    for (int d = N / 2; d; d /= 2)
        if (t < d)
            x[t] += x[t + d] + 1; //! race twice
}
__global__ void loop_without_second_barrier(int *x, int *y)
{
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++) {
        x[t] = t + k; //! race
        __syncthreads();
        y[t] += x[(t + 33) % N]; //! race
    }
}
__global__ void bytes_of_a_word(unsigned char *x, unsigned *y)
{
    x[threadIdx.x] = threadIdx.x; //! race
    if (threadIdx.x < 16)
        y[threadIdx.x] = ((unsigned *)x)[threadIdx.x + 16]; //! race
}
__global__ void read_beside_atomics(int *sum, int *y)
{
    atomicAdd(sum, 1); //! race
    y[threadIdx.x] = *sum; //! race
}
__global__ void store_beside_atomics(int *sum)
{
    if (threadIdx.x == 40)
        *sum = 5; //! race
    else
        atomicAdd(sum, 2); //! race
}
__global__ void half_of_the_warps_wait(int *x, int *y)
{
    int t = threadIdx.x;
    x[t] = t; //! race
    if (t < 64)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    y[t] = x[(t + 64) % N]; //! race
}
__noinline__ __device__ void put(int *x, int t)
{
    x[t] = t; //! race
}
__noinline__ __device__ int get(const int *x, int t)
{
    return x[(t + 35) % N]; //! race
}
__global__ void in_functions(int *x, int *y)
{
    put(x, threadIdx.x);
    y[threadIdx.x] = get(x, threadIdx.x);
}
__global__ void vector_over_scalars(float *x, float *y)
{
    int t = threadIdx.x;
    x[t] = t; //! race
    if (t < 16) {
        float4 v = ((float4 *)x)[16 + t]; //! race
        y[t] = v.x + v.w;
    }
}

// ------------------------------------------------------------------ races of blocks

__global__ void sum_over_blocks(int *sum)
{
    if (threadIdx.x == 0)
        *sum += blockIdx.x + 1; //! race twice
}
__global__ void halo_of_the_next_block(int *x)
{
    int i = blockIdx.x * N + threadIdx.x, from = i > 0 ? x[i - 1] : 0; //! race
    __syncthreads();
    x[i] = from + 1; //! race
}
__global__ void reads_what_the_first_block_made(int *x, int *y)
{
    if (blockIdx.x == 0)
        x[threadIdx.x] = threadIdx.x + 7; //! race
    __syncthreads();
    y[blockIdx.x * N + threadIdx.x] = x[threadIdx.x]; //! race
}
__global__ void first_block_clears(int *x)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        x[0] = 3; //! race
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(x, 1); //! race
}
__global__ void matrix_times_vector(int *y, const int *a)
{
    int row = threadIdx.x;
    for (int k = 0; k < 4; k++)
        y[row] += a[row] + blockIdx.x + 1; //! race twice
}
__global__ void tiles_overlap(int *x)
{
    x[blockIdx.x * (N - 8) + threadIdx.x] = blockIdx.x; //! race twice
}
__global__ void transpose_in_place(int *x)
{
    int r = blockIdx.x, c = threadIdx.x % 4, v = x[c * 4 + r]; //! race
    x[r * 4 + c] = v; //! race
}
__global__ void compaction_without_atomic(int *n, int *out)
{
    if (threadIdx.x == 0) {
        int at = *n; //! race
        out[at] = blockIdx.x;
        *n = at + 1; //! race
    }
}
__global__ void last_block_without_fence(int *part, int *out)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x + 1; //! race
        last = atomicInc(&count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        atomicAdd(out, part[threadIdx.x]); //! race
}
__global__ void last_block_with_a_block_fence(int *part, int *out)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x + 2; //! race
        __threadfence_block();
        last = atomicInc(&count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        atomicAdd(out, part[threadIdx.x]); //! race
}
__global__ void fence_before_the_store(int *part, int *out)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence();
        part[blockIdx.x] = blockIdx.x + 3; //! race
        last = atomicInc(&count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        atomicAdd(out, part[threadIdx.x]); //! race
}
__global__ void flag_without_fence(volatile unsigned *f, int *x, int *y)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *x = 42; //! race
        *f = 1;
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (!*f)
            ;
        *y = *x; //! race
    }
}
__global__ void lock_let_go_without_fence(int *x)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1))
            ;
        *x = *x + 1; //! race twice
        atomicExch(&lock, 0);
    }
}
__global__ void not_all_take_the_lock(int *x)
{
    if (threadIdx.x == 0 && blockIdx.x < 3) {
        while (atomicCAS(&lock, 0, 1))
            ;
        __threadfence();
        *x += 1; //! race
        __threadfence();
        atomicExch(&lock, 0);
    } else if (threadIdx.x == 0)
        *x += 7; //! race
}
__global__ void blocks_without_grid_barrier(int *x, int *y)
{
    int i = blockIdx.x * N + threadIdx.x, n = gridDim.x * N;
    x[i] = i; //! race
    __syncthreads();
    y[i] = x[n - 1 - i]; //! race
}
__global__ void one_grid_barrier_too_few(int *x)
{
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * N + threadIdx.x, n = gridDim.x * N, v;
    x[i] = i;
    grid.sync();
    v = x[(i + N) % n]; //! race
    __syncthreads();
    x[i] = v + 1; //! race
}

__global__ void atomics_of_a_block(int *x)
{
    if (threadIdx.x == 0)
        atomicAdd_block(x, 1); //! race twice
}

// ------------------------------------------------------------------ shared memory

__global__ void shared_without_barrier(int *x)
{
    __shared__ int s[N];
    s[threadIdx.x] = threadIdx.x; //! race
    x[threadIdx.x] = s[N - 1 - threadIdx.x]; //! race
}
__global__ void shared_without_second_barrier(int *x)
{
    __shared__ int s[N];
    for (int k = 0; k < 2; k++) {
        s[threadIdx.x] = threadIdx.x + k; //! race
        __syncthreads();
        x[threadIdx.x] += s[N - 1 - threadIdx.x]; //! race
    }
}
__global__ void shared_histogram(int *x)
{
    __shared__ int s[8];
    if (threadIdx.x < 8)
        s[threadIdx.x] = 0;
    __syncthreads();
    s[threadIdx.x & 7]++; //! race twice
    __syncthreads();
    if (threadIdx.x < 8)
        x[threadIdx.x] = s[threadIdx.x];
}
__global__ void shared_unwritten(int *x)
{
    __shared__ int s[N];
    if (threadIdx.x < 100)
        s[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x]; //! uninitialised
}
__global__ void component_unwritten(int *x)
{
    __shared__ int2 s[N];
    s[threadIdx.x].x = 1;
    __syncthreads();
    int2 v = s[N - 1 - threadIdx.x]; //! uninitialised
    x[threadIdx.x] = v.x + v.y;
}
__global__ void member_unwritten(int *x)
{
    struct pair {
        char c;
        int i;
    };
    __shared__ pair s[N];
    s[threadIdx.x].c = 1;
    __syncthreads();
    ((pair *)x)[threadIdx.x] = s[N - 1 - threadIdx.x]; //! uninitialised
}
__global__ void shared_beyond(int *x)
{
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x + 8] = 1; //! bounds
    x[threadIdx.x] = 1;
}

// ------------------------------------------------------------------ asynchronous copies

__global__ void copy_not_waited_for(int *x, int *y)
{
    __shared__ int s[N];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4); //! race
    __pipeline_commit();
    y[threadIdx.x] = s[threadIdx.x]; //! race
    __pipeline_wait_prior(0);
}
__global__ void copy_one_group_short(int *x, int *y)
{
    __shared__ int s[2][N];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        __pipeline_memcpy_async(&s[k][t], &x[t], 4); //! race
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    y[t] = s[1][t]; //! race
    __pipeline_wait_prior(0);
}
__global__ void copy_without_commit(int *x, int *y)
{
    __shared__ int s[N];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4); //! race
    __pipeline_wait_prior(0);
    y[threadIdx.x] = s[threadIdx.x]; //! race
}
__global__ void copy_waited_for_without_barrier(int *x, int *y)
{
    __shared__ int s[N];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4); //! race
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = s[N - 1 - threadIdx.x]; //! race
}
__global__ void barrier_instead_of_wait(int *x, int *y)
{
    __shared__ int s[N];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4); //! race
    __pipeline_commit();
    __syncthreads();
    y[threadIdx.x] = s[N - 1 - threadIdx.x]; //! race
    __pipeline_wait_prior(0);
}
__global__ void copy_into_what_is_read(int *x, int *y)
{
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    y[t] = s[(t + 32) % N]; //! race
    __pipeline_memcpy_async(&s[t], &x[t], 4); //! race
    __pipeline_commit();
    __pipeline_wait_prior(0);
}
__global__ void store_into_a_copy(int *x, int *y)
{
    __shared__ int s[N];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &x[t], 4); //! race
    __pipeline_commit();
    s[t] = 5; //! race
    __pipeline_wait_prior(0);
    y[t] = s[t];
}

// ------------------------------------------------------------------ what nobody wrote

__global__ void reads_unwritten(int *x, const int *unwritten)
{
    x[threadIdx.x] = unwritten[threadIdx.x]; //! uninitialised
}
__global__ void counts_from_anything(int *unwritten)
{
    atomicAdd(unwritten, 1); //! uninitialised
}
__global__ void copied_too_little(int *x, const int *half)
{
    x[threadIdx.x] = half[threadIdx.x]; //! uninitialised
}
__global__ void copied_from_unwritten(int *x, const int *copy)
{
    x[threadIdx.x] = copy[threadIdx.x]; //! uninitialised
}
__global__ void evens(int *x)
{
    x[2 * threadIdx.x] = 1;
}
__global__ void reads_odds(int *y, const int *x)
{
    y[threadIdx.x] = x[threadIdx.x]; //! uninitialised
}

// ------------------------------------------------------------------ places and barriers

__global__ void one_too_far(int *exact)
{
    exact[threadIdx.x + 1] = 1; //! bounds
}
__global__ void one_before(int *exact)
{
    exact[(int)threadIdx.x - 1] = 1; //! bounds
}
__global__ void array_of_a_thread(int *x, int k)
{
    int v[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++)
        v[(i * k) & 3] = i;
    x[threadIdx.x] = v[k + threadIdx.x % 2]; //! bounds
}
__global__ void barrier_in_a_branch(int *x)
{
    if (threadIdx.x < 64)
        __syncthreads(); //! barrier
    else
        x[threadIdx.x] = 1;
}
__global__ void return_before_the_barrier(int *x)
{
    if (threadIdx.x >= 100)
        return;
    x[threadIdx.x] = 1;
    __syncthreads(); //! barrier
}
__global__ void null_pointer(int *x)
{
    x[threadIdx.x] = 1; //! bounds
}
__global__ void after_free(int *x)
{
    x[threadIdx.x] = 1; //! bounds
}
__global__ void misaligned(float *x)
{
    float4 v = *(float4 *)(x + 1 + threadIdx.x); //! misaligned
    x[threadIdx.x] = v.x + v.y + v.z + v.w;
}
__global__ void atomic_at_null(int *x)
{
    atomicAdd(x + threadIdx.x, 1); //! bounds
}

static int *make(int value)
{
    int *p;
    cudaMalloc(&p, 16 * N * sizeof *p);
    cudaMemset(p, value, 16 * N * sizeof *p);
    return p;
}

int main(int argc, char **argv)
{
    int which = argc > 1 ? atoi(argv[1]) : 0, *x = make(0), *y = make(0), *exact, *unwritten, *half, *copy;
    cudaMalloc(&exact, N * sizeof *exact);
    cudaMalloc(&unwritten, N * sizeof *x);
    cudaMalloc(&half, N * sizeof *x);
    cudaMalloc(&copy, N * sizeof *x);
    if (which) {
        switch (which) {
        case 1: null_pointer<<<1, N>>>(nullptr); break;
        case 2: cudaFree(x); after_free<<<1, N>>>(x); break;
        case 3: misaligned<<<1, N>>>((float *)x); break;
        case 4: atomic_at_null<<<1, N>>>(nullptr); break;
        }
        printf("%d\n", (int)cudaDeviceSynchronize());
        return 0;
    }
    int *const ones[] = {x};
    void (*in_place[])(int *) = {shift_in_place, reverse_in_place, last_one_wins, scan_with_one_barrier,
                                 tree_without_barrier, store_beside_atomics, shared_without_barrier,
                                 shared_without_second_barrier, shared_histogram, shared_unwritten,
                                 component_unwritten, member_unwritten};
    for (auto *kernel : in_place)
        kernel<<<1, N>>>(*ones);
    void (*two[])(int *, int *) = {neighbour_without_barrier, syncwarp_between_warps,
                                   fence_is_no_barrier, loop_without_second_barrier, read_beside_atomics,
                                   half_of_the_warps_wait, in_functions, copy_not_waited_for, copy_one_group_short,
                                   copy_without_commit, copy_waited_for_without_barrier, barrier_instead_of_wait,
                                   copy_into_what_is_read, store_into_a_copy};
    for (auto *kernel : two)
        kernel<<<1, N>>>(x, y);
    sum_without_atomic<<<1, N>>>(x, y);
    histogram_without_atomic<<<1, N>>>(x, y);
    bytes_of_a_word<<<1, N>>>((unsigned char *)x, (unsigned *)y);
    vector_over_scalars<<<1, N>>>((float *)x, (float *)y);
    shared_beyond<<<1, N, N * sizeof *x>>>(x);

    void (*of_blocks[])(int *) = {sum_over_blocks, halo_of_the_next_block, first_block_clears, tiles_overlap,
                                  transpose_in_place, lock_let_go_without_fence, not_all_take_the_lock,
                                  atomics_of_a_block};
    for (auto *kernel : of_blocks)
        kernel<<<4, N>>>(x);
    void (*two_of_blocks[])(int *, int *) = {reads_what_the_first_block_made, compaction_without_atomic,
                                             last_block_without_fence, last_block_with_a_block_fence,
                                             fence_before_the_store, blocks_without_grid_barrier};
    for (auto *kernel : two_of_blocks) {
        cudaMemset(x, 0, 16 * N * sizeof *x);
        kernel<<<4, N>>>(x, y);
    }
    matrix_times_vector<<<4, N>>>(x, y);
    cudaMemset(x, 0, 16 * N * sizeof *x);
    flag_without_fence<<<2, 32>>>((unsigned *)x, x + 8, y);
    void *arguments[] = {&x};
    cudaLaunchCooperativeKernel((void *)one_grid_barrier_too_few, dim3(4), dim3(N), arguments, 0, 0);

    int host[N] = {0};
    reads_unwritten<<<1, N>>>(x, unwritten);
    counts_from_anything<<<1, 1>>>(exact);
    cudaMemcpy(half, host, N, cudaMemcpyHostToDevice); // elements, not bytes
    copied_too_little<<<1, N>>>(x, half);
    cudaMemcpy(copy, unwritten, N * sizeof *copy, cudaMemcpyDeviceToDevice);
    copied_from_unwritten<<<1, N>>>(x, copy);
    evens<<<1, N / 2>>>(unwritten);
    reads_odds<<<1, N>>>(x, unwritten);
    one_too_far<<<1, N>>>(exact);
    one_before<<<1, N>>>(exact);
    array_of_a_thread<<<1, N>>>(x, 3);
    barrier_in_a_branch<<<1, N>>>(x);
    return_before_the_barrier<<<1, N>>>(x);
    printf("%d\n", (int)cudaDeviceSynchronize());
    return 0;
}
