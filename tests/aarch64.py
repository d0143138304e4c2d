"""What depends on the processor compiles for 64-bit ARM: the files with code for one architecture, and the CPU kernels.
Compiled, not linked, since the libraries of another architecture are rarely at hand; `cmake --preset aarch64` builds
all where they are. Skipped (status 77) where there is no compiler.

Usage: aarch64.py SOURCE_DIR JOBS"""
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys

COMPILER = "aarch64-linux-gnu-gcc"
OWN = re.compile(r"__x86_64__|__aarch64__|immintrin|arm_neon|__asm__|asm volatile|AUDIT_ARCH|__NR_")
FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-O1", "-fsyntax-only", "-Wall", "-Wextra", "-Wshadow", "-Wconversion",
         "-Wno-missing-field-initializers", "-Werror", "-ffp-contract=off", "-fno-math-errno", "-DSMP_ISA=base")


def chosen(root):
    """Kernels that see their processor, and sources that do; libraries' headers are for another architecture."""
    kernels = sorted((root / "kernels").glob("*/*.c"))
    sources = [path for path in sorted((root / "src").rglob("*.c")) if OWN.search(path.read_text())]
    return kernels, [path for path in sources if "png.h" not in path.read_text()]


def compile_for(root, path):
    done = subprocess.run([COMPILER, *FLAGS, f"-I{root}/src", f"-I{root}/kernels", path],
                          capture_output=True, text=True, check=False)
    return path, done.returncode, done.stderr


def main():
    root, jobs = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    if not shutil.which(COMPILER):
        print(f"no {COMPILER} here: apt-get install gcc-aarch64-linux-gnu")
        return 77
    kernels, sources = chosen(root)
    if len(kernels) < 50 or len(sources) < 5:
        print(f"only {len(kernels)} kernels and {len(sources)} sources were found: the test looks in the wrong place")
        return 1
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for path, code, errors in pool.map(lambda path: compile_for(root, path), [*kernels, *sources]):
            if code:
                print(errors or f"{path}: status {code}")
                failed += 1
    print(f"{len(kernels)} kernels and {len(sources)} other files, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
