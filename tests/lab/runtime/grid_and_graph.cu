// What the runtime library does beyond plain launches: blocks that wait for each other, and graphs.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

#include "check.h"

// Each block adds up its part; after the barrier of the grid every block adds up the parts.
__global__ void total(int *sums, int *out, const int *in, int n)
{
    __shared__ int part;
    cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0)
        part = 0;
    __syncthreads();
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        atomicAdd(&part, in[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part;
    grid.sync();
    if (threadIdx.x == 0) {
        int all = 0;
        for (int b = 0; b < gridDim.x; b++)
            all += sums[b];
        out[blockIdx.x] = all;
    }
    grid.sync();
}

// Lanes of one instruction that name different masks.
__global__ void groups(unsigned *out)
{
    unsigned lane = threadIdx.x, mask = 0x11111111u << lane % 4;
    out[lane] = __reduce_max_sync(mask, lane) + 100 * (__ballot_sync(mask, lane < 16) == (mask & 0xffff));
}

__global__ void add(int *x, int value)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

static void count_call(void *data)
{
    ++*static_cast<int *>(data);
}

static int grids()
{
    cudaFuncAttributes attributes; // by which CUB chooses how to launch
    CHECK(!cudaFuncGetAttributes(&attributes, add) && attributes.ptxVersion == 90 && attributes.binaryVersion == 90);
    enum { BLOCKS = 8, N = 5000 };
    static int host[N], out[BLOCKS];
    int *in, *sums, *results, n = N, expected = 0;
    for (int i = 0; i < N; i++)
        expected += host[i] = i % 37;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&sums, sizeof out);
    cudaMalloc(&results, sizeof out);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    void *arguments[] = {&sums, &results, &in, &n};
    CHECK(!cudaLaunchCooperativeKernel((void *)total, dim3(BLOCKS), dim3(64), arguments, 0, nullptr));
    cudaMemcpy(out, results, sizeof out, cudaMemcpyDeviceToHost);
    for (int b = 0; b < BLOCKS; b++)
        CHECK(out[b] == expected);
    CHECK(cudaLaunchCooperativeKernel((void *)total, dim3(100000), dim3(64), arguments, 0, nullptr) ==
          cudaErrorCooperativeLaunchTooLarge);
    cudaGetLastError();
    return 0;
}

__global__ void count_up(int *x, int value)
{
    *x += value;
}

__global__ void count_down(int *x, cudaGraphConditionalHandle more)
{
    x[0]--;
    x[1] += 10;
    cudaGraphSetConditional(more, x[0] > 0);
}

/* A loop, a choice of two whose handle begins anew, and a graph in it. Such a graph lies in no other. itself: a graph
 * is put into itself, by which CUDA's own library ends the program. */
static int conditions(bool itself)
{
    int host[3] = {4, 0, 0}, five = 5, *x;
    cudaGraph_t graph, inner, outer;
    cudaGraphExec_t run;
    cudaGraphNode_t first, node, last;
    cudaStream_t stream;
    cudaGraphConditionalHandle more, which;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    CHECK(!cudaGraphCreate(&graph, 0) && !cudaStreamCreate(&stream));
    CHECK(!cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault));
    CHECK(!cudaGraphConditionalHandleCreate(&which, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams loop = {cudaGraphNodeTypeConditional}, choice = loop, kernel = {cudaGraphNodeTypeKernel};
    loop.conditional.handle = more;
    loop.conditional.type = cudaGraphCondTypeWhile;
    loop.conditional.size = 1;
    CHECK(!cudaGraphAddNode(&first, graph, nullptr, nullptr, 0, &loop));
    void *arguments[] = {&x, &more};
    kernel.kernel.func = (void *)count_down;
    kernel.kernel.gridDim = kernel.kernel.blockDim = dim3(1);
    kernel.kernel.kernelParams = arguments;
    CHECK(!cudaGraphAddNode(&node, loop.conditional.phGraph_out[0], nullptr, nullptr, 0, &kernel));
    choice.conditional.handle = which;
    choice.conditional.type = cudaGraphCondTypeSwitch;
    choice.conditional.size = 2;
    CHECK(!cudaGraphAddNode(&node, graph, &first, nullptr, 1, &choice));
    CHECK(!cudaStreamBeginCaptureToGraph(stream, choice.conditional.phGraph_out[1], nullptr, nullptr, 0,
                                         cudaStreamCaptureModeGlobal));
    count_up<<<1, 1, 0, stream>>>(x + 2, five);
    CHECK(!cudaStreamEndCapture(stream, nullptr));
    int *third = x + 2;
    void *up[] = {&third, &five};
    kernel.kernel.func = (void *)count_up;
    kernel.kernel.kernelParams = up;
    CHECK(!cudaGraphCreate(&inner, 0) && !cudaGraphAddNode(&first, inner, nullptr, nullptr, 0, &kernel));
    CHECK(!cudaGraphAddChildGraphNode(&last, graph, &node, 1, inner));
    cudaGraphDestroy(inner);
    CHECK(!cudaGraphCreate(&outer, 0) && cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, graph));
    if (itself)
        (void)cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, outer); /* it ends, whatever is said */
    cudaMemsetParams odd = {x, 4, 7, 16, 1, 1};
    CHECK(cudaGraphAddMemsetNode(&node, outer, nullptr, 0, &odd)); /* elements have 1, 2 or 4 bytes */
    loop.conditional.size = 0;
    CHECK(cudaGraphAddNode(&node, outer, nullptr, nullptr, 0, &loop));
    cudaGetLastError();
    CHECK(!cudaGraphInstantiate(&run, graph, 0));
    cudaGraphDestroy(outer);
    cudaGraphDestroy(graph);
    for (int i = 0; i < 2; i++)
        CHECK(!cudaGraphLaunch(run, stream));
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    CHECK(host[0] == -1 && host[1] == 50 && host[2] == 20);
    cudaGraphExecDestroy(run);
    return 0;
}

static int graphs()
{
    enum { N = 64 };
    int host[N], calls = 0, one = 1, ten = 10, *x;
    cudaStream_t stream;
    cudaGraph_t graph, copy;
    cudaGraphExec_t run;
    cudaGraphNode_t node, other;
    size_t count = 0;
    cudaMalloc(&x, sizeof host);
    cudaEvent_t event;
    CHECK(!cudaStreamCreate(&stream) && !cudaEventCreate(&event));
    CHECK(!cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) && !cudaEventRecord(event, stream));
    for (cudaStream_t legacy : {cudaStream_t(nullptr), cudaStreamLegacy})
        CHECK(cudaStreamWaitEvent(legacy, event, 0) == cudaErrorStreamCaptureImplicit);
    CHECK(cudaGetLastError() == cudaErrorStreamCaptureImplicit);
    CHECK(!cudaStreamDestroy(stream) && !cudaStreamCreate(&stream));

    CHECK(!cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaMemsetAsync(x, 0, sizeof host, stream);
    add<<<2, 32, 0, stream>>>(x, 5);
    add<<<2, 32, 0, stream>>>(x, 2);
    cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream);
    CHECK(!cudaStreamEndCapture(stream, &graph));
    host[3] = -1;
    CHECK(!cudaGraphGetNodes(graph, nullptr, &count) && count == 4);
    CHECK(!cudaGraphInstantiate(&run, graph, 0) && host[3] == -1);
    for (int i = 0; i < 2; i++)
        CHECK(!cudaGraphLaunch(run, stream));
    cudaStreamSynchronize(stream);
    CHECK(host[3] == 7 && host[63] == 7);
    cudaGraphExecDestroy(run);
    cudaGraphDestroy(graph);

    void *arguments[] = {&x, &one};
    cudaKernelNodeParams params = {};
    params.func = (void *)add;
    params.gridDim = dim3(2);
    params.blockDim = dim3(32);
    params.kernelParams = arguments;
    cudaHostNodeParams call = {count_call, &calls};
    CHECK(!cudaGraphCreate(&graph, 0));
    CHECK(!cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    CHECK(!cudaGraphAddHostNode(&other, graph, &node, 1, &call));
    CHECK(!cudaGraphClone(&copy, graph));
    CHECK(!cudaGraphInstantiate(&run, copy, 0));
    arguments[1] = &ten;
    CHECK(cudaGraphExecKernelNodeSetParams(run, node, &params) == cudaErrorInvalidValue); // of the original
    CHECK(!cudaStreamSynchronize(stream) && !cudaDeviceSynchronize() && cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(!cudaGraphNodeFindInClone(&node, node, copy) && !cudaGraphExecKernelNodeSetParams(run, node, &params));
    CHECK(!cudaGraphLaunch(run, stream));
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    CHECK(host[0] == 17 && host[40] == 17 && calls == 1);
    cudaGraphExecUpdateResultInfo result;
    CHECK(!cudaGraphExecUpdate(run, graph, &result) && result.result == cudaGraphExecUpdateSuccess);
    CHECK(!cudaGraphLaunch(run, stream));
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    CHECK(host[0] == 18 && calls == 2);
    return 0;
}

static int masks()
{
    unsigned host[32], *out;
    cudaMalloc(&out, sizeof host);
    groups<<<1, 32>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (unsigned lane = 0; lane < 32; lane++)
        CHECK(host[lane] == 28 + lane % 4 + 100);
    return 0;
}

int main(int argc, char **)
{
    const int failed = grids() || graphs() || conditions(argc > 1) || masks();
    printf("grid_and_graph: %s\n", failed ? "FAIL" : "PASS");
    return failed;
}
