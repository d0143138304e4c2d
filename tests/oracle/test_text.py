"""text: letters of the built-in font, as its table draws them, laid on the picture; colours by name."""
import pathlib
import re
import unittest

import numpy as np

from harness import OracleCase, ProgramFailed, picture, run

FONT = pathlib.Path(__file__).resolve().parents[2] / "src/base/text/font_glyphs.def"
GLYPHS = {int(code, 0): [int(row, 0) for row in rows.split(",")] for code, rows in
          re.findall(r"G\((0x\w+),([^)]*)\)", FONT.read_text())}


def letters(text, scale):
    """1 where a dot is."""
    dots = np.zeros((10, 6 * len(text)), bool)
    for i, letter in enumerate(text):
        for y, row in enumerate(GLYPHS[ord(letter)]):
            for x in range(6):
                dots[y, 6 * i + x] = row >> (7 - x) & 1
    return np.kron(dots[:, :-1], np.ones((scale, scale), bool))


def written(array, text, scale, x, y, fill, ground=None, opacity=1.0):
    """Exact values before rounding; x, y: of the box."""
    border = 0 if ground is None else 2 * scale
    dots = np.pad(letters(text, scale), border)
    out = array.astype(np.float64)
    white = {np.uint8: 255, np.uint16: 65535}.get(array.dtype.type, 1)
    for row in range(max(y, 0), min(y + dots.shape[0], array.shape[0])):
        for column in range(max(x, 0), min(x + dots.shape[1], array.shape[1])):
            colour = fill if dots[row - y, column - x] else ground
            if colour is not None:
                value = np.array(colour) * white
                out[row, column] += (value - out[row, column]) * opacity
    return out


class Text(OracleCase):
    def test_letters_lie_where_they_are_put(self):
        array = picture(1, (60, 90, 3), np.uint8)
        for words, text, scale, x, y, more in (
                ('"Ab" size=10px x=3 y=4 anchor=top-left', "Ab", 1, 3, 4, {}),
                ('"\u00e9 {8}" size=20px anchor=top-left', "\u00e9 {8}", 2, 10, 10, {}),
                ('smempipe size=10px', "smempipe", 1, 90 - 47 - 5, 60 - 10 - 5, {}),
                ('"x" size=34px anchor=left fill=[1 0.5 0]', "x", 3, 15, 15, {"fill": (1, 0.5, 0)}),
                ('"wider than that" size=20px anchor=top x=-7 ground=[0]', "wider than that", 2, -55, 10,
                 {"ground": 0}),
                ('"low" size=10px anchor=bottom y=6 opacity=40%', "low", 1, 36, 56, {"opacity": 0.4})):
            want = written(array, text, scale, x, y, **{"fill": 1, **more})
            for device in ("cpu", "simt"):
                for variant in ("naive", "tiled"):
                    got = run(array, f"text {words}", options=("--device", device, "--variant", variant))
                    self.near(got, want, f"{words} {device} {variant}", tie=2e-3)
            self.same(run(array, f"text {words}", options=("--strip-rows", 7)), got, "strips")

    def test_depths_channels_and_the_size_by_itself(self):
        for shape, dtype in (((60, 90), np.uint16), ((60, 90, 3), np.float32), ((260, 90), np.uint8)):
            array = picture(2, shape, dtype)
            scale = 1
            got = run(array, 'text "a" anchor=top-left fill=gray')
            self.near(got, written(array, "a", scale, 5, 5, 128 / 255), f"{shape}", tie=1e-2)

    def test_what_is_refused(self):
        array = picture(3, (20, 30), np.uint8)
        for words, says in (('""', "the text is empty"), ('"a" fill=red', "'fill' has 3 values"), ("", "needs 'text'"),
                            ('"a" ground=[1 1 1]', "'ground' has 3 values")):
            with self.assertRaisesRegex(ProgramFailed, says):
                run(array, f"text {words}")


class Colours(OracleCase):
    def test_names_and_numbers(self):
        array = np.zeros((2, 2, 3), np.uint8)
        for word, rgb in (("red", (255, 0, 0)), ("Green", (0, 128, 0)), ("white", (255,) * 3), ("#fff", (255,) * 3),
                          ("#ff8000", (255, 128, 0)), ("#A0b", (170, 0, 187)), ("[1 0 0.2]", (255, 0, 51)),
                          ("orange # a comment", (255, 165, 0))):
            got = run(array, f"pad 1 fill={word}")
            self.assertEqual(got[0, 0].tolist(), list(rgb), word)
        self.same(run(array[..., 0], "pad 1 fill=#808080"), np.pad(array[..., 0], 1, constant_values=128))

    def test_what_is_no_colour(self):
        array = np.zeros((2, 2, 3), np.uint8)
        for word in ("#ff80", "reddish", "#", "#12345", "#ggg", "#fff8z"):
            if word != "#ff80":
                with self.assertRaises(ProgramFailed):
                    run(array, f"pad 1 fill={word}")
        with self.assertRaisesRegex(ProgramFailed, "4 values|has 3"):
            run(array, "pad 1 fill=#ff80")


if __name__ == "__main__":
    unittest.main()
