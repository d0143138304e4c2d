"""smempipe batch over tar files: WebDataset's shards in and out."""
import io
import os
import signal
import subprocess
import tarfile
import time
import unittest

from PIL import Image

from batch_case import BatchCase
from harness import PROGRAM


class Shards(BatchCase):
    def shard(self, name, keys, ends=("png", "cls", "json"), broken=(), folder=""):
        """A tar file of samples; pictures differ by their key."""
        (self.folder / name).parent.mkdir(exist_ok=True, parents=True)
        with tarfile.open(self.folder / name, "w") as tar:
            for key in keys:
                for end in ends:
                    data = f"{key} of {end}".encode()
                    if end == "png":
                        self.small_png("one.png", 20 + int(key[-3:]) % 9, 12)
                        data = (self.folder / "one.png").read_bytes()[: 60 if key in broken else None]
                    member = tarfile.TarInfo(f"{folder}{key}.{end}")
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))

    def test_what_no_name_says_is_copied_and_told(self):
        with tarfile.open(self.folder / "s.tar", "w") as tar:
            tar.add(self.small_png("one.png", 20, 12), "cat")
        done = self.batch("s.tar", "-o", "out")
        self.assertIn("s.tar: cat is copied as it is: its name does not say what it is", done.stderr)
        self.assertEqual(self.members("out/s.tar"), [("cat", (self.folder / "one.png").read_bytes())])

    def members(self, name):
        with tarfile.open(self.folder / name) as tar:
            return [(member.name, tar.extractfile(member).read()) for member in tar]

    def test_pictures_have_the_bytes_of_run_and_the_rest_is_copied_in_its_order(self):
        self.shard("in/s0.tar", ["a/001", "a/002", "b/003"])
        self.shard("in/s1.tar", ["004"])
        self.batch("in/s0.tar", "in/s1.tar", "-o", "out/{shard}.tar", "--to", "qoi")
        self.assertEqual(sorted(self.outputs()), ["s0.tar", "s1.tar"])
        made, given = self.members("out/s0.tar"), self.members("in/s0.tar")
        self.assertEqual([name for name, _ in made], [name.replace("png", "qoi") for name, _ in given])
        for (name, data), (_, before) in zip(made, given):
            if name.endswith("qoi"):
                (self.folder / "member.png").write_bytes(before)
                self.smp("run", "-e", "gaussian 1px", "member.png", "want.qoi", "-f")
                self.assertEqual(data, (self.folder / "want.qoi").read_bytes(), name)
            else:
                self.assertEqual(data, before, name)
        self.batch("in/s0.tar", "in/s1.tar", "-o", "again", "--to", "qoi", "-j", "1")
        self.assertEqual(self.outputs("again"), self.outputs())

    def test_a_sample_of_a_broken_picture_is_left_out_and_told(self):
        self.shard("in/s.tar", ["001", "002", "003"], broken=["002"])
        done = self.batch("in/s.tar", "-o", "out", status=1)
        self.assertIn("in/s.tar: a sample is left out: 002.png: ", done.stderr)
        self.assertIn("error: 1 sample was left out of tar files", done.stderr)
        self.assertEqual([name for name, _ in self.members("out/s.tar")][::3], ["001.png", "003.png"])
        self.assertEqual(len(self.members("out/s.tar")), 6)
        done = self.batch("in/s.tar", "-o", "strict", "--on-error", "stop", status=1)
        self.assertIn("in/s.tar: 002.png: ", done.stderr)
        self.assertEqual(self.outputs("strict"), {})

    def test_every_resume_tells_of_samples_that_were_left_out(self):
        self.shard("in/s.tar", ["001", "002", "003"], broken=["002"])
        self.shard("in/t.tar", ["004"])
        self.smp("list", "in", "--include", "*.tar", "-o", "work.list")
        tars, listed = ["in/s.tar", "in/t.tar"], ["--list", "work.list"]
        for out, inputs in (("out", tars), ("late", [*tars, "--sync", "piece"]), ("listed", listed)):
            self.batch(*inputs, "-o", out, status=1)
            whole = self.outputs(out)
            for _ in range(2):
                done = self.batch(*inputs, "-o", out, "--resume", status=1)
                self.assertIn(f"{out}/s.tar: samples were left out when it was made", done.stderr)
                self.assertIn("0 files done, 2 done before", done.stderr)
                self.assertIn("1 tar file lacks samples that an earlier run left out", done.stderr)
            self.assertEqual(self.outputs(out)["s.tar"], whole["s.tar"])
        self.shard("in/s.tar", ["001", "002", "003"])
        done = self.batch("in/s.tar", "in/t.tar", "-o", "out", "--resume")
        self.assertIn("1 file done, 1 done before", done.stderr)

    def test_a_shard_without_a_good_picture_and_a_damaged_one_fail(self):
        self.shard("in/s.tar", ["001", "002"], broken=["001", "002"])
        self.shard("in/whole.tar", ["003"])
        whole = (self.folder / "in/whole.tar").read_bytes()
        self.write("in/cut.tar", "")
        (self.folder / "in/cut.tar").write_bytes(whole[:700])
        done = self.batch("in/s.tar", "in/cut.tar", "in/whole.tar", "-o", "out", status=1)
        self.assertIn("2 of 3 files failed", done.stderr)
        self.assertIn("the tar file is truncated", done.stderr)
        self.assertNotIn("--exclude", done.stderr)  # it would leave the good ones out too
        self.assertEqual(list(self.outputs()), ["whole.tar"])

    def test_random_values_are_a_members_own_whatever_its_shard(self):
        self.shard("in/s0.tar", ["001", "002"])
        self.shard("in/s1.tar", ["002", "003"])
        self.smp("batch", "-e", "crop random 9x7", "in/s0.tar", "in/s1.tar", "-o", "out", "--seed", "5")
        one, other = self.members("out/s0.tar"), self.members("out/s1.tar")
        self.assertEqual(one[3], other[0])
        self.smp("batch", "-e", "crop random 9x7", "in/s0.tar", "-o", "next", "--seed", "6")
        self.assertNotEqual(self.members("next/s0.tar"), one)

    def test_two_members_of_one_name_are_told(self):
        self.shard("in/s.tar", ["001", "002"], ends=("png", "cls"))
        with tarfile.open(self.folder / "in/s.tar", "a") as tar:
            for end in ("png", "bmp"):
                self.smp("run", "-f", "-e", "flip horizontal", "one.png", f"other.{end}")
                tar.add(self.folder / f"other.{end}", f"003.{end}")
        done = self.batch("in/s.tar", "-o", "out", "--to", "png", status=1)
        self.assertIn("a sample is left out: 003.bmp: it would be called 003.png, as one before it is", done.stderr)
        self.assertEqual(len(self.members("out/s.tar")), 4)

    def test_nothing_is_written_beside_the_tar_file(self):
        """Members are made in memory: no name in the output's folder, and no link there, matters."""
        self.shard("in/s.tar", ["001"])
        (self.folder / "out").mkdir()
        self.write("victim", "mine")
        for name in (".s.tar.png", "001.png", ".001.png"):
            (self.folder / "out" / name).symlink_to(self.folder / "victim")
        self.batch("in/s.tar", "-o", "out")
        self.assertEqual((self.folder / "victim").read_text(), "mine")
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir() if "journal" not in path.name),
                         [".001.png", ".s.tar.png", "001.png", "s.tar"])

    def test_formats_that_are_written_out_of_order_are_whole(self):
        self.shard("in/s.tar", ["001"])
        for end in ("tif", "webp", "avif", "ico", "npy"):
            self.batch("in/s.tar", "-o", f"out-{end}", "--to", end)
            (self.folder / "member.png").write_bytes(self.members("in/s.tar")[0][1])
            self.batch("member.png", "-o", f"want-{end}", "--to", end)
            self.assertEqual(self.members(f"out-{end}/s.tar")[0],
                             (f"001.{end}", (self.folder / f"want-{end}/member.{end}").read_bytes()))

    def test_a_name_that_comes_again_later_is_told(self):
        self.shard("in/s.tar", ["001", "002"])
        with tarfile.open(self.folder / "in/s.tar", "a") as tar:
            tar.add(self.folder / "one.png", "001.png")
        done = self.batch("in/s.tar", "-o", "out", status=1)
        self.assertIn("001.png: it would be called 001.png, as one before it is", done.stderr)
        self.assertEqual(len(self.members("out/s.tar")), 6)

    def test_a_sample_that_is_left_out_takes_no_name(self):
        good = self.small_png("one.png", 20, 12)
        self.write("broken.png", good.read_bytes()[:60])
        (self.folder / "in").mkdir()
        with tarfile.open(self.folder / "in/s.tar", "w") as tar:
            for path, name in ((good, "a.png"), (self.folder / "broken.png", "a.b.png"), (good, "c.png"),
                               (good, "a.png")):
                tar.add(path, name)
        done = self.batch("in/s.tar", "-o", "out", status=1)
        self.assertIn("a sample is left out: a.b.png", done.stderr)
        self.assertEqual([name for name, _ in self.members("out/s.tar")], ["c.png", "a.png"])

    def test_what_a_sample_becomes_is_counted_as_memory(self):
        Image.new("RGB", (2000, 2000)).save(self.folder / "flat.png")
        (self.folder / "in").mkdir()
        with tarfile.open(self.folder / "in/s.tar", "w") as tar:
            for i in range(30):
                tar.add(self.folder / "flat.png", f"a.{i}.png")
        done = self.batch("in/s.tar", "-o", "out", "--to", "npy", "--max-memory", "200000000", status=1)
        self.assertIn("memory", done.stderr)
        self.assertFalse((self.folder / "out/s.tar").exists())

    def test_long_names_are_kept(self):
        key = "f" * 90 + "/" + "g" * 60 + "001"
        self.shard("in/s.tar", [key])
        self.batch("in/s.tar", "-o", "out")
        self.assertEqual(self.members("out/s.tar")[1:], self.members("in/s.tar")[1:])
        self.assertEqual(self.members("out/s.tar")[0][0], f"{key}.png")

    def test_a_killed_run_goes_on_with_whole_shards(self):
        for i in range(6):
            self.shard(f"in/s{i}.tar", [f"{k:03d}" for k in range(40)])
        shards = [f"in/s{i}.tar" for i in range(6)]
        run = subprocess.Popen([PROGRAM, "batch", "-q", "-j", "1", "-e", "median 9", *shards, "-o", "out"],
                               cwd=self.folder)
        while len(list((self.folder / "out").glob("s*.tar"))) < 2 and run.poll() is None:
            time.sleep(0.002)
        run.send_signal(signal.SIGKILL)
        run.wait()
        whole = self.outputs()
        self.assertTrue(2 <= len([name for name in whole if not name.startswith(".")]) < 6)
        done = self.smp("batch", "-e", "median 9", *shards, "-o", "out", "--resume")
        self.assertIn("done before", done.stderr)
        self.smp("batch", "-e", "median 9", *shards, "-o", "want")
        left = {name: data for name, data in self.outputs().items() if not name.startswith(".s")}
        self.assertEqual(left, self.outputs("want"))

    def test_tasks_share_a_list_of_shards(self):
        for i in range(3):
            self.shard(f"in/s{i}.tar", ["001"])
        done = self.smp("list", "in", "-o", "work.list", status=3)
        self.assertIn("3 files there were passed over by name (3 .tar); --include '*'", done.stderr)
        self.assertFalse((self.folder / "work.list").exists())
        self.smp("list", "in", "--include", "*.tar", "-o", "work.list")
        self.batch("--list", "work.list", "--claim", "-o", "out/{shard}.tar")
        self.assertEqual([name for name in self.outputs() if name[0] == "s"], ["s0.tar", "s1.tar", "s2.tar"])

    def test_what_has_no_place_in_a_tar_file_is_refused(self):
        self.shard("in/s.tar", ["001"])
        self.write("p.pipe", "smempipe 1\ngaussian 1px\nsave \"other.png\"\n")
        done = self.smp("batch", "p.pipe", "in/s.tar", "-o", "out", status=1)
        self.assertIn("the pipeline saves files, which a tar file has no place for", done.stderr)
        done = self.batch("in/s.tar", "-o", "out/{shard}.tar", "--name", "{stem}.tar", status=2)
        self.assertIn("both name the outputs", done.stderr)
        if os.path.exists(self.folder / "out"):
            self.assertEqual(self.outputs(), {})


if __name__ == "__main__":
    unittest.main()
