"""PNGs of few bits and with palettes: what they hold, how small they are, and what does not fit."""
import json
import struct
import unittest

import cv2
import numpy as np
from PIL import Image

from harness import SAMPLES, CliCase, chunk, png_bytes


class PngBits(CliCase):
    def made(self, array, *options, stages=()):
        np.save(self.folder / "in.npy", array)
        self.smp("run", "-f", *(w for s in stages or ("flip horizontal",) for w in ("-e", s)), "in.npy", "out.png",
                 *options)
        head = (self.folder / "out.png").read_bytes()[24:26]
        return cv2.imread(str(self.folder / "out.png"), cv2.IMREAD_UNCHANGED), tuple(head)

    def test_gray_of_few_bits(self):
        rng = np.random.default_rng(1)
        for bits in (1, 2, 4):
            for width in (1, 7, 8, 33):
                array = (rng.integers(0, 1 << bits, (9, width)) * (255 // ((1 << bits) - 1))).astype(np.uint8)
                array[0, 0], array[-1, -1] = 255, 255 // ((1 << bits) - 1)
                for options in (("--png-bits", str(bits)), ("--png-palette",)):
                    got, head = self.made(array, *options)
                    self.assertEqual(head, (bits, 0))
                    self.assertTrue(np.array_equal(got, array[:, ::-1]), (bits, width))

    def test_palettes(self):
        rng = np.random.default_rng(2)
        for colours, bits in ((2, 1), (4, 2), (5, 4), (16, 4), (17, 8), (256, 8)):
            for channels in (3, 4):
                palette = rng.permutation(1 << 16)[:colours, None] * 131 >> np.array([16, 8, 4, 1])[:channels] & 255
                palette = np.unique(palette.astype(np.uint8), axis=0)
                if len(palette) != colours:
                    palette = np.stack([np.arange(colours)] * channels, 1).astype(np.uint8)
                array = palette[np.concatenate([np.arange(colours), rng.integers(0, colours, 400)])].reshape(
                    -1, 1, channels)
                cv2.imwrite(str(self.folder / "in.png"), array)
                self.smp("run", "-f", "-e", "flip vertical", "in.png", "out.png", "--png-palette")
                head = (self.folder / "out.png").read_bytes()[24:26]
                self.assertEqual(tuple(head), (bits, 3))
                got = cv2.imread(str(self.folder / "out.png"), cv2.IMREAD_UNCHANGED)
                if channels == 4 and got.shape[2] == 3:  # every colour is opaque
                    got = np.dstack([got, np.full(got.shape[:2], 255, np.uint8)])
                self.assertTrue(np.array_equal(got, array[::-1]), (colours, channels))

    def test_files_of_few_bits_stay_so(self):
        rng = np.random.default_rng(3)
        gray = Image.fromarray(rng.integers(0, 2, (9, 20), np.uint8) * 255).convert("1")
        colours = Image.fromarray(rng.integers(0, 12, (9, 20), np.uint8), "P")
        colours.putpalette(rng.integers(0, 256, 36, np.uint8).tolist())
        gray.save(self.folder / "a.tif", compression="group4")
        for name in ("b.tif", "c.bmp", "d.gif"):
            colours.save(self.folder / name)
        told = self.smp("help", "formats").stdout.splitlines()
        for name, head in (("a.tif", (1, 0)), ("b.tif", (4, 3)), ("c.bmp", (4, 3)), ("d.gif", (4, 3))):
            kind = {"tif": "TIFF", "bmp": "BMP", "gif": "GIF"}[name[2:]]
            if any(line.split()[:2] == [kind, "read"] or line.split()[:2] == [kind, "read,"] for line in told if line):
                self.smp("convert", "-f", name, "out.png")
                self.assertEqual(tuple((self.folder / "out.png").read_bytes()[24:26]), head, name)
                with Image.open(self.folder / "out.png") as got, Image.open(self.folder / name) as want:
                    self.assertTrue(np.array_equal(got.convert("RGB"), want.convert("RGB")), name)

    def test_a_posterised_photo_is_small_and_keeps_its_metadata(self):
        stages = ("-e", "gray", "-e", "posterise 2")
        self.smp("run", *stages, SAMPLES / "chelsea.png", "plain.png")
        self.smp("run", *stages, SAMPLES / "chelsea.png", "small.png", "--png-bits", "1")
        plain, small = ((self.folder / name).read_bytes() for name in ("plain.png", "small.png"))
        self.assertLess(len(small), 0.9 * len(plain))
        self.assertEqual(struct.unpack(">IIBB", small[16:26]), (451, 300, 1, 0))
        self.assertEqual(b"tEXt" in plain, b"tEXt" in small)
        self.smp("diff", "plain.png", "small.png")

    def test_an_input_of_few_bits_stays_so_where_it_fits(self):
        rng = np.random.default_rng(3)
        page = rng.integers(0, 2, (40, 50), np.uint8) * 255
        Image.fromarray(page).convert("1").save(self.folder / "page.png")
        colours = rng.integers(0, 256, (200, 3), np.uint8)
        picture = colours[np.concatenate([np.arange(200), rng.integers(0, 200, 1800)])].reshape(40, 50, 3)
        Image.fromarray(picture).quantize(256).save(self.folder / "palette.png")
        self.assertTrue(np.array_equal(np.array(Image.open(self.folder / "palette.png").convert("RGB")), picture))
        for name, stage, head, want in (
            ("page.png", "flip vertical", (1, 0), page[::-1]),
            ("page.png", "gaussian 1px", (8, 0), None),
            ("page.png", "depth 16bit", (16, 0), page.astype(np.uint16) * 257),
            ("palette.png", "flip vertical", (8, 3), picture[::-1]),
            ("palette.png", "crop width=1 height=2", (1, 3), picture[19:21, 24:25]),
            ("palette.png", "resize 3", (8, 2), None),
            ("palette.png", "gray", (8, 0), None),
        ):
            self.smp("run", "-f", "-e", stage, name, "out.png", "--strip")
            self.assertEqual(tuple((self.folder / "out.png").read_bytes()[24:26]), head, (name, stage))
            self.smp("run", "-f", "-e", stage, name, "out.npy")
            exact = np.load(self.folder / "out.npy")
            got = cv2.imread(str(self.folder / "out.png"), cv2.IMREAD_UNCHANGED)
            self.assertTrue(np.array_equal(got[..., ::-1] if got.ndim == 3 else got, exact), (name, stage))
            if want is not None:
                self.assertTrue(np.array_equal(exact, want), (name, stage))

    def test_what_is_kept_for_few_bits_is_bounded(self):
        """A byte a pixel, of pictures that may fit; no more than an eighth of what the program may take."""
        width, height = 6000, 2000
        rows = [bytes((y + x) * 37 & 255 for x in range(width)) for y in range(4)]
        self.write("in.png", png_bytes([rows[y % 4] for y in range(height)], width, 8, 3,
                                       chunk(b"PLTE", bytes(i * 7 & 255 for i in range(768)))))
        for stages, limit, color in ((("flip horizontal",), "256M", 3), (("flip horizontal",), "80M", 2),
                                     (("gaussian 1px", "posterise 64"), "256M", 2)):
            self.smp("run", "-f", *(w for s in stages for w in ("-e", s)), "in.png", "out.png", "--report=r.json",
                     "--max-memory", limit, "--device", "cpu", "--threads", "1")
            self.assertEqual((self.folder / "out.png").read_bytes()[25], color, (stages, limit))
            peak = json.loads((self.folder / "r.json").read_text())["peak_bytes"]
            self.assertLess(peak, 40 << 20 if color == 3 or "gaussian" in stages[0] else 20 << 20, (stages, limit))
            self.smp("run", "-f", *(w for s in stages for w in ("-e", s)), "in.png", "out.npy", "--device", "cpu")
            self.smp("diff", "out.png", "out.npy")

    def test_what_does_not_fit_is_refused(self):
        photo = SAMPLES / "chelsea.png"
        for options, says in (
            (("-e", "flip horizontal", "--png-palette"),
             "more than 256 colours\n  = hint: `palette 256 dither=diffuse`"),
            (("-e", "gray", "--png-bits", "2"), "posterise 4"),
            (("-e", "posterise 2", "--png-bits", "1"), "--png-palette"),
            (("-e", "posterise 2", "--png-bits", "1", "--png-palette"), "more than 2 colours"),
            (("-e", "depth 16bit", "--png-palette"), "depth 8bit"),
        ):  # fmt: skip
            stages, rest = options[:2], options[2:]
            done = self.smp("run", *stages, photo, "no.png", *rest, status=4)
            self.assertIn(says, done.stderr)
            self.assertFalse((self.folder / "no.png").exists())
        done = self.smp("run", "-e", "gray", photo, "no.png", "--png-bits", "3", status=2)
        self.assertIn("1, 2, 4 or 8", done.stderr)


if __name__ == "__main__":
    unittest.main()
