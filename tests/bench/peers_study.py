#!/usr/bin/env python3
"""Times the stages for pictures that people study beside OpenCV, and Fourier transforms beside FFTW, on one core.

    tests/bench/peers_study.py [--build build/release] [--json docs/results/cpu-study.json] [--rounds 3]
                               [--only PATTERN]

Pictures and results lie in memory (bench/cpu_stage.c, target cpu_stage). Processor seconds of a stage's steps; of those
that compute between steps (BETWEEN) of the whole run, with its copies. The least of all, in alternation. FFTW plans by
estimate and makes the half spectrum of real numbers, `fft complex` the whole one.
Needs Python with NumPy and OpenCV, and libfftw3f for the transforms (Debian: libfftw3-single3). A busy machine does for
processor seconds, though caches and clocks are shared: compare within one run."""
import argparse
import fnmatch
import json
import os
import subprocess
import tempfile
import time

import cv2
import numpy as np

import peers

RUNS = 5
BETWEEN = ("label", "canny", "template", "clahe", "distance")
LINES = ((1, 4096), (1, 65536), (1, 1000000))
SQUARES = ((256, 256), (512, 512), (1024, 1024), (2048, 2048), (2000, 3000))


def scenes():
    """Random bytes where the time does not depend on them, else a photo, spots and noise of two values; 24 MP."""
    rng = np.random.default_rng(1)
    noise = rng.integers(0, 256, (4000, 6000), dtype=np.uint8)
    photo = cv2.cvtColor(peers.photo(4000, 6000), cv2.COLOR_BGR2GRAY)
    spots = cv2.GaussianBlur(noise, (0, 0), 4)
    spots = np.where(spots > np.percentile(spots, 96), 255, 0).astype(np.uint8)
    return noise, photo, spots, np.where(noise < 128, 0, 255).astype(np.uint8)


def rows():
    """(name, whose, statement, picture, what OpenCV does, a template that lies beside the pipeline)"""
    noise, photo, spots, half = scenes()
    six, part = photo[:2000, :3000].copy(), photo[700:764, 900:964].copy()
    deep, floats = noise.astype(np.uint16) * 257, six.astype(np.float32) / 255
    out = [(f"median {n} u8", f"median {n}px", noise, lambda a, n=n: cv2.medianBlur(a, n)) for n in
           (3, 5, 7, 15, 51, 101)]
    out += [(f"median {n} u16", f"median {n}px", deep, lambda a, n=n: cv2.medianBlur(a, n)) for n in (3, 5)]
    for n in (3, 15, 51, 101):
        out.append((f"dilate {n} u8", f"dilate {n}px", noise, lambda a, n=n: cv2.dilate(a, np.ones((n, n), np.uint8))))
    out.append(("dilate 15 u16", "dilate 15px", deep, lambda a: cv2.dilate(a, np.ones((15, 15), np.uint8))))
    y, x = np.mgrid[-7:8, -7:8]
    disk = (x * x + y * y <= 49).astype(np.uint8)
    out.append(("dilate 15, disk, u8", "dilate 15px shape=disk", noise, lambda a: cv2.dilate(a, disk)))
    out.append(("open 15 u8", "morph open size=15px", noise,
                lambda a: cv2.morphologyEx(a, cv2.MORPH_OPEN, np.ones((15, 15), np.uint8))))
    clahe = cv2.createCLAHE(2, (8, 8))
    out.append(("clahe u8, a photo", "clahe", photo, clahe.apply))
    out.append(("clahe u16, noise", "clahe", deep, clahe.apply))
    out.append(("canny u8, a photo", "canny 100cv high=200cv", photo, lambda a: cv2.Canny(a, 100, 200)))
    for name, array in (("spots", spots), ("half of random pixels", half)):
        out.append((f"label, {name}", "label", array, lambda a: cv2.connectedComponentsWithStats(a, connectivity=8)))
    for name, array in (("spots", 255 - spots), ("half of random pixels", half)):
        out.append((f"distance, {name}, 6 MP", "distance", array[:2000, :3000].copy(),
                    lambda a: cv2.distanceTransform(a, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)))
    out.append(("integral u8", "integral", noise, cv2.integral))
    out.append(("local-threshold mean 31 u8", "local-threshold 31px method=mean", photo,
                lambda a: cv2.adaptiveThreshold(a, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 31, 5)))
    for name, array, span in (("u8", six, 25.5), ("f32", floats, 0.1)):
        out.append((f"bilateral 3 {name}, 6 MP", "bilateral 3px range=10% radius=4px", array,
                    lambda a, span=span: cv2.bilateralFilter(a, 9, span, 3)))
    for n in (16, 32, 64):
        out.append((f"template {n}x{n} u8, 6 MP", 'template "part.npy"', six,
                    lambda a, n=n: cv2.matchTemplate(a, part[:n, :n].copy(), cv2.TM_CCOEFF_NORMED), part[:n, :n]))
    out.append(("dft f32, 3000x2000", "fft complex", floats, lambda a: cv2.dft(a, flags=cv2.DFT_COMPLEX_OUTPUT)))
    return [(name, "OpenCV", *rest, *[None] * (4 - len(rest))) for name, *rest in out]


def ours_once(options, what, isa, array, folder):
    """Processor seconds of runs; the first one, which touches memory, is left out."""
    kind = {1: "u8", 2: "u16", 4: "f32"}[array.itemsize] + "x3" * (array.ndim == 3)
    done = subprocess.run([f"{options.build}/tests/cpu_stage", what, isa, f"{folder}/p.pipe",
                           kind, str(array.shape[1]), str(array.shape[0]), f"{folder}/samples",
                           str(RUNS + 1)], capture_output=True, text=True, check=True)
    return [float(line) for line in done.stdout.split()][1:]


def theirs_once(call, array):
    """The same of a call, which small pictures repeat."""
    times, again = [], 1 + 2**18 // array.size
    call(array)
    for _ in range(RUNS):
        start = time.process_time()
        for _ in range(again):
            call(array)
        times.append((time.process_time() - start) / again)
    return times


def measured(options, isas, folder, all_rows, found, keep):
    for name, whose, statement, array, theirs, part in all_rows:
        if not fnmatch.fnmatch(name, options.only):
            continue
        with open(f"{folder}/samples", "wb") as file:
            file.write(array.tobytes())
        with open(f"{folder}/p.pipe", "w") as file:
            file.write(statement + "\n")
        if part is not None:
            np.save(f"{folder}/part.npy", part)
        ours, other = {isa: [] for isa in isas}, []
        for _ in range(options.rounds):
            for isa in isas:
                what = "all" if statement.startswith(BETWEEN) else "steps"
                ours[isa] += ours_once(options, what, isa, array, folder)
            other += theirs_once(theirs, array)
        least, their_least = {isa: min(times) for isa, times in ours.items()}, min(other)
        found.append({"stage": name, "beside": whose, "smempipe_s": least, "other_s": their_least,
                      "ratio": {isa: their_least / t for isa, t in least.items()},
                      "samples": {"smempipe": ours, "other": other}})
        line = ", ".join(f"{isa} {t * 1e3:.2f} ({their_least / t:.2f} x)" for isa, t in least.items())
        print(f"{name:34} {whose} {their_least * 1e3:9.2f} ms, {line}", flush=True)
        keep()


def transforms():
    for height, width in (*SQUARES, *LINES):
        transform = peers.fftw(height, width)
        if transform:
            array = np.random.default_rng(2).random((height, width), np.float32)
            yield (f"fft f32 {width}x{height}", "FFTW", "fft complex", array,
                   lambda a, transform=transform: transform(a, None), None)
        else:
            print("libfftw3f is not installed: no transforms", flush=True)
            return


def options_of(text, name):
    ask = argparse.ArgumentParser(description=text.splitlines()[0])
    ask.add_argument("--build", default=os.path.join(peers.ROOT, "build/release"), help="folder of the build")
    ask.add_argument("--json", metavar="FILE", default=os.path.join(peers.ROOT, f"docs/results/cpu-{name}.json"))
    ask.add_argument("--rounds", type=int, default=3)
    ask.add_argument("--only", metavar="PATTERN", default="*", help="rows like 'median*'")
    return ask.parse_args()


def main():
    options = options_of(__doc__, "study")
    program = f"{options.build}/smempipe"
    cv2.setNumThreads(1)
    isas = peers.isas(program)
    result = {"program": peers.first_line([program, "--version"]), "processor": peers.processor(),
              "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "load_before": os.getloadavg()[0],
              "opencv": cv2.__version__}
    result["stages"], result["transforms"] = [], []

    def keep():
        """Written after each row: a run that is cut off has measured what it has."""
        with open(options.json, "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")

    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        measured(options, isas, folder, rows(), result["stages"], keep)
        measured(options, isas, folder, transforms(), result["transforms"], keep)
    print(f"written: {options.json}")


if __name__ == "__main__":
    main()
