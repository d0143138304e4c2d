"""JPEG XL, JPEG 2000, OpenEXR, DDS and PCX through FFmpeg's decoders, against what djxl, opj_decompress, Pillow and
known bytes say."""
import os
import shutil
import struct
import subprocess
import unittest

import numpy as np
from PIL import Image

from harness import SAMPLES, CliCase, png_bytes


def exr(channels, half=True, compression=0, flags=0):
    """channels: name to array; one scan line a chunk, not packed."""
    height, width = next(iter(channels.values())).shape

    def attribute(name, kind, value):
        return name + b"\0" + kind + b"\0" + struct.pack("<I", len(value)) + value

    box = struct.pack("<4i", 0, 0, width - 1, height - 1)
    names = sorted(channels)
    listed = b"".join(n.encode() + b"\0" + struct.pack("<IBxxxII", 1 if half else 2, 0, 1, 1) for n in names) + b"\0"
    head = (b"\x76\x2f\x31\x01" + struct.pack("<I", 2 | flags) + attribute(b"channels", b"chlist", listed) +
            attribute(b"compression", b"compression", bytes([compression])) + attribute(b"dataWindow", b"box2i", box) +
            attribute(b"displayWindow", b"box2i", box) + attribute(b"lineOrder", b"lineOrder", b"\0") +
            attribute(b"pixelAspectRatio", b"float", struct.pack("<f", 1)) +
            attribute(b"screenWindowCenter", b"v2f", bytes(8)) +
            attribute(b"screenWindowWidth", b"float", struct.pack("<f", 1)) + b"\0")
    places, body = b"", b""
    for y in range(height):
        row = b"".join(channels[n][y].astype("<f2" if half else "<f4").tobytes() for n in names)
        places += struct.pack("<Q", len(head) + 8 * height + len(body))
        body += struct.pack("<iI", y, len(row)) + row
    return head + places + body


class Pictures(CliCase):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(5)
        self.light = {name: rng.random((20, 30)).astype("f2").astype("f4") * 4 for name in "RGB"}
        self.write("a.exr", exr(self.light))
        if self.smp("info", "a.exr", status=(0, 3, 4)).returncode:
            self.skipTest("this build, or machine, has no FFmpeg's libraries")
        for name, kind, depth, channels in (("rgb8", 2, 8, 3), ("gray8", 0, 8, 1), ("rgb16", 2, 16, 3),
                                            ("gray16", 0, 16, 1), ("rgba8", 6, 8, 4), ("la8", 4, 8, 2),
                                            ("la16", 4, 16, 2)):
            rows = [rng.integers(0, 256, 37 * channels * depth // 8, dtype=np.uint8).tobytes() for _ in range(23)]
            self.write(f"{name}.png", png_bytes(rows, 37, depth, kind))

    def tool(self, *words):
        done = subprocess.run(words, cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_pcx_is_read_as_pillow_reads_it(self):
        rng = np.random.default_rng(7)
        rgb = rng.integers(0, 256, (21, 37, 3), dtype=np.uint8)
        for picture in (Image.fromarray(rgb), Image.fromarray(rgb[..., 0]), Image.fromarray(rgb).quantize(200),
                        Image.fromarray(rgb[..., 0]).convert("1")):
            picture.save(self.folder / "a.pcx")
            self.assertEqual(self.smp("convert", "-f", "a.pcx", "a.npy").stderr, "")
            with Image.open(self.folder / "a.pcx") as want:
                self.assertTrue(np.array_equal(np.load(self.folder / "a.npy"), np.array(want.convert("RGB"))))
        data = (self.folder / "a.pcx").read_bytes()
        for cut in (60, 200, len(data) - 3):
            self.write("b.pcx", data[:cut])
            self.smp("convert", "b.pcx", "x.png", status=3)

    def test_pcx_rows_are_not_taken_for_its_palette(self):
        head = (bytes([10, 5, 1, 8]) + struct.pack("<HHHH", 0, 0, 39, 29) + bytes(53) +
                struct.pack("<BHH", 1, 40, 1) + bytes(58))
        data = head + b"\x0C" * (30 * 40) + b"\x0C" + bytes(range(256)) * 3  # rows as the byte in front of a palette
        self.write("a.pcx", data)
        self.smp("convert", "a.pcx", "a.png")
        self.write("b.pcx", data[:-30])
        self.assertIn("the PCX is truncated", self.smp("convert", "b.pcx", "x.png", status=3).stderr)

    def test_dds_without_and_with_packing(self):
        rng = np.random.default_rng(8)
        height, width = 12, 20

        def dds(flags, code, bits, masks, body, sides=(height, width)):
            return (b"DDS " + struct.pack("<IIII", 124, 0x1007, *sides) + bytes(4) + bytes(4) + bytes(4) + bytes(44) +
                    struct.pack("<II4sIIIII", 32, flags, code, bits, *masks) + struct.pack("<I", 0x1000) + bytes(16) +
                    body)
        samples = rng.integers(0, 256, (height, width, 4), dtype=np.uint8)
        blue, red = (0xFF0000, 0xFF00, 0xFF), (0xFF, 0xFF00, 0xFF0000)
        for masks, order in ((blue, [2, 1, 0, 3]), (red, [0, 1, 2, 3])):
            for alpha in (True, False):
                self.write("a.dds", dds(0x41 if alpha else 0x40, b"", 32, (*masks, 0xFF000000 if alpha else 0),
                                        samples[..., order].tobytes()))
                self.smp("convert", "-f", "a.dds", "a.npy")
                self.assertTrue(np.array_equal(np.load(self.folder / "a.npy"), samples[..., :4 if alpha else 3]), order)
        for numbers, order in (((27, 28, 29, 30), [0, 1, 2, 3]), ((87, 90, 91), [2, 1, 0, 3]),
                               ((88, 92, 93), [2, 1, 0])):
            for number in numbers:  # of DXGI
                self.write("a.dds", dds(4, b"DX10", 0, (0, 0, 0, 0), struct.pack("<5I", number, 3, 0, 1, 0) +
                                        samples.tobytes()))
                self.smp("convert", "-f", "a.dds", "a.npy")
                self.assertTrue(np.array_equal(np.load(self.folder / "a.npy"), samples[..., order]), number)
        deep = rng.integers(0, 65536, (height, width, 4), dtype=np.uint16)
        for number, status in ((11, 0), (10, 3), (13, 3), (31, 3)):  # of these, floats and signed ones are others
            self.write("a.dds", dds(4, b"DX10", 0, (0, 0, 0, 0), struct.pack("<5I", number, 3, 0, 1, 0) +
                                    deep.tobytes()))
            self.smp("convert", "-f", "a.dds", "a.npy", status=status)
            self.assertTrue(status or np.array_equal(np.load(self.folder / "a.npy"), deep))
        number = struct.pack("<5I", 27, 3, 0, 1, 0)  # which FFmpeg looks at where the flags say so alone
        light = dds(0x20000, b"DX10", 8, (0xFF, 0, 0, 0), number + bytes(64 * 64), (64, 64))
        self.write("a.dds", light)
        self.smp("convert", "-f", "a.dds", "a.npy")
        self.assertEqual(np.load(self.folder / "a.npy").squeeze().shape, (64, 64))
        self.write("a.dds", dds(0x41, b"", 16, (0x7C00, 0x3E0, 0x1F, 0x8000), deep[..., 0].tobytes()))
        self.assertIn("alpha, of one bit", self.smp("convert", "-f", "a.dds", "a.npy").stderr)
        blocks = rng.integers(0, 256, (height // 4 * (width // 4), 16), dtype=np.uint8)
        for code, size in ((b"DXT1", 8), (b"DXT3", 16), (b"DXT5", 16)):
            whole = dds(4, code, 0, (0, 0, 0, 0), blocks[:, :size].tobytes())
            self.write("a.dds", whole)
            self.smp("convert", "-f", "a.dds", "a.npy")
            with Image.open(self.folder / "a.dds") as want:
                seen = np.array(want.convert("RGBA")).astype(int)
            got = np.load(self.folder / "a.npy").astype(int)
            self.assertLessEqual(np.abs(got - seen)[seen[..., 3] > 0].max(), 8, code)  # programs round otherwise
            for cut in (100, len(whole) - 20):
                self.write("b.dds", whole[:cut])
                self.smp("convert", "b.dds", "x.png", status=3)
            self.write("b.dds", dds(4, code, 0, (0, 0, 0, 0), b"", (60000, 60000)))
            self.smp("convert", "b.dds", "x.png", status=(3, 6))

    @unittest.skipUnless(shutil.which("cjxl"), "needs libjxl-tools")
    def test_jpeg_xl(self):
        for name in ("rgb8", "gray8", "rgb16", "gray16", "rgba8", "la8"):
            self.tool("cjxl", "-d", "0", f"{name}.png", "a.jxl")
            self.smp("convert", "-f", "a.jxl", "out.png")
            self.smp("diff", f"{name}.png", "out.png")
        shutil.copy(SAMPLES / "chelsea.png", self.folder)
        self.tool("cjxl", "-q", "80", "--container=1", "chelsea.png", "a.jxl")
        self.tool("djxl", "a.jxl", "peer.png")
        self.smp("convert", "-f", "a.jxl", "out.png")
        self.smp("diff", "peer.png", "out.png")
        data = (self.folder / "a.jxl").read_bytes()
        tiff = b"II*\0\x08\0\0\0\1\0\x0f\1\2\0\4\0\0\0Cam\0\0\0\0\0"
        boxes = b"".join(struct.pack(">I", 8 + len(body)) + name + body
                         for name, body in ((b"Exif", bytes(4) + tiff), (b"xml ", b"<x:xmpmeta/>"),
                                            (b"brob", b"jumbx")))
        self.write("b.jxl", data[:32] + boxes + data[32:])  # behind JXL and ftyp
        info = self.smp("info", "-v", "b.jxl")
        self.assertIn("x:xmpmeta", info.stdout + self.smp("info", "--json", "b.jxl").stdout)
        self.assertIn("EXIF         26 bytes", info.stdout)
        self.assertIn("a box 'jumb'", info.stderr)
        for part in (data[:-30], data[:len(data) // 2], data[:60], data + b"head"):
            self.write("b.jxl", part)
            self.smp("convert", "b.jxl", "x.png", status=3, timeout=20)

    @unittest.skipUnless(shutil.which("cjxl"), "needs libjxl-tools")
    def test_a_jpeg_xl_that_moves_is_told(self):
        frames = [Image.new("RGB", (37, 23), colour) for colour in ("red", "blue")]
        frames[0].save(self.folder / "moves.gif", save_all=True, append_images=frames[1:], duration=100)
        for container in "01":
            self.tool("cjxl", f"--container={container}", "moves.gif", "a.jxl")
            self.assertIn("an animation; only the first", self.smp("convert", "-f", "a.jxl", "out.png").stderr)
            for name in ("rgb8", "rgba8", "rgb16"):
                self.tool("cjxl", f"--container={container}", f"{name}.png", "a.jxl")
                self.assertNotIn("animation", self.smp("convert", "-f", "a.jxl", "out.png").stderr)

    def test_jpeg_2000_of_odd_depths_reaches_full_scale(self):
        """By opj_compress -F 6,2,1,12,u and -F 6,2,3,5,u: ramps over all codes."""
        for channels, bits, code in (
            (1, 12, "ff4fff51002900000000000600000002000000000000000000000006000000020000000000000000"
             "00010b0101ff52000c00000001000004040001ff5c00044060ff640005000178ff90000a00000000002500"
             "01ff93dfe05007dc7821eb007f86c0d7c82636c2ff5acda18c7fffd9"),
            (3, 5, "ff4fff51002f00000000000600000002000000000000000000000006000000020000000000000000"
             "0003040101040101040101ff52000c00000001000004040001ff5c00044028ff640005000178ff90000a00"
             "00000000300001ff93df389006521f54d3991c25bfc7c240068730da2c34ff7fcf90400b3cad3686e2b839ffd9")):
            self.write("a.j2k", bytes.fromhex(code))
            self.smp("convert", "-f", "a.j2k", "a.npy")
            most, full = (1 << bits) - 1, 65535 if bits > 8 else 255
            codes = np.arange(12 * channels) * most // (12 * channels - 1)
            found = np.moveaxis(np.load(self.folder / "a.npy").reshape(2, 6, channels), 2, 0)
            np.testing.assert_array_equal(found.reshape(-1), (codes * full + most // 2) // most)

    @unittest.skipUnless(shutil.which("opj_compress"), "needs libopenjp2-tools")
    def test_boxes_of_jpeg_2000_are_kept_or_told(self):
        self.tool("opj_compress", "-n", "3", "-i", "rgb8.png", "-o", "a.jp2")
        data = (self.folder / "a.jp2").read_bytes()
        at = data.index(b"jp2h") - 4
        end = at + struct.unpack(">I", data[at:at + 4])[0]
        lines = struct.pack(">HHHHBB", 11811, 100, 59055, 10, 2, 1)  # a metre, downwards and across, tens behind
        lines = struct.pack(">I4sI4s", 8 + 18, b"res ", 18, b"resc") + lines
        tiff = b"II*\0\x08\0\0\0\1\0\x0f\1\2\0\4\0\0\0Cam\0\0\0\0\0"
        kept = struct.pack(">I4s", 24 + len(tiff), b"uuid") + b"JpgTiffExif->JP2" + tiff
        other = struct.pack(">I4s", 26, b"uuid") + b"somebody's 16 b" + bytes(3)
        head = struct.pack(">I", end - at + len(lines)) + data[at + 4:end] + lines
        self.write("b.jp2", data[:at] + head + kept + other + data[end:])
        info = self.smp("info", "b.jp2")
        self.assertIn("1500.0 x 300.0 dpi", info.stdout)
        self.assertIn("EXIF         26 bytes", info.stdout)
        self.assertIn("a box 'uuid' of 18 bytes", info.stderr)
        for bad in (bytes(10), struct.pack(">HHHHBB", 1, 1, 1, 1, 127, 128)):  # no numbers, or none of pictures
            self.write("b.jp2", data[:at] + head[:-10] + bad + data[end:])
            self.assertNotIn("dpi", self.smp("info", "b.jp2").stdout)
        srgb = bytes([1, 0, 0, 0, 0, 0, 16])
        self.assertIn(srgb, data)
        self.write("b.jp2", data.replace(srgb, srgb[:-1] + bytes([18])))
        self.assertIn("luma and chroma", self.smp("info", "b.jp2", status=3).stderr)

    @unittest.skipUnless(shutil.which("opj_compress"), "needs libopenjp2-tools")
    def test_a_palette_of_jpeg_2000_is_applied(self):
        self.tool("opj_compress", "-n", "3", "-i", "gray8.png", "-o", "a.jp2")
        data = (self.folder / "a.jp2").read_bytes()
        at = data.index(b"jp2h") - 4
        end = at + struct.unpack(">I", data[at:at + 4])[0]
        colours = np.random.default_rng(4).integers(0, 256, (256, 3), dtype=np.uint8)
        body = struct.pack(">HB", 256, 3) + b"\7\7\7" + colours.tobytes()
        boxes = (struct.pack(">I4s", 8 + len(body), b"pclr") + body +
                 struct.pack(">I4s", 20, b"cmap") + b"".join(struct.pack(">HBB", 0, 1, c) for c in range(3)))
        head = data[at + 8:end].replace(b"\0\0\0\x11", b"\0\0\0\x10")  # gray by number becomes sRGB
        with Image.open(self.folder / "gray8.png") as numbers:
            want = colours[np.array(numbers)]
        for order in ((1, 2, 3), (3, 2, 1)):
            names = struct.pack(">I4sH", 28, b"cdef", 3) + b"".join(struct.pack(">HHH", c, 0, n)
                                                                   for c, n in enumerate(order))
            for more in (b"", names) if order[0] == 1 else (names,):
                inside = head + boxes + more
                self.write("b.jp2", data[:at] + struct.pack(">I4s", 8 + len(inside), b"jp2h") + inside + data[end:])
                done = self.smp("convert", "-f", "b.jp2", "b.npy", status=0 if order[0] == 1 else 3)
                if done.returncode:
                    self.assertIn("in another order", done.stderr)
                else:
                    np.testing.assert_array_equal(np.load(self.folder / "b.npy"), want)

    @unittest.skipUnless(shutil.which("opj_compress"), "needs libopenjp2-tools")
    def test_tiles_that_a_jpeg_2000_cannot_hold_are_refused(self):
        for ending in ("jp2", "j2k"):
            self.tool("opj_compress", "-n", "3", "-i", "rgb8.png", "-o", f"a.{ending}")
            data = bytearray((self.folder / f"a.{ending}").read_bytes())
            at = data.index(b"\xFF\x4F\xFF\x51") + 8
            for sizes, told in (((40000, 40000, 0, 0, 200, 133), "takes at least 842800"),
                                ((2**32 - 1, 2**32 - 1, 0, 0, 1, 1), "damaged")):
                data[at:at + 24] = struct.pack(">6I", *sizes)
                self.write(f"b.{ending}", bytes(data))
                self.assertIn(told, self.smp("info", f"b.{ending}", status=3).stderr)
                if ending == "jp2":  # what is decoded is the first
                    self.write("b.jp2", bytes(data) + struct.pack(">I", 108) + b"jp2c" + bytes(100))
                    self.assertIn(told, self.smp("info", "b.jp2", status=3).stderr)

    @unittest.skipUnless(shutil.which("opj_compress"), "needs libopenjp2-tools")
    def test_jpeg_2000(self):
        for name in ("rgb8", "gray8", "rgb16", "gray16", "rgba8", "la8", "la16"):
            for ending, words in (("jp2", ()), ("j2k", ()), ("jp2", ("-r", "5", "-I"))):
                self.tool("opj_compress", "-n", "3", "-i", f"{name}.png", "-o", f"a.{ending}", *words)
                self.tool("opj_decompress", "-i", f"a.{ending}", "-o", "peer.png")
                self.smp("convert", "-f", f"a.{ending}", "out.png")
                if words:  # its wavelets of floats may round otherwise
                    self.smp("diff", "peer.png", "out.png", "--max-abs", "2" if "8" in name else "512", status=(0, 7))
                else:
                    self.smp("diff", "peer.png", "out.png")
        data = (self.folder / "a.jp2").read_bytes()
        for part in (data[:-1], data[:len(data) // 2], data[:90]):
            self.write("b.jp2", part)
            self.assertIn("truncated", self.smp("convert", "b.jp2", "x.png", status=3).stderr)

    def test_openexr_is_light_to_the_bit(self):
        wanted = np.stack([self.light[name] for name in "RGB"], -1)
        for half in (True, False):
            self.write("b.exr", exr(self.light, half))
            self.smp("convert", "-f", "b.exr", "out.npy")
            self.assertTrue(np.array_equal(np.load(self.folder / "out.npy"), wanted))
        alpha = np.full((20, 30), .5, "f4")
        self.write("b.exr", exr({**self.light, "A": alpha, "Z": alpha, "diffuse.R": alpha}))
        said = self.smp("convert", "-f", "b.exr", "out.npy").stderr
        self.assertIn("channels of other layers are left out: Z, diffuse.R", said)
        got = np.load(self.folder / "out.npy")
        self.assertTrue(np.array_equal(got[..., :3], wanted * 2))  # alpha was multiplied in
        self.write("b.exr", exr({"Y": np.full((4, 4), .2140411, "f4")}, False))
        self.smp("convert", "-f", "b.exr", "out.pgm")
        code = int.from_bytes((self.folder / "out.pgm").read_bytes()[-2:], "big")
        self.assertAlmostEqual(code / 65535, .5, places=4)  # as sRGB encodes it

    def test_what_openexr_does_not_show_is_told(self):
        data = exr(self.light)
        at = data.index(b"displayWindow") + 24
        self.assertEqual(data[at:at + 16], struct.pack("<4i", 0, 0, 29, 19))
        for box, told in (((0, 0, 29, 19), False), ((-2, 0, 35, 19), False), ((3, 0, 29, 19), True),
                          ((0, 0, 29, 9), True)):
            self.write("b.exr", data[:at] + struct.pack("<4i", *box) + data[at + 16:])
            said = self.smp("convert", "-f", "b.exr", "b.npy")
            self.assertEqual("outside what is to be shown" in said.stderr, told, box)
            self.assertEqual(np.load(self.folder / "b.npy").shape[:2], (box[3] - box[1] + 1, box[2] - box[0] + 1))

    def test_openexr_that_is_not_whole_or_not_read_is_told(self):
        data = (self.folder / "a.exr").read_bytes()
        for part in (data[:-1], data[:len(data) // 2], data[:330], data[:40]):
            self.write("b.exr", part)
            self.smp("convert", "b.exr", "x.npy", status=3)
        self.write("b.exr", exr(self.light, flags=0x1000))
        self.assertIn("several parts", self.smp("convert", "b.exr", "x.npy", status=3).stderr)

    def test_sizes_that_a_file_is_not_worth_are_refused(self):
        big = np.lib.stride_tricks.as_strided(np.zeros(1, "f4"), (1, 1), (0, 0))
        data = exr({"Y": big})
        self.write("b.exr", data.replace(struct.pack("<4i", 0, 0, 0, 0), struct.pack("<4i", 0, 0, 29999, 29999)))
        self.smp("convert", "b.exr", "x.npy", status=(3, 6), timeout=10)
        size = struct.pack(">HHIIIIIIIIHBBB", 41, 0, 30000, 30000, 0, 0, 30000, 30000, 0, 0, 1, 7, 1, 1)
        self.write("b.j2k", b"\xff\x4f\xff\x51" + size + b"\xff\xd9")
        self.smp("convert", "b.j2k", "x.png", status=(3, 6), timeout=10)

    def test_a_missing_library_is_named(self):
        (self.folder / "none").mkdir()
        for name in os.listdir("/usr/lib/" + os.uname().machine + "-linux-gnu"):
            if name.startswith("libavcodec.so."):
                (self.folder / "none" / name).write_bytes(b"")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.folder / "none")}
        done = self.smp("info", "a.exr", status=(0, 3), env=environment)
        if done.returncode:
            self.assertIn("apt-get install ffmpeg", done.stderr)


if __name__ == "__main__":
    unittest.main()
