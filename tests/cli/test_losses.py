"""What a conversion would lose without a word: colours, depth, rates, texts; and words that are mistakes."""
import json
import unittest
import wave

import numpy as np
from PIL import Image

from harness import PIPELINES, CliCase
from test_profile import ADOBE, GAMMA, SRGB, PARAMETRIC, icc


class Losses(CliCase):
    def picture(self, name="a.png", colorants=ADOBE, curve=GAMMA, **options):
        x = np.arange(60, dtype=np.uint8)
        rgb = np.stack(np.broadcast_arrays(x * 4, 255 - x * 3, (x * 2)[:, None]), -1)
        Image.fromarray(np.ascontiguousarray(rgb)).save(self.folder / name, icc_profile=icc(colorants, curve),
                                                        **options)
        return rgb

    def sound(self, name="s.wav", rate=44100, seconds=1.0, gap=False):
        t = np.arange(int(rate * seconds)) / rate
        v = 0.5 * np.sin(2 * np.pi * 440 * t)
        if gap:
            v[int(0.4 * len(v)):int(0.6 * len(v))] = 0
        with wave.open(str(self.folder / name), "wb") as out:
            out.setnchannels(1)
            out.setsampwidth(2)
            out.setframerate(rate)
            out.writeframes(np.rint(v * 32767).astype("<i2").tobytes())

    def test_a_fourth_byte_that_a_tga_calls_no_alpha_is_told(self):
        for bits, said in ((0, True), (8, False)):
            self.write("a.tga", bytes([0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 32, bits, 1, 2, 3, 4]))
            self.assertEqual("fourth byte" in self.smp("convert", "-f", "a.tga", "a.png").stderr, said)

    def test_colours_that_are_not_srgb(self):
        self.picture()
        for arguments in (("a.png", "b.png", "--strip"), ("a.png", "b.bmp"), ("a.png", "-o", "out", "--strip")):
            self.assertIn("profile srgb", self.smp("convert", *arguments).stderr, arguments)
        self.assertEqual(self.smp("convert", "a.png", "c.png", "--strip", "-e", "profile srgb").stderr, "")
        self.assertEqual(self.smp("convert", "a.png", "d.png").stderr, "")  # the profile is kept
        self.picture("s.png", SRGB, PARAMETRIC)
        self.assertEqual(self.smp("convert", "s.png", "e.png", "--strip").stderr, "")

    def test_a_profile_whose_levels_gray_takes_for_srgb(self):
        photo = GAMMA[:-2] + b"\x01\xcd"  # 1.8, as ProPhoto has it
        self.picture(curve=photo)
        done = self.smp("run", "-e", "gray", "-e", "posterise 4", "a.png", "b.png")
        self.assertIn("their profile is of colours: it is left out", done.stderr)
        self.assertIn("profile srgb", self.smp("convert", "a.png", "b.y4m").stderr)
        self.assertEqual(self.smp("run", "-e", "profile srgb", "-e", "gray", "a.png", "c.png").stderr, "")
        for name, curve in (("p3.png", PARAMETRIC), ("adobe.png", GAMMA)):  # their levels are about sRGB's
            self.picture(name, ADOBE, curve)
            self.assertEqual(self.smp("run", "-e", "gray", name, f"gray-{name}").stderr, "")

    def test_web_and_montage_convert(self):
        rgb = self.picture()
        self.smp("convert", "a.png", "want.png", "-e", "profile srgb")
        want = np.asarray(Image.open(self.folder / "want.png")).astype(int)
        self.assertGreater(np.abs(want - rgb).max(), 10)
        done = self.smp("run", PIPELINES / "web.pipe", "a.png", "w.png", "--strip", "--set", "crisp=0.001")
        self.assertEqual(done.stderr, "")
        self.assertLessEqual(np.abs(np.asarray(Image.open(self.folder / "w.png")).astype(int) - want).max(), 1)
        self.smp("montage", "a.png", "-o", "m.png", "--cell", "60x60", "--gap", "0", "--labels", "none")
        self.assertLessEqual(np.abs(np.asarray(Image.open(self.folder / "m.png")).astype(int) - want).max(), 1)

    def test_a_profile_that_cannot_be_used(self):
        Image.fromarray(np.zeros((9, 9), np.uint8)).save(self.folder / "g.tif", icc_profile=icc(ADOBE, GAMMA))
        self.smp("run", "-e", "profile srgb", "g.tif", "a.png", status=2)
        self.smp("run", "-e", "profile srgb unusable=srgb", "g.tif", "b.png")

    def test_depth(self):
        Image.fromarray(np.arange(0, 6000, 10, np.uint16).reshape(20, 30)).save(self.folder / "d.png")
        for name in "d.bmp", "d.jpg":
            self.assertIn("8 bits", self.smp("convert", "d.png", name).stderr)
        self.assertEqual(self.smp("convert", "d.png", "d.tif").stderr, "")
        self.assertEqual(self.smp("run", "-e", "depth 8bit", "d.png", "e.bmp").stderr, "")

    def test_numbers_of_components(self):
        Image.fromarray(np.uint8([[255, 0, 255]])).save(self.folder / "d.png")
        for stages in (("-e", "label output=labels"), ("-e", "label output=labels", "-e", "stats")):
            self.assertIn("numbers", self.smp("run", *stages, "d.png", "n.bmp", "--force").stderr)
            self.assertEqual(self.smp("run", *stages, "d.png", "n.png", "--force").stderr, "")
        self.assertEqual(self.smp("run", "-e", "depth 16bit", "-e", "label", "d.png", "m.bmp").stderr, "")

    def test_opus_gets_its_rate(self):
        self.sound(gap=True)
        self.assertIn("48 kHz", self.smp("convert", "s.wav", "s.opus").stderr)
        done = self.smp("split", "s.wav", "-o", "parts", "--to", "opus", "--min", "0.1", "--keep", "0.05")
        self.assertIn("48 kHz", done.stderr)
        self.assertEqual(done.stdout.count("\n"), 2)
        self.smp("split", "s.wav", "-o", "plain", "--min", "0.1", "--keep", "0.05")
        for i in (1, 2):
            self.smp("convert", f"parts/s-0{i}.opus", f"p{i}.wav", "--samples", "16")
            with wave.open(str(self.folder / f"p{i}.wav")) as a, wave.open(str(self.folder / f"plain/s-0{i}.wav")) as b:
                self.assertAlmostEqual(a.getnframes() / 48000, b.getnframes() / 44100, places=3)
        self.sound("m.wav", 16000)
        self.assertEqual(self.smp("convert", "m.wav", "m.opus").stderr, "")

    def test_rates_in_khz(self):
        self.sound()
        done = self.smp("run", "-e", "resample 16", "s.wav", "a.wav", status=2)
        self.assertIn("write 16kHz, or 16Hz", done.stderr)
        self.smp("convert", "s.wav", "b.wav", "--rate", "16", status=2)
        self.smp("run", "-e", "resample 100Hz", "s.wav", "c.wav")

    def test_names_of_parts(self):
        self.sound()
        for name in ("p/{stem}.wav", "p/x.wav"):
            self.assertIn("{part}", self.smp("split", "s.wav", "-o", name, status=2).stderr)
        self.assertEqual(sorted(self.files()), ["s.wav"])

    def test_texts_of_a_tiff_stay_tags(self):
        tags = {315: "Jane", 33432: "(c) JD", 270: "A view", 305: "Tool"}
        Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(self.folder / "t.tif", tiffinfo=tags)
        for name in ("t.jpg", "t.webp"):
            self.assertEqual(self.smp("convert", "t.tif", name).stderr, "")
            with Image.open(self.folder / name) as got:
                exif = got.getexif()
                self.assertEqual({k: exif.get(k) for k in tags}, tags, name)
                self.assertNotIn("comment", got.info)

    def test_resolution_of_a_passport_photograph(self):
        Image.fromarray(np.zeros((900, 800, 3), np.uint8)).save(self.folder / "p.jpg", dpi=(72, 72))
        self.smp("run", PIPELINES / "passport.pipe", "p.jpg", "q.jpg")
        with Image.open(self.folder / "q.jpg") as got:
            self.assertEqual(got.info["dpi"], (300, 300))

    def test_samples_that_warp_passes_over(self):
        self.small_png()
        for stage, says in (("warp 5 scale=20%", "'warp' shrinks to 20 %"), ("warp 5 scale=60%", ""),
                            ("warp matrix=[0.4 0 0; 0 0.4 0]", "shrinks to 40 %, and passes samples over: `resize`")):
            told = self.smp("run", "-f", "-e", stage, "in.png", "out.png").stderr
            self.assertIn(says, told)
            self.assertEqual(bool(told), bool(says), told)

    def test_a_resolution_that_has_no_place_is_told(self):
        for dpi, told in ((300, True), (72, False)):
            Image.fromarray(np.zeros((9, 9, 3), np.uint8)).save(self.folder / "a.png", dpi=(dpi, dpi))
            for ending, place in (("webp", False), ("gif", False), ("qoi", False), ("ppm", False), ("jpg", True),
                                  ("bmp", True), ("tif", True), ("pdf", True), ("npy", True)):
                done = self.smp("convert", "-f", "a.png", f"b.{ending}", status=(0, 4))  # 4: not in this build
                if not done.returncode:
                    self.assertEqual("no place for it: the resolution" in done.stderr, told and not place, ending)

    def test_a_resolution_is_told_as_lost_where_exif_does_not_say_it(self):
        picture, exif = Image.fromarray(np.zeros((9, 9, 3), np.uint8)), Image.Exif()
        exif[271] = "maker"
        for says in (False, True):
            if says:
                exif[282] = exif[283] = 300.0
            picture.save(self.folder / "a.jpg", dpi=(300, 300), exif=exif)
            told = self.smp("convert", "-f", "a.jpg", "b.webp").stderr
            self.assertEqual("no place for it: the resolution" in told, not says, told)

    def test_tags_of_a_sound_that_becomes_numbers_are_told(self):
        self.sound()
        self.smp("convert", "s.wav", "t.wav", "--tag", "title=Rain")
        for ending in ("npy", "raw"):
            self.assertIn("Title is left out", self.smp("convert", "t.wav", f"t.{ending}").stderr)
            self.assertEqual(self.smp("convert", "-f", "s.wav", f"t.{ending}").stderr, "")

    def test_a_resolution_that_exif_alone_says_counts(self):
        for unit, number, dpi in ((2, 300, 300), (3, 118, 299.72), (1, 300, None), (2, 0, None)):
            exif = Image.Exif()
            exif[0x011A] = exif[0x011B] = float(number)
            exif[0x0128] = unit
            Image.new("RGB", (60, 40)).save(self.folder / "a.jpg", exif=exif)
            jpeg = (self.folder / "a.jpg").read_bytes()
            at = jpeg.index(b"JFIF") - 4
            (self.folder / "a.jpg").write_bytes(jpeg[:at] + jpeg[at + 18:])  # as cameras write them
            self.smp("convert", "--force", "a.jpg", "b.bmp")
            about = json.loads(self.smp("info", "--json", "b.bmp").stdout).get("metadata", {})
            there = about.get("pixels_per_metre_x")
            self.assertAlmostEqual(there * 0.0254 if there else 0, dpi or 0, delta=0.1, msg=(unit, number))

    def test_resolution_of_a_picture_that_keeps_its_size(self):
        """Samples stay as they are coded, and each output has the resolution of its own branch."""
        save = {"dpi": (72, 72), "quality": 70}
        Image.fromarray(np.arange(4800, dtype=np.uint8).reshape(40, 40, 3)).save(self.folder / "p.jpg", **save)
        self.smp("run", "-e", 'save "kept.jpg"', "-e", "resize 100% dpi=300", "p.jpg", "q.jpg")
        self.smp("convert", "p.jpg", "alone.jpg", "-e", "resize 100% dpi=300")
        for size, wanted, said in ((72, 300, 300), (300, 72, 72), (150, 225, 225)):
            Image.fromarray(np.zeros((90, 80, 3), np.uint8)).save(self.folder / "d.png", dpi=(size, size))
            self.smp("convert", "d.png", "e.png", "-e", f"resize dpi={wanted}", "-f")
            with Image.open(self.folder / "e.png") as got:  # as large on paper
                self.assertEqual(got.size, tuple(round(side * wanted / size) for side in (80, 90)))
                self.assertEqual(tuple(round(x) for x in got.info["dpi"]), (said, said))
        Image.fromarray(np.zeros((9, 8, 3), np.uint8)).save(self.folder / "none.png")
        self.assertIn("resize 100% dpi=300", self.smp("convert", "none.png", "x.png", "-e", "resize dpi=300",
                                                      status=2).stderr)
        for name, dpi in (("kept.jpg", 72), ("q.jpg", 300), ("alone.jpg", 300)):
            with Image.open(self.folder / name) as got:
                self.assertEqual(got.info["dpi"], (dpi, dpi), name)
        self.smp("diff", "p.jpg", "alone.jpg")

    def test_values_in_the_order_of_others(self):
        self.small_png()
        done = self.smp("run", "-e", "crop 0 0 10 10", "in.png", "out.png", status=2)
        self.assertIn("write x=0 y=0 width=10 height=10, if this is the order", done.stderr)
        self.assertEqual(done.stderr.count("error"), 1)
        self.assertIn("write smempipe run thumbnail in.png out.png",
                      self.smp("run", "in.png", "thumbnail", "out.png", status=2).stderr)
        done = self.smp("run", "-e", "autorotate", "in.png", "o.png", status=2)
        self.assertIn("turned as its EXIF says", done.stderr)

    def test_a_warning_about_many_files_spans_their_numbers(self):
        for i, rate in enumerate((22050, 44100, 32000, 22050, 96000, 11025)):
            self.sound(f"{i}.wav", rate, 0.1)
        told = self.smp("convert", "--to", "opus", "-o", "out", *(f"{i}.wav" for i in range(6))).stderr
        self.assertIn("warning: 3 more files: the format has no rate of 11025 to 96000 Hz: the sound is resampled to "
                      "48 kHz", told)

    def test_many_files(self):
        self.small_png()
        self.write("x.m4a", b"no sound")
        self.sound()
        (self.folder / "pics").mkdir()
        self.small_png("pics/a.png")
        done = self.smp("batch", PIPELINES / "podcast.pipe", "pics", "-o", "o", status=3)
        self.assertIn("this is for sound", done.stderr)
        self.assertNotIn("--exclude", self.smp("measure", "loudness-report", "s.wav", "x.m4a", status=1).stderr)
        done = self.smp("batch", PIPELINES / "watermark.pipe", "in.png", "-o", "o", "--set", "mark=none.png", status=3)
        self.assertIn("none.png", done.stderr)
        self.assertNotIn("failed", done.stderr)
        self.smp("batch", "-e", "spectrogram", ".", "-o", "out", "--include", "*.wav", "--to", "png")
        self.assertIn("no pair", self.smp("duplicates", "in.png").stderr)
        done = self.smp("batch", "-e", "spectrogram", "s.wav", "-o", "out", "--name", "{stem}.xyz", status=2)
        self.assertIn(".xyz", done.stderr)

    def test_hints_name_what_to_type(self):
        self.small_png()
        self.sound()
        self.sound("low.wav", 16000)
        pipe = self.write("p.pipe", 'save "in.png"\ninvert\n')
        for arguments, status, said in (
            (("convert", "s.wav", "s.png"), 4, "spectrogram"),
            (("montage", "in.png", "sheet.jpg"), 2, "-o sheet.jpg"),
            (("run", pipe, "in.png", "o.png"), 4, "line 1 of "),
            (("run", "-e", 'mix by="low.wav"', "s.wav", "o.wav"), 2, "fit=yes brings the second to 44100 Hz"),
            (("measure", "loudness-report", "s.wav", "--csv", "--sort", "foo"), 2, "columns: path"),
        ):
            self.assertIn(said, self.smp(*arguments, status=status).stderr)

    def test_names_that_are_missing_are_counted(self):
        self.write("list.txt", b"a.wav\nb.wav\nc.wav\n")
        done = self.smp("measure", "-e", "stats", "--files-from", "list.txt", status=3)
        self.assertIn("nor are 2 more", done.stderr)

    def test_levels_and_times_with_units(self):
        self.sound(gap=True)
        self.smp("split", "s.wav", "-o", "p", "--below=-20dBFS", "--min", "0.1s")
        self.smp("split", "s.wav", "-o", "q", "--below=-20s", status=2)


if __name__ == "__main__":
    unittest.main()
