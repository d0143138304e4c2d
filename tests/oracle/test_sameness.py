"""One result, however it is computed: strips, threads, variants, instruction sets, storage between stages."""
import itertools
import json
import unittest

import numpy as np

from harness import FORMATS, OracleCase, command, has_isa, picture, run, run_many, some

CHAINS = (
    ["gray", "gaussian 1.5px", "sobel", "levels white=50%"],
    ["invert", "gaussian 2px", "rotate 90", "sharpen", "gamma 1.4"],
    ["levels auto clip=1%", "gaussian 1px -> @soft", "from @input", "subtract by=@soft"],
    ["equalize", "box 5px", "transpose", "laplacian"],
    ["gaussian 3px", "threshold method=otsu", "flip vertical"],
    ["invert", "levels black=20%", "gamma 0.6", "add -5%", "sobel", "multiply 70%", "threshold 30%"],
)


def stages():
    listing = json.loads(command("stages", "--json").stdout)
    return [s for s in listing if s["domain"] != "audio" and any(v["cpu"] for v in s["variants"])]  # no foreign ones


def variants():
    return sorted({v["name"] if isinstance(v, dict) else v for s in stages() for v in s.get("variants", [])})


class Sameness(OracleCase):
    def ways(self):
        return some(self.every_way())

    def every_way(self):
        yield from (("--strip-rows", str(n)) for n in (1, 7, 64, 100000))
        yield from (("--threads", str(n)) for n in (1, 2, 5))
        yield from (("--variant", name) for name in variants())
        isas = ["base"] + [isa for isa in ("v3", "v4") if has_isa(isa)]
        yield from (("--isa", isa) for isa in isas)
        yield from (("--isa", isa, "--strip-rows", "7", "--threads", "2") for isa in isas)
        yield ("--no-fuse",)
        yield ("--plain-storage",)
        yield ("--plain-storage", "--no-fuse")
        yield ("--plain-storage", "--variant", "naive", "--strip-rows", "1", "--isa", "base")

    def test_every_stage_by_its_example(self):
        """Examples that take the picture itself as a second one need a square."""
        every = {s["name"]: [s["example"]] for s in stages()}
        for name in ("canny", "distance", "label"):  # they take one channel
            every[name].insert(0, "gray")
        every["jitter"].insert(0, "depth 8bit")
        for name in ("istft", "ifft"):  # they take two channels (test_mel.py, test_fourier.py)
            del every[name]
        self.assertGreaterEqual(len(every), 20)
        for dtype, shape in ((np.uint8, (67, 45, 3)), (np.uint16, (43, 43, 3)), (np.float32, (131, 33, 3))):
            array = picture(1, shape, dtype)
            square = shape[0] == shape[1]
            examples = {name: lines for name, lines in every.items() if square or "@input" not in lines[0]}
            want = run_many(array, examples)
            for way in self.ways():
                got = run_many(array, examples, *way)
                for name in examples:
                    self.same(got[name], want[name], f"{examples[name]} {array.dtype} {shape} {' '.join(way)}")

    def test_chains(self):
        for dtype, shape in itertools.product(FORMATS, ((67, 45, 3), (45, 131))):
            array = picture(2, shape, dtype)
            chains = {str(i): chain for i, chain in enumerate(CHAINS)}
            want = run_many(array, chains)
            for way in self.ways():
                got = run_many(array, chains, *way)
                for i, chain in enumerate(CHAINS):
                    self.same(got[str(i)], want[str(i)], f"{'; '.join(chain)} {array.dtype} {shape} {' '.join(way)}")

    def test_branches_of_other_heights_take_strips_of_whole_chunks(self):
        """A measure of floats works by chunks of rows: a lower branch must not keep more than a strip for the last."""
        low = ["resize height=67 width=64"]
        for branches in ({"low": low, "high": ["stats", "invert"]},
                         {"low": [*low, "warp 12"], "high": ["standardize auto", "depth 8bit"]}):
            array = picture(3, (100, 64), np.uint8)
            got, want = run_many(array, branches, "--strip-rows", "1"), run_many(array, branches)
            for name in branches:
                self.same(got[name], want[name], name)

    def test_rounding_happens_once(self):
        """A chain on integers equals the same chain on the same values in float, rounded at the end."""
        array = picture(3, (61, 45, 3), np.uint8)
        floats = array.astype(np.float32) / np.float32(255)
        chain = ("gaussian 1.7px", "invert", "gamma 1.3", "box 3px")
        exact = run(floats, *chain).astype(np.float64) * 255
        self.near(run(array, *chain), exact, "rounded once", tie=2e-3)
        # Rounding after every stage is something else: the property above would not notice nothing.
        stepwise = array
        for stage in chain:
            stepwise = run(stepwise, stage)
        self.assertGreater((stepwise != run(array, *chain)).mean(), 0.01)

    def test_same_bytes_twice(self):
        array = picture(4, (301, 203, 3), np.uint8)
        for chain in CHAINS:
            self.same(run(array, *chain), run(array, *chain), "; ".join(chain))


if __name__ == "__main__":
    unittest.main()
