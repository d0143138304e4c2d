"""smempipe batch: many files, some of them bad; nothing lost, nothing done twice, whatever interrupts it.

SMP_FULL=1 kills at 50 random instants instead of 12."""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from harness import FULL, PIPELINES, PROGRAM, SAMPLES, CliCase, png_bytes, png_chunks

KILLS = 50 if FULL else 12
# Every output is synced: many small ones want memory, not a disk.
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class BatchCase(CliCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="smp batch ", dir=SCRATCH))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def pictures(self, names, folder="in", width=33, height=21):
        (self.folder / folder).mkdir(exist_ok=True, parents=True)
        for i, name in enumerate(names):
            (self.folder / folder / name).parent.mkdir(exist_ok=True, parents=True)
            self.small_png(f"{folder}/{name}", width + i % 7, height)

    def batch(self, *arguments, status=0, **options):
        return self.smp("batch", "-e", "gaussian 1px", *arguments, status=status, **options)

    def outputs(self, folder="out"):
        """{name: bytes} of what people see: without the journal."""
        top = self.folder / folder
        return {
            str(p.relative_to(top)): p.read_bytes()
            for p in sorted(top.rglob("*")) if p.is_file() and not p.name.startswith(".smempipe-journal")
        }

    def lines(self, name="run.jsonl"):
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]


class Batch(BatchCase):
    def test_outputs_are_what_run_writes(self):
        for name in ("chelsea.png", "camera.png", "page.jpg"):
            (self.folder / "in").mkdir(exist_ok=True)
            shutil.copy(SAMPLES / name, self.folder / "in")
        self.pictures(["a.png", "b.png", "c.png"])
        self.batch("in", "-o", "out")
        for name, got in self.outputs().items():
            self.smp("run", "-e", "gaussian 1px", f"in/{name}", f"one-{name}")
            self.assertEqual(got, (self.folder / f"one-{name}").read_bytes(), name)
        self.assertEqual(len(self.outputs()), 6)

    def test_a_folder_with_bad_files(self):
        """The acceptance of the command: good ones done, two failures named, exit 1; then nothing is redone."""
        for source in SAMPLES.iterdir():
            if source.is_file():
                (self.folder / "samples").mkdir(exist_ok=True)
                shutil.copy(source, self.folder / "samples")
        whole = (SAMPLES / "chelsea.png").read_bytes()
        self.write("samples/truncated.png", whole[:5000])
        self.write("samples/text.txt", "these are words\n")
        self.write("samples/words.dat", "these are words\n")
        media = {p.name for p in SAMPLES.iterdir() if p.suffix in (".png", ".jpg")}
        pipe = PIPELINES / "blur.pipe"
        done = self.smp("batch", pipe, "samples/", "-o", "out/", status=1)
        self.assertEqual(set(self.outputs()), media)
        self.assertIn("2 of", done.stderr)
        self.assertIn("samples/truncated.png: ", done.stderr)
        self.assertIn("samples/words.dat: ", done.stderr)
        self.assertNotIn("text.txt", done.stderr)
        self.assertNotIn("quickstart", done.stderr)
        before = {name: (self.folder / "out" / name).stat().st_mtime_ns for name in media}
        again = self.smp("batch", pipe, "samples/", "-o", "out/", "--resume", status=1)
        self.assertIn(f"{len(media)} done before", again.stderr)
        self.assertEqual(before, {name: (self.folder / "out" / name).stat().st_mtime_ns for name in media})

    def test_notes_and_scripts_in_a_folder_are_passed_over_other_names_are_tried(self):
        self.pictures(["a.png"])
        for name in ("README.md", "make.sh", "old.json", "words.txt", ".hidden.png"):
            self.write(f"in/{name}", "x")
        done = self.batch("in", "-o", "out")
        self.assertIn("4 passed over by their names (1 .json, 1 .md, 1 .sh, 1 .txt)", done.stderr)
        self.write("in/words.dat", "x")
        done = self.batch("in", "-o", "out", "--resume", status=1)
        self.assertIn("1 of 1 file failed", done.stderr)
        self.assertIn("hint: --exclude '*.dat'", done.stderr)
        self.batch("in", "-o", "out", "--resume", "--exclude", "*.dat")
        self.batch("in/README.md", "-o", "out", status=1)  # given by name it is tried

    def test_a_phone_folder(self):
        """Films and side-cars beside photographs, and photographs in formats that are not read, stop nothing."""
        self.pictures(["IMG_1.JPG", "IMG_2.PNG"])
        for name in ("IMG_1.JXL", "IMG_1.MOV", "IMG_1.AAE", "IMG_1.XMP", "IMG_2.mp4", "IMG_2.json", "IMG_2.thm",
                     "IMG_3.JXL", "IMG_3.MOV", "IMG_3.DNG"):
            self.write(f"in/{name}", "x")
        done = self.batch("in", "-o", "out", "--name", "{stem}.png")
        self.assertEqual(list(self.outputs()), ["IMG_1.png", "IMG_2.png"])
        self.assertIn(
            "2 files done, 10 passed over by their names (2 .jxl, 2 .mov, 1 .aae, 1 .dng, 1 .json, 1 .mp4, 1 .thm, "
            "1 .xmp)",
            done.stderr)
        self.batch("in", "-o", "more", "--name", "{stem}.png", "--include", "*",
                   status=2)  # all are tried: names collide

    def test_a_folder_of_other_files_alone_is_told(self):
        (self.folder / "in").mkdir()
        self.write("in/notes.md", "x")
        done = self.batch("in", "-o", "out", status=3)
        self.assertIn("there is no file to work on", done.stderr)
        self.assertIn("1 file there was passed over by name", done.stderr)
        self.batch("in", "-o", "out", "--include", "*", status=1)  # tried, and no picture

    def test_a_pipeline_for_pictures_passes_sounds_over(self):
        self.pictures(["a.png"])
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "in")
        pipe = self.write("p.pipe", "kind image\ninvert\n")
        self.assertIn("1 passed over", self.smp("batch", pipe, "in", "-o", "out").stderr)
        self.assertIn("in/chirp.wav", self.smp("batch", pipe, "in/chirp.wav", "-o", "out", status=1).stderr)
        self.smp("batch", "-e", "add 0%", "in", "-o", "both")
        self.assertEqual(list(self.outputs("both")), ["a.png", "chirp.wav"])

    def test_the_stages_say_which_files_are_meant(self):
        self.pictures(["a.png"])
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "in")
        done = self.smp("batch", "-e", "gray", "in", "-o", "gray")
        self.assertEqual(list(self.outputs("gray")), ["a.png"])
        self.assertIn("1 passed over by their names (1 .wav)", done.stderr)
        self.smp("batch", "-e", "gain -3dB", "in", "-o", "gain")
        self.assertEqual(list(self.outputs("gain")), ["chirp.wav"])
        self.smp("batch", "-e", "spectrogram", "-e", "gray", "in", "-o", "seen")  # its picture is no input
        self.assertEqual(list(self.outputs("seen")), ["chirp.png"])
        self.smp("batch", "-e", "add 0%", "in", "-o", "both")
        self.assertEqual(list(self.outputs("both")), ["a.png", "chirp.wav"])

    def test_files_from_a_list(self):
        self.pictures(["a.png", " b.png", "c.png"])
        self.write("list", "in/a.png\n\nin/ b.png\r\n")
        self.batch("--files-from", "list", "-o", "one")
        self.assertEqual(list(self.outputs("one")), [" b.png", "a.png"])
        self.batch("--files-from", "-", "-o", "two", input="in/a.png\0in/c.png\0")
        self.assertEqual(list(self.outputs("two")), ["a.png", "c.png"])
        self.smp("batch", "blur", "--files-from", "list", "-o", "three")
        self.write("empty", "\n")
        self.assertIn("names no files", self.batch("--files-from", "empty", "-o", "x", status=3).stderr)
        self.batch("--files-from", "nowhere", "-o", "x", status=3)
        self.batch("--files-from", "list", "in", "-o", "x", status=2)

    def test_a_picture_with_a_wrong_name_is_read(self):
        self.pictures(["a.png"])
        (self.folder / "in/a.png").rename(self.folder / "in/a.dat")
        self.batch("in", "-o", "out")
        self.assertEqual(list(self.outputs()), ["a.png"])

    def test_recursive_keeps_folders(self):
        self.pictures(["a.png", "x/a.png", "x/y/b.png"])
        self.batch("in", "-o", "flat")
        self.assertEqual(list(self.outputs("flat")), ["a.png"])
        self.batch("in", "-r", "-o", "out/deep")
        self.assertEqual(list(self.outputs("out/deep")), ["a.png", "x/a.png", "x/y/b.png"])

    def test_links_to_folders_are_not_followed(self):
        self.pictures(["x/a.png"])
        os.symlink("..", self.folder / "in/x/round")
        self.batch("in", "-r", "-o", "out")
        self.assertEqual(list(self.outputs()), ["x/a.png"])

    def test_include_and_exclude(self):
        self.pictures(["a.png", "B.PNG", "c.dat", "old/a.png", "new/a.png"])
        self.batch("in", "-r", "-o", "one", "--include", "*.png")
        self.assertEqual(set(self.outputs("one")), {"a.png", "B.PNG", "old/a.png", "new/a.png"})
        self.batch("in", "-r", "-o", "two", "--exclude", "old", "--exclude", "*.dat")
        self.assertEqual(set(self.outputs("two")), {"a.png", "B.PNG", "new/a.png"})
        self.batch("in", "-r", "-o", "three", "--include", "new/*")
        self.assertEqual(set(self.outputs("three")), {"new/a.png"})
        self.batch("in", "-o", "four", "--include", "*.tif", status=3)
        self.assertFalse((self.folder / "four").exists())

    def test_names(self):
        self.pictures(["a.png", "b.x.png"])
        self.batch("in", "-o", "one", "--name", "{stem}-soft.jpg")
        self.assertEqual(list(self.outputs("one")), ["a-soft.jpg", "b.x-soft.jpg"])
        self.assertTrue(self.outputs("one")["a-soft.jpg"].startswith(b"\xff\xd8"))
        self.batch("in", "-o", "two", "--name", "soft/{name}")
        self.assertEqual(list(self.outputs("two")), ["soft/a.png", "soft/b.x.png"])

    def test_wrong_names_are_explained(self):
        self.pictures(["a.png"])
        for name, said in (("{stm}.png", "did you mean {stem}?"), ("x.png", "every file would be called"),
                           ("../{name}", "is no name"), ("/{name}", "is no name"), ("{stem", "is no part")):
            done = self.batch("in", "-o", "out", "--name", name, status=2)
            self.assertIn(said, done.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_what_a_pipeline_saves_is_named_after_each_file(self):
        self.pictures(["a.png", "b.png"])
        self.write("p.pipe", 'gray\nsave "gray.png"\ninvert\n')
        self.smp("batch", "p.pipe", "in", "-o", "out")
        self.assertEqual(list(self.outputs()), ["a-gray.png", "a.png", "b-gray.png", "b.png"])

    def test_pipelines_of_every_kind_give_what_run_gives(self):
        """Plans and memory are kept from file to file: nothing of one may be seen in the next."""
        (self.folder / "in").mkdir()
        for i in range(9):
            rows = [bytes((x * (i + 3) + y * y * 7) & 255 for x in range(120)) for y in range(30 - i // 3)]
            self.write(f"in/p{i}.png", png_bytes(rows, 40))
        stages = (
            ("equalize",),
            ("levels auto",),
            ("threshold method=otsu",),
            ("transpose", "box 5px"),
            ("gaussian 2px -> @b", "from @input", "subtract by=@b"),
            ("light linear", "gaussian 1px"),
            ("matrix [1 1 1]",),
        )
        for n, lines in enumerate(stages):
            pipe = self.write("p.pipe", "\n".join(lines) + "\n")
            self.smp("batch", pipe, "in", "-o", f"out{n}", "--jobs", "2")
            for name, got in self.outputs(f"out{n}").items():
                self.smp("run", pipe, f"in/{name}", "one.png", "--force")
                self.assertEqual(got, (self.folder / "one.png").read_bytes(), f"{lines} {name}")

    def test_a_picture_that_the_pipeline_names_is_used_for_every_file(self):
        (self.folder / "in").mkdir()
        for i in range(4):
            rows = [bytes((x * (i + 3) + y * y * 7) & 255 for x in range(120)) for y in range(30)]
            self.write(f"in/p{i}.png", png_bytes(rows, 40))
        self.small_png("dark.png", 40, 30)
        pipe = self.write("p.pipe", 'gaussian 2px\nsubtract by="dark.png"\n')
        self.smp("batch", pipe, "in", "-o", "out", "--jobs", "1")
        for name, got in self.outputs().items():
            self.smp("run", pipe, f"in/{name}", "one.png", "--force")
            self.assertEqual(got, (self.folder / "one.png").read_bytes(), name)

    def test_skip_existing(self):
        self.pictures(["a.png", "b.png"])
        (self.folder / "out").mkdir()
        self.write("out/a.png", "mine")
        self.batch("in", "-o", "out", "--skip-existing")
        self.assertEqual(self.outputs()["a.png"], b"mine")
        png_chunks(self.outputs()["b.png"])

    def test_on_error_stop(self):
        self.pictures([f"p{i:02}.png" for i in range(40)])
        self.write("in/a.png", "no picture")
        done = self.batch("in", "-o", "out", "--on-error", "stop", "--jobs", "1", status=1)
        self.assertEqual(self.outputs(), {})
        self.assertIn("40 not begun", done.stderr)

    def test_jobs_and_threads_do_not_change_outputs(self):
        self.pictures([f"p{i}.png" for i in range(20)], width=200, height=150)
        self.batch("in", "-o", "one", "--jobs", "1")
        for options in (("--jobs", "7"), ("--threads", "1"), ("--threads", "3"), ("--strip-rows", "7")):
            self.batch("in", "-o", "more", "--force", *options)
            self.assertEqual(self.outputs("one"), self.outputs("more"), options)

    def test_dry_run_writes_nothing(self):
        self.pictures(["a.png", "b.png"])
        before = self.files()
        done = self.batch("in", "-o", "out", "--dry-run", "--report", "r.jsonl")
        self.assertEqual(done.stdout, "in/a.png -> out/a.png\nin/b.png -> out/b.png\n")
        self.assertEqual(self.files(), before)

    def test_dry_run_finds_what_the_run_would_fail_on(self):
        self.pictures(["a.png", "b.png"])
        whole = (self.folder / "in/b.png").read_bytes()
        self.write("in/c.png", whole[:40])
        done = self.batch("in", "-o", "out", "--dry-run", status=1)
        self.assertIn("in/c.png -> out/c.png  (fails)\n", done.stdout)
        self.assertIn("in/a.png -> out/a.png\n", done.stdout)
        self.assertIn("1 of 3 files failed", done.stderr)
        self.assertIn("in/c.png: ", done.stderr)
        (self.folder / "in/c.png").unlink()
        for name, said in (("{stem}.xyz", "xyz"), ("x" * 260 + "{stem}.png", "File name too long")):
            done = self.batch("in", "-o", "out", "--dry-run", "--name", name, status=1)
            self.assertIn("2 of 2 files failed", done.stderr)
            self.assertIn(said, done.stderr)
            self.batch("in", "-o", "out", "--name", name, status=1)
            shutil.rmtree(self.folder / "out")
        self.write("p.pipe", 'save "' + "y" * 250 + '.png"\ninvert\n')
        self.assertIn("File name too long",
                      self.smp("batch", "p.pipe", "in", "-o", "out", "--dry-run", status=1).stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_shards_lose_nothing_when_the_folder_changes_between_them(self):
        """Shards by position would each skip what the other's list has moved to it."""
        names = [f"p{i:02}.png" for i in range(30)]
        self.pictures(names)
        self.batch("in", "-o", "out", "--shard", "1/2")
        for name in names[:7:2]:  # come and go at the beginning, where all others move
            (self.folder / "in" / name).unlink()
        self.pictures(["n0.png"])
        self.batch("in", "-o", "out", "--shard", "2/2")
        stayed = set(names) - set(names[:7:2])
        self.assertLessEqual(stayed, set(self.outputs()))

    def test_shards_go_by_the_name_under_the_folder_given(self):
        self.pictures(["a.png", "b.png", "x/a.png", "x/c.png", "y/d.png", "y/e.png"])
        (self.folder / "in").rename(self.folder / "other")
        self.pictures(["a.png", "x/a.png", "x/c.png", "y/d.png"])
        for k in (1, 2):
            self.batch("in", "-r", "-o", f"in{k}", "--shard", f"{k}/2")
            self.batch(self.folder / "other", "-r", "-o", f"other{k}", "--shard", f"{k}/2")
            self.assertEqual(set(self.outputs(f"in{k}")) if (self.folder / f"in{k}").exists() else set(),
                             set(self.outputs(f"other{k}")) - {"b.png", "y/e.png"})

    def test_shards_share_the_files(self):
        names = [f"p{i}.png" for i in range(10)]
        self.pictures(names)
        for k in (1, 2, 3):
            self.batch("in", "-o", f"s{k}", "--shard", f"{k}/3")
            self.batch("in", "-o", "all", "--shard", f"{k}/3")
        parts = [set(self.outputs(f"s{k}")) for k in (1, 2, 3)]
        self.assertEqual(sum(map(len, parts)), 10)
        self.assertEqual(set().union(*parts), set(names))
        self.assertEqual(set(self.outputs("all")), set(names))
        self.assertIn("10 done before", self.batch("in", "-o", "all", "--resume").stderr)  # journals of shards are read
        for bad in ("0/3", "4/3", "1", "1/0", "a/b", "1/2x"):
            self.batch("in", "-o", "x", "--shard", bad, status=2)

    def test_a_report_has_a_line_a_file(self):
        self.pictures(["a.png", "b.png"])
        self.write("in/c.png", b"\x89PNG\r\n\x1a\n")
        self.smp("batch",
                 "-e",
                 "gaussian 1px",
                 "-e",
                 "stats name=\"after\"",
                 "in",
                 "-o",
                 "out",
                 "--report",
                 "run.jsonl",
                 status=1)
        lines = {line["input"]: line for line in self.lines()}
        self.assertEqual(set(lines), {"in/a.png", "in/b.png", "in/c.png"})
        good, bad = lines["in/a.png"], lines["in/c.png"]
        self.assertEqual((good["output"], good["status"], good["error"], good["device"]),
                         ("out/a.png", "done", None, "cpu"))
        self.assertEqual(good["size"], {"width": 33, "height": 21, "channels": 3, "format": "u8"})
        times = good["milliseconds"]
        self.assertEqual(set(times), {"read", "decode", "upload", "stages", "download", "encode", "write", "wall"})
        self.assertEqual([s["stage"] for s in times["stages"] if s["stage"][0] != "("],
                         ["gaussian 1px", 'stats name="after"'])
        self.assertGreater(times["decode"], 0)
        self.assertLess(times["encode"] + times["write"], times["wall"])
        (measured,) = good["measured"]
        self.assertEqual(measured["name"], "after")
        self.assertIn({"name": "count", "channel": 0, "value": 693}, measured["findings"])
        self.assertEqual(bad["status"], "failed")
        self.assertIn("truncated", bad["error"])
        self.batch("in", "-o", "out2", "--report", "run.jsonl", status=4)  # not over an old report
        self.batch("in", "-o", "out3", "--report", "-", status=1)

    def test_resume_makes_an_output_again_whose_saved_file_is_gone(self):
        self.pictures(["a.png", "b.png"])
        self.write("all.pipe", 'invert\nsave "negative.png"\ninvert\n')
        self.smp("batch", "all.pipe", "in", "-o", "out")
        before = self.outputs()
        (self.folder / "out/a-negative.png").unlink()
        done = self.smp("batch", "all.pipe", "in", "-o", "out", "--resume")
        self.assertIn("1 file done, 1 done before", done.stderr)
        self.assertEqual(self.outputs(), before)

    def test_a_link_to_nothing_is_a_file_that_cannot_be_read(self):
        self.pictures(["a.png"])
        (self.folder / "in/lost.png").symlink_to("nowhere.png")
        done = self.batch("in", "-o", "out", status=1)
        self.assertIn("in/lost.png", done.stderr)
        self.assertEqual(set(self.outputs()), {"a.png"})

    def test_sounds_that_cannot_be_written_as_they_came_become_wav(self):
        (self.folder / "in").mkdir()
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "in/call.opus")
        for stages in (("-e", "gain -3dB"), ("-e", "kind audio")):
            done = self.smp("batch", *stages, "in", "-o", "out", "--dry-run")
            self.assertEqual(done.stdout, "in/call.opus -> out/call.wav\n")

    def test_a_report_takes_the_place_of_nothing_that_the_batch_uses(self):
        self.pictures(["a.png", "b.png"])
        self.write("all.pipe", 'invert\nsave "thumb.png"\ninvert\n')
        files = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        for how in ("--force", "--resume"):
            for report in ("in/b.png", "./in/a.png", "all.pipe", "out/a.png", "out/b-thumb.png"):
                with self.subTest(how=how, report=report):
                    done = self.smp("batch", how, "all.pipe", "in", "-o", "out", "--report", report, status=4)
                    self.assertIn("the report would overwrite", done.stderr)
                    self.assertEqual({path: path.read_bytes()
                                      for path in self.folder.rglob("*") if path.is_file()}, files)

    def test_a_resumed_report_is_added_to(self):
        self.pictures(["a.png"])
        self.batch("in", "-o", "out", "--report", "run.jsonl")
        self.pictures(["b.png"])
        self.batch("in", "-o", "out", "--report", "run.jsonl", "--resume")
        self.assertEqual(
            [(l["input"], l["status"]) for l in self.lines()],
            [("in/a.png", "done"), ("in/a.png", "skipped"), ("in/b.png", "done")],
        )

    def test_a_limit_on_memory_holds_for_all_files_together(self):
        self.pictures([f"p{i}.png" for i in range(12)], width=900, height=700)
        transpose = ("batch", "-e", "transpose", "in", "--jobs", "8")
        self.smp(*transpose, "-o", "one")
        self.smp(*transpose, "-o", "two", "--max-memory", "20M")
        self.assertEqual(self.outputs("one"), self.outputs("two"))
        done = self.smp(*transpose, "-o", "three", "--max-memory", "4M", status=1)
        self.assertIn("--max-memory", done.stderr)

    def test_memory_does_not_grow_with_the_number_of_files(self):
        rows = [bytes((x * 7 + y * y) & 255 for x in range(600)) for y in range(150)]
        (self.folder / "in").mkdir()
        for i in range(300):
            self.write(f"in/p{i:03}.png", png_bytes(rows[i % 50 :], 200))
        how = ("-e", "gaussian 2px", "--device", "cpu", "--threads", "2")
        few = self.peak("batch", *how, "in", "-o", "few", "--include", "p0*")  # long enough to be seen at its peak
        many = self.peak("batch", *how, "in", "-o", "many")
        self.assertLessEqual(many, 1.3 * few, f"{few} bytes for 100 files, {many} for 300")

    def test_a_terminal_sees_progress_with_rate_and_time_left(self):
        self.pictures([f"p{i:02}.png" for i in range(120)], width=200, height=130)
        ours, theirs = os.openpty()
        slow = [PROGRAM, "batch", "-e", "gaussian 8px", "--variant", "naive", "--jobs", "1", "in", "-o", "out"]
        process = subprocess.Popen(slow, cwd=self.folder, stderr=theirs)
        os.close(theirs)
        seen = b""
        while True:
            try:
                got = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not got:
                break
            seen += got
        os.close(ours)
        self.assertEqual(process.wait(), 0)
        self.assertRegex(seen.decode(), r"\r  \d+ of 120 files \[#*\.*\] +\d+ %  [0-9.]+ files/s  [0-9.]+ s left")

    def test_the_samples_series(self):
        """The README's example."""
        self.smp("batch", PIPELINES / "sharpen.pipe", SAMPLES / "series", "-o", "sharp", "--name", "{stem}.png")
        self.assertEqual(list(self.outputs("sharp")), [f"focus-{i}.png" for i in range(1, 6)] + ["gray.png"])

    def test_no_progress_without_a_terminal(self):
        self.pictures(["a.png"])
        self.assertRegex(
            self.batch("in", "-o", "out").stderr, r"^smempipe: 1 file done; [0-9.]+ s, [0-9.e+]+ files/s\n$")
        self.assertEqual(self.batch("in", "-o", "out2", "--quiet").stderr, "")


class Refusals(BatchCase):
    """What is found before the first byte."""

    def refused(self, said, *arguments, status):
        before = {p: (self.folder / p).read_bytes() for p in self.files()}
        done = self.batch(*arguments, status=status)
        self.assertIn(said, done.stderr)
        self.assertEqual({p: (self.folder / p).read_bytes() for p in self.files()}, before)

    def test_two_inputs_with_one_output(self):
        self.pictures(["a.png", "b.png"])
        self.pictures(["a.png"], "in2")
        self.refused("in/a.png and in2/a.png would both become out/a.png", "in", "in2", "-o", "out", status=2)
        (self.folder / "in/b.png").rename(self.folder / "in/a.x.png")
        self.refused("would both become", "in/a.png", "in/a.png", "-o", "out", status=2)

    def test_inputs_that_differ_in_their_extension_can_have_it_in_their_names(self):
        self.pictures(["a.png", "a.bmp"])
        done = self.batch("in", "-o", "out", "--name", "{stem}.png", status=2)
        self.assertIn("would both become out/a.png", done.stderr)
        pattern = done.stderr.split("--name '")[1].split("'")[0]
        self.batch("in", "-o", "out", "--name", pattern)
        self.assertEqual(list(self.outputs("out")), ["a-bmp.bmp", "a-png.png"])

    def test_an_output_folder_in_an_input_folder(self):
        self.pictures(["a.png"])
        for out in ("in", "in/out", "in/../in/x/y", self.folder / "in" / "z"):
            self.refused("lies in the input folder", "in", "-o", out, status=2)
        os.symlink("in", self.folder / "link")
        self.refused("lies in the input folder", "in", "-o", "link/out", status=2)

    def test_an_output_that_is_an_input(self):
        self.pictures(["a.png"])
        (self.folder / "out").mkdir()
        os.link(self.folder / "in/a.png", self.folder / "out/a.png")
        self.refused("same file as the input", "in", "-o", "out", "--force", status=4)
        self.refused("same file as the input", "in/a.png", "-o", "in", "--force", status=4)

    def test_outputs_that_exist(self):
        self.pictures(["a.png", "b.png", "c.png"])
        (self.folder / "out").mkdir()
        self.write("out/a.png", "mine")
        self.write("out/c.png", "mine")
        self.refused("this file and 1 more exist already", "in", "-o", "out", status=4)
        self.refused("exist already", "in", "-o", "out", "--resume", status=4)  # no journal says that they are ours

    def test_no_folder_and_standard_input(self):
        self.pictures(["a.png"])
        self.refused("-o OUT_DIR", "in", status=2)
        self.refused("standard input", "-", "-o", "out", status=2)
        self.refused("is a file", "in", "-o", "in/a.png", status=4)

    def test_a_folder_that_is_not_there(self):
        self.pictures(["a.png"])
        for missing in ("photos", "photos/", "in/sub", "photos.old/"):
            self.refused("there is no such file or folder", missing, "-o", "out", status=3)
            self.refused(missing, "in", missing, "-o", "out", status=3)
        self.refused("none.png", "none.png", "-o", "out", status=3)
        self.assertFalse((self.folder / "out").exists())

    def test_paths_that_are_too_long_are_named(self):
        self.pictures(["a.png"])
        here, deep = os.open(self.folder / "in", os.O_RDONLY), "d" * 250
        inside = here
        for _ in range(17):  # a path of 4,270 bytes; the system takes 4,096
            os.mkdir(deep, dir_fd=inside)
            inside = os.open(deep, os.O_RDONLY, dir_fd=inside)
        with open(os.open("b.png", os.O_WRONLY | os.O_CREAT, dir_fd=inside), "wb") as file:
            file.write((self.folder / "in/a.png").read_bytes())
        done = self.batch("in", "-r", "-o", "out", status=1)
        self.assertIn(f"in/{deep}/{deep}/", done.stderr)
        self.assertIn("too long", done.stderr)
        self.assertIn("1 of 2 files failed", done.stderr)
        self.assertEqual(list(self.outputs()), ["a.png"])

    def test_a_file_that_is_not_there_fails_alone(self):
        self.pictures(["a.png"])
        done = self.batch("in/a.png", "in/none.png", "-o", "out", status=1)
        self.assertIn("in/none.png: cannot open", done.stderr)
        self.assertEqual(list(self.outputs()), ["a.png"])


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

    def test_a_journal_of_something_else_is_refused(self):
        self.pictures(["a.png"])
        (self.folder / "out").mkdir()
        self.write("out/.smempipe-journal", "dear diary\n")
        self.assertIn("is no journal", self.batch("in", "-o", "out", "--resume", status=3).stderr)

    def test_one_run_a_folder(self):
        self.pictures([f"p{i:03}.png" for i in range(60)], width=600, height=500)
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
        return subprocess.Popen([PROGRAM, "batch", "-e", "gaussian 1px", "in", "-o", out, *extra],
                                cwd=self.folder,
                                stderr=subprocess.PIPE,
                                text=True)

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
        stopped = 0
        for i in range(6):
            process = self.start(f"out{i}", "--jobs", "2")
            while not (self.folder / f"out{i}").exists() and process.poll() is None:
                time.sleep(0.001)
            time.sleep(rng.uniform(0.05, 0.6) * self.duration)
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
        self.pictures(["large.png"], "big", 3000, 2500)
        process = subprocess.Popen([PROGRAM, "batch", "-e", "gaussian 150px", "--variant", "naive", "big", "-o", "out"],
                                   cwd=self.folder,
                                   stderr=subprocess.PIPE,
                                   text=True)
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
