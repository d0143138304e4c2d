"""smempipe kernel: the table, --json, --csv, --fail-on and messages on PTX; whole programs where there is nvcc."""
import csv
import io
import json
import os
import shutil
import tempfile
import unittest

from harness import ROOT, SANITIZED, CliCase

LAB = os.path.join(ROOT, "tests", "lab")
TRANSPOSE = os.path.join(LAB, "transpose.ptx")
BUGS = os.path.join(LAB, "bugs.ptx")
TILED = ("--only", "transposeTiled", "--grid", "2x2", "--block", "32x8", "--args",
         "out=f32[64x64] in=f32[64x64] w=64 h=64")  # fmt: skip
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


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

    def test_some_blocks(self):
        found = json.loads(self.smp("kernel", TRANSPOSE, *TILED, "--blocks", "first,last", "--json").stdout)
        self.assertEqual((found["kernels"][0]["blocks"], found["kernels"][0]["blocks_run"]), (4, 2))

    def test_what_is_found_fails_a_test(self):
        race = (BUGS, "--only", "raceNoSync", "--grid", "1", "--block", "256", "--args", "in=f32[256] out=f32[256]")
        self.smp("kernel", *race)
        self.smp("kernel", *race, "--fail-on", "races", status=7)
        done = self.smp("kernel", *race, "-q", "--fail-on", "races", status=7)
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        self.assertIn("raceNoSync", self.smp("kernel", *race, "-q", "--json").stdout)
        self.smp("kernel", *race, "--fail-on", "bounds,conflicts,barriers")
        self.smp("kernel", TRANSPOSE, *TILED, "--fail-on", "races,conflicts", status=7)
        self.smp("kernel", TRANSPOSE, *TILED, "--fail-on", "uncoalesced,races,bounds,uninitialised,barriers")
        outside = (BUGS, "--only", "outsideGlobal", "--grid", "2", "--block", "256", "--args", "out=f32[256] n=256")
        text = self.smp("kernel", *outside, "--fail-on", "bounds", status=7).stdout
        self.assertIn("thread 0,0,0, block 1,0,0: writes 4 bytes 0 bytes past the end of 'out' (1024 bytes)", text)

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
            (("kernel.txt",), 2, ("no .cu and no .ptx", "nvcc -ptx")),
            (("none.ptx", "--only", "f"), 3, ("none.ptx", "No such file")),
        ):
            error = self.smp("kernel", *arguments, status=code).stderr
            for word in words:
                self.assertIn(word, error)

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

    def test_without_nvcc_the_way_to_get_it_is_told(self):
        with tempfile.TemporaryDirectory() as empty:
            environment = {"PATH": empty, "HOME": empty, "CUDA_HOME": empty}
            if os.access("/usr/local/cuda/bin/nvcc", os.X_OK):
                self.skipTest("nvcc is in /usr/local/cuda")
            error = self.smp("kernel", os.path.join(LAB, "k01_transpose.cu"), env=environment, status=1).stderr
            self.assertIn("pip install nvidia-cuda-nvcc", error)


@unittest.skipUnless(NVCC and not SANITIZED, "no nvcc, or a sanitizer, which must come first in a program")
class Programs(CliCase):
    """Some of tests/lab: all take minutes of nvcc. SMEMPIPE_LAB_ALL=1 runs all."""

    some = ("k01_transpose", "k15_misc")

    def test_programs_pass_and_only_wrong_ones_have_findings(self):
        names = sorted(n[:-3] for n in os.listdir(LAB) if n.endswith(".cu"))
        for name in names if os.environ.get("SMEMPIPE_LAB_ALL") else self.some:
            with self.subTest(name), tempfile.TemporaryDirectory() as cache:
                environment = {**os.environ, "XDG_CACHE_HOME": cache}
                done = self.smp("kernel", os.path.join(LAB, name + ".cu"), "--json", env=environment)
                if name != "k16_bugs":
                    self.assertIn("PASS", done.stderr)
                found = {f["kind"] for k in json.loads(done.stdout)["kernels"] for f in k["findings"]}
                expected = {"k04_reduce": {"race"}, "k15_misc": {"bounds"}, "k16_bugs": {"race", "uninitialised"}}
                self.assertEqual(found, expected.get(name, set()))


if __name__ == "__main__":
    unittest.main()
