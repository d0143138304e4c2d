"""Tasks that share a list of work: none is lost and none done twice, whoever comes, goes, is stopped or killed."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from batch_case import BatchCase  # noqa: E402
from harness import FULL, PROGRAM, SAMPLES  # noqa: E402

STAGE = ("-e", "gaussian 3px")
CLUSTER = ("SLURM", "OMPI", "PMI", "PBS", "SGE", "PARALLEL", "JOB_ID", "MPI_")


def environment(**more):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(CLUSTER)}
    return {**clean, **more}


class TaskCase(BatchCase):
    def run_batch(self, *arguments, status=0, env=None):
        return self.smp("batch", *STAGE, *arguments, status=status, env=environment(**(env or {})))

    def start(self, *arguments, env=None):
        task = subprocess.Popen([PROGRAM, "batch", *STAGE, *arguments, "--threads", "1", "-j", "1"],
                                cwd=self.folder, stderr=subprocess.PIPE, text=True, env=environment(**(env or {})))
        self.addCleanup(self.stop, task)
        return task

    def stop(self, task):
        if task.returncode is not None:
            return
        task.send_signal(signal.SIGCONT)
        task.kill()
        task.communicate()

    def make(self, count=40, piece=4, **size):
        """piece 0: as `smempipe list` chooses them."""
        self.names = [f"d{i % 3}/p{i:03}.png" for i in range(count)]
        for name in self.names:
            (self.folder / "in" / name).parent.mkdir(exist_ok=True, parents=True)
        self.copies(self.names, size.get("width", 90), size.get("height", 70))
        self.smp("list", "in", "-r", "-o", "work.list", "--piece-files", str(piece))  # 0: the default
        self.run_batch("in", "-r", "-o", "whole")
        self.whole = self.outputs("whole")

    def outputs(self, folder="out"):
        return {name: data for name, data in super().outputs(folder).items() if ".smempipe-journal" not in name}

    def pieces(self, folder="out"):
        """{file of a piece: its text}"""
        return {p.name: p.read_text() for p in (self.folder / folder).glob(".smempipe-journal.d/*/*/*")}


class Lists(TaskCase):
    def test_a_list_says_what_there_is_whatever_comes_and_goes(self):
        self.make()
        self.pictures(["a.png", "d0/zz.png"])  # come later, sort first and last
        (self.folder / "in/d1/p001.png").unlink()
        for k in (1, 2):
            done = self.run_batch("--list", "work.list", "-o", "out", "--shard", f"{k}/2", status=(0, 1))
        done = self.run_batch("--list", "work.list", "-o", "out", "--resume", status=1)
        self.assertIn("in/d1/p001.png: ", done.stderr)
        del self.whole["d1/p001.png"]
        self.assertEqual(self.outputs(), self.whole)
        self.copies(["d1/p001.png"], 90, 70)
        self.run_batch("--list", "work.list", "-o", "out", "--resume")
        self.assertIn("40 done before", self.run_batch("--list", "work.list", "-o", "out", "--resume").stderr)

    def test_files_that_changed_after_the_list_was_made_are_told(self):
        self.make(6, 3)
        said = "was changed after the list was made"
        self.assertNotIn(said, self.run_batch("--list", "work.list", "-o", "out").stderr)
        os.utime(self.folder / "in" / self.names[1], (1, 1))
        self.copies([self.names[4]], 100, 70)
        told = self.run_batch("--list", "work.list", "-o", "later").stderr
        self.assertEqual(told.count(said), 2, told)
        for name in self.names[1], self.names[4]:
            self.assertIn(f"in/{name}: {said}", told)
        for form in ("-t",), ("--shard", "1/1", "--partial", "1.part"):
            told = self.smp("measure", "-e", "stats", "--list", "work.list", *form, env=environment()).stderr
            told += self.smp("measure", "--merge", "1.part").stderr if "--partial" in form else ""
            self.assertEqual(told.count(said), 2, told)

    def test_names_that_find_found(self):
        names = ["a.png", "x y.png", "back\\slash.png", "sub/c.png"]
        self.pictures([*names, "new\nline.png"])
        find = subprocess.run(["find", "in", "-type", "f"], cwd=self.folder, capture_output=True, check=True).stdout
        plain = b"".join(line + b"\n" for line in find.splitlines() if b"line.png" not in line and line != b"in/new")
        self.write("names", plain)
        self.smp("list", "in", "--from", "names", "-o", "plain.list")
        self.write("gone", b"in/nosuch.png\n" + plain)
        self.assertIn("1 of the names in gone are not there",
                      self.smp("list", "in", "--from", "gone", "-o", "gone.list").stderr)
        zero = subprocess.run(["find", ".", "-type", "f", "-print0"], cwd=self.folder / "in", capture_output=True,
                              check=True).stdout
        self.write("names0", b"".join(name + b"\0" for name in zero.split(b"\0") if name))
        subprocess.run([PROGRAM, "list", ".", "--from", "../names0", "-o", "../zero.list", "-q"], check=True,
                       cwd=self.folder / "in")
        for name, count in (("plain", 4), ("zero", 5)):
            self.run_batch("--list", f"{name}.list", "-o", name)
            self.assertEqual(len(self.outputs(name)), count)
        self.assertIn("new\nline.png", self.outputs("zero"))
        self.write("names", "elsewhere/a.png\n")
        self.assertIn("line 1: 'elsewhere/a.png' does not lie in",
                      self.smp("list", "in", "--from", "names", "-o", "bad.list", status=3).stderr)
        self.assertFalse((self.folder / "bad.list").exists())

    def test_films_are_listed_and_each_pipeline_takes_its_files(self):
        """As of the folder: a pipeline for sound takes films, one for pictures passes them over."""
        self.pictures(["a.png", "b.png"])
        films = ["c.MOV", "c.mkv", "d.mp4", "e.webm"]
        for name in ("s.wav", *films):  # by name alone: what a file holds is read from it
            shutil.copy(SAMPLES / "chirp.wav", self.folder / "in" / name)
        self.write("in/note.txt", "no film")
        said = self.smp("list", "in", "-o", "work.list", "--piece-files", "2").stderr
        self.assertIn("7 files", said)
        self.assertIn("1 passed over by their names (1 .txt)", said)
        self.write("names", "".join(f"in/{name}\n" for name in ("a.png", "d.mp4", "note.txt", "s.wav")))
        said = self.smp("list", "in", "--from", "names", "-o", "named.list").stderr
        self.assertNotIn("passed over", said)
        sound, picture = ("batch", "-e", "gain -3dB", "--to", "wav"), ("batch", "-e", "invert", "--to", "png")
        for words, names, passed in ((sound, "{name}.{from}.wav", 3), (picture, "{stem}.png", 6)):
            end = ("--name", names.replace("{name}", "{stem}"))
            self.smp(*words, "in", "-o", "folder", *end, "-f")
            of_list = (*words, "--list", "work.list", *end)
            passed_over = f"{passed - 1} passed over by their names"
            self.assertIn(passed_over, self.smp(*of_list, "-o", "out", "--claim", env=environment()).stderr)
            self.assertEqual(self.outputs(), self.outputs("folder"))
            again = self.smp(*of_list, "-o", "out", "--resume", env=environment()).stderr
            self.assertIn(f"0 files done, {7 - passed + 1} done before, {passed_over}", again)
            for k in "1", "2":
                self.smp(*of_list, "-o", "shards", "--shard", f"{k}/2", env=environment())
            self.assertEqual(self.outputs("shards"), self.outputs("folder"))
            for folder in "folder", "out", "shards":
                shutil.rmtree(self.folder / folder)
        said = self.smp(*sound, "--list", "named.list", "-o", "out", env=environment()).stderr
        self.assertIn("2 files done, 2 passed over by their names (1 .png, 1 .txt)", said)
        for words in ("-e", "loudness"), ("-e", "stats"):
            one = self.smp("measure", *words, "in", "-t", "--json").stdout
            self.assertEqual(self.smp("measure", *words, "--list", "work.list", "-t", "--json",
                                      env=environment()).stdout, one)

    def test_damaged_lists_are_refused(self):
        self.make(8)
        text = (self.folder / "work.list").read_bytes()
        for damaged, said in ((text[:-9], "cut off"), (text.replace(b"p003", b"p009"), "was changed"),
                              (b"dear diary\n" * 20, "not a list"), (b"", "not a list"),
                              (text[:100] + text[101:], "was changed")):
            self.write("bad.list", damaged)
            done = self.run_batch("--list", "bad.list", "-o", "bad", status=3)
            self.assertIn(said, done.stderr)
        for wrong in (("in",), ("-r",), ("--include", "*")):
            self.run_batch("--list", "work.list", "-o", "bad", *wrong, status=2)
        self.run_batch("in", "-o", "bad", "--claim", status=2)
        both = self.run_batch("--list", "work.list", "-o", "bad", "--claim", "--shard", "1/2", status=2)
        self.assertIn("--claim and --shard exclude each other", both.stderr)
        self.run_batch("--list", "work.list", "-o", "bad", "--retake", "1h", status=2)

    def test_what_was_done_is_looked_at_again(self):
        self.make()
        self.run_batch("--list", "work.list", "-o", "out", "--sync", "piece")
        self.assertEqual(len([name for name in self.pieces() if name.endswith(".done")]), 10)
        self.assertLess(sum(map(len, self.pieces().values())), 10 * 400)
        (self.folder / "out/d0/p000.png").unlink()
        self.write("out/d1/p001.png", "edited")
        done = self.run_batch("--list", "work.list", "-o", "out", "--resume", status=1)
        self.assertIn("1 file done, 38 done before, 1 changed since and left", done.stderr)
        self.run_batch("--list", "work.list", "-o", "out", "--resume", "--redo-changed")
        self.assertEqual(self.outputs(), self.whole)
        self.assertIn("exist already", self.run_batch("--list", "work.list", "-o", "out", status=4).stderr)
        self.assertIn("exist already",
                      self.smp("batch", "-e", "invert", "--list", "work.list", "-o", "out", "--resume", status=4,
                               env=environment()).stderr)


class Claims(TaskCase):
    def test_tasks_of_any_number_share_a_list(self):
        self.make()
        tasks = [self.start("--list", "work.list", "-o", "out", "--claim", "--report", f"{i}.jsonl") for i in range(4)]
        for task in tasks:
            _, errors = task.communicate()
            self.assertEqual(task.returncode, 0, errors)
        self.assertEqual(self.outputs(), self.whole)
        done = [line["input"] for i in range(4) for line in self.lines(f"{i}.jsonl")]
        self.assertEqual(len(done), len(set(done)), "a file was done twice")
        self.assertIn("10 done in all", self.run_batch("--list", "work.list", "-o", "out", "--claim").stderr)

    def test_tasks_killed_at_any_moment(self):
        self.make(48, 3, width=300, height=200)
        rng, killed, longest = random.Random(5), 0, 0.15
        for _ in range(30 if FULL else 6):
            before = killed
            tasks = [self.start("--list", "work.list", "-o", "out", "--claim", "--resume") for _ in range(3)]
            time.sleep(rng.uniform(longest / 15, longest))
            for task in tasks:
                killed += task.poll() is None
                task.kill()
                task.communicate()
            for name, data in self.outputs().items() if (self.folder / "out").exists() else ():
                if not pathlib.Path(name).name.startswith("."):
                    self.assertEqual(data, self.whole[name], f"{name} is not whole")
            if killed == before:  # a quick machine: all was done
                longest /= 2
                shutil.rmtree(self.folder / "out", ignore_errors=True)
        self.assertGreater(killed, 0, "no task was killed in time")
        self.run_batch("--list", "work.list", "-o", "out", "--claim", "--resume")
        self.assertEqual(self.outputs(), self.whole)
        self.assertIn("16 done in all", self.run_batch("--list", "work.list", "-o", "out", "--claim").stderr)

    def test_terminated_tasks_leave_their_piece(self):
        self.make(24, 24, width=900, height=700)  # takes long enough to be told to end
        task = self.start("--list", "work.list", "-o", "out", "--claim")
        while not list((self.folder / "out").glob("d?/*.png")) and task.poll() is None:
            time.sleep(0.002)
        task.terminate()
        _, errors = task.communicate()
        self.assertEqual(task.returncode, 143, errors)
        self.assertIn("0.0.left", self.pieces())
        before = len(self.outputs())
        done = self.run_batch("--list", "work.list", "-o", "out", "--claim", "--resume")
        self.assertIn(f"{24 - before} file", done.stderr)
        self.assertEqual(self.outputs(), self.whole)

    def test_the_grace_ends(self):
        self.copies(["a.png"], 2500, 2000)
        self.smp("list", "in", "-o", "work.list")
        task = subprocess.Popen([PROGRAM, "batch", "-e", "gaussian 150px", "--variant", "naive", "--list", "work.list",
                                 "-o", "out", "--claim", "--grace", "0.3s"],
                                cwd=self.folder, stderr=subprocess.PIPE, text=True, env=environment())
        self.addCleanup(self.stop, task)
        while not self.pieces() and task.poll() is None:
            time.sleep(0.002)
        time.sleep(0.2)
        task.terminate()
        begin = time.monotonic()
        _, errors = task.communicate()
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(task.returncode, 143)
        self.assertIn("the grace is over", errors)
        self.assertIn("0.0.left", self.pieces())
        self.assertEqual(self.outputs(), {})

    def test_a_silent_task_of_another_host(self):
        self.make(8, 4)
        self.run_batch("--list", "work.list", "-o", "out")
        whole = self.outputs()
        done = next((self.folder / "out").glob(".smempipe-journal.d/*/0/1.0.done"))
        words = done.read_text().splitlines()[1].split()
        words[1:4] = ["elsewhere", "1", "00000000-0000-0000-0000-000000000000"]
        held = done.with_name("1.0")
        held.write_text("smempipe journal 2\n" + " ".join(words) + "\n")
        done.unlink()
        of_piece = [line.split(" ", 2)[2] for line in (self.folder / "work.list").read_text().splitlines()[6:10]]
        for name in of_piece:  # as if its task had begun them and no more
            (self.folder / "out" / name).unlink()
        left = len(self.outputs())
        claim = ("--list", "work.list", "-o", "out", "--claim", "--resume")
        said = self.run_batch(*claim).stderr
        self.assertIn("1 not done and not free", said)
        self.assertIn("--retake 1h takes up what has been silent so long", said)
        self.assertIn("1 not done and not free", self.run_batch(*claim, "--retake", "1h").stderr)
        self.assertEqual(len(self.outputs()), left)
        os.utime(held, (time.time() - 7200,) * 2)
        self.run_batch(*claim, "--retake", "1h")
        self.assertIn("1.1.done", self.pieces())
        self.assertEqual(self.outputs(), whole)

    def test_no_two_files_of_a_list_become_one_output(self):
        for piece in (1, 8):
            self.make(6, piece)
            self.smp("run", *STAGE, "in/d0/p000.png", "in/d0/p000.jpg")
            self.smp("list", "in", "-r", "-f", "-o", "work.list", "--piece-files", str(piece))
            error = self.run_batch("--list", "work.list", "-o", "dry", "--to", "png", "-n", status=2).stderr
            self.assertIn("would both become dry/d0/p000.png", error)
            ways = (("--resume",), ("-f",), ("--shard", "1/1", "--resume"), ("--claim", "--resume"))
            for n, options in enumerate(ways):
                out, made = f"o{piece}{n}", set()
                for _ in range(3):
                    done = self.run_batch("--list", "work.list", "-o", out, "--to", "png", *options, status=(1, 4))
                    self.assertRegex(done.stderr, "before it in the list, becomes this file")
                    self.assertIn(f"{out}/d0/p000.png", done.stderr)
                    made.add((self.folder / out / "d0/p000.png").read_bytes())
                self.assertEqual((len(made), len(self.outputs(out))), (1, 6), options)
            shutil.rmtree(self.folder / "in")
            shutil.rmtree(self.folder / "whole")
            (self.folder / "work.list").unlink()

    def test_outputs_that_are_there_fail_by_themselves_and_a_folder_of_them_as_a_whole(self):
        self.make(6, 2)
        there = [self.folder / "out" / name for name in self.names]
        there[4].parent.mkdir(parents=True)
        there[4].write_bytes(b"mine")
        said = self.run_batch("--list", "work.list", "-o", "out", status=1).stderr
        self.assertRegex(said, r"(?s)p004.png: the file exists already.*--skip-existing.*5 files done, 1 failed")
        self.assertEqual(self.outputs(), {**self.whole, self.names[4]: b"mine"})
        shutil.rmtree(self.folder / "out")
        for path in there:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"mine")
        said = self.run_batch("--list", "work.list", "-o", "out", status=4).stderr
        self.assertIn("this file and 1 more exist already", said)
        self.assertEqual(set(self.outputs().values()), {b"mine"})

    def test_plain_batches_stay_away(self):
        self.make(24, 4, width=300, height=200)
        task = self.start("--list", "work.list", "-o", "out", "--claim")
        while not list((self.folder / "out").glob("d?/*.png")) and task.poll() is None:
            time.sleep(0.002)
        task.send_signal(signal.SIGSTOP)
        try:
            plain = self.run_batch("in", "-r", "-o", "out", "--skip-existing", status=4)
            self.assertIn("works on a list", plain.stderr)
            self.smp("list", "in/d1", "-o", "other.list")
            self.assertIn("another list", self.run_batch("--list", "other.list", "-o", "out", status=4).stderr)
        finally:
            task.send_signal(signal.SIGCONT)
            task.communicate()
        self.assertEqual(self.outputs(), self.whole)

    def test_a_slow_task_holds_up_its_own_piece_alone(self):
        """Four workers, of which one sleeps: the others do all but the piece that it holds."""
        self.make(48, 2)
        slow = self.start("--list", "work.list", "-o", "out", "--claim")
        while not self.pieces() and slow.poll() is None:
            time.sleep(0.001)
        slow.send_signal(signal.SIGSTOP)
        tasks = [self.start("--list", "work.list", "-o", "out", "--claim") for _ in range(3)]
        for task in tasks:
            _, errors = task.communicate()
            self.assertEqual(task.returncode, 0, errors)
        self.assertGreaterEqual(len(self.outputs()), 48 - 2)
        slow.send_signal(signal.SIGCONT)
        slow.communicate()
        self.assertEqual(self.outputs(), self.whole)


    def test_tasks_end_together_though_one_is_slow(self):
        """Four tasks, of which one sleeps half the time, and pieces as the list chooses them: nobody waits long for the
        last one."""
        self.make(480, 0, width=480, height=400)  # a second of work, beside which 20 ms are little
        tasks = [self.start("--list", "work.list", "-o", "out", "--claim") for _ in range(4)]
        begin, ended = time.monotonic(), {}
        for turn in range(4000):
            tasks[0].send_signal((signal.SIGSTOP, signal.SIGCONT)[turn % 2])
            time.sleep(0.02)
            ended.update({i: time.monotonic() - begin for i, task in enumerate(tasks)
                          if i not in ended and task.poll() is not None})
            if len(ended) == 4:
                break
        for task in tasks:
            _, errors = task.communicate()
            self.assertEqual(task.returncode, 0, errors)
        self.assertEqual(self.outputs(), self.whole)
        makespan = max(ended.values()) / (sum(ended.values()) / 4)
        self.assertLessEqual(makespan, 1.15, ended)

    def test_what_is_told_at_the_end(self):
        """The last line counts what the folder holds; who finds only failures of others to do ends as they did."""
        self.make(12, 4)
        (self.folder / "in" / self.names[0]).write_text("no picture")
        claim = ("--list", "work.list", "-o", "out", "--claim")
        first = self.run_batch(*claim, status=1).stderr
        self.assertIn("11 files done, 1 failed; 3 of 3 pieces, 2 done in all, 1 with files that failed;", first)
        second = self.run_batch(*claim, status=1).stderr
        self.assertIn("0 files done; 0 of 3 pieces, 2 done in all, 1 with files that failed;", second)
        self.assertIn("1 of 3 pieces is not done: other tasks failed in or left it", second)
        self.assertIn("the same command with --resume takes it up again", second)
        again = self.run_batch(*claim, "--resume", status=1).stderr
        self.assertIn("0 files done, 1 failed, 3 done before; 1 of 3 pieces, 2 done in all", again)
        self.copies([self.names[0]], 90, 70)
        last = self.run_batch(*claim, "--resume").stderr
        self.assertIn("1 file done, 3 done before; 1 of 3 pieces, 3 done in all, 2 done before and not looked at;",
                      last)
        self.assertIn("0 files done; 0 of 3 pieces, 3 done in all;", self.run_batch(*claim).stderr)
        self.assertEqual(self.outputs(), self.whole)

    def test_a_run_without_resume_loses_no_record(self):
        self.make(8, 4)
        self.run_batch("--list", "work.list", "-o", "out")
        self.assertIn("exist already", self.run_batch("--list", "work.list", "-o", "out", status=4).stderr)
        again = self.run_batch("--list", "work.list", "-o", "out", "--resume").stderr
        self.assertIn("0 files done, 8 done before", again)
        walked = self.run_batch("in", "-r", "-o", "out", "--resume", status=4).stderr
        self.assertIn("resume it with its list (--list FILE --resume)", walked)


class Ranks(TaskCase):
    """--shard auto, and what is refused."""

    def setUp(self):
        super().setUp()
        self.pictures(["a.png"])

    def shard(self, said, status=0, text="auto", **env):
        done = self.run_batch("in", "-o", "out", "--shard", text, "--dry-run", status=status, env=env)
        self.assertIn(said, done.stderr)

    def test_arrays(self):
        slurm = {"SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "6",
                 "SLURM_ARRAY_TASK_STEP": "2", "SLURM_ARRAY_TASK_COUNT": "4"}
        self.shard("--shard 3/4 by", **slurm)
        self.shard("leaves numbers out", status=2, **{**slurm, "SLURM_ARRAY_TASK_COUNT": "3"})
        self.shard("--shard 10/16 by", **slurm, SLURM_PROCID="1", SLURM_STEP_NUM_TASKS="4")
        self.shard("--shard 3/3 by", SGE_TASK_ID="9", SGE_TASK_FIRST="5", SGE_TASK_LAST="9", SGE_TASK_STEPSIZE="2")
        self.shard("finds no rank", status=2, SGE_TASK_ID="undefined", SGE_TASK_FIRST="undefined")
        self.shard("does not say how many", status=2, PBS_ARRAY_INDEX="3")
        self.shard("--shard 3/8 by", text="auto/8", PBS_ARRAY_INDEX="3")
        self.shard("--shard 8/8 by", text="auto/8", PARALLEL_SEQ="8")
        self.shard("is none of 1 to 8", status=2, text="auto/8", PARALLEL_SEQ="9")
        self.shard("finds no rank", status=2)

    def test_ranks(self):
        for env in ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4"}, {"PMI_RANK": "2", "PMI_SIZE": "4"},
                    {"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "4", "PMI_RANK": "0", "PMI_SIZE": "1"}):
            self.shard("--shard 3/4 by", **env)
            self.assertIn("--shard auto shares them", self.run_batch("in", "-o", "out", status=2, env=env).stderr)
            self.smp("measure", "-e", "stats", "in", status=2, env=environment(**env))
            self.run_batch("in", "-o", "out", "--shard", "1/1", "--force", env=env)
        alone = {"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}
        self.run_batch("in", "-o", "out", "--force", env=alone)

    def test_a_task_of_an_array_that_does_everything_is_told(self):
        """It may have files of its own, and so is not refused."""
        slurm = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "4",
                 "SLURM_ARRAY_TASK_COUNT": "4"}
        said, measure = "and does all files that it is given; ", ("measure", "-e", "stats", "in")
        plain = self.run_batch("in", "-o", "o1", env=slurm).stderr
        self.assertIn("this is one task of an array (SLURM_ARRAY_TASK_ID 2 of 1-4:1), " + said + "--shard auto shares",
                      plain)
        self.assertIn(said, self.smp(*measure, env=environment(**slurm)).stderr)
        self.assertIn(said + "--list FILE --claim shares",
                      self.smp(*measure, env=environment(**{**slurm, "SLURM_ARRAY_TASK_COUNT": "3"})).stderr)
        self.assertIn(said + "--shard auto/N shares",
                      self.smp(*measure, env=environment(PBS_ARRAY_INDEX="3")).stderr)
        self.smp("list", "in", "-o", "work.list")
        for arguments, env in ((("in", "--shard", "1/1"), slurm), (("--list", "work.list", "--claim"), slurm),
                               (("in", "-q"), slurm), (("in",), {"PARALLEL_SEQ": "3"}),
                               (("in",), {**slurm, "SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_MAX": "1",
                                          "SLURM_ARRAY_TASK_COUNT": "1"})):
            self.assertNotIn("task of an array", self.run_batch(*arguments, "-o", "o2", "-f", env=env).stderr)

    def test_reports_of_shards_have_names_of_their_own(self):
        self.run_batch("in", "-o", "out", "--shard", "1/1", "--report", "run.jsonl")
        self.assertEqual(len(self.lines("run.1-1.jsonl")), 1)
        self.run_batch("in", "-o", "out2", "--shard", "1/1", "--report", "r-{shard}.x")
        self.assertEqual(len(self.lines("r-1-1.x")), 1)
        said = self.run_batch("in", "-o", "out3", "--report", "r-{shard}.x", status=2).stderr
        self.assertIn("--report r-{shard}.x: this run is not a shard", said)
        self.assertFalse((self.folder / "out3").exists())

    def test_a_full_disk_is_named_with_the_file(self):
        full = "/dev/full: error: cannot write: No space left on device"
        self.assertIn(full, self.run_batch("in", "-o", "out", "--force", "--report", "/dev/full", status=4).stderr)
        self.assertIn(full, self.smp("measure", "-e", "stats", "in", "--shard", "1/1", "--partial", "/dev/full", "-f",
                                     status=4, env=environment()).stderr)


if __name__ == "__main__":
    unittest.main()
