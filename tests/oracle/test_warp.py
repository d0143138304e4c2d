"""warp against its definition in NumPy, and against scipy.ndimage inside."""
import unittest

import numpy as np
import scipy.ndimage

from harness import EDGES, FORMATS, OracleCase, picture, run_many, white


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


if __name__ == "__main__":
    unittest.main()
