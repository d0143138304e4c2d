"""What stands beside a picture's samples: it is kept, replaced, or told."""
import struct
import unittest

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from harness import CliCase, chunk, png_bytes
from test_profile import ADOBE, GAMMA, icc
from test_tag_changes import with_iptc
from test_unusual_pictures import ROWS, jpeg, marker, tiff

KEYWORDS = b"\x1c\2\x19\0\4oldk"
XMP = ("<x:xmpmeta xmlns:x='adobe:ns:meta/'><r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
       "<r:Description xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:p='http://ns.adobe.com/photoshop/1.0/'"
       " p:City='oldc'><dc:subject><r:Bag><r:li>oldk</r:li></r:Bag></dc:subject></r:Description></r:RDF></x:xmpmeta>")


def resource(number, data):
    return b"8BIM" + struct.pack(">HHI", number, 0, len(data)) + data + bytes(len(data) % 2)


class Told(CliCase):
    def convert(self, name, to, *words):
        """What is told, and the bytes."""
        told = self.smp("convert", "-f", name, to, *words).stderr
        return told, (self.folder / to).read_bytes()

    def test_a_profile_that_does_not_fit_the_samples(self):
        gray = np.arange(240, dtype=np.uint8).reshape(12, 20)
        steep = GAMMA[:-2] + b"\x01\xcd"  # 1.8, whose levels are not sRGB's
        for name in ("gray.jpg", "gray.tif"):
            Image.fromarray(gray).save(self.folder / name, icc_profile=icc(ADOBE, steep))
            for to in ("out.png", "out.jpg", "out.tif", "out.webp"):
                told, data = self.convert(name, to)
                self.assertEqual((told.count("profile"), b"none\x04" in data), (1, False), (name, to, told))
                self.assertIn("its ICC profile is for colours, and it is gray", told)
        Image.fromarray(np.dstack([gray] * 3)).save(self.folder / "rgb.jpg", icc_profile=icc(None, GAMMA, b"GRAY"))
        self.assertIn("its ICC profile is for gray, and it has colours", self.convert("rgb.jpg", "out.png")[0])
        Image.fromarray(gray).save(self.folder / "fits.png", icc_profile=icc(None, steep, b"GRAY"))
        self.assertEqual(self.convert("fits.png", "out.jpg")[0], "")
        self.assertIn("it is for gray, and a WebP has colours", self.convert("fits.png", "out.webp")[0])

    def test_a_tag_takes_the_place_of_all_that_said_it(self):
        camera, info = Image.Exif(), PngInfo()
        camera[0x9C9E], camera[0x8769] = "oldk\0".encode("utf-16-le"), {0x9003: "2001:01:01 00:00:00"}
        info.add_itxt("XML:com.adobe.xmp", XMP)
        Image.new("RGB", (20, 10)).save(self.folder / "a.png", pnginfo=info, exif=camera)
        self.smp("convert", "a.png", "a.jpg")
        data = (self.folder / "a.jpg").read_bytes()
        self.write("a.jpg", with_iptc(data, (25, b"oldk"), (90, b"oldc"), (55, b"20010101"), (105, b"Stays")))
        tags = ("--tag", "keywords=new1", "--tag", "city=Bern", "--tag", "date=2020")
        for to in ("out.jpg", "out.png"):
            told, data = self.convert("a.jpg", to, *tags)
            for old in ("oldk", "oldc", "2001"):
                self.assertFalse(old.encode() in data or old.encode("utf-16-le") in data, (to, old))
            self.assertTrue(all(word in data for word in (b"new1", b"Bern", b"2020")))
            self.assertIn("what its XMP, EXIF, IPTC said of keywords is dropped", told)
        self.assertIn(b"Stays", self.convert("a.jpg", "out.jpg", *tags)[1])
        self.assertNotIn(b"oldk", self.convert("a.jpg", "out.jpg", "--tag", "subject=x")[1])
        told, data = self.convert("a.jpg", "out.tif", *tags)  # which has no place for these: the old ones stay
        self.assertIn("the text 'keywords' is left out", told)
        self.assertNotIn("dropped", told)
        self.assertIn(KEYWORDS, data)

    def test_a_tag_takes_the_place_of_those_that_are_called_otherwise(self):
        camera, info, spaces = Image.Exif(), PngInfo(), "xmp='http://ns.adobe.com/xap/1.0/'"
        camera[0x010F], camera[0x0110], camera[0x4746], camera[0x4749] = "oldMake", "oldModel", 4, 75
        camera[0x013B], camera[0x8298], camera[0x9C9E] = "oldArtist", "oldRights", "oldk\0".encode("utf-16-le")
        said = "xmp:Rating='4' xmp:ModifyDate='old' p:City='oldc'"
        info.add_itxt("XML:com.adobe.xmp", XMP.replace("p:City='oldc'", f"xmlns:{spaces} {said}").replace(
            "<dc:subject>", "<dc:publisher>oldp</dc:publisher><dc:subject>"))
        info.add_text("Author", "oldAuthor")
        Image.new("RGB", (20, 10)).save(self.folder / "a.png", pnginfo=info, exif=camera)
        keys = "make model rating creator rights publisher keyword date city"
        tags = [word for key in keys.split() for word in ("--tag", f"{key}=n.{key}")]
        for name, to in (("a.png", "b.png"), ("a.png", "b.jpg"), ("b.jpg", "c.jpg")):
            _, data = self.convert(name, to, *tags)
            self.assertFalse(b"old" in data or "old".encode("utf-16-le") in data or b"Rating" in data, to)
            with Image.open(self.folder / to) as made:
                self.assertEqual([made.getexif()[tag] for tag in (0x4746, 0x4749)], [0, 0])
            for key in keys.split():
                self.assertIn(f"n.{key}".encode(), data)

    def test_blocks_of_a_gif_that_are_not_read_are_named(self):
        self.smp("convert", self.small_png("a.png"), "a.gif")
        data = (self.folder / "a.gif").read_bytes()
        self.write("a.gif", data[:-1] + b"\x21\xFF\x0BMGK8BIM0000\4abcd\0" + data[-1:])
        self.assertIn("blocks of other programs are left out: MGK8BIM0000\n", self.convert("a.gif", "b.gif")[0])
        self.assertEqual(self.convert("b.gif", "c.gif")[0], "")

    def test_bytes_behind_a_picture(self):
        self.smp("convert", self.small_png("a.png"), "a.jpg")
        self.smp("convert", "a.png", "a.gif")
        for name in ("a.png", "a.jpg", "a.gif"):
            data = (self.folder / name).read_bytes()
            for more, lost in ((bytes(range(200)), True), (bytes(200), False), (b"\n", False)):
                self.write(name, data + more)
                for to in ("b.jpg", "b.tif"):  # of the JPEG copied and decoded
                    told = self.convert(name, to)[0]
                    self.assertEqual("what follows behind the picture is left out" in told, lost, (name, to))

    def test_chunks_of_a_png_that_are_not_read_are_named(self):
        chunks = chunk(b"sBIT", b"\5\5\5") + chunk(b"bKGD", bytes(6)) + chunk(b"prVt", b"")
        data = png_bytes(ROWS, 16, extra=chunks)
        self.write("a.png", data[:-12] + chunk(b"tIME", bytes([7, 230, 1, 1, 1, 1, 1])) + data[-12:])
        self.assertIn("chunks of the PNG are left out: sBIT, prVt\n", self.convert("a.png", "b.png")[0])
        self.assertEqual(self.convert("b.png", "c.png")[0], "")

    def test_resources_of_photoshop(self):
        all_of_it = (resource(1005, bytes(16)) + resource(1032, bytes(16)) + resource(2000, bytes(26)) +
                     resource(2001, bytes(26)) + resource(0x0404, KEYWORDS))
        self.write("a.jpg", jpeg(marker(0xED, b"Photoshop 3.0\0" + all_of_it)))
        Image.new("RGB", (9, 8)).save(self.folder / "a.tif", tiffinfo={34377: all_of_it, 33723: KEYWORDS[:7]})
        Image.new("RGB", (9, 8)).save(self.folder / "b.tif", tiffinfo={34377: all_of_it})
        for name in ("a.jpg", "a.tif", "b.tif"):
            for to in ("out.jpg", "out.tif"):
                told, data = self.convert(name, to)
                self.assertIn("resources of Photoshop are left out: guides, paths\n", told, name)
                self.assertIn(KEYWORDS, data, (name, to))
                self.assertEqual(self.convert(to, "again.jpg")[0], "")
        turned = struct.pack(">%dI" % 3, *struct.unpack("<3I", KEYWORDS + bytes(3)))  # as tiffcp -B does
        Image.new("RGB", (9, 8)).save(self.folder / "c.tif", tiffinfo={33723: turned})
        self.assertIn(KEYWORDS, self.convert("c.tif", "out.jpg")[1])
        Image.new("RGB", (9, 8)).save(self.folder / "d.tif", tiffinfo={33723: KEYWORDS[:7]})
        self.assertIn("its IPTC records are damaged, and are kept as they are", self.convert("d.tif", "out.jpg")[0])

    def test_markers_of_a_jpeg_that_are_not_kept_are_named(self):
        self.write("a.jpg", jpeg(marker(0xEB, b"JP\0\1jumb"), marker(0xE1, b"FLIR\0\1"), marker(0xEC, b"Ducky\0\1"),
                                 marker(0xE3, b""), marker(0xE2, b"ICC\x1b[0m")))
        told = self.convert("a.jpg", "b.jpg")[0]
        self.assertIn("left out, since it is of other programs: APP11 JP, APP1 FLIR, APP3, APP2 ICC\n", told)
        self.assertEqual(self.convert("b.jpg", "c.jpg")[0], "")

    def test_texts_of_imagemagick_that_exif_and_profile_say_themselves(self):
        camera = Image.Exif()
        camera[0x010F] = "Maker"
        for exif in (camera, Image.Exif()):
            info = PngInfo()
            for key in ("exif:Make", "icc:copyright", "date:create", "Title"):
                info.add_text(key, "x")
            profile = icc() if exif else None
            Image.new("RGB", (9, 8)).save(self.folder / "a.png", pnginfo=info, exif=exif, icc_profile=profile)
            told, data = self.convert("a.png", "b.png")
            kept = [key in data for key in (b"exif:Make", b"icc:copyright", b"date:create", b"Title")]
            self.assertEqual((told, kept), ("", [not exif, not exif, not exif, True]))

    def test_a_text_in_latin_1_is_the_same_text(self):
        Image.new("RGB", (9, 8)).save(self.folder / "a.tif", tiffinfo={270: "caf\u00e9 x".encode("latin-1")})
        for to in ("b.tif", "b.webp"):
            self.assertEqual(self.convert("a.tif", to)[0], "", to)

    def test_a_comment_stays_in_a_gif(self):
        words = "caf\u00e9 " * 99
        Image.new("P", (9, 8)).save(self.folder / "a.gif", comment=words.encode())
        told, data = self.convert("a.gif", "b.gif")
        self.assertEqual((told, data.count(b"caf")), ("", 99))
        self.smp("convert", "b.gif", "c.png")
        with Image.open(self.folder / "c.png") as picture:
            self.assertEqual(picture.text["Comment"], words)
        told, data = self.convert("c.png", "d.gif", "--tag", "title=x", "--tag", "comment=New")
        self.assertIn("the text 'Title' is left out: a GIF has no place for it", told)
        self.assertTrue(b"New" in data and b"caf" not in data)
        self.assertNotIn(b"caf", self.convert("b.gif", "e.gif", "--strip")[1])

    def test_a_picture_of_a_gif_that_is_larger_than_the_canvas_is_cut(self):
        frames = [Image.new("P", (40, 30), i) for i in range(2)]
        frames[1].putpixel((3, 3), 0)
        frames[0].save(self.folder / "a.gif", save_all=True, append_images=frames[1:])
        Image.new("P", (60000, 1), 1).save(self.folder / "wide.gif")
        wide = (self.folder / "wide.gif").read_bytes()
        at = wide.index(b"\x2c\0\0\0\0")
        self.write("b.gif", (self.folder / "a.gif").read_bytes()[:-1] + wide[at:])
        self.smp("convert", "--frames", "b.gif", "f-%d.png")
        told = self.smp("convert", "-f", "--frames", "b.gif", "f-%d.png").stderr
        self.assertIn("picture 3 reaches beyond the canvas and is cut there", told)
        self.assertEqual(sum(name.startswith("f-") for name in self.files()), 3)

    def test_damage_is_told_and_kept(self):
        bad = tiff([(0x0112, 3, 1, 1), (0x010F, 2, 90, 4000)])
        for exif, said in ((bad, ": beyond its end lies what is said of 271\n"), (b"no TIFF at all", "\n")):
            self.write("a.jpg", jpeg(marker(0xE1, b"Exif\0\0" + exif)))
            told, data = self.convert("a.jpg", "b.jpg")
            self.assertIn("its EXIF is damaged, and is kept as it is" + said, told)
            self.assertIn(exif, data)
        for packet, whole in ((XMP, True), (XMP[:-9], False), ("no XML", False), ("<a></a></a>", False),
                              ("<a b='", False),
                              ("<?xpacket?><!-- <a> --><a b='>'><![CDATA[<b>]]><c/></a>\n<?xpacket?>", True)):
            self.write("a.jpg", jpeg(marker(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + packet.encode())))
            told, data = self.convert("a.jpg", "b.jpg")
            self.assertEqual(told.count("its XMP is damaged, and is kept as it is"), not whole, packet)
            self.assertIn(packet.encode(), data)

    def test_a_resolution_below_one(self):
        camera = Image.Exif()
        camera[0x011A] = camera[0x011B] = 0.0001
        Image.new("RGB", (9, 8)).save(self.folder / "a.jpg", exif=camera)
        self.smp("convert", "a.jpg", "b.tif")
        with Image.open(self.folder / "b.tif") as picture:
            self.assertAlmostEqual(float(picture.tag_v2[282]), 0.0001)
        told, data = self.convert("b.tif", "c.png")
        self.assertIn("the resolution", told)
        self.assertNotIn(b"pHYs", data)
        self.assertIn("the resolution", self.convert("b.tif", "c.jpg")[0])

    def test_an_orientation_that_no_program_applies_is_told(self):
        exif = tiff([(0x0112, 3, 1, 6)])
        self.smp("convert", "-f", self.small_png("a.png"), "a.jp2")
        data = (self.folder / "a.jp2").read_bytes()
        body = b"JpgTiffExif->JP2" + exif
        at = data.index(b"jp2c") - 4
        self.write("b.jp2", data[:at] + struct.pack(">I", 8 + len(body)) + b"uuid" + body + data[at:])
        head = b"8BPS\0\1" + bytes(6) + struct.pack(">HIIHH", 1, 2, 3, 8, 1) + bytes(4)
        extra = resource(1058, exif)
        self.write("b.psd", head + struct.pack(">I", len(extra)) + extra + bytes(4) + bytes(2) + bytes(6))
        for name, what in (("b.jp2", "a JPEG 2000"), ("b.psd", "a PSD")):
            told, data = self.convert(name, "out.png")
            self.assertIn(f"EXIF's orientation (6) is left out: programs show {what} as its pixels lie", told)
            self.assertNotIn(exif, data)

    def test_iptc_of_a_jpeg_2000(self):
        self.smp("convert", "-f", self.small_png("a.png"), "a.jp2")
        data, body = (self.folder / "a.jp2").read_bytes(), b"uuid\x33\xC7\xA4\xD2\xB8\x1D\x47\x23\xA0\xBA\xF1" + \
            b"\xA3\xE0\x97\xAD\x38" + KEYWORDS  # as exiftool writes it
        at = data.index(b"jp2c") - 4
        self.write("b.jp2", data[:at] + struct.pack(">I", 4 + len(body)) + body + data[at:])
        told, data = self.convert("b.jp2", "b.jpg")
        self.assertEqual((told, KEYWORDS in data), ("", True))

    def test_a_jpeg_coded_as_rgb_is_copied(self):
        noise = np.random.default_rng(1).integers(0, 256, (24, 32, 3), np.uint8)
        Image.fromarray(noise).save(self.folder / "a.jpg", quality=90, subsampling=0)
        data = (self.folder / "a.jpg").read_bytes()
        rest = data[2 + 2 + struct.unpack_from(">H", data, 4)[0]:]  # behind JFIF; read as RGB now
        self.write("rgb.jpg", data[:2] + marker(0xEE, b"Adobe\0d" + bytes(5)) + rest)
        told, copy = self.convert("rgb.jpg", "b.jpg", "--tag", "comment=New")
        self.assertNotIn("anew", told)
        self.assertTrue(copy.endswith(rest) and b"New" in copy)
        self.smp("diff", "rgb.jpg", "b.jpg")
        with Image.open(self.folder / "rgb.jpg") as want, Image.open(self.folder / "b.jpg") as got:
            self.assertTrue(np.array_equal(np.array(want), np.array(got)))
        if not self.smp("convert", "-q", "rgb.jpg", "b.jxl", status=(0, 4)).returncode:
            self.smp("diff", "rgb.jpg", "b.jxl", "--psnr=35")

    def test_an_artist_is_told_whole(self):
        camera = Image.Exif()
        for artist in ("Ann " * 300 + "Bob", "\u00e9" * 900):
            camera[0x013B] = artist.encode("latin-1")
            Image.new("RGB", (9, 8)).save(self.folder / "a.jpg", exif=camera)
            self.assertEqual(self.smp("info", "--format", "{artist}", "a.jpg").stdout, artist + "\n")

    def test_backups_of_another_run_are_passed_over(self):
        for name in ("a.png", "b.png"):
            self.small_png(name)
        (self.folder / "in").mkdir()
        for name in ("a.png", "b.png"):
            (self.folder / name).rename(self.folder / "in" / name)
        self.smp("convert", "in", "--in-place", "--backup", ".orig", "--tag", "title=x")
        told = self.smp("convert", "in", "--in-place", "--tag", "title=y").stderr
        self.assertIn("2 files done, 2 backups passed over", told)
        self.write("in/c.odd", b"x")
        self.assertIn("c.odd", self.smp("convert", "in", "--in-place", "--tag", "title=z", status=1).stderr)


if __name__ == "__main__":
    unittest.main()
