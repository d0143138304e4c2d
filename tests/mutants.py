"""Breaks GPU kernels on purpose, one place at a time, and demands that the tests notice.

A mutant is a copy of kernels/ROOM/NAME.cu, or of a .cuh that it includes, with one thing changed:
- what makes threads wait for each other taken out: __syncthreads, __syncwarp, the commit of asynchronous copies or the
  wait for them. The five thread orders of gpu_orders must then see a race, an uninitialised read or other bytes;
- what keeps accesses on different banks dropped: a constant whose name ends in PAD or SKEW is 0, an array [33] is [32],
  a word number is not XORed. The trace must then count more conflicts than in the kernel as it is.
Its traced build alone is compiled, as a library that gpu_orders loads instead of its own kernels of that file; once for
all waits of a file, each of which the library's variable smp_mutant takes out.

Usage: mutants.py BUILD [--file NAME] [--list] [--keep]
BUILD: a build folder with tests/unit_tests. SMP_TURN=K/N: of the files that are mutated every Nth from the Kth.
Exit status 1: a mutant lives on; then the kernel does not need what was taken, or gpu_orders needs an input that
does."""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KERNELS = os.path.join(ROOT, "kernels")
NOT_RUN = 77  # exit status of gpu_orders
SECONDS = 300  # a mutant that takes longer hangs: noticed
# Waits that no input of gpu_orders needs yet: cepstra (mel mfcc=) share their kernel with bands, which come first; the
# inverse transform of an even number of passes, which ends where the next begins, wants a spectrum of another width;
# rows and columns of a picture's transform take a warp each unless they are longer than gpu_orders' pictures.
LIVE_YET = {"audio/mel.cu": 1, "audio/stft.cu": 1, "matmul/fourier.cu": 3}
WAIT, SPREAD = "wait", "spread"  # what was taken out
NO_PLACE = -1  # value of smp_mutant: every wait is there
WAITS = r"\b(__sync\w+|smp_copy_(?:wait|commit)(?:<[^>]*>)?)\s*\([^()]*\)\s*;"
PADS = r"\w*(?:PAD|SKEW)"
XOR = r"(?<=[\w)]) \^ (?=[\w(])"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files(end):
    """ROOM/FILE of every such file in kernels/."""
    rooms = [room for room in sorted(os.listdir(KERNELS)) if os.path.isdir(os.path.join(KERNELS, room))]
    return [os.path.join(room, name) for room in rooms for name in sorted(os.listdir(os.path.join(KERNELS, room)))
            if name.endswith(end)]


def includes(name, seen=None):
    """kernels/NAME (ROOM/FILE) and the .cuh files that it includes, itself first."""
    seen = [] if seen is None else seen
    if name not in seen and os.path.exists(os.path.join(KERNELS, name)):
        seen.append(name)
        for inner in re.findall(r'#include "([^"]+\.cuh)"', read(os.path.join(KERNELS, name))):
            includes(inner, seen)
    return seen


# ------------------------------------------------------------------------------------------------ mutants


def end_of_operand(text, start):
    """Where the name, number or parenthesis at start ends."""
    if text[start] != "(":
        return start + re.match(r"\w+", text[start:]).end()
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    return len(text)


def end_of_value(text, start):
    """Where the initialiser at start ends: a comma or semicolon outside of parentheses."""
    depth = 0
    for i in range(start, len(text)):
        if depth == 0 and text[i] in ",;":
            return i
        depth += {"(": 1, ")": -1}.get(text[i], 0)
    return len(text)


def without_xor(line):
    while match := re.search(XOR, line):
        line = line[: match.start()] + line[end_of_operand(line, match.end()):]
    return line


def mutants_of(name):
    """(what was done, kind, line from 1, mutated text, value of smp_mutant) of every mutant of a file."""
    text = read(os.path.join(KERNELS, name))
    bare = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    found = []

    def add(what, kind, start, end, instead):
        found.append((what, kind, text.count("\n", 0, start) + 1, text[:start] + instead + text[end:], NO_PLACE))

    waits = list(re.finditer(WAITS, bare))
    switched = text
    for place, m in reversed(list(enumerate(waits))):
        start, end = m.span()
        switched = "%s{ if (smp_mutant != %d) { %s } }%s" % (switched[:start], place, m.group(), switched[end:])
    for place, m in enumerate(waits):
        found.append((m.group(1) + " removed", WAIT, text.count("\n", 0, m.start()) + 1, switched, place))
    for m in re.finditer(r"\b(%s)\s*=(?!=)" % PADS, bare):
        add(m.group(1) + " dropped", SPREAD, m.end(), end_of_value(bare, m.end()), " 0")
    for m in re.finditer(r"template <[^>]*\bint (%s)\b[^>]*>" % PADS, bare):
        end = bare.find("\n}", m.end())
        add(m.group(1) + " dropped", SPREAD, m.end(), end, re.sub(r"\b%s\b" % m.group(1), "0", text[m.end():end]))
    for m in re.finditer(r"\[(17|33|65|129)\]", bare):
        add(m.group() + " unpadded", SPREAD, *m.span(), "[%d]" % (int(m.group(1)) - 1))
    lines = bare.split("\n")
    swizzled = [i for i, line in enumerate(lines) if "[" in line and re.search(XOR, line)]
    if swizzled:  # writing and reading must agree, so all of a file's at once
        whole = text.split("\n")
        for i in swizzled:
            whole[i] = without_xor(whole[i])
        found.append(("swizzle dropped", SPREAD, swizzled[0] + 1, "\n".join(whole), NO_PLACE))
    return found


# ------------------------------------------------------------------------------------------------ one mutant


class Broken(Exception):
    """The mutant could not be tried."""


class NotRun(Exception):
    """gpu_orders does not run these kernels, and says why."""


class Build:
    def __init__(self, folder, scratch):
        self.folder = scratch
        self.test = [os.path.join(os.path.abspath(folder), "tests", "unit_tests"), "gpu_orders"]
        entries = json.loads(read(os.path.join(folder, "compile_commands.json")))
        self.traced = {}  # NAME: how its wrapper is compiled, and that without the other kernel files in it
        for entry in entries:
            if "/smp_kernel_files/" in entry["file"] and entry["file"].endswith(".traced.cpp"):
                headers, *parts = re.split(r"(?m)^(?=namespace )", read(entry["file"]))
                self.traced.update((part.split()[1].removeprefix("smp_traced_"), (entry, headers + part))
                                   for part in parts)
        self.path = {os.path.basename(path)[:-3]: path for path in files(".cu")}
        self.as_is, self.locks = {}, {name: threading.Lock() for name in self.traced}
        self.switched = {}  # (kernel, mutated file): the library with all its waits

    def compile(self, kernel, mutated, text, folder):
        """A library with the traced kernels of KERNEL.cu, `mutated` replaced by text; its copy is found first."""
        entry, wrapper = self.traced[kernel]
        for name in includes(self.path[kernel]):
            os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text if name == mutated else read(os.path.join(KERNELS, name)))
        source, made, library = (os.path.join(folder, "mutant" + end) for end in (".cpp", ".o", ".so"))
        with open(source, "w", encoding="utf-8") as file:
            file.write('extern "C" { extern int smp_mutant; int smp_mutant = %d; }\n%s' % (NO_PLACE, wrapper))
        words = shlex.split(entry["command"])
        words[words.index("-o") + 1] = made
        words[words.index("-c") + 1] = source
        words = words[os.path.basename(words[0]) == "ccache":]
        for command in ([words[0], "-I" + folder, *words[1:]], [words[0], "-shared", made, "-o", library]):
            done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True, check=False)
            if done.returncode:
                raise Broken("does not compile: " + done.stderr.strip().split("\n")[0])
        return library

    def library(self, kernel, mutated, text, place, folder):
        """As compile(), once for all places of a file."""
        if place == NO_PLACE:
            return self.compile(kernel, mutated, text, folder)
        with self.locks[kernel]:
            if (kernel, mutated) not in self.switched:
                own = os.path.join(self.folder, kernel + "-" + os.path.basename(mutated))
                os.makedirs(own)
                self.switched[kernel, mutated] = self.compile(kernel, mutated, text, own)
            return self.switched[kernel, mutated]

    def run(self, kernel, kind, library, folder, place=NO_PLACE):
        """(how gpu_orders failed or None, {kernel's name: conflicts})"""
        counts = os.path.join(folder, "counts")
        environment = dict(os.environ, SMP_TEST_KERNELS=kernel, SMP_TEST_COUNTS=counts, SMP_TEST_PLACE=str(place))
        if kind == SPREAD:
            environment["SMP_TEST_ORDERS"] = "1"  # conflicts are those of any order
        if library:
            environment["SMP_TEST_MUTANT"] = library
        try:
            done = subprocess.run(self.test, env=environment, capture_output=True, text=True, check=False,
                                  timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return "hangs", {}
        said = done.stdout + done.stderr
        if done.returncode == NOT_RUN:
            raise NotRun(said.strip())
        how = re.findall(r"\d+ races?, .*|.*other (?:bytes|findings).*|.*wrote outside.*|.*emulator: kernel.*|"
                         r".*failed with exception.*", said)
        if done.returncode < 0:
            return "signal %d" % -done.returncode, {}
        if done.returncode and not how:
            raise Broken(said)
        if done.returncode:
            return how[0].strip(), {}
        rows = [line.split() for line in read(counts).splitlines()]
        return None, {name: int(wavefronts) - int(ideal) for name, _, wavefronts, ideal in rows}

    def conflicts_as_is(self, kernel, folder):
        with self.locks[kernel]:
            if kernel not in self.as_is:
                how, self.as_is[kernel] = self.run(kernel, SPREAD, None, folder)
                if how:
                    raise Broken("without any mutation: " + how)
            return self.as_is[kernel]

    def notices(self, kernel, kind, library, folder, place):
        """How, or None."""
        how, conflicts = self.run(kernel, kind, library, folder, place)
        if how or kind == WAIT:
            return how
        as_is = self.conflicts_as_is(kernel, folder)
        for name, count in sorted(conflicts.items()):
            if count > as_is[name]:
                return "%d conflicts in %s, not %d" % (count, name, as_is[name])
        return None

    def check(self, name, kernels, what, kind, line, text, place):
        """(line for the log, whether all is well)"""
        where = "kernels/%s:%d %s" % (name, line, what)
        for kernel in kernels:
            folder = tempfile.mkdtemp(dir=self.folder)
            try:
                library = self.library(kernel, name, text, place, folder)
                how = self.notices(kernel, kind, library, folder, place)
                if how:
                    return "%s: %s" % (where, how), True
            except NotRun as why:
                return "%s: not tried: %s" % (where, why), True
            except Broken as error:
                return "%s: %s: BROKEN: %s" % (where, kernel, error), False
        return "%s: LIVES (tried in %s)" % (where, ", ".join(kernels)), False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--file", help="mutate only this one of kernels/: ROOM/FILE")
    parser.add_argument("--list", action="store_true", help="tell the mutants, try none")
    parser.add_argument("--keep", action="store_true", help="leave the mutants' folders in the temporary folder")
    options = parser.parse_args()
    scratch = tempfile.mkdtemp(prefix="smp-mutants-")
    try:
        return try_all(options, Build(options.build, scratch))
    finally:
        if options.keep:
            print("kept:", scratch)
        else:
            shutil.rmtree(scratch, ignore_errors=True)


def try_all(options, build):
    users = {}
    for kernel in sorted(build.traced):
        for name in includes(build.path[kernel]):
            users.setdefault(name, []).append(kernel)
    turn, turns = map(int, os.environ.get("SMP_TURN", "1/1").split("/"))
    mutated = [name for name in sorted(users) if mutants_of(name) and options.file in (None, name)]
    mutants = [(name, users[name], *mutant) for name in (mutated if options.file else mutated[turn - 1::turns])
               for mutant in mutants_of(name)]
    if options.list:
        for name, kernels, what, _, line, _, _ in mutants:
            print("kernels/%s:%d %s (%s)" % (name, line, what, ", ".join(kernels)))
        return 0
    order, nth = [], {}  # the first of each file before the second of any: no two wait for one library
    for mutant in mutants:
        nth[mutant[0]] = nth.get(mutant[0], -1) + 1
        order.append(nth[mutant[0]])
    mutants = [mutant for _, mutant in sorted(zip(order, mutants), key=lambda pair: pair[0])]
    bad, left = 0, dict(LIVE_YET)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(build.check, *mutant) for mutant in mutants]
        for job in concurrent.futures.as_completed(jobs):
            said, well = job.result()
            name = said.split(":")[0].removeprefix("kernels/")
            if not well and "LIVES" in said and left.get(name):
                left[name] -= 1
                said, well = said + ", as known", True
            bad += not well
            print(said, flush=True)
    print("%d mutants, %d not noticed" % (len(mutants), bad))
    return 1 if bad or not mutants else 0


if __name__ == "__main__":
    sys.exit(main())
