#!/usr/bin/python3
"""What each part of the time model is worth: the error without it.

ablation.py BUILD OUT.json [--gpu h100] [--part NAME]... [--jobs N]

A part is left out by numbers of src/lab/time/gpus.def that take its effect away. The model is compiled anew with them
and linked into a copy of BUILD's libsmp_cudart.so, which accuracy.py then runs. A part takes as long as accuracy.py:
half an hour of a core. OUT.json gets what docs/results.py tells of it."""
import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TIME = HERE.parents[1] / "src" / "lab" / "time"
FAR = "1e9"
PARTS = {
    "nothing": "",
    "launch overhead": "launch=0 launch_memory=0",
    "block launch rate": "block_rate=0 block_gap=0",
    "starts of blocks": "block_start=0 warp_start=0 block_end=0",
    "real DRAM": "dram_share=1 dram_random=1 dram_turn=0 dram_queue=0 dram_spread=0",
    "DRAM's queue and spread": "dram_queue=0 dram_spread=0",
    "waiting for another SM's fetch": "dram_open=0 pending=0",
    "L2 by kind of request": "l2_line=0 write_line=0 partial_line=0 write_sector=0.95 partial_sector=0.95",
    "neighbours' lines": "l2_near=0",
    "work that lies before L2": f"back={FAR}",
    "joined stores": "merge_lines=1",
    "lanes of atomics in turn": "atomic_float=0 atomic_same=0 atomic_whole=0 atomic_packet=0 atomic_filled=0",
    "barriers": "barrier_warp=0 barrier=0",
    "jumps": "jump=0 jump_slot=0",
    "waiting behind BSYNC": "converge=0",
    "instruction caches": "code_first=0 code_jump=0 code_next=0 code_far=0 l1_miss=0 l0_miss=0 code_again=0",
    "constants' first use": "constant_first=0",
    "register banks": f"operand_window={FAR}",
    "queues of the memory pipe": "queue_shared=63 queue_global=63",
    "gap between accesses": "access_gap=0",
    "SMs that end apart": "imbalance=0",
}


def built(build, numbers, work):
    """A copy of smempipe and its runtime with the numbers; the command's path."""
    text = (TIME / "gpus.def").read_text(encoding="utf-8")
    for name, value in (word.split("=") for word in numbers.split()):
        text, found = re.subn(rf"TIME_NUMBER\({name}, [^\"]*\"", f"TIME_NUMBER({name}, {', '.join([value] * 6)}, \"",
                              text)
        if found != 1:
            sys.exit(f"gpus.def has no number {name}")
    (work / "lab" / "time").mkdir(parents=True)
    (work / "lab" / "time" / "gpus.def").write_text(text, encoding="utf-8")
    link = subprocess.run(["ninja", "-C", build, "-t", "commands", "-s", "libsmp_cudart.so"], capture_output=True,
                          text=True, check=True).stdout.splitlines()[-1]
    link = link.removeprefix(": && ").removesuffix(" && :")
    for one in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(one["command"])
        out = words[words.index("-o") + 1]
        if pathlib.Path(one["file"]).parent != TIME or out not in link:
            continue
        own = str(work / (pathlib.Path(one["file"]).stem + ".o"))
        subprocess.run([words[0], f"-I{work}", *(own if word == out else word for word in words[1:])],
                       cwd=one["directory"], check=True)
        link = link.replace(out, own)
    library = work / "libsmp_cudart.so"
    subprocess.run(link.replace("-o libsmp_cudart.so", f"-o {library}"), shell=True, cwd=build, check=True)
    for name in ("smempipe", "libsmempipe-trace.so", "libsmp_gpucounts.so"):
        if (build / name).exists():
            shutil.copy(build / name, work)
    return work / "smempipe"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--gpu", default="h100")
    parser.add_argument("--part", action="append")
    parser.add_argument("--jobs", default="1")
    arguments = parser.parse_args()
    parts = []
    for name, numbers in PARTS.items():
        if arguments.part and name not in arguments.part:
            continue
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            report = work / "report.json"
            subprocess.run([sys.executable, HERE / "accuracy.py", built(arguments.build, numbers, work), "--gpu",
                            arguments.gpu, "--jobs", arguments.jobs, "--json", report], check=True)
            parts.append(dict(told(json.loads(report.read_text(encoding="utf-8"))), part=name, numbers=numbers))
        arguments.out.write_text(json.dumps({"gpu": arguments.gpu, "parts": parts}, indent=1) + "\n", encoding="utf-8")


def told(report):
    """Mean errors of a report, and the launch that is farthest off."""
    worst = max(report["launches"], key=lambda one: abs(one["error"]))
    return {**{name: round(s["mean"], 2) for name, s in report["summary"].items()},
            "worst": worst["launch"], "worst_error": round(worst["error"], 3)}


if __name__ == "__main__":
    main()
