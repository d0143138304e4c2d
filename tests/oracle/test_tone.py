"""Stages that work pixel by pixel or from a histogram, against NumPy and OpenCV."""
import pathlib
import unittest

import cv2
import numpy as np
import scipy.interpolate

from PIL import Image

from harness import (FORMATS, SANITIZED, OracleCase, ProgramFailed, matrix, per_channel, picture, run, run_many, shapes,
                     white)

SAMPLES = pathlib.Path(__file__).parents[2] / "samples"
BT709 = (0.2126, 0.7152, 0.0722)
EVERYWHERE = [("--device", device, "--variant", variant, "--strip-rows", 7)
              for device in ("cpu", "simt") for variant in ("naive", "tiled")]
if SANITIZED:
    EVERYWHERE = EVERYWHERE[1:3]  # tiled on the CPU, naive on the emulator


def diffused(codes, white, choose):
    """Floyd and Steinberg in whole numbers. codes: [rows][columns][colours that choose together]."""
    height, width, colours = codes.shape
    errors = np.zeros((height + 1, width + 2, colours), np.int64)  # of the row above; a column at both ends
    out = np.zeros_like(codes)
    for y in range(height):
        for x in range(width):
            handed = (7 * errors[y + 1, x] + 3 * errors[y, x + 2] + 5 * errors[y, x + 1] + errors[y, x])
            v = np.clip(codes[y, x] + np.trunc(handed / 16).astype(np.int64), 0, white)
            out[y, x] = choose(v)
            errors[y + 1, x + 1] = v - out[y, x]
    return out


class Point(OracleCase):
    def test_invert_is_exact(self):
        for dtype in FORMATS:
            for seed, shape in shapes(channels=(1, 3)):
                array = picture(seed, shape, dtype)
                want = (dtype(white(array)) - array).astype(dtype)
                self.same(run(array, "invert"), want, f"{array.dtype} {shape}")
                if dtype != np.float32:
                    self.same(run(array, "invert", "invert"), array, "twice")

    def test_gray_is_the_weighted_sum(self):
        for dtype in FORMATS:
            for shape in ((1, 1, 3), (61, 45, 3), (1, 67, 3)):
                array = picture(1, shape, dtype)
                got = run_many(array,
                               {"709": ["gray"], "601": ["gray [0.299 0.587 0.114]"], "red": ["gray weights=[1 0 0]"]})
                for name, weights in (("709", BT709), ("601", (0.299, 0.587, 0.114))):
                    self.near(got[name], array.astype(np.float64) @ np.array(weights), f"gray {name}")
                self.same(got["red"], array[..., 0], "red alone")

    def test_gray_leaves_gray_alone(self):
        for dtype in FORMATS:
            array = picture(2, (61, 45), dtype)
            self.same(run(array, "gray"), array, "gray of gray")

    def test_ordered_dithering_is_exact(self):
        bayer = np.zeros((1, 1), int)
        for _ in range(3):
            bayer = np.block([[4 * bayer, 4 * bayer + 2], [4 * bayer + 3, 4 * bayer + 1]])
        self.assertEqual(bayer[0].tolist(), [0, 32, 8, 40, 2, 34, 10, 42])
        for dtype in FORMATS:
            for levels, shape in ((2, (21, 70)), (4, (9, 300, 3)), (16, (33, 5, 4))):
                array = picture(levels, shape, dtype)
                y, x = np.mgrid[0:shape[0], 0:shape[1]]
                threshold = (bayer[y % 8, x % 8] + 0.5) / 64
                threshold = threshold if array.ndim == 2 else threshold[..., None]
                top, one = np.float32(white(array)), np.float32(levels - 1)
                at = array.astype(np.float32) / top * one
                level = np.floor(at) + (at - np.floor(at) > threshold.astype(np.float32))
                want = level.astype(np.float32) * top / one
                want = want if dtype == np.float32 else np.rint(want).astype(dtype)
                for device in ("cpu", "simt"):
                    for variant in ("naive", "tiled"):
                        got = run(array, f"posterise {levels} dither=bayer8",
                                  options=("--device", device, "--variant", variant, "--strip-rows", 5))
                        self.same(got, want, f"{levels} {shape} {device} {variant}")
        even = run(np.full((64, 64), 77, np.uint8), "posterise 2 dither=bayer8")
        self.assertLess(abs(even.mean() - 77), 2)

    def test_diffusing_two_levels_is_pillows(self):
        for seed, shape in enumerate(((90, 61), (16, 200), (1, 50), (50, 1), (37, 3))):
            array = picture(seed, shape, np.uint8)
            want = np.asarray(Image.fromarray(array).convert("1")).astype(np.uint8) * 255
            for options in EVERYWHERE:
                self.same(run(array, "posterise 2 dither=diffuse", options=options), want, f"{shape} {options}")
        wide = np.tile(np.arange(256, dtype=np.uint8), (600, 2))  # more rows than a block of a GPU has
        want = np.asarray(Image.fromarray(wide).convert("1")).astype(np.uint8) * 255
        self.same(run(wide, "posterise 2 dither=diffuse"), want)

    def test_diffusing_is_exact(self):
        for dtype, levels, shape in ((np.uint8, 4, (19, 23, 3)), (np.uint8, 256, (9, 12)), (np.uint16, 3, (18, 20, 4)),
                                     (np.float32, 16, (20, 9))):
            array = picture(levels, shape, dtype)
            top = 65535 if dtype != np.uint8 else 255
            planes = array.reshape(*shape[:2], -1)
            codes = planes if dtype != np.float32 else np.rint(np.clip(planes, 0, 1) * np.float32(65535))
            even = np.floor(np.arange(levels) * top / (levels - 1) + 0.5).astype(np.int64)
            want = planes.copy()
            for c in range(planes.shape[2]):
                got = diffused(codes[..., c:c + 1].astype(np.int64), top,
                               lambda v: even[(v * (levels - 1) + top * 126 // 255) // top])[..., 0]
                exact = np.searchsorted(even, got) / (levels - 1)
                want[..., c] = exact if dtype == np.float32 else got
            for options in EVERYWHERE:
                self.same(run(array, f"posterise {levels} dither=diffuse", options=options), want.reshape(shape),
                          f"{dtype} {levels} {options}")
        with self.assertRaisesRegex(ProgramFailed, "light encoded"):
            run(picture(1, (5, 5), np.uint8), "light linear", "posterise 2 dither=diffuse")

    def test_palette_takes_the_nearest_colour(self):
        colours = np.array([(0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 102, 51), (30, 60, 255)])
        words = "colors=[" + "; ".join(" ".join(f"{v / 255:.9f}" for v in c) for c in colours) + "]"

        def nearest(v):
            return colours[((colours - v) ** 2).sum(-1).argmin()]

        array = picture(5, (21, 40, 3), np.uint8)
        codes = array.astype(np.int64)
        plain = np.array([[nearest(v) for v in row] for row in codes]).astype(np.uint8)
        handed = diffused(codes, 255, nearest).astype(np.uint8)
        for options in EVERYWHERE:
            self.same(run(array, f"palette {words}", options=options), plain, options)
            self.same(run(array, f"palette {words} dither=diffuse", options=options), handed, options)
            stages = "alpha opaque", f"palette {words} dither=diffuse", "alpha drop"
            self.same(run(array, *stages, options=options), handed, f"with alpha {options}")
        gray = picture(6, (20, 31), np.uint16)
        want = np.array([0, 19661, 65535])[np.abs(gray[..., None] - np.array([0, 19661, 65535.])).argmin(-1)]
        self.same(run(gray, "palette colors=[0 0.3 1]"), want.astype(np.uint16))

    def test_a_palette_is_found(self):
        few = np.array([(0, 0, 0), (255, 255, 255), (200, 30, 30), (20, 90, 220)], np.uint8)
        array = few[np.random.default_rng(1).integers(0, 4, (40, 50))]
        for options in EVERYWHERE:
            self.same(run(array, "palette 4", options=options), array, f"its own colours {options}")
            self.same(run(array, "palette 9 dither=diffuse", options=options), array, f"and no more {options}")
        photo = cv2.imread(str(SAMPLES / "chelsea.png"))[:120, :160, ::-1].copy()
        got = {options: run(photo, "palette 16", options=options) for options in EVERYWHERE}
        first = got[EVERYWHERE[0]]
        for options in EVERYWHERE:
            self.same(got[options], first, options)
        self.assertEqual(len(np.unique(first.reshape(-1, 3), axis=0)), 16)
        pillow = np.asarray(Image.fromarray(photo).quantize(16, dither=Image.NONE).convert("RGB"))
        error, other = (((a.astype(float) - photo) ** 2).mean() for a in (first, pillow))
        self.assertLess(error, other, "Pillow's median cut")
        self.same(run(np.full((4, 5, 3), 77, np.uint8), "palette 2"), np.full((4, 5, 3), 77, np.uint8))

    def test_what_palette_refuses(self):
        rgb, gray = picture(1, (4, 4, 3), np.uint8), picture(1, (4, 4), np.uint8)
        two = "colors=[0 0 0; 1 1 1]"
        for array, words, message in ((rgb, "", "how many colours, or which"), (rgb, f"4 {two}", "not both"),
                                      (rgb, "colors=[0 0.5 1]", "has 1 rows"), (gray, two, "color rgb"),
                                      (rgb, "1", "2 to 256")):
            with self.assertRaisesRegex(ProgramFailed, message):
                run(array, f"palette {words}")

    def test_curves_are_scipys_pchip(self):
        rng = np.random.default_rng(2)
        for dtype, columns in zip(FORMATS * 2, (1, 1, 1, 3, 3, 3)):
            array = picture(3, (40, 30, 3), dtype)
            for count in (3, 7, 16):
                x = ((np.arange(count) + rng.random(count) / 2) / count).round(3)
                y = rng.random((count, columns)).round(3)
                points = "; ".join(" ".join(map(str, row)) for row in np.column_stack([x, y]))
                at = np.clip(array / white(array), x[0], x[-1])
                smooth = [scipy.interpolate.PchipInterpolator(x, y[:, c % columns])(at[..., c]) for c in range(3)]
                bent = [np.interp(at[..., c], x, y[:, c % columns]) for c in range(3)]
                for shape, want in (("smooth", smooth), ("linear", bent)):
                    top = white(array)
                    self.near(run(array, f"curves [{points}] shape={shape}"), np.dstack(want) * top,
                              f"{dtype} {points} {shape}", terms=1, tie=top * 4e-6, relative=4e-6)

    def test_posterise_is_exact(self):
        for dtype in FORMATS:
            array = picture(3, (61, 45, 3), dtype)
            for levels in (2, 5, 256):
                steps, top = np.float32(levels - 1), np.float32(white(array))
                want = np.rint(array.astype(np.float32) * steps / top) * top / steps
                got = run(array, f"posterise {levels}")
                rounded = np.rint(want) if dtype != np.float32 else want
                self.same(got, rounded.astype(dtype), f"{array.dtype} {levels}")

    def test_gamma(self):
        every = {
            np.uint8: np.arange(256, dtype=np.uint8).reshape(16, 16),
            np.uint16: np.arange(65536, dtype=np.uint16).reshape(256, 256),
        }
        for dtype in FORMATS:
            array = every.get(dtype, picture(3, (61, 45, 3), dtype))
            top = white(array)
            for g in (0.45, 0.8, 1.5, 2.2, 4):
                exact = top * (array / top) ** (1 / g)
                self.near(run(array, f"gamma {g}"), exact, f"gamma {g}", tie=top * 4e-7 + 1e-5)

    def test_matrix_mixes_channels(self):
        rng = np.random.default_rng(4)
        for dtype in FORMATS:
            for channels, rows in ((3, 3), (3, 1), (1, 3), (3, 4), (4, 2), (2, 2)):
                array = picture(5, (45, 61, channels) if channels > 1 else (45, 61), dtype)
                m = np.rint(rng.uniform(-1, 1, (rows, channels)) * 64) / 64
                planes = array.reshape(45, 61, channels).astype(np.float64)
                for constant in (None, np.rint(rng.uniform(0, 0.5, rows) * 64) / 64):
                    full = m if constant is None else np.column_stack([m, constant])
                    offset = 0 if constant is None else constant * white(array)
                    exact = planes @ m.T + offset
                    terms = np.abs(planes) @ np.abs(m).T + offset
                    got = run(array, f"matrix {matrix(full)}")
                    self.near(got.reshape(exact.shape), exact, f"{channels} to {rows} channels", terms=terms)

    def test_depth_conversions_of_every_value(self):
        bytes_ = np.arange(256, dtype=np.uint8).reshape(16, 16)
        words = np.arange(65536, dtype=np.uint16).reshape(256, 256)
        self.same(run(bytes_, "depth 16bit"), bytes_.astype(np.uint16) * np.uint16(257), "8 to 16")
        self.same(run(words, "depth 8bit"), ((words.astype(np.uint32) * 255 + 32895) >> 16).astype(np.uint8), "16 to 8")
        self.same(run(words, "depth 8bit"), np.rint(words / 257.0).astype(np.uint8), "16 to 8 is the nearest")
        for array in (bytes_, words):
            floats = run(array, "depth float")
            self.assertEqual(floats.dtype, np.float32)
            self.near(floats, array / white(array), "to float")
            back = "8bit" if array.dtype == np.uint8 else "16bit"
            self.same(run(floats, f"depth {back}"), array, f"float and back to {back}")
            self.same(run(array, f"depth {back}"), array, "no change")
        self.same(run(bytes_, "depth 16bit", "depth 8bit"), bytes_, "8 to 16 to 8")

    def test_floats_to_integers_round_half_even_and_clamp(self):
        values = np.array([[-1, -0.1, 0, 0.5 / 255, 1.5 / 255, 2.5 / 255, 1, 1.001, 7, np.inf, -np.inf, np.nan]],
                          np.float32)
        got = run(values, "depth 8bit")[0]
        self.assertEqual(got[[0, 1, 2, 6, 7, 8, 9, 10, 11]].tolist(), [0, 0, 0, 255, 255, 255, 255, 0, 0])
        exact = np.float32(values[0, 3:6]) * np.float32(255)
        self.assertTrue((np.abs(got[3:6] - exact) <= 0.5001).all())

    def test_levels(self):
        for dtype in FORMATS:
            array = picture(6, (61, 45, 3), dtype)
            top = white(array)
            for black, high, gamma in ((0.1, 0.8, 1), (0, 0.5, 1), (0.25, 0.75, 1.7), (0, 4, 1), (0.9, 0.2, 1)):
                x = np.clip((array / top - black) / (high - black), 0, 1)
                got = run(array, f"levels black={{{black}}} white={{{high}}} gamma={gamma}")
                terms = np.maximum(x, abs(black) / abs(high - black)) * top + 0.1 * top
                said = f"levels {black} {high} {gamma}"
                self.near(got, top * x ** (1 / gamma), said, tie=top * 1e-6 + 1e-5, terms=terms)

    def test_levels_auto(self):
        for dtype, bins in ((np.uint8, 256), (np.uint16, 65536)):
            array = picture(7, (127, 257), dtype, 0.2, 0.7)
            top = white(array)
            ordered = np.sort(array.ravel())
            for clip in (0, 0.005, 0.1):
                skip = int(np.floor(clip * ordered.size))
                black, high = float(ordered[skip]), float(ordered[-1 - skip])
                exact = top * np.clip((array - black) / (high - black), 0, 1)
                self.near(run(array, f"levels auto clip={clip * 100}%"), exact, f"clip {clip}", tie=top * 1e-6)

    def test_levels_auto_of_one_value(self):
        for value in (0, 77, 255):
            array = np.full((9, 7), value, np.uint8)
            self.same(run(array, "levels auto"), array, f"{value} everywhere")

    def test_threshold(self):
        for dtype in FORMATS:
            array = picture(8, (61, 45, 3), dtype)
            top = white(array)
            for level in (0.5, 0.2, 1.0, 0.0):
                want = np.where(array.astype(np.float64) >= np.float32(level * top), dtype(top), dtype(0)).astype(dtype)
                self.same(run(array, f"threshold {level * 100:g}%"), want, f"{level}")

    def test_otsu_equals_opencv(self):
        rng = np.random.default_rng(9)
        for dtype in (np.uint8, np.uint16):
            top = np.iinfo(dtype).max
            for case in range(8):
                two = np.where(
                    rng.random((120, 90)) < rng.uniform(0.2, 0.8), rng.normal(0.3, 0.08, (120, 90)),
                    rng.normal(0.7, 0.1, (120, 90)))
                array = np.rint(np.clip(two, 0, 1) * top).astype(dtype)
                if case > 5:
                    array = picture(case, (61, 45), dtype)
                want = cv2.threshold(array, 0, top, cv2.THRESH_BINARY | cv2.THRESH_OTSU)[1]
                self.same(run(array, "threshold method=otsu"), want, f"{array.dtype} case {case}")

    def test_otsu_of_one_value_is_opencvs_or_black(self):
        for dtype in (np.uint8, np.uint16):
            for value in (0, 1, 77, 255):
                array = np.full((9, 7), value, dtype)
                want = cv2.threshold(array, 0, np.iinfo(dtype).max, cv2.THRESH_BINARY | cv2.THRESH_OTSU)[1]
                self.same(run(array, "threshold method=otsu"), want, f"{dtype} {value}")
                self.same(run(array, "threshold method=otsu flat=black"), 0 * array, f"{dtype} {value} black")
        one = np.dstack([picture(5, (9, 7), np.uint8), np.full((9, 7), 9, np.uint8), np.full((9, 7), 8, np.uint8)])
        self.assertFalse(run(one, "threshold method=otsu flat=black")[..., 1:].any())
        self.assertTrue(run(one, "threshold method=otsu flat=black")[..., 0].any())

    def test_otsu_works_on_each_channel(self):
        array = picture(10, (61, 45, 3), np.uint8)
        array[..., 1] //= 3
        want = per_channel(
            lambda p: cv2.threshold(np.ascontiguousarray(p), 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)[1], array)
        self.same(run(array, "threshold method=otsu"), want, "channel by channel")

    def test_equalize_each_equals_opencv(self):
        for seed, shape in shapes(channels=(1, 3)):
            array = picture(seed, shape, np.uint8, 0.1, 0.6)
            self.same(run(array, "equalize each"),
                      per_channel(lambda p: cv2.equalizeHist(np.ascontiguousarray(p)), array), f"{shape}")
        one = np.full((9, 7), 77, np.uint8)
        self.same(run(one, "equalize each"), cv2.equalizeHist(one), "one value")

    def test_equalize_luma_keeps_differences_of_colour(self):
        array = picture(11, (61, 45, 3), np.uint8, 0.3, 0.6)
        y = array.astype(np.float64) @ (0.299, 0.587, 0.114)
        code = np.rint(y).astype(np.uint8)
        exact = array + (cv2.equalizeHist(code).astype(np.float64) - code)[..., None]
        got = run(array, "equalize")
        sure = np.abs(y - np.floor(y) - 0.5) > 1e-3  # which code the luma has is certain
        self.assertGreater(sure.mean(), 0.95)
        exact[~sure] = got[~sure]
        # Codes near ties shift the histogram by a count or two: one code value.
        self.assertLessEqual(np.abs(got - np.clip(exact, 0, 255)).max(), 1)
        self.assertGreater((got == np.clip(exact, 0, 255)).mean(), 0.9)

    def test_equalize_16_bits(self):
        array = picture(12, (61, 45), np.uint16, 0.2, 0.5)
        counts = np.bincount(array.ravel(), minlength=65536).astype(np.float64)
        first = np.flatnonzero(counts)[0]
        table = (np.cumsum(counts) - counts[first]) / (array.size - counts[first]) * 65535
        self.near(run(array, "equalize each"), table[array], "16 bits", tie=0.02)


if __name__ == "__main__":
    unittest.main()
