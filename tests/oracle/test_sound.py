"""Sound: files and stages against NumPy, scipy.signal and scipy.io.wavfile."""
import json
import pathlib
import tempfile
import unittest
import wave

import numpy as np
import scipy.io.wavfile
import scipy.signal

from harness import SCRATCH, OracleCase, ProgramFailed, command

RATE = 48000


def noise(seed, frames, channels=2, level=0.1):
    return (np.random.default_rng(seed).standard_normal((frames, channels)) * level).astype(np.float32)


def run(array, *stages, rate=RATE, report=None, made=None, options=()):
    """A float array (frames, channels) through stages, by way of float WAV files."""
    with tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH) as name:
        folder = pathlib.Path(name)
        scipy.io.wavfile.write(folder / "in.wav", rate, array)
        options = [*options, *([f"--report={folder / 'report.json'}"] if report is not None else [])]
        statements = [argument for stage in stages for argument in ("-e", stage)]
        command("run", "-q", *options, *statements, folder / "in.wav", folder / "out.wav")
        if report is not None:
            report.update(json.loads((folder / "report.json").read_text()))
        got_rate, got = scipy.io.wavfile.read(folder / "out.wav")
        assert got_rate == (made or rate)
        return got if got.ndim == 2 else got[:, None]


def taps_text(taps):
    return "fir [" + " ".join(repr(float(t)) for t in taps) + "]"


def response(statement, frequencies, rate=RATE, frames=60001):
    """What a filter does to an impulse: dB at the frequencies, and its taps."""
    impulse = np.zeros((frames, 1), np.float32)
    impulse[frames // 2] = 1
    taps = run(impulse, statement, rate=rate)[:, 0].astype(np.float64)
    used = np.nonzero(taps)[0]
    taps = taps[used[0] : used[-1] + 1]
    turns = np.exp(-2j * np.pi * np.outer(frequencies, np.arange(taps.size)) / rate)
    return 20 * np.log10(np.abs(turns @ taps) + 1e-15), taps


def cookbook(kind, frequency, gain=0, q=0.7071):
    """b and a by the Audio EQ Cookbook."""
    a, w = 10 ** (gain / 40), 2 * np.pi * frequency / RATE
    c, alpha = np.cos(w), np.sin(w) / (2 * q)
    low, root = (1 if kind == "lowshelf" else -1), 2 * np.sqrt(a) * alpha
    shelf = ([a * (a + 1 - low * (a - 1) * c + root), low * 2 * a * (a - 1 - low * (a + 1) * c),
              a * (a + 1 - low * (a - 1) * c - root)],
             [a + 1 + low * (a - 1) * c + root, -low * 2 * (a - 1 + low * (a + 1) * c),
              a + 1 + low * (a - 1) * c - root])
    plain = [1 + alpha, -2 * c, 1 - alpha]
    return {
        "peak": ([1 + alpha * a, -2 * c, 1 - alpha * a], [1 + alpha / a, -2 * c, 1 - alpha / a]),
        "lowshelf": shelf,
        "highshelf": shelf,
        "lowpass": ([(1 - c) / 2, 1 - c, (1 - c) / 2], plain),
        "highpass": ([(1 + c) / 2, -1 - c, (1 + c) / 2], plain),
        "bandpass": ([alpha, 0, -alpha], plain),
        "notch": ([1, -2 * c, 1], plain),
        "allpass": (plain[::-1], plain),
    }[kind]


class Filters(OracleCase):
    def test_fir_is_a_convolution(self):
        for count in (1, 2, 5, 32, 255, 300):
            array, taps = noise(count, 5000), np.random.default_rng(count).standard_normal(count)
            got = run(array, taps_text(taps))
            for c in range(2):
                want = np.convolve(array[:, c].astype(np.float64), taps, "same")
                terms = np.convolve(np.abs(array[:, c].astype(np.float64)), np.abs(taps), "same")
                self.near(got[:, c], want, f"{count} taps", terms=terms)

    def test_half_the_amplitude_is_left_at_the_cutoff(self):
        for statement, cutoffs in (
            ("lowpass 4kHz", [4000]),
            ("lowpass 20kHz", [20000]),
            ("highpass 80Hz", [80]),
            ("highpass 1kHz", [1000]),
            ("bandpass low=300Hz high=3400Hz", [300, 3400]),
            ("lowpass 1kHz window=hann", [1000]),
            ("lowpass 1kHz window=hamming", [1000]),
            ("lowpass 1kHz window=blackman", [1000]),
        ):
            for level in response(statement, cutoffs)[0]:
                self.assertAlmostEqual(level, -6.02, delta=0.1, msg=statement)

    def test_ripple_and_attenuation_are_as_stated(self):
        every = np.linspace(0, RATE / 2, 6001)
        for statement, passes, stops, attenuation in (
            ("lowpass 4kHz", every < 4000 - 667, every > 4000 + 667, 80),
            ("highpass 1kHz transition=200Hz attenuation=60dB", every > 1100, every < 900, 60),
            (
                "bandpass low=2kHz high=6kHz transition=400Hz",
                (every > 2200) & (every < 5800),
                (every < 1800) | (every > 6200),
                80,
            ),
            ("lowpass 4kHz transition=1kHz window=hann", every < 3500, every > 4500, 43.5),
            ("lowpass 4kHz transition=1kHz window=hamming", every < 3500, every > 4500, 50),
            ("lowpass 4kHz transition=1kHz window=blackman", every < 3500, every > 4500, 70),
        ):
            levels, _ = response(statement, every)
            ripple = 20 * np.log10(1 + 10 ** (-attenuation / 20))
            self.assertLess(np.abs(levels[passes]).max(), ripple * 1.01 + 1e-5, statement)
            self.assertLess(levels[stops].max(), -attenuation + 0.01, statement)

    def test_a_lowpass_is_scipys(self):
        for window in ("hann", "hamming", "blackman"):
            _, taps = response(f"lowpass 3kHz taps=101 window={window}", [0])
            want = scipy.signal.firwin(101, 3000, window=window, fs=RATE)
            want = want[np.nonzero(want.astype(np.float32))[0][0] :][: taps.size]  # a window may begin with 0
            self.assertLess(np.abs(taps - want).max(), 1e-7, window)

    def test_delay_is_made_up_for_and_the_length_kept(self):
        t = np.arange(20000) / RATE
        tone = np.sin(2 * np.pi * 440 * t).astype(np.float32)[:, None]
        got = run(tone, "lowpass 4kHz")
        self.assertEqual(got.shape, tone.shape)
        self.assertLess(np.abs(got - tone)[1000:-1000].max(), 1e-4)

    def test_a_notch_takes_hum_and_leaves_the_rest(self):
        levels, _ = response("notch 50Hz harmonics=3 width=10Hz", [50, 100, 150, 200, 1000, 75, 125], frames=100001)
        self.assertLess(levels[:3].max(), -35)
        self.assertLess(np.abs(levels[3:]).max(), 0.2)
        edges, _ = response("notch 50Hz width=10Hz", [45, 55], frames=100001)
        self.assertLess(np.abs(edges + 6.02).max(), 0.2)


class Levels(OracleCase):
    def test_eq_is_scipys_recursion(self):
        array = noise(9, 60000)  # more than three leaves
        for text, b, a in (
            ("peak freq=1kHz gain=6dB q=1", *cookbook("peak", 1000, 6, 1)),
            ("lowshelf freq=60Hz gain=-9dB", *cookbook("lowshelf", 60, -9)),
            ("highshelf freq=5kHz gain=4dB q=2", *cookbook("highshelf", 5000, 4, 2)),
            ("lowpass freq=300Hz", *cookbook("lowpass", 300)),
            ("highpass freq=20Hz", *cookbook("highpass", 20)),
            ("bandpass freq=2kHz q=30", *cookbook("bandpass", 2000, 0, 30)),
            ("notch freq=50Hz q=5", *cookbook("notch", 50, 0, 5)),
            ("allpass freq=7kHz", *cookbook("allpass", 7000)),
        ):
            want = scipy.signal.lfilter(b, a, array.astype(np.float64), axis=0)
            got = run(array, "eq " + text)
            worst = np.abs(got - want).max() - 2.0**-24 * np.abs(want).max()
            self.assertLessEqual(worst, 1e-9, text)

    def test_resample_is_a_windowed_sinc(self):
        for rate, made, band, stop, text in (
            (44100, 48000, 0.913, 100, "48kHz"),
            (44100, 16000, 0.913, 100, "16kHz"),
            (48000, 16000, 0.8, 60, "16kHz bandwidth=80% attenuation=60dB"),
            (8000, 44100, 0.6, 45, "44.1kHz bandwidth=60% attenuation=45dB"),
        ):
            array = noise(made, 9000)
            common = np.gcd(rate, made)
            up, down, low = made // common, rate // common, min(rate, made)
            width = (1 - band) * low / 2
            beta = 0.1102 * (stop - 8.7) if stop > 50 else 0.5842 * (stop - 21) ** 0.4 + 0.07886 * (stop - 21)
            half = int(np.ceil((stop - 7.95) / (2.285 * 2 * np.pi * width / rate) / 2))
            t = np.arange(-half * up, half * up + 1) / up
            taps = np.sinc((low - width) / rate * t) * np.i0(beta * np.sqrt(np.maximum(0, 1 - (t / half) ** 2)))
            taps[-1] = 0  # of the two outermost samples one is taken
            sums = np.array([taps[p::up].sum() for p in range(up)])  # each phase adds up to 1
            taps /= sums[np.arange(taps.size) % up]
            want = scipy.signal.upfirdn(taps, array.astype(np.float64), up, down, axis=0)
            frames = -(-len(array) * up // down)
            start, rest = divmod(half * up, down)
            if rest:  # the middle of the taps lies between two results: ask for silence before it
                pad = np.zeros(down - rest)
                want = scipy.signal.upfirdn(np.concatenate([pad, taps]), array.astype(np.float64), up, down, axis=0)
                start += 1
            got = run(array, "resample " + text, rate=rate, made=made)
            self.assertEqual(len(got), frames)
            self.assertLessEqual(np.abs(got - want[start : start + frames]).max(), 4e-6, text)

    def test_loudness_is_that_of_the_recommendation(self):
        array = noise(5, 48000 * 12) * np.linspace(0.05, 2, 48000 * 12, dtype=np.float32)[:, None]
        shelf = ([1.53512485958697, -2.69169618940638, 1.19839281085285], [1, -1.69065929318241, 0.73248077421585])
        high = ([1, -2, 1], [1, -1.99004745483398, 0.99007225036621])  # BS.1770-4, tables 1 and 2
        heard = scipy.signal.lfilter(*high, scipy.signal.lfilter(*shelf, array.astype(np.float64), axis=0), axis=0)
        pieces = (heard**2).reshape(-1, 4800, 2).sum((1, 2)) / 4800
        level = lambda mean: -0.691 + 10 * np.log10(mean)
        blocks = np.convolve(pieces, np.ones(4) / 4, "valid")
        loud = blocks[level(blocks) >= -70]
        loud = loud[level(loud) >= level(loud.mean()) - 10]
        report = {}
        run(array, "loudness", report=report)
        found = {f["name"]: f["value"] for s in report["steps"] for f in s.get("findings", [])}
        self.assertAlmostEqual(found["lufs"], level(loud.mean()), delta=0.001)
        self.assertAlmostEqual(found["momentary"], level(blocks.max()), delta=0.001)
        finer = scipy.signal.resample_poly(array.astype(np.float64), 16, 1, axis=0)
        self.assertAlmostEqual(found["true_peak"], 20 * np.log10(np.abs(finer).max()), delta=0.4)

    def test_compress_and_gate_follow_their_curves(self):
        array = noise(15, 20000) * (0.05 + np.sin(np.arange(20000) / 700) ** 8)[:, None].astype(np.float32)
        level = 20 * np.log10(np.abs(array.astype(np.float64)).max(axis=1))

        def smoothed(wish, window, attack, release):
            """Whole 2^-16 dB: the slowest rise, the least of a window, a sum over the attack."""
            ahead, rise = round(attack * RATE), int(10 / release / RATE * 65536 + 0.5)
            wish = np.concatenate([np.zeros(ahead), np.minimum(0, np.floor(wish * 65536)), np.zeros(ahead)])
            ramp = rise * np.arange(wish.size)
            wish = np.minimum.accumulate(wish - ramp) + ramp
            least = [wish[i : i + (ahead if window else 0) + 1].min() for i in range(len(array) + ahead)]
            weights = np.sin(np.pi * np.arange(1, ahead + 2) / (ahead + 2)) ** 2
            weights = np.floor(weights / weights.sum() * 65536 + 0.5)
            weights[(ahead + 1) // 2] += 65536 - weights.sum()
            return np.floor(np.convolve(least, weights, "valid") / 65536) / 65536

        for threshold, ratio, knee, makeup in ((-30, 4, 6, 0), (-40, 2, 0, 5), (-25, 1000, 20, 0)):
            over = level - threshold
            if knee:
                over = np.where(np.abs(over) < knee / 2, (over + knee / 2) ** 2 / (2 * knee), over)
            want = smoothed((1 / ratio - 1) * np.maximum(0, over), False, 0.002, 0.05) + makeup
            text = f"compress {threshold}dB ratio={ratio} knee={knee}dB attack=2ms release=50ms makeup={makeup}dB"
            for device in ("cpu", "simt"):
                got = run(array, text, options=("--device", device))
                np.testing.assert_allclose(got, array * 10 ** (want[:, None] / 20), rtol=2e-5, err_msg=text)
        for device in ("cpu", "simt"):  # music by a voice of one channel: as the voice itself would be turned down
            music, voice = noise(16, 20000), array[:, :1]
            gain = run(voice, "compress -30dB", options=("--device", device)) / voice
            got = run(np.hstack([music, voice]), "compress -30dB key=1", options=("--device", device))
            np.testing.assert_allclose(got, music * gain, rtol=2e-6)
        with self.assertRaisesRegex(ProgramFailed, "key takes the last 2 of 2 channels"):
            run(array, "compress -30dB key=2")
        for threshold, ratio, most in ((-30, 10, 60), (-40, 1.5, 12)):
            shut = np.maximum(-most, (ratio - 1) * np.minimum(0, level - threshold))
            want = -most - smoothed(-most - shut, True, 0.003, 0.02)
            text = f"gate {threshold}dB ratio={ratio} range={most}dB attack=3ms release=20ms"
            for device in ("cpu", "simt"):
                got = run(array, text, options=("--device", device))
                np.testing.assert_allclose(got, array * 10 ** (want[:, None] / 20), rtol=4e-5, err_msg=text)

    def test_vectors_on_every_device(self):
        """Known results of eq, limit and loudness, by the emulator's kernels too."""
        i = np.arange(64)[:, None]
        array = ((((31 * i * i + 7 * i) % 2001) - 1000) / 1024).astype(np.float32)
        for device in ("cpu", "simt"):
            options = ("--device", device)
            for rate, text, want in (
                (48000, "peak freq=1kHz gain=6dB q=1",
                 (-1.0194854, -1.0620977, -1.0291926, -0.9157108, -0.7173678, 0.4753555)),
                (44100, "lowshelf freq=200Hz gain=-6dB q=0.7071",
                 (-0.9697572, -0.9193490, -0.8094423, -0.6408832, -0.4145102, 0.4151423)),
                (16000, "highpass freq=80Hz q=0.7071",
                 (-0.9551077, -0.8763856, -0.7410218, -0.5516084, -0.3106770, 0.3821047)),
            ):
                got = run(array, "eq " + text, rate=rate, options=options)[[0, 1, 2, 3, 4, -1], 0]
                np.testing.assert_allclose(got, want, rtol=0, atol=1.2e-7, err_msg=f"{device} {text}")
            pulses = np.full((40, 1), 2.0**-20, np.float32)  # small, so that the gain shows where it is silent
            pulses[5:9], pulses[20] = 0.5, 2
            for text, at, gains in (
                ("-6.02dB lookahead=0.5ms release=20000", 16,
                 (-65754, -263027, -526067, -723340, -789093, -775441, -720828, -611601, -461413, -300082, -157422,
                  -58230, -11144)),
                ("0dB lookahead=0.25ms release=10000", 18,
                 (-98642, -295926, -394567, -374087, -312647, -230727, -148807, -70646, -16722)),
            ):
                want = np.zeros(40)
                want[at : at + len(gains)] = gains
                got = run(pulses, "limit " + text, rate=8000, options=options)
                np.testing.assert_allclose(20 * np.log10(got / pulses)[:, 0], want / 65536, rtol=0, atol=6e-5,
                                           err_msg=f"{device} {text}")
            tone = np.sin(2 * np.pi * 1000 / RATE * np.arange(2 * RATE))[:, None] * 10 ** (-23 / 20)
            report = {}
            run(np.repeat(tone, 2, 1).astype(np.float32), "loudness", report=report, options=options)
            found = {f["name"]: f["value"] for s in report["steps"] for f in s.get("findings", [])}
            for name in ("lufs", "momentary", "true_peak"):
                self.assertAlmostEqual(found[name], -22.9933, delta=0.001, msg=f"{device} {name}")

    def test_normalize_leaves_what_is_level(self):
        array = noise(5, 48000)
        report = {}
        run(array, "loudness", report=report)
        lufs = [f["value"] for s in report["steps"] for f in s.get("findings", []) if f["name"] == "lufs"][0]
        for off, stays in ((0.4, True), (-0.4, True), (0.6, False)):
            stage = f"normalize lufs={lufs + off:.3f}LUFS within=0.5LU true-peak=0dBTP"
            got = run(array, stage)
            if stays:
                self.same(got, array, stage)
            else:
                factor = 10 ** ((round(lufs + off, 3) - lufs) / 20)
                self.assertLess(np.abs(got - array * factor).max(), 1e-4 * np.abs(array).max(), stage)

    def test_gain(self):
        array = noise(1, 1000)
        self.near(run(array, "gain -6dB"), array.astype(np.float64) * 10 ** (-6 / 20), "gain")

    def test_normalize(self):
        array = noise(2, 5000)
        array[:, 1] *= np.float32(0.25)
        exact = array.astype(np.float64)
        self.near(run(array, "normalize peak=-3dBFS"), exact / np.abs(exact).max() * 10 ** (-3 / 20), "peak")
        self.near(run(array, "normalize"), exact / np.abs(exact).max() * 10 ** (-1 / 20), "default")
        self.near(run(array, "normalize rms=-20dBFS"), exact / np.sqrt((exact**2).mean()) * 0.1, "rms")
        each = np.sqrt((exact**2).mean(axis=0))
        self.near(run(array, "normalize rms=-20dBFS channels=each"), exact / each * 0.1, "each")

    def test_silence_stays_silence(self):
        silence = np.zeros((500, 2), np.float32)
        for statement in ("normalize", "normalize rms=-20dBFS", "normalize channels=each", "dc-remove"):
            self.same(run(silence, statement), silence, statement)

    def test_dc_remove(self):
        array = noise(3, 5000) + np.array([0.25, -0.125], np.float32)
        exact = array.astype(np.float64)
        self.near(run(array, "dc-remove"), exact - exact.mean(axis=0), "dc-remove", terms=np.abs(exact) + 0.25)

    def test_fade(self):
        array = np.ones((1000, 2), np.float32)
        got = run(array, "fade in=2ms out=4ms curve=linear")
        rise, fall = (np.arange(96) + 0.5) / 96, (np.arange(192) + 0.5)[::-1] / 192
        want = np.concatenate([rise, np.ones(1000 - 96 - 192), fall])
        self.near(got, np.stack([want, want], axis=1), "linear")
        smooth = run(array, "fade in=2ms")[:96, 0]
        self.near(smooth, rise**2 * (3 - 2 * rise), "smooth")

    def test_stats_of_sound(self):
        array = noise(4, 6000)
        array[10:13, 0] = 1
        array[20, 1] = -1
        exact = array.astype(np.float64)
        report = {}
        run(array, "stats", report=report)
        found = {(f["name"], f["channel"]): f["value"] for step in report["steps"] for f in step.get("findings", [])}
        for c in range(2):
            peak, rms = np.abs(exact[:, c]).max(), np.sqrt((exact[:, c] ** 2).mean())
            self.assertAlmostEqual(found["peak_dbfs", c], 20 * np.log10(peak), places=9)
            self.assertAlmostEqual(found["rms_dbfs", c], 20 * np.log10(rms), places=9)
            self.assertAlmostEqual(found["crest_db", c], 20 * np.log10(peak / rms), places=9)
            self.assertAlmostEqual(found["dc", c], exact[:, c].mean(), places=12)
            self.assertEqual(found["clipped", c], (3, 1)[c])


class Moves(OracleCase):
    def test_reverse_and_trim(self):
        array = noise(5, 300000)
        self.same(run(array, "reverse"), array[::-1], "reverse")
        self.same(run(array, "repeat"), np.tile(array, (2, 1)), "repeat")
        self.same(run(array, "repeat times=5"), np.tile(array, (5, 1)), "repeat times")
        self.same(run(array, "trim start=1s end=2s"), array[48000:96000], "seconds")
        self.same(run(array, "trim first=250000"), array[250000:], "frames")
        self.same(run(array, "trim first=3 frames=7", "reverse"), array[3:10][::-1], "both")
        shifted = np.concatenate([np.zeros((1, 2), np.float32), array[:-1]])
        self.same(run(array, "fir [0 0 1]", "stats", "trim first=200000 frames=50"), shifted[200000:200050],
                  "after others")

    def test_remix(self):
        array = noise(6, 1000)
        left, right = array[:, 0].astype(np.float64), array[:, 1].astype(np.float64)
        terms = np.abs(left) + np.abs(right)
        self.near(run(array, "remix mono")[:, 0], (left + right) / 2, "mono", terms=terms)
        self.same(run(array, "remix swap"), array[:, ::-1], "swap")
        self.same(run(array[:, :1], "remix stereo"), np.repeat(array[:, :1], 2, axis=1), "stereo")
        self.same(run(array, "remix right"), array[:, 1:], "right")
        both = np.stack([(left + right) / 2, (left - right) / 2], axis=1)
        self.near(run(array, "remix mid-side"), both, "mid-side", terms=np.stack([terms, terms], axis=1))
        got = run(array, "remix matrix=[0.25 -1; 1 0; 0 2]")
        want = np.stack([left / 4 - right, left, 2 * right], axis=1)
        self.near(got, want, "matrix", terms=np.abs(want) + np.stack([terms] * 3, axis=1))


class Files(OracleCase):
    def convert(self, folder, source, target, *stages):
        command("run", "-q", *[a for s in stages or ("reverse", "reverse") for a in ("-e", s)], folder / source,
                folder / target)

    def test_every_kind_of_wav_that_scipy_writes(self):
        rng = np.random.default_rng(7)
        kinds = {
            "u8": rng.integers(0, 256, (999, 2)).astype(np.uint8),
            "s16": rng.integers(-32768, 32768, (999, 2)).astype(np.int16),
            "s32": (rng.integers(-(2**23), 2**23, (999, 3)) * 256).astype(np.int32),
            "f32": noise(8, 999, 1),
            "f64": noise(9, 999, 2).astype(np.float64),
        }
        with tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH) as name:
            folder = pathlib.Path(name)
            for kind, array in kinds.items():
                scipy.io.wavfile.write(folder / f"{kind}.wav", 44100, array)
                for target in ("wav", "aiff"):
                    self.convert(folder, f"{kind}.wav", f"{kind}.out.{target}")
                self.convert(folder, f"{kind}.out.aiff", f"{kind}.back.wav")
                for back in (f"{kind}.out.wav", f"{kind}.back.wav"):
                    rate, got = scipy.io.wavfile.read(folder / back)
                    self.assertEqual(rate, 44100)
                    self.same(got.reshape(array.shape), array, back)

    def test_24_bits_stay_24_bits_in_wav_and_flac(self):
        samples = np.random.default_rng(10).integers(-(2**23), 2**23, 999)
        data = b"".join(int(s).to_bytes(3, "little", signed=True) for s in samples)
        with tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH) as name:
            folder = pathlib.Path(name)
            with wave.open(str(folder / "in.wav"), "wb") as out:
                out.setparams((1, 3, 32000, 999, "NONE", ""))
                out.writeframes(data)
            targets = ["out.wav"]
            self.convert(folder, "in.wav", "out.wav")
            try:
                self.convert(folder, "in.wav", "middle.flac")
                self.convert(folder, "middle.flac", "flac.wav")
                targets.append("flac.wav")
            except ProgramFailed as error:
                self.assertIn("without libsndfile", str(error))
            for target in targets:
                with wave.open(str(folder / target), "rb") as got:
                    self.assertEqual(got.getparams()[:4], (1, 3, 32000, 999))
                    self.assertEqual(got.readframes(999), data, target)

    def test_integers_are_rounded_to_nearest_and_clipping_is_counted(self):
        array = np.random.default_rng(11).integers(-32768, 32768, (5000, 2)).astype(np.int16)
        with tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH) as name:
            folder = pathlib.Path(name)
            scipy.io.wavfile.write(folder / "in.wav", 48000, array)
            done = command("run", "-e", "gain 3dB", folder / "in.wav", folder / "out.wav")
            exact = array.astype(np.float64) * np.float64(np.float32(10 ** (3 / 20)))
            got = scipy.io.wavfile.read(folder / "out.wav")[1]
            self.assertLessEqual(np.abs(got - np.clip(exact, -32768, 32767)).max(), 0.51)
            clipped = int(((exact > 32767.5) | (exact < -32768.5)).sum())
            self.assertIn(f"{clipped} samples were beyond full scale", done.stderr)


if __name__ == "__main__":
    unittest.main()
