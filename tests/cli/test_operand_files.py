"""Second pictures that come from files: where paths start, what is checked, what is said, what is never overwritten."""
import os
import time
import unittest

import numpy as np
from PIL import Image

from harness import CliCase, png_bytes, png_header
from test_profile import ADOBE, GAMMA, SRGB, icc

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

    def test_a_file_has_stages_of_its_own(self):
        for name, size in (("in.png", (60, 40)), ("logo.png", (90, 90))):
            pixels = np.random.default_rng(len(name)).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
            Image.fromarray(pixels).save(self.folder / name)
        self.smp("run", "-q", "-e", "resize 20x", "logo.png", "small.png")
        self.smp("run", "-q", "-e", 'overlay "small.png" bottom-right', "in.png", "two.png")
        self.write("one.pipe", 'param logo = "logo.png"\nfrom $logo\nresize 20x -> @logo\nfrom @input\n'
                   "overlay @logo bottom-right\n")
        for words in ((), ("--device", "simt"), ("--strip-rows", "5")):
            self.smp("run", "-q", "-f", "one.pipe", "in.png", "one.png", *words)
            self.smp("diff", "one.png", "two.png")
        for stages, said in ((('from "logo.png"',), "no stage follows"), (('from "no.png"', "gray"), "cannot read"),
                             (('from "logo.png"', 'save "x.png"', "gray"), "no stage follows")):
            words = [word for stage in stages for word in ("-e", stage)]
            self.assertIn(said, self.smp("run", *words, "in.png", "x.png", status=(2, 3)).stderr)
        self.assertFalse((self.folder / "x.png").exists())

    def test_a_second_picture_is_brought_to_a_size(self):
        for name, size, mode in (("in.png", (61, 40), "RGB"), ("logo.png", (90, 31), "RGBA"),
                                 ("wide.png", (80, 11), "L")):
            shape = (size[1], size[0], len(mode)) if mode != "L" else size[::-1]
            Image.fromarray(np.random.default_rng(size[0]).integers(0, 256, shape, dtype=np.uint8)).save(
                self.folder / name)
        both = "resize width=61 height=40 fit="
        for lead, stage, word, other, own in (
            ("", "overlay {} bottom-right", "size=20%", "logo.png", "resize width=12"),
            ("", "overlay {}", "size=33px", "logo.png", "resize width=33"),
            ("light linear", "overlay {}", "size=20%", "logo.png", "resize width=12"),
            ("", "blend {} mode=multiply", "fit=stretch", "logo.png", both + "stretch"),
            ("light linear", "blend {} opacity=40%", "fit=cover", "wide.png", both + "cover"),
            ("light linear", "alpha set by={}", "fit=cover", "wide.png", "light encoded\n" + both + "cover"),
            ("alpha opaque", "join {}", "fit=yes", "logo.png", "resize height=40"),
            ("alpha opaque", "join {} side=below", "fit=yes", "logo.png", "resize width=61")):
            self.write("one.pipe", f'{lead}\n{stage.format(chr(34) + other + chr(34))} {word}\n')
            self.write("two.pipe", f'{lead}\nfrom "{other}"\n{own} -> @b\nfrom @input\n{lead}\n{stage.format("@b")}\n')
            self.smp("run", "-q", "-f", "two.pipe", "in.png", "two.png")
            for words in ((), ("--device", "simt"), ("--strip-rows", "5")):
                self.smp("run", "-q", "-f", "one.pipe", "in.png", "one.png", *words)
                self.smp("diff", "one.png", "two.png")
        done = self.smp("run", "-e", 'blend "wide.png"', "in.png", "x.png", status=2)
        self.assertIn("fit=cover", done.stderr)

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
        for i, options in enumerate(
            ((), ("--strip-rows", "7"), ("--device", "simt"), ("--device", "simt", "--strip-rows", "1"))):
            self.smp("run", "-q", "-e", "gaussian 1px", "-e", 'subtract by="dark.png"', "in.png", f"{i}.pgm", *options)
            outputs.add((self.folder / f"{i}.pgm").read_bytes())
        self.assertEqual(len(outputs), 1)

    def test_other_colours_are_told(self):
        x = np.arange(40, dtype=np.uint8)
        rgb = np.ascontiguousarray(np.broadcast_to(np.stack([x * 4, 255 - x, x], -1), (30, 40, 3)))
        for name, profile in (("a.png", None), ("srgb.png", icc(SRGB)), ("p3.png", icc()), ("p3.tif", icc()),
                              ("adobe.png", icc(ADOBE, GAMMA))):
            Image.fromarray(rgb).save(self.folder / name, icc_profile=profile)
        stages = ('join "{}"', 'overlay "{}"', 'blend "{}"', 'add "{}"', 'match "{}"')
        for stage in stages:
            for first, other, told in (("a.png", "p3.png", True), ("p3.png", "a.png", True),
                                       ("p3.png", "adobe.png", True), ("a.png", "srgb.png", False),
                                       ("p3.png", "p3.tif", False)):
                said = self.smp("run", "-f", "-e", stage.format(other), first, "out.tif").stderr
                self.assertEqual("its colours are" in said, told, (stage, first, other, said))
        said = self.smp("run", "-f", "-e", "profile srgb", "-e", 'add "p3.png"', "adobe.png", "out.tif").stderr
        self.assertIn("and the picture's are sRGB", said)
        said = self.smp("run", "-f", "-e", "profile srgb", "-e", 'add "a.png"', "adobe.png", "out.tif").stderr
        self.assertNotIn("its colours are", said)

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



class Outside(CliCase):
    """What a pipeline of a stranger may touch: files below its own folder, outputs below the output's."""

    def setUp(self):
        super().setUp()
        (self.folder / "pipes/sub").mkdir(parents=True)
        self.small_png("in.png")
        self.small_png("dark.png")
        self.small_png("pipes/dark.png")
        self.write("secret.pipe", "invert\n")

    def test_files_outside_the_pipe_files_folder_are_not_read(self):
        os.symlink("../dark.png", self.folder / "pipes/link.png")
        for text in (
            'include "../secret.pipe"', f'include "{self.folder}/secret.pipe"', 'include "/etc/hostname"',
            'subtract by="../dark.png"', f'subtract by="{self.folder}/dark.png"', 'subtract by="link.png"',
            'param f = "../dark.png"\nsubtract by=$f', 'convolve "../dark.png"',
        ):  # fmt: skip
            with self.subTest(text):
                self.write("pipes/p.pipe", text + "\n")
                done = self.smp("run", "pipes/p.pipe", "in.png", "out.png", status=2)
                self.assertIn("lies outside the pipe file's folder", done.stderr)
                self.assertIn("--allow-read", done.stderr)
                self.assertFalse((self.folder / "out.png").exists())
        self.write("pipes/p.pipe", 'include "../secret.pipe"\nsubtract by="../dark.png"\n')
        self.smp("run", "pipes/p.pipe", "in.png", "out.png", "--allow-read", ".")
        self.smp("check", "pipes/p.pipe", status=2)
        self.smp("check", "pipes/p.pipe", "--allow-read", self.folder)

    def test_an_error_shows_nothing_of_a_file_that_may_not_be_read(self):
        self.write("passwords", "hunter2 is my password\n")
        self.write("pipes/p.pipe", 'include "../passwords"\n')
        self.assertNotIn("hunter2", self.smp("check", "pipes/p.pipe", status=2).stderr)

    def test_files_below_it_and_those_that_the_user_names_are_read(self):
        self.write("pipes/sub/part.pipe", 'subtract by="../dark.png"\n')  # relative to its own folder
        self.write("pipes/p.pipe", 'include "sub/part.pipe"\nparam dark = "dark.png"\nsubtract by=$dark\n')
        self.smp("run", "pipes/p.pipe", "in.png", "a.png")
        self.smp("run", "pipes/p.pipe", "in.png", "b.png", "--set", f'dark="{self.folder}/dark.png"')
        self.smp("run", "-e", f'subtract by="{self.folder}/dark.png"', "in.png", "c.png")
        self.smp("run", "-e", 'include "pipes/p.pipe"', "in.png", "d.png")
        self.smp("diff", "a.png", "b.png")
        self.smp("diff", "a.png", "d.png")

    def test_what_is_saved_follows_no_link_out_of_the_outputs_folder(self):
        (self.folder / "out").mkdir()
        (self.folder / "elsewhere").mkdir()
        victim = self.small_png("elsewhere/victim.png").read_bytes()
        os.symlink("../elsewhere", self.folder / "out/sub")
        os.symlink("../elsewhere/victim.png", self.folder / "out/thumb.png")
        os.symlink(".", self.folder / "out/here")
        for name in ("sub/new.png", "thumb.png", "here/sub/new.png"):
            self.write("p.pipe", f'save "{name}"\ninvert\n')
            done = self.smp("run", "p.pipe", "in.png", "out/a.png", "--force", status=4)
            self.assertIn("a link leads out of the folder of the output", done.stderr)
            self.assertEqual(os.listdir(self.folder / "elsewhere"), ["victim.png"])
            self.assertEqual((self.folder / "elsewhere/victim.png").read_bytes(), victim)
        self.write("p.pipe", 'save "here/new.png"\ninvert\n')
        self.smp("run", "p.pipe", "in.png", "out/a.png", "--force")
        self.assertTrue((self.folder / "out/new.png").exists())

    def test_many_saves_cost_no_time(self):
        lines = [f'save "s{i:04}.png"' for i in range(900)]
        self.write("p.pipe", "\n".join(lines) + "\ninvert\n")
        begin = time.monotonic()
        done = self.smp("run", "p.pipe", "in.png", "s0003.png", status=2)
        self.assertIn("two outputs have the same name", done.stderr)
        self.write("more.pipe", "\n".join(f'save "t{i}.png"' for i in range(2000)) + "\n")
        self.assertIn("at most 1000 files", self.smp("check", "more.pipe", status=2).stderr)
        self.assertLess(time.monotonic() - begin, 10)


if __name__ == "__main__":
    unittest.main()
