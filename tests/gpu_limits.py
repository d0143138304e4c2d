#!/usr/bin/env python3
"""What limits the rows of tests/bench/gpu_peers that miss their bar: counters of their kernels, by ncu, as JSON.

    tests/gpu_limits.py GPU_PEERS PEERS.json OUT.json [--device cuda:N] [--seconds 300] [--only PATTERN]...

PEERS.json: what gpu_peers wrote on such a GPU. Rows that there was no time for are named as left out. With --only, the
others that OUT.json has of such a GPU stay. ncu runs each launch several times with the caches emptied: times here are
not those of PEERS.json.
Plain Python. Exit status 1 when a row failed."""
import argparse
import csv
import fnmatch
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import time

UNITS = {  # of the peak, in percent
    "issue slots": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "FMA pipe": "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "ALU pipe": "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
    "LSU pipe": "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
    "tensor pipe": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "shared memory": "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
    "L2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "DRAM": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
}
OTHERS = {
    "seconds": "gpu__time_duration.sum",  # in ns
    "instructions": "smsp__inst_executed.sum",
    "warps_resident_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "warps_eligible": "smsp__warps_eligible.avg.per_cycle_active",
    "registers": "launch__registers_per_thread",
}
STALLS = ("long_scoreboard", "short_scoreboard", "barrier", "math_pipe_throttle", "wait", "no_instruction",
          "mio_throttle", "lg_throttle", "dispatch_stall", "not_selected", "branch_resolve", "drain", "membar")
FORMATS = "_(u8|u16|f32)_(u8|u16|f32)$"  # which our kernels' names end with; pure reads, checks and peers have others
OURS = re.compile(FORMATS)
STALL = "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio"


def bars_missed(row):
    return [bar for bar in row["bars"] if bar["reached"] is not None and not bar["met"]]


def wanted_rows(report, patterns):
    """The rows that miss a bar, and match a pattern where there are some."""
    return [row for row in report["rows"] if bars_missed(row)
            and (not patterns or any(fnmatch.fnmatchcase(row["row"], pattern) for pattern in patterns))]


def launches(text):
    """The launches that ncu's CSV tells, in their order."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    rows = list(csv.DictReader(lines[start:]))
    return [row for row in rows if row["ID"]]  # after the heads comes a line of units


def value(launch, metric):
    try:
        return float(launch[metric].replace(",", ""))
    except (KeyError, ValueError, AttributeError):
        return None


def samples_of(text):
    """Of "u8x3 16384x8192"; None when it is told otherwise."""
    kind, _, size = text.rpartition(" ")
    try:
        width, height = map(int, size.split("x"))
        return int(kind.split("x")[1]) * width * height
    except (ValueError, IndexError):
        return None


def metrics_of(launch, size):
    told = {name: value(launch, metric) for name, metric in OTHERS.items()}
    told["seconds"] = told["seconds"] * 1e-9 if told["seconds"] else None
    instructions, samples = told.pop("instructions"), samples_of(size)
    told["instructions_a_sample"] = 32 * instructions / samples if instructions and samples else None
    told["units_percent"] = {name: value(launch, metric) for name, metric in UNITS.items()}
    waits = {stall: value(launch, STALL % stall) for stall in STALLS}
    told["waits"] = {stall: cycles
                     for stall, cycles in waits.items() if cycles is not None}  # cycles an issued instruction
    return {"kernel": kernel_of(launch), "grid": launch["Grid Size"], **told}


def kernel_of(launch):
    return launch["Kernel Name"].split("(")[0]


def blocks_of(launch):
    return math.prod(map(int, re.findall(r"\d+", launch["Grid Size"])))


def chosen(found, row):
    """Of our kernel that takes the most time of those that run often: the launch of most blocks, and of these the one
    of most instructions."""
    found = [launch for launch in found if OURS.search(kernel_of(launch))]
    total, count = {}, {}
    for launch in found:
        name = kernel_of(launch)
        total[name] = total.get(name, 0) + (value(launch, OTHERS["seconds"]) or 0)
        count[name] = count.get(name, 0) + 1
    often = [name for name in total if count[name] > 3]
    if not often:
        return {}
    ours = [launch for launch in found if kernel_of(launch) == max(often, key=total.get)]
    full = max(ours, key=lambda launch: (blocks_of(launch), value(launch, OTHERS["instructions"]) or 0))
    return {"full": metrics_of(full, row["input"])}


def ask(ncu, program, row, device, limit):
    metrics = [*UNITS.values(), *OTHERS.values(), *(STALL % stall for stall in STALLS)]
    words = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--kernel-name",
             f"regex:{FORMATS}", "--metrics", ",".join(metrics), program, "--device", device, "--without-peers",
             "--time-limit", "0", "--only", row["row"]]
    return subprocess.run(words, text=True, capture_output=True, timeout=limit)


def write(path, told):
    part = pathlib.Path(path + ".part")
    part.write_text(json.dumps(told, indent=1) + "\n")
    part.replace(path)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    words.add_argument("program")
    words.add_argument("peers")
    words.add_argument("out")
    words.add_argument("--device", default="cuda")
    words.add_argument("--seconds", type=float, default=300)
    words.add_argument("--only", action="append", default=[])
    given = words.parse_args()
    ncu = shutil.which("ncu")
    if not ncu:
        sys.exit("gpu_limits.py: there is no ncu")
    report = json.loads(pathlib.Path(given.peers).read_text())
    told = {
        "environment": {key: report["environment"].get(key)
                        for key in ("device_name", "driver", "toolkit", "units")}, "rows": [], "left_out": []
    }
    if given.only and pathlib.Path(given.out).exists():
        before = json.loads(pathlib.Path(given.out).read_text())
        if before["environment"] == told["environment"]:  # an earlier run here: its other rows stay
            told = before

    def tell(row, found=None):
        """Written after each row: a run that is cut off has measured what it has."""
        others = {r["row"]: r for r in told["rows"] if r["row"] != row["row"]} | ({row["row"]: found} if found else {})
        told["rows"] = [others[one["row"]] for one in wanted_rows(report, []) if one["row"] in others]
        told["left_out"] = [name for name in told["left_out"] if name != row["row"]] + ([] if found else [row["row"]])
        write(given.out, told)

    began, failed = time.monotonic(), 0
    for row in wanted_rows(report, given.only):
        left = given.seconds - (time.monotonic() - began)
        try:
            if left < 5:
                raise TimeoutError
            done = ask(ncu, given.program, row, given.device, left)
        except (TimeoutError, subprocess.TimeoutExpired):
            tell(row)
            continue
        found = chosen(launches(done.stdout), row)
        if done.returncode or not found:
            print(f"{row['row']}: status {done.returncode}\n{done.stdout[-600:]}{done.stderr[-600:]}", file=sys.stderr)
            failed = 1
            continue
        tell(row, {"row": row["row"], "input": row["input"], "bars_missed": bars_missed(row), "launches": found})
        print(f"{row['row']}: {found['full']['kernel']}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
