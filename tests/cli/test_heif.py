"""HEIC and AVIF: gray of any range, transparency that is turned otherwise than its picture, kinds that are not read.
avifenc codes what the tests then put into boxes of their own."""
import subprocess
import unittest

import numpy as np
from PIL import Image

from harness import CliCase
from heif_boxes import box, coded, full, heif, refer

RAMP = np.tile(np.arange(256, dtype=np.uint8), (16, 1))
SIZE = full(b"ispe", 0, bytes([0, 0, 0, 8] * 2))
LEFT = [box(b"irot", bytes([quarters])) for quarters in range(4)]
MIRROR = [box(b"imir", bytes([along])) for along in range(2)]


class Heif(CliCase):
    def encode(self, array, name, *options):
        """Without loss, but for the bits that it is coded with."""
        Image.fromarray(array).save(self.folder / "coded.png")
        best = [word for which in ("--min", "--max", "--minalpha", "--maxalpha") for word in (which, "0")]
        subprocess.run(["avifenc", "-s", "8", *best, *options, "coded.png", name], cwd=self.folder, check=True,
                       capture_output=True)
        return (self.folder / name).read_bytes()

    def read(self, name, warning=""):
        done = self.smp("convert", name, "out.npy", "-f")
        # What the AV1 decoder says where a confined process of a sanitizer may not ask for processors.
        said = "".join(line for line in done.stderr.splitlines() if "Unable to detect thread count" not in line)
        self.assertEqual(said if not warning else warning in said, warning and True)
        return np.load(self.folder / "out.npy")

    def test_gray_of_limited_range_is_black_to_white(self):
        seen = np.dstack([RAMP, RAMP[:, ::-1]])
        for bits in (8, 10, 12):
            for range_ in ("limited", "full"):
                for array in (RAMP, seen):
                    self.encode(array, "in.avif", "-y", "400", "-d", str(bits), "-r", range_)
                    got = self.read("in.avif")
                    most = np.iinfo(got.dtype).max
                    self.assertEqual(most, 255 if bits == 8 else 65535)
                    self.assertEqual(got.shape, RAMP.shape if array is RAMP else RAMP.shape + (2,))
                    shown = got if array is RAMP else got[..., 0]
                    worst = np.abs(shown / most - RAMP / 255).max()
                    levels = (219 if range_ == "limited" else 255) << (bits - 8)
                    self.assertLess(worst, 0.51 / levels + 0.51 / most + (bits == 8) * 0.5 / 255,
                                    f"{bits} bits, {range_}")
                    self.assertEqual((shown.min(), shown.max()), (0, most), f"{bits} bits, {range_}")
                    if array is seen:
                        self.assertLess(np.abs(got[..., 1] / most - RAMP[:, ::-1] / 255).max(), 0.002)

    def test_gray_of_several_tiles(self):
        tile = np.tile(np.arange(64, dtype=np.uint8) * 4, (64, 1))
        wide = np.hstack([tile, tile])
        self.encode(wide, "in.avif", "-y", "400", "-r", "limited", "-g", "2x1")
        self.assertLessEqual(np.abs(self.read("in.avif").astype(int) - wide).max(), 1)

    def test_transparency_turns_with_its_picture(self):
        y, x = np.mgrid[:24, :40]
        array = np.dstack([x * 6, y * 10, x * 3 + y * 4, 255 - (x * 4 + y * 2)]).astype(np.uint8)
        (colour, shown), (alpha, mask) = coded(self.encode(array, "in.avif", "-y", "444"))
        self.write("plain.avif", heif([(b"av01", colour, shown), (b"av01", alpha, mask)], refer(b"auxl", 2, 1)))
        plain = self.read("plain.avif")
        self.assertLess(np.abs(plain.astype(int) - array).max(), 4)
        flips = (lambda p: p[::-1], lambda p: p[:, ::-1])
        cases = [([LEFT[k]], lambda p, k=k: np.rot90(p, k)) for k in (1, 2, 3)]
        cases += [([MIRROR[k]], flips[k]) for k in (0, 1)]
        cases += [([LEFT[1], MIRROR[k]], lambda p, k=k: flips[k](np.rot90(p))) for k in (0, 1)]
        cases += [([MIRROR[0], LEFT[3]], lambda p: np.rot90(p[::-1], 3))]
        for turns, want in cases:
            for others in ([], turns, [LEFT[2]]):
                data = heif([(b"av01", colour + turns, shown), (b"av01", alpha + others, mask)], refer(b"auxl", 2, 1))
                self.write("in.avif", data)
                np.testing.assert_array_equal(self.read("in.avif"), want(plain), f"{turns} {others}")

    def test_transparency_of_another_size_is_told(self):
        (colour, shown), = coded(self.encode(np.dstack([RAMP] * 3), "a.avif", "-y", "444"))
        _, (alpha, mask) = coded(self.encode(np.dstack([RAMP[:8, :8]] * 4), "b.avif", "-y", "444"))
        self.write("in.avif", heif([(b"av01", colour, shown), (b"av01", alpha, mask)], refer(b"auxl", 2, 1)))
        self.assertEqual(self.read("in.avif", "the transparency is left out: it has not the size").shape, (16, 256, 3))

    def test_the_film_beside_a_picture_is_told(self):
        (colour, shown), = coded(self.encode(np.dstack([RAMP] * 3), "a.avif", "-y", "444"))
        self.write("in.avif", heif([(b"av01", colour, shown)], brand=b"avis", more=box(b"moov", bytes(40))))
        self.assertEqual(self.read("in.avif", "is an animation; only the first is read").shape, (16, 256, 3))

    def test_kinds_that_are_not_read_are_named(self):
        for kind, name in ((b"unci", "uncompressed samples"), (b"tili", "a tiled picture"), (b"vvc1", "H.266"),
                           (b"j2k1", "JPEG 2000"), (b"mski", "a mask"), (b"avc1", "H.264")):
            self.write("in.heic", heif([(kind, [SIZE], bytes(192))], brand=b"mif1"))
            done = self.smp("convert", "in.heic", "out.png", "-f", status=(0, 3))
            if done.returncode:  # a newer libheif reads some
                self.assertIn(f"holds {name} (an item '{kind.decode()}')", done.stderr)
                self.assertNotIn("damaged", done.stderr)
            self.write("in.heic", heif([(b"grid", [SIZE], bytes([0, 0, 0, 0, 0, 8, 0, 8])), (kind, [SIZE], bytes(192))],
                                       refer(b"dimg", 1, 2), brand=b"mif1"))
            self.assertNotIn("damaged", self.smp("convert", "in.heic", "out.png", "-f", status=(0, 3)).stderr)
        for brand, kind, says in ((b"mif3", b"mini", "the short form (a box 'mini')"), (b"avif", b"mini", "short form"),
                                  (b"msf1", b"moov", "a film and no still picture"), (b"avis", b"moov", "a film")):
            self.write("in.heic", box(b"ftyp", brand + bytes(4) + brand) + box(kind, bytes(40)))
            self.assertIn(says, self.smp("convert", "in.heic", "out.png", status=3).stderr)


if __name__ == "__main__":
    unittest.main()
