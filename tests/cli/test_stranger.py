"""A pipeline of a stranger with kernels of a stranger: no name reaches a shell, no file of the user is read, nothing
goes on for ever, and nothing is left behind."""
import ctypes
import os
import platform
import shutil
import signal
import struct
import subprocess
import time
import unittest

import numpy as np
from harness import SANITIZED, CliCase

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
KERNEL = ('extern "C" __global__ void k(const unsigned char *in, unsigned char *out, int n)\n'
          "{ int i = blockIdx.x * 32 + threadIdx.x; if (i < n) out[i] = in[i] + ADD; }\n")  # fmt: skip
STAGE = 'kernel "%s" name=k block=32 args="(in, out, samples)"\n'
PTX = (".version 8.0\n.target sm_80\n.address_size 64\n"
       ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n%sret;\n}\n")  # fmt: skip
# Each character that means something to a shell, in names that would run a command.
NAMES = ("$(touch X)", "`touch X`", '"; touch X; "', "'; touch X; '", ";touch X", "&touch X", "|touch X", ">X", "*",
         "?", "[a]", "{a,b}", "~", "!x", "%s", "\\", "#x", "-x", "@x", "a b", "a\tb", "a\nb", "\u202ex",
         "\u00e9")  # fmt: skip


def without_landlock():
    """To be called between fork and exec: the calls of Landlock fail as in a kernel without it."""
    def code(*parts):
        return b"".join(struct.pack("HBBI", *part) for part in parts)
    load, equal, answer = 0x20, 0x15, 0x06
    program = code((load, 0, 0, 0), (equal, 0, 1, 444), (answer, 0, 0, 0x50000 | 38), (answer, 0, 0, 0x7fff0000))
    text = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(text)))
    libc = ctypes.CDLL(None)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, header, 0, 0):
        os._exit(99)


def landlock():
    return ctypes.CDLL(None).syscall(444, None, 0, 1) > 0


def in_folder(folder):
    """Processes that work in a folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd") == folder:
                found.append(int(pid))
        except OSError:
            pass
    return found


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@unittest.skipUnless(NVCC and not SANITIZED, "no nvcc, or a sanitizer")
class Stranger(CliCase):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "TMPDIR": "/tmp"}
        np.save(self.folder / "in.npy", np.arange(64, dtype=np.uint8).reshape(4, 16))
        self.place = self.folder / "p"
        self.place.mkdir()
        (self.folder / "secret.csv").write_text("7\n")

    def source(self, text, name="k.cu", folder=None):
        folder = folder or self.place
        (folder / name).write_text(text + "\n" + KERNEL)
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        (folder / "x.pipe").write_text(STAGE % quoted)
        return folder / "x.pipe"

    def run_it(self, pipe, *more, status=0, **options):
        return self.smp("run", pipe, "in.npy", "out.npy", "--force", *more, status=status,
                        **{"env": self.environment, "errors": "replace", **options})

    def refused(self, text, *words, limit="60"):
        began = time.monotonic()
        done = self.run_it(self.source("#define ADD 0\n" + text), "--time-limit", limit, status=2)
        self.assertLess(time.monotonic() - began, 30)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertNotIn("root:", done.stderr)
        self.assertFalse((self.folder / "out.npy").exists())
        return done.stderr

    def test_no_name_reaches_a_shell(self):
        # One compilation below folders of all names, of a source that has all characters in its own.
        deep = self.place
        for name in NAMES:
            deep = deep / name.replace("/", "")
        deep.mkdir(parents=True)
        (deep / "h").mkdir()
        (deep / "h/add.h").write_text('#include "../one.h"\n')
        (deep / "one.h").write_text("#define ADD 1\n")
        pipe = self.source('#include "h/add.h"', "$(touch X)`touch X`\";touch X;'&|>X*?.cu", deep)
        for command in (("check", pipe), ("explain", pipe, "in.npy")):
            self.smp(*command, env=self.environment, errors="replace")
        self.run_it(pipe)
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), np.load(self.folder / "in.npy") + 1)
        self.assertEqual(list(self.folder.rglob("X*")), [])

    def test_defines_and_folders_of_the_user_reach_no_shell_either(self):
        (self.folder / "-I $(touch X)").mkdir()
        (self.folder / "-I $(touch X)/add.h").write_text("#define ADD (int)sizeof(TEXT)\n")
        (self.folder / "k.cu").write_text('#include <add.h>\n' + KERNEL)
        launch = ("--only", "k", "--grid", "1", "--block", "32", "--args", "in=u8[32] out=u8[32] n=32")
        self.smp("kernel", "k.cu", *launch, "-I", "-I $(touch X)", "-D", 'TEXT="$(touch X)`touch X`; touch X"',
                 env=self.environment)
        self.assertEqual(list(self.folder.rglob("X")), [])
        for wrong in (("--std", "c++17;touch X"), ("--arch", "sm_90;touch X"), ("-D", "$(touch X)")):
            self.smp("kernel", "k.cu", *launch, *wrong, env=self.environment, status=2)
        self.assertEqual(list(self.folder.rglob("X")), [])

    @unittest.skipUnless(landlock(), "no Landlock")
    def test_no_file_of_the_user_is_read(self):
        secret = self.folder / "secret.csv"
        os.symlink(secret, self.place / "link.h")
        os.symlink(self.folder, self.place / "way")
        for path in ("/etc/passwd", secret, "../secret.csv", "link.h", "way/secret.csv", "/proc/self/environ",
                     "/dev/zero"):
            with self.subTest(path):
                error = self.refused(f'__device__ int d[] = {{\n#include "{path}"\n}};', "Permission denied", "--trust")
                self.assertNotIn("7\n", error)
        self.refused('#if __has_include("/etc/passwd")\n#define THERE\n#endif', "Permission denied")
        self.refused('#pragma GCC dependency "/etc/passwd"', "Permission denied")
        self.run_it(self.source('#define ADD 3\nasm(".incbin \\"/etc/passwd\\"");'))
        self.assertEqual(np.load(self.folder / "out.npy")[0, 0], 3)

    @unittest.skipUnless(landlock(), "no Landlock")
    def test_what_the_user_allows_is_read(self):
        pipe = self.source('#define ADD \\\n__LINE__ * 0 + ADDED\n#include "../add.h"')
        (self.folder / "add.h").write_text("#define ADDED 5\n")
        self.run_it(pipe, status=2)
        for more in (("--trust",), ("--allow-read", self.folder)):
            self.run_it(pipe, *more)
            self.assertEqual(np.load(self.folder / "out.npy")[0, 0], 5)
        self.run_it(pipe, status=2)  # what was compiled so is not taken from the cache

    def test_pipes_and_devices_do_not_hold_it(self):
        os.mkfifo(self.place / "fifo")
        self.refused('#include "fifo"', "not a regular file")
        self.refused('#define NAME "fifo"\n#include NAME', "nvcc takes more than 1 seconds", limit="1")

    def test_what_never_ends_is_ended(self):
        for n in (1, 2):
            (self.place / f"{n}.h").write_text(f'#pragma message "flood"\n#include "{3 - n}.h"\n#include "{3 - n}.h"\n')
        error = self.refused('#include "1.h"', "takes more than 1.5 seconds", limit="1.5")
        self.assertLess(len(error), 100000)

    def test_memory_has_a_bound(self):
        (self.folder / "big.ptx").write_text(PTX % ".reg .b32 %r<2147483648>;\n")
        began = time.monotonic()
        done = self.smp("kernel", "big.ptx", "--only", "k", "--grid", "1", "--block", "32", "--args",
                        "a=u8[32] b=u8[32] n=32", "--code", "sass", status=(1, 5), env=self.environment)
        self.assertLess(time.monotonic() - began, 20)
        self.assertIn("there is no SASS to count", done.stderr)

    def test_nothing_outlives_a_killed_program(self):
        os.mkfifo(self.place / "fifo")
        pipe = self.source('#define ADD 0\n#define NAME "fifo"\n#include NAME')
        before = set(os.listdir("/tmp"))
        process = self.begin("check", pipe, env=self.environment, stderr=subprocess.DEVNULL)
        folders = []
        for _ in range(500):
            folders = [f for f in set(os.listdir("/tmp")) - before if f.startswith("smempipe-tool-")]
            tools = [pid for f in folders for pid in in_folder("/tmp/" + f)]
            if len(tools) > 2:
                break
            time.sleep(0.01)
        self.assertGreater(len(tools), 2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for _ in range(500):
            left = [pid for pid in tools if alive(pid)] + [f for f in folders if os.path.exists("/tmp/" + f)]
            if not left:
                break
            time.sleep(0.01)
        self.assertEqual(left, [])

    @unittest.skipUnless(platform.machine() == "x86_64", "the filter's numbers are of x86-64")
    def test_where_nothing_confines_a_word_is_needed(self):
        pipe = self.source("#define ADD 2")
        error = self.run_it(pipe, status=2, preexec_fn=without_landlock).stderr
        self.assertIn("nothing here can confine nvcc", error)
        self.assertIn("--trust", error)
        self.assertEqual(list(self.folder.glob("cache/**/*.ptx")), [])
        self.run_it(pipe, "--trust", preexec_fn=without_landlock)
        self.assertEqual(np.load(self.folder / "out.npy")[0, 0], 2)

    def test_a_source_includes_a_file_of_any_name(self):
        for name in ("k.cu", "options", "messages", "program"):
            (self.place / name).write_text("")
        lines = "".join(f'#include "{name}"\n' for name in ("k.cu", "options", "messages", "program"))
        self.run_it(self.source(lines + "#define ADD 4", "main.cu"))
        self.assertEqual(np.load(self.folder / "out.npy")[0, 0], 4)
        os.symlink(self.place / "main.cu", self.folder / "link.cu")
        self.smp("run", "-e", STAGE % "link.cu", "in.npy", "out.npy", "--force", env=self.environment)

    def test_what_is_included_by_other_words_is_compiled_anew(self):
        ways = {"a": '#define NAME "a.h"\n#include NAME', "b": '%:include "b.h"', "c": '/**/ #/**/include/**/ "c.h"',
                "d": '#inc\\\nlude \\\n"d.h"', "e": '#import "e.h"', "f": '#line 1 "x"\r#include "f.h"',
                "g": '#if __has_include("g.h")\n#define g_VALUE 1\n#else\n#define g_VALUE 0\n#endif'}  # fmt: skip
        for name in set(ways) - {"g"}:
            (self.place / f"{name}.h").write_text(f"#define {name}_VALUE 0\n")
        pipe = self.source("\n".join(ways.values()) + "\n#define ADD (" + "+".join(f"{n}_VALUE" for n in ways) + ")")
        self.run_it(pipe)
        for count, name in enumerate(ways):
            (self.place / f"{name}.h").write_text(f"#define {name}_VALUE 1\n")
            self.run_it(pipe)
            self.assertEqual(np.load(self.folder / "out.npy")[0, 0], count + 1, name)

    def test_it_runs_where_the_status_of_children_is_ignored(self):
        pipe = self.source("#define ADD 6")
        self.run_it(pipe, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(np.load(self.folder / "out.npy")[0, 0], 6)

    def test_a_relative_folder_of_path_has_no_tools(self):
        (self.folder / "bin").mkdir()
        fake = self.folder / "bin/nvcc"
        fake.write_text("#!/bin/sh\necho fake >&2\nexit 1\n")
        fake.chmod(0o755)
        self.environment["PATH"] = "bin:.:" + self.environment["PATH"]
        self.run_it(self.source("#define ADD 7"))
        self.assertEqual(np.load(self.folder / "out.npy")[0, 0], 7)

    def test_without_a_home_the_cache_is_nobody_elses(self):
        place = f"/tmp/smempipe-kernel-{os.getuid()}"
        if os.path.lexists(place):
            self.skipTest("somebody works without a home")
        for name in ("HOME", "XDG_CACHE_HOME"):
            self.environment.pop(name, None)
        pipe = self.source("#define ADD 8")
        os.symlink(self.folder, place)
        self.addCleanup(lambda: os.path.islink(place) and os.unlink(place))
        self.assertIn("no folder of your own", self.run_it(pipe, status=2).stderr)
        os.unlink(place)
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        self.run_it(pipe)
        self.assertEqual(os.stat(place).st_mode & 0o777, 0o700)

    def test_messages_control_no_terminal(self):
        error = self.refused('#error \x1b[31m red \u202e turned \x9b', "nvcc cannot compile it")
        for mark in ("\x1b", "\u202e", "\x9b"):
            self.assertNotIn(mark, error)


if __name__ == "__main__":
    unittest.main()
