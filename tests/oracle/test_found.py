"""Pictures whose shape is found by measuring them: crop auto, against NumPy."""
import unittest

import numpy as np

from harness import FORMATS, OracleCase, ProgramFailed, picture, run, run_many, white

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
        self.assertIn("like its corners", str(failed.exception))
        with self.assertRaises(ProgramFailed):
            run(np.zeros((20, 30), np.uint8), "crop auto width=3")

    def test_behind_and_before_other_stages(self):
        array = framed(5, (40, 64), np.uint8, (9, 11), (20, 33))
        want = 255 - box(array)[::-1]
        for options in DEVICES:
            self.same(run(array, "invert", "flip vertical", "crop auto", options=options), want, f"{options}")
            self.same(run(array, "crop auto", "invert", "flip vertical", options=options), want, f"{options}")


if __name__ == "__main__":
    unittest.main()
