#!/usr/bin/env python3
"""Times sound beside the other tools that are installed, in alternation: processor seconds of whole commands.

    tests/bench/peers_sound.py [--program build/release/smempipe] [--json FILE] [--rounds 3] [--only PATTERN] [--hour]

Ten minutes of stereo at 44.1 kHz, and a folder of 500 short files, beside sox, ffmpeg and, where Python has them, soxr
and librosa (processor seconds of the call alone, without reading and writing files, which smempipe's have in them; of
the folder seconds by the clock too). A bar is the other's time times a factor that smempipe is not to pass. --hour:
peak memory of an hour through each stage, which is to stay below 64 MB where it streams.
Run it on a quiet machine: only ratios within one run mean anything."""
import argparse
import fnmatch
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import wave

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RATE, FILES = 44100, 500

# what is timed, smempipe's stages and output, the others' commands, and the bar: (the other's name, factor)
JOBS = [
    ("highpass 80 Hz, linear phase", ["highpass 80Hz"], "wav", {
        "sox sinc": ["sox", "{in}", "{out}", "sinc", "80"], "sox biquad": ["sox", "{in}", "{out}", "highpass", "80"],
    }, (("sox sinc", 1), ("sox biquad", 3))),
    ("eq", ["eq peak freq=1kHz gain=6dB q=1"], "wav", {
        "sox": ["sox", "{in}", "{out}", "equalizer", "1000", "1q", "6"],
        "ffmpeg": ["ffmpeg", "-v", "error", "-y", "-i", "{in}", "-af", "equalizer=f=1000:t=q:w=1:g=6", "{out}"],
    }, (("sox", 0.5),)),
    ("resample to 16 kHz", ["resample 16kHz"], "wav", {
        "sox rate -h": ["sox", "{in}", "-r", "16000", "{out}", "rate", "-h"], "soxr HQ": "soxr 16000",
    }, (("soxr HQ", 1),)),
    ("resample to 48 kHz", ["resample 48kHz"], "wav", {
        "sox rate -h": ["sox", "{in}", "-r", "48000", "{out}", "rate", "-h"], "soxr HQ": "soxr 48000",
    }, (("soxr HQ", 1),)),
    ("loudness with true peak", ["loudness"], None, {
        "ffmpeg ebur128": ["ffmpeg", "-v", "error", "-nostats", "-i", "{in}", "-af", "ebur128=peak=true", "-f", "null",
                           "-"],
    }, (("ffmpeg ebur128", 0.5),)),
    ("spectrogram", ["remix mono", "spectrogram"], "png", {
        "sox": ["sox", "{in}", "-n", "remix", "-", "spectrogram", "-x", "2000", "-y", "513", "-o", "{out}"],
        "ffmpeg": ["ffmpeg", "-v", "error", "-y", "-i", "{in}", "-lavfi", "showspectrumpic=s=2000x512", "{out}"],
    }, (("sox", 1), ("ffmpeg", 1))),
    ("mel (mono, 16 kHz)", ["mel log=db"], "npy", {"librosa": "librosa"}, (("librosa", 1),)),
    ("limit", ["limit -6dB"], "wav", {
        "ffmpeg alimiter": ["ffmpeg", "-v", "error", "-y", "-i", "{in}", "-af",
                            "alimiter=limit=0.5:level=0:attack=5:release=50", "{out}"],
    }, (("ffmpeg alimiter", 1),)),
    ("compress", ["compress -20dB ratio=4"], "wav", {
        "sox compand": ["sox", "{in}", "{out}", "compand", "0.005,0.1", "6:-20,0,-15"],
    }, ()),
]

CALLS = """
import resource, sys, wave, numpy as np
with wave.open(sys.argv[2]) as f:
    a = np.frombuffer(f.readframes(f.getnframes()), "<i2").reshape(-1, f.getnchannels()).astype(np.float32) / 32768
if sys.argv[1].startswith("soxr"):
    import soxr
    call = lambda: soxr.resample(a, 44100, int(sys.argv[1].split()[1]), quality="HQ")
else:
    import librosa
    m = a[:, 0].copy()
    def call():
        s = librosa.feature.melspectrogram(y=m, sr=16000, n_fft=400, hop_length=160, n_mels=80, pad_mode="constant")
        return librosa.power_to_db(s)
    librosa.feature.melspectrogram(y=m[:16000], sr=16000, n_fft=400, hop_length=160, n_mels=80)
before = resource.getrusage(resource.RUSAGE_SELF)
call()
after = resource.getrusage(resource.RUSAGE_SELF)
print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
"""


def seconds_of(command, **how):
    """Processor seconds of a command and of all that it starts; None when it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **how)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return None, b""
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def make_sound(name, seconds, rate, channels):
    """Tones that come and go over noise."""
    with wave.open(name, "wb") as out:
        out.setparams((channels, 2, rate, 0, "NONE", ""))
        rng = np.random.default_rng(5)
        for second in range(seconds):
            t = np.arange(rate) / rate + second
            tone = 0.5 * np.sin(2 * np.pi * (220 + second % 40 * 20) * t) * (0.6 + 0.4 * np.sin(t / 3))
            sound = tone[:, None] + 0.1 * rng.standard_normal((rate, channels))
            out.writeframesraw(np.clip(np.rint(sound * 32767), -32768, 32767).astype("<i2").tobytes())


def has_module(python, name):
    return subprocess.run([python, "-c", f"import {name}"], capture_output=True).returncode == 0


def measure(options, folder):
    make_sound(f"{folder}/ten.wav", 600, RATE, 2)
    make_sound(f"{folder}/mono.wav", 600, 16000, 1)
    rows = []
    for title, stages, extension, others, bars in JOBS:
        if not fnmatch.fnmatch(title, options.only):
            continue
        source = f"{folder}/{'mono' if extension == 'npy' else 'ten'}.wav"
        names = {"in": source, "out": f"{folder}/out.{extension or 'none'}"}
        ours = [options.program, "run" if extension else "measure", "-q", "--device", "cpu"]
        ours += [part for stage in stages for part in ("-e", stage)]
        ours += ["-f", source, names["out"]] if extension else [source]
        times = {"smempipe": []}
        for _ in range(options.rounds):
            times["smempipe"].append(seconds_of(ours)[0])
            for name, command in others.items():
                if isinstance(command, str):
                    if has_module(options.python, command.split()[0]):
                        text = seconds_of([options.python, "-c", CALLS, command, source])[1]
                        times.setdefault(name, []).append(float(text) if text else None)
                elif shutil.which(command[0]):
                    times.setdefault(name, []).append(seconds_of([part.format(**names) for part in command])[0])
        rows.append(told(title, times, bars))
    return rows


def told(title, times, bars):
    """A row: the least of each, and whether it is below the bars."""
    least = {name: min(t) for name, t in times.items() if t and None not in t}
    row = {"job": title, "seconds": least, "median": {n: statistics.median(times[n]) for n in least}, "bars": []}
    line = ", ".join(f"{name} {value:.2f}" for name, value in least.items())
    for name, factor in bars:
        if name in least and "smempipe" in least:
            reached = least["smempipe"] <= factor * least[name]
            row["bars"].append({"other": name, "factor": factor, "reached": reached})
            line += f"; {'within' if reached else 'MISSES'} {factor} x {name}"
    print(f"{title}: {line}", flush=True)
    return row


def measure_folder(options, folder):
    """FLAC of speech to WAV of 16 kHz."""
    os.makedirs(f"{folder}/in", exist_ok=True)
    data = open(os.path.join(ROOT, "samples/speech.flac"), "rb").read()
    for i in range(FILES):
        with open(f"{folder}/in/{i:03}.flac", "wb") as file:
            file.write(data)
    times, walls = {}, {}
    for _ in range(options.rounds):
        for name, command in (
                ("smempipe", [options.program, "batch", "-q", "--device", "cpu", "-e", "resample 16kHz", "in", "-o",
                              "a", "--to", "wav"]),
                ("a loop over sox", ["sh", "-c", "mkdir b; for f in in/*.flac; do o=${f#in/}; "
                                                 "sox $f -r 16000 b/${o%.flac}.wav; done"])):
            for made in ("a", "b"):
                shutil.rmtree(f"{folder}/{made}", ignore_errors=True)
            start = time.monotonic()
            times.setdefault(name, []).append(seconds_of(command, cwd=folder)[0])
            walls.setdefault(name, []).append(time.monotonic() - start)
    title = f"{FILES} speech files, FLAC to 16 kHz WAV"
    return [told(f"{title}, {how}", of, (("a loop over sox", 0.2),))
            for how, of in (("processor", times), ("clock", walls))]


HOUR = ("highpass 80Hz", "eq peak freq=1kHz gain=6dB", "resample 16kHz", "resample 48kHz", "loudness", "limit",
        "compress", "gate", "silence", "trim auto silence=-50dBFS", "remix mono", "dither 16bit", "spectrogram",
        "waveform", "mel", "stft", "denoise", "normalize lufs=-16", "notch 50Hz", "gain -3dB")


def measure_hour(options, folder):
    make_sound(f"{folder}/hour.wav", 3600, RATE, 1)
    rows = []
    for stage in HOUR:
        if not fnmatch.fnmatch(stage, options.only):
            continue
        picture = stage in ("spectrogram", "waveform", "mel", "stft")
        command = [options.program, "run", "-q", "-f", "--device", "cpu", "-e", stage, f"{folder}/hour.wav"]
        child = subprocess.Popen([*command, f"{folder}/out.{'npy' if picture else 'wav'}"])
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        rows.append({"stage": stage, "peak_bytes": None if child.returncode else used.ru_maxrss * 1024})
        print(f"an hour of mono through {stage}: "
              f"{'failed' if child.returncode else f'{used.ru_maxrss / 1000:.0f} MB'}", flush=True)
    return rows


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--program", default=os.path.join(ROOT, "build/release/smempipe"))
    ask.add_argument("--json", metavar="FILE")
    ask.add_argument("--python", default=sys.executable, help="one that has soxr and librosa")
    ask.add_argument("--rounds", type=int, default=3)
    ask.add_argument("--only", metavar="PATTERN", default="*", help="rows like 'resample*'")
    ask.add_argument("--hour", action="store_true", help="measure memory, and no times")
    options = ask.parse_args()
    options.program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory() as folder:
        if options.hour:
            result = {"hour": measure_hour(options, folder)}
        else:
            result = {"load_before": os.getloadavg()[0], "jobs": measure(options, folder)}
            if fnmatch.fnmatch("folder", options.only):
                result["folder"] = measure_folder(options, folder)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
