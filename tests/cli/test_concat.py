"""smempipe concat: sounds one after the other; split --every, the other way round."""
import unittest
import wave

import numpy as np

from harness import SAMPLES, CliCase

RATE = 8000


class Concat(CliCase):
    def setUp(self):
        super().setUp()
        self.samples = {name: (np.arange(count) * 7 % 30000 + number * 1000).astype("<i2")
                        for number, (name, count) in enumerate((("a", 40000), ("b", 1), ("c", 9000)))}
        for name, samples in self.samples.items():
            self.put(f"{name}.wav", samples)

    def put(self, name, samples, rate=RATE, channels=1):
        with wave.open(str(self.folder / name), "wb") as out:
            out.setparams((channels, 2, rate, 0, "NONE", ""))
            out.writeframes(samples.tobytes())

    def get(self, name):
        with wave.open(str(self.folder / name)) as sound:
            return np.frombuffer(sound.readframes(sound.getnframes()), "<i2")

    def test_samples_follow_each_other(self):
        a, b, c = self.samples.values()
        self.smp("concat", "c.wav", "a.wav", "b.wav", "-o", "all.wav")
        np.testing.assert_array_equal(self.get("all.wav"), np.concatenate((c, a, b)))
        self.smp("concat", "a.wav", "c.wav", "-o", "out/gap.flac", "--gap", "0.5")
        self.smp("convert", "out/gap.flac", "gap.wav")
        np.testing.assert_array_equal(self.get("gap.wav"), np.concatenate((a, np.zeros(RATE // 2, "<i2"), c)))
        done = self.smp("concat", "a.wav", "b.wav", "-o", "-", text=False)
        (self.folder / "piped.wav").write_bytes(done.stdout)
        np.testing.assert_array_equal(self.get("piped.wav"), np.concatenate((a, b)))

    def test_samples_are_as_wide_as_the_widest(self):
        self.smp("convert", "a.wav", "a8.wav", "--samples", "8")
        self.smp("run", "-e", "gain -1dB", "c.wav", "c24.wav", "--samples", "24")
        for names in (("a8.wav", "c24.wav", "b.wav"), ("c24.wav", "b.wav", "a8.wav")):
            self.smp("concat", *names, "-o", "all.wav", "-f")
            self.assertIn("24-bit PCM", self.smp("info", "all.wav").stdout)
            self.assertIn((self.folder / "c24.wav").read_bytes()[-3 * 9000:], (self.folder / "all.wav").read_bytes())

    def test_all_are_brought_to_a_rate_and_channels(self):
        self.put("fast.wav", self.samples["a"], rate=16000)
        self.put("wide.wav", np.repeat(self.samples["c"], 2), channels=2)
        self.smp("concat", "c.wav", "fast.wav", "wide.wav", "-o", "all.wav", "--rate", "16kHz", "--channels", "stereo")
        for name in ("c", "fast", "wide"):
            self.smp("convert", f"{name}.wav", f"{name}-16.wav", "--rate", "16000", "--channels", "2")
        np.testing.assert_array_equal(self.get("all.wav"),
                                      np.concatenate([self.get(f"{n}-16.wav") for n in ("c", "fast", "wide")]))
        self.smp("concat", "a.wav", "c.wav", "-o", "cut.wav", "-e", "trim frames=10", "--gap", "0.001")
        np.testing.assert_array_equal(
            self.get("cut.wav"),
            np.concatenate((self.samples["a"][:10], np.zeros(8, "<i2"), self.samples["c"][:10])))
        self.assertIn("--rate 16000", self.smp("concat", "c.wav", "fast.wav", "-o", "x.wav", status=2).stderr)
        self.assertIn("--channels 1", self.smp("concat", "c.wav", "wide.wav", "-o", "x.wav", status=2).stderr)
        self.assertIn("--rate", self.smp("concat", "a.wav", "c.wav", "-o", "x.wav", "--rate", "x", status=2).stderr)
        self.assertFalse((self.folder / "x.wav").exists())

    def test_a_folder_comes_in_the_order_of_names(self):
        (self.folder / "in").mkdir()
        for to, name in (("2", "a"), ("1", "c")):
            (self.folder / f"{name}.wav").rename(self.folder / f"in/{to}.wav")
        (self.folder / "in/cover.png").write_bytes(b"no sound")
        self.smp("concat", "in", "-o", "all.wav")
        np.testing.assert_array_equal(self.get("all.wav"), np.concatenate((self.samples["c"], self.samples["a"])))

    def test_coded_sounds_are_joined_in_their_own_format(self):
        for ending in ("mp3", "ogg", "opus"):
            with self.subTest(ending):
                name, all_of_it = f"speech.{ending}", f"all.{ending}"
                if self.smp("convert", SAMPLES / "speech.flac", name, "--rate", "48kHz", status=(0, 4)).returncode:
                    self.skipTest(f"this build writes no {ending}")
                self.smp("concat", name, name, "-o", all_of_it)
                for made in (name, all_of_it):
                    self.smp("convert", made, f"{made}.npy")
                one, two = (np.load(self.folder / f"{made}.npy") for made in (name, all_of_it))
                self.assertEqual(len(two), 2 * len(one))
                for half in (two[:len(one)], two[len(one):]):
                    self.assertLess(np.abs(half - one).mean(), np.abs(one).mean() / 2)

    def test_what_does_not_fit_writes_nothing(self):
        self.put("fast.wav", self.samples["c"], rate=16000)
        self.put("wide.wav", self.samples["c"], channels=2)
        self.write("cut.wav", (self.folder / "a.wav").read_bytes()[:5000])
        self.write("image.ppm", b"P6 1 1 255\nabc")
        for files, status, message in (
                (("a.wav", "fast.wav"), 2, "--rate 16000 brings all to one rate"),
                (("a.wav", "wide.wav"), 2, "--channels 1 brings all to one number"),
                (("a.wav", "cut.wav"), 3, "truncated"), (("a.wav", "image.ppm"), 2, "it is a picture"),
                (("a.wav", "none.wav"), 3, "cannot open"),
                ):
            self.assertIn(message, self.smp("concat", *files, "-o", "x.wav", status=status).stderr)
            self.assertFalse((self.folder / "x.wav").exists())
        self.assertIn("same file as the input",
                      self.smp("concat", "c.wav", "a.wav", "-o", "a.wav", "-f", status=4).stderr)
        self.assertIn("write -o all.wav", self.smp("concat", "a.wav", status=2).stderr)
        self.assertIn("more than", self.smp("concat", "a.wav", "c.wav", "-o", "x.wav", "--max-pixels", "45000",
                                            status=6).stderr)

    def test_split_every_and_concat_are_opposites(self):
        self.smp("split", "a.wav", "-o", "parts", "--every", "1.5")
        self.assertEqual(sorted(p.name for p in (self.folder / "parts").iterdir()),
                         [f"a-0{n}.wav" for n in range(1, 5)])
        np.testing.assert_array_equal(self.get("parts/a-04.wav"), self.samples["a"][36000:])
        self.smp("concat", "parts", "-o", "again.wav")
        self.assertEqual((self.folder / "again.wav").read_bytes(), (self.folder / "a.wav").read_bytes())
        self.assertIn("empty parts", self.smp("split", "a.wav", "-o", "p", "--every", "1e-9", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
