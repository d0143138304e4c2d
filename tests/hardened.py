"""The built program is linked and compiled as CMakeLists.txt says: reads it with readelf. Skipped (status
77) where there is none.

Usage: hardened.py PROGRAM BUILD_TYPE"""
import re
import shutil
import subprocess
import sys


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options, sys.argv[1]], capture_output=True, text=True, check=True).stdout


def begins_with_landing_pad(name, segments):
    """Whether a function begins with endbr64, which -fcf-protection=branch puts there."""
    symbol = re.search(rf"^ *\d+: +([0-9a-f]+) +\d+ FUNC .* {name}$", readelf("-s"), re.M)
    for found in re.finditer(r"LOAD +(\w+) +(\w+) +\w+ +(\w+) +\w+ +R E", segments):
        offset, address, size = (int(number, 16) for number in found.groups())
        at = int(symbol.group(1), 16) - address if symbol else -1
        if 0 <= at < size:
            with open(sys.argv[1], "rb") as program:
                program.seek(offset + at)
                return program.read(4) == b"\xf3\x0f\x1e\xfa"
    return False


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
    if re.search(r"Machine: .*X86-64", header):  # of what reads files; kernels see samples alone
        checks["branches land where they may"] = all(
            begins_with_landing_pad(name, segments) for name in ("smp_reader_open", "smp_png_count_chunk", "main"))
    if sys.argv[2] == "Release":
        checks["checked library calls"] = re.search(r"__\w+_chk\b", symbols.replace("__stack_chk_fail", ""))
    for name, holds in checks.items():
        print(f"{'yes' if holds else 'NO '} {name}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
