"""Files are decoded by processes that can do nothing else: the same pictures, and the end of one costs one file."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from harness import FAULTS, SAMPLES, SANITIZED, CliCase, big_png

RUN = ("--device", "cpu", "--threads", "2")
# What follows a decoder must not take all the time: a sanitizer slows it, and no decoder.
WORK = "invert" if SANITIZED else "box 9"


def children(pid):
    try:
        return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def field(pid, index):
    """A field of /proc/PID/stat behind the name; None: the process is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[index]
    except (FileNotFoundError, ProcessLookupError):
        return None


def decoders(pid, name="smp-decoder"):
    """Decoders of a program: its children, and those of its spawner."""
    found, below = [], children(pid)
    while below:
        one = below.pop()
        below += children(one)
        try:
            if pathlib.Path(f"/proc/{one}/comm").read_text().strip() == name:
                found.append(one)
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def stage(sample):
    return "gain -6dB" if str(sample).endswith(("flac", "wav")) else "invert"


def busy_decoder(process, ticks=3, name="smp-decoder"):
    """Waits for a decoder that has used so many ticks of a processor: it is in the middle of a file."""
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        for pid in decoders(process.pid, name):
            used = field(pid, 11), field(pid, 12)
            if None not in used and sum(map(int, used)) >= ticks:
                return pid
        time.sleep(0.001)
    raise AssertionError(f"no {name} is at work")


class Sandbox(CliCase):
    def test_every_sample_gives_the_same_with_and_without(self):
        seen = 0
        for sample in sorted(SAMPLES.iterdir()):
            if sample.is_dir():
                continue
            for out in ("npy", "wav"):
                done = []
                for how in ((), ("--no-sandbox",)):
                    end = self.smp("run", *how, "-e", stage(sample), sample, f"{len(how)}.{out}", "--force", *RUN,
                                   status=(0, 2, 3, 4))
                    target = self.folder / f"{len(how)}.{out}"
                    done.append((end.returncode, end.stderr.replace(target.name, ""),
                                target.read_bytes() if target.exists() else b""))
                    target.unlink(missing_ok=True)
                self.assertEqual(*done, sample)
                seen += done[0][0] == 0
            self.assertEqual(*(self.smp("info", *how, "-v", sample, status=(0, 3)
                             ).stdout for how in ((), ("--no-sandbox",))))
        self.assertGreaterEqual(seen, 8)

    def test_damaged_files_among_small_ones(self):
        """Whose rows are read before they are asked for: the same errors, and what comes after is whole."""
        inputs = self.folder / "in"
        inputs.mkdir()
        for n in range(18):
            self.small_png(f"in/{n:02}.png", width=40 + n // 6 * 50, height=20 + n)
        self.smp("run", "-e", "invert", inputs / "13.png", inputs / "20.jpg", *RUN)
        for name, keep, flip in (("05.png", 0.6, None), ("06.png", 1, 0.7), ("10.png", 0.02, None),
                                 ("20.jpg", 0.5, None), ("17.png", 0.99, None)):  # fmt: skip
            data = bytearray((inputs / name).read_bytes())
            if flip:
                data[int(len(data) * flip)] ^= 255
            (inputs / name).write_bytes(data[:int(len(data) * keep)])
        for work in (("-e", "invert"), ("-e", "crop width=20 height=4 x=0 y=0"), ("--no-verify", "-e", "invert")):
            told = []
            for how in (("--no-sandbox", "--jobs", "1"), ("--jobs", "1"), ("--jobs", "5")):
                out = self.folder / f"out{len(told)}"
                end = self.smp("batch", *work, *how, inputs, "-o", out, "--to", "png", "--device", "cpu", "-q",
                               status=(0, 1))  # fmt: skip
                told.append((end.returncode, sorted(end.stderr.replace(out.name, "").splitlines()),
                             [(p.name, p.read_bytes()) for p in sorted(out.iterdir())
                              if p.suffix == ".png"]))  # fmt: skip
            self.assertEqual(told[1], told[0])
            self.assertEqual(told[2], told[0])
            self.assertGreaterEqual(len(told[0][2]), 13)
            for made in self.folder.glob("out?"):
                shutil.rmtree(made)

    def test_standard_input_is_read_by_a_decoder(self):
        for sample in ("chelsea.png", "rocket.jpg", "speech.flac"):
            whole = (SAMPLES / sample).read_bytes()
            out = [self.smp("run", *how, "-e", stage(sample), "-", "-", *RUN, input=whole, text=False).stdout
                   for how in ((), ("--no-sandbox",))]
            self.assertEqual(*out, sample)

    def test_a_long_pipe_is_kept_in_a_file(self):
        """A PNG is read as it comes; a TGA of this kind is read to its end first, beyond what stays in memory."""
        header = bytes([0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xD0, 0x07,
                       0x88, 0x13, 24, 0])  # 2000x5000, bottom row first
        self.write("in.tga", header + bytes(range(250)) * (2000 * 5000 * 3 // 250))
        with open(self.folder / "in.tga", "rb") as file:
            piped = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
            self.smp("run", "-e", "invert", "-", "pipe.npy", *RUN, stdin=piped.stdout)
            piped.stdout.close()
            piped.wait()
        self.smp("run", "-e", "invert", "in.tga", "file.npy", *RUN)
        self.assertEqual((self.folder / "pipe.npy").read_bytes(), (self.folder / "file.npy").read_bytes())

    def slow_png(self, name):
        """A picture that takes a decoder a while, however fast the machine."""
        big_png(self.folder / name, 3000, 60000)

    def test_a_killed_decoder_costs_one_file_of_a_batch(self):
        self.slow_png("b.png")
        for name in ("a.png", "c.png", "d.png"):
            self.small_png(name)
        process = self.begin("batch", "-e", WORK, "-e", "stats", "a.png", "b.png", "c.png", "d.png", "-o", "out",
                             "--jobs", "1", *RUN)
        os.kill(busy_decoder(process), signal.SIGKILL)
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn("b.png: the process that decodes the file was killed", errors)
        self.assertEqual(sorted(p.name for p in (self.folder / "out").glob("*.png")), ["a.png", "c.png", "d.png"])

    def test_a_killed_spawner_is_started_anew(self):
        names = [f"{i:02}.png" for i in range(96)]  # so many that a decoder is at work when the second is killed
        big_png(self.folder / names[0], 400, 3000)
        for name in names[1:]:
            shutil.copy(self.folder / names[0], self.folder / name)
        process = self.begin("batch", "-e", WORK, *names, "-o", "out", "--jobs", "2", *RUN)
        for killed in range(2):
            busy_decoder(process, 1)
            spawners, end = [], time.monotonic() + 30
            while not spawners and process.poll() is None and time.monotonic() < end:
                spawners = decoders(process.pid, "smp-spawner")
            with contextlib.suppress(ProcessLookupError):  # the first one may only now be gone
                for spawner in spawners[:1]:
                    os.kill(spawner, signal.SIGKILL)
        _, errors = process.communicate()
        failed = errors.count("the process that decodes the file was killed")
        done = len(list((self.folder / "out").glob("*.png")))
        self.assertEqual(done + failed, len(names), errors)
        self.assertLessEqual(failed, 4, errors)  # those that were being decoded
        self.assertEqual(decoders(process.pid, "smp-spawner"), [])

    def test_a_killed_keeper_of_spawners_is_told_and_resumed(self):
        names = [f"{i:02}.png" for i in range(96)]  # so many that files are left when it is killed
        big_png(self.folder / names[0], 400, 3000)
        for name in names[1:]:
            shutil.copy(self.folder / names[0], self.folder / name)
        batch = ("batch", "-e", WORK, *names, "-o", "out", "--jobs", "2", *RUN)
        process = self.begin(*batch)
        busy_decoder(process, 1)
        spawner, end = [], time.monotonic() + 30
        while not spawner and process.poll() is None and time.monotonic() < end:
            spawner = decoders(process.pid, "smp-spawner")
        keeper = int(field(spawner[0], 1))
        for pid in (keeper, *spawner):
            os.kill(pid, signal.SIGKILL)
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn("the process that starts those that decode files was killed", errors)
        self.assertIn("run it again, a batch with --resume", errors)
        self.smp(*batch, "--resume")
        self.assertEqual(len(list((self.folder / "out").glob("*.png"))), len(names))

    def test_a_run_whose_decoder_is_killed_leaves_nothing(self):
        self.slow_png("in.png")
        process = self.begin("run", "-e", WORK, "in.png", "out.png", *RUN)
        os.kill(busy_decoder(process), signal.SIGKILL)
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 3, errors)
        self.assertIn("in.png: error: the process that decodes the file was killed", errors)
        self.assertEqual(self.files(), ["in.png"])

    def test_a_decoder_that_hangs_ends_by_the_time_limit(self):
        self.slow_png("in.png")
        process = self.begin("run", "-e", WORK, "in.png", "out.png", "--time-limit", "2", *RUN)
        os.kill(busy_decoder(process), signal.SIGSTOP)
        begun = time.monotonic()
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 6, errors)
        self.assertIn("--time-limit", errors)
        self.assertLess(time.monotonic() - begun, 60)
        self.assertEqual(self.files(), ["in.png"])

    def test_a_decoder_that_hangs_costs_one_file_of_a_batch(self):
        self.slow_png("b.png")
        for name in ("a.png", "c.png"):
            self.small_png(name)
        process = self.begin("batch", "-e", WORK, "a.png", "b.png", "c.png", "-o", "out", "--jobs", "1",
                             "--time-limit", "2", *RUN)
        os.kill(busy_decoder(process), signal.SIGSTOP)
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn("b.png: decoding takes more than the 2 seconds of --time-limit", errors)
        self.assertEqual(sorted(p.name for p in (self.folder / "out").glob("*.png")), ["a.png", "c.png"])

    def test_a_pipe_that_never_ends_ends_by_the_time_limit(self):
        process = self.begin("info", "-", "--time-limit", "0.5", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        process.stdin.write("P6\n")
        process.stdin.flush()
        self.assertEqual(process.wait(timeout=60), 6)
        process.communicate()

    def test_decoders_end_with_the_program(self):
        self.slow_png("in.png")
        os.link(self.folder / "in.png", self.folder / "again.png")
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            process = self.begin("batch", "-e", WORK, "in.png", "again.png", "-o", f"out{number}", *RUN)
            decoder = busy_decoder(process)
            others = decoders(process.pid)
            process.send_signal(number)
            if number != signal.SIGKILL:
                self.assertIn("in flight", process.stderr.readline())  # before it, two signals may count as one
                process.send_signal(number)  # the second ends a batch at once
            process.communicate()
            end = time.monotonic() + 30
            for pid in {decoder, *others}:
                while field(pid, 0) not in (None, "Z") and time.monotonic() < end:
                    time.sleep(0.01)
                self.assertIn(field(pid, 0), (None, "Z"), number)

    @unittest.skipIf(SANITIZED, "a sanitizer must be loaded first")
    def test_a_system_that_confines_nothing_is_told_of_once(self):
        for name in ("a.png", "b.png", "c.png"):
            self.small_png(name)
        confined = self.smp("--version", "-v").stdout
        if "no seccomp" in confined:
            self.skipTest("this system has no seccomp")
        some = "Landlock alone" if "Landlock ABI" in confined else "neither seccomp nor Landlock"
        for fault, words in (("no-confinement", "neither seccomp nor Landlock"), ("no-seccomp", some), ("", "")):
            environment = dict(os.environ, LD_PRELOAD=FAULTS, SMP_FAULT=fault)
            for command in (("run", "-f", "-e", "invert", "a.png", "o.png"),
                            ("batch", "-f", "-e", "invert", "a.png", "b.png", "c.png", "-o", "out")):
                done = self.smp(*command, env=environment)
                told = [line for line in done.stderr.splitlines() if "warning" in line]
                self.assertEqual(len(told), bool(words), done.stderr)
                self.assertIn(words, "".join(told))
                self.assertEqual(self.smp(*command, "-q", env=environment).stderr, "")

    def test_the_version_says_what_confines_decoders(self):
        told = self.smp("--version", "-v").stdout
        self.assertRegex(told, r"\nread and written: PNG, APNG, JPEG, ")
        self.assertRegex(told, r"decoders are confined by: (no )?seccomp, (no Landlock|Landlock ABI [0-9]+)\n")


if __name__ == "__main__":
    unittest.main()
