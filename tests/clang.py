"""clang reads every C source of a build as that build compiles it: its warnings are errors too. No clang: status 77,
skipped.

Usage: clang.py BUILD_FOLDER, the folder of compile_commands.json."""
import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import sys

DROP_WITH_VALUE = ("-o",)
DROP = ("-c",)


def clang_command(entry):
    words = shlex.split(entry["command"])[1:]
    out, skip = ["clang", "-fsyntax-only", "-Werror"], False
    for word in words:
        if skip or word in DROP_WITH_VALUE:
            skip = not skip
        elif word not in DROP:
            out.append(word)
    return out


def check(entry):
    done = subprocess.run(clang_command(entry), cwd=entry["directory"], capture_output=True, text=True)
    return entry["file"], done.returncode, done.stderr


def main():
    if not shutil.which("clang"):
        print("no clang here")
        return 77
    with open(os.path.join(sys.argv[1], "compile_commands.json")) as file:
        # The kernels are compiled once for each instruction set: once is enough to read them.
        entries = [e for e in json.load(file) if e["file"].endswith(".c") and "SMP_ISA=v" not in e["command"]]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, status, errors in pool.map(check, entries):
            if status:
                failed += 1
                print(f"{path}\n{errors}")
    print(f"clang read {len(entries)} sources, {failed} with warnings")
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
