"""Tags of sounds against mutagen: random sets through each pair of formats. What does not arrive is named, or counted,
in a warning. SMP_TAG_SETS=500 makes so many sets of each pair."""
import base64
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import mutagen
    from mutagen import id3
    from mutagen.aiff import AIFF
    from mutagen.apev2 import APEv2
    from mutagen.flac import FLAC, Picture
    from mutagen.mp4 import MP4, MP4Cover, MP4FreeForm
    from mutagen.oggopus import OggOpus
    from mutagen.oggvorbis import OggVorbis
    from mutagen.wave import WAVE
except ImportError:
    mutagen = None

PROGRAM = os.environ.get("SMEMPIPE", "")
COUNT = int(os.environ.get("SMP_TAG_SETS", "6"))  # of sets
PNG = b"\x89PNG\r\n\x1a\n" + bytes(60)
JPEG = b"\xff\xd8\xff\xe0" + bytes(50)

# The key of each format's name; a set is {key: [values]}, with "picture" and "frame:NAME" besides.
FRAMES = {"TIT2": "TITLE", "TPE1": "ARTIST", "TALB": "ALBUM", "TCON": "GENRE", "TCOP": "COPYRIGHT",
          "TPE2": "ALBUMARTIST", "TCOM": "COMPOSER", "TEXT": "LYRICIST", "TPE3": "CONDUCTOR", "TPE4": "REMIXER",
          "TIT1": "GROUPING", "TIT3": "SUBTITLE", "TBPM": "BPM", "TSRC": "ISRC", "TPUB": "PUBLISHER",
          "TLAN": "LANGUAGE", "TENC": "ENCODED-BY", "TCMP": "COMPILATION", "TMED": "MEDIA", "TMOO": "MOOD",
          "TKEY": "INITIALKEY", "TSOT": "TITLESORT", "TSOP": "ARTISTSORT", "TSOA": "ALBUMSORT",
          "TSO2": "ALBUMARTISTSORT", "TSOC": "COMPOSERSORT", "TOPE": "ORIGINALARTIST", "TOAL": "ORIGINALALBUM",
          "TSST": "DISCSUBTITLE", "TDRC": "DATE", "TDOR": "ORIGINALDATE", "WOAR": "ARTISTWEBPAGE",
          "WCOP": "COPYRIGHTURL"}
ATOMS = {"\xa9nam": "TITLE", "\xa9ART": "ARTIST", "\xa9alb": "ALBUM", "\xa9gen": "GENRE", "cprt": "COPYRIGHT",
         "aART": "ALBUMARTIST", "\xa9wrt": "COMPOSER", "\xa9grp": "GROUPING", "\xa9day": "DATE", "\xa9cmt": "COMMENT",
         "\xa9lyr": "LYRICS", "sonm": "TITLESORT", "soar": "ARTISTSORT", "soal": "ALBUMSORT",
         "soaa": "ALBUMARTISTSORT", "soco": "COMPOSERSORT", "\xa9con": "CONDUCTOR", "\xa9pub": "PUBLISHER",
         "tmpo": "BPM", "cpil": "COMPILATION"}
MORE_ATOMS = {"\xa9mvn": "MOVEMENTNAME", "\xa9wrk": "WORK", "\xa9ope": "ORIGINALARTIST", "desc": "PODCASTDESC"}
APE = {"Year": "DATE", "Track": "TRACKNUMBER", "Disc": "DISCNUMBER", "Album Artist": "ALBUMARTIST",
       "MixArtist": "REMIXER", "EncodedBy": "ENCODED-BY"}
NUMBERS = ("TRACKNUMBER", "TRACKTOTAL", "DISCNUMBER", "DISCTOTAL", "BPM", "COMPILATION")
FREE = ("MUSICBRAINZ_ALBUMID", "My Own", "REPLAYGAIN_TRACK_GAIN", "Ol\u00e9", "CATALOGNUMBER", "FIELD_A", "FIELD_B")
LETTERS = "abc XYZ 019 /;,()'\"\u00e9\u00df\u4e2d\U0001f3b5"


class Sets:
    """Random sets, in a format's own names."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def text(self, letters=LETTERS):
        inner = "".join(self.rng.choice(letters) for _ in range(self.rng.randrange(0, 24)))
        return "v" + inner + "w"

    def value(self, key):
        if key in NUMBERS:
            return str(self.rng.randrange(1, 2 if key == "COMPILATION" else 99))
        if key in ("DATE", "ORIGINALDATE"):
            return self.rng.choice(("1999", "2021-05", "2021-05-03"))
        if key in ("ARTISTWEBPAGE", "COPYRIGHTURL"):
            return "http://a.example/" + str(self.rng.randrange(99))
        if key == "GENRE" and self.rng.random() < .3:
            return "Rock"
        return self.text()

    def values(self, key, several=True):
        one = key in NUMBERS or key in ("DATE", "ORIGINALDATE", "ARTISTWEBPAGE", "COPYRIGHTURL")
        count = self.rng.choice((1, 1, 1, 2, 3)) if several and not one else 1
        return list(dict.fromkeys(self.value(key) for _ in range(count)))

    def some(self, of, most=8):
        return self.rng.sample(sorted(of), self.rng.randrange(0, min(most, len(of)) + 1))

    def id3(self, tag):
        rng = self.rng
        for name in self.some(FRAMES):
            values = self.values(FRAMES[name])
            if name[0] == "W":
                tag.add(getattr(id3, name)(url=values[0]))
            else:
                tag.add(getattr(id3, name)(encoding=rng.choice((1, 2, 3)), text=values))
        for name in self.some(FREE, 3):
            tag.add(id3.TXXX(encoding=3, desc=name, text=self.values(name)))
        if rng.random() < .5:
            tag.add(id3.TRCK(encoding=0, text=[rng.choice(("3", "3/14", "07/12"))]))
        for desc in self.some(("", "iTunNORM", "mine"), 2):
            tag.add(id3.COMM(encoding=1, lang=rng.choice(("eng", "deu", "XXX")), desc=desc, text=[self.text()]))
        if rng.random() < .3:
            tag.add(id3.USLT(encoding=3, lang="eng", desc=rng.choice(("", "d")), text=self.text() + "\n" + self.text()))
        if rng.random() < .3:
            tag.add(id3.TIPL(encoding=3, people=[["producer", self.text()], ["mascot", self.text()]]))
        if rng.random() < .3:
            tag.add(id3.TMCL(encoding=3, people=[["violin", self.text()], ["horn", self.text()]]))
        for i in range(rng.choice((0, 0, 1, 2))):
            tag.add(id3.APIC(encoding=3, mime="image/png", type=3 + i, desc=f"d{i}", data=PNG + bytes([i])))
        frames = (id3.PRIV(owner="o", data=b"\1\2"), id3.POPM(email="m", rating=9, count=3), id3.MCDI(data=b"toc"),
                  id3.RVA2(desc="track", channel=1, gain=-3.5, peak=.9), id3.UFID(owner="http://o", data=b"id"),
                  id3.GEOB(encoding=3, mime="a/b", filename="f", desc="d", data=b"x"), id3.PCNT(count=7),
                  id3.CHAP(element_id="c", start_time=0, end_time=9, sub_frames=[id3.TIT2(encoding=3, text=["c"])]))
        for frame in self.some(range(len(frames)), 2):
            tag.add(frames[frame])

    def comments(self, tag, pictures):
        keys = list(FRAMES.values()) + ["COMMENT", "LYRICS", "TRACKNUMBER", "TRACKTOTAL", "DISCNUMBER", "DISCTOTAL",
                                        "DESCRIPTION", "PERFORMER"] + [name for name in FREE if name.isascii()]
        for key in self.some(keys, 12):
            tag[key] = self.values(key)
        for i in range(self.rng.choice((0, 0, 1, 2)) if pictures else 0):
            picture = Picture()
            picture.type, picture.mime, picture.desc = 3 + i, "image/jpeg", f"d\u00e9{i}"
            picture.data = JPEG + bytes([i])
            tag.add_picture(picture)

    def atoms(self, tag):
        for name in self.some(ATOMS):
            values = self.values(ATOMS[name])
            tag[name] = [int(values[0])] if name == "tmpo" else True if name == "cpil" else values
        if self.rng.random() < .5:
            tag["trkn"] = [(3, self.rng.choice((0, 14)))]
        for name in self.some(FREE, 3):
            tag["----:com.apple.iTunes:" + name] = [MP4FreeForm(value.encode()) for value in self.values(name)]
        if self.rng.random() < .4:
            tag["covr"] = [MP4Cover(PNG, MP4Cover.FORMAT_PNG), MP4Cover(JPEG)][:self.rng.choice((1, 2))]

    def ape(self, tag):
        for key in self.some(("Title", "Artist", "Album", "Genre", "Comment", "Composer", "ISRC", *APE, "My Own"), 8):
            tag[key] = self.values(APE.get(key, key.upper()))


def upright(key, value):
    """Pairs of a key and a value, as any format may say them."""
    if key in ("TRACKNUMBER", "DISCNUMBER") and re.fullmatch(r"\d+/\d+", value):
        number, total = value.split("/")
        return {(key, number), (key[:-6] + "TOTAL", total)}
    return {({"DESCRIPTION": "COMMENT", "YEAR": "DATE"}.get(key, key), value)}


def pairs_of_chapters(chapters):
    """Starts in seconds and titles, as a list of comments has them."""
    return {pair for i, (start, title) in enumerate(chapters, 1)
            for pair in ((f"CHAPTER{i:03}", f"00:00:{start:06.3f}"), (f"CHAPTER{i:03}NAME", title))}


def pairs_of_id3(tag):
    pairs = pairs_of_chapters([(one.start_time / 1000, str(one.sub_frames["TIT2"]))
                               for one in (tag.getall("CHAP") if tag else ())])
    for frame in tag.values() if tag else ():
        name = frame.FrameID
        if name in ("CHAP", "CTOC"):
            continue
        if name in FRAMES:
            key, values = FRAMES[name], [frame.url] if name[0] == "W" else [str(v) for v in frame.text]
        elif name == "TXXX":
            key, values = frame.desc.upper(), frame.text
        elif name in ("TRCK", "TPOS"):
            key, values = {"TRCK": "TRACKNUMBER", "TPOS": "DISCNUMBER"}[name], [str(v) for v in frame.text]
        elif name in ("COMM", "USLT"):
            plain = {"COMM": "COMMENT", "USLT": "LYRICS"}[name]
            key = plain + (":" + frame.desc.upper() if frame.desc else "")
            values = list(frame.text) if name == "COMM" else [frame.text]
            if frame.lang not in ("eng", "XXX"):
                pairs.add(("LANGUAGE OF " + key, frame.lang))
        elif name in ("TIPL", "TMCL"):
            roles = {"producer": "PRODUCER"} if name == "TIPL" else {}
            prefix = "INVOLVED:" if name == "TIPL" else "PERFORMER:"
            pairs |= {(roles.get(role, (prefix + role).upper()), who) for role, who in frame.people}
            continue
        elif name == "APIC":
            pairs.add(("PICTURE", (int(frame.type), frame.mime, frame.desc, frame.data)))
            continue
        elif name == "TSSE":
            continue
        else:
            key, values = "FRAME " + name, [repr(frame)]
        for value in values:
            pairs |= upright(key, value)
    return pairs


def pairs_of_comments(tag, pictures):
    pairs = set()
    for key, value in tag.tags or ():
        if key.upper() not in ("METADATA_BLOCK_PICTURE", "ENCODER", "SOFTWARE"):
            pairs |= upright(key.upper(), value)
    for picture in pictures:
        pairs.add(("PICTURE", (picture.type, picture.mime, picture.desc, picture.data)))
    return pairs


def is_utf8(name):
    """Whether a name that mutagen took for Latin-1 is UTF-8."""
    try:
        return bool(name.encode("latin-1").decode())
    except UnicodeDecodeError:
        return False


def pairs_of_atoms(tag):
    pairs = pairs_of_chapters([(one.start, one.title) for one in tag.chapters or ()])
    for name, values in (tag.tags or {}).items():
        if name == "covr":
            pairs |= {("PICTURE", (None, None, None, bytes(data))) for data in values}
        elif name in ("trkn", "disk"):
            keys = ("TRACKNUMBER", "TRACKTOTAL") if name == "trkn" else ("DISCNUMBER", "DISCTOTAL")
            pairs |= {(key, str(v)) for pair in values for key, v in zip(keys, pair) if v}
        elif name.startswith("----"):
            own = name.split(":", 2)[2]
            if is_utf8(own):
                own = own.encode("latin-1").decode()
            pairs |= set().union(*(upright(own.upper(), bytes(v).decode()) for v in values))
        elif name in ATOMS or name in MORE_ATOMS:
            values = values if isinstance(values, list) else [int(values)]
            pairs |= {((ATOMS | MORE_ATOMS)[name], str(v)) for v in values}
    return pairs


def ogg_pictures(tag):
    return [Picture(base64.b64decode(v)) for v in tag.get("metadata_block_picture", [])]


def pairs_of_info(paths):
    """What has no reader in mutagen: by the program's own. {path: pairs}"""
    said = subprocess.run((PROGRAM, "info", "--json", *paths), capture_output=True, text=True, check=True).stdout
    rows = [json.loads(row) for row in said.splitlines()]
    return {pathlib.Path(row["file"]): set().union(*(upright(text["key"].upper(), text["value"])
                                                     for text in row["metadata"]["texts"])) for row in rows}


def read(path):
    kind = path.suffix[1:]
    if kind == "mp3":
        try:
            return pairs_of_id3(id3.ID3(path))
        except id3.ID3NoHeaderError:
            return set()
    if kind in ("wav", "aiff"):
        return pairs_of_id3((WAVE if kind == "wav" else AIFF)(path).tags)
    if kind == "flac":
        tag = FLAC(path)
        return pairs_of_comments(tag, tag.pictures)
    if kind in ("ogg", "opus"):
        tag = (OggVorbis if kind == "ogg" else OggOpus)(path)
        return pairs_of_comments(tag, ogg_pictures(tag))
    return pairs_of_atoms(MP4(path)) if kind == "m4a" else set()


def same_picture(one, other):
    return one[3] == other[3] and all(a is None or b is None or a == b for a, b in zip(one[:3], other[:3]))


def told(pair, stderr):
    key, value = pair
    if key == "PICTURE":
        return re.search(r"picture", stderr)
    if key.startswith("CHAPTER"):
        return "its list of chapters" in stderr
    if key.startswith("FRAME "):
        return key.split()[1] in stderr
    if key.startswith("LANGUAGE OF "):
        return f"the language '{value}'" in stderr
    names = {"COMMENT": "(COMMENT|DESCRIPTION)", "DATE": "(DATE|YEAR)"}.get(key, re.escape(key))
    return re.search(r"(^|[ :])" + names + r"(,| and| is| are|$)", stderr, re.I | re.M)


def lost(before, after, stderr):
    """What did not arrive: (silently, told)."""
    pictures = [p[1] for p in after if p[0] == "PICTURE"]
    missing = {p for p in before - after if p[0] != "PICTURE" or not any(same_picture(p[1], o) for o in pictures)}
    gone = {key for key, _ in missing}  # with its language
    missing = {p for p in missing if not (p[0].startswith("LANGUAGE OF ") and p[0][12:] in gone)}
    silent = {p for p in missing if not told(p, stderr)}
    others = sum(int(n) for n in re.findall(r"and (\d+) other", stderr))
    if len({key for key, _ in silent}) <= others:
        silent = set()
    return silent, missing - silent


@unittest.skipUnless(mutagen and shutil.which("ffmpeg"), "needs mutagen and ffmpeg")
class Tags(unittest.TestCase):
    SOURCES = ("mp3", "mp3v3", "ape3", "flac", "ogg", "opus", "wav", "aiff", "m4a")
    TARGETS = ("mp3", "flac", "ogg", "opus", "wav", "aiff", "caf", "w64", "m4a")

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        made = {"mp3": ("libmp3lame",), "flac": ("flac",), "ogg": ("libvorbis",), "opus": ("libopus",),
                "wav": ("pcm_s16le",), "aiff": ("pcm_s16be",), "m4a": ("alac",)}
        for kind, coder in made.items():
            subprocess.run(("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=r=48000:d=0.05", "-map_metadata", "-1",
                            "-fflags", "+bitexact", "-c:a", *coder, cls.folder / f"bare.{kind}"), check=True)
        for kind in ("flac", "ogg", "opus"):
            mutagen.File(cls.folder / f"bare.{kind}").delete()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def make(self, kind, name, sets):
        """A tagged file, and the pairs that mutagen reads of it."""
        ending = {"mp3v3": "mp3", "ape3": "mp3"}.get(kind, kind)
        path = self.folder / kind / f"{name}.{ending}"
        shutil.copy(self.folder / f"bare.{ending}", path)
        if ending == "mp3":
            id3.delete(path)
        if kind == "ape3":
            tag = APEv2()
            sets.ape(tag)
            tag.save(path)
            items = [(APE.get(k, k.upper()), v) for k, vs in tag.items() for v in vs]
            return set().union(*(upright(key, value) for key, value in items))
        if ending == "mp3":
            tag = id3.ID3()
            sets.id3(tag)
            if kind == "mp3v3":
                tag.update_to_v23()
                tag.save(path, v2_version=3, v23_sep=None)
            else:
                tag.save(path)
        elif ending in ("wav", "aiff"):
            file = (WAVE if ending == "wav" else AIFF)(path)
            file.add_tags()
            sets.id3(file.tags)
            file.save()
        elif ending == "m4a":
            file = MP4(path)
            sets.atoms(file)
            file.save()
        else:
            file = mutagen.File(path)
            sets.comments(file, ending == "flac")
            file.save()
        return read(path) | (pairs_of_info([path])[path] if ending in ("wav", "aiff") else set())

    def convert(self, source, target):
        """Names without an ending, and what warnings say of each."""
        done = subprocess.run((PROGRAM, "convert", "-f", source, "-o", f"to-{target}", "--to", target, "--report", "r",
                               "-q"), cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = (json.loads(row) for row in (self.folder / "r").read_text().splitlines())
        return {pathlib.Path(row["input"]).stem: " ".join(row.get("input_notes", []) + row.get("output_notes", []))
                for row in rows}

    def test_no_tag_is_lost_without_a_word(self):
        for number, source in enumerate(self.SOURCES):
            (self.folder / source).mkdir()
            sets = {f"{i:03}": Sets(1000 * number + i) for i in range(COUNT)}
            before = {name: self.make(source, name, one) for name, one in sets.items()}
            for target in self.TARGETS:
                said = self.convert(source, target)
                self.assertEqual(set(said), set(sets))
                paths = {name: self.folder / f"to-{target}" / f"{name}.{target}" for name in sets}
                own = pairs_of_info(paths.values()) if target in ("wav", "aiff", "caf") else {}
                told_tags = 0
                for name, path in paths.items():
                    after = read(path) | own.get(path, set())
                    silent, named = lost(before[name], after, said[name])
                    self.assertEqual(silent, set(), f"{source} to {target}, set {name}: {said[name]}")
                    told_tags += len(named)
                if COUNT > 20:
                    print(f"{source:6} {target:5} {COUNT} sets, {sum(map(len, before.values()))} tags, "
                          f"{told_tags} told", file=sys.stderr, flush=True)


if __name__ == "__main__":
    unittest.main()
