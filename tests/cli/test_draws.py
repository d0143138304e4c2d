"""Random values of pipelines: the same for a seed on any device, however many run at once and whatever was done before;
told; and mistakes in them."""
import shutil
import unittest

from harness import SAMPLES, CliCase

SERIES = SAMPLES / "series"
STAGES = ("-e", "flip random", "-e", "warp random(-15..15deg)", "-e", "noise 2% seed=random")


class Draws(CliCase):
    def outputs(self, name):
        return {file.name: file.read_bytes() for file in (self.folder / name).iterdir() if file.name[0] != "."}

    def batch(self, name, *more):
        self.smp("batch", *STAGES, SERIES, "-o", name, "-q", "--to", "png", *more)
        return self.outputs(name)

    def test_a_batch_is_the_same_however_many_run_at_once_and_resumed(self):
        one = self.batch("one", "-j", "1", "--seed", "5")
        self.assertEqual(one, self.batch("four", "-j", "4", "--seed", "5", "--device", "simt"))
        names = sorted(one)
        for name in names[::2]:
            (self.folder / "four" / name).unlink()
        self.assertEqual(one, self.batch("four", "--resume", "--seed", "5"))
        self.assertNotEqual(one, self.batch("other", "--seed", "6"))
        self.assertNotEqual(one, self.batch("next", "--seed", "5", "--epoch", "1"))

    def test_files_that_come_move_no_draw_of_others(self):
        few, all_of_them = self.folder / "few", self.batch("all")
        few.mkdir()
        for file in sorted(SERIES.iterdir())[1::3]:
            shutil.copy(file, few)
        self.smp("batch", *STAGES, few, "-o", "part", "-q", "--to", "png")
        part = self.outputs("part")
        self.assertGreater(len(part), 1)
        self.assertEqual(part, {name: all_of_them[name] for name in part})

    def test_other_draws_are_other_work(self):
        self.batch("out", "--seed", "5")
        again = self.smp("batch", *STAGES, SERIES, "-o", "out", "--to", "png", "--resume", "--seed", "6", status=4)
        self.assertIn("other settings made them", again.stderr)


if __name__ == "__main__":
    unittest.main()
