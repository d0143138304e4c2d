"""Fourier transforms of pictures, and filters by frequencies, against NumPy."""
import unittest

import numpy as np

from harness import EDGES, FORMATS, OracleCase, ProgramFailed, SANITIZED, has_isa, picture, run, run_many, some, white

RUNGS = ("naive", "tiled", "padded", "swizzled", "register", "split")


def smooth_above(n):
    def rest(m):
        for f in (2, 3, 5, 7):
            while m % f == 0:
                m //= f
        return m
    while rest(n) > 1:
        n += 1
    return n


def padded(array):
    shape = tuple(smooth_above(n) for n in array.shape[:2])
    return np.fft.fft2(array.astype(np.float64) / white(array), s=shape, axes=(0, 1))


def frequencies(shape):
    return np.hypot(np.fft.fftfreq(shape[0])[:, None], np.fft.fftfreq(shape[1])[None, :])


def one_side(kind, f, c, order):
    if kind == "ideal":
        return (f <= c).astype(np.float64)
    return np.exp(-f * f / (2 * c * c)) if kind == "gaussian" else 1 / (1 + (f / c) ** (2 * order))


def extended(array, shape, edge):
    """Half of what is more lies behind the picture, the other half before it."""
    pads = []
    for n, wide in zip(array.shape[:2], shape):
        pads.append(((wide - n) // 2, (wide - n + 1) // 2))
    big = np.pad(array, pads, mode=EDGES[edge][0])
    return np.roll(big, (-pads[0][0], -pads[1][0]), (0, 1))


def filtered(array, low=None, high=None, kind="gaussian", order=2, keep=True, edge="reflect"):
    margin = 0 if edge == "wrap" else 32
    shape = tuple(smooth_above(n + margin) for n in array.shape[:2])
    f = frequencies(shape)
    factor = np.ones(shape)
    if low:
        factor *= one_side(kind, f, low, order)
    if high:
        factor *= 1 - one_side(kind, f, high, order)
    if keep:
        factor[0, 0] = 1
    back = np.fft.ifft2(np.fft.fft2(extended(array.astype(np.float64), shape, edge)) * factor).real
    return back[: array.shape[0], : array.shape[1]]


class Transform(OracleCase):
    def close(self, got, want, case):
        """2e-7 log2(N) of the root of the mean square, and no number far off."""
        self.assertEqual(got.shape, want.shape, case)
        rms = np.sqrt((np.abs(want) ** 2).mean())
        off = np.abs(got - want)
        allowed = 2e-7 * max(1, np.log2(want.size)) * rms
        self.assertLessEqual(np.sqrt((off ** 2).mean()), allowed, case)
        self.assertLessEqual(off.max(), 20 * allowed, case)

    def test_complex_spectra_are_numpys(self):
        shapes = ((1, 1), (1, 2), (2, 1), (1, 64), (64, 1), (3, 5), (15, 21), (32, 48), (49, 25), (128, 96), (61, 45),
                  (13, 33))
        for seed, shape in enumerate(shapes):
            array = picture(seed, shape, FORMATS[seed % 3])
            got = run_many(array, {"yes": ["fft complex"], "no": ["fft complex shift=no"]})
            want = padded(array)
            self.close(got["no"][..., 0] + 1j * got["no"][..., 1], want, shape)
            self.same(got["yes"], np.fft.fftshift(got["no"], (0, 1)), f"{shape} shifted")

    def test_every_channel_by_itself_without_alpha(self):
        array = picture(3, (30, 42, 3), np.uint16)
        got = run(array, "alpha opaque", "fft complex")
        self.assertEqual(got.shape, (30, 42, 6))
        for c in range(3):
            want = np.fft.fftshift(padded(array[..., c].copy()))
            self.close(got[..., 2 * c] + 1j * got[..., 2 * c + 1], want, f"channel {c}")
        with self.assertRaisesRegex(ProgramFailed, "has at most 8"):
            run(picture(3, (30, 42, 5), np.float32), "fft complex")

    def test_magnitude_phase_and_log(self):
        array = picture(4, (40, 54), np.uint8)
        want = np.fft.fftshift(padded(array))
        got = run_many(array, {"m": ["fft"], "p": ["fft phase"], "l": ["fft log"], "c": ["fft complex"]})
        self.close(got["m"], np.abs(want), "magnitude")
        made = got["c"].astype(np.float64)
        self.assertLessEqual(np.abs(got["m"] - np.hypot(made[..., 0], made[..., 1])).max(), 1e-7 * got["m"].max())
        self.assertLessEqual(np.abs(got["p"] - np.arctan2(made[..., 1], made[..., 0])).max(), 5e-7)
        log = np.log2(1 + np.hypot(made[..., 0], made[..., 1])) / np.log2(1 + array.size)
        self.assertLessEqual(np.abs(got["l"] - log).max(), 1e-6)
        self.assertTrue(0 <= got["l"].min() and got["l"].max() <= 1)

    def test_there_and_back(self):
        for dtype, shape in zip(FORMATS, ((36, 50), (35, 49, 3), (64, 27))):
            array = picture(5, shape, dtype)
            for shift in ("yes", "no"):
                got = run(array, f"fft complex shift={shift}", f"ifft shift={shift}")
                self.assertEqual(got.shape, array.shape)
                self.assertLessEqual(np.abs(got - array / white(array)).max(), 2e-6)
        got = run(picture(6, (61, 45), np.float32), "fft complex", "ifft", "crop width=45 height=61 x=0 y=0")
        self.assertLessEqual(np.abs(got - picture(6, (61, 45), np.float32)).max(), 2e-6)

    def test_any_spectrum_has_numpys_inverse(self):
        rng = np.random.default_rng(7)
        for shape in ((1, 1), (8, 9), (25, 14), (63, 48)):
            spectrum = (rng.standard_normal(shape + (2,)) * 10).astype(np.float32)
            want = np.fft.ifft2(spectrum[..., 0].astype(np.float64) + 1j * spectrum[..., 1])
            got = run_many(spectrum, {"c": ["ifft complex shift=no"], "r": ["ifft shift=no"],
                                      "m": ["ifft magnitude shift=no"]})
            self.close(got["c"][..., 0] + 1j * got["c"][..., 1], want, shape)
            self.same(got["r"], got["c"][..., 0].copy(), f"{shape} real")
            self.assertLessEqual(np.abs(got["m"] - np.abs(want)).max(), 1e-5 * np.abs(want).max())
        for array, stage, says in ((np.zeros((8, 8), np.float32), "ifft", "imaginary"),
                                   (np.zeros((8, 8, 2), np.uint8), "ifft", "floats"),
                                   (np.zeros((8, 11, 2), np.float32), "ifft", "prime factor")):
            with self.assertRaisesRegex(ProgramFailed, says):
                run(array, stage)

    def test_filters_are_numpys(self):
        cases = [dict(low=0.11), dict(high=0.051), dict(low=0.3, high=0.031, keep=False),
                 dict(low=0.17, kind="butterworth", order=3), dict(low=0.2001, high=0.0503, kind="ideal"),
                 dict(high=0.1, kind="butterworth", order=1, edge="mirror"),
                 dict(low=0.05, edge="wrap"), dict(low=0.05, edge="clamp"),
                 dict(high=0.07, edge="zero")]
        for n, case in enumerate(some(cases)):
            array = picture(n, ((48, 60), (61, 45), (35, 27))[n % 3], np.float32)
            words = {"low": "lowpass", "high": "highpass", "kind": "shape", "keep": "keep-mean"}
            stage = "fftfilter " + " ".join(
                f"{words.get(k, k)}={('no', 'yes')[v] if isinstance(v, bool) else v}"
                for k, v in case.items())
            got = run(array, stage)
            want = filtered(array, **case)
            self.assertLessEqual(np.abs(got - want).max(), 3e-6, stage)
        bytes_ = picture(11, (40, 41, 3), np.uint8)
        got = run(bytes_, "alpha opaque", "fftfilter 0.1")
        self.assertTrue((got[..., 3] == 255).all())
        for c in range(3):
            want = filtered(bytes_[..., c], low=0.1)
            self.assertLessEqual(np.abs(got[..., c] - want).max(), 0.5002, f"channel {c}")

    def test_what_is_refused(self):
        array = picture(1, (8, 8), np.uint8)
        for stage, says in (("fftfilter", "which frequencies"), ("fftfilter 0.1 highpass=0.2", "nothing would pass")):
            with self.assertRaisesRegex(ProgramFailed, says):
                run(array, stage)

    def test_long_columns_on_a_gpu(self):
        """They are split there, and rows of the spectra lie in another order."""
        branches = {"f": ["fft complex"], "i": ["fft complex", "ifft"], "w": ["fftfilter 0.2"]}
        for n, shape in enumerate(((1040, 6), (2048, 5))):
            array = picture(n, shape, np.float32)
            want = run_many(array, branches)
            for way in ((), ("--strip-rows", "300")):
                for name, got in run_many(array, branches, "--device", "simt", *way).items():
                    self.same(got, want[name], f"{branches[name]} {shape} {' '.join(way)}")

    def test_same_bytes_every_way(self):
        isas = ("base",) if SANITIZED or not has_isa("v3") else ("base", "v3")
        ways = [("--isa", isa, "--strip-rows", "5", "--threads", "3") for isa in isas]
        ways += [("--variant", "naive", "--strip-rows", "7")]
        ways += [("--device", "simt", "--variant", rung, "--strip-rows", "16") for rung in RUNGS]
        for n, (dtype, shape) in enumerate(zip(FORMATS, ((44, 37), (27, 42, 2), (21, 35, 3)))):
            array = picture(n, shape, dtype)
            branches = {"a": ["alpha opaque", "fftfilter 0.2"], "f": ["fft complex"],
                        "i": ["fft complex", "ifft magnitude"], "p": ["fft phase"],
                        "b": ["fftfilter 0.3 highpass=0.05"],
                        "w": ["fftfilter highpass=0.1 shape=butterworth edge=wrap"]}
            want = run_many(array, branches)
            for way in some(ways):
                for name, got in run_many(array, branches, *way).items():
                    self.same(got, want[name], f"{branches[name]} {dtype} {shape} {' '.join(way)}")


if __name__ == "__main__":
    unittest.main()
