"""Tone curves and primaries that are in no ICC profile: PNG's gAMA, cHRM and cICP, and formats of light."""
import struct
import unittest

import cv2
import numpy as np
from PIL import Image

from harness import CliCase, chunk, png_bytes, png_chunks
from test_profile import P3, PARAMETRIC, encoded, exact

RAMP = np.arange(0, 250, 5, dtype=np.uint8)
CHRM_P3 = (0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060)


def gama(value):
    return chunk(b"gAMA", struct.pack(">I", round(value * 1e5)))


def chrm(values):
    return chunk(b"cHRM", struct.pack(">8I", *(round(v * 1e5) for v in values)))


class Gamma(CliCase):
    def gray(self, extra, name="in.png"):
        self.write(name, png_bytes([RAMP.tobytes()] * 4, len(RAMP), color=0, extra=extra))

    def colours(self, extra, name="in.png"):
        rgb = np.random.default_rng(7).integers(0, 256, (6, 9, 3), np.uint8)
        self.write(name, png_bytes([row.tobytes() for row in rgb], 9, extra=extra))
        return rgb

    def made(self, *arguments, out="out.png"):
        done = self.smp("convert", "-f", *arguments, out)
        self.assertEqual(done.stderr, "")
        return np.asarray(Image.open(self.folder / out))

    def near(self, got, want, limit=0.502):
        self.assertLessEqual(np.abs(got - want).max(), limit)

    def test_a_lost_gamma_is_told(self):
        for value in (1.0, 1 / 1.8):
            self.gray(gama(value))
            for arguments in (("a.jpg",), ("a.tif",), ("a.bmp",), ("a.pdf",), ("a.png", "--strip")):
                self.assertIn("gAMA", self.smp("convert", "-f", "in.png", *arguments).stderr, arguments)
            for arguments in (("a.png",), ("a.npy",), ("a.jpg", "-e", "profile srgb")):
                self.assertEqual(self.smp("convert", "-f", "in.png", *arguments).stderr, "", arguments)
        self.gray(gama(1 / 2.2))
        self.assertEqual(self.smp("convert", "-f", "in.png", "a.jpg").stderr, "")

    def test_lost_primaries_are_told(self):
        self.colours(gama(1 / 2.2) + chrm(CHRM_P3))
        for name, lost in (("a.jpg", "gAMA and cHRM"), ("a.pdf", "gAMA and cHRM"), ("a.pfm", "gAMA and cHRM"),
                           ("a.jp2", "gAMA and cHRM")):
            done = self.smp("convert", "-f", "in.png", name, status=(0, 3))
            if done.returncode == 0 or name < "a.e" or name == "a.pfm":  # .jp2 wants a library
                self.assertIn("no place for their " + lost, done.stderr)
                self.assertEqual(self.smp("convert", "-f", "in.png", name, "-e", "profile srgb").stderr, "")

    def test_a_lost_cicp_is_told(self):
        for transfer, convertible in ((13, True), (8, True), (16, False)):
            self.colours(chunk(b"cICP", bytes((12, transfer, 0, 1))))
            said = self.smp("convert", "-f", "in.png", "a.jpg").stderr
            self.assertIn("primaries 12", said)
            self.assertEqual("`profile srgb`" in said, convertible, transfer)
        self.colours(chunk(b"cICP", bytes((12, 13, 0, 1))))
        self.assertIn("drops their cICP", self.smp("convert", "-f", "in.png", "a.png", "--strip").stderr)

    def test_profile_uses_gamma_and_primaries(self):
        self.gray(gama(1 / 1.8))
        self.near(self.made("in.png", "-e", "profile missing=error")[0], 255 * encoded((RAMP / 255) ** 1.8))
        self.assertNotIn(b"gAMA", dict(png_chunks((self.folder / "out.png").read_bytes())))
        for extra in (chrm(CHRM_P3), chrm(CHRM_P3) + gama(1 / 2.2),
                      chunk(b"cICP", bytes((12, 13, 0, 1)))):
            rgb = self.colours(extra)
            self.near(self.made("in.png", "-e", "profile srgb"), exact(rgb, P3, PARAMETRIC), 0.6)
        rgb = self.colours(gama(1 / 2.2) + chrm((0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06)))
        self.assertTrue(np.array_equal(self.made("in.png", "-e", "profile srgb"), rgb))

    def test_radiance_is_light(self):
        pixels = np.array([(224, 112, 28, 126), (128, 128, 128, 129), (250, 10, 0, 128)], np.uint8)  # m 2^(e - 136)
        self.write("in.hdr", b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 3\n" + pixels.tobytes())
        light = pixels[:, :3] * 2.0 ** (pixels[:, 3:].astype(int) - 136)
        want = encoded(light)
        for arguments in ((), ("-e", "profile srgb"), ("-e", "gamma 1"), ("--plain-storage",), ("--no-fuse",),
                          ("-e", "light linear", "-e", "add 0.0000001", "-e", "light encoded")):
            self.smp("convert", "-f", "in.hdr", "out.png", *arguments)
            got = cv2.imread(str(self.folder / "out.png"), -1)[0, :, ::-1]
            self.near(got, want * 65535, 0.51)
            kinds = [kind for kind, _ in png_chunks((self.folder / "out.png").read_bytes())]
            self.assertIn(b"sRGB", kinds)
            self.assertNotIn(b"gAMA", kinds)
        self.assertEqual(got[0, 0] // 257, 128)
        self.smp("convert", "-f", "in.hdr", "out.jpg", "--quality", "100", "--jpeg-subsampling", "4:4:4")
        self.assertLessEqual(np.abs(cv2.imread(str(self.folder / "out.jpg"))[0, :, ::-1] - want * 255).max(), 4)
        self.smp("convert", "-f", "in.hdr", "out.npy")
        self.assertTrue(np.array_equal(np.load(self.folder / "out.npy")[0], light.astype(np.float32)))
        self.smp("convert", "-f", "in.hdr", "out.png", "-e", "gamma 2.2")  # who encodes by hand
        self.near(cv2.imread(str(self.folder / "out.png"), -1)[0, :, ::-1], light ** (1 / 2.2) * 65535, 0.51)


if __name__ == "__main__":
    unittest.main()
