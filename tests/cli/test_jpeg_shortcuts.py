"""JPEGs that need not be decoded whole: metadata that alone changes, --fast-decode."""
import io
import unittest

import numpy as np
import PIL.Image

from harness import SAMPLES, CliCase


def picture(width, height):
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 255 // width, y * 255 // height, (x + y) % 256], -1).astype(np.uint8)


def jpeg(array, **options):
    file = io.BytesIO()
    PIL.Image.fromarray(array).save(file, "JPEG", **{"quality": 85, **options})
    return file.getvalue()


def segments(data):
    """[(marker, bytes)] of a JPEG; a scan's data belong to its header."""
    assert data[:2] == b"\xff\xd8"
    at, out = 2, []
    while True:
        marker = data[at + 1]
        assert data[at] == 0xFF
        if marker == 0xD9:
            assert at + 2 == len(data), "bytes behind the end"
            return out
        end = at + 2 + int.from_bytes(data[at + 2:at + 4], "big")
        while marker == 0xDA and (data[end] != 0xFF or data[end + 1] == 0 or 0xD0 <= data[end + 1] <= 0xD7):
            end += 1
        out.append((marker, data[at:end]))
        at = end


def coded(data):
    return [body for marker, body in segments(data) if not 0xE0 <= marker <= 0xEF and marker != 0xFE]


class Copies(CliCase):
    def test_metadata_alone_changes(self):
        exif = PIL.Image.Exif()
        exif[0x10E] = "a title"
        for name, options in (("baseline", {}), ("progressive", {"progressive": True}), ("gray", {}),
                              ("restarts", {"restart_marker_blocks": 3})):
            array = picture(150, 91)
            array = array[..., 0] if name == "gray" else array
            data = jpeg(array, exif=exif, comment=b"words", dpi=(300, 300), **options)
            self.write("in.jpg", data)
            self.smp("convert", "-f", "in.jpg", "o.jpg", "--strip")
            stripped = (self.folder / "o.jpg").read_bytes()
            self.assertEqual(coded(stripped), coded(data), name)
            self.assertEqual([m for m, _ in segments(stripped) if 0xE0 <= m <= 0xEF or m == 0xFE], [0xE0], name)
            self.smp("convert", "-f", "in.jpg", "k.jpg")
            kept = (self.folder / "k.jpg").read_bytes()
            self.assertEqual(coded(kept), coded(data), name)
            with PIL.Image.open(io.BytesIO(kept)) as image:
                self.assertEqual((image.getexif()[0x10E], image.info["comment"], image.info["dpi"]),
                                 ("a title", b"words", (300, 300)))
                self.assertTrue(np.array_equal(np.array(image), np.array(PIL.Image.open(io.BytesIO(data)))))
        self.smp("batch", "-f", "-e", "depth 8bit", "in.jpg", "-o", "out")
        self.assertEqual(coded((self.folder / "out" / "in.jpg").read_bytes()), coded(data))

    def test_what_changes_is_coded_anew(self):
        data = jpeg(picture(64, 48))
        self.write("in.jpg", data)
        for options in (["-e", "invert"], ["-e", "depth 8bit", "--quality", "50"],
                        ["-e", "depth 8bit", "--jpeg-progressive"],
                        ["-e", "depth 8bit", "--jpeg-subsampling", "4:4:4"]):
            self.smp("run", "-f", "-q", *options, "in.jpg", "o.jpg")
            self.assertNotEqual(coded((self.folder / "o.jpg").read_bytes()), coded(data), options)
        self.smp("run", "-f", "-q", "-e", "depth 8bit", "--jpeg-progressive=off", "in.jpg", "o.jpg")
        self.assertEqual(coded((self.folder / "o.jpg").read_bytes()), coded(data))  # it is none
        turned = PIL.Image.Exif()
        turned[0x112] = 6
        self.write("turned.jpg", jpeg(picture(64, 48), exif=turned))
        self.smp("convert", "turned.jpg", "t.jpg", "--strip")
        with PIL.Image.open(self.folder / "t.jpg") as image:
            self.assertEqual(image.size, (48, 64))

    def test_damage(self):
        data = jpeg(picture(64, 48))
        for bad in (data[:-2], data[:len(data) // 2], data[:-2] + b"\0\0"):
            self.write("in.jpg", bad)
            self.smp("convert", "in.jpg", "o.jpg", "--strip", status=3)
        self.write("in.jpg", data + b"\0rubbish" + data)  # what comes behind the picture is no part of it
        self.smp("convert", "-q", "in.jpg", "o.jpg", "--strip")
        self.assertEqual(coded((self.folder / "o.jpg").read_bytes()), coded(data))


class FastDecode(CliCase):
    def shrunk(self, by, *stages, size=(640, 480)):
        """Whether the output is that of the picture decoded at 1/by."""
        array = picture(*size)
        self.write("in.jpg", jpeg(array, subsampling=0))  # Pillow smooths no chroma in drafts
        with PIL.Image.open(self.folder / "in.jpg") as image:
            image.draft("RGB", (size[0] // by, size[1] // by))
            small = np.array(image)
        self.assertEqual(small.shape[1], -(-size[0] // by))
        np.save(self.folder / "small.npy", small)
        lines = [word for stage in stages for word in ("-e", stage)]
        self.smp("run", "-f", "-q", *lines, "--fast-decode", "in.jpg", "fast.npy")
        self.smp("run", "-f", "-q", *lines, "small.npy", "slow.npy")
        fast, slow = (np.load(self.folder / name) for name in ("fast.npy", "slow.npy"))
        self.smp("run", "-f", "-q", *lines, "in.jpg", "whole.npy")
        whole = np.load(self.folder / "whole.npy")
        return np.array_equal(fast, slow), np.array_equal(fast, whole)

    def test_jobs_that_scale_down_decode_less(self):
        self.assertEqual(self.shrunk(4, "resize longest=160"), (True, False))
        self.assertEqual(self.shrunk(4, "resize longest=150", "invert"), (True, False))
        self.assertEqual(self.shrunk(2, "resize longest=200"), (True, False))
        self.assertEqual(self.shrunk(8, "resize width=60 height=60 fit=cover"), (True, False))
        self.assertEqual(self.shrunk(2, "resize longest=300", size=(642, 482)), (True, False))

    def test_other_jobs_are_as_ever(self):
        for stages in (["invert"], ["resize 25%"], ["gaussian 1px", "resize longest=80"], ["resize longest=640"],
                       ["crop width=100 height=100", "resize longest=20"], ["stats", "resize longest=80"]):
            self.assertTrue(self.shrunk(1, *stages)[1], stages)
        png = SAMPLES / "chelsea.png"
        for name, option in (("a.npy", []), ("b.npy", ["--fast-decode"])):
            self.smp("run", "-q", "-e", "resize longest=50", *option, png, name)
        self.assertEqual((self.folder / "a.npy").read_bytes(), (self.folder / "b.npy").read_bytes())


if __name__ == "__main__":
    unittest.main()
