"""The progress line on a terminal: no wider than its window, which may change; names are cut in the middle."""
import fcntl
import os
import re
import struct
import subprocess
import termios
import unicodedata
import unittest

from harness import PROGRAM, CliCase, big_png, png_bytes


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class Progress(CliCase):
    def lines(self, *arguments, widths):
        """The lines that are drawn: two at each width of the window."""
        ours, theirs = os.openpty()
        seen, found = b"", []
        for width in widths[:1]:
            fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 25, width, 0, 0))
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stderr=theirs)
        os.close(theirs)
        for width in widths:
            fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 25, width, 0, 0))
            seen, drawn = b"", []
            while len(drawn) < 3:  # the first may have been drawn before the change
                seen += os.read(ours, 4096)
                drawn = re.findall(rb"\r(  [^\r]*)\033\[K", seen)
            found.append(drawn[2].decode())
        process.kill()
        process.wait()
        os.close(ours)
        return found

    def test_of_one_file(self):
        name = "写真" * 9 + "-of-the-harbour-at-night.png"
        big_png(self.folder / name, 2000, 6000)
        slow = ("run", "-e", "gaussian 40px", "--variant", "naive", "--device", "cpu", "--threads", "1", name, "o.png")
        widths = (200, 80, 40, 20, 100)
        drawn = self.lines(*slow, widths=widths)
        for width, line in zip(widths, drawn):
            self.assertLess(columns(line), width, line)
        self.assertRegex(drawn[0], rf"^  {name} \[#*\.*\] +\d+ % +[0-9.]+ s")
        self.assertRegex(drawn[1], r"^  写真.*….*night\.png \[[#.]{28,30}\] +\d+ % +[0-9.]+ s")
        self.assertRegex(drawn[2], r"^  写.*…i?g?h?t\.png +\d+ % +[0-9.]+ s")
        self.assertRegex(drawn[3], r"^  写.*….*png +\d+ %$")

    def test_of_many_files(self):
        rows = [bytes((x * 5 + y) & 255 for x in range(600)) for y in range(130)]
        (self.folder / "in").mkdir()
        for i in range(200):
            self.write(f"in/{i}.png", png_bytes(rows, 200))
        widths = (80, 40)
        for width, line in zip(widths, self.lines("batch", "-e", "gaussian 8px", "--variant", "naive", "--jobs", "1",
                                                  "in", "-o", "out", widths=widths)):
            self.assertRegex(line, r"^  \d+ of 200 files ")
            self.assertLess(columns(line), width, line)


if __name__ == "__main__":
    unittest.main()
