"""The scripts that make docs/results: tried small, on the CPU; and docs/results.md is what its JSON files make."""
import json
import os
import re
import subprocess
import sys
import unittest

from harness import PROGRAM, ROOT, CliCase


FAKE_NCU = """#!%s
import sys
sys.path.insert(0, %r)
import gpu_limits
metrics = sys.argv[sys.argv.index("--metrics") + 1].split(",")
print("==PROF== Connected")
heads = ["ID", "Kernel Name", "Grid Size", *metrics]
print(",".join('"%%s"' %% head for head in heads))
print(",".join('""' for head in heads))
for number, (name, instructions) in enumerate([("naive_u8_u8(smp_io)", 9000)] * 2 + [("read(int)", 50000)] * 9
                                              + [("blur_warp_u8_u8(smp_io)", 4000)] * 4
                                              + [("blur_warp_u8_u8(smp_io)", few) for few in (2000, 2100)]):
    told = {"smsp__inst_executed.sum": instructions, "gpu__time_duration.sum": "1,500",
            gpu_limits.UNITS["issue slots"]: instructions / 50}
    blocks = "(4, 5, 1)" if instructions == 4000 else "(4, 3, 1)"
    cells = [number, name, blocks, *(told.get(metric, "n/a") for metric in metrics)]
    print(",".join('"%%s"' %% cell for cell in cells))
"""


class Results(CliCase):
    def script(self, *words, path=None):
        where = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"} if path else None
        done = subprocess.run([sys.executable, "-B", *map(str, words)], cwd=self.folder, env=where, text=True,
                              capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_tables_of_measured_ceilings(self):
        self.script(ROOT / "tests/gpu_results.py", PROGRAM, "--device", "cpu", "--small", "--only", "bench",
                    "--out", self.folder / "results", "--name", "here")
        self.script(ROOT / "docs/results.py", self.folder)
        text = (self.folder / "results.md").read_text()
        self.assertIn("## Ceilings", text)
        self.assertIn("| stride 32 | 4 | 1 | 32 |", text)
        self.script(ROOT / "docs/results.py", "--check", self.folder)

    def counted(self, rows, *options):
        """What gpu_limits.py tells of rows (name, whether the bar is met), by a ncu that tells always the same."""
        ncu = self.folder / "ncu"
        ncu.write_text(FAKE_NCU % (sys.executable, str(ROOT / "tests")))
        ncu.chmod(0o755)

        def row(name, met):
            unmeasured = {"bar": "at least 4 x NPP filter", "reached": None, "met": False}
            return {
                "row": name, "input": "u8x1 64x20", "bars":
                [{"bar": "at least 0.85 of copy", "reached": 0.8, "met": met}, unmeasured]
            }

        peers = self.folder / "peers.json"
        peers.write_text(
            json.dumps({"environment": {"device_name": "NVIDIA H100"}, "rows": [row(*one) for one in rows]}))
        (self.folder / "results").mkdir(exist_ok=True)
        out = self.folder / "results" / "h100-limits.json"
        self.script(ROOT / "tests/gpu_limits.py", "gpu_peers", peers, out, *options, path=self.folder)
        return json.loads(out.read_text())

    def test_counters_of_rows_below_their_bars(self):
        rows = self.counted([("good", True), ("slow", False)])["rows"]
        self.assertEqual([row["row"] for row in rows], ["slow"])
        full = rows[0]["launches"]["full"]
        self.assertEqual((full["kernel"], full["instructions_a_sample"], full["seconds"]),
                         ("blur_warp_u8_u8", 32 * 4000 / 1280, 1.5e-6))
        self.assertEqual((full["units_percent"]["issue slots"], full["waits"]), (80, {}))
        self.script(ROOT / "docs/results.py", self.folder)
        text = (self.folder / "results.md").read_text()
        self.assertIn("| slow | 0.800, wanted 0.85 of copy | 0.002 | issue slots 80 % |", text)
        self.assertNotIn("good", text)

    def test_rows_that_there_was_no_time_for_are_named(self):
        told = self.counted([("slow", False), ("slower", False)], "--seconds", "1")
        self.assertEqual((told["rows"], told["left_out"]), ([], ["slow", "slower"]))
        self.script(ROOT / "docs/results.py", self.folder)
        self.assertIn("Not measured: slow, slower.", (self.folder / "results.md").read_text())

    def test_rows_asked_for_alone_join_those_of_an_earlier_run(self):
        rows = [("slow", False), ("slower", False)]
        self.counted(rows, "--seconds", "1")
        told = self.counted(rows, "--only", "slower")
        self.assertEqual(([row["row"] for row in told["rows"]], told["left_out"]), (["slower"], ["slow"]))
        told = self.counted(rows, "--only", "slow")
        self.assertEqual(([row["row"] for row in told["rows"]], told["left_out"]), (["slow", "slower"], []))

    def test_the_error_of_predicted_times_that_is_told_is_the_measured_one(self):
        sets = json.loads((ROOT / "docs/results/h200-time.json").read_text())["sets"]
        of_others = [one["summary"] for one in sets if one["title"].endswith("as blind")][-1]
        said = re.search(r"TIME_ERROR\((\d+), (\d+), (\d+)\)", (ROOT / "src/lab/time/errors.def").read_text())
        self.assertEqual([int(number) for number in said.groups()],
                         [round(of_others[key]) for key in ("median", "p90", "in_interval")])

    def test_the_page_is_what_the_files_make(self):
        if not (ROOT / "docs/results.md").exists():
            self.skipTest("nothing was measured on a GPU yet")
        self.script(ROOT / "docs/results.py", "--check")


if __name__ == "__main__":
    unittest.main()
