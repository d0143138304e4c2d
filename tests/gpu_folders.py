#!/usr/bin/env python3
"""Whole jobs over folders of pictures, on the processors and on 1, 2, ... GPUs of one host, as JSON.

    tests/gpu_folders.py PROGRAM OUT.json [--devices cpu,cuda:0,cuda] [--files N] [--seconds 240] [--small]

Makes folders of JPEGs, PNGs and arrays (24 megapixels, from samples/, each another part of it) in memory (/dev/shm),
runs `smempipe batch` over each on every device, and compares outputs with those of the first device, byte for byte. The
first device (the CPU: it needs no start) gets every n-th file only, n odd: as many as take it some seconds. Unless
said, the devices are the CPU, auto and 1, 2, 4, ... GPUs, as many as `smempipe devices` lists, and files are 1536 a
GPU. Two rates are told: from start to end, and of the middle half of the files, as the journal grows: a driver's start
is seconds on a machine of several GPUs, which a folder of an hour does not notice. docs/results.py shows what it wrote
as NAME-folders.json.
Plain Python. Exit status 1: bytes differ, or a run failed."""
import argparse
import filecmp
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS = 4  # that a job should take at least
# name, format, stages, which share of --files, files/s of a processor
JOBS = [
    ("JPEG, blur 2 px", "jpg", ["gaussian 2px"], 1, 1.8),
    ("JPEG, blur 20 px", "jpg", ["gaussian 20px"], 2, 0.8),
    ("JPEG, measure", "jpg", None, 1, 4),
    ("PNG, blur 2 px", "png", ["gaussian 2px"], 8, 1.4),
    ("PNG, blur 20 px", "png", ["gaussian 20px"], 8, 0.6),
    ("small PNG, blur 2 px", "small.png", ["gaussian 2px"], 1, 200),
    ("NPY, blur 2 px", "npy", ["gaussian 2px"], 32, 8), # nothing to decode: the way to a GPU and back
]


class Journal(threading.Thread):
    """How the journal in a folder grows: a line when a file is begun, one when it is done."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.path, self.sizes, self.over, self.begun = folder / ".smempipe-journal", [], False, time.monotonic()

    def run(self):
        while not self.over:
            try:
                size = os.stat(self.path).st_size
            except OSError:
                size = 0
            if size and (not self.sizes or size > self.sizes[-1][1]):
                self.sizes.append((time.monotonic() - self.begun, size))
            time.sleep(0.005)

    def tell(self, files, seconds):
        """Seconds until the first file, files/s of the middle half, seconds from the last file to the end."""
        self.over = True
        self.join()
        if len(self.sizes) < 8:
            return {}
        last = self.sizes[-1][1]
        early, late = (next(at for at, size in self.sizes if size >= share * last) for share in (0.25, 0.75))
        first = next(at for at, size in self.sizes if size > 150) # behind the title
        return {"begins": first, "steady": 0.5 * files / max(late - early, 1e-3), "ends": seconds - self.sizes[-1][0]}


def call(*words, folder=None):
    begun = time.monotonic()
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, timeout=300)
    return time.monotonic() - begun, done


def must(*words, folder=None):
    seconds, done = call(*words, folder=folder)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return seconds, done


def folder_of(program, work, kind, count, side):
    """Pictures that differ: parts of the photograph, enlarged, with noise, so that files are as large as a camera's."""
    folder = work / kind
    folder.mkdir()
    extension = kind.rpartition(".")[2]
    first = folder / f"00000.{extension}"

    def make(i):
        stages = ["-e", f"crop x={7 * i} y={3 * i} width=380 height=270",
                  "-e", f"resize width={side[0]} height={side[1]} fit=stretch",
                  "-e", "noise 1.5%"]
        must(program, "run", *stages, ROOT / "samples/chelsea.png", folder / f"{i:05}.{extension}", "--device", "cpu")

    def copy(i):
        (folder / f"{i:05}.{extension}").write_bytes((folder / f"{i % 8:05}.{extension}").read_bytes())

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(make, range(min(count, 8))))
        list(pool.map(copy, range(8, count)))
    return folder, first.stat().st_size


def links(to, folder, names):
    to.mkdir()
    for name in names:
        os.link(folder / name, to / name)
    return to


def every(names, processors, rate):
    """Every n-th of the files, enough for some seconds of the processors; n is odd, so all that differ are there."""
    step = max(1, int(len(names) / (SECONDS * rate * processors)))
    return names[::step - (step % 2 == 0)]


def devices_of(program):
    _, done = must(program, "devices")
    count = len(re.findall(r"^cuda\b", done.stdout, re.M))
    some = [",".join(map(str, range(n))) for n in (1, 2, 4, 8, 16) if n < count]
    return ["cpu", "auto", *(f"cuda:{text}" for text in some), *(["cuda"] if count else [])], done.stdout


def pictures(folder):
    """Without the journal, which has times in it."""
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


def same(some, all_of_them):
    names = pictures(some)
    return bool(names) and not any(filecmp.cmpfiles(some, all_of_them, names, shallow=False)[1:])


def rows_of(csv):
    """What a measurement says of each file, by the file's name."""
    lines = [line.partition(",") for line in csv.splitlines()[1:]]
    return {os.path.basename(name): rest for name, _, rest in lines if os.path.basename(name)[:5].isdigit()}


def same_rows(some, all_of_them):
    some, all_of_them = rows_of(some), rows_of(all_of_them)
    return bool(some) and all(all_of_them.get(name) == rest for name, rest in some.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--devices", default="")
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=240, help="no job begins after so many")
    parser.add_argument("--small", action="store_true", help="small pictures, to try this script")
    settings = parser.parse_args()
    program, begun, rows, wrong = settings.program.resolve(), time.monotonic(), [], 0
    devices, listed = devices_of(program)
    settings.files = settings.files or 1536 * max(1, len(re.findall(r"^cuda\b", listed, re.M)))
    if settings.devices:
        devices = re.split(r",(?=[a-z])", settings.devices)
    side = (300, 200) if settings.small else (6000, 4000)
    shm = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="smempipe-folders-", dir=shm if shm.is_dir() else None) as name:
        work, folders = pathlib.Path(name), {}
        for number, (title, kind, stages, share, rate) in enumerate(JOBS):
            small = kind.startswith("small")
            count = max(16, settings.files // share) * (2 if small else 1)
            if kind not in folders:
                folders[kind] = folder_of(program, work, kind, count, (256, 256) if small else side)
            whole, size = folders[kind]
            names = pictures(whole)[:count]
            if len(names) < len(pictures(whole)):
                whole = links(work / f"{kind}.{count}", whole, names)
            part = links(work / f"{kind}.{number}.part", whole, every(names, len(os.sched_getaffinity(0)), rate))
            said = ""
            for turn, device in enumerate(devices):
                if time.monotonic() - begun > settings.seconds:
                    break
                out = work / ("out" if turn else "first")
                folder = whole if turn else part
                files = len(pictures(folder))
                if stages is None:
                    command = [program, "measure", "-e", "stats", folder, "--device", device, "--csv"]
                else:
                    chain = [word for stage in stages for word in ("-e", stage)]
                    command = [program, "batch", *chain, folder, "-o", out, "--device", device]
                journal = Journal(out)
                journal.start()
                seconds, done = call(*command)
                curve = journal.tell(files, seconds)
                if stages is None:
                    right = done.returncode == 0 and (not turn or same_rows(said, done.stdout))
                    said = said if turn else done.stdout
                else:
                    right = done.returncode == 0 and len(pictures(out)) == files and \
                        (not turn or same(work / "first", out))
                if done.returncode:
                    print(done.stdout + done.stderr, file=sys.stderr)
                wrong += not right
                rows.append({"job": title, "device": device, "files": files, "bytes": size, "seconds": seconds,
                             "files_per_second": files / seconds, "right": right, **curve})
                steady = f", {curve['steady']:9.1f} in the middle" if curve else ""
                print(f"{title:24} {device:16} {files / seconds:9.1f} files/s{steady}{'' if right else '  WRONG'}",
                      flush=True)
                if turn:
                    subprocess.run(["rm", "-rf", out], check=True)
            subprocess.run(["rm", "-rf", work / "first"], check=True)
    environment = {"program": must(program, "--version")[1].stdout.split("\n")[0], "devices": listed,
                   "processors": len(os.sched_getaffinity(0)), "system": platform.platform(),
                   "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "pixels": list(side)}
    settings.out.write_text(json.dumps({"environment": environment, "rows": rows}, indent=2) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
