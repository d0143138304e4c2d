"""docs/imagemagick.md: each command runs, and makes what the one above it says."""
import re
import shlex
import shutil
import unittest

from harness import ROOT, SAMPLES, CliCase

PAGE = ROOT / "docs/imagemagick.md"


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

    def size(self, name):
        found = re.search(r"(\d+) x (\d+) px", self.smp("info", name).stdout)
        return int(found[1]), int(found[2])

    def test_every_command_runs(self):
        block = re.search(r"^```\n(.*?)^```", PAGE.read_text(), re.M | re.S)[1]
        theirs, sizes = None, {}
        kept = {path.name for path in self.folder.iterdir()}
        for line in block.splitlines():
            if not line.startswith("    "):
                theirs = line
                continue
            for path in self.folder.iterdir():
                if path.name not in kept:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            self.smp(*shlex.split(line)[1:])
            made = sorted(path.name for path in self.folder.iterdir() if path.name not in kept)
            self.assertTrue(made or line.split()[1] in ("info", "diff"), theirs)
            if made and made[0].startswith("out."):
                sizes[theirs.split("   #")[0]] = self.size(made[0])
        self.assertGreater(len(sizes), 30)
        wide, high = self.size("in.jpg")
        logo = self.size("logo.png")
        for command, size in sizes.items():
            asked = re.search(r"-extent (\d+)x(\d+)|-resize (\d+)x(\d+)\\!|-crop (\d+)x(\d+)\+", command)
            if asked:
                self.assertEqual(size, tuple(int(side) for side in asked.groups() if side), command)
            elif "-border 10" in command or "-shave 10x10" in command:
                self.assertEqual(size, (wide + 20, high + 20) if "-border" in command else (wide - 20, high - 20))
            elif "append" in command:
                beside = "+append" in command
                self.assertEqual(size, (wide + logo[0], high) if beside else (wide, high + logo[1]), command)
            elif "-rotate 90" in command:
                self.assertEqual(size, (high, wide))
            elif not re.search("-resize|-rotate|-trim|-alpha|in.png|tif|montage|deskew|vipsthumbnail", command):
                self.assertEqual(size, (wide, high), command)


if __name__ == "__main__":
    unittest.main()
