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

    def test_everyday_mistakes_are_told_what_to_type(self):
        self.small_png("a.png")
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "s.wav")
        before = self.files()
        for arguments, said in (
            (("run", "a.png", "b.jpg"), "smempipe run -e 'gaussian 2px"),
            (("run", "a.png", "b.jpg"), "the pipeline is missing: 'a.png' is a picture"),
            (("run", "s.wav", "t.wav"), "the pipeline is missing: 's.wav' is a sound"),
            (("measure", "a.png", "b c.png"), "smempipe measure P.pipe a.png 'b c.png'"),
            (("measure", "a.png"), "or smempipe measure -e 'histogram bins=64' a.png"),
            (("run", "gaussian", "a.png", "b.png"), "smempipe run -e 'gaussian 2px edge=mirror' a.png b.png"),
            (("gaussian", "a.png", "b.png"), "smempipe run -e 'gaussian 2px edge=mirror' a.png b.png"),
            (("blur", "a.png", "b.png"), "smempipe run blur a.png b.png"),
            (("help", "blur"), "smempipe pipelines blur"),
            (("help", "grey"), "smempipe help gray"),
            (("run", "-e", "trim 1s 2s", "s.wav", "t.wav"), "write start=1s"),
            (("run", "-e", "trim 1s 2s", "s.wav", "t.wav"), "write end=2s"),
            (("run", "-e", "gaussian 2 px", "a.png", "b.png"), "write 2px"),
            (("run", "-e", "gaussian sigma=2 px", "a.png", "b.png"), "write sigma=2px"),
            (("run", "-e", "rotate -90", "a.png", "b.png"), "write 270"),
            (("run", "-e", "trim start=0:01", "s.wav", "t.wav"), "times are in seconds: 1s"),
            (("run", "-e", "trim end=1:02:03.5", "s.wav", "t.wav"), "times are in seconds: 3723.5s"),
            (("run", "-e", "scale 50%", "a.png", "b.png"), "smempipe calls this: resize"),
            (("run", "-e", "median 77", "a.png", "b.png"), "'size' must be odd, 1 to 31 px, not '77'"),
            (("run", "-e", "despeckle", "a.png", "b.png"), "smempipe run despeckle IN OUT"),
            (("run", "blurr", "a.png", "b.png"), "did you mean the pipeline 'blur'?"),
        ):  # fmt: skip
            with self.subTest(arguments):
                done = self.smp(*arguments, status=(2, 3))
                self.assertIn(said, done.stderr)
                for wrong in ("remix", "multiply", "OUT is missing"):
                    self.assertNotIn(wrong, done.stderr)
        self.assertNotIn("did you mean", self.smp("tune", status=2).stderr)
        self.assertEqual(self.files(), before)
        self.assertEqual(self.smp("-V").stdout, self.smp("--version").stdout)
        self.assertEqual(self.smp("run", "-V").stdout, self.smp("--version").stdout)

    def test_what_is_missing_is_told_as_a_whole_command(self):
        self.small_png("a b.png")
        for arguments, said in (
            (("run",), "write smempipe run P.pipe IN OUT; P.pipe is the pipeline"),
            (("run", "blur"), "write smempipe run blur IN OUT; IN is the file to read"),
            (("run", "blur", "a b.png"), "write smempipe run blur 'a b.png' OUT; OUT is the file to write"),
            (("run", "-e", "gaussian 2px", "a b.png"), "write smempipe run -e 'gaussian 2px' 'a b.png' OUT"),
            (("run", "blur", "a b.png", "b.png", "c.png"), "the command is smempipe run P.pipe IN OUT"),
            (("compare",), "write smempipe compare P.pipe IN"),
            (("diff", "a b.png"), "write smempipe diff 'a b.png' B; B is"),
            (("batch", "blur", "--files-from", "list", "-o", "o"), "cannot open"),  # nothing is missing
        ):  # fmt: skip
            with self.subTest(arguments):
                self.assertIn(said, self.smp(*arguments, status=(2, 3)).stderr)

    def test_reports_that_cannot_be_written_are_told_before_the_work(self):
        (self.folder / "in").mkdir()
        self.small_png("in/a.png")
        (self.folder / "d").mkdir()
        before = self.files()
        for path, said in (("nodir/x", "error: the folder nodir/ does not exist"), ("d", "d: error: is a folder")):
            for arguments in (
                ("run", "-e", "gray", "in/a.png", "a.png", f"--report={path}"),
                ("measure", "-e", "stats", "in", "--html", path),
                ("measure", "-e", "stats", "in", "--partial", path),
                ("kernel", SAMPLES / "kernels" / "transpose.cu", "--html", path),
                ("bench", "--json", path),
                ("list", "in", "-o", path),
                ("run", "-e", "gray", "in/a.png", path + (".png" if path != "d" else "")),
            ):
                with self.subTest(arguments):
                    self.assertIn(said, self.smp(*arguments, status=4).stderr)
        for option in ("--html", "--report"):
            done = self.smp("batch", "-e", "gray", "in", "-o", "out", option, "nodir/x", status=4)
            self.assertIn("nodir/x: error: the folder nodir/ does not exist", done.stderr)
            self.assertIn("mkdir -p 'nodir/'", done.stderr)
        self.assertEqual(self.files(), before)
        self.assertFalse((self.folder / "out").exists())
        self.smp("batch", "-e", "gray", "in", "-o", "out", "--report", "out/x.json")  # a folder that the batch makes

    def test_errors_of_lists_name_the_file(self):
        (self.folder / "in").mkdir()
        self.small_png("in/a.png")
        self.write("l", "mine")
        for arguments, status, said in (
            (("in", "-o", "l"), 4, "l: error: the file exists already"),
            (("in/a.png", "-o", "m"), 3, "in/a.png: error: is a file, not a folder"),
            (("nothere", "-o", "m"), 3, "nothere: error: there is no such folder"),
            (("in", "-o", "/dev/full"), 4, "/dev/full: error: cannot write: No space left on device"),
        ):
            with self.subTest(arguments):
                self.assertIn(said, self.smp("list", *arguments, status=status).stderr)
        self.assertFalse((self.folder / "m").exists())

    def test_hints_are_whole_and_true(self):
        self.small_png("a.png")
        for arguments, said in (
            (("measure", "--merge"), "write smempipe measure --merge IN; IN are files"),
            (("info",), "write smempipe info FILE; FILE are pictures or sounds"),
            (("measure", "-e", "gray", "a.png"), "add a stage that does: quality, hash, histogram, stats"),
            (("diff", "-", "-"), "write a file's name for the other"),
        ):
            with self.subTest(arguments):
                self.assertIn(said, self.smp(*arguments, status=2).stderr)
        self.assertIn("no pair among 1 picture differs", self.smp("duplicates", "a.png").stderr)

    def test_options_that_do_nothing_are_named(self):
        self.small_png("a.png")
        for arguments, said in (
            (("a.png", "b.jpg", "--png-palette"), "--png-palette does nothing: it is for PNG, and a JPEG is written"),
            (("a.png", "b.png", "--quality", "50"), "--quality does nothing: it is for JPEG, WebP"),
            (("a.png", "b.npy", "--tiff-compression", "lzw"), "--tiff-compression does nothing"),
            (("a.png", "b.png", "--samples", "24"), "--samples does nothing: it is for WAV, W64, AIFF, CAF, FLAC"),
            (("a.png", "b.png", "--fast-decode"), "--fast-decode does nothing"),
            (("a.png", "b.jpg", "--quality", "50", "--jpeg-progressive"), ""),
            (("--jpeg-progressive", "a.png", "b.jpg"), ""),
            (("--jpeg-progressive", "off", "a.png", "b.png"), "--jpeg-progressive does nothing: it is for JPEG"),
            (("a.png", "b.png", "--png-level", "9", "--png-palette"), ""),
        ):  # fmt: skip
            with self.subTest(arguments):
                told = self.smp("convert", "-f", *arguments).stderr
                self.assertIn(said, told)
                self.assertEqual(told.count("\n"), 1 if said else 0, told)
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "s.wav")
        self.assertIn("--samples does nothing", self.smp("convert", "s.wav", "s.npy", "--samples", "24").stderr)
        self.assertEqual(self.smp("convert", "s.wav", "t.wav", "--samples", "24").stderr, "")
        self.assertIn("--png-palette does nothing", self.smp("convert", "a.png", "-o", "jpgs", "--to", "jpg",
                                                             "--png-palette").stderr)
        self.assertEqual(self.smp("run", "-e", 'save "s.png"', "a.png", "c.jpg", "--png-palette").stderr, "")
        self.assertEqual(self.smp("batch", "-e", "gray", "a.png", "-o", "out", "--quality", "50").stderr.count("\n"), 1)

    def test_values_of_other_programs_are_told_as_they_are_written_here(self):
        self.small_png("a.png")
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "s.wav")
        before = self.files()
        for name, statement, said in (
            ("a.png", "resize 800x600", "write width=800 height=600"),
            ("a.png", "resize 100px", "write longest=100px"),
            ("a.png", "resize 50", "write 50% or longest=50px"),
            ("a.png", "resize 10", "'scale' is a factor: '10' is 10 times as large"),
            ("a.png", "resize 1600", "write longest=1600px"),
            ("a.png", "rotate 45", "turns are by 90 degrees"),
            ("a.png", "rotate left", "write 270"),
            ("a.png", "pad 2px fill=1", "write fill=[1]"),
            ("a.png", "pad 2px fill=255", "write fill=[255cv]"),
            ("a.png", "pad 2px fill=[255]", "of a code value write 255cv"),
            ("a.png", "strip", "this is an option, not a stage: --strip"),
            ("a.png", "quality 50", "this is an option, not a stage: --quality"),
            ("s.wav", "resample 44.1k", "did you mean '44.1kHz'?"),
            ("s.wav", "lowpass 1K", "did you mean '1kHz'?"),
            ("s.wav", "resample 10MHz", "unknown unit 'MHz'"),
            ("s.wav", "resample 48khz", "did you mean '48kHz'?"),
        ):  # fmt: skip
            with self.subTest(statement):
                done = self.smp("run", "-e", statement, name, "out" + name[1:], status=2)
                self.assertIn(said, done.stderr)
                for wrong in ("did you mean '10", "did you mean 'trim'", "write [255]"):
                    self.assertNotIn(wrong, done.stderr)
        self.assertEqual(self.files(), before)

    def test_what_they_are_told_to_write_works(self):
        self.small_png("a.png")
        for i, statement in enumerate(("resize width=800 height=600", "resize longest=100px", "resize 50%",
                                       "resize longest=50px", "resize 1000%", "resize 9.5", "resize {20/2}",
                                       "pad 2px fill=[1]", "pad 2px fill=[255cv]", "depth 8bit")):
            self.smp("check", "-e", statement)
            self.smp("run", "-e", statement, "a.png", f"{i}.npy")
        self.smp("diff", "4.npy", "6.npy")
        self.smp("diff", "7.npy", "8.npy")
        for number, word in (("8", "8bit"), ("16", "16bit")):
            self.smp("run", "-f", "-e", f"depth {number}", "a.png", "n.npy")
            self.smp("run", "-f", "-e", f"depth {word}", "a.png", "w.npy")
            self.assertEqual((self.folder / "n.npy").read_bytes(), (self.folder / "w.npy").read_bytes())
        self.assertIn("must be 8bit, 16bit or float", self.smp("check", "-e", "depth 12", status=2).stderr)

    @unittest.skipUnless(os.path.isdir("/proc"), "no /proc here")
    def test_a_folder_that_takes_no_files_is_not_said_to_be_missing(self):
        self.small_png("a.png")
        done = self.smp("convert", "a.png", "/proc/x.png", status=4)
        self.assertIn("files cannot be made in that folder", done.stderr)
        self.assertNotIn("does not exist", done.stderr)
        self.assertIn("does not exist", self.smp("convert", "a.png", "no/x.png", status=4).stderr)

    def test_pipelines_that_come_with_the_program_are_found_by_name(self):
        names = sorted(p.stem for p in PIPELINES.glob("*.pipe"))
        listing = self.smp("pipelines").stdout
        self.assertEqual([line.split()[0] for line in listing.split("\n\n")[0].splitlines() if line[0] != " "], names)
        self.assertRegex(listing, r"blur +soften a picture")
        one = self.smp("pipelines", "scan-clean").stdout
        self.assertIn("--set paper=", one)
        self.assertRegex(one, r"\n  paper=\S+ ")
        self.smp("run", "blur", SAMPLES / "chelsea.png", "a.png")
        self.smp("run", BLUR, SAMPLES / "chelsea.png", "b.png")
        self.smp("diff", "a.png", "b.png")
        self.write("blur", "invert\n")  # a file comes first
        self.smp("run", "blur", SAMPLES / "chelsea.png", "c.png")
        self.smp("diff", "a.png", "c.png", status=7)
        self.smp("pipelines", "no-such-pipeline", status=3)

    def test_an_installed_program_finds_its_pipelines(self):
        (self.folder / "usr/bin").mkdir(parents=True)
        (self.folder / "usr/share/smempipe/pipelines").mkdir(parents=True)
        shutil.copy(PROGRAM, self.folder / "usr/bin/smempipe")
        self.write("usr/share/smempipe/pipelines/mine.pipe",
                   "# mine.pipe - turns it upside down\nparam way = 1\nrotate {$way*180}\n")
        run = lambda *a: subprocess.run(
            [self.folder / "usr/bin/smempipe", *a], cwd=self.folder, capture_output=True, text=True)
        self.assertIn("mine              turns it upside down\n", run("pipelines").stdout)
        done = run("run", "mine", SAMPLES / "chelsea.png", "out.png")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_code_value_where_a_fraction_belongs_is_an_error_that_says_what_to_type(self):
        for statement, fix in (("subtract 118.9", "118.9cv, which is 46.6% of 255"),
                               ("add 20", "20cv, which is 7.8% of 255"),
                               ("levels white=9", "9cv, which is 3.5% of 255"),
                               ("threshold 128", "128cv")):
            done = self.smp("run", "-e", statement, SAMPLES / "chelsea.png", "out.png", status=2)
            self.assertIn(fix, done.stderr)
            self.assertFalse((self.folder / "out.png").exists())
        self.smp("run", "-e", "subtract 118.9cv", SAMPLES / "chelsea.png", "a.npy")
        self.smp("run", "-e", "subtract {118.9/255}", SAMPLES / "chelsea.png", "b.npy")
        self.assertEqual((self.folder / "a.npy").read_bytes(), (self.folder / "b.npy").read_bytes())
        self.smp("run", "-e", "multiply 3", SAMPLES / "chelsea.png", "factor.npy")  # a factor is no level
        # floats may have any level
        self.smp("run", "-e", "depth float", "-e", "add 20", SAMPLES / "chelsea.png", "float.npy")

    def test_a_value_that_fits_no_parameter_gets_no_name_suggested(self):
        for statement in ("crop 50%", "posterise 4 levels"):
            done = self.smp("run", "-e", statement, SAMPLES / "chelsea.png", "out.png", status=2)
            self.assertNotIn("NAME", done.stderr)

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
        slow = [
            PROGRAM, "run", "-e", "gaussian 150px", "--variant", "naive", "--threads", "1", "--strip-rows", "1500",
            "in.png", "out.png"
        ]
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
            done = subprocess.run([PROGRAM, "diff", "a.png", "b.png"],
                                  cwd=self.folder,
                                  stdout=full,
                                  stderr=subprocess.PIPE,
                                  text=True)
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


if __name__ == "__main__":
    unittest.main()
