"""Pictures and animations that are written (GIF, WebP, APNG), read again by Pillow, ffmpeg and the program."""
import json
import resource
import shutil
import struct
import subprocess
import unittest
import zlib

import numpy as np
from PIL import Image, ImageCms

from harness import SANITIZED, CliCase, chunk, png_chunks, png_header

FRAMES = ("run", "-e", "flip vertical", "-e", "flip vertical", "--frames")


def changing(random, count, width, height, colours, alpha):
    """Pictures of which parts change, appear and vanish."""
    palette = random.integers(0, 256, (colours, 3), dtype=np.uint8)
    rgb, seen, out = palette[random.integers(0, colours, (height, width))], np.full((height, width), 255, np.uint8), []
    for _ in range(count):
        mask = random.random((height, width)) < random.choice([0, 0.05, 0.9])
        rgb = np.where(mask[..., None], palette[random.integers(0, colours, (height, width))], rgb)
        if alpha:
            mask = random.random((height, width)) < random.choice([0, 0.3])
            seen = np.where(mask, np.where(random.random((height, width)) < 0.5, 0, 255), seen).astype(np.uint8)
        out.append(np.dstack([rgb, seen]) if alpha else rgb)
    return out


def rgba(picture):
    picture = picture if picture.shape[2] == 4 else np.dstack([picture, np.full(picture.shape[:2], 255, np.uint8)])
    return np.where(picture[..., 3:] > 0, picture, 0)  # colours below transparency are nobody's business


class Animations(CliCase):
    def needs(self, name):
        if not any(line.split()[:1] == [name] and "written" in line
                   for line in self.smp("help", "formats").stdout.splitlines()):
            self.skipTest(f"this build writes no {name}")

    def write_raw(self, frames, name="in.raw"):
        self.write(name, b"".join(np.ascontiguousarray(f).tobytes() for f in frames))
        height, width, channels = frames[0].shape
        return "--raw", f"u8x{channels}:{width}x{height}", name

    def frames_of(self, name):
        for old in self.folder.glob("frame-*.npy"):
            old.unlink()
        self.smp("convert", "-q", "--frames", name, "frame-%03d.npy")
        return [np.load(path) for path in sorted(self.folder.glob("frame-*.npy"))]

    def durations(self, name):
        with Image.open(self.folder / name) as movie:
            out = []
            for i in range(movie.n_frames):
                movie.seek(i)
                movie.load()
                out.append(movie.info["duration"])
        return out

    def test_comments_of_a_gif_are_kept(self):
        for comment in ("Made by hand", "x" * 300):
            Image.new("L", (4, 3)).save(self.folder / "a.gif", comment=comment.encode())
            self.assertEqual(self.smp("convert", "-f", "a.gif", "out.png").stderr, "")
            with Image.open(self.folder / "out.png") as picture:
                self.assertEqual(picture.text["Comment"], comment)

    def test_profile_and_xmp_of_a_gif_are_kept(self):
        blocks = lambda data: b"".join(bytes([len(part)]) + part for part in
                                       (data[i:i + 255] for i in range(0, len(data), 255))) + b"\0"
        Image.new("RGB", (4, 3), (9, 8, 7)).save(self.folder / "a.gif")
        data = (self.folder / "a.gif").read_bytes()
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        at, trailer = 13 + 3 * (2 << (data[10] & 7)), bytes([1, *range(255, -1, -1), 0])  # behind the palette
        for text in (b"<x/>", b"<x>" + b"word " * 70 + b"</x>"):
            self.write("b.gif", data[:at] + b"!\xff\x0bICCRGBG1012" + blocks(profile) + b"!\xff\x0bXMP DataXMP" + text +
                       trailer + data[at:])
            self.smp("convert", "-f", "b.gif", "out.png")
            with Image.open(self.folder / "out.png") as picture:
                self.assertEqual(picture.info["icc_profile"], profile)
                self.assertEqual(picture.text["XML:com.adobe.xmp"], text.decode())
            self.write("c.gif", data[:at] + b"!\xff\x0bXMP DataXMP" + blocks(text) + data[at:])
            self.smp("convert", "-f", "c.gif", "out.png")
            with Image.open(self.folder / "out.png") as picture:
                self.assertEqual(picture.text["XML:com.adobe.xmp"], text.decode())

    def test_parts_behind_the_pictures_of_a_gif_that_are_cut_or_long_or_more_are_told(self):
        self.needs("GIF")
        Image.new("RGB", (4, 3), (9, 8, 7)).save(self.folder / "a.gif")
        data = (self.folder / "a.gif").read_bytes()[:-1]
        long = b"!\xfe" + (b"\xff" + b"x" * 255) * ((32 << 20) // 256) + b"\x01x\0;"
        for more, said in ((b"!\xfe\xc8words", "cut short behind its picture 1"),
                           (b"!\xff\x0bXMP DataXMP<x/>", "cut short behind its picture 1"),
                           (b"!\xff\x0bICCRGBG1012\xc8words", "cut short behind its picture 1"),
                           (b"!\xfe\x03one\0!\xfe\x03two\0;", "comments behind the first are left out"),
                           (long, "a comment is left out: it has 33554435 bytes")):
            self.write("b.gif", data + more)
            self.assertIn(said, self.smp("convert", "-f", "b.gif", "out.png", "--max-memory", "24M").stderr)

    def check(self, name, wanted):
        got = self.frames_of(name)
        self.assertEqual(len(got), len(wanted), name)
        with Image.open(self.folder / name) as movie:
            self.assertEqual(movie.n_frames, len(wanted))
            for i, want in enumerate(wanted):
                movie.seek(i)
                self.assertTrue(np.array_equal(rgba(got[i]), rgba(want)), (name, i))
                self.assertTrue(np.array_equal(rgba(np.array(movie.convert("RGBA"))), rgba(want)), (name, i))

    def test_parts_that_change_appear_and_vanish(self):
        self.needs("GIF")
        random = np.random.default_rng(1)
        for turn in range(6):
            width, height = (int(v) for v in random.integers(1, 40, 2))
            wanted = changing(random, 5, width, height, int(random.integers(1, 256)), turn % 2)
            self.assertEqual(self.smp("convert", "-f", "--frames", *self.write_raw(wanted), "o.gif").stderr, "")
            self.check("o.gif", wanted)

    def test_another_program_sees_the_same(self):
        self.needs("GIF")
        if not shutil.which("ffmpeg"):
            self.skipTest("no ffmpeg")
        wanted = changing(np.random.default_rng(2), 4, 31, 22, 40, False)
        self.smp("convert", "--frames", *self.write_raw(wanted), "o.gif")
        got = subprocess.run(["ffmpeg", "-v", "error", "-i", "o.gif", "-fps_mode", "passthrough", "-f", "rawvideo",
                              "-pix_fmt", "rgb24", "-"], cwd=self.folder, stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(got, (self.folder / "in.raw").read_bytes())

    def test_what_the_last_picture_loses_is_told(self):
        noise = np.random.default_rng(3).integers(0, 256, (2, 64, 64, 3), dtype=np.uint8)
        first, second = (Image.fromarray(one) for one in noise)
        first.save(self.folder / "in.webp", save_all=True, append_images=[second], duration=100, lossless=True)
        self.needs("GIF")
        told = self.smp("run", "--frames", "-e", "invert", "in.webp", "o.gif").stderr
        self.assertIn("more colours than the 256", told)

    def test_256_colours_a_picture_are_kept(self):
        self.needs("GIF")
        random = np.random.default_rng(3)
        wanted = []
        for _ in range(3):
            palette = random.integers(0, 256, (256, 3), dtype=np.uint8)
            wanted.append(palette[random.permutation(1024).reshape(32, 32) % 256])
            wanted.append(np.where(random.random((32, 32, 1)) < 0.5, wanted[-1], palette[0]))  # much stays
        self.assertEqual(self.smp("convert", "--frames", *self.write_raw(wanted), "o.gif").stderr, "")
        self.check("o.gif", wanted)

    def test_unchanged_parts_are_left_out(self):
        self.needs("GIF")
        random = np.random.default_rng(4)
        still = random.integers(0, 16, (60, 80, 3), dtype=np.uint8) * 16
        wanted = [still.copy() for _ in range(9)]
        for i, picture in enumerate(wanted):
            picture[5:9, 7 * i:7 * i + 4] = 0
        self.smp("convert", "-q", "--frames", *self.write_raw(wanted), "o.gif")
        self.smp("convert", "-q", "--raw", "u8x3:80x60", "in.raw", "one.gif")
        one, all_of_them = ((self.folder / n).stat().st_size for n in ("one.gif", "o.gif"))
        self.assertLess(all_of_them, one + 9 * 400)

    def test_delays_and_repeats_stay(self):
        self.needs("GIF")
        pictures = [Image.new("RGB", (9, 7), (40 * i, 0, 0)) for i in range(4)]
        delays = [70, 400, 20, 130]
        for loop, said in ((0, {"loop": 0}), (3, {"loop": 3}), (None, {})):
            pictures[0].save(self.folder / "in.gif", save_all=True, append_images=pictures[1:], duration=delays, **said)
            self.smp(*FRAMES, "-f", "in.gif", "o.gif")
            self.assertEqual(self.durations("o.gif"), delays)
            with Image.open(self.folder / "o.gif") as movie:
                self.assertEqual(movie.info.get("loop"), loop)
        self.smp(*FRAMES, "in.gif", "p.gif", "--delay", "50", "--loop", "2")
        self.assertEqual(self.durations("p.gif"), [50] * 4)
        with Image.open(self.folder / "p.gif") as movie:
            self.assertEqual(movie.info.get("loop"), 1)
        told = self.smp(*FRAMES, "in.gif", "o.y4m").stderr
        self.assertIn("pictures have different delays, which a Y4M does not know", told)
        self.write("v.y4m", b"YUV4MPEG2 W2 H2 F30:1 Cmono\n" + 30 * b"FRAME\n\1\2\3\4")
        self.smp("convert", "--frames", "v.y4m", "v.gif")
        self.assertEqual(sum(self.durations("v.gif")), 1000)  # of 3 and 4 hundredths
        told = self.smp("convert", "--frames", "v.y4m", "w.gif", "--delay", "5").stderr
        self.assertIn("--delay 20 is the quickest", told)

    def test_pictures_in_front_of_damage_are_read(self):
        self.needs("GIF")
        wanted = changing(np.random.default_rng(14), 4, 31, 22, 40, False)
        self.smp("convert", "--frames", *self.write_raw(wanted), "o.gif")
        data = (self.folder / "o.gif").read_bytes()
        for broken, count in ((data[:-1], 4), (data[:-1] + b"x;", 4), (data[:-9], 3)):
            self.write("b.gif", broken)
            told = self.smp("convert", "-f", "b.gif", "o.npy").stderr
            self.assertIn(f"damaged or cut short behind its picture {count}", told)
            self.assertTrue(np.array_equal(rgba(np.load(self.folder / "o.npy")), rgba(wanted[0])))
            for got, want in zip(self.frames_of("b.gif"), wanted[:count], strict=True):
                self.assertTrue(np.array_equal(rgba(got), rgba(want)))
        self.write("b.gif", data[:60])
        self.smp("convert", "b.gif", "x.png", status=3)
        self.write("b.gif", data[:6] + b"\x05\0\x03\0" + data[10:])
        self.assertIn("canvas is too small", self.smp("convert", "-f", "b.gif", "o.npy").stderr)
        self.assertTrue(np.array_equal(rgba(np.load(self.folder / "o.npy")), rgba(wanted[0])))

    def test_too_many_colours_are_told(self):
        self.needs("GIF")
        y, x = np.mgrid[0:64, 0:64].astype(np.uint8)
        Image.fromarray(np.dstack([4 * x, 4 * y, x + y])).save(self.folder / "a.png")
        told = self.smp("convert", "a.png", "a.gif").stderr
        self.assertIn("more colours than the 256 of a GIF", told)
        self.assertIn("'palette 256 dither=diffuse'", told)
        got, want = (np.array(Image.open(self.folder / n).convert("RGB")).astype(float) for n in ("a.gif", "a.png"))
        self.assertLess(np.abs(got - want).mean(), 6)
        for threads in ("1", "2"):
            self.smp("convert", "-q", "a.png", f"{threads}.gif", "--threads", threads)
        self.assertEqual((self.folder / "1.gif").read_bytes(), (self.folder / "2.gif").read_bytes())
        self.assertEqual(self.smp("run", "-e", "palette 256 dither=diffuse", "a.png", "b.gif").stderr, "")
        self.smp("run", "-e", "palette 256 dither=diffuse", "a.png", "b.png")
        got, want = (np.array(Image.open(self.folder / n).convert("RGB")) for n in ("b.gif", "b.png"))
        self.assertTrue(np.array_equal(got, want))

    def test_gray_transparency_and_depth(self):
        self.needs("GIF")
        gray = np.arange(256, dtype=np.uint8).reshape(16, 16)
        Image.fromarray(gray).save(self.folder / "g.png")
        self.assertEqual(self.smp("convert", "g.png", "g.gif").stderr, "")
        self.assertTrue(np.array_equal(np.array(Image.open(self.folder / "g.gif").convert("L")), gray))
        alpha = np.where(np.arange(256).reshape(16, 16) % 7 < 3, 0, 255).astype(np.uint8)
        Image.fromarray(np.dstack([gray, alpha])).save(self.folder / "t.png")
        self.smp("convert", "-q", "t.png", "t.gif")
        got = np.array(Image.open(self.folder / "t.gif").convert("RGBA"))
        self.assertTrue(np.array_equal(got[..., 3], alpha))
        Image.fromarray(np.dstack([gray, gray])).save(self.folder / "s.png")
        self.assertIn("partly transparent", self.smp("convert", "s.png", "s.gif").stderr)
        got = np.array(Image.open(self.folder / "s.gif").convert("RGBA"))
        self.assertTrue(np.array_equal(got[..., 3] > 0, gray >= 128))
        Image.fromarray(np.arange(0, 6000, 10, np.uint16).reshape(20, 30)).save(self.folder / "d.png")
        self.assertIn("8 bits", self.smp("convert", "d.png", "d.gif").stderr)

    def test_what_has_no_place_is_told_or_refused(self):
        self.needs("GIF")
        exif = Image.Exif()
        exif[0x010E] = "Rain"
        Image.new("RGB", (4, 3)).save(self.folder / "a.jpg", exif=exif, comment=b"hi")
        self.assertIn("the format GIF has no place for it: EXIF", self.smp("convert", "a.jpg", "a.gif").stderr)
        self.smp("run", "-e", "canvas 1x1 black", "wide.png")
        self.smp("run", "-q", "-e", "resize width=65536 height=1 fit=stretch", "wide.png", "o.gif", status=4)
        one = self.smp("convert", "--frames", "a.jpg", "b.gif", status=2).stderr
        self.assertIn("--frames is for inputs of many", one)
        self.assertIn("exists", self.smp("convert", "a.jpg", "a.gif", status=4).stderr)
        self.assertEqual(json.loads(self.smp("info", "--json", "a.gif").stdout)["width"], 4)

    def test_a_first_picture_that_is_taken_back(self):
        """By 3, and by 4 as some programs write it: the canvas was empty before it."""
        self.needs("GIF")
        first, second = np.full((6, 8, 3), (255, 0, 0), np.uint8), np.full((6, 8, 3), (0, 255, 0), np.uint8)
        second[2:] = first[2:]
        self.smp("convert", "--frames", *self.write_raw([first, second]), "in.gif")
        data = (self.folder / "in.gif").read_bytes()
        for disposal in (3, 4):
            at = data.index(b"\x21\xF9\x04") + 3
            self.write("o.gif", data[:at] + bytes([data[at] & ~0x1C | disposal << 2]) + data[at + 1:])
            got = self.frames_of("o.gif")
            self.assertEqual([v.shape[2] for v in got], [4, 4])
            self.assertTrue((got[0][..., 3] == 255).all() and (got[1][2:, :, 3] == 0).all(), disposal)
            self.assertTrue((got[1][:2] == (0, 255, 0, 255)).all())

    def test_png_moves_too(self):
        random = np.random.default_rng(11)
        for turn in range(4):
            width, height = (int(v) for v in random.integers(1, 40, 2))
            wanted = changing(random, 5, width, height, 200, turn % 2)
            self.smp("convert", "-f", "--frames", *self.write_raw(wanted), "o.apng", "--delay", "70")
            self.check("o.apng", wanted)
            self.assertEqual(self.durations("o.apng"), [70] * 5)
            self.smp("convert", "-f", "-q", "o.apng", "first.npy")
            self.assertTrue(np.array_equal(np.load(self.folder / "first.npy"), wanted[0]))
        pictures = [Image.new("RGB", (9, 7), (40 * i, 0, 0)) for i in range(4)]
        pictures[0].save(self.folder / "in.png", save_all=True, append_images=pictures[1:], loop=3,
                         duration=[70, 400, 20, 130])
        for name in ("a.apng", "b.gif", "c.apng"):
            self.smp(*FRAMES, "in.png" if name == "a.apng" else previous, name)
            previous = name
            self.assertEqual(self.durations(name), [70, 400, 20, 130], name)
        with Image.open(self.folder / "c.apng") as movie:
            self.assertEqual(movie.info["loop"], 3)
        deep = random.integers(0, 65536, (3, 6, 5, 4), dtype=np.uint16)
        deep[1:, :3] = deep[0, :3]
        self.write("deep.raw", deep.tobytes())
        self.smp("convert", "--frames", "--raw", "u16lex4:5x6", "deep.raw", "deep.apng")
        self.assertTrue(np.array_equal(self.frames_of("deep.apng"), deep))
        self.assertIn("goes into a file", self.smp("convert", "--frames", "in.png", "-", "--format", "apng",
                                                   status=4).stderr)

    def test_a_png_of_parts_that_blend_and_vanish_is_read_as_others_read_it(self):
        if not shutil.which("ffmpeg"):
            self.skipTest("no ffmpeg")
        random = np.random.default_rng(12)
        for kind, channels in ((0, 1), (2, 3), (3, 1), (6, 4), (4, 2)):
            pieces, number, ops = [], 0, []
            head = struct.pack(">IIBBBBB", 16, 12, 8, kind, 0, 0, 0)
            for i in range(7):
                x, y = (int(v) for v in random.integers(0, 8, 2)) if i else (0, 0)
                w, h = (int(random.integers(1, 16 - x)), int(random.integers(1, 12 - y))) if i else (16, 12)
                ops.append((int(random.integers(0, 2)), int(random.integers(0, 2))))
                pieces.append(chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, w, h, x, y, 1, 10, *ops[-1])))
                number += 1
                samples = random.integers(0, 4 if kind == 3 else 256, (h, w * channels), dtype=np.uint8)
                if kind in (4, 6):
                    samples[:, channels - 1::channels] = np.where(samples[:, channels - 1::channels] < 99, 0, 255)
                data = zlib.compress(b"".join(b"\0" + row.tobytes() for row in samples))
                pieces.append(chunk(b"IDAT", data) if not i else chunk(b"fdAT", struct.pack(">I", number) + data))
                number += i > 0
            palette = chunk(b"PLTE", random.bytes(12)) + chunk(b"tRNS", b"\xff\0\xff") if kind == 3 else b""
            self.write("a.png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(
                b"acTL", struct.pack(">II", 7, 0)) + palette + b"".join(pieces) + chunk(b"IEND", b""))
            done = subprocess.run(["ffmpeg", "-v", "error", "-f", "apng", "-i", "a.png", "-fps_mode", "passthrough",
                                   "-f", "rawvideo", "-pix_fmt", "rgba", "-"], cwd=self.folder, check=True,
                                  stdout=subprocess.PIPE)
            wanted = np.frombuffer(done.stdout, np.uint8).reshape(-1, 12, 16, 4)[:7]
            got = self.frames_of("a.png")
            self.assertEqual(len(got), 7)
            for i, (one, other) in enumerate(zip(got, wanted, strict=True)):
                one = np.concatenate([np.repeat(one[..., :1], 3, 2), one[..., 1:]], 2) if one.shape[2] < 3 else one
                if kind in (0, 2):  # what vanished is black there
                    one, other = one[..., :3], other[..., :3]
                self.assertTrue(np.array_equal(rgba(one), rgba(other)), (kind, i, ops))

    def test_damage_of_a_png_that_moves_is_told(self):
        random = np.random.default_rng(13)
        self.smp("convert", "--frames", *self.write_raw(changing(random, 4, 30, 20, 99, True)), "in.apng")
        whole = (self.folder / "in.apng").read_bytes()
        pieces = png_chunks(whole)
        control = [i for i, (name, _) in enumerate(pieces) if name in (b"fcTL", b"fdAT")]

        def changed(which, at, value):
            name, data = pieces[control[which]]
            data = data[:at] + struct.pack(">I", value) + data[at + 4:]
            return whole[:8] + b"".join(chunk(n, data if i == control[which] else d) for i, (n, d) in enumerate(pieces))
        files = {"lies outside of its canvas": changed(1, 12, 29), "are not in order": changed(1, 0, 7),
                 "its end is missing": whole[:-40], "it has no picture": whole[:8] + b"".join(
                     chunk(b"fcTx" if n == b"fcTL" else n, d) for n, d in pieces),
                 "checksum of a chunk is wrong": whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:]}
        for words, data in files.items():
            self.write("d.apng", data)
            self.assertIn(words, self.smp("convert", "-f", "--frames", "d.apng", "d-%d.npy", status=3).stderr)
        self.write("d.apng", whole[:8] + b"".join(
            chunk(n, struct.pack(">II", 9, 0) if n == b"acTL" else d) for n, d in pieces))
        self.assertIn("has 4 pictures where its header says 9",
                      self.smp("convert", "-f", "--frames", "d.apng", "d-%d.npy").stderr)
        control = struct.pack(">IIIIIHHBB", 0, 30000, 30000, 0, 0, 1, 9, 0, 0)
        self.write("wide.png", png_header(30000, 30000) + chunk(b"acTL", struct.pack(">II", 1, 0)) + chunk(
            b"fcTL", control) + chunk(b"IDAT", bytes(3 << 20)) + chunk(b"IEND", b""))
        told = self.smp("convert", "--frames", "wide.png", "w-%d.npy", status=6, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_DATA, (2 << 30, 2 << 30)) if not SANITIZED else None)
        self.assertIn("out of proportion", told.stderr)
        for _ in range(10 if SANITIZED else 40):
            data = bytearray(whole)
            data[random.integers(33, len(data))] ^= 1 << int(random.integers(0, 8))
            self.write("d.apng", bytes(data))
            done = self.smp("convert", "-f", "--frames", "d.apng", "d-%d.npy", "--max-memory", "256M", status=(0, 3, 6))
            self.assertNotIn("crashed", done.stderr)

    def test_webp_moves_too(self):
        self.needs("WebP")
        random = np.random.default_rng(8)
        for turn in range(4):
            width, height = (int(v) for v in random.integers(1, 40, 2))
            wanted = changing(random, 5, width, height, 200, turn % 2)
            self.smp("convert", "-f", "--frames", *self.write_raw(wanted), "o.webp", "--lossless", "--delay", "70")
            self.check("o.webp", wanted)
            self.assertEqual(self.durations("o.webp"), [70] * 5)
        pictures = [Image.new("RGB", (9, 7), (40 * i, 0, 0)) for i in range(4)]
        pictures[0].save(self.folder / "in.webp", save_all=True, append_images=pictures[1:], loop=3, lossless=True,
                         duration=[70, 400, 20, 130])
        for name in ("a.webp", "b.gif", "c.webp"):
            self.smp(*FRAMES, "in.webp" if name == "a.webp" else previous, name)
            previous = name
            self.assertEqual(self.durations(name), [70, 400, 20, 130], name)
        with Image.open(self.folder / "c.webp") as movie:
            self.assertEqual(movie.info["loop"], 3)
        y, x = np.mgrid[0:40, 0:60]
        smooth = [np.stack([x * 4, y * 6, x + y + 20 * i], -1).astype(np.uint8) for i in range(3)]
        self.smp("convert", "--frames", *self.write_raw(smooth), "l.webp", "--quality", "90")
        for got, want in zip(self.frames_of("l.webp"), smooth, strict=True):
            self.assertLess(np.abs(got[..., :3].astype(int) - want).mean(), 6)


if __name__ == "__main__":
    unittest.main()
