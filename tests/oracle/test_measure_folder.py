"""smempipe measure over files and folders against NumPy over the same samples."""
import csv
import io
import json
import math
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

from harness import PROGRAM, SCRATCH, OracleCase, command, picture

PERCENTS = (0, 5, 50, 97.5, 100)
STATS = "stats percentiles=[0 5 50 97.5 100]"


def table(results):
    """{(finding, channel): value} of one result of the JSON."""
    return {(f["name"], f.get("channel", -1)): f.get("value", f.get("values")) for f in results["findings"]}


class MeasureFolder(OracleCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="smp-measure-", dir=SCRATCH)
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def save(self, arrays, under="in"):
        (self.folder / under).mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            np.save(self.folder / under / f"{name}.npy", array)

    def measure(self, *arguments, status=0):
        done = command("measure", *arguments, folder=self.folder, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout) if "--json" in arguments else done.stdout

    def check(self, found, samples, relative, what, float_bins=False):
        """samples: one array (n, channels) of all files together."""
        for c in range(samples.shape[1]):
            v = samples[:, c].astype(np.float64)
            v = v[np.isfinite(v)]
            at = f"{what} channel {c}"
            self.assertEqual(found["count", c], samples.shape[0], at)
            self.assertEqual((found["min", c], found["max", c]), (v.min(), v.max()), at)
            wanted = {
                "sum": math.fsum(v), "mean": math.fsum(v) / len(v), "deviation": v.std(), "rms": math.sqrt(
                    np.mean(v * v)), "peak": np.abs(v).max()
            }
            for name, want in wanted.items():
                self.assertTrue(math.isclose(found[name, c], want, rel_tol=relative),
                                f"{at} {name}: {found[name, c]!r} for {want!r}")
            for percent in PERCENTS:
                got, want = found[f"p{percent:g}", c], np.percentile(v, percent)
                self.assertLessEqual(abs(got - want), 1.01 / 65536 if float_bins else 1e-9 * max(1, want),
                                     f"{at} p{percent:g}")

    def test_a_data_set_equals_numpy_over_the_same_files(self):
        for dtype, relative in ((np.uint8, 1e-13), (np.uint16, 1e-12), (np.float32, 1e-11)):
            under = np.dtype(dtype).name
            arrays = {f"{i:02}": picture(i, (20 + 37 * i, 31 + 11 * i, 3), dtype) for i in range(7)}
            arrays["tiny"] = picture(9, (1, 1, 3), dtype)
            self.save(arrays, under)
            found = self.measure("-e", STATS, under, "--json")
            self.assertEqual([pathlib.Path(f["input"]).stem for f in found["files"]], sorted(arrays))
            for entry in found["files"]:
                array = arrays[pathlib.Path(entry["input"]).stem]
                self.check(table(entry["results"][0]), array.reshape(-1, 3), relative, entry["input"],
                           dtype == np.float32)
            (together,) = found["together"]
            self.assertEqual(together["files"], 8)
            everything = np.concatenate([a.reshape(-1, 3) for a in arrays.values()])
            self.check(table(together), everything, relative, under, dtype == np.float32)

    def test_sums_are_exact_and_do_not_depend_on_jobs(self):
        arrays = {f"{i:02}": picture(i, (101, 203), np.uint16) for i in range(12)}
        self.save(arrays)
        exact = sum(int(a.astype(np.int64).sum()) for a in arrays.values())
        outputs = {
            self.measure("-e", "stats [50]", "-e", "histogram 100", "in", "--csv", "--jobs", jobs)
            for jobs in ("1", "3", "8")
        }
        self.assertEqual(len(outputs), 1)
        (together,) = self.measure("-e", "stats", "in", "--json", "-t")["together"]
        self.assertEqual(table(together)["sum", 0], exact)

    def test_histograms_add_up(self):
        arrays = {f"{i:02}": picture(i, (50 + i, 70, 3), np.uint8) for i in range(5)}
        self.save(arrays)
        (together,) = self.measure("-e", "histogram", "in", "--json")["together"]
        for c in range(3):
            want = sum(np.bincount(a[..., c].ravel(), minlength=256) for a in arrays.values())
            self.assertEqual(table(together)["counts", c], want.tolist())

    def test_formats_and_channels_are_kept_apart_sizes_are_not(self):
        self.save({
            "a": picture(1, (9, 9), np.uint8), "b": picture(2, (9, 9, 3), np.uint8), "c": picture(3, (9, 9), np.uint16),
            "d": picture(4, (5, 8), np.uint8)
        })
        found = self.measure("-e", "stats", "in", "--json")["together"]
        self.assertEqual([(g["type"], g["files"]) for g in found], [("u8x1", 2), ("u8x3", 1), ("u16x1", 1)])
        (gray,) = self.measure("-e", "gray", "-e", "depth float", "-e", "stats", "in", "--json")["together"]
        self.assertEqual(gray["files"], 4)  # made alike

    def test_statements_are_told_apart(self):
        self.save({"a": picture(1, (9, 9), np.uint8), "b": picture(2, (19, 9), np.uint8)})
        first, second = self.measure("-e", 'stats name="before"', "-e", "invert", "-e", 'stats name="after"', "in",
                                     "--json")["together"]
        self.assertEqual((first["name"], second["name"]), ("before", "after"))
        self.assertAlmostEqual(table(first)["mean", 0] + table(second)["mean", 0], 255, places=9)

    def test_what_depends_on_the_size_does_not_join(self):
        self.save(
            {"a": picture(1, (9, 8), np.uint8), "b": picture(2, (9, 8), np.uint8), "c": picture(2, (9, 30), np.uint8)})
        found = self.measure("-e", "histogram bins={width/1px}", "in", "--json")["together"]
        self.assertEqual([(g["files"], len(table(g)["counts", 0])) for g in found], [(2, 8), (1, 30)])

    def test_csv_has_a_row_a_value(self):
        arrays = {"a": picture(1, (9, 8), np.uint8), "b,c": picture(2, (9, 8), np.uint8)}
        self.save(arrays)
        rows = list(
            csv.DictReader(io.StringIO(self.measure("-e", "stats", "-e", "histogram 16", "in", "--csv", "--long"))))
        self.assertEqual({r["file"] for r in rows}, {"in/a.npy", "in/b,c.npy", "(together)"})
        value = {(r["file"], r["finding"], r["bin"]): float(r["value"]) for r in rows}
        self.assertAlmostEqual(value["in/b,c.npy", "mean", ""], arrays["b,c"].mean(), places=12)
        self.assertEqual(sum(value["(together)", "counts", str(i)] for i in range(16)), 144)

    def test_csv_has_a_row_a_file(self):
        arrays = {
            "a": picture(1, (9, 8, 3), np.uint8), "b,c": picture(2, (9, 8, 3), np.uint8), "d": picture(
                3, (5, 8), np.uint16)
        }
        self.save(arrays)
        text = self.measure("-e", "stats [50]", "in", "--csv")
        self.assertTrue(text.startswith("path,width,height,channels,format,count_r,min_r,max_r,mean_r,deviation_r,"),
                        text)
        rows = {r["path"]: r for r in csv.DictReader(io.StringIO(text))}
        self.assertEqual(list(rows), ["in/a.npy", "in/b,c.npy", "in/d.npy"])
        for name, array in arrays.items():
            row = rows[f"in/{name}.npy"]
            self.assertEqual((row["width"], row["height"], row["channels"], row["format"]),
                             ("8", str(array.shape[0]), "1" if name == "d" else "3", "u16" if name == "d" else "u8"))
            for c, letter in enumerate(("",) if name == "d" else ("_r", "_g", "_b")):
                of = array if name == "d" else array[..., c]
                self.assertAlmostEqual(float(row["mean" + letter]), of.mean(), places=9)
                self.assertAlmostEqual(float(row["deviation" + letter]), of.std(), places=9)
        self.assertEqual((rows["in/a.npy"]["mean"], rows["in/d.npy"]["mean_r"]), ("", ""))

    def test_csv_is_sorted_by_a_column(self):
        arrays = {f"{i}": np.full((9, 8), v, np.uint8) for i, v in enumerate((40, 7, 200, 7, 90))}
        self.save(arrays)
        order = lambda *by: [
            r["path"][3] for r in csv.DictReader(io.StringIO(self.measure("-e", "stats", "in", "--csv", *by)))
        ]
        self.assertEqual(order("--sort", "mean"), ["1", "3", "0", "4", "2"])
        self.assertEqual(order("--sort", "-mean"), ["2", "4", "0", "1", "3"])
        self.assertEqual(order("--sort", "-path"), ["4", "3", "2", "1", "0"])
        done = command("measure", "-e", "stats", "in", "--csv", "--sort", "maen", folder=self.folder, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("columns: path, width, height, channels, count, min, max, mean", done.stderr)

    def test_csv_columns_of_several_statements_have_their_names(self):
        self.save({"a": picture(1, (9, 8), np.uint8)})
        chain = ("-e", 'stats name="before"', "-e", "invert", "-e", 'stats name="after"', "in", "--csv")
        (row,) = csv.DictReader(io.StringIO(self.measure(*chain)))
        self.assertAlmostEqual(float(row["before.mean"]) + float(row["after.mean"]), 255, places=9)
        (row,) = csv.DictReader(io.StringIO(self.measure("-e", "stats", "-e", "invert", "-e", "stats", "in", "--csv")))
        self.assertAlmostEqual(float(row["mean"]) + float(row["mean.2"]), 255, places=9)
        done = command("measure", "-e", "histogram 4", "-e", "stats", "in", "--csv", folder=self.folder)
        self.assertIn("--csv --long writes them", done.stderr)

    def test_csv_together_is_a_row_a_kind(self):
        arrays = {"a": picture(1, (9, 8), np.uint8), "b": picture(2, (9, 8), np.uint8)}
        self.save(arrays)
        (row,) = csv.DictReader(io.StringIO(self.measure("-e", "stats", "in", "--csv", "-t")))
        self.assertEqual((row["path"], row["channels"]), ("(together)", "1"))
        self.assertAlmostEqual(float(row["mean"]),
                               np.concatenate([a.ravel() for a in arrays.values()]).mean(),
                               places=9)

    def test_bad_files_are_named_and_the_rest_is_measured(self):
        self.save({"a": picture(1, (9, 8), np.uint8)})
        (self.folder / "in" / "b.dat").write_text("no picture")
        done = command("measure", "-e", "stats", "in", "--json", folder=self.folder, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("in/b.dat: ", done.stderr)
        self.assertEqual((json.loads(done.stdout)["done"], json.loads(done.stdout)["failed"]), (1, 1))

    def test_nothing_is_written(self):
        self.save({"a": picture(1, (9, 8), np.uint8)})
        (self.folder / "p.pipe").write_text('stats\nsave "x.png"\n')
        before = sorted(self.folder.rglob("*"))
        self.measure("p.pipe", "in")
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_a_table_of_one_file_and_of_standard_input(self):
        self.save({"a": picture(1, (9, 8), np.uint8)})
        shown = self.measure("-e", "stats", "in/a.npy")
        self.assertIn("in/a.npy (u8x1 8x9)", shown)
        self.assertNotIn("together", shown)
        with open(self.folder / "in/a.npy", "rb") as data:
            done = subprocess.run([PROGRAM, "measure", "-e", "stats", "-"], stdin=data, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.splitlines()[1:]), (0, shown.splitlines()[1:]), done.stderr)

    def test_wrong_command_lines(self):
        self.save({"a": picture(1, (9, 8), np.uint8)})
        self.assertIn("measures nothing",
                      command("measure", "-e", "invert", "in", folder=self.folder, check=False).stderr)
        self.measure("-e", "invert", "in", status=2)
        self.assertEqual(
            command("measure", "-e", "stats", "in", "--json", "--csv", folder=self.folder, check=False).returncode, 2)

    def test_components_are_lines_of_their_own(self):
        two, none = np.zeros((20, 30), np.uint8), np.zeros((9, 8), np.uint8)
        two[2:5, 3:9] = two[10:12, 20:22] = 255
        self.save({"a": two, "b": none})
        rows = list(csv.DictReader(io.StringIO(self.measure("-e", "label name=\"cells\"", "in", "--csv"))))
        self.assertEqual([(pathlib.Path(r["path"]).name, r["count"], r["item"], r["area"]) for r in rows], [
            ("a.npy", "2", "", ""), ("a.npy", "", "1", "18"), ("a.npy", "", "2", "4"), ("b.npy", "0", "", "")])
        first = rows[1]
        self.assertEqual([first[k] for k in ("left", "top", "item_width", "item_height", "x", "y")],
                         ["3", "2", "6", "3", "5.5", "3"])
        self.assertEqual((first["width"], first["height"]), ("30", "20"), "of the file")
        rows = list(csv.DictReader(io.StringIO(self.measure("-e", "label", "in", "--csv", "--sort", "count"))))
        self.assertEqual([pathlib.Path(r["path"]).name for r in rows], ["b.npy", "a.npy", "a.npy", "a.npy"])
        together = self.measure("-e", "label", "in", "--json")["together"][0]
        self.assertEqual(table(together), {("count", -1): 2, ("foreground", -1): 22})


if __name__ == "__main__":
    unittest.main()
