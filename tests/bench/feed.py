"""How fast smempipe.Feed makes batches, beside processes that use Pillow:

    feed.py BUILD [PICTURES] [WORKERS] [--device cuda]

Draws JPEGs of 500 x 375 pixels, brings them to 224 x 224, and prints the table of docs/training.md: pictures a second,
and milliseconds of all processors a picture, the best of three epochs."""
import os
import pathlib
import resource
import sys
import tempfile
import time
from multiprocessing import Pool

DEVICE = sys.argv.pop(sys.argv.index("--device") + 1) if "--device" in sys.argv else "cpu"
sys.argv = [word for word in sys.argv if word != "--device"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD, PICTURES = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 500
WORKERS = int(sys.argv[3]) if len(sys.argv) > 3 else len(os.sched_getaffinity(0))
os.environ["SMEMPIPE_LIBRARY"] = str(BUILD / "libsmempipe.so.1")
sys.path.insert(0, str(ROOT / "src/python"))
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

import smempipe  # noqa: E402

BATCH, MEAN, STD = 64, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
RESIZE = "resize 224x224! filter=bilinear arithmetic=fixed"


def draw(folder):
    """Photographs with noise, so that they take some 60 KB."""
    base, rng = Image.open(ROOT / "samples/rocket.jpg").convert("RGB"), np.random.default_rng(1)
    for i in range(PICTURES):
        x, y = rng.integers(0, 100, 2)
        part = np.asarray(base.crop((x, y, base.width - 20, base.height - 20)).resize((500, 375), Image.BICUBIC))
        noisy = (part + rng.normal(0, 9, part.shape)).clip(0, 255).astype(np.uint8)
        Image.fromarray(noisy).save(f"{folder}/{i:05d}.jpg", quality=88)


def used():
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def row(name, epoch, close):
    began, best = used(), 0
    for _ in range(3):
        start = time.perf_counter()
        pictures = epoch()
        best = max(best, pictures / (time.perf_counter() - start))
    close()  # processor time of children counts when they have ended
    print(f"| {name} | {best:.0f} | {1000 * (used() - began) / 3 / PICTURES:.2f} |", flush=True)


def feed(folder, **how):
    made = smempipe.Feed(folder, RESIZE, BATCH, seed=1, workers=how.pop("workers", WORKERS), **how)
    return lambda: sum(len(images) for images, _, _ in made), made.close


def read(path):
    return np.asarray(Image.open(path).convert("RGB").resize((224, 224), Image.BILINEAR)).transpose(2, 0, 1)


def read_batch(paths):
    return np.stack([read(path) for path in paths])


def pillow(folder):
    paths, pool = sorted(pathlib.Path(folder).iterdir()), Pool(WORKERS)
    batches = [paths[at:at + BATCH] for at in range(0, len(paths), BATCH)]
    return lambda: sum(len(images) for images in pool.imap(read_batch, batches)), lambda: (pool.close(), pool.join())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as where:
        draw(where)
        print(f"| {PICTURES} pictures, {WORKERS} workers | pictures/s | processor ms |\n|---|---|---|")
        row("Feed, uint8", *feed(where))
        row("Feed, uint8, workers=0", *feed(where, workers=0))
        row("Feed, float16, normalised", *feed(where, dtype="float16", mean=MEAN, std=STD))
        if DEVICE != "cpu":
            row(f"Feed, float16, normalised, {DEVICE}", *feed(where, dtype="float16", mean=MEAN, std=STD,
                                                              device=DEVICE, prefetch=4))
        row("Pillow, NumPy, processes", *pillow(where))
