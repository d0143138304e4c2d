"""What is said to the habits of other tools: the text that is suggested is taken as it stands, and does the same."""
import re
import unittest

import numpy as np
from PIL import Image, ImageOps

from harness import SAMPLES, CliCase


class OtherTools(CliCase):
    def setUp(self):
        super().setUp()
        self.picture = np.asarray(Image.open(SAMPLES / "chelsea.png").convert("RGB"))[:40, :60]
        self.picture = np.clip(self.picture * [.8, .7, .6] + [9, 20, 2], 0, 255).astype(np.uint8)
        Image.fromarray(self.picture).save(self.folder / "in.png")
        Image.fromarray(self.picture[..., 1]).save(self.folder / "gray.png")

    def said(self, *stages, name="in.png"):
        words = [word for stage in stages for word in ("-e", stage)]
        return self.smp("run", "-f", *words, name, "refused.png", status=2).stderr

    def suggested(self, stage, name="in.png"):
        """The stages that the first error says to write."""
        found = re.search(r"\^~* (?:smempipe calls (?:this|it): |write )(.*)", self.said(stage, name=name))
        self.assertTrue(found, self.said(stage, name=name))
        return found[1].split(", then ")

    def made(self, stage, name="in.png"):
        """What the suggested stages make."""
        words = [word for one in self.suggested(stage, name) for word in ("-e", one)]
        self.smp("run", "-f", *words, name, "out.png")
        return np.asarray(Image.open(self.folder / "out.png")).astype(int)

    def close(self, got, want, what):
        self.assertLessEqual(np.abs(got - np.clip(np.floor(want + .5), 0, 255)).max(), 1, what)

    def test_levels_that_are_found(self):
        v = self.picture.astype(float)
        for stage in ("auto-level", "autolevel", "auto_level"):  # ImageMagick: all channels together, nothing clipped
            self.close(self.made(stage), (v - v.min()) / (v.max() - v.min()) * 255, stage)
        pillow = np.asarray(ImageOps.autocontrast(Image.fromarray(self.picture))).astype(float)
        self.close(self.made("autocontrast"), pillow,
                   "Pillow's")
        self.assertEqual(self.suggested("autolevels"), ["levels auto per=channel"])  # GIMP, Photoshop

    def test_one_value_serves_both_directions(self):
        for stage, text in (("clahe 8 8", "clahe 8"), ("median 5 5", "median 5"), ("box 3 3", "box 3"),
                            ("dilate 3px 3px", "dilate 3px")):
            self.assertRegex(self.said(stage), rf"\^~* write {text}: one value serves")
            self.smp("run", "-f", "-e", text, "in.png", "out.png")
        self.assertIn("write 5: one value serves", self.said("median 5x5"))
        self.assertNotIn("write fill", self.said("median 5 7"))  # which it does not take

    def test_words_are_of_the_parameter_that_takes_them(self):
        for stage, text in (("threshold otsu", "threshold method=otsu"), ("clahe each", "clahe channel=each"),
                            ("noise 4% gaussian", "noise 4% kind=gaussian")):
            for name, one in (("short.png", stage), ("long.png", text)):
                self.smp("run", "-f", "-e", one, "in.png", name)
            self.assertEqual(*((self.folder / name).read_bytes() for name in ("short.png", "long.png")), stage)
        self.assertEqual(self.suggested("threshold auto"), ["method=otsu"])
        self.assertIn("nothing says how much", self.said("noise gaussian"))
        self.assertIn("write anchor=centre, and width=", self.said("crop center"))

    def test_names_without_a_like_have_no_hint(self):
        self.assertEqual(self.suggested("not"), ["invert"])
        self.assertEqual(self.suggested("linear"), ["light linear"])
        self.assertEqual(self.suggested("equalize-histogram"), ["equalize"])
        for stage, wrong in (("log", "logo"), ("removelogo", "comment"), ("gaussian 1cm", "did you mean")):
            self.assertNotIn(wrong, self.said(stage).split(":", 3)[-1].replace(stage, ""))
        self.assertIn("at 300 dpi, 1cm is 118.1px", self.said("gaussian 1cm"))

    def test_two_files_are_compared_by_diff(self):
        told = self.smp("compare", "in.png", "gray.png", status=2).stderr
        self.assertIn("hint: to compare two files: smempipe diff in.png gray.png;", told)
        self.assertNotIn("diff", self.smp("compare", "in.png", status=2).stderr)

    def test_transparent_colours(self):
        for word in ("none", "transparent"):
            self.assertIn("write fill=#0000, and `alpha opaque` before the stage", self.said(f"pad 10 fill={word}"))
        self.smp("run", "-f", "-e", "alpha opaque", "-e", "pad 10 fill=#0000", "in.png", "out.png")
        made = np.asarray(Image.open(self.folder / "out.png"))
        self.assertEqual((made.shape, made[0, 0, 3], made[20, 20, 3]), ((60, 80, 4), 0, 255))

    def test_colours_on_gray_say_color_rgb(self):
        for stage in ("pad 20 fill=red", "warp 5 fill=red", "join \"in.png\" fill=red"):
            self.assertIn("write `color rgb` before it", self.said(stage, name="gray.png"), stage)
            self.smp("run", "-f", "-e", "color rgb", "-e", stage, "gray.png", "out.png")

    def test_stages_are_of_the_kind_that_is_read(self):
        self.write("a.wav", b"")
        for stage, picture, sound in (("merge", "overlay by=@name", "mix by=\"right.wav\" how=beside"),
                                      ("splice", "join by=@name", "append by=\"next.wav\" crossfade=10ms")):
            self.assertEqual(self.suggested(stage), [picture])
            self.assertEqual(self.suggested(stage, name="a.wav"), [sound])
            told = self.smp("check", "-e", stage, status=2)
            self.assertIn(f"{picture} (of pictures), {sound} (of sound)", told.stdout + told.stderr)
        self.assertIn("for pictures: join by=@name", self.said("append"))
        self.assertIn("for pictures: blend by=@name opacity=50%", self.said("mix"))
        self.assertIn("needs 'by'", self.said("append", name="a.wav"))

    def test_numbers_are_those_given(self):
        v = self.picture / 255.
        for x in (2.2, .5):
            self.close(self.made(f"pow {x}"), v ** x * 255, x)
        self.close(self.made("exposure 2"), v * 4 * 255, "two stops")
        self.close(self.made("exposure -1"), v / 2 * 255, "a stop less")
        for stage, text in (("pow 2.2", "gamma {1/2.2}"), ("power 0.45", "gamma {1/0.45}"), ("pow", "gamma {1/2.2}"),
                            ("exposure 0.5", "multiply 1.41421"),
                            ("saturation 130", "saturate 130%"), ("saturation 0.7", "saturate 0.7"),
                            ("hue 90", "saturate hue=90deg")):
            self.assertEqual(", then ".join(self.suggested(stage)), text, stage)
            self.made(stage)
        self.write("a.wav", b"")
        self.assertEqual(self.suggested("volume 2", name="a.wav"), ["gain 6.02dB"])

    def test_modulate_as_imagemagick_has_it(self):
        for stage, text in (("modulate 120,90", "120% saturation=90%"), ("modulate 100,100,100", "100%"),
                            ("modulate 100,150,80", "100% saturation=150% hue=-36deg"),
                            ("replace white red 10%", "white to=red tolerance=10%"),
                            ("key white 10%", "white tolerance=10%"), ("tint orange 50%", "orange amount=50%"),
                            ("key #f0ead6 10%", "#f0ead6 tolerance=10%")):
            for name, one in (("a.npy", stage), ("b.npy", f"{stage.split()[0]} {text}")):
                self.smp("run", "-f", "-e", one, "in.png", name)
            self.assertEqual((self.folder / "a.npy").read_bytes(), (self.folder / "b.npy").read_bytes(), stage)
        self.assertIn("'hue' must be -360 to 360", self.said("modulate 120,100,400"))

    def test_effects_as_sox_has_them(self):
        self.write("a.wav", b"")
        for stage, text in (("chorus 0.7 0.9 55 0.4 0.25 2 -t",
                             "rate=0.25Hz delay=55ms depth=2ms voices=1 shape=triangle"),
                            ("pitch -300", "-3")):
            self.assertEqual(self.suggested(stage, name="a.wav"), [text])
        self.assertNotIn("write", self.said("pitch 99", name="a.wav"))
        self.assertIn("write time=1.2s damping=50%", self.said("reverb 50 50 100", name="a.wav"))
        for stage in ("tempo -s 1.5", "tremolo 5 40%"):
            self.assertNotIn("^", self.smp("check", "-e", stage).stderr, stage)

    def test_numbers_that_no_stage_takes_are_not_suggested(self):
        for stage in ("contrast -99", "contrast 0.01", "saturation -50%", "saturation 20000%"):
            self.made(stage)
        self.write("a.wav", b"")
        for stage, number in (("volume 500dB", "500"), ("volume 1e-30", "600")):
            self.assertNotIn(number, " ".join(self.suggested(stage, name="a.wav")), stage)

    def test_what_only_looks_alike_is_not_suggested(self):
        """Words of sox, ffmpeg, ImageMagick, vips and OpenCV for what no stage does, or none of this kind of data."""
        self.write("a.wav", b"")
        for name, words in (
                ("a.wav", "bend phase phaser contrast acontrast adecorrelate aintegral axcorrelate "
                          "shade spline deconvolve test invres residue"),
                ("in.png", "bias clip clone delete endian filter insert intent seed shade transform wave bbox dblur "
                           "deblock deconvolve deflate geq idet phase tmedian tmix tpad xfade xmedian gradients case "
                           "compass gaussmat math max min switch zone face idct ft ml test vol lowpas")):
            for word in words.split():
                told = self.said(word, name=name)
                self.assertIn(f"unknown stage '{word}'", told)
                self.assertNotRegex(told, "did you mean|smempipe calls|write ", word)
        for name, word, said in (("a.wav", "echos", "mix by=@input"), ("a.wav", "mcompand", "compand"),
                                 ("a.wav", "revrse", "'reverse'"), ("in.png", "gausian", "'gaussian'"),
                                 ("in.png", "transopse", "'transpose'"), ("in.png", "thresold", "'threshold'"),
                                 ("in.png", "sample", "resize 50% filter=nearest"), ("in.png", "ift", "ifft"),
                                 ("in.png", "statistic", "rank 50 size=3"), ("in.png", "equilizehist", "equalize")):
            self.assertIn(said, self.said(word, name=name), word)

    def test_trim_as_sox_has_it(self):
        self.write("a.wav", b"")
        self.assertIn("start=1 length=3, as sox means it, or start=1 end=3", self.said("trim 1 3", name="a.wav"))
        for stage, text in (("bass +3", "eq lowshelf freq=100Hz gain=3dB"),
                            ("treble -4", "eq highshelf freq=3kHz gain=-4dB"), ("speed 1.5", "resample speed=1.5"),
                            ("rate 44100", "resample 44100Hz"),
                            ("bandreject 60 10", "notch 60Hz"), ("norm -1", "normalize peak=-1dB")):
            self.assertEqual(self.suggested(stage, name="a.wav"), [text])
        self.write("in.wav", b"")
        for words, said in ((("in.wav", "o.wav", "trim", "1", "3"), "convert in.wav o.wav -e 'trim 1 3'"),
                            (("in.wav", "o.wav", "norm"), "convert in.wav o.wav -e 'norm'"),
                            (("in.wav", "o.wav", "phaser"), "given by -e, and 'phaser' is not one"),
                            (("in.png", "o.png", "-r", "50%"), "another size is --resize 50%"),
                            (("in.png", "-r", "800x600", "o.png"), "another size is --resize 800x600")):
            self.assertIn(said, self.smp("convert", *words, status=2).stderr)


if __name__ == "__main__":
    unittest.main()
