"""The page of smempipe compare --html in a real browser: no errors, nothing from the network, nothing wider than a
phone."""
import html.parser
import re
import shutil
import subprocess
import unittest

from harness import SAMPLES, CliCase

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# Read back from the dumped document: how wide it is, and how many of its boxes stick out of the window.
PROBE = """<script>addEventListener("load", () => {
  const wide = [...document.querySelectorAll("h1,h2,p,dl,li,.row,.row *,summary,figcaption")].filter(
    e => e.getBoundingClientRect().right > innerWidth + 1);
  const later = document.querySelectorAll("svg.bank-map .later").length, page = document.documentElement;
  const table = document.querySelector("#numbers table"), click = () => table.querySelectorAll("button")[3].click();
  const times = () => [...table.tBodies[0].rows].map(r => parseFloat(r.cells[3].textContent)).filter(x => !isNaN(x));
  const rises = x => x.every((v, i) => !i || x[i - 1] <= v), height = page.scrollHeight;
  click(); const down = times(); click();
  const sorts = times().length > 3 && rises(down.reverse()) && rises(times()) ? 1 : 0;
  document.body.dataset.probe = `${innerWidth} ${page.scrollWidth} ${wide.length} ${later} ${height} ${sorts}`;
});</script>"""


class Balanced(html.parser.HTMLParser):
    """Every element that must be closed is, in order."""

    VOID = {"meta", "br", "line", "circle", "rect", "th"}

    def __init__(self):
        super().__init__()
        self.open, self.counts = [], {}

    def handle_starttag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        assert self.open and self.open[-1] == tag, f"</{tag}> inside {self.open}"
        self.open.pop()


class Page(CliCase):
    made = None

    def page(self):
        if not Page.made:
            Page.made = self.smp(
                "compare", "-e", "transpose", "-e", "gaussian 1px", SAMPLES / "camera.png",
                "--device", "cpu", "--html", "-", "--time-limit", "0.5", "--repeat", "3",
            ).stdout  # fmt: skip
        return Page.made

    def test_is_one_page_that_needs_nothing_else(self):
        text = self.page()
        parser = Balanced()
        parser.feed(text)
        self.assertEqual(parser.open, [])
        heads = re.findall("<h2>([^<]*)", text)
        self.assertEqual(heads, ["Variant by variant", "Source lines by their conflicts", "Roofline", "All numbers",
                                 "Measured on"])
        outside = re.search(r"https?:|url\(|@import|src=|<link|<img", text)
        self.assertIsNone(outside)

    def test_the_first_screen_says_where_to_look(self):
        text = self.page()
        first = text[:text.index("<h2>")]
        self.assertRegex(first, r'class="verdict">Begin with step [12], <code>')
        self.assertRegex(first, r"it takes \d+( to \d+)? % of the time")
        steps = re.findall(r"<li value=\"\d\">(.*?)</li>", first)
        self.assertEqual(len(steps), 2)
        self.assertRegex(steps[0], r"(padded|swizzled) has <span class=\"good\">no bank conflicts")
        self.assertRegex(steps[0], r"transpose\.cu:\d+</b> of tiled, <span class=\"bad\">an? [\d.]+-way conflict")
        self.assertIn("to avoid it, pad the array by", steps[0])
        self.assertIn("Most bank conflicts: <a href=\"#lines\" class=\"mono\">transpose.cu:", first)

    def test_bars_have_one_axis_and_lines_their_maps(self):
        text = self.page()
        rows = re.findall(r'<div class="row two"><span title.*?</div>', text)
        self.assertEqual(text.count('class="axis"'), 2)
        for row in rows:  # red is what is beyond the need, and nothing else is
            more = re.search(r'class="more" style="left:[\d.]+%;width:([\d.]+)%', row)
            if more:
                self.assertEqual(float(more[1]) > 0, "-way" in row, row)
                self.assertEqual("free" in row, "-way" not in row)
        self.assertTrue("<td>8.00</td>" in text)  # bytes of a column of 32: eight rows of each bank
        lines = text[text.index('id="lines"'):text.index("Roofline</h2>")]
        widths = [float(width) for width in re.findall(r'class="heat"[^>]*><i style="width:([\d.]+)%', lines)]
        self.assertEqual(widths[0], 100)
        self.assertEqual(lines.count("<details open>"), 1)  # the worst map alone
        self.assertEqual(lines.count('<svg class="bank-map"'), lines.count("<figcaption>"))
        words = re.sub("<svg.*?</svg>", "", lines, flags=re.S)
        self.assertRegex(words, r"In this access lanes [\d, ]+ and \d+( more)? want different words of bank \d+")
        free = lines[lines.index(" without conflict</summary>"):]
        self.assertFalse("want different words" in free)
        self.assertTrue("wavefront, as many as its width needs" in free)

    def test_conflicts_that_every_variant_has_are_told_apart(self):
        self.small_png("small.png", 512, 64)
        text = self.smp("compare", "-e", "gray", "-e", "depth float", "-e", "fft", "small.png", "--stages", "fft",
                        "--device", "cpu", "--html", "-", "--time-limit", "0", "--repeat", "1").stdout
        shown = re.search(r'no variant spares: <a href="#lines" class="mono">([^<]+)</a> of (\w+)\.', text)
        self.assertTrue(shown, text[text.index("verdict\">"):][:600])
        worst = re.search(r'<tbody>\n<tr><td class="mono">([^<]+)</td>', text)[1]  # of a variant that nobody needs
        self.assertNotEqual(shown[1], worst)
        told = sum(int(n) for n in re.findall(r"<summary>(\d+) (?:more with|with|without) conflict", text))
        self.assertEqual(told + text.count("<details open>"), text.count('<svg class="bank-map"'))

    def test_the_same_conflicts_are_told_once(self):
        self.small_png("square.png", 64, 64)
        text = self.smp("compare", "-e", "transpose", "-e", "transpose", "square.png", "--device", "cpu", "--html", "-",
                        "--time-limit", "0", "--repeat", "1").stdout
        first, second = re.findall(r"<li value=\"\d\">(.*?)</li>", text[:text.index("<h2>")])
        self.assertIn("-way conflict", first)
        self.assertNotIn("-way conflict", second)
        self.assertIn("Its banks are as in step 1.", second)

    def test_names_of_strangers_stay_text(self):
        self.small_png("<b>&.png")
        text = self.smp("compare", "-e", "invert", "<b>&.png", "--device", "cpu", "--html", "-", "--time-limit", "0",
                        "--repeat", "1").stdout
        self.assertTrue("&lt;b&gt;&amp;.png" in text)
        self.assertFalse("<b>&.png" in text)

    @unittest.skipUnless(CHROMIUM, "no chromium here")
    def test_fits_a_desk_and_a_phone_without_errors(self):
        self.write("probe.html", self.page().replace("</head>", PROBE + "</head>"))
        for width in (1280, 500):  # headless windows are not made narrower than 500
            done = subprocess.run(
                [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                 f"--window-size={width},900", f"--user-data-dir={self.folder / 'profile'}", "--dump-dom",
                 (self.folder / "probe.html").as_uri()],
                capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
            self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
            probe = re.search(r'data-probe="(\d+) (\d+) (\d+) (\d+) (\d+) (\d)"', done.stdout)
            self.assertTrue(probe, done.stdout[-500:] + done.stderr[-2000:])
            window, document, outside, conflicts, height, sorts = map(int, probe.groups())
            self.assertLessEqual(document, window, "the page scrolls sideways")
            self.assertEqual(outside, 0)
            self.assertGreater(conflicts, 0)
            self.assertTrue(sorts, "a click on a head does not sort")
            if window == 1280:
                self.assertLess(height, 2100)  # so that four steps take 2,500 pixels at most


if __name__ == "__main__":
    unittest.main()
