"""batch --html: pictures before and after, failures, times; the page is none of the files of the work."""
import base64
import re
import shutil
import unittest

import numpy

from harness import SAMPLES, CliCase
from pages import Page, check_page, data_of, drawn


class BatchPage(CliCase):
    def setUp(self):
        super().setUp()
        (self.folder / "in").mkdir()
        for i in range(9):
            numpy.save(self.folder / f"in/p{i}.npy", numpy.full((20, 30, 3), i, numpy.uint8))
        (self.folder / "in/bad <1>.npy").write_bytes(b"nonsense")

    def test_before_and_after(self):
        self.smp("batch", "-e", "invert", "in", "-o", "out", "--html", "page.html", status=1)
        made = (self.folder / "page.html").read_text()
        check_page(self, made)
        self.assertRegex(Page(made).text, r"in/bad <1>\.npythe file is in no known format")  # without scripts, too
        pictures = [base64.b64decode(pair[side]["bmp"])
                    for pair in data_of(made)["pairs"] for side in ("before", "after")]
        self.assertEqual(len(pictures), 2 * 6)
        for before, after in zip(pictures[::2], pictures[1::2]):
            self.assertEqual(before[54] + after[54], 255)
        text = drawn(self, made)
        page = Page(text)
        self.assertIn("9 files done, 1 failed", page.text)
        self.assertIn("in/bad <1>.npy", page.text)
        self.assertIn("is in no known format", page.text)
        for part in ("read, decode", "compute", "encode, write", "The slowest", "files a second"):
            self.assertIn(part, page.text)
        self.assertEqual(text.count('type="range"'), 6)
        self.assertEqual(text.count('src="data:image/bmp;base64,'), 12)

    def test_what_was_done_and_what_was_left(self):
        (self.folder / "in/bad <1>.npy").unlink()
        self.write("two <steps>.pipe", "invert\nadd 1\n")
        self.smp("batch", "two <steps>.pipe", "in", "-o", "out")
        numpy.save(self.folder / "in/q.npy", numpy.zeros((20, 30, 3), numpy.uint8))
        numpy.save(self.folder / "out/p3.npy", numpy.zeros((20, 30, 3), numpy.uint8))
        self.smp("batch", "two <steps>.pipe", "in", "-o", "out", "--resume", "--html", "page.html", status=1)
        page = Page(drawn(self, (self.folder / "page.html").read_text()))
        self.assertIn("two <steps>.pipe: invert, add 1, into out", page.text)
        self.assertIn("1 file done, 1 failed", page.text)
        self.assertIn("8 were made before, and left", page.text)
        self.assertRegex(page.text, r"in/p3.npy\s*was changed after it was made")

    def test_nothing_to_do(self):
        (self.folder / "in/bad <1>.npy").unlink()
        self.smp("batch", "-e", "invert", "in", "-o", "out")
        self.smp("batch", "-e", "invert", "in", "-o", "out", "--resume", "--html", "page.html")
        page = Page(drawn(self, (self.folder / "page.html").read_text()))
        self.assertRegex(page.text, r"0 files done\s.*\s+0 B of input in \S+ seconds. 9 were made before, and left.")
        self.assertNotIn("slowest", page.text)
        self.assertNotIn("Where the time went", page.text)

    def test_failures_are_in_the_order_of_names_and_hints_stand_once(self):
        names = [f"no{i}.npy" for i in range(29, 9, -1)]
        for name in names:
            (self.folder / "in" / name).write_bytes(b"no array")
        self.smp("batch", "-e", "invert", "in", "-o", "out", "--html", "page.html", status=1)
        text = Page(drawn(self, (self.folder / "page.html").read_text())).text
        self.assertEqual(re.findall(r"in/(no\d+\.npy)", text), names[::-1])
        self.assertEqual(text.count("formats read"), 1)
        self.assertIn("9 more", text)  # of 21, behind the first 12

    def test_sounds_have_no_pictures(self):
        (self.folder / "sounds").mkdir()
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "sounds")
        self.smp("batch", "-e", "gain -6dB", "sounds", "-o", "out", "--html", "page.html")
        self.assertNotIn("Before and after", Page(drawn(self, (self.folder / "page.html").read_text())).text)

    def test_no_file_of_the_work(self):
        for page, status in (("in/p1.npy", 4), ("in/p2.npy", 4), ("-", 2)):
            self.smp("batch", "-e", "invert", "in", "-o", "out", "--html", page, "--force", status=status)
        self.smp("batch", "-e", "invert", "in", "-o", "out", "--html", "out/p3.npy", "--force", status=4)
        self.assertEqual(numpy.load(self.folder / "in/p1.npy")[0, 0, 0], 1)
        (self.folder / "page.html").write_text("mine")
        self.smp("batch", "-e", "invert", "in", "-o", "out", "--html", "page.html", status=4)
        self.assertEqual((self.folder / "page.html").read_text(), "mine")


if __name__ == "__main__":
    unittest.main()
