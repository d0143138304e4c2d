"""Worked examples of the stages for pictures that people study, whole, on the CPU and in the emulator of a GPU, by the
definition and by what runs. Exact ones by the SHA-1 of their bytes, first 12 digits, as OpenCV, SciPy, scikit-image and
NumPy made them."""
import hashlib
import unittest

import numpy as np

from harness import OracleCase, run_many
from test_vectors import U, V

WAYS = [("--device", device, *variant) for device in ("cpu", "simt") for variant in ((), ("--variant", "naive"))]


BITS = np.array([[int(v) for v in row] for row in "1101000 1001001 0010011 1000100 1011001".split()], np.uint8) * 255

EXACT = (
    (U(6, 5), {"median 3": "fd1735726ac4", "rank 90 size=5 shape=disk edge=mirror": "46d4af1de5b2"}),
    (V(6, 4), {"median 5 edge=reflect": "33a5f1988046"}),
    (U(7, 5), {"dilate 3": "adb919fae707", "erode 5 shape=disk edge=wrap": "b7265c1f4a41",
               "morph tophat size=3 shape=cross": "b600adaa7418"}),
    (U(16, 16) // 2 + 60, {"clahe tiles=2 clip=2": "45d0dd3b4215"}),
    (U(15, 13), {"clahe tiles=4 clip=3": "49c46e494705"}),
    (V(24, 20), {"clahe tiles=3 clip=40": "39d5ccff130f"}),
    (U(9, 6), {"local-threshold 5px": "02a3723166b6", "local-threshold 5px method=bradley": "ddd43861dcb4",
               "local-threshold 3px method=niblack k=-0.2 edge=mirror": "a568e8125724"}),
    (BITS, {"label output=labels": "47e126702355", "label connectivity=4 output=labels": "d02f9cd374dd",
            "label min-area=3 output=labels": "22d5323ff710"}),
)
SUMS = (
    (U(4, 3), {"integral": "3 24 77 176 19 79 208 434 74 217 471 878",
               "integral rows": "3 24 77 176 16 55 131 258 55 138 263 444"}),
    (V(3, 2), {"integral": "771 6205 19900 4984 20579 53981"}),
)
BILATERAL = (
    (U(6, 4) // 4 + 96, "bilateral 1.5px range=10%",
     "99.352 103.890 111.849 122.984 135.257 146.702 103.704 108.464 117.166 125.632 135.675 112.449 "
     "112.569 118.275 125.551 132.179 138.678 121.392 124.074 129.092 134.442 111.967 122.035 131.445"),
    (U(4, 3, 3), "bilateral 1px range=40%",
     "10.968 81.968 152.968 25.164 96.164 167.164 54.274 125.274 196.084 92.036 163.036 232.545"),
    ((U(5, 4) / np.float32(255)).astype(np.float32), "bilateral 2px range=20% radius=1px edge=mirror",
     "0.05852 0.11784 0.24850 0.43465 0.61671"),
)


class Vectors(OracleCase):
    def test_exact_ones(self):
        for way in WAYS:
            for array, wanted in EXACT:
                for stage, got in run_many(array, {s: [s] for s in wanted}, *way).items():
                    values = got.astype(np.int64) if stage.startswith("label") else got
                    self.assertEqual(hashlib.sha1(values.tobytes()).hexdigest()[:12], wanted[stage], f"{stage} {way}")
            for array, wanted in SUMS:
                for stage, got in run_many(array, {s: [s] for s in wanted}, *way).items():
                    sums = np.array(wanted[stage].split(), float).reshape(got.shape)
                    self.same(got, (sums / np.iinfo(array.dtype).max).astype(np.float32), f"{stage} {way}")

    def test_rounded_ones(self):
        for way in WAYS + [("--device", "simt", "--variant", "private")]:
            for array, stage, text in BILATERAL:
                got, want = run_many(array, {stage: [stage]}, *way)[stage].ravel(), np.array(text.split(), float)
                off = np.abs(got[:want.size] - want).max()
                self.assertLessEqual(off, 6e-6 if array.dtype == np.float32 else 0.5006, f"{stage} {way}")

    def test_measured_ones(self):
        y, x = np.mgrid[0:16, 0:16]
        near = np.clip(U(16, 16).astype(int) + (16 * y + x) * 7 % 23 - 11, 0, 255).astype(np.uint8)
        for way in WAYS:
            for a, b, want in ((U(16, 16), near, (42.25, 5.609375, 11, 31.872536475821992, 0.9964132215418812)),
                               (V(12, 12), V(12, 12) // 2, (317260257.8472222, 15042.25, 32572, 11.31530934669433,
                                                            0.6414338714682593))):
                report = {}
                run_many(a, {"q": ['quality "b.npy"']}, *way, report=report, beside={"b.npy": b})
                found = {f["name"]: f["value"] for step in report["steps"] for f in step.get("findings", [])
                         if f.get("channel") is None}
                got = [found[name] for name in ("mse", "mae", "max", "psnr", "ssim")]
                np.testing.assert_allclose(got, want, rtol=1e-9, err_msg=str(way))


if __name__ == "__main__":
    unittest.main()
