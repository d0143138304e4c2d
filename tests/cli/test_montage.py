"""smempipe montage: cells, labels, pages, files that cannot be read, as NumPy and Pillow see them."""
import unittest

import numpy as np
from PIL import Image

from harness import SAMPLES, CliCase

GAP, CELL, LABEL = 4, 40, 13
STEP_X, STEP_Y = CELL + GAP, CELL + LABEL + GAP


class Montage(CliCase):
    def put(self, name, array):
        (self.folder / name).parent.mkdir(exist_ok=True)
        Image.fromarray(array).save(self.folder / name)

    def colours(self, count, folder="in"):
        for i in range(count):
            self.put(f"{folder}/p{i:02}.png", np.full((20, 30, 3), (10 * i, 200 - i, i), np.uint8))

    def sheet(self, *arguments, name="out.png", status=0):
        done = self.smp("montage", *arguments, "-o", name, "--cell", str(CELL), "--gap", str(GAP), status=status)
        return done, np.array(Image.open(self.folder / name)) if status == 0 else None

    def cell(self, page, index, columns):
        x, y = GAP + index % columns * STEP_X, GAP + index // columns * STEP_Y
        return page[y:y + CELL, x:x + CELL], page[y + CELL:y + CELL + LABEL, x:x + CELL]

    def test_pictures_without_colours_are_told_in_the_users_words(self):
        np.save(self.folder / "a.npy", np.zeros((5, 6, 2), np.uint8))
        for words in (("montage", "a.npy", "-o", "s.png"), ("duplicates", "a.npy", "a.npy")):
            done = self.smp(*words, status=1)
            self.assertIn(f"a.npy: it has 2 channels, and {words[0]} takes gray and colour", done.stderr)
            self.assertIn("matrix [1 0]'", done.stderr)
            self.assertNotIn("-e:1", done.stderr)  # a pipeline that nobody wrote

    def test_pictures_lie_in_the_middle_of_cells(self):
        self.colours(7)
        done, page = self.sheet("in", "--columns", "3", "--labels", "stem")
        self.assertEqual(done.stdout, "out.png\n")
        self.assertEqual(page.shape, (GAP + 3 * STEP_Y, GAP + 3 * STEP_X, 3))
        for i in range(7):
            picture, label = self.cell(page, i, 3)
            want = np.full((CELL, CELL, 3), 255, np.uint8)
            want[10:30, 5:35] = (10 * i, 200 - i, i)
            self.assertTrue(np.array_equal(picture, want), i)
            self.assertTrue((label[:3] == 255).all())
            self.assertEqual(set(np.unique(label)), {0, 255})
        for i in (7, 8):  # cells that are left over
            self.assertTrue((np.concatenate(self.cell(page, i, 3)) == 255).all())
        self.assertFalse(np.array_equal(self.cell(page, 0, 3)[1], self.cell(page, 1, 3)[1]))  # p00, p01

    def test_cells_as_large_as_the_pictures_on_a_transparent_ground(self):
        small = np.full((9, 20, 4), (200, 100, 50, 128), np.uint8)
        small[:, :3, 3] = 0
        self.put("in/a.png", small)
        self.put("in/b.png", np.full((31, 12), 77, np.uint8))
        words = ("in", "-o", "out.png", "--cell", "auto", "--gap", "0", "--labels", "none", "--background", "none")
        self.smp("montage", *words)
        want = np.zeros((31, 40, 4), np.uint8)
        want[11:20, :20] = small
        want[:, 24:36] = (77, 77, 77, 255)
        np.testing.assert_array_equal(np.array(Image.open(self.folder / "out.png")), want)
        self.assertIn("with alpha", self.smp("montage", "in", "-o", "out.jpg", "--background", "none", status=4).stderr)
        self.smp("montage", *words, "--labels", "name", "-f")  # with ink on nothing
        self.assertEqual({tuple(pixel) for pixel in np.array(Image.open(self.folder / "out.png"))[31:].reshape(-1, 4)},
                         {(0, 0, 0, 0), (0, 0, 0, 255)})
        (self.folder / "bad").mkdir()
        self.write("bad/a.png", b"none")
        self.smp("montage", "bad", "-o", "bad.png", "--cell", "auto", status=1)

    def test_kinds_of_pictures(self):
        self.put("in/a.png", np.full((80, 20), 7, np.uint8))
        self.put("in/b.png", np.full((40, 40), 7 * 257, np.uint16))
        alpha = np.zeros((40, 40, 4), np.uint8)
        alpha[..., 0], alpha[:, 20:, 3], alpha[:, :10, 3] = 200, 255, 128
        self.put("in/c.png", alpha)
        _, page = self.sheet("in", "--background", "#0a141e", "--labels", "none")
        self.assertEqual(page.shape, (CELL + 2 * GAP, GAP + 3 * STEP_X, 3))
        cells = [page[GAP:-GAP, GAP + i * STEP_X:STEP_X + i * STEP_X] for i in range(3)]
        self.assertEqual(np.unique(cells[0][:, 15:25]).tolist(), [7])  # 10 px wide
        self.assertTrue((cells[0][:, :15] == (10, 20, 30)).all())
        self.assertEqual(np.unique(cells[1]).tolist(), [7])
        self.assertEqual(cells[2][0, 30].tolist(), [200, 0, 0])
        self.assertEqual(cells[2][0, 15].tolist(), [10, 20, 30])
        self.assertEqual(cells[2][0, 4].tolist(), [105, 10, 15])  # 128 of 255

    def test_backgrounds_have_the_names_of_other_colours(self):
        self.put("in/a.png", np.full((80, 20), 7, np.uint8))
        for name, colour in (("green", (0, 128, 0)), ("#0f8", (0, 255, 136)), ("grey", (128, 128, 128))):
            _, page = self.sheet("in", "--background", name, "--labels", "none", "-f")
            self.assertEqual(tuple(page[0, 0]), colour)
        for wrong in ("greenish", "#ff000080"):
            told = self.smp("montage", "in", "-o", "x.png", "--background", wrong, status=2).stderr
            self.assertIn("names of CSS", told)

    def test_a_full_page_is_followed_by_another(self):
        self.colours(12)
        done = self.smp("montage", "in", "-o", "s/out.png", "--columns", "5", "--rows", "1", "--cell", "40", "--gap",
                        "4")
        self.assertEqual(done.stdout, "s/out-1.png\ns/out-2.png\ns/out-3.png\n")
        pages = [np.array(Image.open(self.folder / f"s/out-{i}.png")) for i in (1, 2, 3)]
        self.assertEqual({page.shape for page in pages}, {(GAP + STEP_Y, GAP + 5 * STEP_X, 3)})
        self.assertEqual(self.cell(pages[2], 1, 5)[0][20, 20].tolist(), [110, 189, 11])
        self.assertTrue((self.cell(pages[2], 2, 5)[0] == 255).all())
        again = self.smp("montage", "in", "-o", "s/out.png", "--rows", "1", status=4)
        self.assertIn("exists already", again.stderr)
        piped = self.smp("montage", "in", "-o", "-", "--rows", "1", status=2)
        self.assertIn("there are 3 pages", piped.stderr)

    def test_a_page_replaces_nothing_in_the_folder_not_even_a_page(self):
        self.colours(3)
        first = self.sheet("in", name="in/sheet.png")[1]
        refused = self.smp("montage", "in", "--force", "-o", "in/sheet.png", status=4)
        self.assertIn("remove it where it is an earlier page", refused.stderr)
        (self.folder / "in/sheet.png").unlink()
        second = self.sheet("in", name="in/sheet.png")[1]
        self.assertTrue(np.array_equal(first, second))
        self.assertIn("input", self.smp("montage", "in/p00.png", "-o", "in/p00.png", "--force", status=4).stderr)

    def test_files_that_cannot_be_read_are_named_and_keep_their_cells(self):
        self.colours(3)
        (self.folder / "in/p01.png").write_bytes(b"\x89PNG\r\n\x1a\nno")
        (self.folder / "in/notes.txt").write_text("no picture")
        done = self.smp("montage", "in", "-o", "out.png", "--cell", "40", "--gap", "4", status=1)
        self.assertIn("1 of 3 files failed", done.stderr)
        self.assertIn("in/p01.png", done.stderr)
        page = np.array(Image.open(self.folder / "out.png"))
        self.assertEqual(self.cell(page, 2, 3)[0][20, 20].tolist(), [20, 198, 2])
        crossed = self.cell(page, 1, 3)[0]
        self.assertEqual([crossed[i, i, 0] for i in (0, 20, 39)] + [crossed[5, 20, 0]], [0, 0, 0, 255])
        for path in (self.folder / "in").glob("p*"):
            path.write_bytes(b"nothing")
        done = self.smp("montage", "in", "-o", "none.png", status=1)
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "none.png").exists())

    def test_a_sound_is_told_to_be_one(self):
        for command in (("montage", "-o", "out.png"), ("duplicates",)):
            done = self.smp(*command, SAMPLES / "chirp.wav", status=1)
            self.assertIn(f"chirp.wav: it is a sound, and {command[0]} takes pictures", done.stderr)
            for inner in ("-e:1", "resize", "gray", "stage"):
                self.assertNotIn(inner, done.stderr.replace(str(SAMPLES), ""))

    def test_long_names_keep_their_ends(self):
        self.put("a" * 30 + "X.png", np.zeros((8, 8, 3), np.uint8))
        self.put("aaX.png", np.zeros((8, 8, 3), np.uint8))
        _, page = self.sheet("a" * 30 + "X.png", "aaX.png", "--labels", "stem")
        long, short = self.cell(page, 0, 2)[1], self.cell(page, 1, 2)[1]
        self.assertTrue(np.array_equal(long[:, 32:38], short[:, 23:29]))  # 6 characters fit: aa..aX; the other is aaX
        self.assertTrue(np.array_equal(long[:, 2:8], short[:, 11:17]))

    def test_mistakes(self):
        self.colours(1)
        self.assertIn("-o sheet.png", self.smp("montage", "in", status=2).stderr)
        for option, value in (("--cell", "4x4"), ("--cell", "40x"), ("--background", "#12"), ("--columns", "0")):
            self.assertIn(value, self.smp("montage", "in", "-o", "o.png", option, value, status=2).stderr)
        self.assertIn("max-pixels", self.smp("montage", "in", "-o", "o.png", "--max-pixels", "1000", status=6).stderr)
        self.assertEqual([path.name for path in self.folder.glob("*.png")], [])


if __name__ == "__main__":
    unittest.main()
