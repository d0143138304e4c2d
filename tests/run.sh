#!/usr/bin/env bash
# The tests, from a fresh clone: installs what is missing, builds the release and the sanitizer build, runs ctest over
# both.
#   tests/run.sh            what continuous integration runs, 12 minutes on two cores: of the slow suites (labelled
#                           turn-K; and gpu_orders, the matrices, mutants, warnings.clang) the eighth whose turn it is,
#                           by the commit; SMP_TURN=K/8 takes another turn
#   tests/run.sh --all      every test: before a release. 5 minutes on 16 cores
#   tests/run.sh ARGUMENT.. every test that ctest takes by these: tests/run.sh -R oracle; tests/run.sh -L fast
# A turn's fresh build has CPU kernels for base and one more instruction set; where there is no GPU, kernels for one are
# of an eighth of the files.
# SMP_CLUSTER=0: without Slurm, Open MPI and GNU parallel, which the tests labelled cluster use where they are.
# SMP_FUZZ_SECONDS=20: each fuzz target so long, not for a number of inputs. SMP_FUZZ=1: 20 s under libFuzzer too, given
# clang.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/.."
. samples/setup.sh

turns=8 # as in tests/CMakeLists.txt
all=no
if [ "${1-}" = --all ]; then
    all=yes
    shift
elif [ $# -gt 0 ]; then
    all=yes
elif [ -z "${SMP_TURN:-}" ]; then
    commit=$(git rev-parse --short=7 HEAD 2>/dev/null || date +%j)
    SMP_TURN=$((16#$commit % turns + 1))/$turns
fi
if [ $all = yes ]; then
    unset SMP_TURN
else
    export SMP_TURN
    turn=${SMP_TURN%/*}
    told="Turn $SMP_TURN of the slow suites. tests/run.sh --all runs the others' too; SMP_TURN=K/$turns another turn."
    echo "$told"
fi

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
share=()
if [ $all = yes ]; then
    share=(-DSMP_CUDA_SHARE=1/1 -DSMP_V3=ON -DSMP_V4=ON)
elif [ ! -f build/release/CMakeCache.txt ]; then # else as it is: no turn builds anew what another built
    one=-DSMP_V4=OFF
    if [ $((turn % 2)) = 0 ] && grep -qw avx512vl /proc/cpuinfo; then one=-DSMP_V3=OFF; fi
    share=(-DSMP_CUDA_SHARE=$SMP_TURN $one)
    echo "CPU kernels of this turn's build: $one. Without a GPU, kernels for one are compiled of one file in eight."
fi
build_preset release all -DSMP_TESTS=ON -DSMP_WERROR=ON -DSMP_CUDA=ON -DSMP_CUDA_HURRY=max -DSMP_MPI=$mpi "${share[@]}"
# Device code has no AddressSanitizer; the emulator runs it on the host, by the release build's kernels.
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
parallel=(-j $(($(nproc) + 1))) # one more: many wait for a disk, a pipe or a moment
[ $all = no ] || exec ctest --output-on-failure "${parallel[@]}" "$@"
status=0
ctest --output-on-failure "${parallel[@]}" -LE "^turn-[^$turn]\$" || status=$?
echo "$told"
exit $status
