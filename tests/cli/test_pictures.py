"""What pictures mean: every kind of PNG, EXIF orientation, depths, metadata, the other formats. OpenCV is the second
opinion."""
import json
import struct
import unittest
import zlib

import cv2
import numpy as np

from harness import PIPELINES, SAMPLES, CliCase, chunk, png_bytes, png_chunks, png_header

UPRIGHT = PIPELINES / "upright.pipe"
# x, y, step x, step y
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
COLOURS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # PNG colour type: samples a pixel


def pack(samples, depth):
    """Rows of a (height, width, n) array of codes, as PNG packs them."""
    height = samples.shape[0]
    flat = samples.reshape(height, -1)
    if depth == 16:
        return [row.astype(">u2").tobytes() for row in flat]
    if depth == 8:
        return [row.astype(np.uint8).tobytes() for row in flat]
    bits = (flat[:, :, None] >> np.arange(depth - 1, -1, -1)) & 1
    return [np.packbits(row.reshape(-1).astype(np.uint8)).tobytes() for row in bits]


def png(samples, depth, color, interlace=False, extra=b""):
    height, width = samples.shape[:2]
    if not interlace:
        return png_bytes(pack(samples, depth), width, depth, color, extra)
    data = b""
    for x, y, dx, dy in ADAM7:
        part = samples[y::dy, x::dx]
        if part.size:
            data += b"".join(b"\0" + row for row in pack(part, depth))
    return png_header(width, height, depth, color, 1) + extra + chunk(b"IDAT", zlib.compress(data)) + chunk(
        b"IEND", b"")


class Pictures(CliCase):
    def decoded(self, name):
        """The samples as smempipe reads them: (height, width[, channels])."""
        self.smp("run", UPRIGHT, name, "decoded.npy", "--force")
        return np.load(self.folder / "decoded.npy")

    def opencv(self, name):
        """The samples as OpenCV reads them; of JPEG it applies the orientation."""
        how = cv2.IMREAD_ANYCOLOR if name.endswith(".jpg") else cv2.IMREAD_UNCHANGED
        array = cv2.imdecode(np.fromfile(self.folder / name, np.uint8), how)
        self.assertIsNotNone(array, name)
        if array.ndim == 3:
            array = array[..., [2, 1, 0, 3][: array.shape[2]]]
        return array

    def check_against(self, got, want, what):
        self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape), what)
        self.assertTrue((got == want).all(), what)

    def test_every_kind_of_png(self):
        rng = np.random.default_rng(1)
        for color, n in COLOURS.items():
            for depth in {0: (1, 2, 4, 8, 16), 3: (1, 2, 4, 8)}.get(color, (8, 16)):
                for interlace in (False, True):
                    for height, width in ((1, 1), (7, 5), (21, 34)):
                        codes = rng.integers(0, 1 << depth, (height, width, n))
                        extra = b""
                        if color == 3:
                            palette = rng.integers(0, 256, (1 << depth, 3), dtype=np.uint8)
                            extra = chunk(b"PLTE", palette.tobytes())
                            want = palette[codes[..., 0]]
                        elif depth < 8:
                            want = (codes[..., 0] * (255 // ((1 << depth) - 1))).astype(np.uint8)
                        else:
                            want = codes.astype(np.uint8 if depth == 8 else np.uint16)
                            want = want[..., 0] if n == 1 else want
                        what = f"colour type {color}, depth {depth}, interlace {interlace}, {width}x{height}"
                        self.write("in.png", png(codes, depth, color, interlace, extra))
                        self.check_against(self.decoded("in.png"), want, what)

    def test_palette_with_transparency_becomes_alpha(self):
        rng = np.random.default_rng(2)
        palette = rng.integers(0, 256, (16, 3), dtype=np.uint8)
        alpha = rng.integers(0, 256, 10, dtype=np.uint8)  # fewer than the palette: the rest is opaque
        codes = rng.integers(0, 16, (9, 13, 1))
        for interlace in (False, True):
            self.write("in.png",
                       png(codes, 4, 3, interlace,
                           chunk(b"PLTE", palette.tobytes()) + chunk(b"tRNS", alpha.tobytes())))
            rgba = np.concatenate([palette, np.append(alpha, np.full(6, 255, np.uint8))[:, None]], 1)
            self.check_against(self.decoded("in.png"), rgba[codes[..., 0]], f"interlace {interlace}")

    def test_transparent_colour_becomes_alpha(self):
        codes = np.arange(64).reshape(8, 8, 1) % 4
        self.write("gray.png", png(codes * 60, 8, 0, extra=chunk(b"tRNS", struct.pack(">H", 60))))
        got = self.decoded("gray.png")
        self.check_against(got, np.concatenate([codes * 60, np.where(codes == 1, 0, 255)], 2).astype(np.uint8), "gray")
        rgb = np.repeat(codes, 3, 2) * 257
        self.write("rgb.png", png(rgb, 16, 2, extra=chunk(b"tRNS", struct.pack(">HHH", 514, 514, 514))))
        want = np.concatenate([rgb, np.where(codes == 2, 0, 65535)], 2).astype(np.uint16)
        self.check_against(self.decoded("rgb.png"), want, "rgb")

    def test_16_bits_stay_16(self):
        codes = np.arange(65536).reshape(256, 256, 1)
        self.write("in.png", png(codes, 16, 0))
        self.smp("run", UPRIGHT, "in.png", "out.png")
        self.check_against(self.opencv("out.png"), codes[..., 0].astype(np.uint16), "PNG to PNG")
        header = png_chunks((self.folder / "out.png").read_bytes())[0][1]
        self.assertEqual(header[8], 16)

    def test_png_round_trip_for_every_depth_and_channel_count(self):
        rng = np.random.default_rng(3)
        for dtype, top in ((np.uint8, 256), (np.uint16, 65536)):
            for n in (1, 2, 3, 4):
                codes = rng.integers(0, top, (21, 34, n)).astype(dtype)
                want = codes[..., 0] if n == 1 else codes
                self.write("in.png", png(codes, 8 * dtype().itemsize, {1: 0, 2: 4, 3: 2, 4: 6}[n]))
                self.smp("run", UPRIGHT, "in.png", "out.png", "--force")
                self.check_against(self.decoded("out.png"), want, f"{dtype.__name__} x {n}")
                if n != 2:  # OpenCV has no gray with alpha
                    self.check_against(self.opencv("out.png"), want, f"{dtype.__name__} x {n} by OpenCV")

    def test_exif_orientation_is_applied_and_reset(self):
        rng = np.random.default_rng(4)
        upright = cv2.resize(rng.integers(0, 256, (6, 10, 3), dtype=np.uint8), (80, 48), interpolation=cv2.INTER_CUBIC)
        as_stored = {
            1: upright, 2: upright[:, ::-1], 3: upright[::-1, ::-1], 4: upright[::-1],
            5: upright.swapaxes(0, 1), 6: np.rot90(upright, 1),
            7: np.rot90(upright, 2).swapaxes(0, 1), 8: np.rot90(upright, -1),
        }  # fmt: skip
        for orientation, stored in as_stored.items():
            for order in "<>":
                jpeg = cv2.imencode(".jpg", np.ascontiguousarray(stored[..., ::-1]),
                                    [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes()
                tiff = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8)
                tiff += (
                    struct.pack(order + "HHHI", 1, 0x0112, 3, 1)
                    + struct.pack(order + "HH", orientation, 0)
                    + struct.pack(order + "I", 0)
                )
                body = b"Exif\0\0" + tiff
                self.write("in.jpg", jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:])
                got = self.decoded("in.jpg")
                self.assertEqual(got.shape, upright.shape, f"orientation {orientation}{order}")
                self.assertLess(np.abs(got.astype(int) - upright).mean(), 4, f"orientation {orientation}{order}")
                # Kept, but reset: a second reader must not turn the picture again.
                self.smp("run", UPRIGHT, "in.jpg", "out.png", "--force")
                for kind, data in png_chunks((self.folder / "out.png").read_bytes()):
                    if kind == b"eXIf":
                        at = data.index(struct.pack(order + "HHI", 0x0112, 3, 1)) + 8
                        self.assertEqual(struct.unpack_from(order + "H", data, at)[0], 1)
                self.smp("run", UPRIGHT, "in.jpg", "out.jpg", "--force")
                again = self.opencv("out.jpg")  # OpenCV applies the orientation it finds
                self.assertEqual(again.shape, upright.shape)
                self.assertLess(
                    np.abs(again.astype(int) - upright).mean(), 6, f"orientation {orientation}{order} as JPEG")

    def test_jpeg_equals_opencv(self):
        for name in ("rocket.jpg", "page.jpg"):
            self.write(name, (SAMPLES / name).read_bytes())
            difference = np.abs(self.decoded(name).astype(int) - self.opencv(name))
            self.assertLessEqual(difference.max(), 3,
                                 name)  # decoders may differ in their inverse DCT and chroma interpolation

    def test_gray_jpeg_stays_gray(self):
        self.smp("run", UPRIGHT, SAMPLES / "camera.png", "out.jpg")
        self.assertEqual(self.opencv("out.jpg").ndim, 2)
        self.assertEqual(self.decoded("out.jpg").shape, (512, 512))

    def test_formats_of_others(self):
        picture = cv2.imread(str(SAMPLES / "chelsea.png"))
        rgb = picture[..., ::-1]
        for extension in ("bmp", "ppm"):
            self.write(f"in.{extension}", cv2.imencode(f".{extension}", picture)[1].tobytes())
            self.check_against(self.decoded(f"in.{extension}"), rgb, extension)
        self.write("in.pgm", cv2.imencode(".pgm", picture[..., 0])[1].tobytes())
        self.check_against(self.decoded("in.pgm"), picture[..., 0], "pgm")
        height, width = picture.shape[:2]
        self.write("in.tga",
                   struct.pack("<BBBHHBHHHHBB", 0, 0, 2, 0, 0, 0, 0, 0, width, height, 24, 0x20) + picture.tobytes())
        self.check_against(self.decoded("in.tga"), rgb, "tga")
        self.write("in.hdr", cv2.imencode(".hdr", (picture / 255).astype(np.float32))[1].tobytes())
        got = self.decoded("in.hdr")
        self.assertEqual(got.dtype, np.float32)
        self.assertLess(np.abs(got - rgb / 255).max(), 0.01)
        planes = b"".join(rgb[..., c].tobytes() for c in range(3))
        self.write(
            "in.psd",
            b"8BPS\0\1" + bytes(6) + struct.pack(">HIIHH", 3, height, width, 8, 3) + bytes(12) + b"\0\0" + planes)
        self.check_against(self.decoded("in.psd"), rgb, "psd")
        self.write("spot.psd", b"8BPS\0\1" + bytes(6) + struct.pack(">HIIHH", 5, height, width, 8, 3) + bytes(12) +
                   b"\0\0" + planes + planes[:2 * height * width])
        told = self.smp("convert", "spot.psd", "spot.png").stderr
        self.assertIn("2 channels beside its colours are left out: saved selections, or other inks", told)

    def test_writes_what_opencv_reads(self):
        want = self.opencv_sample("chelsea.png")
        for extension in ("bmp", "ppm", "png"):
            self.smp("run", UPRIGHT, SAMPLES / "chelsea.png", f"out.{extension}")
            self.check_against(self.opencv(f"out.{extension}"), want, extension)
        self.smp("run", UPRIGHT, SAMPLES / "chelsea.png", "out.jpg")
        self.assertLess(np.abs(self.opencv("out.jpg").astype(int) - want).mean(), 3)

    def opencv_sample(self, name):
        return cv2.imread(str(SAMPLES / name))[..., ::-1]

    def test_npy_in_every_layout(self):
        rng = np.random.default_rng(6)
        for dtype in (np.uint8, np.uint16, np.float32):
            for shape in ((7, 5), (7, 5, 1), (7, 5, 3), (7, 5, 4), (1, 1), (1, 9)):
                array = (rng.random(shape) * (1 if dtype == np.float32 else 250)).astype(dtype)
                np.save(self.folder / "in.npy", array)
                got = self.decoded("in.npy")
                self.check_against(got.reshape(shape), array, f"{dtype.__name__} {shape}")
        swapped = (rng.random((6, 4)) * 60000).astype(">u2")
        np.save(self.folder / "in.npy", swapped)
        done = self.smp("run", UPRIGHT, "in.npy", "swapped.npy", status=(0, 3))
        if done.returncode == 0:  # read right, or refused; never read wrong
            self.check_against(np.load(self.folder / "swapped.npy"), swapped.astype(np.uint16), "big-endian")
        fortran = np.asfortranarray((rng.random((6, 4)) * 250).astype(np.uint8))
        np.save(self.folder / "in.npy", fortran)
        done = self.smp("run", UPRIGHT, "in.npy", "fortran.npy", status=(0, 3))
        if done.returncode == 0:
            self.check_against(np.load(self.folder / "fortran.npy"), fortran, "Fortran order")

    def test_npy_of_other_types_is_exact(self):
        numbers = np.array([[0, 1, 100], [3, 2, 1]])
        for dtype in ("f2", "f8", "i1", "i2", "i4", "i8", "u4", "u8", ">f8", ">i2"):
            np.save(self.folder / "in.npy", numbers.astype(dtype))
            got = self.decoded("in.npy")
            self.assertEqual(got.dtype, np.float32, dtype)
            self.check_against(got, numbers.astype(np.float32), dtype)
        np.save(self.folder / "in.npy", numbers > 1)
        self.check_against(self.decoded("in.npy"), np.where(numbers > 1, 255, 0).astype(np.uint8), "bool")

    def test_npy_of_other_types_is_refused(self):
        for array in (np.full((3, 3), 2**24 + 1), np.zeros((3, 3), np.complex64), np.zeros((2, 2, 2, 2), np.uint8),
                      np.zeros((0, 4), np.uint8), np.zeros((4, 4, 9), np.uint8),):
            np.save(self.folder / "in.npy", array)
            self.smp("run", UPRIGHT, "in.npy", "out.npy", status=3)
            self.assertEqual(self.files(), ["in.npy"])

    def test_metadata_is_kept_unless_stripped(self):
        extra = (chunk(b"gAMA", struct.pack(">I", 45455)) +
                 chunk(b"cHRM", struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)) +
                 chunk(b"pHYs", struct.pack(">IIB", 11811, 11811, 1)) + chunk(b"tEXt", b"Author\0A. Nonymous") +
                 chunk(b"tIME", struct.pack(">HBBBBB", 2020, 1, 2, 3, 4, 5)))  # fmt: skip
        self.small_png("in.png", extra=extra)
        self.smp("run", UPRIGHT, "in.png", "out.png")
        kept = dict(png_chunks((self.folder / "out.png").read_bytes()))
        self.assertEqual(kept[b"gAMA"], struct.pack(">I", 45455))
        self.assertEqual(kept[b"pHYs"], struct.pack(">IIB", 11811, 11811, 1))
        self.assertEqual(kept[b"tEXt"], b"Author\0A. Nonymous")
        self.assertIn(b"cHRM", kept)
        self.assertNotIn(b"tIME", kept)  # it would say when the old file was changed
        self.smp("run", UPRIGHT, "in.png", "bare.png", "--strip")
        bare = [kind for kind, _ in png_chunks((self.folder / "bare.png").read_bytes())]
        self.assertEqual([k for k in bare if k != b"IDAT"], [b"IHDR", b"IEND"])

    def test_icc_profile_travels_between_formats(self):
        profile = icc_profile()
        data = zlib.compress(profile)
        self.small_png("in.png", extra=chunk(b"iCCP", b"test\0\0" + data))
        self.smp("run", UPRIGHT, "in.png", "out.jpg")
        jpeg = (self.folder / "out.jpg").read_bytes()
        at = jpeg.index(b"ICC_PROFILE\0") + 14
        self.assertEqual(jpeg[at : at + len(profile)], profile)
        self.smp("run", UPRIGHT, "out.jpg", "back.png")
        kept = dict(png_chunks((self.folder / "back.png").read_bytes()))[b"iCCP"]
        self.assertEqual(zlib.decompress(kept[kept.index(b"\0") + 2 :]), profile)

    def test_alpha_into_jpeg_is_flattened_on_black(self):
        codes = np.zeros((16, 16, 4), np.uint8)
        codes[..., 0], codes[:, 8:, 3] = 255, 255
        self.write("in.png", png(codes, 8, 6))
        self.smp("run", UPRIGHT, "in.png", "out.jpg")
        got = self.opencv("out.jpg").astype(int)
        self.assertEqual(got.shape, (16, 16, 3))
        self.assertLess(got[:, :6].max(), 30)
        self.assertGreater(got[:, 10:, 0].min(), 225)

    def test_structural_similarity(self):
        picture = cv2.imread(str(SAMPLES / "camera.png"), cv2.IMREAD_UNCHANGED)
        cv2.imwrite(str(self.folder / "a b.png"), picture)
        cv2.imwrite(str(self.folder / "c.png"), cv2.GaussianBlur(picture, (0, 0), 1))
        self.assertEqual(self.smp("diff", "--ssim", "a b.png", "a b.png").stdout, "1.000000\n")
        told = float(self.smp("diff", "--ssim", "c.png", "a b.png").stdout)
        found = json.loads(self.smp("measure", "-e", "quality by=\"a b.png\"", "c.png", "--json").stdout)
        self.assertIn(f"{told:.6f}"[:8], json.dumps(found))
        self.assertTrue(0.5 < told < 0.99)
        self.smp("diff", f"--ssim={told - 0.01}", "c.png", "a b.png")
        self.smp("diff", f"--ssim={told + 0.01}", "-q", "c.png", "a b.png", status=7)
        self.assertIn("0.98", self.smp("diff", "--ssim=2", "c.png", "a b.png", status=2).stderr)
        self.smp("diff", "--ssim", "c.png", SAMPLES / "chelsea.png", status=7)


def icc_profile():
    """A minimal RGB display profile: header with the D50 illuminant, one tag with a text."""
    text = b"text" + bytes(4) + bytes(33 + i * 7919 % 90 for i in range(599)) + b"\0"
    body = struct.pack(">I", 1) + b"cprt" + struct.pack(">II", 144, len(text)) + text
    header = struct.pack(">I4sI4s4s4s", 128 + len(body), b"none", 0x02400000, b"mntr", b"RGB ", b"XYZ ")
    header += bytes(12) + b"acsp" + bytes(28) + struct.pack(">III", 0xF6D6, 0x10000, 0xD32D)
    return header.ljust(128, b"\0") + body


if __name__ == "__main__":
    unittest.main()
