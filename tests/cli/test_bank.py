"""smempipe bank: patterns as teachers write them, the map, the advice, JSON and SVG; and what hostile input gets."""
import csv
import json
import re
import shlex
import unittest
import xml.dom.minidom

from harness import ROOT, CliCase

OPS = ("ld", "st", "atom_inc", "atom_add", "atom_add_ret", "atom_add_f32", "ldmatrix", "ldmatrix_x1", "stmatrix",
       "stmatrix_x2", "cp_async", "cp_async_ca")


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
        self.smp("bank", "tid", "tid*2", "--svg", "map.svg", status=2)
        self.assertEqual(self.files(), [])
        wide = self.smp("bank", "[32][32] column", "x" * 3 + "[tid*2 + threadIdx.x*0 + threadIdx.y*0]",
                        "random(9)").stdout
        self.assertLessEqual(max(map(len, wide.splitlines())), 100)

    def test_a_mistake_hides_no_other_pattern(self):
        done = self.smp("bank", "tid", "tidd", "tid*2", "8/tid", "--width", "4", status=2)
        self.assertEqual(done.stderr.count(": error: "), 2)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()[3:]], ["tid", "tid*2"])
        done = self.smp("bank", "double tid", "tid", "--op", "atom_add", "--json", status=2)
        self.assertEqual([s["pattern"] for s in json.loads(done.stdout)], ["tid"])
        self.assertIn("atomics of 8 bytes", done.stderr)
        self.assertEqual(self.smp("bank", "tidd", "tid*", status=2).stdout, "")

    def test_names_have_values(self):
        found = self.study("tid*stride", "-D", "stride=1,2,4,8")
        self.assertEqual([s["wavefronts"] for s in found], [1, 2, 4, 8])
        self.assertEqual([s["defines"] for s in found], [{"stride": n} for n in (1, 2, 4, 8)])
        text = self.smp("bank", "s[tid*2*n + k]", "-D", "n=1,0x10", "-D", "k=0,1").stdout
        self.assertRegex(text, r"\ns\[tid\*2\*n \+ k\], n=16, k=1 +4 +32 ")
        self.assertEqual(self.study("float t[N][N+1]; t[tid][0]", "-D", "N=32")["wavefronts"], 1)
        done = self.smp("bank", "tid*strides", "-D", "strides=2", "-D", "stride=1,2", status=2)
        self.assertIn("no pattern has the name 'stride'", done.stderr)
        done = self.smp("bank", "tid*(n-2)", "tid+", "-D", "n=1,0,2,3", status=2)
        self.assertEqual(done.stderr.count(": error: "), 3, "of n=1 and n=0; of tid+ once")
        self.assertIn("n=1", done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 5)
        for bad in ("tid=3", "n", "n=", "n=1,,2", "2n=1", "n=tid", "n=1+", "n=" + ",".join("1" * 257)):
            done = self.smp("bank", "tid", "-D", bad, status=2)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, "hint: |expected")

    def test_declarations_are_pasted(self):
        for text, count in (
            ("extern __shared__ float s[]; s[tid*2]", 2), ("__shared__ float tile[32][33]; tile[threadIdx.x][0]", 1),
            ("float s[32][32], t[32][33]; t[tid][0];", 1), ("float s[32][32], t[32][33]; s[tid][0];", 32),
            ("struct {float x, y, z, w;} s[32]; s[tid].y", 4), ("float4 s[32]; s[tid].x", 4),
            ("typedef struct {float x; double d;} P; P s[32]; s[tid].d", 4), ("float3 s[32]; s[tid].z", 1),
            ("struct P {float v[3]; int id;}; P s[64]; s[tid].v[1]", 4), ("float s[][33]; s[tid][1]", 1),
            ("__shared__ __align__(16) float s[128]; &s[tid*4]", 4), ("float s[32][32]; s column 3", 32),
            ("std::uint8_t s[32][128]; s[tid][0]", 32), ("unsigned short s[64]; s[tid]", 1),
        ):  # fmt: skip
            self.assertEqual(self.study(text)["wavefronts"], count, text)
        self.assertEqual(self.study("threadIdx.z*32 + threadIdx.y + 0*blockDim.z", "--block", "4x4x2")["wavefronts"], 2)
        struct = self.study("struct {float x, y, z, w;} s[32]; s[tid].y")["suggestions"]
        self.assertEqual([(s["kind"], s["size"], s["wavefronts"]) for s in struct], [("struct", 20, 1)])
        found = self.study("float3 tid")
        self.assertEqual([(s["member"], s["offsets"][1], s["wavefronts"]) for s in found],
                         [("x", 12, 1), ("y", 16, 1), ("z", 20, 1)])

    def test_an_unknown_type_is_an_error(self):
        for text, says in (("flaot4 [32][8] column", "did you mean 'float4'"), ("half8 [8][8] column", "no such type"),
                           ("half8[8][8] column", "no such type"), ("flaot4[32][8] column", "unknown type 'flaot4'"),
                           ("complex [16][16] column", "unknown type 'complex'"), ("Half2 [8][8] row", "'half2'"),
                           ("int8 [8][8] row", "no such type"), ("tile [32][33] column", "directly before its '['"),
                           ("s[tid].x", "float4 s[32]; s[tid].x"), ("float2 s[32]; s[tid].z", "float2 has x to y"),
                           ("float s[32]; t[tid]", "no array 't' is declared")):  # fmt: skip
            done = self.smp("bank", text, status=2)
            self.assertEqual(done.stdout, "")
            self.assertIn(says, done.stderr)
        for text, width in (("size_t tid", 8), ("nv_bfloat16 tid", 2), ("__nv_bfloat162 tid", 4), ("bf16 tid", 2),
                            ("half2 tid", 4), ("__half tid", 2), ("double2 tid", 16), ("char4 tid", 4),
                            ("ulonglong2 tid", 16), ("uintptr_t tid", 8), ("cuComplex tid", 8)):  # fmt: skip
            self.assertEqual(self.study(text)["width"], width, text)
        self.assertEqual([s["width"] for s in self.study("uchar3 tid")], [1, 1, 1])
        self.assertEqual([s["width"] for s in self.study("double4 tid")], [16, 16])

    def test_matrix_rows_cost_what_an_h100_counted(self):
        """tests/data/h100_matrix_patterns.csv; a few of its rows, since each is a process."""
        with open(ROOT / "tests" / "data" / "h100_matrix_patterns.csv") as file:
            rows = list(csv.DictReader(line for line in file if line[0] != "#"))
        self.assertGreater(len(rows), 200)
        for row in rows[::12]:
            op = row["op"] + ("" if row["matrices"] == "4" else "_x" + row["matrices"])
            found = self.study("--offsets", row["lane_byte_offsets"], "--op", op)
            self.assertEqual(found["wavefronts"], int(row["wavefronts"]), row)

    def test_matrix_tiles_and_copies(self):
        tile = "half s[16][%d]; s[tid%%16][tid/16*8]"
        bad, good = (self.study(tile % n, "--op", "ldmatrix") for n in (64, 72))
        self.assertEqual((bad["wavefronts"], good["wavefronts"], good["ideal"]), (32, 4, 4))
        self.assertEqual([(s["kind"], s["wavefronts"]) for s in bad["suggestions"]], [("pad", 4), ("swizzle", 4)])
        self.assertIn("needs a multiple of 16", self.smp("bank", tile % 68, "--op", "ldmatrix", status=2).stderr)
        self.assertEqual(self.study(tile % 64, "--op", "ldmatrix_x1")["active_mask"], "0x000000ff")
        self.assertEqual(self.study("float4 tid", "--op", "cp_async")["wavefronts"], 4)
        self.assertEqual(self.study("float4 tid + 1", "--op", "cp_async")["wavefronts"], 12)
        self.assertEqual(self.study("float4 tid + 8", "--op", "cp_async", "--from", "tid + 16")["wavefronts"], 4)
        self.assertEqual(self.study("[32][33] column", "--op", "cp_async", "--from", "tid*32")["wavefronts"], 32)
        for arguments in (("tid", "--op", "ldmatrix", "--cc", "7.0"), ("tid", "--op", "stmatrix", "--cc", "8.9"),
                          ("tid", "--op", "cp_async", "--cc", "7.5"), ("tid", "--from", "tid"),
                          ("tid", "--op", "ldmatrix", "--width", "8"), ("tid", "--op", "cp_async", "--width", "2"),
                          ("half tid", "--op", "cp_async")):  # fmt: skip
            self.assertEqual(self.smp("bank", *arguments, status=2).stdout, "")
        for shape in ("16x", "0", "x8", "8x8x8x8", "64x64", "1e3"):
            self.assertIn("32x8", self.smp("bank", "tid", "--block", shape, status=2).stderr)

    def test_the_lesson_is_true(self):
        """docs/banks.md shows what the program prints."""
        blocks = re.findall(r"```console\n\$ smempipe (.*)\n((?:.*\n)*?)```", (ROOT / "docs" / "banks.md").read_text())
        self.assertGreater(len(blocks), 10)
        for command, text in blocks:
            self.assertEqual(self.smp(*shlex.split(command)).stdout, text, command)

    def test_every_operation_and_device(self):
        for op in OPS:
            self.assertEqual(self.study("tid", "--op", op)["op"], op)
        for cc in ("5.0", "9.0", "12.0"):
            found = self.study("tid*2", "--cc", cc)
            self.assertEqual((found["banks"], found["wavefronts"], found["compute_capability"]), (32, 2, cc))
        self.assertEqual(self.study("tid", "--cc", "sm_86")["compute_capability"], "8.6")
        for cc in ("0", "1.1", "3.0/8", "4.0", "99", "8.1", "banana", "9.0/8", "9.", "", "-1", "1e3"):
            self.assertIn("hint", self.smp("bank", "tid", "--cc", cc, status=2).stderr)

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
        for arguments in (("[32][32] column",), ("float4 [32][8] column",), ("double tid",),
                          ("random(512)", "--op", "atom_add_f32"), ("tid*2", "--explain"),
                          ("[64][64] [tid%16][tid/16]",), ("tid*8", "--mask", "0x55555555")):  # fmt: skip
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
        both = self.smp("bank", "tid", "--svg", "-", "--json", status=2)
        self.assertEqual(both.stdout, "")
        self.assertIn("only one of --json and --svg", both.stderr)
        self.assertIn('"wavefronts": 1', self.smp("bank", "tid", "--svg", "other.svg", "--json").stdout)

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
        everything = self.smp("help", "banks").stdout
        self.assertIn("H100", everything)
        self.assertLessEqual(max(map(len, everything.splitlines())), 100)

    def test_what_cannot_be_helped_is_said(self):
        self.assertIn("add to one address", self.smp("bank", "0", "--op", "atom_add").stdout)
        self.assertIn("random", self.smp("bank", "random(64)", "--op", "st").stdout.split("to avoid it")[1])
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
