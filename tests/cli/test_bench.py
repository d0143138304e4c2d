"""smempipe bench as people call it on a machine without a GPU."""
import json
import unittest

from harness import CliCase

CPU = ("bench", "--device", "cpu", "--threads", "2", "--size", "1M")


class Bench(CliCase):
    def test_table_and_json(self):
        done = self.smp(*CPU, "--json", "b.json")
        self.assertIn("2 threads", done.stdout)
        self.assertIn("stride 33", done.stdout)
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines()), 100)
        report = json.loads((self.folder / "b.json").read_text())
        self.assertEqual([s["threads"] for s in report["streams"]], [1, 2])
        self.assertGreater(report["streams"][1]["copy"]["gb_per_second"], 0)
        self.assertEqual(len(report["patterns"]), 77)
        for row in report["patterns"]:
            model = row["model"]
            self.assertEqual(model["wavefronts"], row["wavefronts"] * model["instructions"])
            self.assertEqual(model["ideal"], row["ideal"] * model["instructions"])

    def test_json_alone_on_stdout(self):
        done = self.smp(*CPU, "--only", "streams", "--json", "-")
        self.assertNotIn("patterns", json.loads(done.stdout))

    def test_what_is_measured_without_a_gpu_is_no_error(self):
        done = self.smp("bench", "--only", "streams", "--threads", "1", "--size", "1M")
        self.assertNotIn("error:", done.stderr)
        if done.stdout.startswith("cpu"):
            self.assertIn("warning: the CPU is measured: ", done.stderr)

    def test_a_report_is_not_overwritten(self):
        self.write("b.json", "mine")
        done = self.smp(*CPU, "--only", "streams", "--json", "b.json", status=4)
        self.assertIn("b.json", done.stderr)
        self.assertEqual((self.folder / "b.json").read_text(), "mine")
        self.smp(*CPU, "--only", "streams", "--json", "b.json", "--force")


if __name__ == "__main__":
    unittest.main()
