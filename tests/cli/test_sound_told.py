"""What would change a sound without a word: bits that 32-bit floats do not hold, codes of 8 bits, samples that are not
finite, fades that are longer than the sound."""
import json
import shutil
import struct
import subprocess
import unittest

import numpy as np

from harness import SAMPLES, CliCase

DATA = SAMPLES.parent / "tests/data"
PCM, FLOAT, ALAW, ULAW = 1, 3, 6, 7
ROUNDED = r"sound is read as 32-bit float: (\d+) of (\d+) samples were rounded to its 24 bits"


class Told(CliCase):
    def test_speakers_that_a_format_does_not_name_are_told(self):
        head = struct.pack("<HHIIHHHHI", 0xFFFE, 6, 8000, 96000, 12, 16, 22, 16, 0x3F)
        self.write("a.wav", b"RIFF" + struct.pack("<I", 60 + 240) + b"WAVEfmt " + struct.pack("<I", 40) + head +
                   bytes.fromhex("0100000000001000800000aa00389b71") + b"data" + struct.pack("<I", 240) + bytes(240))
        self.assertIn("its channels are L R C LFE BL BR is told by their order alone: an AIFF names no speakers",
                      self.smp("convert", "a.wav", "a.aiff").stderr)
        self.assertEqual(self.smp("convert", "a.wav", "a.caf").stderr, "")

    def wav(self, name, samples, tag, rate=8000):
        samples = np.atleast_2d(samples.T).T
        channels, size = samples.shape[1], samples.itemsize
        head = struct.pack("<HHIIHH", tag, channels, rate, rate * channels * size, channels * size, 8 * size)
        data = samples.tobytes()
        self.write(name, b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", 16) + head +
                   b"data" + struct.pack("<I", len(data)) + data)

    def test_samples_far_beyond_full_scale_end_no_batch(self):
        noise = np.random.default_rng(2).standard_normal(24000)
        self.wav("b.wav", (noise * 2**30).astype("<f4"), FLOAT, 48000)  # as integers scale them
        for name in ("a.wav", "c.wav"):
            self.wav(name, (noise / 9).astype("<f4"), FLOAT, 48000)
        told = self.smp("batch", "-e", "gain -1dB", "a.wav", "b.wav", "c.wav", "--to", "mp3", "-o", "out").stderr
        self.assertIn("b.mp3: 24000 samples are beyond full scale", told)
        self.assertEqual(len(list((self.folder / "out").glob("*.mp3"))), 3)

    def made(self, name):
        """The kind of sample in a file."""
        line = next(row for row in self.smp("info", name).stdout.splitlines() if "format " in row)
        return line.split(", ")[2]

    def wide(self):
        """A file of 32-bit PCM, one of doubles; how many samples of each f32 does not hold."""
        rng = np.random.default_rng(34)
        codes = rng.integers(-(2**31), 2**31, (500, 2)).astype("<i4")
        reals = rng.uniform(-1, 1, (500, 2)).astype("<f8")
        self.wav("s32.wav", codes, PCM)
        self.wav("f64.wav", reals, FLOAT)
        return {"s32.wav": int((codes.astype(np.float32).astype(np.int64) != codes).sum()),
                "f64.wav": int((reals.astype(np.float32) != reals).sum())}

    def test_samples_that_floats_do_not_hold_are_counted(self):
        for name, count in self.wide().items():
            self.assertGreater(count, 400)
            for command in (("convert", name, "a.wav", "-f"), ("convert", name, "a.caf", "-f"),
                            ("concat", name, "-o", "a.wav", "-f"), ("split", name, "-o", "parts", "-f"),
                            ("measure", "-e", "stats", name), ("convert", "-o", "out", name, "-f")):
                told = self.smp(*command).stderr
                self.assertRegex(told, rf"{name}: {ROUNDED}")
                self.assertEqual(told.count("rounded"), 1, command)
                self.assertIn(f": {count} of 1000 samples", told)
            self.assertEqual(self.made("a.wav"), {"s": "32-bit PCM", "f": "64-bit float"}[name[0]])

    def test_samples_that_floats_hold_are_not(self):
        rng = np.random.default_rng(35)
        self.wav("s32.wav", rng.integers(-(2**23), 2**23, (300, 1)).astype("<i4") * 256, PCM)
        self.wav("f64.wav", rng.uniform(-1, 1, (300, 1)).astype("<f4").astype("<f8"), FLOAT)
        for name in ("s32.wav", "f64.wav"):
            self.assertEqual(self.smp("convert", name, "b" + name).stderr, "")
            self.assertEqual(*((self.folder / n).read_bytes()[-300 * 4:] for n in (name, "b" + name)))

    def test_raw_and_big_endian_samples_are_counted_too(self):
        counts = self.wide()
        for name, spec in (("s32.wav", "s32lex2:8000"), ("f64.wav", "f64lex2:8000")):
            self.write("in.bin", (self.folder / name).read_bytes()[44:])
            self.assertIn(f"in.bin: sound is read as 32-bit float: {counts[name]} of 1000",
                          self.smp("convert", "--raw", spec, "in.bin", "o.wav", "-f").stderr)
        codes = np.frombuffer((self.folder / "s32.wav").read_bytes()[44:], "<i4").astype(">i4").tobytes()
        comm = struct.pack(">hIh", 2, 500, 32) + bytes([0x40, 0x0B, 0xFA, 0, 0, 0, 0, 0, 0, 0])
        self.write("in.aiff", b"FORM" + struct.pack(">I", 4 + 26 + 16 + len(codes)) + b"AIFFCOMM" +
                   struct.pack(">I", 18) + comm + b"SSND" + struct.pack(">III", 8 + len(codes), 0, 0) + codes)
        self.assertIn(f": {counts['s32.wav']} of 1000", self.smp("convert", "in.aiff", "o.aiff").stderr)

    def test_diff_says_that_it_compares_floats(self):
        rng = np.random.default_rng(36)
        codes = rng.integers(2**30, 2**31 - 1, 400).astype("<i4") & ~255 | 17
        self.wav("a.wav", codes, PCM)
        self.wav("b.wav", codes ^ 1, PCM)
        done = self.smp("diff", "a.wav", "b.wav")
        self.assertIn("a.wav and b.wav are the same as 32-bit floats (400 samples)", done.stdout)
        for name in ("a.wav", "b.wav"):
            self.assertRegex(done.stderr, rf"{name}: {ROUNDED}")
        self.assertTrue(json.loads(self.smp("diff", "a.wav", "b.wav", "--json").stdout)["as_32_bit_floats"])
        chirp = (SAMPLES / "chirp.wav", SAMPLES / "chirp.wav")
        self.assertIn("are the same (", self.smp("diff", *chirp).stdout)
        self.assertFalse(json.loads(self.smp("diff", *chirp, "--json").stdout)["as_32_bit_floats"])

    def test_codes_of_8_bits_are_kept(self):
        codes = np.random.default_rng(37).integers(0, 256, 600).astype(np.uint8)
        for tag, name, zero in ((ALAW, "A-law", None), (ULAW, "mu-law", 0x7F)):
            self.wav("in.wav", codes, tag)
            for target in ("o.wav", "o.w64", "o.caf"):
                self.assertEqual(self.smp("convert", "in.wav", target, "-f").stderr, "")
                self.assertEqual(self.made(target), name)
            want = np.where(codes == zero, 0xFF, codes) if zero else codes  # mu-law has two zeros
            got = np.frombuffer((self.folder / "o.wav").read_bytes()[-600:], np.uint8)
            np.testing.assert_array_equal(got, want)
            self.assertEqual(self.smp("convert", "in.wav", "o.wav", "-f", "--samples", "16").stderr, "")
            self.assertEqual(self.made("o.wav"), "16-bit PCM")

    def test_kinds_of_samples_that_a_format_lacks_are_told(self):
        codes = np.random.default_rng(38).integers(0, 256, 600).astype(np.uint8)
        self.wav("law.wav", codes, ULAW)
        self.wav("real.wav", codes.astype("<f4") / 256, FLOAT)
        self.wav("s32.wav", codes.astype("<i4") << 20, PCM)
        for name, target, kind, says in (
            ("law.wav", "o.aiff", "16-bit PCM", "o.aiff: the samples become 16-bit PCM: an AIFF holds no mu-law"),
            ("law.wav", "o.flac", "16-bit PCM", "o.flac: the samples become 16-bit PCM: a FLAC holds no mu-law"),
            ("real.wav", "o.flac", "24-bit PCM", "the samples become 24-bit PCM: a FLAC holds no 32-bit float"),
            ("s32.wav", "o.flac", "24-bit PCM", "the samples become 24-bit PCM: a FLAC holds no 32-bit PCM"),
        ):
            self.assertIn(says, self.smp("convert", name, target, "-f").stderr)
            self.assertEqual(self.made(target), kind)
        self.assertEqual(self.smp("convert", "real.wav", "o.flac", "-f", "--samples", "24").stderr, "")
        self.assertIn("a FLAC holds no 32-bit PCM", self.smp("convert", "real.wav", "o.flac", "-f", "--samples",
                                                             "32").stderr)

    def test_samples_that_are_not_finite_are_told(self):
        rate = 8000
        sound = (np.random.default_rng(39).uniform(-0.5, 0.5, rate * 20)).astype("<f4")
        self.wav("fine.wav", sound, FLOAT)
        sound[5], sound[7] = np.nan, -np.inf
        self.wav("in.wav", sound, FLOAT)
        measures = r"'{}' measures without (\d+) of 200 tenths of a second, since .* not finite \(NaN, infinity\)"
        for command, stage in ((("measure", "-e", "loudness", "in.wav"), "loudness"),
                               (("run", "-e", "loudness", "in.wav", "o.wav", "-f"), "loudness"),
                               (("run", "-e", "normalize lufs=-30", "in.wav", "o.wav", "-f"), "normalize"),
                               (("batch", "-e", "normalize lufs=-30", "in.wav", "-o", "out"), "normalize")):
            self.assertRegex(self.smp(*command).stderr, measures.format(stage))
        for stage in ("normalize", "normalize rms=-30dBFS"):
            self.assertIn("'normalize' measures without 2 samples that are not finite (NaN, infinity); the sound keeps",
                          self.smp("run", "-e", stage, "in.wav", "o.wav", "-f").stderr)
            self.assertEqual(self.smp("run", "-e", stage, "fine.wav", "o.wav", "-f").stderr, "")
        self.assertEqual(self.smp("measure", "-e", "loudness", "fine.wav").stderr, "")
        told = self.smp("measure", "-e", "loudness target=-40LUFS", "fine.wav").stderr
        self.assertRegex(told, r"fine.wav: its loudness is -\d.* louder than the -40.0 asked for: `normalize lufs=")

    def test_a_sample_that_is_not_finite_is_told_at_the_very_end_too(self):
        sound = np.full(16100, 0.1, "<f4")  # the last 100 are less than a tenth of a second
        for bad in (np.nan, np.inf):
            sound[16050] = bad
            self.wav("in.wav", sound, FLOAT)
            for command in (("measure", "-e", "loudness", "in.wav"), ("run", "-f", "-e", "normalize lufs=-30", "in.wav",
                                                                      "o.wav")):
                self.assertIn("measures without 1 of 21 tenths of a second", self.smp(*command).stderr)
        self.assertEqual(json.loads(self.smp("measure", "-q", "-e", "loudness", "in.wav", "--json").stdout),
                         json.loads(self.smp("measure", "-q", "-e", "loudness", "in.wav", "--json", "--device",
                                             "simt").stdout))

    def test_doubles_beyond_floats_are_told_as_infinite(self):
        sound = np.array([0.5, 1e300, -1e39, np.inf, np.nan, 0.1, 3e38])
        self.wav("in.wav", sound, FLOAT)
        told = self.smp("convert", "in.wav", "o.npy").stderr
        self.assertIn("2 of 7 samples are beyond its range and became infinite", told)
        self.assertIn("2 of 7 samples were rounded to its 24 bits", told)

    def test_samples_that_are_not_finite_leave_what_else_is_told(self):
        sound = (np.random.default_rng(39).uniform(-0.5, 0.5, 16400)).astype("<f4")
        sound[15500] = np.nan
        self.wav("in.wav", sound, FLOAT)
        told = self.smp("run", "-e", "normalize lufs=0", "in.wav", "o.wav").stderr
        self.assertRegex(told, r"LU quieter than asked.*; 'normalize' measures without \d+ of 21 tenths of a second")

    def test_ogg_pages_that_are_damaged_or_missing_are_told(self):
        rng = np.random.default_rng(8)
        self.wav("in.wav", (np.cumsum(rng.normal(0, 200, 30000)) % 20000).astype("<i2"), PCM)
        for name in ("a.ogg", "a.opus"):
            self.smp("convert", "in.wav", name)
            whole = (self.folder / name).read_bytes()
            pages = [i for i in range(len(whole)) if whole.startswith(b"OggS", i)] + [len(whole)]
            for k in range(2, len(pages) - 1):
                flipped = bytearray(whole)
                flipped[(pages[k] + pages[k + 1]) // 2] ^= 16
                self.write(name, bytes(flipped))
                self.assertIn(f"the page at byte {pages[k]} does not have its checksum",
                              self.smp("info", name, status=3).stderr)
            self.write(name, whole[:pages[-3]] + whole[pages[-2]:])
            self.assertIn("is not the next one: some are missing before it",
                          self.smp("convert", name, "o.wav", status=3).stderr)
            self.assertFalse((self.folder / "o.wav").exists())
            self.write(name, whole)
            self.smp("convert", name, "whole.wav", "-f")

    def test_a_fade_longer_than_the_sound_is_told(self):
        self.wav("in.wav", np.full(8000, 1000, "<i2"), PCM)
        for stage, says in (
            ("fade in=2s", "stage 'fade' rises over 2 s, and the sound is 1 s long: it takes all of it"),
            ("fade out=3s", "stage 'fade' falls over 3 s, and the sound is 1 s long: it takes all of it"),
            ("fade in=0.7s out=0.6s", "stage 'fade' begins to fall before it has risen: the sound is 1 s long"),
            ("fade in=0.5s out=0.5s", None),
            ("fade in=1s", None),
        ):
            told = self.smp("run", "-e", stage, "in.wav", "o.wav", "-f").stderr
            self.assertIn(says, told) if says else self.assertEqual(told, "")
        told = self.smp("batch", "-e", "fade in=2s", "in.wav", "-o", "out").stderr
        self.assertIn("rises over 2 s, and the sound is 1 s long", told)

    def test_samples_that_spread_are_told_where_they_are_read(self):
        sound = np.full(9000, 0.25, "<f4")
        self.wav("in.wav", sound, FLOAT)
        self.assertEqual(self.smp("run", "-e", "highpass 100Hz", "in.wav", "o.wav").stderr, "")
        sound[[5, 9]] = np.nan, np.inf
        for name, samples in (("in.wav", sound), ("wide.wav", sound.astype("<f8"))):
            self.wav(name, samples, FLOAT)
            told = self.smp("run", "-f", "-e", "highpass 100Hz", name, "o.wav").stderr
            self.assertIn(f"{name}: 2 of 9000 samples are not finite (NaN, infinity)", told)
            self.assertNotIn("became infinite", told)
        self.assertRegex(self.smp("concat", "in.wav", "-o", "o.flac", "--samples", "16").stderr,
                         r"beyond full scale and clipped \(lower the level first\), or NaN and stored as 0")

    def test_coded_sounds_beyond_full_scale_are_told(self):
        self.wav("in.wav", np.full(48000, 0.5, "<f4") * np.sin(np.arange(48000) / 9).astype("<f4"), FLOAT, 48000)
        for name in ("o.ogg", "o.opus", "o.mp3"):
            done = self.smp("run", "-e", "gain 20dB", "in.wav", name, status=(0, 2, 4))
            if done.returncode:
                continue  # this build writes no such file
            self.assertRegex(done.stderr, rf"{name}: \d+ samples are beyond full scale, by up to 14.0 dB, .*"
                                          r"`gain -14.0dB`")
            self.assertEqual(self.smp("run", "-f", "-e", "gain 6dB", "in.wav", name).stderr, "")

    def test_samples_without_a_header_are_read_as_codes_too(self):
        codes = np.random.default_rng(40).integers(0, 256, 600).astype(np.uint8)
        for tag, kind in ((ALAW, "alaw"), (ULAW, "mulaw")):
            self.wav("in.wav", codes, tag)
            self.write("in.bin", codes.tobytes())
            self.smp("convert", "-f", "in.wav", "a.npy")
            self.assertEqual(self.smp("convert", "-f", "--raw", f"{kind}x1:8000", "in.bin", "b.npy").stderr, "")
            np.testing.assert_array_equal(*(np.load(self.folder / n) for n in ("a.npy", "b.npy")))
        self.write("c.raw", codes.tobytes())
        self.assertIn("--raw s16lex2:44100 reads samples without a header",
                      self.smp("convert", "c.raw", "z.wav", status=3).stderr)

    def test_what_users_of_sox_type_is_answered(self):
        self.wav("in.wav", np.full(8000, 1000, "<i2"), PCM)
        told = self.smp("convert", "in.wav", "o.wav", "-r", "16000", status=2).stderr
        self.assertIn("-r is --recursive; another rate is --rate 16000", told)
        for stage, says in (("vol 0.5", "gain -6.02dB"), ("volume 50%", "gain -6.02dB"), ("volume 2", "gain 6.02dB"),
                            ("volume 3dB", "gain 3dB"), ("norm -3", "normalize"),
                            ("rate 16k", "resample")):
            self.assertIn("smempipe calls this: " + says, self.smp("run", "-e", stage, "in.wav", "o.wav",
                                                                   status=2).stderr)
        for stage, says in (("normalize -16", "write peak=-16"),
                            ("normalize peak=-16LUFS", "'peak' is a level in dB, but '-16LUFS' is a loudness"),
                            ("normalize rms=-16LUFS", "write lufs=-16LUFS"), ("gain -3LUFS", "is a loudness")):
            self.assertIn(says, self.smp("run", "-e", stage, "in.wav", "o.wav", status=2).stderr)
        for stage, says in (("remix 1,2", "write mono"), ("silence 1 0.1 1%", "`trim auto` cuts it")):
            self.assertIn(says, self.smp("run", "-e", stage, "in.wav", "o.wav", status=2).stderr)
        for sox, ours in (("remix -", "remix mono"), ("remix 1", "remix left"), ("remix 2 1", "remix swap")):
            self.wav("two.wav", np.array([[1000, 3000]] * 50, "<i2"), PCM)
            for name, stage in (("sox.npy", sox), ("ours.npy", ours)):
                self.smp("run", "-f", "-e", stage, "two.wav", name)
            np.testing.assert_array_equal(*(np.load(self.folder / n) for n in ("sox.npy", "ours.npy")))
        for option, says in (("-c", "--channels"), ("-ac", "--channels"), ("-ar", "--rate"), ("-b", "--samples"),
                             ("--bits", "--samples"), ("-ab", "--bitrate")):
            self.assertIn(f"did you mean '{says}'?", self.smp("convert", "in.wav", "o.wav", option, "1",
                                                              status=2).stderr)
        self.assertIn("--bitrate", self.smp("convert", "in.wav", "o.wav", "--bitrate", "192k").stderr)

    def test_films_of_a_folder_are_sounds_where_sounds_are_wanted(self):
        films = [f"a.{end}" for end in ("avi", "ape", "mkv", "MOV", "mp4", "webm", "wv")]
        (self.folder / "in").mkdir()
        (self.folder / "films").mkdir()
        for name in films:  # by name alone: what a file holds is read from it
            shutil.copy(SAMPLES / "chirp.wav", self.folder / "in" / name)
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "films/b.mov")
        shutil.copy(SAMPLES / "chelsea.png", self.folder / "in/b.png")
        name = ("--name", "{stem}-{from}.wav")
        for words in (("batch", "-e", "gain -3dB"), ("batch", "-e", "add 0%", "--to", "wav"),
                      ("convert", "--to", "wav")):
            done = self.smp(*words, *(() if "--to" in words else name), "films", "-o", "out", "-f")
            self.assertTrue(done.stderr.startswith("smempipe: 1 file done; "), done.stderr)
        done = self.smp("batch", "-e", "gain -3dB", "in", "-o", "all", *name)
        self.assertIn("7 files done, 1 passed over by their names (1 .png)", done.stderr)
        done = self.smp("batch", "-n", "-e", "gain -3dB", "in", "-o", "more", *name)
        self.assertIn("smempipe: 1 file passed over by its name (1 .png)\n", done.stderr)
        done = self.smp("batch", "-n", "-e", "gray", "in", "-o", "more", "--exclude", "*.ape", "--exclude", "*.wv")
        self.assertIn("5 files passed over by their names (1 .avi, 1 .mkv, 1 .mov, 1 .mp4, 1 .webm)", done.stderr)
        self.assertEqual(self.smp("measure", "-e", "loudness", "in").stdout.count("f32 1ch"), 7)
        self.smp("concat", "films", SAMPLES / "chirp.wav", "-o", "two.wav")
        self.assertIn("this is for pictures, and 1 file there is something else by name: 1 .mov",
                      self.smp("batch", "-e", "gray", "films", "-o", "none", status=3).stderr)
        self.assertIn("1 file there was passed over by name (1 .mov); --include '*' tries all",
                      self.smp("measure", "-e", "stats", "films", status=3).stderr)

    def test_what_a_wav_holds_beside_its_samples_is_told(self):
        def chunk(name, data):
            return name + struct.pack("<I", len(data)) + data + bytes(len(data) & 1)

        def told(*chunks, says=None, told_size=None, behind=b""):
            body = b"WAVE" + b"".join(chunks)
            self.write("a.wav", b"RIFF" + struct.pack("<I", told_size or len(body)) + body + behind)
            done = self.smp("convert", "-f", "a.wav", "out.wav")
            self.assertEqual(done.stderr, f"smempipe: warning: a.wav: {says}\n" if says else "")

        form = chunk(b"fmt ", struct.pack("<HHIIHH", PCM, 1, 8000, 16000, 2, 16))
        data = chunk(b"data", bytes(4000))
        info = chunk(b"LIST", b"INFO" + chunk(b"INAM", b"a\0"))
        told(form, chunk(b"JUNK", bytes(28)), info, data, chunk(b"PAD ", bytes(9)))
        told(form, chunk(b"bext", bytes(602)), data, chunk(b"cue ", bytes(4)), chunk(b"smpl", bytes(36)),
             chunk(b"LIST", b"adtl" + chunk(b"note", bytes(5))), chunk(b"iXML", b"<a/>"),
             says="its chunks of other kinds are left out: bext, smpl, iXML, notes of cue points")
        many = [letter * 4 for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + "abcdef"]
        told(form, *(chunk(name.encode(), bytes(2)) for name in many + many[-3:]), data,
             says="its chunks of other kinds are left out: " + ", ".join(many[:25]) + " and 7 others")
        told(form, data, chunk(b"data", bytes(600)), says="its second chunk of samples, of 600 bytes, is left out")
        short = "96000 bytes behind its samples are not read: its header says that the samples have 4000 bytes"
        told(form, data, bytes([1, 2]) * 48000, says=short)  # the size of the whole is right
        told(form, data, behind=bytes(96000), says=short)
        told(form, chunk(b"data", bytes(4000))[:4] + struct.pack("<I", 0) + bytes(4000), says=None)  # from a pipe

    def test_dates_lyrics_and_chapters_of_an_id3_tag(self):
        if "without" in self.smp("info", DATA / "bare.mp3", status=(0, 3)).stderr:
            self.skipTest("this build reads no MP3")

        def frame(name, body):
            return name + struct.pack(">IH", len(body), 0) + body

        frames = frame(b"TIT2", b"\0T") + frame(b"TYER", b"\0" b"2019") + frame(b"TDAT", b"\0" b"2403") + \
            frame(b"USLT", b"\0eng\0la la") + frame(b"TPE3", b"\0Boulez") + frame(b"PRIV", b"x\0y") + \
            frame(b"CTOC", b"toc\0\3\1c\0") + frame(b"CHAP", b"c\0" + bytes(16)) + frame(b"POPM", b"me\0\xFF")
        self.write("a.mp3", b"ID3\3\0\0" + bytes([0, 0, len(frames) >> 7, len(frames) & 127]) + frames +
                   (DATA / "bare.mp3").read_bytes())
        done = self.smp("convert", "a.mp3", "a.flac", status=(0, 4))
        if not done.returncode:
            self.assertIn("a.flac: PRIV, POPM are left out, which a FLAC has no place for\n",
                          done.stderr)
        self.smp("convert", "a.mp3", "b.mp3", status=(0, 4))
        for name in ("a.flac", "b.mp3"):
            path = self.folder / name
            if not path.exists():
                continue  # this build does not write it
            data = path.read_bytes()
            self.assertIn(b"2019-03-24", data, name)
            self.assertIn(b"LYRICS=la la" if name == "a.flac" else b"eng\0la la", data, name)
            self.assertIn(b"Boulez", data, name)
            self.assertEqual(b"USLT" in data, name == "b.mp3")
            self.assertRegex(self.smp("info", name).stdout, r"LYRICS +\(5 bytes\)")

    @unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
    def test_chapters_of_an_m4b_are_kept(self):
        if self.smp("info", DATA / "tone.m4a", status=(0, 3, 4)).returncode:
            self.skipTest("this build, or machine, reads nothing through FFmpeg's libraries")
        self.write("a.txt", b";FFMETADATA1\nlyrics=la la\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=50\ntitle=c\n")
        subprocess.run(("ffmpeg", "-v", "error", "-i", DATA / "tone.m4a", "-i", "a.txt", "-map_metadata", "1",
                        "-map_chapters", "1", "-c", "copy", "a.m4b"), cwd=self.folder, check=True)
        done = self.smp("info", "-v", "a.m4b")
        self.assertIn("text         CHAPTER001: 00:00:00.000\n  text         CHAPTER001NAME: c\n", done.stdout)
        self.assertIn("LYRICS: la la", done.stdout)


if __name__ == "__main__":
    unittest.main()
