"""Effects of sound that swing or ring, against their definitions in double, and where these come from."""
import unittest

import numpy as np
import scipy.signal

from harness import OracleCase, ProgramFailed
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
        for rate in (8000, 48000):
            for time in (.3, 1.5):
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


if __name__ == "__main__":
    unittest.main()
