"""Camera raw through LibRaw: a DNG by hand, developed as dcraw_emu does; what is kept of it, damage, and TIFFs that are
none."""
import os
import shutil
import struct
import subprocess
import time
import unittest

import numpy as np
from PIL import Image

from harness import SANITIZED, CliCase

SHORT, LONG, ASCII, BYTE, RATIONAL, SRATIONAL = 3, 4, 2, 1, 5, 10


def directory(at, tags, order="<"):
    """Entries of tag: (type, values), and behind them what is too long; lies at `at`."""
    sizes = {SHORT: "H", LONG: "I", ASCII: "s", BYTE: "B", RATIONAL: "II", SRATIONAL: "ii"}
    entries, more = b"", b""
    behind = at + 2 + 12 * len(tags) + 4
    for tag, (kind, values) in sorted(tags.items()):
        if kind == ASCII:
            data, count = values.encode() + b"\0", len(values) + 1
        elif kind in (RATIONAL, SRATIONAL):
            data = b"".join(struct.pack(order + sizes[kind], round(v * 10000), 10000) for v in values)
            count = len(values)
        else:
            data, count = struct.pack(f"{order}{len(values)}{sizes[kind]}", *values), len(values)
        if len(data) > 4:
            place = struct.pack(order + "I", behind + len(more))
            more += data + bytes(len(data) % 2)
        else:
            place = data.ljust(4, b"\0")
        entries += struct.pack(order + "HHI", tag, kind, count) + place
    return struct.pack(order + "H", len(tags)) + entries + bytes(4) + more


def dng(samples, orientation=1, order="<", **more):
    """Bayer's mosaic, red first; the neutral point is (0.5, 1, 0.7)."""
    height, width = samples.shape
    tags = {254: (LONG, [0]), 256: (LONG, [width]), 257: (LONG, [height]), 258: (SHORT, [16]), 259: (SHORT, [1]),
            262: (SHORT, [32803]), 271: (ASCII, "Handmade"), 272: (ASCII, "Model 7"), 273: (LONG, [0]),
            274: (SHORT, [orientation]), 277: (SHORT, [1]), 278: (LONG, [height]), 279: (LONG, [2 * height * width]),
            282: (RATIONAL, [300]), 283: (RATIONAL, [300]), 296: (SHORT, [2]), 700: (BYTE, b"<x:xmpmeta/>"),
            33421: (SHORT, [2, 2]), 33422: (BYTE, [0, 1, 1, 2]), 34665: (LONG, [0]), 50706: (BYTE, [1, 4, 0, 0]),
            50708: (ASCII, "Handmade Model 7"), 50717: (LONG, [65535]),
            50721: (SRATIONAL, [0.8, -0.2, -0.1, -0.4, 1.2, 0.2, -0.1, 0.2, 0.6]), 50728: (RATIONAL, [0.5, 1, 0.7]),
            50778: (SHORT, [21]), **more}
    exif = {33434: (RATIONAL, [0.01]), 36867: (ASCII, "2024:05:06 07:08:09")}
    exif_at = 8 + len(directory(8, tags, order))
    data_at = exif_at + len(directory(exif_at, exif, order))
    tags[34665], tags[273] = (LONG, [exif_at]), (LONG, [data_at])
    return ((b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8) + directory(8, tags, order) +
            directory(exif_at, exif, order) + samples.astype(order + "u2").tobytes())


class CameraRaw(CliCase):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(3)
        ramp = np.add.outer(np.arange(40) * 300, np.arange(64) * 500) + 4000
        self.samples = np.minimum(ramp + rng.integers(0, 2000, ramp.shape), 65535).astype(np.uint16)
        self.write("a.dng", dng(self.samples))
        self.write("a.tif", b"")
        lines = [line for line in self.smp("help", "formats").stdout.splitlines() if "camera raw" in line]
        if not lines or " read " not in lines[0]:
            self.skipTest("this build, or machine, has no LibRaw")

    @unittest.skipUnless(shutil.which("dcraw_emu"), "needs libraw-bin")
    def test_developed_as_dcraw_does(self):
        for orientation in (1, 3, 6, 8):
            for order in "<>":
                self.write("a.dng", dng(self.samples, orientation, order))
                subprocess.run(["dcraw_emu", "-w", "-6", "-g", "2.4", "12.92", "a.dng"], cwd=self.folder, check=True)
                self.smp("convert", "-f", "a.dng", "a.png")
                self.smp("diff", "a.dng.ppm", "a.png")
        self.smp("convert", "-f", "--no-sandbox", "a.dng", "b.png")
        self.smp("diff", "a.png", "b.png")

    @unittest.skipUnless(shutil.which("dcraw_emu"), "needs libraw-bin")
    def test_options_as_dcraw_has_them(self):
        for words, theirs in ((("--camera-white", "auto"), ("-a", "-g", "2.4", "12.92")),
                              (("--camera-white", "none"), ("-r", "1", "1", "1", "1", "-g", "2.4", "12.92")),
                              (("--camera-linear",), ("-w", "-g", "1", "1", "-W")),
                              (("--camera-half",), ("-w", "-h", "-g", "2.4", "12.92")),
                              (("--camera-half", "--camera-linear", "--camera-white=auto"), ("-a", "-h", "-4"))):
            subprocess.run(["dcraw_emu", "-6", *theirs, "a.dng"], cwd=self.folder, check=True)
            self.smp("convert", "-f", "a.dng", "a.png", *words)
            self.smp("diff", "a.dng.ppm", "a.png")
            self.assertEqual("file gamma   1" in self.smp("info", "a.png").stdout, "--camera-linear" in words)
        self.assertIn("no place for their gAMA", self.smp("convert", "a.dng", "a.jpg", "--camera-linear").stderr)

    def test_what_is_neutral_becomes_gray(self):
        mosaic = np.full((40, 64), 20000, np.uint16)
        mosaic[0::2, 0::2], mosaic[1::2, 1::2] = 10000, 14000
        self.write("a.dng", dng(mosaic))
        self.smp("convert", "a.dng", "a.npy")
        got = np.load(self.folder / "a.npy").astype(int)
        self.assertEqual(got.shape, (40, 64, 3))
        self.assertLess(np.ptp(got), 400)

    def test_what_is_kept(self):
        self.write("a.dng", dng(self.samples, 6))
        info = self.smp("info", "a.dng")
        for words in ("camera raw, 16 bits, Handmade Model 7", "40 x 64 px", "300.0 x 300.0 dpi", "xmp (12 bytes)"):
            self.assertIn(words, info.stdout)
        self.smp("convert", "a.dng", "a.jpg")
        with Image.open(self.folder / "a.jpg") as picture:
            exif = picture.getexif()
            self.assertEqual(exif[271], "Handmade")
            self.assertEqual(exif.get(274, 1), 1)
            self.assertEqual(exif.get_ifd(34665)[36867], "2024:05:06 07:08:09")
        (self.folder / "a.dng").rename(self.folder / "a.bin")  # known by its content
        self.smp("convert", "-f", "a.bin", "b.jpg")
        self.assertEqual((self.folder / "a.jpg").read_bytes(), (self.folder / "b.jpg").read_bytes())

    def test_tiffs_are_none(self):
        thumb = {254: (LONG, [1]), 330: (LONG, [9])}
        for more in ({}, thumb):
            tags = {256: (LONG, [4]), 257: (LONG, [1]), 258: (SHORT, [8]), 259: (SHORT, [1]), 262: (SHORT, [1]),
                    273: (LONG, [0]), 277: (SHORT, [1]), 278: (LONG, [1]), 279: (LONG, [4]), **more}
            tags[273] = (LONG, [8 + len(directory(8, tags))])
            self.write("a.tif", b"II*\0" + struct.pack("<I", 8) + directory(8, tags) + b"\1\2\3\4")
            self.assertIn("format       TIFF", self.smp("info", "a.tif").stdout)

    def test_damage_is_told_and_does_not_cost(self):
        data = dng(self.samples)
        cases = [data[:n] for n in (100, 400, 600, len(data) - 1, len(data) - 3000)]
        for tag in (256, 257, 273, 278, 279):
            at = data.index(struct.pack("<HHI", tag, LONG, 1)) + 8
            cases += [data[:at] + struct.pack("<I", n) + data[at + 4:] for n in (0, 60000, 0x7FFFFFFF)]
        for case in cases:
            self.write("b.dng", case)
            begun = time.monotonic()
            self.smp("convert", "-f", "b.dng", "b.npy", status=(0, 3, 6))
            self.assertLess(time.monotonic() - begun, 30 if SANITIZED else 10)
        self.write("b.dng", data[:-3000])
        done = self.smp("convert", "b.dng", "b.png", status=3)
        self.assertIn("its samples reach past the end", done.stderr)
        self.assertNotIn("b.png", self.files())
        self.assertNotIn("--no-verify", done.stderr)
        self.smp("convert", "b.dng", "b.png", "--no-verify", status=3)

    def test_a_missing_library_is_named(self):
        (self.folder / "none").mkdir()
        for name in os.listdir("/usr/lib/" + os.uname().machine + "-linux-gnu"):
            if name.startswith("libraw.so."):
                (self.folder / "none" / name).write_bytes(b"")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.folder / "none")}
        self.assertIn("apt-get install libraw-dev", self.smp("info", "a.dng", status=3, env=environment).stderr)


if __name__ == "__main__":
    unittest.main()
