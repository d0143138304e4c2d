"""Looks of pictures (hash), parts of pictures (template), smoothing by a guide: NumPy, SciPy, OpenCV, Pillow."""
import csv
import io
import pathlib
import tempfile
import unittest

import cv2
import numpy as np
from PIL import Image
from scipy import ndimage

from harness import EDGES, FORMATS, OracleCase, ProgramFailed, command, findings, picture, run, run_many, white

WAYS = ((), ("--strip-rows", 7, "--threads", 2), ("--variant", "naive"), ("--device", "simt", "--strip-rows", 16),
        ("--device", "simt", "--variant", "naive"), ("--device", "simt", "--variant", "tiled"))


def luma(array):
    v = array.astype(np.float64) / white(array) * 255
    return v if v.ndim == 2 else v[..., 0] * 0.299 + v[..., 1] * 0.587 + v[..., 2] * 0.114


def area(length, parts):
    """A row of weights for each part of an axis: the share that each sample has in it."""
    edges = np.arange(parts + 1) * length / parts
    at = np.arange(length)
    w = np.clip(np.minimum(edges[1:, None], at + 1) - np.maximum(edges[:-1, None], at), 0, None)
    return w / w.sum(1, keepdims=True)


def hexadecimal(bits):
    return "%016x" % int("".join("01"[int(b)] for b in bits.ravel()), 2)


def dhash(array):
    v = luma(array)
    small = np.rint(area(v.shape[0], 8) @ v @ area(v.shape[1], 9).T)
    return hexadecimal(small[:, 1:] > small[:, :-1])


def phash(array):
    small = np.array(Image.fromarray(np.rint(luma(array)).astype(np.uint8)).resize((32, 32), Image.LANCZOS), float)
    k, x = np.mgrid[0:8, 0:32]
    basis = np.cos(np.pi * k * (2 * x + 1) / 64)
    low = basis @ small @ basis.T
    return hexadecimal(low > np.median(low.ravel()[1:]))


def blobs(seed, shape, dtype=np.uint8):
    rng = np.random.default_rng(seed)
    small = rng.random((6, 7) + tuple(shape[2:])).astype(np.float32)
    big = np.clip(cv2.resize(small, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC), 0, 1)
    return big if dtype == np.float32 else np.rint(big * white(np.zeros(1, dtype))).astype(dtype)


class Hash(OracleCase):
    def test_bits_are_those_of_the_definition(self):
        for seed, shape in enumerate(((61, 145), (200, 131, 3), (8, 9), (5, 4), (33, 300), (90, 40, 3))):
            for dtype in FORMATS:
                array = blobs(seed, shape, dtype)
                for kind, want in (("dhash", dhash), ("phash", phash)):
                    got = findings(array, f"hash {kind}")[0]["hash", -1]
                    off = bin(int(got, 16) ^ int(want(array), 16)).count("1")
                    self.assertLessEqual(off, 0 if dtype == np.uint8 else 1, f"{kind} {dtype} {shape}")

    def test_every_way_gives_the_same(self):
        for shape in ((70, 100, 3), (37, 41)):
            array = blobs(9, shape)
            for kind in ("dhash", "phash"):
                got = {findings(array, f"hash {kind}", options=way)[0]["hash", -1] for way in WAYS +
                       (("--device", "simt", "--variant", "padded"),)}
                self.assertEqual(len(got), 1, f"{kind} {shape}")

    def test_what_is_transparent_is_white(self):
        array = blobs(4, (60, 80, 3))
        alpha = blobs(5, (60, 80))
        on_white = array * (alpha[..., None] / 255.0) + 255 - alpha[..., None]
        report = {}
        run_many(array, {"a": ['alpha set by="a.npy"', "hash"]}, report=report, beside={"a.npy": alpha})
        step = next(s for s in report["steps"] if s.get("findings"))
        self.assertEqual(step["findings"][0]["value"], dhash(on_white.astype(np.float32) / 255))

    def test_duplicates_has_the_same_hashes(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for seed, shape in enumerate(((61, 145), (90, 140, 3), (33, 47, 3))):
                Image.fromarray(blobs(seed, shape)).save(folder / f"{seed}.png")
            for kind in ("dhash", "phash"):
                told = command("duplicates", ".", "--hashes", "--method", kind, folder=folder).stdout
                rows = list(csv.DictReader(io.StringIO(
                    command("measure", "-e", f"hash {kind}", ".", "--csv", folder=folder).stdout)))
                self.assertEqual([line.split()[0] for line in told.splitlines()], [row["hash"] for row in rows])
            long = command("measure", "-e", "hash", "0.png", "--csv", "--long", folder=folder).stdout.splitlines()
            table = command("measure", "-e", "hash", "0.png", folder=folder).stdout
            want = dhash(blobs(0, (61, 145)))
            self.assertTrue(long[1].endswith(f",hash,,{want}"), long[1])
            self.assertIn(want, table)

    def test_other_colours_are_refused(self):
        with self.assertRaisesRegex(ProgramFailed, "5 colours"):
            run(np.zeros((5, 5, 5), np.uint8), "hash")


def scores(array, small):
    """TM_CCOEFF_NORMED in double, colours together."""
    a = array.astype(np.float64).reshape(array.shape[0], array.shape[1], -1)
    t = small.astype(np.float64).reshape(small.shape[0], small.shape[1], -1)
    windows = np.lib.stride_tricks.sliding_window_view(a, t.shape)[:, :, 0]
    windows = windows.reshape(windows.shape[0], windows.shape[1], -1)
    w = windows - windows.mean(-1, keepdims=True)
    u = (t - t.mean()).ravel()
    below = np.sqrt((w * w).sum(-1) * (u * u).sum())
    return np.divide(w @ u, below, out=np.zeros_like(below), where=below > 1e-9)


class Template(OracleCase):
    def look(self, array, small, *options, stage='template "part.npy" output=score'):
        report = {}
        got = run_many(array, {"only": [stage]}, *options, report=report, beside={"part.npy": small})["only"]
        step = next(s for s in report["steps"] if s.get("findings"))
        return got, {f["name"]: f["value"] for f in step["findings"]}

    def test_scores_equal_numpy_and_opencv(self):
        for seed, (shape, box) in enumerate((((40, 70), (7, 9)), ((61, 45, 3), (12, 5)), ((33, 129), (33, 4)),
                                             ((20, 90), (1, 1)), ((40, 41, 2), (16, 33)))):
            for dtype in FORMATS:
                array = picture(seed, shape, dtype)
                y, x = 3 % (shape[0] - box[0] + 1), 5
                small = array[y:y + box[0], x:x + box[1]].copy()
                got, found = self.look(array, small)
                want = scores(array, small)
                places = got[:want.shape[0], :want.shape[1]]
                np.testing.assert_allclose(places, want, atol=2e-6, err_msg=f"{dtype} {shape}")
                self.assertEqual(np.count_nonzero(got), np.count_nonzero(places))
                if min(box) > 1:
                    self.assertEqual([found["x"], found["y"]], [x, y])
                    self.assertAlmostEqual(found["score"], 1, 6)
                if dtype == np.uint8 and min(box) > 1 and array.ndim == 2:
                    cv = cv2.matchTemplate(array, small, cv2.TM_CCOEFF_NORMED)
                    np.testing.assert_allclose(places, cv, atol=1e-4, err_msg=str(shape))

    def test_every_way_gives_the_same(self):
        for shape, box in (((70, 150), (9, 40)), ((40, 61, 3), (5, 7))):
            for dtype in FORMATS:
                array = picture(3, shape, dtype)
                small = picture(4, box + shape[2:], dtype)
                want = None
                for way in WAYS:
                    got = self.look(array, small, *way)
                    want = want or got
                    self.same(got[0], want[0], f"{dtype} {way}")
                    self.assertEqual(got[1], want[1])

    def test_flat_depths_and_refusals(self):
        array = np.full((20, 30), 7, np.uint8)
        got, found = self.look(array, array[:5, :5])
        self.assertEqual([got.any(), found], [False, {"x": 0, "y": 0, "score": 0}])
        array = blobs(1, (60, 80))
        part = array[20:40, 30:61].astype(np.uint16) * 257
        got, found = self.look(array, part, stage='template "part.npy"')
        self.same(got, array)
        self.assertEqual([found["x"], found["y"]], [30, 20])
        with self.assertRaisesRegex(ProgramFailed, "larger than the picture"):
            self.look(array[:9], array)
        with self.assertRaisesRegex(ProgramFailed, "template of 3 colours"):
            self.look(array, blobs(2, (9, 9, 3)))


def guided(array, guide, radius, epsilon, edge):
    """He 2010 with scipy.ndimage.uniform_filter, in double and code values."""
    size, mode = 2 * radius + 1, EDGES[edge][1]
    mean = lambda v: ndimage.uniform_filter(v, size, mode=mode)
    p, i = array.astype(np.float64), guide.astype(np.float64)
    mi, mp = mean(i), mean(p)
    a = (mean(i * p) - mi * mp) / (mean(i * i) - mi * mi + epsilon)
    b = mp - a * mi
    return mean(a) * i + mean(b)


class Guided(OracleCase):
    def test_equals_scipy(self):
        for dtype in FORMATS:
            for edge in ("clamp", "reflect", "mirror", "wrap"):
                array = picture(2, (33, 61), dtype)
                top = white(array)
                want = guided(array, array, 3, 0.02 * top * top, edge)
                got = run(array, f"guided 3px epsilon=2% edge={edge}", options=("--strip-rows", 7))
                self.near(got, want, f"{dtype} {edge}", relative=4e-6, tie=0.05 if dtype == np.uint16 else 1e-3,
                          terms=np.full(want.shape, top))

    def test_another_guide(self):
        array, guide = picture(3, (40, 51, 3), np.uint8), picture(4, (40, 51), np.uint16)
        got = run_many(array, {"g": ['guided 2px epsilon=0.5% by="g.npy"']}, beside={"g.npy": guide})["g"]
        for c in range(3):
            want = guided(array[..., c], guide / 257.0, 2, 0.005 * 255 ** 2, "clamp")
            self.near(got[..., c].copy(), np.clip(want, 0, 255), f"channel {c}", tie=2e-3)

    def test_every_way_gives_the_same(self):
        for shape in ((50, 70), (23, 41, 4)):
            for dtype in FORMATS:
                array = picture(5, shape, dtype)
                beside = {"g.npy": picture(6, shape[:2], np.uint8)}
                for stage in ("guided 4px", 'guided 2px by="g.npy" edge=constant fill=0.25'):
                    want = run_many(array, {"g": [stage]}, beside=beside)["g"]
                    for way in WAYS[1:]:
                        self.same(run_many(array, {"g": [stage]}, *way, beside=beside)["g"], want, f"{stage} {way}")

    def test_edges_stay_and_noise_goes(self):
        rng = np.random.default_rng(1)
        step = np.where(np.arange(80) < 40, 60.0, 190.0) * np.ones((60, 1))
        got = run(np.clip(step + rng.normal(0, 5, step.shape), 0, 255).astype(np.uint8), "guided 4px epsilon=0.4%")
        self.assertLess(np.abs(got.astype(float) - step)[:, 5:-5].mean(), 2)
        self.assertGreater(got[:, 41].mean() - got[:, 38].mean(), 110)

    def test_what_it_refuses(self):
        array = picture(3, (40, 51, 3), np.uint8)
        for other, message in ((array[:9], "same size"), (np.zeros((40, 51, 5), np.uint8), "as many as the picture")):
            with self.assertRaisesRegex(ProgramFailed, message):
                run_many(array, {"g": ['guided by="g.npy"']}, beside={"g.npy": other})


if __name__ == "__main__":
    unittest.main()
