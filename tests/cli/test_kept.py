"""Pictures from every format that is written into every other: colour profile, EXIF, XMP, IPTC, texts, resolution and
orientation are kept, or told to be left out. Sounds: tags, cover and chapters."""
import io
import json
import struct
import unittest
import wave

import numpy as np
from PIL import Image, ImageCms

from harness import CliCase
from test_profile import ADOBE, GAMMA, icc

XMP = ('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
       '<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:source="Field"/></rdf:RDF></x:xmpmeta>')
ARRAYS = ("npy", "raw")  # samples alone


def marker(number, body):
    return bytes([0xFF, number]) + struct.pack(">H", len(body) + 2) + body


def loaded(profile=None):
    """A JPEG that holds everything, on its side, of few colours."""
    exif, out = Image.Exif(), io.BytesIO()
    exif[0x010F], exif[0x0110], exif[0x0112] = "Maker", "Model 5", 6
    samples = np.kron(np.arange(6, dtype=np.uint8).reshape(2, 3) * 40, np.ones((8, 8), np.uint8))
    Image.fromarray(np.dstack([samples, samples, samples])).save(
        out, "jpeg", exif=exif, dpi=(300, 300), comment=b"Made by hand", quality=98,
        icc_profile=profile or ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    iptc = b"\x1c\x02\x69" + struct.pack(">H", 8) + b"Headline"
    resource = b"8BIM\x04\x04\0\0" + struct.pack(">I", len(iptc)) + iptc + bytes(len(iptc) % 2)
    data = out.getvalue()
    at = 2 + 2 + struct.unpack_from(">H", data, 4)[0]  # behind APP0
    return (data[:at] + marker(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + XMP.encode()) +
            marker(0xED, b"Photoshop 3.0\0" + resource) + data[at:])


def is_in(value, data):
    """A text in a file, as formats code it; PDF as hexadecimal digits."""
    wide = str(value).encode("utf-16-be")
    return any(v in data for v in (str(value).encode(), str(value).encode("utf-16-le"), wide,
                                   wide.hex().upper().encode(), wide.hex().encode()))


class Kept(CliCase):
    def parts(self, name):
        """What a picture holds: words that a warning has when it is left out, and a value; and its size, upright."""
        about = json.loads(self.smp("info", "-q", "--json", name).stdout)
        meta = about.get("metadata", {})
        out = {("ICC profile",): meta.get("icc_bytes"), ("EXIF",): bool(meta.get("exif_bytes")) or None,
               ("IPTC",): "Headline", ("resolution",): round(meta.get("pixels_per_metre_x", 0)) or None}
        for text in meta.get("texts", ()):
            out[(f"'{text['key']}'", "texts")] = text["value"]
        if b"Headline" not in (self.folder / name).read_bytes():
            del out[("IPTC",)]
        size = (about["width"], about["height"])
        return {words: value for words, value in out.items() if value}, size[::-1 if about["orientation"] > 4 else 1]

    def colours(self, name):
        """What its profile makes of some colours, in sRGB; of a file without one None."""
        self.smp("convert", "-q", "-f", name, "seen.png")
        with Image.open(self.folder / "seen.png") as picture:
            profile = picture.info.get("icc_profile")
        grid = np.moveaxis(np.mgrid[:256:51, :256:51, :256:51], 0, 3)
        swatches = Image.fromarray(grid.reshape(36, 6, 3).astype(np.uint8))
        return profile and np.array(ImageCms.profileToProfile(
            swatches, ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB")), int)

    def formats(self):
        lines = [line.split() for line in self.smp("help", "formats").stdout.splitlines()]
        return [line[-1 if line[0] == "ICO" else next(i for i, w in enumerate(line) if w[0] == ".")][1:]
                for line in lines if "written" in line and "image" in line]

    def test_pictures_into_every_format(self):
        self.write("all.jpg", loaded(icc(ADOBE, GAMMA)))
        formats = [name for name in self.formats() if name not in ARRAYS]
        self.assertGreater(len(formats), 10)
        checked = 0
        for source in ["jpg", *formats]:
            done = self.smp("convert", "-q", "-f", "all.jpg", f"in.{source}", status=(0, 4))
            if done.returncode or self.smp("info", "-q", f"in.{source}", status=(0, 3)).returncode:
                continue  # this build has no encoder, or no decoder of it
            held, _ = self.parts(f"in.{source}")
            for target in formats if held else ():
                told = self.smp("convert", "-f", f"in.{source}", f"out.{target}", status=(0, 4))
                if told.returncode:
                    continue
                (there, size), data = self.parts(f"out.{target}"), (self.folder / f"out.{target}").read_bytes()
                for words, value in held.items():
                    checked += 1
                    if words == ("resolution",) and target not in ("png", "apng", "jpg", "tif", "bmp"):
                        continue
                    if words == ("ICC profile",) and target == "jxl":  # which says its colours in its own way
                        self.assertLess(np.abs(self.colours("in." + source) - self.colours("out.jxl")).max(), 4, source)
                        value = there.get(words)
                    kept = (words != ("IPTC",) and there.get(words) == value) or is_in(value, data)
                    self.assertTrue((kept and value) or any(word in told.stderr for word in words),
                                    (source, target, words, value, there, told.stderr))
                if "pdf" not in (source, target):  # which is drawn
                    self.assertEqual(size, (16, 24), (source, target))
        self.assertGreater(checked, 200)

    def test_every_entry_of_exif(self):
        """Also those in a directory where the standard has them not (as Pillow writes them), by way of every format."""
        exif = Image.Exif()
        exif.update({0x010D: "document", 0x010E: "a cat", 0x010F: "Maker", 0x0112: 1, 0x011A: 300.0, 0x011B: 300.0,
                     0x0131: "program", 0x013B: "Ann", 0x013C: "host", 0x4746: 4, 0x8298: "me", 0x8827: 123,
                     0x9003: "2001:02:03 04:05:06", 0x9C9B: "T\0i\0\0\0".encode(), 0xA434: "lens"})
        exif[0x8769] = {0x829A: 0.008, 0x8827: 400, 0x9000: b"0230", 0x9003: "2024:03:17 12:34:55",
                        0x927C: b"UNKNOWN" + bytes(range(99)), 0x9286: b"ASCII\0\0\0words", 0xA420: "a" * 32,
                        0xA005: {1: "R98", 2: b"0100"}}
        exif[0x8825] = {0: b"\2\3\0\0", 1: "N", 2: (48.0, 7.0, 30.5), 6: 200.0}
        Image.new("RGB", (16, 16), (200, 30, 20)).save(self.folder / "in.jpg", exif=exif)

        def entries(name):
            self.smp("convert", "-f", name, "seen.jpg")
            with Image.open(self.folder / "seen.jpg") as picture:
                seen = picture.getexif()
            at = [dict(seen), seen.get_ifd(0x8769), seen.get_ifd(0x8825), seen.get_ifd(0xA005)]
            return {(i, tag): value for i, folder in enumerate(at) for tag, value in folder.items()
                    if tag not in (0x010D, 0x0112, 0x011A, 0x011B, 0x0128, 0x8769, 0x8825, 0xA005)}
        held = entries("in.jpg")
        self.assertEqual((len(held), held[0, 0x9003]), (24, "2001:02:03 04:05:06"))
        self.assertEqual(self.smp("info", "--format", "{date}", "in.jpg").stdout, "2024-03-17\n")  # of where it belongs
        for name in ("png", "webp", "avif", "jxl", "jp2", "tif"):
            if not self.smp("convert", "-q", "-f", "in.jpg", f"out.{name}", status=(0, 4)).returncode:
                self.smp("convert", "-f", f"out.{name}", "last.tif")
                self.assertEqual([entries(f"out.{name}"), entries("last.tif")], [held, held], name)
        with Image.open(self.folder / "last.tif") as picture:
            self.assertEqual((picture.tag_v2[0x010D], picture.info["dpi"]), ("document", (300, 300)))
        data = (self.folder / "in.jpg").read_bytes().replace(struct.pack(">HH", 316, 2), struct.pack(">HH", 316, 13))
        self.write("odd.jpg", data)
        self.assertIn("the entry 316 of EXIF is left out", self.smp("convert", "odd.jpg", "odd.tif").stderr)
        Image.new("L", (4, 3)).save(self.folder / "in.tif", tiffinfo={316: "host", 34735: (1, 1, 0, 0)})  # of GeoTIFF
        told = self.smp("convert", "-f", "in.tif", "out.tif").stderr
        self.assertTrue("programs' own or long: 34735\n" in told and b"host" in (self.folder / "out.tif").read_bytes())

    def test_entries_that_would_say_how_samples_of_a_tiff_lie(self):
        exif = Image.Exif()
        exif.update({0x010F: "Maker", 0x013B: "Ann", 32996: 3, 32997: 5, 33422: b"\0\1\1\2"})
        exif[0x8769] = {0x010F: "", 0x013B: ""}  # which hides nothing of the first directory
        Image.new("RGB", (4, 3)).save(self.folder / "in.jpg", exif=exif)
        told = self.smp("convert", "in.jpg", "out.tif").stderr
        self.assertIn("in a TIFF may say how samples lie: 32996, 32997, 33422\n", told)
        with Image.open(self.folder / "out.tif") as picture:
            tags = picture.tag_v2
            self.assertEqual([tags.get(tag) for tag in (271, 315, 32996, 32997, 33422)], ["Maker", "Ann"] + [None] * 3)
        self.assertEqual(self.smp("info", "--format", "{artist}", "in.jpg").stdout, "Ann\n")

    def test_entries_of_a_tiff_that_are_together_too_long_for_a_jpeg(self):
        info = {271: "Maker", 37724: b"Adobe Photoshop Document Data Block\0"}
        Image.new("L", (4, 3)).save(self.folder / "in.tif", tiffinfo=info | {40000 + i: b"x" * 8000 for i in range(9)})
        told = self.smp("convert", "in.tif", "out.jpg").stderr
        self.assertIn("or long: 40004, 40005, 40006, 40007, 40008\n", told)
        self.assertIn("layers that Photoshop put into the TIFF are left out", told)
        with Image.open(self.folder / "out.jpg") as picture:
            self.assertEqual(picture.getexif()[271], "Maker")

    def test_sounds_into_every_format(self):
        with wave.open(str(self.folder / "in.wav"), "wb") as file:
            file.setparams((2, 2, 48000, 0, "NONE", ""))
            file.writeframes(bytes(4 * 48000))
        Image.new("RGB", (8, 8), (200, 0, 0)).save(self.folder / "cover.png")
        tags = {"Title": "Rain", "Artist": "Cloud", "Comment": "wet", "CHAPTER001": "00:00:00.000",
                "CHAPTER001NAME": "Drizzle", "CHAPTER002": "00:00:00.500", "CHAPTER002NAME": "Pour", "Mood": "calm"}
        words = [word for key, value in tags.items() for word in ("--tag", f"{key}={value}")]
        formats = [name for name in ("flac", "wav", "aiff", "caf", "w64", "ogg", "opus", "mp3", "m4a")]
        for source in formats:
            if self.smp("convert", "-q", "-f", "in.wav", f"a.{source}", "--cover", "cover.png", *words,
                        status=(0, 4)).returncode:
                continue

            def holds(name):
                meta = json.loads(self.smp("info", "-q", "--json", name).stdout).get("metadata", {})
                out = {(t["key"], t["value"]) for t in meta.get("texts", ())}
                return {(k.upper(), v) for k, v in out} | {("COVER", meta.get("cover_bytes", 0))}
            held = holds(f"a.{source}")
            for target in formats:
                done = self.smp("convert", "-f", f"a.{source}", f"b.{target}", status=(0, 4))
                if done.returncode:
                    continue
                there, said = holds(f"b.{target}"), done.stderr.lower()
                data = (self.folder / f"b.{target}").read_bytes()
                for key, value in held - there:
                    about = "chapter" if key.startswith("CHAPTER") else "cover" if key == "COVER" else key.lower()
                    same = key[-1:].isdigit() or is_in(value, data)  # a chapter's time by its name
                    self.assertTrue(same or about in said or "tags" in said or not value,
                                    (source, target, key, value, there, done.stderr))


if __name__ == "__main__":
    unittest.main()
