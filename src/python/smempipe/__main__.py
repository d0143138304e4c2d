"""The command: runs the program that lies in this package."""
import os
import pathlib
import shutil
import sys


def main():
    program = pathlib.Path(__file__).resolve().parent / "bin" / "smempipe"
    found = str(program) if program.exists() else shutil.which("smempipe")
    if not found or os.path.realpath(found) == os.path.realpath(sys.argv[0]):
        sys.exit("smempipe: this package holds no program; install the Debian package, or the wheel")
    os.execv(found, ["smempipe", *sys.argv[1:]])


if __name__ == "__main__":
    main()
