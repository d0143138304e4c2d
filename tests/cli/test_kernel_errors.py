"""smempipe kernel: the errors that calls of the host give, and how findings tell them."""
import os
import shutil
import unittest

from harness import SANITIZED, CliCase

NVCC = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")


@unittest.skipUnless(NVCC and not SANITIZED, "no nvcc, or a sanitizer")
class Errors(CliCase):
    def program(self, before, main):
        """What a program prints and is told, with the bodies of its functions."""
        self.write("a.cu", "#include <cstdio>\n#include <cuda.h>\n#include <cuda_runtime.h>\n"
                   f"{before}\nint main()\n{{\n{main}\n}}\n")  # fmt: skip
        return self.smp("kernel", "a.cu", "--code", "ptx").stdout

    def test_copies_beyond_variables_are_told_as_such(self):
        told = self.program("__device__ int g[2];", """
            int *p, v[4] = {};
            cudaGetSymbolAddress((void **)&p, g);
            printf("%d ", cuMemcpyHtoD((CUdeviceptr)p, v, 8));
            printf("%d\\n", cudaMemcpy(p + 1, v, 8, cudaMemcpyHostToDevice));""")
        self.assertTrue(told.startswith("0 1\n"), told)
        self.assertIn("cudaMemcpy of 8 bytes at byte 4 of a symbol of 8 bytes: 4 beyond its end", told)

    def test_frees_are_told_by_their_own_names(self):
        told = self.program("", """
            int *p, h;
            cudaMalloc(&p, 4), cudaFree(p);
            cuMemFree((CUdeviceptr)p), cudaFreeAsync(p, 0), cuMemFreeAsync((CUdeviceptr)&h, 0);""")
        for name in ("cuMemFree of a buffer", "cudaFreeAsync of a buffer",
                     "cuMemFreeAsync of an address that no cudaMalloc gave"):  # fmt: skip
            self.assertIn(name, told)

    def test_the_host_may_not_use_the_heap_of_kernels(self):
        told = self.program("__device__ int *keep;\n__global__ void k() { keep = (int *)malloc(64); keep[0] = 5; }", """
            int *p, h = 0;
            k<<<1, 1>>>();
            cudaMemcpyFromSymbol(&p, keep, sizeof p);
            printf("%d ", cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
            printf("%d ", cudaMemset(p, 0, 4));
            printf("%d %d\\n", cudaFree(p), h);""")
        self.assertTrue(told.startswith("1 1 1 0\n"), told)
        for call in ("cudaMemcpy", "cudaMemset"):
            self.assertIn(call + " of 4 bytes of a kernel's malloc, which kernels alone may use", told)
        self.assertIn("cudaFree of an address that no cudaMalloc gave", told)

    def test_graphs_of_memory_are_launched_once_before_it_is_freed(self):
        told = self.program("static int n;\nstatic void is(int error) { printf(n++ ? \" %d\" : \"%d\", error); }", """
            int *p, h;
            cudaStream_t s;
            cudaGraph_t g, clone, both;
            cudaGraphExec_t a, b;
            cudaGraphNode_t one, two;
            cudaMemAllocNodeParams memory = {};
            memory.bytesize = 128;
            cudaStreamCreate(&s);
            cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
            cudaMallocAsync((void **)&p, 64, s);
            cudaStreamEndCapture(s, &g);
            is(cudaGraphInstantiate(&a, g, 0));
            is(cudaGraphInstantiate(&b, g, 0)), is(cudaGraphClone(&clone, g));              // 1 1
            is(cudaGraphLaunch(a, s)), is(cudaGraphLaunch(a, s)), is(cudaFreeAsync(p, s));  // 0 1 0
            is(cudaGraphLaunch(a, s)), is(cudaFree(p)), is(cudaGraphExecDestroy(a));
            is(cudaGraphInstantiate(&b, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
            is(cudaGraphLaunch(b, s)), is(cudaGraphLaunch(b, s));
            cudaGraphCreate(&both, 0);
            is(cudaGraphAddMemAllocNode(&one, both, nullptr, 0, &memory));
            is(cudaGraphAddMemFreeNode(&two, both, &one, 1, memory.dptr));
            is(cudaGraphAddMemFreeNode(&two, both, &one, 1, memory.dptr));                  // 1
            is(cudaGraphAddMemFreeNode(&two, both, &one, 1, &h));                           // 1
            is(cudaGraphInstantiate(&a, both, 0)), is(cudaGraphLaunch(a, s)), is(cudaGraphLaunch(a, s));
            puts("");""")
        self.assertTrue(told.startswith("0 1 1 0 1 0 0 0 0 0 0 0 0 0 1 1 0 0 0\n"), told)

    def test_a_page_behind_a_mapping_is_illegal(self):
        told = self.program("__global__ void k(int *p) { *p = 1; }", """
            const size_t part = 2 << 20;
            unsigned long long access = 0;
            CUdeviceptr at;
            CUmemGenericAllocationHandle h;
            CUmemAllocationProp p = {};
            p.type = CU_MEM_ALLOCATION_TYPE_PINNED, p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
            CUmemAccessDesc d = {p.location, CU_MEM_ACCESS_FLAGS_PROT_READ};
            cudaFree(nullptr);
            cuMemCreate(&h, part, &p, 0), cuMemAddressReserve(&at, 2 * part, 0, 0, 0), cuMemMap(at, part, 0, h, 0);
            printf("%d ", cuMemGetAccess(&access, &p.location, at)), printf("%llu ", access);
            cuMemSetAccess(at, part, &d, 1), cuMemGetAccess(&access, &p.location, at), printf("%llu ", access);
            d.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            cuMemSetAccess(at, part, &d, 1), cuMemGetAccess(&access, &p.location, at), printf("%llu ", access);
            printf("%d ", cuMemGetAccess(&access, &p.location, at + part));
            k<<<1, 1>>>((int *)at);
            printf("%d ", cudaDeviceSynchronize());
            k<<<1, 1>>>((int *)(at + part));
            printf("%d\\n", cudaDeviceSynchronize());""")
        self.assertTrue(told.startswith("0 0 1 3 1 0 700\n"), told)

    def test_a_pool_that_was_destroyed_gives_nothing(self):
        told = self.program("", """
            int *p;
            cudaMemPool_t pool;
            cudaMemPoolProps of = {};
            cudaMemPoolCreate(&pool, &of);
            printf("%d ", cudaMallocFromPoolAsync(&p, 64, pool, 0));
            printf("%d ", cudaMemPoolDestroy(pool));
            printf("%d ", cudaMallocFromPoolAsync(&p, 64, pool, 0));
            printf("%d ", cudaDeviceSetMemPool(0, pool));
            printf("%d\\n", cudaMemPoolDestroy(pool));""")
        self.assertTrue(told.startswith("0 0 1 1 1\n"), told)

    def test_events_without_times_have_none(self):
        told = self.program("", """
            float t;
            cudaEvent_t e, f;
            cudaEventCreate(&e), cudaEventCreateWithFlags(&f, cudaEventDisableTiming);
            cudaEventRecord(e), cudaEventRecord(f);
            printf("%d ", cudaEventElapsedTime(&t, e, e)), printf("%d ", cudaEventElapsedTime(&t, e, f));
            printf("%d\\n", cudaEventElapsedTime(&t, f, e));""")
        self.assertTrue(told.startswith("0 400 400\n"), told)


if __name__ == "__main__":
    unittest.main()
