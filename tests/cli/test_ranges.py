"""Stages that count samples in bins: of floats beyond the bins they give the right answer or none."""
import json
import unittest

import numpy

from harness import SAMPLES, CliCase

COUNTING = ("stats percentiles=[50]", "levels auto", "threshold method=otsu", "equalize", "equalize each")


class Ranges(CliCase):
    def save(self, name, values):
        numpy.save(self.folder / name, values.astype(numpy.float32))

    def report(self, *arguments):
        self.smp("run", "-f", *arguments, "out.npy", "--report=r.json")
        steps = json.loads((self.folder / "r.json").read_text())["steps"]
        return {f["name"]: f["value"] for step in steps for f in step.get("findings", [])}

    def test_samples_beyond_the_bins_are_an_error_that_names_their_range(self):
        self.save("wide.npy", numpy.linspace(-100, 100, 5000).reshape(50, 100))
        self.save("rgb.npy", numpy.linspace(-1, 4, 3000).reshape(20, 50, 3))
        self.save("infinite.npy", numpy.where(numpy.eye(40) > 0, numpy.inf, 0.5))
        for stage in COUNTING:
            done = self.smp("run", "-e", "gray", "-e", stage, "wide.npy", "out.npy", status=1)
            self.assertIn("-e:2:1: error: this stage tells samples from 0 to 1 apart, but its input goes from -100 to "
                          "100", done.stderr)
            self.assertIn("'levels' clamps", done.stderr)
            self.smp("run", "-e", stage, "rgb.npy", "out.npy", status=(0, 1) if "50" in stage else 1)
            self.smp("batch", "-e", stage, "wide.npy", "-o", "out", status=1)
        for stage in COUNTING[2:]:
            self.assertIn("some are infinite", self.smp("run", "-e", stage, "infinite.npy", "out.npy", status=1).stderr)
        self.assertFalse((self.folder / "out.npy").exists())

    def test_what_the_error_says_helps(self):
        values = numpy.linspace(-100, 100, 5000)
        self.save("wide.npy", values.reshape(50, 100))
        found = self.report("-e", "subtract -100", "-e", "divide 200", "-e", "stats [5 50 95]", "wide.npy")
        for percent in (5, 50, 95):
            self.assertAlmostEqual(found[f"p{percent}"] * 200 - 100, numpy.percentile(values, percent), delta=0.01)
        found = self.report("-e", "levels", "-e", "stats [25 75]", "wide.npy")
        self.assertAlmostEqual(found["p25"], 0, delta=1 / 65536)
        self.assertAlmostEqual(found["p75"], 1, delta=1 / 65536)
        self.smp("run", "-f", "-e", "levels", "-e", "equalize", "wide.npy", "out.npy")

    def test_samples_beyond_that_do_not_touch_the_answer_are_no_error(self):
        values = numpy.linspace(0, 1, 5000)
        values[:10], values[-10:] = -3, 7
        self.save("few.npy", values.reshape(50, 100))
        found = self.report("-e", "stats [5 50 95]", "few.npy")
        for percent in (5, 50, 95):
            self.assertAlmostEqual(found[f"p{percent}"], numpy.percentile(values, percent), delta=2 / 65536)
        self.smp("run", "-f", "-e", "levels auto clip=1%", "few.npy", "out.npy")
        self.smp("run", "-f", "-e", "levels auto clip=0.1%", "few.npy", "out.npy", status=1)
        self.smp("run", "-f", "-e", "stats [0 100]", "few.npy", "out.npy", status=1)

    def test_rounding_is_no_error(self):
        self.save("a.npy", numpy.linspace(-1e-6, 1 + 1e-6, 5000).reshape(50, 100))
        for stage in COUNTING:
            self.smp("run", "-f", "-e", stage, "a.npy", "out.npy")

    def test_loud_sound_is_measured(self):
        sound = numpy.where(numpy.arange(4000) % 100 < 50, 1.25, -1.2).astype("<f4")
        self.write("loud.f32", sound.tobytes())
        page = json.loads(self.smp("measure", "--raw", "f32lex1:8000", "loudness-report", "loud.f32", "--json").stdout)
        found = {f["name"]: f["value"] for f in page["files"][0]["results"][0]["findings"]}
        self.assertEqual([found[k] for k in ("p1", "p50", "p99", "peak", "clipped")], [-1, 0, 1, 1.25, 4000])
        sound[7] = numpy.inf
        self.write("loud.f32", sound.tobytes())
        done = self.smp("measure", "--raw", "f32lex1:8000", "loudness-report", "loud.f32", status=1)
        self.assertIn("some are infinite", done.stderr)
        self.assertIn("without percentiles: `stats`", done.stderr)

    def test_pictures_of_integers_and_measured_sets(self):
        for stage in COUNTING:  # between stages samples may lie outside: they are code values, clamped in the end
            self.smp("run", "-f", "-e", "sharpen 3", "-e", stage, SAMPLES / "chelsea.png", "out.png")
        self.save("a.npy", numpy.full((9, 9), 2))
        self.save("b.npy", numpy.full((9, 9), 0.5))
        done = self.smp("measure", "-e", "stats [50]", "a.npy", "b.npy", status=1)
        self.assertIn("a.npy", done.stderr)
        self.smp("measure", "-e", "stats", "a.npy", "b.npy")


if __name__ == "__main__":
    unittest.main()
