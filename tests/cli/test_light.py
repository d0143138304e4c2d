"""light linear: by the tone curve that a file says it has (cICP, ICC, gAMA), else sRGB."""
import struct
import unittest
import zlib

import numpy
from scipy import ndimage

from harness import CliCase, chunk, png_bytes


def profile(curve, kind=b"RGB "):
    """An ICC profile of nothing but tone curves."""
    names = (b"rTRC", b"gTRC", b"bTRC") if kind == b"RGB " else (b"kTRC",)
    at, curve = 128 + 4 + 12 * len(names), curve + bytes(-len(curve) % 4)
    curve += numpy.random.default_rng(1).bytes(100)  # libpng refuses profiles that compress to almost nothing
    table = struct.pack(">I", len(names)) + b"".join(name + struct.pack(">II", at, len(curve)) for name in names)
    head = struct.pack(">I4sI4s4s4s", at + len(curve), b"none", 0x04000000, b"mntr", kind, b"XYZ ")
    head += bytes(12) + b"acsp" + bytes(28) + struct.pack(">III", 0xF6D6, 0x10000, 0xD32D)
    return head + bytes(128 - len(head)) + table + curve


def curv(*values):
    return b"curv\0\0\0\0" + struct.pack(f">I{len(values)}H", len(values), *values)


def para(kind, *values):
    return b"para\0\0\0\0" + struct.pack(f">HH{len(values)}i", kind, 0, *(round(v * 65536) for v in values))


def srgb(v):
    return numpy.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def unsrgb(v):
    return numpy.where(v <= 0.0031308, v * 12.92, 1.055 * v ** (1 / 2.4) - 0.055)


SRGB = (srgb, unsrgb)


def power(g):
    return lambda v: v ** g, lambda v: v ** (1 / g)


class Light(CliCase):
    def setUp(self):
        super().setUp()
        self.values = numpy.random.default_rng(5).integers(0, 256, (24, 31, 3), dtype=numpy.uint8)

    def picture(self, extra, name="in.png"):
        self.write(name, png_bytes([row.tobytes() for row in self.values], 31, extra=extra))

    def iccp(self, curve):

        return chunk(b"iCCP", b"x\0\0" + zlib.compress(profile(curve)))

    def blurred(self, extra, warned=None):
        self.picture(extra)
        stages = ("-e", "light linear", "-e", "gaussian 1.5px edge=mirror")
        done = self.smp("run", "-f", *stages, "in.png", "out.png")
        (self.assertIn("takes the picture for sRGB", done.stderr) if warned else self.assertEqual(done.stderr, ""))
        self.smp("run", "-f", "--device", "simt", "-q", *stages, "in.png", "simt.png")
        self.smp("diff", "out.png", "simt.png")
        self.smp("convert", "-f", "out.png", "out.npy")
        return numpy.load(self.folder / "out.npy").astype(float), self.smp("explain", *stages, "in.png").stdout

    def expected(self, curves):
        to, back = curves
        light = ndimage.gaussian_filter(to(self.values / 255), (1.5, 1.5, 0), mode="mirror", truncate=4)
        return 255 * back(light)

    def test_curves(self):
        gama = lambda g: chunk(b"gAMA", struct.pack(">I", round(g * 100000)))
        table = [round(65535 * float(v)) for v in srgb(numpy.linspace(0, 1, 1024))]
        for extra, curves, said in (
            (b"", SRGB, "of sRGB"),
            (gama(1 / 2.2), power(2.2), "values ^ 2.2"),
            (gama(0.55), power(1 / 0.55), "values ^ 1.818"),
            (gama(0.45455) + chunk(b"sRGB", b"\0"), SRGB, "of sRGB"),
            (self.iccp(curv(round(2.19921875 * 256))), power(2.19921875), "values ^ 2.199"),
            (self.iccp(curv(*table)), SRGB, "of sRGB"),
            (self.iccp(para(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)), SRGB, "of sRGB"),
            (self.iccp(para(0, 1.8)), power(1.8), "values ^ 1.8"),
            (gama(0.55) + self.iccp(para(0, 1.8)), power(1.8), "values ^ 1.8"),
            (chunk(b"cICP", bytes([1, 13, 0, 1])) + self.iccp(para(0, 1.8)), SRGB, "of sRGB"),
        ):  # fmt: skip
            with self.subTest(said=said):
                got, explained = self.blurred(extra)
                self.assertLess(numpy.abs(got - self.expected(curves)).max(), 0.52)
                self.assertIn("linear light (" + ("" if said == "of sRGB" else "the file's ") + said, explained)

    def test_linear_values_are_left_alone(self):
        for extra in (chunk(b"gAMA", struct.pack(">I", 100000)), self.iccp(curv())):
            got, explained = self.blurred(extra)
            self.assertLess(numpy.abs(got - self.expected((lambda v: v, lambda v: v))).max(), 0.52)
            self.assertNotIn("srgb_decode", explained)

    def test_a_curve_of_another_kind_is_told_and_taken_for_srgb(self):
        bent = curv(*(round(65535 * (x / 40) ** (1 + 2 * (x > 20))) for x in range(41)))
        for extra in (self.iccp(bent), self.iccp(b"sf32" + bytes(8)), self.iccp(curv(5, 6)[:12] + b"\0" * 4),
                      chunk(b"cICP", bytes([9, 16, 0, 1]))):
            got, _ = self.blurred(extra, warned=True)
            self.assertLess(numpy.abs(got - self.expected(SRGB)).max(), 0.52)
        self.assertEqual(self.smp("run", "-e", "invert", "in.png", "a.png").stderr, "")  # only where it matters

    def test_files_of_a_batch_have_their_own(self):
        (self.folder / "in").mkdir()
        self.picture(b"", "in/a.png")
        self.picture(chunk(b"gAMA", struct.pack(">I", 100000)), "in/b.png")
        self.picture(chunk(b"gAMA", struct.pack(">I", 55556)), "in/c.png")
        stages = ("-e", "light linear", "-e", "gaussian 2px")
        self.smp("batch", *stages, "in", "-o", "out", "--jobs", "1")
        for name in "abc":
            self.smp("run", "-f", *stages, f"in/{name}.png", "one.png")
            self.assertEqual((self.folder / "one.png").read_bytes(), (self.folder / f"out/{name}.png").read_bytes())
        self.smp("diff", "out/a.png", "out/b.png", status=7)
        self.smp("diff", "out/a.png", "out/c.png", status=7)


if __name__ == "__main__":
    unittest.main()
