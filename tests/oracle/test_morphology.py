"""Grey morphology and order statistics against OpenCV and NumPy: exact in every format."""
import unittest

import cv2
import numpy as np

from harness import EDGES, FORMATS, OracleCase, ProgramFailed, pad, picture, run, run_many, shapes, some

OPS = {
    "tophat": cv2.MORPH_TOPHAT, "blackhat": cv2.MORPH_BLACKHAT, "gradient": cv2.MORPH_GRADIENT, "open": cv2.MORPH_OPEN,
    "close": cv2.MORPH_CLOSE
}


def U(width, height):
    y, x = np.mgrid[0:height, 0:width]
    return ((7 * x * x + 13 * y * y + 5 * x * y + 11 * x + 3) % 256).astype(np.uint8)


def mask(size, shape):
    r = size // 2
    y, x = np.mgrid[-r:r + 1, -r:r + 1]
    return {"square": abs(x) <= r, "disk": x * x + y * y <= r * r, "diamond": abs(x) + abs(y) <= r,
            "cross": (x == 0) | (y == 0)}[shape]


def windows(array, footprint, edge):
    """Every sample under the footprint, along a new first axis."""
    ry, rx = footprint.shape[0] // 2, footprint.shape[1] // 2
    padded, (height, width) = pad(array, ry, rx, edge), array.shape[:2]
    return np.stack([padded[j:j + height, i:i + width] for j, i in np.argwhere(footprint)])


class Morphology(OracleCase):
    def test_vectors(self):
        for stage, rows in (
            ("dilate 3", "39 76 127 192 233 233 233 83 125 181 251 251 251 233 153 200 200 251 251 251 177 "
             "249 249 249 251 251 251 177 249 249 249 200 191 191 169"),
            ("erode 5 shape=disk edge=wrap", "3 3 3 5 15 3 3 3 3 16 5 15 15 3 3 16 5 5 5 15 15 3 5 5 5 5 5 16 "
             "3 3 5 5 5 15 3"),
            ("morph tophat size=3 shape=cross", "0 0 0 0 60 134 0 0 0 0 51 93 0 43 0 0 49 102 172 0 161 "
             "0 70 117 0 1 140 0 91 129 0 66 162 0 108"),
        ):
            self.same(run(U(7, 5), stage), np.array(rows.split(), np.uint8).reshape(5, 7), stage)

    def test_every_shape_and_border_equals_numpy(self):
        for dtype in FORMATS:
            for seed, shape in shapes(sizes=((1, 1), (1, 67), (67, 1), (33, 129))):
                array = picture(seed, shape, dtype)
                cases = [(kind, size, edge) for n, kind in enumerate(("square", "disk", "diamond", "cross"))
                         for size in (3, 11) for edge in (list(EDGES)[(seed + n) % 5],)]
                got = run_many(array, {f"{op} {s} {k} {e}": [f"{op} {s}px shape={k} edge={e}"]
                                       for op in ("dilate", "erode") for k, s, e in cases})
                for kind, size, edge in cases:
                    under = windows(array, mask(size, kind), edge)
                    self.same(got[f"dilate {size} {kind} {edge}"], under.max(0), f"dilate {size} {kind} {edge}")
                    self.same(got[f"erode {size} {kind} {edge}"], under.min(0), f"erode {size} {kind} {edge}")

    def test_equals_opencv(self):
        for dtype in FORMATS:
            for channels in some((1, 3)):
                array = picture(40, (61, 145) + (channels,) * (channels > 1), dtype)
                for size, kind in ((3, "square"), (15, "square"), (51, "square"), (15, "disk")):
                    kernel = mask(size, kind).astype(np.uint8)
                    got = run_many(array, {op: [f"morph {op} size={size} shape={kind}"] for op in OPS})
                    for op, code in OPS.items():
                        want = cv2.morphologyEx(array, code, kernel)
                        if dtype == np.float32 and op in ("tophat", "blackhat", "gradient"):
                            self.near(got[op], want, op, terms=np.full(want.shape, 1.0))
                        else:
                            self.same(got[op], want, f"{op} {size} {kind} {array.dtype}")
                self.same(run(array, "dilate width=31 height=5"), cv2.dilate(array, np.ones((5, 31), np.uint8)))
                self.same(run(array, "erode height=101"), cv2.erode(array, np.ones((101, 1), np.uint8)))

    def test_halves_of_the_gradient(self):
        array = picture(41, (45, 61), np.uint8)
        under = windows(array, mask(5, "disk"), "mirror")
        got = run_many(array, {op: [f"morph {op} size=5 shape=disk edge=mirror"] for op in ("inner", "outer")})
        self.same(got["inner"], array - under.min(0), "inner")
        self.same(got["outer"], under.max(0) - array, "outer")

    def test_hats_are_not_negative_where_a_border_wins(self):
        array = picture(44, (23, 31), np.uint8)
        for op, edge in (("tophat", "constant fill=100%"), ("blackhat", "zero")):
            chain = [f"morph {op} size=5 edge={edge}", "pad 1", "add 20%"]
            white = 255 if op == "tophat" else 0
            wide = np.pad(array.astype(int), 2, constant_values=white)
            kernel = np.ones((5, 5))
            first, last = (cv2.erode, cv2.dilate) if op == "tophat" else (cv2.dilate, cv2.erode)
            passed = first(wide.astype(np.uint8), kernel)[2:-2, 2:-2]
            passed = last(np.pad(passed, 2, constant_values=white), kernel)[2:-2, 2:-2].astype(int)
            hat = array - passed if op == "tophat" else passed - array
            self.assertLess(hat.min(), 0)
            want = np.minimum(255, 51 + np.pad(np.maximum(hat, 0), 1)).astype(np.uint8)
            for way in ((), ("--plain-storage",), ("--variant", "naive"), ("--device", "simt")):
                self.same(run(array, *chain, options=way), want, f"{op} {way}")
            self.assertEqual(run(array.astype(np.float32) / 255, chain[0]).min(), 0)

    def test_nan_loses_against_numbers(self):
        array = np.array([[np.nan, np.nan, np.nan, 2, -0.0, 0.0, np.inf, 5]], np.float32)
        self.same(run(array, "dilate 3"), np.array([[np.nan, np.nan, 2, 2, 2, np.inf, np.inf, np.inf]], np.float32))
        self.same(run(array, "erode 3"), np.array([[np.nan, np.nan, 2, -0.0, -0.0, -0.0, 0, 5]], np.float32))

    def test_strips_and_threads(self):
        array = picture(42, (150, 83, 3), np.uint8)
        for stage in ("dilate 21 shape=disk", "morph close size=9 edge=reflect", "erode 33 edge=mirror"):
            self.same(run(array, stage, options=("--strip-rows", 7)), run(array, stage), stage)

    def test_what_it_refuses(self):
        for stage, message in (("dilate", "a size is needed"), ("erode 3 width=5", "given twice"),
                               ("dilate width=3 shape=disk", "a disk has a size"), ("dilate 4", "odd")):
            with self.assertRaisesRegex(ProgramFailed, message):
                run(U(7, 5), stage)


class Ranks(OracleCase):
    def test_vectors(self):
        for array, stage, rows in (
            (U(6, 5), "median 3", "16 21 53 99 159 192 21 53 83 127 159 159 55 83 125 127 127 80 "
             "120 125 125 125 111 80 211 200 111 111 111 80"),
            (U(6, 5), "rank 90 size=5 shape=disk edge=mirror", "55 83 127 192 251 192 83 127 192 192 233 251 "
             "153 200 200 200 251 251 249 211 200 200 200 251 249 249 211 200 251 191"),
        ):
            self.same(run(array, stage), np.array(rows.split(), np.uint8).reshape(array.shape), stage)

    def test_every_shape_size_and_border_equals_numpy(self):
        for dtype in FORMATS:
            for seed, shape in shapes(sizes=((1, 1), (1, 67), (67, 1), (33, 129))):
                array = picture(seed + 60, shape, dtype)
                cases = [(kind, (3, 5, 7, 9)[(seed + n) % 4], list(EDGES)[(seed + n) % 5], (10, 50, 90)[(seed + n) % 3])
                         for n, kind in enumerate(("square", "disk", "diamond", "cross", "square"))]
                got = run_many(array, {str(case): [f"rank {case[3]} size={case[1]} shape={case[0]} edge={case[2]}"]
                                       for case in cases})
                for case in cases:
                    ordered = np.sort(windows(array, mask(case[1], case[0]), case[2]), axis=0)
                    at = min(len(ordered) - 1, len(ordered) * case[3] // 100)
                    self.same(got[str(case)], ordered[at], f"{case} {dtype} {shape}")

    def test_wide_medians_equal_opencv(self):
        for channels in some((1, 3)):
            array = picture(61, (61, 145) + (channels,) * (channels > 1), np.uint8)
            for size in (7, 9, 15, 31, 101, 255):
                self.same(run(array, f"median {size}"), cv2.medianBlur(array, size), f"median {size} x{channels}")
                self.same(run(array, f"median {size}", options=("--strip-rows", 7)), run(array, f"median {size}"))

    def test_widest_windows_of_every_format(self):
        for dtype in FORMATS:
            array, cases = picture(62, (6, 9), dtype), (("square", 255, 50), ("disk", 99, 3), ("cross", 255, 97))
            got = run_many(array, {kind: [f"rank {of} size={size} shape={kind} edge=mirror"]
                                   for kind, size, of in cases})
            for kind, size, of in cases:
                ordered = np.sort(windows(array, mask(size, kind), "mirror"), axis=0)
                self.same(got[kind], ordered[len(ordered) * of // 100], f"{kind} {dtype}")

    def test_a_histogram_a_lane_equals_windows(self):
        way = ("--device", "simt", "--variant", "private", "--strip-rows", 16)
        for seed, (shape, edge) in enumerate((((70, 75), "clamp"), ((33, 40, 3), "wrap"), ((5, 9, 2), "zero"))):
            array = picture(seed + 63, shape, np.uint8)
            stages = [f"rank {of} size={size} shape={kind} edge={edge}" for kind, size, of in
                      (("square", 9, 100), ("disk", 7, 40), ("diamond", 5, 0), ("cross", 31, 50), ("square", 43, 49))]
            want = run_many(array, {s: [s] for s in stages}, "--variant", "naive")
            for stage, got in run_many(array, {s: [s] for s in stages}, *way).items():
                self.same(got, want[stage], f"{stage} {shape}")

    def test_nan_is_last(self):
        array = np.array([[np.nan, 1, np.nan, 2, -0.0, 0.0, np.inf, -5]], np.float32)
        self.same(run(array, "rank 0 size=7 shape=cross")[0, 3:4], np.array([-0.0], np.float32))
        self.same(run(array, "rank 100 size=7 shape=cross")[0, :2], np.array([np.nan, np.nan], np.float32))


if __name__ == "__main__":
    unittest.main()
