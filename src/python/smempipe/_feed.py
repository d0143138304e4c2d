"""Batches of pictures for training. The command `smempipe feed` decodes, confined, and computes; here batches are asked
for and handed on, in memory that both share. There is no thread here: so nothing waits for the interpreter, forks are
safe, and the end of this process ends the other one."""
import ctypes
import mmap
import operator
import os
import re
import socket
import struct
import subprocess
import tempfile
import threading
import warnings
import weakref

import numpy as np

from . import _feed_gpu
from . import _library as _c
from ._feed_files import permute, rank_of_environment, share, source
from ._kernel import _program

_ASK, _SAMPLE, _ANSWER = struct.Struct("=IIQQqQ"), struct.Struct("=QqQ"), struct.Struct("=IiqqQQ")  # src/feed/feed.h
_BUFFER, _FORGET, _BATCH, _CANCEL, _INDEX = 1, 2, 3, 4, 5
_MEMBERS = 3
_TYPES = {"uint8": "u8", "float16": "f16", "float32": "f32"}
_ERRORS = {2: _c.PipelineError, 3: _c.FileError, 6: _c.LimitError}
_MOST_TOLD, _PROBED, _MOST_SEED, _MOST_EPOCH = 1000, 8, 9 * 10 ** 15, 2 ** 32 - 1  # those of `run`
_feeds = weakref.WeakSet()


class _Memory:
    """Of one batch, shared with the process that fills it."""

    def __init__(self, number, fd):
        self.number, self.map = number, mmap.mmap(fd, 0)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))


class _Lent:
    """What an array of a batch holds on to. When all arrays and tensors over it are gone, the memory is used again."""

    def __init__(self, pool, memory, shape, dtype):
        self.pool, self.memory, self.fork = pool, memory, pool.fork
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": dtype.str, "data": (memory.address, False)}

    def __del__(self):
        # The child of a fork may still look at it: then it is not used again.
        good = self.fork == self.pool.fork and len(self.pool.free) <= self.pool.most
        (self.pool.free if good else self.pool.retired).append(self.memory)


class _Pool:
    def __init__(self, most):
        self.free, self.retired, self.most, self.fork, self.made = [], [], most, 0, 0
        self.left = []  # of a GPU, which may still be reading them


def _end(ours, process, errors, owner):
    if os.getpid() != owner:
        return
    try:
        ours.shutdown(socket.SHUT_RDWR)  # a child of a fork may hold it open
    except OSError:
        pass
    ours.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    text = _text(errors)
    if process.returncode == 0:
        _tell(errors)  # that nothing confines decoders here, for instance
    errors.close()
    return text


def _tell(errors):
    text = _text(errors)
    if text:
        os.ftruncate(errors.fileno(), 0)
        warnings.warn(text, stacklevel=2)


def _text(errors):
    """The child's place in the file is this one's too, and stays where it is."""
    return os.pread(errors.fileno(), 1 << 16, 0).decode("utf-8", "replace").strip("\0 \n")


class _Server:
    """The other process. It ends with the socket: when this object is gone, or this process."""

    def __init__(self, arguments):
        self.socket, theirs = socket.socketpair()
        self.errors, self.got = tempfile.TemporaryFile(), bytearray()
        around = dict(os.environ)
        if "LOCAL_WORLD_SIZE" in around:  # torchrun gives every rank OMP_NUM_THREADS=1, of which nobody thought here
            around.pop("OMP_NUM_THREADS", None)
        with theirs:
            self.process = subprocess.Popen([_program(), "feed", *arguments], stdin=theirs, stdout=subprocess.DEVNULL,
                                            stderr=self.errors, start_new_session=True, env=around)
        self.finalize = weakref.finalize(self, _end, self.socket, self.process, self.errors, os.getpid())
        self.answer()
        _tell(self.errors)

    def ask(self, kind, data=b"", *, count=0, number=0, buffer=-1, epoch=0, fd=None):
        head = _ASK.pack(kind, count, len(data), number, buffer, epoch)
        try:
            if fd is not None:
                self.socket.sendmsg([head], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", fd))])
            else:
                self.socket.sendall(head + data)
        except OSError:
            self._fail()

    def answer(self):
        """(kind, number, shape, bytes) of the next answer."""
        while True:
            if len(self.got) >= _ANSWER.size:
                kind, channels, width, height, number, size = _ANSWER.unpack_from(self.got)
                if len(self.got) >= _ANSWER.size + size:
                    data = bytes(self.got[_ANSWER.size:_ANSWER.size + size])
                    del self.got[:_ANSWER.size + size]
                    return kind, number, (height, width, channels), data
            try:
                more = self.socket.recv(1 << 18)
            except ConnectionError:
                more = b""
            if not more:
                self._fail()
            self.got += more

    def _fail(self):
        text, status = self.finalize(), self.process.returncode
        if status < 0:
            raise _c.Error(f"the process of this Feed was killed (signal {-status}); iterate again to go on")
        raise _ERRORS.get(status, _c.Error)(text or f"the process of this Feed ended ({status})", status)


def _move(array, slots, others):
    """Pictures of some places to others."""
    if isinstance(array, np.ndarray):
        array[slots] = array[others]
    else:
        array.move(slots, others)


def _epoch(value):
    if not 0 <= operator.index(value) <= _MOST_EPOCH:
        raise ValueError(f"epoch={value}: 0 to {_MOST_EPOCH}")
    return operator.index(value)


class Feed:
    """Batches of pictures or sounds through a pipeline, for training: an iterable of (array, labels, names).

        feed = smempipe.Feed("train/", "train.pipe", batch=256, seed=1)
        for epoch in range(90):
            for images, labels, names in feed:
                step(torch.from_numpy(images), torch.from_numpy(labels))

    files: a folder, with a folder a class; a list of files; {file: label}; tar files (a list, or "shards/*.tar").
    pipeline: a .pipe file, or a text; all that leaves it has one size. An epoch is one iteration, and each
    next one is shuffled anew; set_epoch() names it. device="cuda": a GPU decodes and computes, and batches lie there,
    for torch.from_dlpack(images). docs/training.md tells the rest."""

    def __init__(self, files, pipeline, batch=256, *, device="cpu", workers=0, shuffle=True, seed=0, epoch=0, rank=None,
                 world=None, dtype="uint8", layout="NCHW", channels="auto", mean=None, std=None, labels="auto",
                 last="keep", broken="raise", prefetch=2, max_pixels=None, max_memory=None, settings=None):
        self.device = str(device)
        if not re.fullmatch("cpu|simt|cuda(:[0-9]+)?", self.device):
            raise _c.ArgumentError(f"device={self.device!r}: there are cpu, cuda, cuda:N for GPU N, simt (emulated)")
        for name, value, words in (("dtype", str(np.dtype(dtype)), _TYPES), ("layout", layout, ("NCHW", "NHWC")),
                                   ("last", last, ("keep", "pad", "drop")),
                                   ("broken", broken, ("raise", "skip", "replace"))):
            if value not in words:
                raise ValueError(f"{name}={value!r}: there are {', '.join(words)}")
        self.batch, self.prefetch, self.seed = (operator.index(n) for n in (batch, prefetch, seed))
        if self.batch < 1 or self.prefetch < 1 or not 0 <= self.seed <= _MOST_SEED:
            raise ValueError(f"batch={batch}, prefetch={prefetch}: at least 1; seed={seed}: 0 to {_MOST_SEED}")
        self.epoch, self.shuffle, self.last, self.on_broken = _epoch(epoch), bool(shuffle), last, broken
        self.rank, self.world = rank_of_environment(rank, world)
        self.dtype, self.layout, self.shape = np.dtype(dtype), layout, None
        self.broken, self.broken_count = [], 0
        self._begun, self._at, self._turn, self._numbers, self._channels = False, 0, 0, 0, channels
        self._options = ["--device", self.device, "--samples", _TYPES[str(self.dtype)], "--jobs", str(int(workers)),
                         "--layout", "chw" if layout == "NCHW" else "hwc", "--seed", str(self.seed)]
        for name, value in (("mean", mean), ("std", std)):
            if value is not None:
                self._options += [f"--{name}", ",".join(repr(float(v)) for v in np.atleast_1d(value))]
        for name, value in (("max-pixels", max_pixels), ("max-memory", max_memory)):
            if value is not None:
                self._options += [f"--{name}", str(operator.index(value))]
        for name, value in (settings or {}).items():
            self._options += ["--set", f"{name}={value}"]
        text = os.fspath(pipeline)
        if isinstance(pipeline, os.PathLike) or (text.endswith(".pipe") and "\n" not in text):
            self._options += ["--", text]
        else:
            lines = ["" if line.startswith("#") else line for line in text.split("\n")]
            self._options += ["-e", "\n".join(lines), "--"]
        self._files = source(files, labels)
        self._reset()
        if self._files.names is None:
            self._files.read_index(self._members)
            if self._files.sounds:
                self.close()  # it was told that there are pictures
        self.classes = self._files.classes
        self._open()  # mistakes in the pipeline are told now
        if not len(self):
            raise ValueError(f"{len(self._files.names)} pictures make no batch of {self.batch} for rank {self.rank} of "
                             f"{self.world} with last={last!r}")

    # ---------------------------------------------------------------------------------------------- the process

    def _reset(self):
        self._server, self._owner, self._pool, self._driver = None, os.getpid(), _Pool(self.prefetch), None
        self._waiting, self._answers = {}, {}  # by the batch's number: its memory; what _wait returns
        self._lock = threading.RLock()  # one thread at a time asks and waits
        _feeds.add(self)

    def _open(self):
        if self._owner != os.getpid():  # a fork that Python knows nothing of
            self._reset()
        if self._server is None:
            roots = sorted(self._files.roots)
            if len(roots) > 100:
                roots = [os.path.commonpath(roots)]
            channels = self._channels if self._channels != "auto" else 0 if self._files.sounds else 3
            self._server = _Server(["--channels", str(channels or 0), *self._options, *roots])
        return self._server

    def _members(self, path):
        server = self._open()
        server.ask(_INDEX, os.fsencode(path))
        kind, _, _, data = server.answer()
        if kind != _MEMBERS:
            raise _c.FileError(f"{path}: {data.decode()}")
        for row in data.split(b"\0")[:-1]:
            offset, size, name = row.split(b" ", 2)
            yield int(offset), int(size), os.fsdecode(name)

    def close(self):
        """Ends the process that works for this Feed; a new iteration starts another."""
        if self._server is not None and self._owner == os.getpid():
            self._server.finalize()
        self._turn += 1
        self._reset()

    # ---------------------------------------------------------------------------------------------- order

    def __len__(self):
        """Batches of an epoch, of this rank."""
        return share(len(self._files.names), self.rank, self.world, self.batch, self.last)[1]

    def _indices(self, number, epoch):
        """The samples of a batch."""
        mine = share(len(self._files.names), self.rank, self.world, self.batch, self.last)[0]
        at = np.arange(number * self.batch, min((number + 1) * self.batch, mine)) * self.world + self.rank
        at %= len(self._files.names)  # pad
        return permute(at, len(self._files.names), self.seed, epoch) if self.shuffle else at

    def set_epoch(self, epoch):
        """The next iteration is this epoch, from its beginning."""
        epoch = _epoch(epoch)
        if self._begun or epoch != self.epoch:  # else a loaded state's rest of it
            self.epoch, self._at, self._begun = epoch, 0, False

    def state_dict(self):
        """Where this rank is: with load_state_dict(), another Feed of the same arguments goes on behind the last batch
        that was taken."""
        return {"epoch": self.epoch, "batch": self._at, "samples": len(self._files.names),
                "files": self._files.names.mark, "size": self.batch,
                **{name: getattr(self, name) for name in ("seed", "shuffle", "last", "rank", "world")}}

    def load_state_dict(self, state):
        here = self.state_dict()
        if not isinstance(state, dict) or not state.keys() >= here.keys():
            raise ValueError(f"this is no state of a Feed, which has {', '.join(here)}")
        for name, here in here.items():
            if name == "files" and state[name] != here:
                raise ValueError("the state is of a Feed of other files, or of these in another order")
            if name not in ("epoch", "batch") and state[name] != here:
                raise ValueError(f"the state is of a Feed with {name}={state[name]}, and this one has {here}")
        if not 0 <= operator.index(state["batch"]) <= len(self):
            raise ValueError(f"the state is of batch {state['batch']}, and an epoch has {len(self)}")
        self.epoch, self._at, self._begun = _epoch(state["epoch"]), state["batch"], False

    # ---------------------------------------------------------------------------------------------- batches

    def _ask(self, indices, epoch, memory):
        self._numbers += 1
        places = [self._files.where(i) for i in indices]
        data = b"".join(_SAMPLE.pack(i, offset, size) for i, (_, offset, size) in zip(indices.tolist(), places)) + \
            b"".join(os.fsencode(path) + b"\0" for path, _, _ in places)
        self._server.ask(_BATCH, data, count=len(indices), number=self._numbers, epoch=epoch,
                         buffer=memory.number if memory else -1)
        self._waiting[self._numbers] = memory
        return self._numbers

    def _gpu_memory(self):
        pool = self._pool
        while pool.left:
            memory = pool.left.pop()
            memory.leave()
            pool.free.append(memory)
        for i, memory in enumerate(pool.free):
            if memory.is_free(wait=len(pool.free) > pool.most):
                return pool.free.pop(i)
        pool.made += 1
        self._driver = self._driver or _feed_gpu.Driver(self.device)
        memory = _feed_gpu.Memory(self._driver, pool.made, int(np.prod(self.shape)) * self.batch * self.dtype.itemsize)
        self._server.ask(_BUFFER, memory.message, buffer=pool.made)
        return memory

    def _memory(self):
        if self.device.startswith("cuda"):
            return self._gpu_memory()
        while self._pool.retired:
            self._server.ask(_FORGET, buffer=self._pool.retired.pop().number)
        if self._pool.free:
            return self._pool.free.pop()
        self._pool.made += 1
        fd = os.memfd_create("batch")
        try:
            os.ftruncate(fd, int(np.prod(self.shape)) * self.batch * self.dtype.itemsize)
            self._server.ask(_BUFFER, buffer=self._pool.made, fd=fd)
            return _Memory(self._pool.made, fd)
        finally:
            os.close(fd)  # the mapping holds the memory

    def _wait(self, number):
        """The answer to a batch: the shape of pictures, {slot: (code, message)}, the memory."""
        while number not in self._answers:
            _, got, shape, data = self._server.answer()
            told = [line.split(" ", 2) for line in data.decode("utf-8", "replace").split("\n")[:-1]]
            self._answers[got] = shape, {int(slot): (code, text) for slot, code, text in told}, self._waiting.pop(got)
            self._drop_old()
        return self._answers.pop(number)

    def _drop_old(self):
        """Takes back memory of iterations that were left."""
        for number in [number for number in self._answers if number < self._first]:
            memory = self._answers.pop(number)[2]
            self._pool.free += [memory] if memory else []

    def _refuse(self, wrong, indices, count=True):
        """Raises what cannot be passed over, and counts the rest."""
        for slot, (code, message) in wrong.items():
            text = f"{self._files.names[indices[slot]]}: {message}"
            odd = code == "M" and count and self.on_broken != "raise"  # others went through the pipeline
            if code != "B" and not odd:
                raise _c.PipelineError(text, _c.PIPELINE) if code == "M" else _c.Error(text)
            if self.on_broken == "raise":
                raise _c.FileError(text + " (broken=\"skip\" leaves such files out)", _c.DECODE)
            self.broken_count += count
            if count and len(self.broken) < _MOST_TOLD:
                self.broken.append((self._files.names[indices[slot]], message))

    def _probe(self, epoch):
        """The shape that all pictures get, by the first that can be read."""
        for number in range(self._at, len(self)):
            indices = self._indices(number, epoch)
            for some in np.split(indices, range(_PROBED, len(indices), _PROBED)):
                (height, width, channels), wrong, _ = self._wait(self._ask(some, epoch, None))
                if channels and not width:  # a sound
                    return (channels, height) if self.layout == "NCHW" else (height, channels)
                if channels:
                    return (channels, height, width) if self.layout == "NCHW" else (height, width, channels)
                self._refuse(wrong, some, count=False)
        raise _c.FileError(f"none of the pictures can be read; {self._files.names[some[0]]}: {wrong[0][1]}")

    def _hand_on(self, number, answer, epoch):
        """(array, labels, names), or None where nothing of the batch can be read."""
        _, wrong, memory = answer
        indices = self._indices(number, epoch)
        self._files.check(indices)
        shape, gpu = (len(indices), *self.shape), isinstance(memory, _feed_gpu.Memory)
        array = _feed_gpu.Batch(self._pool, memory, shape, self.dtype) if gpu else \
            np.asarray(_Lent(self._pool, memory, shape, self.dtype))
        self._refuse(wrong, indices)
        good = np.array([slot for slot in range(len(indices)) if slot not in wrong], np.int64)
        if not len(good):
            return None
        if wrong and self.on_broken == "replace":
            slots, others = sorted(wrong), good[np.arange(len(wrong)) % len(good)]
            _move(array, slots, others)
            indices[slots] = indices[others]
        elif wrong:
            _move(array, np.arange(len(good)), good)
            array, indices = array.first(len(good)) if gpu else array[:len(good)], indices[good]
        return array, self._files.labels_of(indices), [self._files.names[i] for i in indices]

    def __iter__(self):
        with self._lock:
            if self._begun:
                self.epoch, self._at = self.epoch + 1, 0
            self._begun = True
            self._turn += 1
            return self._batches(self._turn, self.epoch, os.getpid())

    def _check(self, turn, owner):
        if os.getpid() != owner:
            raise RuntimeError("this iteration began in another process: begin one here, by iter(feed)")
        if self._turn != turn:
            raise RuntimeError("another iteration over this Feed has begun, or it was closed")

    def _batches(self, turn, epoch, owner):
        before, done, asked = self.broken_count, self._at, []
        try:
            with self._lock:
                self._check(turn, owner)
                self._open()
                self._first = self._numbers + 1
                self._drop_old()
                self.shape = self.shape or self._probe(epoch)
            while done < len(self):
                with self._lock:
                    self._check(turn, owner)
                    while len(asked) < self.prefetch and done + len(asked) < len(self):
                        asked.append(self._ask(self._indices(done + len(asked), epoch), epoch, self._memory()))
                    batch = self._hand_on(done, self._wait(asked.pop(0)), epoch)
                    self._at = done = done + 1
                if batch is not None:
                    yield batch
                    del batch
        except GeneratorExit:
            if os.getpid() == owner and self._turn == turn and self._server is not None and self._server.finalize.alive:
                self._server.ask(_CANCEL)
            raise
        except BaseException:
            if os.getpid() == owner and self._turn == turn:
                self.close()  # what was half sent or received is of no use
                self._begun = False  # the next iteration goes on here
            raise
        if self.broken_count > before:
            name, message = self.broken[min(before, _MOST_TOLD - 1)]
            count = self.broken_count - before
            warnings.warn(f"{count} picture{'s' * (count > 1)} could not be read in epoch {epoch}; the first: {name}: "
                          f"{message}", stacklevel=2)

    # ---------------------------------------------------------------------------------------------- processes

    def __getstate__(self):
        """Another process, started by fork, spawn or forkserver, starts anew."""
        return {**self.__dict__, "_server": None, "_waiting": {}, "_answers": {}, "_pool": None, "_driver": None,
                "_lock": None}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._reset()

    def _after_fork(self, child):
        self._pool.fork += 1
        if child and self._server is not None:
            self._server.finalize.detach()
            self._server.socket.close()
            self._server.process.returncode = 0  # another's child
        if child:
            self._reset()


def _after_fork(child):
    for feed in list(_feeds):
        feed._after_fork(child)


os.register_at_fork(after_in_parent=lambda: _after_fork(False), after_in_child=lambda: _after_fork(True))
