"""Samples without a header (--raw), y4m, and streams of pictures (--frames)."""
import hashlib
import io
import json
import subprocess
import unittest

import numpy as np
import PIL.Image

from harness import CliCase


def y4m(frames, coding="420jpeg", extra=""):
    """Frames are lists of planes."""
    height, width = frames[0][0].shape
    head = f"YUV4MPEG2 W{width} H{height} F30000:1001 Ip A1:1 C{coding}{extra}\n".encode()
    return head + b"".join(b"FRAME\n" + b"".join(p.tobytes() for p in planes) for planes in frames)


def to_rgb(planes, across, down, bits=8, hd=False, full=False):
    """BT.601 and BT.709 as they define it, with each sample of chroma for all pixels that share it."""
    y = planes[0].astype(float)
    height, width = y.shape
    cb, cr = (np.repeat(np.repeat(p.astype(float), 1 << down, 0), 1 << across, 1)[:height, :width] for p in planes[1:])
    red, blue = (0.2126, 0.0722) if hd else (0.299, 0.114)
    step = 2.0**(bits - 8)
    light = y / (2**bits - 1) if full else (y - 16 * step) / (219 * step)
    span = 2**bits - 1 if full else 224 * step
    u, v = (cb - 128 * step) / span, (cr - 128 * step) / span
    r = light + 2 * (1 - red) * v
    b = light + 2 * (1 - blue) * u
    g = (light - red * r - blue * b) / (1 - red - blue)
    white = 65535 if bits > 8 else 255
    return np.clip(np.stack([r, g, b], -1) * white, 0, white)


class Raw(CliCase):
    def raw(self, data, spec, *stages, to="raw", status=0, options=()):
        lines = [word for stage in stages for word in ("-e", stage)]
        return self.smp("run", *lines, "--raw", spec, "--to", to, *options, "-", "-", input=data, text=False,
                        status=status)

    def test_a_picture_is_what_the_spec_says(self):
        got = self.raw(bytes(range(12)), "u8x1:4x3", "transpose").stdout
        self.assertEqual(got.hex(" "), "00 04 08 01 05 09 02 06 0a 03 07 0b")
        self.write("a.bin", b"head" + bytes(range(12)))
        self.smp("run", "-e", "flip vertical", "--raw", "u8x3:2x2@4", "a.bin", "a.npy")
        self.assertEqual(np.load(self.folder / "a.npy").ravel().tolist(), [6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5])
        words = np.array([[1, 256, 65535]], ">u2")
        self.assertEqual(self.raw(words.tobytes(), "u16bex1:3x1", "flip horizontal").stdout,
                         words[:, ::-1].tobytes())
        little = self.raw(words.astype("<u2").tobytes(), "u16lex1:3x1", "flip horizontal").stdout
        self.assertEqual(little, words[:, ::-1].astype("<u2").tobytes())
        floats = np.array([[-1, 0.25, 7]], "<f4")
        self.assertEqual(self.raw(floats.tobytes(), "f32lex1:3x1", "flip horizontal").stdout,
                         floats[:, ::-1].tobytes())

    def test_nothing_behind_a_head_is_lost_from_a_pipe(self):
        rng = np.random.default_rng(4)
        picture, head = rng.integers(0, 256, 500 * 400, "u1").tobytes(), bytes(4200)
        got = self.raw(head + picture, "u8x1:500x400@4200", "invert", "invert").stdout
        self.assertEqual(got, picture)
        sound = rng.integers(-32768, 32768, 100000, "<i2").tobytes()
        got = self.raw(head + sound, "s16lex1:8000@4200", "reverse", "reverse").stdout
        self.assertEqual(len(got), len(sound))
        self.assertEqual(got, sound)

    def test_a_sound_is_what_the_spec_says(self):
        data = bytes.fromhex("0080ff7f")
        self.write("s.raw", data)
        self.smp("run", "-q", "-e", "trim start=0s", "--raw", "s16lex2:8000", "s.raw", "s.npy")
        self.assertEqual(np.load(self.folder / "s.npy").tolist(), [[-1, 0.999969482421875]])
        self.smp("run", "-q", "-e", "trim start=0s", "--raw", "s16lex2:8000", "s.raw", "s.wav")
        self.assertEqual((self.folder / "s.wav").read_bytes()[-4:], data)
        self.assertEqual(json.loads(self.smp("info", "--json", "s.wav").stdout)["rate"], 8000)
        for spec in ("u8x1:8000", "s16lex1:8000", "s24lex1:8000", "s32lex1:8000", "f32lex1:8000", "f64lex1:8000"):
            size = {"u8": 1, "s16": 2, "s24": 3, "s32": 4, "f32": 4, "f64": 8}[spec.split("x")[0].replace("le", "")]
            wanted = {4: np.float32(0.5).tobytes(), 8: np.float64(0.5).tobytes()}.get(size * (spec[0] == "f"))
            sample = wanted or (0 if size == 1 else 1 << (8 * size - 2)).to_bytes(size, "little")
            self.assertEqual(self.raw(sample * 3, spec, "reverse").stdout, sample * 3, spec)
        cut = self.raw(data * 2 + b"abc", "s16lex2:8000", "trim start=0s", status=3)
        self.assertEqual(cut.stdout, data * 2)
        self.assertIn(b"3 bytes at the end of the input are not a whole frame", cut.stderr)
        self.write("cut.raw", data * 2 + b"abc")
        cut = self.smp("convert", "--raw", "s16lex2:8000", "cut.raw", "cut.wav", status=3)
        self.assertIn("nothing was written: the input is truncated", cut.stderr)
        self.assertFalse((self.folder / "cut.wav").exists())

    def test_what_does_not_fit_is_said(self):
        for spec, says in (("u9x1:4x3", "no kind of sample"), ("u8:4x3", "number of channels"), ("u8x1", "':'"),
                           ("u8x0:4x3", "channels"), ("u8x1:4x", "height"), ("u8x1:4x3x", "end where"),
                           ("u8x1:0x3", "is 0"), ("s16lex2:4x3", "pictures have no"), ("u16lex2:8000", "sounds have"),
                           ("u8x1:4x3@", "end where"), ("u8x1:99999999999999999999x3", "size")):
            got = self.raw(b"0" * 12, spec, "invert", status=2).stderr.decode()
            self.assertIn(says, got, spec)
            self.assertIn("--raw u8x3:1920x1080", got)
        self.write("a.bin", bytes(30))
        short = self.smp("run", "-e", "invert", "--raw", "u8x1:8x4", "a.bin", "o.png", status=3).stderr
        self.assertIn("expected a picture of 32 bytes, got 30", short)
        self.assertIn("6 bytes follow", self.smp("run", "-e", "invert", "--raw", "u8x1:8x3", "a.bin", "o.png").stderr)
        self.assertIn("4 more pictures follow",
                      self.smp("run", "-f", "-e", "invert", "--raw", "u8x1:3x2", "a.bin", "o.png").stderr)
        self.assertEqual(self.smp("run", "-f", "-e", "invert", "--raw", "u8x1:3x2", "--page", "5", "a.bin",
                                  "o.png").stderr, "")
        self.assertIn("the input has 5",
                      self.smp("info", "--raw", "u8x1:3x2", "--page", "6", "a.bin", status=3).stderr)
        huge = self.smp("info", "--raw", "u8x4:4000000000x4000000000", "a.bin", status=6).stderr
        self.assertIn("past what can be counted", huge)
        self.assertEqual(self.files(), ["a.bin", "o.png"])


class Frames(CliCase):
    def video(self, count=5, width=17, height=9, seed=1):
        random = np.random.default_rng(seed)
        shapes = ((height, width), (height + 1 >> 1, width + 1 >> 1), (height + 1 >> 1, width + 1 >> 1))
        return [[random.integers(16, 236, s, dtype=np.uint8) for s in shapes] for _ in range(count)]

    def test_whole_pictures_before_a_part_are_written(self):
        got = self.smp("run", "-e", "invert", "--raw", "u8x1:4x3", "--frames", "-", "-", input=bytes(range(30)),
                       text=False, status=3)
        self.assertEqual(got.stdout, bytes(255 - i for i in range(24)))
        self.assertIn(b"expected a picture of 12 bytes, got 6", got.stderr)
        self.write("in.raw", bytes(range(30)))
        self.smp("run", "-e", "invert", "--raw", "u8x1:4x3", "--frames", "in.raw", "o.raw", status=3)
        self.assertEqual((self.folder / "o.raw").read_bytes(), got.stdout)
        self.smp("run", "-e", "invert", "--raw", "u8x1:4x3", "--frames", "in.raw", "o%d.png", status=3)
        self.assertEqual(self.files(), ["in.raw", "o.raw", "o1.png", "o2.png"])
        self.smp("run", "-e", "invert", "--raw", "u8x1:8x4", "--frames", "in.raw", "n.raw", status=3)
        self.assertNotIn("n.raw", self.files())

    def test_each_picture_is_as_if_alone(self):
        frames = [np.random.default_rng(i).integers(0, 256, (40, 30, 3), dtype=np.uint8) for i in range(9)]
        self.write("in.raw", b"".join(f.tobytes() for f in frames))
        stages = ("-e", "gaussian 2px", "-e", "equalize", "-e", "resize 50%")
        self.smp("run", *stages, "--raw", "u8x3:30x40", "--frames", "in.raw", "o.raw")
        whole = (self.folder / "o.raw").read_bytes()
        size = len(whole) // 9
        for i, frame in enumerate(frames):
            alone = self.smp("run", *stages, "--raw", "u8x3:30x40", "--to", "raw", "-", "-", input=frame.tobytes(),
                             text=False).stdout
            self.assertEqual(whole[i * size:(i + 1) * size], alone, i)

    def test_luma_and_chroma_become_colours(self):
        random = np.random.default_rng(3)
        for coding, across, down in (("420jpeg", 1, 1), ("420mpeg2", 1, 1), ("420", 1, 1), ("422", 1, 0), ("444", 0, 0),
                                     ("411", 2, 0), ("420p10", 1, 1), ("422p12", 1, 0), ("444p16", 0, 0)):
            bits = int(coding.split("p")[1]) if coding[3:4] == "p" and coding[4:].isdigit() else 8
            for height, width, extra in ((7, 70, ""), (6, 131, " XCOLORRANGE=FULL"), (5, 1281, "")):
                shapes = [(height, width)] + 2 * [((height + down) >> down, -(-width // (1 << across)))]
                planes = [random.integers(0, 1 << bits, s).astype("<u2" if bits > 8 else "u1") for s in shapes]
                self.write("in.y4m", y4m([planes], coding, extra))
                self.smp("run", "-f", "-e", "flip horizontal", "-e", "flip horizontal", "in.y4m", "o.npy")
                want = to_rgb(planes, across, down, bits, width >= 1280, bool(extra))
                error = np.abs(np.load(self.folder / "o.npy") - want).max()
                self.assertLess(error, 0.53, (coding, height, width, extra))  # rounding, and factors of 13 bits

    def test_what_is_not_changed_is_written_as_it_was(self):
        """Chroma that a gamut of 8-bit RGB holds comes back within a step."""
        random = np.random.default_rng(4)
        for coding, across, down in (("420jpeg", 1, 1), ("422", 1, 0), ("444", 0, 0), ("411", 2, 0), ("420p10", 1, 1),
                                     ("mono", 0, 0), ("mono12", 0, 0)):
            bits = {"420p10": 10, "mono12": 12}.get(coding, 8)
            step = 1 << (bits - 8)
            kind = "<u2" if bits > 8 else "u1"
            shapes = [(13, 67)] + 2 * [((13 + down) >> down, -(-67 // (1 << across)))]
            ranges = [(96 * step, 160 * step)] + 2 * [(112 * step, 144 * step)]
            frames = [[random.integers(*r, s).astype(kind) for s, r in zip(shapes, ranges)] for _ in range(3)]
            if "mono" in coding:
                frames = [planes[:1] for planes in frames]
            self.write("in.y4m", y4m(frames, coding))
            self.smp("run", "-f", "-e", "flip vertical", "-e", "flip vertical", "--frames", "in.y4m", "o.y4m")
            before, after = (self.folder / n for n in ("in.y4m", "o.y4m"))
            head = after.read_bytes().split(b"\n")[0]
            self.assertTrue(head.startswith(f"YUV4MPEG2 W67 H13 F30000:1001 Ip A1:1 C{coding}".encode()), head)
            self.assertEqual(before.stat().st_size, after.stat().st_size)
            a, b = (np.frombuffer(p.read_bytes().split(b"\n", 1)[1].replace(b"FRAME\n", b""), kind).astype(int)
                    for p in (before, after))
            self.assertLessEqual(np.abs(a - b).max(), 0 if "mono" in coding else 1, coding)

    def test_pictures_of_a_video_by_number(self):
        self.write("v.y4m", y4m(self.video()))
        self.smp("run", "-e", "invert", "--frames", "v.y4m", "f-%03d.png")
        self.assertEqual(self.files(), [f"f-{i:03}.png" for i in range(1, 6)] + ["v.y4m"])
        self.smp("run", "-e", "invert", "--page", "4", "v.y4m", "four.png")
        self.assertEqual((self.folder / "four.png").read_bytes(), (self.folder / "f-004.png").read_bytes())
        self.assertIn("5 pictures", self.smp("run", "-f", "-e", "invert", "v.y4m", "one.png").stderr)
        self.assertIn("exists", self.smp("run", "-e", "invert", "--frames", "v.y4m", "f-%03d.png", status=4).stderr)
        self.assertIn("there is no page 6", self.smp("info", "v.y4m", "--page", "6", status=3).stderr)

    def test_an_animation_has_no_pages(self):
        pictures = [PIL.Image.fromarray(np.full((4, 5, 3), 60 * i, np.uint8)) for i in range(4)]
        pictures[0].save(self.folder / "an.gif", save_all=True, append_images=pictures[1:])
        self.assertIn("animation of 4 pictures", self.smp("info", "an.gif").stdout)
        self.assertIn("--frames", self.smp("convert", "an.gif", "o.png", "--page", "3", status=3).stderr)

    def test_what_cannot_be_streams_is_said(self):
        self.write("v.y4m", y4m(self.video()))
        self.write("in.ppm", b"P6 1 1 255 abc")
        self.assertIn("frame-%04d.png",
                      self.smp("run", "-e", "invert", "--frames", "v.y4m", "o.png", status=2).stderr)
        one = self.smp("run", "-e", "invert", "--frames", "in.ppm", "o.y4m", status=2)
        self.assertIn("a PNM holds one", one.stderr)
        sound = self.smp("run", "-e", "reverse", "--frames", "--raw", "u8x1:8000", "in.ppm", "o.wav", status=2)
        self.assertIn("a sound streams", sound.stderr)
        save = ("-e", "invert", "-e", 'save "m.png"', "--frames", "v.y4m", "o.y4m")
        self.assertIn("m.png", self.smp("run", *save, status=2).stderr)
        self.assertEqual(self.files(), ["in.ppm", "v.y4m"])
        self.smp("run", "-e", "invert", "-e", 'save "m%d.png"', "-e", 'save "m.y4m"', "--frames", "v.y4m", "o.y4m")
        self.assertEqual(self.files(),
                         ["in.ppm", "m.y4m"] + [f"m{i}.png" for i in range(1, 6)] + ["o.y4m", "v.y4m"])
        self.write("w.y4m", y4m(self.video(), "444alpha"))
        self.assertIn("'444alpha', which is not", self.smp("info", "w.y4m", status=3).stderr)
        self.write("x.y4m", y4m(self.video())[:-5])
        cut = self.smp("run", "-e", "invert", "--frames", "x.y4m", "x-%d.png", status=3)
        self.assertIn("expected a picture of 243 bytes, got 238", cut.stderr)
        self.assertEqual(len([f for f in self.files() if f.startswith("x-")]), 4)
        broken = y4m(self.video()).replace(b"FRAME\n", b"FRAMX\n", 3).replace(b"FRAMX\n", b"FRAME\n", 2)
        self.write("y.y4m", broken)
        self.assertIn("no picture begins at byte",
                      self.smp("run", "-e", "invert", "--frames", "y.y4m", "y-%d.png", status=3).stderr)

    def test_each_picture_of_an_animation(self):
        """Pictures that stay, that are cleared, that are taken back; Pillow draws them the same."""
        if "GIF" not in [line.split()[0] for line in self.smp("help", "formats").stdout.splitlines() if "read" in line]:
            self.skipTest("this build reads no GIF")
        random = np.random.default_rng(6)
        palette = random.integers(0, 256, 12, dtype=np.uint8)

        def block(x, y, w, h, disposal, interlaced=False):
            """Codes of 3 bits, each row of codes begun anew, so that the decoder's table stays empty."""
            codes = [c for i in random.integers(0, 4, w * h) for c in (4, int(i))] + [5]
            bits = "".join(f"{c:03b}"[::-1] for c in codes)
            packed = bytes(int(bits[i:i + 8][::-1], 2) for i in range(0, len(bits), 8))
            control = bytes([0x21, 0xF9, 4, disposal << 2 | 1, 7, 0, 3, 0])
            parts = b"".join(bytes([len(packed[i:i + 255])]) + packed[i:i + 255] for i in range(0, len(packed), 255))
            size = b"".join(v.to_bytes(2, "little") for v in (x, y, w, h))
            return control + b"," + size + bytes([0x40 * interlaced, 2]) + parts + b"\0"

        head = b"GIF89a" + (19).to_bytes(2, "little") + (11).to_bytes(2, "little") + b"\x81\0\0" + palette.tobytes()
        blocks = (block(0, 0, 19, 11, 1), block(3, 2, 9, 7, 2), block(5, 1, 12, 9, 3, True), block(0, 0, 4, 4, 1))
        self.write("a.gif", head + b"".join(blocks) + b";")
        self.smp("run", "-e", "flip vertical", "-e", "flip vertical", "--frames", "a.gif", "f%d.npy")
        with PIL.Image.open(self.folder / "a.gif") as movie:
            self.assertEqual(movie.n_frames, 4)
            for i in range(4):
                movie.seek(i)
                want, got = np.array(movie.convert("RGBA")), np.load(self.folder / f"f{i + 1}.npy")
                shown = want[..., 3] > 0  # colours below are nobody's business
                self.assertTrue(np.array_equal(got[..., 3], want[..., 3]), i)
                self.assertTrue(np.array_equal(got[shown], want[shown]), i)
        self.smp("run", "-q", "-e", "alpha flatten", "--frames", "a.gif", "a.y4m")
        self.assertIn(b" F100:7 ", (self.folder / "a.y4m").read_bytes()[:60])
        self.write("b.gif", head + blocks[0] + block(0, 0, 20, 12, 1) + b";")
        got = self.smp("run", "-e", "invert", "--frames", "b.gif", "b%d.png").stderr
        self.assertIn("picture 2 reaches beyond the canvas and is cut there", got)
        self.assertIn("b2.png", self.files())
        cleared, inside, rest = block(0, 0, 19, 11, 2), block(10, 2, 8, 6, 2), block(20, 11, 3, 3, 2)
        self.write("c.gif", head + cleared + inside + b";")
        self.write("d.gif", head + cleared + inside.replace(b",\x0a\0\2\0", b",\x10\0\7\0") + rest + rest + b";")
        self.assertEqual(self.smp("convert", "--frames", "c.gif", "c%d.npy").stderr, "")
        told = self.smp("convert", "--frames", "d.gif", "d%d.npy").stderr
        self.assertEqual(told.count("picture 2 reaches beyond the canvas and is cut there"), 1)
        want = np.zeros((11, 19, 4), np.uint8)
        want[7:11, 16:19] = np.load(self.folder / "c2.npy")[2:6, 10:13]
        self.assertTrue(want.any())
        self.assertTrue(np.array_equal(np.load(self.folder / "d2.npy"), want))
        self.assertFalse(np.load(self.folder / "d3.npy").any() or np.load(self.folder / "d4.npy").any())

    def test_each_picture_of_an_animated_webp(self):
        """Pictures of parts of the canvas that are laid on it, replace it, are cleared, as RFC 9649 says; Pillow draws
        them the same, but that libwebp cuts the last bits of each mixture."""
        formats = self.smp("help", "formats").stdout.splitlines()
        if "WebP" not in [line.split()[0] for line in formats if "read" in line]:
            self.skipTest("this build reads no WebP")
        random = np.random.default_rng(6)
        alphas = np.array([0, 0, 1, 90, 128, 254, 255, 255], np.uint8)

        def chunk(kind, data):
            return kind + len(data).to_bytes(4, "little") + data + b"\0" * (len(data) & 1)

        canvas, cleared, drawn = np.zeros((11, 19, 4)), [], []

        def lay(place, samples, flags):
            for part in cleared:
                canvas[part] = 0
            cleared[:] = [place] if flags & 1 else []
            over, under = canvas[place], samples.astype(float)
            a, b = under[..., 3:] / 255, over[..., 3:] / 255 * (1 - under[..., 3:] / 255)
            mixed = (under[..., :3] * a + over[..., :3] * b) / np.maximum(a + b, 1e-9)
            mixed = np.concatenate((np.floor(mixed + 0.5), np.floor(255 * (a + b) + 0.5)), -1)
            canvas[place] = samples if flags & 2 else np.where(a > 0, mixed, over)
            drawn.append(canvas.copy())

        def frame(x, y, w, h, flags, delay=40):
            samples = random.integers(0, 256, (h, w, 4), dtype=np.uint8)
            samples[..., 3] = alphas[random.integers(0, 8, (h, w))]
            still = io.BytesIO()
            PIL.Image.fromarray(samples).save(still, "WEBP", lossless=True, exact=True)
            lay(np.s_[y:y + h, x:x + w], samples, flags)
            coded = still.getvalue()
            place = b"".join(v.to_bytes(3, "little") for v in (x // 2, y // 2, w - 1, h - 1, delay))
            return chunk(b"ANMF", place + bytes([flags]) + coded[coded.index(b"VP8L"):])

        def movie(*frames):
            head = bytes([0x12, 0, 0, 0]) + (18).to_bytes(3, "little") + (10).to_bytes(3, "little")
            body = b"WEBP" + chunk(b"VP8X", head) + chunk(b"ANIM", bytes(6)) + b"".join(frames)
            return b"RIFF" + len(body).to_bytes(4, "little") + body

        frames = (frame(0, 0, 19, 11, 0), frame(2, 4, 9, 7, 0), frame(6, 2, 12, 9, 1), frame(0, 0, 7, 11, 2),
                  frame(4, 0, 15, 10, 0), frame(0, 0, 19, 11, 0))
        self.write("a.webp", movie(*frames))
        self.assertIn("--frames of run and convert reads all", self.smp("info", "a.webp").stderr)
        self.smp("run", "-e", "flip vertical", "-e", "flip vertical", "--frames", "a.webp", "f%d.npy")
        with PIL.Image.open(self.folder / "a.webp") as movie_of_pillow:
            self.assertEqual(movie_of_pillow.n_frames, 6)
            for i, want in enumerate(drawn):
                got = np.load(self.folder / f"f{i + 1}.npy").astype(int)
                shown = want[..., 3] > 0  # colours below are nobody's business
                self.assertTrue(np.array_equal(got[..., 3], want[..., 3]), i)
                self.assertTrue(np.array_equal(got[shown], want[shown]), i)
                movie_of_pillow.seek(i)
                theirs = np.array(movie_of_pillow.convert("RGBA")).astype(int)
                self.assertLessEqual(np.abs(got[..., 3] - theirs[..., 3]).max(), 3, i)
                self.assertLessEqual(np.abs(got - theirs)[shown & (theirs[..., 3] > 64)].max(), 5, i)
        self.smp("run", "-q", "-e", "alpha flatten", "--frames", "a.webp", "a.y4m")
        self.assertIn(b" F1000:40 ", (self.folder / "a.y4m").read_bytes()[:60])
        inside = frame(10, 0, 9, 4, 0)
        self.write("b.webp", movie(frames[0], inside[:8] + bytes([12 // 2]) + inside[9:]))
        self.assertIn("picture 2 lies outside of its canvas",
                      self.smp("run", "-e", "invert", "--frames", "b.webp", "b%d.png", status=3).stderr)
        self.assertIn("animation of 2 pictures", self.smp("convert", "b.webp", "b.png").stderr)  # the first is whole
        self.write("c.webp", movie(frames[0], frame(0, 0, 4, 4, 0, delay=50)))
        self.assertIn("different delays", self.smp("run", "-e", "alpha flatten", "--frames", "c.webp", "c.y4m").stderr)
        PIL.Image.fromarray(np.zeros((4, 5, 3), np.uint8)).save(self.folder / "still.webp")
        self.smp("run", "-e", "invert", "--frames", "still.webp", "still%d.png")
        self.assertIn("still1.png", self.files())

    def test_convert_writes_each_picture(self):
        self.write("a.raw", bytes(range(24)))
        raw = ("--raw", "u8x1:4x3", "--frames")
        self.smp("convert", "a.raw", "f%d.png", *raw, "--resize", "2x")
        for number in (1, 2):
            self.assertEqual(PIL.Image.open(self.folder / f"f{number}.png").size, (2, 2))
        self.assertFalse((self.folder / "f3.png").exists())
        done = self.smp("convert", "a.raw", "-o", "out", "--to", "png", *raw, status=2)
        self.assertIn("write smempipe convert IN 'frame-%04d.png' --frames", done.stderr)
        self.assertIn("--frames of run and convert reads all", self.smp("convert", "a.raw", "one.png", *raw[:2]).stderr)

    def test_a_line_of_json_for_each_picture(self):
        frames = [np.full((4, 6), v, np.uint8) for v in (10, 20, 30)]
        self.write("in.raw", b"".join(f.tobytes() for f in frames))
        self.smp("run", "-e", "stats", "-e", "invert", "--raw", "u8x1:6x4", "--frames", "--report=r.jsonl", "in.raw",
                 "o.raw")
        lines = [json.loads(line) for line in (self.folder / "r.jsonl").read_text().splitlines()]
        self.assertEqual([line["frame"] for line in lines], [1, 2, 3])
        for line, value in zip(lines, (10, 20, 30)):
            mean = [f for f in line["measured"][0]["findings"] if f["name"] == "mean"][0]
            self.assertEqual(mean["value"], value)

    def test_programs_side_by_side(self):
        """Pictures come out while others still come in, in order, in memory for a few."""
        size, count = 64 * 48 * 3, 400
        process = self.begin("run", "-e", "invert", "--raw", "u8x3:64x48", "--frames", "-", "-", text=False,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None)
        for i in range(count):
            process.stdin.write(bytes([i & 255]) * size)
            process.stdin.flush()
            if i >= 8:
                got = process.stdout.read(size)
                self.assertEqual(got, bytes([255 - (i - 8 & 255)]) * size)
        process.stdin.close()
        rest = process.stdout.read()
        process.stdout.close()
        self.assertEqual(process.wait(), 0)
        want = b"".join(bytes([255 - (i & 255)]) * size for i in range(count - 8, count))
        self.assertEqual(hashlib.sha1(rest).hexdigest(), hashlib.sha1(want).hexdigest())

    def test_memory_is_that_of_a_few_pictures(self):
        with open(self.folder / "in.raw", "wb") as file:
            file.truncate(100 * 640 * 480 * 3)
        peak = self.peak("run", "-q", "-e", "invert", "--raw", "u8x3:640x480", "--frames", "in.raw", "o.raw")
        self.assertLess(peak, 40 << 20)


if __name__ == "__main__":
    unittest.main()
