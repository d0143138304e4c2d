"""The program gives up all but its inputs and outputs: what people do with links and folders works as before."""
import os
import shlex
import shutil
import subprocess
import unittest

from batch_case import BatchCase
from harness import PROGRAM, SAMPLES


class Jail(BatchCase):
    def test_devices_tell_what_confines(self):
        told = self.smp("devices", "-v").stdout
        self.assertRegex(told, r"^decoders are confined by: (no )?seccomp, (no Landlock|Landlock ABI \d+)\n")
        self.assertRegex(told, r"\nrun, batch and convert .* Landlock ABI \d+\n")
        self.assertNotIn("confined", self.smp("devices").stdout)

    def test_links_among_inputs_lead_where_they_led(self):
        self.pictures(["a.png"])
        self.pictures(["b.png", "deep/c.png"], "elsewhere")
        os.symlink("../elsewhere/b.png", self.folder / "in/b.png")
        os.symlink("elsewhere", self.folder / "way")
        self.batch("in", "-o", "out")
        self.assertEqual(list(self.outputs()), ["a.png", "b.png"])
        self.batch("way", "-r", "-o", "two")
        self.assertEqual(list(self.outputs("two")), ["b.png", "deep/c.png"])
        self.smp("convert", "in/b.png", "one.npy")
        self.smp("convert", "--files-from", "-", "-o", "three", input="in/a.png\nelsewhere/deep/c.png\nway/b.png\n")
        self.assertEqual(list(self.outputs("three")), ["a.png", "b.png", "c.png"])

    def test_links_among_outputs_lead_where_they_led(self):
        self.pictures(["a.png", "x/b.png"])
        for folder in ("out", "disk/x"):
            (self.folder / folder).mkdir(parents=True)
        os.symlink("../disk/x", self.folder / "out/x")
        self.batch("in", "-r", "-o", "out")
        self.assertTrue((self.folder / "disk/x/b.png").exists())
        self.smp("convert", "in/a.png", "disk/first.npy")
        os.symlink("disk/first.npy", self.folder / "link.npy")
        before = self.smp("convert", "--no-sandbox", "--force", "in/x/b.png", "link.npy")
        with_it = self.smp("convert", "--force", "in/x/b.png", "link.npy")
        self.assertEqual(before.stderr, with_it.stderr)
        self.smp("diff", "in/x/b.png", "link.npy")

    def test_all_that_a_run_names(self):
        self.pictures(["a.png"], "in")
        for folder in ("dark", "made", "notes", "pipes"):
            (self.folder / folder).mkdir()
        shutil.copy(self.folder / "in/a.png", self.folder / "dark/d.png")
        self.write("pipes/soft.pipe", "gaussian 1px\n")
        self.write("pipes/p.pipe", 'include "soft.pipe"\nsubtract by="../dark/d.png"\nsave "sub/half.png"\ninvert\n')
        (self.folder / "made/sub").mkdir()
        self.smp("run", "--allow-read", ".", "pipes/p.pipe", "in/a.png", "made/o.png", "--report=notes/r.json")
        self.assertEqual(sorted(p.name for p in (self.folder / "made").rglob("*.png")), ["half.png", "o.png"])
        self.assertTrue((self.folder / "notes/r.json").exists())
        (self.folder / "sub").mkdir()
        self.smp("run", "--allow-read", ".", "pipes/p.pipe", "in/a.png", "-", text=False)
        self.assertTrue((self.folder / "sub/half.png").exists())

    def test_files_here_beside_folders(self):
        self.pictures(["a.png"], "in")
        self.pictures(["b.png"], ".")
        self.pictures(["c.png"], "other")
        self.smp("batch", "-e", "invert", "in", "b.png", "other/c.png", "-o", "out")
        self.assertEqual(sorted(self.outputs()), ["a.png", "b.png", "c.png"])

    def test_pipes_and_devices(self):
        sound = (SAMPLES / "speech.flac").read_bytes()
        done = self.smp("run", "-e", "normalize", "-", "-", input=sound, text=False)
        self.smp("run", "-e", "normalize", SAMPLES / "speech.flac", "a.wav")
        self.assertEqual(done.stdout, (self.folder / "a.wav").read_bytes())
        rows = bytes(range(256)) * 12000  # beyond what is kept in memory, its first row at the bottom
        self.write("a.tga", bytes([0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 232, 3, 24, 0]) + rows[:1024 * 1000 * 3])
        done = subprocess.run(["bash", "-c", f"{shlex.quote(PROGRAM)} run -e invert <(cat a.tga) b.png"],
                              cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.smp("run", "-e", "invert", "a.tga", "c.png")
        self.smp("diff", "b.png", "c.png")

    def test_resume_goes_on_with_its_report(self):
        self.pictures([f"{i}.png" for i in range(5)])
        self.batch("in", "-o", "out", "--report", "r.jsonl")
        (self.folder / "out/3.png").unlink()
        done = self.batch("in", "-o", "out", "--report", "r.jsonl", "--resume")
        self.assertIn("1 file done, 4 done before", done.stderr)
        self.assertEqual(len(self.outputs()), 5)
        self.assertEqual(len(self.lines("r.jsonl")), 10)


if __name__ == "__main__":
    unittest.main()
