"""JPEGs that a GPU decodes and codes: the bytes of the CPU's files, whatever the input."""
import io
import json
import os
import random
import shutil
import subprocess
import unittest

import numpy as np
import PIL.Image

from harness import FULL, SANITIZED, CliCase

FAILED = 1  # of files in a batch
# A sanitizer's run takes about twenty times as long.
COUNT = 60 if SANITIZED else 300
SIZES = [(1, 1), (3, 2), (8, 8), (9, 7), (16, 16), (17, 33), (31, 40), (64, 48), (97, 61), (200, 3), (2, 150),
         (1024, 1)]


def picture(rng, number):
    width, height = SIZES[number % len(SIZES)]
    y, x = np.mgrid[:height, :width]
    smooth = np.stack([x * 255 // width, y * 255 // height, (x * 3 + y * 5) % 256], -1)
    noise = rng.integers(0, 256, smooth.shape)
    share = [0, 0.1, 1][number % 3]
    array = (smooth * (1 - share) + noise * share).astype(np.uint8)
    return array[:, :, 0] if number % 5 == 4 else array


def jpeg(rng, number):
    options = {"quality": [1, 20, 50, 75, 90, 95, 100][number % 7], "subsampling": number // 3 % 3}
    if number % 4 == 1:
        options["optimize"] = True
    if number % 11 == 10:
        options["progressive"] = True
    if number % 6 == 5:
        options["restart_marker_blocks" if number % 2 else "restart_marker_rows"] = 1 + number % 3
    if number % 9 == 8:
        options["exif"] = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"  # a quarter turn
    file = io.BytesIO()
    PIL.Image.fromarray(picture(rng, number)).save(file, "JPEG", **options)
    return file.getvalue()


def damage(data, number, chance):
    """Bytes changed; and by turns a part cut off, taken out, said twice, a marker put in, or bits turned."""
    data = bytearray(data)
    for _ in range(1 + number % 4):
        data[chance.randrange(2, len(data))] = chance.randrange(256)
    at, size = chance.randrange(2, len(data)), chance.randrange(1, 40)
    kind = number % 8
    if kind == 7:
        del data[at:]
    elif kind == 1:
        del data[at:at + size]
    elif kind == 3:
        data[at:at] = data[at:at + size]
    elif kind == 5:
        data[at:at] = bytes((0xFF, chance.choice((0x00, 0xC0, 0xC4, 0xD0, 0xD3, 0xD7, 0xD9, 0xDA, 0xDD, 0xFF))))
    elif kind == 6:
        data[at] ^= 1 << chance.randrange(8)
    return bytes(data)


class GpuJpeg(CliCase):
    def outputs(self, status):
        """The outputs of the CPU and of the emulator, by name."""
        out = []
        for device in (["--device", "cpu"], ["--device", "simt", "--gpu-jpeg", "1"]):
            to = self.folder / device[1]
            self.smp("batch", "-e", "invert", self.folder / "in", "-o", to, *device, "--report", f"{device[1]}.jsonl",
                     "--force", "--max-pixels", "4000000", status=status)
            out.append({file.name: file.read_bytes() for file in sorted(to.glob("*.jpg"))})
        return out

    def verdicts(self, device):
        """{file: what is said of it}"""
        lines = map(json.loads, (self.folder / f"{device}.jsonl").read_text().splitlines())
        return {line["input"]: (line["status"], line.get("error")) for line in lines}

    def fill(self, files):
        os.mkdir(self.folder / "in")
        for number, data in enumerate(files):
            self.write(f"in/{number:04}.jpg", data)

    def test_files_of_all_kinds_become_the_same(self):
        rng = np.random.default_rng(5)
        self.fill(jpeg(rng, number) for number in range(COUNT))
        right, made = self.outputs(0)
        self.assertEqual(len(right), COUNT)
        self.assertEqual([name for name in right if right[name] != made.get(name)], [])

    def coded_by_others(self, rng):
        """JPEGs of other programs: cjpeg's options and orders of markers, FFmpeg's tables."""
        files = []
        for number, (width, height) in enumerate(SIZES[::2]):
            pixels = picture(rng, 2 * number)
            self.write("in.ppm", b"P%d %d %d 255 " % (5 if pixels.ndim == 2 else 6, width, height) + pixels.tobytes())
            sample = ("1x1", "2x1", "1x2", "2x2")[number % 4]
            for options in ("-optimize", "-quality", "70"), ("-restart", f"{1 + number % 3}B", "-quality", "95"), \
                    ("-sample", sample, "-restart", "1", "-optimize"), ("-grayscale", "-quality", "30"):
                if shutil.which("cjpeg"):
                    files.append(subprocess.run(["cjpeg", *options, "in.ppm"], cwd=self.folder, check=True,
                                                capture_output=True).stdout)
            for options in ("-q:v", "2"), ("-q:v", "15", "-huffman", "optimal", "-pix_fmt", "yuvj422p"), \
                    ("-q:v", "8", "-huffman", "default", "-pix_fmt", "yuvj444p"):
                if shutil.which("ffmpeg"):
                    files.append(subprocess.run(["ffmpeg", "-v", "error", "-i", "in.ppm", "-c:v", "mjpeg", *options,
                                                 "-f", "image2pipe", "-"], cwd=self.folder, check=True,
                                                capture_output=True).stdout)
        return files

    def test_files_of_other_programs_become_the_same(self):
        files = self.coded_by_others(np.random.default_rng(11))
        if not files:
            self.skipTest("neither cjpeg (libjpeg-turbo-progs) nor ffmpeg is installed")
        self.fill(files)
        right, made = self.outputs(0)
        self.assertEqual(len(right), len(files))
        self.assertEqual([name for name in right if right[name] != made.get(name)], [])

    def test_damaged_files_get_the_cpus_verdict(self):
        """SMP_FULL=1: two million bytes of them."""
        rng, chance = np.random.default_rng(6), random.Random(7)
        left, number = (2_000_000, 0) if FULL else (1, 0)
        good = bad = 0
        while left > 0:
            files = []
            for number in range(number, number + max(COUNT // 3, 50)):
                files.append(damage(jpeg(rng, number), number, chance))
            left -= sum(map(len, files))
            number += 1
            for folder in "in", "cpu", "simt":
                shutil.rmtree(self.folder / folder, ignore_errors=True)
            self.fill(files)
            right, made = self.outputs(FAILED)
            self.assertEqual(sorted(right), sorted(made))
            self.assertEqual([name for name in right if right[name] != made[name]], [])
            self.assertEqual(self.verdicts("cpu"), self.verdicts("simt"))
            good += len(right)
            bad += len(files) - len(right)
        self.assertGreater(good, 0)
        self.assertGreater(bad, 0)

    def test_scans_that_are_longer_than_their_room_are_coded_by_the_cpu(self):
        noise = np.random.default_rng(8).integers(0, 256, (300, 400, 3)).astype(np.uint8)
        os.mkdir(self.folder / "in")
        for name in ("a.png", "b.png"):  # two, so that the second meets what is kept of the first
            PIL.Image.fromarray(noise).save(self.folder / "in" / name)
        made = []
        for device in (["--device", "cpu"], ["--device", "simt", "--gpu-jpeg", "1"]):
            to = self.folder / device[1]
            self.smp("batch", "-e", "invert", "in", "-o", to, "--to", "jpg", "--quality", "100", *device)
            made.append([(to / name).read_bytes() for name in ("a.jpg", "b.jpg")])
        self.assertEqual(made[0], made[1])

    def test_two_outputs_that_are_coded_alike_are_coded_once(self):
        self.write("in.jpg", jpeg(np.random.default_rng(10), 7))
        self.write("p.pipe", "invert\nsave \"copy.jpg\"\n")
        made = []
        for device in (["cpu"], ["simt", "--gpu-jpeg", "1"]):
            self.smp("run", "p.pipe", "in.jpg", "out.jpg", "--device", *device, "--force", "--report=run.json")
            made.append([(self.folder / name).read_bytes() for name in ("out.jpg", "copy.jpg")])
            steps = [step["step"] for step in json.loads((self.folder / "run.json").read_text())["steps"]]
        self.assertEqual(made[0], made[1])
        self.assertEqual(sum("jpeg_encode" in step for step in steps), 1, steps)

    def test_progressive_files_stay_progressive_and_are_coded_by_the_cpu(self):
        file = io.BytesIO()
        PIL.Image.fromarray(picture(np.random.default_rng(12), 9)).save(file, "JPEG", progressive=True)
        self.write("in.jpg", file.getvalue())
        for options, progressive in ([], True), (["--jpeg-progressive", "off"], False), \
                (["--jpeg-progressive=auto", "--quality", "50"], True):
            made = []
            for device in (["cpu"], ["simt", "--gpu-jpeg", "1"]):
                told = self.smp("run", "-v", "-e", "invert", *options, "in.jpg", "out.jpg", "-f", "--device",
                                *device).stderr
                made.append((self.folder / "out.jpg").read_bytes())
            self.assertEqual(made[0], made[1])
            self.assertEqual("the CPU codes the JPEG, since it is progressive" in told, progressive, told)
            with PIL.Image.open(self.folder / "out.jpg") as image:
                self.assertEqual("progressive" in image.info, progressive, options)

    def test_a_doubt_leaves_one_picture_on_standard_output(self):
        data = bytearray(jpeg(np.random.default_rng(9), 2))
        data[-20] ^= 0x55
        self.write("in.jpg", bytes(data))
        out = [self.smp("run", "-e", "invert", "in.jpg", "-", "--format", "jpg", "--device", *device, text=False,
                        status=(0, 3)).stdout for device in (["cpu"], ["simt", "--gpu-jpeg", "1"])]
        self.assertEqual(out[0], out[1])


if __name__ == "__main__":
    unittest.main()
