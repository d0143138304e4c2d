#!/usr/bin/env bash
# Every test, from a fresh clone: installs what is missing, builds the release and the sanitizer build, runs ctest over both.
# Arguments go to ctest, for instance: tests/run.sh -R oracle
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/.."
. samples/setup.sh

need_for_build
need_for_tests
install_missing
build_preset release -DSMP_TESTS=ON -DSMP_WERROR=ON -DSMP_CUDA=ON # though no GPU be here
build_preset asan -DSMP_TESTS=ON -DSMP_WERROR=ON -DSMP_CUDA=OFF # device code has no AddressSanitizer; the emulator runs it on the host

# One ctest over both builds: one summary, and no failure of the first scrolls away behind the second.
mkdir -p build/all
printf 'subdirs("%s")\n' ../release ../asan >build/all/CTestTestfile.cmake
cd build/all
exec ctest --output-on-failure -j "$(nproc)" "$@"
