"""smempipe kernel: what sm_90 has beyond earlier architectures, by programs of tests/lab/runtime: clusters of blocks,
tensor maps, products of four warps."""
import json
import os
import shutil
import tempfile
import unittest

from harness import ROOT, SANITIZED, CliCase

LAB = os.path.join(ROOT, "tests", "lab")
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
NVDISASM = shutil.which("nvdisasm") or shutil.which("/usr/local/cuda/bin/nvdisasm")


@unittest.skipUnless(NVCC and not SANITIZED, "no nvcc, or a sanitizer, which must come first in a program")
class Hopper(CliCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cache = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.cache.cleanup)

    def test_blocks_of_a_cluster_reach_each_other(self):
        program = os.path.join(LAB, "runtime", "cluster.cu")
        environment = {**os.environ, "XDG_CACHE_HOME": self.cache.name}
        done = self.smp("kernel", program, "--json", env=environment)
        self.assertIn("cluster: PASS", done.stderr)
        kernels = [k for k in json.loads(done.stdout)["kernels"] if k["blocks_run"]]
        self.assertEqual(len(kernels), 7)
        for kernel in kernels:
            self.assertEqual((kernel["code"], kernel["differing_bytes"], kernel["findings"], kernel["notes"]),
                             ("sass" if NVDISASM else "ptx", 0, [], None), kernel["kernel"])  # fmt: skip
        for name, status, words in (
            ("r", 0, "of block 1 of the cluster, writes and another reads byte 0 of block 1's shared memory without a "
                     "barrier"),
            ("b", 0, "reads 4 bytes at byte 636 of shared memory of block 0 of the cluster, of which it has 512"),
            ("u", 0, "reads byte 384 of shared memory of block 0 of the cluster, which nobody has written (128 times)"),
            ("k", 0, "accesses shared memory of block 2 of the cluster, which has 2 blocks"),
            ("e", 0, "accesses shared memory of block 1 of the cluster, which may have ended"),
            ("h", 1, "the cluster's barrier waits for 128 threads and only 64 arrive: it hangs"),
        ):
            with self.subTest(name):
                done = self.smp("kernel", program, "--code", "ptx", "--", name, env=environment, status=status)
                self.assertIn(words, done.stdout + done.stderr)

    def test_an_instruction_that_reaches_several_blocks_is_one(self):
        self.write("a.cu", """
            #include <cooperative_groups.h>
            namespace cg = cooperative_groups;
            __global__ void __cluster_dims__(4, 1, 1) k(int *out)
            {
                __shared__ int s[32];
                auto cluster = cg::this_cluster();
                s[threadIdx.x] = threadIdx.x;
                cluster.sync();
                int v = cluster.map_shared_rank(s, threadIdx.x & 3)[threadIdx.x];
                cluster.sync();
                atomicAdd(cluster.map_shared_rank(s, threadIdx.x & 3) + threadIdx.x, v + 2);
                cluster.sync();
                out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
            }
            __global__ void __cluster_dims__(4, 1, 1) late(int *out)
            {
                __shared__ int s[32];
                auto cluster = cg::this_cluster();
                s[threadIdx.x] = 1;
                cluster.sync();
                if (cluster.block_rank() == 3)
                    out[threadIdx.x] = cluster.map_shared_rank(s, 1)[threadIdx.x];
            }
            int main()
            {
                int *out;
                cudaMalloc(&out, 512);
                k<<<4, 32>>>(out);
                late<<<4, 32>>>(out);
                cudaDeviceSynchronize();
            }""")
        kernels = json.loads(self.smp("kernel", "a.cu", "--json").stdout)["kernels"]
        reached = {(r["line"], r["instructions"], r["lanes"]) for r in kernels[0]["rows"] if r["space"] == "shared"}
        self.assertLessEqual({(10, 4, 128), (12, 4, 128)}, reached)
        self.assertEqual([f["block"] for f in kernels[1]["findings"]], [[3, 0, 0]])

    def test_clusters_are_of_the_sizes_that_a_gpu_takes(self):
        done = self.smp("kernel", os.path.join(LAB, "runtime", "cluster.cu"), "--code", "ptx", "--", "sizes",
                        env={**os.environ, "XDG_CACHE_HOME": self.cache.name})  # fmt: skip
        wrong = "cudaErrorInvalidClusterSize"
        self.assertIn(f"3: cudaSuccess, 16: {wrong}, 32: {wrong}, 0: {wrong}, 16: cudaSuccess, 32: {wrong}, "
                      f"last: {wrong}, sum {2 * 3 * 3 + 2 * 16 * 16}\n", done.stdout)  # fmt: skip
        self.assertIn("a cluster of 16 x 1 x 1 blocks cannot be launched", done.stdout)

    def test_boxes_and_maps_that_hardware_refuses(self):
        """As an H200 answers, of these cases and more."""
        program = os.path.join(LAB, "runtime", "hopper_gemm.cu")
        off, rank = (f"{what}: cudaErrorIllegalInstruction" for what in ("boxes off", "another rank"))
        for name, status, words in (
            ("read", 0, (off, "reads a tensor's box that begins at -7 in dimension 0: hardware wants a "
                         "multiple of 16 bytes, here of 8 elements")),
            ("write", 0, (off, "writes a tensor's box that begins at 4 in dimension 0: hardware")),
            ("3", 1, (rank, "no tensor map of 2 dimensions that cuTensorMapEncodeTiled has made")),
            ("each", 0, ("encodings: 0 0 0 0 0 0 0" + 14 * " 1" + "\n",)),
        ):  # fmt: skip
            with self.subTest(name):
                done = self.smp("kernel", program, "--arch", "sm_90a", "--code", "ptx", "--", name, status=status,
                                env={**os.environ, "XDG_CACHE_HOME": self.cache.name})  # fmt: skip
                for word in words:
                    self.assertIn(word, done.stdout + done.stderr)

    def test_tiles_come_by_tensor_maps_and_are_multiplied_by_four_warps(self):
        program = os.path.join(LAB, "runtime", "hopper_gemm.cu")
        environment = {**os.environ, "XDG_CACHE_HOME": self.cache.name}
        for arguments, said in (((), "hopper_gemm: PASS"), (("--", "twice"), "the map is asked for twice its rows")):
            done = self.smp("kernel", program, "--arch", "sm_90a", "--code", "ptx", "--json", *arguments,
                            env=environment)  # fmt: skip
            self.assertIn(said, done.stderr)
            for kernel in json.loads(done.stdout)["kernels"]:
                kinds = {f["kind"] for f in kernel["findings"]}
                self.assertEqual(kinds, {"bounds"} if arguments else set(), kernel["kernel"])
        done = self.smp("kernel", program, "--arch", "sm_90a", "--code", "ptx", "--", "outside", env=environment)
        self.assertIn("boxes outside: cudaErrorIllegalInstruction", done.stdout)
        self.assertIn("writes a tensor's box that begins at -8 in dimension 0: hardware writes none that begins before",
                      done.stdout)
        done = self.smp("kernel", program, "--arch", "sm_90a", "--code", "ptx", "--", "narrow", env=environment)
        self.assertIn("cuTensorMapEncodeTiled: a box that is narrower than its swizzle is not supported", done.stderr)


if __name__ == "__main__":
    unittest.main()
