"""smempipe kernel on programs with CUDA's graphs: nodes, and streams that are captured into one."""
import shutil
import unittest

from harness import SANITIZED, CliCase

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
GRAPHS = """#include <cstdio>
__global__ void set(int *x, int value) { *x = value; }
static int *x;
static cudaGraph_t make(int value, int kernels)
{
    cudaGraph_t graph, inner;
    cudaGraphNode_t node;
    void *arguments[] = {&x, &value};
    cudaKernelNodeParams p = {(void *)set, dim3(1), dim3(1), 0, arguments, nullptr};
    cudaGraphCreate(&graph, 0);
    cudaGraphCreate(&inner, 0);
    for (int i = 0; i < kernels; i++)
        cudaGraphAddKernelNode(&node, inner, nullptr, 0, &p);
    cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, inner);
    return graph;
}
int main()
{
    cudaGraphExec_t run;
    cudaGraphExecUpdateResultInfo told;
    cudaMallocManaged(&x, sizeof *x);
    cudaGraphInstantiate(&run, make(1, 1), 0);
    const int good = cudaGraphExecUpdate(run, make(2, 1), &told);
    cudaGraphLaunch(run, 0);
    printf("%d ", good ? -1 : *x);
    printf("%d ", (int)cudaGraphExecUpdate(run, make(3, 2), &told));
    cudaGraphLaunch(run, 0);
    printf("%d ", *x);
    cudaGraph_t graph;
    cudaGraphNode_t node, inner;
    cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
    int value = 4;
    void *arguments[] = {&x, &value};
    cudaKernelNodeParams k = {(void *)set, dim3(1), dim3(1), 0, arguments, nullptr};
    cudaGraphCreate(&graph, 0);
    cudaGraphConditionalHandleCreate(&p.conditional.handle, graph, 1, cudaGraphCondAssignDefault);
    p.conditional.type = cudaGraphCondTypeIf;
    p.conditional.size = 1;
    cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p);
    cudaGraphAddKernelNode(&inner, p.conditional.phGraph_out[0], nullptr, 0, &k);
    cudaGraphInstantiate(&run, graph, 0);
    value = 5;
    cudaGraphExecKernelNodeSetParams(run, inner, &k);
    cudaGraphLaunch(run, 0);
    printf("%d\\n", *x);
}
"""
# What is printed: a value that an update leaves, the error of one with another graph in it, the value that stays, and
# that of new parameters in a condition's graph.


@unittest.skipUnless(NVCC and not SANITIZED, "no nvcc, or a sanitizer")
class Graphs(CliCase):
    def test_nodes_of_graphs_in_graphs_are_updated(self):
        self.write("a.cu", GRAPHS)
        self.assertIn("2 910 2 5\n", self.smp("kernel", "a.cu", "--code", "ptx").stdout)

    def test_nodes_of_each_copy_of_a_graph_are_its_own(self):
        """A graph is twice in another: its first kernel's parameters are changed in the second one alone, also after
        the executable graph was updated, and clones find theirs."""
        self.write("a.cu", """
            #include <cstdio>
            __global__ void add(int *x, int n) { *x = *x * 10 + n; }
            int main()
            {
                int *x, n = 1;
                cudaMallocManaged(&x, sizeof *x);
                void *arguments[] = {&x, &n};
                cudaKernelNodeParams p = {(void *)add, dim3(1), dim3(1), 0, arguments, nullptr};
                cudaGraph_t inner, outer, copy, in_copy;
                cudaGraphNode_t first, one, two, own;
                cudaGraphExec_t run;
                cudaGraphExecUpdateResultInfo told;
                size_t count = 1;
                cudaGraphCreate(&inner, 0);
                cudaGraphAddKernelNode(&first, inner, nullptr, 0, &p);
                cudaGraphCreate(&outer, 0);
                cudaGraphAddChildGraphNode(&one, outer, nullptr, 0, inner);
                cudaGraphAddChildGraphNode(&two, outer, nullptr, 0, inner);
                cudaGraphInstantiate(&run, outer, 0);
                cudaGraphChildGraphNodeGetGraph(two, &in_copy);
                cudaGraphGetNodes(in_copy, &own, &count);
                auto ran = [&](int value) {
                    n = value;
                    int error = cudaGraphExecKernelNodeSetParams(run, own, &p);
                    *x = 0;
                    cudaGraphLaunch(run, 0);
                    cudaDeviceSynchronize();
                    printf("%d:%d ", error, *x);
                };
                ran(2);
                printf("%d ", (int)cudaGraphExecKernelNodeSetParams(run, first, &p));
                cudaGraphClone(&copy, outer);
                printf("%d ", (int)cudaGraphExecUpdate(run, copy, &told));
                ran(3);
                printf("%d\\n", (int)cudaGraphNodeFindInClone(&own, one, copy));
            }""")
        told = self.smp("kernel", "a.cu", "--code", "ptx").stdout
        self.assertTrue(told.startswith("0:12 1 0 0:13 0\n"), told)

    def test_memory_that_a_captured_stream_frees_is_there_for_the_graph(self):
        self.write("a.cu", "#include <cstdio>\n__global__ void set(int *x, int v) { x[threadIdx.x] = v; }\n"
                           "__global__ void add(int *y, const int *x) { y[threadIdx.x] += x[threadIdx.x]; }\n"
                           "int main() { int *x, *y, h[32]; cudaStream_t s; cudaGraph_t g; cudaGraphExec_t run;\n"
                           "cudaStreamCreate(&s); cudaMalloc(&y, 128); cudaMemset(y, 0, 128);\n"
                           "cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); cudaMallocAsync(&x, 128, s);\n"
                           "set<<<1, 32, 0, s>>>(x, 3); add<<<1, 32, 0, s>>>(y, x); cudaFreeAsync(x, s);\n"
                           "cudaStreamEndCapture(s, &g); cudaGraphInstantiate(&run, g, 0);\n"
                           "cudaGraphLaunch(run, s); cudaGraphLaunch(run, s);\n"
                           "cudaMemcpy(h, y, 128, cudaMemcpyDeviceToHost); printf(\"%d\\n\", h[5]); cudaFree(y); }\n")
        told = self.smp("kernel", "a.cu", "--fail-on", "leaks,bounds").stdout
        self.assertTrue(told.startswith("6\n"), told)

    def test_graphs_allocate_and_free_memory(self):
        """Each launch does, at one address; between the two the host frees, and nothing is there before the first."""
        self.write("a.cu", """
            #include <cstdio>
            __global__ void set(int *x, int v) { x[threadIdx.x] = v; }
            int main()
            {
                int *y, h = 0;
                cudaStream_t s;
                cudaGraph_t made, captured;
                cudaGraphExec_t a, b;
                cudaGraphNode_t first, second;
                cudaMemAllocNodeParams memory = {};
                memory.poolProps.allocType = cudaMemAllocationTypePinned;
                memory.poolProps.location.type = cudaMemLocationTypeDevice;
                memory.bytesize = 128;
                cudaStreamCreate(&s);
                cudaGraphCreate(&made, 0);
                cudaGraphAddMemAllocNode(&first, made, nullptr, 0, &memory);
                cudaMemsetParams seven = {memory.dptr, 0, 7, 4, 32, 1};
                cudaGraphAddMemsetNode(&second, made, &first, 1, &seven);
                cudaGraphInstantiate(&a, made, 0);
                cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
                cudaMallocAsync(&y, 128, s);
                set<<<1, 32, 0, s>>>(y, 3);
                cudaStreamEndCapture(s, &captured);
                cudaGraphInstantiate(&b, captured, 0);
                printf("%d ", (int)cudaMemcpy(&h, memory.dptr, 4, cudaMemcpyDeviceToHost));
                for (int i = 0; i < 2; i++) {
                    cudaGraphLaunch(a, s), cudaGraphLaunch(b, s);
                    cudaMemcpy(&h, memory.dptr, 4, cudaMemcpyDeviceToHost), printf("%d ", h);
                    cudaMemcpy(&h, y, 4, cudaMemcpyDeviceToHost), printf("%d ", h);
                    printf("%d %d ", (int)cudaFree(memory.dptr), (int)cudaFreeAsync(y, s));
                }
                printf("%d\\n", (int)cudaFree(y));
            }""")
        told = self.smp("kernel", "a.cu").stdout
        self.assertTrue(told.startswith("1 7 3 0 0 7 3 0 0 1\n"), told)
        self.assertNotIn("leak", told)

    def test_streams_that_are_not_captured_run_at_once(self):
        """Another stream works and frees at once, until it waits for an event of the one that is captured; so does the
        legacy stream, which waits for neither."""
        self.write("a.cu", "#include <cstdio>\n__global__ void set(int *x, int v) { x[threadIdx.x] = v; }\n"
                           "static int of(const int *x)\n"
                           "{ int h; cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost); return h; }\n"
                           "int main() { int *x, *y, *z; size_t n; cudaStream_t s, t; cudaEvent_t e; cudaGraph_t g;\n"
                           "cudaGraphExec_t run; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);\n"
                           "cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking); cudaEventCreate(&e);\n"
                           "cudaMalloc(&x, 128); cudaMalloc(&z, 128); cudaMemset(x, 0, 128);\n"
                           "cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed); set<<<1, 32, 0, s>>>(x, 3);\n"
                           "cudaMallocAsync(&y, 128, t); set<<<1, 32, 0, t>>>(z, 5); cudaMemsetAsync(y, 7, 128, t);\n"
                           "printf(\"%d %d %x \", of(x), of(z), of(y)); cudaFreeAsync(y, t);\n"
                           "printf(\"%d \", (int)cudaMemset(y, 0, 4)); cudaEventRecord(e, s);\n"
                           "cudaStreamWaitEvent(t, e, 0); set<<<1, 32, 0, t>>>(z, 6); cudaEventRecord(e, t);\n"
                           "cudaStreamWaitEvent(s, e, 0); cudaStreamEndCapture(s, &g);\n"
                           "set<<<1, 32, 0, s>>>(x, 4); cudaGraphGetNodes(g, nullptr, &n);\n"
                           "printf(\"%d %d %d \", (int)n, of(x), of(z)); cudaGraphInstantiate(&run, g, 0);\n"
                           "cudaGraphLaunch(run, s); printf(\"%d %d\\n\", of(x), of(z)); cudaFree(x); cudaFree(z); }\n")
        told = self.smp("kernel", "a.cu", "--code", "ptx", "--fail-on", "leaks").stdout
        self.assertTrue(told.startswith("0 5 7070707 1 2 4 5 3 6\n"), told)

    def test_copies_and_graphs_that_a_stream_captures_are_nodes(self):
        """Rows, boxes, symbols, arrays and a graph: nothing is done before the launch, then all in order."""
        self.write("a.cu", """
            #include <cstdio>
            __device__ int symbol[4];
            int main()
            {
                int *x, h[4] = {1, 2, 3, 4}, low[4] = {}, back[4] = {}, got[4] = {};
                cudaStream_t s;
                cudaGraph_t inner, outer;
                cudaGraphExec_t run, all;
                cudaArray_t array;
                cudaChannelFormatDesc word = cudaCreateChannelDesc<int>();
                cudaMalloc(&x, 64);
                cudaMemset(x, 0, 64);
                cudaMallocArray(&array, &word, 4, 1);
                cudaStreamCreate(&s);
                cudaMemcpy3DParms box = {};
                box.srcPtr = make_cudaPitchedPtr(h, 4, 4, 1), box.dstPtr = make_cudaPitchedPtr(x + 4, 4, 4, 1);
                box.extent = make_cudaExtent(4, 1, 4), box.kind = cudaMemcpyHostToDevice;
                cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
                cudaMemcpy2DAsync(x, 8, h, 4, 4, 2, cudaMemcpyHostToDevice, s);  // 1 0 2 0
                cudaMemcpy3DAsync(&box, s);                                      // 1 2 3 4
                cudaMemset2DAsync(x + 8, 8, 1, 4, 2, s);
                cudaMemset3DAsync(make_cudaPitchedPtr(x + 12, 4, 4, 1), 2, make_cudaExtent(4, 1, 3), s);
                cudaStreamEndCapture(s, &inner);
                cudaGraphInstantiate(&run, inner, 0);
                cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
                cudaGraphLaunch(run, s);
                cudaMemcpyToSymbolAsync(symbol, x, 16, 0, cudaMemcpyDeviceToDevice, s);
                cudaMemcpyFromSymbolAsync(low, symbol, 8, 4, cudaMemcpyDeviceToHost, s);
                cudaMemcpy2DToArrayAsync(array, 0, 0, x + 4, 16, 16, 1, cudaMemcpyDeviceToDevice, s);
                cudaMemcpy2DFromArrayAsync(back, 16, array, 0, 0, 16, 1, cudaMemcpyDeviceToHost, s);
                cudaStreamEndCapture(s, &outer);
                for (int i = 0; i < 2; i++) {
                    cudaMemcpyFromSymbol(got, symbol, 16);
                    printf("%d%d%d%d %d%d %d%d:", got[0], got[1], got[2], got[3], low[0], low[1], back[0], back[3]);
                    for (int k = 0; k < 16; k += 4) {
                        cudaMemcpy(got, x + k, 16, cudaMemcpyDeviceToHost);
                        printf(" %x %x %x %x", got[0], got[1], got[2], got[3]);
                    }
                    puts("");
                    cudaGraphInstantiate(&all, outer, 0);
                    cudaGraphLaunch(all, s);
                }
            }""")
        told = self.smp("kernel", "a.cu").stdout
        self.assertTrue(told.startswith("0000 00 00: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                                        "1020 02 14: 1 0 2 0 1 2 3 4 1010101 0 1010101 0 2020202 2020202 2020202 0\n"),
                        told)

    def test_a_capture_ends_with_a_mistake_or_its_stream(self):
        """The legacy stream may not wait for it (906): then it takes no work (901), and gives no graph; the next does.
        Of a stream that is destroyed nothing is left."""
        self.write("a.cu", """
            #include <cstdio>
            #include <malloc.h>
            __global__ void set(int *x) { x[threadIdx.x] = 1; }
            int main()
            {
                int *x, status = 7, h;
                cudaStream_t s;
                cudaEvent_t e;
                cudaGraph_t g = (cudaGraph_t)&x;
                cudaMalloc(&x, 128);
                cudaMemset(x, 0, 128);
                cudaEventCreate(&e);
                cudaStreamCreate(&s);
                cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
                cudaEventRecord(e, s);
                printf("%d ", cudaStreamWaitEvent(0, e, 0));
                cudaStreamIsCapturing(s, &status);
                set<<<1, 32, 0, s>>>(x);
                printf("%d %d %d ", (int)status, cudaGetLastError(), cudaEventRecord(e, s));
                printf("%d ", cudaStreamEndCapture(s, &g));
                printf("%d ", g != nullptr);
                printf("%d ", cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
                set<<<1, 32, 0, s>>>(x);
                printf("%d ", cudaStreamEndCapture(s, &g));
                cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost);
                printf("%d %d ", g != nullptr, h);
                const size_t before = mallinfo2().uordblks;
                for (int i = 0; i < 100; i++) {
                    cudaStreamCreate(&s);
                    cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
                    for (int k = 0; k < 10; k++)
                        cudaMemsetAsync(x, 0, 128, s);
                    cudaStreamDestroy(s);
                }
                printf("%d\\n", mallinfo2().uordblks < before + 10000);
            }""".replace("&status", "(cudaStreamCaptureStatus *)&status"))
        told = self.smp("kernel", "a.cu", "--code", "ptx").stdout
        self.assertTrue(told.startswith("906 2 901 901 901 0 0 0 1 0 1\n"), told)

    def test_what_is_captured_is_not_waited_for(self):
        self.write("a.cu", """
            #include <cstdio>
            template <typename F> void capture(F wait)
            {
                cudaStream_t s;
                cudaEvent_t e;
                cudaGraph_t g = nullptr;
                cudaStreamCreate(&s), cudaEventCreate(&e);
                cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
                cudaEventRecord(e, s);
                printf("%d", wait(s, e));
                printf(" %d", cudaStreamEndCapture(s, &g));
                printf(" %d, ", g != nullptr);
            }
            int main()
            {
                cudaStream_t other;
                cudaGraph_t g;
                cudaStreamCreate(&other);
                capture([](cudaStream_t s, cudaEvent_t) { return cudaStreamSynchronize(s); });
                capture([](cudaStream_t s, cudaEvent_t) { return cudaStreamQuery(s); });
                capture([](cudaStream_t, cudaEvent_t) { return cudaDeviceSynchronize(); });
                capture([](cudaStream_t, cudaEvent_t e) { return cudaEventSynchronize(e); });
                capture([=](cudaStream_t, cudaEvent_t) { return cudaStreamSynchronize(other); });
                printf("%d %d\\n", cudaStreamEndCapture(other, &g), cudaDeviceSynchronize());
            }""")
        told = self.smp("kernel", "a.cu", "--code", "ptx").stdout
        self.assertIn("900 901 0, 900 901 0, 900 901 0, 907 901 0, 0 0 1, 401 0\n", told)

    def test_captures_refuse_what_a_graph_would_not_repeat(self):
        """The legacy stream depends on those that are captured, unless they do not block (906); memory is no stream's
        work (900), but in relaxed captures; what does not come back to the stream that began is 904, what was recorded
        elsewhere 905, another thread's end 908."""
        self.write("a.cu", """
            #include <cstdio>
            #include <thread>
            __global__ void set(int *x) { *x = 1; }
            static int *x;
            static cudaStream_t other, third;
            static cudaEvent_t e, f, before;
            template <typename F>
            void capture(F call, unsigned flags = 0, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal)
            {
                cudaStream_t s;
                cudaGraph_t g = nullptr;
                cudaStreamCreateWithFlags(&s, flags);
                cudaStreamBeginCapture(s, mode);
                set<<<1, 1, 0, s>>>(x);
                cudaEventRecord(e, s);
                cudaGetLastError();
                printf("%d", (int)call(s));
                printf(" %d", (int)cudaStreamEndCapture(s, &g));
                printf(" %d, ", g != nullptr);
            }
            int main(int count, char **)
            {
                int h = 0;
                auto copy = [&](cudaStream_t) { return cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost); };
                auto take = [](cudaStream_t) { void *p; return cudaMalloc(&p, 4); };
                auto fork = [](cudaStream_t) { return cudaStreamWaitEvent(other, e, 0); };
                auto work = [=](cudaStream_t s) { fork(s); set<<<1, 1, 0, other>>>(x); return cudaGetLastError(); };
                cudaMalloc(&x, 4), cudaStreamCreate(&other), cudaStreamCreate(&third);
                cudaEventCreate(&e), cudaEventCreate(&f), cudaEventCreate(&before);
                capture(copy), capture(copy, cudaStreamNonBlocking);
                capture([](cudaStream_t) { set<<<1, 1>>>(x); return cudaGetLastError(); });
                capture([](cudaStream_t) { return cudaMemset(x, 0, 4); });
                capture([](cudaStream_t) { return cudaStreamQuery(0); });
                capture([](cudaStream_t) { return cudaEventRecord(f, 0); });
                printf("\\n");
                capture(take), capture(take, 0, cudaStreamCaptureModeThreadLocal);
                capture(take, 0, cudaStreamCaptureModeRelaxed);
                capture([](cudaStream_t) { return cudaFree(x); });
                capture([=](cudaStream_t s) {
                    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
                    cudaThreadExchangeStreamCaptureMode(&mode);
                    const int error = take(s);
                    cudaThreadExchangeStreamCaptureMode(&mode);
                    return error;
                });
                printf("\\n");
                capture(fork), capture(work);
                capture([=](cudaStream_t s) {  // s -> other -> third -> s
                    work(s);
                    cudaEventRecord(f, other), cudaStreamWaitEvent(third, f, 0), set<<<1, 1, 0, third>>>(x);
                    cudaEventRecord(f, third);
                    return cudaStreamWaitEvent(s, f, 0);
                });
                capture([=](cudaStream_t s) {
                    work(s);
                    cudaEventRecord(f, other), set<<<1, 1, 0, other>>>(x);
                    return cudaStreamWaitEvent(s, f, 0);
                });
                cudaEventRecord(before, other);
                capture([](cudaStream_t s) { return cudaStreamWaitEvent(s, before, 0); });
                printf("%d ", (int)cudaGraphGetNodes(nullptr, nullptr, nullptr));
                capture([](cudaStream_t s) {
                    int error;
                    cudaGraph_t g;
                    std::thread([&] { error = cudaStreamEndCapture(s, &g); }).join();
                    return error;
                });
                printf("\\n");
            }""")
        told = self.smp("kernel", "a.cu", "--code", "ptx").stdout
        self.assertEqual(told.split("\n")[:3], [
            "906 901 0, 0 0 1, 906 901 0, 906 901 0, 906 901 0, 906 901 0, ",
            "900 901 0, 900 901 0, 0 0 1, 900 901 0, 0 0 1, ",
            "0 0 1, 0 904 0, 0 0 1, 0 904 0, 905 901 0, 1 908 0 1, "])


if __name__ == "__main__":
    unittest.main()
