"""Golden runs: every shipped pipeline on the samples gives the samples recorded in tests/golden/pipelines.json.

What is recorded is a hash of the decoded samples (type, shape, values), not of a file: codecs may compress as they like.
SMP_UPDATE_GOLDEN=1 writes what the program gives now; look at the pictures before committing that.
"""
import hashlib
import json
import os
import unittest

import cv2
import numpy as np

from harness import PIPELINES, ROOT, SAMPLES, CliCase

GOLDEN = ROOT / "tests" / "golden" / "pipelines.json"
PICTURES = ("chelsea.png", "camera.png", "rocket.jpg", "page.jpg")


def digest(array):
    head = f"{array.dtype.str} {array.shape}".encode()
    return hashlib.sha256(head + np.ascontiguousarray(array).tobytes()).hexdigest()


class Pipelines(CliCase):
    def result(self, pipe, picture, *options):
        done = self.smp("run", PIPELINES / f"{pipe}.pipe", SAMPLES / picture, "out.npy", "--force", *options)
        self.assertEqual(done.stderr, "", f"{pipe} on {picture} has something to say")
        return np.load(self.folder / "out.npy")

    def test_golden(self):
        found = {}
        for pipe in sorted(PIPELINES.glob("*.pipe")):
            for picture in PICTURES:
                found[f"{pipe.stem} {picture}"] = digest(self.result(pipe.stem, picture))
        if os.environ.get("SMP_UPDATE_GOLDEN") == "1":
            GOLDEN.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        self.assertEqual(found, json.loads(GOLDEN.read_text()))

    # Golden hashes say that nothing changed; these say that what they record is what the pipeline promises.

    def test_blur_is_a_gaussian(self):
        picture = cv2.imread(str(SAMPLES / "chelsea.png"))[..., ::-1]
        want = cv2.GaussianBlur(picture.astype(np.float64), (17, 17), 2, borderType=cv2.BORDER_REPLICATE)
        self.assertLessEqual(np.abs(self.result("blur", "chelsea.png") - want).max(), 0.51)

    def test_sharpen_raises_contrast_of_detail(self):
        before = cv2.imread(str(SAMPLES / "camera.png"), cv2.IMREAD_GRAYSCALE)
        after = self.result("sharpen", "camera.png")
        detail = [cv2.Laplacian(a.astype(np.float64), cv2.CV_64F).std() for a in (before, after)]
        self.assertGreater(detail[1], 1.3 * detail[0])
        self.assertLess(abs(after.mean() - before.mean()), 2)

    def test_edges_follow_canny(self):
        before = cv2.imread(str(SAMPLES / "camera.png"), cv2.IMREAD_GRAYSCALE)
        after = self.result("edges", "camera.png")
        edges = cv2.Canny(cv2.GaussianBlur(before, (0, 0), 1), 100, 200) > 0
        self.assertGreater(after[edges].mean(), 100)
        self.assertLess(after[~cv2.dilate(edges.astype(np.uint8), np.ones((15, 15))).astype(bool)].mean(), 40)

    def test_scan_clean_separates_ink_from_paper(self):
        page = self.result("scan-clean", "page.jpg")
        self.assertEqual(page.shape, (640, 480))
        self.assertEqual(set(np.unique(page)), {0, 255})
        ink = page == 0
        self.assertTrue(0.02 < ink.mean() < 0.15, f"{ink.mean():.3f} of the page is ink")
        margins = np.concatenate([ink[:30].ravel(), ink[-40:].ravel(), ink[:, :25].ravel(), ink[:, -20:].ravel()])
        self.assertLess(margins.mean(), 0.002, "shadow came out as ink")
        self.assertGreater(ink[590:, :].sum() + ink[530:560, 300:380].sum(), 50, "text in the shadow is lost")

    def test_photo_rescue_uses_the_whole_range(self):
        dull = (cv2.imread(str(SAMPLES / "chelsea.png")) // 4 + 30).astype(np.uint8)
        cv2.imwrite(str(self.folder / "dull.png"), dull)
        self.smp("run", PIPELINES / "photo-rescue.pipe", "dull.png", "better.png")
        better = cv2.imread(str(self.folder / "better.png"))
        self.assertLessEqual(np.percentile(better, 2), 40)
        self.assertGreaterEqual(np.percentile(better, 98), 200)
        self.assertGreater(better.std(), 2 * dull.std())

    def test_upright_turns_and_changes_nothing_else(self):
        self.assertEqual(self.result("upright", "page.jpg").shape, (640, 480, 3))
        picture = cv2.imread(str(SAMPLES / "chelsea.png"))[..., ::-1]
        self.assertTrue((self.result("upright", "chelsea.png") == picture).all())


if __name__ == "__main__":
    unittest.main()
