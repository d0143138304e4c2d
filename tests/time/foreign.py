#!/usr/bin/python3
"""Programs of others (foreign.txt): builds them, predicts their launches, then measures them on this machine's GPU.

foreign.py SMEMPIPE SOURCES OUT.json [--set fresh] [--only NAME]... [--gpu h200] [--seconds 400] [--predict]
foreign.py --csv OUT.csv IN.json...          one row for the first launch of each kernel, grid and block

SOURCES has the repositories of foreign.txt, each in a folder of its suite's name. Each program is built for sm_90, then
predicted, and only then measured; what was predicted of all is hashed. --predict: no measurement. --seconds: until when
measurements begin. Programs that cannot be built, or that the lab does not run within a minute and a half, are told
and left out: that is decided before anything is measured."""
import argparse
import concurrent.futures
import csv
import glob
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import measure

HERE = pathlib.Path(__file__).resolve().parent
MOST_LAUNCHES, LAB_SECONDS = 16, 90
OLD_NAMES = "s/cudaThreadSynchronize/cudaDeviceSynchronize/;s/cudaThreadExit/cudaDeviceReset/"  # gone from CUDA 13
STUB = """#include <cublas_v2.h>
#include <cublasLt.h>
extern "C" {
cublasStatus_t cublasCreate_v2(cublasHandle_t *h) { *h = (cublasHandle_t)1; return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasDestroy_v2(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
                            const void *, cudaDataType, int, const void *, cudaDataType, int, const void *, void *,
                            cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t)
{ return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSgemm_v2(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const float *,
                              const float *, int, const float *, int, const float *, float *, int)
{ return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtCreate(cublasLtHandle_t *h) { *h = (cublasLtHandle_t)1; return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
}
"""  # a library whose calls do nothing, for programs that link cuBLAS beside their own kernels


def read_programs():
    programs, edits = [], {}
    text = (HERE / "foreign.txt").read_text(encoding="utf-8").replace("\n    ", " ")  # a line that goes on
    for line in text.splitlines():
        if line.startswith("edit "):
            edits[line.split()[1]] = line.split(" ", 2)[2]
        elif line and not line.startswith("#"):
            fields = [field.strip() for field in line.split("|", 6)]
            names = ("set", "name", "folder", "sources", "options", "arguments", "edit")
            one = dict(zip(names, fields + [""] * (len(names) - len(fields))))
            programs.append(dict(one, edit=edits.get(one["edit"], one["edit"])))
    return programs


def build(one, sources, work):
    """The program's file; else what failed."""
    suite = one["folder"].split("/")[0]
    own = work / one["name"]
    folder = own / one["folder"]
    shutil.copytree(sources / one["folder"], folder)
    for common in ("common", "Common"):  # headers beside the programs of a suite
        if (sources / suite / common).is_dir() and not (own / suite / common).exists():
            shutil.copytree(sources / suite / common, own / suite / common)
    texts = [path for path in folder.rglob("*") if path.suffix in (".cu", ".cpp", ".c", ".h", ".cuh")]
    edit = f"{OLD_NAMES};{one['edit']}".rstrip(";")
    subprocess.run(["sed", "-i", edit, *map(str, texts)], check=True)
    files = [file for word in one["sources"].split() for file in sorted(glob.glob(str(folder / word)))]
    options = one["options"].split()
    if "STUB" in options:
        options.remove("STUB")
        (own / "stub.cpp").write_text(STUB, encoding="utf-8")
        files.append(str(own / "stub.cpp"))
    options = [option.replace("-ISUITE", f"-I{own / suite / 'Common'}") for option in options]
    binary = own / one["name"]
    command = ["nvcc", "-O3", "-std=c++17", "-arch=sm_90", "-lineinfo", "-cudart", "shared", "-w", "-I.",
               "--expt-relaxed-constexpr", *options, *files, "-o", str(binary)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    errors = [line for line in (done.stderr + done.stdout).splitlines() if "error" in line.lower()]
    return binary, folder, (errors or ["nvcc failed"])[0] if done.returncode else None


def predict(one, binary, folder, arguments):
    command = [arguments.smempipe, "kernel", str(binary), f"--time={arguments.gpu}", "--each", "--json", "--",
               *one["arguments"].split()]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=LAB_SECONDS)
    except subprocess.TimeoutExpired:
        return None, f"the lab took more than {LAB_SECONDS} s"
    try:
        return json.loads(done.stdout)["launches"], None
    except (ValueError, KeyError):
        return None, f"smempipe: exit status {done.returncode}: {done.stderr.strip()[-200:]}"


def shares(predicted):
    """Of a prediction what is compared."""
    short = {key: predicted.get(key) for key in ("not_modelled", "cycles", "us", "low_us", "high_us", "bound",
                                                 "stalls", "use", "launch_share", "waves", "memory")}
    short["lines"] = [[line.get("place"), line.get("file"), line.get("line"), round(line["share"], 5)]
                      for line in predicted.get("lines") or []]
    return short


def run(arguments):
    sources, out, begun = pathlib.Path(arguments.sources).resolve(), pathlib.Path(arguments.out), time.monotonic()
    programs = [one for one in read_programs() if (not arguments.set or one["set"] in arguments.set) and
                (not arguments.only or any(one["name"].startswith(word) for word in arguments.only))]
    gpu, results = threading.Lock(), []

    def carry_out(one):
        result = dict(one)
        binary, folder, result["failed"] = build(one, sources, work)
        if not result["failed"]:
            launches, result["failed"] = predict(one, binary, folder, arguments)
        if not result["failed"]:
            result["predicted"] = [dict(launch, predicted=shares(launch["predicted"])) for launch in launches
                                   if launch["launch"] < MOST_LAUNCHES]
            text = json.dumps(result["predicted"], sort_keys=True)
            result["hash"] = hashlib.sha256(text.encode()).hexdigest()
            result["predicted_at"] = round(time.monotonic() - begun, 1)
            with gpu:
                if not arguments.predict and time.monotonic() - begun < arguments.seconds:
                    result["measured_from"] = round(time.monotonic() - begun, 1)
                    result["measured"], said = measure.profile([str(binary), *one["arguments"].split()], folder=folder,
                                                               most=MOST_LAUNCHES, seconds=60)
                    result["said"] = said[-200:] if not result["measured"] else ""
        with gpu:
            results.append(result)
            out.write_text(json.dumps(results) + "\n", encoding="utf-8")
            print(f"{time.monotonic() - begun:6.1f} s  {one['name']:32s} "
                  f"{result['failed'] or ''} {len(result.get('predicted', []))} predicted, "
                  f"{len(result.get('measured', []))} measured {result.get('said', '')!r}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for done in [pool.submit(carry_out, one) for one in programs]:
                if done.exception():
                    print(repr(done.exception()), flush=True)
    hashes = " ".join(sorted(one.get("hash", "") for one in results))
    print("predictions:", hashlib.sha256(hashes.encode()).hexdigest())


def is_same_launch(launch, measured):
    """Where data decide how often a program launches, the GPU's nth launch may be another than the lab's."""
    sizes = [list(map(int, re.findall(r"\d+", measured[key]))) for key in ("grid", "block")]
    name = re.search(r"(\w+)[<(]", launch["kernel"] + "(")[1]
    return sizes == [launch["grid"], launch["block"]] and re.search(rf"\b{name}\b", measured["kernel"])


def rows_of(path):
    """A row for the first launch of each kernel, grid and block of a program."""
    for one in json.loads(pathlib.Path(path).read_text(encoding="utf-8")):
        seen = set()
        for launch in one.get("predicted") or []:
            shape = (launch["kernel"], str(launch["grid"]), str(launch["block"]))
            if shape in seen or launch["launch"] >= len(one.get("measured") or []):
                continue
            p, m = launch["predicted"], one["measured"][launch["launch"]]
            if not is_same_launch(launch, m):
                print(f"{one['name']}: launch {launch['launch']} is {m['kernel']} on the GPU", file=sys.stderr)
                continue
            seen.add(shape)
            of_lines, measured = {}, {}
            line_of = {place: (file, line) for place, file, line, _ in p["lines"]}
            for place, file, line, share in p["lines"]:
                of_lines[file, line] = of_lines.get((file, line), 0) + share
            for word in m["samples"].split():
                place, count = map(int, word.split(":"))
                if place in line_of:
                    measured[line_of[place]] = measured.get(line_of[place], 0) + count
            worst = sorted(measured, key=lambda line: -measured[line])[:3]
            stalls = {name: share for name, share in (p["stalls"] or {}).items() if name != "selected"}
            worst_place = max(p["lines"], key=lambda line: line[3])[0] if p["lines"] else ""
            yield {
                "set": one["set"], "program": one["name"], "arguments": one["arguments"], "launch": launch["launch"],
                "kernel": launch["kernel"], "grid": "x".join(map(str, launch["grid"])),
                "block": "x".join(map(str, launch["block"])), "cycles": m["cycles"], "us": m["us"],
                "stall": m["stall"], "refused": p["not_modelled"] or "",
                "predicted_cycles": round(p["cycles"]) if p["cycles"] else "",
                "low": round(p["low_us"] / p["us"] * p["cycles"]) if p["cycles"] else "",
                "high": round(p["high_us"] / p["us"] * p["cycles"]) if p["cycles"] else "",
                "bound": p["bound"] or "", "predicted_stall": max(stalls, key=stalls.get) if stalls else "",
                "worst_instruction": "" if not m["worst"] or worst_place == "" else
                                     int(str(worst_place) in m["worst"].split()),
                "worst_line": "" if not worst or not of_lines else int(max(of_lines, key=of_lines.get) in worst)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv")
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--set", action="append")
    parser.add_argument("--only", action="append")
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 2))
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    if not arguments.csv:
        if len(arguments.files) != 3:
            parser.error("SMEMPIPE SOURCES OUT.json")
        arguments.smempipe, arguments.sources, arguments.out = arguments.files
        arguments.smempipe = os.path.abspath(arguments.smempipe)
        run(arguments)
        return
    rows = [row for path in arguments.files for row in rows_of(path)]
    if not rows:
        sys.exit("no launch was predicted and measured")
    with open(arguments.csv, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
