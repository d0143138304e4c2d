"""Files of several pictures: concat of pictures, and PDF, as poppler reads it."""
import io
import re
import shutil
import struct
import subprocess
import unittest

import numpy as np
from PIL import Image

from harness import CliCase
from test_profile import ADOBE, GAMMA, icc


def pattern(height, width, channels):
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([x * 5 + y * 3, x * 2, y * 7, (x + y) * 3][:channels], -1).astype(np.uint8)


class Pages(CliCase):
    def save(self, name, samples, **options):
        Image.fromarray(samples[..., 0] if samples.shape[2] == 1 else samples).save(self.folder / name, **options)
        return samples

    def pdf(self, tool, *arguments):
        if not shutil.which(tool):
            self.skipTest("no poppler-utils")
        done = subprocess.run([tool, *arguments], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def images(self, name):
        """All pictures of a PDF, masks too, in their order."""
        for old in self.folder.glob("image-*"):
            old.unlink()
        self.pdf("pdfimages", "-all", name, "image")
        return [np.array(Image.open(path)) for path in sorted(self.folder.glob("image-*"))]

    def test_samples_are_those_of_the_pictures(self):
        rgb, gray = self.save("a.png", pattern(60, 90, 3), dpi=(300, 300)), self.save("b.png", pattern(50, 40, 1))
        rgba, both = self.save("c.png", pattern(133, 70, 4)), self.save("d.png", pattern(41, 30, 2))
        self.assertEqual(self.smp("concat", "a.png", "b.png", "c.png", "d.png", "-o", "all.pdf").stderr, "")
        wanted = [rgb, gray[..., 0], rgba[..., :3], rgba[..., 3], both[..., 0], both[..., 1]]
        for got, want in zip(self.images("all.pdf"), wanted, strict=True):
            self.assertTrue(np.array_equal(got, want))
        sizes = re.findall(r"size: +([\d.]+) x ([\d.]+)", self.pdf("pdfinfo", "-l", "9", "all.pdf"))
        self.assertEqual(sizes[:2], [("21.6", "14.4"), ("30", "37.5")])  # of 300 and 96 pixels an inch
        self.smp("concat", "a.png", "b.png", "c.png", "d.png", "-o", "again.pdf", "--threads", "1")
        self.assertEqual((self.folder / "again.pdf").read_bytes(), (self.folder / "all.pdf").read_bytes())
        wide = self.save("w.png", pattern(20, 30, 1))
        self.smp("run", "-e", "depth 16", "w.png", "w.pdf")
        self.assertIn(" 16 ", self.pdf("pdfimages", "-list", "w.pdf"))
        self.assertEqual(self.images("w.pdf")[0].shape, wide.shape[:2])

    def test_a_jpeg_stays_as_it_is_coded(self):
        exif, small = Image.Exif(), pattern(48, 72, 3)
        for turn in range(1, 9):
            exif[0x112] = turn
            self.save("t.jpg", small, exif=exif, quality=95, dpi=(72, 72))
            told = self.smp("convert", "-f", "t.jpg", "t.pdf").stderr
            self.assertIn("left out, since the format PDF has no place for it: EXIF", told)
            coded = (self.folder / "t.jpg").read_bytes()
            scan = coded[coded.rindex(b"\xFF\xDA"):]
            self.assertIn(scan, (self.folder / "t.pdf").read_bytes())
            self.pdf("pdftoppm", "-r", "72", "-png", "-singlefile", "t.pdf", "t")
            self.smp("convert", "-f", "-q", "t.jpg", "want.png")
            got, want = (np.array(Image.open(self.folder / name).convert("RGB")).astype(int)
                         for name in ("t.png", "want.png"))
            self.assertEqual(got.shape, want.shape)
            self.assertLess(np.abs(got - want).mean(), 8, turn)  # its own decoder
        self.smp("run", "-q", "-e", "invert", "t.jpg", "i.pdf")
        self.assertIn(b"/FlateDecode", (self.folder / "i.pdf").read_bytes())

    def test_paper_and_dpi(self):
        self.save("a.png", pattern(30, 90, 3))
        self.save("huge.png", np.zeros((1, 30000, 1), np.uint8))
        for arguments, size in (((), "67.5 x 22.5"), (("--pdf-dpi", "10"), "648 x 216"),
                                (("--paper", "a4"), "841.89 x 595"), (("--paper", "letter"), "792 x 612")):
            self.smp("convert", "-f", "a.png", "a.pdf", *arguments)
            self.assertIn(size, self.pdf("pdfinfo", "a.pdf"))
        told = self.smp("convert", "huge.png", "h.pdf", status=4).stderr
        self.assertIn("--pdf-dpi 150, or --paper a4", told)
        self.smp("convert", "huge.png", "h.pdf", "--pdf-dpi", "150")
        self.assertIn("a4", self.smp("convert", "-f", "a.png", "a.pdf", "--paper", "b4", status=2).stderr)

    def test_profile_title_and_packet(self):
        from PIL.PngImagePlugin import PngInfo
        info = PngInfo()
        info.add_text("Title", "Regen \u2614 \U0001F302")
        info.add_text("Warning", "none")
        info.add_itxt("XML:com.adobe.xmp", "<x:xmpmeta xmlns:x='adobe:ns:meta/'/>")
        self.save("a.png", pattern(9, 9, 3), pnginfo=info, icc_profile=icc(ADOBE, GAMMA))
        told = self.smp("concat", "a.png", "a.png", "-o", "a.pdf").stderr
        self.assertIn("the text 'Warning' is left out", told)
        self.assertIn("a PDF has those of its first picture", told)
        self.assertIn("Regen \u2614 \U0001F302", self.pdf("pdfinfo", "a.pdf"))
        data = (self.folder / "a.pdf").read_bytes()
        self.assertEqual((data.count(b"/N 3"), data.count(b"[/ICCBased"), data.count(b"<x:xmpmeta")), (1, 2, 2))
        self.assertNotIn(b"Date", data)
        self.smp("convert", "-q", "a.png", "s.pdf", "--strip")
        self.assertNotIn(b"ICCBased", (self.folder / "s.pdf").read_bytes())

    def test_pages_of_a_tiff_become_pages(self):
        first, second = pattern(12, 20, 1), pattern(30, 10, 1)
        Image.fromarray(first[..., 0]).save(self.folder / "in.tif", save_all=True,
                                            append_images=[Image.fromarray(second[..., 0])])
        self.smp("concat", "in.tif", "in.tif", "-o", "all.pdf")
        self.assertEqual([v.shape for v in self.images("all.pdf")], [(12, 20), (30, 10)] * 2)
        self.smp("concat", "in.tif", "-o", "two.pdf", "--page", "2", "-e", "invert")
        self.assertTrue(np.array_equal(self.images("two.pdf")[0], 255 - second[..., 0]))

    def test_pages_of_a_tiff_are_written(self):
        shapes = ((12, 20, 1), (30, 10, 3), (300, 700, 4))
        wanted = [self.save(f"{i}.png", pattern(*shape), dpi=(100 * (i + 1),) * 2) for i, shape in enumerate(shapes)]
        exif = Image.Exif()
        exif[0x010E] = "Regen"
        exif.get_ifd(0x8769)[0x9003] = "2020:01:02 03:04:05"
        self.save("3.jpg", pattern(9, 8, 3), exif=exif, quality=95)
        for words in ((), ("--tiff-tile", "64"), ("--tiff-compression", "lzw", "--threads", "1")):
            self.smp("concat", "-f", "0.png", "1.png", "2.png", "3.jpg", "-o", "all.tif", *words)
            with Image.open(self.folder / "all.tif") as book:
                self.assertEqual(book.n_frames, 4)
                for i, want in enumerate(wanted):
                    book.seek(i)
                    self.assertTrue(np.array_equal(np.array(book).reshape(want.shape), want), (i, words))
                    self.assertAlmostEqual(float(book.info["dpi"][0]), 100 * (i + 1), delta=0.1)
                book.seek(3)
                self.assertEqual(book.tag_v2[270], "Regen")
            self.smp("convert", "-f", "all.tif", "two.png", "--page", "2")
            self.assertTrue(np.array_equal(np.array(Image.open(self.folder / "two.png")), wanted[1]))
        self.smp("convert", "-f", "0.png", "one.tif")
        self.smp("concat", "0.png", "-o", "alone.tif")
        self.assertEqual((self.folder / "one.tif").read_bytes(), (self.folder / "alone.tif").read_bytes())

    def test_frames_become_an_animation(self):
        pictures = [self.save(f"{i}.png", np.full((8, 9, 3), 50 * i, np.uint8)) for i in range(4)]
        self.smp("concat", "0.png", "1.png", "2.png", "3.png", "-o", "a.gif", "--delay", "40")
        with Image.open(self.folder / "a.gif") as movie:
            self.assertEqual((movie.n_frames, movie.info["duration"]), (4, 40))
            for i, want in enumerate(pictures):
                movie.seek(i)
                self.assertTrue(np.array_equal(np.array(movie.convert("RGB")), want))
        self.save("odd.png", pattern(5, 5, 3))
        told = self.smp("concat", "0.png", "odd.png", "-o", "b.gif", status=2).stderr
        self.assertIn("odd.png", told)
        self.assertIn("-e 'resize width=9 height=8 fit=cover'", told)
        self.smp("concat", "0.png", "odd.png", "-o", "b.gif", "-e", "resize width=9 height=8 fit=cover")

    def test_animations_follow_each_other_with_all_their_pictures(self):
        colours = [np.full((8, 9, 3), 40 * i, np.uint8) for i in range(5)]
        for name, some, times in (("a.gif", colours[:3], [200, 300, 400]), ("b.png", colours[3:], [50, 60])):
            first, *others = (Image.fromarray(one) for one in some)
            first.save(self.folder / name, save_all=True, append_images=others, duration=times)
        self.save("c.png", colours[1])
        self.assertEqual(self.smp("concat", "a.gif", "c.png", "b.png", "-o", "all.gif").stderr, "")
        with Image.open(self.folder / "all.gif") as movie:
            found = []
            for i in range(movie.n_frames):
                movie.seek(i)
                found.append((movie.info["duration"], np.array(movie.convert("RGB"))[0, 0, 0].item()))
        self.assertEqual([value for _, value in found], [0, 40, 80, 40, 120, 160])
        self.assertEqual([time for time, _ in found[:3] + found[4:]], [200, 300, 400, 50, 60])
        self.assertNotEqual(found[3][0], 400)  # one picture has no time of its own
        movie = bytearray((self.folder / "b.png").read_bytes())
        movie[movie.rindex(b"fdAT") + 9] ^= 1
        self.write("broken.png", bytes(movie))
        told = self.smp("concat", "c.png", "broken.png", "-o", "x.gif", status=3).stderr
        self.assertIn("broken.png", told)
        self.assertNotIn("written", told)
        self.assertFalse((self.folder / "x.gif").exists())
        told = self.smp("concat", "a.gif", "-o", "all.tif").stderr
        self.assertIn("the format TIFF has no place for it: how long each picture is shown", told)
        with Image.open(self.folder / "all.tif") as book:
            self.assertEqual(book.n_frames, 3)

    def test_what_the_last_picture_loses_is_told(self):
        noise = np.random.default_rng(3).integers(0, 256, (2, 64, 64, 3), dtype=np.uint8)
        self.save("a.png", noise[0])
        self.save("b.png", noise[1])
        told = self.smp("concat", "a.png", "b.png", "-o", "o.gif").stderr
        self.assertIn("more colours than the 256", told)

    def test_words_of_sounds_are_refused(self):
        self.save("a.png", pattern(9, 9, 3))
        for words in (("--rate", "16000"), ("--channels", "1"), ("--gap", "2")):
            self.assertIn(f"{words[0]} is of sounds, and o.pdf holds pictures",
                          self.smp("concat", "a.png", "-o", "o.pdf", *words, status=2).stderr)
        self.assertIn("standard output gets sounds alone", self.smp("concat", "a.png", "-o", "-", status=2).stderr)

    def test_no_resolution_makes_a_page_without_end(self):
        Image.fromarray(pattern(9, 9, 3)).save(self.folder / "a.tif", dpi=(0.01, 0.01))
        self.assertIn("would be 900 x 900 inches", self.smp("convert", "a.tif", "a.pdf", status=4).stderr)

    def test_what_cannot_be_is_said_and_leaves_nothing(self):
        self.save("a.png", pattern(9, 9, 3))
        self.write("cut.png", (self.folder / "a.png").read_bytes()[:50])
        self.save("c.tif", pattern(9, 9, 1))
        head = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0" + struct.pack("<IIHH", 8000, 16000, 2, 16)
        self.write("s.wav", head + b"data\4\0\0\0abcd")
        self.write("s.pdf", "mine")
        before = self.files()
        for inputs, out, status, says in ((("a.png", "a.png"), "o.png", 2, "a PNG holds one picture"),
                                          (("a.png", "cut.png"), "o.pdf", 3, "cut.png"),
                                          (("a.png", "none.png"), "o.pdf", 3, "none.png"),
                                          (("a.png", "s.wav"), "o.pdf", (2, 4), "s.wav"),
                                          (("a.png", "c.tif"), "s.pdf", 4, "exists")):
            told = self.smp("concat", *inputs, "-o", out, status=status).stderr
            self.assertIn(says, told)
            self.assertEqual(self.files(), before)
        self.assertIn("the same file", self.smp("concat", "a.png", "c.tif", "-o", "c.tif", "-f", status=4).stderr)
        self.assertIn("smempipe concat a.png c.tif -o o.pdf",
                      self.smp("convert", "a.png", "c.tif", "o.pdf", status=2).stderr)
        done = self.smp("concat", "a.png", "c.tif", "-o", "-", "--to", "pdf", text=False, status=(0, 2))
        if not done.returncode:
            self.assertTrue(io.BytesIO(done.stdout).read().endswith(b"%%EOF\n"))


if __name__ == "__main__":
    unittest.main()
