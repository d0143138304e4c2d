"""A part of a coded sound is its frames as they are: the samples of the whole, cut, and no second coding."""
import os
import shutil
import struct
import subprocess
import threading
import unittest

import numpy as np

from harness import SAMPLES, CliCase
from test_tags import packets_of

DATA = SAMPLES.parent / "tests/data"
CLOSE = 1e-6  # decoders add up in an order that depends on where a frame stands
MOST_EARLY = 0.32  # seconds that a part of an Opus has in front


def opus_part(data):
    """Of an Opus: samples that are dropped in front, and its packets."""
    packets = packets_of(data)
    return struct.unpack("<H", packets[0][10:12])[0], packets[2:]


class CodedCuts(CliCase):
    def samples(self, name):
        self.smp("convert", "-f", "-q", name, "samples.npy")
        return np.load(self.folder / "samples.npy")

    PLAYERS = {
        "ffmpeg": (("mp3", "opus", "m4a"), ("ffmpeg", "-v", "error", "-i", "{}", "-f", "f32le", "-")),
        "mpg123": (("mp3",), ("mpg123", "-q", "-e", "f32", "-s", "{}")),
        "opusdec": (("opus",), ("opusdec", "--quiet", "--float", "--rate", "48000", "{}", "-")),
    }

    def played(self, name):
        """What players make of a file: samples by their names."""
        found = {}
        for player, (kinds, words) in self.PLAYERS.items():
            if name.split(".")[-1] in kinds and shutil.which(player):
                done = subprocess.run([word.format(name) for word in words], cwd=self.folder, check=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                at = done.stdout.find(b"data") + 8 if done.stdout[:4] == b"RIFF" else 0
                found[player] = np.frombuffer(done.stdout[at:], "<f4").reshape(-1, 1)
        return found

    def by_ffmpeg(self, name):
        return self.played(name)["ffmpeg"]

    def cut(self, name, start, count):
        """The lines that -v prints of a part."""
        return self.smp("convert", "-f", "-v", name, "part.mp3", "-e", f"trim first={start} frames={count}").stderr

    def mp3(self, *options):
        if self.smp("convert", "-f", SAMPLES / "speech.flac", "a.mp3", *options, status=(0, 4)).returncode:
            self.skipTest("this build writes no MP3")
        return (self.folder / "a.mp3").read_bytes()

    def test_a_part_of_an_mp3_has_the_samples_of_the_whole(self):
        for options in (("--mp3-vbr", "9"), ("--bitrate", "64"), ("--rate", "44.1kHz", "--bitrate", "320")):
            whole = self.mp3(*options)
            samples = self.samples("a.mp3")
            for start, count in ((0, 5000), (1, 1152), (12345, 9000), (len(samples) - 4000, 4000)):
                with self.subTest(options=options, start=start):
                    self.assertIn("copied", self.cut("a.mp3", start, count))
                    part = self.samples("part.mp3")
                    self.assertEqual(part.shape, (count, 1))
                    np.testing.assert_allclose(part, samples[start:start + count], rtol=0, atol=CLOSE)
                    self.assertIn((self.folder / "part.mp3").read_bytes()[-100:], whole)
                    if shutil.which("ffmpeg"):
                        expected = self.by_ffmpeg("a.mp3")[start:start + count]
                        np.testing.assert_allclose(self.by_ffmpeg("part.mp3"), expected, rtol=0, atol=CLOSE)

    def test_an_mp3_without_a_tag_of_its_delay_is_cut_too(self):
        whole = self.mp3("--bitrate", "64", "--strip")
        self.write("a.mp3", whole[whole.index(whole[:2], 4):])
        self.assertNotIn(b"Info", (self.folder / "a.mp3").read_bytes())
        samples = self.samples("a.mp3")
        self.assertIn("copied", self.cut("a.mp3", 3000, 3000))
        np.testing.assert_allclose(self.samples("part.mp3"), samples[3000:6000], rtol=0, atol=CLOSE)

    def test_parts_in_a_row_and_silences_cut_off(self):
        self.mp3()
        samples = self.samples("a.mp3")
        self.assertIn("copied", self.smp("convert", "-v", "a.mp3", "b.mp3", "-e", "trim first=5000", "-e",
                                         "trim frames=9000", "-e", "trim first=100").stderr)
        np.testing.assert_allclose(self.samples("b.mp3"), samples[5100:14000], rtol=0, atol=CLOSE)
        self.assertIn("copied", self.smp("convert", "-v", "a.mp3", "c.mp3", "-e", "trim auto keep=0").stderr)
        self.assertLess(len(self.samples("c.mp3")), len(samples))

    def test_what_can_be_read_once_is_coded_anew(self):
        data = self.mp3()
        os.mkfifo(self.folder / "pipe.mp3")
        writer = threading.Thread(target=(self.folder / "pipe.mp3").write_bytes, args=(data,))
        writer.start()
        self.smp("convert", "pipe.mp3", "b.mp3", "-e", "trim first=100 frames=9000")
        writer.join()
        self.assertEqual(len(self.samples("b.mp3")), 9000)

    def test_what_changes_samples_codes_them_anew(self):
        self.mp3()
        for more in (("-e", "gain -1dB"), ("-e", "reverse"), ("--bitrate", "32"), ("--channels", "2")):
            told = self.smp("convert", "-f", "-v", "a.mp3", "b.mp3", "-e", "trim 0.2", *more).stderr
            self.assertNotIn("copied", told)
        self.smp("convert", "a.mp3", "b.ogg", "-e", "trim 0.2")

    def opus(self, *options):
        self.smp("convert", "-f", SAMPLES / "speech.flac", "a.opus", *options)
        return (self.folder / "a.opus").read_bytes()

    def test_a_part_of_an_opus_has_the_samples_of_the_whole(self):
        """Decoders that begin in the middle come near to the same within the time that is dropped, as far as the noise
        of the coding is concerned."""
        self.smp("convert", SAMPLES / "speech.flac", "given.wav", "--rate", "48k", "-e", "repeat times=2")
        given = self.samples("given.wav")
        for options in (("--bitrate", "16"), ("--bitrate", "64")):
            whole = self.opus("--rate", "48k", "--tag", "title=Rain", "-e", "repeat times=2", *options)
            samples = self.samples("a.opus")
            for start, count in ((0, 5000), (5000, 9000), (70001, 9000), (len(samples) - 4000, 4000)):
                with self.subTest(options=options, start=start):
                    told = self.smp("convert", "-f", "-v", "a.opus", "b.opus", "-e",
                                    f"trim first={start} frames={count}").stderr
                    self.assertIn("copied", told)
                    part = self.samples("b.opus")
                    self.assertEqual(part.shape, (count, 1))
                    expected, data = samples[start:start + count], (self.folder / "b.opus").read_bytes()
                    noise = ((expected - given[start:start + count]) ** 2).mean()
                    self.assertLess(((part - expected) ** 2).mean(), noise / 10 ** 3 if start > 5000 else CLOSE ** 2)
                    self.assertLess(opus_part(data)[0], MOST_EARLY * 48000)
                    self.assertIn(data[-40:], whole)
                    self.assertIn("Rain", self.smp("info", "-v", "b.opus").stdout)

    def m4a(self, *options):
        """AAC by ffmpeg without substituted noise, which decoders draw anew."""
        if not shutil.which("ffmpeg") or self.smp("info", DATA / "tone.m4a", status=(0, 3, 4)).returncode:
            self.skipTest("needs ffmpeg and its libraries")
        subprocess.run(("ffmpeg", "-v", "error", "-y", "-i", SAMPLES / "speech.flac", "-c:a", "aac", "-aac_pns", "0",
                        *options, self.folder / "a.m4a"), check=True)

    def test_an_m4a_keeps_its_packets_when_tags_change_or_it_is_cut(self):
        """FFmpeg plays the last packet of every M4A as a whole."""
        self.m4a("-b:a", "64k")
        subprocess.run(("ffmpeg", "-v", "error", "-ss", "1.2345", "-i", "a.m4a", "-c", "copy", "edited.m4a"),
                       cwd=self.folder, check=True)
        subprocess.run(("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=d=1:s=32x32", "-i", "a.m4a", "-c:a",
                        "copy", "-c:v", "mpeg4", "film.mp4"), cwd=self.folder, check=True)
        for name in ("a.m4a", "edited.m4a", "film.mp4"):
            samples = self.samples(name)
            told = self.smp("convert", "-f", "-v", name, "b.m4a", "--tag", "title=Rain").stderr
            self.assertIn("copied as it is", told)
            self.assertIn("Rain", self.smp("info", "-v", "b.m4a").stdout)
            np.testing.assert_array_equal(self.samples("b.m4a"), samples)
            for start, count in ((0, 1500), (0, 5000), (1, 1024), (12345, 9000), (len(samples) - 4000, 4000)):
                with self.subTest(name=name, start=start):
                    told = self.smp("convert", "-f", "-v", name, "b.m4a", "-e", f"trim first={start} frames={count}")
                    self.assertIn("copied as it is", told.stderr)
                    np.testing.assert_array_equal(self.samples("b.m4a"), samples[start:start + count])
                    played = self.played("b.m4a")["ffmpeg"]
                    np.testing.assert_array_equal(played[:count], samples[start:start + count])
                    self.assertLess(len(played), count + 1024)
        piped = self.smp("convert", "a.m4a", "-", "--to", "m4a", "-e", "trim first=12345 frames=9000", text=False)
        self.smp("convert", "-f", "a.m4a", "b.m4a", "-e", "trim first=12345 frames=9000")
        self.assertEqual(piped.stdout, (self.folder / "b.m4a").read_bytes())

    def test_an_m4a_is_coded_anew_where_it_must_be(self):
        self.m4a("-b:a", "64k")
        for more in (("-e", "gain -1dB"), ("--bitrate", "32"), ("--lossless",), ("--quality", "50")):
            told = self.smp("convert", "-f", "-v", "a.m4a", "b.m4a", "-e", "trim 0.2", *more).stderr
            self.assertNotIn("copied", told)
        told = self.smp("convert", "-f", "-v", "a.m4a", "b.m4a", "-e", "trim first=30000 frames=50").stderr
        self.assertIn("within one coded frame", told)
        self.assertEqual(len(self.samples("b.m4a")), 50)
        self.smp("convert", "-f", "a.m4a", "c.m4a", "--lossless")
        self.assertNotIn("copied", self.smp("convert", "-v", "c.m4a", "d.m4a", "-e", "trim 0.2").stderr)

    def test_every_player_plays_what_was_asked_for(self):
        """FFmpeg forgets what to drop in front once it comes to a frame that has something to drop at its end."""
        for ext in ("mp3", "opus"):
            _ = self.mp3("--rate", "44.1kHz") if ext == "mp3" else self.opus("--rate", "48k")
            for start, count, copied in ((100000, 1, False), (100000, 100, False), (100000, 3000, True), (0, 1, False)):
                with self.subTest(ext=ext, count=count):
                    told = self.smp("convert", "-f", "-v", "a." + ext, "part." + ext, "-e",
                                    f"trim first={start} frames={count}").stderr
                    self.assertEqual("copied as it is" in told, copied)
                    self.assertEqual("within one coded frame" in told, not copied)
                    for player, samples in self.played("part." + ext).items():
                        self.assertEqual(len(samples), count, player)
            self.smp("convert", "a." + ext, "s." + ext, "-e", "trim end=0.1s")
            told = self.smp("split", "s." + ext, "-o", "parts-" + ext, "--every", "0.004").stderr
            self.assertIn(f"parts-{ext}/s-02.{ext}: the part lies within one coded frame", told)

    def test_a_part_takes_memory_for_itself_alone(self):
        whole, times = self.mp3("--rate", "44.1kHz", "--bitrate", "320", "--strip"), 100
        frames = whole[whole.index(whole[:2], 4):]
        self.write("a.mp3", frames * times)
        limits = ("--max-memory", str(len(frames) * times // 2))
        part = "trim first=7000000 frames=44100"
        self.assertIn("copied as it is", self.smp("convert", "-v", *limits, "a.mp3", "b.mp3", "-e", part).stderr)
        self.smp("convert", "a.mp3", "c.npy", "-e", part)
        np.testing.assert_allclose(self.samples("b.mp3"), np.load(self.folder / "c.npy"), rtol=0, atol=CLOSE)

    def test_what_does_not_fit_memory_is_coded_anew(self):
        whole, times = self.mp3("--rate", "44.1kHz", "--bitrate", "320", "--strip"), 100
        frames = whole[whole.index(whole[:2], 4):]
        self.write("a.mp3", frames * times)
        told = self.smp("convert", "-v", "--max-memory", str(len(frames) * times // 2), "a.mp3", "b.mp3", "--tag",
                        "title=Rain").stderr
        self.assertIn("cannot be copied for want of memory: it is coded anew", told)
        self.assertIn("Rain", self.smp("info", "-v", "b.mp3").stdout)

    def test_an_ogg_that_no_stage_changes_is_copied(self):
        for ext, other in (("ogg", "opus"), ("opus", "ogg")):
            self.smp("convert", SAMPLES / "speech.flac", "a." + ext, "--tag", "title=Old")
            self.assertIn("copied", self.smp("convert", "-v", "a." + ext, "b." + ext, "--tag", "title=New").stderr)
            self.smp("diff", "a." + ext, "b." + ext)
            self.assertIn("New", self.smp("info", "-v", "b." + ext).stdout)
            self.assertNotIn(b"Old", (self.folder / ("b." + ext)).read_bytes())
            self.assertNotIn("copied", self.smp("convert", "-v", "a." + ext, "c." + other).stderr)
        self.assertNotIn("copied", self.smp("convert", "-f", "-v", "a.ogg", "b.ogg", "-e", "trim 0.2").stderr)

    def test_an_ogg_whose_headers_end_inside_a_page_is_coded_anew(self):
        for ext in ("opus", "ogg"):
            self.smp("convert", SAMPLES / "speech.flac", "a." + ext, "--tag", "title=Old")
            pages = [bytearray(b"OggS" + page) for page in (self.folder / ("a." + ext)).read_bytes().split(b"OggS")[1:]]
            first, second = pages[1:3]
            segments = first[27:27 + first[26]] + second[27:27 + second[26]]
            pages[1:3] = [second[:26] + bytes([len(segments)]) + segments + first[27 + first[26]:] +
                          second[27 + second[26]:]]
            for number, page in enumerate(pages):
                page[18:26] = struct.pack("<II", number, 0)
                page[22:26] = struct.pack("<I", self.checksum(page))
            self.write("m." + ext, b"".join(pages))
            samples = self.samples("m." + ext)
            self.assertNotIn("copied", self.smp("convert", "-v", "m." + ext, "b." + ext, "--strip").stderr)
            self.assertEqual(self.samples("b." + ext).shape, samples.shape)
            self.assertLess(np.abs(self.samples("b." + ext) - samples).mean(), np.abs(samples).mean() / 2)
            self.assertNotIn(b"Old", (self.folder / ("b." + ext)).read_bytes())

    @staticmethod
    def checksum(page):
        """Of an Ogg page (RFC 3533, section 6)."""
        total = 0
        for byte in page:
            total ^= byte << 24
            for _ in range(8):
                total = (total << 1 ^ (total >> 31) * 0x04C11DB7) & 0xFFFFFFFF
        return total

    def test_split_keeps_frames(self):
        for ext, make, close in (("mp3", self.mp3, CLOSE), ("opus", self.opus, 4e-3), ("m4a", self.m4a, CLOSE)):
            make()
            whole, samples = (self.folder / ("a." + ext)).read_bytes(), self.samples("a." + ext)
            self.smp("split", "a." + ext, "-o", "parts-" + ext, "--every", "1.2")
            parts = sorted((self.folder / ("parts-" + ext)).iterdir())
            self.assertEqual(len(parts), 4)
            joined = np.concatenate([self.samples(part) for part in parts])
            np.testing.assert_allclose(joined, samples, rtol=0, atol=close)
            for part in parts:
                data = part.read_bytes()
                end = data.index(b"moov") - 4 if ext == "m4a" else len(data)
                self.assertTrue(data[end - 20:end] in whole, part)

    def test_a_damaged_opus_is_not_cut(self):
        whole = self.opus()
        page = whole.index(b"OggS", whole.index(b"OggS", 4) + 4)
        for at, byte in ((10, 0x01), (page + 6, 0x7f), (page + 27, 0xff), (len(whole) - 1, 0x55)):
            self.write("a.opus", whole[:at] + bytes([whole[at] ^ byte]) + whole[at + 1:])
            self.smp("convert", "-f", "a.opus", "b.opus", "-e", "trim 0.2", status=3)

    def test_tags_stay_and_chapters_go_with_a_word(self):
        self.write("chapters.txt", "0:00 A\n0:01 B\n")
        self.mp3("--tag", "title=Rain", "--chapters", "chapters.txt")
        told = self.smp("convert", "a.mp3", "b.mp3", "-e", "trim 0.2").stderr
        self.assertIn("chapters", told)
        self.assertIn("Rain", self.smp("info", "-v", "b.mp3").stdout)

    def test_an_mp3_that_was_cut_short_is_read_as_far_as_it_goes_on_request(self):
        whole = self.mp3("--bitrate", "64")
        samples = self.samples("a.mp3")
        for size in (len(whole) // 2, len(whole) - 1):
            self.write("a.mp3", whole[:size])
            self.assertIn("--no-verify", self.smp("convert", "a.mp3", "b.wav", status=3).stderr)
            told = self.smp("convert", "-f", "a.mp3", "b.npy", "--no-verify").stderr
            self.assertIn("what there is of it is read", told)
            part = np.load(self.folder / "b.npy")
            self.assertGreater(len(part), size / len(whole) * len(samples) - 3000)
            np.testing.assert_array_equal(part, samples[:len(part)])
            self.smp("convert", "-f", "a.mp3", "b.mp3", "--no-verify")  # and what is written is whole
            self.assertEqual(len(self.samples("b.mp3")), len(part))

    def test_a_delay_that_cannot_be(self):
        whole = bytearray(self.mp3("--strip"))
        at = next(whole.find(word) for word in (b"Xing", b"Info") if word in whole[:200])
        for delays in (0xFFFFFF, 0, 0xFFF000):
            whole[at + 141:at + 144] = struct.pack(">I", delays)[1:]
            self.write("a.mp3", bytes(whole))
            samples = self.samples("a.mp3")
            self.cut("a.mp3", 100, 2000)
            np.testing.assert_allclose(self.samples("part.mp3")[:, 0], samples[100:2100, 0], rtol=0, atol=0.2)
            self.assertEqual(len(self.samples("part.mp3")), 2000)


if __name__ == "__main__":
    unittest.main()
