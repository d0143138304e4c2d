"""libsmempipe-trace.so, which counting needs: found beside the program and where an installation has it; without it the
rest works and one line says what is missing."""
import pathlib
import re
import shutil
import subprocess
import unittest

from harness import PROGRAM, CliCase

LIBRARY = pathlib.Path(PROGRAM).resolve().parent / "libsmempipe-trace.so"
KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels"
QUICK = ("--device", "cpu", "--repeat", "3", "--time-limit", "0.2")


class TraceLibrary(CliCase):
    def compare(self, program):
        done = subprocess.run([str(program), "compare", "-e", "transpose", str(self.small_png()),
                              *QUICK], capture_output=True, text=True, cwd=self.folder, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_counts_come_from_the_library_wherever_it_is_installed(self):
        program = self.folder / "prefix" / "bin" / "smempipe"
        program.parent.mkdir(parents=True)
        shutil.copy(PROGRAM, program)
        said = self.compare(program)
        self.assertEqual(said.count(LIBRARY.name), 2, said)  # what is missing, what to copy
        self.assertIn("no model counts: the emulator cannot count", said)
        self.assertNotIn("wavefronts", said)
        self.assertIn("tiled", said)
        done = subprocess.run([str(program), "run", "-e", "transpose", "in.png", "out.png",
                              "--device", "simt"], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        (place,) = re.findall(rf"no {LIBRARY.name} in {program.parent}, (.*?) or ", " ".join(said.split()))
        installed = pathlib.Path(place)
        installed.mkdir(parents=True)
        shutil.copy(LIBRARY, installed)
        self.assertIn("wavefronts", self.compare(program))

    def test_sass_of_all_kernels_needs_no_library(self):
        program = self.folder / "smempipe"
        shutil.copy(PROGRAM, program)
        sass = self.folder / "sass"
        sass.mkdir()
        files = [file.stem for file in KERNELS.glob("*/*.cu")]
        for name in files:
            (sass / f"{name}.gz").write_bytes(b"")
        said = self.compare(program)
        self.assertNotIn("no model counts", said)
        self.assertIn("transpose.gz is not of smempipe", said)  # counted by the library, were it here
        self.assertRegex(said, r"tiled +model .*libsmempipe-trace")
        (sass / f"{files[0]}.gz").unlink()
        self.assertIn("no model counts", self.compare(program))
        built = LIBRARY.parent / "sass"
        if all((built / f"{name}.gz").exists() for name in files):
            shutil.rmtree(sass)
            sass.symlink_to(built)
            self.assertRegex(self.compare(program), r"tiled +model +[1-9]")

    def test_a_library_of_another_version_is_refused(self):
        program = self.folder / "smempipe"
        shutil.copy(PROGRAM, program)
        version = self.smp("--version").stdout.split()[1].encode()
        data = LIBRARY.read_bytes()
        self.assertIn(version + b"\0", data)
        (self.folder / LIBRARY.name).write_bytes(data.replace(version + b"\0", b"9" * len(version) + b"\0"))
        said = self.compare(program)
        self.assertIn("is of smempipe", " ".join(said.split()))

    def test_a_library_without_traced_kernels_is_refused(self):
        program = self.folder / "smempipe"
        shutil.copy(PROGRAM, program)
        table = b"smp_kernel_files_traced\0"
        data = LIBRARY.read_bytes()
        self.assertIn(table, data)
        (self.folder / LIBRARY.name).write_bytes(data.replace(table, table[::-1][1:] + b"\0"))
        said = " ".join(self.compare(program).split())
        self.assertIn("the emulator cannot count:", said)
        self.assertIn(f"{LIBRARY.name} is not a library of smempipe", said)


if __name__ == "__main__":
    unittest.main()
