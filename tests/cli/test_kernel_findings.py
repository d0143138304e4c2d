"""smempipe kernel: what it finds in kernels of one mistake each (tests/lab/findings/mistakes*.cu), and that it finds
nothing in right ones that look alike (right*.cu)."""
import collections
import json
import os
import re
import shutil
import subprocess
import unittest

from harness import ROOT, CliCase

FINDINGS = os.path.join(ROOT, "tests", "lab", "findings")
NVCC = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
FUNCTIONS = {"put": "in_functions", "get": "in_functions"}  # whose lines are those of a kernel that calls them


def marked(name):
    """{kernel: (kind, lines)}: a finding that the file's marks want."""
    marks, kernel = {}, None
    with open(os.path.join(FINDINGS, name)) as file:
        for number, line in enumerate(file, 1):
            begins = re.search(r"__(?:global|device)__ \w+ (\w+)\(", line)
            kernel = begins.group(1) if begins else kernel
            mark = re.search(r"//! (\w+)( twice)?", line)
            if mark:
                kind, lines = marks.setdefault(FUNCTIONS.get(kernel, kernel), (mark.group(1), []))
                lines += [number] * (2 if mark.group(2) else 1)
    return {kernel: (kind, sorted(lines)) for kernel, (kind, lines) in marks.items()}


@unittest.skipUnless(NVCC, "no nvcc")
class Findings(CliCase):
    def findings(self, name, *arguments):
        """{kernel: {(kind, lines)}} of a whole program."""
        text = self.smp("kernel", os.path.join(FINDINGS, name), "--code", "ptx", "--json", *arguments).stdout
        found = collections.defaultdict(set)
        for kernel in json.loads(text)["kernels"]:
            self.assertIsNone(kernel["stopped"], kernel["kernel"])
            for f in kernel["findings"]:
                places = [f[at] for at in ("at", "other") if at in f]
                found[kernel["kernel"]].add((f["kind"], *sorted(place["line"] for place in places)))
            found[kernel["kernel"]] |= set()
        return found

    def test_each_mistake_is_told_with_its_lines(self):
        count = 0
        for name, programs in (("mistakes.cu", "01234"), ("mistakes_warps.cu", "0")):
            wanted, found = marked(name), collections.defaultdict(set)
            for which in programs:  # a GPU runs nothing behind the last four
                for kernel, findings in self.findings(name, "--", which).items():
                    found[kernel] |= findings
            self.assertEqual(sorted(set(wanted) - set(found)), [])
            missed = {kernel for kernel, (kind, lines) in wanted.items() if (kind, *lines) not in found[kernel]}
            self.assertEqual(missed, set())
            count += len(wanted)
        self.assertGreaterEqual(count, 60)

    def test_a_kernel_s_heap_is_as_large_as_told_and_knows_what_was_freed(self):
        """A GPU notices no read of freed memory, so the program goes on; it is no other buffer's either."""
        self.write("a.cu", """
            #include <cstdio>
            __global__ void large(int *o, size_t bytes) { void *p = malloc(bytes); *o = p != nullptr; free(p); }
            __global__ void after(int *o)
            {
                int *p = (int *)malloc(64), *q;
                p[0] = 1;
                free(p);
                q = (int *)malloc(64);
                *o = q[0] = 2 + (p == q);
                *o = *o * 10 +
                     p[0];
                free(q);
            }
            __global__ void twice(int *o)
            {
                int *p = (int *)malloc(64 + *o);
                free(p);
                if (o)
                    free(p);
            }
            int main(int argc, char **)
            {
                int *o, h[4];
                size_t heap;
                const size_t ask = (8 << 20) + 1;
                cudaMalloc(&o, 4);
                if (argc > 1)
                    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 * ask);
                cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
                large<<<1, 1>>>(o, ask - 1), cudaMemcpy(h, o, 4, cudaMemcpyDefault);
                large<<<1, 1>>>(o, ask), cudaMemcpy(h + 1, o, 4, cudaMemcpyDefault);
                h[2] = cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 * ask); // too late
                after<<<1, 1>>>(o), cudaMemcpy(h + 3, o, 4, cudaMemcpyDefault);
                printf("%zu %d %d %d %d\\n", heap >> 20, h[0], h[1], h[2], h[3] / 10);
                twice<<<1, 1>>>(o);
                printf("%d\\n", cudaDeviceSynchronize());
            }""")
        told = self.smp("kernel", "a.cu", "--code", "ptx", status=1).stdout
        self.assertTrue(told.startswith("8 1 0 1 2\n719\n"), told)
        larger = self.smp("kernel", "a.cu", "--code", "ptx", "--", "larger", status=1).stdout
        self.assertTrue(larger.startswith("16 1 1 1 2\n719\n"), larger)
        self.assertIn("a.cu:12 thread 0,0,0, block 0,0,0: reads 4 bytes of a buffer of 64 bytes that free has freed",
                      told)  # fmt: skip
        self.assertRegex(told, r"thread 0 frees 0x\w+, which was freed before \(.*a.cu:20\)")

    def test_what_a_finding_says(self):
        self.write("a.cu", """
            #include <cassert>
            #include <cooperative_groups.h>
            #include <cstdio>
            __global__ void grid(int *o) { cooperative_groups::this_grid().sync(); *o = 1; }
            __global__ void wrong(int *o) { assert(*o == 7); }
            __global__ void before(int *o)
            {
                __shared__ int s[32];
                s[threadIdx.x] = 1;
                __syncthreads();
                o[threadIdx.x] = s[(int)threadIdx.x - 1];
            }
            __global__ void print(const char *bad)
            {
                __shared__ char s[2];
                s[0] = 'x', s[1] = 0;
                printf("[%s] [%s] [%s]\\n", bad, s, (const char *)0);
            }
            int main(int, char **words)
            {
                int *o;
                cudaMalloc(&o, 128), cudaMemset(o, 0, 128);
                switch (*words[1]) {
                case 'g': grid<<<2, 1>>>(o); break;
                case 'w': wrong<<<1, 1>>>(o); break;
                case 'b': before<<<1, 32>>>(o); break;
                default: print<<<1, 1>>>((const char *)0x12345);
                }
                cudaDeviceSynchronize();
            }""")
        told = {w: self.smp("kernel", "a.cu", "--code", "ptx", "--", "-O3", "--", w, status=(0, 1)) for w in "gwbp"}
        self.assertRegex(told["g"].stderr, r"thread 0 traps: grid.sync\(\) .* cudaLaunchCooperativeKernel\n")
        self.assertRegex(told["w"].stderr, r"a.cu:6: error: .*assertion '\*o == 7' fails in thread 0\n")
        self.assertIn("reads 4 bytes at byte -4 of shared memory, of which the block has 128\n", told["b"].stdout)
        self.assertIn("[(no text at 0x12345)] [x] [(null)]\n", told["p"].stdout)

    def test_ptx_without_lines_has_its_own(self):
        self.write("a.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n"
                            ".visible .entry k(.param .u64 p) {\n.reg .b64 d<3>;\nst.global.u64 [d1], d1;\n"
                            "L: bra L;\n}\n")
        run = ["kernel", "a.ptx", "--only", "k", "--grid", "1", "--block", "1", "--args", "p=f32[1]"]
        told = self.smp(*run, "--code", "ptx", status=1).stdout
        self.assertIn("  bounds  line 6 of the PTX thread 0,0,0", told)
        self.write("a.ptx", (self.folder / "a.ptx").read_text().replace("st.global.u64 [d1], d1;", ""))
        self.assertIn("it waits here for ever for nothing: it accesses no memory",
                      self.smp(*run, "--code", "ptx", status=1).stdout)  # fmt: skip

    def test_a_line_that_reads_and_writes_beyond_is_told_twice(self):
        self.write("a.cu", "__global__ void f(const float *x, float *y, int n)\n{\n"
                   "    if (threadIdx.x <= n)\n        y[threadIdx.x] = x[threadIdx.x];\n}\n"
                   "int main() { float *x, *y; cudaMalloc(&x, 256); cudaMalloc(&y, 256); cudaMemset(x, 0, 256);\n"
                   "    for (int i = 0; i < 5; i++) f<<<1, 96>>>(x, y, 64); }\n")  # fmt: skip
        told = self.smp("kernel", "a.cu", "--code", "ptx").stdout
        for what in "reads", "writes":
            self.assertEqual(len(re.findall(rf"bounds .*{what} 4 bytes 0 bytes past the end", told)), 1, told)

    def test_the_first_screen_has_each_kind_of_each_kernel(self):
        wanted = {(kind, kernel) for kernel, found in self.findings("mistakes.cu").items() for kind, *_ in found}
        told = self.smp("kernel", os.path.join(FINDINGS, "mistakes.cu"), "--code", "ptx").stdout
        shown = set(re.findall(r"(?m)^  (\w+)  mistakes\.cu:[^,]*, (\w+)", told))
        self.assertGreater(len(wanted), 40)
        self.assertEqual(wanted - shown, set())

    def test_nothing_is_told_of_right_kernels(self):
        count = 0
        for name in ("right.cu", "right_warps.cu"):
            found = self.findings(name, "--fail-on", "races,uninitialised,bounds,barriers,leaks")
            self.assertEqual({kernel: told for kernel, told in found.items() if told}, {})
            count += len(found)
        self.assertGreaterEqual(count, 60)

    @unittest.skipUnless(shutil.which("addr2line"), "no addr2line: binutils")
    def test_each_mistake_of_the_host_is_told_with_its_lines(self):
        wanted, keys, others = {}, {}, {}
        with open(os.path.join(FINDINGS, "host.cu")) as file:
            for number, line in enumerate(file, 1):
                mark, other = re.search(r"//! (\w+) ?(.*)", line), re.search(r"//= (.*)", line)
                if mark:
                    wanted[number], keys[number] = mark.group(1), mark.group(2)
                others.update({key: number for key in other.group(1).split(", ")} if other else {})
        text = self.smp("kernel", os.path.join(FINDINGS, "host.cu"), "--code", "ptx", "--json", "--fail-on", "leaks",
                        status=7).stdout
        (host,) = [kernel for kernel in json.loads(text)["kernels"] if kernel["code"] == "host"]
        found = {f["at"]["line"]: (f["kind"], f.get("other", {}).get("line")) for f in host["findings"]}
        self.assertEqual(found, {line: (kind, others.get(keys[line])) for line, kind in wanted.items()})
        self.assertEqual({os.path.basename(f["at"]["file"]) for f in host["findings"]}, {"host.cu"})

    def host(self, *options):
        """host.cu as a program in the folder."""
        done = subprocess.run([NVCC, "-cudart", "shared", "-arch=sm_80", *options, "-o", self.folder / "host",
                               os.path.join(FINDINGS, "host.cu")])  # fmt: skip
        self.assertEqual(done.returncode, 0)
        return "./host"

    @unittest.skipUnless(shutil.which("addr2line"), "no addr2line: binutils")
    def test_a_program_of_a_relative_name_has_the_lines_of_its_host(self):
        program = self.host("-Xcompiler", "-g1")
        text = self.smp("kernel", program, "--code", "ptx").stdout
        for told in ("cudaMemcpyToSymbol of 2048 bytes at byte 0 of a symbol of 1024 bytes: 1024 beyond its end",
                     r"cudaMemset of 4 bytes 0 bytes past the end of a buffer \(1024 bytes\)",
                     "cudaMemset of 256 bytes, whose device address is the host's: cudaMalloc gives one",
                     "cudaMemset2D of 4696 bytes at byte 0 of a buffer of 4096 bytes: 600 beyond its end",
                     "cudaMemcpy2D of 4097 bytes at byte 0 of a buffer of 4096 bytes: 1 beyond its end"):  # fmt: skip
            self.assertRegex(text, rf"copy  host.cu:\d+(?: and host.cu:\d+)?: {told}\n")

    def test_findings_without_lines_are_told_apart_by_their_words(self):
        self.smp("kernel", self.host(), "--code", "ptx", "--sarif", "a.sarif")
        results = json.loads((self.folder / "a.sarif").read_text())["runs"][0]["results"]
        frees = [result["occurrenceCount"] for result in results if result["ruleId"] == "free"]
        self.assertEqual(frees, [1, 1, 1])

    def test_leaks_are_told_on_request(self):
        text = self.smp("kernel", os.path.join(FINDINGS, "host.cu"), "--code", "ptx").stdout
        self.assertIn("copy  host.cu", text)
        self.assertNotIn("leak", text)

    def test_what_kernels_allocate_is_a_leak(self):
        self.write("a.cu", "__global__ void f(int *x)\n{\n    int *p = (int *)malloc(16 + 4 * threadIdx.x);\n"
                   "    *p = *x;\n"
                   "    if (threadIdx.x > 2) free(p);\n}\n"
                   "int main() { int *x; cudaMallocManaged(&x, 4); f<<<1, 32>>>(x); cudaFree(x); }\n")  # fmt: skip
        text = self.smp("kernel", "a.cu", "--code", "ptx", "--fail-on", "leaks", status=7).stdout
        self.assertIn("60 bytes that kernels took by malloc are never freed (buffers: 3)", text)

    def test_a_race_of_blocks_names_both(self):
        path = os.path.join(FINDINGS, "mistakes.cu")
        text = self.smp("kernel", path, "--only", "halo_of_the_next_block", "--grid", "2", "--block", "128", "--args",
                        "x=i32[256]", "--code", "ptx", "--fail-on", "races", status=7).stdout
        self.assertRegex(text, r"race  mistakes.cu:\d+ thread 0,0,0 and mistakes.cu:\d+ thread 127,0,0, "
                               r"block 1,0,0 and 0,0,0: one block reads and another writes byte 508 of 'x'")


if __name__ == "__main__":
    unittest.main()
