"""Files that take the place of themselves: --in-place, --backup."""
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

import numpy as np
from PIL import Image

from harness import FULL, PROGRAM, SAMPLES, CliCase


def marks(folder):
    """Whether the file system keeps extended attributes of users."""
    path = folder / "mark"
    path.write_bytes(b"")
    try:
        os.setxattr(path, "user.smempipe.test", b"1")
    except OSError:
        return False
    finally:
        path.unlink()
    return True


class InPlace(CliCase):
    def setUp(self):
        super().setUp()
        if not marks(self.folder):
            self.skipTest("no extended attributes here")
        (self.folder / "in").mkdir()

    def png(self, name, value=3, size=(40, 30)):
        pixels = np.random.default_rng(value).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
        Image.fromarray(pixels).save(self.folder / "in" / name)
        return self.folder / "in" / name

    def size(self, path):
        with Image.open(path) as image:
            return image.size

    def change(self, *words, status=0):
        return self.smp("convert", *words, "--in-place", "-e", "resize 50%", status=status).stderr

    def test_the_same_command_does_a_file_once_and_another_command_again(self):
        path = self.png("a.png")
        self.assertIn("1 file done", self.change("in"))
        self.assertIn("0 files done, 1 as this command left them before", self.change("in"))
        self.assertEqual(self.size(path), (20, 15))
        self.assertIn("1 file done", self.smp("convert", "in", "--in-place", "-e", "invert").stderr)
        self.assertIn("1 file done", self.change("in"))  # what the mark said is of the work before
        self.assertEqual(self.size(path), (10, 8))
        self.assertIn("1 file done", self.change("in", "-f"))
        path.write_bytes(self.png("b.png").read_bytes())  # the same file, other bytes: its mark holds no more
        self.assertIn("2 files done", self.change("in"))
        self.assertEqual({self.size(path), self.size(self.folder / "in/b.png")}, {(20, 15)})

    def test_the_samples_are_those_that_convert_writes(self):
        path = self.png("a.png")
        self.smp("convert", path, "out.png", "-e", "resize 50%")
        self.change(path)
        self.assertEqual(path.read_bytes(), (self.folder / "out.png").read_bytes())

    def test_permissions_and_attributes_stay(self):
        path = self.png("a.png")
        path.chmod(0o640)
        os.setxattr(path, "user.note", b"mine")
        self.change(path)
        self.assertEqual(path.stat().st_mode & 0o7777, 0o640)
        self.assertEqual(os.getxattr(path, "user.note"), b"mine")

    def test_a_link_leads_to_the_file_that_is_replaced_and_stays_one(self):
        path, link = self.png("a.png"), self.folder / "link.png"
        link.symlink_to("in/a.png")
        self.assertIn("1 file done, 2 listed twice", self.change(link, path, "in/../in/a.png"))
        self.assertTrue(link.is_symlink())
        self.assertEqual(self.size(path), (20, 15))

    def test_another_name_keeps_what_was_there(self):
        path, other = self.png("a.png"), self.folder / "other.png"
        os.link(path, other)
        self.assertIn("1 file has other names (hard links), which keep what was there", self.change(path))
        self.assertEqual((self.size(path), self.size(other)), ((20, 15), (40, 30)))

    def test_a_backup_is_never_replaced(self):
        path = self.png("a.png")
        before, kept = path.read_bytes(), self.folder / "in/a.png.orig"
        self.change("in", "--backup", ".orig")
        self.assertEqual(kept.read_bytes(), before)
        small = path.read_bytes()
        words = ("convert", "in", "--in-place", "--backup", ".orig", "-e", "invert")
        told, dry = self.smp(*words, status=1).stderr, self.smp(*words, "-n", status=1).stderr
        self.assertIn("  in/a.png: the backup ", told)  # its name once
        self.assertTrue(told.startswith(dry), dry)
        self.assertIn("a.png.orig is there already", told)
        self.assertIn("hint: move it away, or write another --backup", told)
        self.assertIn("1 backup passed over", told)
        self.assertEqual((kept.read_bytes(), path.read_bytes()), (before, small))
        path.unlink()
        os.link(kept, path)  # as a run leaves it that was killed between the backup and the new file
        self.change(path, "--backup", ".orig")
        self.assertEqual((kept.read_bytes(), path.read_bytes()), (before, small))

    def test_what_would_be_lost_is_left_and_told(self):
        frames = [Image.new("RGB", (20, 20), (40 * i, 0, 0)) for i in range(3)]
        frames[0].save(self.folder / "in/pages.tif", save_all=True, append_images=frames[1:])
        frames[0].save(self.folder / "in/moving.webp", save_all=True, append_images=frames[1:])
        frames[0].save(self.folder / "in/moving.gif", save_all=True, append_images=frames[1:])
        frames[0].save(self.folder / "in/moving.png", save_all=True, append_images=frames[1:])
        self.png("a.png").rename(self.folder / "in/a.png.orig")
        shutil.copy(SAMPLES / "page.jpg", self.folder / "in/photo.heic")
        shutil.copy(self.png("a.png"), self.folder / "in/wrong.jpg")
        self.png("locked.png").chmod(0o444)
        (self.folder / "in/cut.png").write_bytes(self.png("a.png").read_bytes()[:900])
        (self.folder / "in/a.png").unlink()
        before = {name: (self.folder / name).read_bytes() for name in self.files()}
        told = self.change("in", status=1)
        dry = self.smp("convert", "in", "--in-place", "-e", "resize 50%", "-n", status=1)
        self.assertIn("in/cut.png would be replaced\n", dry.stdout)  # damage behind the header shows in a run alone
        self.assertEqual([line for line in told.splitlines() if line.startswith("  in/") and "cut.png" not in line],
                         [line for line in dry.stderr.splitlines() if line.startswith("  in/")])
        self.assertIn("1 file would be replaced, 0 done before", dry.stdout)
        for said in ("pages.tif: it holds several pictures, and one would be left",
                     "moving.webp: it holds several", "moving.png: it holds several",
                     "moving.gif: it holds several", "wrong.jpg: its content is PNG, and by its name",
                     "locked.png: is read-only", "cut.png: "):
            self.assertIn(said, told)
        self.assertEqual({name: (self.folder / name).read_bytes() for name in self.files()}, before)
        self.assertIn("1 file done", self.change("in/pages.tif", "--backup", ".orig"))

    def test_two_runs_at_once_do_no_file_twice(self):
        for i in range(30):
            self.png(f"{i}.png", i, (200, 150))
        command = [PROGRAM, "convert", "in", "--in-place", "-e", "resize 50%", "-q"]
        runs = [subprocess.Popen(command, cwd=self.folder, stderr=subprocess.DEVNULL) for _ in range(3)]
        self.assertEqual([run.wait() for run in runs], [0, 0, 0])
        self.assertEqual({self.size(path) for path in (self.folder / "in").iterdir()}, {(100, 75)})

    def test_a_loss_of_each_coding_is_told(self):
        shutil.copy(SAMPLES / "page.jpg", self.folder / "in/a.jpg")
        self.assertIn("1 file is of a format that loses a little each time", self.change("in"))
        self.assertNotIn("loses", self.smp("convert", "in", "--in-place", "--strip").stderr)  # its scan is copied
        turned = Image.Exif()
        turned[0x0112] = 6
        Image.new("RGB", (40, 30)).save(self.folder / "in/a.jpg", exif=turned)  # this one's cannot be
        self.assertIn("1 file is of a format that loses a little each time",
                      self.smp("convert", "in", "--in-place", "--tag", "title=x").stderr)

    def test_options_that_make_no_sense_beside_it_are_refused(self):
        self.png("a.png")
        for words, said in ((("-o", "out"), "--in-place and -o exclude each other"),
                            (("--to", "jpg"), "a file keeps its format"), (("--resume",), "does what is left"),
                            (("--backup", "x/y"), "is nothing to put behind a name"),
                            (("--backup", ".PNG"), "another run would take the backups for files to work on"),
                            (("--backup", ".orig.wav"), "write --backup .orig")):
            self.assertIn(said, self.change("in", *words, status=2))
        self.assertIn("write smempipe convert IN... --in-place", self.smp("mogrify", "in/a.png", status=2).stderr)
        self.assertIn("--in-place replaces IN", self.smp("convert", "in/a.png", "in/a.png", "-f", "--strip",
                                                         status=4).stderr)
        self.assertIn("write --in-place --backup .o", self.smp("convert", "in", "-o", "x", "--backup", ".o",
                                                               status=2).stderr)
        self.assertIn("1 file would be replaced", self.smp("convert", "in", "--in-place", "-n").stdout)

    def test_after_any_kill_each_file_is_the_old_one_or_the_new_one(self):
        kills = 100 if FULL else 12
        rng = random.Random(5)
        old = {f"{i}.png": self.png(f"{i}.png", i, (200, 150)).read_bytes() for i in range(24)}
        self.smp("convert", "in", "-o", "new", "-e", "resize 50%")
        new = {name: (self.folder / "new" / name).read_bytes() for name in old}
        command = [PROGRAM, "convert", "in", "--in-place", "--backup", ".orig", "-e", "resize 50%", "-q"]
        began = time.monotonic()
        subprocess.run(command, cwd=self.folder, check=True)
        whole = time.monotonic() - began
        mixed = 0
        for kill in range(kills):
            for path in (self.folder / "in").iterdir():
                path.unlink()
            for name, data in old.items():
                (self.folder / "in" / name).write_bytes(data)
            process = subprocess.Popen(command, cwd=self.folder, start_new_session=True)
            time.sleep(rng.random() * whole * 1.1)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            done = {name for name in old if (self.folder / "in" / name).read_bytes() == new[name]}
            mixed += 0 < len(done) < len(old)
            for name in old:
                if name not in done:
                    self.assertEqual((self.folder / "in" / name).read_bytes(), old[name], f"kill {kill}: {name}")
                kept = self.folder / "in" / (name + ".orig")
                if name in done or kept.exists():
                    self.assertEqual(kept.read_bytes(), old[name], f"kill {kill}: {name}")
            subprocess.run(command, cwd=self.folder, check=True)  # does the rest, and nothing twice
            for name in old:
                self.assertEqual((self.folder / "in" / name).read_bytes(), new[name], f"kill {kill}: {name}")
            self.assertEqual(len(os.listdir(self.folder / "in")), 2 * len(old), "nothing else is left")
        self.assertGreater(mixed, 0, "no kill came in the middle")


if __name__ == "__main__":
    unittest.main()
