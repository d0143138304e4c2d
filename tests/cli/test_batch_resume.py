"""smempipe batch --resume: nothing is lost and nothing done twice, whatever interrupts it.

SMP_FULL=1 kills at 50 random instants instead of 12; a program with a sanitizer is killed at 4."""
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from batch_case import BatchCase
from harness import FAULTS, FULL, PROGRAM, SANITIZED, big_png, png_bytes

KILLS = 50 if FULL else 4 if SANITIZED else 12


class Resume(BatchCase):
    def test_what_changed_is_done_again(self):
        self.pictures(["a.png", "b.png", "c.png"])
        self.batch("in", "-o", "out")
        first = self.outputs()
        self.small_png("in/b.png", 50, 50)
        (self.folder / "out/c.png").unlink()
        done = self.batch("in", "-o", "out", "--resume")
        self.assertIn("2 files done, 1 done before", done.stderr)
        self.assertNotEqual(self.outputs()["b.png"], first["b.png"])
        self.assertEqual(self.outputs()["c.png"], first["c.png"])

    def test_an_output_edited_since_is_named_and_the_others_go_on(self):
        self.pictures(["a.png", "b.png"])
        self.batch("in", "-o", "out")
        whole = self.outputs()
        self.write("out/a.png", "edited")
        self.pictures(["c.png"])
        done = self.batch("in", "-o", "out", "--resume", "--report", "run.jsonl", status=1)
        self.assertIn("in/a.png: out/a.png: was changed after it was made", done.stderr)
        self.assertIn("1 file done, 1 done before, 1 changed since and left", done.stderr)
        self.assertEqual({line["input"]: line["status"]
                          for line in self.lines()}, {"in/a.png": "failed", "in/b.png": "skipped", "in/c.png": "done"})
        self.assertEqual(self.outputs()["a.png"], b"edited")
        self.assertIn("changed since", self.batch("in", "-o", "out", "--resume", "--dry-run", status=1).stdout)
        self.batch("in", "-o", "out", "--resume", "--skip-existing")
        self.assertEqual(self.outputs()["a.png"], b"edited")
        done = self.batch("in", "-o", "out", "--resume", "--redo-changed")
        self.assertIn("1 file done, 2 done before", done.stderr)
        self.assertEqual({name: self.outputs()[name] for name in whole}, whole)
        self.assertIn("--resume --redo-changed", self.batch("in", "-o", "out", "--redo-changed", status=2).stderr)

    @unittest.skipIf(SANITIZED, "a sanitizer must be loaded first")
    def test_a_short_write_of_the_journal_is_written_on(self):
        names = [f"{i:02}.png" for i in range(40)]
        self.pictures(names)
        self.batch("in", "-o", "out", "--jobs", "4",
                   env=dict(os.environ, LD_PRELOAD=FAULTS, SMP_FAULT="short-writes"))
        journal = (self.folder / "out/.smempipe-journal").read_text().splitlines()
        self.assertEqual(sum(line.startswith("done ") and line.endswith('.png"') for line in journal), len(names))
        self.assertIn(f"{len(names)} done before", self.batch("in", "-o", "out", "--resume").stderr)

    def test_names_of_any_bytes_are_done_once(self):
        names = [" a.png", "\tb.png", "  ", '"c".png', "d\n.png", "e\\n.png", "f ", '"', "\\"]
        self.pictures(names)
        self.batch("in", "-o", "out", "--name", "{name}")
        first = self.outputs()
        self.assertEqual(len(first), len(names))
        self.assertIn(f"{len(names)} done before", self.batch("in", "-o", "out", "--name", "{name}", "--resume").stderr)
        self.assertEqual(self.outputs(), first)

    def test_another_pipeline_is_other_work(self):
        self.pictures(["a.png"])
        self.batch("in", "-o", "out")
        done = self.smp("batch", "-e", "invert", "in", "-o", "out", "--resume", status=4)
        self.assertIn("another pipeline", done.stderr)
        self.write("p.pipe", "param s = 1px\ngaussian $s\n")
        self.smp("batch", "p.pipe", "in", "-o", "set", "--set", "s=2px")
        self.smp("batch", "p.pipe", "in", "-o", "set", "--set", "s=2px", "--resume")
        self.smp("batch", "p.pipe", "in", "-o", "set", "--set", "s=3px", "--resume", status=4)

    def test_another_picture_in_the_pipeline_is_other_work(self):
        self.pictures(["a.png"])
        self.small_png("dark.png")
        pipe = self.write("p.pipe", 'subtract by="dark.png"\n')
        self.smp("batch", pipe, "in", "-o", "out")
        self.smp("batch", pipe, "in", "-o", "out", "--resume")
        self.write("dark.png", png_bytes([bytes(33 * 3)] * 21, 33))
        self.assertIn("another pipeline", self.smp("batch", pipe, "in", "-o", "out", "--resume", status=4).stderr)

    def test_another_input_of_the_same_name_is_no_reason_to_replace_an_output(self):
        for home, width in (("a", 30), ("b", 40)):
            self.pictures(["x.png"], home + "/in", width)
        run = lambda home, *words, **how: self.batch(home + "/in", "-o", "out", *words, **how)
        run("a")
        first = self.outputs()
        for words in ((), ("--redo-changed",), ("-n",)):
            self.assertIn("made of another input: give another folder",
                          run("b", "--resume", *words, status=4).stderr)
        self.assertEqual(self.outputs(), first)
        begun = [line for line in (self.folder / "out/.smempipe-journal").read_text().splitlines(True)
                 if not line.startswith("done")]
        for journal, changed in ((begun, first["x.png"]), (None, b"edited")):  # as after a kill; edited since
            if journal:
                self.write("out/.smempipe-journal", "".join(journal))
            self.write("out/x.png", changed)
            self.assertIn("made of another input", run("b", "--resume", status=4).stderr)
            self.assertEqual(self.outputs()["x.png"], changed)
        self.assertIn("1 file done", run("b", "--resume", "--force").stderr)

    def test_it_does_not_matter_how_the_folder_is_written(self):
        self.pictures(["a.png"])
        self.batch("in", "-o", "out")
        self.assertIn("1 done before", self.batch(self.folder / "in/", "-o", self.folder / "out", "--resume").stderr)

    def test_a_journal_that_was_cut_off(self):
        self.pictures(["a.png", "b.png"])
        self.batch("in", "-o", "out", "--jobs", "1")
        journal = self.folder / "out/.smempipe-journal"
        journal.write_bytes(journal.read_bytes()[:-10])
        done = self.batch("in", "-o", "out", "--resume")
        self.assertIn("1 file done, 1 done before", done.stderr)
        self.assertIn("2 done before", self.batch("in", "-o", "out", "--resume").stderr)

    def test_a_journal_that_lost_its_end(self):
        """What is whole of it counts; outputs that it does not know are made again, by the pipeline that it is of."""
        names = [f"{i}.png" for i in range(8)]
        self.pictures(names)
        self.batch("in", "-o", "out", "--jobs", "1")
        whole = self.outputs()
        journal = self.folder / "out/.smempipe-journal"
        journal.write_bytes(journal.read_bytes()[:len(journal.read_bytes()) // 2])
        self.assertIn("exist already",
                      self.smp("batch", "-e", "invert", "in", "-o", "out", "--resume", status=4).stderr)
        dry = self.batch("in", "-o", "out", "--resume", "-n").stdout
        again = dry.count("(replaced)")
        self.assertEqual((dry.count("(done before)") + again, again in (4, 5)), (8, True), dry)
        kept = self.batch("in", "-o", "out", "--resume", "--skip-existing", "-n").stdout
        self.assertEqual(kept.count("(replaced)"), again - 4)  # of which the beginning is known
        done = self.batch("in", "-o", "out", "--resume")
        self.assertIn(f"{again} files done, {8 - again} done before", done.stderr)
        self.assertIn("outputs were made again, since the record of them was cut off or is gone", done.stderr)
        self.assertEqual(self.outputs(), whole)
        self.assertIn("8 done before", self.batch("in", "-o", "out", "--resume").stderr)
        self.pictures(["new.png"])
        time.sleep(0.05)  # for the file system's clock
        self.write("out/new.png", "mine")  # which no journal ever knew
        self.assertIn("out/new.png: error: the file exists",
                      self.batch("in", "-o", "out", "--resume", status=4).stderr)

    def test_a_journal_of_something_else_is_refused(self):
        self.pictures(["a.png"])
        (self.folder / "out").mkdir()
        self.write("out/.smempipe-journal", "dear diary\n")
        self.assertIn("is not a journal", self.batch("in", "-o", "out", "--resume", status=3).stderr)

    def test_one_run_a_folder(self):
        self.copies([f"p{i:03}.png" for i in range(60)], 600, 500)
        slow = [PROGRAM, "batch", "-e", "gaussian 20px", "in", "-o", "out", "--jobs", "1"]
        first = subprocess.Popen(slow, cwd=self.folder, stderr=subprocess.DEVNULL)
        try:
            while not self.outputs() and first.poll() is None:
                time.sleep(0.01)
            done = self.smp(*slow[1:], "--resume", status=4)
            self.assertIn("another smempipe batch is writing to this folder", done.stderr)
        finally:
            first.kill()
            first.wait()


class Together(BatchCase):
    """Several batches that write to one folder at once: shards of one number of shards may, nothing else."""

    def beside(self, running, *tried):
        """What a second batch says while the first, which is given SIGSTOP as soon as it has begun, is there."""
        first = self.begin("batch", "-e", "gaussian 20px", "in", "-o", "out", "--jobs", "1", *running,
                           stderr=subprocess.DEVNULL)
        try:
            while not any((self.folder / "out").glob("*.png")) and first.poll() is None:
                time.sleep(0.002)
            first.send_signal(signal.SIGSTOP)
            self.assertIsNone(first.poll(), "the first batch ended before the second began")
            return self.smp("batch", "-e", "gaussian 20px", "in", "-o", "out", "--resume", *tried, status=(0, 4))
        finally:
            first.send_signal(signal.SIGCONT)
            first.kill()
            first.wait()
            shutil.rmtree(self.folder / "out")

    def test_batches_of_one_folder_exclude_each_other(self):
        self.copies([f"p{i:02}.png" for i in range(24)], 400, 300)
        for running, tried, said in (
            ((), ("--shard", "1/2"), "another smempipe batch is writing to this folder"),
            (("--shard", "1/2"), (), "another smempipe batch is one of 2 shards"),
            (("--shard", "1/2"), ("--shard", "1/3"), "--shard K/2"),
            (("--shard", "1/2"), ("--shard", "1/2"), "another smempipe batch is shard 1/2"),
        ):
            done = self.beside(running, *tried)
            self.assertEqual(done.returncode, 4, (running, tried))
            self.assertIn(said, done.stderr)
        self.assertEqual(self.beside(("--shard", "1/2"), "--shard", "2/2").returncode, 0)


class Interrupted(BatchCase):
    def setUp(self):
        super().setUp()
        self.names = [f"p{i:03}.png" for i in range(40)]
        self.pictures(self.names, width=120, height=90)
        begin = time.monotonic()
        self.batch("in", "-o", "whole")
        self.duration = time.monotonic() - begin
        self.whole = self.outputs("whole")

    def start(self, out, *extra):
        return self.begin("batch", "-e", "gaussian 1px", "in", "-o", out, *extra)

    def test_killed_at_any_moment_resume_completes_the_folder(self):
        rng = random.Random(11)
        cut = 0
        for i in range(KILLS):
            out = f"out{i}"
            process = self.start(out)
            time.sleep(rng.uniform(0.02, 1.1) * self.duration)
            process.kill()
            process.communicate()
            left = self.outputs(out) if (self.folder / out).exists() else {}
            whole = {name: data for name, data in left.items() if not name.startswith(".")}
            cut += len(whole) < len(self.whole)
            for name, data in whole.items():
                self.assertEqual(data, self.whole[name], f"{name} is not whole")
            self.batch("in", "-o", out, "--resume")
            self.assertEqual(self.outputs(out), self.whole, "temporary files are left, or outputs differ")
            shutil.rmtree(self.folder / out)
        self.assertGreater(cut, 0, "no run was killed in time: the test measured nothing")

    def interrupt(self, number, status):
        rng = random.Random(int(number))
        stopped, duration = 0, self.duration
        for i in range(3 if SANITIZED else 6):
            process = self.start(f"out{i}", "--jobs", "2")
            while not (self.folder / f"out{i}").exists() and process.poll() is None:
                time.sleep(0.001)
            time.sleep(rng.uniform(0.05, 0.6) * duration)
            process.send_signal(number)
            _, errors = process.communicate()
            left = self.outputs(f"out{i}")
            self.assertTrue(set(left) <= set(self.whole), "a temporary file is left")
            for name, data in left.items():
                self.assertEqual(data, self.whole[name])
            if process.returncode:
                self.assertEqual(process.returncode, status, errors)
                self.assertIn("--resume does the rest", errors)
                self.assertIn(f"smempipe: {len(left)} file", errors)
                stopped += 1
            else:
                duration /= 2  # the machine was busier when it was measured
            done = self.batch("in", "-o", f"out{i}", "--resume")
            if left:
                self.assertIn(f"{len(left)} done before", done.stderr)
            self.assertEqual(self.outputs(f"out{i}"), self.whole)
        self.assertGreater(stopped, 0, "no run was stopped in time: the test measured nothing")

    def test_interrupt_finishes_files_in_flight(self):
        self.interrupt(signal.SIGINT, 130)

    def test_terminate_finishes_files_in_flight(self):
        self.interrupt(signal.SIGTERM, 143)

    def test_the_second_interrupt_stops_at_once(self):
        (self.folder / "big").mkdir()
        big_png(self.folder / "big/large.png", 3000, 2500)
        process = self.begin("batch", "-e", "gaussian 150px", "--variant", "naive", "big", "-o", "out")
        while not (self.folder / "out").exists() and process.poll() is None:
            time.sleep(0.001)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        self.assertIn("finishing the 1 file in flight", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        process.communicate()
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.outputs(), {})

if __name__ == "__main__":
    unittest.main()
