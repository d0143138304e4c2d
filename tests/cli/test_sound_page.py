"""docs/sound.md: each pair of commands runs, and the results are as near as the page says behind '#'."""
import re
import shlex
import shutil
import subprocess
import unittest

import numpy as np

from harness import ROOT, CliCase, png_bytes

PAGE = ROOT / "docs/sound.md"


def fits(frames, tone):
    """Two channels of 16 bits that swing, fall and are not alike."""
    n = np.arange(frames)[:, None]
    tones = np.sin(n * np.array([tone, tone * 1.5])) * 0.5 + np.sin(n * np.array([tone * 3.02, tone * 2.01])) * 0.2
    return np.round(tones * np.exp(-n / 40000) * 20000).astype("<i2")


class Page(CliCase):
    def setUp(self):
        super().setUp()
        for name, frames, tone in (("in", 130000, 0.03), ("a", 88200, 0.04), ("b", 88200, 0.05)):
            self.write("x.raw", fits(frames, tone).tobytes())
            around = ("-e", "pad 0.4 0.3") if name == "in" else ()
            self.smp("convert", "--raw", "s16lex2:44100", "x.raw", name + ".wav", *around)
        self.smp("convert", "in.wav", "in.mp3", status=(0, 4))
        self.write("chapters.txt", ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\ntitle=A\n")
        self.write("cover.png", png_bytes([bytes(300)] * 100, 100))
        self.kept = {path.name for path in self.folder.iterdir()}

    def made(self, command):
        """The samples of what a command makes; None: something else. A build without a format is passed over."""
        for path in self.folder.iterdir():
            if path.name not in self.kept:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if command[0] == "smempipe":
            if self.smp(*command[1:], status=(0, 3, 4)).returncode:
                return None
        else:
            words = ["sox", "-D", *command[1:]] if command[0] == "sox" else command
            subprocess.run(words, cwd=self.folder, check=True, capture_output=True, stdin=subprocess.DEVNULL,
                           timeout=60)
        found = [path for path in self.folder.glob("out.*") if path.suffix != ".png"]
        if not found:
            return None
        raw = ("--raw", "s16lex2:44100") if found[0].suffix == ".raw" else ()
        self.smp("convert", "-q", *raw, found[0].name, "samples.npy")
        return np.load(self.folder / "samples.npy").astype(float)

    def test_the_page_holds(self):
        block = re.search(r"^```\n(.*?)^```", PAGE.read_text(), re.M | re.S)[1]
        lines = block.splitlines()
        for theirs, line in zip(lines[::2], lines[1::2]):
            with self.subTest(theirs):
                ours, told = re.fullmatch(r"    (smempipe .*)   # (.*)", line).groups()
                mine = self.made(shlex.split(ours))
                if told.startswith("other: ") or mine is None or not shutil.which(shlex.split(theirs)[0]):
                    continue
                other = self.made(shlex.split(theirs))
                self.assertEqual(mine.shape, other.shape)
                apart = np.sum((mine - other) ** 2)
                if told == "same":
                    self.assertEqual(apart, 0)
                else:
                    self.assertGreater(np.sum(other ** 2), apart * 10 ** (float(told.split(" dB")[0]) / 10))


if __name__ == "__main__":
    unittest.main()
