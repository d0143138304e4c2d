"""Formats that libraries read: what files of other programs give, in the process that decodes, and what damage and
hostile headers do."""
import hashlib
import json
import os
import socket
import struct
import subprocess
import time
import unittest

import cv2
import numpy as np

from harness import PROGRAM, ROOT, CliCase, chunk, png_bytes

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

    def begin(self, *arguments, **options):
        command = [PROGRAM, *map(os.fspath, arguments)]
        return subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, **options)

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
        self.write("in.ppm", b"P6 1 1 255 abc")
        self.assertIn("a PNM holds one", self.smp("info", "in.ppm", "--page", "2", status=3).stderr)
        piped = self.smp("run", "-q", "-e", "stats", "-", "p.npy", "--page", "2", input=two.read_bytes(), text=False)
        self.assertEqual(piped.returncode, 0)
        self.assertTrue(np.array_equal(np.load(self.folder / "p.npy"), second))

    def test_every_page_becomes_a_file(self):
        self.needs("TIFF")
        (self.folder / "in").mkdir()
        two = self.folder / "in" / "two.tif"
        two.write_bytes((DATA / "pages-packbits.tif").read_bytes())
        self.small_png("in/one.png")
        self.write("in/bad.tif", b"II*\0nothing")
        plan = self.smp("batch", "-e", "invert", "in", "-o", "out", "--pages", "all", "-n", status=1).stdout
        self.assertIn("in/two.tif -> out/two-2.tif\n", plan)
        failed = self.smp("batch", "-e", "flip vertical", "in", "-o", "out", "--pages", "all", "--to", "npy", status=1)
        self.assertIn("in/bad.tif", failed.stderr)
        self.assertEqual(self.files(), ["in/bad.tif", "in/one.png", "in/two.tif", "out/.smempipe-journal",
                                        "out/.smempipe-journal.lock", "out/one.npy", "out/two-1.npy", "out/two-2.npy"])
        first, second = (np.load(self.folder / "out" / f"two-{i}.npy") for i in (1, 2))
        self.assertTrue(np.array_equal(first, second[::-1]))
        again = self.smp("batch", "-e", "flip vertical", "in", "-o", "out", "--pages", "all", "--to", "npy", "--resume",
                         status=1).stderr
        self.assertIn("3 done before", again)
        self.assertIn("exclude", self.smp("batch", "-e", "invert", "in", "-o", "o", "--pages", "all", "--page", "2",
                                          status=2).stderr)

    def test_tiffs_are_written(self):
        self.needs("TIFF")
        self.small_png()
        want, sizes = self.digest("in.png"), []
        for kind in ("none", "lzw", "deflate", "zstd"):
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

    def test_tiffs_of_tiles(self):
        self.needs("TIFF")
        rng = np.random.default_rng(1)
        for shape, dtype in (((70, 100, 3), np.uint8), ((33, 16), np.uint16), ((15, 130), np.float32)):
            array = (rng.random(shape) * 255).astype(dtype)
            np.save(self.folder / "in.npy", array)
            written = []
            for kind in ("none", "lzw", "deflate", "zstd"):
                for threads in ("1", "3"):
                    self.smp("run", "-f", "-e", "stats", "in.npy", "o.tif", "--tiff-compression", kind, "--tiff-tile",
                             "32", "--threads", threads)
                    written.append((self.folder / "o.tif").read_bytes())
                    got = cv2.imread(str(self.folder / "o.tif"), cv2.IMREAD_UNCHANGED)
                    self.assertTrue(np.array_equal(got[..., ::-1] if got.ndim == 3 else got, array), (kind, shape))
                self.assertEqual(written[-1], written[-2])
                self.assertIn("tiles", self.smp("info", "o.tif").stdout)
        self.assertIn("multiple of 16", self.smp("run", "-e", "stats", "in.npy", "no.tif", "--tiff-tile", "40",
                                                 status=2).stderr)

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
            ("anim.webp", "d2f4ebe645b1", "lossless, animation of 2 pictures"),
        ):
            self.assertEqual(self.digest(DATA / name), digest, name)
            self.assertEqual(self.info(DATA / name)["detail"], detail)
            self.write("cut.webp", (DATA / name).read_bytes()[:400])
            self.assertIn("truncated", self.smp("run", "-e", "invert", "cut.webp", "o.png", status=3).stderr)
        self.assertIn("an animation of 2 pictures; only the first", self.smp("info", DATA / "anim.webp").stderr)
        self.smp("info", DATA / "lossy.webp", "--max-pixels", "3000", status=6)
        piped = self.smp("run", "-e", "stats", "-", "p.npy", input=(DATA / "lossy.webp").read_bytes(), text=False)
        self.assertEqual(piped.returncode, 0)

    def test_webps_that_lose_nothing_stay_so(self):
        self.needs("WebP", "written")
        self.smp("convert", DATA / "lossless-alpha.webp", "a.webp")
        self.assertEqual(self.digest("a.webp"), self.digest(DATA / "lossless-alpha.webp"))
        self.smp("convert", DATA / "lossless-alpha.webp", "b.webp", "-e", "flip vertical", "--strip")
        self.assertIn("lossless", self.info("b.webp")["detail"])
        self.assertIn("--quality does nothing: a WebP without loss (--lossless) has none",
                      self.smp("convert", DATA / "lossy.webp", "e.webp", "--quality", "80", "--lossless").stderr)
        self.smp("convert", DATA / "lossless-alpha.webp", "c.webp", "--quality", "80")
        self.assertIn("lossy", self.info("c.webp")["detail"])
        self.smp("convert", DATA / "lossy.webp", "d.webp")
        self.assertIn("lossy", self.info("d.webp")["detail"])

    def test_animations_of_which_one_picture_is_read(self):
        self.write("a.png", png_bytes([bytes(9)] * 2, 3, extra=chunk(b"acTL", b"\0\0\0\3\0\0\0\0")))
        self.assertIn("animation of 3 pictures; only the first is read; --frames of run and convert",
                      self.smp("convert", "a.png", "o.png").stderr)
        self.assertIn("no pages, but may hold several pictures",
                      self.smp("convert", "a.png", "p.png", "--page", "2", status=3).stderr)
        self.write("a.ppm", b"P6 1 1 255 abc")
        self.assertIn("a PNM holds one", self.smp("convert", "a.ppm", "f-%d.png", "--frames", status=2).stderr)
        self.needs("WebP")
        self.assertIn("no pages, but may hold several pictures",
                      self.smp("convert", DATA / "anim.webp", "o.png", "--page", "2", status=3).stderr)

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

    def test_heic_and_avif_of_other_programs(self):
        self.needs("HEIC")
        for name, digest, corner in (("photo.heic", "9695a962fec4", (153.4, 125.2, 109.8)),
                                     ("photo.avif", "1fdf687b7f21", (153.2, 123.6, 110.7)),
                                     ("turned.avif", "354d0144bd12", (94.5, 67.5, 55.3))):
            if self.digest(DATA / name) != digest:  # libheif 1.15.1 gives it, others differ by a level or two
                np.testing.assert_allclose(self.samples(DATA / name)[:8, :8].mean((0, 1)), corner, atol=2)
            info = self.info(DATA / name)
            self.assertEqual((info["width"], info["height"]), (48, 64) if name == "turned.avif" else (64, 48))
            self.assertEqual(info["orientation"], 1)
            self.write("cut.bin", (DATA / name).read_bytes()[:600])
            self.assertIn("truncated", self.smp("run", "-e", "invert", "cut.bin", "o.png", status=3).stderr)
            large = bytearray((DATA / name).read_bytes())
            at = large.index(b"ispe") + 8
            large[at : at + 8] = struct.pack(">II", 100000, 100000)
            self.write("large.bin", bytes(large))
            self.smp("run", "-e", "invert", "large.bin", "o.png", status=6)

    def test_libheif_is_opened_where_a_file_needs_it(self):
        """A file is known by its content: under another name, in a pipe, among others of a batch."""
        self.needs("HEIC")
        photo = (DATA / "photo.heic").read_bytes()
        self.smp("run", "-e", "invert", DATA / "photo.heic", "want.png")
        (self.folder / "in").mkdir()
        self.write("in/photo.jpg", photo)
        self.small_png("in/other.png")
        self.smp("run", "-e", "invert", "in/photo.jpg", "named.png")
        self.smp("run", "-e", "invert", "-", "stdin.png", input=photo, text=False)
        self.smp("batch", "-e", "invert", "in", "-o", "out", "--to", "png")
        os.mkfifo(self.folder / "pipe")
        writer = subprocess.Popen(["cp", self.folder / "in/photo.jpg", self.folder / "pipe"])
        self.smp("run", "-e", "invert", "pipe", "piped.png")
        writer.wait()
        for name in ("named.png", "stdin.png", "out/photo.png", "piped.png"):
            self.assertEqual((self.folder / name).read_bytes(), (self.folder / "want.png").read_bytes(), name)

    def test_libheif_is_opened_for_what_begins_slowly(self):
        """A few bytes first, and nothing at first, in a pipe, a named one and a socket."""
        self.needs("HEIC")
        photo = (DATA / "photo.heic").read_bytes()
        self.smp("run", "-e", "invert", DATA / "photo.heic", "want.png")
        os.mkfifo(self.folder / "pipe")

        def feed(write, first):
            write(photo[:first])
            time.sleep(0.2)
            write(photo[first:])

        for first in (0, 4):
            ours, theirs = socket.socketpair()
            with ours, theirs:
                process = self.begin("run", "-e", "invert", "-", f"socket{first}.png", stdin=theirs)
                theirs.close()
                feed(ours.sendall, first)
                ours.shutdown(socket.SHUT_WR)
                self.assertEqual(process.communicate()[1], b"")
            process = self.begin("run", "-e", "invert", "-", f"stdin{first}.png", stdin=subprocess.PIPE)
            feed(lambda data, to=process.stdin: (to.write(data), to.flush()), first)
            self.assertEqual(process.communicate()[1], b"")
            process = self.begin("run", "-e", "invert", "pipe", f"piped{first}.png")
            with open(self.folder / "pipe", "wb", buffering=0) as pipe:
                feed(pipe.write, first)
            self.assertEqual(process.communicate()[1], b"")
            for kind in ("socket", "stdin", "piped"):
                self.assertEqual((self.folder / f"{kind}{first}.png").read_bytes(),
                                 (self.folder / "want.png").read_bytes(), (kind, first))

    def test_a_machine_without_libheif(self):
        """What stands in its place here is no library. Everything else is as before."""
        self.needs("HEIC")
        (self.folder / "none").mkdir()
        self.write("none/libheif.so.1", b"no library")
        without = {"env": dict(os.environ, LD_LIBRARY_PATH=str(self.folder / "none"))}
        self.small_png()
        self.smp("run", "-e", "invert", "in.png", "o.png", **without)
        told = self.smp("--version", "-v", **without).stdout
        self.assertIn("not here: AVIF, HEIC\n", told)
        self.write("photo.jpg", (DATA / "photo.heic").read_bytes())
        for arguments, status in ((("photo.jpg", "p.png"), 3), (("in.png", "p.avif"), 4)):
            done = self.smp("run", "-e", "invert", *arguments, status=status, **without)
            self.assertEqual(done.stderr.count("error"), 1)
            self.assertIn("libheif, which HEIC and AVIF need, cannot be opened", done.stderr)
            self.assertIn("apt-get install libheif1", done.stderr)
        self.assertEqual([name for name in self.files() if name.startswith("p.")], [])

    def test_avif_is_written(self):
        self.needs("AVIF", "written")
        self.small_png(width=60, height=50)
        done = self.smp("run", "-e", "stats", "in.png", "60.avif", status=(0, 4))
        if done.returncode:
            self.assertIn("no encoder", done.stderr)
            self.skipTest("no encoder of AV1")
        self.smp("run", "-e", "stats", "in.png", "10.avif", "--quality", "10")
        self.assertLess((self.folder / "10.avif").stat().st_size, (self.folder / "60.avif").stat().st_size)
        got, want = self.samples("60.avif").astype(int), self.samples("in.png").astype(int)
        self.assertLess(np.abs(got - want).mean(), 16)  # colour has half the resolution
        self.assertIn("some loss", self.smp("run", "-e", "stats", "in.png", "o.avif", "--lossless", status=4).stderr)
        self.assertIn("can be written", self.smp("run", "-e", "stats", "in.png", "o.heic", status=4).stderr)

    def test_gifs_of_another_program(self):
        self.needs("GIF")
        refused = self.smp("convert", DATA / "plain.gif", "o.psd", status=4).stderr
        self.assertIn("a .psd is read, and not written\n  = hint: extensions that can be written: .png, .apng", refused)
        self.assertNotIn(".flac", refused)  # of sounds
        y, x = np.mgrid[0:21, 0:37]
        index = (7 * x * x + 13 * y * y + 5 * x * y + 11 * x + 3) % 256
        want = np.stack([index, index * 3 % 256, 255 - index], -1).astype(np.uint8)
        for name in ("interlaced.gif", "moving.gif"):
            self.assertTrue(np.array_equal(self.samples(DATA / name), want), name)
        self.assertIn("an animation of 2 pictures", self.smp("info", DATA / "moving.gif").stderr)
        self.assertEqual(self.info(DATA / "interlaced.gif")["detail"], "palette, interlaced")
        plain = self.samples(DATA / "plain.gif")
        self.assertTrue(np.array_equal(plain[..., :3][index != 3], want[index != 3]))
        self.assertTrue(np.array_equal(plain[..., 3], np.where(index == 3, 0, 255)))
        self.write("cut.gif", (DATA / "plain.gif").read_bytes()[:-20])
        self.assertIn("truncated", self.smp("info", "cut.gif", status=3).stderr)

    def test_qoi_comes_back(self):
        self.small_png()
        self.smp("run", "-e", "stats", "in.png", "o.qoi")
        self.assertEqual(self.digest("o.qoi"), self.digest("in.png"))

    def test_formats_without_their_library_are_passed_over_in_folders(self):
        unread = [line.split()[-1] for line in self.smp("help", "formats").stdout.splitlines() if " not here " in line]
        (self.folder / "in").mkdir()
        self.small_png("in/a.png")
        for extension in unread:
            self.write(f"in/b{extension}", "x")
        self.smp("batch", "-e", "invert", "in", "-o", "out")
        self.assertIn("out/a.png", self.files())


if __name__ == "__main__":
    unittest.main()
