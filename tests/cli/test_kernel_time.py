"""smempipe kernel --time: --fail-on slower=, and launches whose time is not told. Where there is nvcc and nvdisasm."""
import json
import re
import shutil
import unittest

from harness import SANITIZED, CliCase

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
NVDISASM = shutil.which("nvdisasm") or shutil.which("/usr/local/cuda/bin/nvdisasm")

SOURCE = """#include <cuda_runtime.h>
__global__ void work(float *x, int rounds) {
    float v = x[threadIdx.x];
    for (int i = 0; i < rounds; i++) v = v * 1.5f + 1;
    x[threadIdx.x] = v;
}
__global__ void least(float *x, int *to) {          // a float's atomic minimum
    int old = *to;
    while (x[threadIdx.x] < __int_as_float(old)) {
        int seen = old;
        old = atomicCAS(to, seen, __float_as_int(x[threadIdx.x]));
        if (old == seen) break;
    }
}
__global__ void shorten(int *next) {                // paths, that all blocks walk and shorten
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (next[i] && next[next[i]]) next[i] = next[next[i]];
}
__global__ void sum(const float *x, float *of_blocks, unsigned *count) { // the last block adds what others left
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 4096; i += gridDim.x * blockDim.x) s += x[i];
    of_blocks[blockIdx.x * blockDim.x + threadIdx.x] = s;
    __threadfence();
    __shared__ unsigned before;
    if (!threadIdx.x) before = atomicAdd(count, 1);
    __syncthreads();
    for (int i = threadIdx.x; before == gridDim.x - 1 && i < gridDim.x * blockDim.x; i += blockDim.x)
        if (i != threadIdx.x) of_blocks[threadIdx.x] += of_blocks[i];
}
__global__ void counted(float *x, int rounds) {     // one place again and again, but so often as the launch says
    float s = 0;
    for (int i = 0; i < rounds; i++) s += __ldcg(x);
    x[threadIdx.x + 32] = s;
}
__global__ void flagged(float *x, int *flag) {      // others clear the flag
    while (*(volatile int *)flag) x[threadIdx.x + 32] = 1;
}
int main() {
    static int next[1024];
    for (int i = 128; i < 1024; i++) next[i] = i - 128; // each block's threads point to the block before
    float *x; int *p;
    cudaMalloc(&x, 1 << 16);
    cudaMalloc(&p, sizeof next);
    cudaMemset(x, 0, 1 << 16);
    work<<<1, 64>>>(x, 64);
    least<<<4, 64>>>(x, p);
    sum<<<8, 64>>>(x, x + 4096, (unsigned *)p);
    cudaMemset(p, 0, sizeof next);
    counted<<<1, 32>>>(x, 50);
    flagged<<<1, 32>>>(x, p);
    cudaMemcpy(p, next, sizeof next, cudaMemcpyHostToDevice);
    shorten<<<8, 128>>>(p);
    return cudaDeviceSynchronize();
}
"""


@unittest.skipUnless(NVCC and NVDISASM and not SANITIZED, "no nvcc, no nvdisasm, or a sanitizer")
class Time(CliCase):
    def test_what_is_slower_fails_and_what_others_decide_has_no_time(self):
        (self.folder / "a.cu").write_text(SOURCE)
        (self.folder / "b.cu").write_text(SOURCE.replace("(x, 64)", "(x, 6400)"))
        base = self.smp("kernel", "a.cu", "--time", "--json").stdout
        (self.folder / "base.json").write_text(base)
        fails = ("--time", "-q", "--fail-on", "slower=base.json:10%")
        self.assertEqual(self.smp("kernel", "a.cu", *fails).stdout, "")
        error = self.smp("kernel", "b.cu", *fails, status=7).stderr
        self.assertRegex(error, r"slower: work takes [\d.]+ us, \d+(\.\d+)? % more than the [\d.]+ us in base.json")
        self.smp("kernel", "b.cu", *fails, "--sarif", "b.sarif", "--junit", "b.xml", status=7)
        [slower] = [one for one in json.loads((self.folder / "b.sarif").read_text())["runs"][0]["results"]
                    if one["ruleId"] == "slower"]
        self.assertIn("kernel work: takes", slower["message"]["text"])
        self.assertRegex((self.folder / "b.xml").read_text(),
                         'name="slower">\\s*<failure [^>]*>b.cu: .*kernel work: takes')
        names = base
        for name in ("work", "sum", "counted"):
            names = names.replace(f'"kernel": "{name}"', f'"kernel": "other_{name}"')
        nothing = "no kernel has a predicted time both here and in nothing.json"
        for text, status, said in (("{}", 3, 'it has no "kernels"'), (names, 2, nothing),
                                   ("not json", 3, "line 1 is not JSON")):
            (self.folder / "nothing.json").write_text(text)
            self.assertIn(said, self.smp("kernel", "a.cu", "--time", "-q", "--fail-on", "slower=nothing.json:10%",
                                         status=status).stderr)
        (self.folder / "other.json").write_text(base.replace('"kernel": "sum"', '"kernel": "add"'))
        told = self.smp("kernel", "a.cu", "--time", "-q", "--fail-on", "slower=other.json:10%").stderr
        for text in ("sum is not in other.json", "add was launched in other.json alone",
                     "least has no predicted time here"):
            self.assertIn(f"not compared: {text}\n", told)
        self.assertNotIn("work", told)
        self.assertRegex(self.smp("kernel", "a.cu", "--time=h200", *fails[1:], status=2).stderr,
                         r"base.json has times of h100, and --time predicts those of h200(.|\n)*--time=h100")
        why = {one["kernel"]: one["predicted"].get("not_modelled") for one in json.loads(base)["launches"]}
        self.assertRegex(why.pop("least"),
                         r"a loop of compare-and-swap in line \d+: its rounds depend on other threads")
        self.assertRegex(why.pop("flagged"), r"a loop in line \d+ that waits for other blocks")
        self.assertEqual(why, {"work": None, "sum": None, "counted": None,
                               "shorten": "it reads what other blocks write in the same launch"})

    def test_what_local_memory_holds_takes_nothing_from_the_reads_of_others(self):
        (self.folder / "a.cu").write_text("""
__global__ void local(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, c[64], sum = 0;
    for (int k = 0; k < 64; k++)
        c[k] = k;
    for (int k = 0; k < 16; k++)
        c[x[i + k * n] & 63] += k + 1;
    for (int k = 0; k < 64; k++)
        sum += c[k] * k;
    y[i] = sum;
}
int main() {
    const int n = 1 << 15;
    int *x, *y;
    cudaMalloc(&x, 16 * n * 4);
    cudaMalloc(&y, n * 4);
    cudaMemset(x, 1, 16 * n * 4);
    local<<<n / 256, 256>>>(x, y, n);
    return cudaDeviceSynchronize();
}
""")
        [launch] = json.loads(self.smp("kernel", "a.cu", "--time", "--json").stdout)["launches"]
        self.assertGreaterEqual(launch["predicted"]["memory"]["dram_read_bytes"], 0.99 * 16 * (1 << 15) * 4)

    def test_blocks_that_have_nothing_to_do_begin_one_after_another(self):
        (self.folder / "a.cu").write_text("""
__global__ void work(float *x, int rounds) {
    if (blockIdx.x % 132 || blockIdx.x > 264) return;
    float v = x[threadIdx.x];
    for (int i = 0; i < rounds; i++) v = v * 1.5f + 1;
    x[threadIdx.x] = v;
}
int main() {
    float *x;
    cudaMalloc(&x, 1024);
    cudaMemset(x, 0, 1024);
    work<<<265, 256>>>(x, 50000);
    work<<<132 * 300, 256>>>(x, 50000); // more than is recorded of each block
    return cudaDeviceSynchronize();
}
""")
        said = json.loads(self.smp("kernel", "a.cu", "--time", "--each", "--json").stdout)["launches"]
        few, many = (one["predicted"] for one in said)
        self.assertLess(few["us"], many["us"])
        self.assertLess(many["us"], 3 * few["us"])  # three of its blocks work, as of the other's
        self.assertLess(max(many["use"].values()), 1)

    def test_updates_that_wait_in_l2_keep_no_warp_and_those_that_have_no_room_there_do(self):
        (self.folder / "a.cu").write_text("""
__global__ void few(int *sum) { if (threadIdx.x % 32 == 0) atomicAdd(sum, threadIdx.x); }
__global__ void many(int *sum) {
    atomicAdd(sum + threadIdx.x % 32, threadIdx.x);
}
int main() {
    int *sum;
    cudaMalloc(&sum, 128);
    few<<<1024, 256>>>(sum);
    many<<<1024, 256>>>(sum);
    return cudaDeviceSynchronize();
}
""")
        launches = json.loads(self.smp("kernel", "a.cu", "--time", "--json").stdout)["launches"]
        stalls = {one["kernel"].split("(")[0]: one["predicted"]["stalls"] for one in launches}
        self.assertEqual({one["predicted"]["bound"] for one in launches}, {"atomics in one place"})
        self.assertLess(stalls["few"]["drain"], 0.1)
        self.assertGreater(stalls["many"]["drain"], 0.8)
        waits = {line["line"]: line.get("waits_for_line") for one in launches for line in one["predicted"]["lines"]}
        self.assertEqual(waits[5], 4)  # at the closing brace, for the atomics

    def test_a_wait_for_a_line_of_another_file_names_it(self):
        (self.folder / "part.h").write_text("__device__ void add(int *sum) {\n"
                                            "    atomicAdd(sum + threadIdx.x % 32, threadIdx.x);\n}\n")  # fmt: skip
        (self.folder / "a.cu").write_text('#include "part.h"\n__global__ void f(int *sum) {\n    add(sum);\n}\n'
                                          "int main() { int *x; cudaMalloc(&x, 128); f<<<1024, 256>>>(x); }\n")
        self.assertIn(": for what part.h:2 writes\n", self.smp("kernel", "a.cu", "--time").stdout)
        lines = json.loads(self.smp("kernel", "a.cu", "--time", "--json").stdout)["launches"][0]["predicted"]["lines"]
        waits = [(line["waits_for_file"].split("/")[-1], line["waits_for_line"]) for line in lines
                 if "waits_for_line" in line]  # fmt: skip
        self.assertEqual(waits, [("part.h", 2)])

    def test_constants_at_several_addresses_are_what_bounds(self):
        (self.folder / "a.cu").write_text("""__constant__ float c[1024];
__global__ void apart(float *o, int k) { float s = 0; for (int j = 0; j < k; j++) s += c[(threadIdx.x * 33 + j) & 1023];
    o[blockIdx.x * 256 + threadIdx.x] = s; }
int main() { float *o; cudaMalloc(&o, 1 << 20); apart<<<264, 256>>>(o, 64); }
""")
        launches = json.loads(self.smp("kernel", "a.cu", "--time", "--json").stdout)["launches"]
        self.assertEqual([one["predicted"]["bound"] for one in launches], ["replays of constants"])

    def test_what_the_time_leaves_out_is_told(self):
        (self.folder / "a.cu").write_text("""#include <cstdio>
__global__ void says(int *x) { if (x[threadIdx.x]) printf("%d", x[threadIdx.x]); }
__global__ void takes(int *x) { int *p = (int *)malloc(4); *p = x[threadIdx.x]; x[threadIdx.x] = *p + 1; free(p); }
int main() {
    int *x;
    cudaMalloc(&x, 128);
    cudaMemset(x, 0, 128);
    says<<<1, 32>>>(x);
    takes<<<1, 32>>>(x);
    return cudaDeviceSynchronize();
}
""")
        launches = json.loads(self.smp("kernel", "a.cu", "--time", "--json").stdout)["launches"]
        self.assertEqual([one["predicted"]["left_out"] for one in launches],
                         [None, "what malloc, free take on a GPU"])  # the first one prints nothing
        text = self.smp("kernel", "a.cu", "--time").stdout
        self.assertEqual(text.count("  left out of its time: what malloc, free take on a GPU\n"), 1)
        text = self.smp("kernel", "a.cu", "a.cu", "--time", "--compare").stdout
        self.assertEqual(text.count("; left out of its time: what malloc, free take on a GPU\n"), 2)
        self.assertEqual(text.split("\n  time  ")[1].count("\n  a.cu\n"), 2)

    def test_the_first_screen_says_which_kernels_have_no_time(self):
        (self.folder / "a.cu").write_text(SOURCE)
        text = self.smp("kernel", "a.cu", "--time").stdout
        self.assertRegex(text, r"\n  flagged  .* -\n")
        self.assertIn("predicted for an H100 at 1.98 GHz", text)
        self.assertRegex(text, r"\n  flagged: not modelled: a loop in line \d+ that waits for other blocks\n")

    def test_a_tip_that_leaves_conflicts_saves_no_more_than_it_does(self):
        """A pad leaves lines of 8 wavefronts, of 32, since others would take more: shared memory stays what bounds."""
        (self.folder / "a.cu").write_text("""
__global__ void skewed(float *out, const float *in, int n)
{
    __shared__ float tile[32][32];
    const int t = threadIdx.x;
    for (int j = threadIdx.y; j < 32; j += 8)
        tile[j][t] = in[j * 32 + t];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 4; k++)
            sum += tile[t][i + k & 31];
        for (int k = 1; k < 5; k++)
            sum += tile[t][i - k * t & 31] * tile[t][i + 7 - k * t & 31];
    }
    out[blockIdx.x * 256 + threadIdx.y * 32 + t] = sum;
}
int main()
{
    float *x;
    cudaMalloc(&x, 1 << 20);
    cudaMemset(x, 0, 1 << 20);
    skewed<<<528, dim3(32, 8)>>>(x + 2048, x, 32);
}
""")
        def told(name):
            return json.loads(self.smp("kernel", name, "--time", "--json").stdout)["launches"][0]["predicted"]

        before = told("a.cu")
        self.smp("kernel", "a.cu", "--fix", "-q")
        saved, saves = before["us"] - told("a.fixed.cu")["us"], before["mended"][0]["us_saved"]
        self.assertTrue(0.9 < saves / saved < 1.15, (saves, saved))

    def test_the_first_screen_begins_with_what_saves_most(self):
        """A tile's conflicts are more in number, the stores that lie apart take more time."""
        (self.folder / "a.cu").write_text("""
__global__ void naive(float *out, const float *in, int n)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    for (int y = blockIdx.y * 32 + threadIdx.y; y < blockIdx.y * 32 + 32; y += 8)
        out[x * n + y] = in[y * n + x];
}
__global__ void tiled(float *out, const float *in, int n)
{
    __shared__ float tile[32][32];
    for (int j = threadIdx.y; j < 32; j += 8)
        tile[j][threadIdx.x] = in[(blockIdx.y * 32 + j) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += 8)
        out[(blockIdx.x * 32 + j) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][j];
}
__global__ void one(float *x) { x[threadIdx.x] = 1; }
__global__ void two(float *x) { x[threadIdx.x] = 2; }
int main()
{
    const int n = 512;
    float *x;
    cudaMalloc(&x, 8 * n * n);
    cudaMemset(x, 0, 8 * n * n);
    tiled<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(x, x + n * n, n);
    naive<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(x, x + n * n, n);
    one<<<1, 32>>>(x);
    two<<<1, 32>>>(x);
    return cudaDeviceSynchronize();
}
""")
        text = self.smp("kernel", "a.cu", "--time").stdout
        lines = re.findall(r"^ +(\d+) % .* (\w+), saves ([\d.]+) us$", text, re.M)
        self.assertEqual([kernel for _, kernel, _ in lines], ["naive", "tiled"], text)
        self.assertGreater(float(lines[0][2]), float(lines[1][2]))
        self.assertLess(int(lines[0][0]), int(lines[1][0]))
        self.assertIn("to avoid the first: let neighbouring threads", text)

    def test_spills_that_are_not_counted_say_why(self):
        (self.folder / "a.cu").write_text("""#include <cooperative_groups.h>
__global__ void ones(int *x) { x[threadIdx.x] = 1; cooperative_groups::this_grid().sync(); }
int main() {
    int *x;
    cudaMalloc(&x, 128);
    void *arguments[] = {&x};
    return cudaLaunchCooperativeKernel((void *)ones, dim3(1), dim3(32), arguments, 0, 0);
}
""")
        error = self.smp("kernel", "a.cu", "-q", "--fail-on", "spills", status=1).stderr
        self.assertIn("its SASS is not counted: its blocks wait for each other, which is done with PTX alone", error)


if __name__ == "__main__":
    unittest.main()
