"""tests/bench/gpu_peers without a GPU: its rows and bars, every launch of ours on the emulator, the page it makes."""
import json
import pathlib
import subprocess
import sys
import unittest

from harness import PROGRAM, ROOT, CliCase

BENCH = pathlib.Path(PROGRAM).resolve().parent / "tests" / "gpu_peers"

# The bars: rows that begin so, and what each of them asks for first.
BARS = {
    "transpose u8x": "at least 0.94 of copy", "transpose u16x": "at least 0.94 of copy", "transpose f32x1 8192":
    "at least 0.97 of copy", "rotate 90 f32x4": "at least 0.94 of copy", "rotate 180": "at least 0.98 of copy", "flip":
    "at least 0.98 of copy", "gaussian 5 taps u8x1": "at least 0.85 of copy", "gaussian 5 taps u8x3":
    "at least 0.87 of copy", "gaussian 5 taps f32": "at least 0.82 of copy", "gaussian 15 taps u8":
    "at least 0.55 of copy", "gaussian 15 taps f32": "at least 0.75 of copy", "gaussian 31 taps f32":
    "at least 0.6 of copy", "convolve 7x7": "at least 4 x NPP filter", "sobel magnitude u8": "at least 0.85 of copy",
    "histogram u8": "at least 0.95 of read", "histogram 65536 bins": "at least 1 x CUB histogram", "stats":
    "at least 0.97 of read", "matmul": "at least 0.92 x cuBLAS sgemm", "fir 255 taps": "at least 0.7 of the f32 peak",
}
# Blurs that no bar is for: beside peers alone.
WITHOUT_BAR = [f"gaussian {name}" for name in ("15 taps u16x1", "15 taps u16x3", "21 taps u8x1", "33 taps u8x1",
                                               "33 taps u8x3", "33 taps f32x3", "65 taps u8x1", "65 taps f32x1")]


def run(*words, timeout=200):
    return subprocess.run([str(BENCH), *map(str, words)], text=True, capture_output=True, timeout=timeout)


class GpuPeers(CliCase):
    def test_rows_and_their_bars(self):
        done = run("--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        names = [line[:40].strip() for line in lines]
        self.assertEqual(len(set(names)), len(names), "two rows of one name")
        for start, bar in BARS.items():
            rows = [line for line in lines if line.startswith(start)]
            self.assertTrue(rows, start)
            for line in rows:
                if start == "transpose f32x1 8192" or not line.startswith("transpose f32x1 8192"):
                    self.assertIn(bar, line)
        for moved in ("transpose", "rotate 90", "rotate 180", "flip horizontal", "flip vertical"):
            for kind in ("u8", "u16", "f32"):
                for channels in (1, 3, 4):
                    self.assertIn(f"{moved} {kind}x{channels}", names)
        for fill in ("random", "constant", "skewed", "runs", "photo"):
            for channels in (1, 3):
                self.assertIn(f"histogram u8x{channels} {fill}", names)

    def test_every_launch_on_the_emulator(self):
        out = self.folder / "tiny.json"
        done = run("--device", "simt", "--tiny", "--json", out)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = json.loads(out.read_text())
        self.assertEqual(report["left_out"], [])
        self.assertGreater(len(report["rows"]), 80)
        for row in report["rows"]:
            with self.subTest(row["row"]):
                self.assertEqual((row["check"], row["check_at_size"]), ("right", "right"))
                self.assertGreaterEqual(len(row["kernels"]["seconds"]), 5)
                self.assertEqual(len(row["kernels"]["seconds"]), len(row["whole"]["seconds"]))
                self.assertEqual(bool(row["bars"]), row["row"] not in WITHOUT_BAR)
                self.assertTrue(row["bars"] or row["peers"])
                self.assertEqual([bar["reached"] for bar in row["bars"]],
                                 [None] * len(row["bars"]))  # no GPU, no verdict
                self.assertTrue(all(peer["why_not"] for peer in row["peers"]))

    def test_the_page(self):
        out = self.folder / "results" / "h100-peers.json"
        out.parent.mkdir()
        done = run("--device", "simt", "--tiny", "--json", out, "--only", "stats f32x1", "--only", "convolve 7x7 u8x1",
                   "--only", "fir*x2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = json.loads(out.read_text())
        report["environment"].update(device_name="NVIDIA H100", driver="580 (CUDA 13.0)", toolkit="CUDA 13.0",
                                     npp="13.0.3")
        report["left_out"] = ["transpose u8x1"]
        for row in report["rows"]:
            for bar in row["bars"]:
                bar.update(reached=bar["wanted"] * 1.25, met=True)
            for peer in row["peers"]:
                peer.update(times_as_fast=5.5, why_not=None)
        report["rows"][-1]["bars"][0].update(reached=0.5, met=False)
        report["rows"].append({**report["rows"][0], "row": "broken", "check": "at x 1, y 2: 3, not 4"})
        out.write_text(json.dumps(report))
        for words in ((), ("--check",)):
            made = subprocess.run(
                [sys.executable, "-B", str(ROOT / "docs/results.py"), *words,
                 str(self.folder)],
                text=True,
                capture_output=True)
            self.assertEqual(made.returncode, 0, made.stderr)
        page = (self.folder / "results.md").read_text()
        for text in ("NVIDIA H100, driver 580 (CUDA 13.0), CUDA 13.0, NPP 13.0.3", "4 of 5 bars are met",
                     "### Convolve 7x7", "5.50 x NPP filter", "| 5.00 | 4 x NPP filter | yes |", "**no**",
                     "at x 1, y 2: 3, not 4", "Not measured: transpose u8x1."):
            self.assertIn(text, page)

    def test_all_that_a_gpu_machine_can_tell(self):
        """tests/gpu_all.sh: a part that runs, parts that there is no time for."""
        def run_all(out, *words):
            return subprocess.run(["sh", str(ROOT / "tests/gpu_all.sh"), str(BENCH.parents[1]), str(out), "--device",
                                   "simt", "--small", "--name", "here", *words], text=True, capture_output=True,
                                  timeout=200)

        done = run_all(self.folder / "late", "--seconds", "1")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        said = (self.folder / "late" / "here-gpu-tests.txt").read_text()
        for part in ("matrix", "device", "pipelines", "counts", "racecheck"):
            self.assertIn(f"{part} NOT RUN: no time was left", said)
        out = self.folder / "out"
        done = run_all(out, "--only", "reduction", "--only", "peers")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("here-reduction.json",
                      subprocess.run(["tar", "-tzf", str(out / "results.tgz")], text=True, capture_output=True).stdout)
        self.assertTrue(json.loads((out / "here-peers.json").read_text())["environment"]["photo_given"])
        self.assertIn("0 wrong, 0 left out", (out / "here-peers.txt").read_text())


if __name__ == "__main__":
    unittest.main()
