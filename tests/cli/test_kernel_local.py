"""smempipe kernel: local memory, which holds arrays that are indexed by variables and registers that ptxas spills."""
import json
import os
import shutil
import tempfile
import unittest

from harness import CliCase

TOOLS = [shutil.which(name, path=os.environ["PATH"] + ":/usr/local/cuda/bin") for name in ("ptxas", "nvdisasm", "nvcc")]

# 8 blocks an SM leave 32 registers a thread.
SOURCE = """__global__ void __launch_bounds__(256, 8) spills(float *x, int n)
{
    float v[48];
    for (int k = 0; k < 48; k++)
        v[k] = x[threadIdx.x + k * n];
    for (int j = 0; j < n; j++)
        for (int k = 0; k < 48; k++)
            v[k] = v[k] * v[(k + 7) % 48] + v[(k + 13) % 48];
    for (int k = 0; k < 48; k++)
        x[threadIdx.x + k * n] = v[k];
}
__global__ void array(float *x, int n)
{
    float v[16];
    for (int k = 0; k < 16; k++)
        v[(k * n) & 15] = x[k];
    x[threadIdx.x] = v[threadIdx.x & 15] + v[n & 15];
}
"""


@unittest.skipUnless(all(TOOLS), "no nvcc, ptxas or nvdisasm")
class Local(CliCase):
    def launch(self, kernel, *options, status=0, grid="1", block="32"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "local.cu")
            with open(path, "w") as file:
                file.write(SOURCE)
            return self.smp("kernel", path, "--only", kernel, "--grid", grid, "--block", block, "--args",
                            "x=f32[4096] n=3", *options, status=status).stdout

    def rows(self, kernel, *options):
        found = json.loads(self.launch(kernel, "--json", *options))["kernels"][0]
        return found, [row for row in found["rows"] if row["space"] == "local"]

    def test_spills_are_rows_and_fail_on_request(self):
        kernel, rows = self.rows("spills")
        memory = kernel["local_memory"]
        self.assertGreater(memory["spilled_bytes"], 100)
        self.assertGreaterEqual(memory["bytes"], memory["spilled_bytes"])
        self.assertGreater(memory["spill_load_bytes"], memory["spill_store_bytes"] // 2)
        self.assertTrue(rows and all(row["spill"] for row in rows))
        for row in rows:  # all lanes at one place: a word of each lies together
            self.assertEqual(row["sectors"], row["sectors_ideal"])
            self.assertEqual(row["bytes"], 32 * row["width"] * row["instructions"])
        self.assertIn("registers spilled to local memory", self.launch("spills", "--fail-on", "spills", status=7))

    def test_spills_have_a_price(self):
        found = json.loads(self.launch("spills", "--time", "--what-if", "--json", grid="264", block="256"))
        told = found["launches"][0]["predicted"]
        saved = [row for row in told["mended"] if row["access"] in ("local load", "local store")]
        self.assertGreater(sum(row["us_saved"] for row in saved), 0.05 * told["us"], saved)

    def test_an_array_is_no_spill(self):
        kernel, rows = self.rows("array")
        self.assertEqual((kernel["local_memory"]["bytes"], kernel["local_memory"]["spilled_bytes"]), (64, 0))
        loads = [row for row in rows if row["op"] == "load"]
        self.assertTrue(loads and not any(row["spill"] for row in rows))
        # lanes at 16 places of one row of words each: 8 lanes share a sector where they are at one
        self.assertGreater(sum(row["sectors"] for row in loads), sum(row["sectors_ideal"] for row in loads))
        self.assertIn("64 bytes of local memory a thread", self.launch("array", "--fail-on", "spills"))

    def test_ptx_cannot_tell_spills(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "local.cu")
            with open(path, "w") as file:
                file.write(SOURCE)
            said = self.smp("kernel", path, "--only", "spills", "--grid", "1", "--block", "32", "--args",
                            "x=f32[4096] n=3", "--code", "ptx", "--fail-on", "spills", status=1).stderr
        self.assertIn("--fail-on spills: spills was counted from PTX", said)


if __name__ == "__main__":
    unittest.main()
