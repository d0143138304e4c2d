"""The built program is linked and compiled as CMakeLists.txt says: reads it with readelf. Skipped (status
77) where there is none.

Usage: hardened.py PROGRAM BUILD_TYPE"""
import re
import shutil
import subprocess
import sys


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options, sys.argv[1]], capture_output=True, text=True, check=True).stdout


def main():
    if not shutil.which("readelf"):
        print("no readelf here")
        return 77
    header, segments, dynamic, symbols = readelf("-h"), readelf("-l"), readelf("-d"), readelf("--dyn-syms")
    stack = re.search(r"^ +GNU_STACK .*", segments, re.M)
    checks = {
        "position-independent": re.search(r"Type: +DYN", header) and "INTERP" in segments,
        "relocations read-only": "GNU_RELRO" in segments,
        "and all of them done at the start": re.search(r"BIND_NOW|\bNOW\b", dynamic),
        "no executable stack": stack and "E" not in stack.group().split()[-2],
        "no segment that is written and executed": not re.search(r"LOAD .* RWE ", segments),
        "no text relocations": "TEXTREL" not in dynamic,
        "stack protector": "__stack_chk_fail" in symbols,
    }
    if sys.argv[2] == "Release":
        checks["checked library calls"] = re.search(r"__\w+_chk\b", symbols.replace("__stack_chk_fail", ""))
    for name, holds in checks.items():
        print(f"{'yes' if holds else 'NO '} {name}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
