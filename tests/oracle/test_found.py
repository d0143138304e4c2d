"""Pictures whose shape is found by measuring them: crop auto and crop smart, against NumPy."""
import unittest

import cv2
import numpy as np

from harness import FORMATS, OracleCase, ProgramFailed, findings, picture, run, run_many, white

DEVICES = [("--device", "cpu", "--variant", v) for v in ("naive", "tiled")] + \
          [("--device", "simt", "--variant", v) for v in ("naive", "tiled")]


def box(array, tolerance=0.02, margin=0, alpha=False):
    """Rows and columns of the pixels that differ from the corners' median."""
    v = array.astype(np.float64)
    v = v.reshape(v.shape[0], v.shape[1], -1)
    if alpha:
        v[..., :-1] *= v[..., -1:] / white(array)
    ground = np.median([v[0, 0], v[0, -1], v[-1, 0], v[-1, -1]], axis=0)
    differs = ~(np.abs(v - ground) <= tolerance * white(array)).all(-1)
    ys, xs = np.nonzero(differs)
    top, left = max(0, ys.min() - margin), max(0, xs.min() - margin)
    return array[top:ys.max() + 1 + margin, left:xs.max() + 1 + margin]


def framed(seed, shape, dtype, at, size):
    """A random box on an even ground with noise within 1 %."""
    top = white(np.zeros(1, dtype))
    rng = np.random.default_rng(seed)
    values = (0.4 + (rng.random(shape) - 0.5) * 0.02) * float(top)
    out = values.astype(dtype) if dtype == np.float32 else np.rint(values).astype(dtype)
    y, x = at
    out[y:y + size[0], x:x + size[1]] = picture(seed, size + tuple(shape[2:]), dtype)
    return out


class CropAuto(OracleCase):
    def test_a_border_is_cut_off(self):
        cases = [((40, 150), (7, 20), (20, 70)), ((61, 45, 3), (0, 3), (61, 30)), ((30, 200, 3), (5, 100), (9, 100)),
                 ((33, 65), (32, 64), (1, 1))]
        for dtype in FORMATS:
            for seed, (shape, at, size) in enumerate(cases):
                array = framed(seed, shape, dtype, at, size)
                if seed == 3:
                    array[32, 64], array[31, 63] = array[0, 0], white(array)
                want = box(array)
                for options in DEVICES:
                    self.same(run(array, "crop auto", options=options), want, f"{shape} {dtype} {options}")

    def test_tolerance_and_margin(self):
        array = np.full((40, 60), 100, np.uint8)
        array[10:20, 30:50], array[5, 5] = 200, 103
        self.same(run(array, "crop auto"), array[10:20, 30:50], "3 of 255 is within 2 %")
        self.same(run(array, "crop auto tolerance=1%"), array[5:20, 5:50], "and beyond 1 %")
        self.same(run(array, "crop tolerance=2% margin=7px"), array[3:27, 23:57], "a margin")
        self.same(run(array, "crop auto margin=100"), array, "all of it")

    def test_what_is_transparent_has_no_colour(self):
        array = np.zeros((30, 40, 4), np.uint8)
        array[..., :3] = np.random.default_rng(1).integers(0, 255, (30, 40, 3))
        array[8:20, 10:33, 3] = 255
        for options in DEVICES:
            got = run_many(array[..., :3], {"only": ['alpha set by="m.npy"', "crop auto"]}, *options,
                           beside={"m.npy": array[..., 3]})["only"]
            self.same(got, array[8:20, 10:33], f"{options}")

    def test_nothing_left(self):
        with self.assertRaises(ProgramFailed) as failed:
            run(np.full((20, 30), 7, np.uint8), "crop auto")
        self.assertIn("like its corners, within 2%", str(failed.exception))
        self.assertIn("leave crop out, or look closer: crop auto tolerance=0.5%", str(failed.exception))
        with self.assertRaisesRegex(ProgramFailed, "leave crop out for pictures of one colour"):
            run(np.full((20, 30), 7, np.uint8), "crop auto tolerance=0")
        with self.assertRaises(ProgramFailed):
            run(np.zeros((20, 30), np.uint8), "crop auto width=3")

    def test_behind_and_before_other_stages(self):
        array = framed(5, (40, 64), np.uint8, (9, 11), (20, 33))
        want = 255 - box(array)[::-1]
        for options in DEVICES:
            self.same(run(array, "invert", "flip vertical", "crop auto", options=options), want, f"{options}")
            self.same(run(array, "crop auto", "invert", "flip vertical", options=options), want, f"{options}")


def page(angle, shape=(700, 900), light=False):
    """Lines of words, turned clockwise by an angle."""
    rng = np.random.default_rng(7)
    sheet = np.full(shape, 235, np.uint8)
    for y in range(90, shape[0] - 90, 22):
        x = 90
        while x < shape[1] - 120:
            width = int(rng.integers(12, 60))
            sheet[y:y + 9, x:x + width] = 30
            x += width + 9
    turn = cv2.getRotationMatrix2D(((shape[1] - 1) / 2, (shape[0] - 1) / 2), -angle, 1)
    sheet = cv2.warpAffine(sheet, turn, shape[::-1], flags=cv2.INTER_LINEAR, borderValue=235)
    return 255 - sheet if light else sheet



def striking(gray, width, height):
    """Where a box of that size lies: the largest sum of 32 x 32 cells' distances from the means around them."""
    side, (h, w) = 32, gray.shape
    cells = cv2.resize(gray.astype(np.float64), (side, h), interpolation=cv2.INTER_AREA) if w >= side else \
        gray.astype(np.float64)[:, np.arange(side) * w // side]
    rows = [slice(k * h // side, max(k * h // side + 1, (k + 1) * h // side)) for k in range(side)]
    cells = np.array([cells[row].mean(0) for row in rows])
    out = np.zeros((side, side))
    for reach in (1, 2, 4):
        for y in range(side):
            for x in range(side):
                around = cells[max(0, y - reach):y + reach + 1, max(0, x - reach):x + reach + 1]
                out[y, x] += abs(cells[y, x] - around.mean())
    best = (1e-3, (w - width) // 2, (h - height) // 2)
    for k in range((side + 1) ** 2):
        x, y = (w - width) * (k % (side + 1)) // side, (h - height) * (k // (side + 1)) // side
        here = out[y * side // h:-(-(y + height) * side // h), x * side // w:-(-(x + width) * side // w)].sum()
        if here > best[0] + 1e-6:
            best = here, x, y
    return best[1:]


class Smart(OracleCase):
    def test_the_box_lies_where_most_stands_out(self):
        for seed, (h, w), (height, width) in ((1, (200, 320), (90, 100)), (2, (333, 257), (50, 257)),
                                              (3, (64, 64), (64, 20)), (4, (480, 96), (96, 96))):
            array = picture(seed, (h, w), np.uint8) // 8 + 100
            rng = np.random.default_rng(seed)
            for _ in range(5):
                y, x = rng.integers(0, h - 20), rng.integers(0, w - 20)
                array[y:y + 20, x:x + 14] = rng.integers(0, 255)
            x, y = striking(array, width, height)
            for options in DEVICES:
                got = run(array, f"crop {width}x{height} smart", options=options)
                self.same(got, array[y:y + height, x:x + width], f"{seed} {options}")

    def test_a_thing_before_an_even_ground_is_in_it(self):
        for dtype in FORMATS:
            for y, x in ((10, 20), (150, 240), (90, 130)):
                array = np.full((200, 300, 3), 0.3 * white(np.zeros(1, dtype)), dtype)
                array[y:y + 40, x:x + 40] = (0.9 * white(array), 0.1 * white(array), 0.6 * white(array))
                got = run(array, "crop 80x80 smart")
                self.assertEqual((got[..., 0] > 0.8 * white(array)).sum(), 1600, (dtype, y, x))

    def test_nothing_that_stands_out_and_what_is_refused(self):
        flat = np.full((60, 90), 7, np.uint8)
        flat[20:40, 30:60] = 8
        self.same(run(np.full((60, 90), 7, np.uint8), "crop 30x20 smart"), np.full((20, 30), 7, np.uint8))
        for small in (np.zeros((1, 1), np.uint8), picture(5, (3, 50), np.uint8)):
            self.assertEqual(run(small, "crop 1x1 smart").shape, (1, 1))
        self.assertEqual(run(flat, "crop 200x20 smart clip=yes").shape, (20, 90))
        for text, words in (("crop 200x20 smart", "leaves the picture"), ("crop smart", "has a size"),
                            ("crop 9x9 smart x=3", "finds its place"), ("crop 9x9 smart tolerance=1%", "its place")):
            with self.assertRaisesRegex(ProgramFailed, words):
                run(flat, text)
        nan = np.full((40, 40), np.nan, np.float32)
        self.assertEqual(run(nan, "crop 9x9 smart").shape, (9, 9))


class Deskew(OracleCase):
    def test_known_angles_are_found(self):
        for angle, light in ((0, False), (3.3, False), (-7.85, True), (12.2, False), (-0.4, False)):
            array = page(angle, light=light)
            found = findings(array, "deskew")
            self.assertLessEqual(abs(found[0]["angle", -1] - angle), 0.1, angle)
            if angle:
                got = run(array, "deskew fill=[92%]" if not light else "deskew fill=[8%]")
                want = page(0, light=light).astype(float)
                self.assertLess(np.abs(got - want).mean(), 0.35 * np.abs(array - want).mean(), angle)

    def test_every_device_and_format_is_the_same(self):
        array = page(4.4, (180, 240))
        colour = np.dstack([array] * 3)
        want = run(array, "deskew")
        for options in DEVICES:
            self.same(run(array, "deskew", options=(*options, "--strip-rows", 7)), want, f"{options}")
            self.same(run(colour, "deskew", options=options), np.dstack([want] * 3), f"colour {options}")
            deep = findings(array.astype(np.uint16) * 257, "deskew", options=options)
            self.assertEqual(deep, findings(array, "deskew"))

    def test_a_known_angle(self):
        array = page(4.4, (180, 240))
        self.same(run(array, "deskew angle=4.4"), run(array, "warp -4.4 fill=[1]"), "as warp")

    def test_nothing_to_see(self):
        flat = np.full((60, 70), 200, np.uint8)
        self.same(run(flat, "deskew"), flat, "flat")
        self.same(run(page(0), "deskew"), page(0), "level")


if __name__ == "__main__":
    unittest.main()
