"""smempipe: pipelines of stages over pictures and sound, as NumPy arrays.

    >>> import numpy as np, smempipe
    >>> picture = np.zeros((480, 640, 3), np.uint8)
    >>> blurred = smempipe.run("gaussian 2px", picture)
    >>> smempipe.measure("stats", picture)["stats"]["mean"]
    array([0., 0., 0.])

A picture is an array of rows, columns and, unless it is gray, channels: uint8, uint16, or float32 where full scale is
0..1. With rate= an array is a sound: frames, or frames and channels, float32 where full scale is -1..1. Arrays are read
where they lie when a row's samples follow each other, and are copied else. Arrays of a GPU (CuPy, PyTorch, whatever has
__cuda_array_interface__ or DLPack) stay there with device="cuda", and the result is a DeviceArray; with another device
they are copied to the host. `smempipe stages` in a shell lists the stages; the language is in `smempipe help
language`. kernel() counts CUDA kernels without a GPU.
"""
import ctypes
import operator
import os
import threading
from ctypes import byref, c_char_p

import numpy as np

from . import _gpu
from . import _library as _c
from ._feed import Feed
from ._gpu import DeviceArray
from ._kernel import Kernel, kernel
from ._library import ArgumentError, Error, FileError, LimitError, PipelineError, Problem

__all__ = ["ArgumentError", "Device", "DeviceArray", "Error", "Feed", "FileError", "Kernel", "LimitError", "Pipeline",
           "PipelineError", "Problem", "kernel", "measure", "probe", "run", "run_file", "version"]
version = __version__ = _c.lib.smempipe_version().decode()

_FORMATS = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.float32))
_PICTURE, _SOUND = 1, 2
_MOST_CHANNELS = 8


def _encode(path):
    encoded = os.fsencode(os.fspath(path))
    if b"\0" in encoded:
        raise ValueError(f"{path!r} holds a character NUL")
    return encoded


def _utf8(text):
    """A text as the library takes it: up to the first NUL, behind which nothing would be read."""
    if not isinstance(text, str):
        raise TypeError(f"a str was expected, not {type(text).__name__}")
    encoded = text.encode()
    if b"\0" in encoded:
        raise ValueError(f"{text!r} holds a character NUL")
    return encoded


def _whole(name, value, bits, least=None):
    """A whole number of so many bits; ctypes would take what is left of a larger one."""
    value = operator.index(value)
    if not (-2 ** bits if least is None else least) <= value < 2 ** bits:
        raise ValueError(f"{name}={value} is too large" if value > 0 else f"{name}={value} is below 0")
    return value


class Device:
    """What runs pipelines: "cpu", "cuda", "cuda:1", "auto" or "simt" (an emulator of a GPU). threads: of the CPU; 0:
    one a core. A device does one run at a time; threads that are to run side by side have a device each."""

    def __init__(self, name="cpu", threads=0):
        self._handle = _c.HANDLE()
        _c.call("device_open", _utf8(name), _whole("threads", threads, 31), byref(self._handle))
        self.spec = name
        self.is_gpu = name.split(":")[0] in ("cuda", "simt")
        self.name = _c.text_of(_c.lib.smempipe_device_name(self._handle))

    def __repr__(self):
        return f"<smempipe.Device {self.spec}: {self.name}>"

    def __del__(self, close=_c.lib.smempipe_device_close):  # at the end of the program the module may be gone
        if getattr(self, "_handle", None):
            close(self._handle)


_lock = threading.Lock()
_devices = {}  # by name: opened when first needed


def _device(device):
    if isinstance(device, Device):
        return device
    name = device or "cpu"
    with _lock:
        if name not in _devices:
            _devices[name] = Device(name)
        return _devices[name]


def _forget_devices():
    """The threads of a device do not live in the child of a fork: they are left alone, and new ones are opened."""
    global _lock
    for device in _devices.values():
        device._handle = None
    _devices.clear()
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_devices)


def _host(array):
    """A NumPy array of whatever holds samples. Those of a GPU are copied to the host."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("a masked array: no stage knows of masks, so write .filled(value)")
    if isinstance(array, np.ndarray):
        return np.asarray(array)  # of np.matrix and the like what it holds
    if isinstance(array, DeviceArray):
        return array.get()
    if hasattr(array, "__cuda_array_interface__") or type(array).__module__.split(".")[0] in ("cupy", "torch") or \
            _gpu.lies_on_a_gpu(array):
        for method in ("get", "cpu"):  # CuPy, PyTorch
            if hasattr(array, method):
                return np.asarray(getattr(array, method)())
        if hasattr(array, "__array__"):  # JAX
            return np.asarray(array)
        raise TypeError(f"{type(array).__name__} holds memory of a GPU and has neither get() nor cpu(): copy it to the "
                        "host first")
    if isinstance(array, (str, bytes, os.PathLike)):
        raise TypeError(f"{array!r} is not an array; run_file takes the names of files")
    made = np.asarray(array)
    if made.dtype == object and hasattr(array, "__dlpack__"):
        made = np.from_dlpack(array)
    if made.dtype == object:
        raise TypeError(f"{type(array).__name__} is not an array of numbers")
    return made


def _advice(dtype, sound):
    """What to write where samples have another type."""
    own = dtype.newbyteorder("=")
    if sound and own != np.float32:
        scale = f" / {-int(np.iinfo(own).min)}" if own.kind == "i" else ""
        return f"a sound is float32, whose full scale is -1..1, so write .astype(numpy.float32){scale}"
    what = f"{own})" if own in _FORMATS else "uint8), where samples are 0..255" if own.kind in "iu" else \
        "float32), where full scale is 0..1"
    return f"there are uint8, uint16 and float32 in this machine's byte order, so write .astype(numpy.{what}"


def _shape(array, rate, alpha):
    """The shape as the library has it."""
    if rate is not None and (isinstance(rate, str) or not np.isscalar(rate)):
        raise TypeError(f"rate= is a number of frames a second, not {rate!r}")
    if array.dtype.kind not in "biufc":
        raise TypeError(f"samples of {array.dtype} are not numbers")
    if array.dtype not in _FORMATS or not array.dtype.isnative or (rate is not None and array.dtype != np.float32):
        raise TypeError(f"samples of {array.dtype}: {_advice(array.dtype, rate is not None)}")
    if rate is None and array.ndim not in (2, 3):
        raise TypeError(f"an array of {array.ndim} dimensions: a picture has rows, columns and perhaps channels; a "
                        "sound is told by rate=")
    if rate is not None and (array.ndim not in (1, 2) or alpha):
        raise TypeError(f"an array of {array.ndim} dimensions: a sound has frames, and perhaps channels, and no alpha")
    if array.size == 0:
        raise ValueError(f"an array of shape {array.shape} has no samples")
    if rate is not None:
        height, width, channels = array.shape[0], 1, array.size // array.shape[0]
    else:
        height, width, channels = array.shape if array.ndim == 3 else (*array.shape, 1)
    if channels > _MOST_CHANNELS:
        hint = ".T" if rate is not None else "numpy.moveaxis(array, 0, -1)"
        hint = f", so write {hint}" if array.shape[0] <= 4 else ""  # which looks like planes
        raise ValueError(f"an array of shape {array.shape} has {channels} channels; the last axis has 1 to "
                         f"{_MOST_CHANNELS}{hint}")
    return _c.Shape(kind=_SOUND if rate is not None else _PICTURE, format=_FORMATS.index(array.dtype), width=width,
                    height=height, channels=channels, alpha=1 if alpha else 0, rate=rate or 0)


def _layout(array, rate, alpha, fixed=False):
    """The shape, and the array with rows that follow each other in memory; fixed: not a copy."""
    shape = _shape(array, rate, alpha)
    pixels = array.reshape(array.shape[0], 1, -1) if rate is not None else array
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    size, (height, width, channels) = array.itemsize, pixels.shape
    rows, columns, samples = pixels.strides
    dense = ((channels == 1 or samples == size) and (width == 1 or columns == channels * size) and
             (height == 1 or (rows >= width * channels * size and rows % size == 0)) and pixels.flags.aligned)
    if not dense and fixed:
        raise ValueError("the samples of a row do not follow each other: on a GPU, make a contiguous copy first")
    if not dense:
        pixels = np.ascontiguousarray(pixels)
    return shape, pixels


def _buffer(shape, pixels, held=None):
    dense = shape.width * shape.channels * pixels.itemsize
    return _c.Buffer(shape=shape, data=pixels.ctypes.data, stride=pixels.strides[0] if shape.height > 1 else dense,
                     on_device=1 if held else 0, stream=held.stream if held else None)


def _array_shape(shape, flat):
    """Of the array for a shape; flat: the input had no axis of channels."""
    if shape.kind == _SOUND:
        return (shape.height,) if flat and shape.channels == 1 else (shape.height, shape.channels)
    if shape.channels == 1 and flat:
        return shape.height, shape.width
    return shape.height, shape.width, shape.channels


def _words(settings):
    """name="2px" as the library takes it. Numbers are written as they are, True and False as yes and no."""
    pairs = [_utf8(("no", "yes")[word] if isinstance(word, (bool, np.bool_)) else str(word))
             for item in settings.items() for word in item]
    return (c_char_p * (len(pairs) + 1))(*pairs, None)


def _findings(result):
    """{statement: {name: value}}: a float of the whole picture, an array of one for each channel, or of lists."""
    found, lines = {}, {}
    for i in range(_c.lib.smempipe_result_count(result)):
        raw = _c.RawValue()
        _c.lib.smempipe_result_get(result, i, byref(raw))
        statement, label = _c.text_of(raw.stage), _c.text_of(raw.label)
        key = (statement, label, raw.line)
        if key not in lines:
            name = label or statement.split()[0].strip("()")
            number = 1 + sum(other == name or other.rsplit(" ", 1)[0] == name for other in found)
            lines[key] = name if number == 1 else f"{name} {number}"
            found[lines[key]] = {}
        value = np.array(raw.list[:raw.count]) if raw.list else _c.text_of(raw.text) if raw.text else raw.value
        found[lines[key]].setdefault(_c.text_of(raw.name), []).append((raw.channel, value))
    for values in found.values():
        for name, rows in values.items():
            whole = len(rows) == 1 and rows[0][0] < 0
            values[name] = rows[0][1] if whole else _together([value for _, value in rows])
    return found


def _together(values):
    same = len({np.shape(value) for value in values}) == 1
    return np.array(values) if same else values


class _Plan:
    """A plan's handle, which lives as long as a thread uses it."""

    def __init__(self, pipeline, shape, measure):
        self.handle = _c.HANDLE()
        _c.call("plan_make", pipeline, byref(shape), int(measure), byref(self.handle))

    def __del__(self, free=_c.lib.smempipe_plan_free):
        free(self.handle)


_MOST_PLANS = 16  # that a pipeline keeps: a program works on few shapes


class Pipeline:
    """A pipeline: a text (a statement a line), or file=, a pipe file. Keywords are values of its parameters:
    Pipeline("param size = 2px\\ngaussian $size", size="3px"). Raises PipelineError with line and column. It may be used
    by several threads at once."""

    def __init__(self, text=None, *, file=None, **settings):
        if (text is None) == (file is None):
            raise TypeError("give a text or file=")
        self.text, self.file, self.settings = text, file, settings
        self._handle, self._plans, self._plan_lock = _c.HANDLE(), {}, threading.Lock()
        if file is None:
            _c.call("compile", _utf8(text), _words(settings), byref(self._handle))
        else:
            _c.call("compile_file", _encode(file), _words(settings), byref(self._handle))
        self.warnings = _c.text_of(_c.lib.smempipe_pipeline_warnings(self._handle))

    def __repr__(self):
        return f"<smempipe.Pipeline {self.file or self.text!r}>"

    def __reduce__(self):
        return _again, (self.text, self.file, self.settings)

    def __del__(self, free=_c.lib.smempipe_pipeline_free):
        if getattr(self, "_handle", None):
            free(self._handle)

    def run(self, array, *, rate=None, alpha=False, device=None, out=None):
        """The output for an array. alpha: the last channel is alpha. out: an array to write into, of the right shape
        and type, whose rows' samples follow each other; it is returned. An array on the GPU that runs gives a
        DeviceArray there."""
        return self._run(array, rate, alpha, device, out, False)[0]

    def measure(self, array, *, rate=None, alpha=False, device=None):
        """What the pipeline measures: {statement: {name: value}}, the statement by its name= or first word."""
        return self._run(array, rate, alpha, device, None, True)[1]

    def run_and_measure(self, array, *, rate=None, alpha=False, device=None, out=None):
        """Both at once: (output, measurements)."""
        return self._run(array, rate, alpha, device, out, False, True)

    def explain(self, shape, dtype=np.uint8, *, rate=None, alpha=False):
        """The steps for arrays of that shape and type, a line each."""
        layout = _shape(np.broadcast_to(np.zeros((), dtype), shape), rate, alpha)  # which takes no memory
        return _c.text_of(_c.lib.smempipe_plan_text(self._plan(layout, False).handle))

    def run_file(self, source, target=None, *, device=None, force=False, strip=False, quality=0, lossless=False, page=0,
                 max_pixels=0, progress=None):
        """From file to file; returns what was measured. target None: only measures. progress(done, all) is called
        between strips; a true result stops the run."""
        failed = []

        def step(_, done, total):
            try:
                return 1 if progress(done, total) else 0
            except BaseException as why:  # goes on where the run was started
                failed.append(why)
                return 1

        options = _c.FileOptions(force=bool(force), strip=bool(strip), quality=_whole("quality", quality, 31),
                                 lossless=bool(lossless), page=_whole("page", page, 63),
                                 max_pixels=_whole("max_pixels", max_pixels, 64, 0))
        if progress:
            options.progress = _c.PROGRESS(step)
        result = _c.HANDLE()
        try:
            _c.call("run_file", self._handle, _device(device)._handle, _encode(source),
                    None if target is None else _encode(target), byref(options), byref(result))
            return _findings(result)
        except Error as why:
            raise (failed.pop() if failed else why) from None  # kept, it would hold itself by way of the callback
        finally:
            _c.lib.smempipe_result_free(result)

    def _plan(self, shape, measure):
        key = (shape.kind, shape.format, shape.width, shape.height, shape.channels, shape.alpha, shape.rate, measure)
        with self._plan_lock:
            if key in self._plans:
                return self._plans[key]
        plan = _Plan(self._handle, shape, measure)
        with self._plan_lock:
            self._plans[key] = plan
            if len(self._plans) > _MOST_PLANS:
                del self._plans[next(iter(self._plans))]
        return plan

    def _run(self, array, rate, alpha, device, out, measure, both=False):
        device = _device(device)
        held = array if isinstance(array, _gpu.Held) else _gpu.hold(array, device)
        array = held.header if held else _host(array)
        shape, pixels = _layout(array, rate, alpha, bool(held))
        flat = array.ndim == (1 if rate is not None else 2) or (array.ndim == 3 and array.shape[2] > 1)
        source, handle, result = _buffer(shape, pixels, held), device._handle, _c.HANDLE()
        wants = byref(result) if measure or both else None
        try:
            try:
                plan = self._plan(shape, measure)
            except ArgumentError:
                if out is not None or held:
                    raise
                made = self._run_at_once(handle, source, measure, flat, wants)
            else:
                made = self._run_plan(plan, device, source, pixels, measure, flat, out, wants, held)
            return made, _findings(result) if wants else None
        finally:
            _c.lib.smempipe_result_free(result)

    @staticmethod
    def _run_plan(plan, device, source, pixels, measure, flat, out, wants, held):
        handle = device._handle
        if measure:
            _c.call("plan_run", plan.handle, handle, byref(source), None, wants)
            return None
        shape = _c.lib.smempipe_plan_output(plan.handle)
        wanted, dtype = _array_shape(shape, flat), _FORMATS[shape.format]
        if out is None:
            out = DeviceArray(device, wanted, dtype) if held else np.empty(wanted, dtype)
        target = _gpu.hold(out, device)
        array = target.header if target else out
        if not isinstance(array, np.ndarray) or array.shape != wanted or array.dtype != dtype or \
                not array.flags.writeable:
            raise ValueError(f"out is not a writable array of shape {wanted} and type {dtype}")
        layout, rows = _layout(array, shape.rate if shape.kind == _SOUND else None, shape.alpha, bool(target))
        if rows.ctypes.data != array.ctypes.data:
            raise ValueError("the samples of a row of out do not follow each other")
        if np.may_share_memory(pixels, array):
            raise ValueError("out and the input share memory")
        _c.call("plan_run", plan.handle, handle, byref(source), byref(_buffer(layout, rows, target)), wants)
        return out

    def _run_at_once(self, handle, source, measure, flat, wants):
        """Where the size of the output depends on samples."""
        made = _c.Buffer()
        _c.call("run", self._handle, handle, byref(source), None if measure else byref(made), wants)
        if measure:
            return None
        try:
            shape = made.shape
            dtype = _FORMATS[shape.format]
            size = shape.width * shape.height * shape.channels * dtype.itemsize
            memory = (ctypes.c_ubyte * size).from_address(made.data)
            return np.frombuffer(memory, dtype).reshape(_array_shape(shape, flat)).copy()
        finally:
            _c.lib.smempipe_free(made.data)


def _again(text, file, settings):
    return Pipeline(text, file=file, **settings)


def run(pipeline, array, *, rate=None, alpha=False, device=None, out=None, **settings):
    """The output of a pipeline (a text, or a Pipeline) for an array."""
    return _compiled(pipeline, settings).run(array, rate=rate, alpha=alpha, device=device, out=out)


def measure(pipeline, array, *, rate=None, alpha=False, device=None, **settings):
    """What a pipeline measures in an array: {statement: {name: value}}."""
    return _compiled(pipeline, settings).measure(array, rate=rate, alpha=alpha, device=device)


def run_file(pipeline, source, target=None, *, device=None, force=False, strip=False, quality=0, lossless=False, page=0,
             max_pixels=0, progress=None, **settings):
    """From file to file; returns what was measured. The options are those of Pipeline.run_file."""
    return _compiled(pipeline, settings).run_file(source, target, device=device, force=force, strip=strip,
                                                  quality=quality, lossless=lossless, page=page,
                                                  max_pixels=max_pixels, progress=progress)


def _compiled(pipeline, settings):
    if not isinstance(pipeline, Pipeline):
        return Pipeline(pipeline, **settings)
    if settings:
        raise TypeError("the parameters of a Pipeline are given when it is made")
    return pipeline


def probe(path):
    """What a file holds, from its header: {"kind", "width", "height", "channels", "alpha", "dtype", "rate"}."""
    shape = _c.Shape()
    _c.call("probe", _encode(path), None, byref(shape))
    return {"kind": "sound" if shape.kind == _SOUND else "picture", "width": shape.width, "height": shape.height,
            "channels": shape.channels, "alpha": bool(shape.alpha), "dtype": _FORMATS[shape.format],
            "rate": shape.rate}
