"""Written examples of stages that make pictures for people: each on the CPU and on the emulator of a GPU, in the first
and in the last variant.

U, V and S are what formulas make of width, height and channels. Values are a row after the other; an 8-bit result is
the nearest whole number, and clamped. A word in place of values is how the SHA-1 of the result's bytes begins."""
import hashlib
import pathlib
import struct
import tempfile
import unittest

import numpy as np
from PIL import Image

from harness import SCRATCH, OracleCase, command, white


def U(width, height, channels=1):
    y, x, k = np.mgrid[0:height, 0:width, 0:channels]
    array = ((7 * x * x + 13 * y * y + 5 * x * y + 71 * k + 11 * x + 3) % 256).astype(np.uint8)
    return array[..., 0] if channels == 1 else array


def V(width, height):
    y, x = np.mgrid[0:height, 0:width]
    return ((257 * U(width, height).astype(int) + 37 * x + 101 * y) % 65536).astype(np.uint16)


def S(frames, channels):
    i, k = np.mgrid[0:frames, 0:channels]
    return (((31 * i * i + 7 * i + 97 * k) % 2001 - 1000) / 1024).astype("<f4")


def display_p3():
    """An ICC profile: the colorants, and the curve of sRGB."""
    def fixed(*values):
        return struct.pack(f">{len(values)}i", *(round(v * 65536) for v in values))

    curve = b"para" + struct.pack(">IHH", 0, 3, 0) + fixed(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
    tags = {b"cprt": b"text\0\0\0\0none".ljust(120, b"\0"), b"rTRC": curve, b"gTRC": curve, b"bTRC": curve,
            b"rXYZ": b"XYZ \0\0\0\0" + fixed(0.51512, 0.24120, -0.00105),
            b"gXYZ": b"XYZ \0\0\0\0" + fixed(0.29198, 0.69225, 0.04189),
            b"bXYZ": b"XYZ \0\0\0\0" + fixed(0.15710, 0.06657, 0.78407)}
    table, data = struct.pack(">I", len(tags)), b""
    for name, body in tags.items():
        table += name + struct.pack(">II", 132 + 12 * len(tags) + len(data), len(body))
        data += body
    head = struct.pack(">I4sI", 128 + len(table + data), b"none", 4 << 24) + b"mntrRGB XYZ " + bytes(12)
    return (head + b"acsp" + bytes(28) + fixed(0.9642, 1, 0.8249)).ljust(128, b"\0") + table + data


COLOURS = np.array([[(200, 64, 32), (16, 200, 90), (128, 128, 128), (30, 60, 240)]], np.uint8)
OF_P3 = np.array([[(200, 64, 32), (16, 200, 90), (90, 180, 60), (255, 0, 0), (128, 128, 128)]], np.uint8)
CLEAR = np.array([[(200, 10, 30, 128), (0, 255, 0, 0), (9, 8, 7, 255)]], np.uint8)
LAID_ON = np.array([[(255, 0, 0, 255), (0, 0, 255, 128)], [(0, 255, 0, 64), (10, 20, 30, 0)]], np.uint8)

PICTURES = {
    "U(6,5)": (U(6, 5), {
        "resize width=4 height=3 fit=stretch arithmetic=fixed": "9 42 142 154 61 117 164 124 202 143 83 120",
        "resize width=4 height=3 fit=stretch":
            "8.67673 41.9742 142.089 154.374 60.7132 117.131 163.973 123.995 201.811 142.523 83.3589 119.953"}),
    "U(5,3)": (U(5, 3), {
        "resize 200% filter=bicubic":
            "0.303633 4.4942 13.3565 25.989 41.7684 61.0478 83.8272 112.844 145.783 161.343 2.95084 7.46939 17.0259 "
            "30.3499 46.7696 66.6893 90.109 119.818 153.45 169.339 8.54131 13.754 24.7795 39.5673 57.3421 78.6169 "
            "103.392 134.564 169.666 186.249 23.3693 29.325 41.9228 58.2772 77.5024 100.228 126.453 159.192 195.866 "
            "213.192 45.4867 52.1364 66.2033 84.0214 104.602 128.682 156.262 190.465 228.608 246.628 55.9317 62.9094 "
            "77.6704 96.1801 117.401 142.121 170.342 205.236 244.073 262.421"}),
    "U(7,4)": (U(7, 4), {
        "resize width=3 height=2 fit=stretch filter=area": "26.1429 117 115.286 111.286 133.571 118.143",
        "resize width=3 height=3 fit=stretch filter=nearest": "21 99 233 83 181 79 153 5 169"}),
    "U(64,48,3)": (U(64, 48, 3), {"resize width=20 arithmetic=fixed": "f10ba6aa0e4b"}),
    "U(8,6)": (U(8, 6), {
        "crop width=3 height=2": "125 181 251 200 5 80",
        "crop x=5 y=1 width=3 height=2": "15 108 215 79 177 33",
        "crop x=6 width=3 height=1 clip=yes": "65 167",
        "crop aspect=1 anchor=right": "c56c17be0cc7"}),
    "U(3,2)": (U(3, 2), {
        "pad 2 edge=mirror":
            "53 21 3 21 53 21 3 76 39 16 39 76 39 16 53 21 3 21 53 21 3 76 39 16 39 76 39 16 53 21 3 21 53 21 3 76 39 "
            "16 39 76 39 16",
        "pad width=6 height=3 anchor=centre fill=[0.2]": "51 3 21 53 51 51 51 16 39 76 51 51 51 51 51 51 51 51"}),
    "S(3,2)": (S(3, 2), {
        "pad start=0.25ms end=0.125ms":
            "0 0 0 0 -0.9765625 -0.8818359375 -0.939453125 -0.8447265625 -0.841796875 -0.7470703125 0 0"}),
    "U(5,4)": (U(5, 4), {
        "warp 30 edge=clamp":
            "23.8375 20.3698 32.8685 58.3372 98.1743 59.8628 60.9499 69.9486 96.1243 129.96 132.565 130.269 135.634 "
            "158.176 188.629 153.844 194.547 76.5089 172.412 239.143",
        "warp matrix=[1 0 0.5; 0 1 0.25] filter=bicubic edge=mirror":
            "9.89258 9.89258 36.8828 76.4297 138.42 17.5059 17.5059 47.8359 90.3516 155.682 51.9688 51.9688 87.0625 "
            "144.938 226.281 123.576 123.576 180.086 108.664 61.4238",
        "warp matrix=[1.1 0.1 -0.5; 0.05 0.9 0.3; 0.02 -0.01 1] fill=[0.5]":
            "53.4808 73.0634 97.8947 126.24 134.178 21.2378 45.2876 82.8112 135.408 162.681 56.7525 84.0472 124.773 "
            "180.518 220.968 120.037 151.332 189.557 16.6347 89.4624"}),
    "COLOURS": (COLOURS, {
        "color lab": "119.966 180.478 175.627 180.992 63.368 171.097 136.642 127.999 128.003 95.5592 183.961 37.2317",
        "color hsv": "8.09524 214.2 200 102.092 234.6 200 0 0 128 163.929 223.125 240",
        "color ycbcr": "101.016 89.0519 198.602 132.444 104.047 44.9444 128 128 128 71.55 223.062 98.3638",
        "saturate 1.5": "254.668 50.668 2.668 -52.444 223.556 58.556 128 128 128 11.715 56.715 326.715",
        "saturate hue=90deg": "32 119.168 -18.672 90 157.706 289.776 128 128 128 240 11.34 103.14",
        "saturate 0.5 hue=-30deg":
            "152.674 71.9921 92.5957 109.336 172.084 91.4347 128 128 128 7.37723 77.5326 132.525",
        "key [0.8 0.2 0.2] tolerance=10% soft=50%":
            "200 64 32 0 16 200 90 229.633 128 128 128 102.336 30 60 240 245.823",
        "replace [0.8 0.2 0.2] to=[0 1 0.4] tolerance=10% soft=50%":
            "0 255 102 14.4083 205.471 91.1938 51.3688 204.033 112.434 28.9204 67.0176 235.034",
        "modulate 80% saturation=150% hue=30deg":
            "193.6 131.2 -8 -24 196.8 175.2 102.4 102.4 102.4 67.5 -33.75 249.75",
        "tint orange amount=50%":
            "228.007 61.2851 -5.79989 25.7362 197.557 11.3385 169.389 124.39 41.8908 47.186 57.4014 220.931"}),
    "CLEAR": (CLEAR, {
        "alpha flatten fill=[1 0.5 0]": "227.392 68.5196 15.0588 255 127.5 0 9 8 7",
        "alpha drop": "200 10 30 0 255 0 9 8 7",
        "alpha extract": "128 0 255"}),
    "U(4,3,4)": (U(4, 3, 4), {
        'overlay by="LAID_ON.png" x=1 y=1':
            "3 74 145 216 21 92 163 234 53 124 195 10 99 170 241 56 16 87 158 229 255 0 0 255 8.64804 16.7271 250.79 "
            "144.435 127 198 13 84 55 126 197 12 26.4658 222.795 71.7446 93.9608 125 196 11 82 181 252 67 138"}),
    "U(4,3,3)": (U(4, 3, 3), {
        'overlay by="LAID_ON.png" anchor=bottom-right opacity=50%':
            "3 74 145 21 92 163 53 124 195 99 170 241 16 87 158 39 110 181 165.5 73.5 109 95.1255 148.306 73.7373 55 "
            "126 197 83 154 225 109.314 203.404 9.61961 181 252 67",
        'overlay by="LAID_ON.png" x=-1 y=2':
            "3 74 145 21 92 163 53 124 195 99 170 241 16 87 158 39 110 181 76 147 218 127 198 13 27.3922 62.7529 "
            "226.114 83 154 225 125 196 11 181 252 67"}),
    "U(2,2,3)": (U(2, 2, 3), {
        "standardize imagenet":
            "-2.06653 -0.740196 0.722789 -1.75828 -0.42507 1.03651 -1.84391 -0.512605 0.949368 -1.45004 -0.109944 "
            "1.35024"}),
    "U(4,3)": (U(4, 3), {
        "standardize auto":
            "-0.953194 -0.708669 -0.273958 0.350938 -0.776593 -0.464144 0.03849 0.73131 -0.246789 0.133583 0.704141 "
            "1.46488"}),
    "V(2,2)": (V(2, 2), {"standardize mean=[0.5] std=[0.25]": "-1.95294 -1.66833 -1.74285 -1.37981"}),
    "OF_P3": (OF_P3, {
        "profile srgb": "217.291 47.633 1.616 0 203.675 73.084 41.390 182.616 28.189 255 0 0 128 128 128"}),
}  # fmt: skip


class Vectors(OracleCase):
    def write(self, folder, name, array):
        """The file that holds it: four channels have alpha, and floats are a sound."""
        if array.dtype == np.float32:
            (folder / "in.f32").write_bytes(array.tobytes())
            return "in.f32", ("--raw", f"f32lex{array.shape[1]}:8000")
        if array.ndim == 2:
            np.save(folder / "in.npy", array)
            return "in.npy", ()
        Image.fromarray(array).save(folder / "in.png", icc_profile=display_p3() if name == "OF_P3" else None)
        return "in.png", ()

    def check(self, got, text, what):
        if len(text) == 12 and " " not in text:
            self.assertEqual(hashlib.sha1(got.tobytes()).hexdigest()[:12], text, what)
            return
        want, printed = np.array(text.split(), float), 6e-6 if got.dtype == np.float32 else 5.1e-4
        self.assertEqual(got.size, want.size, what)
        if white(got) > 1:
            want, printed = np.clip(want, 0, white(got)), printed + 0.5
        self.assertLessEqual(abs(got.reshape(-1) - want).max(), printed, what)

    def test_cpu_and_emulator(self):
        for name, (array, examples) in PICTURES.items():
            with tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH) as scratch:
                folder, lines = pathlib.Path(scratch), []
                file, options = self.write(folder, name, array)
                Image.fromarray(LAID_ON).save(folder / "LAID_ON.png")
                for i, stage in enumerate(examples):
                    lines += ["from @input", stage, f'save "{i}.npy"']
                (folder / "p.pipe").write_text("\n".join(lines) + "\n")
                for device in (("cpu",), ("simt",), ("cpu", "--variant", "naive"), ("simt", "--variant", "naive")):
                    command("run", "-qf", "p.pipe", file, "out.npy", "--device", *device, *options, folder=folder)
                    for i, (stage, values) in enumerate(examples.items()):
                        self.check(np.load(folder / f"{i}.npy"), values, f"{stage} of {name}, {device}")


if __name__ == "__main__":
    unittest.main()
