"""Lists of work after the first run: outputs and inputs that went or were changed, records that are gone, and files of
one name whose pieces are different tasks'."""
import os
import pathlib
import shutil
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from test_tasks import STAGE, TaskCase, environment  # noqa: E402

LIST = ("--list", "work.list", "-o", "out")


class Twins(TaskCase):
    """a.jpg and a.png become one output: the second of the list fails, whoever has its piece."""

    def setUp(self):
        super().setUp()
        for folder in "d0", "d1":
            (self.folder / "in" / folder).mkdir(parents=True)
        self.copies(["d0/a.png", "d0/a-1.png", "d0/b.png", "d1/a.png", "e.png"], 60, 40)
        self.smp("run", *STAGE, "in/d0/a.png", "in/d0/a.jpg")
        self.smp("run", *STAGE, "in/d0/a.png", "in/d0/a.webp")
        self.smp("run", *STAGE, "in/d0/a.jpg", "first.png")
        self.first = (self.folder / "first.png").read_bytes()

    def list_of(self, *options):
        return self.smp("list", "in", "-o", "work.list", "-f", "--piece-files", "1", *options).stderr

    def test_the_list_tells(self):
        self.assertIn("2 have the name of another but for the extension", self.list_of("-r"))
        self.write("names", "".join(f"in/{n}\n" for n in ("d0/a.png", "e.png", "d1/a.png", "d0/b.png", "d0/a.jpg")))
        self.assertIn("1 has the name of another but for the extension, or is named twice",
                      self.list_of("--from", "names"))
        self.write("names", "in/d0/a.png\nin/d1/a.png\nin/d0/b.png\n")
        self.assertNotIn("but for the extension", self.list_of("--from", "names"))

    def test_the_second_fails_in_every_task_and_run(self):
        self.list_of("-r")
        for n, order in enumerate(((1, 2, 3), (3, 2, 1), (2, 3, 1))):
            for again in range(2):
                said = "".join(self.run_batch("--list", "work.list", "-o", f"o{n}", "--to", "png", "-f", "--shard",
                                              f"{k}/3", status=(0, 1)).stderr for k in order)
                self.assertEqual(said.count("in/d0/a.jpg, before it in the list, becomes this file"), 1, said)
                self.assertEqual(said.count("a.webp, before it in the list, becomes this file") +
                                 said.count("a.png, before it in the list, becomes this file"), 1, said)
                self.assertIn("--name '{stem}-{from}.{ext}'", said)
                self.assertEqual((self.folder / f"o{n}/d0/a.png").read_bytes(), self.first)
                self.assertEqual(len(self.outputs(f"o{n}")), 5)
        tasks = [self.start(*LIST, "--to", "png", "--claim", "-f") for _ in range(3)]
        said = "".join(task.communicate()[1] for task in tasks)
        self.assertEqual(said.count("before it in the list, becomes this file"), 2, said)
        self.assertEqual((self.folder / "out/d0/a.png").read_bytes(), self.first)

    def test_a_name_given_twice_is_called_that(self):
        self.write("names", "in/e.png\nin/e.png\n")
        self.list_of("--from", "names")
        self.assertIn("the list names the input twice: its first line makes this file",
                      self.run_batch(*LIST, status=1).stderr)

    def test_files_whose_names_become_one_are_named(self):
        """They differ in more than the extension, so that the list does not tell."""
        self.copies(["p/a-x.png", "p/a.x-png"], 60, 40)
        self.smp("list", "in/p", "-o", "work.list", "-f")
        said = self.run_batch(*LIST, "--name", "{stem}-{from}.png", status=1).stderr
        self.assertIn("in/p/a-x.png, before it in the list, becomes this file", said)
        self.assertEqual(len(self.outputs()), 1)

    def test_other_names_are_other_work(self):
        self.write("names", "in/e.png\nin/d1/a.png\n")
        self.list_of("--from", "names")
        for options, name in ((("--to", "png"), "e.png"), (("--to", "qoi"), "e.qoi"), (("--to", ".qoi"), "e.qoi"),
                              (("--name", "{stem}-x.{ext}"), "e-x.png")):
            said = self.run_batch(*LIST, "--claim", "--resume", *options).stderr
            self.assertTrue((self.folder / "out" / name).exists(), options)
            self.assertIn("0 files done" if options[1] == ".qoi" else "2 files done", said)

    def test_one_output_that_is_there_ends_no_list(self):
        self.write("names", "in/e.png\nin/d1/a.png\n")
        self.list_of("--from", "names")
        (self.folder / "out").mkdir()
        (self.folder / "out/e.png").write_bytes(b"mine")
        self.assertIn("e.png: the file exists already", self.run_batch(*LIST, status=1).stderr)
        self.assertEqual((self.folder / "out/e.png").read_bytes(), b"mine")
        self.assertTrue((self.folder / "out/d1/a.png").exists())

    def test_names_that_differ_do_not_fail(self):
        self.list_of("-r")
        self.run_batch(*LIST, "--to", "png", "--name", "{stem}-{from}.{ext}")
        self.assertEqual(len(self.outputs()), 7)
        self.run_batch("--list", "work.list", "-o", "own")  # each keeps its extension
        self.assertEqual(len(self.outputs("own")), 7)
        error = self.run_batch("--list", "work.list", "-o", "dry", "--to", "png", "-n", status=2).stderr
        self.assertRegex(error, r"in/d0/a.jpg and .*in/d0/a.png would both become dry/d0/a.png")

    def test_a_file_that_the_pipeline_is_not_for_is_no_first(self):
        for name in "a.jpg", "a.webp":
            (self.folder / "in/d0" / name).unlink()
        (self.folder / "in/d0/a.flac").write_bytes(b"no picture")
        self.list_of("-r")
        self.assertIn("1 passed over by their names", self.run_batch(*LIST, "--to", "png").stderr)
        self.assertEqual(len(self.outputs()), 5)


class Later(TaskCase):
    def record(self, piece, suffix=".done"):
        return next((self.folder / "out").glob(f".smempipe-journal.d/*/0/{piece}.0{suffix}"))

    def test_inputs_changed_after_their_outputs_were_made_are_done_again(self):
        self.make(8, 4)
        self.run_batch(*LIST)
        time.sleep(0.05)  # for the file system's clock
        self.copies([self.names[1]], 100, 70)  # newer than its output
        old = self.folder / "in" / self.names[6]
        self.copies([self.names[6]], 110, 70)
        os.utime(old, (1, 1))  # an old file was put in its place
        os.utime(self.folder / "in" / self.names[2], (time.time() + 5,) * 2)
        said = self.run_batch(*LIST, "--resume").stderr
        self.assertEqual(said.count("was changed after the list was made"), 3, said)
        self.assertIn("3 files done, 5 done before; 2 of 2 pieces, 2 done in all", said)
        self.run_batch("in", "-r", "-o", "now")
        self.assertEqual(self.outputs(), self.outputs("now"))
        time.sleep(0.05)
        os.utime(self.folder / "in" / self.names[2], (1, 1))
        self.assertIn("1 file done, 7 done before", self.run_batch(*LIST, "--resume").stderr)
        self.assertIn("0 files done, 8 done before; 0 of 2", self.run_batch(*LIST, "--resume").stderr)

    def test_in_pieces_that_are_not_done_too(self):
        self.make(4, 4)
        bad = self.folder / "in" / self.names[3]
        bad.write_text("no picture")
        self.run_batch(*LIST, status=1)
        time.sleep(0.05)
        self.copies([self.names[0]], 100, 70)
        self.copies([self.names[3]], 90, 70)
        self.assertIn("2 files done, 2 done before", self.run_batch(*LIST, "--resume").stderr)
        self.run_batch("in", "-r", "-o", "now")
        self.assertEqual(self.outputs(), self.outputs("now"))

    def test_outputs_that_are_kept_though_they_are_older_are_told(self):
        self.make(6, 3)
        self.run_batch(*LIST)
        said = "kept though the input was changed later"
        self.assertNotIn(said, self.run_batch(*LIST, "--skip-existing").stderr)
        time.sleep(0.05)
        self.copies([self.names[1], self.names[4]], 100, 70)
        self.smp("list", "in", "-r", "-f", "-o", "work.list", "--piece-files", "3")
        self.assertIn(f"2 outputs were {said}", self.run_batch(*LIST, "--skip-existing").stderr)
        self.assertIn(f"2 outputs were {said}", self.run_batch("in", "-r", "-o", "out", "--skip-existing").stderr)
        self.assertIn("6 files done", self.run_batch(*LIST, "--force").stderr)
        self.assertNotIn(said, self.run_batch(*LIST, "--skip-existing").stderr)

    def test_a_piece_taken_up_again_keeps_its_record(self):
        """Some of a piece that was done is done again, and fails: what is known of the others is not lost."""
        self.make(4, 4)
        self.run_batch(*LIST)
        bad = self.folder / "in" / self.names[2]
        good = bad.read_bytes()
        bad.write_text("no picture")
        (self.folder / "out" / self.names[2]).unlink()
        self.write(f"out/{self.names[3]}", "edited")
        said = self.run_batch(*LIST, "--resume", status=1).stderr
        self.assertIn("0 files done, 1 failed, 2 done before, 1 changed since and left", said)
        bad.write_bytes(good)
        said = self.run_batch(*LIST, "--resume", status=1).stderr
        self.assertIn("1 file done, 2 done before, 1 changed since and left", said)
        self.assertEqual((self.folder / "out" / self.names[3]).read_text(), "edited")
        self.run_batch(*LIST, "--resume", "--redo-changed")
        self.assertEqual(self.outputs(), self.whole)

    def test_claims_say_what_they_did_not_look_at(self):
        self.make(8, 4)
        claim = (*LIST, "--claim", "--resume")
        first = self.run_batch(*claim).stderr
        self.assertNotIn("not looked at", first)
        (self.folder / "out" / self.names[1]).unlink()
        said = self.run_batch(*claim).stderr
        self.assertIn("0 files done; 0 of 2 pieces, 2 done in all, 2 done before and not looked at;", said)
        self.assertIn("--resume without --claim does that", said)
        said = self.run_batch(*LIST, "--claim", "--force").stderr
        self.assertIn("nothing was left to take", said)
        self.assertIn("--force without --claim makes all again", said)
        self.assertIn("nothing is left to take", self.run_batch(*LIST, "--claim", "-n").stderr)
        self.assertIn("a list is a file", self.run_batch("--list", "-", "-o", "out", status=3).stderr)
        self.assertIn("1 file done, 7 done before", self.run_batch(*LIST, "--resume").stderr)
        self.assertEqual(self.outputs(), self.whole)

    def test_a_run_without_resume_ends_before_it_touches_a_record(self):
        """Also where a file of the first piece failed, so that not all of its outputs are there."""
        self.make(12, 4)
        for broken in 1, 4:  # files of the first piece
            for name in sorted(self.names)[:broken]:
                (self.folder / "in" / name).write_text("no picture")
            for options in (), ("--shard", "1/1"):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                self.run_batch(*LIST, *options, status=1)
                before = self.pieces(), self.outputs()
                for again in options, ("--shard", "1/2"), ("--shard", "2/2"):
                    said = self.run_batch(*LIST, *again, status=4).stderr
                    self.assertRegex(said, "this file and [1-3] more exist already(.|\n)*--resume continues an earlier")
                    self.assertNotIn("failed", said)
                    self.assertEqual((self.pieces(), self.outputs()), before)
        self.copies(sorted(self.names)[:4], 90, 70)
        said = self.run_batch(*LIST, "--resume").stderr
        self.assertIn("4 files done, 8 done before; 1 of 3 pieces, 3 done in all;", said)
        self.assertEqual(self.outputs(), self.whole)
        for name in self.names:
            (self.folder / "out" / name).unlink()
        self.assertIn("12 files done", self.run_batch(*LIST).stderr)  # nothing is in the way

    def test_records_that_were_removed(self):
        self.make(8, 4)
        self.run_batch(*LIST)
        self.lose(1, None)
        self.assertIn("the same command with --resume takes it up again",
                      self.run_batch(*LIST, "--claim", status=1).stderr)
        said = self.run_batch(*LIST, "--claim", "--resume", "--skip-existing").stderr
        self.assertIn("4 kept as they were; 1 of 2 pieces, 2 done in all", said)
        self.run_batch(*LIST, "--resume")
        self.assertEqual(self.outputs(), self.whole)

    def lose(self, piece, length, ago=True):
        """Its record, but for some bytes; ago: some time before."""
        record = self.record(piece)
        if length is None:
            record.unlink()
        else:
            record.write_bytes(record.read_bytes()[:length])
        if ago:
            os.utime(self.record(piece, ""), (1, 1))

    def test_outputs_whose_record_is_lost_are_made_again(self):
        """Of one piece, whoever resumes; the others are done."""
        self.make(12, 4)
        for length, options in (None, ("--claim",)), (None, ()), (0, ("--claim",)), (100, ("--shard", "1/1")):
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            self.run_batch(*LIST)
            self.lose(0, length)
            self.assertEqual(self.run_batch(*LIST, "--resume", "-n").stdout.count("(replaced)"), 4)
            said = self.run_batch(*LIST, "--resume", *options).stderr
            self.assertIn("4 files done", said)
            self.assertIn("4 outputs were made again, since the record of them was cut off or is gone", said)
            self.assertIn("1 of 3 pieces, 3 done in all", said)
            self.assertIn("0 files done", self.run_batch(*LIST, "--resume", *options).stderr)
            self.assertEqual(self.outputs(), self.whole)

    def test_of_a_record_that_was_lost_just_now_what_was_edited_is_left(self):
        self.make(8, 4)
        self.run_batch(*LIST)
        time.sleep(0.05)  # for the file system's clock
        name = sorted(self.names)[5]
        self.write(f"out/{name}", "edited")
        self.lose(1, 0, ago=False)
        said = self.run_batch(*LIST, "--claim", "--resume", status=1).stderr
        self.assertIn("3 files done, 1 changed since and left", said)
        self.assertEqual((self.folder / "out" / name).read_text(), "edited")
        self.run_batch(*LIST, "--resume", "--redo-changed")
        self.assertEqual(self.outputs(), self.whole)

    def test_a_piece_without_any_record_stops_no_other(self):
        """Nothing says whose its outputs are: each is named, and left."""
        self.make(12, 4)
        self.run_batch(*LIST, "--shard", "1/2")
        for suffix in "", ".done":
            self.record(0, suffix).unlink()
        for options in ("--claim",), ():
            said = self.run_batch(*LIST, "--resume", *options, status=1).stderr
            self.assertEqual(said.count("the file exists already: --skip-existing keeps it, --force replaces it"), 4)
            self.assertIn("2 done in all, 1 with files that failed", said)
            self.assertEqual(self.outputs(), self.whole)
        self.assertIn("3 done in all;", self.run_batch(*LIST, "--resume", "--skip-existing").stderr)

    def test_pieces_of_a_task_that_was_killed_end_with_1(self):
        """Nobody works on them, whether or not the task is of this host."""
        self.make(8, 4)
        task = self.start(*LIST, "--claim")
        while not self.pieces() and task.poll() is None:
            time.sleep(0.001)
        task.kill()
        task.communicate()
        lost = any(f"{i}.0" in self.pieces() and f"{i}.0.done" not in self.pieces() for i in range(2))
        for _ in range(2):
            said = self.run_batch(*LIST, "--claim", status=int(lost)).stderr
            if lost:  # it was not quicker, nor killed between two pieces
                self.assertIn("1 of 2 pieces is not done: other tasks failed in or left it", said)
                self.assertIn("the same command with --resume takes it up again", said)
        self.run_batch(*LIST, "--claim", "--resume")
        self.assertEqual(self.outputs(), self.whole)
        done = self.record(0 if "0.0.done" in self.pieces() else 1)
        words = done.read_text().splitlines()[1].split()
        words[1:4] = ["elsewhere", "1", "00000000-0000-0000-0000-000000000000"]
        held = done.with_suffix("")
        held.write_text("smempipe journal 2\n" + " ".join(words) + "\n")
        done.unlink()
        for resume in (), ("--resume",), ("--resume", "--retake", "100h"):
            os.utime(held, (time.time(),) * 2)
            said = self.run_batch(*LIST, "--claim", *resume).stderr  # it may be alive
            self.assertEqual("is held on other hosts; should those be gone, --retake 1h" in said,
                             resume == ("--resume",), said)
            os.utime(held, (time.time() - 7200,) * 2)
            said = self.run_batch(*LIST, "--claim", *resume, status=1).stderr
            self.assertIn("1 of 2 pieces is not done: tasks on other hosts took it and have been silent", said)
            self.assertIn("--resume --retake 10m", said)
        self.run_batch(*LIST, "--claim", "--resume", "--retake", "10m", "--skip-existing")
        self.assertEqual(self.outputs(), self.whole)

    def test_a_record_that_was_cut_off_is_none(self):
        """However much of it is left; one that is not filled up, as others wrote them, is one."""
        self.make(8, 4)
        self.run_batch(*LIST)
        record = self.record(1)
        whole = record.read_bytes()
        os.utime(self.record(1, ""), (1, 1))
        for length in 0, 5, len(whole) // 2, len(whole) - 1:
            record.write_bytes(whole[:length])
            said = self.run_batch(*LIST, "--claim", status=1).stderr
            self.assertIn("0 of 2 pieces, 1 done in all, 1 not done and not free", said)
            self.assertIn("the same command with --resume takes it up again", said)
        record.write_bytes(whole.replace(b"  ", b"").replace(b" \n", b"\n"))
        self.assertIn("2 done in all", self.run_batch(*LIST, "--claim").stderr)
        record.write_bytes(whole[:-1])
        said = self.run_batch(*LIST, "--claim", "--resume", "--skip-existing").stderr
        self.assertIn("4 kept as they were; 1 of 2 pieces, 2 done in all", said)

    def test_a_refused_task_leaves_its_piece_to_anybody(self):
        self.make(6, 2)
        for name in self.names:
            (self.folder / "out" / name).parent.mkdir(parents=True, exist_ok=True)
            self.write(f"out/{name}", "mine")
        for _ in range(4):
            said = self.run_batch(*LIST, "--claim", status=4).stderr
            self.assertIn("this file and 1 more exist already", said)
        said = self.run_batch(*LIST, "--claim", "--skip-existing").stderr
        self.assertIn("6 kept as they were; 3 of 3 pieces, 3 done in all;", said)
        self.assertEqual(set(self.outputs().values()), {b"mine"})

    def test_claims_with_force(self):
        """What others have done is not made again, which is said; without records it is."""
        self.make(8, 4)
        self.run_batch(*LIST, "--shard", "1/2")
        left = next(name for name in self.names if name not in self.outputs())
        (self.folder / "out" / left).parent.mkdir(exist_ok=True)
        self.write(f"out/{left}", "mine")
        said = self.run_batch(*LIST, "--claim", "--force").stderr
        self.assertIn("4 files done; 1 of 2 pieces, 2 done in all", said)
        self.assertIn("1 piece was done by other tasks or earlier runs, and not made again; --force without --claim "
                      "makes all again, and so does --claim --force once .smempipe-journal.d in the output folder is "
                      "removed", said)
        shutil.rmtree(self.folder / "out/.smempipe-journal.d")
        said = self.run_batch(*LIST, "--claim", "--force").stderr
        self.assertIn("8 files done; 2 of 2 pieces, 2 done in all", said)
        self.assertNotIn("not made again", said)
        self.assertEqual(self.outputs(), self.whole)

    def test_a_new_list_of_the_folder_says_how_to_go_on(self):
        """Before it has failed in every file that the old one did, though a new file is the first."""
        self.make(6, 3)
        self.run_batch(*LIST)
        self.copies(["d0/a.png", "d2/new.png"], 90, 70)
        self.smp("list", "in", "-r", "-f", "-o", "work.list", "--piece-files", "3")
        for options in (), ("--resume",), ("--claim",):
            said = self.run_batch(*LIST, *options, status=4).stderr
            self.assertIn("this file and 1 more exist already", said)
            self.assertIn("this pipeline made files here by another list: --skip-existing keeps what is there and does "
                          "what is new, --force makes all again", said)
        self.assertEqual(self.outputs(), self.whole)
        said = self.run_batch(*LIST, "--claim", "--skip-existing").stderr
        self.assertIn("2 files done, 6 kept as they were; 3 of 3 pieces, 3 done in all;", said)
        self.run_batch("in", "-r", "-o", "now")
        self.assertEqual(self.outputs(), self.outputs("now"))
        self.assertIn("not with this list and pipeline",
                      self.smp("batch", "-e", "invert", *LIST, "--resume", status=4, env=environment()).stderr)

    def test_an_older_file_in_place_of_an_output_is_told(self):
        self.make(8, 4)
        self.run_batch(*LIST)
        output = self.folder / "out" / self.names[1]
        whole = output.read_bytes()
        time.sleep(0.05)  # for the file system's clock
        (self.folder / "out" / self.names[2]).chmod(0o600)  # which changes no file
        self.assertIn("8 done before", self.run_batch(*LIST, "--resume").stderr)
        output.write_bytes(b"an old file")
        os.utime(output, (1, 1))
        said = self.run_batch(*LIST, "--resume", status=1).stderr
        self.assertRegex(said, f"out/{self.names[1]}.*was changed after it was made")
        self.assertIn("7 done before, 1 changed since and left", said)
        self.run_batch(*LIST, "--resume", "--redo-changed")
        self.assertEqual(output.read_bytes(), whole)
        self.assertEqual(self.outputs(), self.whole)

    def test_many_pieces_are_looked_at_again(self):
        """By several threads; each is told as by one."""
        self.make(400, 7, width=8, height=8)
        self.run_batch(*LIST, "--sync", "piece")
        time.sleep(0.05)
        for i in 3, 200, 201:
            (self.folder / "out" / self.names[i]).unlink()
        self.write(f"out/{self.names[77]}", "edited")
        for i in 50, 399:
            self.copies([self.names[i]], 9, 8)
        for options in ("-n",), ("-n", "--shard", "1/1"), ():
            done = self.run_batch(*LIST, "--resume", *options, status=1)
            if options:
                self.assertEqual(done.stdout.count("(done before)"), 400 - 6)
                self.assertEqual(done.stdout.count("(replaced)"), 2)
                self.assertEqual(done.stdout.count("(changed since it was made: left)"), 1)
        self.assertIn("5 files done, 394 done before, 1 changed since and left", done.stderr)
        said = self.run_batch(*LIST, "--resume", "--redo-changed").stderr
        self.assertIn("1 file done, 399 done before", said)
        self.run_batch("in", "-r", "-o", "now", "--sync", "piece")
        self.assertEqual(self.outputs(), self.outputs("now"))

    def test_a_list_without_files_for_the_pipeline(self):
        (self.folder / "in/d0").mkdir(parents=True)
        self.assertIn("this is a file, not a folder",
                      self.smp("list", __file__, "-o", "x.list", status=3).stderr)
        self.assertIn("no file to work on in in", self.smp("list", "in", "-o", "none.list", status=3).stderr)
        self.assertFalse((self.folder / "none.list").exists())
        self.write("names", "")
        self.smp("list", "in", "--from", "names", "-o", "none.list")
        self.write("in/a.flac", "sound by its name")
        self.smp("list", "in", "-o", "sound.list")
        for name, why in ("none", "-r goes into folders"), ("sound", "the pipeline is not for the 1 file in it"):
            for done in (self.run_batch("--list", f"{name}.list", "-o", "out", status=3),
                         self.smp("measure", "-e", "hash", "--list", f"{name}.list", "-t", status=3,
                                  env=environment())):
                self.assertIn(f"{name}.list: error: there is no file to work on in the list", done.stderr)
                self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main()
