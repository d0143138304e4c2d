"""What diff compares, tells and answers with its exit status."""
import json
import struct
import unittest

import numpy as np

from harness import CliCase, chunk, png_bytes


def upright_png(picture, orientation=1):
    """A PNG of (height, width, 3) bytes that is seen as the picture, and stored as EXIF's orientation says."""
    stored = {
        1: picture, 2: picture[:, ::-1], 3: picture[::-1, ::-1], 4: picture[::-1],
        5: picture.swapaxes(0, 1), 6: np.rot90(picture, 1),
        7: np.rot90(picture, 2).swapaxes(0, 1), 8: np.rot90(picture, -1),
    }[orientation]  # fmt: skip
    exif = b"II*\0" + struct.pack("<IHHHIII", 8, 1, 0x0112, 3, 1, orientation, 0)
    return png_bytes([row.tobytes() for row in stored], stored.shape[1], extra=chunk(b"eXIf", exif))


class Diff(CliCase):
    def test_pictures_are_compared_as_they_are_seen(self):
        picture = np.random.default_rng(5).integers(0, 200, (70, 133, 3), dtype=np.uint8)
        other = picture.copy()
        other[7, 100, 1] += 5
        other[60, 3, 2] += 9
        for orientation in range(1, 9):
            self.write(f"{orientation}.png", upright_png(picture, orientation))
            self.write(f"other{orientation}.png", upright_png(other, orientation))
        for orientation in range(2, 9):
            self.smp("diff", "1.png", f"{orientation}.png")
            for a in (1, 9 - orientation, orientation):
                told = json.loads(self.smp("diff", "--json", f"{a}.png", f"other{orientation}.png", status=7).stdout)
                self.assertEqual((told["differing"], told["max_abs"]), (2, 9), orientation)
                self.assertEqual([told["first"][k] for k in ("x", "y", "channel")], [100, 7, 1], orientation)
                self.assertEqual([told["largest"][k] for k in ("x", "y", "channel")], [3, 60, 2], orientation)
        self.assertEqual(self.smp("diff", "--psnr", "6.png", "8.png").stdout, "inf\n")
        self.assertEqual(self.smp("diff", "--ssim", "6.png", "1.png").stdout, "1.000000\n")

    def test_a_number_alone_is_no_verdict(self):
        picture = np.random.default_rng(6).integers(0, 200, (20, 30, 3), dtype=np.uint8)
        self.write("a.png", upright_png(picture))
        self.write("b.png", upright_png(picture + np.uint8(10)))
        self.smp("diff", "a.png", "b.png", status=7)
        psnr = 20 * np.log10(255 / 10)
        self.assertEqual(self.smp("diff", "--psnr", "a.png", "b.png").stdout, f"{psnr:.4f}\n")
        similar = self.smp("diff", "--ssim", "a.png", "b.png").stdout
        for option, limit, status in (("psnr", psnr - .01, 0), ("psnr", psnr + .01, 7),
                                      ("ssim", float(similar) - .01, 0),
                                      ("ssim", float(similar) + .001, 7)):
            self.smp("diff", f"--{option}={limit}", "a.png", "b.png", status=status)
        for limits, status in ((("--psnr", "--max-abs=9"), 7), (("--psnr", "--max-abs=10"), 0),
                               (("--psnr=20", "--max-abs=9"), 7)):
            self.assertEqual(self.smp("diff", *limits, "a.png", "b.png", status=status).stdout, f"{psnr:.4f}\n")
        self.assertIn("--ssim and --max-abs exclude", self.smp("diff", "--ssim", "--max-abs=9", "a.png", "b.png",
                                                               status=2).stderr)

    def test_a_number_that_there_is_not_is_an_error(self):
        self.write("a.png", upright_png(np.zeros((12, 20, 3), np.uint8)))
        self.write("b.png", upright_png(np.zeros((20, 12, 3), np.uint8)))
        for option, name in (("--psnr", "PSNR"), ("--ssim", "structural similarity"), ("--psnr=40", "PSNR")):
            done = self.smp("diff", option, "a.png", "b.png", status=7)
            self.assertEqual(done.stdout, "")
            self.assertIn(f"a.png: error: differs from b.png: size 20x12 against 12x20; there is no {name}",
                          done.stderr)
            self.assertEqual(self.smp("diff", "-q", option, "a.png", "b.png", status=7).stderr, "")
        self.assertIn("size 20x12 against 12x20", self.smp("diff", "a.png", "b.png", status=7).stdout)
        values = np.ones((12, 20), np.float32)
        np.save(self.folder / "a.npy", values)
        values[3, 3] = np.nan
        np.save(self.folder / "b.npy", values)
        self.assertIn("not finite; there is no PSNR", self.smp("diff", "--psnr", "a.npy", "b.npy", status=7).stderr)


if __name__ == "__main__":
    unittest.main()
