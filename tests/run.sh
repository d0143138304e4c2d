#!/usr/bin/env bash
# Every test, from a fresh clone: installs what is missing, builds the release and the sanitizer build, runs ctest over
# both.
# Arguments go to ctest, for instance: tests/run.sh -R oracle; tests/run.sh -L fast
# SMP_CLUSTER=0: without Slurm, Open MPI and GNU parallel, which the tests labelled cluster use where they are.
# SMP_FUZZ_SECONDS=20: each fuzz target so long, not for a number of inputs. SMP_FUZZ=1: 20 s under libFuzzer too, given
# clang.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/.."
. samples/setup.sh

need_for_build
need_for_tests
[ "${SMP_CLUSTER:-1}" = 0 ] || need_for_cluster
install_missing
mpi=OFF
if [ "${SMP_CLUSTER:-1}" != 0 ] && has mpicc >/dev/null; then
    mpi=ON
else
    echo "Without smempipe-mpi: its tests are skipped." >&2
fi
# Though no GPU be here; nvcc takes a fifth of the time for code that nobody runs.
build_preset release all -DSMP_TESTS=ON -DSMP_WERROR=ON -DSMP_CUDA=ON -DSMP_CUDA_HURRY=max -DSMP_MPI=$mpi
# Device code has no AddressSanitizer; the emulator runs it on the host. Nor have traced kernels: the release
# build's serve.
build_preset asan all -DSMP_TESTS=ON -DSMP_WERROR=ON -DSMP_CUDA=OFF -DSMP_TRACE_FROM="$PWD/build/release"
builds=(../release ../asan)
if [ "${SMP_FUZZ:-0}" = 1 ]; then
    if has clang >/dev/null; then
        build_preset fuzz all -DSMP_TRACE_FROM="$PWD/build/release"
        builds+=(../fuzz)
    else
        echo "There is no clang here: the fuzz targets are left out." >&2
    fi
fi

# The kernel lab counts SASS where there is NVIDIA's disassembler, which Debian's nvcc packages may lack.
if ! has nvdisasm >/dev/null && [ ! -x /usr/local/cuda/bin/nvdisasm ]; then
    if python3 -m pip install -q --no-deps --target build/nvdisasm nvidia-cuda-nvdisasm 2>build/nvdisasm.log; then
        PATH=$(dirname "$(find "$PWD/build/nvdisasm" -name nvdisasm -type f)"):$PATH
    else
        echo "Without nvdisasm (build/nvdisasm.log): what counts SASS is skipped." >&2
    fi
fi

# One ctest over all builds: one summary, and no failure of the first scrolls away behind the second.
mkdir -p build/all
printf 'subdirs("%s")\n' "${builds[@]}" >build/all/CTestTestfile.cmake
cd build/all
exec ctest --output-on-failure -j $(($(nproc) + 1)) "$@" # one more: many wait for a disk, a pipe or a moment
