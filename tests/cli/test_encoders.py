"""Libraries encode in processes of their own: the same bytes and notes as in the program, and the end of one costs one
file."""
import os
import pathlib
import resource
import signal
import subprocess
import tarfile
import time
import unittest
import wave

import numpy as np

from harness import SAMPLES, CliCase, big_png
from test_sandbox import busy_decoder, decoders, field

PICTURES, SOUNDS = ("jxl", "jp2", "webp", "avif"), ("ogg", "opus", "mp3", "m4a")


class Encoders(CliCase):
    def written(self, kinds):
        """The formats that this build and machine write."""
        sample = {PICTURES: "chelsea.png", SOUNDS: "speech.flac"}[kinds]
        found = [k for k in kinds
                 if not self.smp("convert", SAMPLES / sample, f"try.{k}", "-q", status=(0, 2, 4)).returncode]
        if not found:
            self.skipTest("no library encodes")
        for path in self.folder.glob("try.*"):
            path.unlink()
        return found

    def slow(self, name="slow.png"):
        """A picture that takes an encoder a while, however fast the machine."""
        big_png(self.folder / name, 3000, 4000)

    def test_bytes_and_notes_are_those_of_the_program(self):
        tags = ("--tag", "title=Rain", "--tag", "comment=\u00e9")
        ways = ((), ("--quality", "30"), ("-e", "depth float"), ("--threads", "7"))
        pictures = [("chelsea.png", how) for how in ways]
        cases = [(k, *case) for k in self.written(PICTURES) for case in (*pictures, ("page.jpg", ()))]
        cases += [(k, "speech.flac", how) for k in self.written(SOUNDS) for how in ((), ("-e", "gain 30dB"))]
        for kind, source, how in cases:
            done = []
            for sandbox in ((), ("--no-sandbox",)):
                words = ("convert", SAMPLES / source, *tags, *how, *sandbox)
                piped = self.smp(*words, "-", "--format", kind, text=False, status=(0, 4))
                end = self.smp(*words, "-o", f"out.{kind}", "--force", text=False)
                done.append((piped.returncode, piped.stderr, piped.stdout, end.stderr,
                             (self.folder / f"out.{kind}").read_bytes()))
            with self.subTest(kind=kind, source=source, how=how):
                self.assertEqual(*done)

    def test_pages_of_an_animation(self):
        names = [self.small_png(f"{i}.png", width=40, height=30) for i in range(3)]
        if "webp" not in self.written(PICTURES):
            self.skipTest("no WebP is written")
        for how in ((), ("--no-sandbox",)):
            self.smp("concat", *names, "-o", f"{len(how)}.webp", *how)
        self.assertEqual((self.folder / "0.webp").read_bytes(), (self.folder / "1.webp").read_bytes())

    def test_a_killed_encoder_leaves_nothing(self):
        self.slow()
        for kind in self.written(PICTURES):
            process = self.begin("convert", "slow.png", f"out.{kind}")
            os.kill(busy_decoder(process, 10, "smp-encoder"), signal.SIGKILL)
            _, errors = process.communicate()
            self.assertEqual(process.returncode, 4, errors)
            self.assertIn(f"out.{kind}: error: the process that encodes the file was killed", errors)
            self.assertEqual(self.files(), ["slow.png"])

    def test_a_killed_encoder_costs_one_file_of_a_batch(self):
        kind = self.written(PICTURES)[0]
        self.slow("b.png")
        for name in ("a.png", "c.png", "d.png"):
            self.small_png(name)
        process = self.begin("convert", "a.png", "b.png", "c.png", "d.png", "-o", "out", "--to", kind, "--jobs", "1")
        os.kill(busy_decoder(process, 10, "smp-encoder"), signal.SIGKILL)
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn("the process that encodes the file was killed", errors)
        self.assertEqual(sorted(p.name for p in (self.folder / "out").glob(f"*.{kind}")),
                         [f"{n}.{kind}" for n in "acd"])

    def test_a_killed_encoder_costs_one_sample_of_a_tar(self):
        kind = self.written(PICTURES)[0]
        self.slow("b.png")
        for name in ("a.png", "c.png"):
            self.small_png(name)
        with tarfile.open(self.folder / "s.tar", "w") as archive:
            for name in "abc":
                archive.add(self.folder / f"{name}.png", f"{name}.png")
        process = self.begin("convert", "s.tar", "-o", "out", "--to", kind)
        os.kill(busy_decoder(process, 10, "smp-encoder"), signal.SIGKILL)
        _, errors = process.communicate()
        self.assertIn("a sample is left out: b.png: the process that encodes the file was killed", errors)
        with tarfile.open(self.folder / "out" / "s.tar") as archive:
            self.assertEqual(archive.getnames(), [f"a.{kind}", f"c.{kind}"])

    def test_encoders_end_with_the_program(self):
        self.slow()
        kind = self.written(PICTURES)[0]
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
            process = self.begin("convert", "slow.png", f"out.{kind}")
            encoder = busy_decoder(process, 10, "smp-encoder")
            process.send_signal(number)
            process.communicate()
            self.assertEqual(process.returncode, status)
            end = time.monotonic() + 20
            while pathlib.Path(f"/proc/{encoder}").exists() and field(encoder, 0) != "Z" and time.monotonic() < end:
                time.sleep(0.01)
            self.assertIn(field(encoder, 0), (None, "Z"))
            self.assertEqual(self.files(), ["slow.png"])

    def test_what_is_coded_is_copied_in_little_memory(self):
        if "mp3" not in self.written(SOUNDS):
            self.skipTest("no MP3 is written")
        with wave.open(str(self.folder / "in.wav"), "wb") as sound:
            sound.setparams((2, 2, 44100, 0, "NONE", ""))
            sound.writeframes(np.random.default_rng(1).integers(-8000, 8000, 2 * 44100 * 200, np.int16).tobytes())
        self.smp("convert", "in.wav", "in.mp3", "--bitrate", "320", "-q")
        self.assertGreater((self.folder / "in.mp3").stat().st_size, 7 << 20)
        for memory, says in (("20M", ""), ("10M", "cannot be copied for want of memory: it is coded anew")):
            done = self.smp("convert", "in.mp3", f"out{memory}.mp3", "--max-memory", memory)
            self.assertEqual(bool(done.stderr), bool(says), done.stderr)
            self.assertIn(says, done.stderr)
        self.smp("diff", "in.mp3", "out20M.mp3")

    def test_rows_are_sent_within_a_limit_of_file_sizes(self):
        kind = self.written(PICTURES)[0]
        np.save(self.folder / "in.npy", np.zeros((600, 2000, 3), np.uint8))
        self.smp("convert", "in.npy", "out." + kind, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (200000, 200000)))

    def test_threads_of_encoders_have_small_stacks(self):
        stack = 4 << 30
        if resource.getrlimit(resource.RLIMIT_STACK)[1] not in (-1, resource.RLIM_INFINITY):
            self.skipTest("stacks cannot be that large")
        np.save(self.folder / "in.npy", np.zeros((1500, 2000, 3), np.uint8))
        for kind in self.written(PICTURES):
            self.smp("convert", "in.npy", "out." + kind, "-q", "--max-memory", "1G", "--threads", "4",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (stack, resource.RLIM_INFINITY)))

    def test_what_is_read_alone_starts_no_encoder(self):
        kind = self.written(PICTURES)[0]
        np.save(self.folder / "in.npy", np.random.default_rng(1).integers(0, 256, (600, 800, 3), np.uint8))
        self.smp("convert", "in.npy", "in." + kind, "-q")
        for command, begins in (("in." + kind, False), ("in.npy", True)):
            words = ("-", "--format", kind if begins else "ppm", "-q")
            process = self.begin("convert", command, *words, stdout=subprocess.PIPE) # which nobody reads
            end = time.monotonic() + (60 if begins else 1)
            while not (found := decoders(process.pid, "smp-encoder")) and time.monotonic() < end:
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            process.kill()
            process.stdout.close()
            process.wait()
            self.assertEqual(bool(found), begins)

    def test_an_output_that_cannot_be_written(self):
        for kind in self.written(PICTURES) + self.written(SOUNDS):
            source = SAMPLES / ("chelsea.png" if kind in PICTURES else "speech.flac")
            with open("/dev/full", "wb") as full:
                done = self.smp("convert", source, "-", "--format", kind, "-q", status=4, stdout=full)
            self.assertIn("No space left", done.stderr)
            process = self.begin("convert", source, "-", "--format", kind, "-q", stdout=subprocess.PIPE)
            process.stdout.close()
            process.stdout = None
            _, errors = process.communicate()
            self.assertEqual(process.returncode, 4, errors)
            self.assertIn("the program that was reading the output has ended", errors)

    def test_each_thread_of_a_batch_has_an_encoder(self):
        kind = self.written(PICTURES)[0]
        for i in range(40):
            self.small_png(f"in{i:02}.png", width=20 + i, height=30)
        inputs = sorted(self.folder.glob("in*.png"))
        for jobs in ("1", "16"):
            self.smp("convert", *inputs, "-o", f"out{jobs}", "--to", kind, "--jobs", jobs, "--threads", "16")
        for path in sorted((self.folder / "out1").glob(f"*.{kind}")):
            self.assertEqual(path.read_bytes(), (self.folder / "out16" / path.name).read_bytes())
        self.assertEqual(len(list((self.folder / "out16").glob(f"*.{kind}"))), len(inputs))


if __name__ == "__main__":
    unittest.main()
