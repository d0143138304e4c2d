"""What happens to files: nothing is lost, nothing half-written is left, and refusals say why."""
import os
import pathlib
import resource
import signal
import subprocess
import unittest

from harness import PIPELINES, PROGRAM, SAMPLES, CliCase, png_bytes, png_chunks, png_header

BLUR = PIPELINES / "blur.pipe"


class Files(CliCase):
    def test_blurs_a_png(self):
        self.smp("run", BLUR, SAMPLES / "chelsea.png", "out.png")
        kinds = [kind for kind, _ in png_chunks((self.folder / "out.png").read_bytes())]
        self.assertEqual(kinds[0], b"IHDR")
        self.assertNotIn(b"tIME", kinds)
        self.assertEqual(self.files(), ["out.png"])

    def test_input_is_never_the_output(self):
        before = self.small_png("p.png").read_bytes()
        os.link(self.folder / "p.png", self.folder / "hard.png")
        os.symlink("p.png", self.folder / "soft.png")
        (self.folder / "d").mkdir()
        for output in ("p.png", "./p.png", "d/../p.png", "hard.png", "soft.png"):
            for force in ((), ("--force",)):
                done = self.smp("run", BLUR, "p.png", output, *force, status=(2, 4))
                self.assertIn("p.png", done.stderr)
                self.assertEqual((self.folder / "p.png").read_bytes(), before, f"{output} {force}")
        self.assertEqual(self.files(), ["hard.png", "p.png", "soft.png"])

    def test_existing_output_needs_force(self):
        self.small_png()
        self.write("out.png", "precious")
        done = self.smp("run", BLUR, "in.png", "out.png", status=(2, 4))
        self.assertIn("--force", done.stderr)
        self.assertEqual((self.folder / "out.png").read_text(), "precious")
        self.smp("run", BLUR, "in.png", "out.png", "--force")
        png_chunks((self.folder / "out.png").read_bytes())
        self.assertEqual(self.files(), ["in.png", "out.png"])

    def test_refusal_comes_before_the_work(self):
        self.write("in.png", png_header(30, 20))  # cannot be decoded: an attempt would exit 3
        self.write("out.png", "precious")
        self.smp("run", BLUR, "in.png", "out.png", status=(2, 3, 4))
        self.assertEqual((self.folder / "out.png").read_text(), "precious")

    def test_truncated_png_exits_3_and_leaves_nothing(self):
        whole = (SAMPLES / "chelsea.png").read_bytes()
        for length in (0, 1, 7, 8, 20, 33, 41, 100, len(whole) // 2, len(whole) - 13, len(whole) - 12, len(whole) - 1):
            self.write("cut.png", whole[:length])
            done = self.smp("run", BLUR, "cut.png", "out.png", status=3)
            self.assertIn("cut.png", done.stderr, f"cut to {length} bytes")
            self.assertEqual(self.files(), ["cut.png"], f"cut to {length} bytes")

    def test_truncated_jpeg_exits_3_and_leaves_nothing(self):
        whole = (SAMPLES / "rocket.jpg").read_bytes()
        for length in (2, 100, 2000, len(whole) // 2, len(whole) - 1000):
            self.write("cut.jpg", whole[:length])
            self.smp("run", BLUR, "cut.jpg", "out.png", status=3)
            self.assertEqual(self.files(), ["cut.jpg"], f"cut to {length} bytes")

    def test_damaged_png_exits_3_and_leaves_nothing(self):
        whole = bytearray((SAMPLES / "camera.png").read_bytes())
        for at in (18, 60, len(whole) // 3, len(whole) // 2, len(whole) - 30):
            damaged = bytearray(whole)
            damaged[at] ^= 0x55
            self.write("bad.png", bytes(damaged))
            self.smp("run", BLUR, "bad.png", "out.png", status=(3, 6))
            self.assertEqual(self.files(), ["bad.png"], f"byte {at}")

    def test_a_failure_keeps_what_was_there(self):
        whole = (SAMPLES / "chelsea.png").read_bytes()
        self.write("cut.png", whole[: len(whole) * 3 // 4])
        self.write("out.png", "precious")
        self.smp("run", BLUR, "cut.png", "out.png", "--force", status=3)
        self.assertEqual((self.folder / "out.png").read_text(), "precious")
        self.assertEqual(self.files(), ["cut.png", "out.png"])

    def test_what_is_no_picture_exits_3(self):
        self.write("text.png", "this is no picture\n" * 100)
        (self.folder / "folder.png").mkdir()
        for name in ("text.png", "folder.png", "missing.png"):
            done = self.smp("run", BLUR, name, "out.png", status=3)
            self.assertIn(name, done.stderr)
            self.assertFalse((self.folder / "out.png").exists())

    def test_places_that_cannot_be_written_exit_4(self):
        self.small_png()
        self.write("file", "")
        for output in ("no/such/folder/out.png", "file/out.png"):
            self.smp("run", BLUR, "in.png", output, status=4)
        (self.folder / "taken.png").mkdir()
        self.smp("run", BLUR, "in.png", "taken.png", "--force", status=(2, 4))
        self.assertTrue((self.folder / "taken.png").is_dir())
        self.assertEqual(self.files(), ["file", "in.png"])

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_folder_without_permission_exits_4(self):
        self.small_png()
        locked = self.folder / "locked"
        locked.mkdir()
        locked.chmod(0o555)
        self.smp("run", BLUR, "in.png", "locked/out.png", status=4)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become somebody else")
    def test_folder_without_permission_exits_4_for_nobody(self):
        self.small_png()
        self.smp("run", "-e", "invert", "in.png", "out.png", status=4, preexec_fn=self.nobody())
        self.assertEqual(self.files(), ["in.png"])

    def test_a_locked_folder_in_a_folder_stops_no_other(self):
        nobody, words = self.nobody() if os.geteuid() == 0 else None, ("in", "-r", "--to", "npy", "-o")
        for folder in ("in/locked", "in/locked.d", "in/z", "out"):
            (self.folder / folder).mkdir(parents=True)
            (self.folder / folder).chmod(0o777)
        for name in ("in/a.png", "in/locked.png", "in/z/b.png"):
            self.small_png(name)
        (self.folder / "in/locked").chmod(0)
        try:
            dry = self.smp("convert", *words, "dry", "-n", status=1, preexec_fn=nobody).stderr
            done = self.smp("convert", *words, "out", status=1, preexec_fn=nobody).stderr
            rows = self.smp("measure", "-e", "stats", "in", "-r", "--csv", status=1, preexec_fn=nobody)
            place = self.smp("convert", "in/z", "in", "-r", "--in-place", "--strip", status=1, preexec_fn=nobody).stderr
            alone = self.smp("convert", "in/locked", "-o", "out", status=3, preexec_fn=nobody).stderr
        finally:
            (self.folder / "in/locked").chmod(0o777)
        for told in (dry, done, rows.stderr, place):
            self.assertIn("  in/locked/: cannot open: Permission denied\n", told)
        self.assertIn("3 files done, 1 failed", done)
        self.assertEqual(len(rows.stdout.splitlines()), 4)
        self.assertIn("in/locked: error: cannot read the folder: Permission denied", alone)

    def nobody(self):
        """What a process of root's calls to become somebody who may read here."""
        def become():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        if not self.reachable_by_others(PROGRAM):
            self.skipTest("the build folder is private to root")
        self.folder.chmod(0o755)
        return become

    @staticmethod
    def reachable_by_others(path):
        path = pathlib.Path(path).resolve()
        return path.stat().st_mode & 0o005 == 0o005 and all(p.stat().st_mode & 0o001 for p in path.parents)

    def test_unknown_extension_is_refused(self):
        self.small_png()
        for output in ("out.xyz", "out"):
            done = self.smp("run", BLUR, "in.png", output, status=(2, 4))
            self.assertIn("png", done.stderr.lower().replace("in.png", ""))
        self.assertEqual(self.files(), ["in.png"])

    def test_full_disk_exits_4_and_leaves_nothing(self):
        def small_files_only():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))

        self.write("out.png", "precious")
        for output, force in (("new.png", ()), ("new.npy", ()), ("new.jpg", ()), ("out.png", ("--force",))):
            self.smp("run",
                     "-e",
                     "invert",
                     SAMPLES / "chelsea.png",
                     output,
                     *force,
                     status=4,
                     preexec_fn=small_files_only)
            self.assertEqual(self.files(), ["out.png"], output)
        self.assertEqual((self.folder / "out.png").read_text(), "precious")

    def test_full_file_system_exits_4(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk],
                                                       capture_output=True).returncode == 0
        if not mounted:
            self.skipTest("cannot mount a small tmpfs here")
        try:
            self.smp("run", BLUR, SAMPLES / "chelsea.png", "disk/out.png", status=4)
            self.assertEqual(list(disk.iterdir()), [])
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_standard_output_that_is_full_exits_4(self):
        with open("/dev/full", "wb") as full:
            self.smp("run", BLUR, SAMPLES / "chelsea.png", "-", status=4, stdout=full)

    def test_standard_output_that_nobody_reads(self):
        process = self.begin("run", BLUR, SAMPLES / "chelsea.png", "-", stdout=subprocess.PIPE, text=False)
        process.stdout.read(100)
        process.stdout.close()
        _, code = process.stderr.read(), process.wait(timeout=60)
        process.stderr.close()
        self.assertEqual(code, 4)

    def test_pictures_through_pipes(self):
        data = (SAMPLES / "chelsea.png").read_bytes()
        piped = self.smp("run", BLUR, "-", "-", input=data, text=False).stdout
        self.smp("run", BLUR, SAMPLES / "chelsea.png", "out.png", "--strip")
        self.smp("run", BLUR, SAMPLES / "chelsea.png", "kept.png")
        self.write("piped.png", piped)
        self.assertEqual(piped, (self.folder / "kept.png").read_bytes())
        self.smp("diff", "piped.png", "out.png")

    def test_jpeg_through_a_pipe(self):
        piped = self.smp("run", BLUR, "-", "-", input=(SAMPLES / "page.jpg").read_bytes(), text=False).stdout
        self.smp("run", BLUR, SAMPLES / "page.jpg", "out.png")
        self.assertEqual(piped, (self.folder / "out.png").read_bytes())

    def test_no_picture_on_a_terminal(self):
        master, slave = os.openpty()
        try:
            self.smp("run", BLUR, SAMPLES / "chelsea.png", "-", status=(2, 4), stdout=slave)
        finally:
            os.close(slave)
            os.close(master)

    def test_odd_names_are_just_bytes(self):
        source = self.small_png().read_bytes()
        for name in ("100%d.png", "a[1-3]*.png", "-dash.png", "new\nline.png", "täst.png",
                     os.fsdecode(b"latin\xe9.png"), " .png", "x" * 250 + ".png"):
            self.write(name, source)
            output = "o" + name[-200:]
            self.smp("run", "-e", "invert", "--", name, output)
            png_chunks((self.folder / output).read_bytes())

    def test_same_bytes_twice(self):
        for extension in ("png", "npy", "jpg", "bmp"):
            for i in (1, 2):
                self.smp("run", BLUR, SAMPLES / "chelsea.png", f"{i}.{extension}", "--threads", str(i))
            self.assertEqual((self.folder / f"1.{extension}").read_bytes(),
                             (self.folder / f"2.{extension}").read_bytes(), extension)

    def test_limits_refuse_from_the_header(self):
        self.write("bomb.png", png_header(30000, 30000, 1, 0) + png_bytes([b"\0"], 1, 1, 0)[33:])
        done = self.smp("run", BLUR, "bomb.png", "out.png", "--max-pixels", "1000000", status=6)
        self.assertIn("--max-pixels", done.stderr)
        self.assertEqual(self.files(), ["bomb.png"])
        self.write("huge.png", png_header(0x7FFFFFFF, 0x7FFFFFFF) + png_bytes([b"\0\0\0"], 1)[33:])
        self.smp("run", BLUR, "huge.png", "out.png", status=6)
        # A whole-picture stage has to hold the frame; the limit on memory is known before it is allocated.
        self.smp("run", "-e", "transpose", SAMPLES / "chelsea.png", "out.png", "--max-memory", "100000", status=6)
        self.assertEqual(self.files(), ["bomb.png", "huge.png"])

    def test_what_a_stage_would_make_too_large_is_refused(self):
        for stage, source, what in (("resize width=1000000", "camera.png", "1000000 x 1000000 pixels"),
                                    ("pad start=1000000s", "chirp.wav", "frames")):
            done = self.smp("run", "-e", stage, SAMPLES / source, "out.npy", status=6)
            self.assertIn(what, done.stderr)
            self.assertIn("--max-pixels", done.stderr)
            self.assertFalse((self.folder / "out.npy").exists())

    def test_save_stays_inside_the_output_folder(self):
        self.small_png()
        (self.folder / "results").mkdir()
        for path in ("../escaped.png", "/tmp/smempipe-escaped.png", "a/../../escaped.png"):
            self.write("s.pipe", f'invert\nsave "{path}"\n')
            done = self.smp("run", "s.pipe", "in.png", "results/out.png", status=(2, 4))
            self.assertIn("escaped", done.stderr)
        self.assertEqual(self.files(), ["in.png", "s.pipe"])
        self.assertFalse(pathlib.Path("/tmp/smempipe-escaped.png").exists())
        self.write("s.pipe", 'invert\nsave "inverted.png"\ngaussian 2px\n')
        self.smp("run", "s.pipe", "in.png", "results/out.png")
        self.assertEqual(self.files(), ["in.png", "results/inverted.png", "results/out.png", "s.pipe"])

    def test_two_outputs_are_two_files_however_they_are_written(self):
        self.small_png()
        for path in ("out.png", "./out.png", "./a/../out.png"):
            (self.folder / "a").mkdir(exist_ok=True)
            self.write("s.pipe", f'invert\nsave "{path}"\ninvert\n')
            done = self.smp("run", "s.pipe", "in.png", "out.png", status=2)
            self.assertIn("out.png", done.stderr)
            self.assertEqual(self.files(), ["in.png", "s.pipe"])

    def test_saves_are_all_or_nothing(self):
        whole = (SAMPLES / "chelsea.png").read_bytes()
        self.write("cut.png", whole[: len(whole) // 2])
        self.write("s.pipe", 'invert\nsave "a.png"\ngaussian 2px\nsave "b.npy"\nsobel\n')
        self.smp("run", "s.pipe", "cut.png", "out.png", status=3)
        self.assertEqual(self.files(), ["cut.png", "s.pipe"])


class KeptByForce(CliCase):
    """--force replaces what a command makes, and no file that it reads or that is something else."""

    def setUp(self):
        super().setUp()
        (self.folder / "in").mkdir()
        for name in ("a.png", "b.png"):
            self.small_png("in/" + name)
        self.before = {path.name: path.read_bytes() for path in (self.folder / "in").iterdir()}

    def refused(self, *arguments, says):
        self.assertIn(says, self.smp(*arguments, "-f", status=4).stderr)
        self.assertEqual({path.name: path.read_bytes() for path in (self.folder / "in").iterdir()}, self.before)

    def test_a_contact_sheet_replaces_no_picture_of_its_folder(self):
        self.refused("montage", "in", "-o", "in/b.png", says="lies among the inputs")

    def test_a_page_of_measures_replaces_no_picture(self):
        self.refused("measure", "-e", "stats", "in", "--html", "in/a.png", says="which this run uses")
        for force in ((), ("-f",)):
            self.smp("measure", "-e", "stats", "in", "--html", "page.html", *force)

    def test_a_list_replaces_no_picture(self):
        self.refused("list", "in", "-o", "in/a.png", says="is not a list")
        for force in ((), ("-f",)):
            self.smp("list", "in", "-o", "work.list", *force)


if __name__ == "__main__":
    unittest.main()
