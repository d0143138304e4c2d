"""smempipe stack: many pictures or sounds become one, as NumPy sees it."""
import unittest
import wave

import numpy as np
from PIL import Image

from harness import CliCase

WAYS = {"mean": lambda a: a.mean(0), "median": lambda a: np.median(a, 0), "min": lambda a: a.min(0),
        "max": lambda a: a.max(0)}


class Stack(CliCase):
    def put(self, count, shape=(37, 53, 3), kind=np.uint8, name="p{}.npy"):
        random = np.random.default_rng(count)
        arrays = [random.integers(0, 256, shape).astype(kind) if kind != np.float32
                  else random.standard_normal(shape).astype(kind) for _ in range(count)]
        for i, array in enumerate(arrays):
            np.save(self.folder / name.format(i), array)
        return np.stack(arrays)

    def test_ways(self):
        for count, kind, shape in ((1, np.uint8, (5, 4)), (2, np.uint8, (37, 53, 3)), (5, np.uint16, (9, 300)),
                                   (6, np.float32, (20, 31, 3)), (33, np.uint8, (3, 257))):
            arrays = self.put(count, shape, kind)
            names = [f"p{i}.npy" for i in range(count)]
            for way, made in WAYS.items():
                want = made(arrays.astype(np.float64)).astype(np.float32)
                outputs = set()
                for words in ((), ("--strip-rows", "1"), ("--strip-rows", "7", "--variant", "naive")):
                    self.smp("stack", *names, "-o", "out.npy", "--by", way, "-e", "depth float", "-f", *words)
                    outputs.add((self.folder / "out.npy").read_bytes())
                self.assertEqual(len(outputs), 1, way)
                got = np.load(self.folder / "out.npy").reshape(want.shape)
                white = {np.uint8: 255, np.uint16: 65535, np.float32: 1}[kind]
                np.testing.assert_allclose(got * np.float32(white), want, rtol=3e-7, atol=1e-7 * white)
            self.smp("stack", *names, "-o", "out.npy", "-f")
            if kind != np.float32 and count > 1:
                self.smp("stack", *names, "-o", "out.npy", "-f", "--by", "sum")
                np.testing.assert_array_equal(np.load(self.folder / "out.npy").reshape(shape),
                                              np.minimum(arrays.sum(0, dtype=int), white).astype(kind))
                self.smp("stack", *names, "-o", "out.npy", "-f")
                np.testing.assert_array_equal(np.load(self.folder / "out.npy").reshape(shape),
                                              np.rint(arrays.mean(0)).astype(kind))

    def test_nan_is_last(self):
        for i, value in enumerate((1, np.nan, -0.0, 0.0, -np.inf)):
            np.save(self.folder / f"p{i}.npy", np.full((1, 40), value, np.float32))
        for way, want in (("min", -np.inf), ("median", 0.0), ("max", np.nan), ("mean", np.nan)):
            self.smp("stack", *(f"p{i}.npy" for i in range(5)), "-o", "out.npy", "--by", way, "-f")
            np.testing.assert_array_equal(np.load(self.folder / "out.npy"), np.full((1, 40), want, np.float32))

    def test_sounds_of_other_lengths(self):
        sounds = [np.arange(n, dtype="<i2") * 3 for n in (50, 7, 4001)]
        for i, sound in enumerate(sounds):
            with wave.open(str(self.folder / f"s{i}.wav"), "wb") as out:
                out.setparams((1, 2, 8000, 0, "NONE", ""))
                out.writeframes(sound.tobytes())
        whole = np.stack([np.pad(sound, (0, 4001 - len(sound))) for sound in sounds]).astype(int)
        for way, want in (("sum", whole.sum(0)), ("mean", np.rint(whole.sum(0) / 3)), ("median", np.median(whole, 0))):
            self.smp("stack", "s0.wav", "s1.wav", "s2.wav", "-o", "out.wav", "--by", way, "-f")
            with wave.open(str(self.folder / "out.wav")) as sound:
                got = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
            np.testing.assert_allclose(got, want, atol=1)

    def test_what_does_not_fit_writes_nothing(self):
        Image.new("RGB", (30, 20)).save(self.folder / "a.png")
        Image.new("RGB", (31, 20)).save(self.folder / "b.png")
        Image.new("L", (30, 20)).save(self.folder / "c.png")
        turned = Image.Exif()
        turned[274] = 3  # orientation
        Image.new("RGB", (30, 20)).save(self.folder / "turned.png", exif=turned)
        self.write("cut.png", (self.folder / "a.png").read_bytes()[:60])
        for other, status, said in (("b.png", 2, "--resize"), ("c.png", 2, "-e gray"),
                                    ("turned.png", 2, "(EXIF 3)"), ("cut.png", 3, "cut.png"),
                                    ("none.png", 3, "none.png")):
            self.assertIn(said, self.smp("stack", "a.png", other, "-o", "x.png", status=status).stderr)
        self.assertIn("-o", self.smp("stack", "a.png", "b.png", status=2).stderr)
        self.assertFalse((self.folder / "x.png").exists())
        before = (self.folder / "a.png").read_bytes()
        self.smp("stack", "b.png", "a.png", "-o", "a.png", "-f", status=(2, 4))
        self.smp("stack", "a.png", "a.png", "-o", "a.png", "-f", status=4)
        self.assertEqual((self.folder / "a.png").read_bytes(), before)

    def test_stages_and_metadata_follow(self):
        for name, level in (("a.png", 10), ("b.png", 20)):
            Image.new("L", (30, 20), level).save(self.folder / name, dpi=(150, 150))
        self.smp("stack", "a.png", "b.png", "-o", "out.png", "-e", "invert")
        with Image.open(self.folder / "out.png") as got:
            self.assertEqual(round(got.info["dpi"][0]), 150)
            self.assertEqual(set(np.array(got).flat), {240})


if __name__ == "__main__":
    unittest.main()
