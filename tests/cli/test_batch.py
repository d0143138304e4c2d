"""smempipe batch: many files, some of them bad; outputs, reports, memory, progress."""
import os
import re
import shutil
import struct
import subprocess
import unittest

from batch_case import BatchCase
from harness import PIPELINES, PROGRAM, SAMPLES, png_bytes, png_chunks


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

    def test_sounds_whose_speakers_differ_give_what_run_gives(self):
        """Loudness weighs a channel by its place: sounds that are the same otherwise have plans of their own."""
        (self.folder / "in").mkdir()
        samples = bytes(i * i % 251 for i in range(2 * 8000))
        for name, speaker in (("centre", 1 << 2), ("rear", 1 << 4)):
            form = struct.pack("<HHIIHHHHIH14s", 0xFFFE, 1, 8000, 16000, 2, 16, 22, 16, speaker, 1,
                               bytes.fromhex("000000001000800000aa00389b71"))
            body = b"WAVEfmt " + struct.pack("<I", 40) + form + b"data" + struct.pack("<I", 16000) + samples
            self.write(f"in/{name}.wav", b"RIFF" + struct.pack("<I", len(body)) + body)
        self.smp("batch", "-e", "normalize lufs=-40", "in", "-o", "out", "--jobs", "1")
        for name, got in self.outputs().items():
            self.smp("run", "-e", "normalize lufs=-40", f"in/{name}", f"one-{name}")
            self.assertEqual(got, (self.folder / f"one-{name}").read_bytes(), name)
        self.assertEqual(len({got[-16000:] for got in self.outputs().values()}), 2)

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
        self.copies([f"p{i}.png" for i in range(12)], 900, 700)
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
        self.copies([f"p{i:02}.png" for i in range(120)], 200, 130)
        ours, theirs = os.openpty()
        slow = [PROGRAM, "batch", "-e", "gaussian 8px", "--variant", "naive", "--jobs", "1", "in", "-o", "out"]
        process = subprocess.Popen(slow, cwd=self.folder, stderr=theirs)
        os.close(theirs)
        bar, seen = re.compile(rb"\r  \d+ of 120 files \[#*\.*\] +\d+ %  [0-9.]+ files/s  [0-9.]+ s left"), b""
        try:
            while not bar.search(seen) and (got := os.read(ours, 4096)):
                seen += got
        except OSError:  # the other end is closed
            pass
        process.kill()
        process.wait()
        os.close(ours)
        self.assertRegex(seen, bar)

    def test_the_samples_series(self):
        """The README's example."""
        self.smp("batch", PIPELINES / "sharpen.pipe", SAMPLES / "series", "-o", "sharp", "--name", "{stem}.png")
        self.assertEqual(list(self.outputs("sharp")), [f"focus-{i}.png" for i in range(1, 6)] + ["gray.png"])

    def test_no_progress_without_a_terminal(self):
        self.pictures(["a.png"])
        self.assertRegex(
            self.batch("in", "-o", "out").stderr, r"^smempipe: 1 file done; [0-9.]+ s, [0-9.e+]+ files/s\n$")
        self.assertEqual(self.batch("in", "-o", "out2", "--quiet").stderr, "")

if __name__ == "__main__":
    unittest.main()
