"""Files that are small and would cost much, and folders of damaged ones: refused from what they say, or read at the
cost of an ordinary file."""
import random
import struct
import subprocess
import time
import unittest
import zlib

import numpy as np

from harness import ROOT, SAMPLES, SANITIZED, CliCase, chunk, png_bytes, png_header

RUN = ("--device", "cpu", "--threads", "1")
PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))  # Adam7
PALETTE = chunk(b"PLTE", bytes(i * 7 & 255 for i in range(15)))  # 5 colours; indices beyond are black


def packed(values, depth):
    bits = "".join(format(int(v), f"0{depth}b") for v in values)
    return int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")


def interlaced(samples, depth, color, extra):
    data = b""
    for x, y, dx, dy in PASSES:
        for row in samples[y::dy, x::dx] if samples[y::dy, x::dx].size else ():
            data += b"\0" + packed(row.ravel(), depth)
    height, width = samples.shape[:2]
    return (png_header(width, height, depth, color, 1) + extra + chunk(b"IDAT", zlib.compress(data)) +
            chunk(b"IEND", b""))


def marker(kind, data):
    return b"\xff" + bytes([kind]) + struct.pack(">H", len(data) + 2) + data


def jpeg_of_scans(side, scans):
    """A gray progressive JPEG of zeros."""
    blocks = (side // 8) ** 2
    file = b"\xff\xd8" + marker(0xDB, b"\0" + b"\1" * 64)
    file += marker(0xC2, struct.pack(">BHHB", 8, side, side, 1) + b"\1\x11\0")
    file += marker(0xC4, b"\x00\1" + bytes(15) + b"\0") + marker(0xC4, b"\x10\1" + bytes(15) + b"\xe0")
    file += marker(0xDA, b"\1\1\0\0\0\0") + bytes(blocks // 8)
    empty = bytes(-(-(-(-blocks // 16384) * 15) // 8))
    for k in range(scans - 1):
        bit = 13 - k // 63
        file += marker(0xDA, bytes([1, 1, 0, 1 + k % 63, 1 + k % 63, bit | (bit + 1 << 4 if k > 62 else 0)])) + empty
    return file + b"\xff\xd9"


def webp_of_nothing(side):
    """A lossless WebP whose pixels take no bits."""
    bits = "".join(format(value, f"0{count}b")[::-1] for value, count in
                   ((0x2F, 8), (side - 1, 14), (side - 1, 14), (0, 1), (0, 3), (0, 3), *[(1, 4)] * 5))
    data = int(bits[::-1], 2).to_bytes(8, "little")
    return b"RIFF" + struct.pack("<I", 20) + b"WEBPVP8L" + struct.pack("<I", 8) + data


class HostileFiles(CliCase):
    def test_memory_is_in_proportion_to_the_file(self):
        self.write("few.webp", webp_of_nothing(16383))
        self.write("scans.jpg", jpeg_of_scans(16000, 2))
        self.small_png("in.png", 64, 64)
        self.smp("convert", "in.png", "in.avif", status=(0, 3, 4))
        names = ["few.webp", "scans.jpg"]
        if (self.folder / "in.avif").exists():  # else this build has no encoder
            file = (self.folder / "in.avif").read_bytes()
            at = file.index(b"ispe") + 8
            self.write("wide.avif", file[:at] + struct.pack(">II", 17000, 17000) + file[at + 8:])
            names.append("wide.avif")
        self.write("flat.jxl", (ROOT / "tests" / "data" / "formats" / "flat.jxl").read_bytes())  # 8192 x 8192
        names.append("flat.jxl")
        for name in names:
            for how in ((), ("--no-sandbox",)):
                begun = time.monotonic()
                told = self.smp("run", *how, "-e", "invert", name, "o.npy", *RUN, status=(3, 6)).stderr
                if "cannot be opened" in told or "no known format" in told:
                    continue
                self.assertIn("out of proportion for a file of", told)
                self.assertRegex(told, "allow it: --max-memory [0-9]+G")
                self.assertLess(time.monotonic() - begun, 20 if SANITIZED else 2)
        self.assertIn("16000 x 16000", self.smp("info", "scans.jpg", "--max-memory", "1G").stdout)

    def test_a_chain_of_many_streams_is_counted_before_it_costs(self):
        self.write("one.wav", struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + 800, b"WAVE", b"fmt ", 16, 1, 1, 8000,
                                          16000, 2, 16, b"data", 800) + bytes(800))
        self.smp("convert", "one.wav", "one.ogg")
        one = (self.folder / "one.ogg").read_bytes()
        self.write("some.ogg", one * 200)
        self.write("many.ogg", one * 2000)
        self.smp("info", "some.ogg")
        begun = time.monotonic()
        told = self.smp("info", "many.ogg", status=6).stderr
        self.assertIn("is a chain of more than", told)
        self.assertIn("ffmpeg", told)
        self.assertLess(time.monotonic() - begun, 20 if SANITIZED else 2)

    def test_interlaced_pictures_of_few_bits_are_the_same_as_plain_ones(self):
        rng = np.random.default_rng(3)
        cases = [(depth, color, extra) for depth in (1, 2, 4, 8) for color, extra in
                 ((0, b""), (0, chunk(b"tRNS", struct.pack(">H", 1))), (3, PALETTE),
                  (3, PALETTE + chunk(b"tRNS", b"\0\x80")))]
        cases += [(8, 2, b""), (8, 6, b""), (16, 0, b""), (16, 2, b""), (16, 4, b""), (16, 6, b""),
                  (8, 2, chunk(b"tRNS", bytes(6)))]
        sizes = ((11, 19), (1, 1), (1, 5), (2, 3), (5, 1), (9, 2))
        for number, (depth, color, extra) in enumerate(cases):
            channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
            most = 5 if color == 3 and depth > 2 else 2 ** depth
            height, width = sizes[0 if number % 2 else number // 2 % len(sizes)]
            samples = rng.integers(0, most, (height, width, channels))
            rows = [packed(row.ravel(), depth) for row in samples]
            self.write(f"{number}.png", png_bytes(rows, width, depth, color, extra))
            self.write(f"{number}i.png", interlaced(samples, depth, color, extra))
            for name in (f"{number}", f"{number}i"):
                self.smp("convert", f"{name}.png", f"{name}.npy")
            self.assertEqual((self.folder / f"{number}.npy").read_bytes(),
                             (self.folder / f"{number}i.npy").read_bytes(), (depth, color, extra))

    def test_a_large_interlaced_picture_is_kept_as_it_is_stored(self):
        side = 12000
        data = zlib.compressobj(9)
        body = b"".join(data.compress(bytes(1 << 20)) for _ in range(18))
        self.write("i.png", png_header(side, side, 1, 0, 1) + chunk(b"IDAT", body + data.flush()))
        told = self.smp("info", "i.png", "--max-memory", "64M").stdout  # 18 MB, and not 144
        self.assertIn("interlaced", told)

    def test_rows_without_a_byte_of_file_each_are_limited(self):
        self.write("tall.png", png_header(1, 5000000, 1, 0) + chunk(b"IDAT", zlib.compress(bytes(10000000), 9)) +
                   chunk(b"IEND", b""))
        for arguments in (("info", "tall.png"), ("run", "-e", "invert", "tall.png", "o.png", *RUN)):
            told = self.smp(*arguments, status=6).stderr
            self.assertIn("5000000 rows", told)
            self.assertIn("--max-pixels 2560000000", told)
        self.smp("info", "tall.png", "--max-pixels", "2560000000")
        np.save(self.folder / "table.npy", np.zeros((4000000, 1), np.float32))  # a table of numbers is what it says
        self.smp("info", "table.npy")

    def test_chunks_and_scans_are_counted_before_they_cost(self):
        rows = [bytes(33 * 3)] * 21
        plain = png_bytes(rows, 33)
        text, frame = chunk(b"tEXt", b"k\0v"), chunk(b"fcTL", bytes(26))
        self.write("front.png", png_bytes(rows, 33, extra=text * 10001))
        self.write("behind.png", plain[:-12] + chunk(b"abCd", b"v") * 10001 + plain[-12:])
        self.write("frames.png", plain[:-12] + frame * 10001 + plain[-12:])  # an animation has as many as it has
        for name in ("front.png", "behind.png"):
            for piped in (False, True):
                with open(self.folder / name, "rb") as file:
                    source = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
                    told = self.smp("convert", "-" if piped else name, "o.png", status=6, stdin=source.stdout)
                    source.stdout.close()
                    source.wait()
                self.assertIn("more than 10000 chunks", told.stderr)
        self.smp("convert", "frames.png", "o.png")
        self.write("many.jpg", jpeg_of_scans(4096, 257))
        self.write("few.jpg", jpeg_of_scans(512, 200))
        self.assertIn("more than 256 scans", self.smp("info", "many.jpg", status=6).stderr)
        self.smp("convert", "few.jpg", "few.png")
        self.assertIn("more than 256 scans", self.smp("convert", "-", "p.png", status=6, text=False,
                                                      input=(self.folder / "many.jpg").read_bytes()).stderr.decode())
        self.assertFalse((self.folder / "p.png").exists())

    def test_a_folder_of_500_damaged_files_names_500_and_leaves_nothing(self):
        rng = random.Random(5)
        self.small_png("whole.png", 60, 40)
        sources = {"png": (self.folder / "whole.png").read_bytes(),
                   "jpg": (SAMPLES / "rocket.jpg").read_bytes()[:30000]}
        (self.folder / "whole.png").unlink()
        (self.folder / "in").mkdir()
        for i in range(500):
            kind = ("png", "jpg")[i % 5 == 0]
            data = sources[kind]
            self.write(f"in/{i:03}.{kind}", data[:rng.randrange(4, len(data) - 20)])
        done = self.smp("batch", "-e", "invert", "in", "-o", "out", *RUN, "--jobs", "2", status=1)
        self.assertIn("500 of 500 files failed", done.stderr)
        for i in range(500):
            self.assertIn(f"in/{i:03}.", done.stderr)
        left = [p.name for p in (self.folder / "out").rglob("*") if not p.name.startswith(".smempipe")]
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main()
