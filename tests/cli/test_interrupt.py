"""Signals at any moment leave the old output or the whole new one."""
import os
import random
import signal
import subprocess
import time
import unittest

from harness import FULL, CliCase, big_png, png_chunks

TRIES = 60 if FULL else 12


class Interrupt(CliCase):
    def start(self, *extra):
        return self.begin("run", "-e", "gaussian 3px", "in.png", "out.png", "--force", *extra,
                          stdout=subprocess.DEVNULL)

    def setUp(self):
        super().setUp()
        big_png(self.folder / "in.png", 1500, 2000)
        begin = time.monotonic()
        self.smp("run", "-e", "gaussian 3px", "in.png", "out.png")
        self.duration = time.monotonic() - begin
        self.whole = (self.folder / "out.png").read_bytes()

    def has_nameless_files(self):
        try:
            os.close(os.open(self.folder, os.O_WRONLY | os.O_TMPFILE))
        except OSError:
            return False
        return True

    def test_kill_leaves_the_old_file_or_the_new_one(self):
        rng = random.Random(4)
        seen = set()
        strays = 0
        for _ in range(TRIES):
            self.write("out.png", "old")
            process = self.start()
            time.sleep(rng.uniform(0, 1.15) * self.duration)
            process.kill()
            process.communicate(timeout=60)
            left = (self.folder / "out.png").read_bytes()
            self.assertIn(left, (b"old", self.whole), "neither the old file nor the whole new one")
            seen.add(left == b"old")
            strays += len(self.files()) - 2
            for path in self.folder.glob(".smempipe-*.tmp"):
                path.unlink()
        self.assertIn(True, seen, "no run was killed in time: the test measured nothing")
        if self.has_nameless_files():  # one may have been killed in the moment that its file had a name
            self.assertLessEqual(strays, 1, "temporary files are left")
        self.smp("run", "-e", "gaussian 3px", "in.png", "out.png", "--force")
        png_chunks((self.folder / "out.png").read_bytes())

    def end_by(self, number, status):
        rng = random.Random(int(number))
        stopped = 0
        for _ in range(TRIES):
            self.write("out.png", "old")
            process = self.start()
            time.sleep(rng.uniform(0.1, 1.0) * self.duration)
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
            left = (self.folder / "out.png").read_bytes()
            self.assertEqual(self.files(), ["in.png", "out.png"], "a temporary file is left")
            if process.returncode == 0:
                self.assertEqual(left, self.whole)
            else:
                # Before the handler is installed the signal itself ends the process.
                self.assertIn(process.returncode, (status, -number), errors)
                self.assertIn(left, (b"old", self.whole))
                stopped += 1
        self.assertGreater(stopped, 0, "no run was stopped in time: the test measured nothing")

    def test_terminate_cleans_up_and_exits_143(self):
        self.end_by(signal.SIGTERM, 143)

    def test_interrupt_cleans_up_and_exits_130(self):
        self.end_by(signal.SIGINT, 130)


if __name__ == "__main__":
    unittest.main()
