"""Silence on the command line: split, and trim auto from files and pipes."""
import unittest
import wave

import numpy as np

from harness import CliCase

RATE = 8000


class Silence(CliCase):
    def setUp(self):
        super().setUp()
        sound = np.zeros(4 * RATE, "<i2")
        sound[RATE // 2:RATE] = np.arange(RATE // 2) + 1000          # 0.5 .. 1.0 s
        sound[2 * RATE:5 * RATE // 2] = np.arange(RATE // 2) + 9000  # 2.0 .. 2.5 s
        sound[11 * RATE // 4:3 * RATE] = 7000                        # 2.75 .. 3.0 s
        self.sound = sound
        self.put("in.wav", sound)

    def put(self, name, samples):
        with wave.open(str(self.folder / name), "wb") as out:
            out.setparams((1, 2, RATE, len(samples), "NONE", ""))
            out.writeframes(samples.tobytes())

    def get(self, name):
        with wave.open(str(self.folder / name)) as sound:
            return np.frombuffer(sound.readframes(sound.getnframes()), "<i2")

    def expect(self, name, start, end):
        got = self.get(name)
        self.assertTrue(np.array_equal(got, self.sound[round(start * RATE):round(end * RATE)]), name)

    def test_a_file_for_each_part(self):
        done = self.smp("split", "in.wav", "-o", "parts")
        self.assertEqual(done.stdout.splitlines()[0], "parts/in-01.wav  0.400 .. 1.100 s")
        self.assertEqual(sorted(p.name for p in (self.folder / "parts").iterdir()), ["in-01.wav", "in-02.wav"])
        self.expect("parts/in-01.wav", 0.4, 1.1)
        self.expect("parts/in-02.wav", 1.9, 3.1)
        self.smp("split", "in.wav", "-o", "all/{part}-of-{stem}.wav", "--min", "0.2", "--keep", "1")
        self.expect("all/01-of-in.wav", 0, 1.5)  # half of what lies between two parts, and all at the end
        self.expect("all/02-of-in.wav", 1.5, 2.625)
        self.expect("all/03-of-in.wav", 2.625, 4)

    def test_a_pipe_is_read_twice(self):
        data = (self.folder / "in.wav").read_bytes()
        self.smp("split", "-", "-o", "parts", "--keep", "0", input=data, text=False)
        self.expect("parts/part-02.wav", 2, 3)
        done = self.smp("run", "-e", "trim auto keep=0s", "-", "-", input=data, text=False)
        (self.folder / "out.wav").write_bytes(done.stdout)
        self.expect("out.wav", 0.5, 3)
        self.smp("run", "-e", "trim auto keep=0s inside=0.3s", "in.wav", "out2.wav")
        kept = np.concatenate([self.sound[RATE // 2:RATE], self.sound[2 * RATE:3 * RATE]])
        self.assertTrue(np.array_equal(self.get("out2.wav"), kept))

    def test_clipped_samples_are_told(self):
        self.smp("run", "-e", "gain 30dB", "in.wav", "loud.wav", "--samples", "float")
        self.assertIn("beyond full scale and clipped", self.smp("split", "loud.wav", "-o", "c", "--to", "flac").stderr)
        self.assertNotIn("clipped", self.smp("split", "in.wav", "-o", "d", "--to", "flac").stderr)

    def test_what_cannot_be_split(self):
        self.smp("split", "in.wav", "-o", "parts")
        before = (self.folder / "parts/in-02.wav").stat().st_mtime_ns
        done = self.smp("split", "in.wav", "-o", "parts", status=4)
        self.assertIn("nothing was written; replace it with --force", done.stderr)
        self.assertEqual((self.folder / "parts/in-02.wav").stat().st_mtime_ns, before)
        self.smp("split", "in.wav", "-o", "parts", "--force")
        for arguments, status, message in (
                (("in.wav",), 2, "write smempipe split in.wav -o DIR"),
                (("in.wav", "-o", "x", "--name", "a.wav"), 2, "put {part}, the part's number, into it"),
                (("in.wav", "-o", "x", "--below", "-1"), 3, "in.wav: error: there is no part"),
                (("in.wav", "-o", "x", "--to", "txt"), 2, "--to takes an extension"),
                ):
            self.assertIn(message, self.smp("split", *arguments, status=status).stderr)
            self.assertFalse((self.folder / "x").exists())
        done = self.smp("run", "-e", "trim silence=0dBFS", "in.wav", "x.wav", status=3)
        self.assertIn("in.wav: error: 'trim auto' leaves nothing: all of it stays below 0 dBFS", done.stderr)
        self.assertFalse((self.folder / "x.wav").exists())
        done = self.smp("batch", "-e", "trim silence=0dBFS", "in.wav", "-o", "all", status=1)
        self.assertIn("in.wav: 'trim auto' leaves nothing", done.stderr)
        self.assertIn("two stages", self.smp("check", "-e", "trim auto start=1s", status=2).stderr)
        self.assertIn("measures nothing", self.smp("measure", "-e", "trim start=1s", "in.wav", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
