#!/usr/bin/python3
"""Each launch that src/lab/time/gpus.def names as a source is in tests/data/time."""
import csv
import fnmatch
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE.parents[1] / "src" / "lab" / "time" / "gpus.def"


def main():
    launches = set()
    for name in ("h100", "h200"):
        with open(HERE.parent / "data" / "time" / f"{name}.csv", encoding="utf-8") as file:
            launches |= {row["launch"] for row in csv.DictReader(file)}
    missing = []
    for number, source in re.findall(r"TIME_NUMBER\((\w+),.*\"(.*)\"\)", TABLE.read_text(encoding="utf-8")):
        measured = re.match(r"m ([^:;]*)", source) or re.match(r"fit \(([^);]*)", source)
        for word in re.split(r",? ", measured[1]) if measured else []:
            named = re.fullmatch(r"[a-z]\w*_\w*\*?|[a-z]\w*\d+\w*|fill_f4", word)
            if named and not fnmatch.filter(launches, word):
                missing.append(f"{number}: {word}")
        if not re.match(r"(m |fit |d|l\b|h\b|h,|j|=|assumed|chosen)", source):
            missing.append(f"{number}: no source")
    if missing:
        sys.exit("gpus.def names what tests/data/time does not have: " + ", ".join(missing))


if __name__ == "__main__":
    main()
