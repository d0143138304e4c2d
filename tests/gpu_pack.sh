#!/bin/sh
# Packs a build for a GPU machine that cannot build: programs without debug information, and the shared libraries that
# such a machine may lack, into one small file (the programs have most of their bytes in common).
#
#   tests/gpu_pack.sh BUILD FILE.tar.xz [LIBRARY_FOLDER]
#
# LIBRARY_FOLDER: all its *.so* are packed too, NPP's say. There: mkdir DIR; tar -xJf FILE.tar.xz -C DIR (or python3 -m
# tarfile -e FILE.tar.xz DIR); tests/gpu_all.sh DIR OUT. Needed first, on a machine with nvcc and of the same processor
# kind:
#   cmake -S . -B BUILD -G Ninja -DCMAKE_BUILD_TYPE=Release -DSMP_CUDA_ARCHS=90
#   ninja -C BUILD smempipe unit_tests gpu_peers gpu_cub
set -eu

[ $# -ge 2 ] || { sed -n '5p' "$0" | cut -c5- >&2; exit 2; }
build=$(cd "$1" && pwd)
file=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tests" "$work/lib"
for program in smempipe libsmempipe-trace.so tests/unit_tests tests/gpu_peers; do
    strip -o "$work/$program" "$build/$program"
done
for library in libsmempipe-cuda.so libsmp_cudart.so libsmp_gpucounts.so; do
    [ ! -f "$build/$library" ] || strip -o "$work/$library" "$build/$library"
done
[ ! -d "$build/sass" ] || cp -RL "$build/sass" "$work/"
[ ! -f "$build/tests/libgpu_cub.so" ] || cp "$build/tests/libgpu_cub.so" "$work/tests/"
# What the programs load, but for the C library's own and the compiler's.
for program in "$work/smempipe" "$work/tests/unit_tests"; do
    ldd "$program" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p'
done | sort -u | while read -r library; do
    case ${library##*/} in
    libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | libgcc_s.so.* | libstdc++.so.*) ;;
    *) cp -L "$library" "$work/lib/" ;;
    esac
done
[ $# -lt 3 ] || cp -L "$3"/*.so* "$work/lib/"
tar -C "$work" -cf - . | xz -T1 --lzma2=preset=2,dict=192MiB > "$file.part"
mv "$file.part" "$file"
ls -l "$file"
