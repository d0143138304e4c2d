"""The scripts that make docs/results: tried small, on the CPU; and docs/results.md is what its JSON files make."""
import subprocess
import sys
import unittest

from harness import PROGRAM, ROOT, CliCase


class Results(CliCase):
    def script(self, *words):
        done = subprocess.run([sys.executable, "-B", *map(str, words)], cwd=self.folder, text=True, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_tables_of_measured_ceilings(self):
        self.script(ROOT / "tests/gpu_results.py", PROGRAM, "--device", "cpu", "--small", "--only", "bench",
                    "--out", self.folder / "results", "--name", "here")
        self.script(ROOT / "docs/results.py", self.folder)
        text = (self.folder / "results.md").read_text()
        self.assertIn("## Ceilings", text)
        self.assertIn("| stride 32 | 4 | 1 | 32 |", text)
        self.script(ROOT / "docs/results.py", "--check", self.folder)

    def test_the_page_is_what_the_files_make(self):
        if not (ROOT / "docs/results.md").exists():
            self.skipTest("nothing was measured on a GPU yet")
        self.script(ROOT / "docs/results.py", "--check")


if __name__ == "__main__":
    unittest.main()
