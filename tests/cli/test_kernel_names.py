"""--args of `smempipe kernel` by the names that a CUDA source gives a kernel's parameters."""
import pathlib
import shutil
import subprocess
import unittest

from harness import PROGRAM, SANITIZED, CliCase

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
