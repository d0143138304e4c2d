"""The page of smempipe compare --html: its data, and in a real browser: what it says, no errors, nothing wider than a
phone."""
import re
import unittest

from harness import SAMPLES, CliCase
from pages import Page, check_page, data_of, drawn, needs_browser, with_data

# Read back from the dumped document: how wide it is, and how many of its boxes stick out of the window.
PROBE = """addEventListener("load", () => {
  const wide = [...document.querySelectorAll("h1,h2,p,dl,li,.row,.row *,summary,figcaption")].filter(
    e => e.getBoundingClientRect().right > innerWidth + 1);
  const later = document.querySelectorAll("svg.bank-map .later").length, page = document.documentElement;
  const table = document.querySelector("#numbers table"), click = () => table.querySelectorAll("button")[3].click();
  const times = () => [...table.tBodies[0].rows].map(r => parseFloat(r.cells[3].textContent)).filter(x => !isNaN(x));
  const rises = x => x.every((v, i) => !i || x[i - 1] <= v), height = page.scrollHeight;
  click(); const down = times(); click();
  const sorts = times().length > 3 && rises(down.reverse()) && rises(times()) ? 1 : 0;
  document.body.dataset.probe = `${innerWidth} ${page.scrollWidth} ${wide.length} ${later} ${height} ${sorts}`;
});"""


def shared(instructions, conflicts):
    ideal = instructions
    return {"instructions": instructions, "ideal": ideal, "wavefronts": ideal + conflicts, "conflicts": conflicts,
            "n_way": (ideal + conflicts) / ideal}


def small(spread, conflicts, of, access):
    """The data of one step of naive and tiled; tiled has one site. spread: of the times of tiled, up and down."""
    def variant(name, low, median, high):
        copy = 1e6 / median / 1e10
        return {"variant": name, "check": "right", "median_seconds": median, "q1_seconds": low, "q3_seconds": high,
                "median_from_seconds": low, "median_to_seconds": high, "of_copy": copy, "speedup": 2e-3 / median,
                "gb_per_second": copy * 10, "samples_seconds": [low, median, high], "counts": {}}
    tiled = variant("tiled", 1e-3 / spread, 1e-3, 1e-3 * spread)
    tiled["counts"] = {"model": {"known": True, "total": shared(of, conflicts)}}
    tiled["sites"] = [{"where": "a.cu:7", "operation": "load", "width": 4, "total": shared(of, conflicts),
                       "example_offsets": [0] * 32, "access": access}]
    step = {"number": 1, "step": "x", "input": "u8", "output": "u8", "bytes": 1000000, "operations": 0,
            "variants": [variant("naive", 2e-3, 2e-3, 2e-3), tiled]}
    return {"input": "in.png", "input_type": "u8", "steps": [step],
            "environment": {"device": "cpu", "device_name": "?", "copy_gb_per_second": 10}}


def access(wavefronts):
    """An access that a pad of one word in 32 frees; of one wavefront it is free."""
    return {"wavefronts": wavefronts, "ideal": 1, "turns": "lanes" if wavefronts > 1 else None, "pad_share": 1 / 32,
            "advice": "pad it" if wavefronts > 1 else None,
            "schedule": [{"phase": 0, "turn": i, "bank_lanes": [0, 1 << i]} for i in range(wavefronts)]}


class ComparePage(CliCase):
    made = shown = None

    def page(self):
        if not ComparePage.made:
            ComparePage.made = self.smp(
                "compare", "-e", "transpose", "-e", "gaussian 1px", SAMPLES / "camera.png",
                "--device", "cpu", "--html", "-", "--time-limit", "0.5", "--repeat", "3",
            ).stdout  # fmt: skip
        return ComparePage.made

    def drawn(self):
        """The text of the page as a browser draws it."""
        if not ComparePage.shown:
            ComparePage.shown = drawn(self, self.page())
        return ComparePage.shown

    def test_is_one_page_that_needs_nothing_else(self):
        text = self.page()
        check_page(self, text)
        rows = Page(text.replace("<table>", '<table id="files">', 1)).rows  # without scripts: a row a variant
        self.assertEqual(rows[0][:4], ["number", "step", "stage", "variant"])
        self.assertEqual(len(rows) - 1, sum(len(step["variants"]) for step in data_of(text)["steps"]))

    def test_quotes_of_a_step_stay(self):
        page = self.smp("compare", "-e", f'overlay by="{SAMPLES / "chelsea.png"}"', SAMPLES / "chelsea.png", "--device",
                        "cpu", "--repeat", "1", "--time-limit", "0", "--html", "-").stdout
        rows = Page(page.replace("<table>", '<table id="files">', 1)).rows
        self.assertIn(f'by="{SAMPLES / "chelsea.png"}"', rows[1][1])

    def test_has_its_parts(self):
        heads = re.findall("<h2>([^<]*)", self.drawn())
        self.assertEqual(heads, ["Variant by variant", "Source lines by their conflicts", "Roofline", "All numbers",
                                 "Measured on"])
        self.assertNotIn('id="plain"', self.drawn())

    def test_the_first_screen_says_where_to_look(self):
        text = self.drawn()
        first = text[:text.index("<h2>")]
        self.assertRegex(first, r'class="verdict">Begin with step [12], <code>')
        self.assertRegex(first, r"it takes \d+( to \d+)? % of the time")
        steps = re.findall(r"<li value=\"\d\">(.*?)</li>", first, re.S)
        self.assertEqual(len(steps), 2)
        self.assertRegex(steps[0], r"(padded|swizzled) has <span class=\"good\">no bank conflicts")
        self.assertRegex(steps[0], r"transpose\.cu:\d+</b> of tiled, <span class=\"bad\">an? [\d.]+-way conflict")
        self.assertIn("to avoid it, pad the array by", steps[0])
        self.assertIn("Most bank conflicts: <a class=\"mono\" href=\"#lines\">transpose.cu:", first)

    def test_bars_have_one_axis_and_lines_their_maps(self):
        text = self.drawn()
        rows = re.findall(r'<div class="row two"><span title.*?</div>', text)
        self.assertEqual(text.count('class="axis"'), 2)
        self.assertTrue(any('class="more"' in row for row in rows))
        for row in rows:  # red is what is beyond the need, and nothing else is
            if 'class="track waves"' in row:
                self.assertEqual('class="more"' in row, "-way" in row, row)
                self.assertEqual("free" in row, "-way" not in row)
        self.assertTrue("<td>8.00</td>" in text)  # bytes of a column of 32: eight rows of each bank
        lines = text[text.index('id="lines"'):text.index("Roofline</h2>")]
        widths = [float(width) for width in re.findall(r'class="heat"[^>]*><i style="width: ([\d.]+)%', lines)]
        self.assertEqual(widths[0], 100)
        self.assertEqual(lines.count('<details open="">'), 1)  # the worst map alone
        self.assertEqual(lines.count('<svg class="bank-map"'), lines.count("<figcaption>"))
        words = re.sub("<svg.*?</svg>", "", lines, flags=re.S)
        self.assertRegex(words, r"In this access lanes [\d, ]+ and \d+( more)? want different words of bank \d+")
        free = lines[lines.index(" without conflict</summary>"):]
        self.assertFalse("want different words" in free)
        self.assertTrue("wavefront, as many as its width needs" in free)

    def test_conflicts_that_every_variant_has_are_told_apart(self):
        self.small_png("small.png", 512, 64)
        text = drawn(self, self.smp(
            "compare", "-e", "gray", "-e", "depth float", "-e", "fft", "small.png", "--stages", "fft", "--device",
            "cpu", "--html", "-", "--time-limit", "0", "--repeat", "1").stdout)
        shown = re.search(r'no variant spares: <a class="mono" href="#lines">([^<]+)</a> of (\w+)\.', text)
        self.assertTrue(shown, text[text.index("verdict\">"):][:600])
        worst = re.search(r'<tbody><tr><td class="mono">([^<]+)</td>', text)[1]  # of a variant that nobody needs
        self.assertNotEqual(shown[1], worst)
        told = sum(int(n) for n in re.findall(r"<summary>(\d+) (?:more with|with|without) conflict", text))
        self.assertEqual(told + text.count('<details open="">'), text.count('<svg class="bank-map"'))

    def test_the_same_conflicts_are_told_once(self):
        self.small_png("square.png", 64, 64)
        text = drawn(self, self.smp("compare", "-e", "transpose", "-e", "transpose", "square.png", "--device", "cpu",
                                    "--html", "-", "--time-limit", "0", "--repeat", "1").stdout)
        first, second = re.findall(r"<li value=\"\d\">(.*?)</li>", text[:text.index("<h2>")])
        self.assertIn("-way conflict", first)
        self.assertNotIn("-way conflict", second)
        self.assertIn("Its banks are as in step 1.", second)

    def test_names_of_strangers_stay_text(self):
        name = "<b>&</script><!--\"\u202e.png"
        self.small_png(name.replace("/", ""))
        text = self.smp("compare", "-e", "invert", name.replace("/", ""), "--device", "cpu", "--html", "-",
                        "--time-limit", "0", "--repeat", "1").stdout
        check_page(self, text)
        self.assertEqual(data_of(text)["input"], name.replace("/", ""))
        data = data_of(text)
        data["input"] = data["steps"][0]["step"] = name + "<img src=x onerror=alert(1)>"
        text = drawn(self, with_data(text, "compare", data))
        self.assertIn("on &lt;b&gt;&amp;&lt;/script&gt;&lt;!--\"?.png&lt;img src=x onerror=alert(1)&gt;</h1>", text)
        self.assertNotIn("<img", text)

    @needs_browser
    def test_the_first_screen_tells_what_matters(self):
        cases = (  # spread, conflicts, of, wavefronts of the worst access, what is said, what is not
            (1, 9, 1000, 32, "Bank conflicts take under 1 %", "-way"),
            (1, 31000, 1000, 32, "a 32-way conflict that takes 97 % of its wavefronts; to avoid it, pad", "noisy"),
            (1, 500, 1000, 32, "a 1.5-way conflict that takes 33 % of its wavefronts.", "pad"),  # others are free
            (1, 0, 1000, 1, "It reaches 10 % of the rate of a copy, so there is something to win", "too noisy"),
            (1.2, 0, 1000, 1, "It reaches 8 to 12 % of the rate of a copy, so there is something to win", "too noisy"),
            (6, 0, 1000, 1, "too noisy to say (2 to 60 %)", "to win"),
        )  # fmt: skip
        for spread, conflicts, of, wavefronts, said, unsaid in cases:
            data = small(spread, conflicts, of, access(wavefronts))
            shown = Page(drawn(self, with_data(self.page(), "compare", data))).text
            first = shown[:shown.index("Variant by variant")]
            self.assertIn(said, first)
            self.assertNotIn(unsaid, first)

    @needs_browser
    def test_predicted_times_are_told_apart(self):
        data = small(1, 0, 1000, access(1))
        page = self.page()
        self.assertNotIn("Predicted for", Page(drawn(self, with_data(page, "compare", data))).text)
        data["environment"]["predicted_for"] = "H100"
        data["steps"][0]["variants"][1]["predicted"] = {"gpu": "h100", "us": 4.5, "low_us": 4.25, "high_us": 5.75,
                                                        "bound": "launch"}
        shown = Page(drawn(self, with_data(page, "compare", data))).text
        self.assertIn("1 ms", shown[:shown.index("Predicted for H100: 4.5 µs by tiled.")])
        for text in ("predicted H100 µs", "4.25\u200a–\u200a5.75", "launch"):
            self.assertIn(text, shown)

    @needs_browser
    def test_fits_a_desk_and_a_phone_without_errors(self):
        for width in (1280, 500):  # headless windows are not made narrower than 500
            text = drawn(self, self.page(), PROBE, width)
            probe = re.search(r'data-probe="(\d+) (\d+) (\d+) (\d+) (\d+) (\d)"', text)
            self.assertTrue(probe, text[-500:])
            window, document, outside, conflicts, height, sorts = map(int, probe.groups())
            self.assertLessEqual(document, window, "the page scrolls sideways")
            self.assertEqual(outside, 0)
            self.assertGreater(conflicts, 0)
            self.assertTrue(sorts, "a click on a head does not sort")
            if window == 1280:
                self.assertLess(height, 2100)  # so that four steps take 2,500 pixels at most


if __name__ == "__main__":
    unittest.main()
