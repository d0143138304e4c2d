"""Pictures whose file is cut short are errors, and --no-verify reads what there is of them, with a warning."""
import io
import re
import unittest
import zlib

import numpy as np
from PIL import Image

from harness import CliCase, chunk, png_bytes, png_header

NOISE = np.random.default_rng(3).integers(0, 256, (12, 10, 3), dtype=np.uint8)
PICTURE = np.asarray(Image.fromarray(NOISE).resize((80, 96), Image.BICUBIC))


def jpeg(**options):
    out = io.BytesIO()
    Image.fromarray(PICTURE).save(out, "jpeg", quality=90, **options)
    return out.getvalue()


class CutPictures(CliCase):
    def read(self, name, data, *options):
        """(samples, rows that the warning calls missing, what was said)"""
        self.write(name, data)
        done = self.smp("run", "-f", *options, "--no-verify", "-e", "stats", name, "out.npy")
        found = re.search(r"the last (\d+) of its 96 rows (is|are) missing and (\w+)", done.stderr)
        self.assertIn(f"warning: {name}: the file is cut short", done.stderr)
        return np.load(self.folder / "out.npy"), int(found.group(1)) if found else 0, done.stderr

    def refused(self, name, data, hint=True):
        self.write(name, data)
        told = self.smp("convert", "-f", name, "out.npy", status=3).stderr
        self.assertRegex(told, "truncated|damaged")
        self.assertEqual("or read what there is of it with --no-verify" in told, hint, told)

    def whole(self, name, data):
        self.write(name, data)
        self.smp("convert", "-f", name, "whole.npy")
        return np.load(self.folder / "whole.npy")

    def test_the_end_alone_is_missing(self):
        png = png_bytes([row.tobytes() for row in PICTURE], 80)
        told = png[:-12] + chunk(b"tEXt", b"Comment\0a word") + png[-12:]
        for name, data, ends in (("a.jpg", jpeg(), (2, 1)), ("p.jpg", jpeg(progressive=True), (2,)),
                                 ("a.png", png, (12, 11, 4, 1, 16)), ("t.png", told, (14, 20))):
            whole = self.whole(name, data)
            for lost in ends:
                self.refused(name, data[:-lost])
                got, missing, said = self.read(name, data[:-lost])
                self.assertIn("its end is missing, and all rows of its picture are there", said, f"{name} {lost}")
                np.testing.assert_array_equal(got, whole, f"{name} {lost}")

    def test_rows_of_a_jpeg_are_missing(self):
        for options in ({}, {"subsampling": 0}, {"restart_marker_rows": 1}, {"subsampling": 0, "optimize": True}):
            data = jpeg(**options)
            whole, begin = self.whole("a.jpg", data).astype(int), data.index(b"\xff\xda") + 40
            last = 96
            for cut in range(begin, len(data) - 2, (len(data) - begin) // 7):
                self.refused("a.jpg", data[:cut])
                got, missing, said = self.read("a.jpg", data[:cut], "--no-sandbox", "--device", "cpu")
                self.assertIn("missing and gray", said)
                self.assertTrue(8 <= missing <= last, (missing, last))
                last = missing
                there = 96 - missing - (1 if "subsampling" not in options else 0)  # interpolated with the row below
                np.testing.assert_array_equal(got[:max(there, 0)], whole[:max(there, 0)])
                if missing > 16:
                    self.assertTrue((got[-1] == 128).all())
            self.assertLess(last, 20)

    def test_scans_of_a_jpeg_are_missing(self):
        data = jpeg(progressive=True)
        whole, begin = self.whole("a.jpg", data).astype(int), data.index(b"\xff\xda") + 40
        errors, scans = [], []
        for cut in range(begin, len(data) - 2, max(1, (len(data) - begin) // 25)):
            got, missing, said = self.read("a.jpg", data[:cut])
            errors.append(np.abs(got - whole).mean())
            scans.append(int((re.search(r"scan (\d+) of", said) or [0, "1"])[1]))
            self.assertEqual("missing and gray" in said, scans[-1] == 1 and missing > 0)
        self.assertEqual(sorted(scans), scans)
        self.assertGreater(max(scans), 5)
        self.assertLess(errors[-1], 3)
        self.assertGreater(errors[0], 20)

    def test_rows_of_a_png_are_missing(self):
        rows = [row.tobytes() for row in PICTURE]
        packed = zlib.compress(b"".join(b"\0" + row for row in rows), 0)  # stored: bytes are rows
        small = b"".join(chunk(b"IDAT", packed[i : i + 500]) for i in range(0, len(packed), 500))
        for body in (chunk(b"IDAT", packed), small):
            data = png_header(80, 96) + body + chunk(b"IEND", b"")
            for cut in (60, 400, len(data) // 2, len(data) // 2 + 300, len(data) - 200):
                self.refused("a.png", data[:cut])
                got, missing, _ = self.read("a.png", data[:cut])
                there = (cut - 33 - (cut - 33) // 512 * 12 * (body is small)) // 241
                self.assertLessEqual(abs(96 - missing - there), 1)
                np.testing.assert_array_equal(got[:96 - missing], PICTURE[:96 - missing])
                self.assertFalse(got[96 - missing:].any())
        self.read("a.png", data[:len(data) // 2], "--no-sandbox", "--strip-rows", "7")
        done = self.smp("run", "--no-verify", "-e", "invert", "-", "pipe.npy", input=data[:9000], text=False)
        self.assertIn(b"rows are missing and black", done.stderr)

    def test_a_cut_below_what_is_read_says_nothing(self):
        data = jpeg()
        self.write("a.jpg", data[:-2])
        done = self.smp("run", "--no-verify", "-e", "crop width=20 height=8 anchor=top", "a.jpg", "out.png")
        self.assertEqual(done.stderr, "")

    def test_unusual_pngs(self):
        out = io.BytesIO()
        Image.fromarray(PICTURE).quantize(40).save(out, "png")
        data = out.getvalue()
        got, missing, _ = self.read("p.png", data[:len(data) // 2])
        self.assertTrue(0 < missing < 96)
        np.testing.assert_array_equal(got[:96 - missing], self.whole("p.png", data)[:96 - missing])
        rows = (b"\0" + bytes(10)) * 12  # the first pass, of seven
        interlaced = png_header(8, 96, 8, 0, 1) + chunk(b"IDAT", zlib.compress(rows))
        _, _, said = self.read("i.png", interlaced)
        self.assertIn("pixels of its later passes (it is interlaced) are missing and black", said)

    def test_what_is_no_picture_stays_an_error(self):
        data, png = jpeg(), png_bytes([row.tobytes() for row in PICTURE], 80)
        for name, cut in (("a.jpg", data[:100]), ("a.png", png[:20]), ("a.png", png[:41])):
            self.refused(name, cut, hint=False)
            self.smp("convert", "-f", "--no-verify", name, "out.npy", status=3)
        flipped = png[:200] + bytes([png[200] ^ 255]) + png[201:]
        self.write("a.png", flipped)  # damaged, and not cut
        self.smp("convert", "-f", "--no-verify", "a.png", "out.npy", status=3)
        self.write("a.png", flipped[:-12])  # both
        self.smp("convert", "-f", "--no-verify", "a.png", "out.npy", status=3)

    def test_a_cut_picture_is_not_copied(self):
        """Nor decoded by what takes coded data: the same bytes as from the decoder."""
        self.write("a.jpg", jpeg()[:1500])
        told = self.smp("convert", "--no-verify", "a.jpg", "b.jpg").stderr
        self.assertIn("are missing", told)
        self.smp("convert", "b.jpg", "c.npy")
        self.smp("run", "--no-verify", "-e", "invert", "a.jpg", "s.npy", "--device", "simt", "--gpu-jpeg", "1")
        self.smp("run", "--no-verify", "-e", "invert", "a.jpg", "d.npy", "--device", "cpu")
        self.smp("diff", "s.npy", "d.npy")


if __name__ == "__main__":
    unittest.main()
