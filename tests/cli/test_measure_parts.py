"""measure on several machines: --shard K/N --partial, --merge, as one process would tell it."""
import json
import os
import random
import struct
import unittest

from harness import CliCase, SAMPLES, png_bytes

FORMS = ((), ("--json",), ("--csv",), ("--csv", "--long"), ("--csv", "--sort", "-mean_r"), ("-t",), ("-t", "--json"))


class MeasureParts(CliCase):

    def make_set(self, count=21):
        """Colour and gray, 8 and 16 bits, a sound, a broken picture, a name that is passed over, folders in folders."""
        random.seed(36)
        (self.folder / "set" / "in").mkdir(parents=True)
        for i in range(count):
            width, height, channels = 5 + i % 4, 3 + i % 5, (3, 1)[i % 3 == 2]
            depth = (8, 16)[i % 5 == 4]
            rows = [random.randbytes(width * channels * depth // 8) for _ in range(height)]
            self.write(f"set/{'in/' if i % 2 else ''}{random.randrange(10**6):06}.png",
                       png_bytes(rows, width, depth=depth, color=2 if channels == 3 else 0))
        frames = struct.pack("<800h", *(random.randrange(-32768, 32768) for _ in range(800)))
        head = struct.pack("<I4s4sIHHIIHH4sI", 36 + len(frames), b"WAVE", b"fmt ", 16, 1, 1, 8000, 16000, 2,
                           16, b"data", len(frames))
        self.write("set/noise.wav", b"RIFF" + head + frames)
        self.write("set/broken.png", "no picture")
        self.write("set/clip.mov", "no picture either")

    def part(self, k, n, *more, name=None, status=0, pipe=("-e", "stats [10 50 99]", "-e", "histogram 8")):
        name = name or f"{k}-{n}.part"
        self.smp("measure", *pipe, "set", "-r", "--shard", f"{k}/{n}", "--partial", name, *more, status=status)
        return name

    def test_parts_merge_to_the_bytes_of_one_process(self):
        self.make_set()
        pipe = ("-e", "stats [10 50 99]", "-e", "histogram 8")
        whole = {form: self.smp("measure", *pipe, "set", "-r", *form, status=1) for form in FORMS}
        self.assertEqual(json.loads(whole[("--json",)].stdout)["done"], 22)
        for n in (1, 3, 8):
            parts = [self.part(k, n) for k in range(1, n + 1)]
            for form in FORMS:
                random.shuffle(parts)
                done = self.smp("measure", "--merge", *parts, *form, status=1)
                self.assertEqual(done.stdout, whole[form].stdout, f"{n} parts {form}")
                self.assertEqual(done.stderr, whole[form].stderr, f"{n} parts {form}")
        self.assertIn("1 of 23 files failed", whole[()].stderr)
        self.assertIn("(1 .mov)", whole[()].stderr)

    def test_a_part_of_failures_alone_is_told(self):
        (self.folder / "set").mkdir()
        for name in "ab":
            self.write(f"set/{name}.png", "no picture")
        done = self.smp("measure", "-e", "stats", "set", "--shard", "1/1", "--partial", "1.part", status=1)
        self.assertIn("all 2 files failed, the first: ", done.stderr)
        self.assertIn("set/a.png", done.stderr)
        self.assertIn("2 of 2 files failed", self.smp("measure", "--merge", "1.part", status=1).stderr)

    def test_parts_of_totals_are_for_totals(self):
        self.make_set(9)
        parts = [self.part(k, 2, "-t") for k in (1, 2)]
        whole = self.smp("measure", "-e", "stats [10 50 99]", "-e", "histogram 8", "set", "-r", "-t", status=1)
        done = self.smp("measure", "--merge", *parts, "--together", status=1)
        self.assertEqual((done.stdout, done.stderr), (whole.stdout, whole.stderr))
        done = self.smp("measure", "--merge", *parts, status=2)
        self.assertIn("merge with --together", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_what_does_not_belong_together_is_refused(self):
        self.make_set(9)
        one, two, three = (self.part(k, 3) for k in (1, 2, 3))
        other = self.part(2, 3, name="other.part", pipe=("-e", "stats"))
        half = self.part(2, 2)
        self.write("set/aaa.png", png_bytes([b"\0\0\0"], 1))
        late = self.part(2, 3, name="late.part")
        for parts, wanted in (((one, two), "1 of 3 parts is missing: shard 3"), ((three,), "shards 1, 2"),
                              ((one, two, two, three), "is shard 2 of 3, and so is '2-3.part'"),
                              ((one, other, three), "another pipeline"), ((one, half), "the part is one of 2"),
                              ((one, late, three), "of other files than '1-3.part': its shard saw 12, that one 11"),
                              ((one, "none.part"), "No such file")):
            done = self.smp("measure", "--merge", *parts, status=3 if "none.part" in parts else 2)
            self.assertIn(wanted, done.stderr)
            self.assertIn(" = hint: " if "none.part" not in parts else "none.part", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_a_file_that_comes_between_two_shards_cannot_be_lost(self):
        """Sharding by index loses files when one comes that sorts first."""
        self.make_set(9)
        one = self.part(1, 2)
        self.write("set/000.png", png_bytes([b"\0\0\0"], 1))
        two = self.part(2, 2)
        self.assertIn("of other files", self.smp("measure", "--merge", one, two, status=2).stderr)
        one = self.part(1, 2, "--force")
        done = self.smp("measure", "--merge", one, two, "--json", status=1)
        self.assertEqual(json.loads(done.stdout)["done"], 11)

    def test_shards_of_a_list_are_its_pieces(self):
        """A list stays what it was, whatever comes meanwhile; parts of it and parts of a folder do not mix."""
        self.make_set()
        self.smp("list", "set", "-r", "-o", "work.list", "--piece-files", "4")
        pipe = ("-e", "gray", "-e", "stats")  # of pictures: the sound and the film are passed over
        whole = self.smp("measure", *pipe, "--list", "work.list", "--csv", status=1)
        self.assertEqual(len(whole.stdout.splitlines()), 22)
        self.write("set/000.png", png_bytes([b"\0\0\0"], 1))
        parts = [f"{k}.part" for k in range(1, 4)]
        for k, part in enumerate(parts, 1):
            self.smp("measure", *pipe, "--list", "work.list", "--shard", f"auto/{len(parts)}", "--partial", part, env={
                **os.environ, "PARALLEL_SEQ": str(k)})
        done = self.smp("measure", "--merge", *reversed(parts), "--csv", status=1)
        self.assertEqual((done.stdout, done.stderr), (whole.stdout, whole.stderr))
        self.assertIn("2 files passed over by their names", done.stderr)  # as of the folder
        folder = self.part(2, 3, name="folder.part", pipe=pipe)
        done = self.smp("measure", "--merge", parts[0], folder, parts[2], status=2)
        self.assertIn("of other files than '1.part'", done.stderr)
        done = self.smp("measure", *pipe, "--list", "work.list", "-r", status=2)
        self.assertIn("--list and --recursive exclude each other", done.stderr)

    def test_damage_and_versions(self):
        self.make_set(3)
        name = self.part(1, 1)
        data = (self.folder / name).read_bytes()
        self.write("cut.part", data[:-3])
        self.write("bad.part", data[:200] + bytes((data[200] ^ 1,)) + data[201:])
        self.write("png.part", png_bytes([b"\0\0\0"], 1))
        for file, wanted in (("cut.part", "is cut off"), ("bad.part", "is damaged"), ("png.part", "is not a part")):
            done = self.smp("measure", "--merge", file, "--json", status=3)
            self.assertIn(wanted, done.stderr)
            self.assertIn(file, done.stderr)
            self.assertEqual(done.stdout, "")
        # the same head of another version, with its hash (FNV-1a)
        version = self.smp("--version").stdout.split()[1].encode()
        at = data.index(b"h" + bytes((len(version),)) + version)
        length = struct.unpack("<Q", data[at - 16:at - 8])[0]
        record = bytearray(data[at:at + length])
        record[2:3] = b"X"
        value = 0xcbf29ce484222325
        for byte in record:
            value = (value ^ byte) * 0x100000001b3 % 2**64
        self.write("old.part", data[:at - 8] + struct.pack("<Q", value) + record + data[at + length:])
        done = self.smp("measure", "--merge", "old.part", status=3)
        self.assertIn(f"was measured by smempipe X{version[1:].decode()}, this is {version.decode()}", done.stderr)

    def test_command_lines(self):
        self.make_set(3)
        for words, wanted in ((("-e", "stats", "set", "--shard", "1/2"), "--shard 1/2 --partial FILE"),
                              (("-e", "stats", "set", "--shard", "3/2", "--partial", "p"),
                               "is not a valid value for --shard"),
                              (("-e", "stats", "set", "--partial", "p", "--json"), "give them to measure --merge"),
                              (("-e", "stats", "set", "--force"), "leave out --force"),
                              (("--merge",), "IN is missing"),
                              (("-e", "stats", "--merge", "p"), "measure --merge PART..."),
                              (("--merge", "p", "--shard", "1/2"), "measure --merge PART...")):
            self.assertIn(wanted, self.smp("measure", *words, status=2).stderr, words)
        name = self.part(1, 1)
        before = (self.folder / name).read_bytes()
        self.assertIn("--force", self.smp("measure", "-e", "stats", "set", "--partial", name, status=4).stderr)
        self.assertEqual((self.folder / name).read_bytes(), before)
        picture = next((self.folder / "set").glob("0*.png"), None) or next((self.folder / "set").glob("[1-9]*.png"))
        kept = picture.read_bytes()
        self.smp("measure", "-e", "stats", "set", "-f", "--partial", picture.relative_to(self.folder), status=4)
        self.assertEqual(picture.read_bytes(), kept)

    def test_loudness_of_an_album(self):
        names = [SAMPLES / "speech.flac", SAMPLES / "field.flac"]
        for k in (1, 2):
            self.smp("measure", "-e", "loudness", *names, "--shard", f"{k}/2", "--partial", f"{k}.part")
        whole = self.smp("measure", "-e", "loudness", *names, "--json").stdout
        self.assertEqual(self.smp("measure", "--merge", "2.part", "1.part", "--json").stdout, whole)
        told = json.loads(whole)

        def value(findings, name):
            return next(f["value"] for f in findings if f["name"] == name)

        single = [file["results"][0]["findings"] for file in told["files"]]
        for group in told["together"]:
            peaks = [value(f, "true_peak") for f in single]
            self.assertIn(value(group["findings"], "true_peak"), peaks)
            self.assertLessEqual(value(group["findings"], "lufs"), max(value(f, "lufs") for f in single) + 1e-9)


if __name__ == "__main__":
    unittest.main()
