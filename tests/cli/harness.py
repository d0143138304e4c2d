"""Runs the built program (environment variable SMEMPIPE) the way a user does, in a folder of its own for every test."""
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time
import unittest
import zlib

os.environ["LC_ALL"] = "C.UTF-8"  # bars of block characters, whatever the tester's locale
PROGRAM = os.environ.get("SMEMPIPE", "")
ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
PIPELINES = ROOT / "pipelines"
FAULTS = os.environ.get("SMP_FAULTS", "")  # a library to preload: tests/cli/preload/faults.c
SANITIZED = os.environ.get("SMP_SANITIZED") == "1"  # the program carries AddressSanitizer
FULL = os.environ.get("SMP_FULL") == "1"  # the full sizes, minutes instead of seconds


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_header(width, height, depth=8, color=2, interlace=0):
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace))


def png_bytes(rows, width, depth=8, color=2, extra=b"", interlace=0):
    """A PNG of packed rows (bytes each, without filter byte); extra: chunks between IHDR and IDAT."""
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 6)
    height = len(rows)
    return png_header(width, height, depth, color, interlace) + extra + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def big_png(path, width, height):
    """An RGB PNG of any height, written row by row; smooth content with some texture that costs little to make."""
    patterns = []
    for i in range(64):
        row = bytes((x * 7 + i * 3) & 255 for x in range(251)) * (width * 3 // 251 + 1)
        patterns.append(b"\0" + row[: width * 3])
    packer = zlib.compressobj(1)
    with open(path, "wb") as file:
        file.write(png_header(width, height))
        pending = b""
        for y in range(height):
            pending += packer.compress(patterns[y % 64])
            if len(pending) > 1 << 20:
                file.write(chunk(b"IDAT", pending))
                pending = b""
        file.write(chunk(b"IDAT", pending + packer.flush()) + chunk(b"IEND", b""))


def png_chunks(data):
    """[(kind, data)] of a PNG, CRCs checked."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
    at, out = 8, []
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I",
                             data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + body), f"bad CRC in {kind}"
        out.append((kind, body))
        at += 12 + length
    assert out[-1][0] == b"IEND", "PNG without its end"
    return out


class CliCase(unittest.TestCase):
    longMessage = True

    @classmethod
    def setUpClass(cls):
        if not PROGRAM or not os.access(PROGRAM, os.X_OK):
            raise RuntimeError("SMEMPIPE must name the built program")

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="smp cli "))  # a space: paths are bytes
        self.addCleanup(shutil.rmtree, self.folder, True)

    def smp(self, *arguments, status=0, **options):
        """Runs, checks the exit status, returns the finished process with text stdout and stderr."""
        options.setdefault("text", True)
        done = subprocess.run([PROGRAM, *map(os.fspath, arguments)], cwd=self.folder,
                              **{"timeout": 300, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})
        wanted = status if isinstance(status, (tuple, list, range)) else (status,)
        shown = " ".join(str(a) for a in arguments)
        if SANITIZED and done.stderr:  # the decoder's process dies of it alone, as of a damaged file
            said = done.stderr if isinstance(done.stderr, str) else done.stderr.decode(errors="replace")
            self.assertNotRegex(said, "(Address|Leak)Sanitizer", f"smempipe {shown}")
        self.assertIn(done.returncode, wanted, f"exit status of: smempipe {shown}\n{done.stderr}")
        return done

    def begin(self, *arguments, **options):
        """A process (options: of Popen) that ends with the test at the latest."""
        process = subprocess.Popen([PROGRAM, *map(os.fspath, arguments)], cwd=self.folder,
                                   **{"stderr": subprocess.PIPE, "text": True, **options})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def peak(self, *arguments, **options):
        """Peak resident bytes of a run (options: of Popen), polled from /proc: getrusage would count this interpreter
        before the exec."""
        if SANITIZED:
            self.skipTest("AddressSanitizer keeps freed memory: what is resident is not the program's own")
        process = self.begin(*arguments, **options)
        peak = 0
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status") as status:
                    peak = max([peak] + [int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM")])
            except (FileNotFoundError, ProcessLookupError):
                break
            time.sleep(0.002)
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 0, errors)
        return peak

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def small_png(self, name="in.png", width=33, height=21, **options):
        rows = [bytes((x * 5 + y * 11 + c * 40) & 255 for x in range(width) for c in range(3)) for y in range(height)]
        return self.write(name, png_bytes(rows, width, **options))

    def feed(self, name, source):
        """A named pipe, with a process that writes a file into it once."""
        os.mkfifo(self.folder / name)
        writer = subprocess.Popen(["cp", self.folder / source, self.folder / name])
        self.addCleanup(lambda: (writer.kill(), writer.wait()))

    def files(self):
        """Every file in the test's folder, temporary ones included."""
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if not p.is_dir())
