"""clang reads every C source of a build as that build compiles it: its warnings are errors too. No clang: status 77,
skipped.

Sources of the same options share a process (clang -cc1), since clang takes as long to start as to read one.

Usage: clang.py BUILD_FOLDER, the folder of compile_commands.json. SMP_TURN=K/N: every Nth source from the Kth."""
import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import sys

DROP_WITH_VALUE = ("-o", "-MT", "-MF")
DROP = ("-c", "-MD", "-Wno-c11-c2x-compat")  # the last is gcc's
SHARE = 24  # sources of a process, at most: so many that its start is little, so few that each core has some


def options_of(entry):
    """What the compiler is told beside the source."""
    words = shlex.split(entry["command"])
    words = words[1 + (os.path.basename(words[0]) == "ccache"):]
    out, skip = [], False
    for word in words:
        if skip or word in DROP_WITH_VALUE:
            skip = not skip
        elif word not in DROP and word != entry["file"]:
            out.append(word)
    return tuple(out)


def frontend(options, folder, sources):
    """The command by which clang's driver would read the first of the sources, for all of them."""
    told = subprocess.run(["clang", "-###", "-fsyntax-only", "-Werror", "-Wno-c2x-extensions", *options, sources[0]],
                          cwd=folder, capture_output=True, text=True, check=True)
    words = next(shlex.split(line) for line in told.stderr.splitlines() if '"-cc1"' in line)
    assert words[-1] == sources[0], words
    return [*words[:-1], *sources]


def check(share):
    options, folder, sources = share
    done = subprocess.run(frontend(options, folder, sources), cwd=folder, capture_output=True, text=True)
    return sources, done.returncode, done.stderr


def shares_of(entries):
    groups = {}
    for entry in entries:
        groups.setdefault((options_of(entry), entry["directory"]), []).append(entry["file"])
    return [(options, folder, sources[i:i + SHARE]) for (options, folder), sources in groups.items()
            for i in range(0, len(sources), SHARE)]


def main():
    if not shutil.which("clang"):
        print("no clang here")
        return 77
    with open(os.path.join(sys.argv[1], "compile_commands.json")) as file:
        # The kernels are compiled once for each instruction set: once is enough to read them.
        entries = [e for e in json.load(file) if e["file"].endswith(".c") and "SMP_ISA=v" not in e["command"]]
    turn, turns = map(int, os.environ.get("SMP_TURN", "1/1").split("/"))
    entries = sorted(entries, key=lambda e: e["file"])[turn - 1::turns]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for sources, status, errors in pool.map(check, shares_of(entries)):
            if status:
                failed += 1
                print(f"{' '.join(sources)}\n{errors}")
    print(f"clang read {len(entries)} sources" + (f", warnings in {failed} shares of them" if failed else ""))
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
