"""smempipe kernel: the programs of tests/lab, counted as an H100 counts them where there is nvdisasm."""
import collections
import concurrent.futures
import csv
import json
import os
import re
import subprocess
import tempfile
import unittest

from harness import PROGRAM, ROOT, SANITIZED, CliCase
from test_kernel import LAB, NO_SASS, NVCC, NVDISASM

ARCHS = ["sm_80", "sm_86", "sm_89", "sm_100", "sm_120"]


@unittest.skipUnless(NVCC and not SANITIZED, "no nvcc, or a sanitizer, which must come first in a program")
class Programs(CliCase):
    """The programs of tests/lab, of which nvcc takes most of the time: all where their SASS is counted, else some. Each
    runs in the SASS of one more architecture, in turns, or of all with SMP_LAB_ARCHS=all."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        names = sorted(n[:-3] for n in os.listdir(LAB) if n.endswith(".cu"))
        names = names if NVDISASM else ["k01_transpose", "k15_misc"]
        cls.built = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.built.cleanup)
        case = cls("build")
        case.folder = cls.built.name
        cls.environment = {**os.environ, "XDG_CACHE_HOME": cls.built.name}
        archs = ARCHS if os.environ.get("SMP_LAB_ARCHS") == "all" else None
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = {
                name: pool.submit(case.build, name, archs or [ARCHS[i % len(ARCHS)]])
                for i, name in enumerate(names)
            }
            done = {name: run.result() for name, run in runs.items()}
        cls.done = {name: here["sm_90"] for name, here in done.items()}
        cls.elsewhere = {(name, arch): run for name, here in done.items() for arch, run in here.items()}

    def build(self, name, archs):
        """By nvcc, as users do, with PTX for two architectures; then its runs by architecture."""
        program = os.path.join(self.built.name, name)
        runtime = ["-cudart", "none", f"-L{self.older_runtime()}", "-lcudart"]
        runtime = runtime if name == "k01_transpose" else ["-cudart", "shared"]
        subprocess.run([NVCC, "-std=c++17", "--extended-lambda", "-lineinfo", *runtime, "-o", program,
                        "-gencode=arch=compute_80,code=compute_80", "-gencode=arch=compute_90,code=compute_90",
                        os.path.join(LAB, name + ".cu")], check=True, stderr=subprocess.DEVNULL)  # fmt: skip
        return {
            arch: self.smp("kernel", program, "--arch", arch, "--each", "--json", env=self.environment)
            for arch in ["sm_90", *(archs if NVDISASM else [])]
        }

    def older_runtime(self):
        """A library of CUDA 12's name and version, to link a program that asks for it."""
        folder = os.path.join(self.built.name, "cuda12")
        os.makedirs(folder, exist_ok=True)
        own = os.path.join(os.path.dirname(PROGRAM), "libsmp_cudart.so")
        names = re.findall(r" T (_*cuda\w+)", subprocess.check_output(["nm", "-D", own], text=True))
        with open(os.path.join(folder, "stub.c"), "w") as file:
            file.writelines(f"void {n}(void);void {n}(void){{}}\n" for n in names)
        with open(os.path.join(folder, "map"), "w") as file:
            file.write("libcudart.so.12 { *; };\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-fno-builtin", "-o", "libcudart.so", "-Wl,-soname,libcudart.so.12",
                        "-Wl,--version-script=map", "stub.c"], check=True, cwd=folder)  # fmt: skip
        return folder

    def kernels(self, name):
        return json.loads(self.done[name].stdout)["kernels"]

    def test_programs_pass_and_only_wrong_ones_have_findings(self):
        for name, done in self.done.items():
            with self.subTest(name):
                if name != "k16_bugs":
                    self.assertIn("PASS", done.stderr)
                found = {f["kind"] for k in self.kernels(name) for f in k["findings"]}
                expected = {"k04_reduce": {"race"}, "k15_misc": {"bounds"}, "k16_bugs": {"race", "uninitialised"}}
                self.assertEqual(found, expected.get(name, set()))

    def test_blocks_wait_for_each_other_and_graphs_run(self):
        done = self.smp("kernel", os.path.join(LAB, "runtime", "grid_and_graph.cu"), "--code", "ptx", "--json", "--",
                        "itself", env=self.environment)  # fmt: skip
        self.assertIn("grid_and_graph.cu runs on this machine, not on a GPU, and prints:\ngrid_and_graph: PASS",
                      done.stderr)
        kernels = {k["kernel"]: k for k in json.loads(done.stdout)["kernels"]}
        self.assertEqual((kernels["total"]["blocks_run"], kernels["total"]["findings"]), (8, []))
        self.assertEqual(kernels["add"]["launches"], 6)

    @unittest.skipUnless(NVDISASM, NO_SASS)
    def test_sass_of_each_architecture_leaves_the_bytes_that_ptx_leaves(self):
        for (name, arch), done in self.elsewhere.items():
            for kernel in json.loads(done.stdout)["kernels"]:
                with self.subTest(name, arch=arch, kernel=kernel["symbol"]):
                    self.assertEqual((kernel["code"], kernel["differing_bytes"]), ("sass", 0), kernel["notes"])

    def test_programs_are_not_taken_apart(self):
        program = os.path.join(self.built.name, "k01_transpose")
        error = self.smp("kernel", program, "--only", "transposeTiled", status=2, env=self.environment).stderr
        self.assertIn("'" + program + "' is a program", error)

    def test_without_ptx_the_cubin_is_counted(self):
        program = os.path.join(self.built.name, "bare")
        subprocess.run([NVCC, "-cudart", "shared", "-gencode=arch=compute_86,code=sm_86", "-o", program,
                        os.path.join(ROOT, "samples", "kernels", "transpose.cu")], check=True)  # fmt: skip
        error = self.smp("kernel", program, "--code", "ptx", status=1, env=self.environment).stderr
        self.assertIn("it holds SASS of sm_86 alone, and no PTX\n  = hint: nvcc -arch=sm_86 puts both", error)
        if NVDISASM:
            text = self.smp("kernel", program, env=self.environment).stdout
            self.assertIn("it has no PTX, in which mistakes would be looked for", text)
            self.assertIn("no source lines are known: it was compiled without -lineinfo", text)
            self.assertRegex(text, r"shared load +4 +512 +16384 +512 +15872 +32 +32")

    @unittest.skipUnless(NVDISASM, NO_SASS)
    def test_each_instruction_counts_as_on_an_h100(self):
        """But for the two instructions of a loop that repeats a swap, by timing."""
        with open(os.path.join(LAB, "h100_sass_counts.csv")) as file:
            rows = list(csv.DictReader(line for line in file if line[0] != "#"))
        launches = collections.defaultdict(list)
        for row in rows:
            launches[row["program"], row["launch"], row["kernel"]].append(row)
        spins, equal = 0, 0
        for (name, launch, title), expected in launches.items():
            with self.subTest(name, launch=launch, kernel=title):
                own = [k for k in self.kernels(name) if k["kernel"].split("<")[0] == title.split("<")[0]]
                candidates = [counts_of(k) for k in own]
                differ = min((differing(expected, c) for c in candidates), key=len)
                equal += len(expected) - len(differ)
                if title == "weighted":
                    spins += len(differ)
                    differ = [r for r in differ if not r["sass"].startswith(("ATOMS.CAST.SPIN", "LDS R4, [R6+UR4]"))]
                    self.assertIn("a GPU may repeat it more often", self.kernels(name)[-1]["notes"])
                self.assertEqual(differ, [])
        self.assertEqual((equal, spins), (826, 4))


def counted(row):
    columns = ("warp_instructions", "wavefronts_shared", "wavefronts_shared_ideal", "sectors_global")
    return (row["sass"], *(int(row[c]) for c in columns), int(row["sectors_global_ideal"]))


def differing(expected, counts):
    return [r for r in expected if counts.get(int(r["instruction"])) != counted(r)]


def counts_of(kernel):
    """The same of each instruction of a kernel that was executed here; its launches of one shape are summed."""
    counts = {}
    for row in kernel["rows"]:
        at = counts.setdefault(row["place"], [row["instruction"], 0, 0, 0, 0, 0])
        at[1] = row["executed"] // kernel["launches"]
        keys = ("wavefronts", "packed_ideal") if row["space"] == "shared" else ("sectors", "sectors_ideal")
        for i, key in enumerate(keys, 2 if row["space"] == "shared" else 4):
            at[i] += row[key] // kernel["launches"]
    return {place: tuple(c) for place, c in counts.items()}


if __name__ == "__main__":
    unittest.main()
