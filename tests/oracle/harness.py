"""Runs the built program (environment variable SMEMPIPE) on NumPy arrays and compares its output with exact results.

The comparisons allow what one rounding explains and no more:
  u8, u16   the exact result rounded half to even and clamped; where the exact value lies within TIE of a tie, either
            neighbour.
  f32       1e-6 of the absolute values that were summed: cancellation loses digits in any order of summing.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

PROGRAM = os.environ.get("SMEMPIPE", "")
SANITIZED = os.environ.get("SMP_SANITIZED") == "1"  # the program carries AddressSanitizer: every start takes long
# Every run syncs what it writes: thousands of small arrays want memory, not a disk.
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
WHITE = {np.dtype(np.uint8): 255.0, np.dtype(np.uint16): 65535.0, np.dtype(np.float32): 1.0}
FORMATS = (np.uint8, np.uint16, np.float32)
# How far f32 arithmetic may move a value, in code values: decides on which side of a tie it falls.
TIE = {np.dtype(np.uint8): 1e-4, np.dtype(np.uint16): 1e-2}
F32_RELATIVE = 1e-6

# Border modes and what NumPy and scipy.ndimage call them.
EDGES = {
    "clamp": ("edge", "nearest"),
    "reflect": ("symmetric", "reflect"),
    "mirror": ("reflect", "mirror"),
    "wrap": ("wrap", "grid-wrap"),
    "zero": ("constant", "grid-constant"),
}
# (height, width): a point, a row, a column, and odd sizes round a SIMD register, a tile and a strip.
SIZES = ((1, 1), (1, 67), (67, 1), (2, 3), (61, 45), (33, 129))


class ProgramFailed(AssertionError):
    pass


def has_isa(isa):
    """Whether this processor and this build have the instruction set."""
    with tempfile.TemporaryDirectory() as folder:
        sample = pathlib.Path(__file__).resolve().parents[2] / "samples" / "chelsea.png"
        done = subprocess.run([PROGRAM, "run", "-e", "gray", sample, os.path.join(folder, "gray.png"), "--isa", isa],
                              capture_output=True, check=False)  # fmt: skip
    return done.returncode == 0


def white(array):
    return WHITE[array.dtype]


def picture(seed, shape, dtype, low=0.0, high=1.0):
    """A random picture: noise over the whole range in one half, a ramp with sharp squares in the other."""
    rng = np.random.default_rng(seed)
    shape = tuple(shape)
    values = rng.random(shape)
    height, width = shape[:2]
    y, x = np.mgrid[0:height, 0:width]
    ramp = ((x + 2 * y) % 64) / 63.0 * ((x // 7 + y // 5) % 2)
    mask = x * 2 > width
    values[mask] = (ramp if len(shape) == 2 else np.repeat(ramp[..., None], shape[2], 2))[mask]
    values = low + (high - low) * values
    top = WHITE[np.dtype(dtype)]
    return values.astype(np.float32) if top == 1.0 else np.rint(values * top).astype(dtype)


def some(cases):
    """All cases; of a sanitized program a third, another with each call: what they compute is the release build's to
    check, and what they access is alike."""
    cases = list(cases)
    if not SANITIZED:
        return cases
    some.turn += 1
    return cases[some.turn % 3::3] or cases[:1]


some.turn = 0


def shapes(channels=(1, 2, 3, 4), sizes=SIZES):
    """(seed, shape): every size with one channel count each, and every channel count at least once; some() of them."""
    out = []
    for i, size in enumerate(sizes):
        c = channels[i % len(channels)]
        out.append(size if c == 1 else size + (c,))
    for c in channels:
        shape = (61, 45) if c == 1 else (61, 45, c)
        if shape not in out:
            out.append(shape)
    return some(enumerate(out))


def command(*arguments, folder=None, check=True, text=True, stdin=None):
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=text, timeout=300,
                          stdin=stdin)
    if check and done.returncode:
        raise ProgramFailed(f"{' '.join(map(str, arguments))}\nexit {done.returncode}\n{done.stderr}")
    return done


def run_many(array, branches, *options, prologue=(), report=None, beside=None):
    """One process: every branch {name: [statements]} starts at the input; returns {name: array}.

    prologue: statements before the first branch (`light linear`). report: a dict that receives the JSON report.
    beside: arrays {file name: array} that statements may name.
    """
    with tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH) as name:
        folder = pathlib.Path(name)
        np.save(folder / "in.npy", array)
        for file, other in (beside or {}).items():
            np.save(folder / file, other)
        lines = list(prologue)
        names = list(branches)
        for i, branch in enumerate(names):
            lines += ["from @input", *branches[branch]]
            if i + 1 < len(names):
                lines.append(f'save "b{i}.npy"')
        (folder / "p.pipe").write_text("\n".join(lines) + "\n")
        last = f"b{len(names) - 1}.npy"
        extra = [f"--report={folder / 'report.json'}"] if report is not None else []
        try:
            command("run", "-q", folder / "p.pipe", folder / "in.npy", folder / last, *extra, *options)
        except ProgramFailed as error:
            raise ProgramFailed(f"{error}\non {array.dtype} {array.shape}:\n" + "\n".join(lines)) from None
        if report is not None:
            report.update(json.loads((folder / "report.json").read_text()))
        return {branch: np.load(folder / f"b{i}.npy") for i, branch in enumerate(names)}


def run(array, *stages, options=(), prologue=(), report=None):
    return run_many(array, {"only": list(stages)}, *options, prologue=prologue, report=report)["only"]


def findings(array, *stages, options=()):
    """What measuring stages found, in order: a list of {(finding, channel): value or list}."""
    report = {}
    run(array, *stages, options=options, report=report)
    return [
        {(f["name"], f.get("channel", -1)): f["values"] if "values" in f else f["value"] for f in step["findings"]}
        for step in report["steps"]
        if step.get("findings")
    ]


def matrix(values):
    """The language's `[a b; c d]`."""
    return "[" + "; ".join(" ".join(repr(float(v)) for v in row) for row in np.atleast_2d(values)) + "]"


def pad(array, radius_y, radius_x, edge, value=0.0):
    """array with borders, by NumPy; radii larger than the picture work."""
    width = [(radius_y, radius_y), (radius_x, radius_x)] + [(0, 0)] * (array.ndim - 2)
    if edge == "constant":
        return np.pad(array, width, "constant", constant_values=value)
    if edge == "mirror":  # NumPy's reflect refuses axes of one sample
        for axis, radius in ((0, radius_y), (1, radius_x)):
            one = [(0, 0)] * array.ndim
            one[axis] = (radius, radius)
            array = np.pad(array, one, "edge" if array.shape[axis] == 1 else "reflect")
        return array
    return np.pad(array, width, EDGES[edge][0])


def per_channel(function, array):
    """function over every channel's plane."""
    if array.ndim == 2:
        return function(array)
    return np.stack([function(array[..., c]) for c in range(array.shape[2])], axis=2)


class OracleCase(unittest.TestCase):
    longMessage = True
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        if not PROGRAM or not os.access(PROGRAM, os.X_OK):
            raise RuntimeError("SMEMPIPE must name the built program")

    def same(self, got, want, what=""):
        """Identical: type, shape, bytes."""
        self.assertEqual(got.dtype, want.dtype, what)
        self.assertEqual(got.shape, want.shape, what)
        if got.tobytes() != np.ascontiguousarray(want).tobytes():
            at = np.argwhere(~((got == want) | ((got != got) & (want != want))))
            where = tuple(at[0]) if len(at) else "only in the bits of zeros or NaNs"
            shown = f"{got[where]!r} for {want[where]!r}" if len(at) else ""
            self.fail(f"{what}: {len(at)} of {got.size} samples differ, the first at {where}: {shown}")

    def near(self, got, exact, what="", terms=None, tie=None, relative=F32_RELATIVE):
        """got (code values) against exact (double code values, before rounding and clamping)."""
        exact = np.asarray(exact, dtype=np.float64)
        self.assertEqual(got.shape, exact.shape, what)
        top = white(got)
        value = got.astype(np.float64)
        if top == 1.0:
            scale = np.maximum(np.abs(exact), np.abs(exact) if terms is None else terms)
            bad = ~(np.abs(value - exact) <= relative * scale + 1e-30)
        else:
            tie = TIE[got.dtype] if tie is None else tie
            clamped = np.clip(exact, 0, top)
            bad = (value != np.clip(np.rint(exact), 0, top)) & ~(np.abs(value - clamped) <= 0.5 + tie)
        if bad.any():
            where = tuple(np.argwhere(bad)[0])
            error = np.abs(value - (exact if top == 1.0 else np.clip(exact, 0, top)))
            self.fail(
                f"{what} ({got.dtype} {got.shape}): {int(bad.sum())} of {got.size} samples are off, "
                f"the first at {where}: got {value[where]!r}, exact {exact[where]!r}; "
                f"largest error {error[bad].max()!r}")
