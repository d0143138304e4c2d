"""smempipe kernel: the table, --json, --csv, --fail-on and messages on PTX and, where there are ptxas and nvdisasm,
SASS; what clang makes in nvcc's place."""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import PROGRAM, ROOT, SANITIZED, CliCase
from pages import check_page, data_of, drawn

LAB = os.path.join(ROOT, "tests", "lab")
TRANSPOSE = os.path.join(LAB, "transpose.ptx")
BUGS = os.path.join(LAB, "bugs.ptx")
TILED = ("--only", "transposeTiled", "--grid", "2x2", "--block", "32x8", "--args",
         "out=f32[64x64] in=f32[64x64] w=64 h=64", "--code", "ptx")  # fmt: skip
SAMPLE = os.path.join(ROOT, "samples", "kernels", "transpose.cu")
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
NVDISASM = shutil.which("nvdisasm") or shutil.which("/usr/local/cuda/bin/nvdisasm")
NO_SASS = "no nvdisasm or ptxas: pip install nvidia-cuda-nvdisasm nvidia-cuda-nvcc, and have them in PATH"


DYNAMIC = """.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 s[];
.visible .entry f()
{
.reg .b32 %r<4>;
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, s;
add.s32 %r2, %r3, %r2;
st.shared.u32 [%r2], %r1;
ret;
}
"""


class Kernel(CliCase):
    def test_the_line_and_what_would_help(self):
        text = self.smp("kernel", TRANSPOSE, *TILED).stdout
        self.assertRegex(text, r"\n +24 .*shared load +4 +128 +4096 +128 +3968 +32 +32")
        self.assertIn("worst: k01_transpose.cu:24, a 32-way conflict: 32 wavefronts where 1 would do", text)
        self.assertIn("pad tile by 1 element of 4 bytes after each 32 (a row of 32 becomes one of 33)", text)

    def test_json_and_csv_agree(self):
        found = json.loads(self.smp("kernel", TRANSPOSE, *TILED, "--json").stdout)
        kernel = found["kernels"][0]
        self.assertEqual((found["code"], kernel["kernel"], kernel["blocks_run"]), ("ptx", "transposeTiled", 4))
        rows = list(csv.DictReader(io.StringIO(self.smp("kernel", TRANSPOSE, *TILED, "--csv").stdout)))
        self.assertEqual(len(rows), len(kernel["rows"]))
        for a, b in zip(rows, kernel["rows"]):
            self.assertEqual(int(a["line"]), b["line"])
            self.assertEqual(int(a["conflicts"]), b.get("conflicts", 0))
            self.assertEqual(int(a["sectors"]), b.get("sectors", 0))

    def test_the_table_of_what_the_compiler_makes_is_true(self):
        """docs/banks.md, section 9: PTX here, SASS where there is nvdisasm."""
        with open(os.path.join(ROOT, "docs", "banks.md")) as file:
            cell = r"(\d+) x (\d+) B: (\d+), (\d+)"
            rows = re.findall(rf"^\| (\w+) \| .* \| {cell} \| {cell} \|$", file.read(), re.M)
        self.assertEqual(len(rows), 6)
        for name, *counts in rows:
            for code, expected in (("ptx", counts[:4]), ("sass", counts[4:])):
                if code == "sass" and not (PTXAS and NVDISASM):
                    continue
                done = self.smp("kernel", os.path.join(LAB, "joins.ptx"), "--only", name, "--grid", "1", "--block",
                                "32", "--args", "out=f32[32]", "--code", code, "--json")
                loads = [r for r in json.loads(done.stdout)["kernels"][0]["rows"]
                         if (r["space"], r["op"]) == ("shared", "load")]  # fmt: skip
                self.assertEqual([[r[k] for k in ("instructions", "width", "wavefronts", "conflicts")] for r in loads],
                                 [[int(n) for n in expected]], (name, code))

    def test_some_blocks(self):
        found = json.loads(self.smp("kernel", TRANSPOSE, *TILED, "--blocks", "first,last", "--json").stdout)
        self.assertEqual((found["kernels"][0]["blocks"], found["kernels"][0]["blocks_run"]), (4, 2))

    def test_what_is_found_fails_a_test(self):
        race = (BUGS, "--only", "raceNoSync", "--grid", "1", "--block", "256", "--code", "ptx",
                "--args", "in=f32[256] out=f32[256]")  # fmt: skip
        self.smp("kernel", *race)
        self.smp("kernel", *race, "--fail-on", "races", status=7)
        done = self.smp("kernel", *race, "-q", "--fail-on", "races", status=7)
        self.assertEqual((done.stdout, done.stderr[:14]), ("", "found: race at"))
        self.assertIn("raceNoSync", self.smp("kernel", *race, "-q", "--json").stdout)
        self.smp("kernel", *race, "--fail-on", "bounds,conflicts,barriers")
        self.smp("kernel", TRANSPOSE, *TILED, "--fail-on", "races,conflicts", status=7)
        self.smp("kernel", TRANSPOSE, *TILED, "--fail-on", "uncoalesced,races,bounds,uninitialised,barriers")
        outside = (BUGS, "--only", "outsideGlobal", "--grid", "2", "--block", "256", "--args", "out=f32[256] n=256",
                   "--code", "ptx")  # fmt: skip
        text = self.smp("kernel", *outside, "--fail-on", "bounds", status=7).stdout
        self.assertIn("thread 0,0,0, block 1,0,0: writes 4 bytes 0 bytes past the end of 'out' (1024 bytes)", text)

    def test_each_word_of_fail_on_finds_its_mistake(self):
        one = ("--grid", "1", "--block", "128", "--code", "ptx")
        array = ("--args", "out=f32[256] n=100")
        for word, arguments in (
            ("races", (BUGS, "--only", "raceNoSync", *one[:3], "256", *one[4:], "--args", "in=f32[256] out=f32[256]")),
            ("uninitialised", (BUGS, "--only", "uninit", "--grid", "1", "--block", "256", "--code", "ptx", "--args",
                               "out=f32[256]")),  # fmt: skip
            ("bounds", (BUGS, "--only", "outsideGlobal", *one, "--args", "out=f32[64] n=128")),
            ("barriers", (BUGS, "--only", "divergent", *one, *array)),
            ("barriers", (BUGS, "--only", "leaves", *one, *array)),
            ("conflicts", (TRANSPOSE, *TILED)),
            ("uncoalesced", (TRANSPOSE, "--only", "transposeNaive", *TILED[2:])),
        ):
            with self.subTest(word):
                self.smp("kernel", *arguments, "-q", "--fail-on", word, status=7)

    def test_kernels_side_by_side(self):
        three = (TRANSPOSE, "--only", "transposeNaive,transposeTiled,transposePadded", *TILED[2:], "--compare")
        text = self.smp("kernel", *three).stdout
        self.assertRegex(text, r"transposeTiled +\d+ +4224 +256 +3968 +16.5 +1024 +1 ")
        self.assertIn("transposePadded: the same bytes as the first", text)
        self.assertIn("transposeNaive, k01_transpose.cu:10: each instruction moves 32 sectors where 4 would do", text)
        kernels = json.loads(self.smp("kernel", *three, "--json").stdout)["kernels"]
        self.assertEqual([k["same"] for k in kernels], ["first", "same", "same"])
        self.assertEqual(kernels[1]["look_at"]["line"], 24)
        rows = list(csv.DictReader(io.StringIO(self.smp("kernel", *three, "--csv").stdout)))
        self.assertEqual([int(r["conflicts"]) for r in rows], [0, 3968, 0])

    def test_other_results_are_told(self):
        two = (TRANSPOSE, "--only", "transposeNaive,transposeTiled", "--compare", "--grid", "2x2;2x1", *TILED[4:])
        text = self.smp("kernel", *two, status=7).stdout
        self.assertIn("DIFFERENT  transposeTiled: out[32] is 32, not 40; 2016 of 8192 elements differ", text)
        self.smp("kernel", TRANSPOSE, BUGS, *two[1:], status=2)
        self.assertIn("--compare", self.smp("kernel", TRANSPOSE, BUGS, *TILED, status=2).stderr)

    def test_files_are_compared_by_name(self):
        both = (TRANSPOSE, TRANSPOSE, "--only", "transposePadded,transposeTiled", *TILED[2:], "--compare", "--json")
        kernels = json.loads(self.smp("kernel", *both).stdout)["kernels"]
        self.assertEqual([k["group"] for k in kernels], [0, 1, 0, 1])
        self.assertEqual([k["same"] for k in kernels], ["first", "first", "same", "same"])

    def test_the_page_says_where_to_look(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.html")
            three = (TRANSPOSE, "--only", "transposeTiled,transposePadded", *TILED[2:], "--html", page)
            self.smp("kernel", *three)
            with open(page) as file:
                made = file.read()
            check_page(self, made)
            rows = data_of(made)["kernels"][0]["rows"]
            self.assertEqual([row["access"]["wavefronts"] for row in rows if "access" in row], [32])
            text = drawn(self, made)
            self.assertIn("Look at <b>k01_transpose.cu:24</b> of <b>transposeTiled</b>: a 32-way conflict", text)
            self.assertEqual(text.count('class="bank-map'), 1)
            self.assertTrue("lanes 0, 1, 2, 3 and 28 more want different words of bank 0" in text)
            self.assertEqual(text.count('class="axis"'), 2)
            self.assertTrue('<table class="sorted">' in text)
            self.smp("kernel", *three, status=4)
            self.smp("kernel", *three, "--force")

    def test_messages_say_what_to_type(self):
        for arguments, code, words in (
            ((TRANSPOSE,), 2, ("--only is missing", "transposeNaive, transposeTiled, transposePadded")),
            ((TRANSPOSE, "--only", "transpos"), 2, ("no kernel 'transpos'", "transposeTiled")),
            ((TRANSPOSE, "--only", "transposeTiled"), 2, ("needs --grid", "--grid 32x32")),
            ((TRANSPOSE, *TILED[:6], "--args", "out=f32[64x64]"), 2, ("1 of the 4 parameters", "u64")),
            ((TRANSPOSE, *TILED[:6], "--args", "out=f33[64] 1 2 3"), 2, ("f33[64]", "f32")),
            ((TRANSPOSE, *TILED[:4], "--block", "32x80", *TILED[6:]), 2, ("32 x 80", "1024")),
            ((TRANSPOSE, *TILED, "--fail-on", "rases"), 2, ("'rases'", "races")),
            ((TRANSPOSE, *TILED, "--blocks", "some"), 2, ("'some'", "first,middle,last")),
            ((TRANSPOSE, *TILED, "--code", "mass"), 2, ("--code mass", "sass or ptx")),
            ((TRANSPOSE, *TILED, "--blocks", "0"), 2, ("--blocks 0 is not a valid number", "first,middle,last")),
            ((TRANSPOSE, *TILED, "--fail-on", ""), 2, ("--fail-on names nothing", "races")),
            ((TRANSPOSE, *TILED, "-D", "N=1"), 2, ("-D is for the compiler",)),
            ((TRANSPOSE, *TILED, "--arch", "hopper"), 2, ("--arch hopper is not a valid architecture", "sm_90")),
            ((TRANSPOSE, "--only", "", *TILED[2:]), 2, ("--only names no kernel",)),
            ((SAMPLE, "--grid", "nonsense"), 2, ("--grid is of one kernel", "--only NAME")),
            ((SAMPLE, "--shared", "1K"), 2, ("--shared is of one kernel",)),
            ((SAMPLE, "-I", "nosuch"), 2, ("-I nosuch is not a folder",)),
            ((SAMPLE, "--blocks", "foo"), 2, ("'foo' is not a valid block",)),
            (("kernel.txt",), 2, ("no .cu, no .ptx, no .cubin and no executable", "nvcc -ptx")),
            ((PROGRAM,), 3, ("it holds no CUDA kernels", "nvcc -cudart shared")),
            (("none.ptx", "--only", "f"), 3, ("none.ptx", "No such file")),
        ):
            error = self.smp("kernel", *arguments, status=code).stderr
            for word in words:
                self.assertIn(word, error)

    def test_kernels_of_one_name_are_told_apart(self):
        entry = ".visible .entry {}(.param .u64 p)\n{{\nret;\n}}\n"
        symbols = ("_Z2trILi0EEvPf", "_Z2trILi1EEvPf", "_Z1fPi", "_Z1fPf", "_Z4onceILi3EEvPf")
        self.write("a.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n" + "".join(map(entry.format, symbols)))
        launch = ("--grid", "1", "--block", "32", "--args", "p=f32[32]", "--code", "ptx", "--json")
        names = "tr<0>,tr< 1 >,f(int*),once,once<3>"
        kernels = json.loads(self.smp("kernel", "a.ptx", "--only", names, *launch).stdout)["kernels"]
        self.assertEqual([k["kernel"] for k in kernels], ["tr<0>", "tr<1>", "f(int*)", "once", "once"])
        error = self.smp("kernel", "a.ptx", "--only", "tr", *launch, status=2).stderr
        self.assertIn("several kernels can be meant by 'tr'", error)
        self.assertIn("it has: tr<0>, tr<1>, f(int*), f(float*), once", error)

    def test_dynamic_shared_memory_that_is_missing_is_named(self):
        self.write("a.ptx", DYNAMIC)
        one = ("kernel", "a.ptx", "--only", "f", "--grid", "1", "--block", "32", "--code", "ptx")
        self.assertIn("of which the block has 0; its launch gives no dynamic shared memory: --shared BYTES",
                      self.smp(*one).stdout)  # fmt: skip
        self.assertNotIn("bounds", self.smp(*one, "--shared", "128").stdout)

    def test_a_line_that_the_source_does_not_have_costs_no_time(self):
        self.write("sum.cu", "line\n" * 9)
        self.write("a.ptx", JOINED.replace(".loc 1 7 ", ".loc 1 4294967200 "))
        done = self.smp("kernel", "a.ptx", "--only", "sum", "--grid", "1", "--block", "32", "--code", "ptx", "--args",
                        "out=f32[32]", "--json", timeout=30)  # fmt: skip
        kernel = json.loads(done.stdout)["kernels"][0]
        self.assertIn(4294967200, [row["line"] for row in kernel["rows"]])
        lines = [str(line) for line in range(3, 11)]  # 10: what follows the last newline
        self.assertEqual(list(kernel["sources"]["sum.cu"]), lines)

    def test_lanes_that_go_around_a_barrier_are_counted(self):
        text = self.smp("kernel", BUGS, "--only", "leaves", "--grid", "1", "--block", "128", "--code", "ptx",
                        "--args", "out=f32[256] n=100").stdout  # fmt: skip
        self.assertRegex(
            text, r"28 of the block's 128 threads ended without this barrier \(28 of them are lanes of a warp")

    def test_an_array_without_a_source_gets_a_pad(self):
        self.write("a.ptx", DYNAMIC.replace("shl.b32 %r2, %r1, 2", "shl.b32 %r2, %r1, 4"))
        text = self.smp("kernel", "a.ptx", "--only", "f", "--grid", "1", "--block", "32", "--shared", "512", "--code",
                        "ptx").stdout  # fmt: skip
        self.assertIn("to avoid it: pad s by 1 element of 4 bytes after each 32 (a row of 32 becomes one of 33): the "
                      "kernel's 4 wavefronts become about 1", text)  # fmt: skip

    def test_an_unknown_instruction_stops_its_kernel_and_no_other(self):
        with open(TRANSPOSE) as file:
            text = file.read().replace("mad.lo.s32", "frob.lo.s32", 1)
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(text)
            file.flush()
            naive = ("--only", "transposeNaive", *TILED[2:])
            error = self.smp("kernel", file.name, *naive, status=1).stderr
            self.assertIn("frob.lo.s32", error)
            self.assertIn("k01_transpose.cu:", error)
            self.smp("kernel", file.name, *TILED)

    @unittest.skipUnless(shutil.which("cc"), "no cc")
    def test_a_program_with_the_runtime_in_it_says_how_to_build_it(self):
        program = os.path.join(str(self.folder), "static")
        source = '__attribute__((section(".nv_fatbin"), used)) static char code[8]; int main(void) { return 0; }'
        subprocess.run(["cc", "-x", "c", "-", "-o", program], input=source, text=True, check=True)
        error = self.smp("kernel", program, status=3).stderr
        self.assertIn("CUDA's runtime library is linked into it", error)
        self.assertIn("= hint: build it with nvcc -cudart shared -lineinfo", error)

    def test_without_nvcc_the_way_to_get_it_is_told(self):
        with tempfile.TemporaryDirectory() as empty:
            environment = {"PATH": empty, "HOME": empty, "CUDA_HOME": empty}
            if os.access("/usr/local/cuda/bin/nvcc", os.X_OK):
                self.skipTest("nvcc is in /usr/local/cuda")
            error = self.smp("kernel", os.path.join(LAB, "k01_transpose.cu"), env=environment, status=5).stderr
            self.assertIn("pip install nvidia-cuda-nvcc", error)


    def test_without_nvdisasm_sass_is_no_failure_of_the_kernel(self):
        with tempfile.TemporaryDirectory() as empty:
            file = os.path.join(empty, "a.ptx")
            with open(file, "w") as to:
                to.write(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f()\n{\nret;\n}\n")
            done = self.smp("kernel", file, "--only", "f", "--grid", "1", "--block", "32", "--code", "sass",
                            env={"PATH": empty, "HOME": empty, "CUDA_HOME": empty}, status=(0, 5))
            if not done.returncode:
                self.skipTest("nvdisasm is beside the program")
            self.assertIn("there is no SASS to count: nvdisasm is not on this machine\n  = hint: pip install nvidia",
                          done.stderr)


@unittest.skipUnless((NVCC or shutil.which("clang++")) and not SANITIZED, "no nvcc and no clang++, or a sanitizer")
class Runtime(CliCase):
    """What the runtime library says of mistakes, and what it takes (tests/lab/runtime), as a GPU would."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cache = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.cache.cleanup)

    def mistake(self, name, status=0):
        environment = {**os.environ, "XDG_CACHE_HOME": self.cache.name}
        return self.smp("kernel", os.path.join(LAB, "runtime", "mistakes.cu"), "-v", "--code", "ptx", "--", name,
                        env=environment, status=status)  # fmt: skip

    def test_lines_are_those_of_the_file_that_was_given(self):
        """What was compiled of a file elsewhere names that one, which may be gone."""
        text = "__global__ void f(int *p)\n{\n    *p = 7;\n}\n"
        for folder in ("a", "b"):
            (self.folder / folder).mkdir()
            (self.folder / folder / "f.cu").write_text(text)
            told = subprocess.run([PROGRAM, "kernel", "f.cu", "--code", "ptx", "--only", "f", "--grid", "1", "--block",
                                   "1", "--args", "p=i32[1]"], cwd=self.folder / folder, text=True,
                                  capture_output=True, check=True,
                                  env={**os.environ, "XDG_CACHE_HOME": self.cache.name}).stdout  # fmt: skip
            self.assertRegex(told, r"\n +3  \*p = 7; +global store")
            shutil.rmtree(self.folder / folder)

    def test_each_is_answered_as_a_gpu_answers(self):
        for name, status, words in (
            ("shared", 0, ("49152: no error\n49156: invalid argument\n232452: invalid argument\nasked: no error",
                           "refused, and the program asked for the error", "100000 bytes of shared memory")),
            ("unasked", 1, ("cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000)",)),
            ("large", 0, ("no error, no error, invalid argument", "a block of 2048 x 1 x 1 threads cannot be")),
            ("sizes", 0, (5 * "cudaErrorInvalidValue, " + "cudaSuccess, cudaErrorInvalidValue, "
                          "cudaErrorInvalidResourceHandle\n",)),
            ("device", 0, ("invalid device ordinal, invalid argument, invalid argument",)),
            ("null", 0, ("an illegal memory access was encountered, then an illegal memory", "the pointer is null",
                        "fill does not run, nor what follows")),
            ("host", 0, ("an illegal memory access", "memory of the host: cudaMalloc and cudaMemcpy")),
            ("below", 0, ("an illegal memory access", "128 bytes before address 0: the pointer is null")),
            ("far", 0, ("an illegal memory access", "16777088 bytes past the end of a buffer (128 bytes)")),
            ("exit", 1, ("the program ended with status 188",)),
            ("freed", 0, ("an illegal memory access", "of a buffer of 128 bytes that cudaFree has freed")),
            ("reads", 1, ("code of the host accesses device memory", "cudaMallocManaged makes memory that both",
                          "fill  grid 1x1x1", "ended by signal 11")),
            ("segfault", 1, ("printed before", "fill  grid 1x1x1", "ended by signal 11")),
            ("empty", 1, ("a grid of 0 x 1 x 1 blocks cannot be launched",)),
            ("managed", 0, ("sum 496",)),
            ("threads", 0, ("0 wrong", "200 launches")),
            ("again", 0, ("0 failed",)),
        ):  # fmt: skip
            with self.subTest(name):
                done = self.mistake(name, status)
                for word in words:
                    self.assertIn(word, done.stdout + done.stderr)

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_an_assertion_that_fails_is_its_own_error(self):
        self.write("a.cu", """#include <cassert>
#include <cstdio>
__global__ void check(int most) { assert(threadIdx.x < most); }
int main()
{
    check<<<1, 64>>>(40);
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
""")
        done = self.smp("kernel", "a.cu", "--code", "ptx", status=1)
        self.assertIn("cudaErrorAssert\n", done.stdout)
        said = r"assertion 'threadIdx.x < most' fails in thread 40"  # and where, once
        self.assertRegex(done.stderr, rf"a\.cu:3: error: .*{said}\n")
        self.assertRegex(done.stdout, rf"stopped +kernel 'check', .*{said} \(.*a\.cu:3\)\n")

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_memory_pools(self):
        self.write("a.cu", """#include <cstdint>
#include <cstdio>
__global__ void fill(int *out) { out[threadIdx.x] = 1; }
int main()
{
    int supported = 0, *out;
    cudaMemPool_t pool;
    uint64_t most = 1 << 20, got = 0;
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0);
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most);
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got);
    cudaMallocFromPoolAsync((void **)&out, 128, pool, 0);
    fill<<<1, 32>>>(out);
    cudaFreeAsync(out, 0);
    printf("%d %d %d %s\\n", supported, properties.memoryPoolsSupported, (int)got,
           cudaGetErrorString(cudaDeviceSynchronize()));
}
""")
        self.assertIn("1 1 1048576 no error\n", self.smp("kernel", "a.cu", "--code", "ptx").stdout)

    def test_barriers_in_shared_memory(self):
        for name, status, words, absent in (
            ("turn", 0, "0 wrong", "uninitialised"),
            ("parts", 0, "0 wrong", "race"),
            ("bulk", 0, "0 wrong", "race"),
            ("nowait", 0, "reads byte 252 of 's', which the block has not written", "0 more"),
            ("hang", 1, "an mbarrier waits for 1 more arrivals and 0 bytes that never come", "race"),
            ("unmade", 1, "an mbarrier that no mbarrier.init has made", "race"),
            ("beyond", 1, "copies at byte 0 of shared memory, of which the block has 1032", "race"),
        ):
            with self.subTest(name):
                done = self.smp("kernel", os.path.join(LAB, "runtime", "mbarrier.cu"), "--code", "ptx", "--", name,
                                env={**os.environ, "XDG_CACHE_HOME": self.cache.name}, status=status)  # fmt: skip
                self.assertIn(words, done.stdout + done.stderr)
                self.assertNotIn(absent, done.stdout + done.stderr)
        for more in ((), ("--no-findings",)):
            with self.subTest("copies", more=more):
                done = self.smp("kernel", os.path.join(LAB, "runtime", "mbarrier.cu"), *more, "--", "copies",
                                env={**os.environ, "XDG_CACHE_HOME": self.cache.name})  # fmt: skip
                self.assertIn("0 wrong", done.stdout)
                self.assertNotIn("counted from PTX", done.stdout)
                self.assertNotIn("differ", done.stdout)

    def test_matrices_of_every_type_and_layout_are_multiplied(self):
        done = self.smp("kernel", os.path.join(LAB, "runtime", "wmma.cu"), "--arch", "sm_80", "--code", "ptx", "-q",
                        env={**os.environ, "XDG_CACHE_HOME": self.cache.name})  # fmt: skip
        self.assertEqual(done.stdout, "all right\n")

    def test_a_source_without_main_says_what_to_type(self):
        self.write("a.cu", "// main is elsewhere\n__global__ void f(int *x) { x[0] = 1; }\n")
        error = self.smp("kernel", "a.cu", status=2).stderr
        self.assertIn("a.cu: error: it has no main", error)
        self.assertIn("--only NAME", error)


@unittest.skipUnless(PTXAS and NVDISASM, NO_SASS)
class Sass(CliCase):
    def setUp(self):
        super().setUp()
        self.cache = tempfile.TemporaryDirectory()
        self.addCleanup(self.cache.cleanup)
        self.environment = {**os.environ, "XDG_CACHE_HOME": self.cache.name}

    def sass(self, *arguments, **more):
        return self.smp("kernel", *arguments, env=self.environment, **more)

    def test_the_first_line_says_what_is_counted(self):
        both = TILED[:-2]
        text = self.sass(TRANSPOSE, *both).stdout
        self.assertIn("counts of the SASS that ptxas makes of", text)
        self.assertRegex(text, r"\n +24 .*shared load +4 +128 +4096 +128 +3968 +32 +32")
        self.assertIn("counts of the PTX of", self.sass(TRANSPOSE, *both, "--code", "ptx").stdout)
        found = json.loads(self.sass(TRANSPOSE, *both, "--json").stdout)["kernels"][0]
        self.assertEqual((found["code"], found["differing_bytes"], found["notes"]), ("sass", 0, None))

    def test_clocks_are_no_difference(self):
        self.write("c.cu", "__global__ void k(long long *x) { x[threadIdx.x] = x[threadIdx.x] / 3 + clock64(); }\n")
        launch = "--only", "k", "--grid", "1", "--block", "32", "--args", "x=i64[32]"
        found = json.loads(self.sass("c.cu", *launch, "--json").stdout)["kernels"][0]
        self.assertEqual((found["code"], found["differing_bytes"], found["notes"]), ("sass", 0, None))

    def test_a_cubin_runs_alone(self):
        cubin = os.path.join(self.cache.name, "transpose.cubin")
        self.sass(TRANSPOSE, *TILED[:-2], "--quiet")
        made = next(folder for folder, _, files in os.walk(self.cache.name) if "code.cubin" in files)
        shutil.copy(os.path.join(made, "code.cubin"), cubin)
        text = self.sass(cubin, *TILED[:-2]).stdout
        self.assertRegex(text, r"shared load +4 +128 +4096 +128 +3968 +32 +32")

    def test_what_ptxas_joins_is_told(self):
        source = os.path.join(self.cache.name, "join.ptx")
        with open(source, "w") as file:
            file.write(JOINED)
        text = self.sass(source, "--only", "sum", "--grid", "1", "--block", "32", "--args", "out=f32[32]").stdout
        self.assertRegex(text, r"note .*:7: ptxas joined shared loads of 4 bytes into some of 16")

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_what_ptxas_splits_is_told_apart_from_what_the_line_has_besides(self):
        source = os.path.join(self.cache.name, "split.cu")
        with open(source, "w") as file:
            file.write("__global__ void k(float *o)\n{\n__shared__ float4 b[32][8];\n__shared__ double a[64];\n"
                       "b[threadIdx.x][0] = make_float4(1, 2, 3, 4);\na[threadIdx.x] = 2;\n__syncthreads();\n"
                       "float4 q = b[threadIdx.x ^ 1][0]; o[threadIdx.x] = q.x + q.w + a[threadIdx.x ^ 1];\n}\n")
        text = self.sass(source, "--only", "k", "--grid", "1", "--block", "32", "--args", "o=f32[32]").stdout
        self.assertRegex(text, r"note .*:8: ptxas split shared loads of 16 bytes into some of 4\n")


JOINED = """.version 8.0
.target sm_80
.address_size 64
.file 1 "sum.cu"
.visible .entry sum(.param .u64 p0)
{
.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<3>;
.shared .align 16 .b8 s[512];
.loc 1 5 1
mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.s32 %r3, %r2, %r1;
cvt.rn.f32.u32 %f0, %r0; st.shared.f32 [%r3], %f0;
bar.sync 0;
.loc 1 7 1
ld.shared.f32 %f1, [s]; ld.shared.f32 %f2, [s+4]; ld.shared.f32 %f3, [s+8]; ld.shared.f32 %f4, [s+12];
.loc 1 8 1
add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f4; add.f32 %f1, %f1, %f3;
ld.param.u64 %d0, [p0]; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1; st.global.f32 [%d0], %f1;
ret;
}
"""


@unittest.skipUnless(shutil.which("clang++") and not SANITIZED, "no clang++, or a sanitizer")
class Clang(CliCase):
    """The script that stands in for nvcc, with a header of ours and no file of NVIDIA's."""

    def smp(self, *arguments, **more):
        stand_in = os.path.join(os.path.dirname(PROGRAM), "clang")
        environment = {**os.environ, "PATH": f"{stand_in}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(self.folder)}
        return super().smp("kernel", *arguments, "--code", "ptx", env=environment, **more)

    def test_a_program_runs(self):
        text = self.smp(os.path.join(ROOT, "samples", "kernels", "transpose.cu")).stdout
        self.assertIn("transpose: PASS", text)
        self.assertRegex(text, r"\n +18 .*shared load +4 +512 +16384 +512 +15872 +32 +32")

    def test_what_it_cannot_compile_is_told_of_clang(self):
        self.write("a.cu", "__global__ void k() { undeclared(); }\n")
        self.assertIn("clang, in nvcc's place, cannot compile it",
                      self.smp("a.cu", "--only", "k", "--grid", "1", "--block", "1", status=3).stderr)

    def test_functions_of_mathematics_compile(self):
        self.write("a.cu", """#include <cstdio>
__global__ void k(float *out, float x, double d)
{
    out[0] = fmaxf(x, 1.0f) + fminf(x, 2.0f) + sqrtf(x) + fabsf(-x) + floorf(x) + ceilf(x) + truncf(x) + rintf(x);
    out[1] = expf(x) + logf(x) + powf(x, 2.0f) + exp2f(x) + log2f(x) + rsqrtf(x) + max(1, 3) + min(2u, 1u);
    out[2] = (float)(sqrt(d) + fabs(-d) + fmax(d, 1.0) + fmin(d, 1.0) + fma(d, d, 1.0)) + fmaf(x, x, 1.0f);
    out[3] = sinf(0.0f * x) + cosf(0.0f * x);
}
int main()
{
    float *out;
    cudaMallocManaged(&out, 64);
    k<<<1, 1>>>(out, 4.0f, 4.0);
    cudaDeviceSynchronize();
    printf("%g %.4g %g %g\\n", out[0], out[1], out[2], out[3]);
    return fmaxf(1.0f, 2.0f) != 2.0f || sqrt(4.0) != 2.0;
}
""")
        self.assertIn("28 94.48 45 1\n", self.smp("a.cu").stdout)

    def test_kernels_count_as_those_of_nvcc(self):
        for file, *arguments in (
            ("09-atomics", "--only", "copies", "--grid", "1", "--block", "256", "--args", "out=i32[8] in=i32[256]=5"),
            ("12-tensor-tiles", "--only", "plain", "--grid", "1", "--block", "32",
             "--args", "out=u32[128] in=u32[512]"),
        ):  # fmt: skip
            sums = []
            for kind in ("cu", "ptx"):
                path = os.path.join(ROOT, "docs", "course", f"{file}.{kind}")
                rows = json.loads(self.smp(path, *arguments, "--json").stdout)["kernels"][0]["rows"]
                sums.append(sorted((r["space"], r["op"], r["instructions"], r.get("wavefronts")) for r in rows))
            self.assertEqual(*sums)


if __name__ == "__main__":
    unittest.main()
