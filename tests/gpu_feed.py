"""What only a GPU can tell of smempipe.Feed(device="cuda"): the processors' bytes in its memory, which torch, CuPy and
JAX take without a copy; broken files, kills, memory; and pictures a second.

    gpu_feed.py BUILD [PICTURES [RATE_PICTURES]]    # a line a check, and JSON at the end
    gpu_feed.py --table docs/training.json          # of that JSON, the table of docs/training.md
"""
import collections
import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[1]


def table(path):
    said = json.loads(pathlib.Path(path).read_text())
    rows = [(f'Feed, device="cuda": {row["name"]}', row["best"], row["gpu_mb"], row["host_mb"])
            for row in said["rates"]]
    print(f"| {said['machine']}; JPEGs of 500 x 375 ({said['mean_bytes'] / 1000:.0f} KB) | pictures/s | MB of the GPU "
          "| of the host |\n|---|---|---|---|")
    for row in rows + [(other["name"], other["best"], "", "") for other in said["others"]]:
        print("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in row) + " |")


if sys.argv[1] == "--table":
    sys.exit(table(sys.argv[2]))
BUILD = pathlib.Path(sys.argv[1]).resolve()
PICTURES, RATED = (int(a) for a in (sys.argv[2:] + ["2000", "20000"][len(sys.argv) - 2:]))
os.environ["SMEMPIPE_LIBRARY"] = str(BUILD / "libsmempipe.so.1")
sys.path.insert(0, str(ROOT / "src/python"))
import numpy as np  # noqa: E402
import torch  # noqa: E402
from PIL import Image, ImageFile  # noqa: E402

import smempipe  # noqa: E402

ImageFile.MAXBLOCK = 1 << 24  # Pillow writes no JPEG that is larger than its buffer

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
RESIZE = "resize 224x224! filter=bilinear arithmetic=fixed"
CROP = f"color rgb\ncrop random\n{RESIZE}\nflip random"
TRAIN = CROP + "\njitter brightness=random(0.6..1.4) contrast=random(0.6..1.4) saturation=random(0.6..1.4) " \
    "hue=random(-36..36deg) order=random"
POISON = 0x7d
found = {"machine": f"{len(os.sched_getaffinity(0))} processors"}


def draw(job):
    """A JPEG of some kind, a PNG or a WebP, or one that is broken."""
    folder, i = job
    rng = np.random.default_rng(i)
    size = tuple(int(n) for n in rng.integers(1, 700, 2))
    image = Image.fromarray(rng.integers(0, 256, (9, 11, 3), np.uint8)).resize(size, Image.BICUBIC)
    noise = rng.normal(0, float(rng.uniform(0, 30)), (size[1], size[0], 3))
    image = Image.fromarray((np.asarray(image) + noise).clip(0, 255).astype(np.uint8))
    kind = str(rng.choice(["420", "422", "444", "gray", "restart", "progressive", "cmyk", "png", "webp", "turned",
                           "scan", "cut"], p=[.3, .1, .15, .08, .12, .05, .04, .03, .03, .04, .04, .02]))
    how = {"quality": int(rng.integers(5, 98))}
    path = folder / f"{i:05d}.jpg"
    if kind in ("png", "webp"):
        image.save(path.with_suffix("." + kind), lossless=True)
        return kind
    if kind in ("gray", "cmyk"):
        image = image.convert("L" if kind == "gray" else "CMYK")
    else:
        how["subsampling"] = {"422": 1, "444": 0}.get(kind, 2)
    if kind == "restart":
        how["restart_marker_blocks"] = int(rng.integers(1, 20))
    if kind == "turned":
        how["exif"] = Image.Exif()
        how["exif"][0x112] = int(rng.integers(2, 9))
    image.save(path, progressive=kind == "progressive", **how)
    data = bytearray(path.read_bytes())
    at = data.rindex(b"\xff\xda")
    if kind == "cut":
        path.write_bytes(data[:at + (len(data) - at) // 2])
    if kind == "scan":  # bytes of the scan that are others
        for place in rng.integers(at + 20, len(data) - 2, 5) if len(data) > at + 30 else ():
            data[place] = int(rng.integers(0, 255))
        path.write_bytes(data)
    return kind


def feed_of(folder, pipeline, device, **more):
    return smempipe.Feed(folder, pipeline, **{"batch": 256, "labels": None, "seed": 3, "broken": "skip",
                                              "device": device, **more})


def epoch_of(feed):
    """Samples of an epoch by name, as NumPy; the memory is poisoned behind each look."""
    made = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for images, _, names in feed:
            host = images
            if not isinstance(images, np.ndarray):
                tensor = torch.as_tensor(images, device="cuda")
                assert tensor.data_ptr() == images.__cuda_array_interface__["data"][0]
                host = tensor.cpu().numpy()
                assert np.array_equal(host.view(np.uint8), images.get().view(np.uint8))
                tensor.fill_(POISON)
            made.update((name, image.copy()) for name, image in zip(names, host))
    return made


def check_bytes(folder):
    for pipeline, more in ((TRAIN, {"dtype": "float16", "mean": MEAN, "std": STD}),
                           (CROP, {"epoch": 2, "layout": "NHWC"}),
                           (RESIZE, {"dtype": "float32", "mean": 0.5, "std": 0.25, "batch": 100})):
        feeds = [feed_of(folder, pipeline, device, **more) for device in ("cpu", "cuda")]
        wanted, got = (epoch_of(feed) for feed in feeds)
        assert wanted.keys() == got.keys(), set(wanted) ^ set(got)
        assert sorted(name for name, _ in feeds[0].broken) == sorted(name for name, _ in feeds[1].broken)
        wrong = [name for name in wanted if not np.array_equal(wanted[name].view(np.uint8), got[name].view(np.uint8))]
        print(f"bytes: {len(wanted)} pictures, {len(feeds[0].broken)} broken, {len(wrong)} differ", wrong[:5],
              flush=True)
        assert not wrong
        found.setdefault("bytes", []).append([len(wanted), len(feeds[0].broken), len(wrong)])
        for feed in feeds:
            feed.close()


def check_libraries(folder):
    images, _, _ = next(iter(feed_of(folder, RESIZE, "cuda", dtype="float16")))
    where = images.__cuda_array_interface__["data"][0]
    tensor = torch.from_dlpack(images)
    assert tensor.data_ptr() == where and tensor.is_cuda and tensor.dtype == torch.float16
    try:
        import cupy
        assert cupy.asarray(images).data.ptr == where == cupy.from_dlpack(images).data.ptr
        assert np.array_equal(cupy.asnumpy(cupy.asarray(images)), images.get())
    except ImportError:
        print("no CuPy")
    try:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax
        there = jax.dlpack.from_dlpack(images)
        assert there.unsafe_buffer_pointer() == where
    except ImportError:
        print("no JAX")
    print("torch, CuPy and JAX take it where it lies", flush=True)


def check_streams(folder):
    """Memory is used again behind what another stream still reads."""
    feed, stream, sums, names_of = feed_of(folder, RESIZE, "cuda", batch=64, prefetch=1), torch.cuda.Stream(), [], []
    wanted = epoch_of(feed_of(folder, RESIZE, "cpu"))
    with warnings.catch_warnings(), torch.cuda.stream(stream):
        warnings.simplefilter("ignore")
        for images, _, names in feed:
            tensor = torch.from_dlpack(images)
            torch.cuda._sleep(20_000_000)
            sums.append(tensor.to(torch.int64).sum((1, 2, 3)))
            names_of.append(names)
            del tensor, images
    for total, names in zip(sums, names_of):
        assert total.tolist() == [int(wanted[name].astype(np.int64).sum()) for name in names]
    print("memory waits for streams", flush=True)


def check_kills(folder):
    wanted, kills = epoch_of(feed_of(folder, CROP, "cpu")), 0
    for turn in range(6):
        feed, made = feed_of(folder, CROP, "cuda", batch=64), {}
        while feed.state_dict()["batch"] < len(feed):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    for images, _, names in feed:
                        made.update(zip(names, images.get()))
                        if len(made) > 100 * (turn + 1) and kills <= turn:
                            os.kill(feed._server.process.pid, signal.SIGKILL)
                            kills += 1
            except smempipe.Error as why:
                assert "was killed" in str(why)
        wrong = [name for name in made if name in wanted and not np.array_equal(made[name], wanted[name])]
        assert made.keys() == wanted.keys() and not wrong, (set(made) ^ set(wanted), wrong)
    found["kills"] = kills
    print(f"{kills} kills: nothing lost, the same bytes", flush=True)


def draw_rated(folder):
    base, rng = Image.open(ROOT / "samples/rocket.jpg").convert("RGB"), np.random.default_rng(1)
    for i in range(256):
        x, y = rng.integers(0, 100, 2)
        part = np.asarray(base.crop((x, y, base.width - 20, base.height - 20)).resize((500, 375), Image.BICUBIC))
        Image.fromarray((part + rng.normal(0, 9, part.shape)).clip(0, 255).astype(np.uint8)).save(
            folder / f"{i:05d}.jpg", quality=90)
    for i in range(256, RATED):
        os.link(folder / f"{i % 256:05d}.jpg", folder / f"{i:05d}.jpg")
    return sum((folder / f"{i:05d}.jpg").stat().st_size for i in range(256)) / 256


def memory():
    """MB of the GPU that all its processes use."""
    said = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                          capture_output=True, text=True)
    return int(said.stdout.split()[0]) if said.returncode == 0 else -1


def resident(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 >> 20


def rate(name, folder, pipeline, **more):
    before = memory()
    feed = feed_of(folder, pipeline, "cuda", dtype="float16", mean=MEAN, std=STD, **more)
    rates, used, host = [], 0, 0
    for _ in range(3):
        start, count = time.perf_counter(), 0
        for images, _, _ in feed:
            count += len(images)
            if count % 4096 == 0:
                used, host = max(used, memory() - before if count == 4096 else 0), resident(feed._server.process.pid)
        rates.append(count / (time.perf_counter() - start))
    feed.close()
    row = {"name": name, "pictures": count, "best": round(max(rates)), "all": [round(r) for r in rates],
           "gpu_mb": used, "host_mb": host}
    found.setdefault("rates", []).append(row)
    print(row, flush=True)


class Pictures(torch.utils.data.Dataset):
    """What a data set of torchvision does, on Pillow."""

    def __init__(self, paths):
        from torchvision import transforms
        self.paths, self.change = paths, transforms.Compose([
            transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
            transforms.Normalize(MEAN, STD)])

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with Image.open(self.paths[i]) as image:
            return self.change(image.convert("RGB"))


def dali_epochs(paths, device):
    """Batches of 256 in the GPU's memory, as the Feed's: crop, resize, flip, half floats."""
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.pytorch import DALIGenericIterator

    @pipeline_def(batch_size=256, num_threads=len(os.sched_getaffinity(0)), device_id=0, prefetch_queue_depth=3)
    def made():
        coded, _ = fn.readers.file(files=paths, labels=[0] * len(paths), random_shuffle=True, name="files")
        image = fn.decoders.image_random_crop(coded, device=device, random_area=[0.08, 1],
                                              random_aspect_ratio=[3 / 4, 4 / 3])
        image = fn.resize(image.gpu(), size=[224, 224], interp_type=types.INTERP_LINEAR)
        return fn.crop_mirror_normalize(image, dtype=types.FLOAT16, output_layout="CHW", mirror=fn.random.coin_flip(),
                                        mean=[255 * m for m in MEAN], std=[255 * s for s in STD])

    return DALIGenericIterator(made(), ["images"], reader_name="files", auto_reset=True)


def rate_others(folder):
    """The same pictures and work by others; each has its own bytes."""
    paths = sorted(str(path) for path in folder.iterdir())
    cores = len(os.sched_getaffinity(0))
    loader = torch.utils.data.DataLoader(Pictures(paths[:8192]), 256, shuffle=True, num_workers=cores)
    others = [(f"torchvision on Pillow, DataLoader of {cores} workers", loader, len)]
    try:
        from nvidia.dali import __version__ as version
        for device, name in (("mixed", "mixed"), ("cpu", "on the processors")):
            others.append((f"DALI {version}, {name}: other bytes", dali_epochs(paths, device),
                           lambda batch: len(batch[0]["images"])))
    except ImportError:
        print("no DALI")
    for name, batches, count in others:
        rates = []
        for _ in range(3):
            start, pictures = time.perf_counter(), sum(count(batch) for batch in batches)
            torch.cuda.synchronize()
            rates.append(round(pictures / (time.perf_counter() - start)))
        found.setdefault("others", []).append({"name": name, "best": max(rates), "all": rates})
        print(name, rates, flush=True)


if __name__ == "__main__":
    where = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        for name in ("all", "rated"):
            (where / name).mkdir()
        with multiprocessing.Pool() as pool:
            print(collections.Counter(pool.map(draw, [(where / "all", i) for i in range(PICTURES)])))
        check_bytes(where / "all")
        found["machine"] = f"{torch.cuda.get_device_name()}, {found['machine']}"
        found["mean_bytes"] = draw_rated(where / "rated")
        for name, pipeline, more in (("crop, resize, flip", CROP, {}), ("the same, prefetch=4", CROP, {"prefetch": 4}),
                                     ("with jitter", TRAIN, {"prefetch": 4})):
            rate(name, where / "rated", pipeline, **more)
        check_libraries(where / "all")
        check_streams(where / "all")
        check_kills(where / "all")
        rate_others(where / "rated")
    finally:
        shutil.rmtree(where)
        print(json.dumps(found))
