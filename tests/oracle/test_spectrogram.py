"""Spectrograms and waveforms against NumPy in double: windows, sizes, hops, channels; the same bytes from every device.
"""
import pathlib
import tempfile
import unittest
import wave

import numpy as np

from harness import SCRATCH, OracleCase, command

RATE = 16000
WINDOWS = {
    "hann": lambda a: 0.5 - 0.5 * np.cos(a),
    "hamming": lambda a: 0.54 - 0.46 * np.cos(a),
    "blackman": lambda a: 0.42 - 0.5 * np.cos(a) + 0.08 * np.cos(2 * a),
    "rectangular": lambda a: np.ones_like(a),
}


def sound(frames, channels):
    """A rising tone, another with noise: 16 bits, (frames, channels)."""
    t = np.arange(frames) / RATE
    noise = np.random.default_rng(frames).standard_normal(frames)
    both = np.stack(
        [0.6 * np.sin(2 * np.pi * (100 * t + 3000 * t * t)), 0.5 * np.sin(2 * np.pi * 1000 * t) + 0.01 * noise], 1)
    return np.rint(both[:, :channels] * 32767).astype("<i2")


def exact(samples, size, hop, window):
    """Magnitudes, (channels * bins, columns), as the stage lays them out."""
    weights = WINDOWS[window](2 * np.pi * np.arange(size) / size)
    padded = np.pad(samples / 32768.0, ((size // 2, size), (0, 0)))
    starts = range(0, len(samples), hop)
    rows = []
    for channel in padded.T:
        frames = np.stack([channel[s : s + size] for s in starts]) * weights
        values = np.abs(np.fft.rfft(frames, axis=1)[:, : size // 2]) * 2 / weights.sum()
        values[:, 0] /= 2
        rows.append(values.T[::-1])
    return np.concatenate(rows)


class Shown(OracleCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH)
        self.addCleanup(self.held.cleanup)
        self.folder = pathlib.Path(self.held.name)

    def shown(self, samples, stage, *options):
        with wave.open(str(self.folder / "in.wav"), "wb") as file:
            file.setnchannels(samples.shape[1])
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(samples.tobytes())
        command("run", "-q", "-f", "-e", stage, "in.wav", "out.npy", *options, folder=self.folder)
        return np.load(self.folder / "out.npy")


class Spectrogram(Shown):
    def test_magnitudes(self):
        for frames, channels, size, hop, window in (
            (4000, 1, 1024, 256, "hann"),
            (9000, 2, 256, 64, "hamming"),
            (3000, 2, 130, 77, "blackman"),
            (2000, 1, 882, 441, "hann"),
            (900, 2, 70, 35, "hamming"),
            (700, 1, 2048, 100, "hann"),
            (1, 1, 16, 1, "rectangular"),
        ):
            samples = sound(frames, channels)
            stage = f"spectrogram size={size} hop={hop} window={window} colors=none"
            want = exact(samples, size, hop, window)
            got = self.shown(samples, stage + " levels=linear")
            self.assertEqual(got.shape, want.shape)
            np.testing.assert_allclose(got, np.minimum(want, 1), atol=2e-6, err_msg=stage)
            levels = np.clip((20 * np.log10(np.maximum(want, 1e-12)) + 60) / 60, 0, 1)
            np.testing.assert_allclose(self.shown(samples, stage + " range=60dB"), levels, atol=2e-4, err_msg=stage)

    def test_rows_show_the_greatest_of_their_levels(self):
        def mel(hz):
            return np.where(hz < 1000, hz * 3 / 200, 15 + 27 * np.log(np.maximum(hz, 1) / 1000) / np.log(6.4))

        samples, size = sound(4000, 1), 256
        bins, step = size // 2, RATE / size
        fine = self.shown(samples, f"spectrogram size={size} hop=100 colors=none")[::-1]
        places = np.linspace(0, mel(np.array(RATE / 2.0)), 200001)
        hz = np.where(places < 15, places * 200 / 3, 1000 * np.exp((places - 15) * np.log(6.4) / 27))
        for scale, height in (("linear", 50), ("linear", 128), ("log", 128), ("log", 37), ("mel", 128), ("mel", 60)):
            up = np.arange(height + 1) / height
            if scale == "linear":
                edges = np.arange(height + 1) * bins // height
            elif scale == "log":
                edges = np.floor(bins**up + 1e-9).astype(int)
            else:
                edges = np.floor(np.interp(up * places[-1], places, hz) / step + 1e-6).astype(int)
            want = np.stack([fine[min(a, bins - 1) : max(b, a + 1)].max(0) for a, b in zip(edges, edges[1:])])[::-1]
            got = self.shown(samples, f"spectrogram size={size} hop=100 colors=none scale={scale} height={height}")
            self.same(got, want, f"{scale} {height}")

    def test_a_picture_is_at_most_2000_pixels_high(self):
        samples = sound(3000, 2)
        self.assertEqual(self.shown(samples, "spectrogram size=8192 axes=no").shape, (2000, 12, 3))
        self.assertEqual(self.shown(samples, "spectrogram size=8192 colors=none").shape, (8192, 12))
        self.assertEqual(self.shown(samples, "spectrogram height=300 axes=no").shape, (300, 12, 3))

    def test_every_way_gives_the_same_bytes(self):
        samples = sound(5000, 2)
        for stage in ("spectrogram size=256 hop=64", "spectrogram size=130 hop=77 colors=none",
                      "spectrogram size=62 hop=77 colors=gray scale=log height=40",
                      "spectrogram size=142 smooth=yes hop=64 colors=none"):
            want = self.shown(samples, stage)
            for way in (
                ("--device", "cpu", "--variant", "naive"),
                ("--device", "cpu", "--strip-rows", "7", "--threads", "2"),
                ("--device", "cpu", "--isa", "base"),
                ("--device", "simt"),
                ("--device", "simt", "--variant", "naive", "--strip-rows", "50"),
            ):
                self.same(self.shown(samples, stage, *way), want, f"{stage} {' '.join(way)}")

    def test_smooth_takes_the_nearest_size(self):
        samples = sound(3000, 1)
        for size, near in ((142, 144), (2028, 2016), (998, 1000), (144, 144)):
            stage = "hop=300 colors=none levels=linear"
            self.same(self.shown(samples, f"spectrogram size={size} smooth=yes {stage}"),
                      self.shown(samples, f"spectrogram size={near} {stage}"), f"{size}")

    def test_long_sounds_fit_a_width(self):
        samples = sound(2600, 1)
        for given, hop in (("width=20", 256), ("hop=64 width=20px", 130), ("hop=16 width=100", 26), ("width=5", 520)):
            self.same(self.shown(samples, f"spectrogram size=64 colors=none {given}"),
                      self.shown(samples, f"spectrogram size=64 colors=none hop={hop}"), given)
        long = np.tile(sound(5200, 1), (120, 1))  # 624000 frames
        self.assertEqual(self.shown(long, "spectrogram size=16 colors=none").shape, (8, 2000))

    def test_a_picture_is_refused(self):
        np.save(self.folder / "in.npy", np.zeros((9, 9), np.uint8))
        done = command("run", "-e", "spectrogram", "in.npy", "out.png", folder=self.folder, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("sound", done.stderr)


class Waveform(Shown):
    def test_least_and_most_of_each_column(self):
        for frames, channels, width in ((5000, 2, 37), (700, 1, 100), (20, 2, 50), (1, 1, 8)):
            samples = sound(frames, channels)
            starts = np.arange(width + 1) * frames // width
            columns = [samples[s : max(e, s + 1)] / 32768.0 for s, e in zip(starts, starts[1:])]
            want = np.stack([np.stack([c.min(axis=0), c.max(axis=0)], 1).ravel() for c in columns])
            for way in ((), ("--device", "cpu", "--variant", "naive"), ("--device", "simt")):
                got = self.shown(samples, f"waveform {width} colors=none", *way)
                self.same(got, want.astype(np.float32), f"{frames} {way}")
            rows = 40 // channels
            picture = np.zeros((rows * channels, width), np.uint8)
            for x, column in enumerate(want):
                for c in range(channels):
                    low, high = column[2 * c : 2 * c + 2]
                    top, bottom = (int(np.rint((1 - v) / 2 * (rows - 1))) for v in (high, low))
                    picture[c * rows + top : c * rows + bottom + 1, x] = 255
            for way in ((), ("--device", "cpu", "--strip-rows", "7"), ("--device", "simt", "--strip-rows", "9")):
                self.same(self.shown(samples, f"waveform {width} height=40 colors=gray", *way), picture, f"{way}")

    def test_colors(self):
        samples = np.zeros((100, 1), "<i2")
        for colors, on, off in (("light", (24, 78, 158), (255, 255, 255)), ("dark", (110, 220, 130), (0, 0, 0))):
            got = self.shown(samples, f"waveform 20 height=9 colors={colors}")
            self.assertEqual(tuple(got[4, 3]), on)
            self.assertEqual(tuple(got[0, 0]), off)


if __name__ == "__main__":
    unittest.main()
