"""What the program says to type: hints beside errors, for what people type of other programs and by mistake."""
import os
import shutil
import subprocess
import unittest

import numpy as np

from harness import PIPELINES, PROGRAM, SAMPLES, CliCase

BLUR = PIPELINES / "blur.pipe"


class Hints(CliCase):
    def test_everyday_mistakes_are_told_what_to_type(self):
        self.small_png("a.png")
        self.small_png("less.png", width=9)
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "s.wav")
        before = self.files()
        for arguments, said in (
            (("run", "a.png", "b.jpg"), "smempipe run -e 'gaussian 2px"),
            (("run", "a.png", "b.jpg"), "the pipeline is missing: 'a.png' is a picture"),
            (("convert", "a.png", "-o", "out", "-q", "80"), "-q is --quiet; the quality is --quality 80"),
            (("convert", "a.png", "less.png", "-q", "80"), "-q is --quiet; the quality is --quality 80"),
            (("convert", "a.png", "less.png", "-q", "2024"), "write smempipe convert a.png less.png -o 2024"),
            (("convert", "a.png", "-fuzz", "10%", "b.png"), "unknown option '-fuzz'"),
            (("convert", "a.png", "less.png", "+append", "b.png"), "stages are given by -e, as in -e 'join"),
            (("run", "s.wav", "t.wav"), "the pipeline is missing: 's.wav' is a sound"),
            (("measure", "a.png", "b c.png"), "smempipe measure P.pipe a.png 'b c.png'"),
            (("measure", "a.png"), "or smempipe measure -e 'histogram bins=64' a.png"),
            (("run", "gaussian", "a.png", "b.png"), "smempipe run -e 'gaussian 2px edge=mirror' a.png b.png"),
            (("gaussian", "a.png", "b.png"), "smempipe run -e 'gaussian 2px edge=mirror' a.png b.png"),
            (("blur", "a.png", "b.png"), "smempipe run blur a.png b.png"),
            (("help", "blur"), "smempipe pipelines blur"),
            (("help", "grey"), "smempipe help gray"),
            (("run", "-e", "trim 1s 2s", "s.wav", "t.wav"), "start=1s length=2s, as sox means it, or start=1s end=2s"),
            (("run", "-e", "gaussian 2 px", "a.png", "b.png"), "write 2px"),
            (("run", "-e", "gaussian sigma=2 px", "a.png", "b.png"), "write sigma=2px"),
            (("run", "-e", "rotate -90", "a.png", "b.png"), "write 270"),
            (("run", "-e", "trim end=1:2:3:4", "s.wav", "t.wav"), "unknown unit ':2:3:4'"),
            (("run", "-e", "trim end=-20s", "s.wav", "t.wav"), "ends 20 s before the sound's end, and it has 2"),
            (("run", "-e", "trim end=-20s", "s.wav", "t.wav"), "write end=-1s"),
            (("run", "-e", 'mix by="-"', "s.wav", "t.wav"), "the second input cannot come from standard input: name a"),
            (("run", "-e", "pad left=1s", "s.wav", "t.wav"), "'start' of this stage is a duration: start=1s"),
            (("convert", "--resize", "50%", "s.wav", "t.wav"), "for sound: resample 48kHz"),
            (("run", "-e", "scale 50%", "a.png", "b.png"), "smempipe calls this: resize"),
            (("run", "-e", "subtract_background", "a.png", "b.png"), "morph tophat size=51 shape=disk"),
            (("run", "-e", "analyze_particles", "a.png", "b.png"), "label min-area=20px output=input"),
            (("run", "-e", "median 257", "a.png", "b.png"), "'size' must be odd, 1 to 255 px, not '257'"),
            (("run", "-e", "despeckle", "a.png", "b.png"), "smempipe run despeckle IN OUT"),
            (("run", "blurr", "a.png", "b.png"), "did you mean the pipeline 'blur'?"),
            (("run", "-e", "crop 50%", "a.png", "b.png"), "write width=50% height=50%"),
            (("run", "-e", "rotate 5", "a.png", "b.png"), "'angle' must be 0, 90, 180 or 270, not '5'"),
            (("run", "-e", "crop 100x80", "a.png", "b.png"), "width=100 height=80, the middle, or 100x80+0+0"),
            (("run", "-e", "pad 9x9", "a.png", "b.png"), "width=9 height=9, the size in the end, or left=9 right=9"),
            (("run", "-e", "pad 3 5", "a.png", "b.png"), "left=3 right=3 top=5 bottom=5, or the other way round"),
            (("run", "-e", "colorspace HSV", "a.png", "b.png"), "calls this: color hsv"),
            (("run", "-e", "colorspace gray", "a.png", "b.png"), "calls this: gray"),
            (("run", "-e", "white-balance", "a.png", "b.png"), "stage 'white-balance'\n"),
            (("run", "-e", "pad 10 [{1/2} {1} {0}]", "a.png", "b.png"), "write fill=[{1/2} {1} {0}]"),
            (("run", "-e", "roll 3 2", "a.png", "b.png"), "calls this: warp matrix=[1 0 30; 0 1 20] edge=wrap"),
            (("run", "-e", 'blend by="less.png"', "a.png", "c.png"), "fit=cover"),
            (("run", "-e", 'alpha set by="less.png"', "a.png", "c.png"), "fit=stretch"),
            (("convert", "a.png[1]", "b.png"), "pages are counted from 1: write a.png --page 2"),
            (("convert", "a.png[9x9]", "b.png"), "write a.png alone"),
            (("identify", "a.png"), "write smempipe info FILE"),
            (("convert", "a.png", "b.jpg", "-strip"), "unknown option '-strip'\n  = hint: did you mean '--strip'?"),
            (("convert", "a.png", "b.jpg", "-quality", "80"), "unknown option '-quality'\n"),
            (("convert", "a.png", "-auto-orient", "b.jpg"), "hint: write nothing: every picture is turned"),
            (("convert", "a.png", "b.jpg", "--width", "300"), "write --resize 800x"),
            (("convert", "a.png", "b.jpg", "-q", "80"), "the quality is --quality 80"),
            (("convert", "a.png", "a.png", "new"), "write smempipe convert a.png a.png -o new, which makes it"),
            (("convert", "--", "a.png", "-o", "new"), "behind -- all words are files: '-o' comes before it"),
            (("stack", "--median", "a.png", "b.png", "-o", "c.png"), "write --by median"),
            (("run", "-e", 'include "watermark"', "a.png", "b.png"), 'behind the include write mark="FILE"'),
            (("batch", "-e", "gray", "a.png", "-o", "new/x.tar"), "write -o OUT/{shard}.tar: {shard} is the input"),
            (("run", "-e", "fade t 0.5", "s.wav", "t.wav"), "write in=0.5 curve=linear, sox's t"),
            (("montage", "a.png", "-geometry", "9x9", "-o", "s.png"), "write --cell 200x200"),
        ):  # fmt: skip
            with self.subTest(arguments):
                done = self.smp(*arguments, status=(2, 3))
                self.assertIn(said, done.stderr)
                for wrong in ("remix", "multiply", "OUT is missing"):
                    self.assertNotIn(wrong, done.stderr)
        self.assertNotIn("did you mean", self.smp("tune", status=2).stderr)
        self.assertEqual(self.files(), before)
        self.assertEqual(self.smp("-V").stdout, self.smp("--version").stdout)
        for words in (("run", "-V"), ("-V", "-V")):
            self.assertEqual(self.smp(*words).stdout, self.smp("--version").stdout)
        for words in (("-V", "extra", "words"), ("--version", "run"), ("-V", "-v", "-v")):
            done = self.smp(*words, status=2)
            self.assertEqual((done.stdout, "-V, --version stands alone" in done.stderr), ("", True), words)
        self.assertIn("lame's -V 4, is --mp3-vbr 4", self.smp("convert", "a.wav", "b.mp3", "-V", "4", status=2).stderr)

    def test_words_in_a_wrong_place_are_told_as_a_whole_command(self):
        for name in ("a.png", "b.png", "my pic.png"):
            self.small_png(name)
        for name, text in (("p", "gray\n"), ("utf16", "gray\n".encode("utf-16")), ("mac", b"gray\rsobel\r")):
            self.write(name + ".pipe", text)
        self.write("none.png", "")
        (self.folder / "dangling.png").symlink_to("nowhere.png")
        before = self.files()
        for arguments, said in (
            (("run", "a.png", "p.pipe", "o.png"), "write smempipe run p.pipe a.png o.png"),
            (("run", "a.png", "o.png", "p.pipe"), "write smempipe run p.pipe a.png o.png"),
            (("batch", ".", "p.pipe", "-o", "out"), "write smempipe batch p.pipe . -o DIR"),
            (("run", "p.pipe", "o.png", "a.png"), "'a.png' is there: the input comes first, then the output"),
            (("run", "gaussian", "2px", "a.png", "o.png"), "write smempipe run -e 'gaussian 2px' a.png o.png"),
            (("gaussian", "2px", "a.png", "o.png"), "write smempipe run -e 'gaussian 2px' a.png o.png"),
            (("run", "-e", "gaussian", "2px", "a.png", "o.png"), "write smempipe run -e 'gaussian 2px' a.png o.png"),
            (("run", "-e", "gray", "gaussian", "2px", "a.png", "o.png"), "-e 'gray' -e 'gaussian 2px' a.png o.png"),
            (("run", "-e", "gray; sobel", "a.png", "o.png"), "write -e 'gray' -e 'sobel'"),
            (("run", "-e", "a.png", "o.png"), "-e takes a stage, and 'a.png' is a file's name"),
            (("batch", "-e", "gray", "gaussian", ".", "-o", "out"), "'gaussian' is a stage: write -e 'gaussian 2px"),
            (("run", "p.pipe", "my", "pic.png", "o.png"), "a name with blanks stands in quotes: 'my pic.png'"),
            (("run", "p.pipe", "a.png", "b.png", "out"), "write smempipe batch p.pipe a.png b.png -o out"),
            (("run", "p.pipe", "a.png", "-o", "o.png"), "the output stands without an option: smempipe run P.pipe IN"),
            (("run", "p.pipe", "a.png", "--output=o.png"), "the output stands without an option: smempipe run P.pipe"),
            (("convert", "-i", "a.png", "o.png"), "inputs stand without an option: smempipe convert IN"),
            (("measure", "-e", "stats", "a.png", "-o", "x"), "put > FILE behind the command"),
            (("measure", "-e", "stats", "a.png", "--csv", "x.csv"), "put > x.csv behind the command"),
            (("tiles", "a.png", "out"), "write smempipe tiles a.png -o out"),
            (("batch", "p.pipe", "a.png", "out"), "write -o out"),
            (("convert", "a.png", "b.png", "out"), "write smempipe convert a.png b.png -o out"),
            (("convert", "p.pipe", "a.png", "o.png"), "'p.pipe' is a pipeline: write smempipe run p.pipe a.png o.png"),
            (("batch", "p.pipe", "a.png", "-o", "b.png"), "give a folder by -o"),
            (("run", "p.pipe", "", "o.png"), "IN is empty"),
            (("run", "p.pipe", "A.PNG", "o.png"), "did you mean 'a.png'?"),
            (("run", "p.pipe", "a.jpg", "o.png"), "did you mean 'a.png'?"),
            (("info", "a.pngg"), "did you mean 'a.png'?"),
            (("info", "dangling.png"), "it is a link, to 'nowhere.png', which is not there"),
            (("run", "p.pipe", "*.png", "o.png"), "patterns are for the shell"),
            (("run", "p.pipe", "none.png", "o.png"), "file is empty\n  = hint: what was to write it may have"),
            (("run", "utf16.pipe", "a.png", "o.png"), "it is UTF-16: save the file as UTF-8"),
            (("run", "mac.pipe", "a.png", "o.png"), "a line end of old Macs"),
            (("check", "a.png"), "a pipeline is a text of stages, one a line; is this a picture?"),
            (("run", "p.pipe", "a.png", "o.mp3"), "an MP3 holds no pictures"),
            (("run", "p.pipe", "a.png", "o.ogg"), "an OGG holds no pictures"),
            (("bank", "a.cu"), "write smempipe kernel a.cu"),
            (("version",), "write smempipe --version"),
            (("gray", "-h"), "write smempipe stages gray"),
        ):  # fmt: skip
            with self.subTest(arguments):
                self.assertIn(said, self.smp(*arguments, status=(1, 2, 3, 4)).stderr)
        for short in (("completion", "sh"), ("help", "me")):
            self.assertNotIn("did you mean", self.smp(*short, status=2).stderr)
        self.assertEqual(self.files(), before)

    def test_a_pipeline_without_a_stage_is_a_warning(self):
        (self.folder / "in").mkdir()
        self.small_png("in/a.png")
        self.write("empty.pipe", "# nothing yet\n")
        said = "warning: empty.pipe: the pipeline has no stage: what is read is written unchanged"
        self.assertIn(said, self.smp("run", "empty.pipe", "in/a.png", "o.png").stderr)
        self.assertIn(said, self.smp("batch", "empty.pipe", "in", "-o", "out").stderr)
        for arguments in (("run", "upright", "in/a.png", "p.png"), ("convert", "in/a.png", "q.png")):
            self.assertEqual(self.smp(*arguments).stderr, "")

    def test_failures_of_many_files_say_what_to_type(self):
        np.save(self.folder / "f.npy", np.full((4, 4), 100, np.float32))
        for arguments in (("measure", "-e", "equalize", "-e", "stats", "f.npy"),
                          ("batch", "-e", "equalize", "f.npy", "-o", "out")):
            told = self.smp(*arguments, status=1).stderr
            self.assertEqual(told.count("= hint: in front of it 'levels' clamps samples"), 1, told)

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
            (("in/a.png", "-o", "m"), 3, "in/a.png: error: this is a file, not a folder"),
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
            (("a.png", "b.npy", "--tiff-compression", "lzw"), "--tiff-compression lzw does nothing: it is for "
                                                                "TIFF, and an NPY is written"),
            (("a.png", "b.png", "--samples", "24"), "--samples 24 does nothing: it is for WAV, FLAC, AIFF"),
            (("a.png", "b.png", "--fast-decode"), "--fast-decode does nothing"),
            (("a.png", "b.png", "--lossless"), ""),
            (("a.png", "b.jpg", "--quality", "50", "--jpeg-progressive"), ""),
            (("--jpeg-progressive", "a.png", "b.jpg"), ""),
            (("--jpeg-progressive", "off", "a.png", "b.png"), "--jpeg-progressive off does nothing"),
            (("a.png", "b.png", "--png-level", "9", "--png-palette"), ""),
        ):  # fmt: skip
            with self.subTest(arguments):
                told = self.smp("convert", "-f", *arguments).stderr
                self.assertIn(said, told)
                self.assertEqual(told.count("\n"), 1 if said else 0, told)
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "s.wav")
        self.assertIn("--samples 24 does nothing", self.smp("convert", "s.wav", "s.npy", "--samples", "24").stderr)
        self.assertEqual(self.smp("convert", "s.wav", "t.wav", "--samples", "24").stderr, "")
        self.assertIn("--png-palette does nothing", self.smp("convert", "a.png", "-o", "jpgs", "--to", "jpg",
                                                             "--png-palette").stderr)
        for arguments in (("montage", "a.png", "-o", "m.jpg", "--png-level", "9"),
                          ("tiles", "a.png", "-o", "tiles", "--to", "jpg", "--png-level", "9"),
                          ("concat", "s.wav", "s.wav", "-o", "c.wav", "--bitrate", "64"),
                          ("split", "s.wav", "-o", "parts", "--every", "1s", "--bitrate", "64")):  # fmt: skip
            with self.subTest(arguments):
                self.assertRegex(self.smp(*arguments).stderr, "--(png-level|bitrate) does nothing: it is for ")
        self.assertNotIn("--bitrate", self.smp("montage", "--help").stdout)
        self.assertEqual(self.smp("run", "-e", 'save "s.png"', "a.png", "c.jpg", "--png-palette").stderr, "")
        self.assertEqual(self.smp("batch", "-e", "gray", "a.png", "-o", "out", "--quality", "50").stderr.count("\n"), 1)

    def test_options_that_contradict_each_other_are_refused(self):
        self.small_png("a.png")
        for arguments, said in (
            (("run", "-q", "-e", "invert", "a.png", "b.png", "-v"), "--quiet and --verbose exclude each other"),
            (("check", "-qv", "-e", "invert"), "--quiet and --verbose exclude each other"),
            (("batch", "-e", "invert", "a.png", "-o", "out", "--skip-existing", "-f"),
             "--force and --skip-existing exclude each other"),
        ):  # fmt: skip
            with self.subTest(arguments):
                self.assertIn(said, self.smp(*arguments, status=2).stderr)
        self.assertEqual(self.files(), ["a.png"])

    def test_commands_have_the_options_of_their_files_alone(self):
        for command, absent, present in (("tiles", ("--bitrate",), ("--jpeg-quality", "--page N")),
                                         ("split", ("--png-level", "--jpeg-", "--tiff-", "--fast-decode", "--page"),
                                          ("--bitrate", "--no-verify")),
                                         ("concat", ("--frames",), ("--bitrate", "--paper"))):
            text = self.smp(command, "--help").stdout
            for option in absent:
                self.assertNotIn(option, text, command)
            for option in present:
                self.assertIn(option, text, command)

    def test_a_pipeline_without_a_stage_is_told(self):
        self.write("empty.pipe", "# nothing\n")
        self.write("full.pipe", "invert\n")
        self.assertEqual(self.smp("check", "empty.pipe", "full.pipe").stdout.splitlines(),
                         ["empty.pipe: ok, but without a stage: it would leave everything as it is", "full.pipe: ok"])

    def test_values_of_other_programs_are_told_as_they_are_written_here(self):
        self.small_png("a.png")
        np.save(self.folder / "gray.npy", np.zeros((3, 3), np.uint8))
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "s.wav")
        before = self.files()
        for name, statement, said in (
            ("a.png", 'overlay "a.png" gravity=southeast', "did you mean 'anchor'?"),
            ("a.png", 'overlay "a.png" anchor=southeast', "did you mean 'bottom-right'?"),
            ("a.png", "pad 2px background=white", "did you mean 'fill'?"),
            ("a.png", 'overlay "a.png" dissolve=30%', "did you mean 'opacity'?"),
            ("a.png", 'overlay "a.png" transparency=30%', "overlay takes: by, x, y,"),
            ("a.png", 'join with="a.png"', "did you mean 'by'?"),
            ("a.png", "alpha off", "did you mean 'drop'?"),
            ("a.png", "alpha remove", "did you mean 'flatten'?"),
            ("a.png", 'template "gray.npy"', "a template of 1 colour cannot be found"),
            ("a.png", "sepia-tone 80%", "calls this: matrix [0.393"),
            ("a.png", "pixelate 10", "calls this: resize 10% filter=area, then resize 1000% filter=nearest"),
            ("a.png", "gaussian 5x3", "write 3px, the sigma"),
            ("a.png", "crop 5 7 100 80", "write x=5 y=7 width=100 height=80, if this is the order"),
            ("a.png", "levels 5% 90% 1.2", "as ImageMagick, or black=5% gamma=90% white=1.2"),
            ("s.wav", "fade 0.1 1", "write in=0.1 out=1: sox's second value is where it ends"),
            ("s.wav", "silence 1 0.1 1% -1 0.1 1%", "`trim auto` cuts it"),
            ("a.png", "colorspace gray", "smempipe calls this: gray"),
            ("a.png", "resize 100px", "write longest=100px or width=100px"),
            ("a.png", "resize 50", "write longest=50, or width=50, or 50%"),
            ("a.png", "resize 0%", "'scale' must be"),
            ("a.png", "resize 10", "'scale' is a factor: '10' is 10 times as large"),
            ("a.png", "resize 1600", "write longest=1600, or width=1600"),
            ("a.png", "rotate 45", "turns are by 90 degrees"),
            ("a.png", "rotate left", "write 270"),
            ("a.png", "pad 2px fill=1", "write fill=[1]"),
            ("a.png", "pad 2px fill=255", "write fill=[255cv]"),
            ("a.png", "pad 2px fill=[255]", "of a code value write 255cv"),
            ("a.png", "gaussian 2px edge=constant fill=128", "of a code value write 128cv"),
            ("a.png", "sharpen threshold=3", "of a code value write 3cv"),
            ("a.png", "local-threshold 21 method=sauvola r=128", "of a code value write 128cv"),
            ("a.png", "strip", "this is an option, not a stage: --strip"),
            ("a.png", "quality 50", "this is an option, not a stage: --quality"),
            ("a.png", "tiles 512px", "this is a command, not a stage"),
            ("s.wav", "resample 44.1k", "did you mean '44.1kHz'?"),
            ("s.wav", "lowpass 1K", "did you mean '1kHz'?"),
            ("s.wav", "resample 10MHz", "unknown unit 'MHz'"),
            ("s.wav", "resample 48khz", "did you mean '48kHz'?"),
        ):  # fmt: skip
            with self.subTest(statement):
                done = self.smp("run", "-e", statement, name, "out" + name[1:], status=2)
                self.assertIn(said, done.stderr)
                for wrong in ("did you mean '10", "did you mean 'trim'", "write [255]", "longest=0"):
                    self.assertNotIn(wrong, done.stderr)
                if "transparency" in statement:  # what is left is opaque
                    self.assertNotIn("did you mean", done.stderr)
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

    def test_values_without_names_are_taken_where_they_can_be_read_in_one_way(self):
        self.small_png("a.png")
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "s.wav")
        for name, short, named in (
            ("a.png", "resize 8x6", "resize width=8 height=6"),
            ("a.png", "resize 8x", "resize width=8"),
            ("a.png", "resize x6", "resize height=6"),
            ("a.png", "resize 8x6^ nearest", "resize width=8 height=6 fit=cover filter=nearest"),
            ("a.png", "resize 8x6!", "resize width=8 height=6 fit=stretch"),
            ("a.png", "resize 800x600>", "resize width=800 height=600 enlarge=no"),
            ("a.png", "resize 50% nearest", "resize 50% filter=nearest"),
            ("a.png", "crop 8x6+5+7", "crop width=8 height=6 x=5 y=7"),
            ("a.png", "crop 16:9 bottom", "crop aspect={16/9} anchor=bottom"),
            ("a.png", "pad square fill=[1]", "pad aspect=1 fill=[1]"),
            ("a.png", "morph open 3", "morph open size=3"),
            ("a.png", "morph close 5x3", "morph close width=5 height=3"),
            ("a.png", "median 3 disk", "median 3 shape=disk"),
            ("a.png", "gaussian 0x2 mirror", "gaussian 2px edge=mirror"),
            ("a.png", "levels 10%,90%,1.2", "levels black=10% white=90% gamma=1.2"),
            ("a.png", "sharpen 0x1+0.5+0.02", "sharpen 0.5 sigma=1 threshold=2%"),
            ("s.wav", "trim 0.5", "trim start=0.5s"),
            ("s.wav", "normalize -3dBFS", "normalize peak=-3dBFS"),
            ("s.wav", "normalize -1.5dB each", "normalize peak=-1.5dBFS channels=each"),
            ("s.wav", "normalize 0dB", "normalize peak=0dBFS"),
            ("s.wav", "normalize -16LUFS true-peak=-2dBTP", "normalize lufs=-16LUFS true-peak=-2dBTP"),
            ("s.wav", "trim 0 0:01", "trim end=1s"),
            ("s.wav", "trim 0.5 -0.5", "trim start=0.5s end=-0.5s"),
            ("s.wav", "trim 0.5 +0.25", "trim start=0.5s length=0.25s"),
            ("s.wav", "trim end=00:00:01.5", "trim end=1.5s"),
            ("s.wav", "pad 0.1 0.2", "pad start=0.1s end=0.2s"),
            ("s.wav", "fade 0.1 0 0.2 linear", "fade in=0.1s out=0.2s curve=linear"),
        ):  # fmt: skip
            with self.subTest(short):
                out = [self.smp("run", "-f", "-q", "-e", statement, name, "out" + name[1:]).stderr
                       + (self.folder / ("out" + name[1:])).read_bytes().hex() for statement in (short, named)]
                self.assertEqual(*out)
        self.assertIn("crop WxH+X+Y  is  crop width=W height=H x=X y=Y", self.smp("stages", "crop").stdout)

    def test_a_value_that_fits_no_parameter_gets_no_name_suggested(self):
        for statement in ("crop 50%", "posterise 4 levels"):
            done = self.smp("run", "-e", statement, SAMPLES / "chelsea.png", "out.png", status=2)
            self.assertNotIn("NAME", done.stderr)


if __name__ == "__main__":
    unittest.main()
