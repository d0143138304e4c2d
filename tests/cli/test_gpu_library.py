"""libsmempipe-cuda.so, which has the kernels for GPUs: opened with the first GPU alone, found beside program or library
and where an installation has it; one that is missing or another's is told, and nothing is run. The GPU is
tests/device/fake/driver.c, whose kernels do nothing."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

from harness import PROGRAM, CliCase

BUILD = pathlib.Path(PROGRAM).resolve().parent
LIBRARY = BUILD / "libsmempipe-cuda.so"
DRIVER = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "tests" / "fake_driver")}
OPEN = """import ctypes, os, sys
library, device, error = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p(), ctypes.c_void_p()
os.chdir("/")
library.smempipe_error_text.restype, library.smempipe_error_text.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
code = library.smempipe_device_open(b"cuda", 0, ctypes.byref(device), ctypes.byref(error))
sys.exit(library.smempipe_error_text(error).decode() if code else 0)
"""


@unittest.skipUnless(LIBRARY.exists(), "this build has no GPU kernels")
class GpuLibrary(CliCase):
    def setUp(self):
        super().setUp()
        self.small_png()
        self.program = self.folder / "prefix" / "bin" / "smempipe"
        self.program.parent.mkdir(parents=True)
        shutil.copy(PROGRAM, self.program)

    def run_on(self, device, status=0, **more):
        """Its standard error; the output is there where it went well, and only there."""
        out = self.folder / "out.npy"
        out.unlink(missing_ok=True)
        done = subprocess.run([self.program, "run", "-e", "invert", "in.png", "out.npy", "--device", device],
                              cwd=self.folder, capture_output=True, text=True, timeout=60, env={**DRIVER, **more},
                              check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(out.exists(), status == 0)
        return done.stderr

    def refused(self, *words):
        said = " ".join(self.run_on("cuda", 5).split())
        for word in (*words, f"copy the {LIBRARY.name} of its build beside the program"):
            self.assertIn(word, said)
        self.assertEqual(said.count("smempipe:"), 1, said)
        return said

    @staticmethod
    def maps_of_child(parent, name):
        """Number and memory map of a process of this name that `parent` began; None: there is none."""
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                state = (folder / "stat").read_text()
                if f"({name})" in state and state.rpartition(")")[2].split()[1] == str(parent):
                    return int(folder.name), (folder / "maps").read_text()
            except OSError:
                pass
        return None

    def test_decoders_of_pipes_come_from_a_process_without_the_driver(self):
        """Who begins decoders later is forked before the GPU's driver is opened, and its threads with it."""
        shutil.copy(LIBRARY, self.program.parent)
        with subprocess.Popen([self.program, "run", "-e", "invert", "-", "out.npy", "--device", "cuda"], env=DRIVER,
                              cwd=self.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            end, spawner = time.monotonic() + 30, None
            while not spawner and time.monotonic() < end:
                keeper = self.maps_of_child(run.pid, "smp-keeper")
                spawner = keeper and self.maps_of_child(keeper[0], "smp-spawner")
            run.communicate((self.folder / "in.png").read_bytes())
        self.assertEqual(run.returncode, 0)
        self.assertTrue(spawner, "no process begins decoders")
        self.assertNotIn("libcuda", keeper[1] + spawner[1])

    def test_it_is_found_wherever_it_is_installed(self):
        said = self.refused(f"there is no {LIBRARY.name} in {self.program.parent}, {self.folder}/prefix/lib")
        devices = subprocess.run([self.program, "devices"], capture_output=True, text=True, env=DRIVER, check=False)
        self.assertIn(f"there is no {LIBRARY.name} in", " ".join((devices.stdout + devices.stderr).split()))
        (place,) = re.findall(rf"in {self.program.parent}, (.*?) or ", said)
        for folder in (pathlib.Path(place), self.program.parent):
            folder.mkdir(parents=True, exist_ok=True)
            copy = pathlib.Path(shutil.copy(LIBRARY, folder))
            self.assertIn("cuModuleLoadData = CUDA_SUCCESS", self.run_on("cuda", SMP_TRACE_DRIVER="1"))
            copy.unlink()

    def test_one_of_another_version_or_build_is_refused(self):
        data, beside = LIBRARY.read_bytes(), self.program.parent / LIBRARY.name
        version = self.smp("--version").stdout.split()[1].encode()
        (build,) = set(re.findall(rb"\0([0-9a-f]{64})\0", data))
        for old, new, word in ((version, b"9" * len(version), f"is of smempipe {'9' * len(version)}, not"),
                               (build, b"0" * len(build), "is of another build of smempipe")):
            self.assertIn(old + b"\0", data)
            beside.write_bytes(data.replace(old + b"\0", new + b"\0"))
            self.refused(f"{beside} {word}")
        shutil.copy(BUILD / "libsmempipe-trace.so", beside)
        self.refused(f"{beside} is of another build")
        shutil.copy(BUILD / "libsmp_cudart.so", beside)
        self.refused(f"{beside} is not a library of smempipe")
        for size in (0, 100, len(data) // 2):
            beside.write_bytes(data[:size])
            self.refused(f"{beside} is damaged")

    def test_it_is_opened_with_a_gpu_alone(self):
        """Once, as ld.so tells, whatever confines the program and its decoders."""
        shutil.copy(LIBRARY, self.program.parent)
        for device in ("cpu", "simt", "auto", "cuda"):
            self.run_on(device, LD_DEBUG="files", LD_DEBUG_OUTPUT=str(self.folder / device))
            told = "".join(path.read_text() for path in self.folder.glob(f"{device}.*"))
            self.assertIn("calling init", told)
            opened = told.count(f"file={self.program.parent}/{LIBRARY.name} [0];  dynamically loaded")
            self.assertEqual(opened, device == "cuda", device)

    @unittest.skipUnless((BUILD / "libsmempipe.so.1").exists(), "no library here")
    def test_libsmempipe_finds_it_beside_itself(self):
        library = self.folder / "site" / "lib" / "libsmempipe.so.1"
        library.parent.mkdir(parents=True)
        shutil.copy(BUILD / library.name, library)

        def open_device(name=library):
            return subprocess.run([sys.executable, "-c", OPEN, name], capture_output=True, text=True, env=DRIVER,
                                  cwd=library.parent, check=False).stderr

        said = open_device()
        self.assertIn(f"there is no {LIBRARY.name} in {library.parent} or {library.parent}/smempipe", said)
        self.assertIn("beside libsmempipe.so", said)
        for folder in (library.parent / "smempipe", library.parent):
            folder.mkdir(exist_ok=True)
            copy = pathlib.Path(shutil.copy(LIBRARY, folder))
            self.assertEqual(open_device(), "")
            self.assertEqual(open_device(f"./{library.name}"), "")  # from a folder that the process leaves
            copy.unlink()


@unittest.skipIf(LIBRARY.exists(), "this build has GPU kernels")
class NoGpuLibrary(CliCase):
    def test_a_build_without_kernels_says_so(self):
        self.small_png()
        done = self.smp("run", "-e", "invert", "in.png", "out.npy", "--device", "cuda", status=5, env=DRIVER)
        self.assertIn("this build has no GPU kernels", done.stderr)


if __name__ == "__main__":
    unittest.main()
