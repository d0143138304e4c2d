"""docs/imagemagick.md: each pair of commands runs, and the results are as far apart as the page says behind '#'."""
import re
import shlex
import shutil
import subprocess
import unittest

import numpy as np
from PIL import Image

from harness import ROOT, SAMPLES, CliCase

PAGE = ROOT / "docs/imagemagick.md"
CODED = "mogrify|vipsthumbnail|cwebp|pngquant|montage|-quality|-interlace|-density"  # what is coded is compared, too
TOLD = 3  # times: the page says no more than that beyond what is measured


class Page(CliCase):
    def setUp(self):
        super().setUp()
        for name in ("in.jpg", "in/a.jpg", "in/b.jpg", "other.jpg"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(SAMPLES / "rocket.jpg", self.folder / name)
        self.smp("run", "-q", "-e", "resize 20%", "-e", "alpha opaque", "-e", "pad 9 fill=[0 0 0 0]",
                 SAMPLES / "rocket.jpg", "in.png")
        self.smp("run", "-q", "-e", "resize 10%", SAMPLES / "chelsea.png", "logo.png")
        shutil.copy(ROOT / "tests/data/formats/moving.gif", self.folder)
        shutil.copy(ROOT / "tests/data/formats/pages-packbits.tif", self.folder / "pages.tif")
        self.kept = {path.name for path in self.folder.iterdir()}

    def made(self, *command):
        """The pictures that a command makes, in the order of their names."""
        for path in self.folder.iterdir():
            if path.name not in self.kept:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if command[0] == "smempipe":
            self.smp(*command[1:])
        else:
            (self.folder / "out").mkdir()
            words = [word for part in command for word in
                     (("in/a.jpg", "in/b.jpg") if part == "in/*.jpg" else (part,))]
            subprocess.run(words, cwd=self.folder, check=True, capture_output=True, timeout=60)
        found = []
        for path in sorted(self.folder.rglob("*")):
            top = path.relative_to(self.folder).parts[0]
            if path.is_file() and top not in self.kept and not path.name.startswith("."):
                with Image.open(path) as image:
                    found.append(image.convert("RGBA"))
        return found

    def test_the_page_holds(self):
        block = re.search(r"^```\n(.*?)^```", PAGE.read_text(), re.M | re.S)[1]
        lines = block.splitlines()
        compared = 0
        for theirs, line in zip(lines[::2], lines[1::2]):
            with self.subTest(theirs):
                ours, told = re.fullmatch(r"    (smempipe .*)   # (.*)", line).groups()
                theirs = theirs.split("   #")[0]
                if not re.search(CODED, theirs):
                    theirs, ours = theirs.replace("out.jpg", "out.png"), ours.replace("out.jpg", "out.png")
                mine = self.made(*shlex.split(ours))
                self.assertTrue(mine or re.match("identify|compare", theirs))
                if told.startswith("other: ") or not shutil.which(shlex.split(theirs)[0]):
                    continue
                other = self.made(*shlex.split(theirs))
                self.assertEqual(len(mine), len(other))
                compared += 1
                for a, b in zip(mine, other):
                    self.hold(a, b, told)
        self.assertTrue(compared > 40 or not shutil.which("convert"), compared)

    def hold(self, mine, other, told):
        size = re.match(r"size (\d+)", told)
        sides = np.abs(np.subtract(mine.size, other.size)).max()
        if size:
            self.assertEqual(sides, int(size[1]))
            return
        self.assertEqual(mine.size, other.size)
        a, b = np.asarray(mine).astype(int), np.asarray(other).astype(int)
        apart = np.abs(a - b)[..., :3 if a[..., 3].min() == b[..., 3].min() == 255 else 4].mean()
        self.assertLessEqual(apart, float(told))
        self.assertLessEqual(float(told), TOLD * apart + 0.1)


if __name__ == "__main__":
    unittest.main()
