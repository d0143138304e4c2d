"""measure --html: what stands out, doubles, histograms, spreads, and a table with all that --csv has."""
import base64
import csv
import html
import io
import re
import shutil
import unittest
import wave

import numpy

from harness import SAMPLES, CliCase
from pages import Page, check_page, data_of, drawn, needs_browser


class MeasurePage(CliCase):
    def page(self, *arguments, status=0):
        """What a browser draws."""
        return Page(drawn(self, self.smp("measure", *arguments, "--html", "-", status=status).stdout))

    def pictures(self):
        random = numpy.random.default_rng(1)
        for i in range(12):
            numpy.save(self.folder / f"p{i:02}.npy", random.integers(60, 180, (20, 30, 3), dtype=numpy.uint8))
        numpy.save(self.folder / "q<black>.npy", numpy.zeros((20, 30, 3), numpy.uint8))
        shutil.copy(self.folder / "p03.npy", self.folder / "s.npy")

    def test_a_data_set(self):
        self.pictures()
        (self.folder / "bad.npy").write_bytes(b"no array")
        self.smp("measure", "dataset-stats", ".", "--html", "page.html", status=1)
        made = (self.folder / "page.html").read_text()
        check_page(self, made)
        rows = list(csv.reader(io.StringIO(self.smp("measure", "dataset-stats", ".", "--csv", status=1).stdout)))
        self.assertEqual(Page(made).rows, rows)  # without scripts, too
        data = data_of(made)
        self.assertEqual((data["files"], data["failed"], data["far"], data["doubles"]), (14, 1, 1, 1))
        self.assertEqual(data["far_files"][0]["path"].split("/")[-1], "q<black>.npy")
        (self.folder / "page.html").unlink()
        text = drawn(self, made)
        page = Page(text)
        self.assertIn("14 files", page.text)
        self.assertIn("1 file stands out", page.text)
        self.assertIn("1 is a double of another", page.text)
        self.assertIn("1 more file could not be measured", page.text)
        self.assertIn("Pictures are 30 x 20", page.text)
        self.assertIn("q<black>.npy", page.text)
        self.assertRegex(page.text, r"s\.npyas (\./)?p03\.npy")
        self.assertEqual(text.count("<img "), 2)
        self.assertIn('class="histogram"', text)
        self.assertEqual(page.rows[0], rows[0])
        self.assertEqual(page.rows[1:], rows[1:])
        for seen, row in zip(page.seen[1:], rows[1:]):
            for short, full in zip(seen[5:], row[5:]):
                self.assertLessEqual(len(short), 11, short)
                self.assertAlmostEqual(float(short), float(full), delta=1e-4 * abs(float(full)))

    def test_thumbnails_are_pictures(self):
        shutil.copy(SAMPLES / "chelsea.png", self.folder / "cat.png")
        for i in range(6):
            numpy.save(self.folder / f"n{i}.npy", numpy.full((8, 8, 3), 10 + i % 3, numpy.uint8))
        text = self.smp("measure", "-e", "stats", ".", "--html", "-").stdout
        (card,) = [card for card in data_of(text)["odd_files"] if card["path"].endswith("cat.png")]
        self.assertEqual((card["picture"]["width"], card["picture"]["height"]), (160, 106))
        bmp = base64.b64decode(card["picture"]["bmp"])
        self.assertEqual((bmp[:2], len(bmp)), (b"BM", 54 + 160 * 3 * 106))
        self.assertEqual(int.from_bytes(bmp[2:6], "little"), len(bmp))
        (self.folder / "small.bmp").write_bytes(bmp)
        self.smp("measure", "-e", "stats", "cat.png", "small.bmp", "--csv")
        means = [[float(row[f"mean_{c}"]) for c in "rgb"] for row in csv.DictReader(io.StringIO(
            self.smp("measure", "-e", "stats", "cat.png", "small.bmp", "--csv").stdout))]
        for whole, small in zip(*means):
            self.assertAlmostEqual(whole, small, delta=1)

    def test_few_files_and_sounds(self):
        page = self.page("loudness-report", SAMPLES / "chirp.wav")
        self.assertIn("1 file", page.text)
        self.assertIn("Too few", page.text)
        self.assertIn("Sounds are 2 seconds long.", page.text)
        self.assertEqual(page.rows[0][:5], ["path", "frames", "rate", "channels", "format"])
        self.assertEqual(page.rows[1][1:3], ["32000", "16000"])

    def test_sounds_beside_pictures_have_columns_of_their_own(self):
        self.pictures()
        shutil.copy(SAMPLES / "chirp.wav", self.folder)
        arguments = ("measure", "-e", "stats", "chirp.wav", "p01.npy")
        page = Page(self.smp(*arguments, "--html", "-").stdout)  # the plain table
        self.assertEqual(page.rows, list(csv.reader(io.StringIO(self.smp(*arguments, "--csv").stdout))))

    def test_failures_are_named_with_their_reasons(self):
        for i in range(14):
            (self.folder / f"no<{i:02}>.png").write_bytes(b"no picture")
        page = self.page("-e", "stats", "no<00>.png", "no<01>.png", status=1)
        self.assertIn("There is nothing to show. 2 files could not be measured.", page.text)
        self.assertRegex(page.text, r"What failed\s+no<00>.png: the file is in no known format\s+no<01>.png: ")
        self.assertNotIn("All files together", page.text)
        self.assertEqual(page.rows, [])
        text = drawn(self, self.smp("measure", "-e", "stats", ".", "--html", "-", status=1).stdout)
        self.assertIn("<details><summary>14 files</summary>", text)  # a long list is folded

    def test_groups_without_a_common_value_have_no_heading(self):
        numpy.save(self.folder / "colour.npy", numpy.zeros((2, 3, 3), numpy.float32))
        numpy.save(self.folder / "gray.npy", numpy.ones((2, 3), numpy.float32))
        page = self.page("-e", "stats", ".")
        self.assertNotIn("Over the files", page.text)

    def test_what_does_not_add_up_has_no_heading(self):
        self.pictures()
        self.assertNotIn("All files together", self.page("-e", "hash", ".").text)

    @needs_browser
    def test_sorts_and_saves_all_digits_in_a_browser(self):
        self.pictures()
        probe = """addEventListener("load", async () => {
          let saved; URL.createObjectURL = blob => (saved = blob, "#");
          const means = () => [...document.querySelectorAll("#files tbody tr")].map(
            r => +(r.cells[8].dataset.v ?? r.cells[8].textContent));
          const heads = document.querySelectorAll("#files th button");
          const names = () => [...document.querySelectorAll("#files tbody tr")].map(r => r.cells[0].textContent);
          heads[8].click(); const once = means(); heads[8].click();
          const sorted = (x, by) => x.every((v, i) => !i || by * (v - x[i - 1]) >= 0);
          const both = sorted(once, -1) && sorted(means(), 1) && once[0] > once[13];
          heads[0].click(); const down = names().join(); heads[0].click();
          const texts = names().join() === names().sort().join() && down === names().reverse().join();
          document.getElementById("save").click();
          document.body.dataset.probe = `${both && texts} ${document.documentElement.scrollWidth <= innerWidth}`;
          document.body.dataset.saved = await saved.text();
        });"""
        text = drawn(self, self.smp("measure", "-e", "stats", ".", "--html", "-").stdout, probe, 500)
        self.assertEqual(re.findall('data-probe="([^"]*)"', text), ["true true"])
        (saved,) = re.findall('data-saved="([^"]*)"', text)
        rows = list(csv.reader(io.StringIO(self.smp("measure", "-e", "stats", ".", "--csv").stdout)))
        read = list(csv.reader(io.StringIO(html.unescape(saved))))
        self.assertEqual((read[0], sorted(read[1:])), (rows[0], sorted(rows[1:])))

    def sound(self, name, channels, level):
        with wave.open(str(self.folder / name), "wb") as to:
            to.setparams((channels, 2, 8000, 0, "NONE", ""))
            to.writeframes((numpy.sin(numpy.arange(400 * channels)) * level).astype("<i2").tobytes())

    def test_sounds_are_not_compared_with_pictures(self):
        for i in range(6):
            self.sound(f"s{i}.wav", 1, 1000 + 100 * i)
        for i in range(2):
            numpy.save(self.folder / f"p{i}.npy", numpy.full((8, 8), 200 + i, numpy.uint8))
        page = self.page("-e", "stats", ".")
        self.assertIn("2 files are of another kind than the others. No other stands out.", page.text)
        self.assertIn("2 pictures of u8", page.text)
        self.assertIn("6 sounds of f32", page.text)

    def plain(self, name, value, shape=(20, 30, 3)):
        numpy.save(self.folder / name, numpy.full(shape, value, numpy.uint8))

    def test_files_of_another_kind_come_first(self):
        self.pictures()
        self.plain("gray.npy", 0, (20, 30))
        self.plain("thumb.npy", 120, (6, 9, 3))
        numpy.save(self.folder / "deep.npy", numpy.full((20, 30, 3), 30000, numpy.uint16))
        shutil.copy(SAMPLES / "chirp.wav", self.folder)
        page = self.page("-e", "stats", ".")
        self.assertRegex(page.text, r"18 files\s+4 files are of another kind than the others. 1 other stands out.")
        self.assertRegex(page.text, r"Of another kind\s+14 are pictures of 3 channels, u8\.")
        for name, why in (("gray", "1 channel, the others have 3"), ("thumb", "9 x 6 px, much smaller"),
                          ("deep", "u16, the others are u8")):
            self.assertIn(f"{name}.npy{why}", page.text)
        self.assertIn("chirp.wava sound, the others are pictures", page.text)
        self.assertLess(page.text.index("Of another kind"), page.text.index("What stands out"))

    def test_kinds_that_are_all_frequent(self):
        for i in range(4):
            self.plain(f"gray{i}.npy", i, (20, 30))
            self.plain(f"colour{i}.npy", i)
        page = self.page("-e", "stats", ".")
        self.assertNotIn("of another kind", page.text)
        self.assertRegex(page.text, "Of several kinds: 4 pictures of [13] channels?, u8; 4 pictures of [13] channels?")

    def test_what_stands_out_is_far_from_most(self):
        for i, value in enumerate((100, 100, 101, 100, 103, 97, 105)):
            self.plain(f"{i}.npy", value)
        self.assertIn("None stands out.", self.page("-e", "stats", ".").text)
        for i, value in enumerate((20, 60, 90, 110, 130, 170, 220)):
            self.plain(f"{i}.npy", value)
        self.assertIn("None stands out.", self.page("-e", "stats", ".").text)
        for i, value in enumerate((100, 100, 100, 100, 100, 100, 180)):  # without any usual distance
            self.plain(f"{i}.npy", value)
        page = self.page("-e", "stats", ".")
        self.assertRegex(page.text, r"1 file stands out\.[^$]*6\.npymean_r 180, far above the others")

    def test_what_is_too_soft_and_what_clips(self):
        time = numpy.arange(8000) / 8000
        for name, level in (("fine", 0.2), ("soft", 0.01), ("softer", 0.002), ("loud", 1.5), ("none", 0)):
            samples = numpy.clip(32768 * level * numpy.sin(2 * numpy.pi * 400 * time), -32768, 32767)
            with wave.open(str(self.folder / f"{name}.wav"), "wb") as to:
                to.setparams((1, 2, 8000, 0, "NONE", ""))
                to.writeframes(samples.astype("<i2").tobytes())
        text = drawn(self, self.smp("measure", "loudness-report", ".", "--html", "-").stdout)
        page = Page(text)
        self.assertIn("3 files are too soft. 1 file has clipped samples.", page.text)
        soft, clipped = re.findall('<table class="bars">(.*?)</table>', text, re.S)
        self.assertEqual(re.findall(r"<td>(?:\./)?(\w+)\.wav</td>.*?<td>([^<]*)</td></tr>", soft),
                         [("none", "silence"), ("softer", "-57.5 LUFS"), ("soft", "-43.5 LUFS")])
        ((name, count),) = re.findall(r"<td>(?:\./)?(\w+)\.wav</td>.*?<td>(\d+)</td>", clipped)
        self.assertEqual((name, int(count)), ("loud", int(numpy.sum(numpy.abs(
            1.5 * numpy.sin(2 * numpy.pi * 400 * time)) >= 1))))
        self.assertIn("<b>lufs</b>", text)
        self.assertIn("<b>peak_dbfs</b>", text[:text.index("<details>")])

    def test_how_many_things_are_in_each_file(self):
        for i, count in enumerate((3, 0, 7)):
            slide = numpy.full((60, 120), 10, numpy.uint8)
            for k in range(count):
                slide[20:32, 4 + 16 * k : 14 + 16 * k] = 200
            numpy.save(self.folder / f"slide{i}.npy", slide)
        text = drawn(self, self.smp("measure", "-e", "threshold 50%", "-e", "label", ".", "--html", "-").stdout)
        (bars,) = re.findall('<table class="bars">(.*?)</table>', text, re.S)
        self.assertEqual(re.findall(r"(slide\d)\.npy</td>.*?<td>(\d)</td>", bars),
                         [("slide2", "7"), ("slide0", "3"), ("slide1", "0")])
        self.assertEqual(Page(text).rows[0], ["path", "width", "height", "channels", "format", "count", "foreground"])

    def test_what_one_file_alone_has_is_not_the_same_in_all(self):
        self.sound("a.wav", 1, 1000)
        self.sound("b.wav", 2, 2000)
        text = drawn(self, self.smp("measure", "-e", "stats", "-e", "histogram bins=8", ".", "--html", "-").stdout)
        page = Page(text)
        (same,) = re.findall(r"The same in all of them: (.*?)\.\n", page.text)
        self.assertIn("clipped_0 0", same)  # a sound's only channel is channel 0 where others have several
        self.assertNotIn("_1", same)
        self.assertEqual(text.count('class="histogram"'), 2)  # channels share a drawing
        self.assertEqual(re.findall(r"<span>(-?\d)</span><span>(\d)</span>", text), [("-1", "1")] * 2)

    def test_mistakes(self):
        self.pictures()
        (self.folder / "page.html").write_text("mine")
        self.assertIn("--force", self.smp("measure", "-e", "stats", ".", "--html", "page.html", status=4).stderr)
        self.assertEqual((self.folder / "page.html").read_text(), "mine")
        self.smp("measure", "-e", "stats", ".", "--html", "page.html", "--force")
        self.assertIn("</html>", (self.folder / "page.html").read_text())
        self.smp("measure", "-e", "stats", ".", "--html", "-", "--csv", status=2)
        self.smp("measure", "-e", "stats", ".", "--html", "-", "--together", status=2)


if __name__ == "__main__":
    unittest.main()
