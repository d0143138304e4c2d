"""smempipe duplicates: hashes against NumPy, pairs, reports."""
import csv
import io
import json
import unittest

import numpy as np
from PIL import Image

from harness import SAMPLES, CliCase


def luma(array):
    v = array.astype(np.float64)
    return v if v.ndim == 2 else v[..., 0] * 0.299 + v[..., 1] * 0.587 + v[..., 2] * 0.114


def area(length, parts):
    """A row of weights for each part of an axis: the share that each sample has in it."""
    edges = np.arange(parts + 1) * length / parts
    at = np.arange(length)
    w = np.clip(np.minimum(edges[1:, None], at + 1) - np.maximum(edges[:-1, None], at), 0, None)
    return w / w.sum(1, keepdims=True)


def dhash(array):
    v = luma(array)
    small = np.rint(area(v.shape[0], 8) @ v @ area(v.shape[1], 9).T)
    return "%016x" % int("".join("01"[int(b)] for b in (small[:, 1:] > small[:, :-1]).ravel()), 2)


def phash(array):
    small = np.array(Image.fromarray(np.rint(luma(array)).astype(np.uint8)).resize((32, 32), Image.LANCZOS), float)
    k, x = np.mgrid[0:8, 0:32]
    basis = np.cos(np.pi * k * (2 * x + 1) / 64)
    low = basis @ small @ basis.T
    return "%016x" % int("".join("01"[int(b)] for b in (low > np.median(low.ravel()[1:])).ravel()), 2)


class Duplicates(CliCase):
    def setUp(self):
        super().setUp()
        (self.folder / "in").mkdir()
        self.cat = np.array(Image.open(SAMPLES / "chelsea.png"))
        self.man = np.array(Image.open(SAMPLES / "camera.png"))
        Image.fromarray(self.cat).save(self.folder / "in/cat.png")
        Image.fromarray(self.man).save(self.folder / "in/man.png")
        Image.fromarray(self.cat).resize((200, 133)).save(self.folder / "in/small, cat.jpg", quality=70)
        Image.fromarray(self.cat[:, ::-1]).save(self.folder / "in/mirror.png")

    def hashes(self, *options):
        done = self.smp("duplicates", "in", "--hashes", *options)
        return dict(reversed(line.split("  ")) for line in done.stdout.splitlines())

    def test_hashes(self):
        pictures = {"in/cat.png": self.cat, "in/man.png": self.man, "in/mirror.png": self.cat[:, ::-1]}
        for method, want in (("dhash", dhash), ("phash", phash)):
            got = self.hashes("--method", method)
            self.assertEqual(len(got), 4)
            for name, array in pictures.items():
                self.assertEqual(got[name], want(array), f"{method} {name}")
        self.assertEqual(self.hashes("--device", "simt"), self.hashes())

    def test_a_named_pipe_is_read_once(self):
        self.small_png()
        self.feed("pipe", "in.png")
        self.assertIn("pipe", self.smp("duplicates", "pipe", "in.png", timeout=60).stdout)

    def test_pairs(self):
        for method in ("dhash", "phash"):
            done = self.smp("duplicates", "in", "--method", method)
            lines = done.stdout.splitlines()
            self.assertEqual([line[4:] for line in lines], ["in/cat.png  in/small, cat.jpg"], method)
            self.assertLessEqual(int(lines[0][:2]), 5)
        everything = self.smp("duplicates", "in", "--threshold", "64").stdout.splitlines()
        self.assertEqual(len(everything), 6)
        self.assertEqual(sorted(everything), sorted(everything, key=lambda line: int(line[:2])))

    def test_reports(self):
        rows = list(csv.reader(io.StringIO(self.smp("duplicates", "in", "--csv").stdout)))
        self.assertEqual(rows[0], ["distance", "a", "b", "identical"])
        self.assertEqual([row[1:] for row in rows[1:]], [["in/cat.png", "in/small, cat.jpg", "no"]])
        told = json.loads(self.smp("duplicates", "in", "--json").stdout)
        self.assertEqual((told["method"], told["threshold"], len(told["files"])), ("dhash", 5, 4))
        self.assertEqual(told["files"][0], {"file": "in/cat.png", "hash": dhash(self.cat)})
        self.assertEqual(told["pairs"], [{"distance": int(rows[1][0]), "a": "in/cat.png", "b": "in/small, cat.jpg",
                                          "identical": False}])

    def test_same_bytes(self):
        """A copy of the file is told from the same picture in another file of as many bytes, or of fewer."""
        cat = (self.folder / "in/cat.png").read_bytes()
        (self.folder / "in/copy.png").write_bytes(cat)
        Image.fromarray(self.cat).save(self.folder / "in/packed.png", compress_level=1)
        Image.fromarray(self.cat).save(self.folder / "in/one.bmp")
        bitmap = bytearray((self.folder / "in/one.bmp").read_bytes())
        bitmap[6] = 1  # reserved
        (self.folder / "in/two.bmp").write_bytes(bitmap)
        lines = self.smp("duplicates", "in", "--threshold", "0").stdout.splitlines()
        self.assertEqual(lines[0], " =  in/cat.png  in/copy.png")
        self.assertEqual([line[:4] for line in lines[1:]], [" 0  "] * (len(lines) - 1))
        self.assertIn(" 0  in/cat.png  in/packed.png", lines)
        self.assertIn(" 0  in/one.bmp  in/two.bmp", lines)
        told = csv.DictReader(io.StringIO(self.smp("duplicates", "in", "--threshold", "0", "--csv").stdout))
        self.assertEqual([row["b"] for row in told if row["identical"] == "yes"], ["in/copy.png"])

    def test_flat_pictures_have_no_bits(self):
        Image.fromarray(np.full((50, 40), 90, np.uint8)).save(self.folder / "in/flat.png")
        for method in ("dhash", "phash"):
            want = "0" * 16 if method == "dhash" else "8" + "0" * 15
            self.assertEqual(self.hashes("--method", method)["in/flat.png"], want)

    def test_transparent_pictures_lie_on_white(self):
        hidden = np.dstack([self.cat, np.full(self.cat.shape[:2], 255, np.uint8)])
        hidden[:, 200:, 3] = 0
        shown = np.where(hidden[..., 3:] > 0, self.cat, 255).astype(np.uint8)
        Image.fromarray(hidden).save(self.folder / "in/hidden.png")
        Image.fromarray(hidden[..., [0, 3]], "LA").save(self.folder / "in/gray, hidden.png")
        for method, want in (("dhash", dhash), ("phash", phash)):
            got = self.hashes("--method", method)
            self.assertEqual(got["in/hidden.png"], want(shown), method)
            self.assertEqual(got["in/gray, hidden.png"], want(shown[..., 0]), method)

    def test_bad_files_are_named(self):
        (self.folder / "in/bad.png").write_bytes(b"\x89PNG\r\n\x1a\nno")
        done = self.smp("duplicates", "in", status=1)
        self.assertIn("in/bad.png", done.stderr)
        self.assertIn("in/small, cat.jpg", done.stdout)
        self.assertIn("exclude each other", self.smp("duplicates", "in", "--csv", "--json", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
