"""Memory is bounded by strips: ten times the height costs at most 1.3 times the memory.

SMP_FULL=1 runs the full size, 6000x4000 against 6000x40000."""
import json
import struct
import unittest
import zlib

from harness import FULL, PIPELINES, SAMPLES, CliCase, big_png

WIDTH, HEIGHT = (6000, 4000) if FULL else (3000, 2000)


def giant_tiff(path, width, height, rows=16):
    """An RGB TIFF of black, in strips that are the same bytes of the file."""
    strip, strips = zlib.compress(bytes(width * 3 * rows)), -(-height // rows)
    at = 8 + len(strip) + len(strip) % 2
    tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 3, 0), (259, 3, 1, 8), (262, 3, 1, 2),
            (273, 4, strips, 0), (277, 3, 1, 3), (278, 4, 1, rows), (279, 4, strips, 0)]
    behind = at + 2 + 12 * len(tags) + 4
    places = {258: behind, 273: behind + 8, 279: behind + 8 + 4 * strips}
    with open(path, "wb") as file:
        file.write(b"II*\0" + struct.pack("<I", at) + strip.ljust(at - 8, b"\0"))
        file.write(struct.pack("<H", len(tags)))
        for tag, kind, count, value in tags:
            file.write(struct.pack("<HHII", tag, kind, count, places.get(tag, value)))
        file.write(bytes(4) + struct.pack("<4H", 8, 8, 8, 0))
        file.write(struct.pack("<I", 8) * strips + struct.pack("<I", len(strip)) * strips)


class Memory(CliCase):
    def pair(self, *stages):
        how = ("--force", "--threads", "2", "--device", "cpu") # a GPU's driver takes hundreds of MB of its own
        low = self.peak("run", *stages, "low.png", "out.png", *how)
        high = self.peak("run", *stages, "high.png", "out.png", *how)
        print(
            f"{' '.join(map(str, stages))}: {low / 1e6:.1f} MB for {WIDTH}x{HEIGHT}, "
            f"{high / 1e6:.1f} MB for {WIDTH}x{HEIGHT * 10}"
        )
        return low, high

    def test_memory_does_not_grow_with_height(self):
        big_png(self.folder / "low.png", WIDTH, HEIGHT)
        big_png(self.folder / "high.png", WIDTH, HEIGHT * 10)
        frame = WIDTH * HEIGHT * 10 * 3
        for stages in ((PIPELINES / "blur.pipe",), ("-e", "gray", "-e", "stats", "-e", "histogram"),
                       ("-e", "gaussian 2px -> @b", "-e", "from @input", "-e", "subtract by=@b")):
            low, high = self.pair(*stages)
            self.assertLessEqual(high, 1.3 * low, stages)
            self.assertLess(high, frame / 2, "as much as half the picture is in memory")

    def test_explain_says_what_a_run_takes(self):
        """NPY's codec takes nearly nothing, so that all but the program's own 0.3 MB is told."""
        how = ("--device", "cpu", "--threads", "2")
        self.smp("run", "-e", "invert", SAMPLES / "chelsea.png", "in.npy")
        for chain in (
            ("invert",),
            ("gaussian 9px",),
            ("box 9", "transpose"),
            ("stats", "equalize"),
            ("gray", "histogram"),
            ("gaussian 2px -> @b", "from @input", "subtract by=@b"),
            ('subtract by="in.npy"',),
            ("invert", 'save "again.npy"'),
            ("light linear", "gaussian 1px", "sobel"),
            ("resize 30%",),
            ("resize 170% arithmetic=fixed", "pad 20 edge=mirror"),
            ("gaussian 2px", "resize longest=40", "rotate 90", "resize 300% filter=area"),
        ):
            stages = [word for stage in chain for word in ("-e", stage)]
            said = json.loads(self.smp("explain", "--json", *stages, "in.npy", "out.npy", *how).stdout)["memory_bytes"]
            self.smp("run", "--force", "--report=run.json", *stages, "in.npy", "out.npy", *how)
            taken = json.loads((self.folder / "run.json").read_text())["peak_bytes"]
            self.assertLessEqual(said, taken, chain)
            self.assertLess(taken - said, 600e3, chain)

    def test_a_giant_tiff_is_resized_in_little_memory(self):
        """70000 x 31000 pixels take a minute: what they would take is told, and some of their rows are resized."""
        giant_tiff(self.folder / "giant.tif", 70000, 31000)
        how = ("-e", "resize longest=1600", "--device", "cpu", "--threads", "2")
        said = json.loads(self.smp("explain", "--json", *how, "giant.tif").stdout)["memory_bytes"]
        self.assertLess(said, 150e6)
        height = 31000 if FULL else 320
        giant_tiff(self.folder / "low.tif", 70000, height)
        self.assertLess(self.peak("run", *how, "low.tif", "out.png"), 200e6)

    def test_explain_knows_that_frames_of_sound_lie_end_to_end(self):
        told = json.loads(
            self.smp("explain", "--json", "-e", "lowpass 2kHz", SAMPLES / "speech.flac", "out.wav").stdout)
        self.assertLess(told["memory_bytes"], 4e6)


if __name__ == "__main__":
    unittest.main()
