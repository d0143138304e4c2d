"""smempipe.Feed: labels, folders, tar files and states with mistakes in them, and several threads."""
import os
import struct
import tarfile
import threading
import warnings
import zlib

import pytest

import smempipe
from smempipe import _feed

Image = pytest.importorskip("PIL.Image")
SQUARE = "resize 8x8! filter=bilinear arithmetic=fixed"
NAMES = ["0.png", "1.png", "2.png", "3.png", b"\xe9.png".decode(errors="surrogateescape")]


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "set"
    root.mkdir()
    for i, name in enumerate(NAMES):
        Image.new("RGB", (16, 12), (i * 40, 0, 0)).save(root / name)
    return root


def feed_of(files, pipeline=SQUARE, **more):
    return smempipe.Feed(files, pipeline, **{"batch": 2, "workers": 2, "shuffle": False, "labels": None, **more})


def labels_of(folder, data):
    table = folder.parent / "labels.csv"
    table.write_bytes(data)
    feed = feed_of(folder, labels=table, batch=9)
    return next(iter(feed))[1].tolist(), feed.classes


def test_a_table_of_labels(folder):
    rows = b"0.png,3\n1.png, 1\n2.png,-2\n3.png,1\n\xe9.png,1\n"
    assert labels_of(folder, b"\xef\xbb\xbf" + rows) == ([3, 1, -2, 1, 1], None)  # a BOM, as Excel writes
    assert labels_of(folder, rows.replace(b"3\n", b"0.5\n", 1)) == ([0.5, 1, -2, 1, 1], None)
    with pytest.raises(ValueError, match="labels.csv:6: 0.png has another label in a row above"):
        labels_of(folder, rows + b"0.png,x\n")
    with pytest.raises(ValueError, match="labels.csv:1: 0.png has no label"):
        labels_of(folder, rows.replace(b"3\n", b"\n", 1))
    with pytest.raises(ValueError, match=r"labels.csv: the label of 2.png is '--2', and that of 0.png a number, 3"):
        labels_of(folder, rows.replace(b"-2", b"--2"))
    with pytest.raises(ValueError, match="2.png: its label 9{20} is no number of 64 bits"):
        labels_of(folder, rows.replace(b"-2", b"9" * 20))


def test_a_table_of_labels_takes_no_time_by_the_square_of_its_rows(tmp_path):
    from smempipe._feed_files import Files
    names = [f"{i}.png" for i in range(50000)]
    (tmp_path / "labels.csv").write_text("".join(f"{name},1\n" for name in names))
    done = []
    work = threading.Thread(target=lambda: done.append(Files(names, tmp_path / "labels.csv")), daemon=True)
    work.start()
    work.join(20)
    assert done and done[0].labels.sum() == 50000


def test_other_labels(folder):
    for labels, told in (({name: 2 ** 63 for name in NAMES}, "64 bits"), (dict.fromkeys(NAMES), "has no label")):
        with pytest.raises(ValueError, match=told):
            feed_of(folder, labels=labels)
    with pytest.raises(TypeError, match="labels is a list"):
        feed_of(folder, labels=[1] * 5)
    assert next(iter(feed_of({folder / "0.png": 7})))[1].tolist() == [7]


def test_files_without_an_order_or_of_two_kinds_are_refused(folder):
    for files, error, told in (({"a.png"}, TypeError, "sorted"), ([], ValueError, "empty"), ({}, ValueError, "empty"),
                               (["a.tar", "a.png"], ValueError, "not both")):
        with pytest.raises(error, match=told):
            feed_of(files)


def test_a_picture_that_does_not_fit_is_left_out_where_others_went_through(folder):
    Image.new("RGB", (4, 4)).save(folder / "1.png")
    crop = "crop width=8 height=8"
    with pytest.raises(smempipe.PipelineError, match="1.png"):
        list(feed_of(folder, crop))
    with pytest.warns(UserWarning, match="1 picture could not be read in epoch 0; the first: .*1.png"):
        assert [len(images) for images, _, _ in feed_of(folder, crop, broken="skip")] == [1, 2, 1]
    with pytest.raises(smempipe.PipelineError):
        list(feed_of(folder, "crop width=99 height=99", broken="skip"))


def test_links_end(folder):
    (folder / "self.png").symlink_to("self.png")
    assert len(feed_of(folder, broken="skip")._files.names) == 6
    (folder / "a").symlink_to(".")
    with pytest.raises(ValueError, match="set/a: the link leads to .*/set, and lies in it"):
        feed_of(folder)
    (folder / "a").unlink()
    for i in range(30):  # 2^30 names
        (folder / f".{i}").mkdir()
        for name in "ab":
            (folder / f".{i}" / name).symlink_to(f"../.{i + 1}")
    (folder / ".30").mkdir()
    (folder / "c").symlink_to(".0")
    with pytest.raises(ValueError, match="b: the link leads to .*/.30, as .*a does"):
        feed_of(folder)


@pytest.fixture
def tar(folder):
    def make(**labels):
        with tarfile.open(folder.parent / "a.tar", "w") as out:
            for name in NAMES[:4]:
                out.add(folder / name, name)
            for end, data in labels.items():
                (folder.parent / "label").write_bytes(data)
                out.add(folder.parent / "label", f"0.{end}")
        return folder.parent / "a.tar"
    return make


def test_labels_of_tar_files_are_named_where_they_are_wrong(tar):
    for labels in ({"cls": b"\xff"}, {"cls": b"9" * 30}, {"txt": b"\xff"}, {"json": b"[" * 100000}):
        with pytest.raises(ValueError, match="a.tar/0: its "):
            next(iter(feed_of([tar(**labels)], labels="auto", batch=1)))


@pytest.mark.parametrize("change", ["cut", "replaced", "pipe"])
def test_a_tar_file_that_changes_is_told(tar, change):
    path = tar(cls=b"1")
    feed = feed_of([path], labels="auto", broken="skip", batch=1)
    steps = iter(feed)
    next(steps)
    if change == "cut":
        os.truncate(path, 1024)
    else:
        path.rename(path.with_suffix(".old"))
        os.mkfifo(path) if change == "pipe" else tar(cls=b"2")
    with pytest.raises(smempipe.FileError, match="a.tar is not the file any more"):
        list(steps)
    with pytest.raises(smempipe.FileError):
        feed.shape = None  # it looks at a picture again
        next(iter(feed))


def test_states_and_epochs_are_checked(folder):
    feed = feed_of(folder)
    state = feed.state_dict()
    for wrong in ({}, None, {**state, "batch": -1}, {**state, "batch": 4}, {**state, "epoch": -1}):
        with pytest.raises(ValueError, match="state|epoch=-1"):
            feed.load_state_dict(wrong)
    for epoch in (-1, 2 ** 32):
        with pytest.raises(ValueError, match=f"epoch={epoch}: 0 to 4294967295"):
            feed.set_epoch(epoch)


def test_a_state_is_of_the_same_files_wherever_they_lie(folder):
    state = feed_of(folder).state_dict()
    moved = folder.rename(folder.parent / "moved")
    feed_of(moved).load_state_dict(state)
    files = [moved / name for name in NAMES]
    feed_of(files).load_state_dict(state)
    for others in (files[::-1], [*files[:4], moved / "4.png"]):
        with pytest.raises(ValueError, match="of other files"):
            feed_of(others).load_state_dict(state)


def test_batches_of_one_number_keep_to_their_own_memory(folder):
    feed = feed_of(folder, batch=1)
    next(iter(feed))
    server, kept = feed._server, []
    for i in range(60):
        kept.append(feed._memory())
        server.ask(_feed._BATCH, _feed._SAMPLE.pack(0, -1, 0) + os.fsencode(folder / NAMES[i % 5]) + b"\0", count=1,
                   number=77, buffer=kept[i].number)
    answers = 0
    while answers < 60:
        _, number, _, told = server.answer()
        assert told == b""
        answers += number == 77
    assert [memory.map[0] for memory in kept] == [i % 5 * 40 for i in range(60)]


def test_a_limit_is_told_without_the_commands_options(folder):
    head = b"IHDR" + struct.pack(">IIBBBBB", 100000, 100000, 8, 2, 0, 0, 0)
    magic, end = b"\x89PNG\r\n\x1a\n\0\0\0\r", struct.pack(">I", zlib.crc32(head)) + b"\0" * 64
    (folder / "0.png").write_bytes(magic + head + end)
    with pytest.raises(smempipe.FileError, match="0.png: .*100000") as told:
        next(iter(feed_of(folder)))
    assert "--" not in str(told.value)
    with pytest.raises(smempipe.FileError, match="16 x 12 pixels, more than the limit of 3"):
        next(iter(feed_of(folder, max_pixels=3, shuffle=False, broken="skip")))


def test_comments_keep_the_lines_that_mistakes_are_told_of(folder):
    with pytest.raises(smempipe.PipelineError, match="-e:3:1"):
        feed_of(folder, pipeline="# small\n\nresise 8x8!")


def test_threads_wait_for_each_other_and_closed_feeds_tell(folder):
    feed, told = feed_of(folder, batch=1), []

    def take():
        try:
            told.append(len(list(feed)))
        except RuntimeError as why:
            told.append(str(why))

    threads = [threading.Thread(target=take, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(told) == 4 and 5 in told and {type(t) for t in told} <= {int, str}
    steps = iter(feed)
    next(steps)
    feed.close()
    with pytest.raises(RuntimeError, match="closed"):
        next(steps)
    assert len(list(feed)) == 5


def test_nothing_is_left_open(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            feed = feed_of(folder, labels="auto")
            list(feed)
            feed.close()
