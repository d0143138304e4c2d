"""smempipe.Feed on a GPU, which is emulated here: the processors' bytes, whatever the pictures are, in few launches.
What only a GPU can tell is in tests/gpu_feed.py."""
import re
import warnings

import numpy as np
import pytest

import smempipe

Image = pytest.importorskip("PIL.Image")
RESIZE = "resize 40x32! filter=bilinear arithmetic=fixed"
TRAIN = f"""crop random
{RESIZE}
flip random
jitter brightness=random(0.6..1.4) contrast=random(0.6..1.4) saturation=random(0.6..1.4) hue=random(-36..36deg) \
order=random probability=80%"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """JPEGs that the GPU decodes, of many sizes, and what processors have to: progressive, CMYK, PNG, damaged."""
    root, rng = tmp_path_factory.mktemp("set"), np.random.default_rng(1)
    for i in range(16):
        width, height = rng.integers(1, 150, 2).tolist() if i else (1, 1)
        image = Image.fromarray(rng.integers(0, 256, (7, 9, 3), np.uint8)).resize((width, height), Image.BICUBIC)
        how = {"quality": int(rng.integers(20, 98)), "subsampling": i % 3}
        if i % 5 == 4:
            image, how = image.convert("L"), {}
        if i % 4 == 3:
            how["restart_marker_blocks"] = 3
        image.save(root / f"{i:02d}.jpg", **how)
    image.save(root / "16.jpg", progressive=True)
    image.convert("CMYK").save(root / "17.jpg")
    image.save(root / "18.png")
    turned = Image.Exif()
    turned[0x112] = 6
    image.resize((50, 31)).convert("RGB").save(root / "19.jpg", exif=turned)
    data = bytearray((root / "01.jpg").read_bytes())
    at = data.rindex(b"\xff\xda") + 40
    data[at:at + 9] = b"\x5a" * 9  # libjpeg reads it, with a warning, or not: the same must come of it
    (root / "20.jpg").write_bytes(data)
    (root / "21.jpg").write_bytes((root / "02.jpg").read_bytes()[:-300])
    (root / "22.jpg").write_bytes(b"no picture")
    return root


def batches(folder, device, pipeline, **more):
    feed = smempipe.Feed(folder, pipeline, **{"batch": 12, "labels": None, "seed": 5, "device": device,
                                              "broken": "skip", **more})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {name: image.copy() for images, _, names in feed for name, image in zip(names, images)}
    return made, sorted(name for name, _ in feed.broken)


@pytest.mark.parametrize("pipeline, more", [
    (RESIZE, {"layout": "NHWC"}),
    (RESIZE, {"dtype": "float16", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}),
    (TRAIN, {"dtype": "float32"}),
    (TRAIN, {"epoch": 3, "layout": "NHWC", "dtype": "float16", "mean": 0.5}),
    (f"resize 16x16! filter=lanczos3 arithmetic=fixed\ngray\nflip vertical", {"channels": 1}),
    (f"{RESIZE}\nstandardize imagenet", {"dtype": "float32"}),  # no kernels of many pictures: processors compute it
])
def test_bytes_are_those_of_the_processors(folder, pipeline, more):
    wanted, found = batches(folder, "cpu", pipeline, **more), batches(folder, "simt", pipeline, **more)
    assert wanted[0].keys() == found[0].keys() and wanted[1] == found[1] and "22.jpg" in found[1]
    for name, image in wanted[0].items():
        assert np.array_equal(image, found[0][name]), name


def test_launches_are_of_many_pictures(folder, monkeypatch):
    monkeypatch.setenv("SMP_TRACE_DRIVER", "times")
    feed = smempipe.Feed([folder / f"{i % 9:02d}.jpg" for i in range(63)], TRAIN, 63, labels=None, device="simt")
    (images, _, _), = feed
    with pytest.warns(UserWarning) as said:
        feed.close()
    launches, = re.findall(r"cuLaunchKernel +(\d+)", str(said[0].message))
    assert len(images) == 63 and int(launches) < 63 * 4  # 9 or 10 each, if it were for itself


def test_what_is_no_device(folder):
    for device in ("gpu", "cuda:x", "cuda:", ""):
        with pytest.raises(smempipe.ArgumentError, match="there are cpu, cuda, cuda:N"):
            smempipe.Feed(folder, RESIZE, device=device)
