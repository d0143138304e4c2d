"""What is drawn: explain --svg is well-formed, and says what the table says; bars in terminals fit them."""
import fcntl
import os
import re
import struct
import termios
import unittest
import xml.etree.ElementTree as xml

import numpy

from harness import SAMPLES, CliCase

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg):
    return ["".join(node.itertext()) for node in xml.fromstring(svg).iter(SVG + "text")]


PAGE = """smempipe 1
kind image
gray -> @page
gaussian 25px edge=mirror -> @paper
from @page
gaussian 0.6px edge=mirror
divide by=@paper
levels auto clip=0.5%
threshold method=otsu
"""


class Drawings(CliCase):
    def test_every_step_and_edge(self):
        files = SAMPLES / "page.jpg", "a & b.png"
        self.write("page.pipe", PAGE)
        svg = self.smp("explain", "page.pipe", *files, "--svg", "-", "--device", "cpu").stdout
        found = " ".join(texts(svg))
        for text in ("(orient orientation=6)", "gaussian sigma=25px", "reads rows around: 100 above, 100 below",
                     "pass 4 of 4", "u8x3 640x480", "kept whole", "a & b.png", "rows are passed on",
                     "(measure) levels"):
            self.assertIn(text, found)
        root = xml.fromstring(svg)
        edges = [node.get("class") for node in root.iter(SVG + "path") if node.get("class").startswith("edge")]
        self.assertEqual(edges.count("edge by"), 1)
        self.assertEqual(edges.count("edge found"), 2)
        self.assertEqual(len(edges), 10 + 3)
        width = float(root.get("width"))
        for box in root.iter(SVG + "rect"):
            self.assertLess(float(box.get("x")) + float(box.get("width")), width)
        self.assertNotIn("http", svg.replace(SVG[1:-1], ""))

    def test_what_goes_beside_the_boxes_says_where_to(self):
        svg = self.smp("explain", "-e", "resize width=9px", "-e", 'save "a.png"', "-e", "from @input", "-e", "gray",
                       SAMPLES / "chelsea.png", "--svg", "-", "--device", "cpu").stdout
        found = texts(svg)
        self.assertIn("stages of -e", found)
        (label,) = [text for text in found if text.startswith("u8x3 9x6 \u00b7")]
        self.assertTrue(label.endswith("to its file"), label)
        self.assertEqual(sum("to its file" in text or "to step" in text for text in found), 1)

    def test_notes_stay_in_their_boxes(self):
        svg = self.smp("explain", "podcast", SAMPLES / "speech.flac", "--svg", "-", "--device", "cpu").stdout
        notes = [node for node in xml.fromstring(svg).iter(SVG + "text") if "pass 4 of 4" in "".join(node.itertext())]
        self.assertTrue(notes)
        for node in notes:
            self.assertTrue(len("".join(node.itertext())) < 76 or node.get("textLength"))

    def test_long_statements_are_broken(self):
        stage = "convolve kernel=[" + "; ".join(["1 2 3 4 5 6 7 8 9"] * 9) + "]"
        svg = self.smp("explain", "-e", stage, SAMPLES / "chelsea.png", "--svg", "-", "--device", "cpu").stdout
        self.assertTrue(any(text.endswith("...") for text in texts(svg)))
        self.assertLess(max(map(len, texts(svg))), 120)

    def test_files(self):
        plan = self.folder / "plan.svg"
        self.smp("explain", "blur", SAMPLES / "chelsea.png", "--svg", plan)
        self.assertIn("</svg>", plan.read_text())
        again = self.smp("explain", "blur", SAMPLES / "chelsea.png", "--svg", plan, status=4)
        self.assertIn("--force", again.stderr)
        self.smp("explain", "blur", SAMPLES / "chelsea.png", "--svg", plan, "--force")
        self.assertIn("input", self.smp("explain", "blur", "--svg", "-", status=2).stderr)
        self.smp("explain", "blur", SAMPLES / "chelsea.png", "--svg", "-", "--json", status=2)


class Bars(CliCase):
    def in_terminal(self, columns, *arguments, locale="C.UTF-8"):
        """The lines that a command writes to a terminal of that width."""
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.smp(*arguments, stdout=theirs, env={**os.environ, "LC_ALL": locale, "NO_COLOR": "1"})
        os.close(theirs)
        said = b""
        try:
            while more := os.read(ours, 65536):
                said += more
        except OSError:
            pass  # its other end is closed
        os.close(ours)
        return said.decode().replace("\r", "").splitlines()

    def test_fit_the_terminal(self):
        cat = SAMPLES / "chelsea.png"
        for arguments in (("measure", "-e", "histogram bins=64", cat), ("info", "--levels", cat)):
            widths = {}
            for columns in (70, 90, 130):
                bars = [line for line in self.in_terminal(columns, *arguments) if "|" in line]
                self.assertEqual(len(bars), 3)
                self.assertLessEqual(max(map(len, bars)), columns)
                widths[columns] = len(bars[0].split("|")[1])
            self.assertLess(widths[70], widths[130])

    def test_are_ascii_where_the_locale_is(self):
        cat = SAMPLES / "chelsea.png"
        for arguments in (("measure", "-e", "histogram bins=64", cat), ("info", "--levels", cat),
                          ("show", "--width", "9", cat)):
            for locale, plain in (("C", True), ("en_US.ISO-8859-1", True), ("de_DE.utf8", False), ("C.UTF-8", False)):
                said = self.smp(*arguments, env={**os.environ, "LC_ALL": locale, "TERM": "xterm"}).stdout
                self.assertEqual(said.isascii(), plain, (arguments, locale))

    def test_a_level_histogram_is_drawn_level(self):
        """Bars of one value and of two would make a comb."""
        numpy.save(self.folder / "ramp.npy", numpy.arange(256, dtype=numpy.uint8).reshape(16, 16))
        for bins in (64, 128, 256):
            said = self.smp("measure", "-e", f"histogram bins={bins}", "ramp.npy").stdout
            (bars,) = re.findall(r"\|(.*)\|", said)
            self.assertEqual(len(set(bars)), 1, bars)


if __name__ == "__main__":
    unittest.main()
