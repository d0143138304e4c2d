"""smempipe kernel: the first screen of many kernels, --sarif, --junit and --baseline, on PTX."""
import json
import os
import re
import shutil
import unittest
import xml.etree.ElementTree as xml

from harness import ROOT, CliCase
from pages import check_page, data_of, drawn

LAB = os.path.join(ROOT, "tests", "lab")
TRANSPOSE = os.path.join(LAB, "transpose.ptx")
BUGS = os.path.join(LAB, "bugs.ptx")
SHAPE = ("--grid", "2x2", "--block", "32x8", "--args", "out=f32[64x64] in=f32[64x64] w=64 h=64", "--code", "ptx")
RACE = (BUGS, "--only", "raceNoSync", "--grid", "1", "--block", "256", "--code", "ptx", "--args",
        "in=f32[256] out=f32[256]")  # fmt: skip
PTX = """.version 8.0
.target sm_90
.address_size 64
.file 1 "{file}"
.visible .entry {name}(.param .u64 p)
{{
.reg .b32 %r<4>; .reg .b64 %d<4>;
.shared .align 4 .b8 s[8192];
.loc 1 {line} 1
mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, {shift}; mov.u32 %r2, s; add.s32 %r2, %r2, %r1;
st.shared.u32 [%r2], %r0;
ret;
}}
"""

# What SARIF 2.1.0 lets an object have: names of members that must be there, and of others, with what they hold. A list
# of one is an array of that.
TEXT, WHOLE, FLAG = str, int, bool
URI = re.compile(r"(file:///)?([A-Za-z0-9._~/-]|%[0-9A-F]{2})+").fullmatch
MESSAGE = ({"text": TEXT}, {})
PLACE = ({"artifactLocation": ({"uri": URI}, {})}, {"region": ({"startLine": WHOLE}, {})})
LOCATION = ({"physicalLocation": PLACE}, {"id": WHOLE, "message": MESSAGE})
LEVEL = ("none", "note", "warning", "error").__contains__
RULE = ({"id": TEXT}, {"shortDescription": MESSAGE, "fullDescription": MESSAGE, "help": MESSAGE,
                       "defaultConfiguration": ({}, {"level": LEVEL})})  # fmt: skip
RESULT = ({"message": MESSAGE, "ruleId": TEXT, "ruleIndex": WHOLE, "level": LEVEL, "locations": [LOCATION],
           "partialFingerprints": dict, "occurrenceCount": WHOLE},
          {"relatedLocations": [LOCATION],
           "baselineState": ("new", "unchanged", "updated").__contains__})  # fmt: skip
LOG = ({"version": "2.1.0".__eq__, "$schema": TEXT,
        "runs": [({"tool": ({"driver": ({"name": TEXT}, {"semanticVersion": TEXT, "rules": [RULE]})}, {}),
                   "results": [RESULT]},
                  {"invocations": [({"executionSuccessful": FLAG}, {})]})]}, {})  # fmt: skip


# Each block goes on from what the block before it has written, as often.
MEET = """__global__ void meet(unsigned *x) {
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    unsigned n = blockIdx.x ? x[i - 256] + 1 : 1;
    for (unsigned k = 0; k < n % 16; k++) n += k;
    x[i] = n; }
"""


class Reports(CliCase):
    def holds(self, value, what, at="log"):
        """Whether a value is what SARIF wants there."""
        if isinstance(what, list):
            self.assertIsInstance(value, list, at)
            for i, item in enumerate(value):
                self.holds(item, what[0], f"{at}[{i}]")
        elif isinstance(what, tuple):
            must, may = what
            self.assertIsInstance(value, dict, at)
            self.assertEqual(set(must) - set(value), set(), at)
            self.assertEqual(set(value) - set(must) - set(may), set(), at)
            for name, item in value.items():
                self.holds(item, {**must, **may}[name], f"{at}.{name}")
        elif isinstance(what, type):
            self.assertIs(type(value), what, at)
            self.assertGreaterEqual(value, 0 if at.endswith("Index") else 1, at) if what is WHOLE else None
        else:
            self.assertTrue(what(value), f"{at}: {value!r}")

    def sarif(self, *arguments, **more):
        path = self.folder / "a.sarif"
        done = self.smp("kernel", *arguments, "--sarif", path, "--force", **more)
        log = json.loads(path.read_text())
        self.holds(log, LOG)
        run = log["runs"][0]
        for result in run["results"]:
            self.assertEqual(run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"], result["ruleId"])
        return done, run

    def conflicting(self, shift, line=3, name="f", text="s[i] = i;"):
        """A kernel in a.ptx of a.cu whose stride in shared memory is 2^shift bytes."""
        self.write("a.cu", "\n" * (line - 1) + f"    {text}\n")
        self.write("a.ptx", PTX.format(file=self.folder / "a.cu", line=line, shift=shift, name=name))
        return ("a.ptx", "--only", name, "--grid", "1", "--block", "32", "--args", "p=f32[32]", "--code", "ptx")

    def base(self, *arguments):
        return self.write("base.json", self.smp("kernel", *arguments, "--json").stdout)

    # ---------------------------------------------------------------------------------------- the first screen

    def test_many_kernels_are_one_screen_with_the_worst_line_first(self):
        names = "transposePadded,transposeTiled,transposeNaive,transposeTiled,transposeTiled"
        text = self.smp("kernel", TRANSPOSE, "--only", names, *SHAPE).stdout
        lines = text.splitlines()
        self.assertLess(len(lines), 25, text)
        self.assertIn("5 launches of 3 kernels, ", text)
        worst = [line for line in lines if " of " in line and "%  k01" in line]
        self.assertRegex(worst[0], r"^  +87 %  k01_transpose.cu:24 .* shared load +11\.9k of 12\.3k wavefronts "
                                   r" transposeTiled x 3$")  # fmt: skip
        self.assertRegex(worst[1], r"k01_transpose.cu:10 .* global store +3584 of 4096 sectors +transposeNaive$")
        self.assertIn("  to avoid the first: pad tile by 1 element", text)
        self.assertRegex(text, r"\n  transposeTiled +3 +\S+ +32 +16\.5 ")
        self.assertNotIn("conflicts n-way lanes", text)

    def test_tables_follow_with_v(self):
        names = "transposePadded,transposeTiled,transposeNaive,transposeTiled"
        for option in ("-v", "--map", "--each"):
            text = self.smp("kernel", TRANSPOSE, "--only", names, *SHAPE, option).stdout
            self.assertEqual(text.count("\n   line  source"), 4, option)
            self.assertIn("4 launches of 3 kernels, ", text)
        self.assertNotIn("launches of", self.smp("kernel", TRANSPOSE, "--only", names[:46], *SHAPE).stdout)

    def test_what_is_not_shown_side_by_side_is_refused(self):
        for option in ("--map", "--time --what-if"):
            said = self.smp("kernel", TRANSPOSE, "--compare", *option.split(), status=2).stderr
            self.assertIn(f"{option.split()[-1]} is not shown side by side", said)
        said = self.smp("kernel", TRANSPOSE, "--compare", "--time", "--csv", status=2).stderr
        self.assertIn("--csv has no predicted times", said)

    def test_findings_of_many_kernels_are_folded(self):
        text = self.smp("kernel", BUGS, "--only", ",".join(4 * ["raceNoSync"]), *RACE[3:]).stdout
        self.assertEqual((text.count("  race  "), text.count("  uninitialised  ")), (2, 1))
        self.assertRegex(text, r"\n  race  k16_bugs.cu:\d+ and k16_bugs.cu:\d+, raceNoSync: .*\(\d+ times\)\n")

    def test_a_table_tells_bytes_and_lanes(self):
        text = self.smp("kernel", TRANSPOSE, "--only", "transposeNaive", *SHAPE).stdout
        self.assertIn("32 of 32 lanes active; global memory: 144.0 KiB moved, 32.0 KiB needed", text)

    def test_each_lists_all_instructions_with_their_counts(self):
        kernel = (BUGS, "--only", "divergent", "--grid", "1", "--block", "128", "--code", "ptx", "--args",
                  "out=f32[256] n=100", "--each")  # fmt: skip
        told = json.loads(self.smp("kernel", *kernel, "--json").stdout)["kernels"][0]
        steps = told["instructions"]
        self.assertEqual([s["place"] for s in steps], list(range(len(steps))))
        self.assertEqual(sum(s["executed"] for s in steps), told["warp_instructions"])
        self.assertEqual(sum(s["lanes"] for s in steps), told["lane_instructions"])
        self.assertEqual(sum(s["executed"] for s in told["mix"]), told["warp_instructions"])
        self.assertEqual(sum(s["executed"] for s in told["lines"]), told["warp_instructions"])
        self.assertEqual([(s["executed"], s["splits"]) for s in steps if "splits" in s], [(4, 1)])
        text = self.smp("kernel", *kernel).stdout
        self.assertRegex(text, r"\n +\d+  mov.u32 %r\d+, %tid.x +4 +32\n")
        self.assertRegex(text, r"\n  by operation: .* \d+ %.*; 1 of \d+ branches split their warp\n")

    def test_the_page_lists_instructions_beside_the_source(self):
        page = self.folder / "page.html"
        self.smp("kernel", *self.conflicting(7), "--html", page)
        made = page.read_text()
        check_page(self, made)
        kernel = data_of(made)["kernels"][0]
        self.assertIn("st.shared.u32 [%r2], %r0", [s["instruction"] for s in kernel["instructions"]])
        self.assertRegex(drawn(self, made), r'aria-label="instructions of line 3">3</button>.*<h3>PTX</h3>')

    @unittest.skipUnless(shutil.which("ptxas") and shutil.which("nvdisasm"), "no ptxas or nvdisasm in PATH")
    def test_any_number_of_processors_tells_the_same(self):
        many = (TRANSPOSE, "--only", "transposeTiled", "--grid", "32x32", "--block", "32x8", "--args",
                "out=f32[1024x1024] in=f32[1024x1024]=random w=1024 h=1024", "--each", "--json", "--save", ".",
                "--force")  # fmt: skip
        self.write("meet.cu", MEET)
        meet = ("meet.cu", "--only", "meet", "--grid", "128", "--block", "256", "--args", "x=u32[32768]", "--each",
                "--json", "--save", ".", "--force", "--no-findings")  # fmt: skip
        for what, out in ((many, "out.raw"), ((*many, "--no-findings"), "out.raw"), (meet, "x.raw")):
            told = []
            for threads in ("1", "2", "7"):
                done = self.smp("kernel", *what, env={**os.environ, "OMP_NUM_THREADS": threads})
                told.append((done.stdout, (self.folder / out).read_bytes()))
            self.assertEqual(told[0], told[1])
            self.assertEqual(told[0], told[2])

    @unittest.skipUnless(shutil.which("ptxas") and shutil.which("nvdisasm"), "no ptxas or nvdisasm in PATH")
    def test_sass_alone_has_the_same_counts_and_no_findings(self):
        race = (BUGS, "--only", "raceNoSync", "--grid", "1", "--block", "256", "--args", "in=f32[256] out=f32[256]")
        both, alone = (json.loads(self.smp("kernel", *race, "--json", *more).stdout)["kernels"][0]
                       for more in ((), ("--no-findings",)))  # fmt: skip
        self.assertEqual(both["rows"], alone["rows"])
        self.assertTrue(both["findings"] and not alone["findings"])
        self.assertEqual(alone["notes"], "mistakes are not looked for: --no-findings\n")
        error = self.smp("kernel", *race, "--no-findings", "--fail-on", "races", status=1).stderr
        self.assertIn("--fail-on races: they were not looked for in raceNoSync: --no-findings", error)

    # ---------------------------------------------------------------------------------------- SARIF

    def test_sarif_has_both_lines_of_a_race(self):
        self.write(".git", "")
        _, run = self.sarif(*RACE)
        race = next(r for r in run["results"] if r["ruleId"] == "race")
        self.assertEqual(race["level"], "error")
        here, other = (x[0]["physicalLocation"] for x in (race["locations"], race["relatedLocations"]))
        self.assertTrue(here["artifactLocation"]["uri"].endswith("k16_bugs.cu"))
        self.assertNotEqual(here["region"], other["region"])
        self.assertIn(f"the other access is at k16_bugs.cu:{other['region']['startLine']}", race["message"]["text"])

    def test_sarif_tells_paths_from_the_repository(self):
        self.write(".git", "")
        (self.folder / "sub folder").mkdir()
        kernel = self.conflicting(7)
        (self.folder / "a.cu").rename(self.folder / "sub folder" / "a.cu")
        self.write("a.ptx", PTX.format(file=self.folder / "sub folder" / "a.cu", line=3, shift=7, name="f"))
        _, run = self.sarif(*kernel)
        [place] = [r["locations"][0]["physicalLocation"] for r in run["results"]]
        self.assertEqual(place, {"artifactLocation": {"uri": "sub%20folder/a.cu"}, "region": {"startLine": 3}})

    def test_fingerprints_stay_where_lines_move(self):
        prints = []
        for line, text in ((3, "s[i] = i;"), (9, "s[i] = i;"), (3, "s[i] = j;")):
            _, run = self.sarif(*self.conflicting(7, line, text=text))
            prints += [r["partialFingerprints"]["smempipeLine/v1"] for r in run["results"]]
        self.assertEqual(prints[0], prints[1])
        self.assertNotEqual(prints[0], prints[2])

    def test_sarif_of_a_right_kernel_has_no_results(self):
        _, run = self.sarif(*self.conflicting(2))
        self.assertEqual((run["results"], run["tool"]["driver"]["rules"]), ([], []))

    def test_sarif_of_a_kernel_that_stops_says_so(self):
        kernel = self.conflicting(2)
        self.write("a.ptx", (self.folder / "a.ptx").read_text().replace("ret;", "trap;"))
        _, run = self.sarif(*kernel, status=1)
        self.assertEqual(run["invocations"], [{"executionSuccessful": False}])
        self.assertEqual([r["ruleId"] for r in run["results"]], ["stopped"])

    # ---------------------------------------------------------------------------------------- JUnit

    def junit(self, *arguments, **more):
        path = self.folder / "a.xml"
        self.smp("kernel", *arguments, "--junit", path, "--force", **more)
        suite = xml.parse(path).getroot().find("testsuite")
        cases = suite.findall("testcase")
        failing = {c.get("name") for c in cases if c.find("failure") is not None}
        self.assertEqual((int(suite.get("tests")), int(suite.get("failures"))), (len(cases), len(failing)))
        return failing, cases

    def test_junit_fails_where_the_run_does(self):
        tiled = (TRANSPOSE, "--only", "transposeTiled", *SHAPE)
        self.assertEqual(self.junit(*tiled)[0], set())
        self.assertEqual(self.junit(*tiled, "--fail-on", "conflicts", status=7)[0], {"conflicts"})
        self.assertEqual(self.junit(*RACE, "--fail-on", "conflicts")[0], set())
        failing, cases = self.junit(*RACE)
        self.assertEqual(failing, {"race", "uninitialised"})
        [race] = [c.find("failure") for c in cases if c.get("name") == "race"]
        self.assertRegex(race.text, r"k16_bugs.cu:\d+: Threads race for memory, kernel raceNoSync: ")

    def test_junit_skips_what_was_not_looked_for(self):
        cases = self.junit(*RACE)[1]
        skipped = {c.get("name") for c in cases if c.find("skipped") is not None}
        self.assertEqual(skipped, {"copy", "free", "leak", "spills", "slower", "different"})  # kernels alone ran
        self.assertEqual(len({c.get("name") for c in cases}), len(cases))

    # ---------------------------------------------------------------------------------------- the baseline

    def test_nothing_new_passes_though_lines_moved(self):
        base = self.base(*self.conflicting(6))
        done = self.smp("kernel", *self.conflicting(6, line=40), "--baseline", base)
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.smp("kernel", *self.conflicting(6, text="s[i] = (i);"), "--baseline", base).stderr, "")
        self.smp("kernel", *self.conflicting(5), "--baseline", base)

    def test_what_got_worse_fails(self):
        base = self.base(*self.conflicting(3))
        done = self.smp("kernel", *self.conflicting(7), "--baseline", base, status=7)
        self.assertEqual(done.stderr, "worse: conflicts at a.cu:3, kernel f: 31 of 32 wavefronts of a shared store are "
                                      "bank conflicts; before 1\n")  # fmt: skip
        self.assertEqual(self.sarif(*self.conflicting(7), "--baseline", base,
                                    status=7)[1]["results"][0]["baselineState"], "updated")  # fmt: skip
        self.smp("kernel", *self.conflicting(7), "--baseline", base, "--fail-on", "races")
        self.smp("kernel", *self.conflicting(7), "--baseline", base, "--fail-on", "conflicts", status=7)

    def test_what_is_new_fails(self):
        base = self.base(*self.conflicting(2))
        done = self.smp("kernel", *self.conflicting(3), "--baseline", base, status=7)
        self.assertIn("new: conflicts at a.cu:3, kernel f: 1 of 2 wavefronts", done.stderr)
        base = self.base(*RACE)
        self.assertEqual(self.smp("kernel", *RACE, "--baseline", base, "--fail-on", "races").stderr, "")
        found = json.loads(base.read_text())
        found["kernels"][0]["findings"] = []
        self.write("base.json", json.dumps(found))
        done = self.smp("kernel", *RACE, "--baseline", base, status=7)
        self.assertRegex(done.stderr, r"(?m)^new: race at k16_bugs.cu:\d+ and k16_bugs.cu:\d+, kernel raceNoSync: ")

    def test_a_kernel_that_is_gone_is_told(self):
        base = self.base(*self.conflicting(2, name="g"))
        self.assertEqual(self.smp("kernel", *self.conflicting(2), "--baseline", base).stderr,
                         "not compared: g was launched in the earlier run alone\n")  # fmt: skip

    def test_a_baseline_that_is_none_is_refused_before_anything_runs(self):
        kernel = self.conflicting(2)
        for text, words in (
            ("{", "not JSON: a key is missing"), ("", "not JSON: a value is missing"), ("[1", "a ',' is missing"),
            ("[" * 100, "nested too deeply"), ('{"a": "\\u12g4"}', "four digits"), ('{"a": "', "does not end"),
            ('{"a": 1} 2', "something follows"), ("[1, 2]", 'no "kernels"'), ('{"a": tru}', "a value is missing"),
            ('{"kernels": [{"name": 5, "findings": 7}]}', 'no "kernels"'), ('{"kernels": 5}', 'no "kernels"'),
            ('{"kernels": [{"kernel": "f", "findings": [], "rows": 1}]}', 'no "kernels"'),
        ):  # fmt: skip
            for option in (("--baseline", "base.json"), ("--time", "--fail-on", "slower=base.json:1%")):
                with self.subTest(text, option=option):
                    self.write("base.json", text)
                    error = self.smp("kernel", *kernel[:-2], *option, status=3).stderr
                    self.assertIn(words, error)
                    self.assertIn("--json > base.json makes one", error)
        self.smp("kernel", *kernel, "--baseline", "none.json", status=3)

    def test_a_gate_that_can_never_fail_is_refused(self):
        kernel = self.conflicting(2)[:-2]
        self.write("base.json", '{"kernels": []}')
        for share in ("nan%", "1e400%", "inf", "-1%", "", "5x"):
            with self.subTest(share):
                error = self.smp("kernel", *kernel, "--time", "--fail-on", f"slower=base.json:{share}", status=2).stderr
                self.assertIn("is not a file and a percentage of 0 or more", error)

    def test_a_gpu_that_stands_apart_from_time_is_refused(self):
        kernel = self.conflicting(2)[:-2]
        for words in ((*kernel, "--time", "h100"), ("--time", "h100", *kernel)):
            self.assertIn("--time=h100", self.smp("kernel", *words, status=2).stderr)

    def test_a_failed_run_leaves_no_report_of_an_earlier_one(self):
        reports = ("--junit", "a.xml", "--sarif", "a.sarif", "--html", "a.html", "--force")
        self.smp("kernel", *self.conflicting(2), *reports)
        self.assertTrue({"a.xml", "a.sarif", "a.html"} <= set(self.files()))
        self.smp("kernel", *self.conflicting(2), *reports, "--only", "g", status=2)
        self.assertFalse({"a.xml", "a.sarif", "a.html"} & set(self.files()))
        self.smp("kernel", *self.conflicting(2), *reports[:-1])
        self.smp("kernel", *self.conflicting(2), *reports[:-1], status=4)  # what is not to be replaced stays
        self.assertTrue({"a.xml", "a.sarif", "a.html"} <= set(self.files()))

    def test_quiet_says_why_the_status_is_7(self):
        self.assertEqual(self.smp("kernel", *self.conflicting(7), "-q", "--fail-on", "conflicts", status=7).stderr,
                         "found: conflicts at a.cu:3, kernel f: 31 of 32 wavefronts of a shared store are bank "
                         "conflicts\n")  # fmt: skip
        self.assertRegex(self.smp("kernel", *RACE, "-q", "--fail-on", "races", status=7).stderr, "found: race at ")

    def test_kernels_that_leave_other_values_are_told_everywhere(self):
        two = (TRANSPOSE, "--only", "transposeNaive,transposeTiled", "--compare", "--grid", "2x2;2x1", *SHAPE[2:])
        done, run = self.sarif(*two, "-q", status=7)
        self.assertRegex(done.stderr, r"(?m)^different: transposeTiled: out\[\d+\] is .* elements differ$")
        [told] = [r for r in run["results"] if r["ruleId"] == "different"]
        self.assertIn(done.stderr.split(": ", 2)[2].strip(), told["message"]["text"])
        for more in ((), ("--fail-on", "races")):
            self.assertIn("different", self.junit(*two, *more, status=7)[0], more)
        same = (TRANSPOSE, "--only", "transposeNaive,transposeTiled", "--compare", *SHAPE)
        failing, cases = self.junit(*same)
        self.assertNotIn("different", failing)
        self.assertEqual([c.find("skipped") for c in cases if c.get("name") == "different"], [None])

    def test_a_file_of_times_may_have_commas_and_is_one(self):
        kernel = self.conflicting(2)[:-2]
        for words, said, status in (("races,slower=a,b.json:10%,bounds", "a,b.json: ", 3),
                                    ("slower=a,b.json:10%", "a,b.json: ", 3),
                                    ("slower=a.json:1,races", "a.json: ", 3),
                                    ("slower=a.json:1%,slower=b.json:1%", "slower= twice", 2)):  # fmt: skip
            self.assertIn(said, self.smp("kernel", *kernel, "--time", "--fail-on", words, status=status).stderr)

    @unittest.skipUnless(shutil.which("nvdisasm"), "no nvdisasm")
    def test_what_is_no_kernel_is_an_input_that_cannot_be_read(self):
        for name in ("junk.cubin", "junk.ptx"):
            self.write(name, "junk")
            self.smp("kernel", name, "--only", "f", "--grid", "1", "--block", "1", status=3)

    def test_reports_replace_no_other_file(self):
        kernel = self.conflicting(2)
        self.write("a.txt", "notes")
        self.smp("kernel", *kernel, "--sarif", "a.txt", "--force", status=4)
        self.smp("kernel", *kernel, "--junit", "a.ptx", "--force", status=4)
        self.smp("kernel", *kernel, "--junit", "one", "--sarif", "one", status=4)
        base = self.base(*kernel)
        self.smp("kernel", *kernel, "--baseline", base, "--sarif", base, "--force", status=4)
        self.assertEqual((self.folder / "a.txt").read_text(), "notes")

    # ---------------------------------------------------------------------------------------- arrays

    def test_arrays_come_from_files_and_are_saved(self):
        padded = (TRANSPOSE, "--only", "transposePadded", *SHAPE[:4])
        data = os.urandom(4 * 64 * 64)
        self.write("in.raw", data)
        words = ("--args", "out=f32[64x64] in=f32[64x64]=@in.raw w=64 h=64", "--code", "ptx", "--save", ".")
        self.smp("kernel", *padded, *words, status=4)  # in.raw is there
        self.smp("kernel", *padded, *words, "--force")
        rows = [data[4 * i : 4 * i + 4] for i in range(64 * 64)]
        self.assertEqual((self.folder / "out.raw").read_bytes(),
                         b"".join(rows[64 * x + y] for y in range(64) for x in range(64)))  # fmt: skip
        for change, status, told in (
            ("out=f32[64x64] in=f32[64x63]=@in.raw w=64 h=64", 2, "holds 16384 bytes, and the array takes 16128"),
            ("out=f32[64x64] in=f32[64x64]=@none.raw w=64 h=64", 3, "none.raw"),
            ("x=f32[64x64] x=f32[64x64] w=64 h=64", 2, "'x' is not a name of one array"),
            ("../x=f32[64x64] in=f32[64x64] w=64 h=64", 2, "'../x' is not a name of one array"),
        ):
            error = self.smp("kernel", *padded, "--args", change, *words[2:], "--force", status=status).stderr
            self.assertIn(told, error)
        self.smp("kernel", *padded, *words[:-1], "none", status=4)
        two = ("--only", "transposePadded,transposeTiled")
        self.assertIn("of one kernel", self.smp("kernel", TRANSPOSE, *two, *SHAPE, "--save", ".", status=2).stderr)

    @unittest.skipUnless(shutil.which("ptxas") and shutil.which("nvdisasm"), "no ptxas or nvdisasm in PATH")
    def test_ptx_that_is_newer_than_ptxas_says_what_to_do(self):
        kernel = self.conflicting(2)[:-2]
        self.write("a.ptx", (self.folder / "a.ptx").read_text().replace(".version 8.0", ".version 99.9"))
        self.assertRegex(self.smp("kernel", *kernel).stdout, r"its \.version is 99\.9, and ptxas knows those up to \d+"
                         r"\.\d \(write that there, or pip install -U")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
