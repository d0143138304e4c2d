"""CUDA kernels without a GPU: runs the command `smempipe kernel` over NumPy arrays."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

from . import _library as _c

_WORDS = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int8": "i8", "uint8": "u8",
          "int16": "i16", "uint16": "u16", "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64"}
_ERRORS = {2: _c.ArgumentError, 3: _c.FileError, 4: _c.FileError, 6: _c.LimitError}
_MOST_NAME = 40  # characters of an array's name


class Kernel:
    """What one kernel costs and does wrong.

    name, grid, block, launches; counts: {"instructions", "wavefronts", "conflicts", "sectors", ...}, sums over all
    lines; rows: the lines, a dict each, as `smempipe kernel --json` has them; findings: its mistakes, likewise; notes:
    a list of texts; arrays: {name: what the kernel left in the array of args}; predicted: with time=, its launches."""

    def __init__(self, told, arrays, launches):
        self.name, self.grid, self.block = told["kernel"], tuple(told["grid"]), tuple(told["block"])
        self.launches, self.rows, self.findings = told["launches"], told["rows"], told["findings"]
        self.notes = (told["notes"] or "").splitlines()
        self.arrays, self.predicted = arrays, launches
        sums = ("wavefronts", "ideal", "conflicts", "sectors", "sectors_ideal")
        local = [row for row in self.rows if row["space"] == "local"]
        self.counts = {"instructions": told["warp_instructions"], "lane_instructions": told["lane_instructions"],
                       **{key: sum(row.get(key, 0) for row in self.rows if row not in local) for key in sums},
                       "local_bytes": sum(row["bytes"] for row in local), **told.get("sm", {})}

    def __getitem__(self, name):
        return self.arrays[name]

    def __repr__(self):
        return (f"<smempipe.Kernel {self.name}: {self.counts['conflicts']} bank conflicts, "
                f"{self.counts['sectors'] - self.counts['sectors_ideal']} sectors beyond the needed, "
                f"{len(self.findings)} findings>")


def _program():
    """The command: of this package, beside its library, or the system's."""
    for folder in (pathlib.Path(__file__).resolve().parent / "bin", pathlib.Path(_c.lib._name).parent):
        if os.access(folder / "smempipe", os.X_OK):
            return str(folder / "smempipe")
    found = shutil.which("smempipe")
    if not found:
        raise _c.Error("the command smempipe is not here: install the package smempipe, or have it in PATH", 5)
    return found


def _shape(name, shape):
    if shape is None:
        raise TypeError(f"only= needs {name}=, a number or up to three")
    numbers = [shape] if np.isscalar(shape) else list(shape)
    return "x".join(str(int(n)) for n in numbers)


def _argument(name, value, folder):
    """A word of --args. An array's bytes lie in a file."""
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or len(name) > _MOST_NAME:
        raise ValueError(f"args: {name!r} is not the name of a parameter")
    if isinstance(value, np.ndarray) and value.ndim:
        if not value.size or value.dtype.hasobject:
            raise ValueError(f"args: {name} is an array of {value.size} elements of {value.dtype}")
        path = os.path.join(folder, f"{name}.in")
        value.astype(value.dtype.newbyteorder("="), order="C", copy=False).tofile(path)
        word = _WORDS.get(value.dtype.name)
        dims = "x".join(map(str, value.shape)) if word else value.nbytes
        return f"{name}={word or 'u8'}[{dims}]=@{path}"
    if isinstance(value, (bool, np.bool_)):
        value = int(value)
    if not np.isscalar(value) and not isinstance(value, np.ndarray) or isinstance(value, (str, bytes, complex)):
        raise TypeError(f"args: {name} is a {type(value).__name__}, neither a number nor a NumPy array")
    return f"{name}={value.item() if isinstance(value, (np.generic, np.ndarray)) else value}"


def _raise(done):
    text = done.stderr.strip()
    lines = text.splitlines()
    at = next((i for i, line in enumerate(lines) if "error: " in line), 0)
    hint = next((line.split("hint: ", 1)[1] for line in lines[at:] if "hint: " in line), None)
    message = lines[at].removeprefix("smempipe: ").removeprefix("error: ") if lines else "the kernel failed"
    raise _ERRORS.get(done.returncode, _c.Error)(text or message, done.returncode, [_c.Problem(message, hint)])


def kernel(file, *, only=None, grid=None, block=None, args=None, shared=0, arguments=(), blocks=None, arch=None,
           code=None, std=None, define=(), include=(), time=None, time_limit=None):
    """Counts CUDA kernels on this machine's CPU: a .cu file, PTX of any compiler, a .cubin, a program.

    only=, grid=, block=, args={"out": array, "n": 1024} run one kernel and return a Kernel, whose arrays are what it
    left; the arrays given stay as they are. In a .cu file args go by the names of the source, else by their order.
    Without only= the program runs, with arguments=, and a list of Kernels is returned. What is refused, and a kernel
    that stops, raises an Error with the command's text. The other parameters are the command's options:
    `smempipe kernel --help`."""
    given, command = dict(args or {}), [_program(), "kernel", os.fspath(file), "--json"]
    with tempfile.TemporaryDirectory(prefix="smempipe-") as folder:
        if only is not None:
            words = " ".join(_argument(name, value, folder) for name, value in given.items())
            command += ["--only", only, "--grid", _shape("grid", grid), "--block", _shape("block", block),
                        "--args", words, "--save", folder]
        elif given or grid is not None or block is not None:
            raise TypeError("args=, grid= and block= are of one kernel: give only=, its name, too")
        for option, value in (("shared", shared or None), ("blocks", blocks), ("arch", arch), ("code", code),
                              ("std", std), ("time-limit", time_limit)):
            command += [f"--{option}", str(value)] if value is not None else []
        command += [f"--time={time}" if isinstance(time, str) else "--time"] if time else []
        command += [word for value in define for word in ("-D", value)]
        command += [word for value in include for word in ("-I", os.fspath(value))]
        command += ["--", *map(str, arguments)] if arguments else []
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              check=False)
        if done.returncode:
            _raise(done)
        told, left = json.loads(done.stdout), {}
        for name, value in given.items():
            path = os.path.join(folder, f"{name}.raw")
            if os.path.exists(path):
                left[name] = np.fromfile(path, value.dtype.newbyteorder("=")).reshape(value.shape)
    launches = told.get("launches", [])
    made = [Kernel(k, left, [launch["predicted"] for launch in launches if launch["index"] == i])
            for i, k in enumerate(told["kernels"])]
    return made[0] if only is not None else made
