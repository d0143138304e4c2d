"""warp against its definition in NumPy, and against scipy.ndimage inside."""
import unittest

import cv2
import numpy as np
import scipy.ndimage

from harness import EDGES, FORMATS, OracleCase, picture, run, run_many, white


def place(inverse, width, height):
    """Input columns and rows of every output pixel, in 2^-32 pixels."""
    y, x = np.mgrid[0:height, 0:width]
    m = np.asarray(inverse)
    if len(m) == 2:
        whole = np.rint(m * 2.0**32).astype(np.int64)
        return tuple(r[0] * x + r[1] * y + r[2] for r in whole)
    m = m / m[2, 2]
    d = m[2, 0] * x + m[2, 1] * y + 1
    return tuple(np.rint((r[0] * x + r[1] * y + r[2]) / d * 2.0**32).astype(np.int64) for r in m[:2])


def cubic(t):
    return [-t / 2 + t**2 - t**3 / 2, 1 - 2.5 * t**2 + 1.5 * t**3, t / 2 + 2 * t**2 - 1.5 * t**3, (t**3 - t**2) / 2]


def warp(array, inverse, edge, how):
    border = 4096  # as far as anything here reaches
    flat = array[..., None] if array.ndim == 2 else array
    height, width = flat.shape[:2]
    columns, rows = place(inverse, width, height)
    if how == "nearest":
        columns, rows = columns + 2**31, rows + 2**31
    taps = {"nearest": (0,), "bilinear": (0, 1), "bicubic": (-1, 0, 1, 2)}[how]
    weights = {"nearest": lambda t: [1 + 0 * t], "bilinear": lambda t: [1 - t, t], "bicubic": cubic}[how]
    wide = {n: np.pad(np.arange(n), border, EDGES[edge][0], **({"constant_values": -1} if edge == "zero" else {}))
            for n in {width, height}}
    fx, fy = (((v % 2**32) // 256 / 2.0**24)[..., None] for v in (columns, rows))
    out = 0
    for j, wy in zip(taps, weights(fy)):
        for i, wx in zip(taps, weights(fx)):
            x, y = wide[width][(columns >> 32) + i + border], wide[height][(rows >> 32) + j + border]
            there = ((x >= 0) & (y >= 0))[..., None]
            out = out + wy * wx * np.where(there, flat[y, x].astype(float), 0)
    return out.reshape(array.shape)


def text(matrix):
    return "[" + "; ".join(" ".join(f"{v:.17g}" for v in row) for row in matrix) + "]"


class Warp(OracleCase):
    def test_matrices(self):
        affine = np.array([[0.9, 0.3, 2.2], [-0.2, 1.1, 5.7], [0, 0, 1]])
        seen = np.array([[1.1, 0.1, -0.5], [0.05, 0.9, 0.3], [0.002, -0.001, 1]])
        for dtype, channels in zip(FORMATS, (3, 1, 4)):
            array = picture(channels, (61, 45) + (channels,) * (channels > 1), dtype)
            if channels == 4:
                array = array[..., :3]
            branches, want = {}, {}
            for edge in EDGES:
                for how in ("bilinear", "bicubic", "nearest"):
                    for name, matrix in (("affine", affine), ("perspective", seen)):
                        statement = f"warp matrix={text(matrix[:2] if name == 'affine' else matrix)} edge={edge} " \
                                    f"filter={how}"
                        inverse = np.linalg.inv(matrix)
                        branches[statement] = [statement]
                        want[statement] = warp(array, inverse[:2] if name == "affine" else inverse, edge, how)
            for options in ((), ("--variant", "naive")):
                for statement, got in run_many(array, branches, *options).items():
                    near = {255: 0.502, 65535: 0.6, 1: 4e-6}[int(white(array))]
                    exact = np.clip(want[statement], 0, white(array)) if white(array) > 1 else want[statement]
                    worst = np.abs(got.astype(float) - exact).max()
                    self.assertLess(worst, near, f"{statement} {array.dtype} {options}")

    def test_places_half_way_between_two_that_are_told_apart(self):
        """In perspective, places are rounded to 2^-32 of a pixel, ties to even: with vectors as one by one."""
        array = picture(3, (21, 90), np.float32)
        for off in (2**-33, -(2**-33), 3 * 2**-33, -(2**-33) - 2**-80, -0.5, 1e-9):
            text = f"warp matrix=[1 0 {off!r}; 0 1 {-off!r}; 1e-300 0 1] edge=constant fill=[1]"
            self.same(run(array, text), run(array, text, options=("--variant", "naive")), text)

    def test_an_angle_is_scipys(self):
        array = picture(3, (80, 100), np.float32)
        for angle in (-33.3, 7, 91):
            c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
            to_input = np.array([[c, -s], [s, c]])  # rows, columns
            middle = (np.array(array.shape) - 1) / 2
            want = scipy.ndimage.affine_transform(array.astype(float), to_input, middle - to_input @ middle, order=1,
                                                  mode="grid-constant")
            got = run_many(array, {"only": [f"warp {angle}"]})["only"]
            self.assertLess(np.abs(got - want).max(), 1e-6)


    def test_corners_are_opencvs_perspective(self):
        array = picture(5, (60, 80), np.float32)
        for size, to, corners in (("keep", (80, 60), [[4, 3], [70, 8], [75, 52], [2, 57]]),
                                  ("fit", (78, 58), [[0, 0], [77, 0], [70, 50], [3, 57]]),
                                  ("fit", (41, 31), [[10, 20], [50, 20], [50, 50], [10, 50]])):
            places = np.float32([[0, 0], [to[0] - 1, 0], [to[0] - 1, to[1] - 1], [0, to[1] - 1]])
            inverse = cv2.getPerspectiveTransform(places, np.float32(corners))
            statement = f"warp corners={text(np.array(corners))} size={size}"
            got = run(array, statement)
            self.assertEqual(got.shape, to[::-1], statement)
            x, y = (v / 2.0**32 for v in place(inverse, *to))
            want = scipy.ndimage.map_coordinates(array.astype(float), [y, x], order=1, mode="grid-constant")
            self.assertLess(np.abs(got - want).max(), 1e-5, statement)
            self.same(got, run(array, statement, options=("--variant", "naive")), statement)


class Undistort(OracleCase):
    def test_places_are_opencvs_map(self):
        lens = dict(fx=60.5, fy=58.25, cx=30.5, cy=21.75, k1=-0.21, k2=0.05, p1=0.01, p2=-0.02, k3=0.003)
        matrix = np.array([[lens["fx"], 0, lens["cx"]], [0, lens["fy"], lens["cy"]], [0, 0, 1]])
        bent = np.array([lens[k] for k in ("k1", "k2", "p1", "p2", "k3")])
        stage = "undistort " + " ".join(f"{k}={v}" for k, v in lens.items())
        for dtype, shape in ((np.float32, (45, 61)), (np.uint8, (45, 61, 3)), (np.uint16, (33, 70))):
            array = picture(7, shape, dtype)
            u, v = cv2.initUndistortRectifyMap(matrix, bent, None, matrix, shape[1::-1], cv2.CV_32FC1)
            places = np.array([v, u])
            planes = array.reshape(shape[:2] + (-1,)).astype(np.float64)
            want = np.dstack([scipy.ndimage.map_coordinates(planes[..., c], places, order=1, mode="nearest")
                              for c in range(planes.shape[2])]).reshape(shape)
            got = run(array, f"{stage} edge=clamp")
            allowed = (0.5 if dtype != np.float32 else 0) + 2e-5 * white(array)  # the map has f32 places
            self.assertLessEqual(np.abs(got - want).max(), allowed, str(dtype))
            for way in (("--isa", "base", "--strip-rows", 5), ("--variant", "naive"), ("--device", "simt"),
                        ("--device", "simt", "--variant", "naive", "--strip-rows", 16)):
                self.same(run(array, f"{stage} edge=clamp", options=way), got, str(way))

    def test_the_middle_is_the_axis_and_nothing_bent_is_nothing_done(self):
        array = picture(8, (31, 41), np.uint8)
        got = run(array, "undistort 50px k1=0.3 filter=nearest fill=[1]")
        self.assertEqual(got[15, 20], array[15, 20])
        self.assertEqual(got[0, 0], 255)
        self.same(run(array, "undistort 50px"), array, "straight")


if __name__ == "__main__":
    unittest.main()
