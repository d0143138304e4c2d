"""Arrays that are written: channels first (--layout chw) and floats of 16 bits (--samples f16), against NumPy."""
import pathlib
import tempfile
import unittest

import numpy as np

from harness import FORMATS, SCRATCH, OracleCase, command, picture


class Arrays(OracleCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH)
        self.folder = pathlib.Path(self.scratch.name)
        self.addCleanup(self.scratch.cleanup)

    def written(self, array, *options, check=True):
        np.save(self.folder / "in.npy", array)
        done = command("run", "-q", "-f", "-e", "flip horizontal", "in.npy", "out.npy", *options, folder=self.folder,
                       check=check)
        return np.load(self.folder / "out.npy") if check else done

    def test_channels_first(self):
        for dtype in FORMATS:
            for channels in (1, 2, 3, 4):
                array = picture(channels, (61, 45) + (channels,) * (channels > 1), dtype)
                want = np.moveaxis(array[:, ::-1].reshape(61, 45, channels), 2, 0)
                for options in ((), ("--strip-rows", "8")):
                    got = self.written(array, "--layout", "chw", *options)
                    self.assertTrue(got.flags.c_contiguous)
                    self.same(got, np.ascontiguousarray(want), f"{array.dtype} x{channels} {options}")

    def test_half_floats(self):
        rng = np.random.default_rng(5)
        array = rng.integers(0, 2**32, (64, 48, 3), dtype=np.uint32).view(np.float32)
        array[0] = rng.normal(0, 1, (48, 3))
        array[1] = rng.normal(0, 2e-6, (48, 3))  # subnormal
        array[2, :9, 0] = 65504, 65519.996, 65520, -65520, np.inf, 0, -0.0, 2**-25, 1.5 * 2**-25
        array[3] = np.float16(array[0]).astype(np.float32) + np.float32(2**-14)
        array[np.isnan(array)] = 7
        with np.errstate(over="ignore"):
            want = array[:, ::-1].astype(np.float16)
        self.same(self.written(array, "--samples", "f16"), want)
        self.same(self.written(array, "--samples", "f16", "--layout", "chw"),
                  np.ascontiguousarray(np.moveaxis(want, 2, 0)))

    def test_refusals(self):
        array = picture(1, (8, 9), np.uint8)
        done = self.written(array, "--samples", "f16", check=False)
        self.assertEqual(done.returncode, 4)
        self.assertIn("depth float", done.stderr)
        for options in (("--layout", "chw"), ("--samples", "f16")):
            done = command("run", "-f", "-e", "flip horizontal", "in.npy", "out.png", *options, folder=self.folder,
                           check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("write a .npy", done.stderr)
            self.assertFalse((self.folder / "out.png").exists())


if __name__ == "__main__":
    unittest.main()
