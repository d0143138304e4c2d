"""Stages that only move samples, against NumPy: identical bytes for every format, channel count and size."""
import unittest

import numpy as np

from harness import FORMATS, SIZES, OracleCase, picture, run, run_many, shapes, some

TURNS = {90: -1, 180: 2, 270: 1}  # clockwise, for np.rot90


def expected(array):
    return {
        "transpose": array.swapaxes(0, 1),
        "transverse": np.rot90(array, 2).swapaxes(0, 1),
        "rotate 90": np.rot90(array, TURNS[90]),
        "rotate 180": np.rot90(array, TURNS[180]),
        "rotate 270": np.rot90(array, TURNS[270]),
        "flip horizontal": array[:, ::-1],
        "flip vertical": array[::-1],
    }


class Geometry(OracleCase):
    def test_moves_equal_numpy(self):
        sizes = SIZES + ((64, 64), (65, 31), (257, 127))
        for dtype in FORMATS:
            for seed, shape in shapes(sizes=sizes):
                array = picture(seed, shape, dtype)
                want = expected(array)
                got = run_many(array, {name: [name] for name in want})
                for name in want:
                    self.same(got[name], want[name], f"{name} {array.dtype} {shape}")

    def test_floats_keep_their_bits(self):
        array = picture(7, (61, 45), np.float32)
        array[3, 4], array[10, 2], array[0, 0], array[5, 5] = np.nan, np.inf, -0.0, 1e-42
        for name, want in expected(array).items():
            self.same(run(array, name), want, name)

    def test_four_quarter_turns_are_the_identity(self):
        for dtype in FORMATS:
            for seed, shape in shapes():
                array = picture(seed, shape, dtype)
                self.same(run(array, *["rotate 90"] * 4), array, f"{array.dtype} {shape} in one pipeline")
                turned = array
                for _ in range(4):
                    turned = run(turned, "rotate 90")
                self.same(turned, array, f"{array.dtype} {shape} in four runs")

    def test_pairs_that_undo_each_other(self):
        pairs = [("rotate 90", "rotate 270"), ("transpose",) * 2, ("transverse",) * 2, ("flip horizontal",) * 2,
                 ("flip vertical",) * 2]
        for dtype in FORMATS:
            array = picture(11, (61, 45, 3), dtype)
            got = run_many(array, {str(i): pair for i, pair in enumerate(pairs)})
            for i, pair in enumerate(pairs):
                self.same(got[str(i)], array, " then ".join(pair))

    def test_crop_is_a_slice(self):
        columns, rows = ((0, 44), (1, 44), (15, 1), (22, 20), (44, 1)), ((0, 61), (30, 7), (60, 1))
        boxes = [(x, y, w, h) for x, w in columns for y, h in rows]
        for dtype in FORMATS:
            for channels in some((1, 2, 3, 4)):
                array = picture(channels, (61, 45) + (channels,) * (channels > 1), dtype)
                got = run_many(array, {box: ["crop x={} y={} width={} height={}".format(*box)] for box in boxes})
                for (x, y, w, h), cut in got.items():
                    self.same(cut, array[y : y + h, x : x + w], f"crop {w}x{h} at {x}, {y} {array.dtype} x{channels}")

    def test_crop_anchors(self):
        array = picture(5, (61, 44, 3), np.uint8)
        places = {"top-left": (0, 0), "top": (0, 11), "top-right": (0, 23), "auto": (25, 11)}
        places.update({"left": (25, 0), "centre": (25, 11), "right": (25, 23)})
        places.update({"bottom-left": (51, 0), "bottom": (51, 11), "bottom-right": (51, 23)})
        got = run_many(array, {name: [f"crop width=21 height=10 anchor={name}"] for name in places})
        for name, (y, x) in places.items():
            self.same(got[name], array[y : y + 10, x : x + 21], name)

    def test_pad_is_numpys_pad(self):
        modes = {"clamp": "edge", "reflect": "symmetric", "mirror": "reflect", "wrap": "wrap", "zero": "constant"}

        def by_index(array, edge, top, bottom, left, right): # numpy.pad (1.24) is wrong beyond the picture's size
            for axis, before, after in ((0, top, bottom), (1, left, right)):
                n = array.shape[axis]
                at = np.arange(-before, n + after) % (n if edge == "wrap" else 2 * n - 2)
                array = np.take(array, np.where(at < n, at, 2 * n - 2 - at), axis)
            return array

        sides = ((0, 0, 3, 2), (2, 5, 0, 0), (4, 3, 70, 1), (1, 0, 0, 130), (20, 90, 9, 8))
        for dtype in FORMATS:
            for channels in some((1, 2, 3, 4)):
                array = picture(channels, (17, 23) + (channels,) * (channels > 1), dtype)
                if dtype == np.float32:
                    array[3, 4], array[10, 2] = np.nan, -0.0
                branches, want = {}, {}
                for edge, mode in modes.items():
                    for top, bottom, left, right in sides:
                        text = f"pad left={left} right={right} top={top} bottom={bottom} edge={edge}"
                        branches[text] = [text]
                        borders = ((top, bottom), (left, right)) + ((0, 0),) * (array.ndim - 2)
                        far = edge in ("mirror", "wrap") and max(left, right, top, bottom) > 16
                        want[text] = (by_index(array, edge, top, bottom, left, right) if far else
                                      np.pad(array, borders, mode))
                for options in ((), ("--strip-rows", "8"), ("--variant", "naive")):
                    for text, got in run_many(array, branches, *options).items():
                        self.same(got, want[text], f"{text} {array.dtype} x{channels} {options}")

    def test_pad_to_a_size(self):
        array = picture(2, (20, 30, 3), np.uint8)
        cases = {
            "pad 7": (7, 7, 7, 7, (0, 0, 0)), "pad width=41 height=26 fill=[0.2]": (3, 3, 5, 6, (51, 51, 51)),
            "pad width=10 height=40 anchor=top": (0, 20, 0, 0, (0, 0, 0)),
            "pad aspect=1 anchor=bottom-right fill=[1 0.5 0]": (10, 0, 0, 0, (255, 128, 0)),
            "pad aspect={16/9} fill=[0.1]": (0, 0, 3, 3, (26, 26, 26)),
            "pad width=40 anchor=left": (0, 0, 0, 10, (0, 0, 0)),
        }
        got = run_many(array, {text: [text] for text in cases})
        for text, (top, bottom, left, right, fill) in cases.items():
            want = np.empty((20 + top + bottom, 30 + left + right, 3), np.uint8)
            want[:] = fill
            want[top : top + 20, left : left + 30] = array
            self.same(got[text], want, text)

    def test_pad_written_examples(self):
        array = np.array([[3, 21, 53], [16, 39, 76]], np.uint8)
        rows = [[53, 21, 3, 21, 53, 21, 3], [76, 39, 16, 39, 76, 39, 16]]
        self.same(run(array, "pad 2 edge=mirror"), np.array(rows * 3, np.uint8))
        want = [[51, 3, 21, 53, 51, 51], [51, 16, 39, 76, 51, 51], [51] * 6]
        self.same(run(array, "pad width=6 height=3 anchor=centre fill=[0.2]"), np.array(want, np.uint8))

if __name__ == "__main__":
    unittest.main()
