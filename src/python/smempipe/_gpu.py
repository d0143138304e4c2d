"""Arrays in a GPU's memory: those of others by __cuda_array_interface__ or DLPack, and smempipe's own. Nothing is
copied to the host. NumPy arrays stand for them as headers (shape, strides, address) that nobody reads through."""
import ctypes
import weakref
from ctypes import POINTER, Structure, byref, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from ctypes import py_object

import numpy as np

from . import _library as _c

_CPU, _CUDA = 1, 2  # kinds of devices of DLPack
_NAME = b"dltensor"


# The structures of DLPack 0.x (dlpack.h), which every version still hands out where no other is asked for.
class _Device(Structure):
    _fields_ = [("type", c_int32), ("id", c_int32)]


class _Type(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class _Tensor(Structure):
    _fields_ = [("data", c_void_p), ("device", _Device), ("ndim", c_int32), ("dtype", _Type),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


_DELETER = ctypes.CFUNCTYPE(None, c_void_p)


class _Managed(Structure):
    _fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", _DELETER)]


_capsule_new = ctypes.PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
_capsule_valid = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_capsule_get_raw = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_capsule_get = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class Held:
    """An array on a GPU while a run uses it."""

    def __init__(self, header, stream, owner):
        self.header, self.stream, self.owner = header, stream, owner


class _Address:
    def __init__(self, address, shape, strides, dtype):
        self.__array_interface__ = {"version": 3, "shape": tuple(shape), "typestr": dtype.str, "data": (address, False),
                                    "strides": None if strides is None else tuple(strides)}


def header(address, shape, strides, dtype):
    return np.asarray(_Address(address, shape, strides, dtype))


def lies_on_a_gpu(array):
    """By what DLPack tells: of libraries that have no __cuda_array_interface__."""
    return hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] == _CUDA


def _index(device):
    return int(device.spec.partition(":")[2] or 0)


def hold(array, device):
    """The array where it lies on the device; None: it is none of a GPU's, or the device is none. An emulated GPU has
    its own memory alone: an array of a real one is none of its."""
    if not device.is_gpu:
        return None
    if isinstance(array, DeviceArray):
        if array.device is not device and (array._is_emulated() or array.__dlpack_device__()[1] != _index(device)):
            raise ValueError(f"the array lies on another device: {array.device!r}")
        return Held(array.header, None, array)
    packed = lies_on_a_gpu(array)
    interface = getattr(array, "__cuda_array_interface__", None)
    if packed and array.__dlpack_device__()[1] != _index(device) and _is_real(device):
        index = array.__dlpack_device__()[1]
        raise ValueError(f"the array lies on GPU {index}: write device='cuda:{index}'")
    if interface and "data" in interface and ("stream" in interface or not packed):
        held = Held(header(interface["data"][0], interface["shape"], interface.get("strides"),
                           np.dtype(interface["typestr"])), interface.get("stream"), array)
    elif packed:  # it waits for the stream that writes, which an interface of version 2 does not tell
        held = _from_dlpack(array)
    else:
        return None
    return held if _is_real(device) or _lies_in_emulator(held.header.ctypes.data) else None


def _is_real(device):
    return device.spec.startswith("cuda")


_emulated = weakref.WeakSet()  # arrays in the memory of emulated GPUs


def _lies_in_emulator(address):
    return any(array._memory.value <= address < array._memory.value + array.header.nbytes for array in list(_emulated))


def _from_dlpack(array):
    capsule = array.__dlpack__(stream=1)  # the default stream waits for what writes it, and a run for that stream
    tensor = ctypes.cast(_capsule_get(capsule, _NAME), POINTER(_Managed)).contents.tensor
    kind = {0: "i", 1: "u", 2: "f"}.get(tensor.dtype.code)
    if kind is None or tensor.dtype.lanes != 1 or tensor.dtype.bits % 8:
        raise TypeError("samples of a type that NumPy has not")
    dtype = np.dtype(f"{kind}{tensor.dtype.bits // 8}")
    shape = tensor.shape[:tensor.ndim]
    strides = [step * dtype.itemsize for step in tensor.strides[:tensor.ndim]] if tensor.strides else None
    return Held(header((tensor.data or 0) + tensor.byte_offset, shape, strides, dtype), 1, (array, capsule))


_lent = {}  # by address: tensors that others hold


@_DELETER
def _give_back(address):
    _lent.pop(address, None)


@_DELETER
def _capsule_gone(capsule):
    if _capsule_valid(capsule, _NAME):  # nobody took it
        _lent.pop(_capsule_get_raw(capsule, _NAME), None)


class DeviceArray:
    """Samples in the memory of a GPU, as runs on one give for arrays that lie there. cupy.asarray(x),
    torch.as_tensor(x, device="cuda") and from_dlpack of any library see it without a copy; get() copies it to NumPy."""

    def __init__(self, device, shape, dtype):
        self.device, self.shape, self.dtype = device, tuple(int(n) for n in shape), np.dtype(dtype)
        self._memory = c_void_p()
        size = self.dtype.itemsize
        for n in self.shape:
            size *= n
        _c.call("device_alloc", device._handle, size, byref(self._memory))
        self.header = header(self._memory.value, self.shape, None, self.dtype)
        if self._is_emulated():
            _emulated.add(self)

    def __repr__(self):
        return f"<smempipe.DeviceArray {self.shape} {self.dtype} on {self.device.spec}>"

    def __del__(self, release=_c.lib.smempipe_device_release):
        if getattr(self, "_memory", None) and self.device._handle:
            release(self.device._handle, self._memory)

    @property
    def __cuda_array_interface__(self):
        if self._is_emulated():
            raise AttributeError("an emulated GPU's memory is the host's")
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.str, "data": (self._memory.value, False),
                "strides": None, "stream": None}  # a run is done when it returns

    def _is_emulated(self):
        return not _is_real(self.device)

    def __dlpack_device__(self):
        return (_CPU, 0) if self._is_emulated() else (_CUDA, _index(self.device))

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("samples are lent where they lie: get() copies them to the host")
        shape = (c_int64 * len(self.shape))(*self.shape)
        kind = {"i": 0, "u": 1, "f": 2}[self.dtype.kind]
        managed = _Managed(deleter=_give_back)
        managed.tensor = _Tensor(self._memory, _Device(*self.__dlpack_device__()), len(self.shape),
                                 _Type(kind, self.dtype.itemsize * 8, 1), shape, None, 0)
        address = ctypes.addressof(managed)
        _lent[address] = (managed, shape, self)
        return _capsule_new(address, _NAME, ctypes.cast(_capsule_gone, c_void_p))

    def get(self):
        """A copy as a NumPy array."""
        from . import Pipeline
        rows = self.header.reshape(self.shape[0], 1, -1) if self.header.ndim < 2 else self.header
        out = np.empty(rows.shape, self.dtype)
        Pipeline("crop width=100% height=100%").run(Held(rows, None, self), device=self.device, out=out)
        return out.reshape(self.shape)
