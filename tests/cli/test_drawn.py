"""Pages of PDF and SVG: against what poppler's and librsvg's programs and Chromium draw, in the cage and out of it."""
import base64
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import unittest
import zlib

import numpy as np
from PIL import Image

from harness import SANITIZED, CliCase, png_bytes
from pages import CHROMIUM

SVG = """<?xml version="1.0"?>
<!-- %s -->
<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100" viewBox="0 0 200 100">
<filter id="f"><feGaussianBlur stdDeviation="3"/></filter>
<rect x="10" y="10" width="80" height="80" fill="#c00" filter="url(#f)"/>
<circle cx="150" cy="50" r="30" fill="blue" fill-opacity="0.5"/>
<text x="20" y="60" font-family="sans-serif" font-size="24">Hello</text>%s
</svg>"""


def embed(png):
    """In lines, as Inkscape writes them, with text behind."""
    text = base64.b64encode(png).decode()
    lines = "&#10;".join(text[i:i + 76] for i in range(0, len(text), 76))
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image width="9" height="9" '
            f'href="data:image/png;base64,{lines}"/><text y="40">hello</text></svg>').encode()


def pdf(contents, size="300 200", font="Helvetica"):
    """A page for each content; its font is not in the file."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(contents)))
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {len(contents)}>>".encode(),
               f"<</Type/Font/Subtype/Type1/BaseFont/{font}>>".encode()]
    for i, content in enumerate(contents):
        objects += [f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {size}]/Contents {5 + 2 * i} 0 R"
                    "/Resources<</Font<</F1 3 0 R>>>>>>".encode(),
                    b"<</Length %d>>stream\n%b\nendstream" % (len(content), content)]
    objects.append(b"<</Title(Two words)/Author(Me)>>")
    out, places = b"%PDF-1.4\n", []
    for i, one in enumerate(objects):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (i + 1, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects)
    end = b"trailer<</Size %d/Root 1 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (count + 1, count, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n%b" % (count + 1, table) + end


PAGES = pdf([b"0 0 1 rg 20 20 100 60 re f 0 g BT /F1 24 Tf 30 120 Td (Hello) Tj ET 3 w 10 10 m 290 190 l S",
             b"1 0 0 rg 10 10 50 50 re f", b"0 1 0 rg 10 10 80 50 re f"])


class Drawn(CliCase):
    NAME = ""

    def setUp(self):
        super().setUp()
        self.write("a.pdf", PAGES)
        self.write("a.svg", (SVG % ("", "")).encode())
        for name in ("a.pdf", "a.svg"):
            done = self.smp("info", name, status=(0, 3))
            if done.returncode:
                self.assertIn("apt-get install lib", done.stderr)
                self.skipTest("this machine is without poppler or librsvg")

    def array(self, name):
        return np.asarray(Image.open(self.folder / name))

    def test_what_poppler_finds_amiss_is_told(self):
        self.write("b.pdf", pdf([b"0 0 1 rg 20 20 100 60 re f /Im0 Do"]))
        self.assertIn("may not be drawn whole", self.smp("convert", "b.pdf", "out.png").stderr)
        self.assertEqual(self.smp("convert", "-f", "--page", "1", "a.pdf", "out.png").stderr, "")

    @unittest.skipUnless(shutil.which("pdftocairo"), "needs poppler-utils")
    def test_a_page_is_what_poppler_draws(self):
        for page, dpi in ((1, 150), (1, 300), (2, 72), (3, 96.5)):
            self.smp("convert", "-q", "-f", "a.pdf", "out.png", "--page", str(page), "--dpi", str(dpi))
            for tool in ("pdftocairo", "pdftoppm"):
                subprocess.run((tool, "-png", "-singlefile", "-f", str(page), "-r", str(dpi), "a.pdf", "peer"),
                               cwd=self.folder, check=True)
                ours, theirs = self.array("out.png").astype(int), self.array("peer.png").astype(int)
                self.assertEqual(ours.shape, theirs.shape)
                if tool == "pdftocairo":
                    self.assertTrue((ours == theirs).all())
                else:  # another rasteriser: edges alone differ
                    self.assertLess((np.abs(ours - theirs).max(axis=2) > 64).mean(), 0.02)
                    self.assertLess(abs(ours.mean() - theirs.mean()), 1)

    @unittest.skipUnless(shutil.which("rsvg-convert"), "needs librsvg2-bin")
    def test_svg_is_what_librsvg_draws(self):
        for words, theirs in (((), ()), (("--dpi", "192"), ("-z", "2")), (("--draw-width", "777"), ("-w", "777"))):
            self.smp("convert", "-f", "a.svg", "out.png", *words)
            subprocess.run(("rsvg-convert", *theirs, "a.svg", "-o", "peer.png"), cwd=self.folder, check=True)
            ours, peer = self.array("out.png"), self.array("peer.png")
            self.assertEqual(ours.shape[1], peer.shape[1])
            self.assertLess(np.abs(ours[:peer.shape[0]].astype(int) - peer[:ours.shape[0]]).mean(), 0.6)
            if not theirs:
                self.assertTrue((ours == peer).all())

    @unittest.skipUnless(CHROMIUM, "no chromium here")
    def test_svg_is_near_what_a_browser_draws(self):
        self.smp("convert", "a.svg", "out.png")
        subprocess.run((CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--screenshot=peer.png",
                        "--hide-scrollbars", "--window-size=800,600",
                        f"--user-data-dir={self.folder}/profile", self.folder / "a.svg"), cwd=self.folder, check=True,
                       capture_output=True, timeout=60)
        ours, peer = self.array("out.png").astype(float), self.array("peer.png")[:100, :200, :3].astype(float)
        ours = 255 + (ours[..., :3] - 255) * ours[..., 3:] / 255  # on white, as the browser's
        self.assertLess(np.abs(ours - peer).mean(), 2)  # of 255: edges and letters are smoothed otherwise

    def test_the_cage_has_fonts_and_draws_the_same(self):
        for name in ("a.pdf", "a.svg"):
            self.smp("convert", "-q", "-f", name, "caged.png")
            self.smp("convert", "-q", "-f", name, "free.png", "--no-sandbox")
            self.assertEqual((self.folder / "caged.png").read_bytes(), (self.folder / "free.png").read_bytes())
            self.smp("convert", "-q", "-f", "-", "piped.png", input=(self.folder / name).read_bytes(), text=False)
            self.assertEqual((self.folder / "caged.png").read_bytes(), (self.folder / "piped.png").read_bytes())
        self.write("bare.pdf", pdf([b"0 0 1 rg 20 20 100 60 re f 3 w 10 10 m 290 190 l S"]))
        self.smp("convert", "-q", "-f", "a.pdf", "caged.png")
        self.smp("convert", "-q", "-f", "bare.pdf", "bare.png")
        self.assertGreater((self.array("caged.png") != self.array("bare.png")).mean(), 0.003)  # the letters

    def test_pages_are_chosen_and_told(self):
        info = self.smp("info", "-v", "a.pdf")
        for part in ("625 x 417", "page 1 of 3", "105.83 x 70.556 mm", "150.0 x 150.0 dpi", "Title: Two words",
                     "Author: Me"):
            self.assertIn(part, info.stdout)
        self.assertIn("--page N", info.stderr)
        self.assertIn("the PDF holds 3", self.smp("convert", "a.pdf", "x.png", "--page", "4", status=3).stderr)
        self.smp("batch", "-e", "gray", "a.pdf", "-o", "out", "--to", "png", "--pages", "all")
        self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir() if p.suffix == ".png"),
                         ["a-1.png", "a-2.png", "a-3.png"])

    def test_other_files_are_not_opened_and_told(self):
        (self.folder / "secret.png").write_bytes(b"")
        for element in ('<image href="secret.png" width="9" height="9"/>', '<use href="other.svg#a"/>',
                        '<image href =\n "secret.png"/>', "<style>@import url('a.css');</style>",
                        '<style>@import "a.css";</style>', '<rect width="9" height="9" fill="url(other.svg#a)"/>'):
            name = re.search("secret.png|other.svg#a|a.css", element)[0]
            self.write("b.svg", (SVG % ("", element)).encode())
            said = self.smp("convert", "-f", "b.svg", "out.png").stderr
            self.assertIn(f"shows other files, which are not opened: {name}\n", said)
        inside = '<a href="http://a.b/"><rect style="fill:url(&quot;#f&quot;)"/></a><image href=""/><use href="#f"/>'
        self.write("b.svg", (SVG % ("", f"<!-- {'<image' * 200000} -->{inside}")).encode())
        self.assertEqual(self.smp("convert", "-f", "b.svg", "out.png", timeout=10).stderr, "")
        outside = b'<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        self.write("b.svg", outside + b'<svg xmlns="http://www.w3.org/2000/svg"><text>&x;</text></svg>')
        self.assertIn("Entity", self.smp("convert", "-f", "b.svg", "out.png", status=3).stderr)

    def test_damage_is_an_error(self):
        whole = (SVG % ("", "")).encode()
        for part in (whole[:-9], whole[:200], whole.replace(b"<rect", b"<<rect")):
            self.write("b.svg", part)
            self.smp("convert", "b.svg", "out.png", status=3)
        for part in (PAGES[:-8], PAGES[:400], b"%PDF-1.4\n"):
            self.write("b.pdf", part)
            self.smp("convert", "b.pdf", "out.png", status=3)
        self.write("b.pdf", PAGES[:-8])
        self.assertIn("cut short", self.smp("convert", "b.pdf", "out.png", "--no-verify").stderr)

    def test_what_would_take_too_much_is_refused(self):
        self.write("b.pdf", pdf([b"0 0 9 9 re f"], "14400 14400"))
        self.write("b.svg", b'<svg xmlns="http://www.w3.org/2000/svg" width="1e6" height="1e6"/>')
        nested = "".join(f"<g id='g{i + 1}'>" + f"<use href='#g{i}'/>" * 10 + "</g>" for i in range(10))
        self.write("c.svg", (SVG % ("", f'<rect id="g0" width="5" height="5"/>{nested}<use href="#g10"/>')).encode())
        entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
        self.write("e.svg", f'<!DOCTYPE svg [<!ENTITY l0 "lol">{entities}]><svg xmlns="http://www.w3.org/2000/svg">'
                            f'<text>&l9;</text><!-- {"":10000000}--></svg>')
        for name, status in (("b.pdf", 6), ("b.svg", 6), ("e.svg", 3), ("c.svg", (3, 6))):  # librsvg's word, or time
            self.smp("convert", name, "out.png", status=status, timeout=30)
        self.write("d.svg", (SVG % ("", "<g/>" * 1000000)).encode())
        told = self.smp("convert", "d.svg", "out.png", status=6, timeout=30).stderr
        self.assertIn("the SVG has 1000006 elements, and librsvg draws 1000000", told)
        self.write("f.svg", embed(png_bytes([bytes(1)], 1, 8, 0)).replace(b"<text", b"<g/>" * 400000 + b"<text"))
        self.assertIn("out of proportion", self.smp("convert", "f.svg", "out.png", status=6, timeout=30).stderr)

    @unittest.skipIf(SANITIZED, "the sanitizer takes addresses without bound")
    def test_a_picture_that_finds_no_memory_is_not_left_out(self):
        def scan(width):
            data = zlib.compress(bytes(15000 * 10000 // 8), 1)
            return pdf([b"q 300 0 0 200 0 0 cm /I Do Q"]).replace(b"/Font<<", b"/XObject<</I 9 0 R>>/Font<<").replace(
                b"xref\n", b"9 0 obj\n<</Type/XObject/Subtype/Image/Width %b/Height 10000/ColorSpace/DeviceGray"
                b"/BitsPerComponent 1/Length %d/Filter/FlateDecode>>stream\n%b\nendstream\nendobj\n"
                b"10 0 obj\n15000\nendobj\nxref\n" % (width, len(data), data), 1)
        self.write("scan.pdf", scan(b"15000"))
        self.assertIn("out of proportion", self.smp("convert", "scan.pdf", "out.png", status=6).stderr)
        self.smp("convert", "scan.pdf", "out.png", "--max-memory", "2G")
        self.assertLess(self.array("out.png").mean(), 1)
        self.write("said.pdf", scan(b"10 0 R"))  # a width that is said elsewhere
        self.assertIn("more memory", self.smp("convert", "said.pdf", "x.png", status=6).stderr)
        self.write("large.svg", embed(png_bytes([bytes(1250)] * 10000, 10000, 1, 0)))
        self.assertIn("out of proportion", self.smp("convert", "large.svg", "x.png", status=6).stderr)
        side = embed(png_bytes([bytes(1)], 1 << 20, 1, 0))
        for way in (side, side.replace(b";base64,", b";Base64 ,"), side.replace(b",iVBO", b",&#x69;&#86;BO"),
                    side.replace(b"base64,", b"base64&#44;"), side.replace(b"base64,", b"base&#54;4&#x2C;"),
                    side.replace(b"<image", b"<style>/*;base64,&*/</style><image")):
            self.write("side.svg", way)
            self.assertIn("a picture in it: ",
                          self.smp("convert", "side.svg", "x.png", "--max-pixels", "100000", status=6).stderr)

    def test_a_size_that_is_not_told_follows_from_the_other(self):
        box = 'viewBox="0 0 100 200"'
        for said, size in ((f'width="50" {box}', (50, 100)), (f'height="50" {box}', (25, 50)), (box, (100, 200)),
                           (f'width="1in" {box}', (96, 192)), (f'width="72pt" height="50%" {box}', (96, 192)),
                           ('width="50"', (9, 9)), ('height="50"', (9, 9)), ("", (9, 9)),
                           ('width="-5" height="nan"', (9, 9))):
            self.write("a.svg", f'<s:svg xmlns:s="http://www.w3.org/2000/svg" {said}>'
                                '<s:rect x="-4" y="400" width="9" height="9" fill="red"/></s:svg>'.encode())
            told = self.smp("convert", "-f", "a.svg", "out.png").stderr
            self.assertEqual(self.array("out.png").shape[1::-1], size, said)
            self.assertEqual("as large as its shapes, 9 x 9" in told, size == (9, 9), said)  # all of it is there then
            self.assertEqual((self.array("out.png") == (255, 0, 0, 255)).all(), size == (9, 9), said)
            if shutil.which("rsvg-convert"):
                subprocess.run(("rsvg-convert", "a.svg", "-o", "peer.png"), cwd=self.folder, check=True)
                self.assertEqual(self.array("peer.png").shape[1::-1], size, said)
        self.write("a.svg", b'<svg xmlns="http://www.w3.org/2000/svg" width="1e12" height="10"/>')
        self.assertIn("too large", self.smp("convert", "-f", "a.svg", "out.png", status=6).stderr)

    def test_codings_in_which_pictures_can_hide_are_refused(self):
        text = embed(png_bytes([bytes(1)], 1 << 20, 1, 0)).decode()
        text = text[text.index("<svg"):]
        for coding, hidden in (("UTF-7", text.replace("base64", "+AGI-ase64")), ("UTF-16LE", text), ("CP037", text)):
            said = f'<?xml version="1.0" encoding = "{coding}" ?>'
            self.write("a.svg", said.encode() + hidden.encode("ascii"))
            done = self.smp("convert", "a.svg", "x.png", "--max-pixels", "100000", status=3)
            self.assertIn(f"the SVG's text is coded as {coding}, which is not read", done.stderr)
        self.write("a.svg", ("<" + 400 * " " + "svg").encode("utf-32-le") + text.encode())
        self.smp("convert", "a.svg", "x.png", status=3)
        plain = (SVG % ("", "")).replace('<?xml version="1.0"?>', "")
        for coding in ("UTF-8", "ISO-8859-15", "windows-1251", "us-ascii", "iso-8859-1", "utf8", "latin1"):
            self.write("b.svg", f"<?xml version='1.0' encoding='{coding}'?>".encode() + plain.encode())
            self.smp("convert", "-f", "b.svg", "out.png")
        for front in ("<!-- encoding: see docs -->", "<?xml version='1.0'?><!-- encoding='UTF-7' -->", "\ufeff",
                      "<?xml-stylesheet type='text/css' encoding='base64' href='a.css'?>"):
            self.write("b.svg", (front + plain.replace("<svg ", '<svg data-encoding="base64" ')).encode())
            self.smp("convert", "-f", "b.svg", "out.png")
        self.write("b.svg", b"\xef\xbb\xbf<?xml version='1.0'\tencoding\n= 'UTF-7'?>" + plain.encode())
        self.assertIn("is coded as UTF-7,", self.smp("convert", "-f", "b.svg", "out.png", status=3).stderr)

    def test_only_what_a_parser_sees_so_may_be_large(self):
        text = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><g id="%s"/></svg>' % ("x" * 11000000)
        bomb = '<!DOCTYPE svg [<!ENTITY a "b">]>' + text
        for name, encoded, status in (("a", text.encode(), 0), ("b", text.encode("utf-16"), 0),
                                      ("f", bomb.encode(), 3), ("g", bomb.encode("utf-16"), 3),
                                      ("c", b'<?xml version="1.0" encoding=\'utf-8\'?>' + text.encode(), 0),
                                      ("d", b'<?xml version="1.0" encoding="UTF-7"?>' + text.encode(), 3),
                                      ("e", b'<?xml version="1.0" encoding="ISO-8859-1"?>' + text.encode(), 0),
                                      ("h", b'<?xml version="1.0" encoding="ISO-8859-1"?>' + bomb.encode(), 3)):
            with self.subTest(name):
                self.write("large.svg", encoded)
                self.smp("convert", "-f", "large.svg", "x.png", status=status)

    def test_a_picture_inside_may_be_of_more_than_10_MB(self):
        small = png_bytes([bytes(1)], 1, 8, 0)
        chunk = b"spAm" + bytes(4 << 20)
        chunk = (len(chunk) - 4).to_bytes(4, "big") + chunk + zlib.crc32(chunk).to_bytes(4, "big")
        self.write("long.svg", embed(small[:33] + 2 * chunk + small[33:]))
        self.smp("convert", "long.svg", "out.png")
        self.assertEqual(self.array("out.png")[4, 4].tolist(), [0, 0, 0, 255])

    def test_a_drawing_that_takes_long_is_given_up(self):
        noise = '<feTurbulence baseFrequency="0.01" numOctaves="200"/>' * 50
        rects = '<rect width="200" height="100" filter="url(#n)"/>' * 100
        self.write("a.svg", (SVG % ("", f'<filter id="n">{noise}</filter>{rects}')).encode())
        done = self.smp("convert", "a.svg", "out.png", status=6, timeout=60)
        self.assertIn("decoding takes more than 3 seconds, far longer than a file of this size should", done.stderr)
        self.assertIn("raise --time-limit", done.stderr)

    def test_a_packed_svg_is_the_same(self):
        text = (SVG % ("packed", "")).encode()
        self.write("b.svg", text)
        self.write("b.svgz", gzip.compress(text))
        self.write("b.bin", gzip.compress(text, 1))
        for name in ("svg", "svgz", "bin"):
            self.smp("convert", f"b.{name}", f"{name}.png")
        self.smp("diff", "svg.png", "svgz.png")
        self.smp("diff", "svg.png", "bin.png")
        packed = gzip.compress(text)
        self.write("c.svgz", gzip.compress(text[:99]) + gzip.compress(text[99:300]) + gzip.compress(text[300:]))
        self.smp("convert", "c.svgz", "members.png")
        self.smp("diff", "svg.png", "members.png")
        for part in (packed[:200], packed[:-1], packed[:-8] + bytes(8), packed + b"more"):
            self.write("c.svgz", part)
            self.assertIn("which is packed, is damaged", self.smp("convert", "c.svgz", "x.png", status=3).stderr)
        self.write("c.svgz", gzip.compress(text[:300] + bytes(100 << 20)))
        self.assertIn("more than 64 MB", self.smp("convert", "c.svgz", "x.png", status=6, timeout=20).stderr)
        self.write("c.gz", gzip.compress(b"<p>no drawing</p>"))
        self.assertIn("is a gzip file", self.smp("convert", "c.gz", "x.png", status=3).stderr)

    def test_utf16_is_read(self):
        text = SVG % ("x", '<text x="20" y="90">\u00e9 \U0001F600</text>')
        for name, encoding, front in (("b", "utf-8", b""), ("c", "utf-16-le", b"\xff\xfe"),
                                      ("d", "utf-16-be", b"\xfe\xff")):
            said = text.replace('version="1.0"', f'version="1.0" encoding="{encoding[:6]}"')
            self.write(f"{name}.svg", front + said.encode(encoding))
            self.write(f"{name}.svgz", gzip.compress(front + said.encode(encoding)))
            for ending in ("svg", "svgz"):
                self.smp("convert", f"{name}.{ending}", f"{name}.{ending}.png")
                self.smp("diff", "b.svg.png", f"{name}.{ending}.png")

    def test_a_long_comment_may_stand_in_front(self):
        self.write("b.svg", (SVG % ("x" * 2000, "")).encode())
        self.smp("convert", "b.svg", "out.png")
        self.smp("convert", "a.svg", "peer.png")
        self.assertEqual((self.folder / "out.png").read_bytes(), (self.folder / "peer.png").read_bytes())

    def test_a_missing_library_is_named(self):
        folder = pathlib.Path(self.folder / "none")
        folder.mkdir()
        for name, library, package in (("a.pdf", "libpoppler-glib.so.8", "libpoppler-glib8"),
                                       ("a.svg", "librsvg-2.so.2", "librsvg2-2")):
            (folder / library).write_bytes(b"")
            done = self.smp("info", name, status=3, env={**os.environ, "LD_LIBRARY_PATH": str(folder)})
            self.assertIn(f"apt-get install {package}", done.stderr)


if __name__ == "__main__":
    unittest.main()
