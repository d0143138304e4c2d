"""Stages in which the channels of a pixel meet, and second pictures of any size, against NumPy in double arithmetic.
Vectors are those of the stages' definitions: U is an 8-bit picture that a formula makes."""
import colorsys
import math
import pathlib
import tempfile
import unittest

import cv2
import numpy as np
from PIL import Image

from harness import FORMATS, SCRATCH, OracleCase, ProgramFailed, command, picture, run, white


def U(width, height, channels=1):
    y, x, k = np.mgrid[0:height, 0:width, 0:channels]
    array = ((7 * x * x + 13 * y * y + 5 * x * y + 71 * k + 11 * x + 3) % 256).astype(np.uint8)
    return array[..., 0] if channels == 1 else array


PIXELS = np.array([[(200, 64, 32), (16, 200, 90), (128, 128, 128), (30, 60, 240)]], np.uint8)


def through_png(stages, first, second=None, options=()):
    """Arrays, of which four channels are RGBA, through PNG files; the second is "second.png"."""
    with tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH) as name:
        folder = pathlib.Path(name)
        for file, array in (("in.png", first), ("second.png", second)):
            if array is not None and array.shape[2:] == (2,):
                Image.fromarray(array, "LA").save(folder / file)
            elif array is not None:
                order = {4: [2, 1, 0, 3], 3: [2, 1, 0]}.get(array.shape[-1] if array.ndim == 3 else 1)
                cv2.imwrite(str(folder / file), array if order is None else np.ascontiguousarray(array[..., order]))
        (folder / "p.pipe").write_text("\n".join(stages) + "\n")
        command("run", "-q", *options, "p.pipe", "in.png", "out.npy", folder=folder)
        return np.load(folder / "out.npy")


def saturation(amount, degrees):
    gray = np.array([.213, .715, .072])
    turn = math.radians(degrees)
    amounts = gray + (np.eye(3) - gray) * amount
    across = np.array([[-.213, -.715, .928], [.143, .140, -.283], [-.787, .715, .072]])
    return (gray + (np.eye(3) - gray) * math.cos(turn) + across * math.sin(turn)) @ amounts


class Saturate(OracleCase):
    def test_vectors(self):
        for stage, rows in (
            ("saturate 1.5", "254.668 50.668 2.668 -52.444 223.556 58.556 128 128 128 11.715 56.715 326.715"),
            ("saturate hue=90deg", "32 119.168 -18.672 90 157.706 289.776 128 128 128 240 11.340 103.140"),
            ("saturate 50% hue=-30deg",
             "152.674 71.992 92.596 109.336 172.084 91.435 128 128 128 7.377 77.533 132.525"),
        ):
            self.near(run(PIXELS, stage), np.array(rows.split(), float).reshape(1, 4, 3), stage)

    def test_equals_the_matrices(self):
        for dtype in FORMATS:
            array = picture(1, (45, 61, 3), dtype)
            for amount, hue in ((0, 0), (2.5, -200), (0.3, 45)):
                m = saturation(amount, hue)
                terms = array.astype(np.float64) @ np.abs(m).T
                self.near(run(array, f"saturate {amount} hue={hue}deg"), array.astype(np.float64) @ m.T, terms=terms)

    def test_gray_stays_and_alpha_too(self):
        gray, rgba = picture(2, (9, 7), np.uint8), picture(3, (9, 7, 4), np.uint8)
        self.same(run(gray, "saturate 3"), gray)
        self.same(through_png(["saturate 2 hue=30deg"], rgba)[..., 3], rgba[..., 3])
        with self.assertRaisesRegex(ProgramFailed, "takes red, green and blue, and the picture has 5 colours"):
            run(picture(4, (3, 3, 5), np.uint8), "saturate 2")


def near_colour(array, colour, tolerance, soft):
    """How near pixels of full scale 1 are: 1 within the tolerance, then less and less."""
    distance = np.sqrt(np.mean((array - np.array(colour)) ** 2, axis=-1))
    beyond = (tolerance + soft - distance) / soft if soft else np.zeros_like(distance)
    return np.where(distance <= tolerance, 1, np.clip(beyond, 0, 1))


class NearColour(OracleCase):
    def test_key_equals_numpy(self):
        for dtype in FORMATS:
            array = picture(20, (45, 61, 3), dtype)
            for soft in (0.0, 0.2):
                near = near_colour(array / white(array), (1, .2, 0), .303, soft)
                got = run(array, f"key [1 0.2 0] tolerance=30.3% soft={soft}")
                self.same(got[..., :3], array, "colours stay")
                self.near(got[..., 3], (1 - near) * white(array), terms=2 * white(array))

    def test_replace_equals_numpy(self):
        for dtype in FORMATS:
            array = picture(21, (45, 61, 3), dtype)
            for soft in (0.0, 0.2):
                near = near_colour(array / white(array), (1, .2, 0), .303, soft)[..., None]
                exact = array + near * (np.array([0, 1, .4]) * white(array) - array)
                self.near(run(array, f"replace [1 0.2 0] to=[0 1 0.4] tolerance=30.3% soft={soft}"), exact,
                          terms=3 * white(array))

    def test_alpha_is_taken_from_and_kept(self):
        rgba = picture(22, (45, 61, 4), np.uint8)
        near = near_colour(rgba[..., :3] / 255, (0, 0, 0), .2, .4)
        self.near(through_png(["key black tolerance=20% soft=40%"], rgba)[..., 3], rgba[..., 3] * (1 - near), terms=255)
        self.same(through_png(["replace black to=white tolerance=20%"], rgba)[..., 3], rgba[..., 3])

    def test_gray_and_exact_colours(self):
        ramp = np.arange(256, dtype=np.uint8).reshape(1, 256)
        self.same(run(ramp, "#abc", "replace #808080 to=#fff  # a comment, #fff"),
                  np.where(ramp == 128, 255, ramp).astype(np.uint8))
        for tolerance, reach in ((10, 25), (0, 0)):
            alpha = run(ramp, f"key white tolerance={tolerance}%")[0, :, 1]
            self.same(alpha, np.where(np.arange(256) >= 255 - reach, 0, 255).astype(np.uint8), tolerance)

    def test_what_does_not_fit(self):
        for stage, message in (("key red", "write `color rgb` before it"),
                               ("replace white to=red", "to has 3 values, and the picture 1 channel"),
                               ("key [0 0]", "color has 2 values")):
            with self.assertRaisesRegex(ProgramFailed, message):
                run(picture(23, (9, 7), np.uint8), stage)
        with self.assertRaisesRegex(ProgramFailed, "works on encoded values"):
            through_png(["light linear", "key white"], picture(23, (9, 7, 3), np.uint8))


class Modulate(OracleCase):
    def exact(self, array, brightness, saturation, hue):
        """Through colorsys."""
        out = np.empty(array.shape)
        for i in np.ndindex(array.shape[:2]):
            h, l, s = colorsys.rgb_to_hls(*(array[i] / white(array)))
            out[i] = colorsys.hls_to_rgb((h + hue / 360) % 1, l * brightness, s * saturation)
        return out * white(array)

    def test_equals_colorsys(self):
        for dtype in FORMATS:
            array = picture(24, (21, 33, 3), dtype)
            for brightness, saturation, hue in ((.8, .9, 0), (.5, 1, 100), (1, 0, -45)):
                got = run(array, f"modulate {brightness} saturation={saturation} hue={hue}deg")
                self.near(got, self.exact(array, brightness, saturation, hue), terms=8 * white(array))

    def test_brighter_ends_at_white_and_alpha_stays(self):
        rgba = picture(25, (21, 33, 4), np.uint8)
        got = through_png(["modulate 3"], rgba)
        self.same(got[..., 3], rgba[..., 3])
        light = (rgba[..., :3].max(-1).astype(int) + rgba[..., :3].min(-1)) * 3 >= 1020
        self.assertTrue(light.any())
        self.assertTrue((got[..., :3][light] == 255).all())

    def test_gray_is_refused(self):
        with self.assertRaisesRegex(ProgramFailed, "takes red, green and blue, and the picture has 1 colour"):
            run(picture(2, (9, 7), np.uint8), "modulate 120%")


class Tint(OracleCase):
    def test_equals_numpy(self):
        colour = np.array([1, .5, 0])
        by = colour - colour @ [.2126, .7152, .0722]
        for dtype in FORMATS:
            array = picture(26, (45, 61, 3), dtype)
            v = array / white(array)
            for amount in (1, .3):
                exact = (v + 4 * v * (1 - v) * amount * by) * white(array)
                self.near(run(array, f"tint [1 0.5 0] amount={amount}"), exact, terms=2 * white(array))

    def test_black_white_and_alpha_stay(self):
        ends = np.array([[(0, 0, 0, 9), (255, 255, 255, 200)]], np.uint8)
        self.same(through_png(["tint navy"], ends), ends)


class Alpha(OracleCase):
    def setUp(self):
        self.pixels = np.array([[(200, 10, 30, 128), (0, 255, 0, 0), (9, 8, 7, 255)]], np.uint8)

    def test_vectors(self):
        self.near(through_png(["alpha flatten fill=[1 0.5 0]"], self.pixels),
                  [[(227.392, 68.520, 15.059), (255, 127.5, 0), (9, 8, 7)]])
        self.same(through_png(["alpha drop"], self.pixels), self.pixels[..., :3], "drop")
        self.same(through_png(["alpha extract"], self.pixels), self.pixels[..., 3], "extract")

    def test_flatten_equals_numpy(self):
        for dtype in (np.uint8, np.uint16):
            rgba = picture(5, (45, 61, 4), dtype)
            a = rgba[..., 3:] / white(rgba)
            exact = rgba[..., :3] * a + 0.25 * white(rgba) * (1 - a)
            self.near(through_png(["alpha flatten fill=[0.25]"], rgba), exact)

    def test_alpha_is_added_and_set(self):
        rgb, mask = picture(6, (45, 61, 3), np.uint8), picture(7, (45, 61), np.uint16)
        self.same(through_png(["alpha opaque"], rgb), np.dstack([rgb, np.full((45, 61), 255, np.uint8)]))
        self.same(through_png(["alpha extract"], rgb), np.full((45, 61), 255, np.uint8), "none is full scale")
        got = through_png(['alpha set by="second.png"'], rgb, mask)
        self.same(got[..., :3], rgb)
        self.near(got[..., 3], mask / 257)

    def test_alpha_is_no_light(self):
        """Neither taken out nor set does it go through the curve of `light linear`."""
        rgba, mask = picture(8, (45, 61, 4), np.uint8), picture(9, (45, 61), np.uint8)
        self.same(through_png(["light linear", "gaussian 0.4px", "alpha extract"], np.dstack([rgba[..., :3], mask])),
                  through_png(["gaussian 0.4px", "alpha extract"], np.dstack([rgba[..., :3], mask])), "extract")
        self.same(through_png(["light linear", 'alpha set by="second.png"'], rgba, mask)[..., 3], mask, "set")

    def test_what_does_not_fit(self):
        rgb = picture(10, (9, 7, 3), np.uint8)
        for stage, second, message in (
            ("alpha set", None, "needs the picture that becomes alpha"),
            ('alpha drop by="second.png"', rgb, "'alpha drop' takes no second picture"),
            ('alpha set by="second.png"', rgb, "alpha is one channel"),
            ('alpha set by="second.png"', picture(1, (9, 8), np.uint8), "must have the same size"),
        ):
            with self.assertRaisesRegex(ProgramFailed, message):
                through_png([stage], rgb, second)


def over(first, second, x, y, opacity=1.0):
    """Code values of both (the second of 8 bits) in double; returns those of the first."""
    out, scale = first.astype(np.float64), white(first) / white(second)
    height, width = first.shape[:2]
    x0, y0 = max(0, x), max(0, y)
    x1, y1 = min(width, x + second.shape[1]), min(height, y + second.shape[0])
    if x0 >= x1 or y0 >= y1:
        return out
    b, a = second[y0 - y:y1 - y, x0 - x:x1 - x].astype(np.float64), out[y0:y1, x0:x1].copy()
    alpha = (b[..., 3:] / white(second) if b.shape[2] == 4 else 1.0) * opacity
    colour = b[..., :3] * scale
    if a.shape[2] == 4:
        own = a[..., 3:] / white(first)
        both = alpha + own * (1 - alpha)
        mixed = (colour * alpha + a[..., :3] * own * (1 - alpha)) / np.where(both == 0, 1, both)
        out[y0:y1, x0:x1, :3] = np.where(both == 0, a[..., :3], mixed)
        out[y0:y1, x0:x1, 3:] = both * white(first)
    else:
        out[y0:y1, x0:x1] = a + (colour - a) * alpha
    return out


class Overlay(OracleCase):
    small = np.array([[(255, 0, 0, 255), (0, 0, 255, 128)], [(0, 255, 0, 64), (10, 20, 30, 0)]], np.uint8)

    def lay(self, first, second, words):
        return through_png([f'overlay "second.png" {words}'], first, second)

    def test_vectors(self):
        got = self.lay(U(4, 3, 4), self.small, "x=1 y=1")
        self.same(got[0], U(4, 3, 4)[0], "the row above stays")
        self.near(got[1], [(16, 87, 158, 229), (255, 0, 0, 255), (8.648, 16.727, 250.790, 144.435), (127, 198, 13, 84)],
                  tie=1e-3)
        self.near(got[2], [(55, 126, 197, 12), (26.466, 222.795, 71.745, 93.961), (125, 196, 11, 82),
                           (181, 252, 67, 138)], tie=1e-3)
        got = self.lay(U(4, 3, 3), self.small, "anchor=bottom-right opacity=50%")
        self.near(got[1:, 2:], [[(165.5, 73.5, 109), (95.125, 148.306, 73.737)],
                                [(109.314, 203.404, 9.620), (181, 252, 67)]], tie=1e-3)
        want = U(4, 3, 3).astype(float)
        want[2, 0] = 27.392, 62.753, 226.114
        self.near(self.lay(U(4, 3, 3), self.small, "x=-1 y=2"), want, tie=1e-3)

    def test_equals_numpy_wherever_it_lies(self):
        cases = ((3, 4, np.uint8, (20, 31)), (4, 4, np.uint8, (9, 7)), (4, 3, np.uint16, (20, 31)),
                 (3, 3, np.uint8, (99, 80)))
        for seed, (channels, others, dtype, size) in enumerate(cases):
            first, second = picture(seed, (45, 61, channels), dtype), picture(seed + 9, size + (others,), np.uint8)
            for words, x, y in (("x=3 y=7", 3, 7), ("x=-5 y=-3", -5, -3), ("x=55 y=40 opacity=30%", 55, 40),
                                ("anchor=centre", (61 - size[1]) // 2, (45 - size[0]) // 2)):
                opacity = 0.3 if "opacity" in words else 1.0
                self.near(self.lay(first, second, words), over(first, second, x, y, opacity), words,
                          tie=white(first) * 4e-6)

    def test_gray_serves_every_colour_and_not_the_other_way(self):
        rgb, gray = picture(20, (30, 40, 3), np.uint8), picture(21, (8, 9), np.uint8)
        want = rgb.copy()
        want[2:10, 5:14] = gray[..., None]
        self.same(self.lay(rgb, gray, "x=5 y=2"), want)
        with self.assertRaisesRegex(ProgramFailed, "of 3 colours cannot be laid on one of 1"):
            self.lay(gray, rgb, "")

    def test_a_gray_picture_gets_the_colours_of_the_second(self):
        small = picture(24, (12, 19, 4), np.uint8)
        for shape, dtype in (((30, 40), np.uint16), ((30, 40, 2), np.uint8)):
            gray = picture(23, shape, dtype)
            parts = np.dsplit(gray, 2) if gray.ndim == 3 else [gray]
            colour = np.dstack([parts[0]] * 3 + parts[1:])
            for words, x, y in (("x=5 y=2", 5, 2), ("x=30 y=-4", 30, -4)):
                want = over(colour, small, x, y)
                for device in ("cpu", "simt"):
                    for variant in ("naive", "tiled"):
                        got = through_png([f'overlay "second.png" {words} color=yes'], gray, small,
                                          options=("--device", device, "--variant", variant))
                        self.near(got, want, f"{words} {device} {variant}", tie=white(gray) * 4e-6)
        gray = picture(25, (9, 8), np.uint8)
        self.same(self.lay(gray, gray, "color=yes"), gray, "no colours, none made")

    def test_a_branch_is_laid_on(self):
        array = picture(22, (64, 48, 3), np.uint8)
        want = array.copy()
        want[:48, :64 - 16] = np.rot90(array, -1)[:, :48]
        self.same(run(array, "rotate 90 -> @turned", "from @input", "overlay @turned x=0 y=0"), want)
        self.same(run(array, "rotate 90 -> @turned", "from @input", "overlay @turned x=0 y=0",
                      options=("--strip-rows", 7)), want, "strips")


def to_space(v, space):
    """Fractions of full scale to fractions."""
    if space == "hsv":
        most, least = v.max(-1), v.min(-1)
        (r, g, b), span = np.moveaxis(v, -1, 0), np.where(most == least, 1, most - least)
        hue = np.where(most == r, (g - b) / span, np.where(most == g, 2 + (b - r) / span, 4 + (r - g) / span)) / 6 % 1
        return np.stack([np.where(most == least, 0, hue), (most - least) / np.where(most == 0, 1, most), most], -1)
    if space == "ycbcr":
        y = v @ [.299, .587, .114]
        return np.stack([y, (v[..., 2] - y) / 1.772 + 128 / 255, (v[..., 0] - y) / 1.402 + 128 / 255], -1)
    linear = np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055)**2.4)
    t = linear @ XYZ.T / [0.95047, 1.0, 1.08883]
    x, y, z = np.moveaxis(np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116), -1, 0)
    return np.stack([(116 * y - 16) / 100, (500 * (x - y) + 128) / 255, (200 * (y - z) + 128) / 255], -1)


XYZ = np.array([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]])


class Color(OracleCase):
    def test_vectors(self):
        for space, rows in (
            ("lab", "119.966 180.478 175.627 180.992 63.368 171.097 136.642 127.999 128.003 95.559 183.961 37.232"),
            ("hsv", "8.095 214.200 200 102.092 234.600 200 0 0 128 163.929 223.125 240"),
            ("ycbcr", "101.016 89.052 198.602 132.444 104.047 44.944 128 128 128 71.550 223.062 98.364"),
        ):
            self.near(run(PIXELS, f"color {space}"), np.array(rows.split(), float).reshape(1, 4, 3), space, tie=1e-3)

    def test_equals_double_arithmetic_and_comes_back(self):
        for dtype in FORMATS:
            array = picture(31, (61, 45, 3), dtype)
            array[:9, :9, 1] = array[:9, :9, 0]  # ties of two, and grays
            array[:5, :9, 2] = array[:5, :9, 0]
            top, terms = white(array), np.full(array.shape, 4.0)
            for space in ("lab", "hsv", "ycbcr"):
                self.near(run(array, f"color {space}"), to_space(array / top, space) * top, space, terms=terms,
                          tie=top * 4e-6)
                back = run(array.astype(np.float32) / np.float32(top), f"color {space}", f"color from={space}")
                self.assertLess(np.abs(back - array / top).max(), 2e-5 if space == "lab" else 2e-6, space)

    def test_near_opencv(self):
        array = picture(32, (61, 45, 3), np.uint8)
        ours = run(array, "color ycbcr").astype(int)
        theirs = cv2.cvtColor(array, cv2.COLOR_RGB2YCrCb)[..., [0, 2, 1]]
        self.assertLessEqual(np.abs(ours - theirs).max(), 1, "OpenCV rounds in fixed point")

    def test_what_it_refuses(self):
        for stage, message in (("color", "color needs a colour space"), ("color lab from=hsv", "one way")):
            with self.assertRaisesRegex(ProgramFailed, message):
                run(PIXELS, stage)
        with self.assertRaisesRegex(ProgramFailed, "works on encoded values, and here is linear light"):
            run(PIXELS, "color lab", prologue=["light linear"])
        with self.assertRaisesRegex(ProgramFailed, "three colours, and the picture has 1"):
            run(PIXELS[..., 0], "color lab")


class Standardize(OracleCase):
    def test_vectors(self):
        for array, stage, values in (
            (U(2, 2, 3), "standardize imagenet", "-2.06653 -0.74020 0.72279 -1.75828 -0.42507 1.03651 "
             "-1.84391 -0.51261 0.94937 -1.45004 -0.10994 1.35024"),
            (U(4, 3), "standardize auto", "-0.95319 -0.70867 -0.27396 0.35094 -0.77659 -0.46414 0.03849 0.73131 "
             "-0.24679 0.13358 0.70414 1.46488"),
        ):
            want = np.array(values.split(), float).reshape(array.shape)
            self.assertLess(np.abs(run(array, stage) - want).max(), 1e-5, stage)

    def test_equals_double_arithmetic(self):
        for dtype in FORMATS:
            array = picture(41, (61, 45, 3), dtype)
            v = array.astype(np.float64) / white(array)
            flat = v.reshape(-1, 3)
            for stage, want in (("auto", (v - v.mean()) / v.std()), ("channels", (v - flat.mean(0)) / flat.std(0)),
                                ("mean=[0.5 0.25 0] std=[0.25]", (v - [0.5, 0.25, 0]) / 0.25)):
                got = run(array, f"standardize {stage}")
                self.assertEqual(got.dtype, np.float32)
                self.near(got, want, stage, terms=np.full(want.shape, 8.0))

    def test_flat_pictures_and_alpha(self):
        self.assertLess(np.abs(run(np.full((9, 7), 100, np.uint8), "standardize auto")).max(), 1e-6)
        rgba = picture(42, (9, 7, 4), np.uint8)
        self.same(through_png(["standardize imagenet"], rgba),
                  run(np.ascontiguousarray(rgba[..., :3]), "standardize imagenet"), "alpha is dropped")

    def test_what_it_refuses(self):
        for stage, message in (("standardize std=[0]", "above 0"), ("standardize auto mean=[0.5]", "of its own"),
                               ("standardize mean=[1 2]", "2 values, and the picture 3 colours")):
            with self.assertRaisesRegex(ProgramFailed, message):
                run(PIXELS, stage)


class Balance(OracleCase):
    def test_equals_numpy(self):
        for dtype in FORMATS:
            array = picture(51, (61, 45, 3), dtype, high=0.5)
            array[..., 0] = array[..., 0] // 2 if dtype != np.float32 else array[..., 0] / 2
            v, top = array.astype(np.float64), white(array)
            means, brightest = v.mean((0, 1)), np.percentile(v, 95, (0, 1), method="inverted_cdf")
            loose = {"tie": top * 1e-5, "relative": 1e-4 if dtype == np.float32 else 1e-6}  # floats: 65536 bins
            self.near(run(array, "balance"), v * (means.mean() / means), "gray", **loose)
            self.near(run(array, "balance white percentile=95"), v * (top / brightest), "white", **loose)

    def test_alpha_and_black_stay(self):
        rgba = picture(52, (9, 7, 4), np.uint8)
        rgba[..., 1] = 0
        got = through_png(["balance"], rgba)
        self.same(got[..., 3], rgba[..., 3])
        self.assertEqual(got[..., 1].max(), 0)


if __name__ == "__main__":
    unittest.main()
