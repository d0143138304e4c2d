"""smempipe convert: what run and batch do, without a pipeline."""
import shutil
import struct
import unittest

import cv2
import numpy

from batch_case import BatchCase
from harness import ROOT, SAMPLES, chunk, png_bytes, png_chunks


class OneFile(BatchCase):
    def refused(self, said, *arguments, status=2):
        before = self.files()
        self.assertIn(said, self.smp("convert", *arguments, status=status).stderr)
        self.assertEqual(self.files(), before)

    def test_samples_stay_as_they_are(self):
        self.small_png("a.png")
        for name in ("b.npy", "c.bmp", "d.ppm", "e.png"):
            self.smp("convert", "a.png", name)
            self.smp("diff", "a.png", name)
        self.smp("convert", "a.png", "f.jpg", "--jpeg-quality", "80")
        self.smp("run", "-e", "posterise 256", "a.png", "g.jpg", "--jpeg-quality", "80")
        self.assertTrue((self.folder / "f.jpg").read_bytes().startswith(b"\xff\xd8"))
        self.smp("diff", "f.jpg", "g.jpg")

    def test_sounds(self):
        self.smp("convert", SAMPLES / "speech.flac", "a.wav")
        self.smp("diff", SAMPLES / "speech.flac", "a.wav")
        self.smp("convert", SAMPLES / "speech.flac", "b.wav", "--samples", "float")
        self.refused("holds no", SAMPLES / "speech.flac", "c.png", status=(2, 4))

    def test_sounds_get_another_rate_and_other_channels(self):
        for options, stages in ((("--rate", "16kHz"), ("resample 16kHz",)), (("--rate=11025",), ("resample 11025Hz",)),
                                (("--channels", "mono"), ("remix mono",)),
                                (("--channels", "2", "--rate", "44.1k"), ("remix stereo", "resample 44.1kHz"))):
            self.smp("convert", "-f", SAMPLES / "field.flac", "a.wav", *options)
            lines = [part for stage in stages for part in ("-e", stage)]
            self.smp("run", "-f", *lines, SAMPLES / "field.flac", "b.wav")
            self.assertEqual((self.folder / "a.wav").read_bytes(), (self.folder / "b.wav").read_bytes(), options)
        self.smp("convert", SAMPLES, "-o", "out", "--include", "speech*", "--to", "wav", "--rate", "8000")
        self.assertIn("at 8000 Hz", self.smp("info", "out/speech.wav").stdout)
        for option in ("--rate=0", "--rate=x", "--rate=16 kHz", "--rate=1e3", "--rate=", "--channels=3", "--channels="):
            self.refused("is not a valid value for --", SAMPLES / "field.flac", "c.wav", option)
        self.refused("ffmpeg -i - OUT.wma", SAMPLES / "field.flac", "c.wma", status=4)

    def test_photographs_are_turned_upright(self):
        turned = numpy.arange(6 * 9 * 3, dtype=numpy.uint8).reshape(6, 9, 3)
        exif = b"II*\0\x08\0\0\0\x01\0" + struct.pack("<HHIHH", 0x0112, 3, 1, 6, 0) + b"\0\0\0\0"
        rows = [row.tobytes() for row in turned]
        self.write("a.png", png_bytes(rows, 9, extra=chunk(b"eXIf", exif)))
        self.smp("convert", "a.png", "b.npy")
        numpy.testing.assert_array_equal(numpy.load(self.folder / "b.npy"), numpy.rot90(turned, -1))

    def test_strip(self):
        self.write("a.png", png_bytes([bytes(6)] * 2, 2, extra=chunk(b"tEXt", b"Comment\0words")))
        for options, kept in (((), True), (("--strip",), False)):
            self.smp("convert", "a.png", "b.png", "--force", *options)
            kinds = [kind for kind, _ in png_chunks((self.folder / "b.png").read_bytes())]
            self.assertEqual(b"tEXt" in kinds, kept)

    def test_standard_input_and_output(self):
        self.small_png("a.png")
        data = (self.folder / "a.png").read_bytes()
        for options, magic in (((), b"\x89PNG"), (("--format", "jpg"), b"\xff\xd8"),
                               (("--format", ".NPY"), b"\x93NUMPY"), (("--to", "bmp"), b"BM")):
            for command in (("convert",), ("run", "-e", "invert")):
                if command[0] == "run" and "--to" in options:
                    continue
                done = self.smp(*command, *options, "-", "-", input=data, text=False)
                self.assertTrue(done.stdout.startswith(magic), options)
        self.refused("--format is for standard output", "a.png", "b.png", "--format", "jpg")
        self.refused("not 'xyz'", "a.png", "-", "--format", "xyz")
        self.assertIn("extensions that can be written: .png",
                      self.smp("convert", "a.png", "-", "--format", "xyz", status=2).stderr)

    def test_what_is_missing_is_said(self):
        self.small_png("a.png")
        (self.folder / "in").mkdir()
        self.refused("write smempipe convert a.png OUT", "a.png")
        self.refused("write smempipe convert in -o DIR", "in")
        self.refused("IN is missing")
        self.refused("'out' is not a folder", "in", "out")
        self.refused("'c.png' is not a folder", "a.png", "b.png", "c.png")
        self.refused("--resume is for many files", "a.png", "b.png", "--resume")
        self.refused("says its format", "a.png", "b.png", "--to", "jpg")
        self.refused("write b.jpg without --to", "a.png", "b", "--to", ".jpg")
        self.refused("write - in place of /dev/stdout: standard output", "a.png", "/dev/stdout", "--to", "jpg")
        self.refused("write - for standard output", "a.png", "/dev/fd/1", status=4)
        self.refused("write /dev/shm/none/b.jpg without --to", "a.png", "/dev/shm/none/b", "--to", "jpg")
        self.refused("extensions that can be written: ", "a.png", "/dev/shm/none/b.xyz", status=4)
        self.refused("write - in place of /proc/self/fd/1", "a.png", "/proc/self/fd/1", "--to", "jpg")
        done = self.smp("convert", "a.png", "/dev/null", "--to", "jpg", status=2)
        self.assertNotIn("/dev/null.jpg", done.stderr)
        self.refused("--to takes an extension", "a.png", "-o", "out", "--to", "tga2")
        self.refused("write --to jpg", "a.png", "-o", "out", "--format", "jpg")
        for wrong in ("0", "-5", "5px", "x", "x5!", "9!", "5x5x", "5x5<", "10x0", "1e3", "", "10%%",
                      "9999999999999999999999"):
            self.refused("is not a valid value for --resize", "a.png", "b.png", f"--resize={wrong}")
        self.refused("same file as the input", "a.png", "a.png", "--force", status=4)
        self.refused("a.png is given twice\n", "a.png", "a.png", "-o", "out")
        self.refused("a.png is given twice, also as ./a.png", "a.png", "./a.png", "-o", "out")
        shutil.copy(self.folder / "a.png", self.folder / "in/a.png")  # another file of that name
        self.refused("a.png and in/a.png would both become", "a.png", "in/a.png", "-o", "out")

    def test_commands_without_a_pipeline_say_convert(self):
        self.small_png("a.png")
        (self.folder / "in").mkdir()
        for arguments, said in ((("run", "a.png", "b.jpg"), "write smempipe convert a.png b.jpg, or"),
                                (("run", "a.png"), "write smempipe convert a.png OUT, or"),
                                (("run", "a.png"), "-e 'gaussian 2px edge=mirror' a.png OUT"),
                                (("batch", "in", "-o", "out"), "write smempipe convert in -o DIR, or"),
                                (("a.png", "b.jpg"), "write smempipe convert a.png b.jpg"),
                                (("run", "-e", "", "a.png", "b.png"), "write smempipe convert IN OUT"),
                                (("run", "-e", " # none", "a.png", "b.png"), "write smempipe convert IN OUT"),
                                (("run", "gaussian 3px", "a.png", "b.png"),
                                 "write smempipe run -e 'gaussian 3px' a.png b.png")):
            self.assertIn(said, self.smp(*arguments, status=2).stderr)
        self.assertIn("smempipe convert in.png out.jpg", self.smp("help").stdout)

    def test_smaller(self):
        for size, shape in (("100", (67, 100, 3)), ("100x50", (50, 75, 3)), ("50%", (150, 226, 3)),
                            ("100x", (67, 100, 3)), ("x30", (30, 45, 3)), ("100X50>", (50, 75, 3)),
                            ("500x400!", (400, 500, 3)), ("90x80^", (80, 90, 3)), ("12.5%", (38, 56, 3)),
                            ("1000", (300, 451, 3)), ("2000x1000", (300, 451, 3))):
            self.smp("convert", "-f", SAMPLES / "chelsea.png", "a.npy", "--resize", size)
            self.assertEqual(numpy.load(self.folder / "a.npy").shape, shape, size)
        self.smp("diff", SAMPLES / "chelsea.png", "a.npy")  # smaller ones stay
        self.smp("convert", "-f", SAMPLES / "chelsea.png", "a.npy", "--resize", "100")
        self.smp("run", "-e", "resize longest=100 enlarge=no", SAMPLES / "chelsea.png", "b.npy")
        self.smp("diff", "a.npy", "b.npy")
        self.refused("--resize:1:1: error: stage 'resize' works on pictures, but its input is sound",
                     SAMPLES / "chirp.wav", "c.wav", "--resize", "1600", status=2)


    def test_stages(self):
        self.smp("convert", SAMPLES / "chelsea.png", "a.npy", "-e", "gray", "-e", "crop width=40 height=20", "--resize",
                 "50%")
        self.smp("run", "-e", "gray", "-e", "crop width=40 height=20", "-e", "resize 50%", SAMPLES / "chelsea.png",
                 "b.npy")
        self.smp("diff", "a.npy", "b.npy")
        self.refused("-e:1:1: error: unknown stage 'grya'", SAMPLES / "chelsea.png", "c.png", "-e", "grya", status=2)
        self.refused("a stage is written -e 'rotate 90' (smempipe stages rotate)", SAMPLES / "chelsea.png", "c.png",
                     "--rotate", "90", status=2)
        self.refused("a stage is written -e 'crop auto' (smempipe stages crop)", SAMPLES / "chelsea.png", "c.png",
                     "--autocrop", status=2)
        for words, says in ((("-resize", "50%"), "did you mean '--resize'?"), (("-flop",), "-e 'flip horizontal'"),
                            (("-extent", "9x9"), "-e 'pad'"), (("-crop", "9x9"), "(smempipe stages crop)")):
            self.refused(says, SAMPLES / "chelsea.png", "c.png", *words, status=2)
        self.smp("convert", SAMPLES / "chelsea.png", "d.npy", "-egray")


class Folders(BatchCase):
    def test_what_a_shells_star_names(self):
        self.pictures(["IMG_1.png", "IMG_2.png"])
        for name in ("IMG_1.MOV", "IMG_1.AAE", "notes.docx"):
            self.write(f"in/{name}", "x")
        names = sorted(f"in/{path.name}" for path in (self.folder / "in").iterdir())
        done = self.smp("convert", *names, "-o", "out", "--to", "bmp")
        self.assertEqual(list(self.outputs()), ["IMG_1.bmp", "IMG_2.bmp"])
        self.assertIn("2 files done, 3 passed over by their names (1 .aae, 1 .docx, 1 .mov)", done.stderr)
        done = self.smp("convert", "in/notes.docx", "in/IMG_1.AAE", "-o", "none", status=1)  # alone they are tried
        self.assertIn("2 of 2 files failed", done.stderr)

    def test_a_phone_folder(self):
        self.pictures(["IMG_1.PNG", "IMG_2.png", "more/IMG_3.png"])
        for name in ("IMG_1.MOV", "IMG_1.AAE", "IMG_2.mp4", "IMG_2.xmp", "IMG_2.json", "IMG_2.txt"):
            self.write(f"in/{name}", "x")
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "in")
        done = self.smp("convert", "in", "-o", "out", "--to", "bmp")
        self.assertEqual(list(self.outputs()), ["IMG_1.bmp", "IMG_2.bmp"])
        self.assertIn("2 files done, 7 passed over by their names (1 .aae, 1 .json, 1 .mov, 1 .mp4, 1 .txt, 1 .wav, "
                      "1 .xmp)", done.stderr)
        self.smp("diff", "in/IMG_2.png", "out/IMG_2.bmp")
        self.smp("convert", "in", "-r", "-o", "out", "--to", "bmp", "--resume")
        self.assertEqual(list(self.outputs()), ["IMG_1.bmp", "IMG_2.bmp", "more/IMG_3.bmp"])

    def test_files_that_are_only_read_go_by_their_kind(self):
        self.pictures(["a.png"])
        shutil.copy(ROOT / "tests/data/bare.mp3", self.folder / "in/b.mp3")
        self.smp("run", "-e", "resample 48kHz", SAMPLES / "chirp.wav", "in/c.opus")
        self.smp("convert", "in", "-o", "out")
        self.assertEqual(list(self.outputs()), ["a.png", "b.mp3", "c.opus"])
        done = self.smp("convert", "in", "-o", "pictures", "--to", "bmp")
        self.assertEqual(list(self.outputs("pictures")), ["a.bmp"])
        self.assertIn("2 passed over by their names (1 .mp3, 1 .opus)", done.stderr)

    def test_a_folder_does_not_hide_an_installed_pipeline(self):
        self.pictures(["a.png"])
        (self.folder / "web").mkdir()
        self.smp("run", "web", "in/a.png", "b.jpg")
        self.smp("batch", "web", "in", "-o", "out")
        self.assertEqual(list(self.outputs()), ["a.png"])

    def test_the_last_argument_may_be_the_folder(self):
        self.pictures(["a.png", "b.png"])
        self.smp("convert", "in", "out/")
        self.assertEqual(list(self.outputs()), ["a.png", "b.png"])
        (self.folder / "there").mkdir()
        self.smp("convert", "in/a.png", "in/b.png", "there")
        self.assertEqual(list(self.outputs("there")), ["a.png", "b.png"])
        self.smp("convert", "in/a.png", "one/")
        self.assertEqual(list(self.outputs("one")), ["a.png"])
        self.smp("convert", "in/a.png", "-o", "c.bmp")  # and -o the file
        self.smp("diff", "in/a.png", "c.bmp")
        self.smp("convert", "in", "-o", "c.bmp", status=2)

    def test_without_a_format_files_keep_theirs(self):
        self.pictures(["a.png", "b.png"])
        (self.folder / "in/b.png").rename(self.folder / "in/b.dat")
        cv2.imwrite(str(self.folder / "in/c.jpg"), numpy.zeros((5, 5, 3), numpy.uint8))
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "in")
        self.smp("convert", "in", "-o", "out")
        self.assertEqual(list(self.outputs()), ["a.png", "b.png", "c.jpg", "chirp.wav"])
        done = self.smp("convert", "in", "-o", "sounds", "--to", "flac", "--exclude", "b.dat")
        self.assertEqual(list(self.outputs("sounds")), ["chirp.flac"])
        self.assertIn("1 .jpg, 1 .png", done.stderr)

    def test_names_lists_and_dry_runs(self):
        self.pictures(["a.png", "b.png"])
        done = self.smp("convert", "in", "-o", "out", "--to", ".npy", "--name", "{stem}-x.{ext}", "--dry-run")
        self.assertEqual(done.stdout, "in/a.png -> out/a-x.npy\nin/b.png -> out/b-x.npy\n")
        self.assertFalse((self.folder / "out").exists())
        self.smp("convert", "--files-from", "-", "-o", "out", input="in/b.png\n")
        self.assertEqual(list(self.outputs()), ["b.png"])
        self.smp("convert", "--files-from", "-", status=2, input="in/b.png\n")
        self.smp("batch", "-e", "invert", "in", "-o", "more", "--to", "npy")
        self.assertEqual(list(self.outputs("more")), ["a.npy", "b.npy"])

    def test_a_bad_file_stops_nothing(self):
        self.pictures(["a.png"])
        self.write("in/b.png", b"\x89PNG\r\n\x1a\n")
        self.assertIn("1 of 2 files failed", self.smp("convert", "in", "-o", "out", status=1).stderr)
        self.assertEqual(list(self.outputs()), ["a.png"])


if __name__ == "__main__":
    unittest.main()
