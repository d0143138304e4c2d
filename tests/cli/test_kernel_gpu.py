"""smempipe kernel --device cuda: a program's counts on a GPU are compared with those of executing its SASS. Without a
GPU stand-ins take the places of CUDA's runtime library and of CUPTI, which tells what the test wants."""
import json
import os
import shutil
import subprocess
import unittest

from harness import PROGRAM, SANITIZED, CliCase

FAKE = os.path.join(os.path.dirname(PROGRAM), "tests", "fake")
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
NVDISASM = shutil.which("nvdisasm") or shutil.which("/usr/local/cuda/bin/nvdisasm")
RUNTIME = "libcudart.so.13"

SOURCE = """#include <cstdio>
__global__ void twice(int *p, int *lock)
{
    __shared__ int s[64];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[63 - threadIdx.x] * 2;
    if (!threadIdx.x)
        while (atomicCAS(lock, blockIdx.x, blockIdx.x + 1) != blockIdx.x)
            ;
}
int main()
{
    int *p;
    cudaMalloc(&p, 400);
    cudaMemset(p, 0, 400);
    twice<<<2, 64>>>(p, p + 64);
    twice<<<1, 64>>>(p, p + 65);
    cudaDeviceSynchronize();
    cudaFree(p);
}
"""

CHECKED = """#include <cstdio>
__global__ void fill(int *p) { p[threadIdx.x] = 7; }
int main()
{
    int *p, at[64];
    cudaMalloc(&p, sizeof at);
    fill<<<1, 64>>>(p);
    cudaMemcpy(at, p, sizeof at, cudaMemcpyDeviceToHost);
    printf("p[3] is %d\\n%s\\n", at[3], at[3] == 7 ? "PASS" : "FAIL");
    return at[3] != 7;
}
"""

GRAPH = """__global__ void direct(int *p) { p[threadIdx.x] = 1; }
__global__ void captured(int *p) { p[threadIdx.x] = 2; }
int main()
{
    int *p;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaMalloc(&p, 400);
    cudaStreamCreate(&stream);
    direct<<<1, 32>>>(p);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    captured<<<1, 32, 0, stream>>>(p);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    cudaGraphLaunch(run, stream);
    return cudaDeviceSynchronize();
}
"""

BY_THREADS = GRAPH.replace("    cudaGraphLaunch(run, stream);\n", """    std::thread threads[4];
    for (std::thread &t : threads)
        t = std::thread([=] {
            for (int i = 0; i < 10; i++)
                cudaGraphLaunch(run, stream);
        });
    for (std::thread &t : threads)
        t.join();
""").replace("__global__", "#include <thread>\n__global__", 1)


def uses_this_runtime():
    text = subprocess.run([NVCC, "--version"], capture_output=True, text=True).stdout if NVCC else ""
    return "release 13." in text


@unittest.skipUnless(uses_this_runtime() and NVDISASM and os.path.exists(os.path.join(FAKE, RUNTIME)) and
                     not SANITIZED, "no nvcc of CUDA 13, no nvdisasm, no CUPTI's headers, or a sanitizer")  # fmt: skip
class OnAGpu(CliCase):
    def setUp(self):
        super().setUp()
        self.source = os.path.join(self.folder, "twice.cu")
        with open(self.source, "w") as file:
            file.write(SOURCE)
        libraries = os.path.join(self.folder, "libraries")
        os.mkdir(libraries)
        for name in (RUNTIME, "libcuda.so.1"):
            os.symlink(os.path.join(FAKE, RUNTIME), os.path.join(libraries, name))
        self.counts = os.path.join(self.folder, "counts")
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder), "LD_LIBRARY_PATH": libraries,
                            "SMP_CUPTI": FAKE, "FAKE_CUPTI_COUNTS": self.counts}  # fmt: skip

    def told(self):
        """What the model tells of each instruction: text, symbol, place, five counts."""
        rows = {}
        done = self.smp("kernel", self.source, "--each", "--json", env=self.environment)
        for kernel in json.loads(done.stdout)["kernels"]:
            for r in kernel["rows"]:
                at = rows.setdefault((kernel["symbol"], r["place"]),
                                     [r["instruction"], kernel["symbol"], 16 * r["place"], 0, 0, 0, 0, 0])  # fmt: skip
                for i, name in enumerate(("executed", "wavefronts", "packed_ideal", "sectors", "sectors_ideal"), 3):
                    at[i] += r.get(name, 0)
        return sorted(rows.values(), key=lambda r: r[2])

    def on_gpu(self, rows, status):
        with open(self.counts, "w") as file:
            file.writelines(" ".join(str(n) for n in r[1:]) + "\n" for r in rows)
        return self.smp("kernel", self.source, "--device", "cuda", status=status, env=self.environment).stdout

    def test_counts_are_compared_by_instruction(self):
        rows = self.told()
        text = self.on_gpu(rows, 0)
        self.assertIn(f"on the GPU: {len(rows)} instructions of 1 kernels counted as told here, 0 differ", text)
        load = next(r for r in rows if r[0].startswith("LDS"))
        load[4] += 3
        text = self.on_gpu(rows, 7)
        self.assertIn(f"{len(rows) - 1} instructions of 1 kernels counted as told here, 1 differ", text)
        self.assertIn(f"twice.cu:7, {load[0]}: {load[4] - 3} wavefronts told, {load[4]} on the GPU", text)
        load[4] -= 3
        swap = next(r for r in rows if ".CAS" in r[0])
        swap[3] += 100
        text = self.on_gpu(rows, 0)
        self.assertIn("0 differ", text)
        self.assertIn("1 in loops that wait for others", text)
        rows.remove(load)
        self.assertIn(f"{load[3]} executions told, 0 on the GPU", self.on_gpu(rows, 7))

    def test_what_keeps_a_gpu_from_counting_is_said(self):
        with open(self.counts, "w"):
            pass
        arguments = ("kernel", self.source, "--device", "cuda", "-q")
        environment = {**self.environment, "FAKE_CUPTI": "rights"}
        error = self.smp(*arguments, status=5, env=environment).stderr
        self.assertIn("on the GPU: counters cannot be read: cuptiProfilerGetCounterAvailability", error)
        self.assertIn("hint: run as root", error)
        del self.environment["LD_LIBRARY_PATH"]
        if not os.path.exists("/dev/nvidiactl"):
            self.assertIn("on the GPU: the program cannot use a GPU", self.smp(*arguments, status=5,
                                                                              env=self.environment).stderr)  # fmt: skip

    def test_a_program_that_fails_on_the_gpu_is_told_apart_from_counting_that_fails(self):
        with open(self.counts, "w"):
            pass
        with open(self.source, "w") as file:
            file.write(CHECKED)
        arguments = ("kernel", self.source, "--device", "cuda", "-q")
        error = self.smp(*arguments, status=5, env=self.environment).stderr
        self.assertIn("on the GPU the program ended with status 1", error)
        self.assertIn('it printed "p[3] is 0;FAIL"; without counters it ends with status 1 too', error)
        error = self.smp(*arguments, status=5, env={**self.environment, "FAKE_CUDA_FAILS": "1"}).stderr
        self.assertIn("a kernel failed with cudaErrorIllegalAddress (700); _Z4fillPi was launched last", error)

    def test_graphs_that_do_not_survive_counting_are_left_out(self):
        with open(self.source, "w") as file:
            file.write(GRAPH)
        rows = self.told()
        other = [r for r in rows if "captured" in r[1]]
        self.assertIn("2 kernels counted as told here, 0 differ", self.on_gpu(rows, 0))
        other[0][3] += 1  # of no use where its kernel is left out
        self.on_gpu(rows, 7)
        self.environment["FAKE_CUDA_FAILS"] = "graphs"
        text = self.on_gpu(rows, 0)
        self.assertIn(f"on the GPU: {len(rows) - len(other)} instructions of 1 kernels counted as told here, 0 differ",
                      text)  # fmt: skip
        self.assertIn("1 kernels were not compared: they are in graphs, and with these counted the program fails", text)

    def test_no_thread_begins_to_count_while_another_launches_a_graph(self):
        with open(self.source, "w") as file:
            file.write(BY_THREADS)
        rows = self.told()
        self.environment["FAKE_CUDA_FAILS"] = "graphs"
        text = self.on_gpu(rows, 0)
        self.assertIn("1 kernels were not compared: they are in graphs, and with these counted the program fails", text)

    def test_what_does_not_go_with_it_is_said(self):
        for arguments, what in ((("--only", "twice", "--grid", "1", "--block", "1"), "--only"),
                                (("--blocks", "first"), "--blocks"), (("--code", "ptx"), "--code ptx"),
                                (("--compare",), "--compare")):  # fmt: skip
            error = self.smp("kernel", self.source, "--device", "cuda", *arguments, status=2).stderr
            self.assertIn(f"--device cuda does not go with {what}", error)
        self.assertIn("--device gpu is unknown here",
                      self.smp("kernel", self.source, "--device", "gpu", status=2).stderr)  # fmt: skip


if __name__ == "__main__":
    unittest.main()
