"""Tags that are set, and names and lines made of what files say: --tag, --untag, --cover, --name, info --format."""
import json
import shutil
import struct
import unittest

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from harness import SAMPLES, CliCase, png_bytes

COVER = png_bytes([bytes(300)] * 100, 100)


def exif(taken, model):
    """Of a camera: the model in the first directory, the time in the second."""
    model, taken = model.encode() + bytes(1), taken.encode() + bytes(1)
    texts = 8 + 2 + 2 * 12 + 4 + 2 + 12 + 4
    entry = lambda tag, kind, count, value: struct.pack(">HHII", tag, kind, count, value)
    return (b"Exif\0\0MM\0*" + struct.pack(">IH", 8, 2) + entry(0x0110, 2, len(model) + 9, texts)
            + entry(0x8769, 4, 1, 38) + bytes(4) + struct.pack(">H", 1)
            + entry(0x9003, 2, len(taken), texts + len(model) + 9) + bytes(4) + model + bytes(9) + taken)


def with_iptc(jpeg, *records):
    """A JPEG with data sets of IPTC's record 2, as Photoshop puts them."""
    data = b"".join(struct.pack(">BBBH", 0x1C, 2, number, len(text)) + text for number, text in records)
    data = b"Photoshop 3.0\0" + b"8BIM\4\4\0\0" + struct.pack(">I", len(data)) + data + bytes(len(data) % 2)
    return jpeg[:2] + struct.pack(">BBH", 0xFF, 0xED, 2 + len(data)) + data + jpeg[2:]


class TagChanges(CliCase):
    def texts(self, name):
        found = json.loads(self.smp("info", "--json", name).stdout)["metadata"]
        return {one["key"]: one["value"] for one in found["texts"]}, found.get("cover_bytes", 0)

    def test_tags_are_set_replaced_and_dropped(self):
        shutil.copy(SAMPLES / "speech.flac", self.folder / "a.flac")
        self.write("cover.png", COVER)
        for ext in ("flac", "ogg", "opus", "mp3"):
            told = self.smp("convert", "a.flac", "b." + ext, "--tag", "title=R\u00eave", "--tag", "artist=Me", "--tag",
                            "MYKEY=x=y", "--cover", "cover.png").stderr
            texts, cover = self.texts("b." + ext)
            self.assertEqual({key: texts.get(key) for key in ("Title", "Artist", "MYKEY")},
                             {"Title": "R\u00eave", "Artist": "Me", "MYKEY": "x=y"}, ext + told)
            self.assertEqual(cover, len(COVER), ext)
        self.smp("convert", "b.flac", "c.flac", "--tag", "title=Two", "--tag", "artist=")
        texts, cover = self.texts("c.flac")
        self.assertEqual((texts["Title"], texts.get("Artist"), cover), ("Two", None, len(COVER)))
        self.smp("convert", "b.flac", "d.flac", "--untag", "--tag", "title=Three")
        texts, cover = self.texts("d.flac")
        self.assertEqual((texts.get("Title"), texts.get("Artist"), cover), ("Three", None, 0))

    def test_an_mp3_that_no_stage_changes_is_copied(self):
        if self.smp("convert", SAMPLES / "speech.flac", "a.mp3", "--tag", "title=Old", status=(0, 4)).returncode:
            self.skipTest("this build writes no MP3")
        old = (self.folder / "a.mp3").read_bytes()
        self.write("b.mp3", old + b"TAG" + b"Older".ljust(30, b"\0") + bytes(95))  # an ID3v1 tag stays behind
        for name in ("a.mp3", "b.mp3"):
            self.smp("convert", "-f", name, "c.mp3", "--tag", "title=New")
            self.smp("diff", name, "c.mp3")
            self.assertEqual(self.texts("c.mp3")[0]["Title"], "New", name)
            self.assertNotIn(b"Old", (self.folder / "c.mp3").read_bytes(), name)
        self.smp("convert", "-f", "a.mp3", "c.mp3", "--strip")
        self.assertTrue(old.endswith((self.folder / "c.mp3").read_bytes()))
        for more in (("--bitrate", "32"), ("-e", "gain -1dB"), ("--mp3-vbr", "2"), ("--channels", "2")):
            self.smp("convert", "-f", "a.mp3", "c.mp3", *more)
            self.smp("diff", "a.mp3", "c.mp3", status=7)
        self.smp("convert", "a.mp3", "--in-place", "--tag", "title=New")
        self.assertEqual((self.folder / "a.mp3").read_bytes()[-1000:], old[-1000:])

    def test_pictures_hold_them_or_it_is_told(self):
        self.small_png("in.png")
        for ext in ("png", "jpg"):
            self.smp("convert", "in.png", "a." + ext, "--tag", "Title=Rain")
        self.assertEqual(self.texts("a.png")[0], {"Title": "Rain"})
        self.assertIn(b"Title: Rain", (self.folder / "a.jpg").read_bytes())
        self.assertIn("texts", self.smp("convert", "in.png", "a.bmp", "--tag", "Title=Rain").stderr)
        self.assertEqual(self.smp("convert", "in.png", "a.tif", "--tag", "Title=Rain").stderr.count("Title"), 0)
        self.assertEqual(self.texts("a.tif")[0], {"Title": "Rain"})
        told = self.smp("convert", "in.png", "b.tif", "--tag", "mood=glad", "--tag", "artist=Me").stderr
        self.assertEqual(told.lower().count("mood"), 1, told)
        self.assertEqual(self.texts("b.tif")[0], {"Author": "Me"})
        self.write("cover.png", COVER)
        self.assertIn("since a picture has none: the cover",
                      self.smp("convert", "in.png", "b.png", "--cover", "cover.png").stderr)
        for words, said in ((("--tag", "title"), "name=value"), (("--tag", "=x"), "name=value"),
                            (("--tag", "\u00e9=x"), "a key of plain letters"), (("--cover", "in.txt"), "in.txt")):
            self.assertIn(said, self.smp("convert", "in.png", "c.png", *words, status=(2, 3)).stderr, words)
        self.write("no.txt", "a text")
        self.assertIn("a cover is a PNG or a JPEG",
                      self.smp("convert", "in.png", "c.png", "--cover", "no.txt", status=3).stderr)
        photo = (SAMPLES / "page.jpg").read_bytes()
        thumb = photo[:2] + b"\xff\xff\xe1" + struct.pack(">H", 6) + b"\xff\xd8\xff\xd9" + photo[2:]
        for data in (photo, thumb, thumb + bytes(20), COVER):
            end = max(data.rfind(b"\xff\xd9"), data.rfind(b"IEND"))
            self.write("whole", data)
            self.write("cut", data[:end])
            self.smp("convert", "-f", "in.png", "c.png", "--cover", "whole")
            self.assertIn("cut: error: the cover is cut off", self.smp("convert", "-f", "in.png", "c.png", "--cover",
                                                                      "cut", status=3).stderr)

    def test_tags_of_a_jpeg_are_replaced_and_dropped(self):
        self.small_png("in.png")
        self.smp("convert", "in.png", "a.jpg", "--tag", "title=One", "--tag", "MYKEY=x: y",
                 "--tag", "comment=so: it is")
        told = self.smp("convert", "a.jpg", "b.jpg", "--tag", "title=Two").stderr
        self.assertIn("tags of a JPEG are comments in it, as 'Title: Rain', and no title to other programs", told)
        self.assertEqual(self.smp("convert", "a.jpg", "d.jpg", "--tag", "comment=Two").stderr, "")
        self.assertEqual(self.texts("b.jpg")[0], {"Title": "Two", "MYKEY": "x: y", "Comment": "so: it is"})
        self.assertEqual(self.smp("info", "--format", "{title}", "b.jpg").stdout, "Two\n")
        self.smp("convert", "b.jpg", "c.jpg", "--tag", "title=")
        self.assertNotIn("Title", self.texts("c.jpg")[0])

    def test_xmp_and_exif_tell_no_other_value_than_the_one_that_is_set(self):
        info = PngInfo()
        info.add_itxt("XML:com.adobe.xmp",
                      "<x xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title><rdf:li>Old</rdf:li></dc:title>"
                      "<dc:rights>Mine</dc:rights></x>")
        camera = Image.Exif()
        camera[0x010E], camera[0x8298] = "Old words", "Mine"
        Image.new("RGB", (20, 10)).save(self.folder / "a.png", pnginfo=info, exif=camera)
        self.smp("convert", "a.png", "a.tif")
        self.smp("convert", "a.png", "a.jpg")
        for name in ("a.png", "a.tif", "a.jpg"):
            told = self.smp("convert", name, "b" + name[1:], "--tag", "title=New", "--tag", "description=Words").stderr
            data = (self.folder / ("b" + name[1:])).read_bytes()
            self.assertIn("what its XMP said of title is dropped", told)
            self.assertEqual([data.count(word) > 0 for word in (b"Old", b"New", b"Words", b"Mine")],
                             [False, True, True, True], name)
        told = self.smp("convert", "a.png", "b.webp", "--tag", "title=New").stderr  # which has XMP alone
        self.assertIn("'Title' is left out", told)
        self.assertIn(b"Old", (self.folder / "b.webp").read_bytes())
        told = self.smp("convert", "a.png", "c.webp", "--tag", "title=", "--tag", "description=").stderr
        self.assertIn("what its XMP said of title is dropped", told)
        self.assertNotIn(b"Old", (self.folder / "c.webp").read_bytes())

    def xmp(self, packet, **tags):
        """The packet of a JPEG after --tag, and what was told."""
        info = PngInfo()
        info.add_itxt("XML:com.adobe.xmp", packet)
        Image.new("RGB", (20, 10)).save(self.folder / "x.png", pnginfo=info)
        words = [word for key, value in tags.items() for word in ("--tag", f"{key}={value}")]
        told = self.smp("convert", "x.png", "x.jpg", "--force", *words).stderr
        return self.texts("x.jpg")[0]["XML:com.adobe.xmp"], told

    def test_properties_of_xmp_are_found_by_their_namespace(self):
        space, other = "'http://purl.org/dc/elements/1.1/'", '"http://ns.adobe.com/tiff/1.0/"'
        for packet, kept in (
            (f"<x xmlns:d={space}><d:title a='b'>Old</d:title><d:titles>Stay</d:titles></x>", "Stay"),
            (f"<x xmlns:d = {space} d:title = 'Old' d:rights='Mine'/>", "Mine"),
            (f"<x><title xmlns={space}>Old</title><rights>Mine</rights></x>", "Mine"),
            (f"<x xmlns:dc={space}><dc:title/><dc:rights>Mine</dc:rights><dc:title>Old</dc:title></x>", "Mine"),
            (f"<x xmlns:t={other} xmlns:a={space}><t:DocumentName>Old</t:DocumentName><a:rights>Mine</a:rights></x>",
             "Mine")):  # fmt: skip
            left, told = self.xmp(packet, title="New")
            self.assertEqual(("Old" in left, kept in left), (False, True), left)
            self.assertIn("what its XMP said of title is dropped", told)
        for packet in (f"<x xmlns:dc='http://purl.org/dc/terms/'><dc:title>Old</dc:title></x>", "xmlns", "xmlns:a=",
                       f"<x xmlns:d={space}><d:title>Old", f"<x xmlns:d={space} d:title='Old"):  # fmt: skip
            left, told = self.xmp(packet, title="New")
            self.assertEqual((left, "dropped" in told), (packet, False))

    def test_iptc_tells_no_other_value_than_the_one_that_is_set(self):
        Image.new("RGB", (20, 10)).save(self.folder / "a.jpg")
        jpeg = with_iptc((self.folder / "a.jpg").read_bytes(), (5, b"Old"), (80, b"Old One"), (80, b"Old Two"),
                         (90, b"Bern"), (120, b"Old words"), (116, b"Old rights"))  # fmt: skip
        (self.folder / "a.jpg").write_bytes(jpeg)
        for ext in ("jpg", "tif"):
            told = self.smp("convert", "a.jpg", "b." + ext, "--tag", "title=New", "--tag", "artist=", "--tag",
                            "comment=New", "--tag", "copyright=New").stderr
            data = (self.folder / ("b." + ext)).read_bytes()
            self.assertEqual([data.count(word) > 0 for word in (b"Old", b"Bern", b"New")], [False, True, True], ext)
            self.assertIn("what its IPTC said of artist is dropped, since --tag says it", told)
        (self.folder / "a.jpg").write_bytes(jpeg.replace(struct.pack(">H", 7) + b"Old Two", b"\x7f\xffOld Two"))
        told = self.smp("convert", "a.jpg", "c.jpg", "--tag", "title=New", "--tag", "copyright=New").stderr
        self.assertEqual((told.count("said of title"), told.count("said of copyright")), (1, 0))  # damage is kept
        self.assertIn(b"Old rights", (self.folder / "c.jpg").read_bytes())

    def test_both_directories_of_exif_tell_no_other_artist(self):
        camera = Image.Exif()
        camera[0x013B], camera[0x8769] = "Ann in one", {0x013B: "Bob in the other"}
        Image.new("RGB", (4, 3)).save(self.folder / "a.jpg", exif=camera)
        self.smp("convert", "a.jpg", "b.jpg", "--tag", "artist=New")
        data = (self.folder / "b.jpg").read_bytes()
        self.assertEqual([word in data for word in (b"Ann", b"Bob", b"New")], [False, False, True])

    def test_untag_drops_iptc_and_tells_what_exif_keeps(self):
        camera = Image.Exif()
        camera[0x013B], camera[0x8298] = "Me", "Mine"
        camera[0x8825] = {1: "N"}
        Image.new("RGB", (20, 10)).save(self.folder / "a.jpg", exif=camera)
        jpeg = with_iptc((self.folder / "a.jpg").read_bytes(), (5, b"Old"))
        (self.folder / "a.jpg").write_bytes(jpeg)
        for ext in ("jpg", "png", "tif", "webp"):
            told = self.smp("convert", "a.jpg", "b." + ext, "--untag").stderr
            self.assertIn("EXIF stays, with Artist, Copyright, GPS: --strip drops it", told, ext)
            self.assertNotIn("IPTC", told)
            self.assertNotIn(b"Old", (self.folder / ("b." + ext)).read_bytes(), ext)
        for words in (("c.jpg", "--untag", "--strip"), ("c.bmp", "--untag"), ("c.png", "--tag", "title=New")):
            self.assertNotIn("EXIF stays", self.smp("convert", "a.jpg", *words, "--force").stderr, words)

    def test_imagemagicks_raw_profiles_are_changed(self):
        xmp = (b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
               b'<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:title="Old"/></rdf:RDF></x:xmpmeta>')
        info = PngInfo()
        info.add_text("Raw profile type xmp", f"\nxmp\n{len(xmp):8}\n{xmp.hex()}\n", zip=True)
        Image.new("RGB", (20, 10)).save(self.folder / "a.png", pnginfo=info)
        told = self.smp("convert", "a.png", "b.png", "--tag", "title=New").stderr
        self.assertIn("what its XMP said of title is dropped, since --tag says it", told)
        texts = self.texts("b.png")[0]
        self.assertEqual((sorted(texts), texts["Title"]), (["Title", "XML:com.adobe.xmp"], "New"))
        self.assertNotIn("Old", texts["XML:com.adobe.xmp"])
        self.smp("convert", "a.png", "c.png", "--untag", "--tag", "title=New")
        self.assertEqual(self.texts("c.png")[0], {"Title": "New"})

    def test_a_whole_packet_is_no_tag(self):
        self.small_png("in.png")
        for key in ("XML:com.adobe.xmp", "xml:COM.adobe.xmp"):
            told = self.smp("convert", "in.png", "a.jpg", "--tag", key + "=zz", status=2).stderr
            self.assertIn("--tag sets one tag, as in title=Rain, and XML:com.adobe.xmp is a packet of many", told)

    def test_comments_of_no_bytes_and_of_all_that_a_marker_holds(self):
        for size, fits in ((0, True), (65533, True), (65534, False)):
            info = PngInfo()
            info.add_text("Comment", "x" * size)
            Image.new("RGB", (20, 10)).save(self.folder / "a.png", pnginfo=info)
            told = self.smp("convert", "-f", "a.png", "b.jpg").stderr
            self.assertEqual("longer than a marker of a JPEG" not in told, fits, size)
            self.assertEqual((self.folder / "b.jpg").read_bytes().count(b"\xff\xfe"), fits, size)

    def test_a_tag_that_does_not_fit_leaves_the_old_one(self):
        self.small_png("in.png")
        self.smp("convert", "in.png", "a.jpg", "--tag", "title=Old")
        before = (self.folder / "a.jpg").read_bytes()
        for words in (("a.jpg", "b.jpg"), ("a.jpg", "--in-place")):
            told = self.smp("convert", *words, "-q", "--tag", "title=" + 65530 * "x", status=(1, 4)).stderr
            self.assertIn("the tag title is longer than the 65531 bytes that a JPEG holds", told)
        self.assertEqual((self.folder / "a.jpg").read_bytes(), before)
        self.assertNotIn("b.jpg", self.files())

    def test_a_long_title_is_shown_whole(self):
        self.small_png("in.png")
        self.smp("convert", "in.png", "a.png", "--tag", "title=" + 5000 * "x")
        self.assertEqual(self.smp("info", "--format", "{title}", "a.png").stdout, 5000 * "x" + "\n")

    def test_in_place_a_tag_is_work_of_its_own(self):
        self.small_png("a.png")
        for title, said in (("One", "1 file done"), ("One", "0 files done"), ("Two", "1 file done")):
            self.assertIn(said, self.smp("convert", "a.png", "--in-place", "--tag", "Title=" + title).stderr)
        self.assertEqual(self.texts("a.png")[0], {"Title": "Two"})

    def test_a_line_in_words_of_ones_own(self):
        self.small_png("a.png", 33, 21)
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "s.wav")
        line = lambda form, name: self.smp("info", "--format", form, name).stdout
        self.assertEqual(line("{width} {height}", "a.png"), "33 21\n")
        self.assertEqual(line("{width}x{height}\\t{format}\\n{bits}", "a.png"), "33x21\tPNG\n8\n")
        self.assertTrue(self.smp("info", "s.wav", "a.png", "s.wav").stdout.endswith(
            "all 2 sounds\n  length       4.000 s\n"))
        self.assertNotIn("all", self.smp("info", "s.wav", "a.png").stdout)
        self.assertEqual(line("{duration}|{rate}|{channels}|{frames}|{width}", "s.wav"), "2.000000|16000|1|32000|\n")
        self.assertIn("'{wide}' is not a field", self.smp("info", "--format", "{wide}", "a.png", status=2).stderr)

    def test_a_title_in_whatever_place_a_picture_has_it(self):
        Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(self.folder / "a.png")
        line = lambda name, status=0: self.smp("info", "-q", "--format", "{title}|{artist}", name, status=status).stdout
        for name in ("a.jpg", "a.tif", "b.png", "a.pdf"):
            self.smp("convert", "a.png", name, "-q", "--tag", "title=R\u00e4in", "--tag", "artist=Ann")
            told = line(name, (0, 3)) if name == "a.pdf" else line(name)  # a PDF, where this build reads it
            self.assertIn(told, ("R\u00e4in|Ann\n", "") if name == "a.pdf" else ("R\u00e4in|Ann\n",), name)
        both = Image.Exif()
        both[0x9C9B], both[0x013B] = "R\u00e4in\0".encode("utf-16-le"), "Ann"
        Image.open(self.folder / "a.png").save(self.folder / "c.jpg", exif=both)
        self.assertEqual(line("c.jpg"), "R\u00e4in|Ann\n")
        both[0x013B] = "Jos\u00e9".encode("latin-1")
        for name in ("c.jpg", "c.tif"):
            Image.open(self.folder / "a.png").save(self.folder / name, exif=both)
            self.assertTrue(line(name).endswith("|Jos\u00e9\n"), name)

    def test_a_line_of_what_a_picture_shows(self):
        ways = [np.array([[(10, 20, 31)] * 9, [(40, 81, 240)] * 9], np.uint8), np.full((5, 3), 51, np.uint8),
                np.dstack([np.full((4, 4, 3), 255, np.uint8), np.zeros((4, 4), np.uint8)])]
        for array, said in zip(ways, ("27.5817% #193388\n", "20% #333333\n", "100% #ffffff\n")):
            Image.fromarray(array).save(self.folder / "a.png")
            self.assertEqual(self.smp("info", "--format", "{mean} {color}", "a.png").stdout, said)
        self.write("bad.png", (self.folder / "a.png").read_bytes()[:-40])
        told = self.smp("info", "--format", "{color}", "bad.png", SAMPLES / "chirp.wav", "a.png", status=3)
        self.assertEqual(told.stdout, "#ffffff\n")
        self.assertRegex(told.stderr, "bad.png.*\n(.*\n)*.*chirp.wav: error: .mean. and .color. are of pictures")

    def photo(self, name, taken, model):
        (self.folder / "in").mkdir(exist_ok=True)
        Image.fromarray(np.zeros((20, 30, 3), np.uint8)).save(self.folder / "in" / name, exif=exif(taken, model))

    def names(self):
        return sorted(p.name for p in (self.folder / "out").rglob("*") if p.is_file() and p.name[0] != ".")

    def test_names_of_what_the_header_says(self):
        self.photo("a.jpg", "2024:03:17 12:34:56", "X-100")
        self.photo("b.jpg", "", "")
        self.smp("convert", "in", "-o", "out", "--name", "{date} {camera} {width}x{height} {stem}.{ext}")
        self.assertEqual(self.names(), ["2024-03-17 X-100 30x20 a.jpg", "no-date no-camera 30x20 b.jpg"])
        self.assertIn("2 done before", self.smp("convert", "in", "-o", "out", "--resume", "--name",
                                                "{date} {camera} {width}x{height} {stem}.{ext}").stderr)

    def test_a_strangers_text_makes_no_folder_and_no_control_character(self):
        self.photo("a.jpg", "2024:03:17 12:34:56", "../../etc/x\x1b[31m")
        self.photo("b.jpg", "/../:..:../../../../", "..")
        self.smp("convert", "in", "-o", "out", "--name", "{camera}-{date}-{stem}.{ext}")
        for name in self.names():
            self.assertRegex(name, r"^[^./\x00-\x1f][^/\x00-\x1f]*-[ab]\.jpg$")
        self.assertEqual(len(self.names()), 2)
        self.assertEqual({p.split("/")[0] for p in self.files()}, {"in", "out"})

    def test_two_files_of_one_name_are_told_before_anything_is_written(self):
        for name in ("a.jpg", "b.jpg"):
            self.photo(name, "2024:03:17 12:34:56", "X")
        told = self.smp("convert", "in", "-o", "out", "--name", "{date}.{ext}", status=2).stderr
        self.assertIn("would both become", told)
        self.assertFalse((self.folder / "out").exists())
        self.photo("c.jpg", "2024:03:17 12:34:57", "X")
        told = self.smp("convert", "in/a.jpg", "in/c.jpg", "in/b.jpg", "-o", "out", "--name", "{date}-{time}.{ext}",
                        "--force", "--dry-run", status=2).stderr
        self.assertRegex(told, "in/a.jpg and in/b.jpg would both become out/2024-03-17-.*jpg")
        self.assertIn("did you mean {camera}?", self.smp("convert", "in", "-o", "out", "--name", "{stem}{camra}.{ext}",
                                                         status=2).stderr)

    def test_files_told_apart_by_their_headers_alone(self):
        for name, time, camera in (("a.jpg", "12:34:56", "X"), ("b.jpg", "12:34:57", "Y")):
            self.photo(name, "2024:03:17 " + time, camera)
        for pattern in ("{date}-{time}.{ext}", "{camera} {width}x{height}.{ext}"):
            self.smp("convert", "in", "-o", "out", "--name", pattern)
        self.assertEqual(len(self.names()), 4)

    def test_an_input_is_no_output_whatever_its_place_in_the_list(self):
        self.photo("b.jpg", "", "a")
        self.photo("ab.jpg", "", "")
        before = (self.folder / "in/ab.jpg").read_bytes()
        for order in (("in/b.jpg", "in/ab.jpg"), ("in/ab.jpg", "in/b.jpg")):
            told = self.smp("convert", *order, "-o", "in", "-j1", "--name", "{camera}{stem}.{ext}", "--force",
                            status=4).stderr
            self.assertIn("the output is the same file as the input in/ab.jpg", told)
            self.smp("convert", *order, "-o", "in", "-j1", "--name", "a{stem}.{ext}", "--force", status=4)
        self.assertEqual((self.folder / "in/ab.jpg").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
