"""Random pictures, the same bytes as OpenCV makes: median, morphology, CLAHE, Canny, components. A handful; SMP_FULL=1
takes 200."""
import os
import unittest

import cv2
import numpy as np

from harness import OracleCase, run_many

COUNT = 200 if os.environ.get("SMP_FULL") == "1" else 12


def random_picture(rng):
    """Noise, steps, slopes or blobs of any size up to 90 pixels."""
    height, width = rng.integers(1, 90, 2)
    kind = rng.integers(0, 4)
    noise = rng.integers(0, 256, (height, width)).astype(np.uint8)
    if kind == 0:
        return noise
    if kind == 1:
        return (noise > rng.integers(20, 230)).astype(np.uint8) * 255
    if kind == 2:
        return cv2.GaussianBlur(noise, (0, 0), float(rng.uniform(0.7, 4)))
    y, x = np.mgrid[0:height, 0:width]
    return ((x * rng.integers(1, 9) + y * rng.integers(0, 9) + noise // 16) % 256).astype(np.uint8)


def case(rng):
    """{name: (statements, what OpenCV makes)} of one picture."""
    array = random_picture(rng)
    size, side = int(rng.choice([3, 5, 7, 11, 25])), int(rng.choice([3, 5, 9, 15, 51]))
    box = np.ones((side, side), np.uint8)
    low = int(rng.integers(0, 200))
    high = low + int(rng.integers(1, 300))
    gradient = str(rng.choice(["l1", "l2"]))
    tiles, clip = int(rng.integers(1, 9)), float(rng.choice([1, 2, 3.5, 40]))
    mask = (array >= 128).astype(np.uint8)
    connectivity = int(rng.choice([4, 8]))
    out = {
        "median": ([f"median {size}"], cv2.medianBlur(array, size)),
        "dilate": ([f"dilate {side}"], cv2.dilate(array, box)),
        "erode": ([f"erode {side}"], cv2.erode(array, box)),
        "close": ([f"morph close size={side}"], cv2.morphologyEx(array, cv2.MORPH_CLOSE, box)),
        "canny": ([f"canny {low}cv high={high}cv gradient={gradient}"],
                  cv2.Canny(array, low, high, L2gradient=gradient == "l2")),
        "label": ([f"label output=labels connectivity={connectivity}"],
                  cv2.connectedComponents(mask, connectivity=connectivity)[1]),
    }
    if min(array.shape) >= 2 * tiles:
        out["clahe"] = ([f"clahe {tiles} clip={clip}"], cv2.createCLAHE(clip, (tiles, tiles)).apply(array))
    return array, out


def same_parts(a, b):
    """Whether two labellings have the same components, whatever their numbers."""
    pairs = np.unique(np.stack([a.ravel(), b.ravel()]), axis=1)
    return all(len(np.unique(pairs[i])) == pairs.shape[1] for i in (0, 1)) and np.array_equal(a == 0, b == 0)


class Random(OracleCase):
    def test_equals_opencv(self):
        for seed in range(COUNT):
            array, want = case(np.random.default_rng(1000 + seed))
            got = run_many(array, {name: lines for name, (lines, _) in want.items()})
            for name, (lines, exact) in want.items():
                what = f"picture {seed} {array.shape}: {lines[0]}"
                if name == "label":
                    self.assertTrue(same_parts(got[name].astype(int), exact), what)
                else:
                    self.same(got[name], exact, what)


if __name__ == "__main__":
    unittest.main()
