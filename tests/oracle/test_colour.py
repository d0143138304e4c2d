"""Alpha and light: neighbourhood stages work on premultiplied colour, `light linear` on light instead of codes."""
import pathlib
import tempfile
import unittest

import cv2
import numpy as np

from harness import SCRATCH, OracleCase, command, picture, run, white
from test_stencil import gaussian, gaussian_weights


def through_png(array, *stages):
    """RGBA through a PNG, where the fourth channel is alpha; the result as an array."""
    with tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH) as name:
        folder = pathlib.Path(name)
        cv2.imwrite(str(folder / "in.png"), array[..., [2, 1, 0, 3]])
        arguments = [word for stage in stages for word in ("-e", stage)]
        command("run", "-q", *arguments, folder / "in.png", folder / "out.npy")
        return np.load(folder / "out.npy")


def blur(values, sigma, dtype):
    """Of a picture of that dtype: what is blurred may have been computed from it."""
    return gaussian(values, gaussian_weights(sigma), "clamp", dtype)


def decode(v):
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def encode(v):
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * np.power(np.maximum(v, 0), 1 / 2.4) - 0.055)


class Alpha(OracleCase):
    def test_hidden_colour_leaves_no_halo(self):
        array = np.zeros((40, 40, 4), np.uint8)
        array[..., 0] = 255  # red everywhere, but hidden
        array[12:28, 12:28] = (0, 0, 200, 255)  # a blue square that shows
        for stage in ("gaussian 3px", "box 5px", "convolve [1 1 1; 1 1 1; 1 1 1]"):
            got = through_png(array, stage)
            shown = got[..., 3] > 0
            self.assertGreater(shown.sum(), 16 * 16)
            self.assertEqual(got[..., 0][shown].max(), 0, f"{stage}: hidden red shows")
            self.assertTrue((got[..., 2][got[..., 3] > 8] >= 190).all(), f"{stage}: blue fades where it is transparent")

    def test_premultiplied_arithmetic(self):
        for dtype in (np.uint8, np.uint16):
            array = picture(1, (45, 61, 4), dtype)
            top = white(array)
            alpha = array[..., 3].astype(np.float64) / top
            blurred = blur(alpha, 2, dtype)
            got = through_png(array, "gaussian 2px")
            self.near(got[..., 3], blurred * top, "alpha")
            for c in range(3):
                self.near(got[..., c], blur(array[..., c] * alpha, 2, dtype) / blurred, f"channel {c}", tie=top * 4e-6)

    def test_opaque_pictures_are_as_without_alpha(self):
        array = picture(2, (45, 61, 4), np.uint8)
        array[..., 3] = 255
        for stage in ("gaussian 2px", "sharpen", "sobel"):
            opaque, plain = through_png(array, stage), run(np.ascontiguousarray(array[..., :3]), stage)
            self.assertLessEqual(np.abs(opaque[..., :3].astype(int) - plain).max(), 0, stage)

    def test_filters_that_keep_the_mean_keep_a_flat_colour_up_to_its_edge(self):
        array = np.full((40, 40, 4), (200, 100, 50, 0), np.uint8)
        apart = np.hypot(*(np.mgrid[:40, :40] - 19.5))
        array[..., 3] = np.clip(255 * (15.5 - apart), 0, 255)
        for stage in ("gaussian 2px", "sharpen 1.5 sigma=2px", "fftfilter 0.1"):
            got = through_png(array, stage).astype(int)
            seen = got[..., 3] > 40  # below, a code of alpha is more than one of colour
            self.assertGreater(seen.sum(), 600)
            self.assertLessEqual(np.abs(got[seen][:, :3] - (200, 100, 50)).max(), 2, stage)
            self.assertFalse(np.array_equal(got[..., 3], array[..., 3]), stage)
        self.same(through_png(array, "fftfilter highpass=0.1")[..., 3], array[..., 3], "a high pass leaves alpha")

    def test_point_stages_leave_alpha_alone(self):
        array = picture(3, (45, 61, 4), np.uint8)
        got = through_png(array, "invert")
        self.same(got[..., :3], 255 - array[..., :3], "colour")
        self.same(got[..., 3], array[..., 3], "alpha")

    def test_moves_take_alpha_along(self):
        array = picture(4, (45, 61, 4), np.uint8)
        self.same(through_png(array, "rotate 90"), np.rot90(array, -1), "hidden colours too")


class Light(OracleCase):
    def test_linear_light(self):
        for dtype in (np.uint8, np.uint16, np.float32):
            array = picture(5, (45, 61, 3), dtype)
            top = white(array)
            linear = decode(array / top)
            exact = np.stack([encode(blur(linear[..., c], 2, dtype)) * top for c in range(3)], 2)
            got = run(array, "light linear", "gaussian 2px")
            self.near(got, exact, "light linear", tie=top * 4e-6, relative=4e-6)

    def test_a_checkerboard_keeps_its_light(self):
        array = np.indices((64, 64)).sum(0).astype(np.uint8) % 2 * 255
        middle = np.s_[20:44, 20:44]
        self.assertTrue((run(array, "light linear", "gaussian 4px")[middle] == 188).all(), "half the light is code 188")
        self.assertTrue((np.abs(run(array, "gaussian 4px")[middle].astype(int) - 127.5) <= 1).all(),
                        "half the code value")

    def test_there_and_back_changes_nothing(self):
        array = np.arange(65536, dtype=np.uint16).reshape(256, 256)
        self.same(run(array, "light linear", "multiply by=1"), array, "16 bits through linear light")

    def test_encoded_again(self):
        array = picture(6, (45, 61), np.uint8)
        self.same(run(array, "light linear", "light encoded", "gaussian 2px"), run(array, "gaussian 2px"),
                  "light encoded")


if __name__ == "__main__":
    unittest.main()
