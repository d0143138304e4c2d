"""JPEG XL that is written, as djxl and Pillow see it: samples, colours, metadata, JPEGs packed as they are."""
import io
import os
import shutil
import struct
import subprocess
import unittest

import numpy as np
from PIL import Image

from harness import SAMPLES, CliCase
from test_kept import loaded
from test_profile import ADOBE, GAMMA, icc

XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'
TIFF = b"II*\0\x08\0\0\0\1\0\x0f\1\2\0\4\0\0\0Cam\0\0\0\0\0"


def brotli(data):
    """RFC 7932: one block that is not packed, and an empty one."""
    return ((len(data) - 1) << 4 | 1 << 20).to_bytes(3, "little") + data + b"\x03"


def boxes(data):
    """name, content; of JPEG XL."""
    at = 0
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        yield name, data[at + 8:at + (size or len(data))]
        at += size or len(data)


class JpegXl(CliCase):
    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(11)
        for name, size in (("rgb8", 24), ("gray8", 8), ("rgba8", 32), ("la8", 16)):
            shape = (23, 37, size // 8) if size > 8 else (23, 37)
            Image.fromarray(self.rng.integers(0, 256, shape, dtype=np.uint8)).save(self.folder / f"{name}.png")
        if self.smp("convert", "rgb8.png", "a.jxl", status=(0, 4)).returncode:
            self.skipTest("this build, or machine, has no libjxl")

    def tool(self, *words):
        done = subprocess.run(words, cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def raw(self, array, name="in.raw"):
        self.write(name, array.tobytes())
        kind = {"float32": "f32le", "uint16": "u16le"}[array.dtype.name]
        return (name, "--raw", f"{kind}x{array.shape[2]}:{array.shape[1]}x{array.shape[0]}")

    @unittest.skipUnless(shutil.which("djxl"), "needs libjxl-tools")
    def test_without_loss(self):
        for name in ("rgb8", "gray8", "rgba8", "la8"):
            self.smp("convert", "-f", f"{name}.png", "a.jxl", "--lossless")
            self.tool("djxl", "a.jxl", "peer.png")
            with Image.open(self.folder / "peer.png") as peer, Image.open(self.folder / f"{name}.png") as want:
                self.assertTrue(np.array_equal(np.array(peer), np.array(want)), name)
            self.smp("convert", "-f", "a.jxl", "own.png")
            self.smp("diff", f"{name}.png", "own.png")
        deep = self.rng.integers(0, 65536, (9, 20, 3), dtype=np.uint16)
        light = self.rng.random((9, 20, 4), dtype=np.float32) * 3 - 1
        for array in (deep, light):
            self.smp("convert", "-f", *self.raw(array), "a.jxl", "--lossless")
            self.smp("convert", "-f", "a.jxl", "out.npy")
            self.assertTrue(np.array_equal(np.load(self.folder / "out.npy"), array))

    def test_quality(self):
        shutil.copy(SAMPLES / "chelsea.png", self.folder)
        sizes, errors = [], []
        for words in (("--quality", "20"), ("--quality", "60"), (), ("--lossless",), ("--quality", "100")):
            self.smp("convert", "-f", "chelsea.png", "a.jxl", *words)
            self.smp("convert", "-f", "a.jxl", "a.npy")
            sizes.append((self.folder / "a.jxl").stat().st_size)
            errors.append(np.abs(np.load(self.folder / "a.npy").astype(int) -
                                 np.array(Image.open(self.folder / "chelsea.png"))).mean())
        self.assertEqual(sizes, sorted(sizes))
        self.assertEqual(errors, sorted(errors, reverse=True))
        self.assertEqual(errors[3:], [0, 0])
        alone = (self.folder / "a.jxl").read_bytes()
        self.smp("convert", "-f", "chelsea.png", "a.jxl", "--quality", "100", "--threads", "1")
        self.assertEqual((self.folder / "a.jxl").read_bytes(), alone)

    @unittest.skipUnless(shutil.which("djxl"), "needs libjxl-tools")
    def test_a_jpeg_is_packed_as_it_is_coded(self):
        self.write("all.jpg", loaded())  # on its side
        self.smp("convert", "all.jpg", "b.jxl")
        self.tool("djxl", "b.jxl", "back.jpg")
        want, got = (Image.open(io.BytesIO((self.folder / n).read_bytes())) for n in ("all.jpg", "back.jpg"))
        self.assertEqual(want.quantization, got.quantization)
        self.assertTrue(np.array_equal(np.array(want), np.array(got)))
        self.smp("convert", "b.jxl", "up.png")
        self.smp("convert", "all.jpg", "want.png")
        self.smp("diff", "up.png", "want.png", "--max-abs", "3")
        self.assertIn(b"Maker", (self.folder / "b.jxl").read_bytes())
        self.smp("convert", "all.jpg", "c.jxl", "--quality", "50")
        self.assertNotIn(b"jbrd", (self.folder / "c.jxl").read_bytes())

    def test_colours_by_a_profile(self):
        x = np.arange(60, dtype=np.uint8)
        rgb = np.stack(np.broadcast_arrays(x * 4, 255 - x * 3, (x * 2)[:, None]), -1)
        Image.fromarray(np.ascontiguousarray(rgb)).save(self.folder / "a.png", icc_profile=icc(ADOBE, GAMMA))
        self.smp("convert", "-q", "a.png", "want.npy", "-e", "profile srgb", "-e", "depth float")
        want = np.load(self.folder / "want.npy")
        self.smp("convert", "-f", "a.png", "a.jxl", "--lossless")
        self.assertIn(f"{len(icc(ADOBE, GAMMA))} bytes", self.smp("info", "a.jxl").stdout)
        self.smp("convert", "-q", "a.jxl", "b.npy", "-e", "profile srgb", "-e", "depth float")
        self.assertTrue(np.array_equal(np.load(self.folder / "b.npy"), want))
        self.smp("convert", "-f", "a.png", "a.jxl", "--quality", "99")  # libjxl then gives light, not these colours
        self.assertIn("file gamma   1", self.smp("info", "a.jxl").stdout)
        self.smp("convert", "-q", "a.jxl", "c.png")
        got = np.array(Image.open(self.folder / "c.png").convert("RGB")) / 255
        self.assertLess(np.abs(got - want).mean(), 0.01)

    def test_light_stays_light(self):
        pixels = self.rng.integers(128, 256, (9, 5, 4), dtype=np.uint8)
        self.write("in.hdr", b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 9 +X 5\n" + pixels.tobytes())
        self.smp("convert", "in.hdr", "want.npy")
        self.smp("convert", "-f", "in.hdr", "a.jxl", "--lossless")
        self.assertIn("file gamma   1", self.smp("info", "a.jxl").stdout)
        self.smp("convert", "a.jxl", "got.npy")
        self.assertTrue(np.array_equal(np.load(self.folder / "got.npy"), np.load(self.folder / "want.npy")))

    def test_metadata_in_brotli_is_read(self):
        data = (self.folder / "a.jxl").read_bytes()
        head, coded = data[:0], data
        if data[:2] == b"\xff\x0a":
            head = b"\0\0\0\x0cJXL \r\n\x87\n\0\0\0\x14ftypjxl \0\0\0\0jxl "
            coded = struct.pack(">I", 8 + len(data)) + b"jxlc" + data
        for front in (True, False):
            packed = b"".join(struct.pack(">I", 12 + len(brotli(body))) + b"brob" + kind + brotli(body)
                              for kind, body in ((b"Exif", bytes(4) + TIFF), (b"xml ", XMP)))
            self.write("b.jxl", head + (packed + coded if front else coded + packed))
            info = self.smp("info", "b.jxl")
            self.assertIn("EXIF         26 bytes", info.stdout)
            self.assertIn("xmp (37 bytes)", info.stdout)
            self.assertEqual(info.stderr, "")
        bomb = struct.pack(">I", 8 + 4 + 60000) + b"brobxml " + bytes(60000)
        self.write("b.jxl", head + bomb + coded)
        self.smp("info", "b.jxl", status=(0, 3), timeout=10)

    def test_a_missing_library_is_named(self):
        (self.folder / "none").mkdir()
        for name in os.listdir("/usr/lib/" + os.uname().machine + "-linux-gnu"):
            if name.startswith("libjxl.so."):
                (self.folder / "none" / name).write_bytes(b"")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.folder / "none")}
        for words, status in ((("a.jxl", "b.png"), 3), (("rgb8.png", "b.jxl"), 4)):
            done = self.smp("convert", *words, status=status, env=environment)
            self.assertIn("libjxl, which JPEG XL needs, cannot be opened", done.stderr)
            self.assertIn("apt-get install libjxl0.7", done.stderr)


if __name__ == "__main__":
    unittest.main()
