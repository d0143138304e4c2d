"""What the program says: diagnostics, notes, exit statuses; and what goes to which stream."""
import json
import os
import re
import resource
import shutil
import subprocess
import unittest

import numpy

from harness import PIPELINES, PROGRAM, SAMPLES, CliCase, png_bytes

BLUR = PIPELINES / "blur.pipe"

FIVE_MISTAKES = """\
smempipe 1
gaussian sigam=2px edge=mirror
hflip
gaussian sigma=2pz
rotate 45
divide by=@nowhere
"""


class Messages(CliCase):
    def test_no_name_turns_the_text_round_it(self):
        """Marks, overrides and isolates of direction, and C1, are shown as control characters are."""
        marks = "\u061c\u200e\u200f\u202a\u202e\u2066\u2069\x80\x9b\x9f"
        name = f"a{marks}b.png"
        shutil.copy(SAMPLES / "camera.png", self.folder / name)
        self.write(f"bad{marks}.png", "junk")
        shutil.copy(self.folder / name, self.folder / "c.png")
        self.write("p.pipe", f'add by="no{marks}.png"\n')
        for command in (("info", name), ("measure", "-e", "stats", "."), ("diff", name, "c.png"),
                        ("diff", "--json", name, "c.png"), ("measure", "--json", "-e", "stats", "."),
                        ("measure", "-e", "stats", ".", "--html", "-"), ("explain", "-e", "invert", name),
                        ("duplicates", "."), ("tiles", name, "-o", f"t{marks}"), ("run", "p.pipe", name, "o.png"),
                        ("run", "p.pipe", name, "o.png", "--diagnostics", "json"), ("check", f"bad{marks}.png"),
                        ("run", "-f", "-v", "-e", "stats", name, "o.png", "--report=-"), (name,),
                        ("batch", "-e", "invert", ".", "-o", "out", "-v"), ("montage", ".", "-o", f"m{marks}.png")):
            done = self.smp(*command, status=range(8))
            for mark in marks:
                self.assertNotIn(mark, done.stdout + done.stderr, command)
            if command[0] == "diff" and "--json" in command:
                self.assertEqual(json.loads(done.stdout)["a"], name)

    def test_places_for_reports_lists_and_tiles_say_what_to_give(self):
        shutil.copy(SAMPLES / "camera.png", self.folder / "in.png")
        (self.folder / "folder").mkdir()
        batch = ("batch", "-e", "invert", "in.png", "-o", "out")
        for status, hint, command in (
            (4, "a folder that you may write to", (*batch, "--report", "folder")),
            (4, "a folder that you may write to", (*batch, "--html", "folder", "--force")),
            (4, "folder/NAME", (*batch, "--html", "folder")),
            (4, "a shorter name", ("tiles", "in.png", "-o", "t", "--name", "n" * 300 + "{x}{y}.png")),
            (3, "spelling", ("measure", "-e", "stats", "--files-from", "none")),
            (3, "a name a line", ("measure", "-e", "stats", "--files-from", "folder")),
        ):
            self.assertRegex(self.smp(*command, status=status).stderr, f"(?s)error: .*hint: .*{hint}", command)

    def test_names_that_are_too_long_are_told_so(self):
        shutil.copy(SAMPLES / "camera.png", self.folder / "in.png")
        long, deep = "n" * 300, "d/" * 2100
        for command, says in ((("convert", "in.png", long + ".png"), "it has 304 bytes, and file systems take 255"),
                              (("batch", "-e", "invert", "in.png", "-o", long), "it has 300 bytes"),
                              (("convert", "in.png", deep + "o.png"), "the path is too long: it has 4205 bytes")):
            done = self.smp(*command, status=4)
            self.assertRegex(done.stderr, f"{says}(?s:.*)hint: give a shorter name")
            self.assertNotIn("permissions", done.stderr)

    def test_five_mistakes_give_five_diagnostics(self):
        self.write("five.pipe", FIVE_MISTAKES)
        done = self.smp("check", "five.pipe", status=2)
        self.assertEqual(done.stdout, "")
        errors = re.findall(r"^five\.pipe:(\d+):(\d+): error: (.*)$", done.stderr, re.M)
        self.assertEqual([line for line, _, _ in errors], ["2", "3", "4", "5", "6"], done.stderr)
        self.assertEqual([column for _, column, _ in errors][:2], ["10", "1"])
        self.assertIn("sigam", errors[0][2])
        self.assertIn("did you mean 'sigma'?", done.stderr)
        self.assertIn("flip horizontal", done.stderr)
        self.assertIn("2pz", errors[2][2] + done.stderr.splitlines()[8])
        self.assertIn("nowhere", errors[4][2])
        carets = [line for line in done.stderr.splitlines() if re.match(r"^\s*\|\s*\^", line)]
        self.assertEqual(len(carets), 5)

    def test_words_with_dots_are_ranges_of_numbers_alone(self):
        for text in ("1..2", "..5", "a..b", "../a"):
            self.smp("check", "-e", f"text {text}")
        self.smp("check", "-e", "crop random scale=8..100% ratio=3/4..4/3")
        for name in ("../a.png", "01..02.png"):
            told = self.smp("check", "-e", f"overlay by={name}", status=2).stderr
            self.assertIn(f"'by' must be a picture @name or \"file\", not '{name}'", told)
        self.assertIn('a file is written "../a.png"', self.smp("check", "-e", "overlay by=../a.png", status=2).stderr)

    def test_carets_stand_under_the_mistake(self):
        self.write("five.pipe", FIVE_MISTAKES)
        lines = self.smp("check", "five.pipe", status=2).stderr.splitlines()
        for i, line in enumerate(lines):
            match = re.match(r"^(.*\|) ?(.*)$", line)
            if match and "^" in line and not line.strip().startswith("="):
                start, length = line.index("^"), len(re.search(r"\^~*", line)[0])
                place = re.match(r"five\.pipe:\d+:(\d+):", lines[i - 2])
                source = lines[i - 1]
                self.assertEqual(source[start],
                                 FIVE_MISTAKES.splitlines()[int(lines[i - 2].split(":")[1]) - 1][int(place[1]) - 1])
                self.assertRegex(source[start : start + length], r"^\S+")

    def test_diagnostics_as_json(self):
        self.write("five.pipe", FIVE_MISTAKES)
        done = self.smp("check", "five.pipe", "--diagnostics=json", status=2)
        text = done.stdout or done.stderr
        found = [json.loads(line) for line in text.splitlines() if line.strip()]
        if len(found) == 1 and isinstance(found[0], (list, dict)):
            found = found[0] if isinstance(found[0], list) else found[0].get("diagnostics", found)
        self.assertEqual(len(found), 5)
        self.assertEqual([d["line"] for d in found], [2, 3, 4, 5, 6])

    def test_mistakes_are_found_before_any_input_is_opened(self):
        self.write("five.pipe", FIVE_MISTAKES)
        done = self.smp("run", "five.pipe", "missing.png", "out.png", status=2)
        self.assertEqual(len(re.findall(": error: ", done.stderr)), 5)

    def test_parameters_that_no_input_suits_are_found_without_one(self):
        sounds = {
            "bandpass low=3kHz high=1kHz": "ends at 1000 Hz",
            "notch 50Hz width=60Hz": "does not fit",
            "normalize peak=-1dBFS rms=-20dBFS": "both",
            "trim start=1s first=3": "in seconds and in frames",
            "trim start=1s end=0.5s": "nothing is left",
            "spectrogram size=17": "even",
            "fir [1 2; 3 4]": "a list",
        }
        pictures = {
            "levels black=50% white=50%": "must differ",
            "levels auto white=90%": "itself",
            "threshold 30% method=otsu": "itself",
            "laplacian neighbours=5": "4 or 8",
            "divide 0": "divide by 0",
        }
        for before, statement, said in [("reverse", *row) for row in sounds.items()] + [
            ("invert", *row) for row in pictures.items()
        ]:
            with self.subTest(statement):
                self.write("wrong.pipe", f"{before}\n{statement}\n")
                done = self.smp("check", "wrong.pipe", status=2)
                self.assertRegex(done.stderr, r"wrong\.pipe:2:1: error: .*" + said)
        done = self.smp("check", "-e", "trim start=2s end=1s", "-e", "bandpass low=3kHz high=1kHz", status=2)
        self.assertEqual(done.stderr.count("error: "), 2, done.stderr)  # all in one pass

    def test_an_input_of_the_wrong_kind_is_told_where_the_stage_stands(self):
        self.write("any.pipe", "# for pictures\n\ninvert\n")
        done = self.smp("run", "any.pipe", SAMPLES / "chirp.wav", "out.wav", status=2)
        self.assertIn("any.pipe:3:1: error: stage 'invert' works on pictures, but its input is sound", done.stderr)
        for statement, instead in (("append by=@input", "join by=@name"),
                                   ("dither 8bit", "posterise 2 dither=diffuse")):
            done = self.smp("run", "-e", statement, SAMPLES / "page.jpg", "out.png", status=2)
            self.assertIn(f"for pictures: {instead}", done.stderr)

    def test_transparency_that_a_format_cannot_hold_is_told(self):
        (self.folder / "rgba.png").write_bytes(png_bytes([bytes([90, 90, 90, 90] * 5)] * 4, 5, color=6))
        done = self.smp("run", "-e", "invert", "rgba.png", "out.jpg")
        self.assertIn("warning: out.jpg: the file's format has no transparency: colour is laid on black", done.stderr)
        self.assertEqual(self.smp("run", "-q", "-f", "-e", "invert", "rgba.png", "out.jpg").stderr, "")

    def test_measures_that_a_picture_cannot_hold_are_told(self):
        for stage in ("standardize imagenet", "integral rows"):
            done = self.smp("run", "-f", "-e", stage, SAMPLES / "chelsea.png", "out.png")
            self.assertRegex(done.stderr, r"warning: out.png: writing clipped [0-9.]+ % of the samples")

    def test_pictures_that_clip_are_told(self):
        done = self.smp("run", "-e", "add 90%", SAMPLES / "chelsea.png", "out.png")
        self.assertRegex(done.stderr,
                         r"warning: out.png: 'add 90%' clipped [0-9.]+ % of the samples to the range of its format")
        self.assertEqual(self.smp("run", "-q", "-f", "-e", "add 90%", SAMPLES / "chelsea.png", "out.png").stderr, "")
        self.assertEqual(self.smp("run", "-f", "-e", "invert", SAMPLES / "chelsea.png", "out.png").stderr, "")
        numpy.save(self.folder / "floats.npy", numpy.linspace(0, 255, 2500, dtype=numpy.float32).reshape(50, 50))
        self.assertIn("clipped 99",
                      self.smp("run", "-f", "-e", "invert", "-e", "invert", "floats.npy", "out.png").stderr)
        done = self.smp("batch", "-e", "add 90%", SAMPLES / "chelsea.png", "-o", "many", "--name", "{stem}.png")
        self.assertIn("clipped", done.stderr)

    def test_shipped_pipelines_are_clean(self):
        pipes = sorted(PIPELINES.glob("*.pipe"))
        self.assertGreaterEqual(len(pipes), 6)
        done = self.smp("check", *pipes)
        self.assertNotIn("warning", done.stderr)

    def test_pipeline_and_input_are_not_both_standard_input(self):
        for command in (("run", "-", "-", "out.png"), ("explain", "-", "-"), ("measure", "-", "a.png", "-"),
                        ("compare", "-", "-")):
            done = self.smp(*command, input="stats\n", status=2)
            self.assertIn("the pipeline and the input cannot both come from standard input", done.stderr, command)

    def test_wrong_command_lines_exit_2(self):
        self.small_png()
        for arguments in (
            (), ("frobnicate",), ("run",), ("run", BLUR), ("run", BLUR, "in.png"),
            ("run", BLUR, "in.png", "out.png", "more.png"),
            ("run", "--no-such-option", BLUR, "in.png", "out.png"),
            ("run", BLUR, "in.png", "out.png", "--set", "sigma"),
            ("run", BLUR, "in.png", "out.png", "--set", "sgima=2px"),
            ("run", BLUR, "in.png", "out.png", "--set", "sigma=-1px"),
            ("run", BLUR, "in.png", "out.png", "--set", "sigma=3Hz"),
            ("run", BLUR, "in.png", "out.png", "--threads", "many"),
            ("run", BLUR, "in.png", "out.png", "--max-pixels", "12q"),
            ("run", BLUR, "in.png", "out.png", "--device", "toaster"),
            ("run", "-e", "gaussian 2px", BLUR, "in.png", "out.png"),
            ("run", "missing.pipe", "in.png", "out.png"),
            ("check",), ("diff", "in.png"), ("stages", "no-such-stage"), ("help", "no-such-topic"),
        ):  # fmt: skip
            done = self.smp(*arguments,
                            status=(2, 3, 5) if "toaster" in arguments or "missing.pipe" in arguments else 2)
            self.assertTrue(done.stderr.strip(), f"{arguments}: no message")
            self.assertEqual(done.stdout, "", f"{arguments}: a mistake is no data")
        self.assertEqual(self.files(), ["in.png"])

    def test_info_names_what_is_in_a_file(self):
        done = self.smp("info", SAMPLES / "chelsea.png", SAMPLES / "page.jpg")
        self.assertIn("451", done.stdout)
        self.assertIn("300", done.stdout)
        self.assertIn("JPEG", done.stdout)
        found = [json.loads(line) for line in self.smp("info", "--json", SAMPLES / "chelsea.png").stdout.splitlines()]
        self.assertIn("451", json.dumps(found))
        self.smp("info", "missing.png", status=3)

    def test_diff_tells_same_from_different(self):
        self.smp("run", BLUR, SAMPLES / "chelsea.png", "a.png")
        self.smp("run", BLUR, SAMPLES / "chelsea.png", "b.npy")
        self.smp("diff", "a.png", "b.npy")
        self.smp("run", BLUR, SAMPLES / "chelsea.png", "c.png", "--set", "sigma=2.5px")
        self.smp("diff", "a.png", "c.png", status=7)
        self.smp("diff", "a.png", "c.png", "--max-abs", "255")
        self.smp("diff", "a.png", SAMPLES / "camera.png", status=7)
        self.smp("diff", "a.png", "missing.png", status=3)
        json.loads(self.smp("diff", "a.png", "c.png", "--json", status=7).stdout)

    def test_diff_tells_where_sounds_differ(self):
        chirp = SAMPLES / "chirp.wav"
        self.smp("run", "-e", "gain -6dB", chirp, "quieter.wav")
        self.assertRegex(self.smp("diff", chirp, "quieter.wav", status=7).stdout, r"at frame \d+, channel 0")
        first = json.loads(self.smp("diff", chirp, "quieter.wav", "--json", status=7).stdout)["first"]
        self.assertIn("frame", first)
        self.assertNotIn("x", first)
        self.smp("run", "-e", "trim start=0.1s", chirp, "shorter.wav")
        self.assertRegex(self.smp("diff", chirp, "shorter.wav", status=7).stdout, r"\d+ frames against \d+")

    def test_devices_names_the_cpu(self):
        self.assertIn("cpu", self.smp("devices").stdout)
        self.assertIn("cpu", json.dumps(json.loads(self.smp("devices", "--json").stdout)))

    def test_devices_are_told_and_measured(self):
        self.assertRegex(self.smp("devices").stdout, r"simt .*\n +compute capability \d\.\d, \d+ SM.*shared memory")
        found = json.loads(self.smp("devices", "--measure", "--json").stdout)
        self.assertGreater(next(d for d in found["devices"] if d["kind"] == "cpu")["copy_gb_per_second"], 0.01)

    def test_explain_says_what_is_read_with_these_parameters(self):
        self.assertIn("everything, then the pixel", self.smp("explain", "-e", "levels mode=auto").stdout)
        self.assertIn("the same pixel", self.smp("explain", "-e", "levels white=50%").stdout)
        self.assertEqual(
            json.loads(self.smp("explain", "--json", "-e", "levels white=50%").stdout)["statements"][0]["access"],
            "point")

    def test_explain_shows_what_a_launch_takes(self):
        text = self.smp("explain", BLUR, SAMPLES / "chelsea.png", "--device", "simt").stdout
        for word in ("grid", "block", "shared memory", "occupancy", "limited by", "Registers|registers"):
            self.assertRegex(text, word)

    def test_cuda_never_falls_back_silently(self):
        if any(os.path.exists(p) for p in ("/dev/nvidia0", "/dev/nvidiactl")):
            self.skipTest("there is a GPU here")
        done = self.smp("run", BLUR, SAMPLES / "chelsea.png", "out.png", "--device", "cuda", status=5)
        self.assertIn("cuda", done.stderr.lower())
        self.assertEqual(self.files(), [])

    def test_explain_shows_the_plan(self):
        for arguments in ((BLUR,), (BLUR, SAMPLES / "chelsea.png")):
            text = self.smp("explain", *arguments).stdout
            self.assertIn("gaussian", text)
            self.assertIn("2px", text)
            self.assertIn("clamp", text, "defaults are filled in")

    def test_joined_steps_are_one_row_with_every_name(self):
        chain = ("-e", "sobel", "-e", "invert", "-e", "levels white=60%")
        picture = SAMPLES / "camera.png"
        self.assertRegex(self.smp("explain", *chain, picture).stdout, r"\n +\d+ .*invert \+ levels")
        self.assertNotIn(" + ", self.smp("explain", *chain, picture, "--no-fuse").stdout)
        self.assertNotIn(" + ", self.smp("explain", *chain, picture, "--variant", "naive").stdout)
        steps = json.loads(self.smp("explain", "--json", *chain, picture).stdout)["steps"]
        self.assertEqual(steps[-1]["joins"][-2:], ["invert", "levels"])
        self.assertIn("invert + levels white=60%", self.smp("run", "-v", *chain, picture, "out.png").stderr)

    def test_report_names_every_stage(self):
        for option in ("-v", "--report"):
            done = self.smp("run", PIPELINES / "edges.pipe", SAMPLES / "chelsea.png", "out.png", "--force", option)
            self.assertEqual(done.stdout, "")
            for stage in ("gray", "gaussian", "sobel", "levels"):
                self.assertIn(stage, done.stderr)
            self.assertIn("GB/s", done.stderr)
        self.smp("run", PIPELINES / "edges.pipe", SAMPLES / "chelsea.png", "out.png", "--force", "--report=report.json")
        report = json.loads((self.folder / "report.json").read_text())
        self.assertIn("sobel", json.dumps(report["steps"]))

    def test_report_tells_the_time_of_results_that_the_processor_makes(self):
        self.smp("run", "-e", "gaussian 1px", "-e", "label", SAMPLES / "camera.png", "a.png", "--report=a.json")
        steps = json.loads((self.folder / "a.json").read_text())["steps"]
        self.assertGreater([s for s in steps if s["step"] == "label"][0]["result_seconds"], 0)
        self.assertNotIn("result_seconds", [s for s in steps if s["step"] == "gaussian 1px"][0])

    def test_a_report_takes_the_place_of_nothing_that_the_run_uses(self):
        for name in ("in.png", "dark.png"):
            shutil.copy(SAMPLES / "chelsea.png", self.folder / name)
        self.write("part.pipe", "invert\n")
        self.write("all.pipe", 'include "part.pipe"\nsubtract by="dark.png"\nsave "thumb.png"\ninvert\n')
        files = {path: path.read_bytes() for path in self.folder.iterdir()}
        for report in ("in.png", "./in.png", "dark.png", "all.pipe", "part.pipe", "./out.png", "thumb.png",
                       "./thumb.png"):
            with self.subTest(report=report):
                done = self.smp("run", "--force", "all.pipe", "in.png", "out.png", f"--report={report}", status=4)
                self.assertIn("the report would overwrite", done.stderr)
                self.assertEqual({path: path.read_bytes() for path in self.folder.iterdir()}, files)

    def test_a_terminal_sees_how_far_one_large_file_is(self):
        self.small_png("in.png", 1500, 1500)
        ours, theirs = os.openpty()
        slow = [PROGRAM, "run", "-e", "gaussian 150px", "--variant", "naive", "--threads", "1", "--strip-rows", "1500",
                "in.png", "out.png"]
        process = subprocess.Popen(slow, cwd=self.folder, stderr=theirs)
        os.close(theirs)
        seen = b""
        try:
            while b"% " not in seen and (piece := os.read(ours, 4096)):
                seen += piece
        except OSError:  # the terminal's other end closed
            pass
        process.kill()
        process.wait()
        os.close(ours)
        self.assertRegex(seen.decode(), r"\r  in\.png +\[#*\.*\] +\d+ % +[0-9.]+ s")

    def test_a_full_disk_behind_standard_output_is_told_truly(self):
        with open("/dev/full", "wb") as full:
            done = self.smp("run", "-e", "invert", SAMPLES / "chelsea.png", "-", stdout=full, status=4)
        self.assertIn("a part was written", done.stderr)
        self.assertNotIn("untouched", done.stderr)

    def test_a_file_whose_name_begins_with_a_dash(self):
        self.small_png("in.png", 3, 3)
        os.rename(self.folder / "in.png", self.folder / "-dash.png")
        done = self.smp("run", "-e", "invert", "-dash.png", "out.png", status=2)
        self.assertIn("hint: a file whose name begins with '-': write ./-dash.png", done.stderr)
        self.smp("run", "-e", "invert", "./-dash.png", "out.png")

    def test_differences_that_cannot_be_said_are_a_failure_to_write(self):
        self.small_png("a.png", 3, 3)
        self.small_png("b.png", 4, 3)
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "diff", "a.png", "b.png"], cwd=self.folder, stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("cannot write to standard output", done.stderr)

    def test_a_report_that_cannot_be_written_whole_leaves_the_old_one(self):
        self.small_png("in.png", 1, 1)
        old = "an old report\n"
        for report in ("old.json", "new.json"):
            self.write("old.json", old)
            self.smp("run", "-q", "--force", "-e", "invert", "in.png", "out.png", f"--report={report}", status=4,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400)))
            self.assertEqual((self.folder / "old.json").read_text(), old)
            self.assertFalse((self.folder / "new.json").exists())

    def test_a_picture_lower_than_a_strip_is_a_strip_of_its_own_height(self):
        done = self.smp("run", "-v", BLUR, SAMPLES / "chelsea.png", "out.png")
        self.assertIn("1 strip of 300 rows", done.stderr)

    def test_success_is_silent(self):
        done = self.smp("run", BLUR, SAMPLES / "chelsea.png", "out.png")
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_measuring_stages_say_what_they_found(self):
        done = self.smp("run", "-e", "stats", SAMPLES / "camera.png", "out.png", "-v")
        self.assertIn("mean", done.stderr)

    def test_statements_on_the_command_line(self):
        self.smp("run", "-e", "gaussian 2px", SAMPLES / "chelsea.png", "a.png")
        self.smp("run", BLUR, SAMPLES / "chelsea.png", "b.png")
        self.smp("run", BLUR, SAMPLES / "chelsea.png", "c.png", "--set", "sigma=3px")
        self.smp("diff", "a.png", "b.png")
        self.smp("diff", "a.png", "c.png", status=7)

    def test_include_and_its_cycles(self):
        (self.folder / "common").mkdir()
        self.write("common/soft.pipe", "param strength = 1px\ngaussian $strength\n")
        self.write("a.pipe", 'include "common/soft.pipe" strength=2px\n')
        self.smp("run", "a.pipe", SAMPLES / "chelsea.png", "a.png")
        self.smp("run", BLUR, SAMPLES / "chelsea.png", "b.png")
        self.smp("diff", "a.png", "b.png")
        self.write("x.pipe", 'include "y.pipe"\n')
        self.write("y.pipe", 'include "x.pipe"\n')
        self.assertIn("includes itself", self.smp("check", "x.pipe", status=2).stderr)

    def test_a_failure_while_running_points_at_the_stage(self):
        self.write("p.pipe", "gray\ntranspose -> @t\nfrom @input\ngray\nadd by=@t\n")
        done = self.smp("run", "p.pipe", SAMPLES / "chelsea.png", "out.png", status=(1, 2))
        self.assertIn("p.pipe:5:", done.stderr)
        self.assertIn("add by=@t", done.stderr)
        self.assertEqual(self.files(), ["p.pipe"])

    def test_warnings_name_unused_things(self):
        self.write("p.pipe", "param unused = 3px\ngray -> @never\ninvert\n")
        done = self.smp("check", "p.pipe")
        self.assertRegex(done.stderr, r"p\.pipe:1:\d+: warning: .*unused")
        self.assertRegex(done.stderr, r"p\.pipe:2:\d+: warning: .*never")

    def test_colour_only_where_it_is_wanted(self):
        self.write("five.pipe", FIVE_MISTAKES)
        self.assertNotIn("\x1b", self.smp("check", "five.pipe", status=2).stderr)
        self.assertIn("\x1b", self.smp("check", "five.pipe", "--color=always", status=2).stderr)
        for variables, wanted in (({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False)):
            environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | variables
            master, slave = os.openpty()
            process = subprocess.Popen([PROGRAM, "check", "five.pipe"], cwd=self.folder, stderr=slave, env=environment)
            os.close(slave)
            seen = b""
            try:
                while piece := os.read(master, 65536):
                    seen += piece
            except OSError:  # the terminal's other end closed
                pass
            os.close(master)
            self.assertEqual(process.wait(timeout=30), 2)
            self.assertEqual(b"\x1b[" in seen, wanted, variables)

    def test_what_a_text_cannot_show_is_told(self):
        self.small_png("a.png", width=120, height=60)
        told = self.smp("run", "-e", 'text "A\u20acB\u65e5 \u20ac\u00e9" size=10px', "a.png", "b.png").stderr
        self.assertIn("warning: the font lacks \u20ac, \u65e5: frames stand for them", told)
        told = self.smp("run", "-f", "-e", 'text "\u20ac{stem}"', "a.png", "b.png").stderr
        self.assertIn("frames stand for them; {stem} is written as it stands", told)
        told = self.smp("run", "-f", "-e", 'text "A\u0085"', "a.png", "b.png").stderr  # is two bytes
        self.assertIn("the font lacks U+0085: frames stand", told)
        self.assertEqual(self.smp("run", "-f", "-e", 'text "caf\u00e9 {1}"', "a.png", "b.png").stderr, "")

    def test_a_place_for_a_name_in_save_is_told(self):
        self.small_png("a.png")
        told = self.smp("run", "-e", 'save "{stem}-g.png"', "-e", "gray", "a.png", "b.png").stderr
        self.assertIn("warning: {stem} is a part of the name as it stands", told)
        self.assertIn("{stem}-g.png", self.files())
        self.assertIn("of a.png, 'save' of \"g.png\" is a-g.png", told)
        self.smp("batch", "-e", 'save "g.png"', "-e", "gray", "a.png", "-o", "out")
        self.assertIn("out/a-g.png", self.files())

    def test_a_default_file_that_is_missing_says_how_to_give_one(self):
        self.small_png("a.png")
        self.write("numbers.pipe", 'smempipe 1\nkind image\nparam k = "k.txt"\nconvolve $k\n')
        for pipe, name, status in (("watermark", "mark", (2, 3)), ("numbers.pipe", "k", 2)):
            for command in (("run", pipe, "a.png", "b.png"), ("batch", pipe, "a.png", "-o", "out")):
                self.assertIn(f" give --set {name}=FILE", self.smp(*command, status=status).stderr, command)
                given = self.smp(*command, "--set", f"{name}=other.png", status=status).stderr
                self.assertNotIn("--set", given)
                self.assertIn("cannot read 'other.png'", given)


if __name__ == "__main__":
    unittest.main()
