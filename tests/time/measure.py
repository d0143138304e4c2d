#!/usr/bin/python3
"""Measures launches by Nsight Compute on a machine with a GPU: cycles, time, the first stall reason, where samples lie.

measure.py OUT.csv [--quick] [--sms N] PROGRAM...

Programs are those of tests/time/kernels, built by nvcc; columns as in tests/data/time/*.csv. --quick: cycles and time
alone, in one pass. --sms: launches are made for a GPU of so many SMs. Caches are flushed before each pass; clocks are
left alone. foreign.py measures programs of others in the same way."""
import argparse
import concurrent.futures
import csv
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CYCLES, NANOSECONDS = "sm__cycles_elapsed.max", "gpu__time_duration.sum"
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
COLUMNS = ("program", "launch", "set", "cycles", "us", "stall", "worst")
FEW_SAMPLES, KEPT_PLACES = 50, 16


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return 0.0


def page(report, which):
    """A page of Nsight's report as rows of cells."""
    done = subprocess.run(["ncu", "--import", report, "--page", which, "--csv", "--print-units", "base"],
                          capture_output=True, text=True, check=False)
    return [row for row in csv.reader(io.StringIO(done.stdout)) if row]


def samples_of(report):
    """Samples of each SASS instruction, a list a launch. The source page has each launch twice."""
    launches = []
    for row in page(report, "source"):
        if row[0] == "Kernel Name":
            launches.append([])
        elif launches:
            launches[-1].append(row)
    found = []
    for rows in launches[::2]:
        at = rows[0].index("# Samples") if rows and "# Samples" in rows[0] else None
        found.append([] if at is None else [number(row[at]) for row in rows[1:] if len(row) > at])
    return found


def read_report(report, quick):
    """What a report has of each launch, in their order."""
    rows = page(report, "raw")
    if len(rows) < 3:
        return []
    names, launches = rows[0], []
    samples = [] if quick else samples_of(report)
    for i, row in enumerate(rows[2:]):
        cells = dict(zip(names, row))
        stalls = {match[1]: number(cells[name]) for name in names
                  if (match := STALL.fullmatch(name)) and match[1] != "selected"}
        of_places = samples[i] if i < len(samples) else []
        order = sorted(range(len(of_places)), key=lambda place: -of_places[place])
        enough = sum(of_places) >= FEW_SAMPLES
        launches.append({
            "kernel": cells.get("Kernel Name"), "grid": cells.get("Grid Size"), "block": cells.get("Block Size"),
            "cycles": int(number(cells[CYCLES])), "us": round(number(cells[NANOSECONDS]) / 1000, 3),
            "stall": max(stalls, key=stalls.get) if any(stalls.values()) else "",
            "worst": " ".join(str(place) for place in order[:3]) if enough else "",
            "samples": " ".join(f"{place}:{of_places[place]:.0f}" for place in order[:KEPT_PLACES]
                                if of_places[place]) if enough else ""})
    return launches


def profile(command, quick=False, folder=None, most=None, seconds=100, env=None):
    """Runs a program under ncu. Returns its launches, and what the program printed."""
    with tempfile.TemporaryDirectory() as work:
        report = os.path.join(work, "launches.ncu-rep")
        words = ["ncu", "--clock-control", "none", "--cache-control", "all", "--metrics", f"{CYCLES},{NANOSECONDS}"]
        words += [] if quick else ["--section", "WarpStateStats", "--section", "SourceCounters"]
        words += ["--launch-count", str(most)] if most else []
        try:
            done = subprocess.run(words + ["-f", "-o", report[:-8], *command], cwd=folder, capture_output=True,
                                  text=True, check=False, timeout=seconds, env=env)
            said = done.stdout
        except subprocess.TimeoutExpired:
            return [], "it took too long"
        return read_report(report, quick) if os.path.exists(report) else [], said


def build(program, sms, folder):
    """A program of tests/time/kernels, whose sources are of 132 SMs."""
    binary, source = os.path.join(folder, program), pathlib.Path(folder, f"{program}.cu")
    text = (HERE / "kernels" / f"{program}.cu").read_text(encoding="utf-8")
    source.write_text(re.sub(r"\(132\b", f"({sms}", text), encoding="utf-8")
    subprocess.run(["nvcc", "-std=c++17", "-arch=native" if sms != 132 else "-arch=sm_90", "-lineinfo", "-w",
                    f"-I{HERE / 'kernels'}", str(source), "-o", binary], check=True)
    return binary


def measure(program, binary, quick):
    """The launches of a program."""
    launches, said = profile([binary], quick, seconds=400, env=dict(os.environ, SAY="1"))
    names = [line for line in said.splitlines() if re.fullmatch(r"\w+", line)]
    if len(names) != len(launches):
        sys.exit(f"{program}: {len(names)} names of {len(launches)} launches\n{said[-600:]}")
    for name, launch in zip(names, launches):
        launch.update(program=program, launch=name, set="calibration")
    return launches


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("program", nargs="+")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sms", type=int, default=132)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open(arguments.out, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            binaries = list(pool.map(lambda program: build(program, arguments.sms, folder), arguments.program))
        for program, binary in zip(arguments.program, binaries):
            writer.writerows(measure(program, binary, arguments.quick))
            file.flush()


if __name__ == "__main__":
    main()
