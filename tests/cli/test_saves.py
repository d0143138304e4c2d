"""What files are called: folders that a pipeline saves into, paths in CSV, sound that became an array."""
import csv
import io
import os
import threading
import unittest

import numpy as np

from harness import CliCase


class Saves(CliCase):
    def test_many_files_are_made_safe_together(self):
        self.small_png()
        saves = [word for i in range(30) for word in ("-e", f'save "{"ab"[i % 2]}/{i}.png"')]
        self.smp("run", "-e", "gray", *saves, "in.png", "out.png")
        whole = (self.folder / "out.png").read_bytes()
        for i in range(30):
            self.assertEqual((self.folder / f"{'ab'[i % 2]}/{i}.png").read_bytes(), whole)
        self.assertEqual(len(self.files()), 32)

    def test_folders_are_made_for_what_is_saved(self):
        self.small_png()
        stages = ("-e", "invert", "-e", 'save "sub/deep/x.npy"')
        plan = self.smp("batch", *stages, "in.png", "-o", "out", "-n").stdout
        self.assertIn("in.png -> out/in.png\n", plan)
        self.assertEqual(self.files(), ["in.png"])
        self.smp("batch", *stages, "in.png", "-o", "out")
        self.assertTrue((self.folder / "out" / "sub" / "deep" / "in-x.npy").exists())
        self.smp("run", *stages, "in.png", "o.png")
        self.assertTrue((self.folder / "sub" / "deep" / "x.npy").exists())

    def test_a_run_that_fails_leaves_no_folder(self):
        self.small_png()
        whole = (self.folder / "in.png").read_bytes()
        self.write("cut.png", whole[:-30])
        (self.folder / "there").mkdir()
        saves = ("-e", 'save "a/b/c.png"', "-e", 'save "a/d.png"', "-e", 'save "there/e/f.png"', "-e", "invert")
        refused = (*saves, "-e", 'save "in.png"', "in.png", "o.png")
        for words in (refused, (*refused, "-f"), ("--frames", *refused), (*saves, "cut.png", "o.png")):
            self.smp("run", *words, status=(2, 3, 4))
            self.assertEqual(sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*")),
                             ["cut.png", "in.png", "there"], words)
        self.smp("run", *saves, "in.png", "o.png")
        self.assertEqual((self.folder / "a/b/c.png").read_bytes(), (self.folder / "there/e/f.png").read_bytes())

    def test_what_a_save_replaces_is_told(self):
        self.small_png()
        (self.folder / "precious.png").write_bytes(b"mine")
        words = ("-e", "invert", "-e", 'save "precious.png"', "in.png")
        self.smp("run", *words, "o.png", status=4)
        self.assertEqual((self.folder / "precious.png").read_bytes(), b"mine")
        self.assertEqual(self.smp("run", *words, "o.png", "-f").stderr,
                         'smempipe: warning: o.png: `save "precious.png"` replaces a file that was there\n')
        self.assertEqual(self.smp("batch", *words, "-o", "out", "-f", "-q").stderr, "")
        self.assertIn('out/in.png: `save "precious.png"` replaces a file that was there\n',
                      self.smp("batch", *words, "-o", "out", "-f").stderr)

    def test_what_is_saved_waits_for_no_reader_of_a_pipe(self):
        self.small_png()
        os.mkfifo(self.folder / "x.npy")
        done = self.smp("run", "-e", "invert", "-e", 'save "x.npy"', "in.png", "o.png", "--force", status=4, timeout=20)
        self.assertIn("is a device or a pipe", done.stderr)

    def test_no_folder_is_made_through_a_link(self):
        self.small_png()
        (self.folder / "out").mkdir()
        (self.folder / "elsewhere").mkdir()
        os.symlink(self.folder / "elsewhere", self.folder / "out" / "sub")
        stages = ("-e", "invert", "-e", 'save "sub/deep/x.npy"')
        self.assertIn("leads out", self.smp("run", *stages, "in.png", "out/o.png", status=4).stderr)
        self.assertIn("leads out", self.smp("batch", *stages, "in.png", "-o", "out", status=1).stderr)
        self.assertEqual(list((self.folder / "elsewhere").iterdir()), [])

    def test_links_that_are_swapped_meanwhile_lead_nowhere(self):
        self.small_png("in.png")
        (self.folder / "out/real").mkdir(parents=True)
        (self.folder / "elsewhere").mkdir()
        ends = threading.Event()
        link, fresh = self.folder / "out/sub", self.folder / "out/fresh"
        os.symlink("real", link)  # before a run makes a folder of that name

        def swap():
            while not ends.is_set():
                for to in ("real", "../elsewhere"):
                    os.symlink(to, fresh)
                    os.rename(fresh, link)

        thread = threading.Thread(target=swap)
        thread.start()
        try:
            stages = ("-e", "invert", "-e", 'save "sub/x.npy"')
            done = [self.smp("run", "-f", "--no-sandbox", *stages, "in.png", "out/o.png", status=(0, 4)).returncode
                    for _ in range(60)]
        finally:
            ends.set()
            thread.join()
        self.assertIn(0, done)
        self.assertEqual(list((self.folder / "elsewhere").iterdir()), [])
        self.assertEqual([p.name for p in (self.folder / "out/real").iterdir()], ["x.npy"])

    def test_numbered_names_follow_no_link_out(self):
        self.write("in.y4m", b"YUV4MPEG2 W4 H4 F1:1 Cmono\n" + (b"FRAME\n" + bytes(range(16))) * 2)
        (self.folder / "out").mkdir()
        self.write("mine.pgm", "mine")
        os.symlink("../mine.pgm", self.folder / "out/f-2.pgm")
        stages = ("-e", 'save "f-%d.pgm"', "-e", "invert")
        told = self.smp("run", "-f", "--no-sandbox", "--frames", *stages, "in.y4m", "out/o-%d.png", status=4).stderr
        self.assertIn("is a link, which 'save' does not follow", told)
        self.assertEqual((self.folder / "mine.pgm").read_text(), "mine")

    def test_csv_keeps_paths(self):
        names = [b"a\nb.png", b"c\x1b[1md.png", b'e"f,g.png', b"h\xff.png"]
        self.small_png()
        (self.folder / "in").mkdir()
        for name in names:
            with open(os.path.join(os.fsencode(self.folder), b"in", name), "wb") as file:
                file.write((self.folder / "in.png").read_bytes())
        for long in ([], ["--long"]):
            got = self.smp("measure", "-e", "stats", "in", "--csv", *long, text=False).stdout
            rows = list(csv.DictReader(io.StringIO(got.decode("latin-1"), newline="")))
            paths = {row[next(iter(row))].encode("latin-1") for row in rows}
            self.assertTrue({b"in/" + name for name in names} <= paths, paths)

    def test_an_array_that_may_be_a_sound(self):
        sound = np.sin(np.arange(4000) / 9).astype("<f4").reshape(-1, 2)
        np.save(self.folder / "s.npy", sound)
        note = self.smp("run", "-e", "stats", "s.npy", "o.npy").stderr
        self.assertIn("as a sound by --raw f32lex2:RATE@128", note)
        self.smp("run", "-e", "reverse", "--raw", "f32lex2:8000@128", "s.npy", "r.npy")
        self.assertTrue(np.array_equal(np.load(self.folder / "r.npy"), sound[::-1]))
        np.save(self.folder / "p.npy", np.zeros((2000, 9), "<f4"))
        self.assertEqual(self.smp("run", "-e", "stats", "p.npy", "q.npy").stderr, "")


if __name__ == "__main__":
    unittest.main()
