"""Icons and cursors: read as Pillow reads them, and what is written read by Pillow and ffmpeg."""
import io
import shutil
import struct
import subprocess
import time
import unittest

import numpy as np
from PIL import Image

from harness import SANITIZED, CliCase


def bitmap(random, bits, width, height, holes=True, header=40):
    """A picture of an icon: a palette of 1, 4 or 8 bits, or pixels of 24 or 32, and a mask."""
    count = 1 << bits if bits <= 8 else 0
    row = (width * bits + 31) // 32 * 4
    mask = random.integers(0, 2 if holes else 1, (height, (width + 31) // 32 * 32), dtype=np.uint8)
    mask[:, width:] = 0
    info = struct.pack("<IiiHHIIiiII", header, width, 2 * height, 1, bits, 0, 0, 0, 0, 0, 0) + bytes(header - 40)
    colours = np.append(random.integers(0, 256, (count, 3), dtype=np.uint8), np.zeros((count, 1), np.uint8), 1)
    return info + colours.tobytes() + random.bytes(row * height) + np.packbits(mask, 1).tobytes()


def png(samples):
    out = io.BytesIO()
    Image.fromarray(samples).save(out, "png")
    return out.getvalue()


def icon(pictures, kind=1):
    """pictures: (width, height, bits, bytes); of a cursor its spot is 3, bits."""
    at = 6 + 16 * len(pictures)
    entries = b""
    for width, height, bits, data in pictures:
        entries += struct.pack("<BBBBHHII", width & 255, height & 255, 0, 0, 1 if kind == 1 else 3, bits, len(data), at)
        at += len(data)
    return struct.pack("<HHH", 0, kind, len(pictures)) + entries + b"".join(p[3] for p in pictures)


def pillow(data, size):
    with Image.open(io.BytesIO(data)) as picture:
        if picture.format == "ICO":
            picture.size = size
        picture.load()
        return np.array(picture.convert("RGBA"))


def rgba(samples):
    samples = samples if samples.ndim == 3 else samples[..., None]
    if samples.shape[2] <= 2:
        samples = np.concatenate([np.repeat(samples[..., :1], 3, 2), samples[..., 1:]], 2)
    return samples if samples.shape[2] == 4 else np.dstack([samples, np.full(samples.shape[:2], 255, np.uint8)])


class Icons(CliCase):
    def read(self, name, *how):
        told = self.smp("convert", "-f", name, "o.npy", *how).stderr
        return rgba(np.load(self.folder / "o.npy")), told

    def test_every_kind_of_picture_is_read_as_pillow_reads_it(self):
        random = np.random.default_rng(1)
        for bits in (1, 4, 8, 24, 32):
            for width, height in ((1, 1), (16, 16), (33, 7), (255, 3)):
                data = icon([(width, height, bits, bitmap(random, bits, width, height))])
                self.write("a.ico", data)
                got, told = self.read("a.ico")
                self.assertEqual(told, "")
                self.assertTrue(np.array_equal(got, pillow(data, (width, height))), (bits, width, height))
        opaque = icon([(9, 5, 24, bitmap(random, 24, 9, 5, holes=False))])
        self.write("a.ico", opaque)
        self.read("a.ico")
        self.assertEqual(np.load(self.folder / "o.npy").shape, (5, 9, 3))

    def test_a_fourth_byte_without_alpha_leaves_it_to_the_mask(self):
        random = np.random.default_rng(2)
        data = bytearray(bitmap(random, 32, 8, 4))
        data[43:40 + 8 * 4 * 4:4] = bytes(32)
        self.write("a.ico", icon([(8, 4, 32, bytes(data))]))
        got, told = self.read("a.ico")
        mask = np.unpackbits(np.frombuffer(bytes(data[40 + 128:]), np.uint8)).reshape(4, 32)[::-1, :8]
        self.assertEqual(told, "")
        self.assertTrue(np.array_equal(got[..., 3], np.where(mask, 0, 255)))
        self.write("a.ico", icon([(8, 4, 24, bitmap(random, 24, 8, 4)[:-16])]))
        self.assertIn("is missing: all is opaque", self.read("a.ico")[1])
        headed = bitmap(np.random.default_rng(5), 32, 8, 4, header=124)
        plain = bitmap(np.random.default_rng(5), 32, 8, 4)
        self.write("a.ico", icon([(8, 4, 32, headed)]))
        self.write("b.ico", icon([(8, 4, 32, plain)]))
        self.assertTrue(np.array_equal(self.read("a.ico")[0], self.read("b.ico")[0]))

    def test_the_largest_is_read_and_pages_are_the_others(self):
        random = np.random.default_rng(3)
        big = random.integers(0, 256, (300, 300, 4), dtype=np.uint8)  # the directory cannot say 300
        data = icon([(16, 16, 8, bitmap(random, 8, 16, 16)), (0, 0, 32, png(big)),
                     (32, 32, 4, bitmap(random, 4, 32, 32)), (32, 32, 24, bitmap(random, 24, 32, 32))])
        self.write("a.ico", data)
        got, told = self.read("a.ico")
        self.assertTrue(np.array_equal(got, big))
        self.assertIn("4 pictures; the largest is read (--page N reads another)", told)
        self.assertIn("as PNG, picture 2 of 4", self.smp("info", "a.ico").stdout)
        got, told = self.read("a.ico", "--page", "4")
        self.assertEqual((got.shape, told), ((32, 32, 4), ""))
        self.assertIn("there is no page 5", self.smp("convert", "a.ico", "x.png", "--page", "5", status=3).stderr)
        self.smp("batch", "-q", "-e", "invert", ".", "--include", "a.ico", "-o", "out", "--to", "png", "--pages", "all")
        self.assertEqual(len(list((self.folder / "out").glob("*.png"))), 4)

    def test_of_equal_sizes_the_one_of_most_bits_is_read(self):
        samples = np.random.default_rng(10).integers(0, 256, (20, 20, 4), dtype=np.uint8)
        few = Image.fromarray(samples[..., :3]).quantize(16)
        out = io.BytesIO()
        few.save(out, "png")
        self.write("a.ico", icon([(20, 20, 4, out.getvalue()), (20, 20, 32, png(samples)),
                                  (20, 20, 8, bitmap(np.random.default_rng(1), 8, 20, 20))]))
        self.assertTrue(np.array_equal(self.read("a.ico")[0], samples))
        self.write("a.ico", icon([(20, 20, 4, png(samples ^ 1)), (20, 20, 32, png(samples)),
                                  (20, 20, 8, png(samples ^ 2))]))
        self.assertTrue(np.array_equal(self.read("a.ico")[0], samples))

    def test_a_cursor_is_read_and_its_spot_told(self):
        random = np.random.default_rng(4)
        data = icon([(32, 32, 7, bitmap(random, 1, 32, 32))], kind=2)
        self.write("a.cur", data)
        got, told = self.read("a.cur")
        self.assertIn("the spot of the cursor that points, 3,7, is left out", told)
        self.assertTrue(np.array_equal(got[..., :3], pillow(data, (32, 32))[..., :3]))  # which leaves out the mask

    def test_damage_is_told_and_costs_little(self):
        random = np.random.default_rng(6)
        whole = icon([(16, 16, 8, bitmap(random, 8, 16, 16)), (20, 20, 32, png(random.integers(
            0, 256, (20, 20, 4), dtype=np.uint8)))])
        huge = struct.pack("<IiiHHIIiiII", 40, 2**31 - 1, 2**31 - 2, 1, 1, 0, 0, 0, 0, 0, 0) + bytes(100)
        deep = struct.pack("<IiiHHIIiiII", 40, 4, -(2**31), 1, 32, 0, 0, 0, 0, 0, 0) + bytes(100)
        files = [whole[:n] for n in range(22, len(whole), 97)] + [
            icon([(0, 0, 1, huge)]), icon([(4, 0, 1, deep)]), struct.pack("<HHH", 0, 1, 65535) + whole[6:],
            icon([(16, 16, 8, b"\x89PNG\r\n\x1a\n" + bytes(60))]),
            icon([(16, 16, 8, struct.pack("<I", 12) + bytes(60))])]
        for i in range(20 if SANITIZED else 60):
            damaged = bytearray(whole)
            for _ in range(3):
                damaged[random.integers(6, 140)] = random.integers(0, 256)
            files.append(bytes(damaged))
        for i, data in enumerate(files):
            (self.folder / "in").mkdir(exist_ok=True)
            self.write(f"in/d{i}.ico", data)
        begun = time.monotonic()
        done = self.smp("convert", "-q", "in", "-o", "out", "--to", "npy", "--max-memory", "256M", status=1)
        self.assertLess(time.monotonic() - begun, 60 if SANITIZED else 6)
        self.assertNotIn("crashed", done.stderr)
        for i in range(len(range(22, len(whole), 97)) + 5):
            self.assertIn(f"d{i}.ico", done.stderr)

    def test_a_larger_picture_that_is_cut_off_is_told(self):
        random = np.random.default_rng(3)
        pictures = [(n, n, 24, bitmap(random, 24, n, n)) for n in (16, 32)]
        data = icon(pictures)
        self.write("a.ico", data[:-len(pictures[1][3])])
        self.assertIn("it is truncated", self.smp("convert", "a.ico", "x.png", status=3).stderr)
        self.assertEqual(self.read("a.ico", "--page", "1")[0].shape, (16, 16, 4))

    def test_one_picture_becomes_the_usual_sizes(self):
        random = np.random.default_rng(7)
        for side, sizes in ((500, (16, 32, 48, 256)), (256, (16, 32, 48, 256)), (100, (16, 32, 48, 100)), (16, (16,)),
                            (5, (5,))):
            samples = random.integers(0, 256, (side, side, 4), dtype=np.uint8)
            samples[..., 3] = np.where(samples[..., 3] < 100, 0, samples[..., 3])
            Image.fromarray(samples).save(self.folder / "a.png")
            self.assertEqual(self.smp("convert", "-f", "a.png", "a.ico").stderr, "")
            data = (self.folder / "a.ico").read_bytes()
            with Image.open(io.BytesIO(data)) as picture:
                self.assertEqual(picture.info["sizes"], {(n, n) for n in sizes})
            for n in sizes:
                got, weights, parts = pillow(data, (n, n)).astype(float), np.zeros((n, side)), np.arange(side * n)
                np.add.at(weights, (parts // side, parts // n), 1)
                alpha = samples[..., 3].astype(float)
                area = weights @ alpha @ weights.T
                want = np.dstack([np.divide(weights @ (samples[..., c] * alpha) @ weights.T, area, where=area > 0,
                                            out=np.zeros((n, n))) for c in range(3)] + [area / side**2])
                self.assertLessEqual(np.abs(got - want).max(), 0.501, (side, n))
        for threads in ("1", "2"):
            self.smp("convert", "a.png", f"{threads}.ico", "--threads", threads)
        self.assertEqual((self.folder / "1.ico").read_bytes(), (self.folder / "2.ico").read_bytes())

    def test_several_pictures_stay_as_they_are(self):
        random = np.random.default_rng(8)
        wanted = {n: random.integers(0, 256, (n, n, 3), dtype=np.uint8) for n in (64, 24, 256)}
        for n, samples in wanted.items():
            Image.fromarray(samples).save(self.folder / f"{n}.png")
        self.smp("concat", "64.png", "24.png", "256.png", "-o", "a.ico")
        data = (self.folder / "a.ico").read_bytes()
        for n, samples in wanted.items():
            self.assertTrue(np.array_equal(pillow(data, (n, n)), rgba(samples)), n)
        self.assertEqual([data[6 + 16 * i] for i in range(3)], [64, 24, 0])
        self.smp("concat", "a.ico", "-o", "b.ico")
        self.assertEqual((self.folder / "b.ico").read_bytes(), data)
        Image.new("L", (300, 300)).save(self.folder / "big.png")
        for names in (("24.png", "big.png"), ("big.png", "24.png")):
            self.assertIn("at most 256 x 256 pixels, and this 300 x 300",
                          self.smp("concat", *names, "-o", "c.ico", status=4).stderr)
        self.assertFalse((self.folder / "c.ico").exists())

    def test_what_an_icon_cannot_hold_is_told(self):
        exif = Image.Exif()
        exif[0x010E] = "Rain"
        Image.new("RGB", (40, 20), (9, 8, 7)).save(self.folder / "a.jpg", exif=exif)
        told = self.smp("convert", "a.jpg", "a.ico").stderr
        self.assertIn("the format ICO has no place for it: EXIF", told)
        self.assertIn("not square, and neither are its icons", told)
        self.assertTrue((pillow((self.folder / "a.ico").read_bytes(), (40, 20))[0, 0, :3] >= 6).all())

    def test_ffmpeg_sees_the_same(self):
        if not shutil.which("ffmpeg"):
            self.skipTest("no ffmpeg")
        samples = np.random.default_rng(9).integers(0, 256, (48, 48, 4), dtype=np.uint8)
        samples[..., 3] |= 1
        Image.fromarray(samples).save(self.folder / "a.png")
        self.smp("convert", "a.png", "a.ico")
        done = subprocess.run(["ffmpeg", "-v", "error", "-i", "a.ico", "-map", "0:2", "-f", "rawvideo", "-pix_fmt",
                               "rgba", "-"], cwd=self.folder, stdout=subprocess.PIPE, check=True)
        self.assertEqual(done.stdout, samples.tobytes())


if __name__ == "__main__":
    unittest.main()
