#!/usr/bin/env python3
"""Times formats that pictures are written in, and camera raw that is read, beside the programs of their own libraries.

    tests/bench/peers_formats.py [--build build/release] [--json docs/results/cpu-formats.json] [--rounds 3]
                                 [--only PATTERN]

A photo of 1500x1000 of 8 bits (light as floats for OpenEXR, a mosaic of 16 bits for camera raw), whole commands with
all of their threads, in processor seconds, and the size of what is written: at the same effort and quality. The least
of all, in alternation. Needs cjxl, opj_compress, oiiotool and dcraw_emu; those that are not installed are left out."""
import fnmatch
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

import cv2
import numpy as np

import peers
import peers_study

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from test_camera_raw import dng  # noqa: E402


def jobs(program):
    """Title, our words, the other's words; IN and OUT stand for files."""
    ours = [program, "convert", "-q", "-f", "--device", "cpu"]
    return [
        ("JPEG XL, quality 90", "in.png", "out.jxl", [], ["cjxl", "-q", "90", "IN", "OUT"]),
        ("JPEG XL, no loss", "in.png", "out.jxl", ["--lossless"], ["cjxl", "-d", "0", "IN", "OUT"]),
        ("JPEG 2000, no loss", "in.png", "out.jp2", [], ["opj_compress", "-i", "IN", "-o", "OUT"]),
        ("JPEG 2000, 40 dB", "in.png", "out.jp2", ["--quality", "90"],
         ["opj_compress", "-i", "IN", "-q", "40", "-I", "-o", "OUT"]),
        ("OpenEXR, float", "in.exr", "out.exr", [], ["oiiotool", "IN", "--compression", "zip", "-o", "OUT"]),
        ("OpenEXR, half", "in.exr", "out.exr", ["--samples", "f16"],
         ["oiiotool", "IN", "--compression", "zip", "-d", "half", "-o", "OUT"]),
        ("camera raw read, to PPM", "in.dng", "out.ppm", [],
         ["dcraw_emu", "-w", "-6", "-g", "2.4", "12.92", "-Z", "OUT", "IN"]),
    ], ours


def make_pictures(folder):
    photo = peers.photo(1000, 1500)
    cv2.imwrite(f"{folder}/in.png", photo)
    light = (photo / np.float32(255)) ** np.float32(2.2)
    os.environ["OPENCV_IO_ENABLE_OPENEXR"] = "1"
    cv2.imwrite(f"{folder}/in.exr", light, [cv2.IMWRITE_EXR_TYPE, cv2.IMWRITE_EXR_TYPE_FLOAT])
    mosaic = np.empty(photo.shape[:2], np.uint16)
    for y, x, channel in ((0, 0, 2), (0, 1, 1), (1, 0, 1), (1, 1, 0)):
        mosaic[y::2, x::2] = photo[y::2, x::2, channel].astype(np.uint16) * 200
    with open(f"{folder}/in.dng", "wb") as file:
        file.write(dng(mosaic))


def main():
    options = peers_study.options_of(__doc__, "formats")
    program = os.path.abspath(f"{options.build}/smempipe")
    result = {"program": peers.first_line([program, "--version"]), "processor": peers.processor(),
              "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "load_before": os.getloadavg()[0],
              "formats": []}
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        peers.apart(make_pictures, folder)
        rows, convert = jobs(program)
        for title, source, out, words, other in rows:
            if not fnmatch.fnmatch(title, options.only) or not shutil.which(other[0]):
                continue
            files = {"IN": f"{folder}/{source}", "OUT": f"{folder}/{out}"}
            ways = {"smempipe": [*convert, files["IN"], files["OUT"], *words],
                    other[0]: [files.get(word, word) for word in other]}
            tools = {}
            for _ in range(options.rounds):
                for tool, command in ways.items():
                    one = peers.once(command, files["OUT"], watched=False)
                    if one:
                        tools.setdefault(tool, []).append(one)
            result["formats"].append({"format": title, "tools": {
                tool: {"cpu_s": min(one["cpu_s"] for one in samples), "bytes": samples[0]["output_bytes"],
                       "samples": samples} for tool, samples in tools.items()}})
            print(title, {tool: (round(one["cpu_s"], 3), one["bytes"]) for tool, one in
                          result["formats"][-1]["tools"].items()}, flush=True)
            result["load_after"] = os.getloadavg()[0]
            with open(options.json, "w") as file:
                json.dump(result, file, indent=1)
                file.write("\n")
    print(f"written: {options.json}")


if __name__ == "__main__":
    main()
