"""smempipe over NumPy arrays, against NumPy and scipy.ndimage: any shape, any strides, any channels."""
import gc
import math
import pickle
import threading
import weakref

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
import scipy.ndimage as ndimage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import smempipe

settings.register_profile("few", max_examples=25, deadline=None, derandomize=True, database=None,
                          suppress_health_check=list(HealthCheck))
settings.load_profile("few")

SIDES = st.integers(1, 24)
SHAPES = st.one_of(st.tuples(SIDES, SIDES), st.tuples(SIDES, SIDES, st.integers(1, 8)))
BYTES = arrays.arrays(np.uint8, SHAPES)
INTEGERS = st.sampled_from([np.uint8, np.uint16]).flatmap(lambda kind: arrays.arrays(kind, SHAPES))
FLOATS = arrays.arrays(np.float32, SHAPES, elements=st.floats(0, 1, width=32))


def planes(function, array):
    """A filter of scipy for each channel."""
    if array.ndim == 2:
        return function(array)
    return np.stack([function(array[..., c]) for c in range(array.shape[2])], axis=-1)


@given(INTEGERS)
def test_invert(array):
    assert np.array_equal(smempipe.run("invert", array), np.iinfo(array.dtype).max - array)


@given(INTEGERS)
def test_transpose(array):
    assert np.array_equal(smempipe.run("transpose", array), np.swapaxes(array, 0, 1))


@given(BYTES)
def test_median(array):
    assert np.array_equal(smempipe.run("median 3px", array),
                          planes(lambda plane: ndimage.median_filter(plane, 3, mode="nearest"), array))


@given(BYTES)
def test_dilate(array):
    assert np.array_equal(smempipe.run("dilate 5px", array),
                          planes(lambda plane: ndimage.grey_dilation(plane, (5, 5), mode="nearest"), array))


@given(FLOATS, st.floats(0.5, 3))
def test_gaussian(array, sigma):
    got = smempipe.run(f"gaussian {sigma:.6f}px", array)
    sigma = float(f"{sigma:.6f}")
    how = {"mode": "nearest", "radius": math.ceil(4 * sigma)}
    wanted = planes(lambda plane: ndimage.gaussian_filter(plane.astype(float), sigma, **how), array)
    assert got.dtype == np.float32 and np.allclose(got, wanted, atol=2e-6)


@given(BYTES)
def test_measure(array):
    found = smempipe.measure("stats\nhistogram bins=256 name=all", array)
    channels = array.reshape(array.shape[0] * array.shape[1], -1)
    assert np.allclose(found["stats"]["mean"], channels.mean(axis=0))
    assert np.array_equal(found["stats"]["max"], channels.max(axis=0))
    counts = np.stack([np.bincount(column, minlength=256) for column in channels.T])
    assert np.array_equal(found["all"]["counts"], counts)


VIEWS = [lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a[::2], lambda a: a[:, ::2], lambda a: a[1:, 1:],
         lambda a: a[..., ::-1] if a.ndim == 3 else a, lambda a: np.asfortranarray(a), lambda a: np.swapaxes(a, 0, 1),
         lambda a: np.broadcast_to(a[:1], a.shape), lambda a: np.lib.stride_tricks.as_strided(a[:1, :1], a.shape)]


@given(st.sampled_from([np.uint8, np.uint16, np.float32]), st.sampled_from(VIEWS), st.sampled_from([None, 1, 3, 4]))
def test_views(kind, view, channels):
    """Whatever the strides are, the result is that of a copy, and the input is untouched."""
    shape = (13, 11) if channels is None else (13, 11, channels)
    array = (np.arange(np.prod(shape)) * 37 % 251).reshape(shape).astype(kind)
    if kind == np.float32:
        array /= 256
    seen = view(array)
    before = seen.copy()
    assert np.array_equal(smempipe.run("box 3px", seen), smempipe.run("box 3px", before))
    assert np.array_equal(seen, before)


def test_rows_with_gaps_are_read_where_they_lie():
    wide = np.arange(40 * 60, dtype=np.uint8).reshape(40, 60)
    part = wide[5:35, 7:50]
    _, pixels = smempipe._layout(part, None, False)
    assert np.shares_memory(pixels, wide)


def test_out_is_written_in_place():
    picture = np.arange(20 * 30 * 3, dtype=np.uint16).reshape(20, 30, 3)
    frame = np.zeros((24, 40, 3), np.uint16)
    out = frame[2:22, 5:35]
    assert smempipe.run("invert", picture, out=out) is out
    assert np.array_equal(out, 65535 - picture)
    frame[2:22, 5:35] = 0
    assert not frame.any()
    for wrong in (np.empty((20, 30), np.uint16), np.empty((20, 30, 3), np.uint8), picture[..., ::-1], picture):
        with pytest.raises(ValueError):
            smempipe.run("invert", picture, out=wrong)


def test_channels_follow_the_input():
    colour = np.zeros((6, 5, 3), np.uint8)
    assert smempipe.run("gray", colour).shape == (6, 5)
    assert smempipe.run("invert", colour[..., :1]).shape == (6, 5, 1)
    assert smempipe.run("depth 16bit", colour).dtype == np.uint16
    clear = np.zeros((6, 5, 4), np.uint8)
    assert np.array_equal(smempipe.run("invert", clear, alpha=True)[..., 3], clear[..., 3])


def test_sound():
    wave = np.sin(np.arange(48000) / 10).astype(np.float32) / 2
    assert smempipe.run("gain 0dB", wave, rate=48000).shape == wave.shape
    stereo = np.stack([wave, -wave], axis=1)
    assert np.abs(smempipe.run("gain -6.0206dB", stereo, rate=48000) - stereo / 2).max() < 1e-6
    quiet = np.concatenate([np.zeros(20000, np.float32), wave, np.zeros(20000, np.float32)])
    assert len(wave) <= len(smempipe.run("trim auto", quiet, rate=48000)) < len(quiet)
    assert smempipe.run("resample 24kHz", wave, rate=48000).shape == (24000,)


def test_mistakes_have_places():
    with pytest.raises(smempipe.PipelineError) as caught:
        smempipe.Pipeline("gray\ngaussian sigam=2px\nsobbel")
    error = caught.value
    assert (error.line, error.column, error.file) == (2, 10, "<text>")
    assert "sigma" in error.hint and "^" in str(error) and len(error.problems) == 2
    assert error.problems[1].line == 3 and isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert again.line == 2 and str(again) == str(error)
    with pytest.raises(smempipe.PipelineError) as caught:  # when the shape is known
        smempipe.run("invert\ncrop width=50px height=5px", np.zeros((9, 9), np.uint8))
    assert caught.value.line == 2
    with pytest.raises(smempipe.FileError) as caught:
        smempipe.probe("/no/such.png")
    assert caught.value.file == "/no/such.png"


@pytest.mark.parametrize("array", [np.zeros((4, 4)), np.zeros(4, np.uint8), np.zeros((0, 4), np.uint8),
                                   np.zeros((4, 4), ">u2"), np.zeros((2, 2, 2, 2), np.uint8), np.zeros((4, 4), bool)])
def test_what_is_no_picture(array):
    with pytest.raises((TypeError, ValueError)):
        smempipe.run("invert", array)


def test_nothing_is_cut_at_a_nul():
    for call in (lambda: smempipe.Pipeline("gray\0\nsobbel"), lambda: smempipe.Pipeline(file="a.pipe\0b"),
                 lambda: smempipe.Pipeline("param s = 2px\ngaussian $s", s="1px\0"), lambda: smempipe.Device("cpu\0x"),
                 lambda: smempipe.probe("in.png\0")):
        with pytest.raises(ValueError, match="NUL"):
            call()


def test_types_that_are_none_say_what_to_write():
    for kind, words in ((np.int64, "uint8.*0..255"), (np.float64, "float32.*0..1"), (">u2", r"uint16\)$"),
                        (">f4", r"float32\)$")):
        with pytest.raises(TypeError, match=words):
            smempipe.run("invert", np.zeros((4, 4), kind))


def test_sounds_that_are_none_say_what_to_write():
    for array, words in ((np.zeros(8, np.int16), r"-1\.\.1.*float32\) / 32768$"),
                         (np.zeros(8), r"-1\.\.1.*float32\)$"), (np.zeros((2, 48), np.float32), r"48 channels.*\.T$"),
                         (np.zeros((2, 4, 8), np.float32), "3 dimensions: a sound")):
        with pytest.raises((TypeError, ValueError), match=words):
            smempipe.run("invert", array, rate=48000)
    with pytest.raises(TypeError, match="frames a second, not '48kHz'"):
        smempipe.run("gain 0dB", np.zeros(8, np.float32), rate="48kHz")


def test_what_is_no_array_is_called_so():
    for what, words in (("in.png", "run_file"), (None, "NoneType is not an array"),
                        (np.zeros((2, 2), "S3"), "not numbers"),
                        (np.ma.zeros((2, 2), np.uint8), "filled"), (np.zeros((3, 20, 30), np.uint8), "moveaxis")):
        with pytest.raises((TypeError, ValueError), match=words):
            smempipe.run("invert", what)
    for call in (lambda: smempipe.Pipeline(b"gray"), lambda: smempipe.Device(3)):
        with pytest.raises(TypeError, match="a str was expected, not (bytes|int)"):
            call()


def test_settings_are_told_by_their_own_name():
    with pytest.raises(smempipe.PipelineError) as caught:
        smempipe.Pipeline("param s = 2px\ngaussian $s", t="1px")
    assert (caught.value.file, caught.value.line, caught.value.column) == ("<settings>", 1, 1)
    assert "--" not in str(caught.value)
    clipped = smempipe.run("param all = no\ncrop x=1px y=0px width=9px height=1px clip=$all",
                           np.zeros((4, 4), np.uint8), all=True)
    assert clipped.shape == (1, 3)


def test_hints_name_no_option_of_the_command(tmp_path):
    np.save(tmp_path / "in.npy", np.zeros((4, 4), np.uint8))
    for options, words in (({}, "force=1"), ({"force": True, "max_pixels": 3}, "limit with max_pixels")):
        with pytest.raises(smempipe.Error) as caught:
            smempipe.run_file("invert", tmp_path / "in.npy", tmp_path / "in2.npy", **options)
            smempipe.run_file("invert", tmp_path / "in.npy", tmp_path / "in2.npy", **options)
        assert words in caught.value.hint and "--" not in str(caught.value)
    smempipe.run_file("invert", tmp_path / "in.npy", tmp_path / "in.png")
    whole = (tmp_path / "in.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[:-14])
    with pytest.raises(smempipe.Error) as caught:
        smempipe.run_file("invert", tmp_path / "cut.png", tmp_path / "out.png")
    assert caught.value.hint == "copy or download it again"


def test_numbers_are_not_cut(tmp_path):
    np.save(tmp_path / "in.npy", np.zeros((4, 4), np.uint8))
    for options in ({"max_pixels": -1}, {"quality": 2 ** 32 + 5}, {"page": 2 ** 64 + 1}, {"page": -1}):
        with pytest.raises(ValueError):
            smempipe.run_file("invert", tmp_path / "in.npy", tmp_path / "out.png", **options)
    for options in ({"quality": "90"}, {"max_pixels": 1e6}):
        with pytest.raises(TypeError):
            smempipe.run_file("invert", tmp_path / "in.npy", tmp_path / "out.png", **options)
    with pytest.raises(TypeError):
        smempipe.Device("cpu", "2")


def test_a_failing_callback_leaves_nothing_behind(tmp_path):
    np.save(tmp_path / "in.npy", np.zeros((4, 4), np.uint8))
    pipeline = smempipe.Pipeline("invert")
    freed = weakref.ref(pipeline)
    with pytest.raises(ZeroDivisionError):
        pipeline.run_file(tmp_path / "in.npy", tmp_path / "out.npy", progress=lambda done, all: 1 / 0)
    del pipeline
    gc.collect()
    assert freed() is None


def test_measuring_nothing_is_a_mistake():
    with pytest.raises(smempipe.PipelineError, match="measures nothing"):
        smempipe.measure("invert", np.zeros((4, 4), np.uint8))


def test_explaining_takes_no_memory_of_a_picture():
    assert "1000000x1000000" in smempipe.Pipeline("invert").explain((1000000, 1000000, 3))


def test_buffers_and_interfaces():
    class Interface:
        def __init__(self, array):
            self.array = array
            self.__array_interface__ = array.__array_interface__

    class Gpu:
        __cuda_array_interface__ = {}

        def __init__(self, array):
            self.array = array

        def get(self):
            return self.array

    picture = np.arange(64, dtype=np.uint8).reshape(8, 8)
    for held in (Interface(picture), memoryview(picture), Gpu(picture)):
        assert np.array_equal(smempipe.run("invert", held), 255 - picture)
    class ByDlpack:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    class GpuByDlpack(ByDlpack):
        def __dlpack_device__(self):
            return 2, 0

    class GpuByArray(GpuByDlpack):  # as JAX
        def __array__(self, dtype=None, copy=None):
            return self.array

    for held in (ByDlpack(picture), GpuByArray(picture)):
        assert np.array_equal(smempipe.run("invert", held), 255 - picture)
    with pytest.raises(TypeError, match="memory of a GPU"):
        smempipe.run("invert", GpuByDlpack(picture))
    view = memoryview(bytes(8)).cast("B", (2, 4))
    assert np.array_equal(smempipe.run("invert", view), np.full((2, 4), 255, np.uint8))


class Lent:
    """An array of another library, by the interface alone."""

    def __init__(self, array, step=1):
        self.owner = array
        rows, columns, *rest = array.shape
        strides = tuple(array.header.strides)
        self.__cuda_array_interface__ = {
            "version": 3, "shape": ((rows + step - 1) // step, columns, *rest), "typestr": array.dtype.str,
            "data": (array.header.ctypes.data, False), "strides": (strides[0] * step, *strides[1:]), "stream": 1}


class Packed:
    """The same by DLPack, as one on a GPU tells it."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, stream=None):
        assert stream == 1
        return self.array.__dlpack__()


def test_arrays_on_a_gpu_stay_there():
    gpu = smempipe.Device("simt")
    picture = (np.arange(40 * 30 * 3) * 7 % 251).astype(np.uint8).reshape(40, 30, 3)
    there = smempipe.DeviceArray(gpu, picture.shape, picture.dtype)
    assert smempipe.run("invert", picture, device=gpu, out=there) is there  # from the host to the GPU
    assert np.array_equal(there.get(), 255 - picture)
    wanted = smempipe.run("gaussian 1px", 255 - picture)
    for array in (there, Lent(there), Packed(there)):
        result = smempipe.run("gaussian 1px", array, device=gpu)
        assert isinstance(result, smempipe.DeviceArray) and result.shape == picture.shape
        assert np.array_equal(result.get(), wanted)
        assert np.array_equal(np.from_dlpack(result), wanted)
        assert np.array_equal(smempipe.measure("stats", array, device=gpu)["stats"]["mean"],
                              (255 - picture).reshape(-1, 3).mean(axis=0))
    assert np.array_equal(smempipe.run("invert", Lent(there, 2), device=gpu).get(), picture[::2])  # rows with gaps
    host = np.empty_like(picture)
    assert smempipe.run("invert", there, device=gpu, out=host) is host and np.array_equal(host, picture)
    assert np.array_equal(smempipe.run("invert", there), picture)  # on the CPU: copied
    wave = np.sin(np.arange(3000, dtype=np.float32) / 9)
    sound = smempipe.DeviceArray(gpu, wave.shape, wave.dtype)
    smempipe.run("gain 0dB", wave, rate=8000, device=gpu, out=sound)
    assert np.array_equal(smempipe.run("gain -6dB", sound, rate=8000, device=gpu).get(),
                          smempipe.run("gain -6dB", wave, rate=8000))


class Elsewhere:
    """An array of a real GPU, at an address that nobody here may read through."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {"version": 2, "shape": array.shape, "typestr": array.dtype.str,
                                         "data": (4096, False)}

    def get(self):
        return self.array


def test_an_emulated_gpu_reads_no_memory_of_a_real_one():
    picture = np.arange(72, dtype=np.uint8).reshape(8, 9)
    result = smempipe.run("invert", Elsewhere(picture), device="simt")
    assert isinstance(result, np.ndarray) and np.array_equal(result, 255 - picture)


def test_dlpack_lends_and_does_not_copy():
    there = smempipe.DeviceArray(smempipe.Device("simt"), (8, 9), np.uint8)
    there.__dlpack__(stream=None, max_version=(1, 1), dl_device=(1, 0), copy=False)
    for wish in ({"copy": True}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError, match="get"):
            there.__dlpack__(**wish)
    lent = np.from_dlpack(there)
    del there
    assert lent.shape == (8, 9) and not lent.any()  # the memory lives as long as somebody sees it


def test_arrays_on_a_gpu_that_do_not_fit():
    gpu, other = smempipe.Device("simt"), smempipe.Device("simt")
    there = smempipe.DeviceArray(gpu, (8, 9), np.uint8)
    turned = Lent(there)
    turned.__cuda_array_interface__["strides"] = (1, 9)
    turned.__cuda_array_interface__["shape"] = (9, 8)
    for array, words in ((turned, "contiguous"), (there, "on another device")):
        with pytest.raises(ValueError, match=words):
            smempipe.run("invert", array, device=gpu if array is turned else other)
    with pytest.raises(ValueError, match="share memory"):
        smempipe.run("invert", there, device=gpu, out=there)
    with pytest.raises(smempipe.ArgumentError, match="none of its own"):
        smempipe.DeviceArray(smempipe.Device("cpu"), (2, 2), np.uint8)
    with pytest.raises(AttributeError):
        there.__cuda_array_interface__


def test_files(tmp_path):
    np.save(tmp_path / "in.npy", np.full((10, 12, 3), 3, np.uint8))
    steps = []
    found = smempipe.Pipeline("param by = 1\nstats\nadd {$by}", by="0.5").run_file(
        tmp_path / "in.npy", tmp_path / "out.npy", progress=lambda done, all: steps.append((done, all)))
    assert np.array_equal(found["stats"]["mean"], [3, 3, 3]) and steps
    assert np.load(tmp_path / "out.npy")[0, 0, 0] == 130 or np.load(tmp_path / "out.npy")[0, 0, 0] == 131
    with pytest.raises(smempipe.FileError):
        smempipe.run_file("invert", tmp_path / "in.npy", tmp_path / "out.npy")
    smempipe.run_file("invert", tmp_path / "in.npy", tmp_path / "out.npy", force=True)
    assert np.load(tmp_path / "out.npy")[0, 0, 0] == 252

    def fail(done, all):
        raise KeyError("mine")

    with pytest.raises(KeyError):
        smempipe.Pipeline("invert").run_file(tmp_path / "in.npy", tmp_path / "other.npy", progress=fail)
    assert not (tmp_path / "other.npy").exists()


def test_threads_and_pickles():
    pipeline = pickle.loads(pickle.dumps(smempipe.Pipeline("param s = 2px\ngaussian $s", s="1px")))
    pictures = [np.full((20, 20 + i), i, np.uint8) for i in range(24)]
    results = [None] * len(pictures)

    def work(first):
        for i in range(first, len(pictures), 4):
            results[i] = pipeline.run(pictures[i])

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, b) for a, b in zip(pictures, results))
    assert "gaussian" in pipeline.explain((20, 20, 3))
