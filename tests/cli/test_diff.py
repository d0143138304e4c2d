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


if __name__ == "__main__":
    unittest.main()
