"""draw, and text in fonts: coverage against exact areas, lines and directions, what is told and refused."""
import pathlib
import random
import tempfile
import unittest

import numpy as np

import fonts
from harness import OracleCase, ProgramFailed, command, picture, run, run_many

SQUARE = [[(100, 0, 1), (100, 700, 1), (600, 700, 1), (600, 0, 1)]]
LOW = [[(0, 0, 1), (0, 100, 1), (300, 100, 1), (300, 0, 1)]]
ROUND = [[(0, 350, 1), (0, 700, 0), (350, 700, 1), (700, 700, 0), (700, 350, 1), (700, 0, 0), (350, 0, 1), (0, 0, 0)]]
GLYPHS = {"A": (700, SQUARE), "b": (400, LOW), "O": (800, ROUND), " ": (300, []), "\u05d0": (700, SQUARE),
          "\u05d1": (400, LOW), "\u4e00": (700, SQUARE)}


def clip(points, axis, limit, keep_less):
    """The part of a polygon on one side of a line."""
    out = []
    for a, b in zip(points, points[1:] + points[:1]):
        inside = [(p[axis] <= limit) if keep_less else (p[axis] >= limit) for p in (a, b)]
        if inside[0]:
            out.append(a)
        if inside[0] != inside[1]:
            t = (limit - a[axis]) / (b[axis] - a[axis])
            out.append((a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])))
    return out


def area(points):
    return sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(points, points[1:] + points[:1])) / 2 if points else 0


def covered(points, shape):
    """The exact area of a polygon in each pixel."""
    out = np.zeros(shape)
    for y in range(shape[0]):
        row = clip(clip(points, 1, y, False), 1, y + 1, True)
        for x in range(shape[1]):
            out[y, x] = abs(area(clip(clip(row, 0, x, False), 0, x + 1, True)))
    return out


def box(shape, x0, y0, x1, y1):
    return covered([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], shape)


def over(array, cover, fill, opacity=1.0):
    white = {np.uint16: 65535, np.float32: 1}.get(array.dtype.type, 255)
    if array.ndim == 3:
        cover = cover[..., None]
    return array + (fill * white - array) * cover * opacity


class DrawingCase(OracleCase):
    """Coverage is in 255ths: at most half of one away, and crossings of lines lie on 256ths of a pixel."""

    def close(self, got, want, what, steps=1.6):
        white = {np.uint8: 255, np.uint16: 65535}.get(got.dtype.type, 1)
        self.assertLessEqual(np.abs(got.astype(np.float64) - want).max() / white * 255, steps, what)

    def every(self, array, *stages, options=()):
        """The result, which is the same from every device, variant and strip height."""
        first = None
        for more in (("--device", "cpu", "--variant", "naive"), ("--device", "cpu"), ("--device", "simt"),
                     ("--strip-rows", 5), ("--device", "simt", "--variant", "naive")):
            got = run(array, *stages, options=(*more, *options))
            first = got if first is None else first
            self.same(got, first, f"{stages} {more}")
        return first


class Drawing(DrawingCase):
    def test_a_colour_with_an_opacity_lets_shine_through(self):
        for shape, dtype, fill, colour in (((30, 40, 3), np.uint8, "#ff800066", (1, 128 / 255, 0)),
                                           ((30, 40, 3), np.uint16, "[1 0.5 0 0.4]", (1, 0.5, 0)),
                                           ((30, 40), np.uint8, "[0.25 0.4]", 0.25)):
            array = picture(7, shape, dtype)
            got = self.every(array, f"draw rectangle x=5 y=6 width=20 height=10 fill={fill} stroke=4 stroke-fill=[0]")
            inner, outer = box(shape[:2], 7, 8, 23, 14), box(shape[:2], 3, 4, 27, 18)
            want = over(over(array, inner, np.array(colour), 102 / 255), outer - inner, 0)
            self.close(got, want, fill)
        array = picture(8, (40, 60, 3), np.uint8)
        clear = run(array, 'text "A" ground=#ff000000 fill=[1 1 1 0]', options=("-q",))
        self.same(clear, array, "nothing")

    def test_polygons_cover_their_areas(self):
        rng = random.Random(5)
        for shape, dtype in (((40, 70), np.uint8), ((37, 131, 3), np.uint16), ((20, 30), np.float32)):
            array = picture(4, shape, dtype)
            points = [(rng.uniform(-20, shape[1] + 20), rng.uniform(-20, shape[0] + 20)) for _ in range(3)]
            text = "; ".join(f"{x:.3f} {y:.3f}" for x, y in points)
            got = self.every(array, f"draw polygon points=[{text}] fill=[0.25] opacity=80%")
            self.close(got, over(array, covered(points, shape[:2]), 0.25, 0.8), text)

    def test_over_a_picture_with_alpha(self):
        """Porter and Duff's over, on straight alpha."""
        array, mask = picture(6, (30, 90, 3), np.uint8), picture(7, (30, 90), np.uint8)
        cover = box((30, 90), 10, 5, 75, 25)[..., None] * 0.6
        for options in (("--device", "cpu"), ("--device", "simt"), ("--variant", "naive")):
            got = run_many(array, {"only": ['alpha set by="m.npy"',
                                            "draw rectangle x=10 y=5 width=65 height=20 fill=[1 0 0.5] opacity=60%"]},
                           *options, beside={"m.npy": mask})["only"]
            alpha = mask[..., None] / 255
            total = cover + alpha * (1 - cover)
            mixed = (np.array([255, 0, 127.5]) * cover + array * alpha * (1 - cover)) / np.maximum(total, 1e-9)
            self.near(got[..., 3], (total * 255)[..., 0], "alpha", tie=1e-2)
            self.near(got[..., :3], np.where(cover > 0, mixed, array), "colour", tie=1e-2)

    def test_rectangles_ellipses_and_lines(self):
        array = np.full((60, 200), 100, np.uint8)
        got = self.every(array, "draw rectangle x=10 y=8 width=100 height=30 stroke=4 stroke-fill=[0.2] fill=[0.8]")
        want = over(over(array, box((60, 200), 8, 6, 112, 40), 0.2), box((60, 200), 12, 10, 108, 36), 0.8)
        self.same(got, np.rint(want).astype(np.uint8), "sharp corners, half outside and half inside")
        self.same(run(array, "draw rectangle points=[110 38; 10 8]"),
                  run(array, "draw rectangle x=10 y=8 width=100 height=30"), "opposite corners")
        black = np.zeros((200, 300), np.uint8)
        ellipse = self.every(black, "draw ellipse width=251 height=120 x=3 y=20")
        self.assertAlmostEqual(ellipse.sum() / 255, np.pi * 251 * 120 / 4, delta=8)
        self.same(ellipse, np.rint(255 - self.every(np.full_like(black, 255),
                  "draw ellipse width=251 height=120 x=3 y=20 fill=[0]")).astype(np.uint8), "black on white")
        ring = run(black, "draw ellipse width=100 height=100 anchor=centre filled=no stroke=10 stroke-fill=[1]")
        self.assertAlmostEqual(ring.sum() / 255, np.pi * (55**2 - 45**2), delta=8)
        rounded = run(black, "draw rectangle radius=30")
        self.assertAlmostEqual(rounded.sum() / 255, 300 * 200 - (4 - np.pi) * 900, delta=4)
        self.same(run(black, "draw rectangle radius=30 outside=yes"), 255 - rounded, "the corners alone")
        line = run(black, "draw line points=[50 50; 150 50; 150 120] stroke=6")
        self.assertAlmostEqual(line.sum() / 255, 100 * 6 + 70 * 6 + 9 * np.pi / 4 - 9 + 9 * np.pi, delta=4)

    def test_blur_spreads_and_keeps_what_there_is(self):
        black = np.zeros((120, 160), np.uint8)
        sharp = run(black, "draw rectangle x=50 y=40 width=60 height=40")
        soft = self.every(black, "draw rectangle x=50 y=40 width=60 height=40 blur=8")
        self.assertAlmostEqual(soft.sum() / sharp.sum(), 1, delta=0.01)
        self.assertEqual((int(soft[60, 80]), int(soft[60, 20])), (255, 0))
        self.assertTrue(100 < soft[60, 50] < 155)
        at_edge = run(black, "draw rectangle x=-30 width=60 height=200 y=-30 blur=8")
        self.assertEqual(int(at_edge[0, 0]), 255, "what hangs over shines in")

    def test_a_wide_blur_is_three_means(self):
        black = np.zeros((300, 411), np.uint8)
        got = self.every(black, "draw rectangle x=100 y=80 width=251 height=150 blur=300")
        mean, sides = np.ones(301) / 301, []
        for length, first, end in ((300, 80, 230), (411, 100, 351)):
            side = np.zeros(length + 1000)
            side[first + 500:end + 500] = 1
            for _ in range(3):
                side = np.convolve(side, mean, "same")
            sides.append(side[500:-500])
        self.close(got, 255 * np.outer(*sides), "made smaller", steps=3.5)

    def test_words_without_effect_are_told(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        array = pathlib.Path(self.folder.name) / "in.npy"
        np.save(array, np.zeros((60, 200), np.uint8))
        for stage, says in (("draw ellipse radius=5", "'radius' has no effect"),
                            ("draw line points=[1 2; 9 9] blur=4", "'blur' has no effect"),
                            ("draw line points=[1 2; 9 9] stroke-fill=[1]", "'stroke-fill' has no effect"),
                            ("draw rectangle stroke-fill=[1]", "'stroke-fill' has no effect without stroke"),
                            ("text a outline-fill=[1]", "'outline-fill' has no effect without outline"),
                            ("text a shadow-fill=[0.5]", "'shadow-fill' has no effect without shadow"),
                            ("text a shadow-blur=3", "'shadow-blur' has no effect without shadow"),
                            ("text a outline=2 shadow=3 shadow-blur=3 outline-fill=[1]", ""),
                            ("draw rectangle stroke=2 stroke-fill=[1] radius=5 blur=3", "")):
            told = command("run", "-e", stage, array, array.with_name("o.npy"), "--force").stderr
            self.assertEqual("has no effect" in told, bool(says), told)
            self.assertIn(says, told)

    def test_what_draw_refuses(self):
        array = np.zeros((20, 30), np.uint8)
        for words, says in (("line", "needs its points"), ("polygon points=[1 2]", "two or more"),
                            ("star", "rectangle"),
                            ("rectangle points=[1 2; 3 4] width=4", "given twice"),
                            ("line points=[1 2 3; 4 5 6]", "semicolons part them"), ("ellipse fill=red", "3 values"),
                            ("line points=[1 2; 3 4] outside=yes", "no outside"), ("ellipse width={1/0}", "width")):
            with self.assertRaisesRegex(ProgramFailed, says):
                run(array, f"draw {words}")
        self.same(run(array, "draw rectangle x=100"), array, "outside")
        with self.assertRaisesRegex(ProgramFailed, "must be -1e.06 to 1e.06 px"):
            run(array, "draw line points=[0 0; 1e9 1]")


@unittest.skipIf("without FreeType" in command("run", "-e", "text a font=./none.ttf", "a.png", "b.png",
                                                check=False).stderr, "a build without fonts")
class Fonts(DrawingCase):

    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.font = pathlib.Path(self.folder.name) / "made.ttf"
        self.font.write_bytes(fonts.font(GLYPHS))
        self.black = np.zeros((150, 400), np.uint8)

    def text(self, words, array=None, **options):
        array = self.black if array is None else array
        more = "" if "anchor" in words else " anchor=top-left x=0 y=0"
        return run(array, f'text font="{self.font}" size=50 {words}{more}',
                   options=("--allow-read", self.folder.name), **options)

    def test_letters_cover_their_areas(self):
        """A line of 1000 units is 50 px: a unit is a 20th."""
        got = self.text('"A"')
        self.same(got, np.rint(255 * box(got.shape, 5, 5, 30, 40)).astype(np.uint8), "whole pixels")
        got = self.every(self.black, f'text "bA" font="{self.font}" size=37px anchor=top-left x=0 y=0',
                         options=("--allow-read", self.folder.name))
        px = 37 / 1000
        want = box(got.shape, 0, 700 * px, 300 * px, 800 * px) + \
            box(got.shape, 500 * px, 100 * px, 1000 * px, 800 * px)
        self.close(got, 255 * want, "parts of pixels")
        curve = self.text('"O"').sum() / 255
        # four parabolas: a square less what their corners leave out, a third of each
        self.assertAlmostEqual(curve, 35 * 35 * (1 - 1 / 3 * 0.5), delta=2)

    def test_lines_are_broken_and_aligned(self):
        def rows(words):
            """Where letters begin and end in each line of 50 px."""
            got = self.text(words)
            return [(int(np.flatnonzero(line)[0]), int(np.flatnonzero(line)[-1]) + 1) if line.any() else None
                    for line in (got[y:y + 50].any(0) for y in (0, 50, 100))]

        self.assertEqual(rows('"AA A"'), [(5, 115), None, None])
        self.assertEqual(rows('"AA A" width=80px'), [(5, 65), (5, 30), None])
        self.assertEqual(rows('"AA A" width=80px align=right'), [(5, 65), (40, 65), None])
        self.assertEqual(rows(r'"A\nAA\nA" align=centre'), [(22, 48), (5, 65), (22, 48)])
        self.assertEqual(rows('"AAAA" width=80px'), [(5, 65), (5, 65), None], "a word longer than a line")
        self.assertEqual(rows('"\u4e00\u4e00\u4e00" width=80px'), [(5, 65), (5, 30), None], "ideographs")
        self.assertEqual(rows('"A A\u00a0A" width=100px'), [(5, 30), (5, 80), None], "a blank that binds")
        self.assertEqual(rows(r'"A\nA" spacing=2'), [(5, 30), None, (5, 30)])

    def test_texts_from_the_right(self):
        """The letter that is read first, a high one, stands at the right; numbers and words between keep their way."""
        def places(words):
            got = self.text(f'"{words}"')
            high, low = got[6].astype(bool), got[39].astype(bool)
            letters, x = "", 0
            while x < got.shape[1]:
                if low[x]:
                    letters += "A" if high[x] else "b"
                    x += 25 if high[x] else 15
                else:
                    x += 1
            return letters

        self.assertEqual(places("Abb"), "Abb")
        self.assertEqual(places("\u05d0\u05d1\u05d1"), "bbA")
        self.assertEqual(places("AA \u05d0\u05d1 A"), "AAbAA")
        self.assertEqual(places("\u05d0 Ab \u05d1"), "bAbA")

    def test_line_shadow_and_box(self):
        got = self.text('"A" outline=4px outline-fill=[0.5] shadow=10 shadow-fill=[0.2]')
        self.assertEqual([int(got[20, x]) for x in (0, 2, 10, 32, 36, 40, 45)], [0, 128, 255, 128, 51, 51, 0])
        half = self.text('"A" outline=4px outline-fill=[0.5] opacity=50%')
        self.assertEqual([int(half[20, x]) for x in (2, 10)], [64, 128], "a line does not shine through letters")
        ground = self.text('"A" ground=[0.4]')
        self.assertEqual([int(ground[y, x]) for y, x in ((0, 0), (69, 54), (70, 0), (30, 30))], [102, 102, 0, 255])

    def test_what_a_font_lacks_is_told(self):
        array = pathlib.Path(self.folder.name) / "in.npy"
        np.save(array, self.black)
        told = command("run", "-e", f'text "A\u20acx" font="{self.font}" size=50', array,
                       array.with_name("o.npy")).stderr
        self.assertIn("the font lacks \u20ac, x: frames stand for them", told)
        told = command("run", "-e", f'text "\u20acBCDEFGHIJKLxx" font="{self.font}" size=50', array,
                       array.with_name("p.npy")).stderr
        self.assertIn("G, H and 5 more: frames", told)
        self.assertGreater(self.text('"\u20ac"').sum(), 0)

    def test_damaged_fonts(self):
        """Every one is refused with its name, or read; nothing is left behind."""
        whole = self.font.read_bytes()
        rng = random.Random(3)
        folder = pathlib.Path(self.folder.name)
        np.save(folder / "in.npy", self.black)
        for i in range(24):
            data = bytearray(whole[:len(whole) * (i + 1) // 14] if i < 12 else whole)
            for _ in range(6 if i >= 12 else 0):
                data[rng.randrange(len(data))] = rng.randrange(256)
            self.font.write_bytes(data)
            done = command("run", "-q", "-e", f'text "AbO" font="{self.font}" size=50', "in.npy", f"{i}.npy",
                           folder=folder, check=False)
            self.assertIn(done.returncode, (0, 2), done.stderr)
            if done.returncode:
                self.assertIn("made.ttf", done.stderr)
            self.assertEqual((folder / f"{i}.npy").exists(), not done.returncode)
        for name, says in (("missing.ttf", "cannot open it"), (".", "not a regular file"),
                           ("in.npy", "not a font of outlines"),
                           ("No Such Family", "this machine has no font|cannot be opened"),
                           ("sans:boldx", "'boldx' is not a style|no fonts|cannot be opened")):
            done = command("run", "-e", f'text "A" font="{name}"', "in.npy", "o.npy", folder=folder, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, says)
            self.assertFalse((folder / "o.npy").exists())


if __name__ == "__main__":
    unittest.main()
