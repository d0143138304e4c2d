"""smempipe.Feed: batches against Pillow's bytes, orders, ranks, broken files, kills, forks."""
import contextlib
import gc
import io
import multiprocessing
import os
import pathlib
import pickle
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import time

import numpy as np
import pytest

import smempipe
from smempipe._feed_files import permute, rank_of_environment, share

Image = pytest.importorskip("PIL.Image")
ImageOps = pytest.importorskip("PIL.ImageOps")
ROOT = pathlib.Path(__file__).resolve().parents[2]
READY = ROOT / "pipelines/train.pipe"
SQUARE = "resize 32x32! filter=bilinear arithmetic=fixed"


def picture(i, size=(48, 40), mode="RGB"):
    rng = np.random.default_rng(i)
    small = Image.fromarray(rng.integers(0, 256, (5, 6, 3), np.uint8))
    return small.resize(size, Image.BICUBIC).convert(mode)


def square(path):
    return np.asarray(Image.open(path).convert("RGB").resize((32, 32), Image.BILINEAR))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """23 pictures in three classes."""
    root = tmp_path_factory.mktemp("train")
    for i in range(23):
        where = root / f"class{i % 3}"
        where.mkdir(exist_ok=True)
        picture(i).save(where / f"{i:02d}.jpg", quality=90)
    return root


def feed_of(files, *, batch=5, pipeline=SQUARE, **more):
    return smempipe.Feed(files, pipeline, batch, **{"workers": 2, **more})


def names_of(feed):
    return [name for _, _, names in feed for name in names]


def test_bytes_are_pillows(folder):
    feed = feed_of(folder, layout="NHWC", seed=3)
    seen = 0
    for images, labels, names in feed:
        for image, label, name in zip(images, labels, names):
            assert np.array_equal(image, square(folder / name)) and f"class{label}" == name.split("/")[0]
        seen += len(images)
    assert seen == 23 and len(feed) == 5 and feed.classes == ["class0", "class1", "class2"]


def odd_jpegs(folder):
    """Kinds of JPEG that are rare, and what Pillow reads of them."""
    def save(name, image, **how):
        image.save(folder / name, "JPEG", **how)
    save("gray.jpg", picture(1, (37, 53), "L"))
    save("cmyk.jpg", picture(2, (37, 53), "CMYK"))
    save("progressive.jpg", picture(3, (61, 33)), progressive=True)
    save("444.jpg", picture(4, (33, 61)), subsampling=0)
    save("422.jpg", picture(5, (35, 45)), subsampling=1)
    save("one.jpg", picture(7, (1, 1)))
    coded = (("440", "-sample", "1x2"), ("411", "-sample", "4x1"), ("restart", "-restart", "1", "-sample", "2x2"))
    for name, *options in coded if shutil.which("cjpeg") else ():  # Debian: libjpeg-turbo-progs
        picture(6, (70, 50)).save(folder / "a.ppm")
        subprocess.run(["cjpeg", *options, "-outfile", folder / f"{name}.jpg", folder / "a.ppm"], check=True)
        (folder / "a.ppm").unlink()
    exif = Image.Exif()
    exif[0x112] = 6
    save("turned.jpg", picture(8, (48, 40)), exif=exif)


def test_odd_jpegs_have_pillows_bytes(tmp_path):
    odd_jpegs(tmp_path)
    for images, _, names in feed_of(tmp_path, layout="NHWC", labels=None):
        for image, name in zip(images, names):
            pillow = Image.open(tmp_path / name)
            if name == "turned.jpg":  # reading turns pictures upright: Pillow's ImageOps.exif_transpose
                pillow = ImageOps.exif_transpose(pillow)
            wanted = np.asarray(pillow.convert("RGB").resize((32, 32), Image.BILINEAR))
            assert np.array_equal(wanted, image), name


# ------------------------------------------------------------------------------------------------ samples


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_floats_are_those_of_totensor_and_normalize(folder, dtype, layout):
    mean, std = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
    for images, _, names in feed_of(folder, dtype=dtype, layout=layout, mean=mean, std=std):
        wanted = np.stack([square(folder / name) for name in names]).astype(np.float32) / np.float32(255)
        wanted = ((wanted - mean) / std).astype(dtype)
        assert images.dtype == dtype and images.flags.c_contiguous and images.flags.writeable
        assert np.array_equal(images, wanted if layout == "NHWC" else wanted.transpose(0, 3, 1, 2))


def test_a_pipeline_may_make_the_floats(folder):
    standard = SQUARE + "\nstandardize imagenet"
    ours = {name: image for images, _, names in feed_of(folder, pipeline=standard, dtype="float32")
            for name, image in zip(names, images)}
    for images, _, names in feed_of(folder, dtype="float32", mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]):
        assert all(np.allclose(ours[name], image, atol=1e-6) for name, image in zip(names, images))
    with pytest.raises(smempipe.PipelineError, match="its samples are floats after the pipeline.*depth 8bit"):
        next(iter(feed_of(folder, pipeline=standard)))


def test_kinds_of_pictures_become_colour(tmp_path):
    picture(1, mode="RGBA").save(tmp_path / "alpha.png")
    picture(2, mode="P").save(tmp_path / "palette.png")
    picture(3, mode="L").save(tmp_path / "gray.png")
    picture(4).save(tmp_path / "lossless.webp", lossless=True)
    for images, labels, names in feed_of(tmp_path, layout="NHWC", pipeline="alpha drop\n" + SQUARE):
        assert labels is None and len(names) == 4
        assert all(np.array_equal(image, square(tmp_path / name)) for image, name in zip(images, names))
    with pytest.raises(smempipe.PipelineError, match="with 1|with 3"):
        list(feed_of(tmp_path, channels=None, pipeline="alpha drop\n" + SQUARE))


def test_the_ready_pipeline_drops_alpha_as_pillow_does(tmp_path):
    for mode in ("RGBA", "RGB"):
        (tmp_path / mode).mkdir()
        pixels = np.asarray(picture(1, (300, 260), "RGBA")).copy()
        pixels[::3, :, 3] = 0
        Image.fromarray(pixels).convert(mode).save(tmp_path / mode / "a.png")
    ours, wanted = (next(iter(feed_of(tmp_path / mode, pipeline=READY, seed=1)))[0] for mode in ("RGBA", "RGB"))
    assert np.array_equal(ours, wanted)
    with pytest.raises(smempipe.PipelineError, match="this picture has alpha(.|\n)*`alpha drop` before it"):
        next(iter(feed_of(tmp_path / "RGBA")))


def by_name(feed):
    return {name: image.copy() for images, _, names in feed for name, image in zip(names, images)}


def test_random_values_are_the_seeds_the_epochs_and_the_pictures(folder, tmp_path):
    text = SQUARE + "\nflip random\ngamma random(0.5..2)"
    first = by_name(feed_of(folder, pipeline=text, seed=5, epoch=2))
    other = {}
    for rank in (0, 1, 2):
        other.update(by_name(feed_of(folder, pipeline=text, seed=5, epoch=2, rank=rank, world=3, batch=4, workers=1)))
    assert all(np.array_equal(first[name], other[name]) for name in first)
    for seed, epoch in ((6, 2), (5, 3)):
        assert any(not np.array_equal(first[name], image)
                   for name, image in by_name(feed_of(folder, pipeline=text, seed=seed, epoch=epoch)).items())
    names = sorted(first)
    for index in (0, 7, 22):
        out = tmp_path / f"{index}.png"
        subprocess.run([smempipe._kernel._program(), "run", *(w for line in text.split("\n") for w in ("-e", line)),
                        folder / names[index], out, "--seed", "5", "--epoch", "2", "--index", str(index)], check=True)
        assert np.array_equal(np.asarray(Image.open(out)).transpose(2, 0, 1), first[names[index]])


# ------------------------------------------------------------------------------------------------ memory


def test_memory_is_used_again_but_not_while_it_is_held(folder):
    feed, kept, addresses = feed_of(folder, batch=2, prefetch=2), [], set()
    for images, _, names in feed:
        addresses.add(images.__array_interface__["data"][0])
        if len(kept) < 3:
            kept.append((images[:1], images[:1].copy()))
    assert len(feed) == 12 and len(addresses) <= 3 + 4
    for _ in feed:
        assert all(np.array_equal(part, copy) for part, copy in kept)
    del images, kept[0]
    gc.collect()
    assert len(feed._pool.free) <= 4


def test_a_forked_child_keeps_the_batch_that_it_holds(folder):
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    feed = feed_of(folder, batch=2, prefetch=1)
    rest = iter(feed)
    images = next(rest)[0]

    def look():
        before = images.copy()
        theirs.send("copied")
        theirs.recv()
        theirs.send(bool(np.array_equal(images, before)))
    child = context.Process(target=look)
    child.start()
    assert ours.recv() == "copied"
    del images
    for _ in rest:
        pass
    ours.send("look")
    assert ours.recv() is True
    child.join()


def test_other_libraries_take_the_array_without_a_copy(folder):
    images, labels, _ = next(iter(feed_of(folder)))
    shared = np.from_dlpack(images)
    assert np.shares_memory(shared, images) and memoryview(images).nbytes == images.nbytes
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(images)
    assert tensor.data_ptr() == images.ctypes.data and torch.from_numpy(labels).dtype == torch.int64


# ------------------------------------------------------------------------------------------------ order


@pytest.mark.parametrize("count", [1, 2, 3, 16, 17, 1000])
def test_a_permutation_holds_each_sample_once(count):
    orders = [tuple(permute(np.arange(count), count, seed, epoch)) for seed in (1, 2) for epoch in (0, 1)]
    assert all(sorted(order) == list(range(count)) for order in orders)
    assert len(set(orders)) == 4 or count < 16


def test_places_of_a_permutation_are_equally_likely():
    found = np.zeros((8, 8))
    for epoch in range(800):
        found[np.arange(8), permute(np.arange(8), 8, 5, epoch)] += 1
    assert ((found - 100) ** 2 / 100).sum() < 95  # chi-square of 49 degrees: beyond it in 1 of 10,000


def test_a_thousand_ranks_share_a_billion_names():
    count, world, batch = 10 ** 9 + 123, 1000, 256
    sizes = [share(count, rank, world, batch, "keep") for rank in range(world)]
    assert sum(mine for mine, _ in sizes) == count and max(sizes)[0] - min(sizes)[0] <= 1
    begun, seen = time.perf_counter(), []
    for rank in range(world):  # the first batch of each
        seen.append(permute(np.arange(batch) * world + rank, count, 1, 7))
    assert time.perf_counter() - begun < 30
    seen = np.concatenate(seen)
    assert len(np.unique(seen)) == world * batch
    assert abs(np.histogram(seen, 10, (0, count))[0] / len(seen) - 0.1).max() < 0.005
    for last in ("pad", "drop"):
        assert len({share(count, rank, world, batch, last) for rank in range(world)}) == 1


@pytest.mark.parametrize("world", [1, 2, 3, 7, 23])
def test_each_sample_is_seen_once_by_one_rank(folder, world):
    feeds = [feed_of(folder, rank=rank, world=world) for rank in range(world)]
    names = [feed._files.names[i] for feed in feeds for number in range(len(feed)) for i in feed._indices(number, 0)]
    assert len(names) == 23 == len(set(names))


def test_last_batches(folder):
    def sizes(last, rank=0, world=1):
        return [len(images) for images, _, _ in feed_of(folder, last=last, rank=rank, world=world)]
    assert sizes("keep") == [5, 5, 5, 5, 3] and sizes("drop") == [5, 5, 5, 5] and sizes("pad") == [5] * 5
    for rank in (0, 1):
        assert sizes("pad", rank, 2) == [5, 5, 5] and sizes("drop", rank, 2) == [5, 5]
    with pytest.raises(ValueError, match="23 pictures make no batch of 24"):
        feed_of(folder, last="drop", batch=24)


def test_epochs_differ_and_come_again(folder):
    feed = feed_of(folder, seed=1)
    first, second = names_of(feed), names_of(feed)
    assert first != second and sorted(first) == sorted(second) and feed.epoch == 1
    feed.set_epoch(0)
    assert names_of(feed) == first
    assert names_of(feed_of(folder, seed=1, epoch=1, workers=1)) == second != names_of(feed_of(folder, seed=2, epoch=1))
    assert names_of(feed_of(folder, shuffle=False)) == sorted(first)


def test_a_state_goes_on_in_the_middle(folder):
    whole = names_of(feed_of(folder, seed=4, epoch=2))
    feed, seen = feed_of(folder, seed=4, epoch=2), []
    for _, _, names in feed:
        seen += names
        if len(seen) == 10:
            state = pickle.loads(pickle.dumps(feed.state_dict()))
            break
    other = feed_of(folder, seed=4)
    other.load_state_dict(state)
    other.set_epoch(2)  # the loop's own: what was loaded stays
    assert seen + names_of(other) == whole and other.epoch == 2
    assert other.state_dict()["batch"] == 5 and len(names_of(other)) == 23 and other.epoch == 3
    with pytest.raises(ValueError, match="size=5, and this one has 4"):
        feed_of(folder, batch=4, seed=4).load_state_dict(state)


def test_ranks_of_the_environment(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_RANK",
                 "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "JOB_COMPLETION_INDEX"):
        monkeypatch.delenv(name, raising=False)
    assert rank_of_environment(None, None) == (0, 1)
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "3")
    assert rank_of_environment(None, 4) == (3, 4)
    with pytest.raises(ValueError, match="give world="):
        rank_of_environment(None, None)
    for names in (("PMI_RANK", "PMI_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
                  ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"), ("RANK", "WORLD_SIZE")):
        monkeypatch.setenv(names[0], "2")
        monkeypatch.setenv(names[1], "5")
        assert rank_of_environment(None, None) == (2, 5)
        monkeypatch.setenv(names[0], "1")
    assert rank_of_environment(0, 2) == (0, 2)
    monkeypatch.setenv("RANK", "x")
    with pytest.raises(ValueError, match="RANK='x' in the environment is no number"):
        rank_of_environment(None, None)
    for wrong in ((2, 2), (-1, 2), (1, None)):
        with pytest.raises(ValueError):
            rank_of_environment(*wrong)


def test_torchruns_omp_num_threads_bounds_nothing(folder, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    for name, kept in (("NONE", True), ("LOCAL_WORLD_SIZE", False)):
        monkeypatch.setenv(name, "2")
        feed = feed_of(folder)
        environment = pathlib.Path(f"/proc/{feed._open().process.pid}/environ").read_bytes()
        assert (b"OMP_NUM_THREADS" in environment) == kept


# ------------------------------------------------------------------------------------------------ labels


def test_labels(folder, tmp_path):
    files = sorted(str(p) for p in folder.rglob("*.jpg"))
    assert [label for _, labels, _ in feed_of(files, labels="folder", shuffle=False) for label in labels] == \
        [int(file.split("class")[1][0]) for file in files]
    given = {file: i * 10 for i, file in enumerate(files)}
    for _, labels, names in feed_of(given):
        assert labels.dtype == np.int64 and labels.tolist() == [given[name] for name in names]
    for _, labels, names in feed_of({file: i / 2 for i, file in enumerate(files)}):
        assert labels.dtype.kind == "f" and labels.tolist() == [files.index(name) / 2 for name in names]
    table = tmp_path / "labels.csv"
    table.write_text("file,label\n" + "".join(f"{file},{i}\n" for i, file in enumerate(files)))
    for _, labels, names in feed_of(files, labels=table):
        assert labels.tolist() == [files.index(name) for name in names]
    table.write_text(f"{files[0]},cat\n{files[1]},dog\n")
    feed = feed_of(files[:2], labels=table)
    assert feed.classes == ["cat", "dog"] and [y for _, labels, _ in feed for y in labels] != []
    with pytest.raises(ValueError, match="has no label .21 of 23"):
        feed_of(files, labels=table)


# ------------------------------------------------------------------------------------------------ tar files


def add(tar, name, data, **how):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    for key, value in how.items():
        setattr(member, key, value)
    tar.addfile(member, io.BytesIO(data))


@pytest.fixture(scope="module")
def shards(folder, tmp_path_factory):
    root = tmp_path_factory.mktemp("shards")
    files = sorted(folder.rglob("*.jpg"))
    formats = [tarfile.USTAR_FORMAT, tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]
    for k in range(3):
        with tarfile.open(root / f"{k}.tar", "w", format=formats[k]) as tar:
            for i, file in enumerate(files[k::3]):
                deep = "" if k == 0 else "d" * 90 + "/" + "e" * 90 + "/" + "f" * 90 + "/"
                add(tar, f"./{deep}{i:03d}.jpg", file.read_bytes())
                add(tar, f"./{deep}{i:03d}.cls", str(i).encode())
                add(tar, f"./{deep}{i:03d}.json", b'{"a": [1]}')
    return root


def test_tar_files_hold_the_same_samples(folder, shards):
    wanted = sorted(square(p).tobytes() for p in folder.rglob("*.jpg"))
    feed, got = feed_of(f"{shards}/*.tar", layout="NHWC"), []
    for images, labels, names in feed:
        got += [image.tobytes() for image in images]
        assert labels.tolist() == [int(name[-3:]) for name in names]
    assert sorted(got) == wanted
    for _, labels, _ in feed_of(sorted(shards.glob("*.tar")), labels="json"):
        assert labels[0] == {"a": [1]}


def test_samples_without_a_picture_are_counted(folder, tmp_path):
    for count, told in ((1, "1 sample has no picture"), (2, "2 samples have no picture")):
        with tarfile.open(tmp_path / "a.tar", "w") as tar:
            add(tar, "a.jpg", next(folder.rglob("*.jpg")).read_bytes())
            for i in range(count):
                add(tar, f"{i}.cls", b"1")
        with pytest.warns(UserWarning, match=told):
            feed_of([tmp_path / "a.tar"])


def test_hostile_tar_files_are_refused(folder, tmp_path):
    path = tmp_path / "a.tar"
    jpeg = next(folder.rglob("*.jpg")).read_bytes()

    def refused(change=None, **how):
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
            add(tar, how.pop("name", "a.jpg"), jpeg, **how)
        if change:
            path.write_bytes(change(path.read_bytes()))
        with pytest.raises((smempipe.FileError, ValueError)) as why:
            feed_of([path])
        assert len(str(why.value).splitlines()) == 1 and str(path) in str(why.value)
        return str(why.value)

    def sized(text):
        head = bytearray(path.read_bytes())
        head[124:136] = text
        head[148:156] = b" " * 8
        head[148:156] = b"%06o\0 " % sum(head[:512])
        return bytes(head)

    assert "truncated" in refused(lambda data: data[:512 + len(jpeg) // 2])
    assert "no end mark" in refused(lambda data: data[:512 + (len(jpeg) + 511) // 512 * 512])
    assert "damaged" in refused(lambda data: data[:100] + b"x" + data[101:])
    assert "link" in refused(type=tarfile.SYMTYPE, linkname="/etc/passwd", size=0)
    assert "link" in refused(type=tarfile.LNKTYPE, linkname="b.jpg", size=0)
    assert "no file" in refused(type=tarfile.CHRTYPE, size=0)
    assert "absolute" in refused(name="/a.jpg") and "upwards" in refused(name="b/../../a.jpg")
    for size in (b"77777777777\0", b"\x80" + b"\0" * 3 + b"\xff" * 8, b"\xff" * 12, b"12345678xyz\0"):
        assert "size" in (told := refused(lambda data, size=size: sized(size))) or "damaged" in told
    for record in (b"20 size=99999999999\n", b"9 size=x\n", b"99 path=a\n", b"1000000000000 path=b\n", b"x"):
        assert "tar file" in refused(pax_headers={"comment": "c" * 20}, change=lambda data, record=record: (
            data[:512] + record.ljust(512, b"\0") + data[1024:]))
    assert "joined" in refused(lambda data: data + data)
    assert "compressed" in refused(lambda data: b"\x1f\x8b" + data)


# ------------------------------------------------------------------------------------------------ what goes wrong


@pytest.fixture
def broken(folder, tmp_path):
    """Nine pictures, of which one is cut, one is a text and one is gone."""
    files = sorted(folder.rglob("*.jpg"))[:9]
    paths = [tmp_path / f"{i}.jpg" for i in range(9)]
    for path, file in zip(paths, files):
        path.write_bytes(file.read_bytes())
    paths[0].write_bytes(files[0].read_bytes()[:300])
    paths[4].write_text("no picture")
    paths[8].unlink()
    return [str(path) for path in paths]


def test_broken_files_are_named_skipped_or_raised(broken):
    with pytest.raises(smempipe.FileError, match="0.jpg: .*broken="):
        list(feed_of(broken, shuffle=False))
    feed = feed_of(broken, broken="skip", shuffle=False, batch=4)
    with pytest.warns(UserWarning, match="3 pictures could not be read in epoch 0; the first: .*0.jpg"):
        batches = list(feed)
    assert [len(images) for images, _, _ in batches] == [3, 3] and feed.broken_count == 3
    for images, _, names in batches:
        assert all(np.array_equal(image.transpose(1, 2, 0), square(name)) for image, name in zip(images, names))
    assert [name for name, _ in feed.broken] == [broken[0], broken[4], broken[8]]
    with pytest.warns(UserWarning):
        batches = list(feed_of(broken, broken="replace", shuffle=False, batch=3))
    assert [len(images) for images, _, _ in batches] == [3, 3, 3] and batches[0][2][0] == broken[1]
    os.mkfifo(broken[8])
    for path, told in ((broken[8], "no regular file"), ("-", "cannot open"), (os.path.dirname(broken[0]), "regular")):
        with pytest.raises(smempipe.FileError, match=told):
            list(feed_of([path]))
    with pytest.raises(smempipe.FileError, match="none of the pictures"):
        list(feed_of([broken[0], broken[4]], broken="skip"))


def test_a_pipe_file_has_parameters_and_places(folder, tmp_path):
    pipe = tmp_path / "train.pipe"
    pipe.write_text("# for tests\nparam size=32px\n\nresize width=$size height=$size fit=stretch\n")
    for given in (pipe, str(pipe)):
        assert next(iter(feed_of(folder, pipeline=given, settings={"size": "24px"})))[0].shape == (5, 3, 24, 24)
    pipe.write_text("# for tests\n\ninvertt\n")
    with pytest.raises(smempipe.PipelineError, match=r"train.pipe:3:1.*invertt"):
        feed_of(folder, pipeline=pipe)


def test_mistakes_are_told_at_once(folder, tmp_path):
    with pytest.raises(smempipe.PipelineError, match="gausian"):
        feed_of(folder, pipeline="gausian 2px")
    with pytest.raises(smempipe.PipelineError, match="after the pipeline, others are"):
        picture(1, (50, 40)).save(tmp_path / "a.png")
        picture(2, (40, 50)).save(tmp_path / "b.png")
        list(feed_of(tmp_path, pipeline="invert"))
    for wrong in ({"layout": "CHW"}, {"dtype": "float64"}, {"last": "x"}, {"broken": "x"}, {"prefetch": 0}):
        with pytest.raises(ValueError):
            feed_of(folder, **wrong)
    with pytest.raises(FileNotFoundError):
        feed_of(tmp_path / "none")
    with pytest.raises(smempipe.PipelineError, match="--std is above 0"):
        feed_of(folder, dtype="float32", std=0)


def children(name=None):
    """Processes of this one, and theirs."""
    found, grown = {os.getpid()}, True
    stats = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = entry.read_text()
        except OSError:
            continue
        pid, rest = int(text.split(" ", 1)[0]), text.rsplit(")", 1)[1].split()
        if rest[0] != "Z":
            stats[pid] = int(rest[1]), text[text.index("(") + 1:text.rindex(")")]
    while grown:
        more = {pid for pid, (parent, _) in stats.items() if parent in found} - found
        grown, found = bool(more), found | more
    return {pid for pid in found - {os.getpid()} if name in (None, stats[pid][1])}


def wait_for(condition):
    until = time.monotonic() + 20
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


def test_killed_decoders_cost_nothing(folder):
    whole = names_of(feed_of(folder, seed=9))
    for _ in range(3):
        got = []
        feed = feed_of(folder, seed=9, batch=2)
        for images, _, names in feed:
            got += names
            assert all(np.array_equal(i.transpose(1, 2, 0), square(folder / n)) for i, n in zip(images, names))
            for pid in children("smp-decoder"):
                with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
                    os.kill(pid, signal.SIGKILL)
        assert got == whole
        feed.close()


def test_a_killed_process_is_told_and_the_next_iteration_goes_on(folder):
    whole, feed, got = names_of(feed_of(folder, seed=9, batch=2)), feed_of(folder, seed=9, batch=2, prefetch=1), []
    with pytest.raises(smempipe.Error, match="was killed .signal 9"):
        for _, _, names in feed:
            got += names
            if len(got) == 6:
                os.kill(feed._server.process.pid, signal.SIGKILL)
    assert got + names_of(feed) == whole


def test_processes_end_with_their_owner(folder):
    before = children()
    for how in ("break", "drop", "close", "exception"):
        feed = feed_of(folder)
        if how == "exception":
            with pytest.raises(ZeroDivisionError):
                for _ in feed:
                    1 / 0
        else:
            for _ in feed:
                break
        assert children() - before
        feed.close() if how == "close" else None
        feed = None
        gc.collect()
        assert wait_for(lambda: children() <= before), how


def test_descriptors_that_no_ask_takes_are_closed(folder):
    feed, forget, index = feed_of(folder), 2, 5  # enum smp_feed_ask_kind

    def opened():
        feed._server.ask(index, b"/none\0")
        feed._server.answer()  # what was asked before is done
        return len(os.listdir(f"/proc/{feed._server.process.pid}/fd"))

    names_of(feed)
    before, head = opened(), struct.pack("=IIQQqQ", forget, 0, 0, 0, -1, 0)
    with open(os.devnull) as file:
        for part in head[:8], head[8:16], head[16:]:
            feed._server.socket.sendmsg([part], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                                  struct.pack("ii", file.fileno(), file.fileno()))])
    assert opened() == before


PROGRAM = """
import sys, os, time
import smempipe
feed = smempipe.Feed(sys.argv[1], sys.argv[2], 2, workers=2)
for images, labels, names in feed:
    if os.environ.get("FORKS") and not os.fork():
        time.sleep(1000)
    print(feed._server.process.pid, flush=True)
    time.sleep(float(sys.argv[3]))
"""


def start(folder, stderr=None, **more):
    return subprocess.Popen([sys.executable, "-B", "-c", PROGRAM, str(folder), SQUARE, "100"], stdout=subprocess.PIPE,
                            stderr=stderr, env={**os.environ, "PYTHONPATH": str(ROOT / "src/python"), **more})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_all(folder, number):
    running = start(folder, stderr=subprocess.PIPE)
    worker = int(running.stdout.readline())
    running.send_signal(number)
    _, told = running.communicate(timeout=20)
    assert (b"KeyboardInterrupt" in told) == (number == signal.SIGINT)
    assert wait_for(lambda: not os.path.exists(f"/proc/{worker}"))


def test_a_forked_child_does_not_hold_the_process(folder):
    running = start(folder, FORKS="1")
    worker = int(running.stdout.readline())
    forked = [pid for pid in children() if pid not in (running.pid, worker)
              and pathlib.Path(f"/proc/{pid}/stat").read_text().split()[3] == str(running.pid)]
    running.kill()
    assert wait_for(lambda: not os.path.exists(f"/proc/{worker}"))
    for pid in forked:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    running.stdout.close()
    running.wait()


def in_child(feed, queue):
    try:
        queue.put(names_of(feed))
    except BaseException as why:
        queue.put(repr(why))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_begin_anew(folder, method):
    context = multiprocessing.get_context(method)
    feed, whole = feed_of(folder, seed=2), names_of(feed_of(folder, seed=2))
    rest = iter(feed)
    got = list(next(rest)[2])
    feed.set_epoch(0)
    queue = context.Queue()
    child = context.Process(target=in_child, args=(feed, queue))
    child.start()
    assert queue.get(timeout=60) == whole
    child.join()
    assert got + [name for _, _, names in rest for name in names] == whole


def test_an_iteration_of_another_process_is_refused(folder):
    feed = feed_of(folder, seed=2)
    rest = iter(feed)
    next(rest)
    queue = multiprocessing.get_context("fork").Queue()

    def go_on():
        try:
            next(rest)
        except RuntimeError as why:
            queue.put(str(why))
    child = multiprocessing.get_context("fork").Process(target=go_on)
    child.start()
    assert "began in another process" in queue.get(timeout=20)
    child.join()
    assert len(list(rest)) == 4


def test_a_slow_consumer_bounds_the_work(folder):
    feed = feed_of(folder, batch=1, prefetch=2)
    for images, _, _ in feed:
        time.sleep(0.01)
        assert feed._pool.made <= 2 + 2 and len(feed._waiting) <= 2


def test_two_iterations_are_one_too_many(folder):
    feed = feed_of(folder)
    first = iter(feed)
    next(first)
    second = iter(feed)
    next(second)
    with pytest.raises(RuntimeError, match="another iteration"):
        next(first)
    assert len(list(second)) == 4
