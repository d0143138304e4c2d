"""smempipe bank: patterns as teachers write them, the map, the advice, JSON and SVG; and what hostile input gets."""
import json
import re
import shlex
import unittest
import xml.dom.minidom

from harness import ROOT, CliCase

OPS = ("ld", "st", "atom_inc", "atom_add", "atom_add_ret", "atom_add_f32")


def wavefronts(words):
    """4-byte loads on 5.x and newer, counted without the program: most different words in a bank."""
    banks = {}
    for word in words:
        banks.setdefault(word % 32, set()).add(word)
    return max(map(len, banks.values()))


class Bank(CliCase):
    def study(self, *arguments):
        return json.loads(self.smp("bank", *arguments, "--json").stdout)

    def test_a_column_is_32_way_and_33_is_proposed(self):
        text = self.smp("bank", "[32][32] column").stdout
        self.assertIn("32-way bank conflict: 32 wavefronts where 1 would do", text)
        self.assertIn("[32][33] column", text)
        self.assertRegex(text, r"bank 0 +lanes 0-31")
        padded = self.smp("bank", "[32][33] column").stdout
        self.assertIn("no bank conflict: 1 wavefront", padded)
        self.assertNotIn("to avoid it", padded)

    def test_json_tells_everything(self):
        found = self.study("tid*2")
        self.assertEqual((found["wavefronts"], found["ideal"], found["conflicts"], found["n_way"]), (2, 1, 1, 2))
        self.assertEqual(found["offsets"], [8 * lane for lane in range(32)])
        self.assertEqual(found["active_mask"], "0xffffffff")
        self.assertEqual(len(found["map"]), 2)
        self.assertEqual(found["map"][1]["cells"][0], {"bank": 0, "lanes": [16], "byte": 128})
        self.assertEqual(found["shared_banks"][1],
                         {"phase": 1, "bank": 2, "turns": 2, "lanes": [1, 17], "words": [2, 34]})
        self.assertEqual([s["kind"] for s in found["suggestions"]], ["stride", "pad", "swizzle"])
        for key in found:
            self.assertIn(key, self.smp("help", "banks").stdout, "documented")

    def test_proposals_work_when_tried(self):
        for pattern, index in (
            ("[32][32] column", lambda t: (t, 0)), ("[64][64] [tid%16][tid/16]", lambda t: (t % 16, t // 16)),
            ("[128][32] [tid*4][0]", lambda t: (4 * t, 0)), ("[32][64] column 5", lambda t: (t, 5)),
        ):  # fmt: skip
            for s in self.study(pattern)["suggestions"]:
                if s["kind"] == "swizzle":
                    columns = int(re.findall(r"\[(\d+)\]", pattern)[1])
                    column = re.fullmatch(r"\[r\]\[(.*)\]", s["index"])[1]
                    words = [r * columns + eval(column, {}, {"r": r, "c": c}) for r, c in map(index, range(32))]
                    self.assertTrue(all(0 <= w % columns < columns for w in words))
                else:
                    columns = int(re.findall(r"\[(\d+)\]", s["array"])[1])
                    words = [r * columns + c for r, c in map(index, range(32))]
                self.assertEqual(wavefronts(words), 1, s)
                self.assertEqual(s["conflicts"], 0)
        for pattern, stride in (("tid*2", 2), ("tid*32", 32), ("tid*12", 12)):
            for s in self.study(pattern)["suggestions"]:
                places = [t * stride for t in range(32)]
                if s["kind"] == "stride":
                    places = [t * s["stride"] for t in range(32)]
                elif s["kind"] == "pad":
                    places = [i + i // s["every"] * s["pad"] for i in places]
                else:
                    places = [eval(s["index"].replace("/", "//"), {}, {"i": i}) for i in places]
                self.assertEqual(wavefronts(places), 1, (pattern, s))

    def test_several_patterns_make_a_table(self):
        strides = (1, 2, 3, 4, 8, 16, 32, 33)
        patterns = [f"tid*{stride}" for stride in strides]
        lines = self.smp("bank", *patterns).stdout.splitlines()[3:]
        self.assertEqual([int(line.split()[2]) for line in lines],
                         [wavefronts(t * stride for t in range(32)) for stride in strides])
        self.assertTrue(lines[1].endswith("stride 3"))
        found = json.loads(self.smp("bank", *patterns, "--json").stdout)
        self.assertEqual([s["pattern"] for s in found], patterns)
        done = self.smp("bank", "tid", "tidd", "8/tid", status=2)
        self.assertEqual((done.stdout, done.stderr.count(": error: ")), ("", 2))
        self.smp("bank", "tid", "tid*2", "--svg", "map.svg", status=2)
        self.assertEqual(self.files(), [])
        wide = self.smp("bank", "[32][32] column", "x" * 3 + "[tid*2 + threadIdx.x*0 + threadIdx.y*0]",
                        "random(9)").stdout
        self.assertLessEqual(max(map(len, wide.splitlines())), 100)

    def test_the_lesson_is_true(self):
        """docs/banks.md shows what the program prints."""
        blocks = re.findall(r"```console\n\$ smempipe (.*)\n((?:.*\n)*?)```", (ROOT / "docs" / "banks.md").read_text())
        self.assertGreater(len(blocks), 10)
        for command, text in blocks:
            self.assertEqual(self.smp(*shlex.split(command)).stdout, text, command)

    def test_every_operation_and_device(self):
        for op in OPS:
            self.assertEqual(self.study("tid", "--op", op)["op"], op)
        for cc, banks, count in (("1.1", 16, 4), ("2.0", 32, 2), ("3.0", 32, 1), ("3.0/8", 32, 1), ("9.0", 32, 2),
                                 ("12.0", 32, 2)):
            found = self.study("tid*2", "--cc", cc)
            self.assertEqual((found["banks"], found["wavefronts"], found["compute_capability"]), (banks, count, cc))
        self.assertEqual(self.study("tid", "--cc", "sm_86")["compute_capability"], "8.6")
        for cc in ("0", "4.0", "banana", "9.0/8", "9.", "", "-1", "1e3"):
            self.assertIn("hint", self.smp("bank", "tid", "--cc", cc, status=2).stderr)
        for cc in ("1.1", "2.0", "3.5"):
            self.assertIn("hint", self.smp("bank", "tid", "--op", "atom_add", "--cc", cc, status=2).stderr)

    def test_offsets_and_masks(self):
        offsets = " ".join(str(128 * lane) for lane in range(32))
        self.assertEqual(self.study("--offsets", offsets)["wavefronts"], 32)
        self.assertEqual(self.study("--offsets", offsets, "--mask", "0x0000000f")["wavefronts"], 4)
        some = "0,128," + ",".join("-" for _ in range(30))
        found = self.study("--offsets", some)
        self.assertEqual((found["wavefronts"], found["active_mask"], found["offsets"][:3]),
                         (2, "0x00000003", [0, 128, None]))
        self.assertEqual(self.study("tid*32", "--mask", "tid<16")["wavefronts"], 16)
        self.assertEqual(self.study("tid", "--mask", "0")["wavefronts"], 0)
        for bad in ("0 4 8", offsets + " 0", offsets.replace("128", "129"), offsets.replace(
                "128", "x"), offsets.replace("128", "9999999999"), ""):
            done = self.smp("bank", "--offsets", bad, status=2)
            self.assertRegex(done.stderr, r"hint: ")
            self.assertEqual(done.stdout, "")

    def test_maps_fit_100_columns_and_obey_no_color(self):
        for arguments in (("[32][32] column",), ("float4 [32][8] column",), ("double tid", "--cc", "1.1"),
                          ("random(512)", "--op", "atom_add_f32"), ("tid*2", "--cc", "2.0", "-v", "--explain"),
                          ("[64][64] [tid%16][tid/16]", "-v"), ("tid*8", "--mask", "0x55555555")):  # fmt: skip
            text = self.smp("bank", *arguments).stdout
            self.assertLessEqual(max(map(len, text.splitlines())), 100, arguments)
            self.assertNotIn("\033", text)
            self.assertEqual(text, "\n".join(line.rstrip() for line in text.split("\n")), "no blanks at ends of lines")
        self.assertIn("\033[", self.smp("bank", "tid*2", "--color", "always").stdout)

    def test_svg_is_a_picture_of_the_map(self):
        self.smp("bank", "[32][32] column", "--svg", "map.svg")
        text = (self.folder / "map.svg").read_text()
        root = xml.dom.minidom.parseString(text).documentElement
        self.assertEqual(root.tagName, "svg")
        self.assertIn("32-way", root.getAttribute("aria-label"))
        self.assertEqual(text.count('class="later"'), 31)
        self.smp("bank", "tid", "--svg", "map.svg", status=(2, 4))  # not without --force
        self.assertEqual((self.folder / "map.svg").read_text(), text)
        self.smp("bank", "tid", "--svg", "map.svg", "--force")
        self.assertEqual((self.folder / "map.svg").read_text().count('class="later"'), 0)
        self.assertTrue(self.smp("bank", "tid < 5 && tid", "--svg", "-").stdout.startswith("<svg"))
        xml.dom.minidom.parseString(self.smp("bank", "tid < 5 && tid", "--svg", "-").stdout)

    def test_no_pattern_shows_usage_with_examples(self):
        done = self.smp("bank", status=2)
        self.assertEqual(done.stdout, "")
        self.assertIn("usage: smempipe bank", done.stderr)
        self.assertGreaterEqual(done.stderr.count("\n  smempipe bank "), 4)
        for line in re.findall(r"^  (smempipe bank .*)$", done.stderr, re.M):
            arguments = [a[1:-1] if a[0] == "'" else a for a in re.findall(r"'[^']*'|\S+", line)][1:]
            self.smp(*arguments)

    def test_rules_are_told_with_their_sources(self):
        self.assertIn("measured on an H100", self.smp("bank", "tid", "--explain").stdout)
        self.assertIn("F.3.3", self.smp("bank", "tid", "--cc", "1.3", "--explain").stdout)
        everything = self.smp("help", "banks").stdout
        for source in ("F.3.3", "F.4.3", "F.5.3", "H100"):
            self.assertIn(source, everything)
        self.assertLessEqual(max(map(len, everything.splitlines())), 100)

    def test_what_cannot_be_helped_is_said(self):
        self.assertIn("add to one address", self.smp("bank", "0", "--op", "atom_add").stdout)
        self.assertIn("random", self.smp("bank", "random(64)", "--op", "st").stdout.split("to avoid it")[1])
        self.assertIn("quarter-warp", self.smp("bank", "float4 tid", "--cc", "2.0").stdout)
        self.assertIn("no pad frees it", self.smp("bank", "[128][32] [tid*4][0]").stdout)

    def test_a_mistake_has_one_diagnostic_with_a_caret(self):
        for pattern in ("tidd", "tid**2", "8/tid", "[32][32] colum", "(((((", "\x1b[31m", "tid)", "[32][32]", "tid - 1",
                        "9" * 900, "(" * 900, "x" * 5000):
            done = self.smp("bank", pattern, status=2)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(re.findall(r"^PATTERN:1:\d+: error: ", done.stderr, re.M)), 1, done.stderr)
            self.assertEqual(len(re.findall(r"^ +\| +\^|^ +\| \^", done.stderr, re.M)), 1, done.stderr)
            self.assertNotIn("\x1b", done.stderr)
        self.assertIn("--mask:1:", self.smp("bank", "tid", "--mask", "tid<<", status=2).stderr)
        self.assertIn("float", self.smp("bank", "float tid", "--width", "8", status=2).stderr)
        self.assertIn("atomics of 8 bytes", self.smp("bank", "double tid", "--op", "atom_add", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
