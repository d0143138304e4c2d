"""smempipe edit over a sound: samples that are run's, drawings of them, and what may be asked."""
import json
import shutil
import unittest

import numpy

from edit_case import EditCase
from harness import SAMPLES


class Sound(EditCase):
    def setUp(self):
        super().setUp()
        shutil.copy(SAMPLES / "chirp.wav", self.folder / "in.wav")

    def samples(self, which, start, frames):
        status, _, data = self.ask("samples", {"which": which, "from": start, "frames": frames})
        return numpy.frombuffer(data, numpy.float32) if status == 200 else status

    def test_samples_are_those_of_run(self):
        self.serve("in.wav")
        state = self.told("state")
        self.smp("run", "-e", "gain 0dB", "in.wav", "in.npy")
        want = numpy.load(self.folder / "in.npy").reshape(state["frames"], -1)
        self.assertEqual((want.shape[1], state["width"]), (state["channels"], 0))
        self.assertTrue((self.samples("before", 100, 500) == want[100:600].ravel()).all())
        number = 1
        for text in ("gain -6dB", "highpass 200Hz\nlimit", "resample 8000", "trim 0.1s", "normalize", "reverse", ""):
            for held in (-1, text.count("\n")):
                number += 1
                told = self.told("run", text=text, number=number, step=-1, held=held)["told"]
                self.assertTrue(told["done"], told)
                stages = [word for line in (text or "gain 0dB").split("\n") for word in ("-e", line)]
                self.smp("run", *stages, "in.wav", "out.npy", "--force")
                want = numpy.load(self.folder / "out.npy")
                self.assertEqual((told["height"], told["channels"]), (want.shape[0], want.size // want.shape[0]))
                self.assertTrue((self.samples("after", 0, told["height"]) == want.ravel()).all(), text)

    def test_drawings_are_those_of_run(self):
        self.serve("in.wav")
        self.told("run", text="gain -12dB", number=2, step=-1)
        cases = [("before", "waveform 300", []), ("after", "waveform 300", ["gain -12dB"]),
                 ("after", "spectrogram axes=no", ["gain -12dB"])]
        for number, (start, text, stages) in enumerate(cases, 3):
            told = self.told("run", text="loudness\n" + text, number=number, step=-1, **{"from": start})
            self.assertTrue(any(f["name"] for s in told["report"]["steps"] for f in s.get("findings") or []))
            width, height = told["told"]["width"], told["told"]["height"]
            _, _, data = self.ask("show", {"which": start, "x": 0, "y": 0, "width": width, "height": height,
                                           "outWidth": width, "outHeight": height})
            self.smp("run", *[w for s in [*stages, text] for w in ("-e", s)], "in.wav", "out.png", "--force")
            self.smp("convert", "out.png", "out.npy", "--force")
            got = numpy.frombuffer(data, numpy.uint8).reshape(height, width, 4)[..., :3]
            want = numpy.load(self.folder / "out.npy")
            self.assertTrue((got == (want if want.ndim == 3 else want[..., None])[..., :3]).all(), text)

    def test_formats(self):
        for name in ("in.flac", "in.mp3", "in.ogg", "in.m4a"):
            done = self.smp("run", "-e", "gain 0dB", "in.wav", name, status=range(9))
            if done.returncode:
                continue
            self.serve(name)
            told = self.told("run", text="gain 0dB", number=2, step=-1)["told"]
            self.assertEqual((told["done"], told["height"]), (True, self.told("state")["frames"]), name)
            self.stop()

    def test_what_is_not_there(self):
        self.serve("in.wav")
        frames = self.told("state")["frames"]
        self.assertEqual(self.samples("after", 0, 1), 400)
        told = self.told("run", text="waveform", number=2, step=-1, **{"from": "after"})["told"]
        self.assertFalse(told["done"])
        for start, count in ((-1, 5), (0, 0), (0, -1), (frames, 1), (0, frames + 1), (1e300, 1), (0, 1e300),
                             (1, frames)):
            self.assertEqual(self.samples("before", start, count), 400, (start, count))
        for scale in (.1, 2):
            asked = {"text": "gain 1dB", "number": 3, "step": -1, "scale": scale, "width": 1, "height": 1}
            self.assertEqual(self.ask("preview", asked)[0], 204)
        told = self.told("run", text="gaussian 2px", number=4, step=-1)["told"]
        self.assertIn("works on pictures", json.dumps(told))
        self.told("run", text="waveform 90\ngray", number=5, step=-1)  # a picture of a sound
        self.assertEqual(self.samples("after", 0, 1), 400)
        self.assertEqual(self.ask("tile", {"at": 0, "text": "", "side": 99})[0], 422)

    def test_a_sound_among_pictures(self):
        (self.folder / "in").mkdir()
        self.small_png("in/a.png")
        shutil.copy(self.folder / "in.wav", self.folder / "in/b.png")
        self.serve("in")
        self.assertIn("is a sound", self.told("open", at=1)["message"])
        self.assertEqual(self.ask("tile", {"at": 1, "text": "", "side": 99})[0], 422)
        self.assertEqual(self.samples("before", 0, 1), 400)


if __name__ == "__main__":
    unittest.main()
