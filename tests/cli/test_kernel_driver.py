"""smempipe kernel on programs that load their kernels themselves: by the driver's calls, and of NVRTC."""
import os
import pathlib
import shutil
import subprocess
import unittest

from harness import ROOT, SANITIZED, CliCase

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
TOOLKIT = pathlib.Path(os.path.realpath(NVCC)).parent.parent if NVCC else pathlib.Path("/nowhere")
RUNTIME = ROOT / "tests" / "lab" / "runtime"
DRIVER = RUNTIME / "driver.cpp"
NVRTC = (TOOLKIT / "include/nvrtc.h").exists() and any(TOOLKIT.glob("lib*/libnvrtc.so*"))


@unittest.skipUnless(NVRTC and not SANITIZED, "no NVRTC, or a sanitizer")
class DriverTest(CliCase):
    def nvcc(self, *words):
        subprocess.run([NVCC, *words], check=True, cwd=self.folder, stderr=subprocess.DEVNULL)

    def test_calls_give_what_a_driver_gives(self):
        done = self.smp("kernel", DRIVER)
        self.assertIn("driver: PASS\n", done.stdout + done.stderr)
        self.assertIn("64x1x1, 256 bytes of shared memory, 2 launches\n", done.stdout)
        self.assertRegex(done.stdout, r"copy +driver\.cpp:\d+: cuMemcpyHtoD of 8 bytes")
        self.assertEqual(done.stderr.count("a module is not loaded"), 5)

    def test_lines_are_those_of_the_text_that_nvrtc_got(self):
        done = self.smp("kernel", DRIVER, "--", "race", status=1)
        self.assertRegex(done.stdout, r"race +.*reversed\.cu:8 thread 32,0,0 and .*reversed\.cu:12")
        self.assertRegex(done.stdout, r" 8 +t\[i\] = x\[i\];")

    def test_a_cache_may_move(self):
        """What NVRTC made is found in it, and made anew where a link to its PTX leads nowhere."""
        for name in ("one", "two", "two"):
            done = self.smp("kernel", DRIVER, "--", "race", status=1,
                            env=dict(os.environ, XDG_CACHE_HOME=str(self.folder / name)))  # fmt: skip
            self.assertRegex(done.stdout, r"race +.*reversed\.cu:8 thread 32,0,0 and .*reversed\.cu:12")
            if name == "one":
                (self.folder / "one").rename(self.folder / "two")
            for ptx in (self.folder / "two").glob("**/*.cubin.ptx"):
                self.assertTrue(ptx.exists())
                ptx.unlink()
                ptx.symlink_to("/nowhere")

    def test_graphs_of_what_is_unloaded_leave_nothing(self):
        self.write("a.cpp", """#include <cstdio>
            #include <cuda.h>
            #include <cuda_runtime.h>
            #include <malloc.h>
            int main()
            {
                CUmodule m;
                CUfunction f;
                cudaGraph_t g;
                cudaGraphNode_t n;
                cudaGraphExec_t run;
                cudaFree(nullptr);
                cuModuleLoadData(&m, ".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry k() { ret; }");
                cuModuleGetFunction(&f, m, "k");
                cudaKernelNodeParams p = {(void *)f, dim3(1), dim3(1)};
                cudaGraphCreate(&g, 0);
                for (int i = 0; i < 100; i++)
                    cudaGraphAddEmptyNode(&n, g, nullptr, 0);
                cudaGraphAddKernelNode(&n, g, nullptr, 0, &p);
                cuModuleUnload(m);
                int errors = 0;
                cudaGraphInstantiate(&run, g, 0);
                const size_t before = mallinfo2().uordblks;
                for (int i = 0; i < 100; i++)
                    errors += cudaGraphInstantiate(&run, g, 0) == cudaErrorInvalidDeviceFunction && !run;
                printf("%d %d\\n", errors, mallinfo2().uordblks < before + 10000);
            }""")
        self.assertEqual(self.smp("kernel", "a.cpp").stdout, "100 1\n")

    @unittest.skipUnless(shutil.which("nvdisasm"), "no nvdisasm")
    def test_a_file_with_sass_alone(self):
        self.nvcc("-fatbin", "-lineinfo", "-gencode=arch=compute_75,code=sm_75",
                  "-gencode=arch=compute_90,code=sm_90", "-o", "k.fatbin", RUNTIME / "reversed.cu")  # fmt: skip
        done = self.smp("kernel", DRIVER, "--", "k.fatbin")
        self.assertIn("driver: PASS\n", done.stdout + done.stderr)
        self.assertIn("mistakes are not looked for: the program has no PTX of it", done.stdout)

    @unittest.skipUnless(shutil.which("nvdisasm"), "no nvdisasm")
    def test_the_host_has_the_variables_of_sass_alone(self):
        self.write("a.cu", """#include <cstdio>
            __constant__ int c[2] = {1, 2};
            __device__ int total = 5, zeros[8], *first = &total;
            __constant__ int *eighth = zeros + 7;
            __global__ void k() { atomicAdd(first, c[1]); zeros[threadIdx.x & 7] = c[0]; *eighth = 3; }
            int main()
            {
                int own[2] = {7, 10}, t, z[8];
                k<<<1, 32>>>();
                const int wrong = cudaMemcpyToSymbol(c, own, sizeof own);
                k<<<1, 32>>>();
                cudaMemcpyFromSymbol(&t, total, sizeof t);
                cudaMemcpyFromSymbol(z, zeros, sizeof z);
                printf("%d %d %d\\n", wrong, t, z[7]);
            }""")
        self.nvcc("-cudart", "shared", "-gencode=arch=compute_90,code=sm_90", "-o", "program", "a.cu")
        self.assertTrue(self.smp("kernel", "./program").stdout.startswith("0 389 3\n"))

    @unittest.skipUnless(any(TOOLKIT.glob("lib*/stubs/libcuda.so")), "no library of the driver to link")
    def test_a_program_that_is_built_already(self):
        self.nvcc("-cudart", "shared", "-o", "program", DRIVER, "-lcuda", "-lnvrtc")
        done = self.smp("kernel", "./program", "--fail-on", "races")
        self.assertIn("driver: PASS\n", done.stdout + done.stderr)

    def test_memory_is_mapped_in_two_processes(self):
        """The third launch is the child's."""
        done = self.smp("kernel", RUNTIME / "virtual.cu")
        self.assertTrue(done.stdout.startswith("virtual: PASS\n"), done.stdout)
        self.assertEqual(done.stdout.count("add  grid 2x1x1, block 256x1x1"), 2)
        self.assertEqual(done.stdout.count("shared memory, 2 launches\n"), 1)
        self.assertRegex(done.stdout, r"calls of the host\n  copy .*cudaMemset of 16 bytes at address.*\n  free .*\n$")
        done = self.smp("kernel", RUNTIME / "virtual.cu", "--", "-O3", "--", "unmapped")
        self.assertIn("of a buffer of 2097152 bytes that cuMemUnmap has unmapped", done.stdout)

    def test_what_is_missing_is_named(self):
        self.write("a.cpp", "#include <cuda.h>\n#include <cstdio>\nint main() { cuInit(0);\n"
                            "printf(\"%d\\n\", cuCtxEnablePeerAccess(nullptr, 0)); }")
        done = self.smp("kernel", "a.cpp")
        self.assertIn("801\n", done.stdout)
        self.assertIn("has no cuCtxEnablePeerAccess", done.stderr)
        self.write("b.cpp", "extern \"C\" void cuNothing(); int main() { cuNothing(); }")
        self.assertIn("error: the lab has no cuNothing\n", self.smp("kernel", "b.cpp", status=3).stderr)
        done = self.smp("kernel", "a.cpp", "--only", "k", status=2)
        self.assertIn("'a.cpp' is one of the host's", done.stderr)


if __name__ == "__main__":
    unittest.main()
