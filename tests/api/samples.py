"""The examples of samples/c as they were built with libsmempipe.so, and what the library shows of itself: the
functions of tests/api/symbols.txt and nothing else. A missing one breaks programs; a new one is added to the list."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop()) if len(sys.argv) > 1 else pathlib.Path("build/release")
ROOT = pathlib.Path(__file__).resolve().parents[2]
CAT = ROOT / "samples/chelsea.png"


def run(name, *arguments):
    return subprocess.run([BUILD / "tests" / f"sample_{name}", *arguments], capture_output=True, check=True).stdout


class Samples(unittest.TestCase):
    def test_array(self):
        text = run("array").decode()
        self.assertRegex(text, r"(?m)^mean 80\.38")
        self.assertIn("@", text.splitlines()[4])

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "small.png")
            text = run("file", CAT, out, "40px").decode()
            self.assertIn("451 x 300, 3 channels", text)
            self.assertRegex(text, r"sharpness [\d.]+")
            self.assertEqual(int.from_bytes(out.read_bytes()[16:20], "big"), 40)
            failed = subprocess.run([BUILD / "tests/sample_file", ROOT / "none.png", out], capture_output=True)
            self.assertEqual(failed.returncode, 1)
            self.assertIn(b"none.png", failed.stderr)

    def test_strips(self):
        picture = run("strips", "3000")
        self.assertEqual(picture[:16], b"P5\n256 3000\n255\n")
        self.assertEqual(len(picture), 16 + 256 * 3000)
        rows = picture[16:]
        self.assertEqual(rows[512 * 256:768 * 256], rows[1024 * 256:1280 * 256])  # rings repeat, strips or not
        self.assertGreater(len(set(rows)), 100)

    def test_their_comments_compile_them(self):
        """By pkg-config, in a prefix that was not known when the build was configured."""
        if not shutil.which("pkg-config") or not shutil.which("cc"):
            self.skipTest("there is no pkg-config or cc")
        if b"__asan_init" in (BUILD / "libsmempipe.so").read_bytes():
            self.skipTest("a sanitizer's library needs the sanitizer's program")
        with tempfile.TemporaryDirectory() as folder:
            for component in ("library", "development"):
                subprocess.run(["cmake", "--install", BUILD, "--component", component, "--prefix", folder],
                               capture_output=True, check=True)
            (pc,) = pathlib.Path(folder).rglob("smempipe.pc")
            (library,) = pathlib.Path(folder).rglob("libsmempipe.so")
            shutil.copy(CAT, f"{folder}/in.jpg")
            for path in (ROOT / "samples/c").glob("*.c"):
                shutil.copy(path, folder)
                command = re.search(r"(?m)^ \*     (cc .*?)( \*/)?$", path.read_text())[1]
                done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True,
                                      env={**os.environ, "PKG_CONFIG_PATH": str(pc.parent),
                                           "LD_LIBRARY_PATH": str(library.parent)})
                self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            self.assertTrue(pathlib.Path(folder, "thumbnail.png").exists())
            self.assertTrue(pathlib.Path(folder, "rings.pgm").stat().st_size > 256 * 100000)

    def test_they_are_short(self):
        for path in (ROOT / "samples/c").glob("*.c"):
            self.assertLessEqual(len(path.read_text().splitlines()), 60, path.name)


class Library(unittest.TestCase):
    def test_symbols(self):
        if not shutil.which("nm"):
            self.skipTest("there is no nm (binutils)")
        out = subprocess.run(["nm", "-D", "--defined-only", BUILD / "libsmempipe.so"], capture_output=True, text=True,
                             check=True).stdout
        found = {line.split()[-1] for line in out.splitlines()} - {"SMEMPIPE_1"}
        wanted = {f"{name}@@SMEMPIPE_1" for name in (ROOT / "tests/api/symbols.txt").read_text().split()}
        self.assertEqual({name for name in found if not name.startswith("SMEMPIPE_1")}, wanted)

    def test_header_declares_them(self):
        header = (ROOT / "src/api/smempipe.h").read_text()
        header = re.sub(r"/\*.*?\*/|typedef int \w+\([^)]*\);", "", header, flags=re.S)
        declared = set(re.findall(r"\b(smempipe_\w+)\(", header))
        self.assertEqual(declared, set((ROOT / "tests/api/symbols.txt").read_text().split()))

    def test_needs_no_program(self):
        """Its own name, and no library that the program does not need too."""
        out = subprocess.run(["readelf", "-d", BUILD / "libsmempipe.so"], capture_output=True, text=True).stdout
        self.assertIn("Library soname: [libsmempipe.so.1]", out)
        self.assertNotIn("TEXTREL", out)


if __name__ == "__main__":
    unittest.main(verbosity=1)
