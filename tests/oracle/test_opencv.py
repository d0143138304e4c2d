"""The same bytes as OpenCV for what it defines in integers, over 200 random pictures: medians, morphology, CLAHE,
Canny, connected components. Noise, blobs, flat parts and few levels, from a point to more than a strip; one process a
picture."""
import unittest

import cv2
import numpy as np

from harness import OracleCase, run_many

PICTURES = 200


def random_picture(seed):
    rng = np.random.default_rng(seed)
    height, width = (int(v) for v in rng.integers(1, 90, 2))
    kind = seed % 4
    if kind == 0:
        return rng.integers(0, 256, (height, width)).astype(np.uint8)
    small = rng.random((height // 8 + 2, width // 8 + 2)).astype(np.float32)
    blobs = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
    if kind == 1:
        return np.clip(np.rint(blobs * 200 + rng.normal(20, 6, (height, width))), 0, 255).astype(np.uint8)
    if kind == 2:
        return (np.clip(blobs, 0, 0.99) * 5).astype(np.uint8) * np.uint8(51)
    return ((rng.random((height, width)) < rng.random()) * rng.integers(128, 256)).astype(np.uint8)


def shape_of(rng):
    """A shape's words here, and its mask there."""
    size = int(rng.integers(1, 8)) * 2 + 1
    word = ("square", "cross", "rectangle")[int(rng.integers(3))]
    if word == "rectangle":
        other = int(rng.integers(0, 8)) * 2 + 1
        return f"width={size} height={other}", np.ones((other, size), np.uint8)
    mask = np.ones((size, size), np.uint8) if word == "square" else cv2.getStructuringElement(cv2.MORPH_CROSS,
                                                                                             (size, size))
    return f"size={size} shape={word}", mask


class SameAsOpenCV(OracleCase):
    def cases(self, seed, array):
        """{statement: OpenCV's picture}"""
        rng = np.random.default_rng(1000 + seed)
        words, mask = shape_of(rng)
        size = (3, 5, 7, 9, 15, 31)[seed % 6]
        operation = ("open", "close", "tophat", "blackhat", "gradient")[seed % 5]
        code = (cv2.MORPH_OPEN, cv2.MORPH_CLOSE, cv2.MORPH_TOPHAT, cv2.MORPH_BLACKHAT, cv2.MORPH_GRADIENT)[seed % 5]
        tiles, clip = int(rng.integers(1, 9)), (0.0, 1.5, 2.0, 40.0)[seed % 4]
        low = int(rng.integers(0, 150))
        high, norm = low + int(rng.integers(0, 200)), seed % 2
        wants = {
            f"median {size}": cv2.medianBlur(array, size),
            f"dilate {words}": cv2.dilate(array, mask),
            f"erode {words}": cv2.erode(array, mask),
            f"morph {operation} {words}": cv2.morphologyEx(array, code, mask),
            f"canny {low}cv high={high}cv gradient={('l1', 'l2')[norm]}": cv2.Canny(array, low, high,
                                                                                     L2gradient=bool(norm)),
        }
        if min(array.shape) > tiles:  # OpenCV mirrors at the borders, which takes as many pixels as it adds
            wants[f"clahe {tiles} clip={clip}"] = cv2.createCLAHE(clip, (tiles, tiles)).apply(array)
        return wants

    def components(self, array, connectivity):
        """OpenCV's, numbered by their first pixels."""
        count, labels, stats, centres = cv2.connectedComponentsWithStats((array >= 128).astype(np.uint8),
                                                                         connectivity=connectivity)
        values, first = np.unique(labels, return_index=True)
        order = [v for _, v in sorted(zip(first, values)) if v]
        rank = np.zeros(count, np.uint16)
        rank[order] = np.arange(1, count)
        return rank[labels], stats[order], centres[order]

    def test_no_sample_differs_over_200_pictures(self):
        compared = 0
        for seed in range(PICTURES):
            array = random_picture(seed)
            wants, connectivity, report = self.cases(seed, array), (4, 8)[seed % 2], {}
            want, stats, centres = self.components(array, connectivity)
            label = f"label 128cv connectivity={connectivity} output=labels"
            got = run_many(array, {**{name: [name] for name in wants}, label: [label]}, report=report,
                           *(("--strip-rows", 16) if seed % 3 == 0 else ()))
            for name, picture in {**wants, label: want}.items():
                self.same(got[name], picture, f"picture {seed}, {array.shape}: {name}")
                compared += 1
            step = next(s for s in report["steps"] if s.get("findings"))
            found = {f["name"]: f["values"] if "values" in f else f["value"] for f in step["findings"]}
            self.assertEqual(found["count"], len(stats), seed)
            for name, column in (("left", 0), ("top", 1), ("width", 2), ("height", 3), ("area", 4)):
                self.assertEqual(found.get(name, []), stats[:, column].tolist(), f"picture {seed}: {name}")
            np.testing.assert_allclose(found.get("x", []), centres[:, 0], rtol=1e-12)
            np.testing.assert_allclose(found.get("y", []), centres[:, 1], rtol=1e-12)
        self.assertGreaterEqual(compared, 6 * PICTURES)


if __name__ == "__main__":
    unittest.main()
