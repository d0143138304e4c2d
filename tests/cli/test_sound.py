"""Sound on the command line: what fits what, pipes, memory, warnings, no traces of the clock."""
import re
import shutil
import struct
import subprocess
import time
import unittest
import wave

import numpy as np

from harness import PROGRAM, SANITIZED, PIPELINES, SAMPLES, CliCase

DATA = SAMPLES.parent / "tests/data"


class Sound(CliCase):
    def make(self, name, frames, rate=48000, channels=2, seed=1):
        block = (np.random.default_rng(seed).standard_normal((48000, channels)) * 3000).astype("<i2").tobytes()
        with wave.open(str(self.folder / name), "wb") as out:
            out.setparams((channels, 2, rate, frames, "NONE", ""))
            left = frames * channels * 2
            while left > 0:
                out.writeframesraw(block[:left])
                left -= len(block)

    def test_pictures_and_sounds_are_told_apart(self):
        cases = ((("-e", "gaussian 2px", SAMPLES / "chirp.wav", "out.wav"), 2,
                  "stage 'gaussian' works on pictures, but its input is sound"),
                 (("-e", "lowpass 1kHz", SAMPLES / "chelsea.png", "out.png"), 2,
                  "stage 'lowpass' works on sound, but its input is a picture"),
                 (("-e", "gain -3dB", SAMPLES / "chirp.wav", "out.png"), 4, "a PNG holds no sound"),
                 (("-e", "gaussian 2px", SAMPLES / "chelsea.png", "out.wav"), 4, "a WAV holds no pictures"),
                 )
        for arguments, status, message in cases:
            done = self.smp("run", *arguments, status=status)
            self.assertIn(message, done.stderr)
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_loudness_that_peaks_forbid_is_told(self):
        done = self.smp("run", "-e", "normalize lufs=-16", SAMPLES / "speech.flac", "out.wav")
        self.assertRegex(done.stderr, r"warning: out.wav: 'normalize' leaves it 3\.\d LU quieter than asked")
        done = self.smp("run", "-f", "-e", "normalize lufs=-30", SAMPLES / "speech.flac", "out.wav")
        self.assertEqual(done.stderr, "")
        self.make("short.wav", 4800)
        done = self.smp("run", "-f", "-e", "normalize lufs=-30", "short.wav", "out.wav")
        self.assertIn("shorter than 0.4 s, has no loudness", done.stderr)

    def test_an_album_gets_one_gain(self):
        for i in range(3):
            self.make(f"s{i}.wav", 48000, seed=i)
        files = [f"s{i}.wav" for i in range(3)]
        done = self.smp("batch", "album", *files, "-o", "out", "--album=-20LUFS", "--to", "npy")
        self.assertNotIn("true peak", done.stderr)
        gain = float(re.search(r"3 files together: .* LUFS; gain=([-+.0-9]+)dB for all", done.stderr)[1])
        for name in files:
            with wave.open(str(self.folder / name)) as file:
                before = np.frombuffer(file.readframes(48000), "<i2").reshape(-1, 2) / 32768
            after = np.load(self.folder / "out" / name.replace("wav", "npy"))
            self.assertLess(np.abs(after - before * 10 ** (gain / 20)).max(), 1e-3)
        for wrong, says in ((("--album=x",), "it takes a loudness"), (("--album=-20", "--shard", "1/2"), "exclude")):
            done = self.smp("batch", "album", *files, "-o", "other", *wrong, status=2)
            self.assertIn(says, done.stderr)
        done = self.smp("batch", "-e", "gain 0dB", *files, "-o", "other", "--album=-20", status=2)
        self.assertIn("this one has no parameter 'gain'", done.stderr)
        self.assertIn("write smempipe batch album --album=-20 DIR -o OUT_DIR", done.stderr)
        self.assertIn("has no parameter 'gain'", self.smp("batch", "podcast", *files, "-o", "other", "--album=-20LUFS",
                                                          status=2).stderr)
        done = self.smp("batch", "album", *files, "-o", "other", "--album=-1LUFS")
        self.assertRegex(done.stderr, r"warning: with this gain the highest true peak would be \+\d+\.\d dBTP")
        self.assertIn("write smempipe batch album --album=-16LUFS", self.smp("batch", "album", *files, "-o", "third",
                                                                             ).stderr)
        self.write("own.pipe", "param gain = 0dB\nparam other = 3dB\ngain $gain\n")
        done = self.smp("batch", "own.pipe", *files, "-o", "fourth", "--album=-20LUFS")
        self.assertEqual(done.stderr.count("parameter 'other' is not used"), 1, done.stderr)
        self.assertNotIn("--album", self.smp("convert", "--help").stdout)
        self.assertIn("write smempipe batch album --album=-16LUFS", self.smp("convert", "--album=-16LUFS", *files,
                                                                             "-o", "third", status=2).stderr)
        self.make("mono.wav", 48000, channels=1)
        self.assertIn("same number of channels",
                      self.smp("batch", "album", "s1.wav", "mono.wav", "-o", "other", "--album=-20", status=2).stderr)

    def test_what_is_level_already_is_left_out(self):
        for i in range(3):
            self.make(f"s{i}.wav", 48000, seed=i)
        level = float(re.search(r"lufs +(\S+)", self.smp("measure", "-e", "loudness", "s0.wav").stdout)[1])
        self.smp("run", "-e", "gain 6dB", "s2.wav", "loud.wav")
        self.write("cut.wav", (self.folder / "s0.wav").read_bytes()[:200])
        batch = ("batch", "-e", "gain 1dB", "s0.wav", "s1.wav", "loud.wav", "-o", "out",
                 f"--skip-level={level:.1f}LUFS")
        self.assertIn("(left: level already)", self.smp(*batch, "--dry-run").stdout)
        done = self.smp(*batch, "--report", "r.jsonl")
        self.assertIn("2 of 3 files within 0.5 LU", done.stderr)
        self.assertIn("1 file done, 2 level already", done.stderr)
        self.assertEqual([p.name for p in (self.folder / "out").glob("*.wav")], ["loud.wav"])
        self.assertEqual((self.folder / "r.jsonl").read_text().count('"skipped"'), 2)
        done = self.smp("batch", "-e", "gain 1dB", "cut.wav", "s0.wav", "-o", "other", "--skip-level=-30", status=1)
        self.assertIn("1 of 2 files failed", done.stderr)
        for wrong, says in ((("--skip-level=x",), "not a valid value for --skip-level"),
                            (("--skip-level=-20", "--album=-20"), "exclude")):
            self.assertIn(says, self.smp("batch", "album", "s0.wav", "-o", "o", *wrong, status=2).stderr)

    def test_files_that_an_album_cannot_measure_are_told(self):
        self.make("a.wav", 48000)
        self.write("cut.wav", (self.folder / "a.wav").read_bytes()[:200])
        album = ("batch", "album", "a.wav", "cut.wav")
        done = self.smp(*album, "-o", "out", "--album=-20LUFS", status=1)
        self.assertIn("1 of the album's 2 files cannot be measured and has no part in the gain: cut.wav: ", done.stderr)
        self.assertIn("1 file together", done.stderr)
        done = self.smp(*album, "-o", "none", "--album=-20LUFS", "--on-error", "stop", status=3)
        self.assertIn("1 of the album's 2 files cannot be measured", done.stderr)
        self.assertIn("'-o' is not a valid value for --album",
                      self.smp(*album, "--album", "-o", "none", status=2).stderr)
        self.assertFalse((self.folder / "none").exists())

    def test_a_pipeline_says_what_it_is_for(self):
        self.write("p.pipe", "kind audio\ngain -3dB\n")
        done = self.smp("run", "p.pipe", SAMPLES / "chelsea.png", "out.png", status=2)
        self.assertIn("the pipeline is for sound, but the input is a picture", done.stderr)
        self.write("q.pipe", "kind audio\ngaussian 2px\n")
        self.assertIn("gaussian", self.smp("check", "q.pipe", status=2).stderr)

    def test_info_tells_of_sound(self):
        text = self.smp("info", SAMPLES / "field.flac").stdout
        for part in ("FLAC, 24 bits", "44100 frames, 2.000 s at 22050 Hz", "channels     2"):
            self.assertIn(part, text)

    def test_an_mp3_is_read_by_the_process_that_decodes(self):
        if "libmpg123" in self.smp("info", DATA / "xing.mp3", status=(0, 1, 2, 3)).stderr:
            self.skipTest("this build reads no MP3")
        self.smp("run", "-e", "gain -6dB", DATA / "xing.mp3", "a.wav")
        self.smp("run", "--no-sandbox", "-e", "gain -6dB", DATA / "xing.mp3", "b.wav")
        self.assertEqual((self.folder / "a.wav").read_bytes(), (self.folder / "b.wav").read_bytes())
        with wave.open(str(self.folder / "a.wav")) as sound:
            self.assertEqual(sound.getparams()[:4], (1, 2, 22050, 22050))
        (self.folder / "cut.mp3").write_bytes((DATA / "xing.mp3").read_bytes()[:5000])
        done = self.smp("run", "-e", "gain -6dB", "cut.mp3", "c.wav", status=3)
        self.assertIn("it is truncated", done.stderr)
        self.assertFalse((self.folder / "c.wav").exists())
        self.smp("batch", "-e", "gain -6dB", DATA, "-o", "out", "--include", "*.mp3")
        self.assertEqual(sorted(p.name for p in (self.folder / "out").glob("*.mp3")), ["bare.mp3", "xing.mp3"])

    def test_an_mp3_is_written_as_long_as_it_was_and_with_its_tags(self):
        if "mp3" not in self.smp("help", "formats").stdout.lower():
            self.skipTest("this build writes no MP3")
        self.smp("convert", DATA / "xing.mp3", "a.wav")
        for name in ("a.mp3", "b.mp3"):
            self.smp("convert", "a.wav", name, "--quality", "90")
        self.assertEqual((self.folder / "a.mp3").read_bytes(), (self.folder / "b.mp3").read_bytes())
        self.assertIn("22050 frames", self.smp("info", "a.mp3").stdout)
        self.assertEqual(*("Title: " in self.smp("info", "-v", name).stdout for name in ("a.wav", "a.mp3")))
        self.smp("convert", "a.wav", "small.mp3", "--bitrate", "32")
        self.assertLess((self.folder / "small.mp3").stat().st_size, (self.folder / "a.mp3").stat().st_size * 0.7)
        for arguments, status, message in (
                (("convert", "a.wav", "x.ogg", "--bitrate", "64"), 2, "--quality 40"),
                (("convert", "a.wav", "x.mp2"), 4, "write an .mp3 (--to mp3 for many files)"),
                ):
            self.smp("run", "-f", "-e", "resample 96kHz", "a.wav", "96.wav")
            self.assertIn(message, self.smp(*arguments, status=status).stderr)
            self.assertFalse((self.folder / "x.mp3").exists())
        for rate, name, asked, used in ((22050, "x.mp3", "192", 160), (8000, "x.mp3", "192", 64),
                                        (8000, "x.mp3", "30", 32),
                                        (44100, "x.mp3", "100", 96), (44100, "x.mp3", "999", 320),
                                        (16000, "x.opus", "2000", 512)):
            self.smp("run", "-f", "-q", "-e", "remix stereo", "-e", f"resample {rate}Hz", "a.wav", "r.wav")
            told = self.smp("convert", "-f", "r.wav", name, "--bitrate", asked).stderr
            self.assertIn(f"has no {asked} kbit/s: written with the nearest, {used}", told)
            if name == "x.mp3":
                data = (self.folder / name).read_bytes()
                self.assertAlmostEqual(len(data) * 8 / used / 1000, 1, delta=0.25)  # the sound is a second long
        told = self.smp("run", "-f", "-e", "resample 96kHz", "a.wav", "x.mp3").stderr
        self.assertIn("the format has no rate of 96000 Hz: the sound is resampled to 48 kHz", told)
        self.smp("convert", "-f", "high.wav", "-e", "noise pink 0.1s rate=201kHz seed=1")
        told = self.smp("convert", "high.wav", "x.ogg").stderr
        self.assertIn("the format has no rate of 201000 Hz: the sound is resampled to 48 kHz", told)
        self.smp("convert", "-f", "high.wav", "-e", "noise pink 0.1s rate=200kHz seed=1")
        self.assertEqual(self.smp("convert", "-f", "high.wav", "x.ogg").stderr, "")

    def test_an_mp3_has_lames_qualities(self):
        self.smp("convert", "in.wav", "-e", "noise pink 1s rate=44.1kHz seed=1")
        for words in (("--mp3-vbr", "2"), ("--quality", "80"), ("--mp3-vbr", "7"), ("--quality", "30")):
            self.smp("convert", "in.wav", f"{words[0][2:5]}{words[1]}.mp3", *words)
        same = [[(self.folder / name).read_bytes() for name in names]
                for names in (("mp32.mp3", "qua80.mp3"), ("mp37.mp3", "qua30.mp3"))]
        self.assertEqual([a == b for a, b in same], [True, True])
        self.assertLess(len(same[1][0]), len(same[0][0]))
        for words, said in ((("--mp3-vbr", "10"), "0 to 9"),
                            (("--mp3-vbr", "2", "--bitrate", "96"), "exclude each other")):
            self.assertIn(said, self.smp("convert", "in.wav", "x.mp3", *words, status=2).stderr)
        self.assertFalse((self.folder / "x.mp3").exists())

    def test_a_second_sound_is_brought_to_rate_and_channels(self):
        self.smp("convert", "in.wav", "-e", "noise pink 1s rate=16kHz channels=2 seed=1")
        self.smp("convert", "bed.wav", "-e", "tone 440Hz 0.7s rate=44.1kHz")
        self.smp("convert", "six.wav", "-e", "noise white 0.5s rate=48kHz channels=6 seed=2")
        for stage, other, own in (("mix {} gain=-6dB", "bed.wav", "resample 16kHz"),
                                  ("mix {} at=0.2s", "six.wav", "remix stereo; resample 16kHz"),
                                  ("append {} crossfade=0.1s", "six.wav", "remix stereo; resample 16kHz"),
                                  ("mix {} how=beside", "bed.wav", "resample 16kHz")):
            own = own.replace("; ", "\n")
            self.write("two.pipe", f'from "{other}"\n{own} -> @b\nfrom @input\n{stage.format("@b")}\n')
            self.smp("run", "-q", "-f", "two.pipe", "in.wav", "two.wav")
            for words in ((), ("--strip-rows", "100")):
                self.smp("run", "-q", "-f", "-e", stage.format(f'"{other}"') + " fit=yes", "in.wav", "one.wav", *words)
                self.smp("diff", "one.wav", "two.wav")
        for other in ("bed.wav", "six.wav"):
            self.assertIn("fit=yes", self.smp("run", "-e", f'mix "{other}"', "in.wav", "x.wav", status=2).stderr)

    def test_m4a_and_the_sound_of_video_are_read(self):
        info = self.smp("info", "-v", DATA / "tone.m4a", status=(0, 3, 4))
        if "FFmpeg's libraries" in info.stderr:
            self.assertIn("ffmpeg -i IN -f wav - | smempipe", info.stderr)
            self.skipTest("this build, or machine, reads no M4A")
        for part in ("AAC", "at 16000 Hz", "Title: Tone", "Artist: Me"):
            self.assertIn(part, info.stdout)
        self.assertIn("4800 frames", self.smp("info", DATA / "film.mkv").stdout)
        for name in ("tone.m4a", "film.mkv"):
            self.smp("run", "-f", "-e", "remix mono", DATA / name, "a.wav")
            self.smp("run", "-f", "--no-sandbox", "-e", "remix mono", DATA / name, "b.wav")
            self.assertEqual((self.folder / "a.wav").read_bytes(), (self.folder / "b.wav").read_bytes())
            with wave.open(str(self.folder / "a.wav")) as sound:
                samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
            spectrum = np.abs(np.fft.rfft(samples[:4800] * np.hanning(4800)))
            self.assertEqual(np.argmax(spectrum), 440 * 4800 // 16000, name)
            self.assertAlmostEqual(np.sqrt(np.mean((samples[1000:4000] / 32768) ** 2)), 0.125 / 2 ** 0.5, delta=0.004)
        (self.folder / "in").mkdir()
        data = (DATA / "tone.m4a").read_bytes()
        (self.folder / "in/whole.m4a").write_bytes(data)
        self.smp("batch", "-e", "remix mono", "in", "-o", "out", "--to", "wav")
        self.assertTrue((self.folder / "out/whole.wav").exists())
        self.smp("convert", "in", "-o", "converted", "--to", "wav")  # in each of these a decoder is confined first
        self.assertTrue((self.folder / "converted/whole.wav").exists())
        self.smp("convert", "--files-from", "-", "-o", "named", "--to", "wav", input="in/whole.m4a\n")
        self.smp("run", "-e", 'append by="in/whole.m4a"', "converted/whole.wav", "twice.wav")
        with open(DATA / "tone.m4a", "rb") as file:  # a pipe's beginning is seen before decoders are confined
            piped = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
            self.smp("run", "-e", "remix mono", "-", "piped.wav", stdin=piped.stdout)
            piped.stdout.close()
            piped.wait()
        with open(DATA / "tone.m4a", "rb") as file:
            self.smp("run", "-e", "remix mono", "-", "stdin.wav", stdin=file)
        process = subprocess.Popen([PROGRAM, "run", "-e", "remix mono", "-", "slow.wav"], cwd=self.folder,
                                   stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(data[:4])
        process.stdin.flush()
        time.sleep(0.2)
        self.assertEqual(process.communicate(data[4:])[1], b"")
        for name in ("piped.wav", "stdin.wav", "slow.wav"):
            self.assertEqual((self.folder / name).read_bytes(), (self.folder / "out/whole.wav").read_bytes())
        self.write("cut.mkv", (DATA / "film.mkv").read_bytes()[:4000])
        self.assertIn("the file is truncated", self.smp("info", "cut.mkv", status=3).stderr)
        self.write("cut.m4a", data[:len(data) // 2])
        self.write("none.m4a", b"#EXTM3U\nfile:///etc/passwd\n")  # no playlist is followed
        for name, status in (("cut.m4a", 3), ("none.m4a", (3, 4))):
            self.smp("run", "-e", "remix mono", name, "c.wav", status=status)
            self.assertFalse((self.folder / "c.wav").exists())

    def test_sounds_of_speech_corpora_are_read(self):
        """AU and NIST SPHERE, through FFmpeg's libraries; 24 bits stay 24 bits."""
        info = self.smp("info", DATA / "tone.m4a", status=(0, 3, 4))
        if "FFmpeg's libraries" in info.stderr:
            self.skipTest("this build, or machine, reads no AU")
        samples = (np.arange(2000) * 13 % 30000).astype("<i4")
        wide = b"".join(int(v).to_bytes(3, "big") for v in samples * 250)
        self.write("s.au", struct.pack(">4sIIIII", b".snd", 24, 4000, 3, 8000, 1) + samples.astype(">i2").tobytes())
        self.write("w.au", struct.pack(">4sIIIII", b".snd", 24, 6000, 4, 8000, 1) + wide)
        header = ("NIST_1A\n   1024\nchannel_count -i 1\nsample_count -i 2000\nsample_rate -i 8000\n"
                  "sample_n_bytes -i 2\nsample_byte_format -s2 01\nsample_sig_bits -i 16\nsample_coding -s3 pcm\n"
                  "end_head\n").encode()
        self.write("s.sph", header.ljust(1024) + samples.astype("<i2").tobytes())
        for name, bits, scale in (("s.au", 16, 1), ("s.sph", 16, 1), ("w.au", 24, 250)):
            self.smp("convert", "-f", name, "a.wav")
            self.assertIn(f"{bits}-bit PCM", self.smp("info", "a.wav").stdout)
            self.smp("convert", "-f", "a.wav", "a.npy")
            np.testing.assert_array_equal(np.load(self.folder / "a.npy").ravel() * 2.0 ** (bits - 1), samples * scale)

    def test_tags_behind_a_bare_stream_are_no_loss(self):
        """Frames of AAC without a container, and what players write behind them."""
        data = (DATA / "tone.m4a").read_bytes()
        sizes, place = data.index(b"stsz") + 12, data.index(b"stco") + 12
        count, begin = (struct.unpack(">I", data[at:at + 4])[0] for at in (sizes, place))
        sound = b""
        for size in struct.unpack(f">{count}I", data[sizes + 4:sizes + 4 + 4 * count]):
            whole = size + 7  # ADTS: low complexity, 16 kHz, mono
            sound += bytes((0xff, 0xf1, 1 << 6 | 8 << 2, 1 << 6 | whole >> 11, whole >> 3 & 255,
                            (whole & 7) << 5 | 31, 0xfc)) + data[begin:begin + size]
            begin += size
        done = self.smp("info", DATA / "tone.m4a", status=(0, 3, 4))
        if "FFmpeg's libraries" in done.stderr:
            self.skipTest("this build, or machine, reads no AAC")
        item = struct.pack("<II", 3, 0) + b"Title\0abc"
        head, foot = (b"APETAGEX" + struct.pack("<IIII", version, 32 + len(item), 1, flags) + bytes(8)
                      for version, flags in ((2000, 0xa0000000), (2000, 0x80000000)))
        bare = b"APETAGEX" + struct.pack("<IIII", 1000, 32 + len(item), 1, 0) + bytes(8)
        id3 = b"TAG" + bytes(125)
        for name, tail in (("none", b""), ("id3", id3), ("ape", head + item + foot), ("both", item + bare + id3)):
            self.write(f"{name}.aac", sound + tail)
            self.assertNotIn("truncated", self.smp("info", f"{name}.aac").stderr, name)
        self.write("parts.aac", sound + b"ID3\4\0\0\0\0\0\x14" + bytes(20) + sound)  # as those of HLS
        self.assertIn(f"{2 * 1024 * count} frames", self.smp("info", "parts.aac").stdout)
        self.write("noise.aac", sound + bytes(150))
        self.assertIn("the last 150 bytes are not a frame", self.smp("info", "noise.aac", status=3).stderr)

    @unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
    def test_sound_as_it_is_in_films_and_flac_in_ogg_are_whole(self):
        """Films count PCM in samples, others in packets."""
        if self.smp("info", DATA / "tone.m4a", status=(0, 3, 4)).returncode:
            self.skipTest("this build reads no films")
        data = np.arange(9000, dtype=np.int16).reshape(-1, 2) * 3
        (self.folder / "in.raw").write_bytes(data.tobytes())
        self.smp("convert", "--raw", "s16lex2:8000", "in.raw", "in.wav")
        for name, codec in (("a.mov", "pcm_s16be"), ("b.mov", "pcm_s24le"), ("c.avi", "pcm_s16le"), ("d.oga", "flac")):
            subprocess.run(("ffmpeg", "-v", "error", "-i", "in.wav", "-c:a", codec, name), cwd=self.folder, check=True)
            self.smp("convert", name, name + ".wav", "--samples", "16")
            with wave.open(str(self.folder / (name + ".wav"))) as sound:
                self.assertEqual(sound.readframes(sound.getnframes()), data.tobytes(), name)

    def test_a_podcast_of_an_m4a_is_an_mp3(self):
        formats = self.smp("help", "formats").stdout
        info = self.smp("info", DATA / "tone.m4a", status=(0, 3, 4))
        if info.returncode or not re.search(r"MP3 +read, written", formats):
            self.skipTest("this build reads no M4A or writes no MP3")
        shutil.copy(DATA / "tone.m4a", self.folder / "talk.m4a")
        shutil.copy(PIPELINES / "podcast.pipe", self.folder)
        self.smp("run", "podcast.pipe", "talk.m4a", "talk.mp3")
        told = self.smp("info", "-v", "talk.mp3").stdout
        for part in ("MP3", "Title: Tone", "Artist: Me"):
            self.assertIn(part, told)

    def test_what_other_programs_pipe_is_read(self):
        self.make("in.wav", 30000)
        pipes = (("sox", ("sox", "in.wav", "-t", "wav", "-"), 30000),
                 ("ffmpeg", ("ffmpeg", "-v", "error", "-i", "in.wav", "-f", "wav", "-"), 30000),
                 ("ffmpeg", ("ffmpeg", "-v", "error", "-i", "in.wav", "-f", "w64", "-"), 30000),
                 ("ffmpeg", ("ffmpeg", "-v", "error", "-i", "in.wav", "-f", "caf", "-"), 30000),
                 ("espeak-ng", ("espeak-ng", "--stdout", "one two three"), None))
        found = 0
        for program, command, frames in pipes:
            if not shutil.which(program):
                continue
            found += 1
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self.folder) as other:
                self.smp("run", "-f", "-e", "gain -3dB", "-", "out.wav", stdin=other.stdout)
            with wave.open(str(self.folder / "out.wav")) as sound:
                if frames:
                    self.assertEqual(sound.getnframes(), frames, command)
                else:
                    self.assertGreater(sound.getnframes(), 10000, command)
        if not found:
            self.skipTest("needs sox, ffmpeg or espeak-ng")

    @unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
    def test_what_fills_up_ffmpegs_w64_is_no_sound(self):
        """FFmpeg counts the bytes that make the chunk's size a multiple of 8 as samples; a float W64 has fact."""
        self.make("in.wav", 1001, channels=1)
        for codec, frames in (("s24le", 1002), ("f32le", 1001)):
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", "in.wav", "-c:a", f"pcm_{codec}", "a.w64"],
                           cwd=self.folder, check=True)
            self.smp("convert", "-f", "a.w64", "b.wav", "--samples", "16")
            with wave.open(str(self.folder / "b.wav")) as sound:
                self.assertEqual(sound.getnframes(), frames, codec)

    def test_what_lies_behind_a_cafs_samples_fails_nothing(self):
        self.make("in.wav", 5000)
        self.smp("run", "-e", "gain 0dB", "in.wav", "a.caf")
        data = (self.folder / "a.caf").read_bytes()
        description = data[8:8 + 12 + 32]
        for name, tail in (("junk", b"\xff" * 12), ("again", description)):
            self.write(f"{name}.caf", data + tail)
            self.smp("run", "-f", "-e", "gain 0dB", f"{name}.caf", "b.wav")
            with wave.open(str(self.folder / "b.wav")) as sound:
                self.assertEqual(sound.getnframes(), 5000, name)

    def test_codes_of_8_bits_are_written_on_request(self):
        self.make("in.wav", 5000)
        for kind, encoding in (("alaw", "A-law"), ("mulaw", "mu-law")):
            for extension in ("wav", "w64", "caf"):
                self.smp("convert", "in.wav", f"{kind}.{extension}", "--samples", kind)
                self.assertIn(encoding, self.smp("info", f"{kind}.{extension}").stdout)
            self.smp("convert", f"{kind}.wav", "back.wav", "--force")
            self.smp("convert", "back.wav", "again.wav", "--samples", kind, "--force")
            self.smp("convert", "again.wav", "again2.wav", "--force")  # mu-law has two zeros
            self.assertEqual(*((self.folder / name).read_bytes() for name in ("back.wav", "again2.wav")))

    def test_opus_is_written_at_its_rates(self):
        for command in (("run", "-f", "-e", "gain -3dB", SAMPLES / "field.flac", "a.opus"),
                        ("batch", "-e", "gain -3dB", SAMPLES / "field.flac", "-o", "out", "--to", "opus")):
            told = self.smp(*command).stderr
            self.assertEqual(told.count("the format has no rate of 22050 Hz: the sound is resampled to 48 kHz"), 1)
        told = self.smp("concat", SAMPLES / "field.flac", SAMPLES / "field.flac", "-o", "all.opus").stderr
        self.assertEqual(told.count("the format has no rate of 22050 Hz: the sound is resampled to 48 kHz"), 1)
        (self.folder / "a.opus").unlink()
        stages = ("-e", "resample 48kHz", "-e", "gain -3dB")
        for name in ("a.opus", "b.opus"):
            self.smp("run", *stages, SAMPLES / "chirp.wav", name)
        self.assertEqual((self.folder / "a.opus").read_bytes(), (self.folder / "b.opus").read_bytes())
        self.smp("run", *stages, SAMPLES / "chirp.wav", "want.wav")
        levels = []
        for name in ("a.opus", "want.wav"):
            rows = self.smp("measure", "-e", "stats", name).stdout.splitlines()
            levels.append(next(float(row.split()[1]) for row in rows if row.split()[:1] == ["rms_dbfs"]))
        self.assertAlmostEqual(levels[0], levels[1], delta=0.1)
        self.assertIn("at 48000 Hz", self.smp("info", "a.opus").stdout)

    def test_pipes(self):
        self.make("in.wav", 100000)
        self.smp("run", "-e", "gain -3dB", "in.wav", "file.wav")
        data = (self.folder / "in.wav").read_bytes()
        done = self.smp("run", "-e", "gain -3dB", "-", "-", text=False, input=data)
        self.assertEqual(done.stdout, (self.folder / "file.wav").read_bytes())

    def test_same_bytes_at_any_time(self):
        first = {}
        for again in range(2):
            for name in ("a.wav", "a.flac", "a.ogg", "a.aiff"):
                self.smp("run", "--force", "-e", "gain -3dB", SAMPLES / "speech.flac", name)
                data = (self.folder / name).read_bytes()
                self.assertEqual(first.setdefault(name, data), data, name)
            time.sleep(1.1 if not again else 0)

    def test_taps_and_matrices_come_from_text_files(self):
        self.write("taps.txt", "# a filter\n0.25, 0.5\t0.25   # done\n")
        self.smp("run", "-e", 'fir "taps.txt"', SAMPLES / "chirp.wav", "a.wav")
        self.smp("run", "-e", "fir [0.25 0.5 0.25]", SAMPLES / "chirp.wav", "b.wav")
        self.assertEqual((self.folder / "a.wav").read_bytes(), (self.folder / "b.wav").read_bytes())
        self.write("column.txt", "1\n2\n3\n")
        self.smp("run", "-e", 'convolve "column.txt"', SAMPLES / "camera.png", "a.npy")
        self.smp("run", "-e", "convolve [1; 2; 3]", SAMPLES / "camera.png", "b.npy")
        self.assertEqual((self.folder / "a.npy").read_bytes(), (self.folder / "b.npy").read_bytes())
        for text, message in (
            ("1 2\n3\n", "row 2 of 'taps' has 1 value, but row 1 has 2"),
            ("1 2x\n", "bad.txt:1:3: error: '2x' is not a number"),
            ("# none\n", "'bad.txt' has 0 numbers"),
        ):
            self.write("bad.txt", text)
            self.assertIn(message,
                          self.smp("run", "-e", 'fir "bad.txt"', SAMPLES / "chirp.wav", "c.wav", status=2).stderr)
        self.assertIn("cannot read 'missing.txt'",
                      self.smp("run", "-e", 'fir "missing.txt"', SAMPLES / "chirp.wav", "c.wav", status=2).stderr)

    def test_the_kind_of_sample_is_kept_or_chosen(self):
        for options, target, kind in (
            ((), "a.wav", "24-bit PCM"),
            (("--strip",), "b.aiff", "24-bit PCM"),
            (("--samples", "16"), "c.wav", "16-bit PCM"),
            (("--samples", "float"), "d.wav", "32-bit float"),
            (("--samples", "16"), "e.flac", "16-bit PCM"),
        ):
            self.smp("run", *options, "-e", "gain -3dB", SAMPLES / "field.flac", target)
            self.assertIn(kind, self.smp("info", target).stdout)

    def test_samples_that_a_format_does_not_hold_are_told(self):
        self.make("in.wav", 100)
        for kind, name in (("alaw", "a.aiff"), ("mulaw", "b.flac"), ("float", "c.flac"), ("16", "d.ogg")):
            error = self.smp("convert", "in.wav", name, "--samples", kind).stderr
            self.assertRegex(error, "--samples.* does nothing: it is for WAV")
        self.assertEqual(self.smp("convert", "in.wav", "e.wav", "--samples", "alaw").stderr, "")

    def test_a_filter_longer_than_the_sound_is_told(self):
        self.make("short.wav", 100)
        done = self.smp("run", "-e", "lowpass 4kHz taps=255", "short.wav", "out.wav")
        self.assertIn("warning: stage 'lowpass' reaches further than the sound is long", done.stderr)
        done = self.smp("run", "-f", "-e", "lowpass 4kHz taps=63", "short.wav", "out.wav")
        self.assertNotIn("reaches further", done.stderr)

    def test_clipping_is_said_and_counted(self):
        done = self.smp("run", "-e", "gain 40dB", SAMPLES / "chirp.wav", "out.wav")
        self.assertRegex(done.stderr, r"warning: out.wav: \d+ samples were beyond full scale")
        self.assertEqual(
            self.smp("run", "-q", "--force", "-e", "gain 40dB", SAMPLES / "chirp.wav", "out.wav").stderr, "")
        report = self.smp("run", "--force", "--report=-", "-e", "gain 40dB", SAMPLES / "chirp.wav", "out.wav").stdout
        self.assertIn('"output_clipped"', report)

    def test_a_truncated_sound_leaves_nothing(self):
        for name in ("chirp.wav", "speech.flac"):
            data = (SAMPLES / name).read_bytes()
            self.write("half" + name[-5:], data[: len(data) // 2])
            done = self.smp("run", "-e", "gain -3dB", "half" + name[-5:], "out.wav", status=3)
            self.assertIn("truncated", done.stderr)
            self.assertFalse((self.folder / "out.wav").exists())

    def test_a_report_counts_frames_and_shows_values_of_parameters(self):
        self.write("low.pipe", "param cutoff = 1kHz\nlowpass $cutoff\n")
        done = self.smp("run", "low.pipe", SAMPLES / "chirp.wav", "out.wav", "--report", "--set", "cutoff=2kHz")
        self.assertIn("Mframe/s", done.stderr + done.stdout)
        self.assertIn("  lowpass 2kHz  ", done.stderr + done.stdout)

    def test_ten_minutes_stream_in_little_memory(self):
        self.make("long.wav", 600 * 48000)
        taps = "[" + " ".join(["0.004"] * 255) + "]"
        for stages in (("-e", f"fir {taps}"), ("-e", "trim start=500s end=510s", "-e", "stats")):
            peak = self.peak("run", "-q", "--force", *stages, "long.wav", "out.wav", "--device", "cpu")
            self.assertLess(peak, 40e6, stages)

    def test_ten_minutes_of_unknown_length_stream_from_a_pipe_in_little_memory(self):
        self.make("long.wav", 600 * 48000)
        with open(self.folder / "long.wav", "r+b") as file:
            file.seek(40)
            file.write(b"\0\xf0\xff\x7f")  # as sox and espeak-ng write it to a pipe
        with subprocess.Popen(["cat", self.folder / "long.wav"], stdout=subprocess.PIPE) as cat:
            peak = self.peak("run", "-q", "-e", "gain -3dB", "-", "out.wav", "--device", "cpu", stdin=cat.stdout)
        self.assertLess(peak, 48e6)
        self.assertEqual((self.folder / "out.wav").stat().st_size, (self.folder / "long.wav").stat().st_size)

    def test_full_scale_is_no_clipping(self):
        for samples in ("16", "24", "32"):
            done = self.smp("run", "-f", "--samples", samples, "-e", "normalize peak=0dBFS", SAMPLES / "chirp.wav",
                            "out.wav")
            self.assertEqual(done.stderr, "")

    def test_a_second_wav_is_noted(self):
        self.make("in.wav", 1000)
        data = (self.folder / "in.wav").read_bytes()
        done = self.smp("run", "-e", "gain -3dB", "-", "out.wav", text=False, input=data + data)
        self.assertIn(b"warning: standard input: a second WAV follows and is not read", done.stderr)
        self.assertEqual((self.folder / "out.wav").stat().st_size, len(data))

    def test_stereo_of_more_speakers_is_a_downmix(self):
        h = 0.5 ** 0.5
        for mask, weights in ((0x3F, ((1, 0, h, 0, h, 0), (0, 1, h, 0, 0, h))),  # 5.1
                              (0x60F, ((1, 0, h, 0, h, 0), (0, 1, h, 0, 0, h))), (0, ((1, 0, h, 0, h, 0),
                                                                                    (0, 1, h, 0, 0, h))),
                              (0x107, ((1, 0, h, 0.5), (0, 1, h, 0.5))), (0x33, ((1, 0, h, 0), (0, 1, 0, h)))):
            channels = len(weights[0])
            codes = np.random.default_rng(7).integers(-30000, 30000, (500, channels)).astype("<i2")
            form = struct.pack("<HHIIHHHHIH14s", 0xFFFE if mask else 1, channels, 8000, 16000 * channels, 2 * channels,
                               16, 22, 16, mask, 1, bytes.fromhex("000000001000800000AA00389B71"))
            body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", codes.nbytes)
            self.write("in.wav", b"RIFF" + struct.pack("<I", len(body) + codes.nbytes) + body + codes.tobytes())
            self.assertEqual(self.smp("convert", "-f", "--channels", "stereo", "in.wav", "a.npy").stderr, "")
            want = codes / 32768 @ np.transpose(weights) / np.sum(weights, axis=1)[0]
            np.testing.assert_allclose(np.load(self.folder / "a.npy"), want, atol=1e-6, err_msg=hex(mask))
        side = struct.pack("<I", 0x230)  # rear left and right, side left: the front is empty, and nothing is wrong
        three = b"RIFF" + struct.pack("<I", 36 + 24 + 6) + b"WAVEfmt " + struct.pack("<I", 40) + \
            struct.pack("<HHIIHHHH", 0xFFFE, 3, 8000, 48000, 6, 16, 22, 16) + side + \
            bytes.fromhex("0100000000001000800000AA00389B71") + b"data" + struct.pack("<I", 6)
        self.write("in.wav", three + struct.pack("<hhh", 100, 200, 300))
        self.smp("convert", "-f", "--channels", "stereo", "in.wav", "a.npy")
        np.testing.assert_allclose(np.load(self.folder / "a.npy"), [[200 / 32768, 100 / 32768]], atol=1e-6)
        self.write("in.wav", three.replace(side, struct.pack("<I", 0x211)) + struct.pack("<hhh", 1, 2, 3))
        self.assertIn("takes the first two of 3 channels: nothing says where their speakers are",
                      self.smp("convert", "-f", "--channels", "stereo", "in.wav", "a.npy").stderr)

    def six_channels(self):
        """in.wav: speakers at the sides, where those of so many are usually behind."""
        form = struct.pack("<HHIIHHHHIH14s", 0xFFFE, 6, 48000, 576000, 12, 16, 22, 16, 0x60F, 1,
                           bytes.fromhex("000000001000800000AA00389B71"))
        body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", 12000)
        self.write("in.wav", b"RIFF" + struct.pack("<I", len(body) + 12000) + body + bytes(12000))

    def test_places_of_speakers_are_kept_or_told(self):
        self.six_channels()
        for more in ((), ("--strip",)):
            for target in ("a.flac", "b.wav", "b.caf", "c.flac"):
                source = {"a": "in.wav", "b": "a.flac", "c": "b.caf"}[target[0]]
                self.assertEqual(self.smp("convert", "-f", *more, source, target).stderr, "", target)
                self.assertIn("channels L R C LFE SL SR", self.smp("info", target).stdout)
                self.assertNotIn("MASK", self.smp("info", "-v", target).stdout)
        # libvorbisenc 1.3.7 leaks a residue of its own of six channels, however it is called.
        ogg = () if SANITIZED else (("d.ogg", "an OGG"),)
        for target, name in (*ogg, ("d.opus", "an Opus"), ("d.aiff", "an AIFF")):
            self.assertIn(f"d.{target[2:]}: the speakers L R C LFE SL SR become L R C LFE BL BR: {name} cannot",
                          self.smp("convert", "in.wav", target).stderr)

    @unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
    def test_places_of_speakers_that_an_ogg_flac_names_are_written_once(self):
        if self.smp("info", DATA / "tone.m4a", status=(0, 3, 4)).returncode:
            self.skipTest("this build reads nothing through FFmpeg's libraries")
        self.six_channels()
        mask = "WAVEFORMATEXTENSIBLE_CHANNEL_MASK"
        subprocess.run(("ffmpeg", "-v", "error", "-i", "in.wav", "-c:a", "flac", "-metadata", f"{mask}=0x060F",
                        "a.oga"), cwd=self.folder, check=True)
        self.smp("convert", "a.oga", "b.flac")
        self.assertEqual((self.folder / "b.flac").read_bytes().count(mask.encode()), 1)

    def test_the_md5_of_a_flac_is_checked_unless_told_not_to(self):
        data = bytearray((SAMPLES / "field.flac").read_bytes())
        data[26] ^= 1
        self.write("bad.flac", bytes(data))
        done = self.smp("run", "-e", "gain -3dB", "bad.flac", "out.wav", status=3)
        self.assertIn("do not have the MD5 that it was written with", done.stderr)
        self.assertIn("--no-verify", done.stderr)
        self.assertFalse((self.folder / "out.wav").exists())
        self.smp("run", "--no-verify", "-e", "gain -3dB", "bad.flac", "out.wav")
        self.smp("run", "-e", "gain -3dB", SAMPLES / "field.flac", "good.wav")
        self.assertEqual((self.folder / "out.wav").read_bytes(), (self.folder / "good.wav").read_bytes())

    def test_a_coded_wav_says_what_to_type(self):
        self.make("in.wav", 1000)
        data = bytearray((self.folder / "in.wav").read_bytes())
        data[20] = 0x55
        self.write("coded.wav", bytes(data))
        done = self.smp("run", "-e", "gain -3dB", "coded.wav", "out.wav", status=3)
        self.assertIn("the WAV's samples are MP3, which is not supported", done.stderr)
        self.assertIn("ffmpeg -i IN.wav -c:a pcm_s16le OUT.wav", done.stderr)


if __name__ == "__main__":
    unittest.main()
