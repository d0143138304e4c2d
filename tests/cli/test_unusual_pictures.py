"""Pictures that are unusual and read all the same: what is said of them on stderr, and what their metadata becomes."""
import csv
import json
import resource
import struct
import subprocess
import unittest
import zlib

import cv2
import numpy as np
from PIL import Image

from harness import SANITIZED, CliCase, chunk, png_bytes, png_chunks, png_header

VIDEO = b"\0\0\0\x18ftypmp42" + bytes(99)
ROWS = [bytes((x * 5 + y * 11 + c * 40) & 255 for x in range(16) for c in range(3)) for y in range(8)]


def tiff(entries, inner=b"", second=b""):
    """A little-endian TIFF structure: IFD0 of (tag, type, count, value), what follows it, and IFD1 with its picture."""
    ifd0 = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *e) for e in entries)
    link = 8 + len(ifd0) + 4 + len(inner) if second else 0
    return b"II*\0" + struct.pack("<I", 8) + ifd0 + struct.pack("<I", link) + inner + second


def marker(number, body):
    return bytes([0xFF, number]) + struct.pack(">H", len(body) + 2) + body


def jpeg(*markers, size=(16, 8)):
    picture = np.fromfunction(lambda y, x: x * 8 + y * 9, size[::-1]).astype(np.uint8)
    data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes()
    return data[:2] + b"".join(markers) + data[2:]


class UnusualPictures(CliCase):
    def exif_of(self, name):
        data = (self.folder / name).read_bytes()
        if name.endswith(".png"):
            return dict(png_chunks(data)).get(b"eXIf")
        at = data.find(b"Exif\0\0")
        return data[at + 6 : at - 2 + struct.unpack(">H", data[at - 2 : at])[0]] if at >= 0 else None

    def test_markers_without_end_are_refused(self):
        self.write("bomb.jpg", jpeg(marker(0xFE, b"") * 80000))
        for command in (("info", "bomb.jpg"), ("run", "-e", "invert", "bomb.jpg", "o.png")):
            done = self.smp(*command, status=6)
            self.assertIn("more than 1000 comments and application markers", done.stderr)

    def test_the_thumbnail_goes_with_the_old_picture(self):
        thumbnail = b"SECRET" * 20
        ifd1 = struct.pack("<H", 2) + struct.pack("<HHII", 0x0201, 4, 1, 0) + struct.pack(
            "<HHII", 0x0202, 4, 1, len(thumbnail))
        at = 8 + 2 + 12 + 4
        ifd1 = ifd1.replace(
            struct.pack("<HHII", 0x0201, 4, 1, 0), struct.pack("<HHII", 0x0201, 4, 1, at + len(ifd1) + 4)
        ) + bytes(4)
        exif = tiff([(0x0112, 3, 1, 1)], second=ifd1 + thumbnail)
        self.write("in.jpg", jpeg(marker(0xE1, b"Exif\0\0" + exif)))
        self.smp("run", "-e", "stats", "in.jpg", "same.jpg")
        self.assertEqual(self.exif_of("same.jpg"), exif)
        for stage in ("gaussian 2px", "rotate 180"):
            for name in ("out.jpg", "out.png"):
                self.smp("run", "-f", "-e", stage, "in.jpg", name)
                self.assertEqual(self.exif_of(name), tiff([(0x0112, 3, 1, 1)]), f"{stage} {name}")

    def test_turning_exchanges_resolutions_and_resets_every_orientation(self):
        packet = b'<x:xmpmeta tiff:Orientation="6" tiff:XResolution="300/1" tiff:YResolution="100/1"/>'
        inner = struct.pack("<IIII", 300, 1, 100, 1)
        exif = tiff([(0x0112, 3, 1, 6), (0x011A, 5, 1, 50), (0x011B, 5, 1, 58)], inner)
        plain = jpeg(marker(0xE1, b"Exif\0\0" + exif), marker(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + packet))
        at = plain.index(b"JFIF\0") + 7
        self.write("in.jpg", plain[:at] + struct.pack(">BHH", 1, 300, 100) + plain[at + 5 :])
        for stages, turned in ((("invert",), True), (("rotate 90",), False), (("transpose", "rotate 90"), True)):
            arguments = [word for stage in stages for word in ("-e", stage)]
            self.smp("run", "-f", *arguments, "in.jpg", "out.jpg")
            data = (self.folder / "out.jpg").read_bytes()
            at = data.index(b"JFIF\0") + 7
            want = (100, 300) if turned else (300, 100)
            self.assertEqual(struct.unpack_from(">BHH", data, at), (1, *want), stages)
            out = self.exif_of("out.jpg")
            dots = [struct.unpack_from("<I", out, struct.unpack_from("<I", out, 8 + 2 + 12 * i + 8)[0])[0] for i in (1,
                                                                                                                     2)]
            self.assertEqual(tuple(dots), want, stages)
            self.assertEqual(struct.unpack_from("<H", out, 8 + 2 + 8)[0], 1)
            x = b"X" if not turned else b"Y"
            self.assertIn(b'tiff:Orientation="1"', data)
            self.assertIn(b'tiff:' + x + b'Resolution="300/1"', data)

    def test_what_is_measured_has_the_size_that_is_seen(self):
        """As its boxes have: a white bar at the left of what is stored is at the top of what is seen."""
        rows = [(b"\xff" if 10 <= y < 16 else b"\0") * 3 + bytes(37) for y in range(20)]
        exif = chunk(b"eXIf", tiff([(0x0112, 3, 1, 6)]))
        self.write("in.png", png_bytes(rows, 40, color=0, extra=exif))
        measure = ("measure", "-e", "threshold 50%", "-e", "label", "in.png")
        rows = list(csv.DictReader(self.smp(*measure, "--csv").stdout.splitlines()))
        self.assertEqual({(row["width"], row["height"]) for row in rows}, {("20", "40")})
        self.assertEqual([rows[-1][k] for k in ("left", "top")], ["4", "0"])
        self.assertIn("(u8x1 20x40)", self.smp(*measure).stdout)
        self.assertEqual(json.loads(self.smp(*measure, "--json").stdout)["files"][0]["type"], "u8x1 20x40")
        self.assertEqual(self.smp(*measure, "--csv", "--long").stdout.splitlines()[1].split(",")[1], "u8x1 20x40")
        self.smp("measure", "-e", "stats", "in.png", "--partial", "1.part")
        self.assertIn(",20,40,", self.smp("measure", "--merge", "1.part", "--csv").stdout)
        self.smp("batch", "-e", "invert", "in.png", "-o", "out", "--report", "r.jsonl")
        size = json.loads((self.folder / "r.jsonl").read_text().splitlines()[0])["size"]
        self.assertEqual((size["width"], size["height"]), (20, 40))

    def test_chunks_of_hdr_are_kept_or_named(self):
        extra = chunk(b"cICP", bytes([9, 16, 0, 1])) + chunk(b"mDCV", b"m" * 24) + chunk(b"cLLI", b"c" * 8)
        self.write("in.png", png_bytes(ROWS, 16, extra=extra))
        done = self.smp("run", "-e", "flip horizontal", "in.png", "moved.png")
        self.assertEqual(done.stderr, "")
        kept = dict(png_chunks((self.folder / "moved.png").read_bytes()))
        self.assertEqual((kept[b"cICP"], kept[b"mDCV"], kept[b"cLLI"]), (bytes([9, 16, 0, 1]), b"m" * 24, b"c" * 8))
        done = self.smp("run", "-e", "invert", "in.png", "toned.png")
        kept = dict(png_chunks((self.folder / "toned.png").read_bytes()))
        self.assertEqual(kept[b"cICP"], bytes([9, 16, 0, 1]))
        self.assertNotIn(b"mDCV", kept)
        self.assertNotIn(b"cLLI", kept)
        self.assertIn("warning: toned.png: the light levels that the input states (mDCV, cLLI) are left out",
                      done.stderr)
        done = self.smp("run", "-e", "flip horizontal", "in.png", "out.jpg")
        self.assertIn("warning: out.jpg: the colours are of primaries 9 and transfer 16 (cICP)", done.stderr)
        done = self.smp("run", "-e", "invert", "in.png", "bare.png", "--strip")
        self.assertEqual(done.stderr, "")
        self.assertIn("primaries 9, transfer 16", self.smp("info", "in.png").stdout)

    def test_metadata_in_texts_of_digits(self):
        """As ImageMagick, exiv2 and exiftool write them."""
        def raw(name, data, said=None, before=b"", line=None):
            body = before + data.hex().encode()
            digits = b"\n".join(body[i : i + 72] for i in range(0, len(body), 72))
            size = len(data) if said is None else said
            return chunk(b"zTXt", b"Raw profile type " + name + b"\0\0" +
                         zlib.compress(b"\n%s\n%8d\n%s\n" % (line or name, size, digits)))

        exif, other = tiff([(0x0112, 3, 1, 6)]), tiff([(0x0112, 3, 1, 3)])
        records = b"\x1c\2\x69\0\x08Headline"
        resource = b"8BIM\x04\x04\0\0" + struct.pack(">I", len(records)) + records + bytes(len(records) % 2)
        xmp, app1 = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"/>', b"http://ns.adobe.com/xap/1.0/\0"
        title = chunk(b"tEXt", b"Title\0x")
        for what in ((raw(b"exif", b"Exif\0\0" + exif), raw(b"iptc", resource), raw(b"xmp", xmp)),
                     (raw(b"APP1", b"Exif\0\0" + exif), raw(b"8bim", resource), raw(b"APP1", app1 + xmp)),
                     (raw(b"APP1", b"Exif\0\0" + exif, line=b"generic profile"),
                      raw(b"iptc", resource, line=b"IPTC profile"), raw(b"xmp", xmp)),
                     (raw(b"exif", exif), raw(b"iptc", records), raw(b"xmp", xmp), raw(b"xmp", b"<y/>")),
                     (raw(b"exif", other), chunk(b"eXIf", exif), raw(b"8bim", resource), raw(b"xmp", xmp))):
            self.write("in.png", png_bytes(ROWS, 16, extra=b"".join(what) + title))
            self.assertEqual(self.smp("convert", "-f", "in.png", "out.jpg").stderr, "")
            data = (self.folder / "out.jpg").read_bytes()
            self.assertEqual(cv2.imread(str(self.folder / "out.jpg")).shape, (16, 8, 3))
            self.assertEqual(self.exif_of("out.jpg"), tiff([(0x0112, 3, 1, 1)]))
            self.assertIn(resource, data)
            self.assertIn(app1 + xmp, data)
            self.assertIn(b"Title: x", data)
            self.assertNotIn(b"Raw profile", data)
            self.smp("convert", "-f", "in.png", "out.png")
            self.assertNotIn(b"Raw profile", (self.folder / "out.png").read_bytes())
        for damaged in (raw(b"exif", exif, said=7), raw(b"exif", exif, said=2**33), raw(b"exif", exif, before=b"x"),
                        raw(b"exif", exif, before=b"1"), chunk(b"tEXt", b"Raw profile type exif\0Canon")):
            self.write("in.png", png_bytes(ROWS, 16, extra=damaged + title))
            done = self.smp("convert", "-f", "in.png", "out.jpg")
            self.assertIn("the text 'Raw profile type exif' is damaged and is left out", done.stderr)
            self.assertIsNone(self.exif_of("out.jpg"))
        self.write("in.png", png_bytes(ROWS, 16, extra=raw(b"8bim", resource[:-3]) + raw(b"exif", b"") + title))
        self.assertIn("IPTC records are left out", self.smp("convert", "-f", "in.png", "out.jpg").stderr)

    def test_orientation_behind_the_picture_is_the_same_from_a_pipe(self):
        plain = png_bytes(ROWS, 16)
        late = plain[:-12] + chunk(b"eXIf", tiff([(0x0112, 3, 1, 6)])) + chunk(b"tEXt", b"Title\0x") + plain[-12:]
        self.write("late.png", late)
        self.smp("run", "-e", "invert", "late.png", "file.png")
        self.smp("run", "-e", "invert", "-", "pipe.png", input=late, text=False)
        self.assertEqual((self.folder / "file.png").read_bytes(), (self.folder / "pipe.png").read_bytes())
        self.assertEqual(struct.unpack_from(">II", (self.folder / "pipe.png").read_bytes(), 16), (8, 16))

    def test_orientation_behind_a_picture_that_a_pipe_cannot_keep_is_an_error(self):
        width, height = 8192, 8300
        data = zlib.compress(bytes((width + 1) * height), 0)  # stored: more than 64 MiB
        head = png_header(width, height, 8, 0) + chunk(b"IDAT", data)
        upright = head + chunk(b"eXIf", tiff([(0x0112, 3, 1, 1)])) + chunk(b"IEND", b"")
        self.smp("run", "-e", "flip horizontal", "-", "out.png", input=upright, text=False)
        # a writer whose portions fit no buffer: nothing is lost between what is kept and what is read on
        (self.folder / "late.png").write_bytes(upright)
        with subprocess.Popen(["dd", "if=late.png", "bs=4093", "status=none"], cwd=self.folder,
                              stdout=subprocess.PIPE) as odd:
            self.smp("run", "-f", "-e", "flip horizontal", "-", "odd.png", stdin=odd.stdout)
        self.assertEqual((self.folder / "odd.png").read_bytes(), (self.folder / "out.png").read_bytes())
        turned = head + chunk(b"eXIf", tiff([(0x0112, 3, 1, 6)])) + chunk(b"IEND", b"")
        done = self.smp("run", "-f", "-e", "flip horizontal", "-", "out.png", input=turned, text=False, status=3)
        self.assertIn(b"the orientation comes after the picture", done.stderr)
        self.assertIn(b"write the picture to a file first", done.stderr)

    def test_the_first_of_several_pictures_is_read_with_a_note(self):
        still, photo = png_bytes(ROWS, 16), jpeg()
        animation = png_bytes(ROWS, 16, extra=chunk(b"acTL", struct.pack(">II", 5, 0)))
        for data, name, note in (
            (still + still, "o1.png", "another PNG follows; only the first is read"),
            (photo + photo, "o2.png", "another JPEG follows; only the first is read"),
            (photo + VIDEO, "o4.png", "a video follows, as in a motion photo: it is left out"),
            (animation, "o3.png", "an animation of 5 pictures"),
        ):
            done = self.smp("run", "-e", "invert", "-", name, input=data, text=False)
            self.assertIn(b"warning: standard input: ", done.stderr)
            self.assertIn(note.encode(), done.stderr)
            self.assertEqual(self.smp("run", "-f", "-q", "-e", "invert", "-", name, input=data, text=False).stderr, b"")
            one = still if data.startswith(still[:8]) else photo
            self.smp("run", "-e", "invert", "-", "one-" + name, input=one, text=False)
            self.smp("diff", name, "one-" + name)

    def test_a_video_behind_a_photo_that_gets_a_tag_in_place_is_told(self):
        self.write("in.jpg", jpeg() + VIDEO)
        done = self.smp("convert", "in.jpg", "--in-place", "--tag", "title=Rain")
        self.assertIn("in.jpg: a video follows, as in a motion photo: it is left out", done.stderr)

    def test_metadata_that_is_damaged_or_invalid_is_left_out_with_a_note(self):
        text = chunk(b"tEXt", b"Title\0x")
        wrong = text[:-1] + bytes([text[-1] ^ 1])
        self.write("in.png", png_bytes(ROWS, 16, extra=wrong + chunk(b"iCCP", b"p\0\0" + zlib.compress(b"\xff" * 200))))
        done = self.smp("run", "-e", "invert", "in.png", "out.png", "--report=report.json")
        self.assertIn("in.png: the chunk tEXt is damaged (its CRC is wrong) and is left out", done.stderr)
        self.assertIn("in.png: the ICC profile is invalid and is left out", done.stderr)
        self.assertEqual(len(json.loads((self.folder / "report.json").read_text())["input_notes"]), 2)
        kinds = [kind for kind, _ in png_chunks((self.folder / "out.png").read_bytes())]
        self.assertEqual(kinds, [b"IHDR", b"IDAT", b"IEND"])
        for profile, says in ((b"junk" * 60, "the ICC profile is invalid and is left out"),
                              (b"junk" * 4 + b"CMYK" + b"junk" * 40, "is for CMYK and is left out")):
            Image.fromarray(np.zeros((6, 8, 3), np.uint8)).save(self.folder / "in.jpg", icc_profile=profile)
            for name in ("out.jpg", "out2.png"):
                done = self.smp("run", "-f", "-e", "invert", "in.jpg", name)
                self.assertEqual(done.stderr.count(says), 1, done.stderr)
                self.assertNotIn(b"junk", (self.folder / name).read_bytes())
        done = self.smp("batch", "-e", "invert", "in.png", "-o", "many", "--report=lines")
        self.assertIn("warning: in.png: the chunk tEXt is damaged", done.stderr)
        self.assertIn("1 file done", done.stderr)
        self.assertEqual(len(json.loads((self.folder / "lines").read_text())["input_notes"]), 2)

    def test_metadata_that_goes_on_in_another_marker_is_told(self):
        exif, xmp = b"Exif\0\0II*\0\x08\0\0\0" + bytes(6), b"http://ns.adobe.com/xmp/extension/\0" + bytes(40)
        packet = b"http://ns.adobe.com/xap/1.0/\0<x></x>"
        for first, more, said in ((packet, packet, "a second XMP packet is left out"),
                                  (exif, b"Exif\0\0" + bytes(9), "EXIF that goes on in another marker"),
                                  (exif, exif, "a second EXIF is left out"), (xmp, xmp, "XMP that goes on in")):
            self.write("in.jpg", jpeg(marker(0xE1, first), marker(0xE1, more)))
            self.assertEqual(self.smp("convert", "-f", "in.jpg", "out.png").stderr.count(said), 1, said)

    def test_colours_that_a_palette_lacks_are_counted(self):
        colours = bytes([1, 2, 3, 0, 4, 5, 6, 0])
        for bits, coding, rows in ((4, 0, bytes([0x01, 0x20, 0, 0, 0x10, 0xF0, 0, 0])),
                                   (8, 0, bytes([0, 1, 2, 0, 1, 0, 255, 0])),
                                   (8, 1, bytes([0, 3, 0, 1, 2, 0, 0, 0, 1, 1, 1, 0, 1, 255, 0, 0, 0, 1]))):
            head = struct.pack("<IiiHHIIiiII", 40, 3, 2, 1, bits, coding, len(rows), 0, 0, 2, 0)
            self.write("a.bmp", b"BM" + struct.pack("<IHHI", 62 + len(rows), 0, 0, 62) + head + colours + rows)
            told = self.smp("convert", "-f", "a.bmp", "a.npy").stderr
            self.assertIn("2 of its pixels are of colours that its palette lacks: they are black", told)
            black, first, other = [0, 0, 0], [3, 2, 1], [6, 5, 4]
            self.assertEqual(np.load(self.folder / "a.npy").tolist(), [[other, first, black], [first, other, black]])

    def test_what_libpng_only_warns_of(self):
        """A transparent colour with bits that its samples have not, and data behind the picture's."""
        rows = [bytes(x * y & 255 for x in range(16)) for y in range(8)]
        plain = png_bytes(rows, 16, color=0, extra=chunk(b"tRNS", b"\0\x0c"))
        self.write("want.png", plain)
        self.write("in.png", png_bytes(rows, 16, color=0, extra=chunk(b"tRNS", b"\x01\x0c")))
        self.smp("convert", "want.png", "want.npy")
        self.assertIn("more bits than the samples", self.smp("convert", "in.png", "out.npy").stderr)
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), np.load(self.folder / "want.npy"))
        few = [bytes([0b00011011] * 4) for _ in range(3)]
        self.write("in.png", png_bytes(few, 16, depth=2, color=0, extra=chunk(b"tRNS", b"\0\x06")))
        self.assertIn("more bits", self.smp("convert", "in.png", "out.npy", "-f").stderr)
        self.assertEqual(np.load(self.folder / "out.npy")[0, :4, -1].tolist(), [255, 255, 0, 255])
        pixels = zlib.compress(b"".join(b"\0" + row for row in rows + rows[:1]))
        for color in (0, 3):
            palette = chunk(b"PLTE", bytes(range(192)) * 4) if color else b""
            long = png_header(16, 8, 8, color) + palette + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
            self.write("in.png", long)
            self.write("whole.png", png_bytes(rows, 16, color=color, extra=palette))
            self.assertIn("data follow the picture", self.smp("convert", "in.png", "out.npy", "-f").stderr)
            self.smp("convert", "whole.png", "want.npy", "-f")
            np.testing.assert_array_equal(np.load(self.folder / "out.npy"), np.load(self.folder / "want.npy"))
        wrong = png_bytes(rows, 16, color=3, extra=chunk(b"PLTE", bytes(768)) + chunk(b"tRNS", bytes(300)))
        self.write("in.png", wrong)
        self.assertIn("--no-verify", self.smp("convert", "in.png", "out.npy", "-f", status=3).stderr)
        done = self.smp("convert", "in.png", "out.npy", "-f", "--no-verify")
        self.assertIn("the chunk tRNS is left out", done.stderr)

    def test_channels_that_are_no_colours(self):
        """2 to 8 samples of gray without alpha, as microscopes and satellites write them: all are read, and written."""
        def tiff(array, planar, extra):
            height, width, samples = array.shape
            data = (array.transpose(2, 0, 1) if planar else array).tobytes()
            bits, kind = 8 * array.itemsize, 3 if array.dtype.kind == "f" else 1
            planes = samples if planar else 1
            at, values, entries = 8 + len(data), b"", []
            for tag, numbers in ((256, [width]), (257, [height]), (258, [bits] * samples), (259, [1]), (262, [1]),
                                 (273, [8 + i * len(data) // planes for i in range(planes)]), (277, [samples]),
                                 (278, [height]), (279, [len(data) // planes] * planes), (284, [2 if planar else 1]),
                                 (338, extra), (339, [kind] * samples)):
                body = struct.pack(f"<{len(numbers)}I", *numbers)
                if numbers:
                    place = body if len(body) == 4 else struct.pack("<I", at + len(values))
                    values += b"" if len(body) == 4 else body
                    entries.append(struct.pack("<HHI", tag, 4, len(numbers)) + place)
            directory = struct.pack("<H", len(entries)) + b"".join(entries) + bytes(4)
            return b"II*\0" + struct.pack("<I", at + len(values)) + data + values + directory

        rng = np.random.default_rng(8)
        for samples, dtype, planar, said in ((2, np.uint8, False, False), (4, np.uint16, True, True),
                                             (5, np.float32, False, True), (8, np.uint8, True, False)):
            array = (rng.random((9, 14, samples)) * (1 if dtype == np.float32 else 200)).astype(dtype)
            self.write("in.tif", tiff(array, planar, [0] * (samples - 1) if said else []))
            self.assertIn(f"{samples} channels", self.smp("info", "in.tif").stdout)
            for names in (("in.tif", "out.npy"), ("in.tif", "out.tif"), ("out.tif", "out.npy")):
                self.assertEqual(self.smp("convert", "-f", *names).stderr, "")
            self.assertTrue(np.array_equal(np.load(self.folder / "out.npy"), array), (samples, planar))
        self.assertIn("matrix [1 0 0 0 0 0 0 0]", self.smp("convert", "in.tif", "o.png", status=4).stderr)
        self.smp("convert", "in.tif", "o.png", "-e", "matrix [1 0 0 0 0 0 0 0]")
        self.assertTrue(np.array_equal(cv2.imread(str(self.folder / "o.png"), -1), array[..., 0]))
        self.write("alpha.tif", tiff(array[..., :2], False, [2]))
        self.assertIn("the last is alpha", self.smp("info", "alpha.tif").stdout)

    def test_texts_that_inflate_without_end_take_little_time(self):
        text = zlib.compress(bytes(50 << 20), 1)
        texts = b"".join(chunk(b"zTXt", b"k%d\0\0" % i + text) for i in range(60))
        self.write("in.png", png_bytes(ROWS, 16, extra=texts))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertIn("zTXt is left out", self.smp("info", "in.png").stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not SANITIZED:
            self.assertLess(after.ru_utime - before.ru_utime, 1.0)

    def test_a_text_with_a_blank_keyword_does_not_lose_the_output(self):
        self.write("in.png", png_bytes(ROWS, 16, extra=chunk(b"tEXt", b" \0x") + chunk(b"tEXt", b"Title\0y")))
        done = self.smp("run", "-e", "invert", "in.png", "out.png")
        self.assertIn("out.png: the text ' ' is left out: a PNG cannot hold its keyword", done.stderr)
        self.assertEqual(dict(png_chunks((self.folder / "out.png").read_bytes()))[b"tEXt"], b"Title\0y")


if __name__ == "__main__":
    unittest.main()
