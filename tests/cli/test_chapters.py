"""Chapters of sounds: --chapters, and those of the input in other formats."""
import json
import shutil
import struct
import subprocess
import unittest

import numpy as np

from harness import CliCase

LINES = "0:00 Intro\n\n# a comment\n[0:01.5] - The middle, <ü>\r\n2.25\t2.25\t\n"


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)


class Chapters(CliCase):
    def setUp(self):
        super().setUp()
        self.write("in.wav", self.riff(chunk(b"data", np.zeros(3 * 8000, "<i2").tobytes())))
        self.write("ch.txt", LINES.encode())

    @staticmethod
    def riff(*chunks):
        body = b"WAVE" + chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)) + b"".join(chunks)
        return b"RIFF" + struct.pack("<I", len(body)) + body

    def chapters(self, name):
        """As another program finds them, or else as texts."""
        if shutil.which("ffprobe"):
            done = subprocess.run(("ffprobe", "-v", "error", "-show_chapters", "-of", "json", name), cwd=self.folder,
                                  check=True, stdout=subprocess.PIPE)
            return [(float(one["start_time"]), one.get("tags", {}).get("title", "").replace("ch003", ""))
                    for one in json.loads(done.stdout)["chapters"]]  # a name of the frame where it has no title
        return self.told(name)

    def told(self, name):
        texts = {one["key"]: one["value"] for one in json.loads(self.smp("info", "--json", name).stdout)
                 ["metadata"]["texts"]}
        return [(round(sum(float(part) * 60 ** (2 - i) for i, part in enumerate(value.split(":"))), 6),
                 texts.get(key + "NAME", "")) for key, value in texts.items()
                if key.startswith("CHAPTER") and not key.endswith("NAME")]

    WANTED = [(0, "Intro"), (1.5, "The middle, <ü>"), (2.25, "")]

    def test_lines_become_chapters_of_every_format_that_has_them(self):
        for ext in ("wav", "flac", "ogg", "opus", "mp3", "aiff", "m4a"):
            if self.smp("convert", "in.wav", "a." + ext, "--chapters", "ch.txt", status=(0, 4)).returncode:
                continue  # this build does not write it
            self.assertEqual(self.chapters("a." + ext), self.WANTED, ext)
            for other in ("wav", "flac", "mp3", "aiff", "m4a"):
                if not self.smp("convert", "-f", "a." + ext, "b." + other, status=(0, 4)).returncode:
                    self.assertEqual(self.chapters("b." + other), self.WANTED, ext + " to " + other)
        self.smp("convert", "-f", "a.wav", "b.wav")
        self.assertEqual((self.folder / "a.wav").read_bytes(), (self.folder / "b.wav").read_bytes())

    def test_cue_points_keep_their_frames(self):
        points = b"".join(struct.pack("<II4sIII", i, at, b"data", 0, 0, at) for i, at in ((7, 12345), (3, 1)))
        labels = chunk(b"LIST", b"adtl" + chunk(b"labl", struct.pack("<I", 7) + b"two\0"))
        self.write("c.wav", self.riff(chunk(b"data", bytes(40000)), chunk(b"cue ", struct.pack("<I", 2) + points),
                                      labels))
        self.assertEqual(self.told("c.wav"), [(12345 / 8000, "two"), (1 / 8000, "")])
        self.smp("convert", "c.wav", "d.wav")
        self.assertEqual(self.told("d.wav"), [(1 / 8000, ""), (12345 / 8000, "two")])
        for count, kept, wanted in ((0, 30, 0), (5, 30, 1), (0xFFFFFFFF, 30, 1), (1, 20, 0), (1, 21, 0), (1, 23, 0)):
            self.write("e.wav", self.riff(chunk(b"data", bytes(400)),
                                          chunk(b"cue ", struct.pack("<I", count) + points[:kept])))
            self.assertEqual(len(self.told("e.wav")), wanted, (count, kept))  # what is not there is not read

    def test_tracks_of_a_cuesheet_are_chapters(self):
        self.smp("convert", "in.wav", "a.flac", status=(0, 4))
        if not (self.folder / "a.flac").exists():
            self.skipTest("this build writes no FLAC")
        track = lambda at, number, indices: (struct.pack(">QB", at, number) + bytes(12 + 1 + 13)
                                             + bytes([len(indices)])
                                             + b"".join(struct.pack(">QB3x", *one) for one in indices))
        sheet = bytes(128 + 8 + 1 + 258) + b"\3" + track(0, 1, [(0, 1)]) + track(8000, 2, [(0, 0), (400, 1)]) + \
            track(24000, 170, [])
        flac = (self.folder / "a.flac").read_bytes()
        self.write("b.flac", flac[:42] + bytes([5]) + struct.pack(">I", len(sheet))[1:] + sheet + flac[42:])
        self.assertEqual(self.told("b.flac"), [(0, ""), (1.05, "")])
        self.assertIn("b.flac: its block of kind CUESHEET becomes chapters: ISRC, CATALOG and more are left out",
                      self.smp("convert", "b.flac", "d.flac").stderr)
        self.write("c.flac", flac[:42] + bytes([5]) + struct.pack(">I", 400)[1:] + sheet[:396] + bytes([255] * 4)
                   + flac[42:])
        self.smp("info", "c.flac", status=(0, 3))  # cut

    def test_files_of_other_programs(self):
        for text in (";FFMETADATA1\ntitle=Album\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=9\ntitle=A \\= b\n[STREAM]\n"
                     "START=1\n[CHAPTER]\nTIMEBASE=1/10\nSTART=15\nEND=20\ntitle=Two\n",
                     "CHAPTER01=00:00:00.000\nCHAPTER01NAME=A = b\nCHAPTER02=00:00:01.500\nCHAPTER02NAME=Two\n",
                     'REM x\nTITLE "Album"\nFILE "a.wav" WAVE\n TRACK 01 AUDIO\n  TITLE "A = b"\n  INDEX 01 00:00:00\n'
                     ' TRACK 02 AUDIO\n  TITLE "Two"\n  INDEX 00 00:01:00\n  INDEX 01 00:01:38\n',
                     "\ufeff0.000\t0.5\tA = b\n1.5\t1.5\tTwo\n", "0:0:1.5 Two\n0:0:0 A = b"):
            self.write("x.txt", text.encode())
            self.smp("convert", "-f", "in.wav", "a.wav", "--chapters", "x.txt")
            found = [(round(at, 1), title) for at, title in self.told("a.wav")]
            self.assertEqual(found, [(0, "A = b"), (1.5, "Two")], text)

    def test_titles_of_ffmpegs_metadata_may_have_two_lines(self):
        self.write("x.txt", b";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\ntitle=a\\\nb \\# \\; \\= \\\\\n"
                            b"[CHAPTER]\nTIMEBASE=1/1\nSTART=1\ntitle=c\\\\\n")
        self.smp("convert", "in.wav", "a.wav", "--chapters", "x.txt")
        self.assertEqual(self.told("a.wav"), [(0, "a\nb # ; = \\"), (1, "c\\")])

    def test_a_file_without_chapters_is_an_error(self):
        for text, says in (("", "x.txt: error: there is no chapter in it"), ("# 0:00\n", "there is no chapter"),
                           ("0:00 a\nIntro\n", "line 2 begins with no time: 'Intro'"), ("12 Monkeys\n", "line 1"),
                           ("0:00x\n", "line 1"), (";FFMETADATA1\n[CHAPTER]\nSTART=-4\n", "line 3"),
                           ("CHAPTER01=soon\n", "line 1"),
                           ("0:75 a\n", "line 1 begins with no time"), ("0:00 a\0\n0:01 b\n", "a zero byte is in it"),
                           ('FILE "a.wav" WAVE\nTRACK 01 AUDIO\nINDEX 01 00:75:00\n', "line 3"),
                           ("TRACK 01 AUDIO\nTITLE x\nTRACK 02 AUDIO\nINDEX 01 00:01:00\n", "line 3 follows a track"),
                           ("TRACK 01 AUDIO\nINDEX 01 00:01:00\nTRACK 02 AUDIO\n", "the last track has no INDEX 01"),
                           ('FILE "a" WAVE\nTRACK 01 AUDIO\nINDEX 01 0:0:0\nFILE "b" WAVE\n',
                            "line 4 begins a second file"), (1000 * "0:01 a\n", "more than 999 chapters")):
            self.write("x.txt", text.encode())
            self.assertIn(says, self.smp("convert", "in.wav", "a.wav", "--chapters", "x.txt", status=(3, 6)).stderr)
        self.smp("convert", "in.wav", "a.wav", "--chapters", "none.txt", status=3)
        self.assertFalse((self.folder / "a.wav").exists())

    def test_a_rate_moves_nothing(self):
        self.write("odd.wav", self.riff(chunk(b"data", np.zeros(3 * 8000 + 1, "<i2").tobytes())))
        self.smp("convert", "odd.wav", "a.wav", "--chapters", "ch.txt")
        done = self.smp("convert", "a.wav", "b.wav", "-e", "resample 44100")  # 132305.5125 frames
        self.assertEqual((done.stderr, self.told("b.wav")), ("", self.WANTED))
        done = self.smp("convert", "a.wav", "c.wav", "-e", "trim end=3s")
        self.assertIn("about times (chapters", done.stderr)

    def test_what_is_lost_is_told(self):
        self.smp("convert", "in.wav", "a.wav", "--chapters", "ch.txt")
        self.assertIn("its list of chapters is left out", self.smp("convert", "a.wav", "a.w64").stderr)
        self.assertEqual(self.smp("convert", "a.wav", "a.caf").stderr, "")
        self.assertEqual(self.told("a.caf"), self.WANTED)
        self.assertIn("its list of chapters is left out",
                      self.smp("convert", "in.wav", "a.npy", "--chapters", "ch.txt").stderr)
        self.assertIn("about times (chapters", self.smp("convert", "a.wav", "b.wav", "-e", "trim 1s").stderr)
        self.assertEqual(self.told("b.wav"), [])
        done = self.smp("split", "a.wav", "--every", "1", "-o", "parts")
        self.assertEqual(done.stderr.count("about times (chapters"), 1)
        self.assertEqual(self.told("parts/a-01.wav"), [])
        self.smp("convert", "-f", "a.wav", "b.wav", "-e", "trim 1s", "--chapters", "ch.txt")
        self.assertEqual(self.told("b.wav")[1], (1.5, "The middle, <ü>"))
        self.smp("convert", "-f", "a.wav", "b.wav", "--tag", "CHAPTER=")
        self.assertEqual(self.told("b.wav"), [])
        self.small_png("p.png")
        self.assertIn("a picture has none: the chapters",
                      self.smp("convert", "p.png", "q.png", "--chapters", "ch.txt").stderr)

    def test_chapters_behind_the_end_are_told(self):
        self.write("x.txt", b"0:00 From 99:00 on\n1:00:00 Late\n2:00:00 Later\n")
        for ending in ("wav", "mp3", "flac"):
            done = self.smp("convert", "in.wav", f"a.{ending}", "--chapters", "x.txt", status=(0, 4))
            if not done.returncode:
                self.assertIn("chapters begin behind its end, the first of them at 01:00:00", done.stderr)
        self.assertNotIn("behind", self.smp("convert", "in.wav", "b.wav", "--chapters", "ch.txt").stderr)

    def test_an_m4a_keeps_many_chapters_and_long_titles(self):
        self.write("x.txt", "".join(f"0:00.{i:03} {i}\n" for i in range(300)).encode())
        if self.smp("convert", "in.wav", "a.m4a", "--chapters", "x.txt", status=(0, 4)).returncode:
            self.skipTest("this build writes no M4A")
        self.assertEqual(len(self.told("a.m4a")), 300)
        self.write("x.txt", ("0:00 " + "ü" * 200).encode())
        told = self.smp("convert", "-f", "in.wav", "a.m4a", "--chapters", "x.txt").stderr
        self.assertIn("most players find 255 chapters at most, and 255 bytes of a title", told)
        self.assertEqual(self.told("a.m4a"), [(0, "ü" * 200)])
        if shutil.which("ffprobe"):
            self.assertEqual(self.chapters("a.m4a"), [(0, "ü" * 127)])

    def test_a_table_of_contents_has_255_chapters(self):
        said = "some players find its first 255 chapters alone: a table of contents has no more"
        for ext in ("mp3", "aiff"):
            for count in (255, 256):
                self.write("x.txt", "".join(f"0:00.{i:03} {i}\n" for i in range(count)).encode())
                done = self.smp("convert", "-f", "in.wav", "a." + ext, "--chapters", "x.txt", status=(0, 4))
                self.assertEqual(said in done.stderr, count > 255 and not done.returncode, (ext, count))

    def test_many_chapters_stay_whatever_they_are_on_the_way(self):
        self.write("x.txt", "".join(f"0:00.{i:03} {i}\n" for i in range(999)).encode())
        wanted = [(i / 1000, str(i)) for i in range(999)]
        self.smp("convert", "in.wav", "a.flac", "--chapters", "x.txt", "--tag", "artist=Ada")
        for ext in ("mp3", "m4a", "opus", "aiff", "wav"):
            if self.smp("convert", "a.flac", "a." + ext, "-e", "resample 48kHz", status=(0, 4)).returncode:
                continue
            told = self.smp("convert", "a." + ext, "b." + ext, "--tag", "title=Rain").stderr
            self.assertNotIn("beyond", told)
            self.assertEqual("most players" in told, ext == "m4a")
            self.smp("convert", "-f", "b." + ext, "b.flac")
            self.assertEqual(self.told("b.flac"), wanted, ext)

    def test_other_chapters_are_other_work(self):
        for line, said in (("0:00 a", "1 file done"), ("0:00 a", "0 files done"), ("0:00 b", "1 file done")):
            self.write("x.txt", line.encode())
            self.assertIn(said, self.smp("convert", "in.wav", "--in-place", "--chapters", "x.txt").stderr)


if __name__ == "__main__":
    unittest.main()
