#!/usr/bin/env python3
"""Makes the sounds of this folder: the same bytes every time. Only speech depends on the version of espeak-ng.

    samples/make_sounds.py build/release/smempipe      # needs NumPy and espeak-ng

WAV files are written here; the .flac ones go through smempipe.
"""
import pathlib
import subprocess
import sys
import tempfile
import wave

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
TEXT = "Every stage is a small step. Together they make a clear voice."


def write(path, rate, samples, size=2):
    """samples: -1..1, (frames,) or (frames, channels)."""
    samples = np.atleast_2d(samples.T).T
    codes = np.clip(np.rint(samples * 2**(8 * size - 1)), -(2**(8 * size - 1)), 2**(8 * size - 1) - 1).astype("<i4")
    data = codes.reshape(-1, 1).view(np.uint8)[:, :size]
    with wave.open(str(path), "wb") as out:
        out.setparams((samples.shape[1], size, rate, len(samples), "NONE", ""))
        out.writeframes(data.tobytes())


def chirp():
    """From 50 Hz to 7.5 kHz in two seconds: a straight line in a spectrogram."""
    t = np.arange(2 * 16000) / 16000
    return 16000, 0.5 * np.sin(2 * np.pi * (50 * t + (7500 - 50) / 2 / 2 * t**2))


def speech():
    with tempfile.TemporaryDirectory() as folder:
        name = f"{folder}/speech.wav"
        subprocess.run(["espeak-ng", "-v", "en", "-s", "165", "-w", name, TEXT], check=True)
        with wave.open(name, "rb") as source:
            rate, frames = source.getframerate(), source.readframes(source.getnframes())
    return rate, np.frombuffer(frames, "<i2") / 32768


def with_hum(rate, voice):
    """The voice at half its level over mains hum with harmonics, hiss and a constant offset."""
    t = np.arange(len(voice)) / rate
    hum = sum(a * np.sin(2 * np.pi * 50 * h * t + h) for h, a in ((1, 0.06), (2, 0.03), (3, 0.04), (5, 0.015)))
    return 0.5 * voice + hum + 0.002 * np.random.default_rng(1).standard_normal(len(voice)) + 0.02


def field():
    """A quiet stereo field recording in 24 bits: wind rumble, birds left and right."""
    rate, rng = 22050, np.random.default_rng(2)
    n = 2 * rate
    t = np.arange(n) / rate
    rumble = np.cumsum(rng.standard_normal((n, 2)) * 2e-5, axis=0)
    rumble -= np.linspace(0, 1, n)[:, None] * rumble[-1]
    birds = np.zeros((n, 2))
    for at, pitch, side in ((0.2, 3100, 0.2), (0.7, 4200, 0.8), (1.1, 3600, 0.35), (1.5, 4700, 0.65)):
        part = (t >= at) & (t < at + 0.25)
        u = (t[part] - at) / 0.25
        song = (
            0.03
            * np.sin(np.pi * u) ** 2
            * np.sin(2 * np.pi * (pitch * (t[part] - at) + 12 * np.sin(2 * np.pi * 14 * u)))
        )
        birds[part] += song[:, None] * [1 - side, side]
    return rate, np.rint((rumble + birds + 0.001 + 1e-5 * rng.standard_normal((n, 2))) * 2**19) / 2**19


def main():
    smempipe = sys.argv[1] if len(sys.argv) > 1 else "smempipe"
    write(HERE / "chirp.wav", *chirp())
    rate, voice = speech()
    with tempfile.TemporaryDirectory() as folder:
        for name, data, size in (("speech", (rate, voice), 2), ("speech-hum", (rate, with_hum(
                rate, voice)), 2), ("field", field(), 3)):
            write(f"{folder}/{name}.wav", *data, size)
            # Twice turned round is the same again: a pipeline needs a stage.
            subprocess.run([
                smempipe, "run", "-f", "-e", "reverse", "-e", "reverse", f"{folder}/{name}.wav", HERE / f"{name}.flac"
            ],
                           check=True)


if __name__ == "__main__":
    main()
