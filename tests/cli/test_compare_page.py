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
  const wide = [...document.querySelectorAll("h1,h2,p,dl,.row,.row *,summary,figcaption")].filter(
    e => e.getBoundingClientRect().right > innerWidth + 1);
  const later = document.querySelectorAll("svg.bank-map .later").length;
  document.body.dataset.probe = `${innerWidth} ${document.documentElement.scrollWidth} ${wide.length} ${later}`;
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
        self.assertEqual(parser.counts["h2"], 4)  # two steps, the roofline, what it was measured on
        self.assertLess(text.index("<table class=\"summary\">"), text.index("<h2>1."))
        self.assertGreater(text.index("Measured on</h2>"), text.index("Roofline</h2>"))
        self.assertEqual(text.count("No shared memory: naive"), 2)  # once a step
        self.assertEqual(text.count("<figure class=\"free\">") + text.count("<figure><figcaption>"),
                         text.count("<figcaption>"))
        self.assertGreater(parser.counts["figure"], 6)
        outside = re.search(r"https?:|url\(|@import|<script|<link|<img", text)
        self.assertIsNone(outside)
        self.assertTrue("8.00-way" in text)  # bytes of a column of 32: eight rows of each bank

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
            probe = re.search(r'data-probe="(\d+) (\d+) (\d+) (\d+)"', done.stdout)
            self.assertTrue(probe, done.stdout[-500:] + done.stderr[-2000:])
            window, document, outside, conflicts = map(int, probe.groups())
            self.assertLessEqual(document, window, "the page scrolls sideways")
            self.assertEqual(outside, 0)
            self.assertGreater(conflicts, 0)


if __name__ == "__main__":
    unittest.main()
