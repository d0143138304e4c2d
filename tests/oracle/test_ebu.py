"""Loudness on the signals of EBU Tech 3341 (minimum requirements) and 3342 (range), made here; beside ffmpeg's meter.
Sines of 1 kHz; levels are of a channel's peak, dBFS."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import numpy as np
import scipy.io.wavfile

from harness import SCRATCH, OracleCase, command

RATE = 48000


def tones(*parts, channels=2):
    """(level or a level for each channel, seconds) one after the other."""
    rows = []
    for level, seconds in parts:
        sine = np.sin(2 * np.pi * 1000 / RATE * np.arange(round(seconds * RATE)))
        rows.append(sine[:, None] * 10 ** (np.broadcast_to(level, channels) / 20))
    return np.concatenate(rows)


def peak(divisor, degrees, size):
    """A sine of a part of the rate, that rises and falls without a click."""
    n = np.arange(RATE)
    fade = np.minimum(1, np.minimum(n, n[::-1]) / 1000)
    one = size * fade * np.sin(2 * np.pi * n / divisor + np.deg2rad(degrees))
    return np.stack([one, one], 1)


INTEGRATED = {1: (tones((-23, 20)), -23), 2: (tones((-33, 20)), -33), 3: (tones((-36, 10), (-23, 60), (-36, 10)), -23),
              4: (tones((-72, 10), (-36, 10), (-23, 60), (-36, 10), (-72, 10)), -23),
              5: (tones((-26, 20), (-20, 20.1), (-26, 20)), -23), 6: (tones(([-28, -28, -24, -30, -30], 20),
                                                                            channels=5), -23),}
CHANGING = {9: (tones(*[(-20, 1.34), (-30, 1.66)] * 5), "shortterm"),
            12: (tones(*[(-20, 0.18), (-30, 0.22)] * 25), "momentary")}
PEAKS = {15: ((4, 0, 0.5), -6), 16: ((4, 45, 0.5), -6), 17: ((6, 60, 0.5), -6), 18: ((8, 67.5, 0.5), -6),
         19: ((4, 45, 1.41), 3)}
RANGES = {1: (tones((-20, 20), (-30, 20)), 10), 2: (tones((-20, 20), (-15, 20)), 5),
          3: (tones((-40, 20), (-20, 20)), 20), 4: (tones((-50, 20), (-35, 20), (-20, 20), (-35, 20), (-50, 20)), 15)}


class Ebu(OracleCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH)
        self.addCleanup(self.held.cleanup)
        self.folder = pathlib.Path(self.held.name)

    def found(self, samples):
        scipy.io.wavfile.write(self.folder / "in.wav", RATE, samples.astype(np.float32))
        done = command("measure", "-e", "loudness", "in.wav", "--json", folder=self.folder)
        rows = json.loads(done.stdout)["files"][0]["results"][0]["findings"]
        return {f["name"]: f["value"] for f in rows}

    def test_integrated_loudness_is_within_a_tenth(self):
        for number, (samples, want) in INTEGRATED.items():
            found = self.found(samples)
            self.assertAlmostEqual(found["lufs"], want, delta=0.1, msg=f"3341, signal {number}")
            if number < 3:
                for name in ("momentary", "shortterm"):
                    self.assertAlmostEqual(found[name], want, delta=0.1, msg=f"3341, signal {number}")

    def test_a_level_that_alternates_within_the_window_is_steady(self):
        for number, (samples, name) in CHANGING.items():
            self.assertAlmostEqual(self.found(samples)[name], -23, delta=0.1, msg=f"3341, signal {number}")

    def test_true_peaks_lie_within_what_the_standard_allows(self):
        for number, (sine, want) in PEAKS.items():
            off = self.found(peak(*sine))["true_peak"] - want
            self.assertTrue(-0.4 <= off <= 0.2, f"3341, signal {number}: {off} dB")

    def test_range_is_within_a_tenth(self):
        for number, (samples, want) in RANGES.items():
            self.assertAlmostEqual(self.found(samples)["range"], want, delta=0.1, msg=f"3342, signal {number}")

    @unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
    def test_ffmpegs_meter_agrees(self):
        rng = np.random.default_rng(34)
        swell = 0.02 + 0.1 * np.sin(np.arange(RATE * 20) / 90000)[:, None] ** 2
        samples = rng.standard_normal((RATE * 20, 2)) * swell
        ours = self.found(samples)
        done = subprocess.run(["ffmpeg", "-hide_banner", "-nostats", "-i", "in.wav", "-af", "ebur128=peak=true", "-f",
                               "null", "-"], cwd=self.folder, capture_output=True, text=True)
        said = done.stderr.rsplit("Summary:", 1)[-1]
        for name, pattern, delta in (("lufs", r"I:\s+(\S+) LUFS", 0.06), ("range", r"LRA:\s+(\S+) LU", 0.1),
                                     ("true_peak", r"Peak:\s+(\S+) dBFS", 0.3)):
            self.assertAlmostEqual(ours[name], float(re.search(pattern, said)[1]), delta=delta, msg=name)


if __name__ == "__main__":
    unittest.main()
