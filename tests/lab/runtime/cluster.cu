// Blocks of a cluster: a ring of neighbours, a histogram whose bins lie in several blocks, an mbarrier in another
// block, and, by an argument, what goes wrong with another block's shared memory.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

enum { BINS = 256, N = 5000, LANES = 64 };

__device__ unsigned at(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

// Each block reads its right neighbour's numbers from the end, and writes them into its left neighbour's.
__global__ void __cluster_dims__(4, 1, 1) ring(int *out, const int *in)
{
    __shared__ int mine[LANES], given[LANES];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned t = threadIdx.x, rank = cluster.block_rank();
    mine[t] = in[blockIdx.x * LANES + t];
    cluster.sync();
    const int *right = cluster.map_shared_rank(mine, (rank + 1) % 4);
    cluster.map_shared_rank(given, (rank + 3) % 4)[t] = right[LANES - 1 - t];
    cluster.barrier_arrive();
    const int own = mine[t];
    cluster.barrier_wait();
    out[blockIdx.x * LANES + t] =
        given[t] + 1000 * own + 1000000 * (cluster.query_shared_rank(right) == (rank + 1) % 4);
}

__global__ void histogram(int *out, const int *in)
{
    extern __shared__ int bins[];
    cg::cluster_group cluster = cg::this_cluster();
    const int each = BINS / cluster.num_blocks();
    for (int i = threadIdx.x; i < each; i += blockDim.x)
        bins[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x)
        atomicAdd(cluster.map_shared_rank(bins, in[i] % BINS / each) + in[i] % BINS % each, 1);
    cluster.sync();
    for (int i = threadIdx.x; i < each; i += blockDim.x)
        atomicAdd(&out[cluster.block_rank() * each + i], bins[i]);
}

// The first block writes into the second, and arrives at its mbarrier.
__global__ void __cluster_dims__(2, 1, 1) handed_over(int *out)
{
    __shared__ int box[LANES];
    __shared__ alignas(8) unsigned long long full;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&full)), "r"(LANES) : "memory");
    cluster.sync();
    if (cluster.block_rank() == 0) {
        unsigned there, place = at(&box[threadIdx.x]);
        asm("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(there) : "r"(at(&full)));
        asm("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(place) : "r"(place));
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(place), "r"(100 + threadIdx.x) : "memory");
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
    } else {
        asm volatile("{\n.reg .pred p;\nagain:\n"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n"
                     "@p bra over;\nbra again;\nover:\n}" ::"r"(at(&full))
                     : "memory");
        out[threadIdx.x] = box[LANES - 1 - threadIdx.x];
    }
    cluster.sync();
}

__global__ void __cluster_dims__(2, 2, 1) places(unsigned *out)
{
    unsigned v[8];
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(v[0]));
    asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(v[1]));
    asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(v[2]));
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(v[3]));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(v[4]));
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(v[5]));
    asm("mov.u32 %0, %%nclusterid.y;" : "=r"(v[6]));
    asm("{.reg .pred p;\nmov.pred p, %%is_explicit_cluster;\nselp.u32 %0, 1, 0, p;}" : "=r"(v[7]));
    unsigned number = 0;
    for (int i = 0; i < 8; i++)
        number = 10 * number + v[i];
    out[blockIdx.y * gridDim.x + blockIdx.x] = number;
}

enum mistake { RACE = 'r', BOUNDS = 'b', UNWRITTEN = 'u', RANK = 'k', ENDED = 'e', HANG = 'h' };

__global__ void __cluster_dims__(2, 1, 1) wrong(int *out, int which)
{
    __shared__ int s[2 * LANES];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned t = threadIdx.x;
    s[t] = t;
    if (which == HANG && t >= 32)
        __syncthreads();
    if (which == RACE)
        __syncthreads();
    else
        cluster.sync();
    const unsigned rank = which == RANK ? 2 : cluster.block_rank() ^ 1;
    const unsigned place = t + (which == BOUNDS ? 2 * LANES - 1 : which == UNWRITTEN ? LANES : 0);
    out[blockIdx.x * LANES + t] = cluster.map_shared_rank(s, rank)[place];
    if (which != ENDED)
        cluster.sync();
}

static cudaError_t launch_histogram(int size, int *out, const int *in, cudaStream_t stream)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = size;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = 128;
    config.dynamicSmemBytes = BINS / size * sizeof(int);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int most = 0;
    const cudaError_t error = cudaOccupancyMaxActiveClusters(&most, histogram, &config);
    return error || most < 1 ? cudaErrorUnknown : cudaLaunchKernelEx(&config, histogram, out, in);
}

__global__ void sized(int *out)
{
    if (threadIdx.x == 0)
        atomicAdd(out, (int)cg::this_cluster().num_blocks());
}

// The sizes that a GPU takes, by two clusters each.
static void launch_sizes(int *out)
{
    const int sizes[] = {3, 16, 32, 0, 16, 32};
    int sum;
    cudaMemset(out, 0, sizeof sum);
    for (int i = 0; i < 6; i++) {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = sizes[i];
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = sizes[i] ? 2 * sizes[i] : 2;
        config.blockDim = 32;
        config.attrs = &attribute;
        config.numAttrs = 1;
        if (i == 4)
            cudaFuncSetAttribute(sized, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
        printf("%d: %s, ", sizes[i], cudaGetErrorName(cudaLaunchKernelEx(&config, sized, out)));
    }
    printf("last: %s, ", cudaGetErrorName(cudaGetLastError()));
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    printf("sum %d\n", sum);
}

int main(int count, char **arguments)
{
    static int host[N], back[BINS], expected[BINS];
    int *in, *out, failed = 0;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof back);
    for (int i = 0; i < N; i++)
        expected[(host[i] = i * 37) % BINS]++;
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    if (count > 1 && arguments[1][0] == 's') {
        launch_sizes(out);
        return cudaDeviceSynchronize() != cudaSuccess;
    }
    if (count > 1) {
        wrong<<<2, LANES>>>(out, arguments[1][0]);
        printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
        return 0;
    }
    for (int size = 1; size <= 8; size *= 2) {
        cudaMemset(out, 0, sizeof back);
        failed += launch_histogram(size, out, in, nullptr) != cudaSuccess;
        cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
        for (int i = 0; i < BINS; i++)
            failed += back[i] != expected[i];
    }
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaMemset(out, 0, sizeof back);
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    failed += launch_histogram(4, out, in, stream) != cudaSuccess;
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    cudaGraphLaunch(run, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
    for (int i = 0; i < BINS; i++)
        failed += back[i] != expected[i];
    ring<<<4, LANES>>>(out, in);
    cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
    for (int b = 0; b < 4; b++) // what its right neighbour read of the block after that
        for (int t = 0; t < LANES; t++)
            failed += back[b * LANES + t] != host[(b + 2) % 4 * LANES + 63 - t] + 1000 * host[b * LANES + t] + 1000000;
    handed_over<<<2, LANES>>>(out);
    cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
    for (int t = 0; t < LANES; t++)
        failed += back[t] != 100 + LANES - 1 - t;
    places<<<dim3(4, 4), 32>>>((unsigned *)out);
    cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            failed += back[4 * y + x] != 10000000 * (x % 2) + 1000000 * (y % 2) + 200000 + 10000 * (y % 2 * 2 + x % 2) +
                                             4000 + x / 2 * 100 + 21;
    ring<<<6, LANES>>>(out, in); // no multiple of the cluster
    failed += cudaGetLastError() != cudaErrorInvalidClusterSize;
    printf("cluster: %s\n", failed ? "FAIL" : "PASS");
    return failed != 0;
}
