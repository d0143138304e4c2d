#!/usr/bin/env bash
# From a fresh clone to a blurred cat: installs what the build needs and is missing, builds, runs one pipeline.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/.."
. samples/setup.sh

need_for_build
install_missing
# Without a GPU here, kernels for one would be a third of the time.
cuda=OFF
if nvidia-smi -L >/dev/null 2>&1; then cuda=ON; fi
build_preset release -DSMP_TESTS=OFF -DSMP_CUDA=$cuda

program=build/release/smempipe
picture=build/blurred.png
echo "+ $program run pipelines/blur.pipe samples/chelsea.png $picture --force --report"
"$program" run pipelines/blur.pipe samples/chelsea.png "$picture" --force --report
echo
echo "The blurred picture is $PWD/$picture"
echo "The program is $PWD/$program; other pipelines are in $PWD/pipelines"
[ $cuda = ON ] ||
    echo "There is no NVIDIA GPU here, so no --device cuda: for one elsewhere, cmake --preset release -DSMP_CUDA=ON"
