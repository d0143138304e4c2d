#!/usr/bin/env python3
"""Times what people do with pictures beside Pillow, OpenCV, vips, GraphicsMagick and ffmpeg, in processor seconds.

    tests/bench/peers_pictures.py [--build build/release] [--json docs/results/cpu-pictures.json] [--rounds 3]
                                  [--only PATTERN]

Stages in memory, on one core (bench/cpu_stage.c, target cpu_stage); whole commands, a JPEG or PNG in and out, with all
of their threads; and a folder of JPEGs as thumbnails. The least of all, in alternation. A busy machine does for
processor seconds, though caches and clocks are shared: compare within one run.
Needs Python with NumPy, OpenCV and Pillow; of the programs those that are installed are timed."""
import fnmatch
import json
import os
import shutil
import tempfile
import time

import cv2
import numpy as np
import PIL

import peers
import peers_study

THUMBNAILS = 400
BORDERED = 64  # pixels on each side, in the row of `pad`


def stage_rows():
    """Rows for peers_study.measured: a photo."""
    photo = cv2.cvtColor(peers.photo(4000, 6000), cv2.COLOR_BGR2RGB)
    gray = cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY)
    for name, statement, array, theirs in peers.picture_rows(gray, photo):
        sides = [side + 2 * BORDERED * statement.startswith("pad") for side in array.shape[:2]]
        result = np.empty((*sides, *array.shape[2:]), array.dtype)
        whose = "Pillow" if "(Pillow)" in name else "OpenCV"
        name = name.replace(" (Pillow)", "")
        yield name, whose, statement, array, lambda a, theirs=theirs, result=result: theirs(a, result), None


JOBS = [
    ("JPEG 6000x4000 to 1600x1067, JPEG", "big.jpg", "out.jpg"),
    ("JPEG 6000x4000 to 1600x1067, PNG", "big.jpg", "out.png"),
    ("PNG 6000x4000 to 1600x1067, JPEG", "big.png", "out.jpg"),
]


def make_pictures(folder):
    big = peers.photo(4000, 6000)
    cv2.imwrite(f"{folder}/big.jpg", big, [cv2.IMWRITE_JPEG_QUALITY, 90])
    cv2.imwrite(f"{folder}/big.png", big)
    os.mkdir(f"{folder}/photos")
    peers.make_photos_in(f"{folder}/photos", THUMBNAILS)


def least_of(samples):
    return {tool: {"cpu_s": min(row["cpu_s"] for row in rows), "samples": rows} for tool, rows in samples.items()}


def measured_jobs(program, folder, options, keep):
    for title, source, out in JOBS:
        if not fnmatch.fnmatch(title, options.only):
            continue
        ways = peers.shrinking(program, f"{folder}/{source}", f"{folder}/{out}", 1)
        if not source.endswith(".jpg"):
            ways.pop("smempipe --fast-decode")
        samples = {}
        for _ in range(options.rounds):
            for tool, command in ways.items():
                one = command and peers.once(command, f"{folder}/{out}", watched=False)
                if one:
                    samples.setdefault(tool, []).append(one)
        keep({"job": title, "tools": least_of(samples)})


def measured_thumbnails(program, folder, options, keep):
    title = f"{THUMBNAILS} JPEGs of 768x512 as thumbnails of 256 pixels"
    if not fnmatch.fnmatch(title, options.only):
        return
    samples = {}
    for _ in range(options.rounds):
        for way, command in peers.thumbnail_ways(program, folder, 1).items():
            if command:
                samples.setdefault(way, []).append(peers.timed_way(folder, way, command, THUMBNAILS))
    keep({"job": title, "tools": least_of(samples)})


def main():
    options = peers_study.options_of(__doc__, "pictures")
    program = os.path.abspath(f"{options.build}/smempipe")
    cv2.setNumThreads(1)
    result = {"program": peers.first_line([program, "--version"]), "processor": peers.processor(),
              "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "load_before": os.getloadavg()[0],
              "versions": {"OpenCV": "OpenCV " + cv2.__version__, "Pillow": "Pillow " + PIL.__version__}}
    for name, word in (("vips", "--version"), ("gm", "version"), ("ffmpeg", "-version")):
        if shutil.which(name):
            result["versions"][name] = peers.first_line([name, word])
    result["stages"], result["jobs"] = [], []

    def keep(job=None):
        """Written after each row: a run that is cut off has measured what it has."""
        if job:
            result["jobs"].append(job)
            print(job["job"] + ": " + ", ".join(f"{t} {v['cpu_s']:.3f} s" for t, v in job["tools"].items()), flush=True)
        result["load_after"] = os.getloadavg()[0]
        with open(options.json, "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")

    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        peers.apart(make_pictures, folder)
        measured_jobs(program, folder, options, keep)
        measured_thumbnails(program, folder, options, keep)
        peers_study.measured(options, peers.isas(program), folder, stage_rows(), result["stages"], keep)
    print(f"written: {options.json}")


if __name__ == "__main__":
    main()
