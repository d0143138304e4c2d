#!/usr/bin/env python3
"""Times effects of sound and of pictures beside sox, ffmpeg, ImageMagick and vips: processor seconds of whole commands.

    tests/bench/peers_effects.py [--program build/release/smempipe] [--json docs/results/cpu-effects.json] [--rounds 3]
                                 [--only PATTERN]

Five minutes of stereo at 44.1 kHz, WAV to WAV, and a picture of 6000x4000, PNM to PNM, so that codecs cost little. The
least of each, in alternation. A busy machine does for processor seconds: compare within one run."""
import argparse
import fnmatch
import json
import os
import shutil
import sys
import tempfile
import time
import wave

import cv2
import numpy as np

import peers
import peers_sound

# a job, smempipe's stages, the input and output, and the others' values, of the commands below
SOUND, CLIPPED, PICTURE = ("ten.wav", "out.wav"), ("clipped.wav", "out.wav"), ("big.ppm", "out.ppm")
JOBS = [
    ("compand by points", ["compand [-70 -70; -60 -20] knee=6dB gain=-15dB attack=0.1s release=0.3s"], SOUND,
     {"sox": "compand 0.1,0.3 6:-70,-60,-20 -15"}),
    ("declip", ["declip"], CLIPPED, {"ffmpeg": "adeclip"}),
    ("tempo 1.25", ["tempo 1.25"], SOUND, {"sox": "tempo 1.25", "ffmpeg": "atempo=1.25"}),
    ("pitch, 3 semitones", ["pitch 3"], SOUND, {"sox": "pitch 300"}),
    ("reverb", ["reverb 1.2s mix=50%"], SOUND, {"sox": "reverb 50"}),
    ("tremolo", ["tremolo 5Hz"], SOUND, {"sox": "tremolo 5 50", "ffmpeg": "tremolo=f=5"}),
    ("vibrato", ["vibrato 6Hz"], SOUND, {"ffmpeg": "vibrato=f=6"}),
    ("chorus of one voice", ["chorus rate=0.25Hz delay=55ms depth=2ms voices=1"], SOUND,
     {"sox": "chorus 0.7 0.9 55 0.4 0.25 2 -s", "ffmpeg": "chorus=0.7:0.9:55:0.4:0.25:2"}),
    ("flanger", ["flanger"], SOUND, {"sox": "flanger", "ffmpeg": "flanger"}),
    ("gate", ["gate -40dB"], SOUND, {"ffmpeg": "agate=threshold=0.01"}),
    ("trim silence off both ends", ["trim auto silence=-40dBFS"], SOUND,
     {"sox": "silence 1 0.1 1% reverse silence 1 0.1 1% reverse"}),
    ("a colour becomes transparent", ["key white tolerance=10%"], ("big.ppm", "out.pam"),
     {"ImageMagick": "-fuzz 10% -transparent white", "ffmpeg": "colorkey=white:0.1"}),
    ("a colour by another", ["replace white to=red tolerance=10%"], PICTURE,
     {"ImageMagick": "-fuzz 10% -fill red -opaque white"}),
    ("brightness and saturation in HSL", ["modulate 120% saturation=150%"], PICTURE,
     {"ImageMagick": "-modulate 120,150", "GraphicsMagick": "-modulate 120,150"}),
    ("tint", ["tint orange amount=50%"], PICTURE, {"ImageMagick": "-fill orange -tint 50"}),
    ("text in a font", ['text "A caption, in a font" font="DejaVu Sans" size=200px'], PICTURE,
     {"ImageMagick": "-fill white -font DejaVu-Sans -pointsize 200 -annotate +90+3800 A_caption,_in_a_font",
      "ffmpeg": "drawtext=text=A_caption:fontfile=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf:fontsize=200"}),
    ("a rectangle and a polygon", ["draw rectangle x=100 y=100 width=3000 height=2000 fill=red",
                                   "draw polygon points=[100 100; 5000 900; 900 3500] fill=blue"], PICTURE,
     {"ImageMagick": "-fill red -draw rectangle_100,100_3099,2099 -fill blue -draw polygon_100,100_5000,900_900,3500"}),
    ("round corners", ['include "rounded"'], ("big.ppm", "out.pam"), {}),
    ("shadow", ['include "shadow"'], ("alpha.png", "out.pam"),
     {"ImageMagick": "( +clone -background black -shadow 60x40+30+30 ) +swap -background none -layers merge +repage"}),
    ("vignette", ['include "vignette"'], PICTURE, {"ffmpeg": "vignette=PI/5"}),
]
WAYS = {
    "sox": lambda source, out, words: ["sox", "-D", source, out, *words],
    "ffmpeg": lambda source, out, words: ["ffmpeg", "-v", "error", "-y", "-i", source,
                                          "-af" if source.endswith(".wav") else "-vf", *words, out],
    "ImageMagick": lambda source, out, words: ["convert", source, *(word.replace("_", " ") for word in words), out],
    "GraphicsMagick": lambda source, out, words: ["gm", "convert", source, *words, out],
}


def make_inputs(folder):
    peers_sound.make_sound(f"{folder}/ten.wav", 300, peers_sound.RATE, 2)
    with wave.open(f"{folder}/ten.wav") as sound, wave.open(f"{folder}/clipped.wav", "wb") as out:
        out.setparams(sound.getparams())
        samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype(np.int32) * 2
        out.writeframes(np.clip(samples, -32768, 32767).astype("<i2").tobytes())
    big = peers.photo(4000, 6000)
    cv2.imwrite(f"{folder}/big.ppm", big)
    alpha = np.zeros((1500, 2000), np.uint8)
    cv2.ellipse(alpha, (1000, 750), (700, 500), 0, 0, 360, 255, -1)
    cv2.imwrite(f"{folder}/alpha.png", np.dstack([big[:1500, :2000], alpha]))


def measured(options, folder):
    for title, stages, (source, out), others in JOBS:
        if not fnmatch.fnmatch(title, options.only):
            continue
        source, out = f"{folder}/{source}", f"{folder}/{out}"
        ways = {"smempipe": [options.program, "run", "-q", "-f", "--device", "cpu",
                             *(part for stage in stages for part in ("-e", stage)), source, out]}
        ways.update({tool: WAYS[tool](source, out, words.split()) for tool, words in others.items()})
        times = {}
        for _ in range(options.rounds):
            for tool, command in ways.items():
                if shutil.which(command[0]):
                    times.setdefault(tool, []).append(peers_sound.seconds_of(command)[0])
        least = {tool: min(of) for tool, of in times.items() if None not in of}
        failed = sorted(set(times) - set(least))
        print(f"{title}: {', '.join(f'{tool} {value:.2f}' for tool, value in least.items())}"
              + (f"; failed: {', '.join(failed)}" if failed else ""), flush=True)
        yield {"job": title, "seconds": least, "failed": failed}


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--program", default=os.path.join(peers.ROOT, "build/release/smempipe"))
    ask.add_argument("--json", default=os.path.join(peers.ROOT, "docs/results/cpu-effects.json"))
    ask.add_argument("--rounds", type=int, default=3)
    ask.add_argument("--only", metavar="PATTERN", default="*", help="rows like 'te*'")
    options = ask.parse_args()
    options.program = os.path.abspath(options.program)
    result = {"processor": peers.processor(), "load_before": os.getloadavg()[0],
              "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
              "versions": [peers.first_line(command) for command in (
                  ["sox", "--version"], ["ffmpeg", "-version"], ["convert", "-version"]) if shutil.which(command[0])]}
    with tempfile.TemporaryDirectory() as folder:
        peers.apart(make_inputs, folder)
        result["effects"] = list(measured(options, folder))
    result["load_after"] = os.getloadavg()[0]
    with open(options.json, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
