#!/usr/bin/python3
"""Kernels of this project: `compare --device cuda` times them by events, beside what was predicted of them.

own.py SMEMPIPE OUT.csv [--only NAME]... [--seconds 12]
own.py SMEMPIPE OUT.csv --measured CSV [--gpu h200] ...    predictions of the present model, beside times of another run

Columns as in tests/data/time/own_h200.csv. event_us: by how much events before and behind a launch are apart when the
kernel is empty, less what Nsight Compute says that the empty kernel takes. SMEMPIPE is of a build with the kernels'
SASS (-DSMP_CUDA_ARCHS=90). --seconds: of one run of compare."""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import measure

PICTURE = pathlib.Path(__file__).resolve().parents[2] / "samples" / "chelsea.png"
COLUMNS = ("run", "step", "input", "variant", "us", "predicted_us", "low_us", "high_us", "bound", "launches",
           "event_us")
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
EMPTY = r"""
#include <algorithm>
#include <cstdio>
#include <vector>
__global__ void empty() {}
int main()
{
    cudaEvent_t before, behind;
    cudaEventCreate(&before);
    cudaEventCreate(&behind);
    std::vector<float> times;
    for (int i = 0; i < 301; i++) {
        float ms;
        cudaEventRecord(before);
        empty<<<132, 256>>>();
        cudaEventRecord(behind);
        cudaEventSynchronize(behind);
        cudaEventElapsedTime(&ms, before, behind);
        times.push_back(1000 * ms);
    }
    std::sort(times.begin(), times.end());
    printf("%.3f\n", times[times.size() / 2]);
}
"""


def event_us():
    """What two events add to the time of a launch."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder, "empty.cu"), str(pathlib.Path(folder, "empty"))
        source.write_text(EMPTY, encoding="utf-8")
        subprocess.run(["nvcc", "-arch=native", str(source), "-o", binary], check=True)
        apart = float(subprocess.run([binary], capture_output=True, text=True, check=True).stdout)
        launches, said = measure.profile([binary], quick=True, most=21)
        if not launches:
            sys.exit(f"ncu told nothing: {said[-300:]}")
        return apart - sorted(launch["us"] for launch in launches)[len(launches) // 2]


def rows(name, arguments, known):
    """known: the rows of another run, by their names, where no GPU is here."""
    enlarge, stages = RUNS[name]
    words = [arguments.smempipe, "compare", "--enlarge", str(enlarge), "--json", "-", "--time-limit",
             str(arguments.seconds), "--device", *(["cpu", "--time", arguments.gpu] if known else ["cuda"])]
    for stage in stages:
        words += ["-e", stage]
    done = subprocess.run([*words, str(PICTURE)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 7):  # 7: the model's counts and the GPU's differ
        sys.exit(f"{name}: {done.stderr[-600:]}")
    for step in json.loads(done.stdout)["steps"]:
        for variant in step["variants"]:
            predicted = variant.get("predicted", {})
            us = 1e6 * (variant.get("median_seconds") or 0)
            if known:
                us = float(known.get((name, step["step"], variant["variant"]), {"us": 0})["us"])
            if "us" not in predicted or not us:
                print(f"{name}, {step['step']}, {variant['variant']}: "
                      f"{predicted.get('not_predicted', 'not predicted or not timed')}", file=sys.stderr)
                continue
            yield {"run": name, "step": step["step"], "input": step["input"], "variant": variant["variant"],
                   "us": round(us, 2), "predicted_us": round(predicted["us"], 2),
                   "low_us": round(predicted["low_us"], 2), "high_us": round(predicted["high_us"], 2),
                   "bound": predicted["bound"], "launches": len(variant["launches"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("smempipe")
    parser.add_argument("out")
    parser.add_argument("--only", action="append")
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--measured")
    parser.add_argument("--gpu", default="h200")
    arguments = parser.parse_args()
    known = {}
    if arguments.measured:
        with open(arguments.measured, encoding="utf-8") as file:
            known = {(row["run"], row["step"], row["variant"]): row for row in csv.DictReader(file)}
    added = float(next(iter(known.values()))["event_us"]) if known else round(event_us(), 2)
    with open(arguments.out, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name in arguments.only or RUNS:
            for row in rows(name, arguments, known):
                writer.writerow(dict(row, event_us=added))
            file.flush()


if __name__ == "__main__":
    main()
