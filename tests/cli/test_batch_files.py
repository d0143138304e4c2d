"""smempipe batch: which files of a folder are taken, what their outputs are called, and what is refused before the
first byte is written."""
import os
import shutil
import unittest

from batch_case import BatchCase
from harness import SAMPLES


class Files(BatchCase):
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
        for name in ("IMG_1.CR2", "IMG_1.MOV", "IMG_1.AAE", "IMG_1.XMP", "IMG_2.mp4", "IMG_2.json", "IMG_2.thm",
                     "IMG_3.CR2", "IMG_3.MOV", "IMG_3.DNG"):
            self.write(f"in/{name}", "x")
        done = self.batch("in", "-o", "out", "--name", "{stem}.png")
        self.assertEqual(list(self.outputs()), ["IMG_1.png", "IMG_2.png"])
        self.assertIn(
            "2 files done, 10 passed over by their names (2 .cr2, 2 .mov, 1 .aae, 1 .dng, 1 .json, 1 .mp4, 1 .thm, "
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

    def test_pipes_and_sockets_in_a_folder_are_told(self):
        self.pictures(["a.png"])
        os.mkfifo(self.folder / "in/b.png")
        self.assertIn("smempipe: 1 passed over that is a pipe, a socket or a device\n",
                      self.batch("in", "-o", "out").stderr)
        self.assertIn("1 file done;", self.batch("in", "-o", "more", "--include", "a*").stderr)
        os.mkfifo(self.folder / "in/c.png")
        self.assertIn("2 passed over that are each a pipe", self.smp("measure", "-e", "stats", "in").stderr)
        self.assertIn("; 2 that are each a pipe, a socket or a device passed over",
                      self.smp("list", "in", "-o", "w.list").stderr)
        self.assertEqual(self.batch("in", "-o", "out", "--resume", "-q").stderr, "")

    def test_pipes_given_by_name_are_read_once(self):
        self.pictures(["a.png", "b.png"])
        self.batch("in", "-o", "want")
        for name in ("a", "b"):
            self.feed(name, f"in/{name}.png")
        self.batch("a", "b", "-o", "out", "--to", "png", timeout=20)
        self.assertEqual(self.outputs(), self.outputs("want"))

    def test_a_pipe_that_would_be_read_twice_is_told(self):
        self.pictures(["a.png"])
        self.feed("a", "in/a.png")
        done = self.smp("run", "-e", "deskew", "a", "out.png", status=3, timeout=20)
        self.assertIn("a: error: is a pipe, which can be read once, and this command reads it twice\n"
                      "  = hint: keep its bytes in a file, and give that: cat a > FILE\n", done.stderr)
        self.assertNotIn("out.png", self.files())

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
                           ("../{name}", "is not a name"), ("/{name}", "is not a name"), ("{stem", "is not a field")):
            done = self.batch("in", "-o", "out", "--name", name, status=2)
            self.assertIn(said, done.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_a_link_to_nothing_is_a_file_that_cannot_be_read(self):
        self.pictures(["a.png"])
        (self.folder / "in/lost.png").symlink_to("nowhere.png")
        done = self.batch("in", "-o", "out", status=1)
        self.assertIn("in/lost.png", done.stderr)
        self.assertEqual(set(self.outputs()), {"a.png"})

    def test_sounds_that_cannot_be_written_as_they_came_become_wav(self):
        (self.folder / "in").mkdir()
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "in/call.wma")
        for stages in (("-e", "gain -3dB"), ("-e", "kind audio")):
            done = self.smp("batch", *stages, "in", "-o", "out", "--dry-run")
            self.assertEqual(done.stdout, "in/call.wma -> out/call.wav\n")

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
        self.assertIn(".xyz", self.batch("in", "-o", "out", "--name", "{stem}.xyz", status=2).stderr)
        name = "x" * 260 + "{stem}.png"
        done = self.batch("in", "-o", "out", "--dry-run", "--name", name, status=1)
        self.assertIn("2 of 2 files failed", done.stderr)
        self.assertIn("File name too long", done.stderr)
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
        self.refused("is given twice", "in/a.png", "in/a.png", "-o", "out", status=2)

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

if __name__ == "__main__":
    unittest.main()
