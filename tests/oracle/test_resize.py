"""resize against Pillow (bytes), OpenCV (area, bilinear) and the definition in double."""
import math
import pathlib
import tempfile
import unittest

import cv2
import numpy as np
from harness import FORMATS, OracleCase, command, picture, run, run_many, some
from PIL import Image

PILLOW = {"lanczos3": Image.LANCZOS, "bicubic": Image.BICUBIC, "bilinear": Image.BILINEAR, "box": Image.BOX}


def sinc(x):
    return math.sin(math.pi * x) / (math.pi * x) if x else 1.0


def bicubic(x, a=-0.5):
    x = abs(x)
    return ((a + 2) * x - (a + 3)) * x * x + 1 if x < 1 else (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def mitchell(x):
    x = abs(x)
    if x < 1:
        return (7 * x**3 - 12 * x**2 + 16 / 3) / 6
    return (-7 / 3 * x**3 + 12 * x**2 - 20 * x + 32 / 3) / 6 if x < 2 else 0.0


FILTERS = {
    "box": (lambda x: 1.0 if -0.5 < x <= 0.5 else 0.0, 0.5),
    "bilinear": (lambda x: max(0.0, 1 - abs(x)), 1),
    "bicubic": (bicubic, 2),
    "mitchell": (mitchell, 2),
    "lanczos3": (lambda x: sinc(x) * sinc(x / 3) if -3 <= x < 3 else 0.0, 3),
}


def weights(n, m, name, antialias=True, begin=0.0, length=None):
    """The definition: a matrix of m x n."""
    length = float(n) if length is None else length
    step = length / m
    out = np.zeros((m, n))
    for x in range(m):
        if name == "area":
            for k in range(n):
                out[x, k] = max(0, min(k + 1, begin + (x + 1) * step) - max(k, begin + x * step)) / step
            continue
        at, support = FILTERS[name]
        wide = max(step, 1.0) if antialias else 1.0
        centre = begin + (x + 0.5) * step
        low, high = max(0, int(centre - support * wide + 0.5)), min(n, int(centre + support * wide + 0.5))
        for k in range(low, high):
            out[x, k] = at((k - centre + 0.5) / wide)
        out[x] /= out[x].sum()
    return out


def resized(array, width, height, name, antialias=True, box=None):
    """Exact values, and the sums of absolute terms."""
    h, w = array.shape[:2]
    left, top, bw, bh = box or (0.0, 0.0, float(w), float(h))
    across = weights(w, width, name, antialias, left, bw) if (w, 0, w) != (width, left, bw) else np.eye(w)
    down = weights(h, height, name, antialias, top, bh) if (h, 0, h) != (height, top, bh) else np.eye(h)
    value = np.einsum("yj,xi,ji...->yx...", down, across, array.astype(np.float64), optimize=True)
    terms = np.einsum("yj,xi,ji...->yx...", abs(down), abs(across), abs(array.astype(np.float64)), optimize=True)
    return value, terms


def formula(width, height, channels=1):
    y, x, k = np.mgrid[0:height, 0:width, 0:channels]
    array = ((7 * x * x + 13 * y * y + 5 * x * y + 71 * k + 11 * x + 3) % 256).astype(np.uint8)
    return array[..., 0] if channels == 1 else array


class Resize(OracleCase):
    def test_fixed_has_pillows_bytes(self):
        """500 random pictures and sizes."""
        rng, chosen = np.random.default_rng(32), some(range(25))
        for seed in range(25):
            shape = (int(rng.integers(1, 80)), int(rng.integers(1, 80)), 3)
            array = picture(seed, shape if seed % 2 else shape[:2], np.uint8)
            image, branches, want = Image.fromarray(array), {}, {}
            while len(branches) < 20:
                width, height = int(rng.integers(1, 120)), int(rng.integers(1, 120))
                name = str(rng.choice(list(PILLOW)))
                if (height, width) == array.shape[:2]:
                    continue
                text = f"resize width={width} height={height} fit=stretch filter={name} arithmetic=fixed"
                branches[text] = [text]
                want[text] = np.asarray(image.resize((width, height), PILLOW[name]))
            if seed not in chosen:
                continue
            for text, got in run_many(array, branches).items():
                self.same(got, want[text], f"{text} of {array.shape}")

    def test_windows_and_rows_longer_than_what_is_held_at_once(self):
        for shape, size in (((3, 6000), (2, 2)), ((5, 3000, 3), (1, 4)), ((6000, 3), (3, 1)), ((40, 900, 3), (2700, 7)),
                            ((7, 2600, 4), (3, 20)), ((300, 1200, 3), (1100, 9))):
            array = picture(shape[1], shape, np.uint8)
            for name in some(("lanczos3", "box")):
                text = f"resize width={size[0]} height={size[1]} fit=stretch filter={name}"
                got = run(array, text)
                self.same(run(array, text, options=("--variant", "naive")), got, f"{text} of {shape}")
                if shape[0] * shape[1] * size[0] < 2e6:
                    self.near(got, resized(array, *size, name)[0], f"{text} of {shape}")
                if shape[-1] != 4:
                    want = np.asarray(Image.fromarray(array).resize(size, PILLOW[name]))
                    self.same(run(array, f"{text} arithmetic=fixed"), want, f"{text} fixed of {shape}")

    def test_float_is_the_definition(self):
        rng = np.random.default_rng(3)
        for seed, name in enumerate([*FILTERS, "area"] * 2):
            antialias = name == "area" or seed % 4 != 1
            for dtype in (FORMATS[seed % 3], np.float32):
                shape = (int(rng.integers(2, 40)), int(rng.integers(2, 40)), (1, 3, 2, 4)[seed % 4])
                array = picture(seed, shape if shape[2] > 1 else shape[:2], dtype)
                if shape[2] in (2, 4):  # NPY has no alpha: two and four channels are colours
                    array = np.ascontiguousarray(array)
                cases, branches = {}, {}
                for _ in range(6):
                    width, height = int(rng.integers(1, 90)), int(rng.integers(1, 90))
                    if (height, width) == array.shape[:2]:
                        continue
                    text = f"resize width={width} height={height} fit=stretch filter={name}"
                    text += "" if antialias else " antialias=no"
                    cases[text], branches[text] = (width, height), [text]
                for text, got in run_many(array, branches).items():
                    exact, terms = resized(array, *cases[text], name, antialias)
                    self.near(got, exact, f"{text} of {array.shape}", terms, tie=None if dtype != np.uint16 else 0.02)

    def test_cover_takes_the_middle(self):
        array = picture(8, (45, 61, 3), np.uint8)
        for width, height in ((20, 30), (30, 10), (61, 20), (80, 90)):
            scale = max(width / 61, height / 45)
            bw, bh = width / scale, height / scale
            box = ((61 - bw) / 2, (45 - bh) / 2, bw, bh)
            for name in some(("lanczos3", "area", "box")):
                got = run(array, f"resize width={width} height={height} fit=cover filter={name}")
                self.near(got, resized(array, width, height, name, True, box)[0], f"cover {width}x{height} {name}")

    def test_opencv(self):
        rng = np.random.default_rng(5)
        for seed in range(12):
            array = picture(seed, (int(rng.integers(30, 90)), int(rng.integers(30, 90)), 3), np.float32)
            height, width = array.shape[:2]
            w, h = int(rng.integers(1, width)), int(rng.integers(1, height))
            got = run(array, f"resize width={w} height={h} fit=stretch filter=area")
            self.assertLess(abs(got - cv2.resize(array, (w, h), interpolation=cv2.INTER_AREA)).max(), 2e-6)
            w, h = int(rng.integers(1, 150)), int(rng.integers(1, 150))
            got = run(array, f"resize width={w} height={h} fit=stretch filter=bilinear antialias=no")
            self.assertLess(abs(got - cv2.resize(array, (w, h), interpolation=cv2.INTER_LINEAR)).max(), 1e-5)

    def test_nearest_moves_samples(self):
        for dtype in FORMATS:
            for channels in some((1, 2, 3, 4)):
                array = picture(channels, (23, 31) + (channels,) * (channels > 1), dtype)
                if dtype == np.float32:
                    array[3, 4], array[10, 2] = np.nan, -0.0
                for w, h in some(((7, 5), (31, 40), (100, 23), (62, 46))):
                    rows, columns = (2 * np.arange(h) + 1) * 23 // (2 * h), (2 * np.arange(w) + 1) * 31 // (2 * w)
                    got = run(array, f"resize width={w} height={h} fit=stretch filter=nearest")
                    self.same(got, array[rows][:, columns], f"nearest {w}x{h} {array.dtype} x{channels}")

    def test_written_examples(self):
        small = formula(6, 5)
        fixed = run(small, "resize width=4 height=3 fit=stretch arithmetic=fixed")
        self.same(fixed, np.array([[9, 42, 142, 154], [61, 117, 164, 124], [202, 143, 83, 120]], np.uint8))
        floats = run(small.astype(np.float32) / 255, "resize width=4 height=3 fit=stretch") * 255
        exact = [[8.6767, 41.9742, 142.0892, 154.3737], [60.7132, 117.1306, 163.9733, 123.9947],
                 [201.8110, 142.5229, 83.3589, 119.9530]]
        self.assertLess(abs(floats - exact).max(), 1e-4)
        large = run(formula(64, 48, 3), "resize width=20 arithmetic=fixed")
        self.assertEqual(large.shape, (15, 20, 3))
        self.assertEqual(large[0, 0].tolist(), [75, 133, 144])
        self.assertEqual(large[7, 9].tolist(), [78, 150, 158])
        row = run(formula(5, 3).astype(np.float32) / 255, "resize 200% filter=bicubic")[0] * 255
        exact = [0.3036, 4.4942, 13.3565, 25.9890, 41.7684, 61.0478, 83.8272, 112.8442, 145.7827, 161.3434]
        self.assertLess(abs(row - exact).max(), 1e-4)
        area = run(formula(7, 4).astype(np.float32) / 255, "resize width=3 height=2 fit=stretch filter=area") * 255
        self.assertLess(abs(area - [[26.142859, 117, 115.285714], [111.285714, 133.571429, 118.142857]]).max(), 1e-4)

    def test_sizes(self):
        array = np.zeros((767, 1023), np.uint8)
        sizes = {
            "50%": (512, 384), "0.5": (512, 384), "width=800": (800, 600), "height=333": (444, 333),
            "width=300 height=600": (300, 225), "longest=512": (512, 384), "shortest=384": (512, 384),
            "width=300 height=100": (133, 100), "width=30 height=40 fit=cover": (30, 40),
            "width=30 height=40 fit=stretch": (30, 40), "0.01%": (1, 1), "width=2000 enlarge=no": (1023, 767),
            "width=500 enlarge=no": (500, 375),
        }
        got = run_many(array, {text: [f"resize {text} filter=box"] for text in sizes})
        for text, (width, height) in sizes.items():
            self.assertEqual(got[text].shape, (height, width), text)

    def test_transparent_pixels_do_not_colour_their_neighbours(self):
        array = np.zeros((8, 8, 4), np.uint8)
        array[:, :4] = (200, 100, 50, 255)
        array[:, 4:] = (0, 255, 0, 0)
        colour = array.astype(np.float64)
        colour[..., :3] *= colour[..., 3:] / 255
        exact = resized(colour, 3, 3, "bilinear")[0]
        alpha = exact[..., 3:]
        exact[..., :3] *= 255 / np.maximum(alpha, 1)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            Image.fromarray(array).save(folder / "in.png")
            command("run", "-q", "-e", "resize width=3 height=3 filter=bilinear", "in.png", "out.png", folder=folder)
            got = np.asarray(Image.open(folder / "out.png")).astype(float)
        self.assertLess(abs(got - exact)[alpha[..., 0] > 1].max(), 1)

    def test_strips_threads_and_sets_of_instructions(self):
        array = picture(4, (300, 200, 3), np.uint8)
        for text in ("resize width=53", "resize 37% filter=area", "resize 210% filter=mitchell"):
            want = run(array, text, options=("--threads", "1", "--isa", "base"))
            for options in (("--threads", "2", "--strip-rows", "8"), ("--variant", "naive"), ("--strip-rows", "16")):
                self.same(run(array, text, options=options), want, f"{text} {options}")


if __name__ == "__main__":
    unittest.main()
