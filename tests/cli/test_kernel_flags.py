"""smempipe kernel on programs as they are built: flags of nvcc behind --, several files, and the libraries that the lab
stands in for."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from harness import ROOT, SANITIZED, CliCase

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
RUNTIME = ROOT / "tests" / "lab" / "runtime"
BLAS = RUNTIME / "blas.cu"
LAUNCHES = RUNTIME / "launches.cu"
PLAIN = "__global__ void f(int *x) { x[threadIdx.x] = N; }\n"
MAIN = """#include <cstdio>
#include "part.h"
__global__ void first(int *x) { x[threadIdx.x] = own(threadIdx.x) * N; }
int main(int count, char **words)
{
    int *x, h[32];
    cudaMalloc(&x, sizeof h);
    first<<<1, 32>>>(x);
    second(x);
    cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %s\\n", h[3], plain(5), count > 1 ? words[1] : "alone");
    cudaFree(x);
}
"""


class Words(CliCase):
    """What is refused before anything is compiled."""

    def refused(self, *words):
        self.write("a.cu", PLAIN)
        return self.smp("kernel", "a.cu", "-q", "--", *words, status=2).stderr

    def test_flags_that_would_run_or_write_something_else_are_refused(self):
        for words in (["-ccbin", "./evil"], ["--compiler-bindir=./evil"], ["-Xcompiler", "-wrapper,./evil"],
                      ["-Xcompiler=-fplugin=./evil.so"], ["-Xcompiler", "-B."], ["-Xcompiler", "-specs=x"],
                      ["-Xcompiler", "-Wl,-rpath,."], ["-Xcompiler", "-O3;touch X"], ["-Xcompiler", "@more"],
                      ["-DN=4", "--run"], ["-DN=4", "-o", "x"], ["-DN=4", "@more"], ["--options-file", "more"],
                      ["-Xlinker", "-T"], ["-Xptxas", "-o,x"], ["-Xptxas", "--output-file=x"], ["-keep"],
                      ["-DN=4", "-include", "/etc/passwd"], ["-DN=4", "-x", "cu"], ["-DN=4", "-Xnvlink", "x"],
                      ["-Xptxas", "--input-as-string=x"], ["-DN=4", "b.cu"], ["-O3=x"]):  # fmt: skip
            with self.subTest(words):
                said = self.refused(*words)
                self.assertIn("is not a flag that the lab gives nvcc", said)
                self.assertIn("behind a second --", said)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["a.cu"])

    def test_a_library_of_GPUs_is_told(self):
        done = self.smp("kernel", "no.cu", "--", "-lcufft", "-lcublas", status=3)
        self.assertEqual(done.stderr.count("libcufft needs a GPU, and the lab has nothing in its place"), 1)
        self.assertNotIn("libcublas", done.stderr)

    def test_values_are_checked(self):
        for words in (["-DN=4", "-rdc", "maybe"], ["-DN=4", "-maxrregcount=6$(x)"], ["-DN=4", "-l", "-x"],
                      ["-DN=4", "-std=c++17;x"], ["-DN=4", "-fmad=`x`"],
                      ["-DN=4", "-D", "4"], ["-DN=4", "-l./evil"],
                      ["-arch=sm_80;touch x"], ["-arch", "sm_80x"], ["-arch=sm80"], ["-arch=sm_80,"], ["-arch=80"],
                      ["-gencode", "arch=compute_80,code=sm_80,--keep"], ["-gencode=arch=compute_80;x"]):  # fmt: skip
            with self.subTest(words):
                self.assertIn("is not valid for nvcc", self.refused(*words))
        self.assertIn("-I nothing is not a folder", self.refused("-I", "nothing"))
        self.assertIn("-D has no value", self.refused("-DN=4", "-D"))
        self.assertIn("more than 200 flags", self.smp("kernel", "a.cu", "--", *["-DN=4"] * 201, status=6).stderr)

    def test_a_first_word_that_is_no_flag_is_told(self):
        self.write("a.cu", PLAIN)
        for word in ("-include", "-x"):
            said = self.smp("kernel", "a.cu", "--only", "f", "--", word, "/etc/passwd", status=2).stderr
            self.assertIn(f"'{word}' is not a flag that the lab gives nvcc", said)
        self.write("none.cu", "// no main\n")
        told = "warning: -include goes to the program: it is not a flag that the lab gives nvcc"
        self.assertEqual(self.smp("kernel", "none.cu", "--", "-include", "x", status=2).stderr.count(told), 1)
        self.assertNotIn("warning", self.smp("kernel", "none.cu", "--", "-n", "-include", status=2).stderr)

    def test_what_is_compiled_already_takes_no_flags(self):
        said = self.smp("kernel", ROOT / "tests" / "lab" / "transpose.ptx", "--", "-DN=4", status=2).stderr
        self.assertIn("is compiled already", said)

    def test_a_kernel_alone_is_of_one_file(self):
        self.write("a.cu", PLAIN)
        self.write("b.cu", PLAIN)
        said = self.smp("kernel", "a.cu", "b.cu", "--only", "f", status=2).stderr
        self.assertIn("--only runs a kernel of one file, and 'b.cu' is another", said)


@unittest.skipUnless(NVCC and not SANITIZED, "no nvcc, or a sanitizer")
class Flags(CliCase):
    def test_files_flags_and_arguments(self):
        """Each file finds its own folder's headers; words behind a second -- are the program's."""
        other = self.folder / "other's \"part\""
        other.mkdir()
        self.write("a.cu", MAIN)
        self.write("part.h", "static __device__ int own(int i) { return i; }\nvoid second(int *);\n"
                             "extern \"C\" int plain(int);\n")  # fmt: skip
        (other / "part.h").write_text("#define MORE 1\n")
        (other / "b.cu").write_text("#include \"part.h\"\n__global__ void add(int *x, int n) { x[threadIdx.x] += n; }\n"
                                    "void second(int *x) { add<<<1, 32>>>(x, MORE); }\n")  # fmt: skip
        self.write("c.c", "int plain(int n) { return n + N; }\n")
        words = ["kernel", "c.c", "a.cu", other / "b.cu", "--", "-DN=4", "-O3", "-lm"]
        done = self.smp(*words, "--", "-DN=5", "--json")
        self.assertIn("\n13 9 -DN=5\n", "\n" + done.stdout)
        self.assertIn("smempipe: nvcc gets -DN=4 -O3 -lm\n", done.stderr)
        self.assertRegex(done.stdout, r"(?s)first  grid .*add  grid ")
        self.assertIn("a second --\n", self.smp(*words).stderr)

    def test_headers_beside_the_source_are_no_headers_of_the_toolkit(self):
        self.write("builtin_types.h", "#error of the program\n")
        self.write("a.cu", PLAIN + "int main() {}\n")
        self.smp("kernel", "a.cu", "--", "-DN=1")
        self.write("b.cu", '#include "builtin_types.h"\nint main() {}\n')
        self.assertIn("#error of the program", self.smp("kernel", "b.cu", "--", "-DN=1", status=3).stderr)

    def test_a_file_that_does_not_compile_and_a_name_that_is_not_there_are_told(self):
        self.write("a.cu", PLAIN)
        for main, told in (
            ("int main() { return miss; }", "main.cpp: error: nvcc cannot compile it"),
            ("void far(int); int main() { far(1); }", "far(int) is used, and nothing defines it\n"),
            ('extern "C" void cublasDotEx_v2(); int main() { cublasDotEx_v2(); }',
             "error: the lab has no cublasDotEx\n"),
            ('extern "C" void cutensorCreate(); int main() { cutensorCreate(); }',
             "error: the lab has no cutensorCreate\n"),
            ('extern "C" void custom_init(); int main() { custom_init(); }',
             "custom_init is used, and nothing defines it\n"),
        ):
            self.write("main.cpp", main + "\n")
            self.assertIn(told, self.smp("kernel", "a.cu", "main.cpp", "--", "-DN=1", status=3).stderr)

    def test_words_that_are_no_flags_stay_the_programs(self):
        self.write("a.cu", "#include <cstdio>\n" + PLAIN.replace("N", "1") + """
int main(int n, char **w) { while (--n) puts(*++w); int *x; cudaMalloc(&x, 128); f<<<1, 32>>>(x); }""")
        for words, got in ((["-n", "-DN=4"], "-n\n-DN=4\n"), (["--", "-DN=4"], "-DN=4\n"), (["1024"], "1024\n"),
                           (["-g", "--", "-l"], "-g\n--")):
            self.assertTrue(self.smp("kernel", "a.cu", "-q", "--", *words).stdout.startswith(got), words)

    def test_all_words_of_an_executable_are_its_own(self):
        error = self.smp("kernel", "/bin/true", "--", "-O3", status=3).stderr
        self.assertIn("it holds no CUDA kernels", error)

    def test_a_library_that_is_built_anew_is_linked_anew(self):
        self.write("a.cu", '#include <cstdio>\nextern "C" int value();\n__global__ void f() {}\n'
                           'int main() { f<<<1, 1>>>(); printf("value %d\\n", value()); }\n')
        for value in (1, 2):
            self.write("v.c", f"int value(void) {{ return {value}; }}\n")
            subprocess.run("gcc -c v.c && rm -f libv.a && ar rc libv.a v.o", shell=True, check=True, cwd=self.folder)
            self.assertIn(f"value {value}\n", self.smp("kernel", "a.cu", "--", "-L.", "-lv").stdout)

    def test_registers_and_caches_are_ptxas(self):
        self.write("a.cu", "__global__ void f(float *x) { float s[40]; for (int i = 0; i < 40; i++) s[i] = x[i];"
                           "__syncthreads(); for (int i = 0; i < 40; i++) x[i] = s[39 - i]; }\n")  # fmt: skip
        launch = ["kernel", "a.cu", "--only", "f", "--grid", "1", "--block", "32", "--args", "x=f32[40]", "--json"]

        def registers(*flags):
            return json.loads(self.smp(*launch, "-q", "--", *flags).stdout)["kernels"][0]["sm"]["registers"]

        few, many = registers("-maxrregcount", "32"), registers("-Xptxas=-v,-dlcm=cg")
        self.assertLessEqual(few, 32)
        self.assertGreater(many, 32)

    def test_linked_device_code_is_counted(self):
        self.write("a.cu", "__global__ void f(int *x) { x[threadIdx.x] = 1; }\nvoid other(int *);\n"
                           "int main() { int *x; cudaMalloc(&x, 128); f<<<1, 32>>>(x); other(x); cudaFree(x); }\n")
        self.write("b.cu", "__global__ void g(int *x) { x[0] = 1; }\nvoid other(int *x) { g<<<1, 32>>>(x); }\n")
        told = self.smp("kernel", "a.cu", "b.cu", "-q", "--json", "--", "-rdc=true").stdout
        self.assertEqual([k["kernel"] for k in json.loads(told)["kernels"]], ["f", "g"])

    def test_local_memory_can_go_as_a_whole_and_templates_of_one_name_have_short_names(self):
        self.write("a.cu", """struct P {}; struct Q {};
template <class A, class B> __global__ void f(int *x, A *, B *)
{
    int a[32] = {};
    for (int i = 0; i < 32; i++)
        a[x[i] & 31] += i;
    x[32 + threadIdx.x] = a[x[threadIdx.x] & 31];
}
int main()
{
    int *x;
    cudaMallocManaged(&x, 512);
    for (int i = 1; i < 3; i++) {
        f<<<i, 32>>>(x, (P *)nullptr, (P *)nullptr);
        f<<<i, 32>>>(x, (Q *)nullptr, (Q *)nullptr);
    }
}
""")
        text = self.smp("kernel", "a.cu").stdout
        self.assertRegex(text, r"local store +all \d+ sectors +f#[0-9a-f]{6}")
        self.assertEqual(len(set(re.findall(r"(?m)^  (f#[0-9a-f]{6}) ", text))), 2, text)
        self.assertIn("\n   line  source", self.smp("kernel", "a.cu", "--time", "--what-if").stdout)

    def test_files_that_are_not_linked_say_what_is_missing(self):
        self.write("a.cu", "__device__ int far(int);\n__global__ void f(int *x) { *x = far(*x); }\n"
                   "int main() { int *x; cudaMallocManaged(&x, 4); f<<<1, 1>>>(x); }\n")  # fmt: skip
        self.write("b.cu", "__device__ int far(int x) { return x + 1; }\n__global__ void g(int *x) { *x = 1; }\n")
        done = self.smp("kernel", "a.cu", "b.cu", status=1)
        self.assertIn("since ptxas refuses it: ", done.stdout)
        self.assertIn("nvcc links both by -rdc=true", done.stderr)

    def test_files_that_are_linked_share_variables_and_functions(self):
        self.write("a.cu", "#include <cstdio>\n__device__ int add(int), last;\nextern __device__ int step;\n"
                           "__global__ void f(int *x) { x[threadIdx.x] = add(threadIdx.x); last = step; }\n"
                           "void other(int *);\n"
                           "int main() { int *x, y[32]; cudaMalloc(&x, 128); f<<<1, 32>>>(x); other(x);\n"
                           "cudaMemcpy(y, x, 128, cudaMemcpyDeviceToHost); cudaFree(x); printf(\"%d\\n\", y[31]); }\n")
        self.write("b.cu", "extern __device__ int last;\n__device__ int step = 5;\n"
                           "__device__ __noinline__ int add(int i) { return i + step; }\n"
                           "__global__ void g(int *x) { __shared__ int y[32]; y[threadIdx.x] = last;\n"
                           "x[threadIdx.x] += y[31 - threadIdx.x]; }\nvoid other(int *x) { g<<<1, 32>>>(x); }\n")
        done = self.smp("kernel", "a.cu", "b.cu", "--json", "--", "-rdc=true")
        self.assertIn("41\n", done.stderr)
        kernels = json.loads(done.stdout)["kernels"]
        self.assertEqual([(k["kernel"], k["rows"][0]["file"][-4:]) for k in kernels], [("f", "a.cu"), ("g", "b.cu")])
        alone = [n for k in kernels for n in k["notes"] or [] if "not looked for" in n]
        self.assertEqual(alone, [])

    def test_a_file_uses_arrays_of_those_behind_it(self):
        self.write("a.cu", "#include <cstdio>\nextern __device__ int arr[], one;\nextern __constant__ float c[];\n"
                           "__global__ void f() { arr[threadIdx.x] += threadIdx.x + one + (int)c[threadIdx.x]; }\n"
                           "__global__ void print();\n"
                           "int main() { f<<<1, 64>>>(); print<<<1, 1>>>(); cudaDeviceSynchronize(); }\n")
        self.write("b.cu", "#include <cstdio>\n__device__ int arr[64] = {100, 200}, one = 1;\n"
                           "__constant__ float c[64] = {1, 2, 3};\n__global__ void print()\n"
                           "{ printf(\"%d %d %d %d\\n\", arr[0], arr[1], arr[2], arr[63]); }\n")
        for files in (("a.cu", "b.cu"), ("b.cu", "a.cu")):
            done = self.smp("kernel", *files, "--", "-rdc=true")
            self.assertIn("102 204 6 64\n", done.stdout)
            self.assertNotRegex(done.stdout + done.stderr, "not looked for|counted from PTX|no mistakes")

    def test_what_a_program_makes_of_blocks_that_are_left_out_is_said_to_be_missing(self):
        self.write("a.cu", "__global__ void f(int *x) { x[blockIdx.x] = 1; }\n"
                           "int main() { int *x; cudaMallocManaged(&x, 32); f<<<8, 1>>>(x); return !x[3]; }\n")
        told = self.smp("kernel", "a.cu", "-q", "--blocks", "first,last", status=1).stderr
        self.assertIn("--blocks first,last left blocks out: what the program computes of them is missing", told)
        self.write("a.cu", (self.folder / "a.cu").read_text().replace("!x[3]", "x[3]"))
        told = self.smp("kernel", "a.cu", "--blocks", "first,last").stderr
        self.assertIn("warning: --blocks first,last left blocks out: what", told)

    def test_many_blocks_launch_and_allocate(self):
        """The list of launches and the memory are one for all: blocks do not run in several of the host's threads."""
        self.write("a.cu", """
            #include <cstdio>
            __global__ void child(int *o) { o[threadIdx.x] = 1; }
            __global__ void k(int *o)
            {
                int s = 0, *own = (int *)malloc(64);
                for (int i = 0; i < 50; i++)
                    s = s * 3 + i;
                own[0] = s;
                o[32 + blockIdx.x] = own[0];
                if (!threadIdx.x && blockIdx.x % 4 == 0)
                    child<<<1, 32>>>(o);
                free(own);
            }
            __global__ void none(int *o) { o[1] = cudaMemcpyAsync(o, (void *)0, 4, cudaMemcpyDeviceToDevice, 0) != 0; }
            int main()
            {
                int *o, h[2] = {5, 5};
                cudaMalloc(&o, 4032 * 4);
                k<<<4000, 32>>>(o);
                printf("error %d\\n", cudaDeviceSynchronize());
                cudaMemcpy(o, h, 8, cudaMemcpyHostToDevice);
                none<<<1, 1>>>(o);
                cudaMemcpy(h, o, 8, cudaMemcpyDeviceToHost);
                printf("from nowhere: %d %d\\n", h[0], h[1]);
                cudaFree(o);
            }""")
        done = self.smp("kernel", "a.cu", "--json", "--", "-rdc=true")
        self.assertIn("error 0\nfrom nowhere: 5 1\n", done.stderr)
        kernels = json.loads(done.stdout)["kernels"]
        self.assertEqual({k["kernel"]: k["launches"] for k in kernels}, {"k": 1, "child": 1000, "none": 1})
        self.assertEqual([k["findings"] for k in kernels if k["findings"]], [])

    def test_kernels_launch_kernels(self):
        done = self.smp("kernel", LAUNCHES, "--json", "--", "-rdc=true")
        self.assertIn("launches.cu: right\n", done.stderr)
        kernels = json.loads(done.stdout)["kernels"]
        launches = {k["kernel"]: sum(n["launches"] for n in kernels if n["kernel"] == k["kernel"]) for k in kernels}
        self.assertEqual(launches, {"in_order": 1, "note": 5, "note_two": 1, "turn_all": 1, "turn": 4, "halves": 7,
                                    "copies": 1})  # fmt: skip
        self.assertEqual([k["findings"] for k in kernels if k["findings"]], [])
        notes = [n for k in kernels for n in k["notes"] or []]
        self.assertEqual([n for n in notes if "counted from PTX" in n], [])

    def test_launches_end_at_the_hardware_s_depth(self):
        told = self.smp("kernel", LAUNCHES, "--code", "ptx", "--", "-rdc=true", "--", "deep").stdout
        self.assertIn("no launch below 2048\nlaunches.cu: the deepest is 2048\n", told)

    def test_what_waits_on_the_device_has_an_end(self):
        """2048 launches for the tail, as on an H200 (error 69 behind them); of others what memory holds."""
        self.write("a.cu", """
            #include <cstdio>
            __device__ int ran;
            __global__ void child() { ran++; }
            __global__ void tails(int *out)
            {
                for (int i = 0; i < 2050; i++)
                    child<<<1, 1, 0, cudaStreamTailLaunch>>>();
                out[0] = cudaGetLastError();
            }
            __global__ void endless(int *out)
            {
                while (true)
                    cudaMemsetAsync(out, 0, 4, 0);
            }
            int main()
            {
                int *out, n;
                cudaMallocManaged(&out, 4);
                tails<<<1, 1>>>(out);
                cudaMemcpyFromSymbol(&n, ran, 4);
                printf("%d ran, error %d\\n", n, *out);
                endless<<<1, 1024>>>(out);
                printf("error %d\\n", cudaDeviceSynchronize());
            }""")
        done = self.smp("kernel", "a.cu", "--code", "ptx", "--no-findings", "--", "-rdc=true", status=1)
        self.assertIn("2048 ran, error 69\nerror 719\n", done.stdout)
        self.assertIn("kernel 'endless', block 0,0,0: it launches, copies and fills more than 4194304", done.stderr)

    def test_what_is_destroyed_or_invented_is_no_handle(self):
        self.write("a.cu", """
            #include <cstdio>
            __global__ void k() {}
            int main()
            {
                cudaStream_t s, gone;
                cudaEvent_t a, b;
                cudaGraph_t g;
                cudaGraphExec_t run;
                float ms;
                cudaStreamCreate(&s), cudaStreamCreate(&gone), cudaEventCreate(&a), cudaEventCreate(&b);
                cudaGraphCreate(&g, 0);
                printf("%d", cudaGraphInstantiate(&run, g, 0));
                printf(" %d", cudaGraphLaunch(run, s));
                printf(" %d,", cudaGraphExecDestroy(run));
                printf(" %d", cudaGraphLaunch(run, s));
                printf(" %d", cudaGraphExecDestroy(run));
                printf(" %d", cudaGraphLaunch((cudaGraphExec_t)0x1234, s));
                printf(" %d", cudaGraphInstantiate(&run, (cudaGraph_t)0x10, 0));
                cudaEventRecord(a, s);
                printf(" %d", cudaEventElapsedTime(&ms, a, b));
                cudaStreamDestroy(gone);
                cudaGetLastError();
                k<<<1, 1, 0, gone>>>();
                printf(" %d", cudaGetLastError());
                printf(" %d\\n", cudaMemcpyAsync(&ms, &ms, 4, cudaMemcpyHostToHost, gone));
            }""")
        told = self.smp("kernel", "a.cu", "--code", "ptx").stdout
        self.assertIn("0 0 0, 400 400 400 400 400 400 400\n", told)

    def test_copies_have_a_direction_and_rows_in_their_pitch(self):
        self.write("a.cu", """
            #include <cstdio>
            int main()
            {
                char *x, h[64];
                cudaMalloc(&x, 64);
                printf("%d", cudaMemcpy(x, h, 64, (cudaMemcpyKind)77));
                printf(" %d", cudaMemcpy2D(x, 16, h, 16, 16, 4, (cudaMemcpyKind)-1));
                printf(" %d", cudaMemcpy2D(x, 15, h, 16, 16, 4, cudaMemcpyHostToDevice));
                printf(" %d", cudaMemcpy2D(h, 16, x, 15, 16, 4, cudaMemcpyDeviceToHost));
                printf(" %d %s\\n", cudaMemcpy2D(x, 16, h, 16, 16, 4, cudaMemcpyDefault),
                       cudaGetErrorName((cudaError_t)12));
            }""")
        told = self.smp("kernel", "a.cu", "--code", "ptx").stdout
        self.assertIn("21 21 12 12 0 cudaErrorInvalidPitchValue\n", told)

    def test_pinned_memory_has_its_own_call_to_free_it(self):
        self.write("a.cu", """
            #include <cstdio>
            int main()
            {
                int *h, *x;
                cudaMallocHost(&h, 64), cudaMalloc(&x, 128);
                printf("%d %d", cudaFree(h), cudaFreeHost(x));
                printf(" %d %d\\n", cudaFreeHost(h), cudaFree(x));
            }""")
        told = self.smp("kernel", "a.cu", "--code", "ptx").stdout
        self.assertIn("1 1 0 0\n", told)
        self.assertIn("cudaFree of a buffer of 64 bytes: cudaFreeHost is for what", told)
        self.assertIn("cudaFreeHost of a buffer of 128 bytes", told)

    def test_launches_share_the_time_limit_of_the_host_s(self):
        self.write("a.cu", """
            #include <cstdio>
            __global__ void bomb() { bomb<<<2, 1>>>(); }
            int main() { bomb<<<1, 1>>>(); printf("error %d\\n", cudaDeviceSynchronize()); }""")
        done = self.smp("kernel", "a.cu", "--code", "ptx", "--time-limit", "0.5", "--", "-rdc=true", status=6,
                        timeout=60)
        self.assertIn("error 719\n", done.stdout)
        self.assertIn("kernels still launch bomb here after the time limit of 0.5 s", done.stderr)

    def test_what_launches_needs_its_flag_and_its_program(self):
        done = self.smp("kernel", LAUNCHES, status=3)
        self.assertIn("-rdc=true, which stands behind --", done.stderr)
        done = self.smp("kernel", LAUNCHES, "--only", "note_two", "--grid", "1", "--block", "1", "--args", "who=1",
                        "--", "-rdc=true", status=1)  # fmt: skip
        self.assertIn("it launches work on the device, which runs in a whole program alone", done.stdout + done.stderr)

    @unittest.skipUnless(NVCC and (pathlib.Path(os.path.realpath(NVCC)).parent.parent / "include/cublas_v2.h").exists(),
                         "no cublas_v2.h")
    def test_blas_and_random_numbers(self):
        done = self.smp("kernel", BLAS, "--no-findings", "--", "-lcublas", "-lcublasLt", "-lcurand")
        self.assertIn("has no cublasLtMatmulDescCreate", done.stderr)
        self.assertIn("blas.cu: right\n", done.stdout)
        for library in ("cuBLAS", "cuRAND"):
            self.assertEqual(done.stderr.count(f"{library} is a stand-in here"), 1)
        self.assertIn("times_two", done.stdout)
        done = self.smp("kernel", BLAS, "--json", "--", "-lcublas", "-lcublasLt", "-lcurand", "--", "beyond")
        self.assertIn("cublasSgemm of 288 bytes", done.stdout + done.stderr)

    def test_lines_of_a_header_have_its_name(self):
        self.write("k.h", b"__global__ void twice(float *x)\n{\n    x[threadIdx.x] *= 2;\n}\n")
        self.write("a.cu", b'#include "k.h"\nint main() { float *x; cudaMallocHost(&x, 128); twice<<<1, 32>>>(x); }\n')
        told = self.smp("kernel", "a.cu", "--code", "ptx").stdout
        self.assertRegex(told, r"(?m)^  k\.h\n +3  x\[threadIdx\.x\] \*= 2; +global load ")

    def test_floats_of_16_and_8_bits(self):
        done = self.smp("kernel", RUNTIME / "narrow.cu")
        self.assertIn("narrow.cu: right\n", done.stdout)
        self.assertNotRegex(done.stdout, "counted from PTX|not looked for|memory that differ")

    def test_textures(self):
        done = self.smp("kernel", RUNTIME / "textures.cu", "-v")
        self.assertIn("textures.cu: right\n", done.stdout)
        self.assertRegex(done.stdout, "counted from PTX: .*(TEX|TLD|nvdisasm)")
        self.assertIn("by a handle that is not a texture",
                      self.smp("kernel", RUNTIME / "textures.cu", "-v", "--", "wild").stdout)
        self.assertIn("thread 8,0,0, block 0,0,0: reads or writes outside a surface\n",
                      self.smp("kernel", RUNTIME / "textures.cu", "-v", "--", "beyond").stdout)


if __name__ == "__main__":
    unittest.main()
