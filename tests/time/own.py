#!/usr/bin/python3
"""Kernels of this project: what `compare --device cuda` predicts of a GPU, then what Nsight Compute measures of the
same launches there.

own.py SMEMPIPE OUT.csv [--only NAME]... [--seconds 40]

Columns as in tests/data/time/own_h200.csv. SMEMPIPE is of a build with the kernels' SASS (-DSMP_CUDA_ARCHS=90).
--seconds: of one run of compare, of which all begin at once; those that count but a crop in it predict nothing."""
import argparse
import concurrent.futures
import csv
import json
import pathlib
import re
import statistics
import subprocess
import sys

import measure

PICTURE = pathlib.Path(__file__).resolve().parents[2] / "samples" / "chelsea.png"
COLUMNS = ("run", "step", "input", "variant", "us", "predicted_us", "low_us", "high_us", "bound", "launches")
RUNS = {  # the picture so many times to the right and downwards, stages
    "box": (4, ["gray", "box 5px"]),
    "gaussian": (4, ["gray", "gaussian 2px"]),
    "histogram": (6, ["gray", "equalize"]),
    "invert": (8, ["invert"]),
    "median": (3, ["gray", "median 3px"]),
    "morph": (4, ["gray", "morph op=open size=5px"]),
    "resize": (4, ["resize width=50%"]),
    "small": (1, ["gray", "gaussian 1px", "transpose", "invert"]),
    "sobel": (4, ["gray", "depth float", "sobel"]),
    "stats": (6, ["stats"]),
    "transpose": (6, ["gray", "depth float", "transpose"]),
    "transpose_rgb": (6, ["transpose"]),
}


def command(name, arguments, seconds):
    enlarge, stages = RUNS[name]
    words = [arguments.smempipe, "compare", "--device", "cuda", "--enlarge", str(enlarge), "--json", "-",
             "--repeat", "3", "--time-limit", str(seconds)]
    for stage in stages:
        words += ["-e", stage]
    return [*words, str(PICTURE)]


def predict(name, arguments):
    done = subprocess.run(command(name, arguments, arguments.seconds), capture_output=True, text=True, check=False)
    if done.returncode not in (0, 7):  # 7: the model's counts and the GPU's differ
        sys.exit(f"{name}: {done.stderr[-600:]}")
    return json.loads(done.stdout)["steps"]


def rows(name, steps, arguments):
    launches, said = measure.profile(command(name, arguments, 1), quick=True)
    times = {}
    for one in launches:
        grid = [int(number) for number in re.findall(r"\d+", one["grid"])]
        times.setdefault((one["kernel"].split("(")[0], *grid), []).append(one["us"])
    if not times:
        sys.exit(f"{name}: ncu told nothing: {said[-300:]}")
    for step in steps:
        for variant in step["variants"]:
            predicted = variant.get("predicted", {})
            own = [times.get((launch["kernel"], *launch["grid"])) for launch in variant.get("launches", [])]
            if "us" not in predicted or not own or None in own:
                print(f"{name}, {step['step']}, {variant['variant']}: "
                      f"{predicted.get('not_predicted', 'not predicted, or not launched alike')}", file=sys.stderr)
                continue
            yield {"run": name, "step": step["step"], "input": step["input"], "variant": variant["variant"],
                   "us": round(sum(map(statistics.median, own)), 2), "predicted_us": round(predicted["us"], 2),
                   "low_us": round(predicted["low_us"], 2), "high_us": round(predicted["high_us"], 2),
                   "bound": predicted["bound"], "launches": len(own)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("smempipe")
    parser.add_argument("out")
    parser.add_argument("--only", action="append")
    parser.add_argument("--seconds", type=float, default=40)
    arguments = parser.parse_args()
    names = arguments.only or list(RUNS)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        predicted = list(pool.map(lambda name: predict(name, arguments), names))
    with open(arguments.out, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name, steps in zip(names, predicted):
            writer.writerows(rows(name, steps, arguments))
            file.flush()


if __name__ == "__main__":
    main()
