"""smempipe compare as users meet it: the table, JSON, CSV and page, exit codes."""
import csv
import hashlib
import io
import json
import os
import re
import resource
import shlex
import unittest

from harness import PIPELINES, ROOT, SAMPLES, CliCase

CHELSEA = SAMPLES / "chelsea.png"
QUICK = ("--time-limit", "0.5", "--repeat", "3")


class Compare(CliCase):
    def test_a_laptop_sees_counts_of_the_gpu_kernels_in_seconds(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = self.smp("compare", PIPELINES / "blur.pipe", CHELSEA, "--device", "cpu", "--time-limit", "2")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertLess(after.ru_utime - before.ru_utime, 60)  # 4 s; with AddressSanitizer 15
        lines = done.stdout.splitlines()
        self.assertLessEqual(max(map(len, lines)), 100)
        self.assertTrue(
            any(line.split()[:3] == ["tiled", "right", line.split()[2]] for line in lines if "right" in line),
            done.stdout)
        for rung in ("warp", "mma"):
            self.assertRegex(done.stdout, rung + r" +model +\d+ +\d+ +\d+ +\d+ +1\.1\d")  # copies of rows as they lie
            self.assertRegex(done.stdout, rung + r" +- +- +here the same as tiled")
        self.assertRegex(done.stdout, r"naive +model +uses no shared memory")

    def test_the_readmes_counts_are_the_programs(self):
        text = (ROOT / "README.md").read_text()
        line = r"^\$ smempipe (compare .*) samples/chelsea\.png (--stages \w+) --device cpu(?: \| tail)?$"
        (command,) = re.findall(line, text, re.M)
        done = self.smp(*shlex.split(command[0]), CHELSEA, *command[1].split(), "--device", "cpu", *QUICK)

        def counts(page):
            return re.findall(r"^  \w+ +model +.*$", page, re.M)

        self.assertEqual(len(counts(done.stdout)), 4)
        self.assertEqual(counts(text), counts(done.stdout))
        head = re.search(r"^  predicted H100 .*$", done.stdout, re.M)
        if head:  # the build has SASS, perhaps of another nvcc
            self.assertIn(head[0], text)
            row = r"^  (\w+) +([\d.]+) +([\d.]+) \.\. ([\d.]+)  .*  [A-Za-z][A-Za-z0-9 ]+$"
            told = {name: float(us) for name, us, *_ in re.findall(row, text, re.M)}
            self.assertEqual(len(told), 4)
            for name, _, low, high in re.findall(row, done.stdout, re.M):
                self.assertTrue(float(low) <= told[name] <= float(high), (name, told, low, high))

    def test_a_small_picture_is_repeated_on_request(self):
        options = ("-e", "transpose", self.small_png(), "--device", "cpu", *QUICK)
        told = self.smp("compare", *options, "--enlarge", "3").stdout
        self.assertIn("(u8x3 99x63, of the file 3 times each way)", told)
        self.assertIn("u8x3 99x63 -> u8x3 63x99", told)
        found = json.loads(self.smp("compare", *options, "--enlarge", "3", "--json", "-").stdout)
        self.assertEqual(found["enlarged"], 3)
        self.assertIn("--max-pixels", self.smp("compare", *options, "--enlarge", "900", "--max-pixels", "1000000",
                                               status=6).stderr)

    def test_a_named_pipe_is_read_once(self):
        self.small_png()
        self.feed("pipe", "in.png")
        done = self.smp("compare", "-e", "invert", "pipe", "--device", "cpu", "--time-limit", "0.1", timeout=60)
        self.assertIn("naive", done.stdout)

    def test_a_step_that_looks_is_compared_behind_those_of_the_plan(self):
        options = ("-e", "crop auto", "-e", "deskew", "-e", "invert", self.small_png(), "--time-limit", "0.1",
                   "--repeat", "1")  # fmt: skip
        for device in ("cpu", "simt"):
            found = json.loads(self.smp("compare", *options, "--device", device, "--json", "-").stdout)
            self.assertEqual([(step["number"], step["step"]) for step in found["steps"]],
                             [(1, "invert"), (2, "(look) crop auto"), (3, "(look) deskew")])
            for step in found["steps"]:
                self.assertEqual([row["variant"] for row in step["variants"]][:2], ["naive", "tiled"])
                self.assertEqual(step["variants"][1]["check"], "right")
                self.assertIn("instructions", step["variants"][1]["counts"]["model"]["total"])
        alone = json.loads(self.smp("compare", *options, "--stages", "2", "--device", "cpu", "--json", "-").stdout)
        self.assertEqual([step["step"] for step in alone["steps"]], ["(look) crop auto"])
        self.assertIn("its stages are: invert, crop, deskew;",
                      self.smp("compare", *options, "--stages", "4", status=2).stderr)

    def test_a_run_counts_the_step_that_looks(self):
        told = self.smp("run", "-v", "--counters", "-e", "denoise", SAMPLES / "speech.flac", self.folder / "o.wav",
                        "--device", "cpu").stderr
        self.assertRegex(told, r"\n  \(look\) denoise .* \d+ +\d+ +1\.\d\d\n")

    def test_explain_tells_what_every_column_means(self):
        done = self.smp("compare", "-e", "invert", self.small_png(), "--device", "cpu", "--explain", *QUICK)
        table, _, text = done.stdout.partition("\n\n  check")
        for column in ("median", "quartiles", "% copy", "x naive", "verdict", "source", "wavefronts", "ideal",
                       "conflicts", "n-way"):
            self.assertIn(column, text)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)

    def test_stages_are_compared_one_by_one_unless_asked(self):
        chain = ("-e", "invert", "-e", "levels white=60%", self.small_png(), "--device", "cpu", "--csv", "-", *QUICK)
        for options, want in (((), ["invert", "levels white=60%"]), (("--fuse",), ["invert + levels white=60%"])):
            rows = list(csv.DictReader(io.StringIO(self.smp("compare", *chain, *options).stdout)))
            self.assertEqual(list(dict.fromkeys(row["step"] for row in rows)), want)
            self.assertEqual({row["check"] for row in rows if row["variant"] != "naive"}, {"right"})

    def test_json_keeps_every_sample_and_what_is_needed_to_repeat_it(self):
        self.smp("compare", "-e", "transpose", CHELSEA, "--device", "cpu", "--json", "out.json", "--repeat", "7",
                 "--time-limit", "0", "-q")
        found = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(found["input_sha256"], hashlib.sha256(CHELSEA.read_bytes()).hexdigest())
        self.assertEqual(found["environment"]["device"], "cpu")
        for key in ("version", "device_name", "host", "threads", "isa", "copy_gb_per_second", "driver", "toolkit",
                    "sm_clock_mhz"):
            self.assertIn(key, found["environment"])
        (step,) = found["steps"]
        self.assertEqual([v["variant"] for v in step["variants"]], ["naive", "tiled", "padded", "swizzled"])
        self.assertEqual([len(v.get("samples_seconds", ())) for v in step["variants"]], [7, 7, 0, 0])
        counts = {v["variant"]: v["counts"]["model"]["total"] for v in step["variants"]}
        self.assertGreater(counts["tiled"]["conflicts"], counts["padded"]["conflicts"])
        swizzled = step["variants"][3]["counts"]["model"]
        self.assertLess(max(swizzled[op]["n_way"] for op in ("load", "store")), 1.06,
                        swizzled)  # tiles at the edges move whole vectors, of which the ideal counts what is inside
        self.assertFalse(step["counted"]["crop"])
        site = max(step["variants"][1]["sites"], key=lambda s: s["total"]["conflicts"])
        self.assertEqual(len(site["example_offsets"]), 32)

    def test_csv_has_a_line_for_each_variant(self):
        done = self.smp("compare", "-e", "gaussian 1px edge=mirror", self.small_png(), "--device", "cpu", "--csv", "-",
                        *QUICK)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual([row["variant"] for row in rows], ["naive", "tiled", "warp", "mma"])
        self.assertEqual(rows[0]["step"], "gaussian 1px edge=mirror")
        self.assertEqual(rows[1]["check"], "right")
        self.assertGreater(float(rows[1]["median_s"]), 0)
        self.assertEqual(rows[1]["model_conflicts"], "0")

    def test_times_are_predicted_where_there_is_sass(self):
        options = ("-e", "transpose", CHELSEA, "--device", "cpu", "--time-limit", "0", "--repeat", "1")
        table = self.smp("compare", *options).stdout
        pages = [json.loads(self.smp("compare", *options, "--threads", n, "--json", "-").stdout) for n in ("1", "2")]
        (step,) = pages[0]["steps"]
        times = {v["variant"]: v["predicted"] for v in step["variants"] if v.get("predicted", {}).get("us")}
        self.assertNotIn("is not at hand", table)  # the SASS has the bits by which ptxas steers the hardware
        if not times:
            self.assertIn("no predicted times: ", table)
            self.skipTest("the build has no SASS of transpose")
        self.assertEqual([v.get("predicted") for v in step["variants"]],
                         [v.get("predicted") for v in pages[1]["steps"][0]["variants"]])
        copy = pages[0]["environment"]["predicted_copy_gb_per_second"]
        for name, told in times.items():
            self.assertEqual(told["gpu"], "h100")
            self.assertTrue(1 < told["low_us"] < told["us"] < told["high_us"] < 100, told)  # a launch takes 1 us
            self.assertAlmostEqual(told["gbs"], step["bytes"] / told["us"] / 1e3, 3)
            self.assertAlmostEqual(told["percent_of_copy"], 100 * told["gbs"] / copy, 3)
            if "naive" in times:
                self.assertAlmostEqual(told["times_naive"], times["naive"]["us"] / told["us"], 3)
            self.assertRegex(table, rf"  {name} +{told['us']:.3g} +{told['low_us']:.3g} \.\. {told['high_us']:.3g} ")
        self.assertIn("not measured", table)
        self.assertLessEqual(max(map(len, table.splitlines())), 100)
        (step,) = json.loads(self.smp("compare", *options, "--time=h200", "--json", "-").stdout)["steps"]
        self.assertEqual({v["predicted"]["gpu"] for v in step["variants"] if "us" in v.get("predicted", {})}, {"h200"})

    def test_a_gpu_that_is_not_known_is_an_error(self):
        done = self.smp("compare", "-e", "invert", CHELSEA, "--time", "rtx", status=2)
        self.assertIn("h100, h200", done.stderr)

    def test_no_time_is_predicted_without_sass(self):
        options = ("-e", "transpose", CHELSEA, "--device", "cpu", "--time-limit", "0", "--repeat", "1")
        none = {"env": {**os.environ, "SMP_SASS": ""}}
        table = self.smp("compare", *options, **none).stdout
        self.assertEqual(table.count("no predicted times: "), 1)
        self.assertIn("-DSMP_CUDA_ARCHS=90", table)
        found = json.loads(self.smp("compare", *options, "--json", "-", **none).stdout)
        self.assertIn("-DSMP_CUDA_ARCHS=90", found["environment"]["no_predictions"])
        self.assertFalse([v for v in found["steps"][0]["variants"] if "predicted" in v])

    def test_explain_predicts_what_compare_does_where_it_is_asked(self):
        step = ("-e", "transpose", CHELSEA, "--device", "cpu")
        asked = ("explain", *step, "--time")
        none = self.smp(*asked, env={**os.environ, "SMP_SASS": ""}).stdout
        self.assertIn("-DSMP_CUDA_ARCHS=90", none)
        for table in (none, self.smp("explain", *step).stdout):
            self.assertNotRegex(table, "predicted .* us")
        options = ("--time-limit", "0", "--repeat", "1", "--json", "-")
        found = json.loads(self.smp("compare", *step, *options).stdout)
        (told,) = (v.get("predicted") for v in found["steps"][0]["variants"] if v["variant"] == "swizzled")
        if not told or not told.get("us"):
            self.skipTest("the build has no SASS of transpose")
        plan = json.loads(self.smp(*asked, "--json").stdout)["steps"]
        self.assertEqual([step.get("predicted", {}).get("us") for step in plan], [None, told["us"]])
        table = self.smp(*asked).stdout
        self.assertIn(f"{told['us']:.3g} ({told['low_us']:.3g} .. {told['high_us']:.3g})\n", table)
        self.assertIn("not measured", table)
        self.assertLessEqual(max(map(len, table.splitlines())), 100)
        self.assertIn("explain P.pipe IN --time", self.smp("explain", "-e", "invert", "--time", status=2).stderr)

    def test_fails_on_slower_only_when_asked(self):
        # In the emulator a shuffle is a switch between 32 threads: six times slower than naive.
        arguments = ("compare", "-e", "stats", CHELSEA, "--device", "simt", "--variants", "shuffle", *QUICK)
        self.smp(*arguments)
        for _ in range(5):  # on a busy machine a verdict may be unclear
            done = self.smp(*arguments, "--fail-on", "slower", status=(0, 7))
            if done.returncode:
                break
        self.assertEqual(done.returncode, 7)
        self.assertIn("slower than naive", done.stderr)
        self.assertIn("slower", done.stdout)

    def test_mistakes_are_said_before_any_work(self):
        picture = self.small_png()
        self.write("there.json", "old")
        done = self.smp("compare", "-e", "invert", picture, "--json", "there.json", status=4)
        self.assertIn("--force", done.stderr)
        self.assertEqual((self.folder / "there.json").read_text(), "old")
        self.smp("compare", "-e", "invert", picture, "--json", "-", "--csv", "-", status=2)
        self.assertIn(
            "shuffel",
            self.smp("compare", "-e", "invert", picture, "--variants", "shuffel", "--device", "cpu", status=2).stderr)
        self.assertIn(
            "sobel",
            self.smp("compare", "-e", "invert", picture, "--stages", "sobel", "--device", "cpu", status=2).stderr)
        gone = self.smp("compare", "-e", "sobel", picture, "--variants", "joined", "--device", "cpu", status=2).stderr
        self.assertIn("their variants: naive, tiled, warp", gone)
        gone = self.smp("run", "-e", "sobel", picture, "out.png", "--variant", "joined", status=2).stderr
        self.assertRegex(gone, r"no stage has a variant 'joined'(.|\n)*naive.*tiled.*warp.*mma")
        self.smp("compare", "-e", "invert", "absent.png", status=3)
        self.assertEqual(self.files(), ["in.png", "there.json"])

    def test_run_counts_in_its_report(self):
        done = self.smp("run", "--counters", "-e", "transpose", "--variant", "tiled", "--device", "cpu", CHELSEA,
                        "out.png")
        self.assertRegex(done.stderr, r"step +variant +time ms +share +GB/s +wavefr\. +conflicts +n-way")
        self.assertRegex(done.stderr, r"transpose +tiled .* \d+ +\d+ +1\.97\n")
        self.assertLessEqual(max(map(len, done.stderr.splitlines())), 100)
        self.smp("run", "--counters", "--report=-", "-q", "-e", "transpose", "--device", "cpu", CHELSEA, "other.png")
        self.smp("diff", "out.png", "other.png")  # counting changes nothing
        found = self.smp("run", "--counters", "--report=-", "-e", "gray", "-e", "transpose", "--device", "cpu", CHELSEA,
                         "third.npy").stdout
        shared = json.loads(found)["steps"][1]["shared_memory"]
        self.assertLess(shared["conflicts"], 0.1 * shared["wavefronts"])  # lanes are missing at the edges
        with open(CHELSEA, "rb") as picture:
            done = self.smp("run", "--counters", "-e", "invert", "-", "fourth.png", status=2, stdin=picture)
        self.assertIn("standard input", done.stderr)

    def test_stages_with_a_second_picture_or_sound_are_counted(self):
        self.smp("run", "-e", "gray", self.small_png(width=21), "gray.png")
        self.smp("run", "-e", "trim end=0.1s", SAMPLES / "chirp.wav", "short.wav")
        values = {"alpha": "set "}
        counted = 0
        for stage in json.loads(self.smp("stages", "--json").stdout):
            for parameter in stage["parameters"]:
                if parameter["type"] == "operand":
                    statement = f"{stage['name']} {values.get(stage['name'], '')}{parameter['name']}=@input"
                    self.smp("run", "--counters", "--report=-", "--device", "cpu", "--force", "-e", statement,
                             "short.wav" if stage["domain"] == "audio" else "gray.png", "o.npy")
                    counted += 1
        self.assertGreater(counted, 12)

    def test_a_second_picture_from_a_file_is_read(self):
        picture = self.small_png()
        rows = list(
            csv.DictReader(
                io.StringIO(
                    self.smp("compare", "-e", 'subtract by="in.png"', picture, "--device", "cpu", "--csv", "-",
                             *QUICK).stdout)))
        self.assertEqual([row["check"] for row in rows], ["right"] * len(rows))

    def test_an_empty_pipeline_compares_nothing(self):
        self.write("none.pipe", "# nothing\n")
        self.assertIn("nothing to compare: no stage of the pipeline has anything to do on this input",
                      self.smp("compare", "none.pipe", self.small_png(), "--device", "cpu").stdout)


if __name__ == "__main__":
    unittest.main()
