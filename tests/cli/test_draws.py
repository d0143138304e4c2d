"""Random values of pipelines: the same for a seed on any device, however many run at once and whatever was done before;
told; and mistakes in them."""
import json
import re
import shutil
import unittest

from harness import SAMPLES, CliCase

SERIES = SAMPLES / "series"
STAGES = ("-e", "flip random", "-e", "warp random(-15..15deg)", "-e", "noise 2% seed=random")


class Draws(CliCase):
    def outputs(self, name):
        return {file.name: file.read_bytes() for file in (self.folder / name).iterdir() if file.name[0] != "."}

    def batch(self, name, *more):
        self.smp("batch", *STAGES, SERIES, "-o", name, "-q", "--to", "png", *more)
        return self.outputs(name)

    def test_a_batch_is_the_same_however_many_run_at_once_and_resumed(self):
        one = self.batch("one", "-j", "1", "--seed", "5")
        self.assertEqual(one, self.batch("four", "-j", "4", "--seed", "5", "--device", "simt"))
        names = sorted(one)
        for name in names[::2]:
            (self.folder / "four" / name).unlink()
        self.assertEqual(one, self.batch("four", "--resume", "--seed", "5"))
        self.assertNotEqual(one, self.batch("other", "--seed", "6"))
        self.assertNotEqual(one, self.batch("next", "--seed", "5", "--epoch", "1"))

    def test_files_that_come_move_no_draw_of_others(self):
        few, all_of_them = self.folder / "few", self.batch("all")
        few.mkdir()
        for file in sorted(SERIES.iterdir())[1::3]:
            shutil.copy(file, few)
        self.smp("batch", *STAGES, few, "-o", "part", "-q", "--to", "png")
        part = self.outputs("part")
        self.assertGreater(len(part), 1)
        self.assertEqual(part, {name: all_of_them[name] for name in part})

    def test_what_was_drawn_is_told(self):
        stages = ("-e", "warp random(-15..15deg)", "-e", "flip horizontal probability=0", "-e", "crop random 40x30")
        cat = SAMPLES / "chelsea.png"
        sides = json.loads(self.smp("explain", "-e", "crop width=random(50..100%) height={30%}", "--json", cat).stdout)
        self.assertRegex(sides["steps"][1]["text"], r"width=(2[2-9]\d|[34]\d\d)px height=90px")
        told = json.loads(self.smp("explain", *stages, "--seed", "3", "--json", cat).stdout)["drawn"]
        self.smp("run", *stages, "--seed", "3", cat, "a.png", "--report=a.json")
        self.assertEqual(told, json.loads((self.folder / "a.json").read_text())["drawn"])
        self.assertRegex(told[0], r"^warp angle=-?[\d.]+deg$")
        self.assertEqual(told[1], "flip left out")
        self.assertRegex(told[2], r"^crop seed=\d+ width=40px height=30px x=\d+px y=\d+px$")
        self.assertIn("  drawn: warp angle=", self.smp("explain", *stages, cat).stdout)
        self.assertNotIn("drawn", self.smp("explain", "-e", "gray", "--json", cat).stdout)
        again = told[2].replace("crop seed=", "crop random seed=").split(" width")[0] + " width=40 height=30"
        self.smp("run", "-e", told[0], "-e", again, cat, "b.png")
        self.assertEqual((self.folder / "a.png").read_bytes(), (self.folder / "b.png").read_bytes())

    def test_sounds_are_cut_at_random_and_get_noise_below_them(self):
        stages = ("-e", "tone 440Hz length=2s level=-6dBFS", "-e", "trim random 0.5s",
                  "-e", "noise snr=20dB seed=random")
        self.smp("run", *stages, "--index", "4", "a.wav", "--report=a.json", "--samples", "float")
        report = json.loads((self.folder / "a.json").read_text())
        self.assertRegex(report["drawn"][0], r"^trim seed=\d+ first=\d+ frames=(22050|24000)$")
        power = [step["findings"][0]["value"] for step in report["steps"] if "findings" in step]
        self.assertAlmostEqual(power[0], 0.1 * 10**-0.3 / 2**0.5, delta=1e-4)
        for stage, said in (("trim random 3s", "3 s at random, and the sound has 2 s"),
                            ("trim random", "a part at random has a length"),
                            ("trim start=1s seed=3", "what is drawn has a seed"),
                            ("noise 4% snr=3dB", "both say how much"), ("noise", "nothing says how much noise"),
                            ("noise kind=salt-pepper snr=3dB", "leave out snr")):
            done = self.smp("run", "-e", "tone 440Hz length=2s level=-6dBFS", "-e", stage, "no.wav", status=2)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("error"), 1, done.stderr)
            self.assertFalse((self.folder / "no.wav").exists())

    def test_mistakes_are_told_once(self):
        for stage, said in (("crop random 500x400", "clip=yes takes what there is"),
                            ("crop random x=4", "is drawn, and given too"),
                            ("crop random scale=[8%]", "write scale=8..100%"),
                            ("crop random 9x9 scale=8..9%", "the size is given, and drawn"),
                            ("crop scale=8..100%", "write crop random"), ("crop kind=random", "seed=random"),
                            ("gamma random(0..1)", "'g' must be"), ("gamma random", "random(0.8..1.2)"),
                            ("gamma 0.8..1.2", "write random(0.8..1.2)"),
                            ("median random(3, 4, 5)", "'size' must be odd, not"),
                            ("resize width=random(10px, 12.5px, 13px)", "it comes to 12.5px"),
                            ("edges probability=1", "unknown"),
                            ("jitter brightness=random(0.6..101)", "'brightness' must be"),
                            ("jitter order=24", "'order' must be"), ("noise snr=3dB", "snr is of sounds")):
            done = self.smp("run", "-e", stage, SAMPLES / "chelsea.png", "no.png", status=2)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("error"), 1, done.stderr)
            self.assertFalse((self.folder / "no.png").exists())

    def test_a_dry_run_and_comparisons_draw_as_the_work_would(self):
        cat, crop = SAMPLES / "chelsea.png", ("-e", "crop width=random(100..5000px) height=9px")
        one = [self.smp("batch", *crop, SERIES, "-o", "d", *more, status=(0, 1)).stderr.count("leaves the picture")
               for more in (("--seed", "9"), ("--seed", "9", "-n"))]
        self.assertGreater(one[0], 0)
        self.assertEqual(*one)
        types = {re.search(r"-> u8x3 \d+x9", self.smp("compare", "-e", "crop width=random(20..400px) height=9px",
                                                     "--seed", seed, cat, "--device", "cpu").stdout).group()
                 for seed in ("1", "2")}
        self.assertEqual(len(types), 2)

    def test_other_draws_are_other_work(self):
        self.batch("out", "--seed", "5")
        again = self.smp("batch", *STAGES, SERIES, "-o", "out", "--to", "png", "--resume", "--seed", "6", status=4)
        self.assertIn("other settings made them", again.stderr)


if __name__ == "__main__":
    unittest.main()
