"""smempipe edit over a folder: its files, several at once, and the batch over all of them."""
import contextlib
import http.client
import json
import shutil
import threading
import time
import unittest

import numpy
from PIL import Image

from edit_case import EditCase
from harness import SAMPLES


class Folder(EditCase):
    def setUp(self):
        super().setUp()
        (self.folder / "in").mkdir()
        for name in ("b.png", "a.png", "c d.png"):
            self.small_png(f"in/{name}", *((40, 30) if name == "b.png" else (30, 20)))
        self.write("in/broken.png", b"\x89PNG\r\n\x1a\nno")
        self.write("in/notes.txt", "no picture")

    def tile(self, at, text="", side=100, number=9):
        status, _, data = self.ask("tile", {"at": at, "text": text, "side": side, "number": number})
        if status != 200:
            return status, data.decode()
        width, height, *whole = map(int, numpy.frombuffer(data[:16], numpy.uint32))
        return numpy.frombuffer(data[16:], numpy.uint8).reshape(height, width, 4), whole

    def batch(self, **body):
        """Runs one to its end: (done, failed, status, what it said)."""
        said = ""
        for _ in range(200):
            told = self.told("batch", **body)
            said, body = said + told["told"], {}
            if not told["runs"]:
                break
            time.sleep(.05)
        lines = said.splitlines()
        reports = [json.loads(line) for line in lines if line.startswith("{")]
        status = [r["status"] for r in reports if "status" in r]
        ended = [r["ended"] for r in reports if "ended" in r]
        return status.count("done"), status.count("failed"), ended, said

    def test_one_picture_after_the_other(self):
        self.serve("in/", "p.pipe")
        state = self.told("state")
        self.assertEqual(state["files"], ["a.png", "b.png", "broken.png", "c d.png"])
        self.assertEqual((state["input"], state["width"], state["output"]), ("in/a.png", 30, "NAME"))
        self.assertEqual(self.told("open", at=1)["width"], 40)
        told = self.told("run", text="gray", number=2, step=-1)
        self.assertEqual((told["told"]["width"], told["report"]["input"]), (40, "in/b.png"))
        wrong = self.told("open", at=2)
        self.assertTrue(wrong["message"])
        self.assertEqual(wrong["at"], 1)  # the one before stays
        self.assertTrue(self.told("run", text="invert", number=3, step=-1)["told"]["done"])
        for at in (-1, 4, 1e300, "1"):
            self.assertEqual(self.told("open", at=at)["at"], 1 if at != "1" else 0)

    def test_it_begins_with_the_first_that_can_be_read(self):
        self.write("in/Broken.png", b"\x89PNG\r\n\x1a\nno")
        self.serve("in")
        state = self.told("state")
        self.assertEqual((state["files"][0], state["at"], state["input"]), ("Broken.png", 1, "in/a.png"))
        self.assertIn("in/Broken.png is passed over", self.stop()[1])
        shutil.rmtree(self.folder / "in")
        (self.folder / "in").mkdir()
        self.write("in/a.png", b"\x89PNG\r\n\x1a\nno")
        self.assertIn("in/a.png", self.smp("edit", "in", "--no-open", status=3).stderr)

    def test_tiles_are_small_results(self):
        self.serve("in")
        for text in ("", "invert", "sobel", "resize 50%"):
            shown, whole = self.tile(1, text, 20)
            self.assertEqual(max(shown.shape[:2]), 10 if "resize" in text else 20, text)
            self.assertLessEqual(max(whole), 40)
        self.assertEqual(self.tile(2)[0], 422)
        self.assertEqual(self.tile(2)[0], 422)
        self.assertEqual(self.tile(0, "gray nonsense=1")[0], 422)
        for at, side in ((9, 100), (-1, 100), (0, 15), (0, 2049), (0, -1), (0, 1e300)):
            self.assertEqual(self.tile(at, "", side)[0], 422)
        self.assertEqual(self.tile(3, "gray")[0].shape, (20, 30, 4))

    def test_a_batch_is_what_would_be_typed(self):
        self.write("p.pipe", "invert\n")
        self.serve("in", "p.pipe")
        done, failed, ended, said = self.batch(name="out")
        self.assertEqual((done, failed, ended), (3, 1, [1]))
        self.assertIn("broken.png", said)
        self.smp("batch", "p.pipe", "in", "-o", "want", status=1)
        for name in ("a.png", "b.png", "c d.png"):
            self.assertEqual((self.folder / "out" / name).read_bytes(), (self.folder / "want" / name).read_bytes())
        self.write("p.pipe", "gray\n")
        done, failed, ended, said = self.batch(name="out")
        self.assertEqual((done, ended), (0, [4]), said)  # nothing is written over
        self.assertIn("error", said)

    def test_where_a_batch_may_write(self):
        self.write("p.pipe", "invert\n")
        self.serve("in", "p.pipe")
        before = sorted(str(f) for f in self.folder.rglob("*"))
        for name in ("", ".", "..", "../x", "a/b", "/tmp/x", "-o", "--force", ".hidden", "a\nb", "a\x7f", "x" * 201,
                     "in"):
            done, _, ended, said = self.batch(name=name)
            self.assertEqual((done, ended), (0, [2]), (name, said))
            self.assertIn("folder", said, name)
            self.assertEqual(sorted(str(f) for f in self.folder.rglob("*")), before, name)
        self.assertEqual(self.batch(name="x" * 200)[0], 3)

    def test_a_folder_that_is_named_by_dots(self):
        """The batch goes beside it all the same."""
        self.write("p.pipe", "invert\n")
        for number, name in enumerate((".", "./", "../in", "../in/.", "b/..")):
            (self.folder / "in/b").mkdir(exist_ok=True)
            self.serve(name, "../p.pipe", where="in")
            self.assertEqual(self.batch(name=f"out{number}")[0], 3, name)
            self.assertTrue((self.folder / f"out{number}/a.png").exists(), name)
            self.stop()

    def test_random_values_are_the_batches(self):
        text = "warp angle=random(-15..15deg)\ncrop random 16x12\n"
        self.write("p.pipe", text)
        self.smp("batch", "p.pipe", "in", "-o", "out", status=1)
        self.serve("in", "p.pipe")
        for number, (at, name) in enumerate(((0, "a"), (1, "b"), (3, "c d")), 2):
            self.assertEqual(self.told("open", at=at)["at"], at)
            told = self.told("run", text=text, number=number, step=-1)["told"]
            size = {"width": told["width"], "height": told["height"]}
            shown = self.ask("show", {"which": "after", "x": 0, "y": 0, "outWidth": size["width"],
                                      "outHeight": size["height"]} | size)[2]
            self.smp("convert", f"out/{name}.png", "want.npy", "--force")
            want = numpy.load(self.folder / "want.npy")
            self.assertTrue((numpy.frombuffer(shown, numpy.uint8).reshape(*want.shape[:2], 4)[..., :3] == want).all())
        self.assertTrue((self.tile(3, text)[0][..., :3] == want).all())

    def test_what_is_asked_later_stops_tiles(self):
        self.smp("run", "-e", "resize width=3000px height=3000px", SAMPLES / "rocket.jpg", "in/a.png", "--force")
        self.serve("in")
        for number, (name, asked) in enumerate((("run", {"text": "gray", "step": -1}), ("open", {"at": 1})), 2):
            seen = []
            slow = "bilateral 15px\n" * 40
            tile = threading.Thread(target=lambda: seen.append(self.tile(0, slow, 1000, 2 * number)[0]))
            tile.start()
            time.sleep(.3)
            self.told(name, number=2 * number + 1, **asked)
            tile.join()
            self.assertEqual(seen, [409], name)
            self.assertEqual(self.tile(0, number=2 * number)[0], 409)

    def opens(self, at, answers):
        """As another thread does, whose answer may not come."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            answers.append(self.ask("open", {"at": at})[0])

    def test_the_end_does_not_wait_for_a_picture_that_is_opened(self):
        noise = numpy.random.default_rng(1).integers(0, 256, (6000, 6000, 3), numpy.uint8)
        Image.fromarray(noise).save(self.folder / "in/z.jpg", quality=100, subsampling=0)
        self.serve("in")
        at = self.told("state")["files"].index("z.jpg")
        self.assertEqual(self.told("open", at=at)["width"], 6000)
        self.told("open", at=0)
        answers = []
        asks = threading.Thread(target=self.opens, args=(at, answers))
        asks.start()
        time.sleep(.1)
        self.assertEqual(self.stop()[0], 130)
        asks.join()
        self.assertNotIn(200, answers)

    def test_a_folder_named_on_the_command_line(self):
        self.write("p.pipe", "invert\n")
        self.serve("in", "p.pipe", "-o", "there")
        self.assertTrue(self.told("state")["outputNamed"])
        self.assertEqual(self.batch(name="elsewhere")[0], 3)
        self.assertTrue((self.folder / "there/a.png").exists())
        self.assertFalse((self.folder / "elsewhere").exists())

    def test_a_batch_that_runs_is_brought_to_an_end(self):
        for i in range(24):
            shutil.copy(SAMPLES / "rocket.jpg", self.folder / f"in/r{i}.jpg")
        self.write("p.pipe", "bilateral 4px\n")
        self.serve("in", "p.pipe")
        self.assertTrue(self.told("batch", name="out")["runs"])
        self.assertTrue(self.told("batch", name="out2")["runs"])
        end = time.monotonic() + 30
        while '"done"' not in self.told("batch")["told"] and time.monotonic() < end:
            time.sleep(.05)
        self.assertEqual(self.stop()[0], 130)
        self.assertFalse((self.folder / "out2").exists())
        done = [f for f in (self.folder / "out").iterdir() if f.suffix == ".jpg"]
        self.assertTrue(done)
        self.assertLess(len(done), 24)
        self.smp("batch", "p.pipe", "in", "-o", "out", "--resume", status=1)
        self.assertFalse([f for f in (self.folder / "out").iterdir() if ".part" in f.name])

    def test_mistakes_on_the_command_line(self):
        (self.folder / "empty").mkdir()
        self.assertIn("no picture", self.smp("edit", "empty", "--no-open", status=range(1, 9)).stderr)
        self.assertIn("-o is for", self.smp("edit", "in/a.png", "-o", "x", "--no-open", status=2).stderr)

    def test_a_file_has_no_folder(self):
        self.serve("in/a.png")
        self.assertEqual(self.told("batch", name="out"), {"told": "", "runs": False})
        self.assertIn("no such file", self.told("open", at=0)["message"])
        self.assertEqual(self.tile(0)[0], 422)


if __name__ == "__main__":
    unittest.main()
