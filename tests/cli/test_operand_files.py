"""Second pictures that come from files: where paths start, what is checked, what is said, what is never overwritten."""
import os
import unittest

from harness import CliCase, png_bytes, png_header

PLUS = "add by=\"dark.png\"\n"


class OperandFiles(CliCase):
    def gray(self, name, value, width=6, height=4):
        return self.write(name, png_bytes([bytes([value]) * width for _ in range(height)], width, color=0))

    def value(self, name):
        done = self.smp("run", "-q", "-e", "stats", name, "x.pgm", "--force", "--report=-")
        self.assertIn('"mean"', done.stdout)
        return (self.folder / "x.pgm").read_bytes()[-1]

    def test_a_file_serves_where_a_result_does(self):
        self.gray("in.png", 100)
        self.gray("dark.png", 30)
        for line, want in (("add", 130), ("subtract", 70), ("blend mode=lighten", 100), ("blend mode=difference", 70)):
            name, _, rest = line.partition(" ")
            self.smp("run", "-q", "-e", f'{name} by="dark.png" {rest}', "in.png", "out.png", "--force")
            self.assertEqual(self.value("out.png"), want, line)

    def test_paths_start_at_the_text_that_names_them(self):
        self.gray("in.png", 100)
        (self.folder / "p" / "common").mkdir(parents=True)
        self.gray("p/dark.png", 30)
        self.gray("p/common/dark.png", 1)
        self.write("p/plus.pipe", PLUS)
        self.write("p/common/inner.pipe", PLUS)
        self.write("p/outer.pipe", 'include "common/inner.pipe"\n' + PLUS)
        self.smp("run", "-q", "p/plus.pipe", "in.png", "a.png")
        self.assertEqual(self.value("a.png"), 130)
        self.smp("run", "-q", "p/outer.pipe", "in.png", "b.png")
        self.assertEqual(self.value("b.png"), 131)

    def test_strips_and_devices_change_nothing(self):
        rows = [bytes((x * 7 + y * 13) % 256 for x in range(50)) for y in range(90)]
        self.write("in.png", png_bytes(rows, 50, color=0))
        self.write("dark.png", png_bytes(rows[::-1], 50, color=0))
        outputs = set()
        for i, options in enumerate(((), ("--strip-rows", "7"), ("--device", "simt"), ("--device", "simt", "--strip-rows", "1"))):
            self.smp("run", "-q", "-e", "gaussian 1px", "-e", 'subtract by="dark.png"', "in.png", f"{i}.pgm", *options)
            outputs.add((self.folder / f"{i}.pgm").read_bytes())
        self.assertEqual(len(outputs), 1)

    def test_what_is_wrong_with_a_file_is_told_at_its_name(self):
        self.gray("in.png", 100)
        self.write("p.pipe", "invert\n" + PLUS)
        os.mkfifo(self.folder / "pipe.png")
        self.write("huge.png", png_header(100000, 100000))
        self.gray("cut.png", 3)
        self.write("cut.png", (self.folder / "cut.png").read_bytes()[:-20])
        for target, words, status in (
            (None, "No such file", 3),
            ("pipe.png", "not a regular file", 3),
            (".", "not a regular file", 3),
            ("huge.png", "pixels", 6),
            ("p.pipe", "dark.png", 3),
        ):
            if target:
                os.symlink(target, self.folder / "dark.png")
            done = self.smp("run", "p.pipe", "in.png", "out.png", status=status)
            self.assertIn("p.pipe:2:8", done.stderr)
            self.assertIn("cannot read 'dark.png'", done.stderr)
            self.assertIn(words, done.stderr)
            self.assertNotIn("out.png", self.files())
            if target:
                os.unlink(self.folder / "dark.png")
        os.symlink("cut.png", self.folder / "dark.png")
        done = self.smp("run", "p.pipe", "in.png", "out.png", status=3)
        self.assertIn("dark.png", done.stderr)
        self.assertNotIn("out.png", self.files())

    def test_misspelt_operands(self):
        self.gray("in.png", 100)
        for line, words in (
            ('add by=""', "the file name is empty"),
            ('add by="-"', "standard input"),
            ("add by=dark.png", 'a file is written "dark.png"'),
            ("matmul with=3", 'must be a picture @name or "file"'),
            ("matmul", "needs 'with'"),
        ):
            done = self.smp("run", "-e", line, "in.png", "out.png", status=2)
            self.assertIn(words, done.stderr, line)

    def test_sizes_that_do_not_fit_are_named(self):
        self.gray("in.png", 100)
        self.gray("dark.png", 1, 5, 4)
        done = self.smp("run", "-e", 'matmul "dark.png"', "in.png", "out.png", status=2)
        self.assertIn("'with' (4 x 5) has 4 rows, the picture (4 x 6) 6 columns", done.stderr)

    def test_a_file_that_is_read_is_never_the_output(self):
        self.gray("in.png", 100)
        before = self.gray("dark.png", 30).read_bytes()
        self.write("p.pipe", PLUS)
        done = self.smp("run", "p.pipe", "in.png", "dark.png", "--force", status=(2, 4))
        self.assertIn("dark.png", done.stderr)
        self.assertEqual((self.folder / "dark.png").read_bytes(), before)

    def test_explain_names_the_file(self):
        self.gray("in.png", 100)
        self.gray("dark.png", 30)
        self.write("p.pipe", PLUS)
        self.assertIn("dark.png", self.smp("explain", "p.pipe", "in.png").stdout)
        self.assertIn('by="dark.png"', self.smp("explain", "p.pipe").stdout)


if __name__ == "__main__":
    unittest.main()
