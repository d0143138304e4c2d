"""smempipe show: what a terminal gets by each protocol is the picture, averaged."""
import base64
import os
import re
import unittest

import numpy
import PIL.Image

from harness import SAMPLES, CliCase

PICTURE = numpy.zeros((8, 16, 3), numpy.uint8)
PICTURE[:, :, 0] = numpy.arange(16) * 16
PICTURE[:, :, 1] = numpy.arange(8)[:, None] * 30
PICTURE[2:6, 4:12] = (0, 0, 255)


def sixels(text):
    """Decodes what show writes: registers of RGB in percent, repeats, bands of six rows."""
    width, height = map(int, re.match(r"\033P0;1q\"1;1;(\d+);(\d+)", text).groups())
    body, colours = text[text.index("#"):text.index("\033\\")], {}
    out, x, top, colour = numpy.full((height, width, 3), -1), 0, 0, None
    for mark in re.finditer(r"#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)(.)|([?-~])|(\$)|(-)", body):
        defined, red, green, blue, chosen, times, repeated, one, back, down = mark.groups()
        if defined:
            colours[int(defined)] = [round(int(v) * 2.55) for v in (red, green, blue)]
        elif chosen:
            colour = colours[int(chosen)]
        elif back or down:
            x, top = 0, top + 6 * bool(down)
        else:
            for _ in range(int(times or 1)):
                for bit in range(6):
                    if ord(repeated or one) - 63 >> bit & 1:
                        assert (out[top + bit, x] == -1).all(), "a pixel has two colours"
                        out[top + bit, x] = colour
                x += 1
    return out


class Show(CliCase):
    def shown(self, *options, **environment):
        numpy.save(self.folder / "in.npy", PICTURE)
        clean = {k: v for k, v in os.environ.items() if k not in ("TERM", "TERM_PROGRAM", "KITTY_WINDOW_ID")}
        return self.smp("show", "in.npy", *options, env={**clean, **environment}).stdout

    def test_kitty(self):
        text = self.shown(TERM="xterm-kitty")
        self.assertTrue(text.startswith("\033_Ga=T,f=24,s=16,v=8,m=0;"))
        data = base64.b64decode(re.match(r"\033_G[^;]*;([^\033]*)\033\\\n$", text).group(1))
        self.assertEqual(data, PICTURE.tobytes())

    def test_pictures_stand_upright(self):
        rows = PICTURE.transpose(1, 0, 2)
        seen = [PICTURE, PICTURE[:, ::-1], PICTURE[::-1, ::-1], PICTURE[::-1], rows, rows[:, ::-1],
                rows[::-1, ::-1], rows[::-1]]  # of EXIF's orientations 1 to 8
        for orientation, wanted in enumerate(seen, 1):
            exif = PIL.Image.Exif()
            exif[0x112] = orientation
            PIL.Image.fromarray(PICTURE).save(self.folder / "o.png", exif=exif)
            text = self.smp("show", "o.png", "--as", "kitty").stdout
            self.assertIn(f"s={wanted.shape[1]},v={wanted.shape[0]}", text)
            data = base64.b64decode(re.match(r"\033_G[^;]*;([^\033]*)\033\\\n$", text).group(1))
            self.assertEqual(data, wanted.tobytes(), orientation)
        self.assertIn("s=4,v=8", self.smp("show", "o.png", "--as", "kitty", "--width", "4").stdout)

    def test_kitty_in_pieces(self):
        numpy.save(self.folder / "large.npy", numpy.arange(60 * 70 * 3, dtype=numpy.uint8).reshape(60, 70, 3))
        text = self.smp("show", "large.npy", "--as", "kitty").stdout
        pieces = re.findall(r"\033_G([^;]*);([^\033]*)\033\\", text)
        self.assertEqual([head[-3:] for head, _ in pieces], ["m=1"] * (len(pieces) - 1) + ["m=0"])
        self.assertLessEqual(max(len(data) for _, data in pieces), 4096)
        data = b"".join(base64.b64decode(data) for _, data in pieces)
        self.assertEqual(data, numpy.load(self.folder / "large.npy").tobytes())

    def test_sixel(self):
        text = self.shown("--as", "sixel")
        for program in ("iTerm.app", "WezTerm"):
            self.assertEqual(self.shown(TERM_PROGRAM=program), text)
        got = sixels(text)
        self.assertEqual(got.shape, PICTURE.shape)
        self.assertLessEqual(numpy.abs(got - PICTURE).max(), 52)  # a step of the cube
        self.assertTrue((got[2:6, 4:12] == (0, 0, 255)).all())
        self.assertLess(abs(got.mean() - PICTURE.mean()), 6)

    def test_blocks(self):
        text = self.shown(TERM="xterm-256color")
        self.assertEqual(text.count("\u2580"), 16 * 4)
        first = re.match(r"\033\[38;2;(\d+);(\d+);(\d+)m\033\[48;2;(\d+);(\d+);(\d+)m\u2580", text).groups()
        self.assertEqual(list(map(int, first)), [*PICTURE[0, 0], *PICTURE[1, 0]])
        self.assertTrue(all(line.endswith("\033[0m") for line in text.splitlines()))
        self.assertEqual(self.shown("--as", "blocks", "--width", "4").count("\u2580"), 4 * 1)

    def test_levels(self):
        numpy.save(self.folder / "in.npy", PICTURE)
        lines = self.smp("info", "--levels", "in.npy").stdout.splitlines()[-3:]
        for line, channel in zip(lines, numpy.moveaxis(PICTURE, 2, 0)):
            bars, least, most = re.match(r"  channel \d    \|(.{64})\|  (\d+)\.\.(\d+)$", line).groups()
            self.assertEqual((int(least), int(most)), (channel.min(), channel.max()))
            counts = numpy.bincount(channel.ravel() // 4, minlength=64)
            self.assertEqual([bar != " " for bar in bars], [count > 0 for count in counts])
            self.assertEqual(bars[counts.argmax()], "\u2588")
        self.smp("run", "-e", "fade in=1s", "-e", "gain -20dB", SAMPLES / "chirp.wav", "quiet.wav")
        (line,) = self.smp("info", "--levels", "quiet.wav").stdout.splitlines()[-1:]
        bars, peak = re.match(r"  channel 0    \|(.{64})\|  peak (-[\d.]+) dB$", line).groups()
        self.assertLess(float(peak), -19)
        self.assertLess(bars[0], max(bars))
        (self.folder / "cut.npy").write_bytes((self.folder / "in.npy").read_bytes()[:200])
        self.smp("info", "--levels", "cut.npy", status=3)

    def test_sizes_and_mistakes(self):
        text = self.smp("show", SAMPLES / "chelsea.png", "--as", "kitty", "--width", "45").stdout
        self.assertIn("s=45,v=30,", text)
        sound = self.smp("show", SAMPLES / "chirp.wav", status=3).stderr
        self.assertIn("a sound, and no picture", sound)
        self.assertIn("info --levels", sound)
        both = self.smp("show", "none.png", SAMPLES / "chelsea.png", "--as", "kitty", status=3)
        self.assertIn("none.png", both.stderr)
        self.assertIn("\033_G", both.stdout)


if __name__ == "__main__":
    unittest.main()
