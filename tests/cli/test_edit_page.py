"""The page of smempipe edit in a browser: mouse, keyboard, text, undo, saving, and pixels that are run's."""
import json
import re
import shutil
import time
import unittest

import numpy

from chromium import Browser
from edit_case import EditCase
from harness import SAMPLES
from pages import needs_browser


@needs_browser
class EditPage(EditCase):
    def setUp(self):
        super().setUp()
        shutil.copy(SAMPLES / "chelsea.png", self.folder / "cat.png")

    def open(self, text="", width=1280, name="cat.png"):
        self.write("p.pipe", text)
        self.serve(name, "p.pipe")
        self.browser = Browser(self.folder, width)
        self.addCleanup(self.browser.close)
        self.browser.go(self.address)
        self.browser.wait("document.body && document.body.dataset.ready")

    def text(self):
        return self.browser.run("document.getElementById('source').value")

    def settle(self, text):
        """Until the text is this one and its picture is shown; what the program then shows is what run writes."""
        b = self.browser
        b.wait(f"document.getElementById('source').value === {json.dumps(text)}")
        b.wait("!document.body.classList.contains('runs') && document.body.dataset.ran")
        b.wait("(async () => { const n = document.body.dataset.ran; await new Promise(r => setTimeout(r, 150)); "
               "return n === document.body.dataset.ran && !document.body.classList.contains('runs'); })()")

    def choose(self, at):
        self.browser.click(f"#steps li:nth-child({at + 1}) button.name")

    def said(self, text):
        self.browser.wait(f"document.getElementById('said').textContent === {json.dumps(text)}")

    def shown(self, height, width):
        """The pixels of a picture of this size on the canvas; None: another one is there still."""
        got = self.browser.run("(() => { const c = document.getElementById('canvas'); return [c.width, c.height, "
                               "Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data)]; })()")
        got = numpy.array(got[2], numpy.uint8).reshape(got[1], got[0], 4)
        seen = numpy.argwhere(got[..., 3] == 255)
        top, left = seen.min(0) if len(seen) else (0, 0)
        part = got[top:top + height, left:left + width, :3]
        return part if part.shape[:2] == (height, width) else None

    def same_as_run(self):
        """The pixels of the canvas at 1:1 are those of a run of the text, once they are drawn."""
        self.browser.click("[value=after]")
        self.browser.click("[title='Pixel by pixel (1)']")
        self.write("now.pipe", self.text())
        self.smp("run", "now.pipe", "cat.png", "now.npy", "--force")
        want = numpy.load(self.folder / "now.npy")
        want = want.reshape(*want.shape[:2], -1)
        want = numpy.repeat(want, 3, 2) if want.shape[2] == 1 else want
        for _ in range(30):
            part = self.shown(*want.shape[:2])
            if part is not None and (part == want).all():
                return
            time.sleep(0.2)
        self.fail("other pixels than those of run")

    def test_a_slider_by_mouse_and_keyboard(self):
        self.open("# soft\ngaussian 2px  # how far\n")
        self.choose(0)
        b = self.browser
        x, y, left, _, width, _ = b.place("[data-param=sigma] input[type=range]")
        b.click_at(left + width * 0.6, y)
        b.wait("!document.getElementById('source').value.includes('gaussian 2px')")
        text = self.text()
        self.assertRegex(text, r"^# soft\ngaussian \d+(\.\d+)?px  # how far\n$")
        self.settle(text)
        self.same_as_run()
        b.run("document.querySelector('[data-param=sigma] input[type=range]').focus()")
        for _ in range(3):
            b.key("ArrowRight")
        b.wait(f"document.getElementById('source').value !== {json.dumps(text)}")
        value = lambda t: float(t.split("gaussian ")[1].split("px")[0])
        self.assertGreater(value(self.text()), value(text))

    def test_a_large_picture_shows_a_preview_first(self):
        self.smp("run", "-e", "resize 500%", "cat.png", "large.png")
        (self.folder / "large.png").replace(self.folder / "cat.png")
        self.open("gamma 2\n")
        self.choose(0)
        b = self.browser
        b.run("window.seen = []; new MutationObserver(() => window.seen.push(document.getElementById('canvas').dataset"
              ".preview + !document.getElementById('preview').hidden)).observe(document.getElementById('canvas'), "
              "{attributes: true, attributeFilter: ['data-drawn']})")
        b.run("document.querySelector('[data-param=g] input[type=range]').focus()")
        b.key("ArrowRight")
        b.wait("window.seen.includes('yestrue') && window.seen.at(-1) === 'nofalse'")
        self.settle(self.text())

    def test_choices_booleans_colours_and_numbers(self):
        self.open("gaussian 2px\npad 5px\ncrop width=300px\n")
        b = self.browser
        self.choose(0)
        b.run("document.querySelectorAll('#params details').forEach(d => d.open = true)")
        b.run("document.querySelector('[data-param=edge] select').focus()")
        b.key("ArrowDown")
        b.wait("document.getElementById('source').value.includes('edge=')")
        self.choose(2)
        b.run("document.querySelectorAll('#params details').forEach(d => d.open = true)")
        b.run("""(() => { const e = document.querySelector('[data-param=clip] select'); e.value = 'yes';
                 e.dispatchEvent(new Event('input')); })()""")
        b.wait("document.getElementById('source').value.includes('clip=yes')")
        self.choose(1)
        b.run("document.querySelectorAll('#params details').forEach(d => d.open = true)")
        b.run("""(() => { const e = document.querySelector('[data-param=fill] input[type=color]'); e.value = '#ff8000';
                 e.dispatchEvent(new Event('input')); })()""")
        b.wait("document.getElementById('source').value.includes('fill=#ff8000')")
        text = self.text()
        self.settle(text)
        self.assertEqual(b.run("document.querySelectorAll('#mistakes li').length"), 0, text)
        self.same_as_run()

    def test_a_parameter_of_the_pipeline_moves_with_the_slider(self):
        self.open("param s = 2px  # softness\ngaussian $s\n")
        b = self.browser
        self.choose(1)
        b.run("""(() => { const e = document.querySelector('[data-param=sigma] input.exact'); e.value = '3px';
                 e.dispatchEvent(new Event('input')); })()""")
        self.settle("param s = 3px  # softness\ngaussian $s\n")
        self.same_as_run()

    def test_a_rectangle_gives_a_crop(self):
        self.open("crop 400x200+5+7 clip=yes\n")
        b = self.browser
        self.choose(0)
        b.run("document.getElementById('only').click()")
        b.click("[value=before]")
        b.click("#pick")
        x, y = b.place("#canvas")[:2]
        b.drag((x - 60, y - 40), (x + 60, y + 40))
        b.wait("!document.getElementById('source').value.includes('400')")
        text = self.text()
        self.assertRegex(text, r"^crop (\w+=\S+ )*clip=yes( \w+=\S+)*\n$")
        for name in ("width", "height", "x", "y"):
            self.assertRegex(text, rf"\b{name}=\d+px")
        self.settle(text)
        self.assertEqual(b.run("document.getElementById('mistakes').textContent"), "")
        self.same_as_run()

    def test_a_click_gives_a_colour(self):
        self.open("tint #ff0000\n")
        b = self.browser
        self.choose(0)
        b.click("[value=before]")
        b.click("[data-param=color] button[title^=Take]")
        x, y = b.place("#canvas")[:2]
        b.click_at(x, y)
        b.wait("!document.getElementById('source').value.includes('ff0000')")
        self.assertRegex(self.text(), r"^tint #[0-9a-f]{6}\n$")

    def test_steps_move_switch_copy_and_go(self):
        start = "# head\nkind image\ngray  # first\ninvert\n\ngamma 2\n"
        self.open(start)
        b = self.browser
        self.choose(1)
        b.click("[aria-label='Move down (Alt+Down)']")
        moved = "# head\nkind image\ninvert\ngray  # first\n\ngamma 2\n"
        self.settle(moved)
        b.key("ArrowUp", alt=True)
        self.settle(start)
        b.click("[aria-label='Switch off']")
        off = "# head\nkind image\n# off: gray  # first\ninvert\n\ngamma 2\n"
        self.settle(off)
        self.same_as_run()
        b.click("[aria-label='Switch on']")
        self.settle(start)
        b.click("[aria-label=Duplicate]")
        self.settle("# head\nkind image\ngray  # first\ngray  # first\ninvert\n\ngamma 2\n")
        b.click("[aria-label='Delete (Del)']")
        self.settle(start)
        for _ in range(5):
            b.key("z", control=True)
        self.settle(moved)
        b.key("z", control=True, shift=True)
        self.settle(start)

    def test_search_adds_a_stage(self):
        self.open("gray\n")
        b = self.browser
        b.click("#add")
        b.type("invert")
        b.key("Enter")
        self.settle("gray\ninvert\n")
        self.assertEqual(b.run("document.querySelectorAll('#steps li.step').length"), 2)

    def test_mistakes_are_told_at_their_place(self):
        self.open("gray\n")
        b = self.browser
        cost = "document.querySelector('#steps .cost').textContent"
        b.wait(cost)
        b.click("#source")
        b.key("Home")
        b.run("document.getElementById('source').setSelectionRange(5, 5)")
        b.type("gaussian sigam=2px")
        b.wait("!!document.querySelector('#mistakes .bad')")
        b.wait(f"!{cost}")  # what it took is of another text
        self.assertIn("sigam", b.run("document.querySelector('#marks mark.bad').textContent"))
        self.assertIn("line 2", b.run("document.getElementById('mistakes').textContent"))
        self.assertIn("did you mean", b.run("document.getElementById('mistakes').textContent"))
        self.assertIn("unknown parameter", b.run("document.querySelector('#steps li:nth-child(2)').textContent"))
        b.run("document.getElementById('source').setSelectionRange(0, 99)")
        b.type("gray\ninvert\n")
        self.settle("gray\ninvert\n")
        self.assertEqual(b.run("document.getElementById('mistakes').textContent"), "")
        self.same_as_run()

    def test_a_text_that_is_wrong_from_the_start_shows_the_picture(self):
        self.open("gaussian sigam=2px\r\ngray\r\n")
        b = self.browser
        b.wait("(() => { const c = document.getElementById('canvas'); return c.getContext('2d').getImageData("
               "c.width / 2, c.height / 2, 1, 1).data[3] === 255; })()")
        b.run("document.getElementById('source').setSelectionRange(9, 14)")
        b.run("document.getElementById('source').focus()")
        b.type("sigma")
        self.settle("gaussian sigma=2px\ngray\n")
        b.key("s", control=True)
        b.wait("document.getElementById('said').textContent.includes('saved')")
        self.assertEqual((self.folder / "p.pipe").read_bytes(), b"gaussian sigma=2px\r\ngray\r\n")

    def test_save_and_copy(self):
        self.open("gray\n")
        b = self.browser
        self.assertTrue(b.run("document.getElementById('save').disabled"))
        b.run("""(() => { const e = document.getElementById('source'); e.value = "text \\"it's\\"\\n";
                 e.dispatchEvent(new Event('input')); })()""")
        self.settle("text \"it's\"\n")
        b.click("#copy")
        self.said("smempipe run -e 'text \"it'\\''s\"' cat.png cat-edited.png")
        b.key("s", control=True)
        b.wait("document.getElementById('said').textContent.includes('saved')")
        self.assertEqual(self.reads("p.pipe"), "text \"it's\"\n")
        self.assertTrue(b.run("document.getElementById('save').disabled"))
        b.click("#copy")
        self.said("smempipe run p.pipe cat.png cat-edited.png")

    def test_the_page_is_quiet_and_ends_the_program(self):
        self.open("gaussian 2px\nstats\n")
        b = self.browser
        self.assertEqual(b.console, [])
        b.wait("document.querySelectorAll('svg.histogram path').length === 3")
        self.assertGreater(b.run("document.querySelectorAll('#findings dt').length"), 3)
        b.go("about:blank")
        self.assertEqual(self.process.wait(30), 0)

    def test_a_hostile_text_stays_text(self):
        self.open("# <script>alert(1)</script>\ngaussian 2px <img src=x onerror=alert(1)>\ntext \"</textarea><b>\"\n")
        b = self.browser
        self.assertEqual(b.run("document.querySelectorAll('img, main b, script:not([src])').length"), 0)

    def test_a_page_that_is_loaded_again_shows_the_result(self):
        self.open("gray\n")
        for value in (2, 3, 4):
            text = f"gaussian {value}px\n"
            self.browser.run(f"(() => {{ const e = document.getElementById('source'); e.value = {json.dumps(text)}; "
                             "e.dispatchEvent(new Event('input')); })()")
            self.settle(text)
        self.browser.go(self.address)
        self.browser.wait("document.body && document.body.dataset.ready && document.body.dataset.ran")

    def test_a_folder(self):
        (self.folder / "in").mkdir()
        for at in range(11):
            self.smp("convert", "cat.png", f"in/{at:02}.png", "-e", f"crop {200 + at}x150+0+0")
        self.write("in/02.png", b"\x89PNG\r\n\x1a\nno")
        self.open("gray\n", name="in")
        b = self.browser
        self.assertEqual(b.run("document.getElementById('of').textContent"), "1 of 11")
        b.click("#next")
        b.wait("document.getElementById('paths').textContent.startsWith('in/01.png')")
        self.settle("gray\n")
        b.wait("document.getElementById('numbers').textContent.startsWith('201 × 150')")
        b.click("#next")
        b.wait("document.getElementById('opened').textContent.includes('02.png')")
        b.click("#next")
        b.wait("document.getElementById('of').textContent === '4 of 11'")
        b.click("#many")
        b.wait("document.querySelectorAll('#nine figure[data-drawn]').length === 8")
        self.assertIn("02.png", b.run("document.querySelector('#nine .bad').parentNode.textContent"))
        gray = """(() => { const c = document.querySelector('#nine figure canvas'); const [r, g, b] =
            c.getContext('2d').getImageData(50, 50, 1, 1).data; return [r === g, c.width]; })()"""
        self.assertEqual(b.run(gray), [True, 200])
        b.run("""(() => { const e = document.getElementById('source'); e.value = 'tint red\\n';
                 e.dispatchEvent(new Event('input')); })()""")
        b.wait(f"!{gray}[0]")
        b.click("#nine figure:last-child button")
        b.wait("document.getElementById('of').textContent === '9 of 11'")
        b.click("#everything")
        b.run("""(() => { const e = document.getElementById('name'); e.value = 'my out';
                 e.dispatchEvent(new Event('input')); })()""")
        self.assertEqual(b.run("document.getElementById('command').textContent"),
                         "smempipe batch p.pipe in -o 'my out'")
        b.click("#start")
        b.wait("document.getElementById('done').dataset.ended === 'yes'")
        self.assertIn("10 of 11 files done, 1 failed", b.run("document.getElementById('done').textContent"))
        self.assertEqual(self.reads("p.pipe"), "tint red\n")
        self.assertEqual(len([f for f in (self.folder / "my out").iterdir() if f.suffix == ".png"]), 10)
        said = [e for e in b.console if e.get("level") != "warning"]
        self.assertEqual([e for e in said if not re.search("422|400|tile.* 409", f'{e.get("url")} {e["text"]}')], [])

    def test_a_sound(self):
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "in.wav")
        self.open("gain -6dB\n", name="in.wav")
        b = self.browser
        b.wait("document.getElementById('canvas').dataset.look === 'waveform'")
        self.assertIn("-12.1 LUFS", b.run("document.getElementById('loudness').textContent"))
        self.assertIn("Hz", b.run("document.getElementById('numbers').textContent"))
        b.run("window.heard = []; AudioBufferSourceNode.prototype.start = function () { window.heard.push("
              "[this.loop, this.buffer.length, this.buffer.getChannelData(0)[500]]); }; "
              "AudioBufferSourceNode.prototype.stop = () => {}")
        for at, which in enumerate(("before", "after"), 1):
            b.click(f"#play-{which}")
            b.wait(f"window.heard.length === {at}")
        before, after = b.run("window.heard")
        self.assertEqual((before[0], before[1]), (True, after[1]))
        self.assertNotEqual(before[2], 0)
        self.assertAlmostEqual(after[2] / before[2], 10 ** (-6 / 20), 4)
        x, y, left, _, width, _ = b.place("#canvas")
        b.click_at(left + width / 2, y)
        b.wait("window.heard.length === 3")
        b.run("(() => { const e = document.getElementById('look'); e.value = 'spectrogram'; "
              "e.dispatchEvent(new Event('input')); })()")
        b.wait("document.getElementById('canvas').dataset.look === 'spectrogram'")
        self.choose(0)
        b.run("document.querySelector('[data-param=amount] input[type=range], #params input[type=range]').focus()")
        b.key("ArrowLeft")
        b.wait("!document.getElementById('source').value.includes('-6dB')")
        self.settle(self.text())
        b.click("#add")
        self.assertFalse(b.run("[...document.querySelectorAll('ul.found b')].some(e => e.textContent === 'gaussian')"))
        self.assertEqual([e for e in b.console if e.get("level") != "warning"], [])

    def test_a_curve_is_drawn(self):
        self.open("curves [0 0; 0.5 0.5; 1 1]\n")
        self.choose(0)
        b = self.browser
        x, y, left, top, width, height = b.place("svg.curve")
        b.drag((x, y), (x, y - height * 50 / 212))
        b.wait("/^curves \\[0 0; 0.5 0.7[45]\\d*; 1 1\\]\\n$/.test(document.getElementById('source').value)")
        b.key("ArrowDown")
        b.click_at(left + width * 56 / 212, top + height * 100 / 212)
        b.wait("document.getElementById('source').value.split(';').length === 4")
        b.key("Delete")
        b.wait("document.getElementById('source').value.split(';').length === 3")
        self.settle(self.text())
        self.assertEqual(b.run("document.getElementById('mistakes').textContent"), "")
        self.same_as_run()

    def test_four_corners_on_what_the_step_is_given(self):
        self.open("crop 400x200+5+7\nwarp 12 size=fit\n")
        self.choose(1)
        b = self.browser
        b.click("#pick")
        b.wait("document.getElementById('numbers').textContent.startsWith('400 × 200')")
        x, y = b.place("#canvas")[:2]
        for at, (across, down) in enumerate(((-90, -40), (90, -40), (100, 50), (-100, 50)), 1):
            b.click_at(x + across, y + down)
            if at < 4:
                b.wait(f"document.querySelector('.ask').textContent.startsWith('Corner {at + 1}')")
        b.wait("document.getElementById('source').value.includes('corners=')")
        self.assertRegex(self.text(), r"\nwarp size=fit corners=\[(\d+ \d+(; )?){4}\]\n$")
        self.settle(self.text())
        self.assertEqual(b.run("document.getElementById('mistakes').textContent"), "")
        self.same_as_run()

    def test_a_ready_pipeline_and_its_parameters(self):
        self.open()
        b = self.browser
        b.click("#add")
        b.type("phone photo")
        b.wait("document.querySelector('ul.found b')?.textContent === 'scan-clean'")
        b.click("ul.found button")
        b.wait("document.getElementById('source').value.includes('local-threshold')")
        self.settle(self.text())
        at = b.run("[...document.querySelectorAll('#steps li')].findIndex(e => e.textContent.includes('deskew'))")
        self.choose(at)
        b.run("document.querySelector('[data-param=limit] input[type=range]').focus()")
        b.key("ArrowRight")
        b.wait("!document.getElementById('source').value.includes('turned = 15deg')")
        self.settle(self.text())
        self.assertEqual(b.run("document.getElementById('mistakes').textContent"), "")
        self.same_as_run()

    def test_what_is_added_comes_behind_and_is_chosen(self):
        """A ready pipeline too, which replaces no step; its parameters have sliders between their limits."""
        self.open("invert\n")
        b = self.browser
        chosen = "document.querySelector('#steps li.on')?.textContent"
        for words, begins in (("gamma", "gamma"), ("phone photo", "$paper")):
            b.click("#add")
            b.type(words)
            b.wait("document.querySelectorAll('ul.found li').length")
            b.click("ul.found button")
            b.wait(f"{chosen}?.startsWith('{begins}')")
        self.assertRegex(self.text(), r"^invert\ngamma .*\nparam paper = 25px [^\n]*\n(.*\n)+threshold 50%\n$")
        self.assertNotIn("kind", self.text())
        b.wait("document.querySelector('#params h2').textContent === '$paper'")
        b.run("document.querySelector('[data-param=paper] input[type=range]').focus()")
        b.key("ArrowRight")
        b.wait("!document.getElementById('source').value.includes('paper = 25px')")
        self.settle(self.text())
        self.assertRegex(self.text(), r"param paper = \d+(\.\d+)?px min=3px")
        self.assertEqual(b.run("document.getElementById('mistakes').textContent"), "")
        b.click("#add")
        b.type("nonsense")
        b.wait("document.querySelector('ul.found').textContent.startsWith('No step has')")

    def test_a_colour_by_its_name(self):
        self.open("tint orange\n")
        self.choose(0)
        self.assertEqual(self.browser.run("document.querySelector('[data-param=color] input[type=color]').value"),
                         "#ffa500")

    def test_a_phone(self):
        self.open("gaussian 2px\n", 500)
        self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), 500)


if __name__ == "__main__":
    unittest.main()
