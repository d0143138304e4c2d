"""smempipe tune and --tuned: what is found is used, never changes a byte, and whatever happens to its file breaks nothing."""
import json
import os
import pathlib
import re
import subprocess
import time
import unittest

from harness import PIPELINES, PROGRAM, SAMPLES, CliCase

CHELSEA = SAMPLES / "chelsea.png"  # 451x300, three channels
QUICK = ("--time-limit", "0.3", "--repeat", "5")
BLUR = ("-e", "gaussian 2px", "-e", "invert")
CPU = ("--device", "cpu", "--threads", "2")
SIMT = ("--device", "simt")


class Tune(CliCase):
    def setUp(self):
        super().setUp()
        self.kept = self.folder / "cache/smempipe/tuned.json"
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}

    def smp(self, *arguments, **options):
        return super().smp(*arguments, **{"env": self.environment, **options})

    def explain(self, *arguments):
        return json.loads(self.smp("explain", "--json", *arguments).stdout)

    def keep(self, device, gaussian, strip_rows):
        """Writes what tune might have found for BLUR on chelsea: a choice for its blur, and a strip height."""
        cpu, simt = json.loads(self.smp("devices", "--json").stdout)["devices"][-2:]
        keys = [f"cpu: {cpu['name']}, {cpu['isa']}, 2 threads"]
        if device == SIMT:  # as many SMs as threads
            keys = [f"simt: {simt['name']}, cc 9.0, {n} SM{'s' if n > 1 else ''}" for n in range(1, os.cpu_count() + 1)]
        times = {"before_ms": 2, "after_ms": 1}
        stored = self.explain(*device, *BLUR, CHELSEA)["steps"][1]["stored_as"]
        blur = {"work": f"gaussian u8x3 to {stored}x3, about 512x256, reach about 16", "stage": "gaussian", **gaussian, **times}
        strips = {"work": "strips of gaussian, invert; u8x3 about 512x256, reach about 16", "strip_rows": strip_rows, **times}
        entries = [{"device": key, **entry} for key in keys for entry in (blur, strips)]
        self.kept.parent.mkdir(parents=True, exist_ok=True)
        self.kept.write_text(json.dumps({"layout": "smempipe tuned 1", "version": self.version(), "entries": entries}))

    def version(self):
        return self.smp("--version").stdout.split()[1]

    def same_bytes(self, *device, stderr=""):
        self.smp("run", *device, *BLUR, CHELSEA, "-f", "plain.png")
        done = self.smp("run", "--tuned", *device, *BLUR, CHELSEA, "-f", "tuned.png")
        self.assertEqual((self.folder / "plain.png").read_bytes(), (self.folder / "tuned.png").read_bytes())
        if stderr:
            self.assertRegex(done.stderr, stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
        else:
            self.assertEqual(done.stderr, "")

    def test_what_is_found_is_shown_kept_and_forgotten(self):
        done = self.smp("tune", "--device", "cpu", PIPELINES / "edges.pipe", CHELSEA, *QUICK, "-v")
        lines = done.stdout.splitlines()
        self.assertLessEqual(max(map(len, lines[:-1])), 100)
        self.assertTrue(any(re.match(r" +naive +[\d.]+ +(far )?slower", line) for line in lines), done.stdout)
        nothing = re.search(r"Nothing is faster|nothing\s+is\s+kept", done.stdout)
        self.assertTrue(lines[-1].startswith(f"{'nothing of it is ' if nothing else ''}kept in {self.kept}"), done.stdout)
        self.assertEqual(json.loads(self.kept.read_text())["layout"], "smempipe tuned 1")
        self.assertIn(str(self.kept), self.smp("tune", "--show").stdout)
        self.smp("run", "--tuned", PIPELINES / "edges.pipe", CHELSEA, "out.png")
        self.assertIn("forgotten", self.smp("tune", "--forget").stdout)
        self.assertFalse(self.kept.exists())
        self.assertIn("nothing was kept", self.smp("tune", "--forget").stdout)
        self.assertIn("nothing is kept in", self.smp("tune", "--show").stdout)
        self.assertEqual(self.files(), ["out.png"])

    def test_what_others_keep_meanwhile_stays(self):
        self.smp("tune", "--device", "cpu", "-e", "invert", CHELSEA, *QUICK)  # so that there is a folder
        words = (PROGRAM, "tune", "--device", "cpu", "-e", "gamma 2", CHELSEA, "--time-limit", "1.5")
        process = subprocess.Popen(list(map(str, words)), cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL)
        time.sleep(0.4)
        self.keep(CPU, {"variant": "naive", "threads": 1}, 40)
        self.assertEqual(process.wait(60), 0)
        works = [entry["work"] for entry in json.loads(self.kept.read_text())["entries"]]
        self.assertEqual(sum("gaussian" in work for work in works), 2, works)

    def test_threads_variant_and_strips_reach_the_run(self):
        self.keep(CPU, {"variant": "naive", "threads": 1}, 40)
        plan = self.explain("--tuned", *CPU, *BLUR, CHELSEA)
        self.assertEqual((plan["steps"][1]["variant"], plan["steps"][1]["tuned"], plan["strip_rows"]), ("naive", "naive, 1 thread", 40))
        self.assertIsNone(plan["steps"][2]["tuned"])
        self.assertIn("strips of up to 40 rows (tuned)", self.smp("explain", "--tuned", *CPU, *BLUR, CHELSEA).stdout)
        self.assertIn("gaussian u8x3", self.smp("tune", "--show").stdout)
        report = self.smp("run", "-v", "--tuned", *CPU, *BLUR, CHELSEA, "out.png").stderr
        self.assertRegex(report, r"gaussian 2px +naive")
        self.assertIn("8 strips of 40 rows", report)
        self.same_bytes(*CPU)
        plain = self.explain(*CPU, *BLUR, CHELSEA)
        self.assertNotEqual((plain["steps"][1]["variant"], plain["strip_rows"]), ("naive", 40))

    def test_a_launch_shape_reaches_the_grid(self):
        self.keep(SIMT, {"variant": "fused", "threads": 0, "shape": {"band": 12}}, 104)
        launch = self.explain("--tuned", *SIMT, *BLUR, CHELSEA)["steps"][1]["launches"][0]
        strips, bands = (451 * 3 + 127) // 128, (104 + 11) // 12
        self.assertEqual(launch["grid"], [strips * bands, 1, 1])
        self.assertNotEqual(self.explain(*SIMT, *BLUR, CHELSEA)["steps"][1]["launches"][0]["grid"], launch["grid"])
        self.same_bytes(*SIMT)

    def test_what_was_asked_for_goes_before_what_was_tuned(self):
        self.keep(CPU, {"variant": "naive", "threads": 1}, 40)
        plan = self.explain("--tuned", "--variant", "tiled", "--strip-rows", "64", *CPU, *BLUR, CHELSEA)
        self.assertEqual((plan["steps"][1]["variant"], plan["steps"][1]["tuned"], plan["strip_rows"]), ("tiled", None, 64))

    def test_batch_measure_and_compare_take_it(self):
        self.keep(CPU, {"variant": "naive", "threads": 1}, 40)
        for tuned in ((), ("--tuned",)):
            self.smp("batch", *tuned, "-q", *CPU, *BLUR, CHELSEA, "-f", "-o", "out" + "".join(tuned))
        self.assertEqual((self.folder / "out/chelsea.png").read_bytes(), (self.folder / "out--tuned/chelsea.png").read_bytes())
        self.smp("compare", "--tuned", *CPU, *BLUR, CHELSEA, "--stages", "invert", "--time-limit", "0.2", "--repeat", "2")
        self.assertEqual(self.smp("measure", "--tuned", *CPU, "-e", "stats", CHELSEA).stdout, self.smp("measure", *CPU, "-e", "stats", CHELSEA).stdout)

    def test_another_device_keeps_its_defaults(self):
        self.keep(CPU, {"variant": "naive", "threads": 1}, 40)
        plan = self.explain("--tuned", "--device", "cpu", "--threads", "1", *BLUR, CHELSEA)
        self.assertNotEqual((plan["steps"][1]["variant"], plan["strip_rows"]), ("naive", 40))

    def test_a_spoilt_file_is_one_warning(self):
        self.keep(CPU, {"variant": "naive", "threads": 1}, 40)
        good = self.kept.read_text()
        for text, said in (
            (good[:100], "line 1: "),
            ("\x7fELF\0\0", "ignored"),
            ("", "ends too early"),
            ("[" * 100000, "too deep"),
            (good.replace(f'"{self.version()}"', '"9.9.9"'), "smempipe 9.9.9"),
            (good.replace('"naive"', '"no such variant"'), "1 of its entries mean"),
        ):
            self.kept.write_text(text)
            self.same_bytes(*CPU, stderr=f"warning: .*tuned.json: .*{said}")
        self.smp("run", "-q", "--tuned", *CPU, *BLUR, CHELSEA, "-f", "tuned.png")
        self.kept.unlink()
        self.same_bytes(*CPU)
        self.kept.mkdir()  # a folder in its place
        self.same_bytes(*CPU, stderr="cannot be read")

    def test_a_cache_that_cannot_be_written_is_said_before_the_work(self):
        self.write("cache", "a file")
        done = self.smp("tune", *CPU, *BLUR, CHELSEA, "--time-limit", "100", status=4)
        self.assertIn("cache/smempipe: error: cannot make the folder", done.stderr)
        self.assertIn("XDG_CACHE_HOME", done.stderr)
        self.smp("run", "--tuned", *CPU, *BLUR, CHELSEA, "out.png")
        nowhere = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
        self.assertIn("no cache folder", self.smp("tune", *CPU, *BLUR, CHELSEA, env=nowhere, status=4).stderr)
        self.smp("run", "--tuned", *CPU, *BLUR, CHELSEA, "-f", "out.png", env=nowhere)
        relative = {**nowhere, "XDG_CACHE_HOME": "here", "HOME": str(self.folder / "home")}  # the specification: ignored
        pathlib.Path(relative["HOME"]).mkdir()
        self.smp("tune", *CPU, *BLUR, CHELSEA, *QUICK, env=relative)
        self.assertTrue((self.folder / "home/.cache/smempipe/tuned.json").exists())

    def test_a_failed_search_leaves_what_was_kept(self):
        self.keep(CPU, {"variant": "naive", "threads": 1}, 40)
        before = self.kept.read_bytes()
        self.write("broken.png", CHELSEA.read_bytes()[:5000])
        self.smp("tune", *CPU, *BLUR, "broken.png", *QUICK, status=3)
        self.smp("tune", *CPU, "-e", "gausian", CHELSEA, *QUICK, status=2)
        self.assertEqual(self.kept.read_bytes(), before)
        self.assertEqual([p.name for p in self.kept.parent.iterdir()], ["tuned.json"])

    def test_arguments(self):
        self.assertIn("P.pipe is missing", self.smp("tune", status=2).stderr)
        self.assertIn("IN is missing", self.smp("tune", "-e", "invert", status=2).stderr)
        self.assertIn("takes no pipeline", self.smp("tune", "--show", "x.pipe", status=2).stderr)
        self.assertIn("two things", self.smp("tune", "--show", "--forget", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
