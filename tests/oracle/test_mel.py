"""Mel spectrograms, cepstra and short-time spectra against NumPy and scipy; and the same bytes from every device."""
import pathlib
import tempfile
import unittest

import numpy as np
import scipy.fft
import scipy.io.wavfile
import scipy.signal

from harness import SCRATCH, OracleCase, command

RATE = 16000
WAYS = (
    ("--device", "cpu", "--variant", "naive"),
    ("--device", "cpu", "--strip-rows", "7", "--threads", "2"),
    ("--device", "cpu", "--isa", "base"),
    ("--device", "simt"),
    ("--device", "simt", "--variant", "naive", "--strip-rows", "50"),
)
PADS = {"zero": "constant", "mirror": "reflect", "clamp": "edge", "reflect": "symmetric"}


def sound(frames, channels=1):
    t = np.arange(frames) / RATE
    noise = np.random.default_rng(frames).standard_normal((frames, channels)) * 0.01
    return (noise + 0.3 * np.sin(2 * np.pi * (200 * t + 900 * t * t))[:, None]).astype(np.float32)


def framed(samples, size, hop, edge="zero"):
    """Spectra, (frames, size / 2 + 1), under a Hann window."""
    padded = np.pad(samples.astype(np.float64), size // 2, mode=PADS[edge])
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    starts = range(0, len(samples) // hop * hop + 1, hop)
    return np.fft.rfft(np.stack([np.pad(padded[s : s + size], (0, max(0, s + size - len(padded)))) * window
                                 for s in starts]), axis=1)


def bank(size, bands, low, high, scale, norm):
    """Triangles, (bands, bins)."""
    if scale == "htk":
        mel, hz = lambda f: 2595 * np.log10(1 + f / 700), lambda m: 700 * (10 ** (m / 2595) - 1)
    else:
        step = np.log(6.4) / 27
        mel = lambda f: np.where(f >= 1000, 15 + np.log(np.maximum(f, 1) / 1000) / step, f * 3 / 200)
        hz = lambda m: np.where(m >= 15, 1000 * np.exp(step * (m - 15)), m * 200 / 3)
    edges = hz(np.linspace(mel(np.float64(low)), mel(np.float64(high)), bands + 2))
    bins = np.arange(size // 2 + 1) * RATE / size
    left, top, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    weights = np.maximum(0, np.minimum((bins - left) / (top - left), (right - bins) / (right - top)))
    return weights * (2 / (right - left) if norm == "slaney" else 1)


def mel(samples, bands=80, size=400, hop=160, low=0, high=RATE / 2, scale="slaney", norm="slaney", edge="zero",
        log="none", floor=1e-10, mfcc=0):
    made = np.abs(framed(samples, size, hop, edge)) ** 2 @ bank(size, bands, low, high, scale, norm).T
    logs = {"none": lambda v: v, "log10": np.log10, "ln": np.log, "db": lambda v: 10 * np.log10(v)}
    if log == "whisper":
        made = np.log10(np.maximum(made[:-1], floor))
        return (np.maximum(made, made.max() - 8) + 4) / 4
    made = logs[log](np.maximum(made, floor) if log != "none" else made)
    return scipy.fft.dct(made, type=2, norm="ortho", axis=1)[:, :mfcc] if mfcc else made


# statement, shape, values at (row, column), of 0.1 ((31 i i + 7 i) mod 2001 - 1000) / 1024, 800 frames
KNOWN = (
    ("mel", (6, 80), {(0, 0): 0.00920539, (0, 1): 0.00507009, (0, 2): 0.01458529, (0, 3): 0.02210493,
                      (3, 40): 0.00246910, (5, 79): 0.00454162}),
    ("mel size=512 bands=40 scale=htk norm=none edge=mirror log=db", (6, 40),
     {(0, 0): 0.21341, (0, 1): 3.13594, (0, 2): 6.56787, (5, 39): 8.83858}),
    ("mel size=512 bands=40 log=db mfcc=13", (6, 13),
     {(2, 0): -111.49449, (2, 1): -2.54428, (2, 2): -0.91218, (2, 3): 0.42605}),
    ("mel edge=mirror log=whisper", (5, 80),
     {(0, 0): 0.59575882, (0, 1): 0.54695850, (0, 2): 0.67727236, (0, 3): 0.70475976, (3, 40): 0.34813466,
      (4, 79): 0.52940988}),
)


class Framed(OracleCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH)
        self.addCleanup(self.held.cleanup)
        self.folder = pathlib.Path(self.held.name)

    def made(self, samples, stage, *options):
        scipy.io.wavfile.write(self.folder / "in.wav", RATE, samples)
        command("run", "-q", "-f", "-e", stage, "in.wav", "out.npy", *options, folder=self.folder)
        return np.load(self.folder / "out.npy")


class Mel(Framed):
    def test_known_values(self):
        i = np.arange(800)
        samples = (0.1 * ((31 * i * i + 7 * i) % 2001 - 1000) / 1024).astype(np.float32)
        for statement, shape, values in KNOWN:
            for device in ("cpu", "simt"):
                got = self.made(samples, statement, "--device", device).reshape(shape)
                within = 1e-4 if "log=db" in statement else 2e-7
                for at, value in values.items():
                    self.assertAlmostEqual(float(got[at]), value, delta=max(within, 3e-6 * abs(value)), msg=statement)

    def test_bands_are_those_of_the_definition(self):
        for frames, options in (
            (4000, {}),
            (3000, {"size": 512, "bands": 40, "scale": "htk", "norm": "none", "edge": "mirror", "log": "db"}),
            (2500, {"size": 400, "bands": 64, "low": 100, "high": 6000, "log": "ln", "edge": "reflect", "hop": 100}),
            (1500, {"size": 220, "hop": 441, "bands": 20, "log": "log10", "edge": "clamp"}),
            (900, {"size": 98, "hop": 49, "bands": 12}),
            (3000, {"size": 512, "bands": 40, "log": "db", "mfcc": 13}),
            (4000, {"edge": "mirror", "log": "whisper"}),
            (100, {"edge": "mirror", "log": "db", "size": 64, "bands": 10}),
        ):
            samples = sound(frames)
            text = "mel " + " ".join(f"{k}={v}" for k, v in options.items())
            want = mel(samples[:, 0], **options)
            if options.get("log", "none") == "none":
                bound = 3e-6 * np.abs(want).max(axis=1, keepdims=True)
            else:
                bound = {"db": 1e-3, "ln": 3e-4, "log10": 1e-4, "whisper": 1e-4}[options["log"]]
            for device in ("cpu", "simt"):
                got = self.made(samples, text, "--device", device)
                self.assertEqual(got.shape, want.shape, text)
                self.assertEqual(got.dtype, np.float32)
                worst = (np.abs(got - want) - bound).max()
                self.assertLessEqual(worst, 0, f"{text} {device}")

    def test_every_way_gives_the_same_bytes(self):
        samples = sound(3000)
        for text in ("mel 40 log=ln", "mel 20 size=98 hop=50 mfcc=7 log=db edge=mirror", "mel 16 size=176 log=log10",
                     "mel log=whisper edge=reflect"):
            want = self.made(samples, text)
            for way in WAYS:
                self.same(self.made(samples, text, *way), want, f"{text} {' '.join(way)}")

    def test_what_is_refused(self):
        scipy.io.wavfile.write(self.folder / "in.wav", RATE, sound(100, 2))
        for text, says in (("mel", "remix mono"), ("mel size=401", "400"), ("mel mfcc=13", "log=db"),
                           ("mel high=9000", "high"), ("mel low=3000 high=2000", "begin")):
            stages = ("-e", "remix mono") if text != "mel" else ()
            done = command("run", *stages, "-e", text, "in.wav", "out.npy", folder=self.folder, check=False)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(says, done.stderr, text)


class Spectra(Framed):
    def sound_of(self, spectra, stage, *options):
        np.save(self.folder / "in.npy", spectra)
        command("run", "-q", "-f", "-e", stage, "in.npy", "out.wav", *options, folder=self.folder)
        rate, samples = scipy.io.wavfile.read(self.folder / "out.wav")
        self.assertEqual(rate, RATE)
        return samples if samples.ndim == 2 else samples[:, None]

    def test_stft_is_numpys_transform(self):
        for frames, channels, size, hop, edge in ((3000, 1, 256, 64, "zero"), (2000, 2, 98, 49, "mirror"),
                                                  (1500, 3, 480, 500, "reflect")):
            samples = sound(frames, channels)
            for device in ("cpu", "simt"):
                got = self.made(samples, f"stft {size} hop={hop} edge={edge}", "--device", device)
                self.assertEqual(got.shape, (frames // hop + 1, size // 2 + 1, 2 * channels))
                for c in range(channels):
                    want = framed(samples[:, c], size, hop, edge)
                    worst = np.abs(got[..., 2 * c] + 1j * got[..., 2 * c + 1] - want).max() / np.abs(want).max()
                    self.assertLessEqual(worst, 1e-6, f"{size} {device}")

    def test_istft_is_scipys(self):
        rng = np.random.default_rng(5)
        for size, hop, window in ((256, 64, "hann"), (196, 98, "hamming"), (64, 20, "blackman")):
            spectra = rng.standard_normal((30, size // 2 + 1, 2)).astype(np.float32)
            both = (spectra[..., 0] + 1j * spectra[..., 1]).T.astype(np.complex128)
            both[0], both[-1] = both[0].real, both[-1].real
            taper = scipy.signal.get_window(window, size)
            _, want = scipy.signal.istft(both / taper.sum(), window=taper, nperseg=size, noverlap=size - hop)
            for device in ("cpu", "simt"):
                got = self.sound_of(spectra, f"istft {RATE}Hz hop={hop} window={window}", "--device", device)
                self.assertEqual(len(got), 29 * hop)
                self.assertLessEqual(np.abs(got[:, 0] - want[: 29 * hop]).max(), 2e-6 * np.abs(want).max(), device)

    def test_there_and_back_is_the_sound(self):
        samples = sound(5000, 2)
        spectra = self.made(samples, "stft 256 hop=100")
        back = self.sound_of(spectra, f"istft {RATE}Hz hop=100 frames=5000")
        self.assertLessEqual(np.abs(back - samples).max(), 1e-6)

    def test_every_way_gives_the_same_bytes(self):
        samples = sound(2500, 2)
        spectra = self.made(samples, "stft 98 hop=40")
        back = self.sound_of(spectra, f"istft {RATE}Hz hop=40")
        for way in WAYS:
            self.same(self.made(samples, "stft 98 hop=40", *way), spectra, f"stft {' '.join(way)}")
            self.same(self.sound_of(spectra, f"istft {RATE}Hz hop=40", *way), back, f"istft {' '.join(way)}")

    def test_what_is_refused(self):
        np.save(self.folder / "in.npy", np.zeros((9, 33, 3), np.float32))
        np.save(self.folder / "two.npy", np.zeros((9, 33, 2), np.float32))
        scipy.io.wavfile.write(self.folder / "in.wav", RATE, sound(100, 5))
        for name, text, says in (("in.npy", "istft 8kHz", "imaginary"), ("two.npy", "istft 8kHz hop=65", "gaps"),
                                 ("two.npy", "istft 8kHz hop=16 frames=1000", "at most 160"),
                                 ("in.wav", "stft", "remix"), ("in.wav", "stft 254", "256")):
            done = command("run", "-e", text, name, "out.wav", folder=self.folder, check=False)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(says, done.stderr, text)


class Denoise(Framed):
    def cleaned(self, samples, stage, *options):
        scipy.io.wavfile.write(self.folder / "in.wav", RATE, samples)
        command("run", "-q", "-f", "-e", stage, "in.wav", "out.wav", *options, folder=self.folder)
        got = scipy.io.wavfile.read(self.folder / "out.wav")[1]
        return got if got.ndim == 2 else got[:, None]

    def test_is_the_gate_of_the_definition(self):
        size, amount, threshold = 256, 15, 6
        samples = sound(6000)[:, 0] * np.repeat([0, 1, 1], 2000).astype(np.float32)
        samples += (np.random.default_rng(1).standard_normal(6000) * 0.02).astype(np.float32)
        window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
        padded = np.pad(samples.astype(np.float64), size)
        spectra = lambda hop: np.stack([np.fft.rfft(padded[s : s + size] * window)
                                        for s in range(size // 2, 6000 + size + 1, hop)])
        heard = np.abs(spectra(size)[1 : 6000 // size]) ** 2  # frames within the sound
        classes = np.floor(np.log2(heard) * 2 + 100).astype(int)
        noise = []
        for column in classes.T:
            counts, wanted = np.bincount(column, minlength=160), 0.2 * len(column)
            at = np.searchsorted(np.cumsum(counts), wanted)
            noise.append(2 ** ((at + (wanted - counts[:at].sum()) / counts[at] - 100) / 2) / -np.log(0.8))
        made = spectra(size // 4)
        open_ = np.pad(np.abs(made) ** 2 > np.array(noise) * 10 ** (threshold / 10), ((0, 0), (2, 2)), mode="edge")
        five = np.lib.stride_tricks.sliding_window_view(open_, 5, axis=1)
        share, least = five.mean(axis=2), 10 ** (-amount / 20)
        factors = np.where(five[..., 2] & (share > 0.3), 1, least + (1 - least) * share)
        frames = np.fft.irfft(made * factors, axis=1) * window
        sums, squares = np.zeros(6000 + 3 * size), np.zeros(6000 + 3 * size)
        for t, frame in enumerate(frames):
            at = size // 2 + t * size // 4
            sums[at : at + size] += frame
            squares[at : at + size] += window**2
        want = (sums / np.maximum(squares, 1e-10))[size : size + 6000]
        for device in ("cpu", "simt"):
            got = self.cleaned(samples, f"denoise {amount}dB threshold={threshold}dB size={size}", "--device", device)
            off = np.abs(got[:, 0] - want)
            self.assertLess((off > 2e-6).mean(), 0.02, device)  # powers at a threshold
            self.assertLess(np.sqrt((off**2).mean()), 1e-3 * np.sqrt((want**2).mean()), device)

    def test_noise_falls_by_the_amount_and_a_tone_stays(self):
        noise = (np.random.default_rng(2).standard_normal((RATE * 4, 2)) * 0.01).astype(np.float32)
        tone = 0.3 * np.sin(2 * np.pi * 1000 * np.arange(RATE * 4) / RATE).astype(np.float32)
        tone[: RATE * 2] = 0
        for stage in ("denoise 20dB", "denoise 20dB start=0.2s end=1.5s"):
            got = self.cleaned(noise + tone[:, None], stage)
            level = lambda part: 20 * np.log10(np.sqrt((part.astype(np.float64) ** 2).mean()))
            self.assertAlmostEqual(level(noise[: RATE * 2]) - level(got[: RATE * 3 // 2]), 20, delta=1.5)
            self.assertAlmostEqual(level(got[-RATE:]), level(tone[-RATE:]), delta=0.05)

    def test_every_way_gives_the_same_bytes(self):
        samples = sound(5000, 2)
        for stage in ("denoise 12dB size=128", "denoise 9dB start=0s end=0.1s size=256"):
            want = self.cleaned(samples, stage)
            for way in WAYS:
                self.same(self.cleaned(samples, stage, *way), want, f"{stage} {' '.join(way)}")

    def test_what_is_refused(self):
        scipy.io.wavfile.write(self.folder / "in.wav", RATE, sound(3000))
        for text, says in (("denoise size=100", "power of two"), ("denoise start=0.1s", "both"),
                           ("denoise start=0.1s end=0.15s", "at least 2048"), ("denoise start=1s end=0.5s", "begins")):
            done = command("run", "-e", text, "in.wav", "out.wav", folder=self.folder, check=False)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(says, done.stderr, text)


if __name__ == "__main__":
    unittest.main()
