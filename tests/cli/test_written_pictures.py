"""JPEG XL, JPEG 2000 and OpenEXR that are written, as djxl, opj_decompress, Pillow and OpenCV see them: samples,
colours, metadata."""
import io
import os
import shutil
import struct
import subprocess
import unittest
import zlib
import unittest.mock

import cv2
import numpy as np
from PIL import Image

from harness import SAMPLES, CliCase, chunk, png_bytes, png_chunks
from test_kept import loaded
from test_profile import ADOBE, GAMMA, PARAMETRIC, POINTS, icc

XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'
TIFF = b"II*\0\x08\0\0\0\1\0\x0f\1\2\0\4\0\0\0Cam\0\0\0\0\0"


def brotli(data):
    """RFC 7932: one block that is not packed, and an empty one."""
    return ((len(data) - 1) << 4 | 1 << 20).to_bytes(3, "little") + data + b"\x03"


class Written(CliCase):
    ending = library = ""

    def setUp(self):
        super().setUp()
        if not self.ending:
            self.skipTest("what the formats share")
        self.rng = np.random.default_rng(11)
        for name, size in (("rgb8", 24), ("gray8", 8), ("rgba8", 32), ("la8", 16)):
            shape = (23, 37, size // 8) if size > 8 else (23, 37)
            Image.fromarray(self.rng.integers(0, 256, shape, dtype=np.uint8)).save(self.folder / f"{name}.png")
        if self.smp("convert", "rgb8.png", f"a.{self.ending}", status=(0, 4)).returncode:
            self.skipTest(f"this build, or machine, has no {self.library}")

    def tool(self, *words):
        done = subprocess.run(words, cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def raw(self, array, name="in.raw"):
        self.write(name, array.tobytes())
        kind = {"float32": "f32le", "uint16": "u16le"}[array.dtype.name]
        return (name, "--raw", f"{kind}x{array.shape[2]}:{array.shape[1]}x{array.shape[0]}")

    def colours(self):
        """Colours by a profile, as a.png, and what they are in sRGB."""
        x = np.arange(60, dtype=np.uint8)
        rgb = np.stack(np.broadcast_arrays(x * 4, 255 - x * 3, (x * 2)[:, None]), -1)
        Image.fromarray(np.ascontiguousarray(rgb)).save(self.folder / "a.png", icc_profile=icc(ADOBE, GAMMA))
        self.smp("convert", "-q", "a.png", "want.npy", "-e", "profile srgb", "-e", "depth float")
        return np.load(self.folder / "want.npy")

    def numbered(self, numbers):
        """a.png, whose colours cICP numbers."""
        rows = [self.rng.bytes(3 * 20) for _ in range(9)]
        self.write("a.png", png_bytes(rows, 20, extra=chunk(b"cICP", bytes((*numbers, 0, 1)))))

    def check_quality(self, *words):
        """Smaller files are further from the picture; returns the mean errors."""
        shutil.copy(SAMPLES / "chelsea.png", self.folder)
        sizes, errors = [], []
        for one in words:
            self.smp("convert", "-f", "chelsea.png", f"q.{self.ending}", *one)
            self.smp("convert", "-f", f"q.{self.ending}", "q.npy")
            sizes.append((self.folder / f"q.{self.ending}").stat().st_size)
            with Image.open(self.folder / "chelsea.png") as want:
                errors.append(np.abs(np.load(self.folder / "q.npy").astype(int) - np.array(want)).mean())
        self.assertEqual(sizes, sorted(sizes))
        self.assertEqual(errors, sorted(errors, reverse=True))
        alone = (self.folder / f"q.{self.ending}").read_bytes()
        self.smp("convert", "-f", "chelsea.png", f"q.{self.ending}", *words[-1], "--threads", "1")
        self.assertEqual((self.folder / f"q.{self.ending}").read_bytes(), alone)
        return errors

    def check_missing(self, library, package, *lines):
        (self.folder / "none").mkdir()
        for name in os.listdir("/usr/lib/" + os.uname().machine + "-linux-gnu"):
            if name.startswith(library):
                (self.folder / "none" / name).write_bytes(b"")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.folder / "none")}
        for words, status in lines:
            done = self.smp("convert", *words, status=status, env=environment)
            self.assertIn("cannot be opened", done.stderr)
            self.assertIn(f"apt-get install {package}", done.stderr)


class JpegXl(Written):
    ending, library = "jxl", "libjxl"

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
        errors = self.check_quality(("--quality", "20"), ("--quality", "60"), (), ("--lossless",), ("--quality", "100"))
        self.assertEqual(errors[3:], [0, 0])

    def test_colours_that_end_libjxl_are_told_and_cost_no_other_file(self):
        red = ADOBE[0]
        for name, colorants, curve in (("same", np.array([red, red, red]), GAMMA), ("dim", ADOBE * (0.5, 1, 1), GAMMA),
                                       ("inverse", ADOBE, b"curv\0\0\0\0" + struct.pack(">IH", 1, 0xCC)),
                                       ("steps", ADOBE, POINTS[:-4] + b"\xf0\0\xff\xff")):
            (self.folder / name).mkdir()
            Image.new("RGB", (5, 4), (9, 99, 199)).save(self.folder / name / "b.png", icc_profile=icc(colorants, curve))
            for other in "ac":
                shutil.copy(self.folder / "rgb8.png", self.folder / name / f"{other}.png")
            told = self.smp("batch", "-e", "invert", name, "--to", "jxl", "-o", f"{name}.out").stderr
            self.assertIn("the ICC profile is left out", told)
            self.assertEqual(len(list((self.folder / f"{name}.out").glob("*.jxl"))), 3, name)

    def test_samples_that_end_libjxl_are_told(self):
        odd = np.full((9, 8, 3), .5, np.float32)
        odd[3, 4], odd[5, 5] = (np.nan, np.inf, -np.inf), 1e30
        told = self.smp("convert", "-f", *self.raw(odd), "a.jxl").stderr
        self.assertIn("made 0 or 4, since they are no number or beyond: 6 of its samples", told)
        for value, told in ((3.5, False), (1000, True)):
            flat = self.raw(np.full((64, 64, 3), value, np.float32))
            self.assertEqual("beyond" in self.smp("convert", "-f", *flat, "a.jxl").stderr, told)
            self.smp("convert", "-f", "a.jxl", "out.npy")
            self.assertAlmostEqual(float(np.load(self.folder / "out.npy").mean()), min(value, 4), delta=.2)
        self.smp("convert", "-f", *self.raw(odd), "a.jxl", "--lossless")
        self.smp("convert", "-f", "a.jxl", "out.npy")
        self.assertTrue(np.array_equal(np.load(self.folder / "out.npy"), odd, equal_nan=True))

    def test_floats_of_few_values_come_back(self):
        """cjxl 0.7 -d 0 spoils some 5 of these 60."""
        for i in range(60):
            values = self.rng.choice([.5, 2, 0, 1, -3, .25, 1e6, .1, .3, .7], int(self.rng.integers(2, 5)), False)
            shape = (*self.rng.integers(1, 40, 2), 1 + i % 3)
            array = self.rng.choice(values, shape).astype(np.float32)
            self.smp("convert", "-f", *self.raw(array), "a.jxl", "--lossless")
            self.smp("convert", "-f", "a.jxl", "out.npy")
            self.assertTrue(np.array_equal(np.load(self.folder / "out.npy").reshape(shape), array), (shape, values))

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
        for words in (("--threads", "5"), ("--no-sandbox",)):
            self.smp("convert", "all.jpg", "d.jxl", "-f", *words)
            self.assertEqual((self.folder / "b.jxl").read_bytes(), (self.folder / "d.jxl").read_bytes())

    def test_a_jpeg_that_libjxl_cannot_pack_is_coded_anew(self):
        whole = (SAMPLES / "rocket.jpg").read_bytes()
        self.write("odd.jpg", whole[:27000] + b"\0" + whole[27001:])  # libjpeg reads it, and warns
        told = self.smp("convert", "odd.jpg", "odd.jxl").stderr
        self.assertIn("what is coded cannot be copied, since the library refuses it: it is coded anew", told)
        self.smp("convert", "odd.jpg", "want.png")
        self.smp("diff", "odd.jxl", "want.png", "--psnr=30")

    def test_colours_by_a_profile(self):
        x = np.arange(60, dtype=np.uint8)
        rgb = np.stack(np.broadcast_arrays(x * 4, 255 - x * 3, (x * 2)[:, None]), -1)
        for name, colorants, curve in (("Adobe RGB", ADOBE, GAMMA), ("its primaries, sRGB's curve", ADOBE, PARAMETRIC)):
            Image.fromarray(np.ascontiguousarray(rgb)).save(self.folder / "a.png", icc_profile=icc(colorants, curve))
            self.smp("convert", "-qf", "a.png", "want.npy", "-e", "profile srgb", "-e", "depth float")
            want = np.load(self.folder / "want.npy")
            for words, most in ((("--lossless",), 0.002), (("--quality", "99"), 0.03)):
                told = self.smp("convert", "-f", "a.png", "a.jxl", *words).stderr
                self.assertNotIn("profile", told)
                self.smp("convert", "-qf", "a.jxl", "b.npy", "-e", "profile srgb", "-e", "depth float")
                self.assertLess(np.abs(np.load(self.folder / "b.npy") - want).mean(), most, (name, words))
        gray = Image.fromarray(np.ascontiguousarray(rgb[..., 0]))
        curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, 0x01CD)
        gray.save(self.folder / "a.png", icc_profile=icc(None, curve, b"GRAY"))
        self.smp("convert", "-f", "a.png", "a.jxl", "--lossless")
        self.smp("convert", "-f", "a.jxl", "b.png")
        for name in ("a", "b"):
            self.smp("convert", "-qf", f"{name}.png", f"{name}.npy", "-e", "profile srgb", "-e", "depth float")
        self.assertLess(np.abs(np.load(self.folder / "a.npy") - np.load(self.folder / "b.npy")).max(), 0.004)

    @unittest.skipUnless(shutil.which("jxlinfo"), "needs libjxl-tools")
    def test_colours_by_number_stay(self):
        for numbers, name in (((12, 13), "P3 primaries, sRGB"), ((9, 16), "Rec.2100 primaries, PQ"), ((1, 1), "709"),
                              ((9, 18), "HLG"), ((11, 17), "DCI"), ((12, 8), "P3 primaries, Linear")):
            self.numbered(numbers)
            self.assertEqual(self.smp("convert", "-f", "a.png", "a.jxl", "--lossless").stderr, "")
            said = subprocess.run(["jxlinfo", "a.jxl"], cwd=self.folder, capture_output=True, text=True).stdout
            self.assertIn(name, said)
            self.smp("convert", "-f", "a.jxl", "b.png")
            self.smp("diff", "a.png", "b.png")
            self.assertEqual(dict(png_chunks((self.folder / "b.png").read_bytes()))[b"cICP"], bytes((*numbers, 0, 1)))
            self.assertEqual(self.smp("convert", "-f", "a.jxl", "b.jpg").stderr, "")  # by a profile
            self.assertIn("ICC profile", self.smp("info", "b.jpg").stdout)
        self.numbered((12, 14))  # which JPEG XL has not
        told = self.smp("convert", "-f", "a.png", "a.jxl").stderr
        self.assertIn("transfer 14 (cICP), which a JPEG XL cannot say", told)
        self.smp("convert", "-f", "a.png", "a.jxl", "-e", "profile from=display-p3")
        self.assertIn("Color space: RGB, D65, sRGB primaries, sRGB", subprocess.run(
            ["jxlinfo", "a.jxl"], cwd=self.folder, capture_output=True, text=True).stdout)

    def test_light_stays_light(self):
        pixels = self.rng.integers(128, 256, (9, 5, 4), dtype=np.uint8)
        self.write("in.hdr", b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 9 +X 5\n" + pixels.tobytes())
        self.smp("convert", "in.hdr", "want.npy")
        self.smp("convert", "-f", "in.hdr", "a.jxl", "--lossless")
        self.assertIn("file gamma   1", self.smp("info", "a.jxl").stdout)
        self.smp("convert", "a.jxl", "got.npy")
        self.assertTrue(np.array_equal(np.load(self.folder / "got.npy"), np.load(self.folder / "want.npy")))
        self.smp("convert", "-f", "in.hdr", "a.jxl", "--lossless", "--strip")
        self.assertIn("file gamma   1", self.smp("info", "a.jxl").stdout)

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
        self.check_missing("libjxl.so.", "libjxl0.7", (("a.jxl", "b.png"), 3), (("rgb8.png", "b.jxl"), 4))


class Jpeg2000(Written):
    ending, library = "jp2", "OpenJPEG"

    @unittest.skipUnless(shutil.which("opj_decompress"), "needs libopenjp2-tools")
    def test_without_loss(self):
        for name in ("rgb8", "gray8", "rgba8", "la8"):
            self.smp("convert", "-f", f"{name}.png", "a.jp2")
            with Image.open(self.folder / "a.jp2") as got, Image.open(self.folder / f"{name}.png") as want:
                self.assertEqual(got.mode, want.mode)
                self.assertTrue(np.array_equal(np.array(got), np.array(want)), name)
        for shape in ((9, 20, 4), (1, 1, 3), (5, 300, 2), (40, 3, 1)):
            array = self.rng.integers(0, 65536, shape, dtype=np.uint16)
            self.smp("convert", "-f", *self.raw(array), "a.jp2")
            self.tool("opj_decompress", "-i", "a.jp2", "-o", "peer.raw")  # planes
            peer = np.frombuffer((self.folder / "peer.raw").read_bytes(), "<u2").reshape(shape[2], *shape[:2])
            self.assertTrue(np.array_equal(peer.transpose(1, 2, 0), array), shape)

    def test_quality(self):
        words = [("--quality", n) for n in ("10", "50", "90")]
        self.assertEqual(self.check_quality(*words, ())[-1], 0)
        self.check_quality(("--quality", "90"), ("--quality", "90", "--lossless"))

    def test_what_is_said_beside_the_samples(self):
        self.write("all.jpg", loaded())  # on its side, 300 dpi
        self.assertIn("'Comment' is left out", self.smp("convert", "all.jpg", "b.jp2").stderr)
        info = self.smp("info", "b.jp2").stdout
        for words in ("16 x 24 px", "EXIF", "300.0 x 300.0 dpi", "xmp", "ICC profile"):
            self.assertIn(words, info)
        self.colours()
        self.smp("convert", "a.png", "c.jp2")
        with Image.open(self.folder / "c.jp2") as got:
            self.assertEqual(got.info.get("icc_profile", icc(ADOBE, GAMMA)), icc(ADOBE, GAMMA))
        self.assertIn(icc(ADOBE, GAMMA), (self.folder / "c.jp2").read_bytes())
        piped = self.smp("convert", "a.png", "-", "--to", "jp2", text=False)
        self.assertEqual(piped.stdout, (self.folder / "c.jp2").read_bytes())

    def test_a_missing_library_is_named(self):
        self.check_missing("libopenjp2.so.", "libopenjp2-7", (("rgb8.png", "b.jp2"), 4))

    def test_a_resolution_of_nothing_is_none(self):
        Image.new("L", (5, 4)).save(self.folder / "a.png", dpi=(72, 72))
        data = bytearray((self.folder / "a.png").read_bytes())
        at = data.index(b"pHYs")
        data[at + 4:at + 8] = bytes(4)
        data[at + 13:at + 17] = struct.pack(">I", zlib.crc32(data[at:at + 13]))
        self.write("a.png", bytes(data))
        self.smp("convert", "-f", "a.png", "a.jp2", timeout=10)
        self.assertNotIn(b"resc", (self.folder / "a.jp2").read_bytes())


    def test_colours_by_number_are_told(self):
        self.numbered((12, 13))
        self.assertIn("(cICP), which a JPEG 2000 cannot say", self.smp("convert", "-f", "a.png", "a.jp2").stderr)


class Sides(CliCase):
    def test_what_could_not_be_read_again_is_not_written(self):
        for ending, name in (("jp2", "a JPEG 2000"), ("exr", "an OpenEXR")):
            done = self.smp("run", "-e", "canvas 17000x17000 gray", f"a.{ending}", "--max-pixels", "1G", status=4)
            if "cannot be opened" not in done.stderr:
                self.assertIn(f"17000 x 17000 pixels are more than can be read again of {name}", done.stderr)
            self.assertEqual(self.files(), [])


class OpenExr(Written):
    ending, library = "exr", "FFmpeg's libraries"

    def setUp(self):
        super().setUp()
        if self.smp("info", "a.exr", status=(0, 3)).returncode:
            self.skipTest("this build, or machine, has no FFmpeg's libraries")

    def read(self, name="a.exr"):
        """By the library of OpenEXR, in the order of ours."""
        with unittest.mock.patch.dict(os.environ, OPENCV_IO_ENABLE_OPENEXR="1"):
            got = cv2.imread(str(self.folder / name), cv2.IMREAD_UNCHANGED)
        self.assertEqual(got.dtype, np.float32)
        return got[..., [2, 1, 0, 3][:got.shape[2]]] if got.ndim == 3 else got

    def test_encoded_values_become_light(self):
        for name in ("rgb8", "gray8", "rgba8"):
            with Image.open(self.folder / f"{name}.png") as picture:
                want = np.array(picture) / 255
            colours = want[..., :3] if want.ndim == 3 else want
            colours[:] = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
            hidden = np.count_nonzero(colours[want[..., 3] == 0]) if name == "rgba8" else 0
            if name == "rgba8":
                colours *= want[..., 3:]
            for words, most in (((), 2e-7), (("--samples", "f16"), 1 / 2048), (("--samples", "float"), 2e-7)):
                told = self.smp("convert", "-f", f"{name}.png", "a.exr", *words).stderr
                self.assertEqual(f"{hidden} samples of colour became 0" in told, hidden > 0)
                got = self.read()
                if want.ndim == 2 and got.ndim == 3:
                    got = got[..., 0]
                np.testing.assert_allclose(got, want, rtol=most * 2, atol=most)
                self.smp("convert", "-f", "a.exr", "b.png", "-e", "depth 8")
                if name != "rgba8":  # where nothing is opaque, colours are gone
                    self.smp("diff", f"{name}.png", "b.png")

    def test_light_stays_to_the_bit(self):
        light = self.rng.random((33, 20, 3), dtype=np.float32) * 9 - 1
        self.smp("convert", *self.raw(light), "a.tif")
        self.smp("convert", "-f", "a.tif", "a.exr", "-e", "light linear")
        self.smp("convert", "-f", "a.exr", "b.exr")
        self.smp("convert", "-f", "--strip", "a.exr", "c.exr")
        self.assertTrue(np.array_equal(self.read(), self.read("b.exr")))
        self.assertEqual((self.folder / "b.exr").read_bytes(), (self.folder / "c.exr").read_bytes())
        self.smp("convert", "-f", "b.exr", "b.npy")
        self.assertTrue(np.array_equal(np.load(self.folder / "b.npy"), self.read("b.exr")))
        said = self.smp("convert", "-f", "b.exr", "d.exr", "-e", "multiply 1e6", "--samples", "f16").stderr
        self.assertIn("samples are beyond what 16 bits hold", said)
        self.assertTrue(np.isinf(self.read("d.exr")).any())

    def test_chunks_that_do_not_get_smaller_and_pipes(self):
        noise = np.frombuffer(self.rng.bytes(4 * 17 * 40), "<u4").reshape(17, 40, 1) & 0x3FFFFFFF
        self.write("in.raw", noise.tobytes())
        self.smp("convert", "in.raw", "--raw", "f32lex1:40x17", "a.tif")
        for name in ("a.tif", "rgb8.png"):
            self.smp("convert", "-f", name, "a.exr")
            piped = self.smp("convert", name, "-", "--to", "exr", text=False)
            self.assertEqual(piped.stdout, (self.folder / "a.exr").read_bytes())
            self.smp("convert", "-f", "a.exr", "b.npy")
            own = np.load(self.folder / "b.npy")
            self.assertTrue(np.array_equal(self.read().reshape(own.shape), own))

    def test_chromaticities_stay(self):
        primaries = {1: (.64, .33, .3, .6, .15, .06), 9: (.708, .292, .17, .797, .131, .046),
                     12: (.68, .32, .265, .69, .15, .06)}
        for number, colours in primaries.items():
            self.numbered((number, 13))
            self.assertEqual(self.smp("convert", "-f", "a.png", "a.exr").stderr, "")
            self.smp("convert", "-f", "a.exr", "b.exr")
            want = struct.pack("<8f", *colours, .3127, .329)
            self.assertIn(want, (self.folder / "a.exr").read_bytes())
            self.assertEqual(want in (self.folder / "b.exr").read_bytes(), number != 1)  # sRGB's need no words
            self.smp("convert", "-f", "a.exr", "b.png", "-e", "depth 8")
            self.smp("diff", "a.png", "b.png")
            kinds = dict(png_chunks((self.folder / "b.png").read_bytes()))
            self.assertEqual(b"sRGB" in kinds, number == 1)
            told = self.smp("convert", "-f", "a.exr", "b.jpg").stderr
            self.assertEqual("colours are not sRGB" in told and "from a PNG" in told, number != 1)
            if number != 1:
                self.assertEqual(struct.unpack(">8I", kinds[b"cHRM"])[2:], tuple(round(v * 1e5) for v in colours))
                self.assertEqual(kinds[b"gAMA"], struct.pack(">I", 45455))
                for name in ("a.png", "b.png"):
                    self.smp("convert", "-f", name, f"{name}.npy", "-e", "profile srgb")
                found = [np.load(self.folder / f"{name}.npy").astype(int) for name in ("a.png", "b.png")]
                self.assertLessEqual(np.abs(found[0] - found[1]).max(), 1)
        self.numbered((9, 16))
        self.assertIn("which an OpenEXR cannot say", self.smp("convert", "-f", "a.png", "a.exr").stderr)
        self.assertNotIn(b"chromaticities", (self.folder / "a.exr").read_bytes())

    def test_resolution_is_kept_and_the_rest_told(self):
        self.write("all.jpg", loaded())
        said = self.smp("convert", "all.jpg", "b.exr").stderr
        self.assertIn("no place for it: the ICC profile, EXIF, IPTC records, texts", said)
        self.assertIn("300.0 x 300.0 dpi", self.smp("info", "b.exr").stdout)


if __name__ == "__main__":
    unittest.main()
