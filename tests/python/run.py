"""Runs the tests of the Python package by pytest with the library of a build folder:

    run.py BUILD [pytest's arguments]

Without pytest, Hypothesis, NumPy or scipy it says what is missing and is skipped (77)."""
import importlib.util
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

missing = [name for name in ("pytest", "hypothesis", "numpy", "scipy") if not importlib.util.find_spec(name)]
if missing:
    print("skipped: there is no", ", ".join(missing), "(apt: python3-pytest python3-hypothesis; or pip)")
    sys.exit(77)
build = pathlib.Path(sys.argv[1]).resolve()
os.environ["SMEMPIPE_LIBRARY"] = str(build / "libsmempipe.so.1")
sys.path.insert(0, str(ROOT / "src/python"))
sys.dont_write_bytecode = True
import pytest  # noqa: E402

if __name__ == "__main__":  # processes that tests spawn read this file too
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", str(HERE), *sys.argv[2:]]))
