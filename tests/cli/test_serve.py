"""kernel --serve and compare --serve: an array with another pad is counted again, nothing else can be asked."""
import os
import shutil
import unittest

from chromium import Browser
from edit_case import EditCase
from harness import FAULTS, SAMPLES, SANITIZED
from pages import needs_browser

SOURCE = """#include "size.h"
#define OTHER twin
__global__ void columns(float *out, const float *in)
{
    __shared__ float tile[SIZE][SIZE];
    __shared__ float twin[SIZE * SIZE];
    #pragma unroll 1
    for (int i = 0; i < SIZE; i++) {
        tile[i][threadIdx.x] = in[i * SIZE + threadIdx.x];
        twin[i * SIZE + threadIdx.x] = in[i * SIZE + threadIdx.x];
    }
    __syncthreads();
    float sum = 0;
    #pragma unroll 1
    for (int i = 0; i < SIZE; i++)
        sum += tile[threadIdx.x][i];
    #pragma unroll 1
    for (int i = 0; i < SIZE; i++)
        sum += twin[threadIdx.x * SIZE + i];
    out[threadIdx.x] = sum;
}
"""
LAUNCH = "--only", "columns", "--grid", "1", "--block", "32", "--args", "out=f32[32] in=f32[1024]"


@unittest.skipUnless(shutil.which("nvcc"), "no nvcc here")
class Kernel(EditCase):
    def setUp(self):
        super().setUp()
        (self.folder / "src").mkdir()
        self.write("src/k.cu", SOURCE)
        self.write("src/size.h", "#define SIZE 32\n")

    def count(self, source=SOURCE, more=()):
        self.write("src/k.cu", source)
        self.serve("src/k.cu", *LAUNCH, "--serve", "-q", *more, command="kernel")
        self.state = self.told("state")
        return [array["name"] for array in self.state["arrays"]]

    @staticmethod
    def conflicts(told, array):
        (kernel,) = told["report"]["kernels"]
        rows = [row for row in kernel["rows"] if row.get("array") == array]
        assert kernel["source"] == "src/k.cu"
        return sum(row["conflicts"] for row in rows), {row["line"] for row in rows}, rows

    def test_a_pad_is_counted(self):
        names = self.count()
        before = sorted(os.listdir(self.folder / "src"))
        tile = names.index("tile")
        self.assertEqual(self.state["arrays"][tile]["sizes"], ["SIZE", "SIZE"])
        self.assertEqual(self.conflicts(self.state, "tile")[:2], (31 * 32, {9, 16}))
        for pad, conflicts in ((1, 0), (2, 32), (32, 31 * 32), (1, 0)):
            told = self.told("pad", array=tile, pad=pad)
            self.assertEqual(self.conflicts(told, "tile")[:2], (conflicts, {9, 16}), pad)
            self.assertEqual(self.conflicts(told, "twin")[0], 31 * 32)
        self.assertTrue(all(row["access"]["schedule"] for row in self.conflicts(told, "tile")[2]))
        self.assertEqual(sorted(os.listdir(self.folder / "src")), before)
        self.assertEqual(self.reads("src/k.cu"), SOURCE)
        self.assertEqual(self.stop()[0], 130)

    @unittest.skipIf(SANITIZED, "a sanitizer must be loaded first")
    def test_changed_sources_are_not_kept_in_the_users_cache(self):
        fault = dict(os.environ, LD_PRELOAD=FAULTS, SMP_FAULT="no-folders")
        done = self.smp("kernel", "src/k.cu", *LAUNCH, "--serve", "--no-open", "-q", status=4, env=fault, timeout=20)
        self.assertIn("set TMPDIR", done.stderr)

    def test_what_cannot_be_padded_is_told(self):
        names = self.count()
        told = self.told("pad", array=names.index("twin"), pad=1)
        self.assertIn("directive of the preprocessor has its name", told["message"])
        for array, pad in ((-1, 1), (len(names), 1), (0, 0), (0, 65), (0, -1), (1e300, 1e300), (0, "1")):
            self.assertIn("no such array", self.told("pad", array=array, pad=pad).get("message", ""), (array, pad))
        self.write("src/size.h", "no C\n")
        told = self.told("pad", array=names.index("tile"), pad=3)
        self.assertIn("cannot compile", told["message"])
        self.assertEqual(told["where"], "src/k.cu")
        self.write("src/k.cu", "\n" + SOURCE)
        self.assertIn("another one since", self.told("pad", array=names.index("tile"), pad=3)["message"])

    def test_a_changed_kernel_that_never_ends_is_stopped(self):
        loop = "    tile[0][SIZE] = 1;\n    while (tile[1][0] != 1) tile[2][0]++;\n    out["
        endless = SOURCE.replace("    out[", loop)
        names = self.count(endless.replace("__shared__ float tile", "__shared__ volatile float tile"),
                           ["--time-limit", "1"])
        told = self.told("pad", array=names.index("tile"), pad=1)
        self.assertIn("after the time limit of 1 s", told["message"])

    def test_it_answers_its_own_page_alone(self):
        self.count()
        for name in "state", "pad":
            self.assertEqual(self.ask(name, Host="evil.example")[0], 403)
            self.assertEqual(self.ask(name, Origin="http://evil.example")[0], 403)
            self.assertEqual(self.ask(name, path="/" + "0" * 32 + "/")[0], 403)
        for name in "run", "save", "show", "access", "../state":
            self.assertEqual(self.ask(name)[0], 404, name)
        self.assertIn(b"live.js", self.ask("", method="GET")[2])

    @needs_browser
    def test_the_slider_of_the_page(self):
        self.count()
        browser = Browser(self.folder)
        self.addCleanup(browser.close)
        browser.go(self.address)
        browser.wait("document.body?.dataset.ready")
        browser.run("""(() => { const line = document.getElementById("line");
            line.value = [...line.options].find(o => o.textContent.includes("load of 4: tile")).value;
            line.dispatchEvent(new Event("input")); document.getElementById("pad").focus(); })()""")
        browser.key("ArrowRight")
        browser.wait("document.getElementById('live').dataset.pad === '1'")
        self.assertEqual(browser.run("document.getElementById('layout').textContent"), "tile[SIZE][SIZE + 1]")
        self.assertEqual(browser.run("document.querySelectorAll('#maps svg').length"), 2)
        self.assertEqual(browser.run("document.querySelectorAll('#maps > :last-child g.later').length"), 0)
        self.assertGreater(browser.run("document.querySelectorAll('#maps > :first-child g.later').length"), 0)
        self.assertEqual(browser.console, [])


class Compare(EditCase):
    def setUp(self):
        super().setUp()
        self.serve("-e", "gray", "-e", "depth float", "-e", "transpose", SAMPLES / "chelsea.png", "--stages",
                   "transpose", "--device", "cpu", "--repeat", 1, "--serve", "-q", command="compare")

    def access(self, **asked):
        return self.told("access", **({"width": 4, "offsets": [128 * i for i in range(32)], "row": 128} | asked))

    def test_an_access_with_pads(self):
        steps = self.told("state")["report"]["steps"]
        self.assertEqual([step["step"] for step in steps], ["transpose"])
        for pad, wavefronts in ((0, 32), (4, 1), (8, 2), (16, 4), (128, 32)):
            told = self.access(pad=pad)
            self.assertEqual(told["access"]["wavefronts"], wavefronts, pad)
            self.assertEqual(told["offsets"][31], 31 * (128 + pad))
        told = self.access(pad=4, offsets=[None] * 31 + [0])
        self.assertEqual(told["access"]["wavefronts"], 1)

    def test_what_is_no_access(self):
        for wrong in ({"width": 0}, {"width": 3}, {"width": 32}, {"width": -4}, {"row": 0}, {"row": 1}, {"row": -128},
                      {"row": 1e300}, {"pad": -1}, {"pad": 1e300}, {"offsets": []}, {"offsets": 5}, {"offsets": {}},
                      {"offsets": [1e300, -1, "x", None, [], {}]}, {"offsets": "x"}):
            self.assertNotIn("access", self.access(**({"pad": 4} | wrong)), wrong)
        self.assertEqual(len(self.access(pad=4, offsets=list(range(0, 4000, 4)))["offsets"]), 32)
        self.assertEqual(self.ask("pad")[0], 404)
        self.assertEqual(self.stop()[0], 130)


if __name__ == "__main__":
    unittest.main()
