"""M4A written: AAC and ALAC by FFmpeg's encoders in boxes of ours, against what ffmpeg and mutagen read."""
import shutil
import struct
import subprocess
import unittest

import numpy as np

from harness import SAMPLES, CliCase, png_bytes

try:
    from mutagen.mp4 import MP4
except ImportError:
    MP4 = None

DATA = SAMPLES.parent / "tests/data"


def wav(samples, rate, bits=16, mask=0):
    """samples: integers, frames x channels."""
    frames, channels = samples.shape
    width = bits // 8
    data = samples.astype("<i4").tobytes()
    data = b"".join(data[i:i + width] for i in range(0, len(data), 4))
    form = struct.pack("<HHIIHHHHI", 0xFFFE, channels, rate, rate * channels * width, channels * width, bits, 22, bits,
                       mask) + b"\1\0\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def tones(frames, rate, channels=1, bits=16):
    t = np.arange(frames)[:, None] / rate * np.arange(300, 300 + 200 * channels, 200)
    return np.round(np.sin(2 * np.pi * t) * 2 ** (bits - 2)).astype(int)


@unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
class Written(CliCase):
    def setUp(self):
        super().setUp()
        if self.smp("info", DATA / "tone.m4a", status=(0, 3, 4)).returncode:
            self.skipTest("this build, or machine, has no FFmpeg's libraries")

    def decoded(self, name, channels=1):
        """What ffmpeg makes of it, which leaves the first frames out and the last ones in."""
        done = subprocess.run(("ffmpeg", "-v", "error", "-i", self.folder / name, "-f", "f32le", "-"),
                              capture_output=True, check=True)
        self.assertEqual(done.stderr, b"")
        return np.frombuffer(done.stdout, "<f4").reshape(-1, channels)

    def test_aac_begins_and_ends_where_the_sound_does(self):
        for frames in (1, 1023, 1024, 1025, 4097, 30000):
            self.write("in.wav", wav(tones(frames, 44100, 2), 44100))
            self.smp("convert", "-f", "in.wav", "out.m4a")
            self.assertIn(f" {frames} frames", self.smp("info", "out.m4a").stdout)
            self.smp("convert", "-f", "out.m4a", "again.wav")
            self.assertIn(f" {frames} frames", self.smp("info", "again.wav").stdout)
            data = (self.folder / "in.wav").read_bytes()
            piped = self.smp("convert", "-", "-", "--to", "m4a", text=False, input=data)
            self.assertEqual(piped.stdout, (self.folder / "out.m4a").read_bytes())
        given, got = tones(30000, 44100, 2) / 2 ** 15, self.decoded("out.m4a", 2)[:30000]
        ratio = 10 * np.log10((given ** 2).sum() / ((got - given) ** 2).sum())
        self.assertGreater(ratio, 20)  # a frame of displacement would leave 16 dB

    def test_what_is_beside_a_sound_is_told_and_not_lost_in_place(self):
        (self.folder / "words.srt").write_text("1\n00:00:00,000 --> 00:00:00,900\nHello\n")
        sound, film = ("-f", "lavfi", "-i", "sine=r=16000:d=1"), ("-f", "lavfi", "-i", "testsrc=s=32x32:r=5:d=1")
        for inputs, says in (((*sound, *film, "-c:v", "mpeg4"), "video"), ((*sound, "-i", "words.srt"), "subtitles"),
                             ((*sound, *sound, "-c:a", "aac"), "other sounds")):
            subprocess.run(("ffmpeg", "-y", "-v", "error", *inputs, "-map", "0", "-map", "1", "-c:s", "mov_text",
                            "a.mp4"), cwd=self.folder, check=True)
            data = (self.folder / "a.mp4").read_bytes()
            self.write("a.m4b", data)
            self.assertIn(f"warning: a.m4b: it has {says}", self.smp("convert", "-f", "a.m4b", "a.wav").stderr)
            words = ("convert", "a.m4b", "--in-place", "--tag", "title=x")
            self.assertIn("a.m4b: it holds more than a sound, which alone would be left",
                          self.smp(*words, status=1).stderr)
            self.assertEqual((self.folder / "a.m4b").read_bytes(), data)
            self.assertIn("1 file done", self.smp(*words, "--backup", "." + says[:3]).stderr)

    def test_the_box_of_packets_has_a_size_of_32_bits(self):
        """faad, and players as old, read no other."""
        self.smp("convert", SAMPLES / "speech.flac", "a.m4a")
        data = (self.folder / "a.m4a").read_bytes()
        at = 4 * 7  # behind ftyp
        size, free, packets, mdat = struct.unpack(">I4sI4s", data[at:at + 16])
        self.assertEqual((size, free, mdat), (8, b"free", b"mdat"))
        self.assertEqual(data[at + size + packets + 4:][:4], b"moov")

    def test_aac_is_as_near_as_ffmpegs_own(self):
        shutil.copy(SAMPLES / "speech.flac", self.folder)
        given = self.decoded("speech.flac")
        self.smp("convert", "speech.flac", "out.m4a", "--bitrate", "64")
        subprocess.run(("ffmpeg", "-v", "error", "-i", "speech.flac", "-b:a", "64k", "peer.m4a"), cwd=self.folder,
                       check=True)
        errors = []
        for name in ("out.m4a", "peer.m4a"):
            got = np.abs(np.fft.rfft(self.decoded(name)[:len(given), 0]))
            errors.append(np.sqrt(((got - np.abs(np.fft.rfft(given[:, 0]))) ** 2).mean()))
        self.assertLess(errors[0], errors[1] * 1.05)
        self.assertLess((self.folder / "out.m4a").stat().st_size, (self.folder / "peer.m4a").stat().st_size * 1.06)

    def test_rates_and_options_that_cannot_be_are_refused(self):
        self.write("high.wav", wav(tones(100, 192000), 192000))
        self.write("in.wav", wav(tones(100, 48000), 48000))
        for said, words in (("--lossless", ("high.wav", "--quality", "50", "--lossless")),
                            ("exclude each other", ("in.wav", "--quality", "50", "--bitrate", "64")),
                            ("resample 48kHz", ("high.wav", "--bitrate", "64"))):
            self.assertIn(said, self.smp("convert", *words, "out.m4a", status=(2, 4)).stderr)
            self.assertFalse((self.folder / "out.m4a").exists())
        self.assertIn("the nearest, 288", self.smp("convert", "in.wav", "out.m4a", "--bitrate", "900").stderr)

    def test_alac_gives_each_bit_back_and_stays_alac(self):
        for bits, rate, channels in ((16, 44100, 2), (24, 192000, 1), (24, 48000, 6)):
            mask = 0x3F if channels == 6 else 0
            samples = tones(9001, rate, channels, bits) + np.random.default_rng(bits).integers(-9, 9, (9001, channels))
            self.write("in.wav", wav(samples, rate, bits, mask))
            self.smp("convert", "-f", "in.wav", "out.m4a", "--lossless")
            self.smp("diff", "in.wav", "out.m4a")
            self.assertTrue(np.array_equal(self.decoded("out.m4a", channels) * 2. ** (bits - 1), samples))
            self.smp("convert", "-f", "out.m4a", "again.m4a")
            self.assertIn("Apple Lossless", self.smp("info", "again.m4a").stdout)
        self.smp("convert", "-f", "out.m4a", "again.m4a", "--quality", "60")
        self.assertIn("Advanced Audio", self.smp("info", "again.m4a").stdout)

    def test_alac_may_end_in_a_packet_of_one_frame(self):
        """FFmpeg's encoder ends the process there."""
        for frames in (1, 4097):
            for channels in (1, 2, 6):
                self.write("in.wav", wav(tones(frames, 48000, channels) + 7, 48000, 16, 0x3F if channels == 6 else 0))
                self.smp("convert", "-f", "in.wav", "out.m4a", "--lossless")
                self.assertIn(f" {frames} frames", self.smp("info", "out.m4a").stdout)
                self.smp("diff", "in.wav", "out.m4a")

    def test_speakers_are_kept_or_told(self):
        for mask, channels, said in ((0x107, 4, ""), (0x60F, 6, "become"), (0x3F, 6, "")):
            self.write("in.wav", wav(tones(3000, 48000, channels), 48000, 16, mask))
            self.assertIn(said, self.smp("convert", "-f", "in.wav", "out.m4a").stderr)
            self.smp("convert", "-f", "out.m4a", "again.wav")
            if not said:
                layout = self.smp("info", "in.wav").stdout.split("channels", 1)[1].split("\n")[0]
                self.assertIn(layout, self.smp("info", "again.wav").stdout)

    @unittest.skipUnless(MP4, "needs mutagen")
    def test_tags_and_cover_are_as_itunes_has_them(self):
        self.write("cover.png", png_bytes([bytes(60)] * 20, 20))
        given = ("title=Rain", "artist=A", "artist=B", "TrackNumber=3", "TRACKTOTAL=12", "DISCNUMBER=x", "BPM=120",
                 "COMPILATION=1", "ITUNESGAPLESS=1", "MOOD=Calm \u00e9")
        self.smp("convert", SAMPLES / "speech.flac", "out.m4a", "--cover", "cover.png",
                 *(word for tag in given for word in ("--tag", tag)))
        self.smp("convert", "out.m4a", "again.m4a", "--tag", "title=x")
        self.assertTrue(MP4(self.folder / "again.m4a")["pgap"])
        tags = MP4(self.folder / "out.m4a")
        for name, value in (("\u00a9nam", ["Rain"]), ("\u00a9ART", ["A", "B"]), ("trkn", [(3, 12)]), ("tmpo", [120]),
                            ("cpil", True), ("----:com.apple.iTunes:MOOD", ["Calm \u00e9".encode()]),
                            ("----:com.apple.iTunes:DISCNUMBER", [b"x"])):
            self.assertEqual(tags[name], value)
        self.assertEqual(bytes(tags["covr"][0]), (self.folder / "cover.png").read_bytes())
        self.assertAlmostEqual(tags.info.length, (86973 + 1024) / 22050, places=4)  # with the priming, as of ffmpeg
        probe = subprocess.run(("ffprobe", "-v", "error", "-show_entries", "format_tags=title,track", "-of", "csv=p=0",
                                self.folder / "out.m4a"), capture_output=True, text=True, check=True)
        self.assertEqual((probe.stdout.strip(), probe.stderr), ("Rain,3/12", ""))

    @unittest.skipUnless(MP4, "needs mutagen")
    def test_a_number_and_how_many_there_are_are_a_pair(self):
        for said, pairs in (("3/9", [(3, 9)]), ("3/x", None), ("70000/9", None), ("/9", None)):
            self.smp("convert", "-f", SAMPLES / "speech.flac", "out.m4a", "--tag", f"TrackNumber={said}")
            self.assertEqual(MP4(self.folder / "out.m4a").get("trkn"), pairs)

    def test_speex_is_read(self):
        self.write("in.wav", wav(tones(8000, 16000), 16000))
        made = subprocess.run(("ffmpeg", "-v", "error", "-i", "in.wav", "-c:a", "libspeex", "a.spx"), cwd=self.folder)
        if made.returncode:
            self.skipTest("this ffmpeg writes no Speex")
        self.smp("convert", "a.spx", "out.wav")
        subprocess.run(("ffmpeg", "-v", "error", "-i", "a.spx", "peer.wav"), cwd=self.folder, check=True)
        self.smp("diff", "out.wav", "peer.wav")
        self.write("cut.spx", (self.folder / "a.spx").read_bytes()[:-300])
        self.assertIn("truncated", self.smp("convert", "cut.spx", "x.wav", status=3).stderr)


if __name__ == "__main__":
    unittest.main()
