"""Sounds that libraries play as far as they go, without a word: cut files and damaged ones are errors, and --no-verify
reads what there is of them. Coded WAVs are whole or refused."""
import shutil
import struct
import subprocess
import unittest

import numpy as np

from harness import SAMPLES, CliCase

DATA = SAMPLES.parent / "tests/data"
STEPS = [7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97]


def wav(form, fact, data):
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"fact" + struct.pack("<II", 4, fact)
    return b"RIFF" + struct.pack("<I", len(body) + 8 + len(data)) + body + b"data" + struct.pack("<I", len(data)) + data


def ima_adpcm(blocks):
    """A WAV of small steps, and its samples: 505 of each block of 256 bytes."""
    rng = np.random.default_rng(5)
    samples, data = [], b""
    for _ in range(blocks):
        value, index = int(rng.integers(-9000, 9000)), 3
        codes = rng.choice([0, 1, 8, 9], 504)  # whose step never grows, and falls to the least
        data += struct.pack("<hBB", value, index, 0) + bytes(int(a | b << 4) for a, b in codes.reshape(-1, 2))
        samples.append(value)
        for code in codes:
            step = STEPS[index]
            value += (1 - 2 * (code >> 3)) * ((step >> 3) + (step >> 2 if code & 1 else 0))
            samples.append(value)
            index = max(0, index - 1)
    form = struct.pack("<HHIIHHHH", 0x11, 1, 8000, 8000 * 256 // 505, 256, 4, 2, 505)
    return wav(form, len(samples), data), np.array(samples)


class SoundDamage(CliCase):
    def needs_ffmpegs_libraries(self):
        if self.smp("info", DATA / "tone.m4a", status=(0, 3, 4)).returncode:
            self.skipTest("this build, or machine, reads nothing through FFmpeg's libraries")

    def refused(self, name, data, says):
        self.write(name, data)
        self.assertIn(says, self.smp("convert", "-f", name, "out.wav", status=3).stderr, name)
        self.assertFalse((self.folder / "out.wav").exists())

    def read_all_the_same(self, name, says):
        self.assertIn(says, self.smp("convert", "-f", "--no-verify", name, "out.wav").stderr)
        (self.folder / "out.wav").unlink()

    def test_headers_that_count_samples_must_be_right(self):
        self.needs_ffmpegs_libraries()
        samples = (np.arange(2000) * 13 % 30000).astype(">i2")
        header = "NIST_1A\n   1024\nchannel_count -i 1\nsample_count -i 2000\nsample_rate -i 8000\n" \
                 "sample_n_bytes -i 2\nsample_byte_format -s2 10\nsample_sig_bits -i 16\n" \
                 "sample_coding -s3 pcm\nend_head\n"
        for name, head in (("a.au", struct.pack(">4sIIIII", b".snd", 24, 4000, 3, 8000, 1)),
                           ("a.sph", header.encode().ljust(1024))):
            whole = head + samples.tobytes()
            self.write(name, whole)
            self.assertEqual(self.smp("convert", "-f", name, "out.wav").stderr, "")
            (self.folder / "out.wav").unlink()
            self.refused(name, whole[:-2], "the file is truncated: its header says 2000 frames, and it has 1999")
            self.refused(name, whole[:-1000], "its header says 2000 frames, and it has 1500")
            self.read_all_the_same(name, "its header says 2000 frames, and it has 1500: what there is of it is read")

    def test_elements_of_a_matroska_must_be_whole(self):
        self.needs_ffmpegs_libraries()
        whole = (DATA / "film.mkv").read_bytes()
        self.refused("a.mkv", whole[:-1], "the file is truncated: its part at byte 40 goes on to byte 10962")
        self.read_all_the_same("a.mkv", "what there is of it is read")
        cluster = whole.index(b"\x1F\x43\xB6\x75")
        self.refused("a.mkv", whole[:cluster] + b"\0" + whole[cluster + 1:],
                     f"the element at byte {cluster} is none of Matroska's")
        unknown = whole[:44] + b"\x01" + b"\xFF" * 7 + whole[52:]  # of a segment whose size nobody knew
        self.assertEqual(whole[40:44], b"\x18\x53\x80\x67")
        self.refused("a.mkv", unknown[:-1], "the file is truncated: its part at byte")
        summed = bytearray(whole)  # a cluster with a checksum: of another byte than it has
        at = whole.index(b"\xBF\x84") + 6
        summed[at + 8] ^= 1
        self.refused("a.mkv", bytes(summed), "does not have its checksum")

    def test_frames_of_bare_streams_follow_one_another_to_the_end(self):
        self.needs_ffmpegs_libraries()
        frame = b"\x3C" + bytes(31)  # AMR: 12.2 kbit/s
        whole = b"#!AMR\n" + frame * 25
        self.write("a.amr", whole)
        self.assertIn("4000 frames", self.smp("info", "a.amr").stdout)
        self.refused("a.amr", whole[:-5], "the file is truncated: its last frame has 27 of 32 bytes")
        self.refused("a.amr", whole[:-64] + b"\xFF" + whole[-63:], "the last 64 bytes are not a frame of sound")

    @unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
    def test_what_ffmpeg_writes_is_whole_or_refused(self):
        self.needs_ffmpegs_libraries()
        samples = (np.random.default_rng(1).normal(0, 3000, 30000)).astype("<i2").tobytes()
        for name, options in (("a.oga", ("-c:a", "flac")), ("a.ac3", ()), ("a.wv", ()), ("a.wma", ()),
                              ("a.avi", ("-c:a", "pcm_s16le")), ("a.mka", ("-c:a", "pcm_s16le"))):
            made = subprocess.run(("ffmpeg", "-v", "error", "-f", "s16le", "-ar", "44100", "-i", "-", *options, name),
                                  cwd=self.folder, input=samples, capture_output=True)
            if made.returncode:
                continue  # this ffmpeg lacks the encoder
            whole = (self.folder / name).read_bytes()
            self.smp("info", name)
            for cut in (1, 301, len(whole) // 2 | 1):  # odd: no frame of AC-3 ends there
                self.write(name, whole[:-cut])
                self.smp("info", name, status=3)
            if name in ("a.oga", "a.ac3", "a.wv", "a.mka"):  # with checksums
                flipped = bytearray(whole)
                flipped[len(whole) * 2 // 3] ^= 4
                self.write(name, bytes(flipped))
                self.smp("convert", name, "out.wav", status=3)

    @unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
    def test_a_sound_shorter_than_a_packet_is_read(self):
        """A header counts the last packet as a whole."""
        self.needs_ffmpegs_libraries()
        for name, coder in (("s.caf", "alac"), ("s.mka", "flac"), ("t.mka", "alac"), ("s.m4a", "alac")):
            for frames in (1, 2756):
                codes = np.arange(frames, dtype="<i2") * 3
                subprocess.run(("ffmpeg", "-y", "-v", "error", "-f", "s16le", "-ar", "44100", "-i", "-", "-c:a", coder,
                                name), input=codes.tobytes(), cwd=self.folder, check=True)
                self.smp("convert", "-f", name, "s.npy")
                read = np.load(self.folder / "s.npy").reshape(-1)
                self.assertTrue(np.array_equal(read * 32768, codes), f"{name}: {frames}, read {len(read)}")

    def made_by_ffmpeg(self, name, *options):
        """Bytes of a sound of four seconds; none: this ffmpeg lacks the encoder."""
        samples = (np.random.default_rng(2).normal(0, 3000, 4 * 44100)).astype("<i2").tobytes()
        made = subprocess.run(("ffmpeg", "-v", "error", "-f", "s16le", "-ar", "44100", "-i", "-", *options, name),
                              cwd=self.folder, input=samples, capture_output=True)
        return b"" if made.returncode else (self.folder / name).read_bytes()

    @unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
    def test_what_comes_before_a_cut_is_read_when_asked(self):
        self.needs_ffmpegs_libraries()
        for name, options in (("a.m4a", ("-movflags", "faststart")), ("a.aac", ()), ("a.wma", ()), ("a.tta", ()),
                              ("a.wv", ())):
            whole = self.made_by_ffmpeg(name, *options)
            if not whole:
                continue
            self.write(name, whole[:len(whole) * 2 // 3 | 1])
            told = self.smp("convert", "-f", name, "o.npy", status=3).stderr
            self.assertIn("or read what there is of it with --no-verify", told)
            self.assertIn(f"warning: {name}: ", self.smp("convert", "-f", "--no-verify", name, "o.npy").stderr)
            self.assertTrue(80000 < len(np.load(self.folder / "o.npy")) < 140000, name)
            self.write(name, whole[:200])
            self.smp("convert", "-f", "--no-verify", name, "o.npy", status=3)

    @unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
    def test_packets_of_a_wma_follow_one_another(self):
        self.needs_ffmpegs_libraries()
        whole = self.made_by_ffmpeg("a.wma")
        if not whole:
            self.skipTest("this ffmpeg lacks the encoder")
        packets = whole.index(b"\x36\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9\x00\xAA\x00\x62\xCE\x6C") + 50
        size = 3200
        third = packets + 2 * size
        says = f"the file is damaged: its packet at byte {third} is none, or does not follow the one before"
        self.refused("a.wma", whole[:third] + bytes(size) + whole[third + size:], says)
        self.refused("a.wma", whole[:third] + whole[third + size:] + bytes(size), says)  # a packet is missing
        self.read_all_the_same("a.wma", says + ": what there is of it is read")

    @unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
    def test_sounds_may_be_shorter_than_what_else_an_mp4_holds(self):
        self.needs_ffmpegs_libraries()
        inputs = ("-f", "lavfi", "-i", "testsrc=s=32x32:r=5:d=5", "-f", "lavfi", "-i", "sine=r=8000:d=3",
                  "-f", "lavfi", "-i", "sine=r=8000:d=5", "-c:v", "mjpeg", "-c:a", "pcm_s16le")
        for name, options in (("a.mov", ("-map", "0", "-map", "1", "-movflags", "faststart")),
                              ("two.mov", ("-map", "1", "-map", "2", "-movflags", "faststart")),
                              ("fragments.mov", ("-map", "0", "-map", "1", "-g", "5", "-movflags",
                                                 "frag_keyframe+empty_moov"))):
            made = subprocess.run(("ffmpeg", "-v", "error", *inputs, *options, name), cwd=self.folder)
            if made.returncode:
                continue  # this ffmpeg lacks the encoder
            self.assertIn("3.000 s" if name != "two.mov" else " s at 8000", self.smp("info", name).stdout, name)
            whole = (self.folder / name).read_bytes()
            end = whole.rindex(b"mfra") - 4 if b"mfra" in whole else len(whole)
            for cut in (1, 301, end // 3):
                self.write(name, whole[:end - cut])
                self.assertIn("truncated", self.smp("info", name, status=3).stderr, (name, cut))

    def test_coded_wavs_are_read(self):
        formats = self.smp("help", "formats").stdout
        data, samples = ima_adpcm(3)
        self.write("ima.wav", data)
        done = self.smp("convert", "ima.wav", "a.npy", status=(0, 3))
        if "FLAC          not here" in formats or "without libsndfile" in done.stderr:
            self.skipTest("this build is without libsndfile")
        self.assertEqual(done.stderr, "")
        np.testing.assert_array_equal(np.load(self.folder / "a.npy").ravel() * 32768, samples)
        self.assertIn("IMA ADPCM", self.smp("info", "ima.wav").stdout)
        self.smp("convert", "ima.wav", "a.wav")
        self.assertIn("16-bit PCM", self.smp("info", "a.wav").stdout)
        gsm = wav(struct.pack("<HHIIHHHH", 0x31, 1, 8000, 1625, 65, 0, 2, 320), 640, b"\xD0" + bytes(129))
        self.write("gsm.wav", gsm)
        self.assertIn("640 frames", self.smp("info", "gsm.wav").stdout)
        for name, whole in (("ima.wav", data), ("gsm.wav", gsm)):
            for cut in (1, 60):
                self.refused(name, whole[:-cut], "truncated")
                self.read_all_the_same(name, "what there is of it is read")

    def test_bytes_behind_the_samples_are_told_and_not_heard(self):
        junk = np.random.default_rng(9).bytes(5000)
        samples = np.arange(2000) * 13 % 30000
        self.write("in.wav", wav(struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16), 2000,
                                 samples.astype("<i2").tobytes()))
        for name in ("a.aiff", "a.caf", "a.w64", "a.ogg"):
            if self.smp("convert", "in.wav", name, status=(0, 4)).returncode:
                continue  # this build is without libsndfile
            self.assertNotIn("behind", self.smp("convert", "-f", name, "want.npy").stderr)
            self.write(name, (self.folder / name).read_bytes() + junk)
            told = self.smp("convert", "-f", name, "got.npy").stderr
            self.assertEqual(told.count(f"{name}: 5000 bytes behind its samples are not read"), 1, told)
            np.testing.assert_array_equal(*(np.load(self.folder / n) for n in ("want.npy", "got.npy")))
        self.needs_ffmpegs_libraries()
        self.write("a.au", struct.pack(">4sIIIII", b".snd", 24, 4000, 3, 8000, 1) + samples.astype(">i2").tobytes() +
                   junk)
        self.assertIn("a.au: its header says 2000 frames, and the 2500 behind them are not read",
                      self.smp("convert", "-f", "a.au", "got.npy").stderr)
        np.testing.assert_array_equal(np.load(self.folder / "got.npy").ravel() * 32768, samples)

    def test_sounds_that_cannot_be_read_are_told_what_to_do(self):
        self.refused("a.wav", wav(struct.pack("<HHIIHH", 1, 300, 8000, 8000 * 600, 600, 16), 1, bytes(600)),
                     "sox IN OUT.wav remix 1 2")
        self.refused("a.wav", wav(struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16), 0, b""), "the sound has no frames")
        self.assertIn("may have failed", self.smp("info", "a.wav", status=3).stderr)

    def test_a_w64_without_its_samples_is_truncated(self):
        self.write("in.wav", wav(struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16), 500, bytes(1000)))
        self.smp("convert", "in.wav", "a.w64")
        self.refused("b.w64", (self.folder / "a.w64").read_bytes()[:90], "the file has 90 bytes")

    @unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
    def test_a_caf_of_alac_is_read(self):
        self.needs_ffmpegs_libraries()
        whole = self.made_by_ffmpeg("a.caf", "-c:a", "alac")
        if not whole:
            self.skipTest("this ffmpeg lacks the encoder")
        self.assertEqual(self.smp("convert", "a.caf", "a.npy").stderr, "")
        want = np.random.default_rng(2).normal(0, 3000, 4 * 44100).astype("<i2")
        np.testing.assert_array_equal(np.load(self.folder / "a.npy").ravel() * 32768, want)
        self.refused("a.caf", whole[:-2000], "the file is truncated: its header says")

    def test_a_piped_wav_ends_with_a_whole_frame(self):
        head = b"RIFF\xFF\xFF\xFF\xFFWAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 2, 8000, 32000, 4, 16) + \
               b"data\xFF\xFF\xFF\xFF"
        self.write("a.wav", head + bytes(4000))
        self.assertIn("1000 frames", self.smp("info", "a.wav").stdout)
        for more in (1, 2, 3):
            self.refused("a.wav", head + bytes(4000 + more), f"the WAV is truncated: its {4000 + more} bytes")
            self.read_all_the_same(
                "a.wav", f"its {4000 + more} bytes of samples are not a whole number of frames: what")
        mono = head.replace(struct.pack("<HIIHH", 2, 8000, 32000, 4, 16), struct.pack("<HIIHH", 1, 8000, 24000, 3, 24))
        self.write("a.wav", mono + bytes(3000 + 3 + 1))  # a byte fills the chunk up
        self.assertIn("1001 frames", self.smp("info", "a.wav").stdout)

    def test_a_cut_wav_is_read_as_far_as_it_goes_when_asked(self):
        samples = np.arange(1000, dtype="<i2").tobytes()
        whole = wav(struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16), 1000, samples)
        self.write("a.wav", whole[:-101])
        self.assertIn("what there is of it with --no-verify", self.smp("convert", "a.wav", "o.npy", status=3).stderr)
        told = self.smp("convert", "--no-verify", "a.wav", "o.npy").stderr
        self.assertIn("its header says 2000 bytes of samples, and it has 1899: what there is of it is read", told)
        np.testing.assert_array_equal(np.load(self.folder / "o.npy").ravel() * 32768, np.arange(949))

    def test_a_cut_aiff_or_caf_is_read_as_far_as_it_goes_when_asked(self):
        self.write("a.wav", wav(struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16), 1000,
                                np.arange(1000, dtype="<i2").tobytes()))
        for name in ("a.aiff", "a.caf"):
            self.smp("convert", "a.wav", name)
            whole = (self.folder / name).read_bytes()
            self.write(name, whole[:-101])
            self.assertIn("there is of it with --no-verify", self.smp("convert", name, "o.npy", status=3).stderr)
            told = self.smp("convert", "--no-verify", "-f", name, "o.npy").stderr
            self.assertIn("its header says 2000 bytes of samples, and it has 1899: what there is of it is read", told)
            np.testing.assert_array_equal(np.load(self.folder / "o.npy").ravel() * 32768, np.arange(949))

    def test_bytes_around_an_mp3_are_left_out(self):
        whole = (DATA / "xing.mp3").read_bytes()
        whole = whole[whole.index(b"\xFF"):]  # without its tag
        self.write("a.mp3", whole)
        if self.smp("convert", "a.mp3", "whole.npy", status=(0, 3)).returncode:
            self.skipTest("this build is without libmpg123")
        want = np.load(self.folder / "whole.npy")
        other = bytes(range(64)) * 30
        lone = other + bytes.fromhex("FFFBE0C4") + other  # a header of another rate, which nothing follows
        for front, behind in ((bytes(5000), b""), (b"x" * 10, b""), (lone, b""), (b"", lone), (lone, lone),
                              (b"", np.random.default_rng(6).bytes(5000))):
            self.write("a.mp3", front + whole + behind)
            told = self.smp("convert", "-f", "a.mp3", "a.npy").stderr
            for part, where in ((front, "in front of the MP3's first"), (behind, "behind the MP3's last")):
                says = f"warning: a.mp3: {len(part)} bytes {where} frame are left out"
                self.assertEqual(says in told, bool(part), told)
            np.testing.assert_array_equal(np.load(self.folder / "a.npy"), want)
        self.write("a.mp3", whole[1000:])  # begins within a frame
        self.assertRegex(self.smp("convert", "-f", "a.mp3", "a.npy").stderr, r"\d+ bytes in front of the MP3's first")
        self.refused("a.mp3", np.random.default_rng(7).bytes(70000), "in no known format")


if __name__ == "__main__":
    unittest.main()
