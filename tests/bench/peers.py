#!/usr/bin/env python3
"""Times smempipe beside the other tools that are installed, in alternation, and writes what it measured as JSON.

    tests/bench/peers.py [--program build/release/smempipe] [--json docs/results/cpu-peers.json] [--rounds 7]
                         [--only jobs|folder|thumbnails|stages]

Four tables: whole commands (a picture in, a picture out: wall time, processor time, peak memory, size of the output)
beside vips, ImageMagick, GraphicsMagick, ffmpeg and OpenCV; folders of small pictures, blurred and as thumbnails,
beside loops over such commands; and single stages in memory beside OpenCV, Pillow and FFTW, with `smempipe compare`.
Needs Python with NumPy, OpenCV and Pillow (Debian: python3-numpy, python3-opencv, python3-pil). Run it on a quiet
machine: only ratios within one run mean anything."""
import argparse
import ctypes
import ctypes.util
import fnmatch
import json
import multiprocessing
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np
from PIL import Image

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
from harness import png_bytes  # noqa: E402


def photo(height, width, seed=1):
    """A shipped photo, enlarged, with the noise of a sensor: what filters and deflate meet in practice."""
    small = cv2.imread(os.path.join(ROOT, "samples", "chelsea.png"))
    big = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.float32)
    noise = np.random.default_rng(seed).normal(0, 3, big.shape).astype(np.float32)
    return np.clip(big + noise, 0, 255).astype(np.uint8)


def make_pictures(folder):
    big = photo(4000, 6000)
    tall = np.concatenate([big, big[::-1], big, big[::-1]])
    cv2.imwrite(f"{folder}/big.png", big)  # OpenCV looks for runs alone: quick to inflate
    cv2.imwrite(f"{folder}/zlib.png", big,
                [cv2.IMWRITE_PNG_COMPRESSION, 6, cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_DEFAULT])
    with open(f"{folder}/plain.png", "wb") as file:
        file.write(png_bytes([row.tobytes() for row in big[..., ::-1]], 6000))
    cv2.imwrite(f"{folder}/tall.png", tall)
    cv2.imwrite(f"{folder}/big.jpg", big, [cv2.IMWRITE_JPEG_QUALITY, 90])
    cv2.imwrite(f"{folder}/small.png", photo(512, 768))
    noise = np.random.default_rng(2).integers(0, 256, (4000, 6000, 3), dtype=np.uint16)
    deep = np.full((4000, 6000, 4), 65535, np.uint16)
    deep[..., :3] = big.astype(np.uint16) * 256 + noise
    deep[500:900, 500:2500, 3] = 30000
    cv2.imwrite(f"{folder}/deep.png", deep)


OPENCV = ("import sys, cv2; "
          "a = cv2.imread(sys.argv[1], cv2.IMREAD_UNCHANGED); "
          "cv2.imwrite(sys.argv[2], cv2.GaussianBlur(a, (17, 17), 2))")


def commands(program, source, out, threads):
    """Blur by sigma 2, as each tool is used; None: not installed."""
    has = shutil.which
    return {
        "smempipe":
        [program, "run", "-q", "-f", "--device", "cpu", "--threads",
         str(threads), "-e", "gaussian 2px", source, out], "vips":
        has("vips") and ["vips", "gaussblur", source, out, "2"], "ImageMagick":
        has("convert") and ["convert", source, "-gaussian-blur", "0x2", out], "GraphicsMagick":
        has("gm") and ["gm", "convert", source, "-gaussian", "0x2", out], "ffmpeg":
        has("ffmpeg") and ["ffmpeg", "-v", "error", "-y", "-i", source, "-vf", "gblur=sigma=2", out], "OpenCV":
        [sys.executable, "-c", OPENCV, source, out],
    }


def shrinking(program, source, out, threads):
    """To 1600 pixels on the longer side; vipsthumbnail and --fast-decode decode at half the size."""
    has = shutil.which
    convert = [program, "convert", "-q", "-f", "--device", "cpu", "--threads", str(threads), "--resize", "1600"]
    return {
        "smempipe": [*convert, source, out],
        "smempipe --fast-decode": [*convert, "--fast-decode", source, out],
        "vips": has("vips") and ["vips", "resize", source, out, str(1600 / 6000)],
        "vipsthumbnail": has("vipsthumbnail") and ["vipsthumbnail", source, "-s", "1600x1600", "-o", out],
        "GraphicsMagick": has("gm") and ["gm", "convert", source, "-resize", "1600x1600", out],
        "ffmpeg": has("ffmpeg") and ["ffmpeg", "-v", "error", "-y", "-i", source, "-vf",
                                     "scale=1600:-1:flags=lanczos", out],
    }


def watch(pid):
    """Peak resident MB until the process ends. (getrusage would count this interpreter, which forked it.)"""
    peak, began = 0.0, time.monotonic()
    while True:
        try:
            with open(f"/proc/{pid}/status") as status:
                lines = [line for line in status if line.startswith("VmHWM")]
        except OSError:
            return peak
        if not lines:
            return peak  # it has ended and waits to be waited for
        peak = max(peak, int(lines[0].split()[1]) / 1024)
        time.sleep(0.001 if time.monotonic() - began < 0.1 else 0.01)


def once(command, out, watched):
    """Wall and processor seconds and output in bytes, and, where it is watched, peak memory; None when it failed."""
    if os.path.exists(out):
        os.remove(out)
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = watch(child.pid) if watched else None
    _, status, used = os.wait4(child.pid, 0)
    wall = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode or not os.path.exists(out):
        return None
    return {
        "wall_s": wall, "cpu_s": used.ru_utime + used.ru_stime, "peak_mb": peak, "output_bytes": os.path.getsize(out)
    }


def apart(make, folder):
    """Makes pictures in a process whose memory goes with it."""
    maker = multiprocessing.Process(target=make, args=(folder,))
    maker.start()
    maker.join()


SLOW = ("ImageMagick", "GraphicsMagick")  # tens of seconds each: one round

JOBS = [
    ("PNG 6000x4000 RGB, 8 bits", "big.png", ".png", 1.0),
    ("PNG 6000x16000 RGB, 8 bits", "tall.png", ".png", 0.4),
    ("PNG 768x512 RGB, 8 bits", "small.png", ".png", 3.0),
    ("JPEG 6000x4000", "big.jpg", ".jpg", 1.5),
    ("JPEG 6000x4000 to 1600x1067, JPEG", "big.jpg", ".jpg", 1.5),
    ("PNG 6000x4000 RGBA, 16 bits", "deep.png", ".png", 0.4),
    ("PNG 6000x4000 RGB, 8 bits, as zlib compresses it at level 6", "zlib.png", ".png", 1.0),
    ("PNG 6000x4000 RGB, 8 bits, not filtered, as libvips writes it", "plain.png", ".png", 1.0),
]


def measure_jobs(program, folder, rounds, threads, keep, pattern, before):
    results = []
    for title, name, extension, weight in JOBS:
        if not fnmatch.fnmatch(title, pattern):
            results += [before[title]] if title in before else []
            continue
        source, out = f"{folder}/{name}", f"{folder}/out{extension}"
        ways = (shrinking if " to 1600" in title else commands)(program, source, out, threads)
        samples = {tool: [] for tool, command in ways.items() if command}
        for turn in range(max(3, round(rounds * weight))):
            for tool, command in ways.items():
                if not command or (tool in SLOW and (turn > 0 or "16000" in title)):
                    continue
                if turn and len(samples[tool]) < turn and tool not in SLOW:
                    continue  # it failed before
                one = once(command, out, watched=turn == 0)
                if one:
                    samples[tool].append(one)
        tools = {}
        for tool, rows in samples.items():
            if rows:
                tools[tool] = {"wall_s": statistics.median(r["wall_s"] for r in rows),
                               "cpu_s": statistics.median(r["cpu_s"] for r in rows),
                               "peak_mb": rows[0]["peak_mb"],
                               "output_bytes": rows[-1]["output_bytes"],
                               "samples": rows}
        results.append({"job": title, "input_bytes": os.path.getsize(source), "tools": tools})
        line = ", ".join(f"{t} {v['wall_s']:.3f} s" for t, v in tools.items())
        print(f"{title}: {line}", flush=True)
        measured = [row["job"] for row in results]
        keep("jobs", results + [row for job, row in before.items() if job not in measured])


# ---------------------------------------------------------------------------------------------- a folder

PICTURES = 2000


def make_folder(folder):
    os.mkdir(f"{folder}/in")
    big = photo(1024, 1024)
    for i in range(PICTURES):
        y, x = i * 37 % 768, i * 101 % 768
        cv2.imwrite(f"{folder}/in/p{i:04}.png", big[y : y + 256, x : x + 256])


def measure_folder(program, folder, threads, keep):
    """Every picture of a folder blurred by sigma 2."""
    has = shutil.which
    how = f"--device cpu --threads {threads} -e 'gaussian 2px'"
    loop = "for f in in/*.png; do {}; done"
    ways = {
        "smempipe batch": f"'{program}' batch -q {how} in -o out",
        "a loop over smempipe run": loop.format(f"'{program}' run -q {how} $f out/${{f#in/}}"),
        "a loop over vips gaussblur": has("vips") and loop.format("vips gaussblur $f out/${f#in/} 2"),
        "mogrify": has("mogrify") and "mogrify -path out -gaussian-blur 0x2 in/*.png",
    }
    keep("folder", {"pictures": PICTURES, "size": "256x256 RGB", "ways": timed_ways(folder, "256x256", ways)})


def make_photos(folder):
    os.mkdir(f"{folder}/photos")
    make_photos_in(f"{folder}/photos", PICTURES)


def make_photos_in(folder, count):
    big = photo(1024, 1536)
    for i in range(count):
        y, x = i * 37 % 512, i * 101 % 768
        cv2.imwrite(f"{folder}/p{i:04}.jpg", big[y : y + 512, x : x + 768], [cv2.IMWRITE_JPEG_QUALITY, 90])


def thumbnail_ways(program, folder, threads):
    """JPEGs of 768 x 512 as thumbnails of 256 pixels."""
    has = shutil.which
    loop = "for f in photos/*.jpg; do {}; done"
    convert = f"'{program}' convert -q --device cpu --threads {threads} --resize 256 photos -o out"
    return {
        "smempipe convert": convert,
        "smempipe convert --fast-decode": f"{convert} --fast-decode",
        "a loop over vipsthumbnail":
        has("vipsthumbnail") and loop.format(f"vipsthumbnail $f -s 256 -o {folder}/out/%s.jpg"),
        "mogrify": has("mogrify") and "mogrify -path out -resize 256x256 photos/*.jpg",
    }


def measure_thumbnails(program, folder, threads, keep):
    ways = thumbnail_ways(program, folder, threads)
    keep("thumbnails", {"pictures": PICTURES, "size": "768x512 JPEG", "ways": timed_ways(folder, "768x512", ways)})


def timed_ways(folder, size, ways):
    """Each way once: one command, or a shell's loop. All make as many pictures in the folder `out`."""
    results = {}
    for way, command in ways.items():
        if not command:
            continue
        one = results[way] = timed_way(folder, way, command, PICTURES)
        print(f"{PICTURES} pictures of {size}, {way}: {one['wall_s']:.2f} s, {one['cpu_s']:.2f} of processors",
              flush=True)
    return results


def timed_way(folder, way, command, pictures):
    """A shell's command, which must make so many pictures in the folder `out`."""
    shutil.rmtree(f"{folder}/out", ignore_errors=True)
    os.mkdir(f"{folder}/out")
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["sh", "-c", command], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    made = sum(name.endswith((".png", ".jpg")) for name in os.listdir(f"{folder}/out"))
    if made != pictures:
        raise SystemExit(f"{way}: {made} pictures of {pictures}")
    return {"wall_s": seconds, "cpu_s": used}


# ---------------------------------------------------------------------------------------------- single stages


def isas(program):
    """Those of v4 and v3 that this processor has."""
    done = subprocess.run([program, "devices", "--json"], capture_output=True, text=True, check=True)
    best = next(device["isa"] for device in json.loads(done.stdout)["devices"] if device["kind"] == "cpu")
    return [isa for isa in ("v4", "v3") if isa <= best]


def stage_rows():
    """(name, statement, array, what OpenCV is asked to do with it and a written array for the result)"""
    rng = np.random.default_rng(3)
    u1 = rng.integers(0, 256, (4000, 6000), dtype=np.uint8)
    u3 = rng.integers(0, 256, (4000, 6000, 3), dtype=np.uint8)
    f1 = rng.random((4000, 6000), dtype=np.float32)
    box7 = rng.random((7, 7)).astype(np.float32)
    kernel = "[" + "; ".join(" ".join(f"{v:.6f}" for v in row) for row in box7) + "]"

    def blur(sigma):
        size = 2 * int(np.ceil(4 * sigma)) + 1
        return lambda a, to: cv2.GaussianBlur(a, (size, size), sigma, to, borderType=cv2.BORDER_REPLICATE)

    def count(a, to):
        return cv2.calcHist([a], [0], None, [256], [0, 256])

    def general(a, to):
        return cv2.filter2D(a, -1, box7, to, borderType=cv2.BORDER_REPLICATE)

    rows = []
    for label, a in (("u8x1", u1), ("u8x3", u3), ("f32", f1)):
        rows.append((f"transpose {label}", "transpose", a, cv2.transpose))
        rows.append((f"rotate 90 {label}", "rotate 90", a, lambda x, to: cv2.rotate(x, cv2.ROTATE_90_CLOCKWISE, to)))
        rows.append((f"flip {label}", "flip horizontal", a, lambda x, to: cv2.flip(x, 1, to)))
        rows.append((f"gaussian 13 taps {label}", "gaussian 1.5px", a, blur(1.5)))
        rows.append((f"gaussian 17 taps {label}", "gaussian 2px", a, blur(2.0)))
        rows.append(
            (f"box 5x5 {label}", "box 5px", a, lambda x, to: cv2.blur(x, (5, 5), to, borderType=cv2.BORDER_REPLICATE)))
    rows.append(("general 7x7 u8x1", f"correlate {kernel}", u1, general))
    rows.append(("general 7x7 f32", f"correlate {kernel}", f1, general))
    rows.append(("sobel x u8x1", "sobel x", u1,
                 lambda x, to: cv2.Sobel(x, cv2.CV_8U, 1, 0, to, borderType=cv2.BORDER_REPLICATE)))
    rows.append(("histogram u8x1, random", "histogram", u1, count))
    rows.append(("histogram u8x1, constant", "histogram", np.full_like(u1, 77), count))
    rows.append(("equalize u8x1", "equalize each", u1, cv2.equalizeHist))
    rows.append(("stats u8x1", "stats", u1, lambda x, to: cv2.meanStdDev(x)))
    rows.append(("stats u8x3", "stats", u3, lambda x, to: cv2.meanStdDev(x)))

    return rows + picture_rows(u1, u3) + study_rows(u1, u3)


def picture_rows(u1, u3):
    """Pictures that people make: sizes, turns, borders, colours."""
    def warped(how):
        turn = cv2.getRotationMatrix2D((2999.5, 1999.5), -7, 1)
        return lambda x, to: cv2.warpAffine(x, turn, (6000, 4000), to, flags=how)

    def pillow(width, height, how):
        image = Image.fromarray(u3)
        return lambda x, to: image.resize((width, height), how)

    def sized(width, height, how):
        return lambda x, to: cv2.resize(x, (width, height), interpolation=how)

    def colours(how):
        return lambda x, to: cv2.cvtColor(x, how, to)

    rows = []
    to_1600 = "resize width=1600 height=1067 fit=stretch"
    rows.append(("resize lanczos3 to 1600 u8x3 (Pillow)", f"{to_1600} arithmetic=fixed", u3,
                 pillow(1600, 1067, Image.LANCZOS)))
    rows.append(("resize bilinear to 1600 u8x3 (Pillow)", f"{to_1600} arithmetic=fixed filter=bilinear", u3,
                 pillow(1600, 1067, Image.BILINEAR)))
    rows.append(("resize area to 1600 u8x3", f"{to_1600} filter=area", u3, sized(1600, 1067, cv2.INTER_AREA)))
    rows.append(("resize area 4:1 u8x3", "resize 25% filter=area", u3, sized(1500, 1000, cv2.INTER_AREA)))
    rows.append(("resize linear 4:1 u8x3, no antialias", "resize 25% filter=bilinear antialias=no", u3,
                 sized(1500, 1000, cv2.INTER_LINEAR)))
    rows.append(("warp 7 degrees linear u8x3", "warp 7", u3, warped(cv2.INTER_LINEAR)))
    rows.append(("warp 7 degrees cubic u8x3", "warp 7 filter=bicubic", u3, warped(cv2.INTER_CUBIC)))
    rows.append(("warp 7 degrees nearest u8x3", "warp 7 filter=nearest", u3, warped(cv2.INTER_NEAREST)))
    rows.append(("pad 64 px mirror u8x3", "pad 64px edge=mirror", u3,
                 lambda x, to: cv2.copyMakeBorder(x, 64, 64, 64, 64, cv2.BORDER_REFLECT_101)))
    rows.append(("HSV u8x3", "color hsv", u3, colours(cv2.COLOR_RGB2HSV_FULL)))
    rows.append(("YCbCr u8x3", "color ycbcr", u3, colours(cv2.COLOR_RGB2YCrCb)))
    rows.append(("Lab u8x3", "color lab", u3, colours(cv2.COLOR_RGB2Lab)))
    rows.append(("two levels diffused u8x1 (Pillow)", "posterise 2 dither=diffuse", u1,
                 lambda x, to: Image.fromarray(u1).convert("1")))
    return rows


def study_rows(u1, u3):
    """Pictures that people study: random samples where the time does not depend on them, else a photo."""
    scene = cv2.cvtColor(photo(4000, 6000), cv2.COLOR_BGR2GRAY)
    spots = cv2.GaussianBlur(u1, (0, 0), 4)
    spots = np.where(spots > np.percentile(spots, 96), 255, 0).astype(np.uint8)  # 4 % of it
    small, clahe = scene[:2000, :3000].copy(), cv2.createCLAHE(2, (8, 8))
    rows = [(f"median {size} {label}", f"median {size}px", a, lambda x, to, size=size: cv2.medianBlur(x, size, to))
            for size in (3, 5, 15) for label, a in (("u8x1", u1), ("u8x3", u3))]
    for size in (3, 15, 51):
        element = np.ones((size, size), np.uint8)
        rows.append((f"dilate {size} u8x1", f"dilate {size}px", u1,
                     lambda x, to, element=element: cv2.dilate(x, element, to)))
    rows.append(("clahe u8x1, a photo", "clahe", scene, lambda x, to: clahe.apply(x, to)))
    rows.append(("canny u8x1, a photo", "canny 100cv high=200cv", scene, lambda x, to: cv2.Canny(x, 100, 200, to)))
    rows.append(("label u8x1, spots", "label", spots,
                 lambda x, to: cv2.connectedComponentsWithStats(x, None, None, None, 8)))
    rows.append(("distance u8x1, 6 MP", "distance", 255 - spots[:2000, :3000],
                 lambda x, to: cv2.distanceTransform(x, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)))
    rows.append(("integral u8x1", "integral", u1, lambda x, to: cv2.integral(x)))
    rows.append(("local-threshold mean 31 u8x1", "local-threshold 31px method=mean", scene,
                 lambda x, to: cv2.adaptiveThreshold(x, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 31, 5, to)))
    rows.append(("bilateral 3 u8x1, 6 MP", "bilateral 3px range=10% radius=4px", small,
                 lambda x, to: cv2.bilateralFilter(x, 9, 25.5, 3, to)))
    floats = small.astype(np.float32) / 255
    rows.append(("fft f32, 6 MP", "fft complex", floats,
                 lambda x, to: cv2.dft(x, flags=cv2.DFT_COMPLEX_OUTPUT)))
    for height, width in ((2048, 2048), (2000, 3000)):
        transform = fftw(height, width)
        if transform:
            rows.append((f"fft f32 {width}x{height}, FFTW", "fft complex",
                         np.resize(floats, (height, width)).copy(), transform))
    return rows


def fftw(height, width):
    """FFTW's transform of real numbers, half a spectrum, planned by estimate; None: it is not installed."""
    name, threads = ctypes.util.find_library("fftw3f"), ctypes.util.find_library("fftw3f_threads")
    if not name:
        return None
    library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
    if threads and cv2.getNumThreads() > 1:
        beside = ctypes.CDLL(threads)
        beside.fftwf_init_threads()
        beside.fftwf_plan_with_nthreads(cv2.getNumThreads())
    samples = np.zeros((height, width), np.float32)
    spectrum = np.zeros((height, width // 2 + 1), np.complex64)
    library.fftwf_plan_dft_r2c_2d.restype = ctypes.c_void_p
    plan = library.fftwf_plan_dft_r2c_2d(height, width, ctypes.c_void_p(samples.ctypes.data),
                                         ctypes.c_void_p(spectrum.ctypes.data), 64)

    def transform(array, to):
        library.fftwf_execute_dft_r2c(ctypes.c_void_p(plan), ctypes.c_void_p(array.ctypes.data),
                                      ctypes.c_void_p(spectrum.ctypes.data))
    transform.keeps = samples
    return transform


def compare_once(program, statement, source, threads, isa):
    """Seconds of a stage: its best variant's median, as `smempipe compare` measures it in memory, all steps added."""
    done = subprocess.run([program, "compare", "--device", "cpu", "--isa", isa, "--threads", str(threads), "--hot",
                           "--repeat", "5", "--time-limit", "3", "--json", "-", "-e", statement, source],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"compare {statement}: {done.stderr}")
    total = 0.0
    for step in json.loads(done.stdout)["steps"]:
        times = [v["median_seconds"] for v in step["variants"] if v["check"] == "right" and v["median_seconds"]]
        total += min(times)
    return total


def measure_stages(program, folder, rounds, threads, keep, pattern, before):
    """Rows whose names fit the pattern; of the others, what was measured before."""
    cv2.setNumThreads(threads)
    kinds = isas(program)
    results = {}
    for name, statement, array, theirs in stage_rows():
        if not fnmatch.fnmatch(name, pattern):
            if name in before:
                results[name] = before[name]
            continue
        source = f"{folder}/stage.npy"
        np.save(source, array)
        ours, others = {isa: [] for isa in kinds}, []
        result = np.ones(
            array.shape[1::-1] + array.shape[2:] if statement.startswith(("transpose", "rotate")) else array.shape,
            array.dtype)
        theirs(array, result)
        for _ in range(max(2, rounds // 3)):
            for isa in kinds:
                ours[isa].append(compare_once(program, statement, source, threads, isa))
            times = []
            for _ in range(9):
                start = time.perf_counter()
                theirs(array, result)
                times.append(time.perf_counter() - start)
            others.append(statistics.median(times))
        other = statistics.median(others)
        mine = {isa: statistics.median(ours[isa]) for isa in kinds}
        results[name] = {
            "stage": name,
            "smempipe_s": mine,
            "opencv_s": other,
            "ratio": {isa: other / mine[isa] for isa in kinds},
            "samples": {"smempipe": ours, "opencv": others},
        }
        line = ", ".join(f"{isa} {mine[isa] * 1e3:.2f} ms ({other / mine[isa]:.2f} x)" for isa in kinds)
        print(f"{name:28} OpenCV {other * 1e3:7.2f} ms, {line}", flush=True)
        keep("stages", [*results.values(), *(row for other, row in before.items() if other not in results)])


# ---------------------------------------------------------------------------------------------- the whole

def first_line(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True)
        return ((done.stdout or done.stderr).strip().splitlines() or [""])[0]
    except OSError:
        return None


def processor():
    """Its name, with family and model: virtual machines have short names for several."""
    try:
        with open("/proc/cpuinfo") as file:
            first = dict(
                (part.strip() for part in line.split(":", 1)) for line in file.read().split("\n\n")[0].splitlines())
        return f"{first['model name']} (family {first['cpu family']}, model {first['model']})"
    except (OSError, KeyError, ValueError):
        return platform.processor()


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--program", default=os.path.join(ROOT, "build/release/smempipe"))
    ask.add_argument("--json", default=os.path.join(ROOT, "docs/results/cpu-peers.json"))
    ask.add_argument("--rounds", type=int, default=7)
    ask.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    ask.add_argument("--only", choices=("jobs", "folder", "thumbnails", "stages"),
                     help="measure one table, keep the others")
    ask.add_argument("--jobs", metavar="PATTERN", default="*",
                     help="with --only jobs: measure rows like '*zlib*', keep the others")
    ask.add_argument("--stages", metavar="PATTERN", default="*",
                     help="with --only stages: measure rows like 'gaussian*', keep the others")
    options = ask.parse_args()
    result = {
        "program": first_line([options.program, "--version"]),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "processor": processor(),
        "threads": options.threads,
        "load_before": os.getloadavg()[0],
        "versions": {"vips": first_line(["vips", "--version"]), "ImageMagick": first_line(["convert", "-version"]),
                     "GraphicsMagick": first_line(["gm", "version"]), "ffmpeg": first_line(["ffmpeg", "-version"]),
                     "OpenCV": "OpenCV " + cv2.__version__},
    }
    if options.only and os.path.exists(options.json):
        with open(options.json) as file:
            before = json.load(file)
        if all(before.get(key) == result[key] for key in ("processor", "threads", "versions")):
            result = {**before, **result}  # the other table, of an earlier run here, stays

    def keep(table, rows):
        """Written after each row: a run that is cut off has measured what it has."""
        result[table] = rows
        with open(options.json, "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")

    os.makedirs(os.path.dirname(os.path.abspath(options.json)), exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if options.only in (None, "jobs"):
            apart(make_pictures, folder)
            before = {row["job"]: row for row in result.get("jobs", [])} if options.jobs != "*" else {}
            measure_jobs(options.program, folder, options.rounds, options.threads, keep, options.jobs, before)
        if options.only in (None, "folder"):
            apart(make_folder, folder)
            measure_folder(os.path.abspath(options.program), folder, options.threads, keep)
        if options.only in (None, "thumbnails"):
            apart(make_photos, folder)
            measure_thumbnails(os.path.abspath(options.program), folder, options.threads, keep)
        if options.only in (None, "stages"):
            before = {row["stage"]: row for row in result.get("stages", [])} if options.stages != "*" else {}
            measure_stages(options.program, folder, options.rounds, options.threads, keep, options.stages, before)
    print(f"written: {options.json}")


if __name__ == "__main__":
    main()
