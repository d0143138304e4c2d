"""TIFFs of samples that few programs write: any number of bits, integers with a sign, wide palettes, L*a*b*, light,
colours of half the resolution, JPEG of the old kind; and files whose last directory is none."""
import io
import struct
import unittest

import numpy as np
from PIL import Image, ImageCms

from harness import CliCase
from test_tiff import Tiff, picture


def packed(values, bits):
    """Rows of samples, the highest bit first."""
    flat = values.reshape(values.shape[0], -1).astype(np.uint64)
    ones = flat[..., None] >> np.arange(bits - 1, -1, -1, dtype=np.uint64) & np.uint64(1)
    return np.packbits(ones.astype(np.uint8).reshape(values.shape[0], -1), 1)


def of_bits(values, bits, rows=3, planar=False, **tags):
    tiff = Tiff(values)
    planes = [values[..., c] for c in range(tiff.samples)] if planar else [values]
    tiff.tags.update({258: [bits] * tiff.samples, 339: [1] * tiff.samples, 278: [rows], 284: [2 if planar else 1]})
    tiff.tags.update({int(tag[1:]): value for tag, value in tags.items()})
    parts = [plane[y:y + rows] for plane in planes for y in range(0, plane.shape[0], rows)]
    parts = [part.astype(np.uint16) if bits == 16 else packed(part, bits) for part in parts]
    return tiff.put(parts, (273, 279), 1, None, 1)


def scaled(values, bits, full):
    return (values.astype(object) * full + (2**bits - 1) // 2) // (2**bits - 1)


class TiffKinds(CliCase):
    def read(self, data, told=()):
        self.write("in.tif", data)
        done = self.smp("convert", "in.tif", "out.npy", "-f")
        self.assertEqual(len(done.stderr.strip().splitlines()), len(told), done.stderr)
        for words in told:
            self.assertIn(words, done.stderr)
        got = np.load(self.folder / "out.npy")
        return got[..., 0] if got.ndim == 3 and got.shape[2] == 1 else got

    def test_samples_of_any_number_of_bits(self):
        random = np.random.default_rng(1)
        for bits in (*range(1, 17), 24, 32):
            for shape, planar in (((7, 13), False), ((7, 13, 3), False), ((7, 13, 3), True)):
                values = random.integers(0, 2**bits, shape, dtype=np.uint64)
                values.flat[:2] = 0, 2**bits - 1
                if bits > 16 and len(shape) == 2:
                    values >>= np.uint64(max(bits - 24, 0))
                    want, told = values.astype(np.float32), [f"integers of {bits} bits are read as floats"]
                else:
                    want = scaled(values, bits, 65535 if bits > 8 else 255)
                    told = [f"samples of {bits} bits are read as 16"] if bits > 16 else []
                file = (of_bits(values, bits, planar=planar) if bits < 24 else
                        Tiff(values.astype(np.uint32)).strips(3, planar=planar) if bits == 32 else None)
                if file:
                    self.assertTrue(np.array_equal(self.read(file, told), want), (bits, shape, planar))
        white = of_bits(random.integers(0, 4096, (4, 5), dtype=np.uint64), 12, t262=[0])
        black = of_bits(4095 - random.integers(0, 1, (4, 5), dtype=np.uint64), 12)
        self.assertEqual(self.read(white).dtype, np.uint16)
        self.assertTrue((self.read(black) == 65535).all())

    def test_a_fax_that_does_not_say_its_white_is_read_as_others_do(self):
        bits = np.random.default_rng(6).integers(0, 2, (20, 40)).astype(np.uint8)
        for kind in ("group4", "group3", "tiff_ccitt"):
            out = io.BytesIO()
            Image.fromarray(bits * 255).convert("1").save(out, "tiff", compression=kind)
            data = out.getvalue()
            self.assertEqual(data.count(struct.pack("<HHI", 262, 3, 1)), 1)
            data = data.replace(struct.pack("<HHI", 262, 3, 1), struct.pack("<HHI", 263, 3, 1))
            with Image.open(io.BytesIO(data)) as want:
                np.testing.assert_array_equal(self.read(data), np.array(want) * np.uint8(255))

    def test_integers_with_a_sign_keep_their_values(self):
        random = np.random.default_rng(2)
        for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint32, np.uint64):
            least, most = np.iinfo(dtype).min, min(np.iinfo(dtype).max, 2**24)
            values = random.integers(max(least, -2**24), most, (7, 13), dtype=dtype)
            bits = 8 * values.itemsize
            told = [f"integers of {bits} bits{' with a sign' if least else ''} are read as floats of the same value"]
            for order in "<>":
                self.assertTrue(np.array_equal(self.read(Tiff(values, order=order).strips(3), told), values), dtype)
            if bits < 64:
                packed_file = Tiff(values, compression=8).strips(3, predictor=2)
                self.assertTrue(np.array_equal(self.read(packed_file, told), values), dtype)
            if bits > 16:
                values.flat[3] = 2**24 + 1
                self.read(Tiff(values).strips(3), [*told, "beyond 16777216 are rounded"])
        self.write("in.tif", Tiff(random.integers(0, 99, (4, 4, 2), dtype=np.int16), t338=[2]).strips(4))
        self.assertIn("alpha beside integers that are signed", self.smp("convert", "in.tif", "o.png", status=3).stderr)

    def test_wide_palettes(self):
        random = np.random.default_rng(3)
        for bits in (1, 3, 4, 7, 8, 11, 16):
            colours = random.integers(0, 65536, (3, 1 << bits))
            values = random.integers(0, 1 << bits, (7, 13), dtype=np.uint64)
            file = of_bits(values, bits, t262=[3], t320=[int(v) for v in colours.ravel()])
            self.assertTrue(np.array_equal(self.read(file), (colours >> 8).T[values]), bits)
            pairs = np.dstack([values, random.integers(0, 1 << bits, (7, 13), dtype=np.uint64)])
            want = np.dstack([(colours >> 8).T[values], scaled(pairs[..., 1], bits, 255)])
            for planar in (False, True):
                file = of_bits(pairs, bits, planar=planar, t262=[3], t338=[2], t320=[int(v) for v in colours.ravel()])
                self.assertTrue(np.array_equal(self.read(file), want), (bits, planar))

    def test_lab_is_what_littlecms_makes_of_it(self):
        y, x = np.mgrid[0:16, 0:16]
        lab = np.dstack([60 + y * 8, x * 3 - 20, 25 - x * 3])
        signed = lab.astype(np.uint8)
        change = ImageCms.buildTransform(ImageCms.createProfile("LAB", 5000), ImageCms.createProfile("sRGB"), "LAB",
                                         "RGB", renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC)
        with Image.open(io.BytesIO(Tiff(signed, t262=[8]).strips(16))) as picture_of_lab:
            want = np.array(ImageCms.applyTransform(picture_of_lab, change)).astype(float)
        wide = np.dstack([lab[..., 0] * 257, lab[..., 1] * 256, lab[..., 2] * 256]).astype(np.uint16)
        icc = np.dstack([np.rint(lab[..., 0] * 256.0), wide[..., 1] ^ 0x8000, wide[..., 2] ^ 0x8000]).astype(np.uint16)
        for samples, kind in ((signed, 8), (signed ^ np.uint8([0, 128, 128]), 9), (wide, 8), (icc, 9)):
            got = self.read(Tiff(samples, t262=[kind]).strips(16)) / (257 if samples.itemsize == 2 else 1)
            self.assertLess(np.abs(got - want).max(), 2.1, kind)
            self.assertLess(np.abs(got - want).mean(), 0.4, kind)

    def test_white_of_lab_is_what_the_file_says(self):
        """Daylight's, of which sRGB is too: no colour changes its white."""
        lab = np.uint8([[[255, 0, 0], [128, 0, 0], [128, 20, 236], [200, 250, 30]]])
        l, a, b = lab[..., 0] / 255 * 100, *(lab[..., c].view(np.int8).astype(float) for c in (1, 2))
        f = np.stack([(l + 16) / 116 + a / 500, (l + 16) / 116, (l + 16) / 116 - b / 200], -1)
        light = f ** 3 * [0.3127 / 0.329, 1, 0.3583 / 0.329] @ np.linalg.inv(
            [[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192], [0.1805, 0.0722, 0.9505]])
        want = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055) * 255
        got = self.read(Tiff(lab, t262=[8], t318=[(3127, 10000), (3290, 10000)]).strips(1))
        self.assertLess(np.abs(got - want).max(), 1.6, (got, want))

    def test_light_of_logluv(self):
        random = np.random.default_rng(4)
        height, width = 7, 150
        bright = random.integers(15000, 17000, (height, width)).astype(np.uint32)
        u, v = (random.integers(least, least + 40, (height, width)).astype(np.uint32) for least in (70, 180))

        def file(words, size, samples, kind):  # each byte of the words by itself, as literals
            rows = b""
            for row in words:
                for plane in row.astype(f">u{size}").view(np.uint8).reshape(-1, size).T:
                    data = plane.tobytes()
                    rows += b"".join(bytes([len(data[i:i + 127])]) + data[i:i + 127] for i in range(0, width, 127))
            tiff = Tiff(np.zeros((height, width, samples)[:3 if samples > 1 else 2], np.uint16), compression=34676)
            tiff.tags.update({262: [kind], 278: [height], 284: [1]})
            return tiff.put([np.frombuffer(rows, np.uint8)], (273, 279), 1, bytes, 1)
        light = np.exp2((bright + 0.5) / 256 - 64)
        gray = self.read(file(bright, 2, 1, 32844))
        self.assertLess(np.abs(gray / light - 1).max(), 1e-5)
        got = self.read(file(bright << 16 | u << 8 | v, 4, 3, 32845))
        u, v = (u + 0.5) / 410, (v + 0.5) / 410
        xyz = np.dstack([light * 9 * u / (4 * v), light, light * (12 - 3 * u - 20 * v) / (4 * v)])
        matrix = np.linalg.inv([[.4124564, .3575761, .1804375], [.2126729, .7151522, .0721750],
                                [.0193339, .1191920, .9503041]])
        self.assertLess(np.abs(got - xyz @ matrix.T).max() / light.max(), 1e-4)
        self.assertRegex(self.smp("info", "in.tif").stdout, "gamma +1\n")

    def test_colours_of_less_resolution(self):
        random = np.random.default_rng(5)
        for across, down in ((2, 1), (2, 2), (4, 1), (1, 2), (4, 2)):
            for compression in (1, 8):
                blocks = random.integers(0, 256, (8 // down, 16 // across, across * down + 2), dtype=np.uint8)
                tiff = Tiff(picture((8, 16, 3), np.uint8), compression=compression, t262=[6], t530=[across, down])
                tiff.tags.update({278: [4], 284: [1]})
                half = 4 // down
                file = tiff.put([blocks[:half], blocks[half:]], (273, 279), 1, None, 1)
                luma = blocks[..., :-2].reshape(8 // down, 16 // across, down, across)
                luma = luma.transpose(0, 2, 1, 3).reshape(8, 16).astype(float)
                blue, red = (np.kron(blocks[..., c].astype(float) - 128, np.ones((down, across))) for c in (-2, -1))
                want = np.dstack([luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue])
                got = self.read(file)
                self.assertLessEqual(np.abs(got - np.clip(want, 0, 255)).max(), 2, (across, down, compression))

    def test_jpeg_of_the_old_kind(self):
        out = io.BytesIO()
        Image.fromarray(picture((16, 32, 3), np.uint8)).save(out, "jpeg", quality=90)
        tiff = Tiff(picture((16, 32, 3), np.uint8), compression=6, t262=[6], t530=[2, 2])
        tiff.tags.update({278: [16], 284: [1], 513: [8], 514: [len(out.getvalue())]})
        got = self.read(tiff.put([np.frombuffer(out.getvalue(), np.uint8)], (273, 279), 1, bytes, 1),
                        ["old-style JPEG compression"])
        self.assertLess(np.abs(got.astype(int) - np.array(Image.open(out))).mean(), 3)

    def test_a_last_directory_that_is_none_is_told(self):
        values = picture((7, 13), np.uint8)
        good = Tiff(values).strips(3)
        at, = struct.unpack_from("<I", good, 4)
        link = at + 2 + 12 * struct.unpack_from("<H", good, at)[0]
        for place in (3, len(good) - 1, len(good) + 5000):
            file = good[:link] + struct.pack("<I", place) + good[link + 4:]
            self.assertTrue(np.array_equal(self.read(file, ["behind its last, 1, is none: it is damaged"]), values))
            self.assertIn("truncated", self.smp("info", "in.tif", "--page", "2", status=3).stderr)
        tiff = Tiff(values)  # one strip, uncompressed, of which no size is told
        tiff.strips(7)
        del tiff.tags[279]
        data = values.tobytes() + bytes(values.size % 2)
        whole = tiff.header(8 + len(data)) + data + tiff.folder(8 + len(data))
        self.assertTrue(np.array_equal(self.read(whole), values))
        tiff.tags.update({257: [70], 278: [70]})
        tall = tiff.header(8 + len(data)) + data + tiff.folder(8 + len(data))
        self.write("in.tif", tall)
        self.assertIn("past the end of the file", self.smp("convert", "in.tif", "o.png", status=3).stderr)

    def test_damage_of_what_the_library_decodes_alone_costs_little(self):
        random = np.random.default_rng(6)
        tiff = Tiff(picture((64, 64, 3), np.uint8), t262=[6], t530=[2, 2])
        tiff.tags.update({278: [8], 284: [1]})
        blocks = random.integers(0, 256, (32, 32, 6), dtype=np.uint8)
        whole = tiff.put([blocks[i:i + 4] for i in range(0, 32, 4)], (273, 279), 1, None, 1)
        (self.folder / "in").mkdir()
        for i in range(40):
            data = bytearray(whole)
            data[int(random.integers(8 + blocks.size, len(data)))] ^= 1 << int(random.integers(0, 8))
            self.write(f"in/{i}.tif", bytes(data))
        done = self.smp("convert", "in", "-q", "-o", "out", "--to", "npy", "--max-memory", "256M", status=(0, 1))
        self.assertNotIn("crashed", done.stderr)


if __name__ == "__main__":
    unittest.main()
