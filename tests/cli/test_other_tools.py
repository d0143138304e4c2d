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
        self.close(self.made("autocontrast"), np.asarray(ImageOps.autocontrast(Image.fromarray(self.picture))).astype(float),
                   "Pillow's")
        self.assertEqual(self.suggested("autolevels"), ["levels auto per=channel"])  # GIMP, Photoshop

    def test_numbers_are_those_given(self):
        v = self.picture / 255.
        for x in (2.2, .5):
            self.close(self.made(f"pow {x}"), v ** x * 255, x)
        self.close(self.made("exposure 2"), v * 4 * 255, "two stops")
        self.close(self.made("exposure -1"), v / 2 * 255, "a stop less")
        self.close(self.made("modulate 120"), v * 1.2 * 255, "brightness")
        for stage, text in (("pow 2.2", "gamma {1/2.2}"), ("power 0.45", "gamma {1/0.45}"), ("pow", "gamma {1/2.2}"),
                            ("exposure 0.5", "multiply 1.41421"), ("modulate 100,150", "saturate 1.5"),
                            ("modulate 100,150,80", "saturate 1.5 hue=-36deg"),
                            ("modulate 110 90", "multiply 1.1, then saturate 0.9"), ("modulate 100,100,100", "saturate 1"),
                            ("saturation 130", "saturate 130%"), ("saturation 0.7", "saturate 0.7"),
                            ("hue 90", "saturate hue=90deg"), ("volume 2", "gain 6.02dB")):
            self.assertEqual(", then ".join(self.suggested(stage)), text, stage)
            if "gain" not in text:
                self.made(stage)


if __name__ == "__main__":
    unittest.main()
