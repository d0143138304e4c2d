"""Tags and cover pictures of sounds: carried from each format to each, or named when they are left out."""
import base64
import itertools
import json
import shutil
import struct
import subprocess
import unittest
import zlib

from harness import SAMPLES, CliCase, png_bytes

TAGS = {"Title": "T\u00edtel", "Artist": "Me", "Album": "Some", "Date": "2021", "TrackNumber": "3", "Genre": "Jazz",
        "Comment": "Hello", "Copyright": "CC", "ALBUMARTIST": "Others"}
COVER = png_bytes([bytes(i * 7 % 256 for i in range(600))] * 40, 200) + bytes(range(256)) * 600  # several Ogg pages


def comment(texts):
    lines = [f"{name.upper()}={value}".encode() for name, value in texts.items()]
    return struct.pack("<II", 0, len(lines)) + b"".join(struct.pack("<I", len(line)) + line for line in lines)


def picture(data, kind=3):
    return struct.pack(">II9sIIIIII", kind, 9, b"image/png", 0, 0, 0, 0, 0, len(data)) + data


def flac_with(blocks):
    """A shipped FLAC with these blocks behind its first one."""
    data = (SAMPLES / "speech.flac").read_bytes()
    at = 4
    while not data[at] & 0x80:
        at += 4 + int.from_bytes(data[at + 1:at + 4], "big")
    at += 4 + int.from_bytes(data[at + 1:at + 4], "big")
    out = b"fLaC" + bytes([0]) + data[5:42]
    for i, (kind, body) in enumerate(blocks):
        out += bytes([kind | (0x80 if i + 1 == len(blocks) else 0)]) + len(body).to_bytes(3, "big") + body
    return out + data[at:]


def packets_of(data):
    """The packets of an Ogg stream; numbers of its pages are checked."""
    at, packets, now, pages = 0, [], b"", 0
    while at < len(data):
        assert data[at:at + 4] == b"OggS" and int.from_bytes(data[at + 18:at + 22], "little") == pages
        sizes = data[at + 27:at + 27 + data[at + 26]]
        at += 27 + len(sizes)
        for size in sizes:
            now += data[at:at + size]
            at += size
            if size < 255:
                packets.append(now)
                now = b""
        pages += 1
    return packets


def syncsafe(size):
    return bytes(size >> 7 * i & 127 for i in (3, 2, 1, 0))


def frame(name, body, version=4, flags=0):
    size = syncsafe(len(body)) if version == 4 else struct.pack(">I", len(body))
    return name + size + struct.pack(">H", flags) + body


def id3(frames, version=4, flags=0):
    return b"ID3" + bytes([version, 0, flags]) + syncsafe(len(frames)) + frames


def unsynchronised(data):
    return b"".join(bytes([byte, 0]) if byte == 255 else bytes([byte]) for byte in data)


class Id3(CliCase):
    """Tags byte by byte, in front of and behind a shipped MP3."""

    def setUp(self):
        super().setUp()
        self.sound = (SAMPLES.parent / "tests/data/bare.mp3").read_bytes()
        self.write("bare.mp3", self.sound)
        done = self.smp("convert", "bare.mp3", "bare.flac", status=(0, 3, 4))
        if done.returncode:
            self.skipTest("this build reads no MP3, or writes no FLAC")

    def texts(self, front, back=b"", says=""):
        self.write("a.mp3", front + self.sound + back)
        done = self.smp("convert", "-f", "a.mp3", "a.flac")
        self.assertIn(says, done.stderr)
        if not says:
            self.assertEqual(done.stderr, "")
        found = json.loads(self.smp("info", "--json", "a.flac").stdout)["metadata"]["texts"]
        return [(text["key"], text["value"]) for text in found]

    def test_whatever_was_done_to_a_frame_is_undone(self):
        wide = b"\1" + "It\u2019s".encode("utf-16")
        title, packed = [("Title", "It\u2019s")], zlib.compress(b"\3" + b"long " * 50)
        self.assertEqual(self.texts(id3(unsynchronised(frame(b"TIT2", wide, 3)), 3, 0x80)), title)
        self.assertEqual(self.texts(id3(frame(b"TIT2", syncsafe(len(wide)) + unsynchronised(wide), 4, 3))), title)
        self.assertEqual(self.texts(id3(frame(b"TIT2", b"\1" + "It\u2019s".encode("utf-16-le"), 3), 3)), title)
        self.assertEqual(self.texts(id3(frame(b"TIT2", b"\2" + "It\u2019s".encode("utf-16-be")))), title)
        self.assertEqual(self.texts(id3(b"TT2\0\0" + bytes([len(wide)]) + wide, 2)), title)
        self.assertEqual(self.texts(id3(frame(b"TIT2", syncsafe(251) + packed, 4, 9))), [("Title", ("long " * 50))])
        self.assertEqual(self.texts(id3(frame(b"TIT2", struct.pack(">I", 251) + packed, 3, 0x80), 3)),
                         [("Title", ("long " * 50))])
        plain = frame(b"TIT2", b"\3" + b"x" * 219, 3) + frame(b"TPE1", b"\3me", 3)  # as iTunes wrote version 4
        self.assertEqual(self.texts(id3(plain)), [("Title", "x" * 219), ("Artist", "me")])
        extended = struct.pack(">IHI", 6, 0, 0) + frame(b"TIT2", b"\0a", 3)
        self.assertEqual(self.texts(id3(extended, 3, 0x40)), [("Title", "a")])

    def test_values_numbers_genres_and_dates(self):
        for body, genres in ((b"\000(17)(4)Own", ["Rock", "Disco", "Own"]), (b"\00017", ["Rock"]),
                             (b"\3RX\0Folk", ["Remix", "Folk"]), (b"\3((a)", ["(a)"]), (b"\3(999)", ["(999)"])):
            self.assertEqual(self.texts(id3(frame(b"TCON", body))), [("Genre", genre) for genre in genres])
        self.assertEqual(self.texts(id3(frame(b"TPE1", b"\3Simon\0Garfunkel") + frame(b"TRCK", b"\0003/14"))),
                         [("Artist", "Simon"), ("Artist", "Garfunkel"), ("TrackNumber", "3"), ("TRACKTOTAL", "14")])
        old = frame(b"TYER", b"\0002019", 3) + frame(b"TDAT", b"\0002403", 3) + frame(b"TIME", b"\0001530", 3)
        self.assertEqual(self.texts(id3(old, 3)), [("Date", "2019-03-24T15:30")])
        said = frame(b"COMM", b"\0engiTunNORM\0 0340") + frame(b"COMM", b"\0eng\0hello")
        self.assertEqual(self.texts(id3(said)), [("COMMENT:iTunNORM", " 0340"), ("Comment", "hello")])

    def test_of_several_tags_each_gives_what_the_better_has_not(self):
        items = [(0, b"Title", b"Other"), (0, b"Artist", b"One\0Two"), (2, b"Log", b"\1"), (0, b"Track", b"2/9")]
        body = b"".join(struct.pack("<II", len(v), flags) + k + b"\0" + v for flags, k, v in items)
        ends = [b"APETAGEX" + struct.pack("<IIII", 2000, len(body) + 32, 4, flags) + bytes(8)
                for flags in (0xA0000000, 0x80000000)]
        ape = ends[0] + body + ends[1]
        old = b"TAG" + b"A title".ljust(30, b"\0") + bytes(60) + b"1999" + bytes(30) + b"\x11"
        numbers = [("TrackNumber", "2"), ("TRACKTOTAL", "9")]
        lost = "items of its APE tag are left out, which are not text: Log"
        artists = [("Artist", "One"), ("Artist", "Two")]
        self.assertEqual(self.texts(b"", ape, lost), [("Title", "Other"), *artists, *numbers])
        found = self.texts(id3(frame(b"TIT2", b"\3Best")), ape + old, lost)
        self.assertEqual(found, [("Title", "Best"), *artists, *numbers, ("Date", "1999"), ("Genre", "Rock")])
        self.assertIn("of its other tag other values than those of the tag that is kept are left out: Title",
                      self.smp("convert", "-f", "a.mp3", "a.flac").stderr)
        back = id3(frame(b"TIT2", b"\3Behind"), 4, 0x10)
        self.assertEqual(self.texts(b"", back + b"3DI" + back[3:10]), [("Title", "Behind")])

    def test_a_value_that_begins_as_another_is_told(self):
        """Only ID3v1 cuts its texts."""
        value = b"1"
        body = struct.pack("<II", len(value), 0) + b"Track\0" + value
        ape = body + b"APETAGEX" + struct.pack("<IIII", 2000, len(body) + 32, 1, 0) + bytes(8)
        self.assertEqual(self.texts(id3(frame(b"TRCK", b"\00012")), ape, "that is kept are left out: TrackNumber"),
                         [("TrackNumber", "12")])
        old = b"TAG" + b"A ti".ljust(30, b"\0") + bytes(94) + b"\xff"
        self.assertEqual(self.texts(id3(frame(b"TIT2", b"\0A title")), old), [("Title", "A title")])

    def test_damage_is_told(self):
        title = frame(b"TIT2", b"\0A title")
        told = "tag is damaged: what lies behind the damage is left out"
        for frames in (title + b"TPE1\0\0\1\0\0\0\0Me", title + b"?" + frame(b"TPE1", b"\0Me")):
            self.assertEqual(self.texts(id3(frames), b"", f"ID3 {told}"), [("Title", "A title")])
        items = struct.pack("<II", 1, 0) + b"Title\0A" + struct.pack("<II", 999, 0) + b"Artist\0B"
        ape = items + b"APETAGEX" + struct.pack("<IIII", 2000, len(items) + 32, 2, 0) + bytes(8)
        self.assertEqual(self.texts(b"", ape, f"APE {told}"), [("Title", "A")])
        for size in (0, 31, 1 << 31):
            ape = items + b"APETAGEX" + struct.pack("<IIII", 2000, size, 2, 0) + bytes(8)
            self.texts(id3(title), ape, "its APE tag is damaged: it is left out")
        cover = struct.pack("<II", 4, 2) + b"Cover Art (Front)\0abcd"
        ape = cover + b"APETAGEX" + struct.pack("<IIII", 2000, len(cover) + 32, 1, 0) + bytes(8)
        self.texts(id3(title), ape, "which are not text: Cover Art (Front)")

    def test_a_tag_that_is_too_large_is_named_and_others_stay(self):
        large = frame(b"USLT", b"\0eng\0" + b"x" * (1 << 20) + b"y")
        told = "its tag LYRICS of 1048577 bytes is left out"
        self.assertEqual(self.texts(id3(large + frame(b"TIT2", b"\0A")), b"", told), [("Title", "A")])

    def test_an_mp3_of_an_mp3_has_the_same_frames(self):
        if self.smp("convert", "bare.mp3", "b.mp3", status=(0, 4)).returncode:
            self.skipTest("this build writes no MP3")
        kept = [frame(name, b"\3v") for name in (b"TBPM", b"TSRC", b"TPUB", b"TCMP", b"TEXT", b"TPE3", b"TIT1", b"TLAN",
                                                 b"TSOP", b"TKEY", b"TMOO", b"TMED", b"TSSE")]
        kept += [frame(b"TDOR", b"\0031999"), frame(b"TIPL", b"\3producer\0A\0mascot\0B"), frame(b"PRIV", b"o\0\1"),
                 frame(b"RVA2", b"t\0\1\0\1\0"), frame(b"COMM", b"\3deud\0text"), frame(b"WOAR", b"http://a"),
                 frame(b"TXXX", b"\3My\0v\0w"), frame(b"TRCK", b"\00303/14"), frame(b"XYZQ", b"\1\2")]
        self.write("a.mp3", id3(b"".join(kept)) + self.sound)
        self.assertEqual(self.smp("convert", "-f", "a.mp3", "b.mp3").stderr, "")
        data = (self.folder / "b.mp3").read_bytes()
        for one in kept:
            self.assertIn(one, data)
        self.assertEqual(data.count(b"TXXX"), 1)
        done = self.smp("run", "-f", "-e", "gain -1dB", "a.mp3", "b.mp3")
        self.assertIn("1 tag of its loudness (ReplayGain, R 128) is left out", done.stderr)
        self.assertNotIn(b"RVA2", (self.folder / "b.mp3").read_bytes())
        self.write("c.mp3", id3(frame(b"CHAP", b"c\0" + bytes(16))) + self.sound)
        self.assertIn("about times", self.smp("run", "-f", "-e", "trim end=0.5s", "c.mp3", "b.mp3").stderr)
        self.write("c.mp3", id3(frame(b"TLEN", b"\0035000")) + self.sound)
        self.smp("run", "-f", "-e", "gain -1dB", "c.mp3", "b.mp3")
        self.assertIn(b"TLEN", (self.folder / "b.mp3").read_bytes())
        self.assertIn("about times", self.smp("run", "-f", "-e", "trim end=0.5s", "c.mp3", "b.mp3").stderr)
        self.assertNotIn(b"TLEN", (self.folder / "b.mp3").read_bytes())
        self.smp("split", "c.mp3", "--every", "0.1", "-o", "parts")
        self.assertNotIn(b"TLEN", next((self.folder / "parts").iterdir()).read_bytes())

    def test_damaged_tags_harm_nothing(self):
        whole = id3(frame(b"TIT2", b"\1\xff") + frame(b"APIC", b"\0a") + frame(b"TRCK", b"\0") +
                    frame(b"COMM", b"\0en") + frame(b"TCON", b"\0(") + frame(b"TIPL", b"\3mix") +
                    frame(b"WXXX", b"\0") + frame(b"CHAP", b"") + frame(b"TALB", b"\0\0\0\5bad", 4, 9))
        for cut in range(10, len(whole), 7):
            self.write("a.mp3", whole[:6] + syncsafe(cut - 10) + whole[10:cut] + self.sound)
            self.smp("convert", "-f", "a.mp3", "a.flac")


class Tags(CliCase):
    def setUp(self):
        super().setUp()
        formats = self.smp("help", "formats").stdout
        rows = {row.split()[0]: row for row in formats.splitlines() if row.startswith("  ") and len(row.split()) > 2}
        if "read, written" not in rows["FLAC"]:
            self.skipTest("this build has no libsndfile")
        self.extensions = ["flac", "ogg", "opus"] + ["mp3"] * ("read, written" in rows.get("MP3", ""))
        self.write("in.flac", flac_with([(4, comment(TAGS)), (6, picture(COVER))]))
        self.smp("run", "-e", "resample 24kHz", "in.flac", "first.flac")

    def tags(self, name):
        said = self.smp("info", "-v", name).stdout.splitlines()
        rows = (row.strip().removeprefix("text").strip().split(": ", 1) for row in said)
        return {row[0].upper(): row[1] for row in rows if len(row) == 2}

    def cover(self, name):
        data = (self.folder / name).read_bytes()
        if name.endswith(("ogg", "opus")):
            packet = packets_of(data)[1]
            at = packet.index(b"METADATA_BLOCK_PICTURE=")
            length = int.from_bytes(packet[at - 4:at], "little")
            block = base64.b64decode(packet[at + 23:at + length])
            self.assertEqual(block[8:17], b"image/png")
            return block[-len(COVER):]
        at = data.index(COVER)
        self.assertIn(b"image/png", data[:at])
        return data[at:at + len(COVER)]

    def test_names_that_ffmpeg_gives_a_caf_are_known(self):
        body = struct.pack(">I", 3) + b"comment\0Hello\0date\x002021\0track\x003\0"
        desc = struct.pack(">d4sIIIII", 8000, b"lpcm", 0, 2, 1, 1, 16)
        chunks = ((b"desc", desc), (b"info", body), (b"data", bytes(4 + 200)))
        self.write("a.caf", b"caff\0\1\0\0" + b"".join(name + struct.pack(">Q", len(data)) + data
                                                       for name, data in chunks))
        self.assertEqual(self.smp("convert", "a.caf", "a.wav").stderr, "")
        self.assertIn(b"Hello", (self.folder / "a.wav").read_bytes())
        told = self.smp("info", "a.wav").stdout
        for name in ("Comment", "Date", "TrackNumber"):
            self.assertIn(name, told)

    @unittest.skipUnless(shutil.which("exiftool"), "needs exiftool")
    def test_exiftool_finds_nothing_wrong(self):
        """It wants bytes behind the last frame of a tag, where that is longer than 127 bytes."""
        for name in ("a.wav", "a.aiff", *(f"a.{e}" for e in self.extensions)):
            self.smp("convert", "-q", "in.flac", name, "-e", "resample 24kHz", "--tag", "foo=" + 200 * "x")
            told = subprocess.run(("exiftool", "-s", "-warning", "-title", name), cwd=self.folder, text=True,
                                  capture_output=True, check=True)
            self.assertNotIn("Warning", told.stdout, name)

    def test_every_pair_carries_tags_and_cover(self):
        want = {key.upper(): value for key, value in TAGS.items()}
        for first in self.extensions:
            self.smp("convert", "first.flac", f"a.{first}")
        for first, second in itertools.product(self.extensions, repeat=2):
            done = self.smp("convert", "-f", f"a.{first}", f"b.{second}")
            self.assertEqual(done.stderr, "", f"{first} to {second}")
            found = self.tags(f"b.{second}")
            self.assertEqual({key: found.get(key) for key in want}, want, f"{first} to {second}")
            self.assertTrue(self.cover(f"b.{second}") == COVER, f"{first} to {second}")
        for name in (f"a.{e}" for e in self.extensions):  # what lies in front of a sound does not change it
            self.smp("convert", "-f", "--strip", "first.flac", "bare." + name[2:])
            for source, target in ((name, "x.wav"), ("bare." + name[2:], "y.wav")):
                self.smp("convert", "-f", "--strip", source, target)
            self.assertTrue((self.folder / "x.wav").read_bytes() == (self.folder / "y.wav").read_bytes(), name)
            self.assertNotIn(b"Title", (self.folder / ("bare." + name[2:])).read_bytes())

    def test_what_has_no_place_is_named(self):
        for target in ("a.caf", "a.w64"):
            self.assertIn("the cover picture", self.smp("convert", "in.flac", target).stderr)
            self.assertEqual(self.smp("convert", "-f", "--strip", "in.flac", target).stderr, "")
        said = self.smp("convert", "-f", "in.flac", "a.w64").stderr
        self.assertIn("Date, TrackNumber, Genre, Comment, Copyright, ALBUMARTIST, the cover", said)
        names = [f"FIELD_NUMBER_{i:02}" for i in range(40)]
        self.write("many.flac", flac_with([(4, comment({name: "v" for name in names}))]))
        said = self.smp("convert", "many.flac", "b.w64").stderr
        named = [name for name in names if name in said]
        self.assertGreater(len(named), 5)
        self.assertIn(f"{named[-1]} and {40 - len(named)} others are left out, which a W64 has no place for", said)
        self.assertEqual(self.smp("run", "-e", "spectrogram", "in.flac", "a.png").stderr, "")

    def test_levels_that_are_no_longer_right_are_left_out(self):
        levels = {"Title": "T", "REPLAYGAIN_TRACK_GAIN": "-3.21 dB", "replaygain_track_peak": "0.9",
                  "R128_ALBUM_GAIN": "256"}
        self.write("in.flac", flac_with([(4, comment(levels))]))
        names = {name.upper() for name in levels}
        says = "warning: o.flac: 3 tags of its loudness (ReplayGain, R 128) are left out: stages changed its samples"
        for stages, kept in ((("normalize peak=-3dBFS",), False), (("gain -6dB", "trim end=1s"), False),
                             (("lowpass 3kHz",), False), (("mix by=@input",), False), (("resample 16kHz",), True),
                             (("trim end=1s", "reverse"), True), (("dither",), True), (("stats",), True)):
            done = self.smp("run", "-f", *(part for stage in stages for part in ("-e", stage)), "in.flac", "o.flac")
            self.assertEqual(set(self.tags("o.flac")) & names, names if kept else {"TITLE"}, stages)
            self.assertEqual(says in done.stderr, not kept, stages)
        self.assertIn("loudness", self.smp("batch", "-e", "gain -6dB", "in.flac", "-o", "out").stderr)
        self.smp("concat", "in.flac", "-o", "one.flac")
        self.assertEqual(set(self.tags("one.flac")) & names, names)
        self.assertIn("both.flac: 3 tags of the first one's loudness",
                      self.smp("concat", "in.flac", "in.flac", "-o", "both.flac").stderr)
        self.assertEqual(set(self.tags("both.flac")) & names, {"TITLE"})

    @unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
    def test_tags_of_what_ffmpeg_reads_are_kept(self):
        texts = {"TITLE": "T", "ISRC": "XX123", "PUBLISHER": "Us", "REPLAYGAIN_TRACK_GAIN": "-3 dB"}
        for name in ("a.oga", "a.mka"):
            subprocess.run(("ffmpeg", "-v", "error", "-i", "in.flac", "-map", "0:a", "-map_metadata", "-1", "-c:a",
                            "flac", *(part for key, value in texts.items() for part in ("-metadata", f"{key}={value}")),
                            name), cwd=self.folder, check=True, stderr=subprocess.DEVNULL)
            done = self.smp("convert", "-f", name, "b.flac", status=(0, 3))
            if "FFmpeg's libraries" in done.stderr:
                self.skipTest("this build, or machine, reads nothing through FFmpeg's libraries")
            found = self.tags("b.flac")
            self.assertEqual({key: found.get(key) for key in texts}, texts, name)
            self.assertFalse({"DURATION", "ENCODER"} & set(found), name)

    def test_all_pictures_are_kept_with_type_and_description(self):
        words = "R\u00fcckseite".encode()
        back = struct.pack(">II9sI", 4, 9, b"image/gif", len(words)) + words + struct.pack(">IIIII", 0, 0, 0, 0, 9) + \
            b"GIF89a123"
        self.write("two.flac", flac_with([(6, back), (6, picture(COVER)), (4, comment(TAGS))]))
        for target in [f"p.{e}" for e in self.extensions] + ["p.wav", "p.aiff"]:
            self.smp("run", "-e", "resample 24kHz", "two.flac", target)
            self.assertEqual(self.smp("convert", "-f", target, "q.flac").stderr.count("left out"), 0)
            data = (self.folder / "q.flac").read_bytes()
            self.assertIn(back, data, target)
            self.assertTrue(self.cover("q.flac") == COVER, target)
        said = self.smp("info", "-v", "two.flac").stdout
        self.assertRegex(said, "picture +9 bytes, image/gif, R\u00fcckseite")
        self.assertIn("2 pictures are left out, which a CAF has no place for",
                      self.smp("convert", "two.flac", "a.caf").stderr.replace("and ", ""))

    def test_lists_and_pictures_that_are_damaged_are_told(self):
        self.write("bad.flac", flac_with([(4, comment({"metadata_block_picture": "AAAA", "Title": "A"}))]))
        self.assertIn("a picture of its tags is damaged, and left out", self.smp("convert", "bad.flac", "a.wav").stderr)
        info = b"INFOINAM" + struct.pack("<I", 2) + b"A\0IART" + struct.pack("<I", 99) + b"B\0"
        wav = (self.folder / "a.wav").read_bytes() + b"LIST" + struct.pack("<I", len(info)) + info
        self.write("b.wav", wav[:4] + struct.pack("<I", len(wav) - 8) + wav[8:])
        self.assertIn("list of tags (INFO) is damaged", self.smp("convert", "b.wav", "c.wav").stderr)

    def test_damaged_tags_harm_nothing(self):
        whole = comment(TAGS)
        self.smp("convert", "in.flac", "b.wav", "--strip")
        for i, body in enumerate((whole[:9], whole[:40], b"\xff" * 30, struct.pack("<II", 0, 2**32 - 1) + whole[8:],
                                  struct.pack("<I", 2**32 - 4) + whole, b"")):
            self.write("bad.flac", flac_with([(4, body), (6, picture(COVER)[:20 + i]), (6, b"\xff" * 40)]))
            done = self.smp("convert", "-f", "bad.flac", "a.wav", "--strip", status=(0, 3))
            if done.returncode:  # libFLAC is strict
                self.assertFalse((self.folder / "a.wav").exists())
            else:
                self.assertTrue((self.folder / "a.wav").read_bytes() == (self.folder / "b.wav").read_bytes())


if __name__ == "__main__":
    unittest.main()
