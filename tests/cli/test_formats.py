"""Formats that libraries read: what files of other programs give, in the process that decodes, and what damage and
hostile headers do."""
import hashlib
import json
import unittest

import numpy as np

from harness import ROOT, CliCase

DATA = ROOT / "tests" / "data" / "formats"


class Formats(CliCase):
    def needs(self, name, use="read"):
        for line in self.smp("help", "formats").stdout.splitlines():
            if line.split()[:1] == [name]:
                if use not in line:
                    self.skipTest(f"this build has no library for {name}")
                return
        self.fail(f"help formats does not list {name}")

    def samples(self, name, *options):
        self.smp("run", "-f", "-q", "-e", "stats", name, "o.npy", *options)
        return np.load(self.folder / "o.npy")

    def digest(self, name, *options):
        return hashlib.sha1(np.ascontiguousarray(self.samples(name, *options)).tobytes()).hexdigest()[:12]

    def info(self, name, *options):
        return json.loads(self.smp("info", "-q", "--json", name, *options).stdout)

    def test_tiffs_of_other_programs(self):
        self.needs("TIFF")
        for name, digest, detail in (
            ("strips-be-lzw.tif", "338625bfdfc8", "RGB, LZW"),
            ("tiled-big-float.tif", "deda0819bd60", "gray, Deflate, tiles, BigTIFF"),
            ("pages-packbits.tif", "6712b28b1ada", "gray, PackBits, page 1 of 2"),
            ("g4.tif", "dffd778120ba", "gray, CCITT G4"),
        ):
            self.assertEqual(self.digest(DATA / name), digest, name)
            self.assertEqual(self.info(DATA / name)["detail"], detail)

    def test_pages_of_a_tiff(self):
        self.needs("TIFF")
        two = DATA / "pages-packbits.tif"
        self.assertEqual(self.info(two)["pages"], 2)
        self.assertIn("the file holds 2 pages; the first is read", self.smp("info", two).stderr)
        first, second = self.samples(two, "--page", "1"), self.samples(two, "--page", "2")
        self.assertTrue(np.array_equal(first[::-1], second))
        self.assertEqual(self.smp("run", "-f", "-e", "stats", two, "o.npy", "--page", "2").stderr, "")
        self.assertIn("there is no page 3", self.smp("info", two, "--page", "3", status=3).stderr)
        self.small_png()
        self.assertIn("a PNG holds one", self.smp("info", "in.png", "--page", "2", status=3).stderr)
        piped = self.smp("run", "-q", "-e", "stats", "-", "p.npy", "--page", "2", input=two.read_bytes(), text=False)
        self.assertEqual(piped.returncode, 0)
        self.assertTrue(np.array_equal(np.load(self.folder / "p.npy"), second))

    def test_tiffs_are_written(self):
        self.needs("TIFF")
        self.small_png()
        want, sizes = self.digest("in.png"), []
        for kind in ("none", "lzw", "deflate"):
            for threads in ("1", "3"):
                name = f"{kind}{threads}.tif"
                self.smp("run", "-e", "stats", "in.png", name, "--tiff-compression", kind, "--threads", threads)
            self.assertEqual((self.folder / f"{kind}1.tif").read_bytes(), (self.folder / f"{kind}3.tif").read_bytes())
            self.assertEqual(self.digest(f"{kind}1.tif"), want)
            sizes.append((self.folder / f"{kind}1.tif").stat().st_size)
        self.assertGreater(sizes[0], max(sizes[1:]))
        self.smp("batch", "-e", "stats", "in.png", "-o", "out", "--name", "{stem}.tif", "--tiff-compression", "lzw")
        self.assertEqual((self.folder / "out/in.tif").read_bytes(), (self.folder / "lzw1.tif").read_bytes())
        self.smp("run", "-e", "stats", "in.png", "o.tif", "--tiff-compression", "zip", status=2)

    def test_hostile_tiffs(self):
        self.needs("TIFF")
        for name, status in (("hostile-spp.tif", 3), ("hostile-size.tif", 3), ("hostile-strip.tif", 6)):
            self.smp("run", "-e", "invert", DATA / name, "o.png", status=status)
        self.smp("info", DATA / "strips-be-lzw.tif", "--max-pixels", "700", status=6)
        whole = (DATA / "strips-be-lzw.tif").read_bytes()
        for size in (100, 2000, len(whole) - 1):
            self.write("cut.tif", whole[:size])
            self.assertIn("truncated", self.smp("run", "-e", "invert", "cut.tif", "o.png", status=3).stderr)
        self.assertEqual(self.files(), ["cut.tif"])


    def test_webps_of_other_programs(self):
        self.needs("WebP")
        for name, digest, detail in (
            ("lossless-alpha.webp", "f8e5fb50d198", "lossless, alpha"),
            ("lossy.webp", "f0633641923f", "lossy"),
            ("anim.webp", "d2f4ebe645b1", "lossless, animation"),
        ):
            self.assertEqual(self.digest(DATA / name), digest, name)
            self.assertEqual(self.info(DATA / name)["detail"], detail)
            self.write("cut.webp", (DATA / name).read_bytes()[:400])
            self.assertIn("truncated", self.smp("run", "-e", "invert", "cut.webp", "o.png", status=3).stderr)
        self.assertIn("an animation of 2 pictures; only the first", self.smp("info", DATA / "anim.webp").stderr)
        self.smp("info", DATA / "lossy.webp", "--max-pixels", "3000", status=6)
        self.smp("info", DATA / "lossy.webp", "--max-memory", "9000", status=6)
        piped = self.smp("run", "-e", "stats", "-", "p.npy", input=(DATA / "lossy.webp").read_bytes(), text=False)
        self.assertEqual(piped.returncode, 0)

    def test_webps_are_written(self):
        self.needs("WebP", "written")
        self.small_png(width=60, height=50)
        for name, options in (("80.webp", ()), ("10.webp", ("--quality", "10")), ("all.webp", ("--lossless",))):
            self.smp("run", "-e", "stats", "in.png", name, *options)
        self.assertEqual(self.digest("all.webp"), self.digest("in.png"))
        self.assertLess((self.folder / "10.webp").stat().st_size, (self.folder / "80.webp").stat().st_size)
        self.smp("batch", "-e", "stats", "in.png", "-o", "out", "--name", "{stem}.webp", "--lossless")
        self.assertEqual((self.folder / "out/in.webp").read_bytes(), (self.folder / "all.webp").read_bytes())
        done = self.smp("run", "-e", "stats", "in.png", "o.jpg", "--lossless", status=4)
        self.assertIn("a JPEG always loses some", done.stderr)
        self.assertNotIn("o.jpg", self.files())


if __name__ == "__main__":
    unittest.main()
