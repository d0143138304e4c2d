"""Lossless JPEG, SGI, Sun raster and XBM through FFmpeg's decoders, against a coder written here, Pillow and
ImageMagick."""
import io
import shutil
import struct
import subprocess
import time
import unittest

import numpy as np
from PIL import Image, ImageCms

from harness import SANITIZED, CliCase


EXIF = b"II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"  # turned


def predictions(plane, predictor, first):
    """Of each sample, by those beside it: T.81, H.1.2."""
    plane = plane.astype(int)
    guess = np.empty_like(plane)
    a, b, c = plane[1:, :-1], plane[:-1, 1:], plane[:-1, :-1]
    guess[0, 0], guess[0, 1:], guess[1:, 0] = first, plane[0, :-1], plane[:-1, 0]
    guess[1:, 1:] = {1: a, 2: b, 3: c, 4: a + b - c, 5: a + (b - c >> 1), 6: b + (a - c >> 1), 7: a + b >> 1}[predictor]
    return guess


def coded(planes, bits, predictor, point, restart):
    """One scan: each difference as the number of its bits, in five bits, and these."""
    stream, number, out = [], 0, b""
    height, width = planes[0].shape
    guesses = None
    rows = restart // width if restart else height
    for top in range(0, height, rows):
        parts = [plane[top:top + rows] >> point for plane in planes]
        guesses = [predictions(part, predictor, 1 << (bits - point - 1)) for part in parts]
        differences = np.stack([(p.astype(int) - g + 32768) % 65536 - 32768 for p, g in zip(parts, guesses)], -1)
        stream = []
        for d in differences.reshape(-1).tolist():
            length = 16 if d == -32768 else abs(d).bit_length()
            stream.append(f"{length:05b}")
            if length and length < 16:
                stream.append(f"{d if d > 0 else d + (1 << length) - 1:0{length}b}")
        text = "".join(stream)
        text += "1" * (-len(text) % 8)
        data = int(text, 2).to_bytes(len(text) // 8, "big").replace(b"\xff", b"\xff\0")
        out += data if top + rows >= height else data + bytes([0xFF, 0xD0 + number % 8])
        number += 1
    return out


def segment(mark, body):
    return bytes([0xFF, mark]) + struct.pack(">H", len(body) + 2) + body


def lossless(array, bits, predictor=1, point=0, restart_rows=0, together=True, front=b"", sampling=0x11):
    """A JPEG, with codes of five bits."""
    array = array.reshape(*array.shape[:2], -1)
    height, width, count = array.shape
    planes = [array[..., c] for c in range(count)]
    out = b"\xff\xd8" + front
    out += segment(0xC4, b"\0" + bytes(4) + bytes([17]) + bytes(11) + bytes(range(17)))
    out += segment(0xC3, struct.pack(">BHHB", bits, height, width, count) +
                   b"".join(bytes([c + 1, sampling if c == 0 else 0x11, 0]) for c in range(count)))
    restart = restart_rows * width
    out += segment(0xDD, struct.pack(">H", restart)) if restart else b""
    for scan in [range(count)] if together else [[c] for c in range(count)]:
        out += segment(0xDA, bytes([len(scan)]) + b"".join(bytes([c + 1, 0]) for c in scan) +
                       bytes([predictor, 0, point]))
        out += coded([planes[c] for c in scan], bits, predictor, point, restart)
    return out + b"\xff\xd9"


class Rare(CliCase):
    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(13)
        self.write("a.xbm", b"#define a_width 8\n#define a_height 1\nstatic char a_bits[] = { 0x0f };\n")
        if self.smp("info", "a.xbm", status=(0, 3)).returncode:
            self.skipTest("this build, or machine, has no FFmpeg's libraries")

    def read(self, name):
        done = self.smp("convert", "-f", "--strip", name, "out.npy")
        self.assertEqual(done.stderr, "")
        return np.load(self.folder / "out.npy")

    def test_lossless_jpeg(self):
        cases = [(bits, count, 1, 0, 0, True) for bits in (2, 5, 7, 8, 10, 12, 15, 16) for count in (1, 3)]
        cases += [(bits, count, predictor, 0, 0, True) for bits in (8, 12, 16) for count in (1, 3)
                  for predictor in range(2, 8)]
        cases += [(8, 3, 4, 0, 0, False), (16, 3, 7, 0, 0, False), (8, 1, 6, 2, 0, True), (12, 3, 5, 4, 0, True),
                  (8, 3, 1, 0, 4, True), (12, 1, 7, 0, 5, True), (9, 1, 2, 0, 0, True)]
        for bits, count, predictor, point, rows, together in cases:
            ramp = np.add.outer(np.arange(19) * 3, np.arange(23) * 5)[..., None] * (1 << bits) // 180
            array = (ramp + self.rng.integers(0, 1 << bits, (19, 23, count))) % (1 << bits) >> point << point
            self.write("a.jpg", lossless(array, bits, predictor, point, rows, together))
            most, full = (1 << bits) - 1, 65535 if bits > 8 else 255
            want = (array * full + most // 2) // most
            got = self.read("a.jpg").reshape(want.shape)
            np.testing.assert_array_equal(got, want, f"{bits} {count} {predictor} {point} {rows} {together}")

    @unittest.skipUnless(shutil.which("jpeg"), "needs libjpeg-tools")
    def test_lossless_jpeg_of_another_coder(self):
        for count in (1, 3):
            array = np.add.outer(np.arange(31), np.arange(40))[..., None] % 256 // range(1, count + 1)
            Image.fromarray(array.astype(np.uint8).squeeze()).save(self.folder / "in.ppm")
            subprocess.run(["jpeg", "-p", "-c", "in.ppm", "a.jpg"], cwd=self.folder, check=True, capture_output=True)
            self.assertTrue(np.array_equal(self.read("a.jpg").reshape(array.shape), array), count)

    def test_what_stands_beside_lossless_samples_is_kept(self):
        front = (segment(0xE0, b"JFIF\0\1\1\1" + struct.pack(">HH", 200, 300) + bytes(2)) +
                 segment(0xE1, b"Exif\0\0" + EXIF) + segment(0xFE, b"by hand"))
        array = self.rng.integers(0, 256, (4, 6, 3))
        self.write("a.jpg", lossless(array, 8, front=front))
        info = self.smp("info", "-v", "a.jpg").stdout
        for words in ("lossless JPEG, 8 bits, RGB", "300.0 x 200.0 dpi", "by hand", "EXIF         26 bytes"):
            self.assertIn(words, info)
        np.testing.assert_array_equal(self.read("a.jpg"), np.rot90(array, -1))  # as the camera was held
        self.smp("convert", "a.jpg", "b.jpg")
        self.assertIn("format       JPEG, 8 bits", self.smp("info", "b.jpg").stdout)

    def test_lossless_jpeg_whose_frame_stands_behind_much(self):
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        profile = struct.pack(">I", 600000) + profile[4:] + bytes(600000 - len(profile))
        parts = [profile[at:at + 65000] for at in range(0, len(profile), 65000)]
        front = segment(0xE1, b"Exif\0\0" + EXIF + bytes(20000)) + b"\xff" + b"".join(
            segment(0xE2, b"ICC_PROFILE\0" + bytes([i + 1, len(parts)]) + part) for i, part in enumerate(parts))
        array = self.rng.integers(0, 256, (4, 6, 3))
        self.write("a.jpg", lossless(array, 8, front=front))
        info = self.smp("info", "-v", "a.jpg").stdout
        for words in ("lossless JPEG, 8 bits, RGB", "EXIF         20026 bytes", "600000 bytes"):
            self.assertIn(words, info)
        np.testing.assert_array_equal(self.read("a.jpg"), np.rot90(array, -1))
        told = self.smp("info", "-", input=(self.folder / "a.jpg").read_bytes(), text=False, status=3).stderr
        self.assertIn(b"is read from a file, not a pipe", told)
        for kind in (0xC5, 0xCB):  # hierarchical; lossless, coded arithmetically
            other = lossless(array, 8, front=front).replace(b"\xff\xc3\0\x11\x08", b"\xff%c\0\x11\x08" % kind)
            self.write("b.jpg", other)
            for told in (self.smp("info", "b.jpg", status=3).stderr.encode(),
                         self.smp("info", "-", input=other, text=False, status=3).stderr):
                self.assertIn(b"SOF%d" % (kind & 15), told)
                self.assertNotIn(b"a pipe", told)

    def test_lossless_jpeg_that_is_not_read_is_told(self):
        gray, rgb = self.rng.integers(0, 256, (9, 11, 1)), self.rng.integers(0, 256, (9, 11, 3))
        adobe = segment(0xEE, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, 1))
        for data, told in ((lossless(rgb, 8, front=adobe), "luma and chroma"), (lossless(rgb, 9), "of 9 bits"),
                           (lossless(np.dstack([rgb, gray]), 8), "4 components"),
                           (lossless(np.dstack([gray, gray]), 8), "2 components"),
                           (lossless(rgb, 8, sampling=0x22), "of a kind that"),
                           (lossless(rgb, 8).replace(b"\xff\xd9", b""), "truncated"),
                           (lossless(rgb, 8, together=False)[:-2].rsplit(b"\xff\xda", 1)[0] + b"\xff\xd9", "damaged")):
            self.write("a.jpg", data)
            self.assertIn(told, self.smp("convert", "a.jpg", "x.png", status=3).stderr)
            self.assertNotIn("x.png", self.files())

    def test_a_tiff_of_lossless_jpegs_is_named(self):
        data = lossless(self.rng.integers(0, 256, (9, 11, 1)), 8)
        data += bytes(len(data) % 2)
        entries = ((256, 11), (257, 9), (258, 8), (259, 7), (262, 1), (273, 8), (277, 1), (278, 9), (279, len(data)))
        self.write("a.tif", b"II*\0" + struct.pack("<I", 8 + len(data)) + data + struct.pack("<H", len(entries)) +
                   b"".join(struct.pack("<HHII", tag, 4 if tag in (273, 279) else 3, 1, value)
                            for tag, value in entries) + bytes(4))
        told = self.smp("convert", "a.tif", "x.png", status=3).stderr
        self.assertIn("the TIFF is of lossless JPEGs, which libtiff does not read", told)

    def damage(self, data, ending):
        """Cut short it is refused; flipped it may be anything, soon."""
        for cut in sorted({20, 60, len(data) // 3, len(data) // 2, len(data) - 8}):
            self.write(f"b.{ending}", data[:cut])
            self.smp("convert", f"b.{ending}", "x.png", status=3)
            self.assertNotIn("x.png", self.files())
        for _ in range(10):
            flipped = bytearray(data)
            for at in self.rng.integers(2, len(data), 3):
                flipped[at] ^= 1 << int(self.rng.integers(8))
            self.write(f"b.{ending}", bytes(flipped))
            begun = time.monotonic()
            self.smp("convert", "-f", f"b.{ending}", "x.png", status=(0, 3, 6))
            self.assertLess(time.monotonic() - begun, 30 if SANITIZED else 5)
        (self.folder / "x.png").unlink(missing_ok=True)

    def test_damage_does_not_cost(self):
        noise = self.rng.integers(0, 256, (33, 40, 3)).astype(np.uint8)
        self.damage(lossless(noise, 8), "jpg")
        big = lossless(noise[:4, :4], 8)
        at = big.index(b"\xff\xc3") + 5
        self.write("b.jpg", big[:at] + b"\xff\xff\xff\xff" + big[at + 4:])
        self.smp("convert", "b.jpg", "x.png", status=(3, 6), timeout=10)
        for name in ("a.sgi", "a.ras"):
            Image.fromarray(noise).save(self.folder / "in.png")
            if shutil.which("convert") and not subprocess.run(["convert", "in.png", name], cwd=self.folder).returncode:
                self.damage((self.folder / name).read_bytes(), name[2:])

    def test_a_size_beyond_a_limit_is_told_as_one(self):
        def files(side):
            yield "a.sgi", struct.pack(">HBBHHHH", 474, 0, 1, 3, side, side, 3).ljust(512, b"\0")
            yield "a.dds", (b"DDS " + struct.pack("<7I", 124, 0x1007, side, side, 4 * side, 0, 0).ljust(72, b"\0") +
                            struct.pack("<8I5I", 32, 65, 0, 32, 255 << 16, 255 << 8, 255, 255 << 24, 4096, 0, 0, 0, 0))
            yield "a.xbm", b"#define a_width %d\n#define a_height %d\nstatic char a[] = {0,1};\n" % (side, side)
        for side, status, words, said in ((65535, 6, (), "more than the limit of"), (20, 3, (), "is damaged, or of"),
                                          (20000, 6, ("--max-memory", "20G"), "more than FFmpeg reads"),
                                          (9000, 6, (), "out of proportion")):
            for name, data in files(side):
                self.write(name, data)
                self.assertIn(said, self.smp("convert", name, "x.png", *words, status=status).stderr, (name, side))

    def test_sgi(self):
        for shape, words in (((21, 37), {}), ((21, 37, 3), {}), ((21, 37, 4), {}), ((21, 37), {"bpc": 2})):
            array = np.repeat(self.rng.integers(0, 256, shape, dtype=np.uint8), 3, 1)
            picture = Image.fromarray(array)
            picture.save(self.folder / "a.sgi", **words)
            with Image.open(self.folder / "a.sgi") as want:
                got = self.read("a.sgi")
                np.testing.assert_array_equal(got if "bpc" not in words else got >> 8, np.array(want))

    @unittest.skipUnless(shutil.which("convert"), "needs imagemagick")
    def test_alpha_of_a_sun_raster_is_told(self):
        Image.new("RGBA", (9, 7), (10, 200, 30, 77)).save(self.folder / "in.png")
        subprocess.run(["convert", "in.png", "a.ras"], cwd=self.folder, check=True)
        self.assertIn("the fourth byte of each pixel, which may be its alpha, is left out",
                      self.smp("convert", "a.ras", "a.png").stderr)

    @unittest.skipUnless(shutil.which("convert"), "needs imagemagick")
    def test_as_imagemagick_writes_them(self):
        rgb = np.repeat(self.rng.integers(0, 256, (21, 37, 4), dtype=np.uint8), 3, 1)
        Image.fromarray(rgb).save(self.folder / "rgba.png")
        Image.fromarray(rgb[..., :3]).save(self.folder / "rgb.png")
        Image.fromarray(rgb[..., 0]).save(self.folder / "gray.png")
        Image.fromarray(rgb[..., 0] // 128 * 255).convert("1").save(self.folder / "bits.png")
        Image.fromarray(rgb[..., :3]).quantize(30).save(self.folder / "few.png")
        for source, target, *words in (("rgb", "sgi"), ("rgb", "sgi", "-compress", "RLE"), ("rgba", "sgi"),
                                       ("rgb", "sgi", "-depth", "16"), ("gray", "sgi"),
                                       ("rgb", "ras"), ("gray", "ras"), ("bits", "ras"), ("few", "ras"),
                                       ("bits", "xbm")):
            subprocess.run(["convert", f"{source}.png", *words, f"a.{target}"], cwd=self.folder, check=True)
            subprocess.run(["convert", f"a.{target}", "-depth", "16", "RGBA:want"], cwd=self.folder, check=True)
            want = np.fromfile(self.folder / "want", "<u2").reshape(21, 111, 4)
            got = self.read(f"a.{target}")
            got = got.reshape(21, 111, -1).astype(int) * (257 if got.dtype == np.uint8 else 1)
            if got.shape[2] < 3:
                got = np.repeat(got[..., :1], 3, 2)
            np.testing.assert_array_equal(got, want[..., :got.shape[2]], f"{source} {target} {words}")


if __name__ == "__main__":
    unittest.main()
