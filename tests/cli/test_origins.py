"""What a pipeline makes from nothing, as its first statement: pictures and sounds."""
import subprocess
import unittest

import numpy as np

from harness import PROGRAM, CliCase


class Origins(CliCase):
    def made(self, statement, *words, name="out.npy"):
        self.smp("run", "-q", "-f", "-e", statement, *words, name)
        return np.load(self.folder / name)

    def sound(self, statement, *words):
        """As float samples, whatever a file's kind."""
        self.smp("run", "-q", "-f", "-e", statement, *words, "out.wav", "--samples", "float")
        self.smp("run", "-q", "-f", "-e", "gain 0dB", "out.wav", "out.npy")
        return np.load(self.folder / "out.npy")[:, 0].astype(float)

    def test_a_color_of_digits_stands_wherever_one_of_words_does(self):
        for words, digits in (("canvas 4x3 red", "canvas 4x3 #f00"), ("canvas 4x3 red", "canvas 4x3 \\\n #ff0000"),
                              ("gradient 4x3 red blue", "gradient 4x3 #f00 #00f"),
                              ("canvas 4x3 red\nreplace red blue", "canvas 4x3 #f00 # not blue\nreplace #f00 #00f"),
                              ("canvas 4x3 red\nkey red 20%", "canvas 4x3 red\nkey #f00 20%"),
                              ("canvas 4x3 gray\ntint orange 50%", "canvas 4x3 #808080\ntint #ffa500 50%")):
            self.assertEqual(self.made(words).tolist(), self.made(digits).tolist(), digits)
        self.assertIn("a comment begins with '# '",
                      self.smp("run", "-e", "canvas 4x3 #12345", "a.png", status=2).stderr)

    def test_pictures_are_what_their_formula_says(self):
        self.assertTrue((self.made("canvas 40x30 navy") == (0, 0, 128)).all())
        self.assertTrue((self.made("canvas 2x2 wheat") == (245, 222, 179)).all())
        self.assertEqual(self.made("canvas width=4 height=3 color=#ff800040").tolist()[0][0], [255, 128, 0, 64])
        down = self.made("gradient 3x5 from=white to=black")
        self.assertEqual(down[:, 0, 0].tolist(), [255, 191, 128, 64, 0])
        right = self.made("gradient 5x2 black red direction=right depth=16bit")
        self.assertEqual(right[1, :, 0].tolist(), [0, 16384, 32768, 49151, 65535])
        board = self.made("checker 8x6 2")
        want = (np.add.outer(np.arange(6) // 2, np.arange(8) // 2) % 2) * 255
        np.testing.assert_array_equal(board[:, :, 1], want)
        noise = self.made("noise 300x200").astype(float)
        self.assertAlmostEqual(noise.mean() / 255, .5, 2)
        self.assertAlmostEqual(noise.std() / 255, 12 ** -.5, 2)
        self.assertFalse(np.array_equal(noise, self.made("noise 300x200 seed=1")))

    def test_sounds_are_what_their_formula_says(self):
        n = np.arange(48000)
        half = 10 ** (-6 / 20)
        np.testing.assert_allclose(self.sound("tone 440Hz 1s"), half * np.sin(2 * np.pi * 440 * n / 48000), atol=1e-7)
        np.testing.assert_allclose(self.sound("tone 1kHz 1s level=0dBFS wave=triangle")[:48:12], [0, 1, 0, -1],
                                   atol=1e-6)
        t, k = n / 48000, np.log(1000)
        np.testing.assert_allclose(self.sound("sweep 20Hz 20kHz 1s"),
                                   half * np.sin(2 * np.pi * 20 / k * np.expm1(k * t)), atol=1e-6)
        np.testing.assert_allclose(self.sound("sweep 20kHz 20Hz 1s"),
                                   half * np.sin(2 * np.pi * 20 / k * (np.expm1(k) - np.expm1(k * (1 - t)))), atol=1e-6)
        np.testing.assert_allclose(self.sound("sweep 100Hz 1kHz 1s linear"),
                                   half * np.sin(2 * np.pi * (100 * t + 450 * t * t)), atol=1e-6)
        self.assertEqual(np.abs(self.sound("silence 0.5s")).max(), 0)
        impulse = self.sound("impulse 0.5s at=0.25s level=0dBFS")
        self.assertEqual((impulse.argmax(), impulse.sum(), impulse.size), (12000, 1, 24000))

    def test_noise_has_its_colour(self):
        for color, slope, within in (("white", 0, .5), ("pink", -3, .5)):
            power = np.abs(np.fft.rfft(self.sound(f"noise {color} 20s level=0dBFS"))) ** 2
            bands = [power[20 * f:40 * f].mean() for f in (50, 100, 200, 400, 800, 1600, 3200, 6400)]
            fit = np.polyfit(np.arange(8), 10 * np.log10(bands), 1)[0]
            self.assertAlmostEqual(fit, slope, delta=within, msg=color)

    def test_the_bytes_do_not_depend_on_strips_devices_and_threads(self):
        for statement, out in (("gradient 301x203 from=red to=navy direction=radial", "a.png"),
                               ("noise pink 3s channels=2", "a.wav")):
            made = set()
            for words in ((), ("--strip-rows", "7"), ("--threads", "1"), ("--device", "simt")):
                stage = ("-e", "gaussian 2px" if out == "a.png" else "lowpass 1kHz")
                self.smp("run", "-q", "-f", "-e", statement, *stage, out, *words)
                made.add((self.folder / out).read_bytes())
            self.assertEqual(len(made), 1, statement)

    def test_a_sound_without_end_goes_to_a_pipe_alone(self):
        command = [PROGRAM, "run", "-q", "-e", "tone 440Hz", "-e", "gain -3dB", "-"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            head = process.stdout.read(400000)
            process.stdout.close()
            process.wait(timeout=60)
        self.assertEqual(head[:4], b"RIFF")
        self.assertIn("the sound never ends, and would fill the disk",
                      self.smp("run", "-e", "tone 440Hz", "a.wav", status=2).stderr)
        self.assertIn("needs the sound's length, and it never ends",
                      self.smp("run", "-e", "tone 440Hz", "-e", "reverse", "-", status=2).stderr)
        self.assertEqual(self.files(), [])

    def test_every_way_to_give_it(self):
        self.write("p.pipe", "param f = 440Hz\ntone $f length=0.1s\ngain -3dB\n")
        self.smp("run", "p.pipe", "a.wav", "--set", "f=1kHz")
        self.smp("convert", "b.wav", "-e", "tone 1kHz 0.1s", "-e", "gain -3dB")
        self.assertEqual((self.folder / "a.wav").read_bytes(), (self.folder / "b.wav").read_bytes())
        self.smp("check", "p.pipe")
        self.assertIn("Makes the input of a pipeline", self.smp("stages", "tone").stdout)
        self.assertIn("tone            audio", self.smp("stages").stdout)

    def test_explain_plans_what_is_made(self):
        self.assertIn("u8x3 40x30", self.smp("explain", "-e", "canvas 40x30 #f00", "-e", "gaussian 2").stdout)

    def test_mistakes_are_told(self):
        self.small_png("in.png")
        for words, said in (
            (("run", "-e", "canvas 4x3", "in.png", "o.png"), "'canvas' makes the input, and in.png is one too"),
            (("run", "-e", "gray", "-e", "canvas 4x3", "in.png", "o.png"), "which a pipeline's first statement alone"),
            (("run", "-e", "gray", "o.png"), "OUT is missing"),
            (("compare", "-e", "canvas 4x3", "-e", "invert"), "run -e 'canvas 4x3' FILE first"),
            (("explain", "-e", "canvas 4x3", "-e", "invert", "--time"), "run -e 'canvas 4x3' FILE first"),
            (("explain", "-e", "canvas 4x3", "in.png"), "'canvas' makes the input, and in.png is one too"),
            (("batch", "-e", "canvas 4x3", ".", "-o", "out"), "makes what is read, and this command reads files"),
            (("run", "-e", "canvas", "o.png"), "stage 'canvas' needs 'width'"),
            (("run", "-e", "xc navy", "in.png", "o.png"), "calls this, as the first stage: canvas 640x480 navy"),
            (("convert", "o.png", "-e", "canvas"), "stage 'canvas' needs 'width'"),
            (("convert", "o.png", "-e", "canvas width={width} height=3"), "cannot depend on an input"),
            (("convert", "o.wav", "-e", "tone 30kHz 1s"), "a rate of 48000 Hz holds frequencies up to 24000 Hz"),
            (("convert", "o.wav", "-e", "sweep 1kHz 2kHz"), "write sweep 1000Hz 2000Hz 5s"),
            (("convert", "o.png", "-e", "noise 4x3 length=2s"), "a picture has width and height, a sound a length"),
        ):  # fmt: skip
            with self.subTest(words):
                self.assertIn(said, self.smp(*words, status=2).stderr)
        self.smp("convert", "o.png", "-e", "canvas 99999x99999", status=6)
        self.assertEqual(self.smp("measure", "-e", "silence -50dBFS", "in.png", status=(1, 3)).stdout, "")


if __name__ == "__main__":
    unittest.main()
