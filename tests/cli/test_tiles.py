"""smempipe tiles: the files are the picture's parts, at every size and overlap."""
import os
import resource
import unittest

import numpy as np
from PIL import Image, ImageOps

from harness import SAMPLES, CliCase
from test_profile import icc


class Tiles(CliCase):
    def check(self, array, size, overlap):
        np.save(self.folder / "in.npy", array)
        done = self.smp("tiles", "in.npy", "-f", "-o", "out", "--size", str(size), "--overlap", str(overlap),
                        "--name", "t-{x}-{y}.{ext}")
        across, down = int(done.stdout.split()[0]), int(done.stdout.split()[2])
        w, h = map(int, str(size).split("x")) if "x" in str(size) else (size, size)
        step, fall, covered = w - overlap, h - overlap, np.zeros(array.shape[:2], int)
        width = len(str(max(across, down) - 1))
        for x in range(across):
            for y in range(down):
                got = np.load(self.folder / f"out/t-{x:0{width}}-{y:0{width}}.npy")
                want = array[y * fall:y * fall + h, x * step:x * step + w]
                self.assertTrue(np.array_equal(got, want) and got.dtype == array.dtype, (size, overlap, x, y))
                covered[y * fall:y * fall + h, x * step:x * step + w] += 1
        self.assertTrue((covered > 0).all())
        self.assertEqual(len(list((self.folder / "out").iterdir())), across * down)
        for path in (self.folder / "out").iterdir():
            path.unlink()

    def test_tiles_are_parts(self):
        rng = np.random.default_rng(1)
        array = rng.integers(0, 256, (50, 73, 3), np.uint8)
        for size, overlap in ((16, 0), (16, 5), (16, 11), (50, 0), (73, 10), (100, 0), (25, 20), (7, 1), ("20x7", 0),
                              ("7x20", 3), ("200x9", 8)):
            self.check(array, size, overlap)
        for size in ("20x", "x20", "0", "5x0", "20x7x", "-5", "9999999"):
            self.assertIn("is not a valid value for --size", self.smp("tiles", "in.npy", "-o", "o", "--size", size,
                                                                      status=2).stderr)
        self.check(array[:30, :60], 25, 24)
        self.check(rng.random((40, 9)).astype(np.float32), 8, 3)

    def test_tiles_that_take_too_much_memory_to_gather(self):
        array = np.lib.format.open_memmap(self.folder / "tall.npy", "w+", np.uint8, (24000, 1000, 3))
        array[::997] = np.random.default_rng(2).integers(0, 256, (1000, 3), np.uint8)
        array.flush()
        self.assertIn("1000 files would be open at once", self.smp("tiles", "tall.npy", "-o", "o", "--size", "1x24000",
                                                                   status=6).stderr)
        self.write("try.ppm", b"P6 1 1 255\n123")
        if not self.smp("convert", "try.ppm", "try.webp", "-q", status=(0, 2, 4)).returncode:  # each a process
            width = 1000 // min(max(250, os.cpu_count() + 1), 1000)
            done = self.smp("tiles", "tall.npy", "-o", "o", "--size", f"{width}x16000", "--to", "webp",
                            "--max-memory", "200M", status=6)
            self.assertRegex(done.stderr, f"{-(-1000 // width)} files would be open at once, more than [0-9]+, "
                                          "a process for each of the processors")
            self.assertIn("--max-memory", done.stderr)
        self.smp("tiles", "tall.npy", "-o", "out", "--size", "600x23990", "--overlap", "5", "--max-memory", "200M")
        self.assertEqual(len(list((self.folder / "out").iterdir())), 4)
        for x, y in ((0, 0), (1, 0), (0, 1), (1, 1)):
            want = array[23985 * y:23985 * y + 23990, 595 * x:595 * x + 600]
            self.assertTrue(np.array_equal(np.load(self.folder / f"out/tall-{x}-{y}.npy"), want), (x, y))

    def test_encoders_do_not_grow_with_tiles(self):
        """Each has three descriptors of the program."""
        np.save(self.folder / "wide.npy", np.zeros((20, 4000, 3), np.uint8))
        if self.smp("convert", "wide.npy", "try.webp", "-q", status=(0, 2, 4)).returncode:
            self.skipTest("no WebP is written")
        done = self.smp("tiles", "wide.npy", "-o", "out", "--size", "20", "--to", "webp",
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))
        self.assertIn("200 x 1 tiles", done.stdout)

    def test_formats_and_mistakes(self):
        self.smp("tiles", SAMPLES / "chelsea.png", "-o", "out", "--size", "200")
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir()),
                         [f"chelsea-{x}-{y}.png" for x in range(3) for y in range(2)])
        self.smp("run", "-e", "crop x=400 y=200 width=51 height=100", SAMPLES / "chelsea.png", "part.png")
        self.smp("diff", "part.png", "out/chelsea-2-1.png")
        again = self.smp("tiles", SAMPLES / "chelsea.png", "-o", "out", "--size", "200", status=4)
        self.assertIn("exists already", again.stderr)
        for options, says in (((), "-o DIR"), (("-o", "o", "--overlap", "512"), "less than --size"),
                              (("-o", "o", "--name", "{x}.png"), "{y}")):
            self.assertIn(says, self.smp("tiles", SAMPLES / "chelsea.png", *options, status=2).stderr)
        self.assertIn("sound", self.smp("tiles", SAMPLES / "chirp.wav", "-o", "o", status=2).stderr)
        self.assertFalse((self.folder / "o").exists())

    def test_turned_and_transparent_pictures_are_as_converted(self):
        rgba = np.random.default_rng(4).integers(0, 256, (21, 34, 4), np.uint8)
        exif = Image.Exif()
        for orientation in range(1, 9):
            exif[0x0112] = orientation
            Image.fromarray(rgba).save(self.folder / "in.png", exif=exif)
            with Image.open(self.folder / "in.png") as stored:
                want = np.asarray(ImageOps.exif_transpose(stored))
            done = self.smp("tiles", "in.png", "-f", "-o", "out", "--size", "34", "--to", "npy")
            self.assertEqual(done.stderr.count("warning"), done.stderr.count("NPY has no place for it: EXIF\n"))
            self.assertTrue(np.array_equal(np.load(self.folder / "out/in-0-0.npy"), want), orientation)
        self.assertIn("no transparency", self.smp("tiles", "in.png", "-o", "out", "--size", "34", "--to", "ppm").stderr)
        self.smp("convert", "in.png", "want.ppm")
        self.smp("diff", "want.ppm", "out/in-0-0.ppm")
        Image.fromarray(rgba[..., :3]).save(self.folder / "p3.png", icc_profile=icc())
        said = self.smp("tiles", "p3.png", "-o", "out", "--size", "17", "--to", "ppm").stderr
        self.assertEqual(said.count("the ICC profile"), 1)
        Image.fromarray(rgba[..., 0].astype(np.uint16) * 257).save(self.folder / "deep.png")
        self.assertIn("16 bits", self.smp("tiles", "deep.png", "-o", "out", "--to", "jpg", status=4).stderr)


if __name__ == "__main__":
    unittest.main()
