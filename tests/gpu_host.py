#!/usr/bin/env python3
"""What the GPUs of a host take from each other: the bus, the host's memory.

    tests/gpu_host.py PROGRAM OUT.json

Runs `smempipe bench --only streams` on each GPU alone, then on all at once, and `smempipe devices --measure`.
docs/results.py shows what it wrote as NAME-host.json. Plain Python. Exit status 1: a run failed."""
import json
import os
import pathlib
import subprocess
import sys
import time

PARTS = ("up_pinned", "down_pinned", "up_run", "down_run")


def begin(program, device):
    return subprocess.Popen([program, "bench", "--only", "streams", "--json", "-", "--device", device, "-q"],
                            stdout=subprocess.PIPE, text=True)


def end(process):
    text, _ = process.communicate(timeout=120)
    if process.returncode:
        sys.exit(f"bench: exit {process.returncode}")
    report = json.loads(text)
    rates = {part: report["bus"][part]["gb_per_second"] for part in PARTS if part in report.get("bus", {})}
    return {**rates, "copy": report["streams"][0]["copy"]["gb_per_second"]}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n")[2].strip())
    program, out = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    done = subprocess.run([program, "devices", "--measure", "--json"], capture_output=True, text=True, check=True)
    devices = json.loads(done.stdout)["devices"]
    gpus = [f"cuda:{device['index']}" for device in devices if device["kind"] == "cuda"]
    alone = {gpu: end(begin(program, gpu)) for gpu in gpus}
    together = {gpu: begin(program, gpu) for gpu in gpus}
    at_once = {gpu: end(process) for gpu, process in together.items()}
    nodes = sorted(path.name for path in pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"))
    out.write_text(json.dumps({"devices": devices, "alone": alone, "at_once": at_once, "memory_nodes": nodes,
                               "processors": len(os.sched_getaffinity(0)),
                               "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}, indent=2) + "\n")
    for gpu in gpus:
        print(gpu, *(f"{part} {alone[gpu].get(part, 0):.1f} alone, {at_once[gpu].get(part, 0):.1f} at once;"
                     for part in (*PARTS, "copy")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
