"""CMYK, which becomes sRGB where it is read: what is said of profiles, and which colours come out."""
import unittest

import numpy as np
from PIL import Image

from harness import CliCase


def inks():
    return np.random.default_rng(3).integers(0, 256, (24, 31, 4), np.uint8)


class Inks(CliCase):
    def put(self, name, array, profile=None, **options):
        Image.fromarray(array, "CMYK").save(self.folder / name, icc_profile=profile, **options)

    def test_a_profile_that_cannot_be_used_is_told(self):
        for name in ("in.jpg", "in.tif"):
            self.put(name, inks(), b"junk" * 4 + b"CMYK" + b"junk" * 40)
            for command in (("convert", "-f", name, "out.png"), ("info", name), ("measure", "-e", "stats", name)):
                self.assertIn("is for CMYK and is left out: colours are approximate", self.smp(*command).stderr, command)


if __name__ == "__main__":
    unittest.main()
