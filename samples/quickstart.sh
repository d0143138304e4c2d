#!/usr/bin/env bash
# From a fresh clone to a blurred cat: installs what the build needs and is missing, builds what `smempipe run` needs,
# with the CPU kernels that compile soonest, runs one pipeline, then builds the rest, with kernels for this machine's
# processor. --first leaves the rest out.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/.."
. samples/setup.sh

need_for_build
install_missing
first=(-DSMP_TESTS=OFF -DSMP_CUDA=OFF -DSMP_FIRST=ON)
native=ON
if grep -qx SMP_FIRST:BOOL=OFF build/release/CMakeCache.txt 2>/dev/null; then # a whole build stays one
    first=()
    grep -qx SMP_NATIVE:BOOL=ON build/release/CMakeCache.txt || native=OFF
fi
build_preset release smempipe "${first[@]}" -DSMP_NATIVE=$native

program=build/release/smempipe
picture=build/blurred.png
echo "+ $program run pipelines/blur.pipe samples/chelsea.png $picture --force --report"
"$program" run pipelines/blur.pipe samples/chelsea.png "$picture" --force --report
echo
echo "The blurred picture is $PWD/$picture"
echo "The program is $PWD/$program; other pipelines are in $PWD/pipelines"
echo
if [ "${1-}" = --first ]; then
    echo "It runs pipelines, on any processor and slowly: a blur takes a hundred times as long as with the rest."
    echo "That is kernels for this processor, explain, compare, kernel and what else needs the kernel lab, the emulator"
    echo "of a GPU, libsmempipe.so:"
    echo "samples/quickstart.sh"
    exit
fi
echo "Building the rest: kernels for this processor, the kernel lab, the emulator of a GPU, libsmempipe.so"
# Without a GPU here, kernels for one would be a third of the time.
cuda=OFF
if nvidia-smi -L >/dev/null 2>&1; then cuda=ON; fi
build_preset release all -DSMP_TESTS=OFF -DSMP_CUDA=$cuda -DSMP_FIRST=OFF -DSMP_NATIVE=$native
[ $native = OFF ] ||
    echo "It runs on processors like this one; for others: cmake --preset release && cmake --build --preset release -j"
[ $cuda = ON ] ||
    echo "There is no NVIDIA GPU here, so no --device cuda: for one elsewhere, cmake --preset release -DSMP_CUDA=ON"
