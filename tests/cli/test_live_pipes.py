"""Sound that comes through a pipe while somebody makes it: it goes on as it comes, and has the bytes that a file gives.
"""
import array
import fcntl
import os
import random
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time
import unittest

import numpy as np

from harness import PROGRAM, CliCase

RATE = 44100
PIPE = 60000  # bytes of a pipe of 64 KiB that is as good as full
FRAME = 4  # bytes: two channels of 16 bits
RAW = ("--raw", f"s16lex2:{RATE}")
LONG = 60  # seconds that a loaded machine may take for what takes some milliseconds


def noise(seconds, seed=1):
    """Frames of 16 bits whose level swells, so that stages which look at levels have something to do."""
    frames = int(seconds * RATE)
    swell = 3000 * (1 + np.sin(np.arange(frames) / 5000))[:, None]
    samples = np.random.default_rng(seed).standard_normal((frames, 2)) * swell
    return np.clip(samples, -32768, 32767).astype("<i2").tobytes()


def wav(data, riff=0xFFFFFFFF, size=0xFFFFFFFF):
    form = struct.pack("<HHIIHH", 1, 2, RATE, RATE * FRAME, FRAME, 16)
    return (b"RIFF" + struct.pack("<I", riff) + b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" +
            struct.pack("<I", size) + data)


class LivePipes(CliCase):

    def start(self, *arguments):
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, bufsize=0, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def end():
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()

        self.addCleanup(end)
        return process

    def take(self, process, size):
        """So many bytes of its output; fewer where it ends, or gives no more for a long time."""
        taken = bytearray()
        watch = threading.Timer(LONG, process.kill)
        watch.start()
        while len(taken) < size:
            part = os.read(process.stdout.fileno(), size - len(taken))
            if not part:
                break
            taken += part
        watch.cancel()
        return bytes(taken)

    @staticmethod
    def waiting(pipe):
        """Bytes in it that nobody has read."""
        size = array.array("i", [0])
        fcntl.ioctl(pipe, termios.FIONREAD, size)
        return size[0]

    def slowly(self, data, *arguments, seed=0, largest=20000, status=0):
        """Gives the data in parts of any size with pauses between some; the output."""
        rng = random.Random(seed)
        process = self.start(*arguments)
        taken = []
        reads = threading.Thread(target=lambda: taken.append(self.take(process, 1 << 30)))
        reads.start()
        try:
            at = 0
            while at < len(data):
                size = rng.choice((1, 3, 100, 880, largest, rng.randint(1, largest)))
                process.stdin.write(data[at:at + size])
                at += size
                time.sleep(rng.choice((0, 0, 0.001, 0.012)))
        except BrokenPipeError:
            pass
        process.stdin.close()
        reads.join()
        errors = process.stderr.read().decode()
        self.assertEqual(process.wait(), status, errors)
        return taken[0]

    def from_file(self, data, *stages):
        self.write("whole.raw", data)
        self.smp("convert", "-qf", *RAW, "whole.raw", "whole.wav", *stages)
        return (self.folder / "whole.wav").read_bytes()

    def test_the_first_sound_goes_out_before_the_second_comes_in(self):
        """A third of a second of sound goes in and no more, until the first of it has come out."""
        data = noise(1.5)
        for stage in ("gain -3dB", "highpass 100Hz", "eq peak freq=1kHz gain=6dB", "eq lowshelf freq=50Hz gain=3dB",
                      "resample 48kHz", "limit", "compress", "gate", "lowpass 100Hz", "fade in=1s", "remix mono"):
            for options in ((), ("--no-sandbox",)):
                process = self.start("convert", *RAW, "-", "-", "-e", stage, *options)
                process.stdin.write(data[:int(0.3 * RATE) * FRAME])
                first = self.take(process, 44 + 200)
                self.assertEqual(len(first), 44 + 200, stage)
                self.assertEqual(first[4:8] + first[40:44], b"\xff" * 8)
                process.stdin.write(data[int(0.3 * RATE) * FRAME:])
                process.stdin.close()
                rest = self.take(process, 1 << 30)
                self.assertEqual(process.wait(), 0, stage)
                self.assertEqual(first[44:] + rest, self.from_file(data, "-e", stage)[44:], stage)

    def test_a_file_that_a_pipe_makes_has_the_bytes_of_one_that_a_file_makes(self):
        data = noise(1.7)
        self.write("voice.raw", noise(2.5, seed=2))
        self.smp("convert", "-q", *RAW, "voice.raw", "voice.wav")
        stages = (("gain -3dB",), (), ("trim start=0.5s end=1s",), ("trim end=9s",), ("pad start=0.2s end=2s",),
                  ("pad length=4s",), ("pad length=1s",), ("repeat times=2",), ("repeat length=3s",),
                  ("mix by=@input at=0.3s gain=-6dB",),
                  ('mix by="voice.wav"',), ('mix by="voice.wav" at=1s length=longest',), ("reverse",), ("fade out=1s",),
                  ("normalize",), ("trim end=-0.5s",), ("trim start=-1s",), ("trim auto",), ("append by=@input",),
                  ("lowpass 100Hz taps=2001",), ("limit", "trim start=1.6s"), ("stats",), ("histogram",))
        for i, chain in enumerate(stages):
            arguments = [word for stage in chain for word in ("-e", stage)]
            expected = self.from_file(data, *arguments)
            self.slowly(data, "convert", "-qf", *RAW, "-", "live.wav", *arguments, seed=i)
            self.assertEqual((self.folder / "live.wav").read_bytes(), expected, chain)

    def test_random_chains(self):
        pool = ("gain -2dB", "highpass 80Hz", "eq peak freq=3kHz gain=-4dB", "resample 32kHz", "limit", "compress",
                "gate", "lowpass 5kHz", "fade in=0.2s", "trim start=0.31s", "pad start=0.1s", "notch 50Hz", "dither",
                "eq highshelf freq=5kHz gain=2dB", "trim end=1.1s", "mix by=@input at=0.05s", "pad end=0.7s",
                "resample 48kHz")
        for seed in range(10):
            rng = random.Random(seed)
            chain = [word for stage in rng.sample(pool, rng.randint(2, 5)) for word in ("-e", stage)]
            data = noise(rng.uniform(0.4, 2), seed)
            expected = self.from_file(data, *chain)
            device = ("--device", "simt") if seed == 3 else ()
            self.slowly(data, "convert", "-qf", *RAW, "-", "live.wav", *chain, *device, seed=seed)
            self.assertEqual((self.folder / "live.wav").read_bytes(), expected, chain)

    def test_an_endless_pipe_is_read_as_far_as_is_wanted(self):
        for chain in (("trim end=3s",), ("highpass 100Hz", "trim start=1s end=3s", "limit"),
                      ("resample 48kHz", "trim length=2s", "gain -3dB")):
            stages = [word for stage in chain for word in ("-e", stage)]
            with open("/dev/zero", "rb") as zero:
                cat = subprocess.Popen(["cat"], stdin=zero, stdout=subprocess.PIPE)
                self.smp("convert", "-qf", *RAW, "-", "o.wav", *stages, stdin=cat.stdout, timeout=LONG)
                cat.stdout.close()
                self.assertEqual(cat.wait(LONG), -signal.SIGPIPE)
            self.assertEqual((self.folder / "o.wav").read_bytes(),
                             self.from_file(bytes(4 * RATE * FRAME), *stages), chain)

    def test_what_is_wanted_suffices(self):
        """Nobody closes the pipe, and nothing more comes."""
        process = self.start("convert", *RAW, "-", "o.wav", "-e", "trim end=1s")
        process.stdin.write(bytes(RATE * FRAME))
        self.assertEqual(process.wait(LONG), 0)

    def test_outputs_of_unknown_length_are_read_by_other_programs(self):
        data = noise(1.2)
        for extension, program in (("wav", "sox"), ("wav", "ffmpeg"), ("aiff", "sox"), ("aiff", "ffmpeg"),
                                   ("caf", "ffmpeg"), ("w64", "ffmpeg")):
            if not shutil.which(program):
                continue
            out = self.slowly(data, "convert", "--to", extension, *RAW, "-", "-", "-e", "gain 0dB", "-e", "trim end=1s")
            command = {"sox": ["sox", "-t", extension, "-", "-t", "raw", "-"],
                       "ffmpeg": ["ffmpeg", "-v", "warning", "-f", extension, "-i", "-", "-f", "s16le", "-"]}[program]
            read = subprocess.run(command, input=out, capture_output=True)
            self.assertEqual((read.returncode, read.stdout), (0, data[:RATE * FRAME]), (extension, read.stderr))
        self.assertEqual(self.slowly(data, "convert", "--to", "raw", *RAW, "-", "-"), data)

    @unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
    def test_ffmpeg_reads_a_w64_of_unknown_length_from_a_file(self):
        data = noise(0.3)
        self.write("o.w64", self.slowly(data, "convert", "--to", "w64", *RAW, "-", "-"))
        read = subprocess.run(["ffmpeg", "-v", "error", "-i", "o.w64", "-f", "s16le", "-"], cwd=self.folder,
                              capture_output=True)
        self.assertEqual((read.returncode, read.stdout), (0, data), read.stderr)

    def test_coded_outputs_go_on_as_they_come(self):
        data = noise(3)
        for extension in ("flac", "mp3", "ogg"):
            self.write("in.raw", data)
            self.smp("convert", "-qf", *RAW, "in.raw", f"file.{extension}", "-e", "gain -9dB")
            self.smp("convert", "-qf", *RAW, "in.raw", f"low.{extension}", "-e", "gain -9dB", "--strip-rows", "1000")
            self.slowly(data, "convert", "-qf", *RAW, "-", f"live.{extension}", "-e", "gain -9dB")
            for name in ("low", "live"):
                self.assertEqual((self.folder / f"{name}.{extension}").read_bytes(),
                                 (self.folder / f"file.{extension}").read_bytes(), (name, extension))
            process = self.start("convert", "--to", extension, *RAW, "-", "-", "-e", "gain -9dB")
            seen = threading.Event()

            def give(process=process, seen=seen):  # while its output is read: pipes hold less than comes of it
                process.stdin.write(data[:2 * RATE * FRAME])
                seen.wait(LONG)
                process.stdin.write(data[2 * RATE * FRAME:])
                process.stdin.close()

            gives = threading.Thread(target=give)
            gives.start()
            first = self.take(process, 6000)
            self.assertEqual(len(first), 6000, extension)
            seen.set()
            self.write(f"piped.{extension}", first + self.take(process, 1 << 30))
            gives.join()
            self.assertEqual(process.wait(), 0)
            if extension != "mp3":  # whose first frame tells how long it is
                for name in ("piped", "file"):
                    self.smp("convert", "-qf", f"{name}.{extension}", f"{name}.wav")
                self.assertEqual((self.folder / "piped.wav").read_bytes(), (self.folder / "file.wav").read_bytes())

    def test_inputs(self):
        data = noise(1.3)
        kinds = {"sizes of ffmpeg": wav(data), "sizes of sox": wav(data, 0x7FFFF024, 0x7FFFF000),
                 "a size of 0": wav(data, 0, 0), "known sizes": wav(data, 36 + len(data), len(data))}
        commands = {"AIFF": "sox -t raw -r 44100 -c 2 -b 16 -e signed - -t aiff -",
                    "CAF": "ffmpeg -v error -f s16le -ar 44100 -ac 2 -i - -f caf -",
                    "W64": "ffmpeg -v error -f s16le -ar 44100 -ac 2 -i - -f w64 -",
                    "FLAC": "ffmpeg -v error -f s16le -ar 44100 -ac 2 -i - -f flac -",
                    "MP3": "ffmpeg -v error -f s16le -ar 44100 -ac 2 -i - -f mp3 -",
                    "OGG": "ffmpeg -v error -f s16le -ar 44100 -ac 2 -i - -c:a libvorbis -f ogg -",
                    "Opus": "ffmpeg -v error -f s16le -ar 44100 -ac 2 -i - -c:a libopus -f ogg -"}
        for kind, command in commands.items():
            if shutil.which(command.split()[0]):
                made = subprocess.run(command.split(), input=data, capture_output=True)
                if made.returncode == 0:
                    kinds[kind] = made.stdout
        for i, (kind, made) in enumerate(kinds.items()):
            self.write("in", made)
            self.smp("convert", "-qf", "in", "file.wav", "-e", "gain -1dB")
            self.slowly(made, "convert", "-qf", "-", "live.wav", "-e", "gain -1dB", seed=i)
            self.assertEqual((self.folder / "live.wav").read_bytes(), (self.folder / "file.wav").read_bytes(), kind)

    def test_every_size_of_wav_streams(self):
        data = noise(0.6)
        for made in (wav(data), wav(data, 0x7FFFF024, 0x7FFFF000), wav(data, 0, 0),
                     wav(data, 36 + len(data), len(data))):
            process = self.start("convert", "-", "-", "-e", "gain -1dB")
            process.stdin.write(made[:RATE * FRAME // 3])
            self.assertEqual(len(self.take(process, 5000)), 5000)

    def test_bytes_behind_the_samples_of_a_pipe_are_told(self):
        data = noise(0.2)
        whole = wav(data, 36 + len(data), len(data))
        for stage, behind, told in (("gain -1dB", bytes(3000), "3000 bytes behind its samples are not read"),
                                    ("gain -1dB", whole, "a second WAV follows and is not read"),
                                    ("trim end=0.1s", b"", ""), ("gain -1dB", bytes(9), "")):
            process = self.start("convert", "-f", "-", "o.wav", "-e", stage)
            process.stdin.write(whole + behind)
            process.stdin.close()
            errors = process.stderr.read().decode()
            self.assertEqual(process.wait(LONG), 0, errors)
            self.assertIn(told, errors)
            self.assertEqual(errors.count("warning"), bool(told), errors)

    def test_who_needs_the_length_says_so(self):
        data = noise(0.5)
        for stage, waits in (("gain -3dB", False), ("reverse", True), ("fade out=0.1s", True), ("normalize", True)):
            self.write("in.raw", data)
            with open(self.folder / "in.raw", "rb") as file:
                cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
                done = self.smp("convert", "-vf", *RAW, "-", "o.wav", "-e", stage, stdin=cat.stdout)
                cat.stdout.close()
                cat.wait()
            self.assertEqual("read to its end first" in done.stderr, waits, stage)
            self.assertIn(f"{RATE // 2} frames", done.stderr)

    def test_a_sound_that_ends_within_a_fade_is_told(self):
        process = self.start("convert", *RAW, "-", "o.wav", "-e", "fade in=2s")
        process.stdin.write(noise(0.5))
        process.stdin.close()
        self.assertIn("counted on a longer one", process.stderr.read().decode())
        self.assertEqual(process.wait(), 0)

    def test_ends_that_are_mistakes(self):
        for data, message, status in ((b"", "the sound has no frames", 3), (b"\0" * 3, "the sound has no frames", 3),
                                      (noise(0.1) + b"\0", "1 byte at the end of the input is not a whole frame", 3)):
            process = self.start("convert", *RAW, "-", "o.wav", "-e", "gain -3dB")
            process.stdin.write(data)
            process.stdin.close()
            self.assertIn(message, process.stderr.read().decode())
            self.assertEqual(process.wait(), status)
            self.assertFalse((self.folder / "o.wav").exists())
        process = self.start("convert", *RAW, "-", "o.wav", "-e", "trim start=1s")
        process.stdin.write(noise(0.5))
        process.stdin.close()
        self.assertIn("nothing is left", process.stderr.read().decode())
        self.assertEqual(process.wait(), 2)

    def test_a_reader_that_goes_in_the_middle_of_a_write_is_told(self):
        """Linux raises SIGPIPE for a write of which a part was taken."""
        process = self.start("convert", "-q", *RAW, "-", "-", "-e", "reverse")
        process.stdin.write(noise(3))
        process.stdin.close()
        self.take(process, 100000)
        time.sleep(0.3)  # until the pipe is full, and the program waits
        process.stdout.close()
        self.assertIn("the program that was reading the output has ended", process.stderr.read().decode())
        self.assertEqual(process.wait(LONG), 4)

    def test_a_reader_that_goes_while_the_input_rests_ends_it(self):
        """The writer waits for a full pipe, and the rest of the program for input that does not come."""
        process = self.start("convert", "-q", *RAW, "-", "-", "-e", "gain -3dB")
        process.stdin.write(noise(1))
        until = time.monotonic() + LONG
        while self.waiting(process.stdout) < PIPE and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.2)
        process.stdout.close()
        self.assertEqual(process.wait(LONG), 4)
        self.assertIn("the program that was reading the output has ended", process.stderr.read().decode())

    def test_signals_and_a_reader_that_has_gone_end_it(self):
        data = noise(0.5)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("convert", *RAW, "-", "-", "-e", "gain -3dB")
            process.stdin.write(data)
            self.take(process, 1000)
            process.send_signal(number)
            self.assertEqual(process.wait(LONG), 128 + number)
        process = self.start("convert", *RAW, "-", "-", "-e", "gain -3dB")
        process.stdin.write(data)
        self.take(process, 1000)
        process.stdout.close()
        process.stdin.write(data)  # the pipe stays open, and nothing more comes
        self.assertEqual(process.wait(LONG), 4)

    def test_a_pipe_into_which_nobody_writes_ends_at_the_time_limit_or_by_ctrl_c(self):
        os.mkfifo(self.folder / "pipe.png")
        for words in (("info", "pipe.png"), ("convert", "pipe.png", "out.wav")):
            self.assertIn("nobody wrote for 0.2 s", self.smp(*words, "--time-limit", "0.2", status=6).stderr)
        told = self.smp("info", "pipe.png", "--time-limit", "3.2", status=6).stderr
        self.assertIn("smempipe: waits for somebody to write into the pipe pipe.png; --time-limit SECONDS ends that\n",
                      told)
        with subprocess.Popen([PROGRAM, "info", "pipe.png"], cwd=self.folder, stderr=subprocess.DEVNULL) as waits:
            time.sleep(0.3)
            waits.send_signal(signal.SIGINT)
            self.assertEqual(abs(waits.wait(timeout=20)) % 128, 2)


if __name__ == "__main__":
    unittest.main()
