"""CMYK, which becomes sRGB where it is read: by its profile as Little CMS has it; what is said where it has none."""
import io
import struct
import unittest

import numpy as np
from PIL import Image, ImageCms

from harness import CliCase
from test_profile import coded, fixed, icc, lab_of


def inks():
    return np.random.default_rng(3).integers(0, 256, (24, 31, 4), np.uint8)


def lut4(kind, points=9):
    """Tables from CMYK, by curves of 256 entries, to Lab."""
    ink = np.stack(np.meshgrid(*[np.linspace(0, 1, points)] * 4, indexing="ij"), -1)
    light = np.prod(1 - ink[..., None] * np.array([(.9, .5, .2), (.3, .85, .4), (.1, .15, .8), (.9, .9, .9)]), -2)
    m = np.array([(0.436, 0.222, 0.014), (0.385, 0.717, 0.097), (0.143, 0.061, 0.714)])
    lab = lab_of(light @ m * 0.98 + 0.01 * np.array([0.9642, 1, 0.8249]))
    ramp = np.linspace(0, 1, 256) ** 0.8
    head = struct.pack(">4sI4B", kind, 0, 4, 3, points, 0) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1)
    if kind == b"mft1":
        return (head + np.rint(ramp * 255).astype(np.uint8).tobytes() * 4 +
                coded(lab, 255).clip(0, 255).astype(np.uint8).tobytes() + bytes(range(256)) * 3)
    if kind == b"mft2":
        return (head + struct.pack(">2H", 256, 2) + np.rint(ramp * 65535).astype(">u2").tobytes() * 4 +
                coded(lab, 65280).clip(0, 65535).astype(">u2").tobytes() + np.array([0, 65535], ">u2").tobytes() * 3)
    grid = bytes([points] * 4 + [0] * 12 + [2, 0, 0, 0]) + coded(lab, 65535).clip(0, 65535).astype(">u2").tobytes()
    grid += bytes(-len(grid) % 4)
    line, bent = b"curv" + bytes(8), b"para\0\0\0\0" + struct.pack(">HH", 0, 0) + fixed(0.8)
    return struct.pack(">4sI4B5I", kind, 0, 4, 3, 0, 0, 32, 0, 0, 68, 68 + len(grid)) + line * 3 + grid + bent * 4


def press(kind):
    tables = [(b"A2B0", lut4(kind)), (b"A2B1", lut4(kind))]
    return icc(space=b"CMYK", connection=b"Lab ", version=4 if kind == b"mAB " else 2, tables=tables)


def psd(array, profile):
    """A PSD of CMYK: stored inverted."""
    height, width = array.shape[:2]
    resource = b"8BIM" + struct.pack(">HHI", 1005, 0, 3) + b"abc\0"
    resource += b"8BIM" + struct.pack(">HHI", 1039, 0, len(profile)) + profile + bytes(len(profile) % 2)
    head = b"8BPS" + struct.pack(">H6xHIIHH", 1, 4, height, width, 8, 4)
    return (head + struct.pack(">II", 0, len(resource)) + resource + struct.pack(">IH", 0, 0) +
            (255 - array).transpose(2, 0, 1).tobytes())


class Inks(CliCase):
    def put(self, name, array, profile=None, **options):
        Image.fromarray(array, "CMYK").save(self.folder / name, icc_profile=profile, **options)

    def made(self, name):
        done = self.smp("convert", "-f", name, "out.png")
        self.assertEqual(done.stderr, "", name)
        return np.asarray(Image.open(self.folder / "out.png"))

    def test_inks_without_a_profile_are_told(self):
        Image.fromarray(inks(), "CMYK").save(self.folder / "a.jpg")
        self.assertIn("its CMYK has no ICC profile: colours are approximate",
                      self.smp("convert", "a.jpg", "a.png").stderr)

    def test_a_profile_makes_srgb_as_little_cms(self):
        array = inks()
        for kind in (b"mft1", b"mft2", b"mAB "):
            profile = press(kind)
            way = ImageCms.buildTransform(ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB"),
                                          "CMYK", "RGB", 1, 0x2000 | 0x100)  # relative, black point; not optimised
            want = np.asarray(ImageCms.applyTransform(Image.fromarray(array, "CMYK"), way)).astype(int)
            self.put("in.tif", array, profile)
            got = self.made("in.tif")
            apart = np.abs(got.astype(int) - want)
            self.assertLessEqual(apart.max(), 2, kind)
            self.assertLess(apart.mean(), 0.2, kind)
        self.write("in.psd", psd(array, profile))
        self.assertTrue(np.array_equal(self.made("in.psd"), got))
        self.assertIn("CMYK to sRGB by its profile", self.smp("info", "in.psd").stdout)
        data = (self.folder / "in.psd").read_bytes()
        exif = b"II*\0\x08\0\0\0\1\0\x3B\1\2\0\4\0\0\0Ann\0\0\0\0\0"
        more = b"".join(b"8BIM" + number.to_bytes(2, "big") + bytes(2) + len(part).to_bytes(4, "big") + part
                        for number, part in ((1058, exif), (1060, b"<x/>"), (1005, b"\0\x90\0\0\0\1\0\1" * 2)))
        size = int.from_bytes(data[30:34], "big")
        self.write("in.psd", data[:30] + (size + len(more)).to_bytes(4, "big") + more + data[34:])
        told = self.smp("info", "--format", "{artist}", "in.psd").stdout + self.smp("info", "in.psd").stdout
        for part in ("Ann\n", "144.0 x 144.0 dpi", "XML:com.adobe.xmp (4 bytes)", "CMYK to sRGB by its profile"):
            self.assertIn(part, told)
        self.put("in.jpg", np.broadcast_to(array[:1, :1], (16, 16, 4)), profile, quality=100)
        self.assertLessEqual(np.abs(self.made("in.jpg").astype(int) - want[0, 0]).max(), 6)
        self.assertEqual(self.smp("run", "-f", "-e", "profile", "in.tif", "out.png").stderr, "")

    def test_a_profile_that_cannot_be_used_is_told(self):
        array = inks()
        for profile in (b"junk" * 4 + b"CMYK" + b"junk" * 40, press(b"mft2")[:-70000], icc()):
            for name in ("in.jpg", "in.tif"):
                self.put(name, array, profile)
                for command in (("convert", "-f", name, "out.png"), ("info", name), ("measure", "-e", "stats", name)):
                    self.assertRegex(self.smp(*command).stderr, "without its ICC profile.*: colours are approximate")
            k = 255 - array.astype(int)
            self.smp("convert", "-f", "in.tif", "out.png")
            self.assertTrue(np.array_equal(np.asarray(Image.open(self.folder / "out.png")),
                                           (k[..., :3] * k[..., 3:] + 127) // 255))

    def test_a_jpeg_whose_metadata_alone_changes_stays_as_it_is_coded(self):
        profile = press(b"mft2")
        for name, options in (("a.jpg", {}), ("b.jpg", {"profile": profile}),
                              ("c.jpg", {"profile": profile, "dpi": (300, 300)})):
            self.put(name, inks(), **options)
            data = (self.folder / name).read_bytes()
            if name == "a.jpg":  # YCCK
                at = data.index(b"Adobe") + 11
                self.write(name, data[:at] + b"\2" + data[at + 1:])
            want = np.asarray(Image.open(self.folder / name))
            for words in (("--tag", "comment=New", "-o", "new"), ("--strip", "-o", "new"),
                          ("--in-place", "--tag", "comment=New")):
                told = self.smp("convert", "-f", name, *words).stderr
                self.assertFalse("anew" in told or "CMYK" in told or "loses" in told, (name, told))
                path = self.folder / (name if "--in-place" in words else f"new/{name}")
                with Image.open(path) as made:
                    self.assertEqual((made.mode, made.info.get("icc_profile")), ("CMYK", options.get("profile")))
                    self.assertEqual(made.info.get("dpi"), None if "--strip" in words else options.get("dpi"))
                    self.assertTrue(np.array_equal(np.asarray(made), want))
                self.assertEqual(b"New" in path.read_bytes(), "--strip" not in words)
        for to in ("o.pdf", "o.jxl", "o.jpg"):  # none of which has inks
            done = self.smp("run", "-f", "b.jpg", to, "-e", "profile", status=(0, 4))
            self.assertNotIn("anew", done.stderr)
        with Image.open(self.folder / "o.jpg") as made:
            self.assertEqual(made.mode, "RGB")
        self.assertIn(b"/DeviceRGB", (self.folder / "o.pdf").read_bytes())

    def test_a_profile_of_a_psd_that_is_too_large_is_told(self):
        self.write("in.psd", psd(inks(), bytes(33 << 20)))
        self.assertIn("the ICC profile is left out: it has 34603008 bytes", self.smp("info", "in.psd").stderr)


if __name__ == "__main__":
    unittest.main()
