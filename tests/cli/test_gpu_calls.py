"""What a batch asks of a GPU's driver, as SMP_TRACE_DRIVER=times tells: nothing is acquired for each file."""
import io
import os
import re
import unittest

import numpy as np
import PIL.Image

from harness import CliCase

ACQUIRING = ("cuMemAlloc", "cuMemHostAlloc", "cuMemHostRegister", "cuEventCreate", "cuStreamCreate",
             "cuModuleLoadData", "cuMemFree", "cuDevicePrimaryCtxRetain")


class GpuCalls(CliCase):
    def calls(self, count, suffix, make, *words):
        """How often each entry point was called for so many files."""
        folder = self.folder / f"in{count}"
        folder.mkdir()
        for number in range(count):
            (folder / f"{number}{suffix}").write_bytes(make(number))
        done = self.smp("batch", "-q", *words, folder, "-o", f"out{count}", "--device", "simt",
                        env={**os.environ, "SMP_TRACE_DRIVER": "times"})
        lines = re.findall(r"^(cu\w+) +(\d+) +[\d.]+ +[\d.]+$", done.stderr, re.M)
        self.assertTrue(lines, done.stderr)
        return {name: int(calls) for name, calls in lines}

    def check(self, suffix, make, *words):
        few, many = (self.calls(count, suffix, make, *words) for count in (2, 5))
        self.assertGreater(many["cuLaunchKernel"], few["cuLaunchKernel"])
        for name in ACQUIRING:
            self.assertEqual(many.get(name), few.get(name), name)
        return many

    def test_no_file_of_strips_acquires_anything_that_the_first_left(self):
        def array(number):
            file = io.BytesIO()
            np.save(file, np.full((2100, 2100), number, np.uint8))
            return file.getvalue()

        calls = self.check(".npy", array, "-e", "transpose")
        self.assertEqual(calls["cuMemHostRegister"], 1) # where the decoder leaves rows: no copy of them is made

    def test_no_jpeg_acquires_anything_that_the_first_left(self):
        def jpeg(number):
            file = io.BytesIO()
            noise = np.random.default_rng(number).integers(0, 256, (24, 32, 3)).astype(np.uint8)
            PIL.Image.fromarray(noise).save(file, "JPEG")
            return file.getvalue()

        self.check(".jpg", jpeg, "-e", "invert", "--gpu-jpeg", "1")


if __name__ == "__main__":
    unittest.main()
