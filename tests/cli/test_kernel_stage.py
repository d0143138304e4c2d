"""The stage kernel: a user's kernel in a pipeline, without a GPU: the same bytes by strips or whole, and messages."""
import json
import os
import shutil
import unittest

import numpy as np
from harness import ROOT, CliCase

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
KERNELS = os.path.join(ROOT, "samples", "kernels")
PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
NVDISASM = shutil.which("nvdisasm") or shutil.which("/usr/local/cuda/bin/nvdisasm")
# Four loads of 4 bytes, of which ptxas makes one of 16.
JOINED = """.version 8.0
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 p0, .param .u64 p1)
{
.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<3>;
.shared .align 16 .b8 s[512];
mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.s32 %r3, %r2, %r1;
cvt.rn.f32.u32 %f0, %r0; st.shared.f32 [%r3], %f0;
bar.sync 0;
ld.shared.f32 %f1, [s]; ld.shared.f32 %f2, [s+4]; ld.shared.f32 %f3, [s+8]; ld.shared.f32 %f4, [s+12];
add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f4; add.f32 %f1, %f1, %f3;
mov.u32 %r4, %ctaid.x; shl.b32 %r4, %r4, 5; add.u32 %r0, %r0, %r4;
ld.param.u64 %d0, [p1]; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1; st.global.f32 [%d0], %f1;
ret;
}
"""
BLUR = 'kernel "blur3.ptx" name=blur3 block=32x8 args=(in, out, width, height, channels, 3.5)'
LADDER = ["transposeNaive", "transposeTiled", "transposePadded"]
TURN = (f'kernel "transpose.ptx" variants={",".join(LADDER)} block=32x8 tile=32x32 over=input '
        "args=(out, in, width, height)")  # fmt: skip


def blurred(picture):
    """In the kernel's order, in f32."""
    padded = np.pad(picture, ((1, 1), (1, 1), (0, 0)), "edge").astype(np.float32)
    height, width = picture.shape[:2]
    total = np.zeros(picture.shape, np.float32)
    for j in range(3):
        for i in range(3):
            weight = np.float32(3.5 if i == j == 1 else 1)
            total += padded[j : j + height, i : i + width] * weight
    return (total / np.float32(11.5) + np.float32(0.5)).astype(np.uint8)


class KernelStage(CliCase):
    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(KERNELS, "blur3.ptx"), self.folder)
        shutil.copy(os.path.join(ROOT, "tests", "lab", "transpose.ptx"), self.folder)
        self.picture = np.random.default_rng(7).integers(0, 256, (45, 70, 3), np.uint8)
        np.save(self.folder / "in.npy", self.picture)

    def run_text(self, text, *more, status=0):
        self.write("a.pipe", "smempipe 1\nkind image\n" + text + "\n")
        return self.smp("run", "a.pipe", "in.npy", "out.npy", "--force", *more, status=status)

    def test_all_ways_give_the_same_bytes(self):
        expected = blurred(self.picture)
        tiled = BLUR.replace("name=blur3", "name=blur3_tiled")
        for text in (BLUR, BLUR + " reach=1", tiled + " reach=1"):
            for more in ((), ("--device", "simt"), ("--strip-rows", "7"), ("--device", "simt", "--strip-rows", "16")):
                with self.subTest(text, more=more):
                    self.run_text(text, *more)
                    np.testing.assert_array_equal(np.load(self.folder / "out.npy"), expected)

    def test_explain_shows_the_kernel_of_whole_pictures_and_no_copy(self):
        self.write("a.pipe", f"smempipe 1\nkind image\n{BLUR}\n")
        told = json.loads(self.smp("explain", "a.pipe", "in.npy", "--device", "simt", "--json").stdout)
        kernels = [one["kernel"] for step in told["steps"] for one in step.get("launches", [])]
        self.assertEqual(kernels, ["blur3"])

    def test_the_sample_runs(self):
        pipe = os.path.join(KERNELS, "blur3.pipe")
        self.smp("run", pipe, "in.npy", "out.npy")
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), blurred(self.picture))

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_a_source_is_compiled_before_the_run_shuts_itself_off(self):
        shutil.copy(os.path.join(KERNELS, "blur3.cu"), self.folder)
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        self.write("a.pipe", "smempipe 1\nkind image\n" + BLUR.replace(".ptx", ".cu") + "\n")
        self.smp("run", "a.pipe", "in.npy", "out.npy", env=environment)
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), blurred(self.picture))
        self.write("blur3.cu", "__global__ void blur3(int x) { y }")
        error = self.smp("run", "a.pipe", "in.npy", "out.npy", "--force", env=environment, status=2).stderr
        self.assertIn("a.pipe:3", error)
        self.assertIn("nvcc cannot compile it", error)

    def test_between_other_stages_it_sees_what_a_file_would_hold(self):
        self.run_text("gaussian 2")
        between = np.load(self.folder / "out.npy")
        self.run_text("gaussian 2\n" + BLUR + "\nflip horizontal")
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), blurred(between)[:, ::-1])

    def test_variants_are_compared_and_counted(self):
        picture = np.random.default_rng(8).random((64, 96), np.float32)
        np.save(self.folder / "in.npy", picture)
        self.run_text(TURN + " width={height} height={width}")
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), picture.T)
        done = self.smp("compare", "a.pipe", "in.npy", "--json", "-", "--repeat", "1")
        step = json.loads(done.stdout)["steps"][-1]
        self.assertEqual([v["variant"] for v in step["variants"]], LADDER)
        self.assertEqual([v["check"] for v in step["variants"]], ["right"] * 3)
        counts = [v["counts"]["model"]["total"] for v in step["variants"]]
        self.assertEqual([c["conflicts"] for c in counts], [0, 192 * 31, 0])
        header = json.loads(done.stdout)["environment"]
        if PTXAS and NVDISASM:
            self.assertEqual((header["counts_of"], header["counts_not_of_sass"]), ("SASS of sm_90", None))
        elif header["counts_not_of_sass"]:
            self.assertIn("transposeTiled: counted in its PTX, since", header["counts_not_of_sass"])

    @unittest.skipUnless(PTXAS and NVDISASM, "no ptxas or nvdisasm")
    def test_what_ptxas_joins_is_counted_as_joined(self):
        self.write("join.ptx", JOINED)
        np.save(self.folder / "in.npy", np.zeros((8, 32), np.float32))
        self.run_text('kernel "join.ptx" name=sum block=32 grid=8 args=(in, out)')
        done = self.smp("compare", "a.pipe", "in.npy", "--json", "-", "--repeat", "1")
        ops = json.loads(done.stdout)["steps"][-1]["variants"][0]["counts"]["model"]["load"]
        self.assertEqual((ops["instructions"], ops["wavefronts"]), (8, 16))

    def test_mistakes_of_a_kernel_are_errors(self):
        np.save(self.folder / "in.npy", np.zeros((32, 32), np.uint8))
        error = self.run_text(TURN, status=1).stderr
        self.assertIn("kernel transposePadded, k01_transpose.cu:33: bounds: thread", error)
        self.assertIn("a kernel of floats needs `depth float` before it", error)

    def test_output_that_a_kernel_leaves_unwritten_is_told(self):
        body = "ld.param.u64 %rd1, [f_1];\nmov.u32 %r1, %tid.x;\ncvt.u64.u32 %rd2, %r1;\nadd.u64 %rd1, %rd1, %rd2;\n"
        head = (".version 8.0\n.target sm_80\n.address_size 64\n"
                ".visible .entry f(.param .u64 f_0, .param .u64 f_1)\n{\n"
                ".reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n")  # fmt: skip
        self.write("f.ptx", head + body + "st.global.u8 [%rd1], %r1;\nret;\n}\n")
        self.write("none.ptx", head + "ret;\n}\n")
        np.save(self.folder / "in.npy", np.zeros((1, 64), np.uint8))
        one = ' block=16 grid=1 args="(in, out)"'
        error = self.run_text('kernel "f.ptx"' + one).stderr
        self.assertIn("kernel f leaves 75 % of its output unwritten, which stays 0", error)
        self.assertEqual(self.run_text('kernel "f.ptx" block=64 grid=1 args="(in, out)"').stderr, "")
        error = self.run_text('kernel "none.ptx"' + one, status=1).stderr
        self.assertIn("kernel f writes nothing of its output", error)

    def test_bytes_out_of_bounds_are_no_matter_of_floats(self):
        np.save(self.folder / "in.npy", np.zeros((8, 8, 3), np.uint8))
        error = self.run_text(BLUR.replace("(in, out, width, height", "(in, out, width, 9"), status=1).stderr
        self.assertIn("bounds", error)
        self.assertNotIn("depth", error)

    def test_messages_name_the_line_and_say_what_to_type(self):
        self.write("no.cu", "int main() {}")
        for text, words in (
            (BLUR.replace("name=blur3", "name=blur4"), ("a.pipe:3", "no kernel 'blur4'", "blur3, blur3_tiled")),
            (BLUR.replace("name=blur3", ""), ("several kernels", "name=NAME")),
            (BLUR.replace("channels, ", ""), ("6 parameters, but args give 5", "pointer or u64, pointer or u64, u32")),
            (BLUR.replace("(in,", "(7,"), ("parameter 1 of the kernel is a pointer", "in or out")),
            (BLUR.replace("channels,", "2.5,"), ("parameter 5 of the kernel is an integer", "2.5")),
            (BLUR.replace("3.5", "out"), ("'out' is a picture", "not a pointer (f32)")),
            (BLUR.replace("width,", "with,"), ("'with' in args", "whole_height")),
            (BLUR.replace("32x8", "32x"), ("block=32x is not a shape", "block=32x8")),
            (BLUR.replace("32x8", "32x64"), ("more than 1024 threads",)),
            (BLUR.replace("blur3.ptx", "none.ptx"), ("a.pipe:3", "none.ptx", "No such file")),
            (BLUR + " reach=1 height=5", ("leave out height",)),
            (BLUR + " variants=blur3", ("one of them is enough",)),
        ):
            with self.subTest(text):
                error = self.run_text(text, status=2).stderr
                for word in words:
                    self.assertIn(word, error)
        if not os.access("/usr/local/cuda/bin/nvcc", os.X_OK):
            path = self.folder / "empty"
            path.mkdir()
            done = self.smp("run", "-e", 'kernel "no.cu"', "in.npy", "out.npy", status=2,
                            env={"PATH": str(path), "HOME": str(path)})  # fmt: skip
            self.assertIn("pip install nvidia-cuda-nvcc", done.stderr)
            done = self.smp("check", "-e", 'kernel "no.cu"', env={"PATH": str(path), "HOME": str(path)})
            self.assertIn("not looked into: compiling a .cu file needs nvcc", done.stderr)

    def test_check_reads_the_files_and_a_batch_fails_before_its_first_file(self):
        self.write("a.pipe", "smempipe 1\nkind image\n" + BLUR.replace("channels, ", "") + "\n")
        error = self.smp("check", "a.pipe", status=2).stderr
        self.assertIn("a.pipe:3:1: error: kernel 'blur3' has 6 parameters, but args give 5", error)
        told = self.smp("batch", "a.pipe", "in.npy", "--to", "npy", "-o", "out", status=2).stderr
        self.assertEqual(told, error)
        self.assertFalse((self.folder / "out").exists())
        self.write("a.pipe", "smempipe 1\nkind image\n" + BLUR + " width={height}\n")
        self.assertIn("ok", self.smp("check", "a.pipe").stdout)  # what depends on the picture waits for it

    def test_a_strangers_file_stays_below_its_folder(self):
        (self.folder / "got").mkdir()
        self.write("got/c.pipe", "smempipe 1\nkind image\n" + BLUR.replace("blur3.ptx", "../blur3.ptx") + "\n")
        error = self.smp("run", "got/c.pipe", "in.npy", "out2.npy", status=2).stderr
        self.assertIn("lies outside the pipe file's folder", error)
        self.smp("run", "got/c.pipe", "in.npy", "out2.npy", "--allow-read", ".")


if __name__ == "__main__":
    unittest.main()
