#!/usr/bin/env python3
"""The results that only a GPU machine can give: `compare` for the ladders of kernels and `bench`, as JSON.

    tests/gpu_results.py PROGRAM [--out docs/results] [--name h100] [--time-limit 6] [--only transpose,bench] [--small]

Writes OUT/NAME-LADDER.json for each; docs/results.py makes docs/results.md of them. Inputs are random arrays with a
fixed seed, made here. Plain Python. Exit status 1 when a run failed (7, "the model and the GPU differ", keeps its
JSON)."""
import argparse
import array
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

# name, type and side of the square input, stages
LADDERS = [
    ("transpose", "f32", 8192, ["transpose"]),
    ("reduction", "f32", 8192, ["stats"]),
    ("histogram", "u8", 16384, ["histogram"]),
    ("stencil5", "f32", 8192, ["gaussian 0.5px"]),
    ("stencil15", "f32", 8192, ["gaussian 1.75px"]),
    ("matmul", "f32", 4096, ["matmul with=@input"]),
]
BLOCK = 1 << 20  # random bytes or floats, repeated with another start in each row


def npy_header(kind, side):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }" % (kind, side, side)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def write_input(path, kind, side):
    """Random values in a side x side array: bytes, or floats in 0..1."""
    chance = random.Random(1)
    if kind == "u8":
        size, block, descr = 1, chance.randbytes(BLOCK), "|u1"
    else:
        values = array.array("f", (chance.random() for _ in range(BLOCK)))
        if sys.byteorder == "big":
            values.byteswap()
        size, block, descr = 4, values.tobytes(), "<f4"
    twice = block + block[: side * size]
    with open(path, "wb") as file:
        file.write(npy_header(descr, side))
        for y in range(side):
            at = y * 40503 % BLOCK * size
            row = twice[at : at + side * size]
            file.write(row if len(row) == side * size else row + twice[: side * size - len(row)])


def whole_report(path):
    try:
        return bool(json.loads(path.read_text()))
    except (OSError, ValueError):
        return False


def run(program, arguments, folder, out):
    """False when no report came, with SASS metrics (CUPTI patches code for them) nor without."""
    for without in ("1",) if os.environ.get("SMP_WITHOUT_SASS") == "1" else ("0", "1"):
        begun = time.monotonic()
        out.unlink(missing_ok=True)
        try:
            done = subprocess.run([program, *arguments], cwd=folder, text=True, capture_output=True, timeout=40,
                                  env={**os.environ, "SMP_WITHOUT_SASS": without})
            said, status = done.stdout + done.stderr, done.returncode
        except subprocess.TimeoutExpired:
            said, status = "", "none, stopped after 40 s"
        print(f"== smempipe {' '.join(arguments)}: exit {status}, {time.monotonic() - begun:.1f} s")
        print(said, flush=True)
        if whole_report(out):  # also when the program went wrong only afterwards
            return True
        if status == 5:  # no device: there is nothing to try again
            return False
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--out",
                        type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[1] / "docs" / "results")
    parser.add_argument("--name", default="h100")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--time-limit", default="6")
    parser.add_argument("--only", help="ladders, and bench, separated by commas")
    parser.add_argument("--small", action="store_true", help="sides of 256, to try this script itself")
    given = parser.parse_args()
    program = str(given.program.resolve())
    only = given.only.split(",") if given.only else [name for name, *_ in LADDERS] + ["bench"]
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    fine = True
    inputs = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, kind, side, stages in LADDERS:
            side = 256 if given.small else side
            if name not in only:
                continue
            path = f"random-{kind}-{side}x{side}.npy"
            if path not in inputs:
                write_input(os.path.join(folder, path), kind, side)
                inputs[path] = True
            report = out / f"{given.name}-{name}.json"
            words = [word for stage in stages for word in ("-e", stage)]
            fine &= run(program, ["compare", *words, path, "--device", given.device, "--time-limit", given.time_limit,
                                  "--json", str(report), "--force"], folder, report)
        if "bench" in only:
            report = out / f"{given.name}-bench.json"
            size = ["--size", "1M"] if given.small else []
            fine &= run(program, ["bench", "--device", given.device, *size, "--json",
                                  str(report), "--force"], folder, report)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
