"""The same file has the same verdict however it is run, and nothing is lost without a word."""
import json
import shutil
import unittest

import numpy

from batch_case import BatchCase
from harness import SAMPLES, png_bytes


class Verdicts(BatchCase):
    def test_damage_below_what_is_read(self):
        """The rows that a pipeline needs are read, and no more, one file or many."""
        rows = [bytes((x * y) * 7919 >> 3 & 255 for x in range(900)) for y in range(300)]
        whole = png_bytes(rows, 300)
        (self.folder / "in").mkdir()
        self.write("in/cut.png", whole[:len(whole) // 2])
        sound = (SAMPLES / "speech.flac").read_bytes()
        self.write("in/cut.flac", sound[:len(sound) // 2])
        crop = "crop width=50 height=20 anchor="
        for name, top, low in (("cut.png", crop + "top", crop + "bottom"),
                               ("cut.flac", "trim end=0.1s", "trim start=3s")):
            for stage, status in ((top, 0), (low, 3)):
                for options in ((), ("--device", "simt"), ("--strip-rows", "7"), ("--strip-rows", "300"),
                                ("--no-sandbox",)):
                    self.smp("run", "-f", "-e", stage, *options, f"in/{name}", f"out-{name}", status=status)
                    self.smp("batch", "-f", "-e", stage, *options, f"in/{name}", "-o", "out", status=1 if status else 0)
                if not status:
                    self.assertEqual((self.folder / f"out-{name}").read_bytes(), self.outputs()[name])

    def test_nan_of_a_float_picture_is_told(self):
        values = numpy.full((20, 20), 0.5, numpy.float32)
        values[3, 4] = numpy.nan
        numpy.save(self.folder / "nan.npy", values)
        done = self.smp("run", "-e", "invert", "nan.npy", "a.png")
        self.assertIn("a.png: 'invert' clipped 1 sample: it was NaN (stored as 0) or beyond full scale",
                      done.stderr)
        done = self.smp("convert", "nan.npy", "b.png")
        self.assertIn("1 sample of nan.npy was NaN (stored as 0) or beyond full scale and clipped", done.stderr)
        self.assertIn("NaN", self.smp("batch", "-e", "invert", "nan.npy", "-o", "out", "--to", "png").stderr)
        self.assertEqual(self.smp("convert", "nan.npy", "b.npy").stderr, "")
        values[3, 4] = 0.5
        numpy.save(self.folder / "good.npy", values)
        self.assertEqual(self.smp("convert", "good.npy", "c.png").stderr, "")

    def test_what_the_planner_inserts_is_not_named(self):
        numpy.save(self.folder / "wide.npy", numpy.linspace(0, 255, 400, dtype=numpy.float32).reshape(20, 20))
        for stages in ((), ("-e", "invert", "-e", "invert"), ("-e", "transpose")):
            command = ("run", *stages) if stages else ("convert",)
            done = self.smp(*command, "-f", "wide.npy", "a.png")
            self.assertRegex(done.stderr, r"clipped 99\S* % of the samples")
            self.assertNotIn("(", done.stderr.split("clipped")[0])

    def test_a_warning_about_one_of_many_files_names_it(self):
        self.pictures(["a.png", "b.png"])
        shutil.copy(SAMPLES / "camera.png", self.folder / "in/gray.png")
        done = self.smp("batch", "-e", "crop width=100 height=100", "in", "-o", "out", status=1)
        self.assertIn("= note: first with in/", done.stderr)
        large = ("-e", "crop width=100 height=100", "in/a.png")
        done = self.smp("batch", "--diagnostics=json", *large, "-o", "out", status=1)
        self.assertEqual(json.loads(done.stderr.splitlines()[-1])["input"], "in/a.png")
        self.assertNotIn("first with", self.smp("run", *large, "a.png", status=2).stderr)

    def test_the_same_about_many_files_is_said_once(self):
        (self.folder / "in").mkdir()
        for i in range(9):
            shutil.copy(SAMPLES / "speech.flac", self.folder / f"in/{i}.flac")
        lines = self.smp("batch", "-e", "normalize lufs=-16", "in", "-o", "out").stderr.splitlines()
        self.assertEqual([line.partition(": 'normalize'")[0] for line in lines[:3]],
                         [f"smempipe: warning: out/{i}.flac" for i in range(3)])
        self.assertTrue(lines[3].startswith("smempipe: warning: 6 more files: 'normalize' leaves it"), lines)
        self.assertEqual(len(lines), 5)

    def test_totals_have_no_rows_without_values(self):
        for i in range(2):
            shutil.copy(SAMPLES / "speech.flac", self.folder / f"{i}.flac")
        self.small_png("a.png")
        done = self.smp("measure", "-e", "silence -50dBFS", "--together", "--csv", "0.flac", "1.flac")
        self.assertEqual(done.stdout, "path,channels,format\n")
        self.assertIn("'silence -50dBFS': these results do not add up over files", done.stderr)

    def test_too_little_memory_is_the_reason_given(self):
        for command in (("run", "blur"), ("convert",), ("run", "-e", "gray")):
            done = self.smp(*command, "--max-memory", "1K", SAMPLES / "chelsea.png", "a.png", status=2)
            self.assertIn("--max-memory leaves no room for the program itself", done.stderr)
            self.assertIn("at least 64K", done.stderr)
            done = self.smp(*command, "--max-memory", "64K", SAMPLES / "chelsea.png", "a.png", status=(1, 6))
            self.assertIn("--max-memory leaves no room for", done.stderr)

    def test_units_and_ratios_that_do_not_fit_say_what_to_type(self):
        for stage, said in (("median 3%", "'size' is written like this: 3px"),
                            ("crop aspect=16:9", "ratios are written {16/9}")):
            done = self.smp("run", "-e", stage, SAMPLES / "chelsea.png", "a.png", status=2)
            self.assertIn(said, done.stderr)
        self.smp("run", "-e", "crop aspect={16/9}", SAMPLES / "chelsea.png", "a.png")

    def test_sounds_of_one_and_two_channels_are_sorted_together(self):
        stages = ("measure", "-e", "stats", "--csv")
        names = [SAMPLES / name for name in ("chirp.wav", "field.flac", "speech.flac")]
        done = self.smp(*stages, *names, "--sort", "peak_dbfs_0")
        header, *rows = [line.split(",") for line in done.stdout.splitlines()]
        at = header.index("peak_dbfs_0")
        self.assertNotIn("peak_dbfs", header)
        self.assertEqual([row[0].rsplit("/")[-1] for row in rows], ["field.flac", "chirp.wav", "speech.flac"])
        self.assertEqual([float(row[at]) for row in rows], sorted(float(row[at]) for row in rows))
        self.assertIn("did you mean 'peak_dbfs_0'?", self.smp(*stages, *names, "--sort", "peak_dbfs", status=2).stderr)
        self.assertIn("peak_dbfs", self.smp(*stages, names[0], "--sort", "peak_dbfs").stdout)
        done = self.smp(*stages, SAMPLES / "camera.png", SAMPLES / "chelsea.png", "--sort", "mean")
        self.assertIn("1 of 2 rows have no 'mean' and come last", done.stderr)

    def test_a_crop_is_not_charged_for_what_it_does_not_read(self):
        self.smp("run", "-e", "crop width=50 height=20", SAMPLES / "chelsea.png", "a.png", "--report=r.json")
        step = json.loads((self.folder / "r.json").read_text())["steps"][0]
        self.assertEqual(step["bytes"], 2 * 50 * 20 * 3)

    def test_short_help_has_whole_sentences(self):
        for command in ("convert", "run", "batch", "measure", "compare"):
            text = self.smp(command, "-h").stdout
            self.assertNotIn("…", text)
            for end in ("PNG compression", "with --resume", "and", "or"):
                self.assertNotRegex(text, rf"{end}\n(?!    )")


if __name__ == "__main__":
    unittest.main()
