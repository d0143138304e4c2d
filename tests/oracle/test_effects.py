"""Effects of sound that swing or ring, against their definitions in double, and where these come from."""
import math
import pathlib
import tempfile
import unittest

import numpy as np
import scipy.io.wavfile
import scipy.linalg
import scipy.signal

from harness import SCRATCH, OracleCase, ProgramFailed, command
from test_sound import RATE, noise, run


def swing(frames, rate, phase=0.0, shape="sine"):
    """From 0 to 1 and back, `rate` times a second."""
    a = (phase + np.arange(frames) * (rate / RATE)) % 1
    return np.sin(np.pi * a) ** 2 if shape == "sine" else 1 - np.abs(1 - 2 * a)


def late(x, delay):
    """x, `delay` frames late: Lagrange's cubic through the frames around."""
    padded = np.concatenate([np.zeros(4000), x, np.zeros(4)])
    n = np.floor(delay).astype(int)
    r, at = delay - n, np.arange(x.size) - n + 4000
    w = (-r * (r - 1) * (r - 2) / 6, (r + 1) * (r - 1) * (r - 2) / 2,
         -(r + 1) * r * (r - 2) / 2, (r + 1) * r * (r - 1) / 6)
    return sum(w[k] * padded[at + 1 - k] for k in range(4))


def companded(array, points, attack, release, knee=0, gain=0, start=0, lookahead=0):
    """The level in double, frame by frame; lines between points in dB, each corner a parabola."""
    parts = [1 - math.exp(-1 / (time * RATE)) if time * RATE > 1 else 1 for time in (attack, release)]
    v, levels = 10 ** (start / 20), []
    for size in np.minimum(np.abs(array.astype(float)).max(axis=1), 1):
        v += (size - v) * parts[0 if size > v else 1]
        levels.append(v)
    late = np.minimum(np.arange(len(levels)) + int(lookahead * RATE), len(levels) - 1)
    x = 20 * np.log10(np.maximum(levels, 1e-30))[late]
    corners = [(level, becomes - level) for level, becomes in points]
    corners = [(corners[0][0] - 2 * max(knee, 1), corners[0][1]), *corners, *([(0, 0)] if corners[-1][0] else [])]
    corners = np.array(corners)
    y = np.interp(x, *corners.T)
    for before, corner, after in zip(corners, corners[1:], corners[2:]) if knee else ():
        ends = [corner + (to - corner) * knee / np.hypot(*(to - corner)) for to in (before, after)]
        middle = (ends[0] + corner + ends[1]) / 3
        round_ = np.polynomial.Polynomial.fit(*np.array([ends[0], middle, ends[1]]).T, 2)
        y = np.where((x > ends[0][0]) & (x <= ends[1][0]), round_(x), y)
    return array * 10 ** ((y + gain) / 20)[:, None]


class Levels(OracleCase):
    def test_compand_follows_its_points(self):
        """tests/cli compares it with sox, where that is."""
        loud = (0.02 + np.sin(np.arange(30000) / 1700) ** 8)[:, None].astype(np.float32)
        array = noise(21, 30000) * loud * 3
        for points, attack, release, more in (
                ([(-60, -60), (-20, -20), (0, -15)], .001, .01, {}),
                ([(-40, -30)], 0, 0, {"gain": -3}),
                ([(-70, -70), (-60, -20)], .002, .06, {"knee": 4, "gain": -5, "start": -90, "lookahead": .01}),
                ([(-50, -200), (-30, -30), (-25, -25), (-20, -20), (0, -9)], .01, .001, {"knee": 2})):
            want = companded(array, points, attack, release, **more)
            text = (f"compand [{'; '.join(f'{a} {b}' for a, b in points)}] attack={attack} release={release} "
                    + " ".join(f"{key}={value}" for key, value in more.items()))
            got = run(array, text)
            self.assertLess(np.abs(got - want).max(), 1e-3 * np.abs(want).max(), text)
            for options in (("--device", "simt"), ("--threads", "1", "--strip-rows", "1"), ("--variant", "naive")):
                self.same(run(array, text, options=options), got, (text, options))

    def test_compand_refuses_what_it_cannot_follow(self):
        for text, words in (("[-20 -20; -20 -10]", "point 2 is not above the one before"), ("[-20]", "pairs"),
                            ("[-20 -10] release=60s", "release are .* at most"),
                            ("0.3,1 -60,-5 3", r"level becomes; \.\.\.\] attack=0.3 release=1 gain=3")):
            with self.assertRaisesRegex(ProgramFailed, words):
                run(noise(1, 100), f"compand {text}")


def declipped(x, level, order=20):
    """Blocks of 256 frames by an autoregressive model of the 768 around each, three times (Janssen)."""
    padded = np.concatenate([np.zeros(256), x, np.zeros(256 + -x.size % 256)])
    window = np.sin(np.pi * (np.arange(768) + .5) / 768) ** 2
    made = padded.copy()
    for first in range(0, x.size, 256):
        v = padded[first:first + 768].copy()
        unknown = 224 + np.nonzero(np.abs(v[224:544]) >= level)[0]
        sign = np.sign(v[unknown])
        for _ in range(3 if unknown.size else 0):
            power = np.correlate(v * window, v * window, "full")[767:768 + order]
            power[0] *= 1 + 1e-9
            model = np.concatenate([[1], -scipy.linalg.solve_toeplitz(power[:order], power[1:])])
            both = np.correlate(model, model, "full")
            v[unknown] = 0
            apart = np.abs(unknown[:, None] - unknown)
            band = np.where(apart <= order, both[order + np.minimum(apart, order)], 0)
            found = np.linalg.solve(band, -np.convolve(v, both)[order:-order][unknown])
            v[unknown] = sign * np.clip(sign * found, level, 4 * level)
        block = unknown[(unknown >= 256) & (unknown < 512)]
        made[first + block] = v[block]
    return made[256:256 + x.size]


class Clipped(OracleCase):
    def setUp(self):
        with tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH) as name:
            speech = pathlib.Path(__file__).parents[2] / "samples/speech.flac"
            command("convert", "-q", speech, f"{name}/in.wav", "--samples", "float")
            self.speech = scipy.io.wavfile.read(f"{name}/in.wav")[1][20000:50000]
        self.speech = self.speech / np.abs(self.speech).max()

    def test_declip_is_janssens_and_comes_near_what_was(self):
        for level, better in ((.7, 18), (.4, 8)):  # dB; ffmpeg's adeclip makes it 3.5 and 5 dB better
            cut = np.clip(self.speech, -level, level).astype(np.float32)[:, None]
            got = run(cut, f"declip {20 * math.log10(level) - 1e-4}dB")[:, 0].astype(float)
            self.assertLess(np.abs(got - declipped(cut[:, 0].astype(float), level - 1e-5)).max(), 1e-3, level)
            was, now = (((x - self.speech) ** 2).sum() for x in (cut[:, 0], got))
            self.assertGreater(10 * math.log10(was / now), better, level)
            self.same(got[np.abs(cut[:, 0]) < level], cut[np.abs(cut) < level].astype(float))

    def test_declip_of_anything(self):
        square = np.where(np.arange(3000) // 700 % 2, 1, -1).astype(np.float32)[:, None]
        odd = noise(22, 3000, 1, .7)
        odd[100], odd[500], odd[900:1500] = np.nan, np.inf, 1
        for array in (square, odd, np.zeros((1, 1), np.float32), np.ones((5, 3), np.float32)):
            got = run(array, "declip")
            self.assertLess(np.nanmax(np.abs(got)), 4)
            for options in (("--device", "simt"), ("--threads", "1", "--strip-rows", "1")):
                self.same(run(array, "declip", options=options), got, options)


class Swings(OracleCase):
    frames = 30000

    def close(self, got, want, what):
        self.assertLess(np.abs(got - want).max(), 2e-4, what)  # of 0.4: a delay of 96 frames is in f32

    def test_tremolo(self):
        array = noise(1, self.frames)
        for shape in ("sine", "triangle"):
            got = run(array, f"tremolo 7Hz depth=80% spread=90deg shape={shape}")
            for c in range(2):
                self.close(got[:, c], array[:, c] * (1 - .8 * swing(self.frames, 7, c / 4, shape)), shape)

    def test_vibrato_is_what_a_delay_does(self):
        array = noise(2, self.frames)
        got = run(array, "vibrato 6Hz depth=2ms")
        for c in range(2):
            self.close(got[:, c], late(array[:, c].astype(float), .002 * RATE * swing(self.frames, 6)), c)

    def test_vibrato_turns_a_tone_by_what_it_says(self):
        t = np.arange(RATE) / RATE
        got = run(np.sin(2 * np.pi * 1000 * t)[:, None].astype(np.float32), "vibrato 5Hz depth=1ms")[:, 0]
        phase = np.unwrap(np.angle(scipy.signal.hilbert(got.astype(float))))
        pitch = np.diff(phase)[500:-500] * RATE / (2 * np.pi)
        self.assertAlmostEqual(pitch.max(), 1000 * (1 + np.pi * 5 * .001), delta=.5)
        self.assertAlmostEqual(pitch.min(), 1000 * (1 - np.pi * 5 * .001), delta=.5)

    def test_chorus(self):
        array = noise(3, self.frames, 1)
        x, n = array[:, 0].astype(float), 3
        voices = sum(late(x, RATE * (.015 * (1 + k / n) + .004 * swing(self.frames, 2 * (1 + k / 16), k / n)))
                     for k in range(n)) / n
        self.close(run(array, "chorus 2Hz voices=3 delay=15ms depth=4ms mix=40%")[:, 0], .6 * x + .4 * voices, "chorus")

    def test_flanger_and_its_feedback(self):
        array = noise(4, self.frames, 1)
        x, d = array[:, 0].astype(float), RATE * (.001 + .003 * swing(self.frames, 2, 0, "triangle"))
        for f, taps in ((0, 1), (-.5, 10)):
            echoes = sum((1 - abs(f)) * f ** k * late(x, (k + 1) * d) for k in range(taps))
            got = run(array, f"flanger 2Hz delay=1ms depth=3ms shape=triangle mix=60% feedback={f}")[:, 0]
            self.close(got, (x + .6 * echoes) / 1.6, f)

    def test_hours_later_the_phase_is_right(self):
        """Frames of the sound's middle swing as if all before them had been read."""
        array = np.ones((3 * RATE, 1), np.float32)
        whole = run(array, "tremolo 3.3Hz")
        self.same(run(array, "tremolo 3.3Hz", "trim first=100001"), whole[100001:])


def envelope(x, fall):
    """dB of energy that is still to come (Schroeder, 1965)."""
    rest = np.cumsum(x[::-1] ** 2)[::-1]
    return 10 * np.log10(rest / rest[0] + 1e-20)


class Reverb(OracleCase):
    def answer(self, statement, channels=1, rate=RATE):
        impulse = np.zeros((3 * rate, channels), np.float32)
        impulse[0] = 1
        return run(impulse, statement, rate=rate).astype(float)

    def test_it_falls_by_60_db_in_its_time(self):
        for rate, times in ((8000, (.3, 1.5)), (48000, (.6,))):
            for time in times:
                x = self.answer(f"reverb {time}s damping=0% predelay=20ms mix=100%", rate=rate)[:, 0]
                first = np.nonzero(np.abs(x) > 1e-7)[0][0]
                self.assertLessEqual(abs(first - .02 * rate), 1)
                fallen = envelope(x[first:], 60)
                at = [np.nonzero(fallen < -level)[0][0] for level in (5, 35)]
                self.assertAlmostEqual((at[1] - at[0]) / rate, time / 2, delta=.05 * time)
                self.assertAlmostEqual((x ** 2).sum(), 1, delta=1e-3)

    def test_high_tones_have_gone_sooner(self):
        x = self.answer("reverb 1.5s damping=60% mix=100% predelay=0s")[:, 0]
        f, t, power = scipy.signal.stft(x, RATE, nperseg=1024)
        level = 20 * np.log10(np.abs(power) + 1e-12)
        second, first = np.searchsorted(t, .6), np.searchsorted(t, .1)
        drop = [(level[band, first - 4 : first + 4].mean() - level[band, second - 4 : second + 4].mean())
                for band in ((f > 200) & (f < 800), (f > 9000) & (f < 15000))]
        self.assertAlmostEqual(drop[0], 60 * .5 / 1.5, delta=4)
        self.assertGreater(drop[1], 1.6 * drop[0])

    def test_it_is_a_convolution_of_each_channel(self):
        array = noise(5, 20000)
        rooms = self.answer("reverb 0.4s mix=30%", 2)
        got = run(array, "reverb 0.4s mix=30%")
        self.assertGreater(np.abs(rooms[:, 0] - rooms[:, 1]).max(), .01)
        for c in range(2):
            want = scipy.signal.fftconvolve(array[:, c].astype(float), rooms[:, c])[: array.shape[0]]
            self.assertLess(np.abs(got[:, c] - want).max(), 1e-6)

    def test_channels_are_as_far_apart_as_asked(self):
        for width, lowest, highest in ((0, .999, 1.001), (.5, .35, .65), (1, -.1, .1)):
            rooms = self.answer(f"reverb 1s mix=100% width={width}", 2)
            self.assertTrue(lowest <= np.corrcoef(rooms.T)[0, 1] <= highest, width)

    def test_every_device_and_strip_gives_the_same(self):
        array = noise(6, 30000)
        want = run(array, "reverb 0.8s")
        self.same(run(array, "reverb 0.8s", options=("--device", "simt")), want, "emulator")
        self.same(run(array, "reverb 0.8s", options=("--threads", "1", "--variant", "naive")), want, "naive")

    def test_a_room_that_is_too_large(self):
        with self.assertRaisesRegex(ProgramFailed, "at most 524288 are possible"):
            run(noise(7, 100), "reverb 20s")


def grains(array, speed, step, rate=RATE):
    """tempo and pitch in double, by kernels/audio/grains.h: speed frames pass, and a grain moves by step, for each."""
    frames, num = array.shape[0], 1 if speed == 1 else math.floor(speed * 2 ** 24 + .5)
    den, length, every = (1 if speed == 1 else 2 ** 24), .04 / max(1, speed / step), max(1, rate // 8000)
    hop, overlap = (max(8, math.floor(t * rate + .5)) for t in (length, min(.02, length)))
    side, height = math.floor(.012 * rate + .5) // every, math.floor(frames * den / num + .5)
    q = np.rint(np.clip((array @ np.r_[1, np.full(array.shape[1] - 1, .875)]).astype(np.float32) * 8192, -32768, 32767))
    reach = 0 if every == 1 else 2 * every
    at = np.arange(-reach, reach + 1)
    taps = np.sinc(.8 * at / every) * (.5 + .5 * np.cos(np.pi * at / (reach + 1)))
    taps = np.floor(taps / taps.sum() * 32767 + .5)
    trace = np.convolve(q, taps)[reach : reach + frames : every]
    trace = np.clip(np.floor(trace / 32768), -32768, 32767)
    margin = 4000
    padded, count = np.pad(trace, margin), max(8, int(overlap * step) // every)
    begins = [0]
    for k in range(1, -(-height // hop)):
        goes_on = begins[-1] + math.floor(hop * step * 65536) / 65536
        near, due = math.floor((goes_on + every / 2) / every), k * hop * num // den
        rest = goes_on - near * every
        middle = int((due - rest) / every)
        template = padded[margin + near : margin + near + count]
        places = np.arange(middle - side - 1, middle + side + 2)
        pieces = np.lib.stride_tricks.sliding_window_view(padded, count)[margin + places]
        like = pieces @ template / np.sqrt(np.maximum((pieces ** 2).sum(1), 1e-9))
        inside = places[1:-1]
        best = near if near in inside else middle
        if like[1:-1].max() > like[best - places[0]]:
            best = inside[like[1:-1].argmax()]
        if best != near:
            a, b, c = like[best - places[0] + np.arange(-1, 2)]
            top = (a - c) / (2 * (a - 2 * b + c)) if a - 2 * b + c < 0 else 0
            goes_on = best * every + rest + math.floor((top if abs(top) < .5 else 0) * every * 65536 + .5) / 65536
        begins.append(math.floor(goes_on + .5) if step == 1 else goes_on)
    y = np.arange(height)
    k, begins = y // hop, np.array(begins)
    j, out = y - k * hop, np.empty((height, array.shape[1]))
    for c in range(array.shape[1]):
        now = frames_at(array[:, c], begins[k] + j * step, step)
        before = frames_at(array[:, c], begins[np.maximum(k - 1, 0)] + (j + hop) * step, step)
        s = np.where((j < overlap) & (k > 0), (j + .5) / overlap, 1)
        out[:, c] = before + s * s * (3 - 2 * s) * (now - before)
    return out


def frames_at(x, at, step):
    """x between its frames: a sinc under Kaiser's window."""
    half = 4 * math.ceil(4 * max(1, step)) if step != 1 else 1
    padded, first = np.pad(x.astype(float), 20000), np.floor(at + 1e-9).astype(int)
    t = np.arange(-half + 1, half + 1) - (at - first)[:, None]
    if step == 1:
        return padded[first + 20000]
    w = np.sinc(.92 / max(1, step) * t) * np.i0(8 * np.sqrt(np.maximum(0, 1 - (t / half) ** 2)))
    return (w / w.sum(1, keepdims=True) * padded[first[:, None] + np.arange(-half + 1, half + 1) + 20000]).sum(1)


def tones(frequencies, seconds=2, rate=RATE):
    t = np.arange(int(seconds * rate)) / rate
    return (.2 * sum(np.sin(2 * np.pi * f * t + f) for f in frequencies) / len(frequencies))[:, None].astype(np.float32)


def beside(x, frequencies, rate=RATE):
    """dB of what lies beside these frequencies."""
    x = x[rate // 4 : -rate // 4, 0]
    power = np.abs(np.fft.rfft(x * np.blackman(x.size))) ** 2
    f = np.fft.rfftfreq(x.size, 1 / rate)
    near = np.any([np.abs(f - one) < 8 for one in frequencies], axis=0)
    return 10 * np.log10(power[~near].sum() / power[near].sum())


class Stretching(OracleCase):
    def test_tempo_is_the_definition(self):
        for rate, channels in ((48000, 2), (22050, 1), (8000, 3)):
            frames = rate // 5
            array = noise(8, frames, channels) * (1 + np.sin(np.arange(frames) / 900))[:, None].astype(np.float32)
            for speed in (.6, 1.1, 3):
                self.close(run(array, f"tempo {speed}", rate=rate), grains(array, speed, 1, rate), (rate, speed))

    def close(self, got, want, what, far=1e-6):
        self.assertEqual(got.shape, want.shape, what)
        self.assertLess(np.abs(got - want).max(), far, what)

    def test_pitch_is_the_definition(self):
        for rate, channels in ((44100, 1), (16000, 2)):
            array = noise(9, rate // 5, channels)
            for semitones in (-5, 7, 19):
                step = math.floor(2 ** (semitones / 12) * 2 ** 32 + .5) / 2 ** 32
                got = run(array, f"pitch {semitones}", rate=rate)
                self.close(got, grains(array, 1, step, rate), (rate, semitones), 3e-5)

    def test_lengths_are_exact(self):
        for frames in (1, 7, 1000, 48000):
            for speed in (.1, .77, 1.3, 10):
                got = run(noise(10, frames), f"tempo {speed}")
                self.assertEqual(got.shape[0], max(1, math.floor(frames / speed + .5)), (frames, speed))
            self.assertEqual(run(noise(10, frames), "pitch -3").shape[0], frames)

    def test_tones_keep_their_pitch_and_stay_pure(self):
        chord = (196, 246.94, 293.66, 392, 784)
        for speed in (.7, .95, 1.3, 1.8):
            self.assertLess(beside(run(tones(chord), f"tempo {speed}"), chord), -26, speed)
        for semitones in (-7, 4, 12):
            up = 2 ** (semitones / 12)
            self.assertLess(beside(run(tones(chord), f"pitch {semitones}"), [f * up for f in chord]), -24, semitones)
            self.assertLess(beside(run(tones([1000]), f"pitch {semitones}"), [1000 * up]), -50, semitones)

    def test_silence_clicks_and_opposite_channels(self):
        self.same(run(np.zeros((20000, 2), np.float32), "tempo 0.7"), np.zeros((28571, 2), np.float32))
        tone = tones([440])
        apart = np.hstack([tone, -tone])
        self.assertLess(beside(run(apart, "tempo 1.2")[:, :1], [440]), -50)
        broken = noise(11, 9000)
        broken[4000, 0] = np.nan
        got = run(broken, "tempo 0.9")
        self.assertTrue(0 < np.isnan(got[:, 0]).sum() < 5 and not np.isnan(got[:, 1]).any())

    def test_every_device_and_strip_gives_the_same(self):
        array = noise(12, 30000)
        for stage in ("tempo 0.8", "pitch 3"):
            want = run(array, stage)
            for options in (("--device", "simt"), ("--threads", "1", "--variant", "naive")):
                self.same(run(array, stage, options=options), want, options)
            self.same(run(array, "gain 0.1dB", stage, "tempo 1.5"), run(run(array, "gain 0.1dB", stage), "tempo 1.5"))

    def test_a_pipe_is_kept_to_be_read_twice(self):
        with tempfile.TemporaryDirectory(prefix="smp-oracle-", dir=SCRATCH) as name:
            folder = pathlib.Path(name)
            scipy.io.wavfile.write(folder / "in.wav", RATE, noise(14, 9000))
            for stage in ("tempo 1.3", "tempo 1.3 search=0s"):
                command("run", "-qf", "-e", stage, folder / "in.wav", folder / "out.wav")
                with open(folder / "in.wav", "rb") as file:
                    command("run", "-qf", "-e", stage, "-", folder / "piped.wav", stdin=file)
                self.assertEqual((folder / "piped.wav").read_bytes(), (folder / "out.wav").read_bytes(), stage)

    def test_a_speed_of_one_changes_nothing(self):
        array = noise(13, 500)
        self.same(run(array, "tempo 1"), array)
        self.same(run(array, "pitch 0"), array)


if __name__ == "__main__":
    unittest.main()
