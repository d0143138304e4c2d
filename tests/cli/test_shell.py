"""Completion scripts and manual pages: bash completes what it should; zsh, fish and man accept the rest where they
are installed."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from harness import PROGRAM, CliCase

COMPLETE = r"""
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_smempipe
printf '%s\n' "${COMPREPLY[@]}"
"""


class Shell(CliCase):
    def setUp(self):
        super().setUp()
        for name in ("photo.png", "scan 2.JPG", "song.wav", "array.npy", "blur.pipe", "notes.txt"):
            (self.folder / name).touch()
        (self.folder / "folder").mkdir()

    def complete(self, *words):
        """What bash offers for the last word; a '=' stands alone, as bash splits it."""
        script = self.write("complete.bash", self.smp("completion", "bash").stdout)
        done = subprocess.run(["bash", "--norc", "-c", COMPLETE, "bash", str(script), "smempipe", *words],
                              cwd=self.folder, capture_output=True, text=True, timeout=60)
        script.unlink()
        self.assertEqual(done.stderr, "")
        return sorted(line for line in done.stdout.splitlines() if line)

    def stages(self):
        return [s["name"] for s in json.loads(self.smp("stages", "--json").stdout)]

    def test_bash_completes_commands(self):
        self.assertEqual(self.complete("ru"), ["run"])
        self.assertIn("bank", self.complete(""))
        self.assertEqual(self.complete("--v"), ["--version"])

    def test_bash_completes_options_and_their_words(self):
        self.assertEqual(self.complete("run", "--dev"), ["--device"])
        self.assertEqual(self.complete("run", "--color", ""), ["always", "auto", "never"])
        self.assertEqual(self.complete("run", "--color", "=", "al"), ["always"])
        self.assertEqual(self.complete("run", "--color", "="), ["always", "auto", "never"])
        self.assertIn("simt", self.complete("explain", "--device", "s"))
        self.assertEqual(self.complete("bank", "--op", "atom_add_"), ["atom_add_f32", "atom_add_ret"])
        self.assertIn("naive", self.complete("run", "--variant", "n"))
        self.assertEqual(self.complete("run", "--threads", ""), [])
        self.assertIn("--stage", self.complete("run", "blur.pipe", "photo.png", "--st"))

    def test_bash_completes_stages_after_e(self):
        some = [name for name in self.stages() if name.startswith("ga")]
        self.assertEqual(self.complete("run", "-e", "ga"), sorted(some))
        self.assertEqual(self.complete("run", "-e", "'ga"), sorted(some))
        self.assertEqual(self.complete("run", "--stage", "=", "ga"), sorted(some))
        self.assertEqual(self.complete("stages", "ga"), sorted(some))
        self.assertIn("language", self.complete("help", "lan"))

    def test_bash_completes_files_by_their_place(self):
        self.assertEqual(self.complete("run", ""), ["blur.pipe", "folder"])
        media = ["array.npy", "folder", "photo.png", "scan 2.JPG", "song.wav"]
        self.assertEqual(self.complete("run", "blur.pipe", ""), media)
        self.assertEqual(self.complete("run", "-v", "--threads", "2", "blur.pipe", "photo.png", ""), media)
        self.assertEqual(self.complete("run", "--color", "=", "never", "blur.pipe", "ph"), ["photo.png"])
        self.assertEqual(self.complete("run", "-e", "invert", ""), media, "-e stands for the pipe file")
        self.assertEqual(self.complete("run", "-e", "invert", "-e", "gray", "photo.png", "s"),
                         ["scan 2.JPG", "song.wav"])
        self.assertEqual(self.complete("info", "photo.png", "photo.png", "photo.png", "a"), ["array.npy"])
        self.assertEqual(self.complete("run", "--report", "=", "n"), ["notes.txt"])
        self.assertEqual(self.complete("bank", "--svg", "n"), ["notes.txt"])
        self.assertEqual(self.complete("completion", "z"), ["zsh"])

    def test_scripts_are_good_shell(self):
        for shell in ("bash", "zsh", "fish"):
            text = self.smp("completion", shell).stdout
            self.assertGreater(len(text), 1000)
            if shutil.which(shell):
                path = self.write("script", text)
                done = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)
        self.smp("completion", status=2)
        self.assertIn("did you mean 'zsh'", self.smp("completion", "zhs", status=2).stderr)
        self.assertEqual(self.smp("completion", "powershell", status=2).stdout, "")

    def test_fish_completes(self):
        if not shutil.which("fish"):
            self.skipTest("no fish here")
        script = self.write("c.fish", self.smp("completion", "fish").stdout)

        def offered(line):
            done = subprocess.run(
                ["fish", "--no-config", "-c", f"source {script.name}; complete -C '{line}'"], cwd=self.folder,
                capture_output=True, text=True, timeout=60, env={**os.environ, "HOME": str(self.folder)},
            )  # fmt: skip
            self.assertEqual(done.stderr, "")
            return [row.split("\t")[0] for row in done.stdout.splitlines()]

        self.assertEqual(offered("smempipe ru"), ["run"])
        self.assertEqual(offered("smempipe run --dev"), ["--device"])
        self.assertEqual(sorted(offered("smempipe run -e ga")), sorted(n for n in self.stages() if n.startswith("ga")))
        self.assertIn("blur.pipe", offered("smempipe check b"))

    def pages(self):
        for page, section in (("smempipe", 1), ("smempipe-pipe", 5)):
            yield self.write(f"{page}.{section}", self.smp("help", "--man", page).stdout)

    def test_manual_pages_are_clean(self):
        for path in self.pages():
            for command in (
                ["mandoc", "-T", "lint", path],
                ["groff", "-ww", "-man", "-Tutf8", "-z", path],
                ["man", "--warnings", "-l", path],
            ):
                if not shutil.which(command[0]):
                    continue
                done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                                      env={**os.environ, "MANPAGER": "cat", "LC_ALL": "C.UTF-8"})
                said = done.stderr if command[0] == "man" else done.stdout + done.stderr
                if "No manual entry" in said or "minimized" in said:
                    continue  # containers have a man that is none
                self.assertEqual(said, "", command[0])

    def test_manual_pages_tell_every_option_and_parameter(self):
        commands, language = (re.sub(r"\\f.|\\&", "", path.read_text()).replace("\\-", "-") for path in self.pages())
        for command in self.complete(""):
            if not command.startswith("-"):
                self.assertIn(f".SS {command}\n", commands)
                for option in self.complete(command, "--"):
                    self.assertIn(option, commands)
        for stage in json.loads(self.smp("stages", "--json").stdout):
            self.assertIn(f".SS {stage['name']}\n", language)
            for parameter in stage["parameters"]:
                self.assertIn(f".TP\n{parameter['name']}", language)

    def test_pages_do_not_depend_on_the_day(self):
        self.assertEqual(self.smp("help", "--man", "smempipe").stdout, self.smp("help", "--man", "smempipe").stdout)
        self.assertRegex(self.smp("help", "--man", "smempipe").stdout, r'\.TH SMEMPIPE 1 \d{4}-\d\d-\d\d "smempipe \d')

    def test_all_of_it_is_installed(self):
        build = pathlib.Path(PROGRAM).resolve().parent
        if not (build / "cmake_install.cmake").exists() or not shutil.which("cmake"):
            self.skipTest("the program does not stand in its build folder")
        done = subprocess.run(
            ["cmake", "--install", str(build), "--prefix",
             str(self.folder / "to")],
            capture_output=True,
            text=True,
            timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name in ("bin/smempipe", "share/man/man1/smempipe.1", "share/man/man5/smempipe-pipe.5",
                     "share/bash-completion/completions/smempipe", "share/zsh/site-functions/_smempipe",
                     "share/fish/vendor_completions.d/smempipe.fish",
                     "share/smempipe/pipelines/blur.pipe"):  # fmt: skip
            self.assertGreater((self.folder / "to" / name).stat().st_size, 100, name)


if __name__ == "__main__":
    unittest.main()
