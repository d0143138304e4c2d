"""The functions of libsmempipe.so by ctypes: the types of smempipe.h, and errors as exceptions."""
import ctypes
import ctypes.util
import os
import pathlib
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass

OK, ARGUMENT, PIPELINE = 0, 3, 4
READ, DECODE, WRITE, LIMIT = 5, 6, 7, 10


class Shape(Structure):
    _fields_ = [("kind", c_int32), ("format", c_int32), ("width", c_int64), ("height", c_int64), ("channels", c_int32),
                ("alpha", c_int32), ("rate", c_double), ("reserved", c_int64 * 4)]


class Buffer(Structure):
    _fields_ = [("shape", Shape), ("data", c_void_p), ("stride", c_int64), ("on_device", ctypes.c_ssize_t),
                ("stream", c_void_p)]


class RawProblem(Structure):
    _fields_ = [("message", c_char_p), ("hint", c_char_p), ("note", c_char_p), ("file", c_char_p), ("line", c_int),
                ("column", c_int), ("warning", c_int), ("reserved", c_void_p * 4)]


class RawValue(Structure):
    _fields_ = [("stage", c_char_p), ("label", c_char_p), ("name", c_char_p), ("channel", c_int32), ("line", c_int32),
                ("value", c_double), ("list", POINTER(c_double)), ("count", c_size_t), ("text", c_char_p),
                ("reserved", c_void_p * 3)]


PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64, c_int64)


class FileOptions(Structure):
    _fields_ = [("force", c_int32), ("strip", c_int32), ("quality", c_int32), ("lossless", c_int32), ("page", c_int64),
                ("max_pixels", c_uint64), ("max_file", c_uint64), ("progress", PROGRESS), ("context", c_void_p),
                ("reserved", c_int64 * 8)]


@dataclass(frozen=True)
class Problem:
    """One mistake and its place; line and column count from 1, 0 where there is none."""
    message: str
    hint: str = None
    note: str = None
    file: str = None
    line: int = 0
    column: int = 0
    warning: bool = False


class Error(Exception):
    """What the library refuses. str() is the text that the command shows; `problems` has the mistakes one by one, and
    message, hint, file, line and column are the first one's."""

    def __init__(self, text, code=1, problems=()):
        super().__init__(text.rstrip("\n"))
        self.code = code
        self.problems = list(problems) or [Problem(text)]

    def __getattr__(self, name):
        if name in ("message", "hint", "note", "file", "line", "column"):
            first = next((p for p in self.problems if not p.warning), self.problems[0])
            return getattr(first, name)
        raise AttributeError(name)

    def __reduce__(self):
        return type(self), (str(self), self.code, self.problems)


class ArgumentError(Error, ValueError):
    """A shape, a device or a parameter that does not fit."""


class PipelineError(Error, ValueError):
    """A mistake in the text of a pipeline."""


class FileError(Error, OSError):
    """A file that cannot be read, decoded or written."""


class LimitError(Error):
    """An input that a limit refused."""


CLASSES = {ARGUMENT: ArgumentError, PIPELINE: PipelineError, READ: FileError, DECODE: FileError, WRITE: FileError,
           LIMIT: LimitError}


def candidates():
    """SMEMPIPE_LIBRARY, the library of this package (a wheel), or the system's."""
    if os.environ.get("SMEMPIPE_LIBRARY"):
        yield os.environ["SMEMPIPE_LIBRARY"]
        return
    here = pathlib.Path(__file__).resolve().parent
    for found in sorted(here.glob("lib*/**/libsmempipe.so.1")):
        yield str(found)
    yield "libsmempipe.so.1"


def load():
    failures = []
    for name in candidates():
        try:
            return ctypes.CDLL(name)
        except OSError as why:
            failures.append(str(why))
    raise ImportError("libsmempipe.so.1 is not here; install the package smempipe, or set SMEMPIPE_LIBRARY to its path "
                      "(" + "; ".join(failures) + ")")


lib = load()
HANDLE = c_void_p
SIGNATURES = {
    "version": (c_char_p, []),
    "free": (None, [c_void_p]),
    "error_code": (c_int, [HANDLE]),
    "error_text": (c_char_p, [HANDLE]),
    "error_count": (c_size_t, [HANDLE]),
    "error_get": (c_int, [HANDLE, c_size_t, POINTER(RawProblem)]),
    "error_free": (None, [HANDLE]),
    "compile": (c_int, [c_char_p, POINTER(c_char_p), POINTER(HANDLE), POINTER(HANDLE)]),
    "compile_file": (c_int, [c_char_p, POINTER(c_char_p), POINTER(HANDLE), POINTER(HANDLE)]),
    "pipeline_warnings": (c_char_p, [HANDLE]),
    "pipeline_free": (None, [HANDLE]),
    "device_open": (c_int, [c_char_p, c_int, POINTER(HANDLE), POINTER(HANDLE)]),
    "device_name": (c_char_p, [HANDLE]),
    "device_close": (None, [HANDLE]),
    "device_alloc": (c_int, [HANDLE, c_size_t, POINTER(c_void_p), POINTER(HANDLE)]),
    "device_release": (None, [HANDLE, c_void_p]),
    "plan_make": (c_int, [HANDLE, POINTER(Shape), c_int, POINTER(HANDLE), POINTER(HANDLE)]),
    "plan_output": (Shape, [HANDLE]),
    "plan_text": (c_char_p, [HANDLE]),
    "plan_free": (None, [HANDLE]),
    "plan_run": (c_int, [HANDLE, HANDLE, POINTER(Buffer), POINTER(Buffer), POINTER(HANDLE), POINTER(HANDLE)]),
    "run": (c_int, [HANDLE, HANDLE, POINTER(Buffer), POINTER(Buffer), POINTER(HANDLE), POINTER(HANDLE)]),
    "run_file": (c_int, [HANDLE, HANDLE, c_char_p, c_char_p, POINTER(FileOptions), POINTER(HANDLE), POINTER(HANDLE)]),
    "probe": (c_int, [c_char_p, POINTER(FileOptions), POINTER(Shape), POINTER(HANDLE)]),
    "result_count": (c_size_t, [HANDLE]),
    "result_get": (c_int, [HANDLE, c_size_t, POINTER(RawValue)]),
    "result_json": (c_char_p, [HANDLE]),
    "result_free": (None, [HANDLE]),
}
for _name, (_result, _arguments) in SIGNATURES.items():
    _function = getattr(lib, "smempipe_" + _name)
    _function.restype, _function.argtypes = _result, _arguments


def text_of(raw):
    return raw.decode("utf-8", "replace") if raw is not None else None


def call(name, *arguments):
    """Calls a function whose last parameter is the error, and raises it."""
    error = HANDLE()
    if getattr(lib, "smempipe_" + name)(*arguments, byref(error)) == OK:
        return
    try:
        problems = []
        for i in range(lib.smempipe_error_count(error)):
            raw = RawProblem()
            lib.smempipe_error_get(error, i, byref(raw))
            problems.append(Problem(text_of(raw.message), text_of(raw.hint), text_of(raw.note), text_of(raw.file),
                                    raw.line, raw.column, bool(raw.warning)))
        code = lib.smempipe_error_code(error)
        raise CLASSES.get(code, Error)(text_of(lib.smempipe_error_text(error)), code, problems)
    finally:
        lib.smempipe_error_free(error)
