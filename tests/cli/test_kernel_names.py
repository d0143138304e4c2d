"""--args of `smempipe kernel` by the names that a CUDA source gives a kernel's parameters."""
import os
import pathlib
import shutil
import subprocess
import unittest

from harness import FAULTS, PROGRAM, SANITIZED, CliCase

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


@unittest.skipUnless((NVCC or shutil.which("clang++")) and not SANITIZED, "no nvcc and no clang++, or a sanitizer")
class Names(CliCase):
    def test_arguments_go_by_the_names_of_the_source(self):
        self.write("a.cu", """/* __global__ void f(int c) */
template <class T> __global__ void __launch_bounds__(32) f(T *__restrict__ out, const T *in, int n = 5, float by = 2.f)
{
    if (threadIdx.x < n)
        out[threadIdx.x] = in[threadIdx.x] * by;
}
template __global__ void f<float>(float *, const float *, int, float);
""")
        launch = ("kernel", "a.cu", "--only", "f<float>", "--grid", "1", "--block", "32", "--code", "ptx", "--args")
        for words in ("out=f32[64] in=f32[32] n=32 by=1.5", "by=1.5 n=32 in=f32[32] out=f32[64]",
                      "x=f32[64] y=f32[32] 32 1.5", "out=f32[64] y=f32[32]=0.5 n=32 by=2"):
            with self.subTest(words):
                self.assertNotIn("bounds", self.smp(*launch, words).stdout)
        for words, wanted in (("in=f32[64] out=f32[32] n=32 z=1", "'in' is parameter 2 of 'f', and stands at place 1"),
                              ("in=f32[64] out=f32[32] n=32", "in any order: out, in, n, by"),
                              ("out=f32[64] out=f32[32] n=32 by=1", "names 'out' twice")):
            with self.subTest(words):
                self.assertIn(wanted, self.smp(*launch, words, status=2).stderr)

    def test_elements_of_another_type_than_the_source_s_are_refused(self):
        self.write("a.cu", """#include <cstdint>
__global__ void f(const float *__restrict__ x, unsigned char *b, const std::int64_t *n, float4 *v, long w)
{
    v[threadIdx.x].x = x[threadIdx.x] + b[threadIdx.x] + n[threadIdx.x] + w;
}
""")
        launch = ("kernel", "a.cu", "--only", "f", "--grid", "1", "--block", "32", "--code", "ptx", "--args")
        good = ["x=f32[32]", "b=i8[32]", "n=u64[32]", "v=u8[512]", "w=1"]
        self.smp(*launch, " ".join(good))
        for i, bad, elements in ((0, "x=f64[32]", "'x' are f32"), (0, "x=i32[32]", "'x' are f32"),
                                 (1, "b=f32[32]", "'b' are u8"), (2, "n=i32[32]", "'n' are i64")):
            words = [*good[:i], bad, *good[i + 1:]]
            for order in (words, words[::-1]):
                with self.subTest(order):
                    self.assertIn(f"the elements of {elements}", self.smp(*launch, " ".join(order), status=2).stderr)
        told = self.smp(*launch, " ".join(["x=f64[32]", *good[1:]]), status=2).stderr
        self.assertIn("write x=f32[...]; a NumPy array: .astype(np.float32)", told)

    def test_arrays_of_a_comparison_go_by_their_names(self):
        self.write("a.cu", """
__global__ void a(float *out, const float *in) { out[threadIdx.x] = in[threadIdx.x] * 2; }
__global__ void b(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x] + in[threadIdx.x]; }
__global__ void c(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x] + 1; }
""")
        launch = ("kernel", "a.cu", "--compare", "--grid", "1", "--block", "32", "--code", "ptx", "--args",
                  "in=f32[32]=3 out=f32[32]=0", "--only")  # fmt: skip
        self.assertIn("b: the same bytes as the first", self.smp(*launch, "a,b").stdout)
        self.assertIn("c: out[0] is 4, not 6", self.smp(*launch, "a,c", status=7).stdout)

    def test_lines_of_a_source_whose_name_is_not_ascii_are_shown(self):
        (self.folder / "x \u20ac" / "303").mkdir(parents=True)
        name = "x \u20ac/303/f\u00e9.cu"
        self.write(name, "__global__ void f(float *out) { out[threadIdx.x] = 1; }\n")
        launch = ("kernel", name, "--only", "f", "--grid", "1", "--block", "32", "--args", "f32[32]", "--code")
        for code in ("ptx", "sass") if NVCC and shutil.which("nvdisasm") else ("ptx",):
            self.assertRegex(self.smp(*launch, code).stdout, r"1  __global__ void f.* global store", code)

    def test_a_template_is_compiled_for_the_arguments_that_only_names(self):
        self.write("a.cu", """
namespace n { template <typename T, int N = 4, bool B = false> __global__ void f(T *out) { out[N] = B; } }
using namespace n;
""")
        launch = ("kernel", "a.cu", "--grid", "1", "--block", "1", "--args", "f32[8]", "--code", "ptx", "--only")
        for name in ("f<float>", "n::f<float, 7>", "f<unsigned char, 6,true>"):
            with self.subTest(name):
                self.assertRegex(self.smp(*launch, name).stdout, r"2  namespace n .* global store")
        self.assertIn("--only(1): error", self.smp(*launch, "f<int, int>", status=3).stderr)
        launch = tuple("sass" if word == "ptx" and NVCC and shutil.which("nvdisasm") else word for word in launch)
        self.assertRegex(self.smp(*launch, "f", status=2).stderr, r"a.cu: error: .*\n.*--only 'f<float, 32>'")
        self.assertNotIn("warning", self.smp(*launch, "f<short>").stderr)

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_only_needs_no_headers_of_the_host_that_are_missing(self):
        self.write("a.cu", r"""#include <torch/no_such_header.h> // of an extension for Python
#include "ATen/no_such_header.h"
using namespace at;
using torch::Tensor;
#define INLINE_OF_OURS __device__ __forceinline__
#define TORCH_BINDING(name) void name(torch::Tensor x, at::Tensor y) { }
const char *brace = "}" R"(})";
constexpr __host__ __device__ int rows(int n) { return n / 2; }
struct shape { int n; __host__ __device__ int half() const { return rows(n); } };
struct of_torch { torch::Tensor x; };
typedef void (*function)(int);
INLINE_OF_OURS float twice(float x) { return 2 * x; }
TORCH_BINDING(first)
TORCH_BINDING(second)
template <typename T> __global__ void scale(T *x, int n)
{
    const shape s{n}; if (threadIdx.x < s.half()) // }
        x[threadIdx.x] = twice(x[threadIdx.x]);
}
const char *name_of(const torch::Tensor &x);
template <typename T> void launch(torch::Tensor x)
{
#ifdef NO_SUCH_MACRO
    first(x, x);
#endif
    scale<T><<<1, 32>>>((T *)x.data_ptr(), shape{64});
}
namespace { torch::Tensor run(torch::Tensor x) { launch<float>(x); return x; } }
extern "C" { __global__ void plain(int *x) { *x = 1; } }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run, "}"); }
""")
        launch = ("kernel", "a.cu", "--grid", "1", "--block", "32", "--code", "ptx", "--only")
        got = self.smp(*launch, "scale<float>", "--args", "f32[32] 64")
        self.assertIn("torch/no_such_header.h is not on this machine", got.stderr)
        self.assertRegex(got.stdout, r"18  x\[threadIdx.* global store")
        self.assertRegex(self.smp(*launch, "plain", "--args", "i32[1]").stdout, r"29  extern .* global store")
        self.write("b.cu", '#include "mine/no_such_header.h"\n__global__ void f() {}\n')
        self.assertIn("no_such_header.h: No such file", self.smp("kernel", "b.cu", *launch[2:], "f", status=3).stderr)

    @unittest.skipUnless(NVCC and not SANITIZED, "no nvcc, or a sanitizer that must be loaded first")
    def test_a_compiler_leaves_no_link_that_is_followed(self):
        self.write("victim", "precious")
        self.write("nvcc", f"""#!/bin/sh
case "$*" in *--version*) exec {NVCC} --version;; esac
rm -f smempipe-k.cu; ln -s "{self.folder}/victim" smempipe-k.cu
echo 'k.cu:1:10: fatal error: torch/a.h: No such file or directory' >&2
exit 1
""").chmod(0o755)
        self.write("a.cu", "#include <torch/a.h>\n__global__ void f() {}\n")
        path = f"{self.folder}:{os.environ['PATH']}"
        told = self.smp("kernel", "a.cu", "--only", "f", "--grid", "1", "--block", "1", "--code", "ptx", status=(3, 5),
                        env={**os.environ, "LD_PRELOAD": FAULTS, "SMP_FAULT": "no-confinement", "PATH": path}).stderr
        self.assertIn("torch/a.h is not on this machine", told)
        self.assertEqual((self.folder / "victim").read_text(), "precious")

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_calls_that_CUDA_13_took_away_are_those_that_it_has(self):
        self.write("a.cu", """#include <cstdio>
__global__ void f(int *out) { *out = 5; }
int main()
{
    int *p;
    cudaMallocManaged(&p, sizeof *p);
    cudaMemAdvise(p, sizeof *p, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);
    cudaMemPrefetchAsync(p, sizeof *p, 0);
    f<<<1, 1>>>(p);
    puts(cudaThreadSynchronize() == cudaSuccess && *p == 5 ? "right" : "wrong");
    cudaThreadExit();
}
""")
        self.assertIn("right", self.smp("kernel", "a.cu", "--code", "ptx").stdout)

    def test_a_program_is_compiled_for_the_runtime_of_the_smempipe_that_runs_it(self):
        self.write("a.cu", "#include <cstdio>\n__global__ void f() {}\nint main() { f<<<1, 1>>>(); puts(\"ran\"); }\n")
        build = pathlib.Path(PROGRAM).parent
        for place in (self.folder / "one", self.folder / "two"):
            place.mkdir()
            for name in ("smempipe", "libsmp_cudart.so"):
                shutil.copy(build / name, place)
            got = subprocess.run([place / "smempipe", "kernel", "a.cu"], cwd=self.folder, capture_output=True,
                                 text=True, check=False)
            self.assertEqual((got.returncode, "ran" in got.stdout), (0, True), got.stderr)
            shutil.rmtree(place)  # what is kept in the cache must not need it


if __name__ == "__main__":
    unittest.main()
