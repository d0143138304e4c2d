"""smempipe kernel's tips: applied to the source (--fix) and counted again, they lower what a kernel costs, by what they
told; and what --fix is not sure to change right, it leaves."""
import json
import os
import re
import shutil
import unittest

from harness import ROOT, CliCase

TOOLS = [shutil.which(name, path=os.environ["PATH"] + ":/usr/local/cuda/bin") for name in ("ptxas", "nvdisasm", "nvcc")]
KERNELS = os.path.join(ROOT, "tests", "lab", "tips", "kernels.cu")
ONE = "--only k --grid 1 --block 32x4 --args out=f32[1024]".split()

# A transpose through `tile`, with a declaration and a body of one's own.
SOURCE = """#include "n.h"
{before}
__global__ void k(float *out)
{{
    {declaration}
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 4)
        {store};
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 4)
        out[y * 32 + x] = {load};
}}
"""

# Accesses wider than an element, which an index must keep whole; AT stands for the tip.
WIDE = """#include <cuda_fp16.h>
#include <mma.h>
#ifndef AT
#define AT(i) (i)
#endif
template <typename T> __global__ void turn(T *out)
{
    extern __shared__ unsigned char raw[];
    for (int y = threadIdx.y; y < 32; y += 8)
        *(T *)(raw + AT((y * 32 + threadIdx.x) * (int)sizeof(T))) = y;
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        out[y * 32 + threadIdx.x] = *(T *)(raw + AT((threadIdx.x * 32 + y) * (int)sizeof(T)));
}
__global__ void rows(unsigned *out)
{
    __shared__ __align__(16) half s[2048];
    const int t = threadIdx.x;
    for (int i = t; i < 1024; i += 32)
        s[AT(i)] = i;
    __syncwarp();
    unsigned r[4], at = (unsigned)__cvta_generic_to_shared(&s[AT(t % 16 * 64 + t / 16 * 8)]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
    out[t] = r[0] + r[1] + r[2] + r[3];
}
__global__ void fragment(float *out)
{
    using namespace nvcuda;
    __shared__ __align__(32) half s[256];
    for (int i = threadIdx.x; i < 256; i += 32)
        s[i] = i;
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::load_matrix_sync(a, s, 16);
    out[threadIdx.x] = a.x[0];
}
int main()
{
    void *out;
    cudaMalloc(&out, 8192);
    turn<float><<<1, dim3(32, 8), 12288>>>((float *)out);
    turn<double><<<1, dim3(32, 8), 12288>>>((double *)out);
    rows<<<1, 32>>>((unsigned *)out);
    fragment<<<1, 32>>>((float *)out);
    return cudaDeviceSynchronize();
}
"""


def source(declaration="__shared__ float tile[N][N];", store="tile[y][x] = x + y * 32", load="tile[x][y]", before=""):
    return SOURCE.format(declaration=declaration, store=store, load=load, before=before)


def total(kernel, what):
    return sum(row.get(what, 0) for row in kernel["rows"])


@unittest.skipUnless(all(TOOLS), "no nvcc, ptxas or nvdisasm")
class Tips(CliCase):
    def setUp(self):
        super().setUp()
        self.write("n.h", b"#define N 32\n")

    def fix(self, text, *options, status=0, name="a.cu"):
        self.write(name, text.encode())
        return self.smp("kernel", name, *ONE, "--fix", *options, status=status)

    def test_addresses_that_were_read_have_no_tip_without_findings_either(self):
        self.write("a.cu", "__global__ void h(const unsigned char *in, int *h)\n"
                           "{ atomicAdd(&h[in[threadIdx.x]], 1); }\n"
                           "int main() { unsigned char *d, b[256]; int *o; cudaMalloc(&d, 256); cudaMalloc(&o, 1024);\n"
                           "for (int i = 0; i < 256; i++) b[i] = i * 7;\n"
                           "cudaMemcpy(d, b, 256, cudaMemcpyHostToDevice); cudaMemset(o, 0, 1024);\n"
                           "h<<<1, 256>>>(d, o); cudaFree(d); cudaFree(o); }\n")
        for words in ((), ("--no-findings",)):
            self.assertNotIn("to mend", self.smp("kernel", "a.cu", *words).stdout)

    def test_what_threads_took_by_malloc_has_no_tip(self):
        self.write("a.cu", "__global__ void own(int n)\n{\nint *p = (int *)malloc(64);\nfor (int i = 0; i < n; i++)\n"
                           "p[i] = i;\nfree(p);\n}\n"
                           "int main() { own<<<1, 64>>>(8); return cudaDeviceSynchronize(); }\n")
        for words in ((), ("--no-findings",)):
            done = self.smp("kernel", "a.cu", "--json", *words)
            self.assertIsNone(json.loads(done.stdout)["kernels"][0]["look_at"]["advice"], words)

    def test_twenty_kernels_and_more_cost_less(self):
        shutil.copy(KERNELS, self.folder / "a.cu")
        done = self.smp("kernel", "a.cu", "--fix", "--json")
        before = {k["kernel"]: k for k in json.loads(done.stdout)["kernels"]}
        after = {k["kernel"]: k for k in json.loads(self.smp("kernel", "a.fixed.cu", "--json").stdout)["kernels"]}
        self.assertEqual(list(before), list(after))
        lowered = []
        for name, kernel in before.items():
            was, now = total(kernel, "wavefronts"), total(after[name], "wavefronts")
            self.assertLessEqual(now, was, name)
            mended = after.get(name + "_mended")
            told = [int(text) for text in re.findall(r"wavefronts become (?:about )?(\d+)", json.dumps(kernel["tips"]))]
            if mended:
                advice = kernel["look_at"]["advice"]
                told = int(re.search(r"sectors become (\d+)", advice)[1])
                self.assertEqual(told, total(mended, "sectors"), (name, advice))
                self.assertLess(told, total(kernel, "sectors"))
                lowered.append(name)
            elif now < was:
                gain = sum(was - t for t in told)  # compilers join other accesses where indices change
                apart = 0.5 * gain + 1 if "about" in str(kernel["tips"]) else 1
                self.assertLess(abs(was - now - gain), apart, name)
                lowered.append(name)
        self.assertGreaterEqual(len(lowered), 20, set(before) - set(lowered))
        self.assertIsNone(before["by_data"]["look_at"]["advice"])
        self.assertIn("threads lie 32 bytes apart", before["by_width"]["look_at"]["advice"])
        self.assertRegex(done.stderr, r"column_float: 64 wavefronts in shared memory, 1056 before; the same bytes")
        self.assertNotIn("other results", done.stderr)

    def test_the_declaration_is_named_and_changed(self):
        done = self.fix(source())
        self.assertIn("tile[N][N] -> tile[N][N + 1] (a.cu:5): the kernel's 1056 wavefronts become 64", done.stdout)
        self.assertIn("k: 64 wavefronts in shared memory, 1056 before; the same bytes", done.stdout)
        self.assertEqual((self.folder / "a.fixed.cu").read_text(), source().replace("tile[N][N]", "tile[N][N + 1]"))
        self.assertIn("the file exists already", self.fix(source(), status=4).stderr)
        self.fix(source(), "--force", "-q")

    def test_what_is_not_sure_is_left(self):
        for text, why in (
            (source(before="#define AT(i, j) tile[i][j]\n", load="AT(x, y)"), "a directive of the preprocessor"),
            (source(declaration="extern __shared__ float tile[];", store="tile[y * 32 + x] = x",
                    load="tile[x * 32 + y]"), "declared extern"),
            (source(load="(&tile[0][0])[x * 32 + y]"), "line 11 takes an address in tile"),
            (source(load="((float *)tile)[x * 32 + y]"), "line 11 uses tile without all its indices"),
            (source(declaration="__shared__ float tile[1024];", store="tile[y * 32 + x] = x",
                    load="tile[f (x) * 32 + y]", before="__device__ int f(int x) { return x; }"),
             "line 11 has an index of tile that cannot be written"),
            (source(declaration="DECLARE(tile)", before="#define DECLARE(a) __shared__ float a[N][N];"),
             "its declaration is not found"),
        ):  # fmt: skip
            shared = ["--shared", "4096"] if "extern" in text else []
            error = self.fix(text, *shared, status=1).stderr
            self.assertIn("--fix wrote nothing: tile: ", error)
            self.assertIn(why, error)
            self.assertFalse((self.folder / "a.fixed.cu").exists())

    def test_nothing_to_gain_is_no_mistake(self):
        done = self.fix(source(load="tile[y][x]"))
        self.assertIn("--fix wrote nothing: no other layout", done.stdout)
        self.assertNotIn("to avoid it", done.stdout)
        self.assertFalse((self.folder / "a.fixed.cu").exists())

    def test_a_tip_costs_no_other_kernel_of_the_declaration(self):
        """The padded one has no conflicts: one element more would give it some, two do not; and so says --fix."""
        text = """template <int PAD> __device__ void turn(float *out)
{
    __shared__ float tile[32][32 + PAD];
    for (int y = threadIdx.y; y < 32; y += 4)
        tile[y][threadIdx.x] = y;
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 4)
        out[y * 32 + threadIdx.x] = tile[threadIdx.x][y];
}
__global__ void tiled(float *out) { turn<0>(out); }
__global__ void padded(float *out) { turn<1>(out); }
int main()
{
    float *out;
    cudaMalloc(&out, 4096);
    tiled<<<1, dim3(32, 4)>>>(out);
    padded<<<1, dim3(32, 4)>>>(out);
    cudaFree(out);
}
"""
        self.write("a.cu", text.encode())
        done = self.smp("kernel", "a.cu", "--fix")
        self.assertIn("tile[32][32 + PAD + 2] (a.cu:3): the kernel's 1056 wavefronts become 96", done.stdout)
        self.assertIn("padded: 64 wavefronts in shared memory, 64 before; the same bytes", done.stdout)

    def test_what_is_wider_than_an_element_stays_whole(self):
        self.write("a.cu", WIDE.encode())
        before = json.loads(self.smp("kernel", "a.cu", "--json").stdout)["kernels"]
        self.assertEqual([len(k["tips"]) for k in before], [1, 1, 1, 0])  # rows of wmma lie evenly apart
        for i, kernel in enumerate(before[:3]):
            tip = kernel["tips"][0]["tip"]
            period, pad, told = re.search(r"i / (\d+) \* (\d+) .* become about (\d+)", tip).groups()
            self.write("b.cu", f"#define AT(i) ((i) + (i) / {period} * {pad})\n{WIDE}".encode())
            after = json.loads(self.smp("kernel", "b.cu", "--json").stdout)["kernels"][i]
            self.assertEqual(total(after, "wavefronts"), int(told), tip)
            self.assertEqual(after["findings"], [])

    def test_two_arrays_of_one_line_and_a_name_in_a_text(self):
        """A line that accesses both is told as of one; and a directive uses no array by a text or a comment."""
        text = source(before='#define SAY(x) printf("tile %s" /* other */, x)',
                      declaration="__shared__ float tile[N][N];\n    __shared__ float other[N][N];",
                      store="tile[y][x] = other[y][x] = x + y * 32", load="tile[x][y] * other[x][y]")  # fmt: skip
        self.assertNotIn("left as it is", self.fix(text).stdout)
        fixed = (self.folder / "a.fixed.cu").read_text()
        self.assertEqual(fixed, text.replace("tile[N][N]", "tile[N][N + 1]").replace("other[N][N]", "other[N][N + 1]"))

    def test_a_tip_that_leaves_most_as_it_is_is_none(self):
        """A bitonic sort: a pad would take 47 of its 758 conflicts."""
        self.write("a.cu", b"""__global__ void k(int *a)
{
    __shared__ int s[512];
    const int t = threadIdx.x;
    s[t] = a[t];
    s[t + 256] = a[t + 256];
    for (int k = 2; k <= 512; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            const int i = 2 * t - (t & (j - 1)), x = s[i], y = s[i + j];
            if ((x > y) == ((i & k) == 0)) {
                s[i] = y;
                s[i + j] = x;
            }
        }
    __syncthreads();
    a[t] = s[t];
    a[t + 256] = s[t + 256];
}
""")
        one = ["--only", "k", "--grid", "1", "--block", "256", "--args", "a=s32[512]"]
        [kernel] = json.loads(self.smp("kernel", "a.cu", *one, "--json").stdout)["kernels"]
        self.assertGreater(total(kernel, "conflicts"), 100)
        self.assertEqual(kernel["tips"], [])

    def test_names_links_and_folders(self):
        self.fix(source(), name="a b'$.cu")
        self.assertTrue((self.folder / "a b'$.fixed.cu").exists())
        (self.folder / "link.cu").symlink_to("a b'$.cu")
        (self.folder / "b.fixed.cu").symlink_to(self.write("b.cu", source()))
        self.smp("kernel", "b.cu", *ONE, "--fix", "--force", status=4)
        self.assertEqual((self.folder / "b.cu").read_text(), source())
        self.assertIn("is a link", self.smp("kernel", "link.cu", *ONE, "--fix", status=2).stderr)
        self.assertIn("'n.h' is no", self.smp("kernel", "n.h", *ONE, "--fix", status=2).stderr)
        self.assertIn("--compare", self.smp("kernel", "a b'$.cu", *ONE, "--fix", "--compare", status=2).stderr)

    def test_two_arrays_on_a_line_and_one_alone_changes(self):
        text = source(declaration="__shared__ float other[32], tile[32][32]; other[x0] = 1;").replace(
            "{\n    __sh", "{\n    const int x0 = threadIdx.x;\n    __sh")  # fmt: skip
        self.fix(text)
        self.assertEqual((self.folder / "a.fixed.cu").read_text(), text.replace("tile[32][32]", "tile[32][33]"))


if __name__ == "__main__":
    unittest.main()
