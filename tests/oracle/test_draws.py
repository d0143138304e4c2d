"""Random values against the algorithms that torchvision's v2 transforms publish (written here in NumPy), and what is
computed with them against Pillow: identical bytes."""
import itertools
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy as np
from PIL import Image, ImageEnhance

from harness import PROGRAM, SCRATCH, OracleCase, some

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = 1500
FAR = 1.95 / FILES**0.5  # Kolmogorov's distance that one sample in a thousand of this size reaches


def smp(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def resized_crop(rng, width, height, scale, ratio, many):
    """RandomResizedCrop.get_params, `many` times: rows of width, height, x, y."""
    rows = []
    for _ in range(many):
        for _ in range(10):
            area = height * width * rng.uniform(*scale)
            shape = np.exp(rng.uniform(*np.log(ratio)))
            w, h = int(round((area * shape) ** 0.5)), int(round((area / shape) ** 0.5))
            if 0 < w <= width and 0 < h <= height:
                rows.append((w, h, rng.integers(0, width - w + 1), rng.integers(0, height - h + 1)))
                break
        else:
            w, h = width, height
            if width / height < min(ratio):
                h = int(round(w / min(ratio)))
            elif width / height > max(ratio):
                w = int(round(h * max(ratio)))
            rows.append((w, h, (width - w) // 2, (height - h) // 2))
    return np.array(rows)


def distance(one, other):
    """Of two samples' distributions, Kolmogorov and Smirnov's."""
    at = np.unique(np.concatenate([one, other]))
    below = [np.searchsorted(np.sort(sample), at, side="right") / len(sample) for sample in (one, other)]
    return np.abs(below[0] - below[1]).max()


def jittered(image, given):
    """ColorJitter's transforms on a PIL picture, in the order drawn."""
    for op in list(itertools.permutations(range(4)))[int(given.get("order", 0))]:
        if op < 3:
            name, enhance = (("brightness", ImageEnhance.Brightness), ("contrast", ImageEnhance.Contrast),
                             ("saturation", ImageEnhance.Color))[op]
            if given.get(name, 1) != 1:
                image = enhance(image).enhance(given[name])
        elif "hue" in given and image.mode != "L":
            h, s, v = image.convert("HSV").split()
            turned = np.array(h) + np.int32(given["hue"] / 360 * 255).astype(np.uint8)
            image = Image.merge("HSV", (Image.fromarray(turned), s, v)).convert("RGB")
    return image


class Draws(OracleCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=SCRATCH)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def drawn(self, shape, *stages, files=FILES):
        """What was drawn for many copies of a picture: a dict of numbers and words for each stage of each file."""
        source = self.folder / f"in{len(os.listdir(self.folder))}"
        source.mkdir()
        Image.fromarray(np.zeros(shape[::-1] + (3,), np.uint8)).save(source / "0.png")
        for i in range(1, files):
            os.link(source / "0.png", source / f"{i}.png")
        report = source.with_suffix(".jsonl")
        smp("batch", *(word for stage in stages for word in ("-e", stage)), source, "-o", source.with_suffix(".out"),
            "-q", f"--report={report}")
        lines = [json.loads(line)["drawn"] for line in report.read_text().splitlines()]
        self.assertEqual(len(lines), files)
        numbers = r"(\w+)=(-?[\d.e-]+)"
        return [[{name: float(value) for name, value in re.findall(numbers, text)} | {"text": text} for text in line]
                for line in lines]

    def test_crops_are_distributed_as_torchvisions(self):
        rng = np.random.default_rng(7)
        cases = (((50, 37), "crop random", (0.08, 1), (3 / 4, 4 / 3)),
                 ((30, 90), "crop random scale=50..100% ratio=1/2..2", (0.5, 1), (0.5, 2)))
        for (width, height), stage, scale, ratio in some(cases):
            rows = [line[0] for line in self.drawn((width, height), stage)]
            got = np.array([[row[name] for name in ("width", "height", "x", "y")] for row in rows])
            want = resized_crop(rng, width, height, scale, ratio, 20000)
            for i, name in enumerate(("width", "height", "x", "y")):
                self.assertLess(distance(got[:, i], want[:, i]), FAR, f"{stage}: {name}")
            self.assertLess(distance(got[:, 0] / got[:, 1], want[:, 0] / want[:, 1]), FAR)

    def test_a_ratio_that_never_fits_falls_back_to_the_middle(self):
        for (width, height), want in (((90, 10), "width=13px height=10px x=38px y=0px"),
                                      ((10, 90), "width=10px height=13px x=0px y=38px")):
            line = self.drawn((width, height), "crop random scale=90..100%", files=1)[0]
            self.assertIn(want, line[0]["text"])

    def test_crops_of_a_size_lie_anywhere_and_flips_are_half(self):
        lines = self.drawn((20, 12), "crop random 16x9", "flip random", "flip vertical probability=20%",
                           "multiply random(0.5..1.5)")
        at = np.array([[line[0]["x"], line[0]["y"]] for line in lines])
        for axis, most in ((0, 4), (1, 3)):
            share = np.bincount(at[:, axis].astype(int)) / FILES
            self.assertEqual(len(share), most + 1)
            self.assertLess(np.abs(share - 1 / (most + 1)).max(), 0.04)
        for stage, chance in ((1, 0.5), (2, 0.2)):
            taken = np.mean([line[stage]["text"].endswith("taken") for line in lines])
            self.assertLess(abs(taken - chance), 0.04)
        factors = np.array([line[3]["by"] for line in lines]) / 1
        self.assertLess(distance(factors, np.linspace(0.5, 1.5, 20000)), FAR)
        self.assertLess(abs(np.corrcoef(factors, at[:, 0])[0, 1]), 0.1)

    def test_jitter_has_pillows_bytes(self):
        rng = np.random.default_rng(3)
        for i in some(range(24)):
            array = rng.integers(0, 256, (*rng.integers(1, 60, 2), 3)[: 2 if i % 6 == 5 else 3], dtype=np.uint8)
            given = {name: round(float(rng.uniform(0, 2.5)), 3) for name in ("brightness", "contrast", "saturation")}
            given |= {"hue": round(float(rng.uniform(-180, 180)), 2), "order": i}
            Image.fromarray(array).save(self.folder / "in.png")
            smp("run", "-q", "-f", "--device", "simt" if i % 2 else "cpu", "-e",
                "jitter " + " ".join(f"{name}={value}" for name, value in given.items()), self.folder / "in.png",
                self.folder / "out.png")
            want = jittered(Image.fromarray(array), given)
            np.testing.assert_array_equal(np.array(Image.open(self.folder / "out.png")), np.array(want), str(given))

    def test_training_has_the_bytes_of_pillow_for_what_was_drawn(self):
        sample = ROOT / "samples" / "chelsea.png"
        for index in some(range(6)):
            given = ("run", "-q", "-f", ROOT / "pipelines" / "train.pipe", "--seed", 11, "--epoch", 2, "--index", index)
            out = [self.folder / f"{device}.png" for device in ("cpu", "simt")]
            for path in out:
                smp(*given, sample, path, "--device", path.stem, f"--report={self.folder}/report.json")
            report = json.loads((self.folder / "report.json").read_text())
            drawn = {text.split()[0]: text for text in report["drawn"]}
            numbers = {stage: {name: float(value) for name, value in re.findall(r"(\w+)=(-?[\d.e-]+)", text)}
                       for stage, text in drawn.items()}
            box = [int(numbers["crop"][name]) for name in ("x", "y", "width", "height")]
            image = Image.open(sample).convert("RGB").crop((box[0], box[1], box[0] + box[2], box[1] + box[3]))
            image = image.resize((224, 224), Image.BILINEAR)
            if drawn["flip"].endswith("taken"):
                image = image.transpose(Image.FLIP_LEFT_RIGHT)
            want = np.array(jittered(image, numbers["jitter"]))
            for path in out:
                np.testing.assert_array_equal(np.array(Image.open(path)), want, f"{path.stem}: {drawn}")


if __name__ == "__main__":
    unittest.main()
