"""smempipe learn and docs/course: what lessons claim is what the run says, and their code is that of the kernels."""
import hashlib
import json
import re
import shlex
import shutil
import unittest

from harness import ROOT, CliCase

COURSE = ROOT / "docs" / "course"
LESSONS = sorted(COURSE.glob("[0-9]*.md"))
TOOLS = all(shutil.which(tool) or shutil.which(f"/usr/local/cuda/bin/{tool}") for tool in ("ptxas", "nvdisasm"))
RUN = [lesson for lesson in LESSONS if TOOLS or lesson.stem not in ("13-spills", "15-latency")]  # which want SASS
NUMBERS = ("instr.", "wavefr.", "conflicts")  # columns of a table
KEYS = {"instr.": "instructions", "wavefr.": "wavefronts", "conflicts": "conflicts"}


def tables(text):
    """The rows of all tables, as dictionaries."""
    rows = []
    for head, body in re.findall(r"^(\| kernel .*\|)\n\|[-|]+\|\n((?:\|.*\|\n)+)", text, re.M):
        names = [cell.strip() for cell in head.strip("|").split("|")]
        rows += [dict(zip(names, (cell.strip() for cell in line.strip("|").split("|")))) for line in body.splitlines()]
    return rows


def commands(text):
    """What follows `smempipe`; a backslash goes on in the next line."""
    return re.findall(r"^\$ smempipe (kernel .*)$", text.replace("\\\n", ""), re.M)


class Course(CliCase):
    def runs(self, lesson):
        """Each kernel of the lesson, as --json tells it."""
        found = {}
        for command in commands(lesson.read_text()):
            done = self.smp(*shlex.split(command), "--json", cwd=COURSE)
            for kernel in json.loads(done.stdout)["kernels"]:
                found[kernel["kernel"]] = kernel
        return found

    def smp(self, *arguments, cwd=None, **more):
        if not cwd:
            return super().smp(*arguments, **more)
        at, self.folder = self.folder, cwd
        try:
            return super().smp(*arguments, **more)
        finally:
            self.folder = at

    def test_there_are_fifteen(self):
        self.assertEqual([int(p.name[:2]) for p in LESSONS], list(range(1, 16)))
        listed = self.smp("learn").stdout
        for lesson in LESSONS:
            self.assertIn(lesson.stem[3:], listed)
            self.assertIn(lesson.read_text().splitlines()[0].split(": ")[1], listed)
            self.assertIn(lesson.name, (COURSE / "README.md").read_text())

    def test_what_the_text_claims_is_what_the_run_says(self):
        for lesson in RUN:
            runs, claims = self.runs(lesson), tables(lesson.read_text())
            self.assertGreaterEqual(len(claims), 2, lesson.name)
            self.assertEqual({c["kernel"] for c in claims} - set(runs), set(), lesson.name)
            for claim in claims:
                with self.subTest(lesson.name, claim=claim):
                    if "finding" in claim:
                        self.assertIn((int(claim["line"]), claim["finding"], int(claim["times"])),
                                      self.findings(runs[claim["kernel"]]))
                        continue
                    space, op = claim["access"].split()
                    [row] = [r for r in runs[claim["kernel"]]["rows"]
                             if (r["line"], r["space"], r["op"]) == (int(claim["line"]), space, op)]  # fmt: skip
                    for name in NUMBERS:
                        if claim[name]:
                            self.assertEqual(row[KEYS[name]], int(claim[name]), name)
                    if claim["sectors"]:
                        counted = [row[k] / row["instructions"] for k in ("sectors", "sectors_ideal")]
                        self.assertEqual(counted, [int(n) for n in claim["sectors"].split(" / ")])

    def findings(self, kernel):
        return [(f["at"]["line"], f["kind"], f["count"]) for f in kernel["findings"]]

    def test_right_kernels_have_no_findings_and_mended_ones_no_conflicts(self):
        for lesson, right in (("11-races", "right"), ("14-global-races", "fenced")):
            for name, kernel in self.runs(COURSE / f"{lesson}.md").items():
                self.assertEqual(bool(kernel["findings"]), name != right, name)
        for lesson in RUN:
            if "races" not in lesson.stem:
                self.assertEqual([k["findings"] for k in self.runs(lesson).values() if k["findings"]], [], lesson.name)

    def test_the_code_shown_is_that_of_the_kernel(self):
        for lesson in LESSONS:
            source = lesson.with_suffix(".cu").read_text()
            blocks = re.findall(r"^```cuda\n(.*?)^```", lesson.read_text(), re.M | re.S)
            self.assertTrue(blocks, lesson.name)
            for line in "".join(blocks).splitlines():
                self.assertIn(line, source.splitlines(), lesson.name)
            self.assertLessEqual(len(lesson.read_text().splitlines()), 60, lesson.name)
            first = lesson.with_suffix(".ptx").read_text().splitlines()[0]
            self.assertIn(hashlib.sha256(source.encode()).hexdigest(), first, "docs/course/make.sh is to be called")

    @unittest.skipUnless(TOOLS, "no ptxas or nvdisasm")
    def test_predicted_times_are_those_of_the_model(self):
        text = (COURSE / "15-latency.md").read_text()
        told = [float(us) for us in re.findall(r"^\| \w+.* \| \d+ \| \d+ \| ([\d.]+) \|$", text, re.M)]
        self.assertEqual(len(told), len(commands(text)))
        for us, command in zip(told, commands(text)):
            done = json.loads(self.smp(*shlex.split(command), "--json", cwd=COURSE).stdout)
            [predicted] = [launch["predicted"]["us"] for launch in done["launches"]]
            self.assertAlmostEqual(predicted / us, 1, delta=0.1, msg=command)

    def test_learn_prints_and_runs(self):
        text = self.smp("learn", "3").stdout
        self.assertEqual(text, self.smp("learn", "pad").stdout)
        self.assertRegex(text, r"\n +13  out\[.* shared load +4 +128 +4096 +128 +3968 +32 +32\n")
        self.assertIn("| padded | 13 | shared load | 128 | 128 | 0 |", text)
        self.assertNotIn("```", text)
        dry = self.smp("learn", "03-pad", "--no-run").stdout
        self.assertIn("$ smempipe kernel 03-pad.ptx", dry)
        self.assertNotIn("counts of the PTX", dry)
        self.assertIn("'pad'", self.smp("learn", "padd", status=2).stderr)
        self.assertIn("1 to 15", self.smp("learn", "16", status=2).stderr)

    def test_other_commands_of_the_lessons_work(self):
        for lesson in LESSONS:
            text = lesson.read_text()
            inline = [" ".join(c.split()) for c in re.findall(r"`smempipe (bank [^`]*)`", text)]
            for command in re.findall(r"^\$ smempipe (bank .*)$", text, re.M) + inline:
                self.smp(*shlex.split(command))


if __name__ == "__main__":
    unittest.main()
