"""Batches in a GPU's memory. This process allocates it, so that it stays what it is whatever becomes of the other one,
and the other one opens it by a handle of CUDA's IPC. Calls go to the driver (libcuda) by ctypes."""
import ctypes
import sys
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np

from . import _library as _c
from ._gpu import DeviceArray, header

_NOT_READY, _NO_TIMES = 600, 2
_ALONE = 1 << 21  # bytes: from here on no two allocations have pages in common, so that a handle opens one


class _Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


class Driver:
    """The primary context of a GPU, which torch, CuPy and JAX use too."""

    def __init__(self, device):
        self.index, self.spec, self.context = int(device.partition(":")[2] or 0), device, c_void_p()
        try:
            self.lib = ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise _c.Error(f"device={device!r}: NVIDIA's driver is not installed (libcuda.so.1)") from None
        place = c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", byref(place), self.index)
        self.call("cuDevicePrimaryCtxRetain", byref(self.context), place)

    def call(self, name, *arguments):
        result = getattr(self.lib, name)(*arguments)
        if result:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorString(result, byref(text))
            raise _c.Error(f"{self.spec}: {name}: {text.value.decode() if text.value else result}")

    def __enter__(self):
        self.call("cuCtxPushCurrent_v2", self.context)

    def __exit__(self, *_):
        self.call("cuCtxPopCurrent_v2", byref(c_void_p()))


class Memory:
    """Of one batch. `streams` are those that tensors over it were handed to, beside the default stream."""

    def __init__(self, driver, number, size):
        self.driver, self.number, self.streams, self.events = driver, number, set(), []
        self.size = -(-size // _ALONE) * _ALONE
        memory, handle = c_uint64(), _Handle()
        with driver:
            driver.call("cuMemAlloc_v2", byref(memory), c_size_t(self.size))
            self.address = memory.value
            driver.call("cuIpcGetMemHandle", byref(handle), c_uint64(self.address))
        self.message = bytes(handle) + self.size.to_bytes(8, sys.byteorder)

    def __del__(self):
        if hasattr(self, "address"):  # errors have nobody to go to
            self.driver.lib.cuCtxPushCurrent_v2(self.driver.context)
            self.driver.lib.cuMemFree_v2(c_uint64(self.address))
            self.driver.lib.cuCtxPopCurrent_v2(byref(c_void_p()))

    def leave(self):
        """What was queued so far may still read it: is_free() says when that is done."""
        with self.driver:
            for stream in {0, *self.streams}:
                event = c_void_p()
                self.driver.call("cuEventCreate", byref(event), c_uint(_NO_TIMES))
                self.events.append(event)
                self.driver.call("cuEventRecord", event, c_void_p(stream))
        self.streams.clear()

    def is_free(self, wait=False):
        with self.driver:
            while self.events:
                if wait:
                    self.driver.call("cuEventSynchronize", self.events[-1])
                elif self.driver.lib.cuEventQuery(self.events[-1]) == _NOT_READY:
                    return False
                self.driver.call("cuEventDestroy_v2", self.events.pop())
        return True

    def copy(self, to, at, size):
        """Within it, from one place to another."""
        with self.driver:
            self.driver.call("cuMemcpyDtoD_v2", c_uint64(self.address + to), c_uint64(self.address + at),
                             c_size_t(size))


class Batch(DeviceArray):
    """A batch in a GPU's memory. torch.as_tensor(x, device="cuda"), torch.from_dlpack, cupy.asarray and
    jax.dlpack.from_dlpack take it without a copy; get() copies it to NumPy. The memory is used again when no array or
    tensor over it is left, behind what was queued by then in the default stream and in those that __dlpack__ was told
    of."""

    def __init__(self, pool, memory, shape, dtype, keep=None):
        self.pool, self.memory, self.fork, self.keep = pool, memory, pool.fork, keep
        self.device, self.shape, self.dtype = memory.driver, tuple(shape), np.dtype(dtype)
        self._memory = c_void_p(memory.address)
        self.header = header(memory.address, self.shape, None, self.dtype)

    def __len__(self):
        return self.shape[0]

    def __del__(self):
        if self.keep is None:
            (self.pool.left if self.fork == self.pool.fork else self.pool.retired).append(self.memory)

    def first(self, count):
        return Batch(self.pool, self.memory, (count, *self.shape[1:]), self.dtype, self)

    def move(self, slots, others):
        """Pictures of some places to others."""
        size = int(np.prod(self.shape[1:])) * self.dtype.itemsize
        for to, at in zip(slots, others):
            if to != at:
                self.memory.copy(int(to) * size, int(at) * size, size)
        with self.device:  # who reads it may do so in a stream that the default one does not wait for
            self.device.call("cuStreamSynchronize", None)

    def __dlpack__(self, *, stream=None, **more):
        if isinstance(stream, int) and stream > 2:  # 0 to 2 and None are default streams
            self.memory.streams.add(stream)
        return super().__dlpack__(**more)

    def get(self):
        out = np.empty(self.shape, self.dtype)
        with self.device:
            self.device.call("cuMemcpyDtoH_v2", c_void_p(out.ctypes.data), c_uint64(self.memory.address),
                             c_size_t(out.nbytes))
        return out
