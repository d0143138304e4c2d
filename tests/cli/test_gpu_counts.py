"""tests/gpu.sh --part counts with stand-ins for the programs: what it tells of runs that agree, differ or are not
reached, when its time is up or a signal ends it."""
import os
import pathlib
import signal
import subprocess
import time
import unittest

from harness import ROOT, CliCase

PIPELINE = """#!/bin/sh
[ -z "$BEGINS" ] || : > "$BEGINS"
case "$*" in
*--version*) rm -f "$BEGINS"; echo smempipe 1 ;;
*album.pipe*) exit 2 ;;
*${DIFFERS:-none}.pipe*camera*) echo "they count differently"; exit 7 ;;
esac
"""
STAGES = """#!/bin/sh
trap 'echo "counts on a stand-in: 5 runs, 0 differ"; exit 1' TERM
echo "so far: 0 s: 1 runs, 0 differ"
[ -z "$WAITS" ] || { : > "$WAITS"; while :; do sleep 0.02; done; }
echo "counts on a stand-in: 99 runs, 0 differ"
"""


class Counts(CliCase):
    def setUp(self):
        super().setUp()
        self.build = pathlib.Path(self.folder) / "build"
        (self.build / "tests").mkdir(parents=True)
        for name, text in (("smempipe", PIPELINE), ("tests/unit_tests", STAGES)):
            (self.build / name).write_text(text)
            (self.build / name).chmod(0o755)
        (self.build / "libsmempipe-cuda.so").touch()

    def begin(self, **environment):
        return subprocess.Popen(["sh", str(ROOT / "tests/gpu.sh"), str(self.build), "--part", "counts"],
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                env={**os.environ, **environment})  # fmt: skip

    def test_runs_that_agree_or_differ(self):
        samples = len([*ROOT.glob("samples/*.png"), *ROOT.glob("samples/*.jpg")])
        runs = samples * len([*ROOT.glob("pipelines/*.pipe")])
        done = self.begin()
        text = done.communicate(timeout=60)[0]
        self.assertEqual(done.returncode, 0, text)
        self.assertIn(f"counts on a stand-in: 99 runs, 0 differ; pipelines on samples: {runs - samples} agree, "
                      f"0 differ, 0 failed, {samples} refused by the pipeline\n", text)
        done = self.begin(DIFFERS="blur")
        text = done.communicate(timeout=60)[0]
        self.assertEqual(done.returncode, 1, text)
        self.assertIn(f"{runs - samples - 1} agree, 1 differ", text)
        self.assertIn("blur.pipe-camera.png: exit status 7\n    they count differently", text)

    def test_a_build_without_its_kernels_is_refused(self):
        (self.build / "libsmempipe-cuda.so").unlink()
        done = self.begin()
        self.assertIn("libsmempipe-cuda.so is not there", done.communicate(timeout=60)[0])
        self.assertEqual(done.returncode, 2)

    def test_what_is_known_when_it_ends_early(self):
        begins, waits = pathlib.Path(self.folder) / "begins", pathlib.Path(self.folder) / "waits"
        done = self.begin(WAITS=str(waits), BEGINS=str(begins))
        limit = time.monotonic() + 60
        while not (waits.exists() and begins.exists()):
            self.assertIsNone(done.poll())
            self.assertLess(time.monotonic(), limit, "no run has begun")
            time.sleep(0.005)
        done.send_signal(signal.SIGTERM)
        text = done.communicate(timeout=60)[0]
        self.assertEqual(done.returncode, 130, text)
        self.assertRegex(text, "CUT OFF: counts on a stand-in: 5 runs, 0 differ; pipelines on samples: [0-9]+ agree")
        done = self.begin(SMP_COUNTS_SECONDS="0")
        text = done.communicate(timeout=60)[0]
        self.assertNotIn("CUT OFF", text)
        self.assertRegex(text, ": 0 agree, 0 differ, 0 failed, 0 refused by the pipeline, [1-9][0-9]* not reached")
        self.assertEqual(done.returncode, 1, text)


if __name__ == "__main__":
    unittest.main()
