"""TIFFs: check sums of what is deflated, predictors, samples of unusual meanings, thumbnails, what libtiff warns of."""
import io
import random
import struct
import unittest
import zlib

import numpy as np
from PIL import Image

from harness import CliCase

SHORT, LONG, RATIONAL = 3, 4, 5


def across(rows, samples):
    """Differences of neighbours, in the type's own arithmetic."""
    flat = rows.reshape(rows.shape[0], -1)
    out = flat.copy()
    out[:, samples:] = flat[:, samples:] - flat[:, :-samples]
    return out


def by_bytes(rows, samples):
    """The floating-point predictor."""
    flat = rows.reshape(rows.shape[0], -1)
    bytes_ = flat.astype(flat.dtype.newbyteorder(">")).view(np.uint8).reshape(flat.shape[0], -1, flat.itemsize)
    lines = bytes_.transpose(0, 2, 1).reshape(flat.shape[0], -1)
    return across(np.ascontiguousarray(lines), samples)


class Tiff:
    """A directory whose strips or tiles are put in one after the other."""

    def __init__(self, array, compression=1, order="<", **tags):
        self.order, self.array = order, array
        height, width = array.shape[:2]
        samples = array.shape[2] if array.ndim == 3 else 1
        kind = {"u": 1, "i": 2, "f": 3}[array.dtype.kind]
        self.tags = {256: [width], 257: [height], 258: [8 * array.itemsize] * samples, 259: [compression],
                     262: [2 if samples >= 3 else 1], 277: [samples], 339: [kind] * samples}
        self.tags.update({int(tag[1:]): value for tag, value in tags.items()})
        self.samples = samples

    def strips(self, rows, predictor=1, pack=None, planar=False, fill=False):
        planes = [self.array[..., c] for c in range(self.samples)] if planar else [self.array]
        parts = [plane[y:y + rows] for plane in planes for y in range(0, plane.shape[0], rows)]
        if fill:
            parts[-1] = np.concatenate([parts[-1]] * 8)[:rows]
        self.tags.update({278: [rows], 284: [2 if planar else 1]})
        return self.put(parts, (273, 279), predictor, pack, 1 if planar else self.samples)

    def tiles(self, side, predictor=1, pack=None):
        height, width = self.array.shape[:2]
        room = np.zeros((-(-height // side) * side, -(-width // side) * side, *self.array.shape[2:]), self.array.dtype)
        room[:height, :width] = self.array
        parts = [room[y:y + side, x:x + side] for y in range(0, height, side) for x in range(0, width, side)]
        self.tags.update({322: [side], 323: [side]})
        return self.put(parts, (324, 325), predictor, pack, self.samples)

    def put(self, parts, tags, predictor, pack, samples):
        packed, pack = [], pack or (zlib.compress if self.tags[259] != [1] else bytes)
        for part in parts:
            if predictor == 3:
                data = by_bytes(part, samples)
            else:
                data = across(part, samples) if predictor == 2 else part
                data = data.astype(data.dtype.newbyteorder(self.order))
            packed.append(pack(np.ascontiguousarray(data).tobytes()))
        if predictor != 1:
            self.tags[317] = [predictor]
        self.first = 8
        places = [8 + sum(map(len, packed[:i])) for i in range(len(packed))]
        self.tags.update({tags[0]: places, tags[1]: [len(one) for one in packed]})
        self.last = 8 + sum(map(len, packed))
        data, at = b"".join(packed), self.last + self.last % 2
        return self.header(at) + data + bytes(self.last % 2) + self.folder(at)

    def header(self, at):
        return (b"II" if self.order == "<" else b"MM") + struct.pack(self.order + "HI", 42, at)

    def folder(self, at):
        entries, behind, place = b"", b"", at + 2 + 12 * len(self.tags) + 4
        for tag, values in sorted(self.tags.items()):
            long = (254, 256, 257, 273, 278, 279, 324, 325, 330)
            kind = RATIONAL if isinstance(values[0], tuple) else LONG if tag in long else SHORT
            raw = b"".join(struct.pack(self.order + {RATIONAL: "2I", LONG: "I", SHORT: "H"}[kind],
                                       *(value if kind == RATIONAL else [value])) for value in values)
            if len(raw) > 4:
                entries += struct.pack(self.order + "HHII", tag, kind, len(values), place + len(behind))
                behind += raw + bytes(len(raw) % 2)
            else:
                entries += struct.pack(self.order + "HHI", tag, kind, len(values)) + raw.ljust(4, b"\0")
        return struct.pack(self.order + "H", len(self.tags)) + entries + bytes(4) + behind


def picture(shape, dtype, seed=1):
    rng = np.random.default_rng(seed)
    smooth = np.cumsum(rng.integers(-3, 4, shape), axis=1) + 100
    if np.dtype(dtype).kind == "f":
        return (smooth / 255).astype(dtype)
    return (smooth * (257 if np.dtype(dtype).itemsize > 1 else 1)).astype(dtype)


class TiffFiles(CliCase):
    def read(self, data, *options, warning=None):
        self.write("in.tif", data)
        done = self.smp("convert", "in.tif", "out.npy", "-f", *options)
        if warning:
            self.assertIn(warning, done.stderr)
        else:
            self.assertEqual(done.stderr, "")
        return np.load(self.folder / "out.npy")

    def same(self, data, want, about, **how):
        got = self.read(data, **how)
        np.testing.assert_array_equal(got.reshape(want.shape), want, about)

    def test_every_predictor_of_strips_tiles_and_planes(self):
        for dtype, predictors in (("u1", (1, 2)), ("u2", (1, 2)), ("f4", (1, 2, 3))):
            for shape in ((37, 50), (37, 50, 3)):
                array = picture(shape, dtype)
                for predictor in predictors:
                    if dtype == "f4" and predictor == 2:
                        make = lambda order: Tiff(array.view("u4"), 8, order, t339=[3] * (3 if len(shape) > 2 else 1))
                    else:
                        make = lambda order: Tiff(array, 8, order)
                    for order in "<>":
                        about = f"{dtype} {shape} predictor {predictor} {order}"
                        self.same(make(order).strips(10, predictor), array, about)
                        self.same(make(order).tiles(16, predictor), array, about + " tiles")
                        if len(shape) > 2:
                            self.same(make(order).strips(37, predictor, planar=True), array, about + " planes")

    def test_strips_that_are_wide_long_or_filled_up(self):
        wide = picture((3, 300000), "u1")
        self.same(Tiff(wide, 8).strips(2), wide, "wide")
        tall = picture((4000, 200), "u1")
        self.same(Tiff(tall, 8).strips(4000), tall, "one strip in several portions")
        self.same(Tiff(tall, 32946).strips(17, fill=True), tall, "the last strip has all its rows")
        noise = np.random.default_rng(3).integers(0, 256, (300, 700, 3)).astype("u1")
        self.same(Tiff(noise, 8).strips(300, pack=lambda data: zlib.compress(data, 0)), noise, "stored")

    def test_no_single_bit_gives_wrong_samples(self):
        array = picture((64, 64, 3), "u1")
        for make in (lambda tiff: tiff.strips(16), lambda tiff: tiff.strips(16, 2), lambda tiff: tiff.tiles(32)):
            tiff = Tiff(array, 8)
            data = make(tiff)
            rng, wrong, refused = random.Random(5), 0, 0
            names = []
            for i in range(200):
                bit = rng.randrange(8 * tiff.first, 8 * tiff.last)
                flipped = bytearray(data)
                flipped[bit // 8] ^= 1 << bit % 8
                self.write(f"{i}.tif", bytes(flipped))
                names.append(f"{i}.tif")
            self.smp("batch", "-e", "invert", *names, "-o", "out", "--to", "npy", "-f", status=1)
            for name in names:
                out = self.folder / "out" / name.replace(".tif", ".npy")
                if not out.exists():
                    refused += 1
                    continue
                wrong += not np.array_equal(255 - np.load(out), array)
                out.unlink()
            self.assertEqual(wrong, 0)
            self.assertGreater(refused, 190)

    def test_a_wrong_check_sum_is_read_when_asked_for(self):
        array = picture((20, 30), "u1")
        spoilt = lambda data: zlib.compress(data)[:-1] + bytes([zlib.compress(data)[-1] ^ 1])
        short = lambda data: zlib.compress(data)[:-4]
        for pack, says in ((spoilt, "strip 0 has a wrong check sum"), (short, "strip 0 ends too early")):
            data = Tiff(array, 8).strips(10, pack=pack)
            self.write("in.tif", data)
            self.assertIn(says, self.smp("convert", "in.tif", "out.png", status=3).stderr)
            np.testing.assert_array_equal(self.read(data, "--no-verify"), array)
        cut = Tiff(array, 8).strips(10, pack=lambda data: zlib.compress(data)[:-30])
        self.write("in.tif", cut)
        self.smp("convert", "in.tif", "out.png", "--no-verify", status=3)

    def test_floats_whose_white_is_zero_are_kept(self):
        array = np.array([[0.25, 100, -3]], "f4")
        self.same(Tiff(array, t262=[0]).strips(1), array, "floats", warning="floats are kept as they are")
        deep = np.array([[0, 1000, 65535]], "u2")
        self.same(Tiff(deep, t262=[0]).strips(1), 65535 - deep, "16 bits")

    def test_alpha_behind_a_sample_of_no_meaning(self):
        for dtype in ("u1", "u2", "f4"):
            array = picture((9, 7, 5), dtype)
            for planar in (False, True):
                for extra, keep in (([0, 2], [0, 1, 2, 4]), ([2, 0], [0, 1, 2, 3])):
                    data = Tiff(array, t338=extra).strips(9, planar=planar)
                    self.same(data, array[..., keep], f"{dtype} {extra}", warning="1 sample of each pixel is left out")

    def test_a_thumbnail_in_front_is_not_the_picture(self):
        small, large = picture((4, 5), "u1"), picture((40, 50, 3), "u1", 2)
        below = Tiff(large, t254=[0])
        inner = below.strips(40)[8:]  # to be put behind: its places count from there
        for kind, refused in ((2, None), (32803, "raw samples")):
            above = Tiff(small, t254=[1], t330=[0])
            behind = len(above.strips(4))
            below.tags[273] = [behind]
            below.tags[262] = [kind]
            if refused:
                below.tags.update({258: [8], 277: [1], 339: [1]})
            place = behind + below.last - 8 + below.last % 2
            above.tags[330] = [place]
            data = above.strips(4) + inner[:below.last - 8 + below.last % 2] + below.folder(place)
            if not refused:
                self.same(data, large, "the picture below")
                continue
            self.write("in.tif", data)
            self.assertIn(refused, self.smp("convert", "in.tif", "out.png", status=3).stderr)
        self.same(Tiff(small, t254=[1]).strips(4), small, "only a thumbnail")

    def test_lzw_of_the_old_kind_is_read_with_a_warning(self):
        def old_lzw(data):
            """Codes of nine bits, the lowest first; the table is begun anew before it is full."""
            codes = [code for i in range(0, len(data), 100) for code in (256, *data[i:i + 100])] + [257]
            bits = sum(code << 9 * i for i, code in enumerate(codes))
            return bits.to_bytes(9 * len(codes) // 8 + 1, "little")

        array = picture((20, 30), "u1")
        self.same(Tiff(array, 5).strips(10, pack=old_lzw), array, "LZW", warning="libtiff: Old-style LZW codes")

    def test_bytes_between_the_markers_of_a_jpeg(self):
        y, x = np.mgrid[:32, :48]
        array = (x * 3 + y * 2).astype("u1")
        coded = io.BytesIO()
        Image.fromarray(array).save(coded, "jpeg", quality=95)
        plain = coded.getvalue()
        at = plain.index(b"\xff\xdb")
        want = self.read(Tiff(array, 7).strips(32, pack=lambda data: plain))
        self.assertLess(np.abs(want.astype(int) - array).max(), 12)
        stray = plain[:at] + b"junk" + plain[at:]
        self.same(Tiff(array, 7).strips(32, pack=lambda data: stray), want, "stray", warning="4 extraneous bytes")
        short = Tiff(array, 7).strips(32, pack=lambda data: plain[:-40] + b"\xff\xd9")
        self.write("in.tif", short)
        done = self.smp("convert", "in.tif", "out.png", status=3)
        self.assertIn("is damaged (libtiff: Corrupt JPEG data: premature end", done.stderr)
        self.assertIn("--no-verify", done.stderr)
        got = self.read(short, "--no-verify", warning="the picture may be damaged (libtiff: Corrupt JPEG data")
        np.testing.assert_array_equal(got[:8], want[:8])


if __name__ == "__main__":
    unittest.main()
