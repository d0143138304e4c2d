"""Matrix products against NumPy in double: planes, sides, a file and a result as the second matrix, formats."""
import pathlib
import tempfile
import unittest

import numpy as np

from harness import FORMATS, SCRATCH, OracleCase, command, picture, run, white


def product(array, line, matrix, *options):
    """array through a pipe file that says `line`, with `matrix` in m.npy beside it, run from another folder."""
    with tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH) as name:
        folder = pathlib.Path(name)
        (folder / "sub").mkdir()
        np.save(folder / "in.npy", array)
        np.save(folder / "sub" / "m.npy", matrix)
        (folder / "sub" / "p.pipe").write_text(line + "\n")
        command("run", "-q", "sub/p.pipe", "in.npy", "out.npy", *options, folder=folder)
        return np.load(folder / "out.npy")


def exact(left, right):
    """Plane by plane, in double, and the sum of the terms' absolute values."""
    planes = max(left.shape[2:] + right.shape[2:] + (1,))

    def plane(a, c):
        a = a.astype(np.float64)
        return a if a.ndim == 2 else a[..., c if a.shape[2] > 1 else 0]

    pairs = [(plane(left, c), plane(right, c)) for c in range(planes)]
    value = [a @ b for a, b in pairs]
    terms = [np.abs(a) @ np.abs(b) for a, b in pairs]
    if left.ndim == right.ndim == 2:
        return value[0], terms[0]
    return np.stack(value, 2), np.stack(terms, 2)


class Matmul(OracleCase):
    def close(self, got, left, right, scale=1.0):
        want, terms = exact(left, right)
        self.assertEqual(got.shape, want.shape)
        np.testing.assert_array_less(np.abs(got - want * scale), 1e-6 * scale * terms + 1e-30)

    def test_floats(self):
        rng = np.random.default_rng(1)
        for rows, inner, columns in ((1, 1, 1), (1, 70, 1), (70, 1, 33), (31, 32, 33), (65, 129, 64), (200, 300, 250)):
            left = rng.standard_normal((rows, inner)).astype(np.float32)
            right = rng.standard_normal((inner, columns)).astype(np.float32)
            self.close(product(left, 'matmul with="m.npy"', right), left, right)
            self.close(product(right, 'matmul with="m.npy" side=left', left), left, right)

    def test_whole_numbers_are_exact(self):
        rng = np.random.default_rng(2)
        left = rng.integers(-50, 50, (40, 70)).astype(np.float32)
        right = rng.integers(-50, 50, (70, 31)).astype(np.float32)
        np.testing.assert_array_equal(product(left, 'matmul with="m.npy"', right), left @ right)

    def test_planes(self):
        rng = np.random.default_rng(3)
        left = rng.random((33, 20, 3), dtype=np.float32)
        for shape in ((20, 41), (20, 41, 1), (20, 41, 3)):
            right = rng.random(shape, dtype=np.float32)
            self.close(product(left, 'matmul with="m.npy"', right), left, right)

    def test_integers_are_fractions_of_full_scale(self):
        rng = np.random.default_rng(4)
        for dtype in FORMATS:
            array = picture(5, (31, 24, 3), dtype)
            weights = (rng.random((24, 17)) / 24).astype(np.float32)
            want, terms = exact(array, weights)
            got = product(array, 'matmul with="m.npy"', weights)
            self.near(got, want, f"{array.dtype} x float", tie=terms.max() * 1e-6 + 1e-4, terms=terms)
            same = product(array, 'matmul with="m.npy"', np.eye(24, dtype=dtype) * np.dtype(dtype).type(white(array)))
            np.testing.assert_array_equal(same, array)

    def test_a_result_as_second_matrix(self):
        array = picture(6, (29, 50), np.float32)
        got = run(array, "transpose -> @t", "from @input", "matmul with=@t")
        self.close(got, array, np.ascontiguousarray(array.T))

    def test_resampling_on_both_sides(self):
        """Bilinear halving as two products, one a side: what `with` files are for."""
        array = picture(7, (32, 48, 3), np.uint8)
        half = lambda n: (np.repeat(np.eye(n // 2), 2, axis=1) / 2).astype(np.float32)
        rows = product(array, 'matmul with="m.npy" side=left', half(32))
        want = (array[0::2].astype(np.float64) + array[1::2]) / 2
        self.near(rows, want, "rows halved", tie=1e-4, terms=want)
        columns = product(rows, 'matmul with="m.npy"', np.ascontiguousarray(half(48).T))
        self.assertEqual(columns.shape, (16, 24, 3))


if __name__ == "__main__":
    unittest.main()
