"""stats and histogram against NumPy in double arithmetic; both pass the picture on unchanged."""
import math
import unittest

import numpy as np

from harness import FORMATS, OracleCase, findings, picture, run, shapes


def planes(array):
    return [array] if array.ndim == 2 else [array[..., c] for c in range(array.shape[2])]


class Measures(OracleCase):
    def close(self, got, want, what, relative=1e-9):
        self.assertIsNotNone(got, what)
        self.assertTrue(math.isclose(got, want, rel_tol=relative, abs_tol=1e-12), f"{what}: {got!r} for {want!r}")

    def check_stats(self, array, relative):
        (found,) = findings(array, "stats percentiles=[0 5 50 97.5 100]")
        for c, plane in enumerate(planes(array)):
            v = plane.astype(np.float64).ravel()
            v = v[np.isfinite(v)]
            what = f"{array.dtype} {array.shape} channel {c}"
            self.assertEqual(found["count", c], plane.size, what)
            self.assertEqual(found["min", c], v.min(), what)
            self.assertEqual(found["max", c], v.max(), what)
            self.close(found["sum", c], v.sum(), what, relative)
            self.close(found["mean", c], v.mean(), what, relative)
            self.close(found["deviation", c], v.std(), what, max(relative, 1e-7))
            self.close(found["rms", c], math.sqrt((v**2).mean()), what, relative)
            self.assertEqual(found["peak", c], np.abs(v).max(), what)
            for percent in (0, 5, 50, 97.5, 100):
                want, got = np.percentile(v, percent), found[f"p{percent:g}", c]
                if array.dtype == np.float32:  # from 65536 bins
                    self.assertLess(abs(got - want), 1.01 / 65536, f"{what} p{percent:g}")
                else:
                    self.close(got, want, f"{what} p{percent:g}")

    def test_stats_equal_numpy(self):
        for dtype in FORMATS:
            for seed, shape in shapes(sizes=((1, 1), (1, 67), (67, 1), (61, 45), (300, 257), (3, 9001))):
                self.check_stats(picture(seed, shape, dtype), 1e-12)

    def test_sums_of_integers_are_exact(self):
        for dtype in (np.uint8, np.uint16):
            array = picture(3, (700, 613, 3), dtype)
            (found,) = findings(array, "stats")
            for c in range(3):
                self.assertEqual(found["sum", c], int(array[..., c].astype(np.int64).sum()))

    def test_a_small_deviation_on_a_large_mean(self):
        array = 60000 + picture(4, (301, 203), np.uint8).astype(np.uint16) % 3
        (found,) = findings(array, "stats")
        self.close(found["deviation", 0], array.astype(np.float64).std(), "deviation", 1e-9)

    def test_what_is_not_finite_is_counted_and_left_out(self):
        array = picture(5, (61, 45), np.float32)
        array[3, 4], array[5, 6], array[7, 8] = np.nan, np.inf, -np.inf
        (found,) = findings(array, "stats")
        finite = array[np.isfinite(array)].astype(np.float64)
        self.assertEqual(found["nonfinite", 0], 3)
        self.close(found["mean", 0], finite.mean(), "mean", 1e-12)
        self.assertEqual(found["max", 0], finite.max())

    def test_histogram_counts_every_value(self):
        for seed, shape in shapes():
            array = picture(seed, shape, np.uint8)
            (found,) = findings(array, "histogram")
            for c, plane in enumerate(planes(array)):
                self.assertEqual(found["counts", c], np.bincount(plane.ravel(), minlength=256).tolist())

    def test_histogram_of_16_bits(self):
        array = picture(9, (257, 127), np.uint16)
        for bins in (65536, 256, 100):
            (found,) = findings(array, f"histogram bins={bins}")
            want = np.bincount(array.ravel().astype(np.int64) * bins // 65536, minlength=bins)
            self.assertEqual(found["counts", 0], want.tolist())

    def test_histogram_of_floats(self):
        array = picture(9, (257, 127), np.float32)
        array[0, :5] = (-3, 0, 1, 7, np.nan)
        (found,) = findings(array, "histogram bins=64")
        finite = array[~np.isnan(array)].astype(np.float64)
        want = np.bincount(np.clip(np.floor(finite * 64), 0, 63).astype(int), minlength=64)
        self.assertEqual(found["counts", 0], want.tolist())
        self.assertEqual(found["nan", 0], 1)

    def test_pictures_pass_on_unchanged(self):
        for dtype in FORMATS:
            array = picture(6, (61, 45, 3), dtype)
            self.same(run(array, "stats", "histogram", 'stats name="again"'), array, "passed on")

    def test_measures_what_flows_between_stages(self):
        array = picture(7, (61, 45), np.uint8)
        before, after = findings(array, "stats", "invert", "stats")
        self.assertEqual(after["min", 0], 255 - before["max", 0])
        self.close(after["mean", 0], 255 - before["mean", 0], "mean of the negative")

    def test_measurements_do_not_depend_on_how_it_runs(self):
        for dtype in FORMATS:
            array = picture(8, (301, 77, 3), dtype)
            stages = ("gaussian 1.3px", "stats percentiles=[1 50 99]", "histogram")
            want = findings(array, *stages)
            for options in (("--strip-rows", "1"), ("--strip-rows", "7"), ("--strip-rows", "64"), ("--threads", "1"),
                            ("--variant", "naive"), ("--isa", "base"), ("--plain-storage",)):
                self.assertEqual(findings(array, *stages, options=options), want, f"{array.dtype} {options}")


if __name__ == "__main__":
    unittest.main()
