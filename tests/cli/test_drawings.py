"""What is drawn: explain --svg is well-formed, and says what the table says."""
import unittest
import xml.etree.ElementTree as xml

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


if __name__ == "__main__":
    unittest.main()
