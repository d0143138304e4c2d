"""What `smempipe kernel` refuses: numbers that do not fit, files of other architectures, mistakes not looked for."""
import os
import re
import shutil
import struct
import subprocess
import unittest

from harness import ROOT, SANITIZED, CliCase

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
NVDISASM = shutil.which("nvdisasm") or shutil.which("/usr/local/cuda/bin/nvdisasm")

HEAD = ".version 8.0\n.target %s\n.address_size 64\n"
NARROW = """.visible .entry f(.param .u32 n, .param .u8 c, .param .u16 s, .param .align 4 .b8 two[8])
{
ret;
}
"""
LOCK = """.visible .entry f(.param .u64 lock)
{
.reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %d<2>;
ld.param.u64 %d1, [lock];
$again:
atom.global.cas.b32 %r1, [%d1], 0, 1;
setp.ne.s32 %p1, %r1, 0;
@%p1 bra $again;
ret;
}
"""
UNDEFINED = """.extern .global .align 4 .b8 there[];
.extern .global .align 4 .u32 nowhere;
.visible .entry f(.param .u64 x)
{
.reg .b32 %r<2>; .reg .b64 %d<2>;
ld.param.u64 %d1, [x];
ld.global.u32 %r1, [there+4];
st.global.u32 [%d1], %r1;
ret;
}
.visible .entry g(.param .u64 x)
{
.reg .b32 %r<2>; .reg .b64 %d<2>;
ld.param.u64 %d1, [x];
ld.global.u32 %r1, [nowhere];
st.global.u32 [%d1], %r1;
ret;
}
.visible .global .align 4 .u32 there[2] = {1, 7};
"""
LAUNCH = ("--only", "f", "--grid", "1", "--block", "32", "--code", "ptx")


def cubin(arch):
    """The head of a cubin as ptxas of CUDA 13 writes it: the architecture is in the second byte of the flags."""
    return b"\x7fELF\x02\x01\x01\x29\x08" + bytes(7) + bytes(32) + struct.pack("<I", arch << 8) + bytes(12)


class Refuses(CliCase):
    def test_numbers_out_of_range(self):
        self.write("a.ptx", HEAD % "sm_90" + NARROW)
        for words, told in (("99999999999 1 1 1", ("99999999999 is out of range",
                                                   "u32 takes -2147483648 to 4294967295")),
                            ("1 300 1 1", ("300 is out of range", "u8 takes -128 to 255")),
                            ("1 1 -50000 1", ("-50000 is out of range", "u16 takes -32768 to 65535")),
                            ("1 1 1.5 1", ("'1.5': this is not a whole number",)),
                            ("-1 255 -32768 1", ("'1': this parameter is a structure",))):
            with self.subTest(words):
                error = self.smp("kernel", "a.ptx", *LAUNCH, "--args", words, status=2).stderr
                for word in told:
                    self.assertIn(word, error)

    def test_a_lock_that_is_never_free_ends_at_the_time_limit(self):
        self.write("a.ptx", HEAD % "sm_80" + LOCK)
        done = self.smp("kernel", "a.ptx", *LAUNCH, "--args", "lock=u32[1]=0", "--time-limit", "0.05", status=6)
        told = r"line (8|9|10|11) of the PTX: error: kernel 'f', block 0,0,0: it still runs here after the time limit"
        self.assertRegex(done.stderr, told + " of")
        self.smp("kernel", "a.ptx", *LAUNCH[:4], "--block", "1", "--code", "ptx", "--args", "lock=u32[1]=0",
                 "--time-limit", "60")

    def test_a_variable_that_is_declared_and_nowhere_defined(self):
        self.write("a.ptx", HEAD % "sm_90" + UNDEFINED)
        words = ("kernel", "a.ptx", "--only")
        (self.folder / "out").mkdir()
        self.smp(*words, "f", *LAUNCH[2:], "--args", "x=u32[1]", "--save", "out")
        self.assertEqual((self.folder / "out" / "x.raw").read_bytes(), struct.pack("<I", 7))
        error = self.smp(*words, "g", *LAUNCH[2:], "--args", "x=u32[1]", status=1).stderr
        self.assertIn("kernel 'g' cannot run: it uses 'nowhere', which is declared, and no file defines it", error)

    def test_a_number_for_a_parameter_of_0_bytes(self):
        for kind in ("b8", "u32", "f32"):
            with self.subTest(kind):
                self.write("a.ptx", HEAD % "sm_90" + f".visible .entry f(.param .{kind} p[0])\n{{\nret;\n}}\n")
                error = self.smp("kernel", "a.ptx", *LAUNCH, "--args", "p=0", status=2).stderr
                self.assertIn("'0': this parameter has 0 bytes", error)

    def test_numbers_of_arrays_out_of_range(self):
        self.write("a.ptx", HEAD % "sm_90" + ".visible .entry f(.param .u64 a)\n{\nret;\n}\n")
        for words, told in (("a=i8[4]=128", "i8 takes -128 to 127"), ("a=u16[4]=-1", "u16 takes 0 to 65535"),
                            ("a=i32[4]=0.5", "'0.5': this is not a whole number")):
            with self.subTest(words):
                self.assertIn(told, self.smp("kernel", "a.ptx", *LAUNCH, "--args", words, status=2).stderr)
        self.smp("kernel", "a.ptx", *LAUNCH, "--args", "a=u64[4]=18446744073709551615")

    def test_another_architecture(self):
        self.write("a.cubin", cubin(90))
        self.write("a.ptx", HEAD % "sm_90a" + NARROW)
        for file in ("a.cubin", "a.ptx"):
            with self.subTest(file):
                error = self.smp("kernel", file, *LAUNCH, "--arch", "sm_80", status=2).stderr
                self.assertIn("it is compiled for sm_90", error)
                self.assertIn("--arch sm_90", error)
        self.assertIn("--args gives 0", self.smp("kernel", "a.ptx", *LAUNCH, "--arch", "sm_90", status=2).stderr)

    @unittest.skipUnless(NVCC and NVDISASM, "no nvcc, or no nvdisasm")
    def test_variables_that_their_section_has_no_room_for(self):
        """Each is copied, so that a small file whose variables lie over each other takes any memory."""
        self.write("a.cu", "__constant__ int a[64], b[64];\n"
                           "__global__ void f(int *x) { *x = a[threadIdx.x] + b[threadIdx.x]; }\n")
        subprocess.run([NVCC, "-arch=sm_90", "-cubin", "a.cu"], check=True, cwd=self.folder)
        launch = "--only f --grid 1 --block 32 --args x=s32[1]".split()
        self.smp("kernel", "a.cubin", *launch)
        data = bytearray((self.folder / "a.cubin").read_bytes())
        (table,), (count,) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<H", data, 60)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
        (symbols,) = [s for s in sections if s[1] == 2]
        whole = 0
        for at in range(symbols[4], symbols[4] + symbols[5], 24):
            if struct.unpack_from("<Q", data, at + 16) == (256,):
                struct.pack_into("<QQ", data, at + 8, 0, 512)
                whole += 1
        self.assertEqual(whole, 2)
        self.write("b.cubin", bytes(data))
        self.assertIn("the cubin is damaged", self.smp("kernel", "b.cubin", *launch, status=3).stderr)

    def test_the_ptx_of_a_cubin(self):
        self.write("a.cubin", cubin(90))
        error = self.smp("kernel", "a.cubin", *LAUNCH, status=2).stderr
        self.assertIn("a cubin has no PTX to count", error)

    @unittest.skipUnless(PTXAS and NVDISASM, "no ptxas or nvdisasm")
    def test_races_that_nobody_looked_for(self):
        self.write("a.ptx", HEAD % "sm_90" + """.visible .entry f()
{
.reg .b32 %r<4>;
mov.u32 %r1, %tid.x;
vmax2.s32.s32.s32 %r2, %r1, %r1, %r1;
ret;
}
""")
        launch = ("kernel", "a.ptx", *LAUNCH[:-2], "-q", "--fail-on")
        error = self.smp(*launch, "conflicts,races", status=1).stderr
        self.assertIn("--fail-on races: they were not looked for in f", error)
        self.assertIn("vmax2", error)
        self.smp(*launch, "conflicts,bounds")
        told = self.smp("kernel", "a.ptx", *LAUNCH[:-2], "--compare").stdout
        self.assertIn("note  f: mistakes are not looked for", told)

    @unittest.skipUnless(NVCC and not SANITIZED, "no nvcc, or a sanitizer")
    def test_blocks_that_ran_up_to_the_time_limit_are_counted(self):
        self.write("a.cu", "__global__ void f(float *x, int n)\n{\n"
                   "    for (int i = 0; i < n; i++)\n        x[blockIdx.x] += i;\n}\n"
                   "int main() { float *x; cudaMalloc(&x, 4 << 20); f<<<1 << 20, 32>>>(x, 5000); }\n")  # fmt: skip
        done = self.smp("kernel", "a.cu", "--time-limit", "2", status=6)
        self.assertGreater(int(re.search(r"(\d+) of its 1048576 blocks ran", done.stdout).group(1)), 1)
        self.assertIn("hint: --blocks 8 runs 8 of its blocks, --no-findings", done.stderr)
        self.write("b.cu", "__global__ void f(int *x, int n)\n{\n    __shared__ int s[256];\n"
                   "    s[threadIdx.x] = 0;\n    n = blockIdx.x % 64 == 63 ? n : 1;\n    for (int i = 0; i < n; i++)\n"
                   "        s[threadIdx.x ^ i & 255] += i;\n    x[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];\n"
                   "}\n"
                   "int main() { int *x; cudaMalloc(&x, 4 << 20); f<<<4096, 256>>>(x, 1 << 30); }\n")  # fmt: skip
        done = self.smp("kernel", "b.cu", "--no-findings", "--time-limit", "2", status=6)  # its blocks run side by side
        self.assertIn("hint: --blocks 8 runs 8 of its blocks\n", done.stderr)
        self.assertGreater(int(re.search(r"(\d+) of its 4096 blocks ran", done.stdout).group(1)), 2)

    @unittest.skipUnless(NVCC and NVDISASM and not SANITIZED, "no nvcc or nvdisasm, or a sanitizer")
    def test_a_launch_that_ends_in_one_thread_ends(self):
        self.write("a.cu", "__global__ void f(int *ready, int *x)\n{\n    int sum = threadIdx.x;\n"
                   "    if (blockIdx.x && *ready) return;  // side by side it is not yet\n"
                   "    for (int i = 0; i < (blockIdx.x ? 1 << 30 : 1 << 20); i++)\n        sum = sum * 5 ^ i;\n"
                   "    x[blockIdx.x * 32 + threadIdx.x] = sum;\n    if (!blockIdx.x) *ready = 1;\n}\n"
                   "int main()\n{\n    int *x; cudaMalloc(&x, 80000); cudaMemset(x, 0, 80000);\n"
                   "    f<<<512, 32>>>(x, x + 1024);\n}\n")  # fmt: skip
        for words in ((), ("--no-findings",)):
            with self.subTest(words):
                self.smp("kernel", "a.cu", "--time-limit", "4", *words)

    @unittest.skipUnless(NVCC and not SANITIZED, "no nvcc, or a sanitizer")
    def test_launches_that_a_gpu_refuses(self):
        told = self.smp("kernel", os.path.join(ROOT, "tests", "lab", "runtime", "limits.cu"), "--code", "ptx").stdout
        self.assertIn("a block of 128 threads cannot be launched: bound may have 64", told)
        self.assertNotIn("line ", told.split("counts of")[0])
        self.assertRegex(told, r"(?m)^4 launches of ")
        self.assertIn("note  bound: refused, and the program asked", told)


if __name__ == "__main__":
    unittest.main()
